"""Bad input in the place of every argument of every public function: one table, read against the signatures.

`REFUSED` lists values that break the rule of an argument, by its name: each must raise `InputError` with that name.
`ODD` lists values that may be legal somewhere: each is taken, or refused in one line. `--full` tries all of them.
"""

import inspect
import math
import signal
import tempfile
import warnings
import zlib
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from test_public_api import public_names

from comparison_hc import ComparisonClustering, ComparisonHC, Dendrogram, InputError, Quadruplets, Triplets
from comparison_hc.adaptive import random_hierarchy
from comparison_hc.comparisons import read_comparisons
from comparison_hc.core.io import check_destination
from comparison_hc.core.validation import (
    as_rng,
    check_integer,
    check_labels,
    check_names,
    check_number,
    check_similarity,
    visible_text,
)
from comparison_hc.evaluation import learn_model, save_model
from comparison_hc.evaluation.report import Result
from comparison_hc.flat import gaussians
from comparison_hc.hierarchical import single_linkage
from comparison_hc.link import learn_linkage
from comparison_hc.oracles import SimilarityOracle, most_similar_pair, run, sample_triplets
from comparison_hc.reproduce.experiments import ExperimentError

AREAS = "comparisons oracles dendrogram metrics datasets methods adaptive flat hierarchical link evaluation elicitation"
N, NAN, INF = 6, float("nan"), float("inf")
RNG = np.random.default_rng(0)
D = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) + 0.0
W = -D
ROWS = np.array([RNG.permutation(N)[:3] for _ in range(60)])
ANSWERS = Triplets(ROWS, N, respondents=[f"p{number % 4}" for number in range(60)])
FOURS = Quadruplets([[i, j, i, k] for i, j, k in ROWS], N)
TREE = Dendrogram.from_merges([[0, 1], [6, 2], [3, 4], [8, 5], [7, 9]])
LABELS = np.array([0, 0, 0, 1, 1, 1])
TASKS = [(D, LABELS), (D**2, LABELS)]
MERGES = ("single", "complete")
TOGETHER = (LABELS[:, None] == LABELS) / 3
F_IN, F_OUT = gaussians(0.5, 0.5)

