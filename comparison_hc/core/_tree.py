"""Trees as rows of children: leaves are the nodes 0 to K − 1, row i makes node K + i. Nothing here is recursive."""

import numpy as np

_COMBINE = {np.add: sum, np.maximum: max, np.minimum: min}


def as_rows(children):
    "Rows of nodes as lists; they may differ in length."
    return children.tolist() if isinstance(children, np.ndarray) else list(children)


def aggregate(children, values, how=np.add):
    "The values of the leaves under every node, combined by np.add, np.maximum or np.minimum."
    combine, total = _COMBINE[how], values.tolist()
    for row in as_rows(children):
        total.append(combine(map(total.__getitem__, row)))
    return np.array(total, dtype=values.dtype)


def leaf_counts(children):
    "Number of leaves under every merge, column 3 of SciPy's linkage matrix."
    n_leaves = len(children) + 1
    return aggregate(children, np.ones(n_leaves, dtype=np.int64))[n_leaves:]


def node_starts(children, sizes):
    "Index of the first object under every node in drawing order: from the root down, first child first."
    rows, sizes = as_rows(children), sizes.tolist()
    starts = [0] * len(sizes)
    for node, row in zip(range(len(sizes) - 1, -1, -1), reversed(rows)):
        below = starts[node]
        for child in row:
            starts[child] = below
            below += sizes[child]
    return np.array(starts, dtype=np.int64)


def max_heights(children, heights):
    "Height of the highest merge under or at every node, 0 at leaves."
    highest = [0.0] * (len(children) + 1)
    for (a, b), height in zip(as_rows(children), heights.tolist()):
        highest.append(max(highest[a], highest[b], height))
    return np.array(highest)


def sorted_linkage(children, heights):
    "SciPy's linkage matrix with the merges sorted by `max_heights`; a merge stays behind those under it."
    n_leaves = len(children) + 1
    order = np.argsort(max_heights(children, heights)[n_leaves:], kind="stable")
    number = np.arange(2 * n_leaves - 1)
    number[n_leaves + order] = np.arange(n_leaves, 2 * n_leaves - 1)
    children = number[children[order]]
    return np.column_stack([children, heights[order], leaf_counts(children)])
