"""An assignment on Emamjomeh-Zadeh and Kempe (2018): wrong answers, people who are always wrong, and few questions."""

from itertools import combinations
from math import comb

import numpy as np

from ..core.validation import shown
from .checking import OverBudget, expect, expect_equal, packaged, ranking

assignment, part = packaged("lying-oracle")
SEARCHES = 40  # of a test
GOOD = 0.85  # share of right ones that a method with risk 0.05 misses in one of three hundred tests
MOST = 1000  # questions of a single search


class Search:
    "A tree of m items, and a new item whose sibling is hidden."

    def __init__(self, m, seed, p, stubborn=False, shape="uniform"):
        import comparison_hc.adaptive.trees as trees

        self._rng, self._p, self._stubborn = np.random.default_rng(seed), p, stubborn
        tree = trees.SHAPES[shape](m, self._rng)
        self.vertices = sorted(tree.below())  # the items first, then the inner vertices
        self.parts = {}  # {pivot: [vertices that answer 0 leaves, those that 1 leaves, those that 2 leaves]}
        for v in self.vertices[m:]:
            right, left = sorted(tree.below(tree.right[v])), sorted(tree.below(tree.left[v]))
            self.parts[v] = [right, left, sorted({*self.vertices} - {*right, *left})]
        self._sibling = int(self._rng.choice(self.vertices))
        self._said = {}
        self.used = 0

    def __repr__(self):
        return f"Search({len(self.vertices)} vertices, {self.used} questions used)"

    def ask(self, v):
        "The question of pivot v: which part the sibling is in, says the oracle. Raises `OverBudget`, `ValueError`."
        return self._ask(v, 0)

    def _ask(self, v, who):
        if v not in self.parts:
            raise ValueError(f"a pivot is one of {[*self.parts][:8]}, …, and not {v!r}")
        if self.used >= MOST:
            raise OverBudget(f"all {MOST:,} questions of this search are used")
        self.used += 1
        if (who, v) not in self._said or not self._stubborn:
            truth = next(answer for answer in range(3) if self._sibling in self.parts[v][answer])
            is_wrong = self._rng.random() >= self._p
            self._said[who, v] = min({0, 1, 2} - {truth}) if is_wrong else truth
        return self._said[who, v]

    def people(self, n):
        "People with opinions of their own."
        return [lambda v, who=who: self._ask(v, who) for who in range(1, n + 1)]

    def is_right(self, v):
        "Whether v is the sibling."
        return bool(v == self._sibling)


def play(strategy, m=24, p=0.8, risk=0.05, seeds=range(SEARCHES), n_people=0, call="the search", **kind):
    "Several searches of a kind; one without end after 1,000 questions is not right. Raises `Wrong` for no vertex."
    right, used = 0, []
    for seed in seeds:
        search = Search(m, seed, p, **kind)
        whom = search.people(n_people) if n_people else search.ask
        parts = {v: [list(part) for part in three] for v, three in search.parts.items()}
        try:
            found = strategy(whom, list(search.vertices), parts, p, risk)
        except OverBudget:  # it would have gone on for ever
            found = -1
        else:
            good = isinstance(found, (int, float, np.number)) and found in search.vertices
            expect(good, f"{call} gives {shown(found)}, but should give a vertex, 0 to {search.vertices[-1]}.")
        right += search.is_right(found)
        used.append(search.used)
    return right / len(used), float(np.mean(used)), max(used)


def leaderboard(entries, seeds=range(1000, 1040)):
    "Strategies by the questions that they use; those that are right too seldom come after the others."

    def one(strategy, name):
        right, used, _ = play(strategy, seeds=seeds)
        return right, round(used, 1), "" if right >= GOOD else f"right too seldom: {GOOD} is needed"

    return ranking(entries, one, "right", GOOD)


