"""Source notebooks of assignments: solutions, tests and notes for instructors, as nbgrader marks them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..core.compat import import_optional
from ..core.io import atomic_write, is_file_name
from ..core.validation import require

STUB = "# YOUR CODE HERE\nraise NotImplementedError"
ANSWER = "YOUR ANSWER HERE"
WRITTEN = 3  # points of a written answer whose metadata says nothing else
SECONDS = 60  # of the clock, for a cell, when an assignment is graded
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*?([^/)]*)\.ipynb[^)]*\)")


@dataclass(frozen=True)
class SourceCell:
    "A cell of a source notebook and what it is for."

    kind: str  # "given", "solution", "tests", "hidden" or "teacher"
    part: str  # "1a" for solutions and tests; empty otherwise
    text: str
    is_code: bool
    points: int = 0  # of tests


def read_source(notebook):
    "The cells of a source. Raises `InputError` where their metadata contradict each other."
    cells = [_source_cell(cell) for cell in notebook["cells"]]
    seen = set()
    for cell in cells:
        key = (cell.kind, cell.part)
        require(not cell.part or key not in seen, "source", f"with one cell of {cell.kind} for a part", cell.part)
        seen.add(key)
    for kind, part in sorted(seen):
        if kind in ("tests", "hidden"):
            require(("solution", part) in seen, "source", "with a solution cell for each part that has tests", part)
    return cells


def _source_cell(cell):
    text, is_code = "".join(cell["source"]), cell["cell_type"] == "code"
    metadata = cell.get("metadata", {})
    grading = metadata.get("nbgrader")
    if grading:
        name = grading["grade_id"]
        if grading.get("solution"):
            return SourceCell("solution", name, text, is_code)
        part, _, kind = name.rpartition("-")
        require(kind in ("tests", "hidden"), "grade_id", "PART, PART-tests or PART-hidden", name)
        return SourceCell(kind, part, text, is_code, grading.get("points", 0))
    is_teachers = re.match(r"#\|\s*(export|hide|default_exp|teacher)", text) or "instructor" in metadata.get("tags", [])
    return SourceCell("teacher" if is_teachers else "given", "", text, is_code)


def course_source(notebook):
    "The notebook as nbgrader takes it: without outputs, directives, and cells for the book or for instructors."
    cells = read_source(notebook)
    points = f"*{_points_line(cells)}*"
    kept = []
    for cell, about in zip(notebook["cells"], cells):
        if about.kind == "teacher":
            continue
        text = re.sub(r"(?m)^#\|.*\n|  # noqa.*$", "", about.text)
        text = _LINK.sub(r"*\1* (`\2` in the book)", text)  # a student's folder does not have the book's pages
        if not about.is_code and text.startswith("# ") and points:
            text, points = f"{text.rstrip()}\n\n{points}", ""
        cell = {**cell, "source": text.splitlines(keepends=True)}
        if about.is_code:
            cell.update(outputs=[], execution_count=None)
        elif about.kind == "solution":  # nbgrader wants points for what a person grades
            grading = {"points": WRITTEN, **cell["metadata"]["nbgrader"], "grade": True}
            cell["metadata"] = {**cell["metadata"], "nbgrader": grading}
        kept.append(cell)
    return {**notebook, "cells": kept}


def _points_line(cells):
    points = {}
    for cell in cells:
        if cell.points:
            points[cell.part] = points.get(cell.part, 0) + cell.points
    parts = ", ".join(f"{part} {number}" for part, number in points.items())
    written = [cell.part for cell in cells if cell.kind == "solution" and not cell.is_code]
    read = f"; a person reads {', '.join(written)}" if written else ""
    return f"Points: {parts}{read}. When the assignment is graded, no cell may take more than {SECONDS} seconds."


def instructor_page(notebook):
    "Markdown with notes for instructors, points, and the solutions, part by part."
    cells = read_source(notebook)
    title = next((c.text.splitlines()[0] for c in cells if not c.is_code and c.text.startswith("# ")), "# Assignment")
    parts = [f"{title}: for the instructor"]
    parts += [cell.text for cell in cells if cell.kind == "teacher" and not cell.is_code]
    rows = [(c.part, c.points, "hidden" if c.kind == "hidden" else "seen") for c in cells if c.points]
    table = ["| part | points | tests |", "| --- | --- | --- |", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
    parts += ["## Points", "\n".join([*table, f"| all | {sum(row[1] for row in rows)} | |"]), "## Solutions"]
    for cell in cells:
        if cell.kind == "solution":
            parts += [f"### {cell.part}", f"```python\n{cell.text}\n```" if cell.is_code else cell.text]
    return "\n\n".join(parts) + "\n"


def sources_folder():
    "Where the package's assignments are: in a checkout beside the book, in an installed package inside it."
    import comparison_hc

    package = Path(comparison_hc.__file__).resolve().parent
    inside = package / "classroom" / "sources"
    return inside if inside.is_dir() else package.parent / "nbs" / "classroom"


def all_sources():
    "{name: path of the source notebook} of the package's assignments."
    found = {assignment_name(read_notebook(path)): path for path in sorted(sources_folder().glob("7[1-9]_*.ipynb"))}
    found.pop(None, None)  # a page that is no assignment
    return found


def find_source(name):
    "The path of an assignment's source, by its name or its path. Raises `InputError`."
    require(is_file_name(name), "NAME", "an assignment's name, or the path of a notebook", name)
    path = Path(name)
    if path.suffix == ".ipynb":
        require(path.is_file(), "source", "a notebook that exists", str(path))
        return path
    known = all_sources()
    require(name in known, "NAME", f"one of {', '.join(known)}, or a path of a notebook", name)
    return known[name]


def read_notebook(path):
    "A notebook as JSON. Raises `InputError`."
    try:
        notebook = json.loads(Path(path).read_text(encoding="utf-8"))
        good = all(isinstance(c["source"], (str, list)) and c["cell_type"] for c in notebook["cells"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        good = False
    require(good, "notebook", "a readable Jupyter notebook", str(path))
    return notebook


def assignment_name(notebook):
    "The name with which a notebook opens its assignment, or None."
    code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    found = re.search(r"open_assignment\(\s*[\"']([\w.-]+)[\"']", code)
    return found and found[1]


_MODULE = """"The parts of the assignment {name}: the tests that students see."

