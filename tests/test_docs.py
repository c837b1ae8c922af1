"""The site: how notebooks are shown, the index of statements, and a small site opened in a browser.

`pytest tests/test_docs.py --full` builds all pages and opens every one.
"""

import ast
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, unquote, urldefrag

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

ROOT = Path(__file__).parents[1]
NBS, DOCS = ROOT / "nbs", ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import browser_pages  # noqa: E402
import nbdev_cells  # noqa: E402
import theory_index  # noqa: E402

NOTEBOOKS = sorted(path for path in NBS.glob("*/*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def cell(source, *outputs, **metadata):
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def on_the_site(path, browser=True):
    "A notebook as Sphinx reads it."
    name = path.relative_to(NBS).with_suffix("").as_posix()
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda name: path), config=SimpleNamespace(browser=browser))
    source = [path.read_text(encoding="utf-8")]
    nbdev_cells.read_notebook(app, name, source)
    return nbformat.reads(source[0], 4)


# ---- notebooks

PRINTED = new_output("stream", name="stdout", text="1\n")


def test_directives_decide_what_a_reader_sees():
    shown = partial(nbdev_cells.shown, after=None)
    for source in ("#| hide\nx", "#| export\n#| hide\nimport re", "#| default_exp a.b", "#| echo: false\nx"):
        assert shown(cell(source)) is None
    silent = shown(cell("#| echo: false\nx", PRINTED))
    assert silent.metadata["tags"] == ["remove-input"] and silent.outputs == [PRINTED]
    library = shown(cell("#| export\nSIZE = 3\ndef f(x):  # noqa: F811\n    return x"))
    assert library.metadata["tags"] == ["hide-input"] and "noqa" not in library.source
    assert library.metadata["mystnb"]["code_prompt_show"] == "Source code: SIZE, f"
    assert shown(cell("x", PRINTED, tags=["solution", "hide-cell"])).metadata["tags"] == ["hide-cell"]
    plain = shown(cell("#| slow\n#| data\nx = 1", PRINTED))
    assert (plain.source, plain.metadata["tags"], plain.outputs) == ("x = 1", [], [PRINTED])
    widget = new_output("display_data", {nbdev_cells.WIDGET: {}, "text/plain": "<object>"})
    assert "dashboard" in shown(cell("page()", widget)).outputs[0].data["text/markdown"]
    chart = new_output("display_data", {nbdev_cells.CHART: {"mark": "<&"}, "image/svg+xml": "<svg/>"})
    assert "data-chart=" in shown(cell("chart", chart)).outputs[0].data["text/html"]
    chart = new_output("display_data", {nbdev_cells.CHART: {}, "image/svg+xml": "<svg/>"})
    assert "text/html" not in shown(cell("chart", chart), interactive=False).outputs[0].data
    with pytest.raises(ValueError, match="include: false"):
        shown(cell("#| include: false\nx"))


def test_the_text_for_a_picture_is_prose():
    words = new_markdown_cell("Both [curves](x.ipynb) rise at p = 0.5. More.")
    assert nbdev_cells.caption(words) == "Both curves rise at p = 0.5."
    for source in ("## Next", "| a |\n|---|", "- item", "> quoted", "1. first"):
        assert nbdev_cells.caption(new_markdown_cell(source)) == ""
    assert nbdev_cells.caption(None) == nbdev_cells.caption(cell("x")) == ""


def test_links_of_lectures_lead_to_the_dashboards_of_the_site():
    lectures = sorted(NBS.glob("classroom/*_lecture_[fnal]*.ipynb"))
    for path in lectures:
        text = nbformat.writes(on_the_site(path))
        links = re.findall(r"<a href='\.\./live/(\w+)\.html#[^']+'>", text)
        assert links and {*links} <= {*browser_pages.DASHBOARDS} and "](http://127.0.0.1" not in text
    assert lectures


