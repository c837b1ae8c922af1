"Drawings of additive trees: lengths, crossings, roots, Newick and the forms of a drawing, by laws and by definition."

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared import by_name, refusals
from test_additive import paths_by_walking, random_parent
from test_plotting import Axes

from comparison_hc.additive_tree import AdditiveTree, LengthTree
from comparison_hc.core import additive_drawing as drawing
from comparison_hc.core.newick import _parse
from comparison_hc.metrics import agreement

seeds = st.integers(0, 10**6)


def random_tree(n, seed, none=0.0, power=1):
    "A random tree with names; a share of its branches has no length, and powers make few of them very long."
    rng = np.random.default_rng(seed)
    lengths = rng.exponential(1, 2 * n - 3) ** power * (rng.random(2 * n - 3) >= none)
    return LengthTree(random_parent(n, rng), lengths, tuple(f"object {i}" for i in range(n)))


def crossings(lines):
    "Pairs of lines (x, y, x2, y2) that meet in a point inside both."
    start, end = np.asarray(lines)[:, :2], np.asarray(lines)[:, 2:]

    def side(a, b, c):
        return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])

    scale = 1e-9 * np.ptp(np.concatenate([start, end])) ** 2
    across = [side(start[:, None], end[:, None], one[None]) for one in (start, end)]
    parted = (across[0] * across[1] < 0) & (np.abs(across[0]) > scale) & (np.abs(across[1]) > scale)
    return int((parted & parted.T).sum()) // 2


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(4, 40), st.sampled_from([0.0, 0.3]), st.sampled_from([1, 3]))
@example(seed=15, n=60, none=0.2, power=3)  # subtrees that cover more than the whole angle
def test_branches_have_their_lengths_and_do_not_cross(seed, n, none, power):
    tree = random_tree(n, seed, none, power)
    for method in ("equal-angle", "equal-daylight"):
        place = tree.layout(method)
        drawn = np.linalg.norm(place[1:] - place[tree.parent[1:]], axis=1)
        np.testing.assert_allclose(drawn, tree.lengths, atol=1e-7)
        assert crossings(np.hstack([place[1:], place[tree.parent[1:]]])) == 0


def gaps(tree, place):
    "For each inner node the gaps between its subtrees, by walking along the branches and adding up the turns."
    beside = [set() for _ in tree.parent]
    for node, above in enumerate(tree.parent.tolist()):
        if node:
            beside[node].add(above)
            beside[above].add(node)
    found = []
    for centre in range(tree.n_leaves, len(tree.parent)):
        spans = []
        for first in beside[centre]:
            rays = place - place[centre]
            angle = {first: np.arctan2(rays[first, 1], rays[first, 0])}
            waiting = [(first, centre)]
            while waiting:
                node, before = waiting.pop()
                for other in beside[node] - {before}:
                    cross = rays[node, 0] * rays[other, 1] - rays[node, 1] * rays[other, 0]
                    angle[other] = angle[node] + np.arctan2(cross, rays[node] @ rays[other])
                    waiting.append((other, node))
            spans.append((angle[first], min(angle.values()), max(angle.values())))
        spans.sort()
        turned = [*spans[1:], tuple(x + 2 * np.pi for x in spans[0])]
        found.append([low - high for (_, _, high), (_, low, _) in zip(spans, turned)])
    return np.array(found)


def test_daylight_is_shared_more_equally_than_by_equal_angle():
    "On every one of twenty trees; and with a single inner node the gaps are equal."
    for seed in range(20):
        tree = random_tree(14, seed)
        angle, daylight = (
            gaps(tree, tree.layout(each)).std(axis=1).mean() for each in ("equal-angle", "equal-daylight")
        )
        assert daylight < angle
    star = gaps(random_tree(3, 1), random_tree(3, 1).layout())
    np.testing.assert_allclose(star, star.mean())


@given(seeds, st.integers(4, 12))
def test_the_midpoint_halves_the_diameter(seed, n):
    tree = random_tree(n, seed)
    edge, far = tree.midpoint()
    down = drawing.rooted(tree.parent, tree.lengths, edge, far)
    half = paths_by_walking(tree.parent, tree.lengths).max() / 2
    farthest = []
    for first in down.children[down.root]:
        inside = [first]
        for node in inside:
            inside += down.children[node]
        farthest.append(down.depth[[node for node in inside if node < n]].max())
    np.testing.assert_allclose(farthest, half)
    assert drawing.as_dendrogram(down).heights.max() == pytest.approx(half)


