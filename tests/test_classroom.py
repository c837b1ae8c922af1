"""The classroom: checks and hints, and a course of nbgrader with submissions that are right, wrong, lost or clever."""

import json
import subprocess
import sys

import pytest
from assignments import hand_in, outputs_of

from comparison_hc.classroom import (
    Wrong,
    expect_equal,
    generate,
    grade,
    list_assignments,
    new_assignment,
    open_assignment,
)
from comparison_hc.classroom.source import all_sources, find_source, read_notebook, read_source
from comparison_hc.cli import main
from comparison_hc.core.validation import InputError

RIGHT = "def count(n):\n    m = n * (n - 1) // 2\n    return m * (m - 1) // 2"
DOUBLE = "def double(n):\n    return 2 * count(n)"
NAME = "count-twice"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    "A course with an assignment of one's own, which has a second part, and what students handed in."
    folder = tmp_path_factory.mktemp("course")
    path, _ = new_assignment(NAME, folder / "own")
    source = read_notebook(path)
    second = json.loads(json.dumps(source["cells"][4:6]).replace("1a", "1b").replace("count(n)", "double(n)"))
    second[0]["source"] = "def double(n):\n    ### BEGIN SOLUTION\n    return 2 * count(n)\n    ### END SOLUTION"
    second[1]["source"] = "assert double(4) == 30, 'double(4) should be 30'"
    for cell in second:
        cell["id"] += "b"
    source["cells"] += second
    path.write_text(json.dumps(source), encoding="utf-8")
    generate(folder, [str(path)])
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text(encoding="utf-8").replace("timeout = 60", "timeout = 3"), encoding="utf-8")
    return folder


SUBMISSIONS = {  # student: (answers, points of 1a, 1a hidden and 1b)
    "right": ({"1a": RIGHT, "1b": DOUBLE}, (2, 1, 2)),
    "empty": ({}, (0, 0, 0)),
    "table": ({"1a": "def count(n):\n    return {2: 0, 3: 3, 4: 15}[n]", "1b": DOUBLE}, (2, 0, 2)),
    "syntax": ({"1a": RIGHT, "1b": "def double(n)\n    return"}, (2, 1, 0)),
    "endless": ({"1a": "def count(n):\n    while True: pass", "1b": "def double(n):\n    return 30"}, (0, 0, 2)),
    "rewritten": ({"1a": RIGHT.replace("m - 1", "m"), "1a-tests": "pass", "1a-hidden": "pass"}, (0, 0, 0)),
}


@pytest.fixture(scope="module")
def table(course):
    for student, (answers, _) in SUBMISSIONS.items():
        hand_in(course, student, NAME, answers)
    hand_in(course, "ends", NAME, {"1a": "import os\nos._exit(0)"})
    (course / "submitted" / "lost" / NAME).mkdir(parents=True)
    return grade(course, NAME)


@pytest.mark.parametrize("student", SUBMISSIONS)
def test_points(table, student):
    got = table.loc[student, ["1a-tests", "1a-hidden", "1b-tests"]]
    assert tuple(got) == SUBMISSIONS[student][1] and table.loc[student, "points"] == sum(got)


def test_who_ends_the_kernel_or_hands_in_nothing_has_no_points_and_a_remark(table, course):
    assert list(table.loc[["ends", "lost"], "points"]) == [0, 0]
    assert all(table.loc[["ends", "lost"], "remarks"]) and not table.loc["right", "remarks"]
    assert (course / f"{NAME}.csv").read_text(encoding="utf-8").count("\n") == len(table) + 1


