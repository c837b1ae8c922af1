"Dashboards without a browser: the worker, the pure functions, extreme settings, the static twin."

import json
import re
import sys
import threading
from dataclasses import fields, replace
from html import escape, unescape
from itertools import product
from math import inf
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from shared import assert_javascript, contrasts, least_difference, picture_codes, read_static_page, read_static_twin

from comparison_hc import InputError
from comparison_hc.core.plotting import tree_layout
from comparison_hc.dashboards import measure, page, planted_page, theorem_conditions
from comparison_hc.dashboards.ask_page import code_text, page_spec
from comparison_hc.dashboards.flat import FlatSettings, flat_data
from comparison_hc.dashboards.framework import find_dashboard, key_text, no_step
from comparison_hc.dashboards.link_page import LOOKS
from comparison_hc.dashboards.pictures import CLUSTERS, edges
from comparison_hc.dashboards.planted import PlantedInstance, PlantedSettings, planted_data
from comparison_hc.dashboards.planted_page import planted_events
from comparison_hc.dashboards.sources import PREPRINTS, Pages, anchor, pages_beside, pages_given
from comparison_hc.dashboards.theorem_conditions import Hypothesis, hypotheses
from comparison_hc.dashboards.worker import LatestOnly
from comparison_hc.elicitation.session import Session
from comparison_hc.reproduce.f19 import planted_methods, planted_run
from comparison_hc.theory.statements import NUMBERED

# ---- the worker


class Stage:
    "Work that stands still where a test wants it to."

    def __init__(self):
        self.events, self.begun, self.gates, self.here = [], [], {}, threading.Condition()

    def publish(self, event):
        self.events.append(event)

    def work(self, name, step):
        with self.here:
            self.begun.append(name)
            self.here.notify_all()
        yield dict(kind="part", of=name)
        if name in self.gates:
            assert self.gates[name].wait(20)
        step("between", 1, 2)
        yield dict(kind="part", of=name)

    def until(self, name):
        "Wait until the work on this has begun."
        with self.here:
            assert self.here.wait_for(lambda: name in self.begun, 20)


@pytest.fixture
def stage():
    "A stage with a worker that is closed in the end."
    stage = Stage()
    stage.worker = LatestOnly(stage.work, stage.publish)
    yield stage
    for gate in stage.gates.values():
        gate.set()
    stage.worker.close()


def test_only_the_latest_request_is_answered(stage):
    stage.gates["A"] = threading.Event()
    stage.worker.submit(1, "A")
    stage.until("A")
    for number, name in ((2, "B"), (3, "C"), (4, "D")):
        stage.worker.submit(number, name)
    stage.gates["A"].set()
    assert stage.worker.wait(20)
    assert stage.begun == ["A", "D"]  # B and C were never begun
    assert [(event["number"], event["kind"]) for event in stage.events] == [
        (1, "part"),
        (4, "part"),
        (4, "part"),
        (4, "done"),
    ]


@given(st.lists(st.booleans(), min_size=1, max_size=12))
@hypothesis_settings(max_examples=30)
def test_the_last_request_is_always_answered_in_full(waits):
    "Whatever the order of requests and pauses: the last one is answered in full, at the end; nothing old comes after."
    stage = Stage()
    worker = LatestOnly(stage.work, stage.publish)
    for number, pause in enumerate(waits):
        worker.submit(number, str(number))
        if pause:
            assert worker.wait(20)
    assert worker.wait(20)
    worker.close()
    numbers = [event["number"] for event in stage.events]
    assert numbers == sorted(numbers)
    assert [event["kind"] for event in stage.events[-3:]] == ["part", "part", "done"]
    assert numbers[-3:] == [len(waits) - 1] * 3
    assert all(numbers.count(number) == 3 for number, pause in enumerate(waits) if pause)


