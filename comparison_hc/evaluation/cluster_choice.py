"""Flat clusters by evidence: cuts of a tree that the answers support, a choice among methods, and how many clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparisons import Quadruplets, Triplets, as_comparisons
from ..core._rows import four_columns, relabel_by_size
from ..core.compat import bincount
from ..core.parallel import limited_threads, on_one_thread
from ..core.validation import as_rng, check_integer, check_labels, check_progress, require
from ..dendrogram import Dendrogram, check_dendrogram
from ..core.weights import each_weight
from ..metrics import adjusted_rand_index
from . import _candidates
from ._candidates import as_builder, candidate, fit
from ._report_figures import win_counts
from ._splits import object_groups, plan_splits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

__all__ = ["ClusterChoice", "choose_clusters", "evidence_cut", "partition_evidence", "unplaced_objects"]

TREES = {"triplets": ("3k-al", "4k-al", "3-al refined"), "quadruplets": ("4k-al", "4-al refined")}
TREES_OF_MANY = {"triplets": ("3k-al", "3-al"), "quadruplets": ("4-al",)}  # above `MANY_OBJECTS`
BLOCK_SHARE = 0.75  # of the evidence: how well similarities between clusters predict; the rest: together or apart
RIDGE = 0.1  # precision of the prior of the similarities
MOST_EMBEDDED = 300_000  # answers; with more, no points are fitted
MOST_SCORED = 100_000  # answers; of more, a random sample gives the evidence
N_SPLITS = 2
LARGE_SHARE = 0.8  # of all objects, in one cluster: as degenerate as a cluster of one object


# ---- evidence of a partition


def pair_columns(comparisons):
    "The closer pair and the farther pair of every comparison: four arrays of objects."
    return four_columns(comparisons.array.astype(np.intp, copy=False))


def decided(comparisons, labels):
    "Whether each comparison agrees with a partition: the closer pair together and the other apart; the reverse."
    i, j, k, l = pair_columns(comparisons)
    near, far = labels[i] == labels[j], labels[k] == labels[l]
    return near & ~far, far & ~near


def together_rate(comparisons, labels):
    "Share of the decided comparisons that a partition gets right, shrunk towards 1/2; at least 1/2."
    right, wrong = (each_weight(comparisons)[rows].sum() for rows in decided(comparisons, labels))
    return max((right + 1) / (right + wrong + 2), 0.5)


def together_bits(comparisons, labels, p):
    "Bits per comparison that a partition explains, when those that it decides are right with probability p."
    weights = each_weight(comparisons)
    right, wrong = (weights[rows].sum() for rows in decided(comparisons, labels))
    return (right * np.log2(2 * p) + wrong * np.log2(2 * (1 - p))) / weights.sum()


def block_design(comparisons, labels):
    "Sparse (m, parameters) design of the block model: a similarity for every pair of clusters, one for every object."
    from scipy.sparse import csr_matrix

    k_clusters, N = int(labels.max()) + 1, comparisons.n_objects
    number = np.zeros((k_clusters, k_clusters), dtype=np.intp)
    rows, columns = np.triu_indices(k_clusters)
    number[rows, columns] = number[columns, rows] = np.arange(len(rows))
    i, j, k, l = pair_columns(comparisons)
    n_blocks, m = len(rows), len(comparisons)
    places = [number[labels[i], labels[j]], i + n_blocks, j + n_blocks]
    places += [number[labels[k], labels[l]], k + n_blocks, l + n_blocks]
    values = np.tile([1.0, 1.0, 1.0, -1.0, -1.0, -1.0], m)
    index = np.stack(places, axis=1).ravel()
    design = csr_matrix((values, index, 6 * np.arange(m + 1, dtype=np.int64)), shape=(m, n_blocks + N))
    design.sum_duplicates()
    design.eliminate_zeros()
    return design


def block_parameters(comparisons, labels):
    "Similarities of the block model, by penalised maximum likelihood."
    from scipy.optimize import minimize

    design, weights = block_design(comparisons, labels), each_weight(comparisons).astype(float)
    back = design.T.tocsr()

    def loss(b):
        margin = design @ b
        slope = weights / (1 + np.exp(np.minimum(margin, 700)))
        return weights @ np.logaddexp(0, -margin) + RIDGE / 2 * (b @ b), RIDGE * b - back @ slope

    options = dict(maxiter=200, ftol=1e-7)  # far below the differences that matter
    return minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options=options).x


def gains(train, test, labels):
    "(m,) bits of each comparison of `test` that a partition explains with what `train` says of it, and their weights."
    right, wrong = decided(test, labels)
    p = together_rate(train, labels)
    together = right * np.log2(2 * p) + wrong * np.log2(2 * (1 - p))
    margin = block_design(test, labels) @ block_parameters(train, labels)
    block = 1 - np.logaddexp(0, -margin) / np.log(2)
    return (1 - BLOCK_SHARE) * together + BLOCK_SHARE * block, each_weight(test).astype(float)


def evidence(comparisons, labels):
    "Bits per comparison that a partition explains."
    bits, weights = gains(comparisons, comparisons, labels)
    return float(bits @ weights / weights.sum())


def partition_evidence(answers: Triplets | Quadruplets | ArrayLike, labels: ArrayLike) -> float:
    """Measure how much of the answers a partition explains, in bits per answer; 0 is chance, 1 is everything.

    A quarter is what "together" and "apart" explain: an answer counts for the partition if it calls a pair inside a
    cluster closer than a pair that is apart, and against it in the reverse case. Three quarters is what a logistic
    model explains in which every pair of clusters has a similarity and every object adds its own. The weights were
    chosen on simulated data.

    Parameters
    ----------
    answers : Triplets, Quadruplets, or array_like of int of shape (m, 3) or (m, 4)
        Comparisons. Of more than 100,000, a random sample of that size is used.
    labels : array_like of shape (N,)
        Cluster of each object.

    Returns
    -------
    float
        The evidence. Compare it only between partitions with the same number of clusters: with more clusters, the
        model has more parameters.

    Raises
    ------
    InputError
        If an argument breaks a rule.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.evaluation import partition_evidence
    >>> animals = load_dataset("animals")
    >>> known = partition_evidence(animals.triplets, animals.labels)
    >>> shuffled = np.random.default_rng(0).permutation(animals.labels)
    >>> known > partition_evidence(animals.triplets, shuffled) + 0.3
    True
    """
    comparisons = _scored(as_comparisons(answers, weighted=True, argument="answers"), 0)
    labels = check_labels(labels, comparisons.n_objects)
    return evidence(comparisons, labels)


def _scored(comparisons, rng):
    "The comparisons that give the evidence."
    require(len(comparisons), "answers", "at least one answer", comparisons)
    if len(comparisons) <= MOST_SCORED:
        return comparisons
    return comparisons.take(np.sort(as_rng(rng).choice(len(comparisons), MOST_SCORED, replace=False)))


# ---- the best cut of a tree


def node_counts(tree, comparisons):
    """(2, 2K − 1) comparisons for and against every node: its objects hold the closer pair and not the farther one,
    and the reverse."""
    i, j, k, l = pair_columns(comparisons)
    lca, weights, n_nodes = tree.lca(), each_weight(comparisons), 2 * tree.n_leaves - 1
    near, far = lca[i, j].astype(np.intp), lca[k, l].astype(np.intp)
    both = joint_nodes(tree, near, far)
    counts = []
    for low in (near, far):  # a node holds both pairs from the joint node on
        change = bincount(low, weights, n_nodes).astype(float) - bincount(both, weights, n_nodes)
        for node, (left, right) in enumerate(tree.children.tolist(), tree.n_leaves):
            change[node] += change[left] + change[right]
        counts.append(change)
    return np.array(counts)


def joint_nodes(tree, first, second):
    "The lowest node above each of two nodes, elementwise."
    start, stop = tree.starts, tree.starts + tree.sizes
    low, high = np.minimum(start[first], start[second]), np.maximum(stop[first], stop[second]) - 1
    order = tree.leaf_order()
    joint = tree.lca()[order[low], order[high]]
    return np.maximum(joint, np.maximum(first, second)).astype(np.intp)


def best_subtrees(tree, values, n_clusters, leftovers):
    """Nodes of the disjoint subtrees with the largest sum of values, and leaves in none of them; None without any.

    Dynamic programming from the leaves to the root: best[node][c] is the largest sum with c subtrees below or at a
    node. With `leftovers`, subtrees have at least two objects, and leaves may be left over; otherwise they cover all.
    """
    K, sizes = tree.n_leaves, tree.sizes
    best, left_part = [], []
    for node in range(2 * K - 1):
        whole = values[node] if sizes[node] > 1 or not leftovers else -np.inf
        if node < K:
            best.append(np.array([0.0 if leftovers else -np.inf, whole]))
            left_part.append(np.array([-1, -1]))
            continue
        a, b = (best[child] for child in tree.children[node - K])
        most = min(len(a) + len(b) - 2, n_clusters)
        sums, parts = np.full(most + 1, -np.inf), np.zeros(most + 1, dtype=np.intp)
        for count, value in enumerate(a.tolist()):
            some = value + b[: most + 1 - count]
            ahead = some > sums[count : count + len(some)]
            sums[count : count + len(some)][ahead], parts[count : count + len(some)][ahead] = some[ahead], count
        if whole >= sums[1]:
            sums[1], parts[1] = whole, -1  # the node itself
        best.append(sums)
        left_part.append(parts)
    if len(best[-1]) <= n_clusters or not np.isfinite(best[-1][n_clusters]):
        return None
    nodes, left_over, waiting = [], [], [(2 * K - 2, n_clusters)]
    while waiting:
        node, count = waiting.pop()
        if node < K or (count == 1 and left_part[node][1] < 0):
            (nodes if count else left_over).append(node)
            continue
        left, right = tree.children[node - K]
        part = int(left_part[node][count]) if count else 0
        waiting += [(left, part), (right, count - part)]
    return sorted(map(int, nodes)), sorted(map(int, left_over))


def supported_cut(tree, comparisons, n_clusters, leftovers, counts=None, won=None):
    """(N,) labels of disjoint subtrees that explain many bits, with left-over leaves in the clusters that win most of
    their comparisons; None where there are not enough subtrees.

    The probability of a right answer and the subtrees are optimised in turn; the best labels of these rounds are taken.
    """
    counts = node_counts(tree, comparisons) if counts is None else counts
    won = win_counts(comparisons) if won is None else won
    p, tried, found = 0.75, [], []
    for _ in range(10):
        values = counts[0] * np.log2(2 * p) + counts[1] * np.log2(2 * (1 - p))
        chosen = best_subtrees(tree, values, n_clusters, leftovers)
        if chosen is None or chosen in tried:
            break
        tried.append(chosen)
        found.append(_labels_of_subtrees(tree, *chosen, won))
        right, wrong = counts[:, chosen[0]].sum(axis=1)
        p = min(max((right + 1) / (right + wrong + 2), 0.51), 0.999)
    bits = [together_bits(comparisons, labels, together_rate(comparisons, labels)) for labels in found]
    return found[int(np.argmax(bits))] if found else None


def _labels_of_subtrees(tree, nodes, left_over, won):
    "Labels of subtrees, and of left-over leaves by the net share of comparisons that they won with each subtree."
    labels, order = np.full(tree.n_objects, -1), tree.leaf_order()
    for cluster, node in enumerate(nodes):
        labels[order[tree.starts[node] : tree.starts[node] + tree.sizes[node]]] = cluster
    if left_over:
        member = (labels[:, None] == np.arange(len(nodes))).astype(float)
        net, asked = (2 * won[0] - won[1]) @ member, won[1] @ member
        for leaf in left_over:
            objects = list(tree.initial_clusters[leaf])
            labels[objects] = np.argmax(net[objects].sum(axis=0) / (asked[objects].sum(axis=0) + 1))
    return labels


def cuts_of_tree(tree, comparisons, n_clusters, counts=None, won=None):
    "{how: labels} of the three cuts of a tree: by merge order, by evidence, and by evidence with leaves left over."
    cuts = {"merge order": tree.cut(n_clusters)}
    for how, leftovers in (("evidence", False), ("evidence, single objects moved", True)):
        labels = supported_cut(tree, comparisons, n_clusters, leftovers, counts, won)
        if labels is not None:
            cuts[how] = relabel_by_size(labels)
    return cuts


def evidence_cut(dendrogram: Dendrogram, answers: Triplets | Quadruplets | ArrayLike, n_clusters: int) -> np.ndarray:
    """Cut a tree into the clusters that the answers support, which need not be the last merges.

    Three cuts are compared by `partition_evidence`: that by merge order; the disjoint subtrees, together all objects,
    that explain most of the answers; and the same where leaves may be left over and join the cluster that is closest
    by the answers, so objects that branch off near the root do not use up the clusters.

    Parameters
    ----------
    dendrogram : Dendrogram
        Tree of N objects.
    answers : Triplets, Quadruplets, or array_like of int of shape (m, 3) or (m, 4)
        Comparisons of the same objects.
    n_clusters : int
        From 1 to the number of leaves.

    Returns
    -------
    ndarray of int of shape (N,)
        Labels by size: exactly `n_clusters` clusters, 0 the largest.

    Raises
    ------
    InputError
        If an argument breaks a rule.

    See Also
    --------
    comparison_hc.Dendrogram.cut : The cut by merge order, which needs no answers.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.evaluation import evidence_cut
    >>> from comparison_hc.methods import build_hierarchy
    >>> animals = load_dataset("animals").triplets
    >>> tree, _ = build_hierarchy("3k-al", animals)
    >>> np.bincount(evidence_cut(tree, animals, 4)).tolist()
    [9, 6, 6, 3]
    """
    check_dendrogram(dendrogram)
    comparisons = as_comparisons(answers, weighted=True, argument="answers")
    require(comparisons.n_objects == dendrogram.n_objects, "answers", f"about {dendrogram.n_objects} objects", answers)
    n_clusters = check_integer(n_clusters, "n_clusters", 1, dendrogram.n_leaves)
    if n_clusters == 1 or not len(comparisons):
        return dendrogram.cut(n_clusters)
    return choice_of_cut(dendrogram, comparisons, n_clusters).labels


def choice_of_cut(dendrogram, comparisons, n_clusters):
    "The cut of `evidence_cut`, with the others that it was compared with."
    cuts = cuts_of_tree(dendrogram, comparisons, n_clusters)
    found = {f"the tree shown, cut by {how}": labels for how, labels in cuts.items()}
    best, table = _ranked(found, comparisons, 0)
    unplaced = unplaced_objects(comparisons, found[best])
    return ClusterChoice(found[best], unplaced, best, table, None, n_clusters, ())


def unplaced_objects(answers: Triplets | Quadruplets | ArrayLike, labels: ArrayLike) -> np.ndarray:
    """Find the objects that belong nowhere: the other members of their cluster do not call them closer than strangers.

    An object is unplaced if it is alone, or if its pairs with other members of its cluster lose at least half of their
    comparisons with pairs of those members and objects of other clusters (of quadruplets: with all pairs that are
    apart and do not contain it).

    Parameters
    ----------
    answers : Triplets, Quadruplets, or array_like of int of shape (m, 3) or (m, 4)
        Comparisons.
    labels : array_like of shape (N,)
        Cluster of each object.

    Returns
    -------
    ndarray of int
        Numbers of the unplaced objects, in increasing order. Objects without such a comparison are not among them.

    Raises
    ------
    InputError
        If an argument breaks a rule.

    Examples
    --------
    >>> from comparison_hc.evaluation import unplaced_objects
    >>> triplets = [(0, 1, 3), (1, 0, 4), (0, 3, 2), (1, 4, 2), (3, 4, 0), (4, 3, 2)]
    >>> unplaced_objects(triplets, [0, 0, 0, 1, 1]).tolist()
    [2]
    """
    comparisons = as_comparisons(answers, weighted=True, argument="answers")
    N = comparisons.n_objects
    labels, weights = check_labels(labels, N), each_weight(comparisons)
    i, j, k, l = pair_columns(comparisons)
    net, asked = np.zeros(N), np.zeros(N)
    for rows, pair, other, sign in zip(decided(comparisons, labels), ((i, j), (k, l)), ((k, l), (i, j)), (1, -1)):
        for own in pair:
            seen = rows & (own != other[0]) & (own != other[1])
            found = bincount(own[seen], weights[seen], N)
            net, asked = net + sign * found, asked + found
    alone = bincount(labels)[labels] == 1
    return np.flatnonzero(alone | ((asked > 0) & (net <= 0)))


# ---- the choice among methods, and of the number of clusters


@dataclass(frozen=True, eq=False, repr=False)
class ClusterChoice:
    """Clusters that were chosen by their evidence in the answers.

    Attributes
    ----------
    labels : ndarray of int of shape (N,)
        Cluster of each object, 0 the largest.
    unplaced : ndarray of int
        Objects that belong nowhere (`unplaced_objects`); they keep a label.
    title : str
        The method that gave the clusters, in words.
    table : pandas.DataFrame
        One row per candidate with the chosen number of clusters, the best first: method, evidence (bits per answer),
        agreement (share of the decided answers that it gets right), overlap (adjusted Rand index with the choice),
        largest, smallest (sizes).
    numbers : pandas.DataFrame or None
        One row per number of clusters: clusters, method, evidence (of held-out answers), below (how much less than
        the best number's), error (the standard error of that), stability (adjusted Rand index between partitions from
        different answers). None where there were too few answers for it.
    asked : int or None
        The number of clusters that was asked for.
    left_out : tuple of str
        Candidates that were not computed, and why.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.evaluation import choose_clusters
    >>> choose_clusters(load_dataset("animals").triplets, 4).sizes
    [9, 6, 6, 3]
    """

    labels: np.ndarray
    unplaced: np.ndarray
    title: str
    table: DataFrame
    numbers: DataFrame | None
    asked: int | None
    left_out: tuple[str, ...]

    @property
    def n_clusters(self) -> int:
        "Number of clusters."
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> list[int]:
        "Sizes of the clusters, the largest first."
        return bincount(self.labels).tolist()

    def __repr__(self):
        return f"ClusterChoice({self.n_clusters} clusters of {'/'.join(map(str, self.sizes))} objects, {self.title})"

    def rows(self, names: ArrayLike | None = None) -> list[tuple[str, str]]:
        """Say what was chosen and how sure it is.

        Parameters
        ----------
        names : sequence of str of shape (N,), optional
            Names of the objects; by default their numbers.

        Returns
        -------
        list of (str, str)
            A label and a sentence each.
        """
        called = [str(name) for name in np.asarray(range(len(self.labels)) if names is None else names)]
        rows = [("clusters", self._choice_in_words()), *(("not compared", reason) for reason in self.left_out)]
        if self.numbers is not None:
            row = self.numbers.set_index("clusters").loc[self.n_clusters]
            text = "partitions into as many clusters, from different parts of the answers, have an adjusted Rand index"
            rows.append(("stability of the clusters", f"{text} of {row.stability:.2f} with each other"))
            rows += [("number of clusters", self._number_in_words())] if self.asked is None else []
        rows += [("beware", self._sizes_in_words())] if degenerate(self.labels) else []
        if len(self.unplaced):
            text = "the other members of their cluster do not call them closer than others: "
            rows.append(("belong nowhere", text + ", ".join(called[i] for i in self.unplaced)))
        return rows

    def _choice_in_words(self):
        row, others = self.table.iloc[0], self.table[self.table.overlap < 1]
        text = (
            f"{self.n_clusters} of {'/'.join(map(str, self.sizes))} objects, by {self.title}: {row.agreement:.1%} of "
        )
        text += "the answers that they decide are right (chance 50%; chosen by these answers), "
        text += f"evidence {row.evidence:.3f} bits per answer"
        if len(others):
            row = others.iloc[0]
            text += f"; next: {row.method}, {row.evidence:.3f}, adjusted Rand index with these {row.overlap:.2f}"
        return text

    def _number_in_words(self):
        tried, near = self.numbers.clusters, self.numbers[self.numbers.below <= self.numbers.error].clusters
        text = (
            f"of {tried.min()} to {tried.max()}, {self.n_clusters} is the smallest number whose evidence in held-out "
        )
        text += "answers is within one standard error of the best"
        return text + (f"; so are {', '.join(map(str, near[1:]))}" if len(near) > 1 else "")

    def _sizes_in_words(self):
        sound, text = self.table[(self.table.smallest > 1)], degenerate(self.labels)
        sound = sound[sound.largest < LARGE_SHARE * len(self.labels)]
        if len(sound):
            row = sound.iloc[0]
            text += f"; the best candidate without that is {row.method}, with {row.smallest} to {row.largest} objects "
            text += f"per cluster and evidence {row.evidence:.3f}"
        return text + ("" if self.asked is None else "; another number of clusters may fit better (--clusters auto)")


def degenerate(labels):
    "What is degenerate about the sizes of clusters, in words; empty if nothing is."
    sizes = bincount(labels)
    n_alone, share = int((sizes == 1).sum()), sizes.max() / len(labels)
    if len(sizes) < 2 or len(sizes) == len(labels):
        return ""
    said = []
    if n_alone:
        said.append(f"{n_alone} of {len(sizes)} clusters {'has' if n_alone == 1 else 'have'} a single object")
    if share >= LARGE_SHARE:
        said.append(f"the largest has {share:.0%} of all objects")
    return " and ".join(said)


@on_one_thread
def choose_clusters(
    answers: Triplets | Quadruplets | ArrayLike,
    n_clusters: int | None = None,
    dendrogram: Dendrogram | None = None,
    build: str | Callable | None = None,
    most: int = 10,
    rng: int | np.random.Generator = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> ClusterChoice:
    """Choose the clusters that explain the answers best, and their number if none is given.

    Candidates are cuts of trees (`evidence_cut`) by several methods, clusters with large AddS similarity inside, and
    k-means on t-STE points; `partition_evidence` chooses among those with the same number of clusters. Where the number
    is open, clusters of a single object are left out, and the number is the smallest one whose clusters, from two
    thirds of the answers, explain the other third within one standard error as well as those of the best number.

    Parameters
    ----------
    answers : Triplets, Quadruplets, or array_like of int of shape (m, 3) or (m, 4)
        Comparisons of N objects.
    n_clusters : int, optional
        Number of clusters, from 1 to N. By default it is chosen from 2 to `most`.
    dendrogram : Dendrogram, optional
        A further tree whose cuts are candidates.
    build : str or callable, optional
        Name of a passive method, or function from comparisons to a `Dendrogram`: only cuts of its trees are
        candidates then.
    most : int, default 10
        Largest number of clusters that is tried, from 2; never more than half of the objects.
    rng : int or numpy.random.Generator, default 0
        Seed or generator, of the splits, of k-means and of t-STE.
    progress : callable, optional
        Called with (rounds done, rounds in all).

    Returns
    -------
    ClusterChoice
        Labels, the objects that belong nowhere, and the candidates with their evidence.

    Raises
    ------
    InputError
        If an argument breaks a rule, or if the number is to be chosen and there are too few answers.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.evaluation import choose_clusters
    >>> choose_clusters(load_dataset("animals").triplets, 4).sizes
    [9, 6, 6, 3]
    """
    comparisons, progress = as_comparisons(answers, weighted=True, argument="answers"), check_progress(progress)
    require(len(comparisons), "answers", "at least one answer", answers)
    N, generator = comparisons.n_objects, as_rng(rng)
    if dendrogram is not None:
        check_dendrogram(dendrogram)
        require(dendrogram.n_objects == N, "dendrogram", f"about {N} objects", dendrogram)
    if n_clusters is not None:
        n_clusters = check_integer(n_clusters, "n_clusters", 1, N)
    most = min(check_integer(most, "most", 2), max(N // 2, 2), N)
    tried = range(2, most + 1) if n_clusters is None else [n_clusters]
    build = None if build is None else as_builder(build)
    plan_rng, seeds = generator.spawn(2)
    enough = len(comparisons) >= 100 and int(object_groups(comparisons).max()) >= 19
    rule = "given: there are too few answers (at least 100, about 20 sets of objects) to choose it"
    require(enough or n_clusters is not None, "n_clusters", rule, n_clusters)
    plan = plan_splits(comparisons, N_SPLITS, 1 / 3, None, plan_rng).splits if enough and min(tried) > 1 else ()
    numbers = None
    if plan:
        rounds = []
        for done, split in enumerate(plan, 1):
            parts = comparisons.take(split.train), comparisons.take(split.test)
            rounds.append(_round(*parts, tried, seeds, build, n_clusters is None))
            if progress:
                progress(done, len(plan) + 1)
        numbers = _numbers(rounds, tried)
        if n_clusters is None:
            tried = [int(numbers.clusters[numbers.below <= numbers.error].min())]
    (found,) = candidate_partitions(comparisons, tried, seeds, dendrogram, build).values()
    rule = f"at most {dendrogram.n_leaves if dendrogram is not None else N}, the number of leaves of the tree"
    require(found, "n_clusters", rule, n_clusters)
    found = _without_singles(found) if n_clusters is None else found
    best, table = _ranked(found, comparisons, seeds)
    if progress:
        progress(len(plan) + 1, len(plan) + 1)
    labels = found[best]
    asked, unplaced = n_clusters, unplaced_objects(comparisons, labels)
    left_out = () if build else tuple(_left_out(comparisons))
    return ClusterChoice(labels, unplaced, best, table, numbers, asked, left_out)


def _left_out(comparisons):
    "What is not computed, and why."
    if comparisons.kind == "triplets" and len(comparisons) > MOST_EMBEDDED:
        yield f"k-means on t-STE points, which take too long for more than {MOST_EMBEDDED:,} answers"
    if len(comparisons) > MOST_SCORED:
        yield f"the evidence of all answers but a random sample of {MOST_SCORED:,}"
    if comparisons.n_objects > _candidates.MANY_OBJECTS:
        most = _candidates.MANY_OBJECTS
        yield f"cuts of refined trees and of 4K–AL, which take too long for more than {most} objects"
    if comparisons.weights is not None:
        yield "AddS with weights: it counts every answer once, and its clusters are judged with them"


def candidate_partitions(comparisons, tried, rng, dendrogram=None, build=None):
    "{number of clusters: {title: labels}} of all candidates; with `build`, of cuts of its tree."
    seed, N, fitted, found = int(rng.integers(2**31)), comparisons.n_objects, {}, {k: {} for k in tried}
    trees = {} if dendrogram is None else {"the tree shown": dendrogram}
    if build and not trees:
        trees["its tree"] = build(comparisons)
    of_trees = TREES_OF_MANY if N > _candidates.MANY_OBJECTS else TREES
    for name in () if build else of_trees[comparisons.kind]:
        trees[candidate(name).title] = fit(candidate(name), comparisons, seed, fitted)[0]
    won = win_counts(comparisons)
    for title, tree in trees.items():
        counts = node_counts(tree, comparisons)
        for k in tried:
            if k <= tree.n_leaves:
                cuts = cuts_of_tree(tree, comparisons, k, counts, won)
                found[k] |= {f"{title}, cut by {how}": labels for how, labels in cuts.items()}
    open_numbers = [] if build else [k for k in tried if 1 < k < N]
    if open_numbers:
        for k, labels in _additive_clusters(comparisons, open_numbers, seed).items():
            found[k]["AddS"] = relabel_by_size(labels)
    if open_numbers and comparisons.kind == "triplets" and len(comparisons) <= MOST_EMBEDDED:
        points, _ = fit(candidate("t-ste"), comparisons, seed, fitted)
        for k in open_numbers:
            found[k]["k-means on t-STE points"] = relabel_by_size(_k_means(points, k, seed))
    return found


def _additive_clusters(comparisons, tried, seed):
    "{number: labels} of large AddS within clusters: spectral clustering, then moves of single objects."
    from ..flat import adds3, adds4
    from ..flat.candidates import leading_eigenvectors, spectral_candidate

    plain = comparisons.without_weights()
    similarity = adds3(plain) if comparisons.width == 3 else adds4(plain)
    most = max(min(max(tried) - 1, comparisons.n_objects - 1), 1)
    _, vectors = leading_eigenvectors(similarity, most)
    return {k: spectral_candidate(similarity, k, vectors, as_rng(seed)) for k in tried}


def _k_means(points, k, seed):
    from sklearn.cluster import KMeans

    from ..flat.candidates import fill_empty_clusters

    with warnings.catch_warnings(), limited_threads(user_api="openmp"):
        warnings.simplefilter("ignore")  # equal points
        return fill_empty_clusters(KMeans(k, n_init=5, random_state=seed).fit_predict(points), k)


def _ranked(found, comparisons, rng):
    "(title of the best candidate, table of all), by evidence; equal partitions are scored once."
    import pandas as pd

    scored, known, rows = _scored(comparisons, rng), {}, []
    for title, labels in found.items():
        key = labels.tobytes()
        if key not in known:
            right, wrong = (each_weight(scored)[part].sum() for part in decided(scored, labels))
            known[key] = evidence(scored, labels), right / max(right + wrong, 1)
        sizes = bincount(labels)
        rows.append((title, *known[key], int(sizes.max()), int(sizes.min())))
    table = pd.DataFrame(rows, columns=["method", "evidence", "agreement", "largest", "smallest"])
    table = table.sort_values("evidence", ascending=False, kind="stable").reset_index(drop=True)
    best = table.method[0]
    overlap = [adjusted_rand_index(found[best], found[title]) for title in table.method]
    table.insert(3, "overlap", overlap)
    return best, table


def _without_singles(found):
    "The candidates without clusters of a single object, if there are some."
    return {title: labels for title, labels in found.items() if bincount(labels).min() > 1} or found


def _round(train, test, tried, rng, build, is_open):
    "{number: (title, labels, gains of every answer held out)} of the best candidates by the answers to build from."
    partitions, found, scored = candidate_partitions(train, tried, rng, None, build), {}, _scored(test, rng)
    for k, candidates in partitions.items():
        candidates = _without_singles(candidates) if is_open else candidates
        title, _ = _ranked(candidates, train, rng)
        labels = candidates[title]
        found[k] = title, labels, gains(_scored(train, rng), scored, labels)
    return found


def _numbers(rounds, tried):
    "The table of the numbers of clusters: held-out evidence, differences to the best with their errors, stability."
    import pandas as pd

    def mean(values, weights):
        return float(values @ weights / weights.sum())

    def average(k, other=None):
        return np.mean([mean(each[k][2][0] - (each[other][2][0] if other else 0), each[k][2][1]) for each in rounds])

    best, rows = max(tried, key=average), []
    for k in tried:
        errors = []
        for each in rounds:
            difference, weights = each[best][2][0] - each[k][2][0], each[k][2][1]
            spread = difference - mean(difference, weights)
            errors.append(np.sqrt((weights**2) @ spread**2) / weights.sum())
        pairs = [(a, b) for a in range(len(rounds)) for b in range(a)]
        stability = np.mean([adjusted_rand_index(rounds[a][k][1], rounds[b][k][1]) for a, b in pairs])
        rows.append((k, rounds[0][k][0], average(k), average(best, k), float(np.mean(errors)), float(stability)))
    return pd.DataFrame(rows, columns=["clusters", "method", "evidence", "below", "error", "stability"])
