"""The four models that sweeps, dashboards and reproductions simulate: what there is to choose, and one run of each."""

import warnings

import numpy as np

from ..adaptive.bayesian import bayesian_insertion_clustering
from ..adaptive.insertion import insertion_clustering
from ..adaptive.multifurcating import Hierarchy
from ..adaptive.noisy import robust_insertion_clustering
from ..adaptive.quick import quick_clustering
from ..adaptive.trees import random_hierarchy
from ..comparisons import n_quadruplet_questions, n_triplet_questions
from ..core.validation import NotConvergedWarning, as_rng, check_integer, check_labels
from ..flat import sdp
from ..flat.planted import gaussians, n_comparisons, planted_partition, sample_comparisons, uniform_beta, uniform_normal
from ..flat.similarity import adds3, adds4, mulk3, mulk4
from ..flat.spur_search import round_solution, spur
from ..hierarchical.kernel import kernel_active, kernel_average_linkage, kernel_passive_ranked
from ..hierarchical.linkage import complete_linkage, single_linkage
from ..hierarchical.planted import planted_hierarchy
from ..link.merge import alpha_linkage
from ..methods import build_from_similarity, build_hierarchy, methods
from ..metrics import adjusted_rand_index, average_ari, pruning_loss
from ..oracles import Counting, HierarchyOracle, Noisy, SimilarityOracle, run, sample_quadruplets, sample_triplets
from .l20_tasks import linkage_task

# ---- a planted hierarchy (F19)

MU, SIGMA = 0.8, 0.1  # F19, section 4.1
GROUP_SIZES = {"4–AL": None, "4–AL–I3": 3, "4–AL–I5": 5}  # of initial clusters


def pure_groups(labels, size, rng):
    """Every pure cluster split uniformly at random into groups of `size` objects; what is left over makes one smaller
    group (F19, section 4.1).
    """
    labels = check_labels(labels)
    size = check_integer(size, "size")
    rng, groups = as_rng(rng), []
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label)).tolist()
        groups += [members[start : start + size] for start in range(0, len(members), size)]
    return groups


def passive_tree(method, similarity, answers, groups=None, progress=None):
    "What a method of figure 2 makes of answers, or, where `answers` is None, of all that the similarities give."
    name, own = ("4-al", None) if method in GROUP_SIZES else ("4k-al", method == "4K–AL, self-pairs")
    if answers is None:
        return build_from_similarity(name, similarity, groups, own, progress=progress)[0]
    return build_hierarchy(name, answers, groups, own, progress=progress)[0]


def active_tree(method, similarity, budget, rng, progress=None):
    "(tree, comparisons) of a method of figure 2 that asks; only 4K–AL–act asks as many as the budget allows."
    n = len(similarity)
    if method == "4K–AL–act" and budget == n_quadruplet_questions(n):
        return kernel_average_linkage(kernel_passive_ranked(similarity)), budget  # it asks everything
    oracle = Counting(SimilarityOracle(similarity))
    if method == "4K–AL–act":
        kernel = run(kernel_active(n, rng=rng, n_comparisons=budget), oracle, progress=progress)
        return kernel_average_linkage(kernel), oracle.n_queries
    linkage = {"SL": single_linkage, "CL": complete_linkage}[method]
    return run(linkage(n, rng), oracle, progress=progress), oracle.n_queries


def planted_whatif(delta_over_sigma, n_pure, n_levels, accuracy, p, answers, method, repetition, rng):
    "One tree on one draw of the planted hierarchy."
    for_model, for_sample, for_noise, for_method = as_rng(rng).spawn(4)
    planted = planted_hierarchy(n_pure, n_levels, MU, delta_over_sigma * SIGMA, SIGMA, for_model)
    w, how_much = planted.similarity, answers if p is None else p
    m = methods[method]
    if m.passive and accuracy == 1 and how_much == 1.0 and p is not None:
        tree = build_from_similarity(method, w)[0]
        n_answers = (n_triplet_questions if m.takes == "triplets" else n_quadruplet_questions)(len(w))
    elif m.passive:
        sample = sample_triplets if m.takes == "triplets" else sample_quadruplets
        said = sample(w, how_much, for_sample).flip(1 - accuracy, for_noise)
        tree, n_answers = build_hierarchy(method, said)[0], len(said)
    else:
        oracle = SimilarityOracle(w)
        oracle = oracle if accuracy == 1 else Noisy(oracle, accuracy, for_noise)
        budget = round(p * n_quadruplet_questions(len(w))) if answers is None else answers
        tree, n_answers = build_hierarchy(method, oracle, n_comparisons=budget if m.budget else None, rng=for_method)
    return {"n": len(w), "n_answers": n_answers, "aari": average_ari(planted.levels, tree)}


