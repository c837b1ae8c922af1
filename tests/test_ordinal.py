"What the order of the distances decides about α-linkage."

from functools import partial, reduce
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shared import refusals

from comparison_hc.evaluation.ordinal import (
    OrdinalLinkage,
    as_distances,
    distance_ranks,
    ordinal_linkage,
    possible_merges,
    possible_trees,
    scale_invariant_clusters,
)
from comparison_hc.hierarchical import planted_hierarchy
from comparison_hc.link.merge import alpha_linkage
from comparison_hc.oracles import Counting, SimilarityOracle, run

ALPHA = st.sampled_from([0.02, 0.3, 0.5, 0.8, 0.98])


@st.composite
def orders(draw, low=2, high=6, ties=True):
    "Ranks of distances: with ties, or a permutation."
    n = draw(st.integers(low, high))
    P = n * (n - 1) // 2
    values = (
        draw(arrays(np.int64, P, elements=st.integers(1, 6)))
        if ties and draw(st.booleans())
        else np.array(draw(st.permutations(range(1, P + 1))))
    )
    D = np.zeros((n, n))
    D[np.triu_indices(n, 1)] = values
    return D + D.T


@st.composite
def scales(draw, P=21):
    "An increasing function on 0..P, zero at 0: a table of its values."
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    steps = rng.exponential(size=P) ** draw(st.sampled_from([0.5, 1, 3, 8])) + 1e-9
    return np.append(0, np.cumsum(steps))


def clusters_of(tree):
    return {tuple(sorted(members.tolist())) for _, members in tree.clusters() if len(members) > 1}


def near_far(D, A, B):
    block = [D[i, j] for i in A for j in B]
    return min(block), max(block)


def random_partition(n, seed):
    code = np.random.default_rng(seed).integers(0, 3, n)
    code[:2] = 0, 1  # at least two clusters
    return [tuple(np.flatnonzero(code == c).tolist()) for c in np.unique(code)]


@given(orders(), scales())
def test_ranks_do_not_depend_on_the_scale(D, f):
    R = distance_ranks(D)
    values = sorted(set(D[np.triu_indices(len(D), 1)]))
    for i, j in combinations(range(len(D)), 2):
        assert R[i, j] == R[j, i] == values.index(D[i, j]) + 1
    assert (R.diagonal() == 0).all() and np.array_equal(distance_ranks(f[R]), R)


@given(orders(3), st.integers(0, 1000))
def test_possible_merges_are_the_links_that_nothing_dominates(D, seed):
    clusters = random_partition(len(D), seed)
    value = {frozenset((A, B)): near_far(D, A, B) for A, B in combinations(clusters, 2)}
    front = {
        link
        for link, (s, c) in value.items()
        if not any(s2 <= s and c2 <= c and (s2, c2) != (s, c) for s2, c2 in value.values())
    }
    assert {frozenset(link) for link in possible_merges(D, clusters)} == front


@given(orders(3), st.integers(0, 1000), scales(), ALPHA)
def test_no_scale_merges_what_is_not_possible(D, seed, f, alpha):
    clusters, d = random_partition(len(D), seed), f[distance_ranks(D)]
    cost = {frozenset((A, B)): np.dot((1 - alpha, alpha), near_far(d, A, B)) for A, B in combinations(clusters, 2)}
    least = min(cost.values())
    assert any(cost[frozenset(link)] <= least * (1 + 1e-12) for link in possible_merges(D, clusters))
    if sum(value <= least * (1 + 1e-9) for value in cost.values()) == 1:
        assert min(cost, key=cost.get) in {frozenset(link) for link in possible_merges(D, clusters)}


@given(orders(3), st.integers(0, 1000), ALPHA)
def test_a_scale_merges_whatever_is_possible(D, seed, alpha):
    clusters, R = random_partition(len(D), seed), distance_ranks(D)
    for A, B in possible_merges(D, clusters):
        near, far = near_far(R, A, B)
        d = np.where(R > 0, 1 + 1e-9 * R + 0.5 * (R > near) + 0.5 * (R > far), 0)
        cost = {link: np.dot((1 - alpha, alpha), near_far(d, *link)) for link in combinations(clusters, 2)}
        ours = np.dot((1 - alpha, alpha), near_far(d, A, B))
        for link, value in cost.items():
            assert value > ours + 1e-3 or near_far(R, *link) == (near, far)


@given(orders(2, 5), scales(), ALPHA)
def test_every_tree_is_a_possible_one(D, f, alpha):
    if len(np.unique(D[np.triu_indices(len(D), 1)])) < len(D) * (len(D) - 1) // 2:
        return  # with ties a tree depends on a rule besides
    assert frozenset(clusters_of(alpha_linkage(f[distance_ranks(D)], alpha))) in possible_trees(D)


def test_four_objects_are_the_fewest():
    line = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])
    assert len(possible_trees(line)) == 1
    D = np.array([[0, 1, 2, 6], [1, 0, 4, 7], [2, 4, 0, 3], [6, 7, 3, 0.0]])  # {0,1} to 2: near 2, far 4; 2 to 3: 3
    assert possible_trees(D) == {
        frozenset({(0, 1), (0, 1, 2), (0, 1, 2, 3)}),
        frozenset({(0, 1), (2, 3), (0, 1, 2, 3)}),
    }
    assert clusters_of(alpha_linkage(D, 0.45)) != clusters_of(alpha_linkage(D**3, 0.45))  # 2.9 < 3, but 33.2 > 27


