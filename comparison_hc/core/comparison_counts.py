"Net counts of queries: what quadruplet-based methods need to know of comparisons that come in batches."

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..comparisons import Quadruplets, as_quadruplets, pair_from_index
from .compat import bincount
from .validation import check_integer, check_names, check_pairwise, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ..comparisons import Triplets

__all__ = ["ComparisonCounts"]


class ComparisonCounts:
    """For every query that was answered, how many more comparisons name one pair than the other.

    Memory is 16 bytes per distinct query, whatever the number of comparisons.

    Parameters
    ----------
    n_objects : int
        Number of objects n, 1 to 46,340.
    names : sequence of str, optional
        Names of the objects.

    Attributes
    ----------
    n_comparisons : int
        Number of comparisons so far.

    Examples
    --------
    >>> from comparison_hc import ComparisonCounts
    >>> counts = ComparisonCounts(3).partial_fit([[0, 1, 2], [0, 1, 2], [0, 2, 1]])
    >>> counts.merge(ComparisonCounts(3).partial_fit([[1, 0, 2]])).quadruplets().to_frame()
       i  j  k  l  weight
    0  0  1  0  2     1.0
    1  0  1  1  2     1.0
    """

    def __init__(self, n_objects: int, names: Sequence[str] | None = None):
        self.n_objects = check_pairwise(check_integer(n_objects, "n_objects", 1))
        self.names = check_names(names, n_objects)
        self.n_comparisons = 0
        self._query = np.zeros(0, dtype=np.int64)  # ascending: index of the later pair · P + index of the earlier one
        self._net = np.zeros(0, dtype=np.int64)  # comparisons that name the later pair minus those that name the other

    def __repr__(self):
        return f"ComparisonCounts({self.n_comparisons:,} comparisons about {self.n_objects:,} objects)"

    def partial_fit(self, comparisons: Triplets | Quadruplets | ArrayLike) -> ComparisonCounts:
        """Add a batch of comparisons.

        Parameters
        ----------
        comparisons : Triplets, Quadruplets or array-like of shape (m, 3) or (m, 4)
            Without weights.

        Returns
        -------
        ComparisonCounts
            The counts themselves.

        Raises
        ------
        InputError
            If a row is not a comparison of these objects; the counts are as before.
        """
        rows = as_quadruplets(comparisons, self.n_objects)
        winner, loser = (pairs.astype(np.int64) for pairs in rows.winners_and_losers())
        query = np.maximum(winner, loser) * self._n_pairs + np.minimum(winner, loser)
        return self._add(query, np.where(winner > loser, 1, -1), len(rows))

    def merge(self, other: ComparisonCounts) -> ComparisonCounts:
        """Add other counts.

        Parameters
        ----------
        other : ComparisonCounts
            Counts about the same objects; not changed.

        Returns
        -------
        ComparisonCounts
            The counts themselves.

        Raises
        ------
        InputError
            If `other` is not about the same objects.
        """
        alike = isinstance(other, ComparisonCounts) and (self.n_objects, self.names) == (other.n_objects, other.names)
        require(alike, "other", f"counts about the same {self.n_objects} objects", other)
        return self._add(other._query, other._net, other.n_comparisons)

    def quadruplets(self) -> Quadruplets:
        """Every query whose comparisons do not cancel, as the majority answered it.

        Returns
        -------
        Quadruplets
            One per query; the weight is the net count.

        Raises
        ------
        InputError
            If there is no such query.
        """
        decided = self._net != 0
        require(decided.any(), "the comparisons", "such that at least one query is decided", self)
        later, earlier = np.divmod(self._query[decided], self._n_pairs)
        net = self._net[decided]
        winner, loser = np.where(net > 0, (later, earlier), (earlier, later))
        rows = np.column_stack([*pair_from_index(winner), *pair_from_index(loser)])
        return Quadruplets(rows, self.n_objects, self.names, weights=np.abs(net))

    @property
    def _n_pairs(self):
        return self.n_objects * (self.n_objects - 1) // 2

    def _add(self, query, net, n_comparisons):
        self._query, index = np.unique(np.concatenate([self._query, query]), return_inverse=True)
        net = np.concatenate([self._net, net])
        self._net = bincount(index, weights=net, minlength=len(self._query)).astype(np.int64)
        self.n_comparisons += n_comparisons
        return self
