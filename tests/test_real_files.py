"""Files as people have them: read rightly, or refused with the words that would do; nothing is read wrongly in silence.

Every case is a kind of file that was read wrongly once, written with answers about six animals in two groups.
"""

import bz2
import gzip
import io
import json
import re
import unicodedata
import warnings
import zipfile
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from comparison_hc.cli import main
from comparison_hc.cli._main import make_parser
from comparison_hc.cli._reading import READING_HELP
from comparison_hc.comparisons import Triplets, apply_responses, read_comparisons
from comparison_hc.core.validation import InputError, InputWarning
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.elicitation.pool import compare_people
from comparison_hc.estimators import ComparisonClustering, ComparisonHC
from comparison_hc.flat import adds_from_file
from comparison_hc.hierarchical.triplets import triplet_average_linkage

PETS, FISH = ("cat", "dog", "cow"), ("trout", "pike", "eel")
ROWS = [  # anchor, nearer, farther: eighteen answers without error
    (anchor, near, far)
    for group, other in ((PETS, FISH), (FISH, PETS))
    for at, anchor in enumerate(group)
    for near, far in zip((group[at - 1], group[at - 2], group[at - 1]), other)
]
LEFT = [number % 3 != 1 for number in range(len(ROWS))]  # whether the nearer was on the left
SHOWN = [(a, n, f) if left else (a, f, n) for (a, n, f), left in zip(ROWS, LEFT)]
NUMBER = {name: number for number, name in enumerate((*PETS, *FISH))}
TRIOS = [(n, a, f) if left else (f, n, a) for (a, n, f), left in zip(ROWS, LEFT)]  # with one odd one
ODD_AT = [2 if left else 0 for left in LEFT]


def text(rows, header=None, separator=",", end="\n"):
    "A delimited file."
    header = header.split(",") if isinstance(header, str) else header
    return "".join(separator.join(map(str, row)) + end for row in [*([header] if header else []), *rows])


def shown(codes, header="anchor,left,right,answer"):
    "What was shown, and what was answered: one code where the left one was nearer, and another."
    return text([(*row, codes[not left]) for row, left in zip(SHOWN, LEFT)], header.split(","))


def lines(records):
    "JSON lines."
    return "".join(json.dumps(record) + "\n" for record in records)


def trials(*keys, codes=(0, 1), wrap=str):
    "Trials of jsPsych."
    found = []
    for (a, x, y), left in zip(SHOWN, LEFT):
        saved = {"stimulus": wrap(a), "choices": [wrap(x), wrap(y)], "response": codes[not left]}
        found.append({"trial_type": "html-button-response", **saved})
    return found


def inquisit(codes):
    "Raw data of Inquisit, with a page of instructions."
    header = "date time subject trialnum blockcode trialcode response latency".split()
    header += [f"stimulus{what}{n}" for n in (1, 2, 3) for what in ("number", "item", "onset")]
    rows = [("021923", "13:24", 7, 1, "intro", "page", "57", 900, 1, "Welcome!", 0, *[0] * 6)]
    for n, (row, left) in enumerate(zip(SHOWN, LEFT)):
        items = [cell for name in row for cell in (NUMBER[name] + 1, name, 0)]
        rows.append(("021923", "13:24", 7, n + 2, "test", "triplet", codes[not left], 700 + n, *items))
    return text(rows, header, "\t")


def saved(array):
    "A NumPy file."
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(**arrays):
    "A file of several arrays."
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def zipped(files):
    "An archive."
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def named(answers):
    "Answers as tuples of names."
    called = answers.object_names
    return [tuple(called[i] for i in row) for row in answers.array.tolist()]


def numbers(rows):
    return [tuple(NUMBER[name] for name in row) for row in rows]


def by_number(answers):
    "Answers about objects that are called by their numbers, by name."
    called = (*PETS, *FISH)
    return [tuple(called[int(name)] for name in row) for row in named(answers)]


def read(tmp_path, content, file="a.csv", **options):
    "(the answers or the error, the warnings) of a file."
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", InputWarning)
        try:
            found = read_comparisons(path, **options)
        except InputError as error:
            found = error
    return found, " | ".join(str(w.message) for w in said)


TURNED = [(a, f, n) for a, n, f in ROWS]
BOTH = text([(*row, *row[1:]) for row in ROWS], ("head", "winner", "loser", "left", "right"))
ODD = dict(kind="odd-one-out")
SIDES = dict(columns=["anchor", "left", "right"])

MTURK = "WorkerId,AssignmentStatus,Input.anchor,Input.left,Input.right,Answer.choice"

