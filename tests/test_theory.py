"""The theory of F19: every check holds in its quick setting, fails where it should, and helpers equal definitions."""

import math
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shared import assert_every_statement_is_checked, every_check_holds

from comparison_hc.checks import compare_rows, find_checks, passing_probability
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.hierarchical.planted import _level_labels, planted_hierarchy
from comparison_hc.metrics import adjusted_rand_index
from comparison_hc.oracles import Counting, SimilarityOracle, run, sample_quadruplets
from comparison_hc.theory import f19_levels, f19_theorem1, f19_theorem2, f19_theorem3, f19_theorem4

properties = settings(deadline=None, max_examples=40, derandomize=True)
CHECKS = [c for c in find_checks("F19") if c.__module__.startswith("comparison_hc.theory.f19")]


def symmetric(n, rng):
    "Distinct random similarities."
    w = np.triu(np.random.default_rng(rng).normal(size=(n, n)), 1)
    return w + w.T


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


@pytest.mark.parametrize(
    "module, name, wrong, check",
    [
        (
            f19_levels,
            "beta",
            lambda level, snr: math.sqrt(2) * np.asarray(level) * 0 + np.tanh(np.asarray(level) * snr),
            f19_levels.mean_answer,
        ),
        (
            f19_theorem1,
            "linkage_successes",
            lambda n0, L, snr, runs, rng, methods=(1, 2): [runs // 2] * len(methods),
            f19_theorem1.linkage_recovers,
        ),
        (
            f19_theorem4,
            "beta",
            lambda level, snr: np.asarray(level) * 0.1 * snr,
            f19_theorem4.mean_preference_follows_the_tree,
        ),
        (f19_levels, "passive_gap", lambda snr, L: 2 * snr + 0 * L, f19_levels.gaps_exceed_delta),
        (f19_theorem4, "C_PRIME", 5.0, f19_theorem4.bernstein_gives_eq14),
        (f19_theorem4, "C_THEOREM_4", 80.0, f19_theorem4.threshold_closes_the_proof),
        (
            f19_theorem2,
            "kernel_levels",
            lambda M, n, whole=False: f19_levels.clusters_at_level(len(M) - 1) * 0.0,
            f19_theorem2.kernel_levels_are_exact,
        ),
        (f19_theorem2, "C_THEOREM_2", 150, f19_theorem2.active_threshold),
        (f19_theorem3, "C_THEOREM_3", 20.0, f19_theorem3.passive_threshold),
        (f19_theorem3, "shared_products", lambda snr, L: np.zeros((L + 1,) * 3), f19_theorem3.passive_kernel_mean),
    ],
)
def test_a_wrong_formula_is_found(monkeypatch, module, name, wrong, check):
    monkeypatch.setattr(module, name, wrong)
    assert not check()


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
    for check, runs in (
        (f19_theorem1.linkage_recovers, 200),
        (f19_theorem1.single_linkage_fails, 150),
        (f19_theorem2.active_constant, 150),
        (f19_theorem4.small_constant_suffices, 80),
    ):
        assert f"{runs} " in latest(check).random["what"] + " ", check.name
    few = f19_theorem3.passive_constant
    assert latest(few).table.runs.tolist() == [40] * 3


def test_every_check_that_draws_says_so():
    "Where a seed can be given, the result reports it."
    import inspect

    for check in CHECKS:
        if "rng" in inspect.signature(check.function).parameters:
            assert latest(check).random["seed"] == 0, check.name


# Their helpers, against definitions


@properties
@given(st.integers(2, 9), st.integers(0, 10**6))
def test_sorting_by_questions(n, seed):
    w, oracle = symmetric(n, seed), None
    order = run(f19_theorem1.merge_sort_pairs(n), oracle := Counting(SimilarityOracle(w)))
    assert np.all(np.diff(w[order[:, 0], order[:, 1]]) > 0) and len(order) == math.comb(n, 2)
    assert oracle.n_queries <= len(order) * math.ceil(math.log2(max(len(order), 1)))
    from scipy.cluster.hierarchy import linkage

    for method in ("single", "complete"):
        assert np.array_equal(
            f19_theorem1.linkage_from_order(order, method)[:, :2],
            linkage(w.max() - w[np.triu_indices(n, 1)], method)[:, :2],
        )


@properties
@given(st.integers(0, 10**6), st.sampled_from([(1, 2), (2, 1), (2, 2), (3, 1)]), st.floats(0, 5))
def test_recovery_is_equality_of_planted_clusters(seed, shape, delta):
    from scipy.cluster.hierarchy import linkage

    model = planted_hierarchy(*shape, 0, delta, 1, seed)
    Z = linkage(-model.similarity[np.triu_indices(len(model.labels), 1)] + 100, "average")
    found = {frozenset(members.tolist()) for _, members in Dendrogram.from_linkage(Z).clusters()}
    planted = {frozenset(members.tolist()) for _, members in model.dendrogram.clusters()}
    assert f19_levels.recovers(Z, *shape) == (planted <= found)


def test_recovery_from_initial_clusters():
    halves = [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert f19_levels.recovers([[0, 1], [2, 3], [4, 5]], 4, 1, halves) and not f19_levels.recovers(
        [[0, 2], [1, 3], [4, 5]], 4, 1, halves
    )


def test_rand_indices_are_scikit_learns():
    every = f19_levels.all_partitions(5)
    assert len(every) == 52
    index = f19_levels.rand_indices(every, every)
    for a, b in np.random.default_rng(0).integers(0, 52, (60, 2)):
        assert math.isclose(index[a, b], adjusted_rand_index(every[a], every[b]), abs_tol=1e-12)


@properties
@given(st.floats(-5, 5), st.floats(0, 4))
def test_beta_is_a_bias(level, snr):
    from scipy.stats import norm

    assert math.isclose(f19_levels.beta(level, snr), 2 * norm.cdf(level * snr / math.sqrt(2)) - 1, abs_tol=1e-12)
    assert f19_levels.beta(-level, snr) == -f19_levels.beta(level, snr) and abs(f19_levels.beta(level, snr)) <= 1


@pytest.mark.parametrize("n, p", [(5, 1.0), (6, 0.4)])
def test_direct_kernel_is_equation_9(n, p):
    w = symmetric(n, 3)
    K = f19_theorem3.passive_kernel(w, p, np.random.default_rng(7))
    P, pairs = math.comb(n, 2), list(combinations(range(n), 2))
    rng, Q = np.random.default_rng(7), {pair: set() for pair in pairs}  # the pairs that a pair was compared with
    for a in range(P - 1):
        for b in np.flatnonzero(rng.random(P - 1 - a, dtype=np.float32) < p) + a + 1:
            Q[pairs[a]].add(pairs[b])
            Q[pairs[b]].add(pairs[a])
    for i, j in pairs:
        total = 0
        for kl in pairs:
            for r in set(range(n)) - {i, j}:
                ir, jr = tuple(sorted((i, r))), tuple(sorted((j, r)))
                if kl in Q[ir] and kl in Q[jr]:
                    total += np.sign(w[ir] - w[kl]) * np.sign(w[jr] - w[kl])
        assert K[i, j] == total


@properties
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


@properties
@given(st.integers(1, 4), st.integers(1, 6))
def test_levels_are_counted_from_the_labels_of_all_depths(n_pure, n_levels):
    labels = _level_labels(np.repeat(np.arange(2**n_levels), n_pure), n_levels)
    level = (labels[:, :, None] == labels[:, None, :]).sum(axis=0)
    assert np.array_equal(f19_levels.planted_levels(n_pure, n_levels), level)
    rows, columns = np.triu_indices(len(level), 1)
    apart = (labels[:, rows] != labels[:, columns]).sum(axis=0)
    assert np.array_equal(f19_levels.planted_distances(n_pure, n_levels, 0.3), 0.3 * apart)


def test_a_row_becomes_two_sides():
    sides = compare_rows([(2, "a", 1.0, "<", 2.0), (3, "b", 5.0, ">", 2.0)], "N what left relation right")
    assert sides.judge().holds.all() and list(sides.columns)[:2] == ["N", "what"]
    assert not compare_rows([(2, 1.0), (3, 5.0)], "N left", relation="<=", right=4).judge().holds.all()


def test_levels_and_clusters():
    level = f19_levels.planted_levels(3, 2)
    assert level[0].tolist() == [2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    for L in range(1, 6):
        assert f19_levels.clusters_at_level(L).sum() == 2**L and math.isclose(f19_levels.level_shares(4, L).sum(), 1)


@properties
@given(st.integers(0, 10**6))
def test_preference_counts_votes(seed):
    rng = np.random.default_rng(seed)
    w, (A, B, C, D) = symmetric(8, seed), np.split(rng.permutation(8), 4)
    answers = sample_quadruplets(w, 0.5, rng)
    rows = {(frozenset((i, j)), frozenset((k, l))) for i, j, k, l in answers.array.tolist()}
    votes = sum(
        ((frozenset((i, j)), frozenset((k, l))) in rows) - ((frozenset((k, l)), frozenset((i, j))) in rows)
        for i in A.tolist()
        for j in B.tolist()
        for k in C.tolist()
        for l in D.tolist()
    )
    assert f19_theorem4.preference(answers, A, B, C, D) == votes / 16


@settings(properties, max_examples=200)
@given(st.integers(0, 10**6))
def test_preference_is_equation_4_in_fractions(seed):
    "With repeated and contradictory answers, and links that share clusters."
    from fractions import Fraction

    from comparison_hc.comparisons import Quadruplets

    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(6), 2)))
    x, y = np.array([rng.choice(15, 2, replace=False) for _ in range(25)]).T
    rows = np.vstack([np.hstack([pairs[x], pairs[y]]), np.hstack([pairs[y][:, ::-1], pairs[x]])[:6]])
    (A, B), (C, D) = (
        [part.tolist() for part in np.split(rng.permutation(6)[: rng.integers(2, 7)], [1])] for _ in range(2)
    )
    balance = 0
    for i in A:
        for j in B:
            for k in C:
                for l in D:
                    for a, b, c, d in rows.tolist():
                        balance += ({a, b} == {i, j} and {c, d} == {k, l}) - ({a, b} == {k, l} and {c, d} == {i, j})
    assert Fraction(f19_theorem4.preference(Quadruplets(rows, 6), A, B, C, D)).limit_denominator(1296) == Fraction(
        balance, len(A) * len(B) * len(C) * len(D)
    )


