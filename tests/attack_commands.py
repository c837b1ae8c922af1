"""Every command with every option, and bad words in the place of each: the table comes from the parser itself, so that
a new option is attacked as soon as it exists. `attack.py` runs it; a part of it is a test.
"""

import argparse
import contextlib
import io
import random
import re
import shutil
import signal
import sys
import warnings
import zlib
from http.server import ThreadingHTTPServer
from itertools import permutations
from pathlib import Path
from unittest.mock import patch

from comparison_hc.cli import main, make_parser
from comparison_hc.core.validation import visible_text
from comparison_hc.dashboards import class_server, server

PATIENCE = 12  # seconds of the processor, after which Ctrl-C is pressed; what a command then says is judged, too
ROWS = [(f"o{a}", f"o{b}", f"o{c}", f"p{a % 3}") for a, b, c in permutations(range(6), 3)]
TABLE = "x,y,kind\n" + "".join(f"{i % 2 + i / 50},{i % 3},{'ab'[i % 2]}\n" for i in range(12))
BAD_WORDS = {
    "nothing": "",
    "a space": " ",
    "0": "0",
    "-1": "-1",
    "1.5": "1.5",
    "nan": "nan",
    "inf": "inf",
    "1e999": "1e999",
    "10**30": str(10**30),
    "9e9": "9000000000",
    "a word": "x",
    "digits of India": "٣",
    "1_0": "1_0",
    "a list": "a,b",
    "commas": ",,",
    "a range": "1:0:0",
    "half a range": "0.1:",
    "escape": "\x1b[31m",
    "right to left": "\u202ea\u200f",
    "two lines": "a\nb",
    "no character": "a\0b",
    "no UTF-8": "\udcff",
    "half a character": "\ud800",
    "long": "x" * 5000,
    "a formula": "=1+1",
    "brackets": "[(*",
    "folder": "folder",
    "nowhere": "nowhere/x.csv",
    "up": "../../x",
    "bytes": "binary.csv",
    "empty": "empty.csv",
    "answers": "answers.csv",
    "table": "table.csv",
    "brackets without end": "deep.json",
    "a journal": "journal.jsonl",
    "no device": "/dev/null",
    "this folder": ".",
}
GOOD_WORDS = {  # words of a call that works, or would serve
    "cluster": "answers.csv --columns i,j,k --method 3-al",
    "compare": "answers.csv --columns i,j,k --splits 1",
    "learn": "table.csv table.csv --out out.json",
    "ask": "items.txt --journal said.jsonl",
    "people": "answers.csv --columns i,j,k --respondent who --method 3-al",
    "pool": "journal.jsonl",
    "demo": "--out out.html",
    "data": "animals",
    "whatif planted": "--p 0.5 --n-pure 3 --repeat 1 --jobs 1",
    "whatif flat": "--p 0.5 --repeat 1 --jobs 1",
    "whatif adaptive": "--repeat 1 --jobs 1",
    "whatif link": "--repeat 1 --jobs 1",
    "plan": "--objects 6 --people 2 --minutes 1 --repeat 2 --jobs 1 --design triplets",
    "check": "T1 --errata",
    "classroom list": "",
    "classroom generate": "course --assignment few-triplets",
    "classroom grade": "class --assignment break-single-linkage",
    "classroom new": "my-own",
    "dashboard": "planted --no-browser",
    "serve": "plan --hands 1",
    "reproduce": "f19-fig2 --quick --jobs 1 --folder kept",
    "book build": "--out site --no-live",
    "book serve": "--folder book",
}


def lay_out(folder):
    "The files that the words speak of."
    head = "i,j,k,who\n"
    (folder / "answers.csv").write_text(head + "".join(",".join(row) + "\n" for row in ROWS))
    (folder / "table.csv").write_text(TABLE)
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "empty.csv").write_text("")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "items.txt").write_text("ant\nbee\ncat\ndog\n")
    (folder / "journal.jsonl").write_bytes((Path(__file__).parent / "journals" / "asking.jsonl").read_bytes())
    (folder / "folder").mkdir(exist_ok=True)
    (folder / "class").mkdir(exist_ok=True)
    (folder / "class" / "ada.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    (folder / "book").mkdir(exist_ok=True)
    (folder / "book" / "index.html").write_text("<p>")


DEEP = Path("deep", "down")  # where the attack works: a path that leads up stays in what is ours
KEPT = "answers.csv table.csv binary.csv empty.csv deep.json items.txt journal.jsonl book/index.html".split()


def parsers(parser=None, words=()):
    "Yields (words of a command, its parser)."
    parser = parser or make_parser()
    inner = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    for action in inner:
        for name, each in action.choices.items():
            yield from parsers(each, (*words, name))
    if not inner:
        yield " ".join(words), parser


def with_word(command, action, word):
    "The good call with a bad word in the place of one argument."
    words = GOOD_WORDS[command].split()
    if action.option_strings:
        option = action.option_strings[-1]
        if option in words:
            at = words.index(option)
            return [*command.split(), *words[: at + 1], word, *words[at + 2 :]]
        return [*command.split(), *words, f"{option}={word}"]
    first = [at for at, each in enumerate(words) if not each.startswith("-")]
    if first and first[0] == 0:
        words[0] = word
    else:
        words.insert(0, word)
    return [*command.split(), *words]


@contextlib.contextmanager
def hurried():
    "Ctrl-C after `PATIENCE`, and at once where something would be served until then."
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_, **__):
        raise KeyboardInterrupt

    def start(notebook, wanted, *_):
        server.free_port(wanted)
        raise KeyboardInterrupt

    numbers = (signal.SIGPROF, signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(each) for each in numbers]
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    serving = (server, "_start_server", start), (class_server._Serving, "prepare", stop)
    try:
        with contextlib.ExitStack() as stack:
            for place, name, instead in (*serving, (ThreadingHTTPServer, "serve_forever", stop)):
                stack.enter_context(patch.object(place, name, instead))
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for each, what in zip(numbers, before):
            signal.signal(each, what)


