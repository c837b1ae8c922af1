"The dendrogram: against SciPy and definitions, under renaming, on deep chains, with every bad input."

import pickle
import sys

import numpy as np
import pytest
from definitions import clusters_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from shared import chain, named_trees

from comparison_hc.core._rows import relabel_by_size
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, random_tree

common = settings(deadline=None, derandomize=True, max_examples=80, suppress_health_check=[HealthCheck.too_slow])


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


# ---- against SciPy


@common
@given(named_trees(grouped=False, least=2), st.floats(-1, 20))
def test_scipy_reads_the_matrix_and_cuts_alike(tree, height):
    Z = tree.linkage_matrix
    assert hierarchy.is_valid_linkage(Z) and np.array_equal(hierarchy.leaves_list(Z), tree.leaf_order())
    assert np.array_equal(squareform(hierarchy.cophenet(Z)), tree.lca_height())
    _, nodes = hierarchy.to_tree(Z, rd=True)
    assert [sorted(node.pre_order()) for node in nodes] == [sorted(members.tolist()) for _, members in tree.clusters()]
    if len(set(tree.heights)) == len(tree.heights):  # with ties cut_tree takes an order of its own
        for k in range(1, tree.n_leaves + 1):
            assert same_partition(tree.cut(k), hierarchy.cut_tree(Z, k).ravel())
    for h in (height, *tree.heights):
        assert same_partition(tree.cut_height(h), hierarchy.fcluster(Z, h, "distance"))


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward", "centroid", "median"])
def test_scipy_methods_inversions_too(method):
    Z = hierarchy.linkage(np.random.default_rng(5).normal(size=(40, 2)), method)
    tree = Dendrogram.from_linkage(Z)
    assert np.array_equal(tree.linkage_matrix, Z) and [len(set(tree.cut(k))) for k in (1, 7, 40)] == [1, 7, 40]
    for h in np.linspace(0, 3, 25):
        assert same_partition(tree.cut_height(h), hierarchy.fcluster(Z, h, "distance"))
    again = Dendrogram.from_newick(tree.to_newick())
    assert again.same_tree(tree) and np.allclose(again.lca_height(), tree.lca_height())
    assert tree.chart() and tree.to_text()


@common
@given(named_trees(), st.integers(0, 2**32))
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


def test_a_low_merge_in_a_late_row_is_undone_last():
    assert Dendrogram.from_linkage([[0, 1, 3, 2], [2, 3, 1, 2], [4, 5, 5, 4]]).cut(3).tolist() == [1, 2, 0, 0]


def test_sklearn_children_convention():
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters=3).fit(np.random.default_rng(0).normal(size=(25, 2)))
    tree = Dendrogram.from_merges(model.children_)
    assert same_partition(tree.cut(3), model.labels_) and np.array_equal(tree.children, model.children_)


# ---- against definitions


@common
@given(named_trees())
def test_common_ancestors_by_definition(tree):
    clusters = [set(members.tolist()) for _, members in tree.clusters()]
    size, step, height = tree.lca_size(), tree.lca_step(), tree.lca_height()
    for i, j in np.ndindex(tree.n_objects, tree.n_objects):
        node = min((c for c in range(len(clusters)) if {i, j} <= clusters[c]), key=lambda c: len(clusters[c]))
        assert size[i, j] == len(clusters[node]) and step[i, j] == max(0, node - tree.n_leaves + 1)
        assert height[i, j] == (tree.heights[step[i, j] - 1] if step[i, j] else 0)


@common
@given(named_trees())
def test_cut_gives_exactly_k_clusters_of_the_tree_numbered_by_size(tree):
    known, step, members = clusters_of(tree), tree.lca_step(), dict(tree.clusters())
    for k in range(1, tree.n_leaves + 1):
        labels = tree.cut(k)
        clusters = [frozenset(np.flatnonzero(labels == c).tolist()) for c in range(k)]
        keys = [(-len(cluster), min(cluster)) for cluster in clusters]
        assert keys == sorted(keys) and labels.max() == k - 1 and set(clusters) <= known
        assert set(clusters) == {frozenset(members[node].tolist()) for node in tree.cut_nodes(k).tolist()}
        assert np.array_equal(labels[:, None] == labels, step <= tree.n_leaves - k)  # their merge was not undone
    assert all(np.array_equal(found, relabel_by_size(found)) for found in map(tree.cut_height, tree.heights))


