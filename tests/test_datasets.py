"""Data sets: the facts, the looking-up, the download, the conversions, the errors."""

import csv
import dataclasses
import gzip
import hashlib
import http.server
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import threading
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.core.pictures import png_bytes, read_png
from comparison_hc.core.validation import InputError
from comparison_hc.datasets import Dataset, DatasetNotFoundError, list_datasets, load_dataset, odd_one_out_answers
from comparison_hc.evaluation import animals as A
from comparison_hc.evaluation import answer_sets, drawings, object_sets, originals
from comparison_hc.evaluation.catalogue import CATALOGUE

EMBEDDED = ["animals", "digits", "iris", "wine"]
ON_FILE = ["car", "food", "zoo", "glass", "newsgroups", "mnist", "mnist-tsne", "omniglot", "cifar10"]
sha256 = lambda data: "sha256:" + hashlib.sha256(data).hexdigest()


def contradictory(triplets):
    "Questions for which both answers are present."
    rows = {tuple(row) for row in triplets.tolist()}
    return sum((a, c, b) in rows for a, b, c in rows) // 2


# ---------------------------------------------------------------- facts


@pytest.mark.parametrize("name", EMBEDDED + ON_FILE)
def test_register_tells_the_truth(name, dataset_or_skip):
    data, facts = dataset_or_skip(name), CATALOGUE[name].facts
    assert isinstance(data, Dataset) and data.name == name
    if name == "cifar10" and len(data) == 2000:  # a part of the original, and the list says so
        facts = (2000, *facts[1:])
        assert [objects for _, objects in CATALOGUE[name].parts] == [2000]
    found = data.facts()
    assert list_datasets().set_index("name").objects[name] == len(data)
    assert (found["objects"], found["comparisons"], found["features"], found["classes"]) == facts
    assert len(data.objects) == len(set(data.objects)) and all(isinstance(x, str) and x for x in data.objects)
    for array in (
        data.labels,
        data.features,
        data.comparisons,
        data.images if not isinstance(data.images, tuple) else None,
    ):
        assert array is None or array.shape[0] == len(data) or array is data.comparisons
    if data.labels is not None:
        assert set(data.labels.tolist()) == set(range(len(data.label_names)))
    assert f"{len(data):,}" in data._repr_html_() and repr(data).startswith(f"Dataset({name!r}: ")
    assert data.source and data.terms


@pytest.mark.parametrize(
    "collection, rows, triplets, unique, contradictions",
    [
        ("T_ALL_REDUCED", 6056, 12112, 12112, 0),
        ("ALL", 7097, 14194, 13152, 242),
        ("survey", 7097, 14194, 13152, 242),
        ("ALL_REDUCED", 6338, 12676, None, None),
        ("T_ALL", 6757, 13514, None, None),
    ],
)
def test_car(collection, rows, triplets, unique, contradictions, dataset_or_skip):
    car = dataset_or_skip("car", collection=collection)
    assert (
        car.kind == "central"
        and car.comparisons.shape == (rows, 3)
        and (car.comparisons.min(), car.comparisons.max()) == (0, 59)
    )
    assert car.objects == tuple(str(i) for i in range(1, 61)) and np.bincount(car.labels).tolist() == [24, 15, 17, 4]
    assert car.label_names[car.labels[29]] == "outlier" and car.label_names[car.labels[0]] == "off-road/SUV"
    t = car.triplets
    assert len(t) == triplets and t.n_objects == 60 and tuple(t.object_names) == car.objects
    if unique:
        assert len(np.unique(t.array, axis=0)) == unique and contradictory(t.array) == contradictions
    i, j, k = car.comparisons[0]
    assert {tuple(row) for row in t.array[:2].tolist()} == {(j, i, k), (k, i, j)}


def test_car_survey_is_what_ALL_was_made_from(dataset_or_skip):
    survey, everything = dataset_or_skip("car", collection="survey"), dataset_or_skip("car", collection="ALL")
    assert len(np.unique(survey.respondents)) == 146 and survey.extra["n_left_out"] == 0
    key = lambda rows: sorted((i, *sorted((j, k))) for i, j, k in rows.tolist())
    assert key(survey.comparisons) == key(everything.comparisons)
    assert len(survey.triplets.respondents) == 14194 and survey.extra["response_time"].shape == (7097,)
    assert all(os.path.isfile(path) for path in survey.images)


def test_car_classes_are_those_of_the_readme(dataset_or_skip):
    car = dataset_or_skip("car")
    found = originals.find_files(["car/README.txt"], originals.places())
    if not found:
        pytest.skip("the README of the car data is not here")
    text = found[1][0].read_text(encoding="utf-8")
    for start, name in (
        ("ORDINARY CARS:", "ordinary"),
        ("SPORTS CARS:", "sports"),
        ("UTILITY VEHICLES:", "off-road/SUV"),
        ("OUTLIERS:", "outlier"),
    ):
        numbers = text.split(start)[1].split("\n")[0].split()
        assert numbers == [car.objects[i] for i in np.flatnonzero(car.labels == car.label_names.index(name))]


def test_food(dataset_or_skip):
    food = dataset_or_skip("food")
    assert food.kind == "triplets" and food.comparisons.shape == (250320, 3)
    unique = np.unique(food.comparisons, axis=0)
    assert len(unique) == 190376 and contradictory(unique) == 9349
    assert np.array_equal(food.triplets.array, food.comparisons)
    assert sum(name.startswith("dish ") for name in food.objects) == 7 and food.extra["tastes"].shape == (100, 6)
    assert food.extra["tastes"][0].tolist() == [50, 67, 50, 33, 100, 0]


