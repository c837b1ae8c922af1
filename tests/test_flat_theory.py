"The theory of N20: every check holds when quick and fails where it should, and its helpers equal definitions."

import inspect
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import assert_every_statement_is_checked, every_check_holds

from comparison_hc.checks import find_checks, passing_probability, proportion_bounds
from comparison_hc.core.validation import InputError
from comparison_hc.flat import adds3, adds4, cluster_matrix, sample_comparisons
from comparison_hc.theory import n20_model, n20_noise, n20_remarks, n20_sdp

CHECKS = [c for c in find_checks("N20") if c.__module__.startswith("comparison_hc.theory.n20")]
test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_the_paper_has_a_check():
    labels = ["eq. 3", "section 4, gap", "section 4, mean similarity", "section 5, the trace falls", "Proposition 1"]
    labels += ["Proposition 1, condition broken", *(f"Remark {k}" for k in range(1, 7))]
    labels += [f"Theorem 1, {part}" for part in ("the sample", "the similarities", "the interval", "rows")]
    assert_every_statement_is_checked(CHECKS, *labels)
    assert "Theorem 1" in [c.label for c in CHECKS] and len(CHECKS) == len(find_checks("N20")) == 28


def test_a_check_that_draws_says_with_which_seed():
    for found in CHECKS:
        seed = inspect.signature(found.function).parameters.get("rng")
        assert seed is None or (found.last or found()).random["seed"] == seed.default


def test_what_a_monte_carlo_check_promises_and_its_power():
    "A bound that must clear a target promises nothing to true statements; its power is computed from its trials."
    targets = {"sample_noise_is_bounded", "similarity_noise_is_bounded", "row_means_are_close"}
    targets |= {"theorem_holds_with_numbers", "some_item_is_missed"}
    assert {c.name for c in CHECKS if c.false_passes is not None} == targets
    assert {c.name for c in CHECKS if c.confidence is not None} == {"drawn_delta", "drawn_mean_similarity"}
    for n in (12, 16, 20, 24):
        assert passing_probability(1 - 1 / (50 * n), 10 * n, 1 - 1 / n, 0.001) > 0.95
        assert passing_probability(0.995, 10 * n, 0.9, 0.001) > 0.95
        assert passing_probability(1 - 1 / n, 10 * n, 1 - 1 / n, 0.001) <= 0.001
    assert passing_probability(1 - 1 / (40 * 40), 7 * 40, 1 - 1 / 40, 0.001) > 0.8
    assert passing_probability(0.97, 150, 0.85, 0.001) > 0.97


def test_bound_sides_count_what_is_above_and_what_is_near():
    ratios = [np.array([0.1] * 3 + [0.5] * 96 + [1.1]), np.full(100, 0.2)]
    table = n20_noise.bound_sides(ratios, [10, 20], 0.3, 0.01, {"seed": 0, "what": "nothing"}, kind="ab").judge()
    assert table["counted"].tolist() == [1, 0, 97, 0] and table["kind"].tolist() == ["a", "b", "a", "b"]
    low, high = proportion_bounds([1, 97], 100, 0.01)
    assert table["left"][0] == high[0] and table["left"][2] == low[1]
    assert table["holds"].tolist() == [True, True, True, False]


def test_a_broken_condition_is_seen():
    assert not n20_noise.conditions_open_the_interval(with_epsilon=False)
    assert not n20_noise.sample_noise_is_bounded(share=0.5) and not n20_noise.row_means_are_close(constant=3)
    assert not n20_noise.similarity_noise_is_bounded(constant=2) and not n20_noise.similarity_noise_is_bounded(
        constant=9
    )
    assert not n20_remarks.few_clusters(exponent=0.45) and not n20_remarks.few_clusters(exponent=0.55)
    assert n20_remarks.theorem_successes([20, 20], "triplets", 1.0, 0.95, (1.5, 0.1, 2.2, 1.5), 10, 0) == 0


@pytest.mark.parametrize("size", [2, 5, 12])
def test_worst_rows_have_the_deviation_asked_for(size):
    S, labels, blocks = n20_sdp.worst_rows(size, 0.03)
    ends = n20_sdp.printed_interval(S, labels, blocks)
    assert ends["deviation"] == pytest.approx(0.03) and np.array_equal(S, S.T) and ends["gap"] == pytest.approx(1)


@settings(max_examples=25)
@given(st.integers(3, 8), st.integers(0, 10**6), st.sampled_from(["triplets", "quadruplets"]))
def test_ranks_give_the_expectation_of_adds(n, seed, kind):
    w = np.triu(np.random.default_rng(seed).normal(size=(n, n)), 1)
    w = w + w.T
    S, pairs = np.zeros((n, n)), list(combinations(range(n), 2))
    for i, j in pairs:
        around = [pair for r in range(n) if r not in (i, j) for pair in ((i, r), (j, r))]
        others = pairs if kind == "quadruplets" else around
        S[i, j] = S[j, i] = sum(np.sign(w[i, j] - w[pair]) for pair in others)
    assert np.array_equal(n20_noise.mean_given_similarities(w, kind), S)
    assert np.array_equal((adds3 if kind == "triplets" else adds4)(sample_comparisons(w, kind, 1.0, 1.0, 0)), S)
    assert len(n20_model.all_questions(n, kind)) == n20_model.n_questions(n, kind)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(0, 10**6), st.floats(0, 1))
def test_no_partition_beats_a_proved_one(sizes, seed, noise):
    S, labels, _ = n20_sdp.noisy_blocks(sizes, noise, seed)
    low, high = n20_sdp.rank_one_interval(S, labels)
    if not low < high:
        return
    X, rng = cluster_matrix(labels), np.random.default_rng(seed)
    for lam in (low, (low + high) / 2, high):
        assert n20_sdp.rank_one_slack(S, labels, lam) >= -1e-9
        for _ in range(20):
            moved = np.where(rng.random(len(labels)) < 0.3, rng.integers(0, len(sizes) + 1, len(labels)), labels)
            other = cluster_matrix(np.unique(moved, return_inverse=True)[1])
            assert n20_sdp.sdp_objective(S, lam, other) <= n20_sdp.sdp_objective(S, lam, X) + 1e-8


@pytest.mark.parametrize("kind", ["triplet", None, 3, ["triplets"]])
def test_a_kind_that_is_none_is_refused(kind):
    for call in (
        lambda: n20_model.n_questions(5, kind),
        lambda: n20_model.expected_blocks([2, 2], 1, 1, 1, kind),
        lambda: n20_model.expected_gap(5, 10, 1, 1, kind),
        lambda: n20_model.all_questions(5, kind),
        lambda: n20_noise.squares_norm(5, kind),
        lambda: n20_noise.mean_given_similarities(np.eye(4), kind),
    ):
        with pytest.raises(InputError, match="^kind must be"):
            call()
