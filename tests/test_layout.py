"The layout of the package: which layer may import which, and the form of modules and notebooks."

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "comparison_hc"
PAPERS = ("hierarchical", "flat", "adaptive", "link")
LAYERS = [  # from the bottom: a module imports from its own layer and from those below
    ("core", "comparisons", "oracles", "dendrogram", "metrics", "checks"),
    PAPERS,
    ("theory", "evaluation", "datasets", "methods", "estimators", "additive_tree"),
    ("elicitation", "reproduce", "cli.options", "cli._reading", "cli._report_options", "cli.cluster", "cli.learn"),
    ("whatif",),
    ("dashboards", "classroom"),
    ("cli",),
]
CROSSED = {  # private modules that another subpackage imports: this set only shrinks
    "cli._reading",
    "evaluation._additive",
    "evaluation._candidates",
    "evaluation._dataset_files",
    "evaluation._dataset_readers",
    "evaluation._splits",
    "evaluation._task_tables",
}
EXERCISE = re.compile(r"\*\*Exercise|^## Exercise", re.MULTILINE)
MOST_JAVASCRIPT, MOST_STYLE = 609, 278


def notebooks():
    "Every notebook, by its path from nbs."
    found = (ROOT / "nbs").rglob("*.ipynb")
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def modules():
    "{dotted name below the package: path} of every module that somebody wrote."
    found = [path for path in PACKAGE.rglob("*.py") if path.name != "_modidx.py"]
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(found)}


def statements(path):
    "Every statement of a module, at any depth. An import is one; what stands within an expression is not looked at."
    waiting = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            parts = getattr(node, field, ())
            waiting += parts if isinstance(parts, list) else []
        yield node


def imports(name, path):
    """(module below the package, imported name or None) of every import of ours in a module, those in functions
    included.
    """
    package = name.split(".")[:-1]
    for node in statements(path):
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


@cache
def arrows():
    "(module, module it imports from, name or None), of the whole package. Not read when the tests are collected."
    return [(name, home, what) for name, path in MODULES.items() for home, what in imports(name, path)]


def layer(name):
    "The number of a module's layer; None for the package's own doors."
    names = (name, name.split(".")[0])
    return next((number for each in names for number, homes in enumerate(LAYERS) if each in homes), None)


def told(found, rule):
    "What was found, one a line, and what to do about it; empty if nothing was found."
    return "\n".join(["", *map(str, found), f"-> {rule}"]) if found else ""


def arrow_text(name, home, what=None):
    "An import as one reads it."
    return f"{name} imports {what} from {home}" if what else f"{name} imports {home}"


def test_every_module_has_a_layer():
    homeless = [name for name in MODULES if layer(name) is None and name not in ("__init__", "__main__")]
    assert not homeless, told(homeless, "give its subpackage a layer in LAYERS (tests/test_layout.py)")


def test_no_arrow_leads_upwards():
    upwards = []
    for name, home, what in arrows():
        if layer(name) is not None and layer(home) is not None and layer(name) < layer(home):
            upwards.append(f"{arrow_text(name, home, what)} (layer {layer(name)} from layer {layer(home)})")
    rule = "what both need belongs in the lower layer; CONTRIBUTING.md draws the layers"
    assert not upwards, told(upwards, rule)


def area(name):
    "The subpackage of a module; core and the modules at the root are one."
    first = name.split(".")[0]
    return "core" if first in LAYERS[0] or first == name else first


def test_private_modules_are_used_at_home():
    "Theory looks into the papers' algorithms, and everybody into core."
    crossed = {
        home
        for name, home, _ in arrows()
        if "._" in home and area(home) not in ("core", area(name)) and area(name) != "theory"
    }
    assert crossed == CROSSED, told(sorted(crossed ^ CROSSED), "take the underscore away, or move it to core")


def test_no_room_of_a_paper_imports_another():
    rooms = [arrow for arrow in arrows() if {arrow[0].split(".")[0], arrow[1].split(".")[0]} <= {*PAPERS}]
    across = [arrow_text(*arrow) for arrow in rooms if arrow[0].split(".")[0] != arrow[1].split(".")[0]]
    assert rooms and not across, told(across, "what two papers share belongs to comparison_hc/core")


def circle_text(waiting):
    "One circle, found by walking along imports until a module comes again."
    walk = [min(waiting)]
    while walk[-1] not in walk[:-1]:
        walk.append(min(waiting[walk[-1]] & waiting.keys()))
    return " imports ".join(walk[walk.index(walk[-1]) :])


def test_no_circle():
    "Modules can be put in an order in which each imports only those before it."
    waiting = {
        name: {home for n, home, _ in arrows() if n == name and home in MODULES and home != name} for name in MODULES
    }
    while waiting:
        free = [name for name, needs in waiting.items() if not needs & waiting.keys()]
        assert free, told([circle_text(waiting)], "move what both need to a module that imports neither")
        for name in free:
            del waiting[name]


def test_what_the_layout_tests_would_find(monkeypatch):
    "An arrow upwards, one between papers and a circle are each noticed."
    sentence = "metrics imports sdp_k from flat.sdp"
    planted = [
        (("metrics", "flat.sdp", "sdp_k"), test_no_arrow_leads_upwards, sentence),
        (("flat.sdp", "link.merge", "alpha_linkage"), test_no_room_of_a_paper_imports_another, "from link.merge"),
        (("core.validation", "comparisons", "Triplets"), test_no_circle, "core.validation imports comparisons"),
    ]
    known = arrows()
    for arrow, test, words in planted:
        monkeypatch.setitem(globals(), "arrows", lambda arrow=arrow: [*known, arrow])
        with pytest.raises(AssertionError, match=words):
            test()
        monkeypatch.undo()


