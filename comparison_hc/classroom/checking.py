"""Tests that accept every right answer, say what is wrong in a wrong one, and give hints in three steps."""

import ast
import sys
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Real
from time import perf_counter, process_time

import numpy as np

from ..core.validation import check_integer, require, shown


class Wrong(AssertionError):
    "What is wrong with an answer, in a sentence for the person who wrote it."

    def _render_traceback_(self):
        "What a notebook shows in place of a traceback."
        return [str(self)]


def expect(holds, sentence):
    """Raise `Wrong` with the sentence, unless it holds.

    Parameters
    ----------
    holds
        What must be true.
    sentence
        What is wrong if it is not.
    """
    if not bool(holds):
        raise Wrong(sentence)


def expect_equal(got, want, what, tol=0):
    """Raise `Wrong` unless two values are equal: numbers within `tol`, sequences place by place whatever their type.

    Parameters
    ----------
    got
        The student's value.
    want
        Number, text, list, tuple, set, dict or array.
    what
        Which value that is, such as "count(3)".
    tol
        How far numbers may be apart.
    """
    if isinstance(want, np.ndarray) or isinstance(want, (list, tuple)) and not isinstance(got, (str, dict, set)):
        _expect_array(got, want, what, tol)
    elif isinstance(want, (bool, np.bool_)) or want is None:
        expect(_is(got, want), f"{what} gives {shown(got)}, and should give {want}.")
    elif isinstance(want, (int, float, np.number)):
        number = isinstance(got, (Real, np.number)) or isinstance(got, np.ndarray) and got.ndim == 0
        expect(number, f"{what} gives {shown(got)}, and should give a number, {want}.")
        expect(_apart(got, want) <= tol, f"{what} gives {got}, and should give {want}{_within(tol)}.")
    else:
        expect(got == want, f"{what} gives {shown(got)}, and should give {shown(want)}.")


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
    expect(comparable, f"{what} gives {shown(got)}, and should give {form}.")
    expect(array.shape == want.shape, f"{what} has the shape {array.shape}, and should have {want.shape}.")
    if want.dtype.kind in "biufc" and array.dtype.kind in "biufc":
        off = ~(np.abs(array - want.astype(float)) <= tol)
    else:
        off = array != want
    if np.any(off):
        place = tuple(map(int, np.argwhere(off)[0]))
        where = f"[{', '.join(map(str, place))}]" if place else ""
        where = f": entry {where}" if where and not _is_code(what) else where
        expect(False, f"{what.rstrip(',')}{where} is {array[place]}, and should be {want[place]}{_within(tol)}.")


def _is_code(text):
    "Whether a text can stand before an index, as `count(3)` can and a phrase cannot."
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


SECONDS = 20  # of the processor, for a cell or a call, when an assignment is graded


class Answers:
    "What a student has defined, by name."

    def __init__(self, names):
        """…

        Parameters
        ----------
        names
            Mapping of names to values: a notebook's names, or stand-ins for those of a sandbox.
        """
        self._names = names
        self.slowest = (0.0, "")  # seconds of the processor, and the call that took them

    def value(self, name, kind=None, form=""):
        """The value of a name. Raises `Wrong` if there is none, or one of another kind.

        Parameters
        ----------
        name
            Of a variable.
        kind
            Type or tuple of types it must have.
        form
            How such a value is called, for the sentence.
        """
        expect(name in self._names, f"There is no `{name}` yet: the cell above should define it, under this very name.")
        found = self._names[name]
        expect(found is not ..., f"`{name}` is still `...`: put your answer in its place.")
        if kind is not None:
            expect(isinstance(found, kind), f"`{name}` is {shown(found)}, and should be {form or kind}.")
        return found

    def function(self, name, by_name=()):
        """A student's function.

        Parameters
        ----------
        name
            Of a function.
        by_name
            Names that stand for the first arguments in sentences, where their values say little.

        Returns
        -------
        result
            Function that calls it, and raises `Wrong` with the call where it raises.
        """
        found = self.value(name)
        expect(callable(found), f"`{name}` is {shown(found)}, and should be a function.")

        def call(*args, **kwargs):
            text, wall, work = call_text(name, args, kwargs, by_name), perf_counter(), process_time()
            result = guarded(found, text, *args, **kwargs)
            seconds = min(perf_counter() - wall, process_time() - work)  # less than either on a busy machine
            self.slowest = max(self.slowest, (seconds, text))
            return result

        return call


class OutOfReach(Exception):
    "The answers cannot be asked any more: their process has ended. The text says why."


