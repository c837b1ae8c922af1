"""A function and a grid go in, a tidy table comes out, and neither a kill nor the number of workers changes it."""

import hashlib
import itertools
import json
import os
import re
import warnings
from contextlib import closing, contextmanager
from time import perf_counter

import numpy as np

from ..core.io import JournalError
from ..core.log import Log
from ..core.parallel import ProgressBar, check_workers, end_workers, in_worker, limited_threads
from ..core.validation import MOST_SEED, check_integer, require

# ---- runs


def plain_scalar(value, argument):
    "A single value; NumPy's numbers become Python's. Raises `InputError`."
    if isinstance(value, np.generic):
        value = value.item()
    is_plain = type(value) in (type(None), bool, int, float, str)
    require(is_plain, argument, "None, a bool, int, float or str, or a tuple of these", value)
    return value


def plain_value(value, argument):
    "A value that JSON can hold and give back. Raises `InputError`."
    if isinstance(value, (list, tuple)):
        return tuple(plain_scalar(part, argument) for part in value)
    return plain_scalar(value, argument)


def canonical(parameters):
    "Parameters as JSON in exactly one way. The key of a run in its journal."
    return json.dumps(parameters, sort_keys=True, separators=(",", ":"), allow_nan=False)


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


def _runs_of(grid):
    "{key: run}. Raises `InputError` for runs that are there twice: a repetition needs a parameter."
    runs = {}
    for number, given in enumerate(grid):
        run = {name: plain_value(value, f"grid, entry {number}, {name}") for name, value in given.items()}
        rule = "different from all before it (count repetitions with a parameter)"
        require(canonical(run) not in runs, f"grid, entry {number},", rule, given)
        runs[canonical(run)] = run
    return runs


def _rows(measured):
    "What a function handed back, as a list of dicts of plain values."
    rows = [measured] if isinstance(measured, dict) else measured
    return [{name: plain_value(value, f"the measured value {name}") for name, value in row.items()} for row in rows]


def one_run(function, run, seed):
    "What came of one run. Happens in a worker."
    import traceback

    try:
        with limited_threads():
            rng = np.random.default_rng(seed)
            start = perf_counter()
            measured = function(**run, rng=rng)
            seconds = perf_counter() - start
        return {"run": run, "rows": _rows(measured), "seconds": round(seconds, 6)}
    except Exception as error:
        return {"run": run, "error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


# ---- workers


_LIBRARIES = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM", "NUMBA_NUM", "NUMEXPR_NUM")
_WORKER = {f"{name}_THREADS": "1" for name in _LIBRARIES} | {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**33),
    "MALLOC_TOP_PAD_": str(2**28),
}


@contextmanager
def for_workers():
    "Settings for new workers, and one thread for libraries that are loaded here before the end of the block."
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in _WORKER}
    os.environ.update(_WORKER)
    try:
        with threadpool_limits(1):
            yield  # for backends whose workers are threads of this process
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _finished(workers, function, todo, seeds):
    "What came of the runs, in the order in which they finish. Closing this generator stops the workers."
    from joblib import delayed

    if not todo:
        return
    with for_workers():
        results = workers(delayed(in_worker(one_run))(function, run, seeds[key]) for key, run in todo.items())
        try:
            yield from results
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that results were left unused: somebody has said stop
                results.close()
            if workers.n_jobs != 1:
                end_workers()


# ---- the journal

_MOVED = {  # modules of the first edition, as its journals name them
    "experiments": "experiments",
    "reproduce_2019": "f19",
    "reproduce_2019_data": "f19_data",
    "reproduce_2020": "n20",
    "reproduce_2020_theory": "n20_theory",
    "reproduce_2020_link": "l20",
    "reproduce_beyond": "beyond",
}


def _where_it_is_now(name):
    "The full name of a function, if an older journal calls it by its old one."
    name = re.sub(r"^comparison_hc\.whatif\.runs\.", "comparison_hc.reproduce.simulation.", str(name))
    found = re.fullmatch(r"comparison_hc\.(\w+)\.(.*)", name)
    if found is None or found[1] not in _MOVED:
        return name
    return f"comparison_hc.reproduce.{_MOVED[found[1]]}.{found[2]}"


