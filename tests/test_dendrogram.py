"The dendrogram against SciPy and definitions, through files and back, on deep chains, and with every bad input."

import json
import pickle
import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, random_tree

common = settings(deadline=None, derandomize=True, max_examples=80, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def trees(draw, grouped=None, named=None):
    "A random dendrogram: initial clusters or none, names or none, merge order or random heights with ties."
    n_leaves, rng = draw(st.integers(1, 14)), np.random.default_rng(draw(st.integers(0, 2**32)))
    merges, clusters, names = random_tree(n_leaves, rng).children, None, None
    if draw(st.booleans()) if grouped is None else grouped:
        labels = rng.permutation(np.r_[np.arange(n_leaves), rng.integers(n_leaves, size=int(rng.integers(1, 8)))])
        clusters = [np.flatnonzero(labels == c).tolist() for c in range(n_leaves)]
    n = sum(map(len, clusters)) if clusters else n_leaves
    if draw(st.booleans()) if named is None else named:
        names = draw(st.lists(st.text(max_size=8), min_size=n, max_size=n, unique=True))
    tree = Dendrogram.from_merges(merges, clusters, names)
    if draw(st.booleans()):
        return tree
    Z = tree.linkage_matrix.copy()
    Z[:, 2] = np.sort(rng.integers(0, 5, len(Z)) if draw(st.booleans()) else rng.exponential(size=len(Z)))
    return Dendrogram.from_linkage(Z, clusters, names, "distance")


def chain(n_leaves):
    "The deepest tree: every merge adds one leaf."
    return Dendrogram.from_merges(
        np.column_stack([np.r_[0, np.arange(n_leaves, 2 * n_leaves - 2)], np.arange(1, n_leaves)])
    )


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def cluster_sets(tree):
    return {frozenset(members.tolist()) for _, members in tree.clusters()}


# ---- against SciPy


@common
@given(trees(grouped=False))
def test_scipy_reads_the_matrix(tree):
    if tree.n_leaves == 1:
        return
    assert hierarchy.is_valid_linkage(tree.linkage_matrix)
    assert np.array_equal(hierarchy.leaves_list(tree.linkage_matrix), tree.leaf_order())
    assert np.array_equal(squareform(hierarchy.cophenet(tree.linkage_matrix)), tree.lca_height())
    _, nodes = hierarchy.to_tree(tree.linkage_matrix, rd=True)
    assert [sorted(node.pre_order()) for node in nodes] == [sorted(members.tolist()) for _, members in tree.clusters()]


@common
@given(trees(grouped=False), st.floats(-1, 20))
def test_cuts_agree_with_scipy(tree, height):
    if tree.n_leaves == 1:
        return
    if len(set(tree.heights)) == len(tree.heights):  # with ties cut_tree takes an order of its own
        for k in range(1, tree.n_leaves + 1):
            assert same_partition(tree.cut(k), hierarchy.cut_tree(tree.linkage_matrix, k).ravel())
    for h in (height, *tree.heights):
        assert same_partition(tree.cut_height(h), hierarchy.fcluster(tree.linkage_matrix, h, "distance"))


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward", "centroid", "median"])
def test_scipy_methods_inversions_too(method):
    Z = hierarchy.linkage(np.random.default_rng(5).normal(size=(40, 2)), method)
    tree = Dendrogram.from_linkage(Z)
    assert np.array_equal(tree.linkage_matrix, Z)
    assert np.array_equal(tree.lca_height(), squareform(hierarchy.cophenet(Z)))
    for k in (1, 2, 7, 40):
        assert len(set(tree.cut(k))) == k
    for h in np.linspace(0, 3, 25):
        assert same_partition(tree.cut_height(h), hierarchy.fcluster(Z, h, "distance"))
    again = Dendrogram.from_newick(tree.to_newick())
    assert again.same_tree(tree) and np.allclose(again.lca_height(), tree.lca_height())
    tree.chart()
    tree.to_text()


@common
@given(trees(), st.integers(0, 2**32))
def test_rows_out_of_order_are_sorted(tree, seed):
    "Any legal order of the rows gives the same tree, sorted by height: valid for SciPy, and made by other programs."
    rng, K = np.random.default_rng(seed), tree.n_leaves
    made, ready, number = [], [row for row in range(K - 1) if (tree.children[row] < K).all()], np.arange(2 * K - 1)
    while ready:
        row = ready.pop(int(rng.integers(len(ready))))
        number[K + row] = K + len(made)
        made.append(row)
        parent = int(tree.parents[K + row]) - K
        if parent < K - 1 and all(child < K or child - K in made for child in tree.children[parent].tolist()):
            ready.append(parent)
    Z = np.column_stack([number[tree.children[made]], tree.linkage_matrix[made, 2:]])
    found = Dendrogram.from_linkage(Z, tree.initial_clusters)
    assert found.same_tree(tree) and np.array_equal(found.heights, np.sort(tree.heights))
    assert np.array_equal(found.lca_height(), tree.lca_height())
    if len(set(tree.heights)) == K - 1:
        assert all(np.array_equal(found.cut(k), tree.cut(k)) for k in range(1, K + 1))


def test_a_merge_at_a_low_height_is_undone_last():
    assert Dendrogram.from_linkage([[0, 1, 3, 2], [2, 3, 1, 2], [4, 5, 5, 4]]).cut(3).tolist() == [1, 2, 0, 0]


def test_sklearn_children_convention():
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters=3).fit(np.random.default_rng(0).normal(size=(25, 2)))
    assert same_partition(Dendrogram.from_merges(model.children_).cut(3), model.labels_)
    assert np.array_equal(Dendrogram.from_merges(model.children_).children, model.children_)


