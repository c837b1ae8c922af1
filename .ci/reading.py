"""How long notebooks take to read, and what one of them states about itself.

A minute is 180 words of prose or twelve lines of visible code. Where a page's text is computed, its cell has the tag
`prose`, and what it shows counts as prose.
`python .ci/reading.py` prints every notebook.
"""

import argparse
import json
import re
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[1] / "nbs"
HIDDEN = re.compile(r"^#\|\s*(hide|hide_input|echo:\s*false|include:\s*false)\b")
HIDDEN_TAGS = {"hide-input", "hide-cell", "remove-cell", "remove-input"}
STATED = re.compile(r"^\*(\d+) minutes? to read, (.+) to run\.\*$", re.MULTILINE)


def is_hidden(cell):
    "Whether a reader does not see the code of this cell."
    lines = "".join(cell["source"]).splitlines()
    return bool(HIDDEN_TAGS & {*cell["metadata"].get("tags", [])}) or any(map(HIDDEN.match, lines[:4]))


def words_of(text):
    "Words of prose in Markdown: without blocks of code, displayed formulas and remarks that nobody sees."
    prose = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", " ", text, flags=re.DOTALL)
    return len(re.findall(r"[^\W\d_][\w’'-]*", prose))


def shown_prose(cell):
    "The Markdown that a cell shows, if that is the text of the page; addresses of links are not read."
    if "prose" not in cell["metadata"].get("tags", []):
        return ""
    shown = ["".join(output.get("data", {}).get("text/markdown", "")) for output in cell["outputs"]]
    return re.sub(r"\]\([^)]*\)", "]", "\n".join(shown))


def minutes(notebook):
    "Minutes to read a parsed notebook."
    words = lines = 0
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words += words_of(text)
            continue
        words += words_of(shown_prose(cell)) if cell["cell_type"] == "code" else 0
        if cell["cell_type"] == "code" and not is_hidden(cell):
            lines += sum(bool(line.strip()) and not line.lstrip().startswith("#|") for line in text.splitlines())
    return max(1, round(words / 180 + lines / 12))


def state(notebook, runs=None):
    "Write the minutes below the title and, where given, how long it runs; whether the notebook says so now."
    first = notebook["cells"][0]
    text = "".join(first["source"]).rstrip("\n")
    stated = STATED.search(text)
    runs = runs or (stated.group(2) if stated else None)
    if runs is None:
        return False
    for _ in range(2):  # the line itself is prose too
        count = minutes(notebook)
        line = f"*{count} minute{'s' * (count != 1)} to read, {runs} to run.*"
        text = STATED.sub(line, text) if STATED.search(text) else re.sub(r"(\n> .*)", rf"\1\n\n{line}", text, count=1)
        first["source"] = text.splitlines(keepends=True)
    return True


def roughly(seconds):
    "A time in words that stay the same from run to run."
    steps = [2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800]
    near = min(steps, key=lambda step: abs(step - seconds) / step)
    if near <= 2:
        return "a moment"
    return f"about {near} seconds" if near < 60 else f"about {near // 60} minute{'s' * (near > 60)}"


def existing(*endings):
    "A file that is there, named from the folder in which the command is typed."

    def resolved(name):
        path = Path(name).resolve()
        if not path.is_file() or path.suffix not in endings:
            raise argparse.ArgumentTypeError(f"{name} is no {' or '.join(endings)} file here ({Path.cwd()})")
        return path

    return resolved


def main():
    "Print one line per notebook, and the sum."
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    total = 0
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        count = minutes(json.loads(path.read_text(encoding="utf-8")))
        total += count
        print(f"{path.relative_to(NOTEBOOKS).as_posix():48} {count:4}")
    print(f"{total} minutes in all")


if __name__ == "__main__":
    sys.exit(main())