def test_progress_is_published_only_when_work_is_long():
    seen = []

    def work(settings, step):
        for done in range(5):
            step("counting", done, 5)
        yield dict(kind="part")

    for show_after, expected in ((0.0, 5), (60, 0)):
        worker = LatestOnly(work, seen.append, show_after)
        worker.submit(show_after, None)
        assert worker.wait(20)
        worker.close()
        progress = [event for event in seen if event["kind"] == "progress" and event["number"] == show_after]
        assert len(progress) == expected
        assert all(event["text"] == "counting" and event["total"] == 5 for event in progress)


@pytest.mark.parametrize(
    "error, says",
    [
        (InputError("p must be a number"), "p must be a number"),
        (MemoryError(), "memory"),
        (ZeroDivisionError("division"), "ZeroDivisionError"),
    ],
)
def test_mistakes_become_sentences_and_the_worker_lives_on(error, says, caplog):
    seen = []

    def work(settings, step):
        if settings:
            raise error
        yield dict(kind="part")

    worker = LatestOnly(work, seen.append)
    for number in (1, 0):
        worker.submit(number, number)
        assert worker.wait(20)
    worker.close()
    assert [(event["number"], event["kind"]) for event in seen] == [
        (1, "sentence"),
        (1, "done"),
        (0, "part"),
        (0, "done"),
    ]
    assert says in seen[0]["text"] and "Traceback" not in seen[0]["text"]
    assert ("Traceback" in caplog.text) == isinstance(
        error, ZeroDivisionError
    )  # the log has it, where it is our mistake


def test_a_closed_worker_publishes_nothing_more(stage):
    stage.gates["A"] = threading.Event()
    stage.worker.submit(1, "A")
    stage.until("A")
    stage.worker.close()
    stage.gates["A"].set()
    stage.worker._thread.join(20)
    assert not stage.worker._thread.is_alive() and [event["kind"] for event in stage.events] == ["part"]


# ---- the pure functions


@pytest.mark.parametrize(
    "seed, snr, p, n_pure", [(0, 0.6, 0.1, 4), (1, 1.4, 0.02, 3), (2, 0.8, 1.0, 5), (3, 1.0, 0.5, 2)]
)
def test_the_page_gets_the_trees_of_figure_2(seed, snr, p, n_pure):
    "What is sent is what the reproduction of figure 2 computes by itself, and the drawn tree has its AARI."
    wanted = {row["method"]: row for row in planted_run(0.1 * snr, p, n_pure, repetition=0, rng=seed)}
    settings = PlantedSettings(snr, p, n_pure, 3, seed, planted_methods)
    instance = PlantedInstance(settings)
    events = list(planted_events(settings, memory=dict(draw=instance)))
    shown = {event["when"][1]: event["show"] for event in events if event["kind"] == "method"}
    trees = {event["when"][1]: event["show"]["tree"] for event in events if event["kind"] == "tree"}
    values = {row["method"]: row["aari"] for event in events for row in event.get("rows", [])}
    order = ["4–AL", *(name for name in planted_methods if name != "4–AL")]  # the drawn one first
    assert list(shown) == list(trees) == order
    for name, show in shown.items():
        assert show[f"count {name}"] == f"{wanted[name]['comparisons']:,}"
        assert show[f"aari {name}"] == f"{wanted[name]['aari']:.3f}"
        assert values[name] == pytest.approx(wanted[name]["aari"], abs=1e-6)
        ends = re.findall(r"H9999(?=[M\"])", trees[name]["html"])  # a stem to every object
        assert len(ends) == settings.n_objects and trees[name]["aria-label"].endswith(f"{values[name]:.3f}")


