"""How a table becomes comparisons: which column says what, what the answers' codes mean, which rows are left out."""

import re
import unicodedata
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from math import inf, isfinite, nan

import numpy as np

from ._columns import (
    IN_TRIPLET,
    MISSING_WORDS,
    PLACES,
    WEIGHTS,
    WIDTHS,
    as_number,
    find_column,
    find_roles,
    is_whole_number,
    judge_header,
    looks_like,
    name_parts,
    names_columns,
    plain_number,
    role_of_name,
    sorted_names,
    told_columns,
)
from ._tables import cell_text, joined, read_tables, some_lines
from .importers import IMPORTERS, imported
from .compat import repeat
from ._rows import is_name
from .validation import InputError, InputWarning, check_flag, check_names, require, shown

__all__ = ["Reading"]

MOST_REPEATED = 10**8  # answers that counts may stand for

# ---- headers


def _with_headers(tables, options, notes):
    "The tables, with names where files have them. Of several without, one header is the first row of all."
    if len(tables) > 1 and options.header is None and all(t.names is None and len(t.frame) for t in tables):
        first = [t.frame.iloc[0].tolist() for t in tables]
        same = all(row == first[0] for row in first) and not all(map(is_whole_number, first[0]))
        options = replace(
            options, header=same or all(names_columns(row, t.frame.to_numpy()[1:]) for row, t in zip(first, tables))
        )
    return [_with_header(table, options, notes) for table in tables]


def _with_header(table, options, notes):
    "The table, named by its first row if that is a header; without rows that repeat it and more lines of Qualtrics'."
    if not len(table.frame):
        return table
    if table.names is None:
        is_header, doubt = options.header, None
        if is_header is None:
            objects = None if options.objects is None else set(options.objects)
            is_header, doubt = judge_header(table.frame.to_numpy(), objects, WIDTHS[options.kind])
        if doubt:
            first = ", ".join(table.frame.iloc[0, :6]) + (" …" if table.frame.shape[1] > 6 else "")
            taken, other = ("a header", "an answer") if is_header else ("an answer", "a header")
            overrule = f"header={not is_header} (--header {'no' if is_header else 'yes'})"
            what = f"the first {table.unit} of {table.source} ({first})"
            notes.append(f"{what} is taken for {taken}; {doubt}. If it is {other}, say {overrule}")
        if not is_header:
            return table
        names = table.frame.iloc[0].tolist()
        names[0] = names[0].lstrip("# ") if all(map(name_parts, names)) else names[0]
        table = replace(table, names=names, frame=table.frame.iloc[1:])
        rule = "a file with at least one answer (say header=False if its first line is one)"
        require(len(table.frame), table.source, rule, "a header and nothing else")
    frame, names = table.frame, np.array([name.lower() for name in table.names], dtype=object)
    imports = frame.head(2).map(lambda cell: cell.startswith('{"ImportId"')).any(axis=1).to_numpy()
    if imports.any():
        n = int(imports.argmax()) + 1
        frame = frame.iloc[n:]
        table = replace(table, frame=frame, notes=[*table.notes, f"{n} more lines of Qualtrics' header"])
    candidates = frame[frame[len(names) - 1].str.lower() == names[-1]]
    again = candidates.index[(candidates.map(lambda cell: cell.strip("\ufeff").lower()) == names).all(axis=1)]
    if len(again) and not frame.drop(index=again).isin([name for name in table.names if name]).to_numpy().any():
        lines = some_lines(table.lines, again, table.unit)
        notes.append(f"{len(again):,} rows of {table.source} repeat the header, and are left out ({lines})")
        table = replace(table, frame=frame.drop(index=again))
        table.notes.append(f"{len(again):,} repeated header{'s' * (len(again) > 1)} ({lines})")
    return table


# ---- what the codes of answers mean

SIDES = {2: ("left", "right"), 3: ("left", "middle", "right")}
KEYS = (("l", "r"), ("arrowleft", "arrowright"), ("leftarrow", "rightarrow"), ("37", "39"))  # what was pressed, of two
TRUE_WORDS = (("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n"), ("1", "-1"))  # the first of two, or the other
TELLING_TRUTH = frozenset(
    "vote votes voted is was are chose chosen select selected pick picked prefer preferred prefers closer nearer more"
    " similar winner wins".split()
)


