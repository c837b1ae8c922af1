"""Refinement against its definition: every move made on nested sets, and every answer counted from scratch."""

from functools import partial

import numpy as np
import pytest
from definitions import clusters_of, regraft, triplet_gain
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import by_name, refusals
from test_hierarchical import random_rows as more_rows

from comparison_hc import Dendrogram, Quadruplets, Triplets
from comparison_hc.dendrogram import _all_merge_orders, random_tree
from comparison_hc.hierarchical import planted_hierarchy, quadruplet_average_linkage, triplet_average_linkage
from comparison_hc.hierarchical.refinement import _agreement_gain, refine
from comparison_hc.hierarchical.spr import RankedSPR, RankedTree, SPRTree, TripletSPR
from comparison_hc.metrics import agreement
from comparison_hc.oracles import sample_triplets

few = settings(max_examples=25)
seeds, widths = st.integers(0, 10**6), st.sampled_from([3, 4])
KINDS = {3: Triplets, 4: Quadruplets}


def random_rows(rng, n, m, width):
    "m answers with repetitions and contradictions."
    return rng.permutation(more_rows(rng, n, m, width))[:m]


def counted(tree, answers):
    "The gain of a tree, from `agreement`."
    found = agreement(tree, answers)
    return found.agree - found.disagree


def clusters_by_node(tree):
    "{node of an `SPRTree`: its cluster}"
    below = tree.is_below()[:, : tree.n_leaves]
    return {node: frozenset(np.flatnonzero(below[node]).tolist()) for node in range(tree.n_nodes)}


def decided(truth):
    "Every triplet that a tree decides, answered accordingly."
    step, n = truth.lca_step(), truth.n_objects
    i, j, k = np.indices((n, n, n)).reshape(3, -1)
    rows = np.column_stack([i, j, k])[(i != j) & (i != k) & (j != k)]
    return Triplets(rows[step[rows[:, 0], rows[:, 1]] < step[rows[:, 0], rows[:, 2]]], n)


# ---- gains of moves


@pytest.mark.parametrize("n", [3, 4, 5])
def test_gains_of_all_moves_of_all_small_trees(n):
    rng = np.random.default_rng(n)
    rows, weights = random_rows(rng, n, 30, 3), rng.integers(1, 5, 30)
    starts = {clusters_of(start): start for start in _all_merge_orders(n)}
    assert len(starts) == {3: 3, 4: 15, 5: 105}[n]
    for before, start in starts.items():
        tree = SPRTree(start.children)
        clusters, now = clusters_by_node(tree), triplet_gain(before, rows, weights)
        gains = TripletSPR(tree, rows, weights).gains()
        for (s, S), (v, V) in ((one, two) for one in clusters.items() for two in clusters.items()):
            changes = s != tree.root and not V <= S and v not in (tree.parent[s], tree.sibling(s))
            assert changes == np.isfinite(gains[s, v])
            if changes:
                after, other = regraft(before, S, V - S), SPRTree(start.children)
                assert gains[s, v] == triplet_gain(after, rows, weights) - now
                other.regraft(s, v)
                assert clusters_of(Dendrogram.from_merges(other.merges())) == after


@given(seed=seeds, n=st.integers(3, 14), m=st.integers(1, 80))
def test_the_table_stays_what_it_is_from_scratch(seed, n, m):
    rng = np.random.default_rng(seed)
    search = TripletSPR(SPRTree(random_tree(n, seed).children), random_rows(rng, n, m, 3), rng.integers(0, 4, m))
    for _ in range(6):
        legal = np.argwhere(np.isfinite(search.gains())).tolist()
        if legal:
            search.regraft(*legal[rng.integers(len(legal))])
        kept = search.table.copy()
        search.restart()
        assert np.array_equal(kept, search.table)


def ranked_moves(start, answers):
    "(tree, s, v, t, gain, tree after) of every move from quadruplets."
    tree = RankedTree(start.children)
    search = RankedSPR(tree, answers.array, np.ones(len(answers)))
    for s in set(range(tree.n_nodes)) - {tree.root}:
        gains = search.gains(s)
        for v, t in np.argwhere(np.isfinite(gains)).tolist():
            other = RankedTree(start.children)
            other.regraft(s, v, t)
            yield tree, s, v, t, gains[v, t], Dendrogram.from_merges(other.merges())


@few
@given(seed=seeds, n=st.integers(3, 7), m=st.integers(1, 60))
def test_gains_of_all_moves_from_quadruplets(seed, n, m):
    answers, start = Quadruplets(random_rows(np.random.default_rng(seed), n, m, 4), n), random_tree(n, seed)
    for tree, s, _, t, gain, after in ranked_moves(start, answers):
        assert counted(after, answers) - counted(start, answers) == gain
        order = [c for _, c in after.clusters()][n:]
        moved = set(np.flatnonzero(tree.is_below()[s, :n]))
        assert set(order[t - (t >= tree.rank[tree.parent[s]])].tolist()) >= moved


