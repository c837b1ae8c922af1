"""The page of a result: what it holds, what it escapes, that it moves where scripts run and is complete where not."""

import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from importlib.resources import files
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from shared import assert_javascript, chain, open_offline

from comparison_hc import AdditiveTree
from comparison_hc.cli import main
from comparison_hc.comparisons import Quadruplets, Triplets, read_comparisons
from comparison_hc.core._rows import relabel_by_size
from comparison_hc.core.additive_drawing import Drawing, branch_colors
from comparison_hc.core.images import check_image_folder, images_from_folder
from comparison_hc.core.plotting import COLLAPSED_TO, SIDES, TreeFigure, TreeStyle, cluster_color, whole_percent
from comparison_hc.core.validation import InputError, MissingFileError
from comparison_hc.dendrogram import Dendrogram, random_tree
from comparison_hc.evaluation import compare_methods, repeat_ceiling
from comparison_hc.evaluation._report_figures import (
    distances_of_comparisons,
    distances_of_similarity,
    map_svg,
    matrix_svg,
    two_dimensions,
    win_counts,
    win_share,
)
from comparison_hc.evaluation._report_text import methods_parts
from comparison_hc.evaluation.cluster_choice import choose_clusters
from comparison_hc.evaluation.object_tables import read_annotations, read_tree
from comparison_hc.evaluation.report import FlatResult, Result, html_page, save_result
from comparison_hc.methods import build_hierarchy

SVG = "{http://www.w3.org/2000/svg}"


def _svg(tree, **shown):
    return TreeFigure(tree, **shown).svg()


def sample(n=24, seed=0, names=None, title="Sample", **more):
    "A tree of n objects with answers that somebody gave by throwing dice."
    names = names or [f"object {i}" for i in range(n)]
    tree = random_tree(n, seed)
    tree = Dendrogram.from_linkage(tree.linkage_matrix, names=names, height_kind="merge order")
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(10 * n)])
    who = rng.integers(5, size=len(rows))
    return Result(tree, Triplets(rows, names=names, respondents=who), title, "4–AL", **more)


# ---- parts


@pytest.mark.parametrize("kind", [Triplets, Quadruplets])
def test_wins_by_definition(kind):
    rng = np.random.default_rng(1)
    rows = [rng.choice(7, kind.width, replace=False) for _ in range(200)]
    won, asked = win_counts(kind(rows, n_objects=7))
    slow, seen = np.zeros((7, 7)), np.zeros((7, 7))
    for row in rows:
        first, second = ((row[0], row[1]), (row[0], row[2])) if kind.width == 3 else (row[:2], row[2:])
        for (a, b), wins in ((first, 1), (second, 0)):
            slow[a, b] += wins
            slow[b, a] += wins
            seen[a, b] += 1
            seen[b, a] += 1
    assert np.array_equal(won, slow) and np.array_equal(asked, seen)
    share = win_share(kind(rows, n_objects=7))
    assert np.isnan(np.diag(share)).all() and np.nanmin(share) >= 0 and np.nanmax(share) <= 1


def test_the_map_keeps_distances_that_two_dimensions_can_hold():
    "Answers without end about points on a line: their order is the map's."
    place = np.array([0.0, 1.0, 2.1, 3.3, 4.6, 6.0])
    rows = [(i, j, k) for i in range(6) for j in range(6) for k in range(6) if len({i, j, k}) == 3]
    rows = [row for row in rows if abs(place[row[0]] - place[row[1]]) < abs(place[row[0]] - place[row[2]])]
    found, shown = two_dimensions(distances_of_comparisons(Triplets(rows)))
    order = np.argsort(found[:, 0]).tolist()
    assert order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]) and 0.5 < shown <= 1
    _, written = map_svg(found, [f"p{i}" for i in range(6)])
    assert written == 6


def test_a_pdf_is_one_page_of_the_pictures_size(tmp_path):
    result = sample(120, n_clusters=6)
    save_result(result, tmp_path / "tree.pdf")
    data = (tmp_path / "tree.pdf").read_bytes()
    figure = TreeFigure(result.dendrogram, result.names, labels=result.labels)
    box = [float(x) for x in re.search(rb"/MediaBox \[([\d. ]+)\]", data)[1].split()]
    assert data.count(b"/Type /Page\n") == 1  # a pixel is 3/4 of a point
    assert np.allclose(box[2:], [0.75 * figure.width, 0.75 * figure.height], atol=1.5)


def test_a_similarity_has_matrix_and_map(tmp_path):
    rng = np.random.default_rng(0)
    place = rng.normal(size=(30, 2))
    W = 5 - np.linalg.norm(place[:, None] - place[None], axis=2)
    found, shown = two_dimensions(distances_of_similarity(W + 7 * np.eye(30)))
    near = np.linalg.norm(found[:, None] - found[None], axis=2)
    off = ~np.eye(30, dtype=bool)
    assert np.corrcoef(near[off], -W[off])[0, 1] > 0.99 and shown > 0.9
    tree = random_tree(30, 0)
    page = html_page(Result(tree, None, similarity=W, n_clusters=3))
    assert "How alike each pair is" in page and "A map" in page and "The similarities" in page
    assert f"{W[off].min():.3g}" in page and f"{W[off].max():.3g}" in page and "The answers" not in page
    bare = html_page(Result(tree, None))
    assert "A map" not in bare and "How alike" not in bare
    table = pd.DataFrame(W, columns=[f"thing {i}" for i in range(30)])
    table.set_index(table.columns).to_csv(tmp_path / "w.csv")
    words = ["--kind", "similarity", "--clusters", "3", "--out", str(tmp_path / "w.html")]
    assert main(["cluster", str(tmp_path / "w.csv"), *words]) == 0
    typed = (tmp_path / "w.html").read_text(encoding="utf-8")
    assert "How alike each pair is" in typed and "A map" in typed and "thing 29" in typed


