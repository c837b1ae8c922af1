"4K–AL: the kernels equal their definition on every path, ask nothing twice, and ignore what is no information."

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.comparisons import Quadruplets, Triplets, n_quadruplet_questions
from comparison_hc.core import kernels
from comparison_hc.core.validation import InputError
from comparison_hc.hierarchical import (
    kernel_active,
    kernel_average_linkage,
    kernel_passive,
    kernel_passive_ranked,
    planted_hierarchy,
)
from comparison_hc.hierarchical._active import active_budget, query_kernel
from comparison_hc.metrics import average_ari
from comparison_hc.oracles import Budget, BudgetExhausted, Counting, Journal, SimilarityOracle, run, sample_quadruplets

seeds = st.integers(0, 10**6)
quick = settings(derandomize=True, deadline=None, max_examples=30)


def all_pairs(n):
    return [frozenset(pair) for pair in combinations(range(n), 2)]


def votes_of(rows):
    "{(x, y): sign of (answers for x − answers for y)}."
    balance = {}
    for i, j, k, l in np.asarray(rows).tolist():
        x, y = frozenset((i, j)), frozenset((k, l))
        balance[x, y], balance[y, x] = balance.get((x, y), 0) + 1, balance.get((y, x), 0) - 1
    return {key: int(np.sign(value)) for key, value in balance.items()}


def by_definition(votes, n, looks, self_pairs=False):
    "Σ over looks (landmark r, reference y) of vote(ir, y) · vote(jr, y), i ≠ j; r = i and r = j only with self-pairs."
    K = np.zeros((n, n), dtype=int)
    vote = lambda i, r, y: 1 if i == r else votes.get((frozenset((i, r)), y), 0)
    for i, j in combinations(range(n), 2):
        K[i, j] = K[j, i] = sum(vote(i, r, y) * vote(j, r, y) for r, y in looks if self_pairs or r not in (i, j))
    return K


def all_looks(n):
    return [(r, y) for r in range(n) for y in all_pairs(n)]


def random_answers(seed):
    "Few objects, few or many answers, repeated and contradictory ones among them."
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 7)), int(rng.integers(1, 150))
    pairs = np.array([sorted(pair) for pair in all_pairs(n)])
    x, y = np.array([rng.choice(len(pairs), 2, replace=False) for _ in range(m)]).T
    return Quadruplets(np.hstack([rng.permuted(pairs[x], axis=1), rng.permuted(pairs[y], axis=1)]), n)


def random_similarity(n, rng, ties=False):
    w = rng.integers(0, 6 if ties else 10**12, (n, n)).astype(float)
    return w + w.T


class Listening(SimilarityOracle):
    "Keeps what it was asked and answered, as rows of a `Quadruplets`; fails on a repeated question."

    def __init__(self, similarity):
        super().__init__(similarity)
        self.rows, self.seen = [], set()

    def __call__(self, queries):
        answers = super().__call__(queries)
        for (i, j, k, l), yes in zip(queries.tolist(), answers.tolist()):
            question = frozenset((frozenset((i, j)), frozenset((k, l))))
            assert len(question) == 2 and question not in self.seen
            self.seen.add(question)
            self.rows.append((i, j, k, l) if yes else (k, l, i, j))
        return answers


# ---- passive


PATHS = {  # settings that lead to each way of multiplying
    "one product": {},
    "sparse": dict(FEW_VOTES=-1, DENSE=2.0),
    "dense": dict(FEW_VOTES=-1, DENSE=0.0),
    "dense, small blocks": dict(FEW_VOTES=-1, DENSE=0.0, BLOCK=3000),
    "too many columns": dict(MOST_COLUMNS=1),
}


@quick
@given(seeds, st.booleans(), st.sampled_from(sorted(PATHS)))
def test_passive_is_the_definition_on_every_path(seed, self_pairs, path):
    answers = random_answers(seed)
    K = by_definition(votes_of(answers.array), answers.n_objects, all_looks(answers.n_objects), self_pairs)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATHS[path].items():
            patch.setattr(kernels, name, value)
        found = kernels.quadruplet_kernel(answers, self_pairs)
    assert np.array_equal(found, K) and found.dtype == np.int64