def test_every_room_says_what_it_is_for():
    rooms = [path for name, path in MODULES.items() if name.endswith("__init__")]
    silent = [path.relative_to(ROOT) for path in rooms if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert len(rooms) > 8 and not silent, told(silent, "begin it with a docstring that says what the room is for")


def test_the_package_mirrors_the_folders_of_nbs():
    "A notebook exports to the subpackage that its folder is named after, or to the package's root."
    wrong = []
    for path in notebooks():
        named = re.search(r'^ +"#\| default_exp ([\w.]+)', path.read_text(encoding="utf-8"), re.MULTILINE)
        if named and "." in named[1] and named[1].split(".")[0] != path.parent.name:
            wrong.append(f"{path.relative_to(ROOT)} exports {named[1]}")
    rule = "its `#| default_exp` names the subpackage of its folder (nbs/flat: flat.…), or none (the package's root)"
    assert not wrong, told(wrong, rule)


def test_every_module_with_checks_is_looked_into():
    "A check in a module that `find_checks` does not import is never run."
    from comparison_hc.checks import THEORY_MODULES

    looked = {name.removeprefix("comparison_hc.") for name in THEORY_MODULES}
    holding = {
        name
        for name, path in MODULES.items()
        if name.split(".")[0] in (*PAPERS, "theory")
        and re.search(r"^@check\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    forgotten = sorted(holding - looked)
    assert len(holding) > 10 and not forgotten, told(forgotten, "checks belong into a module of comparison_hc.theory")


def test_every_erratum_has_a_grade():
    from comparison_hc.checks import GRADES, errata

    table = errata()
    silent = [f"{row.paper} {row.label} · {row.check}" for row in table.itertuples() if not row.grade]
    rule = f"begin its `erratum=` with {' or '.join(map(repr, GRADES))}, and a colon"
    assert len(table) > 10 and not silent, told(silent, rule)


def test_no_line_is_too_long():
    """Code, comments and styles of every module, test and script; prose in notebooks wraps by itself.

    Where nbdev begins a module's `__all__`, it counts the columns without the name.
    """
    folders = [(PACKAGE, "py js mjs css"), (ROOT / "tests", "py"), (ROOT / ".ci", "py")]
    files = [path for folder, kinds in folders for kind in kinds.split() for path in folder.rglob(f"*.{kind}")]
    long = []
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > 120 and path.name != "_modidx.py" and not line.startswith("__all__ = ["):
                long.append(f"{path.relative_to(ROOT)}:{number}")
    assert len(files) > 100 and not long, told(long, "at most 120 columns; sentences can be split or be constants")


def test_ruff_finds_nothing():
    for words in (["check", "--output-format", "concise"], ["format", "--check"]):
        done = subprocess.run(
            [Path(sys.executable).parent / "ruff", *words, "."], cwd=ROOT, capture_output=True, text=True
        )
        found = (done.stdout[-6000:] + done.stderr[-2000:]).splitlines()
        rule = "`python .ci/tidy.py` mends what can be mended by itself, and prints the rest"
        assert done.returncode == 0, told(found, rule)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_solutions_are_folded_and_computed(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for before, cell in zip(cells, cells[1:]):
        about, source = cell["metadata"], "".join(cell["source"])
        if "solution" in about.get("tags", []):
            folded = {"jupyter": {"source_hidden": True, "outputs_hidden": True}, "tags": ["solution", "hide-cell"]}
            rule = "folded, stands behind its exercise, computes and says **Solution"
            behind = EXERCISE.search("".join(before["source"])) or "solution" in before["metadata"].get("tags", [])
            assert about == folded and behind, f"{path.stem}: a solution is {rule}"
            assert "assert " in source and "**Solution" in source, f"{path.stem}: a solution is {rule}"


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_outputs_ask_nobody(path):
    outputs = [
        output for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] for output in cell.get("outputs", [])
    ]
    rule = "a picture is kept as SVG or PNG: `alt.renderers.enable` in the first cell"
    assert "cdn.jsdelivr" not in json.dumps(outputs), f"{path.stem}: {rule}"


def test_javascript_is_short_and_stands_in_files():
    # a published page has no other page's style: it has a limit of its own
    alone = {PACKAGE / "evaluation/static/page.css": 80}
    for path, most in alone.items():
        assert len(path.read_text(encoding="utf-8").splitlines()) < most, path.name
    for kinds, most in ((("js", "mjs"), MOST_JAVASCRIPT), (("css",), MOST_STYLE)):
        files = [path for kind in kinds for path in PACKAGE.rglob(f"*.{kind}") if path not in alone]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        rule = f"{lines} lines of {', '.join(kinds)}; at most {most}: compute in Python"
        assert files and lines <= most, rule
    words = re.compile(
        r"addEventListener|document\.(?:create|query)|=>\s*\{|^\s*\.[\w-]+\s*\{[^}]*:[^}]*;", re.MULTILINE
    )
    strings = [
        (name, node.value)
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    inside = [f"{name}: {text[:60]!r}" for name, text in strings if words.search(text)]
    assert not inside, told(inside, "JavaScript and styles stand in files below `static`")
