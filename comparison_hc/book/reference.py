"""Functions, data sets, commands and how to cite: every word of these pages stands elsewhere, and is read there."""

import argparse
import ast
import re
from configparser import ConfigParser
from pathlib import Path

from .docments import documented
from ..core.validation import require


def plain(text):
    "A text in which only code between backticks is markup; an empty text is code, too."
    parts = re.split(r"(`[^`\n]+`|(?<!\w)(?:''|\"\")(?!\w))", text)
    parts[1::2] = [p if p[0] == "`" else f"`{p}`" for p in parts[1::2]]
    return "".join(p if i % 2 else re.sub(r"([\\`*_{}\[\]<>#|$~&])", r"\\\1", p) for i, p in enumerate(parts))


MINUS = re.compile(r"(?<![\w.,-])-(?=\d)|(?<=[\w)] )-(?= \d)|(?<=[\w)])-(?=1\b(?!\.))")


def _said(about):
    "A comment, with one sign for minus."
    parts = re.split(r"(`[^`\n]+`)", " ".join(about.split()))
    return plain("".join(part if i % 2 else MINUS.sub("−", part) for i, part in enumerate(parts)))


def _paragraphs(about):
    "A docstring's paragraphs."
    return [_said(part) for part in re.split(r"\n\s*\n", about.strip()) if part.strip()]


def _fields(item):
    "Parameters and what comes back, as a list of fields."
    told = any(p.about for p in item.parameters)  # then those whose names say enough are listed as well
    lines = [f":param {p.name.lstrip('*')}: {_said(p.about)}".rstrip() for p in item.parameters if told]
    return lines + ([f":returns: {_said(item.returns)}"] if item.returns else [])


def item_text(item, colons=3, classes=None):
    "A function or class as an entry of the reference."
    fence = ":" * colons
    forms = {"function": "py:function", "class": "py:class", "property": "py:property"}
    form = forms.get(item.kind, "py:method")
    option = [f":{item.kind}:"] if item.kind in ("classmethod", "staticmethod") else []
    inner = [item_text(member, colons - 1) for member in item.members]
    known = [base for base in item.bases if base in (classes or {})]
    bases = ", ".join(f"[`{base}`](#comparison_hc.{classes[base]}.{base})" for base in known)
    more = [f"It also has what it inherits: {bases}."] if bases else []
    body = "\n\n".join([*_paragraphs(item.about), *more, *filter(None, ["\n".join(_fields(item))]), *inner])
    return "\n".join([f"{fence}{{{form}}} {item.name}{item.signature}", *option, "", body, fence])


def module_text(name, source, home, classes=None):
    "A module: what it is for, its notebook, and its entries."
    found = documented(source)
    if not found:
        return ""
    about = ast.get_docstring(ast.parse(source)) or ""
    link = f" Defined and explained in [{home.number} {plain(home.title)}](/{home.path})." if home else ""
    begin = [f"## {name}", " ".join(_paragraphs(about)) + link, f":::{{py:currentmodule}} comparison_hc.{name}\n:::"]
    return "\n\n".join([*begin, *(item_text(item, 4 if item.members else 3, classes) for item in found)])


def modules_of_room(package, room):
    "The modules that somebody may import, without the doors (`__init__`, `__main__`) and the index of nbdev."
    paths = sorted((package / room).glob("*.py"))
    prefix = f"{room}." if room else ""
    return {prefix + path.stem: path.read_text(encoding="utf-8") for path in paths if path.name[0] != "_"}


def _offered(name, where, room, defined):
    "A name that a room offers, with a link to the module that defines it, which may be another one of the room."
    home = next((module for module in (where, *room) if name in defined.get(module, ())), None)
    return f"[`{name}`](#comparison_hc.{home}.{name})" if home else f"`{name}`"


def api_pages(package, homes, lazy):
    "The reference of all functions and classes: an index, and a page for every room."
    rooms = ["", *sorted(path.parent.name for path in package.glob("*/__init__.py"))]
    pages, table = {}, ["| room | what it is for |", "| --- | --- |"]
    sources = {room: modules_of_room(package, room) for room in rooms}
    items = {name: documented(text) for modules in sources.values() for name, text in modules.items()}
    classes = {item.name: name for name, found in items.items() for item in found if item.kind == "class"}
    defined = {name: {item.name for item in found} for name, found in items.items()}
    for room in rooms:
        about = ast.get_docstring(ast.parse((package / room / "__init__.py").read_text(encoding="utf-8"))) or ""
        name = room or "root"
        title = f"comparison_hc.{room}".strip(".")
        table.append(f"| [{title}]({name}.md) | {plain(' '.join(about.split()))} |")
        offered = [_offered(one, where, sources[room], defined) for one, where in sorted(lazy.get(room, {}).items())]
        offer = ["## What one imports", f"From `{title}`, without naming the module:", " · ".join(offered)]
        modules = [module_text(each, text, homes.get(each), classes) for each, text in sources[room].items()]
        parts = [f"# {title}", plain(" ".join(about.split())), *(offer if offered else []), *filter(None, modules)]
        pages[name] = "\n\n".join(parts) + "\n"
    toctree = "\n".join(["```{toctree}", ":hidden:", *[room or "root" for room in rooms], "```"])
    intro = "Every public function and class, with what its parameters are for. Read from the source, room by room."
    pages["index"] = "\n\n".join(["# Functions and classes", intro, "\n".join(table), toctree]) + "\n"
    return pages


