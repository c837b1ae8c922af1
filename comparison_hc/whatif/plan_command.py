"""Its words, the page with curve and advice, a folder of question lists, and the answers that come back."""

from __future__ import annotations

import shlex
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.io import is_file_name
from ..core.parallel import check_workers, command_bar
from ..core.screen import say
from ..core.validation import MissingFileError, check_integer, require, visible_line, visible_text
from ..evaluation.object_tables import read_names

if TYPE_CHECKING:
    from .study import StudyPlan


def noise_chart(plan):
    "AARI of the recommended study, by the probability of a response error."
    import altair as alt

    from comparison_hc.core.charts import COLOURS, mean_layers, threshold
    from comparison_hc.whatif.needs import mean_and_ends
    from comparison_hc.whatif.study import noise_curve

    noises, values = noise_curve(plan)
    points = zip(noises.tolist(), *(each.tolist() for each in mean_and_ends(values)))
    rows = [dict(noise=x, mean=mean, low=low, high=high) for x, mean, low, high in points]
    title = "AARI, mean and 95% interval"
    x = alt.X("noise:Q", title="probability of a response error").axis(format="%")
    y = alt.Y("mean:Q", title=title).scale(zero=False)
    colour = alt.value(COLOURS[0])
    layers = mean_layers(alt.InlineData(values=rows), x, y, colour, line=dict(point=True))
    lines = alt.InlineData(values=[dict(target=plan.target, noise=plan.slips.noise)])
    layers += [threshold(lines, y=alt.Y("target:Q", title=title)), threshold(lines, x="noise:Q")]
    return alt.layer(*layers).properties(width=320, height=200)


def designs_in_words(plan):
    "All designs and methods at the budget, as a reader sees them."
    from comparison_hc.whatif.study import design_table

    heads = dict(aari="AARI", low="from", high="to", reached=f"share of studies with {plan.target:g}")
    return design_table(plan).round(2).rename(columns=heads)


def plan_page(plan: StudyPlan, words: str = "") -> str:
    """Write the advice with its pictures as one self-contained page.

    Parameters
    ----------
    plan : StudyPlan
        Result of `plan_study`.
    words : str, default ""
        Command that repeats the plan.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from comparison_hc.whatif import plan_page, plan_study
    >>> plan = plan_study(8, people=4, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> plan_page(plan).count("<svg")
    2
    """
    from comparison_hc.evaluation.report import lines_html, table_html
    from comparison_hc.whatif.needs import interval_words
    from comparison_hc.whatif.study import assumptions, listed_design, plan_chart, plan_sentences
    from comparison_hc.whatif.sweep import figure_html, page_of

    listed = listed_design(plan)
    chosen = "The question lists are for the recommended design."
    if listed != plan.design:
        chosen = f"The recommended questions follow from the answers; the lists are those of {listed}."
    caption = f"Means of {plan.n_repetitions} simulated studies; dashed: the target, dotted: your {plan.people} people."
    by_noise = "The recommended study by the probability of a response error; dotted: the assumed one."
    steps = [
        ("ask", "comparison-hc ask --list questions/p01.csv"),
        ("ask in a browser", "comparison-hc ask --list questions --browser (ITEMS: a folder of pictures)"),
        ("collect", "comparison-hc plan --collect FOLDER"),
        ("build", f"comparison-hc cluster answers.csv --respondent respondent --method {plan.method} --out tree.html"),
        ("judge", "comparison-hc people answers.csv --respondent respondent"),
    ]
    if listed != plan.design:
        steps.insert(0, ("ask adaptively", "comparison-hc ask names.txt --person p01 (names.txt: an object a line)"))
    sections = [
        "".join(f"<p>{escape(text)}</p>" for text in plan_sentences(plan)),
        figure_html(plan_chart(plan), caption),
        "<h2>Designs</h2>",
        table_html(designs_in_words(plan)),
        f"<p>{escape(interval_words())}.</p>",
        f"<p>{escape(chosen)}</p>",
        "<h2>How noisy the crowd may be</h2>",
        figure_html(noise_chart(plan), by_noise),
        "<h2>What was assumed</h2>",
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in assumptions(plan)) + "</ul>",
        "<h2>What to do next</h2>",
        lines_html(steps),
        lines_html([("made by", words)]) if words else "",
    ]
    return page_of(f"A study of {len(plan.names)} objects with {plan.people} people", sections)


