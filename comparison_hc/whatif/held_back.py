"""Half of real answers is held back: what a pilot foretold, beside what larger studies then reached."""

from dataclasses import replace

import numpy as np

from ..comparisons import Triplets
from ..core.validation import as_rng
from ..datasets import load_dataset
from ..evaluation._splits import object_groups
from ..evaluation.model_selection import signed_correctness
from ..methods import build_hierarchy
from ..reproduce.claims import Claim
from ..reproduce.experiments import parameter_grid
from .designs import study_rows
from .pilot import fit_pilot, predicted_agreement
from .study import METHODS

CASES = {"car": "central", "food": "grid", "zoo": "odd-one-out", "food as triplets": "triplets"}  # how it was asked
MADE_UP, SLIPS = 4000, 0.15  # questions about the animals of the zoo, and how often an answer is a slip


def feature_similarity(features, rng):
    "How much objects have in common: the negative city-block distance of standardised features."
    features = np.asarray(features, dtype=float)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    ties = rng.normal(scale=1e-6, size=(len(features), len(features)))
    return ties + ties.T - np.abs(features[:, None] - features[None]).sum(axis=2)


def case_answers(case, rng):
    "All answers of a case."
    if case == "zoo":
        w = feature_similarity(load_dataset("zoo").features, rng)
        return Triplets(study_rows("odd-one-out", w, MADE_UP, MADE_UP, SLIPS, rng), len(w))
    data = load_dataset("car", collection="survey") if case == "car" else load_dataset("food")
    return Triplets(data.triplets.array, data.triplets.n_objects)


MOST_ROWS = 30_000  # of the larger study, and of those that judge


def halves(answers, rng):
    "Answers about one half of all threes, and about the other."
    sets = object_groups(answers)
    side = rng.random(sets.max() + 1) < 0.5
    return answers.take(np.flatnonzero(side[sets])), answers.take(np.flatnonzero(~side[sets]))


def some_of(answers, size, rng):
    "So many answers; those about the same three objects stay together as far as the number allows."
    sets = object_groups(answers)
    order = rng.permutation(sets.max() + 1)[sets].argsort(kind="stable")
    return answers.take(np.sort(order[:size]))


def reached_agreement(study, judges, size, method, rng, draws=4):
    "What a study of this size reaches."
    draws = draws if size < len(study) else 1
    trees = [build_hierarchy(method, some_of(study, size, rng))[0] for _ in range(draws)]
    return float(np.mean([(1 + signed_correctness(tree, judges).mean()) / 2 for tree in trees]))


def held_back_run(case, pilot, repetition, rng, repeat=4):
    "Foretold and reached, once."
    for_answers, for_halves, for_fit, for_draws = as_rng(rng).spawn(4)
    study, judges = halves(case_answers(case, for_answers), for_halves)
    study, judges = (each.sample(MOST_ROWS, for_halves) if len(each) > MOST_ROWS else each for each in (study, judges))
    seed = int(for_fit.integers(2**31))
    fit = fit_pilot(some_of(study, pilot, for_halves), CASES[case], repeat=repeat, seed=seed)
    sizes = np.geomspace(pilot, len(study), 4).round().astype(np.int64).tolist()[1:]
    about = dict(noise=fit.slips.noise, worlds=len(fit.worlds), distance=fit.worlds[0].distance, near=fit.is_near)
    rows = []
    for method in METHODS:
        own = replace(fit, curve=replace(fit.curve, method=method))
        foretold = predicted_agreement(own, sizes, repeat, seed=seed + 1)
        for step, row in enumerate(foretold.to_dict("records"), 1):
            found = reached_agreement(study, judges, row["size"], method, for_draws)
            rows.append(
                dict(method=method, step=step, **row, reached=found, unchanged=fit.curve.agreement[-1], **about)
            )
    return rows


def held_back_grid(repetitions=3):
    "All runs."
    return parameter_grid(case=list(CASES), pilot=[500, 2000], repetition=range(repetitions))


def honest(kept):
    "Runs that were told how people were asked; with the gap, and whether the range holds what was reached."
    kept = kept[kept["case"] != "food as triplets"]
    inside = (kept["low"] <= kept["reached"]) & (kept["reached"] <= kept["high"])
    gap = (kept["predicted"] - kept["reached"]).abs()
    return kept.assign(gap=gap, inside=inside, naive=(kept["unchanged"] - kept["reached"]).abs())


