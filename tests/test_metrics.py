"Metrics: each against its definition, each under relabelling, each refusing bad input."

from itertools import combinations, permutations
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import trees

from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, _all_merge_orders
from comparison_hc.metrics import (
    Agreement,
    _count_agreement,
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

tries = settings(deadline=None, derandomize=True, max_examples=30)


def similarities(n, seed):
    w = np.random.default_rng(seed).normal(size=(n, n))
    w = w + w.T
    np.fill_diagonal(w, np.nan)
    return w


# ---- partitions


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
@tries
def test_ari_is_its_definition_and_scikit_learns(rows):
    from sklearn.metrics import adjusted_rand_score

    a, b = zip(*rows)
    together = [np.array([x == y for x, y in combinations(labels, 2)]) for labels in (a, b)]
    both, mean = np.sum(together[0] & together[1]), np.mean([pairs.sum() for pairs in together])
    chance = together[0].sum() * together[1].mean()
    assert adjusted_rand_index(a, b) == pytest.approx(1 if mean == chance else (both - chance) / (mean - chance))
    assert adjusted_rand_index([f"class {x}" for x in a], b) == adjusted_rand_index(b, a) == adjusted_rand_score(a, b)


@given(trees(8), st.integers(0, 999))
@tries
def test_average_ari_is_the_mean_over_levels(tree, seed):
    truth = np.array(
        [np.random.default_rng([seed, r]).integers(0, min(1 + r, tree.n_leaves), tree.n_objects) for r in range(3)]
    )
    by_hand = np.mean([adjusted_rand_index(row, tree.cut(len(set(row.tolist())))) for row in truth])
    assert average_ari(truth, tree) == pytest.approx(by_hand)
    assert average_ari(truth[1], tree) == average_ari(truth[1:2], tree) == average_ari(truth[1:2].tolist(), tree)
    order = np.random.default_rng(seed).permutation(tree.n_objects)
    assert average_ari(truth[:, order], tree.relabel(order)) == pytest.approx(by_hand)


def test_average_ari_of_a_tree_as_truth():
    planted = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)], [[0, 1], [2, 3], [4, 5], [6, 7]])
    rows = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3]])
    other = Dendrogram.from_merges([(1, 2), (0, 8), (4, 5), (6, 7), (9, 3), (10, 11), (12, 13)])
    assert average_ari(planted, planted) == 1
    assert average_ari(planted, other) == average_ari(rows, other)


def test_average_ari_can_be_negative():
    assert average_ari([0, 0, 1, 1], Dendrogram.from_merges([(0, 2), (1, 3), (4, 5)])) == pytest.approx(-0.5)


# ---- similarities


def cost_by_definition(tree, w):
    clusters = [set(members.tolist()) for _, members in tree.clusters()]
    return sum(
        w[i, j] * min(len(C) for C in clusters if {i, j} <= C) for i, j in combinations(range(tree.n_objects), 2)
    )


@given(trees(7), st.integers(0, 999))
@tries
def test_cost_and_revenue(tree, seed):
    n, w = tree.n_objects, similarities(tree.n_objects, seed)
    kept = w.copy()
    cost, revenue = dasgupta_cost(tree, w), moseley_wang_revenue(tree, w)
    assert cost == pytest.approx(cost_by_definition(tree, w))
    assert cost + revenue == pytest.approx(n * w[np.triu_indices(n, 1)].sum())
    order = np.random.default_rng(seed).permutation(n)
    assert dasgupta_cost(tree.relabel(order), w[np.ix_(order, order)]) == pytest.approx(cost)
    assert np.array_equal(w, kept, equal_nan=True)


@given(trees(9, groups=False))
@tries
def test_equal_similarities_make_all_trees_equal(tree):
    n = tree.n_leaves
    assert dasgupta_cost(tree, np.ones((n, n))) == (n**3 - n) / 3


def test_cost_agrees_with_scipy_cophenetic_sizes():
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    Z = linkage(np.random.default_rng(0).normal(size=(20, 3)), "average")
    w, sizes = similarities(20, 1), Z.copy()
    sizes[:, 2] = Z[:, 3]  # heights that are sizes: cophenetic distance = |C^lca|
    assert dasgupta_cost(Dendrogram.from_linkage(Z), w) == pytest.approx(
        np.nansum(np.triu(squareform(cophenet(sizes)), 1) * np.nan_to_num(w))
    )


# ---- answers


def verdict(tree, i, j, k, l):
    def meet(x, y):
        node = next(node for node, members in tree.clusters() if {x, y} <= set(members.tolist()))
        return max(node - tree.n_leaves + 1, 0)

    return int(np.sign(meet(k, l) - meet(i, j)))


def counted(verdicts):
    return Agreement(verdicts.count(1), verdicts.count(-1), verdicts.count(0))


