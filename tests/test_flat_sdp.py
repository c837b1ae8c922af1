"SDP-k, SDP-λ and the certificate, against the definition by a general solver; degenerate and bad input."

import warnings
from functools import lru_cache, partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from comparison_hc import InputError
from comparison_hc.core.validation import NotConvergedWarning
from comparison_hc.flat.candidates import improve_partition
from comparison_hc.flat.certificate import Blocks, Dual, certify, cluster_matrix, positive_definite
from comparison_hc.flat.planted import gaussians, n_comparisons, planted_partition, sample_comparisons
from comparison_hc.flat.projection import Spectrahedron, threshold, top_sum
from comparison_hc.flat.sdp import sdp_k, sdp_lambda, sdp_reference
from comparison_hc.flat.similarity import adds3
from comparison_hc.flat.solver import Problem, starting_point


@lru_cache(None)
def planted(seed, sizes=(6, 6, 6), a=4.0, delta=0.95):
    "AddS-3 and the planted labels."
    model = planted_partition(list(sizes), *gaussians(delta), rng=seed)
    n = sum(sizes)
    return adds3(sample_comparisons(model, "triplets", n_comparisons(n, a), 0.75, rng=seed), n), model.labels


SHAPES = (*["blocks"] * 4, *["whole numbers"] * 3, "zero", "one value", "identity")


@st.composite
def instances(draw, low=2, high=9):
    """(a small symmetric matrix, a partition). The diagonal counts.

    Blocks with noise, often around clusters of one object; whole numbers, with many ties; and what has no structure.
    """
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


def matrices(**sizes):
    return instances(**sizes).map(lambda case: case[0])


@st.composite
def candidates(draw, low=4, high=8):
    """(a matrix, a partition that a proof may be tried for).

    The blocks, one object moved out of them, a random partition or what single moves make of it.
    """
    S, labels = draw(instances(low, high))
    n, which = len(S), draw(st.sampled_from(["blocks", "moved", "blocks", "random", "improved"]))
    if which == "moved":
        labels = np.where(np.arange(n) == draw(st.integers(0, n - 1)), labels[draw(st.integers(0, n - 1))], labels)
    if which in ("random", "improved"):
        labels = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return S, improve_partition(S, labels) if which == "improved" else labels


def check_feasible(X, trace=None):
    assert (
        X.min() >= 0
        and np.allclose(X.sum(axis=1), 1, atol=1e-9)
        and np.linalg.eigvalsh(X)[0] > -1e-9
        and np.array_equal(X, X.T)
    )
    if trace is not None:
        assert np.trace(X) == pytest.approx(trace, abs=1e-8)


def check_against_reference(solution, S, value, lam=0.0):
    """The bound is above and the objective below the reference's value, neither by more than the gap asked for.

    X is feasible and has the objective it claims.
    """
    slack = 1e-5 * max(abs(value), np.abs(S).max(), 1)
    assert solution.objective - slack <= value <= solution.bound + slack
    assert (
        solution.converged
        and solution.bound - solution.objective
        <= 1e-4 * max(abs(value), np.linalg.norm(S - S.mean(axis=0) - S.mean(axis=1)[:, None] + S.mean(), 2)) + slack
    )
    check_feasible(solution.X, solution.parameter if solution.problem == "SDP-k" else None)
    assert np.vdot(S, solution.X) - lam * np.trace(solution.X) == pytest.approx(solution.objective, abs=slack)


def check_three_ways(S, labels, lam=1.0):
    """SDP-k for as many clusters as the partition has, and SDP-λ (at a λ of the proved interval, if that has one).

    By definition, by iteration alone, and by the partition's certificate, which is returned and may prove nothing.
    """
    proof = certify(S, labels)
    k, low, high = proof.n_clusters, max(proof.lam_low, 1e-2), min(proof.lam_high, 1e3)
    if low <= high:
        lam = (low + high) / 2
    for price, value, solve, proved in [
        (0.0, sdp_reference(S, k=k)[1], partial(sdp_k, S, k), proof.holds),
        (lam, sdp_reference(S, lam=lam)[1], partial(sdp_lambda, S, lam), proof.proves(lam)),
    ]:
        for certificate in (True, False):
            check_against_reference(solve(certificate=certificate), S, value, price)
        if proved:
            assert proof.objective - price * k == pytest.approx(value, abs=1e-5 * max(abs(value), np.abs(S).max(), 1))
    assert not proof.holds or proof.lam_low <= proof.lam_high <= proof.lam_limit
    return proof


