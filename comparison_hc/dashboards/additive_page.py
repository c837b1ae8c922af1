"""The dashboard `additive`: three models of the same answers, and how well each of them predicts new answers."""

from html import escape

import numpy as np

from ..core.plotting import svg, tag, tree_layout
from ..core.additive_drawing import draw, drawing_svg
from .additive import AdditiveSettings, draw_world, fitted_models, judged
from .framework import Page, no_step, page_texts

SIDE, EDGE = 300, 14  # of the pictures and their margins, in pixels


def dendrogram_picture(tree, names):
    "Root at the left, names at the right; the height of a merge is its rank."
    n = tree.n_objects
    layout = tree_layout(tree.linkage_matrix[:, :2].astype(np.int64).tolist(), np.arange(1, n))
    x = SIDE - 2 * EDGE - layout.x / (n - 1) * (SIDE - 3 * EDGE)
    y = EDGE + layout.y / (n - 1) * (SIDE - 2 * EDGE)
    parts = []
    for node, children in enumerate(layout.children, n):
        ends = [y[child] for child in children]
        lines = [f"M{x[node]:.1f} {min(ends):.1f}V{max(ends):.1f}"]
        lines += [f"M{x[node]:.1f} {y[child]:.1f}H{x[child]:.1f}" for child in children]
        parts.append(tag("path", d="".join(lines), fill="none", stroke="#444", stroke_width=1.5))
    parts += [
        tag("text", escape(name), x=float(x[leaf] + 5), y=float(y[leaf]), dy=".35em", font_size=11)
        for leaf, name in enumerate(names)
    ]
    return svg(parts, SIDE, SIDE, f"dendrogram of {n} objects")


def points_picture(x, names):
    "Names where the points are, with the same scale on both axes."
    x = x - (x.min(axis=0) + x.max(axis=0)) / 2
    place = SIDE / 2 + x / max(np.abs(x).max(), 1e-9) * (SIDE / 2 - EDGE)
    parts = []
    for name, (across, down) in zip(names, place):
        parts.append(tag("circle", cx=float(across), cy=float(down), r=3, fill="#0072B2"))
        parts.append(tag("text", escape(name), x=float(across) + 5, y=float(down), dy=".35em", font_size=11))
    return svg(parts, SIDE, SIDE, f"{len(names)} objects as points in the plane")


def facts(table):
    "The table of the models, and a sentence about the best one."
    head = "".join(f'<th scope="col">{name}</th>' for name in ("model", "agreement", "log loss"))
    rows = [f"<tr>{head}</tr>"]
    for name, (agreement, loss) in table.items():
        cells = f'<td class="chc-number">{agreement:.3f}</td><td class="chc-number">{loss:.3f}</td>'
        rows.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    found = {name: loss for name, (_, loss) in table.items() if name != "ceiling"}
    best = min(found, key=found.get)
    gap = found[best] - table["ceiling"][1]
    words = f"The {best} predict{'' if best == 'points' else 's'} best, {gap:.3f} in log loss above the ceiling."
    return f"<table><tbody>{''.join(rows)}</tbody></table>", words


def additive_events(settings, step=no_step, memory=None):
    "All that one setting shows."
    D, given, new = draw_world(settings)
    found = fitted_models(given, step)
    table = judged(found, D, new)
    (groups, _), (model, _), (x, _) = found.values()
    show = {"groups": dendrogram_picture(groups, given.object_names), "points": points_picture(x, given.object_names)}
    show["tree"] = drawing_svg(draw(model.trees_[0], width=SIDE), f"additive tree of {settings.n} objects")
    show["table"], show["words"] = facts(table)
    rows = [dict(settings.columns(), model=name, agreement=a, loss=loss) for name, (a, loss) in table.items()]
    yield dict(kind="models", show=show, drawn=True, rows=rows)


PAGE = Page(settings=AdditiveSettings, work=additive_events, small=dict(n=10, answers=400), **page_texts("additive"))
additive_dashboard = PAGE.widget