@given(trees(6, least=4), st.integers(0, 999))
@tries
def test_agreement_is_its_definition(tree, seed):
    n, rng = tree.n_objects, np.random.default_rng(seed)
    rows = np.array([rng.permutation(n)[:4] for _ in range(25)])
    triplets, quadruplets = Triplets(rows[:, :3], n), Quadruplets(rows, n)
    three, four = (
        counted([verdict(tree, i, j, i, k) for i, j, k, _ in rows.tolist()]),
        counted([verdict(tree, *row) for row in rows.tolist()]),
    )
    assert (
        agreement(tree, triplets) == agreement(tree, rows[:, :3]) == agreement(tree, triplets.to_quadruplets()) == three
    )
    assert agreement(tree, quadruplets) == agreement(tree, rows) == four
    assert (
        triplet_agreement(tree, triplets) == three.fraction == quadruplet_agreement(tree, triplets)
        and quadruplet_agreement(tree, rows) == four.fraction
    )
    order = rng.permutation(n)
    assert agreement(tree.relabel(order), np.argsort(order)[rows]) == four
    swapped = agreement(tree, rows[:, [2, 3, 0, 1]])
    assert (swapped.agree, swapped.disagree, swapped.undecided) == (four.disagree, four.agree, four.undecided)


def test_agreement_in_blocks():
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)])
    rows = Triplets(np.array([np.random.default_rng(s).permutation(4)[:3] for s in range(100)]))
    assert all(_count_agreement(tree, rows, block) == agreement(tree, rows) for block in (1, 7, 100, 1000))


@given(trees(7, groups=False, least=3))
@tries
def test_a_third_of_all_triplets_is_undecided(tree):
    all_of_them = agreement(tree, list(permutations(range(tree.n_leaves), 3)))
    assert all_of_them.agree == all_of_them.disagree == all_of_them.undecided


def test_agreement_shows_itself():
    shown = Agreement(1200, 300, 500)
    assert (shown.total, shown.fraction) == (2000, 0.6)
    assert str(shown).splitlines() == ["agree     1,200   60.0%", "disagree    300   15.0%", "undecided   500   25.0%"]
    assert "1,200" in shown._repr_html_() and np.isnan(Agreement(0, 0, 0).fraction)
    with pytest.raises(AttributeError):
        shown.agree = 3


@given(st.integers(0, 999), st.sampled_from([3, 4]), st.sampled_from([0, 0.25, 0.5]))
@tries
def test_noise_ceiling_bounds_every_tree(seed, width, undecided):
    rng = np.random.default_rng(seed)
    rows, weights = np.array([rng.permutation(5)[:width] for _ in range(9)]), rng.integers(1, 4, 9)
    ceiling = noise_ceiling(rows, weights, undecided)
    repeated = np.repeat(rows, weights, axis=0)
    assert ceiling == pytest.approx(noise_ceiling(repeated, undecided=undecided)) and ceiling <= 1
    for tree in _all_merge_orders(5)[::7] + [Dendrogram.from_merges([], [range(5)])]:
        found = agreement(tree, repeated)
        assert (found.agree + undecided * found.undecided) / found.total <= ceiling + 1e-12
    assert noise_ceiling(Triplets(rows[:, :3], 5, weights=weights)) == noise_ceiling(Triplets(rows[:, :3], 5), weights)


def test_noise_ceiling_by_hand():
    for rows, expected in (
        ([(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1)], 2 / 4),  # the pair 01 is named twice, the pair 02 twice
        ([(0, 1, 2), (0, 1, 2), (3, 4, 5)], 1),
        ([(0, 1, 2, 3), (0, 1, 2, 3), (2, 3, 0, 1)], 2 / 3),
    ):
        assert noise_ceiling(rows, undecided=0) == expected
    every = np.array(list(combinations(range(6), 3)))
    assert noise_ceiling(Triplets.from_odd_one_out(every)) == 1
    assert noise_ceiling(Triplets.from_central(every), undecided=0) == 0.5
    assert noise_ceiling([(0, 1, 2), (2, 1, 0)], undecided=0.5) == 0.75  # 01 first: one agrees, one is undecided
    assert isnan(noise_ceiling(Triplets([(0, 1, 2), (0, 2, 1)]).majority()))
    for row in ((0, 1, 2), (3, 1, 2)):  # three objects exactly are attained
        trees = _all_merge_orders(4)
        some = [row, row[::-1], (row[1], row[2], row[0])]
        assert max(triplet_agreement(tree, some) for tree in trees) == noise_ceiling(some, undecided=0)


# ---- bad input

tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)])
w = np.ones((4, 4))
bent = w.copy()
bent[0, 1] = 2
hole = w.copy()
hole[0, 1] = hole[1, 0] = np.nan


