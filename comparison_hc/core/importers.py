"""What tools that collect comparisons call their columns, as far as they document it or their files show it."""

import json
import re
from dataclasses import dataclass, replace
from html import unescape

import numpy as np

from ._columns import WIDTHS, find_column, is_whole_number, is_word, plain_number, told_answer, told_columns
from .validation import InputError, require

__all__ = ["IMPORTERS"]

NEXT = {
    "center": ("center", "target center"),
    "left": ("left", "target left"),
    "right": ("right", "target right"),
    "answer": ("answer", "target winner"),
}  # what its pages and its tables call the columns


def _need(table, names, tool):
    "The positions of the columns that a tool's file has to have."
    header = table.names or []
    missing = [name for name in names if name not in header]
    rule = f"a file of {tool} with the columns {', '.join(names)}; got the columns {', '.join(header)}"
    if missing:
        raise InputError(f"{table.title} must be {rule}")
    twice = [name for name in names if header.count(name) > 1]
    require(not twice, table.title, f"a file of {tool} with each column once", twice[:1])
    return [header.index(name) for name in names]


def _with(table, columns):
    "The table with more columns, or with others of these names."
    import pandas as pd

    kept = [c for c, name in enumerate(table.names) if name not in columns]
    names = [*(table.names[c] for c in kept), *columns]
    more = pd.DataFrame({name: list(cells) for name, cells in columns.items()}, table.frame.index, dtype=object)
    frame = pd.concat([table.frame[kept], more], axis=1).set_axis(range(len(names)), axis=1)
    return replace(table, names=names, frame=frame)


def _matching(table, pattern):
    "The columns whose whole names match."
    return [c for c, name in enumerate(table.names) if re.fullmatch(pattern, name, re.I)]


def _cells(table, name):
    return table.frame[table.names.index(name)].to_numpy()


def _kept(table, mask, what):
    "(the rows of the mask, what to say about the others)."
    lost = int((~mask).sum())
    said = [f"{lost:,} of {len(mask):,} rows are left out: {what}"] if lost else []
    return table.keep(mask), said


def _respondent(table, options, name):
    return name if name in table.names and options.respondent is None else options.respondent


# ---- Salmon


def salmon(table, options):
    "Responses of Salmon: head, winner, loser and puid, by the names of their files where these are known."
    _need(table, ("head", "winner", "loser"), "Salmon")
    number = {name: _cells(table, name) for name in (*SALMON, "left", "right") if name in table.names}
    file = {name: _cells(table, f"{name}_filename") for name in number if f"{name}_filename" in table.names}
    has_sides = {"left", "right"} <= set(number)
    if has_sides and {"left", "right"} <= set(file):
        for name in ("winner", "loser"):
            at = [number[name] == number[side] for side in ("left", "right")]
            file[name] = np.select(at, [file["left"], file["right"]], file.get(name, number[name]))
    called = {name: file[name] if set(SALMON) <= set(file) else number[name] for name in SALMON}
    if has_sides:
        for side in ("left", "right"):
            at = [number[side] == number[name] for name in ("winner", "loser")]
            called[side] = np.select(at, [called["winner"], called["loser"]], "not " + called["winner"])
    who = _respondent(table, options, "puid")
    options = replace(options, columns=SALMON, shown=("left", "right") if has_sides else (), respondent=who)
    return _with(table, called), options, []


SALMON = ("head", "winner", "loser")


# ---- NEXT


def next_responses(table, options):
    "Responses of NEXT: a table with target_… columns, that of its pages, or records with target_indices."
    if any(name.startswith("target_indices.") for name in table.names):
        table = _next_records(table)
    plain = [re.sub(r"[^a-z]+", " ", name.lower()).strip() for name in table.names]
    found = [[c for c, name in enumerate(plain) if name in names] for names in NEXT.values()]
    rule = "a file of NEXT with the columns target_center, target_left, target_right, target_winner, each once"
    if not all(len(columns) == 1 for columns in found):
        raise InputError(f"{table.title} must be {rule}; got the columns {', '.join(table.names)}")
    *shown, answer = (columns[0] for columns in found)
    table, said = _kept(table, ~table.frame[answer].isin(["", "null"]).to_numpy(), "without an answer")
    return table, replace(options, columns=tuple(shown), answer=answer), said


