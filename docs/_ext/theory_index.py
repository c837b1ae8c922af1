"""Fills the pages in `statements`: every numbered item of the four papers with its checks, margins and figures.

Verdicts and margins are those that the notebooks show; whether claims about a figure hold comes from stored results.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NBS = Path(__file__).parents[2] / "nbs"
FOLDER = {"F19": "hierarchical", "N20": "flat", "A18": "adaptive", "L20": "link"}
UNCHECKED = {
    "Algorithm": "an algorithm makes no claim; its code is tested against its definition",
    "Definition": "a definition makes no claim",
    "Figure": "this figure is a drawing, not a result",
}
NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*(?:[a-c]\b)?"
NAMED = re.compile(
    rf"(?P<paper>\b[FNAL]\d\d(?:,|'s|’s)? )?\b(?P<kind>theorem|lemma|proposition|remark|algorithm|figure|definition)s? "
    rf"(?P<first>{NUMBER})(?P<rest>(?:(?:,? and |, | to |–){NUMBER})*)",
    re.IGNORECASE,
)
OWN_FIGURE = re.compile(r"(?<!\d\d )(?<!\d\d, )\bFigures? (?=[\dS])")  # a page's own: those of papers are "figure 2"
RESULT = re.compile(
    r"^([✓✗]) ([^·]+) · (\w\d\d) (.+) · (\w+) · ([^·]+), (?:margin (\S+) over [\d,]+ rows|.*), [\d.]+ s$"
)


# ---- what the notebooks say


@dataclass(frozen=True)
class Page:
    "A notebook of the site."

    name: str  # its path below `nbs`, without ending
    title: str
    module: str  # that it exports, below the package; empty if none
    text: str  # of all cells
    outputs: str  # the plain text of all outputs

    @property
    def link(self):
        return f"[{self.title}](/{self.name}.ipynb)"


@cache
def pages():
    "All notebooks in folders, in the order of their names."
    found = []
    for path in sorted(NBS.glob("*/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        outputs = [output.get("data", {}).get("text/plain", "") for c in cells for output in c.get("outputs", [])]
        module = re.search(r"^#\| default_exp (\S+)", text, re.MULTILINE)
        name, title = path.relative_to(NBS).with_suffix("").as_posix(), re.match("# (.+)", text)[1]
        found.append(Page(name, title, module[1] if module else "", text, "\n".join(map("".join, outputs))))
    return found


def between(first, last):
    "5.2 to 5.6: all of them."
    head, low = re.match(r"(.*?)(\d+)$", first).groups() if re.search(r"\d$", first) else (first, None)
    high = re.match(rf"{re.escape(head)}(\d+)$", last)
    return [f"{head}{n}" for n in range(int(low), int(high[1]) + 1)] if low and high else [first, last]


def mentions(text, paper):
    "The numbered items of a paper that a text names."
    found = set()
    for named in NAMED.finditer(text):
        if named["paper"] and named["paper"][:3] != paper:
            continue
        numbers = [named["first"]]
        for sign, number in re.findall(rf"(,? and |, | to |–)({NUMBER})", named["rest"]):
            numbers[-1:] = between(numbers[-1], number) if sign in (" to ", "–") else [numbers[-1], number]
        found |= {f"{named['kind'].capitalize()} {number}" for number in numbers}
    return found


def discussed_on(paper):
    "{item: pages that name it}: pages about the paper, and others where they name the paper with it."
    found = {}
    for page in pages():
        text = page.text
        if not page.name.startswith(f"{FOLDER[paper]}/") and f"_{paper.lower()}_" not in page.name:
            text = " ".join(named[0] for named in NAMED.finditer(text) if (named["paper"] or "")[:3] == paper)
        text = OWN_FIGURE.sub("", text)
        for item in mentions(text, paper):
            found.setdefault(item, []).append(page)
    return found


@cache
def results():
    "{(paper, check): (whether it holds, verdict, margin)} from the outputs of the notebooks."
    found = {}
    for page in pages():
        for result in filter(None, map(RESULT.match, map(str.strip, page.outputs.splitlines()))):
            mark, verdict, paper, _, name, _, margin = result.groups()
            found.setdefault((paper, name), (mark == "✓", verdict.strip(), margin or ""))
    return found


# ---- lines of the pages


def plain(text):
    "A text in which only code between backticks is markup."
    parts = re.split(r"(`[^`\n]+`)", " ".join(text.split()))
    return "".join(p if i % 2 else re.sub(r"([\\`*_{}\[\]<>#|$~&])", r"\\\1", p) for i, p in enumerate(parts))


def home_of(function):
    "The page that exports the module of a function, as a link after a comma."
    module = function.__module__.removeprefix("comparison_hc.")
    return next((f", {page.link}" for page in pages() if page.module == module), "")


def verdict(check):
    "Mark, verdict and margin of a check, as the notebooks show them."
    holds, words, margin = results().get((check.paper, check.name), (None, "not run in a notebook", ""))
    return ("" if holds is None else "✓ " if holds else "✗ ") + words, margin


def checks_table(checks):
    "Checks with verdict, margin and statement, one per row."
    rows = ["| result | margin | check | what is compared |", "| --- | ---: | --- | --- |"]
    for check in checks:
        words, margin = verdict(check)
        erratum = " ([erratum](/errata.ipynb))" if check.erratum else ""
        statement = " ".join(check.statement.split()).replace("|", r"\|")
        rows.append(f"| {words} | {margin} | `{check.name}`{home_of(check.function)}{erratum} | {statement} |")
    return "\n".join(rows)


def figure_line(figure):
    "How to reproduce a figure, where it is shown, and how many of its claims hold."
    from comparison_hc.reproduce.claims import ResultsNotFoundError, claims_table
    from comparison_hc.reproduce.readings import kept_results

    shown = [page for page in pages() if f'"{figure.name}"' in page.text]
    shown.sort(key=lambda page: not page.name.startswith("reproduce/"))
    place = f", shown in {shown[0].link}" if shown else home_of(figure.function)
    try:
        summary, kind = kept_results(figure.name)
        said = claims_table(figure.claims(summary)).summary if figure.claims else "no claims"
        setting = "paper's setting" if kind == "full" else "reduced setting"
    except ResultsNotFoundError:
        said, setting = "no stored results", "run it first"
    return f"- {plain(figure.title)}: `comparison-hc reproduce {figure.name}`{place}. {said} ({setting})"


# ---- the pages


@cache
def gathered(paper):
    "({item: (about, checks, figures)}, checks of no item, figures of no item) of a paper."
    from comparison_hc.checks import find_checks
    from comparison_hc.reproduce.claims import find_reproductions
    from comparison_hc.theory.statements import NUMBERED

    checks = sorted((c for c in find_checks() if c.paper == paper), key=lambda check: check.label)
    figures = [each for each in find_reproductions().values() if each.paper == paper]
    items = {}
    for item, about in NUMBERED[paper].items():
        own = [check for check in checks if item in mentions(check.label, paper)]
        items[item] = about, own, [each for each in figures if item in mentions(each.figure, paper)]
    used = [each for _, own, drawn in items.values() for each in (*own, *drawn)]
    return items, [c for c in checks if c not in used], [f for f in figures if f not in used]


def overview(paper):
    "One row per item."
    rows = ["| item | what it says | checks | smallest margin | figure |", "| --- | --- | ---: | ---: | --- |"]
    for item, (about, checks, figures) in gathered(paper)[0].items():
        margins = [float(margin) for _, margin in map(verdict, checks) if margin]
        held = sum(verdict(check)[0].startswith("✓") for check in checks)
        counts = f"{held} of {len(checks)} hold" if checks else "none"
        drawn = "reproduced" if figures else ""
        least = f"{min(margins):.2g}" if margins else ""
        anchor = re.sub("[^a-z0-9]+", "-", item.lower())
        rows.append(f'| <a href="#{anchor}">{item}</a> | {about} | {counts} | {least} | {drawn} |')
    return "\n".join(rows)


def paper_text(paper):
    "Overview, a section per item, and the checks and experiments that belong to no number."
    items, checks, figures = gathered(paper)
    discussed, parts = discussed_on(paper), [overview(paper)]
    for item, (about, own, drawn) in items.items():
        parts += [f"## {item}", f"{about}."]
        parts += [checks_table(own)] if own else []
        parts += ["\n".join(map(figure_line, drawn))] if drawn else []
        if not own and not drawn:
            parts.append(f"Not checked: {UNCHECKED[item.split()[0]]}.")
        if item in discussed:
            parts.append("Discussed in: " + "; ".join(page.link for page in discussed[item]) + ".")
    if checks:
        parts += ["## Equations and unnumbered statements", checks_table(checks)]
    if figures:
        parts += ["## Further experiments", "\n".join(map(figure_line, figures))]
    return "\n\n".join(parts)


def counts_text():
    "One row per paper."
    head = "paper | numbered items | checks | hold | with an erratum | figures and experiments reproduced"
    rows = [f"| {head} |", "| --- |" + " ---: |" * 5]
    for paper in FOLDER:
        items, checks, figures = gathered(paper)
        every = {c.name: c for _, own, _ in items.values() for c in own} | {c.name: c for c in checks}
        drawn = {f.name for _, _, own in items.values() for f in own} | {f.name for f in figures}
        held = sum(verdict(check)[0].startswith("✓") for check in every.values())
        errata = sum(bool(check.erratum) for check in every.values())
        link = f"{{doc}}`/statements/{paper.lower()}`"
        rows.append(f"| {link} | {len(items)} | {len(every)} | {held} | {errata} | {len(drawn)} |")
    return "\n".join(rows)


def fill(app, docname, source):
    "The event `source-read`: put the text in the place that a page keeps for it."
    if docname.startswith("statements/"):
        paper = docname.partition("/")[2].upper()
        source[0] = source[0].replace("{{ index }}", counts_text() if paper == "INDEX" else paper_text(paper))


def setup(app):
    app.connect("source-read", fill)
    return dict(parallel_read_safe=True, parallel_write_safe=True)
