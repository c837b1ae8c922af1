"Flat clusters by evidence: the cut of a tree against all cuts, evidence against its definition, laws, the command."

import json
from itertools import combinations
from math import log2
from pathlib import Path

import numpy as np
import pytest
from shared import by_name, refusals, run

from comparison_hc import ComparisonHC, Dendrogram, Quadruplets, Triplets, load_dataset
from comparison_hc.dendrogram import random_tree
from comparison_hc.evaluation import choose_clusters, evidence_cut, partition_evidence, unplaced_objects
from comparison_hc.evaluation import cluster_choice as module
from comparison_hc.hierarchical import planted_hierarchy
from comparison_hc.metrics import adjusted_rand_index
from comparison_hc.oracles import sample_triplets


def random_answers(n, m, rng, width=3):
    "Comparisons of n objects at random, some of them repeated."
    rows = [rng.permutation(n)[:width] for _ in range(m)]
    return (Triplets if width == 3 else Quadruplets)(np.array(rows), n)


def pairs_of(row):
    "The closer and the farther pair of a row."
    return ({row[0], row[1]}, {row[0], row[2]} if len(row) == 3 else {row[2], row[3]})


@pytest.mark.parametrize("width", [3, 4])
def test_counts_of_nodes_are_those_of_the_definition(width):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tree, answers = random_tree(8, rng), random_answers(8, 60, rng, width)
        found = module.node_counts(tree, answers)
        for node, members in tree.clusters():
            held = [[pair <= set(members.tolist()) for pair in pairs_of(row)] for row in answers.array.tolist()]
            assert found[:, node].tolist() == [held.count([True, False]), held.count([False, True])]


@pytest.mark.parametrize("leftovers", [False, True])
def test_the_best_subtrees_are_the_best_of_all(leftovers):
    "Of all sets of disjoint nodes, those that cover every leaf, or those of at least two objects."
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tree = random_tree(7, rng)
        values, members = rng.integers(-4, 9, 13).astype(float), [set(m.tolist()) for _, m in tree.clusters()]
        for k in range(1, 8):
            best = -np.inf
            for nodes in combinations(range(13), k):
                together = [i for node in nodes for i in members[node]]
                disjoint = len(together) == len(set(together))
                fits = all(len(members[node]) > 1 for node in nodes) if leftovers else len(together) == 7
                best = max(best, values[list(nodes)].sum() if disjoint and fits else -np.inf)
            found = module.best_subtrees(tree, values, k, leftovers)
            if found is None:
                assert best == -np.inf
                continue
            nodes, left_over = found
            assert len(nodes) == k and values[nodes].sum() == best
            covered = sorted(left_over + [i for node in nodes for i in members[node]])
            assert covered == list(range(7)) and (leftovers or not left_over)


@pytest.mark.parametrize("width", [3, 4])
def test_evidence_is_that_of_the_definition(width):
    rng = np.random.default_rng(1)
    answers, labels = random_answers(9, 80, rng, width), rng.permutation([0, 0, 0, 0, 1, 1, 1, 2, 2])
    rows = [tuple(map(sorted, pairs_of(row))) for row in answers.array.tolist()]
    together = [tuple(labels[a] == labels[b] for a, b in pairs) for pairs in rows]
    right, wrong = together.count((True, False)), together.count((False, True))
    p = max((right + 1) / (right + wrong + 2), 0.5)
    bits = (right * log2(2 * p) + wrong * log2(2 * (1 - p))) / len(rows)

    def block_bits(b):
        def similarity(pair):
            low, high = sorted(int(labels[i]) for i in pair)
            return b[[(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].index((low, high))] + sum(b[6 + i] for i in pair)

        margins = [similarity(near) - similarity(far) for near, far in rows]
        return float(np.mean([1 - log2(1 + np.exp(-margin)) for margin in margins]))

    b = module.block_parameters(answers, labels)
    assert partition_evidence(answers, labels) == pytest.approx(0.25 * bits + 0.75 * block_bits(b))
    score = lambda b: len(rows) * block_bits(b) * np.log(2) - module.RIDGE / 2 * b @ b
    assert all(score(b) >= score(b + rng.normal(0, 0.02, len(b))) - 1e-6 for _ in range(20))


def planted(seed=0, m=4000):
    "(answers about four unequal groups and three objects that belong to none, labels with −1 for those)."
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2, 3, -1], [16, 10, 7, 5, 3])
    centres = 5 * np.vstack([np.eye(4), np.zeros((1, 4))])
    points = centres[labels] + rng.normal(0, 1, (41, 4))
    points[labels < 0] = 9 * np.array([[-1, -1, 1, 1], [-1, 1, -1, -1], [1, -1, -1, 1]])
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    rows = np.array([rng.permutation(41)[:3] for _ in range(m)])
    near, far = distance[rows[:, 0], rows[:, 1]], distance[rows[:, 0], rows[:, 2]]
    flip = rng.random(m) > 1 / (1 + np.exp(2 * (near - far)))
    rows[flip] = rows[flip][:, [0, 2, 1]]
    return Triplets(rows, 41), labels