def test_zoo(dataset_or_skip):
    zoo = dataset_or_skip("zoo")
    assert np.bincount(zoo.labels).tolist() == [40, 20, 5, 13, 4, 8, 10]
    assert zoo.features.shape == (100, 16) and len(np.unique(zoo.features, axis=0)) == 58
    assert (
        "girl" not in zoo.objects
        and "frog (2)" in zoo.objects
        and zoo.feature_names[12] == "legs"
        and zoo.features[:, 12].max() == 8
    )


def test_glass(dataset_or_skip):
    glass = dataset_or_skip("glass")
    assert glass.features.shape == (214, 9) and np.bincount(glass.labels).tolist() == [70, 76, 17, 13, 9, 29]
    assert len(np.unique(np.column_stack([glass.features, glass.labels]), axis=0)) == 213


def test_newsgroups(dataset_or_skip):
    news = dataset_or_skip("newsgroups")
    assert news.features.shape == (11314, 25941) and news.features.nnz == 1635098 and len(news.label_names) == 20
    assert news.features.has_canonical_format and news.objects[0] == "alt.atheism/49960"
    from sklearn.metrics.pairwise import cosine_similarity

    assert np.allclose(np.diag(cosine_similarity(news.features[:5])), 1)  # read-only arrays are no obstacle


def test_mnist(dataset_or_skip):
    mnist, counts = dataset_or_skip("mnist"), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert (
        mnist.images.shape == (10000, 28, 28)
        and round(float(mnist.images.mean()), 3) == 33.791
        and np.bincount(mnist.labels).tolist() == counts
    )
    tsne = dataset_or_skip("mnist-tsne")
    assert (
        tsne.features.shape == (10000, 2)
        and np.bincount(tsne.labels).tolist() == counts
        and (np.diff(tsne.labels) >= 0).all()
    )


def test_omniglot(dataset_or_skip):
    o = dataset_or_skip("omniglot")
    assert len(o) == 2720 and np.bincount(o.labels).tolist() == [20] * 136 and len(o.extra["alphabet_names"]) == 5
    assert (
        o.images[3].shape == (105, 105)
        and o.images[3].dtype == bool
        and o.images[:4].shape == (4, 105, 105)
        and np.array_equal(o.images[:4][3], o.images[3])
    )
    strokes = o.extra["strokes"]
    assert len(strokes) == 2720 and sum(len(s) for i in range(2720) for s in strokes[i]) == 375709 == len(
        strokes.points
    )
    assert np.array_equal(np.vstack(strokes[2719]), strokes.points[-sum(map(len, strokes[2719])) :]) and len(
        strokes[-1]
    ) == len(strokes[2719])
    for drawing in (0, 100, 2000):  # the pen passes where the ink is
        x, y = np.vstack(strokes[drawing])[:, :2].T
        ink = o.images[drawing]
        near = [
            ink[max(r - 2, 0) : r + 3, max(c - 2, 0) : c + 3].any()
            for r, c in zip((-y).round().astype(int), x.round().astype(int))
        ]
        assert np.mean(near) > 0.9


def test_cifar10(dataset_or_skip):
    cifar = dataset_or_skip("cifar10")
    assert (
        cifar.images.shape[1:] == (32, 32, 3)
        and len(set(np.bincount(cifar.labels))) == 1
        and len(cifar) in (2000, 10000)
    )


def test_sklearn_sets_are_the_same():
    from sklearn.datasets import load_iris

    assert np.array_equal(load_dataset("iris").features, load_iris().data) and load_dataset("digits").images.shape == (
        1797,
        8,
        8,
    )


# ---------------------------------------------------------------- animals and simulated answers


