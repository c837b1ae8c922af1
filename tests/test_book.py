"""The site: its parts without a builder, and a small site, built with warnings as errors and opened in a browser.

`pytest tests/test_book.py --full` builds all pages and opens every one.
"""

import argparse
import ast
import importlib.util
import io
import json
import re
import socket
import struct
import threading
from dataclasses import replace
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from socket import SHUT_WR, create_connection
from urllib.parse import unquote, urldefrag
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import asks_nobody

from comparison_hc.book import live, site
from comparison_hc.book import pages as book_pages
from comparison_hc.book.book_command import site_server
from comparison_hc.book.cells import (
    ANSWERS_LEFT_OUT,
    WIDGET,
    caption,
    directives,
    is_assignment,
    site_cell,
    site_notebook,
    without_answers,
)
from comparison_hc.book.docments import Parameter, documented, parameter_tables
from comparison_hc.book.map import LEFT, LONGEST, WIDTH, arc_map, arcs
from comparison_hc.book.pages import ROUTES, Book, direct, read_book, route_pages
from comparison_hc.book.reference import command_text, item_text, plain
from comparison_hc.book.statements import NUMBERED, mentions, paper_page, shown_results
from comparison_hc.book.words import letters_table, remarks, words_table
from comparison_hc.classroom.lecture_kit import address
from comparison_hc.cli import main, make_parser
from comparison_hc.core.validation import InputError
from comparison_hc.dashboards.framework import find_dashboard
from comparison_hc.dashboards.page import read_static_page

ROOT = Path(__file__).parents[1]
NBS = ROOT / "nbs"


@pytest.fixture(scope="module")
def book():
    "All pages of this checkout."
    return read_book(NBS)


def all_commands():
    "{name: parser} of every command."
    action = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return action.choices


# ---- cells


def code(source, *outputs):
    return dict(cell_type="code", id="a", metadata={}, source=source, outputs=list(outputs))


TEXT = dict(output_type="stream", name="stdout", text="1\n")


def test_what_a_reader_sees_of_a_cell():
    assert site_cell(code("#| hide\nx", TEXT)) is None
    assert site_cell(code("#| export\n#| hide\nimport re")) is None
    assert site_cell(code("#| default_exp a.b")) is None
    assert site_cell(code("#| echo: false\nx")) is None  # nothing is left of it
    shown = site_cell(code("#| echo: false\nx", TEXT))
    assert shown["metadata"]["tags"] == ["remove-input"] and shown["outputs"] == [TEXT]
    solution = {**code("x", TEXT), "metadata": {"tags": ["solution", "hide-cell"]}}
    assert site_cell(solution)["metadata"]["tags"] == ["hide-cell"]
    shown = site_cell(code("#| slow\n#| data\nx = 1", TEXT))
    assert (shown["source"], shown["metadata"]["tags"], shown["outputs"]) == ("x = 1", [], [TEXT])


def test_several_solutions_on_a_page_are_told_apart():
    solution = {**code("x", TEXT), "id": "a", "metadata": {"tags": ["solution", "hide-cell"]}}
    for count, labels in ((1, [None]), (2, ["Show a worked solution, 1 of 2", "Show a worked solution, 2 of 2"])):
        cells = site_notebook({"cells": [solution] * count})["cells"]
        assert [cell["metadata"]["mystnb"].get("code_prompt_show") for cell in cells] == labels


def test_an_unknown_directive_is_refused():
    with pytest.raises(InputError, match="include: false"):
        directives("#| include: false\nx")


def test_a_widget_becomes_a_sentence_and_links_to_the_front_page_are_mended():
    output = dict(output_type="execute_result", data={WIDGET: {}, "text/plain": "<object>"})
    assert "live" in site_cell(code("page()", output))["outputs"][0]["data"]["text/markdown"]
    output = dict(output_type="execute_result", data={"text/html": "<script src=https://cdn.jsdelivr.net/npm/vega>"})
    assert "text/html" not in site_cell(code("chart", output))["outputs"][0]["data"]
    cell = dict(cell_type="markdown", source="[a](../index.ipynb) [b](other_index.ipynb) [c](index.ipynb)")
    assert site_cell(cell)["source"] == "[a](../index.md) [b](other_index.ipynb) [c](index.md)"


def test_a_caption_is_prose():
    words = dict(cell_type="markdown", source="Both [curves](x.ipynb) rise at p = 0.5. More.")
    assert caption(words) == "Both curves rise at p = 0.5."
    for source in ("## Next", "| a |\n|---|", "- item", "$$x$$"):
        assert caption(dict(cell_type="markdown", source=source)) == ""
    assert caption(None) == caption(code("x")) == ""


