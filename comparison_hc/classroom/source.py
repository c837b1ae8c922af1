"""Student versions, instructor pages and a course from the notebook in which solutions and tests are marked."""

import re
from dataclasses import dataclass
from pathlib import Path

from .checking import SECONDS
from ..core.io import atomic_write, is_file_name
from ..core.validation import require


def solution_mark(part):
    """A cell in which students write.

    Parameters
    ----------
    part
        Such as "1a".

    Returns
    -------
    result
        Dict: a cell's metadata.
    """
    return {"nbgrader": _mark(part, grade=False, solution=True, locked=False)}


def tests_mark(part, points, hidden=False):
    """A cell of tests. Other cells run on when it fails.

    Parameters
    ----------
    part
        Such as "1a".
    points
        That the tests in the cell give.
    hidden
        Whether students do not get them.

    Returns
    -------
    result
        Dict: a cell's metadata.
    """
    name = f"{part}-hidden" if hidden else f"{part}-tests"
    mark = _mark(name, grade=True, solution=False, locked=True)
    return {"nbgrader": {**mark, "points": points}, "tags": ["raises-exception"]}


def _mark(name, **kind):
    return {"grade_id": name, "schema_version": 3, "task": False, **kind}


@dataclass(frozen=True)
class SourceCell:
    "A cell of a source notebook and what it is for."

    kind: str  # "given", "solution", "tests", "hidden" or "teacher"
    part: str  # "1a" for solutions and tests; empty otherwise
    text: str  # the cell
    is_code: bool  # whether it is one of code
    points: int = 0  # of tests


def read_source(notebook):
    "The cells of a source. Raises `InputError` where marks contradict each other."
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
    "What a cell's marks say."
    text, is_code = "".join(cell["source"]), cell["cell_type"] == "code"
    metadata = cell.get("metadata", {})
    mark = metadata.get("nbgrader")
    if mark:
        name = mark["grade_id"]
        if mark.get("solution"):
            return SourceCell("solution", name, text, is_code)
        part, _, kind = name.rpartition("-")
        require(kind in ("tests", "hidden"), "grade_id", "PART, PART-tests or PART-hidden", name)
        return SourceCell(kind, part, text, is_code, mark.get("points", 0))
    directive = re.match(r"#\|\s*(export|hide|default_exp|teacher)", text)
    if directive or "instructor" in metadata.get("tags", []):
        return SourceCell("teacher", "", text, is_code)
    return SourceCell("given", "", text, is_code)


STUB = "# YOUR CODE HERE\nraise NotImplementedError"
ANSWER = "YOUR ANSWER HERE"
WRITTEN = 3  # points of a written answer whose mark says nothing else
_REGION = r"(?ms)^([ \t]*)### BEGIN {0}\n.*?^[ \t]*### END {0}[ \t]*\n?"


def without_solution(text):
    "The cell with a stub in place of each solution."

    def stub(found):
        return "".join(f"{found[1]}{line}\n" for line in STUB.split("\n"))

    return re.sub(_REGION.format("SOLUTION"), stub, text).rstrip("\n")


def room_for_answer(cell):
    "What students get in its place: a stub, or room for words. Raises `InputError` if code marks no solution."
    text = without_solution(cell.text)
    same = text == cell.text.rstrip("\n")
    require(not same or not cell.is_code, "source", "with a marked solution in each part", cell.part)
    return ANSWER if same else text


def without_hidden_tests(text):
    "The cell without its hidden tests."
    rest = re.sub(_REGION.format("HIDDEN TESTS"), "", text).rstrip("\n")
    return rest or "# Hidden tests: run when the assignment is graded."


def course_source(notebook):
    "With solutions and hidden tests, without outputs and what is for the book and for teachers."
    facts = _facts(read_source(notebook))  # refuses contradictions
    cells = []
    for cell in notebook["cells"]:
        about = _source_cell(cell)
        if about.kind == "teacher":
            continue
        text = _plain_links(_without_directives(about.text))
        if not about.is_code and text.startswith("# ") and facts:
            text, facts = f"{_MINUTES.sub('', text).rstrip()}\n\n{facts}", ""
        kept = {**cell, "source": text.splitlines(keepends=True)}
        if about.is_code:
            kept.update(outputs=[], execution_count=None)
        elif about.kind == "solution":  # nbgrader wants points for what a person grades
            mark = {"points": WRITTEN, **cell["metadata"]["nbgrader"], "grade": True}
            kept["metadata"] = {**cell["metadata"], "nbgrader": mark}
        cells.append(kept)
    return {**notebook, "cells": cells}


