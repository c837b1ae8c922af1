"""A picture and a sentence for every live page, and the way to each."""

from html import escape
from string import Template

import numpy as np

from .page import static_text


def matrix_picture(codes):
    "A heat map without its strips."
    from comparison_hc.dashboards.pictures import SHADES, png_picture

    return f'<img src="{png_picture(codes, SHADES)}" alt="">'


def marks_picture(points, colours, radius=0.02):
    "Points in their colours."
    low, high = points.min(axis=0), points.max(axis=0)
    wide, tall = high - low
    dots = "".join(
        f'<circle cx="{x - low[0]:.3f}" cy="{high[1] - y:.3f}" r="{radius * wide:.3f}" fill="{colour}"/>'
        for (x, y), colour in zip(points.tolist(), colours)
    )
    edge = 1.3 * radius * wide
    box = f"{-edge:.3f} {-edge:.3f} {wide + 2 * edge:.3f} {tall + 2 * edge:.3f}"
    return f'<svg viewBox="{box}" aria-hidden="true">{dots}</svg>'


def lines_picture(lines):
    "Lines in a picture of three by two."
    ends = np.concatenate([points for points, _ in lines])
    low, size = ends.min(axis=0), np.ptp(ends, axis=0)
    drawn = []
    for points, colour in lines:
        at = (points - low) / np.where(size, size, 1) * (300, 190)
        path = " ".join(f"{x:.1f},{195 - y:.1f}" for x, y in at.tolist())
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="4"/>')
    return f'<svg viewBox="-6 0 312 200" aria-hidden="true">{"".join(drawn)}</svg>'


def planted_picture():
    "The similarities of the first setting."
    from comparison_hc.dashboards.pictures import shades
    from comparison_hc.dashboards.planted import PlantedInstance
    from comparison_hc.dashboards.planted_settings import PlantedSettings

    w = PlantedInstance(PlantedSettings()).model.similarity
    off = w[~np.eye(len(w), dtype=bool)]
    return matrix_picture(shades(w, off.min(), off.max(), diagonal=False))


def flat_picture():
    "ARI along the errors, as it is stored."
    from comparison_hc.dashboards.measure import stored_table

    rows = [row for row in stored_table("flat") if row["epsilon"] != 0.75]
    lines = []
    for a, colour in ((2.0, "#A6CEE3"), (3.0, "#0072B2"), (4.0, "#08306B")):
        points = sorted((row["epsilon"], row["mean"]) for row in rows if row["a"] == a)
        if points:
            lines.append((np.array(points), colour))
    return lines_picture(lines)


def step_picture():
    "The tree that the last item of the first setting meets."
    from comparison_hc.core.plotting import tree_layout
    from comparison_hc.dashboards.pictures import CLUSTERS
    from comparison_hc.dashboards.record import StepSettings
    from comparison_hc.dashboards.step import watch

    vertices = watch(StepSettings())[0][-1].vertices
    leaves = [v for v, left, _ in vertices if left < 0]
    inner = [row for row in reversed(vertices) if row[1] >= 0]
    number = {v: at for at, v in enumerate(leaves + [v for v, *_ in inner])}
    layout = tree_layout([[number[left], number[right]] for _, left, right in inner])
    lines = []
    for node, above in enumerate(layout.parents):
        if above != node:
            x, y = layout.y[[node, above]], layout.x[[node, above]]
            lines.append((np.array([(x[0], y[0]), (x[0], y[1]), (x[1], y[1])]), CLUSTERS[0]))
    return lines_picture(lines)


def link_picture():
    "The points of the first task."
    from comparison_hc.dashboards.link_page import LOOKS
    from comparison_hc.dashboards.tasks import LinkSettings, draw_task

    task = draw_task(LinkSettings())
    return marks_picture(task.points, [LOOKS[label][0] for label in task.labels])


def plan_picture():
    "Three questions of three objects, one of which is singled out."
    rows = [(x, y, "#0072B2" if x == y else "#b4bac0") for y in range(3) for x in range(3)]
    points = np.array([(2.0 * x, -y) for x, y, _ in rows])
    return marks_picture(points, [colour for *_, colour in rows], 0.06)


def ask_picture():
    "Three of the animals, by name: not every machine can draw their faces."
    from comparison_hc.elicitation.items import ANIMALS

    cards = "".join(
        f'<rect x="{5 + 100 * at}" y="8" width="90" height="84" rx="9" fill="{fill}" stroke="{edge}" stroke-width="2"/>'
        f'<text x="{50 + 100 * at}" y="56" font-size="18" text-anchor="middle">{escape(item.name)}</text>'
        for at, (item, fill, edge) in enumerate(
            zip(ANIMALS, ("#eef6fb",) * 2 + ("#fff",), ("#0072B2",) * 2 + ("#b9bfc5",))
        )
    )
    return f'<svg viewBox="0 0 300 100" aria-hidden="true">{cards}</svg>'


CARDS = {
    "planted": (
        planted_picture,
        "Move the noise or the number of answers, and see which methods still find a planted tree.",
    ),
    "flat": (flat_picture, "When do clusters appear in the answers, and from when on can they be proved?"),
    "step": (step_picture, "Watch a tree grow by one question after the other, with right answers or with slips."),
    "ask": (ask_picture, "Which two of three belong together? Answer yourself, and your own tree grows."),
    "link": (link_picture, "Slide through all algorithms between two linkages, and see which one the tasks ask for."),
    "plan": (
        plan_picture,
        "How many people, minutes and questions does a study need? Simulated before it costs anything.",
    ),
}
ABOUT = (
    "Every page computes while you move its sliders. Its address keeps what you set: send it, and others see the same."
)


def home_page(dashboards, title="Clusters and hierarchies from comparisons, live"):
    "A card for every dashboard."
    cards = []
    for name, (about, address) in dashboards.items():
        picture, sentence = CARDS.get(name, (str, ""))
        words = f"<h2>{escape(about)}</h2><p>{escape(sentence)}</p>"
        cards.append(f'<li><a href="{escape(address)}">{picture()}{words}</a></li>')
    parts = dict(title=escape(title), about=escape(ABOUT), cards="\n".join(cards))
    return Template(static_text("home.html")).substitute(parts)
