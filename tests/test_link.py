"Linkage with mixed merge functions and metrics, execution trees, and their losses."

import json
import re
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import linkage
from shared import as_sets, symmetric

from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.link import (
    ExecutionTree,
    MergeFunction,
    PiecewiseLoss,
    _kinetic,
    alpha_linkage,
    beta_linkage,
    execution_tree,
    mixed_linkage,
    piecewise_loss,
    rings_and_disks,
    widest_interval,
)
from comparison_hc.link.execution import as_family
from comparison_hc.link.merge import check_distances, compare_at, line_ranks, merges_by_definition, round_to_exact
from comparison_hc.metrics import average_ari, majority_loss, pruning_loss
from comparison_hc.theory.l20_execution import FAMILIES, exact_run

ROOT = Path(__file__).parents[1]
MEDIAN = MergeFunction(
    "median",
    lambda block: np.sort(block, axis=None)[block.size // 2],
    lambda ranks: np.argsort(ranks, axis=None, kind="stable")[ranks.size // 2],
)
FAST = [("single", "complete"), ("average", "complete"), "complete", "average"]  # one metric: a pair; two: a name
SLOW = [("single", "average"), (MEDIAN, "complete"), "single", MEDIAN]
X = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0])
GOOD = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)


@st.composite
def instances(draw, families=(*FAST, *SLOW), high=6):
    "Distances (or two of them) and a family; whole numbers with many ties, or real numbers."
    merges, n = draw(st.sampled_from(families)), draw(st.integers(2, high))
    top = draw(st.sampled_from([1, 2, 3, 8, None]))
    elements = st.floats(0, 1, width=32) if top is None else st.integers(0, top).map(float)
    Ds = [symmetric(draw(arrays(float, (n, n), elements=elements))) for _ in range(1 if is_pair(merges) else 2)]
    return (Ds[0] if is_pair(merges) else tuple(Ds)), merges


def is_pair(merges):
    return isinstance(merges, tuple)


