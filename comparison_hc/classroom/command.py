"""List, generate, grade and begin assignments from the command line."""

import sys
from pathlib import Path

from ..core.screen import say
from ..core.validation import require, visible_line


def add_classroom(commands):
    "The words of `classroom`."
    room = commands.add_parser(
        "classroom",
        help="assignments: student versions, grading, one of your own",
        description="Assignments: student versions, grading, one of your own.",
    )
    words = room.add_subparsers(dest="word", metavar="WORD", required=True)
    words.add_parser("list", help="the assignments that come with the package").set_defaults(run=list_command)
    make = words.add_parser("generate", help="write student versions, sources for nbgrader, and instructor pages")
    make.add_argument("folder", metavar="FOLDER", help="the course's folder; made if it is not there")
    which = "only this assignment, or the path of a source notebook; may be repeated"
    make.add_argument("--assignment", action="append", metavar="NAME", help=which)
    make.set_defaults(run=generate_command)
    grade = words.add_parser("grade", help="grade a folder of submissions; the same command continues")
    grade.add_argument("folder", metavar="FOLDER", help="a notebook or a folder for each student")
    grade.add_argument(
        "--assignment", required=True, metavar="NAME", help="its name, or the path of its source notebook"
    )
    grade.add_argument("--out", metavar="FOLDER", help="where table and pages go (default: the class's folder)")
    grade.add_argument("--jobs", type=int, default=2, metavar="N", help="submissions at a time (default: 2)")
    grade.add_argument("--seconds", type=float, default=20, metavar="S", help="for one cell or call (default: 20)")
    grade.set_defaults(run=grade_command)
    begin = words.add_parser("new", help="begin an assignment of your own: a notebook and its module")
    begin.add_argument("name", metavar="NAME", help="lower-case words with - between")
    begin.add_argument("--folder", default=".", metavar="FOLDER", help="where (default: here)")
    begin.set_defaults(run=new_command)


def list_command(args):
    "The assignments with their points."
    from comparison_hc.classroom.checking import find_assignment, list_assignments

    for name in list_assignments():
        found = find_assignment(name)
        print(f"{name:32} {found.title} ({len(found.parts)} parts, {found.points} points)")


def generate_command(args):
    "Write a course."
    from comparison_hc.classroom.source import generate

    for path in generate(args.folder, args.assignment):
        say(str(path))


def grade_command(args):
    "Grade a class."
    from comparison_hc.classroom.sandbox import Limits, protections
    from comparison_hc.core.parallel import command_bar

    print(f"Submissions run with: {'; '.join(protections())}.", file=sys.stderr)
    source = _source_of(args.assignment)
    from comparison_hc.classroom.grading import grade_folder

    with command_bar("submissions") as bar:
        records = grade_folder(source, args.folder, args.out, args.jobs, Limits(seconds=args.seconds), bar)
    for record in records:
        print(f"{visible_line(record['student']):24} {record['points']:g}")
    say(f"{len(records)} graded; the table and the pages are in {args.out or args.folder}")


def _source_of(name):
    "The source notebook; modules beside it can be imported."
    from comparison_hc.classroom.source import find_source

    path = find_source(name)
    if Path(name).suffix == ".ipynb" and str(path.parent.resolve()) not in sys.path:
        sys.path.insert(0, str(path.parent.resolve()))
    return path


def new_command(args):
    "Begin an assignment."
    from comparison_hc.classroom.source import new_assignment

    require(args.name, "NAME", "a name", args.name)
    for path in new_assignment(args.name, args.folder):
        say(str(path))