@given(st.integers(2, 30), st.integers(0, 999), st.booleans())
def test_edges_lead_from_every_node_to_its_parent(n, seed, upright):
    "A stem and a bar, read back from the paths."
    rng, rows, roots = np.random.default_rng(seed), [], list(range(n))
    while len(roots) > 1:
        rows.append([roots.pop(rng.integers(len(roots))) for _ in range(2)])
        roots.append(n + len(rows) - 1)
    at = tree_layout(rows)
    x, y = 1 - at.x / at.x[-1], (at.y + 0.5) / n
    place = list(zip(np.rint(9999 * x).astype(int).tolist(), np.rint(9999 * y).astype(int).tolist()))
    paths = edges(x, y, at.parents, upright)
    for node, above in enumerate(at.parents):
        (x0, y0), (x1, y1) = place[above], place[node]
        if above == node:
            assert not upright or node not in paths
        elif upright:
            assert paths[node] == f"M{x0} {y0}H{x1}V{y1}"
        else:
            assert f"M{x0} {y0}V{y1}" in paths[above] and f"M{x0} {y1}H{x1}" in paths[node]


def test_events_are_json_and_the_heat_map_is_the_similarity():
    settings = PlantedSettings(n_pure=3, n_levels=2)
    instance = PlantedInstance(settings)
    events = json.loads(json.dumps(list(planted_events(settings, memory=dict(draw=instance))), allow_nan=False))
    model, w = events[0], instance.model.similarity
    shades = picture_codes(model["show"]["heat"]["src"]).astype(int)
    off = ~np.eye(12, dtype=bool)
    assert model["kind"] == "model"
    assert (np.diag(shades) == 255).all()
    assert shades[off].min() == 0
    assert shades[off].max() == 254
    shown = shades[off] / 254 * np.ptp(w[off]) + w[off].min()
    assert np.abs(shown - w[off]).max() <= 0.5 / 254 * np.ptp(w[off]) + 1e-12


def test_a_move_of_p_keeps_what_does_not_depend_on_it():
    before = PlantedInstance(PlantedSettings(p=0.01, n_pure=2))
    made = {name: before.tree(name) for name in ("SL", "CL", "4–AL")}
    after = PlantedInstance(PlantedSettings(p=0.02, n_pure=2), before)
    assert after.model is before.model
    assert after.tree("SL") is made["SL"]
    assert after.tree("CL") is made["CL"]
    assert "4–AL" not in after.given
    other = PlantedInstance(PlantedSettings(p=0.01, n_pure=2, seed=1), before)
    assert not other.asked and not other.given


# ---- extremes: sentences, never a traceback

EXTREMES = [  # what is said, at least something, or None for nothing in particular
    ("σ = 0", dict(snr=inf)),
    ("δ = 0", dict(snr=0.0)),
    ("No comparison was seen", dict(p=1e-9)),
    ("N₀ = 1", dict(n_pure=1)),
    ("Two objects form only one pair", dict(n_pure=1, n_levels=1)),
    (None, dict(p=1.5e-6)),
    ("σ = 0", dict(snr=inf, p=1.0)),
    (".", dict(n_pure=1, n_levels=2, p=1e-3)),
    (None, dict(snr=12.0)),
    (".", dict(n_pure=2)),
    ("lists at most 45,000,000", dict(n_pure=30, p=0.5, methods=("SL", "CL", "4K–AL–act", "4–AL", "4–AL–I3"))),
]


@pytest.mark.parametrize("says, changed", EXTREMES)
def test_extremes(says, changed):
    settings = PlantedSettings(**{"methods": planted_methods, **changed})
    events = json.loads(json.dumps(list(planted_events(settings)), allow_nan=False))
    kinds = [event["kind"] for event in events]
    assert kinds[:4] == ["model", "notes", "theory", "measure"] and set(kinds[4:]) == {"blank", "method", "tree"}
    sentences = [note for event in events for note in event.get("notes", [])]
    assert all(sentence.endswith((".", "'.")) and len(sentence) > 20 for sentence in sentences)
    assert says is None or says in " ".join(sentences)


def test_extremes_are_said_of_the_methods_that_they_concern():
    data = planted_data(PlantedSettings(p=1e-9, methods=planted_methods))
    assert all("No comparison was seen" in data["why"][name] for name in planted_methods if name not in ("SL", "CL"))
    assert "SL" not in data["why"]
    why = planted_data(PlantedSettings(n_pure=1, n_levels=1))["why"]
    assert all("only one pair" in text for text in why.values())


