"""Which model predicts people? `python tests/benchmarks/human.py [SET …] [--out FILE.csv]`.

Sets of people's answers: car, eggs30, food and material, where COMPARISON_HC_DATA or the cache of the package has them,
and the animals that are in the package. A fifth is held out: of the answers, of the questions with all their answers,
or of the people where they are known. One row per model and split: graded agreement (a tie counts half), log loss
where the model has probabilities, revenue by the given comparisons of its tree (per answer and per object), and
seconds of processor time. The set `planted` has hierarchies of 32 objects (δ/σ = 1.5) and, instead, the AARI of each
tree. Models of cblearn and average linkage on their points are included where that package is installed. Rows that
FILE has already are not computed again, so that a run that was stopped continues.
"""

import argparse
import csv
import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np

from comparison_hc import AdditiveTree, Triplets
from comparison_hc.datasets import load_dataset
from comparison_hc.evaluation import embedding_average_linkage, t_ste
from comparison_hc.evaluation._candidates import candidate, fit
from comparison_hc.hierarchical import planted_hierarchy
from comparison_hc.metrics import agreement, average_ari, comparison_revenue
from comparison_hc.oracles import sample_triplets

SETS = ("animals", "car", "eggs30", "food", "material")
BY = ("answers", "questions", "people")
COLUMNS = ("set", "held out", "split", "model", "agreement", "log loss", "revenue", "AARI", "seconds")
KEY = 4  # columns that say what a row is about
PLANTED = (200, 400, 800)
TREES = {"4–AL": "4-al", "4–AL, refined": "4-al refined", "AddS–AL": "adds-al", "additive–AL": "additive-al"}
RIVALS = ("SOE", "TSTE", "CKL")  # classes of cblearn.embedding


def answers_of(name):
    "(answers, what a row says)."
    if name == "car":
        return Triplets(load_dataset("car").comparisons, 60), "central"
    if name in ("animals", "food"):
        return load_dataset(name).triplets, "comparisons"
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


def additive(train, kind, **options):
    "(function of triplets that gives probabilities, None)."
    fitted = AdditiveTree(**options).fit(train, kind=kind)
    return lambda test: fitted.predict_proba(test)[:, 0], None


def points(train, kind, d):
    "As `additive`, by t-STE in d dimensions."
    x, alpha = t_ste(triplets_of(train, kind), d).points, max(d - 1, 1)
    score = -(alpha + 1) / 2 * np.log1p(((x[:, None] - x) ** 2).sum(axis=2) / alpha)

    def predict(test):
        i, j, k = test.array.T
        return 1 / (1 + np.exp(score[i, k] - score[i, j]))

    return predict, None


def dendrogram(tree):
    "(None, tree)."
    return None, tree


def rival(train, kind, name):
    "(None, average linkage on points of cblearn in the plane)."
    import cblearn.embedding

    rows = triplets_of(train, kind)
    made = getattr(cblearn.embedding, name)(n_components=2, random_state=0).fit(rows.array)
    return dendrogram(embedding_average_linkage(made.embedding_, "euclidean"))


def models(train, kind, people=False):
    "{name: function of nothing that returns (probabilities of triplets or None, tree or None)}."
    rows = triplets_of(train, kind)
    found = {"additive tree": lambda: additive(train, kind, n_trees=1)}
    found["additive trees, auto"] = lambda: additive(train, kind)
    if people:
        found["additive trees, by person"] = lambda: additive(train, kind, per_person=True)
    found |= {f"t-STE, d = {d}": lambda d=d: points(train, kind, d) for d in (2, 3, 5)}
    found |= {name: lambda code=code: dendrogram(fit(candidate(code), rows, 0, {})[0]) for name, code in TREES.items()}
    found["t-STE–AL"] = lambda: dendrogram(embedding_average_linkage(t_ste(rows, 2), "euclidean"))
    if find_spec("cblearn"):
        found |= {f"cblearn {name}–AL": lambda name=name: rival(train, kind, name) for name in RIVALS}
    return found