def test_animals():
    animals = load_dataset("animals")
    names, paths = A.leaves_and_paths(animals.extra["taxonomy"])
    assert (
        tuple(names) == animals.objects and len(names) == 24 and {len(p) for p in paths} == {4}
    )  # three levels of groups, and the leaf
    assert animals.extra["levels"].shape == (24, 3) and [len(set(column)) for column in animals.extra["levels"].T] == [
        2,
        5,
        8,
    ]
    again = load_dataset("animals")
    assert np.array_equal(animals.comparisons, again.comparisons) and len(animals.comparisons) == 600
    assert len({tuple(sorted(row)) for row in animals.comparisons.tolist()}) == 600  # no question twice
    assert len(animals.triplets) == 1200 and animals.triplets.object_names[0] == "🐈 cat"
    with pytest.raises(ValueError):
        animals.comparisons[0, 0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        animals.name = "plants"


nested = st.recursive(st.just("leaf"), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=12)


def named(tree, counter):
    return f"x{next(counter)}" if tree == "leaf" else [named(child, counter) for child in tree]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(nested, st.integers(1, 60), st.floats(0, 1), st.integers(0, 99))
def test_answers_follow_the_taxonomy_except_for_the_stated_share(tree, n_answers, wrong, seed):
    import itertools

    taxonomy = named(tree, itertools.count())
    groups = []  # every list as a set of leaves: the slow, obvious version

    def leaves(node):
        if isinstance(node, str):
            return [node]
        found = [leaf for child in node for leaf in leaves(child)]
        groups.append(frozenset(found))
        return found

    names = leaves(taxonomy)

    def odd_one(three):
        "The one outside some group that holds the other two; nobody if there is no such group."
        out = {odd for odd in three if any(odd not in g and set(three) - {odd} <= g for g in groups)}
        assert len(out) <= 1
        return out

    decided = [three for three in itertools.combinations(names, 3) if odd_one(three)]
    if not decided:
        with pytest.raises(InputError, match="^taxonomy must be"):
            odd_one_out_answers(taxonomy, n_answers, wrong, seed)
        return
    rows = odd_one_out_answers(taxonomy, n_answers, wrong, seed)
    assert rows.shape == (n_answers, 3)
    errors = sum(odd_one([names[i] for i in row]) != {names[row[0]]} for row in rows)
    assert errors == round(wrong * n_answers)
    assert all(odd_one([names[i] for i in row]) for row in rows)
    assert len({frozenset(row) for row in rows.tolist()}) == min(n_answers, len(decided)) or n_answers > len(decided)
    assert np.array_equal(rows, odd_one_out_answers(taxonomy, n_answers, wrong, seed))


@pytest.mark.parametrize(
    "arguments, names",
    [
        (dict(taxonomy=["a", "b"], n_answers=1), "taxonomy"),
        (dict(taxonomy="abc", n_answers=1), "taxonomy"),
        (dict(taxonomy=["a", "b", "c"], n_answers=1), "taxonomy"),
        (dict(taxonomy=[["a", "b"], "c"], n_answers=0), "n_answers"),
        (dict(taxonomy=[["a", "b"], "c"], n_answers=1.5), "n_answers"),
        (dict(taxonomy=[["a", "b"], "c"], n_answers=1, wrong=1.1), "wrong"),
        (dict(taxonomy=[["a", "b"], "c"], n_answers=1, wrong=float("nan")), "wrong"),
        (dict(taxonomy=[["a", "b"], "c"], n_answers=1, rng=-1), "rng"),
    ],
)
def test_answers_bad_input(arguments, names):
    with pytest.raises(InputError, match=f"^{names} must be"):
        odd_one_out_answers(**arguments)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "arguments, names",
    [
        (dict(name="cars"), "name"),
        (dict(name=3), "name"),
        (dict(name=["car"]), "name"),
        (dict(name="zoo", collection="ALL"), "collection"),
        (dict(name="car", collection="SOME"), "collection"),
        (dict(name="car", collection=1), "collection"),
    ],
)
def test_bad_arguments(arguments, names):
    with pytest.raises(InputError, match=f"^{names} must be") as error:
        load_dataset(**arguments)
    if names == "name":
        assert all(repr(name) in str(error.value) for name in EMBEDDED + ON_FILE)


@pytest.fixture
def nothing_here(tmp_path, monkeypatch):
    "No data folder, an empty cache, no proxy."
    monkeypatch.delenv("COMPARISON_HC_DATA", raising=False)
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1"), monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.mark.parametrize("name", ON_FILE)
def test_absent(name, nothing_here, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "data"))
    with pytest.raises(DatasetNotFoundError) as error:
        load_dataset(name, download=False)
    text = str(error.value)
    assert isinstance(error.value, FileNotFoundError) and "\n" not in text
    assert str(tmp_path / "data") in text and str(nothing_here) in text  # the places
    for o in CATALOGUE[name].originals:
        assert o.url in text and o.path in text  # where it comes from
    for file in CATALOGUE[name].forms[0]:
        assert file.format(stem="T_ALL_REDUCED") in text  # the files
    assert not nothing_here.exists()
    row = list_datasets().set_index("name").loc[name]
    assert row["where"] == "not here" and row["download"] == (name != "omniglot")


@pytest.mark.parametrize(
    "name, file",
    [
        ("zoo", "zoo/zoo.csv"),
        ("glass", "glass/glass.csv"),
        ("car", "car/T_ALL_REDUCED.csv"),
        ("mnist", "mnist_raw/mnist_test.npz"),
        ("newsgroups", "newsgroups/newsgroups_train_body.npz"),
        ("omniglot", "omniglot/omniglot_small1.npz"),
        ("cifar10", "cifar10_subset/cifar10_test2000.npz"),
    ],
)
@pytest.mark.parametrize("content", [b"<html>moved</html>\n1,2,3\n", b"\xff\xfe\x00", b"PK\x03\x04"])
def test_unreadable_file(name, file, content, nothing_here):
    path = nothing_here / file
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(InputError, match="must be (readable as the data set|a table with the header)") as error:
        load_dataset(name)
    assert str(path) in str(error.value)


def test_no_comparisons():
    with pytest.raises(InputError, match="^dataset must be one with answers"):
        _ = load_dataset("iris").triplets


def test_data_folder_comes_before_the_cache(nothing_here, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "zoo", dataclasses.replace(CATALOGUE["zoo"], tables=()))
    row = "{},1,0,0,1,0,0,1,1,1,1,0,0,4,0,0,1,1\n"
    for folder, animal in ((nothing_here, "cached"), (tmp_path / "data", "given")):
        (folder / "zoo").mkdir(parents=True)
        (folder / "zoo" / "zoo.csv").write_text(object_sets.ZOO_HEADER + "\n" + row.format(animal))
    assert load_dataset("zoo").objects == ("cached",)
    assert list_datasets().set_index("name").loc["zoo", "where"] == "cache"
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "data"))
    assert load_dataset("zoo").objects == ("given",)
    assert list_datasets().set_index("name").loc["zoo", "where"] == "data folder"


