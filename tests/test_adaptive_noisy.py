"Robust and Bayesian insertion: every part equals its definition; reliability for every adversary; bad input."

from copy import deepcopy
from fractions import Fraction
from math import exp, lgamma, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.adaptive import (
    GrowingTree,
    all_hierarchies,
    bayesian_insertion_clustering,
    noisy,
    posterior,
    preorder,
    random_hierarchy,
    robust_insertion_clustering,
    rounds,
)
from comparison_hc.adaptive.preorder import HERE, LEFT, RIGHT, UP, PreOrder
from comparison_hc.adaptive.rounds import marking_rounds, votes_per_pivot, walking_rounds
from comparison_hc.adaptive.trees import SHAPES
from comparison_hc.core.validation import InputError
from comparison_hc.oracles import Counting, HierarchyOracle, Journal, Noisy, run

properties = settings(deadline=None, derandomize=True, max_examples=40)
seeds, sizes = st.integers(0, 2**32 - 1), st.integers(2, 25)
ways = [robust_insertion_clustering, bayesian_insertion_clustering]


def grown(n, seed):
    "A tree of n items that grew at random places."
    rng, order = np.random.default_rng(seed), PreOrder(GrowingTree(n), seed)
    for x in range(1, n):
        order.insert(int(rng.integers(len(order))), x)
    return order


def paths(order):
    "(N, N) distances in the tree, by walking up."
    up = [[i] for i in range(len(order))]
    for path in up:
        while order.parent[path[-1]] >= 0:
            path.append(int(order.parent[path[-1]]))
    return np.array([[len(set(a) ^ set(b)) for b in up] for a in up])


def chance(c, k, p):
    return exp(lgamma(k + 1) - lgamma(c + 1) - lgamma(k - c + 1) + c * log(p) + (k - c) * log(1 - p))


def tail(most, k, p):
    return sum(chance(c, k, p) for c in range(most + 1))


# ---- the row of vertices


@properties
@given(sizes, seeds)
def test_places_are_the_tree(n, seed):
    order = grown(n, seed)
    tree = order.tree
    assert len(order) == 2 * n - 1 and order.vertex.tolist() == tree.below()
    for i, v in enumerate(order.vertex.tolist()):
        assert order.vertex[i : order.end[i]].tolist() == tree.below(v)
        assert (order.vertex[order.parent[i]] if order.parent[i] >= 0 else -1) == tree.parent[v]
        if v >= n:
            assert (order.vertex[i + 1], order.vertex[order.middle[i]]) == (tree.left[v], tree.right[v])


@properties
@given(st.integers(3, 25), seeds)
def test_questions_stand_for_their_pivot(n, seed):
    order = grown(n - 1, seed)
    order.tree.n_items = n - 1
    for at in order.pivots.tolist():
        q = next(order.ask(at, n - 1, 20))
        left, right = (
            set(order.vertex[a:b].tolist()) for a, b in ((at + 1, order.middle[at]), (order.middle[at], order.end[at]))
        )
        assert q.shape == (20, 3) and set(q[:, 0]) <= left and set(q[:, 1]) <= right and (q[:, 2] == n - 1).all()


@properties
@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.floats(1.01, 99), seeds)
def test_weights_are_powers_and_ties_are_ties(counts, factor, seed):
    "By exact fractions; and equal bits wherever as many answers allow, which an exponential need not give."
    n_allowed, known = np.array(counts, dtype=float), np.array(counts)
    marked = np.random.default_rng(seed).random(len(counts)) < 0.3
    marked[known.argmax()] = False
    n_allowed[marked] = -np.inf
    weight, ratio = preorder.relative_weights(n_allowed, factor), 1 / Fraction(factor)
    exact = [0.0 if gone else float(ratio ** int(known.max() - c)) for c, gone in zip(counts, marked)]
    assert np.allclose(weight, exact, rtol=1e-13, atol=1e-300) and weight.max() == 1
    step, products = 1 / factor, [1.0]
    while len(products) <= known.max():
        products.append(products[-1] * step)  # Python's own multiplication: the same bits
    assert [products[int(known.max() - c)] for c in known[~marked]] == weight[~marked].tolist()


@properties
@given(sizes, seeds)
def test_the_median_minimises_the_weighted_distance(n, seed):
    order, rng = grown(n, seed), np.random.default_rng(seed)
    weight = rng.random(len(order)) ** 6 * (rng.random(len(order)) < 0.7)
    weight[rng.integers(len(order))] = 1
    costs = paths(order) @ weight
    assert np.isclose(costs[preorder.weighted_median(order, weight)], costs.min())


