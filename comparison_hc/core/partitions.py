"Partitions of the objects, as labels and as clusters, and how near the clusters of two trees are."

from numbers import Integral

import numpy as np

from .compat import bincount
from .validation import as_list, check_labels, require


def check_partition(initial, n_objects):
    "Initial clusters as tuples of objects; given as labels, in the order of the labels."
    if initial is None:
        return tuple((i,) for i in range(n_objects))
    rule = f"a partition of the objects 0 to {n_objects - 1} into non-empty lists, or one label per object"
    sequence = np.iterable(initial) and not isinstance(initial, (str, bytes, dict, set))
    require(sequence and np.ndim(getattr(initial, "columns", 0)) == 0, "initial", rule, initial)
    require(not np.ma.is_masked(initial), "initial", f"{rule}, none of them masked", initial)
    clusters = as_list(initial, "initial", rule)
    are_lists = [np.iterable(cluster) and not isinstance(cluster, (str, bytes)) for cluster in clusters]
    if not any(are_lists):
        labels = check_labels(clusters, n_objects, "initial")
        ends = np.cumsum(bincount(labels))[:-1]
        return tuple(map(tuple, np.split(np.argsort(labels, kind="stable"), ends)))
    require(all(are_lists), "initial", rule, initial)
    clusters = [tuple(cluster) for cluster in clusters]
    members = [i for cluster in clusters for i in cluster]
    numbers = all(isinstance(i, Integral) and not isinstance(i, bool) for i in members)
    whole = numbers and all(map(len, clusters)) and sorted(members) == list(range(n_objects))
    require(whole, "initial", rule, initial)
    return tuple(tuple(map(int, cluster)) for cluster in clusters)


def labels_from_clusters(clusters):
    "Number of the cluster of every object."
    labels = np.empty(sum(map(len, clusters)), dtype=np.int64)
    for number, cluster in enumerate(clusters):
        labels[list(cluster)] = number
    return labels


def cluster_nearness(dendrogram, tree):
    "(3, K − 1) for each cluster: whether a tree has it, its transfer similarity, and its Jaccard similarity."
    K, n_merges = dendrogram.n_leaves, dendrogram.n_leaves - 1
    position = np.argsort(dendrogram.leaf_order())
    start = dendrogram.starts[K:, None]
    member = (start <= position) & (position < start + dendrogram.sizes[K:, None])  # (K − 1, N)
    shared = np.empty((2 * K - 1, n_merges), dtype=np.int32)
    for leaf, objects in enumerate(tree.initial_clusters):
        shared[leaf] = member[:, list(objects)].sum(axis=1)
    for node, (left, right) in enumerate(tree.children.tolist(), K):
        np.add(shared[left], shared[right], out=shared[node])
    sizes = dendrogram.sizes[K:]
    total = tree.sizes[:, None] + sizes
    distance = (total - 2 * shared).min(axis=0)
    similarity = (shared / (total - shared)).max(axis=0)
    trivial = np.concatenate(
        [total - 2 * shared for total, shared in ((total[:K], shared[:K]), (total[-1:], shared[-1:]))]
    )
    nearest = trivial.min(axis=0)
    transfer = np.where(nearest > 0, 1 - distance / np.maximum(nearest, 1), 1.0)
    return np.stack([distance == 0, transfer, similarity])
