"""The classroom: what students get, and submissions that are wrong, lost, clever or hostile."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from comparison_hc.classroom import sandbox
from comparison_hc.classroom.checking import Wrong, expect_equal, find_assignment, list_assignments, open_assignment
from comparison_hc.classroom.grading import grade_folder, grade_notebook, grades_csv, match
from comparison_hc.classroom.sandbox import Limits, Sandbox, SandboxEnded
from comparison_hc.classroom.source import (
    assignment_name,
    course_source,
    find_source,
    generate,
    new_assignment,
    read_notebook,
    read_source,
    sources_folder,
    student_version,
)
from comparison_hc.cli import main
from comparison_hc.core.io import JournalError
from comparison_hc.core.log import Log
from comparison_hc.core.validation import InputError

LIMITS = Limits(seconds=20, total=60)
SHORT = Limits(seconds=4, total=30)
RIGHT = "def count(n):\n    m = n * (n - 1) // 2\n    return m * (m - 1) // 2"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    "The source of an assignment of one's own, with a second part."
    folder = tmp_path_factory.mktemp("own")
    path, module = new_assignment("count-twice", folder)
    sys.path.insert(0, str(folder))
    source = read_notebook(path)
    second = json.loads(json.dumps(source["cells"][4:6]).replace("1a", "1b").replace("count(n)", "double(n)"))
    second[0]["source"] = "def double(n):\n    ### BEGIN SOLUTION\n    return 2 * count(n)\n    ### END SOLUTION"
    second[1]["source"] = "assert double(4) == 30, 'double(4) should be 30'"
    source["cells"] += second
    path.write_text(json.dumps(source), encoding="utf-8")
    yield path
    sys.path.remove(str(folder))


@pytest.mark.parametrize("seconds", [(n for n in [4]), "4", 0, float("nan"), None])
def test_limits_are_numbers(seconds):
    with pytest.raises(InputError, match="seconds must be"):
        Limits(seconds=seconds)


def submission(path, **answers):
    "The student's version with these answers."
    notebook = student_version(read_notebook(path))
    for cell in notebook["cells"]:
        part = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if part in answers:
            cell["source"] = answers[part]
    return notebook


def points(path, notebook, limits=LIMITS):
    "Points of 1a, 1a hidden and 1b, and all that was said."
    graded = grade_notebook(read_notebook(path), notebook, limits, [path.parent])
    said = " | ".join([*(result.said for result in graded.results), *graded.notes])
    return [result.points for result in graded.results], said


def test_right_answers_have_all_points(own):
    assert points(own, submission(own, **{"1a": RIGHT, "1b": "def double(n):\n    return 2 * count(n)"}))[0] == [
        2,
        1,
        2,
    ]
    assert points(own, read_notebook(own))[0] == [2, 1, 2]


def test_nothing_has_none(own):
    got, said = points(own, submission(own))
    assert got == [0, 0, 0] and "count(2): not written yet" in said


def test_half_right(own):
    got, said = points(own, submission(own, **{"1a": "def count(n):\n    return {2: 0, 3: 3, 4: 15}[n]"}))
    assert got == [2, 0, 0] and "count(100) stopped with KeyError" in said


def test_an_error_costs_its_own_cell(own):
    got, said = points(own, submission(own, **{"1a": RIGHT, "1b": "def double(n)\n    return"}))
    assert got == [2, 1, 0] and "1b: SyntaxError" in said


def cells_of(notebook, kind):
    return [c for c in notebook["cells"] if kind in str(c["metadata"].get("nbgrader", {}).get("grade_id"))]


def test_a_deleted_cell(own):
    notebook = submission(own, **{"1b": "def double(n):\n    return 30"})
    notebook["cells"].remove(cells_of(notebook, "1a")[0])
    got, said = points(own, notebook)
    assert got == [0, 0, 2] and "1a: the cell is missing" in said


def test_a_copied_cell_counts_where_it_is_written(own):
    notebook = submission(own)
    first = cells_of(notebook, "1a")[0]
    notebook["cells"].insert(0, {**first, "source": RIGHT})
    got, said = points(own, notebook)
    assert got[:2] == [2, 1] and "2 such cells" in said


def test_cells_without_marks_are_found_by_what_they_define(own):
    notebook = submission(own, **{"1a": RIGHT})
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    got, said = points(own, notebook)
    assert got[:2] == [2, 1] and "its mark is lost" in said


def test_the_order_is_that_of_the_source(own):
    notebook = submission(own, **{"1a": RIGHT, "1b": "assert count(3) == 3\ndef double(n):\n    return 2 * count(n)"})
    notebook["cells"].reverse()
    assert points(own, notebook)[0] == [2, 1, 2]


def test_an_added_cell_stays_behind_the_cell_that_it_follows(own):
    notebook = submission(own, **{"1a": RIGHT, "1b": "def double(n):\n    return times(count(n))"})
    place = notebook["cells"].index(cells_of(notebook, "1a")[0]) + 1
    extra = {"cell_type": "code", "metadata": {}, "source": "def times(x):\n    return 2 * x"}
    notebook["cells"].insert(place, extra)
    assert points(own, notebook)[0] == [2, 1, 2]
    steps, _ = match(read_source(read_notebook(own)), notebook)
    assert [step.name for step in steps[-3:]] == ["1a", "a cell added after 1a", "1b"]


@pytest.mark.parametrize(
    "name, answer, said",
    [
        ("an endless loop", RIGHT + "\nwhile True: pass", "had not ended"),
        ("an endless call", "def count(n):\n    while True: pass", "had not ended"),
        ("memory", "x = bytearray(1 << 40)\n" + RIGHT, "MemoryError"),
        ("an exit", RIGHT + "\nimport os\nos._exit(0)", "ended"),
        ("a missing package", "import nosuchpackage\n" + RIGHT, "No module named 'nosuchpackage'"),
        ("deep recursion", "def count(n):\n    return count(n)", "RecursionError"),
        ("a huge result", "import numpy\ndef count(n):\n    return numpy.zeros(10**7)", "too large"),
        ("a forged answer", "class X:\n    def __eq__(self, o): return True\ndef count(n): return X()", "X"),
    ],
    ids=lambda value: value if " " in value or value == "memory" else "",
)
def test_a_part_that_breaks_costs_itself_alone(own, name, answer, said):
    notebook = submission(own, **{"1a": answer, "1b": "def double(n):\n    return 30"})
    got, told = points(own, notebook, SHORT if "endless" in name else LIMITS)
    assert got[0] == 0 and got[2] == 2 and said in told


@pytest.mark.parametrize(
    "answer",
    [
        "import os\nwhile True: os.fork()",
        "import subprocess\nsubprocess.run(['sh', '-c', ':(){ :|:& };:'])",
        "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)",
        "open('../escaped', 'w')",
        "import os\nos.kill(1, 9)",
        "import shutil\nshutil.rmtree('/tmp/assignment')",
    ],
)
def test_what_is_not_allowed_is_refused(own, answer):
    got, said = points(own, submission(own, **{"1a": answer, "1b": "def double(n):\n    return 30"}))
    assert got == [0, 0, 2] and "1a: PermissionError" in said


def test_50_mb_of_output_are_nothing(own):
    loud = RIGHT + "\nfor _ in range(50):\n    print('x' * (1 << 20))"
    assert points(own, submission(own, **{"1a": loud}))[0][:2] == [2, 1]


def test_a_large_file_is_cut(own):
    writes = "with open('big', 'wb') as f:\n    for _ in range(50): f.write(bytes(1 << 20))\n" + RIGHT
    got, said = points(own, submission(own, **{"1a": writes}))
    assert got == [0, 0, 0] and "OSError" in said


def test_tests_cannot_be_rewritten(own):
    rewrite = (
        "import comparison_hc.classroom.checking as c, builtins, sys\nc.expect_equal = print\nc.expect = print\n"
        "c.Checker.__call__ = lambda *a: None\nbuiltins.AssertionError = ValueError\ndef count(n):\n    return -1"
    )
    notebook = submission(own, **{"1a": rewrite})
    for cell in cells_of(notebook, "-"):
        cell["source"] = "pass"
    assert points(own, notebook)[0] == [0, 0, 0]


def test_hidden_tests_cannot_be_read(own):
    spy = (
        f"import inspect\ndef count(n):\n    raise ValueError(open({str(own)!r}).read()[-3000:])\n"
        "seen = [f.code_context for f in inspect.stack()]"
    )
    got, said = points(own, submission(own, **{"1a": spy}))
    assert got == [0, 0, 0] and "12_248_775" not in said and "PermissionError" in said


def test_added_hostile_cells_run_in_the_sandbox(own):
    notebook = submission(own, **{"1a": RIGHT})
    notebook["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": "import os\nos._exit(3)"})
    got, said = points(own, notebook)
    assert got[:2] == [2, 1] and "an added cell: " in said


@pytest.fixture
def class_of_three(own, tmp_path):
    for student, answer in (("ada", RIGHT), ("=bob", "def count(n):\n    return '<script>'"), ("cleo", RIGHT)):
        place = tmp_path / "submitted" / student / "count-twice"
        place.mkdir(parents=True)
        name = "renamed.ipynb" if student == "cleo" else "count-twice.ipynb"
        (place / name).write_text(json.dumps(submission(own, **{"1a": answer})), encoding="utf-8")
    (tmp_path / "submitted" / "dan").mkdir()
    (tmp_path / "submitted" / "eve.ipynb").write_text("{ no notebook", encoding="utf-8")
    return tmp_path


def test_a_class_is_graded_once_and_continued(own, class_of_three):
    seen = []

    def stop(done, total):
        seen.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_folder(own, class_of_three, n_jobs=1, limits=LIMITS, progress=stop)
    journal = class_of_three / "count-twice.grades.jsonl"
    first = journal.read_text(encoding="utf-8").splitlines()
    assert len(first) == 3  # the header, and two students
    records = grade_folder(own, class_of_three, n_jobs=2, limits=LIMITS)
    lines = journal.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == first and len(lines) == 6
    assert {r["student"]: r["points"] for r in records} == {"=bob": 0, "ada": 3, "cleo": 3, "dan": 0, "eve": 0}
    table = (class_of_three / "count-twice.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "student,1a,1a (hidden),1b,points,remarks" and len(table) == 6
    assert table[1].startswith("'=bob,0,0,0,0,") and table[2].startswith("ada,2,1,0,3,")
    page = (class_of_three / "feedback" / "=bob" / "count-twice.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page and "<script>" not in page
    changed = class_of_three / "submitted" / "dan" / "count-twice.ipynb"
    changed.write_text(json.dumps(submission(own, **{"1a": RIGHT})), encoding="utf-8")
    assert {r["student"]: r["points"] for r in grade_folder(own, class_of_three, limits=LIMITS)}["dan"] == 3


def test_a_table_without_remarks_has_none():
    record = {"student": "a", "points": 0, "results": [], "notes": []}
    assert grades_csv([], [record, {**record, "notes": ["=1"]}]).splitlines()[1:] == ["a,0,", "a,0,'=1"]


def test_two_at_once_are_refused(own, class_of_three):
    journal = class_of_three / "count-twice.grades.jsonl"
    with Log(journal, "grades", {"assignment": "count-twice"}, "grades"), pytest.raises(JournalError):
        grade_folder(own, class_of_three, limits=LIMITS)


def test_the_command(own, class_of_three, tmp_path, capsys):
    assert main(["classroom", "grade", str(class_of_three), "--assignment", str(own)]) == 0
    assert "5 graded" in capsys.readouterr().out
    assert main(["classroom", "new", "my-own", "--folder", str(tmp_path / "own")]) == 0
    assert main(["classroom", "new", "my-own", "--folder", str(tmp_path / "own")]) == 2
    assert main(["classroom", "new", "../evil"]) == 2
    assert main(["classroom", "generate", str(tmp_path / "course"), "--assignment", "nothing"]) == 2
    assert main(["classroom", "grade", str(tmp_path / "none"), "--assignment", str(own)]) == 2
    assert main(["classroom", "list"]) == 0


def test_sandboxes_leave_nothing(own):
    import os

    with Sandbox(LIMITS) as box:
        box.run("x = 1", "cell")
        folder, number = box.folder, box.process.pid
    assert not os.path.exists(folder)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_bad_source_is_refused(own):
    source = read_notebook(own)
    with pytest.raises(InputError):
        read_source({"cells": [c for c in source["cells"] if c["metadata"].get("nbgrader", {}).get("locked", True)]})
    with pytest.raises(InputError):
        find_assignment("no/such")
    with pytest.raises(InputError):
        open_assignment("nothing")
    with pytest.raises(InputError):
        find_source("nothing")


def test_generated_course(own, tmp_path):
    (path,) = generate(tmp_path, [str(own)])
    text = path.read_text(encoding="utf-8")
    assert "12_248_775" not in text and "2 * count(n)" not in text and "NotImplementedError" in text
    assert (tmp_path / "source" / "count-twice" / "count-twice.ipynb").exists()
    assert "2 * count(n)" in (tmp_path / "instructor" / "count-twice.md").read_text(encoding="utf-8")
    before = path.read_bytes()
    generate(tmp_path, [str(own)])
    assert path.read_bytes() == before


def test_fractions_and_arrays_of_objects_cross_the_sandbox(own):
    fraction = (
        "from fractions import Fraction\ndef count(n):\n    m = Fraction(n * (n - 1), 2)\n    return m * (m - 1) / 2"
    )
    assert points(own, submission(own, **{"1a": fraction, "1b": "def double(n):\n    return 2 * count(n)"}))[0] == [
        2,
        1,
        2,
    ]
    with Sandbox(LIMITS) as box:
        box.run("import numpy as np\nfrom decimal import Decimal\nfrom fractions import Fraction", "a")
        box.run("def rows():\n    return np.array([[Fraction(1, 2), 3], [None, 'x']], dtype=object)", "b")
        box.run(
            "def parts():\n    return {Decimal('0.25'), Fraction(3, 4)}, np.array([[1, 2], [3]], dtype=object)", "c"
        )
        assert box.names["rows"]() == [[0.5, 3], [None, "x"]]
        assert box.names["parts"]() == ({0.25, 0.75}, [[1, 2], [3]])


@pytest.mark.parametrize("got, want", [(True, 1), (3, 3.0), ([1, 2], (1, 2))])
def test_right_values_in_other_types_are_right(got, want):
    expect_equal(got, want, "x")


@pytest.mark.parametrize("got, want", [("3", 3), (None, 3), ([1], [1, 2]), (float("nan"), 1), ([[1, 2], [3]], [1, 2])])
def test_wrong_values_are_wrong(got, want):
    with pytest.raises(Wrong, match="x"):
        expect_equal(got, want, "x")


@pytest.mark.parametrize("name", list_assignments())
def test_students_get_no_answers_and_nbgrader_gets_what_it_asks_for(name):
    source = read_notebook(find_source(name))
    release = "\n".join("".join(cell["source"]) for cell in student_version(source)["cells"])
    for cell in read_source(source):
        if cell.kind == "solution":
            inside = re.findall(r"(?s)### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.text) or [cell.text]
            assert all(text.strip() not in release for text in inside), cell.part
    course, ids = course_source(source), []
    for cell in course["cells"]:
        assert "instructor" not in cell["metadata"].get("tags", []) and "#|" not in "".join(cell["source"])
        mark = cell["metadata"].get("nbgrader")
        if mark:  # nbgrader's rules for metadata of version 3
            ids.append(mark["grade_id"])
            assert "points" in mark or not mark["grade"]
            assert cell["cell_type"] == "code" or mark["grade"] and mark["solution"]
    assert ids and len(set(ids)) == len(ids)


def test_a_module_of_ones_own_goes_along(own, tmp_path):
    (path,) = generate(tmp_path, [str(own)])
    for folder in (path.parent, tmp_path / "source" / "count-twice"):
        assert (folder / "count_twice.py").read_bytes() == own.with_name("count_twice.py").read_bytes()


BROWSER = """
import importlib.abc, os, subprocess, sys, threading

