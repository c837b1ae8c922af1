"""Laws of the hierarchical methods that choose their queries: linkage and kernels, from a simulated oracle."""

from itertools import combinations

import definitions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from shared import similarities, symmetric

from comparison_hc.comparisons import n_quadruplet_questions
from comparison_hc.core.pairs import all_pairs
from comparison_hc.core.query_budget import active_budget
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.hierarchical import (
    complete_linkage,
    kernel_active,
    kernel_passive,
    kernel_passive_ranked,
    planted_hierarchy,
    single_linkage,
    triplet_kernel,
    triplet_kernel_active,
)
from comparison_hc.hierarchical._active import query_kernel
from comparison_hc.hierarchical.linkage import _complete_linkage
from comparison_hc.oracles import Budget, BudgetExhausted, Counting, Journal, JournalError, Noisy, SimilarityOracle, run

LINKAGE = {"single": single_linkage, "complete": complete_linkage}
ALGORITHMS = LINKAGE | {  # of (n, rng)
    "4k active": lambda n, rng=0: kernel_active(n, 0.4, 5, rng),
    "3k active": lambda n, rng=0: triplet_kernel_active(n, rng=rng),
}
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=list(ALGORITHMS))
both = pytest.mark.parametrize("method", LINKAGE)
few = settings(max_examples=30)
sizes, seeds = st.integers(1, 24), st.integers(0, 2**32 - 1)


class Recording(SimilarityOracle):
    "Keeps batches, and what was answered as rows; fails on a query that is asked again, or about one pair."

    def __init__(self, similarity, once=True):
        super().__init__(similarity)
        self.batches, self.rows, self.seen, self.once = [], [], set(), once

    def __call__(self, queries):
        answers = super().__call__(queries)
        self.batches.append(np.array(queries))
        for (i, j, k, l), first in zip(queries.tolist(), answers.tolist()):
            query = frozenset((frozenset((i, j)), frozenset((k, l))))
            assert len(query) == 2 and not (self.once and query in self.seen)
            self.seen.add(query)
            self.rows.append((i, j, k, l) if first else (k, l, i, j))
        return answers


def same(one, two):
    return one == two if isinstance(one, Dendrogram) else np.array_equal(one, two)


# ---- every algorithm


@every_algorithm
def test_batches_are_legal_and_lists_are_answers(algorithm):
    game, oracle = algorithm(13), SimilarityOracle(similarities(13, 1))
    queries = next(game)
    try:
        while True:
            assert queries.ndim == 2 and queries.shape[1] == 4 and queries.dtype.kind in "iu" and len(queries)
            queries = game.send(oracle(queries).tolist())
    except StopIteration as end:
        assert same(end.value, run(algorithm(13), oracle))


@every_algorithm
def test_the_seed_decides_the_queries(algorithm):
    def queries(rng):
        oracle = Recording(similarities(15, 3), once=False)
        run(algorithm(15, rng), oracle)
        return np.vstack(oracle.batches).tolist()

    assert queries(5) == queries(5) == queries(np.random.default_rng(5)) != queries(6)


@every_algorithm
def test_names_are_objects_and_only_the_order_of_similarities_counts(algorithm):
    w, names = similarities(12, 5), [f"car {i}" for i in range(12)]
    found = run(algorithm(12), SimilarityOracle(w))
    assert same(run(algorithm(12), SimilarityOracle(np.exp(3 * w))), found)
    for some in (names, np.array(names), iter(names)):
        named = run(algorithm(some), SimilarityOracle(w))
        if isinstance(found, Dendrogram):
            assert named.names == tuple(names) and found.names is None and named.same_tree(found)
        else:
            assert same(named, found)


@every_algorithm
def test_an_interrupted_run_continues_from_its_journal(algorithm, tmp_path):
    truth, whole = SimilarityOracle(similarities(9, 2)), Counting(SimilarityOracle(similarities(9, 2)))
    found = run(algorithm(9), whole)
    for budget in (10, 30):
        with pytest.raises(BudgetExhausted):
            run(algorithm(9), Journal(Budget(truth, budget), tmp_path / "answers"))
    counter = Counting(truth)
    journal = Journal(counter, tmp_path / "answers")
    assert same(run(algorithm(9), journal), found) and journal.n_replayed == 30
    assert counter.n_queries == whole.n_queries and counter.n_skipped == 30
    with pytest.raises(JournalError):
        run(algorithm(9, 1), Journal(truth, tmp_path / "answers"))