def _next_records(table):
    "The nested form as a table."
    blank = np.full(len(table.frame), "", dtype=object)

    def cells(name):
        return _cells(table, name) if name in table.names else blank

    winner = np.where(cells("target_winner") != "", cells("target_winner"), cells("index_winner"))
    columns = {f"target_{name}": blank.copy() for name in ("center", "left", "right", "winner")}
    for place in range(3):
        target = {key: cells(f"target_indices.{place}.{key}") for key in ("label", "target_id", "index")}
        number = np.where(target["target_id"] != "", target["target_id"], target["index"])
        said = cells(f"target_indices.{place}.primary_description")
        name = np.where(said != "", said, number)
        for side in ("center", "left", "right"):
            columns[f"target_{side}"] = np.where(target["label"] == side, name, columns[f"target_{side}"])
        won = (winner != "") & ((winner == target["target_id"]) | (winner == target["index"]))
        columns["target_winner"] = np.where(won, name, columns["target_winner"])
    return _with(table, columns)


# ---- cblearn


def _numbers(table, options, width):
    "Rows of numbers, with or without a header, as numpy.savetxt and pandas write them."
    rows = table.frame
    if table.names is None and len(rows):
        first = rows.iloc[0]
        named = any(is_word(cell) and cell.lower() not in ("true", "false") for cell in first)
        if named if options.header is None else options.header:
            rows = rows.iloc[1:]
    found = f"{rows.shape[1]} columns" if len(rows) else "an empty file"
    require(
        len(rows) > 0 and rows.shape[1] == width, table.title, f"a table of {width} columns, as cblearn has it", found
    )
    return replace(table, frame=rows, names=None)


def cblearn_list(table, options):
    "Triplets of cblearn in the form list-order: the second of three is nearer to the first than the third is."
    return _numbers(table, options, 3), replace(options, columns=(0, 1, 2), header=False), []


def cblearn_bool(table, options):
    "Triplets of cblearn with a fourth column, list-boolean or list-count: False and −1 exchange the last two objects."
    table = _numbers(table, options, 4)
    words = [plain_number(cell).lower() for cell in table.frame[3]]
    coding = "3:true=left,false=right,1=left,0=right"
    options = replace(options, columns=(0, 1, 2), answer=coding, header=False)
    if set(words) <= {"true", "false", "0", "1"}:
        return table, options, []
    for r, word in enumerate(words):
        rule = "decided: True or False, or a whole number other than 0, above it if the first of the two is nearer"
        require(is_whole_number(word) and int(word) != 0, table.where(r), rule, word)
    frame, numbers = table.frame.copy(), list(map(int, words))
    frame[3] = ["1" if number > 0 else "0" for number in numbers]
    frame[4] = [str(abs(number)) for number in numbers]
    return replace(table, frame=frame), replace(options, weight=4), []


# ---- jsPsych


def jspsych(table, options):
    "Trial data of jsPsych: objects in columns that the user names, or in stimulus and choices; response is a button."
    are_buttons = True
    if options.columns is None:
        table, columns, are_buttons = _jspsych_objects(table, options.kind)
        options = replace(options, columns=columns)
    answer = options.answer
    if answer is None:
        answer = next((name for name in ("response", "button_pressed") if name in table.names), "response")
    plain = answer.split(":")[0] if isinstance(answer, str) and answer not in table.names else answer
    places = [find_column(column, "columns", table) for column in options.columns]
    place = find_column(plain, "answer", table)
    filled = ~table.frame[[*places, place]].isin(["", "null"]).any(axis=1).to_numpy()
    table, said = _kept(table, filled, "trials without objects or without a response")
    buttons = places[1:] if options.kind == "triplets" else places
    cells = table.frame[place].map(plain_number)  # 1.0 from pandas
    by_number = are_buttons and plain == answer and options.kind != "quadruplets"
    if by_number and all(map(is_whole_number, cells)):
        n = len(buttons)
        rule = f"a response from 0 to {n - 1}, as there are {n} objects to choose from"
        bad = next((r for r, cell in enumerate(cells) if not 0 <= int(cell) < n), None)
        require(bad is None, bad is None or table.where(bad), rule, bad is None or cells.iloc[bad])
        answer = f"{table.names[place]}:" + ",".join(
            f"{i}={name}" for i, name in enumerate(("first", "second", "third")[:n])
        )
    return table, replace(options, answer=answer), said


