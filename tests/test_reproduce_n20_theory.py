"Reproductions of the theory of N20: every verdict can come out either way, and kept results come out again."

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from shared import assert_every_sentence_can_come_out_either_way

from comparison_hc.flat import adds3, gaussians, planted_delta, planted_partition, sample_comparisons
from comparison_hc.reproduce import n20_theory as r20
from comparison_hc.reproduce import n20_theory_figures
from comparison_hc.reproduce.claims import find_reproductions, load_results

REPRODUCTIONS = ("n20-theorem1", "n20-remark3", "n20-remark5", "n20-remark6")


@pytest.mark.parametrize("family", r20.FAMILIES)
def test_every_family_has_the_delta_asked_for(family):
    for delta in (0.3, 0.5):
        assert math.isclose(planted_delta(*r20.distribution_pair(family, delta)), delta, abs_tol=1e-6)


def test_proof_of_recovery_on_clear_and_hopeless_matrices():
    labels = np.repeat([0, 1], 6)
    assert r20.proof_of_recovery(1.0 * (labels[:, None] == labels), labels) == dict(recovered=True, possible=True)
    assert r20.proof_of_recovery(-1.0 * (labels[:, None] == labels), labels) == dict(recovered=False, possible=False)
    model = planted_partition([10, 10], *gaussians(0.95), rng=0)
    assert r20.proof_of_recovery(adds3(sample_comparisons(model, "triplets", 1.0, 1.0, 0)), model.labels)["recovered"]


def test_c1_of_a_curve_whose_half_point_is_known():
    "Half-way, in the logarithm, between 2 and 8 clusters is 4; a curve that stays above one half has none."
    unit = math.sqrt(60 / math.log(60))
    curve = pd.DataFrame(dict(delta=0.8, n=60, k=[2, 8], scaled=[2 / unit, 8 / unit], recovered=[1.0, 0.0]))
    limits = n20_theory_figures.clusters_limits(pd.concat([curve, curve.assign(delta=0.9, recovered=[1.0, 0.6])]))
    assert limits["half_k"][0] == pytest.approx(4)
    assert limits["c1"][0] == pytest.approx(0.8 * 60 / 4 / math.sqrt(60 * math.log(60)))
    assert limits.iloc[1][["half_k", "half_scaled", "c1"]].isna().all()


def theorem_table(**changed):
    "Six curves that rise at the theorem's own multiples, unless something is changed."
    rows = []
    for n in (100, 200, 400):
        for k, multiple in product((2, 4), (0.1, 0.2, 0.4, 1.0)):
            threshold = n * k**2 * math.log(n) ** 2
            rows.append(
                dict(n=n, k=k, epsilon=1.0, delta=0.9, multiple=multiple, triplets=multiple * threshold)
                | dict(recovered=float(multiple > 0.3), norm=2.0, top=1.5)
            )
    table = pd.DataFrame(rows)
    for name, change in changed.items():
        table[name] = change(table)
    return table


def clusters_table(power):
    "Half points at k = 2 n^power; the same with a little less δ."
    rows = []
    for n, k in product((60, 120, 240), range(2, 80)):
        share = 1 / (1 + (k / (2 * n**power)) ** 4)
        scaled = k / math.sqrt(n / math.log(n))
        rows += [dict(n=n, k=k, delta=delta, recovered=share, scaled=scaled) for delta in (0.8, 0.9)]
    return pd.DataFrame(rows)


def saturation_table(rise, quieter):
    "From load 4 on the share rises by so much and the noise falls by this factor; at ε = 0.25 there is no more to see."
    rows = [(0.25, 1.0, 0.0, 9.0), (0.25, 5.0, 1.0, 1.0)]
    rows += [(1.0, 1.0, 0.0, 9.0), (1.0, 4.0, 0.3, quieter), (1.0, 8.0, 0.4, 1.1), (1.0, 80.0, 0.3 + rise, 1.0)]
    return pd.DataFrame(rows, columns=["epsilon", "load", "recovered", "noise"]).assign(delta=0.4)


