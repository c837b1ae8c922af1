"Single and complete linkage by comparisons: SciPy's trees, in bounded numbers of questions."

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from shared import similarities, symmetric

from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.hierarchical import complete_linkage, single_linkage
from comparison_hc.hierarchical._queries import all_pairs, sort_pairs, topological_merge_order
from comparison_hc.hierarchical.linkage import _complete_linkage
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.oracles import (
    Budget,
    BudgetExhausted,
    Counting,
    HierarchyOracle,
    Journal,
    JournalError,
    Noisy,
    SimilarityOracle,
    run,
)

METHODS = {"single": single_linkage, "complete": complete_linkage}
both = pytest.mark.parametrize("method", METHODS)
properties = settings(deadline=None, derandomize=True, max_examples=100)
sizes, seeds = st.integers(1, 24), st.integers(0, 2**32 - 1)


def shapes(n, seed):
    "Similarities that are hard in different ways, without ties."
    rng = np.random.default_rng(seed)
    popular, places, plane = rng.random(n), 1.1 ** rng.permutation(n), rng.random((n, 2))
    little = 1e-6 * symmetric(rng.normal(size=(n, n)))
    return {
        "random": symmetric(rng.normal(size=(n, n))),
        "hub": popular[:, None] + popular + 1e3 * little,
        "line": -np.abs(places[:, None] - places),
        "most popular": np.maximum(popular[:, None], popular) + little,
        "least popular": np.minimum(popular[:, None], popular) + little,
        "plane": -np.hypot(*(plane[:, None] - plane).T),
        "weak": planted_hierarchy(n // 8, 3, 0.8, 0.1, 0.1, rng).similarity,
        "strong": planted_hierarchy(n // 8, 3, 0.8, 0.6, 0.1, rng).similarity,
    }


def from_scipy(w, method):
    if len(w) == 1:
        return Dendrogram.from_merges([])
    distance = w.max() - w
    np.fill_diagonal(distance, 0)
    return Dendrogram.from_merges(linkage(squareform(distance, checks=False), method)[:, :2])


def is_right(tree, w, method):
    "Every merge is of a most similar couple of the clusters of that moment."
    strength, clusters = dict(single=np.max, complete=np.min)[method], {i: [i] for i in range(tree.n_leaves)}
    for row, (a, b) in enumerate(tree.children.tolist()):
        W = {
            link: strength(w[np.ix_(clusters[link[0]], clusters[link[1]])])
            for link in combinations(sorted(clusters), 2)
        }
        if W[a, b] < max(W.values()):
            return False
        clusters[tree.n_leaves + row] = clusters.pop(a) + clusters.pop(b)
    return True


# the tree


@both
@properties
@given(n=sizes, seed=seeds)
def test_same_merges_in_the_same_order_as_scipy(method, n, seed):
    w = similarities(n, seed)
    assert run(METHODS[method](n), SimilarityOracle(w)) == from_scipy(w, method)


@both
@settings(properties, max_examples=30)
@given(n=sizes, seed=seeds, rng=seeds)
def test_the_seed_does_not_matter_without_ties(method, n, seed, rng):
    w = similarities(n, seed)
    assert run(METHODS[method](n, rng=rng), SimilarityOracle(w)) == from_scipy(w, method)


@both
@settings(properties, max_examples=30)
@given(n=sizes, seed=seeds)
def test_renaming_objects_renames_the_tree(method, n, seed):
    w, order = similarities(n, seed), np.random.default_rng(seed).permutation(n)
    tree, renamed = (run(METHODS[method](n), SimilarityOracle(v)) for v in (w, w[np.ix_(order, order)]))
    assert renamed.same_tree(tree.relabel(order))


@both
@settings(properties, max_examples=30)
@given(n=st.integers(1, 9), seed=seeds, levels=st.integers(1, 5))
def test_a_right_tree_with_ties(method, n, seed, levels):
    w = similarities(n, seed, levels)
    assert is_right(run(METHODS[method](n, rng=seed), SimilarityOracle(w)), w, method)


@both
def test_a_right_tree_when_everything_is_tied(method):
    tree = run(METHODS[method](40), SimilarityOracle(np.zeros((40, 40))))
    assert tree.n_leaves == 40 and tree.height_kind == "merge order"


@both
def test_a_hierarchy_gets_itself_back(method):
    tree = from_scipy(similarities(30, 4), "complete")
    assert run(METHODS[method](30), HierarchyOracle(tree)).same_tree(tree)


@both
def test_only_the_order_of_similarities_counts(method):
    w = similarities(20, 5)
    assert run(METHODS[method](20), SimilarityOracle(np.exp(3 * w))) == run(METHODS[method](20), SimilarityOracle(w))


@both
def test_names_are_carried(method):
    w, names = similarities(4, 0), ["cat", "dog", "trout", "pike"]
    tree = run(METHODS[method](names), SimilarityOracle(w))
    assert tree.names == tuple(names) and tree.height_kind == "merge order"
    assert (
        run(METHODS[method](np.array(names)), SimilarityOracle(w))
        == tree
        == run(METHODS[method](iter(names)), SimilarityOracle(w))
    )
    assert run(METHODS[method](4), SimilarityOracle(w)).names is None


# the questions


@both
@pytest.mark.parametrize("n", [1, 2])
def test_nothing_to_ask(method, n):
    counter = Counting(SimilarityOracle(np.zeros((n, n))))
    assert run(METHODS[method](n), counter).n_leaves == n and counter.n_queries == 0


@pytest.mark.parametrize("shape", shapes(8, 0))
@both
def test_bounds_at_240(method, shape):
    w = shapes(240, 7)[shape]
    counter = Counting(SimilarityOracle(w))
    assert run(METHODS[method](240), counter) == from_scipy(w, method)
    assert 240 * 239 // 2 - 1 <= counter.n_queries <= dict(single=1, complete=3)[method] * 240**2
    if method == "single" or shape in ("random", "plane", "weak", "strong"):
        assert counter.n_batches <= 500


@settings(properties, max_examples=30)
@given(n=sizes, seed=seeds, p_correct=st.sampled_from([0, 0.5, 0.9, 1]))
def test_the_bound_of_complete_linkage_holds_whoever_answers(n, seed, p_correct):
    counter = Counting(Noisy(SimilarityOracle(similarities(n, seed)), p_correct, seed))
    tree = run(complete_linkage(n, rng=seed), counter)
    assert tree.n_leaves == n and counter.n_queries <= 3 * n**2


@settings(properties, max_examples=25)
@given(n=st.integers(2, 24), seed=seeds)
def test_the_bound_of_the_chain(n, seed):
    "From N clusters (N−2)(5N−7)/2 questions, and a quicksort of N−1 merges."
    for shape in shapes(24, seed).values():
        counter = Counting(SimilarityOracle(shape[:n, :n]))
        run(_complete_linkage(n, np.random.default_rng(0), 0), counter)
        assert counter.n_queries <= (n - 2) * (5 * n - 7) // 2 + (n - 1) * (n - 2) // 2


@both
@pytest.mark.parametrize("answer", [True, False])
def test_somebody_who_always_says_the_same(method, answer):
    "Comes to an end, in a number of questions like that for random answers."
    counter = Counting(lambda queries: np.full(len(queries), answer))
    assert run(METHODS[method](60), counter).n_leaves == 60 and counter.n_queries < 5 * 60**2


@both
@pytest.mark.parametrize("n", [3, 4, 7, 12])
def test_every_pair_but_one_loses(method, n):
    "Proposition 1: whoever knows the most alike pair has seen all others lose."
    oracle, losers = SimilarityOracle(similarities(n, n)), set()

    def listening(queries):
        answers = oracle(queries)
        losers.update(frozenset(q[2:] if won else q[:2]) for q, won in zip(queries.tolist(), answers))
        return answers

    run(METHODS[method](n), listening)
    assert len(losers) == n * (n - 1) // 2 - 1


@both
def test_batches_are_legal_and_not_empty(method):
    game, oracle = METHODS[method](13), SimilarityOracle(similarities(13, 1))
    queries = next(game)
    try:
        while True:
            assert queries.ndim == 2 and queries.shape[1] == 4 and queries.dtype.kind == "i" and len(queries)
            queries = game.send(oracle(queries).tolist())  # a list of answers will do
    except StopIteration as end:
        tree = end.value
    assert tree == from_scipy(similarities(13, 1), method)


# breaks


@both
def test_a_run_that_was_cut_off_goes_on(method, tmp_path):
    truth, path, names = SimilarityOracle(similarities(9, 2)), tmp_path / "answers", [f"car {i}" for i in range(9)]
    whole = Counting(truth)
    tree = run(METHODS[method](names), whole)
    for budget in (10, 50):
        with pytest.raises(BudgetExhausted):
            run(METHODS[method](names), Journal(Budget(truth, budget), path))
    counter = Counting(truth)
    journal = Journal(counter, path)
    assert run(METHODS[method](names), journal) == tree
    assert (
        journal.n_replayed == 50
        and counter.n_queries - counter.n_skipped == whole.n_queries - 50
        and counter.n_queries == whole.n_queries
    )
    with pytest.raises(JournalError):
        run(METHODS[method](names, rng=1), Journal(truth, path))


@both
def test_same_seed_same_questions(method):
    def questions(rng):
        oracle, batches = SimilarityOracle(similarities(15, 3)), []

        def listening(queries):
            batches.append(queries.copy())
            return oracle(queries)

        run(METHODS[method](15, rng=rng), listening)
        return [q for batch in batches for q in batch.tolist()]

    assert questions(5) == questions(5) == questions(np.random.default_rng(5)) != questions(6)


# the tools


@settings(properties, max_examples=30)
@given(n=st.integers(0, 12), seed=seeds)
def test_sort(n, seed):
    w = similarities(n, seed)
    pairs = np.random.default_rng(seed).permutation(all_pairs(n)) if n > 1 else np.empty((0, 2), int)
    order = (
        run(sort_pairs(pairs, np.random.default_rng(0)), SimilarityOracle(w))
        if len(pairs) > 1
        else np.arange(len(pairs))
    )
    assert sorted(order) == list(range(len(pairs))) and (np.diff(w[tuple(pairs[order].T)]) < 0).all()


def test_a_merge_waits_for_its_parts():
    "Node 4 = {0, 1}, node 5 = {4, 2}, node 6 = {5, 3}, with ranks that put the parents first."
    assert topological_merge_order([(0, 1), (4, 2), (5, 3)], np.array([2, 1, 0]), 4) == [[0, 1], [2, 4], [3, 5]]
    assert topological_merge_order([(0, 1), (2, 3), (4, 5)], np.array([1, 0, 2]), 4) == [[2, 3], [0, 1], [4, 5]]


@both
def test_noise_free_planted_hierarchies_are_found(method):
    model = planted_hierarchy(4, 3, 0.8, 1.0, 0.05, 0)
    tree = run(METHODS[method](32), SimilarityOracle(model.similarity))
    for level in (1, 2, 3):
        assert np.array_equal(tree.cut(2**level), model.levels[level - 1])


# bad input


@both
@pytest.mark.parametrize(
    "n, word",
    [
        (0, "n must be"),
        (-3, "n must be"),
        (2.5, "n must be"),
        (True, "n must be"),
        (None, "n must be"),
        ("abc", "n must be"),
        ([], "names in n"),
        (["a", "a"], "n must be distinct"),
        ({"a", "b"}, "n must be"),
        ({"a": 1}, "n must be"),
        (["a", None], "n must be"),
    ],
)
def test_bad_n_is_refused_at_the_call(method, n, word):
    with pytest.raises(InputError, match=word):
        METHODS[method](n)


@both
@pytest.mark.parametrize("rng", [-1, 0.5, "seed", True])
def test_bad_rng_is_refused_at_the_call(method, rng):
    with pytest.raises(InputError, match="rng must be"):
        METHODS[method](3, rng=rng)


@both
def test_an_oracle_of_the_wrong_size_is_noticed(method):
    with pytest.raises(InputError, match="queries"):
        run(METHODS[method](5), SimilarityOracle(similarities(4, 0)))
