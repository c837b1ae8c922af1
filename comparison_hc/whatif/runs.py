"""Planted hierarchies, planted partitions, ordinal queries and learned linkage, as four functions of plain values."""

import numpy as np

from ..adaptive.bayesian import bayesian_insertion_clustering
from ..adaptive.insertion import insertion_clustering
from ..adaptive.multifurcating import Hierarchy
from ..adaptive.noisy import robust_insertion_clustering
from ..adaptive.quick import quick_clustering
from ..adaptive.trees import random_hierarchy
from ..comparisons import n_quadruplet_questions, n_triplet_questions
from ..core.validation import NotConvergedWarning, as_rng
from ..flat import sdp
from ..flat.planted import n_comparisons, planted_partition, sample_comparisons
from ..flat.spur_search import round_solution
from ..flat.similarity import adds3, adds4, mulk3, mulk4
from ..flat.spur_search import spur
from ..hierarchical.planted import planted_hierarchy
from ..link.merge import alpha_linkage
from ..methods import build_from_similarity, build_hierarchy, methods
from ..metrics import adjusted_rand_index, average_ari, pruning_loss
from comparison_hc.oracles import (
    Counting,
    HierarchyOracle,
    Noisy,
    SimilarityOracle,
    run,
    sample_quadruplets,
    sample_triplets,
)
from ..reproduce.l20_tasks import linkage_task
from ..reproduce.n20 import FAMILIES, MAX_ITER, TOL

MU, SIGMA = 0.8, 0.1  # as in F19, section 4.1


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


SIMILARITIES = {
    "adds-3": ("triplets", adds3, False),
    "adds-4": ("quadruplets", adds4, False),
    "mulk-3": ("triplets", mulk3, True),
    "mulk-4": ("quadruplets", mulk4, True),
}


def _quiet(f, *args, **options):
    "(what f returns, whether its iterations converged)."
    import warnings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = f(*args, **options)
    return found, not any(issubclass(each.category, NotConvergedWarning) for each in said)


def flat_whatif(n, k, delta, epsilon, family, a, answers, n_clusters, method, repetition, rng):
    "One partition from one draw of the planted partition."
    for_model, for_sample, for_method = as_rng(rng).spawn(3)
    kind, similarity, normalised = SIMILARITIES[method]
    sizes = [len(part) for part in np.array_split(range(n), k)]
    planted = planted_partition(sizes, *FAMILIES[family](delta), for_model)
    m = n_comparisons(n, a) if answers is None else answers
    S = similarity(sample_comparisons(planted, kind, m, epsilon, for_sample), n)
    options = dict(tol=TOL, max_iter=MAX_ITER, rng=for_method)
    if n_clusters == "spur":
        found, converged = _quiet(spur, S, m, normalised=normalised, **options)
        labels = found.labels
    else:
        found, converged = _quiet(sdp.sdp_k, S, n_clusters, **options)
        labels = round_solution(found.X, n_clusters, rng=for_method) if found.labels is None else found.labels
    ari = adjusted_rand_index(planted.labels, labels)
    return {"n_answers": m, "ari": ari, "k_found": len(set(labels.tolist())), "converged": converged}


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


LINKAGES = {"single-complete": ("single", "complete"), "average-complete": ("average", "complete")}


def link_whatif(dataset, per_class, alpha, method, repetition, rng):
    "The loss of one linkage on one random task."
    distances, labels = linkage_task(dataset, per_class, rng)
    D = next(iter(distances.values()))
    return {"n": len(labels), "loss": pruning_loss(alpha_linkage(D, alpha, LINKAGES[method]), labels)}
