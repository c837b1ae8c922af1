"""The command as a user meets it: exit codes, one line for bad input, every form of output, and the page in a real
browser.
"""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared import open_offline, refused, run

from comparison_hc import Dendrogram
from comparison_hc.cli import main
from comparison_hc.cli._main import make_parser
from comparison_hc.cli.options import help_texts
from comparison_hc.core._rows import is_name
from comparison_hc.core.io import atomic_write
from comparison_hc.evaluation.object_tables import read_initial, read_truth
from comparison_hc.evaluation.report import labels_text

CALL = [sys.executable, "-c", "import sys; from comparison_hc.cli import main; sys.exit(main())"]
NAMES = ["apple", "pear", "plum", "cat", "dog", "wolf"]


def fruits_and_animals(n_anchors):
    "Triplets about six things: fruits are close to fruits, animals to animals."
    return "".join(
        f"{a},{b},{c}\n"
        for group, other in ((NAMES[:3], NAMES[3:]), (NAMES[3:], NAMES[:3]))
        for a in group[:n_anchors]
        for b in group
        if a != b
        for c in other
    )


@pytest.fixture
def answers(tmp_path, monkeypatch):
    "A file with a name that needs care, of twenty-four answers."
    monkeypatch.chdir(tmp_path)
    path = Path("fruit & fauna.csv")
    path.write_text(fruits_and_animals(2))
    return path


def clusters_said(out):
    "The clusters on the screen."
    return {frozenset(line.split(": ")[1].split(", ")) for line in out.splitlines() if line.startswith("cluster ")}


# ---- good input


def test_screen(answers, capsys):
    code, out, err = run(capsys, "cluster", answers, "--clusters", 2)
    assert code == 0 and err == ""
    assert "24" in out and "answers (triplets)" in out and "the hierarchy agrees with" in out
    assert clusters_said(out) == {frozenset(NAMES[:3]), frozenset(NAMES[3:])}
    assert all(any(line.endswith(f" {name}") for line in out.splitlines()) for name in NAMES)  # the drawing


SVG_NAME = b"http://www.w3.org/2000/svg"


def test_every_form_of_output(answers, capsys):
    endings = ["html", "svg", "png", "pdf", "nwk", "csv", "json"]
    written = [word for ending in endings for word in ("--out", f"tree.{ending}")]
    code, out, err = run(capsys, "cluster", answers, "--clusters", 2, *written)
    assert code == 0 and err == ""
    assert [line for line in out.splitlines() if line.startswith("wrote")] == [
        f"wrote {file}" for file in written[1::2]
    ]
    page, svg, png, pdf, newick, table, everything = (Path(f"tree.{ending}").read_bytes() for ending in endings)
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and b"IEND" in png[-12:] and pdf.startswith(b"%PDF")
    texts = "".join(ET.fromstring(svg).itertext())
    for name in NAMES:
        assert name in texts and name.encode() in page
    assert page.startswith(b"<!DOCTYPE html>")
    assert b"fruit &amp; fauna" in page
    assert b"<script src" not in page
    assert not [outside for outside in (b"src=", b"https:", b"http:") if outside in page.replace(SVG_NAME, b"")]
    data = json.loads(everything)
    tree = Dendrogram.from_newick(newick.decode().strip(), names=data["names"])
    assert sorted(data["names"]) == sorted(NAMES)
    assert data["n_clusters"] == 2
    assert tree.same_tree(Dendrogram.from_linkage(data["linkage"]))
    assert tree.cut(2).tolist() == data["labels"] and sum(data["agreement"].values()) == 24
    rows = list(csv.DictReader(table.decode().splitlines()))
    assert list(rows[0]) == ["left", "right", "height", "n_leaves"]
    np.testing.assert_allclose([[float(value) for value in row.values()] for row in rows], data["linkage"], rtol=1e-5)
    assert not [path for path in os.listdir() if path.startswith(".")]  # no half-written drafts


