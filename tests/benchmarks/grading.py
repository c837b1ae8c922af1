"""A class graded, killed in the middle and continued: `python tests/benchmarks/grading.py [NAME] [--students 200]`.

The submissions of one assignment: every tenth is empty, every tenth has one endless loop, four of ten have some parts
only, drawn with a seed, the others are right. A third into it the grading process is killed (SIGKILL) and
started again. Prints seconds (of the clock) a submission and in all, and what must be nothing: submissions that were
graded twice, lost, or given other points than the parts that they have.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KINDS = ["right", "empty", "right", "some", "some", "right", "loop", "some", "right", "some"]


def submission(source, kind, rng):
    "(notebook, parts that are answered) of a student."
    from comparison_hc.classroom.source import student_version

    notebook = student_version(source)
    right = {c["metadata"].get("nbgrader", {}).get("grade_id"): "".join(c["source"]) for c in source["cells"]}
    parts = [
        cell["metadata"]["nbgrader"]["grade_id"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and cell["metadata"].get("nbgrader", {}).get("solution")
    ]
    answered = {"right": set(parts), "empty": set(), "loop": set(parts[:-1])}.get(kind)
    if answered is None:
        answered = set(rng.sample(parts, rng.randrange(1, len(parts))))
    for cell in notebook["cells"]:
        part = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if cell["cell_type"] == "code" and part in answered:
            cell["source"] = right[part]
        elif kind == "loop" and part == parts[-1]:
            cell["source"] = "while True:\n    pass"
    return notebook, answered


def graded(folder, name):
    "How many submissions have their grade in the journal."
    path = folder / f"{name}.grades.jsonl"
    return max(0, len(path.read_text(encoding="utf-8").splitlines()) - 1) if path.exists() else 0


def main():
    "Measure and print."
    from comparison_hc.classroom.source import find_source, read_notebook

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="draw-an-execution-tree")
    parser.add_argument("--students", type=int, default=200)
    args = parser.parse_args()
    path = find_source(args.name)
    source, rng, kinds = read_notebook(path), random.Random(0), {}
    folder = Path(tempfile.mkdtemp(prefix="class-"))
    for i in range(args.students):
        kind = KINDS[i % len(KINDS)]
        notebook, _ = submission(source, kind, rng)
        notebook["metadata"]["student"] = i  # no two files alike
        kinds[f"s{i:03}"] = kind
        place = folder / f"s{i:03}" / f"{args.name}.ipynb"
        place.parent.mkdir()
        place.write_text(json.dumps(notebook), encoding="utf-8")
    command = [sys.executable, "-m", "comparison_hc", "classroom", "grade", "--assignment", args.name]
    command += ["--seconds", "5", str(folder)]
    start, quiet = time.perf_counter(), dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first = subprocess.Popen(command, start_new_session=True, **quiet)
    while graded(folder, args.name) < args.students // 3 and first.poll() is None:
        time.sleep(0.2)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = graded(folder, args.name)
    second = subprocess.run(command, **quiet)
    seconds = time.perf_counter() - start
    lines = (folder / f"{args.name}.grades.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    records = [json.loads(line) for line in lines]
    students = [record["student"] for record in records if "student" in record]
    points = {record["student"]: record["points"] for record in records if "student" in record}
    of = max(points.values())
    wrong = [s for s, kind in kinds.items() if kind == "right" and points.get(s) != of]
    wrong += [s for s, kind in kinds.items() if kind == "empty" and points.get(s) != 0]
    wrong += [s for s, kind in kinds.items() if kind in ("some", "loop") and not 0 <= points.get(s, -1) < of]
    pages = len(list((folder / "feedback").glob("*/*.html")))
    print(f"{os.cpu_count()} cores, {args.students} submissions of {args.name}, killed after {before}")
    print(f"{seconds:.0f} seconds in all, {seconds / args.students:.2f} a submission; exit code {second.returncode}")
    print(f"graded twice: {len(students) - len(set(students))}, lost: {len(set(kinds) - set(students))}")
    print(f"other points than their kind has: {len(wrong)}; pages: {pages}; load {os.getloadavg()[1]:.1f}")


if __name__ == "__main__":
    main()
