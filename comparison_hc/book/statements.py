"""Every numbered statement, algorithm and figure: where it is told, checked, done again, and how it came out."""

import json
import re
from dataclasses import dataclass

from .reference import plain
from ..checks import PAPERS

PICTURE = "a drawing, not a result"
CODE = "an algorithm claims nothing by itself; its code is tested against its definition"
DEFINITION = "a definition claims nothing by itself"

NUMBERED = {
    "F19": {
        "Proposition 1": "How many active comparisons single and complete linkage need",
        "Theorem 1": "Single and complete linkage recover the planted hierarchy, and when single linkage does not",
        "Theorem 2": "4K–AL recovers it from active comparisons",
        "Theorem 3": "4K–AL recovers it from passive comparisons",
        "Theorem 4": "4–AL recovers it from passive comparisons and pure initial clusters",
        "Algorithm 1": "Agglomerative hierarchical clustering",
        "Figure 1": "The planted model and its matrix of similarities",
        "Figure 2": "AARI on the planted hierarchy",
        "Figure 3": "Dasgupta's cost on Zoo, Glass and newsgroups",
        "Figure S.1": "AARI on the planted hierarchy, every sampling proportion",
        "Figure S.2": "Dasgupta's cost on Zoo, more dimensions",
        "Figure S.3": "Dasgupta's cost on Glass, more dimensions",
        "Figure S.4": "Dasgupta's cost on newsgroups, more dimensions",
    },
    "N20": {
        "Proposition 1": "SDP-λ recovers the planted clusters if S is close enough to its ideal",
        "Theorem 1": "Recovery with AddS-3 and AddS-4: how many comparisons, how small a cluster, which λ",
        "Remark 1": "Against earlier results",
        "Remark 2": "How the number of comparisons depends on the noise",
        "Remark 3": "The condition on δ is needed",
        "Remark 4": "The number of comparisons is nearly optimal",
        "Remark 5": "More comparisons carry no new information",
        "Remark 6": "Distributions without parameters",
        "Algorithm 1": "Comparison-based SPUR",
        "Figure 1a": "Planted model: number of comparisons",
        "Figure 1b": "Planted model: external noise",
        "Figure 1c": "Planted model: other distributions",
        "Figure 2a": "MNIST, 1 against 7",
        "Figure 2b": "MNIST, ten digits",
        "Figure 2c": "Sixty cars",
    },
    "A18": {
        "Proposition 2.1": "The hierarchy of some items is the tree induced by them",
        "Proposition 2.2": "All answers together tell the tree",
        "Theorem 2.3": "Who does not adapt needs Ω(n³) questions",
        "Proposition 2.4": "What an answer about a pivot says",
        "Lemma 3.1": "A random split is rarely bad",
        "Theorem 3.2": "Quick clustering needs O(n log n) questions in expectation",
        "Proposition 4.1": "Where a new item goes",
        "Lemma 4.2": "FindSibling finds it in log n questions",
        "Theorem 4.3": "Insertion clustering needs n log n questions",
        "Theorem 5.1": "Answers that are sometimes wrong: still O(n log n) questions",
        "Lemma 5.2": "One robust insertion",
        "Lemma 5.3": "Vertex queries from ordinal queries",
        "Lemma 5.4": "Noisy binary search leaves few candidates",
        "Lemma 5.5": "Noisy search for a leaf of a tree",
        "Lemma 5.6": "Noisy search for a vertex of a tree",
        "Lemma B.1": "Every right answer brings the walk closer",
        "Algorithm 1": "QuickClustering",
        "Algorithm 2": "Merge",
        "Algorithm 3": "InsertionClustering",
        "Algorithm 4": "FindSibling",
        "Algorithm 5": "SimulateVertexQuery",
        "Algorithm 6": "TreeWalk",
        "Figure 1": "A binary tree and one of its clusters of four",
    },
    "L20": {
        "Definition 1": "Merge functions that look at two points",
        "Definition 2": "The partition by the signs of functions",
        "Theorem 1": "A sample of tasks speaks for all",
        "Lemma 1": "How many regions functions have",
        "Lemma 2": "In a region the order of distances does not change",
        "Lemma 3": "In a region the algorithm's output does not change",
        "Lemma 4": "The leaves of the execution tree tile the interval, for merge functions",
        "Lemma 5": "What finding all next merges costs, for merge functions",
        "Theorem 2": "What the execution tree costs, for merge functions",
        "Lemma 6": "The leaves tile the interval, for metrics",
        "Lemma 7": "What finding all next merges costs, for metrics",
        "Theorem 3": "What the execution tree costs, for metrics",
        "Algorithm 1": "Linkage clustering",
        "Algorithm 2": "All next merges, for merge functions",
        "Algorithm 3": "All next merges, for metrics",
        "Algorithm 4": "Execution tree for merge functions, depth first",
        "Algorithm 5": "Execution tree for metrics, depth first",
        "Figure 1": "An execution tree",
        "Figure 2": "Average loss between linkages",
        "Figure 3": "Average loss between two metrics for letters",
    },
}
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
