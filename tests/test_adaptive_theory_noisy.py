"The theory of A18's section 5: every check holds, fails where it should, and its helpers equal their definitions."

from math import comb

import numpy as np
import pytest
from shared import every_check_holds

from comparison_hc.adaptive import theory_marking, theory_noisy, theory_searches, theory_walk, theory_whole
from comparison_hc.adaptive.noisy import HERE, contracted_tree, simulate_vertex_query
from comparison_hc.adaptive.trees import SHAPES, random_hierarchy
from comparison_hc.checks import find_checks
from comparison_hc.oracles import HierarchyOracle, Noisy, run

MODULES = {module.__name__ for module in (theory_marking, theory_noisy, theory_walk, theory_whole)}
CHECKS = [c for c in find_checks("A18") if c.__module__ in MODULES]


test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_section_5_has_a_check():
    labels = " ".join(c.label for c in CHECKS)
    assert [
        word
        for word in (
            "Lemma 5.2",
            "Lemma 5.3",
            "Lemma 5.4",
            "Lemma 5.5",
            "Lemma 5.6",
            "Lemma B.1",
            "Theorem 5.1, questions",
            "Theorem 5.1, simulated",
        )
        if word not in labels
    ] == []


def fails(check, **options):
    "The check runs to its end, and does not hold."
    result = check(**options)
    return result.error is None and not result.holds


@pytest.mark.parametrize(
    "module, name, wrong, check",
    [
        (theory_noisy, "votes_per_pivot", lambda p, printed=False: 1, theory_noisy.majorities_are_right),
        (
            theory_marking,
            "marking_rounds",
            lambda N, p, delta, printed=False: 3,
            theory_marking.rounds_mark_the_sibling,
        ),
        (theory_walk, "walking_rounds", lambda D, p, delta, printed=False: D + 1, theory_walk.walks_last_long_enough),
        (theory_walk, "right_response", lambda order, at, sibling: HERE, theory_walk.potential_drops),
        (theory_whole, "closed_form_bound", lambda n, p, delta: n**2.0, theory_whole.questions_grow_like_n_log_n),
    ],
)
def test_a_wrong_formula_is_found(monkeypatch, module, name, wrong, check):
    monkeypatch.setattr(module, name, wrong)
    assert fails(check)


def test_a_broken_condition_is_seen():
    assert fails(theory_marking.vertex_queries_are_right, n_votes=1)
    assert fails(theory_whole.trees_are_right, believed=0.99)


def test_chances_are_sums():
    for k, p in ((1, 0.3), (7, 0.8), (20, 0.55)):
        for c in range(-1, k + 1):
            assert np.isclose(
                theory_noisy.chance_of_more(c, k, p),
                sum(comb(k, s) * p**s * (1 - p) ** (k - s) for s in range(c + 1, k + 1)),
            )
        assert theory_noisy.chance_of_more(2.5, k, p) == theory_noisy.chance_of_more(2, k, p)


def test_the_sibling_is_found_where_the_tree_has_it():
    from comparison_hc.adaptive import insertion_clustering

    rng = np.random.default_rng(0)
    for shape in ("uniform", "balanced", "caterpillar", "split"):
        order, oracle, sibling = theory_searches.half_grown(12, shape, rng)
        cluster = {int(order.vertex[i]) for i in range(sibling, order.end[sibling]) if order.vertex[i] < 12}
        order.insert(sibling, 11)
        tree = run(insertion_clustering(12), oracle)
        assert order.tree.dendrogram().same_tree(tree) and cluster | {11} in [
            set(members.tolist()) for _, members in tree.clusters()
        ]


def test_tabled_answers_are_those_of_the_oracles():
    "Without noise those of the tree; with it, Noisy's with the same random numbers, for wrong answers that agree."
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        truth = random_hierarchy(7, shape, rng)
        questions = np.array([rng.choice(7, 3, replace=False) for _ in range(200)])
        table = theory_searches.TabledAnswers(truth)
        assert np.array_equal(table(questions), HierarchyOracle(truth)(questions))
        noisy = table.noisy(0.7, np.random.default_rng(5))
        assert np.array_equal(noisy(questions), Noisy(HierarchyOracle(truth), 0.7, 5, wrong="same")(questions))


def test_every_vertex_query_gets_the_response_that_is_chosen():
    order, _, sibling = theory_searches.half_grown(9, "uniform", np.random.default_rng(2))
    for at in range(len(order)):
        possible = theory_searches.possible_responses(order, at)
        assert theory_searches.right_response(order, at, sibling) in possible
        for response in possible:
            answers = theory_searches.VertexAnswers(order, {at: response}.get, at)
            assert run(simulate_vertex_query(order, at, 8, 3), answers) == response


def test_vertex_queries_are_counted():
    "As often as the first stage asks, which its watcher sees."
    from comparison_hc.adaptive.noisy import mw_stage

    rng = np.random.default_rng(3)
    order, oracle, _ = theory_searches.half_grown(10, "split", rng)
    asked = []
    counting = theory_whole.CountingVertexQueries(oracle.noisy(0.8, rng))
    search = mw_stage(order, 9, 0.8, 3, 30, lambda q, response, weight: asked.append(response is not None))
    theory_searches.driven(search, counting)
    assert counting.n_vertex == sum(asked) > 10 and counting.largest == 3


def test_the_worst_adversary_raises_the_potential():
    rng = np.random.default_rng(4)
    order, _, sibling = theory_searches.half_grown(12, "uniform", rng)
    near = contracted_tree(order, {*range(0, len(order), 2), sibling})
    always_wrong = theory_searches.right_or(order, sibling, 0, rng, theory_walk.raising(order, sibling, near, rng))
    _, seen = theory_walk.watched_walk(order, always_wrong, sibling, 11, near, 25)
    assert all(not right and after == before + 1 for right, before, after, _ in seen)


def test_a_walk_that_is_always_right_goes_straight_and_digs():
    order, _, sibling = theory_searches.half_grown(15, "uniform", np.random.default_rng(1))
    near = contracted_tree(order, {*range(0, len(order), 3), sibling})

    def respond(at):
        return theory_searches.right_response(order, at, sibling)

    end, seen = theory_walk.watched_walk(order, respond, sibling, 14, near, 30)
    assert end == sibling and all(right and after == before - 1 for right, before, after, _ in seen) and seen[-1][2] < 0
