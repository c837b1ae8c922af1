"""A class of thirty: `python tests/benchmarks/class_server.py [--readers 30] [--browser] [--pages NAME …]`.

Starts `comparison-hc serve` as a process of its own, lets all readers in at once, and lets all of them move: every
reader waits for the picture, thinks for a moment, and moves again. Two lessons: in *together* all walk along one slider
of the page that everybody sees (equal requests, which the server may have computed before); in *alone* everybody draws
settings at random, so that no two are equal. Printed are the median, the 95th percentile and the slowest time to the
first picture (of the answers, say), to the one that matters (of what was found in them) and to the whole answer, the
processor time that the server and the browser took for it, and the largest memory of all of the server's processes.

Readers speak the protocol, so that what is measured is the server; with `--browser` they are as many tabs of one
headless Chromium, which shares the cores with the server: the time then is that of both, and the processor time says
whose it is. (With a context for each reader, Chromium takes 0.9 s of a processor for an empty page.) A first line says
what tabs with nothing in them take. A class brings its own machines: there, a page has a core of its own.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from comparison_hc.dashboards.class_server import find_dashboard
from comparison_hc.dashboards.hands import live_page
from comparison_hc.dashboards.live import nearest

COMMAND = "import sys; from comparison_hc.cli import main; sys.exit(main())"
PAGES = ("planted", "flat", "step", "link", "plan")


def family(*roots):
    "These processes and all that they started."
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = list(roots)
    for pid in found:
        found += children.get(pid, [])
    return found


def processor_seconds(pids):
    "What these processes have used, and those that ended before them and were waited for."
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Server:
    "The command, its address, and the largest memory of its processes."

    def __init__(self, names, folder):
        words = [sys.executable, "-c", COMMAND, "serve", *names, "--folder", folder]
        began = time.perf_counter()
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.started = time.perf_counter() - began
        self.address = re.search(r"http://\S+", line)[0]
        self.base, self.token = self.address.split("?token=")
        self.largest, self.is_over = 0.0, threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def processes(self):
        return family(self.process.pid)

    def spent(self):
        "(processor seconds of the server, of the browser); the latter 0 without one."
        own = set(self.processes())
        return processor_seconds(own), processor_seconds(set(family(os.getpid())) - own - {os.getpid()})

    def megabytes(self):
        "Memory of all processes; what they share is counted once."
        total = 0
        for pid in self.processes():
            try:
                total += int(re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1])
            except OSError:
                pass
        return total / 1000

    def _watch(self):
        while not self.is_over.wait(0.5):
            self.largest = max(self.largest, self.megabytes())

    def close(self):
        self.is_over.set()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def values_of(name):
    "{setting: its values on the live page} of what a reader would move."
    found = live_page(find_dashboard(name).module).settings.values("live")
    return {each: list(values) for each, values in found.items() if len(values) > 1 and each != "tasks"}


def moves(name, lesson, number, seed):
    "Settings, one after the other, for ever: along one slider, or drawn at random around where the page begins."
    values, rng = values_of(name), random.Random(seed * 1000 + number)
    start = live_page(find_dashboard(name).module).settings()
    first = next(iter(values))
    place = nearest(values[first], getattr(start, first))
    turn = 0
    while True:
        turn += 1
        if lesson == "together":
            yield {first: values[first][(place + turn) % len(values[first])]}
        else:
            near = values[first][max(0, place - 10) : place + 11]
            draw = {each: rng.choice(values[each]) for each in ("seed", "task") if each in values}
            yield draw if "task" in draw else {first: rng.choice(near), **draw}


class Line:
    "A reader who speaks the protocol."

    def __init__(self, server, name, number):
        self.server, self.name, self.number, self.count = server, name, number, 0

    async def open(self):
        from tornado.websocket import websocket_connect

        began = time.perf_counter()
        where = self.server.base.replace("http", "ws")
        self.line = await websocket_connect(f"{where}talk/{self.name}?token={self.server.token}")
        took = await self.ask({})
        passed = time.perf_counter() - began
        return tuple(passed - took[-1] + each for each in took)

    async def ask(self, settings):
        "(seconds to the first picture, to the one that matters, to the whole answer)."
        self.count += 1
        number, began, first, drawn = f"{self.number}:{self.count}", time.perf_counter(), None, None
        known = {
            name: "inf" if value == float("inf") else value for name, value in settings.items() if value is not None
        }
        await self.line.write_message(json.dumps(dict(number=number, settings=known)))
        while True:
            event = json.loads(await self.line.read_message())
            if event["number"] != number:
                continue
            now = time.perf_counter() - began
            if first is None and (event.get("drawn") or event.get("early")):
                first = now
            if drawn is None and event.get("drawn"):
                drawn = now
            if event["kind"] == "done":
                return first or now, drawn or now, now

    async def close(self):
        self.line.close()


SETTLE = """([values, settings]) => new Promise(resolve => {
    const root = document.querySelector('.chc'), began = performance.now();
    let drawn = 0, last;
    for (const [name, value] of Object.entries(settings)) {
        const input = root.querySelector(`[data-setting="${name}"]`);
        input.value = values[name].indexOf(value);
        last = input;
    }
    last.dispatchEvent(new Event('input', {bubbles: true}));
    const watch = () => {
        const {asked, drawn: seen, done} = root.dataset, now = performance.now() - began;
        if (!drawn && (seen === asked || done === asked)) drawn = now;
        if (done === asked) [changes.disconnect(), resolve([drawn / 1000, drawn / 1000, now / 1000])];
    };
    const changes = new MutationObserver(watch);
    changes.observe(root, {attributes: true});
})"""


class Page(Line):
    "A reader with a page in Chromium."

    async def open(self):
        began = time.perf_counter()
        self.page = await self.server.chromium.new_page()
        self.page.set_default_timeout(300_000)
        await self.page.goto(f"{self.server.base}{self.name}?token={self.server.token}")
        await self.page.wait_for_selector(".chc[data-drawn], .chc[data-done]")
        drawn = time.perf_counter() - began
        await self.page.wait_for_selector(".chc[data-done]")
        return drawn, drawn, time.perf_counter() - began

    async def ask(self, settings):
        known = {name: value for name, value in settings.items() if value is not None}
        values = {name: values_of(self.name)[name] for name in known}
        return await self.page.evaluate(SETTLE, [values, known])

    async def close(self):
        await self.page.close()


class EmptyPage(Page):
    "A reader whose page says only that there is nothing."

    async def open(self):
        began = time.perf_counter()
        self.page = await self.server.chromium.new_page()
        await self.page.goto(f"{self.server.base}nothing")
        return (time.perf_counter() - began,) * 3


def report(what, took, spent):
    "A line of the table; `spent` are processor seconds of the server and of the browser."
    times = np.array(took).T if took else np.full((3, 1), np.nan)
    cells = [f"{value:7.2f}" for each in times for value in (*np.percentile(each, [50, 95]), each.max())]
    each = [f"{1000 * seconds / max(1, len(took)):7.0f}" for seconds in spent]
    print(f"{what:32} {len(took):5} {''.join((*cells, *each))}", flush=True)


async def student(reader, way, end):
    "What a reader's moves take."
    rng, took = random.Random(reader.number), []
    for settings in moves(reader.name, way, reader.number, seed=way == "alone"):
        await asyncio.sleep(rng.uniform(0.5, 2.5))
        if time.perf_counter() > end:
            return took
        took.append(await reader.ask(settings))


async def lesson(kind, server, name, count, seconds):
    "All come at once; then all move, in both ways."
    readers = [kind(server, name, number) for number in range(count)]
    before = server.spent()
    opened = await asyncio.gather(*(reader.open() for reader in readers), return_exceptions=True)
    fine = [(reader, took) for reader, took in zip(readers, opened) if not isinstance(took, BaseException)]
    print(f"{name}: {len(fine)} of {count} readers are in")
    report(f"{name}: all open at once", [took for _, took in fine], np.subtract(server.spent(), before))
    for way in ("together", "alone") if seconds else ():
        end, before = time.perf_counter() + seconds, server.spent()
        found = await asyncio.gather(*(student(reader, way, end) for reader, _ in fine))
        report(f"{name}: a move, {way}", sum(found, []), np.subtract(server.spent(), before))
    for reader, _ in fine:
        await reader.close()


async def run(args, server):
    "Every page in turn."
    kind = Page if args.browser else Line
    if args.browser:
        from playwright.async_api import async_playwright

        async with async_playwright() as playwright:
            words = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=words)
            server.chromium = await browser.new_context(viewport=dict(width=1280, height=900))
            await lesson(EmptyPage, server, "nothing", args.readers, 0)
            for name in args.pages:
                await lesson(kind, server, name, args.readers, args.seconds)
            await browser.close()
    else:
        for name in args.pages:
            await lesson(kind, server, name, args.readers, args.seconds)


def main():
    "Serve, let thirty in, print."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--pages", nargs="+", default=PAGES)
    parser.add_argument("--rest", type=float, default=0, help="seconds that the server has for itself before they come")
    args = parser.parse_args()
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, before anything is started")
        server = Server(args.pages, folder)
        print(f"the command was ready after {server.started:.1f} s")
        time.sleep(args.rest)
        heads = (*("median", "95 %", "most") * 3, "server", "browser")
        print("seconds to the first picture, to the one that matters, to all; milliseconds of processor time for each")
        print(f"{'':32} {'moves':>5} {''.join(f'{head:>8}'[-7:] for head in heads)}")
        try:
            asyncio.run(run(args, server))
        finally:
            print(f"largest memory of the server's processes: {server.largest:,.0f} MB")
            print(f"load {os.getloadavg()[0]:.1f} at the end")
            server.close()


if __name__ == "__main__":
    main()
