"Pictures of trees: one layout against a recursion and SciPy, box characters, SVG, Altair charts."

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from shared import chain, least_difference, named_trees

from comparison_hc.core.plotting import (
    ABOVE,
    COLLAPSED_TO,
    PALETTE,
    SIDES,
    TreeFigure,
    TreeStyle,
    _grid_columns,
    collapsed_by_default,
    cut_text,
    text_width,
    ticks,
    tree_layout,
)
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, plot_dendrogram, random_tree
from comparison_hc.estimators import ComparisonHC

SVG = "{http://www.w3.org/2000/svg}"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)

# ---- layout


def random_rows(seed, n_leaves=25):
    "A tree whose nodes have two to four children."
    rng, alive, rows = np.random.default_rng(seed), list(range(n_leaves)), []
    while len(alive) > 1:
        degree = int(rng.integers(2, min(4, len(alive)) + 1))
        rows.append(tuple(alive.pop(int(rng.integers(len(alive)))) for _ in range(degree)))
        alive.append(n_leaves + len(rows) - 1)
    return rows


def ends_below(rows, n_leaves, node, collapsed=()):
    if node < n_leaves or node in collapsed:
        return [node]
    return [end for child in rows[node - n_leaves] for end in ends_below(rows, n_leaves, child, collapsed)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("n_collapsed", [0, 3])
def test_any_degree_by_recursion(seed, n_collapsed):
    rows = random_rows(seed)
    root = 25 + len(rows) - 1
    collapsed = np.random.default_rng(seed).choice(np.arange(25, root), n_collapsed, replace=False).tolist()
    layout, ends = tree_layout(rows, collapsed=collapsed), ends_below(rows, 25, root, collapsed)
    assert layout.leaves.tolist() == ends and layout.y[ends].tolist() == list(range(len(ends)))
    for node, row in enumerate(layout.children, start=25):
        if set(ends_below(rows, 25, node, collapsed)) <= set(ends) - {node}:  # it is seen
            assert layout.y[node] == (layout.y[row[0]] + layout.y[row[-1]]) / 2
        assert layout.x[node] == 1 + max(layout.x[child] for child in row)  # levels
        assert all(layout.parents[child] == node for child in row)


@pytest.mark.parametrize("seed", range(5))
def test_a_linkage_matrix_as_scipy_draws_it(seed):
    Z = hierarchy.linkage(np.random.default_rng(seed).normal(size=(20, 2)), "average")
    layout, drawn = Dendrogram.from_linkage(Z)._layout, hierarchy.dendrogram(Z, no_plot=True)
    assert layout.leaves.tolist() == drawn["leaves"] and np.array_equal(layout.x[20:], Z[:, 2])
    middles = sorted((row[1] + row[2]) / 2 for row in drawn["icoord"])  # SciPy's leaves are at 5, 15, 25, …
    assert np.allclose(sorted(10 * layout.y[20:] + 5), middles)


def test_one_leaf_and_read_only_arrays():
    layout, rows = tree_layout([]), [[1, 0], [2, 3]]
    assert layout.leaves.tolist() == [0] and layout.joints.shape == (0, 2)
    for array in (layout.leaves, layout.x, layout.y):
        with pytest.raises(ValueError):
            array[...] = 0
    tree_layout(rows)
    assert rows == [[1, 0], [2, 3]]


# ---- text


@pytest.mark.parametrize("seed", range(10))
def test_columns_leave_no_node_behind_another(seed):
    Z = random_tree(12, seed).linkage_matrix.copy()
    Z[:, 2] = 2.0 ** Z[:, 2]  # most merges are near the leaves
    tree = Dendrogram.from_linkage(Z)
    column = _grid_columns(tree._layout, 14)
    assert column[-1] == 0 and set(column[:12].tolist()) == {13}
    assert all(column[node] < column[row].min() for node, row in enumerate(tree.children, start=12))


@settings(deadline=None, derandomize=True, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(named_trees(), st.integers(20, 120))
def test_text_has_a_line_a_leaf(tree, width):
    lines = tree.to_text(width).split("\n")
    assert len(lines) == (tree.n_leaves + 1 if tree.n_leaves > 1 else 1)
    assert all(len(line) <= width for line in lines[: tree.n_leaves])
    if 1 < tree.n_leaves < width // 2:
        assert sum(line.count(c) for line in lines[:-1] for c in "└┴┼┘├┤") >= 1


def test_text_drawing():
    animals = Dendrogram.from_merges([(0, 1), (2, 3), (6, 4), (5, 7)], names=["cat", "dog", "hen", "owl", "trout"])
    assert animals.to_text(30).split("\n") == [
        "┌────────────────┬────── cat",
        "│                └────── dog",
        "│     ┌─────┬─────────── hen",
        "└─────┤     └─────────── owl",
        "      └───────────────── trout",
        "4 ─── merge order ──── 0",
    ]
    names = [line.split(" ", 1)[1] for line in animals.to_text(60, max_leaves=2).split("\n")[:2]]
    assert names == ["cat, dog (2 objects)", "hen, owl, trout (3 objects)"]
    assert animals.to_text(40, max_leaves=99) == animals.to_text(40)


# ---- SVG


def drawn(tree, **shown):
    return ElementTree.fromstring(TreeFigure(tree, **shown).svg())


def names_in(root):
    return [text for text in root.iter(f"{SVG}text") if text.get("class") == "name"]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", [1, 2, 36, 250])
def test_pictures_hold_every_name_inside(n, side):
    tree, style = random_tree(n, 3), TreeStyle(orientation=side)
    root = drawn(tree, labels=tree.cut(min(n, 5)), style=style, support=np.ones(n - 1))
    width, height, texts = float(root.get("width")), float(root.get("height")), names_in(root)
    assert sorted(int(text.text) for text in texts) == list(range(n))
    assert all(0 < float(t.get("x")) < width and 0 < float(t.get("y")) < height for t in texts)
    across = sorted(float(text.get("y" if style.sideways else "x")) for text in texts)
    assert n == 1 or np.diff(across).min() >= float(root.get("font-size")) - 0.1  # no two names overlap
    sized = drawn(tree, style=TreeStyle(700, 990, side))
    assert n == 1 or (float(sized.get("width")), float(sized.get("height"))) == (700, 990)


@given(st.floats(0, 1e4), st.floats(1e-6, 1e6), st.integers(1, 12))
def test_ticks_are_round_few_and_between_the_ends(low, length, most):
    at = np.array(ticks(low, low + length, most))
    step = np.diff(at)
    assert (at >= low - 1e-9 * (low + length)).all() and (at <= (low + length) * (1 + 1e-9)).all()
    assert len(at) <= most + 1 and len(at) * 5 >= most - 4
    if len(at) > 1:
        digits = f"{step[0]:.3e}".split("e")[0]
        assert digits in ("1.000", "2.000", "5.000") and np.allclose(step, step[0])
    assert all(value == int(value) for value in ticks(low, low + length, most, whole=True))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("n", [8, 20])
def test_support_covers_no_badge_name_or_other_support_at_85_mm(n, side):
    "321 pixels are 85 mm."
    linkage = random_tree(n, 1).linkage_matrix.copy()
    linkage[:, 2] **= 5  # many merges near the names
    tree = Dendrogram(linkage)
    shown = dict(labels=tree.cut(4), support=np.linspace(0.3, 1, n - 1), style=TreeStyle(321, None, side))
    root = ElementTree.fromstring(TreeFigure(tree, [f"object {i}" for i in range(n)], **shown).svg())
    support, others = [], []
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size", 12.5))
        long, x, y = text_width(text.text or "", size), float(text.get("x", 0)), float(text.get("y", 0))
        x += float(text.get("dx", 0))
        y += 0 if "em" in text.get("dy", "") else float(text.get("dy", 0))
        x -= long if text.get("text-anchor") == "end" else 0
        if text.get("paint-order") == "stroke":
            support.append((x, y - 6, x + long, y))
        elif text.get("class") == "name":
            others.append((x, y - size / 2, x + long, y + size / 2))
    for badge in root.iter(f"{SVG}g"):
        if badge.get("data-number"):
            x, y = map(float, badge.get("transform").split("(")[1].split(")")[0].split())
            others.append((x - 8, y - 8, x + 8, y + 8))
    assert len(support) >= n / 4 and len(others) == n + 4
    for box in support:
        assert all(apart(box, other) for other in [*others, *support] if other is not box)


def apart(first, second):
    return first[0] >= second[2] or second[0] >= first[2] or first[1] >= second[3] or second[1] >= first[3]


def test_long_names_are_cut_and_said_whole():
    names = [f"object {i} " + "long " * (60 if i == 3 else 0) for i in range(40)]
    root = drawn(random_tree(40, 0), names=names)
    written = [text.text for text in names_in(root)]
    assert sum(text.endswith("…") for text in written) == 1 and 12.5 * 0.5 * max(map(len, written)) < 900
    assert names[3].strip() in [title.text for title in root.iter(f"{SVG}title")]
    for classes in (["short", "long " * 9], ["a"] * 2):
        root = drawn(random_tree(2, 0), labels=[0, 1], names=["a", "b" * 90], classes=classes)
        texts = [list(text.itertext()) for text in names_in(root)]
        assert all(parts[0].endswith(" ") for parts in texts)  # between a name and its class
        cut = sorted(["…" in part for part in parts] for parts in texts)
        assert cut == [[False, False], [True, len(classes[1]) > 1]]
    for text in ("iiiiiiiiii", "WWWWWWWWWW", "some letters", "日本語の名前"):
        for width in (5, 20, 33, 50, 500):
            found = cut_text(text, 10, width)
            assert found == text if text_width(text, 10) <= width else found.endswith("…") and len(found) <= len(text)
            assert text_width(found, 10) <= max(width, text_width("…", 10))


def test_large_trees_are_collapsed():
    assert collapsed_by_default(random_tree(299, 0)) == []
    tree = random_tree(300, 0)
    figure = TreeFigure(tree)
    assert len(figure.ends) == COLLAPSED_TO and len(figure.merges) == COLLAPSED_TO - 1
    assert sum(tree.sizes[figure.ends]) == 300 and len(names_in(drawn(tree))) == COLLAPSED_TO


@pytest.mark.parametrize("argument, value", [("orientation", "up"), ("width", 5), ("height", 1e3)])
def test_bad_styles(argument, value):
    with pytest.raises(InputError, match=f"^{argument} must be"):
        TreeStyle(**{argument: value})


def test_colors_differ_without_green_cones():
    assert least_difference([*PALETTE, ABOVE]) > 10


# ---- Altair


def rows_of(chart):
    "The tables of a chart, the smaller one first."
    return sorted(chart.to_dict()["datasets"].values(), key=len)


def test_chart_data_are_three_lines_a_merge_and_one_row_a_leaf():
    tree = random_tree(240, 0)
    names = [f"object {i}" for i in range(240)]
    chart = tree.chart(labels=np.arange(240) % 11, names=names, label_title="kind", title="T")
    leaves, lines = rows_of(chart)
    assert len(leaves) == 240 and len(lines) == 3 * 239 and [row["y"] for row in leaves] == list(range(240))
    text = chart.to_json()
    assert all(json.dumps(name) in text for name in names) and '"merge order"' in text and '"kind"' in text


def test_chart_colours_pure_branches_only():
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (6, 4), (5, 7)])
    _, lines = rows_of(tree.chart(labels=["m", "m", "b", "b", "f"]))
    found = [[row["c"] for row in lines[i : i + 3]] for i in range(0, 12, 3)]  # both children, then the merge
    assert found == [["m", "m", "m"], ["b", "b", "b"], ["b", "f", None], ["m", None, None]]
    assert [row["n"] for row in lines[::3]] == [2, 2, 3, 5] and [row["h"] for row in lines[::3]] == [1, 2, 3, 4]
    assert [(row["y"], row["y2"]) for row in lines[2::3]] == [(0, 1), (2, 3), (2.5, 4), (0.5, 3.25)]


