"""The theory of N20: every check holds when quick and fails where it should, and its helpers equal definitions."""

import inspect
import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import assert_every_sentence_can_come_out_either_way, assert_every_statement_is_checked, every_check_holds

from comparison_hc.checks import find_checks, passing_probability, proportion_bounds
from comparison_hc.core.validation import InputError
from comparison_hc.flat import (
    theory,
    theory_counts,
    theory_duals,
    theory_means,
    theory_noise,
    theory_recovery,
    theory_sdp,
)
from comparison_hc.flat.certificate import cluster_matrix
from comparison_hc.flat.planted import gaussians, planted_delta, planted_partition, sample_comparisons
from comparison_hc.flat.similarity import adds3, adds4
from comparison_hc.reproduce import n20_theory as r20
from comparison_hc.reproduce import n20_theory_figures
from comparison_hc.reproduce.claims import find_reproductions, load_results
from comparison_hc.reproduce.experiments import run_experiment

properties = settings(deadline=None, max_examples=25, derandomize=True)
CHECKS = [c for c in find_checks("N20") if c.__module__.startswith("comparison_hc.flat.theory")]
REPRODUCTIONS = ("n20-theorem1", "n20-remark3", "n20-remark5", "n20-remark6")

# The checks


test_every_statement_holds = every_check_holds(CHECKS)


def test_every_statement_of_the_paper_has_a_check():
    assert_every_statement_is_checked(
        CHECKS,
        "eq. 3",
        "section 4, gap",
        "section 4, mean similarity",
        "Proposition 1",
        "Proposition 1, condition broken",
        "Theorem 1, the sample",
        "Theorem 1, the similarities",
        "Theorem 1, the interval",
        "Theorem 1, rows",
        *(f"Remark {k}" for k in range(1, 7)),
        "section 5, the trace falls",
    )
    assert "Theorem 1" in [c.label for c in CHECKS]


def test_a_check_that_draws_says_with_which_seed():
    for found in CHECKS:
        if "rng" in inspect.signature(found.function).parameters:
            result = found.last or found()
            assert (
                result.random and result.random["seed"] == inspect.signature(found.function).parameters["rng"].default
            )


def test_what_a_monte_carlo_check_promises_and_its_power():
    "A bound that must clear a target promises nothing to true statements; its power is computed from its trials."
    target = {c.name for c in CHECKS if c.false_passes is not None}
    assert target == {
        "sample_noise_is_bounded",
        "similarity_noise_is_bounded",
        "row_means_are_close",
        "theorem_holds_with_numbers",
        "some_item_is_missed",
    }
    assert {c.name for c in CHECKS if c.confidence is not None} == {"drawn_delta", "drawn_mean_similarity"}
    for n in (12, 16, 20, 24):
        assert passing_probability(1 - 1 / (50 * n), 10 * n, 1 - 1 / n, 0.001) > 0.95
        assert passing_probability(0.995, 10 * n, 0.9, 0.001) > 0.95
        assert passing_probability(1 - 1 / n, 10 * n, 1 - 1 / n, 0.001) <= 0.001
    assert passing_probability(1 - 1 / (40 * 40), 7 * 40, 1 - 1 / 40, 0.001) > 0.8
    assert passing_probability(0.97, 150, 0.85, 0.001) > 0.97


def test_bound_sides_count_what_is_above_and_what_is_near():
    ratios = [np.array([0.1] * 3 + [0.5] * 96 + [1.1]), np.full(100, 0.2)]
    table = theory_noise.bound_sides(ratios, [10, 20], 0.3, 0.01, {"seed": 0, "what": "nothing"}, kind="ab").judge()
    assert table["counted"].tolist() == [1, 0, 97, 0] and table["kind"].tolist() == ["a", "b", "a", "b"]
    low, high = proportion_bounds([1, 97], 100, 0.01)
    assert table["left"][0] == high[0] and table["left"][2] == low[1]
    assert table["holds"].tolist() == [True, True, True, False]


@pytest.mark.parametrize("size", [2, 5, 12])
def test_worst_rows_have_the_deviation_asked_for(size):
    S, labels, blocks = theory_duals.worst_rows(size, 0.03)
    ends = theory_sdp.printed_interval(S, labels, blocks)
    assert ends["deviation"] == pytest.approx(0.03) and np.array_equal(S, S.T) and ends["gap"] == pytest.approx(1)


