"""What holds for every dashboard that computes: settings, events, memory, the widget, and the page in Chromium.

What a page shows, and whether it is right, is tested in the file of the page.
"""

import json
import re
from dataclasses import fields
from xml.etree import ElementTree

import pandas as pd
import pytest
from shared import answered_page
from test_dashboard_browser import Page, saved
from test_dashboards import LIVE, SAVED, sent_by

from comparison_hc import InputError
from comparison_hc.dashboards.framework import find_dashboard
from comparison_hc.dashboards.worker import Superseded

MOVES = {  # from a quick setting to others: whatever is kept from the one before must not be seen
    "planted": [dict(p=0.3), dict(snr=float("inf")), dict(p=1.0, n_pure=2), dict(seed=3, methods=["CL", "4K–AL–act"])],
    "flat": [dict(epsilon=0.5), dict(a=1.0), dict(similarity="AddS-4"), dict(family="uniform + beta", seed=2)],
    "step": [dict(p=1.0), dict(shape="caterpillar"), dict(n=5, seed=1)],
    "link": [dict(tasks=4), dict(task=1), dict(family="two metrics"), dict(kind="iris", per_class=3)],
    "plan": [dict(people=5), dict(noise=0.3), dict(n=12, n_levels=1)],
    "additive": [dict(answers=100), dict(world="two additive trees", n=8), dict(noise=1.0, seed=1)],
}
TOGETHER = {  # values that do not fit each other, and what is said
    "planted": [(dict(n_pure=61), "at most 480")],
    "flat": [(dict(n=60, k=100), "k must be an integer from 1 to 60")],
    "step": [],
    "link": [],
    "plan": [
        (dict(n=12, n_levels=4), "levels must be at most 2 for 12 objects"),
        (dict(minutes=1, seconds=20.0), "at least 10 questions"),
    ],
    "additive": [],
}
SCROLLING = (
    "() => [...document.querySelectorAll('.chc-main > *')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
)
SHOWN = """() => Object.fromEntries([...document.querySelectorAll('.chc-main [data-show]')]
    .filter(e => !e.closest('[data-show=measure]') && !e.dataset.show.startsWith('measure'))
    .map((e, i) => [e.dataset.show + i, e.src || e.getAttribute('aria-label') || e.innerHTML]))"""
MOVED = dict(planted="snr", flat="epsilon", step="seed", link="task", plan="people", additive="answers")  # by a key
ALIEN = (None, "no such", [], ["no such"], {}, -1, 10**9, float("nan"))  # at least some are no value of any control


def settings_of(name, **changed):
    return find_dashboard(name).settings.from_message({**SAVED[name], **changed})


def last_events(name, settings, memory=None):
    "What is shown in the end: the last event of each kind and place, as JSON gives it back."
    found = {}
    for event in find_dashboard(name).work(settings, lambda *_: None, {} if memory is None else memory):
        found[event["kind"], str(event.get("when"))] = json.loads(json.dumps(event, allow_nan=False))
    return found


@pytest.mark.parametrize("name", LIVE)
def test_settings_go_to_the_page_and_back_and_others_are_refused(name):
    page = find_dashboard(name)
    for one in (page.settings(), settings_of(name)):
        assert page.settings.from_message(json.loads(json.dumps(one.message()))) == one
    for each in fields(page.settings):
        refused = 0
        for value in ALIEN:
            try:
                page.settings.from_message({each.name: value})
            except InputError as error:
                refused += str(error).startswith(each.metadata["called"]) and " must " in str(error)
        assert refused >= 3, each.name
    for wrong, says in [*TOGETHER[name], (dict(colour="red"), "settings must"), ([1], "settings must")]:
        with pytest.raises(InputError, match=says):
            page.settings.from_message(wrong)


@pytest.mark.parametrize("name", LIVE)
def test_every_value_of_a_control_is_legal(name):
    settings = find_dashboard(name).settings
    for control, values in settings.values("live").items():
        refused = []
        for value in values:
            try:
                settings.from_message({control: value})
            except InputError as error:
                refused.append(str(error))
        assert len(refused) < len(values) and all(error.startswith(("N = ", "k ", "levels")) for error in refused)


@pytest.mark.parametrize("name", LIVE)
def test_what_is_kept_from_the_setting_before_changes_nothing(name):
    memory = {}
    for changed in ({}, *MOVES[name], {}):
        settings = settings_of(name, **changed)
        assert last_events(name, settings, memory) == last_events(name, settings), changed