# ---- against definitions


@common
@given(trees())
def test_common_ancestors_by_definition(tree):
    clusters = [set(members.tolist()) for _, members in tree.clusters()]
    size, step, height = tree.lca_size(), tree.lca_step(), tree.lca_height()
    for i in range(tree.n_objects):
        for j in range(tree.n_objects):
            node = min((c for c in range(len(clusters)) if {i, j} <= clusters[c]), key=lambda c: len(clusters[c]))
            assert size[i, j] == len(clusters[node])
            assert step[i, j] == max(0, node - tree.n_leaves + 1)
            assert height[i, j] == (tree.heights[step[i, j] - 1] if step[i, j] else 0)


@common
@given(trees())
def test_cut_gives_exactly_k_clusters_of_the_tree_numbered_by_size(tree):
    known = cluster_sets(tree)
    for k in range(1, tree.n_leaves + 1):
        labels = tree.cut(k)
        assert sorted(set(labels)) == list(range(k)) and labels.shape == (tree.n_objects,)
        places = [(-int(np.sum(labels == c)), int(np.argmax(labels == c))) for c in range(k)]
        assert places == sorted(places)
        assert {frozenset(np.flatnonzero(labels == c).tolist()) for c in range(k)} <= known
    step = tree.lca_step()  # two objects are together iff their merge was not undone
    for k in range(1, tree.n_leaves + 1):
        labels = tree.cut(k)
        assert np.array_equal(labels[:, None] == labels, step <= tree.n_leaves - k)


@common
@given(trees(), st.integers(0, 2**32))
def test_relabelling_objects_relabels_the_tree(tree, seed):
    order = np.random.default_rng(seed).permutation(tree.n_objects)
    moved = tree.relabel(order)
    assert np.array_equal(moved.lca_size(), tree.lca_size()[np.ix_(order, order)])
    assert np.array_equal(moved.lca_height(), tree.lca_height()[np.ix_(order, order)])
    assert all(same_partition(moved.cut(k), tree.cut(k)[order]) for k in range(1, tree.n_leaves + 1))
    assert moved.names == (tree.names and tuple(tree.names[i] for i in order))
    assert moved.relabel(np.argsort(order)).same_tree(tree)
    if tree.n_leaves == tree.n_objects:
        assert moved.initial_clusters == tuple((i,) for i in range(tree.n_objects))


@common
@given(trees(), st.data())
def test_coarsen_keeps_the_last_merges(tree, data):
    k = data.draw(st.integers(1, tree.n_leaves))
    coarse = tree.coarsen(k)
    assert coarse.n_leaves == k and coarse.n_objects == tree.n_objects and coarse.names == tree.names
    assert np.array_equal(coarse.heights, tree.heights[tree.n_leaves - k :])
    for j in range(1, k + 1):
        assert np.array_equal(coarse.cut(j), tree.cut(j))