GOOD = dict(  # a legal value by the name of the parameter
    similarity=W, S=W, X=W, kernel=W, dendrogram=TREE, tree=TREE, labels=LABELS, truth=LABELS, a=LABELS, b=LABELS,
    triplets=ANSWERS, answers=ANSWERS, comparisons=ANSWERS, data=ROWS, quadruplets=FOURS, n_objects=N, n=N, items=N,
    n_clusters=2, k=2, rng=0, seed=0, size_or_p=9, p_correct=0.9, p=0.3, delta=0.2, sigma=0.5, mu=0.5, n_pure=2,
    n_levels=1, sizes=(3, 3), D=D, D0=D, D1=D**2, merges=MERGES, alpha=0.5, beta=0.5, instances=TASKS, tasks=TASKS,
    merge="single", lam=0.5, epsilon=0.1, method="3-al", oracle=SimilarityOracle(W), f_in=F_IN, f_out=F_OUT,
)  # fmt: skip
OWN = {  # what one function wants otherwise
    "Quadruplets": dict(data=FOURS.array),
    "Dendrogram": dict(linkage_matrix=TREE.linkage_matrix),
    "run": dict(algorithm=single_linkage),
    "Budget": dict(n=9),
    "build_hierarchy": dict(X=ANSWERS),
    "build_from_similarity": dict(name="3-al"),
    "compare_methods": dict(methods=["3-al"], n_splits=1),
    "choose_method": dict(methods=["3-al"]),
    "choose_clusters": dict(n_clusters=2),
    "answer_shape": dict(answers=list(permutations(range(8), 3)), n_splits=3),
    "learning_curve": dict(methods=["3-al"], n_splits=1, sizes=[20]),
    "bootstrap_support": dict(build="3-al", n_resamples=1),
    "structure_test": dict(build="3-al", n_draws=1),
    "majority_consensus": dict(trees=[TREE, TREE]),
    "save_result": dict(result=Result(TREE, None, "A tree", "3-al"), path="saved.nwk"),
    "save_model": dict(model=learn_model(TASKS), path="saved.json"),
    "load_dataset": dict(name="animals"),
    "load_model": dict(path="model.json"),
    "read_comparisons": dict(path="answers.csv"),
    "adds_from_file": dict(path="answers.csv", n_objects=4),
    "pool_journals": dict(paths=[Path(__file__).parent / "journals" / "asking.jsonl"]),
    "read_journal": dict(path=Path(__file__).parent / "journals" / "asking.jsonl"),
    "Session": dict(items=["a", "b", "c"]),
    "compare_groups": dict(groups={f"p{number}": "ab"[number % 2] for number in range(4)}, n_shuffles=1),
    "consistent_hierarchy": dict(triplets=[[0, 1, 2]], n_objects=3),
    "OrdinalOracle": dict(hierarchy=random_hierarchy(N, "uniform", 0)),
    "quadruplet_average_linkage_sampled": dict(p=0.5, initial=None),
    "improve_partition": dict(k=2),
    "n_comparisons": dict(a=2.0),
    "sample_comparisons": dict(kind="triplets", epsilon=1.0),
    "spur_objective": dict(X=TOGETHER),
    "round_solution": dict(X=TOGETHER),
    "spur": dict(n_comparisons=40),
    "spur_prices": dict(n_comparisons=40),
    "sdp_reference": dict(S=TOGETHER, k=2),
    "uniform_beta": dict(a=2.0, b=3.0),
    "uniform_normal": dict(a=2.0, b=3.0),
    "mixed_linkage": dict(metrics=[D, D**2], beta=[0.5, 0.5], alpha=[0.5, 0.5]),
    "average_loss": dict(curves=learn_linkage(TASKS).curves),
    "confidence_band": dict(learned=learn_linkage(TASKS)),
    "split_instances": dict(test_share=0.5),
    "theorem_1_rate": dict(n_instances=9, n_points=9),
    "rings_and_disks": dict(n=8),
    "random_hierarchy": dict(shape="uniform"),
    "embedding_average_linkage": dict(points=RNG.normal(size=(N, 2))),
    "triplet_error": dict(points=RNG.normal(size=(N, 2))),
    "held_out_agreement": dict(estimator=ComparisonHC("3-al").fit(ANSWERS), X=ANSWERS),
}
LEFT_OUT = {  # takes nothing, or the results and functions of this package
    *"Agreement BestPruning Dataset list_datasets Method methods passive_methods MAKERS Comparisons".split(),
    *"Certificate PlantedPartition SDPSolution SpurResult SpurStep PlantedHierarchy Refinement AddS Hierarchy".split(),
    *"ExecutionTree Leaf LearnedLinkage PiecewiseLoss TwoParameterGrid MergeFunction LinkageLearner".split(),
    *"MixedLinkage widest_interval Item Pool SessionState answers_and_places majority_rows as_distances".split(),
    *"Choice Consensus Embedding FeatureMetric FlatResult LeaveOneTaskOut LinkageModel MethodComparison".split(),
    *"linked_groups warn_if_disconnected ComparisonSummary DisconnectedWarning lambda_range".split(),
    *"OrdinalLinkage Result StructureTest Support Task null_flip null_redraw possible_merges GrowingTree".split(),
    "plot_dendrogram",  # needs Matplotlib, which is not required
}

