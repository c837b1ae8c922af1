"The theory of A18: every check holds when quick, fails where it should, and its helpers equal their definitions."

from itertools import combinations
from math import ceil, comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import assert_every_statement_is_checked, every_check_holds

from comparison_hc.adaptive import (
    all_hierarchies,
    n_hierarchies,
    quick_clustering,
    random_hierarchy,
    theory,
    theory_algorithms,
    theory_degree,
    theory_insertion,
    theory_quick,
    theory_shapes,
    theory_trees,
)
from comparison_hc.adaptive.trees import SHAPES
from comparison_hc.checks import find_checks
from comparison_hc.oracles import Counting, HierarchyOracle, run

properties = settings(deadline=None, derandomize=True, max_examples=30)
MODULES = {m.__name__ for m in (theory, theory_trees, theory_algorithms, theory_quick, theory_insertion, theory_degree)}
CHECKS = [c for c in find_checks("A18") if c.__module__ in MODULES]

# ---- the checks


test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_has_a_check():
    assert_every_statement_is_checked(
        CHECKS,
        "Proposition 2.1",
        "Proposition 2.2",
        "Proposition 2.4",
        "Proposition 4.1",
        "Theorem 2.3, step",
        "Theorem 2.3, conclusion",
        "number of hierarchies",
        "lower bound",
        "Lemma 3.1",
        "Theorem 3.2",
        "Theorem 3.2, runs",
        "Lemma 4.2",
        "Theorem 4.3, sum",
        "Theorem 4.3, every tree and order",
        "Theorem 4.3, large trees",
        "every small tree",
        "Section 6, star",
        "Section 6, degree",
    )


BEGINNER = staticmethod(lambda tree, ties=True: ({v: len(tree.below()) for v in tree.below()}, {3: 3}))


@pytest.mark.parametrize(
    "module, name, wrong, check",
    [
        (
            theory_trees,
            "induced_family",
            lambda family, S: [X & S for X in family],
            theory_trees.induced_tree_has_the_induced_clusters,
        ),
        (
            theory,
            "answer_table",
            lambda n, trees: np.zeros((len(trees), comb(n, 3)), dtype=int),
            theory.all_answers_tell_the_tree,
        ),
        (theory_trees, "ways_to_form_fours", lambda n: 24**n, theory_trees.triplets_inside_fours),
        (theory_trees, "share_identified", lambda table, columns: 1.0, theory_trees.few_triplets_fail),
        (theory_trees, "left_out", lambda family, triple: 0, theory_trees.a_pivot_tells_the_side),
        (theory_trees, "all_hierarchies", lambda n: [swapped(n)], theory_trees.a_new_item_is_spliced_in),
        (theory_trees, "n_hierarchies", lambda n: 2**n, theory_trees.hierarchies_are_counted),
        (
            theory_trees,
            "log3_hierarchies",
            lambda n: 1.2 * np.asarray(n) * np.log(n),
            theory_trees.three_answers_need_n_log3_n,
        ),
        (
            theory_algorithms,
            "too_large",
            lambda n, a, b: np.maximum(a, n - a - b) >= 0,
            theory_quick.splits_are_good_often_enough,
        ),
        (
            theory_quick,
            "two_clusters",
            lambda shape: (1, theory_shapes.n_leaves(shape)),
            theory_quick.two_clusters_exist,
        ),
        (theory_quick, "caterpillar_means", lambda n: 1.1 * np.arange(n + 1.0), theory_quick.quick_needs_n_log_n),
        (
            theory_quick,
            "expected_questions",
            lambda shape: 1.05 * theory_shapes.n_leaves(shape) ** 1.3,
            theory_quick.quick_runs_as_computed,
        ),
        (theory_insertion, "insertion_costs", BEGINNER.__func__, theory_insertion.finding_the_sibling_halves),
        (theory_insertion, "insertion_costs", BEGINNER.__func__, theory_insertion.insertion_needs_n_log_n),
        (theory_algorithms, "lgamma", lambda n: n**1.5, theory_algorithms.the_sum_is_below_n_log_n),
        (
            theory_insertion,
            "insertion_clustering",
            lambda n: quick_clustering(n, 0),
            theory_insertion.insertion_runs_within_the_bound,
        ),
        (
            theory_insertion,
            "all_triples_clustering",
            lambda n: quick_clustering_of_another_tree(n),
            theory_insertion.every_small_tree_is_learned,
        ),
        (
            theory_degree,
            "fewest_questions",
            lambda M: np.ceil(np.arange(1, M + 1) / 2),
            theory_degree.the_star_needs_n_squared,
        ),
        (
            theory_degree,
            "questions_per_insertion",
            lambda m, d, largest_first=True: log2(m),
            theory_degree.degree_bounds_hold,
        ),
    ],
    ids=lambda x: getattr(x, "name", x) if isinstance(getattr(x, "name", x), str) else "",
)
def test_a_wrong_formula_is_found(monkeypatch, module, name, wrong, check):
    monkeypatch.setattr(module, name, wrong)
    assert not check()


def swapped(n):
    "A tree whose last splice has its sides exchanged."
    tree = next(iter(all_hierarchies(n)))
    tree.left[tree.parent[n - 1]], tree.right[tree.parent[n - 1]] = n - 1, tree.left[tree.parent[n - 1]]
    return tree


def quick_clustering_of_another_tree(n):
    "A learner that does not listen."
    if n > 2:
        yield np.array([[0, 1, 2]])
    return next(iter(all_hierarchies(n))).dendrogram()