@common
@given(trees(grouped=False), trees(grouped=False), st.data())
def test_same_tree_is_equality_of_cluster_sets(tree, other, data):
    assert tree.same_tree(other) == (cluster_sets(tree) == cluster_sets(other))
    if tree.n_leaves > 2:  # a near miss: two objects exchanged
        i, j = data.draw(st.lists(st.integers(0, tree.n_leaves - 1), min_size=2, max_size=2, unique=True))
        order = np.arange(tree.n_leaves)
        order[[i, j]] = order[[j, i]]
        assert tree.same_tree(tree.relabel(order)) == (cluster_sets(tree) == cluster_sets(tree.relabel(order)))
    turned = Dendrogram.from_merges(tree.children[:, ::-1], names=tree.names)
    assert tree.same_tree(turned) and turned.same_tree(tree)


def test_same_tree_sees_initial_clusters():
    pairs, other = (
        Dendrogram.from_merges([(0, 1)], [[0, 1], [2, 3]]),
        Dendrogram.from_merges([(0, 1)], [[0, 2], [1, 3]]),
    )
    assert not pairs.same_tree(other) and pairs.same_tree(Dendrogram.from_merges([(0, 1)], [[3, 2], [1, 0]]))
    assert not pairs.same_tree(Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)]))


# ---- round trips


@common
@given(trees())
def test_newick_round_trip(tree):
    again = Dendrogram.from_newick(tree.to_newick(), names=tree.names)
    assert again.same_tree(tree) and again.names == tree.names
    assert np.array_equal(again.lca_height(), tree.lca_height())  # bit for bit
    if len(set(tree.heights)) == len(tree.heights) and tree.n_leaves == tree.n_objects:
        assert np.array_equal(again.linkage_matrix, tree.linkage_matrix)
    if tree.n_leaves > 1 and tree.height_kind == "merge order":
        assert again.height_kind == "merge order"


@pytest.mark.parametrize(
    "name",
    ["two words", "O'Brien", "a(b)c", "x,y;z:w", "[c]", "日本語", "🦉", "", "a_b", "line\nbreak", '"', "-1", "'", "''"],
)
def test_newick_names(name):
    tree = Dendrogram.from_merges([(0, 1)], names=[name, "other"])
    assert Dendrogram.from_newick(tree.to_newick()) == tree


def test_newick_written_elsewhere():
    tree = Dendrogram.from_newick(
        " ( (Homo_sapiens:6.5 , 'Pan paniscus':6.5)0.98:1e1, [a comment, (with marks);] Gorilla:16.5 )root ;\n"
    )
    assert (
        tree.names == ("Homo_sapiens", "Pan paniscus", "Gorilla")
        and tree.heights.tolist() == [6.5, 16.5]
        and tree.height_kind == "height"
    )
    levels = Dendrogram.from_newick("(((a,b),c),(d,e));")
    assert levels.height_kind == "level" and levels.heights.tolist() == [1, 1, 2, 3]
    assert Dendrogram.from_newick("(a,b,c,d);").heights.tolist() == [1, 1, 1]  # a polytomy, at one height
    assert Dendrogram.from_newick("((a));").names == ("a",) and Dendrogram.from_newick("a;").n_leaves == 1
    assert Dendrogram.from_newick("(a:1,(b:1):2);").heights.tolist() == [3.0]  # a node with one child is no merge
    assert Dendrogram.from_newick("((2:1,0:1):1,1:2);").names is None
    assert Dendrogram.from_newick("((2:1,0:1):1,1:2);").children.tolist() == [[2, 0], [3, 1]]
    assert Dendrogram.from_newick("(a:1,b:3);").heights.tolist() == [3.0]
    assert Dendrogram.from_newick("(a:1,b:1);", height_kind="years").height_kind == "years"
    assert Dendrogram.from_newick("(a:1,b:1);", names=["b", "a"]).children.tolist() == [[1, 0]]
    assert Dendrogram.from_newick("((a:0,b:0)x[&initial]:1,c:1);").initial_clusters == ((0, 1), (2,))
    assert Dendrogram.from_newick("((a:0,b:0,c:0)[&Initial]:1,d:1);").initial_clusters == ((0, 1, 2), (3,))


