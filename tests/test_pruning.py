"The best pruning: both algorithms against brute force on all small trees, and on larger ones against each other."

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import trees

from comparison_hc.core import pruning as engine
from comparison_hc.core.pruning import best_pruning, majority_loss, pruning_loss
from comparison_hc.dendrogram import Dendrogram, random_tree

tries = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def trees_and_labels(draw, most=6, n_classes=5):
    tree = draw(trees(most))
    labels = st.lists(st.integers(0, n_classes - 1), min_size=tree.n_objects, max_size=tree.n_objects)
    return tree, draw(labels), draw(st.integers(1, tree.n_leaves))


def by_definition(tree, labels, k):
    "(most objects right, most in majorities): over all prunings, and all one-to-one matchings."
    codes, clusters = np.unique(labels, return_inverse=True)[1].reshape(-1), dict(tree.clusters())
    best = majority = 0
    for nodes in combinations(clusters, k):
        if sorted(i for v in nodes for i in clusters[v].tolist()) != list(range(tree.n_objects)):
            continue
        count = np.array([np.bincount(codes[clusters[v]], minlength=codes.max() + 1) for v in nodes])
        few, many = (count if len(count) <= count.shape[1] else count.T).tolist(), max(count.shape)
        matchings = (sum(row[c] for row, c in zip(few, sigma)) for sigma in permutations(range(many), len(few)))
        best, majority = max(best, *matchings), max(majority, int(count.max(axis=1).sum()))
    return best, majority


def n_right(tree, labels, k, algorithm=None):
    return engine._find_best(tree, labels, k, algorithm)[2]


def shapes(n):
    "All shapes of binary trees with n leaves in Newick, with # for a leaf."
    if n == 1:
        return ["#"]
    return [
        f"({a},{b})"
        for left in range(1, n // 2 + 1)
        for x, a in enumerate(shapes(left))
        for y, b in enumerate(shapes(n - left))
        if 2 * left < n or x <= y
    ]


def labellings(n):
    "All partitions of n leaves, as labels."
    found = [[0]]
    for _ in range(n - 1):
        found = [p + [c] for p in found for c in range(max(p) + 2)]
    return found


@pytest.mark.parametrize("n", range(1, 7))
def test_loss_on_all_small_trees(n):
    "All shapes, all labellings (of six leaves every fifth), all k."
    assert len(shapes(n)) == [1, 1, 1, 2, 3, 6][n - 1]
    for shape in shapes(n):
        leaf = iter(range(n))
        tree = Dendrogram.from_newick("".join(str(next(leaf)) if c == "#" else c for c in shape) + ";")
        for k in range(1, n + 1):
            for labels in labellings(n)[:: 5 if n == 6 else 1]:
                right, majority = by_definition(tree, labels, k)
                assert pruning_loss(tree, labels, k) == (n - right) / n
                assert majority_loss(tree, labels, k) == (n - majority) / n


@given(trees_and_labels())
@settings(deadline=None, derandomize=True, max_examples=80)
def test_both_algorithms_are_brute_force(case):
    tree, labels, k = case
    right, majority = by_definition(tree, labels, k)
    for algorithm in (None, engine._best_by_sets, engine._best_by_solver):
        assert n_right(tree, labels, k, algorithm) == right
    assert majority_loss(tree, labels, k) == (tree.n_objects - majority) / tree.n_objects


@given(trees_and_labels(9), st.randoms(use_true_random=False))
@tries
def test_loss_does_not_depend_on_names_or_numbers(case, random):
    tree, labels, k = case
    loss, majority, labels = pruning_loss(tree, labels, k), majority_loss(tree, labels, k), np.array(labels)
    order = np.array(random.sample(range(tree.n_objects), tree.n_objects))
    renamed = np.array(["fig", "elm", "oak", "yew", "ash"])[labels]
    assert pruning_loss(tree.relabel(order), labels[order], k) == pruning_loss(tree, renamed, k) == loss
    assert majority_loss(tree.relabel(order), labels[order], k) == majority_loss(tree, renamed, k) == majority
    assert majority <= loss


@given(trees_and_labels(9))
@tries
def test_best_pruning_is_one(case):
    tree, labels, k = case
    best, names = best_pruning(tree, labels, k), np.array(labels)
    assert best.loss == pruning_loss(tree, labels, k)
    assert sorted(set(best.partition.tolist())) == list(range(k)) and len(best.assignment) == k
    used = [c for c in best.assignment if c is not None]
    assert len(used) == len(set(used)) == min(k, len(set(labels)))
    wrong = sum(best.assignment[cluster] != label for cluster, label in zip(best.partition.tolist(), labels))
    assert best.loss == wrong / len(labels)
    clusters = {frozenset(members.tolist()) for _, members in tree.clusters()}
    assert all(frozenset(np.flatnonzero(best.partition == c).tolist()) in clusters for c in range(k))
    assert names.tolist() == labels and not best.partition.flags.writeable


@pytest.mark.parametrize(
    "n, n_classes, k", [(60, 7, 7), (60, 7, 4), (60, 7, 12), (40, 11, 11), (80, 3, 30), (30, 2, 30)]
)
def test_algorithms_agree_on_larger_trees(n, n_classes, k):
    tree, labels = random_tree(n, n_classes), np.random.default_rng([n, n_classes, k]).integers(0, n_classes, n)
    by_sets, by_solver = (n_right(tree, labels, k, way) for way in (engine._best_by_sets, engine._best_by_solver))
    assert by_sets == by_solver == n_right(tree, labels, k)


def test_many_classes_go_to_the_solver(monkeypatch):
    used, solver = [], engine._best_by_solver
    monkeypatch.setattr(engine, "_best_by_solver", lambda top, k: used.append(k) or solver(top, k))
    tree = Dendrogram.from_merges([(2 * i, 2 * i + 1) for i in range(127)])
    assert pruning_loss(tree, np.arange(128) // 4) == 0 and used == [32]
    assert pruning_loss(tree, np.arange(128) // 32) == 0 and used == [32]


def test_a_long_chain_needs_no_recursion():
    n = 20_000
    chain = Dendrogram.from_merges([(0, 1)] + [(n + i, i + 2) for i in range(n - 2)])
    labels = np.append(np.zeros(n - 3, int), [1, 2, 3])
    assert pruning_loss(chain, labels) == 0 == majority_loss(chain, labels)
    assert best_pruning(chain, labels).assignment == (0, 1, 2, 3)
