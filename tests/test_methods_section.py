"What a page offers for a methods section: who is cited, what is ours, whether the tree was refined."

import html
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.evaluation._candidates import candidate
from comparison_hc.evaluation._report_text import cited_papers, methods_parts
from comparison_hc.evaluation.cluster_choice import choose_clusters
from comparison_hc.evaluation.model_selection import compare_methods
from comparison_hc.evaluation.report import Result, result_lines
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.hierarchical.refinement import refine
from comparison_hc.methods import build_hierarchy, methods
from comparison_hc.metrics import noise_ceiling
from comparison_hc.oracles import sample_triplets

ANSWERS = sample_triplets(planted_hierarchy(3, 2, 0.8, 0.2, 0.05, 0).similarity, 500, 0)
CONSISTENT = Triplets([(0, 1, 2), (3, 4, 5)], n_objects=12)
TREE = build_hierarchy("3-al", ANSWERS)[0]


def said(method, **words):
    parts = methods_parts(Result(TREE, ANSWERS, method=method, **words))
    return " ".join(sentence for part in parts.values() for sentence in part)


@pytest.mark.parametrize(
    "name, papers, ours",
    [
        ("4-al", ["F19"], False),
        ("4k-al", ["F19"], False),
        ("3-al", ["F19"], True),
        ("3k-al", ["F19", "KL17"], True),
        ("3k-al-active", ["F19", "KL17"], True),
    ],
)
def test_a_method_is_cited_by_its_long_and_its_short_title(name, papers, ours):
    titles = [methods[name].title]
    if methods[name].passive:
        titles.append(f"{candidate(name).title}, chosen by held-out agreement 0.7 (next: 4–AL refined, 0.6)")
        titles.append(f"{candidate(name + ' refined').title}, chosen by held-out agreement 0.7 (next: 4–AL, 0.6)")
    for title in titles:
        assert cited_papers(Result(TREE, ANSWERS, method=title)) == papers
        assert ("a variant, for triplets, of one by" in said(title)) == ours


