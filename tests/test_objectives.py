"""Revenue by comparisons: AddS–AL against its definition, planted trees that have the largest revenue, and mutants."""

import csv
from itertools import combinations

import numpy as np
import pytest
from test_many_answers import script

from comparison_hc import ComparisonHC, Quadruplets, Triplets
from comparison_hc.dendrogram import Dendrogram, random_tree
from comparison_hc.evaluation import embedding_average_linkage
from comparison_hc.evaluation._candidates import candidate, fit
from comparison_hc.flat import adds3, adds4
from comparison_hc.hierarchical import kernel_average_linkage, planted_hierarchy
from comparison_hc.metrics import average_ari, comparison_revenue


def adds_al(comparisons):
    return fit(candidate("adds-al"), comparisons, 0, {})[0]


def all_answers(similarity):
    "Every triplet question that the similarity decides."
    n = len(similarity)
    questions = [(i, j, k) for i in range(n) for j in range(n) for k in range(n) if len({i, j, k}) == 3]
    return [(i, j, k) for i, j, k in questions if similarity[i, j] > similarity[i, k]]


def test_adds_al_is_average_linkage_on_adds():
    rng = np.random.default_rng(0)
    for kind, width, adds in ((Triplets, 3, adds3), (Quadruplets, 4, adds4)):
        rows = np.array([rng.permutation(9)[:width] for _ in range(60)])
        answers, weights = kind(rows, 9), rng.integers(1, 4, 60)
        assert adds_al(answers).same_tree(kernel_average_linkage(adds(answers)))
        repeated = kind(np.repeat(rows, weights, axis=0), 9)
        assert adds_al(kind(rows, 9, weights=weights)).same_tree(adds_al(repeated))
    assert ComparisonHC("adds-al").fit(rows).dendrogram_.same_tree(adds_al(answers))


def trees_of(n):
    "All rooted binary trees of n objects, by where the last object is put."
    nested = [(0, 1)]

    def put(tree, leaf):
        yield (tree, leaf)
        if isinstance(tree, tuple):
            yield from ((left, tree[1]) for left in put(tree[0], leaf))
            yield from ((tree[0], right) for right in put(tree[1], leaf))

    for leaf in range(2, n):
        nested = [more for tree in nested for more in put(tree, leaf)]
    return [as_dendrogram(tree, n) for tree in nested]


def as_dendrogram(nested, n):
    merges = []

    def node(tree):
        if not isinstance(tree, tuple):
            return tree
        merges.append((node(tree[0]), node(tree[1])))
        return n + len(merges) - 1

    node(nested)
    return Dendrogram.from_merges(merges)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 2, 2)])
def test_pure_clusters_have_the_largest_revenue(sizes):
    "All answers of a planted partition: of the 945 trees of 6 objects, those with its clusters earn most, no others."
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rows = all_answers((labels[:, None] == labels).astype(float))
    pure = {frozenset(np.flatnonzero(labels == label)) for label in range(len(sizes))}
    revenues, planted = [], []
    for tree in trees_of(6):
        revenues.append(comparison_revenue(tree, rows))
        planted.append(pure <= {frozenset(members.tolist()) for _, members in tree.clusters()})
    assert len(revenues) == 945
    best = np.isclose(revenues, max(revenues))
    assert best.tolist() == planted and comparison_revenue(adds_al(Triplets(rows)), rows) == max(revenues)


def test_planted_hierarchies_are_recovered():
    "From all answers exactly, from many noisy ones nearly."
    world = planted_hierarchy(2, 3, 0.8, 0.1, 0.0, 0)
    rows = Triplets(all_answers(world.similarity))
    tree = adds_al(rows)
    assert average_ari(world.levels, tree) == 1
    largest = comparison_revenue(tree, rows)
    assert all(comparison_revenue(random_tree(16, seed), rows) < largest for seed in range(200))
    rng = np.random.default_rng(0)
    i, j, k = np.array([rng.permutation(16)[:3] for _ in range(4000)]).T
    s = world.similarity + 0
    right = s[i, j] - s[i, k] + rng.normal(0, 0.1, 4000) > 0
    noisy = Triplets(np.stack([i, np.where(right, j, k), np.where(right, k, j)], axis=1), 16)
    assert average_ari(world.levels, adds_al(noisy)) > 0.8


def test_slow_definition_of_the_similarity():
    "AddS of pairs i < j: how often the pair was called the closer, minus how often the other one was."
    rows = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (3, 2, 0), (2, 3, 1)]
    S = np.zeros((4, 4))
    for i, j, k in rows:
        for pair, sign in (((i, j), 1), ((i, k), -1)):
            S[pair] += sign
            S[pair[::-1]] += sign
    pairs = list(combinations(range(4), 2))
    by_pair = {pair: S[pair] for pair in pairs}
    assert by_pair[0, 1] == 1 and by_pair[2, 3] == 2
    assert adds_al(Triplets(rows)).same_tree(kernel_average_linkage(S))


