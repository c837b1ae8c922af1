"""A theorem's check runs once in a suite.

It stands on a page of the reading path, in a workshop and in a module, and all three are the same function and the
same seed: that the module is what the workshop exports has a test of its own. So the first one that needs the two sides
of a check computes them, and the others judge what it found. Nothing is shared while a page has replaced something by
`unittest.mock`, as a solution does that breaks an algorithm to see its check turn red: that is another check.
"""

import builtins
import dis
import os
import pickle
import sys
import types
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from comparison_hc.checks import THEORY_MODULES
from comparison_hc.core.judging import RegisteredCheck

PLAIN = (bool, int, float, str, type(None))


def missing_names(function, seen=None):
    "What a function, or one of its own notebook that it calls, speaks of and does not find: without running it."
    seen = set() if seen is None else seen
    seen.add(function)
    codes, missing, known = [function.__code__], set(), function.__globals__
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        for name in {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}:
            value = known.get(name, getattr(builtins, name, missing))
            if value is missing:
                missing.add(name)
            elif isinstance(value, types.FunctionType) and value.__globals__ is known and value not in seen:
                missing |= missing_names(value, seen)
    return missing


@contextmanager
def replacements_counted():
    "A list that holds one item for every replacement by `unittest.mock` that is there now."
    there, kinds = [], (mock._patch, mock._patch_dict)
    kept = [(kind, kind.__enter__, kind.__exit__) for kind in kinds]
    for kind, enter, leave in kept:

        def entered(self, enter=enter):
            there.append(self)
            return enter(self)

        def left(self, *error, leave=leave):
            there.remove(self)
            return leave(self, *error)

        kind.__enter__, kind.__exit__ = entered, left
    try:
        yield there
    finally:
        for kind, enter, leave in kept:
            kind.__enter__, kind.__exit__ = enter, leave


@contextmanager
def checks_run_once(folder, exported=None):
    "Until the context ends, in this process. A check with arguments of its own that are not plain runs each time."
    compute, call = RegisteredCheck._sides, RegisteredCheck.__call__

    def home(check):
        return exported if check.function.__module__ == "__main__" else check.function.__module__

    def sides(check, **options):
        is_plain = all(isinstance(value, PLAIN) for value in options.values())
        if there or home(check) not in THEORY_MODULES or not is_plain:
            return compute(check, **options)
        tasks = sys.modules.get("comparison_hc.theory.l20_execution")  # pictures can be brought to it, or not
        about = repr((home(check), check, sorted(options.items()), tasks and list(tasks.DISTRIBUTIONS)))
        path = Path(folder) / f"{check.name}.sides"
        found = pickle.loads(path.read_bytes()) if path.exists() else {}
        if about not in found:
            found[about] = compute(check, **options)
            own = path.with_name(f"{path.name}.{os.getpid()}")
            own.write_bytes(pickle.dumps(found))
            own.replace(path)
        return found[about]

    def complete(check, *arguments, **options):
        if check.function.__module__ == "__main__":
            assert not missing_names(check.function), f"{check.name} speaks of {sorted(missing_names(check.function))}"
        return call(check, *arguments, **options)

    RegisteredCheck._sides, RegisteredCheck.__call__ = sides, complete
    try:
        with replacements_counted() as there:
            yield
    finally:
        RegisteredCheck._sides, RegisteredCheck.__call__ = compute, call
