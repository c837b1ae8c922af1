"""Links from a dashboard to statement, proof, check and notebook, wherever the page stands."""

import os
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

import comparison_hc

from ..checks import PAPERS
from ..core.validation import InputError
from ..theory.statements import NUMBERED


@dataclass(frozen=True)
class Pages:
    "Pages of the book as seen from a place."

    before: str  # the address of the top, with a slash at its end
    is_book: bool = True  # whether there are pages rather than notebooks


def pages_given():
    "Where `COMPARISON_HC_BOOK` says that the book is. Raises `InputError`."
    given = os.environ.get("COMPARISON_HC_BOOK", "")
    if given and not re.match("https?://", given):
        raise InputError(f"COMPARISON_HC_BOOK must be an address that begins with http; got {given}")
    return Pages(given.rstrip("/") + "/") if given else None


CHECKOUT = Path(comparison_hc.__file__).resolve().parents[1]  # if the package stands in one


def pages_beside(folder=None, root=CHECKOUT):
    "Pages as a notebook sees them: the given book, the one that it runs in, or the checkout that it belongs to."
    if sys.platform == "emscripten":
        return Pages("../../")  # from lite/notebooks/
    folder = Path.cwd() if folder is None else Path(folder)
    is_inside = (root / "nbs" / "index.ipynb").is_file() and root in folder.resolve().parents
    beside = Pages(Path(os.path.relpath(root / "nbs", folder)).as_posix() + "/", False) if is_inside else None
    return pages_given() or beside


@dataclass(frozen=True)
class Source:
    "A source of a dashboard, and where it is described."

    page: str  # of the book, without ending: "theory/02_f19_theorem1"
    words: str = ""  # what is there; empty for a numbered item
    paper: str = ""  # "F19", "N20", "A18" or "L20"
    item: str = ""  # such as "Theorem 1", as the theory index has it

    def html(self, pages):
        "A line of the list."
        number = self.page.rpartition("/")[2].partition("_")[0]
        notebook = linked(f"notebook {number}", f"{self.page}{'.html' if pages and pages.is_book else '.ipynb'}", pages)
        if not pages:
            notebook += f" (<code>nbs/{self.page}.ipynb</code>)"
        if not self.item:
            return f"<li>{escape(self.words)}: {notebook}</li>"
        index = f"statements/{self.paper.lower()}.html#{anchor(self.item)}"
        name = linked(f"{self.paper}, {self.item}", index, pages if pages and pages.is_book else None)
        what = "algorithm" if self.item.startswith("Algorithm") else "proof and checks"
        return f"<li>{name}: {escape(NUMBERED[self.paper][self.item])}; {what}: {notebook}</li>"


def anchor(item):
    "The position of an item on its page of the theory index."
    return re.sub("[^a-z0-9]+", "-", item.lower())


def linked(words, path, pages):
    "A link into the book, in a tab of its own: the page keeps what it shows."
    if pages is None:
        return escape(words)
    return f'<a href="{escape(pages.before + path)}" target="_blank" rel="noopener">{escape(words)}</a>'


PREPRINTS = {"F19": "1811.00928", "N20": "2010.03918", "A18": "1708.00149", "L20": "1907.00533"}  # on arXiv


def sources_html(sources, pages):
    "Papers, statements, proofs, checks and notebooks behind a page."
    papers = list(dict.fromkeys(each.paper for each in sources if each.paper))
    index = pages if pages and pages.is_book else None
    names = [linked(f"{paper}: {PAPERS[paper]}", f"statements/{paper.lower()}.html", index) for paper in papers]
    lines = [
        f"<li>Paper {name} ({linked('read it', f'arxiv.org/abs/{PREPRINTS[paper]}', Pages('https://'))});"
        f" all its checks: <code>comparison-hc check {paper}</code></li>"
        for name, paper in zip(names, papers)
    ]
    return "<ul>" + "".join(lines + [each.html(pages) for each in sources]) + "</ul>"
