"The assignments on A18: right answers of several kinds pass, typical mistakes are told, points add up."

from itertools import combinations
from math import factorial, log

import numpy as np
import pytest
from assignments import every_assignment, said, solutions

from comparison_hc.adaptive.trees import all_hierarchies
from comparison_hc.classroom.assignment_beat_insertion import Oracle, draw, leaderboard, undecided
from comparison_hc.classroom.assignment_lying_oracle import Search, left_outs, play
from comparison_hc.oracles import HierarchyOracle

NAMES = ["beat-insertion", "lying-oracle"]
TestEvery = every_assignment(*NAMES)


BEAT = "beat-insertion"


def test_beat_1a():
    by_place = lambda order, *three: np.int64(sorted(three, key=list(order).index)[0])
    assert said(BEAT, "1a", left_out=by_place) == said(BEAT, "1a", **solutions(BEAT, "1a")) == ""
    inner = lambda order, *three: max(three, key=order.index)
    assert "left_out([3, 0, 2, 1], 3, 0, 2) gives 2, but should give 3" in said(BEAT, "1a", left_out=inner)
    position = lambda order, *three: three.index(by_place(order, *three))
    assert "gives 0, but should give 3" in said(BEAT, "1a", left_out=position)


def test_beat_1b():
    floats = lambda n, answers: np.ceil(np.log(factorial(n) / 2) / np.log(answers) - 1e-9)
    assert said(BEAT, "1b", least_questions=floats) == said(BEAT, "1b", **solutions(BEAT, "1b")) == ""
    ordered = lambda n, answers: np.ceil(np.log(factorial(n)) / np.log(answers) - 1e-9)
    assert "least_questions(2, 3) gives 1.0, but should give 0" in said(BEAT, "1b", least_questions=ordered)
    down = lambda n, answers: int(log(factorial(n) / 2, answers) + 1e-9)
    assert "least_questions(3, 2) gives 1, but should give 2" in said(BEAT, "1b", least_questions=down)


def by_tournament(ask, n):
    "Three at a time, the two that are left go on; then the rest."
    left = list(range(n))
    while len(left) > 2:
        left = [*left[3:], *(x for x in left[:3] if x != ask(*left[:3]))]
    return set(left)


def by_tournament_asked_once(ask, n):
    left = list(range(n))
    while len(left) > 2:
        left.remove(ask(*left[-3:]))
    return np.array(left)


def test_beat_2a():
    assert said(BEAT, "2a", **solutions(BEAT, "2a")) == ""
    assert said(BEAT, "2a", innermost=by_tournament_asked_once) == ""
    assert "stopped with OverBudget: all 1 question is used" in said(BEAT, "2a", innermost=by_tournament)
    assert "gives [0, 1], but should give" in said(BEAT, "2a", innermost=lambda ask, n: (0, 1))
    text = said(BEAT, "2a", innermost=lambda ask, n: (1, 2))
    assert "with 1 question allowed gives [1, 2], but should give" in text
    pair = lambda ask, n: ask(0, 0, 1)
    assert "ValueError: a question names three different items" in said(BEAT, "2a", innermost=pair)


def by_merging(ask, n):
    "Two lists at a time, with the second of a list as the third item; an innermost pair of their own in each."
    inner = by_tournament_asked_once(ask, n).tolist()

    def merge(a, b):
        if not a or not b:
            return [*a, *b]
        first = a if ask(a[0], b[0], inner[0]) == a[0] else b
        return [first[0], *(merge(a[1:], b) if first is a else merge(a, b[1:]))]

    lists = [[x] for x in range(n) if x not in inner]
    while len(lists) > 1:
        lists = [merge(*(lists[at : at + 2] + [[]])[:2]) for at in range(0, len(lists), 2)]
    return tuple(lists[0] + inner[::-1])


def test_beat_2b():
    assert said(BEAT, "2b", **solutions(BEAT, "2a", "2b")) == said(BEAT, "2b", climb=by_merging) == ""
    assert "has item 0 at index 0 from the outside" in said(BEAT, "2b", climb=lambda ask, n: range(n))
    assert "should give the 5 items, each once" in said(BEAT, "2b", climb=lambda ask, n: [0] * n)

    def all_three(ask, n):
        "The outermost of those that are left, from all questions about them."
        left, out = list(range(n)), []
        while len(left) > 2:
            out.append(next(x for x in left if all(ask(x, a, b) == x for a, b in combinations(set(left) - {x}, 2))))
            left.remove(out[-1])
        return out + left

    assert "OverBudget" in said(BEAT, "2b", climb=all_three)


