"""An assignment on Emamjomeh-Zadeh and Kempe (2018): a caterpillar found with fewer than n log₂ n questions."""

from math import factorial, log2

import numpy as np

from ..core.validation import shown
from .checking import OverBudget, Wrong, expect, expect_equal, packaged

assignment, part = packaged("beat-insertion")
SHARE = 0.74  # of n log2 n: below what questions with two answers can do for the numbers of items in the tests


class Oracle:
    "Answers which of three items a hidden ladder leaves out."

    def __init__(self, order, budget=None):
        self._place = {item: place for place, item in enumerate(order)}
        self._budget, self.used = budget, 0

    def __repr__(self):
        of = "" if self._budget is None else f" of {self._budget}"
        return f"Oracle({self.used}{of} questions used)"

    def __call__(self, i, j, k):
        "The item left out: the two others are closer. Raises `OverBudget`; `ValueError` for what is no question."
        three = {int(item) for item in (i, j, k)}
        if len(three) < 3 or not three <= self._place.keys():
            raise ValueError(f"a question names three different items of 0..{len(self._place) - 1}, not {i}, {j}, {k}")
        if self._budget is not None and self.used >= self._budget:
            raise OverBudget(f"all {self._budget} question{'s are' if self._budget != 1 else ' is'} used")
        self.used += 1
        return min(three, key=self._place.get)


def draw(n, seed):
    "A random ladder."
    return np.random.default_rng(seed).permutation(n).tolist()


def items_of(got, n, call):
    "A list of all items, each once."
    try:
        items = np.asarray(got).ravel().tolist()
    except ValueError:
        items = []
    good = sorted(items, key=str) == sorted(range(n), key=str)
    expect(good, f"{call} should give the {n} items, each once; it gives {shown(got)}.")
    return items


def play(strategy, n, seeds, budget=None, call="the function"):
    "A strategy on several ladders. Raises `Wrong` where the ladder is not found."
    used = []
    for seed in seeds:
        check_ladder(strategy, draw(n, seed), budget, call, used)
    return float(np.mean(used))


def check_ladder(strategy, order, budget, call, used):
    "One ladder is found within the budget."
    n, ask = len(order), Oracle(order, budget)
    got = items_of(strategy(ask, n), n, call)
    wrong = next((place for place in range(n - 2) if got[place] != order[place]), None)
    if wrong is not None:
        text = f"{call} has item {got[wrong]} at index {wrong} from the outside, but should have {order[wrong]}"
        expect(False, f"{text} (the ladder is {order if n <= 12 else f'{order[:12]}, …'}).")
    used.append(ask.used)


def by_insertion(ask, n):
    "The package's insertion, which knows nothing of ladders; returns the items, the outermost first."
    import comparison_hc.adaptive as room
    from comparison_hc.oracles import run

    def oracle(questions):
        return [question.index(ask(*question)) for question in questions.tolist()]

    tree, order = run(room.insertion_clustering(n), oracle), []
    for children in tree.children[::-1].tolist():  # the root first
        order += [child for child in children if child < n]
    return order


def leaderboard(entries, n=81, seeds=range(100, 104)):
    "Strategies by the questions that they use; those that do not find every ladder come last."
    import pandas as pd

    rows = []
    for name, strategy in entries.items():
        try:
            used = play(strategy, n, seeds, 20 * n, name)
            rows.append({"strategy": name, "questions": round(used), "share of n log2 n": used / (n * log2(n))})
        except NotImplementedError:
            rows.append({"strategy": name, "remark": "not written yet"})
        except (OverBudget, Wrong) as error:
            rows.append({"strategy": name, "remark": str(error)})
    table = pd.DataFrame(rows, columns=["strategy", "questions", "share of n log2 n", "remark"])
    table = table.sort_values("questions", ignore_index=True).fillna({"remark": ""}).round(3)
    return table.set_axis(pd.RangeIndex(1, len(rows) + 1, name="place"))


@part("1a", [[3, 0, 2, 1], [0, 1, 2], draw(7, 1)])
def check_left_out(answers, orders):
    "Every question about every ladder."
    from itertools import permutations

    function = answers.function("left_out")
    for order in orders:
        order = list(map(int, order))
        for i, j, k in permutations(order, 3):
            expect_equal(function(order, i, j, k), Oracle(order)(i, j, k), f"left_out({order}, {i}, {j}, {k})")