# ---------------------------------------------------------------- download, against a server of our own


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        data, how = self.server.files.get(self.path, (b"", "absent"))
        self.server.asked.append(self.path)
        if how == "absent":
            return self.send_error(404)
        self.send_response(200)
        if how != "endless":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for _ in range(10_000 if how == "endless" else 0):  # twenty megabytes are no end in sight
            self.wfile.write(data)
        self.wfile.write(data if how == "whole" else data[: len(data) // 2])
        self.wfile.flush()
        if how == "stalled":
            self.server.half_sent.set(), self.server.go_on.wait(20)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.asked, server.half_sent, server.go_on, server.daemon_threads = (
            {},
            [],
            threading.Event(),
            threading.Event(),
            True,
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield server
        server.go_on.set()
        server.shutdown()


ZOO = (
    "bear,1,0,0,1,0,0,1,1,1,1,0,0,4,0,0,1,1\n"
    "girl,1,0,0,1,0,0,1,1,1,1,0,0,2,0,1,1,1\n"
    "wren,0,1,1,0,1,0,0,0,1,1,0,0,2,1,0,0,2\n" * 50
).encode()


@pytest.fixture
def small_zoo(server, nothing_here, monkeypatch):
    "The register with another zoo.data, on our server."
    spec = CATALOGUE["zoo"]
    monkeypatch.setitem(
        CATALOGUE,
        "zoo",
        dataclasses.replace(
            spec, tables=(), originals=(originals.Original("zoo/zoo.data", server.url + "/zoo.data", sha256(ZOO)),)
        ),
    )
    return nothing_here


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_download_once(server, small_zoo, capfd):
    server.files["/zoo.data"] = ZOO, "whole"
    first = load_dataset("zoo")
    assert first.objects[:3] == ("bear", "wren", "bear (2)") and len(first) == 100
    assert files_in(small_zoo) == ["zoo/zoo.csv", "zoo/zoo.data"]
    assert load_dataset("zoo").objects == first.objects and server.asked == [
        "/zoo.data"
    ]  # the second time from the cache
    assert capfd.readouterr() == ("", "")  # a library prints nothing


@pytest.mark.parametrize(
    "data, how, says", [(ZOO + b"x", "whole", "SHA256"), (ZOO, "half", ""), (b"", "absent", "404")]
)
def test_failed_download_leaves_nothing(data, how, says, server, small_zoo):
    server.files["/zoo.data"] = data, how
    with pytest.raises(DatasetNotFoundError, match="zoo/zoo.csv not found in .*The download failed") as error:
        load_dataset("zoo")
    assert (
        says in str(error.value)
        and str(small_zoo) in str(error.value)
        and server.url in str(error.value)
        and "\n" not in str(error.value)
    )
    assert files_in(small_zoo) == []
    server.files["/zoo.data"] = ZOO, "whole"
    assert len(load_dataset("zoo")) == 100  # and the next attempt works


def test_a_download_without_end_is_given_up(server, small_zoo, monkeypatch):
    monkeypatch.setattr(originals, "MOST_BYTES", 1_000_000)
    server.files["/zoo.data"] = ZOO, "endless"
    with pytest.raises(DatasetNotFoundError, match="The download failed.* no end"):
        load_dataset("zoo")
    assert files_in(small_zoo) == []


def test_no_network(small_zoo, monkeypatch):
    o = CATALOGUE["zoo"].originals[0]
    monkeypatch.setitem(
        CATALOGUE,
        "zoo",
        dataclasses.replace(CATALOGUE["zoo"], originals=(dataclasses.replace(o, url="http://127.0.0.1:1/zoo.data"),)),
    )
    with pytest.raises(DatasetNotFoundError, match="The download failed"):
        load_dataset("zoo")
    assert files_in(small_zoo) == []


def test_unwritable_cache(server, small_zoo, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("not a folder")
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path / "a file" / "cache"))
    server.files["/zoo.data"] = ZOO, "whole"
    with pytest.raises(DatasetNotFoundError, match="zoo/zoo.csv not found"):
        load_dataset("zoo")


def test_without_a_sha256_nothing_is_downloaded(server, small_zoo, monkeypatch):
    o = dataclasses.replace(CATALOGUE["zoo"].originals[0], digest="md5:" + hashlib.md5(ZOO).hexdigest())
    monkeypatch.setitem(CATALOGUE, "zoo", dataclasses.replace(CATALOGUE["zoo"], originals=(o,)))
    server.files["/zoo.data"] = ZOO, "whole"
    with pytest.raises(DatasetNotFoundError, match="There is no SHA-256 for zoo.data.*by hand"):
        load_dataset("zoo")
    assert server.asked == [] and not small_zoo.exists()
    (small_zoo / "zoo").mkdir(parents=True)
    (small_zoo / "zoo" / "zoo.data").write_bytes(ZOO)  # by hand
    assert len(load_dataset("zoo")) == 100 and server.asked == []


def test_original_put_there_by_hand_is_checked(server, small_zoo, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "zoo").mkdir(parents=True)
    original = tmp_path / "data" / "zoo" / "zoo.data"
    original.write_bytes(ZOO + b"\n")
    with pytest.raises(InputError, match="zoo.data must be the original from .* whose SHA256 is"):
        load_dataset("zoo")
    assert files_in(tmp_path) == ["data/zoo/zoo.data"] and server.asked == []
    original.write_bytes(ZOO)
    assert len(load_dataset("zoo", download=False)) == 100 and files_in(tmp_path) == [
        "cache/zoo/zoo.csv",
        "data/zoo/zoo.data",
    ]


@pytest.mark.parametrize("name", ["zoo", "glass", "car", "food", "mnist-tsne"])
def test_a_converted_table_that_was_cut_or_changed_is_refused(name, dataset_or_skip, tmp_path, monkeypatch):
    dataset_or_skip(name)
    _, paths = originals.find_form(CATALOGUE[name], {"stem": "T_ALL_REDUCED"})
    for path in (each for each in paths if each.suffix == ".csv"):
        text = path.read_bytes()
        for changed in (text[: text.rindex(b"\n", 0, len(text) // 2) + 1], text.replace(b"1", b"2", 1)):
            for other in paths:
                copy = tmp_path / other.parent.name / other.name
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(changed if other == path else other.read_bytes())
            monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path))
            with pytest.raises(InputError, match="must be"):
                load_dataset(name)
        (tmp_path / path.parent.name / path.name).write_bytes(text.replace(b"\n", b"\r\n").replace(b"\r\r", b"\r"))
        assert load_dataset(name)  # ends of lines do not matter


def copy_of(name, folder, monkeypatch):
    "The folder of a set, copied below the one that is looked at from now on."
    _, paths = originals.find_form(CATALOGUE[name], {"stem": "T_ALL_REDUCED"})
    home = paths[0].parent
    for path in (path for path in home.rglob("*") if path.is_file()):
        copy = folder / path.relative_to(home.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setenv("COMPARISON_HC_DATA", str(folder))
    return folder / home.name


def test_a_table_of_dishes_that_was_cut_anywhere_is_named(dataset_or_skip, tmp_path, monkeypatch):
    dataset_or_skip("food")
    dishes = copy_of("food", tmp_path, monkeypatch) / "food100_objects.csv"
    text = dishes.read_bytes()
    for end in range(0, len(text) - 1, 97):
        dishes.write_bytes(text[:end])
        with pytest.raises(InputError, match="food100_objects.csv must be"):
            load_dataset("food")


def test_other_answers_about_dishes_are_refused_however_they_are_packed(dataset_or_skip, tmp_path, monkeypatch):
    dataset_or_skip("food")
    answers = copy_of("food", tmp_path, monkeypatch) / "food100_triplets.npz"
    rows = np.load(answers)["triplets"]
    np.savez(answers, triplets=rows)  # not compressed: another file with the same answers
    assert len(load_dataset("food").comparisons) == len(rows)
    for other in (rows[:-1], rows[::-1], rows.astype(np.int64), np.vstack([rows, rows[-1:]])):
        np.savez_compressed(answers, triplets=other)
        with pytest.raises(
            InputError, match="food100_triplets.npz must be the table as it was converted, whose numbers"
        ):
            load_dataset("food")
    np.savez(answers, triplets=rows, more=np.array([{}]))
    with pytest.raises(InputError, match="food100_triplets.npz must be readable as the data set 'food'"):
        load_dataset("food")


def test_a_damaged_picture_is_named(dataset_or_skip, tmp_path, monkeypatch):
    if dataset_or_skip("car").images is None:
        pytest.skip("no pictures here")
    folder = copy_of("car", tmp_path, monkeypatch) / "images"
    assert len(load_dataset("car").images) == 60
    picture = folder / "7.jpg"
    whole = picture.read_bytes()
    for damaged in (b"", whole[:-1], whole[:-1] + b"0", whole + b"\n"):
        picture.write_bytes(damaged)
        with pytest.raises(InputError, match="7.jpg must be the picture whose SHA-256 begins"):
            load_dataset("car")
    picture.unlink()
    with pytest.raises(InputError, match="7.jpg must be the picture .* got 'no file'"):
        load_dataset("car")
    shutil.rmtree(folder)
    assert load_dataset("car").images is None


def test_an_array_whose_head_is_broken_is_a_bad_file(tmp_path):
    whole = io.BytesIO()
    np.save(whole, np.zeros((2, 3), dtype=np.uint8))
    broken = whole.getvalue().replace(b"(2, 3), }", b"(2, 3),  ")
    path = zip_of(tmp_path / "a.npz", {"triplets.npy": broken})
    with pytest.raises(InputError, match="readable as the data set 'food'; got TokenError"):
        originals.read_or_refuse("food", lambda place: np.load(place)["triplets"], path)


@pytest.mark.parametrize("place, bit", [(6, 64), (8, 1), (8, 32), (8, 64), (10, 1)])
def test_an_archive_that_says_it_is_packed_in_an_unknown_way_is_a_bad_file(tmp_path, place, bit):
    whole = io.BytesIO()
    np.savez_compressed(whole, triplets=np.zeros((2, 3), dtype=np.uint8))
    data = bytearray(whole.getvalue())
    data[data.index(b"PK\1\2") + place] ^= bit
    path = tmp_path / "a.npz"
    path.write_bytes(data)
    with pytest.raises(InputError, match="a.npz must be readable as the data set 'food'; got (NotImpl|Runtime)"):
        originals.read_or_refuse("food", lambda place: np.load(place)["triplets"], path)


def test_placing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "file"
    originals.write_file(path, b"first")
    monkeypatch.setattr(os, "replace", lambda a, b: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        originals.write_file(path, b"second")
    assert path.read_bytes() == b"first" and files_in(tmp_path) == ["folder/file"]


CHILD = """
import dataclasses, sys
from comparison_hc.datasets import load_dataset
from comparison_hc.evaluation.catalogue import CATALOGUE
from comparison_hc.evaluation.originals import Original
original = Original("zoo/zoo.data", sys.argv[1], sys.argv[2])
CATALOGUE["zoo"] = dataclasses.replace(CATALOGUE["zoo"], tables=(), originals=(original,))
print(len(load_dataset("zoo")))
"""


def child(server):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, server.url + "/zoo.data", sha256(ZOO)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_at_once(server, small_zoo):
    server.files["/zoo.data"] = ZOO, "whole"
    for process in [child(server), child(server)]:
        assert process.communicate(timeout=60) == ("100\n", "") and process.returncode == 0
    assert (
        files_in(small_zoo) == ["zoo/zoo.csv", "zoo/zoo.data"] and (small_zoo / "zoo" / "zoo.data").read_bytes() == ZOO
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_in_the_middle(server, small_zoo):
    server.files["/zoo.data"] = ZOO, "stalled"
    process = child(server)
    assert server.half_sent.wait(60)
    process.kill()
    process.communicate()
    assert not {"zoo/zoo.csv", "zoo/zoo.data"} & set(files_in(small_zoo))
    server.files["/zoo.data"] = ZOO, "whole"
    assert len(load_dataset("zoo")) == 100


# ---------------------------------------------------------------- from the original: the known content packed in its
# form


def file_of(name, number=0):
    found = originals.find_form(CATALOGUE[name], {"stem": "T_ALL_REDUCED"})
    if not found:
        pytest.skip(f"the files of {name} are not here")
    return found[1][number]


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_zoo_and_glass_from_their_true_originals(server, nothing_here, monkeypatch, tmp_path):
    """The originals are rebuilt from the tables; the digests in the register, published by others, say that they are
    the originals.
    """
    monkeypatch.undo()
    zoo, glass = (file_of(name).read_bytes().replace(b"\r\n", b"\n") for name in ("zoo", "glass"))
    rows = zoo.decode().split("\n")[1:-1]
    after = next(i for i, row in enumerate(rows) if row.startswith("giraffe")) + 1
    originals = {
        "zoo": "\n".join(rows[:after] + ["girl,1,0,0,1,0,0,1,1,1,1,0,0,2,0,1,1,1"] + rows[after:] + [""]).encode(),
        "glass": "".join(f"{i},{row}\n" for i, row in enumerate(glass.decode().split(), 1)).encode(),
    }
    monkeypatch.delenv("COMPARISON_HC_DATA", raising=False)
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(nothing_here))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name, converted in (("zoo", zoo), ("glass", glass)):
        o = CATALOGUE[name].originals[0]
        assert sha256(originals[name]) == o.digest
        server.files[f"/{name}"] = originals[name], "whole"
        monkeypatch.setitem(
            CATALOGUE,
            name,
            dataclasses.replace(CATALOGUE[name], originals=(dataclasses.replace(o, url=f"{server.url}/{name}"),)),
        )
        load_dataset(name)
        assert (nothing_here / name / f"{name}.csv").read_bytes().strip() == converted.strip()  # line by line


def test_mnist_tsne_from_its_original():
    points, labels = file_of("mnist-tsne"), file_of("mnist-tsne", 1)
    assert sha256(points.read_bytes()) == CATALOGUE["mnist-tsne"].originals[0].digest
    made = dict(object_sets.convert_mnist_tsne(points))
    assert made == {
        "mnist_tsne/test_labels.csv": labels.read_bytes(),
        "mnist_tsne/reduced_test_X.csv": points.read_bytes(),
    }


def test_car_from_an_archive_of_its_form(tmp_path):
    folder = file_of("car").parent
    members = {
        "60_cars_data/README.txt": (folder / "README.txt").read_bytes(),
        "60_cars_data/survey_data.csv": (folder / "survey_data.csv").read_bytes(),
        "__MACOSX/60_cars_data/._README.txt": b"no",
    }
    members |= {
        f"60_cars_data/ordinal_data_preprocessed/{stem}.csv": (folder / f"{stem}.csv").read_bytes()
        for stem in ("ALL", "ALL_REDUCED", "T_ALL", "T_ALL_REDUCED")
    }
    members |= {f"60_cars_data/car_data_set_images/{i}.jpg": b"jpeg %d" % i for i in range(1, 61)}
    made = dict(answer_sets.convert_car(zip_of(tmp_path / "cars.zip", members)))
    assert len(made) == 66 and made["car/images/7.jpg"] == b"jpeg 7"
    for name in ("README.txt", "survey_data.csv", "ALL.csv", "T_ALL_REDUCED.csv"):
        assert made[f"car/{name}"] == (folder / name).read_bytes()


def test_food_from_an_archive_of_its_form(tmp_path):
    triplets, table = np.load(file_of("food"))["triplets"], file_of("food", 1)
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [f"images/{row['image_file']}" for row in rows]
    about = {
        row["image_file"]: {
            "name": row["dish_name"],
            "ingredients": [],
            "tastes": [dict(zip(("name", "percent"), t.split("="))) for t in row["tastes"].split("; ") if t],
        }
        for row in rows
        if row["dish_name"]
    }
    members = {
        "food100-dataset/all-triplets.csv": "".join(f"{names[a]};{names[b]};{names[c]}\n" for a, b, c in triplets),
        "food100-dataset/ingredients.json": json.dumps(about),
    }
    made = dict(answer_sets.convert_food(zip_of(tmp_path / "food.zip", members)))
    assert made["food100/food100_objects.csv"].decode().replace("\r\n", "\n") == table.read_text(
        encoding="utf-8"
    ).replace("\r\n", "\n")
    assert np.array_equal(np.load(io.BytesIO(made["food100/food100_triplets.npz"]))["triplets"], triplets)


def test_mnist_from_files_of_their_form(tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (7, 28, 28), dtype=np.uint8), rng.integers(0, 10, 7, dtype=np.uint8)
    (tmp_path / "i.gz").write_bytes(gzip.compress(struct.pack(">IIII", 0x803, 7, 28, 28) + images.tobytes()))
    (tmp_path / "l.gz").write_bytes(gzip.compress(struct.pack(">II", 0x801, 7) + labels.tobytes()))
    [(_, made)] = object_sets.convert_mnist(tmp_path / "i.gz", tmp_path / "l.gz")
    made = np.load(io.BytesIO(made))
    assert np.array_equal(made["images"], images) and np.array_equal(made["labels"], labels)
    (tmp_path / "l.gz").write_bytes(gzip.compress(b"not an IDX file"))
    with pytest.raises(InputError, match="an IDX file"):
        object_sets.convert_mnist(tmp_path / "i.gz", tmp_path / "l.gz")


def test_mnist_from_its_true_original(tmp_path):
    """The originals are rebuilt from the arrays, as their names and times were on the day when they were packed; the
    digests in the register, published by others, say that they are the originals.
    """
    if shutil.which("gzip") is None or "Free Software" not in run_text("gzip", "--version"):
        pytest.skip("no GNU gzip here, which packed them")
    with np.load(file_of("mnist")) as arrays:
        parts = [
            (b"t10k-images.idx3-ubyte", 885827245, struct.pack(">IIII", 0x803, 10000, 28, 28), arrays["images"]),
            (b"t10k-labels.idx1-ubyte", 885827268, struct.pack(">II", 0x801, 10000), arrays["labels"]),
        ]
    paths = []
    for (name, packed, head, array), o in zip(parts, CATALOGUE["mnist"].originals):
        body = subprocess.run(["gzip", "-6n"], input=head + array.tobytes(), stdout=subprocess.PIPE).stdout[10:]
        whole = b"\x1f\x8b\x08\x08" + struct.pack("<I", packed) + b"\0\3" + name + b"\0" + body
        assert sha256(whole) == o.digest
        paths.append(tmp_path / Path(o.path).name)
        paths[-1].write_bytes(whole)
    [(name, made)] = object_sets.convert_mnist(*paths)
    assert dict(CATALOGUE["mnist"].tables) == {name: originals.numbers_digest(made)}


def run_text(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_a_picture_with_another_point_is_refused(dataset_or_skip, tmp_path, monkeypatch, name):
    dataset_or_skip(name)
    [path] = list(copy_of(name, tmp_path, monkeypatch).glob("*.npz"))
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays)
    assert len(load_dataset(name)) == len(arrays["labels"])
    arrays["images"][-1, -1, -1] ^= 1
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=f"{path.name} must be the table as it was converted, whose numbers"):
        load_dataset(name)


def test_a_table_without_a_row_is_a_bad_file_and_no_warning(tmp_path):
    readers = [object_sets.read_glass, lambda path: object_sets.read_mnist_tsne(path, path)]
    readers.append(lambda path: answer_sets.read_car(path, "survey"))
    readers.append(lambda path: answer_sets.read_car(path, "T_ALL"))
    for read in readers:
        for text in ("", "\n \n"):
            (tmp_path / "x.csv").write_text(text)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(InputError, match="x.csv must be readable as the data set 'x'; got "):
                    originals.read_or_refuse("x", read, tmp_path / "x.csv")


def tar_of(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_cifar10_from_an_archive_of_its_form(tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (20, 32, 32, 3), dtype=np.uint8), rng.integers(0, 10, 20, dtype=np.uint8)
    records = b"".join(bytes([label]) + image.transpose(2, 0, 1).tobytes() for label, image in zip(labels, images))
    [(file, made)] = object_sets.convert_cifar10(
        tar_of(
            tmp_path / "c.tar.gz",
            {"cifar-10-batches-bin/data_batch_1.bin": b"x" * 99, "cifar-10-batches-bin/test_batch.bin": records},
        )
    )
    assert file in {form[0] for form in CATALOGUE["cifar10"].forms}
    (tmp_path / "c.npz").write_bytes(made)
    read = object_sets.read_cifar10(tmp_path / "c.npz")
    assert np.array_equal(read["images"], images) and np.array_equal(read["labels"], labels)


def test_newsgroups_from_an_archive_of_its_form(tmp_path):
    message = lambda i, words: f"From: someone{i}@here\nSubject: {words}\n\nHello {words} A äh\n".encode("latin-1")
    members = {
        f"20news-bydate-train/{group}/{i}": message(i, words)
        for group, words, ids in (("sci.space", "moon Moon orbit", range(7, 13)), ("alt.atheism", "belief", (10, 9)))
        for i in ids
    }
    members["20news-bydate-test/sci.space/99"] = message(99, "unseen unseen")
    [(_, made)] = object_sets.convert_newsgroups(tar_of(tmp_path / "n.tar.gz", members))
    (tmp_path / "n.npz").write_bytes(made)
    read = object_sets.read_newsgroups(tmp_path / "n.npz")
    assert read["objects"] == (
        "alt.atheism/10",
        "alt.atheism/9",
        "sci.space/10",
        "sci.space/11",
        "sci.space/12",
        "sci.space/7",
        "sci.space/8",
        "sci.space/9",
    )
    assert read["feature_names"] == (
        "from",
        "hello",
        "here",
        "moon",
        "orbit",
        "subject",
        "äh",
    )  # in at least five messages, two letters or more
    assert read["features"].toarray()[[0, 2]].tolist() == [[1, 1, 1, 0, 0, 1, 1], [1, 1, 1, 4, 2, 1, 1]] and read[
        "labels"
    ].tolist() == [0, 0, 1, 1, 1, 1, 1, 1]


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def png_of(values, depth, filters, palette=None):
    "An encoder after the PNG specification, to test the decoder: grey or palette, `filters` one a row."
    height, width = values.shape
    bits = ((values[:, :, None] >> np.arange(depth)[::-1]) & 1).reshape(height, -1).astype(np.uint8)
    rows, out = np.packbits(bits, axis=1).astype(int), b""
    for y, rule in enumerate(filters):
        left = [0, *rows[y][:-1]]
        up = rows[y - 1] if y else 0 * rows[y]
        corner = [0, *up[:-1]]
        guess = [(0, a, b, (a + b) // 2, paeth(a, b, c))[rule] for a, b, c in zip(left, up, corner)]
        out += bytes([rule]) + ((rows[y] - guess) % 256).astype(np.uint8).tobytes()
    part = lambda tag, data: struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    packed = zlib.compress(out)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0 if palette is None else 3, 0, 0, 0))
        + (b"" if palette is None else part(b"PLTE", bytes(palette)))
        + part(b"IDAT", packed[:9])
        + part(b"IDAT", packed[9:])
        + part(b"IEND", b"")
    )


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(1, 9), st.integers(1, 20), st.sampled_from([1, 2, 4, 8]), st.integers(0, 999))
def test_png(height, width, depth, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2**depth, (height, width))
    assert np.array_equal(read_png(png_of(values, depth, rng.integers(0, 5, height))), values * 255 // (2**depth - 1))


def test_png_with_palette_and_our_own():
    values = np.array([[0, 1, 1], [1, 0, 1]])
    assert read_png(png_of(values, 1, [0, 2], palette=[255, 255, 255, 0, 0, 0])).tolist() == [[255, 0, 0], [0, 255, 0]]
    assert read_png(png_bytes(values)).tolist() == [[0, 255, 255], [255, 0, 255]]
    with pytest.raises(InputError, match="^image must be a grey or palette PNG"):
        read_png(png_bytes(np.zeros((2, 2, 3))))


def test_omniglot_from_archives_of_their_form(tmp_path, dataset_or_skip):
    o = dataset_or_skip("omniglot")
    some = [*range(40), *range(480, 520), *range(2720 - 20, 2720)]  # letters of three alphabets
    pictures, texts = {}, {}
    for i in some:
        alphabet, letter, drawer = o.objects[i].split("/")
        path = f"{alphabet}/character{letter}/{1000 + o.labels[i]}_{drawer}"
        pictures[f"images_background_small1/{path}.png"] = png_of(1 - o.images[i].astype(int), 1, [i % 5] * 105)
        texts[f"strokes_background_small1/{path}.txt"] = "START\n" + "".join(
            "".join(f"{x:.6f},{y:.6f},{t:.6f}\n" for x, y, t in stroke) + "BREAK\n" for stroke in o.extra["strokes"][i]
        )
    [(_, made)] = drawings.convert_omniglot(zip_of(tmp_path / "i.zip", pictures), zip_of(tmp_path / "s.zip", texts))
    (tmp_path / "o.npz").write_bytes(made)
    read = drawings.read_omniglot(tmp_path / "o.npz")
    assert len(read["objects"]) == len(some) and [x.split("/")[0] for x in read["objects"]] == [
        o.objects[i].split("/")[0] for i in some
    ]
    assert np.array_equal(np.asarray(read["images"]), np.array([o.images[i] for i in some]))
    for row, i in enumerate(some):
        assert all(
            np.allclose(a, b, atol=1e-5)
            for a, b in zip(read["extra"]["strokes"][row], o.extra["strokes"][i], strict=True)
        )


@pytest.mark.parametrize("name", ON_FILE)
def test_register_is_well_formed(name):
    spec = CATALOGUE[name]
    assert spec.originals and spec.convert and spec.forms
    for o in spec.originals:
        how, digest = o.digest.split(":")
        assert (
            len(digest) == {"sha256": 64, "md5": 32}[how]
            and set(digest) <= set("0123456789abcdef")
            and o.url.startswith("http")
        )
        assert o.path not in {file for form in spec.forms for file in form}