def by_streams(ask, n):
    "Another three-way merge: lists that are made as they are read, each from three shorter ones."
    inner = by_tournament_asked_once(ask, n).tolist()

    def stream(items):
        if len(items) < 2:
            yield from items
            return
        parts = [stream(items[start::3]) for start in range(3)]
        heads = {at: item for at, part in enumerate(parts) for item in [next(part, None)] if item is not None}
        while heads:
            asked = [*heads.values(), *inner][:3]
            first = ask(*asked) if len(heads) > 1 else asked[0]
            at = next(at for at, item in heads.items() if item == first)
            yield heads.pop(at)
            if (item := next(parts[at], None)) is not None:
                heads[at] = item

    return [*stream([x for x in range(n) if x not in inner]), *inner]


def test_beat_3a():
    names = solutions(BEAT, "2a", "2b", "3a")
    assert said(BEAT, "3a", beat=names["beat"]) == said(BEAT, "3a", beat=by_streams) == ""
    text = said(BEAT, "3a", beat=names["climb"])
    assert "but should use at most 380, 0.74 n log2 n" in text and "can do with less than 400" in text
    assert "but should use at most 380" in said(BEAT, "3a", beat=by_merging)
    assert "at index 0 from the outside" in said(BEAT, "3a", beat=lambda ask, n: names["beat"](ask, n)[::-1])


def test_beat_the_threshold_is_below_what_two_answers_allow():
    for n in (81, 243):
        bound = (np.log2(np.arange(2, n + 1)).sum() - 1) / (n * np.log2(n))
        assert 0.74 < bound - 0.03


def test_beat_4a():
    right = solutions(BEAT, "4a")["proof"]
    other_way = lambda order: [(order[-1], order[at + 1], order[at]) for at in range(len(order) - 2)]
    assert said(BEAT, "4a", proof=right) == said(BEAT, "4a", proof=lambda order: np.array(right(order))) == ""
    assert said(BEAT, "4a", proof=other_way) == ""
    same_pair = lambda order: [(x, *order[-2:]) for x in order[:-2]]
    assert "other trees give these answers" in said(BEAT, "4a", proof=same_pair)
    assert "gives 4 questions, but should give at most 2" in said(
        BEAT, "4a", proof=lambda order: list(combinations(order, 3))
    )
    assert "should give questions" in said(BEAT, "4a", proof=lambda order: order)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_beat_what_is_undecided_is_what_some_other_tree_agrees_with(n):
    order, every = draw(n, n), list(combinations(range(n), 3))
    truths = [HierarchyOracle(tree.dendrogram()) for tree in all_hierarchies(n)]
    answers = np.array([truth(every) for truth in truths])
    right = np.array([row.index(Oracle(order)(*row)) for row in every])
    seen = set()
    for size in (n - 3, n - 2, n - 1):
        for chosen in combinations(range(len(every)), size):
            agree = (answers[:, chosen] == right[list(chosen)]).all(axis=1).sum()
            assert (agree == 1) == (not undecided(order, [every[row] for row in chosen])), (order, chosen)
            seen.add((size, agree == 1))
    assert (n - 2, True) in seen and (n - 3, True) not in seen


def test_beat_the_leaderboard_orders_by_questions():
    def stub(ask, n):
        raise NotImplementedError

    names = solutions(BEAT, "2a", "2b", "3a")
    entries = {"stub": stub, "climb": names["climb"], "wrong": lambda ask, n: range(n), "beat": names["beat"]}
    table = leaderboard(entries, n=20, seeds=[1])
    assert table["strategy"].tolist()[:2] == ["beat", "climb"]
    remarks = dict(zip(table["strategy"], table["remark"]))
    assert remarks["stub"] == "not written yet" and "from the outside" in remarks["wrong"] and remarks["beat"] == ""


LIE = "lying-oracle"


