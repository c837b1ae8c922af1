"""The command `whatif`: options of each model, printed conclusions and files."""

from ..core.parallel import check_workers, command_bar
from ..core.screen import say
from ..core.validation import check_integer, check_number
from .models import MODELS, chosen_values, sweep_settings


def option_name(name):
    "As it is typed."
    return f"--{name.replace('_', '-')}"


def _default(value):
    "A default as help; one that follows from other values says how in its docstring."
    if callable(value):
        return value.__doc__
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _help(parameter):
    "What a parameter is, and its defaults."
    said = [] if parameter.quick is None else [f"default: {_default(parameter.quick)}"]
    said += [] if parameter.exact is None else [f"--exact: {_default(parameter.exact)}"]
    defaults = f" ({'; '.join(said)})" if said else ""
    return f"{parameter.help}{defaults}".replace("%", "%%")


def add_whatif(commands):
    "Add the command `whatif`, with a command of its own for each model."
    from comparison_hc.cli.options import add_command, adder

    command, _ = add_command(commands, "whatif", whatif_command)
    models = command.add_subparsers(dest="model", required=True, metavar="MODEL")
    for model in MODELS.values():
        words = models.add_parser(
            model.name,
            help=model.title,
            description=f"What if: {model.title}. Values are single (8), several (0.01,0.1), a range with both ends "
            "(0.5:2:0.25) or one that multiplies (100:1600:x2).",
        )
        for each in model.parameters:
            words.add_argument(option_name(each.name), metavar="VALUES", help=_help(each))
        option = adder(words, "whatif", repeat=model.repeat, measure=model.measure_label, target=model.target)
        option("--repeat", type=int, metavar="N")
        option("--exact", action="store_true")
        if model.target is not None:
            option("--target", type=float, metavar="X")
        option("--seed", type=int, default=0, metavar="N")
        option("--jobs", type=int, default=-1, metavar="N")
        option("--journal", metavar="FILE")
        option("--out", action="append", default=[], metavar="PATH")


def check_words(args):
    "Everything that can be wrong before the first run, by the names that were typed. Raises `InputError`."
    from comparison_hc.core.io import journal_path
    from comparison_hc.evaluation.outputs import check_overwriting
    from comparison_hc.whatif.sweep import check_sweep_file

    model = MODELS[args.model]
    given = {each.name: getattr(args, each.name) for each in model.parameters if getattr(args, each.name) is not None}
    values, _ = chosen_values(model, given, args.exact, option_name)
    sweep_settings(model, values)
    if args.repeat is not None:
        check_integer(args.repeat, "--repeat", 1, 10_000)
    if getattr(args, "target", None) is not None:
        check_number(args.target, "--target", 0, 1, open_low=True)
    check_workers(args.jobs, "--jobs")
    for path in args.out:
        check_sweep_file(path)
    check_overwriting((), [("--out", path) for path in args.out])
    if args.journal is not None:
        journal_path(args.journal, "--journal")
        check_overwriting([("--journal", args.journal)], [("--out", path) for path in args.out])
    return given


def whatif_command(args):
    "Make the sweep, say what it means, write the files."
    from comparison_hc.whatif.sweep import whatif

    given, target = check_words(args), getattr(args, "target", None)
    try:
        with command_bar("runs") as progress:
            found = whatif(
                args.model, args.repeat, args.exact, target, args.seed, args.jobs, args.journal, progress, **given
            )
    except KeyboardInterrupt:
        kept = f"finished runs are in {args.journal}, the same command continues"
        lost = "nothing was kept: with --journal FILE the same command would continue"
        raise KeyboardInterrupt(f"interrupted; {kept if args.journal else lost}") from None
    print_whatif(found)
    for path in args.out:
        say(f"wrote {found.save(path)}")


def print_whatif(found):
    "Sentences, means, and what was chosen for the reader."
    import pandas as pd

    from comparison_hc.whatif.needs import interval_words
    from comparison_hc.whatif.sweep import means_in_words

    for sentence in found.sentences():
        print(sentence)
    wide = ("display.width", 200, "display.max_columns", None, "display.max_rows", 60)
    with pd.option_context(*wide):
        words = interval_words(found.model.measure, found.model.measure_label)
        print(f"\n{means_in_words(found).to_string(index=False)}\n{words}\n")
    for text in found.said:
        print(f"smaller: {text}" if "instead" in text else text)
    if found.said:
        print("--exact takes the paper's sizes, --repeat a number of repetitions.")
    print(f"the same runs again: {found.again}")
