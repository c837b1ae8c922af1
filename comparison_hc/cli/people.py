"The commands `ask`, `pool` and `people`."

import sys
from argparse import Namespace
from pathlib import Path

import numpy as np

from ..core.compat import bincount
from ..core.parallel import command_bar
from ..core.screen import say, warnings_to_stderr
from ..core.validation import check_integer, require, visible_line, visible_text
from ..evaluation.outputs import check_files
from .options import add_command, adder, refuse
from ._reading import (
    ANSWER_OPTIONS,
    add_files,
    add_reading,
    files_of,
    say_if_disconnected,
    title_of,
    typed_answers,
    typed_places,
)
from .cluster import print_lines, write_results

SHOWN = {"central": 3, "odd-one-out": 3}  # alternatives, where they are not two


def add_people(commands):
    "Add the command `people`."
    from comparison_hc.methods import passive_methods

    people, option = add_command(commands, "people", people_command)
    add_files(option)
    option("--method", choices=passive_methods(), default="4-al")
    add_reading(people)
    option("--groups", metavar="COLUMN")
    option("--draws", type=int, metavar="N")
    option("--seed", type=int, metavar="S")
    option("--out", metavar="PATH.csv")


def biased_people(answers, places, n_places):
    "People who prefer or avoid the first position: binomial tests at 5% for all people together (Bonferroni)."
    from scipy.stats import binomtest

    from comparison_hc.elicitation.crowd import raters

    names, person = raters(answers)
    asked, first = (bincount(person, kept).astype(np.int64).tolist() for kept in (places >= 0, places == 0))
    p = [binomtest(f, n, 1 / n_places).pvalue if n else 1 for f, n in zip(first, asked)]
    return [name for name, value in zip(names, p) if value <= 0.05 / len(names)]


def percent(share):
    "A share, or a dash where there is none."
    return f"{share:.0%}" if share == share else "–"


def people_lines(table, n_places=2):
    "The lines of the table of people and of the sentences below it."
    shown = table[["person", "answers", "decided"]].astype(str)
    for name in ("share", "agreement", "consistency"):
        shown[name] = table[name].map(percent)
    known = "first place" in table
    if known:
        shown["first place"] = table["first place"].map(percent) + table.biased.map({True: " biased", False: ""})
    shown["look"] = table.look.map({True: "look", False: ""})
    order = ["person", "answers", "share", "decided", "agreement", "consistency", *["first place"] * known, "look"]
    shown = shown[order]
    named = table.person[table.look].tolist()
    whom = f"Flagged for inspection: {', '.join(named)}" if named else "No person is flagged for inspection"
    rule = "no more than 50%, or more than 3 median absolute deviations (times 1.4826) below the median, of 20 or more"
    return [
        *shown.to_string(index=False).splitlines(),
        "",
        "agreement: of the decided answers, the share that the tree of all others gets right (a coin: 50%)",
        f"{whom} (rule: agreement {rule} decided answers).",
        place_sentence(table, n_places),
    ]


def place_sentence(table, n_places):
    "The sentence on whether all people together, or single persons, prefer a position on the screen."
    if "first place" not in table:
        return "first place: unknown, as the file holds no positions on the screen (--columns and --answer name them)"
    crowd = (table["first place"] * table.answers).sum() / table.answers[table["first place"].notna()].sum()
    named = table.person[table.biased].tolist()
    who = f"{'Farther' if named else 'Nobody is farther'} from that than chance explains{': ' * bool(named)}"
    text = f"first place: what was shown first was chosen in {crowd:.0%} of all answers"
    return f"{text} (no preference: {1 / n_places:.0%}). {who}{', '.join(named)}."


