"The page that steps through an insertion, without a browser: the record of a run, the stored runs, the events, the static twin, bad settings."

import json
import re
import threading
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from comparison_hc import InputError
from comparison_hc.adaptive import insertion_clustering, random_hierarchy
from comparison_hc.adaptive.queries import GrowingTree
from comparison_hc.dashboards import shell, step
from comparison_hc.dashboards.step import (
    DELTA_VALUES,
    EXACT_N,
    LIVE_VALUES,
    NOISY_N,
    P_VALUES,
    RUNS,
    SHAPE_NAMES,
    STATIC_VALUES,
    StepSettings,
    chart_lines,
    questions,
    settings_from_message,
    step_data,
    step_events,
    step_static,
    stored_questions,
    watch,
)
from comparison_hc.oracles import HierarchyOracle, run

properties = hypothesis_settings(deadline=None, derandomize=True, max_examples=25)
shapes = st.sampled_from(SHAPE_NAMES)


def parts(vertices, pivot):
    "The vertices left of, right of, and elsewhere."
    kids = {v: (left, right) for v, left, right in vertices}

    def below(v):
        return {v} if kids[v][0] < 0 else {v} | below(kids[v][0]) | below(kids[v][1])

    left, right = map(below, kids[pivot])
    return left, right, set(kids) - left - right


@properties
@given(st.integers(3, 26), shapes, st.integers(0, 50))
def test_an_exact_run_is_insertion_clustering_and_rules_out_what_the_answers_say(n, shape, seed):
    insertions, learned, hidden = watch(StepSettings(n, shape, 1.0, seed=seed))
    asked = []
    assert (
        run(insertion_clustering(n), lambda q: asked.append(tuple(q[0].tolist())) or HierarchyOracle(hidden)(q))
        == learned
        == hidden
    )
    assert asked == [q.items for each in insertions for q in each.questions] and [
        each.item for each in insertions
    ] == list(range(2, n))
    for each in insertions:
        names = [v for v, *_ in each.vertices]
        S = [{v for v, share in zip(names, row) if share > 0} for row in each.shares]
        assert S[0] == set(names) and S[-1] == {each.sibling} and len(S) == len(each.questions) + 1
        for before, after, q in zip(S, S[1:], each.questions):
            left, right, rest = parts(each.vertices, q.pivot)
            assert (
                after == before & (right, left, rest)[q.answer]
                and q.items[0] in left
                and q.items[1] in right
                and q.items[2] == each.item
                and q.answer == q.truth
            )
    tree = GrowingTree(n)
    tree.splice(0, 1)
    for each in insertions:
        tree.splice(each.sibling, each.item)
    assert tree.dendrogram() == hidden


@pytest.mark.parametrize(
    "n, shape, p, delta, seed",
    [(5, "uniform", 0.8, 0.05, 0), (9, "caterpillar", 0.7, 0.2, 3), (12, "balanced", 0.9, 0.01, 1)],
)
def test_a_noisy_run_multiplies_shares_by_what_the_answers_say(n, shape, p, delta, seed):
    insertions, learned, hidden = watch(StepSettings(n, shape, p, delta, seed))
    wrong = 0
    for each in insertions:
        names = [v for v, *_ in each.vertices]
        for before, after, q in zip(each.shares, each.shares[1:], each.questions):
            named = (
                parts(each.vertices, q.pivot)[1],
                parts(each.vertices, q.pivot)[0],
                parts(each.vertices, q.pivot)[2],
            )[q.answer]
            belief = np.array(before) * [p if v in named else 1 - p for v in names]
            assert (
                np.allclose(after, belief / belief.sum())
                and q.truth == HierarchyOracle(hidden)(np.array([q.items])).item()
            )
            wrong += q.answer != q.truth
        assert (
            max(each.shares[-1]) == each.shares[-1][names.index(each.sibling)] and max(each.shares[-1]) >= 1 - delta / n
        )
    data = step_data(StepSettings(n, shape, p, delta, seed))
    assert (
        data
        == dict(questions=[len(each.questions) for each in insertions], wrong_answers=wrong, right=learned == hidden)
        and wrong > 0
    )


def test_events_are_the_record():
    settings = StepSettings(7, "split", 0.9)
    sent, chart = json.loads(json.dumps(list(step_events(settings)), allow_nan=False))
    insertions, learned, hidden = watch(settings)
    assert (
        sent["right"] == (learned == hidden) and not sent["exact"] and chart["lines"] == chart_lines("split", 0.9, 0.05)
    )
    for each, one in zip(insertions, sent["insertions"], strict=True):
        assert (one["item"], one["sibling"], one["vertices"]) == (
            each.item,
            each.sibling,
            [list(row) for row in each.vertices],
        )
        assert (
            one["questions"] == [[q.pivot, *q.items, q.answer, q.truth] for q in each.questions]
            and np.abs(np.array(one["shares"]) / 1000 - each.shares).max() <= 5.1e-4
        )
    exact = next(iter(step_events(StepSettings(7))))
    assert all(
        (np.array(row) > 0).tolist() == [share > 0 for share in shares]
        for one, each in zip(exact["insertions"], watch(StepSettings(7))[0])
        for row, shares in zip(one["shares"], each.shares)
    )


# ---- stored runs