def test_without_noise_every_comparison_gives_the_tree():
    data = planted_data(PlantedSettings(float("inf"), 1.0, methods=planted_methods))
    assert all(data["aari"][name] == 1 for name in planted_methods)


# ---- hypotheses of the theorems


def by_label(settings):
    return {(h.theorem, h.about or h.condition): h for h in hypotheses(settings)}


def test_hypotheses_against_the_printed_formulas():
    "Each right side once, written out from the paper for N0 = 8, L = 3, δ/σ = 1 and η = ½."
    found = by_label(PlantedSettings(1.0, 0.1, 8, 3, methods=planted_methods))
    gap = 0.5 * np.exp(-9 / 4)
    small = 0.25 / 100 * np.exp(-18)
    assert found["Theorem 1", "SL and CL find the tree"].needs == pytest.approx(4 * np.log(128) ** 0.5)
    assert found["Theorem 1, converse", "SL fails (N₀ large)"].needs == pytest.approx(np.log(8) ** 0.5 / 4)
    assert not found["Theorem 1, converse", "SL fails (N₀ large)"].holds
    assert found["Theorem 2", "4K–AL–act finds the tree"].needs == pytest.approx(4 * 8 / small)
    assert found["Theorem 2", "q > C·4^L/(NΔ⁴)·ln(N/η)"].needs == pytest.approx(
        192 * 64 / (64 * small**4) * np.log(128)
    )
    assert found["Theorem 3", "4K–AL finds the tree"].needs == pytest.approx(8 * 8 / gap)
    assert found["Theorem 3", "p > C·2^L/Δ²·√(ln(N/η)/N)"].estimated == pytest.approx(
        0.06 * 8 / gap**2 * (np.log(128) / 64) ** 0.5
    )
    assert found["Theorem 4", "4–AL–I3 finds the tree, m = 2"].estimated == pytest.approx(
        0.05 / (2 * gap**2) * np.log(64)
    )  # 8 = 3 + 3 + 2
    five = found["Theorem 4", "4–AL–I5 finds the tree, m = 3"]  # 8 = 5 + 3
    assert five.needs > five.estimated
    assert found["Theorem 4", "4–AL finds the tree, m = 1"].here == 0.1


def test_which_initial_clusters_theorem_4_speaks_about():
    "Sizes from m to 2m with m ≤ N0/2; 10 = 3 + 3 + 3 + 1 is out, 9 = 3 + 3 + 3 is in with m = 3."

    def m_of(n_pure, name):
        return next(h for h in hypotheses(PlantedSettings(n_pure=n_pure)) if h.about.startswith(f"{name} finds"))

    assert m_of(9, "4–AL–I3").about.endswith("m = 3")
    assert m_of(10, "4–AL–I3").needs == float("inf")
    assert not m_of(10, "4–AL–I3").holds
    assert m_of(1, "4–AL").needs == float("inf")  # m ≤ N0/2 leaves nothing for N0 = 1


@given(st.one_of(st.floats(0, 50), st.just(float("inf"))), st.floats(1e-6, 1), st.integers(1, 30), st.integers(1, 4))
def test_hypotheses_are_numbers_everywhere(snr, p, n_pure, n_levels):
    settings = PlantedSettings(snr, p, n_pure, n_levels)
    if settings.n_objects < 3:
        return
    for h in hypotheses(settings):
        assert not np.isnan([h.here, h.needs, h.factor]).any() and h.here >= 0 and h.needs >= 0
        # the constants that simulations found are the smaller ones
        assert h.estimated is None or 0 <= h.estimated <= h.needs
        at_the_edge = h.here == h.needs or np.isinf(h.needs) or h.needs == 0
        assert at_the_edge or h.holds == (h.factor <= 1 if h.at_most else h.factor > 1)


