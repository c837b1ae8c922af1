"Draw the pictures of the dashboards in nbs/figures again: `python .ci/pictures.py [NAME ...]`. Needs Chromium."

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from comparison_hc.dashboards import serve_dashboard

FIGURES = Path(__file__).resolve().parents[1] / "nbs/figures"
NAMES = sys.argv[1:] or [path.stem.removesuffix("_dashboard") for path in FIGURES.glob("*_dashboard.png")]


def draw(tab, name, address):
    "The picture of one dashboard as it begins."
    tab.goto(address)
    if name == "ask":
        tab.wait_for_selector(".ask-leaves li", state="attached")
    else:
        tab.wait_for_selector(".chc[data-done]")
    tab.wait_for_timeout(1000)  # charts are drawn a moment later
    tab.locator(".chc").screenshot(path=FIGURES / f"{name}_dashboard.png")


if __name__ == "__main__":  # the server's processes import this file
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page(viewport=dict(width=1280, height=500))
        for name in NAMES:
            with serve_dashboard(name, journal=Path(folder, "log.jsonl")) as address:
                draw(tab, name, address)
