"The options of every command that takes files of answers, and the one call that they become."

import argparse
from pathlib import Path

from ..core._tables import existing_file
from ..core.importers import IMPORTERS
from ..core.screen import warnings_to_stderr
from ..evaluation.object_tables import read_names
from ._options import HEADER, one_line

READING_HELP = {
    "kind": """what a row says: i is closer to j than to k (triplets, default); i and j are more alike than k and l
        (quadruplets); the first of three is the most central, or the odd one out""",
    "objects": "file with all objects' names, one a line, if some occur in no answer",
    "columns": """names or positions (from 0) of the object columns, in the order of --kind (default: as the columns'
        names tell, else in the order of the file)""",
    "respondent": """name or position of the column that says who answered (default: a column with such a name; of
        several files, the name of the file); none: nobody is known""",
    "header": "whether the first line names the columns (default: guess)",
    "separator": "what stands between cells: one character, or tab, comma, semicolon, pipe, blank (default: guess)",
    "encoding": "of a text file (default: UTF-8)",
    "answer": """column that says who was chosen, where the columns only say what was shown: the name of an object or of
        its column, left or right, 0 or 1, 1 or 2. Other codes are told behind a colon: eval:1=B,0=C, or in the order
        of the columns: choice:f,j""",
    "weight": "column that says how often an answer was given (whole numbers), or how much it counts",
    "where": "only rows whose cell in a column is, or is not, this; may be repeated, and all have to hold",
    "missing": """what a cell without a value says (such as NA, or in one column choice=0); may be repeated. An empty
        cell always has none""",
    "drop-invalid": "leave out rows that are no answer, and say how many and why, instead of refusing the file",
    "format": "what wrote the file, so that its columns need not be named",
    "records": "where in a JSON file the records are, such as responses.* (default: the file is a list of them)",
}
ANSWER_WORDS = tuple(name.replace("-", "_") for name in READING_HELP if name not in ("kind", "header", "encoding"))
KINDS = ("triplets", "quadruplets", "central", "odd-one-out")


class _Files(argparse.Action):
    "One file as its name, several as a list."

    def __call__(self, parser, namespace, values, option=None):
        setattr(namespace, self.dest, values[0] if len(values) == 1 else values)


def add_files(command, help):
    "The answers: a file, several, or a folder."
    command.add_argument("file", metavar="FILE", nargs="+", action=_Files, help=help)


def files_of(args, option="FILE"):
    "(option, path) of every file that is read."
    return [(option, path) for path in (args.file if isinstance(args.file, list) else [args.file])]


def title_of(args):
    "The title of a result: as the user says, or the name of the file."
    _, path = files_of(args)[0]
    return getattr(args, "title", None) or Path(path).stem


def add_reading(command, matrix=False, kind=True):
    "The options that say how a file of answers is read; `typed_answers` understands them."

    def option(name, **settings):
        settings = dict(help=READING_HELP[name]) | settings
        command.add_argument(f"--{name}", **settings | dict(help=one_line(settings["help"])))

    if kind:
        help = READING_HELP["kind"] + "; or FILE is a square matrix of similarities, or of distances" * matrix
        option("kind", choices=[*KINDS, "similarity", "distance"] if matrix else KINDS, default="triplets", help=help)
        option("objects", metavar="NAMES")
    option("columns", metavar="A,B,C")
    option("respondent", metavar="COLUMN")
    option("header", choices=["yes", "no", "auto"], default="auto")
    option("separator", metavar="CHARACTER")
    option("encoding", default="utf-8-sig")
    option("answer", metavar="COLUMN[:CODES]")
    option("weight", metavar="COLUMN")
    option("where", action="append", default=[], metavar="COLUMN=VALUE")
    option("missing", action="append", default=[], metavar="TEXT")
    option("drop-invalid", action="store_true")
    option("format", choices=list(IMPORTERS))
    option("records", metavar="PATH")


def typed_answers(args, file=None):
    "The answers of a file, read as the options say. Warnings become lines of the error stream."
    return typed_places(args, file)[0]


def typed_places(args, file=None):
    "The answers, and where the chosen stood, if the file says what was shown."
    from comparison_hc.comparisons import answers_and_places
    from comparison_hc.core.readers import Options

    options = Options(
        args.kind,
        header=HEADER[args.header],
        columns=_columns(args.columns),
        respondent=False if args.respondent == "none" else _column(args.respondent),
        objects=read_names(args.objects) if file is None and args.objects else None,
        encoding=args.encoding,
        answer=_column(args.answer),
        weight=_column(args.weight),
        where=args.where,
        missing=args.missing,
        drop_invalid=args.drop_invalid,
        format=args.format,
        records=args.records,
        separator=args.separator,
    )
    file = args.file if file is None else file
    for path in file if isinstance(file, list) else [file]:
        if not path or not Path(path).is_dir():
            existing_file(path, "FILE")
    with warnings_to_stderr():
        return answers_and_places(file, options)


def _column(text):
    "A column as the user names it: a position if it is a number, else a name."
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else text


def _columns(text):
    "Several of them."
    return None if text is None else [_column(part.strip()) for part in text.split(",")]


def say_if_disconnected(answers):
    "A line of the error stream if the answers fall apart into groups of objects."
    from comparison_hc.comparisons import comparison_components
    from comparison_hc.comparisons import warn_if_disconnected

    with warnings_to_stderr():
        warn_if_disconnected(comparison_components(answers), answers.object_names)
