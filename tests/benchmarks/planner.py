"""Was the planner right? `python tests/benchmarks/planner.py [--repeat N] [--jobs N]` holds back half of real answers.

What a pilot foretold, beside what larger studies then reached. All runs are kept in a journal (interrupted, the same
command continues) and written to nbs/whatif/results/held-back.csv; nbs/whatif/99a_three_studies.ipynb judges them.
`forecast_coverage` made results/forecast-coverage.csv, which nbs/whatif/99_plan.ipynb shows.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from comparison_hc import Triplets, load_dataset
from comparison_hc.core.validation import as_rng
from comparison_hc.evaluation._splits import object_groups
from comparison_hc.evaluation.model_selection import signed_correctness
from comparison_hc.methods import build_hierarchy
from comparison_hc.reproduce.claims import save_results
from comparison_hc.reproduce.experiments import parameter_grid, run_experiment
from comparison_hc.whatif import forecast_study, halves_of_study
from comparison_hc.whatif.designs import study_rows
from comparison_hc.whatif.pilot import fit_pilot, predicted_agreement
from comparison_hc.whatif.study import METHODS

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


def forecast_coverage(cases, pilots=(400, 1500), repetitions=3, most=12_000, n_worlds=240, rng=0):
    """Hold back answers, foretell them from a pilot, and see whether the ranges hold what is reached.

    Cases: {name: (all answers, design)}. A row per case, pilot, repetition and measure.
    """
    rows = []
    for name, (answers, design) in cases.items():
        for child in as_rng(rng).spawn(repetitions):
            groups = object_groups(answers)
            side = (child.random(groups.max() + 1) < 0.5)[groups]
            own, study = answers.take(np.flatnonzero(side)), answers.take(np.flatnonzero(~side))
            study = some_of(study, most, child)
            reached = halves_of_study(study, rng=child)
            for size in pilots:
                pilot = some_of(own, size, child)
                found = forecast_study(len(study), pilot, design=design, n_worlds=n_worlds, rng=child)
                for row in found.table.to_dict("records"):
                    value = reached[row["measure"]]
                    about = dict(case=name, pilot=size, study=len(study), near=found.is_near)
                    rows.append(about | row | dict(reached=value, inside=row["low"] <= value <= row["high"]))
    return pd.DataFrame(rows)


def main():
    "Run, keep and print."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of every case and pilot")
    parser.add_argument("--jobs", type=int, default=-1, help="workers")
    folder = Path(__file__).parents[2] / "nbs/whatif/results"
    parser.add_argument("--folder", type=Path, default=folder, help="where results and journal go")
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    grid = held_back_grid(args.repeat)
    journal = Path("reproductions/held-back.jsonl")  # in this folder, as `comparison-hc reproduce` keeps its own
    journal.parent.mkdir(exist_ok=True)
    kept = run_experiment(held_back_run, grid, journal, args.jobs, progress=True, paired=("pilot",))
    print(f"wrote {save_results('held-back', kept, args.folder)}")
    journal.unlink()


if __name__ == "__main__":
    main()
