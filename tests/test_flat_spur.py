"SPUR finds k and the partition; the shortcut by proof gives what the whole search gives; bad input is refused."

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc import InputError
from comparison_hc.core.validation import NotConvergedWarning
from comparison_hc.flat.certificate import cluster_matrix
from comparison_hc.flat.planted import gaussians, n_comparisons, planted_partition, sample_comparisons
from comparison_hc.flat.sdp import sdp_k, sdp_lambda
from comparison_hc.flat.search import WorkShare, round_solution, solution_objective, spur_objective
from comparison_hc.flat.similarity import adds3, adds4, mulk3
from comparison_hc.flat.spur import spur, spur_prices
from comparison_hc.metrics import adjusted_rand_index


def answers(sizes, a=4.4, delta=0.95, seed=0, kind="triplets"):
    model = planted_partition(list(sizes), *gaussians(delta), rng=seed)
    return sample_comparisons(model, kind, n_comparisons(sum(sizes), a), 0.75, rng=seed), model.labels


@pytest.mark.parametrize("sizes", [(15, 15), (12, 12, 12), (15, 15, 15, 15)])
def test_it_finds_the_planted_clusters_and_the_shortcut_changes_nothing(sizes):
    triplets, planted = answers(sizes)
    S = adds3(triplets, sum(sizes))
    by_proof, whole = spur(S, len(triplets)), spur(S, len(triplets), all_k=True)
    for found in (by_proof, whole):
        assert (
            found.n_clusters == len(sizes)
            and adjusted_rand_index(planted, found.labels) == 1
            and found.objective == pytest.approx(1)
        )
    assert by_proof.certificate is not None and by_proof.trace_min is None
    assert (
        max(2, round(whole.trace_max)) <= by_proof.n_clusters <= round(whole.trace_min) + 2
    )  # the printed range, which the proof did not need
    np.testing.assert_array_equal(by_proof.X, cluster_matrix(planted))


def test_quadruplets_too():
    quadruplets, planted = answers((10, 10, 10), kind="quadruplets")
    found = spur(adds4(quadruplets, 30), len(quadruplets))
    assert found.n_clusters == 3 and adjusted_rand_index(planted, found.labels) == 1


def test_without_a_proof_every_k_of_the_printed_range_is_solved():
    triplets, _ = answers((10, 10, 10), a=2.5, delta=0.5)
    S = adds3(triplets, 30)
    found = spur(S, len(triplets))
    assert found.certificate is None and [step.k for step in found.steps] == list(
        range(max(2, round(found.trace_max)), min(round(found.trace_min) + 2, 30) + 1)
    )
    assert all(step.how == "iteration" and 0 < step.objective < 1 and step.gap <= 5e-2 for step in found.steps)
    best = max(found.steps, key=lambda step: step.objective)
    assert (found.n_clusters, found.objective) == (best.k, best.objective) and len(set(found.labels)) == best.k
    assert found.objective == pytest.approx(spur_objective(found.X, best.k), abs=1e-2) and found.solution.gap <= 1e-3
    for lam, trace in ((found.lam_min, found.trace_min), (found.lam_max, found.trace_max)):
        assert abs(sdp_lambda(S, lam).trace - trace) < 0.5


@pytest.mark.parametrize("seed", [0, 1])
def test_roughly_solved_sdps_are_compared_by_an_objective_near_the_optimums(seed):
    triplets, _ = answers((15, 15, 15, 15), a=2.6, delta=0.5, seed=seed)
    S = adds3(triplets, 60)
    found = spur(S, len(triplets), tol=5e-2)
    exact = {step.k: spur_objective(sdp_k(S, step.k, 1e-5).X, step.k) for step in found.steps}
    feasible = {k: spur_objective(sdp_k(S, k, 5e-2).X, k) for k in exact}
    off = {step.k: abs(step.objective - exact[step.k]) for step in found.steps}
    assert (
        found.certificate is None
        and max(off.values()) < 0.03
        and sum(off.values()) < sum(abs(feasible[k] - exact[k]) for k in exact)
    )


def test_what_was_not_computed_is_not_given_a_number():
    triplets, _ = answers((15, 15, 15, 15))
    found = spur(adds3(triplets, 60), len(triplets))
    table = found.table
    assert (
        isinstance(table, pd.DataFrame)
        and table.objective[table.how.str.startswith("not needed")].isna().all()
        and (table.objective[table.how == "certificate"] == 1).all()
    )
    assert (
        set(table.how) <= {"certificate", "not needed: at most 1"}
        and table.k.is_monotonic_increasing
        and table.k.is_unique
    )


def test_the_prices_are_the_printed_ones():
    S = np.zeros((100, 100))
    assert spur_prices(S, 20_000) == pytest.approx((np.sqrt(20_000 * np.log(100) / 100), 200.0))