@pytest.mark.parametrize(
    "text, names",
    [
        ("((A[x[y]z]:1,B:1):1,C:2);", "ABC"),
        ("\ufeff(A,B);", "AB"),
        ('(("a dog","b, c"),d);', ["a dog", "b, c", "d"]),
        ("(A[&&NHX:S=x[1[2]]],B);", "AB"),
        ("('#H1',B);", ["#H1", "B"]),
        ("(A#1,B);", ["A#1", "B"]),
    ],
)
def test_newick_as_other_programs_write_it(text, names):
    assert Dendrogram.from_newick(text).names == tuple(names)


@pytest.mark.parametrize(
    "text, rule", [("(a,b)", "';' at the end"), ("(a,#H1);", "network"), ("(a b,c);", "blanks"), ("(a,b));", "as '('")]
)
def test_bad_newick_says_what_is_wrong(text, rule):
    with pytest.raises(InputError, match=re.escape(rule)):
        Dendrogram.from_newick(text)


def test_a_mark_at_a_leaf_is_that_leaf():
    assert Dendrogram.from_newick("(a:1[&initial],b:1);") == Dendrogram.from_newick("(a:1,b:1);")


def test_one_object_is_legal_everywhere():
    for tree in (
        Dendrogram.from_merges([]),
        Dendrogram.from_linkage(np.empty((0, 4))),
        Dendrogram(np.empty((0, 4)), [[0, 1]], ["a", "b"]),
    ):
        n = tree.n_objects
        assert (
            tree.n_leaves == 1
            and tree.children.shape == (0, 2)
            and tree.cut(1).tolist() == [0] * n
            and tree.cut_height(0).tolist() == [0] * n
        )
        assert (
            tree.lca_size().tolist() == [[n] * n] * n
            and tree.leaf_order().tolist() == list(range(n))
            and len(list(tree.clusters())) == 1
        )
        assert Dendrogram.from_newick(tree.to_newick()).same_tree(tree)
        assert tree.relabel(range(n)).same_tree(tree) and tree.coarsen(1) is tree and tree.to_text()
        assert tree.chart(labels=["x"] * n).to_dict()


@common
@given(trees())
def test_a_value(tree):
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree and hash(again) == hash(tree) and not again.linkage_matrix.flags.writeable
    assert tree != 3 and tree == Dendrogram(
        *[getattr(tree, f) for f in ("linkage_matrix", "initial_clusters", "names", "height_kind")]
    )
    for array in (tree.linkage_matrix, tree.children, tree.sizes, tree.starts, tree.leaf_order()):
        with pytest.raises(ValueError):
            array[...] = 0
    with pytest.raises(AttributeError):
        tree.names = None


def test_random_trees_draw_two_numbers_a_merge():
    "The same seed gives the same tree; stored results hang on these bits."
    assert random_tree(6, 3).children.tolist() == random_tree(6, np.random.default_rng(3)).children.tolist()
    rng, alive, merges = np.random.default_rng(7), list(range(9)), []
    for new in range(9, 17):
        merges.append([alive.pop(rng.integers(len(alive))) for _ in range(2)])
        alive.append(new)
    assert random_tree(9, 7).children.tolist() == merges and random_tree(1, 0).n_leaves == 1
    with pytest.raises(InputError, match="^n_objects must be"):
        random_tree(0, 0)


def test_the_callers_data_stay():
    Z = hierarchy.linkage(np.arange(5.0)[:, None] ** 2)
    kept = Z.copy()
    tree = Dendrogram.from_linkage(Z)
    assert np.array_equal(Z, kept) and Z.flags.writeable
    Z[:] = 0
    assert np.array_equal(tree.linkage_matrix, kept)
    assert Dendrogram.from_merges([(0, 1)], names=[1, 2.5]).names == ("1", "2.5")


# ---- drawings


@common
@given(trees(), st.integers(20, 120))
def test_text_has_a_line_a_leaf(tree, width):
    lines = tree.to_text(width).split("\n")
    assert len(lines) == (tree.n_leaves + 1 if tree.n_leaves > 1 else 1)
    assert all(len(line) <= width for line in lines[: tree.n_leaves])
    if tree.n_leaves > 1 and tree.n_leaves < width // 2:
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
    assert [line.split(" ", 1)[1] for line in animals.to_text(60, max_leaves=2).split("\n")[:2]] == [
        "cat, dog (2 objects)",
        "hen, owl, trout (3 objects)",
    ]
    assert animals.to_text(40, max_leaves=99) == animals.to_text(40)


def all_rows(chart):
    return {key: rows for key, rows in chart.to_dict()["datasets"].items()}


