"""Its words, the page with curve and advice, a folder of question lists, and the answers that come back."""

import shlex
from html import escape
from pathlib import Path

from ..core.io import is_file_name
from ..core.parallel import command_bar
from ..core.screen import say
from ..core.validation import MissingFileError, check_integer, require, visible_line, visible_text
from ..evaluation.object_tables import read_names


def noise_chart(plan):
    "AARI of the recommended study, by how often people slip."
    import altair as alt

    from comparison_hc.core.charts import COLOURS, mean_layers, threshold
    from comparison_hc.whatif.needs import mean_and_ends
    from comparison_hc.whatif.study import noise_curve

    noises, values = noise_curve(plan)
    points = zip(noises.tolist(), *(each.tolist() for each in mean_and_ends(values)))
    rows = [dict(noise=x, mean=mean, low=low, high=high) for x, mean, low, high in points]
    title = "AARI, mean and 95% interval"
    x = alt.X("noise:Q", title="probability of a slip").axis(format="%")
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


def plan_page(plan, words=""):
    """The advice as one self-contained page.

    Parameters
    ----------
    plan
        `StudyPlan`.
    words
        The command that made it.

    Returns
    -------
    result
        HTML.
    """
    from comparison_hc.core.plotting import convert_chart
    from comparison_hc.evaluation.report import lines_html, static_text, table_html
    from comparison_hc.whatif.needs import interval_words
    from comparison_hc.whatif.report import page_of
    from comparison_hc.whatif.study import assumptions, listed_design, plan_chart, plan_sentences

    def figure(chart, caption):
        drawn = convert_chart(chart, "svg")
        return f"<figure><div class='scroll'>{drawn}</div><figcaption>{caption}</figcaption></figure>"

    listed = listed_design(plan)
    chosen = "The question lists are for the recommended design."
    if listed != plan.design:
        chosen = f"The recommended questions follow from the answers; the lists are those of {listed}."
    caption = f"Means of {plan.n_repetitions} simulated studies; dashed: the target, dotted: your {plan.people} people."
    by_noise = "The recommended study by how often people slip; dotted: what the plan reckons with."
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
        figure(plan_chart(plan), caption),
        "<h2>Designs</h2>",
        table_html(designs_in_words(plan)),
        f"<p>{escape(interval_words())}.</p>",
        f"<p>{escape(chosen)}</p>",
        "<h2>How noisy the crowd may be</h2>",
        figure(noise_chart(plan), by_noise),
        "<h2>What was assumed</h2>",
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in assumptions(plan)) + "</ul>",
        "<h2>What to do next</h2>",
        lines_html(steps),
        lines_html([("made by", words)]) if words else "",
    ]
    return page_of(f"A study of {len(plan.names)} objects with {plan.people} people", sections, static_text("page.css"))


RUNS = "runs.jsonl"  # the journal of the simulation, in the study's folder