def test_labels_and_truth(answers, capsys):
    Path("truth.csv").write_text(
        "object,class\n" + "".join(f"{name},{'fruit' if name in NAMES[:3] else 'animal'}\n" for name in reversed(NAMES))
    )
    words = "--clusters 2 --truth truth.csv --labels-out labels.csv --out t.html"
    code, out, err = run(capsys, "cluster", answers, *words.split())
    assert code == 0 and err == "" and "adjusted Rand index with the classes  1.000" in out
    assert "wrote labels.csv" in out
    found = {row["object"]: row["cluster"] for row in csv.DictReader(Path("labels.csv").read_text().splitlines())}
    assert set(found) == set(NAMES) and len({(found[name], name in NAMES[:3]) for name in NAMES}) == 2
    assert "fruit" in Path("t.html").read_text() and "animal" in Path("t.html").read_text()  # the legend


def test_objects_that_occur_in_no_answer(answers, capsys):
    Path("all.txt").write_text("\n".join([*NAMES, " kiwi ", ""]), encoding="utf-8-sig")
    code, out, _ = run(capsys, "cluster", answers, "--objects", "all.txt", "--clusters", 7, "--out", "o.json")
    assert code == 0 and "objects never compared" in out and "1: kiwi" in out
    assert json.loads(Path("o.json").read_text())["names"] == [*NAMES, "kiwi"]


def test_majority(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text("p1,p2,p3\np1,p2,p3\np1,p3,p2\np2,p1,p3\n")
    assert "answers (triplets)" in (out := run(capsys, "cluster", "votes.csv", "--majority")[1])
    counts = {line.split("  ")[0]: line.split()[-1] for line in out.splitlines() if "  " in line}
    assert counts["answers (triplets)"] == "2" and counts["questions answered both ways"] == "0"
    Path("tied.csv").write_text("p1,p2,p3\np1,p3,p2\n")
    assert "--majority" in refused(capsys, "cluster", "tied.csv", "--majority")


def test_columns_respondents_and_header(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text("when,who,near,me,far\nmon,Ada,p2,p1,p3\ntue,Bob,p1,p2,p3\n")
    for words in (
        ["--columns", "me,near,far", "--respondent", "who"],
        ["--columns", "3, 2, 4", "--respondent", "1", "--header", "yes"],
    ):
        code, out, err = run(capsys, "cluster", "wide.csv", *words, "--clusters", 2)
        assert code == 0 and err == "" and "cluster 0 (2): p1, p2" in out
        assert [line.split() for line in out.splitlines() if line.startswith("respondents")] == [["respondents", "2"]]


@pytest.mark.parametrize(
    "kind, row, cells", [("quadruplets", "p1,p2,p3,p4", 1), ("central", "p1,p2,p3", 2), ("odd-one-out", "p1,p2,p3", 2)]
)
def test_kinds(capsys, tmp_path, monkeypatch, kind, row, cells):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(row + "\n" + row + "\n")
    code, out, _ = run(capsys, "cluster", "rows.csv", "--kind", kind, "--header", "no")
    assert code == 0
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("answers")] == [str(2 * cells)]


def test_hostile_names_stay_text(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = "<script>alert(1)</script>|a'b|x\"y & z|</svg>|Robert'); DROP|日本 🚗|a:b;c|[x]|{{y}}".split("|")
    rows = [[names[t % 9], names[(t + 1) % 9], names[(t + 4) % 9]] for t in range(9)]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = "--clusters 2 --title <b>& --out n.html --out n.nwk --out n.json --labels-out n.csv"
    code, _, err = run(capsys, "cluster", "n.jsonl", *words.split())
    page = Path("n.html").read_text(encoding="utf-8")
    assert code == 0 and err == "" and "<script>" not in page and "<b>" not in page and page.count("</svg>") == 3
    assert page.count("<script") == page.count("</script>") == 2  # the tree's data, and what shows it
    assert set(Dendrogram.from_newick(Path("n.nwk").read_text().strip()).names) == set(names)
    assert {row[0] for row in csv.reader(Path("n.csv").read_text().splitlines())} == {"object", *names}


def test_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path / "nothing here"))
    code, out, err = run(capsys, "demo")
    assert code == 0
    assert err == ""
    assert "wrote animals.html" in out
    assert "penguin" in out
    assert "penguin" in Path("animals.html").read_text(encoding="utf-8")


