"""Who is attacked, and with what: every public name that a user calls, one call of it that is good, and one list of bad
values. `attack.py` tries each bad value in the place of each argument, the others good.
"""

import atexit
import shutil
import tempfile
from fractions import Fraction
from functools import partial
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import scipy.sparse
from attack_commands import DEEP
from shared import Hollow

from comparison_hc import ComparisonClustering, ComparisonHC, Dendrogram, Quadruplets, Triplets
from comparison_hc.adaptive import random_hierarchy
from comparison_hc.classroom import find_source, new_assignment
from comparison_hc.core.validation import InputError
from comparison_hc.dashboards import FlatSettings, PlantedSettings, StepSettings, find_dashboard, server
from comparison_hc.evaluation.linkage_learning import learn_model, save_model
from comparison_hc.evaluation.report import Result
from comparison_hc.flat import gaussians
from comparison_hc.hierarchical import single_linkage
from comparison_hc.link import learn_linkage
from comparison_hc.oracles import SimilarityOracle, run

FOLDER = Path(tempfile.mkdtemp(prefix="attack-")) / DEEP
FOLDER.mkdir(parents=True)
atexit.register(shutil.rmtree, FOLDER.parents[1], ignore_errors=True)
(FOLDER / "answers.csv").write_text("i,j,k\n0,1,2\n1,0,3\n2,3,0\n3,2,1\n")
N = 6
RNG = np.random.default_rng(0)
W = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) * -1.0
D = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) + 0.0
ROWS = np.array([RNG.permutation(N)[:3] for _ in range(60)])
ANSWERS = Triplets(ROWS, N, respondents=[f"p{number % 4}" for number in range(60)])
FOURS = Quadruplets([[i, j, i, k] for i, j, k in ROWS], N)
TREE = Dendrogram.from_merges([[0, 1], [6, 2], [3, 4], [8, 5], [7, 9]])
LABELS = np.array([0, 0, 0, 1, 1, 1])
TASKS = [(D, LABELS), (D**2, LABELS)]
MERGES = ("single", "complete")
TOGETHER = (LABELS[:, None] == LABELS) / 3
LEARNED = learn_linkage(TASKS)
save_model(learn_model(TASKS), FOLDER / "model.json")
(FOLDER / "submissions").mkdir()
(FOLDER / "submissions" / "ada.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')


class Strange:
    "A value that is nothing in particular."

    def __repr__(self):
        return "Strange()"


def broken():
    "An iterator that fails."
    yield 1
    raise OSError("the cable is out")


def measured(a, rng):
    "A run of an experiment."
    return {"x": 1}


NAN = float("nan")
BAD = {
    "None": None,
    "True": True,
    "0": 0,
    "-1": -1,
    "1.5": 1.5,
    "NaN": NAN,
    "inf": float("inf"),
    "10**30": 10**30,
    "10**400": 10**400,
    "1e300": 1e300,
    "1j": 1j,
    "a fraction": Fraction(1, 3),
    "int64": np.int64(2),
    "a duration": np.timedelta64(3, "s"),
    "a date": np.datetime64("2020-01-01"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "no text": "",
    "a text": "x",
    "a zero": "\0",
    "half a character": "\ud800",
    "a page with half a character": "\ud800.html",
    "a file with half a character": "\ud800.json",
    "bytes": b"x",
    "list": [],
    "list of list": [[]],
    "ragged": [[1, 2], [3]],
    "list of texts": ["a", "b"],
    "list of None": [None] * N,
    "dict": {},
    "dict of ints": {1: 2},
    "set": {1, 2},
    "iterator": iter([1]),
    "broken iterator": broken(),
    "hollow": Hollow(),
    "range": range(3),
    "0-d": np.array(3),
    "empty": np.zeros((0, 3)),
    "0 by 0": np.zeros((0, 0)),
    "3-d": np.zeros((2, 3, 4)),
    "NaNs": np.full((N, N), NAN),
    "infinities": np.full((N, N), np.inf),
    "asymmetric": np.triu(np.ones((N, N))),
    "huge floats": np.full((N, N), 1e308) - np.eye(N) * 1e308,
    "negative": -np.ones((N, 3), dtype=int),
    "same": np.zeros((4, 3), dtype=int),
    "big-endian": np.array([0, 1, 2], ">i8"),
    "objects": np.array([[0, 1, None]], dtype=object),
    "complex": np.full((N, N), 1j),
    "texts": np.full((N, N), "a"),
    "dates": np.zeros((N, N), "datetime64[D]"),
    "records": np.zeros(3, [("i", int), ("j", int)]),
    "masked": np.ma.array(np.ones((N, N)), mask=np.eye(N)),
    "sparse": scipy.sparse.eye(N).tocsr(),
    "no table": pd.DataFrame(),
    "table with gaps": pd.DataFrame({"i": pd.array([0, None], "Int64"), "j": [1, 2], "k": [2, 0]}),
    "series": pd.Series([1, 2]),
    "categories": pd.Categorical(["a", None]),
    "a thing": Strange(),
    "a class": Dendrogram,
    "a function": lambda *a, **k: None,
    "a tree": TREE,
    "answers": ANSWERS,
    "a generator": np.random.default_rng(0),
    "the old generator": np.random.RandomState(0),
    "a folder": FOLDER,
}

GOOD = {  # by the name of the parameter
    "similarity": W,
    "S": W,
    "X": W,
    "dendrogram": TREE,
    "tree": TREE,
    "labels": LABELS,
    "truth": LABELS,
    "a": LABELS,
    "b": LABELS,
    "partitions": LABELS[None],
    "A": LABELS[None],
    "B": LABELS[None],
    "triplets": ANSWERS,
    "answers": ANSWERS,
    "comparisons": ANSWERS,
    "data": ROWS,
    "quadruplets": FOURS,
    "n_objects": N,
    "n": N,
    "items": N,
    "n_items": N,
    "n_clusters": 2,
    "k": 2,
    "rng": 0,
    "seed": 0,
    "size_or_p": 9,
    "p_correct": 0.9,
    "p": 0.3,
    "delta": 0.2,
    "sigma": 0.5,
    "mu": 0.5,
    "n_pure": 2,
    "n_levels": 1,
    "n_comparisons": 40,
    "sizes": (3, 3),
    "D": D,
    "D0": D,
    "D1": D**2,
    "merges": MERGES,
    "alpha": 0.5,
    "beta": 0.5,
    "instances": TASKS,
    "merge": "single",
    "lam": 0.5,
    "epsilon": 0.1,
    "method": "3-al",
    "name": "animals",
    "oracle": SimilarityOracle(W),
    "queries": [[0, 1, 2]],
    "references": [[0, 1]],
    "kernel": W,
    "paper": "F19",
    "path": FOLDER / "answers.csv",
}

RESULT = "a result of this package; of one made by hand nothing is promised"
COMMAND = "words of the command, all of which attack_commands.py attacks through `main`"
LIVE = (
    "serves until it is stopped, or shows a widget; its settings are attacked here, its words as those of the command"
)
HOUSE = "for whoever writes checks or assignments: it runs and returns the functions that it is given"
SLOW = "computes for seconds at any setting; what it is given passes the gate of its settings, which is attacked"
WORDS = "a constant or an exception"
NOT_ATTACKED = {
    **dict.fromkeys("Agreement BestPruning Refinement Certificate SDPSolution SpurResult SpurStep".split(), RESULT),
    **dict.fromkeys("ExecutionTree Leaf LearnedLinkage PiecewiseLoss TwoParameterGrid".split(), RESULT),
    **dict.fromkeys("StudyPlan WhatIf Dataset PlantedHierarchy".split(), RESULT),
    **dict.fromkeys(["InconsistentTriplets", "ComparisonSummary"], RESULT),
    **dict.fromkeys("PlantedPartition dataset_html answers_and_places plan_chart plan_lists plan_page".split(), RESULT),
    **dict.fromkeys("plan_sentences write_plan Hierarchy Comparisons Solution".split(), RESULT),
    **dict.fromkeys("COMMANDS POSITIONAL THEORY_MODULES READINGS JournalError".split(), WORDS),
    **dict.fromkeys("BudgetExhausted NotConvergedWarning DisconnectedWarning InputError Wrong".split(), WORDS),
    **dict.fromkeys("run_dashboard ask_dashboard flat_dashboard link_dashboard".split(), LIVE),
    **dict.fromkeys("plan_dashboard planted_dashboard step_dashboard".split(), LIVE),
    **dict.fromkeys("link_data plan_data".split(), SLOW),
    **dict.fromkeys("check run_checks reading_of Answers Assignment Checker expect expect_equal".split(), HOUSE),
    **dict.fromkeys("grade_notebook solution_mark tests_mark".split(), HOUSE),
    **dict.fromkeys("list_assignments list_datasets".split(), "takes nothing"),
    **dict.fromkeys(["linked_groups", "warn_if_disconnected"], "an inner step, given what has passed the gate"),
    "majority_rows": "an inner step of `majority`, given arrays that have passed the gate",
    "widest_interval": "an inner step of the losses, given the pieces of a curve",
    "MergeFunction": "a function of the caller's; what it raises comes out as it is",
    "plan_study": "runs for minutes; its words are attacked as those of the command, its arguments in test_plan.py",
    "predicted_agreement": "works on a fitted pilot; see test_plan.py",
    "fit_pilot": "works on a pilot study; see test_plan.py",
    "sample_quadruplets_by_definition": "the definition, for tests",
}
NOT_ATTACKED |= {name: COMMAND for name in "main make_parser add_ask ask_command add_check check_command".split()}
NOT_ATTACKED |= {name: COMMAND for name in "add_dashboard dashboard_command add_data data_command add_pool".split()}
NOT_ATTACKED |= {name: COMMAND for name in "pool_command add_reproduce reproduce_command".split()}

ROOMS = "checks cli comparisons datasets dendrogram estimators methods metrics oracles".split()
ROOMS += "hierarchical flat adaptive link whatif dashboards classroom".split()
MORE = {  # of rooms that offer no names of their own
    "evaluation.embedding": ["t_ste", "forte"],
    "evaluation.model_selection": ["choose_method", "compare_methods"],
    "evaluation.bootstrap": ["bootstrap_support", "majority_consensus", "structure_test"],
    "evaluation.linkage_learning": ["learn_model", "load_model", "save_model"],
    "evaluation.report": ["save_result"],
    "elicitation.crowd": ["crowd_table", "crowd_weights"],
    "elicitation.session": ["Session"],
    "elicitation.pool": ["pool_journals"],
    "reproduce.experiments": ["parameter_grid", "run_experiment"],
}
OWN = {  # what one function wants otherwise
    "adds3": dict(triplets=ROWS),
    "adds4": dict(quadruplets=FOURS.array),
    "adds_from_file": dict(path=FOLDER / "answers.csv", n_objects=4, kind="triplets"),
    "as_comparisons": dict(data=ANSWERS),
    "apply_responses": dict(comparisons=ANSWERS, responses=None),
    "read_comparisons": dict(path=FOLDER / "answers.csv"),
    "bootstrap_support": dict(dendrogram=TREE, comparisons=ANSWERS, build="3-al", n_resamples=1),
    "structure_test": dict(comparisons=ANSWERS, build="3-al", n_draws=1),
    "compare_methods": dict(comparisons=ANSWERS, methods=["3-al"], n_splits=1),
    "crowd_table": dict(comparisons=ANSWERS, method="3-al"),
    "crowd_weights": dict(comparisons=ANSWERS, method="3-al"),
    "Session": dict(items=["a", "b", "c"], path=None),
    "AddS": dict(n_objects=N),
    "random_tree": dict(n=N, rng=0),
    "run": dict(algorithm=single_linkage, oracle=SimilarityOracle(W)),
    "majority_consensus": dict(trees=[TREE, TREE]),
    "choose_method": dict(comparisons=ANSWERS, methods=["3-al"]),
    "load_dataset": dict(name="animals"),
    "Noisy": dict(oracle=SimilarityOracle(W), p_correct=0.9, rng=0),
    "majority_rows": dict(winner=[0, 1], loser=[1, 0], n=3, rows=ROWS),
    "Dendrogram": dict(linkage_matrix=TREE.linkage_matrix),
    "planted_partition": dict(sizes=(3, 3), f_in=gaussians(0.5, 0.5)[0], f_out=gaussians(0.5, 0.5)[1], rng=0),
    "planted_delta": dict(zip(("f_in", "f_out"), gaussians(0.5, 0.5))),
    "sample_comparisons": dict(similarity=W, kind="triplets", size_or_p=0.5, epsilon=1.0, rng=0),
    "random_hierarchy": dict(n=N, shape="uniform", rng=0),
    "mixed_linkage": dict(metrics=[D, D**2], beta=[0.5, 0.5], merges=MERGES, alpha=[0.5, 0.5]),
    "split_instances": dict(instances=TASKS, test_share=0.5, rng=0),
    "theorem_1_rate": dict(n_instances=9, n_points=9),
    "widest_interval": dict(intervals=[(0.0, 1.0)]),
    "learn_model": dict(tasks=TASKS),
    "run_experiment": dict(function=measured, grid=[{"a": 1}]),
    "pool_journals": dict(paths=[Path(__file__).parent / "journals" / "asking.jsonl"]),
    "Dendrogram.same_tree": dict(other=TREE),
    "Dendrogram.relabel": dict(order=list(range(N))),
    "Triplets.sample": dict(size=5, rng=0),
    "Dendrogram.from_linkage": dict(linkage_matrix=TREE.linkage_matrix),
    "Dendrogram.from_newick": dict(text=TREE.to_newick()),
    "Triplets.from_frame": dict(frame=ANSWERS.to_frame().drop(columns="respondent")),
    "Budget": dict(oracle=SimilarityOracle(W), n_queries=9),
    "Quadruplets": dict(data=FOURS.array),
    "build_hierarchy": dict(method="3-al", X=ANSWERS),
    "Journal": dict(oracle=SimilarityOracle(W), path=FOLDER / "kept.jsonl"),
    "check_answers": dict(queries=[[0, 1, 2], [0, 2, 3]], answers=[0, 2]),
    "n_comparisons": dict(n=N, a=2.0),
    "spur_objective": dict(X=TOGETHER, k=2),
    "rings_and_disks": dict(n=8, rng=0),
    "load_model": dict(path=FOLDER / "model.json"),
    "Dendrogram.from_merges": dict(merges=[[0, 1], [6, 2], [3, 4], [8, 5], [7, 9]]),
    "consistent_hierarchy": dict(triplets=[[0, 1, 2]], n_objects=3),
    "OrdinalOracle": dict(hierarchy=random_hierarchy(N, "uniform", 0)),
    "average_loss": dict(curves=LEARNED.curves),
    "confidence_band": dict(learned=LEARNED),
    "sdp_reference": dict(S=TOGETHER, k=2),
    "save_result": dict(result=Result(TREE, None, "A tree", "3-al"), path=FOLDER / "saved.nwk"),
    "save_model": dict(model=learn_model(TASKS), path=FOLDER / "saved.json"),
    "whatif": dict(model="adaptive", repeat=1),
    "find_checks": dict(pattern="A18"),
    "find_dashboard": dict(name="step"),
    "register_dashboard": dict(dashboard=find_dashboard("step")),
    "serve_dashboard": dict(dashboard=find_dashboard("step")),
    "write_static": dict(name="none", path=FOLDER / "page.html"),
    "planted_data": dict(settings=PlantedSettings(n_pure=3, n_levels=1)),
    "flat_data": dict(settings=FlatSettings(n=12, k=2)),
    "step_data": dict(settings=StepSettings(n=4)),
    "find_source": dict(name="few-triplets"),
    "find_assignment": dict(name="few-triplets"),
    "open_assignment": dict(name="few-triplets"),
    "read_notebook": dict(path=find_source("few-triplets")),
    "student_version": dict(notebook={"cells": [], "metadata": {}}),
    "generate": dict(folder=FOLDER / "course", names=["few-triplets"]),
    "new_assignment": dict(name="my-own", folder=FOLDER / "new"),
    "grade_folder": dict(source=find_source("few-triplets"), folder=FOLDER / "submissions"),
}
SECONDS = {  # what is no bad value, but hours of work
    "whatif": {"repeat": ["None"], "exact": ["True"], "n_jobs": ["-1"]}
}


def served(dashboard, port=None, patience=120):
    "`serve_dashboard` up to the moment in which its server would start."

    def start(notebook, wanted, *_):
        return None, server.free_port(wanted)

    with patch.object(server, "_start_server", start), patch.object(server, "_end", lambda process: None):
        with server.serve_dashboard(dashboard, port, patience) as address:
            return address


def written(name, path, progress=None, pages=None):
    "`write_static`, which also knows a page that says nothing, so that none has to be computed."
    page = server.Dashboard("none", "None", "comparison_hc.dashboards.none", "none", lambda *_, **__: "<p>")
    with patch.dict(server._registry, none=page):
        return server.write_static(name, path, progress, pages)


def begun(name, folder="."):
    "`new_assignment`, where nothing of this name stands yet."
    for path in FOLDER.rglob("my*own.*"):
        path.unlink()
    return new_assignment(name, folder)


def run_anew(algorithm, oracle):
    "`run`, of a generator that is new at each call: one can be used once only."
    return run(algorithm(N) if algorithm is single_linkage else algorithm, oracle)


def estimator(kind):
    "Making one is nothing yet: fitting is what checks."
    return lambda **options: kind(**options).fit(ANSWERS)


def targets():
    "Every public callable of the rooms, by its name."
    found = {}
    for room in ROOMS:
        module = import_module(f"comparison_hc.{room}")
        found.update((name, getattr(module, name)) for name in module.__all__)
    for name, what in found.items():
        if ismodule(what):  # of the name of its function, which it stands in for
            found[name] = getattr(what, name)
    for module, names in MORE.items():
        found.update((name, getattr(import_module(f"comparison_hc.{module}"), name)) for name in names)
    for name, kind in (("ComparisonHC", ComparisonHC), ("ComparisonClustering", ComparisonClustering)):
        found[name] = partial(estimator(kind))
        found[name].__signature__ = __import__("inspect").signature(kind)
    found.update(run=run_anew, serve_dashboard=served, write_static=written, new_assignment=begun)
    for name in "cut coarsen to_text to_newick same_tree chart relabel".split():
        if hasattr(TREE, name):
            found[f"Dendrogram.{name}"] = getattr(TREE, name)
    for name in "flip sample majority to_csv relabel to_quadruplets".split():
        if hasattr(ANSWERS, name):
            found[f"Triplets.{name}"] = getattr(ANSWERS, name)
    for name in "from_merges from_linkage from_newick".split():
        found[f"Dendrogram.{name}"] = getattr(Dendrogram, name)
    for name in "from_central from_odd_one_out from_frame".split():
        found[f"Triplets.{name}"] = getattr(Triplets, name)
    return found


__all__ = ["BAD", "GOOD", "OWN", "NOT_ATTACKED", "InputError", "targets", "FOLDER", "SECONDS"]