@pytest.mark.parametrize("n_pure, p", [(1, 0.3), (5, 0.01), (5, 0.3), (9, 0.0005)])
def test_paths_agree_on_larger_instances_and_report_progress(n_pure, p, monkeypatch):
    "Large enough for the thread pool; with repeated answers and contradictions."
    some = sample_quadruplets(planted_hierarchy(n_pure, 3, 0.8, 0.1, 0.1, 0).similarity, p, 0)
    parts, found = (some, some.flip(0.3, 1), some.flip(0.3, 2)), {}
    answers = Quadruplets(np.concatenate([part.array for part in parts]), some.n_objects)
    for path, constants in PATHS.items():
        with monkeypatch.context() as patch:
            for name, value in constants.items():
                patch.setattr(kernels, name, value)
            calls = []
            found[path] = kernels.quadruplet_kernel(answers, True, progress=lambda *at, calls=calls: calls.append(at))
        assert calls[-1] == (answers.n_objects, answers.n_objects) and np.array_equal(found[path], found["one product"])


def test_more_references_than_16_bits_count(monkeypatch):
    "The two rows agree on every one of 70,000 references."
    from scipy.sparse import csr_array

    A = csr_array(np.ones((2, 70_000), dtype=np.int8))
    for dense in (0, 2):
        monkeypatch.setattr(kernels, "DENSE", dense)
        assert kernels.gram(A).tolist() == [[70_000] * 2] * 2


@quick
@given(seeds)
def test_what_is_no_information_changes_no_kernel(seed):
    answers, rng = random_answers(seed), np.random.default_rng(seed)
    n, rows, K = answers.n_objects, answers.array, kernel_passive(answers, self_pairs=True)
    for same in (rng.permutation(rows), rows[:, [1, 0, 3, 2]], np.vstack([rows] * 3)):
        assert np.array_equal(kernel_passive(same, self_pairs=True, n_objects=n), K)
    order = rng.permutation(n)
    assert np.array_equal(
        kernel_passive(np.argsort(order)[rows], self_pairs=True, n_objects=n), K[np.ix_(order, order)]
    )
    if len(answers.majority()):
        assert np.array_equal(kernel_passive(answers.majority(), self_pairs=True), K)


def test_many_repetitions_do_not_overflow():
    once = [[0, 1, 2], [1, 2, 0], [2, 1, 3]]
    for times in (127, 128, 129, 300):
        assert np.array_equal(
            kernel_passive(np.tile(once, (times, 1)), self_pairs=True), kernel_passive(once, self_pairs=True)
        )
    two_to_one = np.vstack([np.tile([[0, 1, 2]], (400, 1)), np.tile([[0, 2, 1]], (200, 1))])
    assert np.array_equal(kernel_passive(two_to_one, self_pairs=True), kernel_passive([[0, 1, 2]], self_pairs=True))


def test_triplets_and_objects_never_compared():
    K = kernel_passive(Triplets([[0, 1, 2], [3, 1, 2]], n_objects=6))
    assert K.shape == (6, 6) and not K[4:].any() and np.array_equal(K, K.T)


# ---- every comparison known


@quick
@given(seeds, st.integers(1, 7), st.booleans(), st.booleans())
def test_ranked_is_the_definition_with_and_without_ties(seed, n, ties, self_pairs):
    w = random_similarity(n, np.random.default_rng(seed), ties)
    value = {pair: w[tuple(pair)] for pair in all_pairs(n)}
    votes = {(x, y): int(np.sign(value[x] - value[y])) for x in value for y in value}
    K = kernel_passive_ranked(w, self_pairs)
    assert np.array_equal(K, by_definition(votes, n, all_looks(n), self_pairs)) and K.dtype == np.int64
    assert np.array_equal(kernel_passive_ranked(np.exp(w / (1 + w.max())), self_pairs), K)


@pytest.mark.parametrize("ties", [False, True])
def test_ranked_equals_passive_on_all_answers(ties):
    w = random_similarity(26, np.random.default_rng(0), ties)
    for self_pairs in (False, True):
        assert np.array_equal(
            kernel_passive_ranked(w, self_pairs), kernel_passive(sample_quadruplets(w, 1.0, 0), self_pairs)
        )


# ---- active


@quick
@given(seeds, st.booleans())
def test_active_is_the_definition_and_asks_nothing_twice(seed, shared):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    w, R = (
        random_similarity(n, rng),
        [tuple(rng.permutation(sorted(pair))) for pair in all_pairs(n) if rng.random() < 0.5] or [(1, 0)],
    )
    R = [R[t] for t in rng.permutation(len(R))]
    landmark = rng.random((len(R), n)) < 0.4
    if shared:
        landmark[:] = landmark[0]
    oracle = Listening(w)
    K = run(
        kernel_active(n, references=R, landmarks=np.flatnonzero(landmark[0]))
        if shared
        else query_kernel(np.array(R).T, landmark, batch=int(rng.integers(1, 60))),
        oracle,
    )
    looks = [(k, frozenset(y)) for y, S in zip(R, landmark) for k in np.flatnonzero(S)]
    value = {pair: w[tuple(pair)] for pair in all_pairs(n)}
    assert np.array_equal(
        K, by_definition({(x, y): int(np.sign(value[x] - value[y])) for x in value for y in value}, n, looks)
    )
    assert oracle.seen == {frozenset((x, y)) for k, y in looks for x in all_pairs(n) if k in x and x != y}
    if oracle.rows:
        assert np.array_equal(K, by_definition(votes_of(oracle.rows), n, looks))