def test_a_sample_file_is_written_and_read(tmp_path, monkeypatch, capsys):
    from comparison_hc import load_dataset, read_comparisons

    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "data", "animals", "--out", "my answers.csv")
    assert code == 0 and "now: comparison-hc cluster 'my answers.csv'" in out
    again, animals = read_comparisons("my answers.csv"), load_dataset("animals").triplets
    named = [[given.object_names[i] for row in given.array for i in row] for given in (again, animals)]
    assert named[0] == named[1]
    for words in (["data", "--out", "x.csv"], ["data", "zoo", "--out", "x.xls"]):
        assert "--out must be" in refused(capsys, *words)


def test_data(capsys):
    code, out, _ = run(capsys, "data")
    names = "car zoo glass newsgroups food mnist mnist-tsne omniglot cifar10 digits iris wine animals"
    assert code == 0 and all(name in out for name in f"{names} material music things nature vogue".split())
    code, out, _ = run(capsys, "data", "animals")
    assert code == 0 and "24" in out and "source:" in out


# ---- bad input: exit code 2, one line, nothing on the screen, nothing written

GOOD = b"p1,p2,p3\np2,p1,p3\n"
BAD = {  # files that are read wrongly or refused are in `test_real_files`
    "no command": ([], "COMMAND"),
    "unknown command": (["frobnicate"], "frobnicate"),
    "no file": (["cluster"], "FILE"),
    "missing file": (["cluster", "nowhere.csv"], "nowhere.csv"),
    "a folder": (["cluster", "."], "./header.csv must be a file with at least one answer"),
    "unknown option": (["cluster", "good.csv", "--frob"], "--frob"),
    "kind": (["cluster", "good.csv", "--kind", "pairs"], "pairs"),
    "method": (["cluster", "good.csv", "--method", "ward"], "ward"),
    "no clusters": (["cluster", "good.csv", "--clusters", "0"], "--clusters"),
    "too many clusters": (["cluster", "good.csv", "--clusters", "4"], "1 to 3"),
    "clusters in words": (["cluster", "good.csv", "--clusters", "two"], "--clusters"),
    "negative": (["cluster", "good.csv", "--clusters", "-1"], "--clusters"),
    "ending": (["cluster", "good.csv", "--out", "tree.doc"], "tree.doc"),
    "no ending": (["cluster", "good.csv", "--out", "tree"], "--out"),
    "no folder": (["cluster", "good.csv", "--out", "no/tree.html"], "existing folder"),
    "one bad of two": (["cluster", "good.csv", "--out", "tree.html", "--out", "tree.doc"], "tree.doc"),
    "labels without clusters": (["cluster", "good.csv", "--labels-out", "l.csv"], "--clusters"),
    "labels as text": (["cluster", "good.csv", "--labels-out", "l.txt", "--clusters", "2"], "--labels-out"),
    "empty": (["cluster", "empty.csv"], "empty"),
    "header only": (["cluster", "header.csv"], "header"),
    "open quote": (["cluster", "quote.csv"], "line 2"),
    "unknown encoding": (["cluster", "good.csv", "--encoding", "klingon"], "klingon"),
    "wrong encoding": (["cluster", "good.csv", "--encoding", "utf-16"], "utf-16"),
    "no text encoding": (["cluster", "good.csv", "--encoding", "rot13"], "rot13"),
    "undefined encoding": (["cluster", "good.csv", "--encoding", "undefined"], "undefined"),
    "half a character": (["cluster", "half.jsonl", "--out", "h.html"], "line 1"),
    "parquet": (["cluster", "bad.parquet"], "Parquet"),
    "columns": (["cluster", "good.csv", "--columns", "0,1"], "columns"),
    "column number": (["cluster", "good.csv", "--columns", "0,1,9"], "9"),
    "odd digit": (["cluster", "good.csv", "--columns", "²,1,2"], "²"),
    "column name": (["cluster", "good.csv", "--columns", "i,j,k"], "columns"),
    "respondent": (["cluster", "good.csv", "--respondent", "who"], "respondent"),
    "truth missing": (["cluster", "good.csv", "--truth", "nowhere.csv"], "--truth"),
    "truth incomplete": (["cluster", "good.csv", "--truth", "some.csv"], "p3"),
    "truth unknown": (["cluster", "good.csv", "--truth", "other.csv"], "line 4"),
    "truth twice": (["cluster", "good.csv", "--truth", "twice.csv"], "line 2"),
    "truth three cells": (["cluster", "good.csv", "--truth", "good.csv"], "line 1"),
    "truth bytes": (["cluster", "good.csv", "--truth", "latin.csv"], "UTF-8"),
    "objects missing": (["cluster", "good.csv", "--objects", "nowhere.txt"], "--objects"),
    "objects twice": (["cluster", "good.csv", "--objects", "doubled.txt"], "distinct"),
    "objects too few": (["cluster", "good.csv", "--objects", "few.txt"], "p3"),
    "objects empty": (["cluster", "good.csv", "--objects", "empty.csv"], "at least one name"),
    "objects bytes": (["cluster", "good.csv", "--objects", "latin.csv"], "utf-8"),
    "data set": (["data", "atlantis"], "atlantis"),
    "demo ending": (["demo", "--out", "a.doc"], "a.doc"),
}
FILES = {
    "good.csv": GOOD,
    "empty.csv": b"\n  \n",
    "header.csv": b"i,j,k\n",
    "quote.csv": b'p1,p2,p3\np1,"p2,p3\np2,p1,p3\n',
    "latin.csv": "pé,p2,p3\n".encode("latin-1"),
    "half.jsonl": b'["\\ud800","b","c"]\n',
    "bad.parquet": b"PAR0",
    "some.csv": b"p1,A\np2,B\n",
    "other.csv": b"p1,A\np2,B\np3,A\nq,A\n",
    "twice.csv": b"p1,A\np1,B\n",
    "doubled.txt": b"p1\np1\np2\np3\n",
    "few.txt": b"p1\np2\n",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_2(case, tmp_path, monkeypatch, capsys):
    words, says = BAD[case]
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert says in refused(capsys, *words) and sorted(os.listdir()) == sorted(FILES)


def test_a_folder_that_may_not_be_written(tmp_path, monkeypatch, capsys):
    if os.access("/", os.W_OK):
        pytest.skip("this user may write anywhere")
    (tmp_path / "good.csv").write_bytes(GOOD)
    (tmp_path / "locked").mkdir(mode=0o555)
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "cluster", "good.csv", "--out", "locked/t.html")
    assert code == 2 and "--out" in err


