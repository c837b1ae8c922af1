"""List, begin, generate and grade assignments from the command line."""

from ..core.screen import say


def add_classroom(commands):
    "Add the command `classroom`, with a command of its own for each step."
    from comparison_hc.cli.options import add_command

    classroom, _ = add_command(commands, "classroom", list_command)
    words = classroom.add_subparsers(dest="word", metavar="WORD", required=True)
    words.add_parser("list", help="list the assignments of the package").set_defaults(run=list_command)
    make = words.add_parser("generate", help="write a course for nbgrader, with student versions and instructor pages")
    make.add_argument("folder", metavar="FOLDER", help="folder of the course, created if it does not exist")
    which = "generate only this assignment, or that of a source notebook; may be repeated"
    make.add_argument("--assignment", action="append", metavar="NAME", help=which)
    make.set_defaults(run=generate_command)
    about = "grade submissions with nbgrader; after an interruption, the same command continues"
    mark = words.add_parser("grade", help=about)
    mark.add_argument("folder", metavar="FOLDER", help="folder of the course, with submitted/STUDENT/NAME/NAME.ipynb")
    mark.add_argument("--assignment", required=True, metavar="NAME", help="name of the assignment")
    mark.set_defaults(run=grade_command)
    begin = words.add_parser("new", help="begin an assignment of your own: a notebook and its module")
    begin.add_argument("name", metavar="NAME", help="name of the assignment: lower-case words joined by hyphens")
    begin.add_argument("--folder", default=".", metavar="FOLDER", help="folder of the new files (default: this one)")
    begin.set_defaults(run=new_command)


def list_command(args):
    "The assignments with their points."
    from .checking import find_assignment, list_assignments

    for name in list_assignments():
        found = find_assignment(name)
        print(f"{name:32} {found.title} ({len(found.parts)} parts, {found.points} points)")


def generate_command(args):
    "Write a course."
    from .grading import generate

    for path in generate(args.folder, args.assignment):
        say(str(path))


def grade_command(args):
    "Grade a class."
    from ..core.parallel import command_bar
    from .grading import grade

    with command_bar("submissions") as bar:
        table = grade(args.folder, args.assignment, bar)
    print(table[["points", "remarks"]].to_string())
    say(f"{len(table)} graded; points in {args.folder}/{args.assignment}.csv, pages in {args.folder}/feedback")


def new_command(args):
    "Begin an assignment."
    from .source import new_assignment

    for path in new_assignment(args.name, args.folder):
        say(str(path))
