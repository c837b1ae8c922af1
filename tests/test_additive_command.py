"`cluster --method additive` and its files: every form against the fitted estimator, and the figures of a result."

import csv
import html
import io
import json
import pickle
import re

import numpy as np
import pytest
from shared import refused, run
from test_additive_drawing import read

from comparison_hc import AdditiveTree, Dendrogram, InputError, Triplets, load_dataset, read_comparisons
from comparison_hc.additive_tree import _responses_of
from comparison_hc.core.validation import InputWarning
from comparison_hc.evaluation import Result, save_result
from comparison_hc.evaluation import _additive as additive
from comparison_hc.evaluation.report import result_lines
from comparison_hc.metrics import agreement


@pytest.fixture(scope="module")
def animals():
    return load_dataset("animals")


@pytest.fixture
def folder(animals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    animals.triplets.to_csv("answers.csv")
    return tmp_path


@pytest.mark.parametrize("most", [5_000, 500])
def test_the_command_names_the_best_root(animals, most, monkeypatch):
    "The branch and both shares, against `best_root` and the sum over its nested groups."
    monkeypatch.setattr("comparison_hc.evaluation._additive.MOST_FOR_ROOT", most)
    model = AdditiveTree(n_trees=1, rate=3.0, lapse=0.0).fit(animals.triplets)
    rng = np.random.default_rng(0)  # answers by dice: their best root is not the midpoint
    rows = np.array([rng.choice(24, 3, replace=False) for _ in range(1200)])
    answers = Triplets(rows, names=animals.triplets.names)
    result = Result(model.dendrogram_, answers, additive=model)
    text = dict(result_lines(result))["best root"]
    shares = [float(share) for share in re.findall(r"([\d.]+)%", text)]
    assert shares[0] >= shares[1] and ("of 500 drawn at random" in text) is (most == 500)
    if most == 500:
        return
    tree = model.trees_[0]
    edge, far = tree.best_root(answers)
    assert (edge, far) != tree.midpoint() and shares[0] > shares[1]
    rooted = Dendrogram.from_newick(tree.to_newick(root=(edge, far)), names=tree.names)
    assert shares[0] == pytest.approx(100 * agreement(rooted, answers).agree / 1200, abs=0.06)
    middle = Dendrogram.from_newick(tree.to_newick(root="midpoint"), names=tree.names)
    assert shares[1] == pytest.approx(100 * agreement(middle, answers).agree / 1200, abs=0.06)
    named = re.search("between (.*?)(?: and \\d+ more)? and the other", text)[1].split(", ")
    sides = tree.splits[edge][[tree.names.index(name) for name in named]]
    assert len(set(sides.tolist())) == 1


def test_files_are_those_of_the_estimator(folder, capsys):
    names = [f"a.{ending}" for ending in ("html", "svg", "png", "pdf", "nwk", "csv", "json")]
    outs = [word for name in names for word in ("--out", name)]
    words = "cluster answers.csv --method additive --trees 2 --clusters 4 --support 2"
    code, out, _ = run(capsys, *words.split(), *outs)
    model = AdditiveTree(n_trees=2).fit(read_comparisons("answers.csv"))
    assert code == 0 and f"2 trees, prior of rate {model.rate_:g} on branch lengths" in out
    first, second = map(read, (folder / "a.nwk").read_text().splitlines())
    named = {name: i for i, name in enumerate(model.names_)}
    for (a, b), length in first[0].items():
        assert length + second[0][a, b] == pytest.approx(model.distances_[named[a], named[b]], abs=1e-6)
    assert first[1] and set(first[1].values()) | set(second[1].values()) <= {0, 0.5, 1}
    rows = list(csv.reader(io.StringIO((folder / "a.csv").read_text())))
    assert tuple(rows[0][1:]) == tuple(row[0] for row in rows[1:]) == model.names_
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], float), model.distances_, rtol=1e-8)
    fields = json.loads((folder / "a.json").read_text())
    np.testing.assert_allclose(fields["linkage"], model.dendrogram_.linkage_matrix)
    assert fields["additive"]["n_trees"] == 2 and fields["heights"] == "path length"
    assert len(set(fields["labels"])) == 4
    assert (folder / "a.pdf").read_bytes()[:5] == b"%PDF-"
    assert "2 additive trees of 24 objects" in (folder / "a.svg").read_text()
    code, out, _ = run(capsys, *"cluster a.csv --kind distance --clusters 4".split())  # the table is read again
    assert code == 0 and "objects          24" in out


