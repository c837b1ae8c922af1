"Execution trees and piecewise losses."

import json
import subprocess
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shared import as_sets

from comparison_hc.core.validation import InputError
from comparison_hc.link.execution import ExecutionTree, as_family, execution_tree, piecewise_loss
from comparison_hc.link.losses import PiecewiseLoss, widest_interval
from comparison_hc.link.merge import MergeFunction, alpha_linkage, beta_linkage, merges_by_definition, rings_and_disks
from comparison_hc.metrics import average_ari, majority_loss, pruning_loss

ROOT = Path(__file__).parents[1]

MEDIAN = MergeFunction(
    "median",
    lambda block: np.sort(block, axis=None)[block.size // 2],
    lambda ranks: np.argsort(ranks, axis=None, kind="stable")[ranks.size // 2],
)
FAST = [("single", "complete"), ("average", "complete"), "complete", "average"]
SLOW = [("single", "average"), (MEDIAN, "complete"), "single", MEDIAN]


@st.composite
def instances(draw, families, high=6):
    "Distances (or two of them) and a family; whole numbers with many ties, or real numbers."
    merges, n = draw(st.sampled_from(families)), draw(st.integers(2, high))
    top = draw(st.sampled_from([1, 2, 3, 8, None]))
    elements = st.floats(0, 1, width=32) if top is None else st.integers(0, top).map(float)
    Ds = [
        np.triu(draw(arrays(float, (n, n), elements=elements)), 1) for _ in range(1 if isinstance(merges, tuple) else 2)
    ]
    Ds = [D + D.T for D in Ds]
    return (Ds[0] if isinstance(merges, tuple) else tuple(Ds)), merges


def check(D, merges):
    "Every leaf against the definition: at its first value, in the middle, at the last number of its interval."
    problem, leaves = as_family(D, merges), execution_tree(D, merges).leaves()
    assert (
        leaves.is_complete
        and leaves.breakpoints[0] == 0
        and leaves.breakpoints[-1] == 1
        and (np.diff(leaves.breakpoints) > 0).all()
    )
    for leaf in leaves:
        for x in (leaf.low, (leaf.low + leaf.high) / 2, np.nextafter(leaf.high, 0) if leaf.high < 1 else 1.0):
            assert [{A, B} for A, B, _ in merges_by_definition(problem.line, len(problem.D0), x)] == as_sets(
                leaf.merges
            )
    for one, two in zip(leaves, list(leaves)[1:]):
        assert one.high == two.low and two.first_changed == min(
            t for t in range(len(one.merges)) if as_sets(one.merges)[t] != as_sets(two.merges)[t]
        )
        if two.same_topology:
            assert {frozenset(s) for pair in as_sets(one.merges) for s in pair} == {
                frozenset(s) for pair in as_sets(two.merges) for s in pair
            }


@settings(max_examples=250)
@given(instances(FAST))
def test_leaves_of_the_sweep_are_the_definition(instance):
    check(*instance)


@settings(max_examples=60)
@given(instances(SLOW, high=4))
def test_leaves_of_the_traversal_are_the_definition(instance):
    check(*instance)


@settings(max_examples=60)
@given(instances(FAST, high=5))
def test_the_two_ways_agree(instance):
    slow, fast = (execution_tree(*instance, method=method).leaves() for method in ("traversal", "sweep"))
    assert np.array_equal(slow.breakpoints, fast.breakpoints) and all(
        np.array_equal(one.merges, two.merges) for one, two in zip(slow, fast)
    )
    assert all(np.allclose(one.heights, two.heights) for one, two in zip(slow, fast)) and slow.n_edges == fast.n_edges


def distances(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


@pytest.mark.parametrize("merges", FAST)
def test_larger_instances_at_random_parameters(merges):
    points, _ = rings_and_disks(60, 3)
    D, E = distances(points), np.abs(points[:, None] - points).max(axis=2).round(1)  # many ties in the second
    leaves = execution_tree(D if isinstance(merges, tuple) else (D, E), merges).leaves()
    assert len(leaves) > 10
    for x in np.concatenate([[0, 1], leaves.breakpoints[5:8], np.random.default_rng(0).random(5)]):
        tree, leaf = (
            alpha_linkage(D, x, merges) if isinstance(merges, tuple) else beta_linkage(D, E, x, merges),
            leaves.at(x),
        )
        assert np.array_equal(tree.children, leaf.merges)
        if x == leaf.low:
            assert np.allclose(tree.heights, leaf.heights) and np.array_equal(leaf.dendrogram.children, tree.children)


def lines_through_a_point(seed):
    "Two metrics whose distances are lines in β that all meet in one point, up to rounding; and where that is."
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    at, height, slopes = rng.random(), 5 + rng.random(), rng.normal(size=n * (n - 1) // 2)
    Ds = np.zeros((2, n, n))
    for D, ends in zip(Ds, (height - at * slopes, height + (1 - at) * slopes)):
        D[np.triu_indices(n, 1)] = ends
    return tuple(D + D.T for D in Ds), at


def test_lines_that_contradict_each_other_do_not_hold_the_sweep(monkeypatch):
    "Crossings 10⁻¹⁶ apart may ask for one merge and another in turn: after many rounds there, the sweep goes on."
    from comparison_hc.link import _kinetic as swept

    places = []
    process_event = swept.process_event
    monkeypatch.setattr(swept, "process_event", lambda S, c: (places.append(c), process_event(S, c))[1])
    rounds = []
    for seed in (364, 2032, 2232, 2408, 3260):
        Ds, at = lines_through_a_point(seed)
        places.clear()
        leaves = execution_tree(Ds).leaves()
        rounds.append(max(places.count(c) for c in set(places)) / (8 * (len(Ds[0]) - 1)))
        assert leaves.is_complete and leaves.breakpoints[-1] == 1 and (np.diff(leaves.breakpoints) > 0).all()
        line = as_family(Ds, None).line
        for x in (0.0, at / 2, at - 1e-9, at + 1e-9, (1 + at) / 2, 1.0):
            run = merges_by_definition(line, len(Ds[0]), x)
            assert [{A, B} for A, B, _ in run] == as_sets(leaves.at(x).merges)
    assert max(rounds) >= 1  # the limit was reached: these lines do contradict each other


def test_a_sweep_that_makes_no_progress_ends(monkeypatch):
    from comparison_hc.link import _kinetic as swept

    D = np.abs(np.subtract.outer(*[np.array([0.0, 2, 5, 9])] * 2))
    S = swept.start(D, D, (0, 1))
    assert S.failure_time.min() < 1
    monkeypatch.setattr(swept, "process_event", lambda S, c: "order")
    assert len(list(swept.sweep(S))) <= 1 + S.failure_time.size


def test_scale_and_numbering_do_not_matter_without_ties():
    D = distances(np.random.default_rng(1).random((20, 3)))
    order = np.random.default_rng(2).permutation(20)
    expected = execution_tree(D).leaves()
    assert np.array_equal(execution_tree(D * 2.0**-30).leaves().breakpoints, expected.breakpoints)
    assert np.array_equal(execution_tree(D[np.ix_(order, order)]).leaves().breakpoints, expected.breakpoints)


def test_the_other_way_round_is_the_mirror_image():
    D = distances(np.random.default_rng(4).random((20, 3)))
    one, two = execution_tree(D).leaves(), execution_tree(D, ("complete", "single")).leaves()
    assert np.allclose(one.breakpoints, 1 - two.breakpoints[::-1])
    assert all(as_sets(a.merges) == as_sets(b.merges) for a, b in zip(one, list(two)[::-1]))


def test_if_single_and_complete_give_one_tree_so_does_all_between():
    n_equal = 0
    for seed in range(120):
        n = 4 + seed % 5
        D = np.triu(np.random.default_rng(seed).random((n, n)), 1)
        trees = [
            {frozenset(objects.tolist()) for _, objects in leaf.dendrogram.clusters()}
            for leaf in execution_tree(D + D.T).leaves()
        ]
        if trees[0] == trees[-1]:
            n_equal += 1
            assert all(tree == trees[0] for tree in trees)
    assert n_equal > 10


WITHOUT_NUMBA = """
import json, sys
sys.modules["numba"] = None
sys.path.insert(0, "tests")
from comparison_hc.link._kinetic import njit
from test_link_execution import numbers_of_a_sweep
assert njit is None
print(json.dumps(numbers_of_a_sweep()))
"""


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
    assert printed_by(WITHOUT_NUMBA) == numbers_of_a_sweep()


HEAVY = ("numba", "scipy", "pandas", "sklearn", "altair", "joblib")


def test_importing_costs_only_numpy():
    code = "import comparison_hc.link.execution, comparison_hc.link.learning, comparison_hc.link.grid, sys, json\n"
    assert printed_by(f"{code}print(json.dumps([name for name in {HEAVY} if name in sys.modules]))") == []


def test_every_promised_name_is_there():
    import comparison_hc.link as link

    assert {"alpha_linkage", "beta_linkage", "execution_tree", "piecewise_loss", "learn_linkage"} <= set(link.__all__)
    for name in link.__all__:
        assert getattr(link, name) is not None


# ---- losses


def brute_force(tree, labels, k):
    "The least share of wrong objects over all prunings and all matchings, straight from L20, equation 1."
    members, classes = (
        {node: set(objects.tolist()) for node, objects in tree.clusters()},
        [set(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)],
    )
    best = 0
    for nodes in combinations(members, k):
        if len(set().union(*(members[node] for node in nodes))) < len(labels) or sum(
            len(members[node]) for node in nodes
        ) != len(labels):
            continue
        best = max(
            best, *(sum(len(members[node] & C) for node, C in zip(order, classes)) for order in permutations(nodes))
        )
    return 1 - best / len(labels)


@pytest.mark.parametrize("seed", range(8))
def test_losses_are_brute_force(seed):
    rng = np.random.default_rng(seed)
    D, labels = (
        distances(rng.integers(0, 4, (8, 2)).astype(float)) if seed % 2 else distances(rng.random((8, 2))),
        rng.permutation(np.arange(8) % (2 + seed % 3)),
    )
    leaves, curve = execution_tree(D).leaves(), piecewise_loss(D, labels)
    assert np.array_equal(curve.breakpoints, leaves.breakpoints)
    assert np.allclose(
        curve.values, [brute_force(leaf.dendrogram, labels, labels.max() + 1) for leaf in leaves], atol=1e-12
    )


@pytest.mark.parametrize("merges", FAST + [("single", "average")])
def test_named_losses_are_those_of_the_ground_floor(merges):
    points, labels = rings_and_disks(20, 1)
    D = distances(points) if isinstance(merges, tuple) else (distances(points), distances(points[:, :1]))
    leaves = execution_tree(D, merges).leaves()
    for k in (None, 2, 6):
        for loss, slow in (("pruning", pruning_loss), ("majority", majority_loss)):
            assert piecewise_loss(D, labels, merges, loss, k).values.tolist() == [
                slow(leaf.dendrogram, labels, k) for leaf in leaves
            ]


def test_any_loss():
    points, labels = rings_and_disks(20, 2)
    D, calls = distances(points), []

    def by_cuts(tree, labels):
        calls.append(tree)
        return 1 - average_ari(labels, tree)

    leaves = execution_tree(D).leaves()
    assert piecewise_loss(D, labels, loss=by_cuts).values.tolist() == [
        1 - average_ari(labels, leaf.dendrogram) for leaf in leaves
    ] and len(calls) == len(leaves)
    calls.clear()
    by_cuts.tree_only = True
    piecewise_loss(D, labels, loss=by_cuts)
    assert len(calls) == sum(not leaf.same_topology for leaf in leaves) < len(leaves)


def test_many_classes_take_the_general_loss():
    D, labels = distances(np.random.default_rng(0).random((14, 2))), np.arange(14) % 13
    assert piecewise_loss(D, labels, limit=3).values.tolist() == [
        pruning_loss(leaf.dendrogram, labels) for leaf in execution_tree(D).leaves(3)
    ]


def test_piecewise_functions():
    points, labels = rings_and_disks(40, 5)
    curve = piecewise_loss(distances(points), labels)
    simple, (least, intervals) = curve.simplified(), curve.best()
    x = np.concatenate([np.random.default_rng(0).random(200), curve.breakpoints, simple.breakpoints])
    assert (
        np.array_equal(curve(x), simple(x)) and (np.diff(simple.values) != 0).all() and curve(1.0) == curve.values[-1]
    )
    inside = [any(low <= v < high or v == high == 1 for low, high in intervals) for v in x]
    assert np.array_equal(curve(x) == least, inside) and least == curve.values.min()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=6))
def test_the_widest_interval_is_the_first_of_the_widest(some):
    intervals = [(low, low + width) for low, width in some]
    low, high = widest_interval(intervals)
    assert (low, high) in intervals
    assert all(b - a < high - low or (b - a == high - low and a >= low) for a, b in intervals)


def test_pieces_are_collected_up_to_a_limit():
    pieces = [(0.0, 0.5, True), (0.25, 0.5, False), (0.5, 0.0, True)]
    whole, part = PiecewiseLoss.collect(pieces, "β"), PiecewiseLoss.collect(pieces, "β", limit=2)
    assert whole.is_complete and whole.n_trees == 2 and whole.breakpoints.tolist() == [0, 0.25, 0.5, 1]
    assert not part.is_complete and part.breakpoints.tolist() == [0, 0.25, 0.5] and part.values.tolist() == [0.5, 0.5]


def test_a_tree_says_by_which_way():
    tree = execution_tree(GOOD, ("single", "average"))
    assert isinstance(tree, ExecutionTree) and "by traversal" in repr(tree) and "by sweep" in repr(execution_tree(GOOD))


# ---- stopping, and bad input


def interrupting(after):
    seen = []

    def progress(x):
        seen.append(x)
        if len(seen) == after:
            raise KeyboardInterrupt

    return progress


def test_what_was_found_is_returned():
    points, labels = rings_and_disks(60, 0)
    D = distances(points)
    whole, leaves = piecewise_loss(D, labels), execution_tree(D).leaves()
    for part in (piecewise_loss(D, labels, limit=10), piecewise_loss(D, labels, progress=interrupting(11))):
        assert (
            not part.is_complete
            and np.array_equal(part.values, whole.values[:10])
            and np.array_equal(part.breakpoints, whole.breakpoints[:11])
            and "partial" in repr(part)
        )
        with pytest.raises(InputError):
            part(0.99)
    for part in (execution_tree(D).leaves(7), execution_tree(D).leaves(progress=interrupting(7))):
        assert not part.is_complete and len(part) == 7 and np.array_equal(part.breakpoints, leaves.breakpoints[:8])
        with pytest.raises(InputError):
            part.at(0.99)
    assert (
        piecewise_loss(D, labels, limit=len(whole.values)).is_complete
        and execution_tree(D).leaves(len(leaves)).is_complete
    )
    nothing = piecewise_loss(D, labels, progress=interrupting(1))
    assert len(nothing.values) == 0 and not nothing.is_complete and "partial" in repr(nothing)


def test_the_picture_has_a_box_for_every_node():
    tree = execution_tree(distances(np.random.default_rng(346).random((6, 2))))
    leaves = tree.leaves()
    boxes = tree.chart().to_dict()
    assert max(len(rows) for rows in boxes["datasets"].values()) == leaves.n_edges


GOOD = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)


@pytest.mark.parametrize(
    "call",
    [
        lambda: execution_tree(GOOD[:2]),
        lambda: execution_tree(-GOOD),
        lambda: execution_tree(GOOD + 1),
        lambda: execution_tree(np.triu(GOOD)),
        lambda: execution_tree([[0]]),
        lambda: execution_tree(np.where(GOOD == 3, np.nan, GOOD)),
        lambda: execution_tree((GOOD, GOOD[:2, :2])),
        lambda: execution_tree((GOOD, -GOOD)),
        lambda: execution_tree((GOOD, GOOD, GOOD)),
        lambda: execution_tree(GOOD, "single"),
        lambda: execution_tree(GOOD, ("single", "best")),
        lambda: execution_tree((GOOD, GOOD), ("single", "complete")),
        lambda: execution_tree((GOOD, GOOD), np.mean),
        lambda: execution_tree(GOOD, ("single", "average"), method="sweep"),
        lambda: execution_tree((GOOD, GOOD), "single", method="sweep"),
        lambda: execution_tree(GOOD, method="fast"),
        lambda: execution_tree(GOOD, names=["a", "b"]),
        lambda: execution_tree(GOOD).leaves(0),
        lambda: execution_tree(GOOD).leaves(1.5),
        lambda: execution_tree(GOOD).leaves().at(-1),
        lambda: execution_tree(distances(np.random.default_rng(0).random((30, 2)))).chart(),
        lambda: list(execution_tree(GOOD, ("single", lambda block: -1.0))),
        lambda: piecewise_loss(GOOD, [0, 1]),
        lambda: piecewise_loss(GOOD, [0, 1, None]),
        lambda: piecewise_loss(GOOD, [0, 0, 1], loss="best"),
        lambda: piecewise_loss(GOOD, [0, 0, 1], loss=3),
        lambda: piecewise_loss(GOOD, [0, 0, 1], loss=lambda tree, labels: np.nan),
        lambda: piecewise_loss(GOOD, [0, 0, 1], n_clusters=4),
        lambda: piecewise_loss(GOOD, [0, 0, 1], n_clusters=0),
        lambda: piecewise_loss(GOOD, [0, 0, 1], limit=0),
        lambda: piecewise_loss(GOOD, [0, 0, 1])(1.01),
        lambda: piecewise_loss(GOOD, [0, 0, 1])(-0.01),
        lambda: piecewise_loss(GOOD, [0, 0, 1])(np.nan),
    ],
)
def test_bad_input(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(
    "call", [lambda p: piecewise_loss(GOOD, [0, 0, 1], progress=p), lambda p: execution_tree(GOOD).leaves(progress=p)]
)
def test_progress_is_a_function(call):
    for value in (3, "bar", True):
        with pytest.raises(InputError, match="^progress must be a function of a share from 0 to 1 or None; got"):
            call(value)


@pytest.mark.parametrize("x", ["half", 1j, None, [0.5, "a"], [[0.5], [0.5, 1]], 10**400])
def test_where_a_loss_is_asked(x):
    with pytest.raises(InputError, match="^x must be a number or an array of them; got"):
        piecewise_loss(GOOD, [0, 0, 1])(x)


@pytest.mark.parametrize("merges", [("single", "complete"), np.mean, 3])
def test_two_metrics_name_the_argument(merges):
    with pytest.raises(InputError, match="^merges must be"):
        execution_tree((GOOD, GOOD), merges)


def test_a_pair_with_something_else_in_it():
    for D in ((GOOD, [[0, 1], [1]]), (GOOD, (GOOD, GOOD[:2, :2])), (GOOD, None)):
        with pytest.raises(InputError, match="^D must be"):
            execution_tree(D)


def test_labels_that_cannot_be_compared():
    labels = np.empty(3, dtype=object)
    labels[:] = [[1], [1], [2]]
    with pytest.raises(InputError, match="^labels must be hashable values"):
        piecewise_loss(GOOD, labels)


def test_nothing_was_found():
    nothing = piecewise_loss(GOOD, [0, 0, 1], progress=interrupting(1))
    for call in (nothing.best, nothing.chart):
        with pytest.raises(InputError, match="at least one piece"):
            call()
