"""Draw the pictures of the live pages in nbs/figures anew: `python .ci/pictures.py [NAME …]`. Needs Chromium.

Every page is opened as it begins, with the answers to its first setting in it, and `ask` after some answers.
"""

import shutil
import sys
import tempfile
from pathlib import Path

FIGURES = Path(__file__).parents[1] / "nbs" / "figures"
WIDTH, LEAST_HEIGHT = 1280, 500
ANSWERS = 12  # of the person in the picture of `ask`


def left_out(shown):
    "What a person says to whom items are leaves of one binary tree, in their order."
    others = {place: shown[: place - 1] + shown[place:] for place in (1, 2, 3)}
    return min(others, key=lambda place: (others[place][0] ^ others[place][1]).bit_length())


def pictured_page(name):
    "The page as a file with one answer, whatever its controls say."
    from comparison_hc.dashboards.framework import find_dashboard, no_step
    from comparison_hc.dashboards.page import static_page, stored_answers

    page = find_dashboard(name)
    if name == "ask":
        from comparison_hc.dashboards.ask_page import page_spec, session_event
        from comparison_hc.elicitation.session import Session

        session = Session()
        for _ in range(ANSWERS):
            session.answer(left_out(session.question.shown))
        spec, events = page_spec(session), [session_event(session)]
    else:
        start = page.settings()
        spec = page.spec(page.settings.values("live"), start, page.about)
        events = list(page.work(start, no_step, {}))
    return static_page(page.title, spec, stored_answers([], {(): events}))


def draw(names, folder=FIGURES):
    "Write NAME_dashboard.png for each."
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport=dict(width=WIDTH, height=LEAST_HEIGHT))
        for name in names:
            page = Path(place) / f"{name}.html"
            page.write_text(pictured_page(name), encoding="utf-8")
            tab.goto(page.as_uri())
            tab.wait_for_selector(".ask-leaves li" if name == "ask" else ".chc[data-done]", state="attached")
            tab.wait_for_timeout(1000)  # charts are drawn a moment later
            tab.locator(".chc").screenshot(path=Path(folder) / f"{name}_dashboard.png")
        browser.close()


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
    else:
        known = [path.name.removesuffix("_dashboard.png") for path in sorted(FIGURES.glob("*_dashboard.png"))]
        draw(sys.argv[1:] or known)
