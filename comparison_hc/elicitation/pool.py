"Sessions of several people taken together: who contradicts whom, and how far people agree."

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from ..adaptive import InconsistentTriplets
from ..adaptive.build import consistent_hierarchy
from ..adaptive.multifurcating import Hierarchy, OrdinalOracle
from ..comparisons import Triplets
from ..core.validation import as_list, require
from .crowd import raters
from .items import Response, as_triplets
from .replay import build_tree
from .session import SessionState, read_journal
from ..evaluation.report import Result
from ..methods import build_hierarchy, methods

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Pool", "pool_journals"]

MAX_TRIPLES = 200_000  # on which the trees of two people are compared


def _some_triples(n):
    "All three items of n, or many of them at random."
    if comb(n, 3) <= MAX_TRIPLES:
        return np.array(list(combinations(range(n), 3)), dtype=np.int64).reshape(-1, 3)
    drawn = np.sort(np.random.default_rng(0).integers(n, size=(MAX_TRIPLES, 3)), axis=1)
    return drawn[(drawn[:, 0] < drawn[:, 1]) & (drawn[:, 1] < drawn[:, 2])]


def _pairs_of_people(people, answers, trees, known=None):
    "A table of every two people: {question: answer} of each on common questions, their trees on triples they know."
    from pandas import DataFrame

    triples, rows = _some_triples(trees[0].n_items), []
    odd = [OrdinalOracle(tree)(triples) for tree in trees]
    if known is not None:  # of other items a tree says nothing
        odd = [np.where(own[triples].all(axis=1), who, -1) for own, who in zip(known, odd)]
    for a, b in combinations(range(len(people)), 2):
        common, both = answers[a].keys() & answers[b].keys(), (odd[a] >= 0) & (odd[b] >= 0)
        rows.append(
            dict(
                first=people[a],
                second=people[b],
                common_questions=len(common),
                same_answers=sum(answers[a][key] == answers[b][key] for key in common),
                triples=int(both.sum()),
                tree_agreement=float((odd[a] == odd[b])[both].mean()) if both.any() else float("nan"),
            )
        )
    return DataFrame(rows, columns=["first", "second", "common_questions", "same_answers", "triples", "tree_agreement"])


@dataclass(frozen=True)
class Pool:
    """Sessions of several people about one set of items.

    Parameters
    ----------
    names : tuple of str
        Names of the items.
    states : tuple of SessionState
        One per person, each in the numbering of its own log.

    Examples
    --------
    >>> from comparison_hc.elicitation import Pool, Session
    >>> Pool(("cat", "dog"), (Session(["cat", "dog"], person="Ada").state,)).people
    ('Ada',)
    """

    names: tuple
    states: tuple

    def __repr__(self):
        n_answers = sum(len(state.answers) for state in self.states)
        return f"Pool({len(self.names)} items, {len(self.states)} people, {n_answers} answers)"

    @property
    def people(self) -> tuple:
        "Their names."
        return tuple(state.settings.person for state in self.states)

    @cached_property
    def _number(self):
        return {name: at for at, name in enumerate(self.names)}

    def _renumbered(self, state, items):
        return tuple(self._number[state.settings.names[item]] for item in items)

    @cached_property
    def triplets(self) -> Triplets | None:
        "Everything that was said, as `Triplets` with respondents; None if nothing was."
        responses = []
        for state in self.states:
            responses.append(
                [Response(self._renumbered(state, v.shown), v.answer, v.trial_type) for v in state.answers]
            )
        return as_triplets(self.names, responses, self.people)

    @cached_property
    def rows(self) -> list:
        "For every person the (i, j, k), i and j belong together without k, that the person's tree was made from."
        found = []
        for state in self.states:
            rows = [self._renumbered(state, row) for row in state.insertion.rows]
            found.append({(*sorted(row[:2]), row[2]) for row in rows})
        return found

    def inconsistent_subset(self) -> InconsistentTriplets | None:
        """Find a minimal set of responses that no tree agrees with.

        Returns
        -------
        InconsistentTriplets or None
        """
        rows = sorted(set().union(*self.rows))
        if not rows:
            return None
        try:
            consistent_hierarchy(Triplets(rows, names=self.names))
        except InconsistentTriplets as error:
            return error
        return None

    def who_said(self) -> list:
        """List the inconsistent responses, each with the people who gave it.

        Returns
        -------
        list of str
        """
        clash, texts = self.inconsistent_subset(), []
        if clash is None:
            return texts
        for *three, out in clash.answers.tolist():
            i, j = sorted(set(three) - {three[out]})
            row = (i, j, three[out])
            who = ", ".join(person for person, own in zip(self.people, self.rows) if row in own)
            texts.append(f"{self.names[i]} and {self.names[j]}, without {self.names[row[2]]} ({who})")
        return texts

    def hierarchy(self) -> tuple:
        """Build the pooled hierarchy: by BUILD if no two answers contradict each other, else by 3–AL.

        Returns
        -------
        tuple
            The `Dendrogram`, and the name of the method.
        """
        rule = 'with at least one answer that is not "cannot say"'
        require(self.triplets is not None, "journals", rule, "none")
        if self.inconsistent_subset() is not None:
            return build_hierarchy("3-al", self.triplets)[0], methods["3-al"].title
        tree = build_tree(set().union(*self.rows), range(len(self.names)), self.names)
        return tree.to_dendrogram(), "BUILD: all answers agree"

    def agreement(self) -> DataFrame:
        """Compare every two people: on common questions, and on all triples that both trees decide.

        Returns
        -------
        pandas.DataFrame
            One row per pair of people.
        """
        trees = [build_tree(own, range(len(self.names)), self.names) for own in self.rows]
        return _pairs_of_people(self.people, [{frozenset(row): row for row in own} for own in self.rows], trees)