def _code(word):
    "A code in one spelling: without the brackets of a list of one, as PsychoPy writes it."
    return plain_number(re.sub(r"""^\[\s*['"]?([^'",]*)['"]?\s*\]$""", r"\1", word)).lower()


def split_answer(text, names):
    "(column, what its codes mean or None) of `COLUMN:CODE=MEANING,…` or `COLUMN:CODE,CODE`."
    if not isinstance(text, str) or ":" not in text or text in (names or ()):
        return text, None
    for at in (match.start() for match in re.finditer(":", text)):
        column = text[:at]
        if column in (names or ()) or column.isdecimal():
            return int(column) if column.isdecimal() and column not in (names or ()) else column, text[at + 1 :]
    return text, None


def _told_coding(text, options, argument="answer"):
    "{code: number of the option} that a user tells."
    n, parts = len(options), [part.strip() for part in text.split(",")]
    words = [{str(name).lower(): p for p, name in enumerate(options) if name is not None}]
    words += [
        {word: p for p, word in enumerate(SIDES[n])},
        {w: p for p, w in enumerate(("first", "second", "third")[:n])},
    ]
    if not any("=" in part for part in parts):
        rule = f"{n} codes, in the order of {', '.join(map(str, _option_names(options)))}"
        require(len(parts) == n, argument, rule, text)
        return {_code(part): p for p, part in enumerate(parts)}
    coding = {}
    for part in parts:
        code, _, meaning = part.rpartition("=")
        found = next((w[meaning.strip().lower()] for w in words if meaning.strip().lower() in w), None)
        rule = f"codes with meanings, such as 1={_option_names(options)[0]} (of {', '.join(_option_names(options))})"
        require(found is not None and code.strip(), argument, rule, part)
        coding[_code(code)] = found
    return coding


def _option_names(options):
    "What the options are called: as their columns, or by place."
    return [place if name is None else name for name, place in zip(options, SIDES[len(options)])]


def _codings(options, others, name):
    "({what is said of it: {code: number of the option}}, whether the column's name tells what yes means)."
    n = len(options)
    named = {option.lower() for option in (*options, *others) if option is not None}
    by_column = {option.lower(): p for p, option in reversed([*enumerate(options)]) if option is not None}
    by_column = {option.split(".")[-1]: p for option, p in by_column.items()} | by_column  # Input.image_a of MTurk
    found = {"a column's name": by_column}
    lists = [(f"one of {', '.join(SIDES[n])}", SIDES[n]), ("a letter", tuple("abc"[:n]))]
    lists += [(f"a number from 0 to {n - 1}", "012"[:n]), (f"a number from 1 to {n}", "123"[:n])]
    lists += [("-1, 0 and 1 from left to right", ("-1", "0", "1"))] if n == 3 else []
    if n == 2:
        lists += [("L or R" if keys[0] == "l" else "an arrow key", keys) for keys in KEYS]
        lists += [("-1 for the first and 1 for the second", ("-1", "1"))]
        lists += [(f"{yes} for the first and {no} for the second", (yes, no)) for yes, no in TRUE_WORDS]
    for said, codes in lists:
        if named.isdisjoint(codes):  # no column is called so
            found[said] = {code: p for p, code in enumerate(codes)} | found.get(said, {})
    telling = [part for part in name_parts(name or "") if part not in TELLING_TRUTH]
    called = [(name_parts(option), name_parts(side)) for option, side in zip(_option_names(options), SIDES[n])]
    which = [p for p, both in enumerate(called) if telling and telling in both]
    if n != 2 or len(which) != 1 or telling == name_parts(name):
        return found, False
    left = which[0]
    truth = {
        f"{yes} for {_option_names(options)[left]}": {yes: left, no: 1 - left} for yes, no in (*TRUE_WORDS, ("1", "0"))
    }
    return {"a column's name": by_column, **truth}, True  # is_left: 1 means left


