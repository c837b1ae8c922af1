"""One type for every hierarchy: SciPy's linkage matrix with what its leaves hold and what its heights are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import plotting
from .core._tree import aggregate, leaf_counts, max_heights, node_starts, sorted_linkage
from .core.newick import read_newick, write_newick
from .core._rows import relabel_by_size
from .core.validation import as_array, as_rng, check_integer, check_names, check_number, require

if TYPE_CHECKING:
    import altair
    from numpy.typing import ArrayLike

__all__ = ["Dendrogram", "plot_dendrogram", "random_tree"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Dendrogram:
    """A hierarchy of N objects: an immutable list of merges.

    The leaves are the nodes 0 to K - 1, one per initial cluster; row i of the linkage matrix joins two nodes into node
    K + i. `len(set(tree.cut(k)))` is k for every k from 1 to K, also if heights are tied.

    Parameters
    ----------
    linkage_matrix : array-like of shape (K - 1, 4)
        SciPy's Z, kept row for row: two nodes, a finite height of at least 0, the number of leaves.
    initial_clusters : sequence of sequences of int, optional
        Objects of each leaf, together a partition of 0 to N - 1; by default leaf i is object i.
    names : sequence of str, optional
        N distinct names of the objects.
    height_kind : str, default "height"
        What the heights are, as the title of an axis; "merge order" where only the order of merges is known.

    Raises
    ------
    InputError
        If a rule above is broken; the message names the row and the rule.

    Examples
    --------
    >>> from comparison_hc import Dendrogram
    >>> tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)], names=["cat", "dog", "hen", "owl"])
    >>> tree.cut(2)
    array([0, 0, 1, 1])
    >>> tree.to_newick()
    '((cat:1,dog:1):2,(hen:2,owl:2):1);'
    """

    linkage_matrix: np.ndarray
    initial_clusters: tuple[tuple[int, ...], ...]
    names: tuple[str, ...] | None
    height_kind: str

    def __init__(
        self,
        linkage_matrix: ArrayLike,
        initial_clusters: Sequence[Sequence[int]] | None = None,
        names: Sequence[str] | None = None,
        height_kind: str = "height",
    ) -> None:
        Z = _check_linkage_matrix(linkage_matrix)
        clusters = _check_clusters(initial_clusters, len(Z) + 1)
        is_text = isinstance(height_kind, str) and height_kind
        require(is_text, "height_kind", "a text that describes the heights", height_kind)
        object.__setattr__(self, "linkage_matrix", Z)
        object.__setattr__(self, "initial_clusters", clusters)
        object.__setattr__(self, "names", check_names(names, sum(map(len, clusters))))
        object.__setattr__(self, "height_kind", height_kind)

    def __repr__(self):
        leaves = f"{self.n_leaves} lea{'f' if self.n_leaves == 1 else 'ves'}"
        objects = "" if self.n_objects == self.n_leaves else f" with {self.n_objects} objects"
        return f"Dendrogram({leaves}{objects}, heights are {self.height_kind})"

    def _fields(self):
        return self.linkage_matrix.tobytes(), self.initial_clusters, self.names, self.height_kind

    def __eq__(self, other):
        return isinstance(other, Dendrogram) and self._fields() == other._fields()

    def __hash__(self):
        return hash(self._fields())

    def __reduce__(self):
        return Dendrogram, (self.linkage_matrix, self.initial_clusters, self.names, self.height_kind)

    @classmethod
    def from_linkage(
        cls,
        linkage_matrix: ArrayLike,
        initial_clusters: Sequence[Sequence[int]] | None = None,
        names: Sequence[str] | None = None,
        height_kind: str = "height",
    ) -> Dendrogram:
        """Return the hierarchy of SciPy's linkage matrix.

        Rows that are not in the order of their heights are sorted; a merge counts as at least as high as those under
        it. What SciPy's own methods return, inversions included, stays as it is.

        Parameters
        ----------
        linkage_matrix : array-like of shape (K - 1, 4)
        initial_clusters : sequence of sequences of int, optional
        names : sequence of str, optional
        height_kind : str, default "height"
            As in `Dendrogram`.

        Returns
        -------
        Dendrogram
        """
        given = cls(linkage_matrix, initial_clusters, names, height_kind)
        if (np.diff(given.heights) >= 0).all():
            return given
        return cls(sorted_linkage(given.children, given.heights), given.initial_clusters, given.names, height_kind)

    @classmethod
    def from_merges(
        cls,
        merges: ArrayLike,
        initial_clusters: Sequence[Sequence[int]] | None = None,
        names: Sequence[str] | None = None,
    ) -> Dendrogram:
        """Return the hierarchy of merges of which only the order is known; its heights are 1 to K - 1.

        Parameters
        ----------
        merges : array-like of int of shape (K - 1, 2)
            Nodes joined, as in `children_` of scikit-learn.
        initial_clusters : sequence of sequences of int, optional
        names : sequence of str, optional
            As in `Dendrogram`.

        Returns
        -------
        Dendrogram
        """
        children = _check_merges(merges, "merges")
        Z = np.column_stack([children, np.arange(1, len(children) + 1), leaf_counts(children)])
        return cls(Z, initial_clusters, names, "merge order")

    @classmethod
    def from_newick(cls, text: str, names: Sequence[str] | None = None, height_kind: str | None = None) -> Dendrogram:
        """Return the hierarchy of a Newick text.

        A node is as high as its longest path down to a leaf. A node of many children is merged from left to right at
        one height, a node of one child is skipped, and comments other than [&initial] are ignored.

        Parameters
        ----------
        text : str
            Newick of any size and depth; names with blanks in single or double quotes.
        names : sequence of str, optional
            Names in the order of the objects; by default the order of appearance, or by number for "0" to "N-1".
        height_kind : str, optional
            By default "merge order" for heights 1 to K - 1, "level" without branch lengths, else "height".

        Returns
        -------
        Dendrogram
        """
        Z, clusters, names, kind = read_newick(text, names)
        return cls(Z, clusters, names, kind if height_kind is None else height_kind)

    def to_newick(self, support: ArrayLike | None = None, clusters: ArrayLike | None = None) -> str:
        """Return the hierarchy as one line of Newick, with branch lengths from the heights.

        Parameters
        ----------
        support : array-like of shape (K - 1,), optional
            Number from 0 to 1 for each merge, written as the label of its node.
        clusters : array-like of int of shape (N,), optional
            Cluster of each object, written as [&cluster=3] at nodes inside one.

        Returns
        -------
        str
            Text that `from_newick` reads back exactly.
        """
        return write_newick(self, support, clusters)

    @cached_property
    def n_leaves(self) -> int:
        "K, the number of leaves, that is, of initial clusters."
        return len(self.initial_clusters)

    @cached_property
    def n_objects(self) -> int:
        "N, the number of objects in all initial clusters."
        return sum(len(cluster) for cluster in self.initial_clusters)

    @cached_property
    def heights(self) -> np.ndarray:
        "(K-1,) heights of the merges."
        return self.linkage_matrix[:, 2]

    @cached_property
    def children(self) -> np.ndarray:
        "(K-1, 2) nodes joined by each merge, as in scikit-learn's `children_`."
        return read_only(self.linkage_matrix[:, :2].astype(np.int64))

    @cached_property
    def parents(self) -> np.ndarray:
        "(2K-1,) node that each node is merged into; 2K-1 for the root."
        n_nodes = 2 * self.n_leaves - 1
        parents = np.full(n_nodes, n_nodes, dtype=np.int64)
        parents[self.children.ravel()] = np.repeat(np.arange(self.n_leaves, n_nodes), 2)
        return read_only(parents)

    @cached_property
    def leaf_sizes(self) -> np.ndarray:
        "(K,) number of objects in each initial cluster."
        return read_only(np.array([len(cluster) for cluster in self.initial_clusters], dtype=np.int64))

    @cached_property
    def sizes(self) -> np.ndarray:
        "(2K-1,) number of objects under each node."
        return read_only(aggregate(self.children, self.leaf_sizes))

    @cached_property
    def starts(self) -> np.ndarray:
        "(2K-1,) index in `leaf_order()` of the first object under each node."
        return read_only(node_starts(self.children, self.sizes))

    @cached_property
    def _layout(self):
        return plotting.tree_layout(self.children, self.heights, self.leaf_sizes)

    @cached_property
    def _order(self):
        leaves = np.argsort(self.starts[: self.n_leaves], kind="stable")
        in_order = chain.from_iterable(self.initial_clusters[leaf] for leaf in leaves)
        return read_only(np.fromiter(in_order, dtype=np.int64, count=self.n_objects))

    def leaf_order(self) -> np.ndarray:
        """Return the objects in drawing order, without crossings; the first node of a merge above the second.

        Returns
        -------
        ndarray of int of shape (N,)
            As SciPy's `leaves_list`; read-only. The objects under a node are consecutive in it.
        """
        return self._order

    def clusters(self) -> Iterator[tuple[int, np.ndarray]]:
        """Iterate over all nodes with the objects under them.

        Yields
        ------
        node : int
        members : ndarray of int
            Objects in drawing order; read-only views of one array.
        """
        for node, (start, size) in enumerate(zip(self.starts.tolist(), self.sizes.tolist())):
            yield node, self._order[start : start + size]

    def _aggregate(self, values, how=np.add):
        "(2K-1,) values of the objects under every node, combined."
        objects = np.fromiter(chain.from_iterable(self.initial_clusters), dtype=np.int64, count=self.n_objects)
        begins = np.cumsum(np.append(0, self.leaf_sizes[:-1])).astype(np.intp)  # `reduceat` takes no wider one
        return aggregate(self.children, how.reduceat(values[objects], begins), how)

    def _common_values(self, values):
        "For every node the value that all its objects share, or None."
        low, high = (self._aggregate(values, how).tolist() for how in (np.minimum, np.maximum))
        return [a if a == b else None for a, b in zip(low, high)]

    def _partition(self, nodes):
        "(N,) labels, numbered by first appearance, of nodes that together hold every object once."
        nodes = nodes[np.argsort(self.starts[nodes])]
        labels = np.empty(self.n_objects, dtype=np.int64)
        labels[self._order] = np.repeat(np.arange(len(nodes)), self.sizes[nodes].astype(np.intp))
        _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[codes.reshape(-1)]

    def cut(self, n_clusters: int) -> np.ndarray:
        """Cut into exactly `n_clusters` clusters: the last n_clusters - 1 merges are undone, whatever their heights.

        Parameters
        ----------
        n_clusters : int
            From 1 to `n_leaves`.

        Returns
        -------
        ndarray of int of shape (N,)
            Labels by size: 0 is the largest cluster; of two of equal size that with the smallest object comes first.
        """
        return relabel_by_size(self._partition(self.cut_nodes(n_clusters)))

    def cut_nodes(self, n_clusters: int) -> np.ndarray:
        """Return the nodes that `cut` makes clusters of.

        Parameters
        ----------
        n_clusters : int
            From 1 to `n_leaves`.

        Returns
        -------
        ndarray of int of shape (n_clusters,)
            Nodes in increasing order.
        """
        n_clusters = check_integer(n_clusters, "n_clusters", 1, self.n_leaves)
        n_made = 2 * self.n_leaves - n_clusters  # nodes that exist when merging stops n_clusters − 1 merges early
        return np.flatnonzero(self.parents[:n_made] >= n_made)

    def cut_height(self, height: float) -> np.ndarray:
        """Cut into the largest clusters without a merge above `height`, as SciPy's `fcluster` by distance.

        Parameters
        ----------
        height : float

        Returns
        -------
        ndarray of int of shape (N,)
            Labels by size, as in `cut`.
        """
        height = check_number(height, "height")
        highest = max_heights(self.children, self.heights)
        above = np.append(highest, np.inf)[self.parents]
        is_leaf = np.arange(len(highest)) < self.n_leaves
        return relabel_by_size(self._partition(np.flatnonzero((above > height) & ((highest <= height) | is_leaf))))

    def coarsen(self, n_clusters: int) -> Dendrogram:
        """Return the last merges only: the clusters of `cut(n_clusters)` become initial clusters.

        Parameters
        ----------
        n_clusters : int
            From 1 to `n_leaves`.

        Returns
        -------
        Dendrogram
            With `n_clusters` leaves; heights stay.
        """
        labels, K = self._partition(self.cut_nodes(n_clusters)), self.n_leaves  # leaves in the order of the objects
        if n_clusters == K:
            return self
        first_object = self._order[self.starts[: 2 * K - n_clusters]]
        number = np.append(labels[first_object], np.arange(n_clusters, 2 * n_clusters - 1))
        children = number[self.children[K - n_clusters :]]
        Z = np.column_stack([children, self.heights[K - n_clusters :], leaf_counts(children)])
        ends = np.cumsum(np.unique(labels, return_counts=True)[1])
        clusters = np.split(np.argsort(labels, kind="stable"), ends[:-1])
        return Dendrogram(Z, [members.tolist() for members in clusters], self.names, self.height_kind)

    def relabel(self, order: ArrayLike) -> Dendrogram:
        """Return the same hierarchy of renumbered objects: if the data become `X[order]`, the tree becomes this.

        Parameters
        ----------
        order : array-like of int of shape (N,)
            Permutation; new object i is old object order[i].

        Returns
        -------
        Dendrogram
            Leaves are numbered by their smallest object.
        """
        old = _check_permutation(order, self.n_objects)
        place = np.argsort(old)
        moved = [tuple(sorted(place[list(cluster)].tolist())) for cluster in self.initial_clusters]
        by_first = sorted(range(self.n_leaves), key=lambda leaf: moved[leaf][0])
        number = np.append(np.argsort(by_first), np.arange(self.n_leaves, 2 * self.n_leaves - 1))
        Z = self.linkage_matrix.copy()
        Z[:, :2] = number[self.children]
        names = self.names and [self.names[i] for i in old]
        return Dendrogram(Z, [moved[leaf] for leaf in by_first], names, self.height_kind)

    def same_tree(self, other: Dendrogram) -> bool:
        """Whether both hierarchies have the same clusters of objects, whatever their heights, names and numbering.

        Parameters
        ----------
        other : Dendrogram

        Returns
        -------
        bool

        References
        ----------
        Day, "Optimal algorithms for comparing trees with labeled leaves", Journal of Classification 2, 1985.
        """
        check_dendrogram(other, "other")
        if (self.n_objects, self.n_leaves) != (other.n_objects, other.n_leaves):
            return False
        place = np.argsort(self._order)
        low, high = (other._aggregate(place, how) for how in (np.minimum, np.maximum))
        if (high - low + 1 != other.sizes).any():
            return False
        return set(zip(low.tolist(), other.sizes.tolist())) == set(zip(self.starts.tolist(), self.sizes.tolist()))

    def lca(self) -> np.ndarray:
        """Return the lowest common ancestor of every pair of objects, in O(N^2) time and memory.

        Returns
        -------
        ndarray of int of shape (N, N)
            Nodes.
        """
        span = [slice(start, start + size) for start, size in zip(self.starts.tolist(), self.sizes.tolist())]
        lca = np.zeros((self.n_objects, self.n_objects), dtype=np.int32)
        for leaf in range(self.n_leaves):
            lca[span[leaf], span[leaf]] = leaf
        for node, (left, right) in enumerate(self.children.tolist(), start=self.n_leaves):
            lca[span[left], span[right]] = lca[span[right], span[left]] = node
        place = np.argsort(self._order)
        return lca[np.ix_(place, place)]

    def lca_size(self) -> np.ndarray:
        """Return the size of the smallest cluster that holds both objects of every pair.

        Returns
        -------
        ndarray of int of shape (N, N)
        """
        return self.sizes[self.lca()]

    def lca_step(self) -> np.ndarray:
        """Return the number of the merge, counted from 1, that brings both objects of every pair together.

        Returns
        -------
        ndarray of int of shape (N, N)
            0 for objects of one initial cluster.
        """
        return np.maximum(self.lca() - (self.n_leaves - 1), 0).astype(np.int64)

    def lca_height(self) -> np.ndarray:
        """Return the height at which both objects of every pair come together, SciPy's cophenetic distance.

        Returns
        -------
        ndarray of float of shape (N, N)
        """
        return np.append(0.0, self.heights)[self.lca_step()]

    def to_text(self, width: int = 80, max_leaves: int | None = None) -> str:
        """Draw the hierarchy with box characters, the root at the left.

        Parameters
        ----------
        width : int, default 80
            Characters per line, at least 20. Columns follow the heights roughly.
        max_leaves : int, optional
            Draw only the last merges of larger trees, as `coarsen` does.

        Returns
        -------
        str
            One line per leaf and a scale.
        """
        width = check_integer(width, "width", 20, plotting.MOST_PIXELS)
        most = self.n_leaves if max_leaves is None else check_integer(max_leaves, "max_leaves")
        return plotting.tree_text(self.coarsen(min(most, self.n_leaves)), width)

    def chart(
        self,
        labels: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        width: int | None = None,
        height: int | None = None,
        orientation: str = "left",
        label_title: str | None = None,
        title: str | None = None,
        images: Sequence[Any] | None = None,
    ) -> altair.LayerChart:
        """Draw the hierarchy as an Altair chart.

        Parameters
        ----------
        labels : array-like of shape (N,), optional
            Class of each object; branches of one class have its colour.
        names : sequence of str, optional
            Names to show instead of `names`; they may repeat.
        width, height : int, optional
            Pixels of the plot; by default what the leaves need. Below 6 pixels per leaf names are left out.
        orientation : {"left", "top"}, default "left"
            Side of the root.
        label_title : str, optional
            Title of the legend, by default "class".
        title : str, optional
            Title of the chart.
        images : sequence of str, bytes or Path, optional
            One picture per leaf: a path, the bytes of a PNG, JPEG or GIF file, or a data URI.

        Returns
        -------
        altair.LayerChart
        """
        shown = dict(width=width, height=height, orientation=orientation, label_title=label_title, title=title)
        return plotting.tree_chart(self, labels, names, images=images, **shown)

    def plot(
        self,
        ax: Any = None,
        labels: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        orientation: str = "top",
    ) -> Any:
        """Draw the hierarchy with Matplotlib, as `plot_dendrogram` does.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        labels : array-like of shape (N,), optional
        names : sequence of str, optional
        orientation : {"top", "bottom", "left", "right"}, default "top"
            As in `plot_dendrogram`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return plotting.tree_axes(self, ax, labels, names, orientation)

    def _repr_mimebundle_(self, include=None, exclude=None):
        "In a notebook: the chart, up to 300 leaves."
        bundle = self.chart()._repr_mimebundle_() if self.n_leaves <= 300 else None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self)}, metadata


