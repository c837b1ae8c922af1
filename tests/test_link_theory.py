"The theory of L20: every check holds in its quick setting; its helpers equal their definitions."

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
from comparison_hc.reproduce.l20_tasks import bring_pictures
from comparison_hc.theory import l20_execution as execution
from comparison_hc.theory import l20_regions as regions
from comparison_hc.theory import l20_samples as samples

CHECKS = [c for c in find_checks("L20") if c.__module__.startswith("comparison_hc.theory.l20")]

test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_the_paper_has_a_check():
    lemmas = ("Lemma 1, linear", "Lemma 1, quadratic", *(f"Lemma {k}" for k in range(2, 8)))
    theorems = ("Theorem 1", "Theorem 2", "Theorem 3", "pieces", "condition broken")
    assert_every_statement_is_checked(CHECKS, "Definition 1", *lemmas, *theorems)


# ---- regions and orders

functions = st.integers(1, 3).flatmap(
    lambda p: st.lists(st.tuples(*[st.integers(-6, 6)] * (p + 1)), min_size=1, max_size=4 if p < 3 else 3)
)


@given(functions, st.integers(0, 10**6))
@settings(max_examples=60)
def test_no_region_is_missed(functions, seed):
    p, rng = len(functions[0]) - 1, np.random.default_rng(seed)
    found = {regions.signs_at(functions, point) for point in regions.points_of_regions(functions)}
    drawn = [tuple(Fraction(int(x), 6) for x in point) for point in rng.integers(-60, 61, (150, p))]
    assert {regions.signs_at(functions, point) for point in drawn} <= found


@pytest.mark.parametrize("functions, n", [([(0, 3)], 1), ([(0, 0, 2), (0, 1, 0)], 3)])
def test_functions_without_variables(functions, n):
    assert len({regions.signs_at(functions, point) for point in regions.points_of_regions(functions)}) == n


def test_products_are_lifted():
    lifted = regions.lifted_product((2, -3, 5), (-1, 4, 7))
    for x, y in product(range(-3, 4), repeat=2):
        value = lifted[-1] + sum(w * z for w, z in zip(lifted, regions.lifted_point(x, y)))
        assert value == (2 * x - 3 * y + 5) * (-x + 4 * y + 7)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=40)
def test_another_metric_has_the_same_order(seed, rows, columns):
    rng = np.random.default_rng(seed)
    one = rng.integers(10, 15, (rows, columns))
    other = regions.same_order(one, rng)
    assert (np.sign(np.subtract.outer(one, one)) == np.sign(np.subtract.outer(other, other))).all()
    assert np.sort(one, axis=None)[one.size // 2] == one.flat[regions.median_place(one)]


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_weights_are_weights(seed, length):
    weights = regions.random_weights(length, np.random.default_rng(seed))
    assert len(weights) == length and sum(weights) == 1 and min(weights) >= 0


def test_steps_stay_in_the_region():
    rng = np.random.default_rng(0)
    H = regions.distance_functions(regions.small_metrics(4, 3, rng))
    widest = 0
    for point in regions.points_in_simplex(H, rng, 5)[::40]:
        found = regions.within_region(H, point, rng, 4)
        assert found[0] == point and len({regions.signs_at(H, x) for x in found}) == 1
        widest = max(widest, len(set(found)))
    assert widest > 1


# ---- samples


def test_pseudo_dimension_is_the_last_that_fits():
    for n, L, L_prime in ((2, 1, 1), (100, 1, 2), (1000, 3, 3)):
        d = samples.pseudo_dimension_bound(n, L, L_prime)
        fits = [size * log(2) <= samples.log_regions(size, n, L, L_prime) for size in (d, d + 1)]
        assert fits == [True, False]


def test_the_law_of_coins_is_their_enumeration():
    for T, N in ((1, 3), (2, 4), (3, 2)):
        values, chances = samples.sup_of_coins(T, N)
        found, counted = dict(zip(values.round(9).tolist(), chances)), {}
        for throws in product((0, 1), repeat=T * N):
            off = max(abs(sum(throws[t * N : (t + 1) * N]) / N - 0.5) for t in range(T))
            counted[round(off, 9)] = counted.get(round(off, 9), 0) + 1 / 2 ** (T * N)
        assert {x: p for x, p in found.items() if p} == pytest.approx(counted)


def test_samples_are_all_samples():
    counted = {}
    for sample in product(range(3), repeat=4):
        key = tuple(sample.count(i) for i in range(3))
        counted[key] = counted.get(key, 0) + 1 / 81
    assert {tuple(counts.tolist()): p for counts, p in samples.samples_with_counts(3, 4)} == pytest.approx(counted)


# ---- execution trees (that `exact_run` is the linkage is tested in test_link)


def test_distances_are_metrics():
    for D in execution.whole_distances(6, 2, 0, 3):
        assert D.max() <= 2 * D[~np.eye(6, dtype=bool)].min()


def test_tangents_are_tangents():
    s = 3
    lines = list(zip(*(np.array(D)[:s, s:].ravel().tolist() for D in execution.tangent_metrics(s))))
    for k in range(len(lines)):
        beta = Fraction(2 * k + 1, 2 * s * s)
        heights = [(1 - beta) * g0 + beta * g1 for g0, g1 in lines]
        assert heights.index(max(heights)) == k and heights.count(max(heights)) == 1


def test_work_is_counted_where_it_is_done():
    tally = execution.Tally({1: (0, 4), 2: (3, 0)}.get)
    rounds = execution.algorithm_2([1, 2], tally, Fraction(0), Fraction(1))
    assert rounds == [(1, 0, Fraction(3, 7)), (2, Fraction(3, 7), 1)]
    assert (tally.evaluations, tally.equations) == (8, 2)


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    here = {name: execution.DISTRIBUTIONS[name] for name in ("rings and disks", "digits")}
    monkeypatch.setattr(execution, "DISTRIBUTIONS", here)
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path))
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path))
    for bring in (lambda: None, bring_pictures):
        bring()
        result = execution.pieces_are_few()
        assert result and set(result.table.distribution) == {"rings and disks", "digits", "whole numbers"}
        left_out = "left out, as the data are not here (or `bring_pictures` was not called): MNIST, CIFAR-10, Omniglot"
        assert left_out in result.random["what"]


@pytest.mark.skipif(not os.environ.get("COMPARISON_HC_DATA"), reason="COMPARISON_HC_DATA names no folder with the data")
def test_pictures_are_brought():
    bring_pictures()
    for name in execution.BROUGHT:
        D, labels = execution.DISTRIBUTIONS[name][0](10, np.random.default_rng(0))
        for one in D if name == "Omniglot" else (D,):
            assert one.shape == (10, 10) and (one == one.T).all() and (one.diagonal() == 0).all() and one.sum() > 0
        assert np.unique(labels, return_counts=True)[1].tolist() == [2] * 5
