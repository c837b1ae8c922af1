"""L20's figures 2 and 3: the two distances, the tasks, the average over tasks, how sentences become verdicts."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from shared import needs_data

from comparison_hc.core.validation import InputError, check_labels
from comparison_hc.datasets import load_dataset
from comparison_hc.link.execution import tree_clusters
from comparison_hc.link.losses import PiecewiseLoss
from comparison_hc.link.merge import alpha_linkage, beta_linkage
from comparison_hc.metrics import pruning_loss
from comparison_hc.reproduce import l20 as r
from comparison_hc.reproduce import l20_figures, l20_tasks
from comparison_hc.reproduce.experiments import parameter_grid, run_experiment


@pytest.fixture(scope="module")
def small_network():
    "A network that knows little, in a moment; the tasks' own takes a quarter of a minute."
    rng = np.random.default_rng(0)
    return l20_tasks.train_network(rng.integers(0, 256, (30, 28, 28)), np.arange(30) % 10, (12,), 2)


@pytest.fixture
def with_small_network(monkeypatch, small_network):
    monkeypatch.setattr(l20_tasks, "_network", lambda: small_network)


@pytest.fixture
def with_small_photographs(monkeypatch):
    images = l20_tasks._loaded("cifar10").images
    rows = np.asarray(images)[:, ::4, ::4].reshape(len(images), -1) / 255
    monkeypatch.setattr(l20_tasks, "_cifar_features", lambda: rows)


# ---- a network, letters drawn like digits, patches


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_network_is_the_one_that_scikit_learn_trained():
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(1)
    images, labels = rng.integers(0, 256, (60, 28, 28)), np.arange(60) % 10
    network = l20_tasks.train_network(images, labels, (9, 7), 5)
    rows = images.reshape(60, -1) / 255
    same = MLPClassifier((9, 7), max_iter=5, random_state=0).fit(rows, labels)
    assert (network.predict_proba(rows) == same.predict_proba(rows)).all()
    first = np.maximum(0, rows @ same.coefs_[0] + same.intercepts_[0])
    second = np.maximum(0, first @ same.coefs_[1] + same.intercepts_[1])
    odds = np.exp(second @ same.coefs_[2] + same.intercepts_[2])
    assert np.allclose(odds / odds.sum(axis=1, keepdims=True), same.predict_proba(rows))
    found = l20_tasks.hidden_features(network, images)
    assert (
        np.allclose(found * np.linalg.norm(second, axis=1, keepdims=True), second) and second.any(axis=1).mean() > 0.5
    )


def test_a_network_names_what_it_was_taught():
    rng = np.random.default_rng(2)
    kinds = 255 * (rng.random((10, 28, 28)) < 0.1)
    labels = np.arange(300) % 10
    images = np.clip(kinds[labels] + rng.normal(0, 20, (300, 28, 28)), 0, 255)
    for taught, epochs, low, high in ((labels, 40, 0.9, 1), (rng.permutation(labels), 5, 0, 0.5)):
        network = l20_tasks.train_network(images[60:], taught[60:], (32,), epochs)
        names = taught[60:][np.unique(check_labels(taught[60:]), return_index=True)[1]]
        assert low <= (names[network.predict(images[:60].reshape(60, -1) / 255)] == taught[:60]).mean() <= high


@given(st.integers(0, 10**6), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_a_drawing_becomes_like_a_digit(seed, radius):
    rng = np.random.default_rng(seed)
    mask = np.zeros((105, 105), dtype=bool)
    y, x, height, width = rng.integers(0, 50), rng.integers(0, 50), *rng.integers(5, 55, 2)
    mask[y, x : x + width] = mask[y : y + height, x] = mask[y + height - 1, x : x + width] = True
    image = l20_tasks.drawn_like_digit(mask, radius)
    assert image.shape == (28, 28) and 0 <= image.min() and image.max() <= 255
    down, right = (float((image.sum(axis=1 - axis) * (np.arange(28) + 0.5)).sum() / image.sum()) for axis in (0, 1))
    assert abs(down - 14) <= 0.5 and abs(right - 14) <= 0.5
    rows, columns = (np.flatnonzero(image.sum(axis=axis)) for axis in (1, 0))
    assert max(np.ptp(rows), np.ptp(columns)) + 1 in (20, 21)
    moved = np.zeros_like(mask)
    moved[3:, 2:] = mask[:-3, :-2]
    assert (l20_tasks.drawn_like_digit(moved, radius) == image).all()


def test_typical_patches_are_found():
    rng = np.random.default_rng(0)
    stripes = np.indices((12, 12)).sum(axis=0) % 2 * 200.0
    images = [np.repeat(kind[:, :, None], 3, axis=2) for kind in (stripes, np.tile(stripes[0] // 2, (12, 1)))] * 6
    images = np.array(images) + rng.normal(0, 1, (12, 12, 12, 3))
    patches = l20_tasks.learn_patches(images, 4, 20, 4)
    found = l20_tasks.patch_features(images, patches)
    assert found.shape == (12, 16) and np.allclose(found.mean(axis=0), 0) and np.allclose(found.std(axis=0), 1)
    D = cdist(found, found) + np.diag(np.full(12, np.inf))
    assert (D.argmin(axis=1) % 2 == np.arange(12) % 2).all()
    again = l20_tasks.patch_features(images, l20_tasks.learn_patches(images, 4, 20, 4))
    assert (again == found).all()


def test_white_patches_are_even_and_uncorrelated():
    images = np.random.default_rng(3).integers(0, 256, (40, 10, 10, 3))
    patches = l20_tasks.learn_patches(images, 3, 49, 3)
    views = np.lib.stride_tricks.sliding_window_view(images.astype(float), (3, 3), axis=(1, 2)).reshape(40 * 64, 27)
    white = patches.white(views)
    assert np.abs(white.mean(axis=0)).max() < 0.2 and np.abs(np.cov(white.T) - np.eye(27)).max() < 0.5


# ---- pictures and strokes


def histograms_by_definition(image, cells, directions):
    "Pixel by pixel; borders have one-sided differences."
    height, width = image.shape
    found = np.zeros((cells, cells, directions))
    for y in range(height):
        for x in range(width):
            above, below, left, right = max(y - 1, 0), min(y + 1, height - 1), max(x - 1, 0), min(x + 1, width - 1)
            dy, dx = (
                (image[below, x] - image[above, x]) / (below - above),
                (image[y, right] - image[y, left]) / (right - left),
            )
            angle = np.arctan2(dy, dx)
            if angle < 0:
                angle += np.pi
            found[y * cells // height, x * cells // width, int(angle / np.pi * directions) % directions] += np.hypot(
                dy, dx
            )
    return found.ravel() / (np.linalg.norm(found) or 1)


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3]), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_edge_histograms_are_the_definition(seed, cells, directions):
    image = np.random.default_rng(seed).random((6, 12))
    assert np.allclose(
        l20_tasks.edge_histograms(image[None], cells, directions)[0], histograms_by_definition(image, cells, directions)
    )


def test_edges_do_not_see_brightness_contrast_or_the_negative():
    images = np.random.default_rng(0).random((3, 8, 8))
    assert np.allclose(l20_tasks.edge_histograms(images, 2), l20_tasks.edge_histograms(5 - 2 * images, 2))
    assert (l20_tasks.edge_histograms(np.ones((1, 4, 4)), 2) == 0).all()


def stroke_distance(one, other):
    "Straight from the paper."
    near = lambda p, path: min(float(np.sqrt(((p - q) ** 2).sum())) for q in path)
    return (sum(near(p, other) for p in one) + sum(near(q, one) for q in other)) / (len(one) + len(other))


@given(st.integers(0, 10**6), st.lists(st.integers(1, 6), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_stroke_distances_are_the_definition(seed, sizes):
    rng = np.random.default_rng(seed)
    paths = [rng.integers(0, 4, size=(size, 2)) for size in sizes]
    D = l20_tasks.stroke_distances(paths)
    assert np.allclose(D, [[stroke_distance(one, other) for other in paths] for one in paths])
    assert (D == D.T).all()
    assert (D.diagonal() == 0).all()


def test_cosine_distances():
    rows = np.random.default_rng(0).normal(size=(9, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    D = l20_tasks.cosine_distances(rows)
    assert np.allclose(D, [[1 - sum(a * b) for b in rows] for a in rows])
    assert (D == D.T).all()
    assert (D.diagonal() == 0).all()
    assert D.min() >= 0


def test_stroke_distances_by_hand():
    assert l20_tasks.stroke_distances([np.array([[0, 0], [0, 2]]), np.array([[0, 0]])])[0, 1] == pytest.approx(2 / 3)
    assert l20_tasks.stroke_distances([np.array([[0, 0]]), np.array([[3, 4]])])[0, 1] == 5


def test_rows_may_be_zero():
    D = l20_tasks.cosine_distances(np.array([[1.0, 0], [0, 1], [0, 0]]))
    assert D.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


# ---- tasks and runs

FIVE_LETTERS = 29  # a seed whose task of letters is small; one for all, as distances of letters are kept


def test_rings_and_disks_of_a_task():
    distances, labels = r.linkage_task("rings and disks", 5, 0)
    assert list(distances) == ["Euclidean"]
    assert distances["Euclidean"].shape == (20, 20)
    assert np.bincount(labels).tolist() == [5, 5, 5, 5]


@needs_data
@pytest.mark.usefixtures("with_small_network", "with_small_photographs")
@pytest.mark.parametrize("dataset, per_class", [("MNIST", 6), ("CIFAR-10", 6), ("Omniglot", 4)])
def test_tasks_from_pictures_have_equal_classes_and_equal_seeds_give_equal_tasks(dataset, per_class):
    for seed in [FIVE_LETTERS] if dataset == "Omniglot" else range(3):
        distances, labels = r.linkage_task(dataset, per_class, seed)
        sizes = np.unique(labels, return_counts=True)[1]
        assert set(sizes) == {per_class} and (len(sizes) == 5 if dataset != "Omniglot" else 5 <= len(sizes) <= 10)
        for D in distances.values():
            assert D.shape == (len(labels),) * 2
            assert (D == D.T).all()
            assert (D.diagonal() == 0).all()
            assert (D >= 0).all()
            assert np.isfinite(D).all()
        again, _ = r.linkage_task(dataset, per_class, seed)
        assert all((again[name] == D).all() for name, D in distances.items())


@needs_data
@pytest.mark.usefixtures("with_small_network")
def test_letters_are_of_one_alphabet_and_both_metrics_have_mean_one():
    omniglot = load_dataset("omniglot")
    distances, labels = r.linkage_task("Omniglot", 2, FIVE_LETTERS)
    assert len({omniglot.label_names[label].split("/")[0] for label in labels}) == 1
    assert np.allclose([D.mean() for D in distances.values()], 1)


@needs_data
def test_digits_are_as_far_apart_as_their_pixels():
    mnist = load_dataset("mnist")
    rng = np.random.default_rng(7)
    chosen = l20_tasks._draw(mnist.labels, rng.choice(10, 5, replace=False), 2, rng)
    distances, labels = r.linkage_task("MNIST", 2, 7)
    a, b = mnist.features[chosen[[1, 8]]].astype(float)
    assert np.isclose(distances["pixels"][1, 8], np.sqrt(((a - b) ** 2).sum()))
    assert (labels == mnist.labels[chosen]).all()


def loss_at(row, x):
    "The kept loss at x."
    return row["losses"][int(np.searchsorted(row["begins"], x, side="right")) - 1]


def test_a_run_keeps_the_loss_of_every_mix():
    rows = r.merge_family_run("rings and disks", 6, 0, rng=3)
    distances, labels = r.linkage_task("rings and disks", 6, 3)
    assert [row["family"] for row in rows] == ["single–complete", "average–complete"]
    assert {row["n"] for row in rows} == {24}
    assert {row["k"] for row in rows} == {4}
    for row in rows:
        for x in np.random.default_rng(0).random(12):
            assert loss_at(row, x) == pruning_loss(
                alpha_linkage(distances["Euclidean"], x, r.MIXES[row["family"]]), labels
            )


@needs_data
@pytest.mark.usefixtures("with_small_network")
def test_strokes_that_are_kept_are_strokes():
    omniglot = load_dataset("omniglot")
    rng = np.random.default_rng(FIVE_LETTERS)  # draws as a task does
    alphabet = omniglot.extra["alphabet"] == rng.integers(len(omniglot.extra["alphabet_names"]))
    letters = rng.choice(np.unique(omniglot.labels[alphabet]), rng.integers(5, 11), replace=False)
    chosen = l20_tasks._draw(omniglot.labels, letters, 2, rng)
    distances, labels = r.linkage_task("Omniglot", 2, FIVE_LETTERS)
    D = l20_tasks.stroke_distances([np.concatenate(omniglot.extra["strokes"][i])[:, :2] for i in chosen.tolist()])
    assert np.allclose(distances["strokes"], D / D.mean()) and (labels == omniglot.labels[chosen]).all()


@needs_data
@pytest.mark.usefixtures("with_small_network")
def test_a_run_between_metrics_keeps_the_loss_of_every_mix():
    row = r.metric_family_run(2, 0, rng=FIVE_LETTERS)
    distances, labels = r.linkage_task("Omniglot", 2, FIVE_LETTERS)
    for x in (0, 0.3, 0.514, 0.9):
        assert loss_at(row, x) == pruning_loss(beta_linkage(distances["strokes"], distances["network"], x), labels)


@given(st.integers(0, 10**6), st.integers(3, 14))
@settings(max_examples=30, deadline=None)
def test_a_chain_of_nearest_neighbours_makes_the_tree_of_the_definition(seed, n):
    rng = np.random.default_rng(seed)
    D = np.zeros((n, n))
    D[np.triu_indices(n, 1)] = rng.random(n * (n - 1) // 2)  # averages of whole numbers may tie
    D, alpha = D + D.T, float(rng.choice([0, 1, rng.random()]))
    for merges in r.MIXES.values():
        found, defined = r.chain_linkage(D, alpha, merges[0]), alpha_linkage(D, alpha, merges)
        assert set(tree_clusters(found.children)) == set(tree_clusters(defined.children))


def test_a_sampled_loss_is_the_exact_one_at_its_values():
    distances, labels = r.linkage_task("rings and disks", 8, 1)
    values = np.arange(51) / 50
    for merges in r.MIXES.values():
        exact = r.piecewise_loss(distances["Euclidean"], labels, merges)
        sampled = r.sampled_loss(distances["Euclidean"], labels, merges[0])
        assert np.allclose(sampled(values), exact(values)) and sampled(values).std() > 0
        assert (sampled(values[1:] - 0.009) == sampled(values[1:])).all() and sampled.breakpoints[1] == 0.01


def test_large_tasks_are_sampled_and_small_ones_are_not(monkeypatch):
    assert r.MOST_EXACT >= 400  # rings and disks of the paper's size are exact
    (exact, _), size = r.merge_family_run("rings and disks", 6, 0, rng=3), 24
    monkeypatch.setattr(r, "MOST_EXACT", size)
    assert r.merge_family_run("rings and disks", 6, 0, rng=3)[0] == exact
    monkeypatch.setattr(r, "MOST_EXACT", size - 1)
    assert r.merge_family_run("rings and disks", 6, 0, rng=3)[0]["pieces"] == 51 != exact["pieces"]


@given(st.integers(0, 10**6), st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_a_flat_cut_is_judged_by_the_best_names_for_its_clusters(seed, k):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(9) % k)
    points = rng.random((9, 2))
    tree = alpha_linkage(np.hypot(*(points.T[:, :, None] - points.T[:, None])), 0.5)
    cut = tree.cut(k)
    right = max(sum(names[c] == label for c, label in zip(cut, labels)) for names in permutations(range(k)))
    loss = r.flat_cut_loss(tree, labels)
    assert loss == pytest.approx(1 - right / 9) and loss >= pruning_loss(tree, labels) - 1e-12


# ---- the average


def made_curve(rng):
    "A random piecewise constant loss."
    points = np.sort(rng.choice(np.arange(1, 100), 4, replace=False)) / 100
    return PiecewiseLoss(np.concatenate([[0], points, [1]]), rng.integers(0, 9, 5) / 8, 1)


@given(st.integers(0, 10**6), st.integers(2, 7))
@settings(max_examples=30, deadline=None)
def test_the_summary_is_the_average_at_every_hundredth(seed, n):
    curves = [made_curve(np.random.default_rng((seed, i))) for i in range(n)]
    rows = [dict(instance=i, begins=tuple(c.breakpoints[:-1]), losses=tuple(c.values)) for i, c in enumerate(curves)]
    table = pd.DataFrame(rows).assign(per_class=2, family="f", n=10, pieces=5)
    summary = r.loss_summary(table)
    kept, best, held = (summary[summary["point"] == point] for point in ("curve", "best", "held out"))
    losses = np.array([[c(x) for c in curves] for x in kept["low"]])
    base = losses[0] if losses[0].mean() <= losses[-1].mean() else losses[-1]
    assert len(kept) == 101
    assert np.allclose(kept["loss"], losses.mean(axis=1))
    assert np.allclose(kept["se"], losses.std(axis=1, ddof=1) / np.sqrt(n))
    assert np.allclose(kept["gain"], base.mean() - losses.mean(axis=1))
    assert np.allclose(kept["gain_se"], (base - losses).std(axis=1, ddof=1) / np.sqrt(n))
    assert best["loss"].iloc[0] <= kept["loss"].min() + 1e-12 and np.isclose(
        np.mean([c((best["low"].iloc[0] + best["high"].iloc[0]) / 2) for c in curves]), best["loss"].iloc[0]
    )
    assert best["loss"].iloc[0] <= held["loss"].iloc[0] + 1e-12


def test_held_out_losses_are_of_a_parameter_that_the_task_had_no_part_in():
    low, high = (PiecewiseLoss(np.array([0, 0.5, 1]), np.array(values), 1) for values in ([0.0, 1.0], [1.0, 0.0]))
    learned, losses = r.held_out([low, high, low, high])  # each half learns what is worst for the other
    assert learned == (0.25, 0.75) and losses.tolist() == [1, 1, 1, 1]


def test_one_task_is_not_enough():
    with pytest.raises(InputError, match="at least two tasks"):
        r.loss_summary(
            run_experiment(r.merge_family_run, parameter_grid(dataset="rings and disks", per_class=3, instance=[0]))
        )


# ---- sentences and pictures


def made_up(dataset, family, curve, held=0.0, per_class=100, metric="m", se=0.001):
    "Summary rows of one family from a function of α."
    grid = np.arange(101) / 100
    losses = np.array([curve(x) for x in grid])
    at = int(losses.argmin())
    rows = [dict(point="curve", low=x, high=x, loss=y) for x, y in zip(grid, losses)] + [
        dict(point="best", low=grid[at] - 0.005, high=grid[at] + 0.005, loss=losses[at]),
        dict(point="held out", low=grid[at], high=grid[at], loss=losses[at] + held),
    ]
    about = dict(dataset=dataset, per_class=per_class, metric=metric, family=family, instances=9, n=50.0, pieces=10.0)
    table = pd.DataFrame(rows).assign(**about, se=se, gain_se=se)
    return table.assign(gain=min(losses[0], losses[-1]) - table["loss"])


SIZES = {"MNIST": 200, "rings and disks": 100, "CIFAR-10": 50, "Omniglot": 20}


def figure_2(alphas, valley=0.2, held=0.0):
    "A figure whose valleys are at these α; valley is their depth, held what is lost on other tasks."
    frames = []
    for name, alpha in alphas.items():
        for family in r.MIXES:
            curve = lambda x, alpha=alpha: 0.5 - valley * max(0, 1 - abs(x - alpha) / 0.1)
            metric = "network" if name == "Omniglot" else "m"
            frames.append(made_up(name, family, curve, held, SIZES[name], metric))
    return pd.concat(frames, ignore_index=True)


def words(claims):
    "{beginning of a sentence: verdict}."
    return {claim.sentence: claim.word for claim in claims}


PAPERS = {"MNIST": 0.87, "rings and disks": 0.18}
FIGURE_2 = [  # beginning of the sentence; a figure for which it holds, one for which it does not
    ("MNIST, 200 per class: the optimal parameter", PAPERS, {"MNIST": 0.8, "rings and disks": 0.18}, {}),
    ("rings and disks, 100 per class: the optimal", PAPERS, {"MNIST": 0.87, "rings and disks": 0.24}, {}),
    ("the optimal parameters vary", PAPERS, {"MNIST": 0.5, "rings and disks": 0.42}, {}),
    ("using the parameter that is optimal", PAPERS, {"MNIST": 0.5, "rings and disks": 0.5}, {}),
    ("MNIST, 200 per class: a mix does better", PAPERS, PAPERS, {"held": 0.199}),
    ("rings and disks, 100 per class: a mix does better", PAPERS, PAPERS, {"valley": 0.001}),
    ("on the Rings and Disks distribution", PAPERS, PAPERS, {"valley": 0.14}),
]


@pytest.mark.parametrize("begins, holding, failing, options", FIGURE_2, ids=[row[0] for row in FIGURE_2])
def test_every_sentence_of_figure_2_can_come_out_either_way(begins, holding, failing, options):
    def verdict(figure):
        (found,) = [w for s, w in words(l20_figures.figure_2_claims(figure)).items() if s.startswith(begins)]
        return found

    assert verdict(figure_2(holding)) == "holds"
    assert verdict(figure_2(failing, **options)) == "does not hold"


def test_every_judged_sentence_of_figure_2_is_in_that_list():
    judged = [s for s, w in words(l20_figures.figure_2_claims(figure_2(PAPERS))).items() if w == "holds"]
    assert len(judged) == len(FIGURE_2) and all(any(s.startswith(b) for b, *_ in FIGURE_2) for s in judged)


def test_other_sizes_features_and_alphabets_are_set_aside():
    more = figure_2({**PAPERS, "CIFAR-10": 0.98, "Omniglot": 0.931})
    small = figure_2(PAPERS).assign(per_class=50)
    found = words(l20_figures.figure_2_claims(pd.concat([more, small])))
    aside = [s for s, w in found.items() if w == "not comparable"]
    assert all(s.startswith(("CIFAR-10", "Omniglot", "MNIST, 50", "rings and disks, 50")) for s in aside)
    assert len(aside) == 8 and len(found) == 8 + len(FIGURE_2)


def test_the_cost_of_another_distributions_parameter_is_read_off_the_curve():
    claim = l20_figures.transfer_claims(figure_2({"MNIST": 0.8, "rings and disks": 0.2}))[1]
    assert claim.holds and claim.measured.startswith("2 of 2 pairs; largest loss: +0.200")
    assert l20_figures.transfer_claims(figure_2({"MNIST": 0.8})) == []


def test_kinds_with_few_tasks_are_not_judged():
    summary = figure_2({"MNIST": 0.87, "rings and disks": 0.18})
    few = pd.concat([summary, made_up("MNIST", "single–complete", lambda x: x, per_class=20).assign(instances=4)])
    assert [str(claim) for claim in l20_figures.figure_2_claims(few)] == [
        str(claim) for claim in l20_figures.figure_2_claims(summary)
    ]


def figure_3(curve, held=0.0):
    return made_up("Omniglot", "strokes–network", curve, held, 20).drop(columns=["dataset", "metric"])


def like_the_paper(x):
    return 0.33 + (0.15 * (0.51 - x) / 0.51 if x < 0.51 else 0.091 * (x - 0.51) / 0.49)


@pytest.mark.parametrize(
    "number, other",
    [
        (0, figure_3(lambda x: like_the_paper(1 - x))),
        (0, figure_3(lambda x: 0.4 + 0.001 * (1 - x))),
        (1, figure_3(like_the_paper, held=0.09)),
        (2, figure_3(lambda x: 0.4 * like_the_paper(x))),
        (3, figure_3(lambda x: abs(x - 0.6))),
        (4, figure_3(lambda x: like_the_paper(x) + 0.05)),
        (5, figure_3(lambda x: like_the_paper(x) / 2)),
    ],
)
def test_every_sentence_of_figure_3_can_come_out_either_way(number, other):
    assert all(l20_figures.figure_3_claims(figure_3(like_the_paper)))
    claim = l20_figures.figure_3_claims(other)[number]
    assert not claim.holds
    assert claim.word == ("does not hold" if number < 2 else "not comparable")


def flat_cut(pruned, flat, se=0.001):
    "A figure of two losses whose gains by learning are these."
    frames = [
        made_up("Omniglot", "strokes–network", lambda x, gain=gain: 0.5 - gain * (abs(x - 0.5) < 0.1), 0, 10, name, se)
        for name, gain in (("best pruning", pruned), ("flat cut", flat))
    ]
    return pd.concat(frames, ignore_index=True)


@pytest.mark.parametrize(
    "number, holding, failing",
    [
        (0, flat_cut(0.1, 0.05), flat_cut(0.1, 0.0)),
        (0, flat_cut(0.1, 0.05), flat_cut(0.1, 0.05, se=0.03)),
        (1, flat_cut(0.1, 0.05), flat_cut(0.05, 0.1)),
        (1, flat_cut(0.1, 0.05), flat_cut(0.1, 0.05, se=0.02)),
    ],
)
def test_every_sentence_about_a_flat_cut_can_come_out_either_way(number, holding, failing):
    assert l20_figures.flat_cut_claims(holding)[number].word == "holds"
    assert l20_figures.flat_cut_claims(failing)[number].word == "does not hold"


def test_every_claim_says_its_rule_and_quotes_are_quotes():
    claims = [*l20_figures.figure_2_claims(figure_2(PAPERS)), *l20_figures.figure_3_claims(figure_3(like_the_paper))]
    claims += l20_figures.flat_cut_claims(flat_cut(0.1, 0.05))
    assert all(claim.rule for claim in claims) and sum(claim.quoted for claim in claims) == 7


def test_pictures_can_be_drawn_and_say_how_many_tasks():
    summary = figure_2({"MNIST": 0.5, "rings and disks": 0.52})
    spec = l20_figures.loss_chart(summary).to_dict()
    assert spec["facet"]["sort"] == ["MNIST, 200 per class (9 tasks)", "rings and disks, 100 per class (9 tasks)"]
    assert l20_figures.describe_losses(summary) == [
        f"{name}, {SIZES[name]} per class: 9 tasks, n = 50 on average" for name in ("MNIST", "rings and disks")
    ]
    assert "legend" in l20_figures.loss_chart(figure_3(lambda x: x)).to_dict()["spec"]["layer"][0]["encoding"]["color"]
    assert "Quick setting" in l20_figures.setting_2020_link(summary, "quick")