def test_unequal_groups_are_found_beside_objects_that_belong_nowhere():
    "Merge order gives the groups to the outliers; the choice finds both, and the number."
    answers, labels = planted()
    placed = labels >= 0
    tree = ComparisonHC("3-al").fit(answers).dendrogram_
    assert adjusted_rand_index(labels[placed], tree.cut(4)[placed]) < 0.9
    chosen = choose_clusters(answers, 4)
    assert adjusted_rand_index(labels[placed], chosen.labels[placed]) == 1
    assert not set(chosen.unplaced.tolist()) & set(np.flatnonzero(placed)) and len(chosen.unplaced)
    opened = choose_clusters(answers)
    assert opened.n_clusters >= 4 and min(opened.sizes) > 1 and opened.asked is None
    assert adjusted_rand_index(labels[placed], opened.labels[placed]) == 1


def test_car_is_cut_as_well_as_by_the_best_simple_method():
    cars = load_dataset("car")
    chosen = choose_clusters(cars.triplets, 4)
    simple = [ComparisonHC(name).fit(cars.triplets).dendrogram_.cut(4) for name in ("3-al", "3k-al", "4-al", "4k-al")]
    best = max(adjusted_rand_index(cars.labels, labels) for labels in simple)
    assert adjusted_rand_index(cars.labels, chosen.labels) >= best - 0.05


def test_objects_have_no_order():
    "Renamed objects get the same clusters from a renamed tree, whatever the order of the answers."
    answers, _ = planted(1, 800)
    rng = np.random.default_rng(2)
    order, rows = rng.permutation(41), rng.permutation(len(answers))
    moved = Triplets(np.argsort(order)[answers.array[rows]], 41)
    tree = ComparisonHC("3k-al").fit(answers).dendrogram_
    labels = evidence_cut(tree, answers, 5)
    assert adjusted_rand_index(labels[order], evidence_cut(tree.relabel(order), moved, 5)) == 1
    assert partition_evidence(moved, labels[order]) == pytest.approx(partition_evidence(answers, labels))
    assert sorted(order[unplaced_objects(moved, labels[order])]) == unplaced_objects(answers, labels).tolist()


def test_unplaced_objects_are_those_of_the_definition():
    answers, _ = planted(3, 600)
    labels = np.random.default_rng(3).integers(0, 4, 41)
    labels[:2] = 4, 5
    expected = []
    for i in range(41):
        won = lost = 0
        for a, b, c in answers.array.tolist():
            if labels[a] == labels[b] != labels[c] and b == i:
                won += 1
            if labels[a] == labels[c] != labels[b] and c == i:
                lost += 1
        if (labels == labels[i]).sum() == 1 or (won + lost and won <= lost):
            expected.append(i)
    assert unplaced_objects(answers, labels).tolist() == expected and len(expected) > 5


def test_exactly_that_many_clusters_from_every_tree():
    planted_tree = planted_hierarchy(3, 2, 0.8, 0.3, 0.1, 3)
    answers = sample_triplets(planted_tree.similarity, 300, 3)
    for k in range(1, 13):
        for labels in (evidence_cut(random_tree(12, k), answers, k), choose_clusters(answers, k).labels):
            sizes = np.bincount(labels)
            assert len(sizes) == k and sizes.min() > 0 and (np.diff(sizes) <= 0).all()


def test_answers_by_coin_are_explained_by_nothing():
    answers = planted(4, 2000)[0].flip(0.5, 4)
    found = choose_clusters(answers)
    assert found.numbers.evidence.max() < 0.01 < choose_clusters(planted(4, 2000)[0]).numbers.evidence.max() - 0.2


