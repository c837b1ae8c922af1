"A session with a person: every response is on the disk before the next question appears."

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log2
from pathlib import Path

import numpy as np

from ..adaptive import InconsistentTriplets
from ..adaptive.build import consistent_hierarchy
from ..adaptive.insertion import depth_limit
from ..adaptive.multifurcating import Hierarchy, OrdinalOracle
from ..adaptive.insertion import insertion_clustering
from ..adaptive.trees import random_hierarchy
from ..comparisons import Triplets
from ..core.io import JournalError, journal_path
from ..core.log import Contents, Log, read_log
from ..core.validation import InputError, MissingFileError, check_integer, check_number, require, shown
from ..oracles import HierarchyOracle, Noisy
from .items import (
    TRIAL_TYPES,
    Item,
    Question,
    Response,
    Settings,
    as_triplets,
    is_timed,
    now,
    read_items,
    seed_of,
    timed,
)
from .replay import MAX_P, MIN_P, Consistency, Replay, bayesian_insertion, build_tree, consistency, replay

__all__ = ["Session", "SessionState", "read_journal"]


def max_questions(m):
    "How many questions the next item needs at most."
    return min(depth_limit(m), m - 1)


@lru_cache(maxsize=64)
def expected_questions(n, p=None):
    "Averages over uniformly random binary trees, whose items come in order."
    runs = max(4, int((5_000 if p is None else 2_000) / (n * log2(n))))
    totals = np.zeros(n)
    for seed in range(runs):
        oracle = HierarchyOracle(random_hierarchy(n, "uniform", seed))
        if p is None:
            algorithm = insertion_clustering(n)
        else:
            algorithm = bayesian_insertion(Settings(tuple(map(str, range(n))), "simulated", seed), p)
            oracle = Noisy(oracle, p, seed)
        answer = None
        while True:
            try:
                question = algorithm.send(answer)
            except StopIteration:
                break
            totals[question[0].max()] += 1  # items come in order: the last one is being placed
            answer = oracle(question)
    return tuple((totals / runs).tolist())


def _n_since_repetition(answers):
    'How many new answers there were since the last repetition; "cannot say" is none.'
    last = max((at for at, answer in enumerate(answers) if answer.trial_type == "again"), default=-1)
    return sum(answer.trial_type in ("new", "other") and answer.answer > 0 for answer in answers[last + 1 :])


