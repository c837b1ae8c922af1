"""L20's figures 2 and 3: the two distances, the tasks, the average over tasks, how sentences become verdicts."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.datasets import load_dataset
from comparison_hc.ground.validation import InputError
from comparison_hc.link.losses import PiecewiseLoss
from comparison_hc.link.merge import alpha_linkage, beta_linkage
from comparison_hc.metrics import pruning_loss
from comparison_hc.reproduce import l20 as r
from comparison_hc.reproduce import l20_figures, l20_tasks
from comparison_hc.reproduce.claims import find_reproductions
from comparison_hc.reproduce.experiments import parameter_grid, run_experiment

needs_data = pytest.mark.skipif(
    not os.environ.get("COMPARISON_HC_DATA"), reason="COMPARISON_HC_DATA names no folder with the data"
)

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
    assert (
        np.allclose(l20_tasks.edge_histograms(images, 2), l20_tasks.edge_histograms(5 - 2 * images, 2))
        and (l20_tasks.edge_histograms(np.ones((1, 4, 4)), 2) == 0).all()
    )


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
    assert (
        np.allclose(D, [[stroke_distance(one, other) for other in paths] for one in paths])
        and (D == D.T).all()
        and (D.diagonal() == 0).all()
    )


def test_cosine_distances():
    rows = np.random.default_rng(0).normal(size=(9, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    D = l20_tasks.cosine_distances(rows)
    assert (
        np.allclose(D, [[1 - sum(a * b) for b in rows] for a in rows])
        and (D == D.T).all()
        and (D.diagonal() == 0).all()
        and D.min() >= 0
    )


def test_stroke_distances_by_hand():
    assert (
        l20_tasks.stroke_distances([[[0, 0], [0, 2]], [[0, 0]]])[0, 1] == pytest.approx(2 / 3)
        and l20_tasks.stroke_distances([[[0, 0]], [[3, 4]]])[0, 1] == 5
    )


@pytest.mark.parametrize(
    "argument, call",
    [
        ("paths", lambda: l20_tasks.stroke_distances(None)),
        ("paths", lambda: l20_tasks.stroke_distances([])),
        ("paths", lambda: l20_tasks.stroke_distances([[[0, np.nan]], [[0, 0]]])),
        ("paths", lambda: l20_tasks.stroke_distances([[], []])),
        ("rows", lambda: l20_tasks.cosine_distances("a")),
        ("rows", lambda: l20_tasks.cosine_distances([[2.0, 0]])),
        ("rows", lambda: l20_tasks.cosine_distances([[np.nan]])),
        ("rows", lambda: l20_tasks.cosine_distances([1.0])),
    ],
)
def test_bad_metrics_are_named(argument, call):
    with pytest.raises(InputError, match=f"^{argument} must be"):
        call()


def test_rows_may_be_lists_and_zero():
    assert l20_tasks.cosine_distances([[1.0, 0], [0, 1], [0, 0]]).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


# ---- tasks and runs


def test_rings_and_disks_of_a_task():
    distances, labels = r.linkage_task("rings and disks", 5, 0)
    assert (
        list(distances) == ["Euclidean"]
        and distances["Euclidean"].shape == (20, 20)
        and np.bincount(labels).tolist() == [5, 5, 5, 5]
    )


@needs_data
@pytest.mark.parametrize("dataset, per_class", [("MNIST", 6), ("CIFAR-10", 6), ("Omniglot", 4)])
def test_tasks_from_pictures_have_equal_classes_and_equal_seeds_give_equal_tasks(dataset, per_class):
    for seed in range(3):
        distances, labels = r.linkage_task(dataset, per_class, seed)
        sizes = np.unique(labels, return_counts=True)[1]
        assert set(sizes) == {per_class} and (len(sizes) == 5 if dataset != "Omniglot" else 5 <= len(sizes) <= 10)
        for D in distances.values():
            assert (
                D.shape == (len(labels),) * 2
                and (D == D.T).all()
                and (D.diagonal() == 0).all()
                and (D >= 0).all()
                and np.isfinite(D).all()
            )
        again, _ = r.linkage_task(dataset, per_class, seed)
        assert all((again[name] == D).all() for name, D in distances.items())


@needs_data
def test_letters_are_of_one_alphabet_and_both_metrics_have_mean_one():
    omniglot = load_dataset("omniglot")
    for seed in range(4):
        distances, labels = r.linkage_task("Omniglot", 2, seed)
        assert len({omniglot.label_names[label].split("/")[0] for label in labels}) == 1 and np.allclose(
            [D.mean() for D in distances.values()], 1
        )


@needs_data
def test_digits_are_as_far_apart_as_their_pixels():
    mnist = load_dataset("mnist")
    rng = np.random.default_rng(7)
    chosen = l20_tasks._draw(mnist.labels, rng.choice(10, 5, replace=False), 2, rng)
    distances, labels = r.linkage_task("MNIST", 2, 7)
    a, b = mnist.features[chosen[[1, 8]]].astype(float)
    assert (
        np.isclose(distances["pixels"][1, 8], np.sqrt(((a - b) ** 2).sum())) and (labels == mnist.labels[chosen]).all()
    )


def loss_at(row, x):
    "The kept loss at x."
    return row["losses"][int(np.searchsorted(row["begins"], x, side="right")) - 1]


def test_a_run_keeps_the_loss_of_every_mix():
    rows = r.merge_family_run("rings and disks", 6, 0, rng=3)
    distances, labels = r.linkage_task("rings and disks", 6, 3)
    assert (
        [row["family"] for row in rows] == ["single–complete", "average–complete"]
        and {row["n"] for row in rows} == {24}
        and {row["k"] for row in rows} == {4}
    )
    for row in rows:
        for x in np.random.default_rng(0).random(12):
            assert loss_at(row, x) == pruning_loss(
                alpha_linkage(distances["Euclidean"], x, r.FAMILIES[row["family"]]), labels
            )


@needs_data
def test_a_run_between_metrics_keeps_the_loss_of_every_mix():
    row, (distances, labels) = r.metric_family_run(2, 0, rng=5), r.linkage_task("Omniglot", 2, 5)
    for x in (0, 0.3, 0.514, 0.9):
        assert loss_at(row, x) == pruning_loss(beta_linkage(distances["strokes"], distances["edges"], x), labels)


# ---- the average


def made_curve(rng):
    "A random piecewise constant loss."
    points = np.sort(rng.choice(np.arange(1, 100), 4, replace=False)) / 100
    return PiecewiseLoss(np.concatenate([[0], points, [1]]), rng.integers(0, 9, 5) / 8, 1)


@given(st.integers(0, 10**6), st.integers(2, 7))
@settings(max_examples=30, deadline=None)
def test_the_summary_is_the_average_at_every_hundredth(seed, n):
    curves = [made_curve(np.random.default_rng((seed, i))) for i in range(n)]
    table = pd.DataFrame(
        [
            dict(
                per_class=2,
                instance=i,
                family="f",
                n=10,
                pieces=5,
                begins=tuple(c.breakpoints[:-1]),
                losses=tuple(c.values),
            )
            for i, c in enumerate(curves)
        ]
    )
    summary = r.loss_summary(table)
    kept, best, held = (summary[summary["point"] == point] for point in ("curve", "best", "held out"))
    losses = np.array([[c(x) for c in curves] for x in kept["low"]])
    base = losses[0] if losses[0].mean() <= losses[-1].mean() else losses[-1]
    assert (
        len(kept) == 101
        and np.allclose(kept["loss"], losses.mean(axis=1))
        and np.allclose(kept["se"], losses.std(axis=1, ddof=1) / np.sqrt(n))
    )
    assert np.allclose(kept["gain"], base.mean() - losses.mean(axis=1)) and np.allclose(
        kept["gain_se"], (base - losses).std(axis=1, ddof=1) / np.sqrt(n)
    )
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
    return pd.DataFrame(
        [
            dict(
                dataset=dataset,
                per_class=per_class,
                metric=metric,
                family=family,
                instances=9,
                n=50.0,
                pieces=10.0,
                se=se,
                gain=min(losses[0], losses[-1]) - row["loss"],
                gain_se=se,
                **row,
            )
            for row in rows
        ]
    )


def figure_2(alphas, valley=0.2):
    "A figure whose valleys are at these α; valley is their depth."
    frames = [
        made_up(name, family, lambda x, alpha=alpha: 0.5 - valley * max(0, 1 - abs(x - alpha) / 0.1))
        for name, alpha in alphas.items()
        for family in r.FAMILIES
    ]
    return pd.concat(frames, ignore_index=True)


def test_verdicts_of_figure_2_follow_the_curves():
    assert all(
        l20_figures.figure_2_claims(
            figure_2({"MNIST": 0.87, "rings and disks": 0.18, "CIFAR-10": 0.88})[lambda t: t["dataset"] != "CIFAR-10"]
        )
    )
    flat = figure_2({"MNIST": 0.5, "rings and disks": 0.52}, valley=0.001)
    assert not any(l20_figures.figure_2_claims(flat))


def test_the_cost_of_another_distributions_parameter_is_read_off_the_curve():
    claim = l20_figures.transfer_claims(figure_2({"MNIST": 0.8, "rings and disks": 0.2}))[1]
    assert claim.holds and claim.measured.startswith("2 of 2 pairs; dearest: +0.200")


def test_kinds_with_few_tasks_are_not_judged():
    summary = figure_2({"MNIST": 0.87, "rings and disks": 0.18})
    few = pd.concat([summary, made_up("MNIST", "single–complete", lambda x: x, per_class=200).assign(instances=4)])
    assert [str(claim) for claim in l20_figures.figure_2_claims(few)] == [
        str(claim) for claim in l20_figures.figure_2_claims(summary)
    ]


def figure_3(curve):
    return made_up("Omniglot", "strokes–edges", curve).drop(columns=["dataset", "metric"])


def test_verdicts_of_figure_3_follow_the_curve():
    paper = lambda x: 0.33 + (0.15 * (0.51 - x) / 0.51 if x < 0.51 else 0.091 * (x - 0.51) / 0.49)
    assert all(l20_figures.figure_3_claims(figure_3(paper)))
    assert not any(l20_figures.figure_3_claims(figure_3(lambda x: 0.2 + 0.4 * x)))


def test_pictures_can_be_drawn_and_say_how_many_tasks():
    summary = figure_2({"MNIST": 0.5, "rings and disks": 0.52})
    spec = l20_figures.loss_chart(summary).to_dict()
    assert spec["facet"]["sort"] == ["MNIST, 100 a class (9 tasks)", "rings and disks, 100 a class (9 tasks)"]
    assert l20_figures.describe_losses(summary) == [
        f"{name}, 100 a class: 9 tasks, n = 50 on average" for name in ("MNIST", "rings and disks")
    ]
    assert "legend" in l20_figures.loss_chart(figure_3(lambda x: x)).to_dict()["spec"]["layer"][0]["encoding"][
        "color"
    ] and "QUICK" in l20_figures.setting_2020_link(summary, "quick")


def test_both_figures_are_registered():
    known = find_reproductions()
    full = known["l20-fig2"].full_grid
    assert {(run["dataset"], run["per_class"]) for run in full} >= {
        ("rings and disks", 100),
        ("MNIST", 200),
        ("CIFAR-10", 50),
        ("Omniglot", 20),
    }
    assert {run["per_class"] for run in known["l20-fig3"].full_grid} == {20} and len(
        known["l20-fig2"].quick_grid
    ) < len(full)


PATHS = [np.zeros((2, 2)), np.ones((1, 2))]


@pytest.mark.parametrize(
    "argument, call",
    [
        ("dataset", lambda: r.linkage_task("faces", 5, 0)),
        ("dataset", lambda: r.merge_family_run(3, 5, 0, 0)),
        ("per_class", lambda: r.linkage_task("rings and disks", 1, 0)),
        ("per_class", lambda: r.linkage_task("Omniglot", 21, 0)),
        ("per_class", lambda: r.metric_family_run(2.5, 0, 0)),
        ("images", lambda: l20_tasks.edge_histograms(np.zeros((4, 4)), 2)),
        ("images", lambda: l20_tasks.edge_histograms(np.zeros((1, 4, 5)), 2)),
        ("images", lambda: l20_tasks.edge_histograms([["a"]], 1)),
        ("images", lambda: l20_tasks.edge_histograms(np.full((1, 4, 4), np.nan), 2)),
        ("cells", lambda: l20_tasks.edge_histograms(np.zeros((1, 4, 4)), 0)),
        ("directions", lambda: l20_tasks.edge_histograms(np.zeros((1, 4, 4)), 2, 0)),
        ("paths", lambda: l20_tasks.stroke_distances(PATHS[:1])),
        ("paths", lambda: l20_tasks.stroke_distances([*PATHS, np.zeros((0, 2))])),
        ("paths", lambda: l20_tasks.stroke_distances([*PATHS, np.full((1, 2), np.nan)])),
        ("paths", lambda: l20_tasks.stroke_distances([*PATHS, np.zeros(2)])),
        ("rng", lambda: r.linkage_task("rings and disks", 5, "seed")),
    ],
)
def test_bad_input_is_named(argument, call):
    with pytest.raises(InputError, match=f"^{argument}"):
        call()
