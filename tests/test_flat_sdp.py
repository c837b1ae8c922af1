"SDP-k, SDP-λ, certificates and SPUR, against the definition by a general solver; degenerate and bad input."

import warnings
from functools import lru_cache, partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from comparison_hc import InputError, flat
from comparison_hc.core.validation import NotConvergedWarning
from comparison_hc.flat import (
    adds3,
    adds4,
    certify,
    cluster_matrix,
    gaussians,
    improve_partition,
    lambda_range,
    mulk3,
    n_comparisons,
    planted_partition,
    round_solution,
    sample_comparisons,
    sdp_k,
    sdp_lambda,
    sdp_reference,
    spur,
    spur_objective,
)
from comparison_hc.flat._admm import Fantope, capped_simplex_threshold
from comparison_hc.flat.certificate import DualCertificate, PartitionKKT, positive_definite
from comparison_hc.flat.spur_search import solution_objective
from comparison_hc.metrics import adjusted_rand_index


@lru_cache(None)
def planted(seed, sizes=(6, 6, 6), a=4.0, delta=0.95, kind="triplets"):
    "(AddS, planted labels, number of comparisons)."
    model = planted_partition(list(sizes), *gaussians(delta), rng=seed)
    answers = sample_comparisons(model, kind, n_comparisons(sum(sizes), a), 0.75, rng=seed)
    return (adds3 if kind == "triplets" else adds4)(answers, sum(sizes)), model.labels, len(answers)


SHAPES = (*["blocks"] * 4, *["whole numbers"] * 3, "zero", "one value", "identity")


@st.composite
def instances(draw, low=2, high=9):
    "(A small symmetric matrix, a partition): blocks with noise, whole numbers with ties, and no structure."
    n, seed = draw(st.integers(low, high)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    labels = rng.integers(rng.integers(2, max(n, 3)), size=n)
    noise = rng.integers(-rng.choice([1, 3, 20]), 4, size=(n, n)) * (rng.random((n, n)) < rng.choice([0.3, 1.0]))
    S = {
        "blocks": np.equal.outer(labels, labels) + rng.choice([0.01, 0.1, 1.0]) * noise,
        "whole numbers": noise,
        "zero": 0.0 * noise,
        "one value": 0.0 * noise + rng.choice([-2, 3]),
        "identity": np.eye(n),
    }[draw(st.sampled_from(SHAPES))]
    return (S + S.T) / 2, labels


@st.composite
def candidates(draw, low=4, high=8):
    "(A matrix, a partition to prove): the blocks, one object moved, a random one, or what single moves make of it."
    S, labels = draw(instances(low, high))
    n, which = len(S), draw(st.sampled_from(["blocks", "moved", "blocks", "random", "improved"]))
    if which == "moved":
        labels = np.where(np.arange(n) == draw(st.integers(0, n - 1)), labels[draw(st.integers(0, n - 1))], labels)
    if which in ("random", "improved"):
        labels = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return S, improve_partition(S, labels) if which == "improved" else labels


def check_feasible(X, trace=None):
    assert X.min() >= 0 and np.allclose(X.sum(axis=1), 1, atol=1e-9)
    assert np.linalg.eigvalsh(X)[0] > -1e-9 and np.array_equal(X, X.T)
    assert trace is None or np.trace(X) == pytest.approx(trace, abs=1e-8)


def check_against_reference(solution, S, value, lam=0.0):
    "X is feasible with the objective it claims; objective and bound enclose the reference's value within the gap."
    slack = 1e-5 * max(abs(value), np.abs(S).max(), 1)
    norm = np.linalg.norm(S - S.mean(axis=0) - S.mean(axis=1)[:, None] + S.mean(), 2)
    assert solution.objective - slack <= value <= solution.bound + slack
    assert solution.converged and solution.bound - solution.objective <= 1e-4 * max(abs(value), norm) + slack
    check_feasible(solution.X, solution.parameter if solution.problem == "SDP-k" else None)
    assert solution.labels is None or np.abs(solution.X - cluster_matrix(solution.labels)).max() <= 1e-9
    assert np.vdot(S, solution.X) - lam * np.trace(solution.X) == pytest.approx(solution.objective, abs=slack)


# ---- the definition, the iteration and the certificate agree


@settings(max_examples=30)
@example((np.zeros((5, 5)), np.array([0, 0, 1, 1, 2])), 1.0)
@example((np.full((6, 6), 3.0), np.array([0, 0, 0, 1, 1, 2])), 0.1)
@example((np.eye(5), np.array([0, 0, 1, 1, 1])), 1.0)
@example((np.diag([3.0, 0, 0, 1]) + 1, np.arange(4)), 0.1)
@example(  # the simplest Γ would prove it, had it no negative entries
    (np.array([[0, 3, 1, -2], [3, -3, 3, 0], [1, 3, -3, 3], [-2, 0, 3, -1]]), np.array([0, 0, 1, 1])), 1.0
)
@given(candidates(), st.sampled_from([0.1, 1.0, 4.0, 30.0]))
def test_iteration_certificate_and_definition_agree(case, lam):
    S, labels = case
    proof = certify(S, labels)
    k, low, high = proof.n_clusters, max(proof.lam_low, 1e-2), min(proof.lam_high, 1e3)
    lam = (low + high) / 2 if low <= high else lam
    for penalty, value, solve, proved in [
        (0.0, sdp_reference(S, k=k)[1], partial(sdp_k, S, k), proof.holds),
        (lam, sdp_reference(S, lam=lam)[1], partial(sdp_lambda, S, lam), proof.proves(lam)),
    ]:
        for certificate in (True, False):
            check_against_reference(solve(certificate=certificate), S, value, penalty)
        slack = 1e-5 * max(abs(value), np.abs(S).max(), 1)
        assert not proved or proof.objective - penalty * k == pytest.approx(value, abs=slack)
    assert not proof.holds or proof.lam_low <= proof.lam_high <= proof.lam_limit


@settings(max_examples=12)
@example((0, 1, 1, 1, 1, 1), 0)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=8).filter(lambda labels: 1 < len(set(labels)) < len(labels)),
    st.integers(0, 10**6),
)
def test_clear_blocks_are_proved_and_their_neighbours_are_not(labels, seed):
    labels = np.array(labels)
    N = np.random.default_rng(seed).uniform(-0.1, 0.1, size=(len(labels),) * 2)
    S = 10.0 * np.equal.outer(labels, labels) + (N + N.T)
    proof = certify(S, labels)
    assert proof.holds and proof.lam_low < 2 and proof.lam_high > 8
    assert sdp_k(S, proof.n_clusters).how == "certificate"
    n, used = len(labels), set(labels.tolist())
    moved = [np.where(np.arange(n) == i, other, labels) for i in range(n) for other in used - {labels[i]}]
    assert not any(certify(S, wrong).holds for wrong in moved if len(set(wrong)) == proof.n_clusters)


