"""Directives decide what a reader of the site sees: cells go, code is folded away, outputs are made to stand alone."""

import re

from ..classroom.source import read_source, room_for_answer
from ..core.validation import require

SHOWN = {
    "export",
    "exporti",
    "slow",
    "data",
    "notest",
    "warning: false",
    "code-fold: true",
}  # directives that change nothing for a reader
SILENT = {"echo: false", "hide_input"}  # outputs without code
GONE = {"hide"}  # no cell at all
WIDGET = "application/vnd.jupyter.widget-view+json"
NO_KERNEL = "*In a notebook a live page stands here, which needs a kernel: `comparison-hc dashboard` opens it.*"


NO_LIBRARY = "*In a notebook a chart stands here whose library comes from another host, which this site never asks.*"


def directives(source):
    "What a cell's lines that begin with `#|` say, and the rest without remarks to a linter. Raises `InputError`."
    lines = source.split("\n")
    words = {line[2:].strip() for line in lines if line.startswith("#|")}
    for word in words:
        known = word in SHOWN | SILENT | GONE or word.startswith("default_exp ")
        require(known, "directive", f"one of default_exp, {', '.join(sorted(SHOWN | SILENT | GONE))}", word)
    code = "\n".join(line for line in lines if not line.startswith("#|")).strip("\n")
    return words, re.sub(r"(?m)  # noqa(: [A-Z0-9, ]+)?$", "", code)


def site_output(output):
    "An output that shows itself without a kernel."
    data = output.get("data", {})
    if WIDGET in data:
        return dict(output_type="display_data", metadata={}, data={"text/markdown": NO_KERNEL})
    if "cdn.jsdelivr.net" in "".join(data.get("text/html", "")):  # a chart whose library is on another host
        return dict(output_type="display_data", metadata={}, data={"text/markdown": NO_LIBRARY})
    if "<table" in "".join(data.get("text/html", "")):
        table = with_last_column(in_one_row(without_row_numbers("".join(data["text/html"]))))
        return {**output, "data": {**data, "text/html": table}}
    if "text/markdown" in data:
        return {**output, "data": {**data, "text/markdown": site_links("".join(data["text/markdown"]))}}
    return output


def site_links(text):
    "The front page of the site is not a notebook; all other links are those of the notebooks."
    return re.sub(r"(\]\((?:[^()\s]*/)?)index\.ipynb\)", r"\1index.md)", text)


def part_of(text, name):
    "The head or the body of a table."
    found = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
    return found[1] if found else ""


def without_row_numbers(text):
    "Nobody needs to read that a row comes after the one before it."
    head, body = part_of(text, "thead"), part_of(text, "tbody")
    rows = re.findall(r"<tr[^>]*>\s*(<th[^>]*>.*?</th>)", text, re.DOTALL)
    if head.count("<tr") != 1 or len(rows) != text.count("<tr"):
        return text
    if re.search(r"<th[^>]*>\d+</th>", head):  # a matrix: rows and columns are objects
        return text
    said = [re.sub(r"<[^>]*>", "", cell).strip() for cell in rows]
    if said != ["", *map(str, range(len(said) - 1))] or body.count("<th") != len(said) - 1:
        return text
    return re.sub(r"(<tr[^>]*>)\s*<th[^>]*>.*?</th>", r"\1", text, flags=re.DOTALL)


def in_one_row(text):
    "One row of heads."
    head = part_of(text, "thead")
    rows = re.findall(r"<tr[^>]*>.*?</tr>", head, re.DOTALL)
    cells = [re.findall(r"<th([^>]*)>(.*?)</th>", row, re.DOTALL) for row in rows]
    if len(rows) != 2 or len(cells[0]) != len(cells[1]) or "span" in "".join(about for about, _ in sum(cells, [])):
        return text
    named = sum(bool(said.strip()) for _, said in cells[1])
    first, second = ([bool(said.strip()) for _, said in row[:named]] for row in cells)
    if not named or any(first) or not all(second):
        return text
    merged = [*cells[1][:named], *cells[0][named:]]
    row = "\n".join(f"<th{about}>{said}</th>" for about, said in merged)
    return text.replace(head, f'<tr style="text-align: right;">\n{row}\n</tr>', 1)


SHORT = 12  # letters of a cell that leaves room for others on a telephone
VERDICTS = ("verdict", "holds", "margin", "difference", "ratio", "total", "sum")  # heads of what a table comes to