def test_solutions_and_hidden_tests_stay_out(book):
    "Of every assignment: no marked solution, no cell that students do not get."
    read = {page.path: json.loads((NBS / page.path).read_text(encoding="utf-8")) for page in book.of_room("classroom")}
    sources = {path: notebook for path, notebook in read.items() if is_assignment(notebook)}
    assert len(sources) >= 4
    for path, notebook in sources.items():
        kept = "\n".join("".join(cell["source"]) for cell in without_answers(notebook))
        shown = "\n".join("".join(cell["source"]) for cell in site_notebook(notebook)["cells"])
        for text in (kept, shown):
            assert "BEGIN SOLUTION" not in text and "raise NotImplementedError" in text, path
        hidden = [c for c in notebook["cells"] if "-hidden" in str(c["metadata"].get("nbgrader", ""))]
        assert hidden and not any("".join(cell["source"]) in shown for cell in hidden), path
        solutions = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
        words = [c for c in solutions if c["cell_type"] == "markdown"]  # what a person reads
        assert not any("".join(cell["source"]) in text for cell in words for text in (kept, shown)), path
        assert kept.count("YOUR ANSWER HERE") == len(words), path
        first = site_notebook(notebook, "Before this: x.")["cells"][0]["source"]
        assert first.count(ANSWERS_LEFT_OUT) == 1 and "Before this: x." in first, path
    assert ANSWERS_LEFT_OUT not in json.dumps(site_notebook(read["classroom/70_classroom.ipynb"]))


def test_what_a_page_shows_of_a_cell_is_still_python(book):
    "Lines that speak to tools go, and nothing else of a cell."
    for page in book.pages:
        for cell in json.loads((NBS / page.path).read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] != "code" or "noqa" not in source or source.startswith("%%"):
                continue
            shown = directives(source)[1]
            ast.parse(shown)
            assert not re.search(r"# noqa: [A-Z0-9, ]+$", shown, re.M), page.path


# ---- parameters and text

NAMES = st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True).filter(str.isidentifier), unique=True, max_size=4)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@given(NAMES.filter(lambda names: not {"if", "in", "is", "or", "as", "and", "not", "for", "def"} & {*names}), WORDS)
def test_comments_are_read_as_they_stand(names, words):
    import keyword

    names = [name for name in names if not keyword.iskeyword(name)]
    words = words.lstrip("#") or "x"
    lines = "".join(f"    {name},  # {words}\n" for name in names)
    (found,) = documented(
        f"def f(\n{lines}):  # {words}\n    'About.'\n" if names else f"def f():  # {words}\n    'About.'\n"
    )
    assert found.parameters == tuple(Parameter(name, "", words) for name in names)
    assert (found.returns, found.about, found.kind) == (words, "About.", "function")


def test_classes_properties_and_one_line_functions():
    source = """
@dataclass(frozen=True)
class A(B):
    "Is."
    x: int  # first
    _: KW_ONLY
    y: object = None  # second
    z: dict = field(default_factory=dict)
    t: tuple = field(repr=False, default=())
    def own(self, a=1):  # text
        "Own."
    @property
    def p(self):
        "Prop."
    def _q(self): pass
"""
    (found,) = documented(source)
    own = (Parameter("z", "{}", ""), Parameter("t", "()", ""))
    assert found.parameters == (Parameter("x", "", "first"), Parameter("y", "None", "second"), *own)
    assert [(m.name, m.kind, m.returns, m.signature) for m in found.members] == [
        ("own", "method", "text", "(a=1)"),
        ("p", "property", "", ""),
    ]
    assert found.bases == ("B",)
    text = item_text(found, 4, {"B": "core.b"})
    assert text.startswith("::::{py:class} A(x, y=None, z={}, t=())") and "(#comparison_hc.core.b.B)" in text
    assert ":param x: first\n:param y: second\n:param z:\n:param t:\n" in text
    with pytest.raises(InputError, match="Python"):
        documented("def")


def test_fields_functions_without_a_name_and_what_the_house_means_by_a_name():
    source = """
SAID = "said once"
class T(NamedTuple):
    x: int  # first
    y: float = 0.5
class S(Settings):
    pass
@dataclass
class L(Settings):
    a: int = setting(3, check, "a", SAID, [1, 2])
    b: int = setting(4, check, "b", "said here", [1, 2])
    c: int = setting(5, check, "c", SAID, [1, 2])  # a comment comes first
def f(
    rng,
    quick=False,  # own words
    one=lambda x: x,
    none=lambda *_: None,
    yes=lambda x: True,
    empty=lambda: {},
    other=lambda x: x + 1,
    odd=None,
):
    "Do."
"""
    named, plain_class, live, function = documented(source)
    assert named.parameters == (Parameter("x", "", "first"), Parameter("y", "0.5", "")) and not plain_class.parameters
    abouts = [(p.name, p.default, p.about) for p in live.parameters]
    assert abouts == [("a", "3", "said once"), ("b", "4", "said here"), ("c", "5", "a comment comes first")]
    said = {p.name: (p.default, p.about) for p in function.parameters}
    assert said.pop("rng") == ("", "int seed or `numpy.random.Generator`")
    assert said.pop("quick") == ("False", "own words") and said.pop("odd") == ("None", "")
    words = ["unchanged", "does_nothing", "always_true", "always_empty", "a_function"]
    assert [default for default, _ in said.values()] == words and not any(about for _, about in said.values())


