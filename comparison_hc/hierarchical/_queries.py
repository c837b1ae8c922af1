"Queries about pairs: validated objects, batches, insertion, a spanning forest, merge order."

import heapq

import numpy as np

from ..comparisons import pair_index
from ..core._rows import index_type
from ..core.pairs import ask_pairs, sort_pairs
from ..core.validation import MOST_OBJECTS, as_array, as_list, check_integer, check_names, require


def check_objects(n):
    "(N, names or None) of a method that asks, from a number of objects or their names."
    if not np.iterable(n) or isinstance(n, (str, bytes)):
        return check_integer(n, "n", 1, MOST_OBJECTS), None
    rule = "a number of objects, or a sequence of their names"
    require(getattr(n, "ndim", 1) == 1, "n", rule, n)
    found = n if isinstance(n, (set, dict)) else as_list(n, "n", rule)
    n_objects = check_integer(len(found), "the number of names in n", 1, MOST_OBJECTS)
    names = check_names(found, n_objects, argument="n")
    flat = not any(np.iterable(name) for name in found if not isinstance(name, (str, bytes)))
    require(flat, "n", f"{rule}, not a table", n)
    return n_objects, names


def check_references(references, n_objects):
    "(2, R) reference pairs, all different."
    array = as_array(references, "references", "of shape (R, 2), one pair of objects a row")
    fits = array.ndim == 2 and array.shape[1] == 2 and len(array) and array.dtype.kind in "iu"
    require(fits, "references", "of shape (R, 2) with R ≥ 1, one pair of objects a row", references)
    inside = array.min() >= 0 and array.max() < n_objects
    require(inside, "references", f"object numbers from 0 to {n_objects - 1}", references)
    require((array[:, 0] != array[:, 1]).all(), "references", "pairs of two different objects", references)
    require(len(np.unique(pair_index(*array.T))) == len(array), "references", "different pairs", references)
    return array.T


def query_batch(n_objects, *columns):
    "(b, 4) queries from columns, stored by column in the smallest type, which makes large batches fast to check."
    queries = np.empty((4, len(columns[0])), dtype=index_type(n_objects))
    for row, column in zip(queries, columns):
        row[:] = column
    return queries.T


def binary_insertion(order, pairs, below, rng):
    "Sorted pairs with new ones inserted; each climbs from `below` by growing steps, then bisects."
    low, high = np.zeros(len(pairs), dtype=np.int64), below.copy()
    step, climbs = 1, np.ones(len(pairs), dtype=bool)
    while len(active := np.flatnonzero(low < high)):
        probe = np.where(climbs, np.maximum(high - step, 0), (low + high) // 2)[active]
        wins = yield from ask_pairs(pairs[active], order[probe], rng)
        high[active[wins]] = probe[wins]
        low[active[~wins]] = probe[~wins] + 1
        climbs[active[~wins]] = False
        step *= 4
    ranks = yield from sort_pairs(pairs, rng, np.searchsorted(np.sort(low), low))
    return np.insert(order, low[ranks], pairs[ranks], axis=0)


def spanning_forest(order, n):
    "Kruskal on sorted pairs: edges of the maximum spanning forest, their merges, and the weakest edge between objects."
    cluster, node = list(range(n)), list(range(n))
    members = [np.array([i]) for i in range(n)]
    kept, merges = [], []
    weakest = np.full((n, n), -1, dtype=np.int64)  # number of an edge, or -1 where objects are not connected
    for row, (i, j) in enumerate(order.tolist()):
        a, b = cluster[i], cluster[j]
        if a == b:
            continue
        if len(members[a]) < len(members[b]):
            a, b = b, a
        weakest[members[a][:, None], members[b]] = weakest[members[b][:, None], members[a]] = len(kept)
        for k in members[b].tolist():
            cluster[k] = a
        merges.append(sorted((node[a], node[b])))
        members[a] = np.concatenate([members[a], members[b]])
        node[a] = n + len(kept)
        kept.append(row)
        if len(kept) == n - 1:
            break
    return order[kept], merges, weakest


def topological_merge_order(merges, rank, n):
    "Merges by rank; a merge whose rank contradicts the tree waits for its children."
    parent = {child: t for t, couple in enumerate(merges) for child in couple}
    waits = [sum(child >= n for child in couple) for couple in merges]
    ready = [(rank[t], t) for t, count in enumerate(waits) if count == 0]
    heapq.heapify(ready)
    number, done = list(range(n)) + [-1] * len(merges), []
    while ready:
        _, t = heapq.heappop(ready)
        number[n + t] = n + len(done)
        done.append(sorted(number[child] for child in merges[t]))
        above = parent.get(n + t)
        if above is not None:
            waits[above] -= 1
            if waits[above] == 0:
                heapq.heappush(ready, (rank[above], above))
    return done
