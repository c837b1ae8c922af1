"The command `compare`: a table of methods and their predictions of held-out answers."

from contextlib import suppress

from ..core.parallel import command_bar
from ..core.validation import check_integer, require, visible_line
from .options import add_command
from ..core.io import check_destination
from ..evaluation.outputs import check_files
from ..core.screen import say, warnings_to_stderr
from ._reading import add_files, add_reading, files_of, say_if_disconnected, typed_answers

MOST_FOR_SHAPE = 20_000  # answers, in the quick table
MANY_FOR_SHAPE = 200  # objects: above it the additive trees take longer than all methods together
BY = {None: None, "people": True, "answers": False}


def add_compare(commands):
    "Add the command `compare`."
    from comparison_hc.methods import passive_methods

    compare, option = add_command(commands, "compare", compare_command)
    add_files(option)
    option("--splits", type=int, default=5, metavar="N")
    option("--embeddings", action="store_true")
    option("--by", choices=["people", "answers"])
    option("--out", metavar="TABLE.csv")
    option("--shape", choices=["quick", "full", "no"], default="quick")
    option("--shape-out", metavar="TABLE.csv")
    option("--seed", type=int, default=0)
    option("--sizes", metavar="M,M,…")
    option("--method", choices=passive_methods())
    add_reading(compare)


def compare_command(args):
    "Read the answers, compare the methods, print the table and its conclusions, and write the file."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.evaluation._candidates import MANY_OBJECTS, TOO_MANY, candidate_names, task_size
    from comparison_hc.evaluation.model_selection import compare_methods

    check_integer(args.splits, "--splits")
    check_files(args, [*files_of(args), ("--objects", args.objects)], (".csv",))
    if args.shape_out:
        check_destination(args.shape_out, "--shape-out", (".csv", ".json"))
        require(
            args.shape != "no" and not args.sizes, "--shape-out", "left out with --shape no and --sizes", args.shape
        )
    answers = typed_answers(args)
    rule = "answers for a file without respondents (--respondent names the column)"
    require(args.by != "people" or answers.respondents is not None, "--by", rule, args.by)
    say_if_disconnected(answers)
    require(args.method is None or args.sizes, "--method", "together with --sizes; else all are compared", args.method)
    if args.sizes:
        return _print_curve(args, answers)
    with suppress(BrokenPipeError):  # of a screen whose reader has gone: the file is still to be written
        _print_shape(args, answers)
    names = candidate_names(answers.kind, args.embeddings, task_size(answers), answers.n_objects)
    if answers.n_objects > MANY_OBJECTS:
        say(f"{TOO_MANY}\n")
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


def _print_shape(args, answers):
    "Print and write the table of shapes, its noise ceiling and its conclusion."
    import json

    import numpy as np

    from comparison_hc.core.io import atomic_write
    from comparison_hc.evaluation.shape import FEWEST_OBJECTS, FEWEST_QUESTIONS, answer_shape, known_kinds, n_questions

    if args.shape == "no":
        return
    if answers.n_objects < FEWEST_OBJECTS or n_questions(answers) < FEWEST_QUESTIONS:
        rule = f"at least {FEWEST_OBJECTS} objects and {FEWEST_QUESTIONS} different questions"
        require(not args.shape_out, "--shape-out", f"left out where there are not {rule}", args.shape_out)
        return say(f"shape of the answers: not tested; it takes {rule}\n")
    full, note = args.shape == "full", ""
    if not full and answers.n_objects > MANY_FOR_SHAPE:
        rule = f"more than {MANY_FOR_SHAPE} objects"
        require(not args.shape_out, "--shape-out", f"together with --shape full where there are {rule}", args.shape_out)
        return say(f"shape of the answers: not tested, which takes long for {rule} (--shape full does it)\n")
    some = answers
    if not full and len(answers) > MOST_FOR_SHAPE:
        rows = np.random.default_rng(args.seed).choice(len(answers), MOST_FOR_SHAPE, replace=False)
        some = answers.take(np.sort(rows))
        note = f" (of {MOST_FOR_SHAPE:,} answers drawn at random; --shape full takes all)"
    kinds = known_kinds(answers, BY[args.by])
    splits = max(args.splits, 3)
    with warnings_to_stderr(), command_bar("shapes") as progress:
        found = answer_shape(some, kinds if full else kinds[:1], splits, args.seed, progress)
    if args.shape_out:
        text = found.table.to_csv(index=False)
        if args.shape_out.lower().endswith(".json"):
            record = dict(shape=found.shape, sentence=found.sentence, ceiling=found.ceiling)
            rows = found.table.to_dict("records")
            text = json.dumps(record | dict(n_answers=found.n_answers, table=rows), indent=1, ensure_ascii=False) + "\n"
        atomic_write(args.shape_out, text)
    say(f"shape of the answers{note}")
    print(found.shown().to_string(index=False))
    say(f"{found.ceiling_sentence()}\n{found.sentence}\n")
    if args.shape_out:
        say(f"wrote {args.shape_out}\n")


def _print_curve(args, answers):
    "Print the learning curve of one method and its conclusions."
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
