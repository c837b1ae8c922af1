"""Additive trees as pictures and as Newick text: layouts without a root, roots, and one drawing for every form.

A tree is what `core.additive` takes: `parent` (2N − 2,) rooted at leaf 0, and `lengths` (2N − 3,) of the branch above
each other node. A layout is an array (2N − 2, 2) in the unit of the lengths; a drawing is in pixels.
"""

from dataclasses import dataclass, field
from html import escape

import numpy as np

from .additive import children_of, leaves_below, path_lengths
from ._tree import sorted_linkage
from .compat import import_optional
from .newick import quoted
from .plotting import ABOVE, cluster_color, cut_text, is_free, svg, tag, text_color, text_width, whole_percent
from .validation import as_array, check_choice, check_integer, check_number, require, visible_text

LAYOUTS = ("equal-daylight", "equal-angle", "rooted")
ROUNDS = 6  # of equal daylight: later ones move little
NO_LENGTH = 1e-12  # share of all lengths; shorter branches join their ends in one point
MARGIN, BADGE = 10.0, 6.0  # pixels around a drawing, and the radius of the number of a cluster


# ---- layouts without a root


def _orders(parent):
    "(children of each node, nodes from leaf 0 on, every node before those behind it)."
    children, order = children_of(parent), []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(children[node])
    return children, order


def equal_angle(parent, lengths):
    "Every leaf has the same angle, every branch the direction of the middle leaf behind it (Felsenstein 2004)."
    _, order = _orders(parent)
    n = len(parent) // 2 + 1
    below = leaves_below(parent)
    rank = np.empty(n)
    rank[[node for node in order if node < n]] = np.arange(n)
    first, last = (np.where(below, rank, fill).T for fill in (np.inf, -np.inf))
    middle = (first.min(axis=0) + last.max(axis=0)) / 2 * 2 * np.pi / n + np.pi  # leaf 0 is at the left
    steps = lengths[:, None] * np.stack([np.cos(middle), np.sin(middle)], axis=1)
    place = np.zeros((len(parent), 2))
    for node in order[1:]:
        place[node] = place[parent[node]] + steps[node - 1]
    return place


def equal_daylight(parent, lengths, n_rounds=ROUNDS):
    """Equal angle, then subtrees are turned about their node until the gaps between them are equal (Felsenstein 2004).

    A subtree stays inside the angle that it covers as seen from the node, so no branches come to cross.
    """
    place = equal_angle(parent, lengths)
    joined = _joined_by_no_length(parent, lengths)
    _, order = _orders(parent)
    up = np.array([joined[parent[node]] if node else -1 for node in range(len(parent))])
    points = sorted(set(joined.tolist()))
    inside = np.zeros((len(parent), len(parent)), dtype=bool)  # row v: the nodes behind v
    for node in reversed(order):
        inside[node, node] = True
        if node:
            inside[parent[node]] |= inside[node]
    on_path = inside.T.astype(float)
    around = []
    for point in points:
        subtrees = [(node, inside[node]) for node in np.flatnonzero((up == point) & (joined != point))]
        if point:  # the first of its nodes on the way from leaf 0
            subtrees.append((parent[point], ~inside[point]))
        around += [(point, subtrees)] if len(subtrees) > 2 else []
    for _ in range(n_rounds):
        for point, subtrees in around:
            _equalise(place, place[point].copy(), parent, subtrees, on_path)
    return place


def _joined_by_no_length(parent, lengths):
    "For each node the first node of those that branches without length join it to."
    _, order = _orders(parent)
    joined, least = np.arange(len(parent)), NO_LENGTH * max(float(lengths.sum()), 1e-300)
    for node in order[1:]:
        if lengths[node - 1] <= least:
            joined[node] = joined[parent[node]]
    return joined


