"""Similarities of three data sets, trees with and without an embedding, and cars without similarities."""

import warnings
from functools import cache

import numpy as np

from comparison_hc.core.validation import NotConvergedWarning, as_rng, check_labels

from ..datasets import load_dataset
from ..dendrogram import random_tree
from ..evaluation.embedding import cosine_similarity, embedding_average_linkage, forte, t_ste
from ..hierarchical.average import quadruplet_average_linkage
from ..hierarchical.kernel import kernel_average_linkage
from ..metrics import adjusted_rand_index, dasgupta_cost, triplet_agreement
from ..oracles import sample_quadruplets, sample_triplets
from .f19 import both_kernels
from .readings import mean_table


OURS = ("4K–AL", "4K–AL, self-pairs", "4–AL")
EMBEDDED = ("t-STE–AL", "FORTE–AL")
REFERENCES = ("AL, similarities known", "random tree")


@cache
def dataset_similarity(name):
    "The similarities of F19, appendix B.2. Raises `DatasetNotFoundError` where the data is not available."
    features = load_dataset(name).features
    w = cosine_similarity(_sampled_articles(features) if name == "newsgroups" else features)
    w.setflags(write=False)
    return w


def _sampled_articles(counts, n_articles=200, n_components=100, rng=0):
    "(200, 100): PCA of all articles' word counts, then some of the articles."
    from sklearn.decomposition import PCA

    points = PCA(n_components, svd_solver="arpack", random_state=0).fit_transform(counts.astype(float))
    return points[np.sort(as_rng(rng).choice(len(points), n_articles, replace=False))]


def _direct_trees(answers):
    "{method: `Dendrogram`} of the methods without an embedding."
    trees = {name: kernel_average_linkage(K, names=answers.names) for name, K in both_kernels(answers).items()}
    return trees | {"4–AL": quadruplet_average_linkage(answers)}


def both_embeddings(triplets, dimension, for_t_ste, for_forte):
    "Both ways to embed. What did not converge says so in its field, and does not warn."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return {
            "t-STE–AL": t_ste(triplets, dimension, rng=for_t_ste),
            "FORTE–AL": forte(triplets, dimension, rng=for_forte),
        }


def _embedded_trees(triplets, dimension, for_t_ste, for_forte):
    "({method: `Dendrogram`}, {method: whether its embedding converged})."
    embeddings = both_embeddings(triplets, dimension, for_t_ste, for_forte)
    trees = {name: embedding_average_linkage(embedding) for name, embedding in embeddings.items()}
    return trees, {name: embedding.converged for name, embedding in embeddings.items()}


def dataset_run(dataset, p, repetition, dimension, rng):
    "One point of F19's figures 3 and S.2 to S.4, once."
    w = dataset_similarity(dataset)
    for_quadruplets, for_tree, for_triplets, for_t_ste, for_forte = as_rng(rng).spawn(5)
    if dimension == 0:
        answers, converged = sample_quadruplets(w, p, for_quadruplets), {}
        rulers = zip(REFERENCES, (kernel_average_linkage(w), random_tree(len(w), for_tree)))
        trees = _direct_trees(answers) | dict(rulers)
    else:
        answers = sample_triplets(w, p, for_triplets)
        trees, converged = _embedded_trees(answers, dimension, for_t_ste, for_forte)
    return [
        {
            "method": name,
            "comparisons": len(answers),
            "cost": dasgupta_cost(tree, w),
            "converged": converged.get(name, True),
        }
        for name, tree in trees.items()
    ]


def data_summary(table):
    """Mean and standard deviation (division by the number of runs) of the cost, and its place between the two rulers:
    0 is average linkage on the similarities, 1 a random tree.
    """
    summary = mean_table(table, ["dataset", "dimension", "p", "method"], "cost", ["comparisons", "converged"])
    known, random = (summary[summary["method"] == name].groupby("dataset")["cost"].mean() for name in REFERENCES)
    excess = (summary["cost"] - summary["dataset"].map(known)) / summary["dataset"].map(random - known)
    return summary.assign(excess=excess)


def purity(labels, clusters):
    "Share of the objects that belong to the most frequent class of their cluster."
    classes = check_labels(labels)
    clusters = check_labels(clusters, len(classes), "clusters")
    counts = np.zeros((clusters.max() + 1, classes.max() + 1), dtype=np.int64)
    np.add.at(counts, (clusters, classes), 1)
    return float(counts.max(axis=1).sum() / len(classes))


def car_trees(dimension, rng):
    "The trees of F19's Car experiment (appendix B.3). Raises `DatasetNotFoundError`."
    triplets = load_dataset("car").triplets
    if dimension:
        return _embedded_trees(triplets, dimension, *as_rng(rng).spawn(2))
    trees = _direct_trees(triplets.to_quadruplets()) | {"random tree": random_tree(triplets.n_objects, rng)}
    return trees, dict.fromkeys(trees, True)


def car_run(dimension, repetition, rng):
    "The trees of one dimension, measured against the collectors' classes and against the answers."
    car, (trees, converged) = load_dataset("car"), car_trees(dimension, rng)
    cuts = {name: [tree.cut(k) for k in range(2, 13)] for name, tree in trees.items()}
    return [
        {
            "method": name,
            "comparisons": len(car.triplets),
            "purity": purity(car.labels, tree.cut(8)),
            "ari": max(adjusted_rand_index(car.labels, cut) for cut in cuts[name]),
            "agreement": triplet_agreement(tree, car.triplets),
            "converged": converged[name],
        }
        for name, tree in trees.items()
    ]


def car_summary(table):
    "Means over the random starts, and the standard deviation of the ARI."
    return table.groupby(["method", "dimension"], sort=False, as_index=False).agg(
        comparisons=("comparisons", "max"),
        purity=("purity", "mean"),
        ari=("ari", "mean"),
        ari_sd=("ari", lambda v: v.std(ddof=0)),
        agreement=("agreement", "mean"),
        converged=("converged", "mean"),
        repetitions=("ari", "size"),
    )
