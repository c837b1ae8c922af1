"""Every numbered statement, algorithm and figure: where it is told, checked, done again, and how it came out."""

import json
import re
from dataclasses import dataclass

from .reference import plain
from ..checks import PAPERS
from ..theory.statements import NUMBERED

PICTURE = "a drawing, not a result"
CODE = "an algorithm claims nothing by itself; its code is tested against its definition"
DEFINITION = "a definition claims nothing by itself"

ROOM_OF = {"F19": "hierarchical", "N20": "flat", "A18": "adaptive", "L20": "link"}


def why_unchecked(item):
    "Why nothing is to be checked."
    return {"Algorithm": CODE, "Definition": DEFINITION, "Figure": PICTURE}.get(item.split()[0], "")


_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*(?:[a-c]\b)?"
_KINDS = "theorem lemma proposition remark algorithm figure definition"
_NAMED = re.compile(
    rf"(?P<paper>\b[FNAL]\d\d(?:,|'s|’s)? )?\b(?P<kind>{'|'.join(_KINDS.split())})s? "
    rf"(?P<first>{_NUMBER})(?P<rest>(?:(?:,? and |, | to |–){_NUMBER})*)",
    re.IGNORECASE,
)


def _between(first, last):
    "5.2 to 5.6: all of them."
    head, low = re.match(r"(.*?)(\d+)$", first).groups() if re.search(r"\d$", first) else (first, None)
    high = re.match(rf"{re.escape(head)}(\d+)$", last)
    if low is None or high is None:
        return [first, last]
    return [f"{head}{number}" for number in range(int(low), int(high[1]) + 1)]


def mentions(text, paper):
    "The numbered items of a paper that a text names."
    found = set()
    for named in _NAMED.finditer(text):
        if named["paper"] and named["paper"][:3] != paper:
            continue
        numbers = [named["first"]]
        for sign, number in re.findall(rf"(,? and |, | to |–)({_NUMBER})", named["rest"]):
            numbers[-1:] = _between(numbers[-1], number) if sign in (" to ", "–") else [numbers[-1], number]
        found |= {f"{named['kind'].capitalize()} {number}" for number in numbers}
    return found


_RESULT = re.compile(
    r"^([✓✗]) ([^·]+) · (\w\d\d) (.+) · (\w+) · ([^·]+), (?:margin (\S+) over [\d,]+ rows|.*), [\d.]+ s$"
)


@dataclass(frozen=True)
class Shown:
    "What a notebook's output says of a check."

    holds: bool  # whether the check held
    verdict: str  # "holds", "does not hold" or "raised an error"
    margin: str  # as printed; empty where it raised
    path: str  # of the notebook


