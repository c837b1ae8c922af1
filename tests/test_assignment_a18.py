"The assignments on A18: right answers of several kinds pass, typical mistakes are told, points add up."

from itertools import combinations
from math import factorial, log

import numpy as np
import pytest

from comparison_hc.adaptive.trees import all_hierarchies
from comparison_hc.classroom.assignment_beat_insertion import Oracle, draw, leaderboard, undecided
from comparison_hc.classroom.checking import Checker, Wrong, find_assignment
from comparison_hc.classroom.grading import grade_notebook
from comparison_hc.classroom.source import find_source, read_notebook, read_source, student_version
from comparison_hc.oracles import HierarchyOracle

NAMES = ["beat-insertion"]


def said(assignment, part, **names):
    "What the check of a part says; empty if all is right."
    try:
        Checker(find_assignment(assignment), names, advise=False)(part)
    except Wrong as wrong:
        return str(wrong)
    return ""


def solutions(assignment, *parts):
    "The names that the source's solutions of some parts define."
    names = {}
    for cell in read_source(read_notebook(find_source(assignment))):
        if cell.is_code and (cell.kind == "given" and "open_assignment" in cell.text or cell.part in parts):
            if cell.kind in ("given", "solution"):
                exec(cell.text, names)
    return names


@pytest.mark.parametrize("name", NAMES)
def test_points_in_marks_are_points_in_parts(name):
    cells = read_source(read_notebook(find_source(name)))
    seen = {cell.part: cell.points for cell in cells if cell.kind == "tests"}
    hidden = {cell.part: cell.points for cell in cells if cell.kind == "hidden"}
    parts = find_assignment(name).parts
    assert seen == {part.name: part.points for part in parts.values()}
    assert hidden == {part.name: part.hidden for part in parts.values() if part.hidden}


@pytest.mark.parametrize("name", NAMES)
def test_the_source_has_all_points(name):
    source = read_notebook(find_source(name))
    graded = grade_notebook(source, source)
    assert graded.points == find_assignment(name).points, (graded.results, graded.notes)


@pytest.mark.parametrize("name", NAMES)
def test_the_student_version_has_no_points_and_no_solutions(name):
    student = student_version(read_notebook(find_source(name)))
    text = "\n".join("".join(cell["source"]) for cell in student["cells"])
    assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text and "Common mistakes" not in text
    names = {}
    for cell in student["cells"]:  # in process: given cells run; cells to be written in, whatever they raise
        kind = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code" and not kind.get("grade"):
            try:
                exec("".join(cell["source"]), names)
            except NotImplementedError:
                assert kind.get("solution")
    for part in find_assignment(name).parts:
        assert said(name, part, **names), part


BEAT = "beat-insertion"


def test_beat_1a():
    by_place = lambda order, *three: np.int64(sorted(three, key=list(order).index)[0])
    assert said(BEAT, "1a", left_out=by_place) == said(BEAT, "1a", **solutions(BEAT, "1a")) == ""
    inner = lambda order, *three: max(three, key=order.index)
    assert "left_out([3, 0, 2, 1], 3, 0, 2) gives 2, and should give 3" in said(BEAT, "1a", left_out=inner)
    position = lambda order, *three: three.index(by_place(order, *three))
    assert "gives 0, and should give 3" in said(BEAT, "1a", left_out=position)


def test_beat_1b():
    floats = lambda n, answers: np.ceil(np.log(factorial(n) / 2) / np.log(answers) - 1e-9)
    assert said(BEAT, "1b", least_questions=floats) == said(BEAT, "1b", **solutions(BEAT, "1b")) == ""
    ordered = lambda n, answers: np.ceil(np.log(factorial(n)) / np.log(answers) - 1e-9)
    assert "least_questions(2, 3) gives 1.0, and should give 0" in said(BEAT, "1b", least_questions=ordered)
    down = lambda n, answers: int(log(factorial(n) / 2, answers) + 1e-9)
    assert "least_questions(3, 2) gives 1, and should give 2" in said(BEAT, "1b", least_questions=down)


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
    assert "stopped with OverBudget: all 1 questions are used" in said(BEAT, "2a", innermost=by_tournament)
    assert "gives [0, 1], and should give" in said(BEAT, "2a", innermost=lambda ask, n: (0, 1))
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
    assert "has item 0 at place 0 from the outside" in said(BEAT, "2b", climb=lambda ask, n: range(n))
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
    assert "and should use at most 380, 0.74 n log2 n" in text and "can do with less than 400" in text
    assert "and should use at most 380" in said(BEAT, "3a", beat=by_merging)
    assert "at place 0 from the outside" in said(BEAT, "3a", beat=lambda ask, n: names["beat"](ask, n)[::-1])


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
    assert "other trees give the same answers" in said(BEAT, "4a", proof=same_pair)
    assert "gives 4 questions, and should give at most 2" in said(
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
