"""Cells are matched to parts, run in a sandbox and tested from outside; every result is kept at once."""

import ast
import csv
import hashlib
import io
import re
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .checking import Checker, Wrong, find_assignment
from .inside import RemoteError
from .sandbox import Limits, Sandbox, SandboxEnded
from .source import STUB, assignment_name, read_notebook, read_source
from ..core.compat import IN_BROWSER
from ..core.io import atomic_write, is_file_name
from ..core.log import Log
from ..core.validation import InputError, check_integer, require


@dataclass(frozen=True)
class Step:
    "A cell to be run, in the order of the source."

    name: str  # the part, or where it stands
    text: str  # the cell
    part: str = ""  # the part that it answers, if it does


def match(source, notebook):
    "The cells to run: given ones from the source, answers and added cells from the submission."
    theirs = [(c.get("metadata", {}), "".join(c["source"])) for c in notebook["cells"] if c["cell_type"] == "code"]
    answers, taken, notes = _answers(source, theirs)
    stays = {cell.text.strip() for cell in source}
    added, last = {}, ""
    for i, (metadata, text) in enumerate(theirs):
        mark = metadata.get("nbgrader") or {}
        if i in taken:
            last = taken[i]
        elif not mark and text.strip() and text.strip() not in stays and "open_assignment" not in text:
            added.setdefault(last, []).append(text)
    steps = [Step("an added cell", text) for text in added.get("", [])]
    for number, cell in enumerate(source):
        if cell.kind == "given" and cell.is_code:
            steps.append(Step(f"given cell {number}", _OPENING.sub("", cell.text)))
        elif cell.kind == "solution" and cell.is_code:
            if cell.part in answers:
                steps.append(Step(cell.part, answers[cell.part], cell.part))
            steps += [Step(f"a cell added after {cell.part}", text) for text in added.get(cell.part, [])]
    return steps, notes


_OPENING = re.compile(r"(?m)^check = open_assignment\(.*\)$")  # the tests are outside


def _answers(source, theirs):
    "({part: text}, {number of a cell of theirs: part}, sentences)."
    answers, taken, notes = {}, {}, []
    for cell in source:
        if cell.kind != "solution" or not cell.is_code:
            continue
        found = [i for i, (metadata, _) in enumerate(theirs) if _grade_id(metadata) == cell.part]
        if not found:
            names = _defines(cell.text)
            found = [i for i, (_, text) in enumerate(theirs) if names and i not in taken and _defines(text) >= names]
            if found:
                notes.append(f"{cell.part}: the cell was found by what it defines; its mark is lost.")
        if not found:
            notes.append(f"{cell.part}: the cell is missing.")
            continue
        if len(found) > 1:
            notes.append(f"{cell.part}: there are {len(found)} such cells; the last that is written counts.")
        written = [i for i in found if STUB.split("\n")[0] not in theirs[i][1]] or found
        answers[cell.part] = theirs[written[-1]][1]
        taken.update(dict.fromkeys(found, cell.part))
    return answers, taken, notes


def _grade_id(metadata):
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return mark.get("grade_id") if isinstance(mark, dict) and mark.get("solution") else None


def _defines(text):
    "Names that a cell defines at its top."
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


@dataclass(frozen=True)
class Result:
    "What became of a cell of tests."

    part: str  # such as "1a"
    hidden: bool  # whether the tests are the teacher's only
    points: float  # reached
    of: float  # that could be reached
    said: str  # what is wrong; empty if nothing is


@dataclass(frozen=True)
class Graded:
    "A submission with its points."

    results: tuple  # of `Result`
    notes: tuple  # sentences about cells

    @property
    def points(self):
        "All points of the assignment that were reached."
        return sum(result.points for result in self.results)


class _Runs:
    "The sandboxes of one submission, one after another."

    def __init__(self, steps, limits, hidden):
        self.steps, self.limits, self.hidden = steps, limits, hidden
        self.broken = {}  # number of a step -> why it is not run again
        self.errors = {}  # name of a step -> what it raised
        self.box = None
        self.starts = 0

    def open(self):
        "A sandbox to ask; a new one where the last has ended."
        while self.box is None or not self.box.is_open:
            if self.starts > len(self.steps) + 3:
                return None
            self.starts += 1
            self.box = Sandbox(self.limits, self.hidden)
            self._run_cells()
        return self.box

    def _run_cells(self):
        for number, step in enumerate(self.steps):
            if number in self.broken:
                continue
            try:
                self.box.run(step.text, step.name)
            except RemoteError as error:
                self.errors[step.name] = f"{error.kind}: {' '.join(str(error).split())[:200]}"
            except SandboxEnded as ended:
                self.broken[number] = self.errors[step.name] = str(ended)
                return

    def close(self):
        if self.box is not None:
            self.box.close()