class RunJournal(Log):
    "What came of the runs so far: records `by_key`, in a file unless `path` is None. A context."

    def __init__(self, path, about):
        "Opens, locks and reads the file. Raises `InputError`, `JournalError`."
        wrote = "one that run_experiment wrote"
        super().__init__(
            path, "experiment", about, wrote, accepts=lambda record, _: isinstance(record.get("run"), dict)
        )
        try:
            self._check(self.about, about)
        except BaseException:
            self.close()
            raise
        self.by_key = {canonical(record["run"]): record for record in self.records}
        if self.report:
            warnings.warn(f"{path}: {self.report}; what is missing is run again", stacklevel=3)

    def _check(self, found, about):
        "Say why this file is not the journal of this experiment, if it is not."
        found = {**found, "function": _where_it_is_now(found.get("function"))}
        wrong = []
        for name, value in about.items():
            if found.get(name) != value:
                wrong.append(f"{name} {found.get(name)!r} instead of {value!r}")
        if wrong or found.keys() != about.keys():
            raise JournalError(
                f"journal must be one of this experiment; got {self.path}, "
                f"written for {', '.join(wrong) or 'another format'}; nothing was changed"
            )

    def is_done(self, key):
        "Whether a run is there, and did not fail."
        return "rows" in self.by_key.get(key, {})

    def add(self, record):
        "Write a record down, then count it. What is counted is what the line says, as a resumed run sees it."
        super().add(record)
        self.by_key[canonical(record["run"])] = self.records[-1]


# ---- the experiment


class ExperimentError(RuntimeError):
    "Some runs failed; all others are done. `failures`: list of {run, error, trace}; `table`: the runs that did not."

    def __init__(self, failures, table, total):
        lines = [
            f"{len(failures)} of {total} runs failed; the others are done, "
            "and with a journal the next start tries only these again:"
        ]
        lines += [f"  {canonical(failure['run'])}: {failure['error']}" for failure in failures[:20]]
        if len(failures) > 20:
            lines.append(f"  … and {len(failures) - 20} more")
        super().__init__("\n".join(lines))
        self.failures = failures
        self.table = table
        self.total = total

    def __reduce__(self):
        return ExperimentError, (self.failures, self.table, self.total)


def _table(runs, records, seeds):
    "The rows of all finished runs, in the order of the grid: parameters, run_seed, what was measured, seconds."
    from pandas import DataFrame

    names = dict.fromkeys(name for run in runs.values() for name in run)
    done = [(runs[key], seeds[key], records[key]) for key in runs if "rows" in records.get(key, {})]
    measured = dict.fromkeys(name for _, _, record in done for row in record["rows"] for name in row)
    for name in measured:
        require(name not in names, "grid", "free of names that its journal holds as measured values", name)
    rows = []
    for run, seed, record in done:
        for row in record["rows"]:
            row = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
            rows.append({**run, "run_seed": seed, **row, "seconds": record["seconds"]})
    return DataFrame(rows, columns=[*names, "run_seed", *measured, "seconds"])


def run_experiment(function, grid, journal=None, n_jobs=1, seed=0, progress=None, backend=None, paired=(), version=1):
    """Run the whole grid by joblib's workers; finished runs are kept in a journal, from which the next start goes on.

    `paired` names parameters that shall not change a run's seed; `progress` is called with (done, total), or True.
    Raises `InputError` before any run, `ExperimentError` after all are done if some raised.
    """
    from joblib import Parallel

    runs, n_jobs = _runs_of(grid), check_workers(n_jobs)
    name, seed = f"{function.__module__}.{function.__qualname__}", check_integer(seed, "seed", 0, MOST_SEED)
    about = dict(function=name, version=version, seed=seed, paired=sorted(paired))
    seeds = {key: run_seed(run, seed, paired) for key, run in runs.items()}
    workers = Parallel(n_jobs=n_jobs, backend=backend, batch_size=1, return_as="generator_unordered")
    bar = ProgressBar(function.__qualname__)
    report = bar if progress is True else progress or (lambda done, total: None)
    with bar, RunJournal(journal, about) as book:
        todo = {key: run for key, run in runs.items() if not book.is_done(key)}
        n_done = len(runs) - len(todo)
        report(n_done, len(runs))
        with closing(_finished(workers, function, todo, seeds)) as finished, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped while some jobs")  # joblib renews one that has grown
            for record in finished:
                book.add(record)
                n_done += 1
                report(n_done, len(runs))
    table = _table(runs, book.by_key, seeds)
    failures = [book.by_key[key] for key in runs if not book.is_done(key)]
    if failures:
        raise ExperimentError(failures, table, len(runs))
    return table