def certain_by_definition(D):
    "Proposition 3 for every subset, until nothing is new."
    n, certain = len(D), {frozenset([i]) for i in range(len(D))}

    def blocks(of):
        return [C for C in certain if C <= of and not any(C < B <= of for B in certain)]

    def holds(G):
        out = frozenset(range(n)) - G
        if any(C & G and not C <= G and not G <= C for C in certain):
            return False
        for size in range(1, len(G)):
            for U in combinations(G, size):
                if out and near_far(D, U, G - set(U))[0] >= near_far(D, U, out)[0]:
                    return False
        inside = [near_far(D, A, B)[1] for A, B in combinations(blocks(G), 2)]
        return not out or max(inside) < min(near_far(D, A, B)[1] for A in blocks(G) for B in blocks(out))

    while True:
        new = {
            G
            for size in range(2, n + 1)
            for G in map(frozenset, combinations(range(n), size))
            if G not in certain and holds(G)
        }
        if not new:
            return {tuple(sorted(C)) for C in certain if len(C) > 1}
        certain.add(min(new, key=lambda G: (len(G), sorted(G))))


@settings(max_examples=60, deadline=None)
@given(orders(2, 6))
def test_certain_clusters_are_those_of_the_definition(D):
    found = scale_invariant_clusters(D)
    assert set(found) == certain_by_definition(D) and len(set(found)) == len(found) < len(D)
    assert found[-1] == tuple(range(len(D)))


@settings(max_examples=60, deadline=None)
@given(orders(2, 6))
def test_certain_clusters_are_in_every_possible_tree(D):
    assert set(scale_invariant_clusters(D)) <= reduce(frozenset.intersection, possible_trees(D))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), scales(P=24 * 23 // 2), st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
def test_certain_clusters_are_in_the_tree_of_every_scale_and_alpha(seed, f, alpha):
    D = as_distances(planted_hierarchy(6, 2, 0.8, 0.2, 0.1, seed).similarity)
    assert set(scale_invariant_clusters(D)) <= clusters_of(alpha_linkage(f[distance_ranks(D)], alpha))


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_separated_groups_are_certain_and_numbering_does_not_matter(alpha):
    rng = np.random.default_rng(0)
    points = np.repeat([0, 100, 300], 7) + rng.uniform(0, 10, 21)
    D, order = np.abs(points[:, None] - points), rng.permutation(21)
    certain = set(scale_invariant_clusters(D))
    groups = {tuple(range(7)), tuple(range(7, 14)), tuple(range(14, 21)), tuple(range(14))}
    assert groups <= certain <= clusters_of(alpha_linkage(D, alpha))
    assert {
        tuple(sorted(order[list(C)].tolist())) for C in scale_invariant_clusters(D[np.ix_(order, order)])
    } == certain


@pytest.mark.parametrize("seed", range(4))
def test_linkage_by_questions(seed):
    W = planted_hierarchy(5, 2, 0.8, 0.1, 0.1, seed).similarity
    D, oracle = as_distances(W), Counting(SimilarityOracle(W))
    result = run(ordinal_linkage(20, 0.3, rng=seed), oracle)
    assert isinstance(result, OrdinalLinkage)
    assert np.array_equal(result.ranks, distance_ranks(D))
    assert 0 < oracle.n_queries < 190 * 189 / 2
    assert result.dendrogram == alpha_linkage(distance_ranks(D), 0.3)
    assert set(result.certain) == set(scale_invariant_clusters(D))
    assert set(result.certain) | set(result.undecided) == clusters_of(result.dendrogram)
    assert not set(result.certain) & set(result.undecided)
    for alpha in (0, 1):
        assert run(ordinal_linkage(20, alpha), oracle).dendrogram.same_tree(alpha_linkage(D, alpha))


@pytest.mark.parametrize("scale", ["linear", "root", "ranks"])
def test_distances_turn_the_order_round(scale):
    S = np.random.default_rng(1).normal(size=(7, 7))
    S = S + S.T
    given_ = S.copy()
    D = as_distances(S, scale)
    above = np.triu_indices(7, 1)
    assert np.array_equal(S, given_) and (D >= 0).all() and (D.diagonal() == 0).all() and np.array_equal(D, D.T)
    assert np.array_equal(np.argsort(-S[above]), np.argsort(D[above]))


def test_the_formulas_of_the_scales():
    S = [[5, 4, 0], [4, 5, 3], [0, 3, 5]]
    assert as_distances(S)[0].tolist() == [0, 0, 4]
    assert as_distances(S, "root")[0].tolist() == [0, 0, 2]
    assert as_distances(S, "ranks").tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]


D8 = np.abs(np.subtract.outer(np.arange(8.0) ** 2, np.arange(8.0) ** 2))


EIGHT = tuple(range(8))
test_bad_input_says_what_is_wrong = refusals(
    ("^D must be .*; got ", distance_ranks, [[0, 1], [2, 0]], [[0]]),
    ("^D must be .*; got ", scale_invariant_clusters, -D8, [[0, np.nan], [np.nan, 0]]),
    ("^D must be .*; got ", possible_trees, D8),
    (
        "^clusters .*must be .*; got ",
        partial(possible_merges, D8),
        [(0, 1)],
        [EIGHT],
        [EIGHT, (0,)],
        [(), EIGHT],
        "all",
    ),
    ("^an object of clusters must be .*; got ", partial(possible_merges, D8), [(0.5,), EIGHT[1:]], [(8,), EIGHT]),
    ("^n must be .*; got ", ordinal_linkage, 1, 10**6),
    ("^alpha must be .*; got ", partial(ordinal_linkage, 5), 2),
    ("^similarity .*must be .*; got ", as_distances, [[1]], [[0, 1], [2, 0]]),
    ("^scale must be .*; got ", partial(as_distances, D8), "log"),
)
