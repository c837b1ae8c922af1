"Wins of object pairs over object pairs in three representations, and the incremental state of 4-AL."

import numpy as np

from ..comparisons import pair_from_index, pair_index
from ..core.compat import bincount, repeat
from ..core.kernels import MANY_ANSWERS, comparison_matrices


class DenseWins:
    "Entry (x, y) of `net_wins`: wins of link x over link y minus losses."

    cheap_to_sum = True  # sums over all links from scratch cost little compared with a merge

    def __init__(self, net_wins):
        self.net_wins = net_wins

    def score_update(self, change, pairs=None):
        "Σ_y c_xy Δu_y for every link x, where the weights of `pairs` (None: all) change."
        rows = np.arange(len(self.net_wins)) if pairs is None else pairs
        total = np.zeros(len(self.net_wins))
        for s in range(0, len(rows), 64):
            total -= change[s : s + 64] @ self.net_wins[rows[s : s + 64]].astype(float)
        return slice(None), total

    def contracted(self, link, n_links):
        "Rows and columns summed by link; −1: left out."
        kept = np.flatnonzero(link >= 0)
        kept = kept[np.argsort(link[kept], kind="stable")]
        starts = np.searchsorted(link[kept], np.arange(n_links))
        ends, parts = np.append(starts, len(kept)), []
        for s in range(0, max(n_links, 1), 64):  # in blocks: NumPy copies what it adds to twice the width
            rows = self.net_wins[kept[ends[s] : ends[min(s + 64, n_links)]]]
            rows = np.add.reduceat(rows, starts[s : s + 64] - ends[s], axis=0)
            parts.append(np.add.reduceat(rows[:, kept], starts, axis=1))
        return DenseWins(np.concatenate(parts))

    def should_contract(self, n_clusters, n_units):
        "When half of the clusters are gone."
        return 2 * n_clusters <= n_units


