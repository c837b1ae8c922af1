"""`cluster --support`, `cluster --without` and `people`, as a user meets them."""

import csv

import numpy as np
import pytest

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.methods import build_hierarchy
from comparison_hc.people.crowd import crowd_table, planted_crowd
from comparison_hc.practice.support import bootstrap_support


@pytest.fixture
def answers(tmp_path, monkeypatch):
    "Six people, one of whom answers the opposite; the answers with names, in a file."
    monkeypatch.chdir(tmp_path)
    seen = planted_hierarchy(2, 2, 0.8, 0.2, 0.05, 0).similarity
    said = planted_crowd(seen, 60, [0.95] * 5 + [0.05], 0)
    named = Triplets(said, names=list("abcdefgh"))
    named.to_csv("said.csv")
    return named


def run(capsys, *words):
    "(exit code, output, errors) of a call in this process."
    code = main([str(word) for word in words])
    return (code, *capsys.readouterr())


def support_line(out):
    return next(line for line in out.splitlines() if line.startswith("support"))


def test_support_on_the_screen(answers, capsys):
    code, out, err = run(capsys, "cluster", "said.csv", "--method", "3-al", "--support", 25)
    assert code == 0 and err == ""
    tree = build_hierarchy("3-al", answers)[0]
    found = bootstrap_support(tree, answers, "3-al", 25).values[:-1]
    assert f"{(found >= 0.7).sum()} of 6 inner clusters in at least 70% of 25 trees of people" in support_line(out)


def test_without_support_nothing_is_said(answers, capsys):
    _, out, _ = run(capsys, "cluster", "said.csv")
    assert "support" not in out and "left out" not in out


def test_statements_and_majorities(answers, capsys, tmp_path):
    (tmp_path / "central.csv").write_text("\n".join(["a,b,c", "b,c,d", "a,c,d", "a,b,d"] * 3) + "\n")
    _, out, _ = run(capsys, "cluster", "central.csv", "--kind", "central", "--support", 5)
    assert "trees of statements" in support_line(out)
    _, out, _ = run(capsys, "cluster", "said.csv", "--majority", "--support", 5)
    assert "trees of answers" in support_line(out)


def test_leaving_people_out(answers, capsys):
    code, out, _ = run(capsys, "cluster", "said.csv", "--without", "p05", "--without", "p00", "--out", "tree.csv")
    assert code == 0 and "p05, p00" in out
    left = answers.take(~np.isin(answers.respondents, ["p05", "p00"]))
    tree = build_hierarchy("4-al", left)[0]
    rows = list(csv.reader(open("tree.csv", encoding="utf-8")))[1:]
    np.testing.assert_array_equal(np.array(rows, dtype=float), tree.linkage_matrix)
    assert f"{len(left)}" in out


def test_people(answers, capsys):
    code, out, err = run(capsys, "people", "said.csv", "--method", "3-al", "--out", "people.csv")
    assert code == 0 and err == ""
    table = crowd_table(answers, "3-al")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:7]] == table.person.tolist()
    assert "Recommended for a look: p05 (rule:" in out and "wrote people.csv" in out
    rows = list(csv.DictReader(open("people.csv", encoding="utf-8")))
    assert [row["person"] for row in rows] == table.person.tolist()
    assert float(rows[0]["agreement"]) == pytest.approx(table.agreement[0])


@pytest.mark.parametrize(
    "words, said",
    [
        (["cluster", "said.csv", "--support", "0"], "--support must be an integer of at least 1"),
        (["cluster", "said.csv", "--method", "adds", "--support"], "--support must be left out with --method adds"),
        (
            ["cluster", "w.csv", "--kind", "similarity", "--support"],
            "--support must be left out with --kind similarity",
        ),
        (["cluster", "w.csv", "--kind", "similarity", "--without", "p"], "--without must be left out"),
        (["cluster", "said.csv", "--without", "Zoe"], "--without must be somebody who answered (p00, p01"),
        (["cluster", "anonymous.csv", "--without", "Zoe"], "--without must be left out: the answers do not say"),
        (["people", "anonymous.csv"], "answers must be answers with respondents"),
        (["people", "missing.csv"], "FILE must be an existing file"),
        (["people", "said.csv", "--out", "people.html"], "--out must be"),
        (["people", "said.csv", "--out", "said.csv"], "--out must be another file than FILE"),
    ],
)
def test_bad_words_are_one_line(answers, capsys, tmp_path, words, said):
    (tmp_path / "w.csv").write_text("1,2\n2,1\n")
    (tmp_path / "anonymous.csv").write_text("a,b,c\nb,a,c\n")
    code, out, err = run(capsys, *words)
    assert code == 2 and err.count("\n") == 1 and said in err