@quick
@given(seeds, st.booleans())
def test_asking_everything_is_being_given_everything(seed, shared):
    w, m = random_similarity(7, np.random.default_rng(seed)), n_quadruplet_questions(7)
    oracle = Listening(w)
    K = run(kernel_active(7, rng=seed, n_comparisons=m, shared_landmarks=shared), oracle)
    assert len(oracle.seen) == m and np.array_equal(K, kernel_passive_ranked(w))


@quick
@given(seeds, st.booleans(), st.integers(1, 20000))
def test_a_budget_is_spent_exactly_or_not_overdrawn(seed, shared, m):
    w = random_similarity(24, np.random.default_rng(seed))
    asked = Counting(Budget(SimilarityOracle(w), m))
    run(kernel_active(24, rng=seed, n_comparisons=m, shared_landmarks=shared), asked)
    assert asked.n_queries <= m
    asked = Counting(SimilarityOracle(w))
    run(kernel_active(24, q=0.5, rng=seed, n_comparisons=m, shared_landmarks=shared), asked)
    assert asked.n_queries == m


def test_active_budget_is_met_on_average():
    w = random_similarity(30, np.random.default_rng(0))
    for m in (2000, 20000, 60000):
        for shared in (False, True):
            q, r = active_budget(30, m, shared)
            counts = []
            for seed in range(25):
                oracle = Counting(SimilarityOracle(w))
                run(kernel_active(30, q, r, seed, shared_landmarks=shared), oracle)
                counts.append(oracle.n_queries)
            assert abs(np.mean(counts) - m) < 4 * np.std(counts) / 25**0.5 + 2 * 30, (m, shared)


def test_active_draws_are_reproducible_and_names_only_count():
    w = random_similarity(12, np.random.default_rng(0))
    kernels = [
        run(kernel_active(n, 0.3, 5, seed), SimilarityOracle(w))
        for n, seed in ((12, 7), ([f"object {i}" for i in range(12)], 7), (12, np.random.default_rng(7)), (12, 8))
    ]
    assert (
        np.array_equal(kernels[0], kernels[1])
        and np.array_equal(kernels[0], kernels[2])
        and not np.array_equal(kernels[0], kernels[3])
    )


def test_active_continues_from_a_journal(tmp_path):
    w, make = random_similarity(8, np.random.default_rng(0)), lambda: kernel_active(8, 0.4, 4, rng=3)
    with pytest.raises(BudgetExhausted):
        run(make(), Journal(Budget(SimilarityOracle(w), 20), tmp_path / "answers"))
    journal = Journal(SimilarityOracle(w), tmp_path / "answers")
    assert np.array_equal(run(make(), journal), run(make(), SimilarityOracle(w))) and journal.n_replayed == 20


def test_a_budget_that_ends_between_batches_gives_the_references_done_so_far():
    w, rng = random_similarity(12, np.random.default_rng(0)), np.random.default_rng(1)
    y = np.array([sorted(pair) for pair in all_pairs(12)])[rng.permutation(66)[:9]].T
    landmark = rng.random((9, 12)) < 0.3
    parts = [run(query_kernel(y[:, :r], landmark[:r]), SimilarityOracle(w)) for r in range(10)]
    for budget in range(60, 300, 40):
        part = run(query_kernel(y, landmark, batch=1), Budget(SimilarityOracle(w), budget))
        assert any(np.array_equal(part, whole) for whole in parts[1:])
    with pytest.raises(BudgetExhausted):
        run(query_kernel(y, landmark), Budget(SimilarityOracle(w), 10))


def test_active_without_anything_to_ask():
    for n, q in ((1, None), (2, 1.0), (6, 0.0)):
        asked = Counting(SimilarityOracle(np.eye(n)))
        assert np.array_equal(run(kernel_active(n, q), asked), np.zeros((n, n))) and asked.n_queries == 0


# ---- trees


def merged_by_hand(K):
    "Average linkage with integer sums; None as soon as two links are tied."
    from fractions import Fraction

    clusters, merges = [(i,) for i in range(len(K))], []
    while len(clusters) > 1:
        score = {
            (a, b): Fraction(sum(int(K[i, j]) for i in a for j in b), len(a) * len(b))
            for a, b in combinations(clusters, 2)
        }
        best = [link for link in score if score[link] == max(score.values())]
        if len(best) > 1:
            return None
        merges.append((frozenset(sum(best[0], ())), score[best[0]]))
        clusters = [c for c in clusters if c not in best[0]] + [sum(best[0], ())]
    return merges


