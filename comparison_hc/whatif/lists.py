"""Every object about equally often, in every place; some questions come twice, some have a known answer."""

import numpy as np

from ..core.validation import as_rng, check_integer, check_names, require
from ..elicitation.trial_list import COLUMNS
from .designs import QUESTIONS

REPEATS, CATCHES = 0.1, 0.05  # shares of a person's questions


def question_counts(per_person):
    "What a person's time is spent on."
    check_integer(per_person, "questions a person", 4)
    repeats, catches = max(1, round(REPEATS * per_person)), max(1, round(CATCHES * per_person))
    return per_person - repeats - catches, repeats, catches


def dealt_threes(n_objects, n_questions, rng, seen=None):
    "Threes in which every object comes equally often, up to two or three."
    seen = set() if seen is None else seen
    total = n_objects * (n_objects - 1) * (n_objects - 2) // 6
    left, found = [], []
    while len(found) < n_questions:
        if len(set(left)) < 6:
            left += rng.permutation(n_objects).tolist()
        for _ in range(20):
            three = list(dict.fromkeys(left))[:3]
            if tuple(sorted(three)) not in seen or len(seen) >= total:
                break
            rng.shuffle(left)
        for item in three:
            left.remove(item)
        seen.add(tuple(sorted(three)))
        found.append(three)
    return np.array(found)


def balanced_places(threes, n_objects, rng):
    "Every object in every place about equally often."
    from itertools import permutations

    stood = np.zeros((n_objects, 3))
    orders = list(permutations(range(3)))
    found = np.empty_like(threes)
    for at, three in enumerate(threes):
        rng.shuffle(orders)
        cost = [sum(stood[three[object_], place] for place, object_ in enumerate(order)) for order in orders]
        found[at] = three[list(orders[int(np.argmin(cost))])]
        stood[found[at], range(3)] += 1
    return found


def person_list(asks, names, per_person, rng, seen=None):
    "One person's questions."
    n_new, n_repeats, n_catches = question_counts(per_person)
    threes = balanced_places(dealt_threes(len(names), n_new, rng, seen), len(names), rng)
    rows = [(tuple(three), "new", None) for three in threes.tolist()]
    later = [(_turned(rows[at][0], asks, rng), "repeat", None) for at in _chosen(n_new // 2, n_repeats, rng)]
    later += [_catch(asks, len(names), rng) for _ in range(n_catches)]
    for one in later:  # repeats of the first half go into the second, catch trials anywhere
        low = 0 if one[1] == "catch" else -(-len(rows) // 2) + 1
        rows.insert(int(rng.integers(min(low, len(rows)), len(rows) + 1)), one)
    return [_row(number, asks, *row, names) for number, row in enumerate(rows, 1)]


def _chosen(n, size, rng):
    "Different numbers below n, or, where there are too few, some again."
    return rng.permutation(np.resize(rng.permutation(max(n, 1)), size)).tolist()


def _turned(shown, asks, rng):
    "The same three in another order."
    first, second, third = shown
    if asks == "triplets":
        return first, third, second
    return [(second, third, first), (third, first, second), (third, second, first)][rng.integers(3)]


def _catch(asks, n, rng):
    "One object twice and another; the right answer is known."
    twice, other = rng.permutation(n)[:2].tolist()
    if asks == "triplets":
        shown = (twice, *[(twice, other), (other, twice)][rng.integers(2)])
        return shown, "catch", twice
    shown = [twice, twice]
    shown.insert(int(rng.integers(3)), other)
    return tuple(shown), "catch", other if asks == "odd-one-out" else twice


def _row(number, asks, shown, role, expected, names):
    "A line of the CSV."
    said = "" if expected is None else names[expected]
    return dict(zip(COLUMNS, (number, asks, *(names[at] for at in shown), role, said)))


def people_names(people):
    "What the people are called as long as their names are unknown."
    digits = len(str(people))
    return [f"p{person:0{digits}d}" for person in range(1, people + 1)]


def study_lists(asks, names, people, per_person, rng=0):
    "A list for every person; no new question is asked of two people while others are left. Raises `InputError`."
    import pandas as pd

    require(asks in QUESTIONS, "design", f"one of {', '.join(QUESTIONS)}: only these can be written down", asks)
    names, people = check_names(names), check_integer(people, "people")
    require(len(names) >= 3, "names", "those of at least 3 objects", names)
    rng, seen = as_rng(rng), set()
    return {who: pd.DataFrame(person_list(asks, names, per_person, rng, seen)) for who in people_names(people)}