def test_chart_data_are_three_lines_a_merge_and_one_row_a_leaf():
    Z = hierarchy.linkage(np.random.default_rng(0).normal(size=(240, 2)), "average")
    names = [f"object {i}" for i in range(240)]
    chart = Dendrogram.from_linkage(Z, names=names, height_kind="average distance").chart(
        labels=np.arange(240) % 11, label_title="kind", title="T"
    )
    assert sorted(map(len, all_rows(chart).values())) == [240, 3 * 239]
    text = chart.to_json()
    assert all(json.dumps(name) in text for name in names) and '"average distance"' in text and '"kind"' in text
    leaves = min(all_rows(chart).values(), key=len)
    assert [row["y"] for row in leaves] == list(range(240)) and chart.height / 240 >= 11


def test_chart_colours_pure_branches_only():
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (6, 4), (5, 7)])
    lines = max(all_rows(tree.chart(labels=["m", "m", "b", "b", "f"])).values(), key=len)
    found = [[row["c"] for row in lines[i : i + 3]] for i in range(0, 12, 3)]  # both children, then the merge
    assert found == [["m", "m", "m"], ["b", "b", "b"], ["b", "f", None], ["m", None, None]]
    assert [row["n"] for row in lines[::3]] == [2, 2, 3, 5] and [row["h"] for row in lines[::3]] == [1, 2, 3, 4]
    assert [(row["y"], row["y2"]) for row in lines[2::3]] == [(0, 1), (2, 3), (2.5, 4), (0.5, 3.25)]


def test_more_than_eight_classes_differ_in_colour_or_shape():
    spec = Dendrogram.from_merges(chain(64).children).chart(labels=range(64)).to_dict()
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")["encoding"]
    looks = list(zip(points["color"]["scale"]["range"], points["shape"]["scale"]["range"]))
    assert len(set(looks)) == 64 and points["color"]["scale"]["domain"] == [str(i) for i in range(64)]


