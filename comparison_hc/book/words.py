"""The page of letters and words is collected from remarks on the pages that explain them."""

import json
import re

from ..core.validation import InputError, require

PAPERS = ("F19", "N20", "A18", "L20")
REMARK = re.compile(r"<!-- (word|letter): (.+?)(?: \((F19|N20|A18|L20)\))?(?: = (.+?))? -->")


def remarks(book):
    "All remarks, in reading order; what stands in a block of code is an example."
    found = []
    for page in book.pages:
        text = (book.root / page.path).read_text(encoding="utf-8")
        if "<!-- word: " not in text and "<!-- letter: " not in text:
            continue
        cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        prose = re.sub(r"```.*?```", "", "\n\n".join(cells), flags=re.DOTALL)
        found += [(page, *remark) for remark in REMARK.findall(prose)]
    return [(page, kind, what, paper or None, meaning or None) for page, kind, what, paper, meaning in found]


def alphabetical(what):
    "Letters before Greek ones, small ones before capitals; signs do not count."
    return re.sub(r"[^\w]", "", what).casefold(), what.swapcase()


def words_table(book):
    """Every word, its meaning and the pages that explain it.

    Raises `InputError` for a word with two meanings, or with none.
    """
    meanings, pages = {}, {}
    for page, kind, word, _, meaning in remarks(book):
        if kind == "word":
            if meaning:
                require(word not in meanings, page.path, "the only page with a meaning of this word", word)
                meanings[word] = meaning
            pages.setdefault(word, []).append(f"[{page.number}]({page.path})")
    for word in pages:
        if word not in meanings:
            raise InputError(f"the word {word!r} needs a meaning on one of the pages that explain it")
    rows = [f"| {word} | {meanings[word]} | {', '.join(pages[word])} |" for word in sorted(pages, key=alphabetical)]
    return "\n".join(["| word | meaning | where it is explained |", "| --- | --- | --- |", *rows])


def letters_table(book):
    "Every letter and what it means in each paper. Raises `InputError` for a letter with two meanings in one paper."
    meanings = {}
    for page, kind, letter, paper, meaning in remarks(book):
        if kind == "letter":
            require(paper and meaning, page.path, "a letter with its paper in parentheses, and its meaning", letter)
            require((letter, paper) not in meanings, page.path, f"the only page with this letter of {paper}", letter)
            meanings[letter, paper] = f"{meaning} ([{page.number}]({page.path}))"
    rows = []
    for letter in sorted({letter for letter, _ in meanings}, key=alphabetical):
        rows.append(" | ".join([f"| {letter}", *(meanings.get((letter, paper), "") for paper in PAPERS)]) + " |")
    return "\n".join([f"| letter | {' | '.join(PAPERS)} |", "| --- | --- | --- | --- | --- |", *rows])