def data_page():
    "All data sets: how large, where from, on which terms, and whether they can be fetched."
    from comparison_hc.evaluation._dataset_files import CATALOGUE, can_be_fetched

    lines = ["| data set | what is in it | where | source and terms |", "| --- | --- | --- | --- |"]
    for name, known in CATALOGUE.items():
        originals = known.get("originals", [])
        how = "fetched when asked for" if all(map(can_be_fetched, originals)) else "to be put in place by hand"
        where = how if originals else "comes along"
        counts = ", ".join(f"{count:,} {what}" for what, count in known["counts"].items() if count)
        source, terms = plain(known["source"]), plain(known["terms"])
        lines.append(f"| `{name}` | {counts} | {where} | {source}. Terms: {terms} |")
    intro = (
        "`load_dataset(name)` gives a set by its name, [as this page explains](/evaluation/50_datasets.ipynb); "
        "`comparison-hc data` lists them on a screen. What does not come along is looked for in the folder "
        "`COMPARISON_HC_DATA`, then in the user's cache."
    )
    return "\n\n".join(["# Data sets", intro, "\n".join(lines)]) + "\n"


def _words(action):
    "How an argument is typed."
    metavar = action.metavar if isinstance(action.metavar, str) else None
    value = metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper())
    if not action.option_strings:
        return f"`{value}`"
    takes = "" if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction) else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _option_words(text):
    "A help text whose options are code."
    return plain(re.sub(r"(?<![\w`-])(--[a-z](?:[\w-]*\w)?)(?!\w*`)", r"`\1`", " ".join(text.split())))


def command_text(parser, level=2, about=""):
    "A command: what it is for, what one types, and every option."
    parts = [f"{'#' * level} {parser.prog}"]
    if said := parser.description or about:
        parts.append(_option_words(said))
    actions = [a for a in parser._actions if not isinstance(a, (argparse._HelpAction, argparse._VersionAction))]
    below = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
    rows = [a for a in actions if a not in below and a.help != argparse.SUPPRESS]
    if rows:
        usage = re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage: ")).strip()
        parts.append(f"```text\n{usage}\n```")
        table = ["| word | what it does |", "| --- | --- |"]
        for action in rows:
            said = parser._get_formatter()._expand_help(action) if action.help else ""
            table.append(f"| {_words(action).replace('|', chr(92) + '|')} | {_option_words(said)} |")
        parts.append("\n".join(table))
    for action in below:
        helps = {each.dest: each.help or "" for each in action._choices_actions}
        parts += [command_text(each, level + 1, helps.get(name, "")) for name, each in action.choices.items()]
    return "\n\n".join(parts)


def commands_page(choices):
    "Every command with every option."
    intro = (
        "What `comparison-hc COMMAND --help` says, on one page. "
        "[The page on the command line](/evaluation/53_command_line.ipynb) tells the story instead."
    )
    return "\n\n".join(["# Commands", intro, *(command_text(parser) for parser in choices.values())]) + "\n"


def cite_page(root, front):
    "An entry for the package, and the four papers."
    config = ConfigParser(delimiters=["="])
    config.read(Path(root) / "settings.ini", encoding="utf-8")
    settings = config["DEFAULT"]
    year = re.search(r"\d{4}", settings["copyright"])[0]
    papers = re.findall(r"^- \*\*\w+\*\* .+$", front, re.MULTILINE)
    require(len(papers) == 4, "the front page", "one that lists the four papers", len(papers))

    def escaped(text):
        return text.replace("_", r"\_")  # an underscore stops LaTeX

    entry = [
        f"@software{{{settings['lib_name']},",
        f"  title   = {{{{{escaped(settings['title'])}}}: {settings['description']}}},",
        f"  author  = {{{{{escaped(settings['author'])}}}}},",
        f"  version = {{{settings['version']}}},",
        f"  year    = {{{year}}},",
        "}",
    ]
    parts = [
        "# How to cite",
        "The methods are those of four papers: cite the one whose method you used, and this package if you used it.",
        "## The papers",
        "\n".join(papers),
        "## The package",
        "\n".join(["```bibtex", *entry, "```"]),
        "The page that `comparison-hc cluster --out tree.html` writes has sentences for a methods section, "
        "[as this page shows](/tutorials/23_publishing.ipynb).",
    ]
    return "\n\n".join(parts) + "\n"