def plot_dendrogram(
    tree: Any,
    ax: Any = None,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    orientation: str = "top",
) -> Any:
    """Draw a hierarchy with Matplotlib, in the coordinates of SciPy's `dendrogram`.

    Leaf i of the drawing is at 10 i + 5, heights are on the other axis, and branches inside a cluster have its colour.

    Parameters
    ----------
    tree : Dendrogram, fitted estimator, or array-like of shape (K - 1, 4)
        A hierarchy, an estimator with `dendrogram_`, or SciPy's linkage matrix.
    ax : matplotlib.axes.Axes, optional
        By default the current axes.
    labels : array-like of shape (N,), optional
        Cluster of each object; by default the `labels_` of an estimator.
    names : sequence of str, optional
        Names to show, of the N objects.
    orientation : {"top", "bottom", "left", "right"}, default "top"
        Side of the root.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, with the names as tick labels.

    Raises
    ------
    InputError
        If an argument breaks a rule, or if `ax` is not given and Matplotlib is missing.

    See Also
    --------
    comparison_hc.save_result : Pictures as files, without Matplotlib.
    Dendrogram.chart : The same as an Altair chart.

    Examples
    --------
    >>> from comparison_hc import ComparisonHC, load_dataset, plot_dendrogram
    >>> model = ComparisonHC("4-al", n_clusters=4).fit(load_dataset("animals").triplets)
    >>> axes = plot_dendrogram(model, orientation="left")  # doctest: +SKIP
    """
    if not isinstance(tree, Dendrogram) and hasattr(tree, "dendrogram_"):
        labels = getattr(tree, "labels_", None) if labels is None else labels
        tree = tree.dendrogram_
    tree = tree if isinstance(tree, Dendrogram) else Dendrogram.from_linkage(tree)
    return tree.plot(ax, labels, names, orientation)