def graded(tree, test):
    "Agreement where a tie counts half."
    found = agreement(tree, test)
    return (found.agree + found.undecided / 2) / found.total


def scored(build, train, test):
    "Agreement, log loss, revenue and seconds, as the table has them."
    began = process_time()
    predict, tree = build()
    seconds = f"{process_time() - began:.2f}"
    if tree is None:
        p = predict(test)
        return [f"{np.mean((p > 0.5) + 0.5 * (p == 0.5)):.4f}", f"{-np.log(p).mean():.4f}", "", "", seconds]
    revenue = comparison_revenue(tree, train) / len(train) / train.n_objects
    return [f"{graded(tree, test):.4f}", "", f"{revenue:.4f}", "", seconds]


def of_people(name, by, n_splits, most):
    "Keys, and functions that give the remainder of the row."
    answers, kind = answers_of(name)
    answers = answers.take(np.random.default_rng(0).permutation(len(answers))[:most])
    for how in by:
        if how == "people" and answers.respondents is None or how == "questions" and kind != "comparisons":
            continue
        for number in range(n_splits):
            held = splits(answers, how, number)
            train, test = answers.take(~held), triplets_of(answers.take(held), kind)
            given = triplets_of(train, kind)
            for model, build in models(train, kind, answers.respondents is not None).items():
                yield [name, how, number, model], lambda b=build, g=given, t=test: scored(b, g, t)


def recovered(build, rows, truth):
    "AARI and seconds; the tree of a model without one is its average linkage."
    began = process_time()
    tree = build()
    return ["", "", f"{comparison_revenue(tree, rows) / len(rows) / rows.n_objects:.4f}"] + [
        f"{average_ari(truth, tree):.4f}",
        f"{process_time() - began:.2f}",
    ]


def of_planted(n_worlds):
    "As `of_people`, for planted hierarchies."
    for m in PLANTED:
        for number in range(n_worlds):
            world = planted_hierarchy(4, 3, 0.8, 0.15, 0.1, number)
            rows = sample_triplets(world.similarity, m, number)
            builders = {name: lambda c=code, r=rows: fit(candidate(c), r, 0, {})[0] for name, code in TREES.items()}
            builders["t-STE–AL"] = lambda r=rows: embedding_average_linkage(t_ste(r, 2), "euclidean")
            for model, build in builders.items():
                yield [f"planted, {m}", "", number, model], lambda b=build, r=rows, w=world: recovered(b, r, w.levels)


def computed(path):
    "Keys of the rows of a file."
    if path is None or not Path(path).exists():
        return set()
    with open(path, newline="", encoding="utf-8") as file:
        return {tuple(row[:KEY]) for row in csv.reader(file)}


def main(words=None):
    "Measure, and write rows as they come."
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("sets", nargs="*", metavar="SET", default=[*SETS, "planted"])
    options.add_argument("--splits", type=int, default=3, help="splits of each kind, and planted worlds")
    options.add_argument("--answers", type=int, default=40_000, help="at most so many, drawn at random")
    options.add_argument("--by", nargs="*", default=BY, choices=BY)
    options.add_argument("--out", metavar="FILE.csv", help="default: the standard output")
    chosen = options.parse_args(words)
    warnings.simplefilter("ignore")
    there = computed(chosen.out)
    with open(chosen.out, "a", newline="", encoding="utf-8") if chosen.out else sys.stdout as file:
        table = csv.writer(file, lineterminator="\n")
        if not there:
            table.writerow(COLUMNS)
        for name in chosen.sets:
            planted = name == "planted"
            tasks = of_planted(chosen.splits) if planted else of_people(name, chosen.by, chosen.splits, chosen.answers)
            for key, compute in tasks:
                if tuple(map(str, key)) not in there:
                    table.writerow([*key, *compute()])
                    file.flush()


if __name__ == "__main__":
    main()
