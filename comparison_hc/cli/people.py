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
from ._options import refuse
from ._reading import (
    ANSWER_WORDS,
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
    "The words of `people`."
    from comparison_hc.methods import passive_methods

    people = commands.add_parser(
        "people",
        help="who agrees with whom",
        description="Each person against the tree of all others, their consistency, their share, and whom to look at.",
    )
    add_files(people, "the answers, with a column that says who gave them, or one file a person")
    how = "how the others' tree is built (default: 4-al)"
    people.add_argument("--method", choices=passive_methods(), default="4-al", help=how)
    add_reading(people)
    groups = "do two groups have trees of their own? The column that says in which group a person is"
    people.add_argument("--groups", metavar="COLUMN", help=groups)
    draws = "with --groups: how often the groups of the people are permuted (default: 99)"
    people.add_argument("--draws", type=int, metavar="N", help=draws)
    people.add_argument("--seed", type=int, metavar="S", help="with --groups: seed of the draws (default: 0)")
    people.add_argument("--out", metavar="PATH.csv", help="also write the table; with --groups, the gain of every draw")
    people.set_defaults(run=people_command)


def biased_people(answers, places, n_places):
    "Who prefers, or avoids, what stands first: binomial tests, at 5% for the whole crowd (Bonferroni)."
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
    "The table and the sentence below it, as they are printed."
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
    "Whether the crowd, or a person in it, prefers a place on the screen."
    if "first place" not in table:
        return "first place: not known, as the file does not say what was shown where (--columns and --answer do)"
    crowd = (table["first place"] * table.answers).sum() / table.answers[table["first place"].notna()].sum()
    named = table.person[table.biased].tolist()
    who = f"{'Farther' if named else 'Nobody is farther'} from that than chance explains{': ' * bool(named)}"
    text = f"first place: what was shown first was chosen in {crowd:.0%} of all answers"
    return f"{text} (no preference: {1 / n_places:.0%}). {who}{', '.join(named)}."


def people_command(args):
    "Read the answers, print the table, write it if asked for."
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
    "The test of two groups: what a column says about who answered, and whether that matters."
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
    "The options of both commands about files."
    out = "write the tree; the ending says how: .html, .svg, .pdf, .png, .nwk (Newick), .csv (linkage matrix), .json. "
    command.add_argument("--out", action="append", default=[], metavar="PATH", help=out + "May be repeated")
    answers = "write the answers as triplets, as `cluster` reads them"
    command.add_argument("--answers-out", metavar="PATH.csv", help=answers)


def add_ask(commands):
    "The words of `ask`."
    ask = commands.add_parser(
        "ask",
        help="ask a person, in this terminal or in a browser",
        description="Ask which two of three belong together until the hierarchy is known. "
        "Every answer is in the journal before the next question: whatever stops it, the same line continues.",
    )
    items = "animals (default), digits, a folder of pictures, or a text file with one item a line"
    ask.add_argument("items", nargs="?", default="animals", metavar="ITEMS", help=items)
    where = "where the answers go (default: ITEMS-PERSON.jsonl in this folder)"
    ask.add_argument("--journal", metavar="FILE", help=where)
    who = "who answers; each person needs a journal (default: as the journal says, or somebody)"
    ask.add_argument("--person", metavar="NAME", help=who)
    seed = "decides the order of everything (default: from the person's name)"
    ask.add_argument("--seed", type=int, metavar="N", help=seed)
    repeats = "after so many answers an old question comes again (default: 6; 0: never)"
    ask.add_argument("--repeat-every", type=int, metavar="N", help=repeats)
    careful = (
        "allow for errors: ask until the tree is nearly certain if each answer is right with probability P "
        "(default: as estimated from the repeated questions)"
    )
    ask.add_argument("--careful", nargs="?", type=float, const=True, metavar="P", help=careful)
    listed = (
        "ask the questions of a list instead, such as `plan` writes (it names --person and --journal by default); "
        "with --browser also a folder with PERSON.csv for everyone"
    )
    ask.add_argument("--list", metavar="LIST.csv", help=listed)
    export = "with --list: ask nothing, write the list for jsPsych (.json) or PsychoPy (.csv). May be repeated"
    ask.add_argument("--export", action="append", default=[], metavar="PATH", help=export)
    trials = "with --list: write one row an answer, with the time and the milliseconds that it took"
    ask.add_argument("--trials-out", metavar="PATH.csv", help=trials)
    _add_written(ask)
    page = ask.add_argument_group("in a browser, for participants: one question and a counter, nothing else")
    texts = "HTML (.html), or text (# begins a title, - an item of a list)"
    page.add_argument("--browser", action="store_true", help="ask each person who opens the address that is printed")
    page.add_argument("--consent", metavar="FILE", help=f"{texts} before the first question; agreeing is logged")
    page.add_argument("--end", metavar="FILE", help=f"{texts} after the last question")
    page.add_argument("--labels", action="store_true", help="show names below pictures, too (they may tell too much)")
    logs = "where the logs of several people go (default: this folder; with a folder of lists: beside the lists)"
    page.add_argument("--folder", metavar="PATH", help=logs)
    page.add_argument("--host", metavar="ADDRESS", help="0.0.0.0 lets the network in (default: this machine only)")
    token = "word in the address (default: on this machine always the same, in a network a new one at every start)"
    page.add_argument("--token", metavar="WORD", help=token)
    page.add_argument("--port", type=int, metavar="N", help="where to listen (default: 8866, or any that is free)")
    ask.set_defaults(run=ask_command)


def _to_screen(text, end="\n"):
    print(visible_text(text), end=end, flush=True)


def ask_command(args):
    "Ask a person until everything is answered, or they stop; write what was asked for."
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
    "Write a list for other programs."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.trial_list import LIST_FORMS, read_trial_list

    questions = read_trial_list(args.list)
    for path in map(Path, args.export):
        rule = "a file for jsPsych (.json) or PsychoPy (.csv), and not the list"
        require(path.suffix in LIST_FORMS and path != Path(args.list), "--export", rule, str(path))
        atomic_write(path, LIST_FORMS[path.suffix](questions))
        say(f"wrote {path}")


def _ask_from_list(args):
    "Ask the questions of a list, keep every answer, and say how carefully it was answered."
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
    "Write the files that were asked for; lines that say so."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.elicitation.export import answers_text

    written = [] if result is None else write_results(result, args.out)
    if args.answers_out:
        atomic_write(args.answers_out, answers_text(triplets))
        written.append(f"wrote {args.answers_out}")
    return written


MANY_PEOPLE = 10  # from whom on the pairs are summed up
TREES_OF_TWO = (
    "tree_agreement: each person has a tree of their own answers; the share of three objects, of those that both trees "
    "decide,\nin which both name the same odd one out (chance: 1/3). Few answers make poor trees: a small share "
    "need not be disagreement.\n`people` compares everyone with the tree of all others."
)


def add_pool(commands):
    "The words of `pool`."
    pool = commands.add_parser(
        "pool",
        help="take several people's answers together",
        description="How far every two people agree, and one hierarchy from the answers of all: journals of `ask`, or "
        "files of answers as `cluster` reads them.",
    )
    add_files(pool, "journals, one a person; or answers, with a column that says who gave them, or one file a person")
    add_reading(pool)
    _add_written(pool)
    pool.set_defaults(run=pool_command)


def pool_command(args):
    "Take several people's answers together: how far they agree, and one hierarchy."
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
        say(f"clash: {visible_line(line)}")
    say(f"\n{result.dendrogram.to_text()}")
    for line in written:
        say(line)


def _pooled_journals(args):
    "(result, answers, pairs of people, who contradict one another) of journals."
    from comparison_hc.elicitation.pool import pool_journals, pool_result

    _refuse_reading(args)
    with warnings_to_stderr():
        pool = pool_journals([path for _, path in files_of(args)])
        return pool_result(pool), pool.triplets, pool.agreement(), pool.who_said()


def _refuse_reading(args):
    "Logs say themselves what they are."
    rule = "left out with journals of `ask`, which say it"
    refuse(args, ANSWER_WORDS, rule)
    require(args.kind == "triplets", "--kind", rule, args.kind)


def _pooled_lists(args):
    "The same where there are logs of lists, with how carefully everyone answered."
    from comparison_hc.elicitation.trial_list import collect_answers, readable_checks

    _refuse_reading(args)
    with warnings_to_stderr():
        answers, checks = collect_answers([path for _, path in files_of(args)])
    say(readable_checks(checks).to_string(index=False) + "\n")
    return _pooled(answers, args, "3-al", len(checks) == 1)


def _pooled_answers(args):
    "The same of files of answers, without a claim that people contradict each other: answers may be wrong."
    return _pooled(typed_answers(args), args, "4-al" if args.kind == "quadruplets" else "3-al")


def _pooled(answers, args, method, is_alone=False):
    "How far people agree, and one hierarchy of all."
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
