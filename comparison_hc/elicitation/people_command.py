"""Who answered how much, how consistently, and in agreement with whom, as a table on the screen."""

from argparse import Namespace

import numpy as np

from ..core.compat import bincount
from ..core.parallel import command_bar
from ..core.validation import check_integer, require, visible_line
from ..evaluation.reading_command import add_reading, say, typed_places

SHOWN = {"central": 3, "odd-one-out": 3}  # alternatives, where they are not two


def add_people(commands):
    "The words of `people`."
    from comparison_hc.methods import passive_methods

    people = commands.add_parser(
        "people",
        help="who agrees with whom",
        description="Each person against the tree of all others, their consistency, their share, and whom to look at.",
    )
    people.add_argument("file", metavar="FILE", help="the answers, with a column that says who gave them")
    how = "how the others' tree is built (default: 4-al)"
    people.add_argument("--method", choices=passive_methods(), default="4-al", help=how)
    add_reading(people)
    groups = "do two groups have trees of their own? The column that says in which group a person is"
    people.add_argument("--groups", metavar="COLUMN", help=groups)
    draws = "with --groups: how often people are dealt anew (default: 99)"
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
    whom = f"Recommended for a look: {', '.join(named)}" if named else "Nobody is recommended for a look"
    rule = "no more than 50%, or more than 3 median absolute deviations (times 1.4826) below the median, of 20 or more"
    return [
        *shown.to_string(index=False).splitlines(),
        "",
        "agreement: of the decided answers, the share that the tree of all others gets right (a coin: 50%)",
        f"{whom} (rule: agreement {rule} decided answers).",
        place_sentence(table, n_places),
    ]


def place_sentence(table, n_places):
    "Whether the crowd, or somebody in it, prefers a place on the screen."
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
    from comparison_hc.evaluation.command_files import check_files

    check_files(args, [("FILE", args.file), ("--objects", args.objects)], (".csv",))
    for name in ("draws", "seed"):
        typed = getattr(args, name)
        require(typed is None or args.groups, f"--{name}", "together with --groups", typed)
    if args.groups:
        return _print_groups(args)
    with command_bar("people") as progress:
        answers, places = typed_places(args)
        table, n_places = crowd_table(answers, args.method, places, progress=progress), SHOWN.get(args.kind, 2)
        if places is not None:
            table["biased"] = table.person.isin(biased_people(answers, places, n_places))
    if args.out is not None:
        safe = table.assign(person=table.person.map(visible_line))
        atomic_write(args.out, safe.to_csv(index=False, lineterminator="\n"))
    say("\n".join(map(visible_line, people_lines(table, n_places))))
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
    if args.out is not None:
        say(f"wrote {args.out}")