@dataclass(frozen=True)
class SessionState:
    """A session at one moment: a function of its settings and responses.

    Parameters
    ----------
    settings : Settings
        Items, person and seed.
    answers : tuple of Response
        All responses that were not taken back.
    careful : float, optional
        The probability of a right response that the careful stage assumes; None outside that stage.

    Examples
    --------
    >>> from comparison_hc.elicitation import Session
    >>> state = Session(["cat", "dog", "trout"], person="Ada").state
    >>> state.at_most
    1
    """

    settings: Settings
    answers: tuple = ()  # of `Response`; those taken back are gone
    careful: float | None = None

    @cached_property
    def insertion(self) -> Replay:
        "How far the answers lead."
        return replay(self.settings, self.answers, self.careful)

    # what to ask

    @cached_property
    def question(self) -> Question | None:
        "What to ask next."
        repeated = self._repeated()
        if self.doubt:
            return Question(self._mixed(self.doubt[0].items), "settle")
        if self.insertion.missing is None:
            return None
        if repeated is not None:
            return Question(self._mixed(repeated), "again")
        query, trial_type = self.insertion.missing
        return Question(self._mixed(query), trial_type)

    @property
    def doubt(self) -> tuple | None:
        "The last answer, if it differs from an earlier one: settled at once, but for the careful stage."
        if self.careful or not self.answers:
            return None
        last = self.answers[-1]
        if last.trial_type != "again" or not last.answer:
            return None
        first = next(answer for answer in self.answers if answer.items == last.items)
        return (first, last) if first.left_out != last.left_out else None

    def _repeated(self):
        "Three items to ask about again, or None. Not the last three questions: they are still in mind."
        every = self.settings.repeat_every
        if self.careful or not every or _n_since_repetition(self.answers) < every:
            return None  # the careful stage repeats enough
        times = Counter(answer.items for answer in self.answers)
        recent = {answer.items for answer in self.answers[-3:]}
        old = [
            answer.items
            for answer in self.answers
            if answer.answer and times[answer.items] == 1 and answer.items not in recent
        ]
        return old[int(self._rng(1).integers(len(old)))] if old else None

    def _rng(self, *more):
        return np.random.default_rng([self.settings.seed, len(self.answers), *more])

    def _mixed(self, items):
        "The three items as on the screen."
        return tuple(self._rng().permutation(sorted(items)).tolist())

    # how many are left

    def _left(self, per_item):
        "New questions left, by what each further item needs."
        done = self.insertion
        if done.missing is None:
            return 0
        return max(1, per_item[done.n_placed] - done.n_asked) + sum(per_item[done.n_placed + 1 : self.settings.n])

    @property
    def at_most(self) -> int | None:
        'How many questions are left at most, if none of the answers is "cannot say" and none is taken back.'
        if self.careful:
            return None if self.question else 0
        new = self._left([0, *map(max_questions, range(1, self.settings.n))])
        every = self.settings.repeat_every
        n_repeated = (_n_since_repetition(self.answers) + new) // every if every and new else 0
        return int(new + (self.doubt is not None) + 2 * n_repeated)

    @property
    def expected(self) -> float:
        "How many questions are left on average over random trees."
        if self.question is None:
            return 0.0
        if self.careful:
            return self._left(expected_questions(self.settings.n, self.careful))
        new = self._left(expected_questions(self.settings.n))
        every = self.settings.repeat_every
        n_repeated = (_n_since_repetition(self.answers) + new) / every if every else 0
        return min(self.at_most, new + (self.doubt is not None) + n_repeated)

    @property
    def left_text(self) -> str:
        "Both numbers in words."
        if self.question is None:
            return "nothing left"
        limit = "no limit: it ends when it is sure" if self.at_most is None else f"at most {self.at_most} left"
        return f"{limit}, about {self.expected:.0f} expected"

    # what follows

    @property
    def items(self) -> list:
        "Items that have come up so far."
        done = self.insertion
        return sorted(self.settings.order[: done.n_placed + (done.missing is not None)])

    @cached_property
    def hierarchy(self) -> Hierarchy:
        "The tree of what was said."
        return build_tree(self.insertion.rows, self.items, self.settings.names)

    @property
    def consistency(self) -> Consistency:
        "What repeated questions say."
        return consistency(self.answers)

    @property
    def triplets(self) -> Triplets | None:
        "Everything that was said, repeated answers included."
        return as_triplets(self.settings.names, [self.answers], None)

    @property
    def inconsistencies(self) -> list:
        "For every response that the tree contradicts: an inconsistent set with it. Empty in the careful stage."
        if self.careful or not self.insertion.rows:
            return []  # the careful stage expects errors and outvotes them
        used, found = set(self.insertion.rows), []
        asked = self.doubt[1].row if self.doubt else None  # is being settled now
        said = dict.fromkeys(answer.row for answer in self.answers if answer.answer)
        for row in said:
            if row in used or row == asked:
                continue
            try:
                consistent_hierarchy(Triplets([row, *used], names=self.settings.names))
            except InconsistentTriplets as error:
                found.append(error)
        return found

    @property
    def inconsistency_texts(self) -> list:
        "The same in words, the answer that does not fit first."
        used, texts = set(self.insertion.rows), []
        for found in self.inconsistencies:
            rows = [(*sorted(set(three) - {three[out]}), three[out]) for *three, out in found.answers.tolist()]
            rows.sort(key=used.__contains__)
            others = ", and that ".join(map(self.in_words, rows[1:]))
            texts.append(f"You said that {self.in_words(rows[0])}; but also that {others}.")
        return texts

    @property
    def n_against(self) -> int:
        "How many answers the tree contradicts."
        said = [answer for answer in self.answers if answer.answer and answer.items <= set(self.items)]
        if not said:
            return 0
        number = {item: at for at, item in enumerate(self.items)}
        found = OrdinalOracle(self.hierarchy)(np.array([[number[item] for item in answer.shown] for answer in said]))
        answers = np.array([answer.answer - 1 for answer in said])
        return int(((found >= 0) & (found != answers)).sum())

    def in_words(self, row: tuple) -> str:
        """Write a row as a sentence.

        Parameters
        ----------
        row : tuple of int
            (i, j, k): items i and j belong together, k is left out.

        Returns
        -------
        str
        """
        i, j, k = (self.settings.names[item] for item in row)
        return f"{i} and {j} belong together, without {k}"