def people_command(args):
    "Read the answers, print the table of people, and write it with --out."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.crowd import crowd_table
    from comparison_hc.evaluation._splits import response_kind
    from comparison_hc.evaluation.outputs import check_files

    check_files(args, [*files_of(args), ("--objects", args.objects)], (".csv",))
    if args.groups:
        return _print_groups(args)
    refuse(args, ("draws", "seed"), "together with --groups")
    with command_bar("people") as progress:
        answers, places = typed_places(args)
        table, n_places = crowd_table(answers, args.method, places, progress=progress), SHOWN.get(args.kind, 2)
        if places is not None:
            table["biased"] = table.person.isin(biased_people(answers, places, n_places))
    if args.out is not None:
        safe = table.assign(person=table.person.map(visible_line))
        atomic_write(args.out, safe.to_csv(index=False, lineterminator="\n"))
    say("\n".join(map(visible_line, people_lines(table, n_places))))
    kind = response_kind(answers)
    if kind:
        say(f"answers: two rows per {kind} response; consistency compares responses, of which a coin repeats a third")
    say(f"read: {visible_line(str(answers.reading))}")
    if args.out is not None:
        say(f"wrote {args.out}")


def _print_groups(args):
    "Print the test of two groups of people, which a column of the file defines."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.groups import compare_groups

    draws = 99 if args.draws is None else check_integer(args.draws, "--draws")
    seed = 0 if args.seed is None else check_integer(args.seed, "--seed", 0)
    answers, _ = typed_places(args)
    of_answer, _ = typed_places(Namespace(**{**vars(args), "respondent": args.groups}))  # the same rows
    with command_bar("draws") as progress:
        test = compare_groups(answers, of_answer.respondents, draws, args.method, seed, progress)
    if args.out is not None:
        text = "draw,gain\n" + "".join(f"{at},{gain}\n" for at, gain in enumerate([test.gain, *test.dealt]))
        atomic_write(args.out, text)  # draw 0 is the real one
    say("\n".join(test.sentences()))
    say(f"read: {visible_line(str(answers.reading))}")
    if args.out is not None:
        say(f"wrote {args.out}")


def _add_written(command):
    "Add the options about files that `ask` and `pool` write."
    option = adder(command, "written")
    option("--out", action="append", default=[], metavar="PATH")
    option("--answers-out", metavar="PATH.csv")


def add_ask(commands):
    "Add the command `ask`."
    ask, option = add_command(commands, "ask", ask_command)
    option("items", nargs="?", default="animals", metavar="ITEMS")
    option("--journal", metavar="FILE")
    option("--person", metavar="NAME")
    option("--seed", type=int, metavar="N")
    option("--repeat-every", type=int, metavar="N")
    option("--careful", nargs="?", type=float, const=True, metavar="P")
    option("--list", metavar="LIST.csv")
    option("--export", action="append", default=[], metavar="PATH")
    option("--trials-out", metavar="PATH.csv")
    _add_written(ask)
    page = ask.add_argument_group("in a browser, for participants: one question and a counter, nothing else")
    option = adder(page, "ask")
    option("--browser", action="store_true")
    option("--consent", metavar="FILE")
    option("--end", metavar="FILE")
    option("--labels", action="store_true")
    option("--folder", metavar="PATH")
    option("--host", metavar="ADDRESS")
    option("--token", metavar="WORD")
    option("--port", type=int, metavar="N")


def _to_screen(text, end="\n"):
    print(visible_text(text), end=end, flush=True)


def ask_command(args):
    "Ask a person until the tree is determined or they stop, and write the files."
    from comparison_hc.elicitation.export import session_result, with_person
    from comparison_hc.elicitation.items import default_log
    from comparison_hc.elicitation.session import Session
    from comparison_hc.elicitation.terminal import closing_text, terminal_session

    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # what is no text is no answer either
    if args.browser:
        return _ask_in_browser(args)
    refuse(args, ("consent", "end", "labels", "folder", "host", "port", "token"), "together with --browser")
    if args.list is not None:
        return _ask_from_list(args)
    refuse(args, ("export", "trials_out"), "together with --list")
    journal = Path(args.journal) if args.journal is not None else default_log(args.items, args.person or "somebody")
    check_files(args, [("ITEMS", args.items), ("the journal", journal)])
    session = Session(args.items, journal, args.person, args.seed, args.repeat_every)
    if session.report:
        say(f"comparison-hc: warning: {session.report}", sys.stderr)
    if args.careful is True and not session.state.careful:
        session.be_careful()  # no P: as estimated
    elif args.careful not in (None, True, session.state.careful):
        session.be_careful(args.careful)
    try:
        terminal_session(session, iter(sys.stdin.readline, ""), _to_screen)
    except KeyboardInterrupt:
        said = f"interrupted; {len(session.state.answers)} answers are in {journal}, the same command continues"
        raise KeyboardInterrupt(said) from None
    written = _write_answers(session_result(session), with_person(session), args)
    for line in (closing_text(session), *written):
        say(line)


