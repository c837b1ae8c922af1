"""A cluster has one number, in Python and in every file and line that a run writes."""

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison_hc import cli
from comparison_hc.comparisons import Triplets
from comparison_hc.core._rows import relabel_by_size
from comparison_hc.core.plotting import cluster_color
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.estimators import ComparisonClustering
from comparison_hc.evaluation.report import FlatResult


@given(st.lists(st.integers(-3, 5), min_size=1, max_size=40))
def test_numbers_follow_size_then_the_smallest_object(values):
    labels = relabel_by_size(np.array(values))
    members = [np.flatnonzero(labels == number) for number in range(labels.max() + 1)]
    keys = [(-len(objects), objects[0]) for objects in members]
    assert keys == sorted(keys) and sum(map(len, members)) == len(values)
    assert len({*zip(values, labels.tolist())}) == len(set(values)) == len(members)  # the same partition


def test_flat_labels_are_numbered_by_size():
    points = np.array([0, 50, 51, 52, 53, 90, 91])
    rows = [(i, j, k) for i in range(7) for j in range(7) for k in range(7) if len({i, j, k}) == 3]
    answers = Triplets(
        [row for row in rows if abs(points[row[0]] - points[row[1]]) < abs(points[row[0]] - points[row[2]])]
    )
    model = ComparisonClustering(n_clusters=2).fit(answers)
    assert np.array_equal(model.labels_, relabel_by_size(model.labels_)) and np.bincount(model.labels_)[0] >= 4
    given_labels = np.array([0, 1, 1, 1, 1, 2, 2])
    flat = FlatResult(given_labels, answers)
    assert flat.labels.tolist() == [2, 0, 0, 0, 0, 1, 1] and given_labels.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert list(map(len, flat.clusters())) == [4, 2, 1]


@pytest.fixture
def answers_file(tmp_path):
    "Nine animals whose first three are the smallest cluster but one."
    group = dict(wasp=2, ant=2, hen=1, owl=1, cat=0, dog=0, fox=0, cow=0, eel=3)
    names = list(group)
    rng = np.random.default_rng(0)
    place = {name: 10 * group[name] + rng.random() for name in names}
    rows = []
    for _ in range(600):
        a, b, c = (names[i] for i in rng.choice(9, 3, replace=False))
        near, far = sorted((b, c), key=lambda other: abs(place[a] - place[other]))
        rows.append(f"{a},{near},{far}")
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def numbers_on_the_screen(text):
    found = {}
    for number, size, names in re.findall(r"^cluster (\d+) \((\d+)\): (.*)$", text, re.M):
        for name in names.split(", "):
            found[name] = int(number)
        assert len(names.split(", ")) == int(size)
    return found


def test_every_output_of_one_run_shows_the_same_numbers(answers_file, tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    outs = [tmp_path / f"tree.{ending}" for ending in ("html", "json", "nwk")]
    words = [word for out in outs for word in ("--out", str(out))]
    code = cli.main(
        ["cluster", str(answers_file), "--clusters", "4", "--header", "no", "--labels-out", str(labels), *words]
    )
    assert not code
    screen = numbers_on_the_screen(capsys.readouterr().out)
    rows = list(csv.reader(labels.read_text(encoding="utf-8").splitlines()))[1:]
    table = {name: int(number) for name, number in rows}
    assert screen == table and len(table) == 9

    data = json.loads(outs[1].read_text(encoding="utf-8"))
    assert dict(zip(data["names"], data["labels"])) == table
    sizes = np.bincount(list(table.values()))
    assert (np.diff(sizes) <= 0).all()

    newick = outs[2].read_text(encoding="utf-8")
    assert {name: int(number) for name, number in re.findall(r"(\w+)\[&cluster=(\d+)\]", newick)} == table
    assert Dendrogram.from_newick(newick).n_objects == 9
    page = outs[0].read_text(encoding="utf-8")
    listed = {}
    for number, colour, names in re.findall(
        r"<li><b style=\"background:(#\w+);[^>]*>(\d+)</b>.*?</span>(.*?)</li>", page
    ):
        for name in names.split(", "):
            listed[name] = (int(colour), number)
    assert {name: number for name, (number, _) in listed.items()} == table
    assert all(colour == cluster_color(number) for number, colour in listed.values())
    script = json.loads(re.search(r'id="tree-data">(.*?)</script>', page, re.S)[1])
    assert script["cuts"][script["k"] - 1]["labels"] == data["labels"] and script["k"] == len(sizes)
    others = [(k, cut["labels"]) for k, cut in enumerate(script["cuts"], 1) if k not in (1, script["k"])]
    assert len(others) >= 3 and all(np.array_equal(labels, tree_of(data).cut(k)) for k, labels in others)


def tree_of(data):
    "The tree in a JSON file."
    return Dendrogram.from_linkage(data["linkage"])