def grade_notebook(source, notebook, limits=None, hidden=()):
    """Run a submission in a sandbox and test it from outside. Raises `InputError` for a bad source.

    Parameters
    ----------
    source
        Dict: the source notebook.
    notebook
        Dict: the submission.
    limits
        `Limits`; None: the usual ones.
    hidden
        Folders that the submission must not read.

    Returns
    -------
    result
        `Graded`.
    """
    cells = read_source(source)
    name = assignment_name(source)
    steps, notes = match(cells, notebook)
    runs = _Runs(steps, limits, hidden)
    check = Checker(find_assignment(name), advise=False) if name else None
    names = _trusted_names(cells)
    missing = {note.partition(":")[0] for note in notes if note.endswith("is missing.")}
    results = []
    try:
        for cell in cells:
            if cell.kind in ("tests", "hidden") and cell.points:
                said = "the cell is missing." if cell.part in missing else _said(cell, runs, check, names)
                points = 0 if said else cell.points
                results.append(Result(cell.part, cell.kind == "hidden", points, cell.points, said))
    finally:
        runs.close()
    notes = [*notes, *(f"{step}: {error}" for step, error in runs.errors.items())]
    return Graded(tuple(results), tuple(notes))


def _trusted_names(cells):
    "The imports of the given cells: tests may use them."
    names = {}
    for cell in cells:
        if cell.kind == "given" and cell.is_code:
            tree = ast.parse(re.sub(r"(?m)^[%!].*$", "", cell.text))
            body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
            exec(compile(ast.Module(body, []), "<imports>", "exec"), names)
    return names


def _said(cell, runs, check, names):
    "What a cell of tests says about a submission; empty if all is right."
    box = runs.open()
    if box is None:
        return "not run: the process ended again and again."
    try:
        given = {**names, "__name__": "tests"}
        if check is not None:
            check.names = box.names
            given["check"] = check
        used = {node.id for node in ast.walk(ast.parse(cell.text)) if isinstance(node, ast.Name)}
        for name in (used - given.keys()) & set(box.ask({"do": "names"})):
            given[name] = box.names[name]
        exec(compile(cell.text, f"<tests of {cell.part}>", "exec"), given)
    except SandboxEnded as ended:
        return f"{ended}."
    except Wrong as wrong:
        said, why = str(wrong).removeprefix(f"✗ {cell.part}: "), runs.errors.get(cell.part)
        return f"{said} (What cell {cell.part} did: {why}.)" if why and said.startswith("There is no") else said
    except RemoteError as error:
        return f"{error.kind}: {' '.join(str(error).split())[:200]}"
    except AssertionError as error:
        return str(error) or "a test does not hold."
    except Exception as error:
        return f"{type(error).__name__} in the tests: {' '.join(str(error).split())[:200]}"
    return ""


def find_submissions(folder, name=None):
    "Who has handed in what. Raises `InputError`."
    folder = Path(folder)
    require(folder.is_dir(), "FOLDER", "a folder that exists", str(folder))
    folder = folder / "submitted" if (folder / "submitted").is_dir() else folder
    found = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        if place.name in ("feedback", "source", "release", "instructor", "autograded") or place.name.startswith("."):
            continue
        inside = place / name if name and (place / name).is_dir() else place
        notebooks = [path for path in sorted(inside.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts]
        notebooks.sort(key=lambda path: path.stem != name)  # a renamed file counts where there is no other
        found[place.name] = notebooks[0] if notebooks else None
    require(found, "FOLDER", "one with notebooks, or with a folder for each student", str(folder))
    return found


def grade_folder(source, folder, out=None, n_jobs=2, limits=None, progress=None):
    """Grade a class; continues where it was stopped. Raises `InputError`; `JournalError` while another process grades.

    Parameters
    ----------
    source
        Path of the source notebook.
    folder
        Of submissions.
    out
        Folder for grades.csv, grades.jsonl and feedback; None: `folder`.
    n_jobs
        Submissions at a time.
    limits
        `Limits` of each.
    progress
        Called with (submissions done, in all).

    Returns
    -------
    result
        List of dicts, one a student, in the order of their names.
    """
    check_integer(n_jobs, "n_jobs", 1)
    rule = "an installed one: every submission is graded in a process of its own"
    require(not IN_BROWSER, "Python", rule, "a browser's")
    for argument, path in (("source", source), ("folder", folder), ("out", folder if out is None else out)):
        require(is_file_name(path), argument, "a path", path)
    require(limits is None or isinstance(limits, Limits), "limits", "made by Limits, or None", limits)
    source_path, out = Path(source), Path(folder if out is None else out)
    notebook = read_notebook(source_path)
    cells = read_source(notebook)
    name = assignment_name(notebook) or source_path.stem
    submissions = find_submissions(folder, name)
    out.mkdir(parents=True, exist_ok=True)
    about = {"assignment": name}
    with Log(out / f"{name}.grades.jsonl", "grades", about, "grades", accepts=lambda r, _: "digest" in r) as kept:
        done = {(record["student"], record["digest"]): record for record in kept.records}
        todo, records = {}, {}
        for student, path in submissions.items():
            digest = _digest(source_path, path)
            if (student, digest) in done:
                records[student] = done[student, digest]
            else:
                todo[student] = (path, digest)
        if progress:
            progress(len(records), len(submissions))
        pool = ThreadPoolExecutor(n_jobs)
        try:
            waiting = {
                pool.submit(_grade_one, notebook, path, limits, source_path.parent): (student, digest)
                for student, (path, digest) in todo.items()
            }
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED)[0]:
                    student, digest = waiting.pop(future)
                    records[student] = {"student": student, "digest": digest, **future.result()}
                    kept.add(records[student])
                    _write_feedback(out, name, records[student])
                    if progress:
                        progress(len(records), len(submissions))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    ordered = [records[student] for student in sorted(records)]
    atomic_write(out / f"{name}.csv", grades_csv(cells, ordered))
    for record in ordered:
        if not _feedback_path(out, name, record["student"]).exists():
            _write_feedback(out, name, record)
    return ordered


