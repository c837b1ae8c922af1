"""Data sets: facts, search, download, conversion, errors."""

import csv
import dataclasses
import gzip
import hashlib
import http.server
import io
import itertools
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
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import zip_of

from comparison_hc.core.images import png_bytes
from comparison_hc.core.validation import InputError
from comparison_hc.datasets import Dataset, DatasetNotFoundError, list_datasets, load_dataset
from comparison_hc.evaluation import _dataset_files as files
from comparison_hc.evaluation import _dataset_readers as readers
from comparison_hc.evaluation._dataset_files import CATALOGUE

EMBEDDED = ["animals", "digits", "iris", "wine"]
ON_FILE = [name for name in CATALOGUE if name not in EMBEDDED]


ANSWERED = {  # sets in one form, and the names of their originals in it
    "material": ("triplets", ["m.zip"]),
    "music": ("triplets", ["answers.txt", "artists.txt"]),
    "things": ("odd-one-out", ["trials.txt"]),
    "nature": ("odd-one-out", ["n.zip"]),
    "vogue": ("odd-one-out", ["v.zip"]),
}


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


# ---- facts


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue_agrees_with_the_data(name, dataset_or_skip):
    data, known = dataset_or_skip(name), CATALOGUE[name]
    found = {what: data.facts()[what] for what in known["counts"]}
    assert isinstance(data, Dataset) and data.name == name and data.source and data.terms
    assert found in [known["counts"] | part for part in ({}, *known.get("parts", {}).values())]
    assert found == list_datasets().set_index("name").loc[name, list(found)].to_dict()
    assert len(data.objects) == len(set(data.objects)) and all(isinstance(x, str) and x for x in data.objects)
    for values in (data.labels, data.features, None if isinstance(data.images, tuple) else data.images):
        assert values is None or values.shape[0] == len(data)
    assert data.labels is None or set(data.labels.tolist()) == set(range(len(data.label_names)))
    assert f"{len(data):,}" in data._repr_html_() and repr(data).startswith(f"Dataset({name!r}: ")


def content(value):
    "The bytes of a field of a data set, the same on every platform."
    if hasattr(value, "indptr"):
        value = value.data, value.indices, value.indptr
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        return b"".join(map(content, value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        form = "<f8" if value.dtype.kind == "f" else "<i8"
        return str(value.shape).encode() + np.ascontiguousarray(value).astype(form).tobytes()
    return str(value).encode()


DIGESTS = {  # of everything that a reader gives, taken when the counts below were right
    ("animals", None): "f939f6fafb6b6b58",
    ("car", "T_ALL_REDUCED"): "d85e0248e4772056",
    ("car", "T_ALL"): "27269bc23bbd77f8",
    ("car", "ALL"): "904472e7c1ee7063",
    ("car", "ALL_REDUCED"): "54afea37726a9c3a",
    ("car", "survey"): "6c9a900b540df5ad",
    ("food", None): "731bcd57198a7731",
    ("material", None): "ad43e0f0d5c5ad2c",
    ("zoo", None): "aaeb295f51ca9edc",
    ("glass", None): "e625b43d8a49e8b7",
    ("newsgroups", None): "6d119744673e42ac",
    ("mnist", None): "5e9554927a405cfa",
    ("mnist-tsne", None): "e873dfbf205bd5e7",
    ("omniglot", None): "f4ab7343eff760f6",
    ("cifar10", None): "d4d2beff0b260487",
    ("digits", None): "f61c1d924dfd88f1",
    ("iris", None): "d01396538e32716b",
    ("wine", None): "9d0fc1068fc5b4bf",
}


@pytest.mark.parametrize("name, collection", DIGESTS)
def test_readers_give_the_same_content(name, collection, dataset_or_skip):
    data = dataset_or_skip(name, collection=collection)
    if name == "cifar10" and len(data) != 2000:
        pytest.skip("the digest is of the part with 2,000 photographs")
    fields = "objects labels label_names features feature_names comparisons kind respondents".split()
    values = [getattr(data, field) for field in fields]
    values += [None if isinstance(data.images, tuple) else data.images, sorted(data.extra.items())]
    assert hashlib.sha256(content(values)).hexdigest()[:16] == DIGESTS[name, collection]


def test_car_responses(dataset_or_skip):
    "The survey of 146 rounds is what ALL was made from; T_ALL_REDUCED has no contradictions."
    car, survey, everything = (dataset_or_skip("car", collection=name) for name in ("T_ALL_REDUCED", "survey", "ALL"))
    assert len(np.unique(survey.respondents)) == 146 and survey.extra["n_left_out"] == 0

    def key(rows):
        return sorted((i, *sorted((j, k))) for i, j, k in rows.tolist())

    assert key(survey.comparisons) == key(everything.comparisons)
    for data, n_unique, n_pairs in ((car, 12112, 0), (everything, 13152, 242)):
        rows = {tuple(row) for row in data.triplets.array.tolist()}
        assert len(rows) == n_unique and sum((a, c, b) in rows for a, b, c in rows) // 2 == n_pairs
    i, j, k = car.comparisons[0]
    assert {tuple(row) for row in car.triplets.array[:2].tolist()} == {(j, i, k), (k, i, j)}
    assert all(os.path.isfile(path) for path in survey.images or ())


def test_omniglot_strokes_pass_where_the_ink_is(dataset_or_skip):
    o = dataset_or_skip("omniglot")
    assert sum(len(points) for drawing in o.extra["strokes"] for points in drawing) == 375709
    for drawing in (0, 100, 2000):
        x, y = np.vstack(o.extra["strokes"][drawing])[:, :2].T
        rows, columns = (-y).round().astype(int), x.round().astype(int)
        ink = np.pad(o.images[drawing], 2)
        near = [ink[r : r + 5, c : c + 5].any() for r, c in zip(rows, columns)]
        assert np.mean(near) > 0.9


# ---- animals and simulated responses


def test_animals():
    animals = load_dataset("animals")
    names, paths = readers.leaves_and_paths(animals.extra["taxonomy"])
    assert tuple(names) == animals.objects and {len(path) for path in paths} == {4}
    assert [len(set(column)) for column in animals.extra["levels"].T] == [2, 5, 8]
    assert len({tuple(sorted(row)) for row in animals.comparisons.tolist()}) == 600  # no question twice
    assert np.array_equal(animals.comparisons, load_dataset("animals").comparisons)
    assert len(animals.triplets) == 1200 and animals.triplets.object_names[0] == "🐈 cat"
    with pytest.raises(ValueError):
        animals.comparisons[0, 0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        animals.name = "plants"


nested = st.recursive(st.just("leaf"), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=12)


def named(tree, counter):
    return f"x{next(counter)}" if tree == "leaf" else [named(child, counter) for child in tree]


@settings(max_examples=60)
@given(nested, st.integers(1, 60), st.floats(0, 1), st.integers(0, 99))
def test_answers_follow_the_taxonomy_except_for_the_stated_share(tree, n_answers, wrong, seed):
    taxonomy, groups = named(tree, itertools.count()), []

    def leaves(node):
        if isinstance(node, str):
            return [node]
        found = [leaf for child in node for leaf in leaves(child)]
        groups.append(frozenset(found))
        return found

    def odd_one(three):
        "The one outside some group that holds the other two, if there is such a group."
        return {odd for odd in three if any(odd not in g and set(three) - {odd} <= g for g in groups)}

    names = leaves(taxonomy)
    decided = [three for three in itertools.combinations(names, 3) if odd_one(three)]
    if not decided:
        with pytest.raises(InputError, match="^taxonomy must be"):
            readers.odd_one_out_answers(taxonomy, n_answers, wrong, seed)
        return
    rows = readers.odd_one_out_answers(taxonomy, n_answers, wrong, seed)
    odd = [odd_one([names[i] for i in row]) for row in rows]
    assert rows.shape == (n_answers, 3) and all(odd)
    assert sum(found != {names[row[0]]} for found, row in zip(odd, rows)) == round(wrong * n_answers)
    assert len({frozenset(row) for row in rows.tolist()}) == min(n_answers, len(decided)) or n_answers > len(decided)


@pytest.mark.parametrize(
    "name, changed",
    [
        *(("taxonomy", dict(taxonomy=bad)) for bad in (["a", "b"], "abc", ["a", "b", "c"])),
        ("n_answers", dict(n_answers=1.5)),
        ("wrong", dict(wrong=1.1)),
        ("rng", dict(rng=-1)),
    ],
)
def test_answers_bad_input(name, changed):
    with pytest.raises(InputError, match=f"^{name} must be"):
        readers.odd_one_out_answers(**{"taxonomy": [["a", "b"], "c"], "n_answers": 1, **changed})


# ---- errors


@pytest.mark.parametrize(
    "arguments, argument",
    [
        (dict(name="cars"), "name"),
        (dict(name=["car"]), "name"),
        (dict(name="zoo", collection="ALL"), "collection"),
        (dict(name="car", collection="SOME"), "collection"),
    ],
)
def test_bad_arguments(arguments, argument):
    with pytest.raises(InputError, match=f"^{argument} must be") as error:
        load_dataset(**arguments)
    assert argument != "name" or all(repr(name) in str(error.value) for name in CATALOGUE)


def test_no_comparisons():
    with pytest.raises(InputError, match="^dataset must be one with answers"):
        _ = load_dataset("iris").triplets


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    "An empty cache, no data folder, no proxy."
    monkeypatch.delenv("COMPARISON_HC_DATA", raising=False)
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path / "cache"))
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    return tmp_path / "cache"


@pytest.mark.parametrize("name", ON_FILE)
def test_absent(name, empty_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "data"))
    with pytest.raises(DatasetNotFoundError) as error:
        load_dataset(name, download=False)
    text = str(error.value)
    assert isinstance(error.value, FileNotFoundError) and "\n" not in text
    assert str(tmp_path / "data") in text and str(empty_cache) in text
    for original in CATALOGUE[name]["originals"]:
        assert original["url"] in text and original["path"] in text
    assert all(file in text for file in files.converted_files(name, "T_ALL_REDUCED")[0])
    assert not empty_cache.exists()
    row = list_datasets().set_index("name").loc[name]
    assert row["where"] == "not here" and row["download"] == (name != "omniglot")


@pytest.mark.parametrize("name", [name for name in ON_FILE if name not in ("food", "mnist-tsne")])
@pytest.mark.parametrize("content", [b"<html>moved</html>\n1,2,3\n", b"\xff\xfe\x00", b"PK\x03\x04", b"", b"\n \n"])
def test_unreadable_file(name, content, empty_cache):
    path = empty_cache / files.converted_files(name, "T_ALL_REDUCED")[0][0]
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="must be readable as the data set") as error:
            load_dataset(name)
    assert str(path) in str(error.value)


def with_catalogue(monkeypatch, name, **changes):
    monkeypatch.setitem(CATALOGUE, name, CATALOGUE[name] | changes)


def test_data_folder_comes_before_the_cache(empty_cache, tmp_path, monkeypatch):
    with_catalogue(monkeypatch, "zoo", digests={})
    for folder, animal in ((empty_cache, "cached"), (tmp_path / "data", "given")):
        (folder / "zoo").mkdir(parents=True)
        (folder / "zoo" / "zoo.csv").write_text(readers.ZOO_HEADER + f"\n{animal},1,0,0,1,0,0,1,1,1,1,0,0,4,0,0,1,1\n")
    assert load_dataset("zoo").objects == ("cached",)
    assert list_datasets().set_index("name").loc["zoo", "where"] == "cache"
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "data"))
    assert load_dataset("zoo").objects == ("given",)
    assert list_datasets().set_index("name").loc["zoo", "where"] == "data folder"


# ---- download from a local server


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        data, how = self.server.files.get(self.path, (b"", "absent"))
        self.server.asked.append(self.path)
        if how == "absent":
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data if how == "whole" else data[: len(data) // 2])
        self.wfile.flush()
        if how == "stalled":
            self.server.half_sent.set()
            self.server.go_on.wait(20)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.asked, server.daemon_threads = {}, [], True
        server.half_sent, server.go_on = threading.Event(), threading.Event()
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


def small_original(server, digest=None):
    return dict(path="zoo/zoo.data", url=server.url + "/zoo.data", digest=digest or sha256(ZOO))


@pytest.fixture
def small_zoo(server, empty_cache, monkeypatch):
    "The catalogue with another zoo.data, on the local server."
    with_catalogue(monkeypatch, "zoo", digests={}, originals=[small_original(server)])
    server.files["/zoo.data"] = ZOO, "whole"
    return empty_cache


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_download_once(server, small_zoo, capfd):
    first = load_dataset("zoo")
    assert first.objects[:3] == ("bear", "wren", "bear (2)") and len(first) == 100
    assert files_in(small_zoo) == ["zoo/zoo.csv", "zoo/zoo.data"]
    assert load_dataset("zoo").objects == first.objects and server.asked == ["/zoo.data"]
    assert capfd.readouterr() == ("", "")  # a library prints nothing


@pytest.mark.parametrize(
    "data, how, says", [(ZOO + b"x", "whole", "SHA256"), (ZOO, "half", ""), (b"", "absent", "404")]
)
def test_failed_download_leaves_nothing(data, how, says, server, small_zoo):
    server.files["/zoo.data"] = data, how
    with pytest.raises(DatasetNotFoundError, match="zoo/zoo.csv not found in .*The download failed") as error:
        load_dataset("zoo")
    text = str(error.value)
    assert says in text and str(small_zoo) in text and server.url in text and "\n" not in text
    assert files_in(small_zoo) == []
    server.files["/zoo.data"] = ZOO, "whole"
    assert len(load_dataset("zoo")) == 100


def test_no_network_or_no_cache(server, small_zoo, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("not a folder")
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path / "a file" / "cache"))
    with pytest.raises(DatasetNotFoundError, match="zoo/zoo.csv not found"):
        load_dataset("zoo")
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(small_zoo))
    with_catalogue(monkeypatch, "zoo", originals=[small_original(server) | {"url": "http://127.0.0.1:1/zoo.data"}])
    with pytest.raises(DatasetNotFoundError, match="The download failed"):
        load_dataset("zoo")


def test_without_a_sha256_nothing_is_downloaded(server, small_zoo, monkeypatch):
    with_catalogue(monkeypatch, "zoo", originals=[small_original(server, "md5:" + hashlib.md5(ZOO).hexdigest())])
    with pytest.raises(DatasetNotFoundError, match="There is no SHA-256 for zoo.data.*by hand"):
        load_dataset("zoo")
    assert server.asked == [] and not small_zoo.exists()
    (small_zoo / "zoo").mkdir(parents=True)
    (small_zoo / "zoo" / "zoo.data").write_bytes(ZOO)
    assert len(load_dataset("zoo")) == 100 and server.asked == []


def test_original_put_there_by_hand_is_verified(server, small_zoo, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "zoo").mkdir(parents=True)
    original = tmp_path / "data" / "zoo" / "zoo.data"
    original.write_bytes(ZOO + b"\n")
    with pytest.raises(InputError, match="zoo.data must be the original from .* whose SHA256 is"):
        load_dataset("zoo")
    assert files_in(tmp_path) == ["data/zoo/zoo.data"] and server.asked == []
    original.write_bytes(ZOO)
    assert len(load_dataset("zoo", download=False)) == 100
    assert files_in(tmp_path) == ["cache/zoo/zoo.csv", "data/zoo/zoo.data"]


CHILD = """
import sys
from comparison_hc.evaluation._dataset_files import CATALOGUE
from comparison_hc.datasets import load_dataset
CATALOGUE["zoo"] |= dict(digests={}, originals=[dict(path="zoo/zoo.data", url=sys.argv[1], digest=sys.argv[2])])
load_dataset("zoo")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_in_the_middle(server, small_zoo):
    server.files["/zoo.data"] = ZOO, "stalled"
    process = subprocess.Popen([sys.executable, "-c", CHILD, server.url + "/zoo.data", sha256(ZOO)])
    assert server.half_sent.wait(60)
    process.kill()
    process.communicate()
    assert not {"zoo/zoo.csv", "zoo/zoo.data"} & set(files_in(small_zoo))
    server.files["/zoo.data"] = ZOO, "whole"
    assert len(load_dataset("zoo")) == 100


# ---- changed files


def paths_of(name):
    found = files.find_files(files.converted_files(name, "T_ALL_REDUCED"))
    return found[1] if found else pytest.skip(f"the files of {name} are not here")


def copy_of(name, folder, monkeypatch):
    "The folder of a set, copied to the data folder that is used from now on."
    home = paths_of(name)[0].parent
    shutil.copytree(home, folder / home.name)
    monkeypatch.setenv("COMPARISON_HC_DATA", str(folder))
    return folder / home.name


@pytest.mark.parametrize("name", ["zoo", "glass", "car", "food", "mnist-tsne"])
def test_a_converted_table_that_was_cut_or_changed_is_refused(name, tmp_path, monkeypatch):
    names, folder = [path.name for path in paths_of(name)], copy_of(name, tmp_path, monkeypatch)
    for path in (folder / file for file in names if file.endswith(".csv")):
        text = path.read_bytes()
        cut = text[: text.rindex(b"\n", 0, len(text) // 2) + 1]
        for changed in (cut, cut[:-9], text.replace(b"1", b"2", 1)):
            path.write_bytes(changed)
            with pytest.raises(InputError, match=f"{path.name}.* must be"):
                load_dataset(name)
        path.write_bytes(text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        assert load_dataset(name)  # line ends do not matter


@pytest.mark.parametrize("name, array", [("food", "triplets"), ("mnist", "images"), ("cifar10", "images")])
def test_changed_arrays_are_refused_however_they_are_packed(name, array, tmp_path, monkeypatch):
    path = next(copy_of(name, tmp_path, monkeypatch).glob("*.npz"))
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays)  # another file with the same content
    assert load_dataset(name)
    arrays[array] = arrays[array].copy()
    arrays[array].flat[-1] ^= 1
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=f"{path.name} must be as it was converted"):
        load_dataset(name)


def test_changed_answers_are_refused_however_they_are_packed(tmp_path, monkeypatch):
    path = copy_of("material", tmp_path, monkeypatch) / "answers.csv.gz"
    text = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(text.replace(b"\r\n", b"\n"), 1))
    assert len(load_dataset("material").comparisons) == 20000
    for changed in (text[: text.rindex(b"\n", 0, -1) + 1], text.replace(b"chrome,", b"nickel,", 1)):
        path.write_bytes(gzip.compress(changed))
        with pytest.raises(InputError, match="answers.csv.gz must be as it was converted"):
            load_dataset("material")


def test_a_damaged_picture_is_refused(tmp_path, monkeypatch):
    paths_of("car")
    if load_dataset("car").images is None:
        pytest.skip("no pictures here")
    folder = copy_of("car", tmp_path, monkeypatch) / "images"
    assert len(load_dataset("car").images) == 60
    picture = folder / "7.jpg"
    picture.write_bytes(picture.read_bytes()[:-1] + b"0")
    with pytest.raises(InputError, match="images must be the folder of sixty photographs whose"):
        load_dataset("car")
    picture.unlink()
    with pytest.raises(InputError, match="must be readable as the data set 'car'.*7.jpg"):
        load_dataset("car")
    shutil.rmtree(folder)
    assert load_dataset("car").images is None


# ---- conversion: the known content, packed in the form of the original


def test_zoo_and_glass_from_their_true_originals(tmp_path):
    "The originals are rebuilt from the tables; published digests say that they are the originals."
    zoo, glass = (paths_of(name)[0].read_bytes().replace(b"\r\n", b"\n") for name in ("zoo", "glass"))
    rows = zoo.decode().split("\n")[1:-1]
    after = next(i for i, row in enumerate(rows) if row.startswith("giraffe")) + 1
    rows.insert(after, "girl,1,0,0,1,0,0,1,1,1,1,0,0,2,0,1,1,1")
    glass_rows = "".join(f"{i},{row}\n" for i, row in enumerate(glass.decode().split(), 1))
    for name, text, converted in (("zoo", "\n".join([*rows, ""]), zoo), ("glass", glass_rows, glass)):
        assert sha256(text.encode()) == CATALOGUE[name]["originals"][0]["digest"]
        (tmp_path / name).write_bytes(text.encode())
        [(_, made)] = getattr(readers, f"convert_{name}")(tmp_path / name)
        assert made.strip() == converted.strip()


def test_mnist_tsne_from_its_original():
    points, labels = paths_of("mnist-tsne")
    assert sha256(points.read_bytes()) == CATALOGUE["mnist-tsne"]["originals"][0]["digest"]
    made = {"mnist_tsne/test_labels.csv": labels.read_bytes(), "mnist_tsne/reduced_test_X.csv": points.read_bytes()}
    assert dict(readers.convert_mnist_tsne(points)) == made


def test_car_from_an_archive_of_its_form(tmp_path):
    folder = paths_of("car")[0].parent
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
    made = dict(readers.convert_car(zip_of(tmp_path / "cars.zip", members)))
    assert len(made) == 66 and made["car/images/7.jpg"] == b"jpeg 7"
    for name in ("README.txt", "survey_data.csv", "ALL.csv", "T_ALL_REDUCED.csv"):
        assert made[f"car/{name}"] == (folder / name).read_bytes()


def test_food_from_an_archive_of_its_form(tmp_path):
    answers, table = paths_of("food")
    triplets = np.load(answers)["triplets"]
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
    made = dict(readers.convert_food(zip_of(tmp_path / "food.zip", members)))
    made_table = made["food100/food100_objects.csv"].replace(b"\r\n", b"\n")
    assert made_table == table.read_bytes().replace(b"\r\n", b"\n")
    assert np.array_equal(np.load(io.BytesIO(made["food100/food100_triplets.npz"]))["triplets"], triplets)


def small_answers(name):
    "(bytes of originals in the form of the set, answers in names, who gave them): 40 answers about 7 objects."
    rng = np.random.default_rng(len(name))
    objects = [str(i) for i in range(7)] if name == "things" else [f"{name}-{letter}" for letter in "dgbafce"]
    answers = [tuple(rng.choice(objects, 3, replace=False).tolist()) for _ in range(40)]
    people = [f"u{i}" for i in rng.integers(0, 5, 40)] if name == "music" else None
    if name == "music":
        number = {artist: 10 * i for i, artist in enumerate(objects, 1)}
        cells = [" ".join(str(number[artist]) for artist in answer) for answer in answers]
        lines = [f"{i} S {user} {three}" for i, (user, three) in enumerate(zip(people, cells))]
        lines[7:7] = ["90 G u1 10 20 ", "91 G u1 10 20 10", "92 G u1 10 10 30"]  # not of three artists
        lines = ["judgement source user target chosen other", *lines, "(43 rows)", ""]
        known = [f"{artist} {n}" for artist, n in number.items() if artist != objects[2]]
        answers = [tuple(f"artist {number[x]}" if x == objects[2] else x for x in answer) for answer in answers]
        return ["\n".join([*lines, ""]).encode(), "\n".join(known).encode()], answers, people
    if name == "material":
        order, count = sorted(objects), {answer: answers.count(answer) for answer in answers}
        questions = {(head, *sorted(pair)) for head, *pair in answers}
        rows = [[[order.index(x) for x in q], [count.get(q, 0), count.get((q[0], q[2], q[1]), 0)]] for q in questions]
        members = {f"data/havran1_ennis_298x298_LDR/{x}.jpg": "no picture" for x in objects}
        members |= {"README.md": "", "__media__/a.jpg": ""}
        for part, some in (("train", rows[9:]), ("test", rows[:9])):
            table = dict(answers=[q for q, _ in some], agreement=[n for _, n in some], answers_diff=[[0, 1, 2]])
            members[f"data/answers_processed_{part}.json"] = json.dumps(table)
        members = {f"material-e5fc/{member}": data for member, data in members.items()}
        return [zip_of(io.BytesIO(), members).getvalue()], answers, None
    lines = "".join(f"{one} {other} {odd}\n" for odd, one, other in answers) + "\n"
    if name == "things":
        return [lines.encode()], answers, None
    members = {"nature/nature_triplets.txt": "x y z\n", "vogue/vogue_triplets.txt": "x y z\n", "vogue/x.jpg": ""}
    members[f"{name}/{name}_triplets.txt"] = lines
    return [zip_of(io.BytesIO(), members).getvalue()], answers, None


@pytest.mark.parametrize("name", ANSWERED)
def test_answers_from_originals_of_their_form(name, empty_cache, monkeypatch):
    "All answers are read as they were given; other bytes and other counts are refused; the copy lasts."
    (kind, paths), (contents, answers, people) = ANSWERED[name], small_answers(name)
    assert len(CATALOGUE[name]["originals"]) == len(paths)
    originals = [
        dict(path=f"{name}/{path}", url="http://127.0.0.1:1", digest=sha256(data))
        for path, data in zip(paths, contents)
    ]
    counts = CATALOGUE[name]["counts"] | dict(objects=7, comparisons=40)
    with_catalogue(monkeypatch, name, originals=originals, counts=counts)
    for original, data in zip(originals, contents):
        path = empty_cache / original["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data + b" ")
        with pytest.raises(InputError, match="must be the original from .* whose SHA256 is|not found"):
            load_dataset(name, download=False)
        path.write_bytes(data)
    for wrong in (dict(objects=8), dict(comparisons=39)):
        with monkeypatch.context() as patch:
            with_catalogue(patch, name, counts=counts | wrong)
            with pytest.raises(InputError, match="must be .* as its published loader counts; got .40, 7."):
                load_dataset(name, download=False)
    data = load_dataset(name, download=False)
    given = [tuple(data.objects[i] for i in row) for row in data.comparisons.tolist()]
    in_order = sorted if name == "material" else list  # which has counts
    assert data.kind == kind and in_order(given) == in_order(answers)
    assert (data.respondents is None) == (people is None) and (people is None or data.respondents.tolist() == people)
    head, winner, loser = answers[0] if kind == "triplets" else (answers[0][1], answers[0][2], answers[0][0])
    named = [[data.objects[i] for i in row] for row in data.triplets.array.tolist()]
    assert [head, winner, loser] in named and len(named) == (40 if kind == "triplets" else 80)
    for original in originals:
        (empty_cache / original["path"]).unlink()
    assert np.array_equal(load_dataset(name, download=False).comparisons, data.comparisons)
    assert list_datasets().set_index("name").loc[name, "where"] == "cache"


def test_mnist_from_its_true_original(tmp_path):
    """The originals are rebuilt from the arrays, as their names and times were on the day when they were packed; the
    digests in the register, published by others, say that they are the originals.
    """
    if shutil.which("gzip") is None or "Free Software" not in run_text("gzip", "--version"):
        pytest.skip("no GNU gzip here, which packed them")
    with np.load(paths_of("mnist")[0]) as arrays:
        parts = [
            (b"t10k-images.idx3-ubyte", 885827245, struct.pack(">IIII", 0x803, 10000, 28, 28), arrays["images"]),
            (b"t10k-labels.idx1-ubyte", 885827268, struct.pack(">II", 0x801, 10000), arrays["labels"]),
        ]
    paths = []
    for (name, packed, head, array), original in zip(parts, CATALOGUE["mnist"]["originals"]):
        body = subprocess.run(["gzip", "-6n"], input=head + array.tobytes(), stdout=subprocess.PIPE).stdout[10:]
        whole = b"\x1f\x8b\x08\x08" + struct.pack("<I", packed) + b"\0\3" + name + b"\0" + body
        assert sha256(whole) == original["digest"]
        paths.append(tmp_path / Path(original["path"]).name)
        paths[-1].write_bytes(whole)
    [(name, made)] = readers.convert_mnist(*paths)
    assert CATALOGUE["mnist"]["digests"] == {name: files.content_digest(made, ".npz")}
    paths[1].write_bytes(gzip.compress(b"not an IDX file"))
    with pytest.raises(InputError, match="an IDX file"):
        readers.convert_mnist(*paths)


def run_text(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


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
    members = {"data_batch_1.bin": b"x" * 99, "test_batch.bin": records}
    members = {f"cifar-10-batches-bin/{name}": data for name, data in members.items()}
    [(file, made)] = readers.convert_cifar10(tar_of(tmp_path / "c.tar.gz", members))
    assert [file] in files.converted_files("cifar10")
    (tmp_path / "c.npz").write_bytes(made)
    read = readers.read_cifar10(tmp_path / "c.npz")
    assert np.array_equal(read["images"], images) and np.array_equal(read["labels"], labels)


def test_newsgroups_from_an_archive_of_its_form(tmp_path):
    message = lambda i, words: f"From: someone{i}@here\nSubject: {words}\n\nHello {words} A äh\n".encode("latin-1")
    members = {
        f"20news-bydate-train/{group}/{i}": message(i, words)
        for group, words, ids in (("sci.space", "moon Moon orbit", range(7, 13)), ("alt.atheism", "belief", (10, 9)))
        for i in ids
    }
    members["20news-bydate-test/sci.space/99"] = message(99, "unseen unseen")
    [(_, made)] = readers.convert_newsgroups(tar_of(tmp_path / "n.tar.gz", members))
    (tmp_path / "n.npz").write_bytes(made)
    read = readers.read_newsgroups(tmp_path / "n.npz")
    assert read["objects"] == ("alt.atheism/10", "alt.atheism/9", *(f"sci.space/{i}" for i in (10, 11, 12, 7, 8, 9)))
    # in at least five messages, two letters or more
    assert read["feature_names"] == tuple("from hello here moon orbit subject äh".split())
    assert read["features"].toarray()[[0, 2]].tolist() == [[1, 1, 1, 0, 0, 1, 1], [1, 1, 1, 4, 2, 1, 1]]
    assert read["labels"].tolist() == [0, 0, 1, 1, 1, 1, 1, 1]


def test_omniglot_from_archives_of_their_form(tmp_path, dataset_or_skip):
    o = dataset_or_skip("omniglot")
    some = [*range(40), *range(480, 520), *range(2720 - 20, 2720)]  # letters of three alphabets
    pictures, texts = {}, {}
    for i in some:
        alphabet, letter, drawer = o.objects[i].split("/")
        path = f"{alphabet}/character{letter}/{1000 + o.labels[i]}_{drawer}"
        pictures[f"images_background_small1/{path}.png"] = png_bytes(~o.images[i])
        texts[f"strokes_background_small1/{path}.txt"] = "START\n" + "".join(
            "".join(f"{x:.6f},{y:.6f},{t:.6f}\n" for x, y, t in stroke) + "BREAK\n" for stroke in o.extra["strokes"][i]
        )
    [(_, made)] = readers.convert_omniglot(zip_of(tmp_path / "i.zip", pictures), zip_of(tmp_path / "s.zip", texts))
    (tmp_path / "o.npz").write_bytes(made)
    read = readers.read_omniglot(tmp_path / "o.npz")
    assert len(read["objects"]) == len(some)
    assert [x.split("/")[0] for x in read["objects"]] == [o.objects[i].split("/")[0] for i in some]
    assert np.array_equal(np.asarray(read["images"]), np.array([o.images[i] for i in some]))
    for row, i in enumerate(some):
        assert all(
            np.allclose(a, b, atol=1e-5)
            for a, b in zip(read["extra"]["strokes"][row], o.extra["strokes"][i], strict=True)
        )


@pytest.mark.parametrize("name", ON_FILE)
def test_catalogue_is_well_formed(name):
    for original in CATALOGUE[name]["originals"]:
        algorithm, digest = original["digest"].split(":")
        assert len(digest) == {"sha256": 64, "md5": 32}[algorithm] and set(digest) <= set("0123456789abcdef")
        assert original["url"].startswith("http")
        assert all(original["path"] not in form for form in CATALOGUE[name]["files"])
    assert hasattr(readers, "convert_" + name.replace("-", "_"))