class SparseWins:
    "Two lists in CSR form: the pairs that each pair beat (side 0), and those to which it lost (side 1)."

    cheap_to_sum = False

    def __init__(self, quadruplets, weights=None):
        self.weights, self.compiled = (None, None), None
        self.n_pairs = quadruplets.n_objects * (quadruplets.n_objects - 1) // 2
        if weights is None and len(quadruplets) >= MANY_ANSWERS:
            from comparison_hc.core import _compiled_counts, compiled  # numba takes a second

            self.compiled = _compiled_counts if compiled.has_numba() else None
        if self.compiled:
            lists = self.compiled.ComparisonLists(quadruplets.array, quadruplets.n_objects)
            self.starts, self.opponents = lists.starts, lists.opponents
            return
        sides = comparison_matrices(quadruplets, weights)
        self.starts, self.opponents = np.stack([side.indptr for side in sides]), [side.indices for side in sides]
        if weights is not None:
            self.weights = [side.data for side in sides]

    def _entries(self, side, pairs, change):
        "Opponents of some pairs on one side, and the change that each of them receives."
        starts, counts = self.starts[side][pairs], self.starts[side][pairs + 1] - self.starts[side][pairs]
        at = repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        received = repeat(change, counts)
        return self.opponents[side][at], received if self.weights[side] is None else received * self.weights[side][at]

    def score_update(self, change, pairs=None):
        "As `DenseWins.score_update`."
        if pairs is None:
            return slice(None), self._sum_all(change)
        many = (self.starts[:, pairs + 1] - self.starts[:, pairs]).sum() > self.n_pairs
        if many and self.compiled:
            totals = np.zeros((2, self.n_pairs))
            for side, total in enumerate(totals):
                self.compiled.add_changes(self.starts[side], self.opponents[side], pairs, change, total)
            return slice(None), totals[1] - totals[0]
        (winners, gains), (losers, losses) = (self._entries(side, pairs, change) for side in (1, 0))
        if not many:
            return np.concatenate([winners, losers]), np.concatenate([gains, -losses])
        return slice(None), bincount(winners, gains, self.n_pairs) - bincount(losers, losses, self.n_pairs)

    def _sum_all(self, weight):
        "Σ_y c_xy u_y for every pair x, from scratch."
        if np.ptp(weight) == 0 and self.weights[0] is None:
            won, lost = np.diff(self.starts)
            return weight[0] * (won - lost)
        totals = np.empty((2, self.n_pairs))
        for side, total in enumerate(totals):
            starts, opponents = self.starts[side], self.opponents[side]
            if self.compiled:
                self.compiled.sum_over_opponents(starts, opponents, weight, total)
            else:
                values = weight[opponents]
                values = values if self.weights[side] is None else values * self.weights[side]
                total[:] = bincount(repeat(np.arange(self.n_pairs), np.diff(starts)), values, self.n_pairs)
        return totals[0] - totals[1]

    def contracted(self, link, n_links):
        "Net wins between links; answers about pairs inside a cluster are left out."
        starts, opponents, weights = self.starts[0], self.opponents[0], self.weights[0]
        if self.compiled:
            net_wins = np.zeros((n_links, n_links), dtype=np.int32 if starts[-1] < 2**31 else np.int64)
            self.compiled.count_between(starts, opponents, link, net_wins)
            return DenseWins(net_wins)
        wins = np.zeros((n_links, n_links), dtype=np.int64 if weights is None else float)
        cuts = np.unique(np.append(np.searchsorted(starts, np.arange(0, starts[-1], 1 << 22)), len(link)))
        for start, stop in zip(cuts, cuts[1:]):
            here = slice(starts[start], starts[stop])
            x = repeat(link[start:stop], np.diff(starts[start : stop + 1])).astype(np.int64)
            y = link[opponents[here]]
            across = (x >= 0) & (y >= 0)
            counts = None if weights is None else weights[here][across]
            wins += bincount(x[across] * n_links + y[across], counts, n_links**2).reshape(n_links, n_links)
        return DenseWins(wins - wins.T)

    def should_contract(self, n_clusters, n_units):
        "When the table is much smaller than the lists."
        return 16 * (n_clusters * (n_clusters - 1) // 2) ** 2 <= self.starts[0, -1]


class FullRanking:
    "All comparisons, given by the order of the pairs: a pair beats every less similar one. Memory O(P)."

    cheap_to_sum = True

    def __init__(self, value):
        self.order = np.argsort(value, kind="stable")
        ranked = value[self.order]
        self.left = np.searchsorted(ranked, ranked, "left")
        self.right = np.searchsorted(ranked, ranked, "right")

    def score_update(self, change, pairs=None):
        "As `DenseWins.score_update`, by prefix sums."
        weight = change
        if pairs is not None:
            weight = np.zeros(len(self.order))
            weight[pairs] = change
        total = np.append(0, np.cumsum(weight[self.order]))
        return self.order, total[self.left] + total[self.right] - total[-1]

    def should_contract(self, n_clusters, n_units):
        return False


class BestLinks:
    """The best link of every row of a matrix of sums, so that a merge looks only at rows that may lose theirs.

    Row r has the links (r, c) with r < c. The score of a link is its entry, with `both` the sum of its two entries,
    divided by the sizes of its clusters.
    """

    def __init__(self, sums, size, both=False):
        self.sums, self.size, self.both = sums, size, both
        self.alive = np.ones(len(size), dtype=bool)
        self.best, self.column = np.full(len(size), -np.inf), np.zeros(len(size), dtype=np.intp)
        self.refresh()

    def refresh(self):
        "Every row from scratch."
        for start in range(0, len(self.size), 32):
            rows = np.arange(start, min(start + 32, len(self.size)))
            scores = self.sums[start : rows[-1] + 1, start:]
            scores = scores + self.sums[start:, start : rows[-1] + 1].T if self.both else scores
            self._keep(rows, scores / (self.size[rows][:, None] * self.size[start:]), start)

    def _keep(self, rows, scores, start):
        "The best of some rows, of their scores from column `start` on."
        scores[:, ~self.alive[start:]] = -np.inf
        scores[np.arange(start, len(self.size)) <= rows[:, None]] = -np.inf
        column = scores.argmax(axis=1)
        self.best[rows] = np.where(self.alive[rows], scores[np.arange(len(rows)), column], -np.inf)
        self.column[rows] = column + start

    def _row(self, row):
        "Scores of a row's links, whether dead or not."
        sums = self.sums[row, row + 1 :]
        sums = sums + self.sums[row + 1 :, row] if self.both else sums
        return sums / (self.size[row] * self.size[row + 1 :])

    def first(self, scale):
        "(first link whose score is within rounding of the highest, the largest score so far)."
        highest = self.best.max()
        scale = max(scale, highest)
        row = int(np.argmax(self.best >= highest - 1e-12 * scale))
        near = (self._row(row) >= highest - 1e-12 * scale) & self.alive[row + 1 :]
        return (row, row + 1 + int(np.argmax(near))), scale

    def merged(self, a, b, flat=None):
        "After a merge of b into a, which changed these entries (None: all) and those of a."
        self.alive[b] = False
        if flat is None:
            self.refresh()
            return
        self.best[b] = -np.inf
        K = len(self.size)
        rows, columns = np.append(flat // K, np.arange(a)), np.append(flat % K, np.full(a, a))
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        used = (rows != columns) & self.alive[rows]
        rows, columns = rows[used], columns[used]
        scores = self.sums[rows, columns]
        scores = scores + self.sums[columns, rows] if self.both else scores
        scores /= self.size[rows] * self.size[columns]
        old = self.best.copy()
        lost = (columns == self.column[rows]) & (scores < old[rows])
        np.maximum.at(self.best, rows, scores)
        raised = (scores > old[rows]) & (scores == self.best[rows])
        self.column[rows[raised]] = columns[raised]
        again = self.alive & (self.column == b)
        again[rows[lost]] = again[a] = True
        again = np.flatnonzero(again)
        for start in range(0, len(again), 32):
            some = again[start : start + 32]
            scores = self.sums[some]
            scores = scores + self.sums[:, some].T if self.both else scores
            self._keep(some, scores / (self.size[some][:, None] * self.size), 0)


class LinkageState:
    "Clusters of the units (objects, or clusters after a contraction), and sums over links, updated by merges."

    def __init__(self, wins, cluster, sizes=None):
        self.wins = wins
        self.cluster = cluster.copy()  # of every unit
        self.size = (bincount(cluster) if sizes is None else sizes).astype(float)
        self.node = np.arange(len(self.size))
        self.sums = None  # (K, K) symmetric: sums of T over links

    def compact(self, n_clusters):
        "Remove empty clusters at the start and when half are empty; contract the wins where that pays."
        contract = self.wins.should_contract(n_clusters, len(self.cluster))
        first = self.sums is None
        if not (contract or first or 2 * n_clusters <= len(self.sums)):
            return
        live, self.cluster = np.unique(self.cluster, return_inverse=True)
        self.size, self.node = self.size[live], self.node[live]
        if contract:
            low, high = self._ends()
            link = np.full(len(low), -1, dtype=np.int32)
            link[low != high] = pair_index(low[low != high], high[low != high])
            self.wins = self.wins.contracted(link, n_clusters * (n_clusters - 1) // 2)
            self.cluster = np.arange(n_clusters)
        low, high = self._ends()
        self.link = low * n_clusters + high  # inside a cluster: on the diagonal, which is never read
        scale = 0
        if contract or first or self.wins.cheap_to_sum:
            self.sums = np.zeros((n_clusters, n_clusters))
            weight = np.where(low == high, 0, 1 / (self.size[low] * self.size[high]))
            self._add(*self.wins.score_update(weight))
        else:
            self.sums, scale = self.sums[np.ix_(live, live)], self.scale
        self.links = BestLinks(self.sums, self.size)
        self.scale = max(scale, np.abs(self.sums / np.outer(self.size, self.size)).max())

    def _ends(self):
        "(2, P) clusters of the two units of every pair."
        n_units = len(self.cluster)
        return self.cluster[np.stack(pair_from_index(np.arange(n_units * (n_units - 1) // 2)))]

    def _add(self, pairs, values):
        "Add values to both entries of the pairs' links; returns these entries, or None where there are many."
        flat, K = self.link[pairs], len(self.sums)
        if 8 * len(values) < self.sums.size:
            np.add.at(self.sums.reshape(-1), flat, values)
            np.add.at(self.sums.reshape(-1), flat % K * K + flat // K, values)
            return flat
        added = bincount(flat, values, self.sums.size).reshape(self.sums.shape)
        self.sums += added
        self.sums += added.T
        return None

    def best(self):
        "First link of highest score, as two clusters a < b."
        link, self.scale = self.links.first(self.scale)
        return link

    def merge(self, a, b, node):
        "Merge two clusters; a holds their union."
        one, two = np.flatnonzero(self.cluster == a), np.flatnonzero(self.cluster == b)
        rest = np.flatnonzero((self.cluster != a) & (self.cluster != b))
        other, K = self.cluster[rest], len(self.sums)
        to_one, to_two, inside = (
            pair_index(first[:, None], second) for first, second in ((one, rest), (two, rest), (one, two))
        )
        size_a, size_b, size_other = self.size[a], self.size[b], self.size[other]
        changes = [
            np.tile((1 / (size_a + size_b) - 1 / size_a) / size_other, len(one)),
            np.tile((1 / (size_a + size_b) - 1 / size_b) / size_other, len(two)),
            np.full(inside.size, -1 / (size_a * size_b)),
        ]
        self.link[to_two] = a * K + other
        self.link[inside] = a * K + a
        self.cluster[two] = a
        self.size[a] += self.size[b]
        self.node[a] = node
        self.sums[a] += self.sums[b]
        self.sums[:, a] += self.sums[:, b]
        pairs = np.concatenate([to_one.ravel(), to_two.ravel(), inside.ravel()])
        self.links.merged(a, b, self._add(*self.wins.score_update(np.concatenate(changes), pairs)))