def test_a_hypothesis_that_holds():
    assert by_label(PlantedSettings(12.0))["Theorem 1", "SL and CL find the tree"].holds
    assert by_label(PlantedSettings(0.1, n_pure=30))["Theorem 1, converse", "SL fails (N₀ large)"].holds
    assert Hypothesis("", "", "", 3, 2).factor == 1.5


# ---- arrays in events, stored answers, registry


SMALL = dict(snr=[0.6, 1.0], p=[0.01, 1.0], n_pure=[2], n_levels=[2], seed=[0, 1], against=["δ/σ"])


def test_static_twin_is_deterministic_whole_and_asks_nobody():
    spec, data = read_static_twin(planted_page.PAGE.static, SMALL, 8)
    assert data["names"] == ["snr", "p", "seed"]
    for key, places in data["answers"].items():
        snr, p, seed = key.split("|")
        settings = PlantedSettings(float(snr), float(p), 2, 2, int(seed), planted_methods)
        assert [data["events"][place] for place in places] == json.loads(json.dumps(list(planted_events(settings))))
    assert len(data["events"]) < sum(map(len, data["answers"].values()))  # what repeats is stored once
    assert spec["start"]["n_pure"] == 2


@pytest.mark.parametrize("name", ["planted"])
def test_the_static_twin_stores_the_setting_with_which_the_page_begins(name):
    "Every default is stored, but for those above, and what the twin asks for first is among its answers."
    live = find_dashboard(name)
    begin = live.settings()
    spec, data = read_static_page(replace(live, work=lambda *request: ()).static())
    assert spec["start"] == begin.message()
    assert "|".join(key_text(spec["start"][each]) for each in data["names"]) in data["answers"]
    stored = live.settings(**live.stored)
    for each in {each.name for each in fields(live.settings)} - set(live.settings.values("stored")):
        first, others = getattr(begin, each), getattr(stored, each)  # without a control: the same, or a part of it
        assert first == others or set(first) <= set(others), each


def test_the_front_end_is_javascript_and_fits_the_eye(tmp_path):
    for name in ("dashboard.mjs", "dashboard.css"):
        assert all(len(line) <= 120 for line in page.static_text(name).splitlines()), name
    assert_javascript(page.static_text("dashboard.mjs"), tmp_path)


# ---- the curve, and what a page offers beside its picture


def test_where_no_means_are_stored_the_nearest_are_pale_and_named():
    found = {True: 0, False: 0}
    for against, n_pure, p, snr in product(("δ/σ", "p"), (3, 4), (0.02, 0.1), (0.7, 1.0, inf)):
        event = planted_page.measure_event(PlantedSettings(n_pure=n_pure, n_levels=2, p=p, snr=snr, against=against))[
            "show"
        ]
        is_here, words = event["measure"]["signals"]["solid"] == 1, event["measure-words"]
        found[is_here] += 1
        assert event["measure"]["rows"]["lines"] and is_here == ("Pale" not in words)
        if not is_here:
            there = dict(re.findall("([^ ]+) = ([^, ]+)(?=[,.] )", words.partition("settings, ")[2]))
            here = {"N₀": n_pure, "L": 2, **({"p": p} if against == "δ/σ" else {"δ/σ": snr})}
            assert there.keys() == here.keys() and any(float(there[name]) != value for name, value in here.items())
    assert min(found.values()) > 0