def test_a_certified_partition_is_the_only_optimum_up_to_the_limit():
    "For SDP-k, and inside the interval for SDP-λ; above the limit the partition is not optimal."
    S, labels, _ = planted(2, a=4.4)
    proof = certify(S, labels)
    for lam in np.linspace(proof.lam_low, proof.lam_high, 3):
        np.testing.assert_allclose(sdp_reference(S, lam=lam)[0], proof.X, atol=2e-3)  # the only optimum
    lam = proof.lam_limit * 1.05
    assert sdp_reference(S, lam=lam)[1] > proof.objective - 3 * lam + 1e-3


def test_each_form_of_the_dual_proves_some():
    forms = {
        form: sum(certify(*planted(s, a=4.4)[:2], form=form).holds for s in range(8))
        for form in ("additive", "rank-one")
    }
    assert 0 < forms["additive"] < forms["rank-one"]
    ways = {(solution.how, solution.n_iter > 0) for solution in (sdp_k(planted(seed)[0], 3) for seed in range(8))}
    assert {("certificate", False), ("certificate", True)} <= ways


def test_the_dual_has_the_row_sums_that_the_proof_asks_for():
    S, labels, _ = planted(0)
    kkt = PartitionKKT(S.astype(float), labels)
    lam, guess = DualCertificate(kkt, "rank-one").limit / 2, np.random.default_rng(0).random(S.shape) * 30
    for form in ("rank-one", "guess"):
        gamma = DualCertificate(kkt, form, guess + guess.T).S_plus_gamma(lam) - S
        assert gamma.min() > -1e-9 and np.allclose(gamma @ kkt.Z, kkt.row_sums(lam)) and np.allclose(gamma, gamma.T)


# ---- laws