def test_a_preference_that_is_not_antisymmetric_is_found(monkeypatch):
    "Each of the two sides, spoiled alone, is noticed."
    whole = f19_theorem4.preference
    monkeypatch.setattr(f19_theorem4, "preference", lambda answers, *links: whole(answers, *links) + 0.01)
    assert not f19_theorem4.preference_is_antisymmetric()
    monkeypatch.setattr(f19_theorem4, "preference", lambda answers, *links: abs(whole(answers, *links)))
    assert not f19_theorem4.preference_is_antisymmetric()


@properties
@given(st.integers(0, 10**6))
def test_merges_from_preferences_are_those_of_4al(seed):
    "From the preferences of the initial clusters alone, the tree that `quadruplet_average_linkage` makes of answers."
    from comparison_hc.hierarchical.average import quadruplet_average_linkage

    rng = np.random.default_rng(seed)
    initial = [part.tolist() for part in np.split(rng.permutation(10), [1, 3, 5, 8])]
    answers = sample_quadruplets(symmetric(10, seed), 0.7, rng)
    W = np.zeros((5,) * 4)
    for i, j, k, l in np.ndindex(W.shape):
        if i != j and k != l:
            W[i, j, k, l] = f19_theorem4.preference(answers, initial[i], initial[j], initial[k], initial[l])
    sizes, nudge = [len(part) for part in initial], 1e-9 * rng.normal(size=W.shape)
    merges = f19_theorem4.merges_from_preferences(W + nudge, sizes)
    assume(merges == f19_theorem4.merges_from_preferences(W - nudge, sizes))  # no tie
    assert [set(pair) for pair in merges] == [
        set(pair) for pair in quadruplet_average_linkage(answers, initial, 10).children.tolist()
    ]