def test_a_matrix_has_names_that_can_be_read_or_none():
    for n in (12, 60, 110, 250):
        svg, named = matrix_svg(np.eye(n), np.arange(n), [f"n{i}" for i in range(n)], np.arange(n) // (n // 4))
        root = ElementTree.fromstring(svg)
        names = [text.text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("n")]
        assert named == (n <= 110) and len(names) == (n if named else 0)
        assert not named or float(root.get("font-size")) >= 6.6
        if not named:
            assert {"0", "1", "2", "3"} <= {text.text for text in root.iter(f"{SVG}text")}


def test_the_line_stops_between_the_merges_that_a_cut_keeps_and_undoes():
    result = sample(n_clusters=3)
    figure = TreeFigure(result.dendrogram, result.names, labels=result.labels, n_cuts=24)
    merges = [figure.point(figure.along[node], 0)[0] for node in range(24, 47)]
    stops = json.loads(re.search(r'id="tree-data">(.*?)</script>', html_page(result), re.S)[1])["stops"]
    assert [sum(at < stop for at in merges) for stop in stops] == list(range(24))
    assert [sum(at <= stop for at in merges) for stop in stops] == list(range(24))


def test_the_tree_in_words():
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)], names=["cat", "<dog>", "hen", "owl"])
    page = html_page(Result(tree, None, n_clusters=2, support=[0.5, 1, 1]))
    steps = re.findall("<li>(.*?)</li>", page.split("<details", 1)[1].split("</details>")[0])
    assert steps == [
        "cat + &lt;dog&gt;: 2 objects, cluster 0, in 50% of the trees",
        "hen + owl: 2 objects, cluster 1, in 100% of the trees",
        "branch 1 + branch 2: 4 objects",
    ]
    picture = TreeFigure(tree, tree.names, support=[0.5, 1, 1]).svg()
    assert picture.count('class="dot"') == 2 and ">50<" in picture and picture.count(">100<") == 1  # none at the root


def test_the_map_claims_no_more_than_was_computed():
    words = "Whether this map or the tree predicts held-out answers better was not computed."
    page = html_page(sample())
    assert words in page and "trust the tree" not in page
    similar = html_page(Result(sample(4).dendrogram, None, similarity=np.eye(4)))
    assert "A map" in similar and words not in similar


def test_the_caption_says_whether_clusters_are_branches():
    plain = sample(n_clusters=3)
    chosen = replace(plain, partition=choose_clusters(plain.comparisons, 3, plain.dendrogram))
    cut, free = "with their numbers where the tree is cut", "need not be branches of the\ntree"
    assert cut in html_page(plain) and free not in html_page(plain)
    assert free in html_page(chosen) and cut not in html_page(chosen)


def test_large_trees_are_folded_and_the_caption_says_so(monkeypatch):
    result = sample(300)
    n_folded = sum(node >= 300 for node in result.dendrogram.cut_nodes(COLLAPSED_TO))
    assert f"Where scripts run, {n_folded} branches are folded at first" in html_page(result)
    monkeypatch.setattr("comparison_hc.evaluation.report.MOST_UNFOLDED", 299)
    page = html_page(result)
    assert "overview of 300 objects" in page and f"{COLLAPSED_TO} branches" in page


def test_pictures_of_objects(tmp_path):
    from PIL import Image

    Image.new("RGB", (900, 300), "teal").save(tmp_path / "object 1.jpg")
    Image.new("RGBA", (30, 30), (0, 0, 0, 0)).save(tmp_path / "object 2.png")
    (tmp_path / "notes.txt").write_text("no object has this name")
    result = sample(4)
    (tmp_path / ".hidden").write_text("nobody's business")
    Image.new("RGB", (9, 9)).save(tmp_path / "OBJECT 3.png")
    found, missing, others = images_from_folder(tmp_path, result.names)
    assert list(found) == ["object 1", "object 2"] and missing == ["object 0", "object 3"]
    assert others == ["OBJECT 3.png", "notes.txt"]
    assert found["object 1"].startswith("data:image/jpeg") and found["object 2"].startswith("data:image/png")
    page = html_page(Result(result.dendrogram, result.comparisons, images=found))
    assert page.count(found["object 1"]) == 2 and "2 of 4 leaves have a picture" in page  # tree and map
    (tmp_path / "object 1.png").write_bytes((tmp_path / "object 2.png").read_bytes())
    with pytest.raises(InputError, match="one picture per object"):
        images_from_folder(tmp_path, result.names)
    (tmp_path / "object 1.png").unlink()
    (tmp_path / "object 3.jpg").write_bytes(b"nothing")
    for check in (lambda: images_from_folder(tmp_path, result.names), lambda: check_image_folder(tmp_path)):
        with pytest.raises(InputError, match="object 3.jpg"):
            check()
    with pytest.raises(MissingFileError, match="--images"):
        images_from_folder(tmp_path / "no", result.names)


def test_optional_sections():
    people = pd.DataFrame({"person": ["<Ada>"], "agreement": [0.75]})
    table = pd.DataFrame({"method": ["4-al"], "right": [0.8]})
    compared = SimpleNamespace(
        table=pd.DataFrame({"title": []}), shown=lambda: table, sentences=lambda: ["4-al is right <most> often."]
    )
    how = {"command": "comparison-hc cluster 'a & b.csv'", "version": "9.9", "sha256": "0" * 64}
    page = html_page(sample(people=people, compared=compared, provenance=how, support=np.full(23, 0.8), n_clusters=3))
    for text in ("&lt;Ada&gt;", "&lt;most&gt;", "a &amp; b.csv", "0" * 64, "comparison_hc 9.9", "Methods compared"):
        assert text in page
    assert "Of 22 branches, 22 were found in at least 70%" in page and "Ghoshdastidar" in page
    bare = html_page(sample())
    assert not [head for head in ("Methods compared", "The people", "How this was made") if head in bare]
    assert "largest K" not in page


def test_a_flat_page():
    result = sample()
    labels = np.arange(24) % 3
    steps = [SimpleNamespace(k=k, objective=value, how="", gap=0.0) for k, value in ((2, 0.3), (3, 0.9), (4, np.nan))]
    page = html_page(FlatResult(labels, result.comparisons, method="AddS-3, SDP-k, SPUR", steps=steps))
    assert 'id="tree"' not in page
    assert "Objective of SPUR" in page
    assert "1 number of clusters is not drawn" in " ".join(page.split())
    assert "not proved" in page and "Perrot" in page and page.count("<li><b") == 3


