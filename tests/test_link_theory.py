"""The theory of L20: every check holds in its quick setting, fails where it should; helpers equal their definitions."""

import os
from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import assert_every_statement_is_checked, every_check_holds

from comparison_hc.checks import find_checks
from comparison_hc.core.validation import InputError
from comparison_hc.link import (
    theory,
    theory_exact,
    theory_execution,
    theory_orders,
    theory_pieces,
    theory_regions,
    theory_samples,
)
from comparison_hc.link.merge import alpha_line, alpha_linkage, as_merges, beta_line, beta_linkage, merges_by_definition
from comparison_hc.link.theory_tasks import BROUGHT, DISTRIBUTIONS, FAMILIES, tangent_metrics, whole_distances
from comparison_hc.reproduce.l20_tasks import bring_pictures

CHECKS = [c for c in find_checks("L20") if c.__module__.startswith("comparison_hc.link.theory")]
numbers = st.integers(-6, 6)

# The checks


test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_the_paper_has_a_check():
    assert_every_statement_is_checked(
        CHECKS,
        "Definition 1",
        "Lemma 1, linear",
        "Lemma 1, quadratic",
        *(f"Lemma {k}" for k in range(2, 8)),
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
        "pieces",
        "condition broken",
    )


# Enumeration


@given(
    st.integers(1, 3).flatmap(
        lambda p: st.lists(st.tuples(*[numbers] * (p + 1)), min_size=1, max_size=4 if p < 3 else 3)
    ),
    st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_no_region_is_missed(functions, seed):
    p, rng = len(functions[0]) - 1, np.random.default_rng(seed)
    found = {theory_regions.signs_at(functions, point) for point in theory_regions.points_of_regions(functions)}
    drawn = [tuple(Fraction(int(x), 6) for x in point) for point in rng.integers(-60, 61, (150, p))]
    assert {theory_regions.signs_at(functions, point) for point in drawn} <= found


def test_functions_without_variables():
    assert {theory_regions.signs_at([(0, 3)], point) for point in theory_regions.points_of_regions([(0, 3)])} == {(1,)}
    assert (
        len(
            {
                theory_regions.signs_at([(0, 0, 2), (0, 1, 0)], point)
                for point in theory_regions.points_of_regions([(0, 0, 2), (0, 1, 0)])
            }
        )
        == 3
    )


def test_products_are_lifted():
    f, g = (2, -3, 5), (-1, 4, 7)
    for x, y in product(range(-3, 4), repeat=2):
        lifted = theory_regions.lifted_product(f, g)
        assert lifted[-1] + sum(w * z for w, z in zip(lifted, (x * x, x * y, y * x, y * y, x, y))) == (
            2 * x - 3 * y + 5
        ) * (-x + 4 * y + 7)


# Theorem 1


def test_rademacher_by_hand():
    assert theory_samples.rademacher(np.array([[0.0, 1.0]])) == 0.5  # max(0, σ) over σ = ±1
    assert theory_samples.rademacher(np.array([[0.3], [0.8]])) == pytest.approx(0)  # one vector cannot follow anything


def test_deviations_of_a_single_draw():
    losses = np.array([[0.0, 1.0], [1.0, 1.0]])
    assert (theory.sup_deviations(losses, 1, 20, 0) == 0.5).all()  # a coin of which one side was seen


def test_pseudo_dimension_is_the_last_that_fits():
    for n, L, L_prime in ((2, 1, 1), (100, 1, 2), (1000, 3, 3)):
        d = theory_samples.pseudo_dimension_bound(n, L, L_prime)
        assert d * log(2) <= theory_samples.log_regions(d, n, L, L_prime) and (d + 1) * log(
            2
        ) > theory_samples.log_regions(d + 1, n, L, L_prime)


def test_the_law_of_coins_is_their_enumeration():
    for T, N in ((1, 3), (2, 4), (3, 2)):
        values, chances = theory_samples.sup_of_coins(T, N)
        found = dict(zip(values.round(9).tolist(), chances))
        counted = {}
        for throws in product((0, 1), repeat=T * N):
            off = max(abs(sum(throws[t * N : (t + 1) * N]) / N - 0.5) for t in range(T))
            counted[round(off, 9)] = counted.get(round(off, 9), 0) + 1 / 2 ** (T * N)
        assert {x: p for x, p in found.items() if p} == pytest.approx(counted)


def test_samples_are_all_samples():
    counted = {}
    for sample in product(range(3), repeat=4):
        key = tuple(sample.count(i) for i in range(3))
        counted[key] = counted.get(key, 0) + 1 / 81
    found = {tuple(counts.tolist()): p for counts, p in theory_samples.samples_with_counts(3, 4)}
    assert found == pytest.approx(counted)


# Definition 1, lemmas 2 and 3


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=40)
def test_another_metric_has_the_same_order(seed, rows, columns):
    rng = np.random.default_rng(seed)
    one = rng.integers(10, 15, (rows, columns))
    other = theory_orders.same_order(one, rng)
    assert (np.sign(np.subtract.outer(one, one)) == np.sign(np.subtract.outer(other, other))).all()
    assert np.sort(one, axis=None)[one.size // 2] == one.flat[theory_orders.median_place(one)]


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_weights_are_weights(seed, length):
    weights = theory_orders.random_weights(length, np.random.default_rng(seed))
    assert len(weights) == length and sum(weights) == 1 and min(weights) >= 0


def test_steps_stay_in_the_region():
    rng = np.random.default_rng(0)
    H = theory_orders.distance_functions(theory_orders.small_metrics(4, 3, rng))
    widest = 0
    for point in theory_orders.points_in_simplex(H, rng, 5)[::40]:
        found = theory_orders.within_region(H, point, rng, 4)
        assert found[0] == point and len({theory_regions.signs_at(H, x) for x in found}) == 1
        widest = max(widest, len(set(found)))
    assert widest > 1


# Execution


@given(
    st.sampled_from(list(FAMILIES.values())),
    st.integers(3, 6),
    st.sampled_from([2, 10**4]),
    st.integers(0, 10**6),
    st.integers(0, 64),
)
@settings(max_examples=60)
def test_exact_runs_are_the_definition(merges, n, top, seed, k):
    Ds, x = whole_distances(n, 3 - len(merges), seed, top), k / 64  # a parameter without rounding
    floats = [D.astype(float) for D in Ds]
    line = (
        alpha_line(floats[0], as_merges(merges)) if len(merges) == 2 else beta_line(*floats, execution_merge(merges[0]))
    )
    if "average" in merges:
        return  # thirds are rounded there
    assert [frozenset((A, B)) for A, B, _ in merges_by_definition(line, n, x)] == theory_exact.exact_run(
        n, [D.tolist() for D in Ds], merges, Fraction(k, 64)
    )


def execution_merge(name):
    from comparison_hc.link.merge import NAMED

    return NAMED[name]


@pytest.mark.parametrize("merges", [("single", "complete"), ("average", "complete"), ("complete",), ("average",)])
def test_exact_runs_are_the_linkages(merges):
    for seed in range(6):
        Ds, x = whole_distances(7, 3 - len(merges), seed), Fraction(seed * 7 + 3, 50)
        tree = alpha_linkage(Ds[0], float(x), merges) if len(merges) == 2 else beta_linkage(*Ds, float(x), merges[0])
        clusters = {frozenset(map(int, objects)) for _, objects in tree.clusters()}
        assert all(
            frozenset(A + B) in clusters for A, B in theory_exact.exact_run(7, [D.tolist() for D in Ds], merges, x)
        )


def test_distances_are_metrics():
    for D in whole_distances(6, 2, 0):
        assert (D[:, None, :] + D[None, :, :].transpose(1, 0, 2) >= 0).all() and D.max() <= 2 * D[
            ~np.eye(6, dtype=bool)
        ].min()


def test_tangents_are_tangents():
    s = 3
    lines = [(D0, D1) for D0, D1 in zip(*(np.array(D)[:s, s:].ravel() for D in tangent_metrics(s)))]
    for k in range(len(lines)):
        beta = Fraction(2 * k + 1, 2 * s * s)
        heights = [(1 - beta) * int(g0) + beta * int(g1) for g0, g1 in lines]
        assert heights.index(max(heights)) == k and heights.count(max(heights)) == 1


def test_work_is_counted_where_it_is_done():
    tally = theory_execution.Tally({1: (0, 4), 2: (3, 0)}.get)
    rounds = theory_execution.algorithm_2([1, 2], tally, Fraction(0), Fraction(1))
    assert rounds == [(1, 0, Fraction(3, 7)), (2, Fraction(3, 7), 1)]
    assert (tally.evaluations, tally.equations) == (8, 2)


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    here = {name: DISTRIBUTIONS[name] for name in ("rings and disks", "digits")}
    for module in (theory_execution, theory_pieces):
        monkeypatch.setattr(module, "DISTRIBUTIONS", here)
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path))
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path))
    for bring in (lambda: None, bring_pictures):
        bring()
        result = theory_pieces.pieces_are_few()
        assert result and set(result.table.distribution) == {"rings and disks", "digits", "whole numbers"}
        assert (
            "left out, as the data are not here (or `bring_pictures` was not called): MNIST, CIFAR-10, Omniglot"
            in result.random["what"]
        )


@pytest.mark.skipif(not os.environ.get("COMPARISON_HC_DATA"), reason="COMPARISON_HC_DATA names no folder with the data")
def test_pictures_are_brought():
    bring_pictures()
    for name in BROUGHT:
        D, labels = DISTRIBUTIONS[name][0](10, np.random.default_rng(0))
        for one in D if name == "Omniglot" else (D,):
            assert one.shape == (10, 10) and (one == one.T).all() and (one.diagonal() == 0).all() and one.sum() > 0
        assert np.unique(labels, return_counts=True)[1].tolist() == [2] * 5


def test_unknown_distributions_are_refused():
    for name in ("letters", 3, None, ["digits"]):
        with pytest.raises(InputError, match="^distribution must be one of rings and disks, digits"):
            theory_pieces.count_pieces(name, 10, 0)