def shown_results(book):
    "The results of checks in all outputs; of several for one check, the first on the reading path."
    found = {}
    for page in book.pages:
        for cell in json.loads((book.root / page.path).read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                for line in "".join(output.get("data", {}).get("text/plain", "")).splitlines():
                    if result := _RESULT.match(line.strip()):
                        mark, verdict, paper, _, name, _, margin = result.groups()
                        shown = Shown(mark == "✓", verdict.strip(), margin or "", page.path)
                        found.setdefault((paper, name), shown)
    return found


def told_on(book, paper):
    "The pages that name an item: those of the paper's room, and others that name the paper with it."
    found = {item: [] for item in NUMBERED[paper]}
    for page in book.pages:
        if page.room == "book":
            continue
        at_home = page.room in (ROOM_OF[paper], "theory")
        text = _text_of(book.root / page.path)
        if not at_home:
            text = " ".join(named[0] for named in _NAMED.finditer(text) if (named["paper"] or "")[:3] == paper)
        for item in mentions(text, paper) & found.keys():
            found[item].append(page)
    return found


def _text_of(path):
    "All that a notebook says, code included."
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def claims_of(reproduction):
    "How many claims of a figure hold, by the kept results; whether these are the full run's."
    from comparison_hc.reproduce.claims import ResultsNotFoundError, claims_table
    from comparison_hc.reproduce.readings import kept_results

    if reproduction.claims is None:
        return "no claims"
    try:
        summary, kind = kept_results(reproduction.name)
    except ResultsNotFoundError:
        return "no results kept"
    setting = "the full setting" if kind == "full" else "a quick setting"
    return f"{claims_table(reproduction.claims(summary)).summary} ({setting})"


def _link_to(page):
    "A link by a page's number."
    return f"[{page.number}](/{page.path})"


_MARGIN = (
    "A *margin* says how far a check's nearest row is from failing, in the units of the two sides that it compares: "
    "at 0 it holds with nothing to spare, and 1e-12 or so is what is allowed for rounding."
)


def _check_line(check, results, homes):
    "A check, its verdict and where it is."
    shown = results.get((check.paper, check.name))
    home = homes.get(check.function.__module__.removeprefix("comparison_hc."))
    verdict = "not shown in a notebook" if shown is None else f"{'✓' if shown.holds else '✗'} {shown.verdict}"
    margin = f", margin {shown.margin}" if shown and shown.margin else ""
    place = f", {_link_to(home)}" if home else ""
    erratum = ", [erratum](/errata.ipynb)" if check.erratum else ""
    name = f"[`{check.name}`](#{check.function.__module__}.{check.name})"
    return f"- {verdict}{margin}: {name}, {plain(check.label)}, {check.kind}{place}{erratum}"


def _pages_line(pages):
    "Links to pages, those of the reading path first."
    return " · ".join(map(_link_to, pages))


def shown_on(figure, book, homes):
    "The page of the reading path that names a figure, in the room where its runs are written; else the page of these."
    module = figure.function.__module__.removeprefix("comparison_hc.")
    for page in book.reading_path:
        if page.room == module.split(".")[0] and f'"{figure.name}"' in _text_of(book.root / page.path):
            return page
    return homes.get(module)


def _figure_line(figure, page):
    "How to do a figure again, where it is shown, and how it came out."
    place = f", {_link_to(page)}" if page else ""
    return f"`comparison-hc reproduce {figure.name}`{place}: {claims_of(figure)}"


def _item_text(item, about, pages, checks, figures, results, homes, shown):
    "All about one item."
    parts = [f"### {item}", f"{about}."]
    if pages:
        parts.append("Told on " + _pages_line(pages) + ".")
    if checks:
        parts.append("\n".join(_check_line(check, results, homes) for check in checks))
    for figure in figures:
        parts.append("- done again: " + _figure_line(figure, shown[figure.name]))
    if not checks and not figures:
        parts.append(f"Not checked: {why_unchecked(item) or 'no reason is known'}.")
    return "\n\n".join(parts)


def paper_page(book, paper, results):
    "Everything about a paper's numbered items, and what is checked beside them."
    from comparison_hc.checks import find_checks
    from comparison_hc.reproduce.claims import find_reproductions

    homes = {page.module: page for page in book.pages if page.module}
    checks = [check for check in find_checks() if check.paper == paper]
    figures = [each for each in find_reproductions().values() if each.paper == paper]
    places = {figure.name: shown_on(figure, book, homes) for figure in figures}
    told, items = told_on(book, paper), NUMBERED[paper]
    by_check = {item: [c for c in checks if item in mentions(c.label, paper)] for item in items}
    by_figure = {item: [f for f in figures if item in mentions(f.figure, paper)] for item in items}
    parts = [f"# {paper}: {PAPERS[paper]}", _MARGIN, "## What the paper numbers"]
    for item, about in items.items():
        parts.append(_item_text(item, about, told[item], by_check[item], by_figure[item], results, homes, places))
    others = [check for check in checks if not any(check in found for found in by_check.values())]
    if others:
        lines = "\n".join(_check_line(check, results, homes) for check in sorted(others, key=lambda c: c.label))
        parts += ["## Equations and sentences beside them", lines]
    more = [each for each in figures if not any(each in found for found in by_figure.values())]
    if more:
        lines = [f"- {plain(f.title)}, {f.figure}: {_figure_line(f, places[f.name])}" for f in more]
        parts += ["## Other experiments", "\n".join(lines)]
    bare = [item for item in items if not by_check[item] and not by_figure[item]]
    shown = [results[paper, check.name] for check in checks if (paper, check.name) in results]
    held = f"{sum(result.holds for result in shown)} of {len(shown)} shown"
    errata = sum(bool(check.erratum) for check in checks)
    return "\n\n".join(parts) + "\n", (len(items), len(bare), len(checks), held, errata, len(figures))


def theory_pages(book):
    "The theory index: a page a paper, and a summary."
    results = shown_results(book)
    pages = {}
    head = "paper, numbered, neither checked nor done again, checks, hold, errata, experiments done again or added"
    lines = [f"| {head.replace(', ', ' | ')} |", "|" + " --- |" * 7]
    for paper in NUMBERED:
        pages[paper.lower()], row = paper_page(book, paper, results)
        counts = " | ".join(map(str, row))
        lines.append(f"| [{paper}: {PAPERS[paper]}]({paper.lower()}.md) | {counts} |")
    intro = (
        "Every statement, algorithm and figure that the papers number: the pages that tell it, the checks that run "
        "it with verdict and margin as the notebooks show them, and the figures that were done again. "
        "What is not checked says why. The last column counts the paper's figures and experiments that were done "
        f"again, and those that are ours. {_MARGIN} [Errata](/errata.ipynb) has what is printed but does not hold. "
        '`comparison-hc check` runs every check anew, `comparison-hc check "Lemma 5.4"` those of a statement.'
    )
    toctree = "\n".join(["```{toctree}", ":hidden:", *(paper.lower() for paper in NUMBERED), "```"])
    pages["index"] = "\n\n".join(["# The theory index", intro, "\n".join(lines), toctree]) + "\n"
    return pages
