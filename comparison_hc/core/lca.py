"""Lowest common ancestors of a tree's leaves as range maxima, without walking the tree."""

import numpy as np


def adjacent_lca(merges):
    """(place of each leaf in drawing order, the merge, counted from 1, that joins each place to the next).

    `merges` are the (K−1, 2) nodes joined, in order; row r makes node K + r. One pass down the tree, no recursion.
    """
    pairs = merges.tolist()
    n_leaves = len(pairs) + 1
    size = [1] * n_leaves
    for a, b in pairs:
        size.append(size[a] + size[b])
    start = [0] * len(size)
    gap = np.zeros(n_leaves - 1, dtype=np.int32)
    for row in range(len(pairs) - 1, -1, -1):
        a, b = pairs[row]
        start[a] = start[n_leaves + row]
        start[b] = start[n_leaves + row] + size[a]
        gap[start[b] - 1] = row + 1
    return np.array(start[:n_leaves]), gap


class RangeMaximum:
    "A sparse table: the maximum of any interval of an array, O(n log n) to build, O(1) a query."

    def __init__(self, values):
        self.levels = [values]  # entry d holds the maxima of all intervals of length 2ᵈ
        width = 1
        while 2 * width <= len(values):
            shorter = self.levels[-1]
            self.levels.append(np.maximum(shorter[:-width], shorter[width:]))
            width *= 2

    def __call__(self, start, stop):
        "The maxima of values[start:stop], elementwise; stop is above start."
        level = np.frexp(stop - start)[1] - 1  # the longest stored interval that fits
        out = np.empty(len(start), dtype=self.levels[0].dtype)
        for number in np.unique(level):
            at, stored = level == number, self.levels[number]
            out[at] = np.maximum(stored[start[at]], stored[stop[at] - (1 << int(number))])
        return out

    def one(self, start, stop):
        "The maximum of values[start:stop] for two integers: ten times as fast as a batch of one."
        level = (stop - start).bit_length() - 1
        stored = self.levels[level]
        return max(stored.item(start), stored.item(stop - (1 << level)))
