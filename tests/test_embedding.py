"""Embeddings: losses and gradients equal their definitions, optimisers report what they did, points become trees."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.optimize import check_grad, minimize
from scipy.spatial.distance import pdist
from shared import by_name, refusals

from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core.validation import InputError, NotConvergedWarning
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.evaluation import embedding as e
from comparison_hc.evaluation import embedding_average_linkage, forte, t_ste, triplet_error
from comparison_hc.evaluation._soe import soe, soe_loss
from comparison_hc.metrics import adjusted_rand_index
from comparison_hc.oracles import sample_triplets

FOUR = np.repeat([[0, 0], [0, 5], [5, 0], [5, 5]], 6, axis=0) + np.random.default_rng(0).normal(size=(24, 2))
EMBED = pytest.mark.parametrize("embed", [t_ste, forte])


def triplets_about(points, size_or_p, seed=0):
    return sample_triplets(-np.linalg.norm(points[:, None] - points, axis=2), size_or_p, seed)


def slow_t_ste_loss(points, triplets, alpha):
    "The mean of −ln P with Student's kernel."

    def kernel(a, b):
        return (1 + sum((x - y) ** 2 for x, y in zip(points[a], points[b])) / alpha) ** (-(alpha + 1) / 2)

    return np.mean([-np.log(kernel(i, j) / (kernel(i, j) + kernel(i, k))) for i, j, k in triplets])


def slow_forte_loss(gram, triplets):
    "The mean of ln(1 + e^−margin)."

    def D(a, b):
        return gram[a][a] + gram[b][b] - gram[a][b] - gram[b][a]

    return np.mean([np.log(1 + np.exp(D(i, j) - D(i, k))) for i, j, k in triplets])


# ---- losses


@given(st.integers(0, 10**6), st.integers(3, 8), st.integers(1, 4), st.floats(0.3, 20), st.integers(1, 40))
def test_losses_and_gradients_are_those_of_the_definitions(seed, n, d, alpha, m):
    rng = np.random.default_rng(seed)
    points, triplets = rng.normal(size=(n, d)), Triplets([rng.permutation(n)[:3].tolist() for _ in range(m)], n)
    pairs, rows, K = e._compared_pairs(triplets), triplets.array.tolist(), points @ points.T
    assert e._t_ste_loss(points, pairs, alpha)[0] == pytest.approx(slow_t_ste_loss(points, rows, alpha), rel=1e-12)
    assert e._forte_loss(K, pairs)[0] == pytest.approx(slow_forte_loss(K, rows), rel=1e-12)
    t_ste_error = check_grad(
        lambda x: slow_t_ste_loss(x.reshape(n, d), rows, alpha),
        lambda x: e._t_ste_loss(x.reshape(n, d), pairs, alpha)[1].ravel(),
        points.ravel(),
    )
    forte_error = check_grad(
        lambda x: slow_forte_loss(x.reshape(n, n), rows),
        lambda x: e._forte_loss(x.reshape(n, n), pairs)[1].ravel(),
        K.ravel(),
    )
    assert max(t_ste_error, forte_error) < 1e-4


def test_slices_change_nothing(monkeypatch):
    pairs = e._compared_pairs(triplets_about(FOUR, 2000))
    whole = e._t_ste_loss(FOUR, pairs, 1.0)
    monkeypatch.setattr(e, "_SLICE", 100)
    sliced = e._t_ste_loss(FOUR, pairs, 1.0)
    assert len(pairs.low) < 1000 and sliced[0] == pytest.approx(whole[0])
    np.testing.assert_allclose(sliced[1], whole[1], rtol=1e-9, atol=1e-12)


def test_huge_margins_neither_overflow_nor_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss, slope = e._logistic_loss(np.array([0.0, -1e5, 1e5]), np.array([1, 2]), np.array([2, 1]))
    assert loss == pytest.approx(1e5) and np.isfinite(slope).all()


# ---- optimisers


def loss_of(found, triplets):
    "The loss of the points of an embedding."
    pairs = e._compared_pairs(triplets)
    if found.method == "t-STE":
        return e._t_ste_loss(found.points, pairs, 1.0)[0]
    return e._forte_loss(found.points @ found.points.T, pairs)[0]


@EMBED
def test_an_embedding_repeats_the_triplets_and_the_seed(embed):
    triplets = triplets_about(FOUR, 0.3)
    names = [f"point {i}" for i in range(24)]
    named = embed(Triplets(triplets.array, names=names), rng=3)
    found, again, other = embed(triplets, rng=3), embed(triplets.array, rng=np.random.default_rng(3)), embed(triplets)
    np.testing.assert_array_equal(found.points, again.points)
    np.testing.assert_array_equal(found.points, named.points)
    assert named.names == tuple(names) == embedding_average_linkage(named).names
    assert not np.array_equal(found.points, other.points) and found.points.shape == (24, 2)
    assert found.converged and "converged after" in repr(found)
    assert found.loss == min(found.start_losses) < np.log(2) / 2
    assert found.loss == pytest.approx(loss_of(found, triplets), rel=1e-9)
    assert triplet_error(found, triplets) < 0.15 and np.allclose(found.points.mean(axis=0), 0, atol=1e-9)
    with pytest.raises(ValueError):
        found.points[0] = 1


def test_t_ste_reaches_what_a_start_at_the_truth_reaches():
    triplets = triplets_about(FOUR, 0.3)
    pairs = e._compared_pairs(triplets)

    def loss(x):
        value, gradient = e._t_ste_loss(x.reshape(24, 2), pairs, 1.0)
        return value, gradient.ravel()

    best = minimize(loss, (FOUR - FOUR.mean(axis=0)).ravel(), jac=True, method="L-BFGS-B").fun
    assert t_ste(triplets, n_starts=5).loss <= best + 0.005


def test_forte_never_goes_up_and_keeps_its_rank():
    pairs, points = e._compared_pairs(triplets_about(FOUR, 0.2)), np.random.default_rng(0).normal(size=(24, 2))
    gram, losses, step = points @ points.T, [], 10.0
    loss, gradient = e._forte_loss(gram, pairs)
    for _ in range(15):
        points, gram, loss, gradient = e._descend(gram, gradient, loss, step, pairs, 2)
        losses.append(loss)
        values = np.linalg.eigvalsh(gram)
        assert np.abs(values[:-2]).max() < 1e-8 * values[-1] and values[-2] > 0
    assert np.all(np.diff(losses) < 0)


def test_nearest_points_are_the_best_of_their_rank():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(7, 7))
    A = A + A.T
    X = e._nearest_points(A, 2)
    best, values = np.linalg.norm(A - X @ X.T), np.linalg.eigvalsh(A)
    kept = np.maximum(values[-2:], 0)
    assert best == pytest.approx(np.sqrt(np.sum(values[:-2] ** 2) + np.sum((values[-2:] - kept) ** 2)))


@EMBED
@pytest.mark.parametrize("d", [1, 5, 23])
def test_every_dimension_works(embed, d):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = embed(triplets_about(FOUR, 0.2), d, max_iter=50)
    assert found.points.shape == (24, d) and np.isfinite(found.points).all()


@EMBED
def test_stopping_early_is_reported(embed):
    with pytest.warns(NotConvergedWarning, match="did not converge"):
        found = embed(triplets_about(FOUR, 0.2), max_iter=2, n_starts=1)
    assert not found.converged and found.n_iterations <= 2 and "NOT CONVERGED" in repr(found)


# ---- points to trees


def test_cosine_similarity_is_its_formula():
    X = np.random.default_rng(1).normal(size=(40, 3))[np.arange(80) % 40]
    w, unit = e.cosine_similarity(X), X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(w, unit @ unit.T, atol=1e-11)
    np.testing.assert_array_equal(w, w.T)
    np.testing.assert_array_equal(w[:40], w[40:])  # equal rows
    np.testing.assert_allclose(e.cosine_similarity(X * 1e200), w)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_average_linkage_on_points_is_scipys(metric):
    X = np.random.default_rng(4).normal(size=(15, 3)) + 7
    expected = Dendrogram.from_linkage(linkage(pdist(X - X.mean(axis=0), metric), "average"))
    assert embedding_average_linkage(X, metric).same_tree(expected)


@EMBED
def test_four_corners_are_found(embed):
    tree = embedding_average_linkage(embed(triplets_about(FOUR, 0.3)))
    assert adjusted_rand_index(np.repeat(range(4), 6), tree.cut(4)) > 0.9


def test_triplet_error_counts_a_tie_as_wrong():
    line = np.array([[0.0], [1.0], [3.0], [-1.0]])
    assert triplet_error(line, [[0, 1, 2], [0, 2, 1], [0, 1, 3], [2, 1, 0]]) == 0.5


# ---- bad input

GOOD = [[0, 1, 2], [3, 0, 1], [2, 3, 0]]


@EMBED
@pytest.mark.parametrize(
    "argument, bad",
    [
        ("triplets", dict(triplets=Triplets([[0, 1, 2]], 4))),
        ("row 0", dict(triplets=[[0, 0, 1]])),
        ("n_components", dict(n_components=4)),
        ("n_components", dict(n_components=1.5)),
        ("n_starts", dict(n_starts=0)),
    ],
)
def test_bad_tasks_are_named(embed, argument, bad):
    with pytest.raises(InputError, match=f"^{argument}"):
        embed(**{"triplets": GOOD, **bad})


def test_ridge_is_a_penalty_and_the_spectral_start_forgets_numbers():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(9)[:4] for _ in range(200)])
    answers = Quadruplets(rows, 9)

    def objective(x, ridge):
        i, j, k, l = rows.T
        D = lambda a, b: np.sum((x[a] - x[b]) ** 2, axis=1)  # noqa: E731
        return np.mean(np.log1p((1 + D(i, j)) / (1 + D(k, l)))) + ridge / 200 * np.sum(x**2)  # alpha is 1

    for ridge in (0.1, 3.0):
        found = t_ste(answers, ridge=ridge, start="spectral")
        assert found.loss == pytest.approx(objective(found.points, ridge), abs=1e-6)
        for step in 0.01 * rng.normal(size=(20, 9, 2)):
            assert objective(found.points + step, ridge) > found.loss - 1e-6
        assert found.points.tolist() == t_ste(answers, ridge=ridge, start="spectral", rng=5, n_starts=1).points.tolist()
    new = rng.permutation(9)
    renamed = t_ste(Quadruplets(new[rows], 9), ridge=0.1, start="spectral").points[new]
    first = t_ste(answers, ridge=0.1, start="spectral").points
    D = lambda x: np.linalg.norm(x[:, None] - x, axis=2)  # noqa: E731
    np.testing.assert_allclose(D(renamed), D(first), atol=0.01)
    with pytest.raises(InputError, match="triplets must be"):
        forte(answers)


test_bad_values_are_named = refusals(
    ("^alpha", by_name(t_ste, "alpha", GOOD), 0),
    ("^ridge", by_name(t_ste, "ridge", GOOD), -1),
    ("^start", by_name(t_ste, "start", GOOD), "kernel"),
    ("^tol", by_name(forte, "tol", GOOD), -1),
    ("^metric", lambda metric: embedding_average_linkage(FOUR, metric), "cityblock"),
    ("^points", embedding_average_linkage, [[1.0, np.nan], [0, 0]]),
    ("^points", e.cosine_similarity, [["a", "b"], ["c", "d"]], [[1, 2]]),
    ("^points", lambda points: triplet_error(points, [[0, 1, 2]]), np.zeros((3, 0))),
)


def test_soe_is_that_of_the_definition_and_finds_points(monkeypatch):
    "Loss and gradient by loops and differences; weights are repetitions; true answers about points are kept."
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(7, 2)), np.array([rng.permutation(7)[:3] for _ in range(30)])
    weights = rng.integers(1, 4, 30).astype(float)

    def by_definition(x):
        return sum(
            w * max(0, math.dist(x[i], x[j]) - math.dist(x[i], x[k]) + 1) ** 2 for (i, j, k), w in zip(rows, weights)
        )

    loss, gradient = soe_loss(points, rows, weights)
    assert loss == pytest.approx(by_definition(points))
    assert loss == pytest.approx(
        soe_loss(points, np.repeat(rows, weights.astype(int), axis=0), np.ones(int(weights.sum())))[0]
    )
    for place in np.ndindex(points.shape):
        step = np.zeros_like(points)
        step[place] = 1e-6
        assert gradient[place] == pytest.approx(
            (by_definition(points + step) - by_definition(points - step)) / 2e-6, abs=1e-4
        )
    many = np.array([rng.permutation(7)[:3] for _ in range(300)])
    near, far = (np.linalg.norm(points[many[:, 0]] - points[many[:, c]], axis=1) for c in (1, 2))
    many[near > far] = many[near > far][:, [0, 2, 1]]
    found = soe(Triplets(many, 7), np.random.default_rng(1))
    near, far = (np.linalg.norm(found[many[:, 0]] - found[many[:, c]], axis=1) for c in (1, 2))
    assert (near < far).mean() > 0.97