def test_a_broken_condition_is_seen():
    assert not theory_noise.conditions_open_the_interval(with_epsilon=False)
    assert not theory_noise.similarity_noise_is_bounded(constant=2)
    assert not theory_counts.few_clusters(exponent=0.45) and not theory_counts.few_clusters(exponent=0.55)
    assert theory_counts.theorem_successes([20, 20], "triplets", 1.0, 0.95, (1.5, 0.1, 2.2, 1.5), 10, 0) == 0


# Their helpers, against definitions


@properties
@given(st.integers(3, 8), st.integers(0, 10**6), st.sampled_from(["triplets", "quadruplets"]))
def test_ranks_give_the_mean_of_adds(n, seed, kind):
    w = np.triu(np.random.default_rng(seed).normal(size=(n, n)), 1)
    w = w + w.T
    S, pairs = np.zeros((n, n)), list(combinations(range(n), 2))
    for i, j in pairs:
        others = (
            pairs if kind == "quadruplets" else [pair for r in range(n) if r not in (i, j) for pair in ((i, r), (j, r))]
        )
        S[i, j] = S[j, i] = sum(np.sign(w[i, j] - w[pair]) for pair in others)
    assert np.array_equal(theory_recovery.mean_given_similarities(w, kind), S)
    assert np.array_equal((adds3 if kind == "triplets" else adds4)(sample_comparisons(w, kind, 1.0, 1.0, 0)), S)


@properties
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(0, 10**6), st.floats(0, 1))
def test_no_partition_beats_a_proved_one(sizes, seed, noise):
    S, labels, _ = theory_sdp.noisy_blocks(sizes, noise, seed)
    low, high = theory_duals.rank_one_interval(S, labels)
    if not low < high:
        return
    X, rng = cluster_matrix(labels), np.random.default_rng(seed)
    for lam in (low, (low + high) / 2, high):
        assert theory_sdp.rank_one_slack(S, labels, lam) >= -1e-9
        for _ in range(20):
            other = np.unique(
                np.where(rng.random(len(labels)) < 0.3, rng.integers(0, len(sizes) + 1, len(labels)), labels),
                return_inverse=True,
            )[1]
            value = theory_duals.sdp_objective(S, lam, cluster_matrix(other))
            assert value <= theory_duals.sdp_objective(S, lam, X) + 1e-8


def test_partitions_of_a_number():
    assert [len(list(theory_means.partitions_of_number(n))) for n in range(1, 9)] == [1, 2, 3, 5, 7, 11, 15, 22]


def test_questions_are_counted():
    for n in range(3, 7):
        for kind in ("triplets", "quadruplets"):
            assert len(theory.all_questions(n, kind)) == theory.n_questions(n, kind)


# The experiments


@pytest.mark.parametrize("family", r20.FAMILIES)
def test_every_family_has_the_delta_asked_for(family):
    for delta in (0.3, 0.5):
        assert math.isclose(planted_delta(*r20.distribution_pair(family, delta)), delta, abs_tol=1e-6)


def test_proof_of_recovery_on_clear_and_hopeless_matrices():
    labels = np.repeat([0, 1], 6)
    assert r20.proof_of_recovery(1.0 * (labels[:, None] == labels), labels) == dict(recovered=True, possible=True)
    assert r20.proof_of_recovery(-1.0 * (labels[:, None] == labels), labels) == dict(recovered=False, possible=False)
    model = planted_partition([10, 10], *gaussians(0.95), rng=0)
    assert r20.proof_of_recovery(adds3(sample_comparisons(model, "triplets", 1.0, 1.0, 0)), model.labels)["recovered"]


def test_c1_of_a_curve_whose_half_point_is_known():
    "Half-way, in the logarithm, between 2 and 8 clusters is 4; a curve that stays above one half has none."
    unit = math.sqrt(60 / math.log(60))
    curve = pd.DataFrame(dict(delta=0.8, n=60, k=[2, 8], scaled=[2 / unit, 8 / unit], recovered=[1.0, 0.0]))
    limits = n20_theory_figures.clusters_limits(pd.concat([curve, curve.assign(delta=0.9, recovered=[1.0, 0.6])]))
    assert (
        limits["half_k"][0] == pytest.approx(4)
        and limits["c1"][0] == pytest.approx(0.8 * 60 / 4 / math.sqrt(60 * math.log(60)))
        and limits.iloc[1][["half_k", "half_scaled", "c1"]].isna().all()
    )


