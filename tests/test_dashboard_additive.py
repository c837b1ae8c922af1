"The dashboard of three pictures: worlds, models and words by definition."

import json
import re

import numpy as np
import pytest

from comparison_hc.dashboards import AdditiveSettings, additive_data
from comparison_hc.dashboards.additive import WORLDS, draw_world, fitted_models
from comparison_hc.dashboards.additive_page import additive_events

MODELS = ["dendrogram", "additive tree", "points", "ceiling"]


def events_of(**changed):
    (event,) = additive_events(AdditiveSettings(**changed))
    return event


def four_point_gap(D):
    "By how much the two largest of three sums of opposite sides differ, at most: 0 for one additive tree."
    n = len(D)
    sums = [
        sorted((D[i, j] + D[k, l], D[i, k] + D[j, l], D[i, l] + D[j, k]))
        for i in range(n)
        for j in range(i)
        for k in range(j)
        for l in range(k)
    ]
    return max(high - middle for _, middle, high in sums)


@pytest.mark.parametrize("world", WORLDS)
def test_worlds_have_their_shape_and_answers_their_noise(world):
    s = AdditiveSettings(world=world, n=8, answers=3200, noise=0.5)
    D, given, new = draw_world(s)
    assert np.allclose(D, D.T) and not D.diagonal().any() and D[np.triu_indices(8, 1)].std() == pytest.approx(2)
    assert (four_point_gap(D) < 1e-9) == (world in ("a line", "nested groups", "an additive tree"))
    i, j, k = new.array.T
    p = np.maximum(D[i, k] - D[i, j], D[i, j] - D[i, k])
    expected = (1 / (1 + np.exp(-p))).mean()
    right = np.where(np.isclose(D[i, j], D[i, k]), 0.5, D[i, j] < D[i, k])
    assert right.mean() == pytest.approx(expected, abs=0.03)
    few = draw_world(AdditiveSettings(world=world, n=8, answers=100, noise=0.5))[1]
    assert np.array_equal(few.array, given.array[:100])


def test_numbers_are_those_of_the_models_by_hand():
    s = AdditiveSettings(answers=200)
    D, given, new = draw_world(s)
    found = additive_data(s)
    assert list(found) == MODELS
    distances = {name: each for name, (_, each) in fitted_models(given).items()} | {"ceiling": D}
    for name, (agreement, loss) in found.items():
        margins = [distances[name][i, k] - distances[name][i, j] for i, j, k in new.array.tolist()]
        assert agreement == pytest.approx(np.mean([1.0 if m > 1e-9 else 0.5 * (abs(m) <= 1e-9) for m in margins]))
        assert loss == pytest.approx(np.mean([np.log1p(np.exp(-m)) for m in margins]))
    assert found["ceiling"][1] < min(loss for name, (_, loss) in found.items() if name != "ceiling")


def test_the_words_name_the_best_model():
    for changed in ({}, dict(world="the plane", answers=3200), dict(world="two additive trees", answers=3200)):
        event = events_of(**changed)
        losses = {row["model"]: row["loss"] for row in event["rows"]}
        best = min(MODELS[:3], key=losses.get)
        words = event["show"]["words"]
        assert words.startswith(f"The {best} predict")
        assert f"{losses[best] - losses['ceiling']:.3f} in log loss" in words
        json.dumps(event, allow_nan=False)


def test_pictures_have_every_object_once_and_nothing_else():
    show = events_of(n=10)["show"]
    for name in ("groups", "tree", "points"):
        texts = re.findall(r"<text[^>]*>([A-Z])</text>", show[name])
        assert sorted(texts) == list("ABCDEFGHIJ"), name
    places = [tuple(map(float, each)) for each in re.findall(r'circle cx="([\d.]+)" cy="([\d.]+)"', show["points"])]
    assert len(places) == 10 and all(0 <= value <= 300 for place in places for value in place)


def test_more_answers_bring_the_tree_to_the_ceiling():
    gaps = []
    for answers in (50, 3200):
        found = [additive_data(AdditiveSettings(answers=answers, seed=seed)) for seed in range(4)]
        gaps.append(np.mean([each["additive tree"][1] - each["ceiling"][1] for each in found]))
    assert gaps[1] < 0.02 < gaps[0]
