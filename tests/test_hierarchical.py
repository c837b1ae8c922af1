"""Laws of the passive hierarchical methods: each equals its definition, and what is no information changes nothing."""

from typing import NamedTuple

import definitions
import numpy as np
import pytest
from definitions import clusters_of, merges_of
from hypothesis import given
from hypothesis import strategies as st
from shared import by_name, refusals, similarities

from comparison_hc import Quadruplets, Triplets
from comparison_hc.hierarchical import (
    kernel_average_linkage,
    kernel_passive,
    kernel_passive_ranked,
    planted_hierarchy,
    quadruplet_average_linkage,
    quadruplet_average_linkage_ranked,
    triplet_average_linkage,
    triplet_average_linkage_ranked,
    triplet_kernel,
    triplet_kernel_ranked,
)
from comparison_hc.metrics import average_ari
from comparison_hc.oracles import sample_quadruplets, sample_triplets


class Method(NamedTuple):
    "A method, its definition, and how it breaks ties."

    width: int
    build: object  # (answers, initial clusters) → tree
    define: object  # (rows, n, initial clusters) → (merges, tied)
    starts: bool = True  # whether it takes initial clusters
    exact: bool = True  # whether ties are broken as in the definition

    def answers(self, rows, n, **options):
        return (Triplets if self.width == 3 else Quadruplets)(rows, n, **options)


def kernel_method(width, self_pairs):
    "Average linkage on the kernel of quadruplets or triplets; SciPy breaks ties in its own way."
    if width == 4:
        kernel = lambda answers: kernel_passive(answers, self_pairs)
        define = lambda rows, n: definitions.quadruplet_kernel(rows, n, self_pairs)
    else:
        kernel = lambda answers: triplet_kernel(answers, False, self_pairs)
        define = lambda rows, n: definitions.triplet_kernel(rows, n, self_pairs)[0]
    return Method(
        width,
        lambda answers, initial=None: kernel_average_linkage(kernel(answers)),
        lambda rows, n, initial=None: definitions.kernel_average_linkage(define(rows, n)),
        starts=False,
        exact=False,
    )


