"""Bring the sources into the house's form: `python .ci/tidy.py [FILE ...]`, from any folder.

Files are notebooks and Python files. Without names: all notebooks, tests, scripts and modules that are written by hand.
Sorts imports and formats (ruff), puts directives first in their cells, cleans notebooks and exports them, and writes
README.md from nbs/index.ipynb. What ruff cannot mend by itself, it prints; where a module lacks a name that its
notebook has, the import belongs in an exported cell.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from reading import existing, state

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def directives_first(source):
    "A code cell's source with its `#|` lines at the top, as nbdev wants them; sorting imports can carry them down."
    lines = source.split("\n")
    directives, rest = [line for line in lines if line.startswith("#|")], [x for x in lines if not x.startswith("#|")]
    return "\n".join(directives + rest[next((i for i, line in enumerate(rest) if line.strip()), 0) :])


def mend(path):
    "Directives first in every cell, and the minutes below the title."
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "#|" in source:
            cell["source"] = directives_first(source).splitlines(keepends=True)
    state(notebook)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(paths):
    "Everything, or the named files."
    places = paths or ["nbs", "tests", ".ci", "setup.py", "comparison_hc"]
    notebooks = paths or sorted((ROOT / "nbs").rglob("*.ipynb"))
    subprocess.run([BIN / "ruff", "check", "-q", "--select", "I,UP", "--fix", *places], cwd=ROOT)
    subprocess.run([BIN / "ruff", "format", "-q", *places], cwd=ROOT, check=True)
    for path in notebooks:
        if path.suffix == ".ipynb":
            mend(path)
    for command in ("nbdev_clean", "nbdev_export"):
        subprocess.run([BIN / command], cwd=ROOT, check=True)
    subprocess.run([sys.executable, ROOT / ".ci/readme.py"], check=True)
    modules = [ROOT / "comparison_hc"] if paths else []  # a name that is imported in no exported cell is missing there
    places = [*places, *modules]
    return subprocess.run([BIN / "ruff", "check", "--output-format", "concise", *places], cwd=ROOT).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", type=existing(".ipynb", ".py"))
    sys.exit(main(parser.parse_args().files))
