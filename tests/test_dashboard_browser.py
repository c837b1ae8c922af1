"The page `planted` in headless Chromium: moved by keyboard, as a file, and served by the command."

import re
import statistics
import time
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from shared import live_page

from comparison_hc.dashboards.planted import PlantedSettings, planted_data
from comparison_hc.dashboards.planted_page import PAGE
from comparison_hc.reproduce.f19 import planted_methods

LIVE_VALUES = PlantedSettings.values("live")


TIMED = """([name, kept]) => {
    const root = document.querySelector('.chc'), slider = root.querySelector(`.chc-slider[data-name=${name}] input`);
    let began = 0;
    window.took = [];
    window.kept = [...root.querySelectorAll(kept)];
    slider.addEventListener('input', () => { began = performance.now(); }, true);
    const seen = () => {
        if (root.dataset.drawn !== root.dataset.asked || !began) return;
        window.took.push(performance.now() - began);
        began = 0;
    };
    const watch = new MutationObserver(() => requestAnimationFrame(seen));
    watch.observe(root, {attributeFilter: ['data-drawn']});
}"""
STICKING_OUT = """selector => {
    const room = document.documentElement.clientWidth;
    const outside = [...document.querySelectorAll(selector)].filter(element => {
        const {left, right} = element.getBoundingClientRect();
        return left < 0 || right > room + 1;
    });
    if (document.documentElement.scrollWidth > room) outside.push(document.documentElement);
    return outside.map(element => element.className || element.tagName);
}"""


WINDOW = dict(width=1280, height=900)


class Page:
    "A page with a dashboard, and everything that it loaded or complained about."

    values = LIVE_VALUES  # of the sliders

    def __init__(self, window, address):
        self.page, self.urls, self.complaints = window, [], []
        self.page.set_default_timeout(300_000)
        self.page.on("request", lambda request: self.urls.append(request.url))
        self.page.on("websocket", lambda ws: self.urls.append(ws.url))
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.open(address)
        self.done()

    def open(self, address):
        "Up to three times: Jupyter waits a few seconds for a kernel, and a busy machine may need longer."
        for is_last in (False, False, True):
            self.page.goto(address)
            late = time.monotonic() + 300
            while not self.page.locator(".chc[data-done]").count() and time.monotonic() < late:
                if self.was_too_slow() and not is_last:
                    self.complaints.clear()
                    break
                self.page.wait_for_timeout(100)
            else:
                break
        self.page.wait_for_selector(".chc[data-done]")

    def was_too_slow(self):
        return any("widget model not found" in text for text in self.complaints)

    def done(self):
        "Wait until the latest request is answered in full."
        self.page.wait_for_function(
            "() => { const {asked, done} = document.querySelector('.chc').dataset; return asked === done; }"
        )

    def press(self, name, *keys, wait=True):
        "Press keys on a slider."
        for key in keys:
            self.page.locator(f".chc-slider[data-name={name}] input").press(key)
        if wait:
            self.done()

    def put(self, name, value, wait=True):
        "Move a slider to a value, with one event."
        self.page.locator(f".chc-slider[data-name={name}] input").evaluate(
            "(input, place) => { input.value = place; input.dispatchEvent(new Event('input')); }",
            self.values[name].index(value),
        )
        if wait:
            self.done()

    def choose(self, name, text):
        "Choose from a list."
        self.page.locator(f".chc-choice[data-name={name}] select").select_option(text)
        self.done()

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def notes(self):
        return " ".join(self.page.locator(".chc-notes p:visible").all_inner_texts())

    def aari(self):
        return {
            row.get_attribute("data-method"): row.locator(".chc-aari").inner_text()
            for row in self.page.locator("tr[data-method]").all()
        }

    def marks(self):
        "How many marks of this visit the curve shows."
        return self.page.locator("[data-show=measure] .mark-symbol path").count()

    def picture(self):
        return self.page.evaluate("""() => {
            const paths = [...document.querySelectorAll('.chc-tree-svg path')].map(path => path.getAttribute('d'));
            return document.querySelector('.chc-map').src + paths.join();
        }""")

    def timed_moves(self, name, kept, keys, seen, most=4000):
        """What is seen after each key on a slider. Elements that are kept must stay in the page.

        The median time to the new picture is printed, and bounded generously: machines differ.
        """
        self.page.evaluate(TIMED, [name, kept])
        found = []
        for key in keys:
            self.press(name, key)
            found.append(seen())
        assert self.page.evaluate("() => window.kept.every(element => element.isConnected)")
        took = self.page.evaluate("() => window.took")
        print(f"  [{name} to new picture: median {statistics.median(took):.0f} ms of {len(took)}]")
        assert len(took) >= 0.75 * len(keys) and statistics.median(took) < most
        return found

    def sticking_out(self, selector=".chc-main > *, .chc-slider, .chc-choice"):
        "What is wider than the window, after it has had time to change."
        late = time.monotonic() + 30
        while (found := self.page.evaluate(STICKING_OUT, selector)) and time.monotonic() < late:
            self.page.wait_for_timeout(100)
        return found

    def is_clean(self, address):
        "Nothing came from elsewhere, and nobody complained."
        address = address.partition("?")[0]
        elsewhere = [
            url
            for url in self.urls
            if not re.match(
                rf"({re.escape(address)}|blob:{re.escape(address)}|{re.escape(address.replace('http', 'ws'))}|data:)",
                url,
            )
        ]
        assert elsewhere == [] and self.complaints == []


