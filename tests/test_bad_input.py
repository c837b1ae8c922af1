"""What bad input gets: an `InputError` that names the argument and the value. Every bad value meets every function that
it could be given to.
"""

import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.stats import norm

from comparison_hc import (
    ComparisonClustering,
    ComparisonHC,
    Dendrogram,
    InputError,
    Quadruplets,
    Triplets,
    load_dataset,
    read_comparisons,
)
from comparison_hc import hierarchical as H
from comparison_hc.adaptive import quick_clustering
from comparison_hc.comparisons import (
    as_quadruplets,
    as_triplets,
    n_quadruplet_questions,
    n_triplet_questions,
    sample_numbers,
)
from comparison_hc.core import kernels
from comparison_hc.core.validation import as_rng, check_integer, check_labels, check_number, check_similarity
from comparison_hc.flat.planted import gaussians, planted_partition
from comparison_hc.flat.sdp import sdp_k, sdp_lambda
from comparison_hc.flat.similarity import adds3, mulk3, mulk4
from comparison_hc.flat.spur_search import round_solution
from comparison_hc.hierarchical.average import quadruplet_average_linkage, quadruplet_average_linkage_ranked
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.methods import build_from_similarity, build_hierarchy, methods
from comparison_hc.metrics import (
    adjusted_rand_index,
    agreement,
    average_ari,
    best_pruning,
    dasgupta_cost,
    majority_loss,
    moseley_wang_revenue,
    noise_ceiling,
    pruning_loss,
    quadruplet_agreement,
    triplet_agreement,
)
from comparison_hc.oracles import (
    Budget,
    Counting,
    HierarchyOracle,
    Journal,
    Noisy,
    SimilarityOracle,
    check_answers,
    check_queries,
    run,
    sample_quadruplets,
    sample_triplets,
)

TREE = Dendrogram.from_merges([[0, 1], [2, 4], [3, 5]])  # four objects
SIMILARITY = np.array([[0, 4, 1, 2], [4, 0, 3, 5], [1, 3, 0, 6], [2, 5, 6, 0]], dtype=float)
ORACLE = SimilarityOracle(SIMILARITY)
NAN, INF = float("nan"), float("inf")


def refused(call, *words):
    "Assert that a call raises `InputError` with these words in its message, and no warning; the message."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError) as caught:
            call()
    text = str(caught.value)
    for word in words:
        assert word in text, text
    assert isinstance(caught.value, ValueError) and "\n" not in text and len(text) < 500
    return text


def grid(functions, values):
    "All pairs, each a case of its own with a name."
    return [
        pytest.param(function, *value if isinstance(value, tuple) else (value,), id=f"{name}-{what}")
        for name, function in functions.items()
        for what, value in values.items()
    ]


# ---- comparisons

TAKES_TRIPLETS = {
    "Triplets": Triplets,
    "from_central": Triplets.from_central,
    "from_odd_one_out": Triplets.from_odd_one_out,
    "as_triplets": as_triplets,
    "as_quadruplets": as_quadruplets,
    "4-AL": quadruplet_average_linkage,
    "ComparisonHC": lambda rows: ComparisonHC().fit(rows),
    "fit_predict": lambda rows: ComparisonHC(n_clusters=2).fit_predict(rows),
    "agreement": lambda rows: agreement(TREE, rows),
    "triplet_agreement": lambda rows: triplet_agreement(TREE, rows),
    "quadruplet_agreement": lambda rows: quadruplet_agreement(TREE, rows),
    "noise_ceiling": noise_ceiling,
}
TAKES_QUADRUPLETS = {
    "Quadruplets": Quadruplets,
    "as_quadruplets": as_quadruplets,
    "4-AL": quadruplet_average_linkage,
    "ComparisonHC": lambda rows: ComparisonHC().fit(rows),
    "agreement": lambda rows: agreement(TREE, rows),
    "quadruplet_agreement": lambda rows: quadruplet_agreement(TREE, rows),
}
NO_ROWS = {  # value, words that must be in the message
    "None": (None, "data", "None"),
    "text": ("abc", "data", "abc"),
    "a number": (5, "data", "5"),
    "a function": (len, "data", "len"),
    "a class": (Triplets, "data", "Triplets"),
    "a dict": ({"i": [0], "j": [1]}, "data"),
    "a set": ({(0, 1, 2)}, "data", "(0, 1, 2)"),
    "a generator": ((row for row in [[0, 1, 2]]), "data", "generator"),
    "empty list": ([], "data", "(0,)"),
    "no rows": (np.empty((0, 3), int), "data", "(0, 3)"),
    "one dimension": ([0, 1, 2], "data", "(3,)"),
    "three dimensions": (np.zeros((2, 3, 3), int), "data", "(2, 3, 3)"),
    "two columns": ([[0, 1]], "data", "(1, 2)"),
    "five columns": ([[0, 1, 2, 3, 4]], "data", "(1, 5)"),
    "a series": (pd.Series([0, 1, 2]), "data", "(3,)"),
    "sparse": (scipy.sparse.csr_array([[0, 1, 2]]), "sparse"),
    "records": (np.zeros(1, [("i", int), ("j", int), ("k", int)]), "data"),
}


@pytest.mark.parametrize(
    "function, value, words",
    [pytest.param(f, v[0], v[1:], id=f"{n}-{w}") for n, f in TAKES_TRIPLETS.items() for w, v in NO_ROWS.items()],
)
def test_not_rows(function, value, words):
    refused(lambda: function(value), *words[1:])


@pytest.mark.parametrize("value, words", [pytest.param(v[0], v[1:], id=w) for w, v in NO_ROWS.items()])
def test_not_rows_says_data_and_the_shape(value, words):
    refused(lambda: Triplets(value), *words, *(["(m, 3)"] if "sparse" not in words else []))
    refused(lambda: Quadruplets(value), "(m, 4)")


def padded(bad):
    "Rows of three made into rows of four: (i, j, k) says the same as (i, j, i, k)."
    return {what: ([[i, j, i, k] for i, j, k in rows], *words) for what, (rows, *words) in bad.items()}


