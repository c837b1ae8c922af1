"The layout of a tree: against a recursion, for any degree, on a grid, on deep trees."

import numpy as np
import pytest
from scipy.cluster import hierarchy

from comparison_hc.core.tree_layout import accumulate, grid_columns, linkage_layout, tree_layout
from comparison_hc.dendrogram import Dendrogram, random_tree


def random_rows(seed, n_leaves=25):
    "A tree whose nodes have two to four children."
    rng, alive, rows = np.random.default_rng(seed), list(range(n_leaves)), []
    while len(alive) > 1:
        degree = int(rng.integers(2, min(4, len(alive)) + 1))
        rows.append(tuple(alive.pop(int(rng.integers(len(alive)))) for _ in range(degree)))
        alive.append(n_leaves + len(rows) - 1)
    return rows


def leaves_below(rows, n_leaves, node):
    if node < n_leaves:
        return [node]
    return [leaf for child in rows[node - n_leaves] for leaf in leaves_below(rows, n_leaves, child)]


@pytest.mark.parametrize("seed", range(30))
def test_any_degree_by_recursion(seed):
    rows = random_rows(seed)
    layout = tree_layout(rows)
    root = 25 + len(rows) - 1
    assert layout.n_leaves == 25 and layout.leaves.tolist() == leaves_below(rows, 25, root)
    for node in range(root + 1):
        below = leaves_below(rows, 25, node)
        start, end = layout.spans[node]
        assert layout.leaves[start:end].tolist() == below and layout.sizes[node] == len(below)
    for node, row in enumerate(layout.children, start=25):
        assert layout.y[node] == (layout.y[row[0]] + layout.y[row[-1]]) / 2
        assert layout.x[node] == 1 + max(layout.x[child] for child in row)  # levels


@pytest.mark.parametrize("seed", range(10))
def test_the_smaller_number_comes_first(seed):
    rows = random_rows(seed)
    least = accumulate(rows, np.arange(25), np.minimum)
    for row in tree_layout(rows, first=least).children:
        assert least[list(row)].tolist() == sorted(least[list(row)].tolist())


@pytest.mark.parametrize("seed", range(10))
def test_leaves_of_several_objects_take_their_room(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 25)
    layout = tree_layout(random_rows(seed), leaf_sizes=sizes, spread=True)
    middle = layout.starts[:25] + (sizes - 1) / 2
    assert np.array_equal(layout.y[:25], middle) and layout.sizes[-1] == sizes.sum()
    plain = tree_layout(random_rows(seed), leaf_sizes=sizes)
    assert sorted(plain.y[:25].tolist()) == list(range(25)) and np.array_equal(plain.starts, layout.starts)


@pytest.mark.parametrize("seed", range(10))
def test_a_linkage_matrix_as_scipy_draws_it(seed):
    Z = hierarchy.linkage(np.random.default_rng(seed).normal(size=(20, 2)), "average")
    layout, drawn = linkage_layout(Z), hierarchy.dendrogram(Z, no_plot=True)
    assert layout.leaves.tolist() == drawn["leaves"]
    middles = sorted((row[1] + row[2]) / 2 for row in drawn["icoord"])  # SciPy's leaves stand at 5, 15, 25, …
    assert np.allclose(sorted(10 * layout.y[20:] + 5), middles)
    assert np.array_equal(layout.x[20:], Z[:, 2])


@pytest.mark.parametrize("seed", range(10))
def test_columns_leave_no_node_behind_another(seed):
    tree = random_tree(12, seed)
    column = grid_columns(tree.layout, 40)
    assert column[-1] == 0 and set(column[:12].tolist()) == {39}
    for node, (a, b) in enumerate(tree.children.tolist(), start=12):
        assert column[node] < min(column[a], column[b])


def test_one_leaf_and_a_value():
    layout = tree_layout([])
    assert layout.n_leaves == 1 and layout.spans.tolist() == [[0, 1]] and layout.joints.shape == (0, 2)
    for array in (layout.leaves, layout.x, layout.y, layout.sizes, layout.starts):
        with pytest.raises(ValueError):
            array[...] = 0
    assert Dendrogram.from_merges([], [[0, 1]]).layout.sizes.tolist() == [2]


def test_the_callers_rows_stay():
    rows = [[1, 0], [2, 3]]
    tree_layout(rows, first=accumulate(rows, np.arange(3), np.minimum))
    assert rows == [[1, 0], [2, 3]]
