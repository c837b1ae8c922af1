"""One command attacks the package and prints: public names covered, inputs tried, failures (there should be none).

`python tests/attack.py [--inputs N] [--only NAME]` puts every bad value of `attack_table.py` in the place of every
argument and every bad word of `attack_commands.py` in the place of every option of every command, mixes N / 4
commands at random, then changes files of answers and journals at random, N of each. A good answer is a result, or
`InputError` of one line. Failures: any other exception, NumPy's warnings, more than `LIMIT` seconds, a changed
argument, a changed global random state, two readers that disagree, a traceback, a command that ends without a word.

`python tests/attack.py --atheris N` gives N inputs to each reader by atheris, which looks for those that reach new
lines of them; it is no dependency (`pip install atheris`).
"""

import argparse
import inspect
import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
import zlib
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from attack_commands import attack_words, calls, mixed_calls, one_in
from attack_table import BAD, FOLDER, GOOD, NOT_ATTACKED, OWN, SECONDS, InputError, targets

from comparison_hc.reproduce.engine import ExperimentError

HOUSE = ("argument", "progress", "step")  # a name for messages, and functions of the caller's
LIMIT = 60  # seconds, beside other work too
MOVING = ("a generator", "the old generator", "iterator", "broken iterator")  # what is used up by use


ALSO = {  # argument → words by which a message may name it, too
    "against": ["curve along"],  # pages call their settings as they stand beside the slider
    "answers": ["answer"],
    "build": ["method", "linkage_matrix"],  # what a builder is, or gives
    "chance": ["linkage_matrix"],
    "delta": ["δ"],
    "delta_over_sigma": ["δ/σ"],
    "epsilon": ["ε"],
    "folder": ["NAME must be a new one", "FOLDER must"],
    "frame": ["the table", "path"],
    "function": ["grid"],  # which does not fit it
    "loss": ["linkage_matrix"],
    "merges": ["alpha"],  # one a merge function
    "name": ["method"],
    "names": ["n_objects", "NAME"],
    "n_levels": ["levels must", "L must", "2^L"],
    "n_pure": ["N₀"],
    "oracle": ["answers", "linkage_matrix"],  # what it gives
    "path": ["the table", "line 1,", "key ", "--static", "notebook"],
    "paths": ["journal"],
    "queries": ["answers"],  # one a question
    "quadruplets": ["row "],  # of a file or a stream
    "triplets": ["row "],
    "size_or_p": ["number of", "p must"],
    "sizes": ["size"],
    "snr": ["δ/σ"],
    "source": ["path", "notebook"],
    "target": ["AARI"],
    "weight": ["columns"],
}


def names(said, argument):
    "Whether a message speaks of an argument."
    words = (argument, argument.replace("_", " "), *ALSO.get(argument, ()))
    return any(word.lower() in said.lower() for word in words)


class Late(BaseException):
    "It takes too long."


@contextmanager
def limited():
    "Raise `Late` inside after `LIMIT` seconds, where the system has clocks for that."
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(call, argument=None):
    "What is wrong with what came of a call; None if nothing is."
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            result = call()
            if inspect.isgenerator(result):
                next(result, None)
    except Late:
        return f"more than {LIMIT} seconds"
    except (InputError, OSError, ExperimentError) as error:
        said = str(error)
        if isinstance(error, InputError) and ("\n" in said or not 5 < len(said) < 800):
            return f"message {said[:60]!r}"
        if argument and isinstance(error, InputError) and not names(said, argument):
            return f"a message without the argument's name: {said[:90]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"
    return None


def refused(call):
    "What is said against a call that should be good; None if it works. It also compiles what is compiled."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
            if inspect.isgenerator(result):
                next(result, None)
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"
    return None


def print_of(value):
    "What changes when a value does; None for what cannot say."
    if isinstance(value, (pd.DataFrame, pd.Series, np.ma.MaskedArray)):
        return repr(value)  # both keep notes of what they were asked
    try:
        return zlib.crc32(pickle.dumps(value))
    except Exception:
        return None