BAD_ROWS = {
    "ragged": ([[0, 1, 2], [0, 1]], "[0, 1]"),
    "None inside": ([[0, 1, None]], "None"),
    "NaN": ([[0, 1, NAN]], "nan"),
    "infinity": ([[0, 1, INF]], "inf"),
    "a half": ([[0, 1, 1.5]], "1.5"),
    "text inside": ([[0, 1, "2"]], "<U"),
    "bytes": (np.array([[b"0", b"1", b"2"]]), "S1"),
    "complex": ([[0, 1, 2j]], "complex"),
    "truth values": (np.array([[False, True, True]]), "bool"),
    "dates": (np.array([["2020", "2021", "2022"]], "datetime64[Y]"), "datetime64"),
    "fractions": ([[0, 1, Fraction(5, 2)]], "Fraction"),
    "a missing cell": (pd.DataFrame({"i": pd.array([0, None], "Int64"), "j": [1, 1], "k": [2, 2]}), "NA"),
    "masked": (np.ma.array([[0, 1, 2]], mask=[[0, 0, 1]]), "mask"),
    "objects": (np.array([[0, 1, object()]], dtype=object), "object"),
    "1e30": ([[0, 1, 1e30]], "1e+30"),
    "2**63": ([[0, 1, 2**63]], "9.2"),
    "2**70": ([[0, 1, 2**70]], str(2**70)),
    "largest unsigned": (np.array([[0, 1, 2**64 - 1]], np.uint64), str(2**64 - 1)),
    "2**31": ([[0, 1, 2**31]], str(2**31)),
    "negative": ([[0, 1, 2], [0, 1, -1]], "-1", "row 1"),
    "i = j": ([[0, 1, 2], [2, 1, 0], [1, 1, 2]], "(1, 1, 2)", "row 2", "different objects"),
    "i = k": ([[0, 1, 0]], "(0, 1, 0)", "row 0"),
    "a pair with itself": ([[0, 1, 2], [0, 2, 2]], "(0, 2, 2)", "row 1", "different pairs"),
}


@pytest.mark.parametrize(
    "function, value, words",
    [pytest.param(f, v[0], v[1:], id=f"{n}-{w}") for n, f in TAKES_TRIPLETS.items() for w, v in BAD_ROWS.items()],
)
def test_bad_triplets(function, value, words):
    if (
        isinstance(value, list)
        and len(value[0]) == 3
        and function
        in (TAKES_TRIPLETS["agreement"], TAKES_TRIPLETS["triplet_agreement"], TAKES_TRIPLETS["quadruplet_agreement"])
    ):
        words = words[:0]  # these know N, and may say so first
    refused(lambda: function(value), *words)


@pytest.mark.parametrize(
    "function, value, words",
    grid(
        TAKES_QUADRUPLETS,
        {
            "i = j": ([[0, 1, 2, 3], [1, 1, 2, 3]], ["row 1", "(1, 1, 2, 3)"]),
            "k = l": ([[0, 1, 2, 2]], ["row 0", "(0, 1, 2, 2)"]),
            "the same pair": ([[0, 1, 0, 1]], ["(0, 1, 0, 1)"]),
            "the same pair turned": ([[0, 1, 2, 3], [0, 1, 1, 0]], ["row 1", "(0, 1, 1, 0)"]),
            "negative": ([[0, -1, 2, 3]], ["-1"]),
            "a half": ([[0, 1, 2, 2.5]], ["2.5"]),
            "NaN": ([[0, 1, 2, NAN]], ["nan"]),
        },
    ),
)
def test_bad_quadruplets(function, value, words):
    refused(lambda: function(value), *words)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Triplets([[0, 1, 4]], n_objects=4),
        lambda: Triplets([[0, 1, 4]], names="p q r s".split()),
        lambda: as_triplets([[0, 1, 4]], 4),
        lambda: as_quadruplets([[0, 1, 4]], 4),
        lambda: as_quadruplets(Triplets([[0, 1, 4]]), 4),
        lambda: quadruplet_average_linkage([[0, 1, 4]], n_objects=4),
        lambda: agreement(TREE, [[0, 1, 4]]),
        lambda: triplet_agreement(TREE, [[0, 1, 4]]),
        lambda: quadruplet_agreement(TREE, [[0, 1, 2, 4]]),
    ],
    ids=[
        "n_objects",
        "names",
        "as_triplets",
        "as_quadruplets",
        "as_quadruplets of triplets",
        "4-AL",
        "agreement",
        "triplet_agreement",
        "quadruplet_agreement",
    ],
)
def test_index_too_large(call):
    refused(call, "below n_objects = 4", "4)")


@pytest.mark.parametrize(
    "value", [0, -1, 2.0, "3", True, NAN, None and 0, 2**31 + 1, 10**30, np.array([4]), [4]], ids=repr
)
def test_n_objects(value):
    if value is None:
        return
    refused(lambda: Triplets([[0, 1, 2]], n_objects=value), "n_objects must be an integer from 1 to 2147483648")


@pytest.mark.parametrize(
    "value, words",
    [
        (5, ["5"]),
        ("abc", ["abc"]),
        (["a", "b", "b"], ["distinct"]),
        (["a", None, "c"], ["missing"]),
        (["a", NAN, "c"], ["missing"]),
        ({0, 1, 2}, ["sequence"]),
        ({"a": 0, "b": 1, "c": 2}, ["sequence"]),
        ([1, "1", 2], ["distinct"]),
    ],
    ids=repr,
)
def test_names(value, words):
    refused(lambda: Triplets([[0, 1, 2]], names=value), "names", *words)


@pytest.mark.parametrize("value", [["a"], ["a", "b", "c"], [["a"], ["b"]], [["a"], ["b", "c"]], "ab", 7], ids=repr)
def test_respondents(value):
    refused(lambda: Triplets([[0, 1, 2], [1, 0, 2]], respondents=value), "respondents", "(2,)")


def test_quadruplets_are_no_triplets():
    refused(lambda: as_triplets(Quadruplets([[0, 1, 2, 3]])), "triplets", "Quadruplets")
    refused(lambda: triplet_agreement(TREE, Quadruplets([[0, 1, 2, 3]])), "triplets")
    refused(lambda: Triplets(Quadruplets([[0, 1, 2, 3]])), "(m, 3)", "(1, 4)")


# ---- probabilities, sizes, seeds

SOME = Triplets([[0, 1, 2], [1, 2, 0]])
NO_NUMBER = {
    "None": None,
    "text": "0.5",
    "NaN": NAN,
    "infinity": INF,
    "-infinity": -INF,
    "True": True,
    "complex": 1j,
    "a list": [0.5],
    "an array": np.array([0.5]),
    "1e30": 10**400,
    "NA": pd.NA,
}