@common
@given(named_trees(), st.integers(0, 2**32))
def test_renaming_objects_renames_the_tree(tree, seed):
    order = np.random.default_rng(seed).permutation(tree.n_objects)
    moved = tree.relabel(order)
    assert np.array_equal(moved.lca_size(), tree.lca_size()[np.ix_(order, order)])
    assert np.array_equal(moved.lca_height(), tree.lca_height()[np.ix_(order, order)])
    assert all(same_partition(moved.cut(k), tree.cut(k)[order]) for k in range(1, tree.n_leaves + 1))
    assert moved.names == (tree.names and tuple(tree.names[i] for i in order))
    assert moved.relabel(np.argsort(order)).same_tree(tree)
    assert tree.n_leaves < tree.n_objects or moved.initial_clusters == tuple((i,) for i in range(tree.n_objects))


@common
@given(named_trees(), st.data())
def test_coarsen_keeps_the_last_merges(tree, data):
    k = data.draw(st.integers(1, tree.n_leaves))
    coarse = tree.coarsen(k)
    assert coarse.n_leaves == k and coarse.n_objects == tree.n_objects and coarse.names == tree.names
    assert np.array_equal(coarse.heights, tree.heights[tree.n_leaves - k :])
    assert all(np.array_equal(coarse.cut(j), tree.cut(j)) for j in range(1, k + 1))


@common
@given(named_trees(), named_trees(), st.data())
def test_same_tree_is_equality_of_cluster_sets(tree, other, data):
    i, j = (data.draw(st.integers(0, tree.n_objects - 1)) for _ in range(2))
    order = np.arange(tree.n_objects)
    order[[i, j]] = order[[j, i]]  # a near miss: two objects exchanged
    for second in (other, tree.relabel(order)):
        equal = tree.n_leaves == second.n_leaves and clusters_of(tree) == clusters_of(second)
        assert tree.same_tree(second) == second.same_tree(tree) == equal
    assert tree.same_tree(Dendrogram.from_merges(tree.children[:, ::-1], tree.initial_clusters))


@common
@given(named_trees())
def test_a_value(tree):
    fields = [getattr(tree, name) for name in ("linkage_matrix", "initial_clusters", "names", "height_kind")]
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree == Dendrogram(*fields) != 3 and hash(again) == hash(tree)
    for array in (tree.linkage_matrix, again.linkage_matrix, tree.children, tree.sizes, tree.starts, tree.leaf_order()):
        with pytest.raises(ValueError):
            array[...] = 0
    with pytest.raises(AttributeError):
        tree.names = None


def test_the_callers_data_stay():
    Z = hierarchy.linkage(np.arange(5.0)[:, None] ** 2)
    kept, tree = Z.copy(), Dendrogram.from_linkage(Z)
    assert np.array_equal(Z, kept) and Z.flags.writeable
    Z[:] = 0
    assert np.array_equal(tree.linkage_matrix, kept)
    assert Dendrogram.from_merges([(0, 1)], names=[1, 2.5]).names == ("1", "2.5")


def test_random_trees_draw_two_numbers_a_merge():
    "The same seed gives the same tree; stored results depend on these bits."
    rng, alive, merges = np.random.default_rng(7), list(range(9)), []
    for new in range(9, 17):
        merges.append([alive.pop(rng.integers(len(alive))) for _ in range(2)])
        alive.append(new)
    assert random_tree(9, 7).children.tolist() == random_tree(9, np.random.default_rng(7)).children.tolist() == merges
    assert random_tree(1, 0).n_leaves == 1