PLANTED = planted()[0]
test_bad_arguments_are_refused = refusals(
    ("n_clusters must be given", choose_clusters, PLANTED.take(np.arange(50))),
    ("most must be an integer of at least 2", by_name(choose_clusters, "most", PLANTED), 1),
    ("answers must be about 40 objects", lambda tree: evidence_cut(tree, PLANTED, 2), random_tree(40, 0)),
    ("dendrogram must be about 41 objects", lambda tree: choose_clusters(PLANTED, 2, tree), random_tree(40, 0)),
)


def test_the_command_finds_clusters_their_number_and_the_better_choice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    answers, labels = planted()
    answers.to_csv("answers.csv")
    code, out, _ = run(capsys, "cluster", "answers.csv", "--clusters", "auto", "--out", "a.json", "--out", "a.html")
    saved, page = json.loads(Path("a.json").read_text()), Path("a.html").read_text()
    assert code == 0 and "number of clusters" in out and "belong nowhere" in out
    assert saved["clusters"]["sizes"] == np.bincount(saved["labels"]).tolist() and saved["n_clusters"] >= 4
    assert "chosen by evidence" in page and "were chosen among" in page
    code, out, _ = run(capsys, "cluster", "answers.csv", "--clusters", "10", "--method", "3-al-refined")
    assert code == 0 and ("beware" in out) == ("better clusters" in out)
    code, out, err = run(capsys, "cluster", "answers.csv", "--clusters", "some")
    assert code == 2 and "must be a whole number or auto; got 'some'" in err


def test_left_over_objects_join_the_cluster_that_wins_most_of_their_comparisons():
    "Two pairs and one object that branches off at the root: it goes where its answers say."
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (5, 6), (7, 4)])
    rows = [(0, 1, 2), (1, 0, 3), (2, 3, 1), (3, 2, 0)] * 5
    for near, far, expected in ((0, 2, [0, 0, 1, 1, 0]), (3, 1, [0, 0, 1, 1, 1])):
        labels = module.supported_cut(tree, Triplets(rows + [(4, near, far)], 5), 2, True)
        assert adjusted_rand_index(labels, expected) == 1


def test_what_is_sampled_or_counted_without_weights_is_said(monkeypatch):
    answers, _ = planted(m=600)
    assert choose_clusters(answers, 4).left_out == ()
    monkeypatch.setattr(module, "MOST_SCORED", 500)
    said = choose_clusters(Triplets(answers.array, 41, weights=np.full(600, 2.0)), 4).rows()
    texts = [text for label, text in said if label == "not compared"]
    assert any("random sample of 500" in text for text in texts) and any("AddS with weights" in text for text in texts)


@pytest.mark.parametrize("width", [3, 4])
def test_slow_trees_are_left_out_for_many_objects_and_it_is_said(width, monkeypatch):
    answers = random_answers(12, 300, np.random.default_rng(0), width)
    for many in (False, True):
        monkeypatch.setattr("comparison_hc.evaluation._candidates.MANY_OBJECTS", 11 if many else 12)
        chosen = choose_clusters(answers, 3)
        methods = " ".join(chosen.table.method)
        assert ("refined" in methods or "4K–AL" in methods) is not many
        assert any("refined trees and of 4K–AL" in reason for reason in chosen.left_out) is many
        assert "AL, cut by" in methods


@pytest.mark.parametrize("known", [True, False])
def test_programs_of_many_objects_stop_early_and_it_is_said(known, monkeypatch, tmp_path, capsys):
    random_answers(12, 300, np.random.default_rng(0)).to_csv(tmp_path / "answers.csv")
    words = ["cluster", str(tmp_path / "answers.csv"), "--method", "adds", *(["--clusters", "3"] if known else [])]
    _, out, err = run(capsys, *words)
    assert "iterations" not in out and "for every number" not in err
    monkeypatch.setattr("comparison_hc.cli.cluster.MANY_OBJECTS", 11)
    monkeypatch.setattr("comparison_hc.cli.cluster.MOST_ITERATIONS", 2)
    code, out, err = run(capsys, *words)
    assert not code and "at most 2 per semidefinite program, as there are 12 objects" in out
    assert ("a program for every number of clusters" in err) is not known and "2 iterations" in err