def read(text):
    "(path lengths of pairs of names, {leaves on one side: label}) of Newick text, by the reader of dendrograms."
    nodes = _parse(text)
    below, edges, labels = [], [], {}
    for v, node in enumerate(nodes):
        below.append({node.name} if not node.children else set().union(*(below[child] for child in node.children)))
        edges += [(below[v], float(node.length))] if node.length is not None else []
        if node.children and node.name:
            labels[frozenset(below[v])] = float(node.name)
    names = sorted(below[-1])
    return {
        (a, b): sum(x for side, x in edges if (a in side) != (b in side)) for a, b in combinations(names, 2)
    }, labels


@given(seeds, st.integers(4, 10), st.sampled_from(["no root", "midpoint", "branch"]))
def test_newick_keeps_path_lengths_and_puts_support_where_it_belongs(seed, n, root):
    tree, rng = random_tree(n, seed, 0.2), np.random.default_rng(seed)
    tree = LengthTree(tree.parent, tree.lengths, tuple(f"it's {i}, (no) [{i}]" for i in range(n)))
    support = rng.integers(1, 1000, 2 * n - 3) / 1000
    place = {"no root": None, "midpoint": "midpoint", "branch": (2 * n - 4, tree.lengths[-1] / 3)}[root]
    paths, labels = read(tree.to_newick(support, place))
    distances = paths_by_walking(tree.parent, tree.lengths)
    for (a, b), length in paths.items():
        assert length == pytest.approx(distances[tree.names.index(a), tree.names.index(b)], abs=1e-6)
    everything, expected = frozenset(tree.names), {}
    for behind, share in zip(tree.splits, support):
        side = frozenset(np.array(tree.names)[behind].tolist())
        if 1 < len(side) < n - 1:
            expected |= {side: share, everything - side: share}
    assert {side: expected[side] for side in labels} == labels
    assert {frozenset([side, everything - side]) for side in labels} == {
        frozenset([side, everything - side]) for side in expected
    }


def test_the_best_root_agrees_most_and_nested_groups_are_those_of_the_root():
    rng = np.random.default_rng(2)
    tree = random_tree(7, 2)
    rows = np.argsort(rng.random((60, 7)), axis=1)[:, :3]

    def net(edge, far):
        "By definition: a triplet holds where a group below the root has i and j and lacks k."
        down, score = drawing.rooted(tree.parent, tree.lengths, edge, far), 0
        groups = {leaf: {leaf} for leaf in range(7)}
        for node in reversed(down.order):
            if down.children[node]:
                groups[node] = set().union(*(groups[child] for child in down.children[node]))
        for i, j, k in rows.tolist():
            score += any({i, j} <= g and k not in g for g in groups.values())
            score -= any({i, k} <= g and j not in g for g in groups.values())
        counts = agreement(drawing.as_dendrogram(down), rows)
        assert counts.agree - counts.disagree == score
        return score

    scores = [net(edge, length / 2) for edge, length in enumerate(tree.lengths)]
    assert net(*tree.best_root(rows)) == max(*scores, net(*tree.midpoint())) > min(scores)


def test_a_tree_whose_leaves_are_equally_far_from_its_root_is_the_dendrogram_with_those_distances():
    "Average linkage on the path lengths of a dendrogram gives the dendrogram again."
    from scipy.cluster.hierarchy import average, cophenet
    from scipy.spatial.distance import squareform

    rng = np.random.default_rng(1)
    linkage = average(rng.random((9, 3)))
    distances = squareform(cophenet(linkage))
    from comparison_hc.core.additive import neighbour_joining

    parent = neighbour_joining(distances)
    tree = LengthTree(parent, exact_lengths(parent, distances), tuple("abcdefghi"))
    np.testing.assert_allclose(tree.distances, distances, atol=1e-9)
    found = drawing.as_dendrogram(drawing.rooted(parent, tree.lengths, *tree.midpoint()), tree.names)
    np.testing.assert_allclose(2 * cophenet(found.linkage_matrix), squareform(distances), atol=1e-9)


def exact_lengths(parent, distances):
    "Lengths by least squares; exact where the distances are those of the tree."
    from scipy.optimize import nnls

    from comparison_hc.core.additive import leaves_below

    i, j = np.triu_indices(len(distances), 1)
    below = leaves_below(parent).astype(float)
    return nnls(np.abs(below[:, i] - below[:, j]).T, distances[i, j])[0]


def corners(text):
    "Corners of the rectangle of a written name, by trigonometry."
    from comparison_hc.core.plotting import text_width

    x, y, content, degrees, anchor, _, size, _ = text
    turn, long, half = np.radians(degrees), text_width(content, size), 0.35 * size  # letters are lower than their size
    along, up = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    ends = (0, long) if anchor == "start" else (-long, 0) if anchor == "end" else (-long / 2, long / 2)
    return np.array(
        [[x, y] + a * along + b * up for a, b in ((ends[0], -half), (ends[1], -half), (ends[1], half), (ends[0], half))]
    )