def pool_journals(paths: Sequence[str | os.PathLike]) -> Pool:
    """Read the session logs of several people about the same items.

    Parameters
    ----------
    paths : sequence of str or path
        One log per person. A damaged end is left out, with a warning.

    Returns
    -------
    Pool

    Raises
    ------
    InputError
        If there is no log, or two are about different items or by the same person.

    Examples
    --------
    >>> from comparison_hc.elicitation import pool_journals
    >>> pool_journals(["Ada.jsonl", "Bob.jsonl"])
    Traceback (most recent call last):
    comparison_hc.core.validation.MissingFileError: journal must be an existing file; got 'Ada.jsonl'
    """
    rule = "a sequence of journals, at least one"
    listed = as_list(paths, "paths", rule)
    require(listed and not isinstance(paths, (str, bytes)), "paths", rule, paths)
    read = [read_journal(path) for path in listed]
    people = [found.settings.person for found in read]
    for path, found in zip(listed, read):
        odd = sorted(set(read[0].settings.names) ^ set(found.settings.names))
        require(not odd, f"{path}", f"about the same items as {listed[0]} ({len(odd)} differ)", odd[0] if odd else None)
        person = found.settings.person
        require(people.count(person) == 1, f"{path}", "the only journal of its person", person)
    return Pool(read[0].settings.names, tuple(SessionState(found.settings, found.answers) for found in read))


def compare_people(answers, method="3-al"):
    "A table of every two people who answered, as `Pool.agreement`: trees by `method`, ties of a person left out."
    names, person = raters(answers)
    better, worse = answers.winners_and_losers()
    given, trees, known = [], [], []
    for number in range(len(names)):
        own, wins = answers.take(np.flatnonzero(person == number)), Counter()
        for pair, other in zip(better[person == number].tolist(), worse[person == number].tolist()):
            wins[min(pair, other), max(pair, other)] += 1 if pair < other else -1
        given.append({question: net > 0 for question, net in wins.items() if net})
        trees.append(Hierarchy.from_dendrogram(build_hierarchy(method, own)[0]))
        known.append(np.isin(np.arange(answers.n_objects), own.array))
    return _pairs_of_people(names, given, trees, known)


def pool_result(pool):
    "The pooled hierarchy with its evidence, as `Result`."
    tree, how = pool.hierarchy()
    title = f"What {', '.join(pool.people)} think"
    return Result(tree, pool.triplets, title, how, notes={"people": str(len(pool.people))})
