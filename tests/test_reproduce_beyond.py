"""Our own sentences beyond F19, about triplets, wrong answers and refinement: each can come out either way."""

import numpy as np
import pandas as pd
from shared import assert_every_sentence_can_come_out_either_way

from comparison_hc.reproduce import beyond, beyond_figures, refinement

T, Q, A, OWN = " (triplets)", " (quadruplets)", " (asked)", beyond.OWN
METHODS = (
    *(name + T for name in ("3K–AL", "3K–AL" + OWN, "3–AL", "AddS-3–AL", "4K–AL", "4–AL")),
    *(name + Q for name in ("4K–AL", "4–AL")),
    *(name + A for name in ("3K–AL–act" + OWN, "4K–AL–act")),
)


def runs(values, axis, points, measures, noise=0.001):
    "Made-up runs: {method: mean, or means by point}; a row a point, repetition and measure."
    rng, rows = np.random.default_rng(0), []
    for k, point in enumerate(points):
        for repetition in range(10):
            for measure in measures:
                means = {name: v[measure] if isinstance(v, dict) else v for name, v in values.items()}
                row = {axis: point, "n_pure": 2, "repetition": repetition, "measure": measure}
                for name, mean in means.items():
                    row[name] = (mean[k] if isinstance(mean, list) else mean) + noise * rng.normal()
                rows.append(row)
    return pd.DataFrame(rows)


def test_sentences_about_equal_budgets():
    as_said = dict.fromkeys(METHODS, 0.3) | {
        "3K–AL–act" + OWN + A: [0.9, 0.9, 0.8, 0.8],
        "3K–AL" + T: {"aari": 0.5, "lowest": 0.3},
        "4K–AL" + T: {"aari": 0.5, "lowest": 0.3},
        "3–AL" + T: {"aari": [0.4, 0.5, 0.6, 0.95], "lowest": 0.6},
        "3K–AL" + OWN + T: 0.7,
        "AddS-3–AL" + T: 0.6,
    }
    unlike = dict.fromkeys(METHODS, 0.5) | {
        "3K–AL" + T: {"aari": 0.4, "lowest": 0.9},
        "3–AL" + T: {"aari": 0.8, "lowest": 0.2},
        "4K–AL–act" + A: 0.9,
    }
    tables = [runs(values, "factor", (1, 2, 4, 32), ("aari", "lowest"), 1e-4) for values in (as_said, unlike)]
    same = tables[0].assign(**{"4K–AL" + T: tables[0]["3K–AL" + T]})
    assert_every_sentence_can_come_out_either_way(beyond_figures.equal_budget_claims, [same, tables[1]])


NAMES = ("3K–AL", "3–AL", "4–AL", "4K–AL", "4K–AL" + OWN, "3K–AL–act", "3K–AL–act" + OWN, "4K–AL–act", "SL", "CL")


def test_sentences_about_wrong_answers():
    as_said = {name: {"aari": [0.8, 0.7, 0.6, 0.5, 0.1], "excess": 0.2} for name in NAMES}
    as_said |= {name: {"aari": [0.7, 0.1, 0.1, 0, 0], "excess": 0.2} for name in ("SL", "CL")}
    as_said["3K–AL–act" + OWN] = {"aari": [0.9, 0.85, 0.8, 0.5, 0.1], "excess": 0.2}
    for name in ("3–AL", "4–AL", "4K–AL" + OWN):
        as_said[name] = {"aari": [0.8, 0.7, 0.6, 0.5, 0.4], "excess": 0.2}
    unlike = {name: {"aari": [0.8, 0.2, 0.2, 0.2, 0.2], "excess": 0.2} for name in NAMES}
    unlike |= {name: {"aari": [0.7, 0.6, 0.5, 0.5, 0.5], "excess": 0.5} for name in ("SL", "CL")}
    unlike["3–AL"] = {"aari": [0.8, 0.4, 0.3, 0.2, 0.1], "excess": 0.2}
    tables = [
        runs(values, "epsilon", (0.0, 0.1, 0.2, 0.3, 0.4), ("aari", "excess"), 1e-4) for values in (as_said, unlike)
    ]
    same = tables[0].assign(**{"3–AL": tables[0]["4–AL"]})
    assert_every_sentence_can_come_out_either_way(beyond_figures.wrong_answers_claims, [same, tables[1]])


def refined(gain, apart_after, noise=0.001):
    "Made-up runs: gain by δ/σ and p; the starts are 0.1 apart before."
    rng, rows = np.random.default_rng(0), []
    for ratio in (0.5, 1.0, 2.0):
        for p in (0.02, 0.1, 0.3):
            for repetition in range(10):
                for start, sign in (("3–AL", 1), ("4–AL", -1)):
                    before = 0.5 + 0.05 * sign
                    after = 0.5 + gain(ratio, p) + sign * apart_after * (1 + 0.1 * rng.normal()) / 2
                    row = dict(ratio=ratio, p=p, start=start, repetition=repetition, before=before)
                    rows.append({**row, "after": after + noise * rng.normal()})
    return pd.DataFrame(rows)


def test_sentences_about_refinement():
    as_said = refined(lambda ratio, p: 0.0 if ratio == 0.5 and p == 0.02 else (0.3 if p == 0.1 else 0.15), 0.02)
    faint = (as_said["ratio"] == 0.5) & (as_said["p"] == 0.02)
    as_said.loc[faint, "after"] = as_said.loc[faint, "before"] + np.where(np.arange(faint.sum()) % 4 < 2, 1, -1) * 0.01
    unlike = refined(lambda ratio, p: -0.1 if ratio == 2 else (0.1 if p == 0.02 else 0.05), 0.2)
    assert_every_sentence_can_come_out_either_way(refinement.refinement_claims, [as_said, unlike])


def test_sentences_about_going_on():
    def longer(few_known, few_new, many_new):
        rng, rows = np.random.default_rng(0), []
        for answers, known, new in ((500, few_known, few_new), (5000, 0.0, many_new)):
            for repetition in range(10):
                for rounds in (0, 100):
                    gain = rounds / 100 * (1 + 0.01 * rng.normal())
                    row = dict(answers=answers, repetition=repetition, rounds=rounds)
                    rows.append({**row, "known": 0.7 + gain * known / 100, "new": 0.7 + gain * new / 100})
        return pd.DataFrame(rows)

    assert_every_sentence_can_come_out_either_way(refinement.longer_claims, [longer(1, -1, 0.2), longer(-1, 1, 3)])
