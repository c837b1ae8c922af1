"""Run notebooks in place and keep their outputs: `python .ci/execute.py NOTEBOOK ...`, from any folder.

Cells that the tests skip (slow ones, and those that need data that is not here) keep the outputs that they have. What a
run takes is stated below the title.
"""

import argparse
import os
import sys
from time import perf_counter

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from reading import existing, roughly, state

SKIPPED = {"slow", "notest"}


def execute(path):
    "One notebook from top to bottom, in its own folder."
    notebook = nbformat.read(path, 4)
    client = NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # what is printed does not depend on when it arrives
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", metavar="NOTEBOOK", type=existing(".ipynb"))
    for path in parser.parse_args().notebooks:
        try:
            execute(path)
        except CellExecutionError as error:
            sys.exit(f"{error}\n{path} is as it was: a cell of it fails")