METHODS = {
    "4-al": Method(4, quadruplet_average_linkage, definitions.quadruplet_average_linkage),
    "3-al": Method(3, triplet_average_linkage, definitions.triplet_average_linkage),
    "3-al unsorted": Method(
        3,
        lambda answers, initial=None: triplet_average_linkage(answers, initial, sort=False),
        lambda rows, n, initial=None: definitions.triplet_average_linkage(rows, n, initial, sort=False),
    ),
    "4k-al": kernel_method(4, False),
    "4k-al, self-pairs": kernel_method(4, True),
    "3k-al": kernel_method(3, False),
    "3k-al, self-pairs": kernel_method(3, True),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
seeds = st.integers(0, 2**32 - 1)


def random_rows(rng, n, m, width):
    "About 1.4 m answers of a random similarity, a quarter of them wrong; with repetitions and contradictions."
    w = rng.random((n, n))
    w, rows = w + w.T, []
    while len(rows) < m:
        i, j, k, l = rng.permutation(n)[[0, 1, 0, 2]] if width == 3 else rng.integers(n, size=4)
        if i != j and k != l and {i, j} != {k, l}:
            rows.append((i, j, k, l) if (w[i, j] > w[k, l]) != (rng.random() < 0.25) else (k, l, i, j))
    rows = np.array(rows, dtype=np.int64)
    rows = np.vstack([rows, rows[rng.integers(m, size=m // 4)], rows[rng.integers(m, size=m // 6)][:, [2, 3, 0, 1]]])
    return rows[:, [0, 1, 3]] if width == 3 else rows


def random_partition(rng, n):
    "Non-empty lists of objects, in random order."
    labels = rng.integers(rng.integers(1, n + 1), size=n)
    return [rng.permutation(np.flatnonzero(labels == c)).tolist() for c in rng.permutation(np.unique(labels))]


def instance(method, seed, sizes=(3, 7)):
    "(rng, n, rows, initial clusters or None) about a few objects."
    rng = np.random.default_rng(seed)
    n = int(rng.integers(*sizes))
    initial = random_partition(rng, n) if method.starts and rng.random() < 0.5 else None
    m = int(rng.integers(1, 60) if method.exact else rng.integers(20, 90))
    return rng, n, random_rows(rng, n, m, method.width), initial


# ---- definitions, and what is no information


@every_method
@given(seed=seeds)
def test_equals_its_definition_and_follows_the_names_of_objects(method, seed):
    rng, n, rows, initial = instance(method, seed)
    expected, tied = method.define(rows.tolist(), n, initial)
    tree = method.build(method.answers(rows, n), initial)
    if method.exact:
        assert merges_of(tree) == expected
    elif not tied:
        assert {frozenset.union(*merge) for merge in merges_of(tree)} == {frozenset.union(*m) for m in expected}
    if not tied:
        order = rng.permutation(n)
        place = np.argsort(order)  # object order[i] is called i
        start = None if initial is None else [place[cluster].tolist() for cluster in initial]
        assert method.build(method.answers(place[rows], n), start).same_tree(tree.relabel(order))


@every_method
def test_random_instances_have_ties_and_none(method):
    "Both kinds are compared with the definition."
    ties = [
        method.define(rows.tolist(), n, initial)[1]
        for _, n, rows, initial in map(lambda s: instance(method, s), range(40))
    ]
    assert 0 < sum(ties) < 40


@every_method
@given(seed=seeds)
def test_order_of_rows_repetitions_and_contradictions_change_nothing(method, seed):
    rng, n, rows, initial = instance(method, seed, (4, 10))
    tree = method.build(method.answers(rows, n), initial)
    same = [rng.permutation(rows), np.repeat(rows, 3, axis=0)]
    opposite = rows[:, [2, 3, 0, 1]] if method.width == 4 else rows[:, [0, 2, 1]]
    same.append(np.vstack([rows, rows[:5], opposite[:5]]) if method.exact else rows)
    same += [rows[:, [1, 0, 2, 3]], rows[:, [0, 1, 3, 2]]] if method.width == 4 else []
    for others in same:
        assert method.build(method.answers(others, n), initial) == tree


@every_method
@given(seed=seeds)
def test_an_integer_weight_is_as_many_copies_and_only_ratios_matter(method, seed):
    rng, n, rows, initial = instance(method, seed)
    times = rng.integers(1, 4, len(rows))
    copies = method.build(method.answers(np.repeat(rows, times, axis=0), n), initial)
    for scale in (1, 1 / 8, 7.0):
        assert method.build(method.answers(rows, n, weights=times * scale), initial) == copies


@pytest.mark.parametrize("method", [METHODS["4-al"], METHODS["3-al"]], ids=["4-al", "3-al"])
@given(seed=seeds)
def test_weights_of_the_caller_may_be_zero(method, seed):
    rng, n, rows, initial = instance(method, seed)
    times = rng.integers(0, 4, len(rows)) + (np.arange(len(rows)) == 0)
    answers = method.answers(rows, n)
    copies = method.build(answers.take(np.repeat(np.arange(len(rows)), times)), initial)
    assert method.build(answers, initial, weights=times) == copies == method.build(answers, initial, weights=times / 8)


@every_method
def test_many_repetitions_do_not_overflow(method):
    rows = random_rows(np.random.default_rng(0), 6, 20, method.width)
    for times in (127, 128, 300):
        assert method.build(method.answers(np.tile(rows, (times, 1)), 6)) == method.build(method.answers(rows, 6))


@pytest.mark.parametrize("width", [3, 4])
def test_larger_instances_follow_the_names_of_objects(width):
    "Answers have random weights, so no links are tied."
    sample, kind = (sample_triplets, Triplets) if width == 3 else (sample_quadruplets, Quadruplets)
    methods = (quadruplet_average_linkage, triplet_average_linkage)[: 5 - width]
    kernels = [kernel_passive, lambda answers: kernel_passive(answers, True)] + [triplet_kernel] * (width == 3)
    for seed in range(6):
        rng, planted = np.random.default_rng(seed), planted_hierarchy(3, 3, 0.8, 0.1, 0.1, seed)
        rows, order = sample(planted.similarity, 0.3, seed).array, rng.permutation(24)
        weights, shuffle = rng.random(len(rows)), rng.permutation(len(rows))
        one = kind(rows, 24, weights=weights)
        two = kind(np.argsort(order)[rows][shuffle], 24, weights=weights[shuffle])
        assert all(method(two).same_tree(method(one).relabel(order)) for method in methods)
        assert all(np.array_equal(kernel(two), kernel(one)[np.ix_(order, order)]) for kernel in kernels)


@given(seed=seeds)
def test_triplets_are_quadruplets(seed):
    rng, n, rows, initial = instance(METHODS["3-al"], seed)
    fours = rows[:, [0, 1, 0, 2]]
    tree = quadruplet_average_linkage(Quadruplets(fours, n), initial)
    for answers in (Triplets(rows, n), rows, fours[:, [1, 0, 3, 2]]):
        assert quadruplet_average_linkage(answers, initial, n_objects=n) == tree
        assert (kernel_passive(answers, n_objects=n) == kernel_passive(fours, n_objects=n)).all()


# ---- kernels


@given(seed=seeds, self_pairs=st.booleans())
def test_kernels_are_their_definitions(seed, self_pairs):
    _, n, rows, _ = instance(METHODS["4k-al"], seed)
    K = kernel_passive(rows, self_pairs, n)
    assert K.dtype == np.int64 and np.array_equal(K, definitions.quadruplet_kernel(rows.tolist(), n, self_pairs))
    _, n, rows, _ = instance(METHODS["3k-al"], seed)
    counts, known = definitions.triplet_kernel(rows.tolist(), n, self_pairs)
    K = triplet_kernel(rows, False, self_pairs, n)
    assert K.dtype == np.int64 and np.array_equal(K, counts)
    cosine = counts / np.sqrt(np.outer(np.maximum(known, 1), np.maximum(known, 1)))
    assert np.allclose(triplet_kernel(rows, True, self_pairs, n), cosine, atol=1e-14) and np.abs(cosine).max() <= 1


def test_the_side_with_more_weight_is_the_majority():
    rows = [[0, 1, 2], [0, 2, 1], [0, 2, 1], [3, 1, 2]]
    for weights, sign in (([0.5, 0.1, 0.1, 1], 1), ([0.1, 0.5, 0.1, 1], -1), ([0.3, 0.1, 0.2, 1], 0)):
        assert triplet_kernel(Triplets(rows, weights=weights), normalise=False)[0, 3] == sign
    tied = Triplets(rows[:2], weights=[0.5, 0.5])
    assert not triplet_kernel(tied).any() and not kernel_passive(tied, True).any()


@given(seed=seeds, n=st.integers(2, 9))
def test_heights_of_a_kernel_tree_are_differences_of_averages(seed, n):
    K = np.random.default_rng(seed).integers(-(10**6), 10**6, (n, n))
    K, tree = K + K.T, kernel_average_linkage(K + K.T)
    mean = [np.mean([K[i, j] for i in P for j in Q]) for P, Q in map(tuple, merges_of(tree))]
    assert np.allclose(tree.heights, K[np.triu_indices(n, 1)].max() - np.array(mean))


# ---- every comparison known

RANKED = {  # (from the similarity, from all answers, sampler)
    "4-al": (quadruplet_average_linkage_ranked, quadruplet_average_linkage, sample_quadruplets),
    "3-al": (triplet_average_linkage_ranked, triplet_average_linkage, sample_triplets),
    "4k": (kernel_passive_ranked, kernel_passive, sample_quadruplets),
    "4k, self-pairs": (lambda w: kernel_passive_ranked(w, True), lambda a: kernel_passive(a, True), sample_quadruplets),
    "3k": (triplet_kernel_ranked, triplet_kernel, sample_triplets),
    "3k, counts": (
        lambda w: triplet_kernel_ranked(w, False, True),
        lambda a: triplet_kernel(a, False, True),
        sample_triplets,
    ),
}


def equal(one, other):
    if hasattr(one, "cut"):
        return one == other
    return np.array_equal(one, other) if one.dtype == int else np.allclose(one, other, rtol=0, atol=1e-14)


@pytest.mark.parametrize("ranked, listed, sample", RANKED.values(), ids=list(RANKED))
@given(seed=seeds, n=st.integers(3, 13), levels=st.sampled_from([None, None, 3, 9]))
def test_every_comparison_known_is_every_answer_given(ranked, listed, sample, seed, n, levels):
    w = similarities(n, seed, levels)
    found, answers = ranked(w), sample(w, 1.0, seed)
    assert not len(answers) or equal(found, listed(answers))
    for same in (np.exp(3 * w), np.cbrt(w), 5 * w - 3, np.where(w > 0, 1e6 * w, w)):
        assert equal(ranked(same), found) and sample(same, 0.3, seed) == sample(w, 0.3, seed)
    if hasattr(found, "cut"):
        labels = np.random.default_rng(seed).integers(0, 4, n)
        assert not len(answers) or ranked(w, labels) == listed(answers, labels)


@given(seed=seeds, n=st.integers(1, 7), levels=st.sampled_from([None, 6]), self_pairs=st.booleans())
def test_the_ranked_kernel_is_the_definition(seed, n, levels, self_pairs):
    w = similarities(n, seed, levels)
    looks = [(r, y) for r in range(n) for y in definitions.pairs_of(n)]
    K = definitions.landmark_kernel(definitions.outcomes_of(w), n, looks, self_pairs)
    assert np.array_equal(kernel_passive_ranked(w, self_pairs), K)


# ---- planted trees, and small matters


def test_planted_trees_are_found():
    clear = planted_hierarchy(10, 3, 0.8, 0.3, 0.1, 0)
    for name, method in METHODS.items():
        sample = sample_triplets if method.width == 3 else sample_quadruplets
        aari = average_ari(clear.levels, method.build(sample(clear.similarity, 0.3, 0)))
        assert aari > 0.8 or name == "3-al unsorted"
    exact = planted_hierarchy(4, 3, 0.8, 0.1, 0.0, 0)
    assert quadruplet_average_linkage_ranked(exact.similarity, exact.labels).same_tree(exact.dendrogram)
    assert average_ari(exact.levels, quadruplet_average_linkage_ranked(exact.similarity)) == 1


def test_near_the_published_accuracy():
    "N = 240, L = 3, δ = σ: the authors' program gave an AARI of 0.936 at p = 0.1."
    planted = planted_hierarchy(30, 3, 0.8, 0.1, 0.1, 0)
    few = quadruplet_average_linkage(sample_quadruplets(planted.similarity, 0.02, 0))
    assert 0.75 < average_ari(planted.levels, few) <= 1
    assert 0.88 < average_ari(planted.levels, quadruplet_average_linkage_ranked(planted.similarity)) <= 1


@pytest.mark.parametrize("seed", range(4))
def test_sorting_keeps_the_clusters_and_finds_the_planted_levels(seed):
    planted = planted_hierarchy(8, 3, 0.8, 0.2, 0.02, seed)
    answers = sample_triplets(planted.similarity, 1.0, 0)
    raw, tree = triplet_average_linkage(answers, sort=False), triplet_average_linkage(answers)
    assert tree.same_tree(raw) and average_ari(planted.levels, tree) == 1 > average_ari(planted.levels, raw)


@every_method
def test_names_objects_never_compared_and_the_callers_arrays(method):
    rows = np.array([[0, 1, 2, 1], [1, 0, 2, 0]])[:, : method.width]
    before = rows.copy()
    tree = method.build(method.answers(rows, 6, names=list("uvwxyz")))
    assert tree.n_leaves == 6 and frozenset(range(6)) in clusters_of(tree)
    assert tree.names == (tuple("uvwxyz") if method.exact else None)  # a kernel has no names
    assert (rows == before).all() and rows.flags.writeable


@pytest.mark.parametrize("method", [METHODS["4-al"], METHODS["3-al"]], ids=["4-al", "3-al"])
def test_progress_counts_to_the_end_and_one_cluster_needs_no_merge(method):
    steps, answers = [], Triplets([[0, 1, 2]], n_objects=7)
    tree = method.build(answers, progress=lambda *step: steps.append(step))
    assert steps == [(t, 6) for t in range(1, 7)] and tree.height_kind == "merge order"
    for n_clusters in (1, 2, 3):
        few = method.build(Triplets([[0, 1, 2]]), np.arange(3) % n_clusters)
        assert few.n_leaves == n_clusters and few.heights.tolist() == list(range(1, n_clusters))


def test_small_kernels_and_trees():
    assert [kernel_average_linkage(np.zeros((n, n))).n_leaves for n in (1, 2, 3)] == [1, 2, 3]
    tree = kernel_average_linkage([[np.nan, -3], [-3, np.inf]], names=["a", "b"])  # the diagonal is not used
    assert tree.names == ("a", "b") and tree.heights.tolist() == [0] and "dissimilarity" in tree.height_kind
    K = triplet_kernel([[0, 1, 2], [3, 1, 2]], n_objects=6)
    assert K[0, 3] == 1 and K[0, 4] == K[4, 5] == 0 and np.isfinite(K).all()
    calls = []
    kernel_passive([[0, 1, 2]], progress=lambda *step: calls.append(step))
    assert calls == [(3, 3)]


# ---- bad input (`test_bad_input` tries every argument)


test_bad_input_is_refused_with_argument_rule_and_value = refusals(
    ("indices below n_objects = 2.*got", by_name(kernel_passive, "n_objects", [[0, 1, 2]]), 2),
    ("triplets must be.*got", triplet_kernel, Quadruplets([[0, 1, 2, 3]])),
    ("n_objects must be.*got", by_name(triplet_average_linkage, "n_objects", [[0, 1, 2]]), 30_000),
    ("weights must be.*got", by_name(quadruplet_average_linkage, "weights", [[0, 1, 2], [3, 1, 2]]), [1, -1]),
)
