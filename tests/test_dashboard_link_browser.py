"The dashboard of learning to link in headless Chromium: served, moved, clicked, watched at work, and as a file."

import statistics

import numpy as np
import pytest
from shared import live_page
from test_dashboard_browser import Page

from comparison_hc.dashboards.link import LinkSettings, link_data

LIVE_VALUES = LinkSettings.values("live")

SETTINGS = LinkSettings()


class LinkPage(Page):
    "A page with this dashboard."

    values = LIVE_VALUES

    def move(self, x):
        self.page.locator(".chc-slider[data-name=parameter] input").evaluate(
            "(input, x) => { input.value = x; input.dispatchEvent(new Event('input')); }", x
        )

    def go(self, where):
        self.page.locator(f"[data-go={where}]").click()

    def fact(self, name):
        return self.text(f"[data-fact='{name}']")

    def place(self):
        return float(self.page.locator(".chc").get_attribute("data-shown"))

    def wrong(self):
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.chc-pruned .mark-symbol path')]
            .map(path => path.getAttribute('stroke') === '#000')"""
        )

    def branches(self):
        return self.page.evaluate(
            "() => [...document.querySelectorAll('.chc-tree-svg path')].map(p => p.getAttribute('d')).join()"
        )

    def shows(self, data):
        "Whether loss, wrong points, tree and average are the pure function's at the page's own place."
        x, trees = self.place(), data["trees"]
        t = int(np.searchsorted(trees.breaks[trees.firsts], x, side="right")) - 1
        wrong = (trees.guesses[t] != data["task"].labels).tolist()
        return (self.fact("loss"), self.fact("tree").split(",")[0], self.wrong(), self.fact("average").split()[0]) == (
            f"{trees.losses[t]:.3f}: {sum(wrong)} of {len(wrong)} wrong",
            f"{t + 1} of {len(trees.losses)}",
            wrong,
            f"{float(data['average'](x)):.3f}",
        )


opened = live_page(LinkPage, "link")


@pytest.fixture
def live(opened):
    "The page as it began."
    opened.page.locator("[data-preset]", has_text="reset").click()
    opened.done()
    opened.move(0)
    return opened


@pytest.fixture(scope="module")
def data():
    return link_data(SETTINGS)


def test_the_first_picture_is_the_pure_functions(live, data):
    assert live.page.locator("[data-show=curve] svg").bounding_box()["width"] > 400
    assert live.place() == 0 and live.shows(data) and live.fact("average").endswith("on 20 tasks")
    least, intervals = data["curve"].best()
    assert live.fact("best here").startswith(f"{least:.3f}, α from")
    assert live.page.locator(".chc-target .mark-symbol path").count() == 200


def test_twenty_moves_ask_nobody_and_are_right(live, data, record_property, capsys):
    "Every move shows what the pure function says; nothing is sent. The median is bounded generously."
    live.page.evaluate(
        "() => { window.kept = [...document.querySelectorAll('.chc svg, .chc-tree-svg, .chc-facts td')]; }"
    )
    asked, trees, took = live.page.locator(".chc").get_attribute("data-asked"), set(), []
    for x in np.linspace(0.02, 0.98, 20).round(3):
        took.append(
            live.page.evaluate(
                """x => new Promise(resolve => {
                    const input = document.querySelector('.chc-slider[data-name=parameter] input');
                    const began = performance.now();
                    input.value = x;
                    input.dispatchEvent(new Event('input'));
                    requestAnimationFrame(() => resolve(performance.now() - began));
                })""",
                float(x),
            )
        )
        assert live.place() == x and live.shows(data)
        trees.add(live.branches())
    assert len(trees) > 5
    assert live.page.locator(".chc").get_attribute("data-asked") == asked
    assert live.page.evaluate("() => window.kept.every(element => element.isConnected)")
    record_property("median_ms", statistics.median(took))
    with capsys.disabled():
        print(f"  [slider to new picture, n = 200: median {statistics.median(took):.0f} ms of {len(took)}]", end="")
    assert statistics.median(took) < 2000


def test_keys_buttons_and_a_click_on_the_curve(live, data):
    live.move(0.5)
    live.page.locator(".chc-slider[data-name=parameter] input").press("ArrowRight")
    assert live.place() == 0.501
    live.page.locator(".chc-slider[data-name=parameter] input").press("Home")
    assert live.place() == 0
    live.go("on")
    first = data["trees"].breaks[data["trees"].firsts]
    breaks = data["trees"].breaks
    middles = (breaks[:-1] + breaks[1:]) / 2
    assert first[1] < live.place() < first[2] and live.shows(data)
    live.go("back")
    live.go("back")
    assert 0 < live.place() < first[1] and np.isclose(middles, live.place(), atol=1e-12).any()
    live.go("best")
    assert float(data["curve"](live.place())) == data["curve"].best()[0] and live.shows(data)
    live.go("mean")
    assert float(data["average"](live.place())) == data["average"].best()[0] and live.shows(data)
    box = live.page.locator("[data-show=curve] svg .root .background").first.bounding_box()
    live.page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 100)
    assert abs(live.place() - 0.75) < 0.02 and np.isclose(middles, live.place(), atol=1e-12).any()
    assert live.shows(data)


def test_families_and_kinds(live):
    for name, value in (("per_class", 5), ("tasks", 2)):
        live.put(name, value)
    for kind, family in (
        ("rings and disks", "two metrics"),
        ("iris", "two metrics"),
        ("iris", "average–complete"),
        ("digits", "single–complete"),
    ):
        live.choose("kind", kind)
        live.choose("family", family)
        live.go("best")
        assert live.shows(link_data(LinkSettings(kind, family, 5, 1, 2))), (kind, family)
        assert live.text(".chc-slider[data-name=parameter] label") == ("β" if family == "two metrics" else "α")
    live.put("per_class", 2)
    assert live.shows(link_data(LinkSettings("digits", "single–complete", 2, 1, 2)))


def test_the_average_grows_while_alpha_moves_and_another_kind_drops_it(live):
    live.choose("kind", "digits")
    live.choose("family", "single–complete")
    for name, value in (("per_class", 40), ("tasks", 200)):
        live.put(name, value, wait=False)
    live.page.wait_for_function(
        """() => +document.querySelector('.chc').dataset.tasks >= 2
            && /of 200/.test(document.querySelector('[data-fact=average]').textContent)"""
    )
    early = int(live.page.locator(".chc").get_attribute("data-tasks"))
    live.move(0.3)
    assert live.place() == 0.3 and live.page.locator("[data-show=curve] path[stroke='#D55E00']").count()
    live.page.wait_for_function("early => +document.querySelector('.chc').dataset.tasks > early", arg=early)
    live.put("per_class", 3, wait=False)
    live.put("tasks", 2)
    assert live.shows(link_data(LinkSettings("digits", "single–complete", 3, 1, 2))) and live.notes() == ""


LISTS = """() => [...document.querySelectorAll('.chc-choice select')].map(list => {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = getComputedStyle(list).font;
    return list.offsetWidth - Math.max(...[...list.options].map(each => pen.measureText(each.text).width));
})"""


def test_lists_show_their_names_on_a_narrow_screen(live):
    live.page.set_viewport_size(dict(width=390, height=740))
    live.page.wait_for_timeout(300)
    room = live.page.evaluate(LISTS)
    assert len(room) == 2 and min(room) > 25 and live.sticking_out() == []  # an arrow stands beside the name