def distances(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


def linkage_at(D, merges, x):
    return alpha_linkage(D, x, merges) if is_pair(merges) else beta_linkage(*D, x, merges)


def run_at(D, merges, x):
    return as_sets(linkage_at(D, merges, x).children)


def definition(D, merges, x):
    family = as_family(D, merges)
    return [{A, B} for A, B, _ in merges_by_definition(family.line, len(family.D0), x)]


def both(D, function):
    "Apply a function to one matrix or two."
    return tuple(map(function, D)) if isinstance(D, tuple) else function(D)


# ---- one parameter


@given(instances(), X)
def test_linkage_is_the_definition(instance, x):
    D, merges = instance
    before = both(D, np.copy)
    assert run_at(D, merges, x) == definition(D, merges, x)
    assert np.array_equal(D, before)  # inputs stay as they are


@given(st.data(), st.sampled_from(list(FAMILIES.values())), st.sampled_from([0, 1, 0.7109375, 0.25, 0.375, 0.5]))
def test_linkage_is_that_of_exact_arithmetic(data, merges, x):
    if "average" in merges and x in (0.25, 0.375, 0.5):
        x = 0.7109375  # thirds are rounded, and lines of averages that meet at these places do not meet there
    n = data.draw(st.integers(2, 6))
    elements = arrays(np.int64, (n, n), elements=st.integers(0, 3))
    Ds = [symmetric(data.draw(elements)) for _ in range(3 - len(merges))]
    D, family = (Ds[0], merges) if len(merges) == 2 else (tuple(Ds), merges[0])
    exact = exact_run(n, [D.tolist() for D in Ds], merges, Fraction(x))
    assert run_at(D, family, x) == [set(pair) for pair in exact]


@pytest.mark.parametrize("seed", range(4))
def test_the_ends_and_mixed_metrics_are_scipys(seed):
    D, E = (symmetric(np.random.default_rng((seed, i)).random((40, 40))) for i in range(2))
    upper = np.triu_indices(40, 1)
    for merges in (("single", "complete"), ("average", "single")):
        for x, name in enumerate(merges):
            theirs, ours = Dendrogram.from_linkage(linkage(D[upper], name)), alpha_linkage(D, x, merges)
            assert ours.same_tree(theirs) and np.allclose(ours.heights, theirs.heights, rtol=1e-9)
    for merge in ("single", "complete", "average"):
        for x in (0, 0.2, 0.9, 1):
            theirs = Dendrogram.from_linkage(linkage(((1 - x) * D + x * E)[upper], merge))
            ours = beta_linkage(D, E, x, merge)
            assert ours.same_tree(theirs) and np.allclose(ours.heights, theirs.heights)


def test_mixed_linkage_is_both_families():
    D, E = (symmetric(np.random.default_rng(seed).random((15, 15))) for seed in range(2))
    mix = ["average", "complete"]
    assert mixed_linkage([D], [1], mix, [0.4, 0.6]).same_tree(alpha_linkage(D, 0.6, tuple(mix)))
    assert mixed_linkage([D, E], [0.25, 0.75], ["complete"], [1]).same_tree(beta_linkage(D, E, 0.75))
    three = mixed_linkage([D, E, D], [0.25, 0.5, 0.25], ["single", "single"], [0.5, 0.5])
    assert three.same_tree(beta_linkage(D, E, 0.5, "single"))


# ---- its parts

ends = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(st.lists(ends, min_size=2, max_size=8), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_lines_are_compared_by_value_and_slope(lines, x):
    keys = [((1 - x) * f + x * g, (g - f) * (-1 if x == 1 else 1)) for f, g in lines]
    assert line_ranks(np.array(lines, dtype=float), x).tolist() == [sorted(set(keys)).index(key) for key in keys]
    for (f, k), (g, m) in combinations(zip(lines, keys), 2):
        assert compare_at(f, g, x) == -compare_at(g, f, x) == (k < m) - (k > m)


def test_rounded_sums_are_exact():
    rng = np.random.default_rng(0)
    D, E = round_to_exact(rng.random((300, 300)) * 7, rng.random((300, 300)))
    block = D[:150, 150:]
    assert block.sum() == block[::-1, ::-1].sum() == sum(Fraction(v) for v in block.ravel().tolist())
    assert np.abs(round_to_exact(E)[0] - E).max() < 1e-11
    assert np.array_equal(round_to_exact(np.zeros((3, 3)))[0], np.zeros((3, 3)))


def test_rings_and_disks():
    points, labels = rings_and_disks(4000, 0)
    radius = np.hypot(*points.T)
    assert np.allclose(radius[labels == 0], 0.4) and np.allclose(radius[labels == 1], 0.8)
    for label, centre in ((2, (1.5, 0.4)), (3, (1.5, -0.4))):
        inside = np.hypot(*(points[labels == label] - centre).T)
        assert inside.max() <= 0.4 and abs(np.mean(inside < 0.2) - 0.25) < 0.07  # a quarter of the area; 5 deviations
    assert np.array_equal(points, rings_and_disks(4000, np.random.default_rng(0))[0])


# ---- all parameters


def check_leaves(instance):
    "Every leaf at its first value, in the middle, and at the last number of its interval, against the definition."
    leaves = execution_tree(*instance).leaves()
    assert leaves.is_complete and leaves.breakpoints[[0, -1]].tolist() == [0, 1]
    for leaf in leaves:
        assert leaf.low < leaf.high
        for x in (leaf.low, (leaf.low + leaf.high) / 2, np.nextafter(leaf.high, 0) if leaf.high < 1 else 1.0):
            assert definition(*instance, x) == as_sets(leaf.merges)
    for one, two in zip(leaves, list(leaves)[1:]):
        runs = as_sets(one.merges), as_sets(two.merges)
        first = next((t for t, (a, b) in enumerate(zip(*runs)) if a != b), 0)  # 0: with ties, a leaf may be cut in two
        assert one.high == two.low and two.first_changed == first
        assert not two.same_topology or set.union(*map(set, runs[0])) == set.union(*map(set, runs[1]))


@settings(max_examples=250)
@given(instances(FAST))
def test_leaves_of_the_sweep_are_the_definition(instance):
    check_leaves(instance)


@settings(max_examples=60)
@given(instances(SLOW, high=4))
def test_leaves_of_the_traversal_are_the_definition(instance):
    check_leaves(instance)


@settings(max_examples=100)
@given(st.integers(3, 8), st.data())
def test_many_lines_may_meet_in_one_point(n, data):
    "The distances of all pairs are lines in β that meet at β = ½, without rounding."
    slopes = symmetric(data.draw(arrays(float, (n, n), elements=st.integers(-4, 4).map(float))))
    check_leaves((tuple(np.where(np.eye(n), 0, 8 + sign * slopes) for sign in (-1, 1)), "complete"))


@settings(max_examples=60)
@given(instances(FAST, high=5))
def test_the_two_ways_agree(instance):
    slow, fast = (execution_tree(*instance, method=method).leaves() for method in ("traversal", "sweep"))
    assert np.array_equal(slow.breakpoints, fast.breakpoints) and slow.n_edges == fast.n_edges
    for one, two in zip(slow, fast):
        assert np.array_equal(one.merges, two.merges) and np.allclose(one.heights, two.heights)


@pytest.mark.parametrize("merges", FAST)
def test_larger_instances_at_random_parameters(merges):
    points, _ = rings_and_disks(60, 3)
    D = distances(points), np.abs(points[:, None] - points).max(axis=2).round(1)  # many ties in the second
    D = D[0] if is_pair(merges) else D
    leaves = execution_tree(D, merges).leaves()
    assert len(leaves) > 10
    for x in np.concatenate([[0, 1], leaves.breakpoints[5:8], np.random.default_rng(0).random(5)]):
        tree, leaf = linkage_at(D, merges, x), leaves.at(x)
        assert np.array_equal(tree.children, leaf.merges)
        if x == leaf.low:
            assert np.allclose(tree.heights, leaf.heights) and np.array_equal(leaf.dendrogram.children, tree.children)


def test_scale_numbering_and_direction_do_not_matter_without_ties():
    D, order = distances(np.random.default_rng(1).random((20, 3))), np.random.default_rng(2).permutation(20)
    expected = execution_tree(D).leaves()
    for same in (D * 2.0**-30, D[np.ix_(order, order)]):
        assert np.array_equal(execution_tree(same).leaves().breakpoints, expected.breakpoints)
    mirror = execution_tree(D, ("complete", "single")).leaves()
    assert np.allclose(expected.breakpoints, 1 - mirror.breakpoints[::-1])
    assert all(as_sets(a.merges) == as_sets(b.merges) for a, b in zip(expected, list(mirror)[::-1]))


def lines_through_a_point(seed):
    "Two metrics whose distances are lines in β that all meet in one point, up to rounding; and where that is."
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    at, height, slopes = rng.random(), 5 + rng.random(), rng.normal(size=n * (n - 1) // 2)
    Ds = np.zeros((2, n, n))
    for D, values in zip(Ds, (height - at * slopes, height + (1 - at) * slopes)):
        D[np.triu_indices(n, 1)] = values
    return tuple(D + D.T for D in Ds), at


def test_lines_that_contradict_each_other_do_not_hold_the_sweep(monkeypatch):
    "Crossings 10⁻¹⁶ apart may ask for one merge and another in turn: after many rounds there, the sweep goes on."
    places, process_event = [], _kinetic.process_event
    monkeypatch.setattr(_kinetic, "process_event", lambda S, c: (places.append(c), process_event(S, c))[1])
    rounds = []
    for seed in (364, 2032, 2232, 2408, 3260):
        Ds, at = lines_through_a_point(seed)
        places.clear()
        leaves = execution_tree(Ds).leaves()
        rounds.append(max(places.count(c) for c in set(places)) / (8 * (len(Ds[0]) - 1)))
        assert leaves.is_complete and leaves.breakpoints[-1] == 1 and (np.diff(leaves.breakpoints) > 0).all()
        for x in (0.0, at / 2, at - 1e-9, at + 1e-9, (1 + at) / 2, 1.0):
            assert definition(Ds, "complete", x) == as_sets(leaves.at(x).merges)
    assert max(rounds) >= 1  # the limit was reached: these lines do contradict each other


def test_a_sweep_that_makes_no_progress_ends(monkeypatch):
    D = np.abs(np.subtract.outer(*[np.array([0.0, 2, 5, 9])] * 2))
    S = _kinetic.start(D, D, (0, 1))
    assert S.failure_time.min() < 1
    monkeypatch.setattr(_kinetic, "process_event", lambda S, c: "order")
    assert len(list(_kinetic.sweep(S))) <= 1 + S.failure_time.size


def numbers_of_a_sweep():
    "Losses and breakpoints of all families, as JSON can hold them."
    D, E = (distances(np.random.default_rng(seed).random((12, 3))) for seed in (0, 1))
    losses = [piecewise_loss(D, np.arange(12) % 3, merges).values.tolist() for merges in FAST[:2]]
    return losses + [execution_tree((D, E), merges).leaves().breakpoints.tolist() for merges in FAST[2:]]


def printed_by(code):
    "What a new process prints, as JSON."
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)


def test_without_numba_the_same_comes_out():
    code = "import json, sys\nsys.modules['numba'] = None\nsys.path.insert(0, 'tests')\nimport test_link\n"
    code += "from comparison_hc.core.compiled import njit\nassert njit is None\n"
    code += "print(json.dumps(test_link.numbers_of_a_sweep()))"
    assert printed_by(code) == numbers_of_a_sweep()


def test_importing_costs_only_numpy():
    heavy = ("numba", "scipy", "pandas", "sklearn", "altair", "joblib")
    code = "import comparison_hc.link.execution, comparison_hc.link.learning, comparison_hc.link.grid, sys, json\n"
    assert printed_by(f"{code}print(json.dumps([name for name in {heavy} if name in sys.modules]))") == []


def test_a_tree_says_by_which_way():
    tree = execution_tree(GOOD, ("single", "average"))
    assert isinstance(tree, ExecutionTree) and "by traversal" in repr(tree) and "by sweep" in repr(execution_tree(GOOD))


def test_the_picture_has_a_box_for_every_node():
    tree = execution_tree(distances(np.random.default_rng(346).random((6, 2))))
    boxes = tree.chart().to_dict()["datasets"].values()
    assert max(map(len, boxes)) == tree.leaves().n_edges


def test_the_old_name_of_an_attribute_warns():
    with pytest.warns(DeprecationWarning, match="same_topology"):
        assert execution_tree(GOOD).leaves()[0].only_order is False


# ---- losses


@pytest.mark.parametrize("merges", FAST + [("single", "average")])
def test_named_losses_are_those_of_the_metrics(merges):
    points, labels = rings_and_disks(20, 1)
    D = distances(points) if is_pair(merges) else (distances(points), distances(points[:, :1]))
    leaves = execution_tree(D, merges).leaves()
    for k in (None, 2, 6):
        for loss, slow in (("pruning", pruning_loss), ("majority", majority_loss)):
            expected = [slow(leaf.dendrogram, labels, k) for leaf in leaves]
            assert piecewise_loss(D, labels, merges, loss, k).values.tolist() == expected


def test_many_classes_take_the_general_loss():
    D, labels = distances(np.random.default_rng(0).random((14, 2))), np.arange(14) % 13
    leaves, curve = execution_tree(D).leaves(3), piecewise_loss(D, labels, limit=3)
    assert curve.values.tolist() == [pruning_loss(leaf.dendrogram, labels) for leaf in leaves]
    assert np.array_equal(curve.breakpoints, leaves.breakpoints)


def test_any_loss():
    points, labels = rings_and_disks(20, 2)
    D, calls = distances(points), []

    def by_cuts(tree, labels):
        calls.append(tree)
        return 1 - average_ari(labels, tree)

    leaves = execution_tree(D).leaves()
    expected = [1 - average_ari(labels, leaf.dendrogram) for leaf in leaves]
    assert piecewise_loss(D, labels, loss=by_cuts).values.tolist() == expected and len(calls) == len(leaves)
    calls.clear()
    by_cuts.tree_only = True
    piecewise_loss(D, labels, loss=by_cuts)
    assert len(calls) == sum(not leaf.same_topology for leaf in leaves) < len(leaves)


def test_piecewise_functions():
    points, labels = rings_and_disks(40, 5)
    curve = piecewise_loss(distances(points), labels)
    simple, (least, intervals) = curve.simplified(), curve.best()
    x = np.concatenate([np.random.default_rng(0).random(200), curve.breakpoints, simple.breakpoints])
    assert np.array_equal(curve(x), simple(x)) and (np.diff(simple.values) != 0).all()
    inside = [any(low <= v < high or v == high == 1 for low, high in intervals) for v in x]
    assert np.array_equal(curve(x) == least, inside) and least == curve.values.min() and curve(1.0) == curve.values[-1]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=6))
