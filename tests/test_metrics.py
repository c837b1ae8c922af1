"Metrics: each against its definition, each under renaming, each refusing bad input."

from itertools import combinations
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import trees

from comparison_hc import metrics
from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, _all_merge_orders
from comparison_hc.flat import adds3
from comparison_hc.metrics import Agreement, adjusted_rand_index, agreement, average_ari, dasgupta_cost, noise_ceiling

tries = settings(deadline=None, derandomize=True, max_examples=30)


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
    rng = np.random.default_rng(seed)
    truth = np.array([rng.integers(0, min(level, tree.n_leaves), tree.n_objects) for level in (1, 2, 3)])
    by_hand = np.mean([adjusted_rand_index(row, tree.cut(len(set(row.tolist())))) for row in truth])
    assert average_ari(truth, tree) == pytest.approx(by_hand)
    assert average_ari(truth[1], tree) == average_ari(truth[1:2], tree) == average_ari(truth[1:2].tolist(), tree)
    order = rng.permutation(tree.n_objects)
    assert average_ari(truth[:, order], tree.relabel(order)) == pytest.approx(by_hand)


def test_average_ari_by_hand():
    planted = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)], [[0, 1], [2, 3], [4, 5], [6, 7]])
    other = Dendrogram.from_merges([(1, 2), (0, 8), (4, 5), (6, 7), (9, 3), (10, 11), (12, 13)])
    levels = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3]])
    assert average_ari(planted, planted) == 1 and average_ari(planted, other) == average_ari(levels, other)
    assert average_ari([0, 0, 1, 1], Dendrogram.from_merges([(0, 2), (1, 3), (4, 5)])) == pytest.approx(-0.5)


@given(trees(7), st.integers(0, 999))
@tries
def test_cost_and_revenue(tree, seed):
    n, rng = tree.n_objects, np.random.default_rng(seed)
    w = rng.normal(size=(n, n))
    w = w + w.T
    np.fill_diagonal(w, np.nan)
    kept, clusters = w.copy(), [set(members.tolist()) for _, members in tree.clusters()]
    pairs = list(combinations(range(n), 2))
    cost = dasgupta_cost(tree, w)
    assert cost == pytest.approx(sum(w[i, j] * min(len(C) for C in clusters if {i, j} <= C) for i, j in pairs))
    assert cost + metrics.moseley_wang_revenue(tree, w) == pytest.approx(n * sum(w[pair] for pair in pairs))
    order = rng.permutation(n)
    assert dasgupta_cost(tree.relabel(order), w[np.ix_(order, order)]) == pytest.approx(cost)
    assert np.array_equal(w, kept, equal_nan=True)
    if tree.n_leaves == n:
        assert dasgupta_cost(tree, np.ones((n, n))) == (n**3 - n) / 3


@given(trees(6, least=4), st.integers(0, 999))
@tries
def test_comparison_revenue_is_its_definition(tree, seed):
    n, rng = tree.n_objects, np.random.default_rng(seed)
    clusters = [set(members.tolist()) for _, members in tree.clusters()]
    rows = [rng.permutation(n)[:3].tolist() for _ in range(20)]
    size = {(a, b): min(len(C) for C in clusters if {a, b} <= C) for a in range(n) for b in range(n)}
    earned = [size[i, k] - size[i, j] for i, j, k in rows]
    assert metrics.comparison_revenue(tree, rows) == sum(earned) == -dasgupta_cost(tree, adds3(rows, n))
    fours = Triplets(rows, n).to_quadruplets()
    assert metrics.comparison_revenue(tree, fours) == sum(earned)
    weights, order = rng.integers(1, 4, 20), rng.permutation(n)
    weighted = metrics.comparison_revenue(tree, Triplets(rows, n, weights=weights))
    assert weighted == weights @ earned == metrics.comparison_revenue(tree, np.repeat(rows, weights, axis=0))
    names = np.empty(n, dtype=int)
    names[order] = np.arange(n)
    assert metrics.comparison_revenue(tree.relabel(order), names[np.array(rows)]) == sum(earned)
    other_way = [(i, k, j) for i, j, k in rows]
    assert metrics.comparison_revenue(tree, other_way) == -sum(earned)


@given(trees(6, least=4), st.integers(0, 999))
@tries
def test_agreement_is_its_definition(tree, seed):
    n, rng = tree.n_objects, np.random.default_rng(seed)
    rows = np.array([rng.permutation(n)[:4] for _ in range(25)])

    def meet(x, y):
        node = next(node for node, members in tree.clusters() if {x, y} <= set(members.tolist()))
        return max(node - tree.n_leaves + 1, 0)

    def counted(rows):
        signs = [np.sign(meet(k, l) - meet(i, j)) for i, j, k, l in rows.tolist()]
        return Agreement(signs.count(1), signs.count(-1), signs.count(0))

    three, four, triplets = counted(rows[:, [0, 1, 0, 2]]), counted(rows), Triplets(rows[:, :3], n)
    for some in (triplets, rows[:, :3], triplets.to_quadruplets()):
        assert agreement(tree, some) == three
    assert agreement(tree, Quadruplets(rows, n)) == agreement(tree, rows) == four
    assert metrics.triplet_agreement(tree, triplets) == metrics.quadruplet_agreement(tree, triplets) == three.fraction
    assert metrics.quadruplet_agreement(tree, rows) == four.fraction
    order = rng.permutation(n)
    assert agreement(tree.relabel(order), np.argsort(order)[rows]) == four
    assert agreement(tree, rows[:, [2, 3, 0, 1]]) == Agreement(four.disagree, four.agree, four.undecided)
    assert all(metrics._count_agreement(tree, triplets, block) == three for block in (1, 7, 25, 100))


