"""Reads nbdev notebooks for the site: directives become tags, library source is folded, solutions are left out."""

import json
import re
from html import escape

import nbformat

HIDDEN = {"hide"}
SILENT = {"echo: false", "hide_input"}
LIBRARY = {"export", "exporti"}
ELSEWHERE = {"data", "not in browsers"}  # cells that need what a browser lacks
KNOWN = HIDDEN | SILENT | LIBRARY | ELSEWHERE | {"slow", "notest", "warning: false", "code-fold: true"}
WIDGET = "application/vnd.jupyter.widget-view+json"
CHART = "application/vnd.vegalite.v5+json"  # with a slider; `explorable.mjs` draws it
NO_KERNEL = "*In a notebook, a dashboard with controls appears here; `comparison-hc dashboard` opens it as well.*"
NO_ANSWERS = "*Model answers are left out of this page. The outputs below the checks are those of correct answers.*"
RUN = (
    '<p class="run"><a href="{up}lite/notebooks/index.html?path={path}" target="_blank">Run in your browser</a> '
    '<a href="{up}lite/files/{path}" download>Download the notebook</a></p>'
)
LECTURE = re.compile(r"\[([^\[\]]+)\]\(http://127\.0\.0\.1:(\d{4})/(#[^()\s]+)\)")  # to the reader's own dashboard
PORTS = {"8861": "planted", "8862": "flat", "8863": "step", "8865": "link"}


def directives(source):
    "The directives of a cell, and its source without them and without remarks to a linter."
    lines = source.split("\n")
    words = {line[2:].strip() for line in lines if line.startswith("#|")}
    unknown = {word for word in words - KNOWN if not word.startswith("default_exp ")}
    if unknown:
        raise ValueError(f"unknown directives {sorted(unknown)}; known are {sorted(KNOWN)}")
    code = "\n".join(line for line in lines if not line.startswith("#|")).strip("\n")
    return words, re.sub(r"(?m)  # noqa(: [A-Z0-9, ]+)?$", "", code)


def without_answers(cells):
    "An assignment as students get it: no model answers, hidden tests or notes for instructors."
    for cell in cells:
        grading, hidden = cell.metadata.get("nbgrader", {}), "### BEGIN HIDDEN TESTS" in cell.source
        if hidden or "instructor" in cell.metadata.get("tags", ()):
            continue
        if grading.get("solution") and cell.cell_type == "code":
            stub = r"\1raise NotImplementedError"
            cell.source = re.sub(r"(?s)( *)### BEGIN SOLUTION.*?### END SOLUTION", stub, cell.source)
            cell.outputs = []
        elif grading.get("solution"):
            cell.source = "*Your answer here.*"
        yield cell


def caption(cell):
    "The first sentence of a paragraph, as the alternative text of the picture above it."
    text = cell.source.strip().split("\n\n")[0] if cell is not None and cell.cell_type == "markdown" else "#"
    text = re.sub(r"[`*_$]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).replace("\n", " ")
    return "" if re.match(r"[#|>\-]|\d\. ", text) else re.match(r".*?[.!?:](?=\s|$)|.*", text)[0]


def shown(cell, after, interactive=True):
    "A cell as readers of the site see it; None if nothing of it is shown."
    if cell.cell_type == "markdown":
        cell.source = re.sub(r"\]\(((?:\.\./)*)index\.ipynb\)", r"](\1index.md)", cell.source)
        return cell
    words, cell.source = directives(cell.source)
    if words & HIDDEN or not (cell.outputs if words & SILENT else cell.source.strip()):
        return None
    tags = [tag for tag in cell.metadata.get("tags", []) if tag == "hide-cell"]  # a worked solution
    tags += ["remove-input"] * bool(words & SILENT) + ["hide-input"] * bool(words & (LIBRARY | {"code-fold: true"}))
    about = {"image": {"alt": caption(after)}}
    if words & LIBRARY:
        names = re.findall(r"^(?:class|def) (\w+)|^(\w+) =", cell.source, re.MULTILINE)
        about["code_prompt_show"] = "Source code: " + ", ".join(filter(None, sum(names, ()))) if names else "Imports"
    for output in cell.outputs:
        if WIDGET in output.get("data", {}):
            output.data = {"text/markdown": NO_KERNEL}
        chart = output.get("data", {}).pop(CHART, None)  # without it, a picture stands beside
        if interactive and chart:
            output.data["text/html"] = f'<div data-chart="{escape(json.dumps(chart))}"></div>'
    cell.metadata = dict(tags=tags, mystnb=about)
    return cell


def read_notebook(app, docname, source):
    "The event `source-read`: a notebook before myst-nb parses it."
    if not str(app.env.doc2path(docname)).endswith(".ipynb"):
        return
    up = "../" * docname.count("/")
    text = LECTURE.sub(
        lambda m: f"<a href='{up}live/{PORTS[m[2]]}.html{m[3].replace('&', '&amp;')}'>{m[1]}</a>", source[0]
    )
    notebook = nbformat.reads(text, as_version=4)
    above = [RUN.format(up=up, path=f"{docname}.ipynb")] * bool(up and app.config.browser)
    if any("nbgrader" in cell.metadata for cell in notebook.cells):
        notebook.cells, above = list(without_answers(notebook.cells)), [*above, NO_ANSWERS]
    notebook.cells[0].source += "".join(f"\n\n{line}" for line in above)
    pairs = zip(notebook.cells, [*notebook.cells[1:], None])
    notebook.cells = list(filter(None, (shown(cell, after, app.config.browser) for cell, after in pairs)))
    notebook.metadata["language_info"] = dict(name="python", pygments_lexer="python")
    source[0] = nbformat.writes(notebook)


def setup(app):
    app.connect("source-read", read_notebook)
    return dict(parallel_read_safe=True, parallel_write_safe=True)