def _equalise(place, centre, parent, subtrees, on_path):
    "Turn the subtrees about their common point, in place; nothing if they cover more than the whole angle."
    rays = place - centre
    angle = np.arctan2(rays[:, 1], rays[:, 0])
    step = np.zeros(len(angle))
    step[1:] = (angle[1:] - angle[parent[1:]] + np.pi) % (2 * np.pi) - np.pi
    wound = on_path @ step  # the angle along the branches, which may go round the point
    spans = []
    for first, nodes in subtrees:
        turn = wound[nodes] - wound[first] + angle[first]
        spans.append((turn.min(), turn.max(), angle[first], nodes))
    spans.sort(key=lambda span: span[2])
    daylight = (2 * np.pi - sum(high - low for low, high, _, _ in spans)) / len(spans)
    if daylight < 0:
        return
    at = spans[0][1]
    for low, high, _, nodes in spans[1:]:
        turn = at + daylight - low
        c, s = np.cos(turn), np.sin(turn)
        place[nodes] = centre + rays[nodes] @ np.array([[c, s], [-s, c]])
        at += daylight + high - low


# ---- roots


@dataclass(frozen=True)
class Rooted:
    "A tree from a node down."

    root: int
    children: list  # of every node
    above: np.ndarray  # length of the branch above each node, 0 at the root
    edge: np.ndarray  # number of that branch in the tree without a root, −1 at the root

    @property
    def order(self):
        "Every node before those below it, in drawing order."
        order, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting += reversed(self.children[node])
        return order

    @property
    def depth(self):
        "Length of the path from the root to each node."
        depth = np.zeros(len(self.above))
        for node in self.order:
            for child in self.children[node]:
                depth[child] = depth[node] + self.above[child]
        return depth


def rooted(parent, lengths, edge=None, far=0.0):
    """The tree from a new root on branch `edge` down, at a distance `far` from the end behind it, seen from leaf 0.

    Without a branch, from the node next to leaf 0 down, which has three children. Small subtrees are drawn first.
    """
    beside = [[] for _ in range(len(parent) + (edge is not None))]
    links = [(v, above, v - 1, length) for v, (above, length) in enumerate(zip(parent[1:], lengths), 1)]
    root = int(np.flatnonzero(parent == 0)[0])
    if edge is not None:
        root, (behind, above, _, length) = len(parent), links.pop(edge)
        links += [(root, behind, edge, far), (root, above, edge, length - far)]
    for a, b, number, length in links:
        beside[a].append((int(b), number, length))
        beside[b].append((int(a), number, length))
    children, above, edges, order = [[] for _ in beside], np.zeros(len(beside)), np.full(len(beside), -1), [root]
    for node in order:
        for other, number, length in beside[node]:
            if number != edges[node]:
                children[node].append(other)
                above[other], edges[other] = length, number
                order.append(other)
    sizes = np.ones(len(beside), dtype=np.intp)
    for node in reversed(order):
        if children[node]:
            children[node].sort(key=lambda child: sizes[child])
            sizes[node] = sizes[children[node]].sum()
    return Rooted(root, children, above, edges)


def midpoint(parent, lengths):
    "(branch, distance from the end behind it) of the middle of the longest path between leaves (Farris 1972)."
    distances = path_lengths(leaves_below(parent), lengths)
    ends = np.unravel_index(distances.argmax(), distances.shape)
    ways = [[], []]
    for way, node in zip(ways, map(int, ends)):
        while parent[node] >= 0:
            way.append(node)
            node = int(parent[node])
    depths = [lengths[np.array(way, dtype=np.intp) - 1].sum() for way in ways]
    way, left = ways[int(np.argmax(depths))], distances[ends] / 2  # the middle is on the longer way to leaf 0
    for node in way:
        if left <= lengths[node - 1]:
            return node - 1, float(left)
        left -= lengths[node - 1]
    return way[-1] - 1, float(lengths[way[-1] - 1])


def as_dendrogram(tree, names=None):
    "A tree with a root as a dendrogram; the height of a node is the length of the longest path down to a leaf."
    from ..dendrogram import Dendrogram

    height = np.zeros(len(tree.above))
    inner = [node for node in reversed(tree.order) if tree.children[node]]
    for node in inner:
        height[node] = (height[tree.children[node]] + tree.above[tree.children[node]]).max()
    number = {leaf: leaf for leaf in range(len(inner) + 1)}
    number |= {node: len(inner) + 1 + row for row, node in enumerate(inner)}
    children = np.array([[number[child] for child in tree.children[node]] for node in inner])
    return Dendrogram(sorted_linkage(children, height[inner]), names=names)


