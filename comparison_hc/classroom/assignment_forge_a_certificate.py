"""An assignment on Perrot et al. (2020): prove that a partition is optimal, audit proofs, and try to forge one."""

from fractions import Fraction
from importlib.util import find_spec

import numpy as np

from .checking import Wrong, expect, expect_equal, packaged

assignment, part = packaged("forge-a-certificate")


def block_problem(sizes, noise, seed):
    "A similarity with blocks of ones in noise, and the blocks."
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    E = rng.normal(scale=noise, size=(len(labels), len(labels)))
    return np.where(labels[:, None] == labels, 1.0, 0.0) + (E + E.T) / 2, labels


def clustering_matrix(labels):
    "1/|C| inside a cluster, 0 elsewhere."
    labels = np.unique(labels, return_inverse=True)[1].ravel()
    return np.where(labels[:, None] == labels, 1 / np.bincount(labels)[labels], 0.0)


def usual_certificate(S, labels, lam):
    "(α, Γ of rank one in every block, Λ) as on the page about the SDP."
    P = clustering_matrix(labels)
    alpha = 2 * (S @ P).diagonal() - (P @ S @ P).diagonal() - lam * P.diagonal()
    means = (alpha[:, None] + P @ alpha) / 2 - S @ P
    total = P @ means
    gamma = np.where((P == 0) & (total != 0), means * means.T / np.where(total != 0, total, 1), 0.0)
    return alpha, gamma, (alpha[:, None] + alpha) / 2 - S + lam * np.eye(len(S)) - gamma


def read_certificate(got, n, call):
    "(α, Γ, Λ) as arrays."
    expect(hasattr(got, "__len__") and len(got) == 3, f"{call} should give three things: alpha, Gamma, Lambda.")
    arrays = []
    for name, value, shape in zip(("alpha", "Gamma", "Lambda"), got, ((n,), (n, n), (n, n))):
        try:
            array = np.asarray(value, float)
        except (TypeError, ValueError):
            array = np.full((), np.nan)
        text = f"{call}: {name} has the shape {array.shape}, but should be {shape}, of finite numbers."
        expect(array.shape == shape and np.isfinite(array).all(), text)
        arrays.append(array)
    return arrays


def check_certificate(got, S, labels, lam, call):
    "A proof that the partition is optimal, condition by condition."
    alpha, gamma, slack = read_certificate(got, len(S), call)
    P, scale = clustering_matrix(labels), 1e-7 * max(1.0, np.abs(S).max(), abs(lam)) * len(S)
    off = np.abs((alpha[:, None] + alpha) / 2 - S + lam * np.eye(len(S)) - gamma - slack)
    i, j = np.unravel_index(off.argmax(), off.shape)
    text = f"{call}: ½(α_i + α_j) = S_ij − λ[i = j] + Γ_ij + Λ_ij is off by {off.max():.3g} at ({i}, {j})."
    expect(off.max() <= scale, text)
    expect(np.abs(gamma - gamma.T).max() <= scale, f"{call}: Gamma should be symmetric.")
    expect(np.abs(gamma * P).max() <= scale, f"{call}: Gamma should be zero inside the blocks.")
    left = np.abs(slack @ P).max()
    expect(left <= scale, f"{call}: Λ should map the indicator of each block to 0, and leaves {left:.3g}.")
    text = f"{call}: Γ has the entry {gamma.min():.3g}, but should have none below 0."
    expect(gamma.min() >= -scale, text)
    low = np.linalg.eigvalsh((slack + slack.T) / 2)[0]
    expect(low >= -scale, f"{call}: Λ has the eigenvalue {low:.3g}, but should have none below 0.")


CASES = (((4, 4), 0.1, 0, 2.0), ((5, 3), 0.1, 1, 1.5), ((4, 4, 5), 0.1, 2, 2.0))


@part("1a")
def part_1a(answers):
    for sizes, noise, seed, lam in CASES:
        S, labels = block_problem(sizes, noise, seed)
        call = f"certificate(S, labels, {lam}) for blocks of {', '.join(map(str, sizes))}"
        check_certificate(answers.function("certificate")(S.copy(), labels.copy(), lam), S, labels, lam, call)