def test_model_answers_and_hidden_tests_stay_out():
    seen = 0
    for path in NOTEBOOKS:
        whole = nbformat.read(path, 4)
        if not any("nbgrader" in each.metadata for each in whole.cells):
            continue
        seen += 1
        solved = [each for each in whole.cells if each.metadata.get("nbgrader", {}).get("solution")]
        words = [each.source for each in solved if each.cell_type == "markdown"]  # what a person grades
        noted = [each.source for each in whole.cells if "instructor" in each.metadata.get("tags", ())]
        lite = nbformat.reads(browser_pages.lite_notebook(nbformat.writes(whole)), 4)
        for shown in (on_the_site(path), lite):
            text = "\n".join(each.source for each in shown.cells)
            assert "BEGIN" not in text and "HIDDEN" not in text, path.name
            assert text.count("raise NotImplementedError") >= len(solved) - len(words), path.name
            assert not any(each in text for each in (*words, *noted)), path.name
            assert text.count("*Your answer here.*") == len(words), path.name
    assert seen >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_can_be_shown(path):
    "Known directives only; what is shown is Python without remarks to tools; in the browser nothing is missing."
    lite = nbformat.reads(browser_pages.lite_notebook(path.read_text(encoding="utf-8")), 4)
    for notebook in (on_the_site(path), lite):
        for each in notebook.cells:
            if each.cell_type == "code" and not each.source.startswith("%%"):
                ast.parse(re.sub(r"(?m)^[%!].*$", "", each.source))
                assert "#|" not in each.source and not re.search(r"# noqa: [A-Z0-9, ]+$", each.source, re.M)
    code = "\n".join(each.source for each in lite.cells if each.cell_type == "code")
    assert not re.search(r"import (vl_convert|cvxpy)|enable\(\"(png|svg)", code)


EXERCISE = re.compile(r"\*\*Exercise|^## Exercise", re.MULTILINE)


def test_every_exercise_has_a_worked_solution_that_is_computed():
    "Folded cells below it that the tests run; they assert something and say the solution, each number of its own."
    lacking, seen = [], 0
    for path in NOTEBOOKS:
        cells = nbformat.read(path, 4).cells
        for at in [at for at, each in enumerate(cells) if EXERCISE.search(each.source)]:
            seen += 1
            text = EXERCISE.split(cells[at].source, maxsplit=1)[1].split("\n\n**")[0]
            said, after = "", at + 1
            while after < len(cells) and {"solution", "hide-cell"} <= {*cells[after].metadata.get("tags", [])}:
                outputs = cells[after].get("outputs", [])
                said += "".join(output.get("data", {}).get("text/markdown", "") for output in outputs)
                after += 1
            if after == at + 1 or "**Solution" not in said:
                lacking.append(f"{path.stem}: no solution, or it is not shown")
            for number in re.findall(r"(?:^\w*\.\*\* |\n|[?.)] )(\d)\. (?=[A-Z(])", text):
                if not re.search(rf"\*{number}\.\*|\*\*Solution {number}\.", said):
                    lacking.append(f"{path.stem}: no solution of exercise {number}")
    assert seen > 60 and lacking == []


# ---- the front page, and the index of statements


def test_the_front_page_is_one_screen():
    "Links are not read, so they do not count. The site's first page has the same picture and code."
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    read = re.sub(r"\]\([^)]*\)", "]", text)
    assert len(read.split()) <= 700 and len(read.splitlines()) <= 80 and "\n|" not in read
    assert re.findall(r"^!\[.+\]\((.+)\)", text, re.MULTILINE) == ["nbs/figures/index_1.svg"]
    assert len(re.findall(r"^python3 -m venv ", text, re.MULTILINE)) == 2
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5 and 'read_comparisons("answers.csv")' in code
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    assert code in home and "figures/index_1.svg" in home
    for words in ("jupyter lab nbs/contents.ipynb", "comparison-hc dashboard", "make -C docs html"):
        assert words in text
    assert not re.search(r"\b[FNAL]\d\d\b", read.partition("## References")[0])


def test_every_check_has_its_verdict_on_a_page():
    from comparison_hc.checks import find_checks

    shown = {(each.paper, each.name): theory_index.verdict(each)[0] for each in find_checks()}
    failing = {name: words for name, words in shown.items() if not words.startswith("✓")}
    assert len(shown) >= 122 and not failing, "run .ci/execute.py on the notebook that calls them, or show one call"


def test_numbers_in_prose():
    mentions = theory_index.mentions
    assert mentions("theorems 2, 3 and 4; Lemma 5.2 to 5.4", "A18") == {
        *("Theorem 2", "Theorem 3", "Theorem 4", "Lemma 5.2", "Lemma 5.3", "Lemma 5.4")
    }
    assert mentions("N20's Theorem 1 and figures S.1–S.3", "F19") == {"Figure S.1", "Figure S.2", "Figure S.3"}
    assert mentions("Figure 2a, Figure 21", "N20") == {"Figure 2a", "Figure 21"}
    assert theory_index.OWN_FIGURE.sub("", "*Figure 1 (figure 3 of the paper).* F19, Figure S.2") == (
        "*1 (figure 3 of the paper).* F19, Figure S.2"
    )


