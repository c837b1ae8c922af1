"""Checks before the first run, one run in a worker, the journal of runs, and the table at the end."""

import inspect
import itertools
import json
import os
import re
import warnings
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from ..core.io import JournalError
from ..core.log import Log
from ..core.parallel import check_workers, end_workers, in_worker, limited_threads
from ..core.validation import MOST_SEED, InputError, check_integer, require, shown


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


RESERVED = ("rng", "run_seed", "seconds")  # names that no parameter and no measurement may have


def check_grid(function, grid):
    "The runs of a grid. Raises `InputError`."
    has_name = callable(function) and isinstance(getattr(function, "__qualname__", None), str)
    require(has_name, "function", "a function with a name (what a partial binds belongs into the grid)", function)
    is_list = isinstance(grid, (list, tuple)) and grid
    require(is_list, "grid", "a list of at least one dict of parameters (see parameter_grid)", grid)
    try:
        signature, runs = inspect.signature(function), {}
    except (TypeError, ValueError):
        require(False, "function", "a function that says its parameters", function)
    for number, given in enumerate(grid):
        where = f"grid, entry {number},"
        run = _check_run(given, where)
        try:
            signature.bind(**run, rng=None)
        except TypeError as error:
            rule = f"must fit {function.__qualname__}{signature}: {error}"
            raise InputError(f"{where} {rule}; got {shown(given)}") from None
        key = canonical(run)
        require(key not in runs, where, "different from all before it (count repetitions with a parameter)", given)
        runs[key] = run
    return runs


def _check_run(given, where):
    "The parameters of one run, as plain values."
    are_named = isinstance(given, dict) and all(isinstance(name, str) for name in given)
    require(are_named, where, "a dict of parameters by name", given)
    for name in given:
        require(name not in RESERVED, where, f"free of the names {', '.join(RESERVED)}", name)
    run = {name: plain_value(value, f"{where} {name}") for name, value in given.items()}
    for name, value in run.items():
        parts = value if isinstance(value, tuple) else (value,)
        is_finite = all(not isinstance(part, float) or np.isfinite(part) for part in parts)
        require(is_finite, f"{where} {name}", "finite (None stands for no bound)", value)
    return run


def _rows(measured, taken):
    "What a function handed back, as a list of dicts of plain values."
    rows = [measured] if isinstance(measured, dict) else measured
    are_rows = isinstance(rows, (list, tuple)) and rows and all(isinstance(row, dict) for row in rows)
    require(are_rows, "the result of a run", "a dict of measured values, or a list of at least one", measured)
    for name in itertools.chain(*rows):
        is_free = isinstance(name, str) and name not in taken
        require(is_free, "the name of a measured value", "a text that no parameter and no other column has", name)
    return [{name: plain_value(value, f"the measured value {name}") for name, value in row.items()} for row in rows]


def one_run(function, run, seed, taken):
    "What came of one run. Happens in a worker."
    import traceback

    try:
        with limited_threads():
            rng = np.random.default_rng(seed)
            start = perf_counter()
            measured = function(**run, rng=rng)
            seconds = perf_counter() - start
        return {"run": run, "rows": _rows(measured, taken), "seconds": round(seconds, 6)}
    except Exception as error:
        return {"run": run, "error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_WORKER = dict.fromkeys(_THREADS, "1") | {
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


def about_experiment(function, names, seed, paired, version):
    "What a journal of this experiment belongs to. Raises `InputError`."
    is_known = isinstance(paired, (list, tuple)) and all(isinstance(name, str) and name in names for name in paired)
    require(is_known, "paired", f"a tuple of names of parameters: {', '.join(sorted(names))}", paired)
    return dict(
        function=f"{function.__module__}.{function.__qualname__}",
        version=check_integer(version, "version"),
        seed=check_integer(seed, "seed", 0, MOST_SEED),
        paired=sorted(paired),
    )


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


def workers_for(function, n_jobs, backend):
    "The joblib object that spreads the runs. Raises `InputError`."
    from joblib import Parallel

    if check_workers(n_jobs) != 1 and backend in (None, "loky"):
        import pickle

        from joblib import wrap_non_picklable_objects

        try:
            pickle.dumps(wrap_non_picklable_objects(function))
        except Exception as error:
            rule = "function must be picklable, to be sent to workers"
            raise InputError(f"{rule}; got {shown(function)}: {error}") from None
    try:
        return Parallel(n_jobs=n_jobs, backend=backend, batch_size=1, return_as="generator_unordered")
    except (AttributeError, TypeError, ValueError) as error:
        rule = "backend must be one that hands back results as they finish"
        raise InputError(f"{rule}; got {shown(backend)}: {str(error)[-200:]}") from None


def finished_runs(workers, function, todo, seeds, taken):
    "What came of the runs, in the order in which they finish. Closing this generator stops the workers."
    from joblib import delayed

    if not todo:
        return
    with for_workers():
        results = workers(delayed(in_worker(one_run))(function, run, seeds[key], taken) for key, run in todo.items())
        try:
            yield from results
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that results were left unused: somebody has said stop
                results.close()
            if workers.n_jobs != 1:
                end_workers()


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


def table_of_runs(runs, records, seeds):
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