def ends(proof):
    return np.array([proof.lam_low, proof.lam_high, proof.lam_limit])


@given(st.permutations(range(18)))
@settings(max_examples=5)
def test_renaming_shifting_and_scaling(order):
    "Objects, clusters, a constant and the unit of S do not matter; a shift of the diagonal shifts λ."
    S, labels, c = planted(2, a=4.4)
    order, proof, found = list(order), certify(S, labels), spur(S, c)
    cases = [
        (S[np.ix_(order, order)], labels[order], 0, 1, 0),
        (S, [f"cluster {label}" for label in labels], 0, 1, 0),
        (S + 7, labels, 0, 1, 7 * 18),
        (S + 7 * np.eye(18), labels, 7, 1, 7 * 3),
        (S - 50 * np.eye(18), labels, -50, 1, -50 * 3),  # also below 0
        (S * 2.0**-300, labels, 0, 2.0**-300, 0),
        (S * 2.0**300, labels, 0, 2.0**300, 0),
    ]
    for T, names, shift, unit, constant in cases:
        other = certify(T, names)
        assert other.form == proof.form and other.objective == pytest.approx(unit * proof.objective + constant)
        np.testing.assert_allclose(ends(other), unit * ends(proof) + shift, rtol=1e-6)
        assert sdp_k(T, 3).objective == pytest.approx(other.objective)
    renamed = spur(S[np.ix_(order, order)], c)
    assert renamed.n_clusters == found.n_clusters == 3
    assert adjusted_rand_index(renamed.labels, found.labels[order]) == 1


@settings(max_examples=30)
@given(instances(low=4), st.data())
def test_moves_never_make_a_partition_worse(case, data):
    S = case[0]
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(S), max_size=len(S))))
    value, better = lambda partition: np.vdot(S, cluster_matrix(partition)), improve_partition(S, labels)
    k, n = len(set(labels)), len(S)
    assert value(better) >= value(labels) - 1e-9 and len(set(better)) == k
    moved = [np.where(np.arange(n) == i, to, better) for i in range(n) for to in range(k)]
    values = [value(partition) for partition in moved if len(set(partition)) == k]
    assert max(values, default=-np.inf) <= value(better) + 1e-6 * max(1, np.abs(S).max())  # no single move helps


def test_input_is_left_alone_and_the_same_seed_gives_the_same_bits():
    S, labels, c = planted(0)
    before = S.copy()
    one, two = sdp_k(S, 4, rng=5), sdp_k(S.astype(float), 4, rng=5)
    sdp_lambda(S, 3.0, tol=1e-2), certify(S, labels, dual=np.ones(S.shape)), spur(S, c)
    assert np.array_equal(S, before) and np.array_equal(one.X, two.X)
    rough = sdp_k(S, 5, 1e-2, certificate=False)
    V, X = rough._end[0].copy(), rough.X.copy()
    fine, resumed = (sdp_k(S, 5, 1e-4, certificate=False, start=start) for start in (None, rough))
    assert np.array_equal(rough._end[0], V) and np.array_equal(rough.X, X)
    assert resumed.n_iter < fine.n_iter and resumed.objective == pytest.approx(fine.objective, rel=2e-4)


# ---- the iteration


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=12), st.data())
def test_the_threshold_of_the_projection(values, data):
    values, total = np.array(values), data.draw(st.floats(0.01, len(values) - 0.01))
    assert np.clip(values - capped_simplex_threshold(values, total), 0, 1).sum() == pytest.approx(total, abs=1e-9)


class ExactFantope(Fantope):
    "Every projection by a complete eigendecomposition."

    def project(self, W, rho):
        self.rank = self.n
        return super().project(W, rho)


