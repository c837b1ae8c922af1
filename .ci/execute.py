"""Run notebooks in place and keep their outputs: `python .ci/execute.py NOTEBOOK ...`, from any folder.

Cells that the tests skip (slow ones, and those that need data that is not here) keep the outputs that they have.
"""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SKIPPED = {"slow", "notest"} | (set() if os.environ.get("COMPARISON_HC_DATA") else {"data"})


def execute(path):
    "One notebook from top to bottom, in its own folder."
    notebook, where = nbformat.read(path, 4), {"metadata": {"path": path.parent}}
    options = dict(timeout=1800, kernel_name="python3", record_timing=False, coalesce_streams=True)
    client = NotebookClient(notebook, resources=where, **options)
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            directives = {line[2:].strip() for line in cell.source.splitlines() if line.startswith("#|")}
            if cell.cell_type == "code" and not directives & SKIPPED:
                client.execute_cell(cell, index)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)


for name in sys.argv[1:]:
    try:
        execute(Path(name).resolve())
    except CellExecutionError as error:
        sys.exit(f"{error}\n{name} is as it was: a cell of it fails")