def apart(p, q):
    "Whether a side of one of two rectangles parts them."
    for a in (p, q):
        for edge in (a[1] - a[0], a[2] - a[1]):
            first, second = p @ edge, q @ edge
            if first.max() <= second.min() + 1e-6 or second.max() <= first.min() + 1e-6:
                return True
    return False


@pytest.mark.parametrize("layout", drawing.LAYOUTS)
@pytest.mark.parametrize("n, none, width", [(8, 0.0, None), (40, 0.4, None), (12, 0.3, 321)])
def test_a_drawing_is_to_scale_inside_its_frame_and_no_writing_covers_another(layout, n, none, width):
    tree, rng = random_tree(n, 5, none), np.random.default_rng(5)
    made = drawing.draw(tree, layout, rng.integers(0, 4, n), rng.random(2 * n - 3), width=width)
    *_, bar = made.lines
    scale = (bar[2] - bar[0]) / float(re.search(r"length ([\d.e-]+)", made.texts[-1][2])[1])
    if layout == "rooted":
        across = [abs(x - x2) for x, y, x2, y2, *_ in made.lines[1:-1] if y == y2]
        edge, far = tree.midpoint()
        expected = [*np.delete(tree.lengths, edge), far, tree.lengths[edge] - far]
    else:
        across = [np.hypot(x - x2, y - y2) for x, y, x2, y2, color, *_ in made.lines[:-1] if color != "#c8c8c8"]
        expected = tree.lengths
    np.testing.assert_allclose(sorted(across)[-len(expected) :], np.sort(scale * np.array(expected)), atol=1e-6)
    boxes = [corners(text) for text in made.texts if text[4] != "middle"]  # without the numbers in badges
    assert len(boxes) > n
    assert all(apart(*pair) for pair in combinations(boxes, 2))
    places = np.concatenate(boxes)
    assert places.min() > 0 and (places[:, 0] < made.width).all() and (places[:, 1] < made.height).all()
    assert width is None or made.width <= width + 1e-6


def test_all_forms_show_the_same_drawing():
    tree = random_tree(6, 3)
    tree = LengthTree(tree.parent, tree.lengths, ("cat & <dog>", "owl\x00", *tree.names[2:]))
    options = dict(labels=[0, 0, 0, 1, 1, 1], support=np.linspace(0, 1, 9))
    made = drawing.draw(tree, **options)
    text = drawing.drawing_svg(made, "A tree")
    assert "cat &amp; &lt;dog&gt;" in text and "\x00" not in text and "object 5" in text
    assert text.count("<line") == len(made.lines) and text.count("<circle") == len(made.dots)
    shown = tree.chart(**options).to_dict()
    assert sum(map(len, shown["datasets"].values())) == len(made.lines) + len(made.dots) + len(made.texts)
    ax = Axes()
    assert tree.plot(ax, **options) is ax
    names = [name for name, _ in ax.calls]
    assert names.count("plot") == len(made.lines) + len(made.dots) and names.count("text") == len(made.texts)
    beside = drawing.draw_beside([tree, tree], labels=options["labels"])
    alone = drawing.draw(tree, labels=options["labels"])
    assert beside.width == 2 * alone.width and beside.height == alone.height
    moved = [(x + alone.width, *more) for x, *more in alone.texts]
    assert list(map(tuple, beside.texts)) == [*alone.texts, *moved]


test_bad_options_are_named = refusals(
    ("layout must be one of", by_name(random_tree(6, 3).chart, "layout"), "round"),
    ("labels must be 6 integers from 0", by_name(random_tree(6, 3).chart, "labels"), [0, 1]),
    ("support must be 9 numbers from 0 to 1", by_name(random_tree(6, 3).chart, "support"), [0.5], [2.0] * 9),
    ("root must be None, 'midpoint', or a branch", by_name(random_tree(6, 3).chart, "root"), "top"),
    ("the branch of root must be", by_name(random_tree(6, 3).chart, "root"), (9, 0.0)),
    ("width must be", by_name(random_tree(6, 3).chart, "width"), 3),
)


def test_scipy_takes_the_path_lengths():
    from scipy.cluster.hierarchy import average
    from scipy.spatial.distance import squareform

    rows = np.argsort(np.random.default_rng(0).random((80, 6)), axis=1)[:, :3]
    model = AdditiveTree(n_trees=1).fit(rows)
    np.testing.assert_array_equal(average(squareform(model.distances_)), model.dendrogram_.linkage_matrix)
