"What the tests of all assignments do in the same way: ask a check, take the source's solutions, and grade the source."

import json

import pytest

from comparison_hc.classroom.checking import Checker, Wrong, find_assignment
from comparison_hc.classroom.grading import grade_notebook
from comparison_hc.classroom.sandbox import Limits
from comparison_hc.classroom.source import find_source, read_notebook, read_source, student_version

LIMITS = Limits(seconds=120, total=600)  # generous: other work may run beside


def said(assignment, part, **names):
    "What the check of a part says; empty if all is right."
    try:
        Checker(find_assignment(assignment), names, advise=False)(part)
    except Wrong as wrong:
        return str(wrong)
    return ""


def solutions(assignment, *parts):
    "The names that the source's solutions of some parts define."
    names = {}
    for cell in read_source(read_notebook(find_source(assignment))):
        if cell.is_code and (cell.kind == "given" and "import" in cell.text or cell.part in parts):
            if cell.kind in ("given", "solution"):
                exec(cell.text.partition("\nleaderboard(")[0], names)
    return names


def marked_points(cells, kind):
    "Points of the cells of one kind, by part."
    return {cell.part: cell.points for cell in cells if cell.kind == kind}


def every_assignment(*names):
    "The tests that every one of these assignments must pass, as a class."

    @pytest.mark.parametrize("name", names)
    class TestEveryAssignment:
        def test_points_in_marks_are_points_in_parts(self, name):
            cells = read_source(read_notebook(find_source(name)))
            parts = find_assignment(name).parts.values()
            assert marked_points(cells, "tests") == {part.name: part.points for part in parts}
            assert marked_points(cells, "hidden") == {part.name: part.hidden for part in parts if part.hidden}

        def test_the_source_has_all_points_and_the_student_version_none(self, name):
            source = read_notebook(find_source(name))
            graded = grade_notebook(source, source, LIMITS)
            assert graded.points == find_assignment(name).points, (graded.results, graded.notes)
            empty = grade_notebook(source, student_version(json.loads(json.dumps(source))), LIMITS)
            assert empty.points == 0, (empty.results, empty.notes)

        def test_the_student_version_has_no_solutions_and_passes_nothing(self, name):
            student = student_version(read_notebook(find_source(name)))
            text = "\n".join("".join(cell["source"]) for cell in student["cells"])
            assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text and "Common mistakes" not in text
            defined = {}
            for cell in student["cells"]:  # in process
                kind = cell["metadata"].get("nbgrader", {})
                if cell["cell_type"] == "code" and not kind.get("grade"):
                    try:
                        exec("".join(cell["source"]), defined)
                    except NotImplementedError:  # a stub, or a given cell that calls one
                        pass
            for part in find_assignment(name).parts:
                assert said(name, part, **defined), part

    return TestEveryAssignment