# (content, options, what the one line must say)
RIGHT = {
    # F1: names of columns decide
    "head,loser,winner": (text(TURNED, "head,loser,winner"), {}, "winner = nearer"),
    "winner,loser,head": (text([(n, f, a) for a, n, f in ROWS], "winner,loser,head"), {}, "by name"),
    "target,far,near": (text(TURNED, "target,far,near"), {}, "far = farther"),
    "anchor,negative,positive": (text(TURNED, "anchor,negative,positive", "\t"), dict(file="a.tsv"), "by name"),
    "Probe Reference": (text([(n, a, f) for a, n, f in ROWS], "Closer Image,Reference,Far"), {}, ""),
    "two of three": (text([(f, n, a) for a, n, f in ROWS], "loser,winner,item"), {}, "item = anchor"),
    "more columns": (
        text([(1, f, "p", a, 812, n) for a, n, f in ROWS], "trial,far,puid,ref,rt,near"),
        {},
        "puid = respondent",
    ),
    "less similar": (text(TURNED, "reference,less_similar,more_similar"), {}, ""),
    "camel case": (text(TURNED, "refImage,rejectedImage,chosenImage"), {}, ""),
    "shown and answered": (shown(("left", "right")), {}, "answer = answer"),
    "the anchor last": (
        text([(x, y, a, x if left else y) for (a, x, y), left in zip(SHOWN, LEFT)], "left,right,target,choice"),
        {},
        "target = anchor",
    ),
    "choice_1, choice_2": (
        text(
            [(x, y, a, 1 if left else 2) for (a, x, y), left in zip(SHOWN, LEFT)], "choice_1,choice_2,anchor,response"
        ),
        {},
        "",
    ),
    "a role in all names": (
        shown(("left", "right"), "match_probe,match_left,match_right,match_response"),
        {},
        "match_probe = anchor",
    ),
    "NEXT's names": (
        text(
            [(*row, n) for row, (_, n, _) in zip(SHOWN, ROWS)], "target_center,target_left,target_right,target_winner"
        ),
        {},
        "target_winner = answer",
    ),
    # F3, F16, F17: codes
    "eval": (shown("10", "A,B,C,eval"), dict(columns=["A", "B", "C"], answer="eval:1=B,0=C"), "0 is C, 1 is B"),
    "codes in order": (shown("fj"), dict(**SIDES, answer="answer:f,j"), "f is left"),
    "is_left": (shown("10", "anchor,left,right,is_left"), dict(**SIDES, answer="is_left"), "1 is left"),
    "True and False": (
        shown(("True", "False"), "A,B,C,eval"),
        dict(columns=["A", "B", "C"], answer="eval"),
        "True is B",
    ),
    "1.0 and 2.0": (shown(("1.0", "2.0")), {}, "1.0 is left"),
    "A and B": (shown("AB"), {}, "A is left"),
    "keys": (shown(("ArrowLeft", "ArrowRight")), {}, ""),
    "key codes": (shown((37, 39)), {}, ""),
    "file names": (
        text(
            [(f"img/{a}.png", f"img/{x}.png", f"img/{y}.png", n) for (a, x, y), (_, n, _) in zip(SHOWN, ROWS)],
            "anchor,left,right,response",
        ),
        {},
        "",
    ),
    "minus one": (shown((1, -1), "A,B,C,y"), dict(columns=["A", "B", "C"], answer="y:1=B,-1=C"), ""),
    "all the same": (
        text([(*row, 1) for row in ROWS], "anchor,left,right,answer"),
        dict(answer="answer:1=left,2=right"),
        "",
    ),
    "a missing code": (
        shown("12") + "cat,dog,pike,0\n",
        dict(answer="answer", missing="answer=0", drop_invalid=True),
        "left out",
    ),
    # F2, F20: jsPsych
    "jsPsych": (json.dumps(trials()), dict(file="a.json", format="jspsych"), ""),
    "jsPsych in CSV": (
        pd.DataFrame([{**t, "choices": json.dumps(t["choices"])} for t in trials()]).to_csv(index=False),
        dict(format="jspsych"),
        "",
    ),
    "jsPsych with HTML": (json.dumps(trials(wrap="<p>{}</p>".format)), dict(file="a.json", format="jspsych"), ""),
    "jsPsych with pictures": (
        json.dumps(trials(wrap="<img src='img/{}.png'>".format)),
        dict(file="a.json", format="jspsych"),
        "",
    ),
    "one spelling is HTML": (
        json.dumps(
            [
                {
                    **t,
                    "stimulus": f"img/{t['stimulus']}.png",
                    "choices": [f"<img src='img/{c}.png' width=80>" for c in t["choices"]],
                }
                for t in trials()
            ]
        ),
        dict(file="a.json", format="jspsych"),
        "",
    ),
    "jsPsych 6": (
        json.dumps(
            [
                {"stimulus": t["stimulus"], "choices": t["choices"], "button_pressed": str(t["response"])}
                for t in trials()
            ]
        ),
        dict(file="a.json", format="jspsych"),
        "",
    ),
    # F5: headers inside
    "two files in one": (
        text(ROWS[:9], "head,winner,loser") + text(ROWS[9:], "head,winner,loser"),
        {},
        "1 repeated header",
    ),
    "… with byte order marks": (
        "\ufeff" + text(ROWS[:9], "head,winner,loser") + "\ufeff" + text(ROWS[9:], "head,winner,loser"),
        {},
        "repeated",
    ),
    "… in another case": (text(ROWS[:9], "head,winner,loser") + text(ROWS[9:], "Head,WINNER,loser"), {}, "repeated"),
    "… and columns": (
        text(ROWS[:9], "uno,due,tre") + text(ROWS[9:], "uno,due,tre"),
        dict(columns=["uno", "due", "tre"]),
        "repeated",
    ),
    # F7, F21, F22: separators
    "quoted commas": (text([[f'"{name}, x"' for name in row] for row in ROWS], separator=";"), {}, ""),
    "tabs in .csv": (text([[f"{name}, x" for name in row] for row in ROWS], separator="\t"), {}, ""),
    "commas and blanks inside": (text([[f"{name}, x" for name in row] for row in ROWS], separator=";"), {}, ""),
    "blanks around quoted commas": (
        "".join('{} "{}, x" "{}, x" "{}, x"\n'.format(n, *row) for n, row in enumerate(ROWS)),
        dict(file="a.txt"),
        "",
    ),
    "pipes": (text(ROWS, separator="|"), {}, ""),
    "blanks": (text(ROWS, separator=" "), dict(file="a.txt"), "0 = anchor"),
    "blanks in columns": (
        text([[f"{name:>8}" for name in row] for row in ROWS], separator=" ", end=" \n"),
        dict(file="a.txt"),
        "",
    ),
    "write.table": (
        '"head" "winner" "loser"\n' + "".join((f'"{n}" "{a}" "{b}" "{c}"\n' for n, (a, b, c) in enumerate(ROWS, 1))),
        dict(file="a.txt"),
        "by name",
    ),
    "write.table without names": (
        "".join((f'"{n}" "{a}" "{b}" "{c}"\n' for n, (a, b, c) in enumerate(ROWS, 1))),
        dict(file="a.txt"),
        "",
    ),
    "to_csv with an index": (pd.DataFrame(ROWS, columns=["x", "y", "z"]).to_csv(), {}, ""),
    "sep=;": ("sep=;\r\n" + text(ROWS, "head,winner,loser", ";", "\r\n"), {}, "names the separator"),
    "a comment": ("# exported on Monday, by Ada\n" + text(ROWS, "head,winner,loser"), {}, "1 comment"),
    "savetxt's header": ("# head loser winner\n" + text(TURNED, separator=" "), dict(file="a.txt"), "by name"),
    "END OF FILE": (text(ROWS, "head,winner,loser") + "END OF FILE,,\n", {}, "END OF FILE"),
    "separators at the end": (text(ROWS, "head,winner,loser", end=",,\n"), {}, ""),
    "a separator that is told": (text(ROWS, separator="~"), dict(separator="~"), ""),
    "UTF-16": (text(ROWS, "head,winner,loser", "\t").encode("utf-16"), {}, ""),
    # F13: Salmon
    "Salmon": (
        text(
            [
                (*[NUMBER[x] for x in (*row, *row[1:])], "p", *[f"{x}.png" for x in (row[0], row[1], *row[1:])])
                for row in ROWS
            ],
            "head,winner,loser,left,right,puid,head_filename,winner_filename,left_filename,right_filename",
        ),
        dict(format="salmon"),
        "as salmon writes them",
    ),
    "Salmon without a format": (BOTH, {}, "by name"),
    # F18, F19: JSON
    "JATOS": (
        "".join(json.dumps(trials()[n : n + 6]) + "\n" for n in (0, 6, 12)),
        dict(file="a.txt", format="jspsych"),
        "",
    ),
    "JSON lines with a float": (
        lines(
            [
                {"head": a, "winner": n, "loser": f, "rt": 812.5 if a == "cat" else None}
                | ({"x": 1} if f == "eel" else {})
                for a, n, f in ROWS
            ]
        ),
        dict(file="a.jsonl"),
        "",
    ),
    "JSON lines in .json": (
        lines([dict(zip(("head", "loser", "winner"), row)) for row in TURNED]),
        dict(file="a.json"),
        "",
    ),
    "arrays a line": (lines(ROWS), dict(file="a.jsonl"), ""),
    # F23: pandas
    **{
        f"to_json {orient}": (
            pd.DataFrame(TURNED, columns=["head", "loser", "winner"]).to_json(orient=orient),
            dict(file="a.json"),
            "by name",
        )
        for orient in ("columns", "index", "split", "records", "table")
    },
    "to_json *": (
        pd.DataFrame(TURNED, columns=["head", "loser", "winner"]).to_json(),
        dict(file="a.json", records="*"),
        "by name",
    ),
    # F24: NEXT
    "NEXT through R": (
        text(
            [("p", "t", a, x, y, x if left else y) for (a, x, y), left in zip(SHOWN, LEFT)],
            "Participant.ID,Timestamp,Center,Left,Right,Answer",
        ),
        dict(format="next"),
        "Participant.ID = respondent",
    ),
    "NEXT without people": (
        text([(a, x, y, x if left else y) for (a, x, y), left in zip(SHOWN, LEFT)], "Center,Left,Right,Answer"),
        dict(format="next"),
        "",
    ),
    "NEXT without a format": (
        text([(a, x, y, x if left else y) for (a, x, y), left in zip(SHOWN, LEFT)], "Center,Left,Right,Answer"),
        {},
        "",
    ),
    # forms of other tools
    "a title above the header": (
        ("C:\\merge.emrg2\n" + text(TURNED, "Target,Loser,Winner", "\t")).encode("utf-16"),
        dict(file="a.txt"),
        "1 line above the header (line 1)",
    ),
    "facts above the header": (
        "group,session,px\n1,883,133\n\n"
        + text([(n, *row, 7) for n, row in enumerate(ROWS)], "no,head,winner,loser,rt"),
        {},
        "2 lines above the header (lines 1, 2)",
    ),
    "X and y": (
        archive(X=np.array(SHOWN), y=np.where(LEFT, 1, -1), group_id=np.zeros(18)),
        dict(file="a.npz"),
        "group_id",
    ),
    "X and booleans": (archive(X=np.array(SHOWN), y=np.array(LEFT)), dict(file="a.npz"), "left is 1"),
    "tags around JSON": (
        "".join(f"[main_start_{n}---{json.dumps(trials()[9 * n : 9 * n + 9])}---main_end_{n}]" for n in (0, 1)),
        dict(file="a.txt", format="jspsych"),
        "2 tags around JSON",
    ),
    "query and ref1, ref2": (shown("qp", "query,ref1,ref2,response"), dict(answer="response:q,p"), "by name"),
    "docA and docB": (
        shown("ab", "Input.query,Input.docA,Input.docB,Answer.radio"),
        dict(format="mturk"),
        "a is Input.docA",
    ),
    "ABX": (
        text([(x, y, a, "AB"[not left]) for (a, x, y), left in zip(SHOWN, LEFT)], "A,B,X,response"),
        dict(answer="response"),
        "X = anchor",
    ),
    "buttons through pandas": (json.dumps(trials(codes=(0.0, 1.0))), dict(file="a.json", format="jspsych"), ""),
    "Inquisit": (
        inquisit(("left picture", "right picture")),
        dict(
            file="a.iqdat",
            format="inquisit",
            columns=["stimulusitem1", "stimulusitem2", "stimulusitem3"],
            answer="response:left picture,right picture",
        ),
        "subject = respondent",
    ),
    "the answer that is filled most often": (
        text(
            [("ann", *row, "no" if n == 3 else "", "ab"[not left]) for n, (row, left) in enumerate(zip(SHOWN, LEFT))],
            "WorkerId,anchor,left,right,Answer.comment,Answer.pick",
        ),
        dict(format="mturk"),
        "Answer.pick = answer",
    ),
    "MTurk, with work that was rejected": (
        text([("ann", "Approved", *row, n) for row, (_, n, _) in zip(SHOWN, ROWS)], MTURK)
        + text([("bob", "Rejected", a, x, y, x) for a, x, y in SHOWN]),
        dict(format="mturk"),
        "WorkerId = respondent",
    ),
    "Gorilla": (
        text([("7", "", *row, "began") for row in SHOWN], "Participant Private ID,Zone Type,anchor,left,right,Response")
        + text([("7", "response_button_image", *row, n) for row, (_, n, _) in zip(SHOWN, ROWS)]),
        dict(format="gorilla"),
        "Participant Private ID = respondent",
    ),
    "lab.js": (
        text(
            [("Choice", "o1", *row, "left" if left else "right") for row, left in zip(SHOWN, LEFT)]
            + [("Break", "o1", *[""] * 4)],
            "sender,observation,anchor,left,right,response",
        ),
        dict(format="labjs"),
        "observation = respondent",
    ),
    "PsychoPy": (
        text(
            [("p", *row, n, 1, 0.5) for row, (_, n, _) in zip(SHOWN, ROWS)] + [("p", *[""] * 4, 0, 0.1)],
            "participant,anchor,left,right,mouse.clicked_name,mouse.leftButton,mouse.time",
        ),
        dict(format="psychopy"),
        "mouse.clicked_name = answer",
    ),
    "PsychoPy, told": (
        text(
            [
                ("p", *[""] * 4, "space"),
                *(("p", *row, "stim2" if left else "stim3", "") for row, left in zip(SHOWN, LEFT)),
            ],
            "participant,Stim1,Stim2,Stim3,mouse.clicked_name,key_go.keys",
        ),
        dict(format="psychopy", columns=["Stim1", "Stim2", "Stim3"], answer="mouse.clicked_name"),
        "stim2 is Stim2",
    ),
    "input and output": (
        shown(("left", "right"), "INPUT:image,INPUT:image_left,INPUT:image_right,OUTPUT:result").replace(",", "\t"),
        dict(file="a.tsv"),
        "by name",
    ),
    # F26: packed
    "gz under .csv": (gzip.compress(text(ROWS).encode()), {}, ""),
    "bz2": (bz2.compress(text(ROWS).encode()), dict(file="a.csv.bz2"), ""),
    "names in an array": (saved(np.array(ROWS)), dict(file="a.npy"), ""),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right(tmp_path, case):
    content, options, line = RIGHT[case]
    answers, _ = read(tmp_path, content, **options)
    assert not isinstance(answers, InputError), answers
    strip = {called: called.removesuffix(", x").removesuffix(".png").removeprefix("img/") for called in answers.names}
    assert [tuple(strip[x] for x in row) for row in named(answers)] == ROWS, answers.reading
    assert line in str(answers.reading) and "\n" not in str(answers.reading)


# (content, options, what the message must say)
REFUSED = {
    "odd, kind triplets": (
        text([(n, a, f) for a, n, f in ROWS], "image_1,image_2,odd_one_out"),
        {},
        ["'odd_one_out'", "--kind odd-one-out", "--columns image_1,image_2,odd_one_out"],
    ),
    "winners, kind odd": (
        text(ROWS, "head,winner,loser"),
        ODD,
        ["'winner'", "--kind triplets", "--columns head,winner,loser"],
    ),
    "winners, kind central": (text(ROWS, "head,winner,loser"), dict(kind="central"), ["--kind triplets"]),
    "two anchors": (
        text(ROWS, "reference,target,near"),
        {},
        ["columns must be told", "anchor, nearer, farther", "--columns"],
    ),
    "the farther second": (text(ROWS, "x,far,y"), {}, ["columns must be told", "--columns"]),
    "an answer beside winners": (
        text([(*row, row[2]) for row in ROWS], "anchor,positive,negative,response"),
        {},
        ["'response' says something else than 'positive'", "--columns anchor,positive,negative"],
    ),
    "pairs": (
        text([(a, n, "left" if left else "right") for (a, n, _), left in zip(ROWS, LEFT)], "left,right,label"),
        {},
        ["'left' (left)", "--columns"],
    ),
    "pairs and who judged": (
        text([("p1", *row[1:]) for row in ROWS], "rater,winner,loser"),
        {},
        ["2 columns: winner, loser"],
    ),
    "pairs and when": (text([("May", *row[1:]) for row in ROWS], "date,winner,loser"), {}, ["'date'"]),
    "y of other values": (archive(X=np.array(ROWS), y=np.arange(18)), dict(file="a.npz"), ["1 and -1", "records='X'"]),
    # codes
    "all one": (
        text([(*row, 1) for row in ROWS], "anchor,left,right,answer"),
        {},
        ["clear", "0 to 1", "1 to 2", "answer='answer:1=left'"],
    ),
    "minus one and one": (
        shown((-1, 1)),
        {},
        ["-1 for the first and 1 for the second", "1 for the first and -1 for the second"],
    ),
    "a code of no coding": (
        shown("12") + "cat,dog,pike,0\n",
        dict(file="c.csv", drop_invalid=True),
        ["line 20", "--missing 0", "answer:"],
    ),
    "most are 1": (
        "anchor,left,right,ans\ncat,dog,trout,1\ndog,cat,trout,1\ndog,cat,pike,1\ntrout,pike,cat,1\n"
        "pike,trout,cat,1\ntrout,cat,pike,2\ntrout,pike,dog,0\npike,trout,dog,0\n",
        dict(file="c.csv", **SIDES, answer="ans", drop_invalid=True),
        ["--missing"],
    ),
    "letters that mean nothing": (
        shown("fj"),
        SIDES | dict(answer="answer"),
        ["'f'", "(--answer answer:f=left,j=right)"],
    ),
    "codes without meaning": (shown("12"), SIDES | dict(answer="answer:1=up,2=down"), ["1=left", "'1=up'"]),
    "too many codes": (shown("12"), SIDES | dict(answer="answer:1,2,3"), ["2 codes, in the order of left, right"]),
    # cells
    "two columns of one name": (
        text([(*row, row[1]) for row in ROWS], "head,winner,loser,winner"),
        dict(columns=["head", "winner", "loser"]),
        ["'winner', 2 times", "a position (1, 3)"],
    ),
    "… for Salmon": (
        text([(*row, row[1]) for row in ROWS], "head,winner,loser,winner"),
        dict(format="salmon"),
        ["once", "winner"],
    ),
    "… for names": (text([(*row, row[2]) for row in ROWS], "head,winner,loser,winner"), {}, ["columns"]),
    "nan among numbers": ("0,1,2\n1,nan,2\n", {}, ["line 2", "'nan'"]),
    "a person who is not there": (
        text([(*row, "" if row[0] == "eel" else "ann") for row in ROWS], "head,winner,loser,puid"),
        {},
        ["line 17", "'puid'"],
    ),
    "an impossible winner": (
        "head,left,right,winner,puid,left_filename,right_filename,head_filename,winner_filename,loser\n"
        "0,18,12,5,p,l.png,r.png,h.png,w.png,12\n1,2,3,2,p,x.png,y.png,z.png,x.png,3\n",
        dict(file="m.csv", format="salmon"),
        ["line 2", "what was shown"],
    ),
    "pairs and who was selected": (
        text([(x, y, n) for (_, x, y), (_, n, _) in zip(SHOWN, ROWS)], "image_a,image_b,selected"),
        {},
        ["columns must be told in the order anchor, nearer, farther", "--columns"],
    ),
    "three and who was selected": (
        text([(a, f, n) for a, n, f in ROWS], "image_a,image_b,selected"),
        ODD,
        ["with the chosen one first", "--columns selected,image_a,image_b"],
    ),
    "ABX without an answer": (
        text([(n, f, a) for a, n, f in ROWS], "A,B,X"),
        {},
        ["columns must be told in the order anchor, nearer, farther", "--columns X,A,B"],
    ),
    "clicked components": (
        text(
            [(*row, "stim2_main" if left else "stim3_main") for row, left in zip(SHOWN, LEFT)],
            "Stim1,Stim2,Stim3,click",
        ),
        dict(columns=["Stim1", "Stim2", "Stim3"], answer="click"),
        ["stim2_main=Stim2,stim3_main=Stim3"],
    ),
    "two codes of three": (
        text([(*trio, "xz"[at > 0]) for trio, at in zip(TRIOS, ODD_AT)], "Stim1,Stim2,Stim3,click"),
        ODD | dict(answer="click"),
        ["(--answer click:x=Stim1)"],
    ),
    "two codes and none": (
        text(
            [("cat", "dog", "pike", "NA"), *((*row, "fj"[not left]) for row, left in zip(SHOWN, LEFT))], "x1,x2,x3,key"
        ),
        dict(columns=["x1", "x2", "x3"], answer="key"),
        ["(--answer key:f=x2,j=x3)"],
    ),
    # more columns than objects
    "a code that is missing": (
        text(
            [(*row, "fj"[not left], 812) for row, left in zip(SHOWN, LEFT)] + [("cat", "dog", "pike", "NA", 9)],
            "x1,x2,x3,pressed,rt",
        ),
        {},
        ["--columns x1,x2,x3", "--answer pressed"],
    ),
    "a row a person": (
        text(
            [[cell for row in SHOWN for cell in (*row, 1)]] * 2,
            [f"{name}_{n}" for n in range(18) for name in ("anchor", "left", "right", "choice")],
        ),
        dict(header=True),
        ["(--columns 'anchor_*,left_*,right_*')", "(--answer 'choice_*')"],
    ),
    "an answer of any name": (
        text([(*row, "pq"[not left], 812) for row, left in zip(SHOWN, LEFT)], "Stim 1,Stim 2,Stim 3,eval,rt"),
        {},
        ["--columns 'Stim 1,Stim 2,Stim 3'", "--answer eval", "5 columns: Stim 1, Stim 2, Stim 3, eval, rt"],
    ),
    "a name of any name": (
        text([(n, *row, row[1 + (not left)]) for n, (row, left) in enumerate(zip(SHOWN, LEFT), 7)], "no,q,w,e,r"),
        {},
        ["--columns q,w,e", "--answer r"],
    ),
    "objects and nothing else": (
        text([(f"t{n}", *row) for n, row in enumerate(ROWS)], "trial,query_id,target_id1,target_id2"),
        {},
        ["--columns query_id,target_id1,target_id2", "in the order anchor, nearer, farther"],
    ),
    "an answer that is told": (
        text([(n, *row, left) for n, (row, left) in enumerate(zip(SHOWN, LEFT), 7)], "no,q,w,e,r"),
        dict(answer="r"),
        ["--columns q,w,e", "if these are the objects shown"],
    ),
    "an answer of three": (
        text(
            [(*trio, at + 1, 812) for trio, at in zip(TRIOS, ODD_AT * 2)][1:] + [(*TRIOS[0], 2, 700)],
            "image1,image2,image3,choice,rt",
        ),
        {},
        ["--kind odd-one-out) if it is the odd one", "--kind central) if it is the most central one: 'choice' tells"],
    ),
    "records inside of records": (
        json.dumps([{"worker": "ann", "screens": [dict(zip("pqr", row)) for row in ROWS[:3]]}]),
        dict(file="a.json"),
        ["--records '*.screens.*'"],
    ),
    "several answers of MTurk": (
        text(
            [("ann", *row, "no", n) for row, (_, n, _) in zip(SHOWN, ROWS)], "WorkerId,x,y,z,Answer.music,Answer.pick"
        ),
        dict(format="mturk"),
        ["answer='Answer.music' (--answer Answer.music), or Answer.pick"],
    ),
    "Inquisit without columns": (inquisit("fj"), dict(file="a.iqdat"), ["--format inquisit"]),
    "which item is the anchor": (
        inquisit("fj"),
        dict(file="a.iqdat", format="inquisit"),
        ["--columns stimulusitem1,stimulusitem2,stimulusitem3"],
    ),
    "jsPsych without choices": (
        json.dumps([{"trial_type": "x", **{f"column_{n}": 1 for n in range(30)}, "stimulus": "cat", "response": 0}]),
        dict(file="a.json", format="jspsych"),
        ["with the columns stimulus, choices", ", ".join(f"column_{n}" for n in range(30))],
    ),
    # forms
    "two separators": ("Doe,J;Roe,A;Poe\nRoe,A;Doe,J;Poe\n", {}, ["separator", "','", "';'", "--separator"]),
    "three choices, triplets": (
        json.dumps([{"stimulus": "odd?", "choices": list(t), "response": 0} for t in TRIOS]),
        dict(file="a.json", format="jspsych"),
        ["--kind odd-one-out".replace("--kind ", "kind='"), "central"],
    ),
    "jsPsych without a format": (
        json.dumps([{**t, "trial_index": n} for n, t in enumerate(trials())]),
        dict(file="a.json"),
        ["looks like a file of jspsych", "--format jspsych"],
    ),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(50), {}, ["an HDF5 file"]),
    "a pickle": (b"\x80\x04\x95" + bytes(50), dict(file="a.txt"), ["a Python pickle"]),
    "a spreadsheet": (zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), {}, ["spreadsheet", "CSV"]),
    "an array of one column": (saved(np.arange(9)), dict(file="a.npy"), ["a comparison a row", "(9,)"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(tmp_path, case):
    content, options, words = REFUSED[case]
    error, _ = read(tmp_path, content, **options)
    assert isinstance(error, InputError), (named(error), str(error.reading))
    assert all(word in str(error) for word in words) and "\n" not in str(error), str(error)


# (content, options, what the warning must say, the answers or None)
WARNED = {
    "eval without a coding": (
        shown("10", "A,B,C,eval"),
        dict(file="e.csv", columns=["A", "B", "C"], answer="eval"),
        ["0 is taken for B and 1 is taken for C", "eval:0=C,1=B"],
        TURNED,
    ),
    "columns that are told": (
        text(ROWS, "head,loser,winner"),
        dict(columns=["head", "loser", "winner"]),
        ["'loser' is taken for the nearer, as you say"],
        ROWS,
    ),
    "votes that are not read": (
        text([(*trio, 1, 2, 5) for trio in TRIOS], "clip1,clip2,clip3,votes1,votes2,votes3"),
        ODD | dict(columns=["clip1", "clip2", "clip3"]),
        ["'clip1' is taken for the odd one in every row", "--answer"],
        None,
    ),
    "a rare name": (text(ROWS) + "dgo,cat,pike\n", {}, ["1 name occurs only once, and others 9 times", "'dgo'"], None),
    "a column of no objects": (
        text([(a, f, n, 300 + n_row) for n_row, (a, n, f) in enumerate(ROWS)], "head,loser,item,winner"),
        dict(columns=["head", "winner", "loser"]),
        ["the nearer objects ('300', '301', '302') are in no other column"],
        None,
    ),
    "roles in names of files": (
        text([(f"{n}query.jpg", f"{n}positive.jpg", f"{n}negative.jpg") for n in range(9)]),
        {},
        ["the first line", "is taken for an answer", "none of the 9 anchors is ever a choice"],
        [(f"{n}query.jpg", f"{n}positive.jpg", f"{n}negative.jpg") for n in range(9)],
    ),
    "sides without an answer": (text(ROWS, "anchor,left,right"), {}, ["--answer"], ROWS),
    "options without an answer": (
        text(ROWS, "probe,option1,option2"),
        {},
        ["'option1' is taken for the choice in every row", "--answer"],
        ROWS,
    ),
    "pictures without an answer": (text(ROWS, "reference,imageA,imageB"), {}, ["'imageA'", "--answer"], ROWS),
    "counts": (
        text([(*row, 2) for row in ROWS], "head,winner,loser,count"),
        {},
        ["'count' is not read", "--weight count"],
        ROWS,
    ),
    "a header again": (
        text(ROWS[:9], "head,winner,loser") + text(ROWS[9:], "head,winner,loser"),
        {},
        ["1 row of", "repeats the header", "line 11"],
        ROWS,
    ),
    "an invisible blank": (
        text(ROWS) + "\u200bcat,dog,pike\n",
        {},
        ["cannot be seen", "U+200B ZERO WIDTH SPACE", "'cat' and '\\u200bcat'"],
        None,
    ),
    "another case": (text(ROWS) + "Cat,dog,pike\n", {}, ["'Cat' and 'cat'"], None),
    "blanks": (text(ROWS) + "c at,dog,pike\n", {}, ["'c at' and 'cat'"], None),
    "folders": (text(ROWS) + "img/cat,dog,pike\n", {}, ["'cat' and 'img/cat'"], None),
    "endings": (text(ROWS) + "cat.PNG,dog,pike\n", {}, ["'cat' and 'cat.PNG'"], None),
    "two spellings": (
        text([(f"img/{a}.png", n, f) for a, n, f in ROWS]),
        {},
        ["none of the 6 anchors is ever a choice"],
        None,
    ),
    "NA": (text(ROWS) + "cat,NA,pike\n", {}, ["1 cell says 'NA'"], None),
    "NA for a person": (
        text([(*row, "NA") for row in ROWS], "head,winner,loser,puid"),
        {},
        ["18 cells say 'NA'"],
        ROWS,
    ),
    "an impossible winner": (
        BOTH + "cat,cow,dog,eel,dog\n",
        dict(file="m.csv", drop_invalid=True),
        ["1 names a choice that was not shown (line 20)"],
        ROWS,
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_is_pointed_out(tmp_path, case):
    content, options, words, rows = WARNED[case]
    answers, said = read(tmp_path, content, **options)
    assert not isinstance(answers, InputError), answers
    assert all(word in said for word in words) and (rows is None or named(answers) == rows), said


def test_numbers_that_are_equal_are_one_name(tmp_path):
    rows = numbers(ROWS)
    floats = text([(i, f"{j:.1f}", f" {k}") for i, j, k in rows], ("head", "winner", "loser"))
    expected = read(tmp_path, text(rows))[0]
    frame = pd.DataFrame(rows, columns=["head", "winner", "loser"]).astype({"winner": float})
    for found in (read(tmp_path, floats)[0], read_comparisons(frame), read_comparisons(rows)):
        assert named(found) == named(expected) and found.names == tuple("012345")
    scientific = "".join(" ".join(f"{x:.18e}" for x in row) + "\n" for row in rows)
    assert named(read(tmp_path, scientific, file="c.txt")[0]) == named(expected)
    codes = read(tmp_path, "007,7,3\n7,3,007\n")
    assert set(codes[0].names) == {"007", "7", "3"} and "'007' and '7'" in codes[1]


def test_numbers_of_people_are_one_person(tmp_path):
    rows = [(*row, ("1", "1.0", "2")[n % 3]) for n, row in enumerate(ROWS)]
    assert set(read(tmp_path, text(rows, "head,winner,loser,worker"))[0].respondents) == {"1", "2"}
    rows = [(*row, ("007", "7", "1.0")[n % 3]) for n, row in enumerate(numbers(ROWS))]
    assert set(read(tmp_path, text(rows, "head,winner,loser,worker"))[0].respondents) == {"007", "7", "1.0"}


def test_the_separator_cuts_all_lines_alike(tmp_path):
    lines_of_three = "Doe,J,Jr;Roe;Poe\nRoe;Doe,J,Jr;Poe\nPoe;Doe,J,Jr;Roe\nRoe;Poe;Moe\n"
    answers, _ = read(tmp_path, lines_of_three, header=False)
    assert answers.names == ("Doe,J,Jr", "Moe", "Poe", "Roe")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_two_unicode_forms_are_one_name(tmp_path, form):
    a, b = (unicodedata.normalize(f, "kö") for f in ("NFC", "NFD"))
    content = f"head,winner,loser\ncat,dog,trout\n{a},cat,trout\ndog,{b},pike\ntrout,pike,{a}\npike,trout,{b}\n"
    answers, _ = read(tmp_path, content, file="n.csv")
    assert len(answers.names) == 5 and a in answers.names
    names = [unicodedata.normalize(form, name) for name in answers.names]
    assert read_comparisons(tmp_path / "n.csv", objects=names).names == answers.names
    (tmp_path / "n.json").write_text(json.dumps([dict(zip("ijk", row)) for row in csv_rows(content)[1:]]))
    assert named(read_comparisons(tmp_path / "n.json")) == named(answers)


def test_columns_and_conditions_are_told_in_any_unicode_form(tmp_path):
    header, forms = "nähe,bild,fern,teil", [lambda x, f=f: unicodedata.normalize(f, x) for f in ("NFC", "NFD")]
    for of_file, of_user in (forms, forms[::-1]):
        content = of_file(text([(n, a, f, "übung" if a == "cat" else "test") for a, n, f in ROWS], header))
        columns = [of_user(name) for name in ("bild", "nähe", "fern")]
        answers, _ = read(tmp_path, content, columns=columns, where=of_user("teil!=übung"))
        assert named(answers) == [row for row in ROWS if row[0] != "cat"]


ANCHORS = "head anchor reference ref target probe query standard sample"
NEARER = "winner positive pos near nearer nearest close closer closest similar same match preferred"
FARTHER = "loser negative neg far farther further farthest furthest distant dissimilar different rejected foil"
PEOPLE = "puid participant respondent subject WorkerId worker_id Participant.ID user rater annotator ResponseId"


@pytest.mark.parametrize("word", f"{ANCHORS} {NEARER} {FARTHER} {PEOPLE}".split())
def test_what_tools_call_the_roles(tmp_path, word):
    roles = {"anchor": ANCHORS, "nearer": NEARER, "farther": FARTHER, "respondent": PEOPLE}
    mine = next(role for role, words in roles.items() if word in words.split())
    called = {"respondent": "puid", "farther": "loser", "nearer": "winner", "anchor": "head", mine: word}
    header = sorted([*called.values(), "block"], key=lambda name: name[::-1])
    places = {role: header.index(name) for role, name in called.items()}
    rows = [["b"] * 5 for _ in ROWS]  # the block, and what is put into the other places
    for row, (a, n, f) in zip(rows, ROWS):
        for role, cell in zip(("anchor", "nearer", "farther", "respondent"), (a, n, f, "ann")):
            row[places[role]] = cell
    answers, said = read(tmp_path, text(rows, header))
    assert named(answers) == ROWS and set(answers.respondents) == {"ann"} and not said


def csv_rows(content):
    return [line.split(",") for line in content.splitlines()]


@pytest.mark.parametrize("kind", ["odd-one-out", "central"])
@pytest.mark.parametrize("form", ["choices", "CSV", "a list of stimuli"])
def test_three_choices_of_jspsych(tmp_path, kind, form):
    records = []
    for trio, at in zip(TRIOS, ODD_AT):
        saved = {"stimulus": "<p>Which one is the odd one out?</p>", "choices": list(trio), "response": at}
        if form == "a list of stimuli":
            saved = {"stimulus": list(trio), "choices": ["f", "g", "h"], "response": at}
        records.append({"trial_type": "html-button-response", **saved})
    records.insert(0, {"trial_type": "html-button-response", "stimulus": "Go?", "choices": ["Yes"], "response": 0})
    name, content = "a.json", json.dumps(records)
    if form == "CSV":
        frame = pd.DataFrame(records).assign(choices=lambda frame: frame.choices.map(json.dumps))
        name, content = "a.csv", frame.to_csv(index=False)
    found, said = read(tmp_path, content, file=name, kind=kind, format="jspsych")
    expected = text([(trio[at], *[x for x in trio if x != trio[at]]) for trio, at in zip(TRIOS, ODD_AT)])
    assert named(found) == named(read(tmp_path, expected, kind=kind)[0]) and "1 of 19 rows" in said


def test_a_list_of_stimuli_without_choices_is_answered_by_numbers_from_one(tmp_path):
    columns = ("trial_type", "stimulus", "response")
    rows = [("click", json.dumps(trio), f"{at + 1}.0") for trio, at in zip(TRIOS, ODD_AT)]
    frame = pd.DataFrame([("page", "", ""), *rows], columns=columns)
    how = dict(format="jspsych", answer="response:1,2,3")
    found, _ = read(tmp_path, frame.to_csv(index=False), **ODD, **how)
    assert named(found) == named(
        read(tmp_path, text([(*t, t[at]) for t, at in zip(TRIOS, ODD_AT)]), **ODD, answer=3)[0]
    )
    three = [*rows, ("click", json.dumps(["cat", "pike", "eel"]), "2.0")]
    assert len(read(tmp_path, pd.DataFrame(three, columns=columns).to_csv(), **ODD, format="jspsych")[0]) == 2 * 19
    with_two = pd.DataFrame([row for row in rows if row[2] == "1.0"], columns=columns).to_csv()
    assert "clear" in str(read(tmp_path, with_two, **ODD, format="jspsych")[0])


def test_keys_of_a_list_of_stimuli_are_places(tmp_path):
    keys, expected = (
        ["f", "g", "h"],
        read(tmp_path, text([(*t, t[at]) for t, at in zip(TRIOS, ODD_AT)]), **ODD, answer=3),
    )
    records = [{"stimulus": list(t), "choices": keys, "response": keys[at]} for t, at in zip(TRIOS, ODD_AT)]
    found, _ = read(tmp_path, json.dumps(records), file="a.json", format="jspsych", **ODD)
    assert named(found) == named(expected[0])


def test_a_condition_takes_the_position_of_a_column(tmp_path):
    content = text([(*row, "m" if n % 2 else "p") for n, row in enumerate(ROWS)])
    answers, _ = read(tmp_path, content, where="3=m", header=False, columns=[0, 1, 2])
    assert named(answers) == ROWS[1::2]


def test_inquisit_shows_three(tmp_path):
    content = inquisit(("x", "y"))
    for row, left in zip(SHOWN, LEFT):
        content = content.replace("\tx\t" if left else "\ty\t", f"\t{row[0]}\t", 1)
    found, said = read(tmp_path, content, file="a.iqdat", kind="central", format="inquisit")
    assert named(found) == named(read(tmp_path, text(SHOWN), kind="central", header=False)[0])
    assert "1 of 19 rows" in said


@pytest.mark.parametrize(
    "header", ["image_1,image_2,odd_one_out", "odd,x,y", "x,Odd.One,y", "", "first,second,third,odd"]
)
def test_the_odd_one_is_found_by_name(tmp_path, header):
    names = header.split(",") if header else None
    at = next((n for n, name in enumerate(names) if "odd" in name.lower()), 0) if names else 2
    rows = []
    for trio, odd in zip(TRIOS, ODD_AT):
        others = [x for x in trio if x != trio[odd]]
        rows.append((*trio, trio[odd]) if names and len(names) == 4 else (*others[:at], trio[odd], *others[at:]))
    options = ODD if names else ODD | dict(columns=[2, 0, 1])  # THINGS, SPoSE and VICE: numbers and blanks
    answers, said = read(tmp_path, text(rows, names, "," if names else " "), file="a.txt", **options)
    expected = [(trio[odd], *[x for x in trio if x != trio[odd]]) for trio, odd in zip(TRIOS, ODD_AT)]
    assert named(answers) == named(read(tmp_path, text(expected), **ODD)[0]) and not said


def test_salmon_names_losers(tmp_path):
    content = "head,left,right,winner,puid,left_filename,right_filename,head_filename,winner_filename,loser\n"
    content += "0,18,12,5,p,l.png,r.png,h.png,w.png,12\n1,2,3,2,p,x.png,y.png,z.png,x.png,3\n"
    answers, said = read(tmp_path, content, format="salmon", drop_invalid=True)
    assert named(answers) == [("z.png", "x.png", "y.png")] and "1 names a choice that was not shown (line 2)" in said


def test_decimal_commas(tmp_path):
    content = text([(*row, f"{n},5") for n, row in enumerate(ROWS)], ("head", "winner", "loser", "w"), ";")
    answers, _ = read(tmp_path, content, weight="w")
    assert answers.weights.tolist() == [n + 0.5 for n in range(18)] and named(answers) == ROWS


def test_qualtrics_writes_three_lines_of_header(tmp_path):
    head = ["ResponseId", "anchor", "left", "right", "choice"]
    more = [["Response ID", "The anchor?", "Left", "Right", "Which?"], [json.dumps({"ImportId": x}) for x in head]]
    rows = [(f"R_{n % 3}", *row, row[1] if left else row[2]) for n, (row, left) in enumerate(zip(SHOWN, LEFT))]
    frame = pd.DataFrame([*more, *rows], columns=head)
    answers, _ = read(tmp_path, frame.to_csv(index=False))
    assert named(answers) == ROWS and answers.respondents.tolist()[:3] == ["R_0", "R_1", "R_2"]
    assert "2 more lines of Qualtrics' header" in str(answers.reading)


def test_qualtrics_writes_a_row_for_each_person(tmp_path):
    wide = {"ResponseId": ["R_1", "R_2", "R_3"], "Finished": ["1", "1", "0"]}
    for number, (row, left) in enumerate(zip(SHOWN, LEFT)):
        for name, cell in zip(("anchor", "left", "right", "choice"), (*row, 1 if left else 2)):
            wide[f"{name}_{number}"] = [cell] * 3
    how = dict(format="qualtrics", columns=["anchor_*", "left_*", "right_*"], answer="choice_*")
    answers, said = read(tmp_path, pd.DataFrame(wide).to_csv(index=False), **how)
    assert sorted(named(answers)) == sorted(ROWS * 2) and set(answers.respondents) == {"R_1", "R_2"}
    assert "1 of 3 rows are left out" in said and "regular expression" not in said


@pytest.mark.parametrize("form", ["folder", "list", "zip", "JATOS"])
def test_a_file_for_each_person(tmp_path, form):
    parts = {f"{who}.csv": text(ROWS[n::3], ("head", "winner", "loser")) for n, who in enumerate(("ann", "ben", "cy"))}
    folder = tmp_path / "data"
    folder.mkdir()
    for name, content in parts.items():
        (folder / name).write_text(content)
    (folder / "notes.md").write_text("nothing")
    source = folder
    if form == "list":
        source = sorted(folder.glob("*.csv"))
    elif form in ("zip", "JATOS"):
        source = tmp_path / "data.zip"
        inside = {f"study/{name[:-4]}/data.txt" if form == "JATOS" else name: x for name, x in parts.items()}
        source.write_bytes(zipped(inside))
    answers = read_comparisons(source)
    assert named(answers) == [row for n in range(3) for row in ROWS[n::3]]
    assert answers.respondents.tolist() == [who for who in ("ann", "ben", "cy") for _ in range(6)]
    assert "file = respondent" in str(answers.reading)
    with pytest.raises(InputError, match="line [23], must be") as refused:
        (folder / "ben.csv").write_text(parts["ben.csv"].replace("dog", ""))
        read_comparisons(folder)
    assert "ben.csv" in str(refused.value)


def test_files_of_a_folder_that_hold_no_answers(tmp_path):
    header = ("head", "winner", "loser")
    for who in ("ann", "ben"):  # both begin with the same answer
        (tmp_path / f"{who}.csv").write_text(text(ROWS))
    assert len(read_comparisons(tmp_path)) == 36
    for who in ("ann", "ben"):
        (tmp_path / f"{who}.csv").write_text(text(ROWS, header))
    (tmp_path / "README.txt").write_text("nothing")
    (tmp_path / "cy.csv").write_text("")
    (tmp_path / "dan.csv").write_text(text([], header))
    with pytest.warns(InputWarning, match="2 files hold no rows: .*cy.csv, .*dan.csv"):
        assert set(read_comparisons(tmp_path).respondents) == {"ann", "ben"}
    for name, content in (("age.csv", "id,age\nann,4\n"), ("notes.txt", 'what "this\nand "that", is')):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=f"{name} must be a file of answers.*--drop-invalid"):
            read_comparisons(tmp_path)
        with pytest.warns(InputWarning, match=f"1 file left out, not answers: .*{name}"):
            assert len(read_comparisons(tmp_path, drop_invalid=True)) == 36
        with pytest.raises(InputError):  # it was named
            read_comparisons([*tmp_path.glob("*n.csv"), tmp_path / name])
        (tmp_path / name).unlink()


def test_a_column_says_who_answered_in_several_files(tmp_path):
    for n in range(3):
        rows = [(*row, f"p{m % 2}") for m, row in enumerate(ROWS[n::3])]
        (tmp_path / f"{n}.csv").write_text(text(rows, ("head", "winner", "loser", "puid")))
    assert set(read_comparisons(tmp_path).respondents) == {"p0", "p1"}


def test_the_same_in_python():
    frame = pd.DataFrame(TURNED, columns=["head", "loser", "winner"])
    assert named(read_comparisons(frame)) == named(Triplets.from_frame(frame)) == ROWS
    assert named(read_comparisons(ROWS)) == named(read_comparisons(np.array(ROWS))) == ROWS
    records = frame.to_dict("records")
    assert named(read_comparisons(records)) == ROWS


# ---- the command


@pytest.mark.parametrize(
    "command", ["cluster a.csv --method 3-al --clusters 2", "compare a.csv --splits 2", "people a.csv", "pool a.csv"]
)
def test_commands_say_how_they_read(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    rows = [(*row, f"p{n % 2}") for n, row in enumerate(TURNED)]
    (tmp_path / "a.csv").write_text(text(rows, ("head", "loser", "winner", "puid")))
    assert main(command.split()) == 0
    out, _ = capsys.readouterr()
    assert "head = anchor, winner = nearer, loser = farther, puid = respondent (by name); 18 rows" in out
    if command.startswith("cluster"):
        assert "cluster 0 (3): cat, cow, dog\ncluster 1 (3): eel, pike, trout\n" in out


def test_commands_take_the_same_options():
    commands = make_parser()._subparsers._group_actions[0].choices
    taken = {name: {o for a in commands[name]._actions for o in a.option_strings} for name in commands}
    common = {f"--{name}" for name in READING_HELP}
    for name in ("cluster", "compare", "people", "pool", "plan"):
        assert common <= taken[name], (name, common - taken[name])


def test_people_are_compared_by_their_answers_and_trees():
    rows = {
        "ann": [*ROWS, ("cat", "eel", "cow")],
        "ben": [("dog", "eel", "cow"), ("cat", "dog", "cow"), *ROWS[:3], ("dog", "trout", "cat"), *ROWS[4:9]],
    }
    rows["ben"].append(("cat", "cow", "dog"))  # answered both ways
    answers = read_comparisons([(*row, who) for who in rows for row in rows[who]], respondent=3, header=False)
    (found,) = compare_people(answers).to_dict("records")
    said = {who: [(a, *sorted((n, f)), n) for a, n, f in rows[who]] for who in rows}
    decided = [
        {question for question in said[who] if (*question[:3], *{*question[1:3]} - {question[3]}) not in said[who]}
        for who in rows
    ]
    same, asked = set.intersection(*decided), [{question[:3] for question in own} for own in decided]
    sizes = [triplet_average_linkage(answers.take(answers.respondents == who)).lca_size() for who in rows]
    seen = set.intersection(*({answers.names.index(name) for row in rows[who] for name in row} for who in rows))
    odd = [
        [max(trio, key=lambda k: own[k, [i for i in trio if i != k]].min()) for trio in combinations(sorted(seen), 3)]
        for own in sizes
    ]
    agree = np.mean(np.equal(*odd))
    expected = dict(first="ann", second="ben", common_questions=len(set.intersection(*asked)), same_answers=len(same))
    assert found == expected | dict(triples=len(odd[0]), tree_agreement=agree) and 0 < agree < 1


# ---- two thousand files

WORDS = {
    "anchor": ["head", "anchor", "Reference", "target", "probe_image", "query", "targetStimulus", "ref"],
    "nearer": ["winner", "positive", "near", "closer", "Chosen.Item", "more_similar", "nearest"],
    "farther": ["loser", "negative", "far", "less_similar", "farther", "rejected", "unchosen"],
    "left": ["left", "left_image", "imgLeft", "Left"],
    "right": ["right", "right_image", "imgRight", "Right"],
    "answer": ["answer", "choice", "response", "Response", "selected", "decision"],
    "odd": ["odd", "odd_one_out", "Odd.One"],
    "central": ["central", "most_central"],
    "person": ["puid", "participant", "Participant.ID", "worker_id", "subject", "WorkerId", "respondent"],
}
BESIDE = {
    "rt": lambda rng: rng.integers(300, 3000),
    "trial_index": lambda rng: rng.integers(50),
    "block": lambda rng: "b",
}
CODES = [("left", "right"), (0, 1), (1, 2), ("L", "R"), ("ArrowLeft", "ArrowRight"), (1.0, 2.0), (37, 39)]
FORMS = ("csv", "tsv", "json", "frame", "parquet")


def generated(rng):
    "(rows of a table, columns, kind, options, answers as they are meant) of a made-up study."
    names = [f"{word}{n}" for word in ("cat", "pike") for n in range(3)] if rng.random() < 0.6 else list(range(6))
    kind = rng.choice(["triplets", "triplets", "shown", "shown", "odd-one-out", "central"])
    pick = {role: str(rng.choice(words)) for role, words in WORDS.items()}
    pick["right"] = WORDS["right"][WORDS["left"].index(pick["left"])]
    rows, truth = [], []
    codes = CODES[rng.integers(len(CODES))] if rng.random() < 0.7 else None
    for n in range(int(rng.integers(8, 20))):
        a, x, y = (names[i] for i in rng.permutation(6)[:3])
        row = {pick["person"]: f"p{n % 3}"}
        if kind == "triplets":
            row |= {pick["anchor"]: a, pick["nearer"]: x, pick["farther"]: y}
        elif kind == "shown":
            turned = rng.random() < 0.5 and n > 1 or n == 1
            code = x if codes is None else codes[turned]
            sides = (y, x) if turned else (x, y)
            row |= {pick["anchor"]: a, pick["left"]: sides[0], pick["right"]: sides[1], pick["answer"]: code}
        else:
            row |= {"item_1": x, "item_2": y, pick["odd" if kind == "odd-one-out" else "central"]: a}
        rows.append(row | {name: make(rng) for name, make in BESIDE.items()})
        truth.append((a, x, y))
    order = rng.permutation(list(rows[0])).tolist()
    frame = pd.DataFrame(rows)[order]
    options = {} if kind in ("triplets", "shown") else {"kind": str(kind)}
    expected = truth
    if options:
        expected = named(read_comparisons([tuple(map(str, row)) for row in truth], kind=str(kind), columns=[0, 1, 2]))
    return frame, options, [tuple(map(str, row)) for row in expected]


@pytest.mark.parametrize("part", range(4))
def test_five_forms_of_a_file_are_read_alike(tmp_path, part):
    pytest.importorskip("pyarrow")
    n_read = 0
    for seed in range(100 * part, 100 * part + 100):
        frame, options, expected = generated(np.random.default_rng(seed))
        paths = {form: tmp_path / f"{seed}.{form}" for form in FORMS}
        frame.to_csv(paths["csv"], index=False, sep=",;"[seed % 2])
        frame.to_csv(paths["tsv"], index=False, sep="\t")
        paths["json"].write_text(frame.to_json(orient=("records", "columns", "split")[seed % 3]))
        frame.to_parquet(paths["parquet"])
        found = set()
        for form, path in paths.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    answers = read_comparisons(frame if form == "frame" else path, **options)
                    found.add((tuple(named(answers)), answers.names, tuple(answers.respondents)))
                except InputError as error:
                    found.add(str(error).split("must be")[-1][:40])
        assert len(found) == 1, (seed, frame.head(3), found)
        (result,) = found
        if not isinstance(result, str):
            assert sorted(result[0]) == sorted(expected), (seed, frame.head(3), str(answers.reading))
            n_read += 1
    assert n_read > 80


def damaged(frame, rng):
    "A delimited file with one to three faults, as rows of cells."
    rows = [list(frame), *frame.astype(str).to_numpy().tolist()]
    for fault in rng.integers(8, size=rng.integers(1, 4)):
        r, c = rng.integers(1, len(rows)), rng.integers(min(map(len, rows)))
        if fault == 0:
            order = rng.permutation(max(map(len, rows)))
            rows = [[(row + [""] * len(order))[i] for i in order] for row in rows]
        elif fault < 3:
            rows[r][c] = ["", "NA"][fault - 1]
        elif fault == 3:
            rows.insert(r, list(rows[0]))
        elif fault == 4:
            rows[0][c] = str(rng.choice(sum(WORDS.values(), [])))
        else:
            at = r if fault < 7 else 0
            rows[at] = [*rows[at], "x"] if fault == 5 else rows[at][:-1]
    return rows


@pytest.mark.parametrize("part", range(2))
def test_damaged_files_are_right_or_refused_or_pointed_out(tmp_path, part):
    n_right = 0
    for seed in range(250 * part, 250 * part + 250):
        rng = np.random.default_rng(seed)
        frame, options, expected = generated(rng)
        rows, drop = damaged(frame, rng), bool(rng.random() < 0.5)
        answers, said = read(tmp_path, text(rows), drop_invalid=drop, **options)
        if not isinstance(answers, InputError) and not said:
            assert not set(named(answers)) - set(expected), (seed, rows[:3], str(answers.reading))
            assert len(answers) == len(expected), (seed, rows, str(answers.reading))
            n_right += 1
        elif isinstance(answers, InputError):
            assert "must be" in str(answers) and ("line" in str(answers) or "--" in str(answers)), (seed, answers)
    assert n_right > 15


# ---- Python and matrices


def test_responses_of_cblearn_are_not_dropped():
    X = np.array([[0, 1, 2], [1, 2, 0], [2, 3, 0], [3, 1, 2], [4, 0, 3], [4, 2, 1]])
    y = np.array([1, -1, 1, -1, 1, -1])
    for responses in (y, y.astype(float), y > 0, y.tolist()):
        assert ComparisonHC("3-al", n_clusters=2).fit(X, responses).labels_.tolist() == [0, 0, 1, 1, 0]
        flat = ComparisonClustering(n_clusters=2).fit(X, responses).similarity_
        assert np.array_equal(flat, ComparisonClustering(n_clusters=2).fit(apply_responses(X, y)).similarity_)
    for other in (None, np.zeros(6), np.arange(6), ["a"] * 6, "y", 3):
        assert ComparisonHC("3-al", n_clusters=2).fit(X, other).labels_.tolist() == [1, 0, 0, 0, 1]
    with pytest.raises(InputError, match="y must be one response for each of 6 comparisons; got 5"):
        ComparisonHC("3-al").fit(X, y[:5])
    four = [[0, 1, 2, 3], [1, 2, 0, 3]]
    assert apply_responses(four, [True, False]).array.tolist() == [[0, 1, 2, 3], [0, 3, 1, 2]]


def test_names_are_taken_wherever_numbers_are(tmp_path):
    frame = pd.DataFrame(TURNED, columns=["head", "loser", "winner"])
    expected = ComparisonHC("3-al", n_clusters=2).fit(Triplets(ROWS)).labels_.tolist()
    for X in (ROWS, np.array(ROWS), frame, read_comparisons(frame)):
        assert ComparisonHC("3-al", n_clusters=2).fit(X).labels_.tolist() == expected == [0, 0, 0, 1, 1, 1]
    by_index = pd.DataFrame(numbers(TURNED), columns=["head", "loser", "winner"])
    assert Triplets(by_index).array.tolist() == [list(row) for row in numbers(ROWS)]
    with pytest.raises(InputError, match="--kind odd-one-out"):
        Triplets(by_index.set_axis(["odd", "x", "y"], axis=1))


DISTANCES = ",cat,dog,trout,pike\ncat,0,1,9,8\ndog,1,0,9,8\ntrout,9,9,0,1\npike,8,8,1,0\n"


def test_distances_are_no_similarities(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(DISTANCES)
    words = ["cluster", "d.csv", "--method", "single", "--clusters", "2", "--kind"]
    assert main([*words, "similarity"]) == 0 and "--kind distance" in capsys.readouterr().err
    assert main([*words, "distance"]) == 0
    out, err = capsys.readouterr()
    assert "cluster 0 (2): cat, dog\ncluster 1 (2): trout, pike\n" in out and not err
    (tmp_path / "d.csv").write_text(DISTANCES.replace(",", ";").replace("1", "0,5"))
    assert main([*words, "distance"]) == 0 and "cluster 0 (2): cat, dog\n" in capsys.readouterr().out
    matrix = np.array([[0, 1, 9, 8], [1, 0, 9, 8], [9, 9, 0, 1], [8, 8, 1, 0]])
    with pytest.warns(InputWarning, match='if these are distances, say kind="distance"'):
        ComparisonHC("single").fit(matrix)
    assert ComparisonHC("single", n_clusters=2, kind="distance").fit(matrix).labels_.tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match="distances of at least 0"):
        ComparisonHC("single", kind="distance").fit(-matrix)


def test_the_report_says_what_was_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"{row},{'practice' if n % 5 == 4 else 'main'}\n" for n, row in enumerate(shown("10").splitlines()[1:])
    )
    (tmp_path / "e.csv").write_text(
        f"A,B,C,eval,phase\n{rows}cat,cat,dog,1,main\ncat,cow,dog,NA,main\ndgo,cat,eel,1,main\n"
    )
    words = f"cluster {tmp_path / 'e.csv'} --columns A,B,C --answer eval:1=B,0=C --where phase=main --missing NA"
    assert main([*words.split(), *"--drop-invalid --method 3-al --out t.html --out t.json".split()]) == 0
    page = (tmp_path / "t.html").read_text().split("<h2>What was read</h2>")[1].split("<h2>")[0]
    cells = [re.sub("<[^>]*>", "", cell).strip() for cell in re.findall("<t[hd].*?</t[hd]>", page, re.S)]
    table = dict(zip(cells[::2], cells[1::2]))
    assert table["file"] == "e.csv" and str(tmp_path) not in page
    assert table["columns (as told)"] == "A = anchor, B = shown, C = shown, eval = answer"
    assert table["answers"] == "0 is C, 1 is B" and table["condition"] == "phase=main (18 of 21 rows)"
    assert table["rows"] == "16 of 18 rows" and "NA" in table["missing"] and "not read" not in table
    assert "1 lacks a value (line 21)" in page and "1 compares a thing with itself (line 20)" in page
    assert "dgo" in table["warning"] and "left out" not in table["warning"]
    line = json.loads((tmp_path / "t.json").read_text())["summary"]["read"]
    assert line in capsys.readouterr().out and line.startswith("A = anchor")


def test_pictures_are_found_by_the_last_part_of_a_name(tmp_path, monkeypatch, capsys):
    Image = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "img").mkdir()
    for name in (*PETS, *FISH):
        Image.new("RGB", (4, 4)).save(tmp_path / "img" / f"{name}.png")
    rows = [tuple(f"stimuli/{name}.png" for name in row) for row in ROWS]
    (tmp_path / "a.csv").write_text(text(rows, ("head", "winner", "loser")))
    assert main("cluster a.csv --method 3-al --images img --out t.html".split()) == 0
    assert "6 of 6 objects" in capsys.readouterr().out


# ---- trees of other programs


def test_merges_out_of_order_are_sorted():
    tree = Dendrogram.from_linkage([[0, 1, 3.0, 2], [2, 3, 1.0, 2], [4, 5, 5.0, 4]])
    assert tree.cut(3).tolist() == [1, 2, 0, 0] and (np.diff(tree.heights) >= 0).all()


@pytest.mark.parametrize(
    "newick, names",
    [
        ("((A[x[y]z]:1,B:1):1,C:2);", "ABC"),
        ("\ufeff((A:1,B:1):1,C:2);\n", "ABC"),
        ("((\"A b\":1,'B c':1):1,C:2);", ["A b", "B c", "C"]),
        ("[&R] ((A:1,B:1)90:1,C:2)[a];", "ABC"),
    ],
)
def test_newick_in_the_wild(newick, names):
    assert list(Dendrogram.from_newick(newick).names) == list(names)


@pytest.mark.parametrize(
    "newick, word", [("((A:1,(B:1)#H1:0):1,(#H1:0,C:1):1);", "network"), ("((A:1,B:1):1,C:2)", "';' at the end")]
)
def test_what_is_no_tree_is_refused(newick, word):
    with pytest.raises(InputError, match=word):
        Dendrogram.from_newick(newick)


def test_chunks_of_a_large_file_are_read_by_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text(TURNED, ("head", "loser", "winner")))
    expected = ComparisonClustering(n_clusters=2).fit(ROWS).similarity_
    names = sorted((*PETS, *FISH))
    assert np.array_equal(adds_from_file(path, objects=names).similarity(), expected)
    path.write_text(text(TRIOS, ("image_1", "image_2", "odd")))
    with pytest.raises(InputError, match="--kind odd-one-out"):
        adds_from_file(path, objects=names)
    path.write_text(shown(("left", "right")))
    with pytest.raises(InputError, match="read_comparisons, as column 'answer'"):
        adds_from_file(path, objects=names)


def test_files_that_are_not_read_are_named(tmp_path):
    for name in ("p1.csv", "p2.csv", "README.md", "trials/tree.png", ".DS_Store"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("anchor,near,far\ncat,dog,trout\ndog,cat,trout\n", encoding="utf-8")
    reading = str(read_comparisons(tmp_path).reading)
    assert "2 files not read: README.md, trials/tree.png" in reading and "DS_Store" not in reading
    (tmp_path / "README.md").unlink()
    (tmp_path / "trials" / "tree.png").unlink()
    assert "not read" not in str(read_comparisons(tmp_path).reading)


@pytest.mark.parametrize("answer", ["a name", "a side"])
@pytest.mark.parametrize("kind", ["triplets", "odd-one-out"])
def test_what_a_refusal_proposes_can_be_read(tmp_path, kind, answer):
    rows, sides = (SHOWN, [not left for left in LEFT]) if kind == "triplets" else (TRIOS, ODD_AT)
    offset = 1 if kind == "triplets" else 0
    names = ("left", "right") if kind == "triplets" else ("left", "middle", "right")
    answers = [row[offset + at] if answer == "a name" else names[at] for row, at in zip(rows, sides)]
    if kind == "odd-one-out" and answer == "a side":
        answers = [str(at + 1) for at in sides]
    path = tmp_path / "a.csv"
    cells = [("1", n, *row, 400 + n, a) for n, (row, a) in enumerate(zip(rows, answers))]
    path.write_text(text(cells, "block,number,foo,the bar,baz,qux,quux"))  # as programs for experiments write it
    with pytest.raises(InputError, match="--columns 'foo,the bar,baz'.*--answer quux") as error:
        read_comparisons(path, kind=kind)
    told = dict(re.findall(r"--(columns|answer) ([^)]*)\)", str(error.value)))
    columns = told["columns"].strip("'").split(",")
    found = read_comparisons(path, kind=kind, columns=columns, answer=told["answer"])
    expected = read_comparisons([list(row) for row in ROWS])
    if kind == "triplets":
        assert named(found) == named(expected)
    else:
        assert "quux = answer" in str(found.reading) and len(found) == 2 * len(rows)


@pytest.mark.parametrize("drop_invalid", [False, True])
@pytest.mark.parametrize("code", ["name", "123", "012", "abc"])
@pytest.mark.parametrize(
    "header", ["a,b,c,odd", "left,middle,right,oddball", "item1,item2,item3,choice", "stim_1,stim_2,stim_3,response"]
)
def test_one_of_three_is_not_read_as_one_of_two(tmp_path, header, code, drop_invalid):
    "Without a kind, a file of odd ones is refused by the kinds that it may have, and these read it."
    trios = [((n, a, f), (n, f, a), (f, n, a))[i % 3] for i, (a, n, f) in enumerate(ROWS)]
    odd = [row[-1] for row in ROWS]
    rows = [(*trio, who if code == "name" else code[trio.index(who)]) for trio, who in zip(trios, odd)]
    path = tmp_path / "a.csv"
    path.write_text(text(rows, header))
    with pytest.raises(InputError, match=r"--kind odd-one-out\)") as error:
        read_comparisons(path, drop_invalid=drop_invalid)
    assert ("--kind central" in str(error.value)) == ("odd" not in header)
    expected = {(*pair, f) for a, n, f in ROWS for pair in ((a, n), (n, a))}
    assert set(named(read_comparisons(path, kind="odd-one-out"))) == expected


def test_one_of_two_is_not_read_as_one_of_three(tmp_path):
    path = tmp_path / "a.csv"
    rows = [(*row, row[1 + (not left)]) for row, left in zip(SHOWN, LEFT)] * 2
    path.write_text(text(rows, "a,b,c,choice"))
    assert "no answer chooses 'a'" in " ".join(read_comparisons(path, kind="odd-one-out").reading.warnings)
    assert "chooses" not in " ".join(read_comparisons(path).reading.warnings)
