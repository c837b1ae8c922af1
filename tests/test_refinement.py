"""Refinement against its definition: every move made by hand on nested sets, and every answer counted anew."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc import Dendrogram, InputError, Quadruplets, Triplets
from comparison_hc.dendrogram import _all_merge_orders, random_tree
from comparison_hc.hierarchical import planted_hierarchy, quadruplet_average_linkage, triplet_average_linkage
from comparison_hc.hierarchical._spr import RankedSPR, RankedTree, SPRTree, TripletSPR
from comparison_hc.hierarchical.refinement import _agreement_gain, refine
from comparison_hc.metrics import agreement
from comparison_hc.oracles import sample_triplets

# ---- the references


def clusters_of(tree):
    "A tree as the set of its clusters."
    return frozenset(frozenset(members.tolist()) for _, members in tree.clusters())


def regrafted(clusters, S, V):
    "The clusters after S is taken off and put on above V: S leaves all that held it, joins all that hold V."
    without = {C - S for C in clusters if not C <= S}  # the parent of S becomes its sibling
    inside = {C for C in clusters if C <= S}
    return frozenset(inside | {C | S if V < C else C for C in without} | {V | S})


def kept_less_contradicted(clusters, rows, weights):
    "By definition: j is nearer to i than k if the smallest cluster that holds i and j is smaller."
    together = lambda a, b: min(len(C) for C in clusters if {a, b} <= C)
    return sum(w * np.sign(together(i, k) - together(i, j)) for (i, j, k), w in zip(rows.tolist(), weights.tolist()))


def by_clusters(tree):
    "{node of a `SPRTree`: its cluster}"
    below = tree.is_below()[:, : tree.n_leaves]
    return {node: frozenset(np.flatnonzero(below[node]).tolist()) for node in range(tree.n_nodes)}


def random_rows(rng, n, m, width):
    "m answers with repetitions and contradictions."
    if width == 3:
        return np.array([rng.permutation(n)[:3] for _ in range(m)])
    pairs = list(combinations(range(n), 2))
    return np.array([[*pairs[a], *pairs[b]] for a, b in (rng.choice(len(pairs), 2, replace=False) for _ in range(m))])


def counted(tree, answers):
    "The gain, from `agreement`."
    found = agreement(tree, answers)
    return found.agree - found.disagree


def decided(truth):
    "Every triplet that a tree decides, as it decides it."
    step, n = truth.lca_step(), truth.n_objects
    i, j, k = np.indices((n, n, n)).reshape(3, -1)
    differ = (i != j) & (i != k) & (j != k)
    rows = np.column_stack([i, j, k])[differ]
    return Triplets(rows[step[rows[:, 0], rows[:, 1]] < step[rows[:, 0], rows[:, 2]]], n)


# ---- gains of moves


@pytest.mark.parametrize("n", [3, 4, 5])
def test_gains_of_all_moves_of_all_small_trees(n):
    rng = np.random.default_rng(n)
    rows, weights = random_rows(rng, n, 30, 3), rng.integers(1, 5, 30)
    seen = set()
    for start in _all_merge_orders(n):
        tree = SPRTree(start.children)
        before, clusters = clusters_of(start), by_clusters(tree)
        if before in seen:
            continue
        seen.add(before)
        gains, now = TripletSPR(tree, rows, weights).gains(), kept_less_contradicted(before, rows, weights)
        for s in clusters:
            for v in clusters:
                S, V = clusters[s], clusters[v]
                changes = s != tree.root and not V <= S and v not in (tree.parent[s], tree.sibling(s))
                assert changes == np.isfinite(gains[s, v])
                if changes:
                    after = regrafted(before, S, V - S)
                    assert gains[s, v] == kept_less_contradicted(after, rows, weights) - now
                    other = SPRTree(start.children)
                    other.regraft(s, v)
                    assert clusters_of(Dendrogram.from_merges(other.merges())) == after
    assert len(seen) == {3: 3, 4: 15, 5: 105}[n]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 14), m=st.integers(1, 80))
def test_the_table_stays_what_it_is_from_scratch(seed, n, m):
    rng = np.random.default_rng(seed)
    rows, weights = random_rows(rng, n, m, 3), rng.integers(0, 4, m)
    moves = TripletSPR(SPRTree(random_tree(n, seed).children), rows, weights)
    for _ in range(6):
        legal = np.argwhere(np.isfinite(moves.gains())).tolist()
        if legal:
            moves.regraft(*legal[rng.integers(len(legal))])
        kept = moves.table.copy()
        moves.restart()
        assert np.array_equal(kept, moves.table)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 7), m=st.integers(1, 60))
def test_gains_of_all_places_and_moments(seed, n, m):
    rng = np.random.default_rng(seed)
    answers = Quadruplets(random_rows(rng, n, m, 4), n)
    start = random_tree(n, seed)
    tree = RankedTree(start.children)
    moves, before, others = RankedSPR(tree, answers.array, np.ones(m)), counted(start, answers), 0
    for s in set(range(tree.n_nodes)) - {tree.root}:
        gains, p = moves.gains(s), tree.parent[s]
        for v, t in np.argwhere(np.isfinite(gains)).tolist():
            other = RankedTree(start.children)
            other.regraft(s, v, t)
            after = Dendrogram.from_merges(other.merges())
            assert counted(after, answers) - before == gains[v, t]
            order = [c for _, c in after.clusters()][n:]
            assert set(order[t - (t >= tree.rank[p])].tolist()) >= set(np.flatnonzero(tree.is_below()[s, :n]))
            others += 1
    assert others


def without(tree, S):
    "What is left of a tree's clusters, in their order, if S and the merge above it are taken out."
    parent = min((C for C in clusters_of(tree) if S < C), key=len)
    merged = [frozenset(members.tolist()) for node, members in tree.clusters() if node >= tree.n_leaves]
    return tuple(C if C <= S else C - S for C in merged if C != parent)


def test_moves_with_a_moment_are_all_there_are():
    "Two orders of merges are one move apart if they are the same without one subtree."
    orders = _all_merge_orders(5)
    answers = Quadruplets([[0, 1, 2, 3]], 5)
    for start in orders[::7]:
        expected = set()
        for S in clusters_of(start) - {frozenset(range(5))}:
            rest = without(start, S)
            expected |= {o for o, T in enumerate(orders) if S in clusters_of(T) and without(T, S) == rest}
        tree, found = RankedTree(start.children), set()
        moves = RankedSPR(tree, answers.array, np.ones(1))
        for s in set(range(9)) - {tree.root}:
            for v, t in np.argwhere(np.isfinite(moves.gains(s))).tolist():
                other = RankedTree(start.children)
                other.regraft(s, v, t)
                after = [set(row) for row in other.merges()]
                found.add(next(o for o, T in enumerate(orders) if [set(row) for row in T.children.tolist()] == after))
        assert found == expected


# ---- refine


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    m=st.integers(1, 120),
    width=st.sampled_from([3, 4]),
    kind=st.sampled_from(["none", "integers", "floats"]),
)
def test_refine_keeps_its_promises(seed, n, m, width, kind):
    rng = np.random.default_rng(seed)
    n = max(n, 3)
    answers = (Triplets if width == 3 else Quadruplets)(random_rows(rng, n, m, width), n, [f"o{i}" for i in range(n)])
    weights = {"none": None, "integers": rng.integers(0, 5, m), "floats": rng.random(m)}[kind]
    given_weights = None if weights is None else weights.copy()
    start = random_tree(n, seed)
    rows, Z = answers.array.copy(), start.linkage_matrix.copy()
    found = refine(start, answers, weights)
    assert found.gain_before == _agreement_gain(start, answers, weights)
    assert found.gain_after == _agreement_gain(found.dendrogram, answers, weights) >= found.gain_before
    assert found.finished and not found.interrupted
    assert (found.moves == 0) == (found.dendrogram is start)
    assert type(found.gain_after) is (float if kind == "floats" else int)
    if kind == "none":
        assert found.gain_after == counted(found.dendrogram, answers)
    again = refine(found.dendrogram, answers, weights)
    assert again.moves == 0 and again.finished and again.dendrogram is found.dendrogram
    assert refine(start, answers, weights).dendrogram == found.dendrogram
    assert np.array_equal(rows, answers.array) and np.array_equal(Z, start.linkage_matrix)
    assert weights is None or np.array_equal(weights, given_weights)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 8))
def test_no_single_move_improves_a_finished_tree(seed, n):
    rng = np.random.default_rng(seed)
    answers = Triplets(random_rows(rng, n, 60, 3), n)
    found = refine(random_tree(n, seed), answers)
    end, ones = clusters_of(found.dendrogram), np.ones(60)
    for S in end:
        parent = min((C for C in end if S < C), key=len, default=None)
        for V in end:
            if parent and not V <= S and V not in (parent, parent - S):
                after = regrafted(end, S, V - S)
                assert kept_less_contradicted(after, answers.array, ones) <= found.gain_after


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), width=st.sampled_from([3, 4]))
def test_weights_are_repetitions(seed, width):
    rng = np.random.default_rng(seed)
    kind = Triplets if width == 3 else Quadruplets
    rows, weights = random_rows(rng, 8, 40, width), rng.integers(1, 5, 40)
    start = random_tree(8, seed)
    one, many = refine(start, kind(rows, 8), weights), refine(start, kind(np.repeat(rows, weights, axis=0), 8))
    assert one.dendrogram == many.dendrogram
    assert (one.gain_before, one.gain_after, one.moves) == (many.gain_before, many.gain_after, many.moves)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), width=st.sampled_from([3, 4]))
def test_initial_clusters_stay_whole(seed, width):
    rng = np.random.default_rng(seed)
    answers = (Triplets if width == 3 else Quadruplets)(random_rows(rng, 10, 80, width), 10)
    initial = [part.tolist() for part in np.array_split(rng.permutation(10), rng.integers(1, 8))]
    start = Dendrogram.from_merges(random_tree(len(initial), seed).children, initial)
    totals = []
    found = refine(start, answers, progress=lambda now, most: totals.append((now, most)))
    assert found.dendrogram.initial_clusters == start.initial_clusters
    assert found.gain_after == counted(found.dendrogram, answers)
    assert all(now <= most for now, most in totals)


@pytest.mark.parametrize("seed", range(15))
def test_all_answers_right_and_given_lead_to_the_tree(seed):
    n = 4 + seed % 9
    truth = random_tree(n, seed)
    found = refine(random_tree(n, 1000 + seed), decided(truth))
    assert found.dendrogram.same_tree(truth) and found.gain_after == len(decided(truth))


def test_wide_splits_are_found_too():
    planted = planted_hierarchy(3, 2, 0.8, 0.2, 0, 0)
    found = refine(random_tree(12, 5), sample_triplets(planted.similarity, 1.0, 0)).dendrogram
    assert {frozenset(np.flatnonzero(level == c).tolist()) for level in planted.levels for c in (0, 1)} <= clusters_of(
        found
    )


def test_a_moved_merge_comes_early_and_the_others_keep_their_order():
    "2 joins 3 and 4 right after these two are there."
    start = Dendrogram.from_merges([[3, 4], [0, 1], [6, 2], [5, 7]])
    found = refine(start, Triplets([[2, 3, 0], [2, 4, 1], [3, 4, 2]], 5))
    assert [set(c.tolist()) for _, c in found.dendrogram.clusters()][5:] == [{3, 4}, {2, 3, 4}, {0, 1}, set(range(5))]


# ---- stopping


def noisy(n_pure=3, m=900):
    planted = planted_hierarchy(n_pure, 3, 0.8, 0.1, 0.1, 0)
    return sample_triplets(planted.similarity, m, 0).flip(0.2, 1)


@pytest.mark.parametrize("width", [3, 4])
def test_max_moves_and_progress(width):
    answers = noisy() if width == 3 else noisy().to_quadruplets()
    start, told = random_tree(24, 0), []
    whole = refine(start, answers, progress=lambda now, most: told.append((now, most)))
    assert [now for now, _ in told] == sorted({now for now, _ in told}) and len(told) == whole.moves + 1
    assert (told[0][0], told[-1][0]) == (whole.gain_before, whole.gain_after)
    assert len({most for _, most in told}) == 1 and told[-1][0] <= told[0][1]
    part = refine(start, answers, max_moves=5)
    assert (part.moves, part.finished, part.gain_after) == (5, False, told[5][0])
    assert refine(start, answers, max_moves=0).dendrogram is start
    assert refine(start, answers, max_moves=whole.moves + 1).finished


@pytest.mark.parametrize("width", [3, 4])
def test_ctrl_c_keeps_the_best_so_far(width):
    answers = noisy() if width == 3 else noisy().to_quadruplets()
    start, calls = random_tree(24, 0), []

    def stop(now, most):
        calls.append(now)
        if len(calls) == 8:
            raise KeyboardInterrupt

    found = refine(start, answers, progress=stop)
    assert (found.moves, found.finished, found.interrupted, found.gain_after) == (7, False, True, calls[-1])
    assert "stopped" in str(found)


def test_ctrl_c_in_the_middle_of_a_move(monkeypatch):
    "The half-made move is not seen."
    answers, start, calls = noisy(), random_tree(24, 0), []
    whole = SPRTree._replace

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
    answers = Triplets([[0, 1, 2]], 3)
    assert refine(Dendrogram.from_merges([[0, 1], [3, 2]]), answers).moves == 0
    flat = Dendrogram.from_merges([[0, 1]], [[0, 1], [2]])
    assert refine(flat, answers).finished and refine(flat, answers).gain_after == 1
    assert refine(Dendrogram.from_merges([], [[0, 1, 2]]), answers).gain_after == 0
    tied = Triplets([[0, 1, 2], [0, 2, 1]], 3)
    assert refine(random_tree(3, 0), tied).moves == 0
    assert refine(random_tree(3, 0), tied.to_quadruplets()).moves == 0
    assert refine(random_tree(3, 0), answers, [0]).moves == 0


def test_arrays_are_answers_too():
    start = Dendrogram.from_merges([[0, 1], [2, 3], [4, 5]])
    assert refine(start, [[0, 2, 1]]).gain_after == 1
    assert refine(start, np.array([[0, 2, 0, 1]])).gain_after == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (dict(dendrogram=3), "dendrogram must be a Dendrogram"),
        (dict(answers=Triplets([[0, 1, 2]], 9)), "triplets must be about the 4 objects"),
        (dict(weights=[1, 2]), "weights must be one finite number"),
        (dict(weights=[-1]), "weights must be one finite number"),
        (dict(weights=[np.nan]), "weights must be one finite number"),
        (dict(weights=["a"]), "weights must be one finite number"),
        (dict(weights=[[1]]), "weights must be one finite number"),
        (dict(max_moves=-1), "max_moves must be an integer of at least 0"),
        (dict(max_moves=1.5), "max_moves must be an integer of at least 0"),
        (dict(progress=3), "progress must be a function"),
    ],
)
def test_bad_input(words, message):
    good = dict(dendrogram=random_tree(4, 0), answers=Triplets([[0, 1, 2]], 4))
    with pytest.raises(InputError, match=message):
        refine(**{**good, **words})


def test_weights_that_answers_know_are_taken():
    answers = Triplets([[0, 1, 2], [0, 2, 1]], weights=[2.0, 1.0])
    tree = Dendrogram.from_merges([(0, 1), (2, 3)])
    assert _agreement_gain(tree, answers) == 1 and _agreement_gain(tree, answers, [1, 1]) == 0 == _agreement_gain(
        tree, answers.without_weights()
    )


# ---- answers from people


@pytest.mark.parametrize("build", [triplet_average_linkage, quadruplet_average_linkage])
def test_cars(dataset_or_skip, build):
    answers = dataset_or_skip("car").triplets
    start = build(answers if build is triplet_average_linkage else answers.to_quadruplets())
    found = refine(start, answers)
    assert found.finished and found.moves > 10
    assert found.gain_after == counted(found.dendrogram, answers) > found.gain_before + 500
    assert found.dendrogram.names == answers.names