def seen_without_green_cones(colour):
    "CIELAB of"  # rrggbb" as a deuteranope sees it (Machado, Oliveira and Fernandes 2009, severity 1)."
    code = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    seen = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = to_xyz @ np.clip(seen @ linear, 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_branches_where_classes_meet_look_like_no_class_to_the_colour_blind():
    spec = Dendrogram.from_merges(chain(9).children).chart(labels=range(9)).to_dict()
    mixed, classes = set(), set()
    for layer in spec["layer"]:
        colour = layer["encoding"].get("color", {})
        mixed |= {colour["value"]} if "condition" in colour and "value" in colour else set()
        classes |= set(colour.get("condition", {}).get("scale", {}).get("range", []))
    assert len(mixed) == 1 and len(classes) == 8
    (grey,) = map(seen_without_green_cones, mixed)
    assert min(np.linalg.norm(grey - seen_without_green_cones(colour)) for colour in classes) > 25


@pytest.mark.parametrize("n_leaves, orientation", [(2, "left"), (60, "left"), (60, "top"), (3000, "left")])
def test_charts_render(n_leaves, orientation, tmp_path):
    Z = hierarchy.linkage(np.random.default_rng(0).normal(size=(n_leaves, 2)), "average")
    Dendrogram.from_linkage(Z).chart(labels=np.arange(n_leaves) % 3, orientation=orientation).save(
        tmp_path / "tree.svg"
    )
    assert (tmp_path / "tree.svg").read_text().startswith("<svg")


def test_notebook_display():
    tree = Dendrogram.from_merges([(0, 1)])
    data = tree._repr_mimebundle_()
    assert (
        (data[0] if isinstance(data, tuple) else data)["text/plain"]
        == repr(tree)
        == "Dendrogram(2 leaves, heights are merge order)"
    )
    assert chain(400)._repr_mimebundle_()[0] == {"text/plain": repr(chain(400))}
    assert repr(Dendrogram.from_merges([], [[0, 1]])) == "Dendrogram(1 leaf with 2 objects, heights are merge order)"


# ---- deep trees


def test_chain_of_20000_leaves():
    n, limit = 20_000, sys.getrecursionlimit()
    tree = chain(n)
    assert hierarchy.is_valid_linkage(tree.linkage_matrix)
    for k in (1, 2, 10_000, n):
        assert tree.cut(k).max() == k - 1
    assert np.array_equal(tree.cut_height(10_000), tree.cut(n - 10_000)) and np.array_equal(
        tree.leaf_order(), np.arange(n)
    )
    assert Dendrogram.from_newick(tree.to_newick()) == tree
    assert Dendrogram.from_linkage(tree.linkage_matrix, height_kind="merge order") == tree
    moved = tree.relabel(np.arange(n)[::-1])
    assert not moved.same_tree(tree) and moved.relabel(np.arange(n)[::-1]).same_tree(tree)
    assert tree.coarsen(1000).n_leaves == 1000
    assert tree.to_text().count("\n") == n and tree.to_text(max_leaves=20).count("\n") == 20
    assert repr(tree) and pickle.loads(pickle.dumps(tree)) == tree and sys.getrecursionlimit() == limit


def test_all_clusters_of_a_chain_of_5000_leaves():
    "Their members are n²/2 numbers."
    n = 5_000
    assert sum(len(members) for _, members in chain(n).clusters()) == n + n * (n + 1) // 2 - 1


# ---- bad input

Z3 = [[0, 1, 1, 2], [3, 2, 2, 3]]
tree3 = Dendrogram.from_linkage(Z3)


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda: Dendrogram.from_linkage("Z"), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, 1, 1]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, 1, 1, 2], [2, 3]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage(np.empty((3, 0))), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, 1, -1, 2]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, 1, np.nan, 2]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, 1, 1, 3]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, 2, 1, 2]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage([[0, np.nan, 1, 2]]), "linkage_matrix"),
        (lambda: Dendrogram.from_linkage(Z3, height_kind=""), "height_kind"),
        (lambda: Dendrogram.from_linkage(Z3, height_kind=None), "height_kind"),
        (lambda: Dendrogram.from_merges([(0, 0)]), "merges"),
        (lambda: Dendrogram.from_merges([(0, 1), (1, 2)]), "merges"),
        (lambda: Dendrogram.from_merges([(0, 4), (1, 2)]), "merges"),
        (lambda: Dendrogram.from_merges([(-1, 1)]), "merges"),
        (lambda: Dendrogram.from_merges([(0, 0.5)]), "merges"),
        (lambda: Dendrogram.from_merges([(0, 1, 2)]), "merges"),
        (lambda: Dendrogram.from_merges([(0, 1), (2,)]), "merges"),
        (lambda: Dendrogram.from_merges([("a", "b")]), "merges"),
        (lambda: Dendrogram.from_merges(None), "merges"),
        (lambda: Dendrogram.from_merges([(0, 1)], [[0], [1], [2]]), "initial_clusters"),
        (lambda: Dendrogram.from_merges([(0, 1)], [[0], []]), "initial_clusters"),
        (lambda: Dendrogram.from_merges([(0, 1)], [[0, 1], [1]]), "initial_clusters"),
        (lambda: Dendrogram.from_merges([(0, 1)], [[0], [2]]), "initial_clusters"),
        (lambda: Dendrogram.from_merges([(0, 1)], [[0], [1.0]]), "initial_clusters"),
        (lambda: Dendrogram.from_merges([(0, 1)], [0, 1]), "initial_clusters"),
        (lambda: Dendrogram.from_merges([(0, 1)], names=["a"]), "names"),
        (lambda: Dendrogram.from_merges([(0, 1)], names=["a", "a"]), "names"),
        (lambda: Dendrogram.from_merges([(0, 1)], names=["a", None]), "names"),
        (lambda: Dendrogram.from_merges([(0, 1)], names=["a", float("nan")]), "names"),
        (lambda: Dendrogram.from_merges([(0, 1)], names="ab"), "names"),
        (lambda: Dendrogram.from_merges([(0, 1)], names=7), "names"),
        (lambda: tree3.cut(0), "n_clusters"),
        (lambda: tree3.cut(4), "n_clusters"),
        (lambda: tree3.cut(2.0), "n_clusters"),
        (lambda: tree3.coarsen(4), "n_clusters"),
        (lambda: tree3.cut_height("1"), "height"),
        (lambda: tree3.cut_height(np.nan), "height"),
        (lambda: tree3.relabel([0, 1]), "order"),
        (lambda: tree3.relabel([0, 1, 1]), "order"),
        (lambda: tree3.same_tree(Z3), "other"),
        (lambda: tree3.chart(labels=["a"]), "labels"),
        (lambda: tree3.chart(labels=["a", "b", None]), "labels"),
        (lambda: tree3.chart(names=["a"]), "names"),
        (lambda: tree3.chart(orientation="right"), "orientation"),
        (lambda: tree3.chart(width=0), "width"),
        (lambda: tree3.chart(height=0), "height"),
        (lambda: tree3.to_text(width=5), "width"),
        (lambda: tree3.to_text(max_leaves=0), "max_leaves"),
        (lambda: Dendrogram.from_newick(None), "text"),
        (lambda: Dendrogram.from_newick("(a:1,b:1);", names=["a", "c"]), "names"),
        (lambda: Dendrogram.from_newick("(a:1,b:1);", names=["a"]), "names"),
        (lambda: Dendrogram.from_newick("(a:1,b:1);", height_kind=3), "height_kind"),
    ],
)
def test_bad_input_names_the_argument(call, argument):
    with pytest.raises(InputError, match=rf"^{argument} must be "):
        call()


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "(a,b)",
        "(a,b",
        "a,b;",
        "(a,b));",
        "((a,b);",
        "(a,,b);",
        "(,a);",
        "();",
        "(a b,c);",
        "(a'b',c);",
        "(a:x,b:1);",
        "(a:,b:1);",
        "(a::1,b:1);",
        "(a:inf,b:1);",
        "(a:1,b);",
        "(a,a);",
        "(a,b);c",
        "(a,b);(c,d);",
        "('a,b);",
        "(a[x,b);",
        "(a:-1,b:-1);",
        "a(b,c);",
        "(a,b)(c,d);",
        "((a,(b,c))[&initial],d);",
        "(a,b]);",
        "('a,b);",
        '("a,b);',
        "(a[x[y],b);",
        "((A:1,(B:1)#H1:0):1,(#H1:0,C:1):1);",
        "(a:1e99999,b:1);",
        "(a:nan,b:1);",
    ],
)
def test_bad_newick_says_text(text):
    with pytest.raises(InputError, match=r"^text must be "):
        Dendrogram.from_newick(text)


