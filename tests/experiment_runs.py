"""Runs of experiments that are tested.

A worker process imports the file in which a run stands: this one, and not all that the tests need.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from comparison_hc.reproduce.experiments import run_seed


def draws(x, rng, y=None):
    return {"first": rng.normal(), "count": int(rng.integers(100)), "word": "abc"[rng.integers(3)]}


def several(x, rng):
    return [{"method": m, "value": rng.normal()} for m in ("a", "b", "c")[:x]]


def algebra(n, repetition, rng):
    "Bits that depend on how many threads add up."
    a = rng.normal(size=(n, n))
    return {"trace": float(np.trace(a @ a.T @ a)), "norm": float(np.linalg.svd(a, compute_uv=False).sum())}


def threads(x, rng):
    import scipy.linalg  # noqa: F401  (loads its own library, whose threads are counted)
    from threadpoolctl import threadpool_info

    return {"most": max(library["num_threads"] for library in threadpool_info()), "process": os.getpid()}


def fragile(x, broken, rng):
    if Path(broken).exists() and x % 2:
        raise ValueError(f"x = {x} is odd")
    return {"value": x + rng.random()}


def example_run(ratio, p, n_pure, repetition, rng):
    "4–AL on a planted hierarchy with three levels (a small piece of F19, figure 2)."
    from comparison_hc.hierarchical.average import quadruplet_average_linkage
    from comparison_hc.hierarchical.planted import planted_hierarchy
    from comparison_hc.metrics import average_ari
    from comparison_hc.oracles import sample_quadruplets

    planted = planted_hierarchy(n_pure, 3, mu=0.8, delta=0.1 * ratio, sigma=0.1, rng=rng)
    answers = sample_quadruplets(planted.similarity, p, rng)
    return {"answers": len(answers), "aari": average_ari(planted.levels, quadruplet_average_linkage(answers))}


def run_by_definition(function, grid, seed=0):
    "The definition of `run_experiment`: one run after the other, each with its own generator."
    rows = []
    for run in grid:
        own = run_seed(run, seed)
        rows.append({**run, "run_seed": own, **function(**run, rng=np.random.default_rng(own))})
    return pd.DataFrame(rows)
