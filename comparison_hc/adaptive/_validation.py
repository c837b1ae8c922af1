"What the learners accept: items, answers and noise; and the error that names inconsistent answers."

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from ..core.validation import InputError, check_integer, check_names, check_number, is_real, require

MAX_ITEMS = 2**31 - 1  # more than any memory holds
BINARY_ANSWER = (
    "0, 1 or 2, the position of the odd one out: in a binary hierarchy two of three always belong together "
    "(for others see comparison_hc.adaptive.multifurcating_clustering)"
)


def check_items(items):
    "(n, names or None) of at least two items, given as a number or as a sequence of different names."
    if is_real(items, Integral):
        require(items <= MAX_ITEMS, "items", f"at most {MAX_ITEMS:,}", items)
        return check_integer(items, "items", 2), None
    is_sequence = np.iterable(items) and not isinstance(items, (str, bytes, dict, set))
    require(is_sequence, "items", "a number of items or a sequence of different names", items)
    names = check_names(items, argument="items")
    require(len(names) >= 2, "items", "at least two", list(names))
    return len(names), names


def check_binary_answers(questions, answers):
    'The answers, if all are possible in a binary hierarchy: never −1, "none".'
    for at, answer in enumerate(answers):
        if answer not in (0, 1, 2):
            subject = f"the answer to question {tuple(map(int, questions[at]))}"
            require(False, subject, BINARY_ANSWER, int(answer))
    return answers


def check_probability(value, name):
    "A probability that is neither 0 nor 1."
    return check_number(value, name, 0, 1, open_low=True, open_high=True)


def check_p_correct(p_correct):
    "The probability of a right answer, between one half and 1."
    return check_number(p_correct, "p_correct", 0.5, 1, open_low=True, open_high=True)


class InconsistentTriplets(InputError):
    """Answers that no hierarchy agrees with.

    Parameters
    ----------
    answers : array_like of int, shape (r, 4)
        Rows (i, j, k, position of the odd one out, or −1 for none).
    names : sequence of str, optional
        Names of the items for the message. Default: their numbers.

    Attributes
    ----------
    answers : numpy.ndarray of int, shape (r, 4)
        The rows, all of them; the message shows at most eight.

    See Also
    --------
    consistent_hierarchy : Raises it, with answers none of which can be left out.

    Examples
    --------
    >>> from comparison_hc.adaptive import InconsistentTriplets
    >>> print(InconsistentTriplets([[0, 1, 2, 2], [1, 2, 0, 2]], ["ant", "bee", "cat"]))
    the answers must agree with some hierarchy; these 2 are inconsistent: ant bee | cat; bee cat | ant
    """

    _MAX_SHOWN = 8

    def __init__(self, answers: ArrayLike, names: Sequence[str] | None = None):
        self.answers = np.array(answers, dtype=np.int64).reshape(-1, 4)
        self.names = names
        statements = [self._statement(*row) for row in self.answers]
        text = f"the answers must agree with some hierarchy; these {len(statements)} are inconsistent: "
        text += "; ".join(statements[: self._MAX_SHOWN])
        if len(statements) > self._MAX_SHOWN:
            text += f"; and {len(statements) - self._MAX_SHOWN} more (see .answers)"
        super().__init__(text)

    def _statement(self, i, j, k, odd_one_out):
        "One answer in words."
        words = [str(self.names[item] if self.names else item) for item in (i, j, k)]
        if odd_one_out < 0:
            return " ".join(words) + " equally close"
        odd = words.pop(odd_one_out)
        return f"{words[0]} {words[1]} | {odd}"

    def __reduce__(self):
        return InconsistentTriplets, (self.answers, self.names)