class Screen(io.StringIO):
    "What is written, and a file number for who asks."

    def fileno(self):
        raise io.UnsupportedOperation


def judged(words):
    "What is wrong with what a command did; None if nothing is."
    out, err, stdin = Screen(), Screen(), sys.stdin
    sys.stdin = io.StringIO("1\nzz\n\x1b\n")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with hurried():
                code = main(words)
    except BaseException as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
    finally:
        sys.stdin = stdin
    said, shown = err.getvalue(), out.getvalue()
    lines = [line for line in said.splitlines() if line.startswith("comparison-hc: ")]
    errors = [line for line in lines if not line.startswith(("comparison-hc: warning: ", "comparison-hc: making"))]
    if code not in (0, 1, 2, 130):
        return f"exit code {code}"
    if "Traceback" in said + shown:
        return f"a traceback {said[-200:]!r}"
    if code in (2, 130) and not errors:
        return f"exit code {code} without a word: {said[:200]!r}"
    if code == 2 and (len(errors) != 1 or len(errors[0]) > 800):
        return f"{len(errors)} lines: {said[:200]!r}"
    if visible_text(said + shown) != said + shown:
        return "characters that a terminal obeys"
    if re.search(r"(object at 0x|<class '|numpy\.|np\.|Errno -?\d+\] None)", "".join(errors)):
        return f"a message for programmers: {errors[0][:200]!r}"
    return None


def calls():
    "Yields (what, words): every option of every command with every bad word, and switches twice."
    for command, parser in parsers():
        yield command, command.split() + GOOD_WORDS[command].split()
        for action in parser._actions:
            if isinstance(action, argparse._HelpAction):
                continue
            name = action.option_strings[-1] if action.option_strings else action.dest.upper()
            if action.nargs == 0:
                yield f"{command} {name}", [*command.split(), *GOOD_WORDS[command].split(), name, name]
                continue
            for what, word in BAD_WORDS.items():
                yield f"{command} {name} = {what}", with_word(command, action, word)


def mixed_calls(n_calls, seed=0):
    "Yields (what, words): several options at once, some with words that are good for something."
    rng, known = random.Random(seed), list(parsers())
    for number in range(n_calls):
        command, parser = rng.choice(known)
        words = [*command.split(), *GOOD_WORDS[command].split()]
        options = [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]
        for action in rng.sample(options, min(len(options), rng.randint(2, 5))):
            choices = [*map(str, action.choices or ()), *BAD_WORDS.values(), "out.csv", "out.html", "2", "0.5"]
            option = action.option_strings[-1:]
            if action.nargs == 0:
                words += option
            else:
                words += [f"{option[0]}={rng.choice(choices)}"] if option else [rng.choice(choices)]
        yield f"mixed {number}", words


def clear_new(paths, there):
    "Take away what was not there: a file of one command would be refused by the next, which then shows nothing."
    for path in sorted(set(paths) - there):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)  # it went with its folder


def attack_words(found, failures, keep=lambda what: True, folder=Path(".")):
    "The number of commands tried; what is wrong goes to `failures`. What is new two folders up is taken away."
    if folder.resolve().parts[-2:] != DEEP.parts:
        raise ValueError(f"commands are attacked in a folder {DEEP} of their own, not in {folder.resolve()}")
    lay_out(folder)
    before = {name: (folder / name).read_bytes() for name in KEPT}
    top = folder.resolve().parents[1]  # where a path may lead that goes up
    there, n_tried = {*folder.rglob("*"), *top.glob("*")}, 0
    for what, words in found:
        if not keep(what):
            continue
        n_tried += 1
        wrong = judged(words)
        for name, content in before.items():
            if not (folder / name).exists() or (folder / name).read_bytes() != content:
                pairs = [f"{option} {word}" for option, word in zip(words, words[1:]) if word.endswith(name)]
                written = any(re.search("--[a-z-]*(out|journal)", pair) for pair in pairs)
                wrong = wrong or (None if written else f"{name} was changed")
                (folder / name).write_bytes(content)
        clear_new([*folder.rglob("*"), *top.glob("*")], there)
        if wrong:
            failures.append(f"{what}: {wrong} ({' '.join(words)[:200]!r})")
    return n_tried


def one_in(share):
    "Whether a call is in a part that is the same every time."
    return lambda what: share == 1 or zlib.crc32(what.encode()) % share == 0
