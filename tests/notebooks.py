"""One notebook from top to bottom, in a process of its own that does not have to import the heavy libraries again.

What draws charts takes most of a second to start. So a notebook's process hands over what its charts are, and they are
drawn here, where it is started once for all notebooks.
"""

import gc
import json
import multiprocessing
import os
import pkgutil
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRELOADED = """altair sklearn.cluster numba execnb.shell IPython.core.interactiveshell nbdev.test pandas scipy.optimize
    scipy.sparse.csgraph scipy.stats cvxpy nbconvert pyarrow.pandas_compat sqlite3 IPython.core.oinspect""".split()

LONGEST = 400  # seconds for a notebook: one that waits for somebody must not hold up the whole suite


def package_modules():
    "Every module of the package, so that no notebook's process has to import it again."
    import comparison_hc

    names = [module.name for module in pkgutil.walk_packages(comparison_hc.__path__, "comparison_hc.")]
    return [name for name in names if not name.endswith("__main__")]


def forked():
    "Processes are forked from a server that has imported everything, and computed nothing of the package."
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED, *package_modules(), "prepared"])
    return context


def execute(notebook, output, **environment):
    """Run as `nbdev_test` does, and draw every chart that it shows.

    In a process of its own, as `forked` gives it.
    """
    charts = Path(f"{output}.charts")
    process = forked().Process(target=_execute, args=(notebook, str(output), str(charts), environment))
    process.start()
    process.join(LONGEST)
    if process.is_alive():
        process.kill()
        process.join()
        with open(output, "a", encoding="utf-8") as told:
            told.write(f"\nThe notebook did not end within {LONGEST} seconds and was stopped.")
        return False
    if process.exitcode:
        return False
    try:
        draw(charts)
    except Exception:
        with open(output, "a", encoding="utf-8") as told:
            told.write(f"A chart cannot be drawn:\n{traceback.format_exc()}")
        return False
    return True


def draw(charts):
    "Draw every chart once, as altair would have done in the notebook; raises what that raises."
    import altair

    lines = set(charts.read_text(encoding="utf-8").splitlines())  # a shell asks for a picture more than once
    for renderer, options, specification in map(json.loads, lines):
        with altair.renderers.enable(renderer, **options):
            assert altair.renderers.get()(specification), renderer
    return len(lines)


def _hand_over(charts):
    "In place of altair's renderers for pictures: write down what is to be drawn."
    import altair

    def as_lines(name):
        def renderer(specification, **options):
            with open(charts, "a", encoding="utf-8") as file:
                file.write(json.dumps([name, options, specification]) + "\n")
            return {"text/plain": "a chart"}

        return renderer

    Path(charts).write_text("", encoding="utf-8")
    for name in ("svg", "png"):
        altair.renderers.register(name, as_lines(name))


def _execute(notebook, output, charts, environment):
    "In the new process."
    gc.freeze()  # what was imported before is not searched for waste again and again
    gc.set_threshold(10_000, 20, 20)
    os.environ.update(environment)
    os.chdir(ROOT)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    _hand_over(charts)
    from IPython.core.history import HistoryManager
    from nbdev.config import get_config
    from nbdev.test import test_nb

    HistoryManager.enabled = False  # nobody will look for what was typed, on the disk
    done, _ = test_nb(
        ROOT / notebook,
        get_config().tst_flags.split(),
        ["data"] if os.environ.get("COMPARISON_HC_DATA") else [],
        basepath=ROOT,
    )
    sys.exit(0 if done else 1)
