"""Eight methods on one planted instance, at the price of one sample, and what is kept."""

import numpy as np

from ..comparisons import n_quadruplet_questions, pair_from_index
from ..core.compat import bincount
from ..core.kernels import quadruplet_kernel
from ..core.validation import as_rng
from ..hierarchical.kernel import kernel_average_linkage
from ..hierarchical.planted import planted_hierarchy
from ..metrics import average_ari
from ..oracles import sample_quadruplets
from .readings import mean_table
from .simulation import GROUP_SIZES, MU, SIGMA, active_tree, passive_tree, pure_groups

ACTIVE = ("SL", "CL", "4K–AL–act")
planted_methods = ("SL", "CL", "4K–AL", "4K–AL, self-pairs", "4K–AL–act", "4–AL", "4–AL–I3", "4–AL–I5")
SHAPES = (
    "cross",
    "square",
    "circle",
    "triangle-left",
    "diamond",
    "triangle-up",
    "triangle-down",
    "triangle-right",
)  # of their marks
DASHED = ("CL", "4K–AL, self-pairs", "4–AL–I3")


def both_kernels(answers):
    "`kernel_passive` without and with self-pairs, for the price of one."
    K, adds = quadruplet_kernel(answers), np.zeros((answers.n_objects,) * 2, dtype=np.int64)
    pairs = pair_from_index(np.arange(len(K) * (len(K) - 1) // 2))
    winners, losers = answers.winners_and_losers()
    adds[pairs] = bincount(winners, minlength=len(pairs[0])) - bincount(losers, minlength=len(pairs[0]))
    return {"4K–AL": K, "4K–AL, self-pairs": K + 2 * (adds + adds.T)}


def _passive_trees(similarity, p, groups, rng):
    "What the passive methods make of one sample."
    answers = None if p == 1 else sample_quadruplets(similarity, p, rng)
    made = {name: passive_tree(name, similarity, answers, groups.get(size)) for name, size in GROUP_SIZES.items()}
    if p == 1:
        kernels = {name: passive_tree(name, similarity, None) for name in ("4K–AL", "4K–AL, self-pairs")}
        return made | kernels, n_quadruplet_questions(len(similarity))
    return made | {name: kernel_average_linkage(K) for name, K in both_kernels(answers).items()}, len(answers)


def planted_run(delta, p, n_pure, repetition, rng):
    "All methods on one instance of the planted model with μ = 0.8, σ = 0.1, L = 3 (F19, figures 2 and S.1)."
    for_model, for_sample, for_threes, for_fives, *for_active = as_rng(rng).spawn(7)
    planted = planted_hierarchy(n_pure, 3, mu=MU, delta=delta, sigma=SIGMA, rng=for_model)
    groups = {3: pure_groups(planted.labels, 3, for_threes), 5: pure_groups(planted.labels, 5, for_fives)}
    trees, n_answers = _passive_trees(planted.similarity, p, groups, for_sample)
    found = {name: (tree, n_answers) for name, tree in trees.items()}
    for name, own in zip(ACTIVE, for_active):
        found[name] = active_tree(name, planted.similarity, n_answers, own)
    rows = []
    for name in planted_methods:
        tree, comparisons = found[name]
        rows.append({"method": name, "comparisons": comparisons, "aari": average_ari(planted.levels, tree)})
    return rows


def planted_summary(table):
    "Mean and standard deviation (division by the number of runs) of AARI over the repetitions."
    from pandas import Categorical

    table = table.assign(method=Categorical(table["method"], planted_methods), exact=table["aari"] > 1 - 1e-9)
    keys = ["n_pure", "p", "delta", "method"]
    summary = mean_table(table.sort_values(keys, kind="stable"), keys, "aari", ["exact", "comparisons"])
    return summary.assign(method=summary["method"].astype(object), snr=(summary["delta"] / 0.1).round(6))