def _ask_in_browser(args):
    "Serve the participants' page until Ctrl-C."
    from comparison_hc.dashboards.participants import run_study

    rule = "left out with --browser: the log has everything, and `pool` reads it"
    refuse(args, ("seed", "careful", "repeat_every", "out", "answers_out", "trials_out", "export", "journal"), rule)
    given = args.items != "animals" or args.list is None
    options = dict(items=args.items if given else None, lists=args.list, folder=args.folder, person=args.person)
    options |= dict(consent=args.consent, end=args.end, labels=args.labels, port=args.port, token=args.token)
    run_study(**options, **({} if args.host is None else {"host": args.host}))


def _export_list(args):
    "Write a list of questions for other programs."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.trial_list import LIST_FORMS, read_trial_list

    questions = read_trial_list(args.list)
    for path in map(Path, args.export):
        rule = "a file for jsPsych (.json) or PsychoPy (.csv), and not the list"
        require(path.suffix in LIST_FORMS and path != Path(args.list), "--export", rule, str(path))
        atomic_write(path, LIST_FORMS[path.suffix](questions))
        say(f"wrote {path}")


def _ask_from_list(args):
    "Ask the questions of a list, log every answer, and print the result of the attention checks."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.trial_list import (
        TrialSession,
        attention_checks,
        checks_text,
        collect_answers,
        read_trial_list,
        run_trials,
        trial_triplets,
        trials_table,
    )

    rule = "left out with --list and without --browser, as the list has all names"
    require(args.items == "animals", "ITEMS", rule, args.items)
    refuse(args, ("seed", "careful", "repeat_every", "out"), "left out with --list")
    if args.export:
        return _export_list(args)
    path = Path(args.list)
    journal = Path(args.journal) if args.journal is not None else path.with_suffix(".jsonl")
    check_files(args, [("--list", path), ("the journal", journal)])
    session = TrialSession(read_trial_list(path), journal, args.person or path.stem, path.name)
    if session.report:
        say(f"comparison-hc: warning: {session.report}", sys.stderr)
    try:
        run_trials(session, iter(sys.stdin.readline, ""), _to_screen)
    except KeyboardInterrupt:
        said = f"interrupted; {len(session.answers)} answers are in {journal}, the same command continues"
        raise KeyboardInterrupt(said) from None
    say(f"\n{checks_text(attention_checks(session.questions, session.answers), len(session.questions))}")
    say(f"{len(session.answers)} answers are in {journal}" + ("; the same command continues" * bool(session.question)))
    if args.trials_out:
        atomic_write(args.trials_out, trials_table(journal).to_csv(index=False, lineterminator="\n"))
        say(f"wrote {args.trials_out}")
    if args.answers_out:
        require(
            trial_triplets(session.questions, session.answers),
            "--answers-out",
            "written after the first answer",
            "none",
        )
        for line in _write_answers(None, collect_answers([journal])[0], args):
            say(line)


def _write_answers(result, triplets, args):
    "Write the files and return one line for each."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.export import answers_text

    written = [] if result is None else write_results(result, args.out)
    if args.answers_out:
        atomic_write(args.answers_out, answers_text(triplets))
        written.append(f"wrote {args.answers_out}")
    return written