def test_normalised_prices_scale_with_the_similarity():
    triplets, _ = answers((12, 12, 12))
    K = mulk3(triplets, 36)
    low, high = spur_prices(K, len(triplets), normalised=True)
    assert (
        spur_prices(5 * K, len(triplets), normalised=True) == pytest.approx((5 * low, 5 * high))
        and high < spur_prices(K, len(triplets))[1]
    )
    found = spur(K, len(triplets), normalised=True)
    assert found.n_clusters == 3 and spur(1000 * K, len(triplets), normalised=True).n_clusters == 3


@settings(max_examples=20)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_the_objective_of_a_partition(labels):
    X, k = cluster_matrix(labels), len(set(labels))
    assert spur_objective(X, k) == pytest.approx(1) and spur_objective(X, 1) == pytest.approx(1 / k)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=12), st.sampled_from(["k-means", "spectral"]))
def test_rounding_gives_a_partition_back(labels, method):
    if len(set(labels)) in (1, len(labels)):
        labels = [0, 0, 1, 1]
    assert adjusted_rand_index(labels, round_solution(cluster_matrix(labels), len(set(labels)), method)) == 1


@pytest.mark.parametrize("method", ["k-means", "spectral"])
def test_rounding_gives_as_many_clusters_as_asked_for(method):
    for X in (np.full((6, 6), 1 / 6), cluster_matrix([0, 0, 0, 1, 1, 1])):
        for k in range(1, 7):
            assert set(round_solution(X, k, method).tolist()) == set(range(k))


def test_both_roundings_and_the_same_seed():
    triplets, _ = answers((10, 10, 10), a=2.5, delta=0.5)
    S = adds3(triplets, 30)
    one, two, other = (
        spur(S, len(triplets), rng=3),
        spur(S, len(triplets), rng=3),
        spur(S, len(triplets), rounding="spectral"),
    )
    np.testing.assert_array_equal(one.labels, two.labels)
    assert other.n_clusters == one.n_clusters and len(set(other.labels)) == other.n_clusters


def test_two_objects_and_the_zero_matrix():
    found = spur([[0, 1], [1, 0]], 3)
    assert found.n_clusters == 2 and sorted(found.labels) == [0, 1]
    flat = spur(np.zeros((6, 6)), 100)
    assert flat.n_clusters in (2, 3) and len(flat.labels) == 6


def test_too_few_comparisons_are_mentioned():
    triplets, _ = answers((12, 12, 12))
    with pytest.warns(UserWarning, match="n ln n"):
        spur(adds3(triplets, 36), 50)


def test_what_did_not_converge_is_said():
    "Each SDP that was stopped speaks for itself, with its gap; the result is as complete as any."
    triplets, _ = answers((10, 10, 10), a=2.5, delta=0.5)
    with pytest.warns(
        NotConvergedWarning, match="stopped after 1 iterations with a relative gap of .*max_iter"
    ) as said:
        found = spur(adds3(triplets, 30), len(triplets), max_iter=1)
    names = " ".join(str(warning.message) for warning in said)
    assert all(f"SDP-λ with {lam:g} " in names for lam in (found.lam_min, found.lam_max)) and all(
        f"SDP-k with {step.k} " in names for step in found.steps
    )
    assert (
        not found.solution.converged
        and max(step.gap for step in found.steps) > 1e-3
        and len(set(found.labels)) == found.n_clusters
    )


def test_the_callers_matrix_is_left_alone():
    triplets, _ = answers((12, 12, 12))
    S = adds3(triplets, 36)
    before = S.copy()
    spur(S, len(triplets))
    np.testing.assert_array_equal(S, before)


def test_progress_is_told_and_an_exception_in_it_ends_the_work():
    triplets, _ = answers((12, 12, 12), a=2.4)
    S, told = adds3(triplets, 36), []
    found = spur(S, len(triplets), max_iter=700, progress=lambda *at: told.append(at))
    assert found.certificate is None and all(len(at) == 3 and 1 <= at[1] <= at[2] == 700 for at in told)
    iterated = {f"SDP-k with {step.k}" for step in found.steps if step.how == "iteration"} | {
        f"SDP-λ with {lam:g}" for lam in (found.lam_min, found.lam_max)
    }
    assert len(iterated) >= 4 and iterated <= {name for name, _, _ in told}
    assert all(
        after[1] == before[1] + 1 for before, after in zip(told, told[1:]) if after[1] > 1
    )  # every iteration is told, in order

    class Enough(Exception):
        pass

    seen = []

    def stop(*at):
        seen.append(at)
        if len(seen) == 5:
            raise Enough

    with pytest.raises(Enough):
        spur(S, len(triplets), max_iter=700, progress=stop)
    assert seen == told[:5]