@pytest.mark.parametrize("name, authors", [("t-ste-al", "van der Maaten"), ("forte-al", "Jamieson")])
def test_points_that_were_joined_are_cited_and_refinement_is_said_beside_them(name, authors, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ANSWERS.to_csv("answers.csv")
    for method in (name, f"{name}-refined", candidate(f"{name} refined").title):
        assert main(["cluster", "answers.csv", "--method", method, "--out", "tree.html"]) == 0
        page = html.unescape(Path("tree.html").read_text(encoding="utf-8"))
        words = page[page.index("For a methods section") :]
        assert authors in words and "joined by average linkage" in words and "Ghoshdastidar" not in words
        assert ("The tree was then refined" in words) == ("refined" in method)


def test_no_brackets_stand_in_brackets():
    words = said("3–AL, chosen by held-out agreement 0.7 (next: 4–AL, 0.6)")
    assert "(3–AL, chosen by held-out agreement 0.7; next: 4–AL, 0.6)" in words


def test_refinement_is_said_where_there_was_one():
    for title in ("3–AL refined", "3–AL refined, chosen by held-out agreement 0.7 (next: 3–AL, 0.6)"):
        assert said(title).count("The tree was then refined: parts of it were moved") == 1
    for title in ("3–AL", "3–AL, chosen by held-out agreement 0.7 (next: 3–AL refined, 0.6)", ""):
        assert "refined:" not in said(title)
    words = said("3–AL refined")
    assert words.index("Ghoshdastidar") < words.index("refined:") < words.index("Of the comparisons it was built from")
    assert refine(TREE, ANSWERS).finished  # "until no single move helped"


def test_sizes_of_clusters_are_said_from_small_to_large():
    assert "cut into 1 cluster" not in said("3–AL", n_clusters=1)
    sizes = np.bincount(TREE.cut(3))
    smallest = f"{sizes.min()} object{'s' * int(sizes.min() > 1)}"
    assert f"into 3 clusters, the smallest of {smallest} and the largest of {sizes.max()} objects." in said(
        "", n_clusters=3
    )
    assert f"into {len(TREE.cut(12))} clusters, each of 1 object." in said("", n_clusters=12)


def test_held_out_agreement_is_that_of_the_tree_shown():
    compared = compare_methods(ANSWERS, ["3-al", "4k-al", "4-al"], rng=0)
    for name, row in compared.table.iterrows():
        words = said(f"{row.title}, chosen by held-out agreement 0.7 (3–AL, 0.6)", compared=compared)
        assert f"trees of {row.title} get {row.accuracy:.1%} right" in words and "Not surely worse" not in words
        assert f"their agreement is {row.agreement:.3f} (95% interval {row.low:.3f} to {row.high:.3f})" in words
        assert ("The best method compared" in words) == (name != compared.best)
    assert compared.sentences()[1] in said("another method", compared=compared)


def test_ceiling_of_the_answers_is_that_of_the_summary():
    result = Result(TREE, ANSWERS)
    most = noise_ceiling(ANSWERS, undecided=0)
    assert f"open; no hierarchy agrees with more than {most:.1%}." in said("")
    assert "no hierarchy agrees" not in " ".join(methods_parts(Result(TREE, CONSISTENT))["before"])
    line = dict(result_lines(result))["no hierarchy agrees with more than"]
    assert f"{round(most * len(ANSWERS)):,} ({most:.1%})" in line


def test_responses_that_are_two_comparisons_each_are_counted_once():
    rows = [("a", "b", "c"), ("b", "c", "d"), ("d", "a", "c")]
    for kind, which in (("central", "the most central"), ("odd-one-out", "the odd one out")):
        answers = read_comparisons(rows, kind=kind)
        tree = build_hierarchy("3-al", answers)[0]
        for known in (answers, Triplets(answers.array)):  # the second as `pool --answers-out` writes them
            words = " ".join(methods_parts(Result(tree, known))["before"])
            assert f"From 6 ordinal comparisons (triplets, two from each of 3 responses that name {which}" in words
    assert "two from each" not in said("")


def test_numbers_of_clusters_that_fit_as_well_are_said():
    chosen = choose_clusters(ANSWERS, None, TREE)
    numbers = chosen.numbers.assign(below=0.0)
    near = sorted(set(numbers.clusters) - {chosen.n_clusters})
    words = said("", n_clusters=chosen.n_clusters, partition=replace(chosen, numbers=numbers))
    assert f"of {min(numbers.clusters)} to {max(numbers.clusters)} ({', '.join(map(str, near))} are within it" in words
    assert "adjusted Rand index of" in words
    only = numbers.assign(below=np.where(numbers.clusters == chosen.n_clusters, 0.0, 9.0))
    assert "within it too" not in said("", n_clusters=chosen.n_clusters, partition=replace(chosen, numbers=only))


def record(capsys, *words):
    "What a call keeps of how its result was made."
    assert main([*map(str, words), "--out", "result.json"]) == 0
    capsys.readouterr()
    with open("result.json", encoding="utf-8") as file:
        return json.load(file)


def test_commands_say_what_to_cite(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Triplets(ANSWERS, names=[f"o{i}" for i in range(12)]).to_csv("a.csv")
    for method, papers in (("4-al", ["F19"]), ("3k-al", ["F19", "KL17"])):
        found = record(capsys, "cluster", "a.csv", "--method", method)
        assert found["how"]["references"] == papers and found["how"]["command"].endswith("result.json")
    chosen = record(capsys, "cluster", "a.csv")
    name = chosen["method"].split(",")[0].lower().replace("–", "-")
    assert "chosen by" in chosen["method"] and chosen["how"]["references"] == list(candidate(name).papers)
    rng = np.random.default_rng(0)
    for task in "xy":
        points = np.concatenate([rng.normal(size=(8, 2)), rng.normal(size=(8, 2)) + 4])
        rows = [f"{a},{b},{label}" for (a, b), label in zip(points, ["u"] * 8 + ["v"] * 8)]
        (tmp_path / f"{task}.csv").write_text("\n".join(["p,q,class", *rows]) + "\n")
    assert main(["learn", "x.csv", "y.csv", "--out", "model.json"]) == 0
    learned = record(capsys, "cluster", "x.csv", "--linkage", "model.json")
    assert learned["how"]["references"] == ["L20"]
