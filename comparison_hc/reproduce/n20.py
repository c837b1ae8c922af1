"""One planted run, one run on digits, one on cars and one on food, and what is kept of them."""

from functools import cache

import numpy as np

from ..comparisons import n_quadruplet_questions, n_triplet_questions
from ..core.validation import as_rng
from ..datasets import load_dataset
from ..evaluation.embedding import t_ste
from ..flat.planted import n_comparisons, planted_partition, sample_comparisons
from ..flat.similarity import adds3, mulk3
from ..metrics import adjusted_rand_index
from .readings import mean_table
from .simulation import FAMILIES, SIMILARITIES, equal_sizes, sdp_labels, spur_watched, watched

_KINDS = {"triplets": (n_triplet_questions, 3), "quadruplets": (n_quadruplet_questions, 4)}


def how_many(n, a, exist):
    "n(ln n)^a but not more than exist, and whether that was a cut."
    wanted = n_comparisons(n, a)
    return min(wanted, exist), wanted > exist


def planted_partition_run(kind, family, delta, epsilon, a, n, k, repetition, rng):
    "One point of N20's figure 1, once."
    for_model, *others = as_rng(rng).spawn(4)
    planted = planted_partition(equal_sizes(n, k), *FAMILIES[family](delta), for_model)
    return planted_methods(planted, kind, epsilon, a, *others)


def planted_methods(planted, kind, epsilon, a, for_sample, for_spur, for_mulk):
    "What AddS with SPUR, and MulK with SDP-k for SPUR's k, make of a sample of answers."
    exist, order = _KINDS[kind]
    add, mul = (SIMILARITIES[f"{name}-{order}"][1] for name in ("AddS", "MulK"))
    n = len(planted.labels)
    m, exhausted = how_many(n, a, exist(n))
    answers = sample_comparisons(planted, kind, m, epsilon, for_sample)
    found, found_converged = spur_watched(add(answers, n), len(answers), for_spur)
    labels, labels_converged = sdp_labels(mul(answers, n), found.n_clusters, for_mulk)
    common = dict(comparisons=len(answers), exhausted=exhausted, true_delta=planted.delta, n_clusters=found.n_clusters)
    return [
        {
            "method": f"{method}-{order}",
            **common,
            "ari": adjusted_rand_index(planted.labels, clusters),
            "converged": converged,
        }
        for method, clusters, converged in (("AddS", found.labels, found_converged), ("MulK", labels, labels_converged))
    ]


_DIGITS = {"1 vs. 7": (1, 7), "10 digits": tuple(range(10))}
MNIST_METHODS = ("k-means", "t-STE", "MulK-3", "AddS-3, k known", "AddS-3, SPUR")


@cache
def mnist_plane(dataset):
    "The t-SNE embedding of N20's figures 2a and 2b. Raises `DatasetNotFoundError` where the data is not available."
    mnist = load_dataset("mnist-tsne")
    low, high = mnist.features.min(axis=0), mnist.features.max(axis=0)
    kept = np.isin(mnist.labels, _DIGITS[dataset])
    points = (2 * (mnist.features - low) / (high - low) - 1)[kept]
    digits = mnist.labels[kept]
    for array in (points, digits):
        array.setflags(write=False)
    return points, digits


def gaussian_similarity(points):
    "exp(−‖x − y‖²); any other width gives the same comparisons."
    from scipy.spatial.distance import cdist

    return np.exp(-cdist(points, points, "sqeuclidean"))


def _k_means(points, k, rng):
    "(N,) labels."
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=int(rng.integers(2**31))).fit_predict(points)


def mnist_run(dataset, n, a, repetition, rng):
    "One point of N20's figure 2a or 2b, once."
    points, digits = mnist_plane(dataset)
    k = len(_DIGITS[dataset])
    for_choice, for_sample, for_spur, *others = as_rng(rng).spawn(8)
    chosen = np.sort(for_choice.choice(len(points), n, replace=False))
    points, digits = points[chosen], digits[chosen]
    m, exhausted = how_many(n, a, n_triplet_questions(n))
    triplets = sample_comparisons(gaussian_similarity(points), "triplets", m, 1.0, for_sample)
    S = adds3(triplets, n)
    found, converged = spur_watched(S, len(triplets), for_spur)
    embedding, embedded = watched(lambda: t_ste(triplets, 2, n_starts=1, max_iter=300, rng=others[0], n_objects=n))
    results = {
        "k-means": (_k_means(points, k, others[1]), True),
        "t-STE": (_k_means(embedding.points, k, others[2]), embedded),
        "MulK-3": sdp_labels(mulk3(triplets, n), k, others[3]),
        "AddS-3, k known": sdp_labels(S, k, others[4]),
        "AddS-3, SPUR": (found.labels, converged),
    }
    return [
        {
            "method": name,
            "comparisons": len(triplets),
            "exhausted": exhausted,
            "n_clusters": found.n_clusters if name == "AddS-3, SPUR" else k,
            "ari": adjusted_rand_index(digits, labels),
            "converged": ok,
        }
        for name, (labels, ok) in results.items()
    ]