@pytest.mark.parametrize(
    "function, value",
    grid(
        {
            "flip": lambda p: SOME.flip(p, 0),
            "Noisy": lambda p: Noisy(ORACLE, p, 0),
            "check_number": lambda p: check_number(p, "p", 0, 1),
        },
        {**NO_NUMBER, "below": -0.01, "above": 1.01, "two": 2},
    ),
)
def test_probability(function, value):
    refused(lambda: function(value), "must be a number in [0, 1]", "got")


@pytest.mark.parametrize(
    "function, value",
    grid(
        {
            "sample_numbers": lambda p: sample_numbers(100, p, 0),
            "sample_quadruplets": lambda p: sample_quadruplets(SIMILARITY, p, 0),
            "sample_triplets": lambda p: sample_triplets(SIMILARITY, p, 0),
        },
        {"zero": 0.0, "below": -0.5, "above": 1.5, "NaN": NAN, "infinity": INF, "float32": np.float32(1.5)},
    ),
)
def test_rate_outside_the_range(function, value):
    refused(lambda: function(value), "p must be a number in (0, 1]", "got")


@pytest.mark.parametrize(
    "function, value",
    grid(
        {
            "sample_numbers": lambda p: sample_numbers(12, p, 0),
            "sample_quadruplets": lambda p: sample_quadruplets(SIMILARITY, p, 0),
            "sample_triplets": lambda p: sample_triplets(SIMILARITY, p, 0),
        },
        {
            "None": None,
            "text": "5",
            "negative": -1,
            "more than there are": 16,
            "True": True,
            "a list": [3],
            "a fraction": Fraction(1, 2),
            "complex": 1j,
            "huge": 10**30,
        },
    ),
)
def test_size(function, value):
    refused(lambda: function(value), "size_or_p must be an integer from 0 to 1", "got")


@pytest.mark.parametrize("value", [0, 3, -1, 1.0, True, "1", None, 10**30], ids=repr)
def test_sample_of_answers(value):
    refused(lambda: SOME.sample(value, 0), "size must be an integer from 1 to 2", f"got {value!r}")


@pytest.mark.parametrize(
    "function, value",
    grid(
        {
            "sample_numbers": lambda rng: sample_numbers(9, 3, rng),
            "flip": lambda rng: SOME.flip(0.5, rng),
            "sample": lambda rng: SOME.sample(1, rng),
            "planted_hierarchy": lambda rng: planted_hierarchy(1, 1, 0, 0, 0, rng),
            "sample_quadruplets": lambda rng: sample_quadruplets(SIMILARITY, 2, rng),
            "sample_triplets": lambda rng: sample_triplets(SIMILARITY, 2, rng),
            "Noisy": lambda rng: Noisy(ORACLE, 0.5, rng),
        },
        {
            "text": "0",
            "negative": -1,
            "a half": 0.5,
            "True": True,
            "a list": [1],
            "the old kind": np.random.RandomState(0),
            "a module": np.random,
        },
    ),
)
def test_rng(function, value):
    refused(lambda: function(value), "rng must be", "got")


# ---- similarities


def planted(**changes):
    return lambda: planted_hierarchy(**{**dict(n_pure=2, n_levels=2, mu=0.8, delta=0.1, sigma=0.1, rng=0), **changes})


@pytest.mark.parametrize(
    "name, value",
    [
        (name, value)
        for name in ("n_pure", "n_levels")
        for value in (0, -1, 1.0, "2", None, True, NAN, [2], np.array([2]))
    ]
    + [("n_levels", 21)]
    + [(name, value) for name in ("mu", "delta", "sigma") for value in NO_NUMBER.values()]
    + [("delta", -0.1), ("sigma", -1e-300)],
    ids=lambda x: x if isinstance(x, str) else repr(x)[:12],
)
def test_planted_hierarchy(name, value):
    refused(planted(**{name: value}), f"{name} must be", "got")


BAD_SIMILARITY = {
    "None": (None, []),
    "text": ("abc", ["abc"]),
    "a number": (5, ["()"]),
    "one dimension": ([1, 2], ["(2,)"]),
    "not square": ([[1, 2, 3], [4, 5, 6]], ["(2, 3)"]),
    "empty": ([], ["(0,)"]),
    "0 by 0": (np.empty((0, 0)), ["(0, 0)"]),
    "ragged": ([[1, 2], [3]], []),
    "NaN": ([[0, NAN], [NAN, 0]], ["(0, 1)", "nan"]),
    "infinity": ([[0, 1, 2], [1, 0, INF], [2, INF, 0]], ["(1, 2)", "inf"]),
    "asymmetric": ([[0, 1, 2], [1, 0, 3], [2, 4, 0]], ["(1, 2) and (2, 1)", "3.0, 4.0"]),
    "a last digit": ([[0, 0.3], [0.1 + 0.2, 0]], ["symmetric"]),
    "complex": ([[0, 1j], [1j, 0]], ["complex"]),
    "words": ([["a", "b"], ["b", "a"]], ["<U1"]),
    "digits as text": ([["0", "1"], ["1", "0"]], ["<U1"]),
    "None inside": ([[0, None], [None, 0]], ["(0, 1)"]),
    "dates": (np.zeros((2, 2), "datetime64[D]"), ["datetime64"]),
    "masked": (np.ma.array(np.zeros((2, 2)), mask=[[0, 1], [1, 0]]), ["mask"]),
    "sparse": (scipy.sparse.eye(3), ["parse"]),
    "too large": ([[0, 10**400], [10**400, 0]], []),
    "a missing cell": (pd.DataFrame({"a": pd.array([0, None], "Float64"), "b": pd.array([None, 0], "Float64")}), []),
    "a dict": ({0: 1}, []),
}
TAKES_SIMILARITY = {
    "check_similarity": check_similarity,
    "SimilarityOracle": SimilarityOracle,
    "sample_quadruplets": lambda w: sample_quadruplets(w, 1.0, 0),
    "sample_triplets": lambda w: sample_triplets(w, 1.0, 0),
    "dasgupta_cost": lambda w: dasgupta_cost(TREE, w),
    "moseley_wang_revenue": lambda w: moseley_wang_revenue(TREE, w),
    "4-AL ranked": quadruplet_average_linkage_ranked,
}