def test_the_widest_interval_is_the_first_of_the_widest(some):
    intervals = [(low, low + width) for low, width in some]
    low, high = widest_interval(intervals)
    assert (low, high) in intervals
    assert all(b - a < high - low or (b - a == high - low and a >= low) for a, b in intervals)


# ---- stopping


def interrupting(after):
    seen = []

    def progress(x):
        seen.append(x)
        if len(seen) == after:
            raise KeyboardInterrupt

    return progress


def test_pieces_are_collected_up_to_a_limit():
    pieces = [(0.0, 0.5, True), (0.25, 0.5, False), (0.5, 0.0, True)]
    whole, part = PiecewiseLoss.collect(pieces, "β"), PiecewiseLoss.collect(pieces, "β", limit=2)
    assert whole.is_complete and whole.n_trees == 2 and whole.breakpoints.tolist() == [0, 0.25, 0.5, 1]
    assert not part.is_complete and part.breakpoints.tolist() == [0, 0.25, 0.5] and part.values.tolist() == [0.5, 0.5]


def test_what_was_found_is_returned():
    points, labels = rings_and_disks(60, 0)
    D = distances(points)
    whole, leaves = piecewise_loss(D, labels), execution_tree(D).leaves()
    for part in (piecewise_loss(D, labels, limit=10), piecewise_loss(D, labels, progress=interrupting(11))):
        assert not part.is_complete and "partial" in repr(part)
        assert np.array_equal(part.values, whole.values[:10])
        assert np.array_equal(part.breakpoints, whole.breakpoints[:11])
        with pytest.raises(InputError):
            part(0.99)
    for part in (execution_tree(D).leaves(7), execution_tree(D).leaves(progress=interrupting(7))):
        assert not part.is_complete and len(part) == 7 and np.array_equal(part.breakpoints, leaves.breakpoints[:8])
        with pytest.raises(InputError):
            part.at(0.99)
    assert piecewise_loss(D, labels, limit=len(whole.values)).is_complete
    assert execution_tree(D).leaves(len(leaves)).is_complete
    nothing = piecewise_loss(D, labels, progress=interrupting(1))
    assert len(nothing.values) == 0 and not nothing.is_complete and "partial" in repr(nothing)
    for call in (nothing.best, nothing.chart):
        with pytest.raises(InputError, match="at least one piece"):
            call()