# ---- helpers against their definitions


def test_families_are_the_trees_that_grow():
    for n in range(1, 7):
        grown = [
            frozenset(sum(1 << i for i in tree.below(v) if i < n) for v in tree.below()) for tree in all_hierarchies(n)
        ]
        families = theory.families((1 << n) - 1)
        assert set(grown) == set(families) and len(families) == n_hierarchies(n)


@properties
@given(st.integers(3, 12), st.sampled_from(sorted(SHAPES)), st.integers(0, 2**32 - 1))
def test_answers_are_those_of_the_oracle(n, shape, seed):
    truth = random_hierarchy(n, shape, seed)
    family = frozenset(sum(1 << i for i in members.tolist()) for _, members in truth.clusters())
    triples = list(combinations(range(n), 3))
    assert (
        [theory.left_out(family, triple) for triple in triples]
        == HierarchyOracle(truth)(np.array(triples)).tolist()
        == theory.answer_table(n, [family])[0].tolist()
    )


def test_full_families_halve():
    for n, count in ((2, 1), (4, 3), (8, 315)):
        trees = theory_trees.full_families(n)
        assert len(set(trees)) == count and all(tree in theory.families((1 << n) - 1) for tree in trees[:3] if n < 8)
        assert all({X.bit_count() for X in tree} == {2**k for k in range(n.bit_length())} for tree in trees)


def test_share_identified_by_counting():
    table = theory.answer_table(4, theory.families(0b1111))
    columns = [0, 2]
    alone = sum(
        all((row[columns] != other[columns]).any() for j, other in enumerate(table) if j != i)
        for i, row in enumerate(table)
    )
    assert theory_trees.share_identified(table, columns) == alone / 15


def test_shapes_are_those_of_all_trees():
    for n in range(1, 8):
        assert set(theory_shapes.shapes(n)) == {theory_shapes.shape_of(tree) for tree in all_hierarchies(n)} and len(
            set(theory_shapes.shapes(n))
        ) == len(theory_shapes.shapes(n))
        assert all(theory_shapes.shape_of(theory_shapes.grown(shape)) == shape for shape in theory_shapes.shapes(n))


def test_worst_failure_is_the_worst_of_all_shapes():
    for n in (17, 18, 19):
        assert theory_algorithms.worst_failure(n) == pytest.approx(
            theory_quick.bad_pairs_of_all_shapes(n).max() / comb(n, 2)
        )
    worst = theory_algorithms.worst_failure(40)
    assert all(theory_quick.bad_pairs_asked(random_hierarchy(40, shape, 3)) / comb(40, 2) <= worst for shape in SHAPES)


@pytest.mark.parametrize("n", [4, 6, 8])
def test_splits_are_what_draws_lead_to(n):
    "Every pair of every shape, in a tree: sizes of A, B, C, and Merge's walk by hand from the root of C's tree."

    def above(tree, v):
        return [v] if tree.parent[v] < 0 else [v, *above(tree, tree.parent[v])]

    for shape in theory_shapes.shapes(n):
        tree = theory_shapes.grown(shape)
        found = []
        for a, b in combinations(range(n), 2):
            bar = next(v for v in above(tree, a) if v in above(tree, b))
            sizes = sorted(sum(w < n for w in tree.below(child)) for child in (tree.left[bar], tree.right[bar]))
            up = tree.parent[bar]
            walk = 0 if up < 0 else len(above(tree, up)) - 1 + ({tree.left[up], tree.right[up]} - {bar}).pop().__ge__(n)
            found.append((*sizes, n - sum(sizes), walk))
        rows = [
            (*sorted(map(theory_shapes.n_leaves, (A, B))), theory_shapes.n_leaves(C) if C is not None else 0, walk)
            for pairs, A, B, C, walk in theory_quick.splits(shape)
            for _ in range(pairs)
        ]
        assert sorted(rows) == sorted(found)


def test_insertion_costs_by_looking_for_every_sibling():
    "With first best pivots only, the costs are those of asking one by one."
    for shape in theory_shapes.shapes(7):
        tree = theory_shapes.grown(shape)
        inside = {v: set(tree.below(v)) for v in tree.below()}
        cost, _ = theory_insertion.insertion_costs(tree, ties=False)
        most, _ = theory_insertion.insertion_costs(tree)
        for sibling in tree.below():
            S, asked = set(tree.below()), 0
            while len(S) > 1:
                v = min(
                    (v for v in tree.below() if v >= 7),
                    key=lambda v: max(
                        len(S & inside[tree.left[v]]),
                        len(S & inside[tree.right[v]]),
                        len(S - inside[tree.left[v]] - inside[tree.right[v]]),
                    ),
                )
                S &= next(
                    (inside[child] for child in (tree.left[v], tree.right[v]) if sibling in inside[child]),
                    S - inside[tree.left[v]] - inside[tree.right[v]],
                )
                asked += 1
            assert cost[sibling] == asked <= most[sibling] <= ceil(log2(7))


def test_expected_questions_against_runs():
    "The mean of many runs on a shape of seven leaves."
    shape = theory_shapes.shapes(7)[5]
    truth, counts = theory_shapes.grown(shape).dendrogram(), []
    for seed in range(600):
        oracle = Counting(HierarchyOracle(truth))
        run(quick_clustering(7, seed, "walk"), oracle)
        counts.append(oracle.n_queries)
    assert (
        abs(np.mean(counts) - theory_quick.expected_questions(shape)) < 5 * np.std(counts) / 600**0.5
    )  # five standard errors