@pytest.mark.parametrize(
    "call, names",
    [
        (lambda: adjusted_rand_index([[0, 1]], [0, 1]), "a must be"),
        (lambda: adjusted_rand_index([0, 1], [0, 1, 1]), "b must be of length 2"),
        (lambda: adjusted_rand_index([0, None], [0, 1]), "a must be free of missing"),
        (lambda: average_ari([0, 0, 1, 1], "tree"), "dendrogram must be a Dendrogram"),
        (lambda: average_ari([0, 0, 1], tree), "truth must be of length 4"),
        (lambda: average_ari([[0, 0, 1, 1], [0, 1]], tree), "truth must be"),
        (lambda: average_ari([[0, 0, 1]], tree), "row 0 of truth must be of length 4"),
        (lambda: average_ari(np.zeros((0, 4)), tree), "truth must be"),
        (lambda: average_ari(np.zeros((1, 1, 4)), tree), "truth must be"),
        (lambda: average_ari(3, tree), "truth must be"),
        (lambda: average_ari(Dendrogram.from_merges([(0, 1), (2, 3)], [[0, 3], [1], [2]]), tree), "2^L leaves"),
        (lambda: average_ari(Dendrogram.from_merges([], [[0, 1, 2, 3]]), tree), "2^L leaves"),
        (lambda: average_ari(Dendrogram.from_merges([(0, 1)]), tree), "truth must be a tree over the 4 objects"),
        (lambda: average_ari([0, 1, 2, 3], tree.coarsen(2)), "truth must be made of at most 2 clusters"),
        (lambda: dasgupta_cost(None, w), "dendrogram must be a Dendrogram"),
        (lambda: dasgupta_cost(tree, np.ones((3, 3))), "similarity must be of shape (4, 4)"),
        (lambda: dasgupta_cost(tree, bent), "similarity must be symmetric"),
        (lambda: moseley_wang_revenue(tree, hole), "similarity must be finite"),
        (lambda: moseley_wang_revenue(tree.linkage_matrix, w), "dendrogram must be a Dendrogram"),
        (lambda: agreement(None, [(0, 1, 2)]), "dendrogram must be a Dendrogram"),
        (lambda: agreement(tree, [(0, 1, 4)]), "n_objects = 4"),
        (lambda: agreement(tree, Triplets([(0, 1, 2)], 5)), "triplets must be about the 4 objects"),
        (lambda: agreement(tree, Quadruplets([(0, 1, 2, 3)], 5)), "quadruplets must be about the 4 objects"),
        (lambda: agreement(tree, [(0, 1)]), "comparisons must be"),
        (lambda: triplet_agreement(tree, Quadruplets([(0, 1, 2, 3)])), "triplets must be"),
        (lambda: triplet_agreement(tree, [(0, 0, 1)]), "row 0 of triplets"),
        (lambda: triplet_agreement(0, [(0, 1, 2)]), "dendrogram must be a Dendrogram"),
        (lambda: quadruplet_agreement(tree, [(0, 1, 1, 0)]), "row 0 of quadruplets"),
        (lambda: quadruplet_agreement(0, [(0, 1, 2, 3)]), "dendrogram must be a Dendrogram"),
        (lambda: noise_ceiling([(0, 1, 2)], undecided=2), "undecided must be a number in [0, 0.5]"),
        (lambda: noise_ceiling([(0, 1, 2)], [1, 1]), "weights must be 1 numbers"),
        (lambda: pruning_loss("tree", [0, 1, 2, 3]), "dendrogram must be a Dendrogram"),
        (lambda: pruning_loss(tree, [0, 1, 2]), "labels must be of length 4"),
        (lambda: pruning_loss(tree, [0, 1, 2, np.nan]), "labels must be free of missing"),
        (lambda: pruning_loss(tree, [0, 1, 2, 3], 5), "n_clusters must be an integer from 1 to 4"),
        (lambda: pruning_loss(tree, [0, 1, 2, 3], 2.0), "n_clusters must be an integer"),
        (
            lambda: pruning_loss(tree.coarsen(2), [0, 1, 2, 3]),
            "n_clusters (by default the number of classes) must be an integer from 1 to 2",
        ),
        (lambda: best_pruning(tree, [0, 1, 2, 3], True), "n_clusters must be an integer"),
        (lambda: best_pruning(tree, "abcd"), "labels must be"),
        (lambda: majority_loss(tree, [], 2), "labels must be"),
        (lambda: majority_loss(tree, [0, 1, 2, 3], 0), "n_clusters must be"),
        (lambda: majority_loss(tree.coarsen(2), [0, 1, 2, 3]), "n_clusters (by default"),
    ],
)
def test_bad_input_is_named(call, names):
    with pytest.raises(InputError) as error:
        call()
    assert names in str(error.value) and "; got " in str(error.value)