def theorem_table(**changed):
    "Six curves that rise at the theorem's own multiples, unless something is changed."
    rows = []
    for n in (100, 200, 400):
        for k, multiple in product((2, 4), (0.1, 0.2, 0.4, 1.0)):
            threshold = n * k**2 * math.log(n) ** 2
            rows.append(
                dict(n=n, k=k, epsilon=1.0, delta=0.9, multiple=multiple, triplets=multiple * threshold)
                | dict(recovered=float(multiple > 0.3), norm=2.0, top=1.5)
            )
    table = pd.DataFrame(rows)
    for name, change in changed.items():
        table[name] = change(table)
    return table


def clusters_table(power):
    "Half points at k = 2 n^power; the same with a little less δ."
    rows = []
    for n, k in product((60, 120, 240), range(2, 80)):
        share = 1 / (1 + (k / (2 * n**power)) ** 4)
        scaled = k / math.sqrt(n / math.log(n))
        rows += [dict(n=n, k=k, delta=delta, recovered=share, scaled=scaled) for delta in (0.8, 0.9)]
    return pd.DataFrame(rows)


def saturation_table(rise, quieter):
    "From load 4 on the share rises by so much and the noise falls by this factor; at ε = 0.25 there is no more to see."
    rows = [(0.25, 1.0, 0.0, 9.0), (0.25, 5.0, 1.0, 1.0)]
    rows += [(1.0, 1.0, 0.0, 9.0), (1.0, 4.0, 0.3, quieter), (1.0, 8.0, 0.4, 1.1), (1.0, 80.0, 0.3 + rise, 1.0)]
    return pd.DataFrame(rows, columns=["epsilon", "load", "recovered", "noise"]).assign(delta=0.4)


def family_table(at_three, at_five):
    "Shares of two families at a = 3, and of both at a = 5."
    rows = [(name, "AddS-3", 3.0, share) for name, share in zip(("normal", "Cauchy"), at_three)]
    rows += [(name, "AddS-3", 5.0, at_five) for name in ("normal", "Cauchy")]
    rows += [("normal", "similarities", 5.0, 1.0), ("Cauchy", "similarities", 5.0, 0.0)]
    return pd.DataFrame(rows, columns=["family", "method", "exponent", "recovered"])


SIDES = [  # name, results under which every sentence holds, results under which none does
    (
        "n20-theorem1",
        theorem_table(recovered=lambda t: 1.0 * (t["multiple"] > 40 / t["n"])),
        theorem_table(recovered=lambda t: 0.9 * (t["multiple"] > t["n"] / 500)),
    ),
    ("n20-remark3", clusters_table(0.4), clusters_table(0.1)),
    ("n20-remark5", saturation_table(0.1, 1.2), saturation_table(0.5, 1.2)),
    ("n20-remark5", saturation_table(0.1, 1.2), saturation_table(0.1, 2.0)),
    ("n20-remark6", family_table((0.2, 0.9), 1.0), family_table((0.2, 0.4), 0.8)),
]


@pytest.mark.parametrize("name, good, bad", SIDES)
def test_every_verdict_can_come_out_either_way(name, good, bad):
    assert_every_sentence_can_come_out_either_way(find_reproductions()[name].claims, [good, bad])


def test_no_experiment_is_without_its_other_side():
    assert {name for name, _, _ in SIDES} == set(REPRODUCTIONS)
    theory = {n for n, made in find_reproductions().items() if made.function.__module__ == r20.__name__}
    assert theory == set(REPRODUCTIONS)


def test_no_point_is_compared_with_itself():
    pairs = n20_theory_figures.saturation_pairs(saturation_table(0.1, 1.2))
    assert pairs.index.tolist() == [(1.0, 0.4)] and pairs["load"].item() == 4 and pairs["load_last"].item() == 80
    kept = n20_theory_figures.saturation_pairs(load_results("n20-remark5"))
    assert len(kept) >= 4 and (kept["load_last"] >= 2 * kept["load"]).all()


def test_exponents_of_half_points():
    exponents = n20_theory_figures.theorem_exponents(theorem_table())
    assert np.allclose(exponents["half_points"], exponents["threshold"]) and len(exponents) == 2
    assert exponents["threshold"][0] == pytest.approx(1 + 2 * math.log(math.log(400) / math.log(100)) / math.log(4))


def test_half_points():
    curve = pd.DataFrame(dict(x=[1.0, 4.0, 16.0], recovered=[0.0, 1.0, 1.0]))
    from comparison_hc.reproduce.n20_theory_figures import _half

    assert math.isclose(_half(curve, "x"), 2) and math.isnan(_half(curve.assign(recovered=0.0), "x"))