def forgeries(seed):
    "{what is wrong: (S, labels, λ, α, Γ, Λ)}; under an empty name a true certificate."
    S, labels = block_problem((4, 3, 4), 0.1, seed)
    lam, n = 1.6, len(S)
    alpha, gamma, slack = usual_certificate(S, labels, lam)
    found = {"": (S, labels, lam, alpha, gamma, slack)}
    shift = np.zeros((n, n))
    shift[0, 4] = shift[4, 0] = gamma[0, 4] + 0.3
    found["Γ has a negative entry"] = (S, labels, lam, alpha, gamma - shift, slack + shift)
    wave = np.zeros(n)
    wave[[0, 1]] = 1, -1
    much = 10 * np.outer(wave, wave)
    found["Λ has a negative eigenvalue"] = (S + much, labels, lam, alpha, gamma, slack - much)
    found["the equation does not hold"] = (S, labels, lam, alpha, gamma, slack + 0.01 * np.outer(wave, wave))
    inside = np.where(labels[:, None] == labels, 0.2, 0.0)
    found["Γ is not zero inside the blocks"] = (S - inside, labels, lam, alpha, gamma + inside, slack)
    one = np.full((n, n), 0.05)
    found["Λ does not map the blocks' indicators to 0"] = (S - one, labels, lam, alpha, gamma, slack + one)
    other = labels.copy()
    other[[0, 4]] = labels[[4, 0]]
    found["it is the certificate of another partition"] = (S, other, lam, alpha, gamma, slack)
    return found


def one_triangle():
    "A forgery of which the lower triangle of Λ is that of a true certificate: (S, labels, λ, α, Γ, Λ)."
    labels = np.repeat([0, 1], 3)
    other = labels[:, None] != labels
    alpha, gamma, slack = np.zeros(6), 2.0 * other, (np.eye(6) - clustering_matrix(labels)) / 2
    S = np.eye(6) - gamma - slack
    more = 2 * np.outer([1, -1, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0])
    return S, labels, 1.0, alpha, gamma - more, slack + more


@part("1b", forgeries(0))
def check_audit(answers, cases):
    "True certificates are accepted, forged ones are not."
    audit = answers.function("audit")
    for wrong, case in cases.items():
        call = f"audit(…) of a certificate in which {wrong}" if wrong else "audit(…) of a true certificate"
        try:
            got = audit(*(value.copy() if isinstance(value, np.ndarray) else value for value in case))
        except Wrong as stopped:
            raise Wrong(f"{call}: {stopped}") from None
        expect_equal(got, not wrong, call)


@part("2a", range(4))
def check_bounds(answers, seeds):
    "Above the optimum, and not above what the smallest eigenvalue gives."
    for seed in seeds:
        S, labels = block_problem((4, 4), 0.1, seed)
        lam, rng = 2.0, np.random.default_rng(seed)
        alpha, gamma, _ = usual_certificate(S, labels, lam)
        value = float((S * clustering_matrix(labels)).sum() - 2 * lam)
        for noise in (0.0, 0.1, 1.0):
            a = alpha + noise * rng.normal(size=8)
            more = noise * rng.random((8, 8))
            g = gamma + more + more.T
            low = np.linalg.eigvalsh((a[:, None] + a) / 2 - S + lam * np.eye(8) - g)[0]
            most = a.sum() + 8 * max(0.0, -low)
            got = answers.function("bound")(S.copy(), lam, a, g)
            call = "bound(S, 2.0, alpha, Gamma) of " + (f"multipliers with noise {noise}" if noise else "a certificate")
            expect(isinstance(got, (int, float, np.number)), f"{call} should give a number.")
            text = f"{call} gives {got:.6g}, but an allowed matrix has the value {value:.6g}: no upper bound."
            expect(got >= value - 1e-6, text)
            text = f"{call} gives {got:.6g}; the smallest eigenvalue of Λ and tr X ≤ n already prove {most:.6g}."
            expect(got <= most + 1e-6, text)
    got = answers.function("bound")(np.zeros((4, 4)), 3.0, np.zeros(4), np.zeros((4, 4)))
    call, least = "bound(zeros, 3.0, zeros, zeros) for 4 objects, where all eigenvalues of Λ are 3,", -3.0
    text = (
        f"{call} gives {got:.6g}, but one cluster has the value {least:g}: no upper bound. (tr X can be as small as 1.)"
    )
    expect(got >= least - 1e-6, text)
    expect(got <= 1e-6, f"{call} gives {got:.6g}; the smallest eigenvalue of Λ and tr X ≤ n already prove 0.")


