"""Imported last by the server that a notebook's process is forked from: what a first chart and a first compiled
function need, so that no notebook's process has to prepare it again. Of the package it computes nothing; the library
of a dashboard's charts, which takes seconds, is bundled by another process: what bundles it would not outlive a fork.
"""

import subprocess
import sys

import altair
import numba
import numpy as np
import pandas as pd

from comparison_hc.dashboards.page import compiled

frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
frame._repr_html_()
altair.layer(*[altair.Chart(frame).mark_line().encode(x="a:Q", y="b:N")] * 2).to_dict()


@numba.njit(cache=False)
def root_of_sum(x):
    "Loops, calls and arithmetic, as most compiled functions have them."
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return np.sqrt(total)


root_of_sum(np.arange(3.0))


LIBRARY = "from comparison_hc.dashboards.page import vega_library; print(vega_library())"
made = subprocess.run([sys.executable, "-c", LIBRARY], stdin=subprocess.DEVNULL, capture_output=True, text=True)
if made.returncode == 0:
    compiled()["library"] = made.stdout