def write_plan(plan, folder, words=""):
    """The page, the runs and the lists. Raises `InputError` where answers are there already.

    Parameters
    ----------
    plan
        `StudyPlan`.
    folder
        Made if it is not there.
    words
        As for `plan_page`.

    Returns
    -------
    result
        List of `Path`: what was written.
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


PLAN_HELP = {
    "objects": "how many objects, or a file with their names, one a line (default: those of the pilot)",
    "people": "how many people (default: 20)",
    "minutes": "that each of them has (default: 15)",
    "noise": "probability of a slip (default: from the pilot's repeated questions, else 0.15)",
    "seconds-per-answer": "that a question takes (default: 6)",
    "pilot": "answers that are there already, as `cluster` reads them",
    "kind": "what a row of the pilot says (default: triplets)",
    "pilot-design": "how the pilot was asked, if its rows do not say it: adaptive, or grid (pick the nearest of many)",
    "accuracy": "the AARI that is enough (default: 0.8)",
    "design": "designs to compare, with commas (default: all)",
    "delta-over-sigma": "how clear the groups are, where there is no pilot (default: 2)",
    "levels": "of the hidden tree, where there is no pilot (default: groups of about eight at the bottom)",
    "repeat": "simulated studies of each kind (default: 8)",
    "exact": "50 simulated studies of each kind",
    "seed": "other draws of everything (default: 0)",
    "jobs": "workers (default: -1, one a core); results do not depend on it",
    "journal": "keep finished runs in this file; interrupted, the same command continues (default: in --out)",
    "out": "write the page, the runs and a list of questions for each person into this folder",
    "collect": "no plan: put the answers of everybody in this study's folder into answers.csv",
}


def add_plan(commands):
    "The words of `plan`."
    from comparison_hc.cli._reading import add_reading

    plan = commands.add_parser(
        "plan",
        help="plan a study: what to ask, how many people, what it will reach",
        description="Simulate a study before it begins, say what to ask and whether it is enough, and write the lists.",
    )

    def option(name, **settings):
        plan.add_argument(f"--{name}", help=PLAN_HELP[name], **settings)

    option("objects", metavar="N|NAMES")
    option("people", type=int, default=20, metavar="N")
    option("minutes", type=float, default=15.0, metavar="X")
    option("noise", type=float, metavar="P")
    option("seconds-per-answer", type=float, default=6.0, metavar="X")
    option("pilot", metavar="FILE", nargs="+")
    option("kind", choices=["triplets", "central", "odd-one-out"], default="triplets")
    option("pilot-design", choices=["adaptive", "grid"])
    option("accuracy", type=float, default=0.8, metavar="X")
    option("design", metavar="NAMES")
    option("delta-over-sigma", type=float, default=2.0, metavar="X")
    option("levels", type=int, metavar="N")
    option("repeat", type=int, metavar="N")
    option("exact", action="store_true")
    option("seed", type=int, default=0, metavar="N")
    option("jobs", type=int, default=-1, metavar="N")
    option("journal", metavar="FILE")
    option("out", metavar="FOLDER")
    option("collect", metavar="FOLDER")
    add_reading(plan, kind=False)
    plan.set_defaults(run=plan_command)


def plan_command(args):
    "Plan a study, or collect its answers."
    import sys

    from comparison_hc.reproduce.engine import ExperimentError
    from comparison_hc.whatif.needs import interval_words
    from comparison_hc.whatif.plan import plan_study
    from comparison_hc.whatif.study import assumptions, plan_sentences

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
    except ExperimentError as error:
        print(f"comparison-hc: {error}", file=sys.stderr)
        return 1
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
    "The arguments of `plan_study`. Everything that can be refused is refused here, by the words that were typed."
    from comparison_hc.core.io import journal_path

    rule = "a number of workers of at least 1, or -1 for one a core"
    require(args.jobs == -1 or args.jobs >= 1, "--jobs", rule, args.jobs)
    if args.repeat is not None:
        check_integer(args.repeat, "--repeat", 2, 1000)
    require(not (args.exact and args.repeat), "--repeat", "left out with --exact", args.repeat)
    check_integer(args.people, "--people", 1, 10_000)
    folder = None if args.out is None else check_folder(args.out, args.people)
    if args.journal is not None:
        journal_path(args.journal, "--journal")
    journal = args.journal or (None if folder is None else str(folder / RUNS))
    pilot = _pilot(args)
    for name in ("columns", "respondent", "answer", "weight", "where", "missing", "format", "records", "pilot_design"):
        given = getattr(args, name)
        option = f"--{name.replace('_', '-')}"
        require(not given or pilot is not None, option, "left out without --pilot", given)
    design = {} if args.design is None else dict(designs=[name.strip() for name in args.design.split(",")])
    return dict(
        objects=_objects(args.objects, pilot),
        people=args.people,
        minutes=args.minutes,
        noise=args.noise,
        seconds_per_answer=args.seconds_per_answer,
        pilot=pilot,
        pilot_design=args.pilot_design or args.kind,
        target=args.accuracy,
        delta_over_sigma=args.delta_over_sigma,
        n_levels=args.levels,
        repeat=args.repeat or (50 if args.exact else 8),
        seed=args.seed,
        n_jobs=args.jobs,
        journal=journal,
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
