"""Random splits of comparisons that do not leak: no group of objects, and no respondent, is on both sides."""

from dataclasses import dataclass

import numpy as np

from ..comparisons import as_comparisons
from ..core.compat import bincount
from ..core.validation import as_array, as_rng, check_integer, check_number, require

MOST_SPLITS = 10_000
FEWEST_PEOPLE = 5  # with fewer, the result depends too much on who is held out


@dataclass(frozen=True, eq=False)
class Split:
    "Increasing row numbers to train on and to test on; rows in neither are left out, because both sides know of them."

    train: np.ndarray
    test: np.ndarray
    n_left_out: int = 0


@dataclass(frozen=True, eq=False)
class SplitPlan:
    "Several splits of the same comparisons."

    splits: tuple
    by: str  # "answers" or "people"
    why: str  # half a sentence: why people were held out, or why they were not
    n_units: int  # how many groups of objects, or people, change sides


def object_groups(comparisons):
    "(m,) numbers from 0, equal for comparisons of the same set of objects, whatever is asked about it."
    n, width = comparisons.n_objects, comparisons.width
    objects = np.sort(comparisons.array.astype(np.int64), axis=1)
    if width == 4:  # two pairs may share an object: the second one becomes N, which is no object
        objects[:, 1:][objects[:, 1:] == objects[:, :-1]] = n
        objects = np.sort(objects, axis=1)
    if (n + 1) ** width >= 2**63:
        return np.unique(objects, axis=0, return_inverse=True)[1].ravel()
    key = np.zeros(len(objects), dtype=np.int64)
    for column in objects.T:
        key = key * (n + 1) + column
    return np.unique(key, return_inverse=True)[1]


def response_kind(comparisons):
    "What each two adjacent rows say as one response, odd-one-out or central; None unless all rows come in such pairs."
    if comparisons.width != 3 or len(comparisons) < 2 or len(comparisons) % 2:
        return None
    first, second = comparisons.array[::2], comparisons.array[1::2]
    who = comparisons.respondents
    if who is not None and (who[::2] != who[1::2]).any():
        return None
    for kind, order in (("odd-one-out", [1, 0, 2]), ("central", [2, 1, 0])):
        if (first[:, order] == second).all():
            return kind
    return None


def plan_splits(comparisons, n_splits=5, test_share=0.2, people=None, rng=0):
    "Random splits, of people where that is possible; `people` as in `compare_methods`."
    comparisons, rng = as_comparisons(comparisons, weighted=True, argument="answers"), as_rng(rng)
    n_splits = check_integer(n_splits, "n_splits", 1, MOST_SPLITS)
    test_share = check_number(test_share, "test_share", 0, 1, open_low=True, open_high=True)
    person, why = _check_people(people, comparisons)
    groups = object_groups(comparisons)
    by_answers, by_people = rng.spawn(2)
    if person is not None:
        splits = _draw(person, groups, n_splits, test_share, by_people)
        kept = [len(split.train) / (len(split.train) + split.n_left_out) for split in splits]
        forced = people is not None
        rule = "able to leave answers to build from: people who were not all asked about the same objects"
        require(not forced or min(kept) > 0, "people", rule, "nothing left after leaving those objects out")
        if forced or min(kept) >= 0.5:
            return SplitPlan(splits, "people", why, int(person.max()) + 1)
        why = "most people were asked about the same objects"
    n_groups = int(groups.max(initial=-1)) + 1
    require(n_groups >= 2, "answers", "about at least two different sets of objects, to be split", comparisons)
    return SplitPlan(_draw(groups, groups, n_splits, test_share, by_answers), "answers", why, n_groups)


def _draw(units, groups, n_splits, test_share, rng):
    return tuple(_split(_hold_out(units, test_share, own), groups) for own in rng.spawn(n_splits))


def _hold_out(units, test_share, rng):
    "(m,) bool: rows of randomly chosen units, about `test_share` of all; at least one unit is on each side."
    sizes = bincount(units)
    order = rng.permutation(len(sizes))
    reached = np.cumsum(sizes[order])
    n_chosen = np.abs(reached - test_share * len(units)).argmin() + 1  # as near to the share as whole units allow
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[order[: min(n_chosen, len(sizes) - 1)]] = True
    return chosen[units]


def _split(held_out, groups):
    "A split that leaves out the rows whose objects are held out in other rows."
    known = np.zeros(groups.max() + 1, dtype=bool)
    known[groups[held_out]] = True
    left_out = ~held_out & known[groups]
    return Split(np.flatnonzero(~held_out & ~left_out), np.flatnonzero(held_out), int(left_out.sum()))


def _check_people(people, comparisons):
    "((m,) codes of people or None, why)."
    from pandas import factorize, isna

    given = people is not None and not isinstance(people, (bool, np.bool_))
    if not given and people is not None and not people:
        return None, "as asked"
    rule = f"True, False, None or of shape ({len(comparisons)},), one person per answer, none missing"
    person = as_array(people, "people", rule) if given else comparisons.respondents
    if person is None:
        require(people is None, "people", "False or None for answers without respondents", people)
        return None, "it is not known who answered"
    missing = person.shape != (len(comparisons),) or isna(person).any()
    if missing and people is None:
        return None, "of some answers it is not known who gave them"
    require(not missing, "people", rule, person)
    codes, names = factorize(person)
    if len(names) < (2 if people is not None else FEWEST_PEOPLE):
        require(people is None, "people", "at least two different people", len(names))
        return None, f"there are only {len(names)} people" if len(names) > 1 else "one person gave all answers"
    return codes, "as asked" if people is not None else "it is known who answered"
