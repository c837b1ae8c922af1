"""Run notebooks in place and keep their outputs: `python .ci/execute.py NOTEBOOK ...`.

Cells that the tests skip (slow ones, and those that need data that is not here) keep the outputs that they have. What a
run takes is stated below the title.
"""

import os
import sys
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient
from reading import roughly, state

SKIPPED = {"slow", "notest"}


def execute(path, time=True):
    "One notebook from top to bottom, in its own folder."
    notebook = nbformat.read(path, 4)
    client = NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": path.parent}},
    )
    skipped = SKIPPED | (set() if os.environ.get("COMPARISON_HC_DATA") else {"data"})
    start = perf_counter()
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            directives = {line[2:].strip() for line in cell.source.splitlines() if line.startswith("#|")}
            if cell.cell_type == "code" and not directives & skipped:
                client.execute_cell(cell, index)
    state(notebook, roughly(perf_counter() - start))
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        execute(Path(name).resolve())
