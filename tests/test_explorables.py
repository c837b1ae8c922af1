"Charts with a slider in reading pages: what a notebook keeps is drawn in Chromium, and the slider changes it."

import json
import re
from pathlib import Path

import pytest

NBS = Path(__file__).parents[1] / "nbs"
MIME = "application/vnd.vegalite.v5+json"
PAGES = (
    "hierarchical/10_planted",
    "hierarchical/11_linkage",
    "hierarchical/12_kernel",
    "hierarchical/13_average",
    "hierarchical/15_triplets",
    "hierarchical/16_refinement",
    "flat/20_planted",
    "flat/21_similarity",
    "flat/22_sdp",
    "flat/23_certificate",
    "adaptive/31_insertion",
    "adaptive/32_quick",
    "adaptive/33_noisy",
    "link/40_merge",
    "link/41_execution",
    "link/42_kinetic",
    "link/43_losses",
)


def kept_charts(page):
    "(specification, picture) of every explorable of a notebook."
    cells = json.loads((NBS / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    bundles = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return [(each[MIME], "".join(each["image/svg+xml"])) for each in bundles if MIME in each]


def seen_at_both_ends(spec, browser, path):
    "(pictures, errors, requests) of a chart whose slider is moved to both of its ends."
    from comparison_hc.dashboards.page import vega_library

    draw = f"comparisonCharts(document.querySelector('main'), {json.dumps(spec)}, {{actions: false}})"
    body = f"<main></main><script>{vega_library()}</script><script>{draw}</script>"
    path.write_text(f'<meta charset="utf-8">{body}', encoding="utf-8")
    window, pictures, errors, requests = browser.new_page(), set(), [], []
    window.on("pageerror", lambda error: errors.append(str(error)))
    window.on("request", lambda request: requests.append(request.url))
    window.goto(path.as_uri())
    for key in ("Home", "End"):
        window.locator("input[type=range]").press(key)
        window.wait_for_timeout(300)
        pictures.add(window.locator("main svg, main canvas").first.screenshot())
    window.close()
    return pictures, errors, requests


@pytest.mark.parametrize("page", PAGES)
def test_the_slider_moves_the_chart_and_nobody_else_is_asked(page, browser, tmp_path):
    charts = kept_charts(page)
    assert charts
    for spec, picture in charts:
        assert re.search(r"/v5\.json$", spec["$schema"]) and picture.startswith("<svg")
        pictures, errors, requests = seen_at_both_ends(spec, browser, tmp_path / "page.html")
        assert len(pictures) == 2 and errors == [] and len(requests) == 1