def test_lie_1a():
    def first_of(numbers, p, risk):
        "By convolution, vote after vote."
        chance, k = np.ones(1), 0  # of 0, 1, … right ones
        while k not in numbers or chance[: k // 2 + 1].sum() > risk:
            chance, k = np.convolve(chance, [1 - p, p]), k + 1
        return k

    by_votes = lambda p, risk: np.int64(first_of(range(1, 10**4, 2), p, risk))
    assert said(LIE, "1a", votes_needed=by_votes) == said(LIE, "1a", **solutions(LIE, "1a")) == ""
    any_number = lambda p, risk: first_of(range(1, 10**4), p, risk)
    assert said(LIE, "1a", votes_needed=any_number) == ""  # an even number never is the smallest: a tie is no majority
    hoeffding = lambda p, risk: int(log(1 / risk) / (2 * (p - 0.5) ** 2)) // 2 * 2 + 1
    assert "votes_needed(0.8, 0.25) gives 7, but should give 1" in said(LIE, "1a", votes_needed=hoeffding)
    one_short = lambda p, risk: max(1, by_votes(p, risk) - 2)
    assert "votes_needed(0.8, 0.05) gives 5, but should give 7" in said(LIE, "1a", votes_needed=one_short)


def halving(ask, vertices, parts, votes, early):
    "Halve, with a majority for each question; an early one ends when it is decided."
    left = set(vertices)
    while len(left) > 1:
        v = min(parts, key=lambda v: max(len(left.intersection(part)) for part in parts[v]))
        said = [0, 0, 0]
        while sum(said) < votes and not (early and 2 * max(said) > votes):
            said[ask(v)] += 1
        left.intersection_update(parts[v][said.index(max(said))])
    return np.int64(left.pop())


def patient(ask, vertices, parts, p, risk, early=False, votes=None):
    votes_needed = solutions(LIE, "1a")["votes_needed"]
    steps = (len(vertices) // 2).bit_length()
    return halving(ask, vertices, parts, votes or votes_needed(p, risk / steps), early)


def test_lie_1b():
    assert said(LIE, "1b", **solutions(LIE, "1a", "1b")) == said(LIE, "1b", patient=patient) == ""
    assert said(LIE, "1b", patient=lambda *args: patient(*args, early=True)) == ""
    text = said(LIE, "1b", patient=lambda *args: patient(*args, votes=1))
    assert "finds the sibling in 0." in text and "but should in at least 0.85" in text
    text = said(LIE, "1b", patient=lambda *args: patient(*args, votes=15))
    assert "uses 75 questions in one of the searches" in text and "should use at most 65" in text
    unshared = lambda ask, vertices, parts, p, risk: patient(ask, vertices, parts, p, risk * 5)
    assert "0.7, 0.3) finds the sibling in 0." in said(LIE, "1b", patient=unshared)
    endless = lambda ask, *args: [ask(args[0][-1]) for _ in range(2000)]
    assert "stopped with OverBudget: all 1,000 questions" in said(LIE, "1b", patient=endless)
    item = lambda ask, *args: ask(0)
    assert "ValueError: a pivot is one of" in said(LIE, "1b", patient=item)


def test_lie_2a():
    def until_they_differ(ask, pivots):
        first = ask(pivots[-1])
        return np.bool_(all(ask(pivots[-1]) == first for _ in range(50)))

    assert said(LIE, "2a", **solutions(LIE, "2a")) == said(LIE, "2a", is_stubborn=until_they_differ) == ""
    several = lambda ask, pivots: len({ask(v) for v in pivots}) == 1
    assert "is mistaken about" in said(LIE, "2a", is_stubborn=several)
    twice = lambda ask, pivots: ask(pivots[0]) == ask(pivots[0])
    assert "the first is tired" in said(LIE, "2a", is_stubborn=twice)
    thorough = lambda ask, pivots: len({ask(pivots[0]) for _ in range(200)}) == 1
    assert "asks 200 questions, but should ask at most 60" in said(LIE, "2a", is_stubborn=thorough)
    assert "should give True or False" in said(LIE, "2a", is_stubborn=lambda ask, pivots: "yes")


def test_lie_2b():
    def inside_of_two(n):
        "The three stand below one half of the tree; tuples."
        rest = n - 1
        for x in range(3, n - 1):
            rest = (x, rest)
        one, two = ((2, 1), 0), (2, (1, 0))
        return ([rest, one], [rest, two]) if n > 3 else (one, two)

    assert said(LIE, "2b", **solutions(LIE, "2b")) == said(LIE, "2b", twins=inside_of_two) == ""
    ladder = lambda order: order[0] if len(order) == 1 else [order[0], ladder(order[1:])]
    same = lambda n: (ladder(range(n)), ladder([*range(n - 2), n - 1, n - 2]))
    assert "differ in 0 of 1 answers, but should in exactly one" in said(LIE, "2b", twins=same)
    far = lambda n: (ladder(range(n)), ladder([*range(1, n), 0]))
    assert "twins(4): the two trees differ in 3 of 4 answers" in said(LIE, "2b", twins=far)
    assert "should hold each of the items" in said(LIE, "2b", twins=lambda n: ([0, 1], [0, 1]))
    assert "there should be an item, or a list of two" in said(LIE, "2b", twins=lambda n: ([0, 1, 2], [0, 1]))


def test_lie_answers_of_a_tree_are_those_of_the_package():
    def nested(tree, v):
        return v if v < 5 else [nested(tree, tree.left[v]), nested(tree, tree.right[v])]

    for tree in all_hierarchies(5):
        truth = HierarchyOracle(tree.dendrogram())
        for three, out in left_outs(nested(tree, tree.root()), 5, "call").items():
            assert three[truth([three]).item()] == out


def test_lie_3a():
    def by_logarithms(weights, named, p):
        new = np.log(weights)
        new[named] += np.log(p / (1 - p))
        return (np.exp(new) / np.exp(new).sum()).tolist()

    assert said(LIE, "3a", **solutions(LIE, "3a")) == said(LIE, "3a", update=by_logarithms) == ""
    ruling_out = lambda weights, named, p: [w * (i in named) for i, w in enumerate(weights)]
    assert "update([0.25, 0.25, 0.25, 0.25], [0, 1], 0.8)[0] is 0.25" in said(LIE, "3a", update=ruling_out)
    not_one = lambda weights, named, p: [w * (p if i in named else 1 - p) for i, w in enumerate(weights)]
    assert "[0] is 0.2, but should be 0.4" in said(LIE, "3a", update=not_one)


def any_pivot(ask, vertices, parts, p, risk, stop=True):
    "Weights as whole powers, pivots by the largest part of all, no special case: another survivor."
    inside = np.array([[np.isin(vertices, part) for part in parts[v]] for v in parts])
    score, pivots = np.zeros(len(vertices)), list(parts)
    for _ in range(120):
        weights = (p / (1 - p)) ** (score - score.max())
        weights /= weights.sum()
        if stop and weights.max() >= 1 - risk:
            break
        spread = (inside @ (weights * (1 - weights))).max(axis=1)
        at = int(spread.argmin())
        score += inside[at, ask(pivots[at])]
    return vertices[int(score.argmax())]


def test_lie_3b():
    right = solutions(LIE, "3a", "3b")["survive"]
    assert said(LIE, "3b", survive=right) == said(LIE, "3b", survive=any_pivot) == ""
    text = said(LIE, "3b", survive=lambda *args: patient(*args, early=True))
    assert "questions on average over 40 searches in trees of 24 items, but should use at most 22" in text
    hasty = lambda ask, vertices, parts, p, risk: right(ask, vertices, parts, p, 0.5)
    assert "finds the sibling in 0." in said(LIE, "3b", survive=hasty)
    forever = lambda *args: any_pivot(*args, stop=False)
    assert "uses 120.0 questions on average" in said(LIE, "3b", survive=forever)


def test_lie_4a():
    names = solutions(LIE, "3a", "3b", "4a")
    assert said(LIE, "4a", crowd=names["crowd"]) == ""

    def in_turn(people, *rest):
        "Everybody in turn, whatever is asked."
        turn = iter(range(10**6))
        return any_pivot(lambda v: people[next(turn) % len(people)](v), *rest)

    assert said(LIE, "4a", crowd=in_turn) == ""
    first = lambda people, *rest: any_pivot(people[0], *rest)
    assert "crowd(people, vertices, parts, 0.8, 0.05) finds the sibling in 0." in said(LIE, "4a", crowd=first)

    def vote(people, vertices, parts, p, risk):
        return halving(lambda v: max(range(3), key=[person(v) for person in people].count), vertices, parts, 1, False)

    text = said(LIE, "4a", crowd=vote)
    assert "questions on average over 40 searches, but should use at most 60" in text


def test_lie_an_oracle_is_as_right_as_it_says_and_stubborn_only_if_told():
    right, changes = 0, {True: 0, False: 0}
    for seed in range(300):
        for stubborn in changes:
            search = Search(6, seed, 0.8, stubborn)
            v = search.vertices[-1]
            heard = [search.ask(v) for _ in range(8)]
            changes[stubborn] += len(set(heard)) > 1
            truth = next(a for a in range(3) if any(map(search.is_right, search.parts[v][a])))
            right += heard[0] == truth
    assert abs(right / 600 - 0.8) < 0.07 and changes[True] == 0 and changes[False] > 200
    search = Search(6, 1, 0.8, stubborn=True)
    v = search.vertices[-1]
    truth = next(a for a in range(3) if any(map(search.is_right, search.parts[v][a])))
    assert abs(np.mean([person(v) == truth for person in search.people(400)]) - 0.8) < 0.08  # opinions of their own


def test_lie_a_strategy_that_never_ends_is_not_right():
    def endless(ask, vertices, parts, p, risk):
        while True:
            ask(vertices[-1])

    assert play(endless, m=4, seeds=range(2)) == (0.0, 1000.0, 1000)