@part("1b", [(2, 3), (3, 3), (3, 2), (4, 3), (4, 2), (5, 3), (9, 3), (9, 2)])
def check_least(answers, cases):
    "The bound of information, in whole numbers."
    for n, kinds in cases:
        want = 0
        while 2 * kinds**want < factorial(n):
            want += 1
        expect_equal(answers.function("least_questions")(n, kinds), want, f"least_questions({n}, {kinds})")


@part("2a", [draw(3, 0), draw(10, 1), draw(40, 2)])
def check_innermost(answers, orders):
    "The pair, with n - 2 questions."
    for order in orders:
        n = len(order)
        ask, call = Oracle(order, n - 2), f"innermost(ask, {n}) with {n - 2} question{'s' * (n > 3)} allowed"
        got = answers.function("innermost", by_name=["ask"])(ask, n)
        expect(isinstance(got, (tuple, list, set, np.ndarray)), f"{call} gives {got!r}, but should give two items.")
        text = f"{call} gives {sorted(map(int, got))}, but should give {sorted(order[-2:])}, in any order."
        expect(sorted(map(int, got)) == sorted(order[-2:]), text)


@part("2b", [draw(5, 3), draw(20, 4), draw(64, 5)])
def check_climb(answers, orders):
    "The ladder, within n log2 n + n."
    for order in orders:
        n = len(order)
        budget = int(n * log2(n)) + n
        call = f"climb(ask, {n}) with {budget} questions allowed"
        check_ladder(answers.function("climb", by_name=["ask"]), order, budget, call, [])


@part("3a", 81, range(40, 43))
def check_beat(answers, n, seeds):
    "Fewer questions than a share of n log2 n, on average."
    call = f"beat(ask, {n})"
    used = play(answers.function("beat", by_name=["ask"]), n, seeds, 20 * n, call)
    most = SHARE * n * log2(n)
    bound = f"less than {log2(factorial(n)) - 1:.0f} on average"
    two = f"No method whose questions have two possible answers can do with {bound}."
    text = f"{call} uses {used:.0f} questions on average over {len(seeds)} ladders, but should use at most {most:.0f}"
    expect(used <= most, f"{text}, {SHARE} n log2 n. {two}")


def undecided(order, questions):
    "Where other trees agree with the ladder's answers: the graph of Aho and others has more than two components."
    ask = Oracle(order)
    pairs = [(out, {i, j, k} - {out}) for i, j, k in questions for out in [ask(i, j, k)]]
    place = {item: at for at, item in enumerate(order)}
    for top in range(len(order) - 2):
        group = {item: {item} for item in order[top:]}
        for out, (a, b) in pairs:
            if place[out] >= top and group[a] is not group[b]:
                group[a] |= group[b]
                group.update(dict.fromkeys(group[b], group[a]))
        parts = sorted({frozenset(part) for part in group.values()}, key=lambda part: min(map(place.get, part)))
        if len(parts) > 2:
            return [sorted(part) for part in parts]
    return []


@part("4a", [draw(3, 0), draw(4, 1), draw(7, 2)])
def check_proof(answers, orders):
    "n - 2 questions after which no other tree is possible."
    for order in orders:
        n = len(order)
        call = f"proof({order})" if n < 12 else f"proof of a ladder of {n} items"
        got = answers.function("proof")(list(map(int, order)))
        rows, form = [], f"{call} should give questions: a list of three different items each"
        expect(hasattr(got, "__iter__"), f"{form}; it gives {shown(got)}.")
        for given in got:
            try:
                rows.append(tuple(map(int, given)))
                good = len(rows[-1]) == len(set(rows[-1])) == 3 and set(rows[-1]) <= set(order)
            except (TypeError, ValueError):
                good = False
            expect(good, f"{form}; it holds {shown(given)}.")
        expect(len(rows) <= n - 2, f"{call} gives {len(rows)} questions, but should give at most {n - 2}.")
        parts = undecided(order, rows)
        some = ", ".join(map(str, parts[:4])) + ", …" * (len(parts) > 4)
        text = f"{call}: other trees give these answers. For the items {sorted(sum(parts, []))[:12]} they leave open "
        expect(not parts, f"{text}how the groups {some} are joined.")