@every_algorithm
@pytest.mark.parametrize("n", [1, 2])
def test_nothing_to_ask(algorithm, n):
    counter = Counting(SimilarityOracle(np.zeros((n, n))))
    found = run(algorithm(n), counter)
    assert counter.n_queries == 0 and (found.n_leaves if isinstance(found, Dendrogram) else len(found)) == n


@every_algorithm
@pytest.mark.parametrize("n", [0, -3, 2.5, True, None, "abc", ["a", "a"], {"a", "b"}, {"a": 1}, ["a", None], 10**6])
def test_bad_objects_are_refused_at_the_call(algorithm, n):
    with pytest.raises(InputError, match="^n must be"):
        algorithm(n)


@every_algorithm
def test_no_names_and_a_wrong_oracle_are_noticed(algorithm):
    with pytest.raises(InputError, match="the number of names in n"):
        algorithm([])
    with pytest.raises(InputError, match="queries"):
        run(algorithm(8), SimilarityOracle(similarities(4, 0)))


# ---- single and complete linkage


def shapes(n, seed):
    "Similarities that are hard in different ways, without ties."
    rng = np.random.default_rng(seed)
    popular, line, plane = rng.random(n), 1.1 ** rng.permutation(n), rng.random((n, 2))
    little = 1e-6 * symmetric(rng.normal(size=(n, n)))
    return {
        "random": symmetric(rng.normal(size=(n, n))),
        "hub": popular[:, None] + popular + 1e3 * little,
        "line": -np.abs(line[:, None] - line),
        "most popular": np.maximum(popular[:, None], popular) + little,
        "least popular": np.minimum(popular[:, None], popular) + little,
        "plane": -np.hypot(*(plane[:, None] - plane).T),
        "weak": planted_hierarchy(n // 8, 3, 0.8, 0.1, 0.1, rng).similarity,
        "strong": planted_hierarchy(n // 8, 3, 0.8, 0.6, 0.1, rng).similarity,
    }


def from_scipy(w, method):
    distance = w.max() - w
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    return Dendrogram.from_merges(linkage(condensed, method)[:, :2] if len(w) > 1 else [])


@both
@given(n=sizes, seed=seeds, rng=seeds)
def test_same_merges_in_the_same_order_as_scipy_for_any_seed(method, n, seed, rng):
    w, order = similarities(n, seed), np.random.default_rng(seed).permutation(n)
    tree = run(LINKAGE[method](n, rng=rng), SimilarityOracle(w))
    assert tree == from_scipy(w, method) and tree.height_kind == "merge order"
    assert run(LINKAGE[method](n), SimilarityOracle(w[np.ix_(order, order)])).same_tree(tree.relabel(order))


@both
@few
@given(n=st.integers(1, 9), seed=seeds, levels=st.integers(1, 5))
def test_with_ties_every_merge_is_of_a_most_similar_couple(method, n, seed, levels):
    w, strength = similarities(n, seed, levels), dict(single=max, complete=min)[method]
    tree, clusters = run(LINKAGE[method](n, rng=seed), SimilarityOracle(w)), {i: [i] for i in range(n)}
    for node, (a, b) in enumerate(tree.children.tolist(), n):
        value = {
            (p, q): strength(w[i, j] for i in clusters[p] for j in clusters[q]) for p, q in combinations(clusters, 2)
        }
        assert value[min(a, b), max(a, b)] == max(value.values())
        clusters[node] = clusters.pop(a) + clusters.pop(b)


@pytest.mark.parametrize("shape", shapes(8, 0))
@both
def test_bounds_at_240(method, shape):
    w = shapes(240, 7)[shape]
    counter = Counting(SimilarityOracle(w))
    assert run(LINKAGE[method](240), counter) == from_scipy(w, method)
    assert 240 * 239 // 2 - 1 <= counter.n_queries <= dict(single=1, complete=3)[method] * 240**2
    if method == "single" or shape in ("random", "plane", "weak", "strong"):
        assert counter.n_batches <= 500


@few
@given(n=sizes, seed=seeds, p_correct=st.sampled_from([0, 0.5, 0.9, 1]))
def test_the_bound_of_complete_linkage_holds_for_any_answers(n, seed, p_correct):
    counter = Counting(Noisy(SimilarityOracle(similarities(n, seed)), p_correct, seed))
    assert run(complete_linkage(n, rng=seed), counter).n_leaves == n and counter.n_queries <= 3 * n**2
    if n >= 2:  # the chain alone, and a quicksort of n − 1 merges
        for shape in shapes(24, seed).values():
            counter = Counting(SimilarityOracle(shape[:n, :n]))
            run(_complete_linkage(n, np.random.default_rng(0), 0), counter)
            assert counter.n_queries <= (n - 2) * (5 * n - 7) // 2 + (n - 1) * (n - 2) // 2


@both
@pytest.mark.parametrize("answer", [True, False])
def test_constant_answers_end_after_a_usual_number_of_queries(method, answer):
    counter = Counting(lambda queries: np.full(len(queries), answer))
    assert run(LINKAGE[method](60), counter).n_leaves == 60 and counter.n_queries < 5 * 60**2


@both
@pytest.mark.parametrize("n", [3, 4, 7, 12])
def test_every_pair_but_one_loses(method, n):
    "Proposition 1: the most similar pair is known when all others have lost."
    oracle = Recording(similarities(n, n), once=False)
    run(LINKAGE[method](n), oracle)
    assert len({frozenset(row[2:]) for row in oracle.rows}) == n * (n - 1) // 2 - 1


# ---- the quadruplet kernel


@few
@given(seeds, st.booleans())
def test_the_active_kernel_is_its_definition_and_asks_nothing_twice(seed, shared):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    w = similarities(n, seed)
    R = [tuple(rng.permutation(sorted(pair))) for pair in definitions.pairs_of(n) if rng.random() < 0.5] or [(1, 0)]
    R, landmark = [R[t] for t in rng.permutation(len(R))], rng.random((len(R), n)) < 0.4
    if shared:
        landmark[:] = landmark[0]
        algorithm = kernel_active(n, references=R, landmarks=np.flatnonzero(landmark[0]))
    else:
        algorithm = query_kernel(np.array(R).T, landmark, batch=int(rng.integers(1, 60)))
    oracle = Recording(w)
    K = run(algorithm, oracle)
    looks = [(k, frozenset(y)) for y, S in zip(R, landmark) for k in np.flatnonzero(S)]
    assert np.array_equal(K, definitions.landmark_kernel(definitions.outcomes_of(w), n, looks))
    needed = {frozenset((x, y)) for k, y in looks for x in definitions.pairs_of(n) if k in x and x != y}
    assert oracle.seen == needed


@few
@given(seeds, st.booleans())
def test_asking_everything_is_the_kernel_of_all_answers(seed, shared):
    w, m = similarities(7, seed), n_quadruplet_questions(7)
    oracle = Recording(w)
    K = run(kernel_active(7, rng=seed, n_comparisons=m, shared_landmarks=shared), oracle)
    assert len(oracle.seen) == m and np.array_equal(K, kernel_passive_ranked(w))
    assert np.array_equal(K, kernel_passive(oracle.rows))


@few
@given(seeds, st.booleans(), st.integers(1, 20000))
def test_a_budget_is_spent_exactly_or_not_exceeded(seed, shared, m):
    w = similarities(24, seed)
    asked = Counting(Budget(SimilarityOracle(w), m))
    run(kernel_active(24, rng=seed, n_comparisons=m, shared_landmarks=shared), asked)
    assert asked.n_queries <= m
    asked = Counting(SimilarityOracle(w))
    run(kernel_active(24, q=0.5, rng=seed, n_comparisons=m, shared_landmarks=shared), asked)
    assert asked.n_queries == m


@pytest.mark.parametrize("shared", [False, True])
def test_active_budget_is_met_on_average(shared):
    w, counts = similarities(30, 0), []
    for m in (2000, 20000, 60000):
        q, r = active_budget(30, m, shared)
        counts = []
        for seed in range(25):
            oracle = Counting(SimilarityOracle(w))
            run(kernel_active(30, q, r, seed, shared_landmarks=shared), oracle)
            counts.append(oracle.n_queries)
        assert abs(np.mean(counts) - m) < 4 * np.std(counts) / 25**0.5 + 2 * 30


def test_a_budget_that_ends_between_batches_gives_the_references_done_so_far():
    w, rng = similarities(12, 0), np.random.default_rng(1)
    y, landmark = all_pairs(12)[rng.permutation(66)[:9]].T, rng.random((9, 12)) < 0.3
    parts = [run(query_kernel(y[:, :r], landmark[:r]), SimilarityOracle(w)) for r in range(10)]
    for budget in range(60, 300, 40):
        part = run(query_kernel(y, landmark, batch=1), Budget(SimilarityOracle(w), budget))
        assert any(np.array_equal(part, whole) for whole in parts[1:])
    with pytest.raises(BudgetExhausted):
        run(query_kernel(y, landmark), Budget(SimilarityOracle(w), 10))


# ---- the triplet kernel


@pytest.mark.parametrize("self_pairs", [False, True])
@pytest.mark.parametrize("m", [1, 13, 14, 15, 100, 500, 120 * 14])
def test_the_active_triplet_kernel_is_the_passive_kernel_of_its_answers(m, self_pairs):
    oracle = Recording(similarities(16, 0))
    K = run(triplet_kernel_active(16, m, rng=3, self_pairs=self_pairs), oracle)
    queries = np.vstack(oracle.batches)
    assert len(queries) == m and (queries[:, 0] == queries[:, 2]).all()
    rows = [(i, j, k) for i, j, _, k in oracle.rows]
    assert np.array_equal(K, triplet_kernel(rows, False, self_pairs, 16))


def test_the_active_triplet_kernel_asks_n_squared_or_about_its_references():
    w = similarities(16, 0)
    for n, expected in ((16, 256), (3, 3), (2, 0), (1, 0)):
        oracle = Counting(SimilarityOracle(w[:n, :n]))
        assert run(triplet_kernel_active(n, rng=0), oracle).shape == (n, n) and oracle.n_queries == expected
    oracle = Recording(w)
    run(triplet_kernel_active(16, references=[[3, 5], [7, 1]]), oracle)
    assert len(oracle.rows) == 28 and {tuple(sorted(q[[1, 3]])) for q in oracle.batches[0]} == {(3, 5), (1, 7)}


@pytest.mark.parametrize("self_pairs", [False, True])
def test_the_active_triplet_kernel_keeps_what_a_budget_allows(self_pairs):
    w, whole, asked = similarities(100, 0), 98 * 900, 98 * (65536 // 100)  # the second batch is beyond the budget
    K = run(triplet_kernel_active(100, whole, rng=0, self_pairs=self_pairs), Budget(SimilarityOracle(w), whole - 1))
    assert np.array_equal(K, run(triplet_kernel_active(100, asked, rng=0, self_pairs=self_pairs), SimilarityOracle(w)))
    with pytest.raises(BudgetExhausted):
        run(triplet_kernel_active(100, 98, rng=0), Budget(SimilarityOracle(w), 97))


# ---- bad input

BAD_REFERENCES = [[], [[0, 1, 2]], [[0, 5]], [[2, 2]], [[0, 1], [1, 0]], [[0.0, 1.0]]]


@pytest.mark.parametrize(
    "algorithm, options, argument",
    [
        *((kernel_active, dict(references=bad), "references") for bad in BAD_REFERENCES),
        *((triplet_kernel_active, dict(references=bad), "references") for bad in BAD_REFERENCES),
        *((kernel_active, dict(landmarks=bad), "landmarks") for bad in ([5], [1, 1], [[1]], [-1])),
        (kernel_active, dict(n_comparisons=46), "n_comparisons"),
        (triplet_kernel_active, dict(n_comparisons=31), "n_comparisons"),
        (active_budget, dict(n_comparisons=46), "n_comparisons"),
    ],
)
def test_bad_options_are_refused_at_the_call(algorithm, options, argument):
    with pytest.raises(InputError, match=f"^{argument} must be .*; got"):
        algorithm(5, **options)