@pytest.mark.parametrize("function, value, words", grid(TAKES_SIMILARITY, BAD_SIMILARITY))
def test_similarity(function, value, words):
    refused(
        lambda: function(value),
        "similarity must be",
        *(
            words
            if function not in (TAKES_SIMILARITY["dasgupta_cost"], TAKES_SIMILARITY["moseley_wang_revenue"])
            else []
        ),
    )


@pytest.mark.parametrize("function", [dasgupta_cost, moseley_wang_revenue])
def test_similarity_about_other_objects(function):
    refused(lambda: function(TREE, np.eye(5)), "similarity must be of shape (4, 4)", "(5, 5)")


@pytest.mark.parametrize("function", [sample_quadruplets, sample_triplets])
def test_too_few_objects_to_ask_about(function):
    refused(lambda: function([[0, 1], [1, 0]], 1.0, 0), "similarity must be about at least 3 objects")


def test_a_diagonal_may_hold_anything():
    w = SIMILARITY.copy()
    np.fill_diagonal(w, NAN)
    assert sample_quadruplets(w, 1.0, 0) == sample_quadruplets(SIMILARITY, 1.0, 0) and dasgupta_cost(
        TREE, w
    ) == dasgupta_cost(TREE, SIMILARITY)


# ---- numbers of clusters, labels, trees

ANSWERS = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
TAKES_K = {
    "cut": TREE.cut,
    "coarsen": TREE.coarsen,
    "fit": lambda k: ComparisonHC(n_clusters=k).fit(ANSWERS),
    "fit_predict": lambda k: ComparisonHC(n_clusters=k).fit_predict(ANSWERS),
    "pruning_loss": lambda k: pruning_loss(TREE, [0, 0, 1, 1], k),
    "best_pruning": lambda k: best_pruning(TREE, [0, 0, 1, 1], k),
    "majority_loss": lambda k: majority_loss(TREE, [0, 0, 1, 1], k),
}


@pytest.mark.parametrize(
    "function, value",
    grid(
        TAKES_K,
        {
            "0": 0,
            "N + 1": 5,
            "negative": -1,
            "2.0": 2.0,
            "text": "2",
            "True": True,
            "NaN": NAN,
            "a list": [2],
            "an array": np.array([2, 3]),
            "huge": 10**30,
        },
    ),
)
def test_n_clusters(function, value):
    refused(lambda: function(value), "n_clusters must be an integer from 1 to 4", "got")


def test_labels_without_a_number_of_clusters():
    refused(lambda: ComparisonHC().fit_predict(ANSWERS), "n_clusters", "None")
    refused(lambda: TREE.cut(None), "n_clusters", "None")


def test_n_clusters_beyond_the_initial_clusters():
    refused(
        lambda: ComparisonHC(n_clusters=3, initial=[0, 0, 1, 1]).fit(ANSWERS),
        "n_clusters must be an integer from 1 to 2",
        "got 3",
    )


BAD_LABELS = {
    "None": None,
    "a number": 3,
    "text": "abcd",
    "two dimensions": [[0, 1, 0, 1]] * 2,
    "ragged": [[0], [1, 2], [0], [1]],
    "empty": [],
    "NaN": [0, 1, NAN, 1],
    "None inside": ["a", None, "b", "b"],
    "masked": np.ma.array([0, 1, 0, 1], mask=[0, 0, 1, 0]),
    "a dict": {"a": 1},
    "a set": {0, 1, 2, 3},
    "NA": pd.array([0, None, 1, 1], "Int64"),
}
TAKES_LABELS = {
    "check_labels": check_labels,
    "pruning_loss": lambda x: pruning_loss(TREE, x),
    "best_pruning": lambda x: best_pruning(TREE, x),
    "majority_loss": lambda x: majority_loss(TREE, x),
    "chart": lambda x: TREE.chart(labels=x),
}


@pytest.mark.parametrize(
    "function, value", [case for case in grid(TAKES_LABELS, BAD_LABELS) if case.id != "chart-None"]
)
def test_labels(function, value):
    refused(lambda: function(value), "labels must be", "got")


@pytest.mark.parametrize(
    "value",
    [v for w, v in BAD_LABELS.items() if w != "two dimensions"],
    ids=[w for w in BAD_LABELS if w != "two dimensions"],
)
def test_truth(value):
    refused(lambda: average_ari(value, TREE), "truth")
    refused(lambda: adjusted_rand_index([0, 1, 0, 1], value), "b must be")
    refused(lambda: adjusted_rand_index(value, [0, 1, 0, 1]), "a must be")


@pytest.mark.parametrize(
    "function",
    [v for n, v in TAKES_LABELS.items() if n != "check_labels"]
    + [lambda x: average_ari(x, TREE), lambda x: adjusted_rand_index([0, 1, 0, 1], x)],
)
def test_labels_of_another_length(function):
    refused(lambda: function([0, 1, 0]), "of length 4", "(3,)")


@pytest.mark.parametrize(
    "function, value",
    grid(
        {
            "average_ari": lambda t: average_ari([0, 1, 0, 1], t),
            "dasgupta_cost": lambda t: dasgupta_cost(t, SIMILARITY),
            "agreement": lambda t: agreement(t, ANSWERS),
            "agreement of comparisons": lambda t: agreement(t, SOME),
            "triplet_agreement": lambda t: triplet_agreement(t, SOME),
            "quadruplet_agreement": lambda t: quadruplet_agreement(t, SOME),
            "pruning_loss": lambda t: pruning_loss(t, [0, 1, 0, 1]),
            "HierarchyOracle": HierarchyOracle,
            "same_tree": TREE.same_tree,
        },
        {
            "None": None,
            "a linkage matrix": TREE.linkage_matrix,
            "Newick": TREE.to_newick(),
            "a class": Dendrogram if False else 5,
            "lists": [[0, 1], [2, 3]],
        },
    ),
)
def test_no_tree(function, value):
    refused(lambda: function(value), "must be a Dendrogram", "got")