def test_more_than_eight_classes_differ_in_colour_or_shape_and_mixed_branches_from_all():
    spec = chain(64).chart(labels=range(64)).to_dict()
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")["encoding"]
    looks = list(zip(points["color"]["scale"]["range"], points["shape"]["scale"]["range"]))
    assert len(set(looks)) == 64 and points["color"]["scale"]["domain"] == [str(i) for i in range(64)]
    branches = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "rule")["encoding"]["color"]
    assert least_difference([*PALETTE, branches["value"]]) > 10


@pytest.mark.parametrize("n_leaves, orientation", [(2, "left"), (60, "left"), (60, "top"), (3000, "left")])
def test_charts_render(n_leaves, orientation, tmp_path):
    chart = random_tree(n_leaves, 0).chart(labels=np.arange(n_leaves) % 3, orientation=orientation)
    chart.save(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text().startswith("<svg")


def test_notebook_display():
    data, _ = Dendrogram.from_merges([(0, 1)])._repr_mimebundle_()
    assert data["text/plain"] == "Dendrogram(2 leaves, heights are merge order)" and len(data) > 1
    assert chain(400)._repr_mimebundle_()[0] == {"text/plain": repr(chain(400))}
    assert repr(Dendrogram.from_merges([], [[0, 1]])) == "Dendrogram(1 leaf with 2 objects, heights are merge order)"


@pytest.mark.parametrize("orientation", ["left", "top"])
def test_pictures_stand_beside_names_in_leaf_order(orientation, tmp_path):
    (tmp_path / "b.jpg").write_bytes(b"\xff\xd8\xff" + bytes(9))
    images = [PNG, str(tmp_path / "b.jpg"), tmp_path / "b.jpg", "data:image/png;base64,AAAA", b"GIF89a"]
    tree = Dendrogram.from_merges([(0, 3), (1, 4), (5, 2), (6, 7)], names=list("abcde"))
    spec = tree.chart(images=images, orientation=orientation).to_dict()
    (layer,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "image"]
    shown = {row["name"]: row["image"] for row in spec["datasets"][layer["data"]["name"]]}
    kinds = ["png", "jpeg", "jpeg", "png", "gif"]
    assert [shown[name].split(";")[0] for name in "abcde"] == [f"data:image/{kind}" for kind in kinds]
    assert shown["d"] == images[3] and str(spec).count(images[3]) == 1  # a picture travels once
    assert layer["encoding"]["description"]["field"] == "name"


@pytest.mark.parametrize(
    "bad", [[PNG], "ab", [PNG, b"text"], [PNG, "nowhere.png"], [PNG, 3], [PNG, "data:text/plain,x"], 5]
)
def test_bad_pictures_are_input_errors(bad):
    with pytest.raises(InputError, match="images"):
        Dendrogram.from_merges([(0, 1)]).chart(images=bad)


class Axes:
    "Takes down what a drawing asks Matplotlib for."

    def __init__(self):
        self.calls, self.xaxis, self.yaxis = [], self, self

    def __getattr__(self, name):
        return lambda *args, **options: self.calls.append((name, args))

    def lines(self):
        "{colour order: [(x of four corners), (y of four corners)]} of all branches, one after the other."
        drawn = []
        for name, args in self.calls:
            if name == "plot":
                x, y = (np.asarray(values).reshape(-1, 5)[:, :4].tolist() for values in args)
                drawn += list(zip(x, y))
        return sorted(drawn)


@given(named_trees(least=2), st.sampled_from(["top", "bottom", "left", "right"]))
def test_matplotlib_gets_the_coordinates_of_scipy(tree, side):
    "The same corners, limits and order of leaves; without labels one line holds all branches."
    ax = Axes()
    assert plot_dendrogram(tree, ax, orientation=side) is ax and sum(name == "plot" for name, _ in ax.calls) == 1
    theirs = hierarchy.dendrogram(tree.linkage_matrix, orientation=side, no_plot=True)
    upright = side in ("top", "bottom")
    corners = zip(theirs["icoord"], theirs["dcoord"]) if upright else zip(theirs["dcoord"], theirs["icoord"])
    for (x, y), (x2, y2) in zip(ax.lines(), sorted((list(map(float, x)), list(map(float, y))) for x, y in corners)):
        np.testing.assert_allclose([x, y], [x2, y2])
    calls = dict(ax.calls)
    rows, (low, high) = (calls[name] for name in (("set_xlim", "set_ylim") if upright else ("set_ylim", "set_xlim")))
    assert (low < high) is (side in ("top", "right")) and rows == (0, 10 * tree.n_leaves)
    ticks, texts = calls["set_xticks" if upright else "set_yticks"]
    assert ticks == [10 * i + 5 for i in range(tree.n_leaves)]
    if tree.names is None and tree.n_leaves == tree.n_objects:
        assert texts == list(map(str, theirs["leaves"]))
    assert calls["set_ylabel" if upright else "set_xlabel"] == (tree.height_kind,)


def test_clusters_have_their_colours_on_matplotlib_s_axes():
    answers = pd.DataFrame([("a", "b", "c"), ("b", "a", "c"), ("c", "d", "a"), ("d", "c", "b")])
    model = ComparisonHC("4-al", n_clusters=2).fit(answers)
    assert model.names_ == ("a", "b", "c", "d") and model.labels_.tolist() == [0, 0, 1, 1]
    for draw in (
        model.plot,
        lambda ax: plot_dendrogram(model, ax),
        lambda ax: model.dendrogram_.plot(ax, model.labels_),
    ):
        ax = Axes()
        assert draw(ax) is ax and sum(name == "plot" for name, _ in ax.calls) == 3
    with pytest.raises(InputError, match="fitted before it is drawn"):
        ComparisonHC().plot()
    with pytest.raises(InputError, match="orientation must be one of 'left', 'right'"):
        plot_dendrogram(model, Axes(), orientation="up")