class NoSuch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "cvxpy"):
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


def test_every_assignment_has_a_source():
    sources = sorted(sources_folder().glob("7[1-9]_*.ipynb"))
    assert {assignment_name(read_notebook(path)) for path in sources} - {None} == set(list_assignments())


def test_a_sleeping_submission_is_not_waited_for_and_a_starved_one_is(own, monkeypatch):
    with Sandbox(Limits(seconds=1, total=30)) as box:
        with pytest.raises(SandboxEnded, match="had not ended"):
            box.run("import time\ntime.sleep(1000)", "cell")
    # At the start; when it is due first, it happens to be met between two pieces of work; then it works.
    told = iter([(False, 0.0), (False, 0.2), (True, 0.2), (True, 0.7), (True, 0.95)])
    monkeypatch.setattr(sandbox, "work_of", lambda number: next(told))
    with Sandbox(Limits(seconds=1, total=30)) as box:
        with pytest.raises(SandboxEnded, match="had not ended"):
            box.run("import time\ntime.sleep(1000)", "cell")
    assert next(told, None) is None  # asked at the start, and each time that it was due


def test_what_the_package_compiles_runs_as_python_in_a_sandbox():
    cell = "from comparison_hc.link import piecewise_loss\nimport sys\nD = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]\n"
    with Sandbox(LIMITS) as box:
        box.run(
            cell + "least = float(piecewise_loss(D, [0, 0, 1]).values.min())\ncompiled = 'numba' in sys.modules", ""
        )
        assert box.names["least"] == 0 and box.names["compiled"] is False


