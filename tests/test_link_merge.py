"Linkage with mixed merge functions and mixed metrics."

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import linkage

from comparison_hc.core.rows import check_weights
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.link.merge import (
    AVERAGE,
    COMPLETE,
    MergeFunction,
    alpha_linkage,
    as_merge,
    beta_linkage,
    check_distances,
    closest_pair,
    compare_at,
    crossings,
    line_ranks,
    mixed_linkage,
    rings_and_disks,
    round_to_exact,
)

MEDIAN = MergeFunction(
    "median",
    lambda block: np.sort(block, axis=None)[block.size // 2],
    lambda ranks: np.argsort(ranks, axis=None, kind="stable")[ranks.size // 2],
)
X = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0])


@st.composite
def distances(draw, n=None, top=3):
    "Small whole numbers: many ties."
    n = draw(st.integers(2, 6)) if n is None else n
    D = np.triu(draw(arrays(np.int64, (n, n), elements=st.integers(0, top))), 1).astype(float)
    return D + D.T


def exact(D, merges, x):
    "Merges by fractions: the line just right of x (left of it at 1) as (value, slope), then the highest objects."
    n, x, toward = len(D), Fraction(x), -1 if x == 1 else 1
    value = {"single": min, "complete": max, "average": lambda block: sum(block) / Fraction(len(block))}
    clusters, found = [frozenset([i]) for i in range(n)], []

    def key(A, B):
        ends = [value[name]([Fraction(D[i, j]) for i in A for j in B]) for name in merges]
        return (1 - x) * ends[0] + x * ends[1], toward * (ends[1] - ends[0]), max(A | B), min(max(A), max(B))

    while len(clusters) > 1:
        A, B = min(combinations(clusters, 2), key=lambda pair: key(*pair))
        found.append({A, B})
        clusters = [C for C in clusters if C not in (A, B)] + [A | B]
    return found


def as_sets(tree):
    members = {node: frozenset(objects.tolist()) for node, objects in tree.clusters()}
    return [{members[a], members[b]} for a, b in tree.children.tolist()]


@given(
    distances(),
    X,
    st.sampled_from([("single", "complete"), ("complete", "single"), ("average", "complete"), ("single", "average")]),
)
def test_merges_are_those_of_exact_arithmetic(D, x, merges):
    if x == 1 / 3:
        x = 0.375  # a fraction that floats can hold, so that both sides mean the same number
    assert as_sets(alpha_linkage(D, 0.7109375 if x == 0.7 else x, merges)) == exact(
        D, merges, Fraction(0.7109375) if x == 0.7 else x
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_ends_are_scipys(seed):
    D = np.triu(np.random.default_rng(seed).random((40, 40)), 1)
    D += D.T
    for merges in (("single", "complete"), ("average", "single")):
        for x, name in enumerate(merges):
            theirs, ours = (
                Dendrogram.from_linkage(linkage(D[np.triu_indices(40, 1)], name)),
                alpha_linkage(D, x, merges),
            )
            assert ours.same_tree(theirs) and np.allclose(ours.heights, theirs.heights, rtol=1e-9)


@given(distances(), st.sampled_from([0.0, 1.0]))
def test_single_linkage_heights_do_not_depend_on_ties(D, x):
    merges = ("single", "complete") if x == 0 else ("complete", "single")
    assert np.array_equal(
        np.sort(alpha_linkage(D, x, merges).heights), np.sort(linkage(D[np.triu_indices(len(D), 1)], "single")[:, 2])
    )


@pytest.mark.parametrize("merge", ["single", "complete", "average"])
def test_two_metrics_are_one_mixed_metric(merge):
    rng = np.random.default_rng(3)
    for x in (0, 0.2, 0.9, 1):
        D0, D1 = (np.triu(rng.random((20, 20)), 1) for _ in range(2))
        D0 += D0.T
        D1 += D1.T
        theirs = Dendrogram.from_linkage(linkage(((1 - x) * D0 + x * D1)[np.triu_indices(20, 1)], merge))
        ours = beta_linkage(D0, D1, x, merge)
        assert ours.same_tree(theirs) and np.allclose(ours.heights, theirs.heights)


@given(distances(), X)
def test_one_metric_twice_is_that_metric(D, x):
    for merge in ("single", "complete", "average", MEDIAN):
        assert beta_linkage(D, D, x, merge).same_tree(beta_linkage(D, D, 0, merge))


@given(distances(), X)
def test_equal_merge_functions_do_not_need_alpha(D, x):
    assert as_sets(alpha_linkage(D, x, ("complete", "complete"))) == as_sets(
        alpha_linkage(D, 0, ("complete", "complete"))
    )


@given(distances(top=50), X, st.integers(-20, 20))
def test_scale_does_not_matter(D, x, power):
    for merges in (("single", "complete"), ("average", "complete")):
        assert as_sets(alpha_linkage(D * 2.0**power, x, merges)) == as_sets(alpha_linkage(D, x, merges))


def test_numbering_does_not_matter_without_ties():
    rng = np.random.default_rng(0)
    D = np.triu(rng.random((15, 15)), 1)
    D += D.T
    order = rng.permutation(15)
    for x in (0, 0.4, 1):
        ours, theirs = alpha_linkage(D, x), alpha_linkage(D[np.ix_(order, order)], x)
        assert [{frozenset(order[list(part)].tolist()) for part in pair} for pair in as_sets(theirs)] == as_sets(ours)


def test_mixed_linkage_is_both_families():
    rng = np.random.default_rng(1)
    D0, D1 = (np.triu(rng.random((15, 15)), 1) for _ in range(2))
    D0 += D0.T
    D1 += D1.T
    assert mixed_linkage([D0], [1], ["average", "complete"], [0.4, 0.6]).same_tree(
        alpha_linkage(D0, 0.6, ("average", "complete"))
    )
    assert mixed_linkage([D0, D1], [0.25, 0.75], [COMPLETE], [1]).same_tree(beta_linkage(D0, D1, 0.75))
    three = mixed_linkage([D0, D1, D0], [0.25, 0.5, 0.25], ["single", "single"], [0.5, 0.5])
    assert three.same_tree(beta_linkage(D0, D1, 0.5, "single"))


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
)
def test_ranks_of_lines(lines, x):
    ranks, toward = line_ranks(np.array(lines, dtype=float), x), -1 if x == 1 else 1
    keys = [((1 - x) * f + x * g, toward * (g - f)) for f, g in lines]
    assert ranks.tolist() == [sorted(set(keys)).index(key) for key in keys]


