"""A file of millions of odd-one-out answers, and what commands take for it: `python tests/benchmarks/odd_one_out.py`.

By default 1,854 objects and 4.7 million answers, as in the largest public set of its kind; they are simulated from
points in groups, with Gumbel noise. Prints wall and CPU seconds and the peak of memory of each command, of which WORDS
select some. Nothing is asserted.
"""

import argparse
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

COMMANDS = {
    "tree": "cluster FILE --out FOLDER/tree.html",
    "clusters": "cluster FILE --clusters 20 --out FOLDER/clusters.html",
    "flat": "cluster FILE --method adds --clusters 20 --out FOLDER/flat.html",
    "compare": "compare FILE",
}


def write_answers(path, n_objects, n_answers, rng):
    "Names of three objects and of the odd one out, one answer per row."
    top = 2 * rng.normal(size=(8, 12))
    middle = top[rng.integers(8, size=54)] + rng.normal(size=(54, 12))
    points = middle[rng.integers(54, size=n_objects)] + 0.6 * rng.normal(size=(n_objects, 12))
    shown = rng.integers(n_objects, size=(int(1.02 * n_answers) + 100, 3))
    shown = shown[(shown[:, [0, 0, 1]] != shown[:, [1, 2, 2]]).all(axis=1)][:n_answers]
    pairs = [((points[shown[:, x]] - points[shown[:, y]]) ** 2).sum(axis=1) for x, y in ((1, 2), (0, 2), (0, 1))]
    odd = (rng.gumbel(size=shown.shape) - 0.35 * np.stack(pairs, axis=1)).argmax(axis=1)
    names = np.array([f"object{i:04d}" for i in range(n_objects)])
    columns = dict(zip("abc", names[shown].T), odd=names[shown[np.arange(len(shown)), odd]])
    pd.DataFrame(columns).to_csv(path, index=False)


def measure(words):
    "(wall seconds, CPU seconds, GiB at most) of a command."
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "comparison_hc", *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu, after.ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def main():
    "Read the words, write the file, run the commands."
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", choices=[*COMMANDS, []], metavar="WORDS", help=", ".join(COMMANDS))
    parser.add_argument("--objects", type=int, default=1854)
    parser.add_argument("--answers", type=int, default=4_700_000)
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # whose memory is not that of the commands
            pool.submit(write_answers, path, args.objects, args.answers, np.random.default_rng(0)).result()
        print(f"{args.objects:,} objects, {args.answers:,} answers, {path.stat().st_size / 2**20:.0f} MiB")
        for name in args.words or COMMANDS:
            words = COMMANDS[name].replace("FILE", str(path)).replace("FOLDER", folder).split()
            wall, cpu, peak = measure([*words, "--kind", "odd-one-out"])
            print(f"{name:<10}{wall:8.1f} s{cpu:8.1f} s of CPU{peak:7.2f} GiB at most so far", flush=True)


if __name__ == "__main__":
    main()