def best_root(parent, lengths, comparisons):
    "(branch, distance from the end behind it) of the root whose nested groups agree with most of the answers."
    from ..metrics import agreement

    most, found = -np.inf, None
    places = [midpoint(parent, lengths), *((edge, float(length) / 2) for edge, length in enumerate(lengths))]
    for place in places:  # the midpoint wins ties
        counts = agreement(as_dendrogram(rooted(parent, lengths, *place)), comparisons)
        if counts.agree - counts.disagree > most:
            most, found = counts.agree - counts.disagree, place
    return found


# ---- Newick


def newick(parent, lengths, names, support=None, root=None):
    """One line of Newick, without a root (three branches at the outermost node) or with one at (branch, distance).

    The label of an inner node is the support of the branch above it; a root is on a branch, both halves of which have
    its support.
    """
    tree = rooted(parent, lengths, *(root or ()))
    n = len(names)
    texts = [quoted(name) for name in names] + [""] * (len(tree.above) - n)
    for node in reversed(tree.order):
        if tree.children[node]:
            texts[node] = f"({','.join(texts[child] for child in tree.children[node])})"
            edge = tree.edge[node]
            if support is not None and n <= edge + 1 and parent[edge + 1] != 0:  # not a leaf's branch, which all have
                texts[node] += f"{support[edge]:.6g}"
        if node != tree.root:
            texts[node] += f":{tree.above[node]:.9g}"
    return texts[tree.root] + ";"


# ---- drawings


@dataclass
class Drawing:
    "Lines, texts and dots in pixels, from the top left."

    width: float = 0.0
    height: float = 0.0
    lines: list = field(default_factory=list)  # (x, y, x2, y2, colour, width, number of its branch or None)
    texts: list = field(default_factory=list)  # (x, y, text, degrees, anchor, colour, size, leaf of a badge or None)
    dots: list = field(default_factory=list)  # (x, y, radius, fill, leaf of a badge or None)

    def add_support(self, places, support, size=8.5):
        "A dot on each inner branch: black from 95%, grey from 70%, white below; its number where nothing is written."
        taken = [_box_of_text(*text) for text in self.texts]
        for (x, y), share in zip(places, support):
            self.dots.append(
                (x, y, 2.6, "#111111" if share >= 0.95 else "#999999" if share >= 0.7 else "#ffffff", None)
            )
            text = (x + 4, y - 5, whole_percent(share), 0.0, "start", "#333333", size, None)
            box = _box_of_text(*text)
            if is_free(box, taken):
                taken.append(box)
                self.texts.append(text)

    def add_bar(self, scale, left, room):
        "A bar below everything: as much of a length of 1, 2 or 5 times a power of ten as a third of the width holds."
        y = self.height + 4
        most = room / 3 / scale
        power = 10 ** np.floor(np.log10(most))
        unit = max(step * power for step in (1, 2, 5) if step * power <= most)
        unit = 1.0 if 12 / scale <= 1 <= most else unit
        self.lines.append((left, y, left + unit * scale, y, "#1a1a1a", 2.0, None))
        self.texts.append((left, y + 10, f"length {unit:g} (log-odds)", 0.0, "start", "#555555", 10.5, None))
        self.height = y + 10 + MARGIN


def _box_of_text(x, y, text, degrees, anchor, color, size, _leaf):
    "The upright rectangle around a text."
    length = text_width(text, size)
    start = {"start": 0.0, "middle": -length / 2, "end": -length}[anchor]
    turn = np.radians(degrees)
    ends = [(x + at * np.cos(turn), y + at * np.sin(turn)) for at in (start, start + length)]
    half = 0.5 * size
    across, down = zip(*ends)
    return (
        min(across) - half * abs(np.sin(turn)),
        min(down) - half,
        max(across) + half * abs(np.sin(turn)),
        max(down) + half,
    )


