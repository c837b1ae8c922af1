"""The theory of F19: every check holds in its quick setting, fails where it should, and helpers equal definitions."""

import inspect
import math
import re
from functools import cache
from itertools import combinations, permutations

import definitions
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.stats import norm
from shared import assert_every_statement_is_checked, every_check_holds, similarities
from test_hierarchical import random_rows

from comparison_hc import InputError, Quadruplets, hierarchical
from comparison_hc.checks import find_checks, passing_probability
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.hierarchical import planted_hierarchy, quadruplet_average_linkage, quadruplet_average_linkage_ranked
from comparison_hc.metrics import adjusted_rand_index
from comparison_hc.oracles import Counting, SimilarityOracle, run, sample_quadruplets
from comparison_hc.theory import f19_levels, f19_theorem1, f19_theorem2, f19_theorem3, f19_theorem4
from comparison_hc.theory.f19_theorem4 import quadruplet_average_linkage_sampled as sampled

CHECKS = [c for c in find_checks("F19") if c.__module__.startswith("comparison_hc.theory.f19")]


# The checks


test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_the_paper_has_a_check():
    assert_every_statement_is_checked(
        CHECKS,
        "eq. 4",
        "eq. 5",
        "appendix B.1",
        "Proposition 1, lower",
        "Proposition 1, upper",
        "Theorem 1, sufficient",
        "Theorem 1, converse",
        "Theorem 2, number of queries",
        "Theorem 2, eq. 4",
        "Theorem 2, eq. 6",
        "Theorem 2, eq. 7",
        "Theorem 2, eq. 8",
        "Theorem 2, threshold",
        "Theorem 3, mean kernel",
        "Theorem 3, separation",
        "Theorem 3, eq. 10: simulated",
        "Theorem 3, eq. 10: the proof",
        "Theorem 3, threshold",
        "Theorem 4, mean preference",
        "Theorem 4, convex",
        "Theorem 4, separation",
        "Theorem 4, eq. 14",
        "Theorem 4, union bound",
        "Theorem 4, threshold",
        "Theorem 4, eq. 13",
        "Theorems 2 and 3, no overlap",
    )


def test_a_broken_condition_is_seen():
    assert not f19_theorem1.close_similarities_suffice(reach=0.75)
    assert not f19_theorem2.active_constant(constant=2.5)
    assert not f19_theorem3.passive_constant(constant=0.005)
    assert not f19_theorem3.passive_entries_concentrate(factor=0.02)
    assert not f19_theorem4.small_constant_suffices(constant=0.0005)
    assert not f19_theorem1.linkage_recovers(constant=1)
    assert not f19_theorem1.single_linkage_fails(constant=4).table.holds.any()
    assert not f19_theorem2.close_entries_suffice(reach=0.75)
    assert not f19_theorem3.passive_group_error(factor=1)
    assert not f19_theorem4.close_preferences_suffice(reach=1.5)


@pytest.mark.parametrize(
    "check, rows",
    [
        (f19_theorem1.linkage_recovers, [(0.99, 200, 0.9)] * 6),
        (f19_theorem1.single_linkage_fails, [(0.8, 150, 0.5)] * 8),
        (f19_theorem2.active_constant, [(0.75, 150, 0.5), (0.3, 150, 0.1)]),
        (f19_theorem3.passive_constant, [(0.9, 40, 0.5)] * 3),
        (f19_theorem4.small_constant_suffices, [(0.98, 80, 0.8)] * 3),
    ],
)
def test_the_stated_power_is_the_exact_one(check, rows):
    "All rows must pass: in how many of so many runs they do, rounded down."
    share, of = (int(word.replace(",", "")) for word in re.search(r"in (\d+) of ([\d,]+) runs", check.power).groups())
    power = math.prod(passing_probability(rate, runs, target, check.false_passes) for rate, runs, target in rows)
    assert share <= power * of < share + 1


def latest(check):
    "The latest result, whatever it says; a run where there is none."
    return check() if check.last is None else check.last


def test_the_stated_power_is_about_the_runs_that_are_made():
    runs = dict(linkage_recovers=200, single_linkage_fails=150, active_constant=150, small_constant_suffices=80)
    for check in CHECKS:
        if check.name in runs:
            assert f"{runs[check.name]} " in latest(check).random["what"] + " ", check.name
    few = f19_theorem3.passive_constant
    assert latest(few).table.runs.tolist() == [40] * 3


def test_every_check_that_draws_says_so():
    "Where a seed can be given, the result reports it."
    for check in CHECKS:
        if "rng" in inspect.signature(check.function).parameters:
            assert latest(check).random["seed"] == 0, check.name


# Their helpers, against definitions


