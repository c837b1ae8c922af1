"""Every parameter stands on a line with a comment; this reads those comments, for tables and for the reference."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from html import escape

from ..core.validation import require


@dataclass(frozen=True)
class Parameter:
    "One parameter, or one field of a dataclass."

    name: str  # with stars, as in the code
    default: str = ""  # source text; empty if there is none
    about: str = ""  # its comment


@dataclass(frozen=True)
class Documented:
    "A function, class or method as its source describes it."

    name: str  # as written after `def` or `class`
    kind: str  # "function", "class", "method", "property", "classmethod" or "staticmethod"
    about: str  # docstring; empty if there is none
    parameters: tuple  # of `Parameter`, without self
    returns: str = ""  # the comment behind the closing bracket
    members: tuple = ()  # of a class: public methods and properties, as `Documented`
    bases: tuple = ()  # of a class: names of the classes of which it has everything else

    @property
    def signature(self):
        "Names and defaults in brackets; empty for a property."
        if self.kind == "property":
            return ""
        return "(" + ", ".join(p.name + (f"={p.default}" if p.default else "") for p in self.parameters) + ")"


def comments(source):
    "All comments, by the number of their line."
    behind, alone = {}, {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            place = behind if token.line[: token.start[1]].strip() else alone
            place[token.start[0]] = token.string.removeprefix("#").strip()
    return behind, alone


COMMON = {  # what the house means by a name that has no comment
    "args": "what was typed",
    "commands": "argparse's subparsers",
    "confidence": "in (0, 1): by Monte Carlo a true statement holds with this probability at least",
    "false_passes": "in (0, ½): by Monte Carlo a false statement passes with this probability at most",
    "queries": "questions that are answered, or were before",
    "quick": "True: few and small cases; False: the paper's sizes",
    "rng": "int seed or `numpy.random.Generator`",
}


def _about(line, comments, name=""):
    "The comment behind a line, or those that fill the lines above it, or what the house means by the name."
    behind, alone = comments
    if line in behind:
        return behind[line]
    above = []
    while (line := line - 1) in alone:
        above.insert(0, alone[line])
    return " ".join(above) or COMMON.get(name, "")


def _lambda(node):
    "A function without a name, in a word that may stand in a signature."
    body = ast.unparse(node.body)
    if body in [arg.arg for arg in node.args.args]:
        return "unchanged"
    return {"None": "does_nothing", "True": "always_true", "{}": "always_empty"}.get(body, "a_function")


def _calls(node, name):
    "Whether a node is a call of a function of this name."
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def _default(node):
    "A default as text, short."
    if node is None:
        return ""
    if isinstance(node, ast.Lambda):
        return _lambda(node)
    if _calls(node, "setting") and node.args:  # of a live page
        return _default(node.args[0])
    if _calls(node, "field"):  # of a dataclass
        said = {word.arg: ast.unparse(word.value) for word in node.keywords}
        return said.get("default") or {"dict": "{}", "list": "[]"}.get(said.get("default_factory"), "…")
    text = ast.unparse(node)
    return text if len(text) <= 40 else "…"


def _sections(docstring):
    "(text before the first numpydoc section, {parameter: words}, what is returned)."
    head, *parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    words, returns = {}, ""
    for title, body in zip(parts[::2], parts[1::2]):
        items = re.findall(r"^(\S.*)\n((?:[ \t]+.*\n?|\n)*)", body + "\n", re.MULTILINE)
        said = {name.split(" : ")[0]: " ".join(text.split()) for name, text in items}
        words |= said if title == "Parameters" else {}
        returns = " ".join(said.values()) if title == "Returns" else returns
    return head.strip(), words, returns


def _parameters(function, comments):
    "The parameters of a function, in order, without self."
    words = _sections(ast.get_docstring(function) or "")[1]
    args = function.args
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    named = [(arg, arg.arg, default) for arg, default in zip(plain, defaults)]
    named += [(args.vararg, f"*{args.vararg.arg}", None)] if args.vararg else []
    named += [(arg, arg.arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults)]
    named += [(args.kwarg, f"**{args.kwarg.arg}", None)] if args.kwarg else []
    one_line = function.lineno == function.body[0].lineno or all(arg.lineno == function.lineno for arg, _, _ in named)

    def _in_source(name, line):
        return COMMON.get(name, "") if one_line else _about(line, comments, name)

    return tuple(
        Parameter(name, _default(default), words.get(name) or _in_source(name, (default or arg).end_lineno))
        for arg, name, default in named
        if name not in ("self", "cls")
    )


def _returns(function, comments):
    "The comment on the line where the signature ends."
    ends = [a.end_lineno for a in ast.walk(function.args) if hasattr(a, "end_lineno")]
    last = max([function.lineno, *ends])
    lines = [line for line in range(last, function.body[0].lineno) if line in comments[0]]
    if lines and (lines[-1] > last or last == function.lineno):
        return comments[0][lines[-1]]
    return ""


def _kind(node, inside):
    "What a definition is, by its decorators."
    if not inside:
        return "function"
    words = {ast.unparse(decorator).split(".")[-1].split("(")[0] for decorator in node.decorator_list}
    if words & {"property", "cached_property"}:
        return "property"
    return next(iter(words & {"classmethod", "staticmethod"}), "method")


def _function(node, comments, inside=False):
    about, _, returns = _sections(ast.get_docstring(node) or "")
    parameters = _parameters(node, comments)
    return Documented(node.name, _kind(node, inside), about, parameters, returns or _returns(node, comments))


def _help(node, texts):
    "What a setting of a live page says of itself: its fourth argument."
    help = node.args[3] if _calls(node, "setting") and len(node.args) > 3 else None
    said = help.value if isinstance(help, ast.Constant) else texts.get(getattr(help, "id", ""), "")
    return said if isinstance(said, str) else ""


def _class(node, comments, texts):
    "A class with its public members."
    functions = [part for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))]
    begin = next((part for part in functions if part.name == "__init__"), None)
    bases = tuple(base.id for base in node.bases if isinstance(base, ast.Name))
    has_fields = "NamedTuple" in bases or any("dataclass" in ast.unparse(each) for each in node.decorator_list)
    if begin is not None:
        parameters = _parameters(begin, comments)
    elif has_fields:
        fields = [p for p in node.body if isinstance(p, ast.AnnAssign) and p.target.id[0] != "_"]
        parameters = tuple(
            Parameter(
                part.target.id,
                _default(part.value),
                _about(part.end_lineno, comments, part.target.id) or _help(part.value, texts),
            )
            for part in fields
        )
    else:
        parameters = ()
    members = tuple(_function(part, comments, True) for part in functions if part.name[0] != "_")
    return Documented(node.name, "class", ast.get_docstring(node) or "", parameters, "", members, bases)


def documented(source):
    "The public functions and classes of a text, with their parameters. Raises `InputError` if it is no Python."
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        require(False, "source", "Python", str(error))
    found, read = [], comments(source)
    named = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)]
    texts = {ast.unparse(target): node.value.value for node in named for target in node.targets}
    for node in tree.body:
        if getattr(node, "name", "_")[0] == "_":
            continue
        if isinstance(node, ast.ClassDef):
            found.append(_class(node, read, texts))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append(_function(node, read))
    return found


def code_words(text):
    "Text with its code set as code."
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(parts))


def _rows(item):
    "The rows of a table of parameters."
    for p in item.parameters:
        default = f" = <code>{escape(p.default)}</code>" if p.default else ""
        yield f"<tr><td><code>{escape(p.name)}</code>{default}</td><td>{code_words(p.about)}</td></tr>"
    if item.returns:
        yield f"<tr><td>returns</td><td>{code_words(item.returns)}</td></tr>"


def parameter_tables(source, address=None):
    "A folded table for each public function or class whose parameters say what they are for."
    tables = []
    for item in documented(source):
        told = item.returns or any(p.about for p in item.parameters)
        if not told:
            continue
        link = f' · <a href="{escape(address(item.name))}">reference</a>' if address else ""
        rows = "".join(_rows(item))
        summary = f"<summary>Parameters of <code>{escape(item.name)}</code></summary>"
        doc = f"<p>{code_words(' '.join(item.about.split()))}{link}</p>"
        tables.append(f'<details class="parameters">{summary}{doc}<table>{rows}</table></details>')
    return "\n".join(tables)
