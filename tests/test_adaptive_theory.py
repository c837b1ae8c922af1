"The theory of A18: every check holds, every statement has one, and the helpers equal their definitions."

from itertools import combinations
from math import ceil, comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import assert_every_statement_is_checked, every_check_holds

from comparison_hc.adaptive import (
    all_hierarchies,
    insertion_clustering,
    n_hierarchies,
    quick_clustering,
    random_hierarchy,
)
from comparison_hc.adaptive.noisy import contracted_tree, mw_stage, simulate_vertex_query
from comparison_hc.adaptive.trees import SHAPES
from comparison_hc.checks import find_checks
from comparison_hc.oracles import Counting, HierarchyOracle, Noisy, run
from comparison_hc.theory import a18_insertion, a18_noisy, a18_quick, a18_trees

CHECKS = find_checks("A18")
test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_has_a_check():
    assert_every_statement_is_checked(
        CHECKS,
        *"Proposition 2.1,Proposition 2.2,Proposition 2.4,Proposition 4.1,number of hierarchies,lower bound".split(","),
        *"Lemma 3.1,Lemma 4.2,Lemma 5.2,Lemma 5.3,Lemma 5.4,Lemma 5.5,Lemma 5.6,Lemma B.1".split(","),
        "Theorem 2.3, step",
        "Theorem 2.3, conclusion",
        "Theorem 3.2",
        "Theorem 3.2, runs",
        "Theorem 4.3, sum",
        "Theorem 4.3, every tree and order",
        "Theorem 4.3, large trees",
        "every small tree",
        "Theorem 5.1, questions",
        "Theorem 5.1, simulated",
        "Section 6, star",
        "Section 6, degree",
    )


def test_a_broken_condition_is_seen():
    for check, options in (
        (a18_noisy.vertex_queries_are_right, {"n_votes": 1}),
        (a18_noisy.trees_are_right, {"believed": 0.99}),
    ):
        result = check(**options)
        assert result.error is None and not result.holds


# ---- trees and shapes


def test_hierarchies_are_the_trees_that_grow():
    for n in range(1, 7):
        trees = list(all_hierarchies(n))
        grown = [frozenset(sum(1 << i for i in tree.below(v) if i < n) for v in tree.below()) for tree in trees]
        hierarchies = a18_trees.hierarchies_over((1 << n) - 1)
        assert set(grown) == set(hierarchies) and len(hierarchies) == n_hierarchies(n)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(3, 12), st.sampled_from(sorted(SHAPES)), st.integers(0, 2**32 - 1))
def test_answers_are_those_of_the_oracle(n, shape, seed):
    truth = random_hierarchy(n, shape, seed)
    hierarchy = frozenset(sum(1 << i for i in members.tolist()) for _, members in truth.clusters())
    triples = list(combinations(range(n), 3))
    answers = HierarchyOracle(truth)(np.array(triples)).tolist()
    assert [a18_trees.odd_one_out(hierarchy, triple) for triple in triples] == answers
    assert a18_trees.answer_table(n, [hierarchy])[0].tolist() == answers


def test_full_hierarchies_halve():
    for n, count in ((2, 1), (4, 3), (8, 315)):
        trees = a18_trees.full_hierarchies(n)
        assert len(set(trees)) == count
        assert all(tree in a18_trees.hierarchies_over((1 << n) - 1) for tree in trees[:3] if n < 8)
        assert all({X.bit_count() for X in tree} == {2**k for k in range(n.bit_length())} for tree in trees)


def test_share_identified_by_counting():
    table, columns = a18_trees.answer_table(4, a18_trees.hierarchies_over(0b1111)), [0, 2]
    others = [np.delete(table, i, axis=0) for i in range(len(table))]
    alone = sum((other[:, columns] != row[columns]).any(axis=1).all() for row, other in zip(table, others))
    assert a18_trees.share_identified(table, columns) == alone / 15


def test_shapes_are_those_of_all_trees():
    for n in range(1, 8):
        shapes = a18_trees.shapes(n)
        assert set(shapes) == {a18_trees.shape_of(tree) for tree in all_hierarchies(n)} and len(set(shapes)) == len(
            shapes
        )
        assert all(a18_trees.shape_of(a18_trees.grown(shape)) == shape for shape in shapes)


# ---- quick clustering and insertion


def test_worst_failure_is_the_worst_of_all_shapes():
    for n in (17, 18, 19):
        worst = a18_quick.bad_pairs_of_all_shapes(n).max() / comb(n, 2)
        assert a18_quick.worst_failure(n) == pytest.approx(worst)
    asked = [a18_quick.bad_pairs_asked(random_hierarchy(40, shape, 3)) / comb(40, 2) for shape in SHAPES]
    assert max(asked) <= a18_quick.worst_failure(40)


