"""The matrix, the map and the curve of a report, as SVG."""

from html import escape

import numpy as np

from ..core.compat import bincount
from ..core.images import SEQUENTIAL, matrix_png
from ..core.plotting import TreeFigure, TreeStyle, cluster_color, cut_text, is_free, svg, tag, text_width

SMALLEST, MOST_SIDE = 6.7, 820  # pixels: of letters beside a matrix (5 points), of its side


def win_counts(comparisons):
    "(N, N) comparisons that each pair won, and those about it."
    rows, N = comparisons.array.astype(np.intp), comparisons.n_objects
    winners, losers = rows[:, :2], rows[:, [0, 2]] if comparisons.width == 3 else rows[:, 2:]

    def count(pairs):
        found = bincount(pairs[:, 0] * N + pairs[:, 1], comparisons.weights, N * N).reshape(N, N).astype(float)
        return found + found.T

    won = count(winners)
    return won, won + count(losers)


def win_share(comparisons):
    "(N, N) share of its comparisons that each pair won; NaN where there is none."
    won, asked = win_counts(comparisons)
    return won / np.where(asked, asked, np.nan)


def matrix_svg(
    matrix, order, names, labels=None, side=560, ends=(0, 1), end_labels=("0%", "100% of its answers won"),
    title="How often each pair of objects won",
):  # fmt: skip
    "(picture, whether it has names): a matrix with names at the left, or numbers of clusters where names do not fit."
    N = len(order)
    side = max(side, min(round(SMALLEST / 0.9 * N), MOST_SIDE))
    pitch, scale = side / N, max(1, -(-600 // N))
    size = min(11.5, 0.9 * pitch)
    named = size >= 0.99 * SMALLEST
    texts = [cut_text(names[i], size, 130) for i in order] if named else [""] * N
    left = 16 + max(text_width(text, size) for text in texts) if named else 34.0
    cells = matrix_png(np.asarray(matrix)[np.ix_(order, order)], *map(float, ends), (scale, scale))
    parts = [tag("image", x=left, y=4, width=side, height=side, preserveAspectRatio="none", href=cells)]
    for row, (i, text) in enumerate(zip(order, texts)):
        y = 4 + pitch * (row + 0.5)
        box = dict(x=left - 6, y=f"{y - pitch / 2:.2f}", width=5, height=f"{pitch:.2f}", data_object=int(i))
        parts.append(tag("rect", **box, fill="none" if labels is None else cluster_color(int(labels[i]))))
        if named:
            parts.append(tag("text", escape(text), x=left - 9, y=y, dy=".35em", text_anchor="end"))
    numbers = []
    for number, start, end in _runs(np.asarray(labels)[order]) if labels is not None and not named else ():
        if (end - start) * pitch >= 11:
            numbers.append(tag("text", number, x=left - 10, y=4 + pitch * (start + end) / 2))
    font = dict(font_size=11, text_anchor="end", dominant_baseline="central")
    parts += [] if named else [tag("g", "".join(numbers), class_="runs", data_left=left - 10, data_pitch=pitch, **font)]
    parts += _shades(left, side + 18, end_labels)
    return svg(parts, left + side + 6, side + 34, title, font_size=float(size)), named


def _shades(left, top, end_labels):
    "The scale of colours of a matrix."
    stops = (tag("stop", offset=f"{at / 8:.3f}", stop_color=color) for at, color in enumerate(SEQUENTIAL))
    yield tag("linearGradient", "".join(stops), id="shades")
    yield tag("rect", x=left + 30, y=top, width=140, height=9, fill="url(#shades)")
    for x, text, anchor in ((left + 26, end_labels[0], "end"), (left + 174, end_labels[1], "start")):
        yield tag("text", escape(text), x=x, y=top + 8, font_size=10.5, text_anchor=anchor)


def beside_matrix_svg(figure, matrix, ends=(0, 1), end_labels=("0%", "100% of its answers won"), title="", scale=1):
    "A tree with its root at the left, and the matrix of its leaves in their order, row beside row."
    order, side, left = np.asarray(figure.ends), figure.breadth, figure.width + 4.0
    repeat = max(1, -(-1200 // len(order)))
    cells = matrix_png(np.asarray(matrix)[np.ix_(order, order)], *map(float, ends), (repeat, repeat))
    place = dict(x=left, y=float(figure.start), width=float(side), height=float(side), preserveAspectRatio="none")
    parts = [tag("rect", width="100%", height="100%", fill="#fff"), figure.svg(), tag("image", **place, href=cells)]
    parts += _shades(left, figure.start + side + 10, end_labels)
    return svg(parts, left + max(side, 330) + 10, max(figure.height, figure.start + side + 34), title, scale)


def turned_towards(tree, places):
    "The same tree, of whose two children the one with the lower mean place of its objects comes first at every merge."
    means = tree._aggregate(np.asarray(places, dtype=float)) / tree.sizes
    Z = tree.linkage_matrix.copy()
    Z[:, :2] = np.take_along_axis(tree.children, np.argsort(means[tree.children], axis=1, kind="stable"), axis=1)
    return type(tree)(Z, tree.initial_clusters, tree.names, tree.height_kind)


def n_crossings(order):
    "How many pairs of straight lines cross that lead from place 0, 1, … to these places."
    order, found = np.asarray(order), 0
    for at, place in enumerate(order):
        found += int((order[:at] > place).sum())
    return found


def n_shared_branches(tree, other):
    "How many sets of objects, between single ones and all of them, are below a node of both trees."
    marks = np.random.default_rng(0).integers(2**48, size=tree.n_objects)
    one, two = (set(each._aggregate(marks)[each.n_leaves : -1].tolist()) for each in (tree, other))
    return len(one & two)


def tanglegram_svg(tree, other, names, titles, labels=None, width=900, scale=1):
    """(picture, pairs of lines that cross): two trees of the same objects face to face, and lines between these.

    The second tree is turned so that few lines cross; the first stays as it is.
    """
    order = tree.leaf_order()
    place = np.argsort(order)
    other, gap = turned_towards(other, place), max(60, width // 8)
    side = (width - gap) // 2
    figures = []
    for each, root in ((tree, "left"), (other, "right")):
        style = TreeStyle(width=max(side, 100), orientation=root, unfolded=True)
        figures.append(TreeFigure(each, names, labels, style=style))
    one, two = figures
    top, left, lines = 22.0, one.width + gap, []
    for i, (y, z) in enumerate(zip(place.tolist(), np.argsort(other.leaf_order()).tolist())):
        ends = []
        for figure, shift, at in ((one, 0.0, y), (two, left, z)):
            behind = figure.length + 12 + figure.number_width
            behind += text_width(figure.text[i], figure.size) if figure.named else 0
            x, across = figure.point(behind, figure.pitch * (at + 0.5))
            ends.append((shift + x, top + across))
        (x, y), (x2, y2) = ends
        color = "#9a9a9a" if labels is None else cluster_color(int(labels[i]))
        path = f"M{x:.1f} {y:.1f}L{one.width:.1f} {y:.1f}L{left:.1f} {y2:.1f}L{x2:.1f} {y2:.1f}"
        line = dict(d=path, class_="join", fill="none", stroke=color, stroke_width=1.1, stroke_opacity=".8")
        lines.append(tag("path", tag("title", escape(names[i])), **line))
    parts = [tag("rect", width="100%", height="100%", fill="#fff")]
    for figure, shift, title, anchor in ((one, 0.0, titles[0], "start"), (two, left, titles[1], "end")):
        at = dict(x=14.0 if anchor == "start" else left + two.width - 14.0, y=16, text_anchor=anchor)
        parts.append(tag("text", escape(cut_text(title, 11.5, side)), **at, font_size=11.5, class_="title"))
        parts.append(tag("g", figure.svg(), transform=f"translate({shift:.1f} {top:.1f})"))
    picture = svg([*parts, *lines], left + two.width, top + one.height, "Two trees of the same objects", scale)
    return picture, n_crossings(np.argsort(other.leaf_order())[order])


def _runs(labels):
    "(label, start, end) of all runs of equal labels."
    starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist()]
    return [(int(labels[a]), a, b) for a, b in zip(starts, [*starts[1:], len(labels)])]


def distances_of_comparisons(comparisons):
    "(N, N) share of its comparisons that each pair lost, one half where nothing is known."
    won, asked = win_counts(comparisons)
    D = (asked - won + 1) / (asked + 2)
    np.fill_diagonal(D, 0)
    return D


def distances_of_similarity(similarity):
    "(N, N) what each similarity lacks to the largest one."
    W = np.array(similarity, dtype=float)
    np.fill_diagonal(W, 0)
    W = W / max(np.abs(W).max(initial=0), np.finfo(float).tiny)  # no overflow; a map has no scale
    D = W[~np.eye(len(W), dtype=bool)].max(initial=-np.inf) - W
    np.fill_diagonal(D, 0)
    return D


def two_dimensions(D):
    "((N, 2) points, share of the squared distances that they show) by classical multidimensional scaling."
    N = len(D)
    centre = np.eye(N) - 1 / N
    values, vectors = np.linalg.eigh(-centre @ (D * D) @ centre / 2)
    values, vectors = values[::-1].clip(0), vectors[:, ::-1]
    axes = vectors[:, :2] * np.sqrt(values[:2]) if N > 1 else np.zeros((1, 2))
    return _signed(axes), float(values[:2].sum() / (values.sum() or 1))


def _signed(axes):
    "The same picture on every machine: what is farthest from the centre is at the right, and at the top."
    turn = np.sign(axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])])
    return axes * np.where(turn == 0, 1, turn)


def turned(points):
    "Points with their centre in the middle and their longest direction from left to right."
    centred = points - points.mean(axis=0)
    return _signed(centred @ np.linalg.svd(centred, full_matrices=False)[2].T)


def map_svg(points, names, labels=None, images=None, width=640, height=460):
    "(picture, number of names): points with names, as many as do not cover each other; the others are titles."
    low, high = points.min(axis=0), points.max(axis=0)
    scale = min((width - 150) / max(high[0] - low[0], 1e-9), (height - 60) / max(high[1] - low[1], 1e-9))
    middle, images = (low + high) / 2, images or {}
    xs = (width / 2 + (points[:, 0] - middle[0]) * scale).tolist()
    ys = (height / 2 - (points[:, 1] - middle[1]) * scale).tolist()
    radius = 4.5 if len(names) <= 80 else 3.5
    parts, taken, n_written = [], [(x - radius, y - radius, x + radius, y + radius) for x, y in zip(xs, ys)], 0
    for i, (name, x, y) in enumerate(zip(names, xs, ys)):
        color = "#555555" if labels is None else cluster_color(int(labels[i]))
        title = tag("title", escape(name) + ("" if labels is None else f", cluster {int(labels[i])}"))
        if name in images:
            box = dict(x=x - 14, y=y - 14, width=28, height=28)
            parts.append(tag("image", title, **box, href=images[name]))
            parts.append(tag("rect", **box, fill="none", stroke=color, stroke_width=2, data_framed=i))
        else:
            mark = dict(cx=x, cy=y, r=radius, fill=color, stroke="#fff", stroke_width=".7")
            parts.append(tag("circle", title, **mark, data_object=i))
        text, gap = cut_text(name, 10.5, 150), 16 if name in images else radius + 2
        length = text_width(text, 10.5)
        for left, at, anchor in ((x + gap, x + gap, "start"), (x - gap - length, x - gap, "end")):
            box = (left, y - 5.5, left + length, y + 5.5)
            if left > 0 and left + length < width and is_free(box, taken[:i] + taken[i + 1 :]):
                parts.append(tag("text", escape(text), x=at, y=y, dy=".35em", text_anchor=anchor))
                taken.append(box)
                n_written += 1
                break
    return svg(parts, width, height, "A map of the objects", font_size=10.5), n_written


def curve_svg(steps, n_clusters, width=520, height=220):
    "SPUR's objective against the number of clusters, where it was computed; nothing where it was nowhere."
    points = sorted((step.k, float(step.objective)) for step in steps if np.isfinite(step.objective))
    if not points:
        return ""
    ks, values = zip(*points)
    low, high = min(values), max(values)
    right, bottom, left, top = width - 20, height - 40, 70, 16

    def place(k, value):
        x = left + (right - left) * (k - ks[0]) / max(ks[-1] - ks[0], 1)
        return x, bottom - (bottom - top) * ((value - low) / (high - low) if high > low else 0.5)

    line = "M" + "L".join("{:.1f} {:.1f}".format(*place(*point)) for point in points)
    parts = [tag("path", d=line, fill="none", stroke="#0072B2", stroke_width=1.5)]
    for number, (k, value) in enumerate(points):
        (x, y), chosen = place(k, value), k == n_clusters
        parts.append(tag("circle", cx=x, cy=y, r=5 if chosen else 3, fill="#D55E00" if chosen else "#0072B2"))
        if number % max(1, -(-len(ks) // 16)) == 0 or chosen:
            parts.append(tag("text", k, x=x, y=bottom + 16, text_anchor="middle"))
    for value in sorted({low, high}):
        parts.append(tag("text", f"{value:.3g}", x=left - 10, y=place(ks[0], value)[1] + 4, text_anchor="end"))
    parts.append(tag("text", "number of clusters", x=(left + right) / 2, y=height - 6, text_anchor="middle"))
    turn = f"rotate(-90 16 {height / 2})"
    parts.append(tag("text", "objective", x=16, y=height / 2, transform=turn, text_anchor="middle"))
    return svg(parts, width, height, "Objective of SPUR", font_size=11)