@common
@given(st.text(alphabet="(),:;ab1'[]& ", max_size=30))
def test_any_text_is_a_tree_or_an_input_error(text):
    try:
        tree = Dendrogram.from_newick(text)
    except InputError:
        return
    assert Dendrogram.from_newick(tree.to_newick(), names=tree.names).same_tree(tree)


# ---- pictures at the leaves

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def layers_of(chart, kind):
    return [layer for layer in chart.to_dict(validate=False)["layer"] if layer["mark"]["type"] == kind]


@pytest.mark.parametrize("orientation", ["left", "top"])
def test_pictures_stand_beside_names_in_leaf_order(orientation, tmp_path):
    (tmp_path / "b.jpg").write_bytes(b"\xff\xd8\xff" + bytes(9))
    images = [PNG, str(tmp_path / "b.jpg"), tmp_path / "b.jpg", "data:image/png;base64,AAAA", b"GIF89a"]
    chart = Dendrogram.from_merges([(0, 3), (1, 4), (5, 2), (6, 7)], names=list("abcde")).chart(
        images=images, orientation=orientation
    )
    (image,) = layers_of(chart, "image")
    data = image["data"]
    shown = {
        row["name"]: row["image"]
        for row in (data["values"] if "values" in data else chart.to_dict(validate=False)["datasets"][data["name"]])
    }
    assert str(chart.to_dict(validate=False)).count(images[3]) == 1  # a picture travels once
    assert [shown[name].split(";")[0] for name in "abcde"] == [
        "data:image/png",
        "data:image/jpeg",
        "data:image/jpeg",
        "data:image/png",
        "data:image/gif",
    ] and shown["d"] == images[3]
    assert len(layers_of(chart, "text")) == 1 and image["encoding"]["description"]["field"] == "name"


def test_without_pictures_a_chart_has_none():
    assert layers_of(Dendrogram.from_merges([(0, 1)]).chart(), "image") == []


@pytest.mark.parametrize(
    "bad", [[PNG], "ab", [PNG, b"text"], [PNG, "nowhere.png"], [PNG, 3], [PNG, "data:text/plain,x"], 5]
)
def test_bad_pictures_are_input_errors(bad):
    with pytest.raises(InputError, match="images"):
        Dendrogram.from_merges([(0, 1)]).chart(images=bad)