@given(st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=8))
def test_every_page_that_needs_one_has_an_arrowhead_where_its_lines_end(rows):
    needs = [{above for above in row if above < place} for place, row in enumerate(rows)]
    text = arc_map([(str(place), "A title", "a.html", []) for place in range(len(rows))], needs, "Pages")
    ends = {}
    for path in re.findall(r'<path d="([^"]+)"', text):
        below = float(re.search(r"V([\d.]+)q", path)[1]) + 5
        ends.setdefault(below, set()).add(float(re.search(r"H([\d.]+)$", path)[1]))
    heads = {float(y): float(tip) for tip, y in re.findall(r'<polygon points="([\d.]+),([\d.]+) ', text)}
    assert len(heads) == text.count("<polygon") == sum(1 for row in needs if row)
    assert heads.keys() == ends.keys()
    dots = {float(y): float(x) - 3.5 for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)}
    for y, tip in heads.items():
        (right,) = ends[y]
        nearest = min(dots, key=lambda dot: abs(dot - y))
        assert abs(nearest - y) <= 4 and abs(tip - right) <= 2 and abs(dots[nearest] - tip) <= 1


def test_a_table_of_parameters_shows_comments_as_they_are():
    html = parameter_tables(
        "def f(\n    a=2,  # 1 < `a` & more\n):  # (n,)\n    'Do.'", lambda name: f"api.html#{name}"
    )
    assert "1 &lt; <code>a</code> &amp; more" in html and 'href="api.html#f"' in html and "\n\n" not in html
    assert parameter_tables("def f(a):\n    'Do.'") == ""


@given(st.text(st.sampled_from("ab_*[]<>#|$~&\\`{}().! "), max_size=20))
def test_plain_text_is_no_markdown(text):
    "A Markdown reader gives the text back. (Backticks make code; their pairs are taken out first.)"
    markdown_it = pytest.importorskip("markdown_it", reason="myst-nb is not installed (extra: book)")
    text = " ".join(text.replace("`", "").split())
    (inline,) = markdown_it.MarkdownIt().parse("x " + plain(text))[1:2] or [None]
    assert "".join(child.content for child in inline.children) == f"x {text}".rstrip()


# ---- order, routes, map


@given(st.lists(st.sets(st.integers(0, 7)), max_size=8))
def test_direct_needs_say_all_and_nothing_twice(rows):
    needs = {i: {j for j in row if j < i} for i, row in enumerate(rows)}

    def behind(needs, key):
        return set(needs[key]).union(*(behind(needs, one) for one in needs[key]))

    reduced = direct(needs)
    assert all(behind(reduced, key) == behind(needs, key) for key in needs)
    for key, row in reduced.items():
        for one in row:
            fewer = {**reduced, key: row - {one}}
            assert behind(fewer, key) != behind(needs, key)


@given(st.lists(st.sets(st.integers(0, 9)), max_size=10))
def test_arcs_of_a_lane_do_not_overlap(rows):
    needs = [{j for j in row if j < i} for i, row in enumerate(rows)]
    placed = arcs(needs)
    assert {(up, low) for up, low, _ in placed} == {(up, low) for low, row in enumerate(needs) for up in row}
    for a in placed:
        for b in placed:
            assert a == b or a[2] != b[2] or a[1] <= b[0] or b[1] <= a[0]


def test_no_title_of_the_map_is_cut(book):
    "Letters of the widest kind in use, seven units each, end inside of the picture."
    longest = max(len(page.title) for page in book.reading_path)
    assert longest <= LONGEST and LEFT + 7 * (longest + 5) <= WIDTH


def test_routes_lead_over_pages_that_exist(book):
    assert all(route_pages(route, book) for route in ROUTES)
    for paper, room in (("f19", "hierarchical"), ("n20", "flat"), ("a18", "adaptive"), ("l20", "link")):
        first = next(route for route in ROUTES if route.name == "first-steps")
        assert [page for page in route_pages(first, book) if page.room == room], paper
    with pytest.raises(InputError, match="no-such"):
        route_pages(book_pages.Route("x", "X", "x", ("no-such",)), book)


def test_every_notebook_has_a_place(book):
    assert len(book.pages) == len([p for p in NBS.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts]) - 1
    order = [page.path for page in book.reading_path]
    assert order.index("core/00_comparisons.ipynb") == 0 and not any(
        re.search(r"/\d\d[a-z]?w_", path) for path in order
    )


EXERCISE = re.compile(r"\*\*Exercise|^## Exercise", re.MULTILINE)


def test_every_exercise_has_a_worked_solution_that_is_computed(book):
    "Folded cells below it that the tests run; they assert something and say the solution, each number of its own."
    lacking, seen = [], 0
    for page in book.reading_path:
        cells = json.loads((NBS / page.path).read_text(encoding="utf-8"))["cells"]
        asked = [at for at, cell in enumerate(cells) if EXERCISE.search("".join(cell["source"]))]
        for at in asked:
            seen += 1
            text = EXERCISE.split("".join(cells[at]["source"]), maxsplit=1)[1].split("\n\n**")[0]
            given = cells[at + 1 : next(i for i in range(at + 1, len(cells) + 1) if not is_solution(cells, i))]
            said = "".join(shown_text(cell) for cell in given)
            code = "".join("".join(cell["source"]) for cell in given)
            if "**Solution" not in said or "assert " not in code or "#| slow" in code or "#| notest" in code:
                lacking.append(f"{page.path}: its solution is not shown, not computed or not checked")
            for number in re.findall(r"(?:^\w*\.\*\* |\n|[?.)] )(\d)\. (?=[A-Z(])", text):
                if not re.search(rf"\*{number}\.\*|\*\*Solution {number}\.", said):
                    lacking.append(f"{page.path}: no solution of exercise {number}")
    assert seen > 60 and lacking == []