RUNS = "runs.jsonl"  # the journal of the simulation, in the study's folder


def write_plan(plan: StudyPlan, folder: str | Path, words: str = "") -> list[Path]:
    """Write the page, the runs and the lists into a folder.

    Parameters
    ----------
    plan : StudyPlan
        Result of `plan_study`.
    folder : str or Path
        Made if it is not there.
    words : str, default ""
        As for `plan_page`.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InputError
        Where answers, or the lists of another plan, are there already.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from comparison_hc.whatif import plan_study, write_plan
    >>> plan = plan_study(8, people=2, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_plan(plan, folder)]
    ['plan.html', 'runs.csv', 'p1.csv', 'p2.csv']
    """
    from comparison_hc.core.io import atomic_write
    from comparison_hc.whatif.study import plan_lists

    folder = check_folder(folder, plan.people)
    lists = folder / "questions"
    lists.mkdir(parents=True, exist_ok=True)
    paths = [folder / "plan.html", folder / "runs.csv"]
    atomic_write(paths[0], visible_text(plan_page(plan, words)))
    atomic_write(paths[1], plan.runs.to_csv(index=False))
    for person, frame in plan_lists(plan).items():
        paths.append(lists / f"{person}.csv")
        atomic_write(paths[-1], frame.to_csv(index=False, lineterminator="\n"))
    return paths


def check_folder(folder, people):
    "A place for a new study: lists that a person has begun to answer are not replaced. Raises `InputError`."
    require(is_file_name(folder), "--out", "the name of a folder", folder)
    folder = Path(folder)
    require(not folder.exists() or folder.is_dir(), "--out", "a folder", str(folder))
    require(folder.absolute().parent.is_dir(), "--out", "in an existing folder", str(folder))
    begun = sorted((folder / "questions").glob("*.jsonl"))
    rule = "a folder without answers: a new plan would change the questions that they belong to"
    require(not begun, "--out", rule, str(begun[0]) if begun else "")
    from comparison_hc.whatif.lists import people_names

    own = {f"{name}.csv" for name in people_names(people)}
    other = sorted(path for path in (folder / "questions").glob("*.csv") if path.name not in own)
    rule = "a folder without another plan's lists: nobody could tell them apart"
    require(not other, "--out", rule, str(other[0]) if other else "")
    return folder


def collect_study(folder):
    "The answers of all people in one table. Raises `InputError`."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.export import answers_text
    from comparison_hc.elicitation.trial_list import collect_answers

    folder = Path(folder)
    beside = [path for path in sorted(folder.glob("*.jsonl")) if path.name != RUNS]
    journals = sorted((folder / "questions").glob("*.jsonl")) or beside
    if not journals:
        raise MissingFileError(f"--collect must be a folder with answers to question lists; got {str(folder)!r}")
    answers, people = collect_answers(journals)
    path = folder / "answers.csv"
    atomic_write(path, answers_text(answers))
    return path, people


OPTIONS = {  # metavar, type, default
    "objects": ("N|NAMES", str, None),
    "people": ("N", int, 20),
    "minutes": ("X", float, 15.0),
    "noise": ("P", float, None),
    "seconds-per-answer": ("X", float, 6.0),
    "accuracy": ("X", float, 0.8),
    "design": ("NAMES", str, None),
    "delta-over-sigma": ("X", float, 2.0),
    "levels": ("N", int, None),
    "repeat": ("N", int, None),
    "seed": ("N", int, 0),
    "jobs": ("N", int, -1),
    "journal": ("FILE", str, None),
    "out": ("FOLDER", str, None),
    "collect": ("FOLDER", str, None),
}


