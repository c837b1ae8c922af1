"""The assignments on F19: the source has all points, the student version none, wrong answers are told what is wrong."""

import json
from itertools import combinations

import numpy as np
import pytest

from comparison_hc.classroom.assignment_hundred_times_faster import drawn_answers, true_kernel
from comparison_hc.classroom.checking import Checker, Wrong, find_assignment
from comparison_hc.classroom.grading import grade_notebook
from comparison_hc.classroom.sandbox import Limits
from comparison_hc.classroom.source import find_source, read_notebook, read_source, student_version

NAMES = ["break-single-linkage", "hundred-times-faster"]


@pytest.mark.parametrize("name", NAMES)
def test_marks_and_parts_agree(name):
    parts = find_assignment(name).parts
    cells = read_source(read_notebook(find_source(name)))
    for kind, points in (("tests", "points"), ("hidden", "hidden")):
        marked = {cell.part: cell.points for cell in cells if cell.kind == kind}
        stated = {part.name: getattr(part, points) for part in parts.values()}
        assert marked == {part: number for part, number in stated.items() if number}


@pytest.mark.parametrize("name", NAMES)
def test_the_source_has_all_points_and_the_student_version_none(name):
    source = read_notebook(find_source(name))
    full = grade_notebook(source, source, Limits(seconds=120, total=600))
    assert full.points == find_assignment(name).points, full
    assert grade_notebook(source, student_version(json.loads(json.dumps(source)))).points == 0


def said(part, name=NAMES[0], **names):
    "What the tests say about answers, or None."
    try:
        Checker(find_assignment(name), names, advise=False)(part)
    except Wrong as wrong:
        return str(wrong)


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
    assert said("1a", single_linkage_labels=lambda W, k: merged(W, k, max)) is None
    assert said("1a", single_linkage_labels=lambda W, k: [f"c{x}" for x in merged(W, k, max)]) is None
    assert "single linkage as" in said("1a", single_linkage_labels=lambda W, k: merged(W, k, min))
    assert "should make 2" in said("1a", single_linkage_labels=lambda W, k: [0] * len(W))
    assert "one for each" in said("1a", single_linkage_labels=lambda W, k: [0])
    assert "There is no `single_linkage_labels`" in said("1a")


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

    assert said("1b", trap=good) is None

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

    assert "cuts off" in said("1b", trap=without)
    assert "symmetric" in said("1b", trap=lopsided)
    assert "equally similar" in said("1b", trap=ties)
    assert "two things" in said("1b", trap=lambda n: 3)


def test_rates_and_promises():
    assert "between 0.0 and 0.2" in said("2a", recovery=lambda snr, n, runs: 1.0)
    assert "between 0.95 and 1.0" in said("2a", recovery=lambda snr, n, runs: 0.0)
    assert said("2a", recovery=lambda snr, n, runs: np.float64(snr > 3)) is None
    assert "look for less" in said("2b", enough_separation=lambda n: 8.0)
    assert "75 % will do" in said("2b", enough_separation=lambda n: 1.0)
    promise = lambda n: 4 * np.log(20 * n) ** 0.5  # noqa: E731
    assert said("3a", promised_separation=promise, times_too_safe=3.5) is None
    assert "times_too_safe" in said("3a", promised_separation=promise, times_too_safe=1.0)
    assert "promised_separation(4)" in said("3a", promised_separation=lambda n: 4.0, times_too_safe=3.5)


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
        assert said(part, NAMES[1], **{name: kernel_in_other_words}) is None
        assert said(part, NAMES[1], **{name: true_kernel}) is None
        assert "[" in said(part, NAMES[1], **{name: signed_once})
        assert "shape" in said(part, NAMES[1], **{name: lambda answers, n: [0] * n})


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

    assert said("1b", NAMES[1], landmark_matrix=right) is None
    assert said("1b", NAMES[1], landmark_matrix=lambda *given: right(*given)[:, ::-1].tolist()) is None
    assert "product" in said("1b", NAMES[1], landmark_matrix=lambda *given: abs(right(*given)))
    assert "objects, pairs" in said("1b", NAMES[1], landmark_matrix=lambda *given: right(*given).T)


def test_tests_of_students():
    def compares(kernel):
        drawn = [drawn_answers(n, 0.5, seed) for n in (4, 5) for seed in range(8)]
        sizes = [n for n in (4, 5) for _ in range(8)]
        return all(np.array_equal(kernel(a, n), true_kernel(a, n)) for a, n in zip(drawn, sizes))

    assert said("3a", NAMES[1], is_right=compares) is None
    assert "says True" in said("3a", NAMES[1], is_right=lambda kernel: True)
    assert "says False" in said("3a", NAMES[1], is_right=lambda kernel: False)
    assert "True or False" in said("3a", NAMES[1], is_right=lambda kernel: "yes")
