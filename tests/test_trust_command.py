"""`cluster --support`, `cluster --without` and `people`, as a user meets them."""

import csv

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from shared import refused, run

from comparison_hc.cli import cluster as support_command
from comparison_hc.cli import compare as compare_command
from comparison_hc.cli.cluster import structure_sentence
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.elicitation.crowd import crowd_table, make_crowd
from comparison_hc.evaluation.bootstrap import bootstrap_support, null_redraw, structure_test
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.methods import build_hierarchy


@pytest.fixture
def answers(tmp_path, monkeypatch):
    "Six people, one of whom answers the opposite; the answers with names, in a file."
    monkeypatch.chdir(tmp_path)
    seen = planted_hierarchy(2, 2, 0.8, 0.2, 0.05, 0).similarity
    said = make_crowd(seen, 60, [0.95] * 5 + [0.05], 0)
    named = Triplets(said, names=list("abcdefgh"))
    named.to_csv("said.csv")
    return named


def support_line(out):
    return next(line for line in out.splitlines() if line.startswith("support"))


def test_support_on_the_screen(answers, capsys):
    code, out, err = run(capsys, "cluster", "said.csv", "--method", "3-al", "--support", 25)
    assert code == 0 and err == ""
    tree = build_hierarchy("3-al", answers)[0]
    found, line = bootstrap_support(tree, answers, "3-al", 25), support_line(out)
    transfer, exact = ((each[:-1] >= 0.7).sum() for each in (found.transfer, found.values))
    assert f"of 6 inner clusters, support of at least 70% have: transfer {transfer}, exact {exact}, Jaccard" in line
    assert "25 trees of people drawn again" in line and "support by coin" in out


def test_structure_on_the_screen(answers, capsys):
    code, out, err = run(capsys, "cluster", "said.csv", "--method", "3-al", "--structure", 19)
    line = next(line for line in out.splitlines() if line.startswith("structure"))
    found = structure_test(answers, "3-al", 19)
    assert code == 0 and err == "" and line.split(maxsplit=1)[1] == structure_sentence(found, 19) and "p = 0.05" in line
    _, out, _ = run(capsys, "cluster", "said.csv", "--structure", 9)
    tested = structure_test(answers, "4-al", 9)  # chosen by the answers, auto has no test of its own
    assert f"{structure_sentence(tested, 9)}; tested with 4–AL" in out


