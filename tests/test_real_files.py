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
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from shared import named, zip_of

from comparison_hc.cli import main
from comparison_hc.cli._main import make_parser
from comparison_hc.cli.options import help_texts
from comparison_hc.comparisons import Triplets, apply_responses, read_comparisons
from comparison_hc.core.validation import InputError, InputWarning
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
ODD_NAMED = [(*trio, trio[at]) for trio, at in zip(TRIOS, ODD_AT)]
ODD_FIRST = [(trio[at], *[x for x in trio if x != trio[at]]) for trio, at in zip(TRIOS, ODD_AT)]


LETTERS = {  # what a column of a file says about each of the eighteen answers
    **dict(zip("anf", zip(*ROWS))),  # anchor, nearer, farther
    **dict(zip("lr", [*zip(*SHOWN)][1:])),  # what was on the left and on the right
    "_": [""] * len(ROWS),
}
SIDED = "anchor,left,right"


def text(rows, header=None, separator=",", end="\n"):
    "A delimited file."
    header = header.split(",") if isinstance(header, str) else header
    return "".join(separator.join(map(str, row)) + end for row in [*([header] if header else []), *rows])


def cells(form, codes=(), first=0):
    "Rows, from a letter for each column; `#` numbers the rows, `?` is the code of the side; a word is itself."
    numbered = {"#": range(first, first + len(ROWS)), "?": [codes[not left] for left in LEFT] if codes else ()}
    return [*zip(*(({**LETTERS, **numbered}).get(word, [word] * len(ROWS)) for word in form.split(" ")))]


def study(header, form, codes=(), first=0, separator=","):
    "A delimited file of the eighteen answers."
    return text(cells(form, codes, first), header, separator)


def shown(codes, header=f"{SIDED},answer"):
    "What was shown, and what was answered: one code where the left one was nearer, and another."
    return study(header, "a l r ?", codes)


def lines(records):
    "JSON lines."
    return "".join(json.dumps(record) + "\n" for record in records)


def trials(stimulus="{}", choice=None, codes=(0, 1), answered="response", kind=None):
    "Trials of jsPsych."
    kind = {"trial_type": "html-button-response"} if kind is None else kind
    wrap = (choice or stimulus).format
    return [
        {**kind, "stimulus": stimulus.format(a), "choices": [wrap(x), wrap(y)], answered: codes[not left]}
        for (a, x, y), left in zip(SHOWN, LEFT)
    ]


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


def numbers(rows):
    return [tuple(NUMBER[name] for name in row) for row in rows]


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


ODD = dict(kind="odd-one-out")
SIDES = dict(columns=["anchor", "left", "right"])
ABC = dict(columns=["A", "B", "C"])
STIM = dict(columns=["Stim1", "Stim2", "Stim3"])
TEXT, JSON = dict(file="a.txt"), dict(file="a.json")
JSPSYCH = JSON | dict(format="jspsych")
WINNERS, LOSERS = "head,winner,loser", "head,loser,winner"
MTURK = "WorkerId,AssignmentStatus,Input.anchor,Input.left,Input.right,Answer.choice"
WINNER_ROWS, LOSER_ROWS = text(ROWS, WINNERS), pd.DataFrame(cells("a f n"), columns=LOSERS.split(","))
TURNED = cells("a f n")
BOTH = study("head,winner,loser,left,right", "a n f n f")
IMPOSSIBLE = "head,left,right,winner,puid,left_filename,right_filename,head_filename,winner_filename,loser\n"
IMPOSSIBLE += "0,18,12,5,p,l.png,r.png,h.png,w.png,12\n1,2,3,2,p,x.png,y.png,z.png,x.png,3\n"
R_TABLE = "".join(f'"{n}" "{a}" "{b}" "{c}"\n' for n, (a, b, c) in enumerate(ROWS, 1))
COMMAS = [[f"{name}, x" for name in row] for row in ROWS]
UNTIMELY = "anchor,left,right,ans\ncat,dog,trout,1\ndog,cat,trout,1\ndog,cat,pike,1\ntrout,pike,cat,1\n"
UNTIMELY += "pike,trout,cat,1\ntrout,cat,pike,2\ntrout,pike,dog,0\npike,trout,dog,0\n"
SALMON = "head,winner,loser,left,right,puid,head_filename,winner_filename,left_filename,right_filename"
SALMON_ROWS = [(*[NUMBER[x] for x in (a, n, f, n, f)], "p", *[f"{x}.png" for x in (a, n, n, f)]) for a, n, f in ROWS]


