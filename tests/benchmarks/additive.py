"""Additive trees beside points and dendrograms: `python tests/benchmarks/additive.py [SET …] [--splits N]`.

Graded held-out agreement (a tie counts half), log loss of the models that have probabilities, and seconds of
processor time, as a table in CSV. A fifth is held out: of the answers, of the questions with all their answers, or of
the people where they are known. SET is eggs30, material, car or food, in the folder COMPARISON_HC_DATA; `--answers M`
takes a random sample of at most M answers.
"""

import argparse
import csv
import os
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from comparison_hc import AdditiveTree, Triplets
from comparison_hc.datasets import load_dataset
from comparison_hc.evaluation import embedding_average_linkage, t_ste
from comparison_hc.methods import build_hierarchy
from comparison_hc.metrics import agreement


def answers_of(name):
    "(answers, what a row says)."
    if name == "car":
        return Triplets(load_dataset("car").comparisons, 60), "central"
    if name == "food":
        return load_dataset("food").triplets, "comparisons"
    import pandas as pd

    table = pd.read_csv(Path(os.environ["COMPARISON_HC_DATA"]) / name / "answers.csv.gz")
    names, rows = np.unique(table[["head", "winner", "loser"]].astype(str), return_inverse=True)
    people = table["participant"] if "participant" in table else None
    return Triplets(rows.reshape(-1, 3), names=names.tolist(), respondents=people), "comparisons"


def triplets_of(answers, kind):
    "Answers about the most central object as two triplets, for models that know no others."
    return answers if kind == "comparisons" else Triplets.from_central(answers.array, answers.n_objects)


def splits(answers, by, number):
    "Whether each row is held out."
    rows = answers.array
    labels = dict(answers=np.arange(len(rows)), people=answers.respondents).get(by)
    if by == "questions":
        labels = np.column_stack([rows[:, 0], np.sort(rows[:, 1:], axis=1)])
    _, unit = np.unique(labels, axis=0, return_inverse=True)
    order = np.random.default_rng(number).permutation(unit.max() + 1)
    return np.isin(unit.ravel(), order[: len(order) // 5])


def models(train, kind, people):
    "{name: function of nothing that returns a function of triplets: (margins or signs, probabilities or None)}."

    def additive(**options):
        fitted = AdditiveTree(**options).fit(train, kind=kind)

        def predict(test):
            p = fitted.predict_proba(test)[:, 0]
            return p - 0.5, p

        return predict

    def points(d):
        x, alpha = t_ste(triplets_of(train, kind), d).points, max(d - 1, 1)
        score = -(alpha + 1) / 2 * np.log1p(((x[:, None] - x) ** 2).sum(axis=2) / alpha)

        def predict(test):
            i, j, k = test.array.T
            margin = score[i, j] - score[i, k]
            return margin, 1 / (1 + np.exp(-margin))

        return predict

    def dendrogram(build):
        tree = build(triplets_of(train, kind))

        def predict(test):
            seen = agreement(tree, test)
            return np.repeat([1, -1, 0], [seen.agree, seen.disagree, seen.undecided]), None

        return predict

    found = {"additive tree": lambda: additive(n_trees=1), "additive trees, auto": additive}
    if people:
        found["additive trees, by person"] = lambda: additive(per_person=True)
    found |= {f"t-STE, d = {d}": lambda d=d: points(d) for d in (2, 3, 5)}
    found["4-AL"] = lambda: dendrogram(lambda rows: build_hierarchy("4-al", rows)[0])
    found["t-STE–AL"] = lambda: dendrogram(lambda rows: embedding_average_linkage(t_ste(rows, 2), "euclidean"))
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("sets", nargs="*", metavar="SET", default=["eggs30", "material", "car", "food"])
    options.add_argument("--splits", type=int, default=3)
    options.add_argument("--answers", type=int, default=40_000)
    options.add_argument("--by", nargs="*", default=["answers", "questions", "people"])
    chosen, table = options.parse_args(), csv.writer(sys.stdout)
    warnings.simplefilter("ignore")
    table.writerow(["set", "held out", "split", "model", "agreement", "log loss", "seconds"])
    for name in chosen.sets:
        answers, kind = answers_of(name)
        answers = answers.take(np.random.default_rng(0).permutation(len(answers))[: chosen.answers])
        for by in chosen.by:
            if by == "people" and answers.respondents is None or by == "questions" and kind != "comparisons":
                continue
            for number in range(chosen.splits):
                held = splits(answers, by, number)
                train, test = answers.take(~held), triplets_of(answers.take(held), kind)
                for model, fit in models(train, kind, answers.respondents is not None).items():
                    began = process_time()
                    signs, p = fit()(test)
                    graded = (signs > 0).mean() + (signs == 0).mean() / 2
                    loss = "" if p is None else f"{-np.log(p).mean():.4f}"
                    row = [name, by, number, model, f"{graded:.4f}", loss, f"{process_time() - began:.1f}"]
                    table.writerow(row)
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
