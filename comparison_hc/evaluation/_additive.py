"""Additive trees in the command and in reports: fits, support of branches, path lengths as a table."""

import numpy as np

from ..core import additive_drawing as drawing
from ..core.io import csv_text
from ..dendrogram import Dendrogram
from ..metrics import agreement
from ._report_text import chance_loss

MOST_FOR_ROOT = 5_000  # answers by which roots are compared, one after the other


class DendrogramOfTrees(Dendrogram):
    "Average linkage on path lengths that keeps the splits of its trees, between processes too."

    @classmethod
    def of(cls, model):
        "The hierarchy of a fitted `AdditiveTree`."
        tree = model.dendrogram_
        return cls._with(splits_of(model.trees_), tree.linkage_matrix, None, tree.names, "path length")

    @classmethod
    def _with(cls, splits, *fields):
        tree = cls(*fields)
        object.__setattr__(tree, "splits", splits)
        return tree

    def __reduce__(self):
        _, fields = super().__reduce__()
        return DendrogramOfTrees._with, (self.splits, *fields)


def splits_of(trees):
    "The branches with a length, as bytes: the bits of the leaves on the side without leaf 0."
    found = set()
    for tree in trees:
        found |= {row.tobytes() for row in np.packbits(tree.splits[tree.lengths > 0], axis=1)}
    return frozenset(found)


def branch_support(trees, drawn):
    "For each tree the share of hierarchies (`DendrogramOfTrees`) in one of whose trees each branch occurs."
    return tuple(
        np.array(
            [np.mean([row.tobytes() in each.splits for each in drawn]) for row in np.packbits(tree.splits, axis=1)]
        )
        for tree in trees
    )


def fit_trees(comparisons, kind="comparisons", n_trees="auto", rate="auto", lapse="auto", rng=0):
    "A fitted `AdditiveTree`; with a kind of responses, of triplets that follow each other in twos."
    from ..additive_tree import AdditiveTree, _responses_of

    rows = comparisons if kind == "comparisons" else _responses_of(comparisons, kind)
    return AdditiveTree(n_trees=n_trees, rate=rate, lapse=lapse, rng=rng).fit(rows, kind=kind)


def paths_text(model):
    "The path lengths as a CSV table with names above and at the left, as `--kind distance` reads it."
    rows = [[name, *(f"{length:.9g}" for length in row)] for name, row in zip(model.names_, model.distances_.tolist())]
    return csv_text([["", *model.names_], *rows])


def additive_lines(result):
    "(label, text) of what the trees are and how well they fit."
    model = result.additive
    count = f"{model.n_trees_} tree{'s' * (model.n_trees_ != 1)}, prior of rate {model.rate_:g} on branch lengths, "
    count += f"{model.lapse_:.0%} of the answers taken as given at random"
    held_out = model.held_out_loss_
    chosen = (
        "" if held_out is None else f"; log loss of held-out answers {held_out:.3f} (chance {chance_loss(model):.3f})"
    )
    lines = [("additive trees", count + chosen)]
    if result.comparisons is not None:
        share = model.score(result.comparisons.without_weights())
        lines.append(("the path lengths agree with", f"{share:.1%} of the answers (a tie counts half)"))
        lines += _root_lines(model, result.comparisons.without_weights())
    return lines


def _root_lines(model, answers):
    "(label, text) of where answers put the root of every tree, of which the likelihood says nothing."
    note = ""
    if len(answers) > MOST_FOR_ROOT:
        answers = answers.take(np.sort(np.random.default_rng(0).choice(len(answers), MOST_FOR_ROOT, replace=False)))
        note = f", of {MOST_FOR_ROOT:,} drawn at random"
    for number, tree in enumerate(model.trees_, 1):
        best, middle = tree.best_root(answers), tree.midpoint()
        shares = []
        for place in (best, middle):
            found = agreement(drawing.as_dendrogram(drawing.rooted(tree.parent, tree.lengths, *place)), answers)
            shares.append(found.agree / found.total)
        behind = np.flatnonzero(tree.splits[best[0]])
        side = behind if 2 * len(behind) <= len(tree.names) else np.flatnonzero(~tree.splits[best[0]])
        names = ", ".join(tree.names[i] for i in side[:5]) + (f" and {len(side) - 5} more" if len(side) > 5 else "")
        which = "" if model.n_trees_ == 1 else f" of tree {number}"
        text = f"between {names} and the other {len(tree.names) - len(side)}: nested groups below it agree with "
        text += f"{shares[0]:.1%} of the answers{note}, below the midpoint with {shares[1]:.1%}"
        yield f"best root{which}", text


def additive_fields(result):
    "What JSON says of the trees."
    model, supports = result.additive, result.branch_support or [None] * result.additive.n_trees_
    return dict(
        n_trees=model.n_trees_,
        rate=model.rate_,
        lapse=model.lapse_,
        held_out_loss=model.held_out_loss_,
        path_lengths=model.distances_.tolist(),
        trees=[
            dict(
                newick=tree.to_newick(support),
                parent=tree.parent.tolist(),
                lengths=tree.lengths.tolist(),
                support=None if support is None else support.tolist(),
            )
            for tree, support in zip(model.trees_, supports)
        ],
    )
