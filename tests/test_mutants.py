"""Mutation tests of the theorem checks: every check must fail when one of its mutants is in the code.

`mutants.tsv` has one mutant per line: paper, check, target (module:function), the text that occurs once in the target's
source, what replaces it, and what is wrong then. `mutants_of_tests.tsv` has those of other tests: the file, the test,
and the same three.
"""

import inspect
import os
import textwrap
from collections import Counter
from functools import reduce
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from notebooks import forked

from comparison_hc.checks import find_checks


def rows_of(name):
    "The fields of every line of a table beside this file."
    rows = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [tuple(field.replace("\\n", "\n") for field in row.split("\t")) for row in rows]


MUTANTS = rows_of("mutants.tsv")
LONGEST = 300  # seconds for one mutant


def plain(thing):
    "The Python function inside decorators, properties, checks and numba's dispatchers."
    for name in ("function", "py_func", "fget", "__func__", "__wrapped__"):
        if getattr(thing, name, None) is not None:
            return plain(getattr(thing, name))
    return thing


def target_of(target):
    "What module:name means, as it is in its class or module."
    module, _, path = target.partition(":")
    return reduce(inspect.getattr_static, path.split("."), import_module(f"comparison_hc.{module}"))


def assert_noticed(test, target, old, new, errors=AssertionError):
    "With `new` for `old` in the code of the target, the test fails; afterwards the code is as it was."
    function = plain(target_of(target))
    kept = function.__code__
    mutate(target, old, new)
    try:
        with pytest.raises(errors):
            test()
    finally:
        function.__code__ = kept


def mutate(target, old, new):
    "Replace `old` by `new` in the code of the target, for this process."
    thing = target_of(target)
    function = plain(thing)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1 and old != new, f"{target} must contain {old!r} once, not {source.count(old)} times"
    lines = source.replace(old, new).split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(("def ", "class ", "lambda ")))
    code, free, names = "\n".join(lines[begin:]), function.__code__.co_freevars, {}
    if free:
        code = f"def outer({', '.join(free)}):\n{textwrap.indent(code, '    ')}\n    return {function.__name__}"
    exec(f"from __future__ import annotations\n{code}", function.__globals__, names)
    wrong = names["outer"](*free) if free else names[function.__name__]
    function.__code__, function.__defaults__ = wrong.__code__, wrong.__defaults__
    function.__kwdefaults__ = wrong.__kwdefaults__
    if hasattr(thing, "py_func"):
        forget_compiled()


def forget_compiled():
    "Have numba compile all functions of the package again, and keep nothing of it on the disk."
    import sys

    from numba.core.caching import NullCache
    from numba.core.registry import CPUDispatcher

    modules = [module for name, module in list(sys.modules.items()) if name.startswith("comparison_hc")]
    for thing in [thing for module in modules for thing in vars(module).values() if isinstance(thing, CPUDispatcher)]:
        thing._cache = NullCache()
        thing._reset_overloads()


def verdict(answer, paper, name, target, old, new):
    "In a process of its own, without data sets."
    os.environ.pop("COMPARISON_HC_DATA", None)
    try:
        mutate(target, old, new)
        (check,) = (check for check in find_checks() if (check.paper, check.name) == (paper, name))
        result = check(quick=True)
        found = f"stopped: {result.error}" if result.error else "survived" if result.holds else "killed"
    except Exception as error:
        found = repr(error)
    Path(answer).write_text(found, encoding="utf-8")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant[1]}-{mutant[2].rpartition(':')[2]}")
def test_mutant_is_killed(mutant, tmp_path):
    *arguments, says = mutant
    process = forked().Process(target=verdict, args=(tmp_path / "answer", *arguments))
    process.start()
    process.join(LONGEST)
    process.kill()
    found = (tmp_path / "answer").read_text(encoding="utf-8") if (tmp_path / "answer").exists() else "no answer"
    assert found == "killed", f"{says} ({mutant[2]}): {found}"


def test_every_check_has_two_mutants_and_one_outside_itself():
    checks = {(check.paper, check.name) for check in find_checks()}
    count = Counter(mutant[:2] for mutant in MUTANTS)
    outside = {mutant[:2] for mutant in MUTANTS if mutant[2].rpartition(":")[2] != mutant[1]}
    assert set(count) == checks == outside and min(count.values()) >= 2


@pytest.mark.parametrize("file, test, target, old, new", rows_of("mutants_of_tests.tsv"))
def test_wrong_code_is_noticed_by_a_test(file, test, target, old, new, monkeypatch):
    function = getattr(import_module(file), test)
    given = {"monkeypatch": monkeypatch} if "monkeypatch" in inspect.signature(function).parameters else {}
    marks = [mark.args for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]

    def run():  # for every value of one parameter, if there is one
        for name, values in marks or [("", [None])]:
            for value in values:
                function(**given, **({name: value} if name else {}))

    assert_noticed(run, target, old, new, (AssertionError, np.linalg.LinAlgError))