def random_tree(n_objects: int, rng: int | np.random.Generator | None) -> Dendrogram:
    """Return the hierarchy that arises when two clusters, chosen uniformly at random, are merged until one is left.

    Parameters
    ----------
    n_objects : int
        N, at least 1.
    rng : int or numpy.random.Generator
        Seed or generator.

    Returns
    -------
    Dendrogram
        Its heights are the merge order.

    Raises
    ------
    InputError
        If `n_objects` is less than 1.

    Examples
    --------
    >>> from comparison_hc.dendrogram import random_tree
    >>> random_tree(4, 0)
    Dendrogram(4 leaves, heights are merge order)
    """
    n, generator = check_integer(n_objects, "n_objects", 1, 2**31), as_rng(rng)
    alive, merges = list(range(n)), []
    for step in range(n - 1):
        merges.append([alive.pop(int(generator.integers(len(alive)))) for _ in range(2)])
        alive.append(n + step)
    return Dendrogram.from_merges(merges)


def _all_merge_orders(n_objects):
    "All N! (N − 1)! / 2^(N − 1) ways to merge N objects, for checks by exhaustion."
    states = [((), tuple(range(n_objects)))]
    for new in range(n_objects, 2 * n_objects - 1):
        longer = []
        for merges, alive in states:
            for pair in combinations(alive, 2):
                others = tuple(x for x in alive if x not in pair)
                longer.append(((*merges, pair), (*others, new)))
        states = longer
    return [Dendrogram.from_merges(merges) for merges, _ in states]