@pytest.mark.parametrize(
    "algorithm, n, p, delta",
    [
        ("insertion", 16, 1.0, None),
        ("insertion", 128, 1.0, None),
        ("quick", 32, 1.0, None),
        ("bayesian", 16, 0.8, 0.01),
        ("bayesian", 32, 0.95, 0.2),
        ("robust", 4, 0.8, 0.05),
        ("robust", 16, 0.95, 0.01),
    ],
)
def test_stored_runs_can_be_made_again(algorithm, n, p, delta):
    for shape in ("balanced", "caterpillar"):
        mean = np.mean(
            [questions(algorithm, n, shape, p, delta, seed) for seed in range(1 if algorithm == "robust" else 3)]
        )
        assert stored_questions(algorithm, shape, p, delta)[(EXACT_N if p == 1 else NOISY_N).index(n)] == round(mean)


def test_everything_is_stored():
    assert set(RUNS) == {("insertion",), ("quick",)} | {
        (a, f"{p:g}", f"{d:g}") for a in ("bayesian", "robust") for p in P_VALUES for d in DELTA_VALUES
    }
    for key, rows in RUNS.items():
        assert len(rows) == 4 and all(
            len(row) == len(EXACT_N if len(key) == 1 else NOISY_N) and row == sorted(row) for row in rows
        )
    assert stored_questions("robust", "split", 0.7123, 0.05) == [] and stored_questions(
        "insertion", "split", 0.7, 0.01
    ) == stored_questions("insertion", "split")


def test_the_chart_has_the_bounds_and_nothing_leaves_them():
    lines = {line["name"]: line for line in chart_lines("uniform", 0.8, 0.05)}
    assert len(lines) == 10 and all(len(line["n"]) == len(line["q"]) > 0 for line in lines.values())
    for at, n in enumerate(EXACT_N):
        assert lines["all triplets, C(n, 3)"]["q"][at] == comb(n, 3) and lines["all pairs, C(n, 2)"]["q"][at] == comb(
            n, 2
        )
        assert (
            0.9 * lines["log₃ (2n−3)!!, anyone at least"]["q"][at]
            <= lines["insertion"]["q"][at]
            <= lines["n log₂ n, insertion at most"]["q"][at]
            == pytest.approx(n * log2(n), abs=0.06)
        )
    for bound, measured in (
        ("469 n log₂ n, quick clustering on average at most", "quick clustering"),
        ("theorem 5.1, robust insertion at most", "robust insertion"),
    ):
        assert lines[bound]["n"] == lines[measured]["n"] and all(
            most > q for most, q in zip(lines[bound]["q"], lines[measured]["q"])
        )
    exact = {line["name"]: line["q"] for line in chart_lines("uniform", 1.0, 0.05)}
    assert (
        exact["robust insertion"] == exact["Bayesian insertion"] == [] and exact["insertion"] == lines["insertion"]["q"]
    )


# ---- settings, static twin, widget


@pytest.mark.parametrize(
    "bad, says",
    [
        (dict(n=2), "n must"),
        (dict(n=27), "n must"),
        (dict(n=5.0), "n must"),
        (dict(shape="star"), "shape"),
        (dict(shape=["split"]), "shape"),
        (dict(p=0.5), "p must"),
        (dict(p=1.1), "p must"),
        (dict(p=float("nan")), "p must"),
        (dict(delta=0), "δ must"),
        (dict(delta=1), "δ must"),
        (dict(seed=-1), "seed"),
        (dict(colour="red"), "settings must"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(bad, says):
    with pytest.raises(InputError, match=says):
        settings_from_message(bad)


def test_other_messages_are_refused():
    with pytest.raises(InputError, match="settings must"):
        settings_from_message([1])
    assert settings_from_message({}) == StepSettings()


@pytest.mark.parametrize("values", [LIVE_VALUES, STATIC_VALUES])
def test_every_value_of_a_control_is_legal(values):
    for name in values:
        for value in values[name]:
            settings_from_message({name: value})


SMALL = dict(STATIC_VALUES, n=[4, 6], shape=["uniform", "balanced"], p=[0.9, 1.0], seed=[0])


def test_static_twin_is_deterministic_whole_and_asks_nobody():
    seen = []
    text = step_static(lambda done, total: seen.append((done, total)), SMALL)
    assert text == step_static(values=SMALL) and seen == [(done, 8) for done in range(1, 9)]
    assert not re.search(
        r"""(src|href)\s*=\s*["'](?!data:)|url\(|import\s|fetch\(|XMLHttp|https?://(?!www\.w3\.org/2000/svg)""", text
    )
    data, spec = (json.loads(re.search(rf'id="{name}">(.*?)</script>', text).group(1)) for name in ("data", "spec"))
    assert (
        len(data["answers"]) == 8
        and data["names"] == ["n", "shape", "p"] == [control["name"] for control in spec["controls"]]
        and spec["start"]["n"] == 4
    )
    fresh = list(step_events(StepSettings(6, "balanced", 0.9)))
    assert [data["events"][place] for place in data["answers"]["6|balanced|0.9"]] == json.loads(
        json.dumps(fresh)
    ) and "4|uniform|1" in data["answers"]


def test_it_is_registered():
    dashboard = shell.find_dashboard("step")
    assert dashboard.widget == "step_dashboard" and dashboard.static is step_static


def test_the_widget_answers_messages():
    pytest.importorskip("anywidget")
    widget, sent, done = step.step_dashboard(n=5), [], threading.Event()

    def send(event, *_):
        sent.append(event)
        event["kind"] == "done" and done.set()

    widget.send = send
    for number, setting in (("v:1", dict(widget.spec["start"], n=99)), ("v:2", widget.spec["start"])):
        done.clear()
        widget._handle_custom_msg(dict(number=number, settings=setting), [])
        assert done.wait(30)
    widget.worker.close()
    assert [event["kind"] for event in sent if event["kind"] != "progress"] == [
        "sentence",
        "done",
        "run",
        "chart",
        "done",
    ] and sent[-3]["n"] == 5
