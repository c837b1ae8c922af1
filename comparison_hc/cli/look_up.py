"The commands `data`, `check` and `reproduce`."

import shlex
import sys
import textwrap
from pathlib import Path

from ..core.io import check_destination
from ..core.parallel import check_workers
from ..core.screen import say
from ..core.validation import require


def add_data(commands):
    "The words of `data`."
    data = commands.add_parser(
        "data",
        help="list the data sets, describe one, or write its answers",
        description="List the data sets, or describe one; with --out, also write its answers.",
    )
    data.add_argument("name", nargs="?", metavar="NAME", help="for example car, zoo, food, animals")
    where = "write the triplets there, with names, as `cluster` reads them: a sample file"
    data.add_argument("--out", metavar="ANSWERS.csv", help=where)
    data.set_defaults(run=data_command)


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
    "A table on the screen, whole."
    import pandas as pd

    wide = ("display.width", 200, "display.max_columns", None, "display.max_rows", None, "display.max_colwidth", 40)
    with pd.option_context(*wide):
        print(table.to_string(index=False))


def add_check(commands):
    "The words of `check`."
    check = commands.add_parser("check", help="run the theorems' checks", description="Run the theorems' checks.")
    check.add_argument("label", nargs="?", metavar="LABEL", help="only checks whose paper or label contains this")
    check.add_argument("--full", action="store_true", help="the long version of each check")
    check.add_argument(
        "--errata", action="store_true", help="list what the papers print that does not hold; runs nothing"
    )
    check.set_defaults(run=check_command)


def check_command(args):
    "Run the theorem checks whose label contains the words; say which hold."
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
    "Every erratum: what is printed, what holds, and the check that shows it."
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
    "The words of `reproduce`."
    figure = commands.add_parser(
        "reproduce",
        help="redo a figure of a paper, or list the figures",
        description="Redo a figure: all runs, the claims with their verdicts, the summary and the picture. "
        "Interrupted, the same command continues.",
    )
    figure.add_argument("name", nargs="?", metavar="NAME", help="such as f19-fig2; without it, the figures are listed")
    figure.add_argument("--quick", action="store_true", help="a small setting, under two minutes; default: the paper's")
    workers = "workers (default: -1, one per core); results do not depend on it"
    figure.add_argument("--jobs", type=int, default=-1, metavar="N", help=workers)
    where = "where the journal and the results go (default: ./reproductions)"
    figure.add_argument("--folder", default="reproductions", metavar="FOLDER", help=where)
    figure.set_defaults(run=reproduce_command)


def reproduce_command(args):
    "List the figures, or redo one: its claims on the screen, its summary and its picture in the folder."
    from comparison_hc.core.io import is_file_name
    from comparison_hc.reproduce.claims import find_reproductions, reproduce
    from comparison_hc.reproduce.experiments import ExperimentError

    if args.name is None:
        return _list_reproductions(find_reproductions())
    check_workers(args.jobs, "--jobs")
    require(is_file_name(args.folder), "--folder", "the name of a folder", args.folder)
    journal = Path(args.folder) / f"{args.name}.jsonl"
    try:
        done = reproduce(args.name, args.quick, args.folder, args.jobs, progress=sys.stderr.isatty() or None)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; finished runs are in {journal}, the same command continues") from None
    except ExperimentError as error:
        print(f"comparison-hc: {error}", file=sys.stderr)
        return 1
    print(done.claims())
    _write_reproduced(done, Path(args.folder))


def _list_reproductions(reproductions):
    "A line a figure; with the hours of the full run where a checkout knows them."
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
    "Files of a reproduction; a full one also goes where the checkout keeps results."
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
