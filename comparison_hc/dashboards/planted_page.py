"""The dashboard `planted`: from results to events, placeholders, controls and the static export."""

from dataclasses import replace
from html import escape
from math import inf, log2, log10

import numpy as np

from comparison_hc.dashboards.pictures import (
    CLUSTERS,
    heat_figure,
    heat_map,
    in_order,
    mark_html,
    shades,
    strip_picture,
    tree_picture,
)
from comparison_hc.dashboards.theorem_conditions import (
    COLUMNS,
    ETA,
    hypotheses,
    promise_rows,
    promise_words,
    share_thresholds,
    signal_thresholds,
)

from ..core.plotting import tree_layout
from ..reproduce.f19 import DASHED, SHAPES
from .framework import Page, no_step, page_texts
from .measure import Axis, bound_rows, curve_event, measure_chart
from .planted import PlantedInstance, PlantedSettings, method_result, planted_methods, setting_notes, tree_of_objects

ABOUT = dict(
    zip(
        planted_methods,
        (
            "single linkage, which chooses its questions",
            "complete linkage, which chooses its questions",
            "average linkage on the quadruplet kernel",
            "4K–AL with every object infinitely similar to itself",
            "4K–AL with chosen questions, as many as the sample contains",
            "quadruplet-based average linkage from single objects",
            "quadruplet-based average linkage from pure initial clusters of 3 objects",
            "quadruplet-based average linkage from pure initial clusters of 5 objects",
        ),
    )
)
_COLOURS = ("#000000", "#4c4c4c", "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#D55E00")
SERIES = [
    dict(name=name, colour=colour, shape=shape, dashed=name in DASHED)
    for name, colour, shape in zip(planted_methods, _COLOURS, SHAPES)
]
MIXED = "#000000"
AXES = {
    "δ/σ": Axis(
        "snr",
        lambda value: min(value, 14.0) ** 0.5,
        "sqrt(datum.snr == 'inf' ? 14 : min(datum.snr, 14))",
        (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, inf),
        "δ/σ (a square-root scale)",
        "δ/σ: signal to noise",
        lambda value: "∞" if value == inf else f"{value:g}",
    ),
    "p": Axis(
        "p", log10, "log(datum.p) / LN10", (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0), "p (log scale)", "p: share seen"
    ),
}


def cluster_colours(clusters, count):
    "Siblings share a family of colours, and colours are used in twos where there are more than eight clusters."
    clusters = np.asarray(clusters)
    return clusters * 8 // count, (clusters % 2 == 1) & (count > 8)


