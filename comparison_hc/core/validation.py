"""Every public function checks its arguments here, and says which argument broke which rule with which value."""

import re
from collections import Counter
from functools import partial
from math import inf
from numbers import Integral, Real

import numpy as np

MOST_OBJECTS = 20_000  # where a method keeps numbers for every two objects
MOST_SEED = 2**128 - 1  # as many bits as NumPy takes from the system for a seed of its own


class InputError(ValueError):
    """A value that breaks a stated rule. The message names the argument, the rule and the value received.

    Examples
    --------
    >>> from comparison_hc import InputError, Triplets
    >>> try:
    ...     Triplets([[0, 1, 2]], n_objects=2.5)
    ... except InputError as error:
    ...     print(error)
    n_objects must be an integer from 1 to 2147483648; got 2.5
    """


class MissingFileError(InputError, FileNotFoundError):
    "A file that does not exist: an `InputError` and a `FileNotFoundError`."


class InputWarning(UserWarning):
    "Input that was read in a way that may not be meant. The message says what was taken for what, and how to overrule."


class NotConvergedWarning(UserWarning):
    "An iteration stopped before its result was as exact as asked for. The message says how far it got and what helps."


# ---- messages


def shown(value, width=60):
    "A value as one short line: arrays by shape and type, the rest by `repr`, cut in the middle where it is long."
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of more digits than Python writes, or a class of the caller's
        text = f"a value of type {type(value).__name__} that has no text"
    return text if len(text) <= width else f"{text[: width // 2]} … {text[-width // 4 :]}"


_HALF = re.compile("[\ud800-\udfff]")  # no file in UTF-8 can hold one
_BREAKING = re.compile("[\t\n\r\u2028\u2029\u200e\u200f\u061c]")
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible_text(text):
    "The text with � for control characters, halves of characters, and what turns the direction of writing."
    return _UNSEEN.sub("\ufffd", text)


def visible_line(text):
    "As `visible_text`, and with � also for line ends, tabs and marks of direction: no name makes a line of its own."
    return _BREAKING.sub("\ufffd", visible_text(text))


def require(ok, argument, rule, value):
    "Raise `InputError` with the argument, the rule and the value, unless `ok`."
    if not ok:
        raise InputError(f"{argument} must be {rule}; got {shown(value)}")


# ---- numbers, words and functions


def is_real(value, kind=Real):
    "Whether a value is a number, and not a truth value or a time, which Python and NumPy count among the integers."
    return isinstance(value, kind) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def check_integer(value, argument, low=1, high=None) -> int:
    "An integer within its bounds."
    if type(value) is int and low <= value and (high is None or value <= high):
        return value  # nearly always: inner loops come through here
    rule = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    require(is_real(value, Integral) and low <= value and (high is None or value <= high), argument, rule, value)
    return int(value)


def check_number(value, argument, low=-np.inf, high=np.inf, open_low=False, open_high=False) -> float:
    "A finite real number within its range."
    if type(value) is float and low < value < high:
        return value  # nearly always
    if np.isfinite(high):
        rule = f"a number in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    elif np.isfinite(low):
        rule = f"a finite number {'above' if open_low else 'of at least'} {low:g}"
    else:
        rule = "a finite number"
    try:
        number = float(value) if is_real(value) else np.nan
    except OverflowError:
        number = np.inf  # an integer with more than 308 digits
    exact = number if isinstance(value, np.floating) else value  # NumPy's short ones overflow beside long ones
    inside = np.isfinite(number) and low <= exact <= high and not (open_low and exact == low)
    require(inside and not (open_high and exact == high), argument, rule, value)
    return number + 0.0  # −0.0 at the end of a range is 0.0


def check_progress(progress, arguments="(done, total)"):
    "A function that is told how far long work is, or None."
    require(progress is None or callable(progress), "progress", f"a function of {arguments} or None", progress)
    return progress


def check_pairwise(n_objects, argument="n_objects"):
    "So few objects that something can be kept for every two: a mistyped object number must not eat all memory."
    rule = f"at most {MOST_OBJECTS:,}: numbers are kept for every two objects"
    require(n_objects <= MOST_OBJECTS, argument, rule, n_objects)
    return n_objects


def check_choice(value, argument, choices):
    "One of a few words."
    known = isinstance(value, str) and value in choices
    require(known, argument, f"one of {', '.join(map(repr, choices))}", value)
    return value


def check_flag(value, argument) -> bool:
    "True or False, and nothing that merely counts as one of them."
    require(isinstance(value, (bool, np.bool_)), argument, "True or False", value)
    return bool(value)


def as_rng(rng) -> np.random.Generator:
    "The generator that `rng` stands for. The same seed gives the same bits; a generator is used as it is and moves on."
    legal = rng is None or isinstance(rng, np.random.Generator) or is_real(rng, Integral) and rng >= 0
    require(legal, "rng", "a non-negative integer seed, a numpy.random.Generator or None", rng)
    return np.random.default_rng(rng)


# ---- sequences and arrays