_WROTE = "one that a session wrote"


def _about(settings):
    "Settings as in the header."
    return dict(
        items=list(settings.names), person=settings.person, seed=settings.seed, repeat_every=settings.repeat_every
    )


def _event(record, n):
    'The answer in a record, the p of "careful" as a float, True for undo, False for consent, None for none of them.'
    if record == {"undo": True}:
        return True
    if record.keys() == {"consent"}:
        return False if isinstance(record["consent"], str) else None
    if record.keys() == {"careful"}:
        p = record["careful"]
        return p if isinstance(p, float) and 0.5 < p < 1 else None
    if not is_timed(record, {"q", "a", "why"}) or not isinstance(record["q"], list):
        return None
    q, answer, why = record["q"], record["a"], record["why"]
    are_items = all(type(item) is int and 0 <= item < n for item in q)
    if not are_items or not len(q) == len(set(q)) == 3 or type(answer) is not int or answer not in range(4):
        return None
    if not isinstance(why, str) or why not in TRIAL_TYPES:
        return None
    return Response(tuple(q), answer, why, record.get("time", ""), record.get("ms"))


def _is_event(record, about):
    "Whether a record means something in a session about these items."
    items = about.get("items")
    return isinstance(items, list) and _event(record, len(items)) is not None


def state_of(settings, events):
    "The session after these events: `Response` and, where the careful stage begins, its p."
    answers = tuple(event for event in events if isinstance(event, Response))
    careful = [event for event in events if isinstance(event, float)]
    return SessionState(settings, answers, careful[-1] if careful else None)


@dataclass(frozen=True)
class SessionLog:
    "What the log of a session holds."

    settings: Settings  # of its session
    events: tuple  # answers and, where the careful stage begins, its p; those taken back are gone
    found: Contents | Log  # the lines

    @property
    def n_records(self):
        "Events and undos."
        return len(self.found.records)

    @property
    def state(self):
        "What follows from the settings and events."
        return state_of(self.settings, self.events)

    @property
    def answers(self):
        "All answers so far."
        return self.state.answers


def parse_journal(found, path):
    "What the records say. Raises `JournalError` if the settings are wrong."
    try:
        about = found.about
        settings = Settings(tuple(about["items"]), about["person"], about["seed"], about["repeat_every"])
    except (KeyError, TypeError, InputError) as error:
        raise JournalError(
            f"journal must begin with the settings of a session; got {path}, where they are wrong: {error}; "
            "nothing was changed"
        ) from None
    events = []
    for record in found.records:
        event = _event(record, settings.n)
        if event is True:
            events[-1:] = []
        elif event is not False:
            events.append(event)
    return SessionLog(settings, tuple(events), found)