# ---- a planted partition (N20)

TOL, MAX_ITER = 1e-2, 300  # of every SDP: relative duality gap, and iterations before it gives up


def published_uniform_normal(delta):
    "N((1+δ)/2, 1) over uniform on [0, 1], as N20's published code has it. Its true δ is much smaller."
    from scipy.stats import norm, uniform

    return norm((1 + delta) / 2, 1), uniform(0, 1)


FAMILIES = {
    "normal": gaussians,
    "uniform + beta": uniform_beta,
    "uniform + normal": uniform_normal,
    "uniform + normal, as published": published_uniform_normal,
}
SIMILARITIES = {  # what it is made of, the function, and whether it is normalised
    "AddS-3": ("triplets", adds3, False),
    "AddS-4": ("quadruplets", adds4, False),
    "MulK-3": ("triplets", mulk3, True),
    "MulK-4": ("quadruplets", mulk4, True),
}


def equal_sizes(n, k):
    "Sizes that are equal up to one."
    return [n // k + (cluster < n % k) for cluster in range(k)]


def watched(call):
    "(what call() returns, whether every iteration in it converged). Other warnings pass."
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = call()
    lost = [w for w in seen if issubclass(w.category, NotConvergedWarning)]
    for w in seen:
        if w not in lost:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    return result, not lost


def spur_watched(S, n_comparisons, rng, normalised=False):
    "(`SpurResult`, whether all its SDPs converged)."
    options = dict(normalised=normalised, tol=TOL, max_iter=MAX_ITER, rng=rng)
    return watched(lambda: spur(S, n_comparisons, **options))


def sdp_labels(S, k, rng):
    "(labels from SDP-k, whether it converged)."
    solution, converged = watched(lambda: sdp.sdp_k(S, k, TOL, MAX_ITER, rng))
    return (round_solution(solution.X, k, rng=rng) if solution.labels is None else solution.labels), converged


def flat_whatif(n, k, delta, epsilon, family, a, answers, n_clusters, method, repetition, rng):
    "One partition from one draw of the planted partition."
    for_model, for_sample, for_method = as_rng(rng).spawn(3)
    kind, similarity, normalised = {name.lower(): each for name, each in SIMILARITIES.items()}[method]
    planted = planted_partition(equal_sizes(n, k), *FAMILIES[family](delta), for_model)
    m = n_comparisons(n, a) if answers is None else answers
    S = similarity(sample_comparisons(planted, kind, m, epsilon, for_sample), n)
    if n_clusters == "spur":
        found, converged = spur_watched(S, m, for_method, normalised)
        labels = found.labels
    else:
        labels, converged = sdp_labels(S, n_clusters, for_method)
    ari = adjusted_rand_index(planted.labels, labels)
    return {"n_answers": m, "ari": ari, "k_found": len(set(labels.tolist())), "converged": converged}


# ---- a hidden tree, and questions (A18)

ASKING = {
    "insertion": lambda n, accuracy, failure, rng: insertion_clustering(n),
    "quick": lambda n, accuracy, failure, rng: quick_clustering(n, rng),
    "bayesian": lambda n, accuracy, failure, rng: bayesian_insertion_clustering(n, accuracy, failure, rng),
    "robust": lambda n, accuracy, failure, rng: robust_insertion_clustering(n, accuracy, failure, rng),
}


def inner_clusters(tree):
    "The clusters of a tree that another tree could lack: neither single objects nor all of them."
    return {each for each in Hierarchy.from_dendrogram(tree).clusters() if 1 < len(each) < tree.n_objects}


def adaptive_whatif(n, shape, accuracy, failure, method, repetition, rng):
    "One tree from questions chosen one after the other."
    for_model, for_noise, for_method = as_rng(rng).spawn(3)
    hidden = random_hierarchy(n, shape, for_model)
    oracle = HierarchyOracle(hidden)
    oracle = Counting(oracle if accuracy == 1 else Noisy(oracle, accuracy, for_noise))
    found = inner_clusters(run(ASKING[method](n, accuracy, failure, for_method), oracle))
    truth = inner_clusters(hidden)
    share = len(truth & found) / len(truth)
    return {"questions": oracle.n_queries, "right": int(share == 1), "clusters_found": share}


# ---- tasks with known classes (L20)

MIXES = {"single–complete": ("single", "complete"), "average–complete": ("average", "complete")}


def link_whatif(dataset, per_class, alpha, method, repetition, rng):
    "The loss of one linkage on one random task."
    distances, labels = linkage_task(dataset, per_class, rng)
    D = next(iter(distances.values()))
    merges = MIXES[method.replace("-", "–")]
    return {"n": len(labels), "loss": pruning_loss(alpha_linkage(D, alpha, merges), labels)}
