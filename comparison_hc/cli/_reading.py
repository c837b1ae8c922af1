"The options of every command that takes files of answers, and the one call that they become."

import argparse
from pathlib import Path

from ..core._tables import existing_file
from ..core.importers import IMPORTERS
from ..core.screen import warnings_to_stderr
from ..evaluation.object_tables import read_names
from .options import HEADER, adder, help_texts

NOT_ABOUT_ANSWERS = ("kind", "header", "encoding")  # which files of matrices have, too
ANSWER_OPTIONS = tuple(name.replace("-", "_") for name in help_texts()["reading"] if name not in NOT_ABOUT_ANSWERS)
KINDS = ("triplets", "quadruplets", "central", "odd-one-out")


class _Files(argparse.Action):
    "One file as its name, several as a list."

    def __call__(self, parser, namespace, values, option=None):
        setattr(namespace, self.dest, values[0] if len(values) == 1 else values)


def add_files(option):
    "Add the argument FILE: a file, several, or a folder."
    option("file", metavar="FILE", nargs="+", action=_Files)


def files_of(args, option="FILE"):
    "(option, path) of every file that is read."
    return [(option, path) for path in (args.file if isinstance(args.file, list) else [args.file])]


def title_of(args):
    "The title of a result: that of --title, or the name of the file."
    _, path = files_of(args)[0]
    return getattr(args, "title", None) or Path(path).stem


def add_reading(command, matrix=False, kind=True):
    "Add the options that determine how a file of answers is read; `typed_answers` applies them."
    option = adder(command, "reading")
    if kind:
        text = help_texts()["reading"]["kind"] + "; or FILE is a square matrix of similarities or distances" * matrix
        kinds = [*KINDS, "similarity", "distance"] if matrix else KINDS
        option("--kind", choices=kinds, default="triplets", help=text)
        option("--objects", metavar="NAMES")
    option("--columns", metavar="A,B,C")
    option("--respondent", metavar="COLUMN")
    option("--header", choices=["yes", "no", "auto"], default="auto")
    option("--separator", metavar="CHARACTER")
    option("--encoding", default="utf-8-sig")
    option("--answer", metavar="COLUMN[:CODES]")
    option("--weight", metavar="COLUMN")
    option("--where", action="append", default=[], metavar="COLUMN=VALUE")
    option("--missing", action="append", default=[], metavar="TEXT")
    option("--drop-invalid", action="store_true")
    option("--format", choices=list(IMPORTERS))
    option("--records", metavar="PATH")


def typed_answers(args, file=None):
    "The answers of a file, read by the options. Warnings become lines of the error stream."
    return typed_places(args, file)[0]


def typed_places(args, file=None):
    "(answers, positions of the chosen objects on the screen, or None where the file does not hold them)."
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
    "Print a line on the error stream if no answers connect some groups of objects."
    from comparison_hc.comparisons import comparison_components, warn_if_disconnected

    with warnings_to_stderr():
        warn_if_disconnected(comparison_components(answers), answers.object_names)