BAD_INITIAL = {
    "a number": 3,
    "text": "abcd",
    "bytes": b"0123",
    "a dict": {"a": [0, 1], "b": [2, 3]},
    "a set": {(0, 1), (2, 3)},
    "a table": pd.DataFrame([[0, 1], [2, 3]]),
    "empty": [],
    "an empty cluster": [[0, 1, 2, 3], []],
    "twice": [[0, 1], [1, 2, 3]],
    "missing": [[0, 1], [2]],
    "too large": [[0, 1], [2, 3, 4]],
    "negative": [[0, 1], [2, -1]],
    "mixed": [[0, 1], 2, 3],
    "nested": [[[0, 1]], [2, 3]],
    "floats": [[0.0, 1.0], [2.0, 3.0]],
    "truth values": [[False, True], [2, 3]],
    "words": [["0", "1"], ["2", "3"]],
    "uneven": [[0, [1]], [2, 3]],
    "labels short": [0, 1, 0],
    "labels NaN": [0, NAN, 1, 1],
    "labels None": ["a", None, "b", "b"],
}


@pytest.mark.parametrize(
    "function, value",
    grid(
        {
            "4-AL": lambda x: quadruplet_average_linkage(ANSWERS, x),
            "4-AL ranked": lambda x: quadruplet_average_linkage_ranked(SIMILARITY, x),
            "ComparisonHC": lambda x: ComparisonHC(initial=x).fit(ANSWERS),
        },
        BAD_INITIAL,
    ),
)
def test_initial(function, value):
    refused(lambda: function(value), "initial must be", "got")


@pytest.mark.parametrize("value", [None, 5, "ward", "4-AL", ["4-al"], b"4-al", object()], ids=lambda x: repr(x)[:10])
def test_linkage(value):
    refused(lambda: ComparisonHC(linkage=value).fit(ANSWERS), "linkage must be one of 4-al", ", auto; got")


@pytest.mark.parametrize("rows", [[[0, 1]], [0, 1, 2], [[0, 1, 2, 3, 4]], np.zeros((2, 3, 3), dtype=int)])
def test_answers_of_neither_width_are_told_both(rows):
    refused(lambda: ComparisonHC().fit(rows), "X must be an integer array of shape (m, 3) or (m, 4)", "got")


@pytest.mark.parametrize("value", [None, 5, "atlantis", "Car", ["car"], b"car"], ids=repr)
def test_data_set(value):
    refused(lambda: load_dataset(value), "name must be one of", "got")


# ---- oracles


@pytest.mark.parametrize(
    "oracle",
    [ORACLE, HierarchyOracle(TREE), Counting(ORACLE), Budget(ORACLE, 9), Noisy(ORACLE, 1.0, 0)],
    ids=["similarity", "hierarchy", "counting", "budget", "noisy"],
)
@pytest.mark.parametrize(
    "value",
    [
        [[0, 1]],
        [0, 1, 2],
        [[0, 1, 4]],
        [[0, 1, -1]],
        [[0, 0, 1]],
        [[0, 1, 1]],
        [[0, 1, 0, 1]],
        [[0, 1, 1, 0]],
        [[0, 0, 1, 2]],
        [[0, 1, 1.5]],
        [["a", "b", "c"]],
        [[0, 1, 2], [0, 1]],
        None,
        "abc",
    ],
    ids=repr,
)
def test_questions(oracle, value):
    refused(lambda: oracle(value), "quer")


# ---- files


@pytest.fixture
def file(tmp_path):
    "Write bytes or text into a file with this ending, and give its path."

    def write(content, ending=".csv"):
        path = tmp_path / f"answers{ending}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


BAD_TEXT = {
    "two columns": ("p1,p2\np2,p1\n", [], ["line 1", "3 columns", "2"]),
    "four columns": ("p1,p2,p3,p4\n", [], ["line 1", "3 columns", "4"]),
    "a short line": ("p1,p2,p3\n\np1,p2\n", [], ["line 3", "3 cells", "('p1', 'p2')"]),
    "a long line": ("p1,p2,p3\np1,p2,p3,p4\n", [], ["line 2", "4 cells"]),
    "after a name of two lines": ('p1,p2,"p\n3"\np1,p2\n', [], ["line 3"]),
    "an empty cell": ("p1,p2,p3\np1,,p3\n", [], ["line 2", "names", "''"]),
    "the same object": ("p1,p2,p3\np1,p1,p3\n", [], ["line 2", "('p1', 'p1', 'p3')"]),
    "the same pair": ("p1,p2,p3\np1,p2,p2\n", [], ["line 2", "different pairs"]),
    "an open quote": ('p1,p2,p3\np1,"p2,p3\np2,p1,p3\n', [], ["line 2", "delimited"]),
    "text behind a quote": ('p1,"p2"x,p3\n', [], ["line 1"]),
    "an enormous cell": ("x" * 200_000 + ",p2,p3\n", [], ["line 1"]),
    "nothing": ("", [], ["empty file"]),
    "blank lines": ("\n \n\n", [], ["empty file"]),
    "a header": ("i,j,k\n", [], ["a header"]),
    "latin-1": ("pé,p2,p3\n".encode("latin-1"), [], ["UTF-8", "byte 1", "0xe9", "encoding"]),
}


@pytest.mark.parametrize("what", BAD_TEXT)
def test_delimited_text(file, what):
    content, _, words = BAD_TEXT[what]
    refused(lambda: read_comparisons(file(content)), "answers.csv", *words)


@pytest.mark.parametrize(
    "content, words",
    [
        ('["a","b","c"]\n["a","b"\n', ["line 2", "JSON"]),
        ('["a","b","c"]\n["a","b"]\n', ["line 2", "3 cells"]),
        ("5\n", ["line 1", "5"]),
        ('"abc"\n', ["line 1"]),
        ("null\n", ["line 1"]),
        ("[null,1,2]\n", ["line 1", "complete"]),
        ("[NaN,1,2]\n", ["line 1", "complete"]),
        ("[[1],2,3]\n", ["line 1"]),
        ('["a","b","c"]\n{"i":"a","j":"b","k":"c"}\n', ["line 2", "array"]),
        ('{"i":"a","j":"b","k":"c"}\n["a","b","c"]\n', ["line 2", "an object"]),
        ('{"i":"a","j":"b","k":"c"}\n{"i":"a","j":"b"}\n', ["line 2", "complete", "'k'"]),
        ("[" * 100_000 + "\n", ["line 1"]),
        ("[" + "1" * 5000 + ",2,3]\n", ["line 1"]),
        ('["\\ud800","b","c"]\n', ["line 1", "names"]),
        ("", ["empty file"]),
        ('["é","b","c"]\n'.encode("latin-1"), ["UTF-8"]),
    ],
    ids=lambda x: repr(x)[:24],
)
def test_json_lines(file, content, words):
    refused(lambda: read_comparisons(file(content, ".jsonl")), "answers.jsonl", *words)


