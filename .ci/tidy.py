"""Bring the sources into the project's form: `python .ci/tidy.py [FILE ...]`, from any folder.

Files are notebooks and Python files; without names, all of them. Sorts imports and formats (ruff), puts directives
first in their cells, cleans and exports notebooks (nbdev), and writes README.md. What ruff cannot fix, it prints.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def directives_first(path):
    "Directives belong at the top of their cells; sorting imports can carry them down."
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        lines = "".join(cell["source"]).split("\n")
        first = [line for line in lines if line.startswith("#|")]
        if cell["cell_type"] == "code" and first:
            code = "\n".join(line for line in lines if not line.startswith("#|")).lstrip("\n")
            cell["source"] = "\n".join([*first, code]).splitlines(keepends=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


paths = [Path(name).resolve() for name in sys.argv[1:]]
places = paths or ["nbs", "tests", ".ci", "docs", "setup.py", "comparison_hc"]
subprocess.run([BIN / "ruff", "check", "-q", "--select", "I,UP", "--fix", *places], cwd=ROOT)
subprocess.run([BIN / "ruff", "format", "-q", *places], cwd=ROOT, check=True)
for path in paths or (ROOT / "nbs").rglob("*.ipynb"):
    if path.suffix == ".ipynb":
        directives_first(path)
for command in ("nbdev_clean", "nbdev_export"):
    subprocess.run([BIN / command], cwd=ROOT, check=True)
subprocess.run([sys.executable, ROOT / ".ci/readme.py"], check=True)
places += ["comparison_hc"] * bool(paths)  # a name that is imported in no exported cell is missing there
sys.exit(subprocess.run([BIN / "ruff", "check", "--output-format", "concise", *places], cwd=ROOT).returncode)
