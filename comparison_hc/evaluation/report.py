"""A hierarchy or a partition with its evidence, as a value and in files: page, pictures, Newick, CSV, JSON."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.compat import import_optional
from ..core import additive_drawing as drawing
from ..core.images import matrix_range
from ..core._leaf_columns import CATEGORIES, LeafColumns, check_annotations
from ..core.io import atomic_write, check_destination, csv_text
from ..core.plotting import (
    ABOVE,
    PALETTE,
    TreeFigure,
    TreeStyle,
    cluster_color,
    collapsed_by_default,
    leaf_labels,
    tag,
    text_color,
    whole_percent,
)
from ..core._rows import relabel_by_size
from ..core.validation import InputError, InputWarning, check_choice, require, visible_text
from ..comparisons import as_comparisons
from ..dendrogram import Dendrogram
from ..methods import methods
from ..metrics import adjusted_rand_index, agreement, noise_ceiling
from . import _report_figures as figures
from ._candidates import candidate
from ._additive import additive_fields, additive_lines, paths_text
from ._report_text import REFERENCES, cited_papers, methods_parts, resampled_units, sentence_of_clusters

if TYPE_CHECKING:
    import altair
    import pandas
    from numpy.typing import ArrayLike

    from ..additive_tree import AdditiveTree
    from ..comparisons import Quadruplets, Triplets
    from .bootstrap import Support
    from .cluster_choice import ClusterChoice

__all__ = ["Result", "FlatResult", "save_result"]

SUPPORT_KINDS = {"transfer": "transfer", "exact": "values", "jaccard": "jaccard"}  # attribute of `Support`
SUPPORT_WORDS = {
    "transfer": "the transfer support of each branch, which measures how nearly it returns in trees from {units}: "
    "100% is always and exactly, 0% is no nearer than any set of objects",
    "exact": "in how many of the trees from {units} a branch was found",
    "jaccard": "the Jaccard stability of each branch, the mean overlap with the most similar branch of trees from "
    "{units}",
}
MOST_CONSENSUS = 300  # objects; a consensus of more is not drawn on the page
LABELS_HEADER = ("object", "cluster")
MOST_UNFOLDED = 20_000  # leaves of a tree that a page can show all at once
MOST_CUTS = 60  # numbers of clusters that a page offers, unless more were asked for


@dataclass(frozen=True, eq=False)
class Result:
    """A hierarchy with the comparisons that it was built from, and all that a report shows about it.

    Parameters
    ----------
    dendrogram : Dendrogram
    comparisons : Triplets or Quadruplets, optional
        None where a similarity was given.
    title : str, optional
        Heading of the report.
    method : str, optional
        How the hierarchy was computed, in words.
    n_clusters : int, optional
        Number of clusters shown.
    classes : sequence of shape (N,), optional
        True class of each object.
    notes : dict, optional
        Further lines, from label to text, of the table of the comparisons.
    support : array-like of shape (K - 1,), optional
        Share of resampled trees that have the cluster of each merge; with `resampled`, of the kind that is shown.
    compared : MethodComparison, optional
        What other methods reach on held-out comparisons.
    people : pandas.DataFrame, optional
        One row per person.
    images : dict, optional
        Pictures of objects, from name to data URI.
    provenance : dict, optional
        Command, version, SHA-256 of the data file, and keys of the papers to cite.
    style : TreeStyle, optional
        Size and direction of the picture.
    similarity : array-like of shape (N, N), optional
        The similarity, where there are no comparisons.
    partition : ClusterChoice, optional
        Clusters that were chosen by evidence, instead of a cut by merge order; `n_clusters` is then their number.
    resampled : Support, optional
        The bootstrap, with support of three kinds.
    support_kind : {"transfer", "exact", "jaccard"}, optional
        Which of them is shown; by default transfer support, and exact support without `resampled`.
    chance : Support, optional
        The same for answers by coin.
    additive : AdditiveTree, optional
        The fitted trees on whose path lengths the hierarchy is average linkage.
    branch_support : sequence of array-like of shape (2N - 3,), optional
        For each of these trees, the share of resampled fits that have each branch.
    annotations : dict or pandas.DataFrame, optional
        Columns beside the leaves of the dendrogram: from title to one value per object, or a table with one row per
        object. A column of numbers has a scale of colours, every other one categories; nothing is known of None.
    against : (str, Dendrogram), optional
        A title and another hierarchy of the same objects, for a tanglegram.

    Examples
    --------
    >>> from comparison_hc import Dendrogram, Triplets
    >>> from comparison_hc.evaluation import Result
    >>> tree = Dendrogram.from_merges([(0, 1), (2, 3)], names=["cat", "dog", "hen"])
    >>> Result(tree, Triplets([(0, 1, 2), (1, 0, 2)]), n_clusters=2).clusters()
    [['cat', 'dog'], ['hen']]
    """

    dendrogram: Dendrogram
    comparisons: Triplets | Quadruplets | None
    title: str = "Hierarchy"
    method: str = ""
    n_clusters: int | None = None
    classes: Sequence[Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    support: ArrayLike | None = None
    compared: Any = None
    people: pandas.DataFrame | None = None
    images: Mapping[str, str] | None = None
    provenance: dict[str, Any] | None = None
    style: TreeStyle | None = None
    similarity: ArrayLike | None = None
    partition: ClusterChoice | None = None
    resampled: Support | None = None
    support_kind: str | None = None
    chance: Support | None = None
    additive: AdditiveTree | None = None
    branch_support: Sequence[ArrayLike] | None = None
    annotations: Mapping[str, Sequence[Any]] | pandas.DataFrame | None = None
    against: tuple[str, Dendrogram] | None = None

    def __post_init__(self):
        if self.against is not None:
            title, other = self.against
            rule = "a hierarchy of the same objects, each a leaf of both trees"
            n = self.dendrogram.n_objects
            fits = n == self.dendrogram.n_leaves == other.n_leaves == other.n_objects
            require(fits and (other.names or self.dendrogram.names) == self.dendrogram.names, "against", rule, other)
        if self.annotations is not None:
            object.__setattr__(self, "annotations", check_annotations(self.annotations, self.names))
        if self.resampled is None:
            kind = "exact"
        else:
            kind = check_choice(self.support_kind or "transfer", "support_kind", SUPPORT_KINDS)
            object.__setattr__(self, "support", getattr(self.resampled, SUPPORT_KINDS[kind]))
        object.__setattr__(self, "support_kind", kind)
        if self.partition is not None:
            object.__setattr__(self, "n_clusters", self.partition.n_clusters)

    @cached_property
    def _lines(self):
        return _lines_of(self)

    @property
    def names(self) -> list[str]:
        "(N,) names of the objects; their numbers where they have none."
        return list(self.dendrogram.names or map(str, range(self.dendrogram.n_objects)))

    @property
    def labels(self) -> np.ndarray | None:
        "(N,) cluster of every object, 0 the largest; None without a number of clusters."
        if self.partition is not None:
            return self.partition.labels
        return None if self.n_clusters is None else self.dendrogram.cut(self.n_clusters)

    def clusters(self) -> list[list[str]]:
        """Return the names in each cluster.

        Returns
        -------
        list of list of str
            Empty without a number of clusters.
        """
        return [] if self.labels is None else _members(self.names, self.labels)

    def chart(self) -> altair.LayerChart:
        """Draw the dendrogram, coloured by class or, without classes, by cluster.

        Returns
        -------
        altair.LayerChart
            With pictures where all leaves have one.
        """
        images = _leaf_images(self)
        shown: dict[str, Any] = dict(names=self.names, images=images if images and all(images) else None)
        if self.classes is not None:
            return self.dendrogram.chart(labels=list(self.classes), label_title="class", **shown)
        return self.dendrogram.chart(labels=self.labels, label_title="cluster", **shown)


@dataclass(frozen=True, eq=False)
class FlatResult:
    """A partition with the comparisons that it was found from, and all that a report shows about it.

    Parameters
    ----------
    labels : array-like of int of shape (N,)
        Cluster of each object; renumbered by size, 0 the largest.
    comparisons : Triplets or Quadruplets
    title, method, classes, notes, people, images, provenance, compared : optional
        As in `Result`.
    certificate : Certificate, optional
        The proof that no partition is better.
    steps : sequence of SpurStep, optional
        One for every number of clusters considered.

    Examples
    --------
    >>> from comparison_hc import Triplets
    >>> from comparison_hc.evaluation import FlatResult
    >>> FlatResult([0, 1, 1], Triplets([(1, 2, 0)], names=["cat", "hen", "owl"])).clusters()
    [['hen', 'owl'], ['cat']]
    """

    labels: np.ndarray
    comparisons: Triplets | Quadruplets
    title: str = "Clusters"
    method: str = ""
    classes: Sequence[Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    certificate: Any = None
    steps: Sequence[Any] = ()
    people: pandas.DataFrame | None = None
    images: Mapping[str, str] | None = None
    provenance: dict[str, Any] | None = None
    compared: Any = None

    def __post_init__(self):
        object.__setattr__(self, "labels", relabel_by_size(np.asarray(self.labels)))

    @cached_property
    def _lines(self):
        return _lines_of(self)

    @property
    def n_clusters(self) -> int:
        "Number of clusters."
        return int(self.labels.max()) + 1

    @property
    def names(self) -> list[str]:
        "(N,) names of the objects."
        return list(self.comparisons.object_names)

    def clusters(self) -> list[list[str]]:
        """Return the names in each cluster.

        Returns
        -------
        list of list of str
        """
        return _members(self.names, self.labels)


def save_result(
    result: Result | FlatResult | Any,
    path: str | Path,
    figure: str = "tree",
    comparisons: Triplets | Quadruplets | None = None,
) -> None:
    """Write a result in the form that the ending of the path names.

    Parameters
    ----------
    result : Result, FlatResult or a fitted estimator
        An estimator is a `ComparisonHC`, `AdditiveTree` or `ComparisonClustering` of this package.
    path : str or Path
        Of a hierarchy .html (a self-contained page), .svg, .png (300 dots per inch), .pdf, .nwk (Newick), .csv
        (linkage matrix; path lengths of additive trees) or .json; of a partition .html, .svg, .png, .pdf, .csv
        (labels) or .json. An existing file is replaced as a whole.
    figure : {"tree", "dendrogram", "unrooted", "rooted", "matrix", "map", "tree+matrix", "tanglegram"}, default "tree"
        What .svg, .png and .pdf show. "tree" is the dendrogram, or additive trees without a root where there are some
        and no annotations.
        "tanglegram" sets the tree against `Result.against`.
    comparisons : Triplets or Quadruplets, optional
        With an estimator, the comparisons that it was fitted to: what matrix, map and agreement are computed from, and
        where a partition has its names.

    Raises
    ------
    InputError
        If the ending is another one, the result lacks the figure, or the file cannot be written.

    Warns
    -----
    InputWarning
        If a picture has letters of less than 5 points, names that are cut, another width than the style's, or no room
        for annotations.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from comparison_hc import Dendrogram
    >>> from comparison_hc.evaluation import Result, save_result
    >>> with TemporaryDirectory() as folder:
    ...     save_result(Result(Dendrogram.from_merges([(0, 1)]), None), f"{folder}/tree.nwk")
    ...     Path(f"{folder}/tree.nwk").read_text()
    '(0:1,1:1);\\n'
    """
    result = _as_result(result, comparisons)
    forms = WRITERS if isinstance(result, Result) else FLAT_WRITERS
    destination = check_destination(path, "path", tuple(forms))
    check_choice(figure, "figure", FIGURES)
    ending = destination.suffix.lower()
    options = dict(figure=figure) if ending in PICTURES else {}
    atomic_write(destination, forms[ending](result, **options))


def _as_result(model, comparisons):
    "A result as it is, and one of a fitted estimator."
    if isinstance(model, (Result, FlatResult)):
        require(comparisons is None, "comparisons", "None with a result, which has them", comparisons)
        return model
    tree, labels = getattr(model, "dendrogram_", None), getattr(model, "labels_", None)
    is_fitted = isinstance(tree, Dendrogram) or labels is not None
    require(is_fitted, "result", "a `Result`, a `FlatResult` or a fitted estimator", model)
    answers = None if comparisons is None else as_comparisons(comparisons, weighted=True)
    if tree is None:
        require(answers is not None, "comparisons", "the comparisons that the estimator was fitted to", comparisons)
        return FlatResult(labels, answers, method=f"{model.similarity}{answers.width}")
    if hasattr(model, "trees_"):
        about = dict(method="additive trees", additive=model, provenance=_with_version("ST77"))
        return Result(tree, answers, **about)
    about = dict(n_clusters=getattr(model, "n_clusters", None), partition=getattr(model, "partition_", None))
    return Result(tree, answers, **about, **_about_linkage(model))


def _about_linkage(model):
    "The method of a fitted `ComparisonHC`, its papers, and with a chosen one the methods that it was compared with."
    chosen = getattr(model, "choice_", None)
    name = chosen.name if chosen else model._settled_linkage()[0]
    if chosen is None and name in methods:
        return dict(method=methods[name].title, provenance=_with_version(*methods[name].papers))
    known = dict(method=chosen.title, compared=chosen.compared) if chosen else dict(method=candidate(name).title)
    return known | dict(provenance=_with_version(*candidate(name).papers))


def _with_version(*papers):
    from .. import __version__

    return dict(references=list(papers), version=__version__)


def _members(names, labels):
    members = [[] for _ in range(int(labels.max()) + 1)]
    for name, label in zip(names, labels.tolist()):
        members[label].append(name)
    return members


def _leaf_images(result):
    "K data URIs or None each: of a leaf's first object that has a picture."
    if not result.images:
        return None
    named = ((result.names[i] for i in cluster) for cluster in result.dendrogram.initial_clusters)
    return [next((result.images[name] for name in names if name in result.images), None) for names in named]


# ---- the comparisons in lines


def result_lines(result):
    "(label, text) of what the comparisons are and how well a result fits them."
    return result._lines


def _lines_of(result):
    lines = [("method", result.method)] if result.method else []
    if result.comparisons is not None and result.comparisons.reading is not None:
        lines.append(("read", str(result.comparisons.reading)))
    lines += [(label, str(text)) for label, text in result.notes.items()]
    if result.comparisons is not None:
        lines += result.comparisons.summary().rows() + (_fit_lines(result) if isinstance(result, Result) else [])
    if getattr(result, "partition", None) is not None:
        lines += result.partition.rows(result.names)
    if getattr(result, "additive", None) is not None:
        lines += additive_lines(result)
    if result.classes is not None and result.labels is not None:
        index = adjusted_rand_index(list(result.classes), result.labels)
        lines.append(("adjusted Rand index with the classes", f"{index:.3f}"))
    return lines


def _fit_lines(result):
    comparisons = result.comparisons.without_weights()  # the lines count responses
    found = agreement(result.dendrogram, comparisons)
    counts = [
        ("the hierarchy agrees with", found.agree, " of the answers"),
        ("contradicts", found.disagree, ""),
        ("leaves open", found.undecided, ""),
    ]
    if comparisons.kind == "triplets":
        most = round(noise_ceiling(comparisons, undecided=0) * found.total)
        counts.append(("no hierarchy agrees with more than", most, " of the answers"))
    return [(label, f"{n:,} ({n / found.total:.1%}){unit}") for label, n, unit in counts]


# ---- the page


def static_text(name):
    "A file beside this module: style, script or template of a page."
    return (files("comparison_hc") / "evaluation/static" / name).read_text(encoding="utf-8")


def html_page(result):
    "One self-contained page."
    return visible_text(_template().render(**_page_parts(result)))


@cache
def _template():
    from jinja2 import Environment, FunctionLoader

    form = dict(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment = Environment(loader=FunctionLoader(static_text), **form)
    environment.filters |= dict(table=table_html, lines=lines_html)
    return environment.get_template("report.html")


def _page_parts(result):
    "What the template shows."
    is_tree, respondents = isinstance(result, Result), getattr(result.comparisons, "respondents", None)
    return dict(
        result=result,
        is_tree=is_tree,
        labels=result.labels,
        n_people=0 if respondents is None else len(set(respondents.tolist())),
        tree=_tree_parts(result) if is_tree else None,
        n_categories=len(CATEGORIES),
        consensus=_consensus_parts(result) if is_tree else None,
        against=_against_parts(result),
        support_words=SUPPORT_WORDS[result.support_kind].format(units=resampled_units(result)) if is_tree else "",
        units=resampled_units(result) if is_tree else "",
        coin=None if getattr(result, "chance", None) is None else _coin_parts(result),
        curve=None if is_tree else _curve_parts(result),
        matrix=_matrix_parts(result),
        map=_map_parts(result),
        lines=result_lines(result),
        **_counted(result.comparisons),
        rows=_first_rows(result.comparisons),
        reading=_reading_rows(result.comparisons),
        provenance=_provenance_html(result.provenance or {}),
        methods={part: " ".join(sentences) for part, sentences in methods_parts(result).items()},
        references=[REFERENCES[key] for key in cited_papers(result)],
        style=static_text("page.css"),
        color=cluster_color,
        text_color=text_color,
    )


def _coin_parts(result):
    "What support of the kind shown answers by coin reach."
    shares = getattr(result.chance, SUPPORT_KINDS[result.support_kind])[:-1]
    return dict(mean=shares.mean(), most=shares.max()) if len(shares) else None


def _provenance_html(provenance):
    "How a result was made; options of the command are not broken."
    labels = {"command": "command", "version": "version of comparison_hc", "sha256": "SHA-256 of the data file"}
    lines = [(labels.get(key, key), str(value)) for key, value in provenance.items() if key != "references"]
    return re.sub(r"(?<= )(--[\w-]+)", r"<span class='word'>\1</span>", lines_html(lines)) if lines else ""


def _tree_parts(result):
    "What the page shows of a tree, and the facts of its caption."
    tree, n_leaves = result.dendrogram, result.dendrogram.n_leaves
    most = min(max(MOST_CUTS, result.n_clusters or 1), n_leaves)
    can_unfold = dict(collapsed=()) if n_leaves <= MOST_UNFOLDED else {}
    figure = _tree_figure(result, most if n_leaves > 1 else 0, **can_unfold)
    data = _script_data(result, figure, most) if n_leaves > 1 else None
    over_branches = [_cutter(figure, data["stops"][(result.n_clusters or 1) - 1])] if data else []
    collapsed = [node for node in figure.ends if node >= n_leaves]
    return dict(
        figure=figure,
        svg=figure.svg(over_branches),
        data=data and _safe_json(data),
        script=static_text("page.mjs"),
        most=most,
        n_colors=len({color for color in figure.colors if color is not None}),
        n_palette=len(PALETTE),
        n_collapsed=len(collapsed),
        n_hidden=sum(int(tree.sizes[node]) for node in collapsed),
        n_folded=len(data["folded"]) if data else 0,
        views=list(_additive_views(result)) if data else [],
        n_additive=0 if result.additive is None else result.additive.n_trees_,
        steps=_steps(result),
    )


def _additive_views(result):
    "The additive trees without a root and with one, for the page."
    if result.additive is None:
        return []
    trees, title = result.additive.trees_, _trees_title(result)
    labels = np.full(len(result.names), -1) if result.labels is None else result.labels
    for name, layout, which in (
        ("unrooted", drawing.LAYOUTS[0], "without a root"),
        ("rooted", "rooted", "with a root"),
    ):
        made = drawing.draw_beside(trees, layout, result.branch_support, labels=labels)
        about = dict(title=f"{title}, {which}", rooted=layout == "rooted")
        yield dict(id=name, svg=drawing.drawing_svg(made, title), **about)


def _tree_figure(result, n_cuts=0, **more):
    shown = dict(labels=result.labels, classes=result.classes, support=result.support, style=result.style) | more
    if result.annotations is not None:
        shown["columns"] = LeafColumns(result.annotations)
    return TreeFigure(result.dendrogram, result.names, images=_leaf_images(result), n_cuts=n_cuts, **shown)


def _steps(result):
    "Every merge in words."
    tree, labels, K = result.dendrogram, result.labels, result.dendrogram.n_leaves
    texts, nodes = leaf_labels(tree, result.names), []
    if labels is not None and result.partition is None:
        nodes = tree.cut_nodes(result.n_clusters)
    texts += [f"branch {row + 1}" for row in range(K - 1)]
    cluster = {int(node): int(labels[tree.leaf_order()[tree.starts[node]]]) for node in nodes}
    for node, (a, b) in enumerate(tree.children.tolist(), K):
        text = f"{texts[a]} + {texts[b]}: {tree.sizes[node]:,} objects"
        text += f", cluster {cluster[node]}" if node in cluster else ""
        has_support = result.support is not None and node < 2 * K - 2  # every tree has the cluster of all objects
        text += _support_words(result, float(result.support[node - K])) if has_support else ""
        yield text


def _support_words(result, share):
    if result.support_kind == "exact":
        return f", in {whole_percent(share)}% of the trees"
    return f", {result.support_kind} support {whole_percent(share)}%"


def consensus_result(result):
    "The majority-rule consensus of the resampled trees, as a result of its own."
    found = result.resampled.consensus()
    method = f"majority-rule consensus of {len(result.resampled.trees):,} trees by {result.method}"
    shown = dict(classes=result.classes, images=result.images, style=result.style, support=found.values)
    about = dict(provenance=result.provenance)
    return Result(found.dendrogram, result.comparisons, f"{result.title}, consensus", method, **shown, **about)


def _consensus_parts(result):
    "The picture of the consensus and the facts of its caption; nothing where there is none."
    if result.resampled is None or not 3 <= result.dendrogram.n_leaves <= MOST_CONSENSUS:
        return None
    found, trees = result.resampled.consensus(), result.resampled.trees
    shown = dict(labels=result.labels, classes=result.classes, support=found.values, style=result.style)
    svg = TreeFigure(found.dendrogram, result.names, images=_leaf_images(result), **shown).svg()
    return dict(svg=svg, n_kept=int(found.kept[:-1].sum()), n_inner=len(found.kept) - 1, n_trees=len(trees))


def _cut_stops(tree, figure, most):
    "Places along the branches: half-way between the last merge that is kept and the first that is undone."
    heights, K = tree.heights.tolist(), tree.n_leaves
    for k in range(1, most + 1):
        height = heights[0] / 2 if k == K else (heights[K - 1 - k] + heights[K - k]) / 2 if k > 1 else 0
        along = min(figure.low_along * (1 - figure.share(height)), figure.length) if k > 1 else -6
        yield round(figure.point(along, 0)[0 if figure.style.sideways else 1], 1)


def _cutter(figure, stop):
    "The line that can be dragged; it is seen where scripts run."
    low, high = figure.start - 6, figure.start + figure.breadth + 4
    along, across = ("x", "y") if figure.style.sideways else ("y", "x")
    ends = {along + "1": stop, along + "2": stop, across + "1": float(low), across + "2": float(high)}
    wide = tag("line", stroke="transparent", stroke_width=16, **ends)
    dashes = tag("line", stroke="#b30000", stroke_width=1.3, stroke_dasharray="5 4", **ends)
    handle = tag("circle", **{"c" + along: stop, "c" + across: float(low)}, r=5, fill="#b30000")
    inside = wide + dashes + handle + tag("title", "drag to cut the tree")
    return tag("g", inside, class_="cutter", style=f"cursor:{'ew' if figure.style.sideways else 'ns'}-resize")


def _script_data(result, figure, most):
    "What the script needs: the tree, the clusters and the sentences of every cut, and the sizes of the picture."
    tree, sideways = result.dendrogram, figure.style.sideways
    return dict(
        names=list(map(visible_text, result.names)),
        children=tree.children.tolist(),
        order=tree.leaf_order().tolist(),
        parents=np.minimum(tree.parents, len(tree.parents) - 1).tolist(),  # the root's is itself
        starts=tree.starts.tolist(),
        sizes=tree.sizes.tolist(),
        cuts=[_cut_fields(result, k) for k in range(1, most + 1)],
        k=result.n_clusters,
        tint=figure.colors if _is_coloured_by_class(result, figure) else None,
        colours=PALETTE,
        inks=list(map(text_color, PALETTE)),
        above=ABOVE,
        stops=list(_cut_stops(tree, figure, most)),
        fixed=sorted(figure.collapsed),
        folded=sorted(figure.collapsed or ([] if figure.style.unfolded else collapsed_by_default(tree))),
        trees=[] if result.additive is None else [each.parent.tolist() for each in result.additive.trees_],
        sideways=sideways,
        pitch=figure.pitch,
        start=figure.start,
        badges=figure.point(figure.length + 16, 0)[0 if sideways else 1],
    )


def _cut_fields(result, k):
    "Clusters and sentences of the page (subtitle, methods text, heading) where the slider is at this number."
    if k == 1 and result.n_clusters != 1:
        return dict(labels=None, apart=False, sentences=["", "", ""])
    is_chosen, by_order = result.partition is not None and k == result.n_clusters, result.dendrogram.cut(k)
    shown = result if is_chosen else replace(result, partition=None, n_clusters=k)
    count = f"{k} cluster{'s' * (k != 1)}"
    how = "" if result.partition is None else ", chosen by evidence" if is_chosen else ", cut by merge order"
    return dict(
        labels=shown.labels.tolist(),
        apart=not np.array_equal(shown.labels, by_order),
        sentences=[f", {count}", sentence_of_clusters(shown), count + how],
    )


def _is_coloured_by_class(result, figure):
    return result.classes is not None and not figure.numbered


def _safe_json(value):
    "JSON in which nothing can end the element that it is in."
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _curve_parts(result):
    n_left_out = sum(not np.isfinite(step.objective) for step in result.steps)
    return dict(svg=figures.curve_svg(result.steps, result.n_clusters), n_left_out=n_left_out)


def _matrix_parts(result):
    "The matrix and the facts of its caption; nothing where there is none."
    found = _matrix(result)
    if found is None:
        return None
    matrix, about = found
    svg, named = figures.matrix_svg(matrix, _drawing_order(result), result.names, result.labels, **about)
    n_known, n_pairs = int(np.isfinite(matrix).sum()) // 2, len(matrix) * (len(matrix) - 1) // 2
    return dict(svg=svg, named=named, n_known=n_known, n_pairs=n_pairs)


def _matrix(result):
    "(matrix of pairs, what its colours are), or None."
    similarity = getattr(result, "similarity", None)
    if len(result.names) < 2 or (result.comparisons is None and similarity is None):
        return None
    if result.comparisons is not None:
        return figures.win_share(result.comparisons), {}
    matrix = np.array(similarity, dtype=float)
    np.fill_diagonal(matrix, np.nan)
    ends = matrix_range(matrix)
    return matrix, dict(ends=ends, end_labels=[f"{end:.3g}" for end in ends], title="The similarity of each pair")


def _tree_beside_matrix(result, scale):
    "Tree and matrix as one picture, every leaf in its row."
    tree, found = result.dendrogram, _matrix(result)
    whole = found is not None and 1 < tree.n_leaves == tree.n_objects
    require(whole, "figure", "tree+matrix of a tree of answers or similarities about single objects", "tree+matrix")
    require((result.style or TreeStyle()).orientation == "left", "orientation", "left with tree+matrix", result.style)
    figure = _tree_figure(result, collapsed=())
    matrix, about = found
    return figures.beside_matrix_svg(figure, matrix, **{"title": "A tree beside its matrix"} | about, scale=scale)


def _drawing_order(result):
    "The objects as the page lists them: in the order of the tree, or cluster by cluster."
    return result.dendrogram.leaf_order() if isinstance(result, Result) else np.argsort(result.labels, kind="stable")


MOST_ON_MAP, MAP_ANSWERS = 600, 100_000  # objects and answers for which two maps are compared


def _map_parts(result):
    "The map and the facts of its caption; nothing where there is none."
    similarity = getattr(result, "similarity", None)
    if len(result.names) < 3 or (result.comparisons is None and similarity is None):
        return None
    if result.comparisons is not None:
        points, about = _map_of_answers(result.comparisons)
    else:
        points, explained = figures.two_dimensions(figures.distances_of_similarity(similarity))
        about = dict(explained=explained)
    svg, n_written = figures.map_svg(points, result.names, result.labels, result.images)
    return dict(svg=svg, n_written=n_written, **about)


def _map_of_answers(comparisons):
    "(points, facts of the caption) of t-STE or of classical scaling, whichever predicts held-out answers better."
    from ..core.weights import each_weight
    from ._splits import object_groups
    from .embedding import t_ste
    from .model_selection import signed_correctness

    def scaled(answers):
        return figures.two_dimensions(figures.distances_of_comparisons(answers))

    def embedded(answers):
        return t_ste(answers, 2, ridge=0.1, start="spectral", n_objects=answers.n_objects).points

    points, explained = scaled(comparisons)
    rng, m = np.random.default_rng(0), len(comparisons)
    some = comparisons if m <= MAP_ANSWERS else comparisons.take(np.sort(rng.choice(m, MAP_ANSWERS, replace=False)))
    groups = object_groups(some)
    held_out = (rng.permutation(int(groups.max()) + 1) % 5 == 0)[groups]
    if comparisons.n_objects > MOST_ON_MAP or held_out.all():
        return points, dict(explained=explained)
    train, test = some.take(np.flatnonzero(~held_out)), some.take(np.flatnonzero(held_out))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it stopped before the last digit
            maps = dict(embedded=embedded(train), scaled=scaled(train)[0])
            right = {
                name: np.average(signed_correctness(each, test), weights=each_weight(test))
                for name, each in maps.items()
            }
            shares = {name: float(1 + share) / 2 for name, share in right.items()}
            if shares["embedded"] > shares["scaled"]:
                return figures.turned(embedded(some)), dict(shares=shares, n_used=len(some))
    except InputError:  # an object that no answer is about
        return points, dict(explained=explained)
    return points, dict(explained=explained, shares=shares, n_used=m)


def _reading_rows(comparisons):
    "What was read, with the name of the file and not its folder: a report is sent to other people."
    reading = getattr(comparisons, "reading", None)
    if reading is None:
        return []
    folder = re.match(r"(.*[\\/])?", reading.source)[0]
    return [(what, text.replace(folder, "") if folder else text) for what, text in reading.table()]


def _counted(comparisons):
    "How many answers there are, and what the rows are called: an answer about three objects is two triplets."
    if comparisons is None:
        return {}
    n, reading = len(comparisons), getattr(comparisons, "reading", None)
    if reading is None or reading.kind == comparisons.kind:
        return dict(unit="answers", counted=f"{n:,} answers")
    whole = n == 2 * reading.n_read  # not a majority of several
    return dict(unit="triplets", counted=f"{n // 2:,} answers ({n:,} triplets)" if whole else f"{n:,} triplets")


def _first_rows(comparisons, most=8):
    "The first comparisons by name."
    if comparisons is None:
        return []
    text = "{0} is more like {1} than like {2}"
    if comparisons.kind == "quadruplets":
        text = "{0} and {1} are more alike than {2} and {3}"
    names = comparisons.object_names
    return [text.format(*(names[i] for i in row)) for row in comparisons.array[:most].tolist()]


def table_html(frame):
    "A table with a head; the index is its first column, unless it is 0, 1, 2, …"
    if list(frame.index) != list(range(len(frame))):
        frame = frame.reset_index()
    head = "".join(f"<th scope='col'>{escape(str(name))}</th>" for name in frame.columns)
    rows = []
    for row in frame.itertuples(index=False):
        cells = (_cell(value, name) for value, name in zip(row, frame.columns))
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"


def _cell(value, name):
    "Text of a cell: three significant digits, a share in percent."
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else ""
    if isinstance(value, (float, np.floating)):
        form = ".1%" if name == "share" else ".3g" if abs(value) < 1000 else ",.0f"
        return "" if np.isnan(value) else f"{value:{form}}"
    return str(value)


def lines_html(lines):
    "A table of two columns."
    rows = [f"<tr><th scope='row'>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in lines]
    return "<table>\n" + "\n".join(rows) + "\n</table>"


# ---- other forms


FIGURES = ("tree", "dendrogram", "unrooted", "rooted", "matrix", "map", "tree+matrix", "tanglegram")


MILLIMETRES, POINTS = 25.4 / 96, 72 / 96  # of a pixel
WITH_COLUMNS = ("tree", "dendrogram", "tree+matrix")
SMALL = 5  # points: letters that are smaller are hard to read in print


def _figure_svg(result, figure="tree", scale=1):
    "The picture of this name, with a warning of what a reader of it would miss."
    svg = _drawn_figure(result, figure, scale)
    for text in _faults_of_figure(svg, result, figure, scale):
        warnings.warn(text, InputWarning, stacklevel=4)
    return svg


def _faults_of_figure(svg, result, figure, scale):
    "What was asked for and is not in the picture, and letters that are too small, in words."
    style = getattr(result, "style", None) or TreeStyle()
    sizes = re.search(r'<svg[^>]* width="([\d.]+)"[^>]* viewBox="0 0 ([\d.]+)', svg).groups()
    width, inside = float(sizes[0]) / scale, float(sizes[1])
    letters = [float(size) for size in re.findall(r'<(?:svg|text)[^>]* font-size="([\d.]+)"', svg)]
    if style.width is not None and width > style.width + 1:
        text = f"figure {figure} is {width:.0f} pixels wide ({width * MILLIMETRES:.0f} mm), as its names need, and not "
        yield text + f"{style.width} ({style.width * MILLIMETRES:.0f} mm)"
    least = min(letters, default=np.inf) * width / inside * POINTS
    if width < inside and least < SMALL:
        text = f"the smallest letters of figure {figure} are {least:.1f} points at a width of {width:.0f} pixels; they "
        yield text + f"reach {SMALL} points at --width {np.ceil(width * SMALL / least):.0f}"
    if getattr(result, "annotations", None) is not None and figure not in WITH_COLUMNS:
        yield f"figure {figure} does not show the columns of --annotate; {', '.join(WITH_COLUMNS)} do"
    n_cut = len(set(re.findall(r'<text class="name"[^>]*>[^<]*…<', svg)))
    if n_cut:
        yield f"{n_cut} long name{'s are' if n_cut > 1 else ' is'} cut in figure {figure}; a larger --width shows more"


def _drawn_figure(result, figure, scale):
    "The picture of this name; a result without it is refused."
    is_tree = isinstance(result, Result)
    additive = result.additive if is_tree else None
    has_columns = is_tree and result.annotations is not None
    name = figure if figure != "tree" else "dendrogram" if additive is None or has_columns else "unrooted"
    if name in ("matrix", "map"):
        parts = _matrix_parts(result) if name == "matrix" else _map_parts(result)
        require(parts is not None, "figure", "one that this result has", figure)
        return _on_paper(parts["svg"], scale * _size_asked(parts["svg"], result))
    require(is_tree, "figure", "matrix or map of a result without a tree", figure)
    if name == "dendrogram":
        return _tree_figure(result).svg(scale=scale)
    if name == "tree+matrix":
        own = replace(result, style=result.style and replace(result.style, width=None, height=None))
        return _tree_beside_matrix(own, scale * _size_asked(_tree_beside_matrix(own, 1), result))
    if name == "tanglegram":
        require(result.against is not None, "figure", "tanglegram where there is another tree (--against)", figure)
        return _against_parts(result, result.labels, scale)["svg"]
    require(additive is not None, "figure", f"{name} where there are additive trees", figure)
    width = None if result.style is None else result.style.width
    shown = dict(layout="rooted" if name == "rooted" else "equal-daylight", labels=result.labels, width=width)
    made = drawing.draw_beside(additive.trees_, support=result.branch_support, **shown)
    return drawing.drawing_svg(made, _trees_title(result), scale)


def _against_parts(result, labels=None, scale=1):
    "The tanglegram and the facts of its caption; nothing where there is no other tree."
    if getattr(result, "against", None) is None or result.dendrogram.n_leaves < 2:
        return None
    (title, other), tree = result.against, result.dendrogram
    width = 900 if result.style is None or result.style.width is None else result.style.width
    titles = result.method.split(", chosen by")[0] or "this tree", title
    svg, n_crossed = figures.tanglegram_svg(tree, other, result.names, titles, labels, width, scale)
    facts = dict(title=title, n_crossed=n_crossed, n_pairs=tree.n_leaves * (tree.n_leaves - 1) // 2)
    return dict(svg=svg, n_shared=figures.n_shared_branches(tree, other), n_branches=tree.n_leaves - 2, **facts)


def _trees_title(result):
    n = result.additive.n_trees_
    return f"{n} additive tree{'s' * (n != 1)} of {len(result.names):,} objects"


def _size_asked(svg, result):
    "How many times its own size a picture is wanted, by the width of the result's style, or else by the height."
    style = getattr(result, "style", None) or TreeStyle()
    width, height = (float(each) for each in re.findall(r' (?:width|height)="([\d.]+)"', svg)[:2])
    if style.width is not None:
        return style.width / width
    return 1 if style.height is None else style.height / height


def _on_paper(svg, scale):
    "A picture on white whose size is `scale` times that of its frame."
    paper = tag("rect", width="100%", height="100%", fill="#fff")
    svg = re.sub(r' (width|height)="(\d+)"', lambda found: f' {found[1]}="{scale * int(found[2]):.0f}"', svg, count=2)
    return svg.replace(">", f">{paper}", 1)


def _picture(form):
    "A writer of a picture as png (300 dots per inch, 96 pixels) or pdf (vl_convert takes a pixel for 1/72 inch)."

    def write(result, figure="tree"):
        vl_convert = import_optional("vl_convert", f"a tree as {form.upper()}")
        if form == "png":
            return vl_convert.svg_to_png(_figure_svg(result, figure), scale=72 / 96, ppi=300)
        return vl_convert.svg_to_pdf(_figure_svg(result, figure, scale=0.75))

    return write


def _newick_text(result):
    if result.additive is not None:
        return result.additive.to_newick(result.branch_support) + "\n"
    return result.dendrogram.to_newick(result.support, result.labels) + "\n"


def _table_text(result):
    "Path lengths of additive trees; else the linkage matrix."
    if result.additive is not None:
        return paths_text(result.additive)
    rows = [f"{int(a)},{int(b)},{height:g},{int(size)}\n" for a, b, height, size in result.dendrogram.linkage_matrix]
    return "left,right,height,n_leaves\n" + "".join(rows)


def labels_text(names, labels):
    "The cluster of every object as CSV, for people with spreadsheets."
    return csv_text([LABELS_HEADER, *zip(names, np.asarray(labels).tolist())])


def _json_text(result):
    fields = _tree_fields(result) if isinstance(result, Result) else _flat_fields(result)
    fields["summary"] = dict(result_lines(result))
    if getattr(result, "partition", None) is not None:
        fields["clusters"] = _choice_fields(result.partition, result.names)
    text = json.dumps(fields, ensure_ascii=False, indent=1) + "\n"
    return text.encode(errors="replace").decode()  # the name of the data file may be no UTF-8


def _common_fields(result):
    return dict(
        title=result.title,
        method=result.method,
        names=result.names,
        n_clusters=result.n_clusters,
        labels=None if result.labels is None else result.labels.tolist(),
        classes=None if result.classes is None else list(result.classes),
    )


def _tree_fields(result):
    tree, support, comparisons = result.dendrogram, result.support, result.comparisons
    return _common_fields(result) | dict(
        linkage=tree.linkage_matrix.tolist(),
        heights=tree.height_kind,
        initial_clusters=[list(cluster) for cluster in tree.initial_clusters],
        newick=tree.to_newick(support, result.labels),
        support=None if support is None else np.asarray(support, dtype=float).tolist(),
        support_kind=None if support is None else result.support_kind,
        annotations=None
        if result.annotations is None
        else {k: list(map(_plain, v)) for k, v in result.annotations.items()},
        supports=_support_fields(result.resampled),
        supports_by_coin=_support_fields(result.chance),
        how=result.provenance,
        additive=None if result.additive is None else additive_fields(result),
        agreement=None if comparisons is None else vars(agreement(tree, comparisons.without_weights())),
    )


def _plain(value):
    "A number, a text or None for JSON."
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, (int, float)) else str(value)


def _support_fields(found):
    "Support of three kinds, one number per merge."
    return None if found is None else {name: getattr(found, kind).tolist() for name, kind in SUPPORT_KINDS.items()}


def _choice_fields(choice, names):
    "How clusters were chosen; a number is null where it was not computed."
    numbers = None if choice.numbers is None else choice.numbers.to_dict("records")
    unplaced = [names[i] for i in choice.unplaced]
    table = choice.table.to_dict("records")
    return dict(method=choice.title, sizes=choice.sizes, unplaced=unplaced, candidates=table, numbers=numbers)


def _flat_fields(result):
    proof = result.certificate
    interval = proof and dict(dual=proof.form, lam_low=_finite(proof.lam_low), lam_high=_finite(proof.lam_high))
    tried = [dict(k=step.k, objective=_finite(step.objective), how=step.how) for step in result.steps]
    return _common_fields(result) | dict(certificate=interval, tried=tried)


def _finite(x):
    return float(x) if np.isfinite(x) else None  # JSON has no infinity


PICTURES = (".svg", ".png", ".pdf")
WRITERS = {
    ".html": html_page,
    ".svg": _figure_svg,
    ".png": _picture("png"),
    ".pdf": _picture("pdf"),
    ".nwk": _newick_text,
    ".csv": _table_text,
    ".json": _json_text,
}
FLAT_WRITERS = {
    ".html": html_page,
    ".svg": _figure_svg,
    ".png": _picture("png"),
    ".pdf": _picture("pdf"),
    ".csv": lambda result: labels_text(result.names, result.labels),
    ".json": _json_text,
}