def chosen_options(words, shown, options, others=(), name=None, told=None):
    """Which option every answer names, a number or −1; (code, option) pairs; a note or None; a rule for those that name
    none; whether the coding explains all. Raises `InputError` where the words can be read in two ways."""
    import pandas as pd

    at, different = pd.factorize(words)
    codes = [_code(word) for word in different]
    column, called = "the answer" if name is None else f"column {name!r}", _option_names(options)
    meaning, tells = ({"as told": _told_coding(told, options)}, True) if told else _codings(options, others, name)
    if not tells and not {str(option).lower() for option in options} & set(SIDES[len(options)]):  # left_image
        sides = [[p for p, side in enumerate(SIDES[len(options)]) if side in name_parts(word)] for word in different]
        meaning["a word with a side in it"] = {c: s[0] for c, s in zip(codes, sides) if len(s) == 1}
    found = {said: np.array([coding.get(code, -1) for code in codes])[at] for said, coding in meaning.items()}
    if shown is not None and not told:
        found = {BY_NAME: _position_in(words, shown), **found}
        if not any((numbers >= 0).all() for numbers in found.values()):
            keys = {text: _file_key(text) for text in {*different, *shown.ravel().tolist()}}
            texts = np.vectorize(keys.get, otypes=[object])
            found["the file name of an object of the row"] = _position_in(texts(words), texts(shown))
    n_read = {said: int((numbers >= 0).sum()) for said, numbers in found.items()}
    best = max(n_read, key=n_read.get)
    complete = [said for said, n in n_read.items() if n == len(words)]
    settle = f"answer='{name or 'COLUMN'}:{different[0]}={called[0]}'"
    for other in complete[1:]:
        rule = f"clear: the values of {column} are {complete[0]} as well as {other}, and mean different things"
        rule += f"; say what they mean, such as {settle} (--answer …)"
        require((found[other] == found[complete[0]]).all(), "answer", rule, sorted(different)[:5])
    known = [code for code in codes if code in meaning.get(best, ())]
    is_usual = best == BY_NAME or len(known) > 1 or any(len(code) > 3 for code in known)
    usual = is_usual and n_read[best] > len(words) / 2
    rule = f"{best}, as in the other rows" if usual else f"one of: {'; '.join(list(found)[:5])}, …"
    coding = [(w, called[meaning[best][c]]) for w, c in zip(different, codes) if c in meaning.get(best, ())]
    explained = complete or told or best == BY_NAME and set(different) <= set(shown.ravel())
    if not explained:
        found[best] = found[best] if usual else np.full(len(words), -1)
        odd = words[found[best] < 0][0]
        other = f"say missing={odd!r} (--missing {odd}); else say what the values mean: {settle}"
        rule += f" (if {odd!r} is no answer, {other})"
    note = None
    if not tells and name is not None and len(called) == 2 and coding:
        truth = " for the first" in best or best == "a number from 0 to 1" and PLACES.isdisjoint(name_parts(name))
        if truth:
            turned = ",".join(f"{w}={called[1 - called.index(o)]}" for w, o in sorted(coding))
            is_read = " and ".join(f"{w} is taken for {o}" for w, o in sorted(coding))
            note = f"in {column}, {is_read}; if it is the other way round, say answer='{name}:{turned}' (--answer …)"
    return found[best], tuple(sorted(coding)), note, rule, bool(explained)


BY_NAME = "the name of an object of the row"


def _position_in(words, shown):
    "Where in its row of (m, n) every one of m words is; −1 if nowhere."
    is_there = shown == words[:, None]
    return np.where(is_there.any(axis=1), is_there.argmax(axis=1), -1)


def _file_key(name):
    "A name without its folders and its ending."
    return re.sub(
        r"\.(png|jpe?g|gif|svg|webp|bmp|tiff?|wav|mp3|ogg|mp4|webm|txt|html?)$",
        "",
        re.split(r"[\\/]", name)[-1],
        flags=re.I,
    )


# ---- how a file was read