def test_a_page_needs_no_chart_library():
    code = """
import sys
from comparison_hc.dendrogram import random_tree
from comparison_hc.evaluation.report import Result, html_page
html_page(Result(random_tree(60, 0), None))
print([name for name in ("altair", "vl_convert", "sklearn", "matplotlib") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_nothing_can_end_the_script_or_become_markup():
    names = ["</script><script>alert(1)</script>", "<!--", "]]>", "</svg>", "a&b", "\u2028", "'\""]
    page = html_page(sample(7, names=names, title="</title>", n_clusters=2))
    assert page.count("<script") == 2 == page.count("</script>") and "<!--" not in page and "alert(1)</s" not in page
    assert page.count("</title>") > 1  # those of the drawing, and one of the page
    names = ["a\x00", "b\x1b[31m", "c\u202ed", "e\nf", "\U0001f600", "g" * 200, "\u05d0"]
    result = sample(7, names=names, title="t\x07", n_clusters=2)
    for text in (html_page(result), _svg(result.dendrogram, labels=result.labels)):
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\ud800-\udfff]", text)
        assert "\\u001b" not in text and "\u05d0" in text and "g" * 200 in text
        text.encode()
    ElementTree.fromstring(text)
    again = Dendrogram.from_newick(result.dendrogram.to_newick())
    assert sorted(again.names) == sorted(names)
    assert page.startswith('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">')


def test_files_of_the_page_are_javascript_and_fit_the_eye(tmp_path):
    static = files("comparison_hc") / "evaluation/static"
    for path in static.iterdir():
        text = path.read_text(encoding="utf-8")
        assert all(len(line) <= 120 for line in text.splitlines()), path.name
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
        assert path.suffix == ".html" or "</script" not in text
    assert_javascript((static / "page.mjs").read_text(encoding="utf-8"), tmp_path)


def facts(n, seed=0):
    "A column of numbers and one of categories, with gaps."
    rng = np.random.default_rng(seed)
    weights = [None if i % 7 == 3 else float(x) for i, x in enumerate(rng.normal(size=n))]
    return {"weight": weights, "home": [None if i % 5 == 2 else "sea land air".split()[i % 3] for i in range(n)]}


@pytest.mark.parametrize("side", SIDES)
def test_annotations_stand_beside_their_leaves(tmp_path, side):
    "One cell per known value, in the row of its leaf and the column of its title, coloured by the value."
    result = sample(12, annotations=facts(12), style=TreeStyle(orientation=side))
    save_result(result, tmp_path / "tree.svg")
    root = ElementTree.parse(tmp_path / "tree.svg").getroot()
    names = {text.text: place_of_text(text) for text in root.iter(f"{SVG}text") if text.get("class") == "name"}
    colours, found = {"weight": {}, "home": {}}, {"weight": {}, "home": {}}
    for cell in root.iter(f"{SVG}path"):
        if cell.get("class") != "cell":
            continue
        title, text = cell.find(f"{SVG}title").text.split(": ")
        corners = np.array([list(map(float, pair.split())) for pair in cell.get("d")[1:-1].split("L")])
        middle, row = corners.mean(axis=0), 1 if side in ("left", "right") else 0
        name = min(names, key=lambda name: abs(names[name][row] - middle[row]))
        assert abs(names[name][row] - middle[row]) < 1
        found[title][name] = text
        colours[title].setdefault(text, cell.get("fill"))
        assert colours[title][text] == cell.get("fill")
    for title, values in facts(12).items():
        texts = {n: v if isinstance(v, str) else f"{v:.4g}" for n, v in zip(result.names, values) if v is not None}
        assert found[title] == texts and len(set(colours[title].values())) == len(set(texts.values()))
    assert "".join(root.itertext()).count("weight") == 2 + len(found["weight"])  # legend, title of the column, cells


def test_a_colour_of_categories_has_one_meaning(tmp_path):
    "Two columns of categories share no colour while there are enough; then the page says that they repeat."
    few = {"home": ["sea", "land"] * 6, "tame": ["yes", "no", None] * 4}
    many = few | {"letter": list("abcdefghijkl")}
    for annotations, repeats in ((few, False), (many, True)):
        result = sample(12, annotations=annotations)
        save_result(result, tmp_path / "tree.svg")
        meanings = {}
        for cell in ElementTree.parse(tmp_path / "tree.svg").getroot().iter(f"{SVG}path"):
            if cell.get("class") == "cell":
                meanings.setdefault(cell.get("fill"), set()).add(cell.find(f"{SVG}title").text)
        assert (max(map(len, meanings.values())) > 1) == repeats == ("so they repeat" in html_page(result))


def place_of_text(text):
    turned = re.search(r"rotate\(\S+ (\S+) (\S+)\)", text.get("transform") or "")
    return tuple(map(float, turned.groups() if turned else (text.get("x"), text.get("y"))))


def test_annotations_are_read_from_a_table(tmp_path):
    names, path = ["a", "b", "c"], tmp_path / "facts.csv"
    path.write_text("thing,weight,home,none\nc,2.5,sea,\na,-1,NA,\n")
    assert read_annotations(path, names) == {
        "weight": [-1.0, None, 2.5],
        "home": [None, None, "sea"],
        "none": [None, None, None],
    }
    frame = pd.DataFrame({"weight": [2.5, -1.0]}, index=["object 2", "object 0"])
    assert sample(4, annotations=frame).annotations == {"weight": (-1.0, None, 2.5, None)}
    for text, complaint in (
        ("thing,weight\nd,1\n", "line 2, must be about an object that was compared"),
        ("thing,weight\na,1\na,2\n", "line 3, must be the only line about its object"),
        ("thing,weight,weight\na,1,2\n", "line 1, must be different titles"),
        ("thing\na\n", "a table with a first line of titles"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=complaint):
            read_annotations(path, names)
    for wrong, complaint in (
        ({"weight": [1]}, "of length 4"),
        ({}, "a mapping"),
        (frame.rename(str.upper), "names of"),
    ):
        with pytest.raises(InputError, match=complaint):
            sample(4, annotations=wrong)


def test_annotations_from_the_command(tmp_path, capsys):
    rows = [f"{'abcd'[i]},{'abcd'[j]},{'abcd'[k]}" for i, j, k in ((0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1))]
    (tmp_path / "answers.csv").write_text("\n".join(["i,j,k", *rows]))
    (tmp_path / "facts.csv").write_text("thing,size\na,1\nb,2\n")
    words = ["cluster", f"{tmp_path}/answers.csv", "--method", "4-al", "--annotate", f"{tmp_path}/facts.csv"]
    assert main([*words, "--out", f"{tmp_path}/t.svg", "--out", f"{tmp_path}/t.json"]) in (0, None)
    assert "size: 2" in (tmp_path / "t.svg").read_text()
    assert json.loads((tmp_path / "t.json").read_text())["annotations"] == {"size": [1.0, 2.0, None, None]}
    assert main([*words[:2], "--method", "adds", *words[4:]]) == 2 and main([*words, "--out", words[-1]]) == 2
    assert main([*words[:-1], f"{tmp_path}/lost.csv"]) == 2
    capsys.readouterr()


def test_a_tanglegram_joins_the_same_objects_and_counts_by_definition(tmp_path):
    result = sample(14, n_clusters=3)
    other = random_tree(14, 5).relabel(np.random.default_rng(1).permutation(14))
    result = replace(result, against=("rival", other))
    save_result(result, tmp_path / "two.svg", figure="tanglegram")
    root = ElementTree.parse(tmp_path / "two.svg").getroot()
    one, two = (group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}svg") is not None)
    rows = []
    for group in (one, two):
        shift = float(re.search(r"translate\(\S+ (\S+)\)", group.get("transform"))[1])
        texts = [text for text in group.iter(f"{SVG}text") if text.get("class") == "name"]
        rows.append({text.text: shift + float(text.get("y")) for text in texts})
    joined, ends = {}, []
    for path in root.iter(f"{SVG}path"):
        if path.get("class") == "join":
            places = [list(map(float, pair.split())) for pair in path.get("d")[1:].split("L")]
            name = path.find(f"{SVG}title").text
            joined[name] = (places[0][1], places[-1][1])
            assert places[0][0] <= places[1][0] < places[2][0] <= places[3][0]
            ends.append(joined[name])
    assert set(joined) == set(result.names) == set(rows[0])
    for name, (left, right) in joined.items():
        assert abs(rows[0][name] - left) < 0.2 and abs(rows[1][name] - right) < 0.2
    crossed = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for at, a in enumerate(ends) for b in ends[:at])
    kept = [{frozenset(m.tolist()) for v, m in tree.clusters() if 14 <= v < 26} for tree in (result.dendrogram, other)]
    page = " ".join(html_page(result).split())
    assert f"{crossed} of 91 pairs of lines cross" in page and f"{len(kept[0] & kept[1])} of 12 branches hold" in page
    as_it_is = [np.argsort(tree.leaf_order()) for tree in (result.dendrogram, other)]
    assert crossed <= sum((np.diff([a[[i, j]] for a in as_it_is]).prod() < 0) for i in range(14) for j in range(i))
    same = html_page(replace(result, against=("itself", result.dendrogram)))
    assert "0 of 91 pairs of lines" in same and "12 of 12 branches" in " ".join(same.split())
    with pytest.raises(InputError, match="against must be a hierarchy of the same objects"):
        replace(result, against=("small", random_tree(5, 0)))
    with pytest.raises(InputError, match="tanglegram where there is another tree"):
        save_result(sample(5), tmp_path / "no.svg", figure="tanglegram")


def test_another_tree_from_a_file(tmp_path, capsys):
    "Names decide which leaves are the same, not the order of the file."
    path = tmp_path / "other.nwk"
    path.write_text("((c,a),(d,b));")
    title, tree = read_tree(path, ["a", "b", "c", "d"])
    assert title == "other" and tree.names == ("a", "b", "c", "d") and tree.cut(2).tolist() == [0, 1, 0, 1]
    with pytest.raises(InputError, match="of the same 4 objects; got 'd, x in only one"):
        read_tree(path, ["a", "b", "c", "x"])
    rows = [f"{'abcd'[i]},{'abcd'[j]},{'abcd'[k]}" for i, j, k in ((0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1))]
    (tmp_path / "answers.csv").write_text("\n".join(["i,j,k", *rows]))
    words = ["cluster", f"{tmp_path}/answers.csv", "--method", "4-al", "--figure", "tanglegram"]
    assert main([*words, "--out", f"{tmp_path}/two.svg"]) == 2
    assert "--against must be given with --figure tanglegram" in capsys.readouterr().err
    assert main([*words, "--against", str(path), "--out", f"{tmp_path}/two.svg"]) in (0, None)
    assert (tmp_path / "two.svg").read_text().count('class="join"') == 4
    capsys.readouterr()


@pytest.mark.parametrize("figure", ["dendrogram", "tree+matrix"])
def test_a_large_tree_is_saved_leaf_by_leaf(tmp_path, figure):
    "300 objects as a tall picture, where that is asked for."
    for unfolded, most in ((False, COLLAPSED_TO), (True, 300)):
        result = sample(300, style=TreeStyle(unfolded=unfolded))
        save_result(result, tmp_path / "tree.svg", figure=figure)
        root = ElementTree.parse(tmp_path / "tree.svg").getroot()
        names = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "name"]
        assert len(names) == (most if figure == "dendrogram" else 300)
    if figure == "tree+matrix":
        return
    save_result(result, tmp_path / "tree.png")
    with Image.open(tmp_path / "tree.png") as image:
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1) and image.size[1] > 300 * 13 * 300 / 96


# ---- in a browser


class Opened:
    "A page of a result in a context without a network."

    def __init__(self, browser, result, folder, script=True, width=1280):
        path = folder / "page.html"
        save_result(result, path)
        self.result = result
        self.page, self.complaints = open_offline(browser, path, width, script)

    def views(self):
        return [name for name in ("tree", "unrooted", "rooted") if self.page.locator(f"#{name}").is_visible()]

    def names(self):
        return self.page.locator("#tree text.name:visible").all_text_contents()

    def labels(self):
        "{name: cluster} as the list of clusters says."
        items = self.page.evaluate(
            "() => [...document.querySelectorAll('#clusters li')].map("
            "item => [item.querySelector('b').innerText, item.innerText])"
        )
        return {name: int(number) for number, text in items for name in text.split(") ", 1)[1].split(", ")}

    def cut(self, k):
        return dict(zip(self.result.names, self.result.dendrogram.cut(k).tolist()))


@pytest.fixture
def opened(browser, tmp_path):
    pages = []

    def open_page(result, **how):
        pages.append(Opened(browser, result, tmp_path, **how))
        return pages[-1]

    yield open_page
    for page in pages:
        assert page.complaints == []
        page.page.context.close()


def test_without_scripts_everything_is_there(opened):
    result = sample(n_clusters=4, support=np.full(23, 0.9))
    page = opened(result, script=False)
    assert sorted(page.names()) == sorted(result.names) and page.labels() == page.cut(4)
    assert not page.page.locator("#controls").is_visible()
    heads = page.page.locator("h2").all_inner_texts()
    assert {"4 clusters", "How alike each pair is", "A map", "The answers", "For a methods section"} <= set(heads)


BOXES = """() => [...document.querySelectorAll('#tree text.name')].filter(t => t.getClientRects().length).map(
  t => [t.textContent, t.getBoundingClientRect().toJSON()])"""


def test_the_script_leaves_what_python_drew(opened):
    "The same names in the same places of the picture, and after a fold and back too."
    for more in (dict(n_clusters=4), dict(n_clusters=3, style=TreeStyle(orientation="top")), dict()):
        result = sample(support=np.full(23, 0.8), **more)
        still, page = opened(result, script=False).page.evaluate(BOXES), opened(result)
        moving = page.page.evaluate(BOXES)
        assert sorted(name for name, _ in moving) == sorted(name for name, _ in still) == sorted(result.names)
        _, first = still[0]
        _, there = moving[0]  # the controls stand above the picture
        for (name, box), (other, place) in zip(still, moving):
            assert name == other
            assert all(abs(box[axis] - first[axis] - place[axis] + there[axis]) < 0.2 for axis in ("left", "top"))
        joint = page.page.locator(".joint").nth(1)
        joint.focus()
        page.page.keyboard.press("Enter")
        assert joint.get_attribute("aria-expanded") == "false" and len(page.page.evaluate(BOXES)) < 24
        page.page.keyboard.press("Enter")
        assert page.page.evaluate(BOXES) == moving


@pytest.mark.parametrize("side", SIDES)
def test_folding_keeps_everything_inside(opened, side):
    "On every side: ends stand at equal distances, names inside the picture, and bars end at their stems."
    result = sample(30, n_clusters=5, style=TreeStyle(orientation=side))
    page = opened(result)
    for node in result.dendrogram.cut_nodes(6).tolist():
        if node >= 30:
            page.page.locator(f"[data-node='{node}']").press("Enter")
    boxes, upright = [box for _, box in page.page.evaluate(BOXES)], side in ("left", "right")
    assert len(boxes) == 6
    middles = sorted(box["top"] + box["height"] / 2 if upright else box["left"] + box["width"] / 2 for box in boxes)
    assert np.ptp(np.diff(middles)) < 0.5
    paper = page.page.locator("#tree svg").bounding_box()
    assert all(paper["x"] <= b["left"] and b["right"] <= paper["x"] + paper["width"] for b in boxes)
    assert all(paper["y"] <= b["top"] and b["bottom"] <= paper["y"] + paper["height"] for b in boxes)
    lines = page.page.evaluate(
        "() => [...document.querySelectorAll('#tree line[data-bar], #tree line[data-stem]')].filter("
        "t => !t.matches('[hidden]')).map(t => ['bar' in t.dataset ? 'bar' : 'stem', t.dataset.bar ?? t.dataset.stem,"
        " ...['x1', 'y1', 'x2', 'y2'].map(a => +t.getAttribute(a))])"
    )
    axis = 1 if upright else 0
    at = {int(node): [places[axis], places[axis + 2]] for kind, node, *places in lines if kind == "stem"}
    bars = {int(node): [places[axis], places[axis + 2]] for kind, node, *places in lines if kind == "bar"}
    assert len(bars) == 5 and len(at) == 11
    for node, ends in bars.items():
        children = result.dendrogram.children[node - 30].tolist()
        assert ends == [at[child][0] for child in children] and np.mean(ends) == pytest.approx(at[node][0])


def test_an_overview_is_unfolded_leaf_by_leaf_and_saved(opened, tmp_path):
    result = sample(320)
    page = opened(result)
    assert len(page.names()) == COLLAPSED_TO
    with page.page.expect_download() as download:
        page.page.locator("#save-svg").click()
    download.value.save_as(tmp_path / "folded.svg")
    folded = ElementTree.parse(tmp_path / "folded.svg").getroot()
    lines = [line for line in folded.iter(f"{SVG}line") if line.get("data-stem") or line.get("data-bar")]
    assert len(lines) == 3 * COLLAPSED_TO - 2  # a stem for every end and merge, a bar for every merge
    page.page.locator("#unfold").click()
    assert sorted(page.names()) == sorted(result.names)
    for form in ("svg", "png"):
        with page.page.expect_download() as download:
            page.page.locator(f"#save-{form}").click()
        download.value.save_as(tmp_path / f"saved.{form}")
    saved = ElementTree.parse(tmp_path / "saved.svg").getroot()
    names = [text.text for text in saved.iter(f"{SVG}text") if text.get("class") == "name"]
    assert sorted(names) == sorted(result.names)
    with Image.open(tmp_path / "saved.png") as image:
        size, dots = image.size, image.info["dpi"]
    assert dots == pytest.approx((300, 300), abs=0.1)
    assert size == pytest.approx([float(saved.get(side)) * 300 / 96 for side in ("width", "height")], abs=1)


def test_methods_text_tells_how_noisy_repeated_answers_are():
    rng = np.random.default_rng(0)
    asked = np.array([rng.permutation(8)[:3] for _ in range(60)])
    answers = Triplets(np.concatenate([asked, asked, asked]), 8).flip(0.1, 1)
    compared = compare_methods(answers, ["3-al", "4-al"], n_splits=3)
    for some, is_said in ((answers, True), (Triplets([(i, i + 1, i + 2) for i in range(6)], 8), False)):
        result = Result(build_hierarchy("3-al", some)[0], some, method="3–AL", compared=compared)
        text = " ".join(sum(methods_parts(result).values(), []))
        ceiling = repeat_ceiling(some)
        assert ("repeated questions" in text) == is_said == (ceiling is not None)
        assert not is_said or f"any model to {ceiling['agreement']:.3f}" in text


def test_answers_about_three_objects_are_counted_as_one(tmp_path):
    rows = [("a", "b", "c"), ("b", "c", "d"), ("d", "a", "c")]
    answers = read_comparisons(pd.DataFrame(rows, columns=["odd", "shown 1", "shown 2"]), kind="odd-one-out")
    for some, words in ((answers, "3 answers (6 triplets)"), (answers.take(slice(5)), "5 triplets")):
        page = html_page(Result(random_tree(4, 0), some, method="3–AL"))
        assert f"4 objects, {words}" in page and f"The first {len(some)} of {len(some)} triplets:" in page


MARKS = """([what, kind]) => [...document.querySelectorAll(`${what}`)].map(part => [part.dataset[kind],
  part.getAttribute(part.matches('line') ? 'stroke' : 'fill')])"""


def all_marks(page):
    kinds = ("object", "branch", "leaf")
    return [page.page.evaluate(MARKS, [f":is(line, circle, rect)[data-{kind}]", kind]) for kind in kinds]


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_a_cut_is_the_same_everywhere(opened, n_clusters):
    "Additive trees, matrix, map, subtitle and methods text, against what Python writes for that number."
    from comparison_hc import AdditiveTree

    plain = sample(12)
    model = AdditiveTree(n_trees=2, rate=1.0, lapse=0.0).fit(plain.comparisons)
    result = replace(plain, dendrogram=model.dendrogram_, additive=model, n_clusters=n_clusters)
    page = opened(result)
    first, marks = page.page.inner_text("body"), all_marks(opened(result, script=False))  # as Python paints it
    assert page.views() == ["unrooted"]
    for k in (5, 2):
        page.page.locator("#k").evaluate(f"e => {{ e.value = {k}; e.dispatchEvent(new Event('input')); }}")
        labels = result.dendrogram.cut(k)
        colors = [cluster_color(int(c)) for c in labels]
        for what in (".matrix rect[data-object]", ".map circle[data-object]"):
            assert dict(page.page.evaluate(MARKS, [what, "object"])) == {str(i): c for i, c in enumerate(colors)}
        for view in ("#unrooted", "#rooted"):
            for number, tree in enumerate(model.trees_):
                shown = page.page.evaluate(MARKS, [f"{view} line[data-branch^='{number}-']", "branch"])
                expected = branch_colors(tree.parent, labels)
                assert {(int(key.split("-")[1]), color) for key, color in shown} == set(enumerate(expected))
            badges = page.page.evaluate(MARKS, [f"{view} circle[data-leaf]", "leaf"])
            assert sorted(badges) == sorted([str(i), c] for i, c in enumerate(colors) for _ in model.trees_)
        text, same = page.page.inner_text("body"), replace(result, n_clusters=k)
        assert f"answers by 5 people, {k} clusters." in text
        assert page.page.inner_text(".methods") == " ".join(sum(methods_parts(same).values(), []))
    page.page.locator("#k").evaluate(f"e => {{ e.value = {n_clusters or 1}; e.dispatchEvent(new Event('input')); }}")
    assert page.page.inner_text("body") == first and all_marks(page) == marks
    page.page.locator("#view").select_option("tree")
    assert page.views() == ["tree"]


@pytest.mark.parametrize("nested", [True, False])
def test_the_slider_begins_at_the_clusters_chosen_and_comes_back_to_them(opened, nested):
    "Tree, list, matrix, map, subtitle and methods text, in either state against what Python writes."
    plain = sample(12)
    chosen = choose_clusters(plain.comparisons, 3, plain.dendrogram)
    labels = plain.dendrogram.cut(3) if nested else relabel_by_size(np.arange(12) % 3)
    result = replace(plain, partition=replace(chosen, labels=labels))
    page, still = opened(result), opened(result, script=False)
    stems = "() => [...document.querySelectorAll('#tree [data-stem]')].map(p => p.getAttribute('stroke'))"

    def is_dashed():
        return page.page.locator(".cutter line").last.evaluate("e => getComputedStyle(e).visibility") == "visible"

    def everything(of):
        text = [of.page.inner_text(what) for what in ("#clusters", "#lead", ".methods", ".map")]
        marks = [of.page.evaluate(MARKS, [what, "object"]) for what in (".matrix rect", ".map circle")]
        return *text, of.labels(), of.page.evaluate(stems), *marks

    assert page.page.locator("#k-said").inner_text() == "3" and page.page.locator("#k").input_value() == "3"
    home = everything(page)
    assert home == everything(still) and page.labels() == dict(zip(result.names, labels.tolist()))
    assert is_dashed() is nested and page.page.locator(".cutter circle").is_visible()
    page.page.locator("#k").evaluate("e => { e.value = 5; e.dispatchEvent(new Event('input')); }")
    assert page.labels() == page.cut(5) and is_dashed()
    assert page.page.inner_text("#clusters h2") == "5 clusters, cut by merge order"
    cut = replace(plain, n_clusters=5)
    assert everything(page)[1:] == everything(opened(cut))[1:]
    assert page.page.inner_text(".methods") == " ".join(sum(methods_parts(cut).values(), []))
    page.page.locator("#k").evaluate("e => { e.value = 1; e.dispatchEvent(new Event('input')); }")
    assert page.page.locator("#k-said").inner_text() == "not cut" and not page.page.locator("#clusters").is_visible()
    assert page.page.inner_text("#lead") == "" and page.page.inner_text("#cut-sentence") == ""
    page.page.locator("#k").evaluate("e => { e.value = 3; e.dispatchEvent(new Event('input')); }")
    assert everything(page) == home


def test_a_folded_branch_has_one_cell_per_column(opened):
    result = sample(12, annotations={"size": list(range(12)), "kind": ["x"] * 12})
    page = opened(result)
    node = next(v for v in range(12, 23) if result.dendrogram.sizes[v] > 2)
    page.page.locator(f"[data-node='{node}']").press("Enter")
    inside = next(members.tolist() for v, members in result.dendrogram.clusters() if v == node)
    titles = page.page.locator(f"[data-node='{node}'] .cell:visible title").all_text_contents()
    assert titles == [f"size: {np.mean(inside):.4g}", "kind: x"]
    assert page.page.locator("#tree .cell:visible").count() == 2 * (12 - len(inside) + 1)


TEXTS = """() => [...document.querySelectorAll('svg .joint > text, svg .joint text, svg [data-number], svg text.name')]
  .filter(t => !t.closest('[hidden]') && !t.closest('.shut'))
  .map(t => [t.textContent, t.getBoundingClientRect().toJSON()])"""


@pytest.mark.parametrize("seed", range(4))
def test_support_badges_and_names_never_collide_at_85_mm(opened, seed):
    "In a picture as wide as a column of a journal, as it is on the page."
    n = (12, 24, 40, 60)[seed]
    support = np.random.default_rng(seed).random(n - 1)
    for side in SIDES:
        style = TreeStyle(width=321, orientation=side) if side in ("left", "right") else TreeStyle(orientation=side)
        page = opened(sample(n, seed, n_clusters=5, support=support, style=style))
        boxes = page.page.evaluate(TEXTS)
        assert sum(text.isdigit() for text, _ in boxes) > 6
        for at, (one, a) in enumerate(boxes):
            for other, b in boxes[at + 1 :]:
                wide = min(a["right"], b["right"]) - max(a["left"], b["left"])
                tall = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
                assert wide < 1 or tall < 4, (side, one, other)  # boxes of text are higher than its digits


def test_a_chain_of_two_thousand_leaves_is_unfolded(opened, tmp_path):
    "As deep as it is large; the picture that is saved has every name, in the order of the tree."
    tree = chain(2000)
    page = opened(Result(tree, None, "Chain"))
    page.page.locator("#unfold").click()
    with page.page.expect_download() as download:
        page.page.locator("#save-svg").click()
    download.value.save_as(tmp_path / "all.svg")
    texts = [text for text in ElementTree.parse(tmp_path / "all.svg").getroot().iter(f"{SVG}text")]
    names = sorted((place_of_text(text)[1], text.text) for text in texts if text.get("class") == "name")
    assert len(names) == 2000 and {name for _, name in names} == set(map(str, range(2000)))


def test_branches_of_a_larger_overview_stay_folded(opened, monkeypatch):
    monkeypatch.setattr("comparison_hc.evaluation.report.MOST_UNFOLDED", 300)
    result = sample(320)
    page = opened(result)
    assert len(page.names()) == COLLAPSED_TO and "stay folded" in page.page.locator("#tree + figcaption").inner_text()
    page.page.locator("#search").fill("object 319")
    found = page.page.locator("#tree .found")
    assert found.count() == 1 and page.page.locator("#found").inner_text() == "1 found"
    page.page.locator("#unfold").click()
    assert len(page.names()) == COLLAPSED_TO


def test_every_cut_has_pythons_numbers(opened):
    page = opened(sample())
    slider = page.page.locator("#k")
    assert page.page.locator("#k-said").inner_text() == "not cut" and not page.page.locator("#clusters").is_visible()
    slider.focus()
    for k in range(2, 25):
        page.page.keyboard.press("ArrowRight")
        assert page.labels() == page.cut(k)
    assert page.page.locator("#clusters h2").inner_text() == "24 clusters"


def test_the_line_is_dragged(opened):
    page = opened(sample(n_clusters=2))
    handle = page.page.locator(".cutter circle").bounding_box()
    box = page.page.locator("#tree svg").bounding_box()
    mouse = page.page.mouse
    mouse.move(handle["x"] + 5, handle["y"] + 5)
    mouse.down()
    mouse.move(handle["x"] + 0.4 * box["width"], handle["y"] + 60, steps=5)
    mouse.up()
    k = int(page.page.locator("#k-said").inner_text())
    assert 5 < k < 20 and page.labels() == page.cut(k)
    mouse.move(box["x"] + 20, handle["y"])
    assert int(page.page.locator("#k-said").inner_text()) == k  # it was let go


def test_branches_are_folded_and_found_again(opened):
    result = sample()
    page = opened(result)
    node = int(np.argmax(np.where(result.dendrogram.sizes == 24, 0, result.dendrogram.sizes)))
    joint = page.page.locator(f"[data-node='{node}']")
    hidden = result.dendrogram.sizes[node]
    joint.click(force=True)
    assert len(page.names()) == 24 - hidden + 1 and f"({hidden} objects)" in " ".join(page.names())
    page.page.locator(f"[data-node='{node}']").focus()
    page.page.keyboard.press("Enter")
    assert sorted(page.names()) == sorted(result.names)
    page.page.keyboard.press("Space")
    inside = [i for v, members in result.dendrogram.clusters() if v == node for i in members.tolist()]
    page.page.locator("#search").fill(result.names[inside[0]])
    assert result.names[inside[0]] in page.names() and page.page.locator("#tree .found").count() >= 1
    assert page.page.locator("#found").inner_text().endswith("found")
    page.page.locator(f"[data-node='{node}']").focus()
    page.page.keyboard.press("ArrowLeft")
    above = int(result.dendrogram.parents[node])
    assert page.page.evaluate("document.activeElement.dataset.node") == str(above)


def test_every_joint_is_reached_by_keys(opened):
    "One stop of the tabulator for the tree; then up and down through all joints, right and left along branches."
    result = sample(12)
    page = opened(result)
    joints = page.page.locator(".joint")
    assert joints.count() == 11 and page.page.locator(".joint[tabindex='0']").count() == 1
    page.page.locator("#save-png").focus()
    page.page.keyboard.press("Tab")
    focused = "document.activeElement.dataset.node"
    if page.page.evaluate("document.activeElement.id") == "tree":  # a picture that can be scrolled is a stop, too
        page.page.keyboard.press("Tab")
    assert page.page.evaluate(focused) == "22"
    mark = "getComputedStyle(document.activeElement.querySelector('.dot')).strokeWidth"
    assert page.page.evaluate(mark) == "3px"  # the focus is seen
    seen = ["22"]
    for key in 11 * ["ArrowUp"] + 11 * ["ArrowDown"]:
        page.page.keyboard.press(key)
        seen.append(page.page.evaluate(focused))
    assert {*map(int, seen)} == set(range(12, 23))
    page.page.locator("[data-node='22']").focus()
    page.page.keyboard.press("ArrowRight")
    assert int(page.page.evaluate(focused)) in result.dendrogram.children[-1]


def test_zoom_and_print(opened):
    page = opened(sample(250, n_clusters=9))
    svg = page.page.locator("#tree svg")
    before = svg.bounding_box()["width"]
    page.page.locator("#larger").click()
    assert svg.bounding_box()["width"] == pytest.approx(1.25 * before, rel=0.01)
    page.page.locator("#fit").click()
    page.page.emulate_media(media="print")
    page.page.set_viewport_size({"width": 690, "height": 1000})
    box = svg.bounding_box()
    assert box["width"] <= 690 and 12.5 * 0.86 * box["width"] / 900 > 5 * 96 / 72  # letters of five points
    assert not page.page.locator(".cutter").is_visible()
    assert not page.page.locator("#controls").is_visible() and not page.page.locator(".screen").first.is_visible()
    assert page.page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("width", [390, 1280])
def test_only_figures_scroll(opened, width):
    long = [f"object number {number} with a rather long name" for number in range(12)]
    for result in (sample(36, n_clusters=5), sample(320), sample(12, names=long, n_clusters=3)):
        page = opened(result, width=width)
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = [box for _, box in page.page.evaluate(BOXES)]
        boxes.sort(key=lambda box: box["top"])
        assert all(b["top"] - a["top"] > 8 for a, b in zip(boxes, boxes[1:]))


def test_hostile_names_are_only_text(opened):
    names = "</script><script>alert(1)</script>|<img src=x onerror=alert(2)>|<!--|</svg>|a&b|{{x}}|'\"".split("|")
    page = opened(sample(7, names=names, n_clusters=2))
    assert sorted(page.names()) == sorted(names) and re.match("2 clusters", page.page.inner_text("#clusters h2"))
    assert page.page.locator("#clusters li").count() == 2 and page.page.locator("img").count() == 0


def test_the_map_is_the_one_that_predicts_held_out_answers_better(monkeypatch):
    rng = np.random.default_rng(3)
    places = rng.normal(size=(20, 2))
    rows = np.array([rng.permutation(20)[:3] for _ in range(3000)])
    near, far = (np.linalg.norm(places[rows[:, 0]] - places[rows[:, at]], axis=1) for at in (1, 2))
    turn = (near > far) ^ (rng.random(3000) < 0.1)
    rows[turn] = rows[turn][:, [0, 2, 1]]
    answers = Triplets(rows, 20)

    def shares(page):
        "What the caption says of t-STE and of scaling."
        page = " ".join(page.split())
        found = re.search(r"points by t-STE predict ([\d.]+)% and points by scaling ([\d.]+)%", page)
        return *map(float, found.groups()), "called closer are nearer" in page, "of the squared distances" in page

    result = Result(build_hierarchy("3-al", answers)[0], answers)
    embedded, scaled, is_embedded, is_scaled = shares(html_page(result))
    assert 90 > embedded > scaled > 70 and is_embedded and not is_scaled
    bad = SimpleNamespace(points=rng.normal(size=(20, 2)))
    monkeypatch.setattr("comparison_hc.evaluation.embedding.t_ste", lambda *_, **__: bad)
    embedded, same, is_embedded, is_scaled = shares(html_page(result))
    assert embedded < 60 and same == scaled and is_scaled and not is_embedded


@pytest.mark.filterwarnings("ignore:the smallest letters")
@pytest.mark.parametrize("figure", ["dendrogram", "matrix", "map", "tree+matrix"])
def test_every_figure_has_the_width_that_was_asked_for(tmp_path, figure):
    "85 mm, a column of a journal, whatever is shown; a matrix and a map keep their shape."
    sizes = []
    for style in (TreeStyle(width=321), TreeStyle(width=642), None):
        save_result(replace(sample(), style=style), tmp_path / "a.svg", figure=figure)
        svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
        sizes.append([float(each) for each in re.findall(r' (?:width|height)="([\d.]+)"', svg)[:2]])
    assert [round(width) for width, _ in sizes[:2]] == [321, 642] and sizes[2][0] not in (321, 642)
    if figure != "dendrogram":
        assert sizes[0][1] / sizes[0][0] == pytest.approx(sizes[2][1] / sizes[2][0], rel=0.01)


def test_a_number_of_support_and_its_dot_agree():
    "Rounded to the nearest percent, 0.946 was 95 beside a grey dot, which is black from 95%."
    tree, shares = random_tree(6, 0), [0.946, 0.95, 0.696, 0.7, 1.0]
    drawn = re.findall(r'class="dot"[^>]*fill="(#\w+)"[^>]*/><text[^>]*>(\d+)', _svg(tree, support=shares))
    assert sorted(drawn) == [("#111", "95"), ("#999", "70"), ("#999", "94"), ("#fff", "69")]
    assert [whole_percent(n / 100) for n in range(101)] == [str(n) for n in range(101)]
    drawing = Drawing()
    drawing.add_support([(40 * n, 0) for n in range(4)], shares[:4])
    fills, texts = [dot[3] for dot in drawing.dots], [text[2] for text in drawing.texts]
    assert list(zip(fills, texts)) == [("#999999", "94"), ("#111111", "95"), ("#ffffff", "69"), ("#999999", "70")]


def test_a_figure_that_misses_something_says_so(tmp_path):
    "Letters too small to read, a width that names do not allow, columns that are not drawn, names that are cut."

    def warned(figure, width=None, ending="svg", **more):
        result = replace(sample(30), style=TreeStyle(width=width), **more)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            save_result(result, tmp_path / f"a.{ending}", figure)
        return [str(each.message) for each in found]

    for figure in ("matrix", "map", "tree+matrix"):
        (text,) = warned(figure, 200)
        points, wider = re.search(
            rf"figure {re.escape(figure)} are ([\d.]+) points .* 5 points at --width (\d+)$", text
        ).groups()
        assert float(points) < 5 and float(points) * int(wider) / 200 == pytest.approx(5, rel=0.05)
        assert not warned(figure, int(wider)) and not warned(figure) and warned(figure, 200, "pdf") == [text]
    facts = {"size": list(range(30))}
    assert warned("matrix", annotations=facts) == [
        "figure matrix does not show the columns of --annotate; tree, dendrogram, tree+matrix do"
    ]
    assert not warned("dendrogram", annotations=facts) and not warned("dendrogram", 321)
    names = [f"a rather long name of an object, number {n}" if n < 2 else str(n) for n in range(30)]
    tree = replace(sample(30).dendrogram, names=names)
    (text,) = warned("dendrogram", 200, dendrogram=tree, comparisons=None)
    assert text.startswith("2 long names are cut in figure dendrogram")
    trees = AdditiveTree(n_trees=1).fit(sample(30).comparisons)
    (text,) = warned("unrooted", 150, additive=trees)
    wide = re.search(r' width="([\d.]+)"', (tmp_path / "a.svg").read_text())[1]
    assert text.startswith(f"figure unrooted is {float(wide):.0f} pixels wide") and text.endswith("not 150 (40 mm)")