def _jspsych_objects(table, kind):
    "(the table with one object per column, the names of these columns, whether the choices were saved)."
    _need(table, ("stimulus",) if "stimulus.0" not in table.names else (), SHOWN)
    choices, stimuli = _listed(table, "choices"), _listed(table, "stimulus")
    n = {"triplets": 2, "quadruplets": 2}.get(kind, 3)
    if not any(choices) and not (n == 3 and any(len(s) == 3 for s in stimuli)):
        _need(table, ("stimulus", "choices"), SHOWN)
    if n == 3:
        shown = [s if len(s) == 3 else c if len(c) == 3 else [""] * 3 for c, s in zip(choices, stimuli)]
        table = _keys_as_places(table, choices, [len(s) == 3 for s in stimuli])
        rule = f"three choices, or three stimuli, with kind={kind!r}"
    else:
        shown = [[s[0], *c] if len(s) == 1 and len(c) == 2 else [""] * 3 for c, s in zip(choices, stimuli)]
        rule = "a stimulus and two choices; three are for kind='odd-one-out' or 'central' (--kind …)"
    good = np.array([all(row) for row in shown])
    require(good.any(), table.where(0), rule, max(map(len, choices), default=0))
    columns = ("stimulus", "choices.0", "choices.1") if n == 2 else ("choices.0", "choices.1", "choices.2")
    objects = zip(*[[_object_name(cell) for cell in row] for row in shown])
    return _with(table, dict(zip(columns, objects))), columns, any(choices)


def _keys_as_places(table, choices, by_key):
    "The table with places in response where it has keys, of the choices, and stimuli were to choose from."
    if "response" not in table.names or not any(by_key):
        return table
    cells = _cells(table, "response").tolist()
    for r, keys in enumerate(choices):
        if by_key[r] and cells[r] in keys:
            cells[r] = str(keys.index(cells[r]))
    return _with(table, {"response": cells})


SHOWN = "jsPsych with what was shown (use columns=…, or save the choices)"


def _listed(table, name):
    "For every row the cells of a list: in JSON a column each, in CSV one cell of JSON."
    rows = table.frame[_matching(table, rf"{name}\.\d+")].to_numpy().tolist()
    rows = [[cell for cell in row if cell] for row in rows]
    if name not in table.names:
        return rows
    for r, cell in enumerate(_cells(table, name)):
        if cell and not rows[r]:
            try:
                value = json.loads(cell) if cell.startswith("[") else cell
            except ValueError:
                value = cell
            rows[r] = [str(x) for x in value] if isinstance(value, list) else [cell]
    return rows