def check_dendrogram(dendrogram, argument="dendrogram"):
    require(isinstance(dendrogram, Dendrogram), argument, "a Dendrogram", dendrogram)
    return dendrogram


def _check_merges(merges, argument):
    "(K-1, 2) integers; every node exists before it is used and is used once."
    rule = "of shape (K-1, 2), one merge of two nodes per row"
    array = as_array(merges, argument, rule)
    if array.shape in ((0,), (0, 2)):
        array = np.empty((0, 2), dtype=np.intp)
    require(array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iuf", argument, rule, merges)
    whole = np.isfinite(array) & (array == np.round(array))
    require(whole.all(), argument, "whole numbers, the numbers of nodes", array[~whole][:1].tolist())
    n_leaves = len(array) + 1
    late = (array < 0) | (array >= n_leaves + np.arange(len(array))[:, None])
    if late.any():
        row = int(np.argmax(late.any(axis=1)))
        rule = f"made of nodes that exist: row {row} may use nodes 0 to {n_leaves + row - 1}"
        require(False, argument, rule, list(map(int, array[row])))
    array = array.astype(np.int64)
    nodes, uses = np.unique(array, return_counts=True)
    twice = nodes[uses > 1].tolist()
    require(not twice, argument, "free of repetitions: a node is merged once; this one twice", next(iter(twice), None))
    return array


def _check_linkage_matrix(linkage_matrix):
    "A read-only copy of a linkage matrix as SciPy defines it; K = 1 has zero rows."
    name = "linkage_matrix"
    array = as_array(linkage_matrix, name, "a matrix of numbers")
    require(array.dtype.kind != "c", name, "a matrix of real numbers", array)
    try:
        array = np.array(array, dtype=float) + 0.0  # no −0
    except (TypeError, ValueError, OverflowError):
        require(False, name, "a matrix of numbers", linkage_matrix)
    if array.shape == (0,):
        array = array.reshape(0, 4)
    require(array.ndim == 2 and array.shape[1] == 4, name, "of shape (K-1, 4), SciPy's Z", array)
    children = _check_merges(array[:, :2], name)
    heights = array[:, 2]
    legal = np.isfinite(heights) & (heights >= 0)
    require(legal.all(), name, "finite and not negative in column 2, the heights", heights[~legal][:1].tolist())
    wrong = np.flatnonzero(array[:, 3] != leaf_counts(children))
    if len(wrong):
        rule = f"right in column 3, the number of leaves: row {wrong[0]} joins {leaf_counts(children)[wrong[0]]}"
        require(False, name, rule, float(array[wrong[0], 3]))
    return read_only(array)


def _check_clusters(initial_clusters, n_leaves):
    "Tuples of objects that are together a partition."
    if initial_clusters is None:
        return tuple((i,) for i in range(n_leaves))
    name, rule = "initial_clusters", "a sequence of clusters, each a sequence of object numbers"
    try:
        clusters = tuple(tuple(cluster) for cluster in initial_clusters)
    except TypeError:
        require(False, name, rule, initial_clusters)
    flat = list(chain.from_iterable(clusters))
    strange = [i for i in flat if not isinstance(i, Integral) or isinstance(i, (bool, np.bool_))]
    require(not strange, name, rule, strange[:1])
    require(len(clusters) == n_leaves, name, f"of length {n_leaves}, one cluster per leaf", len(clusters))
    require(all(clusters), name, "free of empty clusters", initial_clusters)
    rule = f"a partition of the objects 0 to {len(flat) - 1}, each in one cluster"
    require(sorted(flat) == list(range(len(flat))), name, rule, initial_clusters)
    return tuple(tuple(map(int, cluster)) for cluster in clusters)


def _check_permutation(order, n_objects):
    rule = f"a permutation of 0 to {n_objects - 1}"
    array = as_array(order, "order", rule)
    shaped = array.shape == (n_objects,) and array.dtype.kind in "iu"
    require(shaped and np.array_equal(np.sort(array), np.arange(n_objects)), "order", rule, order)
    return array


def read_only(array):
    array.flags.writeable = False
    return array


class _FittedHierarchy:
    "What estimators of a hierarchy share; the first of their bases."

    n_clusters: int | None
    fit: Any

    def _keep_dendrogram(self, dendrogram):
        "The end of `fit`: `dendrogram_`, `linkage_matrix_`, `children_` and, with `n_clusters`, `labels_`."
        self.dendrogram_ = dendrogram
        self.linkage_matrix_ = dendrogram.linkage_matrix
        self.children_ = dendrogram.children
        if self.n_clusters is not None:
            self.labels_ = dendrogram.cut(self.n_clusters)
        elif hasattr(self, "labels_"):
            del self.labels_  # of an earlier fit
        return self

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the hierarchy with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default the current axes.
        options : keyword arguments
            `labels`, `names` and `orientation` as in `plot_dendrogram`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        require(hasattr(self, "dendrogram_"), "the estimator", "fitted before it is drawn", self)
        return plot_dendrogram(self, ax, **options)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the flat clustering into `n_clusters` clusters.

        Parameters
        ----------
        X : as in `fit`
        y : as in `fit`

        Returns
        -------
        ndarray of int of shape (N,)
            Labels by size, exactly `n_clusters` of them.
        """
        require(self.n_clusters is not None, "n_clusters", "set before labels can be predicted", self.n_clusters)
        return self.fit(X, y).labels_