def miss(p, votes):
    "The probability that no more than half of the votes are right."
    return sum(comb(votes, right) * p**right * (1 - p) ** (votes - right) for right in range(votes // 2 + 1))


def votes_for(p, risk):
    "The smallest odd number of votes."
    votes = 1
    while miss(p, votes) > risk:
        votes += 2
    return votes


@part("1a", [(0.8, 0.25), (0.8, 0.05), (0.8, 0.01), (0.7, 0.05), (0.99, 0.05), (0.6, 0.1)])
def check_votes(answers, cases):
    "The smallest odd number of votes, by the exact tail."
    for p, risk in cases:
        expect_equal(answers.function("votes_needed")(p, risk), votes_for(p, risk), f"votes_needed({p}, {risk})")


def check_reliable(answers, name, least=GOOD, **how):
    "A search that is right often enough, and what it costs."
    m, p, n_people = how.get("m", 24), how.get("p", 0.8), how.get("n_people", 0)
    whom = "people" if n_people else "ask"
    function = answers.function(name, by_name=[whom, "vertices", "parts"])
    call = f"{name}({whom}, vertices, parts, {p}, {how.get('risk', 0.05)})"
    right, mean, most = play(function, call=call, **how)
    text = f"{call} finds the sibling in {right:.2f} of {len(how['seeds'])} searches in trees of {m} items"
    guaranteed = 1 - how.get("risk", 0.05)
    expect(right >= least, f"{text}, but should in at least {least} ({guaranteed:g} is required on average).")
    return call, mean, most


@part("1b")
def part_1b(answers):
    check_patient(answers, 24, 0.8, range(SEARCHES))
    check_reliable(answers, "patient", least=0.55, p=0.7, risk=0.3, seeds=range(SEARCHES))  # each step has its share


def check_patient(answers, m, p, seeds, shape="uniform"):
    "Right often enough, within steps times votes."
    call, _, most = check_reliable(answers, "patient", m=m, p=p, seeds=seeds, shape=shape)
    steps = (m - 1).bit_length()
    limit = steps * votes_for(p, 0.05 / steps)
    text = f"{call} uses {most} questions in one of the searches in trees of {m} items, but should use at most {limit}"
    expect(most <= limit, f"{text}: ⌈log₂ m⌉ questions, each repeated with its share of the risk.")


@part("2a", 0.8, range(200, 216))
def check_stubborn(answers, p, seeds):
    "Told apart, with one error at most."
    errors = []
    for seed in seeds:
        search = Search(12, seed, p, stubborn=bool(seed % 2))
        call = f"is_stubborn(ask, pivots) for p = {p}"
        got = answers.function("is_stubborn", by_name=["ask", "pivots"])(search.ask, [*search.parts])
        expect(isinstance(got, (bool, np.bool_)), f"{call} gives {got!r}, but should give True or False.")
        expect(search.used <= 60, f"{call} asks {search.used} questions, but should ask at most 60.")
        if got != bool(seed % 2):
            errors.append(seed)
    kind = "stubborn" if errors and errors[0] % 2 else "tired"
    text = f"{call} is mistaken about {len(errors)} of {len(seeds)} respondents, the first is {kind}; 1 is allowed."
    expect(len(errors) <= 1, text)


def left_outs(tree, n, call):
    "All answers of a tree. Raises `Wrong` for what is no binary tree."
    apart = {}  # {frozenset of two items: size of the smallest cluster that has both}

    def items(node):
        if isinstance(node, (int, np.integer)) and not isinstance(node, bool):
            return [int(node)]
        good = isinstance(node, (list, tuple, np.ndarray)) and len(node) == 2
        expect(good, f"{call} has {node!r} in a tree; there should be an item, or a list of two.")
        one, two = items(node[0]), items(node[1])
        apart.update({frozenset((a, b)): len(one) + len(two) for a in one for b in two})
        return one + two

    held = sorted(items(tree))
    text = f"{call}: each tree should hold each of the items 0..{n - 1} once; one holds {shown(held)}."
    expect(held == list(range(n)), text)
    size = lambda three, out: apart[frozenset(three) - {out}]
    return {three: min(three, key=lambda out: size(three, out)) for three in combinations(range(n), 3)}


@part("2b", (3, 4, 7))
def check_twins(answers, numbers):
    "Two trees that differ in one answer."
    for n in numbers:
        call = f"twins({n})"
        got = answers.function("twins")(n)
        expect(isinstance(got, (tuple, list)) and len(got) == 2, f"{call} should give two trees.")
        one, two = (left_outs(tree, n, call) for tree in got)
        differ = [three for three in one if one[three] != two[three]]
        text = f"{call}: the two trees differ in {len(differ)} of {len(one)} answers, but should in exactly one."
        expect(len(differ) == 1, text)


@part("3a", [([0.25] * 4, [0, 1], 0.8), ([0.5, 0.25, 0.25], [2], 0.9), ([0.2, 0.8], [0, 1], 0.7)])
def check_update(answers, cases):
    "Weights after an answer."
    for weights, named, p in cases:
        new = np.array(weights) * np.where(np.isin(np.arange(len(weights)), named), p, 1 - p)
        got = answers.function("update")(list(weights), list(named), p)
        call = f"update({weights}, {named}, {p})" if len(weights) < 6 else f"update of {len(weights)} weights"
        expect_equal(got, new / new.sum(), call, tol=1e-6)


@part("3b", 24, 0.8, range(300, 300 + SEARCHES), 22)
def check_survive(answers, m, p, seeds, most):
    "Right often enough, with few questions on average."
    call, mean, _ = check_reliable(answers, "survive", m=m, p=p, seeds=seeds)
    text = f"{call} uses {mean:.1f} questions on average over {len(seeds)} searches in trees of {m} items"
    expect(mean <= most, f"{text}, but should use at most {most}.")


@part("4a", range(500, 500 + SEARCHES), 40)
def check_crowd(answers, seeds, n_people, **how):
    "Right often enough, though each person always says the same."
    call, mean, _ = check_reliable(answers, "crowd", seeds=seeds, stubborn=True, n_people=n_people, **how)
    text = f"{call} uses {mean:.1f} questions on average over {len(seeds)} searches, but should use at most 60."
    expect(mean <= 60, text)