MANY_PEOPLE = 10  # above it, the pairs are summarised in one line
TREES_OF_TWO = (
    "tree_agreement: each person has a tree of their own answers; the share of three objects, of those that both trees "
    "decide,\nin which both name the same odd one out (chance: 1/3). Few answers make poor trees: a small share "
    "need not be disagreement.\n`people` compares everyone with the tree of all others."
)


def add_pool(commands):
    "Add the command `pool`."
    pool, option = add_command(commands, "pool", pool_command)
    add_files(option)
    add_reading(pool)
    _add_written(pool)


def pool_command(args):
    "Print how far people agree and one hierarchy of all answers, and write the files."
    from comparison_hc.core.log import log_kind

    check_files(args, [*files_of(args), ("--objects", args.objects)])
    kinds = {log_kind(path) for _, path in files_of(args)}
    logs = kinds & {"session", "list"}
    rule = "journals of `ask`, or other files of answers, not both (--answers-out writes a journal as answers)"
    require(not logs or kinds == logs, "FILE", rule, sorted(str(path) for _, path in files_of(args)))
    pooled = {frozenset(["session"]): _pooled_journals, frozenset(): _pooled_answers}.get(
        frozenset(logs), _pooled_lists
    )
    result, answers, table, lines = pooled(args)
    written = _write_answers(result, answers, args)
    print_lines(result)
    people = len({*table["first"], *table.second})
    if people > MANY_PEOPLE:
        low, middle, high = table.tree_agreement.quantile([0, 0.5, 1])
        say(f"\n{len(table):,} pairs of {people:,} people: tree_agreement {low:.2f} to {high:.2f}, median {middle:.2f}")
    elif people:
        say("\n" + "\n".join(map(visible_line, table.to_string(index=False).splitlines())))
    if people:
        say(TREES_OF_TWO)
    for line in lines:
        say(f"contradiction: {visible_line(line)}")
    say(f"\n{result.dendrogram.to_text()}")
    for line in written:
        say(line)


def _pooled_journals(args):
    "(result, answers, table of pairs of people, contradictions) of the logs of `ask`."
    from comparison_hc.elicitation.pool import pool_journals, pool_result

    _refuse_reading(args)
    with warnings_to_stderr():
        pool = pool_journals([path for _, path in files_of(args)])
        return pool_result(pool), pool.triplets, pool.agreement(), pool.who_said()


def _refuse_reading(args):
    "Refuse options about reading: a log contains them."
    rule = "left out with logs of `ask`, which contain it"
    refuse(args, ANSWER_OPTIONS, rule)
    require(args.kind == "triplets", "--kind", rule, args.kind)


def _pooled_lists(args):
    "The same of logs of lists, after the table of attention checks."
    from comparison_hc.elicitation.trial_list import collect_answers, readable_checks

    _refuse_reading(args)
    with warnings_to_stderr():
        answers, checks = collect_answers([path for _, path in files_of(args)])
    say(readable_checks(checks).to_string(index=False) + "\n")
    return _pooled(answers, args, "3-al", len(checks) == 1)


def _pooled_answers(args):
    "The same of files of answers, without contradictions, because answers may be wrong."
    return _pooled(typed_answers(args), args, "4-al" if args.kind == "quadruplets" else "3-al")


def _pooled(answers, args, method, is_alone=False):
    "(result, answers, table of pairs of people, no contradictions) of answers."
    import pandas as pd

    from comparison_hc.elicitation.pool import compare_people
    from comparison_hc.evaluation.report import Result
    from comparison_hc.methods import build_hierarchy, methods

    say_if_disconnected(answers)
    table = pd.DataFrame(columns=["first", "second"]) if is_alone else compare_people(answers, method)
    tree = build_hierarchy(method, answers)[0]
    papers = {"references": list(methods[method].papers)}
    notes = {"people": f"{len(set(answers.respondents)):,}"}
    return (
        Result(tree, answers, title_of(args), methods[method].title, notes=notes, provenance=papers),
        answers,
        table,
        [],
    )
