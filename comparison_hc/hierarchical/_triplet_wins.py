"Rows of anchors, queries to all objects, and the incremental sums of average linkage from triplets."

import numpy as np

from ..comparisons import pair_from_index
from ..core.compat import bincount, repeat
from ..core.kernels import gram_of_rows
from ..core.validation import check_progress
from ..dendrogram import Dendrogram
from ..oracles import BudgetExhausted
from ..core.partitions import labels_from_clusters
from ._queries import query_batch, topological_merge_order
from ._linkage_state import BestLinks


def kernel_of_all_triplets(similarity, self_pairs):
    "Triplet kernel, not normalised, of all triplets without a tie, and the number of answers of each anchor."
    w = similarity.copy()
    np.fill_diagonal(w, np.inf)  # a self-pair
    n, n_pairs = len(w), len(w) * (len(w) - 1) // 2
    K, known = np.zeros(w.shape, dtype=np.int64), np.zeros(n, dtype=np.int64)
    step = max(1, (1 << 22) // n)
    for start in range(0, n_pairs, step):
        j, k = pair_from_index(np.arange(start, min(start + step, n_pairs)))
        V, t = (w[j] > w[k]).astype(np.int8) - (w[j] < w[k]), np.arange(len(j))
        if not self_pairs:
            V[t, j] = V[t, k] = 0
        K += gram_of_rows(V)
        known += np.abs(V).sum(axis=0)
    return K, known


def query_all_objects(n, y, limit=None, rng=None, self_pairs=False, batch=1 << 16):
    "Ask every object about every reference pair that it is not in; the kernel of the batches that were answered."
    R, step = y.shape[1], max(1, batch // n)
    V = np.zeros((R, n), dtype=np.int8)
    for start in range(0, R, step):
        here = slice(start, min(start + step, R))
        asked = np.ones(V[here].shape, dtype=bool)
        asked[np.arange(len(asked)), y[:, here]] = False
        if limit is not None and here.stop == R and R * (n - 2) > limit:
            out = rng.choice(np.flatnonzero(asked[-1]), R * (n - 2) - limit, replace=False)
            asked[-1, out] = False
        row, i = np.nonzero(asked)
        try:
            answers = yield query_batch(n, i, y[0, here][row], i, y[1, here][row])
        except BudgetExhausted:
            if start == 0:
                raise
            y = y[:, :start]
            break
        V[here][asked] = np.where(answers, 1, -1)
    return kernel_with_self_pairs(V, y) if self_pairs else gram_of_rows(V)


def kernel_with_self_pairs(V, y):
    "The kernel with the free answers of j and k about each {j, k}."
    t = np.arange(y.shape[1])
    V[t, y[0]] = 1
    V[t, y[1]] = -1
    K = gram_of_rows(V) - 1  # i and j always disagree on {i, j},
    K[y[0], y[1]] += 1
    K[y[1], y[0]] += 1  # which was counted already if it is a reference pair
    np.fill_diagonal(K, 0)
    return K


class TripletWins:
    "Every answer twice, sorted by its third object: for j over k, and against k over j. Memory 18 bytes per answer."

    def __init__(self, triplets, weights=None):
        i, j, k = triplets.array.T
        third = np.concatenate([k, j])
        order = np.argsort(third, kind="stable")
        self.i = np.concatenate([i, i])[order]
        self.j = np.concatenate([j, k])[order]
        self.sign = np.where(order < len(i), 1, -1).astype(np.int8)
        if weights is not None:
            self.sign = self.sign * np.concatenate([weights, weights])[order]
        self.start = np.searchsorted(third[order], np.arange(triplets.n_objects + 1))

    def net_wins(self, cluster, K):
        "(K, K): answers of anchors in p for objects in q, minus those against."
        return bincount(cluster[self.i] * K + cluster[self.j], self.sign, K * K).reshape(K, K)

    def sums(self, cluster, size):
        "E from scratch: as `net_wins`, with weight 1 / |cluster of k| for third objects k outside p."
        K, p, third = len(size), cluster[self.i], repeat(cluster, np.diff(self.start))
        weight = self.sign * (p != third) / size[third]
        return bincount(p * K + cluster[self.j], weight, K**2).reshape(K, -1)

    def update_after_merge(self, E, cluster, size, a, b):
        "Change E by the new weights of third objects in a or b; returns the entries, or None where there are many."
        changed = []
        for own, other in ((a, b), (b, a)):
            third = np.flatnonzero(cluster == own)
            rows = np.concatenate([np.arange(self.start[k], self.start[k + 1]) for k in third])
            p, q = cluster[self.i[rows]], cluster[self.j[rows]]
            after = np.where(p == other, 0, 1 / (size[a] + size[b]))
            change = np.where(p == own, 0, after - 1 / size[own])
            p[p == b] = a
            q[q == b] = a
            flat, change = p * len(E) + q, self.sign[rows] * change
            if 8 * len(flat) < E.size:
                entries, place = np.unique(flat, return_inverse=True)
                E.reshape(-1)[entries] += bincount(place, change)
                changed.append(entries)
            else:
                E += bincount(flat, change, E.size).reshape(E.shape)
        return np.concatenate(changed) if len(changed) == 2 else None


class FullTripletRanking:
    "All triplets, given by each anchor's order of the other objects. Memory O(N²)."

    def __init__(self, similarity):
        own = similarity.copy()
        np.fill_diagonal(own, -np.inf)  # first in its row, with no weight
        self.order = np.argsort(own, axis=1, kind="stable")
        ranked = np.take_along_axis(own, self.order, axis=1)
        self.left, self.right = (
            np.array([np.searchsorted(row, row, side) for row in ranked]).reshape(ranked.shape)
            for side in ("left", "right")
        )

    def sum_by_cluster_pair(self, weight, cluster, K):
        "Over anchors in p and objects j in q, the weights before j minus those behind it."
        weight = weight * ~np.eye(len(cluster), dtype=bool)
        total = np.cumsum(np.pad(np.take_along_axis(weight, self.order, axis=1), ((0, 0), (1, 0))), axis=1)
        before, upto = (np.take_along_axis(total, side, axis=1) for side in (self.left, self.right))
        value = before + upto - total[:, -1:]
        value[:, 0] = 0  # the anchor itself
        return bincount((cluster[:, None] * K + cluster[self.order]).ravel(), value.ravel(), K * K).reshape(K, K)

    def net_wins(self, cluster, K):
        return self.sum_by_cluster_pair(np.ones((len(cluster), len(cluster))), cluster, K)

    def sums(self, cluster, size):
        return self.sum_by_cluster_pair((cluster[:, None] != cluster) / size[cluster], cluster, len(size))

    def update_after_merge(self, E, cluster, size, a, b):
        after = size.copy()
        after[a] += size[b]
        E[:] = self.sums(np.where(cluster == b, a, cluster), after)


def merge_by_score(wins, cluster, progress=None):
    "Merge the link of highest score, and repeat."
    cluster, size = cluster.copy(), bincount(cluster).astype(float)
    n_initial, node = len(size), np.arange(len(size))
    E, merges = np.empty((0, 0)), []
    for K in range(n_initial, 1, -1):  # clusters before this merge
        if not merges or 2 * K <= len(E):  # from scratch: rounding errors must not accumulate
            live, cluster = np.unique(cluster, return_inverse=True)
            size, node = size[live], node[live]
            E = wins.sums(cluster, size)
            scale, links = np.abs((E + E.T) / np.outer(size, size)).max(), BestLinks(E, size, both=True)
        (a, b), scale = links.first(scale)
        merges.append((node[a], node[b]))
        E[a] += E[b]
        E[:, a] += E[:, b]
        changed = wins.update_after_merge(E, cluster, size, a, b)
        cluster[cluster == b] = a
        size[a] += size[b]
        node[a] = 2 * n_initial - K
        links.merged(a, b, changed)
        if progress:
            progress(n_initial - K + 1, n_initial - 1)
    return np.array(merges, dtype=np.int64).reshape(-1, 2)


def sort_merges_by_nearness(wins, merges, cluster):
    "The same merges, those of the nearest sides first, children before parents."
    size, row, nearness = bincount(cluster), list(range(cluster.max() + 1)), []
    S = wins.net_wins(cluster, len(size))
    S = S + S.T
    for left, right in merges.tolist():
        p, q = row[left], row[right]
        nearness.append(S[p, q] / (size[p] * size[q]))  # a quotient of integers
        S[p] += S[q]
        S[:, p] += S[:, q]
        size[p] += size[q]
        row.append(p)
    rank = np.argsort(np.argsort(-np.array(nearness), kind="stable"))
    return topological_merge_order(merges.tolist(), rank.tolist(), len(size))


def average_linkage(wins, clusters, sort=True, names=None, progress=None):
    "3-AL."
    cluster = labels_from_clusters(clusters)
    merges = merge_by_score(wins, cluster, check_progress(progress))
    if sort:
        merges = sort_merges_by_nearness(wins, merges, cluster)
    return Dendrogram.from_merges(merges, clusters, names)
