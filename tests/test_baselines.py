"""Embeddings from triplets: losses and gradients are their definitions, optimisers report what they did, and points
become trees.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.optimize import check_grad
from scipy.spatial.distance import pdist

from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.evaluation import baselines as b
from comparison_hc.evaluation import embedding_losses as losses
from comparison_hc.metrics import adjusted_rand_index
from comparison_hc.oracles import sample_triplets


def similarity_of(points):
    return -np.linalg.norm(points[:, None] - points, axis=2)


def answers_about(points, size_or_p, seed=0):
    return sample_triplets(similarity_of(points), size_or_p, seed)


FOUR = np.repeat([[0, 0], [0, 5], [5, 0], [5, 5]], 6, axis=0) + np.random.default_rng(0).normal(size=(24, 2))

# ---- losses


@given(st.integers(0, 10**6), st.integers(3, 8), st.integers(1, 4), st.floats(0.3, 20), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_losses_are_their_definitions(seed, n, d, alpha, m):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    triplets = Triplets(
        [rng.permutation(n)[:3].tolist() for _ in range(m)], n
    )  # repeated and contradictory ones included
    pairs, rows = losses.compared_pairs(triplets), triplets.array.tolist()
    assert losses.t_ste_loss(points, pairs, alpha)[0] == pytest.approx(
        b.t_ste_loss_by_definition(points, rows, alpha), rel=1e-12
    )
    assert losses.forte_loss(points @ points.T, pairs)[0] == pytest.approx(
        b.forte_loss_by_definition(points @ points.T, rows), rel=1e-12
    )


@given(st.integers(0, 10**6), st.floats(0.3, 20))
@settings(max_examples=30, deadline=None)
def test_gradients_are_differences_of_the_definitions(seed, alpha):
    rng = np.random.default_rng(seed)
    points, triplets = rng.normal(size=(5, 2)), Triplets([rng.permutation(5)[:3].tolist() for _ in range(12)], 5)
    pairs, rows, K = losses.compared_pairs(triplets), triplets.array.tolist(), points @ points.T
    for slow, fast, x in (
        (
            lambda v: b.t_ste_loss_by_definition(v.reshape(5, 2), rows, alpha),
            lambda v: losses.t_ste_loss(v.reshape(5, 2), pairs, alpha)[1].ravel(),
            points.ravel(),
        ),
        (
            lambda v: b.forte_loss_by_definition(v.reshape(5, 5), rows),
            lambda v: losses.forte_loss(v.reshape(5, 5), pairs)[1].ravel(),
            K.ravel(),
        ),
    ):
        assert check_grad(slow, fast, x, epsilon=1e-7) < 1e-5


def test_the_kernel_form_of_t_ste_is_the_logistic_form():
    points, (i, j, k), alpha = np.array([[0.0], [1.0], [3.0]]), (0, 1, 2), 2.0
    near, far = (1 + 1 / 2) ** -1.5, (1 + 9 / 2) ** -1.5  # by hand
    assert b.t_ste_loss_by_definition(points, [(i, j, k)], alpha) == pytest.approx(-np.log(near / (near + far)))


def test_slices_change_nothing(monkeypatch):
    triplets = answers_about(FOUR, 2000)
    pairs = losses.compared_pairs(triplets)
    whole = losses.t_ste_loss(FOUR, pairs, 1.0)
    monkeypatch.setattr(losses, "SLICE", 100)
    sliced = losses.t_ste_loss(FOUR, pairs, 1.0)
    assert (
        len(pairs.low) < 1000
        and sliced[0] == pytest.approx(whole[0])
        and np.allclose(sliced[1], whole[1], rtol=1e-9, atol=1e-12)
    )


def test_pairs_are_only_those_in_the_triplets():
    pairs = losses.compared_pairs(Triplets([[0, 1, 2], [3, 1, 0]], 5))
    known = {(int(x), int(y)) for x, y in zip(pairs.low, pairs.high)}
    assert known == {(0, 1), (0, 2), (1, 3), (0, 3)}
    assert [(int(pairs.low[p]), int(pairs.high[p])) for p in pairs.near] == [(0, 1), (1, 3)] and [
        (int(pairs.low[p]), int(pairs.high[p])) for p in pairs.far
    ] == [(0, 2), (0, 3)]


def test_huge_margins_neither_overflow_nor_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss, slope = losses.logistic_loss(np.array([0.0, -1e5, 1e5]), np.array([1, 2]), np.array([2, 1]))
    assert loss == pytest.approx(1e5) and np.isfinite(slope).all()


def test_forte_cares_more_about_an_absurd_answer():
    apart = np.array([[0.0], [20.0], [1.0]])
    assert b.forte_loss_by_definition(apart @ apart.T, [(0, 1, 2)]) > 50 * b.t_ste_loss_by_definition(
        apart, [(0, 1, 2)], 1.0
    )


# ---- optimisers


@pytest.mark.parametrize("embed", [b.t_ste, b.forte])
def test_an_embedding_repeats_the_answers_and_the_seed(embed):
    triplets = answers_about(FOUR, 0.3)
    one, two, other = embed(triplets, rng=3), embed(triplets, rng=np.random.default_rng(3)), embed(triplets, rng=4)
    assert np.array_equal(one.points, two.points) and not np.array_equal(one.points, other.points)
    assert (
        one.points.shape == (24, 2)
        and one.converged
        and "converged after" in repr(one)
        and one.loss == min(one.start_losses) < np.log(2) / 2
    )
    assert b.triplet_error(one, triplets) < 0.15 and np.allclose(one.points.mean(axis=0), 0, atol=1e-9)
    with pytest.raises(ValueError):
        one.points[0] = 1


@pytest.mark.parametrize(
    "embed, loss",
    [
        (b.t_ste, lambda e, t: losses.t_ste_loss(e.points, losses.compared_pairs(t), 1.0)[0]),
        (b.forte, lambda e, t: losses.forte_loss(e.points @ e.points.T, losses.compared_pairs(t))[0]),
    ],
)
def test_the_reported_loss_is_that_of_the_points(embed, loss):
    triplets = answers_about(FOUR, 0.2, 5)
    found = embed(triplets)
    assert found.loss == pytest.approx(loss(found, triplets), rel=1e-9)


def test_t_ste_reaches_what_a_start_at_the_truth_reaches():
    from scipy.optimize import minimize

    triplets = answers_about(FOUR, 0.3)
    pairs = losses.compared_pairs(triplets)

    def loss(x):
        value, gradient = losses.t_ste_loss(x.reshape(24, 2), pairs, 1.0)
        return value, gradient.ravel()

    best = minimize(loss, (FOUR - FOUR.mean(axis=0)).ravel(), jac=True, method="L-BFGS-B").fun
    assert b.t_ste(triplets, n_starts=5).loss <= best + 0.005


def test_forte_never_goes_up_and_keeps_its_rank():
    triplets = answers_about(FOUR, 0.2)
    pairs, points = losses.compared_pairs(triplets), np.random.default_rng(0).normal(size=(24, 2))
    gram, seen, step = points @ points.T, [], 10.0
    loss, gradient = losses.forte_loss(gram, pairs)
    for _ in range(15):
        points, gram, loss, gradient = losses._descend(gram, gradient, loss, step, pairs, 2)
        seen.append(loss)
        assert (
            np.linalg.matrix_rank(gram, tol=1e-8 * np.abs(gram).max()) <= 2
            and np.linalg.eigvalsh(gram)[0] > -1e-8 * np.abs(gram).max()
        )
    assert np.all(np.diff(seen) < 0)


def test_nearest_points_are_the_best_of_their_rank():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(7, 7))
    A = A + A.T
    X = losses.nearest_points(A, 2)
    best = np.linalg.norm(A - X @ X.T)
    values = np.linalg.eigvalsh(A)
    kept = np.maximum(values[-2:], 0)
    assert best == pytest.approx(np.sqrt(np.sum(values[:-2] ** 2) + np.sum((values[-2:] - kept) ** 2)))
    assert all(np.linalg.norm(A - Y @ Y.T) >= best for Y in (X + 0.1 * rng.normal(size=X.shape) for _ in range(50)))


@pytest.mark.parametrize("embed", [b.t_ste, b.forte])
@pytest.mark.parametrize("d", [1, 5, 23])
def test_every_dimension_works(embed, d):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", b.NotConvergedWarning)
        found = embed(answers_about(FOUR, 0.2), d, max_iter=50)
    assert found.points.shape == (24, d) and np.isfinite(found.points).all()


@pytest.mark.parametrize("embed", [b.t_ste, b.forte])
def test_stopping_early_is_said(embed):
    with pytest.warns(b.NotConvergedWarning, match="did not converge"):
        found = embed(answers_about(FOUR, 0.2), max_iter=2, n_starts=1)
    assert not found.converged and found.n_iterations <= 2 and "NOT CONVERGED" in repr(found)


@pytest.mark.parametrize("embed", [b.t_ste, b.forte])
def test_names_come_along_and_the_input_is_left_alone(embed):
    rows = answers_about(FOUR, 0.2).array.copy()
    names = [f"point {i}" for i in range(24)]
    found = embed(Triplets(rows, names=names))
    assert found.names == tuple(names) and b.embedding_average_linkage(found).names == tuple(names)
    assert np.array_equal(embed(rows).points, found.points)


# ---- points to trees


def test_cosine_similarity_is_its_formula():
    X = np.random.default_rng(1).normal(size=(6, 3))
    w = b.cosine_similarity(X)
    assert all(
        w[i, j] == pytest.approx(X[i] @ X[j] / np.sqrt(X[i] @ X[i]) / np.sqrt(X[j] @ X[j]), abs=1e-11)
        for i in range(6)
        for j in range(6)
    ) and np.array_equal(w, w.T)
    assert np.allclose(b.cosine_similarity(X * 1e200), w) and b.cosine_similarity(
        [[1, 1], [2, 2], [0, 0]]
    ).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]


def test_equal_rows_have_equal_similarities():
    X = np.random.default_rng(3).normal(size=(40, 7))[np.arange(80) % 40]
    w = b.cosine_similarity(X)
    assert np.array_equal(w[:40], w[40:])


def test_average_linkage_on_points_is_scipys():
    X = np.random.default_rng(4).normal(size=(15, 3)) + 7
    centred = X - X.mean(axis=0)
    for metric in ("cosine", "euclidean"):
        assert b.embedding_average_linkage(X, metric).same_tree(
            Dendrogram.from_linkage(linkage(pdist(centred, metric), "average"))
        )


@pytest.mark.parametrize("embed", [b.t_ste, b.forte])
def test_four_corners_are_found(embed):
    tree = b.embedding_average_linkage(embed(answers_about(FOUR, 0.3)))
    assert adjusted_rand_index(np.repeat(range(4), 6), tree.cut(4)) > 0.9


def test_triplet_error_counts():
    line = np.array([[0.0], [1.0], [3.0], [-1.0]])
    assert (
        b.triplet_error(line, [[0, 1, 2], [0, 2, 1], [0, 1, 3], [2, 1, 0]]) == 0.5
    )  # right, wrong, a tie counts as wrong, right


# ---- bad input

GOOD = [[0, 1, 2], [3, 0, 1], [2, 3, 0]]


@pytest.mark.parametrize("embed", [b.t_ste, b.forte])
@pytest.mark.parametrize(
    "argument, bad",
    [
        ("triplets", dict(triplets=Quadruplets([[0, 1, 2, 3]]))),
        ("triplets", dict(triplets=Triplets([[0, 1, 2]], 4))),
        ("triplets", dict(triplets=[[0, 1]])),
        ("row 0", dict(triplets=[[0, 0, 1]])),
        ("n_components", dict(n_components=0)),
        ("n_components", dict(n_components=4)),
        ("n_components", dict(n_components=1.5)),
        ("n_starts", dict(n_starts=0)),
        ("max_iter", dict(max_iter=0)),
        ("rng", dict(rng=-1)),
        ("rng", dict(rng="x")),
    ],
)
def test_bad_tasks_are_named(embed, argument, bad):
    with pytest.raises(InputError, match=f"^{argument}"):
        embed(**{"triplets": GOOD, **bad})


@pytest.mark.parametrize(
    "argument, call",
    [
        ("alpha", lambda: b.t_ste(GOOD, alpha=0)),
        ("alpha", lambda: b.t_ste(GOOD, alpha=float("nan"))),
        ("tol", lambda: b.forte(GOOD, tol=-1)),
        ("metric", lambda: b.embedding_average_linkage(FOUR, "cityblock")),
        ("points", lambda: b.embedding_average_linkage([[1.0, np.nan], [0, 0]])),
        ("points", lambda: b.embedding_average_linkage([1, 2, 3])),
        ("points", lambda: b.cosine_similarity([["a", "b"], ["c", "d"]])),
        ("points", lambda: b.cosine_similarity([[1, 2]])),
        ("points", lambda: b.triplet_error(np.zeros((3, 0)), [[0, 1, 2]])),
        ("names", lambda: b.embedding_average_linkage(FOUR, names=["a"])),
    ],
)
def test_bad_values_are_named(argument, call):
    with pytest.raises(InputError, match=f"^{argument}"):
        call()