def held_back_claims(kept):
    "What we say about the planner, and whether it holds."
    told = honest(kept)
    first = told[told["method"] == METHODS[0]]  # that of the fit
    cases = list(dict.fromkeys(told["case"]))
    inside = first.groupby("case")["inside"].mean()
    gap, naive = (first.groupby("case")[name].mean() for name in ("gap", "naive"))
    by_pilot = first.groupby("pilot")["gap"].mean()
    last = told[told["step"] == 3].set_index(["case", "pilot", "repetition", "method"])[["predicted", "reached"]]
    ahead = {name: last[name].xs(METHODS[0], level=3) - last[name].xs(METHODS[1], level=3) for name in last}
    clear = ahead["reached"].abs() > 0.01
    right = (np.sign(ahead["predicted"]) == np.sign(ahead["reached"]))[clear]
    wrong = kept[kept["case"] == "food as triplets"]

    def each(values, form="{:.3f}"):
        return ", ".join(f"{case} {form.format(values[case])}" for case in cases)

    return [
        Claim(
            "The range holds what was reached.",
            f"in {first['inside'].mean():.0%} of {len(first)} forecasts: {each(inside, '{:.0%}')}",
            bool((inside >= 0.8).all()),
            rule="at least 80% in every case",
        ),
        Claim(
            "The forecast is nearer than the guess that more answers change nothing.",
            f"mean distance: {each(gap)}; of the guess: {each(naive)}",
            bool((gap < naive).all()),
            rule="smaller mean distance in every case",
        ),
        Claim(
            "A larger pilot foretells better.",
            ", ".join(f"{value:.3f} with {size:,}" for size, value in by_pilot.items()),
            bool(by_pilot.iloc[-1] < by_pilot.iloc[0]),
            rule="smaller mean distance with the larger pilot",
        ),
        Claim(
            "No forecast is off by more than 0.05.",
            f"largest distance {first['gap'].max():.3f} ({first.loc[first['gap'].idxmax(), 'case']})",
            bool(first["gap"].max() <= 0.05),
            rule="largest distance ≤ 0.05",
        ),
        Claim(
            "The method that it advises is the better one.",
            f"in {int(right.sum())} of {int(clear.sum())} larger studies in which the methods differ by more than 0.01",
            bool(clear.any() and right.mean() >= 0.8),
            rule="in at least 80% of them",
        ),
        Claim(
            "Where it was told wrongly how people were asked, it says that no world looks like the pilot.",
            f"in {1 - wrong['near'].mean():.0%} of those fits, and in {1 - first['near'].mean():.0%} of the others",
            bool(not wrong["near"].any() and first["near"].mean() >= 0.8),
            rule="in all of those, in at most 20% of the others",
        ),
    ]


def held_back_table(kept):
    "Means over the repetitions, of the method by which the pilot was fitted."
    told = honest(kept)
    by = told[told["method"] == METHODS[0]].groupby(["case", "pilot", "step"], sort=False)
    names = ["size", "predicted", "low", "high", "reached", "gap", "naive", "inside"]
    table = by[names].mean().reset_index().drop(columns="step")
    return table.assign(size=table["size"].round().astype(np.int64)).rename(columns=dict(naive="gap if unchanged"))


def held_back_chart(kept):
    "Foretold over reached; on the diagonal they are the same."
    import altair as alt

    told = honest(kept)
    first = told[told["method"] == METHODS[0]]
    low, high = first[["low", "reached"]].min().min(), first[["high", "reached"]].max().max()
    ends = [float(np.floor(20 * low) / 20), float(np.ceil(20 * high) / 20)]
    scale = alt.Scale(domain=ends)
    sizes = sorted(set(first["pilot"].tolist()))
    pilot = alt.Color("pilot:N", title="answers in the pilot").scale(domain=sizes, range=["#D55E00", "#0072B2"])
    x = alt.X("reached:Q", title="reached agreement, half B").scale(scale)
    title = "foretold agreement, with its range"
    rows = first[["case", "pilot", "reached", "predicted", "low", "high"]].to_dict("records")
    panels = []
    for case in dict.fromkeys(first["case"]):
        base = alt.Chart(alt.InlineData(values=[row for row in rows if row["case"] == case])).encode(x=x, color=pilot)
        same = alt.Chart(alt.InlineData(values=[dict(x=end) for end in ends]))
        same = same.mark_line(strokeDash=[4, 3], color="#555555").encode(
            alt.X("x:Q", title="reached agreement, half B").scale(scale), alt.Y("x:Q", title=title).scale(scale)
        )
        bars = base.mark_rule(strokeWidth=0.8).encode(alt.Y("low:Q", title=title).scale(scale), y2="high:Q")
        shape = alt.Shape("pilot:N", title="answers in the pilot").scale(domain=sizes, range=["diamond", "circle"])
        points = base.mark_point(filled=True, opacity=1, size=40).encode(
            alt.Y("predicted:Q", title=title).scale(scale), shape=shape
        )
        panels.append((same + bars + points).properties(width=180, height=180, title=case))
    return alt.hconcat(*panels)
