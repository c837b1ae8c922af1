"Trial lists: questions drawn before the study, asked in turn, with repeated and catch trials."

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from ..comparisons import Triplets
from ..core.io import JournalError, journal_path
from ..core.log import Log, log_kind, read_log
from ..core.validation import InputError, MissingFileError, require
from .items import as_triplets, is_timed, now, timed

COLUMNS = ("question", "asks", "first", "second", "third", "role", "expected")
ROLES = ("new", "repeat", "catch")
PROMPTS = {
    "triplets": "Is {0} more like {1} or like {2}? Type 2 or 3",
    "odd-one-out": "Which one does not belong? Type 1, 2 or 3",
    "central": "Which one is the most typical of the three? Type 1, 2 or 3",
}


@dataclass(frozen=True)
class Trial:
    "One line of a list."

    asks: str  # one of `PROMPTS`
    shown: tuple  # three names; in a catch trial two are the same
    role: str  # one of `ROLES`
    expected: str = ""  # catch trials: the right name

    @property
    def places(self):
        "Legal answers, without 0 for cannot say."
        return (2, 3) if self.asks == "triplets" else (1, 2, 3)

    def rows(self, place):
        "What an answer means."
        a, b, c = self.shown
        if self.asks == "triplets":
            return [(a, b, c) if place == 2 else (a, c, b)]
        chosen = self.shown[place - 1]
        one, two = (name for at, name in enumerate(self.shown, 1) if at != place)
        if self.asks == "odd-one-out":
            return [(one, two, chosen), (two, one, chosen)]
        return [(one, chosen, two), (two, chosen, one)]


def read_trial_list(path):
    "The questions of a file. Raises `InputError` with the line."
    if not Path(path).is_file():
        raise MissingFileError(f"--list must be an existing file; got {str(path)!r}")
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        table = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    head = table[0][1] if table else []
    require(tuple(head) == COLUMNS, f"{path}, line 1,", f"the columns {','.join(COLUMNS)}", ",".join(head))
    found = []
    for line, row in table[1:]:
        where = f"{path}, line {line},"
        require(len(row) == len(COLUMNS), where, f"made of {len(COLUMNS)} cells", row)
        _, asks, *shown, role, expected = row
        require(asks in PROMPTS, f"{where} asks", f"one of {', '.join(PROMPTS)}", asks)
        require(role in ROLES, f"{where} role", f"one of {', '.join(ROLES)}", role)
        catch = role == "catch"
        require(
            all(shown) and len(set(shown)) == (2 if catch else 3),
            where,
            "about three different names (two in a catch trial)",
            shown,
        )
        require(
            expected in shown if catch else not expected,
            f"{where} expected",
            "one of the names in a catch trial, else empty",
            expected,
        )
        found.append(Trial(asks, tuple(shown), role, expected))
    require(found, str(path), "a list with at least one question", "none")
    return tuple(found)


_WROTE = "one that a list of questions wrote"


def _about(questions, person, name):
    "What a journal of answers belongs to; the name of the list's file is for readers, and None is left out."
    about = dict(questions=[[q.asks, *q.shown, q.role, q.expected] for q in questions], person=person)
    return about if name is None else about | dict(list=name)


def _is_event(record, about):
    "Whether a record is an answer or takes one back."
    agreed = record.keys() == {"consent"} and isinstance(record["consent"], str)
    return record == {"undo": True} or agreed or (is_timed(record, {"a"}) and record["a"] in (0, 1, 2, 3))


def _given(records):
    "Records of the answers that were not taken back."
    given = []
    for record in records:
        if "a" in record:
            given.append(record)
        elif "undo" in record:
            given[-1:] = []
    return given


def _answers_of(records):
    "Answers that were not taken back."
    return [record["a"] for record in _given(records)]