@pytest.mark.parametrize(
    "columns, words",
    [
        ({"i": ["a"], "j": ["b"]}, ["3 columns", "2"]),
        ({"i": ["a", "b"], "j": ["b", None], "k": ["c", "c"]}, ["row 2", "names"]),
        ({"i": [1.0, np.nan], "j": [2, 2], "k": [3, 3]}, ["row 2"]),
        ({"i": ["a"], "j": ["a"], "k": ["c"]}, ["row 1", "different objects"]),
        ({"i": [], "j": [], "k": []}, ["empty file"]),
        ({"i": [""], "j": ["b"], "k": ["c"]}, ["row 1", "names"]),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_parquet(tmp_path, columns, words):
    pytest.importorskip("pyarrow")
    pd.DataFrame(columns).to_parquet(tmp_path / "answers.parquet")
    refused(lambda: read_comparisons(tmp_path / "answers.parquet"), "answers.parquet", *words)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello, this is no table PAR1"])
def test_no_parquet(file, content):
    pytest.importorskip("pyarrow")
    refused(lambda: read_comparisons(file(content, ".parquet")), "answers.parquet", "Parquet")


@pytest.mark.parametrize("path", ["nowhere.csv", "", "a folder", "x\0y.csv"])
def test_missing_file(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a folder").mkdir()
    refused(lambda: read_comparisons(path), "path must be an existing file")
    with pytest.raises(FileNotFoundError):
        read_comparisons(path)  # what Python's own `open` raises, too


@pytest.mark.parametrize(
    "option, value",
    [
        *[("kind", value) for value in (None, 3, "Triplets", "pairs", ["triplets"])],
        *[
            ("columns", value)
            for value in (
                5,
                "abc",
                [0, 1],
                [0, 1, 2, 3],
                [0, 1, 3],
                [0, 1, -1],
                [0, 1, 2.0],
                [0, 1, True],
                [0, 1, None],
                ["i", "j", "k"],
                {0: 1},
            )
        ],
        *[("respondent", value) for value in (-1, 3, 1.0, "who", True, [1])],
        *[("encoding", value) for value in ("klingon", "rot13", 5, "undefined", "utf-16", "")],
        *[("objects", value) for value in (["p1", "p2"], ["p1", "p2", "p3", "p3"], [])],
    ],
    ids=lambda x: x if isinstance(x, str) else repr(x),
)
def test_options_of_reading(file, option, value):
    path = file("p1,p2,p3\np2,p1,p3\n")
    refused(
        lambda: read_comparisons(path, **{option: value}), *([] if option == "objects" and value == [] else [option])
    )


@pytest.mark.parametrize("path", [None, 5, b"x.csv"], ids=repr)
def test_no_path(path):
    refused(lambda: read_comparisons(path), "path must be", repr(path))


# ---- legal, though it looks odd


def test_repeated_contradictory_and_never_compared_are_legal():
    some = Triplets([[0, 1, 2], [0, 1, 2], [0, 2, 1]], n_objects=5)
    assert (some.summary().n_repeated, some.summary().n_contradictory, some.summary().never_compared) == (
        1,
        1,
        ("3", "4"),
    ) and quadruplet_average_linkage(some).n_objects == 5


def test_callers_values_are_never_changed():
    rows, w, labels = np.array([[0, 1, 2], [3, 1, 0]]), SIMILARITY.copy(), np.array([1, 0, 1, 0])
    before = [rows.copy(), w.copy(), labels.copy()]
    quadruplet_average_linkage(rows, labels)
    sample_quadruplets(w, 1.0, 0)
    dasgupta_cost(TREE, w)
    pruning_loss(TREE, labels)
    quadruplet_average_linkage_ranked(w, labels)
    Triplets(rows).majority()
    Triplets(rows, respondents=labels[:2])
    check_labels(labels)
    for array, was in zip((rows, w, labels), before):
        assert (array == was).all() and array.flags.writeable


def test_check_integer_and_check_number_say_the_rule():
    assert refused(lambda: check_integer(0, "k"), "k") == "k must be an integer of at least 1; got 0"
    assert refused(lambda: check_number(2, "p", 0, 1, open_low=True)) == "p must be a number in (0, 1]; got 2"
    assert check_number(Fraction(1, 2), "p", 0, 1) == 0.5


# ---- further doors


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "dcba",
        [0, 1, 2],
        [0, 1, 2, 2],
        [0, 1, 2, 4],
        [0.0, 1.0, 2.0, 3.0],
        [[0], [1, 2], [3]],
        [-1, 0, 1, 2],
        np.ma.array([3, 2, 1, 0], mask=[1, 0, 0, 0]),
    ],
    ids=lambda x: repr(x)[:20],
)
def test_relabel(value):
    refused(lambda: TREE.relabel(value), "order must be a permutation of 0 to 3")


@pytest.mark.parametrize(
    "value",
    [
        None,
        "abc",
        [[0, 1, 1]],
        [[0, 1, 1, 2 + 1j]],
        [[0, 1, NAN, 2]],
        [[0, 1, -1, 2]],
        [[0, 0, 1, 2]],
        [[0, 2, 1, 2]],
        [[0, 1, 1, 3]],
        [[0.5, 1, 1, 2]],
        np.ma.array([[0, 1, 1, 2]], mask=[[0, 0, 1, 0]]),
        [[0, 1], [1]],
    ],
    ids=lambda x: repr(x)[:24],
)
def test_linkage_matrix(value):
    refused(lambda: Dendrogram.from_linkage(value), "linkage_matrix must be", "got")


@pytest.mark.parametrize(
    "value",
    [None, "abc", [[0, 1, 2]], [[0, 0]], [[0, 2]], [[0, -1]], [[0, 1], [0, 2]], [[0, NAN]], [[0, 1], [1]]],
    ids=lambda x: repr(x)[:24],
)
def test_merges(value):
    refused(lambda: Dendrogram.from_merges(value), "merges must be", "got")


def test_no_answers_at_all():
    nothing = Triplets([[0, 1, 2], [0, 2, 1]], n_objects=4).majority()
    assert (
        np.isnan(noise_ceiling(nothing))
        and agreement(TREE, nothing).total == 0
        and quadruplet_average_linkage(nothing).n_objects == 4
    )
    refused(lambda: nothing.sample(1, 0), "size")


# ---- the methods of F19 and ours, and their names

JUNK = {
    "text": "abc",
    "negative": -1,
    "a half": 1.5,
    "NaN": NAN,
    "a list": [1, 2],
    "rows": np.zeros((2, 2)),
    "ragged": [[1], [2, 3]],
    "a dict": {1: 2},
    "a set": {1},
    "an object": object(),
    "bytes": b"x",
    "complex": 1j,
    "unhashable": [[0, 1], [{}, []]],
}
X_OF = {name: ANSWERS if m.passive else SIMILARITY for name, m in methods.items()}


@pytest.mark.parametrize("name", list(methods))
@pytest.mark.parametrize("what", JUNK)
def test_options_of_every_method(name, what):
    for option in ("initial", "self_pairs", "n_comparisons", "rng", "progress"):
        refused(
            partial(build_hierarchy, name, X_OF[name], **{option: JUNK[what]}),
            "initial" if option == "initial" else option,
        )
        refused(partial(build_from_similarity, name, SIMILARITY, **{option: JUNK[what]}), option)
    refused(
        lambda: (
            build_hierarchy(name, JUNK[what])
            if what != "rows" or methods[name].passive
            else build_hierarchy(name, np.zeros((2, 3)))
        )
    )
    if what != "rows":
        refused(lambda: build_from_similarity(name, JUNK[what]), "similarity")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: H.single_linkage(10**30), "n must be"),
        (lambda: H.complete_linkage(10**6), "n must be an integer from 1 to 20000"),
        (lambda: H.kernel_active(10**30), "n must be"),
        (lambda: H.triplet_kernel_active(20_001), "n must be"),
        (lambda: H.kernel_active({"a", "b"}), "n must be"),
        (lambda: H.triplet_kernel_active({1: 2}), "n must be"),
        (lambda: H.kernel_active(b"ab"), "n must be"),
        (lambda: H.kernel_active(["a", "a"]), "n must be distinct"),
        (lambda: H.kernel_active(4, references=[[0, 1], [2]]), "references must be"),
        (lambda: H.kernel_active(4, landmarks=[[0], [1, 2]]), "landmarks must be"),
        (lambda: H.triplet_kernel_active(4, references=[[0, 1], [2]]), "references must be"),
        (lambda: H.kernel_passive(ANSWERS, progress="bar"), "progress must be"),
        (lambda: H.triplet_average_linkage(ANSWERS, progress=3), "progress must be"),
        (lambda: H.quadruplet_average_linkage(ANSWERS, progress=3), "progress must be"),
        (lambda: H.triplet_kernel_ranked([[0, 1], [2, 0]]), "similarity must be symmetric"),
        (lambda: H.triplet_kernel_ranked(SIMILARITY, "yes"), "normalise"),
        (lambda: H.triplet_average_linkage_ranked(SIMILARITY, [[0, 1], [1, 2, 3]]), "initial must be"),
        (lambda: H.triplet_average_linkage_ranked(SIMILARITY, sort=1), "sort must be"),
        (lambda: H.triplet_average_linkage_ranked(SIMILARITY, names=["a"]), "names"),
        (lambda: build_hierarchy("3-al", [[0, 1, 2, 3]]), "X must be triplets"),
    ],
    ids=range(20),
)
def test_further_bad_values(call, words):
    refused(call, words)