@pytest.mark.parametrize(
    "name, measured, settings",
    [
        ("planted", lambda s: planted_data(s)["aari"], PlantedSettings(1.2, 0.003, 4, 2, methods=planted_methods)),
        ("planted", lambda s: planted_data(s)["aari"], PlantedSettings(0.4, 1.0, 4, 2, methods=planted_methods)),
        ("flat", lambda s: {"SPUR": flat_data(s)["ari"]}, FlatSettings(a=4.0, epsilon=1.0)),
    ],
)
def test_stored_means_can_be_made_again(name, measured, settings):
    rows = measure.stored_table(name)
    names = [each for each in rows[0] if each not in ("series", "mean", "deviation")]
    here = [row for row in rows if all(row[each] == getattr(settings, each) for each in names)]
    about, fresh = {each: getattr(settings, each) for each in names}, []
    draws = [measured(replace(settings, seed=seed)) for seed in range(5)]
    for series in draws[0]:
        values = [draw[series] for draw in draws if draw[series] is not None]
        mean, deviation = (round(1000 * share) / 1000 for share in (fmean(values), pstdev(values)))
        fresh.append(dict(about, series=series, mean=mean, deviation=deviation))
    assert fresh == here


@hypothesis_settings(max_examples=30)
@given(st.sampled_from([1, 2, 4, 8, 30]), st.sampled_from([1, 2, 3]), st.sampled_from([1e-3, 0.1, 1.0]))
def test_thresholds_are_where_the_hypotheses_begin_to_hold(n_pure, n_levels, p):
    setting = PlantedSettings(p=p, n_pure=n_pure, n_levels=n_levels)
    if setting.n_objects < 3:
        return
    surely = theorem_conditions.signal_thresholds(setting)["SL and CL guaranteed"]
    for snr in (0.99 * surely, 1.01 * surely):
        first = theorem_conditions.hypotheses(replace(setting, snr=snr))[0]
        assert first.holds == (snr > surely)
    for value in theorem_conditions.share_thresholds(setting).values():
        assert value > 0


def test_the_signal_of_theorem_4_is_met_where_it_says_so():
    "Far beyond what the page draws: a p of 1, many objects, and constants of simulations."
    setting = PlantedSettings(p=1.0, n_pure=240, n_levels=1)
    found = theorem_conditions.signal_thresholds(setting)
    begins = {name: snr for name, snr in found.items() if name.startswith("Theorem 4")}
    assert begins
    for name, snr in begins.items():
        method = name.split(", ")[1]
        for h in theorem_conditions.hypotheses(replace(setting, snr=snr)):
            assert h.theorem != "Theorem 4" or h.about.split()[0] != method or h.here > h.estimated


def arguments_of(settings):
    "As the page writes them."
    values = {name: inf if value == "inf" else value for name, value in settings.message().items()}
    return ", ".join(f"{name}={value!r}" for name, value in values.items()).replace("=inf", "=float('inf')")


LIVE = [name for name in find_dashboard() if name != "ask"]


@pytest.mark.parametrize("name", LIVE)
def test_every_page_has_things_to_try_words_and_sources(name):
    "Buttons put every control somewhere legal, and the code gives the settings back."
    live = find_dashboard(name)
    html = live.spec(live.settings.values("live"), live.settings(), live.about)["html"]
    sent = [json.loads(unescape(text)) for text in re.findall(r'data-preset="(.*?)"', html)]
    assert len(sent) == len(live.tries) + 1 >= 4 and live.sources and live.words and live.summary
    assert sent.pop() == live.settings().message()  # the last one resets
    for each, message in zip(live.tries, sent):
        assert live.settings.from_message(message) == live.settings.from_message(each.changed) != live.settings()
        assert escape(each.words) in html
    labels = [each.metadata["label"] for each in fields(live.settings) if each.metadata["label"]]
    assert all(f"<dt>{label}</dt>" in html for label in labels)
    assert len(re.findall(r'<div class="chc-(?:slider|choice)" data-name="\w+" title="[^"]+"', html)) == len(labels)
    assert re.findall(r'data-save="(\w+)"', html) == ["png", "svg", "csv", "py"]
    begin = live.code.partition("found =")[0].replace("SETTINGS", arguments_of(live.settings()))
    made = {}
    exec(compile(begin, name, "exec"), made)
    assert made["settings"] == live.settings() and callable(made[f"{name}_data"])


BOOK = Path(__file__).parents[1] / "nbs"