@quick
@given(seeds, st.integers(2, 9))
def test_tree_is_average_linkage_and_follows_the_names_of_objects(seed, n):
    rng = np.random.default_rng(seed)
    K = rng.integers(-(10**6), 10**6, (n, n))
    K = K + K.T
    merges, tree, top = merged_by_hand(K), kernel_average_linkage(K), K[np.triu_indices(n, 1)].max()
    if merges is None:
        return
    assert [frozenset(members.tolist()) for node, members in tree.clusters() if node >= n] == [
        members for members, _ in merges
    ]
    assert np.allclose(tree.heights, [float(top - score) for _, score in merges])
    order = rng.permutation(n)
    assert kernel_average_linkage(K[np.ix_(order, order)]).same_tree(tree.relabel(order))


def test_small_and_named_trees():
    assert [kernel_average_linkage(np.zeros((n, n))).n_leaves for n in (1, 2, 3)] == [1, 2, 3]
    tree = kernel_average_linkage([[np.nan, -3], [-3, np.inf]], names=["a", "b"])
    assert tree.names == ("a", "b") and tree.heights.tolist() == [0] and "dissimilarity" in tree.height_kind


def test_planted_trees_are_found():
    model = planted_hierarchy(10, 3, 0.8, 0.3, 0.1, 0)
    active = run(kernel_active(80, rng=0, n_comparisons=50000), SimilarityOracle(model.similarity))
    given = sample_quadruplets(model.similarity, 0.3, 0)
    for K in (
        kernel_passive_ranked(model.similarity),
        kernel_passive(given),
        kernel_passive(given, self_pairs=True),
        active,
    ):
        assert average_ari(model.levels, kernel_average_linkage(K)) > 0.8


# ---- bad input


@pytest.mark.parametrize(
    "argument, call",
    [
        ("n ", lambda: kernel_active(0)),
        ("n ", lambda: kernel_active("ten")),
        ("the number of names in n", lambda: kernel_active([])),
        ("q ", lambda: kernel_active(5, -0.1)),
        ("q ", lambda: kernel_active(5, "all")),
        ("n_references", lambda: kernel_active(5, n_references=0)),
        ("rng", lambda: kernel_active(5, rng="seed")),
        ("references", lambda: kernel_active(5, references=[])),
        ("references", lambda: kernel_active(5, references=[[0, 1, 2]])),
        ("references", lambda: kernel_active(5, references=[[0, 5]])),
        ("references", lambda: kernel_active(5, references=[[2, 2]])),
        ("references", lambda: kernel_active(5, references=[[0, 1], [1, 0]])),
        ("references", lambda: kernel_active(5, references=[[0.0, 1.0]])),
        ("landmarks", lambda: kernel_active(5, landmarks=[5])),
        ("landmarks", lambda: kernel_active(5, landmarks=[1, 1])),
        ("landmarks", lambda: kernel_active(5, landmarks=[[1]])),
        ("landmarks", lambda: kernel_active(5, landmarks=[-1])),
        ("n_comparisons", lambda: kernel_active(5, n_comparisons=0)),
        ("n_comparisons", lambda: kernel_active(5, n_comparisons=46)),
        ("shared_landmarks", lambda: kernel_active(5, shared_landmarks=1)),
        ("n_objects", lambda: active_budget(2, 1)),
        ("n_comparisons", lambda: active_budget(5, 46)),
        ("quadruplets", lambda: kernel_passive([[0, 1]])),
        ("row 0 of quadruplets", lambda: kernel_passive([[0, 1, 1, 0]])),
        ("n_objects", lambda: kernel_passive([[0, 1, 2]], n_objects=2)),
        ("self_pairs", lambda: kernel_passive([[0, 1, 2]], "no")),
        ("similarity", lambda: kernel_passive_ranked([[0, 1], [2, 0]])),
        ("similarity", lambda: kernel_passive_ranked([1, 2])),
        ("self_pairs", lambda: kernel_passive_ranked(np.eye(3), 1)),
        ("kernel", lambda: kernel_average_linkage([[0, 1], [2, 0]])),
        ("kernel", lambda: kernel_average_linkage([[0, np.inf], [np.inf, 0]])),
        ("kernel", lambda: kernel_average_linkage([])),
        ("names", lambda: kernel_average_linkage(np.eye(2), ["a"])),
    ],
)
def test_bad_input_is_named(argument, call):
    with pytest.raises(InputError, match=f".*{argument}"):
        call()