@dataclass(frozen=True)
class Reading:
    """How a file was read: `str(reading)` is one line, `reading.table()` a table of (what, text).

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

    def table(self):
        "(what, text) for every property that there is something to say about."
        rows = [("file", self.source), ("kind", self.kind)]
        rows.append((f"columns ({self.basis})", ", ".join(f"{column} = {role}" for column, role in self.roles)))
        if self.coding:
            rows.append(("answers", ", ".join(f"{code} is {option}" for code, option in self.coding)))
        n_rows = f"{self.n_rows:,} rows" if self.n_read == self.n_rows else f"{self.n_read:,} of {self.n_rows:,} rows"
        rows.append(("rows", n_rows))
        rows += [("left out", f"{reason} ({lines})") for reason, lines in self.left_out]
        if self.unread:
            more = f" and {len(self.unread) - 8} more" if len(self.unread) > 8 else ""
            rows.append(("not read", ", ".join(self.unread[:8]) + more))
        rows += [("recognised", note) for note in self.notes]
        return rows + [("warning", warning) for warning in self.warnings]

    def __str__(self):
        rows = {what.split(" (")[0]: text for what, text in self.table()}
        parts = [f"{rows['columns']} ({self.basis})", rows.get("answers"), rows["rows"]]
        left_out = "; ".join(f"{reason} ({lines})" for reason, lines in self.left_out)
        parts += [left_out and f"left out: {left_out}", self.unread and f"not read: {rows['not read']}"]
        return "; ".join([*filter(None, parts), *self.notes])


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
        named = (self.respondent, self.answer, self.weight, *(self.columns or ()))
        by_name = any(isinstance(c, str) and not (c is self.answer and re.match(r"\d+:", c)) for c in named)
        texts = {}
        for argument in ("where", "missing"):
            value = getattr(self, argument)
            value = (value,) if isinstance(value, str) else value
            listed = isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value)
            require(listed, argument, "a text or a list of texts", value)
            texts[argument] = tuple(value)
        check_flag(self.drop_invalid, "drop_invalid")
        known = self.format is None or isinstance(self.format, str) and self.format in IMPORTERS
        require(known, "format", f"one of {', '.join(IMPORTERS)}", self.format)
        for argument in ("records", "separator"):
            require(isinstance(getattr(self, argument), (str, type(None))), argument, "a text", getattr(self, argument))
        objects = check_names(self.objects, argument="objects")
        objects = (
            None
            if objects is None
            else check_names([unicodedata.normalize("NFC", o) for o in objects], argument="objects")
        )
        return replace(self, header=True if self.header is None and by_name else self.header, objects=objects, **texts)


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
    "The rows for which all conditions hold. Raises `InputError` if there are none."
    for text in conditions:
        column, equal, value = parse_condition(text)
        by_number = column.isdecimal() and column not in (table.names or ())
        cells = table.frame[find_column(int(column) if by_number else column, "where", table)]
        met = ((cells == value) == equal).to_numpy()
        found = ", ".join(repr(cell) for cell, _ in Counter(cells.tolist()).most_common(5))
        require(met.any(), "where", f"a condition that some rows meet (values there: {found})", text)
        table = table.keep(met)
    return table


SINGULAR = {"lack": "lacks", "have": "has", "compare": "compares", "name": "names"}


class _Rows:
    "Rows of a table and what was found of each; those that break a rule are refused, or left out and counted."

    def __init__(self, table, options):
        self.table, self.drop, self.conditions = table, options.drop_invalid, len(options.where)
        self.total, self.left_out = len(table.frame), {}
        self.shown = self.places = self.weights = None  # names of the objects, place of the chosen, weights: one a row

    def refuse(self, bad, rule, value, reason):
        "Raise `InputError` for the first bad row, or leave all of them out; without a reason they cannot be."
        if not bad.any():
            return
        how = "" if self.drop or reason is None else " (drop_invalid=True (--drop-invalid) leaves such rows out)"
        if not self.drop or reason is None:
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
        shown = []
        for reason, index in self.left_out.items():
            if len(index) == 1:
                verb, _, rest = reason.partition(" ")
                reason = f"{SINGULAR.get(verb, verb)} {rest}"
            shown.append((f"{len(index):,} {reason}", some_lines(self.table.lines, index, self.table.unit)))
        return tuple(shown)

    def note(self):
        "How many rows were left out, and why."
        if not self.left_out:
            return []
        rows = f"{self.total:,} rows of {_source(self.table)}"
        rows += f" that meet the condition{'s' * (self.conditions > 1)}" if self.conditions else ""
        reasons = "; ".join(f"{reason} ({lines})" for reason, lines in self.reasons())
        return [f"{sum(map(len, self.left_out.values())):,} of {rows} are left out: {reasons}"]


def _source(table):
    if isinstance(table.source, str):
        return table.source
    files = list(dict.fromkeys(table.source))
    return f"{files[0]} and {len(files) - 1} more files"


# ---- from cells to comparisons


@dataclass(frozen=True)
class Answers:
    "Comparisons by number, and what goes with them."

    rows: object  # (m, width) object numbers, in the order of the kind
    names: tuple  # of the objects
    respondents: object  # (m,) who answered, or None
    weights: object  # (m,) how much each counts, or None
    places: object  # (m,) place on the screen of what was chosen, 0 the first; None where that is not known
    reading: Reading  # how the file was read


def read_answers(source, options):
    "The answers of a file or table. Raises `InputError` with the line; issues an `InputWarning` for what was guessed."
    options = options.checked()
    notes = []
    wanted = [c for c in (options.respondent, options.weight, *(options.columns or ())) if isinstance(c, str)]
    wanted += [parse_condition(text)[0] for text in options.where]
    wanted += [options.answer.split(":")[0], options.answer] if isinstance(options.answer, str) else []
    tables = read_tables(source, options, WIDTHS[options.kind], wanted)
    if options.format is None or not options.format.startswith("cblearn"):
        named = options if options.format is None else replace(options, header=True)
        tables = _with_headers(tables, named, notes)
    table, doubts = joined(tables), list(notes)
    require(len(table.frame), _source(table), "a file with at least one answer", "an empty file")
    if options.format is not None:
        table, options, said = imported(table, options)
        notes += [f"{_source(table)}: {note}" for note in said]
        require(len(table.frame), _source(table), f"a file of {options.format} with at least one answer", "none")
    table, options = _one_answer_a_row(table, options)
    column, coding = split_answer(options.answer, table.names)
    options = replace(options, answer=column)
    try:
        roles = find_roles(table, options)
    except InputError as error:
        raise InputError(f"{error} ({'; '.join(doubts)})" if doubts else str(error)) from None
    table = _that_count(table, options.where)
    answers = _numbered(_Rows(table, options), options, roles, coding, notes)
    for note in notes:
        warnings.warn(note, InputWarning, stacklevel=4)
    return replace(answers, reading=replace(answers.reading, warnings=tuple(notes)))


def _one_answer_a_row(table, options):
    "The table with an answer a row, where columns are told with a * for the number of the answer: left_*, right_*."
    stars = [c for c in (*(options.columns or ()), options.answer, options.weight) if isinstance(c, str) and "*" in c]
    if not stars or table.names is None:
        return table, options
    positions = {}
    for star in stars:
        pattern = re.escape(star.split(":")[0]).replace(r"\*", "(.+)")
        found = {m[1]: c for c, name in enumerate(table.names) if (m := re.fullmatch(pattern, name))}
        require(found, "columns", f"names that some columns have (of {table.names})", star)
        positions[star.split(":")[0]] = found
    keys = [key for key in next(iter(positions.values())) if all(key in found for found in positions.values())]
    require(keys, "columns", "names in which * stands for the same in several columns", stars)
    parts = []
    for key in keys:
        taken = [found[key] for found in positions.values()]
        others = [c for c in range(len(table.names)) if not any(c in found.values() for found in positions.values())]
        parts.append(replace(table, frame=table.frame[taken + others].set_axis(range(len(taken + others)), axis=1)))
    names = [*positions, *(table.names[c] for c in others)]
    table = joined([replace(part, names=names, label=part.label) for part in parts])
    empty = table.frame[range(len(positions))].eq("").all(axis=1).to_numpy()
    return table.keep(~empty), options


def _numbered(rows, options, roles, coding, notes):
    "`Answers` of the rows that are good, with notes for the user."
    import pandas as pd

    names, kind = rows.table.names, options.kind
    _refuse_uneven(rows)
    _refuse_missing(rows, options, roles, notes)
    plain = _one_spelling(rows, options, roles)
    rows.shown = np.stack([plain(c) for c in roles.objects], axis=1)
    codes = ()
    if roles.answer is not None:
        codes = _reorder(rows, roles, plain(roles.answer), kind, coding, notes)
    _refuse_not_shown(rows, roles)
    if roles.weight is not None:
        cells, decimal_comma = rows.column(roles.weight), rows.table.separator not in (",", None)
        rows.weights = np.array([_weight(cell, decimal_comma) for cell in cells])
        rule = "a row with a weight above zero"
        rows.refuse(np.isnan(rows.weights), rule, lambda r: cells[r], "have no weight")
    _refuse_broken(rows, options)
    require(len(rows.shown), _source(rows.table), "a file that leaves answers", "none that is valid")
    notes += rows.note() + _role_notes(roles, kind, names)
    used = pd.unique(rows.shown.ravel()).tolist()
    ordered = tuple(sorted_names(used)) if options.objects is None else options.objects
    number = pd.Index(ordered).get_indexer(rows.shown.ravel()).reshape(rows.shown.shape)
    notes += _spelling_notes(used, number, kind)
    reading = _reading(rows, roles, codes, options, len(number))
    who = rows.table.label if roles.respondent is None else plain(roles.respondent)
    who = who if who is None or roles.respondent is not None else who[rows.table.frame.index]
    places, weights = rows.places, rows.weights
    if weights is not None and options.weight is not None and (weights == np.floor(weights)).all():
        times, weights = weights.astype(np.int64), None
        require(times.sum() <= MOST_REPEATED, "weight", f"counts of at most {MOST_REPEATED:,} in all", int(times.sum()))
        number, who, places = (None if x is None else repeat(x, times, axis=0) for x in (number, who, places))
    return Answers(number, ordered, who, weights, places, reading)


def _refuse_uneven(rows):
    "Refuse rows that are longer or shorter than the others."
    ragged, index = rows.table.ragged, rows.table.frame.index
    value = lambda r: f"{len(ragged[index[r]])} cells: {ragged[index[r]]}"
    rule = f"{rows.table.frame.shape[1]} cells, like the other lines"
    rows.refuse(np.isin(index, list(ragged)), rule, value, "of another length")


def _refuse_missing(rows, options, roles, notes):
    "Refuse rows without a value that is needed; a note on cells that are probably meant as missing."
    names, needed = rows.table.names, [*roles.objects, roles.answer, roles.weight, roles.respondent]
    needed = [c for c in needed if c is not None]
    blank = {c: {""} for c in needed}
    for text in options.missing:
        column, _, value = text.rpartition("=")
        only = [c for c in needed if column and names is not None and names[c] == column]
        for c in only or needed:
            blank[c].add(value if only else text)
    cells = {c: set(rows.column(c).tolist()) for c in needed}
    objects = set().union(*(cells[c] for c in roles.objects)) - MISSING_WORDS - {""}
    if (
        objects
        and options.objects is None
        and rows.table.separator is not None
        and all(isfinite(as_number(cell, inf)) for cell in objects)
    ):
        for c in roles.objects:
            blank[c] |= MISSING_WORDS  # among numbers they are no names
    empty = {c: rows.table.frame[c].isin(blank[c]).to_numpy() for c in needed if cells[c] & blank[c]}
    bad = np.any(list(empty.values()), axis=0) if empty else np.zeros(rows.total, dtype=bool)[: len(rows.table.frame)]

    def value(r):
        c = next(c for c in needed if c in empty and empty[c][r])
        return f"{rows.column(c)[r]!r} in column {c if names is None else repr(names[c])}"

    hint = "" if options.format or not bad.any() else looks_like(names)
    rows.refuse(bad, f"complete, with names or values in all columns that are read{hint}", value, "lack a value")
    kept = [c for c in (*roles.objects, roles.respondent) if c is not None]
    doubtful = MISSING_WORDS.difference(options.objects or ())
    words = Counter(cell for c in kept if doubtful & cells[c] for cell in rows.column(c).tolist() if cell in doubtful)
    if words:
        word, count = words.most_common(1)[0]
        overrule = f"missing={word!r} (--missing {word})"
        notes.append(
            f"{count:,} cells say {word!r}, which is taken for a name; if it stands for nothing, say {overrule}"
        )


def _one_spelling(rows, options, roles):
    "A function that gives a column with numbers in one spelling, where all objects (or all people) are numbers."
    import pandas as pd

    known = frozenset(options.objects or ())

    def is_numeric(columns):
        cells = set().union(*(pd.unique(rows.column(c)).tolist() for c in columns))
        numbers = bool(cells) and all(isfinite(as_number(cell, inf)) for cell in cells)
        return numbers and not any(re.match(r"[+-]?0\d", cell) for cell in cells)  # 007 is a code

    numeric = bool(known) or is_numeric(roles.objects)
    by_column = dict.fromkeys((*roles.objects, roles.answer), numeric)
    if roles.respondent is not None:
        by_column[roles.respondent] = is_numeric([roles.respondent])

    def plain(c):
        at, different = pd.factorize(rows.column(c))
        keep = known if c != roles.respondent else ()
        texts = [plain_number(x) if x not in keep and by_column[c] else x for x in different]
        if keep:
            texts = [text if text in keep else x for x, text in zip(different, texts)]
        return np.array(texts, dtype=object)[at]

    return plain


def _reorder(rows, roles, words, kind, coding, notes):
    "Put what was chosen where an answer of this kind has it; what the codes mean."
    names = rows.table.names
    called = [None if names is None else names[c] for c in roles.objects]
    first = {"triplets": 1, "quadruplets": 4}.get(kind, 0)
    options, others = (called[first:], called[:first]) if first < 4 else ([None, None], called)
    shown = None if kind == "quadruplets" else rows.shown[:, first:]
    name = None if names is None else names[roles.answer]
    rows.places, codes, note, rule, explained = chosen_options(words, shown, options, others, name, coding)
    notes += [note] * bool(note)
    rule = f"an answer (column {roles.answer if name is None else repr(name)}): {rule}"
    rows.refuse(rows.places < 0, rule, lambda r: words[r], "have no such answer" if explained else None)
    rows.shown = np.take_along_axis(rows.shown, ORDERS[kind][rows.places], axis=1)
    return codes


def _refuse_not_shown(rows, roles):
    "Refuse rows whose choice was not shown, where the file says both; and columns that clash."
    names = rows.table.names
    if roles.same is not None:
        nearer, same = rows.column(roles.objects[1]).tolist(), rows.column(roles.same).tolist()
        one_to_one = len(set(zip(nearer, same))) == len(set(nearer)) == len(set(same))  # numbers and names, perhaps
        rule = f"told, as {names[roles.same]!r} says something else than {names[roles.objects[1]]!r}: say "
        require(one_to_one, "columns", rule + told_columns(roles.objects, names), names)
    if roles.shown:
        pair = np.stack([rows.column(c) for c in (*roles.objects[1:], *roles.shown)], axis=1)
        bad = ((pair[:, :2] != pair[:, 2:]) & (pair[:, :2] != pair[:, :1:-1])).any(axis=1)
        if bad.mean() <= 0.5 or roles.basis != "by name":  # else they are written in another way
            rule = "an answer about what was shown"
            rows.refuse(bad, rule, lambda r: tuple(pair[r]), "name a choice that was not shown")


def _weight(cell, decimal_comma):
    "A cell as a weight, or nan."
    value = as_number(cell.replace(",", ".") if decimal_comma else cell, nan)
    return value if isfinite(value) and value > 0 else nan


def _refuse_broken(rows, options):
    "Refuse rows with a name that is none, and those that are no comparison."
    import pandas as pd

    objects = None if options.objects is None else set(options.objects)
    codes, found = pd.factorize(rows.shown.ravel())
    strange = np.array([not is_name(name) or objects is not None and name not in objects for name in found])
    bad = strange[codes].reshape(rows.shown.shape)
    rule, cells = "made of names" + ("" if objects is None else " given in objects"), rows.shown
    rows.refuse(bad.any(axis=1), rule, lambda r: cells[r][bad[r]][0], "have a name that is not in objects")
    codes = codes.reshape(cells.shape)[~bad.any(axis=1)]
    i, j, k, l = (codes[:, c] for c in ((0, 1, 0, 2) if codes.shape[1] == 3 else range(4)))
    alone, same = (i == j) | (k == l), (i == k) & (j == l) | (i == l) & (j == k)
    broken, cells = alone | same, rows.shown
    rule = "a pair of two different objects on each side"
    if broken.any() and not alone[broken.argmax()]:
        rule = "a comparison of two different pairs"
    rows.refuse(broken, rule, lambda r: tuple(cells[r].tolist()), "compare a thing with itself")


# ---- what the user should know


def _role_notes(roles, kind, names):
    "Notes on columns whose names say something else, or that count answers and are not read."
    if names is None:
        return []
    notes, words = [], [set(name_parts(names[c])) for c in roles.objects]
    read = {*roles.objects, roles.answer, roles.weight, roles.respondent}
    if kind == "triplets" and roles.answer is None:
        if {"left"} <= words[1] and {"right"} <= words[2] or {"right"} <= words[1] and {"left"} <= words[2]:
            other = "say answer=… (--answer …), the column that tells who was chosen"
            what = f"column {names[roles.objects[1]]!r} is taken for the choice in every row"
            notes.append(f"{what}; if it is only what was shown there, {other}")
        told = [role_of_name(name_parts(names[c])) for c in roles.objects]
        wrong = [c for c, role, place in zip(roles.objects, told, IN_TRIPLET) if role in IN_TRIPLET and role != place]
        if roles.basis == "as told" and wrong:
            place = IN_TRIPLET[roles.objects.index(wrong[0])]
            notes.append(
                f"column {names[wrong[0]]!r} is taken for the {place}, as you say; its name says something else"
            )
    counts = [
        name
        for c, name in enumerate(names)
        if c not in read and WEIGHTS.issuperset(name_parts(name)) and name_parts(name)
    ]
    if counts:
        how = f"weight={counts[0]!r} (--weight {counts[0]})"
        notes.append(f"column {counts[0]!r} is not read; if it says how often an answer was given, say {how}")
    return notes


def _unseen(name):
    "The characters of a name that cannot be seen."
    return (
        [c for c in name if unicodedata.category(c) == "Cf" and c not in "\u200c\u200d"] if not name.isascii() else []
    )


def _look(name):
    "What a name looks like: without case, blanks and characters that cannot be seen; equal numbers look alike."
    value = as_number(name, inf)
    if isfinite(value):
        return cell_text(value)
    seen = "".join(c for c in name if c not in _unseen(name))
    return re.sub(r"[\s_]", "", unicodedata.normalize("NFKC", seen).casefold())


def _spelling_notes(names, rows, kind):
    "Notes on names that look alike, or that hold what cannot be seen; and on anchors that are never a choice."
    notes, groups, files = [], {}, {}
    unseen = {name: _unseen(name) for name in names if _unseen(name)}
    if unseen:
        name, characters = next(iter(unseen.items()))
        what = f"U+{ord(characters[0]):04X} {unicodedata.name(characters[0], '')}".strip()
        notes.append(f"{len(unseen):,} names hold a character that cannot be seen, such as {name!r} ({what})")
    for name in names:
        groups.setdefault(_look(name), []).append(name)
    for look, alike in groups.items():
        files.setdefault(_file_key(look), []).append(alike[0])
    alike = [group for group in groups.values() if len(group) > 1]
    alike += [
        group for group in files.values() if len(group) == 2 or len(group) > 2 and any(map(_has_no_folder, group))
    ]
    if alike:
        shown = "; ".join(" and ".join(map(repr, sorted(group)[:3])) for group in sorted(alike)[:3])
        more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
        how = "differ only in case, blanks, folder or ending, and are taken for different objects"
        notes.append(f"names that look alike {how}: {shown}{more}")
    anchors = np.unique(rows[:, 0])
    if kind == "triplets" and len(anchors) > 2 and not np.isin(anchors, rows[:, 1:]).any():
        notes.append(f"none of the {len(anchors):,} anchors is ever a choice: do all columns spell names alike?")
    return notes


def _has_no_folder(name):
    return re.search(r"[\\/]", name) is None


def _reading(rows, roles, codes, options, n_read):
    "`Reading` of what was found."
    table, kind = rows.table, options.kind
    called = [str(c) for c in range(table.frame.shape[1])] if table.names is None else table.names
    meant = {"triplets": IN_TRIPLET, "quadruplets": ("nearer pair", "nearer pair", "farther pair", "farther pair")}
    meant |= {"central": ("most central", "other", "other"), "odd-one-out": ("odd one out", "other", "other")}
    meant = meant[kind]
    if roles.answer is not None:
        first = {"triplets": 1}.get(kind, 0)
        meant = [*meant[:first], *["shown"] * (len(meant) - first)]
    told = [(called[c], role) for c, role in zip(roles.objects, meant)]
    for role, c in (("answer", roles.answer), ("respondent", roles.respondent), ("weight", roles.weight)):
        told += [] if c is None else [(called[c], role)]
    if table.label is not None and roles.respondent is None:
        told.append(("file", "respondent"))
    read = {*roles.objects, roles.answer, roles.respondent, roles.weight, *roles.shown, roles.same}
    unread = tuple(name for c, name in enumerate(called) if c not in read)
    return Reading(
        _source(table),
        kind,
        tuple(told),
        roles.basis,
        codes,
        rows.total,
        n_read,
        rows.reasons(),
        unread,
        tuple(table.notes),
    )


ORDERS = {
    "triplets": np.array([[0, 1, 2], [0, 2, 1]]),
    "quadruplets": np.array([[0, 1, 2, 3], [2, 3, 0, 1]]),
    "central": np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]]),
    "odd-one-out": np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]]),
}  # puts what was chosen where an answer of a kind has it
