"""Comparisons of millions of answers as compiled adjacency lists: two bytes per answer and side, up to 362 objects."""

import numpy as np

from .compiled import compiled
from .parallel import map_on_threads


@compiled
def _pair_index(i, j):
    low, high = (i, j) if i < j else (j, i)
    return high * (high - 1) // 2 + low


@compiled
def _count_sides(rows, won, lost):
    for row in range(len(rows)):
        won[_pair_index(np.int64(rows[row, 0]), np.int64(rows[row, 1])) + 1] += 1
        lost[_pair_index(np.int64(rows[row, 2]), np.int64(rows[row, 3])) + 1] += 1


@compiled
def _fill(rows, first, end, opponents):
    other = 2 - first
    for row in range(len(rows)):
        x = _pair_index(np.int64(rows[row, first]), np.int64(rows[row, first + 1]))
        opponents[end[x]] = _pair_index(np.int64(rows[row, other]), np.int64(rows[row, other + 1]))
        end[x] += 1


class ComparisonLists:
    "Which pairs each pair beat, and to which it lost: `starts` (2, P + 1) and `opponents` (two arrays of m pairs)."

    def __init__(self, rows, n_objects):
        self.n_pairs, self.n_answers = n_objects * (n_objects - 1) // 2, len(rows)
        self.starts = np.zeros((2, self.n_pairs + 1), dtype=np.int64)
        _count_sides(rows, *self.starts)
        np.cumsum(self.starts, axis=1, out=self.starts)
        number = np.uint16 if self.n_pairs <= 2**16 else np.int32
        self.opponents = [np.empty(len(rows), dtype=number) for _ in range(2)]

        def fill(side):
            _fill(rows, 2 * side, self.starts[side, :-1].copy(), self.opponents[side])

        list(map_on_threads(fill, range(2), 2))


# ---- sums of 4–AL


@compiled
def add_changes(starts, opponents, pairs, change, total):
    "Add the change of every pair to its opponents on one side."
    for at in range(len(pairs)):
        for entry in range(starts[pairs[at]], starts[pairs[at] + 1]):
            total[opponents[entry]] += change[at]


@compiled
def sum_over_opponents(starts, opponents, weight, total):
    "The weights of the opponents of every pair on one side, added up."
    for x in range(len(total)):
        here = 0.0
        for entry in range(starts[x], starts[x + 1]):
            here += weight[opponents[entry]]
        total[x] = here


@compiled
def count_between(starts, opponents, link, balance):
    "Answers that link x won against link y, added to entry (x, y) and taken from entry (y, x)."
    for pair in range(len(starts) - 1):
        x = link[pair]
        if x >= 0:
            for entry in range(starts[pair], starts[pair + 1]):
                y = link[opponents[entry]]
                if y >= 0:
                    balance[x, y] += 1
                    balance[y, x] -= 1


# ---- agreements of majority votes, 64 in a word


@compiled
def _count_ones(word):
    "How many bits of a word are one; compilers know this as one instruction."
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _pack_bits(starts, beaten, lost_to, pair, balance, decided, lost):
    "The majority votes of a pair as bits; returns votes won minus votes lost."
    for entry in range(starts[0, pair], starts[0, pair + 1]):
        balance[beaten[entry]] += 1
    for entry in range(starts[1, pair], starts[1, pair + 1]):
        balance[lost_to[entry]] -= 1
    net = 0
    for side in range(2):
        opponents = beaten if side == 0 else lost_to
        for entry in range(starts[side, pair], starts[side, pair + 1]):
            y = np.int64(opponents[entry])
            if balance[y] != 0:
                bit = np.uint64(1) << np.uint64(y & 63)
                decided[y >> 6] |= bit
                if balance[y] < 0:
                    lost[y >> 6] |= bit
                net += 1 if balance[y] > 0 else -1
                balance[y] = 0
    return net


@compiled
def _agreements(decided, lost, gram):
    "Agreements minus disagreements of every two rows of votes; the diagonal is not written."
    for i in range(len(decided)):
        for j in range(i):
            n_both, n_apart = 0, 0
            for word in range(decided.shape[1]):
                both = decided[i, word] & decided[j, word]
                n_both += _count_ones(both)
                n_apart += _count_ones(both & (lost[i, word] ^ lost[j, word]))
            gram[i, j] = gram[j, i] = np.int64(n_both) - 2 * np.int64(n_apart)


def gram_of_pairs(lists, pairs):
    "The Gram matrix of some pairs' majority votes, off the diagonal, and each pair's votes won minus votes lost."
    decided, lost = np.zeros((2, len(pairs), -(-lists.n_pairs // 64)), dtype=np.uint64)
    balance = np.zeros(lists.n_pairs, dtype=np.int32)
    parts = lists.starts, *lists.opponents
    net = [_pack_bits(*parts, pair, balance, *rows) for pair, *rows in zip(pairs.tolist(), decided, lost)]
    products = np.zeros((len(pairs), len(pairs)), dtype=np.int64)
    _agreements(decided, lost, products)
    return products, np.array(net, dtype=np.int64)
