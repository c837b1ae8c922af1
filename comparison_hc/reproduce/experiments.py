"""A function and a grid go in, a tidy table comes out, and neither a kill nor the number of workers changes it."""

import hashlib
import itertools
import warnings
from contextlib import closing

import numpy as np

from comparison_hc.reproduce.engine import (
    RESERVED,
    ExperimentError,
    RunJournal,
    about_experiment,
    canonical,
    check_grid,
    finished_runs,
    plain_value,
    table_of_runs,
    workers_for,
)

from ..core.parallel import ProgressBar
from ..core.validation import require


def parameter_grid(**values):
    "Every combination of the values. Raises `InputError`."
    choices = {}
    for name, given in values.items():
        is_several = isinstance(given, (list, tuple, range)) or (isinstance(given, np.ndarray) and given.ndim)
        several = list(given) if is_several else [given]
        require(several, name, "at least one value", several)
        choices[name] = [plain_value(value, name) for value in several]
    return [dict(zip(choices, choice)) for choice in itertools.product(*choices.values())]


def run_seed(parameters, seed=0, paired=()):
    "The seed of a run, a function of its own parameters and nothing else."
    own = {name: value for name, value in parameters.items() if name not in paired}
    return int.from_bytes(hashlib.sha256(canonical({"parameters": own, "seed": seed}).encode()).digest()[:6], "big")


def run_experiment(function, grid, journal=None, n_jobs=1, seed=0, progress=None, backend=None, paired=(), version=1):
    "Run the whole grid. Raises `InputError` before any run, `ExperimentError` after all are done if some raised."
    runs = check_grid(function, grid)
    names = {name for run in runs.values() for name in run}
    about = about_experiment(function, names, seed, paired, version)
    seeds = {key: run_seed(run, about["seed"], paired) for key, run in runs.items()}
    workers = workers_for(function, n_jobs, backend)
    rule = "a function of (done, total), True or None"
    require(progress in (None, True) or callable(progress), "progress", rule, progress)
    bar = ProgressBar(function.__qualname__)
    report = bar if progress is True else progress or (lambda done, total: None)
    with bar, RunJournal(journal, about) as book:
        todo = {key: run for key, run in runs.items() if not book.is_done(key)}
        n_done = len(runs) - len(todo)
        report(n_done, len(runs))
        finished = finished_runs(workers, function, todo, seeds, {*names, *RESERVED})
        with closing(finished), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped while some jobs")  # joblib renews one that has grown
            for record in finished:
                book.add(record)
                n_done += 1
                report(n_done, len(runs))
    table = table_of_runs(runs, book.by_key, seeds)
    failures = [book.by_key[key] for key in runs if not book.is_done(key)]
    if failures:
        raise ExperimentError(failures, table, len(runs))
    return table
