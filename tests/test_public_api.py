"""The public names: few, with types, numpydoc and examples that run.

Public is what `comparison_hc` and its subpackages offer in `__init__`, and the `__all__` of the modules at the root.
"""

import doctest
import inspect
import re
import warnings
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

import comparison_hc
from comparison_hc import checks

MOST_NAMES = 260
NOT_OFFERED = ("cli", "_modidx", "__main__")
SECTION = re.compile(r"^([A-Z][a-z]+(?: [A-Z][a-z]+)?)\n-{3,}\n", re.MULTILINE)


@cache
def public_names():
    "{area: {name: object}}: what each subpackage's `__init__` and each root module offers; every object once."
    modules = sorted(iter_modules(comparison_hc.__path__), key=lambda module: module.ispkg)
    areas = [module.name for module in modules if module.name not in NOT_OFFERED]
    homes = {area: import_module(f"comparison_hc.{area}") for area in areas} | {"comparison_hc": comparison_hc}
    found, seen = {}, set()
    for area, home in homes.items():
        offered = {name: getattr(home, name) for name in getattr(home, "__all__", ())}
        new = {name: each for name, each in offered.items() if id(each) not in seen}
        seen |= set(map(id, new.values()))
        if new:
            found[area] = new
    return found


def sections(docstring):
    '{section: text} of a numpydoc docstring; what comes before the first is under "".'
    title, *parts = SECTION.split(inspect.cleandoc(docstring or ""))
    return {"": title, **dict(zip(parts[::2], parts[1::2]))}


def documented(text):
    "Names with a type: `name : type` and `one, two : type`."
    lines = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : ", text, re.MULTILINE)
    return {name.strip("* ") for line in lines for name in line.split(",")}


def signature_faults(function, parts):
    "What a function's signature lacks, and what its docstring does not say about it."
    signature = inspect.signature(function)
    parameters = [
        p for p in signature.parameters.values() if p.name not in ("self", "cls") and not p.name.startswith("_")
    ]
    told = documented(parts.get("Parameters", "") + parts.get("Other Parameters", "") + parts.get("Attributes", ""))
    for p in parameters:
        if p.annotation is p.empty:
            yield f"parameter {p.name} has no type"
        if p.name not in told:
            yield f"parameter {p.name} is not in the docstring as `{p.name} : type`"


def function_faults(function, parts):
    "What a function or method lacks."
    yield from signature_faults(function, parts)
    returned = inspect.signature(function).return_annotation
    if returned is inspect.Signature.empty:
        yield "the result has no type"
    elif returned not in (None, "None") and not {"Returns", "Yields"} & parts.keys():
        yield "the docstring has no section Returns"


def methods(cls):
    "(name, function) of the public methods and properties that a class of ours defines or inherits from one."
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("comparison_hc"):
            for name, member in vars(base).items():
                plain = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                if not name.startswith("_") and inspect.isfunction(inspect.unwrap(plain)):
                    yield name, plain, isinstance(member, property)


def faults(name, each):
    "What one public object lacks, one sentence each."
    if not callable(each):
        return
    parts = sections(each.__doc__)
    if not re.match(r"\S[^\n]*(\n\S[^\n]*)*[.?:]", parts[""]):
        yield f"{name}: its docstring has no first sentence"
    is_error = inspect.isclass(each) and issubclass(each, BaseException)
    if not is_error and ">>>" not in parts.get("Examples", ""):
        yield f"{name}: no example"
    if not inspect.isclass(each):
        yield from (f"{name}: {fault}" for fault in function_faults(each, parts))
        return
    if not is_error:
        yield from (f"{name}: {fault}" for fault in signature_faults(each, parts))
        for method, function, is_property in methods(each):
            inside = sections(function.__doc__)
            if not inside[""].strip():
                yield f"{name}.{method}: no docstring"
            if is_property:
                if inspect.signature(function).return_annotation is inspect.Signature.empty:
                    yield f"{name}.{method}: the property has no type"
            else:
                yield from (f"{name}.{method}: {fault}" for fault in function_faults(function, inside))


@pytest.mark.parametrize("area", list(public_names()))
def test_public_names_have_types_and_numpydoc(area):
    found = [fault for name, each in public_names()[area].items() for fault in faults(name, each)]
    assert not found, "\n".join(["", *found])


def doctests():
    "Every doctest of a public name, by its name."
    finder = doctest.DocTestFinder(exclude_empty=True)
    for area, names in public_names().items():
        for name, each in names.items():
            if callable(each):
                found = finder.find(inspect.unwrap(each), f"{area}.{name}", globs={"np": np})
                yield from (test for test in found if test.examples)


@pytest.mark.parametrize("test", list(doctests()), ids=lambda test: test.name)
def test_examples_run(test, monkeypatch):
    checks.find_checks()  # registers all
    monkeypatch.setattr(checks, "_registry", dict(checks._registry))  # a check of an example is in no other test
    out = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = runner.run(test, out=out.append)
    assert not result.failed, "".join(out)


def test_the_public_names_are_few():
    counts = {area: len(names) for area, names in public_names().items()}
    assert 40 < sum(counts.values()) <= MOST_NAMES, counts


def test_faults_are_found():
    "A function without types, sections and example has all faults; the same function with them has none."

    def bare(x, *, y=1):
        "Adds"

    def good(x: int, *, y: int = 1) -> int:
        """Return the sum of two numbers.

        Parameters
        ----------
        x, y : int
            What is added.

        Returns
        -------
        int
            The sum.

        Examples
        --------
        >>> 1 + 1
        2
        """

    assert len(list(faults("bare", bare))) == 7 and not list(faults("good", good))
