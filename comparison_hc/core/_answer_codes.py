"What the codes of an answer column mean: names, places, letters, numbers, keys, yes and no."

import re
from dataclasses import dataclass

import numpy as np

from ._columns import ENDING, MISSING_WORDS, name_parts, plain_number, sorted_names, told_answer, told_special
from .validation import require

SIDES = {2: ("left", "right"), 3: ("left", "middle", "right")}
KEYS = (("l", "r"), ("arrowleft", "arrowright"), ("leftarrow", "rightarrow"), ("37", "39"))  # what was pressed, of two
TRUE_WORDS = (("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n"), ("1", "-1"))  # the first of two, or the other
TELLING_TRUTH = frozenset(
    """vote votes voted is was are chose chosen select selected pick picked prefer preferred prefers closer nearer more
    similar winner wins""".split()
)
PLACES = frozenset(
    """choice chosen answer response resp side position pos place button key selected selection pick picked click
    clicked index option pressed odd central decision judgment judgement winner""".split()
)
BY_NAME, BY_FILE = "the name of an object of the row", "the file name of an object of the row"


def split_answer(text, names):
    "(column, what its codes mean or None) of `COLUMN:CODE=MEANING,…` or `COLUMN:CODE,CODE`."
    if isinstance(text, str) and text not in (names or ()):
        for at in (match.start() for match in re.finditer(":", text)):
            column = text[:at]
            if column in (names or ()):
                return column, text[at + 1 :]
            if column.isdecimal():
                return int(column), text[at + 1 :]
    return text, None


def _code(word):
    "A code in one spelling: without the brackets of a list of one, as PsychoPy writes it."
    return plain_number(re.sub(r"""^\[\s*['"]?([^'",]*)['"]?\s*\]$""", r"\1", word)).lower()


def _called(options):
    "What the options are called: as their columns, or by place."
    return [place if name is None else name for name, place in zip(options, SIDES[len(options)])]


def _told_coding(text, options):
    "{code: number of the option} that a user tells."
    n, parts, called = len(options), [part.strip() for part in text.split(",")], _called(options)
    if not any("=" in part for part in parts):
        require(len(parts) == n, "answer", f"{n} codes, in the order of {', '.join(called)}", text)
        return {_code(part): p for p, part in enumerate(parts)}
    meanings = {word: p for words in (("first", "second", "third"), SIDES[n]) for p, word in enumerate(words[:n])}
    meanings |= {name.lower(): p for p, name in enumerate(called)}
    coding = {}
    for part in parts:
        code, _, meaning = part.rpartition("=")
        rule = f"codes with meanings, such as 1={called[0]} (of {', '.join(called)})"
        require(meaning.strip().lower() in meanings and code.strip(), "answer", rule, part)
        coding[_code(code)] = meanings[meaning.strip().lower()]
    return coding


def _codings(options, others, name, different):
    "({what is said of it: {code: number of the option}}, whether the column's name tells what yes means)."
    n, called = len(options), _called(options)
    named = {option.lower() for option in (*options, *others) if option is not None}
    by_column = {option.lower(): p for p, option in reversed([*enumerate(options)]) if option is not None}
    by_column = {option.split(".")[-1]: p for option, p in by_column.items()} | by_column  # Input.image_a of MTurk
    telling = [part for part in name_parts(name or "") if part not in TELLING_TRUTH]
    left = [p for p in range(n) if telling in (name_parts(called[p]), name_parts(SIDES[n][p]))]
    if n == 2 and len(left) == 1 and telling and telling != name_parts(name):  # is_left: 1 means left
        truth = {
            f"{yes} for {called[left[0]]}": {yes: left[0], no: 1 - left[0]} for yes, no in (*TRUE_WORDS, ("1", "0"))
        }
        return {"a column's name": by_column, **truth}, True
    lists = [(f"one of {', '.join(SIDES[n])}", SIDES[n]), ("a letter", tuple("abc"[:n]))]
    lists += [(f"a number from 0 to {n - 1}", "012"[:n]), (f"a number from 1 to {n}", "123"[:n])]
    if n == 2:
        lists += [("L or R" if keys[0] == "l" else "an arrow key", keys) for keys in KEYS]
        lists += [(f"{yes} for the first and {no} for the second", (yes, no)) for yes, no in (("-1", "1"), *TRUE_WORDS)]
    else:
        lists.append(("-1, 0 and 1 from left to right", ("-1", "0", "1")))
    found = {"a column's name": by_column}
    for said, codes in lists:
        if named.isdisjoint(codes):  # no column is called so
            found[said] = {code: p for p, code in enumerate(codes)} | found.get(said, {})
    if named.isdisjoint(SIDES[n]):  # left_image, imageRight
        sides = {_code(word): [p for p, side in enumerate(SIDES[n]) if side in name_parts(word)] for word in different}
        found["a word with a side in it"] = {code: places[0] for code, places in sides.items() if len(places) == 1}
    return found, False


