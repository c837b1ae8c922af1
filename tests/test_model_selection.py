"""Methods compared by held-out answers: no leak, same seed same table, the order that must come out, people held out
whole, and `--method auto`.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import trees

from comparison_hc.cli import main
from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core.stats import corrected_resampled_interval
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import random_tree
from comparison_hc.elicitation.crowd import make_crowd
from comparison_hc.evaluation import _candidates, model_selection
from comparison_hc.evaluation._candidates import candidate, candidate_names, fit
from comparison_hc.evaluation._splits import object_groups, plan_splits
from comparison_hc.evaluation.model_selection import (
    COLUMNS,
    accuracy_scores,
    choose_method,
    compare_methods,
    signed_correctness,
)
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.methods import build_hierarchy
from comparison_hc.metrics import agreement, noise_ceiling


@st.composite
def triplets(draw, n=6, most=60):
    "Random answers about n objects, with repeats and contradictions."
    rows = draw(st.lists(st.permutations(range(n)).map(lambda p: p[:3]), min_size=2, max_size=most))
    return Triplets(np.array(rows), n)


@st.composite
def quadruplets(draw, n=6, most=60):
    "The same with two pairs, which may share an object."
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    rows = st.tuples(pair, pair).filter(lambda r: set(r[0]) != set(r[1])).map(lambda r: (*r[0], *r[1]))
    return Quadruplets(np.array(draw(st.lists(rows, min_size=2, max_size=most))), n)


def from_tree(tree, n_answers, wrong=0.0, seed=0):
    "Triplets that a tree decides, a share of them turned round."
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(tree.n_objects)[:3] for _ in range(n_answers)])
    said = signed_correctness(tree, Triplets(rows, tree.n_objects))
    rows[said < 0] = rows[said < 0][:, [0, 2, 1]]
    return Triplets(rows[said != 0], tree.n_objects).flip(wrong, seed)


# ---- splits


@given(st.one_of(triplets(), quadruplets()))
def test_object_sets_are_the_sets_of_objects(answers):
    number = object_groups(answers)
    sets = [frozenset(row) for row in answers.array.tolist()]
    assert len(number) == len(answers) and len(set(number.tolist())) == len(set(sets)) == number.max() + 1
    assert len(set(zip(number.tolist(), sets))) == len(set(sets))


def test_object_sets_with_numbers_too_large_for_one_key():
    n = 2**31 - 2
    found = object_groups(Triplets.trusted(np.array([[0, 1, n - 1], [n - 1, 1, 0], [0, 2, 1]], dtype=np.int64), n))
    assert found[0] == found[1] != found[2]


def check_plan(answers, plan):
    "No row and no set of objects on both sides; nothing lost but what is said to be left out."
    sets = object_groups(answers)
    for split in plan.splits:
        assert len(split.train) and len(split.test) and not set(split.train) & set(split.test)
        assert not set(sets[split.train]) & set(sets[split.test])
        assert len(split.train) + len(split.test) + split.n_left_out == len(answers)


@given(st.one_of(triplets(), quadruplets()), st.integers(0, 99), st.floats(0.01, 0.99))
def test_nothing_stands_on_both_sides(answers, seed, share):
    if object_groups(answers).max() < 1:
        return
    plan = plan_splits(answers, 3, share, rng=seed)
    check_plan(answers, plan)
    assert plan.by == "answers" and all(split.n_left_out == 0 for split in plan.splits)


def by_people(n_people=10, n_answers=2000, n=30, seed=0):
    "Answers about objects on a line, by people in turn."
    rng = np.random.default_rng(seed)
    answers = from_tree(random_tree(n, seed), n_answers, 0.1, seed)
    return Triplets(answers, respondents=[f"person {p}" for p in rng.integers(n_people, size=len(answers))])


@pytest.mark.parametrize("people", [None, True])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_people_are_held_out_whole(people, share):
    answers = by_people()
    plan = plan_splits(answers, people=people, test_share=share)
    check_plan(answers, plan)
    assert plan.by == "people" and plan.n_units == 10
    for split in plan.splits:
        out, stay = set(answers.respondents[split.test]), set(answers.respondents[split.train])
        assert not out & stay and len(out) == round(10 * share)
        assert set(np.flatnonzero(np.isin(answers.respondents, list(out)))) == set(split.test)


def test_answers_are_split_where_people_cannot_be():
    answers = by_people()
    same = Triplets(np.tile(answers.array[:40], (8, 1)), 30, respondents=np.repeat(np.arange(8), 40))
    for case, people, words in (
        (same, None, "same objects"),
        (answers, False, "as asked"),
        (answers.take(answers.respondents < "person 3"), None, "only 3 people"),
        (Triplets(answers.array, 30), None, "not known"),
    ):
        plan = plan_splits(case, people=people)
        assert plan.by == "answers" and words in plan.why
        check_plan(case, plan)
    for case, people in ((same, True), (Triplets(answers.array, 30), True), (answers, [1, 2]), (answers, "Ann")):
        with pytest.raises(InputError, match="people must be"):
            plan_splits(case, people=people)


def test_nothing_to_split():
    for answers in (Triplets([[0, 1, 2]]), Triplets([[0, 1, 2], [1, 0, 2]])):
        with pytest.raises(InputError, match="two different sets of objects"):
            plan_splits(answers)


# ---- what is reported


@given(trees(6, groups=False, least=6), st.one_of(triplets(), quadruplets()), st.integers(0, 9))
def test_verdicts_are_those_of_agreement(tree, answers, seed):
    said, found = signed_correctness(tree, answers), agreement(tree, answers)
    assert (np.sum(said > 0), np.sum(said < 0), np.sum(said == 0)) == (found.agree, found.disagree, found.undecided)
    weights = np.random.default_rng(seed).integers(1, 4, len(answers))
    again = answers.take(np.repeat(np.arange(len(answers)), weights))  # a weight is a number of copies
    weighted, repeated = (
        accuracy_scores(said, weights.astype(float)),
        accuracy_scores(signed_correctness(tree, again), np.ones(len(again))),
    )
    assert weighted == pytest.approx(repeated, nan_ok=True)
    assert noise_ceiling(answers, weights) == pytest.approx(noise_ceiling(again))
    assert weighted["agreement"] <= noise_ceiling(answers, weights.astype(float)) + 1e-12


def test_points_are_judged_by_distance():
    points = np.array([[0.0], [1.0], [3.0], [-1.0]])
    assert signed_correctness(points, Triplets([[0, 1, 2], [0, 2, 1], [0, 1, 3]])).tolist() == [1, -1, 0]


def test_interval():
    values = np.array([0.7, 0.8, 0.75, 0.72, 0.78])
    low, high = corrected_resampled_interval(values, 0.25)
    s = values.std(ddof=1)
    assert high - low == pytest.approx(2 * 2.7764451 * s * np.sqrt(1 / 5 + 0.25)) and (low + high) / 2 == values.mean()
    assert np.isnan(corrected_resampled_interval(values[:2], 0.25)).all()


# ---- the comparison


def test_no_leak():
    "Every method sees the building side of each split, and nothing else."
    answers, seen = by_people(), []

    def stub(train):
        seen.append(train)
        return random_tree(30, 0)

    for people in (False, True):
        seen.clear()
        found = compare_methods(answers, {"one": stub, "two": stub}, people=people)
        assert len(seen) == 10 and found.plan.by == ("people" if people else "answers")
        for train, split in zip(seen[::2], found.plan.splits):
            assert train == answers.take(split.train)
        for train in seen:
            assert len(train) < len(answers)


def test_a_method_that_memorises_gains_nothing():
    "Answers at random: whatever a tree learns, held-out agreement is one half, though in-sample it is more."
    rng = np.random.default_rng(0)
    answers = Triplets(np.array([rng.permutation(10)[:3] for _ in range(600)]), 10)
    found = compare_methods(answers, ["3-al"], n_splits=20)
    assert abs(found.table.agreement["3-al"] - 0.5) < 0.03
    assert found.in_sample.filter(like="agreement").loc["3-al"].item() > 0.53
    assert any("not surely better than chance" in sentence for sentence in found.sentences())


def test_the_order_that_must_come_out():
    hidden = random_tree(24, 3)
    answers = from_tree(hidden, 4000, 0.1, 1)
    given = {"random": lambda _: random_tree(24, 9), "hidden": lambda _: hidden, "3-al": candidate_tree("3-al")}
    table = compare_methods(answers, given).table
    assert table.index.tolist() == ["hidden", "3-al", "random"] and set(COLUMNS) < set(table)
    assert table.accuracy["hidden"] == pytest.approx(0.9, abs=0.02) and table.undecided["hidden"] == 0
    assert table.agreement["random"] == pytest.approx(0.5, abs=0.06)
    assert 0 <= table.noise_ceiling["hidden"] - table.agreement["hidden"] < 0.1
    assert table["diff"]["hidden"] == 0 and table.diff_low["random"] > 0.2
    perfect = compare_methods(from_tree(hidden, 2000), {"hidden": lambda _: hidden}).table
    assert perfect.agreement["hidden"] == perfect.noise_ceiling["hidden"] == 1


def candidate_tree(name):
    "A function of answers."
    return lambda answers: build_hierarchy(name, answers)[0]


def test_same_seed_same_table():
    answers = by_people()
    tables = [compare_methods(answers, n_splits=3, rng=rng).table.drop(columns="seconds") for rng in (1, 1, 2)]
    assert tables[0].equals(tables[1]) and not tables[0].equals(tables[2])
    alone = compare_methods(answers, ["random"], n_splits=3, rng=1).table
    assert alone.agreement["random"] == tables[0].agreement["random"]  # whoever else is compared


def test_best_is_a_tree_and_never_the_random_one():
    answers = from_tree(random_tree(12, 0), 1500, 0.1)
    found = compare_methods(answers, ["t-ste", "t-ste-al", "random"], n_splits=3)
    assert found.best == "t-ste-al" and not found.table.tree["t-ste"]
    assert any("without a tree" in sentence for sentence in found.sentences())
    assert str(found.table.title["t-ste-al"]) in repr(found) and "<p>" in found._repr_html_()


def test_surely_worse_is_one_rule_for_the_sentences_and_the_choice():
    found = compare_methods(from_tree(random_tree(12, 0), 1500, 0.1), ["3-al", "4-al", "4k-al", "random"], n_splits=3)
    best, *others = [name for name in found.table.index if name != "random"]
    for lows, listed in (((0.004, 0.011), others[:1]), ((0.011, 0.012), []), ((-0.2, 0.01), others)):
        table = found.table.copy()
        table.loc[others, "diff_low"] = lows
        assert model_selection._not_surely_worse(table, [best, *others]) == [best, *listed]
        sentence = replace(found, table=table).sentences()[2]
        titles = sentence.partition("): ")[2].rstrip(".").split(", ")
        assert [name for name in others if table.title[name] in titles] == listed


def test_quadruplets():
    answers = from_tree(random_tree(12, 0), 400, 0.1).to_quadruplets()
    found = compare_methods(answers, n_splits=3)
    assert found.best.startswith("4") and "3-al" not in found.table.index
    with pytest.raises(InputError, match="methods that take quadruplets"):
        compare_methods(answers, ["3-al"])


def test_progress_and_bad_input():
    answers, calls = from_tree(random_tree(12, 0), 400), []
    compare_methods(answers, ["3k-al", "random"], n_splits=3, progress=lambda *call: calls.append(call))
    assert calls == [(done, 6) for done in range(1, 7)]
    for methods in ([], "3-al", ["ward"], ["t-ste refined"], {"a": 1}, 3):
        with pytest.raises(InputError, match="methods must be"):
            compare_methods(answers, methods)
    for options in (dict(n_splits=0), dict(test_share=1), dict(rng=-1), dict(people=3), dict(progress=3)):
        with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
            compare_methods(answers, ["random"], **options)


def test_every_candidate_builds():
    answers = from_tree(random_tree(10, 0), 600, 0.1)
    names = candidate_names("triplets", embeddings=True)
    assert len(set(names)) == len(names)
    for name in names:
        model = fit(candidate(name), answers, 0, {})[0]
        if name == "random":
            continue
        assert accuracy_scores(signed_correctness(model, answers), np.ones(len(answers)))["agreement"] > 0.6, name


def test_intervals_of_shares_are_shares():
    few = from_tree(random_tree(6, 0), 60, 0.1)
    table = compare_methods(few, ["3-al", "4-al", "random"], n_splits=5, rng=1).table
    assert (table.low >= 0).all() and (table.high <= 1).all() and (table.high == 1).any()


# ---- auto


def test_auto_takes_the_simplest_that_is_not_surely_worse():
    answers = from_tree(random_tree(20, 1), 1500, 0.1)
    choice = choose_method(answers)
    table, names = choice.compared.table, [n for n in candidate_names("triplets") if n != "random"]
    assert set(table.index) == set(names) and len(choice.compared.plan.splits) == 5
    assert choice.ties == [name for name in names if table.diff_low[name] <= 0.01]
    assert choice.name == choice.ties[0] and "chosen by held-out agreement" in choice.title
    assert choice.dendrogram.same_tree(fit(candidate(choice.name), answers, 0, {})[0])
    again = choose_method(answers)
    assert again.title == choice.title and again.dendrogram.same_tree(choice.dendrogram)


def test_slow_methods_are_left_out_for_many_objects_and_it_is_said(monkeypatch, tmp_path, capsys):
    for module in (_candidates, model_selection):
        monkeypatch.setattr(module, "MANY_OBJECTS", 19)
    answers = from_tree(random_tree(20, 1), 1500, 0.1)
    choice = choose_method(answers)
    assert list(choice.compared.table.index.sort_values()) == ["3-al", "3k-al", "4-al", "additive-al", "points-al"]
    assert "(refined trees and 4K–AL are left out" in choice.title
    answers.to_csv(tmp_path / "answers.csv")
    assert main(["compare", str(tmp_path / "answers.csv"), "--splits", "1", "--shape", "no"]) in (0, None)
    out = capsys.readouterr().out
    assert "refined trees and 4K–AL are left out" in out and "3K–AL refined" not in out
    monkeypatch.undo()
    assert "left out" not in choose_method(answers).title


def test_auto_leaves_a_simple_method_that_is_surely_worse(monkeypatch):
    "Points that know nothing lose to every tree of the answers."
    nothing = lambda some, rng: np.random.default_rng(0).normal(size=(some.n_objects, 2))  # noqa: E731
    monkeypatch.setitem(_candidates.EMBEDDINGS, "points", ("points", nothing, "VW12", "quadruplets"))
    choice = choose_method(from_tree(random_tree(20, 1), 1500, 0.1))
    assert choice.name != "points-al" and "points-al" not in choice.ties
    assert choice.compared.table.diff_low["points-al"] > 0.01 >= choice.compared.table.diff_low[choice.name]


def test_auto_compares_on_a_sample_of_many_answers(monkeypatch):
    answers = by_people(n_answers=3000)
    monkeypatch.setattr(model_selection, "_MOST_ANSWERS", 1000)
    for people in (None, answers.respondents):
        choice = choose_method(answers, people)
        assert choice.compared.n_answers == 1000 and "on 1,000 of the answers" in choice.title
        assert choice.compared.plan.by == "people" and choice.compared.plan.n_units == 10
    assert choice.dendrogram.same_tree(fit(candidate(choice.name), answers, 0, {})[0])


def test_auto_with_few_answers_takes_the_default_and_says_so():
    tree = random_tree(8, 0)
    few = from_tree(tree, 60)
    one_place = Triplets(np.tile([[0, 1, 2], [1, 2, 3]], (100, 1)), 8)
    for answers, words in ((few, "answers are too few"), (one_place, "2 different sets of objects")):
        choice = choose_method(answers)
        assert choice.name == "points-al" and choice.compared is None and words in choice.title
        assert choice.dendrogram.same_tree(fit(candidate("points-al"), answers, 0, {})[0])


@pytest.mark.parametrize("people", [None, True])
def test_ctrl_c_keeps_the_splits_that_are_done(people):
    answers = make_crowd(planted_hierarchy(2, 2, 0.8, 0.2, 0.05, 0).similarity, 40, [0.9] * 6, 0)

    def stop(done, total):
        if done == 8:  # of three methods a split: two splits are done, and two thirds of the next
            raise KeyboardInterrupt

    names = ["3-al", "3k-al", "random"]
    few = compare_methods(answers, names, n_splits=4, people=people, rng=3, progress=stop)
    whole = compare_methods(answers, names, n_splits=4, people=people, rng=3)
    same = whole.runs[whole.runs.split < 2].drop(columns="seconds")
    pd.testing.assert_frame_equal(few.runs.drop(columns="seconds"), same)
    assert few.interrupted and not whole.interrupted
    assert few.sentences()[0].startswith("Interrupted after 2 of 4 splits. 2 times about")
    assert "nterrupted" not in whole.sentences()[0]
    with pytest.raises(KeyboardInterrupt):
        compare_methods(answers, {"nobody": lambda some: stop(8, 8)}, n_splits=4)