@pytest.mark.parametrize(
    "argument, call",
    [
        ("n ", lambda: r20.theorem_run(101, 2, 1.0, 0.9, 0.5, 0, 0)),
        ("k ", lambda: r20.theorem_run(100, 1, 1.0, 0.9, 0.5, 0, 0)),
        ("multiple", lambda: r20.theorem_run(100, 2, 1.0, 0.9, 1e9, 0, 0)),
        ("multiple", lambda: r20.theorem_run(100, 2, 1.0, 0.9, -1.0, 0, 0)),
        ("n ", lambda: r20.clusters_run(61, 2, 0.9, 0, 0)),
        ("load", lambda: r20.saturation_run(60, 1.0, 0.5, 0.0, 0, 0)),
        ("family", lambda: r20.distribution_pair("Laplace", 0.5)),
    ],
)
def test_bad_input_is_named(argument, call):
    with pytest.raises(InputError, match=f"^{argument}"):
        call()


@pytest.mark.parametrize("kind", ["triplet", None, 3, ["triplets"]])
def test_a_kind_that_is_none_is_refused(kind):
    from comparison_hc.flat.theory import all_questions, expected_blocks, expected_gap, n_questions
    from comparison_hc.flat.theory_recovery import mean_given_similarities, squares_norm

    for call in (
        lambda: n_questions(5, kind),
        lambda: expected_blocks([2, 2], 1, 1, 1, kind),
        lambda: expected_gap(5, 10, 1, 1, kind),
        lambda: all_questions(5, kind),
        lambda: squares_norm(5, kind),
        lambda: mean_given_similarities(np.eye(4), kind),
    ):
        with pytest.raises(InputError, match="^kind must be"):
            call()


def test_runs_repeat_themselves():
    run = dict(n=60, k=2, epsilon=1.0, delta=0.9, multiple=0.5, repetition=0)
    one, two = (r20.theorem_run(**run, rng=np.random.default_rng(1)) for _ in range(2))
    assert one == two and one["triplets"] == round(0.5 * 60**3 * math.log(60) ** 2 / (0.9 * 30) ** 2)


@pytest.mark.parametrize(
    "name, verdicts",
    [
        ("n20-theorem1", ["holds", "holds"]),
        ("n20-remark3", ["holds"]),
        ("n20-remark5", ["does not hold"]),
        ("n20-remark6", ["holds", "does not hold"]),
    ],
    ids=REPRODUCTIONS,
)
def test_kept_results_give_the_verdicts_that_the_page_explains(name, verdicts):
    made, kept = find_reproductions()[name], load_results(name)
    assert [claim.word for claim in made.claims(kept)] == verdicts
    assert made.chart(kept).to_dict() and kept["recovered"].between(0, kept["possible"]).all()


@pytest.mark.parametrize(
    "name, part",
    [
        ("n20-theorem1", dict(n=100, k=4)),
        ("n20-remark3", dict(n=60, delta=0.5)),
        ("n20-remark5", dict(load=1.0, epsilon=1.0)),
        ("n20-remark6", dict(family="Cauchy", exponent=3.0)),
    ],
    ids=REPRODUCTIONS,
)
def test_a_part_of_the_kept_results_comes_out_again(name, part):
    "All runs of a few points of the full grid, with the seeds that they have there; six digits are kept."
    made, kept = find_reproductions()[name], load_results(name)
    again = made.summarise(
        run_experiment(
            made.function, [run for run in made.full_grid if part.items() <= run.items()], paired=made.paired
        )
    )
    kept = kept[(kept[list(part)] == pd.Series(part)).all(axis=1)].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, kept, check_dtype=False, rtol=1e-5, atol=0)
    assert kept["possible"].nunique() > 1 or kept["recovered"].nunique() > 1  # not all of them trivial


def test_bounds_from_eigenvalues_work_on_one_thread_and_give_the_others_back(monkeypatch):
    import scipy.linalg
    from threadpoolctl import ThreadpoolController, threadpool_limits

    S, labels, blocks = theory_sdp.noisy_blocks([4, 4], 0.02, 0)
    pools, seen = ThreadpoolController().lib_controllers, []

    def watched(function):
        def call(*given, **options):
            seen.append({pool.num_threads for pool in pools})
            return function(*given, **options)

        return call

    for module, name in ((np.linalg, "eigvalsh"), (scipy.linalg, "eigh")):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    with threadpool_limits(2):
        before = {pool.num_threads for pool in pools}
        theory_duals.optimality_intervals(S, labels, blocks)
        n_seen = len(seen)
        theory_sdp.rank_one_slack(S, labels, 0.0)
        assert before == {pool.num_threads for pool in pools} and max(before) == 2
    assert 0 < n_seen < len(seen) and set.union(*seen) == {1}