@settings(max_examples=6)
@given(instances(high=8), st.integers(12, 16), st.sampled_from([0.0, 0.1, 3.0]), st.data())
def test_filtered_eigenvectors_lead_to_the_same_optimum(case, times, noise, data):
    "Large enough for the filter: small matrices blown up (rank, ties, zeros), with and without noise."
    S = np.kron(case[0], np.ones((times, times)))
    N = np.random.default_rng(times).normal(size=S.shape)
    S += noise * (N + N.T)
    k, lam = data.draw(st.integers(2, 5)), data.draw(st.sampled_from([0.5, 5.0, 50.0]))
    options = dict(tol=1e-3, max_iter=1500, certificate=False)
    for solve in (partial(sdp_k, S, k, **options), partial(sdp_lambda, S, lam, **options)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # some need more iterations; bounds hold all the same
            fast = solve()
            with patch("comparison_hc.flat._admm.Fantope", ExactFantope):
                slow = solve()
        slack = 1e-8 * max(abs(slow.bound), np.linalg.norm(S, 2))
        assert fast.objective <= slow.bound + slack and slow.objective <= fast.bound + slack
        assert fast.converged == slow.converged or max(fast.gap, slow.gap) < 3e-3
        check_feasible(fast.X, k if fast.problem == "SDP-k" else None)


@pytest.mark.parametrize("W", [np.zeros((60, 60)), np.eye(60) - 1 / 60, -np.eye(60) + 1 / 60])
def test_a_projection_from_any_former_eigenvectors(W):
    "Matrices on which the filter gives nothing or everything: Y is in the set, as near to W as the exact Y to 1e-6."
    N = np.random.default_rng(0).normal(size=(60, 3))
    N -= N.mean(axis=0)
    fantope = Fantope(60, k=3)
    first = np.linalg.eigvalsh(fantope.project(N @ N.T, 1.0)[0])
    assert first.sum() == pytest.approx(2) and first[-1] < 1 + 1e-12 and first[0] > -1e-12
    Y, exact = fantope.project(W, 1.0)[0], Fantope(60, k=3).project(W, 1.0)[0]
    values = np.linalg.eigvalsh(Y)
    assert np.allclose(Y.sum(axis=1), 0, atol=1e-12) and np.trace(Y) == pytest.approx(2)
    assert -1e-12 < values[0] and values[-1] < 1 + 1e-12
    assert np.linalg.norm(Y - W) <= np.linalg.norm(exact - W) + 1e-6


def test_not_converged_is_said():
    S, _, c = planted(0)
    with pytest.warns(NotConvergedWarning, match="gap.*residuals"):
        solution = sdp_k(S, 5, max_iter=3)
    assert not solution.converged and solution.gap > 1e-4 and solution.bound >= solution.objective
    assert solution.n_iter == 3
    check_feasible(solution.X, 5)
    S, _, c = planted(0, (10, 10, 10), 2.5, 0.5)
    with pytest.warns(NotConvergedWarning, match="stopped after 1 iterations") as said:
        found = spur(S, c, max_iter=1)
    names = " ".join(str(warning.message) for warning in said)
    assert all(f"SDP-λ with {lam:g} " in names for lam in (found.lam_min, found.lam_max))
    assert all(f"SDP-k with {step.k} " in names for step in found.steps) and not found.solution.converged


def test_the_definition_by_a_first_order_solver_says_when_it_gives_up(monkeypatch):
    import cvxpy

    S, _, _ = planted(1, a=3.0)
    for which in ({"k": 3}, {"lam": 20.0}):
        value = sdp_reference(S, **which)[1]
        near = pytest.approx(value, rel=1e-5, abs=1e-5 * np.abs(S).max())
        assert sdp_reference(S, **which, first_order=True)[1] == near
    solve = cvxpy.Problem.solve
    early = lambda problem, **options: solve(problem, **{**options, "max_iters": 25})
    monkeypatch.setattr(cvxpy.Problem, "solve", early)
    with pytest.warns(NotConvergedWarning, match="gave up: optimal_inaccurate"):
        sdp_reference(S, k=3, first_order=True)


# ---- degenerate and large cases


def test_one_cluster_one_object_and_as_many_clusters_as_objects():
    S, _, _ = planted(0)
    np.testing.assert_allclose(sdp_k(S, 1).X, np.full((18, 18), 1 / 18))
    np.testing.assert_array_equal(sdp_k(S, 18).X, np.eye(18))
    assert certify(S, np.zeros(18)).lam_high == np.inf and certify(S, np.arange(18)).lam_low == -np.inf
    assert sdp_k([[5]], 1).objective == 5 and sdp_lambda([[5]], 2).objective == 3 and certify([[5]], ["a"]).holds
    found = spur([[0, 1], [1, 0]], 3)
    assert found.n_clusters == 2 and sorted(found.labels) == [0, 1]


def test_without_a_unique_optimum_nothing_is_certified():
    zero, square = np.zeros((6, 6)), np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], float)
    for S, k in ((zero, 2), (zero, 3), (zero, 5), (square, 2)):
        solution = sdp_k(S, k)
        assert solution.how == "iteration" and solution.gap <= 1e-4
        check_feasible(solution.X, k)
        check_against_reference(solution, S, sdp_reference(S, k=k)[1])
    assert not certify(zero, [0, 0, 1, 1, 2, 2]).holds and sdp_lambda(zero, 1).trace == 1
    assert not certify(square, [0, 0, 1, 1]).holds and not certify(square, [0, 1, 1, 0]).holds