def test_the_benchmark_continues(tmp_path, monkeypatch):
    "A small part of the benchmark: one row per model and split, numbers in range, nothing is computed twice."
    human, path = script("human", monkeypatch), tmp_path / "h.csv"
    words = ["animals", "planted", "--splits", "1", "--answers", "300", "--by", "answers", "--out", str(path)]
    human.main(words)
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert {row["set"] for row in rows} == {"animals", "planted, 200", "planted, 400", "planted, 800"}
    keys = [(row["set"], row["held out"], row["split"], row["model"]) for row in rows]
    assert len(set(keys)) == len(keys)
    people = [row for row in rows if row["set"] == "animals"]
    assert all(0.6 < float(row["agreement"]) <= 1 for row in people)
    assert all(0 < float(row["log loss"]) < np.log(2) for row in people if row["log loss"])
    assert all(-1 < float(row["AARI"]) <= 1 for row in rows if row["set"] != "animals")
    whole = path.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    path.write_text("".join(lines[:5]), encoding="utf-8")
    human.main(words)

    def without_seconds(text):
        return [row[:-1] for row in csv.reader(text.splitlines())]

    assert without_seconds(path.read_text(encoding="utf-8")) == without_seconds(whole)
    human.main(words)
    assert path.read_text(encoding="utf-8").count("\n") == len(lines)


def test_what_the_benchmark_holds_out(monkeypatch):
    "Rows about one question, or by one person, go together; of threes, whichever object was chosen."
    human = script("human", monkeypatch)
    rows = Triplets([[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0], [0, 1, 2], [3, 1, 2]], respondents=list("aabbca"))
    together = {
        ("comparisons", "answers"): "abcdef",
        ("comparisons", "questions"): "aabcad",
        ("odd-one-out", "questions"): "aaaaab",
        ("central", "questions"): "aaaaab",
        ("odd-one-out", "people"): "aabbca",
    }
    for (kind, by), expected in together.items():
        labels = human.units(rows, kind, by)
        assert [[a == b for b in labels] for a in labels] == [[a == b for b in expected] for a in expected]
    assert human.units(rows.take([0, 2, 5]), "comparisons", "questions") is None
    assert human.units(Triplets(rows.array), "comparisons", "people") is None
    labels = np.random.default_rng(0).integers(0, 40, 300)
    for number in range(5):
        held = human.held_out(labels, number)
        assert len(set(labels[held])) == 8 and not set(labels[held]) & set(labels[~held])


STAND_IN = """
from time import process_time
class SOE:
    def __init__(self, n_components, random_state):
        assert n_components == 2
    def fit(self, rows, n_objects):
        began = process_time()
        while process_time() < began + 0.3:
            pass
        assert n_objects == 12 and rows.shape[1] == 3
        self.embedding_ = __import__("numpy").array({places})
        return self
STE = TSTE = CKL = GNMDS = FORTE = OENN = LORE = SOE
"""


def test_the_benchmark_takes_files_and_rivals(tmp_path, monkeypatch, capsys):
    "A file, an absent one, and a stand-in of cblearn: its points are linked, its seconds count."
    human, path, out = script("human", monkeypatch), tmp_path / "a.csv", tmp_path / "h.csv"
    places = np.random.default_rng(1).normal(size=(12, 2))
    similarity = -((places[:, None] - places) ** 2).sum(axis=2)
    Triplets(all_answers(similarity)).to_csv(path)
    (tmp_path / "cblearn").mkdir()
    (tmp_path / "cblearn" / "__init__.py").touch()
    (tmp_path / "cblearn" / "embedding.py").write_text(STAND_IN.replace("{places}", str(places.tolist())))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    human.main([*map(str, (path, tmp_path / "absent.csv")), "--splits", "1", "--by", "answers", "--out", str(out)])
    skipped = [line for line in capsys.readouterr().err.splitlines() if "is skipped" in line]
    assert len(skipped) == 1 and "absent.csv" in skipped[0]
    found = {row["model"]: row for row in csv.DictReader(out.open(encoding="utf-8"))}
    answers, kind = human.answers_of(str(path))
    answers = answers.take(np.random.default_rng(0).permutation(len(answers)))
    held = human.held_out(human.units(answers, kind, "answers"), 0)
    expected = human.graded(embedding_average_linkage(places, "euclidean"), answers.take(held))
    rivals = [row for model, row in found.items() if model.startswith("cblearn")]
    assert len(rivals) >= 5 and {row["agreement"] for row in rivals} == {f"{expected:.4f}"}
    assert all(0.3 <= float(row["seconds"]) < 3 for row in rivals)
    monkeypatch.setattr(human, "ask", lambda python, *words: [])
    assert human.rivals_of("python") == {} and "cblearn is left out" in capsys.readouterr().err