# ---- the same value as the definition's, three ways


@settings(max_examples=30)
@example((np.zeros((5, 5)), np.array([0, 0, 1, 1, 2])), 1.0)
@example((np.zeros((4, 4)), np.zeros(4, int)), 1.0)
@example((np.full((6, 6), 3.0), np.array([0, 0, 0, 1, 1, 2])), 0.1)
@example((np.eye(5), np.array([0, 0, 1, 1, 1])), 1.0)
@example((np.diag([3.0, 0, 0, 1]) + 1, np.zeros(4, int)), 4.0)
@example((np.diag([3.0, 0, 0, 1]) + 1, np.arange(4)), 0.1)
@example(
    (np.array([[0, 3, 1, -2], [3, -3, 3, 0], [1, 3, -3, 3], [-2, 0, 3, -1]]), np.array([0, 0, 1, 1])), 1.0
)  # the simplest Γ would prove it, had it no negative entries
@given(candidates(), st.sampled_from([0.1, 1.0, 4.0, 30.0]))
def test_iteration_certificate_and_definition_agree(case, lam):
    check_three_ways(*case, lam)


@settings(max_examples=12)
@example((0, 1, 1, 1, 1, 1), 0)
@example((0, 1, 2, 2), 0)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=8).filter(lambda labels: 1 < len(set(labels)) < len(labels)),
    st.integers(0, 10**6),
)
def test_clear_blocks_are_proved_and_their_neighbours_are_not(labels, seed):
    """Noise of a fiftieth of what separates the clusters, more than one and fewer than objects: three ways agree.

    With one object in another cluster, nothing is proved for as many clusters.
    """
    labels = np.array(labels)
    N = np.random.default_rng(seed).uniform(-0.1, 0.1, size=(len(labels),) * 2)
    S = 10.0 * np.equal.outer(labels, labels) + (N + N.T)
    proof = check_three_ways(S, labels)
    assert (
        proof.holds
        and 1 < proof.n_clusters < len(labels)
        and proof.lam_low < 2
        and proof.lam_high > 8
        and sdp_k(S, proof.n_clusters).how == "certificate"
    )
    moved = [
        np.where(np.arange(len(labels)) == i, other, labels)
        for i in range(len(labels))
        for other in set(labels.tolist()) - {labels[i]}
    ]
    assert not any(certify(S, wrong).holds for wrong in moved if len(set(wrong)) == proof.n_clusters)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3, 5])
def test_with_and_without_certificates_the_value_is_the_same(seed, k):
    S, _ = planted(seed)
    ways = [sdp_k(S, k, certificate=certificate) for certificate in (True, False)]
    for way in ways:
        assert way.converged and way.gap <= 1e-4
    low, high = max(way.objective for way in ways), min(way.bound for way in ways)
    assert low <= high + 1e-9 * abs(high)


def test_a_forty_object_instance_to_the_gap():
    S, _ = planted(1, (10, 10, 10, 10), 3.0, 0.7)
    value = sdp_reference(S, k=4)[1]
    solution = sdp_k(S, 4, tol=1e-4, certificate=False)
    assert (
        abs(solution.objective - value) <= 1.1e-4 * max(abs(value), Problem(S.astype(float), k=4).scale)
        and solution.gap <= 1e-4
    )


def test_the_definition_by_a_first_order_solver_says_when_it_gives_up(monkeypatch):
    import cvxpy

    S, _ = planted(1, a=3.0)
    for which in ({"k": 3}, {"lam": 20.0}):
        value = sdp_reference(S, **which)[1]
        assert sdp_reference(S, **which, first_order=True)[1] == pytest.approx(
            value, rel=1e-5, abs=1e-5 * np.abs(S).max()
        )
    solve = cvxpy.Problem.solve
    monkeypatch.setattr(
        cvxpy.Problem, "solve", lambda problem, **options: solve(problem, **{**options, "max_iters": 25})
    )
    with pytest.warns(NotConvergedWarning, match="gave up: optimal_inaccurate"):
        sdp_reference(S, k=3, first_order=True)
    with pytest.raises(InputError, match="^first_order must be"):
        sdp_reference(S, k=3, first_order="yes")