# ---- bad input


def own(value):
    "A merge function of somebody that returns this value."

    def own(block):
        return value

    return own


def picking(value):
    return MergeFunction("own", np.max, lambda ranks: value)


LABELS = [0, 0, 1]
BAD_INPUT = [  # `test_bad_input` tries every argument
    *(("D", lambda D=D: alpha_linkage(D, 0.5)) for D in (-GOOD, GOOD + 1, [[0]], GOOD * 1e301)),
    *(("D", lambda D=D: execution_tree(D)) for D in ((GOOD, GOOD, GOOD), (GOOD, [[0, 1], [1]]))),
    *(("D", lambda D=D: execution_tree((GOOD, D))) for D in (GOOD[:2, :2], -GOOD, None, (GOOD, GOOD[:2, :2]))),
    ("D", lambda: check_distances(GOOD, "D", 4)),
    *(("merge", lambda m=m: beta_linkage(GOOD, GOOD, 0.5, m)) for m in (np.median, "ward")),
    *(("merges", lambda m=m: execution_tree((GOOD, GOOD), m)) for m in (("single", "complete"), np.mean, 3)),
    ("metrics", lambda: mixed_linkage([], [], ["single"], [1])),
    ("merges", lambda: mixed_linkage([GOOD], [1], [], [])),
    ("beta", lambda: mixed_linkage([GOOD, GOOD], [1], ["single"], [1])),
    *(("alpha", lambda a=a: mixed_linkage([GOOD], [1], ["single", "complete"], a)) for a in ([0.7, 0.7], [1.5, -0.5])),
    ("metrics, entry 1,", lambda: mixed_linkage([GOOD, GOOD[:2, :2]], [0.5, 0.5], ["single"], [1])),
    ("name", lambda: MergeFunction("", np.min)),
    ("of_block", lambda: MergeFunction("x", 3)),
    ("pick", lambda: MergeFunction("x", np.min, 3)),
    *(("n", lambda n=n: rings_and_disks(n, 0)) for n in (6, 0)),
    *(
        ("the place that pick of the merge function own", lambda v=v: beta_linkage(GOOD, GOOD, 0.5, picking(v)))
        for v in (99, -1, 0.5, np.nan, "a", None, (0, 0))
    ),
    *(
        ("the value of the merge function own", lambda v=v: mixed_linkage([GOOD], [1], ["single", own(v)], [0.5, 0.5]))
        for v in ("far", None, -1.0, np.nan, 1j, [1.0])
    ),
    ("the value of the merge function own", lambda: list(execution_tree(GOOD, ("single", own(-1.0))))),
    *(("method", lambda m=m: execution_tree(GOOD, ("single", "average"), method=m)) for m in ("sweep", "fast", ["x"])),
    ("method", lambda: execution_tree((GOOD, GOOD), "single", method="sweep")),
    *(("limit", lambda n=n: execution_tree(GOOD).leaves(n)) for n in (0, 1.5)),
    *(("progress", lambda p=p: execution_tree(GOOD).leaves(progress=p)) for p in (3, True)),
    ("x", lambda: execution_tree(GOOD).leaves().at(-1)),
    ("the execution tree", lambda: execution_tree(distances(np.random.default_rng(0).random((30, 2)))).chart()),
    ("the value of loss", lambda: piecewise_loss(GOOD, LABELS, loss=lambda tree, labels: np.nan)),
    *(("x", lambda x=x: piecewise_loss(GOOD, LABELS)(x)) for x in (1.01, -0.01, np.nan)),
    *(
        ("x must be a number or an array", lambda x=x: piecewise_loss(GOOD, LABELS)(x))
        for x in ("half", 1j, None, [0.5, "a"], [[0.5], [0.5, 1]], 10**400)
    ),
]


@pytest.mark.parametrize("argument, call", BAD_INPUT)
def test_bad_input_is_named(argument, call):
    with pytest.raises(InputError, match=f"^{re.escape(argument)}"):
        call()


def test_distances_are_large_and_finite():
    assert alpha_linkage(GOOD * 1e299, 0.5, ("average", "complete")).same_tree(alpha_linkage(GOOD, 0.5))


def test_what_a_users_function_raises_comes_out_as_it_is():
    def broken(block):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="^mine$"):
        alpha_linkage(GOOD, 0.5, ("single", broken))
