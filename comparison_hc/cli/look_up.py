"The commands `data`, `check` and `reproduce`."

import shlex
import sys
import textwrap
from pathlib import Path

from ..core.io import check_destination
from ..core.parallel import check_workers
from ..core.screen import say
from ..core.validation import require
from .options import add_command


def add_data(commands):
    "Add the command `data`."
    _, option = add_command(commands, "data", data_command)
    option("name", nargs="?", metavar="NAME")
    option("--out", metavar="ANSWERS.csv")


def data_command(args):
    "List the data sets, or describe one."
    from comparison_hc.datasets import list_datasets, load_dataset

    require(args.out is None or args.name is not None, "--out", "given together with NAME", args.out)
    if args.out is not None:
        check_destination(args.out, "--out", (".csv",))
    if args.name is None:
        return _print_datasets(list_datasets()[["name", "objects", "comparisons", "features", "classes", "where"]])
    data = load_dataset(args.name)
    print(repr(data))
    print("source:", data.source)
    print("terms: ", data.terms)
    if data.comparisons is not None:
        print(data.triplets.summary())
    if args.out is not None:
        require(data.comparisons is not None, "NAME", "a data set with answers", args.name)
        data.triplets.to_csv(args.out)
        print(f"wrote {args.out}; now: {shlex.join(['comparison-hc', 'cluster', args.out])}")


def _print_datasets(table):
    "Print a table without leaving out columns."
    import pandas as pd

    wide = ("display.width", 200, "display.max_columns", None, "display.max_rows", None, "display.max_colwidth", 40)
    with pd.option_context(*wide):
        print(table.to_string(index=False))


def add_check(commands):
    "Add the command `check`."
    _, option = add_command(commands, "check", check_command)
    option("label", nargs="?", metavar="LABEL")
    option("--full", action="store_true")
    option("--errata", action="store_true")


def check_command(args):
    "Run the theorem checks whose label contains the text and print which hold."
    from comparison_hc.checks import find_checks, run_checks
    from comparison_hc.reproduce.l20_tasks import bring_pictures

    if args.errata:
        require(not args.full, "--errata", "without --full: it runs nothing", "--errata")
        return _print_errata(args.label)
    find_checks()
    bring_pictures()  # after all are known, so that they stay in the papers' order
    checks = run_checks(args.label, quick=not args.full)
    for check in checks:
        verdict = "holds" if check.holds else "FAILS"
        kind = f"{check.kind}: {check.promise}" if check.promise else check.kind
        print(f"{verdict}  {check.paper} {check.label}  (margin {check.margin:.3g}, {kind})")
    print(f"{sum(check.holds for check in checks)} of {len(checks)} checks hold")
    return 0 if all(check.holds for check in checks) else 1


def _print_errata(label):
    "Print every erratum: the printed statement, the correct one, and the check that confirms it."
    from comparison_hc.checks import errata

    table = errata(label)
    for row in table.itertuples():
        grade = row.grade.lower() or "not graded"
        print(f"{row.paper} {row.label} ({grade})")
        for head, text in (("printed", row.printed), ("right", row.right), ("check", row.check)):
            print(textwrap.fill(text, 100, initial_indent=f"  {head + ':':9}", subsequent_indent=" " * 11))
    print(f"{len(table)} {'erratum' if len(table) == 1 else 'errata'}")
    return 0


def add_reproduce(commands):
    "Add the command `reproduce`."
    _, option = add_command(commands, "reproduce", reproduce_command)
    option("name", nargs="?", metavar="NAME")
    option("--quick", action="store_true")
    option("--jobs", type=int, default=-1, metavar="N")
    option("--folder", default="reproductions", metavar="FOLDER")


def reproduce_command(args):
    "List the figures, or compute one: print its claims, and write its summary and its picture."
    from comparison_hc.core.io import is_file_name
    from comparison_hc.reproduce.claims import find_reproductions, reproduce

    if args.name is None:
        return _list_reproductions(find_reproductions())
    check_workers(args.jobs, "--jobs")
    require(is_file_name(args.folder), "--folder", "the name of a folder", args.folder)
    journal = Path(args.folder) / f"{args.name}.jsonl"
    try:
        done = reproduce(args.name, args.quick, args.folder, args.jobs, progress=sys.stderr.isatty() or None)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; finished runs are in {journal}, the same command continues") from None
    print(done.claims())
    _write_reproduced(done, Path(args.folder))


def _list_reproductions(reproductions):
    "Print one line per figure, with the hours of its full run where they are stored."
    from comparison_hc.reproduce.claims import ResultsNotFoundError, load_results

    try:
        hours = load_results("times").set_index("name")["hours"].to_dict()
    except (ResultsNotFoundError, KeyError, ValueError):
        hours = {}  # none, or a damaged one: the list is worth more than its hours
    for name, r in reproductions.items():
        took = f", {_hours_text(hours[name])} of one core" if name in hours else ""
        runs = f"{len(r.quick_grid)} runs quick, {len(r.full_grid)} full{took}"
        print(f"{name:<16} {r.paper}, {r.figure}: {r.title} ({runs})")


def _hours_text(hours):
    "Hours, or minutes where that is less than one."
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.2g} minutes"


def _write_reproduced(done, folder):
    "Write the files of a reproduction; a full one also goes to the stored results of a checkout."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.reproduce.claims import results_folder, save_results, save_time

    name = done.reproduction.name + "-quick" * done.quick
    paths = [save_results(name, done.summary, folder)]
    if done.reproduction.chart is not None:
        from comparison_hc.core.plotting import convert_chart

        paths.append(folder / f"{name}.svg")
        atomic_write(paths[-1], convert_chart(done.chart(), "svg"))
    if not done.quick and results_folder().is_dir():
        paths += [save_results(name, done.summary), save_time(done)]
    for path in paths:
        say(f"wrote {path}")