def without(tree, S):
    "What remains of a tree's clusters, in their order, without S and the merge above it."
    parent = min((C for C in clusters_of(tree) if S < C), key=len)
    merged = [frozenset(members.tolist()) for node, members in tree.clusters() if node >= tree.n_leaves]
    return tuple(C if C <= S else C - S for C in merged if C != parent)


def test_two_merge_orders_are_one_move_apart_if_they_agree_without_one_subtree():
    orders = _all_merge_orders(5)
    number = {str([sorted(row) for row in T.children.tolist()]): o for o, T in enumerate(orders)}
    for start in orders[::7]:
        expected = set()
        for S in clusters_of(start) - {frozenset(range(5))}:
            rest = without(start, S)
            expected |= {o for o, T in enumerate(orders) if S in clusters_of(T) and without(T, S) == rest}
        moves = ranked_moves(start, Quadruplets([[0, 1, 2, 3]], 5))
        assert {number[str([sorted(row) for row in after.children.tolist()])] for *_, after in moves} == expected


# ---- refine


@given(seeds, st.integers(3, 12), st.integers(1, 120), widths, st.sampled_from(["none", "integers", "floats"]))
def test_refine_keeps_its_guarantees(seed, n, m, width, kind):
    rng = np.random.default_rng(seed)
    answers = KINDS[width](random_rows(rng, n, m, width), n, [f"o{i}" for i in range(n)])
    weights = {"none": None, "integers": rng.integers(0, 5, m), "floats": rng.random(m)}[kind]
    start = random_tree(n, seed)
    before = [np.copy(a) for a in (answers.array, start.linkage_matrix, 0 if weights is None else weights)]
    found = refine(start, answers, weights)
    assert found.gain_before == _agreement_gain(start, answers, weights)
    assert found.gain_after == _agreement_gain(found.dendrogram, answers, weights) >= found.gain_before
    assert found.finished and not found.interrupted and (found.moves == 0) == (found.dendrogram is start)
    assert type(found.gain_after) is (float if kind == "floats" else int)
    assert kind != "none" or found.gain_after == counted(found.dendrogram, answers)
    again = refine(found.dendrogram, answers, weights)
    assert again.moves == 0 and again.finished and again.dendrogram is found.dendrogram
    assert refine(start, answers, weights).dendrogram == found.dendrogram
    after = (answers.array, start.linkage_matrix, 0 if weights is None else weights)
    assert all(np.array_equal(*pair) for pair in zip(before, after))


@few
@given(seed=seeds, n=st.integers(3, 8))
def test_no_single_move_improves_a_finished_tree(seed, n):
    answers = Triplets(random_rows(np.random.default_rng(seed), n, 60, 3), n)
    found = refine(random_tree(n, seed), answers)
    end, ones = clusters_of(found.dendrogram), np.ones(60)
    for S in end - {frozenset(range(n))}:
        parent = min((C for C in end if S < C), key=len)
        for V in end:
            if not V <= S and V not in (parent, parent - S):
                assert triplet_gain(regraft(end, S, V - S), answers.array, ones) <= found.gain_after


@few
@given(seed=seeds, width=widths)
def test_weights_are_repetitions_and_answers_may_carry_them(seed, width):
    rng, start = np.random.default_rng(seed), random_tree(8, seed)
    rows, weights = random_rows(rng, 8, 40, width), rng.integers(1, 5, 40)
    found = [
        refine(start, KINDS[width](rows, 8), weights),
        refine(start, KINDS[width](np.repeat(rows, weights, axis=0), 8)),
        refine(start, KINDS[width](rows, 8, weights=weights)),
    ]
    assert found[0].dendrogram == found[1].dendrogram == found[2].dendrogram
    assert len({(each.gain_before, each.gain_after, each.moves) for each in found}) == 1


@few
@given(seed=seeds, width=widths)
def test_initial_clusters_stay_whole(seed, width):
    rng = np.random.default_rng(seed)
    answers = KINDS[width](random_rows(rng, 10, 80, width), 10)
    initial = [part.tolist() for part in np.array_split(rng.permutation(10), rng.integers(1, 8))]
    start, totals = Dendrogram.from_merges(random_tree(len(initial), seed).children, initial), []
    found = refine(start, answers, progress=lambda now, most: totals.append((now, most)))
    assert found.dendrogram.initial_clusters == start.initial_clusters
    assert found.gain_after == counted(found.dendrogram, answers) and all(now <= most for now, most in totals)


@pytest.mark.parametrize("seed", range(15))
def test_all_answers_right_and_given_lead_to_the_tree(seed):
    n = 4 + seed % 9
    truth = random_tree(n, seed)
    found = refine(random_tree(n, 1000 + seed), decided(truth))
    assert found.dendrogram.same_tree(truth) and found.gain_after == len(decided(truth))