def with_last_column(text):
    "What a table comes to may stand in its last column: a verdict, a difference, a sum. Its head says so."
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in re.findall(r"<tr.*?</tr>", text, re.S)]
    last = [re.sub("<[^>]*>", "", row[-1]).strip() for row in rows if row]
    is_short = len(rows) > 1 and len(rows[0]) > 3 and last[0] in VERDICTS and max(map(len, last)) <= SHORT
    return text.replace('class="dataframe"', 'class="dataframe last"') if is_short else text


DRAWN = re.compile(r"[\u2190-\u21ff\u2500-\u25ff]|\S  +\S|^ *[\[(]")  # arrows, boxes, columns, arrays
PHONE = 44  # letters of a line on a telephone


def is_prose(output):
    "Whether the long lines of an output are sentences, which may be broken; drawings made of letters may not."
    text = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
    lines = [line for line in text.split("\n") if len(line) > PHONE]
    return bool(lines) and not any(map(DRAWN.search, lines))


def site_cell(cell, alt=""):
    "A cell without directives, or nothing where there is nothing to see."
    source = "".join(cell["source"])
    kept = dict(id=cell.get("id"), cell_type=cell["cell_type"], metadata={})
    if cell["cell_type"] == "markdown":
        return {**kept, "source": site_links(source)}
    words, code = directives(source)
    outputs = [site_output(output) for output in cell["outputs"]]
    silent = bool(words & SILENT)
    if words & GONE or not (outputs if silent else code.strip()):
        return None
    folded = [tag for tag in cell.get("metadata", {}).get("tags", []) if tag == "hide-cell"]  # a worked solution
    folded += ["hide-input"] if "code-fold: true" in words else []
    texts = [output for output in outputs if not {"text/html", "image/svg+xml"} & set(output.get("data", {}))]
    prose = ["sentences"] * (bool(texts) and all(map(is_prose, texts)))
    kept["metadata"] = {
        "tags": ["remove-input"] * silent + prose + folded,
        "mystnb": {"image": {"alt": alt}} if alt else {},
    }
    return {**kept, "source": code, "outputs": outputs, "execution_count": None}


def caption(cell):
    "The first sentence of a paragraph of Markdown, without its marks."
    if cell is None or cell["cell_type"] != "markdown":
        return ""
    text = "".join(cell["source"]).strip().split("\n\n")[0]
    if text.startswith(("#", "|", "```", "$$", "- ", "1. ", ">")):
        return ""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    first = re.match(r".*?[.!?:](?=\s|$)|.*", re.sub(r"[`*_$]", "", text).replace("\n", " "))[0]
    return first.strip()


def without_answers(notebook):
    "Solutions become stubs; hidden tests and what is for teachers go."
    cells = []
    for about, cell in zip(read_source(notebook), notebook["cells"]):
        if about.kind in ("hidden", "teacher"):
            continue
        if about.kind == "solution":
            bare = {**cell, "source": room_for_answer(about)}
            cells.append({**bare, "outputs": []} if about.is_code else bare)
        else:
            cells.append(cell)
    return cells


def is_assignment(notebook):
    "Whether cells are marked for grading."
    return any("nbgrader" in cell.get("metadata", {}) for cell in notebook["cells"])


STATED = re.compile(r"^\*(\d+) minutes? to read, (.+) to run\.\*$", re.MULTILINE)  # the line below a title
ANSWERS_LEFT_OUT = "*Answers are left out of this page; what stands below a check is what right answers give.*"


def site_notebook(notebook, before="", below=None):
    "A notebook translated cell by cell."
    given = notebook["cells"]
    if is_assignment(notebook):
        given, before = without_answers(notebook), "\n\n".join(filter(None, [before, ANSWERS_LEFT_OUT]))
    cells = []
    for cell, after in zip(given, [*given[1:], None]):
        shown = site_cell(cell, caption(after))
        if shown is None:
            continue
        if not cells and before:
            shown["source"] = STATED.sub(lambda line: f"{line[0]}\n\n{before}", shown["source"], count=1)
        cells.append(shown)
        source = "".join(cell["source"])
        text = below(shown["source"]) if below and cell["cell_type"] == "code" and "#| export" in source else ""
        if text:
            cells.append(dict(id=f"{cell['id']}-below", cell_type="markdown", metadata={}, source=text))
    folded = [cell for cell in cells if "hide-cell" in cell["metadata"].get("tags", [])]
    for number, cell in enumerate(folded if len(folded) > 1 else [], 1):
        cell["metadata"]["mystnb"]["code_prompt_show"] = f"Show a worked solution, {number} of {len(folded)}"
    language = dict(name="python", pygments_lexer="python")
    kernel = dict(name="python3", display_name="Python 3", language="python")
    return dict(cells=cells, metadata=dict(language_info=language, kernelspec=kernel), nbformat=4, nbformat_minor=5)