# ---- as a process


def test_exit_codes_of_a_process(answers):
    done = subprocess.run(
        [*CALL, "cluster", str(answers), "--out", "t.nwk"], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0 and done.stderr == "" and Path("t.nwk").read_text().endswith(";\n")
    done = subprocess.run([*CALL, "cluster", "nowhere.csv"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_screen_that_cannot_draw_boxes(answers, encoding):
    done = subprocess.run(
        [*CALL, "cluster", str(answers)], capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}
    )
    assert done.returncode == 0 and done.stderr == b"" and b"apple" in done.stdout and b"?" in done.stdout


def test_a_reader_that_goes_away(answers):
    done = subprocess.run(
        ["sh", "-c", '"$@" | head -1', "sh", *CALL, "cluster", str(answers)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("method")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_is_exit_code_130_one_line_and_leaves_the_old_file(tmp_path):
    "A method that sleeps stands for long work: the process is interrupted in the middle of it."
    slow = (
        "import dataclasses, sys, time; from comparison_hc.methods import methods; from comparison_hc.cli import main\n"
        "def wait(*_, **__):\n"
        "    print('working', file=sys.stderr, flush=True)\n"
        "    for _ in range(600): time.sleep(0.1)\n"  # a signal just before one long sleep would wait for its end
        "methods['4-al'] = dataclasses.replace(methods['4-al'], passive=wait)\nsys.exit(main())"
    )
    (tmp_path / "good.csv").write_bytes(GOOD)
    (tmp_path / "t.html").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", slow, "cluster", "good.csv", "--method", "4-al", "--out", "t.html"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "comparison-hc: interrupted\n"
    assert out == ""
    assert (tmp_path / "t.html").read_text() == "old"
    assert len(os.listdir(tmp_path)) == 2


# ---- the main job


@pytest.fixture(scope="module")
def cars(tmp_path_factory):
    "The page about the cars, and what was printed."
    path = Path(os.environ.get("COMPARISON_HC_DATA", "nowhere")) / "car" / "T_ALL_REDUCED.csv"
    if not path.is_file():
        pytest.skip("COMPARISON_HC_DATA has no car/T_ALL_REDUCED.csv")
    page = tmp_path_factory.mktemp("cars") / "cars.html"
    done = subprocess.run(
        [*CALL, "cluster", str(path), "--kind", "central", "--method", "4-al", "--out", str(page)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0 and done.stderr == ""
    return page, done.stdout


def test_main_job(cars):
    page, out = cars
    counts = {line[: line.index("  ")]: line.split("  ")[-1].strip() for line in out.splitlines() if "  " in line}
    assert counts["responses"].startswith("6,056")
    assert counts["answers (triplets)"] == "12,112"
    assert counts["objects"] == "60"
    assert counts["questions answered both ways"] == "0"
    share = float(counts["the hierarchy agrees with"].split("(")[1].split("%")[0])
    assert 40 < share <= 50  # of the two triplets of a statement a tree can satisfy one; a random tree a third of all
    text = page.read_text(encoding="utf-8")
    for words in ("6,056", "12,112", counts["the hierarchy agrees with"], "<svg"):
        assert words in text
    svg = ET.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    shown = {element.text for element in svg.iter() if element.tag.endswith("text")}
    assert {str(car) for car in range(1, 61)} <= shown


LEAVES = """() => [...document.querySelectorAll('#tree svg text.name')]
    .map(t => {
        const {left, top, right, bottom, width, height} = t.getBoundingClientRect();
        return {text: t.textContent, left, top, right, bottom, width, height};
    })"""


def overlaps(one, two, by=1.0):
    "Whether two boxes share more than `by` pixels in both directions."
    return (
        min(one["right"], two["right"]) - max(one["left"], two["left"]) > by
        and min(one["bottom"], two["bottom"]) - max(one["top"], two["top"]) > by
    )


def test_main_jobs_page_in_a_browser(cars, browser):
    page, complaints = open_offline(browser, cars[0], width=1000)
    leaves = [leaf for leaf in page.evaluate(LEAVES) if leaf["text"].isdigit() and leaf["width"]]
    by_name = {leaf["text"]: leaf for leaf in leaves}
    picture = page.locator("#tree svg").bounding_box()
    assert complaints == [] and picture["width"] > 300 and picture["height"] > 60 * 8
    assert {str(car) for car in range(1, 61)} <= set(by_name)
    cars_only = [by_name[str(car)] for car in range(1, 61)]
    assert all(leaf["width"] > 2 and leaf["height"] > 5 for leaf in cars_only)
    assert not [
        (a["text"], b["text"]) for n, a in enumerate(cars_only) for b in cars_only[n + 1 :] if overlaps(a, b, 2)
    ]
    assert all(
        picture["x"] - 1 <= leaf["left"] and leaf["right"] <= picture["x"] + picture["width"] + 1 for leaf in cars_only
    )
    body = page.inner_text("body")
    assert "6,056" in body and "12,112" in body and page.title() == "T_ALL_REDUCED"
    assert page.evaluate("getComputedStyle(document.querySelector('#tree svg')).visibility") == "visible"
    if os.environ.get("COMPARISON_HC_SCREENSHOT"):
        page.screenshot(path=os.environ["COMPARISON_HC_SCREENSHOT"], full_page=True)
    page.context.close()


NAMED = st.one_of(st.text("'=+-@＝\t\r\n 1.e,;\"a", max_size=6), st.text(max_size=4), st.sampled_from(["object", "-3"]))
NAMED = NAMED.filter(lambda name: is_name(name) and name == name.strip() and "\0" not in name)


@given(st.lists(NAMED, min_size=1, max_size=6, unique=True))
@example(["=a", "'=a", "''=a"])
@example(["-3", "'-3", "''-3", "'", "''", "'a", "a"])
@example(["object", "cluster", "'object"])
def test_different_names_are_different_in_a_table_of_labels_and_are_read_again(names):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        atomic_write(path, labels_text(names, np.arange(len(names))))
        assert read_truth(path, names) == [str(number) for number in range(len(names))]
        assert read_initial(path, names)[0] == [[number] for number in range(len(names))]


def test_names_in_a_table_made_by_hand_need_no_apostrophe(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("=a,1\n'b,2\n'=c,3\n")
    assert read_truth(path, ["=a", "'b", "'=c"]) == ["1", "2", "3"]
    path.write_text("object,cluster\na,1\nobject,1\n")
    assert read_truth(path, ["object", "a"]) == ["1", "1"]


def test_labels_of_two_names_with_and_without_an_apostrophe_are_a_truth(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("=a,'=a,c\n'=a,=a,c\nc,d,=a\nd,c,'=a\n")
    words = ["cluster", "a.csv", "--header", "no", "--clusters", 2]
    assert run(capsys, *words, "--labels-out", "l.csv")[0] == 0
    code, out, err = run(capsys, *words, "--truth", "l.csv")
    assert (code, err) == (0, "") and "adjusted Rand index with the classes" in out and "1.000" in out


# ---- initial clusters

FOUR = "a,b,c\nb,a,c\nc,d,a\nd,c,b\na,b,d\n"


@pytest.mark.parametrize("method", ["4-al", "3-al"])
def test_initial_clusters_are_those_of_the_file(tmp_path, capsys, method):
    from comparison_hc import read_comparisons
    from comparison_hc.methods import build_hierarchy

    answers, start, tree = tmp_path / "answers.csv", tmp_path / "start.csv", tmp_path / "tree.nwk"
    answers.write_text(FOUR)
    start.write_text("object,cluster\nd,x\na,x\n")
    words = f"--header no --method {method} --clusters 2 --initial {start} --out {tree}"
    code, said, _ = run(capsys, "cluster", answers, *words.split())
    assert code == 0 and "3 initial clusters, 2 of them objects that are not in the file" in said
    noted = tree.read_text().strip()
    tree, _ = build_hierarchy(method, read_comparisons(answers, header=False), [[0, 3], [1], [2]])
    assert Dendrogram.from_newick(noted).to_newick() == tree.to_newick()
    assert "[&cluster=1]" in noted


@pytest.mark.parametrize("corner, mark", [("", "0"), ("", "-"), ("name", ""), ("name", "0")])
def test_names_that_are_numbers_stand_beside_a_matrix(tmp_path, capsys, corner, mark):
    (tmp_path / "s.csv").write_text(f"{corner},7,8,9\n7,{mark},3,1\n8,3,{mark},2\n9,1,2,{mark}\n")
    assert main(["cluster", str(tmp_path / "s.csv"), "--kind", "similarity", "--out", str(tmp_path / "t.nwk")]) == 0
    assert {*"789"} <= {*(tmp_path / "t.nwk").read_text()}
    assert ("--kind distance" in capsys.readouterr().err) == (mark == "0")


def test_initial_clusters_with_a_similarity(tmp_path, capsys):
    matrix, start = tmp_path / "w.csv", tmp_path / "start.tsv"
    matrix.write_text("a,b,c\n0,1,2\n1,0,3\n2,3,0\n")
    start.write_text("a\t1\nb\t1\nc\t2\n")
    assert main(["cluster", str(matrix), "--kind", "similarity", "--initial", str(start)]) == 0
    assert "2 initial clusters\n" in capsys.readouterr().out


def test_numbers_as_names_of_clusters_do_not_meet_objects_on_their_own(tmp_path):
    path = tmp_path / "start.csv"
    path.write_text("a,2\nb,2\n")
    assert read_initial(path, ["a", "b", "c"])[0] == [[0, 1], [2]]


@pytest.mark.parametrize(
    "content, words",
    [
        ("x,1\na,1\n", "line 1"),
        ("object,cluster\nx,1\n", "line 2"),
        ("a,1\na,2\n", "line 2"),
        ("a\n", "line 1"),
        ("a,1,2\n", "line 1"),
        ("a,\n", "line 1"),
        ("object,cluster\na,1\nb,1\nc,1\n", "--clusters must be an integer from 1 to 2"),
        (None, "--initial must be an existing file"),
    ],
)
def test_bad_initial_clusters_are_one_line_and_code_2(tmp_path, capsys, content, words):
    answers, start = tmp_path / "answers.csv", tmp_path / "start.csv"
    answers.write_text(FOUR)
    if content is not None:
        start.write_text(content)
    assert words in refused(capsys, "cluster", answers, "--header", "no", "--initial", start, "--clusters", 3)


# ---- clusters without a hierarchy


@pytest.mark.parametrize("method", ["adds", "mulk"])
def test_flat_clusters_on_the_screen_and_in_files(answers, capsys, method):
    "Every object is a reference here: MulK-3 knows of an object what it was asked as one."
    answers.write_text(fruits_and_animals(3))
    words = f"--method {method} --clusters 2 --out c.html --out c.json --out c.csv --labels-out l.csv"
    code, out, err = run(capsys, "cluster", answers, *words.split())
    assert code == 0 and err == ""
    assert clusters_said(out) == {frozenset(NAMES[:3]), frozenset(NAMES[3:])}
    assert {"adds": "AddS-3", "mulk": "MulK-3"}[method] in out
    page, data = Path("c.html").read_text(), json.loads(Path("c.json").read_text())
    for name in NAMES:
        assert name in page
    assert 'id="tree"' not in page and data["n_clusters"] == 2 and sorted(data["names"]) == sorted(NAMES)
    rows = {row["object"]: int(row["cluster"]) for row in csv.DictReader(Path("l.csv").read_text().splitlines())}
    assert rows == dict(zip(data["names"], data["labels"])) and Path("c.csv").read_text() == Path("l.csv").read_text()


def test_flat_number_of_clusters_is_chosen(answers, capsys):
    Path("truth.csv").write_text("\n".join(f"{name},{'fruit' if name in NAMES[:3] else 'animal'}" for name in NAMES))
    code, out, _ = run(capsys, "cluster", answers, "--method", "adds", "--truth", "truth.csv", "--out", "c.json")
    data = json.loads(Path("c.json").read_text())
    assert code == 0
    assert "chosen by SPUR" in out
    assert "adjusted Rand index" in out
    assert data["tried"]
    assert data["n_clusters"] == len(set(data["labels"]))


@pytest.mark.parametrize(
    "words, said",
    [
        (["--kind", "similarity"], "--kind"),
        (["--self-pairs"], "--self-pairs"),
        (["--questions", "5"], "--questions"),
        (["--initial", "x.csv"], "--initial"),
        (["--tree"], "--tree"),
        (["--out", "tree.nwk"], ".csv, .json; got"),
        (["--out", "c.svg"], "matrix or map of a result without a tree"),
        (["--clusters", "7"], "--clusters"),
        (["--clusters", "0"], "--clusters"),
    ],
)
def test_flat_refuses_what_only_hierarchies_have(answers, capsys, words, said):
    assert said in refused(capsys, "cluster", answers, "--method", "adds", *words)


def test_flat_warns_where_the_answers_fall_apart(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("apart.csv").write_text("a,b,c\nc,b,a\nx,y,z\nz,y,x\n")
    code, out, err = run(capsys, "cluster", "apart.csv", "--header", "no", "--method", "adds", "--clusters", 2)
    assert code == 0 and "warning" in err and "leave 2 groups" in err and "cluster 1" in out


def test_flat_methods_show_how_much_is_left(tmp_path, monkeypatch, capsys):
    from comparison_hc.cli import cluster as cluster_command

    told = []

    class Bar:
        def __init__(self, what):
            self.what = what

        def __enter__(self):
            return lambda done, total: told.append((self.what, done, total))

        def __exit__(self, *_):
            told.append("closed")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster_command, "command_bar", Bar)
    draw = random.Random(0)
    rows = [draw.sample(range(20), 3) for _ in range(600)]
    Path("noise.csv").write_text("\n".join(",".join(f"o{i}" for i in row) for row in rows))
    code, out, _ = run(capsys, "cluster", "noise.csv", "--header", "no", "--method", "adds")
    assert code == 0 and "not proved" in out
    assert len(told) > 20 and told[-2:] == [("adds", 100, 100), "closed"]


# ---- nothing is written over what is read

ROWS = "a,b,c\nb,a,c\nd,c,b\nd,c,a\n"


@pytest.mark.parametrize(
    "words, said",
    [
        (["cluster", "t.csv", "--out", "t.csv"], "--out must be another file than FILE"),
        (
            ["cluster", "t.csv", "--clusters", "2", "--labels-out", "../{here}/t.csv"],
            "--labels-out must be another file than FILE",
        ),
        (
            ["cluster", "t.csv", "--truth", "truth.csv", "--clusters", "2", "--labels-out", "truth.csv"],
            "--labels-out must be another file than --truth",
        ),
        (
            ["cluster", "t.csv", "--clusters", "2", "--out", "r.csv", "--labels-out", "r.csv"],
            "--labels-out must be another file than --out",
        ),
        (["cluster", "t.csv", "--initial", ""], "--initial must be a text that is not empty"),
        (["cluster", ""], "FILE must be a text that is not empty"),
        (["cluster", "t.csv", "--out", ""], "--out must be"),
        (["cluster", "t.csv", "--seed", "-1"], "--seed must be an integer of at least 0"),
        (["cluster", "t.csv", "--questions", "0"], "--questions must be an integer of at least 1"),
        (["cluster", "crossed.csv", "--kind", "similarity"], "the same names in the same order"),
        (["cluster", "pythonic.csv", "--kind", "similarity"], "pythonic.csv, line 1, must be a row of numbers (0 on"),
        (["cluster", "marked.csv", "--kind", "similarity"], "marked.csv, line 1, must be a row of numbers (0 on"),
        (["cluster", "gaps.csv", "--kind", "similarity"], "gaps.csv, line 1, must be a row of numbers (0 on"),
        (["cluster", "words.csv", "--kind", "similarity"], "words.csv, line 1, must be a row of numbers (0 on"),
        (["pool", "t.csv", "--answers-out", "t.csv"], "--answers-out must be another file than FILE"),
    ],
)
def test_results_overwrite_nothing_and_empty_words_are_refused(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("t.csv", ROWS),
        ("truth.csv", "a,1\nb,1\nc,2\nd,2\n"),
        ("crossed.csv", ",a,b,c\nb,0,1,2\na,1,0,3\nc,2,3,0\n"),
        ("marked.csv", "-,1,2\n1,-,3\n2,3,-\n"),
        ("gaps.csv", ",1,2\n1,,3\n2,3,\n"),
        ("words.csv", "self,1,2\n1,self,3\n2,3,self\n"),
        ("pythonic.csv", "1_0,5,6\n5,0,7\n6,7,0\n"),
    ):
        (tmp_path / name).write_text(text)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert main([word.format(here=tmp_path.name) for word in words]) == 2 and said in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("module", ["comparison_hc", "comparison_hc.cli"])
def test_the_module_is_the_command(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "cluster", "there-is-no-such-file.csv"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "there-is-no-such-file.csv" in done.stderr


def test_errata_are_listed_and_nothing_is_run(capsys):
    from comparison_hc.checks import errata

    code, out, err = run(capsys, "check", "Lemma B.1", "--errata")
    (row,) = errata("Lemma B.1").itertuples()
    assert code == 0 and err == "" and out.splitlines()[-1] == "1 erratum"
    said = " ".join(out.split())
    assert all(text in said for text in (row.paper, row.label, row.grade.lower(), row.check, row.right))
    assert "--errata" in refused(capsys, "check", "--errata", "--full")


def test_every_option_has_a_help_text_and_every_help_text_an_option():
    commands, unused = make_parser()._subparsers._group_actions[0].choices, dict(help_texts())
    shared = {name: unused.pop(name) for name in ("reading", "report", "written", "methods")}
    commands["whatif"] = commands["whatif"]._subparsers._group_actions[0].choices["planted"]
    for name, texts in unused.items():
        options = {o.removeprefix("--"): a for a in commands[name]._actions for o in (*a.option_strings, a.dest)}
        assert set(texts) - {"help", "description"} <= set(options)
        assert all(action.help for action in commands[name]._actions if action.option_strings)
    for name, groups in (("cluster", ("reading", "report")), ("ask", ("written",)), ("pool", ("reading", "written"))):
        taken = {option.removeprefix("--") for a in commands[name]._actions for option in a.option_strings}
        assert {option for group in groups for option in shared[group]} <= taken