NO_NUMBER = [None, "0.5", NAN, True, 1j, [0.5], np.array([0.5]), pd.NA, np.timedelta64(3, "s"), 10**400]
NO_COUNT = [*NO_NUMBER, 0, -1, 2.0, INF, 10**30]
NO_SEED = ["x", -1, 1.5, [1], True, NAN, np.random.RandomState(0), np.timedelta64(3, "s")]
NO_LABELS = [3, "abcdef", [], {0, 1}, {"a": 1}, [[0, 1]] * 3, [0, 1, NAN, 1, 0, 0], ["a", None, *"bbaa"]]
NO_LABELS += [np.ma.array(LABELS, mask=[0, 0, 1, 0, 0, 0]), pd.array([0, None, 1, 1, 0, 0], "Int64"), [0, 1, 0]]
NO_TREE = [None, 5, TREE.linkage_matrix, TREE.to_newick(), [[0, 1], [2, 3]], Dendrogram]
NO_MATRIX = [None, "abc", 5, [1, 2], [[1, 2, 3], [4, 5, 6]], [], np.empty((0, 0)), [[1, 2], [3]], {0: 1}]
NO_MATRIX += [np.full((N, N), NAN), np.full((N, N), INF), np.triu(np.ones((N, N))), np.full((N, N), 1j)]
NO_MATRIX += [np.full((N, N), "0"), np.zeros((N, N), "datetime64[D]"), scipy.sparse.eye(N)]
NO_MATRIX += [np.ma.array(np.zeros((N, N)), mask=np.eye(N) < 1), pd.DataFrame(W, list("abcdef"), list("bacdef"))]
NO_ROWS = [None, "abc", 5, len, Triplets, {"i": [0]}, {(0, 1, 2)}, [], np.empty((0, 3), int), [0, 1, 2], [[0, 1]]]
NO_ROWS += [np.zeros((2, 3, 3), int), [[0, 1, 2, 3, 4]], scipy.sparse.csr_array([[0, 1, 2]]), [[0, 1, 2], [0, 1]]]
NO_ROWS += [np.zeros(1, [("i", int), ("j", int), ("k", int)]), np.array([[b"0", b"1", b"2"]])]
BAD_CELLS = [None, NAN, INF, 1.5, 2j, Fraction(5, 2), object(), 1e30, 2**70, 2**31, -1, 1]
NO_ROWS += [[[0, 1, cell]] for cell in BAD_CELLS] + [np.ma.array([[0, 1, 2]], mask=[[0, 0, 1]])]
NO_ROWS += [pd.DataFrame({"i": pd.array([0, None], "Int64"), "j": [1, 1], "k": [2, 2]}), np.zeros((2, 3), bool)]
NO_NAMES = [5, "abc", {"a": 0}, {"a", "b"}, ["a"] * N, ["a", None, *"cdef"], ["a", "\ud800", *"cdef"], ["a", "b"]]
NO_INITIAL = [3, "abcdef", b"012345", {"a": [0, 1]}, {(0, 1)}, [], [[0, 1, 2, 3, 4, 5], []], [[0, 1], [1, 2, 3, 4, 5]]]
NO_INITIAL += [[[0, 1], last] for last in ([2], [2, 3, 4, 6], [2, -1])]
NO_INITIAL += [[[0, 1], 2, 3], [0, 1, 0], [0, NAN, 1, 1, 0, 0]]
NO_FLAG = [None, 1, "yes", []]
NO_ITEMS = [0, 1, -1, True, 2.0, 2.5, None, "abc", b"ab", [], ["a"], ["a", "a"], [1, "1"], ["a", None], 10**30]
NO_ITEMS += [["a", NAN], {"a", "b"}, {"a": 1, "b": 2}, object(), np.array([["a", "b"], ["c", "d"]])]
NO_FILE = [None, 5, b"x.csv", "", "a\0b", "\ud800", "nowhere/x.csv", "x" * 5000]

REFUSED = {  # by the name of the parameter; None is not tried where it is the default
    **dict.fromkeys("similarity S kernel D D0 D1".split(), NO_MATRIX),
    **dict.fromkeys("triplets quadruplets comparisons answers data".split(), NO_ROWS),
    **dict.fromkeys("dendrogram tree".split(), NO_TREE),
    **dict.fromkeys("labels truth".split(), NO_LABELS),
    **dict.fromkeys("n_objects n_pure n_levels n_splits n_resamples n_draws n_folds".split(), NO_COUNT),
    **dict.fromkeys("n_clusters k".split(), [*NO_COUNT, N + 1]),
    **dict.fromkeys("p p_correct test_share".split(), [*NO_NUMBER, -0.1, 1.1]),
    **dict.fromkeys("mu sigma delta alpha beta lam tol".split(), [*NO_NUMBER, INF, -INF]),
    **dict.fromkeys("rng seed".split(), NO_SEED),
    **dict.fromkeys(["progress"], [3, "bar", ()]),
    **dict.fromkeys("names objects".split(), NO_NAMES),
    **dict.fromkeys(["initial"], NO_INITIAL),
    **dict.fromkeys("self_pairs normalise normalised per_person sort certificate all_k".split(), NO_FLAG),
    **dict.fromkeys("first_order shared_landmarks adversary printed largest_first".split(), NO_FLAG),
    **dict.fromkeys("linkage loss kind merge shape form rounding".split(), [5, "zzz", ["x"], b"x"]),
    **dict.fromkeys("limit max_iter batch n_references n_metrics n_merges".split(), [*NO_NUMBER[:-1], 0, -1, 2.0, INF]),
    **dict.fromkeys("n_comparisons n_instances n_points".split(), NO_COUNT),
    **dict.fromkeys("epsilon q".split(), [*NO_NUMBER, -0.1, 1.1]),
    **dict.fromkeys(["merges"], [5, "single", ("single",), ("single", "ward"), ("single", 3), (None, None)]),
    **dict.fromkeys(["items"], NO_ITEMS),
    **dict.fromkeys("path".split(), NO_FILE),
}
LEGAL = {  # (function, parameter): numbers of the values above that this function takes
    ("ComparisonHC", "kind"): range(4),  # of tables only
    ("cluster_matrix", "labels"): [10],
    ("Dendrogram.chart", "names"): [4],
    ("Journal", "kind"): [1],
    ("Triplets.to_csv", "path"): [6, 7],
    ("adds3", "triplets"): [26],  # the number of objects is refused first
    ("adds4", "quadruplets"): [26],
    ("crowd_weights", "n_folds"): [9, 14],
    ("compare_groups", "n_draws"): [9, 14],
    ("load_dataset", "progress"): [0, 1, 2],
    ("spur", "n_comparisons"): [14],
}
ALSO = {  # words by which a message may name an argument, too
    "alpha": ["merges"], "comparisons": ["answers", "data"], "data": ["rows", "row "], "triplets": ["row ", "data"],
    "quadruplets": ["row ", "data", "triplets"], "answers": ["data", "row "], "delta": ["δ"], "merges": ["alpha"],
    "n_levels": ["levels", "2^L"], "names": ["n_objects"], "path": ["journal"],
    "similarity": ["X"], "S": ["similarity"],
}  # fmt: skip


