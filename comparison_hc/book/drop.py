"""The page that clusters a reader's own file in the browser: the command, run by Pyodide, and no server."""

import argparse
import asyncio
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from ..core._columns import WIDTHS
from ..core.validation import InputError

KINDS = (*WIDTHS, "similarity", "distance")
METHODS = ("4-al", "auto", "4k-al", "adds", "mulk")  # the first is what the page begins with: it needs the least
ENCODINGS = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "mac_roman")  # the first is the command's own
MOST_BYTES = 20_000_000  # of a file: about a million answers, minutes in a browser
LONG_BYTES = 500_000  # from here on it takes long enough to be said before


class Answer(NamedTuple):
    "What the command made of a file."

    worked: bool  # whether there is a page
    said: str  # what it printed, or why it did not work
    page: str  # HTML; empty where it did not work


def cluster_words(kind, method, clusters=None, encoding=ENCODINGS[0]):
    "What one would type."
    words = ["--kind", kind, "--method", method]
    words += ["--clusters", str(clusters)] if clusters is not None else []
    return words + (["--encoding", encoding] if encoding != ENCODINGS[0] else [])


def cluster_file(name, data, words):
    "`comparison-hc cluster` on bytes. Raises `ModuleNotFoundError` for a library that is not there (yet)."
    from comparison_hc.cli.cluster import add_cluster

    parser = argparse.ArgumentParser(prog="comparison-hc")
    add_cluster(parser.add_subparsers())
    said = StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(said), redirect_stderr(said):
        short = Path(name.replace("\\", "/")).name[-100:].lstrip(".") or "file"  # a system has a limit for names
        source, target = Path(folder) / short, Path(folder) / "out" / "page.html"
        target.parent.mkdir()
        try:
            source.write_bytes(data)
            args = parser.parse_args(["cluster", str(source), "--out", str(target), *words])
            args.run(args)
            lines = said.getvalue().replace(f"wrote {target}\n", "")
            return Answer(True, lines, target.read_text(encoding="utf-8"))
        except ModuleNotFoundError:
            raise
        except (InputError, OSError, ValueError, MemoryError) as error:
            return Answer(False, f"{error or type(error).__name__}".replace(f"{folder}/", ""), "")
        except SystemExit:
            return Answer(False, said.getvalue().strip().splitlines()[-1], "")


def example_file():
    "Simulated answers about twenty-four animals, one a row."
    from comparison_hc.datasets import load_dataset

    answers = load_dataset("animals").triplets
    rows = [",".join(answers.object_names[i] for i in row) for row in answers.array.tolist()]
    return "animals.csv", ("\n".join(["i,j,k", *rows]) + "\n").encode()


async def run_asking(work, load):
    "Do it again whenever a library was missing that could be brought. Raises `InputError` if one could not."
    asked = set()
    while True:
        try:
            return work()
        except ModuleNotFoundError as error:
            if error.name in asked or not await load(error.name):
                raise InputError(f"this needs {error.name}, which does not run in a browser") from None
            asked.add(error.name)


def refusal(name, size, count=1):
    "Why nothing is read."
    if count > 1:
        return f"{count} files were dropped: this page takes one, with all answers in it."
    if size > MOST_BYTES:
        most = f"{MOST_BYTES / 1e6:.0f} MB"
        return f"{name} has {size / 1e6:.0f} MB, and this page takes {most}: the installed command takes more."


def reading(name, size):
    "What is said while it is read."
    long = (
        f" It has {size / 1e6:.1f} MB: the page does not move for a while, up to minutes." if size > LONG_BYTES else ""
    )
    return f"Reading {name} …{long}"


class DropPage:
    "The page's parts, and what they do."

    def __init__(self, page, pyodide):
        self.page, self.pyodide, self.last = page, pyodide, None
        self.part = {name: page.getElementById(f"drop-{name}") for name in PARTS}

    def tell(self, text):
        "A line for who waits."
        self.part["said"].textContent = text

    async def load(self, module):
        "Bring a library that a module's name stands for."
        self.tell(f"Loading {module}: it is needed once …")
        found = await self.pyodide.loadPackagesFromImports(f"import {module}")
        return bool(found.length)

    def blank(self, text):
        "Nothing but a line."
        self.tell(text)
        for name in ("frame", "save"):
            self.part[name].hidden = True
        self.part["log"].textContent = ""

    async def show(self, name, data):
        "Cluster and show it."
        self.last = name, data
        self.blank(reading(name, len(data)))
        await asyncio.sleep(0.05)  # so that it is seen
        kind, method, count, encoding = (self.part[part].value for part in ("kind", "method", "clusters", "encoding"))
        words = cluster_words(kind, method, count or None, encoding)
        try:
            answer = await run_asking(lambda: cluster_file(name, data, words), self.load)
        except InputError as error:
            answer = Answer(False, str(error), "")
        self.part["log"].textContent = answer.said
        self.part["frame"].hidden = not answer.worked
        self.part["save"].hidden = not answer.worked
        self.part["frame"].srcdoc = answer.page
        if answer.worked:
            self.part["save"].download = f"{Path(name).stem}.html"
            self.part["save"].href = self.link(answer.page)
        self.tell(f"{name}: the tree is below." if answer.worked else f"{name} cannot be used as it is.")

    def link(self, text):
        "An address, in this page only, of a page to be saved."
        from js import URL, Blob
        from pyodide.ffi import to_js

        URL.revokeObjectURL(self.part["save"].href)
        return URL.createObjectURL(Blob.new(to_js([text])))

    async def take(self, files):
        "A file, if it is one, and can be read."
        from pyodide.ffi import JsException

        if not files.length:
            return
        file = files.item(0)
        if problem := refusal(file.name, file.size, files.length):
            return self.blank(problem)
        try:
            data = (await file.arrayBuffer()).to_bytes()
        except JsException:
            return self.blank(f"{file.name} cannot be read: is it a folder, or was it changed since it was chosen?")
        await self.show(file.name, data)

    async def on_drop(self, event):
        "A file was dropped."
        event.preventDefault()
        await self.take(event.dataTransfer.files)

    async def on_choice(self, _):
        "A file was chosen."
        await self.take(self.part["file"].files)

    async def on_setting(self, _):
        "Another kind, method, number or encoding: the same file again."
        if self.last:
            await self.show(*self.last)

    async def on_example(self, _):
        "The animals."
        self.part["kind"].value = KINDS[0]
        await self.show(*example_file())

    def begin(self, early=None):
        "Fill the settings, and listen. `early`: files that were dropped before."
        from pyodide.ffi.wrappers import add_event_listener

        for name, values in (("kind", KINDS), ("method", METHODS), ("encoding", ENCODINGS)):
            for value in values:
                option = self.page.createElement("option")
                option.value = option.textContent = value
                self.part[name].append(option)
        add_event_listener(self.page, "drop", self.on_drop)  # wherever: beside the place the browser would open it
        heard = dict(file=("change", self.on_choice), example=("click", self.on_example))
        heard |= {name: ("change", self.on_setting) for name in ("kind", "method", "clusters", "encoding")}
        for name, (event, listener) in heard.items():
            add_event_listener(self.part[name], event, listener)
        for name in ("file", "example"):
            self.part[name].disabled = False
        self.tell("Ready: drop a file, or try the example.")
        if early is not None:
            asyncio.ensure_future(self.take(early))


PARTS = ("said", "frame", "log", "kind", "method", "clusters", "encoding", "file", "example", "save")


def begin(early=None):
    "What the page calls when Python is there."
    import pyodide_js
    from js import document

    DropPage(document, pyodide_js).begin(early)