def check_support(tree, support):
    "Support as an array with one share per branch, or None."
    if support is None:
        return None
    rule = f"{len(tree.lengths)} numbers from 0 to 1, one per branch (what leaves have is not used)"
    shares = as_array(support, "support", rule, float)
    fits = shares.shape == (len(tree.lengths),) and not ((shares < 0) | (shares > 1)).any()
    require(fits, "support", rule, support)
    return shares


def check_root(tree, root):
    "(branch, distance from its end behind it) of a root, or None."
    if root is None or (isinstance(root, str) and root == "midpoint"):
        return root and midpoint(tree.parent, tree.lengths)
    rule = "None, 'midpoint', or a branch and the distance from its far end"
    require(isinstance(root, (tuple, list)) and len(root) == 2, "root", rule, root)
    edge = check_integer(root[0], "the branch of root", 0, len(tree.lengths) - 1)
    return edge, check_number(root[1], "the distance of root", 0, float(tree.lengths[edge]))


def draw(tree, layout=LAYOUTS[0], labels=None, support=None, root=None, width=None, size=11.0):
    "A drawing of `tree`, which has `parent`, `lengths` and `names`; `width` pixels wide, or what the names need."
    check_choice(layout, "layout", LAYOUTS)
    support, root = check_support(tree, support), check_root(tree, root)
    if labels is not None:
        rule = f"{len(tree.names)} integers from 0, the cluster of each leaf (-1: none)"
        labels = as_array(labels, "labels", rule)
        whole = labels.shape == (len(tree.names),) and labels.dtype.kind in "iu"
        require(whole and (labels >= -1).all(), "labels", rule, labels)
    width = None if width is None else check_integer(width, "width", 100, 20_000)
    if layout == "rooted":
        return _draw_rooted(tree, labels, support, root, width, size)
    return _draw_unrooted(tree, layout, labels, support, width, size)


def draw_beside(trees, layout=LAYOUTS[0], support=None, **options):
    "One drawing of several trees, side by side."
    supports = [None] * len(trees) if support is None else list(support)
    require(len(supports) == len(trees), "support", f"{len(trees)} arrays, one per tree", support)
    drawings = [draw(tree, layout, support=each, **options) for tree, each in zip(trees, supports)]
    whole = Drawing(sum(each.width for each in drawings), max(each.height for each in drawings))
    left = 0.0
    for number, each in enumerate(drawings):
        for x, y, x2, y2, color, thick, edge in each.lines:
            branch = None if edge is None else f"{number}-{edge}"
            whole.lines.append((x + left, y, x2 + left, y2, color, thick, branch))
        whole.texts += [(x + left, *more) for x, *more in each.texts]
        whole.dots += [(x + left, *more) for x, *more in each.dots]
        left += each.width
    return whole


def branch_colors(parent, labels):
    "The colour of each branch, by the cluster of the leaves on one of its sides; grey where clusters meet."
    below = leaves_below(parent)
    if labels is None:
        return ["#555555"] * len(below)
    labels, colors = np.asarray(labels), []
    for behind in below:
        sides = {frozenset(labels[side].tolist()) for side in (behind, ~behind)}
        alone = [next(iter(side)) for side in sides if len(side) == 1]
        colors.append(cluster_color(int(alone[0])) if len(alone) == 1 and alone[0] >= 0 else ABOVE)
    return colors


def _add_leaf(drawing, leaf, x, y, text, degrees, anchor, label, size):
    "A leaf at the end of its branch: a badge with the number of its cluster, and its name."
    turn, gap = np.radians(degrees) + (np.pi if anchor == "end" else 0), 4.0
    if label is not None:
        at, size_of_number = (x + BADGE * np.cos(turn), y + BADGE * np.sin(turn)), 7.5 if label < 100 else 5.5
        color = cluster_color(int(label)) if label >= 0 else None  # None: there is one where a script shows it
        drawing.dots.append((*at, BADGE, color, leaf))
        ink = None if color is None else text_color(color)
        drawing.texts.append((*at, f"{int(label)}", 0.0, "middle", ink, size_of_number, leaf))
        gap += 2 * BADGE * (label >= 0)
    x, y = x + gap * np.cos(turn), y + gap * np.sin(turn)
    drawing.texts.append((x, y, text, degrees, anchor, "#1a1a1a", size, None))