# ---- the certificate is never wrong


def all_candidates(S, labels, rng):
    "The planted partition, moved, merged, split and random ones."
    n = len(S)
    yield labels
    moved = labels.copy()
    moved[rng.integers(n)] = labels[rng.integers(n)]
    yield moved
    yield np.where(labels == labels.max(), 0, labels)
    yield labels * 2 + (np.arange(n) % 2)
    yield improve_partition(S, rng.integers(3, size=n))


@pytest.mark.parametrize("block", range(6))
def test_what_is_certified_is_optimal(block):
    """A hundred and twenty candidates; whatever is certified has the reference's value.

    For SDP-k, and at both ends of the interval for SDP-λ.
    """
    n_certified = 0
    for seed in range(4 * block, 4 * block + 4):
        S, labels = planted(seed, (5, 5, 5) if seed % 2 else (3, 5, 7), 4.2, 0.99)
        values = {}
        for candidate in all_candidates(S, labels, np.random.default_rng(seed)):
            proof = certify(S, candidate)
            if not proof.holds:
                continue
            n_certified += 1
            k = proof.n_clusters
            if k not in values:
                values[k] = sdp_reference(S, k=k)[1]
            assert values[k] <= proof.objective + 1e-5 * max(abs(values[k]), 1)
            for lam in {max(proof.lam_low, 1e-3), min(proof.lam_high, 1e4)}:
                if lam > 0 and proof.proves(lam):
                    assert sdp_reference(S, lam=lam)[1] <= proof.objective - lam * k + 1e-5 * max(
                        abs(proof.objective), lam * k
                    )
    assert n_certified > 0


def test_some_are_certified_in_each_way():
    found = {
        form: sum(certify(*planted(seed, a=4.4), form=form).holds for seed in range(8))
        for form in ("additive", "rank-one")
    }
    assert 0 < found["additive"] < found["rank-one"]
    ways = {(s.how, s.n_iter > 0) for seed in range(8) for s in [sdp_k(planted(seed)[0], 3)]}
    assert {("certificate", False), ("certificate", True)} <= ways


def test_the_optimum_is_unique_inside_the_interval():
    S, labels = planted(2, a=4.4)
    proof = certify(S, labels)
    for lam in np.linspace(proof.lam_low, proof.lam_high, 3):
        np.testing.assert_allclose(sdp_reference(S, lam=lam)[0], proof.X, atol=2e-3)
    np.testing.assert_allclose(sdp_reference(S, k=3)[0], proof.X, atol=2e-3)


def test_above_the_limit_the_partition_is_not_optimal():
    S, labels = planted(2, a=4.4)
    proof = certify(S, labels)
    lam = proof.lam_limit * 1.05
    assert sdp_reference(S, lam=lam)[1] > proof.objective - 3 * lam + 1e-3


def test_the_dual_has_the_row_sums_that_the_proof_asks_for():
    S, labels = planted(0)
    blocks = Blocks(S.astype(float), labels)
    lam = Dual(blocks, "rank-one").limit / 2
    guess = np.random.default_rng(0).random(S.shape) * 30
    for form in ("rank-one", "guess"):
        gamma = Dual(blocks, form, guess + guess.T).raised(lam) - S
        assert (
            gamma.min() > -1e-9 and np.allclose(gamma @ blocks.Z, blocks.row_sums(lam)) and np.allclose(gamma, gamma.T)
        )


def test_shifting_the_diagonal_shifts_the_interval_and_a_constant_changes_nothing():
    S, labels = planted(2, a=4.4)
    proof, up, all_up = certify(S, labels), certify(S + 7 * np.eye(18), labels), certify(S + 7, labels)
    assert up.lam_low == pytest.approx(proof.lam_low + 7, rel=1e-6) and up.lam_high == pytest.approx(
        proof.lam_high + 7, rel=1e-6
    )
    assert all_up.lam_low == pytest.approx(proof.lam_low, rel=1e-6) and all_up.lam_high == pytest.approx(
        proof.lam_high, rel=1e-6
    )
    assert all_up.objective == pytest.approx(proof.objective + 7 * 18)