live = live_page(Page, "planted")


def shown(settings):
    "AARI by method as the page should write it."
    return {name: "none" if aari is None else f"{aari:.3f}" for name, aari in planted_data(settings)["aari"].items()}


def test_the_first_picture_is_the_pure_functions(live):
    wanted = shown(PlantedSettings())
    assert {name: text for name, text in live.aari().items() if text} == wanted and live.marks() == len(wanted)
    assert live.text(".chc-tree h3") == "The tree of 4–AL"
    assert live.page.locator(".chc-tree-svg").get_attribute("aria-label").endswith(wanted["4–AL"])
    assert live.page.evaluate("() => document.querySelector('.chc-map').naturalWidth") == 64


def test_boxes_and_buttons(live):
    live.page.locator("input[aria-label='run 4–AL–I5']").check()
    live.done()
    live.page.locator("input[aria-label='run CL']").uncheck()
    live.done()
    live.page.locator("input[aria-label='draw the tree of SL']").check()
    live.done()
    assert live.text(".chc-tree h3") == "The tree of SL"
    assert live.aari()["CL"] == ""
    assert live.aari()["4–AL–I5"] == shown(PlantedSettings(3.0, methods=("4–AL–I5",)))["4–AL–I5"]
    live.page.locator("input[aria-label='run SL']").uncheck()
    live.done()  # the drawn one: another is drawn instead
    assert live.text(".chc-tree h3") != "The tree of SL" and live.aari()["SL"] == ""
    for name in ("run SL", "run CL"):
        live.page.locator(f"input[aria-label='{name}']").check()
        live.done()
    live.page.locator("input[aria-label='draw the tree of 4–AL']").check()
    live.done()


def test_the_curve_along_another_slider(live):
    "Of this visit only what was drawn at the present values of the others is there."
    live.press("snr", "ArrowRight")  # marks at another place, whatever other tests have left
    along = live.marks()
    live.choose("against", "p")
    ticked = live.page.locator("input[data-setting=methods]:checked").count()
    assert "log scale" in live.text("[data-show=measure-axis]") and ticked <= live.marks() < along
    live.choose("against", "δ/σ")
    assert live.marks() == along
    live.press("snr", "ArrowLeft")


def test_progress_is_shown_and_stale_work_is_dropped(live):
    "At N = 240 with four million answers: a word on the work, then two more moves; only the last one is answered."
    live.put("p", 0.01)
    live.put("snr", 1.0)
    live.put("n_pure", 30, wait=False)
    live.page.wait_for_function(
        "() => / begins|: \\d/.test(document.querySelector('.chc-progress [role=status]').textContent)"
    )
    live.put("snr", 1.1, wait=False)
    live.put("snr", 1.2, wait=False)
    live.put("p", 0.0001)
    assert live.page.evaluate("() => document.querySelector('.chc-map').naturalWidth") == 240
    assert {name: text for name, text in live.aari().items() if text} == shown(
        PlantedSettings(1.2, 0.0001, 30, 3, methods=[name for name, text in live.aari().items() if text])
    )


