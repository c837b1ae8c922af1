"""Work that is spread over processes: how many, and that none stays behind."""

import os
import signal
import sys
import threading
import time
import warnings
from contextlib import nullcontext
from contextvars import ContextVar
from functools import partial

from .compat import IN_BROWSER
from .validation import require

MOST_WORKERS = 1000


def check_workers(n_jobs, argument="n_jobs"):
    "A number of workers. Raises `InputError`."
    known = type(n_jobs) is int and (n_jobs == -1 or 1 <= n_jobs <= MOST_WORKERS)
    require(known, argument, f"a number of workers from 1 to {MOST_WORKERS}, or -1 for one a core", n_jobs)
    return 1 if IN_BROWSER else n_jobs

def end_workers():
    "End joblib's processes now."
    try:
        from joblib.externals.loky import get_reusable_executor
    except ImportError:
        return
    get_reusable_executor(reuse=True).shutdown(wait=True)

def _watch(home, kindly):
    while os.getppid() == home:
        time.sleep(1)
    if kindly:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    os._exit(1)


def leave_with(home, kindly=False):
    "End this process as soon as `home` is not its parent any more; on POSIX, elsewhere nothing happens."
    name = "until the parent ends"
    if os.name == "posix" and all(thread.name != name for thread in threading.enumerate()):
        threading.Thread(target=_watch, args=(home, kindly), name=name, daemon=True).start()


def _at_work(home, work, *words):
    "The work, in a worker that goes when `home` goes. Threads and machines elsewhere have other parents, and stay."
    from multiprocessing import current_process

    began = getattr(current_process(), "_parent_pid", None)  # who started this process, also if it is gone already
    if os.name == "posix" and home in (os.getppid(), began):
        leave_with(home)
    return work(*words)


def in_worker(work):
    "The same work, for a process of joblib's that must not outlive this one."
    return partial(_at_work, os.getpid(), work)

_found = {}  # number of loaded modules -> `ThreadpoolController`, of the latest number only


def limited_threads(limit=1, user_api=None):
    "What `threadpoolctl.threadpool_limits` does, without looking for the libraries again each time."
    if IN_BROWSER:
        return nullcontext()  # nothing to limit, and looking for libraries takes a second there
    from threadpoolctl import ThreadpoolController

    loaded = len(sys.modules)
    if loaded not in _found:
        controller = ThreadpoolController()
        _found.clear()
        _found[loaded] = controller
    controller = _found.get(loaded) or ThreadpoolController()  # another thread may have cleared it
    if callable(limit):
        most = limit
        limit, user_api = {}, None  # by name of library; of two with one name, the smaller
        for each in controller.info():
            limit[each["prefix"]] = min(limit.get(each["prefix"], each["num_threads"]), most(each["num_threads"]))
    return controller.limit(limits=limit, user_api=user_api)

def one_thread(n=0, most=2000):
    """One thread for the linear algebra of n objects, if they are not too many.

    Libraries count the cores of the machine. In a container that may use two of sixteen, sixteen threads wait for each
    other: then as many as are allowed, which joblib reads."""
    if n <= most or IN_BROWSER:
        return limited_threads(1)
    from joblib import cpu_count

    cores = cpu_count()
    return limited_threads(lambda given: min(given, cores))

CLUSTER = ContextVar("cluster", default=None)  # inside of `on_cluster`, what it puts here: a `ground.clusters.Around`


def map_in_order(work, pieces, n_jobs=1, progress=None):
    "The results of independent pieces of work: in this process, in others, or on the cluster around (`on_cluster`)."
    total, n_jobs = len(pieces), check_workers(n_jobs)
    if CLUSTER.get() is not None:
        for done, result in enumerate(CLUSTER.get().spread(work, pieces), 1):
            yield result
            if progress:
                progress(done, total)
        return
    if n_jobs == 1:
        for done, piece in enumerate(pieces, 1):
            yield work(piece)
            if progress:
                progress(done, total)
        return
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_limits

    def alone(piece):
        with threadpool_limits(1):
            return work(piece)

    results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(in_worker(alone))(piece) for piece in pieces)
    try:
        for done, result in enumerate(results, 1):
            yield result
            if progress:
                progress(done, total)
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib's, of results that nobody waits for any more
            results.close()
        end_workers()

def until_interrupted(results, fewest=1):
    "All results, or those that were there when the user pressed Ctrl-C."
    found = []
    try:
        for result in results:
            found.append(result)
    except KeyboardInterrupt:
        if len(found) < fewest:
            raise
        return found, True
    return found, False




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
