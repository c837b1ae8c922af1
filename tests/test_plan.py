"The study planner: what is asked and said, what a pilot tells, the lists, the advice, the command, and lists asked."

import csv
import io
import re
import sys
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.planner import CASES, halves, held_back_grid, some_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from shared import (
    assert_every_sentence_can_come_out_either_way,
    by_name,
    interrupted_after,
    names_of_notebook,
    refusals,
    refused,
)

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.core.validation import InputError, visible_text
from comparison_hc.elicitation.trial_list import Trial, TrialSession, attention_checks, collect_answers, read_trial_list
from comparison_hc.oracles import JournalError
from comparison_hc.reproduce.claims import load_results
from comparison_hc.whatif import plan_study
from comparison_hc.whatif.designs import (
    QUESTIONS,
    adaptive_rows,
    chosen_places,
    grid_rows,
    hidden_groups,
    random_questions,
    rows_said,
    study_run,
)
from comparison_hc.whatif.lists import balanced_places, dealt_threes, question_counts, study_lists
from comparison_hc.whatif.pilot import fit_pilot, pilot_curve, slips_from_repeats
from comparison_hc.whatif.study import (
    assumptions,
    design_table,
    enough_for_most,
    listed_design,
    noise_curve,
    one_more_person,
    plan_curve,
    plan_sentences,
    play_study,
)

properties = settings(deadline=None, derandomize=True, max_examples=25)


def agree(rows, w):
    "Which rows say what the similarities say."
    i, j, k = np.asarray(rows).T
    return w[i, j] > w[i, k]


# what is asked, and what is said


