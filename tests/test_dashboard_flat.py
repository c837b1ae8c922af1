"The dashboard of flat clusters without a browser: the pure functions, extreme settings, the static twin."

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import picture_codes

from comparison_hc.comparisons import comparison_components
from comparison_hc.dashboards.flat import FlatInstance, FlatSettings, flat_data
from comparison_hc.dashboards.flat_page import flat_events
from comparison_hc.dashboards.pictures import shades
from comparison_hc.flat.planted import sample_comparisons
from comparison_hc.flat.sdp import cluster_matrix, sdp_lambda
from comparison_hc.metrics import adjusted_rand_index

EASY = dict(n=60, k=2, delta=0.8, epsilon=1.0, a=4.0)  # the certificate applies


def events_of(**setting):
    "{kind: event} as JSON gives them back; notes together."
    events = json.loads(json.dumps(list(flat_events(FlatSettings(**setting))), allow_nan=False))
    notes = [note for event in events if event["kind"] == "notes" for note in event["notes"]]
    return {event["kind"]: event for event in events} | {"notes": notes}


# ---- what is sent


@given(st.integers(1, 9), st.data())
def test_shades_are_the_matrix(n, data):
    A = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=n * n, max_size=n * n)), dtype=float).reshape(n, n)
    A += A.T
    low, high = A.min(), A.max()
    drawn = shades(A, low, high)
    if high > low:
        assert np.abs(drawn / 254 * (high - low) + low - A).max() <= 0.5 / 254 * (high - low) + 1e-9
    else:
        assert (drawn == 127).all()
    assert (np.diag(shades(A, low, high, diagonal=False)) == 255).all()


def test_the_page_gets_the_answers_of_the_methods():
    "S and the result are what the package's own functions give for the same draw, and what is proved is so."
    settings = FlatSettings(**EASY)
    instance, events = FlatInstance(settings), events_of(**EASY)
    answers = instance.model and instance.answers
    S = np.zeros((60, 60))
    for i, j, k in answers.array:
        S[[i, j], [j, i]] += 1
        S[[i, k], [k, i]] -= 1  # AddS-3 by its definition
    sent, result = events["similarity"]["show"], events["result"]["show"]
    off = ~np.eye(60, dtype=bool)
    assert (float(sent["data-low"]), float(sent["data-high"])) == (S[off].min(), S[off].max())
    assert sent["answers"].startswith(f"{settings.n_answers:,} of {settings.n_questions:,} ")
    drawn = picture_codes(sent["data"]["src"]).astype(int)
    error = np.abs(drawn[off] / 254 * np.ptp(S[off]) + S[off].min() - S[off]).max()
    assert error <= 0.5 / 254 * np.ptp(S[off]) + 1e-9
    data = flat_data(settings)
    labels = data["result"].labels
    assert adjusted_rand_index(instance.model.labels, labels) == data["ari"] == 1 and data["k_hat"] == 2
    assert (result["k-hat"], result["ari"]) == ("2 found, 2 planted", "1.000: all clusters")
    solution = picture_codes(result["solution"]["src"])
    assert set(np.unique(solution)) == {0, 254} and np.array_equal(solution > 0, cluster_matrix(labels) > 0)
    lam = sum(data["certified"]) / 2
    solved = sdp_lambda(S, lam, tol=1e-7, certificate=False)  # by iteration, without the proof
    assert np.abs(solved.X - cluster_matrix(labels)).max() < 1e-3
    assert data["planted"] == data["certified"] and data["limit"] >= data["certified"][1]
    bars = {bar["row"]: bar for bar in result["prices"]["rows"]["prices"]}
    assert bars["planted, proved"]["words"] == bars["found, proved"]["words"] != "none"


def test_an_x_that_is_no_partition_is_sent_as_shades():
    events = events_of(**{**EASY, "a": 1.5})
    show, data = events["result"]["show"], flat_data(FlatSettings(**{**EASY, "a": 1.5}))
    assert "iteration" in show["proof"] and data["certified"] is None and data["result"].solution.n_iter > 0
    assert next(bar for bar in show["prices"]["rows"]["prices"] if bar["row"].startswith("found"))["words"] == "none"
    high = data["result"].X.max()
    X = picture_codes(show["solution"]["src"]) / 254 * high
    assert np.abs(X.sum(axis=1) - 1).max() < 0.5 / 254 * high * 60 + 1e-6  # X1 = 1, up to shades
    rows = {row["k"]: row["objective"] for row in show["objective"]["rows"]["objective"]}
    assert max(rows.values()) == rows[data["k_hat"]]


