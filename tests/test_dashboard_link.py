"The dashboard of learning to link without a browser: pure functions against the definition, bad settings, as a file."

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from comparison_hc.dashboards import link, link_page
from comparison_hc.dashboards.link import (
    FAMILIES,
    TASKS,
    LinkSettings,
    all_trees,
    draw_task,
    family_of,
    guessed_classes,
    link_data,
    one_curve,
)
from comparison_hc.dashboards.link_page import link_events
from comparison_hc.link.execution import piecewise_loss
from comparison_hc.link.merge import alpha_linkage, beta_linkage
from comparison_hc.metrics import pruning_loss

LIVE_VALUES = LinkSettings.values("live")
SMALL = dict(per_class=4, task=0, tasks=3)
kinds, families, per_class = (st.sampled_from(each) for each in (list(TASKS), list(FAMILIES), [2, 3, 5, 8]))
some_settings = st.builds(LinkSettings, kinds, families, per_class, st.integers(0, 40), st.integers(1, 3))


def tree_at(settings, task, x):
    "The dendrogram at x, by the definition."
    if settings.family == "two metrics":
        return beta_linkage(*task.metrics[1:], x)
    return alpha_linkage(task.metrics[0], x, FAMILIES[settings.family])


def clusters_of(merges):
    "The tree as a set of clusters."
    members = {i: frozenset([i]) for i in range(len(merges) + 1)}
    for a, b in merges:
        members[len(members)] = members[int(a)] | members[int(b)]
    return set(members.values())


# ---- what is computed


@given(some_settings, st.lists(st.floats(0, 1), min_size=3, max_size=6))
@hypothesis_settings(max_examples=12, deadline=None)
def test_every_place_has_the_tree_of_the_definition(settings, places):
    task = draw_task(settings)
    trees = all_trees(settings, task)
    begins = trees.breaks[trees.firsts]
    for x in [*places, *begins[:5], *((begins + np.append(begins[1:], 1)) / 2)[:5]]:
        t = int(np.searchsorted(begins, x, side="right")) - 1
        tree = tree_at(settings, task, float(x))
        assert clusters_of(trees.merges[t]) == clusters_of(tree.linkage_matrix[:, :2])
        assert trees.losses[t] == pruning_loss(tree, task.labels)


@given(some_settings)
@hypothesis_settings(max_examples=20, deadline=None)
def test_guesses_are_as_wrong_as_the_loss_and_name_every_cluster_differently(settings):
    task = draw_task(settings)
    trees = all_trees(settings, task)
    assert np.allclose((trees.guesses != task.labels).mean(axis=1), trees.losses)
    for guess, merges in zip(trees.guesses, trees.merges):
        classes = [frozenset(np.flatnonzero(guess == c).tolist()) for c in range(len(task.names))]
        assert all(classes) and set(classes) <= clusters_of(merges)  # k clusters of the tree, each of one class


def test_the_curve_is_that_of_notebook_41():
    for family in FAMILIES:
        settings = LinkSettings(family=family, **SMALL)
        task = draw_task(settings)
        D, merges = family_of(settings, task)
        exact, trees = piecewise_loss(D, task.labels, merges), all_trees(settings, task)
        assert np.array_equal(trees.breaks, exact.breakpoints)
        assert np.array_equal(trees.curve.simplified().values, exact.simplified().values)
        assert np.array_equal(one_curve(settings, 0).breakpoints, exact.simplified().breakpoints)


@pytest.mark.parametrize("kind", TASKS)
def test_tasks(kind):
    one, same, other = (draw_task(LinkSettings(kind, per_class=6, task=number)) for number in (3, 3, 4))
    n = 6 * len(one.names)
    assert one.points.shape == (n, 2)
    assert np.bincount(one.labels).tolist() == [6] * len(one.names)
    assert len(one.metrics) == 3
    assert one.axes.endswith(".")
    for D, again, different in zip(one.metrics, same.metrics, other.metrics):
        assert np.isclose(D.mean(), 1)
        assert (D == again).all()
        assert (D == D.T).all()
        assert (D.diagonal() == 0).all()
        assert (D != different).any()


def test_a_cluster_that_stands_for_no_class_gets_one_that_is_left(monkeypatch):
    from types import SimpleNamespace

    monkeypatch.setattr(
        link,
        "best_pruning",
        lambda dendrogram, labels: SimpleNamespace(assignment=(2, None, 0), partition=np.array([0, 1, 2, 1]), loss=0.5),
    )
    assert guessed_classes(None, np.array([0, 1, 2, 2]))[0].tolist() == [2, 1, 0, 1]


# ---- what is sent


