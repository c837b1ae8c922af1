"Does the tree of each of two groups predict its own people better than that of the other group?"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.validation import as_list, as_rng, check_integer, check_progress, require
from .crowd import raters
from ..evaluation.model_selection import signed_correctness
from ..methods import build_hierarchy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..comparisons import Quadruplets, Triplets

__all__ = ["GroupTest", "compare_groups"]


def own_tree_gain(answers, person, second, method, rng):
    "Each half of the people of each group judges the trees of the other halves. Open answers count as half."
    half = np.empty(len(second), dtype=bool)
    for side in (False, True):
        members = rng.permutation(np.flatnonzero(second == side))
        half[members] = np.arange(len(members)) % 2
    found = []
    for held in (False, True):
        seen = [((half != held) & (second == g))[person] for g in (False, True)]
        trees = [build_hierarchy(method, answers.take(rows))[0] for rows in seen]
        out = np.flatnonzero((half == held)[person])
        by_first, by_second = (signed_correctness(tree, answers.take(out)) for tree in trees)
        own = np.where(second[person[out]], by_second - by_first, by_first - by_second)
        found.append(own.mean() / 2)
    return float(np.mean(found))


@dataclass(frozen=True, eq=False)
class GroupTest:
    "Whether two groups of people have trees of their own."

    names: tuple  # of the two groups
    sizes: tuple  # how many people each has
    gain: float  # own tree minus the other's
    dealt: np.ndarray  # (n,) the same with labels permuted

    @property
    def p_value(self):
        "The rank of the real gain among all."
        return float((1 + np.sum(self.dealt >= self.gain)) / (1 + len(self.dealt)))

    def sentences(self):
        "What a reader needs to know."
        (first, second), (a, b) = self.names, self.sizes
        n, p = len(self.dealt), self.p_value
        verdict = "more than chance explains" if p <= 0.05 else "no more than chance may explain"
        return [
            f"two groups: {first} ({a} people) and {second} ({b} people)",
            f"own tree minus the other's, on held-out people: {self.gain:+.3f} of their answers",
            f"with labels permuted {n} times: {self.dealt.mean():+.3f} on average, at most {self.dealt.max():+.3f}",
            f"p = {p:.3f}: {verdict} (the least possible is {1 / (1 + n):.3f})",
        ]


def compare_groups(
    answers: Triplets | Quadruplets,
    groups: dict | ArrayLike,
    n_draws: int = 99,
    method: str = "3k-al",
    rng: int | np.random.Generator | None = 0,
    progress: Callable | None = None,
) -> GroupTest:
    """Test whether each of two groups of people has a tree of its own.

    Half of the people of each group are held out and judged by both groups' trees; the gain is the agreement with
    the own tree minus that with the other. A permutation test permutes the group labels of people, not of answers.

    Parameters
    ----------
    answers : Triplets or Quadruplets
        Comparisons with respondents.
    groups : dict or array-like of shape (m,)
        {person: group}, or the group of the person who gave each answer. Two groups of at least two people each.
    n_draws : int, default 99
        Number of permutations.
    method : str, default "3k-al"
        A passive method, by which trees are built.
    rng : int or numpy.random.Generator, default 0
        Permutes the labels and deals the halves.
    progress : callable, optional
        Called with (permutations done, in all).

    Returns
    -------
    GroupTest

    Raises
    ------
    InputError
        If people have no group or two, or there are not two groups of at least two people.

    Examples
    --------
    >>> from comparison_hc import Triplets
    >>> from comparison_hc.elicitation import compare_groups
    >>> rows = [[0, 1, 2], [1, 0, 2]] * 2 + [[0, 2, 1], [2, 0, 1]] * 2
    >>> who = ["a", "a", "b", "b", "c", "c", "d", "d"]
    >>> test = compare_groups(Triplets(rows, respondents=who), {"a": 0, "b": 0, "c": 1, "d": 1}, n_draws=9)
    >>> test.gain > 0
    True
    """
    require(hasattr(answers, "respondents"), "answers", "Triplets or Quadruplets with respondents", answers)
    names, person = raters(answers)
    n_draws, rng, progress = check_integer(n_draws, "n_draws"), as_rng(rng), check_progress(progress)
    if isinstance(groups, dict):
        of_answer = [groups.get(names[who]) for who in person]
    else:
        of_answer = list(map(str, as_list(groups, "groups", "a dict or a sequence")))
    require(len(of_answer) == len(person), "groups", "a group for every answer", len(of_answer))
    pairs = sorted({*zip(person.tolist(), of_answer)}, key=str)
    require(None not in {g for _, g in pairs}, "groups", "a group for every person", "a person without one")
    twice = [names[who] for (who, _), (other, _) in zip(pairs, pairs[1:]) if who == other]
    require(len(pairs) == len(names), "groups", "the same group in all answers of a person", twice[:1])
    kinds = sorted({g for _, g in pairs})
    require(len(kinds) == 2, "groups", "two groups", kinds)
    second = np.zeros(len(names), dtype=bool)
    second[[who for who, g in pairs if g == kinds[1]]] = True
    sizes = (int((~second).sum()), int(second.sum()))
    require(min(sizes) >= 2, "groups", "at least two people in each", dict(zip(kinds, sizes)))
    gains = []
    for draw in range(n_draws + 1):  # the first is the real one
        labels = second if draw == 0 else rng.permutation(second)
        gains.append(own_tree_gain(answers, person, labels, method, rng))
        if progress is not None:
            progress(draw + 1, n_draws + 1)
    return GroupTest(tuple(kinds), sizes, gains[0], np.array(gains[1:]))
