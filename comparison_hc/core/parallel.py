"""Work on several processes or threads, how many threads linear algebra gets, and progress bars."""

import os
import signal
import sys
import threading
import time
import warnings
from contextlib import nullcontext
from functools import lru_cache, partial, wraps

from .compat import IN_BROWSER
from .validation import require

MOST_WORKERS = 1000


def check_workers(n_jobs, argument="n_jobs"):
    "A number of workers. Raises `InputError`."
    known = type(n_jobs) is int and (n_jobs == -1 or 1 <= n_jobs <= MOST_WORKERS)
    require(known, argument, f"a number of workers from 1 to {MOST_WORKERS}, or -1 for one per core", n_jobs)
    return 1 if IN_BROWSER else n_jobs


# ---- processes


def end_workers():
    "End joblib's processes now."
    try:
        from joblib.externals.loky import get_reusable_executor
    except ImportError:
        return
    get_reusable_executor(reuse=True).shutdown(wait=True)


def _watch(parent, kindly):
    while os.getppid() == parent:
        time.sleep(1)
    if kindly:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    os._exit(1)


def die_with_parent(parent, kindly=False):
    "End this process as soon as `parent` is not its parent any more; on POSIX, elsewhere nothing happens."
    name = "until the parent ends"
    if os.name == "posix" and all(thread.name != name for thread in threading.enumerate()):
        threading.Thread(target=_watch, args=(parent, kindly), name=name, daemon=True).start()


def _in_worker(parent, work, *args):
    from multiprocessing import current_process

    began = getattr(current_process(), "_parent_pid", None)  # who started this process, also if it is gone already
    if parent in (os.getppid(), began):  # threads and machines elsewhere have other parents, and stay
        die_with_parent(parent)
    return work(*args)


def in_worker(work):
    "The same work, for a process of joblib's that must not outlive this one."
    return partial(_in_worker, os.getpid(), work)


def map_in_order(work, pieces, n_jobs=1, progress=None):
    "The results of independent pieces of work: in this process, or in those of joblib's backend."
    n_jobs, workers = check_workers(n_jobs), None
    if n_jobs == 1:
        results = map(work, pieces)
    else:
        from joblib import Parallel, delayed

        jobs = (delayed(in_worker(partial(_with_one_thread, work)))(piece) for piece in pieces)
        results = workers = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    try:
        for done, result in enumerate(results, 1):
            yield result
            if progress:
                progress(done, len(pieces))
    finally:
        if workers is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # joblib's, of results that nobody waits for any more
                workers.close()
            end_workers()


def _with_one_thread(work, piece):
    with limited_threads():
        return work(piece)


def until_interrupted(results, fewest=1):
    "(results, whether Ctrl-C cut them short); fewer than `fewest` raise `KeyboardInterrupt`."
    found = []
    try:
        for result in results:
            found.append(result)
    except KeyboardInterrupt:
        if len(found) < fewest:
            raise
        return found, True
    return found, False


# ---- threads


def map_on_threads(function, items, n_threads=None):
    "`map`, on threads where the platform has them."
    if IN_BROWSER:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads or os.cpu_count()) as pool:
        yield from pool.map(function, items)


def in_chunks(work, m, size=1 << 16):
    "Call `work(start, stop)` on consecutive chunks of 0..m, on all cores: NumPy releases the GIL while it computes."
    starts = range(0, m, size)
    if len(starts) == 1:
        return work(0, m)
    for _ in map_on_threads(lambda start: work(start, min(start + size, m)), starts):
        pass


@lru_cache(maxsize=1)
def _thread_pools(n_modules):
    "The libraries with threads, looked for again when modules have been loaded since."
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def limited_threads(limit=1, user_api=None):
    "What `threadpoolctl.threadpool_limits` does, without looking for the libraries again each time."
    if IN_BROWSER:
        return nullcontext()  # nothing to limit, and looking for libraries takes a second there
    return _thread_pools(len(sys.modules)).limit(limits=limit, user_api=user_api)


def one_thread(n=0, most=2000):
    """One thread for the linear algebra of n objects, if they are not too many; else as many as joblib allows.

    Libraries count the cores of the machine. In a container that may use two of sixteen, sixteen threads wait for each
    other."""
    if n <= most or IN_BROWSER:
        return limited_threads(1)
    from joblib import cpu_count

    limits = {}  # by name of library; of two with one name, the smaller
    for library in _thread_pools(len(sys.modules)).info():
        name, now = library["prefix"], min(library["num_threads"], cpu_count())
        limits[name] = min(limits.get(name, now), now)
    return limited_threads(limits)


def on_one_thread(function):
    "A function that does many small pieces of linear algebra, whose threads would only wait for each other."
    if IN_BROWSER:
        return function

    @wraps(function)
    def limited(*args, **options):
        import scipy.linalg  # noqa: F401  has threads of its own, which must be there to be limited

        with limited_threads():
            return function(*args, **options)

    return limited


# ---- progress


class ProgressBar:
    """A bar with the time left, on stderr: call it with (done, total). A context, or closed with `close`.

    What was done before the first call does not count as fast work.
    """

    def __init__(self, what="runs", **options):
        self.what, self.options, self.bar = what, options, None

    def __call__(self, done, total):
        from tqdm import tqdm

        if self.bar is None:
            if IN_BROWSER:
                tqdm.monitor_interval = 0  # it would start a thread
            self.bar = tqdm(total=total, initial=done, desc=self.what, **{"smoothing": 0, **self.options})
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self):
        "Leave the bar as it is."
        if self.bar is not None:
            self.bar.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def command_bar(what):
    "The bar of a command: shown in a terminal, after a second, and gone at the end."
    return ProgressBar(what, delay=1, disable=None, leave=False)