@given(st.permutations(range(18)))
@settings(max_examples=8)
def test_renumbering_objects_changes_nothing(order):
    S, labels = planted(2, a=4.4)
    one, two = certify(S, labels), certify(S[np.ix_(order, order)], labels[list(order)])
    assert (two.lam_low, two.lam_high, two.objective) == pytest.approx(
        (one.lam_low, one.lam_high, one.objective), rel=1e-6
    )


@pytest.mark.parametrize("power", [-300, -40, 40, 300])
def test_the_scale_of_the_similarity_changes_nothing(power):
    unit, held = 2.0**power, 0
    for seed in range(4):
        S, labels = planted(seed, (12, 12, 12), 4.3)
        one, two = certify(S, labels), certify(S * unit, labels)
        assert one.form == two.form
        np.testing.assert_allclose(
            np.array([two.lam_low, two.lam_high, two.lam_limit]) / unit,
            [one.lam_low, one.lam_high, one.lam_limit],
            rtol=1e-9,
        )
        held += one.form == "additive"
    assert held > 0
    np.testing.assert_allclose(sdp_reference(S * unit, k=4)[1] / unit, sdp_reference(S, k=4)[1], rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for largest in (unit, 1e100 / np.abs(S).max()):
            np.testing.assert_allclose(
                sdp_k(S * largest * (1 - 1e-9), 4).objective / largest, sdp_k(S, 4).objective, rtol=1e-3
            )


def test_labels_of_any_kind():
    S, labels = planted(2, a=4.4)
    assert certify(S, [f"cluster {label}" for label in labels]).lam_low == certify(S, labels).lam_low


def test_a_large_instance_is_proved_by_lanczos_and_cholesky():
    "Above the size at which eigenvalues are computed densely, the interval is inside the one of the dense computation."
    S, labels = planted(0, (150, 150, 150), 4.0, 0.7)
    proof, blocks = certify(S, labels), Blocks(S.astype(float), labels)
    assert proof.holds
    P = cluster_matrix(labels)
    for lam in (proof.lam_low, proof.lam_high):
        smallest = [
            np.linalg.eigvalsh(
                (np.eye(450) - P) @ (lam * np.eye(450) - Dual(blocks, "rank-one").raised(lam)) @ (np.eye(450) - P)
                + lam * P
            )[0]
        ]
        smallest.append(
            np.linalg.eigvalsh((np.eye(450) - P) @ (lam * np.eye(450) - S) @ (np.eye(450) - P) + lam * P)[0]
        )
        assert max(smallest) > 0
    assert proof.lam_high <= proof.lam_limit and sdp_k(S, 3).how == "certificate"


# ---- degenerate cases


def test_one_cluster_and_as_many_as_objects():
    S, _ = planted(0)
    np.testing.assert_allclose(sdp_k(S, 1).X, np.full((18, 18), 1 / 18))
    np.testing.assert_array_equal(sdp_k(S, 18).X, np.eye(18))
    assert sdp_k(S, 1).objective == pytest.approx(S.sum() / 18) and sdp_k(S, 18).objective == np.trace(S)
    assert certify(S, np.zeros(18)).lam_high == np.inf and certify(S, np.arange(18)).lam_low == -np.inf


def test_one_object():
    assert sdp_k([[5]], 1).objective == 5 and sdp_lambda([[5]], 2).objective == 3 and certify([[5]], ["a"]).holds


def test_the_zero_matrix_has_no_unique_partition():
    zero = np.zeros((6, 6))
    for k in (2, 3, 5):
        solution = sdp_k(zero, k)
        check_feasible(solution.X, k)
        assert (
            solution.objective == pytest.approx(0, abs=1e-12) and solution.gap <= 1e-4 and solution.how == "iteration"
        )
    assert not certify(zero, [0, 0, 1, 1, 2, 2]).holds and sdp_lambda(zero, 1).trace == 1


@pytest.mark.parametrize("sizes", [(1, 5), (1, 1, 4), (2, 3, 4), (1, 1, 1, 1)])
def test_ideal_similarities(sizes):
    "Block constant: ties everywhere, X* optimal for every price below the limit (N20, section 3)."
    labels = np.repeat(np.arange(len(sizes)), sizes)
    proof = certify(np.equal.outer(labels, labels).astype(int), labels)
    assert proof.holds and proof.lam_high == pytest.approx(
        2 / (1 / np.sort(sizes)[0] + 1 / np.sort(sizes)[1]), rel=1e-6
    )
    if len(sizes) < sum(sizes):
        assert 0 < proof.lam_low < 1e-3
    solution = sdp_lambda(proof.X * 0 + np.equal.outer(labels, labels), min(0.9 * proof.lam_high, 0.5))
    assert solution.how == "certificate" and solution.trace == len(sizes)


def test_two_equally_good_partitions_are_not_certified():
    "A square with equal sides can be cut in two ways."
    S = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], float)
    assert not certify(S, [0, 0, 1, 1]).holds and not certify(S, [0, 1, 1, 0]).holds
    check_against_reference(sdp_k(S, 2), S, sdp_reference(S, k=2)[1])


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=12), st.data())
def test_the_threshold_of_the_projection(values, data):
    values = np.array(values)
    total = data.draw(st.floats(0.01, len(values) - 0.01))
    assert np.clip(values - threshold(values, total), 0, 1).sum() == pytest.approx(total, abs=1e-9)


