"""What is proved about one instance, four experiments with their grids, and the shares that are kept."""

from itertools import product
from math import log, pi, sqrt, tan

import numpy as np

from ..core.validation import as_rng
from ..flat.planted import gaussians, planted_partition, sample_comparisons, uniform_beta, uniform_normal
from ..flat.similarity import adds3
from ..metrics import adjusted_rand_index
from ..theory.n20_model import expected_blocks, n_questions
from ..theory.n20_noise import mean_given_similarities, theorem_conditions, theorem_interval
from ..theory.n20_sdp import necessary_interval, printed_interval, rank_one_slack


def spectral_guess(S, k, rng):
    "k-means on the k leading eigenvectors: the candidate that a program would certify."
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    _, vectors = eigh(S, subset_by_index=(len(S) - k, len(S) - 1))
    return KMeans(k, n_init=4, random_state=int(rng.integers(2**31))).fit_predict(vectors)


def proof_of_recovery(S, labels):
    "Whether X* is the unique optimum of SDP-λ for some λ: proved, or at least not excluded (N20, proposition 1)."
    S = np.asarray(S, dtype=float)
    low, high = necessary_interval(S, labels)
    possible = bool(low < high and high > 0)
    return dict(recovered=bool(possible and rank_one_slack(S, labels, 0.99 * high) > 0), possible=possible)


