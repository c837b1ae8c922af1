"The planner's dashboard: pure functions and events."

import json

import numpy as np
import pytest

from comparison_hc.dashboards.plan import REPETITIONS, SIZES, PlanSettings, design_curves, one_repetition, read_off
from comparison_hc.dashboards.plan_page import plan_event, plan_events
from comparison_hc.whatif.designs import QUESTIONS, study_run

SMALL = dict(n=12, n_levels=1, people=3, minutes=4)


@pytest.fixture(scope="module")
def small():
    "One repetition at a small setting."
    return one_repetition(PlanSettings(**SMALL), 1)


def test_every_point_is_a_study_by_hand(small):
    for design, size in (("triplets", 60), ("odd-one-out", 240), ("central", 7680)):
        rng = np.random.default_rng([0, 1])
        found = study_run(12, 1, 2.0, 0.15, design, size, size, "3k-al", 1, rng)["aari"]
        assert small[QUESTIONS.index(design), SIZES.index(size)] == found


def test_what_is_read_off_lies_on_the_curve():
    rising = np.linspace(0.1, 0.8, len(SIZES))[:, None] + np.array([-0.05, 0.0, 0.05])
    for people, minutes in ((3, 4), (20, 15), (100, 60)):
        s = PlanSettings(people=people, minutes=minutes, target=0.5)
        read = read_off(s, rising)
        assert np.isclose(read["reached"], np.interp(np.log(s.budget), np.log(SIZES), rising.mean(axis=1)))
        assert np.isclose(read["people"], np.ceil(read["needed"].value / s.new_per_person))
        assert read["gain"] >= 0
    assert read_off(PlanSettings(target=0.95), rising)["people"] == np.inf
    assert read_off(PlanSettings(target=0.05), rising)["people"] == -np.inf


def test_sliders_of_the_first_line_simulate_and_the_others_do_not(small, monkeypatch):
    played = []
    monkeypatch.setattr(
        "comparison_hc.dashboards.plan_page.one_repetition", lambda s, r, step: played.append(s.studied) or small
    )
    memory = {}
    first = list(plan_events(PlanSettings(**SMALL), memory=memory))
    assert len(first) == len(played) == REPETITIONS and all(event["drawn"] for event in first)
    for other in (dict(people=8), dict(minutes=10), dict(seconds=3), dict(target=0.5)):
        again = list(plan_events(PlanSettings(**{**SMALL, **other}), memory=memory))
        assert len(again) == 1 and len(played) == REPETITIONS
    for other in (dict(n=16), dict(n_levels=2), dict(noise=0.3), dict(method="3-al"), dict(seed=1)):
        list(plan_events(PlanSettings(**{**SMALL, **other}), memory=memory))
    list(plan_events(PlanSettings(**SMALL, delta_over_sigma=1.0), memory=memory))
    assert len(played) == 7 * REPETITIONS and len(set(played)) == 7
    for event in first:
        json.dumps(event, allow_nan=False)


def test_a_stopped_simulation_goes_on_where_it_was(small, monkeypatch):
    monkeypatch.setattr("comparison_hc.dashboards.plan_page.one_repetition", lambda s, r, step: small + r)
    memory, whole = {}, list(plan_events(PlanSettings(**SMALL)))
    begun = plan_events(PlanSettings(**SMALL), memory=memory)
    next(begun), next(begun), begun.close()
    again = list(plan_events(PlanSettings(**SMALL, target=0.5), memory=memory))
    assert len(again) == 1 + REPETITIONS - 2
    assert again[-1]["show"]["curve"]["rows"]["means"] == whole[-1]["show"]["curve"]["rows"]["means"]


def test_the_event_says_what_the_curve_says(small):
    s = PlanSettings(**SMALL)
    event = plan_event(s, [small, small])
    assert event == plan_event(s, [small, small])
    rows = event["show"]["curve"]["rows"]["means"]
    assert [row["mean"] for row in rows] == small.ravel().tolist()
    reads = {design: read_off(s, values) for design, values in design_curves([small, small]).items()}
    best = max(reads, key=lambda design: reads[design]["reached"])
    said = event["show"]["advice"]
    assert f"3 people answer {s.budget:,} new questions" in said and f"The best design is {best}" in said
    assert event["notes"] == []
    outside = plan_event(PlanSettings(**{**SMALL, "people": 1000, "minutes": 60}), [small])
    assert "outside the simulated range" in outside["notes"][0]