def _draw_rooted(tree, labels, support, root, width, size):
    parent, lengths, names = tree.parent, tree.lengths, tree.names
    root = midpoint(parent, lengths) if root is None else root
    down = rooted(parent, lengths, *root)
    width = width or 620
    texts = [cut_text(" ".join(name.split()), size, 22 * size) for name in names]
    badge = 0 if labels is None else 2 * BADGE
    room = max(width - 2 * MARGIN - 8 - badge - 6 - max(text_width(text, size) for text in texts), 0.4 * width)
    depth, order, pitch = down.depth, down.order, max(1.4 * size, badge + 2)
    scale = room / (depth.max() or 1.0)
    across, y = MARGIN + 8 + scale * depth, np.zeros(len(depth))
    leaves = [node for node in order if not down.children[node]]
    y[leaves] = MARGIN + pitch * (np.arange(len(leaves)) + 0.5)
    for node in reversed(order):
        if down.children[node]:
            y[node] = (y[down.children[node][0]] + y[down.children[node][-1]]) / 2
    drawing, colors = Drawing(width, MARGIN + pitch * len(leaves)), branch_colors(parent, labels)
    drawing.lines.append((MARGIN, y[down.root], across[down.root], y[down.root], ABOVE, 1.4, None))
    for node in order:
        for child in down.children[node]:
            edge = int(down.edge[child])
            color = colors[edge]
            drawing.lines.append((across[node], y[node], across[node], y[child], color, 1.4, edge))
            drawing.lines.append((across[node], y[child], across[child], y[child], color, 1.4, edge))
    for leaf in leaves:
        _add_leaf(
            drawing,
            leaf,
            across[leaf],
            y[leaf],
            texts[leaf],
            0.0,
            "start",
            None if labels is None else labels[leaf],
            size,
        )
    if support is not None:
        inner = [v for v in order if v >= len(names) and v != down.root and down.above[v] > 0]
        inner = [v for v in inner if down.edge[v] + 1 >= len(names) and parent[down.edge[v] + 1] != 0]
        drawing.add_support([(across[v], y[v]) for v in inner], [support[down.edge[v]] for v in inner])
    drawing.add_bar(scale, MARGIN + 8, room)
    return drawing


def _draw_unrooted(tree, layout, labels, support, width, size):
    parent, lengths, names = tree.parent, np.asarray(tree.lengths, dtype=float), tree.names
    n, place_nodes = len(names), equal_angle if layout == "equal-angle" else equal_daylight
    texts = [cut_text(" ".join(name.split()), size, 22 * size) for name in names]
    badge = 0 if labels is None else 2 * BADGE
    room = np.array([text_width(text, size) + badge + 10 for text in texts])
    side = width or max(520.0, 1.2 * size * n / np.pi + room.max())
    total = path_lengths(leaves_below(parent), lengths).max() or 1.0
    scale, shift = max(side - 2 * room.mean(), 0.4 * side) / total, np.zeros(n)
    for step in range(4):  # the names are a part of their branches, so that nothing crosses them
        spread = (place_nodes if step > 1 else equal_angle)(parent, _with_room(parent, lengths, (room + shift) / scale))
        place, ray = _without_room(spread, parent, lengths)
        turn = _upright(place[:n] + ray * (room / scale)[:, None])
        place, ray = place @ turn, ray @ turn
        scale = _fitting(place, ray, room + shift, side - 2 * MARGIN - size, 0.3 * side / total)
        shift = _shifts(scale * place[:n], ray, room, size)
    pixels = scale * place
    ends = np.concatenate([pixels, pixels[:n] + ray * (room + shift)[:, None]])
    low, high = ends.min(axis=0) - size / 2, ends.max(axis=0) + size / 2
    pixels = pixels - low + MARGIN
    drawing = Drawing(max(side, high[0] - low[0] + 2 * MARGIN), high[1] - low[1] + MARGIN)
    for node, color in enumerate(branch_colors(parent, labels), 1):
        drawing.lines.append((*pixels[node], *pixels[parent[node]], color, 1.4, node - 1))
    for leaf, text in enumerate(texts):
        start = pixels[leaf] + ray[leaf] * shift[leaf]
        if shift[leaf]:
            drawing.lines.append((*pixels[leaf], *start, "#c8c8c8", 0.7, None))
        degrees = np.degrees(np.arctan2(ray[leaf, 1], ray[leaf, 0]))
        turned = abs(degrees) > 90
        degrees = (degrees + 180 + 180) % 360 - 180 if turned else degrees
        anchor = "end" if turned else "start"
        _add_leaf(drawing, leaf, *start, text, degrees, anchor, None if labels is None else labels[leaf], size)
    if support is not None:
        inner = [v for v in range(n, len(parent)) if parent[v] != 0 and lengths[v - 1] > 0]
        drawing.add_support([(pixels[v] + pixels[parent[v]]) / 2 for v in inner], [support[v - 1] for v in inner])
    drawing.add_bar(scale, MARGIN, side)
    return drawing