def family_table(at_three, at_five):
    "Shares of two families at a = 3, and of both at a = 5."
    rows = [(name, "AddS-3", 3.0, share) for name, share in zip(("normal", "Cauchy"), at_three)]
    rows += [(name, "AddS-3", 5.0, at_five) for name in ("normal", "Cauchy")]
    rows += [("normal", "similarities", 5.0, 1.0), ("Cauchy", "similarities", 5.0, 0.0)]
    return pd.DataFrame(rows, columns=["family", "method", "exponent", "recovered"])


SIDES = [  # name, results under which every sentence holds, results under which none does
    (
        "n20-theorem1",
        theorem_table(recovered=lambda t: 1.0 * (t["multiple"] > 40 / t["n"])),
        theorem_table(recovered=lambda t: 0.9 * (t["multiple"] > t["n"] / 500)),
    ),
    ("n20-remark3", clusters_table(0.4), clusters_table(0.1)),
    ("n20-remark5", saturation_table(0.1, 1.2), saturation_table(0.5, 1.2)),
    ("n20-remark5", saturation_table(0.1, 1.2), saturation_table(0.1, 2.0)),
    ("n20-remark6", family_table((0.2, 0.9), 1.0), family_table((0.2, 0.4), 0.8)),
]


@pytest.mark.parametrize("name, good, bad", SIDES)
def test_every_verdict_can_come_out_either_way(name, good, bad):
    assert_every_sentence_can_come_out_either_way(find_reproductions()[name].claims, [good, bad])


def test_no_experiment_is_without_its_other_side():
    assert {name for name, _, _ in SIDES} == set(REPRODUCTIONS)
    theory = {n for n, made in find_reproductions().items() if made.function.__module__ == r20.__name__}
    assert theory == set(REPRODUCTIONS)


def test_no_point_is_compared_with_itself():
    pairs = n20_theory_figures.saturation_pairs(saturation_table(0.1, 1.2))
    assert pairs.index.tolist() == [(1.0, 0.4)] and pairs["load"].item() == 4 and pairs["load_last"].item() == 80
    kept = n20_theory_figures.saturation_pairs(load_results("n20-remark5"))
    assert len(kept) >= 4 and (kept["load_last"] >= 2 * kept["load"]).all()


def test_exponents_of_half_points():
    exponents = n20_theory_figures.theorem_exponents(theorem_table())
    assert np.allclose(exponents["half_points"], exponents["threshold"]) and len(exponents) == 2
    assert exponents["threshold"][0] == pytest.approx(1 + 2 * math.log(math.log(400) / math.log(100)) / math.log(4))


def test_half_points():
    curve = pd.DataFrame(dict(x=[1.0, 4.0, 16.0], recovered=[0.0, 1.0, 1.0]))
    from comparison_hc.reproduce.n20_theory_figures import _half

    assert math.isclose(_half(curve, "x"), 2) and math.isnan(_half(curve.assign(recovered=0.0), "x"))


def test_runs_repeat_themselves():
    run = dict(n=60, k=2, epsilon=1.0, delta=0.9, multiple=0.5, repetition=0)
    one, two = (r20.theorem_run(**run, rng=np.random.default_rng(1)) for _ in range(2))
    assert one == two and one["triplets"] == round(0.5 * 60**3 * math.log(60) ** 2 / (0.9 * 30) ** 2)


@pytest.mark.parametrize(
    "name, verdicts",
    [
        ("n20-theorem1", ["holds", "holds"]),
        ("n20-remark3", ["holds"]),
        ("n20-remark5", ["does not hold"]),
        ("n20-remark6", ["holds", "does not hold"]),
    ],
    ids=REPRODUCTIONS,
)
def test_kept_results_give_the_verdicts_that_the_page_explains(name, verdicts):
    made, kept = find_reproductions()[name], load_results(name)
    assert [claim.word for claim in made.claims(kept)] == verdicts
    assert made.chart(kept).to_dict() and kept["recovered"].between(0, kept["possible"]).all()
