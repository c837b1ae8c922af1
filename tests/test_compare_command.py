"""`comparison-hc compare`, `cluster --method auto`, and the estimator with `linkage="auto"`."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shared import refused, run

from comparison_hc import ComparisonHC
from comparison_hc.comparisons import Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import random_tree
from comparison_hc.evaluation.model_selection import choose_method, signed_correctness
from comparison_hc.hierarchical.refinement import refine
from comparison_hc.hierarchical.spr import TripletSPR
from comparison_hc.metrics import agreement


@pytest.fixture
def answers(tmp_path, monkeypatch):
    "Answers of a tree over twelve objects, a tenth of them wrong, by eight people; in answers.csv too."
    monkeypatch.chdir(tmp_path)
    tree, rng = random_tree(24, 0), np.random.default_rng(0)
    rows = np.array([rng.permutation(24)[:3] for _ in range(1200)])
    said = signed_correctness(tree, Triplets(rows, 24))
    rows[said < 0] = rows[said < 0][:, [0, 2, 1]]
    kept = Triplets(rows[said != 0], 24).flip(0.1, 0)
    kept = Triplets(kept, names=list("abcdefghijklmnopqrstuvwx"), respondents=rng.integers(8, size=len(kept)))
    kept.to_csv("answers.csv")
    return kept


def test_compare_prints_and_writes(answers, capsys):
    code, out, err = run(capsys, "compare", "answers.csv", "--splits", 3, "--out", "t.csv")
    assert code == 0 and err == "" and "whole people at a time (8 people)" in out and "Best: " in out
    table = pd.read_csv("t.csv", index_col="method")
    assert "random" in table.index and (table.agreement.diff().dropna() <= 0).all() and "wrote t.csv" in out
    again = run(capsys, "compare", "answers.csv", "--splits", 3, "--by", "answers", "--seed", 1)[1]
    assert "stayed together" in again and "people at a time" not in again


def test_compare_refuses_in_one_line(answers, capsys):
    answers.take(slice(None)).to_frame().drop(columns="respondent").to_csv("nobody.csv", index=False)
    for words, rule in (
        (["answers.csv", "--splits", 0], "--splits must be"),
        (["answers.csv", "--out", "answers.csv"], "another file"),
        (["answers.csv", "--out", "t.txt"], "--out must be"),
        (["answers.csv", "--kind", "similarity"], "--kind"),
        (["nobody.csv", "--by", "people"], "--by must be"),
        (["missing.csv"], "missing.csv"),
    ):
        assert rule in refused(capsys, "compare", *words)


def test_cluster_chooses_unless_told(answers, capsys):
    code, out, err = run(capsys, "cluster", "answers.csv", "--out", "auto.nwk")
    assert code == 0 and err == "" and "chosen by held-out agreement" in out.splitlines()[0]
    choice = choose_method(answers)
    assert choice.title in out.splitlines()[0]
    run(capsys, "cluster", "answers.csv", "--method", choice.name, "--out", "named.nwk")
    assert Path("auto.nwk").read_text() == Path("named.nwk").read_text()


def test_what_compare_names_can_be_built(answers, capsys):
    answers.take(slice(0, 200)).to_csv("answers.csv")
    run(capsys, "compare", "answers.csv", "--splits", 1, "--out", "t.csv")
    table = pd.read_csv("t.csv").query("method != 'random'")
    for name, title in zip(table.method, table.title):
        trees = set()
        for word in (name, title, name.replace(" ", "-")):
            code, out, err = run(capsys, "cluster", "answers.csv", "--method", word, "--out", "tree.nwk")
            assert (code, err) == (0, "") and out.splitlines()[0].endswith(title)
            trees.add(Path("tree.nwk").read_text())
        assert len(trees) == 1


def test_refined_by_name_is_refine(answers, capsys):
    base = ComparisonHC("4-al", initial=[[0, 1], *([i] for i in range(2, 24))]).fit(answers).dendrogram_
    wanted = refine(base, answers)
    assert wanted.moves > 0
    Path("start.csv").write_text("a,1\nb,1\n")
    words = ("cluster", "answers.csv", "--method", "4-al-refined", "--initial", "start.csv", "--out", "t.nwk")
    code, out, _ = run(capsys, *words, "--support", 3)
    assert code == 0 and "3 trees of people drawn again" in out
    agreed = next(line for line in out.splitlines() if line.startswith("the hierarchy agrees with"))
    assert f" {agreement(wanted.dendrogram, answers).agree:,} (" in agreed
    for words, rule in (
        (["w.csv", "--kind", "similarity", "--method", "3-al-refined"], "--method must be left out, or without"),
        (["answers.csv", "--kind", "quadruplets", "--method", "3-al-refined"], "--method must be one that takes quad"),
        (["answers.csv", "--method", "3k-al-refined", "--initial", "start.csv"], "--initial must be left out"),
        (["answers.csv", "--method", "single-refined"], "invalid choice: 'single-refined' (choose from auto, "),
    ):
        Path("w.csv").write_text("1,2,3\n2,1,4\n3,4,1\n")
        code, out, err = run(capsys, "cluster", *words)
        assert code == 2 and out == "" and rule in err and err.count("\n") == 1


def test_interrupted_refinement_keeps_the_tree_so_far(answers, capsys, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(TripletSPR, "improve", stop)
    code, out, _ = run(capsys, "cluster", "answers.csv", "--method", "3-al-refined", "--out", "t.nwk")
    assert code == 130 and "interrupted, the best tree so far" in out and Path("t.nwk").exists()


def test_cluster_takes_the_default_where_only_it_can(answers, capsys):
    Path("start.csv").write_text("a,1\nb,1\n")
    for words in (["answers.csv", "--initial", "start.csv"], ["w.csv", "--kind", "similarity"]):
        Path("w.csv").write_text("1,2,3\n2,1,4\n3,4,1\n")
        code, out, _ = run(capsys, "cluster", *words)
        assert code == 0 and "4–AL" in out.splitlines()[0] and "chosen" not in out


def test_estimator_auto(answers):
    model = ComparisonHC("auto", n_clusters=3).fit(answers)
    choice = choose_method(answers)
    assert model.choice_.name == choice.name and model.dendrogram_.same_tree(choice.dendrogram)
    assert len(set(model.labels_)) == 3 and model.n_questions_ is None and model.n_objects_ == 24
    of_quadruplets = ComparisonHC().fit(answers.to_quadruplets()).choice_.compared.table.index
    assert "4-al refined" in of_quadruplets and "points-al" in of_quadruplets and "3-al" not in of_quadruplets
    for options in (dict(self_pairs=True), dict(n_comparisons=5), dict(n_clusters=99)):
        with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
            ComparisonHC("auto", **options).fit(answers)


def test_estimator_takes_every_name_of_the_command(answers, capsys):
    started = [[0, 1], *([i] for i in range(2, 24))]
    direct = ComparisonHC("4-al", initial=started).fit(answers).dendrogram_
    assert ComparisonHC(initial=started).fit(answers).dendrogram_.same_tree(direct)  # only some methods can start there
    some = answers.take(slice(0, 150))
    some.to_csv("some.csv")
    for name in ("points-al", "additive-al", "t-ste-al", "3-al-refined", "points-al-refined"):
        tree = ComparisonHC(name).fit(some).dendrogram_
        assert run(capsys, "cluster", "some.csv", "--method", name, "--out", "t.nwk")[0] == 0
        assert Path("t.nwk").read_text().strip() == tree.to_newick().strip()
    for name, data in (("refined", some), ("t-ste-al-refine", some), (3, some), ("t-ste-al", some.to_quadruplets())):
        with pytest.raises(InputError, match="linkage must be"):
            ComparisonHC(name).fit(data)
    with pytest.raises(InputError, match="initial must be None with linkage='4-al-refined'"):
        ComparisonHC("4-al-refined", initial=started).fit(some)