def state():
    "Of the global generators."
    kind, keys, *rest = np.random.get_state()
    return zlib.crc32(keys.tobytes()), tuple(rest), hash(random.getstate())


def good_call(name, function):
    "({parameter: good value}, parameters to attack), or None where an argument has no good value yet."
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    own, good = OWN.get(name, {}), {}
    for p in named:
        if p.name in own:
            good[p.name] = own[p.name]
        elif p.default is p.empty:
            if p.name not in GOOD:
                return None
            good[p.name] = GOOD[p.name]
    return good, [p.name for p in named if not p.name.startswith("_") and p.name not in HOUSE]


def attack_names(share=1, only=None):
    "(numbers of names covered, left out and lacking a good call, of calls; failures as texts)."
    covered, lacking, n_calls, failures = 0, [], 0, []
    for name, function in targets().items():
        if name in NOT_ATTACKED or (only and only not in name):
            continue
        if not callable(function):
            lacking.append(f"{name}: no function")
            continue
        found = good_call(name, function)
        if found is None:
            lacking.append(f"{name}: an argument without a good value")
            continue
        good, attacked = found
        if wrong := refused(partial(function, **good)):
            lacking.append(f"{name}: its good call is refused: {wrong}")
            continue
        covered += 1
        for parameter in attacked:
            for what, value in BAD.items():
                if what in SECONDS.get(name, {}).get(parameter, ()):
                    continue
                if share > 1 and zlib.crc32(f"{name} {parameter} {what}".encode()) % share:
                    continue
                n_calls += 1
                before, random_before = print_of(value), state()
                wrong = outcome(partial(function, **{**good, parameter: value}), parameter)
                if what not in MOVING and print_of(value) != before:
                    wrong = wrong or "the argument was changed"
                if state() != random_before:
                    wrong = wrong or "the global random state was changed"
                if wrong:
                    failures.append(f"{name}({parameter} = {what}): {wrong}")
    return covered, lacking, n_calls, failures


# ---- files

TEXT = "i,j,k\na,b,c\nb,a,c\nc,a,b\na,c,b\n"
PIECES = [",", ";", "\t", '"', "'", "\n", "\r", "\r\n", "\0", "\ufeff", "a", "b", "c", "é", "  ", "\x1b[31m", "1e400"]


def broken_text(rng):
    "Bytes of a table that was cut, doubled and stirred."
    data = bytearray(TEXT.encode() * rng.randint(1, 3))
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            data[at:at] = rng.choice(PIECES).encode()
        elif kind == 1:
            del data[at : at + rng.randint(1, 8)]
        elif kind == 2:
            data[at:at] = bytes([rng.randrange(256)])
        else:
            data = data[:at] + data[: rng.randint(0, 12)] + data[at:]
    return bytes(data)


def kept_in(found, name, call):
    "Note how many answers a call gives."
    found[name] = len(call())


def attack_readers(n_inputs, seed=0):
    "Failures of both readers on changed files."
    from comparison_hc.comparisons import read_comparisons
    from comparison_hc.flat import adds_from_file

    def stream(**how):
        return range(adds_from_file(**how).n_comparisons)

    failures, path, rng = [], FOLDER / "fuzzed.csv", random.Random(seed)
    for number in range(n_inputs):
        path.write_bytes(broken_text(rng))
        how, found = dict(path=path, objects=list("abc"), header=True), {}
        for reader, call in (
            ("whole", partial(read_comparisons, **how)),
            ("stream", partial(stream, chunksize=4, **how)),
        ):
            wrong = outcome(partial(kept_in, found, reader, call))
            if wrong:
                failures.append(f"file {number}, {reader}: {wrong} {path.read_bytes()[:80]!r}")
    return failures