def broken():
    "An iterator that fails."
    yield 1
    raise OSError("the cable is out")


def odd_values():
    "Values that are nothing in particular. Made for each call, as some are used up by use."
    frame = pd.DataFrame({"i": pd.array([0, None], "Int64"), "j": [1, 2], "k": [2, 0]})
    return [
        None, True, 0, -1, 1.5, NAN, INF, 10**30, 10**400, 1e300, 1j, Fraction(1, 3), np.int64(2), "", "x", "\0",
        np.timedelta64(3, "s"), np.datetime64("2020-01-01"), pd.NA, pd.NaT, "\ud800", b"x", [], [[]], [[1, 2], [3]],
        ["a", "b"], [None] * N, {}, {1: 2}, {1, 2}, iter([1]), broken(), range(3), np.array(3),
        np.zeros((0, 3)), np.zeros((2, 3, 4)), np.full((N, N), 1e308) - np.eye(N) * 1e308, np.zeros((4, 3), dtype=int),
        np.array([0, 1, 2], ">i8"), np.array([[0, 1, None]], dtype=object), np.zeros(3, [("i", int), ("j", int)]),
        pd.DataFrame(), frame, pd.Series([1, 2]), pd.Categorical(["a", None]), lambda *a, **k: None, TREE,
        ANSWERS, np.random.default_rng(0), Path("folder"),
    ]  # fmt: skip


def parameters(function):
    "The parameters that a caller may name."
    named = inspect.signature(function).parameters.values()
    return [p for p in named if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and not p.name.startswith("_")]


def estimator(kind):
    "Making one is nothing yet: fitting is what checks."

    def fitted(**options):
        return kind(**options).fit(ANSWERS)

    fitted.__signature__ = inspect.signature(kind)
    return fitted


def run_anew(algorithm, oracle, progress=None):
    "`run`, of a generator that is new at each call: one can be used once only."
    return run(algorithm(N) if algorithm is single_linkage else algorithm, oracle, progress)


def lacks_value(name, function):
    "Whether a parameter without a default has no legal value in the tables."
    needed = {p.name for p in parameters(function) if p.default is p.empty}
    return bool(needed - GOOD.keys() - OWN.get(name, {}).keys())


@cache
def targets():
    "{name: function} of every public function and of some methods."
    found = {name: each for area in AREAS.split() for name, each in public_names().get(area, {}).items()}
    found = {name: each for name, each in found.items() if callable(each) and name not in LEFT_OUT}
    found = {n: f for n, f in found.items() if not (inspect.isclass(f) and issubclass(f, (BaseException, Warning)))}
    found = {n: getattr(f, n) if inspect.ismodule(f) else f for n, f in found.items()}  # a module that is called
    found |= dict(
        run=run_anew, ComparisonHC=estimator(ComparisonHC), ComparisonClustering=estimator(ComparisonClustering)
    )
    found = {n: f for n, f in found.items() if not lacks_value(n, f)}
    for name in "cut coarsen to_newick same_tree chart relabel from_merges from_linkage from_newick".split():
        found[f"Dendrogram.{name}"] = getattr(TREE, name)
    for name in "flip sample majority to_csv from_central from_odd_one_out from_frame".split():
        found[f"Triplets.{name}"] = getattr(ANSWERS, name)
    return found


