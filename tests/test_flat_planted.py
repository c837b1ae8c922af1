"The planted partition of N20: δ three ways, the model entry by entry, answers with the stated share of errors."

from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from shared import refusals

from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.flat import (
    gaussians,
    n_comparisons,
    planted_delta,
    planted_partition,
    sample_comparisons,
    uniform_beta,
    uniform_normal,
)
from comparison_hc.flat.planted import _closed_delta, _delta_by_quadrature

location, scale, shape = st.floats(-2, 2), st.floats(0.05, 3), st.floats(0.5, 6)
normals = st.builds(stats.norm, location, scale)
uniforms = st.builds(stats.uniform, location, scale)
betas = st.builds(stats.beta, shape, shape, location, scale)
any_of_them = st.one_of(normals, uniforms, betas)


@settings(max_examples=15)
@given(any_of_them, any_of_them)
def test_closed_form_quadrature_and_swapped_sides_agree(f, g):
    assert abs(planted_delta(f, g) - _delta_by_quadrature(f, g)) < 1e-6
    assert abs(planted_delta(f, g) + planted_delta(g, f)) < 1e-6 and abs(planted_delta(f, f)) < 1e-6
    names = {f.dist.name, g.dist.name}
    assert (_closed_delta(f, g) is None) == ("uniform" not in names and names != {"norm"})


@settings(max_examples=20)
@given(normals, st.floats(-3, 3))
def test_gaussian_delta_as_printed(f_out, shift):
    "Equal σ: δ = 2Φ((μ_in − μ_out)/(√2 σ)) − 1 (N20, section 2)."
    m, s = f_out.mean(), f_out.std()
    printed = 2 * stats.norm.cdf(shift / (sqrt(2) * s)) - 1
    assert planted_delta(stats.norm(m + shift, s), f_out) == pytest.approx(printed, abs=1e-9)


@pytest.mark.parametrize("sigma", [1e-12, 1e-7, 1e7, 1e12, 1e17])
def test_delta_where_one_distribution_is_much_wider(sigma):
    "Against the mean of w cut to [0, 1], to first order in σ or 1/σ; differences of antiderivatives have no digits."
    expected = 2 * 0.7 - 1 if sigma < 1 else (2 * 0.7 - 1) / (sigma * sqrt(2 * np.pi))
    assert abs(planted_delta(stats.norm(0.7, sigma), stats.uniform(0, 1)) - expected) < 1e-9


def test_delta_by_counting():
    "A million draws: six standard deviations of the count are 0.006."
    cases = [
        (stats.gamma(3), stats.norm(2, 1)),
        (stats.beta(5, 2), stats.beta(2, 2)),
        (stats.norm(1, 0.3), stats.beta(2, 5)),
        (stats.uniform(0, 1), stats.beta(1, 3)),
    ]
    for seed, (f, g) in enumerate(cases):
        rng = np.random.default_rng(seed)
        counted = 2 * (f.rvs(10**6, random_state=rng) > g.rvs(10**6, random_state=rng)).mean() - 1
        assert abs(planted_delta(f, g) - counted) < 0.006


@settings(max_examples=8)
@example(0.25, 0.625, 1.125)  # one integral over all of [0, 1] failed here
@given(st.floats(0.01, 0.97), st.floats(0.05, 2), st.floats(0.05, 2))
def test_families_have_the_delta_that_was_asked_for(delta, sigma, sigma_out):
    general = gaussians(delta, sigma, sigma_out, 3.0)
    for family in (gaussians(delta), general, uniform_beta(delta), uniform_normal(delta, sigma)):
        assert abs(_delta_by_quadrature(*family) - delta) < 1e-5


def test_defaults_of_the_paper():
    f_in, f_out = gaussians(0.5)
    assert f_out.mean() == 0 and f_in.std() == f_out.std() == pytest.approx(0.1)
    assert f_in.mean() == pytest.approx(sqrt(2) * 0.1 * stats.norm.ppf(0.75))
    assert n_comparisons(1000, 4) == 2_276_920 and n_comparisons(2, 0) == 2


@settings(max_examples=25)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 99))
def test_every_pair_comes_from_its_distribution(sizes, seed):
    "Two distributions that do not overlap tell where an entry comes from."
    model = planted_partition((size for size in sizes), stats.uniform(10, 1), stats.uniform(0, 1), seed)
    w, n = model.similarity, sum(sizes)
    assert model.sizes == tuple(sizes) and model.delta == 1 and (w == w.T).all() and not w.diagonal().any()
    assert np.array_equal(model.labels, np.repeat(range(len(sizes)), sizes))
    same, off = model.labels[:, None] == model.labels, ~np.eye(n, dtype=bool)
    assert ((w >= 10) == same)[off].all() and len(np.unique(w[np.triu_indices(n, 1)])) == n * (n - 1) // 2
    assert not w.flags.writeable and not model.labels.flags.writeable