@given(st.integers(2, 9), st.integers(0, 10**6))
def test_merge_sort_and_linkage_from_an_order(n, seed):
    w = similarities(n, seed)
    order = run(f19_theorem1.merge_sort_pairs(n), oracle := Counting(SimilarityOracle(w)))
    assert np.all(np.diff(w[order[:, 0], order[:, 1]]) > 0) and len(order) == math.comb(n, 2)
    assert oracle.n_queries <= len(order) * math.ceil(math.log2(max(len(order), 1)))
    assert f19_theorem1.differing_merges(order, w) == 0


@given(st.integers(0, 10**6), st.sampled_from([(1, 2), (2, 1), (2, 2), (3, 1)]), st.floats(0, 5))
def test_recovery_is_equality_of_planted_clusters(seed, shape, delta):
    model = planted_hierarchy(*shape, 0, delta, 1, seed)
    tree = Dendrogram.from_linkage(f19_theorem2.kernel_linkage(model.similarity))
    planted = definitions.clusters_of(model.dendrogram)
    assert f19_levels.recovers(tree.children, *shape) == (planted <= definitions.clusters_of(tree))


def test_rand_indices_are_those_of_the_package():
    every = f19_levels.all_partitions(5)
    index = f19_levels.rand_indices(every, every)
    assert len(every) == 52
    for a, b in np.random.default_rng(0).integers(0, 52, (60, 2)):
        assert math.isclose(index[a, b], adjusted_rand_index(every[a], every[b]), abs_tol=1e-12)


@given(st.floats(-5, 5), st.floats(0, 4))
def test_beta_is_a_bias(level, snr):
    assert math.isclose(f19_levels.beta(level, snr), 2 * norm.cdf(level * snr / math.sqrt(2)) - 1, abs_tol=1e-12)
    assert f19_levels.beta(-level, snr) == -f19_levels.beta(level, snr)


@pytest.mark.parametrize("n, p", [(5, 1.0), (6, 0.4)])
def test_the_direct_kernel_is_equation_9(n, p):
    w, P, pairs = similarities(n, 3), math.comb(n, 2), list(combinations(range(n), 2))
    K, rng, outcomes = f19_theorem3.passive_kernel(w, p, np.random.default_rng(7)), np.random.default_rng(7), {}
    for a in range(P - 1):
        for b in np.flatnonzero(rng.random(P - 1 - a, dtype=np.float32) < p) + a + 1:
            x, y = frozenset(pairs[a]), frozenset(pairs[b])
            outcomes[x, y] = int(np.sign(w[pairs[a]] - w[pairs[b]]))
            outcomes[y, x] = -outcomes[x, y]
    looks = [(r, y) for r in range(n) for y in definitions.pairs_of(n)]
    off = ~np.eye(n, dtype=bool)
    assert np.array_equal(K[off], definitions.landmark_kernel(outcomes, n, looks)[off])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.floats(0.01, 1))
def test_entry_distribution_has_the_right_moments(products, q):
    pmf = f19_theorem2.entry_distribution(products, q)
    value = np.arange(-len(products), len(products) + 1)
    assert math.isclose(pmf.sum(), 1, rel_tol=1e-9) and (pmf >= 0).all()
    assert math.isclose((pmf * value).sum(), q * sum(products), abs_tol=1e-9)


def test_products_over_a_shared_reference():
    m = f19_theorem3.shared_products(1.0, 2)
    assert np.allclose(m, m.transpose(1, 0, 2)) and np.allclose([m[t, t, t] for t in range(3)], 1 / 3)
    x, y, z = np.random.default_rng(0).normal(size=(3, 400_000))
    assert abs(np.mean(np.sign(2 + x - z) * np.sign(1 + y - z)) - m[2, 1, 0]) < 0.01


@given(st.integers(0, 10**6))
def test_preference_is_equation_4_in_fractions(seed):
    "With repeated and contradictory answers, and links that share clusters."
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 6, 25, 4)
    (A, B), (C, D) = (np.split(rng.permutation(6)[: rng.integers(2, 7)], [1]) for _ in range(2))
    wins = definitions.quadruplet_wins(rows.tolist())
    pairs = [[frozenset((i, j)) for i in G for j in H] for G, H in ((A.tolist(), B.tolist()), (C.tolist(), D.tolist()))]
    net = sum(wins.get((x, y), 0) for x in pairs[0] for y in pairs[1])
    assert math.isclose(f19_theorem4.preference(Quadruplets(rows, 6), A, B, C, D), net / len(pairs[0]) / len(pairs[1]))


def test_a_preference_that_is_not_antisymmetric_is_found(monkeypatch):
    "Each of the two sides, spoiled alone, is noticed."
    whole = f19_theorem4.preference
    for wrong in (lambda *a: whole(*a) + 0.01, lambda *a: abs(whole(*a))):
        monkeypatch.setattr(f19_theorem4, "preference", wrong)
        assert not f19_theorem4.preference_is_antisymmetric()


