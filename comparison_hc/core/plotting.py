"""Dendrograms in box characters, as SVG and as an Altair chart, all from one layout."""

import json
import math
import unicodedata
from dataclasses import dataclass
from html import escape

import numpy as np

from ._tree import aggregate, as_rows, node_starts
from .compat import IN_BROWSER, import_optional
from .images import data_uri
from .validation import (
    as_list,
    check_choice,
    check_integer,
    check_labels,
    check_names,
    require,
    visible_line,
    visible_text,
)

MOST_PIXELS = 1_000_000  # of a picture, or characters of a line
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000"]  # Okabe and Ito
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]
ABOVE = "#6b6b6b"  # of branches above all clusters


# ---- layout


@dataclass(frozen=True, eq=False)
class TreeLayout:
    "Coordinates of the nodes of a tree whose inner nodes may have any number of children; arrays are read-only."

    leaves: np.ndarray  # leaves and collapsed nodes in drawing order
    x: np.ndarray  # (nodes,) height of each node, 0 at the leaves
    y: np.ndarray  # (nodes,) row of each node; NaN below a collapsed node
    children: tuple  # row i: the nodes under node K + i in drawing order

    @property
    def parents(self):
        "(nodes,) the node above each node; the root is its own."
        above = np.arange(len(self.y))
        for node, row in enumerate(self.children, start=len(self.y) - len(self.children)):
            above[list(row)] = node
        return above

    @property
    def joints(self):
        "(inner nodes, 2) rows of the first and the last child."
        return self.y[np.array([(row[0], row[-1]) for row in self.children], dtype=np.int64).reshape(-1, 2)]


def tree_layout(children, heights=None, leaf_sizes=None, collapsed=(), whole=False):
    "Place leaves in rows 0, 1, … and each node half-way between its first and last child; heights default to levels."
    rows, collapsed = as_rows(children), set(collapsed)
    n_leaves = sum(map(len, rows)) - len(rows) + 1
    sizes = aggregate(rows, np.ones(n_leaves, dtype=np.int64) if leaf_sizes is None else np.asarray(leaf_sizes))
    starts, visible = node_starts(rows, sizes), np.ones(len(sizes), dtype=bool)
    is_end = np.arange(len(sizes)) < n_leaves
    is_end[list(collapsed)] = True
    for node, row in zip(range(len(sizes) - 1, -1, -1), reversed(rows)):
        visible[list(row)] = visible[node] and node not in collapsed
    leaves = np.flatnonzero(visible & is_end)
    leaves = leaves[np.argsort(starts[leaves], kind="stable")]
    y = np.full(len(sizes), np.nan)
    y[leaves] = np.arange(len(leaves))
    place = y.tolist()
    for node, row in enumerate(rows, start=n_leaves):
        if node not in collapsed:
            both = place[row[0]] + place[row[-1]]
            place[node] = both // 2 if whole else both / 2
    if heights is None:
        level = [0] * n_leaves
        for row in rows:
            level.append(1 + max(level[child] for child in row))
        x = np.array(level, dtype=float)
    else:
        x = np.append(np.zeros(n_leaves), heights)
    arrays = leaves, x, np.array(place)
    for array in arrays:
        array.flags.writeable = False
    return TreeLayout(*arrays, tuple(map(tuple, rows)))


def leaf_labels(tree, names, longest=40):
    "Text of each leaf: a name, or the first names of an initial cluster and its size."
    texts = []
    for cluster in tree.initial_clusters:
        text = ", ".join(" ".join(names[i].split()) for i in cluster[:longest])
        tail = f" ({len(cluster)} objects)" if len(cluster) > 1 else ""
        most = max(longest - len(tail), 1)
        texts.append((text if len(text) <= most else text[: most - 1] + "…") + tail)
    return texts


# ---- text

_BOX = np.array(list(" ╴╶─╵┘└┴╷┐┌┬│┤├┼"))
_LEFT, _RIGHT, _UP, _DOWN = 1, 2, 4, 8