@pytest.mark.parametrize("paper", theory_index.FOLDER)
def test_the_index_lists_every_number_and_every_check(paper):
    from comparison_hc.checks import find_checks
    from comparison_hc.reproduce.claims import find_reproductions
    from comparison_hc.theory.statements import NUMBERED

    text = theory_index.paper_text(paper)
    assert all(f"\n## {item}\n" in text for item in NUMBERED[paper])
    assert all(f"`{each.name}`" in text for each in find_checks(paper))
    figures = [each.name for each in find_reproductions().values() if each.paper == paper]
    assert all(f"`comparison-hc reproduce {name}`" in text for name in figures)
    assert text.count(", shown in [") >= 5 or paper not in ("F19", "N20")
    assert "no stored results" not in text and "not run in a notebook" not in text


@given(st.text(st.sampled_from("ab_*[]<>#|$~&\\{}().! "), max_size=20))
def test_plain_text_is_no_markdown(text):
    markdown_it = pytest.importorskip("markdown_it", reason="myst-nb is not installed (extra: docs)")
    text = " ".join(text.split())
    (inline,) = markdown_it.MarkdownIt().parse("x " + theory_index.plain(text))[1:2] or [None]
    assert "".join(child.content for child in inline.children) == f"x {text}".rstrip()


# ---- sites


def sphinx(sources, out, *options):
    "Build a site as the documented command does; returns the process."
    for name in ("myst_nb", "furo", "sphinx_design", "sphinxarg", "numpydoc", "jupyterlite_sphinx"):
        pytest.importorskip(name, reason="the extra docs is not installed")
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html", "-c", DOCS]
    words += ["-d", out.parent / "doctrees", *options, sources, out]
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL)


@contextmanager
def served(folder):
    "The address of a folder."

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_):
            "A reader who leaves early is no fault."

    with Server(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Links(HTMLParser):
    "What a page refers to, and the places in it."

    def __init__(self, path):
        super().__init__()
        self.targets, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        self.targets += [found[name] for name in ("href", "src") if found.get(name)]


def own_pages(folder):
    "Pages that are not JupyterLite's."
    return [path for path in sorted(folder.rglob("*.html")) if "lite" not in path.relative_to(folder).parts]


def dead_links(folder):
    "(page, target) of every link inside the site that leads nowhere; after # there may be a dashboard's settings."
    read, dead = {path.resolve(): Links(path) for path in own_pages(folder)}, []
    for path, links in read.items():
        for target in links.targets:
            if re.match(r"[a-z]+:", target):
                continue
            file, anchor = urldefrag(target)
            there = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
            known = there not in read or there.parent.name == "live" or unquote(anchor) in read[there].places
            if not there.is_file() or anchor and not known:
                dead.append((path.relative_to(folder.resolve()).as_posix(), target))
    return dead


FAULTS = """() => ({
    broken: [...document.images].filter((i) => i.loading != "lazy" && !i.naturalWidth).map((i) => i.src),
    sideways: document.documentElement.scrollWidth - innerWidth,
})"""


def look_through(browser, address, paths, width):
    "Open pages at a width; every fault as a line."
    faults = []
    page = browser.new_page(viewport=dict(width=width, height=800))
    page.on("request", lambda r: r.url.startswith((address, "data:", "blob:")) or faults.append(f"asks {r.url}"))
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", lambda m: m.type == "error" and faults.append(f"{page.url}: {m.text}"))
    for path in paths:
        page.goto(address + path, wait_until="load")
        page.evaluate("() => window.MathJax?.startup?.promise?.catch((e) => console.error(e.message))")
        found = page.evaluate(FAULTS)
        faults += [f"{path}: broken {source}" for source in found["broken"]]
        faults += [f"{path}: {found['sideways']} px sideways at {width}"] if found["sideways"] > 0 else []
        if width == 1280 and page.locator("[data-chart]").count():
            page.wait_for_selector("[data-chart] :is(svg, canvas)")
    page.close()
    return faults


def search(browser, address, words):
    "Titles that the site's search finds."
    page = browser.new_page()
    page.goto(f"{address}search.html?q={words}")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    page.wait_for_timeout(500)
    titles = page.locator("#search-results li > a").all_inner_texts()
    page.close()
    return titles


@pytest.fixture(scope="module")
def small_site(tmp_path_factory):
    "Two notebooks, a page of the index, commands and a module."
    folder = tmp_path_factory.mktemp("site")
    pages = ["flat/20_planted.ipynb", "core/04_checks.ipynb", "data.md", "commands.md"]
    for name in pages:
        source = (NBS if name.endswith("ipynb") else DOCS) / name
        text = source.read_text(encoding="utf-8")
        text = re.sub(r"\[([^\]\[]+)\]\((?!https?:|#)[^()\s]+\)", r"\1", text)  # other pages are not there
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text, encoding="utf-8")
    api = "```{eval-rst}\n.. automodule:: comparison_hc.metrics\n   :members:\n```\n"
    listed = "\n".join(name.rpartition(".")[0] for name in pages)
    text = f"# Home\n\n{api}\n```{{toctree}}\n{listed}\n```\n"
    (folder / "in" / "index.md").write_text(text, encoding="utf-8")
    done = sphinx(folder / "in", folder / "out", "-D", "browser=0")
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "out"


