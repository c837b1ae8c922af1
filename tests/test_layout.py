"""The layout of the package: who may import whom, how long things are, and that notebooks can be read in the time that
they state.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "comparison_hc"
sys.path.insert(0, str(ROOT / ".ci"))

from reading import PATH_LIMIT, STATED, WORKSHOP_LIMIT, is_workshop, minutes  # noqa: E402  (a script's folder, not a package's)

PAPERS = ("hierarchical", "flat", "adaptive", "link")
FLOORS = [  # from the ground up: a module imports from its own floor and from those below
    ("ground", "comparisons", "oracles", "dendrogram", "metrics", "checks"),
    PAPERS,
    ("practice", "datasets", "methods", "estimators"),
    ("people", "reproduce"),
    ("dashboards", "classroom"),
    ("cli",),
]
PAPER_HOURS = 10  # all that is on the reading path of the four papers: the ground, their rooms, their reproductions
PAPER_FOLDERS = ("0_ground", "1_hierarchical", "2_flat", "3_adaptive", "4_link", "9_reproduce")
MOST_ROOT_MODULES, MOST_JAVASCRIPT = 14, 520


def notebooks():
    "Every notebook, by its path from nbs."
    found = (ROOT / "nbs").rglob("*.ipynb")
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def modules():
    "{dotted name below the package: path} of every module that somebody wrote."
    found = [path for path in PACKAGE.rglob("*.py") if path.name != "_modidx.py"]
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(found)}


def imports(name, path):
    """(module below the package, imported name or None) of every import of ours in a module, those in functions
    included.
    """
    package = name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            ours = [alias.name for alias in node.names if alias.name.startswith("comparison_hc.")]
            yield from ((full.removeprefix("comparison_hc."), None) for full in ours)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1] + (node.module or "").split(".")
            elif (node.module or "").split(".")[0] == "comparison_hc":
                base = node.module.split(".")[1:]
            else:
                continue
            home = ".".join(part for part in base if part)
            for alias in node.names:
                below = f"{home}.{alias.name}".strip(".")
                yield (below, None) if below in MODULES else (home, alias.name)


MODULES = modules()
ARROWS = [(name, home, what) for name, path in MODULES.items() for home, what in imports(name, path)]


def floor(name):
    "The number of a module's floor; None for the package's own doors."
    room = name.split(".")[0]
    return next((number for number, rooms in enumerate(FLOORS) if room in rooms), None)


def test_every_module_has_a_floor():
    assert [name for name in MODULES if floor(name) is None] == ["__init__", "__main__"]


def test_no_module_imports_a_private_name_of_another():
    private = [arrow for arrow in ARROWS if re.match(r"_(?!_)", arrow[2] or "")]
    assert private == []


def test_no_arrow_leads_upwards():
    floors = [(name, home) for name, home, _ in ARROWS if floor(name) is not None and floor(home) is not None]
    assert [arrow for arrow in floors if floor(arrow[0]) < floor(arrow[1])] == []


def test_no_room_of_a_paper_imports_another():
    rooms = [(name, home) for name, home, _ in ARROWS if {name.split(".")[0], home.split(".")[0]} <= {*PAPERS}]
    assert rooms and [arrow for arrow in rooms if arrow[0].split(".")[0] != arrow[1].split(".")[0]] == []


def test_no_circle():
    "Modules can be put in an order in which each imports only those before it."
    waiting = {
        name: {home for n, home, _ in ARROWS if n == name and home in MODULES and home != name} for name in MODULES
    }
    while waiting:
        free = [name for name, needs in waiting.items() if not needs & waiting.keys()]
        assert free, f"these import each other: {sorted(waiting)}"
        for name in free:
            del waiting[name]


def test_what_the_layout_tests_would_find(monkeypatch):
    "An arrow upwards, one between papers, a private name and a circle are each noticed."
    planted = [
        (("metrics", "flat.sdp", "sdp_k"), test_no_arrow_leads_upwards),
        (("flat.sdp", "link.merge", "alpha_linkage"), test_no_room_of_a_paper_imports_another),
        (("link.merge", "link.execution", "_ends"), test_no_module_imports_a_private_name_of_another),
        (("ground.validation", "comparisons", "Triplets"), test_no_circle),
    ]
    for arrow, test in planted:
        monkeypatch.setitem(globals(), "ARROWS", [*ARROWS, arrow])
        with pytest.raises(AssertionError):
            test()
        monkeypatch.undo()


def test_every_room_says_what_it_is_for():
    rooms = [path for name, path in MODULES.items() if name.endswith("__init__")]
    assert len(rooms) > 8 and all(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in rooms)


def test_the_package_mirrors_the_folders_of_nbs():
    "A notebook exports to the room that its folder is named after, or to the package's root."
    rooms = {path.name.split("_", 1)[1]: path.name for path in (ROOT / "nbs").iterdir() if re.match(r"\d_", path.name)}
    wrong = []
    for path in notebooks():
        named = re.search(r'^ +"#\| default_exp ([\w.]+)', path.read_text(encoding="utf-8"), re.MULTILINE)
        if named and "." in named[1]:
            room = named[1].split(".")[0]
            wrong += [f"{path.name} -> {named[1]}"] * (rooms.get(room) != path.parent.name)
    assert wrong == [] and len(rooms) >= 8


def test_few_modules_at_the_root():
    at_root = [name for name in MODULES if "." not in name]
    assert len(at_root) <= MOST_ROOT_MODULES, at_root


def test_no_line_is_too_long():
    """Code, comments and styles of every module, test and script; prose in notebooks wraps by itself.

    Where nbdev begins a module's `__all__`, it counts the columns without the name.
    """
    folders = [(PACKAGE, "py js css"), (ROOT / "tests", "py"), (ROOT / ".ci", "py")]
    files = [path for folder, kinds in folders for kind in kinds.split() for path in folder.rglob(f"*.{kind}")]
    long = []
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > 120 and path.name != "_modidx.py" and not line.startswith("__all__ = ["):
                long.append(f"{path.relative_to(ROOT)}:{number}")
    assert len(files) > 100 and long == []


def test_ruff_finds_nothing():
    for words in (["check", "--output-format", "concise"], ["format", "--check"]):
        done = subprocess.run(
            [Path(sys.executable).parent / "ruff", *words, "."], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_can_be_read_in_time(path):
    "Twenty minutes on the reading path, thirty-five in a workshop, and the notebook states what it takes."
    notebook = json.loads(path.read_text(encoding="utf-8"))
    took, first = minutes(notebook), "".join(notebook["cells"][0]["source"])
    assert took <= (WORKSHOP_LIMIT if is_workshop(path) else PATH_LIMIT)
    assert int(STATED.search(first)[1]) == took
    assert is_workshop(path) == first.startswith("# Workshop: ")


def test_the_papers_can_be_read_in_ten_hours():
    paths = [path for path in notebooks() if path.parent.name in PAPER_FOLDERS and not is_workshop(path)]
    assert sum(minutes(json.loads(path.read_text(encoding="utf-8"))) for path in paths) <= 60 * PAPER_HOURS


def test_javascript_is_short_and_stands_in_files():
    scripts = [path for kind in ("js", "css") for path in PACKAGE.rglob(f"*.{kind}")]
    assert scripts and sum(len(path.read_text(encoding="utf-8").splitlines()) for path in scripts) < MOST_JAVASCRIPT
    words = re.compile(
        r"addEventListener|document\.(?:create|query)|=>\s*\{|^\s*\.[\w-]+\s*\{[^}]*:[^}]*;", re.MULTILINE
    )
    strings = [
        (name, node.value)
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert [f"{name}: {text[:60]}" for name, text in strings if words.search(text)] == []
