"""Starting the process that runs a student's cells, asking it with a clock beside, and ending it for good."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache

from .checking import SECONDS, OutOfReach
from .inside import Link, Remote
from .inside import RemoteError as RemoteError
from ..core.validation import check_number


@dataclass(frozen=True)
class Limits:
    "What a submission may use."

    seconds: float = SECONDS  # for one cell, or one call of a test
    total: float = 120  # for all of a submission
    memory: int = 4 << 30  # bytes of address space
    file_size: int = 20 << 20  # bytes of a file

    def __post_init__(self):
        for name, value in vars(self).items():
            check_number(value, name, 0, open_low=True)


class SandboxEnded(OutOfReach):
    "The process did not answer in time, or has ended. The text says which."


@cache
def namespaces():
    "How to start a command without a network and with process numbers of its own."
    base = ("--net", "--pid", "--fork", "--kill-child")
    for words in (("unshare", *base), ("unshare", "--user", "--map-root-user", *base)):
        try:
            if subprocess.run([*words, "true"], capture_output=True, timeout=10).returncode == 0:
                return words
        except (OSError, subprocess.SubprocessError):
            pass
    return ()


@cache
def other_user():
    "The user that a sandbox changes to; none where this process may not, or that user could not read the installation."
    import comparison_hc

    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return []
    for path in (sys.executable, sys.prefix, sys.base_prefix, os.path.dirname(comparison_hc.__file__)):
        path = os.path.realpath(path)
        while True:
            if not os.stat(path).st_mode & 0o001:
                return []
            if path == "/":
                break
            path = os.path.dirname(path)
    return [65534]


def protections():
    "What the sandbox of this system has, for people."
    found = ["limits on memory, time and files", "files outside its folder, connections and processes refused"]
    if namespaces():
        found.append("no network, and process numbers of its own")
    if other_user():
        found.append("another user")
    return found


def work_of(number):
    "What a process is doing; (False, 0.0) where the system does not tell."
    wants, used, todo = False, 0.0, [number]
    while todo:
        number = todo.pop()
        try:
            with open(f"/proc/{number}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            with open(f"/proc/{number}/task/{number}/children") as file:
                todo += map(int, file.read().split())
        except (OSError, ValueError):
            continue
        wants |= fields[0] in "RD"
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return wants, used


_START = "import sys; from comparison_hc.classroom.inside import main; main(sys.argv[1:])"


class Sandbox:
    "A process that runs cells; a context. `names` is a mapping of what they have defined."

    def __init__(self, limits=None, hidden=()):
        self.limits = Limits() if limits is None else limits
        self.folder = tempfile.mkdtemp(prefix="assignment-")
        user = other_user()
        if user:
            os.chown(self.folder, user[0], user[0])
        to_child, child_writes = os.pipe(), os.pipe()
        settings = {
            "folder": self.folder,
            "hidden": [str(path) for path in hidden],
            "user": user,
            "memory": self.limits.memory,
            "seconds": int(self.limits.total) + 1,
            "file_size": self.limits.file_size,
            "reads": to_child[0],
            "writes": child_writes[1],
        }
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        kept = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "COMPARISON_HC_DATA", "SYSTEMROOT")
        env = {name: os.environ[name] for name in kept if name in os.environ}
        env.update(threads, HOME=self.folder, TMPDIR=self.folder, PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="agg")
        env.update(NUMBA_CACHE_DIR=self.folder, KMP_DUPLICATE_LIB_OK="True", KMP_INIT_AT_FORK="FALSE")
        self.process = subprocess.Popen(
            [*namespaces(), sys.executable, "-c", _START, json.dumps(settings)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=env,
            pass_fds=(to_child[0], child_writes[1]),
            start_new_session=True,
        )
        os.close(to_child[0])
        os.close(child_writes[1])
        self.link = Link(child_writes[0], to_child[1], wait=self._wait)
        self.ends = time.monotonic() + self.limits.total
        self.until = self.ends
        self.names = Names(self)

    def _wait(self):
        "Before every read: until there is something, or time is up."
        while True:
            left = self.until - time.monotonic()
            if left > 0 and select.select([self.link.reads], [], [], left)[0]:
                return
            more = self._kept_waiting()
            if more <= 0:
                if select.select([self.link.reads], [], [], 0)[0]:
                    return
                raise TimeoutError
            self.until, self.ends = time.monotonic() + more, self.ends + more

    def _kept_waiting(self):
        "Seconds that the machine owes a process that wants to run, up to ten times its limit; else 0."
        wants, used = work_of(self.process.pid)
        for _ in range(40):  # one look could meet it between two pieces of work; a second shows whether it sleeps
            if wants or select.select([self.link.reads], [], [], 0.025)[0]:
                break
            wants, now = work_of(self.process.pid)
            wants |= now > used
        seconds, began, at = self._asked
        late = time.monotonic() - began > 10 * seconds
        return 0 if late or not wants else max(0.0, 0.9 * seconds - (used - at))

    def ask(self, request, args=(), kwargs=None):
        "Ask the process. Raises `RemoteError` for what it raised, `SandboxEnded` when it is gone or too late."
        if self.process is None:
            raise SandboxEnded("the process has ended")
        seconds = min(self.limits.seconds, self.ends - time.monotonic())
        self.until = time.monotonic() + seconds
        self._asked = seconds, time.monotonic(), work_of(self.process.pid)[1]
        try:
            return self._timed(self.link.ask(request, args, kwargs))
        except TimeoutError:
            self.close()
            raise SandboxEnded(f"it had not ended after {max(seconds, 0):.0f} seconds") from None
        except (EOFError, OSError):
            code = self.close()
            how = "it used more memory or time than it may" if code in (-9, -24, 137, 152) else "the process ended"
            raise SandboxEnded(how) from None
        except (ValueError, KeyError, TypeError, AttributeError, MemoryError) as error:
            self.close()
            raise SandboxEnded(f"it sent something that is not an answer ({type(error).__name__})") from None

    def _timed(self, found):
        "A stand-in asks through this object, which looks at the clock."
        if isinstance(found, Remote):
            found._link = self
        return found

    def run(self, text, name):
        "Run a cell. Raises `RemoteError`, `SandboxEnded`."
        self.ask({"do": "run", "text": text, "name": name})

    @property
    def is_open(self):
        "Whether its process runs."
        return self.process is not None

    def close(self):
        "End the process and all that it has started, and remove its folder."
        if self.process is None:
            return None
        process, self.process = self.process, None
        code = process.poll()
        for kill in (lambda: os.killpg(process.pid, signal.SIGKILL), process.kill):
            try:
                kill()
            except (OSError, ProcessLookupError):
                pass
        process.wait()
        for descriptor in (self.link.reads, self.link.writes):
            os.close(descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Names:
    "What the cells of a sandbox have defined."

    def __init__(self, sandbox):
        self._sandbox = sandbox

    def __contains__(self, name):
        return name in self._sandbox.ask({"do": "names"})

    def __getitem__(self, name):
        found = self._sandbox.ask({"do": "value", "name": name})
        return ... if isinstance(found, str) and found == "..." else found