@pytest.mark.parametrize("sizes", [(1, 5), (1, 1, 4), (2, 3, 4), (1, 1, 1, 1)])
def test_ideal_similarities(sizes):
    "Block constant: ties everywhere, X* optimal for every λ below the limit (N20, section 3)."
    labels = np.repeat(np.arange(len(sizes)), sizes)
    S = np.equal.outer(labels, labels).astype(int)
    proof, (smallest, second) = certify(S, labels), np.sort(sizes)[:2]
    assert proof.holds and proof.lam_high == pytest.approx(2 / (1 / smallest + 1 / second), rel=1e-6)
    assert len(sizes) == sum(sizes) or 0 < proof.lam_low < 1e-3
    solution = sdp_lambda(S, min(0.9 * proof.lam_high, 0.5))
    assert solution.how == "certificate" and solution.trace == len(sizes)


def test_a_large_instance_is_proved_by_lanczos_and_cholesky():
    "Above the size at which eigenvalues are computed densely, the interval is inside that of the dense computation."
    S, labels, _ = planted(0, (150, 150, 150), 4.0, 0.7)
    proof, P = certify(S, labels), cluster_matrix(labels)
    dual, rest = DualCertificate(PartitionKKT(S.astype(float), labels), "rank-one"), np.eye(450) - P
    assert proof.holds and proof.lam_high <= proof.lam_limit and sdp_k(S, 3).how == "certificate"
    for lam in (proof.lam_low, proof.lam_high):
        inside = [rest @ (lam * np.eye(450) - T) @ rest + lam * P for T in (dual.S_plus_gamma(lam), S)]
        assert max(np.linalg.eigvalsh(A)[0] for A in inside) > 0


@pytest.mark.parametrize(
    "S",
    [np.zeros((420, 420)), np.full((420, 420), 3.0), np.eye(420), np.pad([[0.0, 2.0], [2.0, 0.0]], (0, 418))],
    ids=["zero", "one value", "diagonal", "one pair"],
)
def test_large_matrices_on_which_lanczos_fails(S):
    for solution in (sdp_k(S, 4, 1e-2, 200), sdp_lambda(S, 2.0, 1e-2, 200)):
        assert solution.converged and solution.objective <= solution.bound + 1e-9 * max(1, abs(solution.bound))
        check_feasible(solution.X, 4 if solution.problem == "SDP-k" else None)
    assert certify(S, np.arange(420) % 4).n_clusters == 4


NEARLY_ONE_VALUE = np.ones((5, 5)) + 1e-3 * np.eye(5)
NOT_POSITIVE = [-np.eye(5), np.zeros((5, 5)), np.full((5, 5), np.nan), np.diag([1, 1, np.inf, 1, 1])]


def test_positive_definite():
    with np.errstate(invalid="ignore"):
        assert all(positive_definite(A.copy(), 0.0) for A in (np.eye(5), NEARLY_ONE_VALUE))
        assert not any(positive_definite(A.copy(), 0.0) for A in NOT_POSITIVE)


# ---- SPUR


@pytest.mark.parametrize(
    "sizes, kind", [((15, 15), "triplets"), ((12, 12, 12), "quadruplets"), ((15,) * 4, "triplets")]
)
def test_it_finds_the_planted_clusters_and_the_shortcut_changes_nothing(sizes, kind):
    S, labels, c = planted(0, sizes, 4.4, 0.95, kind)
    by_proof, whole = spur(S, c), spur(S, c, all_k=True)
    for found in (by_proof, whole):
        assert found.n_clusters == len(sizes) and adjusted_rand_index(labels, found.labels) == 1
        assert found.objective == pytest.approx(1)
    assert by_proof.certificate is not None and by_proof.trace_min is None
    assert max(2, round(whole.trace_max)) <= by_proof.n_clusters <= round(whole.trace_min) + 2  # the printed range
    np.testing.assert_array_equal(by_proof.X, cluster_matrix(labels))
    table = by_proof.table
    assert table.k.is_monotonic_increasing and table.k.is_unique and (table.how == "certificate").any()
    assert table.objective[table.how == "not needed: at most 1"].isna().all()
    assert (table.objective[table.how == "certificate"] == 1).all()


