"""The page `step`: bounds, and stored runs of four algorithms, for the chart beside the tree."""

import csv
from functools import cache, lru_cache
from importlib.resources import files
from math import comb, log2

from ..theory.a18_noisy import question_bound
from ..theory.a18_quick import QUICK_CONSTANT
from ..theory.a18_trees import log3_hierarchies

SHAPE_NAMES = ("balanced", "split", "uniform", "caterpillar")
EXACT_N = [4 << k for k in range(9)]
NOISY_N = [4 << k for k in range(5)]
P_VALUES = [0.7, 0.8, 0.9, 0.95]
DELTA_VALUES = [0.01, 0.05, 0.2]


@cache
def stored_runs():
    "{(algorithm, p, δ, shape): questions of one run for n = 4, 8, …}, p and δ as texts."
    text = files("comparison_hc.dashboards").joinpath("static", "costs.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        key = row["algorithm"], row["p"], row["delta"], row["shape"]
        found.setdefault(key, []).append(int(row["questions"]))
    return found


def stored_questions(algorithm, shape, p=1.0, delta=None):
    "What was measured."
    exact = p == 1 or algorithm in ("insertion", "quick")
    return stored_runs().get((algorithm, *(("1", "") if exact else (f"{p:g}", f"{delta:g}")), shape), [])


@lru_cache
def _robust_bounds(p, delta):
    return [question_bound(n, p, delta, printed=False) for n in NOISY_N]


def chart_lines(shape, p, delta):
    "Everything that the chart shows: bounds and runs."
    n = EXACT_N
    bounds = {
        "all triplets, C(n, 3)": [comb(m, 3) for m in n],
        "all pairs, C(n, 2)": [comb(m, 2) for m in n],
        "theorem 4.3: n log₂ n, insertion at most": [m * log2(m) for m in n],
        "log₃ (2n−3)!!, anyone at least": log3_hierarchies(n).tolist(),
        "theorem 3.2: 469 n log₂ n, quick clustering on average": [QUICK_CONSTANT * m * log2(m) for m in n],
        "theorem 5.1: robust insertion at most": _robust_bounds(p, delta) if p < 1 else [],
    }
    measured = {
        "robust insertion": "robust",
        "Bayesian insertion": "bayesian",
        "quick clustering": "quick",
        "insertion": "insertion",
    }
    lines = [dict(name=name, bound=True, n=n[: len(q)], q=[round(v, 1) for v in q]) for name, q in bounds.items()]
    for name, algorithm in measured.items():
        exists = p < 1 or algorithm in ("quick", "insertion")
        q = stored_questions(algorithm, shape, p, delta) if exists else []
        lines.append(dict(name=name, bound=False, n=n[: len(q)], q=q))
    return lines