@properties
@given(sizes, seeds, st.integers(1, 12))
def test_the_contracted_tree(n, seed, size):
    order, rng = grown(n, seed), np.random.default_rng(seed)
    marked = set(rng.choice(len(order), min(size, len(order)), replace=False).tolist())
    near, D = preorder.contracted_tree(order, marked), paths(order)
    full = {i: {j for j in range(len(order)) if D[i, j] == 1} for i in range(len(order))}
    while few := [v for v in full if v not in marked and len(full[v]) < 3]:  # cut leaves, contract paths
        ends = full.pop(few[0])
        for u in ends:
            full[u] = (full[u] - {few[0]}) | (ends - {u})
    assert {v: set(to) - {v} for v, to in near.items()} == full and all(to[HERE] == v for v, to in near.items())
    for v, to in near.items():  # every step leads the way it says
        for target in near:
            if target != v:
                assert D[to[direction(order, v, target)], target] < D[v, target]
    steps = {v: {v: 0} for v in near}
    for v, seen in steps.items():
        for u in (queue := [v]):
            for w in full[u] - seen.keys():
                seen[w] = seen[u] + 1
                queue.append(w)
    assert preorder.diameter(near) == max(max(seen.values()) for seen in steps.values()) <= len(marked) - 1


def direction(order, at, to):
    "From one place to another, by the members of subtrees."
    tree, v, target = order.tree, int(order.vertex[at]), int(order.vertex[to])
    if v == target:
        return HERE
    if v >= tree.n_items:
        if target in tree.below(tree.left[v]):
            return LEFT
        if target in tree.below(tree.right[v]):
            return RIGHT
    return UP


# ---- vertex queries, posterior


@pytest.mark.parametrize("n_votes", [1, 3])
def test_vertex_queries_without_noise_are_right(n_votes):
    for n in (4, 5):
        for hidden in all_hierarchies(n):
            oracle = HierarchyOracle(hidden.dendrogram())
            for sibling in range(2 * n - 3):  # the place that makes the hidden tree
                order = PreOrder(GrowingTree(n), 0)
                for x in range(1, n - 1):
                    order.insert(run(posterior.bayesian_sibling(order, x, 1e20, 1e-9), oracle) if x > 1 else 0, x)
                probe = deepcopy(order)
                probe.insert(sibling, n - 1)
                if probe.tree.dendrogram() == hidden.dendrogram():
                    break
            else:
                raise AssertionError("no place makes the hidden tree")
            for at in range(len(order)):
                assert run(noisy.simulate_vertex_query(order, at, n - 1, n_votes), oracle) == direction(
                    order, at, sibling
                )


@properties
@given(st.integers(3, 15), seeds, st.floats(0.51, 0.95))
def test_posterior_and_pivot_are_those_of_the_definition(n, seed, p):
    order, rng, seen = grown(n - 1, seed), np.random.default_rng(seed), []
    search = posterior.bayesian_sibling(order, n - 1, p / (1 - p), 1e-9, seen.append)
    expected = np.ones(len(order))
    next(search)
    parts = lambda at: [
        np.isin(np.arange(len(order)), [to for to in range(len(order)) if direction(order, at, to) in which])
        for which in ((RIGHT,), (LEFT,), (UP, HERE))
    ]
    for _ in range(15):
        at = posterior.halving_pivot(order, seen[-1], int(seen[-1].argmax()))
        heaviest = lambda at: max(seen[-1][part].sum() for part in parts(at))
        assert np.isclose(heaviest(at), min(map(heaviest, order.pivots.tolist())))
        answer = int(rng.integers(3))
        expected *= np.where(parts(at)[answer], p, 1 - p)
        try:
            search.send(np.array([answer]))
        except StopIteration:
            return
        assert np.allclose(seen[-1], expected / expected.max())


def same_part(order, pivot, top):
    "How many places are in the part of a pivot in which `top` is."
    parts = [direction(order, pivot, v) for v in range(len(order))]
    parts = [UP if part == HERE else part for part in parts]
    return parts.count(parts[top])


def test_the_last_doubts_are_not_lost_to_rounding():
    order = grown(30, 0)
    for top in range(len(order)):
        weight = np.full(len(order), 1e-25)
        weight[top] = 1
        at = posterior.halving_pivot(order, weight, top)
        beside = {pivot: same_part(order, pivot, top) for pivot in order.pivots.tolist()}
        assert beside[at] == min(beside.values()) < len(order)