def _digest(source, path):
    "Of everything that a grade depends on."
    data = source.read_bytes() + (path.read_bytes() if path is not None else b"")
    return hashlib.sha256(data).hexdigest()[:16]


def _grade_one(source, path, limits, hidden):
    "What a record says beside the student and the digest."
    try:
        require(path is not None, "submission", "a notebook", "none was found")
        require(path.stat().st_size <= 60 << 20, "submission", "a notebook of at most 60 MB", path.stat().st_size)
        notebook = read_notebook(path)
    except InputError as error:
        empty = {"cells": []}
        graded = grade_notebook_without_running(source, empty, str(error))
    else:
        graded = grade_notebook(source, notebook, limits, [hidden])
    rows = [[r.part, r.hidden, r.points, r.of, r.said] for r in graded.results]
    written = [cell.part for cell in read_source(source) if cell.kind == "solution" and not cell.is_code]
    return {"points": graded.points, "results": rows, "notes": list(graded.notes), "written": written}


def grade_notebook_without_running(source, notebook, why):
    "No points, and why."
    cells = [cell for cell in read_source(source) if cell.kind in ("tests", "hidden") and cell.points]
    results = tuple(Result(cell.part, cell.kind == "hidden", 0, cell.points, "nothing to test.") for cell in cells)
    return Graded(results, (why,))


def grades_csv(cells, records):
    "A line a student: points of every cell of tests, and their sum."
    tests = [(c.part, c.kind == "hidden") for c in cells if c.kind in ("tests", "hidden") and c.points]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["student", *(part + " (hidden)" * hidden for part, hidden in tests), "points", "remarks"])
    for record in records:
        points = {(part, hidden): got for part, hidden, got, _, _ in record["results"]}
        remarks = "; ".join(record["notes"])[:300]
        row = [record["student"], *(points.get(test, 0) for test in tests), record["points"], remarks]
        writer.writerow([_harmless(value) for value in row])
    return file.getvalue()


def _harmless(value):
    "A text that no table program takes for a formula."
    text = re.sub(r"[\x00-\x1f\x7f]", " ", str(value))
    return "'" + text if text.startswith(("=", "+", "-", "@")) and not re.fullmatch(r"-?[\d.]+", text) else text


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>body{{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}}
table{{border-collapse:collapse;width:100%}}td,th{{text-align:left;padding:.4rem;border-bottom:1px solid #bbb;
vertical-align:top}}td:nth-child(-n+3),th{{white-space:nowrap}}td:nth-child(4){{overflow-wrap:anywhere}}</style>
<h1>{title}</h1><p><strong>{points} of {of} points.</strong>{written}</p>
<table><tr><th>part<th>tests<th>points<th>what the tests say</tr>{rows}</table>{notes}</html>
"""


def feedback_page(name, record):
    "What a student gets back."
    rows = ""
    for part, hidden, points, of, said in record["results"]:
        cells = [part, "hidden" if hidden else "seen", f"{points:g} of {of:g}", said or "right"]
        rows += "<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "</tr>"
    notes = "".join(f"<li>{escape(note)}" for note in record["notes"])
    of = sum(row[3] for row in record["results"])
    title = escape(f"{name}: {record['student']}")
    notes = f"<h2>Remarks</h2><ul>{notes}</ul>" if notes else ""
    written = f" Not counted: {', '.join(record['written'])}, read by a person." if record.get("written") else ""
    points = f"{record['points']:g}"
    return _PAGE.format(title=title, points=points, of=f"{of:g}", written=written, rows=rows, notes=notes)


def _feedback_path(out, name, student):
    return out / "feedback" / student / f"{name}.html"


def _write_feedback(out, name, record):
    path = _feedback_path(out, name, record["student"])
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, feedback_page(name, record))