def test_a_small_site_has_no_fault_and_can_be_searched(small_site, browser):
    assert dead_links(small_site) == []
    with served(small_site) as address:
        paths = [path.relative_to(small_site).as_posix() for path in own_pages(small_site)]
        assert [fault for width in (390, 1280) for fault in look_through(browser, address, paths, width)] == []
        assert "Commands" in search(browser, address, "respondent")


def test_a_page_has_its_parts(small_site):
    text = (small_site / "flat/20_planted.html").read_text(encoding="utf-8")
    assert "#|" not in text and "<svg" in text and "Run in your browser" not in text
    source = text.split("Source code: PlantedPartition, planted_partition")[1].split("</details>")[0]
    assert "def</span>" in source and "planted_partition" in source
    solution = text.split("<strong>Exercise")[1].split("<details", 1)[1].split("</details>")[0]
    assert "Show a worked solution" in solution and "<strong>Solution" in solution
    assert "Parameters" in (small_site / "index.html").read_text(encoding="utf-8")


def test_every_option_of_every_command_is_on_the_page(small_site):
    from comparison_hc.cli import make_parser

    text, waiting = (small_site / "commands.html").read_text(encoding="utf-8"), [make_parser()]
    while waiting:
        for action in waiting.pop()._actions:
            assert all(f"{option}" in text for option in action.option_strings), action.option_strings
            waiting += getattr(action, "choices", None).values() if isinstance(action.choices, dict) else []


def test_a_dead_link_stops_the_builder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "index.md").write_text("# Home\n\n[nowhere](gone.ipynb)\n")
    done = sphinx(tmp_path / "in", tmp_path / "out", "-D", "browser=0")
    assert done.returncode and "gone.ipynb" in done.stderr


def heights_in_jupyterlite(browser, address, pause=300_000):
    "The heights of the charts of a dashboard in a cell of JupyterLite, after a notebook has been opened there."
    page = browser.new_page()
    page.set_default_timeout(pause)
    page.goto(f"{address}lite/notebooks/index.html?path=hierarchical/10_planted.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    cell = "from comparison_hc.dashboards import planted_dashboard; planted_dashboard()"
    page.goto(f"{address}lite/repl/index.html?kernel=python&execute=1&code={quote(cell)}")
    page.wait_for_selector(".chc[data-done]")
    found = page.evaluate(
        "() => [...document.querySelectorAll('.chc svg.marks')].map(each => +each.getAttribute('height'))"
    )
    page.close()
    return found


def test_all_pages_have_no_fault(request, tmp_path, browser):
    "The documented build, every link, every page at two widths, the search, and JupyterLite's own files."
    if not request.config.getoption("--full"):
        pytest.skip("all pages are built and opened with --full only: minutes")
    folder = tmp_path / "site"
    done = sphinx(DOCS, folder)
    assert done.returncode == 0, done.stderr[-20_000:]
    assert dead_links(folder) == []
    paths = [path.relative_to(folder).as_posix() for path in own_pages(folder)]
    paths = [path for path in paths if not path.startswith("_modules/")]
    assert len(paths) > len(NOTEBOOKS)
    with served(folder) as address:
        assert [fault for width in (390, 1280) for fault in look_through(browser, address, paths, width)] == []
        assert "Commands" in search(browser, address, "respondent")
        heights = heights_in_jupyterlite(browser, address)
        assert heights and max(heights) < 1000


def test_what_stands_between_two_solutions_of_a_cell_stays():
    source = "def f(n):\n    ### BEGIN SOLUTION\n    return n\n    ### END SOLUTION\n\n\nshare = ...\n"
    source += "### BEGIN SOLUTION\nshare = f(1)\n### END SOLUTION"
    cell = new_code_cell(source, metadata={"nbgrader": {"solution": True}})
    (shown,) = nbdev_cells.without_answers([cell])
    assert shown.source == "def f(n):\n    raise NotImplementedError\n\n\nshare = ...\nraise NotImplementedError"