def attack_journals(n_inputs, seed=0):
    "Failures of what reads journals, on changed ones."
    from comparison_hc.elicitation.pool import pool_journals
    from comparison_hc.elicitation.session import Session
    from comparison_hc.reproduce.engine import RunJournal

    kept = {path.name: path.read_bytes() for path in sorted((Path(__file__).parent / "journals").glob("*.jsonl"))}
    readers = {
        "Session": lambda path: Session("animals", path, "Ada"),
        "pool_journals": lambda path: pool_journals([path]),
        "RunJournal": lambda path: RunJournal(path, dict(function="f", version=1, seed=0, paired=[])),
    }
    failures, rng, path = [], random.Random(seed), FOLDER / "fuzzed.jsonl"
    for number in range(n_inputs):
        data = bytearray(rng.choice(list(kept.values())))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data) + 1)
            if rng.random() < 0.4:
                del data[at : at + rng.choice([1, 5, 10**6])]
            else:
                data[at:at] = rng.choice([b"\n", b"[" * 5000, b"\0", b"\xff", b'"', b"}", b"9" * 400])
        for name, read in readers.items():
            path.write_bytes(bytes(data))
            wrong = outcome(partial(read, path))
            if wrong:
                failures.append(f"journal {number}, {name}: {wrong}")
    return failures


# ---- files that are chosen by what they reach

ATHERIS = """
import sys
import atheris

OURS = ["comparison_hc.core", "comparison_hc.comparisons", "comparison_hc.elicitation"]
with atheris.instrument_imports(include=OURS):
    sys.path.insert(0, sys.argv.pop(1))
    import attack

    try_one = attack.one_input(sys.argv.pop(1))
atheris.Setup(sys.argv, try_one)
atheris.Fuzz()
"""


def one_input(reader):
    "A function of bytes that fails where a reader (`READERS`) does not give a good answer to a file of them."
    from comparison_hc.comparisons import read_comparisons
    from comparison_hc.core.newick import read_newick
    from comparison_hc.elicitation.session import Session
    from comparison_hc.flat import adds_from_file

    how = dict(objects=list("abc"), header=True)
    path = FOLDER / ("fuzzed.jsonl" if reader == "journal" else "fuzzed.csv")
    calls = {
        "csv": [
            lambda found: kept_in(found, "whole", lambda: read_comparisons(path, **how)),
            lambda found: found.update(stream=adds_from_file(path, chunksize=4, **how).n_comparisons),
        ],
        "journal": [lambda found: Session("animals", path, "Ada")],
        "newick": [lambda found: read_newick(path.read_bytes().decode("utf-8", "replace"))],
    }[reader]

    def try_one(data):
        path.write_bytes(data)
        found = {}
        wrong = [said for call in calls if (said := outcome(partial(call, found)))]
        if wrong:
            raise AssertionError(f"{wrong}: {data[:200]!r}")

    return try_one


READERS = ("csv", "journal", "newick")


def attack_with_atheris(n_inputs):
    "(number of inputs, failures): each reader in a process of its own, as the engine ends the one in which it runs."
    failures, n_tried = [], 0
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}  # what is compiled cannot call what is watched
    for reader in READERS:
        seeds = FOLDER / f"seeds-{reader}"
        seeds.mkdir(exist_ok=True)
        first = {"csv": TEXT.encode(), "newick": b"((a:1,'b c'),d)e;"}.get(reader)
        (seeds / "first").write_bytes(first or (Path(__file__).parent / "journals" / "asking.jsonl").read_bytes())
        words = [sys.executable, "-c", ATHERIS, str(Path(__file__).parent), reader, f"-runs={n_inputs}", str(seeds)]
        done = subprocess.run(words, cwd=FOLDER, env=env, capture_output=True, encoding="utf-8", errors="replace")
        counted = re.findall(r"^(?:Done (\d+) runs|#(\d+)\b)", done.stderr, re.M)
        n_tried += max((int(one or other) for one, other in counted), default=0)
        if done.returncode or not counted:
            failures.append(f"atheris, {reader}: {(done.stdout + done.stderr)[-600:]}")
    return n_tried, failures


