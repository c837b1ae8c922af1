"""A theorem's check runs once in a suite.

The page of a theorem and its test run the same function with the same seed, so the first one that needs the two sides
of a check computes them, and the others judge what it found. Nothing is shared while something is replaced by
`unittest.mock`, as a solution does that breaks an algorithm to see its check turn red: that is another check.
"""

import os
import pickle
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from comparison_hc.checks import THEORY_MODULES, RegisteredCheck

PLAIN = (bool, int, float, str, type(None))


@contextmanager
def replacements_counted():
    "A list that holds one item for every replacement by `unittest.mock` that is there now."
    there, kinds = [], (mock._patch, mock._patch_dict)
    kept = [(kind, kind.__enter__, kind.__exit__) for kind in kinds]
    for kind, enter, leave in kept:
        kind.__enter__ = lambda self, enter=enter: there.append(self) or enter(self)
        kind.__exit__ = lambda self, *error, leave=leave: there.remove(self) or leave(self, *error)
    try:
        yield there
    finally:
        for kind, enter, leave in kept:
            kind.__enter__, kind.__exit__ = enter, leave


@contextmanager
def checks_run_once(folder, exported=None):
    "Until the context ends, in this process. A check with arguments of its own that are not plain runs each time."
    compute = RegisteredCheck._sides

    def sides(check, **options):
        home = exported if check.function.__module__ == "__main__" else check.function.__module__
        is_plain = all(isinstance(value, PLAIN) for value in options.values())
        if there or home not in THEORY_MODULES or not is_plain:
            return compute(check, **options)
        tasks = sys.modules.get("comparison_hc.theory.l20_execution")  # pictures can be brought to it, or not
        about = repr((home, check, sorted(options.items()), tasks and list(tasks.DISTRIBUTIONS)))
        path = Path(folder) / f"{check.name}.sides"
        found = pickle.loads(path.read_bytes()) if path.exists() else {}
        if about not in found:
            found[about] = compute(check, **options)
            own = path.with_name(f"{path.name}.{os.getpid()}")
            own.write_bytes(pickle.dumps(found))
            own.replace(path)
        return found[about]

    RegisteredCheck._sides = sides
    try:
        with replacements_counted() as there:
            yield
    finally:
        RegisteredCheck._sides = compute