SAVED = {
    "planted": dict(n_pure=3, n_levels=2, methods=["SL", "4–AL"]),
    "flat": dict(n=60, k=3, a=2.0, epsilon=1.0),
    "step": dict(n=8, p=0.9),
    "link": dict(per_class=5, tasks=2, task=3),
    "plan": dict(n=20),
    "additive": dict(n=8, answers=100),
}  # of every page, a setting that is quick


def table_of(name, found):
    "What the saved code computes, as the saved table has it."
    if name == "planted":
        return [dict(method=m, aari=found["aari"][m], comparisons=found["comparisons"][m]) for m in found["aari"]]
    if name == "flat":
        proved = found["certified"] is not None
        return [dict(ari=round(found["ari"], 6), clusters=found["k_hat"], proved=proved)]
    if name == "step":
        return [dict(questions=count) for count in found["questions"]]
    if name == "link":
        curve = found["curve"].simplified()
        ends = curve.breakpoints.tolist()
        return [dict(low=low, high=high, loss=loss) for low, high, loss in zip(ends, ends[1:], curve.values.tolist())]
    if name == "additive":
        return [dict(model=model, agreement=a, loss=loss) for model, (a, loss) in found.items()]
    means = [values.mean(axis=1).tolist() for values, _ in found.values()]
    return [dict(design=design, mean=mean) for design, each in zip(found, means) for mean in each]


@pytest.mark.parametrize("name", LIVE)
def test_the_saved_code_computes_the_saved_table(name, capsys):
    "Another process would do the same: the code imports all that it names."
    live = find_dashboard(name)
    settings = live.settings.from_message(SAVED[name])
    rows = {}
    for event in live.work(settings, no_step, {}):
        rows.update({json.dumps(row): row for row in event.get("rows", ())})
    made = {}
    exec(compile(live.code.replace("SETTINGS", arguments_of(settings)), name, "exec"), made)
    table = table_of(name, made["found"])
    assert len(table) == len(rows) and capsys.readouterr().out
    told = [{column: row[column] for column in table[0]} for row in rows.values()]
    for mine, row in zip(sorted(table, key=str), sorted(told, key=str)):
        assert mine == pytest.approx(row, abs=1e-12)


def test_the_caption_of_the_curve_says_which_theorems_it_shows():
    begins = {True: "2 to 4 with the small constants", False: "Theorems 2 to 4 apply nowhere on this axis"}
    far = PlantedSettings(p=1.0, n_pure=240, n_levels=1)
    for setting, shows in ((PlantedSettings(), False), (far, True), (PlantedSettings(against="p"), False)):
        shown = planted_page.measure_event(setting)["show"]
        drawn = [row["text"] for row in shown["measure"]["rows"]["bounds"]]
        assert any(text.startswith("Theorem") for text in drawn) == shows
        assert begins[shows] in shown["measure-words"] and begins[not shows] not in shown["measure-words"]


def spec_html(name, pages):
    "The HTML of a live page whose book is there."
    if name == "ask":
        return page_spec(Session(), pages)["html"]
    live = find_dashboard(name)
    return live.spec(live.settings.values("live"), live.settings(), live.about, pages)["html"]


