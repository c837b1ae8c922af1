"The layout of a tree: against a recursion, for any degree, with collapsed branches, on a grid, on deep trees."

import numpy as np
import pytest
from scipy.cluster import hierarchy

from comparison_hc.core.plotting import _grid_columns, tree_layout
from comparison_hc.dendrogram import Dendrogram, random_tree


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
    layout = tree_layout(rows, collapsed=collapsed)
    ends = ends_below(rows, 25, root, collapsed)
    assert layout.leaves.tolist() == ends and layout.y[ends].tolist() == list(range(len(ends)))
    hidden = set(range(root)) - {
        node for node in range(root) if set(ends_below(rows, 25, node, collapsed)) <= set(ends)
    }
    for node, row in enumerate(layout.children, start=25):
        if node not in hidden | set(collapsed):
            assert layout.y[node] == (layout.y[row[0]] + layout.y[row[-1]]) / 2
        assert layout.x[node] == 1 + max(layout.x[child] for child in row)  # levels
        assert all(layout.parents[child] == node for child in row)


@pytest.mark.parametrize("seed", range(10))
def test_a_linkage_matrix_as_scipy_draws_it(seed):
    Z = hierarchy.linkage(np.random.default_rng(seed).normal(size=(20, 2)), "average")
    layout, drawn = Dendrogram.from_linkage(Z)._layout, hierarchy.dendrogram(Z, no_plot=True)
    assert layout.leaves.tolist() == drawn["leaves"]
    middles = sorted((row[1] + row[2]) / 2 for row in drawn["icoord"])  # SciPy's leaves are at 5, 15, 25, …
    assert np.allclose(sorted(10 * layout.y[20:] + 5), middles)
    assert np.array_equal(layout.x[20:], Z[:, 2])


@pytest.mark.parametrize("seed", range(10))
def test_columns_leave_no_node_behind_another(seed):
    tree = random_tree(12, seed)
    column = _grid_columns(tree._layout, 40)
    assert column[-1] == 0 and set(column[:12].tolist()) == {39}
    for node, (a, b) in enumerate(tree.children.tolist(), start=12):
        assert column[node] < min(column[a], column[b])


def test_one_leaf_and_a_value():
    layout, rows = tree_layout([]), [[1, 0], [2, 3]]
    assert layout.leaves.tolist() == [0] and layout.joints.shape == (0, 2)
    for array in (layout.leaves, layout.x, layout.y):
        with pytest.raises(ValueError):
            array[...] = 0
    tree_layout(rows)
    assert rows == [[1, 0], [2, 3]]