def read_case(got, n_least, call):
    "(S, labels, λ) that a student has built."
    expect(hasattr(got, "__len__") and len(got) == 3, f"{call} should give three things: S, labels, lam.")
    try:
        S, labels, lam = np.asarray(got[0], float), np.asarray(got[1]).ravel(), float(got[2])
    except (TypeError, ValueError):
        expect(False, f"{call} should give a matrix of numbers, a list of labels, and a number.")
    expect(S.ndim == 2 and S.shape == (len(labels),) * 2, f"{call}: S is {S.shape}, with {len(labels)} labels.")
    expect(np.isfinite(S).all() and np.array_equal(S, S.T), f"{call}: S should be symmetric and finite.")
    expect(0 < lam < 1e6 and np.abs(S).max() < 1e6, f"{call}: λ should be above 0, and all numbers below a million.")
    sizes = np.unique(labels, return_counts=True)[1]
    text = f"{call}: the blocks have the sizes {sizes.tolist()}; there should be two or more, of at least {n_least}."
    expect(len(sizes) >= 2 and sizes.min() >= n_least, text)
    return S, labels, lam


def check_blind(S, labels, lam, call):
    "The usual certificate fails clearly."
    _, gamma, slack = usual_certificate(S, labels, lam)
    low, size = np.linalg.eigvalsh(slack)[0], 1e-3 * max(lam, np.abs(S).max())
    least = f"least entry of Γ {gamma.min():.3g}, least eigenvalue of Λ {low:.3g}"
    text = f"{call}: the usual certificate does not fail clearly: {least}."
    expect(low < -size or gamma.min() < -size, text)


def best_value(S, lam):
    "The optimum of SDP-λ by the general solver; where there is none, as in a browser, by iteration to a gap of 10⁻⁶."
    import comparison_hc.flat as room

    if find_spec("cvxpy"):
        return room.sdp_reference(S, lam=lam)[1]
    return room.sdp_lambda(S, lam, tol=1e-6).objective


@part("3a", (2, 4))
def check_blind_spots(answers, numbers):
    "The partition is optimal as far as a solver sees, and the usual certificate fails."
    for n in numbers:
        call = f"blind_spot({n})"
        S, labels, lam = read_case(answers.function("blind_spot")(n), n, call)
        expect(len(S) <= 40, f"{call}: {len(S)} objects are too many for the solver; at most 40 are allowed.")
        check_blind(S, labels, lam, call)
        P = clustering_matrix(labels)
        value, best = float((S * P).sum() - lam * np.trace(P)), best_value(S, lam)
        text = f"{call}: the partition has the value {value:.6g}, and the solver finds {best:.6g}: not optimal."
        expect(best <= value + 1e-5 * max(1.0, abs(value), lam, np.abs(S).max()), text)


@part("3b", (2, 4))
def check_rescue(answers, numbers):
    "A certificate for the blind spot."
    for n in numbers:
        S, labels, lam = read_case(answers.function("blind_spot")(n), n, f"blind_spot({n})")
        check_blind(S, labels, lam, f"blind_spot({n})")
        check_certificate(answers.function("rescue")(n), S, labels, lam, f"rescue({n})")


def exact_value(S, labels, lam):
    "⟨S, X⟩ − λ tr X of a partition, in fractions: no rounding."
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    sums = (Fraction(sum(Fraction(float(S[i, j])) for i in g for j in g), len(g)) for g in groups)
    return sum(sums) - len(groups) * Fraction(lam)


@part("4a", (1e-2, 1e-5))
def check_near(answers, gaps):
    "Another partition, quite different, is better by a positive amount of at most the gap."
    from comparison_hc.metrics import adjusted_rand_index

    for gap in gaps:
        call = f"near_miss({gap:g})"
        got = answers.function("near_miss")(gap)
        expect(hasattr(got, "__len__") and len(got) == 4, f"{call} should give four things: S, labels, lam, better.")
        S, labels, lam = read_case(got[:3], 2, call)
        better = np.asarray(got[3]).ravel()
        text = f"{call}: `better` has {len(better)} labels for {len(labels)} objects; at most 60 objects will do."
        expect(len(better) == len(labels) <= 60, text)
        more = exact_value(S, better, lam) - exact_value(S, labels, lam)
        text = f"{call}: `better` is worth {float(more):.3g} more than `labels`; it should be more than 0."
        expect(more > 0, text)
        size = float(more) / max(1.0, abs(float(exact_value(S, labels, lam))))
        expect(size <= gap, f"{call}: the gap is {size:.3g}, but should be at most {gap:g}.")
        score = adjusted_rand_index(labels, better)
        text = f"{call}: the two partitions have an adjusted Rand index of {score:.2f}, but should have at most 0.1."
        expect(score <= 0.1, text)