@dataclass(frozen=True)
class AnswerCoding:
    "What an answer column says."

    numbers: object  # (m,) number of the option, −1 for none
    coding: tuple  # (code, option) pairs; empty where options are named
    note: str | None  # what is doubtful
    rule: str  # what an answer must be
    explained: bool  # whether one coding explains the whole column


def decode_answers(cells, shown, options, others=(), name=None, told=None):
    "`AnswerCoding` of an answer column. Raises `InputError` where its values can be read in two ways."
    import pandas as pd

    at, different = pd.factorize(cells)
    codes, called = [_code(word) for word in different], _called(options)
    meaning, tells = (
        ({"as told": _told_coding(told, options)}, True) if told else _codings(options, others, name, different)
    )
    found = {said: np.array([coding.get(code, -1) for code in codes])[at] for said, coding in meaning.items()}
    if shown is not None and not told:
        found = {BY_NAME: _position_in(cells, shown), **found}
        if not any((numbers >= 0).all() for numbers in found.values()):
            keys = {text: file_key(text).lower() for text in {*different, *shown.ravel().tolist()}}
            texts = np.vectorize(keys.get, otypes=[object])
            found[BY_FILE] = _position_in(texts(cells), texts(shown))
    n_read = {said: int((numbers >= 0).sum()) for said, numbers in found.items()}
    best = max(n_read, key=n_read.get)
    complete = [said for said, n in n_read.items() if n == len(cells)]
    column = "the answer" if name is None else f"column {name!r}"
    words = sorted_names(set(different) - MISSING_WORDS) or [*different]
    likely = [[option for option in called if option.lower() in word.lower()] for word in words]
    pairs = [*zip(words, called)][: None if len(words) == len(called) else 1]
    if all(len(options_in) == 1 for options_in in likely):  # stim1_main of Stim1
        pairs = [(word, option) for word, (option,) in zip(words, likely)]
    settle = told_answer(f"{name or 'COLUMN'}:" + ",".join(f"{word}={option}" for word, option in pairs))
    for other in complete[1:]:
        rule = f"clear: the values of {column} are {complete[0]} as well as {other}, and mean different things"
        rule += f"; define them, such as {settle}"
        require((found[other] == found[complete[0]]).all(), "answer", rule, sorted(different)[:5])
    known = [code for code in codes if code in meaning.get(best, ())]
    usual = best in (BY_NAME, BY_FILE) or len(known) > 1 or any(len(code) > 3 for code in known)
    usual = usual and n_read[best] > len(cells) / 2
    rule = f"{best}, as in the other rows" if usual else f"one of: {'; '.join(list(found)[:5])}, …"
    coding = tuple(
        sorted((w, called[meaning[best][c]]) for w, c in zip(different, codes) if c in meaning.get(best, ()))
    )
    explained = bool(complete or told or best == BY_NAME and set(different) <= set(shown.ravel()))
    numbers, note = found[best], None
    if not explained:
        numbers = numbers if usual else np.full(len(cells), -1)
        strange = cells[numbers < 0][0]
        other = f"use missing={strange!r} (--missing {strange}); otherwise define the values, such as {settle}"
        if shown is not None and set(codes) - {""} in ({"0", "1", "2"}, {"1", "2", "3"}, {"a", "b", "c"}):
            other += f"; if three were shown, {told_special(name or 'the answer')}"
        rule += f" (if {strange!r} is not an answer, {other})"
    truth = " for the first" in best or best == "a number from 0 to 1" and PLACES.isdisjoint(name_parts(name or ""))
    if truth and not tells and name is not None and coding:
        turned = ",".join(f"{w}={called[1 - called.index(o)]}" for w, o in coding)
        taken = " and ".join(f"{w} is read as {o}" for w, o in coding)
        note = f"in {column}, {taken}; if it is the reverse, use {told_answer(f'{name}:{turned}')}"
    return AnswerCoding(numbers, coding, note, rule, explained)


def _position_in(cells, shown):
    "Where in its row of (m, n) every one of m cells is; −1 if nowhere."
    is_there = shown == cells[:, None]
    return np.where(is_there.any(axis=1), is_there.argmax(axis=1), -1)


def file_key(name):
    "A name without its folders and its ending."
    return re.sub(ENDING, "", re.split(r"[\\/]", name)[-1], flags=re.I)