def student_version(notebook):
    """Without solutions, model answers, hidden tests, outputs and what is for teachers. Raises `InputError`.

    Parameters
    ----------
    notebook
        Dict: a source notebook.

    Returns
    -------
    result
        Dict: the notebook that students get.
    """
    good = isinstance(notebook, dict) and isinstance(notebook.get("cells"), list)
    require(good, "notebook", "a dict with a list of cells, as `read_notebook` gives it", notebook)
    whole = course_source(notebook)
    cells = []
    for cell in whole["cells"]:
        about = _source_cell(cell)
        text = about.text
        if about.kind == "solution":
            text = room_for_answer(about)
        if about.kind == "hidden":
            text = without_hidden_tests(text)
        cells.append({**cell, "source": text.splitlines(keepends=True)})
    return {**whole, "cells": cells}


_MINUTES = re.compile(r"(?m)^\*\d+ minutes to read.*\*$")  # of the book's page, not of the assignment


def _facts(cells):
    "What students ask first: points, and what may take how long."
    points = {}
    for cell in cells:
        if cell.points:
            points[cell.part] = points.get(cell.part, 0) + cell.points
    written = [cell.part for cell in cells if cell.kind == "solution" and not cell.is_code]
    parts = ", ".join(f"{part} {number}" for part, number in points.items())
    read = f"; {', '.join(written)} {'is' if len(written) == 1 else 'are'} read by a person" if written else ""
    limit = f"When it is graded, no cell and no call of a function may take more than {SECONDS} seconds."
    return f"*Points: {parts}{read}. {limit}*"


def _without_directives(text):
    "Lines such as `#| echo: false` and remarks such as `# noqa` speak to the book, not to students."
    return re.sub(r"(?m)^#\|.*\n|  # noqa.*$", "", text)


def _plain_links(text):
    "Links to other notebooks become words and the page's name in the book: a student's folder does not have them."
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*?([^/)]*)\.ipynb[^)]*\)", r"*\1* (`\2` in the book)", text)


def sources_folder():
    "Where the package's assignments are: in a checkout beside the book, in an installed package inside it."
    import comparison_hc

    package = Path(comparison_hc.__file__).resolve().parent
    inside = package / "classroom" / "sources"
    return inside if inside.is_dir() else package.parent / "nbs" / "classroom"


def find_source(name):
    """The source notebook of an assignment: the one that opens it by this name. Raises `InputError`.

    Parameters
    ----------
    name
        Of an assignment, or path of a source notebook.

    Returns
    -------
    result
        Path.
    """
    require(is_file_name(name), "NAME", "an assignment's name, or the path of a notebook", name)
    path = Path(name)
    if path.suffix == ".ipynb":
        require(path.is_file(), "source", "a notebook that exists", str(path))
        return path
    known = {assignment_name(read_notebook(p)): p for p in sorted(sources_folder().glob("7[1-9]_*.ipynb"))}
    known.pop(None, None)
    require(name in known, "NAME", f"one of {', '.join(known)}, or a path of a notebook", name)
    return known[name]


