"The command `comparison-hc`: its parser, its errors of one line and its exit codes."

import argparse
import os
import sys

from ..classroom.command import add_classroom
from ..core.screen import say
from ..core.validation import InputError, check_integer, require
from ..whatif.plan_command import add_plan
from ..whatif.whatif_command import add_whatif
from .options import add_command
from .cluster import add_cluster, add_demo
from .compare import add_compare
from .learn import add_learn
from .look_up import add_check, add_data, add_reproduce
from .pages import add_dashboard, add_serve
from .people import add_ask, add_people, add_pool


def add_book(commands):
    "Add the former command `book`, whose error names the command that replaces it."
    book, _ = add_command(commands, "book", _book_moved)
    book.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _book_moved(args):
    build = "pip install -e '.[docs]' && make -C docs html"
    raise InputError(f"`book` is no longer a command. In a checkout, run: {build} && python3 -m http.server -d _docs")


COMMANDS = (
    add_cluster,
    add_compare,
    add_learn,
    add_ask,
    add_people,
    add_pool,
    add_demo,
    add_data,
    add_whatif,
    add_plan,
    add_check,
    add_classroom,
    add_dashboard,
    add_serve,
    add_reproduce,
    add_book,
)

POSITIONAL = {"file": "FILE", "name": "NAME", "names": "NAME", "tasks": "TASK"}


def _short(message):
    "One line; a word without end is cut in its middle."
    said = " ".join(word if len(word) <= 200 else f"{word[:40]} … {word[-20:]}" for word in message.split())
    return said if len(said) <= 700 else f"{said[:700]} …"


class _Parser(argparse.ArgumentParser):
    "A parser whose errors are one line, as all others are."

    def error(self, message):
        raise InputError(f"{_short(message)} (see {self.prog} --help)")


def make_parser():
    "The parser of all commands."
    from comparison_hc import __version__

    about = "Clusters and hierarchies from comparisons: triplets and quadruplets in, dendrograms out."
    parser = _Parser(prog="comparison-hc", description=about)
    parser.add_argument("--version", action="version", version=f"comparison_hc {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for add in COMMANDS:
        add(commands)
    return parser


def _checked(args):
    "The same, if no text is empty (an unset variable of the shell) and no number below its range."
    for name, value in vars(args).items():
        option = POSITIONAL.get(name, f"--{name.replace('_', '-')}")
        if name == "items" and args.command == "ask":
            option = "ITEMS"
        require("" not in (value if isinstance(value, list) else [value]), option, "a text that is not empty", "")
        if name in ("seed", "questions") and value is not None:
            check_integer(value, option, 1 if name == "questions" else 0)
    return args


def _open_streams():
    "All three streams are there, though perhaps nowhere, and none stumbles over a character that it does not know."
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us, as in `>&-`
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):  # a screen that cannot show a character shows "?"
        strict = getattr(stream, "errors", None) in ("strict", "surrogateescape")
        if strict and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def main(arguments=None):
    "Run the command. Bad input is one line on the error stream, never a traceback."
    _open_streams()
    try:
        args = _checked(make_parser().parse_args(arguments))
        args.words = list(sys.argv[1:] if arguments is None else arguments)  # for the record of how a result was made
        code = args.run(args) or (130 if getattr(args, "interrupted", False) else 0)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as stop:
        message, code = str(stop) or "interrupted", 130
    except BrokenPipeError:  # the reader of our output has gone, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (InputError, OSError) as error:
        message, code = _short(str(error)), 2
    except MemoryError:
        message, code = "there is not enough memory for this", 2
    except ImportError as error:  # a library that is there, and that a limit of memory keeps out
        if "failed to map" not in str(error) and "cannot allocate memory" not in str(error).lower():
            raise
        message, code = "there is not enough memory for this", 2
    except RuntimeError as error:
        if not hasattr(error, "failures"):  # an `ExperimentError` has them
            raise
        message, code = str(error), 1
    except LookupError as error:
        if "encoding" not in str(error):
            raise
        message, code = str(error), 2
    say(f"comparison-hc: {message}", sys.stderr)
    return code
