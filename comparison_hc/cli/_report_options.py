"Options of a report: size, direction and pictures; and the record of how a result was made."

import shlex
import sys
from dataclasses import replace
from pathlib import Path

from ..core._tables import existing_file
from ..core.images import check_image_folder, images_from_folder
from ..core.plotting import SIDES, TreeStyle
from ..core.validation import InputError, require
from ..evaluation.object_tables import read_annotations, read_tree
from ..evaluation.report import FIGURES
from .options import adder


def add_report_options(parser):
    "Add the options about pictures and the page."
    option = adder(parser, "report")
    option("--images", metavar="FOLDER")
    option("--people", metavar="TABLE.csv")
    option("--annotate", metavar="TABLE")
    option("--width", type=int, metavar="PIXELS")
    option("--height", type=int, metavar="PIXELS")
    option("--figure", choices=FIGURES, default="tree")
    option("--against", metavar="TREE.nwk")
    option("--unfold", action="store_true")
    option("--orientation", choices=SIDES, default="left")


def check_report_options(args):
    "The style of the pictures, checked before long work begins. Raises `InputError`."
    if args.images is not None:
        check_image_folder(args.images)
    if args.people is not None:
        _read_people(args.people)
    if args.annotate is not None:
        existing_file(args.annotate, "--annotate")
    if args.against is not None:
        existing_file(args.against, "--against")
    require(args.figure != "tanglegram" or args.against, "--against", "given with --figure tanglegram", args.against)
    return TreeStyle(args.width, args.height, args.orientation, args.unfold)


def _read_people(path):
    import pandas as pd

    rule = "a table that `comparison-hc people` wrote, with the columns person, answers and agreement"
    try:
        table = pd.read_csv(existing_file(path, "--people"), dtype={"person": str})
    except (ValueError, UnicodeError) as error:
        raise InputError(f"--people must be {rule}; got {path}: {error}".splitlines()[0]) from None
    require({"person", "answers", "agreement"} <= set(table.columns), "--people", rule, list(table.columns))
    return table


def record_of(path, words=None):
    "How a result was made: command, version, SHA-256 of the data file."
    from hashlib import sha256

    from comparison_hc import __version__

    paths = [Path(one) for one in (path if isinstance(path, list) else [path])]
    files = [file for one in paths for file in ([one] if one.is_file() else sorted(one.rglob("*"))) if file.is_file()]
    digest = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    command = shlex.join(["comparison-hc", *map(str, sys.argv[1:] if words is None else words)])
    return {"command": command, "version": __version__, "sha256": digest}


def with_provenance(result, args):
    "The result with all that the options add to its report. Raises `InputError`."
    known = {"provenance": (result.provenance or {}) | record_of(args.file, getattr(args, "words", None))}
    if hasattr(result, "style"):
        known["style"] = check_report_options(args)
        known["against"] = None if args.against is None else read_tree(args.against, result.names)
        known["annotations"] = None if args.annotate is None else read_annotations(args.annotate, result.names)
    if args.people is not None:
        known["people"] = _read_people(args.people)
    if args.images is not None:
        known["images"], missing, others = images_from_folder(args.images, result.names)
        note = f"{len(known['images']):,} of {len(result.names):,} objects"
        for found, what in ((missing, "none of"), (others, "no object has the name of")):
            if found:
                more = f" and {len(found) - 5:,} others" if len(found) > 5 else ""
                note += f"; {what} {', '.join(found[:5])}{more}"
        known["notes"] = result.notes | {"pictures": note}
    return replace(result, **known)