# ---- numbers of rounds


@pytest.mark.parametrize("p", [0.51, 0.55, 0.6, 0.75, 0.8, 0.9, 0.99])
def test_votes(p):
    exact, printed = rounds.votes_per_pivot(p), rounds.votes_per_pivot(p, True)
    assert exact % 2 == printed % 2 == 1 and exact <= printed and 1 - np.exp(-printed * (2 * p - 1) ** 2 / 2) >= sqrt(p)
    if exact < 500:
        assert 1 - tail(exact // 2, exact, p) >= sqrt(p) and (
            exact == 1 or 1 - tail(exact // 2 - 1, exact - 2, p) < sqrt(p)
        )


@pytest.mark.parametrize("p", [0.6, 0.75, 0.8, 0.9])
@pytest.mark.parametrize("delta", [0.4, 0.01, 1e-4])
def test_rounds_suffice(p, delta):
    for N in (3, 39, 1999):
        K = rounds.marking_rounds(N, p, delta)
        assert K <= rounds.marking_rounds(N, p, delta, True)
        enough = [c for c in range(K + 1) if c * log2(p) + (K - c) * log2(1 - p) > log2(N) - K + 1e-9]
        assert tail(min(enough) - 1, K, p) <= delta * (1 + 1e-8)
    for D in (1, 5, 40):
        k = rounds.walking_rounds(D, p, delta)
        assert k <= rounds.walking_rounds(D, p, delta, True) and sum(
            chance(c, k, p) for c in range(k + 1) if 2 * c - k <= D
        ) <= delta * (1 + 1e-8)


# ---- the learners


@pytest.mark.parametrize("way", ways)
def test_every_small_tree_with_hardly_any_noise(way):
    for n in (2, 3, 4):
        for tree in all_hierarchies(n):
            truth = tree.dendrogram()
            assert run(way(n, 0.99, 0.01), HierarchyOracle(truth)) == truth


@properties
@given(st.sampled_from(sorted(SHAPES)), st.integers(2, 40), seeds)
def test_right_answers_give_the_right_tree(shape, n, seed):
    truth = random_hierarchy(n, shape, seed)
    assert run(bayesian_insertion_clustering(n, 0.9, 0.1, seed), HierarchyOracle(truth)).same_tree(truth)


@pytest.mark.parametrize("wrong", ["random", "same", "decoy"])
@pytest.mark.parametrize("way, runs, n", [(robust_insertion_clustering, 8, 6), (bayesian_insertion_clustering, 40, 10)])
def test_wrong_trees_are_rare(way, runs, n, wrong):
    right = 0
    for seed in range(runs):
        truth = random_hierarchy(n, sorted(SHAPES)[seed % 4], seed)
        story = HierarchyOracle(random_hierarchy(n, "uniform", 999 + seed)) if wrong == "decoy" else wrong
        right += run(way(n, 0.8, 0.02, seed), Noisy(HierarchyOracle(truth), 0.8, seed, wrong=story)).same_tree(truth)
    assert (
        right >= runs - 3
    )  # four or more of 40 at 2 %: less than 1 % even if the bound were attained, with fixed seeds


def test_the_exact_posterior_keeps_its_promise_on_average():
    delta, runs = 0.3, 150
    wrong = sum(
        not run(
            bayesian_insertion_clustering(8, 0.75, delta, seed, adversary=False),
            Noisy(HierarchyOracle(truth), 0.75, seed),
        ).same_tree(truth)
        for seed in range(runs)
        for truth in [random_hierarchy(8, "uniform", seed)]
    )
    assert 0 < wrong < delta * runs  # it is spent, but not overspent


def test_questions_of_the_ways():
    truth, asked = random_hierarchy(25, "split", 0), {}
    for name, algorithm in dict(
        robust=robust_insertion_clustering(25, 0.8, 0.05),
        any=bayesian_insertion_clustering(25, 0.8, 0.05),
        random=bayesian_insertion_clustering(25, 0.8, 0.05, adversary=False),
    ).items():
        oracle = Counting(Noisy(HierarchyOracle(truth), 0.8, 1))
        run(algorithm, oracle)
        asked[name] = oracle.n_queries
    assert asked["random"] < asked["any"] < asked["robust"] / 8 and asked["any"] < 15 * (25 * log2(25) + 25 * log2(20))


@pytest.mark.parametrize("way", ways)
def test_seeds_names_and_watching(way):
    names, truth = ["ant", "bee", "cat", "dog"], random_hierarchy(4, "split", 0)

    def learned(seed, **options):
        oracle = Counting(Noisy(HierarchyOracle(truth), 0.8, 3))
        return run(way(names, 0.8, 0.1, seed, **options), oracle), oracle.n_queries

    tree = GrowingTree(4)
    first, again = learned(5, tree=tree), learned(5)
    assert first == again and first[0].names == tuple(names) and tree.dendrogram(names) == first[0]
    assert run(way(2, 0.8, 0.1), lambda questions: 1 / 0).n_leaves == 2  # nothing to ask about two


def test_a_journal_continues(tmp_path):
    truth, path = random_hierarchy(8, "split", 1), tmp_path / "answers.jsonl"

    class Tired(Exception):
        pass

    oracle, left = Noisy(HierarchyOracle(truth), 0.8, 4), [30]

    def tired(questions):
        left[0] -= 1
        if left[0] < 0:
            raise Tired
        return oracle(questions)

    with pytest.raises(Tired):
        run(bayesian_insertion_clustering(8, 0.8, 0.1), Journal(tired, path))
    left[0] = 10**9
    continued = run(bayesian_insertion_clustering(8, 0.8, 0.1), Journal(tired, path))
    assert continued == run(bayesian_insertion_clustering(8, 0.8, 0.1), Noisy(HierarchyOracle(truth), 0.8, 4))


# ---- bad input


@pytest.mark.parametrize("way", ways)
@pytest.mark.parametrize(
    "change, words",
    [
        (dict(items=1), "items must be"),
        (dict(items=["a", "a"]), "items must be distinct"),
        (dict(items=2.5), "items must be"),
        *[
            (dict(p_correct=p), "p_correct must be")
            for p in (0.5, 0.4, 0, 1, 1.0, -1, 2, 0.5005, float("nan"), "0.8", None, True)
        ],
        *[(dict(delta=d), "delta must be") for d in (0, 1, -0.1, 1.5, float("nan"), "x", None, 1e-200)],
        (dict(rng=-1), "rng must be"),
        (dict(rng="x"), "rng must be"),
        (dict(tree=3), r"a new GrowingTree\(5\)"),
        (dict(tree=GrowingTree(4)), r"a new GrowingTree\(5\)"),
    ],
    ids=str,
)
def test_arguments_that_are_refused(way, change, words):
    with pytest.raises(InputError, match=words):
        way(**{**dict(items=5, p_correct=0.8, delta=0.1), **change})


@pytest.mark.parametrize("p", [0.5, 0.4, 1, 0, float("nan"), "x", None, True])
def test_chances_that_are_refused(p):
    for call in (lambda: votes_per_pivot(p), lambda: marking_rounds(9, p, 0.1), lambda: walking_rounds(3, p, 0.1)):
        with pytest.raises(InputError, match="p_correct must be"):
            call()


def test_other_numbers_of_the_proofs_that_are_refused():
    for call, words in (
        (lambda: marking_rounds(2, 0.8, 0.1), "n_vertices"),
        (lambda: marking_rounds(9, 0.8, 0), "delta"),
        (lambda: walking_rounds(-1, 0.8, 0.1), "D must be"),
        (lambda: walking_rounds(1, 0.8, 1), "delta"),
    ):
        with pytest.raises(InputError, match=words):
            call()


@pytest.mark.parametrize(
    "way, flag", [(robust_insertion_clustering, "printed"), (bayesian_insertion_clustering, "adversary")]
)
def test_flags_that_are_refused(way, flag):
    with pytest.raises(InputError, match=flag):
        way(5, 0.8, 0.1, **{flag: 1})


@pytest.mark.parametrize("way", ways)
@pytest.mark.parametrize(
    "answer, words",
    [(-1, "binary"), (3, "position"), (None, "position"), ("0", "position"), (0.5, "position"), (True, "position")],
)
def test_answers_outside_the_question(way, answer, words):
    with pytest.raises(InputError, match="question.*" + words):
        run(way(4, 0.8, 0.1), lambda questions: [answer] * len(questions))


@pytest.mark.parametrize("way", ways)
def test_extreme_but_legal(way):
    truth = random_hierarchy(3, "split", 0)
    for p, delta in ((1 - 1e-12, 1e-90), (0.999999, 1 - 1e-12)):
        assert run(way(3, p, delta), HierarchyOracle(truth)).same_tree(truth)