def test_feedback_says_what_is_wrong(table, course):
    page = (course / "feedback" / "table" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert "count(100) stopped with KeyError" in page
    assert "Hint 1 of 3" in outputs_of(course, "empty", NAME, "1a-tests")


def test_only_what_was_handed_in_again_is_graded_again(table, course):
    times = {p: p.stat().st_mtime_ns for p in (course / "autograded").rglob("*.ipynb")}
    path = course / "submitted" / "empty" / NAME / f"{NAME}.ipynb"
    path.write_bytes((course / "submitted" / "right" / NAME / path.name).read_bytes())
    assert grade(course, NAME).loc["empty", "points"] == 5
    changed = {p.parent.parent.name for p, before in times.items() if p.stat().st_mtime_ns != before}
    assert changed == {"empty"}


def test_a_module_of_ones_own_goes_along_and_a_second_run_changes_nothing(course):
    release = course / "release" / NAME
    assert (release / "count_twice.py").read_bytes() == (course / "own" / "count_twice.py").read_bytes()
    text = (release / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "12_248_775" not in text and "2 * count(n)" not in text
    assert "2 * count(n)" in (course / "instructor" / f"{NAME}.md").read_text(encoding="utf-8")
    generate(course, [course / "own" / f"{NAME}.ipynb"])
    assert (release / f"{NAME}.ipynb").read_text(encoding="utf-8") == text


def test_the_command(tmp_path, capsys):
    assert main(["classroom", "list"]) == 0
    own, made = str(tmp_path / "own"), str(tmp_path / "made")
    assert main(["classroom", "new", "my-own", "--folder", own]) == 0
    assert main(["classroom", "generate", made, "--assignment", f"{own}/my-own.ipynb"]) == 0
    hand_in(tmp_path / "made", "ada", "my-own", {"1a": RIGHT})
    capsys.readouterr()
    assert main(["classroom", "grade", made, "--assignment", "my-own"]) == 0
    out = capsys.readouterr().out
    assert "ada" in out and "3.0" in out and "1 graded" in out


@pytest.mark.parametrize(
    "words", ["new ../evil", "generate made --assignment nothing", "grade none --assignment few-triplets", "grade ."]
)
def test_bad_words_are_refused(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["classroom", *words.split()])
    except SystemExit as end:  # of argparse
        code = end.code
    assert code == 2


def test_a_bad_source_is_refused(course):
    source = read_notebook(course / "own" / f"{NAME}.ipynb")
    with pytest.raises(InputError):
        read_source({"cells": [c for c in source["cells"] if c["metadata"].get("nbgrader", {}).get("locked", True)]})
    for wrong in ("nothing", "no/such"):
        with pytest.raises(InputError):
            find_source(wrong)
        with pytest.raises(InputError):
            open_assignment(wrong)
    with pytest.raises(InputError):
        new_assignment(NAME, course / "own")


def test_hints_come_one_after_another():
    check = open_assignment("lying-oracle")
    check.names = {"votes_needed": lambda p, risk: 1}
    for step in (1, 2, 3, 3):
        with pytest.raises(Wrong, match=f"Hint {step} of 3"):
            check("1a")


@pytest.mark.parametrize("got, want", [(True, 1), (3, 3.0), ([1, 2], (1, 2))])
def test_right_values_in_other_types_are_right(got, want):
    expect_equal(got, want, "x")


@pytest.mark.parametrize("got, want", [("3", 3), (None, 3), ([1], [1, 2]), (float("nan"), 1), ([[1, 2], [3]], [1, 2])])
def test_wrong_values_are_wrong(got, want):
    with pytest.raises(Wrong, match="x"):
        expect_equal(got, want, "x")


def test_every_assignment_has_a_source():
    assert set(all_sources()) == set(list_assignments())


BROWSER = """
import importlib.abc, os, subprocess, sys, threading

class NoSuch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "cvxpy", "nbgrader"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def refuse(*args, **kwargs):
    raise RuntimeError("can't start a thread or a process here")

sys.meta_path.insert(0, NoSuch())
threading.Thread.start = os.fork = subprocess.Popen.__init__ = refuse
from comparison_hc.classroom.source import find_source, read_notebook, read_source
cells = read_source(read_notebook(find_source(sys.argv[1])))
names = {}
for cell in cells:
    if cell.is_code and (cell.kind == "given" or cell.part in sys.argv[2].split(",")) and cell.kind != "hidden":
        exec(cell.text, names)
print("checked")
"""


@pytest.mark.parametrize("name, parts", [("hundred-times-faster", "1a,1b,2a"), ("draw-an-execution-tree", "1a,1b,2a")])
def test_checks_work_where_a_browser_has_no_threads(name, parts):
    run = subprocess.run([sys.executable, "-c", BROWSER, name, parts], capture_output=True, text=True)
    assert "checked" in run.stdout, run.stderr