def test_agreement_shows_itself():
    shown = Agreement(1200, 300, 500)
    assert (shown.total, shown.fraction) == (2000, 0.6) and isnan(Agreement(0, 0, 0).fraction)
    assert str(shown).splitlines() == ["agree     1,200   60.0%", "disagree    300   15.0%", "undecided   500   25.0%"]
    assert "1,200" in shown._repr_html_()


@given(st.integers(0, 999), st.sampled_from([3, 4]), st.sampled_from([0, 0.25, 0.5]))
@tries
def test_noise_ceiling_bounds_every_tree(seed, width, undecided):
    rng = np.random.default_rng(seed)
    rows, weights = np.array([rng.permutation(5)[:width] for _ in range(9)]), rng.integers(1, 4, 9)
    repeated, ceiling = np.repeat(rows, weights, axis=0), noise_ceiling(rows, weights, undecided)
    assert ceiling == pytest.approx(noise_ceiling(repeated, undecided=undecided)) and ceiling <= 1
    for tree in _all_merge_orders(5)[::7] + [Dendrogram.from_merges([], [range(5)])]:
        found = agreement(tree, repeated)
        assert (found.agree + undecided * found.undecided) / found.total <= ceiling + 1e-12
    assert noise_ceiling(Triplets(rows[:, :3], 5, weights=weights)) == noise_ceiling(Triplets(rows[:, :3], 5), weights)


def test_noise_ceiling_by_hand():
    every = np.array(list(combinations(range(6), 3)))
    for rows, undecided, expected in (
        ([(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1)], 0, 2 / 4),  # the pair 01 is named twice, the pair 02 twice
        ([(0, 1, 2), (0, 1, 2), (3, 4, 5)], 0, 1),
        ([(0, 1, 2, 3), (0, 1, 2, 3), (2, 3, 0, 1)], 0, 2 / 3),
        ([(0, 1, 2), (2, 1, 0)], 0.5, 0.75),  # 01 first: one agrees, one is undecided
        (Triplets.from_odd_one_out(every), 0.5, 1),
        (Triplets.from_central(every), 0, 0.5),
    ):
        assert noise_ceiling(rows, undecided=undecided) == expected
    assert isnan(noise_ceiling(Triplets([(0, 1, 2), (0, 2, 1)]).majority()))
    for row in ((0, 1, 2), (3, 1, 2)):  # about three objects only, the bound is attained
        some = [row, row[::-1], (row[1], row[2], row[0])]
        reached = max(metrics.triplet_agreement(tree, some) for tree in _all_merge_orders(4))
        assert reached == noise_ceiling(some, undecided=0)


# ---- bad input

tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)])
two = tree.coarsen(2)
BAD = {  # what the values of `test_bad_input` do not reach
    "adjusted_rand_index": {
        "a must be a non-empty one-dimensional": ([[0, 1]], [0, 1]),
        "b must be of length 2": ([0, 1], [0, 1, 1]),
        "a must be free of missing": ([0, None], [0, 1]),
    },
    "average_ari": {
        "row 0 of truth must be of length 4": ([[0, 0, 1]], tree),
        "2^L leaves": (Dendrogram.from_merges([(0, 1), (2, 3)], [[0, 3], [1], [2]]), tree),
        "truth must be a tree over the 4 objects": (Dendrogram.from_merges([(0, 1)]), tree),
        "truth must be made of at most 2 clusters": ([0, 1, 2, 3], two),
    },
    "dasgupta_cost": {"similarity must be of shape (4, 4)": (tree, np.ones((3, 3)))},
    "moseley_wang_revenue": {"similarity must be of entries whose weighted sum": (tree, np.full((4, 4), 1e308))},
    "comparison_revenue": {"row 0 of": (tree, [(0, 0, 1)])},
    "agreement": {
        "triplets must be about the 4 objects": (tree, Triplets([(0, 1, 2)], 5)),
        "quadruplets must be about the 4 objects": (tree, Quadruplets([(0, 1, 2, 3)], 5)),
    },
    "triplet_agreement": {
        "triplets must be": (tree, Quadruplets([(0, 1, 2, 3)])),
        "row 0 of triplets": (tree, [(0, 0, 1)]),
    },
    "quadruplet_agreement": {"row 0 of quadruplets": (tree, [(0, 1, 1, 0)])},
    "noise_ceiling": {
        "undecided must be a number in [0, 0.5]": ([(0, 1, 2)], None, 2),
        "weights must be 1 numbers": ([(0, 1, 2)], [1, 1]),
    },
    "pruning_loss": {
        "n_clusters (by default the number of classes) must be an integer from 1 to 2": (two, [0, 1, 2, 3])
    },
    "majority_loss": {"n_clusters (by default": (two, [0, 1, 2, 3])},
}


@pytest.mark.parametrize("name, text", [(name, text) for name, cases in BAD.items() for text in cases])
def test_bad_input_is_named(name, text):
    with pytest.raises(InputError) as error:
        getattr(metrics, name)(*BAD[name][text])
    assert text in str(error.value) and "; got " in str(error.value)