class _Exact(Spectrahedron):
    "Every projection by a complete eigendecomposition."

    def project(self, W, rho, out=None):
        self.rank = self.n
        return super().project(W, rho, out)


@settings(max_examples=6)
@given(matrices(high=8), st.integers(12, 16), st.sampled_from([0.0, 0.1, 3.0]), st.data())
def test_filtered_eigenvectors_lead_to_the_same_optimum(small, times, noise, data):
    """Large enough for the filter, from small matrices blown up (rank, ties, zeros included), with and without noise.

    Both ways prove bounds that enclose the same value.
    """
    from unittest.mock import patch

    S = np.kron(small, np.ones((times, times)))
    N = np.random.default_rng(times).normal(size=S.shape)
    S += noise * (N + N.T)
    k, lam = data.draw(st.integers(2, 5)), data.draw(st.sampled_from([0.5, 5.0, 50.0]))
    for solve in (
        lambda: sdp_k(S, k, 1e-3, 1500, certificate=False),
        lambda: sdp_lambda(S, lam, 1e-3, 1500, certificate=False),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", NotConvergedWarning
            )  # some degenerate ones need more iterations; bounds hold all the same
            fast = solve()
            with patch("comparison_hc.flat.solver.Spectrahedron", _Exact):
                slow = solve()
        slack = 1e-8 * max(abs(slow.bound), np.linalg.norm(S, 2))
        assert fast.objective <= slow.bound + slack and slow.objective <= fast.bound + slack
        assert fast.converged == slow.converged or max(fast.gap, slow.gap) < 3e-3
        check_feasible(fast.X, k if fast.problem == "SDP-k" else None)


@pytest.mark.parametrize(
    "W", [np.zeros((60, 60)), np.eye(60) - 1 / 60, -np.eye(60) + 1 / 60], ids=["zero", "one", "minus one"]
)
def test_a_projection_from_any_former_eigenvectors(W):
    "Matrices on which the filter gives nothing or everything: Y is in the set, as near to W as the exact Y to 1e-6."
    N = np.random.default_rng(0).normal(size=(60, 3))
    N -= N.mean(axis=0)
    body = Spectrahedron(60, k=3)
    body.project(N @ N.T, 1.0)
    assert body.rank < 10
    Y, exact = body.project(W, 1.0)[0], Spectrahedron(60, k=3).project(W, 1.0)[0]
    values = np.linalg.eigvalsh(Y)
    assert (
        np.allclose(Y.sum(axis=1), 0, atol=1e-12)
        and values[0] > -1e-12
        and values[-1] < 1 + 1e-12
        and np.trace(Y) == pytest.approx(2)
    )
    assert np.linalg.norm(Y - W) <= np.linalg.norm(exact - W) + 1e-6


