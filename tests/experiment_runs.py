"""Runs of experiments that are tested.

A worker process imports the file in which a run stands: this one, and not all that the tests need.
"""

import os
from pathlib import Path

import numpy as np


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