def case(content, *words, rows=None, **options):
    "(a file, how it is read, what has to be said, the answers where they are told)"
    return content, options, words, rows


# what the one line must say
RIGHT = {
    # F1: names of columns decide
    "head,loser,winner": case(study("head,loser,winner", "a f n"), "winner = nearer"),
    "winner,loser,head": case(study("winner,loser,head", "n f a"), "by name"),
    "target,far,near": case(study("target,far,near", "a f n"), "far = farther"),
    "anchor,negative,positive": case(
        study("anchor,negative,positive", "a f n", separator="\t"), "by name", file="a.tsv"
    ),
    "Probe Reference": case(study("Closer Image,Reference,Far", "n a f")),
    "two of three": case(study("loser,winner,item", "f n a"), "item = anchor"),
    "more columns": case(study("trial,far,puid,ref,rt,near", "1 f p a 812 n"), "puid = respondent"),
    "less similar": case(study("reference,less_similar,more_similar", "a f n")),
    "camel case": case(study("refImage,rejectedImage,chosenImage", "a f n")),
    "shown and answered": case(shown(("left", "right")), "answer = answer"),
    "the anchor last": case(study("left,right,target,choice", "l r a n"), "target = anchor"),
    "choice_1, choice_2": case(study("choice_1,choice_2,anchor,response", "l r a ?", "12")),
    "a role in all names": case(
        shown(("left", "right"), "match_probe,match_left,match_right,match_response"), "match_probe = anchor"
    ),
    "NEXT's names": case(
        study("target_center,target_left,target_right,target_winner", "a l r n"), "target_winner = answer"
    ),
    # F3, F16, F17: codes
    "eval": case(shown("10", "A,B,C,eval"), "0 is C, 1 is B", **ABC, answer="eval:1=B,0=C"),
    "codes in order": case(shown("fj"), "f is left", **SIDES, answer="answer:f,j"),
    "is_left": case(shown("10", "anchor,left,right,is_left"), "1 is left", **SIDES, answer="is_left"),
    "True and False": case(shown(("True", "False"), "A,B,C,eval"), "True is B", **ABC, answer="eval"),
    "1.0 and 2.0": case(shown(("1.0", "2.0")), "1.0 is left"),
    "A and B": case(shown("AB"), "A is left"),
    "keys": case(shown(("ArrowLeft", "ArrowRight"))),
    "key codes": case(shown((37, 39))),
    "file names": case(
        text([(*(f"img/{x}.png" for x in row), near) for row, (_, near, _) in zip(SHOWN, ROWS)], f"{SIDED},response")
    ),
    "codes from 0": case(shown("01"), "0 is left"),
    "sides in capitals": case(shown(("Left", "RIGHT"))),
    "names of columns": case(shown(("this", "that"), "anchor,this,that,answer"), answer="answer"),
    "minus one": case(shown((1, -1), "A,B,C,y"), **ABC, answer="y:1=B,-1=C"),
    "all the same": case(study(f"{SIDED},answer", "a n f 1"), answer="answer:1=left,2=right"),
    "a missing code": case(
        shown("12") + "cat,dog,pike,0\n", "left out", answer="answer", missing="answer=0", drop_invalid=True
    ),
    # F2, F20: jsPsych
    "jsPsych": case(json.dumps(trials()), **JSPSYCH),
    "jsPsych in CSV": case(
        pd.DataFrame([{**t, "choices": json.dumps(t["choices"])} for t in trials()]).to_csv(index=False),
        format="jspsych",
    ),
    "jsPsych with HTML": case(json.dumps(trials("<p>{}</p>")), **JSPSYCH),
    "jsPsych with pictures": case(json.dumps(trials("<img src='img/{}.png'>")), **JSPSYCH),
    "one spelling is HTML": case(json.dumps(trials("img/{}.png", "<img src='img/{}.png' width=80>")), **JSPSYCH),
    "jsPsych 6": case(json.dumps(trials(codes="01", answered="button_pressed", kind={})), **JSPSYCH),
    # F5: headers inside
    "two files in one": case(text(ROWS[:9], WINNERS) + text(ROWS[9:], WINNERS), "1 repeated header"),
    "… with byte order marks": case(
        "\ufeff" + text(ROWS[:9], WINNERS) + "\ufeff" + text(ROWS[9:], WINNERS), "repeated"
    ),
    "… in another case": case(text(ROWS[:9], WINNERS) + text(ROWS[9:], "Head,WINNER,loser"), "repeated"),
    "… and columns": case(
        text(ROWS[:9], "uno,due,tre") + text(ROWS[9:], "uno,due,tre"), "repeated", columns=["uno", "due", "tre"]
    ),
    # F7, F21, F22: separators
    "quoted commas": case(text([[f'"{name}"' for name in row] for row in COMMAS], separator=";")),
    "tabs in .csv": case(text(COMMAS, separator="\t")),
    "commas and blanks inside": case(text(COMMAS, separator=";")),
    "blanks around quoted commas": case(
        "".join('{} "{}" "{}" "{}"\n'.format(n, *row) for n, row in enumerate(COMMAS)), **TEXT
    ),
    "pipes": case(text(ROWS, separator="|")),
    "blanks": case(text(ROWS, separator=" "), "0 = anchor", **TEXT),
    "blanks in columns": case(text([[f"{name:>8}" for name in row] for row in ROWS], separator=" ", end=" \n"), **TEXT),
    "write.table": case('"head" "winner" "loser"\n' + R_TABLE, "by name", **TEXT),
    "write.table without names": case(R_TABLE, **TEXT),
    "to_csv with an index": case(pd.DataFrame(ROWS, columns=["x", "y", "z"]).to_csv()),
    "sep=;": case("sep=;\r\n" + text(ROWS, WINNERS, ";", "\r\n"), "names the separator"),
    "a comment": case("# exported on Monday, by Ada\n" + WINNER_ROWS, "1 comment"),
    "savetxt's header": case("# head loser winner\n" + text(TURNED, separator=" "), "by name", **TEXT),
    "END OF FILE": case(WINNER_ROWS + "END OF FILE,,\n", "END OF FILE"),
    "separators at the end": case(text(ROWS, WINNERS, end=",,\n")),
    "a separator that is told": case(text(ROWS, separator="~"), separator="~"),
    "UTF-16": case(text(ROWS, WINNERS, "\t").encode("utf-16")),
    # F13: Salmon
    "Salmon": case(text(SALMON_ROWS, SALMON), "as salmon writes them", format="salmon"),
    "Salmon, names": case(study(f"{WINNERS},puid", "a n f p"), "puid = respondent", format="salmon"),
    "Salmon without a format": case(BOTH, "by name"),
    # F18, F19: JSON
    "JATOS": case("".join(json.dumps(trials()[n : n + 6]) + "\n" for n in (0, 6, 12)), **TEXT, format="jspsych"),
    "JSON lines with a float": case(
        lines(
            {"head": a, "winner": n, "loser": f, "rt": 812.5 if a == "cat" else None} | ({"x": 1} if f == "eel" else {})
            for a, n, f in ROWS
        ),
        file="a.jsonl",
    ),
    "JSON lines in .json": case(lines(LOSER_ROWS.to_dict("records")), **JSON),
    "arrays a line": case(lines(ROWS), file="a.jsonl"),
    # F23: pandas
    **{
        f"to_json {orient}": case(LOSER_ROWS.to_json(orient=orient), "by name", **JSON)
        for orient in ("columns", "index", "split", "records", "table")
    },
    "to_json *": case(LOSER_ROWS.to_json(), "by name", **JSON, records="*"),
    # F24: NEXT
    "NEXT through R": case(
        study("Participant.ID,Timestamp,Center,Left,Right,Answer", "p t a l r n"),
        "Participant.ID = respondent",
        format="next",
    ),
    "NEXT's page": case(
        study("Participant ID,Timestamp,Center,Left,Right,Answer,Alg Label", "p t a l r n Random"),
        "Participant ID = respondent",
        format="next",
    ),
    "NEXT's table": case(
        study("target_center,target_left,target_right,target_winner,participant_uid", "a l r n p"),
        "participant_uid = respondent",
        format="next",
    ),
    "NEXT without people": case(study("Center,Left,Right,Answer", "a l r n"), format="next"),
    "NEXT without a format": case(study("Center,Left,Right,Answer", "a l r n")),
    # forms of other tools
    "a title above the header": case(
        ("C:\\merge.emrg2\n" + study("Target,Loser,Winner", "a f n", separator="\t")).encode("utf-16"),
        "1 line above the header (line 1)",
        **TEXT,
    ),
    "facts above the header": case(
        "group,session,px\n1,883,133\n\n" + study("no,head,winner,loser,rt", "# a n f 7"),
        "2 lines above the header (lines 1, 2)",
    ),
    "X and y": case(
        archive(X=np.array(SHOWN), y=np.where(LEFT, 1, -1), group_id=np.zeros(18)), "group_id", file="a.npz"
    ),
    "X and booleans": case(archive(X=np.array(SHOWN), y=np.array(LEFT)), "left is 1", file="a.npz"),
    "tags around JSON": case(
        "".join(f"[main_start_{n}---{json.dumps(trials()[9 * n : 9 * n + 9])}---main_end_{n}]" for n in (0, 1)),
        "2 tags around JSON",
        **TEXT,
        format="jspsych",
    ),
    "query and ref1, ref2": case(shown("qp", "query,ref1,ref2,response"), "by name", answer="response:q,p"),
    "docA and docB": case(
        shown("ab", "Input.query,Input.docA,Input.docB,Answer.radio"), "a is Input.docA", format="mturk"
    ),
    "ABX": case(study("A,B,X,response", "l r a ?", "AB"), "X = anchor", answer="response"),
    "buttons through pandas": case(json.dumps(trials(codes=(0.0, 1.0))), **JSPSYCH),
    "Inquisit": case(
        inquisit(("left picture", "right picture")),
        "subject = respondent",
        file="a.iqdat",
        format="inquisit",
        columns=["stimulusitem1", "stimulusitem2", "stimulusitem3"],
        answer="response:left picture,right picture",
    ),
    "the answer that is filled most often": case(
        study("WorkerId,anchor,left,right,Answer.comment,Answer.pick", "ann a l r _ ?", "ab").replace(
            "trout,,a\nann,dog,p", "trout,no,a\nann,dog,p"
        ),
        "Answer.pick = answer",
        format="mturk",
    ),
    "MTurk, with work that was rejected": case(
        study(MTURK, "ann Approved a l r n") + study(None, "bob Rejected a l r l"),
        "WorkerId = respondent",
        format="mturk",
    ),
    "Gorilla": case(
        study("Participant Private ID,Zone Type,anchor,left,right,Response", "7 _ a l r began")
        + study(None, "7 response_button_image a l r n"),
        "Participant Private ID = respondent",
        format="gorilla",
    ),
    "lab.js": case(
        study("sender,observation,anchor,left,right,response", "Choice o1 a l r ?", ("left", "right"))
        + "Break,o1,,,,\n",
        "observation = respondent",
        format="labjs",
    ),
    "PsychoPy": case(
        study(f"participant,{SIDED},mouse.clicked_name,mouse.leftButton,mouse.time", "p a l r n 1 0.5")
        + "p,,,,,0,0.1\n",
        "mouse.clicked_name = answer",
        format="psychopy",
    ),
    "PsychoPy, told": case(
        "participant,Stim1,Stim2,Stim3,mouse.clicked_name,key_go.keys\np,,,,,space\n"
        + study(None, "p a l r ? _", ("stim2", "stim3")),
        "stim2 is Stim2",
        format="psychopy",
        **STIM,
        answer="mouse.clicked_name",
    ),
    "input and output": case(
        shown(("left", "right"), "INPUT:image,INPUT:image_left,INPUT:image_right,OUTPUT:result").replace(",", "\t"),
        "by name",
        file="a.tsv",
    ),
    # F26: packed
    "gz under .csv": case(gzip.compress(text(ROWS).encode())),
    "bz2": case(bz2.compress(text(ROWS).encode()), file="a.csv.bz2"),
    "names in an array": case(saved(np.array(ROWS)), file="a.npy"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(tmp_path, name):
    content, options, words, _ = RIGHT[name]
    answers, _ = read(tmp_path, content, **options)
    assert not isinstance(answers, InputError), answers
    strip = {called: called.removesuffix(", x").removesuffix(".png").removeprefix("img/") for called in answers.names}
    assert [tuple(strip[x] for x in row) for row in named(answers)] == ROWS, answers.reading
    assert all(word in str(answers.reading) for word in words) and "\n" not in str(answers.reading)


# what the message must say
REFUSED = {
    "odd, kind triplets": case(
        study("image_1,image_2,odd_one_out", "n a f"),
        "'odd_one_out'",
        "--kind odd-one-out",
        "--columns image_1,image_2,odd_one_out",
    ),
    "winners, kind odd": case(WINNER_ROWS, "'winner'", "--kind triplets", "--columns head,winner,loser", **ODD),
    "winners, kind central": case(WINNER_ROWS, "--kind triplets", kind="central"),
    "two anchors": case(
        text(ROWS, "reference,target,near"), "columns must be given", "anchor, nearer, farther", "--columns"
    ),
    "the farther second": case(text(ROWS, "x,far,y"), "columns must be given", "--columns"),
    "an answer beside winners": case(
        study("anchor,positive,negative,response", "a n f f"),
        "'response' contradicts 'positive'",
        "--columns anchor,positive,negative",
    ),
    "pairs": case(study("left,right,label", "a n ?", ("left", "right")), "'left' (left)", "--columns"),
    "pairs and who judged": case(study("rater,winner,loser", "p1 n f"), "2 columns: winner, loser"),
    "pairs and when": case(study("date,winner,loser", "May n f"), "'date'"),
    "y of other values": case(archive(X=np.array(ROWS), y=np.arange(18)), "1 and -1", "records='X'", file="a.npz"),
    # codes
    "all one": case(study(f"{SIDED},answer", "a n f 1"), "clear", "0 to 1", "1 to 2", "answer='answer:1=left'"),
    "minus one and one": case(
        shown((-1, 1)), "-1 for the first and 1 for the second", "1 for the first and -1 for the second"
    ),
    "a code of no coding": case(
        shown("12") + "cat,dog,pike,0\n", "line 20", "--missing 0", "answer:", file="c.csv", drop_invalid=True
    ),
    "most are 1": case(UNTIMELY, "--missing", file="c.csv", **SIDES, answer="ans", drop_invalid=True),
    "letters that mean nothing": case(shown("fj"), "'f'", "(--answer answer:f=left,j=right)", **SIDES, answer="answer"),
    "codes without meaning": case(shown("12"), "1=left", "'1=up'", **SIDES, answer="answer:1=up,2=down"),
    "too many codes": case(shown("12"), "2 codes, in the order of left, right", **SIDES, answer="answer:1,2,3"),
    # cells
    "two columns of one name": case(
        study("head,winner,loser,winner", "a n f n"),
        "'winner', 2 times",
        "a position (1, 3)",
        columns=["head", "winner", "loser"],
    ),
    "Salmon without winners": case(
        text(ROWS, "anchor,near,far"), "Salmon with the columns head, winner, loser", format="salmon"
    ),
    "Salmon and columns": case(
        WINNER_ROWS, "columns must be left out", format="salmon", columns=["head", "winner", "loser"]
    ),
    "… for Salmon": case(study("head,winner,loser,winner", "a n f n"), "once", "winner", format="salmon"),
    "… for names": case(study("head,winner,loser,winner", "a n f f"), "columns"),
    "nan among numbers": case("0,1,2\n1,nan,2\n", "line 2", "'nan'"),
    "a person who is not there": case(
        text([(*row, "" if row[0] == "eel" else "ann") for row in ROWS], f"{WINNERS},puid"), "line 17", "'puid'"
    ),
    "an impossible winner": case(IMPOSSIBLE, "line 2", "what was shown", file="m.csv", format="salmon"),
    "pairs and who was selected": case(
        study("image_a,image_b,selected", "l r n"),
        "columns must be given in the order anchor, nearer, farther",
        "--columns",
    ),
    "three and who was selected": case(
        study("image_a,image_b,selected", "a f n"),
        "with the chosen one first",
        "--columns selected,image_a,image_b",
        **ODD,
    ),
    "ABX without an answer": case(
        study("A,B,X", "n f a"), "columns must be given in the order anchor, nearer, farther", "--columns X,A,B"
    ),
    "clicked components": case(
        study("Stim1,Stim2,Stim3,click", "a l r ?", ("stim2_main", "stim3_main")),
        "stim2_main=Stim2,stim3_main=Stim3",
        **STIM,
        answer="click",
    ),
    "two codes of three": case(
        text([(*trio, "xz"[at > 0]) for trio, at in zip(TRIOS, ODD_AT)], "Stim1,Stim2,Stim3,click"),
        "(--answer click:x=Stim1)",
        **ODD,
        answer="click",
    ),
    "two codes and none": case(
        "x1,x2,x3,key\ncat,dog,pike,NA\n" + study(None, "a l r ?", "fj"),
        "(--answer key:f=x2,j=x3)",
        columns=["x1", "x2", "x3"],
        answer="key",
    ),
    # more columns than objects
    "a code that is missing": case(
        study("x1,x2,x3,pressed,rt", "a l r ? 812", "fj") + "cat,dog,pike,NA,9\n",
        "--columns x1,x2,x3",
        "--answer pressed",
    ),
    "a row a person": case(
        text(
            [[cell for row in SHOWN for cell in (*row, 1)]] * 2,
            [f"{name}_{n}" for n in range(18) for name in ("anchor", "left", "right", "choice")],
        ),
        "(--columns 'anchor_*,left_*,right_*')",
        "(--answer 'choice_*')",
        header=True,
    ),
    "an answer of any name": case(
        study("Stim 1,Stim 2,Stim 3,eval,rt", "a l r ? 812", "pq"),
        "--columns 'Stim 1,Stim 2,Stim 3'",
        "--answer eval",
        "5 columns: Stim 1, Stim 2, Stim 3, eval, rt",
    ),
    "a name of any name": case(study("no,q,w,e,r", "# a l r n", first=7), "--columns q,w,e", "--answer r"),
    "objects and nothing else": case(
        text([(f"t{n}", *row) for n, row in enumerate(ROWS)], "trial,query_id,target_id1,target_id2"),
        "--columns query_id,target_id1,target_id2",
        "in the order anchor, nearer, farther",
    ),
    "an answer that is told": case(
        study("no,q,w,e,r", "# a l r ?", (True, False), first=7),
        "--columns q,w,e",
        "if these are the objects shown",
        answer="r",
    ),
    "an answer of three": case(
        text([(*t, at + 1, 812) for t, at in zip(TRIOS[1:], ODD_AT[1:])], "image1,image2,image3,choice,rt")
        + text([(*TRIOS[0], 2, 700)]),
        "--kind odd-one-out) if it is the odd one",
        "--kind central) if it is the most central one: 'choice' holds",
    ),
    "records inside of records": case(
        json.dumps([{"worker": "ann", "screens": [dict(zip("pqr", row)) for row in ROWS[:3]]}]),
        "--records '*.screens.*'",
        **JSON,
    ),
    "several answers of MTurk": case(
        study("WorkerId,x,y,z,Answer.music,Answer.pick", "ann a l r no n"),
        "answer='Answer.music' (--answer Answer.music), or Answer.pick",
        format="mturk",
    ),
    "Inquisit without columns": case(inquisit("fj"), "--format inquisit", file="a.iqdat"),
    "which item is the anchor": case(
        inquisit("fj"), "--columns stimulusitem1,stimulusitem2,stimulusitem3", file="a.iqdat", format="inquisit"
    ),
    "jsPsych without choices": case(
        json.dumps([{"trial_type": "x", **{f"column_{n}": 1 for n in range(30)}, "stimulus": "cat", "response": 0}]),
        "with the columns stimulus, choices",
        ", ".join(f"column_{n}" for n in range(30)),
        **JSPSYCH,
    ),
    # forms
    "two separators": case("Doe,J;Roe,A;Poe\nRoe,A;Doe,J;Poe\n", "separator", "','", "';'", "--separator"),
    "three choices, triplets": case(
        json.dumps([{"stimulus": "odd?", "choices": list(t), "response": 0} for t in TRIOS]),
        "kind='odd-one-out",
        "central",
        **JSPSYCH,
    ),
    "jsPsych without a format": case(
        json.dumps([{**t, "trial_index": n} for n, t in enumerate(trials())]),
        "looks like a file of jspsych",
        "--format jspsych",
        **JSON,
    ),
    "cp1252": case("Käse,Brot,Öl\n".encode("cp1252"), "UTF-8 text", "cp1252", "--encoding"),
    "an .xlsx": case(b"PK\x03\x04", "save the sheet with the answers as CSV", file="sheet.xlsx"),
    "an .ods": case(b"PK\x03\x04", "spreadsheet, .ods", file="sheet.ods"),
    # records
    "arrays in arrays": case('[[{"a": 1}], [{"a": 2}]]', "record 1, must be a record", "append .*", **JSON),
    "a key of no records": case('{"a": []}', "records='responses.*' (--records …)", **JSON),
    "no records there": case('{"responses": []}', "a list of records", "responses", **JSON),
    "another key": case('{"responses": []}', "the key 'answers'", "['responses']", **JSON, records="answers.*"),
    "a number at *": case('{"responses": 5}', "a list or an object at each *", "5", **JSON, records="responses.*"),
    "JSON that ends": case("[[1, 2, 3],\n[1, 2", "line 2", "JSON", **JSON),
    "JSON of nothing": case("[]", "empty file", **JSON),
    "JSON of numbers": case("[1, 2]", "record 1", "(array) of cells", **JSON),
    "JSON of two kinds": case('[{"i": 1}, [2]]', "record 2", **JSON),
    "deep JSON": case("[" * 100_000, "JSON", **JSON),
    "HDF5": case(b"\x89HDF\r\n\x1a\n" + bytes(50), "an HDF5 file"),
    "a pickle": case(b"\x80\x04\x95" + bytes(50), "a Python pickle", **TEXT),
    "a spreadsheet": case(
        zip_of(io.BytesIO(), {"[Content_Types].xml": "", "xl/workbook.xml": ""}).getvalue(), "spreadsheet", "CSV"
    ),
    "an array of one column": case(saved(np.arange(9)), "one comparison per row", "(9,)", file="a.npy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tmp_path, name):
    content, options, words, _ = REFUSED[name]
    error, _ = read(tmp_path, content, **options)
    assert isinstance(error, InputError), (named(error), str(error.reading))
    assert all(word in str(error) for word in words) and "\n" not in str(error), str(error)


# what the warning must say
ROLES_IN_NAMES = [(f"{n}query.jpg", f"{n}positive.jpg", f"{n}negative.jpg") for n in range(9)]
WARNED = {
    "eval without a coding": case(
        shown("10", "A,B,C,eval"),
        "0 is read as B and 1 is read as C",
        "eval:0=C,1=B",
        rows=TURNED,
        file="e.csv",
        **ABC,
        answer="eval",
    ),
    "columns that are told": case(
        text(ROWS, LOSERS), "'loser' is read as the nearer, as given", rows=ROWS, columns=LOSERS.split(",")
    ),
    "votes that are not read": case(
        text([(*trio, 1, 2, 5) for trio in TRIOS], "clip1,clip2,clip3,votes1,votes2,votes3"),
        "'clip1' is read as the odd one in every row",
        "--answer",
        **ODD,
        columns=["clip1", "clip2", "clip3"],
    ),
    "a rare name": case(text(ROWS) + "dgo,cat,pike\n", "1 name occurs only once, and others 9 times", "'dgo'"),
    "a column of no objects": case(
        study("head,loser,item,winner", "a f n #", first=300),
        "the nearer objects ('300', '301', '302') are in no other column",
        columns=["head", "winner", "loser"],
    ),
    "roles in names of files": case(
        text(ROLES_IN_NAMES),
        "the first line",
        "is read as an answer",
        "none of the 9 anchors is ever a choice",
        rows=ROLES_IN_NAMES,
    ),
    "sides without an answer": case(text(ROWS, SIDED), "--answer", rows=ROWS),
    "options without an answer": case(
        text(ROWS, "probe,option1,option2"), "'option1' is read as the choice in every row", "--answer", rows=ROWS
    ),
    "pictures without an answer": case(text(ROWS, "reference,imageA,imageB"), "'imageA'", "--answer", rows=ROWS),
    "counts": case(study(f"{WINNERS},count", "a n f 2"), "'count' is not read", "--weight count", rows=ROWS),
    "a header again": case(
        text(ROWS[:9], WINNERS) + text(ROWS[9:], WINNERS), "1 row of", "repeats the header", "line 11", rows=ROWS
    ),
    "an invisible blank": case(
        text(ROWS) + "\u200bcat,dog,pike\n", "cannot be seen", "U+200B ZERO WIDTH SPACE", "'cat' and '\\u200bcat'"
    ),
    "another case": case(text(ROWS) + "Cat,dog,pike\n", "'Cat' and 'cat'"),
    "blanks": case(text(ROWS) + "c at,dog,pike\n", "'c at' and 'cat'"),
    "folders": case(text(ROWS) + "img/cat,dog,pike\n", "'cat' and 'img/cat'"),
    "endings": case(text(ROWS) + "cat.PNG,dog,pike\n", "'cat' and 'cat.PNG'"),
    "two spellings": case(text([(f"img/{a}.png", n, f) for a, n, f in ROWS]), "none of the 6 anchors is ever a choice"),
    "NA": case(text(ROWS) + "cat,NA,pike\n", "1 cell contains 'NA'"),
    "NA for a person": case(study(f"{WINNERS},puid", "a n f NA"), "18 cells contain 'NA'", rows=ROWS),
    "an impossible winner": case(
        BOTH + "cat,cow,dog,eel,dog\n",
        "1 names a choice that was not shown (line 20)",
        rows=ROWS,
        file="m.csv",
        drop_invalid=True,
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_what_is_pointed_out(tmp_path, name):
    content, options, words, rows = WARNED[name]
    answers, said = read(tmp_path, content, **options)
    assert not isinstance(answers, InputError), answers
    assert all(word in said for word in words) and (rows is None or named(answers) == rows), said


def test_numbers_that_are_equal_are_one_name(tmp_path):
    rows = numbers(ROWS)
    floats = text([(i, f"{j:.1f}", f" {k}") for i, j, k in rows], WINNERS)
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
    rows = [line.split(",") for line in content.splitlines()[1:]]
    (tmp_path / "n.json").write_text(json.dumps([dict(zip("ijk", row)) for row in rows]))
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
    roles = {"head": ANCHORS, "winner": NEARER, "loser": FARTHER, "puid": PEOPLE}
    forms = {"head": "a", "winner": "n", "loser": "f", "puid": "ann", "block": "b"}
    forms[word] = forms.pop(next(role for role, words in roles.items() if word in words.split()))
    header = sorted(forms, key=lambda name: name[::-1])
    answers, said = read(tmp_path, study(header, " ".join(forms[name] for name in header)))
    assert named(answers) == ROWS and set(answers.respondents) == {"ann"} and not said


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
    assert named(found) == named(read(tmp_path, text(ODD_FIRST), kind=kind)[0]) and "1 of 19 rows" in said


def test_a_list_of_stimuli_without_choices_is_answered_by_numbers_from_one(tmp_path):
    columns = ("trial_type", "stimulus", "response")
    rows = [("click", json.dumps(trio), f"{at + 1}.0") for trio, at in zip(TRIOS, ODD_AT)]
    frame = pd.DataFrame([("page", "", ""), *rows], columns=columns)
    how = dict(format="jspsych", answer="response:1,2,3")
    found, _ = read(tmp_path, frame.to_csv(index=False), **ODD, **how)
    assert named(found) == named(read(tmp_path, text(ODD_NAMED), **ODD, answer=3)[0])
    three = [*rows, ("click", json.dumps(["cat", "pike", "eel"]), "2.0")]
    assert len(read(tmp_path, pd.DataFrame(three, columns=columns).to_csv(), **ODD, format="jspsych")[0]) == 2 * 19
    with_two = pd.DataFrame([row for row in rows if row[2] == "1.0"], columns=columns).to_csv()
    assert "clear" in str(read(tmp_path, with_two, **ODD, format="jspsych")[0])


def test_keys_of_a_list_of_stimuli_are_places(tmp_path):
    keys, expected = ["f", "g", "h"], read(tmp_path, text(ODD_NAMED), **ODD, answer=3)[0]
    records = [{"stimulus": list(t), "choices": keys, "response": keys[at]} for t, at in zip(TRIOS, ODD_AT)]
    found, _ = read(tmp_path, json.dumps(records), file="a.json", format="jspsych", **ODD)
    assert named(found) == named(expected)


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
    assert named(answers) == named(read(tmp_path, text(ODD_FIRST), **ODD)[0]) and not said


@pytest.mark.parametrize("kind", ["odd-one-out", "central"])
@pytest.mark.parametrize("codes", ["012", "123", "xyz", ("left", "middle", "right")])
def test_the_chosen_of_three_is_told_by_any_code(tmp_path, kind, codes):
    rows = [(*two[:at], one, *two[at:], codes[at]) for at, (one, *two) in zip([0, 1, 2] * 6, ODD_FIRST)]
    answers, _ = read(tmp_path, text(rows, "x,y,z,choice"), kind=kind, answer="choice")
    assert named(answers) == named(read(tmp_path, text(ODD_FIRST), kind=kind)[0])


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
    parts = {f"{who}.csv": text(ROWS[n::3], WINNERS) for n, who in enumerate(("ann", "ben", "cy"))}
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
        zip_of(source, inside)
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
    frame = LOSER_ROWS
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
    common = {f"--{name}" for name in help_texts()["reading"]}
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
    frame = LOSER_ROWS
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
    with pytest.warns(InputWarning, match='if these are distances, use kind="distance"'):
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
    (tmp_path / "a.csv").write_text(text(rows, WINNERS))
    assert main("cluster a.csv --method 3-al --images img --out t.html".split()) == 0
    assert "6 of 6 objects" in capsys.readouterr().out


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
