"""How a table becomes comparisons: which rows are read, in which order their objects stand, and a record of it all."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from math import inf, isfinite, nan

import numpy as np

from ._answer_codes import SIDES, decode_answers, file_key, split_answer
from ._headers import with_headers
from ._columns import (
    MISSING_WORDS,
    IN_TRIPLET,
    WEIGHTS,
    WIDTHS,
    all_numbers,
    as_number,
    find_column,
    find_roles,
    is_whole_number,
    looks_like,
    name_parts,
    names_one_of_three,
    plain_number,
    role_of_name,
    sorted_names,
    split_number,
    told_columns,
    told_special,
)
from ._rows import is_name
from ._tables import cell_text, joined, named_by_star, read_tables
from .compat import bincount, repeat
from .importers import IMPORTERS, imported
from .validation import InputError, InputWarning, check_flag, check_names, require, shown

__all__ = ["Reading"]

MOST_REPEATED = 10**8  # answers that counts may stand for
_FEWEST_SORTED = 20  # rows; by chance, all are in sorted order in 2 of a million files
MEANT = {
    "triplets": "the anchor is closer to the nearer object than to the farther one",
    "quadruplets": "the nearer pair is more alike than the farther pair",
    "central": "one of three objects is the most central",
    "odd-one-out": "one of three objects is the odd one out",
}


@dataclass(frozen=True)
class Reading:
    """How a file was read: `str(reading)` is one line, `reading.table()` a table.

    Attributes
    ----------
    source : str
        Name of the file or files.
    kind : str
        "triplets", "quadruplets", "central" or "odd-one-out".
    roles : tuple of (str, str)
        Columns and what each of them says.
    basis : str
        What settled that: "by name", "by position" or "as told".
    coding : tuple of (str, str)
        Codes of the answer column, with the column that each stands for.
    n_rows, n_read : int
        Rows of the file that meet the conditions, and those that became comparisons.
    conditions : tuple of (str, str)
        Conditions on rows, each with how many rows meet it.
    missing : tuple of str
        What cells without a value say, besides nothing.
    left_out : tuple of (str, str)
        Reasons why rows were left out, each with the lines.
    unread : tuple of str
        Columns that were not read.
    notes : tuple of str
        What else was recognised, such as comments or Qualtrics' header.
    warnings : tuple of str
        What was guessed and may be wrong.
    """

    source: str
    kind: str
    roles: tuple
    basis: str
    coding: tuple = ()
    n_rows: int = 0
    n_read: int = 0
    left_out: tuple = ()
    unread: tuple = ()
    notes: tuple = ()
    warnings: tuple = ()
    conditions: tuple = ()
    missing: tuple = ()

    def table(self) -> list[tuple[str, str]]:
        "Return (what, text) for every property that there is something to say about."
        n_rows = f"{self.n_rows:,}" if self.n_read == self.n_rows else f"{self.n_read:,} of {self.n_rows:,}"
        more = f" and {len(self.unread) - 8} more" if len(self.unread) > 8 else ""
        rows = [
            ("file", self.source),
            ("kind", f"{self.kind}: {MEANT[self.kind]}"),
            (f"columns ({self.basis})", ", ".join(f"{column} = {role}" for column, role in self.roles)),
            ("answers", ", ".join(f"{code} is {option}" for code, option in self.coding)),
            *(("condition", f"{condition} ({met})") for condition, met in self.conditions),
            ("missing", ", ".join(map(repr, self.missing))),
            ("rows", f"{n_rows} row{'s' * (self.n_rows > 1)}"),
            *(("left out", f"{reason} ({lines})") for reason, lines in self.left_out),
            ("not read", ", ".join(self.unread[:8]) + more),
            *(("recognised", note) for note in self.notes),
            *(("warning", warning) for warning in self.warnings),
        ]
        return [(what, text) for what, text in rows if text]

    def __str__(self):
        said = {}
        for what, text in self.table():
            said.setdefault(what.split(" (")[0], []).append(text)
        columns = f"{said['columns'][0]} ({self.basis})"
        plain = [text for what in ("answers", "condition", "rows") for text in said.get(what, ())]
        named = [f"{what}: {'; '.join(said[what])}" for what in ("left out", "not read") if what in said]
        return "; ".join([columns, *plain, *named, *self.notes])


@dataclass(frozen=True)
class Options:
    "How a table is to be read; all arguments are those of `read_comparisons`."

    kind: str = "triplets"
    header: bool | None = None
    columns: tuple | None = None
    respondent: object = None
    objects: tuple | None = None
    encoding: str = "utf-8-sig"
    answer: object = None
    weight: object = None
    where: tuple = ()
    missing: tuple = ()
    drop_invalid: bool = False
    format: str | None = None
    records: str | None = None
    separator: str | None = None
    shown: tuple = ()  # two columns in which the nearer and the farther of a tool's file must be, too

    def checked(self):
        "The options, if they can be what a caller means. Raises `InputError`."
        require(isinstance(self.kind, str) and self.kind in WIDTHS, "kind", f"one of {', '.join(WIDTHS)}", self.kind)
        n = WIDTHS[self.kind]
        right_number = isinstance(self.columns, (list, tuple)) and len(self.columns) == n
        require(self.columns is None or right_number, "columns", f"a list of {n} columns", self.columns)
        known = self.header is None or isinstance(self.header, (bool, np.bool_))
        require(known, "header", "True, False or None", self.header)
        named = (self.respondent, self.weight, *(self.columns or ()), self.answer)
        by_name = any(isinstance(c, str) and not re.match(r"\d+:", c) for c in named)
        texts = {}
        for argument in ("where", "missing"):
            value = getattr(self, argument)
            value = (value,) if isinstance(value, str) else value
            listed = isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value)
            require(listed, argument, "a text or a list of texts", value)
            texts[argument] = tuple(unicodedata.normalize("NFC", text) for text in value)
        check_flag(self.drop_invalid, "drop_invalid")
        known = self.format is None or isinstance(self.format, str) and self.format in IMPORTERS
        require(known, "format", f"one of {', '.join(IMPORTERS)}", self.format)
        for argument in ("records", "separator"):
            require(isinstance(getattr(self, argument), (str, type(None))), argument, "a text", getattr(self, argument))
        objects = check_names(self.objects, argument="objects")
        if objects is not None:
            objects = check_names([unicodedata.normalize("NFC", name) for name in objects], argument="objects")
        return replace(self, header=True if self.header is None and by_name else self.header, objects=objects, **texts)


@dataclass(frozen=True)
class Answers:
    "Comparisons by number, and what goes with them."

    rows: object  # (m, width) object numbers, in the order of the kind
    names: tuple  # of the objects
    respondents: object  # (m,) who answered, or None
    weights: object  # (m,) how much each counts, or None
    places: object  # (m,) place on the screen of what was chosen, 0 the first; None where that is not known
    reading: Reading


def read_answers(source, options):
    "The answers of a file or table. Raises `InputError` with the line; issues an `InputWarning` for what was guessed."
    options, notes = options.checked(), []
    named = [c for c in (options.respondent, options.weight, *(options.columns or ())) if isinstance(c, str)]
    named += [parse_condition(text)[0] for text in options.where]
    named += [options.answer.split(":")[0], options.answer] if isinstance(options.answer, str) else []
    tables = read_tables(source, options, WIDTHS[options.kind], named)
    if not (options.format or "").startswith("cblearn"):
        tables = with_headers(tables, options, notes)
    table, doubts = joined(_with_answers(tables, options, notes)), list(notes)
    require(len(table.frame), table.title, "a file with at least one answer", "an empty file")
    if options.format is not None:
        table, options, left_out = imported(table, options)
        notes += [f"{table.title}: {note}" for note in left_out]
        require(len(table.frame), table.title, f"a file of {options.format} with at least one answer", "none")
    stars = [c for c in (*(options.columns or ()), options.answer, options.weight) if isinstance(c, str) and "*" in c]
    table = named_by_star(table, [star.split(":")[0] for star in stars]) if stars else table
    column, coding = split_answer(options.answer, table.names)
    options = replace(options, answer=column)
    try:
        roles = find_roles(table, options)
    except InputError as error:
        raise InputError(f"{error} ({'; '.join(doubts)})" if doubts else str(error)) from None
    table, conditions = _that_count(table, options.where)
    rows = _Rows(table, options)
    answers = _numbered(rows, roles, coding, notes)
    notes += _in_sorted_order(answers)
    for note in notes:
        warnings.warn(note, InputWarning, stacklevel=4)
    guesses = tuple(note for note in notes if note not in rows.note())
    reading = replace(answers.reading, warnings=guesses, conditions=conditions, missing=options.missing)
    return replace(answers, reading=reading)


def _in_sorted_order(answers):
    "What speaks against triplets: by position, nearer and farther object are in sorted order in every row."
    is_guess = answers.reading.kind == "triplets" and answers.reading.basis == "by position"
    if not is_guess or len(answers.rows) < _FEWEST_SORTED:
        return []
    numbers = all(map(is_whole_number, answers.names))
    ordered = sorted(range(len(answers.names)), key=lambda i: int(answers.names[i]) if numbers else answers.names[i])
    rank = np.argsort(ordered)
    second, third = rank[np.asarray(answers.rows)[:, 1:]].T
    if not ((second < third).all() or (second > third).all()):
        return []
    text = f"the last two objects are in sorted order in all {len(answers.rows):,} rows, so their order may mean "
    text += "nothing. If the first object of a row is the most central of three, or the odd one out, use "
    return [text + "kind='central' or 'odd-one-out' (--kind)"]


# ---- files that hold answers


def _with_answers(tables, options, notes):
    "The tables that hold answers, of those of a folder or an archive. Raises `InputError` for others."
    if len(tables) < 2:
        return tables
    empty = [t for t in tables if not len(t.frame) and t.error is None]
    tables = [t for t in tables if len(t.frame) or t.error is not None]
    if empty:
        notes.append(f"{len(empty):,} file{'s hold' if len(empty) > 1 else ' holds'} no rows: {_some_files(empty)}")
    others = {}
    for t in tables if len({tuple(t.names or [t.frame.shape[1]]) for t in tables}) > 1 else []:
        try:
            if t.error is not None:
                raise t.error
            if t.inside and not any("*" in str(c) for c in (*(options.columns or ()), options.answer)):
                named, told, _ = (t, options, ()) if options.format is None else imported(t, options)
                find_roles(named, replace(told, answer=split_answer(told.answer, named.names)[0]))
        except InputError as error:
            others[t.title] = str(error)
    if others and (len(others) == len(tables) or not options.drop_invalid):
        title, fault = next(iter(others.items()))
        how = "" if len(others) == len(tables) else " (drop_invalid=True (--drop-invalid) leaves such files out)"
        raise InputError(f"{title} must be a file of answers, as all of its folder or archive{how}; {fault}")
    if others:
        left_out = [t for t in tables if t.title in others]
        notes.append(f"{len(others):,} file{'s' * (len(others) > 1)} left out, not answers: {_some_files(left_out)}")
    return [t for t in tables if t.title not in others] or empty[:1]


def _some_files(tables):
    "The names of files, of many the first three."
    return ", ".join(t.title for t in tables[:3]) + (f" and {len(tables) - 3} more" if len(tables) > 3 else "")


# ---- rows that count


def parse_condition(text):
    "(column, whether equal, value) of a condition on the cells of a column. Raises `InputError`."
    rule = "a condition such as 'phase=test' or 'phase!=practice'"
    require(isinstance(text, str) and "=" in text, "where", rule, text)
    column, value = text.split("=", 1)
    equal = not column.endswith("!")
    column = column.removesuffix("!").strip()
    require(column, "where", rule, text)
    return column, equal, value.strip()


def _that_count(table, conditions):
    "(the rows for which all conditions hold, how many hold each). Raises `InputError` if there are none."
    found = []
    for text in conditions:
        column, equal, value = parse_condition(text)
        by_number = column.isdecimal() and column not in (table.names or ())
        cells = table.frame[find_column(int(column) if by_number else column, "where", table)]
        met = ((cells == value) == equal).to_numpy()
        values = ", ".join(repr(cell) for cell, _ in Counter(cells.tolist()).most_common(5))
        require(met.any(), "where", f"a condition that some rows meet (values there: {values})", text)
        found.append((text, f"{met.sum():,} of {len(met):,} rows"))
        table = table.keep(met)
    return table, tuple(found)


SINGULAR = {"lack": "lacks", "have": "has", "compare": "compares", "name": "names"}


class _Rows:
    "Rows of a table and what was found of each; those that break a rule are refused, or left out and counted."

    def __init__(self, table, options):
        self.table, self.options, self.total, self.left_out = table, options, len(table.frame), {}
        self.shown = self.places = self.weights = None  # names of objects, place of the chosen, weights, per row

    def refuse(self, bad, rule, value, reason):
        "Raise `InputError` for the first bad row, or leave all of them out; without a reason they cannot be."
        if not bad.any():
            return
        if not self.options.drop_invalid or reason is None:
            how = "" if reason is None else " (drop_invalid=True (--drop-invalid) leaves such rows out)"
            first = int(bad.argmax())
            raise InputError(f"{self.table.where(first)} must be {rule}; got {shown(value(first))}{how}")
        self.left_out[reason] = self.table.frame.index[bad]
        self.table = self.table.keep(~bad)
        for name in ("shown", "places", "weights"):
            values = getattr(self, name)
            setattr(self, name, None if values is None else values[~bad])

    def column(self, c):
        return self.table.frame[c].to_numpy()

    def reasons(self):
        "(reason, lines) of rows that were left out."
        for reason, index in self.left_out.items():
            verb, _, rest = reason.partition(" ")
            reason = f"{SINGULAR.get(verb, verb)} {rest}" if len(index) == 1 else reason
            yield f"{len(index):,} {reason}", self.table.some_lines(index)

    def note(self):
        "How many rows were left out, and why."
        conditions = len(self.options.where)
        rows = f"{self.total:,} rows of {self.table.title}"
        rows += f" that meet the condition{'s' * (conditions > 1)}" if conditions else ""
        reasons = "; ".join(f"{reason} ({lines})" for reason, lines in self.reasons())
        n = sum(map(len, self.left_out.values()))
        return [f"{n:,} of {rows} are left out: {reasons}"] if n else []


# ---- from cells to comparisons

ORDERS = {  # put what was chosen where an answer of a kind has it
    "triplets": np.array([[0, 1, 2], [0, 2, 1]]),
    "quadruplets": np.array([[0, 1, 2, 3], [2, 3, 0, 1]]),
    "central": np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]]),
    "odd-one-out": np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]]),
}


def _numbered(rows, roles, coding, notes):
    "`Answers` of the rows that are good, with notes for the user."
    import pandas as pd

    options, names, kind = rows.options, rows.table.names, rows.options.kind
    ragged, index = rows.table.ragged, rows.table.frame.index
    value = lambda r: f"{len(ragged[index[r]])} cells: {ragged[index[r]]}"
    rule = f"{rows.table.frame.shape[1]} cells, like the other lines"
    rows.refuse(np.isin(index, list(ragged)), rule, value, "of another length")
    _refuse_missing(rows, roles, notes)
    plain = _one_spelling(rows, roles)
    rows.shown = np.stack([plain(c) for c in roles.objects], axis=1)
    codes = () if roles.answer is None else _reorder(rows, roles, plain(roles.answer), coding, notes)
    _refuse_not_shown(rows, roles)
    if roles.weight is not None:
        cells, decimal_comma = rows.column(roles.weight), rows.table.separator not in (",", None)
        rows.weights = np.array([_weight(cell, decimal_comma) for cell in cells])
        rows.refuse(np.isnan(rows.weights), "a row with a weight above zero", lambda r: cells[r], "have no weight")
    codes_of, found = _refuse_broken(rows)
    require(len(rows.shown), rows.table.title, "a file that leaves answers", "none that is valid")
    used = found[pd.unique(codes_of.ravel())].tolist()
    ordered = tuple(sorted_names(used)) if options.objects is None else options.objects
    number = pd.Index(ordered).get_indexer(found)[codes_of]
    notes += rows.note() + _role_notes(roles, kind, names) + _spelling_notes(used, number, kind, ordered)
    who = plain(roles.respondent) if roles.respondent is not None else None
    if who is None and rows.table.label is not None and options.respondent is None:
        who = rows.table.label[rows.table.frame.index]
    reading = _reading(rows, roles, codes, who is not None)
    places, weights = rows.places, rows.weights
    if weights is not None and options.weight is not None and (weights == np.floor(weights)).all():
        times, weights = weights.astype(np.int64), None
        require(times.sum() <= MOST_REPEATED, "weight", f"counts of at most {MOST_REPEATED:,} in all", int(times.sum()))
        number, who, places = (None if x is None else repeat(x, times, axis=0) for x in (number, who, places))
    return Answers(number, ordered, who, weights, places, reading)


def _refuse_missing(rows, roles, notes):
    "Refuse rows without a value that is needed; a note on cells that are probably meant as missing."
    options, names = rows.options, rows.table.names
    needed = [c for c in (*roles.objects, roles.answer, roles.weight, roles.respondent) if c is not None]
    blank = {c: {""} for c in needed}
    for text in options.missing:
        column, _, value = text.rpartition("=")
        only = [c for c in needed if names is not None and names[c] == column]
        for c in only or needed:
            blank[c].add(value if only else text)
    cells = {c: set(rows.column(c).tolist()) for c in needed}
    objects = set().union(*(cells[c] for c in roles.objects)) - MISSING_WORDS - {""}
    if options.objects is None and rows.table.separator is not None and all_numbers(objects):
        for c in roles.objects:
            blank[c] |= MISSING_WORDS  # among numbers they are no names
    empty = {c: rows.table.frame[c].isin(blank[c]).to_numpy() for c in needed if cells[c] & blank[c]}
    bad = np.any(list(empty.values()), axis=0) if empty else np.zeros(len(rows.table.frame), dtype=bool)

    def value(r):
        c = next(c for c in empty if empty[c][r])
        return f"{rows.column(c)[r]!r} in column {c if names is None else repr(names[c])}"

    hint = "" if options.format or not bad.any() else looks_like(names)
    rows.refuse(bad, f"complete, with names or values in all columns that are read{hint}", value, "lack a value")
    kept = [c for c in (*roles.objects, roles.respondent) if c is not None]
    doubtful = MISSING_WORDS.difference(options.objects or ())
    words = Counter(cell for c in kept if doubtful & cells[c] for cell in rows.column(c).tolist() if cell in doubtful)
    for word, count in words.most_common(1):
        overrule = f"missing={word!r} (--missing {word})"
        notes.append(
            f"{count:,} cell{'s contain' if count > 1 else ' contains'} {word!r}, which is read as a name; if it means "
            f"that a value is missing, use {overrule}"
        )


def _one_spelling(rows, roles):
    "A function that gives a column with numbers in one spelling, where all objects (or all people) are numbers."
    import pandas as pd

    known = frozenset(rows.options.objects or ())
    numeric = all_numbers(set().union(*(rows.column(c).tolist() for c in roles.objects)))

    def plain(c):
        at, different = pd.factorize(rows.column(c))
        if known and c != roles.respondent:  # what is among the objects stays, and else what then is
            texts = [plain_number(x) if x not in known and plain_number(x) in known else x for x in different]
        else:
            is_numeric = all_numbers(set(different)) if c == roles.respondent else numeric
            texts = [plain_number(x) for x in different] if is_numeric else different
        return np.array(texts, dtype=object)[at]

    return plain


MANY_ANSWERS = 30  # in which one of three places is left out by chance twice in 100,000 times


def _reorder(rows, roles, cells, told, notes):
    "Put what was chosen where an answer of this kind has it; return what the codes mean."
    names, kind = rows.table.names, rows.options.kind
    called = [None if names is None else names[c] for c in roles.objects]
    first = {"triplets": 1, "quadruplets": 4}.get(kind, 0)
    options, others = (called[first:], called[:first]) if first < 4 else ([None, None], called)
    name = None if names is None else names[roles.answer]
    if kind == "triplets" and not told and names_one_of_three(rows.shown, cells):
        require(False, "kind", f"given ({told_special(roles.answer if name is None else name)})", kind)
    found = decode_answers(cells, rows.shown[:, first:] if first < 4 else None, options, others, name, told)
    notes += [found.note] * bool(found.note)
    rule = f"an answer (column {roles.answer if name is None else repr(name)}): {found.rule}"
    rows.places = found.numbers
    rows.refuse(rows.places < 0, rule, lambda r: cells[r], "have no such answer" if found.explained else None)
    never = [place for place in range(len(options)) if not (rows.places == place).any()]
    if len(options) == 3 and len(rows.places) >= MANY_ANSWERS and never:
        place = called[never[0]] or SIDES[3][never[0]]
        notes.append(f"no answer chooses {place!r}: were three shown, or is it compared with the other two (triplets)?")
    rows.shown = np.take_along_axis(rows.shown, ORDERS[kind][rows.places], axis=1)
    return found.coding


def _refuse_not_shown(rows, roles):
    "Refuse rows whose choice was not shown, where the file says both; and columns that clash."
    names = rows.table.names
    if roles.same is not None:
        nearer, same = rows.column(roles.objects[1]).tolist(), rows.column(roles.same).tolist()
        one_to_one = len(set(zip(nearer, same))) == len(set(nearer)) == len(set(same))  # numbers and names, perhaps
        rule = f"given, as {names[roles.same]!r} contradicts {names[roles.objects[1]]!r}: use "
        require(one_to_one, "columns", rule + told_columns(roles.objects, names), names)
    if roles.shown:
        pair = np.stack([rows.column(c) for c in (*roles.objects[1:], *roles.shown)], axis=1)
        bad = ((pair[:, :2] != pair[:, 2:]) & (pair[:, :2] != pair[:, :1:-1])).any(axis=1)
        if bad.mean() <= 0.5 or roles.basis != "by name":  # else they are written in another way
            value = lambda r: tuple(pair[r])
            rows.refuse(bad, "an answer about what was shown", value, "name a choice that was not shown")


def _weight(cell, decimal_comma):
    "A cell as a weight, or nan."
    value = as_number(cell.replace(",", ".") if decimal_comma else cell, nan)
    return value if isfinite(value) and value > 0 else nan


def _refuse_broken(rows):
    "Refuse rows with a name that is none, and those that are no comparison; return (codes of the others, names)."
    import pandas as pd

    objects, cells = rows.options.objects, rows.shown
    codes, found = pd.factorize(cells.ravel())
    codes, known = codes.reshape(cells.shape), None if objects is None else set(objects)
    bad = np.array([not is_name(name) or known is not None and name not in known for name in found])[codes]
    rule = "made of names" + ("" if objects is None else " given in objects")
    rows.refuse(bad.any(axis=1), rule, lambda r: cells[r][bad[r]][0], "have a name that is not in objects")
    codes, kept = codes[~bad.any(axis=1)], rows.shown
    i, j, k, l = (codes[:, c] for c in ((0, 1, 0, 2) if codes.shape[1] == 3 else range(4)))
    alone, same = (i == j) | (k == l), (i == k) & (j == l) | (i == l) & (j == k)
    at_first = alone[(alone | same).argmax()] if len(alone) else False
    rule = "a pair of two different objects on each side" if at_first else "a comparison of two different pairs"
    rows.refuse(alone | same, rule, lambda r: tuple(kept[r].tolist()), "compare a thing with itself")
    return codes[~(alone | same)], found


# ---- what the user should know


CHOSEN = {"central": "most central", "odd-one-out": "odd"}


def _role_notes(roles, kind, names):
    "Notes on columns whose names say something else, or that count answers and are not read."
    if names is None:
        return []
    notes, words = [], [set(name_parts(names[c])) for c in roles.objects]
    stems = [split_number(names[c])[0] for c in roles.objects]
    if kind == "triplets" and roles.answer is None:
        sides = {"left", "right"} <= words[1] | words[2] and not words[1] & words[2] & {"left", "right"}
        if sides or stems[0] != stems[1] == stems[2] and "#" in stems[1] != "#":  # choice1 and choice2
            what = f"column {names[roles.objects[1]]!r} is read as the choice in every row"
            other = "use answer=… (--answer …) for the column with the choice"
            notes.append(f"{what}; if it only holds an object shown, {other}")
        told = [role_of_name(name_parts(names[c])) for c in roles.objects]
        wrong = [p for p, place in enumerate(IN_TRIPLET) if told[p] in IN_TRIPLET and told[p] != place]
        if roles.basis == "as told" and wrong:
            what = f"column {names[roles.objects[wrong[0]]]!r} is read as the {IN_TRIPLET[wrong[0]]}, as given"
            notes.append(f"{what}; its name suggests another role")
    numbered = len(set(stems)) == 1 and list(names[:3]) != ["i", "j", "k"]
    if (
        kind in ("central", "odd-one-out")
        and roles.answer is None
        and numbered
        and sorted(roles.objects) == roles.objects
    ):
        what = f"column {names[roles.objects[0]]!r} is read as the {CHOSEN[kind]} one in every row"
        notes.append(f"{what}; if all three only hold what was shown, use answer=… (--answer …) for the choice")
    read = {*roles.objects, roles.answer, roles.weight, roles.respondent}
    unread = [name for c, name in enumerate(names) if c not in read and name_parts(name)]
    for name in [name for name in unread if WEIGHTS.issuperset(name_parts(name))][:1]:
        how = f"weight={name!r} (--weight {name})"
        notes.append(f"column {name!r} is not read; if it holds the number of times an answer was given, use {how}")
    return notes


def _unseen(name):
    "The characters of a name that cannot be seen."
    return [] if name.isascii() else [c for c in name if unicodedata.category(c) == "Cf" and c not in "\u200c\u200d"]


def _look(name):
    "What a name looks like: without case, blanks and characters that cannot be seen; equal numbers look alike."
    value = as_number(name, inf)
    if isfinite(value):
        return cell_text(value)
    seen = "".join(c for c in name if c not in _unseen(name))
    return re.sub(r"[\s_]", "", unicodedata.normalize("NFKC", seen).casefold())


def _spelling_notes(names, rows, kind, objects):
    "Notes on names that look alike, hold what cannot be seen, or are rare; and on columns that share no object."
    notes, groups, files = [], {}, {}
    unseen = {name: _unseen(name) for name in names if _unseen(name)}
    if unseen:
        name, characters = next(iter(unseen.items()))
        what = f"U+{ord(characters[0]):04X} {unicodedata.name(characters[0], '')}".strip()
        hold = "1 name holds" if len(unseen) == 1 else f"{len(unseen):,} names hold"
        notes.append(f"{hold} a character that cannot be seen, such as {name!r} ({what})")
    for name in names:
        groups.setdefault(_look(name), []).append(name)
    for look, alike in groups.items():
        files.setdefault(file_key(look), []).append(alike[0])
    in_no_folder = lambda name: re.search(r"[\\/]", name) is None
    alike = [group for group in groups.values() if len(group) > 1]
    alike += [group for group in files.values() if len(group) == 2 or len(group) > 2 and any(map(in_no_folder, group))]
    if alike:
        examples = "; ".join(" and ".join(map(repr, sorted(group)[:3])) for group in sorted(alike)[:3])
        more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
        how = "differ only in case, blanks, folder or ending, and are read as different objects"
        notes.append(f"names that look alike {how}: {examples}{more}")
    times = bincount(rows.ravel())
    once, usual = np.flatnonzero(times == 1), np.median(times[times > 0])
    if len(once) and len(times) * usual * np.exp(-usual) < 0.05:  # improbable if objects are drawn at random
        examples = ", ".join(repr(objects[i]) for i in once[:3]) + ", …" * (len(once) > 3)
        occur = "1 name occurs" if len(once) == 1 else f"{len(once):,} names occur"
        notes.append(f"{occur} only once, and others {usual:.0f} times: is a name misspelt? ({examples})")
    columns = [np.unique(column) for column in rows.T] if kind == "triplets" else []
    for c, own in enumerate(columns):
        alone = not np.isin(own, np.concatenate(columns[:c] + columns[c + 1 :])).any()
        if alone and c == 0 and (len(own) > 2 or len(rows) >= 8):
            none = (
                f"none of the {len(own):,} anchors is ever"
                if len(own) > 1
                else f"{objects[own[0]]!r}, the only anchor, is never"
            )
            notes.append(f"{none} a choice: do all columns spell names alike?")
        elif alone and c > 0 and len(rows) >= 8:
            examples = ", ".join(repr(objects[i]) for i in own[:3])
            notes.append(f"the {IN_TRIPLET[c]} objects ({examples}) are in no other column: are they objects?")
    return notes


def _reading(rows, roles, codes, has_people):
    "`Reading` of what was found."
    table, kind = rows.table, rows.options.kind
    called = list(map(str, range(table.frame.shape[1]))) if table.names is None else table.names
    meant = {"triplets": IN_TRIPLET, "quadruplets": ("nearer pair", "nearer pair", "farther pair", "farther pair")}
    meant |= {"central": ("most central", "other", "other"), "odd-one-out": ("odd one out", "other", "other")}
    meant = meant[kind]
    if roles.answer is not None:
        meant = [role if kind == "triplets" and p == 0 else "shown" for p, role in enumerate(meant)]
    told = [
        *zip(roles.objects, meant),
        (roles.answer, "answer"),
        (roles.respondent, "respondent"),
        (roles.weight, "weight"),
    ]
    told = [(called[c], role) for c, role in told if c is not None]
    told += [("file", "respondent")] if has_people and roles.respondent is None else []
    read = {*roles.objects, roles.answer, roles.respondent, roles.weight, *roles.shown, roles.same}
    asked = {parse_condition(text)[0] for text in rows.options.where}
    unread = tuple(name for c, name in enumerate(called) if c not in read and name and name not in asked)
    counts = rows.total, len(rows.shown), tuple(rows.reasons())
    return Reading(table.title, kind, tuple(told), roles.basis, codes, *counts, unread, tuple(table.notes))
