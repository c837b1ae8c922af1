"""What a notebook says of itself, the order in which one reads, the routes, and a map drawn from imports."""

import ast
import json
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from .cells import STATED
from ..core.validation import InputError, require

ROOMS = {  # folder -> title, in reading order
    "core": "What everything stands on",
    "hierarchical": "F19: hierarchies from quadruplets",
    "flat": "N20: flat clusters, certified",
    "adaptive": "A18: which two belong together?",
    "link": "L20: learning to link",
    "theory": "Theory, verified",
    "additive": "Additive trees",
    "evaluation": "Practice",
    "tutorials": "How to",
    "dashboards": "Live pages",
    "classroom": "The classroom",
    "elicitation": "Asking people",
    "reproduce": "The papers' figures again",
    "whatif": "What if?",
}


def checkout():
    "The folder of the repository that this package runs from. Raises `InputError` if it does not run from one."
    import comparison_hc

    root = Path(comparison_hc.__file__).resolve().parents[1]
    if not (root / "nbs" / "index.ipynb").is_file():
        raise InputError(
            f"the book is made from the notebooks, and {root} has no nbs: run the command in a checkout of the "
            "repository, with the package installed from it (pip install -e '.[book]')"
        )
    return root


@dataclass(frozen=True)
class Page:
    "A notebook, and what its first cells say of it."

    path: str  # from nbs, with slashes
    title: str  # its heading
    subtitle: str  # the line below it
    minutes: int  # to read; 0 for a page that does not say
    runs: str  # how long it takes to run, in words
    module: str  # that it exports, below the package; empty if none
    uses: tuple = field(repr=False, default=())  # (module below the package, name or None) of every import of ours

    @property
    def stem(self):
        "The file's name without its ending."
        return self.path.rpartition("/")[2].removesuffix(".ipynb")

    @property
    def room(self):
        "The folder; empty for a page that stands beside the rooms."
        return self.path.rpartition("/")[0]

    @property
    def number(self):
        "Such as 14a; the name for a page without a number."
        found = re.match(r"\d\d[a-z]*(?=_)", self.stem)
        return found[0] if found else self.stem


def read_page(path, root):
    "What a notebook says of itself. Raises `InputError` where the first cell lacks a title and a subtitle."
    notebook = json.loads(Path(path).read_text(encoding="utf-8"))
    first = "".join(notebook["cells"][0]["source"])
    heading, stated = re.match(r"# (\S.*)\n> (\S.*)", first), STATED.search(first)
    require(heading, str(path), "a notebook whose first cell has a title and a subtitle", first[:60])
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    module = re.search(r"^#\| default_exp (\S+)", "\n".join(code), re.MULTILINE)
    return Page(
        path=Path(path).relative_to(root).as_posix(),
        title=heading[1].strip(),
        subtitle=heading[2].strip(),
        minutes=int(stated[1]) if stated else 0,
        runs=stated[2] if stated else "",
        module=module[1] if module else "",
        uses=tuple(use for source in code for use in imports_of(source)),
    )