def _with_room(parent, lengths, room):
    "Lengths with room for a name behind every leaf; leaf 0 is at the end of the branch of the node next to it."
    longer = lengths.copy()
    longer[: len(room) - 1] += room[1:]
    longer[np.flatnonzero(parent == 0)[0] - 1] += room[0]
    return longer


def _without_room(spread, parent, lengths):
    "(places, (N, 2) directions of the names): the leaves moved back to the ends of their branches."
    n, place = len(parent) // 2 + 1, spread.copy()
    inside = parent[:n].copy()
    inside[0] = np.flatnonzero(parent == 0)[0]
    ray = spread[:n] - spread[inside]
    ray = ray / np.linalg.norm(ray, axis=1, keepdims=True)
    place[:n] = spread[inside] + ray * lengths[np.where(np.arange(n), np.arange(n), inside[0]) - 1][:, None]
    return place, ray


def _upright(points):
    "The rotation that lays the longest extent of these points across."
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.array([axes[0], [-axes[0, 1], axes[0, 0]]]).T


def _fitting(place, ray, room, width, least):
    "Pixels per unit of length with which tree and names are `width` wide, by bisection."
    low, high = least, max(width / max(np.ptp(place[:, 0]), 1e-9), least)
    for _ in range(40):
        middle = (low + high) / 2
        across = np.concatenate([middle * place[:, 0], middle * place[: len(ray), 0] + ray[:, 0] * room])
        low, high = (middle, high) if np.ptp(across) <= width else (low, middle)
    return low


def _shifts(start, ray, room, size):
    "How far each name moves away from its leaf so that no name covers another."
    shift, written, middles, reaches = np.zeros(len(start)), [], np.zeros((0, 2)), np.zeros(0)
    for leaf in np.argsort(-np.linalg.norm(start - start.mean(axis=0), axis=1), kind="stable"):
        steps = np.arange(4.0, room[leaf] + size / 2, size / 2, dtype=float)[:, None] * ray[leaf]
        reach = np.linalg.norm(steps[-1] - steps[0]) / 2
        for more in range(0, 40):
            points = start[leaf] + more * size * ray[leaf] + steps
            middle = (points[0] + points[-1]) / 2
            near = np.flatnonzero(np.linalg.norm(middles - middle, axis=1) < reaches + reach + size)
            if not len(near):
                break
            gaps = points[:, None] - np.concatenate([written[other] for other in near])
            if (gaps * gaps).sum(axis=2).min() >= (0.95 * size) ** 2:
                break
        shift[leaf] = more * size
        written.append(points)
        middles, reaches = np.vstack([middles, middle]), np.append(reaches, reach)
    return shift


# ---- one drawing in three forms


def hidden(color):
    "The display of what has no colour yet."
    return "none" if color is None else None