def add_plan(commands):
    "Add the command `plan`."
    from comparison_hc.cli.options import add_command
    from comparison_hc.cli._reading import add_reading

    plan, option = add_command(commands, "plan", plan_command)
    for name, (metavar, kind, default) in OPTIONS.items():
        option(f"--{name}", metavar=metavar, type=kind, default=default)
    option("--exact", action="store_true")
    option("--pilot", metavar="FILE", nargs="+")
    option("--kind", choices=["triplets", "central", "odd-one-out"], default="triplets")
    option("--pilot-design", choices=["adaptive", "grid"])
    add_reading(plan, kind=False)


def plan_command(args):
    "Plan a study, or collect its answers."
    from comparison_hc.whatif.needs import interval_words
    from comparison_hc.whatif.study import assumptions, plan_sentences, plan_study

    if args.collect is not None:
        return _collect(args)
    arguments = _arguments(args)
    journal = arguments["journal"]
    if args.out is not None:
        Path(args.out).mkdir(exist_ok=True)
    try:
        with command_bar("runs") as progress:
            plan = plan_study(**arguments, progress=progress)
    except KeyboardInterrupt:
        kept = f"finished runs are in {journal}, the same command continues"
        lost = "nothing was kept: with --out FOLDER or --journal FILE the same command would continue"
        raise KeyboardInterrupt(f"interrupted; {kept if journal else lost}") from None
    for sentence in plan_sentences(plan):
        print(sentence)
    print(f"\n{designs_in_words(plan).to_string(index=False)}\n{interval_words()}\n")
    for text in assumptions(plan):
        print(f"- {text}")
    if args.out:
        paths = write_plan(plan, args.out, shlex.join(["comparison-hc", *getattr(args, "words", [])]))
        say(f"\nwrote {paths[0]}, {paths[1]} and {len(paths) - 2} question lists in {paths[2].parent}")


def _collect(args):
    "The answers that came back."
    from comparison_hc.elicitation.trial_list import readable_checks

    path, people = collect_study(args.collect)
    say(readable_checks(people).to_string(index=False))
    say(f"\nwrote {path}: comparison-hc cluster {path} --respondent respondent")


def _arguments(args):
    "The arguments of `plan_study`, which refuses what is wrong with them; here is what only a command can get wrong."
    from comparison_hc.core.io import journal_path

    check_workers(args.jobs, "--jobs")
    if args.repeat is not None:
        check_integer(args.repeat, "--repeat", 2, 1000)
    require(not (args.exact and args.repeat), "--repeat", "left out with --exact", args.repeat)
    check_integer(args.people, "--people", 1, 10_000)
    folder = None if args.out is None else check_folder(args.out, args.people)
    if args.journal is not None:
        journal_path(args.journal, "--journal")
    pilot = _pilot(args)
    for name in ("columns", "respondent", "answer", "weight", "where", "missing", "format", "records", "pilot_design"):
        option = f"--{name.replace('_', '-')}"
        require(not getattr(args, name) or pilot is not None, option, "left out without --pilot", getattr(args, name))
    same = ("people", "minutes", "noise", "seconds_per_answer", "delta_over_sigma", "seed")
    design = {} if args.design is None else dict(designs=[name.strip() for name in args.design.split(",")])
    return {name: getattr(args, name) for name in same} | dict(
        objects=_objects(args.objects, pilot),
        pilot=pilot,
        pilot_design=args.pilot_design or args.kind,
        target=args.accuracy,
        n_levels=args.levels,
        repeat=(50 if args.exact else 8) if args.repeat is None else args.repeat,
        n_jobs=args.jobs,
        journal=args.journal or (None if folder is None else str(folder / RUNS)),
        **design,
    )


def _objects(words, pilot):
    "A number, names from a file, or those of the pilot."
    if words is None:
        require(pilot is not None, "--objects", "given where there is no pilot", None)
        return None
    if not words.isdecimal():
        return read_names(words)
    if pilot is not None and pilot.n_objects == int(words):
        return None  # the pilot's own names
    return int(words)


def _pilot(args):
    "The answers of a pilot, or None."
    from comparison_hc.cli._reading import typed_answers

    if args.pilot is None:
        return None
    pilot = typed_answers(args, args.pilot[0] if len(args.pilot) == 1 else args.pilot)
    say(f"read: {visible_line(str(pilot.reading))}\n")
    return pilot