@settings(max_examples=40)
@given(
    st.integers(20, 60),
    st.integers(1, 5),
    st.sampled_from(["spread", "equal", "low rank", "zero"]),
    st.sampled_from([0.0, 1e-2, 1.0]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_a_proved_sum_of_eigenvalues_is_never_too_small(n, m, kind, wrong, single, seed):
    "Against all eigenvalues, from vectors that are right, nearly right or arbitrary, in both precisions."
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(np.hstack([np.ones((n, 1)), rng.normal(size=(n, n - 1))]))[0]
    values = {
        "spread": rng.normal(size=n),
        "equal": np.repeat(rng.normal(size=2), [n // 2, n - n // 2]),
        "low rank": np.r_[np.zeros(n - 2), 1, 2],
        "zero": np.zeros(n),
    }[kind]
    values[0] = -3 - np.abs(values).max()
    M = (Q * values) @ Q.T
    M = (M + M.T) / 2
    order = np.argsort(values)[-(m + 5) :]
    V = np.linalg.qr(Q[:, order] + wrong * rng.normal(size=(n, m + 5)))[0].astype(np.float32 if single else float)
    s, error = np.sort(values)[-m:].sum(), 1e-5 if single else 1e-10
    found = top_sum(M, m, V, s + 1, 1e-3)
    assert wrong == 1 or found is not None
    if found is not None:
        assert found[0] <= s + error and s - 1e-10 <= found[1] <= s + 0.26
    low = top_sum(M, m, V, s - 0.5, 1e-3)
    assert low is None or low[1] >= s - 1e-10  # inf, or proved all the same
    if wrong == 0 and kind != "zero":
        assert found[1] <= s + 1e-3 + error and low == (pytest.approx(s, abs=error), np.inf)


@pytest.mark.parametrize("k", [2, 4])
def test_the_last_check_knows_the_best_bound_of_all(k, monkeypatch):
    "Large enough for proofs in place of decompositions; every Γ is also bounded exactly."
    N = np.random.default_rng(k).normal(size=(420, 420))
    S = N + N.T
    exact, bound = [], Problem.bound

    def spying(self, gamma, *limits):
        exact.append(self.original(bound(self, gamma)[1]))
        return bound(self, gamma, *limits)

    monkeypatch.setattr(Problem, "bound", spying)
    with pytest.warns(NotConvergedWarning):
        solution = sdp_k(S, k, 1e-3, 50, certificate=False)
    assert len(exact) >= 3 and min(exact) <= solution.bound <= min(exact) + 1e-3 * abs(solution.objective)
    exact.clear()
    solution = sdp_k(S, k, 0.1, certificate=False)
    assert (
        solution.converged
        and exact[-1] - 1e-9 * abs(exact[-1]) <= solution.bound
        and solution.objective <= solution.bound
    )


def test_the_last_check_looks_again_at_what_was_not_worth_a_proof():
    "Twenty iterations alone prove far less than a Γ that an earlier check put aside."
    N = np.random.default_rng(0).normal(size=(420, 420))

    def after(n_iter, hope=(np.inf, None)):
        problem = Problem(N + N.T, k=3)
        at = starting_point(problem)
        at.hope = hope
        return at.run(1e-3, n_iter)

    good, poor = after(60), after(20)
    late = after(20, (good.bound, good.gamma))
    assert (
        poor.bound > good.bound + 1e-3
        and late.gamma is good.gamma
        and late.bound == pytest.approx(good.bound, rel=1e-12)
    )


@pytest.mark.parametrize(
    "A, yes",
    [
        (np.eye(5), True),
        (-np.eye(5), False),
        (np.zeros((5, 5)), False),
        (np.full((5, 5), np.nan), False),
        (np.diag([1, 1, np.inf, 1, 1]), False),
        (np.ones((5, 5)) + 1e-3 * np.eye(5), True),
    ],
    ids=["one", "minus one", "zero", "NaN", "infinite", "nearly singular"],
)
def test_positive_definite(A, yes):
    with np.errstate(invalid="ignore"):
        assert positive_definite(A.copy(), 0.0) == yes


@settings(max_examples=30)
@given(matrices(low=4), st.data())
def test_moves_never_make_a_partition_worse(S, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(S), max_size=len(S))))
    value = lambda l: np.vdot(S, cluster_matrix(l))
    better = improve_partition(S, labels)
    assert value(better) >= value(labels) - 1e-9 and len(set(better)) == len(set(labels))


# ---- what it promises


def test_the_callers_matrix_is_left_alone_and_integers_are_welcome():
    S, labels = planted(0)
    before = S.copy()
    one, two = sdp_k(S, 4), sdp_k(S.astype(float), 4)
    sdp_lambda(S, 3.0, tol=1e-2), certify(S, labels, dual=np.ones(S.shape))
    np.testing.assert_array_equal(S, before)
    np.testing.assert_array_equal(one.X, two.X)


def test_not_converged_is_said():
    S, _ = planted(0)
    with pytest.warns(NotConvergedWarning, match="gap.*residuals"):
        solution = sdp_k(S, 5, max_iter=3)
    assert (
        not solution.converged and solution.gap > 1e-4 and solution.bound >= solution.objective and solution.n_iter == 3
    )
    check_feasible(solution.X, 5)
    with pytest.warns(NotConvergedWarning):
        sdp_lambda(S, 0.5, max_iter=2, tol=1e-9)


def test_a_start_saves_iterations():
    S, _ = planted(0, (10, 10, 10), 3.0, 0.6)
    rough = sdp_k(S, 4, tol=1e-2, certificate=False)
    fine = sdp_k(S, 4, tol=1e-4, certificate=False)
    resumed = sdp_k(S, 4, tol=1e-4, certificate=False, start=rough)
    assert (
        resumed.gap <= 1e-4
        and resumed.n_iter < fine.n_iter
        and resumed.objective == pytest.approx(fine.objective, rel=2e-4)
    )


def test_the_same_seed_gives_the_same_bits():
    S, _ = planted(1)
    one, two = (sdp_k(S, 3, rng=5) for _ in range(2))
    np.testing.assert_array_equal(one.X, two.X)


BAD_S = {
    "not square": np.zeros((3, 4)),
    "not symmetric": np.arange(9.0).reshape(3, 3),
    "NaN": np.full((3, 3), np.nan),
    "infinite": np.full((3, 3), np.inf),
    "NaN on the diagonal": np.diag([np.nan, 0, 0]),
    "infinite on the diagonal": np.diag([0, np.inf, 0]),
    "text": "abc",
    "empty": np.zeros((0, 0)),
    "complex": np.eye(3) * 1j,
    "ragged": [[0, 1], [1]],
    "None": None,
    "of three dimensions": np.zeros((2, 2, 2)),
    "objects": np.array([[0, "x"], ["x", 0]], dtype=object),
    "masked": np.ma.masked_equal(np.eye(3), 0),
    "too large to square": np.eye(3) * 1e200,
}


@pytest.mark.parametrize("what", BAD_S)
def test_bad_matrices(what):
    for call in (
        lambda S: sdp_k(S, 1),
        lambda S: sdp_lambda(S, 1),
        lambda S: certify(S, [0, 0, 1]),
        lambda S: sdp_reference(S, k=1),
        lambda S: improve_partition(S, [0, 0, 1]),
    ):
        with pytest.raises(InputError, match="^S must be"):
            call(BAD_S[what])


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda S: sdp_k(S, 0), "k must"),
        (lambda S: sdp_k(S, 19), "k must"),
        (lambda S: sdp_k(S, 2.0), "k must"),
        (lambda S: sdp_k(S, True), "k must"),
        (lambda S: sdp_lambda(S, 0), "lam"),
        (lambda S: sdp_lambda(S, -1), "lam"),
        (lambda S: sdp_lambda(S, np.nan), "lam"),
        (lambda S: sdp_lambda(S, np.inf), "lam"),
        (lambda S: sdp_lambda(S, "1"), "lam"),
        (lambda S: sdp_k(S, 2, tol=0), "tol"),
        (lambda S: sdp_k(S, 2, max_iter=0), "max_iter"),
        (lambda S: sdp_k(S, 2, rng="x"), "rng"),
        (lambda S: sdp_k(S, 2, start="x"), "start"),
        (lambda S: sdp_k(S, 2, start=sdp_k(np.eye(4), 1)), "start"),
        (lambda S: certify(S, [0, 1]), "labels"),
        (lambda S: certify(S, [np.nan] * 18), "labels"),
        (lambda S: certify(S, np.zeros(18), form="wide"), "form"),
        (lambda S: certify(S, np.zeros(18), dual=np.ones((2, 2))), "dual"),
        (lambda S: certify(S, np.zeros(18), lam=np.nan), "lam"),
        (lambda S: sdp_reference(S), "k and lam"),
        (lambda S: sdp_reference(S, k=2, lam=1), "k and lam"),
        (lambda S: certify(S, np.zeros(18), form=np.array(["additive", "rank-one"])), "form"),
        (lambda S: certify(S, np.zeros(18), dual=np.diag([np.nan] * 18)), "dual"),
        (lambda S: certify(S, np.zeros(18), dual=np.full((18, 18), 1e200)), "dual"),
        (lambda S: improve_partition(S, [0, 1]), "labels"),
        (lambda S: improve_partition(S, [np.nan] * 18), "labels"),
        *(
            (lambda S, call=call, value=value: call(S, certificate=value), "certificate must be True or False")
            for call in (lambda S, **o: sdp_k(S, 2, **o), lambda S, **o: sdp_lambda(S, 1, **o))
            for value in ("no", 1, None, np.array([True, False]))
        ),
        *(
            (
                lambda S, call=call, value=value: call(S, progress=value),
                "progress must be a function of .*iterations done",
            )
            for call in (lambda S, **o: sdp_k(S, 1, **o), lambda S, **o: sdp_lambda(S, 1, **o))
            for value in (0, "", True, "print")
        ),
    ],
)
def test_bad_arguments(call, word):
    with warnings.catch_warnings(), pytest.raises(InputError, match=word):
        warnings.simplefilter("error")
        call(planted(0)[0])