def test_draws_have_their_distributions():
    "Kolmogorov–Smirnov on 11,100 and 20,000 draws; p-values below 1e-4 come once in 10,000 seeds; the seed is fixed."
    model = planted_partition([100, 100, 50], *uniform_beta(0.5), rng=3)
    i, j = np.triu_indices(250, 1)
    same, w = model.labels[i] == model.labels[j], model.similarity[i, j]
    assert stats.kstest(w[same], model.f_in.cdf).pvalue > 1e-4 and stats.kstest(w[~same], model.f_out.cdf).pvalue > 1e-4


def test_same_seed_same_bits_and_generators_move_on():
    draw = lambda rng: planted_partition([4, 3], *gaussians(0.5), rng).similarity.tobytes()
    rng = np.random.default_rng(5)
    assert draw(5) == draw(5) == draw(rng) != draw(rng) and draw(5) != draw(6)
    model = planted_partition([4, 3], *gaussians(0.5), 0)
    answers = lambda rng: sample_comparisons(model, "triplets", 20, 0.5, rng)
    assert answers(1) == answers(1) != answers(2)


@pytest.mark.parametrize("kind, total", [("triplets", 105), ("quadruplets", 210)])
def test_answers_are_distinct_and_right_as_often_as_said(kind, total):
    "50,000 answers, each right with probability (1 + ε)/2: five standard deviations are below 0.0112."
    model = planted_partition([30, 30], *gaussians(0.5), 0)
    for epsilon in (0.1, 0.75, 1):
        answers = sample_comparisons(model, kind, 50_000, epsilon, 1)
        i, j, k, l = answers.to_quadruplets().array.T
        right = (model.similarity[i, j] > model.similarity[k, l]).mean()
        assert len(answers) == 50_000 and abs(right - (1 + epsilon) / 2) < 0.0112 and (epsilon < 1 or right == 1)
    small = planted_partition([4, 3], *gaussians(0.5), 0).similarity
    answers = sample_comparisons(small, kind, total, 0.3, 2)
    assert type(answers) is (Triplets if kind == "triplets" else Quadruplets)
    assert answers.summary().n_questions == total == len(answers)
    assert 0 < len(sample_comparisons(small, kind, 0.5, 1, 2)) < total


NORMAL, HALF = stats.norm(0, 1), gaussians(0.5)
MODEL = planted_partition([3, 3], *HALF, 0)


def sized(sizes):
    return planted_partition(sizes, *HALF, 0)


test_bad_input = refusals(
    ("size", sized, [], "33", 5, [3, 0], [2.5], (), {3, 4}, [10**30], [10**7] * 2),
    ("f_in", lambda f: planted_partition([3], f, NORMAL, 0), NORMAL, stats.norm(-1, 1), stats.poisson(4), None),
    ("f_in", lambda f: planted_partition([3], NORMAL, f, 0), stats.norm(0, 2)),
    ("f_in", lambda f: planted_delta(f, NORMAL), stats.norm(0, -1), stats.norm([0, 1], 1), stats.norm(np.nan, 1)),
    ("f_out", lambda f: planted_delta(NORMAL, f), stats.norm, "normal"),
    ("delta", gaussians, 0, 1),
    ("sigma", lambda s: gaussians(0.5, s), 0),
    ("sigma_out", lambda s: gaussians(0.5, 1, s), -1),
    ("mu_out", lambda m: gaussians(0.5, mu_out=m), np.inf),
    ("sigma", lambda s: uniform_normal(0.5, s), 0, 1e300, 1e-300),
    ("epsilon", lambda e: sample_comparisons(MODEL, "triplets", 5, e, 0), 0),
    ("number of triplets", lambda m: sample_comparisons(MODEL, "triplets", m, 1, 0), 0, 61),
    ("number of quadruplets", lambda m: sample_comparisons(MODEL, "quadruplets", m, 1, 0), 106),
    ("p must", lambda p: sample_comparisons(MODEL, "triplets", p, 1, 0), 1.5),
    ("n must", lambda n: n_comparisons(n, 2), 1, 10**400),
    ("a must", lambda a: n_comparisons(10, a), -1, 1e6),
)
