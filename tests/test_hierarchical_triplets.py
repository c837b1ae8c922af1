"""The triplet methods against their definitions, and against what must not matter."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc import InputError, Quadruplets, Triplets
from comparison_hc.core import kernels
from comparison_hc.core.kernels import rater_matrix
from comparison_hc.hierarchical import planted_hierarchy, triplet_average_linkage, triplet_kernel, triplet_kernel_active
from comparison_hc.hierarchical._triplet_wins import TripletWins, merge_by_score
from comparison_hc.metrics import average_ari
from comparison_hc.oracles import Budget, BudgetExhausted, Counting, Noisy, SimilarityOracle, run, sample_triplets

# ---- the references


def kernel_by_definition(rows, n, self_pairs=False):
    "(counts, numbers of answers): the majority's answers of every two judges, multiplied; every question in a dict."
    votes = {}
    if self_pairs:
        rows = rows + [(i, i, k) for i in range(n) for k in range(n) if i != k]
    for i, j, k in rows:
        votes[i, min(j, k), max(j, k)] = votes.get((i, min(j, k), max(j, k)), 0) + (1 if j < k else -1)
    answer = lambda i, j, k: np.sign(votes.get((i, j, k), 0))
    pairs = list(combinations(range(n), 2))
    K = [
        [0 if i == j else sum(answer(i, *pair) * answer(j, *pair) for pair in pairs) for j in range(n)]
        for i in range(n)
    ]
    return np.array(K), np.array([sum(abs(answer(i, *pair)) for pair in pairs) for i in range(n)])


def tree_by_definition(rows, n, initial=None, sort=True):
    """(merges as pairs of frozensets, tied): scores anew at every step, then the order by nearness, all in fractions.

    A cluster keeps the place of its first part."""
    votes = {}
    for i, j, k in rows:
        for key, vote in (((i, j, k), 1), ((i, k, j), -1)):
            votes[key] = votes.get(key, 0) + vote
    clusters, merges, tied = [frozenset(c) for c in initial or [[i] for i in range(n)]], [], False
    prefers = lambda P, Q, S: Fraction(sum(votes.get(row, 0) for row in product(P, Q, S)), len(P) * len(Q) * len(S))
    near = lambda P, Q: Fraction(
        sum(votes.get((i, j, k), 0) + votes.get((j, i, k), 0) for i, j, k in product(P, Q, range(n))), len(P) * len(Q)
    )
    there = set(clusters)
    while len(clusters) > 1:

        def score(p, q):
            alternatives = [S for s, S in enumerate(clusters) if s not in (p, q)]
            total = sum(
                (prefers(clusters[p], clusters[q], S) + prefers(clusters[q], clusters[p], S) for S in alternatives),
                Fraction(0),
            )
            return total / (2 * len(alternatives)) if alternatives else total

        scores = {link: score(*link) for link in combinations(range(len(clusters)), 2)}
        p, q = max(scores, key=scores.get)
        tied |= list(scores.values()).count(scores[p, q]) > 1
        merges.append((clusters[p], clusters[q]))
        clusters[p] = clusters[p] | clusters.pop(q)
    if not sort:
        return [set(m) for m in merges], tied
    ordered = []
    while merges:
        best = max((m for m in merges if set(m) <= there), key=lambda m: near(*m))
        ordered.append(set(best))
        merges.remove(best)
        there.add(best[0] | best[1])
    return ordered, tied


def merges_of(tree):
    "The merges of a dendrogram as pairs of frozensets."
    members = {node: frozenset(objects.tolist()) for node, objects in tree.clusters()}
    return [{members[a], members[b]} for a, b in tree.children.tolist()]


def random_rows(rng, n, m):
    "m triplets from a random similarity, some wrong, some repeated, some contradicted."
    w, rows = rng.random((n, n)), []
    w = w + w.T
    for _ in range(m):
        i, j, k = rng.permutation(n)[:3].tolist()
        rows.append((i, j, k) if (w[i, j] > w[i, k]) != (rng.random() < 0.2) else (i, k, j))
    return (
        rows
        + [rows[x] for x in rng.integers(m, size=m // 4)]
        + [(rows[x][0], rows[x][2], rows[x][1]) for x in rng.integers(m, size=m // 6)]
    )


def random_partition(rng, n):
    labels = rng.integers(rng.integers(1, n + 1), size=n)
    return [rng.permutation(np.flatnonzero(labels == c)).tolist() for c in rng.permutation(np.unique(labels))]


rows_about = lambda n: st.lists(st.permutations(range(n)).map(lambda p: tuple(p[:3])), min_size=1, max_size=25)

# ---- the kernel


@given(st.integers(3, 6).flatmap(lambda n: st.tuples(st.just(n), rows_about(n))), st.booleans())
def test_kernel_equals_its_definition(case, self_pairs):
    n, rows = case
    K, known = kernel_by_definition(rows, n, self_pairs)
    counts = triplet_kernel(rows, normalise=False, self_pairs=self_pairs, n_objects=n)
    assert counts.dtype == np.int64 and np.array_equal(counts, K)
    assert np.allclose(
        triplet_kernel(rows, self_pairs=self_pairs, n_objects=n),
        K / np.sqrt(np.outer(np.maximum(known, 1), np.maximum(known, 1))),
        atol=1e-14,
    )


def test_every_product_gives_the_same_kernel(monkeypatch):
    A = rater_matrix(Triplets(random_rows(np.random.default_rng(0), 20, 2000), 20), True)
    monkeypatch.setattr(kernels, "BLOCK", 100)
    found = []
    for dense in (0, 2):
        monkeypatch.setattr(kernels, "DENSE", dense)
        found.append(kernels.gram(A))
    assert np.array_equal(*found)


def test_many_repetitions_do_not_overflow():
    rows = [(0, 2, 3)] * 300 + [(1, 2, 3)] * 257 + [(1, 3, 2)]
    assert triplet_kernel(rows, normalise=False)[0, 1] == 1


def test_an_object_without_answers_has_kernel_zero():
    K = triplet_kernel([[0, 1, 2], [3, 1, 2]], n_objects=6)
    assert K[0, 3] == 1 and K[0, 4] == K[4, 5] == 0 and np.isfinite(K).all()


def test_normalised_kernel_is_a_cosine():
    w = planted_hierarchy(4, 2, 0.8, 0.1, 0.1, 0).similarity
    K = triplet_kernel(sample_triplets(w, 0.5, 0))
    assert np.abs(K).max() <= 1 and np.array_equal(K, K.T) and not K.diagonal().any()


# ---- the kernel that asks


def listen(oracle, heard):
    "An oracle that notes what was asked and answered."

    def answer(queries):
        answers = oracle(queries)
        heard.extend((i, j, k) if yes else (i, k, j) for (i, j, _, k), yes in zip(queries.tolist(), answers.tolist()))
        assert (queries[:, 0] == queries[:, 2]).all()
        return answers

    return answer


W = planted_hierarchy(4, 2, 0.8, 0.2, 0.1, 0).similarity


@pytest.mark.parametrize("self_pairs", [False, True])
@pytest.mark.parametrize("m", [1, 13, 14, 15, 100, 500, 120 * 14])
def test_active_kernel_is_the_passive_kernel_of_its_answers(m, self_pairs):
    heard = []
    K = run(triplet_kernel_active(16, m, rng=3, self_pairs=self_pairs), listen(SimilarityOracle(W), heard))
    assert len(heard) == m and len({(i, *sorted((j, k))) for i, j, k in heard}) == m
    assert np.array_equal(K, triplet_kernel(heard, normalise=False, self_pairs=self_pairs, n_objects=16))


def test_active_kernel_spends_n_squared_by_default_and_all_it_can_if_that_is_less():
    for n, expected in ((16, 256), (3, 3), (2, 0), (1, 0)):
        oracle = Counting(SimilarityOracle(W[:n, :n]))
        assert run(triplet_kernel_active(n, rng=0), oracle).shape == (n, n) and oracle.n_queries == expected


def test_active_kernel_asks_about_the_given_references_only():
    heard = []
    run(
        triplet_kernel_active([f"object {i}" for i in range(16)], references=[[3, 5], [7, 1]]),
        listen(SimilarityOracle(W), heard),
    )
    assert len(heard) == 28 and {tuple(sorted(row[1:])) for row in heard} == {(3, 5), (1, 7)}


@pytest.mark.parametrize("self_pairs", [False, True])
def test_active_kernel_keeps_what_a_budget_allows(self_pairs):
    n = 100
    w = planted_hierarchy(25, 2, 0.8, 0.2, 0.1, 0).similarity
    whole, asked = 98 * 900, 98 * (65536 // 100)  # the second batch is beyond the budget
    K = run(triplet_kernel_active(n, whole, rng=0, self_pairs=self_pairs), Budget(SimilarityOracle(w), whole - 1))
    assert np.array_equal(K, run(triplet_kernel_active(n, asked, rng=0, self_pairs=self_pairs), SimilarityOracle(w)))
    with pytest.raises(BudgetExhausted):
        run(triplet_kernel_active(n, 98, rng=0), Budget(SimilarityOracle(w), 97))


def test_same_seed_same_kernel():
    one, two = (run(triplet_kernel_active(16, 333, rng=7), Noisy(SimilarityOracle(W), 0.8, 1)) for _ in range(2))
    assert np.array_equal(one, two)


# ---- average linkage

CASES = [
    (seed, n, m)
    for n, m, seeds in ((3, 3, 30), (4, 8, 50), (5, 20, 50), (6, 40, 30), (7, 90, 15), (8, 150, 6))
    for seed in range(seeds)
]


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("with_clusters", [False, True], ids=["singletons", "initial clusters"])
def test_tree_equals_its_definition_in_exact_fractions(with_clusters, sort):
    "181 instances each, ties included."
    ties = 0
    for seed, n, m in CASES:
        rng = np.random.default_rng([seed, n, with_clusters])
        rows, initial = random_rows(rng, n, m), random_partition(rng, n) if with_clusters else None
        expected, tied = tree_by_definition(rows, n, initial, sort)
        assert merges_of(triplet_average_linkage(rows, initial, sort, n_objects=n)) == expected, (
            seed,
            n,
            rows,
            initial,
        )
        ties += tied
    assert 0 < ties < len(CASES)  # both kinds of instance occurred


@settings(max_examples=120)
@given(
    st.integers(3, 6).flatmap(
        lambda n: st.tuples(st.just(n), rows_about(n), st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    )
)
def test_tree_equals_its_definition_wherever_hypothesis_looks(case):
    n, rows, labels = case
    initial = None if labels is None else [[i for i in range(n) if labels[i] == c] for c in dict.fromkeys(labels)]
    assert merges_of(triplet_average_linkage(rows, labels, n_objects=n)) == tree_by_definition(rows, n, initial)[0]


@pytest.mark.parametrize("seed", range(8))
def test_numbering_of_objects_and_order_of_answers_do_not_matter(seed):
    rng, planted = np.random.default_rng(seed), planted_hierarchy(6, 2, 0.8, 0.1, 0.1, seed)
    answers = sample_triplets(planted.similarity, 0.8, seed)
    order = rng.permutation(24)
    renamed = Triplets(order[answers.array][rng.permutation(len(answers))], 24)
    one, two = triplet_average_linkage(answers), triplet_average_linkage(renamed)
    assert {frozenset(order[c].tolist()) for _, c in one.clusters()} == {
        frozenset(c.tolist()) for _, c in two.clusters()
    }


@pytest.mark.parametrize("seed", range(4))
def test_sorting_keeps_the_clusters_and_finds_the_planted_levels(seed):
    planted = planted_hierarchy(8, 3, 0.8, 0.2, 0.02, seed)
    answers = sample_triplets(planted.similarity, 1.0, 0)
    raw, tree = triplet_average_linkage(answers, sort=False), triplet_average_linkage(answers)
    assert tree.same_tree(raw) and average_ari(planted.levels, tree) == 1 > average_ari(planted.levels, raw)


def test_updated_sums_are_those_from_scratch():
    "At every merge of an instance too large for fractions, a step from scratch chooses the same link."
    planted = planted_hierarchy(5, 2, 0.8, 0.1, 0.1, 0)
    votes, place = TripletWins(sample_triplets(planted.similarity, 0.7, 1)), np.arange(20)
    clusters, node = {i: [i] for i in range(20)}, 20
    for a, b in merge_by_score(votes, place).tolist():
        at = np.empty(20, dtype=np.int64)
        for number, members in enumerate(clusters.values()):
            at[members] = number
        size = np.bincount(at).astype(float)
        E = votes.sums(at, size)
        score = np.where(np.eye(len(size), dtype=bool), -np.inf, (E + E.T) / np.outer(size, size))
        keys = list(clusters)
        assert score[keys.index(a), keys.index(b)] >= score.max() - 1e-9
        clusters[node] = clusters.pop(a) + clusters.pop(b)
        node += 1


def test_one_cluster_and_progress_and_names():
    steps = []
    answers = Triplets([[0, 1, 2], [2, 1, 0]], names=["a", "b", "c"])
    tree = triplet_average_linkage(answers, progress=lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)] and tree.names == ("a", "b", "c")
    assert triplet_average_linkage(answers, [[0, 1, 2]]).n_leaves == 1


def test_the_callers_arrays_stay_as_they_are():
    rows = np.array([[0, 1, 2], [2, 3, 0], [3, 2, 1]])
    before = rows.copy()
    triplet_kernel(rows)
    triplet_average_linkage(rows)
    assert np.array_equal(rows, before) and rows.flags.writeable


# ---- bad input

FOUR = [[0, 1, 2], [3, 1, 2]]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: triplet_kernel([[0, 1, 1]]), "row 0 of triplets"),
        (lambda: triplet_kernel([[0, 1]]), "triplets must be"),
        (lambda: triplet_kernel(Quadruplets([[0, 1, 2, 3]])), "triplets must be"),
        (lambda: triplet_kernel(FOUR, normalise=1), "normalise must be True or False"),
        (lambda: triplet_kernel(FOUR, self_pairs=None), "self_pairs must be True or False"),
        (lambda: triplet_kernel_active(4, self_pairs=1), "self_pairs must be True or False"),
        (lambda: triplet_kernel(FOUR, n_objects=3), "n_objects"),
        (lambda: triplet_average_linkage([[0, 1, -1]]), "row 0 of triplets"),
        (lambda: triplet_average_linkage(Quadruplets([[0, 1, 2, 3]])), "triplets must be"),
        (lambda: triplet_average_linkage(FOUR, [[0, 1], [2]]), "initial must be"),
        (lambda: triplet_average_linkage(FOUR, sort="yes"), "sort must be True or False"),
        (lambda: triplet_average_linkage([[0, 1, 2]], n_objects=30_000), "n_objects must be"),
        (lambda: triplet_kernel_active(0), "n must be"),
        (lambda: triplet_kernel_active("sixteen"), "n must be"),
        (lambda: triplet_kernel_active(4, 0), "n_comparisons must be"),
        (lambda: triplet_kernel_active(4, 13), "n_comparisons must be an integer from 1 to 12"),
        (lambda: triplet_kernel_active(4, 2.5), "n_comparisons must be"),
        (lambda: triplet_kernel_active(4, rng="seed"), "rng must be"),
        (lambda: triplet_kernel_active(4, references=[[0, 0]]), "references must be"),
        (lambda: triplet_kernel_active(4, references=[[0, 4]]), "references must be"),
        (lambda: triplet_kernel_active(4, references=[[0, 1], [1, 0]]), "references must be"),
        (lambda: triplet_kernel_active(4, 5, references=[[0, 1]]), "n_comparisons must be an integer from 1 to 2"),
    ],
)
def test_bad_input_is_refused_with_the_name_of_the_argument(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value) and "got" in str(caught.value)