@properties
@given(n=st.integers(6, 40), levels=st.integers(1, 2), seed=st.integers(0, 99))
def test_hidden_groups_are_a_tree_of_equal_parts(n, levels, seed):
    w, found = hidden_groups(n, levels, 3.0, seed)
    assert w.shape == (n, n) and found.shape == (levels, n) and np.array_equal(w, w.T)
    for level, groups in enumerate(found, 1):
        sizes = np.bincount(groups)
        assert len(sizes) == 2**level and np.ptp(sizes) <= 2 ** (levels - level)
    assert all(np.array_equal(upper, lower // 2) for upper, lower in zip(found, found[1:]))


@properties
@given(design=st.sampled_from(QUESTIONS), seed=st.integers(0, 999))
def test_without_slips_every_row_is_true(design, seed):
    rng = np.random.default_rng(seed)
    w, _ = hidden_groups(12, 2, 1.0, rng)
    questions = random_questions(12, 40, rng)
    assert all(len(set(row)) == 3 for row in questions.tolist())
    rows = rows_said(design, questions, chosen_places(design, w, questions, 0.0, rng))
    assert len(rows) == (40 if design == "triplets" else 80) and agree(rows, w).all()
    assert {frozenset(row) for row in rows.tolist()} <= {frozenset(row) for row in questions.tolist()}


@pytest.mark.parametrize("design", QUESTIONS)
def test_slips_are_as_frequent_as_they_should_be(design):
    rng = np.random.default_rng(1)
    w, _ = hidden_groups(30, 2, 1.0, rng)
    questions = random_questions(30, 20_000, rng)
    right, said = (chosen_places(design, w, questions, noise, rng) for noise in (0.0, 0.2))
    assert abs(np.mean(right != said) - 0.2) < 0.015
    if design != "triplets":  # the wrong place is one of the two others, both as often
        assert abs(np.mean(((said - right) % 3)[right != said] == 1) - 0.5) < 0.03


def test_adaptive_and_grid_rows_are_true_and_as_many_as_asked():
    rng = np.random.default_rng(0)
    w, _ = hidden_groups(20, 2, 1.0, rng)
    rows = adaptive_rows(w, 50, 20, 0.0, rng)
    assert len(rows) == 100 and agree(rows, w).all()  # 20, 20 and 10 questions, two rows each
    assert agree(grid_rows(w, 500, 0.0, rng), w).all()
    assert abs(agree(grid_rows(w, 20_000, 0.3, rng), w).mean() - 0.7) < 0.015


@pytest.mark.parametrize("n", [3, 7, 16, 40])
def test_whoever_is_asked_adaptively_is_through_after_n_log_n_questions(n):
    "A18, Theorem 4.3; the constant is 1."
    rng = np.random.default_rng(n)
    for noise in (0.0, 0.3):
        w = rng.normal(size=(n, n))
        rows = adaptive_rows(w + w.T, 10**6, 10**6, noise, rng)
        assert n - 2 <= len(rows) // 2 <= n * np.log2(n)


def test_a_clear_study_finds_everything_and_a_hopeless_one_nothing():
    one = dict(n_objects=16, n_levels=2, design="odd-one-out", method="3k-al", per_person=10**6, repetition=0)
    clear = study_run(delta_over_sigma=50.0, noise=0.0, questions=2000, rng=0, **one)
    lost = [study_run(delta_over_sigma=0.01, noise=0.45, questions=100, rng=seed, **one)["aari"] for seed in range(6)]
    assert clear["aari"] == 1.0 and clear["agreement"] > 0.8 and abs(np.mean(lost)) < 0.15


# what a pilot tells


@pytest.mark.parametrize("design", QUESTIONS)
@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_noise_is_found_from_repeats(design, noise):
    rng = np.random.default_rng(3)
    w, _ = hidden_groups(25, 2, 2.0, rng)
    questions = random_questions(25, 2000, rng)
    said = [rows_said(design, questions, chosen_places(design, w, questions, noise, rng)) for _ in range(2)]
    found = slips_from_repeats(Triplets(np.concatenate(said), 25), design)
    assert abs(found.noise - noise) < 0.03 and found.low < noise < found.high and found.n_repeated > 900
    assert slips_from_repeats(Triplets(np.unique(np.sort(said[0], axis=1), axis=0)[:1], 25), design, 0.11).noise == 0.11


def test_an_odd_one_out_that_is_repeated_counts_once():
    "Fifty questions twice: forty with the same choice, ten with another one."
    rng = np.random.default_rng(0)
    questions = np.array([[a, b, c] for a in range(8) for b in range(a) for c in range(b)])[:50]
    first = rng.integers(3, size=50)
    second = np.where(np.arange(50) < 40, first, (first + 1) % 3)
    said = np.concatenate([rows_said("odd-one-out", questions, chosen) for chosen in (first, second)])
    found = slips_from_repeats(Triplets(said), "odd-one-out")
    assert found.n_repeated == 50 and np.isclose((1 - found.noise) ** 2 + found.noise**2 / 2, 0.8)
    ends = binomtest(40, 50).proportion_ci()
    right = [(1 - slip) ** 2 + slip**2 / 2 for slip in (found.high, found.low)]
    assert np.allclose(right, [ends.low, ends.high])


def test_a_handful_of_repeats_says_nothing():
    same = np.array([[0, 1, 2], [3, 4, 5]] * 2 + [[0, 2, 4]])
    found = slips_from_repeats(Triplets(same), "triplets", 0.11)
    assert found.noise == 0.11 and found.n_repeated == 0 and "is assumed" in str(found)


def test_a_pilot_is_placed_in_a_world_like_its_own():
    rng = np.random.default_rng(5)
    w, _ = hidden_groups(12, 1, 4.0, rng)
    questions = random_questions(12, 120, rng)
    pilot = Triplets(rows_said("odd-one-out", questions, chosen_places("odd-one-out", w, questions, 0.05, rng)), 12)
    fit = fit_pilot(pilot, "odd-one-out", noise=0.05, repeat=2)
    distances = [world.distance for world in fit.worlds]
    assert distances == sorted(distances) and fit.is_near and max(distances) <= distances[0] + 1
    assert all(world.delta_over_sigma >= 1 for world in fit.worlds)  # unclear groups would have lower agreement
    curve = pilot_curve(pilot)
    assert curve == pilot_curve(pilot) and len(curve.sizes) == 3 and curve.agreement[-1] > 0.7


test_pilots_that_say_nothing = refusals(
    ("at least 60 answers", lambda rows: fit_pilot(Triplets(rows), "triplets"), [[0, 1, 2]] * 10),
    ("about at least 6 objects", lambda rows: fit_pilot(Triplets(rows), "triplets"), [[0, 1, 2], [3, 4, 0]] * 40),
    ("the pilot's design must be one of", partial(fit_pilot, Triplets([[0, 1, 2], [5, 4, 3]] * 40)), "pairs"),
)


# lists


@properties
@given(n=st.integers(6, 30), m=st.integers(1, 60), seed=st.integers(0, 999))
def test_dealt_threes_are_balanced_and_different(n, m, seed):
    rng, seen = np.random.default_rng(seed), set()
    threes = dealt_threes(n, m, rng, seen)
    count = np.bincount(threes.ravel(), minlength=n)
    assert threes.shape == (m, 3) and count.sum() == 3 * m and np.ptp(count) <= 3
    assert all(len(set(row)) == 3 for row in threes.tolist())
    placed = balanced_places(threes, n, rng)
    assert np.array_equal(np.sort(placed, axis=1), np.sort(threes, axis=1))


@pytest.mark.parametrize("asks", QUESTIONS)
def test_lists_have_what_they_should(asks, tmp_path):
    names = [f"thing {at}" for at in range(15)]
    lists = study_lists(asks, names, 3, 60, 1)
    assert list(lists) == ["p1", "p2", "p3"] and lists["p1"].equals(study_lists(asks, names, 3, 60, 1)["p1"])
    seen = set()
    for person, frame in lists.items():
        frame.to_csv(tmp_path / f"{person}.csv", index=False)
        questions = read_trial_list(tmp_path / f"{person}.csv")
        by_role = {role: [q for q in questions if q.role == role] for role in ("new", "repeat", "catch")}
        assert [len(each) for each in by_role.values()] == list(question_counts(60)) == [51, 6, 3]
        first = {frozenset(q.shown): q.shown for q in by_role["new"]}
        assert len(first) == 51 and not seen & set(first)
        seen |= set(first)
        for again in by_role["repeat"]:
            assert again.shown != first[frozenset(again.shown)]
            assert asks != "triplets" or again.shown[0] == first[frozenset(again.shown)][0]
        shown = pd.Series([name for q in by_role["new"] for name in q.shown]).value_counts()
        assert len(shown) == 15 and shown.max() - shown.min() <= 3
        for catch in by_role["catch"]:
            twice = max(catch.shown, key=catch.shown.count)
            assert catch.expected == (twice if asks != "odd-one-out" else min(catch.shown, key=catch.shown.count))


# the plan


@pytest.fixture(scope="module")
def plan():
    return plan_study(12, people=4, minutes=2, designs=("triplets", "odd-one-out"), repeat=3, target=0.7, noise=0.1)


def test_a_plan_is_read_off_its_runs(plan):
    x, values = plan_curve(plan)
    assert plan.per_person == 20 and plan.new_per_person == 17 and plan.questions_of(4) == 68
    assert x.tolist() == [17, 34, 68, 136, 272] and values.shape == (5, 3)
    rows = plan.runs[(plan.runs.design == plan.design) & (plan.runs.method == plan.method) & (plan.runs.noise == 0.1)]
    rows = rows[rows.delta_over_sigma == 2.0]
    assert np.isclose(values[2].mean(), rows[rows.questions == 68].aari.mean())
    table = design_table(plan)
    assert table.design[0] == plan.design and table.method[0] == plan.method and table.aari.is_monotonic_decreasing
    assert len(table) == 4 and np.isclose(table.aari[0], values[2].mean())
    noises, by_noise = noise_curve(plan)
    assert noises.tolist() == [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45]
    assert np.array_equal(by_noise[2], values[2])
    gain, low, high = one_more_person(plan)
    assert 0 <= low <= gain <= high < 0.5


def test_designs_that_reach_as_much_are_told_apart_by_the_pilot():
    "Where all designs find everything, the questions of the pilot stay; without a pilot it is odd one out."
    designs = ("triplets", "odd-one-out", "central")
    clear = dict(people=20, minutes=5, designs=designs, repeat=2, noise=0.0, delta_over_sigma=50.0, n_worlds=40)
    plan = plan_study(12, **clear)
    assert (design_table(plan).aari.round(2) == 1).sum() >= 3
    for asked, expected in ((None, "odd-one-out"), ("central", "central"), ("triplets", "triplets")):
        draft = replace(plan, fit=asked and SimpleNamespace(design=asked, worlds=plan.worlds, is_near=True))
        found = play_study(draft, designs, 2, 1, None, lambda done: None)
        assert found.design == expected == listed_design(found) == design_table(found).design[0]
    assert "Each question gives 2 comparisons, which makes 1,720" in " ".join(plan_sentences(plan))
    assert "Each question gives" not in " ".join(plan_sentences(replace(found, fit=None)))


def test_every_run_is_a_study_by_hand(plan):
    names = ["n_objects", "n_levels", "delta_over_sigma", "noise", "design", "questions", "per_person", "method"]
    for row in plan.runs.sample(8, random_state=1).to_dict("records"):
        said = {name: row[name] for name in (*names, "repetition")}
        found = study_run(**said, rng=np.random.default_rng(row["run_seed"]))
        assert (found["aari"], found["agreement"]) == (row["aari"], row["agreement"])
    assert plan.runs["run_seed"].nunique() == 3  # one hidden world a repetition, whatever is asked
    assert not plan.runs.duplicated([*names, "repetition"]).any()


def test_the_advice_says_everything(plan):
    said = " ".join(plan_sentences(plan))
    for words in (
        "Ask ",
        "Build the tree with",
        "4 people answer 68 new questions",
        "One more person changes AARI by",
        "may be errors",
    ):
        assert words in said
    assert "If the groups are less clear (δ/σ = 1)" in said and "If the groups are clearer (δ/σ = 4)" in said
    assumed = " ".join(assumptions(plan))
    assert "δ/σ = 2 is assumed" in assumed and "noise 0.1 is assumed" in assumed


def test_nearly_sure_is_read_off_every_study_by_itself(plan):
    most, questions = enough_for_most(plan)
    x, values = plan_curve(plan)
    assert most == 3  # nine of ten, of three
    if np.isfinite(questions):
        first = np.searchsorted(x, questions)
        reach = [(np.maximum.accumulate(study) >= plan.target).argmax() for study in values.T]
        assert max(reach) <= first + 1
    easy = replace(plan, target=float(values.min()) / 2)
    assert enough_for_most(easy)[1] == -np.inf and "the fewest tried" in " ".join(plan_sentences(easy))
    runs = plan.runs.copy()
    runs.loc[runs["repetition"] == 0, "aari"] = 0.1  # one of three never gets there, the mean does
    runs.loc[runs["repetition"] > 0, "aari"] = 0.2 + 0.7 * (runs["questions"] > 100)
    torn = replace(plan, runs=runs, target=0.5)
    assert enough_for_most(torn) == (3, np.inf) and "Fewer than 3 of 3" in " ".join(plan_sentences(torn))
    assert not re.search(r"With \d+ people, \d+ of \d+ simulated", " ".join(plan_sentences(replace(torn, target=0.95))))


@pytest.fixture(scope="module")
def pilot():
    rng = np.random.default_rng(5)
    w, _ = hidden_groups(12, 1, 3.0, rng)
    questions = random_questions(12, 80, rng)
    return Triplets(rows_said("triplets", questions, chosen_places("triplets", w, questions, 0.1, rng)), 12)


def test_a_plan_with_a_pilot_says_where_its_numbers_come_from(pilot, monkeypatch):
    monkeypatch.setattr("comparison_hc.whatif.pilot.CLEARNESS", (1.0, 4.0))
    found = plan_study(people=4, minutes=2, pilot=pilot, noise=0.1, designs="triplets", repeat=2)
    said = " ".join(assumptions(found))
    assert len(found.names) == 12 and "the world most like the pilot" in said and "like the pilot" in said


test_bad_plans = refusals(
    ("objects must be an integer from 6", plan_study, 3),
    ("objects must be distinct", plan_study, ["a", "a", "b", "c", "d", "e"]),
    ("objects must be a number or names where there is no pilot", plan_study, None),
    ("people must be", by_name(plan_study, "people", 10), 0),
    ("at least 10 questions", by_name(plan_study, "minutes", 10), 0.5),
    ("noise must be", by_name(plan_study, "noise", 10), 0.5),
    ("target must be", by_name(plan_study, "target", 10), 1),
    ("designs must be one or several of", by_name(plan_study, "designs", 10), ["grid"]),
    ("n_levels must be an integer from 1 to", by_name(plan_study, "n_levels", 10), 9),
    ("repeat must be", by_name(plan_study, "repeat", 10), 1),
)


# the command, and the way of the answers


def test_from_plan_to_tree(tmp_path, capsys, monkeypatch):
    study = tmp_path / "study"
    line = f"plan --objects 9 --people 2 --minutes 2 --design odd-one-out --repeat 2 --jobs 1 --out {study}"
    assert main(line.split()) == 0
    said = capsys.readouterr().out
    assert "2 question lists" in said and "is assumed" in said
    page = (study / "plan.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 and "<script" not in page and line in page
    w, _ = hidden_groups(9, 1, 20.0, 0)
    for person in ("p1", "p2"):
        questions = read_trial_list(study / f"questions/{person}.csv")
        lines = io.StringIO("".join(f"{right_place(question, w)}\n" for question in questions))
        monkeypatch.setattr(sys, "stdin", lines)
        assert main(["ask", "--list", str(study / f"questions/{person}.csv")]) == 0
        out = capsys.readouterr().out
        assert "20 of 20 questions answered, 0 of them “cannot say”; 1 of 1 catch trials right" in out
    assert main(["plan", "--collect", str(study)]) == 0
    answers = read_comparisons(study / "answers.csv", respondent="respondent")
    assert set(answers.respondents.tolist()) == {"p1", "p2"} and len(answers) == 2 * 2 * (17 + 2)
    number = [int(name.split()[1]) - 1 for name in answers.object_names]
    assert agree(np.array(number)[answers.array], w).all()
    tree = ["cluster", str(study / "answers.csv"), "--respondent", "respondent", "--method", "3k-al"]
    assert main([*tree, "--out", str(study / "tree.json")]) == 0
    assert "76 (100.0%) of the answers" in capsys.readouterr().out and (study / "tree.json").is_file()
    assert main(line.split()) == 2 and "a folder without answers" in capsys.readouterr().err


def test_a_folder_holds_the_lists_of_one_plan(tmp_path, capsys):
    (tmp_path / "study/questions").mkdir(parents=True)
    (tmp_path / "study/questions/p3.csv").write_text("")
    assert main(f"plan --objects 9 --people 2 --minutes 2 --out {tmp_path / 'study'}".split()) == 2
    assert "without another plan's lists" in capsys.readouterr().err


def test_a_plan_that_was_stopped_continues(tmp_path, pilot, monkeypatch):
    monkeypatch.setattr("comparison_hc.whatif.pilot.CLEARNESS", (1.0, 4.0))  # four worlds, 48 runs of the fit
    options = dict(people=4, minutes=2, pilot=pilot, noise=0.1, designs="triplets", repeat=2)
    whole = plan_study(**options)
    journal, seen = tmp_path / "runs.jsonl", []
    for stop in (5, 60):  # in the fit of the pilot, and in the simulation
        with pytest.raises(KeyboardInterrupt):
            plan_study(**options, journal=journal, progress=interrupted_after(stop))
        kept = len(journal.read_text().splitlines()) - 1
        assert kept >= stop - 4, (kept, stop)
    again = plan_study(**options, journal=journal, progress=lambda done, total: seen.append((done, total)))
    done, total = zip(*seen)
    assert list(done) == sorted(done) and len(set(total)) == 1 and done[-1] == total[0]
    pd.testing.assert_frame_equal(again.runs.drop(columns="seconds"), whole.runs.drop(columns="seconds"))
    assert again.fit == whole.fit and plan_sentences(again) == plan_sentences(whole)


def test_interrupted_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("comparison_hc.whatif.study.play_study", stopped)
    line = "plan --objects 9 --people 2 --minutes 2 --jobs 1"
    assert main(line.split()) == 130 and "with --out FOLDER or --journal FILE" in capsys.readouterr().err
    assert main([*line.split(), "--out", str(tmp_path / "s")]) == 130
    assert str(tmp_path / "s/runs.jsonl") in capsys.readouterr().err


def right_place(question, w):
    "What somebody who sees the similarities answers, also to a catch trial."
    a, b, c = (int(name.split()[1]) - 1 for name in question.shown)
    alike = np.array([np.inf if x == y else w[x, y] for x, y in ((b, c), (a, c), (a, b))])
    return int(alike.argmax()) + 1


@pytest.mark.parametrize(
    "line, words",
    [
        ("plan", "--objects must be given where there is no pilot"),
        ("plan --objects 2", "objects must be an integer from 6"),
        ("plan --objects nowhere.txt", "--objects must be an existing file"),
        ("plan --objects 20 --columns a,b,c", "--columns must be left out without --pilot"),
        ("plan --objects 20 --repeat 1", "--repeat must be"),
        ("plan --objects 20 --exact --repeat 3", "--repeat must be left out with --exact"),
        ("plan --objects 20 --jobs 0", "--jobs must be"),
        ("plan --objects 20 --design pairs", "designs must be one or several of"),
        ("plan --objects 20 --out a/b/c", "--out must be in an existing folder"),
        ("plan --pilot nowhere.csv", "nowhere.csv"),
        ("plan --collect nowhere", "--collect must be a folder with answers"),
    ],
)
def test_one_sentence_before_anything_is_simulated(line, words, capsys, monkeypatch, tmp_path):
    def runs(*_, **__):
        raise AssertionError("it ran")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("comparison_hc.reproduce.experiments.run_experiment", runs)
    assert words in refused(capsys, *line.split())


# lists that are asked

HEAD = "question,asks,first,second,third,role,expected\n"


@pytest.mark.parametrize(
    "text, words",
    [
        ("a,b\n1,2\n", "line 1, must be the columns"),
        (HEAD, "a list with at least one question"),
        (HEAD + "1,pairs,a,b,c,new,\n", "line 2, asks must be one of"),
        (HEAD + "1,central,a,b,c,old,\n", "line 2, role must be one of"),
        (HEAD + "1,central,a,b,b,new,\n", "about three different names"),
        (HEAD + "1,central,a,b,b,catch,c\n", "expected must be one of the names"),
        (HEAD + "1,central,a,b,c,new,a\n", "expected must be"),
        (HEAD + "1,central,a,b,c\n", "line 2, must be made of 7 cells"),
    ],
)
def test_lists_that_are_none(text, words, tmp_path):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_trial_list(tmp_path / "list.csv")


def test_a_list_goes_on_where_it_stopped_and_belongs_to_its_journal(tmp_path):
    questions = [Trial("central", ("a", "b", "c"), "new"), Trial("triplets", ("a", "b", "d"), "new")]
    session = TrialSession(questions, tmp_path / "j", "ann")
    session.answer(2)
    with pytest.raises(InputError, match="answer must be one of 0, 2, 3"):
        session.answer(1)
    again = TrialSession(questions, tmp_path / "j", "ann")
    again.undo()
    again.answer(1)
    again.answer(0)
    assert again.question is None and TrialSession(questions, tmp_path / "j", "ann").answers == [1, 0]
    with pytest.raises(JournalError):
        session.answer(3)  # the other one went on
    for other in (dict(person="bob"), dict(questions=questions[:1])):
        with pytest.raises(JournalError, match="same list and person"):
            TrialSession(**{**dict(questions=questions, journal=tmp_path / "j", person="ann"), **other})
    answers, people = collect_answers([tmp_path / "j"])
    names = answers.object_names
    assert {tuple(names[at] for at in row) for row in answers.array.tolist()} == {("b", "a", "c"), ("c", "a", "b")}
    assert people.iloc[0]["cannot_say"] == 1


def test_a_screen_is_not_given_control_characters(tmp_path, capsys, monkeypatch):
    (tmp_path / "list.csv").write_text(HEAD + "1,central,a\x1b[2J,b,c,new,\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    assert main(["ask", "--list", str(tmp_path / "list.csv")]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "a\ufffd[2J" in said and "1 of 1 questions answered" in said


@pytest.mark.skipif(sys.platform == "win32", reason="names that only POSIX has")
@pytest.mark.parametrize("name", ["a\x1b[31m", "\u202ea\u200f", "a\udcff"])
def test_a_folder_of_any_name_gets_a_whole_plan_and_its_name_is_shown_harmless(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = "plan --objects 6 --people 2 --minutes 1 --repeat 2 --jobs 1 --design triplets --out".split()
    assert main([*words, name]) == 0
    said, page = capsys.readouterr().out, (Path(name) / "plan.html").read_text(encoding="utf-8")
    assert visible_text(said) == said and "wrote " in said and "\ufffd" in said
    assert visible_text(page) == page and (Path(name) / "runs.csv").exists()
    assert any((Path(name) / "questions").iterdir())


def test_repeats_are_compared_by_what_was_chosen():
    shown = ("a", "b", "c"), ("c", "a", "b")
    pair = [Trial("odd-one-out", shown[0], "new"), Trial("odd-one-out", shown[1], "repeat")]
    assert attention_checks(pair, [3, 1])["repeated_same"] == 1 and attention_checks(pair, [3, 3])["repeated_same"] == 0
    assert attention_checks(pair, [0, 1])["repeated"] == 0


@pytest.mark.parametrize("asks", ["odd-one-out", "central", "triplets"])
def test_an_answer_means_what_the_readers_make_of_it(asks, tmp_path):
    question = Trial(asks, ("x", "y", "z"), "new")
    for place in question.places:
        rest = [name for at, name in enumerate(question.shown, 1) if at != place]
        row = ["x", question.shown[place - 1], rest[-1]] if asks == "triplets" else [question.shown[place - 1], *rest]
        path = tmp_path / "row.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["a", "b", "c"], row])
        read = read_comparisons(path, asks, header=True)
        expected = {tuple(read.object_names[at] for at in one) for one in read.array.tolist()}
        assert set(question.rows(place)) == expected


# what was held back


def test_halves_share_no_three_objects():
    rng = np.random.default_rng(0)
    answers = Triplets(rows_said("odd-one-out", random_questions(9, 150, rng), rng.integers(3, size=150)), 9)
    study, judges = halves(answers, rng)
    sides = [{frozenset(row) for row in each.array.tolist()} for each in (study, judges)]
    assert len(study) + len(judges) == 300 and not sides[0] & sides[1] and all(sides)
    few = some_of(study, 40, rng)
    assert len(few) == 40 and {frozenset(row) for row in few.array.tolist()} <= sides[0]


def made_up(gap, inside, wrong_near, ahead, better):
    "Results in which forecasts are off by so much."
    rows = []
    for case in CASES:
        for pilot, method, step in product((500, 2000), ("3k-al", "3-al"), (1, 2, 3)):
            reached = 0.7 + (0.05 if method == "3k-al" else 0.0)
            predicted = reached + gap * (1 if pilot == 500 or not better else 0.5)
            predicted -= 0.3 if method == "3k-al" and not ahead else 0.0
            ends = dict(low=min(predicted, reached), high=max(predicted, reached)) if inside else dict(low=0, high=0.1)
            near = wrong_near if case == "food as triplets" else not wrong_near
            row = dict(case=case, pilot=pilot, repetition=0, method=method, step=step, size=100, near=near, noise=0.1)
            rows.append(row | ends | dict(predicted=predicted, reached=reached, unchanged=reached - 0.1, worlds=3))
    return pd.DataFrame(rows)


def test_every_sentence_about_held_back_answers_can_come_out_either_way():
    good, bad = made_up(0.02, True, False, True, True), made_up(0.2, False, True, False, False)
    judge = names_of_notebook("whatif/99a_three_studies.ipynb", "honest", "held_back_claims").held_back_claims
    assert_every_sentence_can_come_out_either_way(judge, [good, bad])


def test_the_kept_results_are_those_of_all_runs():
    kept = load_results("held-back", Path(__file__).parents[1] / "nbs/whatif/results")
    runs = kept[["case", "pilot", "repetition"]].drop_duplicates().to_dict("records")
    assert sorted(map(str, runs)) == sorted(map(str, held_back_grid()))
    assert (kept.groupby(["case", "pilot", "repetition"]).size() == 6).all()
    assert kept[["predicted", "low", "high", "reached"]].stack().between(0, 1).all()
