"What each of the four papers lets a sweep vary: values in words, a check for each, quick defaults and the papers' own."

import json
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from math import log

import numpy as np

from ..comparisons import n_quadruplet_questions, n_triplet_questions
from ..core.validation import check_integer, integer_from, number_from, one_of, require
from ..methods import methods

MOST_VALUES = 1000  # of one parameter
MOST_SETTINGS = 20_000
MOST_LISTED = 50_000_000  # answers that are kept as a list: the 10% of F19, figure 2, are 41 million


# ---- values in words


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


# ---- models and their parameters, as `models.json` lists them


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


@dataclass(frozen=True)
class Model:
    "One of the papers' models, as a function of parameters."

    name: str  # on the command line
    title: str  # in words
    function: str  # in `reproduce.simulation`: of all parameters, repetition and rng; returns a dict of measured values
    parameters: tuple  # of `Parameter`
    free: tuple  # names of parameters that shall not change what is drawn
    measure: str  # the measured value that counts
    measure_label: str  # at its axis
    # function of one setting {name: value} that raises `InputError` where its values do not fit each other
    check_together: object
    target: object = None  # what is enough; None: nothing is
    most: bool = True  # whether more of the measure is better
    count: object = None  # the measured value that says how many answers there were
    axes: tuple = ()  # names of parameters, the first that varies is the x-axis
    repeat: int = 20  # repetitions that are wanted
    exact_repeat: int = 10  # the paper's

    def run(self):
        "What makes one run; listing models loads nothing."
        return getattr(import_module("comparison_hc.reproduce.simulation"), self.function)

    def parameter(self, name):
        "The `Parameter` of this name. Raises `InputError` that lists them."
        known = {each.name: each for each in self.parameters}
        require(name in known, f"a parameter of {self.name}", f"one of {', '.join(known)}", name)
        return known[name]


class _Count(int):
    "A number that a message shows with commas."

    def __repr__(self):
        return f"{int(self):,}"


def _check_planted(run):
    method, n = run["method"], run["n_pure"] << run["n_levels"]
    require(3 <= n <= 1024, "n_pure · 2^n_levels", "from 3 to 1,024 objects", n)
    exist = (n_triplet_questions if methods[method].takes == "triplets" else n_quadruplet_questions)(n)
    wanted = run["answers"] if run["p"] is None else run["p"] * exist
    if run["answers"] is not None:
        rule = f"at most {exist:,}, the questions that there are about {n} objects for {method}"
        require(wanted <= exist, "answers", rule, _Count(wanted))
    else:
        rule = f"so large that at least 30 of the {exist:,} questions about {n} objects are expected"
        require(wanted >= min(30, exist), "p", rule, run["p"])
    listed = methods[method].passive and not (run["p"] == 1 and run["accuracy"] == 1)
    rule = f"so small that at most {MOST_LISTED:,} answers are listed (only p = 1 with accuracy 1 needs no list)"
    require(not listed or wanted <= MOST_LISTED, "p · questions", rule, _Count(round(wanted)))


def _check_flat(run):
    n, kind = run["n"], run["method"][-1]
    check_integer(run["k"], "k", 1, n)
    exist = (n_triplet_questions if kind == "3" else n_quadruplet_questions)(n)
    m = run["answers"] if run["a"] is None else max(1, round(n * log(n) ** run["a"]))
    what = "answers" if run["a"] is None else "n(ln n)ᵃ"
    rule = f"at most {min(exist, MOST_LISTED):,}: there are {exist:,} questions about {n} objects for {run['method']}"
    require(m <= min(exist, MOST_LISTED), what, rule, _Count(m))
    clusters = run["n_clusters"]
    require(clusters == "spur" or clusters <= n, "n_clusters", f"at most n = {n}", clusters)


def _check_adaptive(run):
    method, accuracy = run["method"], run["accuracy"]
    rule = "1 for quick: it stops at the first answers that clash"
    require(method != "quick" or accuracy == 1, "accuracy", rule, accuracy)
    rule = f"from 0.501 to 0.999 for {method}, which asks until it is nearly sure"
    require(method not in ("bayesian", "robust") or 0.501 <= accuracy <= 0.999, "accuracy", rule, accuracy)


def _check_link(run):
    most = {"MNIST": 892, "CIFAR-10": 200, "Omniglot": 20}.get(run["dataset"], 500)
    check_integer(run["per_class"], f"per_class of {run['dataset']}", 2, most)


def _spur_or_number(value, name):
    "The check of the number of clusters that is looked for."
    rule = 'a number of clusters of at least 2, or "spur" for as many as SPUR finds'
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 2
    require(value == "spur" or is_number, name, rule, value)
    return value


def _clusters_to_find(said):
    "--k, if that is one number above 1, else spur"
    return said["k"][0] if len(said["k"]) == 1 and said["k"][0] > 1 else "spur"


def _fitting_algorithms(said):
    "insertion,quick with --accuracy 1, else bayesian"
    return ("insertion", "quick") if said["accuracy"] == (1.0,) else ("bayesian",)


CHECKS = {  # of one value, by the names that `models.json` has for them
    "integer": integer_from,
    "number": number_from,
    "one_of": one_of,
    "method": lambda: one_of(methods),
    "clusters": lambda: _spur_or_number,
}
TOGETHER = dict(planted=_check_planted, flat=_check_flat, adaptive=_check_adaptive, link=_check_link)
FOLLOWING = {("flat", "n_clusters"): _clusters_to_find, ("adaptive", "method"): _fitting_algorithms}


def _read_models():
    "{name: `Model`} of the file."
    text = files("comparison_hc.whatif").joinpath("models.json").read_text(encoding="utf-8")
    found = {}
    for name, each in json.loads(text).items():
        parameters = []
        for about in each["parameters"]:
            kind, limits = about.pop("check")
            about = {key: tuple(value) if isinstance(value, list) else value for key, value in about.items()}
            about.setdefault("quick", FOLLOWING.get((name, about["name"])))
            parameters.append(Parameter(**about, check=CHECKS[kind](**limits)))
        each |= dict(parameters=tuple(parameters), free=tuple(each["free"]), axes=tuple(each["axes"]))
        found[name] = Model(name, **each, check_together=TOGETHER[name])
    return found


MODELS = _read_models()


def check_model(name, called="model"):
    "The model with this name. Raises `InputError` that lists the names."
    require(isinstance(name, str) and name in MODELS, called, f"one of {', '.join(MODELS)}", name)
    return MODELS[name]


# ---- a sweep becomes a grid


def chosen_values(model, given, exact=False, called=str):
    "Values of every parameter, in the model's order, and the names of those that were given. Raises `InputError`."
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
