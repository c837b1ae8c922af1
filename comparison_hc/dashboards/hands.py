"""A process that runs the functions of the pages: told what to do line by line, it ends with its server."""

import json
import os
import subprocess
import sys
import threading
import time
from importlib import import_module

from ..core.validation import InputError
from .desk import packed
from .worker import LatestOnly

MOST_SESSIONS = 40  # that a hand holds open


def live_page(module):
    "The page of a module, if it has controls."
    return getattr(import_module(module), "PAGE", None)


def session_replies(request, sessions):
    "Do what a person wishes. What cannot be done is a note, never an exception."
    from html import escape
    from pathlib import Path

    from comparison_hc.dashboards.ask_page import replies
    from comparison_hc.elicitation.session import Session

    wish, path = request["wish"], Path(request["journal"])
    try:
        session = sessions.pop(request["journal"], None)
        if session is None or not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            session = Session(request["items"], path, request["person"])
        sessions[request["journal"]] = session
        while len(sessions) > MOST_SESSIONS:
            del sessions[next(iter(sessions))]
        return replies(session, wish, path.stem)
    except (InputError, OSError, LookupError, TypeError, ValueError) as error:
        note = f"<p>{escape(str(error))}</p>"
        return [dict(kind="state", show=dict(notes=note))]


class Work:
    "The events of a request about a page. It can be left where it is, and gone on with."

    def __init__(self, request, memory):
        page = live_page(request["page"])
        self.kept, self.own, self.step = memory, dict(memory), None  # another may work while this one pauses
        settings = page.settings.from_message(request["settings"])
        self.events = iter(page.work(settings, lambda *words: self.step(*words), self.own))

    def go_on(self, step, pauses=False):
        "The events from here on."
        self.step = step
        for event in self.events:
            self.kept.update(self.own)
            yield event
            if pauses and (event.get("drawn") or event.get("early")):
                return True
        self.kept.update(self.own)
        return False


class Worktable:
    "What a hand keeps between requests: the memory of every page, sessions, and work that pauses."

    most_paused, most_megabytes = 6, 400

    def __init__(self):
        self.memory, self.sessions, self.paused = {}, {}, {}
        self.has_paused = False

    def answer(self, order, step):
        "The events of one order."
        request, self.has_paused = order["request"], False
        if request is None:
            return
        if "wish" in request:
            yield from session_replies(request, self.sessions)
            return
        key = json.dumps(request, sort_keys=True)
        work = self.paused.pop(key, None) or Work(request, self.memory.setdefault(request["page"], {}))
        self.has_paused = yield from work.go_on(step, order["pauses"])
        if self.has_paused:
            self.paused[key] = work
            while len(self.paused) > (self.most_paused if megabytes() < self.most_megabytes else 0):
                del self.paused[next(iter(self.paused))]


MOST_DATA = 1_500_000_000  # bytes that a hand may hold, where the system can limit that


def megabytes():
    "What this process holds in memory, or 0 where that cannot be known."
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000
    except (OSError, ValueError, AttributeError):
        return 0


def be_modest(nice):
    "Limit the memory of this process, and put it behind others, where the system can."
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = MOST_DATA if hard == resource.RLIM_INFINITY else min(MOST_DATA, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
        os.nice(nice)
    except (ImportError, AttributeError, OSError, ValueError):
        pass


def hand_main():
    "Work until the input ends. The first line says what to import, and how nice to be."
    output, lines = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)
    lock, table = threading.Lock(), Worktable()

    def report(number, kind, payload, **more):
        with lock:
            head = dict(number=number, kind=kind, size=len(payload), **more)
            output.write(json.dumps(head).encode() + b"\n" + payload)
            output.flush()

    def publish(event):
        number = event.pop("number")
        more = {}
        if event["kind"] == "done":
            event["kind"] = "paused" if table.has_paused else "done"
            more = dict(megabytes=megabytes())
        report(number, event["kind"], packed(event), drawn=bool(event.get("drawn")), **more)

    def say_spent():
        said = 0.0
        while True:
            time.sleep(0.5)
            if time.process_time() - said > 0.25:
                said = time.process_time()
                report(0, "spent", b"", spent=said, megabytes=megabytes())

    start = json.loads(lines.readline())
    be_modest(start["nice"])
    for module in start["modules"]:
        import_module(module)
    worker = LatestOnly(table.answer, publish)
    report(0, "ready", b"")
    threading.Thread(target=say_spent, name="spent", daemon=True).start()
    for line in lines:
        order = json.loads(line)
        worker.submit(order["number"], order)
    os._exit(0)


# Ctrl-C is for the server only. In a session of its own a nice hand would still get a whole share of the cores.
APART = dict(process_group=0) if sys.version_info >= (3, 11) else dict(start_new_session=True)
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
COMMAND = "from comparison_hc.dashboards.hands import hand_main; hand_main()"


class Hand:
    "A process that computes. `heard` and `lost` are called in a thread of its own."

    def __init__(self, modules, heard, lost, nice=0):
        self.heard, self.lost = heard, lost
        self.ready = threading.Event()
        self.spent, self.megabytes = 0.0, 0  # seconds of a processor and memory, as the process said last
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD},
            **(APART if nice else dict(start_new_session=True)),
        )
        self._write(dict(modules=list(modules), nice=nice))
        self._thread = threading.Thread(target=self._listen, name="hand", daemon=True)
        self._thread.start()

    def _write(self, order):
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:  # it has ended; the thread says so
            pass

    def begin(self, number, request, pauses=False):
        "Compute this, or up to the picture."
        self._write(dict(number=number, request=request, pauses=pauses))

    def stop(self, number):
        "Compute nothing."
        self._write(dict(number=number, request=None))

    def _listen(self):
        output = self.process.stdout
        while line := output.readline():
            head = json.loads(line)
            payload = output.read(head["size"])
            if head["kind"] == "ready":
                self.ready.set()
            elif head["kind"] == "spent":
                self.spent, self.megabytes = head["spent"], head["megabytes"]
            else:
                self.heard(self, head["number"], head["kind"], payload, head["drawn"], head.get("megabytes", 0))
        self.process.wait()
        self.lost(self)

    def end(self, patience=0.0):
        "End the process."
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