def model_event(instance):
    "The heat map, and the size of everything."
    s, w = instance.settings, instance.model.similarity
    off = w[~np.eye(len(w), dtype=bool)]
    low, high = float(off.min()), float(off.max())
    colours = cluster_colours(np.arange(s.n_objects) // s.n_pure, 1 << s.n_levels)
    label = f"Heat map of the similarities of {s.n_objects} objects, from {low:.3f} to {high:.3f}"
    strips = [strip_picture(*colours, across=across) for across in (True, False)]
    heat = heat_map("heat", shades(w, low, high, diagonal=False), (f"{low:.2f}", f"{high:.2f}"), label, *strips)
    total = f"{s.n_questions:,} comparisons are possible. AARI is 1 for the planted tree and 0 on average by chance."
    return dict(kind="model", show=dict(heat, total=total))


def theory_event(settings):
    "The table of hypotheses, as HTML."
    found = hypotheses(settings) if settings.n_objects >= 3 else []
    rows = []
    for row, hypothesis in zip(promise_rows(found), found):
        cells = "".join(f"<td>{escape(text)}</td>" for text in row)
        rows.append(f"<tr{' class=chc-holds' if hypothesis.holds else ''}>{cells}</tr>")
    words = promise_words(settings) if found else "<p>Two objects have only one tree.</p>"
    return dict(kind="theory", show=dict(theory="".join(rows), promise=words))


LABELS = dict(n_pure="N₀", n_levels="L", p="p", snr="δ/σ")


def measure_event(settings):
    "The stored curves of the methods that run, and where theorems begin."
    s = settings
    axis = AXES[s.against]
    bounds = {}
    if s.n_objects >= 3:
        bounds = signal_thresholds(replace(s, snr=1.0, against="δ/σ")) if axis.setting == "snr" else share_thresholds(s)
    words = "Marks: settings of this visit. Dotted: the present setting. Dashed: where a theorem begins to apply"
    drawn = [row["text"] for row in bound_rows(bounds, axis)]
    later = any(text.startswith("Theorem") for text in drawn)  # of 2 to 4; Theorem 1's have names of methods
    words += ", 2 to 4 with the small constants." if later else "; Theorems 2 to 4 apply nowhere on this axis."
    return curve_event("planted", s, axis, s.methods, bounds, LABELS, words)


def tree_event(instance, method, result):
    "The tree of one method, laid out."
    when = ["drawn", method]
    title = f"The tree of {method}"
    if result["why"]:
        empty = tree_picture([], [], [], [], [])
        shown = dict(tree=empty, strip=dict(src=""), missing=escape(result["why"]))
        return dict(kind="tree", when=when, show={"tree-title": title, **shown}, drawn=True)
    n = instance.settings.n_objects
    rows, left = tree_of_objects(result["tree"])
    rows = in_order(rows, range(n), lambda a, b, m, k: (a * m + b * k) / (m + k))
    at = tree_layout(rows)
    pure = (np.arange(n) // instance.settings.n_pure).tolist()
    for row in rows:
        clusters = {pure[child] for child in row}
        pure.append(clusters.pop() if len(clusters) == 1 else -1)
    count = 1 << instance.settings.n_levels
    look = np.where(np.array(pure) < 0, len(CLUSTERS), cluster_colours(pure, count)[0])
    looks = [[colour, 1 if n > 128 else 1.6] for colour in (*CLUSTERS, MIXED)]
    x = np.log2(np.r_[np.full(n, n), left]) / log2(n)
    y = (at.y + 0.5) / n
    strip = strip_picture(*cluster_colours(np.array(pure)[at.leaves], count))
    label = f"Dendrogram of {method}, AARI {result['aari']:.3f}"
    tree = tree_picture(x, y, at.parents, look, looks) | {"aria-label": label}
    shown = {"tree-title": title, "tree": tree, "strip": dict(src=strip), "missing": ""}
    return dict(kind="tree", when=when, show=shown, drawn=True)


def axis_html(settings):
    "The axis with the number of clusters left, and the cuts of AARI, half-way between k − 1 and k clusters."
    n = settings.n_objects
    powers = [1 << power for power in range(int(log2(n)) + 1)]
    numbers = "".join(f'<span style="left:{100 * log2(k) / log2(n):.2f}%">{k}</span>' for k in powers)
    cuts = [50 * (log2(k) + log2(k - 1)) / log2(n) for k in powers[1 : settings.n_levels + 1]]
    return numbers, "".join(f'<i class="chc-cut" style="left:{at:.2f}%"></i>' for at in cuts)


def row_show(method, result=None):
    "A method's row in the table."
    colour = _COLOURS[planted_methods.index(method)]
    aari = result["aari"] if result else None
    number = f"{aari:.3f}" if aari is not None else "none" if result else ""
    count = f"{result['comparisons']:,}" if aari is not None else "–" if result else ""
    bar = dict(style=f"width:{100 * max(0, aari or 0):.1f}%;background:{colour}")
    return {f"bar {method}": bar, f"aari {method}": number, f"count {method}": count}


def planted_events(settings, step=no_step, memory=None):
    "All events of one setting, in the order of computation; results of the previous draw are used again if they hold."
    memory = {} if memory is None else memory
    instance = memory["draw"] = PlantedInstance(settings, memory.get("draw"))
    yield model_event(instance)
    numbers, cuts = axis_html(settings)
    yield dict(kind="notes", notes=setting_notes(settings), show={"tree-axis": numbers, "cuts": cuts})
    yield theory_event(settings)
    yield measure_event(settings)
    for method in planted_methods:
        yield dict(kind="blank", when=["methods", method, False], show=row_show(method))
    for method in sorted(settings.methods, key=lambda name: name != settings.drawn):
        step(f"{method} begins; about {settings.p * settings.n_questions:,.0f} comparisons are seen")
        result = method_result(instance, method, step)
        rows = [] if result["why"] else [dict(settings.columns("drawn", "against"), method=method, aari=result["aari"])]
        rows = [{**row, "comparisons": result["comparisons"]} for row in rows]
        notes = [result["why"]] if result["why"] else []
        when = ["methods", method]
        yield dict(kind="method", when=when, show=row_show(method, result), notes=notes, rows=rows)
        yield tree_event(instance, method, result)


def method_rows(start):
    "A row for every method."
    rows = []
    for look in SERIES:
        name = look["name"]
        run = " checked" * (name in start.methods)
        drawn = " checked" * (name == start.drawn)
        mark = mark_html(look["shape"], look["colour"])
        box = f'type="checkbox" data-setting="methods" value="{name}" aria-label="run {name}"{run}'
        button = f'type="radio" name="chc-{{view}}-drawn" data-setting="drawn" data-box="methods" value="{name}"'
        rows.append(f"""<tr data-method="{name}" title="{ABOUT[name]}">
<td><input {box}></td><td><input {button} aria-label="draw the tree of {name}"{drawn}></td>
<td class="chc-name">{mark} {name}</td>
<td class="chc-fades"><span class="chc-track"><span data-show="bar {name}"></span></span>
<span class="chc-aari" data-show="aari {name}"></span></td>
<td class="chc-number" data-show="count {name}"></td></tr>""")
    return "\n".join(rows)


def planted_parts(start):
    "The first content of the page."
    words = "Similarities, with the objects in planted order. Strips: pure clusters."
    return dict(
        heat=heat_figure("heat", "The data", words),
        methods=method_rows(start),
        columns="".join(f'<th scope="col">{name}</th>' for name in COLUMNS),
        eta=f"{ETA:g}",
        success=f"{1 - ETA:g}",
    )


PAGE = Page(
    settings=PlantedSettings,
    work=planted_events,
    parts=planted_parts,
    charts=lambda: dict(measure=measure_chart(AXES.values(), ("n_pure", "n_levels"), "aari", "AARI", SERIES)),
    stored=dict(methods=planted_methods),
    small=dict(n_pure=5),
    slow=("snr", "n_pure", "n_levels", "seed"),
    **page_texts("planted"),
)
planted_dashboard = PAGE.widget
