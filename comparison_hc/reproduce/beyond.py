"""Methods that are given answers and methods that ask, at equal numbers of comparisons and with wrong answers."""

import numpy as np

from ..core.compat import bincount
from ..core.validation import as_rng
from ..hierarchical.average import quadruplet_average_linkage
from ..hierarchical.kernel import kernel_active, kernel_average_linkage, kernel_passive
from ..hierarchical.linkage import complete_linkage, single_linkage
from ..hierarchical.planted import planted_hierarchy
from ..hierarchical.triplets import triplet_average_linkage, triplet_kernel, triplet_kernel_active
from ..metrics import adjusted_rand_index, average_ari, dasgupta_cost
from ..oracles import Counting, Noisy, SimilarityOracle, run, sample_quadruplets, sample_triplets

OWN = ", self-pairs"  # behind the name of a kernel method that counts them


def adds_average_linkage(triplets):
    "Average linkage on AddS-3 (N20): answers that say i and j are near, minus those that say they are far."
    n, (i, j, k) = triplets.n_objects, triplets.array.T
    S = (bincount(i * n + j, minlength=n * n) - bincount(i * n + k, minlength=n * n)).reshape(n, n)
    return kernel_average_linkage(S + S.T)


def given_methods(kind):
    "The passive methods for answers of this kind."

    def by_kernel(kernel, own):
        return lambda answers: kernel_average_linkage(kernel(answers, self_pairs=own))

    methods = {
        "4–AL": quadruplet_average_linkage,
        "4K–AL": by_kernel(kernel_passive, False),
        "4K–AL" + OWN: by_kernel(kernel_passive, True),
    }
    if kind == "quadruplets":
        return methods
    return {
        "3K–AL": by_kernel(triplet_kernel, False),
        "3K–AL" + OWN: by_kernel(triplet_kernel, True),
        "3–AL": triplet_average_linkage,
        "AddS-3–AL": adds_average_linkage,
        **methods,
    }


def _tree_of(kernel):
    "A generator of a kernel, made into one of a tree."
    return kernel_average_linkage((yield from kernel))


asking_methods = {  # name → function of (N, number of questions, rng) that returns a query generator
    "3K–AL–act": lambda n, m, rng: _tree_of(triplet_kernel_active(n, m, rng)),
    "3K–AL–act" + OWN: lambda n, m, rng: _tree_of(triplet_kernel_active(n, m, rng, self_pairs=True)),
    "4K–AL–act": lambda n, m, rng: _tree_of(kernel_active(n, n_comparisons=m, rng=rng)),
}


def equal_budget_run(factor, n_pure, repetition, rng):
    "All methods on one planted hierarchy (μ = 0.8, δ = σ = 0.1, L = 3) with as many comparisons for each."
    for_model, for_triplets, for_quadruplets, *for_asking = as_rng(rng).spawn(6)
    planted = planted_hierarchy(n_pure, 3, 0.8, 0.1, 0.1, for_model)
    w, n = planted.similarity, len(planted.labels)
    m = factor * n**2
    given = {"triplets": sample_triplets(w, m, for_triplets), "quadruplets": sample_quadruplets(w, m, for_quadruplets)}
    trees = []
    for kind, answers in given.items():
        trees += [(kind, name, method(answers)) for name, method in given_methods(kind).items()]
    for (name, method), own in zip(asking_methods.items(), for_asking):
        trees.append(("asked", name, run(method(n, m, own), SimilarityOracle(w))))
    lowest = planted.levels[-1]
    n_lowest = int(lowest.max()) + 1
    return [
        dict(
            known=kind,
            method=name,
            aari=average_ari(planted.levels, tree),
            lowest=adjusted_rand_index(lowest, tree.cut(n_lowest)),
        )
        for kind, name, tree in trees
    ]


def excess_cost(planted, tree):
    "Dasgupta's cost: 0 for the planted tree, 1 for the planted tree over shuffled objects (the mean of all shuffles)."
    upper = np.triu_indices(len(planted.labels), 1)
    best = dasgupta_cost(planted.dendrogram, planted.similarity)
    shuffled = planted.similarity[upper].mean() * planted.dendrogram.lca_size()[upper].sum()
    return (dasgupta_cost(tree, planted.similarity) - best) / (shuffled - best)


def wrong_answers_run(epsilon, n_pure, repetition, rng):
    "All methods on one planted hierarchy (μ = 0.8, δ = σ = 0.1, L = 3), 8 N² comparisons, some of them wrong."
    for_model, *rngs = as_rng(rng).spawn(15)
    planted = planted_hierarchy(n_pure, 3, 0.8, 0.1, 0.1, for_model)
    w, n = planted.similarity, len(planted.labels)
    m = 8 * n * n
    found = []  # method, tree, number of comparisons
    for kind, sample, names, (draw, flip) in (
        ("triplets", sample_triplets, ("3K–AL", "3K–AL" + OWN, "3–AL"), rngs[0:2]),
        ("quadruplets", sample_quadruplets, ("4–AL", "4K–AL", "4K–AL" + OWN), rngs[2:4]),
    ):
        answers, methods = sample(w, m, draw).flip(epsilon, flip), given_methods(kind)
        found += [(name, methods[name](answers), m) for name in names]
    asking = {
        **asking_methods,
        "SL": lambda n, m, rng: single_linkage(n, rng),
        "CL": lambda n, m, rng: complete_linkage(n, rng),
    }
    for (name, method), flip, own in zip(asking.items(), rngs[4::2], rngs[5::2]):
        oracle = Counting(Noisy(SimilarityOracle(w), 1 - epsilon, flip))
        tree = run(method(n, m, own), oracle)
        found.append((name, tree, oracle.n_queries))
    return [
        dict(
            method=name,
            aari=average_ari(planted.levels, tree),
            excess=excess_cost(planted, tree),
            comparisons=asked / n**2,
        )
        for name, tree, asked in found
    ]


def one_row_per_run(table):
    "Runs side by side, one row per measure."
    if "known" in table:
        table = table.assign(method=table["method"] + " (" + table["known"] + ")")
    own = [name for name in ("factor", "epsilon", "n_pure", "repetition") if name in table]
    measures = [name for name in ("aari", "lowest", "excess", "comparisons") if name in table]
    tall = table.melt([*own, "method"], measures, "measure")
    wide = tall.pivot(index=[*own, "measure"], columns="method", values="value")[list(dict.fromkeys(table["method"]))]
    return wide.reset_index().rename_axis(columns=None)


def measured(kept, measure):
    "One measure of all runs."
    x = "factor" if "factor" in kept else "epsilon"
    return kept[kept["measure"] == measure].drop(columns=["measure", "n_pure"]).set_index([x, "repetition"])


def differences(kept, one, other, measure="aari"):
    "The difference of two methods, run by run."
    table = measured(kept, measure)
    by = (table[one] - table[other]).groupby(level=0)
    return by.agg(mean="mean", error=lambda d: d.std() / np.sqrt(len(d)))