@pytest.mark.parametrize("name", find_dashboard())
def test_every_page_leads_to_statements_and_notebooks(name):
    html = spec_html(name, Pages("../"))
    paths = re.findall(r'<a href="\.\./([^"]+)" target="_blank"', html)
    read = re.findall(r'<a href="https://arxiv\.org/abs/([\d.]+)" target="_blank" rel="noopener">read it</a>', html)
    assert len(paths) + len(read) == html.count("<a ") >= 3
    assert read == [PREPRINTS[paper] for paper in re.findall(r"comparison-hc check (\w+)</code>", html)]
    own = [path for path in paths if path.startswith("dashboards/")]
    assert len(own) == 1 and own[0].endswith(f"_{name}.html")
    for path in paths:
        theory = re.fullmatch(r"statements/(\w+)\.html(?:#(.+))?", path)
        if theory:
            paper, place = theory.groups()
            assert place is None or place in map(anchor, NUMBERED[paper.upper()])
        else:
            assert (BOOK / path).with_suffix(".ipynb").is_file()
    has_paper = name not in ("plan", "additive")
    assert bool(re.search(r'<a href="\.\./statements/\w+\.html#', html)) == has_paper
    assert ("<code>comparison-hc check " in html) == has_paper
    beside = spec_html(name, Pages("../", False))  # notebooks only, which have no index of theory
    notebooks = [path.replace(".html", ".ipynb") for path in paths if not path.startswith("statements/")]
    assert re.findall(r'<a href="\.\./([^"]+)"', beside) == notebooks
    nowhere = spec_html(name, None)
    assert nowhere.count("<a ") == len(read) and all(f"<code>nbs/{path}</code>" in nowhere for path in notebooks)


def test_the_address_of_the_book_is_given_or_found(monkeypatch):
    assert pages_given() is None and pages_beside(BOOK / "dashboards") == Pages("../", False)
    assert pages_beside(BOOK.parent / "mine") == Pages("../nbs/", False) and pages_beside("/") is None
    monkeypatch.setenv("COMPARISON_HC_BOOK", "https://book.example/a")
    assert pages_given() == pages_beside("/") == Pages("https://book.example/a/")
    monkeypatch.setenv("COMPARISON_HC_BOOK", "javascript:1")
    with pytest.raises(InputError, match="COMPARISON_HC_BOOK must be an address that begins with http; got javascript"):
        pages_given()


def test_the_code_of_answers_makes_the_same_tree(capsys):
    session = Session(person='a "b"')
    for answer in (1, 2, 0, 3, 1):
        session.answer(answer)
    session.undo()
    exec(compile(code_text(session), "ask", "exec"), {})
    assert capsys.readouterr().out.strip() == session.state.hierarchy.to_newick()


@pytest.mark.parametrize("is_dark", [False, True])
def test_colours_differ_without_green_cones_in_both_styles(is_dark):
    "Lines also have marks and dashes, and clusters a place; words must be read."
    style = page.static_text("dashboard.css").partition(".chc-planted {")[0]
    assert style.count("--chc-dark: invert(.92) hue-rotate(180deg)") == 2  # what `is_dark` computes
    series = [look["colour"] for look in planted_page.SERIES]
    for colours in (series, [*CLUSTERS, planted_page.MIXED], [colour for colour, _ in LOOKS]):
        assert least_difference(colours, is_dark) > 12 and contrasts(colours, is_dark).min() > 1.9
    words = set(re.findall(r"[; {]color: (#[0-9a-f]+)", style, re.IGNORECASE)) - {"#d9d9d9"}
    assert len(words) >= 3
    colours = [word if len(word) == 7 else re.sub("[^#]", r"\g<0>\g<0>", word) for word in words]
    assert contrasts(colours, is_dark).min() > 7


def test_a_static_twin_offers_only_what_it_has():
    html = planted_page.PAGE.spec(SMALL, PlantedSettings(0.6, 0.01, 2, 2), "about")["html"]
    assert html.count("data-preset") == 1 and ">reset</button>" in html


def test_a_missing_extra_is_one_sentence(monkeypatch):

    page.widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InputError, match=r"comparison_hc\[dashboard\]"):
        planted_page.planted_dashboard()


def sent_by(widget, *messages):
    "The events, but for progress, that a widget sends to a page that asks one thing after the other."
    sent = []
    done = threading.Event()

    def send(event, *_):
        sent.append(event)
        if event["kind"] == "done":
            done.set()

    widget.show = send
    for number, settings in enumerate(messages, 1):
        done.clear()
        widget._handle_custom_msg(dict(number=f"v:{number}", settings=settings), [])
        assert done.wait(30)
    widget.worker.close()
    return [event for event in sent if event["kind"] != "progress"]