from comparison_hc.classroom import Assignment, expect_equal

assignment = Assignment("{name}", "{title}")


@assignment.part(
    "1a",
    "Count the quadruplet questions",
    points=2,
    hidden=1,
    hints=("How many pairs are there?", "A question is a pair of pairs.", "m pairs make m (m - 1) / 2 questions."),
)
def questions(answers):
    count = answers.function("count")
    for n, want in ((2, 0), (3, 3), (4, 15)):
        expect_equal(count(n), want, f"count({{n}})")
"""
_SOLVED = """def count(n):
    ### BEGIN SOLUTION
    m = n * (n - 1) // 2
    return m * (m - 1) // 2
    ### END SOLUTION"""
_HIDDEN = """### BEGIN HIDDEN TESTS
@check.hidden("1a")
def large(answers):
    assert answers.function("count")(100) == 12_248_775
### END HIDDEN TESTS"""


def new_assignment(name: str, folder: str | Path = ".") -> tuple[Path, Path]:
    """Begin an assignment: a source notebook and its module, with one part as an example.

    Parameters
    ----------
    name : str
        Lower-case words with - between.
    folder : str or Path, default "."
        Where; made if it does not exist.

    Returns
    -------
    tuple of Path
        The notebook and the module.

    Raises
    ------
    InputError
        For another kind of name, and if a file of this name exists.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from comparison_hc.classroom import new_assignment
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in new_assignment("count-twice", folder)]
    ['count-twice.ipynb', 'count_twice.py']
    """
    import_optional("nbformat", "a new assignment")
    import nbformat.v4 as v4

    good = isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)
    require(good, "NAME", "lower-case words with - between, such as count-twice", name)
    require(is_file_name(folder), "folder", "the name of a folder", folder)
    folder = Path(folder)
    notebook, module = folder / f"{name}.ipynb", folder / f"{name.replace('-', '_')}.py"
    for path in (notebook, module):
        require(not path.exists(), "NAME", "a new one: this file exists already", str(path))
    folder.mkdir(parents=True, exist_ok=True)
    title = name.replace("-", " ").capitalize()
    opening = f'from comparison_hc.classroom import open_assignment\n\ncheck = open_assignment("{name}")'
    cells = [
        v4.new_markdown_cell(f"# {title}\nState the question of this assignment, and why it is interesting."),
        v4.new_markdown_cell("**Goals.** …\n\n**Common mistakes.** …", metadata={"tags": ["instructor"]}),
        v4.new_code_cell(opening),
        v4.new_markdown_cell("**1a.** How many quadruplet questions do n objects have?"),
        v4.new_code_cell(_SOLVED, metadata=_grading("1a")),
        v4.new_code_cell('check("1a")', metadata=_grading("1a-tests", 2)),
        v4.new_code_cell(_HIDDEN, metadata=_grading("1a-hidden", 1)),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    atomic_write(module, _MODULE.format(name=name, title=title))
    atomic_write(notebook, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    return notebook, module


def _grading(name, points=0):
    "Metadata of a cell of tests, or without points of one in which students write."
    is_test = points > 0
    kind = {"grade": is_test, "solution": not is_test, "locked": is_test, "task": False}
    grading = {"grade_id": name, "schema_version": 3, **kind}
    return (
        {"nbgrader": {**grading, "points": points}, "tags": ["raises-exception"]} if is_test else {"nbgrader": grading}
    )
