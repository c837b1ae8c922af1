"What the tests of all assignments do in the same way: ask a check, take the source's solutions, and grade in a course."

import json
import shutil

import pytest

from comparison_hc.classroom import Checker, Wrong, find_assignment, generate, grade
from comparison_hc.classroom.source import find_source, read_notebook, read_source

MISTAKES = {  # assignment: (part, what stands in the right answer, what stands in a wrong one)
    "break-single-linkage": ("1a", "            left -= 1", "        left -= 1"),  # n - k pairs, not n - k merges
    "hundred-times-faster": ("1b", ", ((k, l), (i, j), -1)):", ",):"),  # the reversed answer forgotten
    "few-triplets": ("1a", "S + S.T", "S"),
    "forge-a-certificate": ("1a", "- Gamma", "+ Gamma"),
    "beat-insertion": ("1a", "min(", "max("),  # the innermost in place of the outermost
    "lying-oracle": ("1a", "votes += 2", "votes += 4"),
    "draw-an-execution-tree": ("1a", '(1 / 4, 1 / 2, ["BE", "AC", "BDE"])', '(1 / 4, 1 / 2, ["BE", "BDE", "AC"])'),
    "neither-end-wins": ("1a", 'side="right"', 'side="left"'),
}


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


def hand_in(course, student, name, answers, origin="release"):
    "A submission: a student version, or another folder's notebook, with {part: text} in its cells."
    place = course / "submitted" / student / name
    shutil.copytree(course / origin / name, place)
    notebook = read_notebook(place / f"{name}.ipynb")
    for cell in notebook["cells"]:
        part = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if part in answers:
            cell["source"] = answers[part]
    (place / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def outputs_of(course, student, name, cell_id):
    "What a graded cell printed and raised, as text."
    notebook = read_notebook(course / "autograded" / student / name / f"{name}.ipynb")
    return json.dumps(
        [c["outputs"] for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == cell_id]
    )


def marked_points(cells, kind):
    "Points of the cells of one kind, by part."
    return {cell.part: cell.points for cell in cells if cell.kind == kind}


def every_assignment(*names):
    "The tests that every one of these assignments must pass, as a class."

    class TestEveryAssignment:
        @pytest.fixture(scope="class", params=names)
        @classmethod
        def made(cls, request, tmp_path_factory):
            "(folder of a course, name of the assignment in it)"
            folder = tmp_path_factory.mktemp(request.param)
            generate(folder, [request.param])
            return folder, request.param

        def test_points_in_marks_are_points_in_parts(self, made):
            _, name = made
            cells = read_source(read_notebook(find_source(name)))
            parts = find_assignment(name).parts.values()
            assert marked_points(cells, "tests") == {part.name: part.points for part in parts}
            assert marked_points(cells, "hidden") == {part.name: part.hidden for part in parts if part.hidden}

        def test_nbgrader_gives_all_points_to_right_answers_and_none_to_a_mistake(self, made):
            folder, name = made
            part, right, wrong = MISTAKES[name]
            cells = read_source(read_notebook(find_source(name)))
            (answer,) = (cell.text for cell in cells if cell.kind == "solution" and cell.part == part)
            assert answer.count(right) == 1
            hand_in(folder, "model", name, {}, origin="source")
            hand_in(folder, "mistaken", name, {part: answer.replace(right, wrong)})
            points = grade(folder, name)["points"]
            assert points["model"] == find_assignment(name).points
            assert points["mistaken"] == 0
            feedback = outputs_of(folder, "mistaken", name, f"{part}-tests")
            assert f"\\u2717 {part}" in feedback and "not written yet" not in feedback

        def test_the_student_version_has_no_solutions_and_passes_nothing(self, made):
            folder, name = made
            cells = read_notebook(folder / "release" / name / f"{name}.ipynb")["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
            assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text and "Common mistakes" not in text
            assert "#|" not in text and "raise NotImplementedError" in text
            defined = {}
            for cell in cells:  # in process
                if cell["cell_type"] == "code" and not cell["metadata"].get("nbgrader", {}).get("grade"):
                    try:
                        exec("".join(cell["source"]), defined)
                    except NotImplementedError:  # a stub, or a given cell that calls one
                        pass
            for part in find_assignment(name).parts:
                assert said(name, part, **defined), part

    return TestEveryAssignment