@pytest.mark.parametrize("unit, k", [(0.9, 2), (1.1, 4)])
def test_of_two_proved_partitions_the_one_with_the_wider_interval_wins(unit, k):
    "Four blocks in two: λ below 5 units proves the four, λ above the two; the range is [4.2, 6]."
    fine = np.repeat(range(4), 5)
    S = unit * np.add(np.equal.outer(fine, fine), np.equal.outer(fine // 2, fine // 2), dtype=float)
    found = spur(S, 120)
    assert found.n_clusters == k and {step.k for step in found.steps if step.how == "certificate"} == {2, 4}


def noisy(n, m, seed):
    "AddS-3 of m responses about points in a square: nothing to prove."
    rng = np.random.default_rng(seed)
    points, rows = rng.random((n, 2)), np.array([rng.permutation(n)[:3] for _ in range(m)])
    near, far = (np.linalg.norm(points[rows[:, 0]] - points[rows[:, j]], axis=1) for j in (1, 2))
    wrong = rng.random(m) > 1 / (1 + np.exp((near - far) * 8))
    return adds3(np.where(wrong[:, None], rows[:, [0, 2, 1]], rows), n)


@pytest.mark.parametrize("seed", [0, 7, 9, 12])  # at the last three a rough solution points elsewhere
def test_without_a_proof_the_rounds_choose_as_exact_solutions_do(seed):
    S = noisy(40, 3000, seed)
    found = spur(S, 3000)
    fine = {step.k: solution_objective(sdp_k(S, step.k, 1e-4), step.k) for step in found.steps}
    ks = range(max(2, round(found.trace_max)), min(round(found.trace_min) + 2, 40) + 1)
    assert found.certificate is None and [step.k for step in found.steps] == [*ks] and len(ks) > 2
    assert len({step.gap > 2e-3 for step in found.steps}) == 2  # some k were given up
    assert all(step.how == "iteration" and step.gap <= 5e-2 for step in found.steps)
    assert found.n_clusters == max(fine, key=fine.get) == len(set(found.labels))
    assert found.objective == pytest.approx(fine[found.n_clusters], abs=1e-2) and found.solution.gap <= 1e-3
    for lam, trace in ((found.lam_min, found.trace_min), (found.lam_max, found.trace_max)):
        assert abs(sdp_lambda(S, lam).trace - trace) < 0.5
    rounded = [spur(S, 3000, rng=3, rounding=how).labels for how in ("k-means", "k-means", "spectral")]
    assert np.array_equal(*rounded[:2]) and len(set(rounded[2])) == found.n_clusters


def test_rough_solutions_are_measured_near_the_optimums_objective():
    S, _, c = planted(0, (15, 15, 15, 15), 2.6, 0.5)
    found = spur(S, c, tol=5e-2)
    exact = {step.k: spur_objective(sdp_k(S, step.k, 1e-5).X, step.k) for step in found.steps}
    off = [abs(step.objective - exact[step.k]) for step in found.steps]
    feasible = [abs(spur_objective(sdp_k(S, k, 5e-2).X, k) - exact[k]) for k in exact]
    assert found.certificate is None and max(off) < 0.03 and sum(off) < sum(feasible)


def test_the_range_of_lambda():
    S, _, c = planted(0, (12, 12, 12), 4.4)
    assert lambda_range(np.zeros((100, 100)), 20_000) == pytest.approx((np.sqrt(20_000 * np.log(100) / 100), 200.0))
    with pytest.warns(UserWarning, match="n ln n"):
        spur(S, 50)
    model = planted_partition([12, 12, 12], *gaussians(0.95), rng=0)
    K = mulk3(sample_comparisons(model, "triplets", c, 0.75, rng=0), 36)
    low, high = lambda_range(K, c, normalised=True)
    assert lambda_range(5 * K, c, normalised=True) == pytest.approx((5 * low, 5 * high)) and high < c / 36
    assert spur(K, c, normalised=True).n_clusters == spur(1000 * K, c, normalised=True).n_clusters == 3
    with pytest.warns(DeprecationWarning, match="lambda_range"):
        assert flat.spur_prices is lambda_range


@settings(max_examples=15)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.sampled_from(["k-means", "spectral"]))
def test_objective_and_rounding_of_a_partition(labels, method):
    X, k = cluster_matrix(labels), len(set(labels))
    assert spur_objective(X, k) == pytest.approx(1) and spur_objective(X, 1) == pytest.approx(1 / k)
    if 1 < k < len(labels):
        assert adjusted_rand_index(labels, round_solution(X, k, method)) == 1
    for asked in (1, 2, len(labels) - 1, len(labels)):
        assert len(set(round_solution(X, asked, method).tolist())) == asked


def test_progress_is_told_and_an_exception_in_it_ends_the_work():
    S, _, c = planted(0, (12, 12, 12), 2.4)
    told, seen = [], []
    found = spur(S, c, max_iter=700, progress=lambda *at: told.append(at))
    assert all(1 <= done <= most == 700 for _, done, most in told)
    iterated = {f"SDP-k with {step.k}" for step in found.steps if step.how == "iteration"}
    iterated |= {f"SDP-λ with {lam:g}" for lam in (found.lam_min, found.lam_max)}
    assert found.certificate is None and len(iterated) >= 4 and iterated <= {name for name, _, _ in told}
    assert all(after[1] == before[1] + 1 for before, after in zip(told, told[1:]) if after[1] > 1)

    def stop(*at):
        seen.append(at)
        if len(seen) == 5:
            raise KeyError

    with pytest.raises(KeyError):
        spur(S, c, max_iter=700, progress=stop)
    assert seen == told[:5]


def test_it_works_on_one_thread_and_gives_the_others_back():
    import sklearn.cluster  # noqa: F401 - the pools are there before the limit
    from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

    S, seen, pools, results = noisy(30, 1500, 0), [], [], []

    def watch(*at):
        if len(seen) % 20 == 0:  # to look for pools takes far longer than to ask them
            pools[:] = ThreadpoolController().lib_controllers
        seen.append({pool.num_threads for pool in pools})

    for limit in (1, 2):
        with threadpool_limits(limit):
            before = {pool["num_threads"] for pool in threadpool_info()}
            results.append(spur(S, 1500, progress=watch))
            assert {pool["num_threads"] for pool in threadpool_info()} == before
    assert len(seen) > 100 and all(number == {1} for number in seen)
    assert np.array_equal(results[0].X, results[1].X) and np.array_equal(results[0].labels, results[1].labels)


# ---- bad input (`test_bad_input` tries every argument)

S18, S5 = planted(0)[0], np.eye(5)


@pytest.mark.parametrize(
    "word, call, bad",
    [
        ("S must be", lambda S: sdp_k(S, 1), (np.diag([0, np.inf, 0]), np.eye(3) * 1e200)),
        ("X must be", lambda X: spur_objective(X, 1), (np.zeros((3, 4)), np.full((3, 3), np.nan), "abc")),
        ("X must be", lambda X: round_solution(X, 1), (np.arange(9.0).reshape(3, 3), np.eye(3) * 1j)),
        ("lam", lambda lam: sdp_lambda(S18, lam), (0, -1)),
        ("tol", lambda tol: sdp_k(S18, 2, tol=tol), (0,)),
        ("tol", lambda tol: spur(S5, 10, tol=tol), (-1,)),
        ("start", lambda start: sdp_k(S18, 2, start=start), ("x", sdp_k(np.eye(4), 1))),
        ("dual", lambda dual: certify(S18, np.zeros(18), dual=dual), (np.ones((2, 2)), np.full((18, 18), 1e200))),
        ("k and lam", lambda which: sdp_reference(S18, **which), ({}, dict(k=2, lam=1))),
        ("two objects", lambda S: spur(S, 10), ([[1.0]],)),
        ("positive semidefinite", lambda X: spur_objective(X, 1), (np.zeros((3, 3)), -S5, np.diag([3, -2]))),
        ("method", lambda method: round_solution(S5, 2, method), ("best",)),
    ],
)
def test_bad_arguments(word, call, bad):
    for value in bad:
        with warnings.catch_warnings(), pytest.raises(InputError, match=word):
            warnings.simplefilter("error")
            call(value)