def theorem_run(n, k, epsilon, delta, multiple, repetition, rng):
    "One instance for Theorem 1 of N20, by AddS-3."
    rng = as_rng(rng)
    m = round(multiple * theorem_conditions(n, epsilon, delta, n // k)[1])
    model = planted_partition([n // k] * k, *gaussians(delta), rng)
    S = adds3(sample_comparisons(model, "triplets", m, float(epsilon), rng)).astype(float)
    blocks = expected_blocks(model.sizes, m / n_questions(n, "triplets"), epsilon, delta, "triplets")
    low, high = theorem_interval(n, m, epsilon, delta, n // k)
    return {
        "triplets": m,
        **proof_of_recovery(S, model.labels),
        "ari": adjusted_rand_index(model.labels, spectral_guess(S, k, rng)),
        "norm": printed_interval(S, model.labels, blocks)["norm"] / low,
        "top": necessary_interval(S, model.labels)[1] / high,
    }


SETTINGS = ((2, 1.0, 0.9), (2, 0.5, 0.9), (2, 1.0, 0.6), (4, 1.0, 0.9))  # k, ε, δ
MULTIPLES = (0.05, 0.1, 0.16, 0.25, 0.4, 0.63, 1.0)


def theorem_grid(sizes, repetitions):
    "The runs for Theorem 1, as far as there are so many triplets."
    grid = []
    for (k, epsilon, delta), n in product(SETTINGS, sizes):
        most = n_questions(n, "triplets") / theorem_conditions(n, epsilon, delta, n // k)[1]
        multiples = [multiple for multiple in MULTIPLES if multiple <= most]
        grid.append(dict(n=n, k=k, epsilon=epsilon, delta=delta, multiple=multiples, repetition=repetitions))
    return grid


def _shares(table, keys, **others):
    "One row a point: shares of recovered and possible, number of repetitions, and means of other columns."
    named = dict(
        recovered=("recovered", "mean"), possible=("possible", "mean"), **others, repetitions=("recovered", "size")
    )
    return table.astype({"recovered": float, "possible": float}).groupby(keys, as_index=False, sort=False).agg(**named)


def theorem_summary(table):
    "Shares and means of every point of `theorem_run`."
    return _shares(
        table,
        ["n", "k", "epsilon", "delta", "multiple"],
        triplets=("triplets", "mean"),
        ari=("ari", "mean"),
        norm=("norm", "max"),
        top=("top", "min"),
    )


def clusters_run(n, k, delta, repetition, rng):
    "One instance for Remark 3 of N20: AddS-3 of all triplets, from ranks."
    model = planted_partition([n // k] * k, *gaussians(delta), rng)
    return proof_of_recovery(mean_given_similarities(model.similarity, "triplets"), model.labels)


def clusters_grid(sizes, repetitions):
    "The runs for Remark 3: values of k that divide n, up to 3.5 √(n/ln n)."
    numbers = {n: [k for k in range(2, n // 2) if n % k == 0 and k <= 3.5 * sqrt(n / log(n))] for n in sizes}
    return [dict(n=n, k=k, delta=(0.5, 0.9), repetition=repetitions) for n, k in numbers.items()]


def clusters_summary(table):
    "Shares of every point of `clusters_run`, with k in units of √(n/ln n)."
    summary = _shares(table, ["n", "k", "delta"])
    return summary.assign(scaled=(summary["k"] / np.sqrt(summary["n"] / np.log(summary["n"]))).round(6))


def saturation_run(n, epsilon, delta, load, repetition, rng):
    "One instance for Remark 5 of N20: two clusters, AddS-3."
    rng, total = as_rng(rng), n_questions(n, "triplets")
    m = min(total, round(load * n**2 / epsilon**2))
    model = planted_partition([n // 2, n - n // 2], *gaussians(delta), rng)
    S = adds3(sample_comparisons(model, "triplets", m, float(epsilon), rng)).astype(float)
    p = printed_interval(S, model.labels, expected_blocks(model.sizes, m / total, epsilon, delta, "triplets"))
    return {"triplets": m, **proof_of_recovery(S, model.labels), "noise": p["norm"] / (p["n_min"] * p["gap"] / 2)}


def saturation_grid(n, repetitions):
    "The runs for Remark 5: δ below, at and above what is recovered from every triplet at n = 160."
    grid = []
    for epsilon in (0.25, 0.5, 1.0):
        most = n_questions(n, "triplets") * epsilon**2 / n**2
        loads = [2.0**e for e in range(-5, 8) if 2.0**e < most / 1.4] + [round(most, 6)]
        grid.append(dict(n=n, epsilon=epsilon, delta=(0.3, 0.4, 0.6), load=loads, repetition=repetitions))
    return grid


def saturation_summary(table):
    "Shares and mean noise of every point of `saturation_run`."
    return _shares(table, ["n", "epsilon", "delta", "load"], triplets=("triplets", "mean"), noise=("noise", "mean"))


FAMILIES = {  # of δ and of `scipy.stats`
    "normal": lambda delta, stats: gaussians(delta),
    "normal, σ_out = 4σ_in": lambda delta, stats: gaussians(delta, 0.1, 0.4),
    "beta over uniform": lambda delta, stats: uniform_beta(delta),
    "normal over uniform": lambda delta, stats: uniform_normal(delta),
    "exponential": lambda delta, stats: (stats.expon(0, (1 + delta) / (1 - delta)), stats.expon(0, 1)),
    # P(sX > Y) = 1 − 1/(2s) for two Pareto variables of index 1
    "Pareto": lambda delta, stats: (stats.pareto(1, 0, 1 / (1 - delta)), stats.pareto(1)),
    "Cauchy": lambda delta, stats: (stats.cauchy(2 * tan(pi * delta / 2), 1), stats.cauchy(0, 1)),
}


def distribution_pair(family, delta):
    "Two distributions with this δ."
    from scipy import stats

    return FAMILIES[family](delta, stats)


def family_run(family, n, k, delta, epsilon, exponent, repetition, rng):
    "One instance for Remark 6 of N20."
    rng = as_rng(rng)
    model = planted_partition([n // k] * k, *distribution_pair(family, delta), rng)
    m = min(n_questions(n, "triplets"), round(n * log(n) ** exponent))
    S = adds3(sample_comparisons(model, "triplets", m, float(epsilon), rng))
    return [
        {"method": "AddS-3", **proof_of_recovery(S, model.labels)},
        {"method": "similarities", **proof_of_recovery(model.similarity, model.labels)},
    ]


def family_summary(table):
    "Shares of every point of `family_run`."
    return _shares(table, ["family", "n", "k", "delta", "epsilon", "exponent", "method"])


GRIDS = {  # as in `grids.json`
    "n20-theorem1-quick": theorem_grid((60, 120), 4),
    "n20-theorem1": theorem_grid((100, 200, 400), 10),
    "n20-remark3-quick": clusters_grid((60, 120), 4),
    "n20-remark3": clusters_grid((60, 120, 240, 480), 10),
    "n20-remark5-quick": saturation_grid(60, 3),
    "n20-remark5": saturation_grid(160, 40),
}