def drawing_svg(drawing, title, scale=1):
    "As SVG."
    parts = [tag("rect", width="100%", height="100%", fill="#fff")]
    for x, y, x2, y2, color, width, edge in drawing.lines:
        ends = dict(x1=float(x), y1=float(y), x2=float(x2), y2=float(y2), data_branch=edge)
        parts.append(tag("line", **ends, stroke=color, stroke_width=width, stroke_linecap="round"))
    for x, y, radius, fill, leaf in drawing.dots:
        seen = dict(fill=fill, stroke="#111", stroke_width=0.6, data_leaf=leaf, display=hidden(fill))
        parts.append(tag("circle", cx=float(x), cy=float(y), r=radius, **seen))
    for x, y, text, degrees, anchor, color, size, leaf in drawing.texts:
        turn = f"rotate({degrees:.2f} {x:.1f} {y:.1f})" if degrees else None
        font = dict(font_size=size, text_anchor=anchor, fill=color, transform=turn, data_leaf=leaf)
        font |= dict(display=hidden(color))
        parts.append(tag("text", escape(text), x=float(x), y=float(y), dy=".35em", **font))
    return visible_text(svg(parts, drawing.width, drawing.height, title, scale)) + "\n"


def drawing_chart(drawing):
    "As an Altair chart."
    import altair as alt

    x = alt.X("x:Q", axis=None).scale(domain=[0, drawing.width], nice=False, zero=False)
    y = alt.Y("y:Q", axis=None).scale(domain=[drawing.height, 0], nice=False, zero=False)

    def chart(names, rows):
        return alt.Chart(alt.InlineData([dict(zip(names, map(_plain, row))) for row in rows]))

    lines = chart(("x", "y", "x2", "y2", "color", "width"), [line[:6] for line in drawing.lines]).mark_rule(
        strokeCap="round"
    )
    width = alt.StrokeWidth("width:Q", scale=None)
    layers = [lines.encode(x, y, alt.X2("x2"), alt.Y2("y2"), alt.Color("color:N", scale=None), width)]
    dots = [(x, y, np.pi * radius**2, fill) for x, y, radius, fill, _ in drawing.dots if fill is not None]
    if dots:
        marks = chart(("x", "y", "area", "color"), dots).mark_point(
            filled=True, opacity=1, stroke="#111", strokeWidth=0.6
        )
        layers.append(marks.encode(x, y, alt.Size("area:Q", scale=None), alt.Fill("color:N", scale=None)))
    for anchor, align in (("start", "left"), ("middle", "center"), ("end", "right")):
        rows = [(*text[:4], *text[5:7]) for text in drawing.texts if text[4] == anchor and text[5] is not None]
        if rows:
            marks = chart(("x", "y", "text", "angle", "color", "size"), rows).mark_text(align=align, baseline="middle")
            angle, font = alt.Angle("angle:Q", scale=None), alt.Size("size:Q", scale=None)
            layers.append(marks.encode(x, y, angle, font, alt.Color("color:N", scale=None), text="text:N"))
    size = dict(width=round(drawing.width), height=round(drawing.height))
    return alt.layer(*layers).properties(**size).configure_view(stroke=None)


def _plain(value):
    return visible_text(value) if isinstance(value, str) else round(float(value), 3)


def drawing_axes(drawing, ax):
    "On Matplotlib's axes, which are made to measure; returns them."
    points = 72 / 96  # per pixel
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot", "a tree on Matplotlib's axes")
        ax = pyplot.gca()
    for x, y, x2, y2, color, width, _ in drawing.lines:
        ax.plot([x, x2], [y, y2], color=color, linewidth=points * width, solid_capstyle="round")
    for x, y, radius, fill, _ in drawing.dots:
        if fill is None:
            continue
        edge = dict(markeredgecolor="#111111", markeredgewidth=0.5)
        ax.plot([x], [y], "o", markersize=points * 2 * radius, markerfacecolor=fill, zorder=3, **edge)
    for x, y, text, degrees, anchor, color, size, _ in drawing.texts:
        if color is None:
            continue
        place = dict(rotation=-degrees, rotation_mode="anchor", va="center", zorder=4)
        align = {"start": "left", "middle": "center", "end": "right"}[anchor]
        ax.text(x, y, text, color=color, fontsize=points * size, ha=align, **place)
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax
