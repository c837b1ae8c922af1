"""Converters from the originals of the data sets to plain files, and readers of these files."""

import csv
import gzip
import io
import json
import tarfile
from functools import partial
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from ._dataset_files import CATALOGUE
from ..core._columns import sorted_names
from ..core.images import read_png
from ..core.validation import as_rng, check_integer, check_number, require

CAR_COLLECTIONS = {name: name for name in ("T_ALL_REDUCED", "ALL", "ALL_REDUCED", "T_ALL")} | {"survey": "survey_data"}
TASTES = ("Salty", "Savory", "Sour", "Bitter", "Sweet", "Spicy")
ZOO_HEADER = (
    "animal_name,hair,feathers,eggs,milk,airborne,aquatic,predator,toothed,backbone,breathes,venomous,fins,legs,tail,"
    "domestic,catsize,class_type"
)
ANSWER_COLUMNS = {"triplets": ("head", "winner", "loser"), "odd-one-out": ("odd", "one", "other")}
DIGITS = tuple("0123456789")
MNIST_TEST_COUNTS = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)


def _numbers(path, skip_rows=0):
    return np.loadtxt(path, delimiter=",", skiprows=skip_rows, ndmin=2, comments=None, encoding="utf-8")


def _arrays(path):
    with np.load(path) as file:
        return dict(file)


def _packed(**arrays):
    "The bytes of a compressed .npz file."
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _numbered(n_objects):
    return tuple(map(str, range(n_objects)))


def _distinct(names):
    "Names without repetition: the second one of a name gets (2), and so on."
    count, found = {}, []
    for name in names:
        count[name] = count.get(name, 0) + 1
        found.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return tuple(found)


# ---- animals: a taxonomy and simulated responses


def leaves_and_paths(taxonomy):
    "The leaves of nested lists from left to right, and the path from the root to each."
    names, paths, stack = [], [], [((), taxonomy)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, str):
            names.append(node)
            paths.append(path)
        else:
            stack += [(path + (branch,), child) for branch, child in reversed(list(enumerate(node)))]
    return names, paths


def _lca_depths(paths):
    "(N, N) depth of the lowest common ancestor of every two leaves."
    n, depth = len(paths), max(map(len, paths))
    steps = np.array([path + (-1 - i,) * (depth - len(path)) for i, path in enumerate(paths)]).reshape(n, depth)
    return np.logical_and.accumulate(steps[:, None] == steps[None, :], axis=2).sum(axis=2)


def odd_one_out_answers(taxonomy, n_answers, wrong=0.05, rng=0):
    """Simulated answers (odd, other, other) to "which is the odd one out?", a share `wrong` of them false.

    Only triples with an odd one are asked, none twice while others remain. All C(N, 3) triples are listed, which
    suits taxonomies of up to a few hundred leaves.
    """
    require(isinstance(taxonomy, (list, tuple)), "taxonomy", "nested lists of names", taxonomy)
    names, paths = leaves_and_paths(taxonomy)
    require(len(names) >= 3, "taxonomy", "nested lists with at least three names", taxonomy)
    n_answers, wrong, rng = check_integer(n_answers, "n_answers"), check_number(wrong, "wrong", 0, 1), as_rng(rng)
    depth, triples = _lca_depths(paths), np.array(list(combinations(range(len(names)), 3)))
    rows = np.vstack([triples[:, order] for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1])])  # each as the odd one
    odd, a, b = rows.T
    rows = rows[depth[a, b] > np.maximum(depth[odd, a], depth[odd, b])]
    require(len(rows) > 0, "taxonomy", "nested so that some triple has an odd one out", taxonomy)
    rows = rows[rng.choice(len(rows), n_answers, replace=n_answers > len(rows))]
    for row in rng.choice(n_answers, round(wrong * n_answers), replace=False):
        rows[row] = np.roll(rows[row], rng.integers(1, 3))  # one of the other two is called odd
    return rows


def read_animals():
    halves = CATALOGUE["animals"]["taxonomy"]
    taxonomy = [[list(families.values()) for families in classes.values()] for classes in halves.values()]
    levels = [
        (half, name, family)
        for half, classes in halves.items()
        for name, families in classes.items()
        for family, animals in families.items()
        for _ in animals
    ]
    classes = tuple(dict.fromkeys(name for _, name, _ in levels))
    return dict(
        objects=tuple(leaves_and_paths(taxonomy)[0]),
        labels=np.array([classes.index(name) for _, name, _ in levels]),
        label_names=classes,
        comparisons=odd_one_out_answers(taxonomy, 600, wrong=0.05, rng=24),
        kind="odd-one-out",
        extra={"taxonomy": taxonomy, "levels": np.array(levels), "n_wrong": 30},
    )


# ---- responses of people: cars and dishes


def convert_car(archive):
    "The members of 60_cars_data.zip by their names, whatever their folder; the answers last."
    with ZipFile(archive) as members:
        plain = {Path(m).name: m for m in members.namelist() if not m.endswith("/") and "__MACOSX" not in m}
        pictures = [f"{i}.jpg" for i in range(1, 61) if f"{i}.jpg" in plain]
        texts = ["README.txt", *(f"{stem}.csv" for stem in CAR_COLLECTIONS.values())]
        made = [(f"car/images/{file}", members.read(plain[file])) for file in pictures]
        return made + [(f"car/{file}", members.read(plain[file])) for file in texts]


def _car_images(folder):
    "Paths of the sixty photographs, if there is a folder of them."
    if not folder.is_dir():
        return None
    paths, digest = [folder / f"{i}.jpg" for i in range(1, 61)], CATALOGUE["car"]["digests"]["car/images"]
    found = sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    rule = f"the folder of sixty photographs whose common SHA-256 is {digest} (without a folder, there are none)"
    require(found == digest, str(folder), rule, found)
    return tuple(map(str, paths))


def read_car(answers, collection):
    "Rows (most central, other, other) of car numbers from 1; the survey has the time and the three cars as shown."
    class_of = {car: code for code, cars in enumerate(CATALOGUE["car"]["classes"].values()) for car in cars}
    fields = dict(
        objects=tuple(map(str, range(1, 61))),
        labels=np.array([class_of[car] for car in range(1, 61)]),
        label_names=tuple(CATALOGUE["car"]["classes"]),
        kind="central",
        images=_car_images(answers.parent / "images"),
        extra={"collection": collection},
    )
    if collection != "survey":
        return fields | dict(comparisons=_numbers(answers).astype(np.int64) - 1)
    table = _numbers(answers, skip_rows=1)
    rounds, chosen, shown = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2:5].astype(np.int64)
    good = (shown == chosen[:, None]).sum(axis=1) == 1
    rounds, chosen, shown = rounds[good], chosen[good], shown[good]
    others = shown[shown != chosen[:, None]].reshape(-1, 2)
    fields["extra"] |= {"response_time": table[good, 5], "shown": shown - 1, "n_left_out": int((~good).sum())}
    return fields | dict(comparisons=np.column_stack([chosen, others]) - 1, respondents=rounds)


def convert_food(archive):
    "food100-dataset.zip: file names become numbers in the order of the sorted names."
    with ZipFile(archive) as members:
        plain = {Path(m).name: m for m in members.namelist() if "__MACOSX" not in m}
        lines = members.read(plain["all-triplets.csv"]).decode().splitlines()
        rows = [[Path(cell.strip()).name for cell in line.split(";")] for line in lines if line.strip()]
        about = json.loads(members.read(plain["ingredients.json"]))
    about = {Path(file).name: dish for file, dish in about.items()}
    files = sorted({cell for row in rows for cell in row})
    number = {file: i for i, file in enumerate(files)}
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["index", "image_file", "dish_name", "tastes"])
    for i, file in enumerate(files):
        dish = about.get(file) or {}
        tastes = "; ".join(f"{taste['name']}={taste['percent']}" for taste in dish.get("tastes") or ())
        table.writerow([i, file, dish.get("name") or "", tastes])
    triplets = np.array([[number[cell] for cell in row] for row in rows], np.uint8)
    return [
        ("food100/food100_objects.csv", text.getvalue().encode()),
        ("food100/food100_triplets.npz", _packed(triplets=triplets)),
    ]


def read_food(answers, dishes):
    with open(dishes, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, restval=""))
    tastes = np.full((len(rows), len(TASTES)), np.nan)
    for i, row in enumerate(rows):
        for taste in filter(None, row["tastes"].split("; ")):
            name, percent = taste.split("=")
            tastes[i, TASTES.index(name)] = float(percent)
    return dict(
        objects=_distinct(row["dish_name"].strip() or f"dish {row['index']}" for row in rows),
        comparisons=np.load(answers)["triplets"].astype(np.int64),
        kind="triplets",
        extra={"tastes": tastes, "taste_names": TASTES, "image_files": tuple(row["image_file"] for row in rows)},
    )


# ---- responses of people in one form: materials, musicians, things, scenes, covers


def _answers_file(name, kind, rows):
    "Three names per row, and who answered, if that is known; refused if the published loader counts other rows."
    found = len(rows), len({cell for row in rows for cell in row[:3]})
    counts = CATALOGUE[name]["counts"]
    rule = f"{counts['comparisons']:,} answers about {counts['objects']:,} objects, as its published loader counts"
    require(found == (counts["comparisons"], counts["objects"]), f"the original of {name!r}", rule, found)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow((*ANSWER_COLUMNS[kind], "participant")[: len(rows[0])])
    table.writerows(rows)
    return CATALOGUE[name]["files"][-1][0], gzip.compress(text.getvalue().encode(), mtime=0)


def _read_answers(path):
    "A file of answers, whose header tells the kind."
    from pandas import Categorical, read_csv

    table = read_csv(path, dtype=str, keep_default_na=False)
    cells = table.iloc[:, :3].to_numpy()
    names = sorted_names(set(cells.ravel()))
    people = table.get("participant")
    return dict(
        objects=tuple(names),
        comparisons=Categorical(cells.ravel(), categories=names).codes.reshape(-1, 3).astype(np.int64),
        kind={columns: kind for kind, columns in ANSWER_COLUMNS.items()}[tuple(table.columns[:3])],
        respondents=None if people is None else people.to_numpy(dtype=str),
    )


read_material = read_music = read_things = read_nature = read_vogue = _read_answers


def convert_material(archive):
    "Questions (reference, a, b) with the numbers of people who chose a and b; the sorted pictures name the materials."
    with ZipFile(archive) as members:
        plain = {member.split("/", 1)[1]: member for member in members.namelist()}
        parts = [json.loads(members.read(plain[f"data/answers_processed_{part}.json"])) for part in ("train", "test")]
    pictures = [Path(file) for file in plain if file.endswith(".jpg")]
    names = sorted(file.stem for file in pictures if file.parent.name == "havran1_ennis_298x298_LDR")
    rows = []
    for part in parts:
        for question, (n_first, n_second) in zip(part["answers"], part["agreement"]):
            head, first, second = (names[i] for i in question)
            rows += [(head, first, second)] * n_first + [(head, second, first)] * n_second
    return [_answers_file("material", "triplets", rows)]


def convert_music(answers, artists):
    "Lines of judgement, source, user, target, chosen and other artist; the first line and the last two are none."
    name_of = dict(reversed(line.split()) for line in artists.read_text().splitlines())
    rows = []
    for line in answers.read_text().splitlines()[1:-2]:
        _, _, user, *three = line.split(" ")
        if all(three) and len(set(three)) == 3:  # some judgements have no other artist, or one artist twice
            rows.append((*(name_of.get(artist, f"artist {artist}") for artist in three), user))
    return [_answers_file("music", "triplets", rows)]


def _last_is_odd(lines):
    return [(odd, one, other) for one, other, odd in map(str.split, filter(str.strip, lines))]


def convert_things(trials):
    "Numbers of three objects per line, the odd one last. Names are left out: the authors' list has another order."
    return [_answers_file("things", "odd-one-out", _last_is_odd(trials.read_text().splitlines()))]


def _convert_pictures(name, archive):
    "nature_and_vogue_triplets.zip has one table for each set: three files of pictures per line, the odd one last."
    with ZipFile(archive) as members:
        lines = members.read(f"{name}/{name}_triplets.txt").decode().splitlines()
    return [_answers_file(name, "odd-one-out", _last_is_odd(lines))]


convert_nature, convert_vogue = (partial(_convert_pictures, name) for name in ("nature", "vogue"))


# ---- tables, word counts, pictures


def convert_zoo(table):
    "zoo.data with a header and without the girl, as in the paper that used it."
    rows = [row for row in table.read_text().split() if not row.startswith("girl,")]
    return [("zoo/zoo.csv", "\n".join([ZOO_HEADER, *rows, ""]).encode())]


def read_zoo(path):
    from pandas import read_csv

    table = read_csv(path)
    return dict(
        objects=_distinct(table["animal_name"]),
        features=table.iloc[:, 1:17].to_numpy(dtype=float),
        feature_names=tuple(table.columns[1:17]),
        labels=table["class_type"].astype(np.intp).to_numpy() - 1,
        label_names=tuple(CATALOGUE["zoo"]["classes"]),
    )


def convert_glass(table):
    "glass.data without its first column, the running number."
    rows = [row.split(",", 1)[1] + "\n" for row in table.read_text().split()]
    return [("glass/glass.csv", "".join(rows).encode())]


def read_glass(table):
    values, classes = _numbers(table), CATALOGUE["glass"]["classes"]
    return dict(
        objects=tuple(str(i + 1) for i in range(len(values))),
        features=values[:, :9],
        feature_names=("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"),
        labels=np.array([list(classes).index(str(int(kind))) for kind in values[:, 9]]),
        label_names=tuple(classes.values()),
    )


def convert_newsgroups(archive):
    "The training messages of 20news-bydate.tar.gz, by group and file name, as counts of words."
    from sklearn.feature_extraction.text import CountVectorizer

    messages = {}
    with tarfile.open(archive) as members:
        for member in members:
            parts = member.name.split("/")
            if member.isfile() and "20news-bydate-train" in parts:
                messages[tuple(parts[-2:])] = members.extractfile(member).read()
    keys = sorted(messages)
    groups = sorted({group for group, _ in keys})
    words = CountVectorizer(encoding="latin-1", min_df=5)
    counts = words.fit_transform(messages[key] for key in keys).tocsr()
    counts.sort_indices()
    data = _packed(
        data=counts.data.astype(np.uint16),
        indices=counts.indices.astype(np.uint16),
        indptr=counts.indptr.astype(np.int32),
        shape=np.array(counts.shape),
        vocabulary=words.get_feature_names_out().astype("U"),
        target=np.array([groups.index(group) for group, _ in keys], np.uint8),
        target_names=np.array(groups),
        doc_id=np.array([int(message) for _, message in keys], np.int32),
    )
    return [("newsgroups/newsgroups_train_body.npz", data)]


def read_newsgroups(path):
    from scipy.sparse import csr_matrix

    part = _arrays(path)
    groups = tuple(part["target_names"].tolist())
    cells = part["data"].astype(np.int32), part["indices"].astype(np.int32), part["indptr"]
    return dict(
        objects=tuple(f"{groups[group]}/{message}" for group, message in zip(part["target"], part["doc_id"])),
        features=csr_matrix(cells, shape=tuple(part["shape"])),
        feature_names=tuple(part["vocabulary"].tolist()),
        labels=part["target"].astype(np.intp),
        label_names=groups,
    )


def convert_mnist(images, labels):
    "Two IDX files: a magic number, the sizes as big-endian integers, the bytes."
    arrays = []
    for path in (images, labels):
        data = gzip.decompress(path.read_bytes())
        require(data[:3] == b"\x00\x00\x08", str(path), "an IDX file of bytes", data[:3])
        shape = np.frombuffer(data, ">u4", count=data[3], offset=4).astype(np.int64)
        arrays.append(np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape))
    return [("mnist_raw/mnist_test.npz", _packed(images=arrays[0], labels=arrays[1]))]


def read_mnist(path):
    part = _arrays(path)
    images, labels = part["images"], part["labels"]
    features = images.reshape(len(images), -1)
    named = dict(objects=_numbered(len(images)), label_names=DIGITS)
    return named | dict(images=images, features=features, labels=labels.astype(np.intp))


def convert_mnist_tsne(points):
    "The points as they are; they are sorted by digit, so the counts of MNIST give the labels."
    labels = "".join(f"{digit}\n" * count for digit, count in zip(DIGITS, MNIST_TEST_COUNTS))
    return [("mnist_tsne/test_labels.csv", labels.encode()), ("mnist_tsne/reduced_test_X.csv", points.read_bytes())]


def read_mnist_tsne(points, labels):
    points, labels = _numbers(points), _numbers(labels)[:, 0].astype(np.intp)
    named = dict(objects=_numbered(len(points)), feature_names=("x", "y"), label_names=DIGITS)
    return named | dict(features=points, labels=labels)


def convert_cifar10(archive):
    "cifar-10-binary.tar.gz: a record is a label and 3 · 32 · 32 bytes, one colour after the other."
    with tarfile.open(archive) as members:
        member = next(m for m in iter(members.next, None) if Path(m.name).name == "test_batch.bin")
        records = np.frombuffer(members.extractfile(member).read(), np.uint8).reshape(-1, 3073)
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    arrays = dict(images=images, labels=records[:, 0], label_names=np.array(CATALOGUE["cifar10"]["classes"]))
    return [("cifar10/cifar10_test.npz", _packed(**arrays))]


def read_cifar10(path):
    part = _arrays(path)
    images, labels = part["images"], part["labels"]
    which = "2,000 pictures of the test set, 200 a class, saved as JPEG once" if len(images) == 2000 else "the test set"
    named = dict(
        objects=_numbered(len(images)), label_names=tuple(CATALOGUE["cifar10"]["classes"]), extra={"which": which}
    )
    return named | dict(images=images, labels=labels.astype(np.intp))


# ---- Omniglot: drawings and pen strokes


def convert_omniglot(images, strokes):
    "The two archives of the first small set, sorted by alphabet, character and drawer."
    with ZipFile(images) as pictures, ZipFile(strokes) as texts:
        picture_of, text_of = _members(pictures, ".png"), _members(texts, ".txt")
        keys = sorted(picture_of)
        ink = [read_png(pictures.read(picture_of[key])) < 128 for key in keys]
        lines = [texts.read(text_of[key]).decode().split() for key in keys]
    points = [(i, stroke, line) for i, drawing in enumerate(lines) for stroke, line in _stroke_numbers(drawing)]
    alphabets, characters = sorted({key[0] for key in keys}), sorted({key[:2] for key in keys})
    data = _packed(
        image_bits=np.packbits(np.array(ink).reshape(len(ink), -1), axis=1),
        image_shape=np.array(ink[0].shape),
        alphabet_name=np.array(alphabets),
        alphabet=np.array([alphabets.index(key[0]) for key in keys], np.uint8),
        character=np.array([characters.index(key[:2]) for key in keys], np.uint16),
        drawer=np.array([key[2] for key in keys], np.uint8),
        stroke_xyt=np.array([line.split(",") for _, _, line in points], np.float32),
        stroke_drawing=np.array([drawing for drawing, _, _ in points], np.uint16),
        stroke_number=np.array([stroke for _, stroke, _ in points], np.uint8),
    )
    return [("omniglot/omniglot_small1.npz", data)]


def _members(archive, suffix):
    "{(alphabet, character, drawer): name in the archive}."
    found = {}
    for name in archive.namelist():
        if name.endswith(suffix) and "__MACOSX" not in name:
            alphabet, character, file = Path(name).parts[-3:]
            found[alphabet, character, int(Path(file).stem.split("_")[1])] = name
    return found


def _stroke_numbers(lines):
    "(number of the stroke, line) for every point of a drawing; the line BREAK ends a stroke."
    stroke = 0
    for line in lines:
        if line == "BREAK":
            stroke += 1
        elif line != "START":
            yield stroke, line


def read_omniglot(path):
    "Drawings named alphabet/character/drawer; the labels are the characters."
    part = _arrays(path)
    alphabets, alphabet, character = part["alphabet_name"].tolist(), part["alphabet"], part["character"]
    first = [int(character[alphabet == a].min()) for a in range(len(alphabets))]  # characters are numbered through
    names = [f"{alphabets[a]}/{c - first[a] + 1:02}" for a, c in zip(alphabet.tolist(), character.tolist())]
    n, (height, width) = len(alphabet), part["image_shape"]
    ink = np.unpackbits(part["image_bits"], axis=1, count=height * width)
    points, drawing, number = part["stroke_xyt"], part["stroke_drawing"], part["stroke_number"]
    points.setflags(write=False)
    ends = np.flatnonzero(np.diff(drawing) | np.diff(number)) + 1
    strokes = [[] for _ in range(n)]
    for owner, stroke in zip(drawing[np.append(0, ends)], np.split(points, ends)):
        strokes[owner].append(stroke)
    return dict(
        objects=tuple(f"{name}/{drawer:02}" for name, drawer in zip(names, part["drawer"].tolist())),
        images=ink.astype(bool).reshape(n, height, width),
        labels=character.astype(np.intp),
        label_names=tuple(dict.fromkeys(names)),
        extra={
            "strokes": tuple(map(tuple, strokes)),  # (points, 3) arrays: x, y (upwards), milliseconds
            "alphabet": alphabet.astype(np.intp),
            "alphabet_names": tuple(alphabets),
            "drawer": part["drawer"].astype(np.intp),
        },
    )


# ---- sets inside scikit-learn


def _read_sklearn(name):
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return dict(
        objects=_numbered(len(bunch.data)),
        features=bunch.data,
        feature_names=tuple(map(str, bunch.feature_names)),
        labels=bunch.target.astype(np.intp),
        label_names=tuple(map(str, bunch.target_names)),
        images=bunch.get("images"),
    )


read_digits, read_iris, read_wine = (partial(_read_sklearn, name) for name in ("digits", "iris", "wine"))