def is_solution(cells, at):
    "Whether a cell is there and is a folded cell of code with a worked solution."
    return at < len(cells) and {"solution", "hide-cell"} <= {*cells[at]["metadata"].get("tags", [])}


def shown_text(cell):
    "The Markdown that a cell of code has shown."
    return "".join("".join(output.get("data", {}).get("text/markdown", "")) for output in cell.get("outputs", []))


# ---- the front page


def test_the_front_page_is_one_screen(book):
    "What the book's outside needs, and nothing that the site has; links are not read, so they do not count."
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    read = re.sub(r"\]\([^)]*\)", "]", text)
    assert len(read.split()) <= 700 and len(read.splitlines()) <= 80 and "\n|" not in read
    assert len(re.findall(r"^!\[.+\]\(", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^python3 -m venv ", text, re.MULTILINE)) == 2
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5 and 'read_comparisons("answers.csv")' in code
    for words in ("jupyter lab nbs/contents.ipynb", "comparison-hc dashboard", "book build", "book serve"):
        assert words in text
    for route in ROUTES:
        line = book_pages.route_line(route, book).replace("](", "](nbs/")
        assert line in text, f"run .ci/execute.py and .ci/tidy.py on nbs/index.ipynb: {line}"


# ---- reference


def test_every_check_has_its_verdict_on_a_page(book):
    "So that the theory index has one, too."
    from comparison_hc.checks import find_checks

    shown = shown_results(book)
    missing = [f"{check.paper} {check.name}" for check in find_checks() if (check.paper, check.name) not in shown]
    assert missing == [], "run .ci/execute.py on the notebook that calls them, or show one call of each"
    failed = [
        f"{shown[key].path}: {key[1]}" for check in find_checks() if not shown[key := (check.paper, check.name)].holds
    ]
    assert failed == [], "a page shows that its check does not hold, or that it raised an error"


def prose_of(book, path):
    "What the text cells of a notebook say to a reader, one after the other, on one line."
    cells = json.loads((book.root / path).read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.sub(r"\s+", " ", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))


GREEK = dict(
    zip(
        "αβγδεζηκλμσφΓΛΔ",
        "alpha beta gamma delta epsilon zeta eta kappa lambda mu sigma phi Gamma Lambda Delta".split(),
    )
)


def letter_pattern(letter):
    "A letter that is no part of a word, or its name in TeX."
    name = rf"|\\(var)?{GREEK[letter]}\b" if letter in GREEK else ""
    return rf"(?<![A-Za-z\\`]){letter}(?![A-Za-z`=]){name}"


def test_a_word_and_a_letter_are_explained_where_the_glossary_says(book):
    "Each of the words that share a row stands on a page of the row, each page has one of them; and so for letters."
    pages, words_found, n_letters = {}, {}, 0
    for page, kind, what, _, _ in remarks(book):
        if kind == "letter":
            text, n_letters = prose_of(book, page.path), n_letters + 1
            assert any(re.search(letter_pattern(letter), text) for letter in what.split(", ")), (page.path, what)
            continue
        text = re.sub("[*`]", "", prose_of(book, page.path)).lower()
        words = re.split(", | or ", re.sub(r" \(.*?\)|[*`]", "", what).lower())
        words = [word.removesuffix(" of a cluster") for word in words]
        there = {word for word in words if re.search(rf"\b{word}", text)}
        assert there, (page.path, what)
        pages[what], words_found[what] = {*words}, words_found.get(what, set()) | there
    assert words_found == pages and len(pages) >= 40 and n_letters >= 70


def test_the_page_of_letters_and_words_is_the_one_that_its_remarks_make(book):
    notebook = json.loads((book.root / "words.ipynb").read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    shown = ["".join(output["data"]["text/markdown"]) for output in outputs]
    assert shown == [letters_table(book), words_table(book)], "run .ci/execute.py nbs/words.ipynb"


def test_every_word_of_every_command_is_on_the_page():
    for name, parser in all_commands().items():
        text = command_text(parser)
        assert text.startswith(f"## comparison-hc {name}")

        def words(parser):
            for action in parser._actions:
                yield from action.option_strings
                if isinstance(action, argparse._SubParsersAction):
                    for each in action.choices.values():
                        yield from words(each)

        for word in set(words(parser)) - {"-h", "--help"}:
            assert f"`{word}" in text, (name, word)
        lines = [line for line in text.split("\n") if line]
        for line, after in zip(lines, [*lines[1:], "#"]):  # every heading is followed by words
            assert not line.startswith("#") or not after.startswith(("#", "```")), line


def test_numbers_in_prose():
    assert mentions("theorems 2, 3 and 4; Lemma 5.2 to 5.4", "A18") == {
        *("Theorem 2", "Theorem 3", "Theorem 4", "Lemma 5.2", "Lemma 5.3", "Lemma 5.4")
    }
    assert mentions("N20's Theorem 1 and figures S.1–S.3", "F19") == {"Figure S.1", "Figure S.2", "Figure S.3"}
    assert mentions("Figure 2a, Figure 21", "N20") == {"Figure 2a", "Figure 21"}


def test_the_index_of_a_paper_lists_its_numbers_and_its_checks(book):
    from comparison_hc.checks import find_checks

    text, row = paper_page(book, "L20", {})
    assert all(f"\n### {item}\n" in text for item in NUMBERED["L20"])
    checks = find_checks("L20")
    assert checks and all(f"`{check.name}`" in text for check in checks) and row[2] == len(checks)
    assert "no reason is known" not in text and text.count("not shown in a notebook") >= len(checks)


# ---- the command


def test_without_the_extra_it_says_what_to_install(monkeypatch, tmp_path, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(site, "find_spec", lambda name: None if name in ("sphinx", "furo") else find(name))
    assert main(["book", "build", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "sphinx" in said and "furo" in said and "comparison_hc[book]" in said and said.count("\n") == 1


def test_a_figure_of_the_index_leads_to_the_page_that_shows_it(book):
    lines = [line for line in paper_page(book, "F19", {})[0].split("\n") if "comparison-hc reproduce f19-fig2`" in line]
    assert lines and all("[91](/reproduce/91_f19.ipynb)" in line for line in lines)


def test_the_build_says_what_it_wrote_and_no_escape_code(monkeypatch, tmp_path, capsys):
    import comparison_hc.book.site as site

    made = dict(pages=3, bytes=2_000_000, seconds=4.2)
    monkeypatch.setattr(site, "build_site", lambda *words, progress, **how: progress("page \x1b[2J") or made)
    assert main(["book", "build", "--out", str(tmp_path / "\x1b[31m")]) == 0
    said = capsys.readouterr()
    assert said.out.count("\ufffd[31m") == 2 and "3 pages, 2 MB, in 4 seconds" in said.out
    assert said.err == "comparison-hc: page \ufffd[2J\n" and "\x1b" not in said.out


def test_a_folder_with_other_things_is_not_overwritten(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(InputError, match="--out"):
        site.check_site_folder(tmp_path)
    assert site.check_site_folder(tmp_path / "new") == tmp_path / "new"
    assert main(["book", "serve", "--folder", str(tmp_path)]) == 2 and "book build" in capsys.readouterr().err


# ---- a site in a browser


class _Links(HTMLParser):
    "What a page refers to, and the places in it."

    def __init__(self):
        super().__init__()
        self.targets, self.places = [], set()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        self.targets += [found[name] for name in ("href", "src") if found.get(name)]


def dead_links(folder):
    "(page, target) of every link inside the site that leads nowhere; what follows # is on the page, or its settings."
    read = {}
    for path in folder.rglob("*.html"):
        read[path.resolve()] = _Links()
        read[path.resolve()].feed(path.read_text(encoding="utf-8"))
    dead = []
    for path, links in read.items():
        for target in links.targets:
            if re.match(r"[a-z]+:", target):
                continue
            file, anchor = urldefrag(target)
            file = file.partition("?")[0]
            there = (path.parent / unquote(file)).resolve() if file else path
            if there.parent.name == "live" and "=" in anchor:
                anchor = ""
            if not there.is_file() or anchor and there in read and unquote(anchor) not in read[there].places:
                dead.append((path.relative_to(folder.resolve()).as_posix(), target))
    return dead


FAULTS = """() => ({
    broken: [...document.images].filter((i) => i.loading != "lazy" && !i.naturalWidth).map((i) => i.src),
    sideways: Math.max(...[document.documentElement, ...document.querySelectorAll(".content")].map(
        (box) => box.scrollWidth - box.clientWidth)),
    cut: innerWidth < 1280 ? [] : [...document.querySelectorAll("article .highlight pre, .cell_output pre")].filter(
        (box) => box.offsetParent && box.scrollWidth > box.clientWidth + 1
            && Math.max(...box.textContent.split("\\n").map((line) => line.length)) <= 120).map(
        (box) => box.textContent.slice(0, 60)),
    glued: [...document.querySelectorAll(".cell_output td + td")].filter(
        (cell) => parseFloat(getComputedStyle(cell).paddingLeft) < 1.5).map((cell) => cell.textContent.slice(0, 60)),
    nudged: innerWidth < 1280 ? [] : [...document.querySelectorAll(".cell_output")].filter((box) =>
        box.scrollWidth > box.clientWidth + 1 && box.scrollWidth < box.clientWidth + 8).map(
        (box) => box.textContent.trim().slice(0, 60)),
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
        faults += [f"{path}: a line of at most 120 letters is cut at {width}: {text}" for text in found["cut"]]
        faults += [f"{path}: cells of a table without a gap at {width}: {text}" for text in found["glued"]]
        faults += [f"{path}: an output moves by a few pixels at {width}: {text}" for text in found["nudged"]]
    page.close()
    return faults


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_folder_that_no_system_can_make_is_refused_before_anything_is_built(name, capsys, monkeypatch):
    monkeypatch.setattr("comparison_hc.book.site.build_site", None)
    assert main(["book", "build", "--no-live", "--out", name]) == 2
    assert "--out must be a name that a folder can have" in capsys.readouterr().err


def pages_of(folder):
    "Addresses of all pages, without the stored live ones."
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    return [path for path in found if not path.startswith("live/")]


def checked(browser, folder, widths):
    "A site whose links lead somewhere and whose pages have no fault at any width."
    assert dead_links(folder) == []
    with site_server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        assert b"<title>" in urlopen(address).read()
        faults = [fault for width in widths for fault in look_through(browser, address, pages_of(folder), width)]
        server.shutdown()
    assert faults == []


@pytest.mark.parametrize(
    "host, code", [("127.0.0.1:{}", 200), ("localhost:{}", 200), ("evil.example:{}", 403), ("", 403)]
)
def test_the_site_is_shown_to_nobody_who_came_under_another_name(host, code, tmp_path):
    (tmp_path / "index.html").write_text("<title>ours</title>")
    with site_server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asked = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        for method in ("GET", "HEAD"):
            asked.request(method, "/", headers={"Host": host.format(server.server_port)})
            answer = asked.getresponse()
            assert answer.status == code and (b"ours" in answer.read()) == (code == 200 and method == "GET")
        asked.close()
        server.shutdown()


def test_a_request_that_is_none_is_refused(tmp_path, capfd):
    (tmp_path / "index.html").write_text("<title>ours</title>")
    with site_server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for words in (b"NONSENSE\r\n\r\n", b"GET http://[x HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\xff\xfe\r\n\r\n"):
            with create_connection(("127.0.0.1", server.server_port), timeout=30) as asked:
                asked.sendall(words)
                asked.shutdown(SHUT_WR)
                assert re.match(rb"(HTTP/1.. 4|<!DOCTYPE)", asked.recv(4096)), words
        server.shutdown()
    assert "Traceback" not in capfd.readouterr().err


def needs_builder():
    "Skip where the extra is not installed."
    for module, package in site.EXTRA.items():
        pytest.importorskip(module, reason=f"{package} is not installed (extra: book)")


# ---- the sidebar


def test_the_shared_sidebar_is_the_one_that_sphinx_makes(tmp_path):
    "Letter by letter, for every page: folders in folders, captions, a page listed twice, links elsewhere. And a dash."
    application = pytest.importorskip("sphinx.application", reason="sphinx is not installed")
    pages = {
        "index": ["top", "a/index", "https://example.org/x.html", "a/deep/two"],
        "top": [],
        "a/index": ["one", "deep/index"],
        "a/one": [],
        "a/deep/index": ["two"],
        "a/deep/two": [],
    }
    for name, below in pages.items():
        path = tmp_path / "in" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        lists = ["```{toctree}", ":hidden:", ":caption: Less < more", "", *below, "```"] if below else []
        entry = ["```{py:function} f(a)", "", ":param a: what", ":param b: how", "```"] if name == "top" else []
        text = [f"# {name} & *more* < $x$", "text", "## A section", "text", *entry, *lists]
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
    app = application.Sphinx(
        tmp_path / "in", None, tmp_path / "out", tmp_path / "trees", "html", status=None, warning=None,
        confoverrides=dict(extensions=["myst_parser", "comparison_hc.book.navigation"], html_theme="basic",
                           myst_enable_extensions=["fieldlist"]),
    )  # fmt: skip
    usual, compared = {}, []
    wishes = dict(collapse=False, titles_only=True, maxdepth=-1, includehidden=True)
    app.connect("html-page-context", lambda a, name, t, context, d: usual.update({name: context["toctree"]}), 300)

    def compare(app, name, template, context, doctree):
        assert context["toctree"](**wishes) == usual[name](**wishes), name
        assert context["toctree"](collapse=True) == usual[name](collapse=True), name
        compared.append(name)

    app.connect("html-page-context", compare, 500)
    app.build()
    assert set(pages) < set(compared)
    made = (tmp_path / "out" / "top.html").read_text(encoding="utf-8")
    assert "</strong> – what" in made and "</strong> – how" in made and " -- " not in made


@pytest.fixture(scope="module")
def small_site(tmp_path_factory, book):
    "A page with mathematics and pictures, one of words, the list of all pages, a short page, and what is generated."
    needs_builder()
    names = ("flat/20_planted.ipynb", "words.ipynb", "contents.ipynb", "core/04_checks.ipynb")
    small = Book(book.root, tuple(book.by_path[name] for name in names))
    folder = tmp_path_factory.mktemp("site") / "out"
    patch = pytest.MonkeyPatch()
    patch.setattr(site, "ROUTES", (book_pages.Route("one", "One", "A page.", ("20",)),))
    made = site.build_site(folder, {"data": all_commands()["data"]}, small, reference=False)
    patch.undo()
    assert made["pages"] == len(list(folder.rglob("*.html"))) >= 10
    return folder


def test_a_small_site_has_no_fault(small_site, browser):
    checked(browser, small_site, (390, 1280))


def test_on_paper_there_are_words_and_pictures_only(small_site, browser):
    "Nothing that is pressed, nothing over the text, and what folds away code lines is as wide as the sheet."
    page = browser.new_page(viewport=dict(width=718, height=1050))  # A4 with margins of a centimetre
    page.emulate_media(media="print")
    page.goto((small_site / "flat/20_planted.html").as_uri())
    pressed = ".skip-to-content, .related-pages, .sidebar-drawer, .mobile-header, a.run, iframe.live"
    assert page.locator("article h1").is_visible() and page.locator(".skip-to-content").count() == 1
    assert not any(each.is_visible() for each in page.locator(pressed).all())
    over = (
        "x => getComputedStyle(x).position == 'fixed' && x.offsetHeight && x.getBoundingClientRect().left < innerWidth"
    )
    assert page.eval_on_selector_all("body *", f"all => all.filter({over}).map(x => x.className)") == []
    assert page.eval_on_selector_all("article pre", "all => all.filter(x => x.scrollWidth > x.clientWidth)") == []
    page.close()


def test_on_a_telephone_a_chart_has_its_legend_first(tmp_path, browser):
    import altair as alt
    import pandas as pd

    from comparison_hc.book.legends import add_narrow, find_legends

    table = pd.DataFrame(dict(x=[0, 1, 0, 1], y=[0, 1, 1, 0], kind=["one > two", "one > two", '"b"', '"b"']))
    chart = alt.Chart(table).mark_line().encode(x="x", y="y", color="kind").properties(width=600)
    (tmp_path / "_images").mkdir()
    for name, drawn in (("0a", chart), ("0b", chart.properties(width=120))):
        drawn.save(tmp_path / "_images" / f"{name}.svg")
    body = "".join(f'<p><img alt="" src="_images/{name}.svg"/></p>' for name in ("0a", "0b"))
    (tmp_path / "index.html").write_text(f'<meta name="viewport" content="width=device-width">{body}')
    assert add_narrow(tmp_path) == 1
    wide, narrow = [(tmp_path / "_images" / name).read_text() for name in ("0a.svg", "0a.narrow.svg")]
    assert find_legends(wide)[0][0].right > 600 and find_legends(narrow)[0][0].right < 150
    page = browser.new_page()
    for width, medium, shown in ((390, "screen", "0a.narrow"), (1280, "screen", "0a"), (390, "print", "0a")):
        page.set_viewport_size(dict(width=width, height=800))
        page.emulate_media(media=medium)
        page.goto((tmp_path / "index.html").as_uri())
        sources = page.eval_on_selector_all("img", "all => all.map(x => [x.currentSrc, x.complete && x.naturalWidth])")
        assert [Path(source).stem for source, _ in sources] == [shown, "0b"] and all(size for _, size in sources)
    page.close()


def test_a_legend_stays_in_its_panel_where_another_panel_has_its_own():
    import altair as alt
    import pandas as pd

    from comparison_hc.book.legends import find_legends, legends_first

    table = pd.DataFrame(dict(x=[0, 1, 0, 1], y=[0, 1, 1, 0], kind=["a", "a", "b", "b"]))
    base = alt.Chart(table).mark_point().encode(x="x", y="y").properties(width=250)
    panels = [base.encode(alt.Color("kind:N", title=title)) for title in ("of the left", "of the right")]
    svg = io.StringIO()
    alt.hconcat(*panels).resolve_scale(color="independent").save(svg, format="svg")
    legends, _, _ = find_legends(svg.getvalue())
    assert [legend.title for legend in legends] == ["of the left", "of the right"]
    assert legends[0].right < 380 < legends[1].right and legends_first(svg.getvalue(), 380) == (None, 0.0)
    svg = io.StringIO()
    panels[1].properties(width=400).save(svg, format="svg")
    assert legends_first(svg.getvalue(), 380)[0] is not None


def test_a_page_has_its_parts(small_site):
    text = (small_site / "flat/20_planted.html").read_text(encoding="utf-8")
    assert "minutes to read" in text and "#|" not in text and "Parameters of" in text
    assert 'rel="next"' in text and 'rel="prev"' in text and "<svg" in text
    solution = text.split("<strong>Exercise.</strong>")[1].split("<details", 1)[1].split("</details>")[0]
    assert "Show a worked solution" in solution and "<strong>Solution.</strong>" in solution


def test_a_twin_of_the_site_says_where_its_notebooks_are(tmp_path, monkeypatch):
    from comparison_hc.dashboards import planted_page, registry

    few = dict(snr=[0.6], p=[1.0], n_pure=[2], n_levels=[1], seed=[0], against=["δ/σ"])
    small = replace(find_dashboard("planted"), static=lambda said, pages: planted_page.PAGE.static(said, few, pages))
    monkeypatch.setitem(registry._registry, "planted", small)
    said = []
    made = live.write_twins(tmp_path / "live", ("planted",), said.append)
    title, size = made["planted"]
    text = (tmp_path / "live" / "planted.html").read_text(encoding="utf-8")
    assert list(made) == ["planted"] and said[-1].endswith("1 of 1")
    assert len(text.encode()) == size > 50_000 and f"<title>{title}</title>" in text and asks_nobody(text)
    assert 'href="../dashboards/' in read_static_page(text)[0]["html"]
    assert live.live_page(made).count("<li>") == 1 and live.write_twins(tmp_path / "none", ()) == {}
    with pytest.raises(InputError, match="NAME"):
        live.write_twins(tmp_path / "other", ("nothing",))


def test_the_home_page_leads_to_a_twin_that_is_there(book, monkeypatch):
    monkeypatch.setattr(site, "ROUTES", (book_pages.Route("one", "One", "A page.", ("20",)),))
    small = Book(book.root, (book.by_path["flat/20_planted.ipynb"], book.by_path["contents.ipynb"]))
    needed = {page.path: set() for page in small.pages}
    for twins in ({}, {"planted": ("A page", 10**6)}):
        pages = site.generated_pages(small, needed, {}, live.live_page(twins), reference=False)
        assert ('href="live/planted.html"' in pages["index.md"]) == bool(twins)
        assert pages["index.md"].count('src="live/planted.html"') == len(twins) and "live/figure" in pages["index.md"]
        assert "[One](routes.md#one): A page." in pages["index.md"] and "\ncontents\n" in pages["index.md"]


def test_the_dashboard_of_a_lecture_is_the_stored_page_where_that_has_the_settings():
    link = f"**[Set]({address('step', dict(at=3), n=12)})** and look"
    ours, live_text = "<a href='../live/step.html#n=12&amp;shape=", "live/step.html"
    text = site.stored_links(link, "classroom", live_text)
    assert text.startswith(f"**{ours}") and "&amp;at=3'>Set</a>** and look" in text and "127.0.0.1" not in text
    runs = "(once `comparison-hc dashboard step --port 8863` runs on your machine)"
    assert site.stored_links(link, "classroom", "") == link.replace("** and", f"** {runs} and")  # no page is stored
    other = link.replace("#n=12", "#n=26")  # nor has a stored page this value
    assert site.stored_links(other, "classroom", live_text) == other.replace("** and", f"** {runs} and")


def test_every_dashboard_has_a_twin_for_the_site():
    assert set(live.TWINS) == {name for name, each in find_dashboard().items() if each.static}


def test_the_order_of_computing_changes_nothing_of_a_twin():
    from comparison_hc.dashboards.planted_page import PAGE

    values = dict(snr=[0.4, 1.0], p=[0.03, 1.0], n_pure=[3], n_levels=[1, 2], seed=[0], against=["δ/σ"])
    stored = PAGE.answers(values)
    assert json.dumps(stored) == json.dumps(replace(PAGE, slow=()).answers(values)) and len(stored["answers"]) == 8


def test_what_is_loaded_is_told_by_the_files_themselves(tmp_path):
    "Each file once, in the stage that brings it."
    packages = {}
    for size, (name, depends) in enumerate(
        [("kernel", []), ("ours", ["numbers"]), ("numbers", []), ("view", ["numbers", "ours"]), ("unused", [])], 1
    ):
        packages[name] = dict(file_name=f"{name}.whl", depends=depends)
        (tmp_path / f"{name}.whl").write_bytes(b"x" * size)
    for name in live.CORE:
        (tmp_path / name).write_bytes(b"x" * 100)
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(dict(packages=packages)))
    stages = (("first", (None, "kernel")), ("then", ("ours",)), ("last", ("view",)))
    found = live.loads(tmp_path, stages)
    assert found[1:] == [("then", ["numbers", "ours"], 5), ("last", ["view"], 4)]
    assert found[0][:2] == ("first", ["kernel"]) and found[0][2] % 100 == 1 and found[0][2] > 200


def test_a_dead_link_stops_the_builder(tmp_path, book):
    needs_builder()
    sources = tmp_path / "sources"
    (sources / "_static").mkdir(parents=True)
    (sources / "_static" / "book.svg").write_text(site.static_text("book.svg"))
    (sources / "conf.py").write_text(site.configuration("1"))
    (sources / "index.md").write_text("# Home\n\n[nowhere](gone.ipynb)\n")
    with pytest.raises(InputError, match="gone.ipynb"):
        site.run_sphinx(sources, tmp_path / "out")


@pytest.fixture(scope="module")
def whole_site(request, tmp_path_factory):
    if not request.config.getoption("--full"):
        pytest.skip("all pages are built and opened with --full only: minutes")
    needs_builder()
    folder = tmp_path_factory.mktemp("whole") / "out"
    site.build_site(folder, all_commands())
    return folder


@pytest.mark.parametrize("width", [390, 1280])
def test_all_pages_have_no_fault(whole_site, browser, width):
    checked(browser, whole_site, (width,))


def test_a_reader_who_leaves_in_the_middle_is_no_fault_to_speak_of(tmp_path, capfd):
    (tmp_path / "index.html").write_bytes(b"x" * 20_000_000)
    with site_server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.server_port)) as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # leave without a word
                line.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
                line.recv(1000)
        assert urlopen(f"http://127.0.0.1:{server.server_port}/").status == 200
        server.shutdown()
    assert "Traceback" not in capfd.readouterr().err
