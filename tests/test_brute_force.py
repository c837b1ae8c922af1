"""Every method against its definition, in exact fractions, on a hundred tiny instances each that nobody chose; and
renaming the objects renames the tree, wherever nothing is tied.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import test_average
import test_hierarchical_triplets
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc import Quadruplets, Triplets
from comparison_hc.hierarchical import (
    complete_linkage,
    kernel_average_linkage,
    kernel_passive,
    quadruplet_average_linkage,
    single_linkage,
    triplet_average_linkage,
    triplet_kernel,
)
from comparison_hc.oracles import SimilarityOracle, run

tiny = settings(deadline=None, derandomize=True, max_examples=120)
sizes, seeds, flags = st.integers(3, 6), st.integers(0, 2**32 - 1), st.booleans()


def clusters_of(tree):
    "The clusters of a tree."
    return {frozenset(members.tolist()) for _, members in tree.clusters()}


def agglomerated(n, similarity):
    """(clusters of a tree, tied): merge the most similar two, where the similarity of two clusters is given; by
    definition.
    """
    clusters, found, tied = [(i,) for i in range(n)], {frozenset([i]) for i in range(n)}, False
    while len(clusters) > 1:
        value = {link: similarity(*link) for link in combinations(clusters, 2)}
        best = [link for link, v in value.items() if v == max(value.values())]
        tied |= len(best) > 1
        (a, b), *_ = best
        clusters = [c for c in clusters if c not in (a, b)] + [a + b]
        found.add(frozenset(a + b))
    return found, tied


def renamed(rows, initial, n, rng):
    "(order, rows, initial clusters) when object order[i] is called i."
    order = rng.permutation(n)
    place = np.argsort(order)
    return (
        order,
        place[np.array(rows)],
        None if initial is None else [[int(place[i]) for i in cluster] for cluster in initial],
    )


def check_renaming(method, make, rows, initial, n, rng):
    "The tree of renamed answers is the renamed tree."
    order, others, start = renamed(rows, initial, n, rng)
    assert method(make(others, n), start).same_tree(method(make(rows, n), initial).relabel(order))


@pytest.mark.parametrize("algorithm, strength", [(single_linkage, max), (complete_linkage, min)], ids=["SL", "CL"])
@tiny
@given(n=st.integers(2, 7), seed=seeds)
def test_linkage_by_questions(algorithm, strength, n, seed):
    rng = np.random.default_rng(seed)
    w = np.triu(rng.permutation(n * n).reshape(n, n), 1).astype(float)
    w += w.T  # no ties
    tree, order = run(algorithm(n, rng=seed), SimilarityOracle(w)), rng.permutation(n)
    assert clusters_of(tree) == agglomerated(n, lambda a, b: strength(w[i, j] for i in a for j in b))[0]
    assert run(algorithm(n, rng=seed), SimilarityOracle(w[np.ix_(order, order)])).same_tree(tree.relabel(order))


@tiny
@given(n=sizes, seed=seeds, with_clusters=flags)
def test_4_al(n, seed, with_clusters):
    rng = np.random.default_rng(seed)
    rows, initial = (
        test_average.random_rows(rng, n, int(rng.integers(5, 60))),
        test_average.random_partition(rng, n) if with_clusters else None,
    )
    expected, tied = test_average.by_definition(rows, n, initial)
    assert test_average.merges_of(
        quadruplet_average_linkage(Quadruplets(rows, n), initial)
    ) == test_average.sorted_pairs(expected)
    if not tied:
        check_renaming(quadruplet_average_linkage, Quadruplets, rows, initial, n, rng)


@pytest.mark.parametrize("sort", [True, False])
@tiny
@given(n=sizes, seed=seeds, with_clusters=flags)
def test_3_al(sort, n, seed, with_clusters):
    rng = np.random.default_rng(seed)
    rows, initial = (
        test_hierarchical_triplets.random_rows(rng, n, int(rng.integers(5, 60))),
        test_hierarchical_triplets.random_partition(rng, n) if with_clusters else None,
    )
    expected, tied = test_hierarchical_triplets.tree_by_definition(rows, n, initial, sort)
    method = lambda answers, start: triplet_average_linkage(answers, start, sort)
    assert test_hierarchical_triplets.merges_of(method(Triplets(rows, n), initial)) == expected
    if not tied:
        check_renaming(method, Triplets, rows, initial, n, rng)


def products(votes, n, questions, self_pairs):
    "K_ij by definition: how often i and j say the same about a question, less how often the opposite."
    return [
        [sum(votes(i, y) * votes(j, y) for y in questions(i, j)) if i != j else 0 for j in range(n)] for i in range(n)
    ]


@pytest.mark.parametrize("self_pairs", [False, True])
@tiny
@given(n=sizes, seed=seeds)
def test_4k_al(self_pairs, n, seed):
    rng = np.random.default_rng(seed)
    rows, pairs, balance = (
        test_average.random_rows(rng, n, int(rng.integers(20, 90))),
        [frozenset(p) for p in combinations(range(n), 2)],
        {},
    )
    for i, j, k, l in rows:
        x, y = frozenset((i, j)), frozenset((k, l))
        balance[x, y], balance[y, x] = balance.get((x, y), 0) + 1, balance.get((y, x), 0) - 1

    def vote(i, look):
        r, y = look
        return int(self_pairs) if i == r else int(np.sign(balance.get((frozenset((i, r)), y), 0)))

    K = products(vote, n, lambda i, j: [(r, y) for r in range(n) for y in pairs], self_pairs)
    check_kernel(
        K,
        lambda answers, start: kernel_average_linkage(kernel_passive(answers, self_pairs=self_pairs)),
        Quadruplets,
        rows,
        n,
        rng,
    )


@pytest.mark.parametrize("self_pairs", [False, True])
@tiny
@given(n=sizes, seed=seeds)
def test_3k_al(self_pairs, n, seed):
    rng = np.random.default_rng(seed)
    rows, balance = test_hierarchical_triplets.random_rows(rng, n, int(rng.integers(20, 90))), {}
    for i, j, k in rows:
        balance[i, j, k], balance[i, k, j] = balance.get((i, j, k), 0) + 1, balance.get((i, k, j), 0) - 1

    def vote(i, pair):
        j, k = pair
        if i in pair:
            return int(self_pairs) * (1 if i == j else -1)
        return int(np.sign(balance.get((i, j, k), 0)))

    K = products(vote, n, lambda i, j: combinations(range(n), 2), self_pairs)
    check_kernel(
        K,
        lambda answers, start: kernel_average_linkage(triplet_kernel(answers, normalise=False, self_pairs=self_pairs)),
        Triplets,
        rows,
        n,
        rng,
    )


def check_kernel(K, method, make, rows, n, rng):
    """Average linkage on a kernel by definition, and renaming; only where nothing is tied, because SciPy breaks ties
    its own way.
    """
    expected, tied = agglomerated(n, lambda a, b: Fraction(sum(K[i][j] for i in a for j in b), len(a) * len(b)))
    if tied:
        return
    assert clusters_of(method(make(rows, n), None)) == expected
    check_renaming(method, make, rows, None, n, rng)
