"All pairs of objects, and a parallel sort of pairs by asking."

import numpy as np

from .compat import bincount
from .sampling import pair_from_index


def all_pairs(n):
    "(P, 2) pairs of objects, in the order of `pair_index`."
    return np.stack(pair_from_index(np.arange(n * (n - 1) // 2)), axis=-1)


def ask_pairs(first, second, rng):
    "Is the first pair the more similar? A coin decides which pair is named first."
    if len(first) == 0:
        return np.zeros(0, dtype=bool)
    swap = rng.random(len(first)) < 0.5
    queries = np.empty((len(first), 4), dtype=first.dtype)
    queries[:, :2] = np.where(swap[:, None], second, first)
    queries[:, 2:] = np.where(swap[:, None], first, second)
    answers = yield queries
    return np.asarray(answers, dtype=bool) ^ swap


def sort_pairs(pairs, rng, start=None):
    "Order of pairs, most similar first: a quicksort with one batch per level; `start` groups what is sorted already."
    start = np.zeros(len(pairs), dtype=np.int64) if start is None else start.copy()
    while True:
        _, pivot, group = np.unique(start, return_index=True, return_inverse=True)
        others = np.flatnonzero(pivot[group] != np.arange(len(pairs)))
        if len(others) == 0:
            return np.argsort(start)
        wins = yield from ask_pairs(pairs[others], pairs[pivot[group[others]]], rng)
        before = bincount(group[others[wins]], minlength=len(pivot))
        losers = others[~wins]
        start[losers] += before[group[losers]] + 1
        start[pivot] += before