def read_journal(path: str | os.PathLike) -> SessionLog:
    """Read the log of a session without changing it.

    Parameters
    ----------
    path : str or path
        A log that a session wrote.

    Returns
    -------
    SessionLog
        With `.settings`, `.answers` and `.state`. A damaged end is left out, with a warning.

    Raises
    ------
    InputError
        If there is no such file, or another kind of file.

    Examples
    --------
    >>> from comparison_hc.elicitation import read_journal
    >>> read_journal("Ada.jsonl")
    Traceback (most recent call last):
    comparison_hc.core.validation.MissingFileError: journal must be an existing file; got 'Ada.jsonl'
    """
    require(isinstance(path, (str, os.PathLike)), "journal", "the name of a file", path)
    path = Path(path)
    if not os.path.isfile(path):
        raise MissingFileError(f"journal must be an existing file; got {shown(str(path))}")
    found = read_log(path, "session", _WROTE, _is_event)
    if found.report:
        warnings.warn(f"{path}: {found.report}", stacklevel=2)
    return parse_journal(found, path)


_PATIENCE = 2.0  # seconds to wait for another page that writes


class Session:
    """A person answers questions about a set of items; insertion clustering chooses the questions.

    Parameters
    ----------
    items : str, path or sequence, default "animals"
        As for `read_items`.
    journal : str or path, optional
        File in which responses are logged; continued if it exists. None: nothing is kept.
    person : str, optional
        Who answers. By default as the log says, "somebody" in a new one.
    seed : int, optional
        From 0 to 2³² − 1. By default as the log says, derived from the person's name in a new one.
    repeat_every : int, optional
        An old question is repeated after so many new responses; 0: never. By default as the log says, 6 in a new one.

    Raises
    ------
    InputError
        If an argument is invalid, or the log belongs to other items, another person or other settings.

    Examples
    --------
    >>> from comparison_hc.elicitation import Session
    >>> session = Session(["cat", "dog", "trout"], person="Ada", seed=0)
    >>> [session.picture(item).name for item in session.question.shown]
    ['trout', 'cat', 'dog']
    >>> session.answer(1)
    True
    >>> session.question is None
    True
    """

    def __init__(
        self,
        items: str | os.PathLike | Sequence = "animals",
        journal: str | os.PathLike | None = None,
        person: str | None = None,
        seed: int | None = None,
        repeat_every: int | None = None,
    ):
        self.items = read_items(items)
        self.path = None if journal is None else journal_path(journal)
        self.report = ""  # what was wrong with the journal
        given = dict(person=person, seed=seed, repeat_every=repeat_every)
        asked = {name: value for name, value in given.items() if value is not None}
        who = asked.get("person", "somebody")
        own = seed_of(who) if isinstance(who, str) else 0
        new = Settings(tuple(item.name for item in self.items), **{"person": who, "seed": own, **asked})
        self.state = SessionState(new)
        self.events = ()  # answers and, where the careful stage begins, its p
        self.n_records = 0  # events, undos and consent
        self.has_consented = False
        self._size = None  # bytes of the journal as it was last seen
        if self.path is not None:
            self._read_on(asked)

    def __repr__(self):
        return (
            f"Session({self.state.settings.n} items, {self.state.settings.person}, {len(self.state.answers)} answers)"
        )

    @property
    def question(self) -> Question | None:
        "What to ask next, or None at the end."
        return self.state.question

    def picture(self, item: int) -> Item:
        """Look up an item by its number in the log.

        Parameters
        ----------
        item : int
            Number of an item.

        Returns
        -------
        Item
        """
        return self._by_name[self.state.settings.names[item]]

    @cached_property
    def _by_name(self):
        return {item.name: item for item in self.items}

    # what a person does

    def answer(self, answer: int, at: int | None = None, ms: float | None = None) -> bool:
        """Answer the current question. The response is on the disk when this returns.

        Parameters
        ----------
        answer : {0, 1, 2, 3}
            Position of the item left out; 0: cannot say.
        at : int, optional
            `n_records` when the question was shown, if another page may have continued the session meanwhile.
        ms : float, optional
            Milliseconds from when the question was seen to the answer; logged beside the time.

        Returns
        -------
        bool
            Whether the response was recorded: not if the session went on elsewhere.
        """
        check_integer(answer, "answer", 0, 3)
        if not self._is_now(at):
            return False
        question = self.question
        require(question is not None, "answer", "left out at the end: every question is answered", answer)
        record = timed(dict(q=list(question.shown), a=int(answer), why=question.trial_type), ms)
        self._write(record, (*self.events, _event(record, self.state.settings.n)))
        return True

    def consent(self) -> None:
        "Log that the person has agreed to take part, and when."
        self._write({"consent": now()}, self.events)
        self.has_consented = True

    def undo(self, at: int | None = None) -> bool:
        """Take back the last response, or the beginning of the careful stage.

        Parameters
        ----------
        at : int, optional
            As in `answer`.

        Returns
        -------
        bool
            Whether it was recorded.
        """
        if not self._is_now(at):
            return False
        require(self.events, "undo", "called after an answer", "no answer")
        self._write({"undo": True}, self.events[:-1])
        return True

    def be_careful(self, p: float | None = None, at: int | None = None) -> bool:
        """Begin the careful stage, in which Bayesian insertion weighs every response.

        Parameters
        ----------
        p : float, optional
            Probability that a response is right, in (0.5, 1). By default as estimated from repeated questions, within
            [0.6, 0.95].
        at : int, optional
            As in `answer`.

        Returns
        -------
        bool
            Whether it was recorded.
        """
        if p is None:
            found = self.state.consistency
            require(found.n_repeated, "p", "given, or some questions repeated before", "no repeated question")
            p = min(max(found.p, MIN_P), MAX_P)
        p = check_number(p, "p", 0.501, 0.999)
        if not self._is_now(at):
            return False
        self._write({"careful": p}, (*self.events, p))
        return True

    def reload(self) -> bool:
        """Read what other pages added to the log.

        Returns
        -------
        bool
            Whether there was anything new.
        """
        if self.path is None:
            return False
        size = self.path.stat().st_size if self.path.is_file() else 0
        if size < self._size:
            raise JournalError(
                f"journal must hold the {self.n_records} records of this session; got {self.path} with {size} bytes: "
                "it was shortened or removed. Export now what is here"
            )
        if size == self._size:
            return False
        self._read_on({})
        return True

    # the journal

    def _file(self):
        "The journal, locked."
        about = _about(self.state.settings)
        return Log(self.path, "session", about, _WROTE, timeout=_PATIENCE, accepts=_is_event)

    def _read_on(self, asked):
        "Read the journal, or begin it; and go on from what it holds."
        with self._file() as file:
            found = parse_journal(file, self.path)
            self._check(found.settings, asked)
            if file.report:
                self.report = f"{self.path}: {file.report}: that answer will be asked for again"
            self.events, self.state, self.n_records = found.events, found.state, found.n_records
            self.has_consented = any("consent" in record for record in file.records)
            self._size = os.stat(self.path).st_size

    def _check(self, settings, asked):
        "The journal must be about the same: items by name, and whatever else was asked for."
        mine = {item.name for item in self.items}
        odd = sorted(mine ^ set(settings.names))
        if odd:
            which = f"{odd[0]!r} {'is missing' if odd[0] in mine else 'is one more'} ({len(odd)} differ)"
            raise JournalError(
                f"journal must be about the same items; got {self.path}, where {which}; nothing was changed"
            )
        for name, value in asked.items():
            has = getattr(settings, name)
            if value != has:
                raise JournalError(
                    f"journal must be one with {name} = {value!r}; got {self.path} with {has!r}; nothing was changed"
                )

    def _is_now(self, at):
        "Whether the page that asks saw the journal as it is."
        here = self.n_records if at is None else check_integer(at, "at", 0)
        self.reload()
        return here == self.n_records

    def _write(self, record, events):
        "One more line, then the state that follows from it."
        if self.path is not None:
            with self._file() as file:
                file.add(record, after=self.n_records)
                self._size = os.stat(self.path).st_size
        self.events, self.state = events, state_of(self.state.settings, events)
        self.n_records += 1