def test_a_thing_to_try_and_a_link_move_the_page_without_loading_it(live):
    "The address says where all controls stand; another address puts them there. A file has settings in ? as well."
    live.page.evaluate("() => { window.same = true; }")
    live.page.locator("[data-preset]", has_text="too few answers").click()
    live.done()
    tried = PlantedSettings(p=0.003, methods=planted_methods)
    assert live.aari() == shown(tried) and "p=0.003" in live.page.url
    words = {each.name: each.words for each in PAGE.tries}
    assert live.notes() == words["too few answers"]  # for those who touch, to whom no hint appears
    live.press("snr", "ArrowRight")
    assert live.notes() == ""
    start = PlantedSettings(n_levels=2, methods=("SL", "4–AL"))
    words = {name: value for name, value in start.message().items() if name != "methods"}
    live.page.evaluate(
        "query => { location.hash = query; }", urlencode([*words.items(), *[("methods", m) for m in start.methods]])
    )
    live.page.wait_for_function(
        "() => document.querySelector('.chc-slider[data-name=n_levels] output').textContent === '2'"
    )
    live.done()
    assert {name: text for name, text in live.aari().items() if text} == shown(start)
    assert live.page.evaluate("() => window.same")
    live.page.evaluate(
        "() => { location.hash = ''; location.hash = '#n_levels=3&methods=SL&methods=CL&methods=4–AL'; }"
    )
    live.page.wait_for_function(
        "() => document.querySelector('.chc-slider[data-name=n_levels] output').textContent === '3'"
    )
    live.done()


def saved(live, form, folder):
    with live.page.expect_download() as waiting:
        live.page.locator(f"[data-save={form}]").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_what_is_saved_is_what_is_shown(live, tmp_path):
    from xml.etree import ElementTree

    png = saved(live, "png", tmp_path).read_bytes()
    wide, high = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    box = live.page.locator(".chc").bounding_box()
    assert png.startswith(b"\x89PNG") and abs(wide - 2 * box["width"]) <= 2 and len(png) > 20_000 and high > 1000
    picture = ElementTree.parse(saved(live, "svg", tmp_path)).getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert "A planted hierarchy" in "".join(picture.itertext())
    rows = pd.read_csv(saved(live, "csv", tmp_path))
    assert len(rows) >= live.marks() > 0 and not rows.duplicated().any()
    seen = {name: text for name, text in live.aari().items() if text}
    made = {}
    exec(saved(live, "py", tmp_path).read_text(encoding="utf-8"), made)
    settings, found = made["settings"], made["found"]
    assert {name: f"{aari:.3f}" for name, aari in found["aari"].items()} == seen
    about = settings.columns("drawn", "against")
    here = rows[np.logical_and.reduce([rows[name] == value for name, value in about.items()])]
    assert {row.method: f"{row.aari:.3f}" for row in here.itertuples()}.items() >= seen.items()


def test_keys_on_a_control_are_its_own(live):
    "JupyterLab leaves its own shortcuts where it finds this attribute; it looks at what has the focus first."
    focused = "() => document.activeElement.matches('.chc-slider input[data-lm-suppress-shortcuts]')"
    live.page.locator(".chc-slider input").first.focus()
    assert live.page.evaluate(focused)


def test_controls_stay_in_sight_on_a_narrow_screen(live):
    live.page.set_viewport_size(dict(width=390, height=740))
    live.page.wait_for_timeout(300)
    assert live.sticking_out(".chc-main > *, .chc-slider, .chc-choice, .chc-methods td") == []
    live.page.locator(".chc-measure figcaption").scroll_into_view_if_needed()
    for name in ("snr", "p", "seed"):
        box = live.page.locator(f".chc-slider[data-name={name}]").bounding_box()
        assert 0 <= box["y"] and box["y"] + box["height"] < 200
    live.page.set_viewport_size(WINDOW)


# ---- the static twin

SMALL = dict(snr=[0.4, 1.6], p=[0.1, 1.0], n_pure=[3], n_levels=[2], seed=[0, 1], against=["δ/σ"])


def test_static_twin(browser, tmp_path):
    "Opened as a file, without a server: it shows what the pure function gives, at the stored values only."
    path = tmp_path / "planted.html"
    path.write_text(PAGE.static(values=SMALL), encoding="utf-8")
    page = Page(browser.new_page(viewport=WINDOW), path.as_uri())
    seen = []
    for keys in (("snr", "ArrowRight"), ("p", "End"), ("seed", "End"), ("snr", "Home"), ("p", "Home")):
        page.press(*keys)
        at = {name: float(page.text(f".chc-slider[data-name={name}] output")) for name in ("snr", "p", "seed")}
        settings = PlantedSettings(at["snr"], at["p"], 3, 2, int(at["seed"]))
        assert all(at[name] in SMALL[name] for name in at)
        assert {name: text for name, text in page.aari().items() if text} == shown(settings)
        assert page.page.locator(".chc-tree-svg").get_attribute("aria-label").endswith(shown(settings)["4–AL"])
        seen.append(tuple(at.values()))
    assert len(set(seen)) == 5 and "8 stored settings" in page.text(".chc-about")
    assert page.urls == [path.as_uri()] and page.complaints == []
    page.page.close()