def read_notebook(path):
    """A notebook as JSON. Raises `InputError`.

    Parameters
    ----------
    path
        Of a notebook.

    Returns
    -------
    result
        Dict.
    """
    import json

    require(is_file_name(path), "path", "that of a notebook", path)
    try:
        notebook = json.loads(Path(path).read_text(encoding="utf-8"))
        good = all(isinstance(c["source"], (str, list)) and c["cell_type"] for c in notebook["cells"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        good = False
    require(good, "notebook", "a readable Jupyter notebook", str(path))
    return notebook


def assignment_name(notebook):
    "The name with which a notebook opens its assignment."
    for cell in notebook["cells"]:
        found = re.search(r"open_assignment\(\s*[\"']([\w.-]+)[\"']", "".join(cell["source"]))
        if found and cell["cell_type"] == "code":
            return found[1]
    return None


def instructor_page(notebook):
    "Notes for teachers, points, and the solutions, part by part."
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


def generate(folder, names=None):
    """Write source, student version and instructor page of assignments. Raises `InputError`; other files stay.

    Parameters
    ----------
    folder
        Of the course; made if it is not there.
    names
        Of assignments, or paths of sources; None: all that come with the package.

    Returns
    -------
    result
        List of paths of the student versions.
    """
    import json

    require(is_file_name(folder), "folder", "the name of a folder", folder)
    require(names is None or isinstance(names, (list, tuple)), "names", "a list of names, or None", names)
    sources = [find_source(name) for name in names] if names else sorted(sources_folder().glob("7[1-9]_*.ipynb"))
    written = []
    for path in sources:
        notebook = read_notebook(path)
        name = assignment_name(notebook)
        if name is None and not names:
            continue  # a page of the room that is no assignment
        require(name, "source", "a notebook that calls open_assignment with a name", str(path))
        for place, content in (("source", course_source(notebook)), ("release", student_version(notebook))):
            target = Path(folder) / place / name / f"{name}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(target, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
            module = path.with_name(f"{name.replace('-', '_')}.py")  # a teacher's own: students need its tests
            if module.is_file():
                atomic_write(target.with_name(module.name), module.read_text(encoding="utf-8"))
        page = Path(folder) / "instructor" / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(page, instructor_page(notebook))
        written.append(target)
    return written


_MODULE = """"The parts of the assignment {name}: tests that everybody sees."

from comparison_hc.classroom.checking import Assignment, expect_equal

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


def new_assignment(name, folder="."):
    """Begin an assignment: a source notebook and its module, with one part as an example. Raises `InputError`.

    Parameters
    ----------
    name
        Lower-case words with - between.
    folder
        Where; made if it is not there.

    Returns
    -------
    result
        Paths of the notebook and of the module.
    """
    import json

    good = isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)
    require(good, "NAME", "lower-case words with - between, such as count-twice", name)
    require(is_file_name(folder), "folder", "the name of a folder", folder)
    folder = Path(folder)
    notebook, module = folder / f"{name}.ipynb", folder / f"{name.replace('-', '_')}.py"
    for path in (notebook, module):
        require(not path.exists(), "NAME", "a new one: this file is there already", str(path))
    folder.mkdir(parents=True, exist_ok=True)
    title = name.replace("-", " ").capitalize()
    body = "    m = n * (n - 1) // 2\n    return m * (m - 1) // 2"
    solution = f"def count(n):\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    hidden = (
        '### BEGIN HIDDEN TESTS\n@check.hidden("1a")\ndef large(answers):\n'
        '    assert answers.function("count")(100) == 12_248_775\n### END HIDDEN TESTS'
    )
    notes = "**Goals.** …\n\n**Common mistakes.** …"
    cells = [
        _new_cell("title", "markdown", f"# {title}\nWhat is to be found out, and why it is worth asking."),
        _new_cell("for-teachers", "markdown", notes, {"tags": ["instructor"]}),
        _new_cell(
            "open", "code", f'from comparison_hc.classroom import open_assignment\n\ncheck = open_assignment("{name}")'
        ),
        _new_cell("task-1a", "markdown", "**1a.** How many quadruplet questions do n objects have?"),
        _new_cell("solution-1a", "code", solution, solution_mark("1a")),
        _new_cell("tests-1a", "code", 'check("1a")', tests_mark("1a", 2)),
        _new_cell("hidden-1a", "code", hidden, tests_mark("1a", 1, hidden=True)),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    atomic_write(module, _MODULE.format(name=name, title=title))
    atomic_write(notebook, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    return notebook, module


def _new_cell(name, kind, text, metadata=None):
    "A cell of a notebook."
    cell = {"cell_type": kind, "id": name, "metadata": metadata or {}, "source": text.splitlines(keepends=True)}
    return {**cell, "outputs": [], "execution_count": None} if kind == "code" else cell