def test_stages_lead_from_parts_to_the_root():
    stages = [stage.tolist() for stage in f19_theorem4.planned_stages(1, 2)]
    assert stages == [[0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1, 1], [0, 1]]
    assert f19_theorem4.expected_scores(np.array([0, 1]), 1, 1.0) == {0: 0.0}


def test_drawn_preferences_have_mean_zero():
    for p, level in ((0.2, 0), (1.0, 1)):
        draws = f19_theorem4.preference_deviations(3, p, 1.0, level, 4000, 0)
        assert abs(draws.mean()) < 4 * draws.std() / math.sqrt(4000)


@properties
@given(st.integers(1, 6), st.floats(0.01, 0.99))
def test_the_tail_of_equal_levels_is_that_of_whole_numbers(n, threshold):
    "Counted as the coefficients of a Gaussian binomial, by the recursion over the largest of the 2n similarities."
    from functools import cache

    @cache
    def orders(a, b, u):
        if u < 0 or a < 0 or b < 0:
            return 0
        return int(u == 0) if a == 0 or b == 0 else orders(a - 1, b, u - b) + orders(a, b - 1, u)

    assume(all(abs(abs(2 * u - n * n) - threshold * n * n) > 1e-9 for u in range(n * n + 1)))
    far = sum(orders(n, n, u) for u in range(n * n + 1) if abs(2 * u - n * n) > threshold * n * n)
    exact = far / math.comb(2 * n, n)
    assert math.isclose(f19_theorem4.equal_level_tail(n, threshold), exact, rel_tol=1e-9, abs_tol=1e-15)


