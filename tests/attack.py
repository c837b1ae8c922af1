"""One command attacks the package and prints: public names covered, inputs tried, failures (there should be none).

`python tests/attack.py [--inputs N] [--only NAME]` puts every bad value of `attack_table.py` in the place of every
argument, then changes files of answers and journals at random, N of each. A good answer is a result, or `InputError`
of one line. Failures: any other exception, NumPy's warnings, more than `LIMIT` seconds, a changed argument, a changed
global random state, two readers that disagree.
"""

import argparse
import inspect
import os
import pickle
import random
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
from attack_table import BAD, FOLDER, GOOD, NOT_ATTACKED, OWN, InputError, targets

from comparison_hc.reproduce.engine import ExperimentError

HOUSE = ("argument", "progress")  # a name for messages, and a function of the caller's
LIMIT = 20  # seconds
MOVING = ("a generator", "the old generator", "iterator", "broken iterator")  # what is used up by use


ALSO = {}  # argument → words by which a message may name it, too


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


def outcome(
    call,
    argument=None,  # that is attacked: a refusal has to say its name, or one of `ALSO`
):
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
        covered += 1
        good, attacked = found
        for parameter in attacked:
            for what, value in BAD.items():
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
    "Failures of both readers on changed files; they must also say the same."
    from comparison_hc.comparisons import read_comparisons
    from comparison_hc.flat.streams import adds_from_file

    def stream(**how):
        return range(adds_from_file(**how).n_comparisons)

    failures, path, rng = [], FOLDER / "fuzzed.csv", random.Random(seed)
    for number in range(n_inputs):
        path.write_bytes(broken_text(rng))
        how, found = dict(path=path, objects=list("abc"), header=True), {}
        for reader, call in (("whole", partial(read_comparisons, **how)), ("stream", partial(stream, batch=64, **how))):
            wrong = outcome(partial(kept_in, found, reader, call))
            if wrong:
                failures.append(f"file {number}, {reader}: {wrong} {path.read_bytes()[:80]!r}")
        if found.get("whole", 0) != found.get("stream", 0):
            failures.append(f"file {number}: {found} {path.read_bytes()[:80]!r}")
    return failures


def attack_journals(n_inputs, seed=0):
    "Failures of what reads journals, on changed ones."
    from comparison_hc.people.pool import pool_journals
    from comparison_hc.people.session import Session
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


# ---- faults

START = "import sys; from comparison_hc.__main__ import main; sys.exit(main())"
SWEEP = ["reproduce", "f19-fig2", "--quick", "--jobs", "1", "--folder", "sweep"]
LONG = {  # commands that run for seconds, and the file that they must leave whole or not at all
    "a sweep": (SWEEP, "sweep/f19-fig2-quick.csv"),
    "a page": (["demo", "--out", "demo.html"], "demo.html"),
    "a session": (["ask", "--journal", "asked.jsonl", "--out", "asked.nwk"], "asked.nwk"),
}
STREAM = """
import sys, time
from comparison_hc.flat.streams import adds_from_file
slow = lambda *_: time.sleep(0.02)
found = adds_from_file("long.csv", n_objects=9, checkpoint="long.npz", every=1, batch=1 << 12, progress=slow)
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
    for name, (words, path) in LONG.items():
        for fault in ("SIGKILL", "SIGINT", "SIGTERM", "closed output", "full disk"):
            (FOLDER / path).unlink(missing_ok=True)
            how = dict(preexec_fn=full_disk) if fault == "full disk" else {}
            process = started([sys.executable, "-c", START, *words], cwd=FOLDER, env=env, stdin=subprocess.PIPE, **how)
            if fault == "closed output":
                process.stdout.close()
                process.stdout = None
            elif fault.startswith("SIG"):
                time.sleep(rng.uniform(0.5, 3))
                os.killpg(process.pid, getattr(signal, fault))
            said = process.communicate(b"1\n2\n3\n" * 40 if "ask" in words else None, timeout=120)[1] or b""
            n_faults += 1
            if b"Traceback" in said and fault != "SIGTERM":
                failures.append(f"{name}, {fault}: {said[-300:].decode(errors='replace')!r}")
            left = [each.name for each in FOLDER.rglob(f".{Path(path).name}.*")]
            if left and fault not in ("SIGKILL", "SIGTERM"):
                failures.append(f"{name}, {fault}: drafts stayed behind: {left}")
            if (FOLDER / path).exists() and fault == "full disk" and (FOLDER / path).stat().st_size >= 2048:
                failures.append(f"{name}, {fault}: a file that is not whole")
    return n_faults, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=2000, metavar="N", help="changed files and journals, each")
    parser.add_argument("--only", metavar="TEXT", help="only names with this text")
    args = parser.parse_args()
    os.chdir(FOLDER)
    covered, lacking, n_calls, failures = attack_names(only=args.only)
    files = journals = n_faults = 0
    if args.only is None:
        failures += attack_readers(args.inputs) + attack_journals(args.inputs // 4)
        n_faults, found = attack_with_faults()
        failures += found
        files, journals = 2 * args.inputs, 3 * (args.inputs // 4)
    for failure in failures:
        print(failure)
    for line in lacking:
        print(f"not covered: {line}")
    print(f"public names covered: {covered}; left out with a reason: {len(NOT_ATTACKED)}; lacking: {len(lacking)}")
    print(f"inputs tried: {n_calls:,} calls, {files:,} readings of changed files, {journals:,} of changed journals")
    print(f"faults injected: {n_faults} (SIGKILL, Ctrl-C, SIGTERM, a closed output, a full disk)")
    print(f"failures: {len(failures)} {dict(Counter(f.partition('(')[0].partition(' ')[0] for f in failures))}")
    return bool(failures or lacking)


if __name__ == "__main__":
    sys.exit(main())