OWN |= {
    "Dendrogram.same_tree": dict(other=TREE),
    "Dendrogram.relabel": dict(order=list(range(N))),
    "Dendrogram.from_merges": dict(merges=[[0, 1], [6, 2], [3, 4], [8, 5], [7, 9]]),
    "Dendrogram.from_linkage": dict(linkage_matrix=TREE.linkage_matrix),
    "Dendrogram.from_newick": dict(text=TREE.to_newick()),
    "Triplets.sample": dict(size=5),
    "Triplets.to_csv": dict(path="out.csv"),
    "Triplets.from_frame": dict(frame=ANSWERS.to_frame().drop(columns="respondent")),
    "Journal": dict(path="kept.jsonl"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    "A folder with the files that the good calls name."
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text("i,j,k\n0,1,2\n1,0,3\n2,3,0\n3,2,1\n")
    Path("folder").mkdir()
    save_model(OWN["save_model"]["model"], "model.json")


def good_call(name):
    "{parameter: legal value} of those without a default, and what is special."
    own, good = OWN.get(name, {}), {}
    for p in parameters(targets()[name]):
        if p.name in own:
            good[p.name] = own[p.name]
        elif p.default is p.empty:
            good[p.name] = GOOD[p.name]
    return good


class Late(Exception):
    "It takes too long."


@contextmanager
def limited(seconds=20):
    "Raise `Late` inside after some seconds, where the system has clocks for that."

    def ring(*_):
        raise Late

    if hasattr(signal, "setitimer"):
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def outcome(target, **changed):
    "What a call raises, or None; a generator is started."
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            result = targets()[target](**{**good_call(target), **changed})
            if inspect.isgenerator(result):
                next(result, None)
    except Exception as error:
        return error


@pytest.mark.parametrize("name", targets())
def test_every_public_function_has_a_good_call(name):
    assert outcome(name) is None


def test_few_public_functions_are_without_a_good_call():
    offered = {name: each for area in AREAS.split() for name, each in public_names().get(area, {}).items()}
    lacking = {n for n, f in offered.items() if n not in LEFT_OUT and n not in targets() and inspect.isfunction(f)}
    assert len(lacking) <= 5, f"add good values, or leave them out: {lacking}"


@pytest.mark.parametrize("name", targets())
def test_values_that_break_the_rule_of_an_argument_are_refused(name):
    wrong = []
    for p in parameters(targets()[name]):
        for number, value in enumerate(REFUSED.get(p.name, ())):
            if value is None and p.default is None or number in LEGAL.get((name, p.name), ()):
                continue
            error = outcome(name, **{p.name: value})
            words = [p.name, p.name.replace("_", " "), *ALSO.get(p.name, ())]
            named = isinstance(error, InputError) and any(word.lower() in str(error).lower() for word in words)
            named = named or p.name == "path" and isinstance(error, OSError)
            if not named or "\n" in str(error) or not 10 < len(str(error)) < 600:
                wrong.append(f"{p.name}[{number}] = {str(value)[:40]!r}: {error!r:.140}")
    assert not wrong, visible_text("\n".join(["", *wrong]))


@pytest.mark.parametrize("name", targets())
def test_odd_values_are_taken_or_refused_in_one_line(name, request):
    wrong, before = [], np.random.get_state()[1].tolist()
    for p in parameters(targets()[name]):
        for number in range(len(odd_values())):
            chosen = zlib.crc32(f"{name} {p.name} {number}".encode()) % 8 == 0
            if chosen or request.config.option.full:
                error = outcome(name, **{p.name: odd_values()[number]})
                if error is not None and not isinstance(error, (InputError, OSError, ExperimentError)):
                    wrong.append(f"{p.name} = {str(odd_values()[number])[:40]}: {error!r:.140}")
    assert not wrong, visible_text("\n".join(["", *wrong]))
    assert np.random.get_state()[1].tolist() == before, "the global random state was changed"


# ---- the words of a refusal, where one rule is not another


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: check_integer(0, "k"), "k must be an integer of at least 1; got 0"),
        (lambda: check_integer(10**5000, "n", 1, 5), "n must be an integer from 1 to 5; got a value of type int"),
        (lambda: check_number(2, "p", 0, 1, open_low=True), "p must be a number in (0, 1]; got 2"),
        (lambda: check_number(np.float16(2), "x", 0, 1.5), "x must be a number in [0, 1.5]; got"),
        (
            lambda: check_similarity([[0, 1, 2], [1, 0, 3], [2, 4, 0]]),
            "entries (1, 2) and (2, 1) differ; got (3.0, 4.0)",
        ),
        (lambda: check_similarity([[0, NAN], [NAN, 0]]), "finite off the diagonal, but entry (0, 1) is not; got nan"),
        (lambda: check_similarity([[0, 1], [1, 0]], n_objects=3), "similarity must be of shape (3, 3)"),
        (lambda: check_labels([0, 1, 0], 4), "labels must be of length 4, one label per object"),
        (lambda: check_labels(["a", None]), "labels must be free of missing values"),
        (lambda: check_names(["a", "b", "a"]), "names must be distinct; got 'a'"),
        (lambda: as_rng(-1), "rng must be a non-negative integer seed, a numpy.random.Generator or None; got -1"),
        (lambda: Triplets([[0, 1, 2], [2, 1, 0], [1, 1, 2]]), "row 2"),
        (lambda: Triplets([[0, 1, 4]], n_objects=4), "below n_objects = 4"),
        (lambda: TREE.cut(7), "n_clusters must be an integer from 1 to 6; got 7"),
        (lambda: next(most_similar_pair(1000, 999_999)), "votes must be so few that the 249,750 questions"),
        (lambda: run(finished(), SimilarityOracle(W)), "algorithm must be a generator that has not run yet"),
        (lambda: check_destination("\ud800.html", "--out", (".html",)), "--out must be the name of a file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_names_the_argument_the_rule_and_the_value(call, words):
    with pytest.raises(InputError) as error:
        call()
    assert words in str(error.value)


def finished():
    "A generator that has run already."
    algorithm = single_linkage(4)
    run(algorithm, SimilarityOracle(W[:4, :4]))
    return algorithm


def test_what_is_legal_though_it_looks_odd():
    w = W.copy()
    np.fill_diagonal(w, NAN)  # a diagonal may hold anything
    assert sample_triplets(w, 1.0, 0) == sample_triplets(W, 1.0, 0)
    assert check_number(Fraction(1, 2), "p", 0, 1) == 0.5 and math.copysign(1, check_number(-0.0, "x", 0)) == 1
    for labels in ([1, 1, "1", "1"], [2**63, 2**63, 2**63 + 1, 2**63 + 1]):
        assert check_labels(labels).tolist() == check_labels(np.array(labels, dtype=object)).tolist() == [0, 0, 1, 1]
    for kind in (">i4", ">f8", ">u2", ">U3", "i1", "u8"):  # any order and number of bytes
        assert check_labels(np.array([3, 1, 1, 3]).astype(kind)).tolist() == [0, 1, 1, 0]
    assert Triplets(np.array([[0, 1, 2]], ">i8")) == Triplets([[0, 1, 2]])
    assert SimilarityOracle(W)(pd.DataFrame([[0, 1, 3]]).astype("Int64")).tolist() == [2]


def test_callers_values_are_never_changed():
    values = ROWS, W, LABELS, TREE.linkage_matrix
    before = [np.array(value) for value in values]
    for name in targets():
        outcome(name)
    assert all(np.array_equal(value, was) for value, was in zip(values, before)) and ROWS.flags.writeable


PIECES = st.sampled_from(
    [",", ";", "\t", '"', "'", "\n", "\r", "\r\n", "\0", "\ufeff", "a", "é", "  ", "\x1b[31m", "1e400"]
)
TEXT = b"i,j,k\na,b,c\nb,a,c\nc,a,b\na,c,b\n"


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8), PIECES), min_size=1, max_size=6))
def test_a_broken_file_is_read_or_refused_in_one_line(changes):
    data = bytearray(TEXT)
    for at, n_cut, piece in changes:
        data[at : at + n_cut] = piece.encode()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "answers.csv"
        path.write_bytes(bytes(data))
        try:
            read_comparisons(path)
        except InputError as error:
            assert "\n" not in str(error) and 10 < len(str(error)) < 800