def _object_name(cell):
    "The name of an object that is shown by HTML: the file of its picture, or its text."
    if "<" not in cell:
        return cell
    source = re.search(r"""\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", cell, re.I)
    text = unescape(re.sub(r"<[^>]*>", " ", cell))
    return next(filter(None, source.groups())) if source else " ".join(text.split())


# ---- tools whose files name their columns: what they call the answer and the person, and which rows are answers


@dataclass(frozen=True)
class Tool:
    "Columns of a tool, by what their whole names match; the objects are found by name, or told."

    answer: str = "$"  # pattern of the column of answers; of several the one that is filled most often
    person: str = "$"
    rows: tuple = ("$", "")  # a column, and what its cell must match for a row to be an answer
    columns: tuple = ()  # of the objects

    def __call__(self, table, options):
        answer = options.answer
        if answer is None:
            found = _matching(table, self.answer)
            times = {c: int((table.frame[c] != "").sum()) for c in found}
            found = [c for c in found if times[c] == max(times.values()) > 0]
            several = [table.names[c] for c in found]
            rule = f"given, as several columns may hold it: {told_answer(several[0])}, or " if several else ""
            require(len(found) < 2, "answer", rule + ", ".join(several[1:]), f"{len(found)} columns")
            answer = found[0] if found else None
        person = _matching(table, self.person)
        who = options.respondent if options.respondent is not None or not person else person[0]
        keep = np.ones(len(table.frame), dtype=bool)
        for c in _matching(table, self.rows[0])[:1]:
            keep &= np.array([bool(re.search(self.rows[1], cell, re.I)) for cell in table.frame[c]])
        plain = answer if answer in table.names or not isinstance(answer, str) else answer.split(":")[0]
        if isinstance(plain, int) or plain in table.names:  # and no choice_* for several
            cells = table.frame[find_column(plain, "answer", table)]
            keep &= ~cells.isin(["", "None", "null"]).to_numpy()
        table, said = _kept(table, keep, "no answers")
        columns = options.columns or self.columns or None
        names = {c: name for c, name in enumerate(table.names) if table.names.count(name) == 1}  # columns may move
        answer, who = (names.get(c, c) if type(c) is int else c for c in (answer, who))
        return table, replace(options, answer=answer, respondent=who, columns=columns), said


def inquisit(table, options):
    """Raw data of Inquisit: one trial per row, with its items in stimulusitem1, stimulusitem2, … as presented.

    A trial with fewer items than others has 0 for the rest. Which item is the anchor, a file does not say.
    """
    items = [table.names[c] for c in _matching(table, r"stimulusitem\d+")]
    width, columns = WIDTHS[options.kind], options.columns
    if columns is None:
        rule = f"given, in the order of the kind, such as {told_columns(range(len(items))[:width], items)}"
        known = options.kind in ("central", "odd-one-out") and len(items) == width
        require(known, "columns", rule, ", ".join(items))
        columns = tuple(items)
    shown = [find_column(column, "columns", table) for column in columns]
    table, said = _kept(table, ~table.frame[shown].isin(["", "0"]).any(axis=1).to_numpy(), "trials with other items")
    table, options, more = Tool("response", "subject")(table, replace(options, columns=columns))
    return table, options, said + more


IMPORTERS = {
    "salmon": salmon,
    "next": next_responses,
    "cblearn-list": cblearn_list,
    "cblearn-bool": cblearn_bool,
    "jspsych": jspsych,
    "psychopy": Tool(r".*\.(clicked_name|keys|response)", "participant.*|PROLIFIC_PID"),
    "gorilla": Tool("Response", "Participant Private ID", ("Zone Type|Response Type", ".")),
    "qualtrics": Tool(person="ResponseId|Response ID", rows=("Finished", "^(1|true)$")),
    "mturk": Tool(r"Answer\..*", "WorkerId", ("AssignmentStatus", "^(?!Rejected)")),
    "labjs": Tool("response", "observation|participant.*"),
    "inquisit": inquisit,
    "triplettools": Tool("Answer", "worker_id", columns=("Center", "Left", "Right")),
}
TOLD = ("jspsych", "psychopy", "gorilla", "qualtrics", "mturk", "labjs", "inquisit")  # columns and kind may be told


def imported(table, options):
    "(table, options that say what its columns mean, what was left out) for a file of a tool."
    name = options.format
    free = ("columns", "answer", "weight") if name in TOLD else ()
    for argument in ("columns", "answer", "weight"):
        rule = f"left out, as format={name!r} determines it"
        require(argument in free or getattr(options, argument) is None, argument, rule, getattr(options, argument))
    rule = f"'triplets' with format={name!r}"
    require(name in TOLD or options.kind == "triplets", "kind", rule, options.kind)
    table, said = _without_catch_trials(table)
    table, options, more = IMPORTERS[name](table, options)
    return table, options, said + more


def _without_catch_trials(table):
    "The rows of a list that `ask --export` wrote without its catch trials, which compare an object with itself."
    if not {"role", "expected"} <= set(table.names or ()):
        return table, []
    return _kept(table, _cells(table, "role") != "catch", "catch trials")
