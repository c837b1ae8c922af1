"""Sizes, numbers of clusters, δ and σ, two ways to round a solution: runs, charts, sentences."""

from functools import partial

from ..comparisons import n_triplet_questions
from ..core.validation import as_rng
from ..flat import sdp
from ..flat.planted import gaussians, planted_partition, sample_comparisons
from ..flat.similarity import adds3, mulk3
from ..flat.spur_search import round_solution
from ..metrics import adjusted_rand_index
from .claims import BY_CONSTRUCTION, judged
from .n20 import ari_summary, how_many, planted_methods
from .n20_claims import ENOUGH, NEAR, _better, _curve, judged_here
from .n20_figures import ari_chart
from .simulation import MAX_ITER, TOL, equal_sizes, watched


def sweep_run(n, k, delta, sigma, epsilon, a, repetition, rng):
    "One planted partition with normal similarities, as in N20's figure 1."
    for_model, *others = as_rng(rng).spawn(4)
    planted = planted_partition(equal_sizes(n, k), *gaussians(delta, sigma), for_model)
    return planted_methods(planted, "triplets", epsilon, a, *others)


def rounding_run(n, k, delta, epsilon, a, repetition, rng):
    "One solution of SDP-k for each similarity, k known, made a partition in two ways."
    for_model, for_sample, *others = as_rng(rng).spawn(4)
    planted = planted_partition(equal_sizes(n, k), *gaussians(delta), for_model)
    m, exhausted = how_many(n, a, n_triplet_questions(n))
    triplets = sample_comparisons(planted, "triplets", m, epsilon, for_sample)
    rows = []
    for name, similarity, generator in zip(("AddS-3", "MulK-3"), (adds3, mulk3), others):
        solution, converged = watched(partial(sdp.sdp_k, similarity(triplets, n), k, TOL, MAX_ITER, generator))
        common = dict(comparisons=len(triplets), exhausted=exhausted, n_clusters=k, converged=converged)
        for way in ("k-means", "spectral"):
            proved = solution.labels is not None
            labels = solution.labels if proved else round_solution(solution.X, k, way, generator)
            ari = adjusted_rand_index(planted.labels, labels)
            rows.append({"method": f"{name}, rounded by {way}", **common, "ari": ari, "rounded": not proved})
    return rows


SWEEPS = {"n": "n, objects", "k": "k, clusters", "delta": "δ", "sigma": "σ"}  # parameters and titles of their axes


def rounding_summary(table):
    "What is kept of every figure, and the share of runs that had to be rounded."
    rounded = table.groupby(["a", "method"], sort=False)["rounded"].mean().rename("rounded")
    return ari_summary(table).join(rounded, on=["a", "method"])


def _varied(summary):
    "The parameter of a sweep."
    return next(name for name in SWEEPS if name in summary and summary[name].nunique() > 1)


def sweep_chart(summary):
    "Mean ARI against the parameter of a sweep."
    over = _varied(summary)
    return ari_chart(summary, over, SWEEPS[over])


def sweep_claims(summary):
    "What one would expect of a sweep after figures 1a to 1c, with verdicts."
    over = _varied(summary)
    ours, theirs = (_curve(summary, method, over) for method in ("AddS-3", "MulK-3"))
    best = f"lowest mean ARI {ours['ari'].min():.3f} ({over} = {ours['ari'].idxmin():g})"
    if over == "sigma":
        apart = ours["ari"].max() - ours["ari"].min()
        return [judged("n20-sweep/sigma", f"AddS-3's mean ARI differs by at most {apart:.3f}", apart <= 1e-9)]
    name = "δ" if over == "delta" else over
    better, words = _better(ours, theirs)
    words += f" ({name} = {(ours['ari'] - theirs['ari']).idxmin():g})"
    claims = [judged_here("n20-sweep/better", words, better, name=name)]
    if over == "n":
        return [*claims, judged_here("n20-sweep/n", best, ours["ari"].min() >= ENOUGH)]
    reach = [(curve["ari"] >= ENOUGH).sum() for curve in (ours, theirs)]
    words = "{} and {} of {} values".format(*reach, len(ours))
    return [*claims, judged_here("n20-sweep/more", words, reach[0] > reach[1], name=name)]


def rounding_claims(summary):
    "The sentence of section 5 about spectral clustering, with its verdict."
    means = summary.pivot(index="a", columns="method", values="ari")
    rounded = summary["rounded"].mean()
    apart = {
        name: (means[f"{name}, rounded by k-means"] - means[f"{name}, rounded by spectral"]).abs()
        for name in ("AddS-3", "MulK-3")
    }
    words = ", ".join(f"{m} at most {gap.max():.3f} (a = {gap.idxmax():g})" for m, gap in apart.items())
    words = f"mean ARI apart: {words}; {rounded:.0%} of the solutions had to be rounded"
    told = summary.loc[(summary["rounded"] > 0) & (summary["ari"] >= 0.1), "method"]
    both = all(told.str.startswith(name).any() for name in apart)
    are_near = all(gap.max() <= NEAR for gap in apart.values())
    return [judged_here("n20-sweep/rounding", words, are_near, "" if both else BY_CONSTRUCTION)]