def test_events_hold_everything_and_the_average_grows():
    settings = LinkSettings(**SMALL)
    first, *averages = json.loads(json.dumps(list(link_events(settings)), allow_nan=False))
    data = link_data(settings)
    n, trees = 16, data["trees"]
    middles = (trees.breaks[:-1] + trees.breaks[1:]) / 2
    assert np.array_equal(np.array(first["middles"]), middles)
    assert np.array_equal([tree["guesses"] for tree in first["trees"]], trees.guesses) and len(first["points"]) == n
    wrong = trees.guesses != data["task"].labels
    assert np.array_equal([tree["wrong"] for tree in first["trees"]], wrong)
    assert [tree["loss"] for tree in first["trees"]] == trees.losses.tolist()
    for tree, merges, loss in zip(first["trees"], trees.merges, trees.losses, strict=True):
        assert len(re.findall(r"H9999(?=[M\"])", tree["show"]["tree"]["html"])) == n == len(merges) + 1
        assert tree["show"]["loss"] == f"{loss:.3f}: {round(loss * n)} of {n} wrong"
    ends = [first["show"][name] for name in ("parameter", "end-0", "end-1")]
    assert ends == ["α", "0: single linkage", "1: complete linkage"]
    assert [event["tasks"] for event in averages] == [1, 2, 3]
    assert [event["words"] for event in averages] == ["1 task of 3", "2 tasks of 3", "3 tasks"]
    exact = data["average"].simplified()
    middle, _ = averages[-1]["best"]
    assert float(exact(middle)) == exact.values.min()
    assert averages[-1]["show"]["best-mean"].startswith(f"{exact.values.min():.3f}, α from ")


@given(some_settings)
@hypothesis_settings(max_examples=10, deadline=None)
def test_what_the_page_looks_up_is_what_holds_there(settings):
    "Tables against the definition: the piece and the tree at every thousandth, the average there and in the middles."
    first, *_, last = link_events(settings)
    data = link_data(settings)
    breaks, begins = data["trees"].breaks, data["trees"].breaks[data["trees"].firsts]
    at, tree_of = np.array(first["at"]), np.array(first["tree_of"])
    grid = np.arange(1001) / 1000
    for x, piece in zip(grid, at):
        assert breaks[piece] <= x and (x < breaks[piece + 1] or x == 1 == breaks[piece + 1])
    assert np.array_equal(data["curve"](grid), data["trees"].losses[tree_of[at]])
    middles = np.array(first["middles"])
    wide = np.diff(breaks) > 1e-9  # the middle of a piece of one or two floating-point numbers is one of its ends
    assert np.array_equal(tree_of[wide], (np.searchsorted(begins, middles, side="right") - 1)[wide])
    for tree, record in enumerate(first["trees"]):
        assert tree_of[record["middle"]] == tree or record["end"] - record["begin"] < 1e-9
        assert record["back"] == first["trees"][max(tree - 1, 0)]["middle"]
        assert record["on"] == first["trees"][min(tree + 1, len(first["trees"]) - 1)]["middle"]
    assert float(data["curve"](middles[first["best"]])) == data["curve"].best()[0]
    value, piece = last["best"]
    assert float(data["average"](value)) == data["average"].best()[0] == last["least"]
    assert breaks[piece] <= value <= breaks[piece + 1]
    assert np.array_equal(last["mean_at"], data["average"](grid))
    assert np.array_equal(last["mean_middles"], data["average"](middles))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_average_does_not_depend_on_the_task_that_is_shown(family):
    inside, outside = (
        list(link_events(LinkSettings(per_class=4, family=family, task=task, tasks=3)))[-1] for task in (1, 7)
    )
    assert inside["mean_at"] == outside["mean_at"] and inside["tasks"] == 3


def test_the_average_is_not_computed_twice(monkeypatch):
    known, asked, real = {}, [], link_page.one_curve
    monkeypatch.setattr(
        link_page, "one_curve", lambda settings, number, step: asked.append(number) or real(settings, number, step)
    )
    list(link_events(LinkSettings(**SMALL), memory=known))
    again = list(link_events(LinkSettings(per_class=4, task=7, tasks=5), memory=known))
    fewer = list(link_events(LinkSettings(per_class=4, task=7, tasks=2), memory=known))
    assert asked == [1, 2, 3, 4]  # the first is shown, and known from there
    assert [event["tasks"] for event in again[1:]] == [3, 5]
    assert [event["tasks"] for event in fewer[1:]] == [2]
    assert again[-1] == list(link_events(LinkSettings(per_class=4, task=7, tasks=5)))[-1]
    assert fewer[-1] == list(link_events(LinkSettings(per_class=4, task=7, tasks=2)))[-1]