def test_statements_are_fitted_as_statements(animals, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = animals.comparisons[:300]
    names = animals.triplets.object_names
    (tmp_path / "odd.csv").write_text("odd,a,b\n" + "".join(",".join(names[i] for i in row) + "\n" for row in rows))
    code, _, _ = run(capsys, *"cluster odd.csv --kind odd-one-out --method additive --trees 1 --out a.json".split())
    found = json.loads((tmp_path / "a.json").read_text())
    number = np.array([found["names"].index(name) for name in names])
    twice = AdditiveTree(n_trees=1).fit(Triplets.from_odd_one_out(number[rows], 24))
    model = AdditiveTree(n_trees=1).fit(Triplets(number[rows], 24), kind="odd-one-out")
    assert code == 0 and found["additive"]["rate"] == model.rate_ and found["additive"]["lapse"] == model.lapse_
    np.testing.assert_allclose(found["additive"]["path_lengths"], model.distances_, atol=1e-6)
    assert np.abs(twice.distances_ - model.distances_).max() > 0.1


@pytest.mark.parametrize("kind, make", [("central", Triplets.from_central), ("odd-one-out", Triplets.from_odd_one_out)])
def test_statements_come_back_from_their_triplets(kind, make):
    rows = np.argsort(np.random.default_rng(0).random((30, 7)), axis=1)[:, :3]
    again = _responses_of(make(rows, weights=np.arange(1.0, 31)), kind)
    np.testing.assert_array_equal(again.array[:, 0], rows[:, 0])
    np.testing.assert_array_equal(np.sort(again.array[:, 1:]), np.sort(rows[:, 1:]))
    np.testing.assert_array_equal(again.weights, np.arange(1.0, 31))


@pytest.mark.parametrize("kind", ["central", "odd-one-out"])
def test_responses_that_were_read_are_fitted_as_responses(tmp_path, kind):
    "Without a word about their kind; and half of them is pointed out."
    rows = np.argsort(np.random.default_rng(1).random((150, 8)), axis=1)[:, :3]
    path = tmp_path / "a.csv"
    path.write_text(f"{kind.split('-')[0]},a,b\n" + "".join(",".join(f"o{i}" for i in row) + "\n" for row in rows))
    given = read_comparisons(path, kind=kind)
    model, same = AdditiveTree(n_trees=1).fit(given), AdditiveTree(n_trees=1).fit(Triplets(rows, 8), kind=kind)
    np.testing.assert_array_equal(model.distances_, same.distances_)
    assert model.kind_ == kind and model.rate_ == same.rate_
    for mine, other in zip(model.support(given, 5), same.support(Triplets(rows, 8), 5), strict=True):
        np.testing.assert_array_equal(mine, other)
    told = AdditiveTree(n_trees=1).fit(given, kind="comparisons")
    assert told.kind_ == "comparisons" and not np.array_equal(told.distances_, model.distances_)
    told.support(given, 2)
    with pytest.warns(InputWarning, match=f"triplets of {kind} responses, but not both of each"):
        assert AdditiveTree(n_trees=1).fit(given.take(np.arange(101))).kind_ == "comparisons"


def test_support_of_a_branch_is_the_share_of_fits_that_split_the_leaves_so():
    rng = np.random.default_rng(1)
    rows = np.argsort(rng.random((150, 7)), axis=1)[:, :3]
    models = [AdditiveTree(n_trees=1, rate=1.0, lapse=0.0).fit(rows[rng.integers(150, size=150)]) for _ in range(4)]
    models.append(AdditiveTree(n_trees=2, rate=1.0, lapse=0.0).fit(rows))
    drawn = pickle.loads(pickle.dumps([additive.DendrogramOfTrees.of(model) for model in models]))
    tree = models[0].trees_[0]
    (found,) = additive.branch_support([tree], drawn)
    assert drawn[4] == models[4].dendrogram_.__class__.from_linkage(
        models[4].dendrogram_.linkage_matrix, names=models[4].names_, height_kind="path length"
    )

    def has(model, side):
        sides = [each for one in model.trees_ for each in one.splits[one.lengths > 0].tolist()]
        return side in sides or [not leaf for leaf in side] in sides

    expected = [np.mean([has(model, side) for model in models]) for side in tree.splits.tolist()]
    np.testing.assert_allclose(found, expected)
    assert 0 < np.mean(found) < 1


@pytest.mark.parametrize(
    "words, says",
    [
        ("--trees 2", "--trees must be given with --method additive"),
        ("--method additive --self-pairs", "--self-pairs must be left out with --method additive"),
        ("--method additive --initial answers.csv", "--initial must be left out with --method additive"),
        ("--method 4-al --figure rooted --out a.svg", "figure must be rooted where there are additive trees"),
        ("--method additive --trees 4", "must be 1, 2, 3 or auto; got '4'"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, capsys, words, says):
    assert says in refused(capsys, "cluster", "answers.csv", *words.split())


def test_every_figure_is_a_file_of_300_dots_per_inch(animals, tmp_path):
    from PIL import Image

    model = AdditiveTree(n_trees=1).fit(animals.triplets)
    result = Result(model.dendrogram_, animals.triplets, n_clusters=3, additive=model)
    for figure in ("tree", "dendrogram", "unrooted", "rooted", "matrix", "map", "tree+matrix"):
        save_result(result, tmp_path / "a.png", figure)
        save_result(result, tmp_path / "a.svg", figure)
        text = (tmp_path / "a.svg").read_text()
        with Image.open(tmp_path / "a.png") as image:
            size, dots, corner = image.size, image.info["dpi"], image.convert("RGBA").getpixel((0, 0))
        width = int(re.search(r'width="(\d+)"', text)[1])
        assert dots == pytest.approx((300, 300), abs=0.1) and abs(size[0] - width * 300 / 96) <= 2, figure
        assert corner == (255, 255, 255, 255), figure
        save_result(result, tmp_path / "a.pdf", figure)
    with pytest.raises(InputError, match="figure must be one of"):
        save_result(result, tmp_path / "a.svg", "tanglegram of nothing")


def test_fitted_estimators_are_saved(animals, tmp_path):
    "The same files as those of the results that they stand for."
    from comparison_hc import ComparisonClustering, ComparisonHC, compare_methods
    from comparison_hc.evaluation import FlatResult
    from comparison_hc.evaluation import compare_methods as same
    from comparison_hc.methods import methods

    assert compare_methods is same
    answers = animals.triplets
    tree, trees = ComparisonHC("3-al").fit(answers), AdditiveTree(n_trees=1).fit(answers)
    flat = ComparisonClustering(n_clusters=4).fit(answers)
    title = methods["3-al"].title
    pairs = [
        (tree, Result(tree.dendrogram_, answers, method=title)),
        (trees, Result(trees.dendrogram_, answers, method="additive trees", additive=trees)),
        (flat, FlatResult(flat.labels_, answers, method="adds3")),
    ]
    for model, result in pairs:
        for form in ("json", "csv", "svg"):
            if form != "svg" or model is not flat:
                save_result(model, tmp_path / f"model.{form}", comparisons=answers)
                save_result(result, tmp_path / f"result.{form}")
                first, second = ((tmp_path / f"{name}.{form}").read_text() for name in ("model", "result"))
                if form == "json":
                    first, second = ({**json.loads(text), "how": None} for text in (first, second))
                assert first == second
    save_result(flat, tmp_path / "map.svg", "map", answers)
    with pytest.raises(InputError, match="result must be a `Result`, a `FlatResult` or a fitted estimator"):
        save_result(ComparisonHC(), tmp_path / "a.html")
    with pytest.raises(InputError, match="comparisons must be the comparisons that the estimator was fitted to"):
        save_result(flat, tmp_path / "a.html")


def test_the_methods_text_is_about_the_trees_that_are_drawn(tmp_path, monkeypatch, capsys):
    "Log loss beside that of chance, what was chosen, the support of additive branches, and what was drawn again."
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [sorted(rng.choice(9, 3, replace=False)) for _ in range(400)]
    lines = [
        ",".join([f"p{m % 8}", *(f"x{i}" for i in (row[::-1] if row[1] < 4 else row))]) for m, row in enumerate(rows)
    ]
    (tmp_path / "odd.csv").write_text("\n".join(["participant,odd,second,third", *lines]))
    words = "cluster odd.csv --kind odd-one-out --columns odd,second,third --respondent participant --method additive"
    for more, chosen in (
        ("", "Rate, share of lapses and number of trees were"),
        ("--trees 1", "Rate and share of lapses were"),
    ):
        outs = ["--out", "a.html", "--out", "a.json"]
        code, out, _ = run(capsys, *f"{words} --support 5 {more}".split(), *outs)
        assert code == 0 and f"(chance {np.log(3):.3f})" in out
        page, saved = html.unescape((tmp_path / "a.html").read_text()), json.loads((tmp_path / "a.json").read_text())
        assert f"{chosen} chosen by held-out responses" in page and f"(chance {np.log(3):.3f})." in page
        assert "(Sattath and Tversky, 1977)" in page and "% of the comparisons that they were fitted to" in page
        assert "fits to resampled people" in page and "trees from resampled people" in page
        assert "resampled answers" not in page and "branches of the hierarchy" in page and "Felsenstein, J." in page
        (tree,) = saved["additive"]["trees"]
        inner = [s for s, b in zip(tree["support"], inner_branches(tree)) if b]
        found = f"Of {len(inner)} inner branches, of a length above 0, of the additive tree, "
        assert f"{found}{sum(s >= 0.7 for s in inner)} were" in page


def inner_branches(tree):
    "For the branch above each node but leaf 0, the root: whether it has a length, and two leaves on both sides."
    parent, n = tree["parent"], len(tree["parent"]) // 2 + 1
    below = [0] * len(parent)
    for leaf in range(1, n):
        node = leaf
        while node > 0:
            below[node] += 1
            node = parent[node]
    return [1 < count < n - 1 and length > 0 for count, length in zip(below[1:], tree["lengths"])]


@pytest.mark.parametrize("linkage", ["auto", "4-al", "points-al-refined"])
def test_files_of_an_estimator_have_its_clusters_and_name_its_method(linkage, tmp_path):
    "Of answers of which many are wrong, so that clusters by evidence are no cut by merge order."
    from comparison_hc import ComparisonHC, load_dataset

    answers = load_dataset("animals").triplets.flip(0.25, 3)
    model = ComparisonHC(linkage, n_clusters=4).fit(answers)
    assert model.labels_.tolist() != model.dendrogram_.cut(4).tolist()
    save_result(model, tmp_path / "a.json", comparisons=answers)
    save_result(model, tmp_path / "a.html", comparisons=answers)
    saved, page = json.loads((tmp_path / "a.json").read_text()), (tmp_path / "a.html").read_text()
    assert saved["labels"] == model.labels_.tolist()
    assert model.partition_.labels is model.labels_
    assert saved["method"] and saved["how"]["references"] and saved["how"]["version"]
    written = html.unescape(re.search(r'<p class="methods">(.*?)</p>', page, re.S)[1])
    assert "were chosen among" in written and saved["method"].split(",")[0].split(":")[0] in written
    model.set_params(linkage="3-al", n_clusters=1).fit(answers)
    assert not hasattr(model, "choice_") and set(model.labels_) == {0}
    save_result(model, tmp_path / "a.json", comparisons=answers)
    assert json.loads((tmp_path / "a.json").read_text())["method"].startswith("triplets-based")


def test_tree_and_matrix_have_their_rows_side_by_side(animals, tmp_path):
    result = Result(AdditiveTree(n_trees=1).fit(animals.triplets).dendrogram_, animals.triplets)
    save_result(result, tmp_path / "a.svg", "tree+matrix")
    text = (tmp_path / "a.svg").read_text()
    image = re.search(r'<image x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', text)
    left, top, width, height = map(float, image.groups())
    rows = sorted(float(y) for y in re.findall(r'class="name" x="[\d.]+" y="([\d.]+)"', text))
    np.testing.assert_allclose(rows, top + height / 24 * (np.arange(24) + 0.5), atol=0.1)
    assert width == height and left > max(float(x) for x in re.findall(r'class="name" x="([\d.]+)"', text))
