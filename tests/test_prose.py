"""The book's English: phrases that a reader in the field would not use do not come back.

Read are the notebooks' text, the README, the pages of the site and all docstrings; code, formulas and quotations are
left out. To allow a good use of a phrase, reword it or make the pattern narrower.
"""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_OURS = re.compile(r'```.*?```|`[^`]*`|"(?:(?!\n\n)[^"]){1,400}"|“[^”]*”|^> ".*$', re.DOTALL | re.MULTILINE)
OBJECTS = "row|line|column|number|cell|colour|panel"
SEEN = (
    r"in the (?:row|cells?|order|lines?)|on the (?:page|screen|axis)|beside|above the|where|in brackets|in the source"
)
PHRASES = {
    "a stock figure: name the agent": (r"(?i)\b(?:nobody|somebody|everybody)\b", "on instances that nobody chose"),
    "a headless subject: write *if you* or *a person who*": (r"(?i)\bwhoever\b", "Whoever knows that"),
    "a distributive article: write *one … per …*": (
        rf"\b(?:an?|one) (?:{OBJECTS}) an? (?:merge|person|method|setting|budget|query|pair|object)\b",
        "SciPy writes a hierarchy as a matrix Z, a row a merge",
    ),
    "*stand* for a location": (rf"\bstands? (?:{SEEN})\b", "a model answer stands in the source"),
    "an archaic word": (
        r"(?i)\b(?:anew|dearer|dearest|is dear|and dear|in place of|turned round)\b",
        "It works, and it is dear.",
    ),
    "*in the mean*: write *on average*": (r"\b[Ii]n the mean(?=[,.;]| [a-zβ]\b)", "−1, in the mean β"),
    "*less* for *minus*": (r"\w, less (?:one|the mean|those|what)\b", "number of places, less one"),
    "*hold back*: write *hold out*": (r"\bheld back\b", "answers that were held back"),
    "*text at hand*: write *our copy of the paper*": (r"\bat hand\b", "the text at hand says"),
    "a check that is not shown": (r"\(asserted\)|\bhidden cell\b", "refused (asserted)"),
    "a home-made heading": (
        r"(?i)\broads? not taken\b|\*\*words\.\*\*|(?-i:\bTo see:)|\bwhat to see\b|^#+ what (?:it costs|must hold)$",
        "## Limits, and roads not taken",
    ),
    "a heading that asks": (r"^#+ .*\?$", "## Does it hold tomorrow?"),
    "a home-made name of a dashboard or an export": (r"(?i)\blive pages?\b|\bstatic twins?\b", "the static twin"),
}


def notebook_texts():
    for path in sorted((ROOT / "nbs").rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield path, "".join(cell["source"])


def page_texts():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        yield path, path.read_text(encoding="utf-8")


def docstring_texts():
    for path in sorted((ROOT / "comparison_hc").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                yield path, re.sub(r"^(?:>>>|\.\.\.) .*$", "", text, flags=re.MULTILINE)


def found(pattern, texts):
    "Each use of a phrase, with the file and what surrounds it."
    uses = []
    for path, text in texts:
        prose = NOT_OURS.sub(" ", text)
        for match in re.finditer(pattern, prose, re.MULTILINE):
            around = " ".join(prose[max(0, match.start() - 40) : match.end() + 40].split())
            uses.append(f"{path.relative_to(ROOT).as_posix()}: … {around} …")
    return uses


@pytest.mark.parametrize("texts", [notebook_texts, page_texts, docstring_texts])
@pytest.mark.parametrize("fault", PHRASES)
def test_phrase_does_not_occur(fault, texts):
    uses = found(PHRASES[fault][0], texts())
    assert not uses, f"{fault}:\n" + "\n".join(uses)


@pytest.mark.parametrize("fault", PHRASES)
def test_phrase_is_found_in_prose_and_not_in_a_quotation(fault):
    pattern, example = PHRASES[fault]
    assert found(pattern, [(ROOT / "here", example)])
    assert not found(pattern, [(ROOT / "here", f'The paper says "{example}", and `{example}`.')])


def test_all_texts_are_read():
    assert sum(1 for _ in notebook_texts()) > 500 and sum(1 for _ in docstring_texts()) > 1000
    assert sum(1 for _ in page_texts()) > 10
