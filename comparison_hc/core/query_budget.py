"How many queries the active kernel needs in expectation, and the design that spends a given number."

from bisect import bisect_left
from math import log

from .sampling import n_quadruplet_questions
from .validation import check_flag, check_integer


def expected_queries(n_objects, q, n_references, shared):
    "Expected number of queries of the active kernel."
    pairs = n_objects * (n_objects - 1) // 2
    a = 1 - (1 - q) ** 2
    both = a**2
    if shared:
        disjoint = (n_objects - 2) * (n_objects - 3) // 2
        both = (2 * (n_objects - 2) * (q + (1 - q) * q**2) + disjoint * a**2) / (pairs - 1)
    return n_references * a * (pairs - 1) - n_references * (n_references - 1) / 2 * both


def min_references(n_objects, q, n_comparisons, shared):
    "Smallest number of references that need so many queries in expectation."
    counts = range(1, n_objects * (n_objects - 1) // 2 + 1)
    return 1 + bisect_left(counts, n_comparisons, key=lambda r: expected_queries(n_objects, q, r, shared))


def active_budget(n_objects, n_comparisons, shared_landmarks=False):
    """(q, R): landmark probability and number of references that need so many queries in expectation.

    q = ln N / N (F19, section 4), or larger where all references together need fewer."""
    n, shared = check_integer(n_objects, "n_objects", 3), check_flag(shared_landmarks, "shared_landmarks")
    m = check_integer(n_comparisons, "n_comparisons", 1, n_quadruplet_questions(n))
    pairs = n * (n - 1) // 2
    if m == n_quadruplet_questions(n):
        return 1.0, pairs
    q = log(n) / n
    enough = min_references(n, q, m, shared)
    if enough <= pairs:
        return q, min((max(1, enough - 1), enough), key=lambda r: abs(expected_queries(n, q, r, shared) - m))
    low, high = q, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_queries(n, middle, pairs, shared) < m else (low, middle)
    return high, pairs
