"""Legal questions and answers, and the base of oracles that hold another oracle."""

from __future__ import annotations

import numpy as np

from ._rows import as_integer_rows
from .validation import as_array, check_integer, require


SMALL = 8  # rows of a batch up to which plain numbers are faster than arrays


def _is_legal(i, j, k, n_objects):
    return i != j != k != i and min(i, j, k) >= 0 and max(i, j, k) < n_objects


def check_queries(queries, n_objects=None):
    "A legal batch, (m, 3) or (m, 4): three different objects a row, or two different pairs. Raises `InputError`."
    if type(queries) is np.ndarray and queries.dtype.kind == "i" and queries.ndim == 2 and queries.shape[1] == 3:
        most = np.inf if n_objects is None else n_objects
        if len(queries) <= SMALL and all(_is_legal(*row, most) for row in queries.tolist()):
            return queries
    rule = "an integer array of shape (m, 3) or (m, 4), one question per row"
    if n_objects is not None:
        n_objects = check_integer(n_objects, "n_objects")
    queries = as_array(queries, "queries", rule)
    has_shape = queries.ndim == 2 and queries.shape[1] in (3, 4)
    if has_shape and queries.dtype.kind == "O" and len(queries):  # as pandas gives its own integers
        queries = as_integer_rows(queries, queries.shape[1], "queries")
    require(has_shape and queries.dtype.kind in "iu", "queries", rule, queries)
    if not len(queries):
        return queries
    if queries.shape[1] == 4:
        kind, (i, j, k, l) = "two different pairs of different objects", queries.T
        bad = (i == j) | (k == l) | ((i == k) & (j == l)) | ((i == l) & (j == k))
    else:
        kind, (i, j, k) = "three different objects", queries.T
        bad = (i == j) | (j == k) | (i == k)
    _refuse(queries, bad, "question {} of queries", f"about {kind}")
    if queries.dtype.kind == "i" and queries.min() < 0:
        _refuse(queries, queries.min(axis=1) < 0, "question {} of queries", "made of indices of at least 0")
    if n_objects is not None and queries.max() >= n_objects:
        rule = f"made of indices below n_objects = {n_objects}"
        _refuse(queries, queries.max(axis=1) >= n_objects, "question {} of queries", rule)
    return queries


def check_answers(queries, answers):
    "Legal answers to legal questions, (m,): bool for 4 columns, int8 for 3. Raises `InputError`."
    if type(queries) is not np.ndarray:
        queries = check_queries(queries)
    require(queries.ndim == 2, "queries", "of shape (m, 3) or (m, 4)", queries)
    m, width = queries.shape
    if (
        m <= SMALL
        and width == 3
        and type(answers) is np.ndarray
        and answers.dtype.char == "b"
        and answers.shape == (m,)
    ):
        if all(-1 <= answer <= 2 for answer in answers.tolist()):
            return answers
    if not isinstance(answers, np.ndarray):
        answers = np.asarray(answers, dtype=object)  # a list keeps what stands in it
    require(not np.ma.is_masked(answers), "answers", "free of masked entries", answers)
    received = answers if answers.ndim else answers.item()
    require(answers.shape == (m,), "answers", f"of shape ({m},), one per question", received)
    if width == 4:
        legal, rule, kinds = (0, 1), "True or False", "uf"
    else:
        legal, rule, kinds = (-1, 0, 1, 2), "the position 0, 1 or 2 of the one left out, or -1 for none", "uf"
    if answers.dtype.kind == "i" or answers.dtype.kind == "b" and width == 4:
        bad = (answers < legal[0]) | (answers > legal[-1])
    elif answers.dtype.kind in kinds:
        bad = ~np.isin(answers, legal)
    else:
        bad = np.array([not _is_number(a, width == 4) or a not in legal for a in answers.tolist()], dtype=bool)
    _refuse(queries, bad, "the answer to question {}", rule, answers)
    return answers.astype(bool if width == 4 else np.int8)


def _refuse(queries, bad, argument, rule, answers=None):
    "Raise `InputError` about the first bad question, or the answer to it, if there is one."
    if not bad.any():
        return
    at = int(np.argmax(bad))
    question = tuple(queries[at].tolist())
    if answers is None:
        require(False, argument.format(at), rule, question)
    require(False, argument.format(f"{at}, {question},"), rule, answers[at : at + 1].tolist()[0])


def _is_number(value, allow_bool):
    "Whether a value counts as a number; truth values do where they are answers."
    is_number = isinstance(value, (int, float, np.number, np.bool_))
    return is_number and (allow_bool or not isinstance(value, (bool, np.bool_)))


def unique_largest(rows):
    "The row that holds the largest value of every column of an (r, m) array; -1 where two rows share it."
    largest = rows == rows.max(axis=0)
    return np.where(largest.sum(axis=0) == 1, largest.argmax(axis=0), -1).astype(np.int8)


class Wrapper:
    "An oracle that holds another oracle."

    def __init__(self, oracle):
        require(callable(oracle), "oracle", "callable with a batch of questions", oracle)
        self.oracle = oracle

    @property
    def n_objects(self) -> int | None:
        "N, if the oracle inside knows it."
        return getattr(self.oracle, "n_objects", None)

    def _ask(self, queries):
        "Legal answers of the oracle inside."
        queries = check_queries(queries)
        return check_answers(queries, self.oracle(queries))

    def skip(self, queries: np.ndarray) -> None:
        """Behave as if questions had been asked that were answered before a break.

        Parameters
        ----------
        queries : array of shape (m, 3) or (m, 4)
            The questions. Passed on to the oracle inside, where it has a state.
        """
        inner = getattr(self.oracle, "skip", None)
        if inner is not None:
            inner(queries)

    def _run_ended(self):
        "Called when a run is over."


def layers(oracle):
    "An oracle and the oracles wrapped inside it, from the outside in."
    while oracle is not None:
        yield oracle
        oracle = getattr(oracle, "oracle", None)