@pytest.mark.parametrize("grouped", [False, True])
def test_one_leaf_is_legal_everywhere(grouped):
    tree = Dendrogram(np.empty((0, 4)), [[0, 1]], ["a", "b"]) if grouped else Dendrogram.from_merges([])
    n = tree.n_objects
    assert tree.n_leaves == 1 and tree.children.shape == (0, 2) and len(list(tree.clusters())) == 1
    assert tree.cut(1).tolist() == tree.cut_height(0).tolist() == [0] * n and tree.leaf_order().tolist() == [*range(n)]
    assert tree.lca_size().tolist() == [[n] * n] * n and tree.relabel(range(n)).same_tree(tree)
    assert Dendrogram.from_newick(tree.to_newick()).same_tree(tree) and tree.coarsen(1) == tree and tree.to_text()
    assert tree.chart(labels=["x"] * n).to_dict()


def test_chain_of_20000_leaves():
    n, limit, tree = 20_000, sys.getrecursionlimit(), chain(20_000)
    assert hierarchy.is_valid_linkage(tree.linkage_matrix) and np.array_equal(tree.leaf_order(), np.arange(n))
    assert all(tree.cut(k).max() == k - 1 for k in (1, 2, 10_000, n))
    assert np.array_equal(tree.cut_height(10_000), tree.cut(n - 10_000)) and tree.coarsen(1000).n_leaves == 1000
    assert Dendrogram.from_newick(tree.to_newick()) == tree == pickle.loads(pickle.dumps(tree))
    assert Dendrogram.from_linkage(tree.linkage_matrix, height_kind="merge order") == tree
    moved = tree.relabel(np.arange(n)[::-1])
    assert not moved.same_tree(tree) and moved.relabel(np.arange(n)[::-1]).same_tree(tree)
    assert tree.to_text().count("\n") == n and tree.to_text(max_leaves=20).count("\n") == 20
    assert sys.getrecursionlimit() == limit  # and members that are n²/2 numbers are views of one array:
    assert sum(len(members) for _, members in chain(5000).clusters()) == 5000 + 5000 * 5001 // 2 - 1


# ---- bad input

MERGES, Z3 = Dendrogram.from_merges, [[0, 1, 1, 2], [3, 2, 2, 3]]
TREE3 = Dendrogram.from_linkage(Z3)
BAD = {  # what the values of `test_bad_input` do not reach
    "linkage_matrix": [
        lambda value=value: Dendrogram.from_linkage(value)
        for value in (
            *("Z", [[0, 1, 1]], [[0, 1, 1, 2], [2, 3]], np.empty((3, 0)), [[0, 1, -1, 2]], [[0, 1, np.nan, 2]]),
            *([[0, 1, 1, 3]], [[0, 2, 1, 2]], [[0, np.nan, 1, 2]], [[0, 1, 1j, 2]]),
        )
    ],
    "merges": [
        lambda value=value: MERGES(value)
        for value in ([(0, 0)], [(0, 1), (1, 2)], [(0, 4), (1, 2)], [(-1, 1)], [(0, 0.5)], [(0, 1), (2,)])
    ],
    "initial_clusters": [
        lambda value=value: MERGES([(0, 1)], value)
        for value in ([[0], [1], [2]], [[0], []], [[0, 1], [1]], [[0], [2]], [[0], [1.0]], [0, 1], [[0], [True]])
    ],
    "height_kind": [lambda value=value: Dendrogram.from_linkage(Z3, height_kind=value) for value in ("", None)],
    "height": [lambda: TREE3.cut_height("1"), lambda: TREE3.cut_height(np.nan), lambda: TREE3.chart(height=0)],
    "order": [lambda: TREE3.relabel([0, 1]), lambda: TREE3.relabel([0, 1, 1])],
    "other": [lambda: TREE3.same_tree(Z3)],
    "support": [lambda: TREE3.to_newick([0.5]), lambda: TREE3.to_newick(["a", "b"])],
    "clusters": [lambda: TREE3.to_newick(clusters=[0, 1]), lambda: TREE3.to_newick(clusters=[0.5, 1, 1])],
    "orientation": [lambda: TREE3.chart(orientation="right")],
    "width": [lambda: TREE3.chart(width=0), lambda: TREE3.to_text(width=5)],
    "max_leaves": [lambda: TREE3.to_text(max_leaves=0)],
}


@pytest.mark.parametrize("argument, call", [(name, call) for name, calls in BAD.items() for call in calls])
def test_bad_input_names_the_argument(argument, call):
    with pytest.raises(InputError, match=rf"^{argument} must be .*; got "):
        call()