def test_small_tails_do_not_get_lost():
    "n = 40, |𝕎| > 0.9: a probability below 1e-12, from whole numbers."
    n, most = 40, 79  # U < 1600 · 0.1 / 2
    counts = [1] + [0] * most
    for i in range(1, n + 1):
        for k in range(most, n + i - 1, -1):
            counts[k] -= counts[k - n - i]
        for k in range(i, most + 1):
            counts[k] += counts[k - i]
    exact = 2 * sum(counts) / math.comb(80, 40)
    assert exact < 1e-12 and math.isclose(f19_theorem4.equal_level_tail(n, 0.9), exact, rel_tol=1e-9)


@properties
@given(st.floats(0, 30), st.integers(1, 20), st.floats(0.01, 0.99))
def test_binomial_tail(k, n, p):
    by_hand = sum(math.comb(n, s) * p**s * (1 - p) ** (n - s) for s in range(math.floor(k) + 1, n + 1))
    assert math.isclose(f19_levels.binomial_tail(k, n, p), by_hand, abs_tol=1e-12)


def test_orders_up_to_renaming_stand_for_all():
    "Every order of the other pairs of four objects can be renamed, {0, 1} staying, to one that is listed."
    from itertools import permutations

    pairs = list(combinations(range(4), 2))
    listed = set(f19_theorem1.orders_of_the_others(4))
    names = [p + q for p in permutations((0, 1)) for q in permutations((2, 3))]
    for order in permutations(range(1, 6)):
        assert any(
            tuple(pairs.index(tuple(sorted((name[pairs[x][0]], name[pairs[x][1]])))) for x in order) in listed
            for name in names
        )
    assert len(listed) == 48 < math.factorial(5)


def test_best_pair_and_what_is_never_asked():
    w = symmetric(6, 0)
    oracle = Counting(SimilarityOracle(w))
    best = run(f19_theorem1.best_pair(6), oracle)
    assert w[best] == w[np.triu_indices(6, 1)].max() and oracle.n_queries == 14

    def lazy(n, rng):
        yield np.array([[0, 1, 2, 3]])

    assert f19_theorem1.never_asked(lazy, w, 0) == (13, 1)


def test_the_packages_merges_from_a_table_of_preferences():
    "On balances that have given preferences, 4–AL of the package merges as it is defined."
    rng = np.random.default_rng(0)
    sizes = [1, 3, 2, 2]
    V = f19_theorem4.link_deviations(6, rng)
    number = np.zeros((4, 4), int)
    i, j = np.triu_indices(4, 1)
    number[i, j] = number[j, i] = np.arange(6)
    W = np.where(
        np.eye(6, dtype=bool)[number][:, :, number], 0, (V + 1e-3 * rng.normal(size=(6, 6)))[number][:, :, number]
    )
    W = (W - W.transpose(2, 3, 0, 1)) / 2
    one = f19_theorem4.merges_from_preferences(W, sizes)
    two = f19_theorem4.package_merges(W, sizes)
    assert [set(pair) for pair in one] == [set(pair) for pair in np.asarray(two).tolist()]
