"""Lists and ranges in words become values, one gate each; a model says what it has, and a sweep becomes a grid."""

from dataclasses import dataclass

import numpy as np

from ..core.validation import require

MOST_VALUES = 1000  # of one parameter


def one_value(text):
    "A number where it is one, else the word."
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def range_values(text, called):
    "A range with both ends, as far as the step meets the second. Raises `InputError`."
    rule = f"a range from:to:step, or from:to:xfactor, of at most {MOST_VALUES:,} values"
    parts = text.split(":")
    multiplied = len(parts) == 3 and parts[2].strip().startswith("x")
    numbers = [one_value(part.strip().removeprefix("x") if place == 2 else part) for place, part in enumerate(parts)]
    are_numbers = len(numbers) == 3 and all(isinstance(x, (int, float)) and np.isfinite(x) for x in numbers)
    require(are_numbers, called, rule, text)
    begin, end, step = numbers
    legal = begin <= end and (step > 1 and begin > 0 if multiplied else step > 0)
    require(legal, called, f"{rule}, upwards", text)
    steps = np.log(end / begin) / np.log(step) if multiplied else (end - begin) / step
    require(steps < MOST_VALUES, called, rule, text)
    count = int(steps + 1e-9) + 1
    found = [begin * step**k if multiplied else begin + k * step for k in range(count)]
    return found if all(isinstance(x, int) for x in numbers) else [float(f"{x:.12g}") for x in found]


@dataclass(frozen=True)
class Parameter:
    "Something that a sweep may vary."

    name: str  # in Python; on the command line with - in place of _
    label: str  # at an axis
    help: str  # in a sentence
    check: object  # function of (value, name) that returns the value or raises `InputError`
    # values where nothing is said: one, a tuple, None for left out, or a function of {name: values} of those before it
    quick: object = None
    exact: object = None  # the paper's; None: the same
    effect: int = 0  # 1: more of it makes the task easier; −1: harder; 0: neither is known
    budget: bool = False  # whether it says how much is asked


def values_of(parameter, given, called=None):
    "All values that a parameter shall have. Raises `InputError`."
    called = called or parameter.name
    if isinstance(given, str):
        parts = [part for part in given.split(",") if part.strip()]
        given = [x for part in parts for x in (range_values(part, called) if ":" in part else [one_value(part)])]
    elif isinstance(given, np.ndarray):
        given = given.tolist() if given.ndim else [given.item()]
    elif not isinstance(given, (list, tuple, range)):
        given = [given]
    require(0 < len(given) <= MOST_VALUES, called, f"at least one value, and at most {MOST_VALUES:,}", given)
    values = tuple(parameter.check(value, called) for value in given)
    require(len(set(values)) == len(values), called, "made of different values", given)
    return values


@dataclass(frozen=True)
class Model:
    "One of the papers' models, as a function of parameters."

    name: str  # on the command line
    title: str  # in words
    home: str  # module that has the function, so that listing models loads nothing
    function: str  # its name: function of all parameters, repetition and rng that returns a dict of measured values
    parameters: tuple  # of `Parameter`
    free: tuple  # names of parameters that shall not change what is drawn
    measure: str  # the measured value that counts
    measure_label: str  # at its axis
    target: object = None  # what is enough; None: nothing is
    most: bool = True  # whether more of the measure is better
    count: object = None  # the measured value that says how many answers there were
    axes: tuple = ()  # names of parameters, the first that varies is the x-axis
    # function of one setting {name: value} that raises `InputError` where its values do not fit each other
    check_together: object = lambda run: None
    repeat: int = 20  # repetitions that are wanted
    exact_repeat: int = 10  # the paper's

    def run(self):
        "What makes one run."
        from importlib import import_module

        return getattr(import_module(self.home), self.function)

    def parameter(self, name):
        "The `Parameter` of this name. Raises `InputError` that lists them."
        known = {each.name: each for each in self.parameters}
        require(name in known, f"a parameter of {self.name}", f"one of {', '.join(known)}", name)
        return known[name]


MOST_SETTINGS = 20_000


def plain_name(name):
    "A parameter's name in messages to Python."
    return name


def chosen_values(model, given, exact=False, called=plain_name):
    "Values of every parameter, in the model's order. Raises `InputError`."
    for name in given:
        model.parameter(name)
    named, budgets = {}, [each.name for each in model.parameters if each.budget and given.get(each.name) is not None]
    rule = f"given by only one of {', '.join(called(name) for name in budgets)}"
    require(len(budgets) < 2, "how much is asked", rule, {called(name): given[name] for name in budgets})
    for each in model.parameters:
        if given.get(each.name) is not None:
            named[each.name] = values_of(each, given[each.name], called(each.name))
            continue
        default = each.exact if exact and each.exact is not None else each.quick
        if each.budget and budgets:
            default = None
        default = default(named) if callable(default) else default
        named[each.name] = default if isinstance(default, tuple) else (default,)
    return named, [name for name in given if given[name] is not None]


def sweep_settings(model, values):
    "Every combination. Raises `InputError` for the first that makes no sense, and for too many."
    from comparison_hc.reproduce.experiments import parameter_grid

    count = int(np.prod([len(each) for each in values.values()], dtype=float))
    require(count <= MOST_SETTINGS, "the sweep", f"of at most {MOST_SETTINGS:,} settings", count)
    settings = parameter_grid(**values)
    for run in settings:
        model.check_together(run)
    return settings
