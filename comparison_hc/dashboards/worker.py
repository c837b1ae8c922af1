"""One thread that answers the newest question and drops the others."""

import logging
import threading
import time

from ..core.compat import IN_BROWSER
from ..core.validation import InputError


class Superseded(Exception):
    "A newer request has come: the work on this one ends here."


NO_MEMORY = "This setting needs more memory than there is. Choose a smaller one."
OUR_MISTAKE = "This setting failed ({}: {}). This is an error of the page; other settings still work."


def answered(work, request, publish, is_old, show_after=0.15):
    "Publish the events of `work(request, step)`, mistakes as sentences; yields after each, and ends if it is old."
    start = last = time.perf_counter()

    def stop_if_old():
        if is_old():
            raise Superseded

    def step(text, done=0, total=0):
        nonlocal last
        stop_if_old()
        if time.perf_counter() - last >= show_after:
            last = time.perf_counter()
            publish(dict(kind="progress", text=text, done=int(done), total=int(total)))

    try:
        for event in work(request, step):
            stop_if_old()
            publish(event)
            yield
    except Superseded:
        return
    except InputError as error:
        publish(dict(kind="sentence", text=str(error)))
    except MemoryError:
        publish(dict(kind="sentence", text=NO_MEMORY))
    except Exception as error:
        logging.getLogger("comparison_hc.dashboards").exception("a dashboard's work failed")
        publish(dict(kind="sentence", text=OUR_MISTAKE.format(type(error).__name__, error)))
    if not is_old():
        publish(dict(kind="done", seconds=time.perf_counter() - start))


class LatestOnly:
    "A thread that answers the latest request only. `publish` is called in that thread, or in the caller's loop."

    def __init__(self, work, publish, show_after=0.15, in_loop=IN_BROWSER):
        self.work = work
        self.publish = publish
        self.show_after = show_after
        self._changed = threading.Condition()
        self._waiting = None
        self._busy = False
        self._closed = False
        self._turns = None  # the task that takes turns with the loop
        self._in_loop = in_loop
        if not in_loop:
            self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)
            self._thread.start()

    def submit(self, number, settings):
        "Answer this request next, and none that came before."
        with self._changed:
            self._waiting = (number, settings)
            self._changed.notify_all()
        if self._in_loop and (self._turns is None or self._turns.done()):
            import asyncio

            self._turns = asyncio.get_running_loop().create_task(self._take_turns())

    def close(self):
        "Stop at the next step; nothing is published after that."
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait(self, timeout=60):
        "Wait until nothing is left to do; whether that came in time."
        with self._changed:
            return self._changed.wait_for(lambda: not self._busy and self._waiting is None, timeout)

    def _run(self):
        "The thread: wait for a request, answer it, begin again."
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._waiting)
            if self._closed:
                return
            for _ in self._latest():
                pass

    async def _take_turns(self):
        "Without a thread: after every event whatever else the loop has to do has its turn, newer requests too."
        import asyncio

        while self._waiting is not None and not self._closed:
            await asyncio.sleep(0.01)  # requests that have come already are heard before the first event
            for _ in self._latest():
                await asyncio.sleep(0)

    def _latest(self):
        "Answer the waiting request, unless a newer one comes; yields after every event."
        with self._changed:
            number, settings = self._waiting
            self._waiting = None
            self._busy = True

        def is_old():
            return self._closed or self._waiting is not None

        def publish(event):
            self.publish(dict(event, number=number))

        try:
            yield from answered(self.work, settings, publish, is_old, self.show_after)
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