def call_text(name, args, kwargs, by_name=()):
    "A call as one writes it, short."
    given = [*by_name, *map(shown, args[len(by_name) :])] + [f"{key}={shown(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(given)})"


def guarded(function, call, *args, **kwargs):
    "The result of a call, or `Wrong` that says what it raised."
    try:
        return function(*args, **kwargs)
    except (Wrong, StopIteration, OutOfReach):
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        kind = getattr(error, "kind", type(error).__name__)  # from a sandbox: the name of what was raised there
        if kind == "NotImplementedError":
            raise Wrong(f"{call}: not written yet.") from None
        raise Wrong(f"{call} stopped with {kind}{': ' * bool(text)}{text}") from None


@dataclass(frozen=True)
class Part:
    "One thing to do in an assignment."

    name: str  # such as "1a"
    title: str  # what is done, in a few words
    points: int  # for the tests that everybody sees
    hidden: int  # for the tests that only the teacher has; 0 where there are none
    hints: tuple  # three texts, each saying more than the one before
    test: object  # function of `Answers` that raises `Wrong`


@dataclass(frozen=True)
class Assignment:
    "The parts of an assignment, in order."

    name: str  # as on the command line: lower-case words with - between
    title: str  # as over the notebook
    parts: dict = field(default_factory=dict)  # name -> `Part`

    def part(self, name, title, points, hidden=0, hints=()):
        """Add a part. Raises `InputError`.

        Parameters
        ----------
        name
            Such as "1a".
        title
            What is done.
        points
            At least 1.
        hidden
            Points for hidden tests.
        hints
            Three texts.

        Returns
        -------
        result
            Decorator for the function that tests it.
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
    def points(self):
        "All that can be reached."
        return sum(part.points + part.hidden for part in self.parts.values())


@dataclass(frozen=True)
class Feedback:
    "That a part is right."

    assignment: str  # its name
    part: str  # its name, such as "1a"
    title: str  # of the part
    more: str = ""  # what there is to be said besides

    def __repr__(self):
        end = "" if self.title.endswith("?") else "."
        return f"✓ {self.part}: {self.title}{end} The tests pass{self.more}."


class Checker:
    "Checks the parts of an assignment. Called with the name of a part."

    def __init__(self, assignment, names=None, advise=True):
        """…

        Parameters
        ----------
        assignment
            `Assignment`.
        names
            Mapping of names to values; None: the names of the notebook that calls.
        advise
            Whether hints are given.
        """
        self.assignment = assignment
        self.names = names
        self.advise = advise
        self.failures = {}  # part -> how often it was wrong

    def __call__(self, name):
        """Run the tests that everybody sees. Raises `Wrong` with what is wrong and the next hint; `InputError`.

        Parameters
        ----------
        name
            Of a part, such as "1a".

        Returns
        -------
        result
            `Feedback`.
        """
        part = self._part(name)
        more = "; hidden ones are run when it is graded" if part.hidden and self.advise else ""
        return self._run(part, part.test, sys._getframe(1).f_globals, more)

    def hidden(self, name):
        """Run hidden tests.

        Parameters
        ----------
        name
            Of a part.

        Returns
        -------
        result
            Decorator for a function of `Answers`, which runs at once.
        """
        part, names = self._part(name), sys._getframe(1).f_globals

        def run(test):
            return self._run(part, test, names)

        return run

    def hint(self, name, step=1):
        """A hint, whether or not anything was tried.

        Parameters
        ----------
        name
            Of a part.
        step
            1, 2 or 3.

        Returns
        -------
        result
            Text.
        """
        return self._part(name).hints[check_integer(step, "step", 1, 3) - 1]

    def _part(self, name):
        parts = self.assignment.parts
        require(isinstance(name, str) and name in parts, "name", f"a part: {', '.join(parts)}", name)
        return parts[name]

    def _run(self, part, test, names, more=""):
        answers = Answers(names if self.names is None else self.names)
        try:
            test(answers)
        except Wrong as wrong:
            raise Wrong(f"✗ {part.name}: {wrong}{self._advice(part)}") from None
        self.failures.pop(part.name, None)
        if self.advise and answers.slowest[0] > SECONDS:
            seconds, call = answers.slowest
            more += (
                f". But {call} took {seconds:.0f} seconds, and no call may take more than {SECONDS} when it is graded"
            )
        return Feedback(self.assignment.name, part.name, part.title, more)

    def _advice(self, part):
        "The next hint, in a line of its own."
        if not self.advise:
            return ""
        step = min(self.failures.get(part.name, 0), 2)
        self.failures[part.name] = step + 1
        return f"\n  Hint {step + 1} of 3: {part.hints[step]}"


def open_assignment(name):
    """The checker of an assignment, for a student's notebook. Raises `InputError`.

    Parameters
    ----------
    name
        Such as "counting": the module `comparison_hc.classroom.assignment_counting`, or a teacher's own module.

    Returns
    -------
    result
        `Checker`.
    """
    return Checker(find_assignment(name))


def find_assignment(name):
    """An assignment by its name. Raises `InputError`.

    Parameters
    ----------
    name
        Of an assignment, or of a module of one's own that holds an `assignment`.

    Returns
    -------
    result
        `Assignment`.
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
    require(False, "name", f"one of {', '.join(list_assignments())}, or a module that holds an `assignment`", name)


def list_assignments():
    "The assignments that come with the package, in order."
    from pkgutil import iter_modules

    import comparison_hc.classroom as room

    found = [info.name for info in iter_modules(room.__path__) if info.name.startswith("assignment_")]
    return [name.removeprefix("assignment_").replace("_", "-") for name in found]
