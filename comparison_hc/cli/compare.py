"The command `compare`: a table of methods, each judged by answers that it has not seen."

from ..core.parallel import command_bar
from ..core.validation import check_integer, require, visible_line
from ._options import one_line
from ..evaluation.outputs import check_files
from ..core.screen import say, warnings_to_stderr
from ._reading import add_files, add_reading, files_of, say_if_disconnected, typed_answers

COMPARE_HELP = {
    "splits": "how often answers are held out (default: 5); intervals need at least 3",
    "embeddings": "also t-STE, FORTE and SOE: points, and average linkage on them (slow)",
    "by": """what is held out together: people, or answers about the same objects (default: people where it is known who
        answered and they were asked about different objects, otherwise answers)""",
    "out": "write the table as CSV, a row a method",
    "seed": "seed of the splits and of the random starts (default: 0)",
    "sizes": """are there enough answers: one method, built from so many of them, such as 200,400,800; `all` for 1/8,
        1/4, 1/2 and all of those that are not held out""",
    "method": "with --sizes: which method (default: 3k-al)",
}


BY = {None: None, "people": True, "answers": False}


def add_compare(commands):
    "The words of `compare`."
    from comparison_hc.methods import passive_methods

    compare = commands.add_parser(
        "compare",
        help="which method suits these answers, by answers held out",
        description="Build trees from some of the answers with every direct method, and ask them about the others.",
    )
    add_files(compare, "the answers, as `cluster` reads them")

    def option(name, **settings):
        compare.add_argument(f"--{name}", help=one_line(COMPARE_HELP[name]), **settings)

    option("splits", type=int, default=5, metavar="N")
    option("embeddings", action="store_true")
    option("by", choices=["people", "answers"])
    option("out", metavar="TABLE.csv")
    option("seed", type=int, default=0)
    option("sizes", metavar="M,M,…")
    option("method", choices=passive_methods())
    add_reading(compare)
    compare.set_defaults(run=compare_command)


def compare_command(args):
    "Read the answers, compare the methods, print the table and what it says, write the file."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.evaluation._candidates import candidate_names
    from comparison_hc.evaluation.model_selection import compare_methods

    check_integer(args.splits, "--splits")
    check_files(args, [*files_of(args), ("--objects", args.objects)], (".csv",))
    answers = typed_answers(args)
    rule = "answers where the file does not say who gave them (--respondent names the column)"
    require(args.by != "people" or answers.respondents is not None, "--by", rule, args.by)
    say_if_disconnected(answers)
    require(args.method is None or args.sizes, "--method", "together with --sizes; else all are compared", args.method)
    if args.sizes:
        return _print_curve(args, answers)
    names = candidate_names(answers.kind, args.embeddings)
    with warnings_to_stderr(), command_bar("trees") as progress:
        found = compare_methods(answers, names, args.splits, people=BY[args.by], rng=args.seed, progress=progress)
    args.interrupted = found.interrupted
    if args.out:
        atomic_write(args.out, found.table.drop(columns="tree").to_csv())
    print(found.shown().to_string(index=False))
    for sentence in found.sentences():
        print(f"\n{sentence}")
    say(f"\nread: {visible_line(str(answers.reading))}")
    if args.out:
        say(f"\nwrote {args.out}")


def _print_curve(args, answers):
    "The learning curve of one method, its price list and what it says."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.evaluation.model_selection import curve_lines, learning_curve
    from comparison_hc.metrics import noise_ceiling

    require(not args.embeddings, "--sizes", "without --embeddings: it is about one method", args.sizes)
    texts = args.sizes.split(",")
    numbers = [int(text) for text in texts if text.strip().isdecimal()]
    rule = "whole numbers with commas between them, such as 200,400,800, or `all`"
    require(args.sizes == "all" or len(numbers) == len(texts), "--sizes", rule, args.sizes)
    sizes, method = None if args.sizes == "all" else numbers, args.method or "3k-al"
    with warnings_to_stderr(), command_bar("trees") as progress:
        curve = learning_curve(answers, sizes, method, args.splits, args.seed, BY[args.by], progress)
    if args.out:
        atomic_write(args.out, curve.to_csv(index=False))
    say("\n".join([f"{method}, {args.splits} splits", *curve_lines(curve, noise_ceiling(answers))]))
    say(f"read: {visible_line(str(answers.reading))}")
    if args.out:
        say(f"wrote {args.out}")
