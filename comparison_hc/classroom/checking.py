"""Tests that accept every right answer, state what is wrong with a wrong one, and give hints in three steps."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np

from ..core.validation import InputError, check_integer, require, shown
from .source import SECONDS


class Wrong(AssertionError):
    """Error that states what is wrong with a student's answer.

    Examples
    --------
    >>> from comparison_hc.classroom import Wrong
    >>> raise Wrong("count(3) gives 4, but should give 3.")
    Traceback (most recent call last):
    comparison_hc.classroom.checking.Wrong: count(3) gives 4, but should give 3.
    """

    def _render_traceback_(self):
        "The message that a notebook shows instead of a traceback."
        return [str(self)]


def expect(holds: Any, sentence: str) -> None:
    """Raise `Wrong` with a message unless a condition holds.

    Parameters
    ----------
    holds : bool
        The condition.
    sentence : str
        The message if the condition does not hold.

    Raises
    ------
    Wrong
        If the condition does not hold.

    Examples
    --------
    >>> from comparison_hc.classroom import expect
    >>> expect(1 < 2, "1 should be less than 2.")
    """
    if not bool(holds):
        raise Wrong(sentence)


def expect_equal(got: Any, want: Any, what: str, tol: float = 0) -> None:
    """Raise `Wrong` unless two values are equal: numbers within `tol`, sequences item by item whatever their type.

    Parameters
    ----------
    got : object
        The student's value.
    want : float, str, list, tuple, set, dict, array or None
        The right value.
    what : str
        Name of the value in the message, such as "count(3)".
    tol : float, default 0
        The largest permitted difference of numbers.

    Raises
    ------
    Wrong
        If the values differ; the message names the first difference.

    Examples
    --------
    >>> from comparison_hc.classroom import expect_equal
    >>> expect_equal((1, 2.0), [1, 2], "count(3)")
    """
    if isinstance(want, np.ndarray) or isinstance(want, (list, tuple)) and not isinstance(got, (str, dict, set)):
        _expect_array(got, want, what, tol)
    elif isinstance(want, (bool, np.bool_)) or want is None:
        expect(_is(got, want), f"{what} gives {shown(got)}, but should give {want}.")
    elif isinstance(want, (int, float, np.number)):
        number = isinstance(got, (Real, np.number)) or isinstance(got, np.ndarray) and got.ndim == 0
        expect(number, f"{what} gives {shown(got)}, but should give a number, {want}.")
        expect(_apart(got, want) <= tol, f"{what} gives {got}, but should give {want}{_within(tol)}.")
    else:
        expect(got == want, f"{what} gives {shown(got)}, but should give {shown(want)}.")


def _apart(got, want):
    "How far two numbers are apart; infinitely far where a float cannot say it."
    try:
        return abs(float(got) - float(want))
    except OverflowError:
        return 0.0 if got == want else float("inf")


def _is(got, want):
    "Whether a truth value or nothing is the same; NumPy's truth values count."
    return got is None if want is None else isinstance(got, (bool, np.bool_)) and bool(got) == bool(want)


def _within(tol):
    return f" (within {tol:g})" if tol else ""


def _expect_array(got, want, what, tol):
    "Sequences, whatever their type."
    want = np.asarray(want)
    try:
        array = np.asarray(got)
        comparable = array.dtype != object
    except ValueError:
        comparable = False
    form = f"an array of shape {want.shape}" if want.ndim != 1 else f"{len(want)} values"
    expect(comparable, f"{what} gives {shown(got)}, but should give {form}.")
    expect(array.shape == want.shape, f"{what} has the shape {array.shape}, but should have {want.shape}.")
    if want.dtype.kind in "biufc" and array.dtype.kind in "biufc":
        off = ~(np.abs(array - want.astype(float)) <= tol)
    else:
        off = array != want
    if np.any(off):
        place = tuple(map(int, np.argwhere(off)[0]))
        where = f"[{', '.join(map(str, place))}]" if place else ""
        where = f": entry {where}" if where and not _is_code(what) else where
        expect(False, f"{what.rstrip(',')}{where} is {array[place]}, but should be {want[place]}{_within(tol)}.")


def _is_code(text):
    "Whether a text is code, such as `count(3)`, and not a phrase, so that an index can follow it."
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


class Answers:
    """The names that a student has defined, with their values.

    Parameters
    ----------
    names : mapping
        Names and their values, such as the `globals()` of a notebook.

    Examples
    --------
    >>> from comparison_hc.classroom import Answers
    >>> Answers({"count": len}).function("count")([1, 2])
    2
    """

    def __init__(self, names: Mapping[str, Any]):
        self._names = names

    def value(self, name: str, kind: type | tuple | None = None, form: str = "") -> Any:
        """The value of a name.

        Parameters
        ----------
        name : str
            Of a variable.
        kind : type or tuple of types, optional
            Required type of the value.
        form : str, optional
            Description of such a value for the message.

        Returns
        -------
        object
            The value.

        Raises
        ------
        Wrong
            If the name is not defined, or its value has another type.
        """
        expect(name in self._names, f"`{name}` is not defined yet. The cell above should define it under this name.")
        found = self._names[name]
        expect(found is not ..., f"`{name}` is still `...`. Replace it by your answer.")
        if kind is not None:
            expect(isinstance(found, kind), f"`{name}` is {shown(found)}, but should be {form or kind}.")
        return found

    def function(self, name: str, by_name: Iterable[str] = ()) -> Callable:
        """A student's function.

        Parameters
        ----------
        name : str
            Of a function.
        by_name : iterable of str, default ()
            Names that replace the values of the first arguments in messages.

        Returns
        -------
        callable
            Function that calls the student's function, and raises `Wrong` with the call if that fails.

        Raises
        ------
        Wrong
            If there is no such function.
        """
        found = self.value(name)
        expect(callable(found), f"`{name}` is {shown(found)}, but should be a function.")

        def call(*args, **kwargs):
            return guarded(found, call_text(name, args, kwargs, [*by_name]), *args, **kwargs)

        return call


def call_text(name, args, kwargs, by_name=()):
    "A call as short text."
    given = [*by_name, *map(shown, args[len(by_name) :])] + [f"{key}={shown(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(given)})"


def guarded(function, call, *args, **kwargs):
    "The result of a call. Raises `Wrong` with the error of the call."
    try:
        return function(*args, **kwargs)
    except (Wrong, StopIteration):
        raise
    except NotImplementedError:
        raise Wrong(f"{call}: not written yet.") from None
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise Wrong(f"{call} stopped with {type(error).__name__}{': ' * bool(text)}{text}") from None


@dataclass(frozen=True)
class Part:
    "One part of an assignment, with its test."

    name: str  # such as "1a"
    title: str  # in a few words
    points: int  # for the visible tests
    hidden: int  # for the tests that only the teacher has; 0 where there are none
    hints: tuple  # three texts, each with more detail than the one before
    test: Callable  # function of `Answers` that raises `Wrong`


@dataclass(frozen=True)
class Assignment:
    """The parts of an assignment, in order.

    Parameters
    ----------
    name : str
        As on the command line: lower-case words with - between.
    title : str
        As over the notebook.
    parts : dict, optional
        Of its parts by name; filled by `part`.

    Examples
    --------
    >>> from comparison_hc.classroom import Assignment
    >>> counting = Assignment("counting", "Count questions")
    >>> @counting.part("1a", "Count", points=2, hints=("Pairs?", "Pairs of pairs.", "m (m - 1) / 2."))
    ... def test(answers):
    ...     assert answers.function("count")(3) == 3
    >>> counting.points
    2
    """

    name: str
    title: str
    parts: dict = field(default_factory=dict)

    def part(self, name: str, title: str, points: int, hidden: int = 0, hints: Iterable[str] = ()) -> Callable:
        """Add a part.

        Parameters
        ----------
        name : str
            Such as "1a".
        title : str
            In a few words.
        points : int
            At least 1, for the visible tests.
        hidden : int, default 0
            Points for hidden tests.
        hints : iterable of str
            Three texts, each with more detail than the one before.

        Returns
        -------
        callable
            Decorator for the function of `Answers` that tests the part.

        Raises
        ------
        InputError
            If the part exists, or for other numbers of points and hints.
        """
        require(name not in self.parts, "name", f"a new one in {self.name}", name)
        check_integer(points, "points", 1)
        check_integer(hidden, "hidden", 0)
        hints = tuple(hints)
        require(len(hints) == 3 and all(isinstance(h, str) and h for h in hints), "hints", "three texts", hints)

        def add(test):
            self.parts[name] = Part(name, title, points, hidden, hints, test)
            return test

        return add

    @property
    def points(self) -> int:
        "The largest number of points."
        return sum(part.points + part.hidden for part in self.parts.values())


def packaged(name):
    "(an assignment of `parts.json`, decorator for the test of a part by its name and what it gets behind `answers`)."
    listed = json.loads(files("comparison_hc.classroom").joinpath("parts.json").read_text(encoding="utf-8"))[name]
    assignment = Assignment(name, listed["title"])

    def part(name, *given):
        def add(test):
            assignment.part(name, **listed["parts"][name])(lambda answers: test(answers, *given))
            return test

        return add

    return assignment, part


class OverBudget(ValueError):
    "Error for more questions than the budget allows."


def ranking(entries, play, measure, enough):
    """Strategies as a table: those that are good enough, sorted by their questions, then the others by their measure.

    `play` is a function of an entry and its name that returns (measure, questions, remark).
    """
    import pandas as pd

    rows = []
    for name, entry in entries.items():
        try:
            score, used, remark = play(entry, name)
        except (NotImplementedError, OverBudget, Wrong) as error:
            score, used, remark = 0.0, 0, "not written yet" if isinstance(error, NotImplementedError) else str(error)
        rows.append({"strategy": name, measure: round(score, 3), "questions": used, "remark": remark})
    rows.sort(key=lambda row: (row[measure] < enough, row["questions"] if row[measure] >= enough else -row[measure]))
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="place"))


@dataclass(frozen=True)
class Feedback:
    "The message that a part is right."

    assignment: str  # its name
    part: str  # its name, such as "1a"
    title: str  # of the part
    more: str = ""  # a further remark

    def __repr__(self):
        end = "" if self.title.endswith("?") else "."
        return f"✓ {self.part}: {self.title}{end} The tests pass{self.more}."


class Checker:
    """Checks the parts of an assignment: call it with the name of a part.

    Parameters
    ----------
    assignment : Assignment
        With the parts.
    names : mapping, optional
        Names and values of the answers. By default those of the notebook that calls.
    advise : bool, default True
        Whether to give hints.

    Examples
    --------
    >>> from comparison_hc.classroom import Checker, find_assignment
    >>> check = Checker(find_assignment("lying-oracle"), {"votes_needed": lambda p, risk: 1})
    >>> check("1a")
    Traceback (most recent call last):
    comparison_hc.classroom.checking.Wrong: ✗ 1a: votes_needed(0.8, 0.05) gives 1, but should give 7.
      Hint 1 of 3: How many of k answers are right? That number has a well-known distribution.
    """

    def __init__(self, assignment: Assignment, names: Mapping[str, Any] | None = None, advise: bool = True):
        self.assignment = assignment
        self.names = names
        self.advise = advise
        self.failures: dict = {}  # part -> how often it was wrong

    def __call__(self, name: str) -> Feedback:
        """Run the visible tests.

        Parameters
        ----------
        name : str
            Of a part, such as "1a".

        Returns
        -------
        Feedback
            The message that the part is right.

        Raises
        ------
        Wrong
            With the mistake and the next hint.
        InputError
            If there is no such part.
        """
        part = self._part(name)
        more = "; hidden tests are run when it is graded" if part.hidden and self.advise else ""
        return self._run(part, part.test, sys._getframe(1).f_globals, more)

    def hidden(self, name: str) -> Callable:
        """Run hidden tests.

        Parameters
        ----------
        name : str
            Of a part.

        Returns
        -------
        callable
            Decorator for a function of `Answers`, which runs at once.
        """
        part, names = self._part(name), sys._getframe(1).f_globals

        def run(test):
            return self._run(part, test, names)

        return run

    def hint(self, name: str, step: int = 1) -> str:
        """Return a hint of a part, also before the first attempt.

        Parameters
        ----------
        name : str
            Of a part.
        step : int, default 1
            1, 2 or 3.

        Returns
        -------
        str
            The hint.
        """
        return self._part(name).hints[check_integer(step, "step", 1, 3) - 1]

    def _part(self, name):
        parts = self.assignment.parts
        require(isinstance(name, str) and name in parts, "name", f"a part: {', '.join(parts)}", name)
        return parts[name]

    def _run(self, part, test, names, more=""):
        start = perf_counter()
        try:
            test(Answers(names if self.names is None else self.names))
        except Wrong as wrong:
            advice = ""
            if self.advise:
                step = min(self.failures.get(part.name, 0), 2)
                self.failures[part.name] = step + 1
                advice = f"\n  Hint {step + 1} of 3: {part.hints[step]}"
            raise Wrong(f"✗ {part.name}: {wrong}{advice}") from None
        self.failures.pop(part.name, None)
        seconds = perf_counter() - start
        if self.advise and seconds > SECONDS:
            more += f". But they took {seconds:.0f} seconds, and no cell may take more than {SECONDS} when it is graded"
        return Feedback(self.assignment.name, part.name, part.title, more)


def open_assignment(name: str) -> Checker:
    """The checker of an assignment, for a student's notebook.

    Parameters
    ----------
    name : str
        Such as "few-triplets", or that of a teacher's own module, which holds an `assignment`.

    Returns
    -------
    Checker
        To be called with the name of a part.

    Raises
    ------
    InputError
        If there is no such assignment.

    Examples
    --------
    >>> from comparison_hc.classroom import open_assignment
    >>> check = open_assignment("few-triplets")
    >>> check.assignment.title
    'Find the groups with few triplets'
    """
    return Checker(find_assignment(name))


def find_assignment(name: str) -> Assignment:
    """An assignment by its name.

    Parameters
    ----------
    name : str
        Of an assignment of the package, or of a module that holds an `assignment`.

    Returns
    -------
    Assignment
        With its parts.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> from comparison_hc.classroom import find_assignment
    >>> list(find_assignment("lying-oracle").parts)
    ['1a', '1b', '2a', '2b', '3a', '3b', '4a']
    """
    good = isinstance(name, str) and all(word.isidentifier() for word in name.replace("-", "_").split("."))
    require(good, "name", "an assignment's name: lower-case words with - between", name)
    module = name.replace("-", "_")
    for place in (f"comparison_hc.classroom.assignment_{module}", module):
        try:
            found = import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place:
                raise
        else:
            if isinstance(getattr(found, "assignment", None), Assignment):
                return found.assignment
    raise InputError(
        f"name must be one of {', '.join(list_assignments())}, or a module that holds an `assignment`; got {name!r}"
    )


def list_assignments() -> list[str]:
    """The names of the assignments that come with the package.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> from comparison_hc.classroom import list_assignments
    >>> len(list_assignments())
    8
    """
    from pkgutil import iter_modules

    import comparison_hc.classroom as package

    found = [info.name for info in iter_modules(package.__path__) if info.name.startswith("assignment_")]
    return [name.removeprefix("assignment_").replace("_", "-") for name in found]