S = np.eye(5)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: spur(S[:3], 10), "S"),
        (lambda: spur(np.full((3, 3), np.nan), 10), "S"),
        (lambda: spur([[1.0]], 10), "S"),
        (lambda: spur(np.triu(np.ones((3, 3))), 10), "S"),
        (lambda: spur(S, 0), "n_comparisons"),
        (lambda: spur(S, 2.5), "n_comparisons"),
        (lambda: spur(S, None), "n_comparisons"),
        (lambda: spur(S, 10, rounding="floor"), "rounding"),
        (lambda: spur(S, 10, tol=-1), "tol"),
        (lambda: spur(S, 10, max_iter=0), "max_iter"),
        (lambda: spur(S, 10, rng="x"), "rng"),
        (lambda: spur_objective(S, 6), "k must"),
        (lambda: spur_objective(S[:2], 1), "X"),
        (lambda: round_solution(S, 0), "k must"),
        (lambda: round_solution(S, 2, "best"), "method"),
        (lambda: spur(S * 1e200, 10), "S must be of entries"),
        (lambda: spur(S, 10**400), "n_comparisons"),
        (lambda: spur(S, 10, progress="print"), "progress must be a function of .which SDP"),
        (lambda: spur(S, 10, progress=0), "progress"),
        (lambda: spur_objective(np.zeros((3, 3)), 1), "X must be positive semidefinite"),
        (lambda: spur_objective(-S, 1), "X must be positive semidefinite"),
        (lambda: spur_objective(np.diag([3, -2]), 1), "X must be positive semidefinite"),
        *(
            (lambda name=name, value=value: spur(S, 10, **{name: value}), f"{name} must be True or False")
            for name in ("all_k", "normalised")
            for value in ("no", 1, None, np.array([True, False]))
        ),
        (lambda: spur_prices(S, 10, "no"), "normalised"),
    ],
)
def test_bad_input(call, word):
    with warnings.catch_warnings(), pytest.raises(InputError, match=word):
        warnings.simplefilter("error")
        call()


def noisy(n, m, seed):
    "Answers of somebody who sees points in a square and errs: clusters of a kind, nothing to prove."
    rng = np.random.default_rng(seed)
    points, rows = rng.random((n, 2)), np.array([rng.permutation(n)[:3] for _ in range(m)])
    near, far = (np.linalg.norm(points[rows[:, 0]] - points[rows[:, j]], axis=1) for j in (1, 2))
    wrong = rng.random(m) > 1 / (1 + np.exp((near - far) * 8))
    return np.where(wrong[:, None], rows[:, [0, 2, 1]], rows)


@pytest.mark.parametrize("seed", [0, 7, 9, 12])  # at the last three a rough solution points elsewhere
def test_giving_up_a_k_early_changes_nothing(seed):
    "The race of rounds chooses what all k solved finely choose."
    rows = noisy(40, 3000, seed)
    S = adds3(rows, 40)
    found = spur(S, len(rows))
    fine = {step.k: solution_objective(sdp_k(S, step.k, 1e-4), step.k) for step in found.steps}
    best = max(fine, key=fine.get)
    assert found.certificate is None and len(fine) > 2 and len({step.gap > 2e-3 for step in found.steps}) == 2
    assert found.n_clusters == best and found.objective == pytest.approx(fine[best], abs=1e-2)
    assert found.solution.gap <= 1e-3 and found.solution.objective <= found.solution.bound


def test_it_works_on_one_thread_and_gives_the_others_back():
    import sklearn.cluster  # noqa: F401 - the pools are there before the limit
    from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

    rows = noisy(30, 1500, 0)
    S, seen, pools = adds3(rows, 30), [], []
    threads = lambda: {pool["num_threads"] for pool in threadpool_info()}

    def watch(*at):
        if len(seen) % 20 == 0:  # to look for pools takes far longer than to ask them
            pools[:] = ThreadpoolController().lib_controllers
        seen.append({pool.num_threads for pool in pools})

    results = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            before = threads()
            results.append(spur(S, len(rows), progress=watch))
            sdp_k(S, 3, certificate=False, progress=watch)
            sdp_lambda(S, results[0].lam_min, certificate=False, progress=watch)
            assert threads() == before
    assert len(seen) > 100 and all(number == {1} for number in seen)
    np.testing.assert_array_equal(results[0].X, results[1].X)
    np.testing.assert_array_equal(results[0].labels, results[1].labels)


@settings(max_examples=30)
@given(st.lists(st.sampled_from([None, None, 0, 3, 500]), max_size=200))
def test_shares_of_work_never_fall_and_are_not_all_before_the_end(steps):
    told = []
    share = WorkShare(lambda done, total: told.append((done, total)))
    for step in steps:
        if step is None:
            share("SDP-k with 2", 1, 9)
        else:
            share.expect(step)
    assert len(told) == steps.count(None) and told == sorted(told)
    assert all(0 <= done < 100 == total for done, total in told)
    share.finish()
    assert told[-1] == (100, 100)