def test_structure_of_responses_is_that_of_responses(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [rng.permutation(8)[:3] for _ in range(60)]
    (tmp_path / "central.csv").write_text("".join(",".join(f"o{i}" for i in row) + "\n" for row in rows))
    words = ["cluster", "central.csv", "--kind", "central", "--method", "3-al", "--structure", "19", "--header", "no"]
    said = read_comparisons("central.csv", "central", header=False)
    by_statement = structure_sentence(structure_test(said, "3-al", 19, chance=null_redraw), 19)
    by_coin = structure_sentence(structure_test(said, "3-al", 19), 19)
    out = run(capsys, *words)[1]
    assert by_statement in out and by_coin not in out
    settled = structure_sentence(structure_test(said.majority(), "3-al", 19), 19)
    assert settled in run(capsys, *words, "--majority")[1]


class Impatient:
    "A bar whose user presses Ctrl-C when five are done."

    def __enter__(self):
        return lambda done, total: (_ for _ in ()).throw(KeyboardInterrupt) if done == 5 else None

    def __exit__(self, *_):
        pass


def test_ctrl_c_keeps_what_there_is(answers, capsys, monkeypatch):
    bar = support_command.command_bar
    interrupted = ("support", "permutations")
    monkeypatch.setattr(support_command, "command_bar", lambda what: Impatient() if what in interrupted else bar(what))
    words = ["cluster", "said.csv", "--method", "3-al", "--support", 30, "--structure", 30, "--out", "tree.nwk"]
    code, out, _ = run(capsys, *words)
    assert code == 130 and "wrote tree.nwk" in out
    assert "5 trees of people drawn again (interrupted; 30 were asked for)" in support_line(out)
    assert "4 permutations; interrupted, 30 were asked for" in out
    monkeypatch.setattr(compare_command, "command_bar", lambda what: Impatient())
    code, out, _ = run(capsys, "compare", "said.csv", "--splits", 3, "--out", "table.csv")
    assert code == 130 and "splits" not in out and "wrote" not in out  # not one whole split
    few = ["3-al", "random"]
    monkeypatch.setattr("comparison_hc.evaluation._candidates.candidate_names", lambda *_, **__: few)
    code, out, _ = run(capsys, "compare", "said.csv", "--splits", 3, "--out", "table.csv")
    assert code == 130 and "Interrupted after 2 of 3 splits" in out and "wrote table.csv" in out


def shown_rows(answers, biased):
    "The same answers as they were shown: in places by chance, or what was chosen always on the left."
    rng, rows = np.random.default_rng(0), []
    for (i, j, k), who in zip(np.array(list("abcdefgh"))[answers.array].tolist(), answers.respondents):
        turned = who != biased and rng.random() < 0.5
        rows.append(",".join([i, *((k, j, "right") if turned else (j, k, "left")), who]))
    return "\n".join(["anchor,one,two,chosen,who", *rows]) + "\n"


def test_people_and_places(answers, capsys, tmp_path):
    (tmp_path / "shown.csv").write_text(shown_rows(answers, "p03"))
    words = "shown.csv --columns anchor,one,two --answer chosen --respondent who --method 3-al".split()
    code, out, err = run(capsys, "people", *words, "--out", "people.csv")
    rows = {row["person"]: row for row in csv.DictReader(open("people.csv", encoding="utf-8"))}
    assert code == 0 and float(rows["p03"]["first place"]) == 1 and rows["p03"]["biased"] == "True"
    assert [who for who, row in rows.items() if row["biased"] == "True"] == ["p03"]
    share = np.mean([line.split(",")[3] == "left" for line in open("shown.csv", encoding="utf-8").readlines()[1:]])
    assert f"chosen in {share:.0%} of all answers (no preference: 50%)" in out
    assert out.splitlines()[-3].endswith("Farther from that than chance explains: p03.") and "100% biased" in out
    (tmp_path / "fair.csv").write_text(shown_rows(answers, None))
    assert "Nobody is farther from that than chance explains." in run(capsys, "people", "fair.csv", *words[1:])[1]
    assert "first place: unknown" in run(capsys, "people", "said.csv", "--method", "3-al")[1]


def test_responses_are_one_choice_each(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, rows = np.random.default_rng(0), []
    for number in range(120):
        shown = rng.permutation(list("abcdef"))[:3]
        rows.append(",".join([*shown, str(1 if number % 4 == 0 else rng.integers(3) + 1), f"p{number % 2}"]))
    (tmp_path / "odd.csv").write_text("\n".join(["x,y,z,odd,who", *rows]) + "\n")
    words = ["--kind", "odd-one-out", "--columns", "x,y,z", "--answer", "odd", "--respondent", "who"]
    code, out, _ = run(capsys, "people", "odd.csv", *words, "--method", "3-al", "--out", "p.csv")
    first = {who: np.mean([r.split(",")[3] == "1" for r in rows if r.endswith(who)]) for who in ("p0", "p1")}
    for row in csv.DictReader(open("p.csv", encoding="utf-8")):
        n, share = 60, first[row["person"]]  # 60 responses each, though 120 triplets
        assert float(row["first place"]) == pytest.approx(share)
        assert row["biased"] == str(binomtest(round(n * share), n, 1 / 3).pvalue <= 0.025)
    assert code == 0 and "(no preference: 33%)" in out


def test_without_support_nothing_is_said(answers, capsys):
    _, out, _ = run(capsys, "cluster", "said.csv")
    assert "support" not in out and "left out" not in out


def test_responses_and_majorities(answers, capsys, tmp_path):
    (tmp_path / "central.csv").write_text("\n".join(["a,b,c", "b,c,d", "a,c,d", "a,b,d"] * 3) + "\n")
    _, out, _ = run(capsys, "cluster", "central.csv", "--kind", "central", "--support", 5)
    assert "trees of responses" in support_line(out)
    _, out, _ = run(capsys, "cluster", "said.csv", "--majority", "--support", 5)
    assert "trees of answers" in support_line(out)


def test_leaving_people_out(answers, capsys):
    words = "cluster said.csv --method 4-al --without p05 --without p00 --out tree.csv"
    code, out, _ = run(capsys, *words.split())
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
    assert "Flagged for inspection: p05 (rule:" in out and "wrote people.csv" in out
    rows = list(csv.DictReader(open("people.csv", encoding="utf-8")))
    assert [row["person"] for row in rows] == table.person.tolist()
    assert float(rows[0]["agreement"]) == pytest.approx(table.agreement[0])


@pytest.mark.parametrize(
    "words, said",
    [
        (["cluster", "said.csv", "--support", "0"], "--support must be an integer of at least 1"),
        (["cluster", "said.csv", "--structure", "0"], "--structure must be an integer of at least 1"),
        (["cluster", "said.csv", "--method", "adds", "--structure"], "--structure must be left out with --method adds"),
        (["cluster", "said.csv", "--method", "adds", "--support"], "--support must be left out with --method adds"),
        (
            ["cluster", "w.csv", "--kind", "similarity", "--support"],
            "--support must be left out with --kind similarity",
        ),
        (["cluster", "w.csv", "--kind", "similarity", "--without", "p"], "--without must be left out"),
        (["cluster", "said.csv", "--without", "Zoe"], "--without must be one of the respondents (p00, p01"),
        (["cluster", "anonymous.csv", "--without", "Zoe"], "--without must be omitted, because the answers have no"),
        (["people", "anonymous.csv"], "answers must be with a column of respondents"),
        (["cluster", "said.csv", "--people", "missing.csv"], "--people must be an existing file"),
        (["cluster", "said.csv", "--people", "w.csv"], "--people must be a table that `comparison-hc people` wrote"),
        (["cluster", "said.csv", "--people", "t.csv", "--out", "t.csv"], "--out must be another file than --people"),
        (["people", "missing.csv"], "FILE must be an existing file"),
        (["people", "said.csv", "--out", "people.html"], "--out must be"),
        (["people", "said.csv", "--out", "said.csv"], "--out must be another file than FILE"),
    ],
)
def test_bad_words_are_one_line(answers, capsys, tmp_path, words, said):
    (tmp_path / "w.csv").write_text("1,2\n2,1\n")
    (tmp_path / "anonymous.csv").write_text("a,b,c\nb,a,c\n")
    assert said in refused(capsys, *words)


def test_a_page_shows_the_table_of_people(answers, capsys, tmp_path):
    assert run(capsys, "people", "said.csv", "--method", "3-al", "--out", "people.csv")[0] == 0
    words = ("cluster", "said.csv", "--method", "3-al", "--out")
    assert run(capsys, *words, "with.html", "--people", "people.csv")[0] == 0
    assert run(capsys, *words, "without.html")[0] == 0
    shown, bare = ((tmp_path / name).read_text(encoding="utf-8") for name in ("with.html", "without.html"))
    table = shown.split("The people</h2>")[1].split("</table>")[0]
    names = pd.read_csv("people.csv", dtype=str).person
    assert all(f"<td>{name}</td>" in table for name in names) and table.count("<tr>") == 1 + len(names)
    assert "The people</h2>" not in bare


def test_weights_reach_every_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = make_crowd(planted_hierarchy(2, 2, 0.8, 0.2, 0.05, 0).similarity, 60, [0.9] * 6, 0)
    Triplets(said, names=list("abcdefgh"), weights=np.linspace(0.1, 1, len(said))).to_csv("w.csv")
    for method in ("auto", "4-al", "3-al", "4k-al", "3k-al"):
        code, _, err = run(capsys, "cluster", "w.csv", "--method", method, "--support", 2, "--structure", 2)
        assert (code, err) == (0, "")
    assert run(capsys, "people", "w.csv", "--method", "3k-al")[0] == 0
    code, out, err = run(capsys, "compare", "w.csv", "--splits", 3)
    assert code == 0 and err == "" and "Best: " in out
    said = refused(capsys, "cluster", "w.csv", "--method", "adds")
    assert "--majority) settles each question by them" in said
    assert run(capsys, "cluster", "w.csv", "--method", "adds", "--majority")[0] == 0