@given(st.tuples(*[st.integers(0, 5)] * 4), st.sampled_from([0.0, 0.125, 0.5, 1.0]))
def test_first_of_is_antisymmetric(ends, x):
    assert compare_at(ends[:2], ends[2:], x) == -compare_at(ends[2:], ends[:2], x)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8), st.sampled_from([0.0, 0.5]))
def test_crossings_are_where_a_line_falls_below(lines, x):
    lines = np.array(lines, dtype=float)
    for (g0, g1), c in zip(lines, crossings(lines[0], lines.T, x)):
        f0, f1 = lines[0]
        if np.isfinite(c):
            assert c > x and compare_at((f0, f1), (g0, g1), np.nextafter(c, 0)) == 1
            assert compare_at((f0, f1), (g0, g1), c) == -1
        else:
            assert compare_at((f0, f1), (g0, g1), x) <= 0 or compare_at((f0, f1), (g0, g1), 1.0) >= 0


@given(distances(), X)
def test_the_closest_pair_is_the_first_of_all(D, x):
    ends = np.where(np.eye(len(D)), np.inf, D), np.where(np.eye(len(D)), np.inf, D[::-1, ::-1])
    i, j = closest_pair(ends, np.arange(len(D)), x)
    best = ends[0][i, j], ends[1][i, j]
    for a, b in combinations(range(len(D)), 2):
        assert compare_at(best, (ends[0][a, b], ends[1][a, b]), x) >= 0


def test_sums_on_the_grid_are_exact():
    rng = np.random.default_rng(0)
    D, E = round_to_exact(rng.random((300, 300)) * 7, rng.random((300, 300)))
    block = D[:150, 150:]
    assert block.sum() == block[::-1, ::-1].sum() == sum(Fraction(v) for v in block.ravel().tolist())
    assert np.abs(round_to_exact(E)[0] - E).max() < 1e-11
    assert np.array_equal(round_to_exact(np.zeros((3, 3)))[0], np.zeros((3, 3)))


def test_averages_are_sums_over_sizes():
    assert AVERAGE(np.array([[1.0, 2], [3, 6]])) == 3


def test_inputs_stay_as_they_are():
    D = np.triu(np.random.default_rng(0).random((6, 6)), 1)
    D += D.T
    before = D.copy()
    alpha_linkage(D, 0.3, ("average", "complete"))
    beta_linkage(D, D, 0.3, "average")
    mixed_linkage([D], [1], ["single"], [1])
    assert np.array_equal(D, before)


def test_rings_and_disks():
    points, labels = rings_and_disks(4000, 0)
    radius = np.hypot(*points.T)
    assert np.allclose(radius[labels == 0], 0.4) and np.allclose(radius[labels == 1], 0.8)
    for label, centre in ((2, (1.5, 0.4)), (3, (1.5, -0.4))):
        inside = np.hypot(*(points[labels == label] - centre).T)
        assert (
            inside.max() <= 0.4 and abs(np.mean(inside < 0.2) - 0.25) < 0.07
        )  # a quarter of the area; 1000 points, 5 standard deviations
    assert np.array_equal(points, rings_and_disks(4000, np.random.default_rng(0))[0])


GOOD = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)