@pytest.mark.parametrize(
    "S",
    [np.zeros((420, 420)), np.full((420, 420), 3.0), np.eye(420), np.pad([[0.0, 2.0], [2.0, 0.0]], (0, 418))],
    ids=["zero", "one value", "diagonal", "one pair"],
)
def test_large_matrices_without_anything_to_build_on(S):
    "Above 400 objects eigenvalues come from Lanczos's method, which knows no zero matrix (MulK-4 of few answers)."
    solution = sdp_k(S, 4, 1e-2, 200)
    check_feasible(solution.X, 4)
    assert (
        solution.converged
        and solution.objective <= solution.bound + 1e-9 * max(1, abs(solution.bound))
        and solution.gap <= 1e-2
    )
    assert certify(S, np.arange(420) % 4).n_clusters == 4
    price = sdp_lambda(S, 2.0, 1e-2, 200)
    assert price.converged and price.objective <= price.bound + 1e-9 * max(1, abs(price.bound))


@pytest.mark.parametrize("n, k", [(2, None), (3, 2), (12, 3), (40, 2), (40, 7), (40, None)])
def test_a_mended_matrix_is_feasible(n, k):
    "Whatever X ⪰ 0 with X1 = 1 and the right trace comes in, with many negative entries."
    rng = np.random.default_rng(n)
    S = rng.normal(size=(n, n))
    Q = np.linalg.qr(np.hstack([np.ones((n, 1)), rng.normal(size=(n, n - 1))]))[0][:, 1:]
    values = rng.random(n - 1) ** 20  # a few large ones, so that entries are negative
    if k:
        values *= (k - 1) / values.sum()
    X = (Q * values) @ Q.T + 1 / n
    before, mended = X.copy(), Problem(S + S.T, k=k, lam=None if k else 0.5).feasible(X)
    assert X.min() < 0 or n < 4
    assert mended.min() >= 0 and np.abs(mended.sum(axis=1) - 1).max() < 1e-12 and np.linalg.eigvalsh(mended)[0] > -1e-12
    assert (k is None or np.trace(mended) == pytest.approx(k)) and np.array_equal(X, before)


def test_going_on_from_a_solution_leaves_it_as_it_was():
    S = planted(0)[0]
    rough = sdp_k(S, 5, 1e-2, certificate=False)
    V, X = rough._end[0].copy(), rough.X.copy()
    sdp_k(S, 5, 1e-4, start=rough, certificate=False)
    sdp_k(S, 4, 1e-4, start=rough, certificate=False)
    assert np.array_equal(rough._end[0], V) and np.array_equal(rough.X, X)


def test_certificates_work_on_one_thread_and_give_the_others_back(monkeypatch):
    from threadpoolctl import ThreadpoolController, threadpool_limits

    from comparison_hc.flat import certificate

    pools, seen, widened = ThreadpoolController().lib_controllers, [], certificate.Dual.widened

    def watched(self, *options):
        seen.append({pool.num_threads for pool in pools})
        return widened(self, *options)

    monkeypatch.setattr(certificate.Dual, "widened", watched)
    with threadpool_limits(2):
        before = {pool.num_threads for pool in pools}
        assert certificate.certify(np.kron(np.eye(2), np.ones((4, 4))), np.repeat([0, 1], 4)).holds
        assert before == {pool.num_threads for pool in pools} and max(before) == 2
    assert seen and set.union(*seen) == {1}