def test_in_a_browser_nothing_is_graded_and_a_sentence_says_so(own, tmp_path, monkeypatch):
    monkeypatch.setattr("comparison_hc.classroom.grading.IN_BROWSER", True)
    with pytest.raises(InputError, match='^Python must be an installed one: .*; got "a browser\'s"$'):
        grade_folder(own, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_after_a_kill_nothing_is_graded_twice_or_lost(own, tmp_path):
    for number in range(4):
        text = json.dumps(submission(own, **{"1a": RIGHT}))
        (tmp_path / f"s{number}.ipynb").write_text(text, encoding="utf-8")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from comparison_hc.classroom import grade_folder\ngrade_folder(sys.argv[2], sys.argv[3], n_jobs=1)"
    )
    words = [sys.executable, "-c", code, str(own.parent), str(own), str(tmp_path)]
    process, journal = subprocess.Popen(words), tmp_path / "count-twice.grades.jsonl"
    lines = lambda: journal.read_bytes().count(b"\n") if journal.exists() else 0  # noqa: E731
    ends = time.monotonic() + 120
    while lines() < 2 and time.monotonic() < ends and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = journal.read_bytes()
    assert 2 <= before.count(b"\n") <= 4
    records = grade_folder(own, tmp_path, limits=LIMITS)
    assert [record["points"] for record in records] == [3] * 4
    after = journal.read_bytes()
    assert after.startswith(before[: before.rindex(b"\n") + 1]) and after.count(b"\n") == 5
    students = [json.loads(line)["student"] for line in after.splitlines()[1:]]
    assert sorted(students) == ["s0", "s1", "s2", "s3"]