class TrialSession:
    """A person answers the questions of a list. Raises `InputError`, and `JournalError` for another list's journal.

    A new journal names the file of the list, where `name` is one; an old one goes on under any name.
    """

    def __init__(self, questions, journal, person, name=None):
        is_name = isinstance(person, str) and person.strip() and person.isprintable()
        require(is_name, "person", "a name of printable characters", person)
        self.questions, self.path, self.person = tuple(questions), journal_path(journal), person
        self._about = _about(self.questions, person, name)
        with self._file() as file:
            if file.about | dict(list=None) != self._about | dict(list=None):
                raise JournalError(
                    f"journal must be about the same list and person; got {self.path}; nothing was changed"
                )
            self.report, self.has_consented = file.report, any("consent" in record for record in file.records)
            self.answers, self.n_records = _answers_of(file.records), len(file.records)

    def _file(self):
        "The journal, locked."
        return Log(self.path, "list", self._about, _WROTE, accepts=_is_event)

    def _write(self, record):
        with self._file() as file:
            file.add(record, after=self.n_records)
        self.n_records += 1

    @property
    def question(self):
        "What to ask next."
        return self.questions[len(self.answers)] if len(self.answers) < len(self.questions) else None

    def answer(self, place, ms=None):
        "Answer the present question, `ms` milliseconds after it was seen. It is on the disk when this returns."
        require(self.question is not None, "answer", "left out at the end: every question is answered", place)
        legal = (0, *self.question.places)
        require(place in legal, "answer", f"one of {', '.join(map(str, legal))}", place)
        self._write(timed({"a": place}, ms))
        self.answers.append(place)

    def consent(self):
        "Log that the person has agreed to take part, and when."
        self._write({"consent": now()})
        self.has_consented = True

    def undo(self):
        "Take back the last answer. Raises `InputError` where there is none."
        require(self.answers, "undo", "called after an answer", "no answer")
        self._write({"undo": True})
        self.answers.pop()


def run_trials(session, lines, say):
    "Ask until everything is answered, or there are no more lines."
    while session.question:
        question = session.question
        say(f"\n[{len(session.answers)} of {len(session.questions)} answered]")
        for place, name in enumerate(question.shown, 1):
            say(f"  {place}  {name}")
        say(f"{PROMPTS[question.asks].format(*question.shown)} (0 cannot say, u undo, q stop): ", end="")
        start = perf_counter()
        word = next(lines, "q").strip().lower()
        ms = 1000 * (perf_counter() - start)
        if word == "q":
            say("")
            return False
        try:
            if word == "u":
                session.undo()
            else:
                session.answer(int(word) if word in ("0", "1", "2", "3") else word, ms)
        except InputError as error:
            say(f"  {error}")
    return True


def trial_triplets(questions, answers):
    "Triplets of the answers that say something."
    pairs = zip(questions, answers)
    return [row for question, place in pairs if place and question.role != "catch" for row in question.rows(place)]


def attention_checks(questions, answers):
    "How carefully a person answered."
    found = dict(
        answered=len(answers), cannot_say=answers.count(0), catch=0, catch_right=0, repeated=0, repeated_same=0
    )
    first = {}
    for question, place in zip(questions, answers):
        chosen = question.shown[place - 1] if place else None
        key = question.asks, frozenset(question.shown), question.shown[0] if question.asks == "triplets" else ""
        if question.role == "catch":
            found["catch"] += 1
            found["catch_right"] += chosen == question.expected
        elif question.role == "repeat" and chosen and first.get(key):
            found["repeated"] += 1
            found["repeated_same"] += chosen == first[key]
        elif question.role == "new":
            first[key] = chosen
    return found


def checks_text(found, total):
    "The same in a sentence."
    text = f"{found['answered']} of {total} questions answered, {found['cannot_say']} of them “cannot say”"
    text += f"; {found['catch_right']} of {found['catch']} catch trials right" if found["catch"] else ""
    return text + (f"; {found['repeated_same']} of {found['repeated']} repeats the same" if found["repeated"] else "")