# ---- faults

START = "import sys; from comparison_hc.__main__ import main; sys.exit(main())"
SWEEP = ["reproduce", "f19-fig2", "--quick", "--jobs", "1", "--folder", "sweep"]
WHAT_IF = ["whatif", "planted", "--p", "0.01,0.1", "--repeat", "8", "--jobs", "2"]
GRADE = ["classroom", "grade", "class", "--assignment", "break-single-linkage"]
LONG = {  # commands that run for seconds, and the file that they must leave whole or not at all
    "a sweep": (SWEEP, "sweep/f19-fig2-quick.csv"),
    "a page": (["demo", "--out", "demo.html"], "demo.html"),
    "a session": (["ask", "--journal", "asked.jsonl", "--out", "asked.nwk"], "asked.nwk"),
    "what if": ([*WHAT_IF, "--journal", "runs.jsonl", "--out", "runs.csv"], "runs.csv"),
    "a class graded": (GRADE, "class/break-single-linkage.csv"),
    "the book's site": (["book", "build", "--out", "books/site"], "books/site/index.html"),
}
SMALL_DISK = {  # commands that write into a folder which has no room left
    "a sweep": ([*SWEEP[:-1], "small"], "small/f19-fig2-quick.csv"),
    "a page": (["demo", "--out", "small/demo.html"], "small/demo.html"),
    "a session": (["ask", "--journal", "small/asked.jsonl", "--out", "small/asked.nwk"], "small/asked.nwk"),
    "what if": ([*WHAT_IF, "--journal", "small/runs.jsonl", "--out", "small/runs.csv"], "small/runs.csv"),
}
CONTINUED = ("what if", "a class graded")  # run again after a fault, they end with the same bytes
STREAM = """
import sys, time
from comparison_hc.flat import adds_from_file
slow = lambda *_: time.sleep(0.02)
found = adds_from_file("long.csv", n_objects=9, checkpoint="long.npz", every=1, chunksize=700, progress=slow)
print(found.n_comparisons, hash(found.similarity().tobytes()) if found.n_comparisons else 0)
"""


def started(words, **how):
    "A process of its own, in its own group."
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **how)


def full_disk():
    "In a new process: no file may grow over 2 kilobytes, which is how a full disk looks from inside."
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


def read_only_words():
    "Words before a command after which it may write only where its user may; None if there are none."
    if os.geteuid():
        return []
    words = ["setpriv", "--bounding-set=-dac_override"]
    return words if shutil.which("setpriv") else None


READ_ONLY = read_only_words() if os.name == "posix" else None