def test_wide_splits_are_found_and_other_merges_keep_their_order():
    planted = planted_hierarchy(3, 2, 0.8, 0.2, 0, 0)
    found = clusters_of(refine(random_tree(12, 5), sample_triplets(planted.similarity, 1.0, 0)).dendrogram)
    assert {frozenset(np.flatnonzero(level == c).tolist()) for level in planted.levels for c in (0, 1)} <= found
    start = Dendrogram.from_merges([[3, 4], [0, 1], [6, 2], [5, 7]])
    tree = refine(start, Triplets([[2, 3, 0], [2, 4, 1], [3, 4, 2]], 5)).dendrogram
    assert [set(c.tolist()) for _, c in tree.clusters()][5:] == [{3, 4}, {2, 3, 4}, {0, 1}, set(range(5))]


# ---- stopping


def noisy(width):
    planted = planted_hierarchy(3, 3, 0.8, 0.1, 0.1, 0)
    answers = sample_triplets(planted.similarity, 900, 0).flip(0.2, 1)
    return answers if width == 3 else answers.to_quadruplets()


@pytest.mark.parametrize("width", [3, 4])
def test_max_moves_progress_and_ctrl_c(width):
    answers, start, steps = noisy(width), random_tree(24, 0), []
    whole = refine(start, answers, progress=lambda now, most: steps.append((now, most)))
    gains = [now for now, _ in steps]
    assert gains == sorted(set(gains)) and len(gains) == whole.moves + 1
    assert (gains[0], gains[-1]) == (whole.gain_before, whole.gain_after)
    assert len({most for _, most in steps}) == 1 and gains[-1] <= steps[0][1]
    part = refine(start, answers, max_moves=5)
    assert (part.moves, part.finished, part.gain_after) == (5, False, gains[5])
    assert refine(start, answers, max_moves=0).dendrogram is start
    assert refine(start, answers, max_moves=whole.moves + 1).finished

    def stop(now, most):
        if now == gains[7]:
            raise KeyboardInterrupt

    found = refine(start, answers, progress=stop)
    assert (found.moves, found.finished, found.interrupted, found.gain_after) == (7, False, True, gains[7])
    assert "stopped" in str(found)


def test_ctrl_c_in_the_middle_of_a_move(monkeypatch):
    "The half-made move is not seen."
    answers, start, calls, whole = noisy(3), random_tree(24, 0), [], SPRTree._replace

    def half(tree, old, new):
        calls.append(1)
        if len(calls) == 2 * 4 + 2:
            raise KeyboardInterrupt
        whole(tree, old, new)

    monkeypatch.setattr(SPRTree, "_replace", half)
    found = refine(start, answers)
    assert found.interrupted and found.moves == 4 and found.gain_after == counted(found.dendrogram, answers)
    monkeypatch.undo()
    assert found.dendrogram == refine(start, answers, max_moves=4).dendrogram


def test_nothing_to_do():
    answers, tied = Triplets([[0, 1, 2]], 3), Triplets([[0, 1, 2], [0, 2, 1]], 3)
    flat = Dendrogram.from_merges([[0, 1]], [[0, 1], [2]])
    assert refine(flat, answers).finished and refine(flat, answers).gain_after == 1
    assert refine(Dendrogram.from_merges([], [[0, 1, 2]]), answers).gain_after == 0
    for some, weights in ((answers, [0]), (tied, None), (tied.to_quadruplets(), None)):
        assert refine(random_tree(3, 0), some, weights).moves == 0
    start = Dendrogram.from_merges([[0, 1], [2, 3], [4, 5]])
    assert refine(start, [[0, 2, 1]]).gain_after == refine(start, np.array([[0, 2, 0, 1]])).gain_after == 1


ONE_ANSWER = Triplets([[0, 1, 2]], 4)


test_bad_input = refusals(
    ("triplets must be about the 4 objects", partial(refine, random_tree(4, 0)), Triplets([[0, 1, 2]], 9)),
    (
        "weights must be one finite number",
        by_name(refine, "weights", random_tree(4, 0), ONE_ANSWER),
        [1, 2],
        [-1],
        [np.nan],
        ["a"],
        [[1]],
    ),
    (
        "max_moves must be an integer of at least 0",
        by_name(refine, "max_moves", random_tree(4, 0), ONE_ANSWER),
        -1,
        1.5,
    ),
)


@pytest.mark.parametrize("build", [triplet_average_linkage, quadruplet_average_linkage])
def test_cars(dataset_or_skip, build):
    answers = dataset_or_skip("car").triplets
    found = refine(build(answers), answers)
    assert found.finished and found.moves > 10 and found.dendrogram.names == answers.names
    assert found.gain_after == counted(found.dendrogram, answers) > found.gain_before + 500
