"""The planted hierarchical model against its definition, entry by entry."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.hierarchical.planted import _level_labels, planted_hierarchy

shapes = st.tuples(st.integers(1, 5), st.integers(1, 4))


def level_of_meeting(a, b, L):
    "How many splits from the root two pure clusters share, going down bit by bit (F19, section 2.2)."
    level = 0
    while level < L and a >> (L - 1 - level) == b >> (L - 1 - level):
        level += 1
    return level


@given(shapes, st.floats(-2, 2), st.floats(0, 1), st.integers(0, 99))
def test_means_by_definition(shape, mu, delta, seed):
    N0, L = shape
    planted = planted_hierarchy(N0, L, mu, delta, 0.0, seed)
    N = N0 * 2**L
    expected = [[mu - delta * (L - level_of_meeting(i // N0, j // N0, L)) for j in range(N)] for i in range(N)]
    np.testing.assert_allclose(planted.ideal, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(planted.similarity, planted.ideal)  # no noise at sigma = 0


@given(shapes, st.integers(0, 99))
def test_structure(shape, seed):
    N0, L = shape
    planted = planted_hierarchy(N0, L, 0.8, 0.1, 0.1, seed)
    N, w = N0 * 2**L, planted.similarity
    assert w.shape == (N, N) and (w == w.T).all() and planted.labels.tolist() == [i // N0 for i in range(N)]
    assert [len(set(level)) for level in planted.levels.tolist()] == [2**l for l in range(1, L + 1)]
    tree = planted.dendrogram
    assert (
        isinstance(tree, Dendrogram)
        and tree.n_leaves == 2**L
        and tree.n_objects == N
        and [len(c) for c in tree.initial_clusters] == [N0] * 2**L
    )
    for l in range(1, L + 1):
        np.testing.assert_array_equal(tree.cut(2**l), planted.levels[l - 1])
    expected = [[N0 * 2 ** (L - level_of_meeting(i // N0, j // N0, L)) for j in range(N)] for i in range(N)]
    np.testing.assert_array_equal(tree.lca_size(), expected)
    for array in (w, planted.ideal, planted.labels):
        with pytest.raises(ValueError):
            array[0] = 0


def test_noise_has_the_stated_mean_and_spread():
    "N(N−1)/2 = 28,680 independent residuals; each bound fails for about one seed in a million, and the seed is fixed."
    planted = planted_hierarchy(30, 3, 0.8, 0.1, 0.25, 17)
    residual = (planted.similarity - planted.ideal)[np.triu_indices(240, 1)]
    assert abs(residual.mean()) < 4.9 * 0.25 / sqrt(28_680)
    assert abs(residual.var() / 0.25**2 - 1) < 4.9 * sqrt(2 / 28_680)
    assert abs((residual > 0.25).mean() - 0.158655) < 4.9 * sqrt(
        0.1587 * 0.8413 / 28_680
    )  # Gaussian beyond one standard deviation


def test_same_seed_same_bits_and_generators_move_on():
    draw = lambda rng: planted_hierarchy(3, 2, 0.8, 0.1, 0.1, rng).similarity.tobytes()
    rng = np.random.default_rng(5)
    assert draw(5) == draw(5) == draw(rng) != draw(rng) and draw(5) != draw(6)


@pytest.mark.parametrize(
    "wrong", [dict(n_pure=0), dict(n_levels=0), dict(sigma=-1), dict(delta=float("nan")), dict(rng="seed")]
)
def test_impossible_settings_are_refused_by_name(wrong):
    settings = dict(n_pure=2, n_levels=2, mu=0.8, delta=0.1, sigma=0.1, rng=0)
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        planted_hierarchy(**{**settings, **wrong})


def test_pairs_parted_at_every_level():
    "N = 240 in eight pure clusters of 30: half of an object's partners are parted at the root, and so on downwards."
    low, high = np.triu_indices(240, 1)
    levels = _level_labels(np.repeat(range(8), 30), 3)
    parted = (levels[:, low] != levels[:, high]).sum(axis=0)
    assert np.bincount(parted).tolist() == [8 * 30 * 29 // 2, 4 * 30 * 30, 2 * 60 * 60, 120 * 120]
