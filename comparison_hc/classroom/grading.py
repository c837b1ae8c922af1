"""A course on disk: nbgrader makes student versions, grades what was handed in, and writes feedback."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.compat import import_optional
from ..core.io import atomic_write, is_file_name
from ..core.validation import require
from .source import (
    ANSWER,
    SECONDS,
    STUB,
    all_sources,
    assignment_name,
    course_source,
    find_source,
    instructor_page,
    read_notebook,
)

if TYPE_CHECKING:
    import pandas

_CONFIG = f"""c = get_config()
c.CourseDirectory.course_id = "comparisons"
c.ClearSolutions.code_stub = {{"python": {STUB!r}}}
c.ClearSolutions.text_stub = {ANSWER!r}
c.Execute.timeout = {SECONDS}  # seconds of a cell
c.Execute.interrupt_on_timeout = True
c.Execute.extra_arguments = ["--IPKernelApp.log_level=40"]  # errors only
"""


def generate(folder: str | Path, names: Sequence[str | Path] | None = None) -> list[Path]:
    """Write a course: sources, student versions (by nbgrader) and instructor pages of assignments.

    Parameters
    ----------
    folder : str or Path
        Of the course; made if it does not exist. Other files in it stay.
    names : sequence of str or Path, optional
        Of assignments, or paths of sources. By default all that come with the package.

    Returns
    -------
    list of Path
        The student versions, `release/NAME/NAME.ipynb`.

    Raises
    ------
    InputError
        For an unknown name, and for a source that nbgrader refuses.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from comparison_hc.classroom import generate
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in generate(folder, ["few-triplets"])]
    ['few-triplets.ipynb']
    """
    require(is_file_name(folder), "folder", "the name of a folder", folder)
    good = names is None or isinstance(names, (list, tuple))
    require(good, "names", "a list of names, or None", names)
    folder = Path(folder)
    sources = list(all_sources().values()) if names is None else [find_source(name) for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "nbgrader_config.py").exists():
        atomic_write(folder / "nbgrader_config.py", _CONFIG)
    api, written = _nbgrader(folder), []
    for path in sources:
        notebook = read_notebook(path)
        name = assignment_name(notebook)
        require(name, "source", "a notebook that calls open_assignment with a name", str(path))
        target = folder / "source" / name / f"{name}.ipynb"
        page = folder / "instructor" / f"{name}.md"
        for place in (target.parent, page.parent):
            place.mkdir(parents=True, exist_ok=True)
        atomic_write(target, json.dumps(course_source(notebook), ensure_ascii=False, indent=1) + "\n")
        atomic_write(page, instructor_page(notebook))
        module = path.with_name(f"{name.replace('-', '_')}.py")  # an instructor's own: students need its tests
        if module.is_file():
            shutil.copyfile(module, target.with_name(module.name))
        with _commands_of_this_python():
            result = api.generate_assignment(name)
        require(result["success"], "source", f"one that nbgrader takes ({_last_line(result)})", str(path))
        written.append(folder / "release" / name / f"{name}.ipynb")
    return written


def grade(folder: str | Path, name: str, progress: Callable[[int, int], Any] | None = None) -> pandas.DataFrame:
    """Grade what was handed in for an assignment with nbgrader, and write feedback and a table.

    Submissions are `submitted/STUDENT/NAME/NAME.ipynb` in the course's folder; feedback goes to
    `feedback/STUDENT/NAME/NAME.html`, the table to `NAME.csv`. A submission that was graded before and has not changed
    is not run again. nbgrader runs the cells of students with your rights: where you do not trust them, grade in a
    container without network.

    Parameters
    ----------
    folder : str or Path
        Of the course, as `generate` wrote it.
    name : str
        Of the assignment.
    progress : callable, optional
        Called with (submissions done, in all).

    Returns
    -------
    DataFrame
        A row a student: points of each cell of tests, `points` in all, and `remarks`: what was not run, and which
        answers wait for a person.

    Raises
    ------
    InputError
        If the folder is no course, or this assignment was not handed in assignment.

    Examples
    --------
    >>> import shutil
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from comparison_hc.classroom import generate, grade, new_assignment
    >>> with TemporaryDirectory() as folder:
    ...     course = Path(folder)
    ...     source, _ = new_assignment("count-twice", course)
    ...     (release,) = generate(course, [source])
    ...     _ = shutil.copytree(release.parent, course / "submitted" / "ada" / "count-twice")
    ...     float(grade(course, "count-twice").loc["ada", "points"])
    0.0
    """
    import pandas as pd

    require(is_file_name(folder), "FOLDER", "the name of a folder", folder)
    folder = Path(folder)
    is_course = (folder / "source" / str(name)).is_dir()
    require(is_course, "FOLDER", f"a course with {name}: run `comparison-hc classroom generate` first", str(folder))
    api = _nbgrader(folder)
    students = sorted(api.get_submitted_students(name))
    require(students, "FOLDER", f"one with submissions, submitted/STUDENT/{name}/{name}.ipynb", str(folder))
    remarks = {}
    with warnings.catch_warnings(), _commands_of_this_python():
        warnings.filterwarnings("ignore", "Object of type", module="nbgrader")  # of its own session with its database
        for done, student in enumerate(students):
            if progress:
                progress(done, len(students))
            result = api.autograde(name, student, force=_is_newer(folder, student, name))
            if not result["success"]:
                remarks[student] = _last_line(result)
        if progress:
            progress(len(students), len(students))
        api.generate_feedback(name)
    table = pd.DataFrame([_row(api, name, student, remarks) for student in students]).set_index("student")
    atomic_write(folder / f"{name}.csv", table.to_csv())
    return table


def _nbgrader(folder):
    "nbgrader's interface to a course."
    import_optional("nbgrader", "assignments for a class")
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    path = folder / "nbgrader_config.py"
    require(path.is_file(), "FOLDER", "a course that `comparison-hc classroom generate` began", str(folder))
    config = PyFileConfigLoader(path.name, path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder.resolve())
    log = logging.getLogger("comparison_hc.nbgrader")  # what nbgrader says of a failure goes into the remarks
    log.propagate = False
    log.addHandler(logging.NullHandler())
    return NbGraderAPI(coursedir=CourseDirectory(config=config, log=log), config=config, log=log)


@contextmanager
def _commands_of_this_python():
    "Let nbgrader find `alembic`, which it calls by name, where this Python is installed but not activated."
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _is_newer(folder, student, name):
    "Whether a submission has changed since it was graded."
    submitted, graded = (folder / place / student / name / f"{name}.ipynb" for place in ("submitted", "autograded"))
    return submitted.exists() and graded.exists() and submitted.stat().st_mtime > graded.stat().st_mtime


def _last_line(result):
    "What nbgrader said last."
    lines = f"{result.get('error', '')}\n{result.get('log', '')}".strip().splitlines()
    return lines[-1] if lines else "no reason given"


def _row(api, name, student, remarks):
    "A student's points."
    from nbgrader.api import MissingEntry

    row = {"student": student, "points": 0.0, "remarks": remarks.get(student, "")}
    try:
        with api.gradebook as gradebook:
            (notebook,) = gradebook.find_submission(name, student).notebooks
            grades = {grade.name: grade for grade in notebook.grades}
            waiting = sorted(cell for cell, grade in grades.items() if grade.needs_manual_grade)
            row |= {cell: grade.score for cell, grade in sorted(grades.items()) if cell not in waiting}
            row["points"] = notebook.score
    except (MissingEntry, ValueError):
        row["remarks"] = row["remarks"] or f"no notebook {name}.ipynb"
    else:
        if waiting and not row["remarks"]:
            row["remarks"] = f"a person reads {', '.join(waiting)}"
    return row