def jspsych_timeline(questions):
    """A list as `timeline_variables` of a jsPsych experiment with the plugin html-button-response.

    Each has stimulus, choices and prompt, and data with what its trial is about: pass it on as `data`, and
    `--format jspsych` reads what participants answered.
    """
    rows = []
    for number, question in enumerate(questions, 1):
        is_pair = question.asks == "triplets"
        choices = list(question.shown[1:] if is_pair else question.shown)
        words = PROMPTS[question.asks].format(*question.shown).partition("? ")[0] + "?"
        about = dict(question=number, role=question.role, expected=question.expected, choices=choices)
        stimulus, prompt = (question.shown[0], words) if is_pair else (words, "")  # both are shown
        rows.append(dict(stimulus=stimulus, choices=choices, prompt=prompt, data=about))
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def psychopy_conditions(questions):
    """A list as a conditions file of PsychoPy, for a loop around one routine with a keyboard response.

    Let the keys be left and right, or 1, 2 and 3 where there are three to choose from; `--format psychopy` reads what
    participants answered.
    """
    asks = {question.asks for question in questions}
    require(len(asks) == 1, "--list", "one with the same kind of question in all lines", sorted(asks))
    names = ("anchor", "left", "right") if asks == {"triplets"} else ("left", "middle", "right")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("question", *names, "role", "expected"))
    for number, question in enumerate(questions, 1):
        table.writerow((number, *question.shown, question.role, question.expected))
    return text.getvalue()


LIST_FORMS = {".json": jspsych_timeline, ".csv": psychopy_conditions}


def _read(path):
    "(person, questions, records) of a log."
    if not Path(path).is_file():
        raise MissingFileError(f"journal must be an existing file; got {str(path)!r}")
    found = read_log(Path(path), "list", _WROTE, _is_event)
    try:
        questions = [
            Trial(asks, tuple(shown), role, expected) for asks, *shown, role, expected in found.about["questions"]
        ]
        return found.about["person"], questions, found.records
    except (KeyError, TypeError, ValueError):
        raise JournalError(f"journal must begin with a list of questions; got {path}; nothing was changed") from None


def trials_table(path):
    "One row an answer: what was asked where, what was answered, when, and how long it took. Raises `InputError`."
    import pandas as pd

    person, questions, records = _read(path)
    rows = []
    for number, (question, record) in enumerate(zip(questions, _given(records)), 1):
        place = record["a"]
        about = dict(person=person, question=number, asks=question.asks)
        about |= dict(zip(("first", "second", "third"), question.shown)) | dict(role=question.role)
        said = dict(place=place, chosen=question.shown[place - 1] if place else "")
        rows.append(about | said | dict(time=record.get("time", ""), ms=record.get("ms")))
    return pd.DataFrame(rows)


def _said_in_list(path):
    "(person, triplets of names, how carefully they answered) of a list's log."
    person, questions, records = _read(path)
    answers = _answers_of(records)
    return person, trial_triplets(questions, answers), attention_checks(questions, answers)


def _said_in_session(path):
    "The same of the log of a session whose questions depend on the answers: it has no catch trials."
    from .session import read_journal

    found = read_journal(path)
    names, answers, again = found.settings.names, found.answers, found.state.consistency
    said = as_triplets(names, [answers], None)
    rows = [] if said is None else [tuple(names[item] for item in row) for row in said.array.tolist()]
    checks = dict(answered=len(answers), cannot_say=sum(not each.answer for each in answers), catch=0, catch_right=0)
    return found.settings.person, rows, checks | dict(repeated=again.n_repeated, repeated_same=again.n_same)


def collect_answers(journals, names=None):
    "Several people's answers taken together. Raises `InputError`."
    import pandas as pd

    rows, who, checks = [], [], []
    for path in journals:
        person, own, careful = _said_in_session(path) if log_kind(path) == "session" else _said_in_list(path)
        rows += own
        who += [person] * len(own)
        checks.append(dict(person=person, **careful))
    require(
        rows, "journals", "files with at least one answer that is not “cannot say”", [str(path) for path in journals]
    )
    known = list(dict.fromkeys(names or sorted({name for row in rows for name in row})))
    number = {name: at for at, name in enumerate(known)}
    missing = sorted({name for row in rows for name in row} - set(number))
    require(not missing, "names", "those of all objects", missing[:1])
    table = [[number[name] for name in row] for row in rows]
    return Triplets(table, len(known), names=known, respondents=who), pd.DataFrame(checks)


def readable_checks(checks):
    "The same, with heads that a reader knows."
    heads = dict(
        cannot_say="cannot say", catch="catch trials", catch_right="of these right", repeated_same="of these the same"
    )
    return checks.rename(columns=heads)
