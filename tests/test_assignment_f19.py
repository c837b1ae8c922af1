"""The assignments on F19: the source has all points, the student version none, wrong answers are told what is wrong."""

from itertools import combinations

import numpy as np
from assignments import every_assignment, said

from comparison_hc.classroom.assignment_hundred_times_faster import drawn_answers, true_kernel

NAMES = ["break-single-linkage", "hundred-times-faster"]
FIRST, SECOND = NAMES
TestEvery = every_assignment(*NAMES)


def merged(W, k, best):
    "Agglomeration, written without elegance."
    clusters = [[i] for i in range(len(W))]
    while len(clusters) > k:
        pairs = [(a, b) for a in range(len(clusters)) for b in range(a)]
        a, b = max(pairs, key=lambda ab: best(W[i][j] for i in clusters[ab[0]] for j in clusters[ab[1]]))
        clusters[b] += clusters.pop(a)
    labels = np.empty(len(W), int)
    for c, members in enumerate(clusters):
        labels[members] = c
    return labels


def test_labels():
    assert said(FIRST, "1a", single_linkage_labels=lambda W, k: merged(W, k, max)) == ""
    assert said(FIRST, "1a", single_linkage_labels=lambda W, k: [f"c{x}" for x in merged(W, k, max)]) == ""
    assert "single linkage as" in said(FIRST, "1a", single_linkage_labels=lambda W, k: merged(W, k, min))
    assert "should make 2" in said(FIRST, "1a", single_linkage_labels=lambda W, k: [0] * len(W))
    assert "one for each" in said(FIRST, "1a", single_linkage_labels=lambda W, k: [0])
    assert "`single_linkage_labels` is not defined" in said(FIRST, "1a")


def block(n, across=1.0, seed=0):
    "Two clear groups without ties."
    labels = np.repeat([0, 1], n)
    W = np.where(labels[:, None] == labels, 10.0, across) + np.random.default_rng(seed).uniform(0, 0.5, (2 * n, 2 * n))
    return np.triu(W, 1), labels


def test_trap():
    def good(n):
        W, labels = block(n)
        W[: n - 1, n - 1] = np.linspace(4, 5, n - 1)
        W[0, n] = 9
        W = np.triu(W, 1)
        return (W + W.T).tolist(), labels.tolist()

    assert said(FIRST, "1b", trap=good) == ""

    def without(n):
        W, labels = block(n)
        return W + W.T, labels

    def lopsided(n):
        W, labels = good(n)
        W[0][1] += 1
        return W, labels

    def ties(n):
        labels = np.repeat([0, 1], n)
        return np.where(labels[:, None] == labels, 2.0, 1.0), labels

    assert "cuts off" in said(FIRST, "1b", trap=without)
    assert "symmetric" in said(FIRST, "1b", trap=lopsided)
    assert "equally similar" in said(FIRST, "1b", trap=ties)
    assert "two things" in said(FIRST, "1b", trap=lambda n: 3)


def test_rates_and_promises():
    assert "between 0.0 and 0.2" in said(FIRST, "2a", recovery=lambda snr, n, runs: 1.0)
    assert "between 0.95 and 1.0" in said(FIRST, "2a", recovery=lambda snr, n, runs: 0.0)
    assert said(FIRST, "2a", recovery=lambda snr, n, runs: np.float64(snr > 3)) == ""
    assert "should give a number" in said(FIRST, "2a", recovery=lambda snr, n, runs: [1.0])
    assert "look for less" in said(FIRST, "2b", enough_separation=lambda n: 8.0)
    in_an_array = lambda n: np.array({4: 4.0, 16: 6.0}[n])
    assert "should give a number" not in said(FIRST, "2b", enough_separation=in_an_array)
    assert "75% is enough" in said(FIRST, "2b", enough_separation=lambda n: 1.0)
    promise = lambda n: 4 * np.log(20 * n) ** 0.5  # noqa: E731
    assert said(FIRST, "3a", guaranteed_separation=promise, times_too_safe=3.5) == ""
    assert "times_too_safe" in said(FIRST, "3a", guaranteed_separation=promise, times_too_safe=1.0)
    assert "guaranteed_separation(4)" in said(FIRST, "3a", guaranteed_separation=lambda n: 4.0, times_too_safe=3.5)


def kernel_in_other_words(answers, n):
    "The package's, as nested lists of floats."
    return true_kernel(answers, n).astype(float).tolist()


def signed_once(answers, n):
    "Forgets the reversed answers."
    K = np.zeros((n, n))
    vote = {(frozenset((i, j)), frozenset((k, l))): 1 for i, j, k, l in answers.tolist()}
    for (x, y), value in vote.items():
        for other, more in vote.items():
            if other[1] == y and len(x & other[0]) == 1:
                (i,), (j,) = x - other[0], other[0] - x
                K[i, j] += value * more
    return K


def test_kernels():
    for part, name in (("1a", "kernel_by_definition"), ("2a", "kernel_fast")):
        assert said(SECOND, part, **{name: kernel_in_other_words}) == ""
        assert said(SECOND, part, **{name: true_kernel}) == ""
        assert "[" in said(SECOND, part, **{name: signed_once})
        assert "shape" in said(SECOND, part, **{name: lambda answers, n: [0] * n})


def test_landmarks():
    def right(answers, n, r):
        matrix = np.zeros((n, n * (n - 1) // 2), int)
        pairs = [frozenset(p) for p in combinations(range(n), 2)]
        for i, j, k, l in answers.tolist():
            x, y = frozenset((i, j)), frozenset((k, l))
            for one, other, vote in ((x, y, 1), (y, x, -1)):
                for i in one - {r} if r in one else ():
                    matrix[i, pairs.index(other)] = vote
        return matrix

    assert said(SECOND, "1b", landmark_matrix=right) == ""
    assert said(SECOND, "1b", landmark_matrix=lambda *given: right(*given)[:, ::-1].tolist()) == ""
    assert "product" in said(SECOND, "1b", landmark_matrix=lambda *given: abs(right(*given)))
    assert "objects, pairs" in said(SECOND, "1b", landmark_matrix=lambda *given: right(*given).T)


def test_every_assignment_students():
    def compares(kernel):
        drawn = [drawn_answers(n, 0.5, seed) for n in (4, 5) for seed in range(8)]
        sizes = [n for n in (4, 5) for _ in range(8)]
        return all(np.array_equal(kernel(a, n), true_kernel(a, n)) for a, n in zip(drawn, sizes))

    assert said(SECOND, "3a", is_right=compares) == ""
    assert "says True" in said(SECOND, "3a", is_right=lambda kernel: True)
    assert "says False" in said(SECOND, "3a", is_right=lambda kernel: False)
    assert "True or False" in said(SECOND, "3a", is_right=lambda kernel: "yes")