def as_list(value, argument, rule) -> list:
    "What is in a sequence, a set or a generator."
    require(np.iterable(value), argument, rule, value)
    return list(value)


def as_array(value, argument, rule, dtype=None) -> np.ndarray:
    "The value as an array in the machine's byte order, if that is possible and hides no masked entry."
    if type(value) is np.ndarray and dtype is None and value.dtype.isnative:
        return value
    require(not np.ma.is_masked(value), argument, f"{rule}, none of them masked", value)
    try:
        array = np.asarray(value, dtype)
    except Exception:  # whatever an object of the caller's raises when it is asked to be an array
        require(False, argument, rule, value)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def check_similarity(similarity, argument="similarity", n_objects=None) -> np.ndarray:
    "A symmetric matrix without NaN or infinity off the diagonal."
    array = as_array(similarity, argument, "a matrix of numbers")
    texts = array.dtype.kind == "O" and any(isinstance(x, (str, bytes)) for x in array.ravel().tolist())
    legal = array.dtype.kind in "biufO" and not texts
    require(legal, argument, "a matrix of numbers", array if array.ndim else similarity)
    try:
        matrix = np.asarray(array, dtype=float)
    except (TypeError, ValueError, OverflowError):
        require(False, argument, "a matrix of numbers", similarity)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and len(matrix) > 0
    require(square, argument, "a square matrix (N, N) with N ≥ 1", matrix)
    require(n_objects is None or len(matrix) == n_objects, argument, f"of shape ({n_objects}, {n_objects})", matrix)
    if hasattr(similarity, "columns"):  # a DataFrame
        rows, columns = list(similarity.index), list(similarity.columns)
        same = rows == columns or sorted(map(str, rows)) != sorted(map(str, columns))
        require(same, argument, "a table whose rows and columns come in the same order", (rows, columns))
    off = ~np.eye(len(matrix), dtype=bool)
    infinite = ~np.isfinite(matrix) & off
    if infinite.any():
        i, j = np.argwhere(infinite)[0]
        require(False, argument, f"finite off the diagonal, but entry ({i}, {j}) is not", float(matrix[i, j]))
    differ = (matrix != matrix.T) & off
    if differ.any():
        i, j = np.argwhere(differ)[0]
        rule = f"symmetric, but entries ({i}, {j}) and ({j}, {i}) differ"
        require(False, argument, rule, (float(matrix[i, j]), float(matrix[j, i])))
    return matrix


def check_labels(labels, n_objects=None, argument="labels") -> np.ndarray:
    "One class for every object, as small integers in order of appearance."
    dtype = None if hasattr(labels, "dtype") else object  # NumPy would make one text of 1 and "1" and of nothing
    array = as_array(labels, argument, "a sequence of labels", dtype)
    require(array.ndim == 1 and len(array) > 0, argument, "a non-empty one-dimensional sequence", array)
    rule = f"of length {n_objects}, one label per object"
    require(n_objects is None or len(array) == n_objects, argument, rule, array)
    if array.dtype.kind in "iu":  # nothing is missing, and pandas need not be loaded
        _, first, place = np.unique(array, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[place].astype(np.intp)
    from pandas import factorize, isna

    require(not isna(array).any(), argument, "free of missing values", labels)
    try:
        return factorize(array)[0].astype(np.intp)
    except TypeError:
        raise InputError(f"{argument} must be hashable values (numbers, texts, …); got {shown(labels)}") from None


def check_names(names, n_objects=None, distinct=True, argument="names"):
    "One name for every object, as text."
    if names is None:
        return None
    listed = np.iterable(names) and not isinstance(names, (str, bytes, dict, set)) and getattr(names, "ndim", 1) == 1
    require(listed, argument, "a sequence of names", names)
    values = list(names)
    n_objects = len(values) if n_objects is None else n_objects
    require(len(values) == n_objects, argument, f"of length {n_objects}, one name per object", len(values))
    missing = [value for value in values if _is_missing(value)]
    require(not missing, argument, "free of missing values", missing[:1])
    try:
        values = tuple(map(str, values))
    except Exception:  # a class of the caller's
        require(False, argument, "made of texts", names)
    broken = [value for value in values if _HALF.search(value)]
    require(not broken, argument, "made of whole characters (no half of a pair, U+D800 to U+DFFF)", broken[:1])
    if distinct and len(set(values)) < n_objects:
        require(False, argument, "distinct", Counter(values).most_common(1)[0][0])
    return values


def _is_missing(value):
    "None, NaN, and what pandas and masks put in their place."
    known = value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")
    return known or isinstance(value, (float, np.floating)) and value != value


# ---- checks of one value, as functions of (value, argument)


def integer_from(low=1, high=None):
    "The check of an integer in a range."
    return partial(check_integer, low=low, high=high)


def number_from(low=-inf, high=inf, open_low=False, open_high=False):
    "The check of a number in a range."
    return partial(check_number, low=low, high=high, open_low=open_low, open_high=open_high)


def one_of(known):
    "The check of a name."

    def check(value, argument):
        require(isinstance(value, str) and value in known, argument, f"one of {', '.join(known)}", value)
        return value

    return check
