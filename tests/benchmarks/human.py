"""Which model predicts people? `python tests/benchmarks/human.py [SET …] [--out FILE.csv]`.

A SET is a set of the package with people's answers, `planted`, or a file of comparisons; eggs30 is such a file in the
folder COMPARISON_HC_DATA. Sets that are not on this machine are skipped, with their addresses. By default all are
measured but `things`: with 1,854 objects it has to be named. A fifth is held out: of the answers, of the questions
with all their answers, or of the people where they are known. One row per model and split: graded agreement (a tie
counts half), log loss where the model has probabilities, revenue by the given comparisons of its tree (per answer and
per object), and seconds of processor time. The set `planted` has hierarchies of 32 objects (δ/σ = 1.5) and, instead,
the AARI of each tree. Embeddings of cblearn with average linkage on their points are included where an interpreter has
that package: this one, or the one that --rivals names. Rows that FILE has already are not computed again, so that a
run that was stopped continues.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from comparison_hc import AdditiveTree, Triplets, read_comparisons
from comparison_hc.datasets import DatasetNotFoundError, load_dataset
from comparison_hc.evaluation import embedding_average_linkage, t_ste
from comparison_hc.evaluation._candidates import candidate, fit
from comparison_hc.evaluation._dataset_files import CATALOGUE
from comparison_hc.hierarchical import planted_hierarchy
from comparison_hc.metrics import agreement, average_ari, comparison_revenue
from comparison_hc.oracles import sample_triplets

SETS = ("animals", "car", "eggs30", "food", "material", "music", "nature", "vogue")
FILES = {"eggs30": "eggs30/answers.csv.gz"}  # in COMPARISON_HC_DATA
BY = ("answers", "questions", "people")
COLUMNS = ("set", "held out", "split", "model", "agreement", "log loss", "revenue", "AARI", "seconds")
KEY = 4  # columns that say what a row is about
PLANTED = (200, 400, 800)
N_AVERAGED = 5  # fits of additive trees
TREES = {"4–AL": "4-al", "4–AL, refined": "4-al refined", "AddS–AL": "adds-al", "additive–AL": "additive-al"}
RIVAL = Path(__file__).with_name("rival.py")


class Fitted(NamedTuple):
    "A function of triplets that gives probabilities, or a tree; and seconds that another process took."

    predict: Any = None
    tree: Any = None
    elsewhere: float = 0.0


def answers_of(name):
    "(answers, what a row says)."
    if name in CATALOGUE:
        data = load_dataset(name, download=False)
        kind = "comparisons" if data.kind == "triplets" else data.kind
        return Triplets(data.comparisons, len(data), data.objects, data.respondents), kind
    path = Path(os.environ.get("COMPARISON_HC_DATA", ""), FILES[name]) if name in FILES else Path(name)
    if not path.is_file():
        raise DatasetNotFoundError(f"{path} is no file on this machine")
    return read_comparisons(path), "comparisons"


def triplets_of(answers, kind):
    "Answers about three objects as two triplets each, for models that know no others."
    makers = {"central": Triplets.from_central, "odd-one-out": Triplets.from_odd_one_out}
    return makers[kind](answers.array, answers.n_objects) if kind in makers else answers


def units(answers, kind, by):
    "What is held out together: one label per row; None where it is not known, or is the row itself."
    if by == "answers":
        return np.arange(len(answers))
    if by == "people":
        return answers.respondents
    rows = answers.array
    fixed = 1 if kind == "comparisons" else 0  # columns before those whose order does not matter
    asked = np.column_stack([rows[:, :fixed], np.sort(rows[:, fixed:], axis=1)])
    _, question = np.unique(asked, axis=0, return_inverse=True)
    return question.ravel() if question.max() + 1 < len(rows) else None


def held_out(labels, number):
    "Whether each row is held out."
    _, unit = np.unique(labels, return_inverse=True)
    order = np.random.default_rng(number).permutation(unit.max() + 1)
    return np.isin(unit, order[: len(order) // 5])


def additive(train, kind, **options):
    "Additive trees."
    fitted = AdditiveTree(**options).fit(train, kind=kind)
    return Fitted(lambda test: fitted.predict_proba(test)[:, 0])


def points(rows, d):
    "t-STE in d dimensions."
    x, alpha = t_ste(rows, d).points, max(d - 1, 1)
    score = -(alpha + 1) / 2 * np.log1p(((x[:, None] - x) ** 2).sum(axis=2) / alpha)

    def predict(test):
        i, j, k = test.array.T
        return 1 / (1 + np.exp(score[i, k] - score[i, j]))

    return Fitted(predict)


def ask(python, *words, rows=None):
    "What rival.py prints in another interpreter."
    command = [python, str(RIVAL), *map(str, words)]
    done = subprocess.run(command, input=json.dumps(rows), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def rival(python, name, rows):
    "Average linkage on points of cblearn in the plane."
    points, seconds = ask(python, name, rows.n_objects, rows=rows.array.tolist())
    return Fitted(tree=embedding_average_linkage(np.array(points), "euclidean"), elsewhere=seconds)


def dendrograms(rows, rivals):
    "{name: function of nothing that gives a tree}; rivals are {name: function of triplets}."
    found = {name: lambda code=code: Fitted(tree=fit(candidate(code), rows, 0, {})[0]) for name, code in TREES.items()}
    found["t-STE–AL"] = lambda: Fitted(tree=embedding_average_linkage(t_ste(rows, 2), "euclidean"))
    return found | {name: partial(build, rows) for name, build in rivals.items()}


def models(train, kind, rivals):
    "{name: function of nothing that fits}."
    rows = triplets_of(train, kind)
    found = {"additive tree": partial(additive, train, kind, n_trees=1)}
    found["additive trees, auto"] = partial(additive, train, kind)
    found["additive trees, averaged"] = partial(additive, train, kind, n_averaged=N_AVERAGED)
    if train.respondents is not None:
        found["additive trees, by person"] = partial(additive, train, kind, per_person=True)
    found |= {f"t-STE, d = {d}": partial(points, rows, d) for d in (2, 3, 5)}
    return found | dendrograms(rows, rivals)


def graded(tree, test):
    "Agreement where a tie counts half."
    found = agreement(tree, test)
    return (found.agree + found.undecided / 2) / found.total


def timed(build):
    "(what was fitted, seconds)."
    began = process_time()
    fitted = build()
    return fitted, f"{process_time() - began + fitted.elsewhere:.2f}"


def revenue(tree, rows):
    "Per answer and per object."
    return f"{comparison_revenue(tree, rows) / len(rows) / rows.n_objects:.4f}"


def scored(build, given, test):
    "Agreement, log loss, revenue and seconds, as the table has them."
    fitted, seconds = timed(build)
    if fitted.tree is None:
        p = fitted.predict(test)
        return [f"{np.mean((p > 0.5) + 0.5 * (p == 0.5)):.4f}", f"{-np.log(p).mean():.4f}", "", "", seconds]
    return [f"{graded(fitted.tree, test):.4f}", "", revenue(fitted.tree, given), "", seconds]


def of_people(name, answers, kind, by, n_splits, most, rivals):
    "Keys, and functions that give the remainder of the row."
    answers = answers.take(np.random.default_rng(0).permutation(len(answers))[:most])
    for how in by:
        labels = units(answers, kind, how)
        for number in range(n_splits if labels is not None else 0):
            held = held_out(labels, number)
            train, test = answers.take(~held), triplets_of(answers.take(held), kind)
            for model, build in models(train, kind, rivals).items():
                yield [name, how, number, model], partial(scored, build, triplets_of(train, kind), test)


def recovered(build, rows, truth):
    "Revenue, AARI and seconds."
    fitted, seconds = timed(build)
    return ["", "", revenue(fitted.tree, rows), f"{average_ari(truth, fitted.tree):.4f}", seconds]


def of_planted(n_worlds, rivals):
    "As `of_people`, for planted hierarchies."
    for m in PLANTED:
        for number in range(n_worlds):
            world = planted_hierarchy(4, 3, 0.8, 0.15, 0.1, number)
            rows = sample_triplets(world.similarity, m, number)
            for model, build in dendrograms(rows, rivals).items():
                yield [f"planted, {m}", "", number, model], partial(recovered, build, rows, world.levels)


def computed(path):
    "Keys of the rows of a file."
    if path is None or not Path(path).exists():
        return set()
    with open(path, newline="", encoding="utf-8") as file:
        return {tuple(row[:KEY]) for row in csv.reader(file)}


def rivals_of(python):
    "{name of the model: function of triplets}."
    names = ask(python)
    if not names:
        print(f"cblearn is left out: it is not installed for {python} (--rivals names another one)", file=sys.stderr)
    return {f"cblearn {name}–AL": partial(rival, python, name) for name in names}


def main(words=None):
    "Measure, and write rows as they come."
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("sets", nargs="*", metavar="SET", default=[*SETS, "planted"])
    options.add_argument("--splits", type=int, default=3, help="splits of each kind, and planted worlds")
    options.add_argument("--answers", type=int, default=40_000, help="at most so many, drawn at random")
    options.add_argument("--by", nargs="*", default=BY, choices=BY)
    options.add_argument("--rivals", metavar="PYTHON", default=sys.executable, help="interpreter that has cblearn")
    options.add_argument("--out", metavar="FILE.csv", help="default: the standard output")
    chosen = options.parse_args(words)
    warnings.simplefilter("ignore")
    there, rivals = computed(chosen.out), rivals_of(chosen.rivals)
    with open(chosen.out, "a", newline="", encoding="utf-8") if chosen.out else sys.stdout as file:
        table = csv.writer(file, lineterminator="\n")
        if not there:
            table.writerow(COLUMNS)
        for name in chosen.sets:
            if name == "planted":
                tasks = of_planted(chosen.splits, rivals)
            else:
                try:
                    answers, kind = answers_of(name)
                except DatasetNotFoundError as error:
                    print(f"{name} is skipped: {error}", file=sys.stderr)
                    continue
                tasks = of_people(name, answers, kind, chosen.by, chosen.splits, chosen.answers, rivals)
            for key, compute in tasks:
                if tuple(map(str, key)) not in there:
                    table.writerow([*key, *compute()])
                    file.flush()


if __name__ == "__main__":
    main()