def changed(*entries):
    D = GOOD.copy()
    for i, j, value in entries:
        D[i, j] = value
    return D


@pytest.mark.parametrize(
    "call",
    [
        lambda: alpha_linkage(GOOD[:2], 0.5),
        lambda: alpha_linkage(changed((0, 1, 5)), 0.5),
        lambda: alpha_linkage(changed((0, 1, -1), (1, 0, -1)), 0.5),
        lambda: alpha_linkage(changed((0, 1, np.nan), (1, 0, np.nan)), 0.5),
        lambda: alpha_linkage(changed((0, 1, np.inf), (1, 0, np.inf)), 0.5),
        lambda: alpha_linkage(changed((1, 1, 1)), 0.5),
        lambda: alpha_linkage(changed((1, 1, np.nan)), 0.5),
        lambda: alpha_linkage([[0]], 0.5),
        lambda: alpha_linkage("abc", 0.5),
        lambda: alpha_linkage(None, 0.5),
        lambda: alpha_linkage(GOOD, -0.1),
        lambda: alpha_linkage(GOOD, 1.1),
        lambda: alpha_linkage(GOOD, "half"),
        lambda: alpha_linkage(GOOD, np.nan),
        lambda: alpha_linkage(GOOD, 0.5, "single"),
        lambda: alpha_linkage(GOOD, 0.5, ("single",)),
        lambda: alpha_linkage(GOOD, 0.5, ("single", "ward")),
        lambda: alpha_linkage(GOOD, 0.5, ("single", 3)),
        lambda: alpha_linkage(GOOD, 0.5, ("single", lambda block: np.nan)),
        lambda: alpha_linkage(GOOD, 0.5, ("single", lambda block: block)),
        lambda: alpha_linkage(GOOD, 0.5, ("single", lambda block: "far")),
        lambda: beta_linkage(GOOD, GOOD[:2, :2], 0.5),
        lambda: beta_linkage(GOOD, -GOOD, 0.5),
        lambda: beta_linkage(GOOD, GOOD, 2),
        lambda: beta_linkage(GOOD, GOOD, 0.5, np.median),
        lambda: mixed_linkage([], [], ["single"], [1]),
        lambda: mixed_linkage([GOOD], [1], [], []),
        lambda: mixed_linkage([GOOD, GOOD], [1], ["single"], [1]),
        lambda: mixed_linkage([GOOD], [1], ["single", "complete"], [0.7, 0.7]),
        lambda: mixed_linkage([GOOD], [1], ["single", "complete"], [1.5, -0.5]),
        lambda: mixed_linkage([GOOD, GOOD[:2, :2]], [0.5, 0.5], ["single"], [1]),
        lambda: MergeFunction("", np.min),
        lambda: MergeFunction("x", 3),
        lambda: MergeFunction("x", np.min, 3),
        lambda: as_merge(3),
        lambda: check_weights([0.5, 0.4], 2, "of at least 0, of sum 1", "beta"),
        lambda: check_weights([np.nan, 1], 2, "of at least 0, of sum 1", "beta"),
        lambda: check_distances(np.zeros((0, 0))),
        lambda: check_distances(GOOD, "D", 4),
        lambda: rings_and_disks(6, 0),
        lambda: rings_and_disks(0, 0),
        lambda: rings_and_disks(8, "a"),
    ],
)
def test_bad_input(call):
    with pytest.raises(InputError):
        call()


def picking(value):
    return MergeFunction("own", np.max, lambda ranks: value)


@pytest.mark.parametrize("value", [99, -1, 0.5, np.nan, "a", None, (0, 0)])
def test_a_place_that_is_none_is_named(value):
    with pytest.raises(InputError, match="pick of the merge function own returns must be an integer from 0 to"):
        beta_linkage(GOOD, GOOD, 0.5, picking(value))


@pytest.mark.parametrize("value", ["far", None, -1.0, np.nan, 1j, [1.0]])
def test_nonsense_in_a_mix_of_three_is_named(value):
    def own(block):
        return value

    with pytest.raises(InputError, match="^the value of the merge function own must be"):
        mixed_linkage([GOOD], [1], ["single", own], [0.5, 0.5])


def test_distances_too_large_for_sums_are_refused():
    for call in (
        lambda: alpha_linkage(GOOD * 1e307, 0.5, ("average", "complete")),
        lambda: beta_linkage(GOOD, GOOD * 1e301, 0.5),
    ):
        with pytest.raises(InputError, match=r"^D1? must be at most 1e\+300"):
            call()
    assert alpha_linkage(GOOD * 1e299, 0.5, ("average", "complete")).same_tree(
        alpha_linkage(GOOD, 0.5, ("average", "complete"))
    )


def test_what_a_users_function_raises_comes_out_as_it_is():
    def broken(block):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="^mine$"):
        alpha_linkage(GOOD, 0.5, ("single", broken))