def test_every_k_on_demand():
    few, many = (events_of(**EASY, every_k=each)["result"]["show"] for each in (False, True))
    assert few["k-hat"] == many["k-hat"] == "2 found, 2 planted"
    few, many = (each["objective"]["rows"]["objective"] for each in (few, many))
    assert any(row["objective"] is None for row in few) and all(0 < row["objective"] <= 1 for row in many)


def test_a_move_of_epsilon_turns_answers_in_the_same_sample():
    calm = FlatInstance(FlatSettings(**EASY))
    assert len(calm.answers)
    noisy = FlatInstance(FlatSettings(**{**EASY, "epsilon": 0.5}), calm)
    assert noisy.sample is calm.sample and np.array_equal(calm.answers.array, calm.sample.array)
    turned = (noisy.answers.array != calm.answers.array).any(axis=1)
    assert abs(turned.mean() - 0.25) < 5 * (0.25 * 0.75 / len(turned)) ** 0.5  # (1 − ε)/2; five standard deviations
    assert np.array_equal(np.sort(noisy.answers.array, axis=1), np.sort(calm.answers.array, axis=1))


def test_flat_data_says_the_same():
    data, event = flat_data(FlatSettings(**EASY)), events_of(**EASY)["result"]
    show = event["show"]
    assert (f"{data['k_hat']} found, 2 planted", f"{data['ari']:.3f}: all clusters") == (show["k-hat"], show["ari"])
    (row,) = event["rows"]
    assert (row["ari"], row["clusters"], row["n"]) == (round(data["ari"], 6), data["k_hat"], EASY["n"])
    bar = next(bar for bar in show["prices"]["rows"]["prices"] if bar["row"].startswith("found"))
    assert (bar["low"], bar["high"]) == pytest.approx(data["certified"])
    assert set(data["objective"]) == {row["k"] for row in show["objective"]["rows"]["objective"]}
    assert data["notes"] == []


# ---- extremes: sentences, never a traceback

NOTHING = {
    "nothing sampled": (dict(n=60, a=-6), "No comparison is asked"),
    "more than exist": (dict(n=60, a=6.0), "there are only"),
    "more than the page draws": (dict(n=400, a=5.5), "at most 5,000,000"),
}


@pytest.mark.parametrize("case", NOTHING)
def test_where_nothing_can_be_computed(case):
    setting, says = NOTHING[case]
    events = list(flat_events(FlatSettings(**setting)))
    assert [event["kind"] for event in events] == ["sentence"]
    assert says in events[0]["text"]
    assert events[0]["text"].endswith(".")
    assert flat_data(FlatSettings(**setting)) == {"why": events[0]["text"]}


EXTREMES = {
    "k > n/2": (dict(n=20, k=15, a=1.0), "k > n/2"),
    "k = n": (dict(n=12, k=12, a=1.0), "every cluster is a single object"),
    "k = 1": (dict(n=20, k=1, a=1.0), "at least two clusters"),
    "many clusters": (dict(n=60, k=12, a=1.0), "Remark 3"),
    "few answers": (dict(n=30, k=2, a=0), "not connected"),
    "one answer": (dict(n=20, k=2, a=-2.5), "not connected"),
    "three objects": (dict(n=3, k=2, a=0), ""),
    "below n ln n": (dict(n=30, k=2, a=0.5), "fewer than n ln n"),
    "guessing": (dict(n=20, k=2, epsilon=0.01, a=1.0), ""),
    "all triplets": (dict(n=12, k=2, a=4.2, similarity="MulK-3"), ""),
}


@pytest.mark.parametrize("case", EXTREMES)
def test_extremes(case):
    setting, says = EXTREMES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is warned of becomes a note, nothing is lost
        events = events_of(**setting)
    assert says in " ".join(events["notes"]) and all(note.endswith(".") and len(note) > 20 for note in events["notes"])
    if "result" in events:
        assert 1 <= int(events["result"]["show"]["k-hat"].split()[0]) <= setting["n"]
    else:
        assert events["sentence"]["text"].endswith(".")


def test_falling_apart_is_what_the_components_say():
    instance = FlatInstance(FlatSettings(n=30, k=2, a=0))
    groups = comparison_components(instance.answers).max() + 1
    assert groups > 1 and f"the {groups} groups" in " ".join(instance.notes())


def test_the_sample_is_that_of_the_model():
    "At ε = 1 the page's answers are `sample_comparisons` of the page's similarities."
    instance = FlatInstance(FlatSettings(**EASY))
    again = sample_comparisons(instance.model, "triplets", instance.settings.n_answers, 1.0, instance.stream("sample"))
    assert np.array_equal(instance.answers.array, again.array)