def hand_in(folder):
    "Three submissions of an assignment: right, empty, and half right."
    from comparison_hc.classroom.source import find_source, read_notebook, student_version

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    source = read_notebook(find_source("break-single-linkage"))
    empty = student_version(json.loads(json.dumps(source)))
    half = {**source, "cells": source["cells"][: len(source["cells"]) // 2]}
    for name, notebook in dict(ada=source, bob=empty, eve=half).items():
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def clear_away(path):
    "What a command has left, its journals too."
    for pattern in (path, "*.grades.jsonl", "class/*.jsonl", "runs.jsonl"):
        for each in FOLDER.glob(pattern):
            each.unlink()
    shutil.rmtree(FOLDER / "books", ignore_errors=True)


@contextmanager
def small_disk():
    "A folder `small` on a disk of its own, of 64 kilobytes: gives its path, or None where nobody may mount one."
    place = FOLDER / "small"
    place.mkdir(exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    mounted = shutil.which("mount") and subprocess.run(words, capture_output=True).returncode == 0
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], capture_output=True)


def attack_small_disk(env):
    "(number of faults, failures): a disk that is really full, and the same command after room was made."
    n_faults, failures = 0, []
    for name, (words, path) in SMALL_DISK.items():
        for left in (0, 4096):  # bytes
            with small_disk() as place:
                if place is None:
                    return n_faults, failures
                free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
                (place / "filler").write_bytes(bytes(free - left))
                process = started([sys.executable, "-c", START, *words], cwd=FOLDER, env=env, stdin=subprocess.PIPE)
                said = said_by(process, b"1\n2\n3\n" * 40 if "ask" in words else None)
                n_faults += 1
                if said is None or b"Traceback" in said or process.returncode == 0:
                    failures.append(
                        f"{name}, no space ({left}): {process.returncode}, {(said or b'too long')[-300:]!r}"
                    )
                if (FOLDER / path).exists():
                    failures.append(f"{name}, no space ({left}): a file that cannot be whole")
                (place / "filler").unlink()
                if name != "a session" and not (run_whole(words, path, env) if path.endswith(".csv") else True):
                    failures.append(f"{name}, no space ({left}): nothing comes when there is room again")
    return n_faults, failures


def said_by(process, typed=None):
    "What a process says on its error stream; None if it takes too long, and is ended with all that it started."
    try:
        return process.communicate(typed, timeout=LONGEST)[1] or b""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None


LONGEST = 1200  # seconds of a command of the table; the book's build takes 250 on a machine with nothing else to do


def run_whole(words, path, env):
    "A command's table but for its seconds, from a run that nobody disturbs; what an earlier one left is continued."
    said_by(started([sys.executable, "-c", START, *words], cwd=FOLDER, env=env, stdin=subprocess.DEVNULL))
    if not (FOLDER / path).exists():
        return ""
    return pd.read_csv(FOLDER / path, dtype=str).drop(columns="seconds", errors="ignore").to_csv(index=False)


def attack_with_faults(times=3, seed=0):
    "(number of faults, failures): kills, Ctrl-C, closed outputs and full disks under what runs for long."
    if os.name != "posix":
        return 0, []
    n_faults, failures, rng = 0, [], random.Random(seed)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": "0"}
    draw = random.Random(seed)
    rows = "".join("{},{},{}\n".format(*draw.sample(range(9), 3)) for _ in range(30_000))
    (FOLDER / "long.csv").write_text(rows)
    whole = subprocess.run([sys.executable, "-c", STREAM], cwd=FOLDER, env=env, capture_output=True).stdout
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        for _ in range(times):
            (FOLDER / "long.npz").unlink(missing_ok=True)
            process = started([sys.executable, "-c", STREAM], cwd=FOLDER, env=env)
            time.sleep(rng.uniform(0.2, 2.5))
            process.send_signal(number)
            process.communicate(timeout=60)
            again = subprocess.run([sys.executable, "-c", STREAM], cwd=FOLDER, env=env, capture_output=True)
            n_faults += 1
            if again.stdout != whole or not whole:
                failures.append(f"a stream after {number.name}: {again.stdout!r} instead of {whole!r}")
    hand_in(FOLDER / "class")
    for name, (words, path) in LONG.items():
        undisturbed = run_whole(words, path, env) if name in CONTINUED else None
        top = FOLDER / Path(path).parts[0] if len(Path(path).parts) > 1 else FOLDER
        for fault in ("SIGKILL", "SIGINT", "SIGTERM", "closed output", "full disk", "read-only folder"):
            clear_away(path)
            how = dict(preexec_fn=full_disk) if fault == "full disk" else {}
            locked = READ_ONLY if fault == "read-only folder" else []
            if locked is None:
                continue  # nothing here takes away the rights of the one who may do all
            if fault == "read-only folder":
                top.mkdir(exist_ok=True)
                how = dict(preexec_fn=partial(os.chmod, top, 0o555))
            words_here = [*locked, sys.executable, "-c", START, *words]
            process = started(words_here, cwd=FOLDER, env=env, stdin=subprocess.PIPE, **how)
            if fault == "closed output":
                process.stdout.close()
                process.stdout = None
            elif fault.startswith("SIG"):
                time.sleep(rng.uniform(0.5, 3))
                os.killpg(process.pid, getattr(signal, fault))
            said = said_by(process, b"1\n2\n3\n" * 40 if "ask" in words else None)
            if said is None:
                failures.append(f"{name}, {fault}: takes more than {LONGEST} s")
                said = b""
            if top.exists():
                os.chmod(top, 0o755)
            n_faults += 1
            if fault == "read-only folder" and (process.returncode == 0 or (FOLDER / path).exists()):
                failures.append(f"{name}, {fault}: done, where nothing can be written")
            if b"Traceback" in said and fault != "SIGTERM":
                failures.append(f"{name}, {fault}: {said[-300:].decode(errors='replace')!r}")
            left = [each.name for each in FOLDER.rglob(f".{Path(path).name}.*")]
            left += [each.name for each in FOLDER.rglob(".book-*")]
            for each in FOLDER.rglob(".book-*"):
                shutil.rmtree(each)
            if left and fault not in ("SIGKILL", "SIGTERM"):
                failures.append(f"{name}, {fault}: drafts stayed behind: {left}")
            if (FOLDER / path).exists() and fault == "full disk" and (FOLDER / path).stat().st_size >= 2048:
                failures.append(f"{name}, {fault}: a file that is not whole")
            if undisturbed is not None and (not undisturbed or run_whole(words, path, env) != undisturbed):
                failures.append(f"{name}, {fault}: run again, it ends with another table")
    n_more, more = attack_small_disk(env)
    return n_faults + n_more, failures + more


def tell(done, failures):
    "What has been done so far, while the rest runs."
    print(f"{done}; failures so far: {len(failures)}", *failures, sep="\n  ", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=2000, metavar="N", help="changed files and journals, each")
    parser.add_argument("--faults", action="store_true", help="only faults")
    parser.add_argument("--commands", action="store_true", help="only commands")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="of calls and commands only one in N")
    parser.add_argument("--atheris", type=int, metavar="N", help="only atheris, with N inputs for each reader")
    parser.add_argument("--only", metavar="TEXT", help="only names with this text")
    args = parser.parse_args()
    os.chdir(FOLDER)
    covered = n_calls = n_commands = files = journals = n_faults = n_atheris = 0
    lacking, failures = [], []
    whole = not (args.faults or args.commands or args.atheris)
    if whole:
        covered, lacking, n_calls, failures = attack_names(args.share, args.only)
        tell(f"{n_calls:,} calls", failures)
    if args.commands or (whole and args.only is None):
        n_commands = attack_words(calls(), failures, one_in(args.share))
        n_commands += attack_words(mixed_calls(args.inputs // 4), failures)
        tell(f"{n_commands:,} commands", failures)
    if whole and args.only is None:
        failures += attack_readers(args.inputs) + attack_journals(args.inputs // 4)
        files, journals = 2 * args.inputs, 3 * (args.inputs // 4)
        tell(f"{files:,} files, {journals:,} journals", failures)
    if args.faults or (whole and args.only is None):
        n_faults, found = attack_with_faults()
        failures += found
    if args.atheris:
        n_atheris, found = attack_with_atheris(args.atheris)
        failures += found
    for failure in failures:
        print(failure)
    for line in lacking:
        print(f"not covered: {line}")
    print(f"public names covered: {covered}; left out with a reason: {len(NOT_ATTACKED)}; lacking: {len(lacking)}")
    print(f"inputs tried: {n_calls:,} calls, {files:,} readings of changed files, {journals:,} of changed journals")
    print(f"commands tried: {n_commands:,}; inputs of atheris: {n_atheris:,}")
    kinds = "SIGKILL, Ctrl-C, SIGTERM, a closed output, a limit of size, a disk of 64 KB, a read-only folder"
    print(f"faults injected: {n_faults} ({kinds})")
    print(f"failures: {len(failures)} {dict(Counter(f.partition('(')[0].partition(' ')[0] for f in failures))}")
    return bool(failures or lacking)


if __name__ == "__main__":
    sys.exit(main())
