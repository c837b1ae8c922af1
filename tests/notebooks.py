"""One notebook from top to bottom, in a process of its own that does not have to import the heavy libraries again."""

import multiprocessing
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRELOADED = [
    "altair",
    "sklearn.cluster",
    "numba",
    "execnb.shell",
    "IPython.core.interactiveshell",
    "nbdev.test",
    "pandas",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "scipy.stats",
]


def execute(
    notebook,  # path from the root
    output,  # file for what is printed, and for the traceback
    **environment,
):  # whether every cell ran; cells that need data count where the data is
    "Run as `nbdev_test` does. The process is forked from a server that has imported `PRELOADED`."
    context = multiprocessing.get_context(
        "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    )
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_execute, args=(notebook, str(output), environment))
    process.start()
    process.join()
    return process.exitcode == 0


def _execute(notebook, output, environment):
    "In the new process."
    os.environ.update(environment)
    os.chdir(ROOT)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    from nbdev.config import get_config
    from nbdev.test import test_nb

    done, _ = test_nb(
        ROOT / notebook,
        get_config().tst_flags.split(),
        ["data"] if os.environ.get("COMPARISON_HC_DATA") else [],
        basepath=ROOT,
    )
    sys.exit(0 if done else 1)
