"Two groups of people, and how many answers: from Python and from the command line, on planted and on real answers."

import numpy as np
import pandas as pd
import pytest

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.datasets import DatasetNotFoundError, load_dataset
from comparison_hc.elicitation.groups import compare_groups
from comparison_hc.evaluation.model_selection import curve_lines, learning_curve, marginal_gain
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.oracles import sample_triplets

N, PEOPLE = 12, 12


def crowd(planted, seed=0):
    "Twelve people in two groups; the second sees other objects together, if that is planted."
    rng = np.random.default_rng(seed)
    w = planted_hierarchy(3, 2, 0.8, 0.4, 0.1, 0).similarity
    turned = rng.permutation(N)
    rows = [sample_triplets(w, 60, rng).flip(0.1, rng).array for _ in range(PEOPLE)]
    rows = [turned[one] if planted and who >= PEOPLE // 2 else one for who, one in enumerate(rows)]
    who = [f"p{who:02d}" for who in range(PEOPLE) for _ in range(60)]
    groups = {name: "b" if int(name[1:]) >= PEOPLE // 2 else "a" for name in who}
    return Triplets(np.concatenate(rows), N, respondents=who), groups


def test_groups_that_differ_are_found_and_groups_that_mean_nothing_are_not():
    answers, groups = crowd(True)
    test = compare_groups(answers, groups, 19)
    assert test.p_value == 1 / 20 and test.gain > 0.2 and test.names == ("a", "b") and test.sizes == (6, 6)
    assert "more than chance explains" in test.sentences()[-1]
    answers, groups = crowd(False)
    test = compare_groups(answers, groups, 19)
    assert test.p_value > 0.05 and abs(test.gain) < 0.1 and "no more than chance may" in test.sentences()[-1]


def test_where_groups_mean_nothing_p_is_small_as_seldom_as_it_says():
    "Of forty studies without groups about four have p at most 0.1; twelve or more come once in two thousand."
    small = 0
    for seed in range(40):
        answers, groups = crowd(False, seed)
        small += compare_groups(answers, groups, 9, rng=seed).p_value <= 0.1
    assert small < 12


def test_groups_by_person_and_by_answer_are_the_same_and_the_answers_stay():
    answers, groups = crowd(True)
    before = answers.array.copy()
    by_answer = [groups[str(name)] for name in answers.respondents]
    one, other = compare_groups(answers, groups, 3), compare_groups(answers, by_answer, 3)
    assert one.gain == other.gain and (one.dealt == other.dealt).all() and (answers.array == before).all()


@pytest.mark.parametrize(
    "change, rule",
    [
        (lambda groups: {**groups, "p00": "c"}, "groups must be two groups"),
        (lambda groups: dict.fromkeys(groups, "a"), "groups must be two groups"),
        (lambda groups: {k: v for k, v in groups.items() if k != "p03"}, "a group for every person"),
        (lambda groups: {k: "b" if k == "p00" else "a" for k in groups}, "at least two people in each"),
        (lambda groups: ["a", "b"] * (PEOPLE * 30), "the same group in all answers of a person"),
        (lambda groups: ["a", "b"], "a group for every answer"),
    ],
)
def test_groups_that_are_none_are_refused(change, rule):
    answers, groups = crowd(True)
    with pytest.raises(InputError, match=rule):
        compare_groups(answers, change(groups), 3)


def test_the_learning_curve_rises_and_its_prices_add_up():
    w = planted_hierarchy(4, 2, 0.8, 0.4, 0.1, 0).similarity
    answers = sample_triplets(w, 1500, 0).flip(0.1, 1)
    calls = []
    curve = learning_curve(answers, n_splits=3, progress=lambda done, total: calls.append((done, total)))
    price = marginal_gain(curve)
    assert len(curve) == 12 and calls == [(at, 12) for at in range(1, 13)]
    assert price.agreement.iloc[-1] > price.agreement.iloc[0] + 0.02
    assert price.gain.sum() == pytest.approx(price.agreement.iloc[-1] - price.agreement.iloc[0])
    assert curve_lines(curve, 0.9)[-1].startswith("the last step, to ") and "scatter by" in curve_lines(curve, 0.9)[-1]
    alone = curve_lines(learning_curve(answers, [300], n_splits=1), 0.9)
    assert len(alone) == 4 and "more than 0.900" in alone[-1]
    for sizes, rule in (([10**6], "sizes must be an integer from 1 to"), ([], "at least one")):
        with pytest.raises(InputError, match=rule):
            learning_curve(answers, sizes)


def real(name, planted):
    "A file of people's answers; people and groups are made up. In the second group objects exchange their names."
    try:
        answers = load_dataset(name).triplets
    except DatasetNotFoundError:
        pytest.skip(f"{name} is not here")
    rows = answers.array[np.random.default_rng(0).permutation(len(answers))[:12_000]]
    person = np.arange(len(rows)) * 30 // len(rows)
    second = person % 2 == 1
    if planted:
        rows[second] = np.random.default_rng(1).permutation(answers.n_objects)[rows[second]]
    names = np.array([f"o{at:03d}" for at in range(answers.n_objects)])
    frame = pd.DataFrame(names[rows], columns=["head", "winner", "loser"])
    return frame.assign(person=[f"p{who}" for who in person], team=np.where(second, "two", "one"))


ROLES = ["--columns", "head,winner,loser", "--respondent", "person"]


@pytest.mark.parametrize("name", ["car", "food"])
def test_the_commands_on_answers_of_people(name, tmp_path, capsys):
    path, out = tmp_path / "answers.csv", tmp_path / "gains.csv"
    for planted, verdict in ((True, "p = 0.100: no more"), (False, "no more than chance may explain")):
        real(name, planted).to_csv(path, index=False)
        words = ["people", str(path), *ROLES, "--method", "3k-al", "--groups", "team", "--draws", "9"]
        assert main([*words, "--out", str(out)]) == 0
        said, gains = capsys.readouterr().out, pd.read_csv(out).gain
        assert verdict in said and "two groups: one (15 people) and two (15 people)" in said and len(gains) == 10
        assert (gains[0] > gains[1:].max()) >= planted
    assert main(["compare", str(path), *ROLES, "--by", "answers", "--sizes", "500,9000", "--splits", "2"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0] == "3k-al, 2 splits" and table[2].split()[0] == "500" and table[3].split()[0] == "9,000"
    assert float(table[3].split()[1]) > float(table[2].split()[1])


def test_words_that_do_not_go_together_are_refused(tmp_path, capsys):
    path = tmp_path / "answers.csv"
    rows = "\n".join(f"a,b,c,p{at % 4},g{at % 2}" for at in range(40))
    path.write_text(f"head,winner,loser,person,team\n{rows}\n", encoding="utf-8")
    for words, rule in (
        (["people", "--draws", "9"], "--draws must be together with --groups"),
        (["people", "--groups", "nosuch"], "nosuch"),
        (["people", "--groups", "team", "--draws", "0"], "--draws must be an integer"),
        (["compare", "--method", "4-al"], "--method must be together with --sizes"),
        (["compare", "--sizes", "ten"], "--sizes must be whole numbers with commas between them"),
        (["compare", "--sizes", "5", "--embeddings"], "without --embeddings"),
    ):
        assert main([words[0], str(path), *ROLES, *words[1:]]) == 2, words
        assert rule in capsys.readouterr().err, words