def tree_text(tree, width):
    "The tree in box characters, the root at the left; columns follow the heights roughly."
    K = tree.n_leaves
    names = leaf_labels(tree, tree.names or [str(i) for i in range(tree.n_objects)], max(width // 2 - 2, 10))
    names = list(map(visible_line, names))
    if K == 1:
        return names[0]
    n_columns = width - 1 - max(map(len, names))
    layout = tree_layout(tree.children, tree.heights, tree.leaf_sizes, whole=True)
    row, column = layout.y.astype(np.int64), _grid_columns(layout, n_columns)
    inner = np.arange(K, 2 * K - 1)
    children, parent = tree.children.ravel(), np.repeat(inner, 2)
    first, last = layout.joints.astype(np.int64).T
    shape = (K, n_columns)
    sides = _strokes(shape, (row[children], column[parent]), (row[children], column[children]), _RIGHT, _LEFT, axis=1)
    sides |= _strokes(shape, (first, column[inner]), (last, column[inner]), _DOWN, _UP, axis=0)
    sides[:, -1] |= _RIGHT  # every line reaches its name
    lines = np.ascontiguousarray(_BOX[sides]).view(f"U{n_columns}").ravel().tolist()
    highest = f"{tree.heights.max():.6g}"
    scale = f"{highest} ← {tree.height_kind} ← 0"
    if len(scale) <= n_columns:
        scale = f"{highest} {' ' + tree.height_kind + ' ':─^{n_columns - len(highest) - 3}} 0"
    return "\n".join([f"{line} {names[leaf]}" for line, leaf in zip(lines, layout.leaves)] + [scale])


def _strokes(shape, begins, ends, forward, back, axis):
    "Sides of straight strokes: `forward` where a stroke leaves its cell along the axis, `back` where it came in."
    leaving = np.zeros(shape, dtype=np.int32)
    np.add.at(leaving, begins, 1)
    np.add.at(leaving, ends, -1)
    leaving = np.cumsum(leaving, axis=axis) > 0
    entered = np.roll(leaving, 1, axis=axis)  # the last cell is never left forward, so nothing wraps around
    return leaving * forward + entered * back


def _grid_columns(layout, width):
    "Columns to the scale of the heights, moved left where a node would hide another, if the tree is not too deep."
    column = np.round((width - 1) * (1 - layout.x / max(layout.x.max(), 1e-300))).astype(np.int64).clip(0, width - 1)
    n_leaves, depth = len(layout.leaves), [0] * len(column)
    for node, row in zip(range(len(column) - 1, n_leaves - 1, -1), reversed(layout.children)):
        for child in row:
            depth[child] = depth[node] + 1
    if max(depth) >= width:
        return column
    column = column.tolist()
    for node, row in enumerate(layout.children, start=n_leaves):
        column[node] = max(depth[node], min(column[node], min(column[child] for child in row) - 1))
    return np.array(column)


# ---- SVG

SIDES = ("left", "right", "top", "bottom")
MOST_LEAVES, COLLAPSED_TO = 300, 60  # from so many leaves on a picture shows only so many branches, unless told not to
_EDGE, _STUB, _SCALE = 14, 16, 32  # pixels: margin, in front of the root, of the axis
_READABLE = 8.0  # pixels of a letter that can be read
_WIDTHS = {**dict.fromkeys("iljI.,:;'|! ", 0.28), **dict.fromkeys("ftr()[]/-", 0.34), **dict.fromkeys("mwMW%@—…", 0.95)}
_LONGEST = 22.4  # letter heights of a name of 40 letters a


def tag(name, content=None, **attributes):
    "An SVG element; floats are rounded to a tenth, `class_` and `stroke_width` are attributes class and stroke-width."
    text = name
    for key, value in attributes.items():
        if value is not None:
            value = f"{value:.1f}" if isinstance(value, float) else escape(str(value))
            text += f' {key.rstrip("_").replace("_", "-")}="{value}"'
    return f"<{text}/>" if content is None else f"<{text}>{content}</{name}>"


def svg(parts, width, height, label, scale=1, role="img", **attributes):
    "An SVG picture in a page or a file."
    size = dict(width=f"{scale * width:.0f}", height=f"{scale * height:.0f}", viewBox=f"0 0 {width:.0f} {height:.0f}")
    font = dict(font_family="Helvetica, Arial, sans-serif", fill="#1a1a1a", role=role, aria_label=label)
    return tag("svg", "\n".join(parts), xmlns="http://www.w3.org/2000/svg", **size, **font, **attributes)


def cluster_color(number):
    "The colour of a cluster wherever it is shown; of branches above all clusters for None."
    return ABOVE if number is None else PALETTE[number % len(PALETTE)]


def text_color(color):
    "Black or white, whatever can be read on a colour."
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#fff" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "#111"


def _letter_width(letter):
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.2
    return _WIDTHS.get(letter, 0.72 if letter.isupper() else 0.56)


def whole_percent(share):
    "Text of a share in percent, rounded down: 94.6% is not 95, from where a dot is black."
    return f"{math.floor(100 * share + 1e-6)}"


def text_width(text, size):
    "Approximate pixels of a text in letters of a size."
    return size * sum(map(_letter_width, text))


def cut_text(text, size, width):
    "A text that fits into a width; a text that is cut ends in …."
    if text_width(text, size) <= width + 1e-6:
        return text
    left = width - text_width("…", size)
    for end, letter in enumerate(text):
        left -= text_width(letter, size)
        if left < 0:
            return text[:end].rstrip() + "…"
    return text


def is_free(box, taken):
    "Whether a rectangle (left, top, right, bottom) meets none of the others."
    left, top, right, bottom = box
    return not any(left < r and l < right and top < b and t < bottom for l, t, r, b in taken)


def collapsed_by_default(tree):
    "The branches below the last merges of a large tree."
    if tree.n_leaves < MOST_LEAVES:
        return []
    return [node for node in tree.cut_nodes(COLLAPSED_TO).tolist() if node >= tree.n_leaves]


@dataclass(frozen=True)
class TreeStyle:
    """Size of a picture in pixels (None: what the leaves need; 900 or 620 along the branches), the side of its root,
    and whether a large tree shows every leaf.
    """

    width: int | None = None
    height: int | None = None
    orientation: str = "left"
    unfolded: bool = False

    def __post_init__(self):
        require(self.orientation in SIDES, "orientation", f"one of {', '.join(SIDES)}", self.orientation)
        for name in ("width", "height"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_integer(getattr(self, name), name, 100, 20_000))

    @property
    def sideways(self):
        "Whether leaves stand below each other."
        return self.orientation in ("left", "right")


class TreeFigure:
    """A dendrogram as SVG. Coordinates are `along` the branches, from the root on, and `across` them, over the leaves.

    With `n_cuts` a script can collapse branches and cut the tree into up to so many clusters; 0 is a still picture.
    """

    def __init__(
        self, tree, names=None, labels=None, classes=None, support=None, images=None, style=None,
        collapsed=None, n_cuts=0, columns=None,
    ):  # fmt: skip
        names = check_names(names, tree.n_objects, distinct=False) or tree.names or [*map(str, range(tree.n_objects))]
        self.tree, self.style, self.support, self.n_cuts = tree, style or TreeStyle(), support, n_cuts
        self.images = list(images) if images is not None and any(images) else None
        self.numbered, values = labels is not None, labels
        self.legend, self.legend_height, class_texts = [], 0, None
        if classes is not None and labels is None:
            known = sorted(set(map(str, classes)))
            values = np.array([known.index(str(name)) for name in classes])
            self.legend, self.legend_height = _legend(known, self.style.width or 900)
        elif classes is not None:
            class_texts = [" / ".join(dict.fromkeys(str(classes[i]) for i in c)) for c in tree.initial_clusters]
        self.columns, self.title_room = columns, 0.0
        if columns is not None:
            self.title_room = columns.room
            more, height = columns.legend(self._breadth_of_legend(), self.legend_height)
            self.legend, self.legend_height = [*self.legend, *more], self.legend_height + height
        nodes = range(2 * tree.n_leaves - 1)
        self.colors = [None for _ in nodes] if values is None else tree._common_values(np.asarray(values))
        shown = () if self.style.unfolded else collapsed_by_default(tree)
        self.collapsed = set(shown if collapsed is None else collapsed)
        self.layout = tree_layout(tree.children, tree.heights, tree.leaf_sizes, self.collapsed)
        self.ends = self.layout.leaves.tolist()
        self.merges = [v for v in nodes[tree.n_leaves :] if v not in self.collapsed and not np.isnan(self.layout.y[v])]
        self._set_rows()
        self._set_texts(leaf_labels(tree, list(names)), names, class_texts)
        self._set_heights()
        breadth, depth = self.title_room + self.breadth + 2 * _EDGE, self.depth + 2 * _EDGE
        if self.style.sideways:
            self.width, self.height = depth, breadth + self.legend_height + _SCALE
        else:
            self.width, self.height = breadth + _SCALE, depth + self.legend_height

    def _breadth_of_legend(self):
        "Pixels that a legend may be wide."
        return self.style.width or (900 if self.style.sideways else max(16 * self.tree.n_leaves, 320))

    def _set_rows(self):
        "Pixels per row, of a letter, and along the branches."
        style, count = self.style, len(self.ends)
        along, across = (style.width, style.height) if style.sideways else (style.height, style.width)
        self.depth = (along or (900 if style.sideways else 620)) - 2 * _EDGE
        self.depth -= 0 if style.sideways else self.legend_height
        self.pitch = 40 if self.images else 16 if count <= 80 else 13
        if across is not None:
            room = across - 2 * _EDGE - _SCALE - self.title_room - (self.legend_height if style.sideways else 0)
            fitting = max(room, count) / count
            least = min(26 if self.images else _READABLE / 0.86, self.pitch) if self.n_cuts else 0
            self.pitch = max(fitting, least)
        self.breadth, self.size = self.pitch * count, min(12.5, 0.86 * self.pitch)
        self.named = self.size >= 2.2  # smaller letters cannot be read even in print
        self.image_side = min(self.pitch - 3, 90) if self.images else 0
        self.start = _EDGE + self.title_room + (self.legend_height if style.sideways else 0)
        self.across = [self.pitch * (row + 0.5) for row in self.layout.y.tolist()]

    def _set_texts(self, labels, names, class_texts):
        "Text of every end, cut where it does not fit, and where branches end and names begin."
        K, size = self.tree.n_leaves, self.size
        self.leaf_of = {i: leaf for leaf, cluster in enumerate(self.tree.initial_clusters) for i in cluster}
        for leaf, (i, *others) in enumerate(self.tree.initial_clusters):
            labels[leaf] = labels[leaf] if others else " ".join(names[i].split())
        whole = {v: (labels[v], " " + class_texts[v] if class_texts else "") for v in self.ends if v < K}
        whole |= {v: (self._collapsed_text(v, labels), "") for v in self.ends if v >= K}
        tail = f"… ({self.tree.n_objects:,} objects)"
        texts = ["".join(text) for text in whole.values()] + ([10 * "a" + tail] if self.n_cuts else [])
        widest = min(max(text_width(text, size) for text in texts), _LONGEST * size) if self.named else 0
        self.number_width = 19 if self.numbered or self.n_cuts else 0
        before, column = 12 + self.number_width + (self.image_side + 4 if self.images else 0), self.depth - _STUB
        column -= 0 if self.columns is None else self.columns.width
        self.behind_names = column
        self.length = max(column - before - widest, 0.4 * column, 20)
        width = max(column - self.length - before, 0)
        self.text, self.class_text, self.cut_texts = {}, {}, {}
        for v, (text, class_text) in whole.items():
            if text_width(text + class_text, size) > width + 1e-6:
                self.cut_texts[v] = text + class_text
                fits = max(width - text_width(text, size), 0.4 * width)
                class_text = cut_text(class_text, size, fits) if class_text else ""
                text = cut_text(text, size, width - text_width(class_text, size))
            self.text[v], self.class_text[v] = text, class_text.strip()
        longest = min(34, max(int((width - text_width(tail, size)) / text_width("a", size)), 0))
        for v in self.merges if self.n_cuts else ():  # shown where a reader collapses the branch
            self.text[v] = self._collapsed_text(v, labels, longest)

    def _collapsed_text(self, node, labels, longest=34):
        "The first names under a collapsed node, and how many objects it holds."
        start, size = self.tree.starts[node], self.tree.sizes[node]
        first = self.tree.leaf_order()[start : start + min(size, 3)].tolist()
        text = ", ".join(dict.fromkeys(labels[self.leaf_of[i]] for i in first))
        return f"{text[:longest].rstrip(', ')}… ({size:,} objects)"

    def _set_heights(self):
        "Heights to scale; where branches are collapsed, the scale ends below the lowest merge that is seen."
        tree = self.tree
        self.highest, self.lowest, self.low_along = float(tree.heights.max(initial=0)) or 1.0, 0.0, self.length
        if self.collapsed and self.merges:
            self.lowest = float(min(self.layout.x[v] for v in self.merges))
            self.low_along = 0.8 * self.length
        self.along = [self.low_along * (1 - self.share(height)) for height in self.layout.x.tolist()]
        self.along[: tree.n_leaves] = [self.length] * tree.n_leaves
        for v in self.collapsed:
            self.along[v] = 0.88 * self.length

    def share(self, height):
        "Where a height lies between the lowest and the highest that are shown."
        return (height - self.lowest) / ((self.highest - self.lowest) or 1.0)

    def point(self, along, across):
        "(x, y) of the picture."
        near = _EDGE + _STUB + along
        if self.style.orientation in ("right", "bottom"):
            near = _EDGE + self.depth - _STUB - along
        return (near, self.start + across) if self.style.sideways else (self.start + across, self.legend_height + near)

    def line(self, start, end, **attributes):
        "A straight line between two places (along, across)."
        (x1, y1), (x2, y2) = self.point(*start), self.point(*end)
        return tag("line", **attributes, x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2))

    def _path(self, *places, **attributes):
        corners = (self.point(*place) for place in places)
        return tag("path", **attributes, d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z")

    def _stem(self, node):
        "Pixels between a node and the merge above it."
        return 12 if node == len(self.along) - 1 else self.along[node] - self.along[self.tree.parents[node]]

    def svg(self, over_branches=(), scale=1):
        "The picture as text."
        parts = [*self.legend, *self._titles(), *self._branches(), *over_branches]
        parts += [*self._ends(), *self._numbers(), *self._joints()]
        parts += ['<g class="scale">', *self._scale(), "</g>"]
        more = dict(role="group", aria_describedby="tree-caption") if self.n_cuts else {}
        paper = tag("rect", width="100%", height="100%", fill="#fff")
        label = f"A tree of {self.tree.n_objects:,} objects"
        picture = svg([paper, *parts], self.width, self.height, label, scale, font_size=float(self.size), **more)
        return visible_text(picture) + "\n"

    def _branches(self):
        "A bar across every merge, and a stem to everything that is joined, from the root on."
        lines = []
        for node in sorted([*self.ends, *self.merges], reverse=True):
            at, along, stroke = self.across[node], self.along[node], cluster_color(self.colors[node])
            lines.append(self.line((along - self._stem(node), at), (along, at), data_stem=node, stroke=stroke))
            if node in self.collapsed or node < self.tree.n_leaves:
                continue
            low, high = sorted(self.across[child] for child in self.tree.children[node - self.tree.n_leaves])
            lines.append(self.line((along, low), (along, high), data_bar=node, stroke=stroke))
        width = 1.4 if self.pitch >= 7 else 0.8
        return [tag("g", "\n".join(lines), fill="none", stroke_width=width, stroke_linecap="square")]

    def _name(self, node, along, more=""):
        if not self.named:
            return ""
        x, y = self.point(along, self.across[node])
        place = dict(text_anchor="end") if self.style.orientation == "right" else {}
        if not self.style.sideways:
            place = dict(transform=f"rotate({90 if self.style.orientation == 'top' else -90} {x:.1f} {y:.1f})")
        return tag("text", escape(self.text[node]) + more, class_="name", x=float(x), y=float(y), **place, dy=".35em")

    def _triangle(self, node):
        half, at = 0.36 * self.pitch, self.across[node]
        places = (self.along[node], at), (self.length, at - half), (self.length, at + half)
        return self._path(*places, fill="currentColor", fill_opacity=".35", stroke="currentColor")

    def _titles(self):
        "What the columns behind the names are called."
        for along, text in () if self.columns is None else self.columns.titles(self.behind_names):
            x, y = self.point(along, -5)
            place = dict(transform=f"rotate(-90 {x:.1f} {y:.1f})") if self.style.sideways else dict(text_anchor="end")
            yield tag("text", escape(text), x=float(x), y=float(y), **place, dy=".35em", font_size=10.5)

    def _cells(self, node):
        "The cells of an end in the columns behind the names."
        if self.columns is None:
            return ""
        start, size, at = self.tree.starts[node], self.tree.sizes[node], self.across[node]
        objects, half, cells = self.tree.leaf_order()[start : start + size].tolist(), 0.5 * self.pitch - 0.4, ""
        for corners, color, title in self.columns.cells(objects, self.behind_names, half):
            places = [(along, at + across) for along, across in corners]
            inside = tag("title", escape(title))
            cells += self._path(*places, fill=color, class_="cell").replace("/>", f">{inside}</path>")
        return cells

    def _ends(self):
        "A group for every end: a triangle or a square, a picture, a name."
        for node in self.ends:
            at, start, inside, more = self.across[node], self.length + 8 + self.number_width, "", ""
            title = tag("title", escape(self.cut_texts[node])) if node in self.cut_texts else ""
            if node in self.collapsed:
                inside = self._triangle(node)
            elif self.colors[node] is not None or self.n_cuts:
                half = min(0.36 * self.pitch, 5)
                near, far = self.length + 1, self.length + 5
                corners = (near, at - half), (far, at - half), (far, at + half), (near, at + half)
                inside = self._path(*corners, class_="square", fill="currentColor")
            if self.images and node < self.tree.n_leaves and self.images[node]:
                side = float(self.image_side)
                x, y = self.point(start + side / 2, at)
                box = dict(x=x - side / 2, y=y - side / 2, width=side, height=side)
                image_title = title or tag("title", escape(self.text[node]))
                inside += tag("image", image_title, **box, data_leaf=node, href=self.images[node])
                start += side + 4
            if self.class_text[node]:
                more = " " + tag("tspan", escape(self.class_text[node]), fill=ABOVE)
            grey = "grey" if self.colors[node] is None else None
            color = cluster_color(self.colors[node])
            content = inside + title + self._name(node, start, more) + self._cells(node)
            yield tag("g", content, data_node=node, color=color, class_=grey)

    def _numbers(self):
        "The number of every cluster, half-way down its ends; those of finer cuts are hidden."
        rows = {number: [] for number in range(self.n_cuts)}
        for node in self.ends if self.numbered else ():
            if self.colors[node] is not None:
                rows.setdefault(self.colors[node], []).append(self.across[node])
        for number, at in rows.items():
            radius = min(8.0, 0.46 * self.pitch * len(at))
            if radius < 3 and number >= self.n_cuts:
                continue
            x, y = self.point(self.length + 16, sum(at) / max(len(at), 1))
            color = cluster_color(number)
            font = dict(fill=text_color(color), font_size=10 if number < 100 else 7.6)
            badge = tag("circle", r=8, fill=color) + tag("text", number, dy=".36em", text_anchor="middle", **font)
            place = f"translate({x:.1f} {y:.1f}) scale({radius / 8:.3f})"
            yield tag("g", badge, data_number=number, transform=place, hidden=None if radius >= 3 else "")

    def _written(self):
        "Rectangles of dots, badges and names, which no support may cover."
        size, start = float(self.size), self.length + 8 + self.number_width
        for node in self.merges:
            x, y = self.point(self.along[node], self.across[node])
            yield x - 3, y - 3, x + 3, y + 3
        for node in self.ends:
            at, half = self.across[node], max(size / 2, 8.0)
            long = self.image_side + text_width(self.text[node], size) + 4
            corners = (self.point(*place) for place in ((self.length + 1, at - half), (start + long, at + half)))
            (x1, y1), (x2, y2) = corners
            yield min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)

    def _joints(self):
        "Support at merges; where a script can collapse them, also what it then shows."
        taken, K = list(self._written()), self.tree.n_leaves
        for node in reversed(self.merges if self.n_cuts or self.support is not None else []):
            is_root = node == 2 * K - 2  # every tree has the cluster of all objects
            share = None if self.support is None or is_root else float(self.support[node - K])
            inside = "" if is_root and self.support is not None else self._dot(node, share, taken)
            if self.n_cuts:
                x, y = map(float, self.point(self.along[node], self.across[node]))
                label = self.text[node] + ("" if share is None else f", support {whole_percent(share)}%")
                target = tag("circle", cx=x, cy=y, r=7, fill="transparent")
                shut = self._triangle(node) + self._name(node, self.length + 8 + self.number_width)
                shut += self._cells(node)
                inside = tag("g", target + inside, class_="open") + tag("g", shut, class_="shut")
                inside += tag("title", escape(label))
                own = dict(data_node=node, aria_label=label, color=cluster_color(self.colors[node]))
                inside = tag("g", inside, class_="joint", **own)
            if inside:
                yield inside

    def _dot(self, node, share, taken):
        "A dot on a merge: black from 95%, grey from 70%, white below; its number where no other one stands."
        x, y = map(float, self.point(self.along[node], self.across[node]))
        place = dict(class_="dot", cx=x, cy=y, r=2.6 if self.pitch >= 7 else 1.4)
        if share is None:
            return tag("circle", **place, fill="currentColor")
        fill = "#111" if share >= 0.95 else "#999" if share >= 0.7 else "#fff"
        dot, text = tag("circle", **place, fill=fill, stroke="#111", stroke_width=".6"), whole_percent(share)
        if self.pitch < 10:
            return dot
        over_stem = self.style.sideways and self._stem(node) >= 18
        left = (self.style.orientation == "right") != over_stem
        start = x - 4 - text_width(text, 8.5) if left else x + 4
        box = (start, y - 9.5, start + text_width(text, 8.5), y - 2.5)
        if not is_free(box, taken):
            return dot
        taken.append(box)
        shift = dict(dx=-4 if left else 4, dy=-2.5, text_anchor="end" if left else None, font_size=8.5)
        halo = dict(fill="#333", stroke="#fff", stroke_width=2.5, paint_order="stroke")
        return dot + tag("text", text, x=x, y=y, **shift, **halo)

    def _scale(self):
        "The axis: ticks at round heights, and what the heights are."
        style, across = dict(fill="#555", font_size=10.5), self.breadth + 4
        yield self.line((0, across), (self.low_along, across), stroke="#999")
        whole = self.tree.height_kind in ("merge order", "level")
        sideways, last = self.style.sideways, None
        for height in ticks(self.lowest, self.highest, max(self.low_along / 70, 1), whole):
            along, text = self.low_along * (1 - self.share(height)), f"{height:.6g}"
            yield self.line((along, across), (along, across + 4), stroke="#999")
            x, y = self.point(along, across + 4)
            half = text_width(text, 10.5) / 2 if sideways else 5.25
            box = (x - half - 2, 0, x + half + 2, 1) if sideways else (0, y - half, 1, y + half)
            if last is None or is_free(box, [last]):
                last = box
                place = dict(y=y + 11, text_anchor="middle") if sideways else dict(x=x + 3, y=float(y), dy=".35em")
                yield tag("text", text, **dict(x=float(x)) | place, **style)
        (x1, y1), (x2, y2) = self.point(0, across), self.point(self.low_along, across)
        x, y = (x1 + x2) / 2 + (0 if sideways else 36), (y1 + y2) / 2 + (28 if sideways else 0)
        turn = None if sideways else f"rotate(-90 {x:.1f} {y:.1f})"
        kind = escape(self.tree.height_kind)
        yield tag("text", kind, x=float(x), y=float(y), transform=turn, text_anchor="middle", **style)


def ticks(low, high, most, whole=False):
    "Round numbers from `low` to `high`, at most about `most`: multiples of 1, 2 or 5 times a power of ten."
    rough = max((high - low) / most, 1.0 if whole else 0.0)
    if not rough > 0:
        return [low]
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return (np.arange(first, last + 1, dtype=float) * step + 0.0).tolist()  # no −0


def _legend(classes, width):
    "(elements, pixels of height): the names of the classes beside their colours."
    parts, x, y = [], 14.0, 18.0
    for number, name in enumerate(classes):
        needed_width = 22 + text_width(name, 11.5)
        if x > 14 and x + needed_width > width - 14:
            x, y = 14.0, y + 17
        box = tag("rect", x=x, y=y - 9, width=10, height=10, fill=cluster_color(number))
        parts.append(tag("g", box + tag("text", escape(name), x=x + 14, y=y, font_size=11.5), class_="legend"))
        x += needed_width
    return parts, y + 2 if classes else 0


# ---- Matplotlib


def tree_axes(tree, ax, labels, names, orientation):
    "What `plot_dendrogram` returns: SciPy's coordinates, leaf i at 10 i + 5; branches of one cluster are one line."
    check_choice(orientation, "orientation", SIDES)
    names = check_names(names, tree.n_objects, distinct=False) or tree.names or [*map(str, range(tree.n_objects))]
    if ax is None:
        ax = import_optional("matplotlib.pyplot", "a dendrogram on Matplotlib's axes").gca()
    K, height, row = tree.n_leaves, tree._layout.x, 10 * tree._layout.y + 5
    colors = [None] * (2 * K - 1) if labels is None else tree._common_values(check_labels(labels, tree.n_objects))
    lines, upright = {}, orientation in ("top", "bottom")
    for node, (a, b) in enumerate(tree.children.tolist(), K):
        across, along = lines.setdefault(colors[node], ([], []))
        across += [row[a], row[a], row[b], row[b], np.nan]
        along += [height[a], height[node], height[node], height[b], np.nan]
    for color, places in lines.items():
        ax.plot(*(places if upright else places[::-1]), color=cluster_color(color), linewidth=1.2)
    low_to_high, texts = (0.0, 1.05 * (float(tree.heights.max(initial=0)) or 1.0)), leaf_labels(tree, list(names))
    texts = [visible_text(texts[leaf]) for leaf in tree._layout.leaves]
    set_rows, set_along = ("set_xlim", "set_ylim") if upright else ("set_ylim", "set_xlim")
    getattr(ax, set_rows)(0, 10 * K)
    getattr(ax, set_along)(*(low_to_high if orientation in ("top", "right") else low_to_high[::-1]))
    ticks, side = ("set_xticks", "xaxis") if upright else ("set_yticks", "yaxis")
    getattr(ax, ticks)([10 * i + 5 for i in range(K)], texts, **(dict(rotation=90) if upright else {}))
    getattr(ax, side).set_ticks_position(
        {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}[orientation]
    )
    (ax.set_ylabel if upright else ax.set_xlabel)(tree.height_kind)
    return ax


# ---- Altair


def tree_chart(tree, labels, names, width, height, orientation, label_title, title, images):
    "What `Dendrogram.chart` returns."
    import altair as alt

    check_choice(orientation, "orientation", ("left", "top"))
    for name, text in (("label_title", label_title), ("title", title)):
        require(text is None or isinstance(text, str), name, "a text or None", text)
    left, K, order = orientation == "left", tree.n_leaves, tree._layout.leaves
    images = _check_images(images, K)
    names = check_names(names, tree.n_objects, distinct=False) or tree.names or [*map(str, range(tree.n_objects))]
    across, along = ("height", "width") if left else ("width", "height")
    size = {across: min((36 if images else 12) * max(K, 3), 12000), along: 480 if left else 360}
    size |= {name: pixels for name, pixels in (("width", width), ("height", height)) if pixels is not None}
    size = {name: check_integer(pixels, name, 1, MOST_PIXELS) for name, pixels in size.items()}
    classes, class_of = _classes_of_nodes(tree, labels)
    names, letter = list(map(visible_text, leaf_labels(tree, names))), min(11, size[across] / K - 0.5)
    leaves = [dict(y=row, h=0.0, name=names[v], c=class_of[v]) for row, v in enumerate(order.tolist())]
    image_side = size[across] / K - 2 if images else 0
    padding = 12 if left or letter < 5.5 else 16 + 0.58 * letter * max(map(len, names)) + image_side
    axes, layers, offset = _ChartAxes(tree, left, padding), [], 4
    tooltip = [alt.Tooltip("name:N")]
    chart_of_leaves = alt.Chart(alt.InlineData(values=leaves))
    if K > 1:
        layers.append(_branch_layer(tree, axes, classes, class_of, 1.3 if letter > 4 else 0.7))
    if classes:
        label_title, offset = visible_text(label_title or "class"), 8
        n_columns = max(1, size["width"] // (28 + 7 * max(map(len, classes))))
        legend = alt.Legend(title=label_title, orient="top", columns=n_columns)
        tooltip.append(alt.Tooltip("c:N", title=label_title))
        edge = dict(stroke="#333333", strokeWidth=0.4 if letter > 4 else 0, size=min(45, max(4, letter**2 / 2)))
        shapes = alt.Scale(domain=classes, range=[SHAPES[(i + i // 8) % 8] for i in range(len(classes))])
        marks = chart_of_leaves.mark_point(filled=True, opacity=1, **edge)
        look = alt.Color("c:N", scale=_colors(classes), legend=legend), alt.Shape("c:N", scale=shapes, legend=legend)
        layers.append(marks.encode(*axes.at("h", "y"), *look, tooltip=tooltip))
    if images:
        box = dict(width=image_side, height=image_side, align="center", baseline="top", yOffset=offset)
        if left:
            box |= dict(width=1.5 * image_side, align="left", baseline="middle", yOffset=0, xOffset=offset)
        rows = [{**leaf, "image": images[v]} for leaf, v in zip(leaves, order)]
        marks = alt.Chart(alt.InlineData(values=rows)).mark_image(**box)
        layers.append(marks.encode(*axes.at("h", "y"), url="image:N", tooltip=tooltip, description="name:N"))
        offset += box["width"] + 3
    if letter >= 5.5 or K == 1:
        font = dict(fontSize=max(letter, 5.5), angle=0 if left else 90, limit=260, dx=offset)
        marks = chart_of_leaves.mark_text(align="left", baseline="middle", **font)
        layers.append(marks.encode(*axes.at("h", "y"), text="name:N", tooltip=tooltip))
    chart = alt.layer(*layers).properties(**size).resolve_scale(color="independent", shape="independent")
    chart = chart.configure_view(stroke=None).configure_legend(symbolSize=70, symbolLimit=64)
    return chart if title is None else chart.properties(title=visible_text(title))


def _check_images(images, n_leaves):
    if images is None:
        return None
    rule = f"a sequence of {n_leaves} pictures, one per leaf"
    require(not isinstance(images, (str, bytes, dict, set)), "images", rule, images)
    images = as_list(images, "images", rule)
    require(len(images) == n_leaves, "images", rule, len(images))
    return [data_uri(image) for image in images]


def _classes_of_nodes(tree, labels):
    "The classes, sorted where that is possible and told apart where they look alike; the class of every node or None."
    if labels is None:
        return [], [None] * (2 * tree.n_leaves - 1)
    codes, array = check_labels(labels, tree.n_objects), np.asarray(labels)
    values = [array[np.argmax(codes == c)] for c in range(codes.max() + 1)]
    try:
        ranked = sorted(range(len(values)), key=lambda c: values[c])
    except TypeError:
        ranked = list(range(len(values)))
    classes = []
    for c in ranked:
        text = visible_text(str(values[c]))
        while text in classes:
            text = f"{text} ({len(classes) + 1})"
        classes.append(text)
    of_node = tree._common_values(np.argsort(ranked)[codes])
    return classes, [None if c is None else classes[c] for c in of_node]


def _colors(classes):
    import altair as alt

    return alt.Scale(domain=classes, range=[PALETTE[i % len(PALETTE)] for i in range(len(classes))])


class _ChartAxes:
    "Which axis is which: heights and rows as x and y of a chart whose root is at the left or on top."

    def __init__(self, tree, left, padding):
        import altair as alt

        self.names = ("X", "Y") if left else ("Y", "X")
        highest = float(tree.heights.max(initial=0)) or 1.0
        steps = 1 if tree.height_kind in ("merge order", "level") else 0
        few = dict(values=list(range(int(highest) + 1)), format="d") if steps and highest <= 6 else {}  # no halves
        self.heights = dict(
            scale=alt.Scale(domain=[0, highest], reverse=left, nice=False),
            axis=alt.Axis(title=tree.height_kind, grid=False, tickCount=6, tickMinStep=steps, **few),
        )
        what = "object" if tree.n_objects == tree.n_leaves else "initial cluster"
        title = f"{tree.n_leaves} {what}{'s' * (tree.n_leaves != 1)}"
        bare = dict(labels=False, ticks=False, domain=False, grid=False)
        self.rows = dict(
            scale=alt.Scale(domain=[-0.5, tree.n_leaves - 0.5], reverse=left, nice=False, zero=False),
            axis=alt.Axis(title=title, titlePadding=padding, **bare),
        )

    def at(self, height, row):
        import altair as alt

        x, y = (getattr(alt, name) for name in self.names)
        return x(f"{height}:Q", **self.heights), y(f"{row}:Q", **self.rows)

    def to(self, height, row):
        import altair as alt

        x, y = (getattr(alt, name + "2") for name in self.names)
        return x(height), y(row)


def _branch_layer(tree, axes, classes, class_of, stroke_width):
    "Three lines per merge, each with the merge's height h and size n; grey where classes meet."
    import altair as alt

    x, y, sizes, lines = tree._layout.x.tolist(), tree._layout.y.round(4).tolist(), tree.sizes.tolist(), []
    for node, (a, b) in enumerate(tree._layout.children, start=tree.n_leaves):
        for v, h, low, high in ((a, x[a], y[a], y[a]), (b, x[b], y[b], y[b]), (node, x[node], y[a], y[b])):
            lines.append(dict(h=x[node], h2=h, y=low, y2=high, c=class_of[v], n=sizes[node]))
    color = alt.value("#555555")
    if classes:
        pure = alt.Color("c:N", scale=_colors(classes), legend=None)
        color = alt.condition("isValid(datum.c)", pure, alt.value("#444444"))
    about = [alt.Tooltip("n:Q", title="objects"), alt.Tooltip("h:Q", title=tree.height_kind, format=".6~g")]
    marks = alt.Chart(alt.InlineData(values=lines)).mark_rule(strokeWidth=stroke_width, strokeCap="square")
    return marks.encode(*axes.at("h", "y"), *axes.to("h2", "y2"), color=color, tooltip=about)


def convert_chart(chart, form):
    "A chart as `form` svg, png (two pixels per point) or pdf. Raises `InputError` in a browser."
    vl_convert = import_optional("vl_convert", "a chart as a file")
    options = dict(scale=2) if form == "png" else {}
    return getattr(vl_convert, f"vegalite_to_{form}")(json.dumps(_visible(chart.to_dict())), **options)


def _visible(value):
    "A chart's JSON without control characters, on which the converter would end the whole process."
    if isinstance(value, dict):
        return {_visible(key): _visible(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_visible(inner) for inner in value]
    return visible_text(value) if isinstance(value, str) else value


class Explorable:
    "A chart with a slider: JupyterLab and JupyterLite draw it by themselves; elsewhere its picture is shown."

    def __init__(self, chart):
        self.chart = chart

    def _repr_mimebundle_(self, include=None, exclude=None):
        schema = "https://vega.github.io/schema/vega-lite/v5.json"  # what JupyterLab and JupyterLite have
        found = {"application/vnd.vegalite.v5+json": dict(self.chart.to_dict(), **{"$schema": schema})}
        if not IN_BROWSER:
            vl_convert = import_optional("vl_convert", "a picture of a chart")
            found["image/svg+xml"] = vl_convert.vegalite_to_svg(self.chart.to_json())
        return found


def slider(name, values, label):
    "A parameter of a chart that takes these values, equally far apart, and begins in the middle."
    import altair as alt

    step = round(values[1] - values[0], 10)
    bind = alt.binding_range(min=values[0], max=values[-1], step=step, name=f"{label} ")
    return alt.param(name=name, value=values[len(values) // 2], bind=bind)
