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
from comparison_hc.ground.validation import InputError
from comparison_hc.link import (
    theory,
    theory_costs,
    theory_exact,
    theory_execution,
    theory_orders,
    theory_pieces,
    theory_regions,
    theory_samples,
)
from comparison_hc.link.inputs import as_merges
from comparison_hc.link.merge import alpha_line, alpha_linkage, beta_line, beta_linkage, merges_by_definition
from comparison_hc.link.theory_tasks import BROUGHT, DISTRIBUTIONS, FAMILIES, tangent_metrics, whole_distances
from comparison_hc.reproduce.l20_tasks import bring_pictures

CHECKS = [c for c in find_checks("L20") if c.__module__.startswith("comparison_hc.link.theory")]
numbers = st.integers(-6, 6)

# The checks


test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_the_paper_has_a_check():
    assert_every_statement_is_checked(
        CHECKS,
        "Lemma 1, linear",
        "Lemma 1, quadratic",
        *(f"Lemma {k}" for k in range(2, 8)),
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
        "pieces",
        "condition broken",
    )


def _no_lifting(f, g):
    return tuple(a for a, _ in zip((*f, 0, 0, 0, 0), range(7)))


@pytest.mark.parametrize(
    "module, name, wrong, check",
    [
        (
            theory_regions,
            "signs_at",
            lambda functions, point: tuple(
                1 if f[-1] + sum(w * x for w, x in zip(f, point)) > 0 else -1 for f in functions
            ),
            theory_regions.linear_regions,
        ),
        (theory_regions, "lifted_product", _no_lifting, theory_regions.quadratic_regions),
        (theory_orders, "distance_functions", lambda metrics: [(1, -5)], theory_orders.one_region_one_order),
        (
            theory_orders,
            "_value",
            lambda f, alpha, beta: (1 - alpha) * f[0] + alpha * f[3],
            theory_orders.one_region_one_run,
        ),
        (theory_samples, "rademacher", lambda losses: 10.0, theory_samples.noise_is_hard_to_follow),
        (theory, "sup_deviations", lambda losses, N, runs, rng: np.full(runs, 1 / N), theory.samples_speak_for_all),
        (theory, "sup_deviations", lambda losses, N, runs, rng: np.full(runs, 0.6), theory.samples_speak_for_all),
        (theory, "confidence_band", lambda learned, delta: 0.0, theory.bands_hold),
        (theory_exact, "exact_run", lambda n, Ds, merges, x: [], theory_exact.merge_leaves_tile),
        (theory_exact, "place_of_line", lambda f, x: ((1 - x) * f[0] + x * f[1], 0), theory_exact.metric_leaves_tile),
        (theory_costs, "n_lowest_lines", lambda lines, low, high: len(lines), theory_costs.merging_costs_edges),
        (
            theory_costs,
            "tangent_metrics",
            lambda s: [(D + D.T).tolist() for D in (np.triu(np.full((2 * s, 2 * s), 5), 1),) * 2],
            theory_costs.metrics_cost_rounds,
        ),
    ],
    ids=lambda x: getattr(x, "name", getattr(x, "__name__", x) if isinstance(x, str) else None),
)
def test_a_wrong_formula_is_found(monkeypatch, module, name, wrong, check):
    monkeypatch.setattr(module, name, wrong)
    assert not check()


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
    from comparison_hc.link.inputs import NAMED

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


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    here = {name: DISTRIBUTIONS[name] for name in ("rings and disks", "digits")}
    for module in (theory_execution, theory_pieces):
        monkeypatch.setattr(module, "DISTRIBUTIONS", here)
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path))
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path))
    for bring in (lambda: None, bring_pictures):
        bring()
        result = theory_pieces.pieces_are_few()
        assert result and set(result.table.distribution) == {"rings and disks", "digits"}
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
