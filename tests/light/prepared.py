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


LIBRARY = "from comparison_hc.dashboards.page import vega_library; vega_library()"
if subprocess.run([sys.executable, "-c", LIBRARY], stdin=subprocess.DEVNULL).returncode == 0:
    exec(LIBRARY)  # from the user's cache
