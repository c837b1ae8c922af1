"""Heat maps, trees and charts, computed in Python and only shown by the page."""

import base64
from io import BytesIO

import numpy as np


def png_picture(codes, palette):
    "A PNG with one pixel per code."
    from PIL import Image

    picture, file = Image.fromarray(np.ascontiguousarray(codes, dtype=np.uint8), mode="P"), BytesIO()
    picture.putpalette(bytes(np.ravel(palette).astype(np.uint8)))
    picture.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


RAMP = np.array([(248, 250, 252), (164, 201, 229), (52, 122, 183), (6, 36, 82)])
NO_VALUE = (226, 226, 226)
_place = np.linspace(0, len(RAMP) - 1, 255)
_channels = [np.interp(_place, range(len(RAMP)), channel) for channel in RAMP.T]
SHADES = [*np.rint(np.column_stack(_channels)).astype(np.int64).tolist(), NO_VALUE]
CLUSTERS = ["#332288", "#66BBDD", "#117733", "#44AA99", "#8A8A2B", "#CFBB60", "#882255", "#D0707F"]


def shades(matrix, low, high, diagonal=True):
    "A matrix as codes of `SHADES`."
    values = np.asarray(matrix, dtype=float)
    if high > low:
        codes = np.rint(254 * (values - low) / (high - low)).astype(np.int64)
    else:
        codes = np.full(values.shape, 127)
    if not diagonal:
        np.fill_diagonal(codes, 255)
    return codes


def strip_picture(labels, half=None, colours=CLUSTERS, across=False):
    "A strip that says which rows belong together."
    labels = np.asarray(labels) % len(colours)
    strip = np.column_stack([labels, labels])
    if half is not None:
        strip[np.asarray(half, dtype=bool), 1] = len(colours)
    palette = [*(list(bytes.fromhex(colour[1:])) for colour in colours), (255, 255, 255)]
    return png_picture(strip.T[::-1] if across else strip, palette)


def heat_map(name, codes, ends, label, above, beside):
    "A heat map with its strips and its scale."
    return {
        name: dict(src=png_picture(codes, SHADES), alt=label),
        f"{name}-above": dict(src=above),
        f"{name}-beside": dict(src=beside),
        f"{name}-low": ends[0],
        f"{name}-high": ends[1],
    }


def heat_figure(name, heading, words):
    "The places of a heat map."
    scale = ",".join(f"rgb({r},{g},{b})" for r, g, b in [*SHADES[0:255:32], SHADES[254]])
    return f"""<figure class="chc-{name}"><h3>{heading}</h3><div class="chc-plot chc-fades"><span></span>
<img class="chc-above" data-show="{name}-above" alt=""><img class="chc-beside" data-show="{name}-beside" alt="">
<img class="chc-map" data-show="{name}" alt=""></div>
<div><div class="chc-scale"><span data-show="{name}-low"></span><span style="background:linear-gradient(90deg,{scale})">
</span><span data-show="{name}-high"></span></div><figcaption>{words}</figcaption></div></figure>"""


def in_order(children, value, how):
    "Children put in order from the bottom up, so that similar trees look alike."
    values = list(value)
    sizes = [1] * len(values)
    ordered = []
    for row in children:
        row = sorted(row, key=values.__getitem__)
        ordered.append(row)
        total = values[row[0]]
        size = sizes[row[0]]
        for child in row[1:]:
            total = how(total, values[child], size, sizes[child])
            size += sizes[child]
        values.append(total)
        sizes.append(size)
    return ordered


def edges(x, y, parents, upright=False):
    "{node: SVG path} in coordinates from 0 to 1. With the root at the left, a bar is the parent's, a stem the child's."
    x, y = (np.rint(9999 * np.asarray(values)).astype(np.int64).tolist() for values in (x, y))
    found = {}
    for node, above in enumerate(parents):
        if above != node and upright:
            found[node] = f"M{x[above]} {y[above]}H{x[node]}V{y[node]}"
        elif above != node:
            found[above] = found.get(above, "") + f"M{x[above]} {y[above]}V{y[node]}"
            found[node] = found.get(node, "") + f"M{x[above]} {y[node]}H{x[node]}"
    return found


def tree_picture(x, y, parents, look, looks):
    "The inside of the tree's SVG: a path for each look, (colour, width)."
    lines = [""] * len(looks)
    for node, line in edges(x, y, parents).items():
        lines[look[node]] += line
    drawn = [(line, *look) for line, look in zip(lines, looks) if line]
    paths = [f'<path d="{line}" stroke="{colour}" stroke-width="{width}"/>' for line, colour, width in drawn]
    return dict(html="".join(paths))


FONT = "system-ui, sans-serif"


def chart_spec(chart):
    "What the page's library draws: as wide as its place, in the page's type."
    chart = chart.configure(font=FONT, autosize=dict(type="fit-x", contains="padding"))
    text = dict(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelColor="#444", titleColor="#444")
    chart = chart.configure_axis(**text, gridColor="#dfe3e6", domain=False, ticks=False, labelPadding=6)
    return chart.configure_legend(labelFontSize=12).configure_view(stroke=None).to_dict()


def look_channels(field, names, **looks):
    "A channel without a legend for each look, such as Color=colours, in the order of the names."
    import altair as alt

    channels = {kind: getattr(alt, kind)(f"{field}:N", legend=None) for kind in looks}
    return [channels[kind].scale(domain=list(names), range=list(each)) for kind, each in looks.items()]


def mark_html(shape, colour):
    "A mark as the charts draw it, to stand in a line of text."
    mark = f'<path d="{MARKS[shape]}" fill="{colour}"/>'
    return f'<svg viewBox="-6 -6 12 12" width="12" height="12" aria-hidden="true">{mark}</svg>'


MARKS = {  # shapes, by their names in Vega
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "square": "M-3.5 -3.5h7v7h-7z",
    "diamond": "M0 -5l5 5l-5 5l-5 -5z",
    "cross": "M-4.5 -1.3h3.2v-3.2h2.6v3.2h3.2v2.6h-3.2v3.2h-2.6v-3.2h-3.2z",
    "triangle-up": "M0 -4.5l4.7 8.5h-9.4z",
    "triangle-down": "M0 4.5l4.7 -8.5h-9.4z",
    "triangle-left": "M-4.5 0l8.5 -4.7v9.4z",
    "triangle-right": "M4.5 0l-8.5 -4.7v9.4z",
}