@pytest.mark.parametrize("n", [4, 6, 8])
def test_splits_are_the_outcomes_of_draws(n):
    "Every pair of every shape, in a tree: sizes of A, B, C, and Merge's walk by hand from the root of C's tree."

    def above(tree, v):
        return [v] if tree.parent[v] < 0 else [v, *above(tree, tree.parent[v])]

    size = a18_trees.n_leaves
    for shape in a18_trees.shapes(n):
        tree, found, rows = a18_trees.grown(shape), [], []
        for a, b in combinations(range(n), 2):
            bar = next(v for v in above(tree, a) if v in above(tree, b))
            sizes = sorted(sum(w < n for w in tree.below(child)) for child in (tree.left[bar], tree.right[bar]))
            up = tree.parent[bar]
            beside = max({tree.left[up], tree.right[up]} - {bar}) if up >= 0 else 0
            walk = 0 if up < 0 else len(above(tree, up)) - 1 + (beside >= n)
            found.append((*sizes, n - sum(sizes), walk))
        for pairs, A, B, C, walk in a18_quick.splits(shape):
            rows += [(*sorted(map(size, (A, B))), size(C) if C is not None else 0, walk)] * pairs
        assert sorted(rows) == sorted(found)


def test_expected_questions_against_runs():
    "The mean of many runs on a shape of seven leaves: five standard errors."
    shape, counts = a18_trees.shapes(7)[5], []
    oracle = HierarchyOracle(a18_trees.grown(shape).dendrogram())
    for seed in range(600):
        counting = Counting(oracle)
        run(quick_clustering(7, seed, "walk"), counting)
        counts.append(counting.n_queries)
    assert abs(np.mean(counts) - a18_quick.expected_questions(shape)) < 5 * np.std(counts) / 600**0.5


def test_insertion_costs_by_looking_for_every_sibling():
    "With first best pivots only, the costs are those of asking one by one."
    for shape in a18_trees.shapes(7):
        tree = a18_trees.grown(shape)
        inside = {v: set(tree.below(v)) for v in tree.below()}
        pivots = {v: (inside[tree.left[v]], inside[tree.right[v]]) for v in tree.below() if v >= 7}
        cost, _ = a18_insertion.insertion_costs(tree, ties=False)
        most, _ = a18_insertion.insertion_costs(tree)
        for sibling in tree.below():
            S, asked = set(tree.below()), 0
            while len(S) > 1:
                parts = {v: (S & left, S & right, S - left - right) for v, (left, right) in pivots.items()}
                best = min(parts, key=lambda v, parts=parts: max(map(len, parts[v])))
                [S] = [part for part in parts[best] if sibling in part]
                asked += 1
            assert cost[sibling] == asked <= most[sibling] <= ceil(log2(7))


# ---- noisy searches


def test_chances_are_sums():
    for k, p in ((1, 0.3), (7, 0.8), (20, 0.55)):
        for c in range(-1, k + 1):
            more = sum(comb(k, s) * p**s * (1 - p) ** (k - s) for s in range(c + 1, k + 1))
            assert np.isclose(a18_noisy.chance_of_more(c, k, p), more)
        assert a18_noisy.chance_of_more(2.5, k, p) == a18_noisy.chance_of_more(2, k, p)


def test_the_sibling_is_found_where_the_tree_has_it():
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        tour, oracle, sibling = a18_noisy.partial_tree(12, shape, rng)
        cluster = {int(tour.vertex[i]) for i in range(sibling, tour.end[sibling]) if tour.vertex[i] < 12}
        tour.insert(sibling, 11)
        tree = run(insertion_clustering(12), oracle)
        assert tour.tree.dendrogram().same_tree(tree)
        assert cluster | {11} in [set(members.tolist()) for _, members in tree.clusters()]


def test_every_vertex_query_gets_the_response_that_is_chosen():
    tour, _, sibling = a18_noisy.partial_tree(9, "uniform", np.random.default_rng(2))
    for at in range(len(tour)):
        possible = a18_noisy.possible_responses(tour, at)
        assert a18_noisy.right_response(tour, at, sibling) in possible
        for response in possible:
            answers = a18_noisy.VertexAnswers(tour, {at: response}.get, at)
            assert run(simulate_vertex_query(tour, at, 8, 3), answers) == response


def test_vertex_queries_are_counted():
    "As often as the first stage asks, according to its callback."
    rng, asked = np.random.default_rng(3), []
    tour, oracle, _ = a18_noisy.partial_tree(10, "split", rng)
    counting = a18_noisy.CountingVertexQueries(Noisy(oracle, 0.8, rng, wrong="same"))
    run(mw_stage(tour, 9, 0.8, 3, 30, lambda q, response, weight: asked.append(response is not None)), counting)
    assert counting.n_vertex == sum(asked) > 10 and counting.largest == 3


def test_the_worst_adversary_raises_the_potential_and_right_answers_lower_it():
    tour, _, sibling = a18_noisy.partial_tree(12, "uniform", rng := np.random.default_rng(4))
    near = contracted_tree(tour, {*range(0, len(tour), 2), sibling})
    adversary = a18_noisy.worst_adversary(tour, sibling, near, rng)
    for p, step in ((0, 1), (1, -1)):
        respond = a18_noisy.right_or(tour, sibling, p, rng, adversary)
        end, seen = a18_noisy.watched_walk(tour, respond, sibling, 11, near, 25)
        assert all(right == p and after == before + step for right, before, after, _ in seen)
    assert end == sibling and seen[-1][2] < 0