@pytest.mark.parametrize("name", LIVE)
def test_a_newer_request_ends_the_work_at_any_step_and_the_rest_is_done_later(name):
    settings, said, memory = settings_of(name), [], {}

    def step(text, done=0, total=0):
        said.append(text)
        if len(said) in stops:
            raise Superseded

    stops = ()
    list(find_dashboard(name).work(settings, step, {}))
    stops = {1, max(1, len(said) // 2)}
    said.clear()
    for _ in stops:
        with pytest.raises(Superseded):
            list(find_dashboard(name).work(settings, step, memory))
    assert len(said) == max(stops)
    assert last_events(name, settings, memory) == last_events(name, settings)


@pytest.mark.parametrize("name", LIVE)
def test_the_widget_answers_messages(name):
    pytest.importorskip("anywidget")
    widget = find_dashboard(name).widget(**SAVED[name])
    start = widget.spec["start"]
    assert {key: start[key] for key in SAVED[name]} == SAVED[name]
    sent = sent_by(widget, dict(start, seed=-1) if "seed" in start else dict(start, task=-1), start)
    assert [event["kind"] for event in sent[:2]] == ["sentence", "done"] and "must be" in sent[0]["text"]
    assert {event["number"] for event in sent[2:]} == {"v:2"} and sent[-1]["kind"] == "done" and len(sent) > 3


@pytest.fixture(scope="module", params=LIVE)
def opened(request, browser, tmp_path_factory):
    "(what is known of a page, the page in Chromium as it begins in a browser)."
    page_of = find_dashboard(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    kind = type("AnyPage", (Page,), dict(values=page_of.settings.values("live")))
    with answered_page(kind, browser, request.param, folder, **page_of.small) as page:
        yield page_of, page
        assert "Traceback" not in page.page.inner_text("body") and page.complaints == []


def test_a_key_shows_another_picture_soon_and_the_way_back_the_same_one(opened):
    "Nothing is built again: only contents change."
    page_of, page = opened
    before = page.page.evaluate(SHOWN)
    seen = lambda: page.page.evaluate(SHOWN)
    there, back = page.timed_moves(
        MOVED[page_of.name], ".chc-main figure, .chc-chart svg, .chc-map", ["ArrowRight", "ArrowLeft"], seen
    )
    assert there != before == back
    assert f"{MOVED[page_of.name]}=" in page.page.url


def test_a_thing_to_try_is_shown_with_its_words_and_reset_is_the_beginning(opened):
    page_of, page = opened
    begin = page.page.evaluate(SHOWN)
    tried = page_of.tries[0]
    page.page.locator("[data-preset]", has_text=re.compile(f"^{re.escape(tried.name)}$")).click()
    page.done()
    assert tried.words in page.notes() and page.page.evaluate(SHOWN) != begin
    assert all(f"{name}=" in page.page.url for name in tried.changed)
    page.page.locator("[data-preset]", has_text="reset").click()
    page.done()
    assert page.page.evaluate(SHOWN) == begin


def test_values_that_do_not_fit_are_a_sentence_until_one_is_moved(opened):
    page_of, page = opened
    for wrong, says in TOGETHER[page_of.name]:
        if all(value in page.values[name] for name, value in wrong.items()):
            for name, value in wrong.items():
                page.put(name, value, wait=False)
            page.done()
            assert says in page.notes() and page.page.locator(".chc-void").count() == 1
            page.page.locator("[data-preset]", has_text="reset").click()
            page.done()
            assert page.page.locator(".chc-void").count() == 0


def test_what_is_saved_is_a_picture_a_table_and_the_code(opened, tmp_path):
    page_of, page = opened
    picture = ElementTree.parse(saved(page, "svg", tmp_path)).getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg" and page_of.title in "".join(picture.itertext())
    assert saved(page, "png", tmp_path).read_bytes().startswith(b"\x89PNG")
    rows = pd.read_csv(saved(page, "csv", tmp_path))
    assert len(rows) > 0 and not rows.duplicated().any()
    assert f"{page_of.name}_data(settings)" in saved(page, "py", tmp_path).read_text(encoding="utf-8")


def test_the_page_fits_every_window_and_is_reached_with_tab(opened):
    page_of, page = opened
    for width in (1280, 800, 390):
        page.page.set_viewport_size(dict(width=width, height=900))
        page.page.wait_for_timeout(300)
        assert page.sticking_out(".chc-main > *, .chc-main svg, .chc-slider, .chc-choice") == [], width
        assert width < 800 or page.page.evaluate(SCROLLING) == 0, width
        page.page.locator(".chc-more summary").scroll_into_view_if_needed()  # the last line
        box = page.page.locator(".chc-more summary").bounding_box()
        assert 0 <= box["y"] and box["y"] + box["height"] <= 901
    controls = {each.metadata["label"] for each in fields(page_of.settings) if each.metadata["label"]}
    page.page.evaluate("() => document.activeElement.blur()")
    reached = []
    for _ in range(50):
        page.page.keyboard.press("Tab")
        label = "() => document.activeElement.labels?.[0]?.firstChild.data.trim()"
        reached.append(page.page.evaluate(label))
    assert controls <= set(reached)
    for slider in page.page.locator(".chc-slider[data-name]:has(input[data-texts])").all():
        assert slider.locator("input").get_attribute("aria-valuetext") == slider.locator("output").inner_text()
