"The page that steps through an insertion, without a browser: record, stored runs, events, as a file, bad settings."

import json
import re
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from comparison_hc.adaptive import insertion_clustering
from comparison_hc.adaptive.trees import GrowingTree, random_hierarchy
from comparison_hc.dashboards.step import (
    DELTA_VALUES,
    EXACT_N,
    LETTERS,
    NOISY_N,
    P_VALUES,
    SHAPE_NAMES,
    StepSettings,
    chart_lines,
    step_data,
    stored_questions,
    stored_runs,
    watch,
)
from comparison_hc.dashboards.step_page import step_events
from comparison_hc.oracles import Counting, HierarchyOracle, Noisy, run
from comparison_hc.reproduce.simulation import ASKING

LIVE_VALUES = StepSettings.values("live")
properties = hypothesis_settings(deadline=None, derandomize=True, max_examples=25)
shapes = st.sampled_from(SHAPE_NAMES)


def parts(vertices, pivot):
    "The vertices left of, right of, and elsewhere."
    kids = {v: (left, right) for v, left, right in vertices}

    def below(v):
        return {v} if kids[v][0] < 0 else {v} | below(kids[v][0]) | below(kids[v][1])

    left, right = map(below, kids[pivot])
    return left, right, set(kids) - left - right


@properties
@given(st.integers(3, 26), shapes, st.integers(0, 50))
def test_an_exact_run_is_insertion_clustering_and_rules_out_what_the_answers_say(n, shape, seed):
    insertions, learned, hidden = watch(StepSettings(n, shape, 1.0, seed=seed))
    asked = []
    listening = lambda q: asked.append(tuple(q[0].tolist())) or HierarchyOracle(hidden)(q)
    assert run(insertion_clustering(n), listening) == learned == hidden
    assert asked == [q.items for each in insertions for q in each.questions]
    assert [each.item for each in insertions] == list(range(2, n))
    for each in insertions:
        names = [v for v, *_ in each.vertices]
        S = [{v for v, share in zip(names, row) if share > 0} for row in each.shares]
        assert S[0] == set(names) and S[-1] == {each.sibling} and len(S) == len(each.questions) + 1
        for before, after, q in zip(S, S[1:], each.questions):
            left, right, rest = parts(each.vertices, q.pivot)
            assert after == before & (right, left, rest)[q.answer]
            assert q.items[0] in left
            assert q.items[1] in right
            assert q.items[2] == each.item
            assert q.answer == q.truth
    tree = GrowingTree(n)
    tree.add_sibling(0, 1)
    for each in insertions:
        tree.add_sibling(each.sibling, each.item)
    assert tree.dendrogram() == hidden


@pytest.mark.parametrize(
    "n, shape, p, delta, seed",
    [(5, "uniform", 0.8, 0.05, 0), (9, "caterpillar", 0.7, 0.2, 3), (12, "balanced", 0.9, 0.01, 1)],
)
def test_a_noisy_run_multiplies_shares_by_what_the_answers_say(n, shape, p, delta, seed):
    insertions, learned, hidden = watch(StepSettings(n, shape, p, delta, seed))
    wrong = 0
    for each in insertions:
        names = [v for v, *_ in each.vertices]
        for before, after, q in zip(each.shares, each.shares[1:], each.questions):
            left, right, rest = parts(each.vertices, q.pivot)
            named = (right, left, rest)[q.answer]
            belief = np.array(before) * [p if v in named else 1 - p for v in names]
            assert np.allclose(after, belief / belief.sum())
            assert q.truth == HierarchyOracle(hidden)(np.array([q.items])).item()
            wrong += q.answer != q.truth
        assert max(each.shares[-1]) == each.shares[-1][names.index(each.sibling)]
        assert max(each.shares[-1]) >= 1 - delta / n
    data = step_data(StepSettings(n, shape, p, delta, seed))
    assert data == dict(
        questions=[len(each.questions) for each in insertions], wrong_answers=wrong, right=learned == hidden
    )
    assert wrong > 0


def frames_of(event):
    "The frames of every item: one for each question and half of one, and the last."
    firsts = [*event["firsts"], len(event["frames"])]
    return [event["frames"][a:b] for a, b in zip(firsts, firsts[1:])]