@pytest.mark.parametrize("name", list(methods))
def test_few_and_contradictory_answers_are_legal(name):
    if methods[name].passive:
        for rows in ([[0, 1, 2]], [[0, 1, 2]] * 3, [[0, 1, 2], [0, 2, 1]]):
            assert build_hierarchy(name, Triplets(rows, n_objects=5))[0].n_leaves == 5
    else:
        assert (
            build_hierarchy(name, lambda_oracle(True, 5))[0].n_leaves
            == build_hierarchy(name, lambda_oracle(False, 5))[0].n_leaves
            == 5
        )


def lambda_oracle(answer, n):
    "Somebody who always says the same."

    def oracle(queries):
        return np.full(len(queries), answer)

    oracle.n_objects = n
    return oracle


# ---- what an attack found


def finished():
    "A generator that has run already."
    algorithm = H.single_linkage(4)
    run(algorithm, ORACLE)
    return algorithm


NOTHING = sample_triplets(np.zeros((5, 5)), 1.0, 0)  # every question ties
EXACT = np.zeros((3, 3), np.int64)
EXACT[0, 1] = EXACT[1, 0] = 2**53
EXACT[0, 2] = EXACT[2, 0] = 2**53 + 1
CROSSED = pd.DataFrame([[0, 1], [1, 0]], index=["a", "b"], columns=["b", "a"])
THREE = np.kron(np.eye(3), np.ones((2, 2))) * 10


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: check_labels(["a", float("nan")]), "labels must be free of missing values"),
        (
            lambda: quadruplet_average_linkage([[0, 1, 2, 3]], np.ma.array([0, 0, 1, 1], mask=[0, 0, 0, 1])),
            "none of them masked",
        ),
        (lambda: run(finished(), ORACLE), "has not run yet"),
        (lambda: run(H.single_linkage(4), ORACLE, progress=5), "progress must be"),
        (lambda: H.kernel_passive([[0, 1, 2, 30_000]]), "n_objects must be at most 20,000"),
        (lambda: mulk3([[0, 1, 200_000]]), "n_objects must be at most 20,000"),
        (lambda: mulk4([[0, 1, 30_000]]), "n_objects must be at most 20,000"),
        (lambda: planted_hierarchy(10**30, 1, 0, 0, 0, 0), "at most 20,000"),
        (lambda: planted_hierarchy(1, 20, 0, 0, 0, 0), "at most 20,000"),
        (lambda: planted_hierarchy(1, 2, -1e308, 1e308, 0, 0), "finite"),
        (lambda: planted_hierarchy(8, 2, 0, 0, 1e308, 0), "finite"),
        (lambda: gaussians(0.5, 1e308), "sigma"),
        (lambda: gaussians(1 - 1e-16), "delta"),
        (lambda: planted_partition([3, 4], norm(1e308, 1e308), norm(0, 1), 0), "f_in and f_out"),
        (lambda: H.single_linkage(SIMILARITY), "n must be a number of objects"),
        (lambda: H.kernel_active(pd.DataFrame(SIMILARITY)), "n must be a number of objects"),
        (lambda: SimilarityOracle(CROSSED), "in the same order"),
        (lambda: H.kernel_average_linkage([[0, 1e308, 0], [1e308, 0, -1e308], [0, -1e308, 0]]), "kernel must be"),
        (
            lambda: H.kernel_average_linkage([[0, 1e20, 1, 3], [1e20, 0, 1, 3], [1, 1, 0, 5], [3, 3, 5, 0]]),
            "kernel must be",
        ),
        (lambda: SimilarityOracle(EXACT), "entry (0, 2)"),
        (lambda: SimilarityOracle(EXACT.astype(object)), "entry (0, 2)"),
        (lambda: sdp_k(THREE, 3, start="there"), "start must be"),
        (lambda: sdp_lambda(THREE, 20.0, start=5), "start must be"),
        (lambda: check_queries([[0, 1, 2]], 3.5), "n_objects must be"),
        (lambda: check_answers([[0, 0, 2]], [0]), "question 0"),
        (lambda: Journal(ORACLE, "journal", fsync="yes"), "fsync must be"),
        (lambda: kernels.quadruplet_kernel([[0, 1, 2, 3]], progress=5), "progress must be"),
        (lambda: kernels.triplet_kernel(Quadruplets([[0, 1, 2, 3]])), "triplets must be"),
        (lambda: kernels.triplet_kernel([[0, 1, 2]], normalise="no"), "normalise must be"),
        (lambda: sample_quadruplets(SIMILARITY, 2.0, 0), "size_or_p must be"),
        (lambda: ComparisonHC().fit(NOTHING), "X must be at least one answer"),
        (lambda: ComparisonClustering(n_clusters=2).fit(NOTHING), "X must be at least one answer"),
        (lambda: adds3(NOTHING), "at least one answer"),
        (lambda: round_solution(THREE / 20, 3, "x"), "method must be"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_overflow_no_typo_and_no_mixed_up_argument_passes(call, words):
    refused(call, words)


def test_labels_keep_their_types():
    '1 and "1" are two classes, and neighbouring large integers are, in a list as in an array of objects.'
    for labels in ([1, 1, "1", "1"], [2**63, 2**63, 2**63 + 1, 2**63 + 1]):
        assert check_labels(labels).tolist() == check_labels(np.array(labels, dtype=object)).tolist() == [0, 0, 1, 1]


def test_an_oracle_keeps_what_was_checked():
    w = SIMILARITY.copy()
    oracle = SimilarityOracle(w)
    before = oracle([[0, 1, 2, 3]])
    w[0, 1] = w[1, 0] = 100
    assert oracle([[0, 1, 2, 3]]).tolist() == before.tolist() == [False]


def test_integers_as_pandas_has_them_are_questions_too():
    rows = pd.DataFrame([[0, 1, 2], [3, 1, 2]])
    assert ORACLE(rows.astype("Int64")).tolist() == ORACLE(rows.to_numpy()).tolist()


def test_large_integers_that_a_float_holds_and_large_offsets_are_legal():
    large = np.array([[0, 2**60, 2**61], [2**60, 0, 1], [2**61, 1, 0]])
    for table in (large, large.astype(np.uint64), large.astype(object)):
        assert SimilarityOracle(table)([[0, 2, 0, 1], [1, 2, 0, 1]]).tolist() == [True, False]
    assert H.kernel_average_linkage(SIMILARITY + 1e9 * (1 - np.eye(4))).same_tree(H.kernel_average_linkage(SIMILARITY))


# ---- what an attack found

TIME = np.timedelta64(5, "s")
HUGE = 10**5000  # of more digits than Python writes


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: check_integer(TIME, "n"), "n must be an integer"),
        (lambda: check_number(TIME, "x"), "x must be a finite number"),
        (lambda: as_rng(TIME), "rng must be"),
        (lambda: Triplets(np.array([[np.timedelta64(0, "s"), 1, 2]], dtype=object)), "data must be made of integers"),
        (lambda: check_similarity(np.array([[0, TIME], [TIME, 0]], dtype=object)), "a matrix of numbers"),
        (lambda: check_similarity(np.array([["0", "1"], ["1", "0"]], dtype=object)), "a matrix of numbers"),
        (lambda: check_integer(HUGE, "n", 1, 5), "n must be an integer from 1 to 5; got a value of type int"),
        (lambda: check_integer([HUGE], "n"), "n must be an integer"),
        (lambda: H.single_linkage([[1, 2], [3, 4]]), "n must be a number of objects, or a sequence of their names"),
        (lambda: quick_clustering(TIME, 0), "items must be"),
        (lambda: n_quadruplet_questions("x"), "n_objects must be"),
        (lambda: average_ari([np.ma.array([0, 1, 1, 0], mask=[0, 0, 0, 1])], TREE), "none of them masked"),
        (lambda: dasgupta_cost(TREE, np.full((4, 4), 1e308)), "similarity must be of entries whose weighted sum"),
        (lambda: moseley_wang_revenue(TREE, np.full((4, 4), 1e308)), "similarity must be of entries whose weighted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_passed_for_something_else_is_refused(call, words):
    refused(lambda: next(result) if hasattr(result := call(), "send") else result, words)


@pytest.mark.parametrize("kind", ["i1", "u8", "i8", ">i4"])
def test_whole_numbers_are_coded_as_pandas_codes_them(kind):
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 40):
        labels = rng.integers(0, 9, n).astype(kind)
        assert check_labels(labels).tolist() == pd.factorize(labels.astype(np.int64))[0].tolist()


@pytest.mark.parametrize("kind", [">i4", ">i8", ">f8", ">u2", ">U3"])
def test_the_order_of_bytes_does_not_matter(kind):
    labels = np.array([1, 0, 0, 1])
    assert check_labels(labels.astype(kind)).tolist() == check_labels(labels).tolist()
    assert average_ari(labels.astype(kind), TREE) == average_ari(labels, TREE)
    assert pruning_loss(TREE, labels.astype(kind)) == pruning_loss(TREE, labels)
    if kind[1] != "U":
        assert Triplets(np.array([[0, 1, 2]], kind)) == SOME.take([0])
        assert check_similarity(np.array([[0, 1], [1, 0]], kind)).tolist() == [[0, 1], [1, 0]]


def test_narrow_integers_count_as_wide_ones():
    assert n_quadruplet_questions(np.int32(2000)) == n_quadruplet_questions(2000) == 1_997_999_500_500
    assert n_triplet_questions(np.int8(100)) == n_triplet_questions(100)
