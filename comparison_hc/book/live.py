"""Stored twins of all dashboards, computed when the site is made, and what is loaded when a page runs."""

import json
import os
from functools import partial

from .lite import CORE, KERNEL, closure
from ..core.parallel import map_in_order

TWINS = ("planted",)  # on the first page


def _write_twin(folder, name):
    from comparison_hc.dashboards.framework import write_static
    from comparison_hc.dashboards.sources import Pages

    write_static(name, folder / f"{name}.html", pages=Pages("../"))


def write_twins(folder, names=TWINS, say=lambda sentence: None):
    "The static twins of dashboards, as files. Raises `InputError` for a name that has none."
    from comparison_hc.dashboards.framework import find_dashboard

    folder.mkdir(parents=True)
    titles = {name: dashboard.title for name, dashboard in find_dashboard().items() if name in names}
    if names:
        say(f"stored live pages: {', '.join(names)}")

    def counted(done, total):
        say(f"stored live pages: {done} of {total}")

    n_jobs = min(len(names), os.cpu_count() or 1) or 1
    list(map_in_order(partial(_write_twin, folder), names, n_jobs, counted))
    return {name: (title, (folder / f"{name}.html").stat().st_size) for name, title in titles.items()}


STAGES = (  # (when, packages; None: Pyodide itself)
    ("at the click: Python and its notebook kernel", (None, *KERNEL)),
    ("at the first cell that imports the package", ("comparison-hc",)),
    ("at the first live page", ("anywidget",)),
    ("at the first chart in a cell", ("altair",)),
    ("at the first table", ("pandas",)),
    ("at the first estimator", ("scikit-learn",)),
)


def loads(folder, stages=STAGES):
    "What each stage brings."
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    there, found = set(), []
    for when, wanted in stages:
        names = closure(lock, [name for name in wanted if name]) - there
        there |= names
        files = [lock[name]["file_name"] for name in sorted(names)] + (list(CORE[2:]) if None in wanted else [])
        found.append((when, sorted(names), sum((folder / name).stat().st_size for name in files)))
    return found


def loads_text(folder):
    "A table of what is loaded, and when."
    rows = [f"| {when} | {size / 1e6:.0f} MB | {', '.join(names)} |" for when, names, size in loads(folder)]
    ((_, _, size),) = loads(folder, (("", (None, "comparison-hc")),))
    drop = (
        f"[The page for a file](drop.md) loads {size / 1e6:.0f} MB, and pandas and scikit-learn only where a method "
        "needs them."
    )
    about = (
        "The reader's browser loads Python from this site, and keeps the files: a second visit sends none again. "
        "Python itself starts anew on every visit, and imports what a page uses."
    )
    return "\n".join([about, "", "| when | size | what |", "|---|---|---|", *rows, "", drop])


PICTURE = (
    '<iframe class="live" src="live/figure.html" title="How well each method finds a planted tree, '
    'with a slider for the number of answers"></iframe>\n\n'
    "The experiment of F19's second figure, [as it came out here](reproduce/91_f19.ipynb): how near each method "
    "comes to a planted tree, on average, with a band of one standard deviation. To see: 4–AL that begins with pure "
    "groups (I3, I5) is nowhere below the others. SL and CL ask their own questions, so the slider moves the others "
    "only. [What the short names mean](words.ipynb)."
)
TWIN = (
    '<iframe class="live whole" src="live/planted.html" loading="lazy" title="A planted hierarchy, with sliders">'
    "</iframe>\n\n"
    "A tree that is hidden, and the trees that methods make of answers: a dashboard with stored answers, which needs "
    'nothing installed (<a href="live/planted.html">on a page of its own</a>). Move δ/σ, how far the groups stand '
    "out of the noise, or p, the share of comparisons that is known. To see: with less of either, colours mix in the "
    "tree. [What the short names mean](words.ipynb)."
)


def moving_picture(twins):
    "What moves on the first page: the planted model's dashboard; the figure where there is none, or on a telephone."
    if "planted" not in twins:
        return PICTURE
    return "\n\n".join(
        f'<div class="{where}">\n\n{what}\n\n</div>' for where, what in (("narrow", PICTURE), ("wide", TWIN))
    )


def live_page(twins, loads=""):
    "The command for live pages, those that are stored, and those that run."
    items = [
        f'<li><a href="live/{name}.html">{title}</a> ({size / 1e6:.1f} MB)</li>'
        for name, (title, size) in twins.items()
    ]
    rows = "\n".join(items)
    stored = ["Stored here, with all answers of some settings, each in one file:", f"<ul>\n{rows}\n</ul>"]
    runs = (
        "With Python in your own browser, and with all settings: open a page of [this room](dashboards/index.md), "
        "press *Run this page in your browser*, and run the first cell."
    )
    parts = [
        "# Pictures that move",
        "A live page computes while one moves its sliders: `comparison-hc dashboard` lists them, "
        "`comparison-hc dashboard planted` opens one. [This room](dashboards/index.md) explains them.",
        *(stored if twins else []),
        *([runs, "## What is loaded, and when", loads] if loads else []),
        "## A figure from stored results",
        PICTURE,
    ]
    return "\n\n".join(parts) + "\n"