OUTLIERS = ("in", "not judged", "left out")


def answer_partitions(triplets, n_objects, numbers=None, rng=0):
    "What N20's methods and t-STE with k-means make of people's answers."
    for_spur, for_t_ste, *others = as_rng(rng).spawn(5)
    S, M = adds3(triplets, n_objects), mulk3(triplets, n_objects)
    found, converged = spur_watched(S, len(triplets), for_spur)
    embedding, embedded = watched(lambda: t_ste(triplets, 2, rng=for_t_ste, n_objects=n_objects))
    results = {"AddS-3, SPUR": (found.labels, converged)}
    for k in (found.n_clusters,) if numbers is None else numbers:
        results |= {
            f"AddS-3, k = {k}": sdp_labels(S, k, others[0]),
            f"MulK-3, k = {k}": sdp_labels(M, k, others[1]),
            f"t-STE, k = {k}": (_k_means(embedding.points, k, others[2]), embedded),
        }
    return results


def _agreements(results, judged, comparisons):
    "A row for every ordered pair of partitions, measured on the judged objects."
    return [
        {
            "one": one,
            "other": other,
            "ari": adjusted_rand_index(a[judged], b[judged]),
            "n_clusters": len(set(a)),
            "comparisons": comparisons,
            "converged": ok,
        }
        for one, (a, ok) in results.items()
        for other, (b, _) in results.items()
    ]


def car_partitions_run(outliers, repetition, rng):
    "N20's figure 2c, once: the methods against each other and the classes. Raises `DatasetNotFoundError`."
    car = load_dataset("car")
    rows, classes = car.triplets.array, car.labels
    ordinary = car.labels != car.label_names.index("outlier")
    if outliers == "left out":
        rows = (np.cumsum(ordinary) - 1)[rows[ordinary[rows].all(axis=1)]]
        classes = classes[ordinary]
    judged = ordinary if outliers == "not judged" else np.ones(len(classes), dtype=bool)
    partitions = {"classes": (classes, True), **answer_partitions(rows, len(classes), (2, 3), rng)}
    return _agreements(partitions, judged, len(rows))


def food_answers(answers="unique"):
    "The triplets about a hundred dishes. Raises `DatasetNotFoundError`."
    rows = load_dataset("food").triplets.array
    return np.unique(rows, axis=0) if answers == "unique" else rows


def food_run(answers, repetition, rng):
    "N20's Food experiment, once: agreement of the methods with each other."
    rows = food_answers(answers)
    return _agreements(answer_partitions(rows, 100, None, rng), np.ones(100, dtype=bool), len(rows))


def food_partition(rng=0):
    "The dishes by the cluster that AddS-3 with SPUR puts them in, from the unique answers."
    from pandas import DataFrame

    rows = food_answers()
    found, _ = spur_watched(adds3(rows, 100), len(rows), as_rng(rng))
    dishes = DataFrame({"dish": load_dataset("food").objects, "cluster": found.labels + 1})
    return dishes.sort_values(["cluster", "dish"], ignore_index=True)


def ari_summary(table):
    """Mean and standard deviation (division by the number of runs) of the ARI, mean k̂, shares of exact and of
    converged runs.
    """
    names = ("kind", "family", "dataset", "delta", "sigma", "epsilon", "n", "k", "a")
    point = [name for name in names if name in table]
    more = {"true_delta": ("true_delta", "mean")} if "true_delta" in table else {}
    more |= dict(exhausted=("exhausted", "max"), converged=("converged", "mean"))
    table = table.assign(exact=table["ari"] > 1 - 1e-9)
    return mean_table(table, [*point, "method"], "ari", ["exact", "n_clusters", "comparisons"], **more)


def agreement_summary(table):
    """Mean and standard deviation of the ARI of every pair; mean number of clusters and share of converged runs of
    the first.
    """
    variant = "outliers" if "outliers" in table else "answers"
    more = dict(comparisons=("comparisons", "max"), converged=("converged", "mean"))
    return mean_table(table, [variant, "one", "other"], "ari", ["n_clusters"], **more)
