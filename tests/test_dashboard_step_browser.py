"The page that steps through an insertion, in headless Chromium: served, stepped by keys and buttons, and as a file."

from shared import live_page
from test_dashboard_browser import Page

from comparison_hc.dashboards.step import LETTERS, StepSettings, watch

TEXTS = """[data-show=costs] svg text, .chc-leaf, .chc-words, .chc-answer, .chc-stage figcaption, .chc-legend li,
    .chc-facts td, .chc-facts th, .chc-buttons button"""
OVERLAPS = """selector => {
    const shown = [...document.querySelectorAll(selector)].filter(element => element.textContent);
    const boxes = shown.map(element => element.getBoundingClientRect());
    const across = (a, b) => a.left < b.right - 1 && b.left < a.right - 1;
    const overlap = (a, b) => across(a, b) && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return boxes.filter((a, i) => boxes.some((b, j) => i < j && overlap(a, b))).length;
}"""


class StepPage(Page):
    "A page with this dashboard."

    def at(self):
        return int(self.page.locator(".chc").get_attribute("data-at"))

    def fact(self, name):
        return self.text(f"[data-fact={name}]")

    def click(self, key):
        self.page.locator(f"button[data-key={key}]").click()

    def key(self, *keys):
        self.page.locator(".chc-stage").focus()
        for key in keys:
            self.page.keyboard.press(key)

    def candidates(self):
        return set(
            self.page.evaluate(
                """() => [...document.querySelectorAll('.chc-dot')]
                .filter(dot => +dot.dataset.share > 0).map(dot => +dot.dataset.vertex)"""
            )
        )


def candidates(insertion, row):
    return {v for (v, *_), share in zip(insertion.vertices, insertion.shares[row]) if share > 0}


def through_the_last_item(page, settings):
    "Step through the last insertion by keys and compare every view with the record."
    last = watch(settings)[0][-1]
    x = LETTERS[last.item]
    start = page.at()
    for row, question in enumerate(last.questions):
        a, b = (LETTERS[item] for item in question.items[:2])
        assert page.text(".chc-words") == f"Which two of {a}, {b} and the new item {x} belong together?"
        assert page.text(".chc-answer") == ""
        assert page.candidates() == candidates(last, row)
        page.key("ArrowRight")
        pair = (f"{x} and {b}", f"{x} and {a}", f"{a} and {b}")[question.answer]
        assert page.text(".chc-answer").startswith(pair + ". So ") and page.candidates() == candidates(last, row + 1)
        page.key("ArrowRight")
    assert page.text(".chc-words").startswith(f"{x} becomes the sibling of")
    assert page.candidates() == {last.sibling}
    assert "it is the hidden tree" in page.text(".chc-answer")
    assert page.page.locator("button[data-key=ArrowRight]").is_disabled()
    for _ in range(2 * len(last.questions)):
        page.key("ArrowLeft")
    assert page.at() == start and page.candidates() == candidates(last, 0)


live = live_page(StepPage, "step")


def test_keys_go_through_the_last_insertion(live):
    assert live.fact("item") == "L, number 12 of 12"
    through_the_last_item(live, StepSettings())


def test_buttons_skip_items_and_end_at_the_ends(live):
    live.key("PageUp")
    assert live.fact("item").startswith("K, ")
    live.click("PageDown")
    assert live.fact("item").startswith("L, ")
    for _ in range(12):
        live.key("PageUp")
    assert live.at() == 0
    assert live.fact("item").startswith("C, ")
    assert live.page.locator("button[data-key=ArrowLeft]").is_disabled()
    assert live.page.locator("button[data-key=PageUp]").is_disabled()
    live.click("ArrowRight")
    assert live.at() == 1
    live.click("ArrowLeft")
    assert live.at() == 0


def test_controls_change_run_and_chart(live):
    solid = "() => [...document.querySelectorAll('.chc-legend li:not(.chc-absent)')].map(e => e.textContent)"
    assert "robust insertion" not in live.page.evaluate(solid) and len(live.page.evaluate(solid)) == 7
    live.press("p", *["ArrowLeft"] * 2)
    assert live.text(".chc-slider[data-name=p] output") == "0.9" and len(live.page.evaluate(solid)) == 10
    noisy = watch(StepSettings(p=0.9))[0][-1]
    assert live.text(".chc-words").startswith(f"Which two of {LETTERS[noisy.questions[0].items[0]]}, ")
    assert "% of the probability" in live.fact("parts")
    live.press("p", "End")
    live.choose("shape", "caterpillar")
    through_the_last_item(live, StepSettings(shape="caterpillar"))
    live.press("n", "End")
    assert live.fact("item") == "Z, number 26 of 26"
    live.press("n", "Home")
    assert live.fact("item") == "C, number 3 of 3"
    live.press("n", *["ArrowRight"] * 9)
    live.choose("shape", "uniform")


def test_axes_have_names_and_no_texts_overlap(live):
    for p in ("Home", "End"):
        live.press("p", p)
        for width in (1280, 760):
            live.page.set_viewport_size(dict(width=width, height=900))
            live.page.wait_for_timeout(250)
            assert {"items n", "questions in total"} <= set(
                live.page.locator("[data-show=costs] svg text").all_text_contents()
            )
            assert live.page.evaluate(OVERLAPS, TEXTS) == 0
            assert live.page.evaluate(
                "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            )