def imports_of(source):
    "What a cell takes from this package; nothing if it is no plain Python."
    if "comparison_hc" not in source:
        return []  # most cells: to parse them all takes seconds
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return []
    found = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "comparison_hc" and not node.level:
            found += [(node.module.partition(".")[2], alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            ours = [alias.name for alias in node.names if alias.name.startswith("comparison_hc.")]
            found += [(name.partition(".")[2], None) for name in ours]
    return found


@dataclass(frozen=True)
class Book:
    "All pages, and what follows from them."

    root: Path  # nbs
    pages: tuple  # of `Page`, in reading order

    @cached_property
    def by_path(self):
        "{path: `Page`}"
        return {page.path: page for page in self.pages}

    def of_room(self, room):
        "The pages of a room."
        return [page for page in self.pages if page.room == room]

    @cached_property
    def reading_path(self):
        "The pages that a reader meets, in order, without those that stand beside the rooms."
        return [page for page in self.pages if page.room]


def read_book(root=None):
    "Read the first cells and the imports of all notebooks. Raises `InputError` for a folder that is no room."
    root = checkout() / "nbs" if root is None else Path(root)
    paths = [path for path in root.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    pages = [read_page(path, root) for path in paths if path != root / "index.ipynb"]
    rooms = [*ROOMS, ""]
    for page in pages:
        require(page.room in rooms, page.path, f"in one of {', '.join(ROOMS)}", page.room)
    pages.sort(key=lambda page: (rooms.index(page.room), page.stem))
    return Book(root, tuple(pages))


def lazy_homes(folder):
    "Which module a name comes from that a room, or the package, offers. Read from the tables in `__init__`."
    homes = {}
    for path in [folder / "__init__.py", *sorted(folder.glob("*/__init__.py"))]:
        room = "" if path.parent == folder else path.parent.name
        tables = [
            ast.literal_eval(node.args[1])
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lazy_names"
        ]
        homes[room] = {
            name: f"{room}.{module}".strip(".") for table in tables for module, names in table.items() for name in names
        }
    return homes


def needs(book, homes):
    "What a page uses of the pages before it."
    serving = {page.module: page for page in book.pages if page.module}
    order = {page.path: place for place, page in enumerate(book.reading_path)}
    found = {}
    for page in book.reading_path:
        modules = {homes.get(module, {}).get(name, module) for module, name in page.uses}
        modules |= {f"{module}.{name}" for module, name in page.uses if f"{module}.{name}" in serving}
        used = {serving[module].path for module in modules if serving.get(module) is not None}
        found[page.path] = {path for path in used if path in order and order[path] < order[page.path]}
    return found


def direct(needs):
    "The transitive reduction."
    behind = {}

    def all_behind(key):
        if key not in behind:
            behind[key] = set(needs[key]).union(*map(all_behind, needs[key]))
        return behind[key]

    return {key: {one for one in of if not any(one in all_behind(o) for o in of - {one})} for key, of in needs.items()}


@dataclass(frozen=True)
class Route:
    "Pages for one purpose."

    name: str  # for the address
    title: str  # its name in words
    about: str  # one sentence
    numbers: tuple  # of pages, in order: "folder/NN", a number that is unique, or "folder/" for all pages of a folder


ROUTES = (
    Route(
        "first-steps",
        "First steps",
        "What comparisons are, and one page a paper: a tree, clusters, questions one by one, a linkage that learns.",
        ("00", "02", "13", "21", "31", "link/44", "53"),
    ),
    Route(
        "f19",
        "F19, all of it",
        "Trees from quadruplets: methods, theory, figures, and a live page.",
        ("hierarchical/", "theory/0*", "91", "91a", "92", "61"),
    ),
    Route(
        "n20",
        "N20, all of it",
        "Flat clusters with a certificate: methods, theory, figures, and a live page.",
        ("flat/", "theory/1*", "94", "95", "62"),
    ),
    Route(
        "a18", "A18, all of it", "Trees from questions that are chosen as one goes.", ("adaptive/", "theory/2*", "63")
    ),
    Route("l20", "L20, all of it", "A linkage that is learned from tasks.", ("link/", "theory/3*", "96", "65")),
    Route(
        "answers",
        "I have answers from people",
        "From a messy file to a tree that one can publish, and how far to trust it.",
        ("tutorials/10", "tutorials/21", "tutorials/22", "tutorials/11", "tutorials/12", "58", "tutorials/23"),
    ),
    Route(
        "teach",
        "I teach",
        "Assignments that grade themselves, and live pages for the blackboard.",
        ("classroom/", "61", "62", "63", "65", "67"),
    ),
    Route(
        "what-if", "What if?", "Move anything in the models and see what happens.", ("98", "99", "61", "62", "65", "93")
    ),
    Route(
        "maintain",
        "I maintain",
        "Checks, the table of methods, and the framework of the dashboards.",
        ("04", "52", "60"),
    ),
)


def route_pages(route, book):
    "The pages of a route. Raises `InputError` for a number that no page has."
    pages = []
    for number in route.numbers:
        if number.endswith("/"):
            found = book.of_room(number[:-1])
        elif number.endswith("*"):
            found = [page for page in book.reading_path if page.path.startswith(number[:-1])]
        else:
            found = [p for p in book.pages if p.path.startswith(f"{number}_") or p.number == number][:1]
        require(found, f"route {route.name}", "made of pages that exist", number)
        pages += found
    return pages


def pages_rows(pages):
    "A table of pages with what they are about and their minutes; links are those of a notebook that stands in `nbs`."
    rows = [f"| [{page.title}]({page.path}) | {page.subtitle} | {page.minutes} |" for page in pages]
    return "\n".join(["| page | what it is about | minutes |", "| --- | --- | --- |", *rows])


def length_text(minutes):
    "Minutes, from an hour and a half on in hours."
    return f"{minutes} minutes" if minutes < 90 else f"{round(minutes / 60, 1):g} hours"


def route_line(route, book):
    "A route as an item of a list, with links to its pages and their minutes, added up."
    parts, pages = [], route_pages(route, book)
    for number in route.numbers:
        found = route_pages(replace(route, numbers=(number,)), book)
        ends = found if len(found) == 1 else [found[0], found[-1]]
        parts.append(" to ".join(f"[{page.number}]({page.path})" for page in ends))
    length = length_text(sum(page.minutes for page in pages))
    return f"- **{route.title}** ({length}): {route.about} {' · '.join(parts)}"