@given(st.integers(0, 10**6))
def test_merges_from_preferences_are_those_of_4al(seed):
    "The preferences of the initial clusters determine the tree of `quadruplet_average_linkage`."
    rng = np.random.default_rng(seed)
    initial = [part.tolist() for part in np.split(rng.permutation(10), [1, 3, 5, 8])]
    answers = sample_quadruplets(similarities(10, seed), 0.7, rng)
    W = np.zeros((5,) * 4)
    for i, j, k, l in np.ndindex(W.shape):
        if i != j and k != l:
            W[i, j, k, l] = f19_theorem4.preference(answers, initial[i], initial[j], initial[k], initial[l])
    sizes, nudge = [len(part) for part in initial], 1e-9 * rng.normal(size=W.shape)
    merges = f19_theorem4.merges_from_preferences(W + nudge, sizes)
    assume(merges == f19_theorem4.merges_from_preferences(W - nudge, sizes))  # no tie
    children = quadruplet_average_linkage(answers, initial, 10).children.tolist()
    assert [set(pair) for pair in merges] == [set(pair) for pair in children]


def test_stages_lead_from_parts_to_the_root():
    stages = [stage.tolist() for stage in f19_theorem4.planned_stages(1, 2)]
    assert stages == [[0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1, 1], [0, 1]]
    assert f19_theorem4.expected_scores(np.array([0, 1]), 1, 1.0) == {0: 0.0}


def test_drawn_preferences_have_mean_zero():
    for p, level in ((0.2, 0), (1.0, 1)):
        draws = f19_theorem4.preference_deviations(3, p, 1.0, level, 4000, 0)
        assert abs(draws.mean()) < 4 * draws.std() / math.sqrt(4000)


@cache
def orders(a, b, u):
    "Orders of a and b values in which the first win u comparisons, by recursion over the largest."
    if min(u, a, b) < 0:
        return 0
    return int(u == 0) if a == 0 or b == 0 else orders(a - 1, b, u - b) + orders(a, b - 1, u)


@given(st.integers(1, 6), st.floats(0.01, 0.99))
@example(40, 0.9)  # a probability below 1e-12
def test_the_tail_of_equal_levels_is_that_of_whole_numbers(n, threshold):
    assume(n > 6 or all(abs(abs(2 * u - n * n) - threshold * n * n) > 1e-9 for u in range(n * n + 1)))
    most = math.ceil(n * n * (1 - threshold) / 2)  # U < n²(1 − threshold)/2, and as often at the other end
    exact = 2 * sum(orders(n, n, u) for u in range(most)) / math.comb(2 * n, n)
    assert math.isclose(f19_theorem4.equal_level_tail(n, threshold), exact, rel_tol=1e-9, abs_tol=1e-15)


def test_orders_up_to_renaming_stand_for_all():
    "Every order of the other pairs of four objects can be renamed, {0, 1} staying, to one that is listed."
    pairs = list(combinations(range(4), 2))
    listed = set(f19_theorem1.orders_of_the_others(4))
    names = [p + q for p in permutations((0, 1)) for q in permutations((2, 3))]
    for order in permutations(range(1, 6)):
        renamed = (
            tuple(pairs.index(tuple(sorted((name[pairs[x][0]], name[pairs[x][1]])))) for x in order) for name in names
        )
        assert listed.intersection(renamed)
    assert len(listed) == 48 < math.factorial(5)


def test_best_pair_and_pairs_never_asked():
    w = similarities(6, 0)
    oracle = Counting(SimilarityOracle(w))
    best = run(f19_theorem1.best_pair(6), oracle)
    assert w[best] == w[np.triu_indices(6, 1)].max() and oracle.n_queries == 14

    def lazy(n, rng):
        yield np.array([[0, 1, 2, 3]])

    assert f19_theorem1.never_asked(lazy, w, 0) == (13, 1)


# 4–AL on a sample that is never listed


@pytest.mark.parametrize("seed", range(12))
def test_drawn_net_wins_at_p_one_are_all_comparisons(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    w = similarities(n, seed, 6 if seed % 2 else None)  # odd seeds: many ties
    labels = rng.integers(0, int(rng.integers(2, n + 1)), n)
    assert sampled(w, 1.0, seed, labels) == quadruplet_average_linkage_ranked(w, labels)


def test_drawn_net_wins_are_reproducible_and_the_old_name_warns():
    model, groups = planted_hierarchy(6, 3, 0.8, 0.3, 0.05, rng=1), np.arange(48) // 3
    trees = [sampled(model.similarity, 0.05, seed, groups) for seed in (3, 3, 4)]
    assert trees[0] == trees[1] and all(np.array_equal(tree.cut(8), model.labels) for tree in trees)
    with pytest.warns(DeprecationWarning, match="f19_theorem4"):
        assert hierarchical.quadruplet_average_linkage_sampled is sampled
    for wrong, word in ((dict(p=0), "p must"), (dict(initial=[[0, 1]]), "initial"), (dict(rng="x"), "rng")):
        with pytest.raises(InputError, match=word):
            sampled(**{**dict(similarity=np.eye(6), p=0.5, rng=0, initial=[[0, 1], [2, 3], [4, 5]]), **wrong})