@pytest.mark.parametrize("p", [0.9, 1.0])
def test_events_are_the_record(p):
    settings = StepSettings(7, "split", p)
    sent, chart = json.loads(json.dumps(list(step_events(settings)), allow_nan=False))
    insertions, learned, hidden = watch(settings)
    lines = chart_lines("split", p, 0.05)
    assert len(chart["show"]["costs"]["rows"]["lines"]) == sum(len(line["n"]) for line in lines)
    total = 0
    for at, (each, frames, picture) in enumerate(zip(insertions, frames_of(sent), sent["items"], strict=True)):
        names = [v for v, *_ in each.vertices]
        assert [int(v) for v in re.findall(r'chc-dot" data-vertex="(\d+)"', picture["overlay"])] == names
        dots = re.findall(r'data-vertex="(\d+)" style="left:([\d.]+)%;top:([\d.]+)%', picture["overlay"])
        place = {int(v): (float(x), float(y)) for v, x, y in dots}
        lines = re.findall(r'data-edge="(\d+)" d="M(\d+) (\d+)H(\d+)V(\d+)"', picture["tree"]["html"])
        found = {int(v): [int(number) / 99.99 for number in numbers] for v, *numbers in lines}
        wanted = {kid: [*place[v], *place[kid]] for v, *kids in each.vertices for kid in kids if kid >= 0}
        assert found.keys() == wanted.keys()
        assert all(found[kid] == pytest.approx(wanted[kid], abs=0.02) for kid in wanted)
        assert len(frames) == 2 * len(each.questions) + 1 and {frame["item"] for frame in frames} == {at}
        for number, q in enumerate(each.questions):
            asked, answered = frames[2 * number : 2 * number + 2]
            assert asked["cost"] == dict(n=each.item + 1, q=total)
            total += 1
            assert answered["cost"]["q"] == total
            x, (a, b) = LETTERS[each.item], (LETTERS[item] for item in q.items[:2])
            for row, frame in ((number, asked), (number + 1, answered)):
                assert (frame["pivot"], frame["asked"]) == (q.pivot, list(q.items[:2]))
                assert frame["show"]["words"] == f"Which two of {a}, {b} and the new item {x} belong together?"
                assert np.abs(np.array(frame["shares"]) / 1000 - each.shares[row]).max() <= 5.1e-4
                if p == 1:
                    assert [share > 0 for share in frame["shares"]] == [share > 0 for share in each.shares[row]]
            pair = (f"{x} and {b}", f"{x} and {a}", f"{a} and {b}")[q.answer]
            answer = answered["show"]["answer"]
            assert asked["show"]["answer"]["html"] == "" and answer["html"].startswith(f"{pair}. So {x} belongs ")
            wrong = q.answer != q.truth
            assert ("wrong" in answer["html"]) == ("chc-wrong" in answer["class"]) == wrong
        last = frames[-1]
        assert [v for v, share in zip(names, last["shares"]) if share] == [each.sibling]
        assert last["show"]["words"].startswith(f"{LETTERS[each.item]} becomes the sibling of ")
    said = sent["frames"][-1]["show"]["answer"]["html"]
    assert said == f"The tree is complete, and it is {'' if learned == hidden else 'not '}the hidden tree."


# ---- stored runs


def questions(algorithm, n, shape, p, delta, seed):
    "How many questions one run asks. Wrong answers to a question are always the same."
    answer = HierarchyOracle(random_hierarchy(n, shape, seed))
    oracle = Counting(answer if p == 1 else Noisy(answer, p, seed, wrong="same"))
    run(ASKING[algorithm](n, p, delta, seed), oracle)
    return oracle.n_queries


@pytest.mark.parametrize(
    "algorithm, n, p, delta",
    [
        ("insertion", 16, 1.0, None),
        ("insertion", 128, 1.0, None),
        ("quick", 32, 1.0, None),
        ("bayesian", 16, 0.8, 0.01),
        ("bayesian", 32, 0.95, 0.2),
        ("robust", 4, 0.8, 0.05),
        ("robust", 16, 0.95, 0.01),
    ],
)
def test_stored_runs_can_be_made_again(algorithm, n, p, delta):
    for shape in ("balanced", "caterpillar"):
        mean = np.mean(
            [questions(algorithm, n, shape, p, delta, seed) for seed in range(1 if algorithm == "robust" else 3)]
        )
        assert stored_questions(algorithm, shape, p, delta)[(EXACT_N if p == 1 else NOISY_N).index(n)] == round(mean)


def test_everything_is_stored():
    noisy = {(a, f"{p:g}", f"{d:g}") for a in ("bayesian", "robust") for p in P_VALUES for d in DELTA_VALUES}
    wanted = {("insertion", "1", ""), ("quick", "1", "")} | noisy
    assert set(stored_runs()) == {(*key, shape) for key in wanted for shape in SHAPE_NAMES}
    for (_, p, *_), row in stored_runs().items():
        assert len(row) == len(EXACT_N if p == "1" else NOISY_N) and row == sorted(row)
    assert stored_questions("robust", "split", 0.7123, 0.05) == []
    assert stored_questions("insertion", "split", 0.7, 0.01) == stored_questions("insertion", "split")


INSERTION_AT_MOST = "Theorem 4.3: n log₂ n, insertion at most"


def test_the_chart_has_the_bounds_and_nothing_leaves_them():
    lines = {line["name"]: line for line in chart_lines("uniform", 0.8, 0.05)}
    assert len(lines) == 10 and all(len(line["n"]) == len(line["q"]) > 0 for line in lines.values())
    for at, n in enumerate(EXACT_N):
        assert lines["all triplets, C(n, 3)"]["q"][at] == comb(n, 3)
        assert lines["all pairs, C(n, 2)"]["q"][at] == comb(n, 2)
        least, most = (lines[name]["q"][at] for name in ("log₃ (2n−3)!!, lower bound", INSERTION_AT_MOST))
        assert 0.9 * least <= lines["insertion"]["q"][at] <= most == pytest.approx(n * log2(n), abs=0.06)
    for bound, measured in (
        ("Theorem 3.2: 469 n log₂ n, quick clustering on average", "quick clustering"),
        ("Theorem 5.1: robust insertion at most", "robust insertion"),
    ):
        assert lines[bound]["n"] == lines[measured]["n"]
        assert all(most > q for most, q in zip(lines[bound]["q"], lines[measured]["q"]))
    exact = {line["name"]: line["q"] for line in chart_lines("uniform", 1.0, 0.05)}
    assert exact["robust insertion"] == exact["Bayesian insertion"] == []
    assert exact["insertion"] == lines["insertion"]["q"]
