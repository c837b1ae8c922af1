"""Draws of additive trees from their posterior, by the Metropolis algorithm.

A sweep multiplies every branch length by a random factor once, and proposes one interchange at every inner branch.
"""

import numpy as np

from .additive import children_of, leaves_below
from .compat import bincount

STEP = 0.8  # standard deviation of the logarithm of a factor
REFRESH = 50  # sweeps after which margins are summed up again


def draw_trees(outcomes, parents, lengths, rate, n_sweeps, rng, progress=None):
    "Yield (parents, splits, lengths) after every sweep, from this start, which should be a fit. They are not copies."
    return _Chain(outcomes, parents, lengths, rate, rng).run(n_sweeps, progress)


class _Chain:
    def __init__(self, outcomes, parents, lengths, rate, rng):
        self.outcomes, self.rate, self.rng = outcomes, rate, rng
        self.parents = [parent.copy() for parent in parents]
        self.children = [children_of(parent) for parent in parents]
        self.splits = [leaves_below(parent) for parent in parents]
        self.lengths = np.maximum(lengths, 1e-3).reshape(len(parents), -1)
        self.columns = [np.array([self._column(split) for split in splits]) for splits in self.splits]
        self.is_logistic = outcomes.sign.shape[1] == 1 and not outcomes.lapse
        if self.is_logistic:  # a contrast at a time: both answers to a question share an exponential
            index, size = outcomes.alternatives[:, 0], len(outcomes.contrasts)
            self.yes = bincount(index, outcomes.count * (outcomes.sign[:, 0] > 0), size)
            self.all = bincount(index, outcomes.count, size)
        self._refresh()

    def _column(self, split):
        "(C,) int8: what a unit of the branch adds to every margin."
        i, j = self.outcomes.pairs.T
        return self.outcomes.margins((split[i] != split[j]).astype(np.int8))

    def _loss(self, margin):
        if self.is_logistic:
            return self.all @ (np.maximum(margin, 0) + np.log1p(np.exp(-np.abs(margin)))) - self.yes @ margin
        return self.outcomes.count @ self.outcomes.losses(margin)

    def _refresh(self):
        self.margin = sum(lengths @ columns for lengths, columns in zip(self.lengths, self.columns))
        self.loss = self._loss(self.margin)

    def _accept(self, change, log_ratio):
        "Whether the margins change by this; the ratio is that of the priors and proposals."
        margin = self.margin + change
        loss = self._loss(margin)
        if np.log(self.rng.random()) >= self.loss - loss + log_ratio:
            return False
        self.margin, self.loss = margin, loss
        return True

    def run(self, n_sweeps, progress):
        for sweep in range(1, n_sweeps + 1):
            for tree in range(len(self.parents)):
                self._change_lengths(tree)
                self._interchange(tree)
            if sweep % REFRESH == 0:
                self._refresh()
            if progress:
                progress(sweep, n_sweeps)
            yield self.parents, self.splits, self.lengths

    def _change_lengths(self, tree):
        lengths, columns = self.lengths[tree], self.columns[tree]
        for edge in self.rng.permutation(len(lengths)):
            log_factor = self.rng.normal(0, STEP)
            change = lengths[edge] * np.expm1(log_factor)
            if self._accept(change * columns[edge], log_factor - self.rate * change):
                lengths[edge] += change

    def _interchange(self, tree):
        parent, children, splits = self.parents[tree], self.children[tree], self.splits[tree]
        for node in self.rng.permutation(np.arange(splits.shape[1], len(parent))):
            above = parent[node]
            if above == 0:
                continue
            up = next(other for other in children[above] if other != node)
            turn = int(self.rng.integers(2))
            down, stays = children[node][turn], children[node][1 - turn]
            split = splits[up - 1] | splits[stays - 1]
            column = self._column(split)
            if self._accept(self.lengths[tree][node - 1] * (column - self.columns[tree][node - 1]), 0.0):
                self.columns[tree][node - 1], splits[node - 1] = column, split
                parent[down], parent[up] = above, node
                children[node], children[above] = [stays, up], [node, down]
