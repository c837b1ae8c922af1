"""Time and memory of every method against objects and answers: `python tests/benchmarks/scale.py [WORDS]`.

Writes `nbs/evaluation/results/scale.csv`, which the page on large studies draws; with WORDS, only methods whose names
contain all of them are measured anew. Each run has a process of its own. CPU seconds after import and after the data
are there; memory is the process's peak less what it held before the method began.
`--parts M` measures a study of M answers in Parquet files on a Dask cluster of this machine (`--workers`), and writes
`scale-parts.csv` beside it. Nothing is asserted.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from run import THREADS, one_sentence, paths, people_like, planted_adds3, random_triplets

RESULTS = Path(__file__).parents[2] / "nbs" / "evaluation" / "results"
METHODS = {}  # name → (function of (N, m) that gives the call to measure, [(N, m), …])


def method(name, *sizes):
    "Register a function of the number of objects and answers (0 where the method asks)."

    def register(prepare):
        METHODS[name] = prepare, sizes
        return prepare

    return register


def tree_answers(kind, n, m):
    "Answers about a planted hierarchy, a tenth of them wrong."
    from comparison_hc import oracles
    from comparison_hc.hierarchical import planted_hierarchy

    similarity = planted_hierarchy(n // 8, 3, 0.8, 0.1, 0.1, rng=0).similarity
    return getattr(oracles, f"sample_{kind}")(similarity, m, rng=1).flip(0.1, 2)


def tree_method(name, kind):
    "A hierarchy from answers that are given."

    def prepare(n, m):
        from comparison_hc.methods import build_hierarchy

        answers, few = tree_answers(kind, n, m), tree_answers(kind, 16, 200)
        build_hierarchy(name, few)
        if m >= 2_000_000:
            build_hierarchy(name, answers.take(range(2_000_000)))  # loads what is compiled
        return lambda: build_hierarchy(name, answers)

    return prepare


MILLION = 1_000_000
MANY = [(240, 10 * MILLION), (240, 100 * MILLION)]
for name, kind, sizes in (
    ("4-al", "quadruplets", [(64, MILLION), (120, MILLION), (240, MILLION), (480, MILLION), *MANY]),
    ("4k-al", "quadruplets", [(64, MILLION), (120, MILLION), (240, MILLION), (480, MILLION), *MANY]),
    ("3-al", "triplets", [(120, 100_000), (240, 100_000), (240, MILLION), (480, MILLION)]),
    ("3k-al", "triplets", [(120, 100_000), (240, 100_000), (240, MILLION), (480, MILLION)]),
):
    method(name, (240, 100_000), *[size for size in sizes if size != (240, 100_000)])(tree_method(name, kind))


@method(
    "adds", (1000, MILLION), (1000, 10 * MILLION), (4000, 10 * MILLION), (10_000, 10 * MILLION), (20_000, 10 * MILLION)
)
def adds(n, m):
    "The similarity alone."
    from comparison_hc.flat import adds3

    rows = random_triplets(m, n)
    adds3(rows[:1000], n)
    return lambda: adds3(rows, n)


@method("mulk-3", (300, MILLION), (1000, MILLION), (1000, 10 * MILLION), (3000, 10 * MILLION))
def mulk_3(n, m):
    "The similarity alone, of triplets."
    from comparison_hc.flat import mulk3

    rows = random_triplets(m, n)
    mulk3(rows[:1000], n)
    return lambda: mulk3(rows, n)


@method("mulk-4", (120, MILLION), (240, MILLION), (480, MILLION), (240, 10 * MILLION))
def mulk_4(n, m):
    "The similarity alone, of quadruplets."
    from comparison_hc.flat import mulk4

    answers, few = tree_answers("quadruplets", n, m), tree_answers("quadruplets", 16, 200)
    mulk4(few)
    return lambda: mulk4(answers)


@method("spur, no proof", (100, 20_000), (250, 42_000), (250, 250_000), (500, 150_000), (1000, 330_000))
def searched(n, m):
    "The number of clusters and the clusters, where no certificate helps: every answer is somebody's opinion."
    from comparison_hc.flat.spur_search import spur

    S = people_like(n, m)
    spur(people_like(20, 300), 300)
    return lambda: spur(S, m)


@method("sdp-k, certified", (500, 0), (1000, 0), (2000, 0), (4000, 0))
def certified(n, m):
    "Clusters with a proof, from the similarity."
    from comparison_hc.flat import sdp_k

    S, _ = planted_adds3(n, 4.25)
    sdp_k(S[:40, :40], 2)
    return lambda: sdp_k(S, 4)


@method("refinement", (64, 12_000), (64, 100_000), (120, 100_000), (240, 100_000), (480, 300_000))
def refinement(n, m):
    "Moves from the tree of 4–AL."
    from comparison_hc.hierarchical import quadruplet_average_linkage
    from comparison_hc.hierarchical.refinement import refine

    answers, few = tree_answers("triplets", n, m), tree_answers("triplets", 16, 200)
    start = quadruplet_average_linkage(answers)
    refine(quadruplet_average_linkage(few), few)
    return lambda: refine(start, answers)


@method("bootstrap, 100 trees", (64, 12_000), (64, 100_000), (120, 100_000), (240, 100_000))
def bootstrap(n, m):
    "Support of the tree of 4–AL by a hundred trees of resampled answers, in this process."
    from comparison_hc.evaluation.bootstrap import bootstrap_support
    from comparison_hc.hierarchical import quadruplet_average_linkage

    answers, few = tree_answers("triplets", n, m), tree_answers("triplets", 16, 200)
    tree = quadruplet_average_linkage(answers)
    bootstrap_support(quadruplet_average_linkage(few), few, "4-al", n_resamples=2)
    return lambda: bootstrap_support(tree, answers, "4-al", n_resamples=100)


@method("link learning, 1 task", (100, 0), (200, 0), (400, 0), (800, 0))
def link_learning(n, m):
    "The exact loss of every mixture of single and complete linkage on one task of n objects."
    import numpy as np
    from scipy.spatial.distance import pdist, squareform

    from comparison_hc.link import piecewise_loss, rings_and_disks

    def distances(n, seed):
        points, labels = rings_and_disks(n, np.random.default_rng(seed))
        return squareform(pdist(points)), labels

    piecewise_loss(*distances(16, 0))
    task = distances(n, 1)
    return lambda: piecewise_loss(*task)


@method("FORTE", (64, 12_000), (64, 50_000), (120, 50_000), (240, 50_000))
def forte_points(n, m):
    "Points, the other rival."
    from comparison_hc.evaluation.embedding import forte

    answers = tree_answers("triplets", n, m)
    return lambda: forte(answers, rng=0)


@method("t-STE", (64, 12_000), (64, 50_000), (120, 50_000), (240, 50_000))
def t_ste(n, m):
    "Points, the rival."
    from comparison_hc.evaluation.embedding import t_ste

    answers = tree_answers("triplets", n, m)
    return lambda: t_ste(answers, rng=0)


def asking(name, room, right=None, **options):
    "A method that asks, with the simulated oracle; `right` is how often an answer is."

    def prepare(n, m):
        import importlib

        from comparison_hc.adaptive import random_hierarchy
        from comparison_hc.hierarchical import planted_hierarchy
        from comparison_hc.oracles import Counting, HierarchyOracle, Noisy, SimilarityOracle, run

        if room == "hierarchical":
            oracle = SimilarityOracle(planted_hierarchy(n // 8, 3, 0.8, 0.1, 0.1, rng=0).similarity)
        else:
            oracle = HierarchyOracle(random_hierarchy(n, "uniform", 0))
        if right:
            oracle = Noisy(oracle, right, rng=1)
        questions = getattr(importlib.import_module(f"comparison_hc.{room}"), name)

        def call():
            counted = Counting(oracle)
            run(
                questions(n, **{word: value(n) if callable(value) else value for word, value in options.items()}),
                counted,
            )
            return counted.n_queries

        return call

    return prepare


method("single linkage", (120, 0), (240, 0), (480, 0), (960, 0))(asking("single_linkage", "hierarchical"))
method("complete linkage", (120, 0), (240, 0), (480, 0), (960, 0))(asking("complete_linkage", "hierarchical"))
method("4k-al, active", (120, 0), (240, 0), (480, 0), (960, 0))(
    asking("kernel_active", "hierarchical", rng=0, n_comparisons=lambda n: round(10 * n * math.log2(n)))
)
method("insertion", (1000, 0), (3000, 0), (10_000, 0))(asking("insertion_clustering", "adaptive"))
method("quick", (1000, 0), (3000, 0), (10_000, 0), (30_000, 0), (100_000, 0))(
    asking("quick_clustering", "adaptive", rng=0)
)
method("insertion, 20% wrong", (100, 0), (300, 0), (1000, 0), (3000, 0))(
    asking("robust_insertion_clustering", "adaptive", right=0.8, p_correct=0.8, delta=0.05)
)


def peak():
    "The most bytes that this process has held."
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def held():
    "Bytes that this process holds now, where that can be read; else the most it has held."
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak()


def measure(name, n, m):
    "One run, as JSON on the screen."
    call = METHODS[name][0](n, m)
    before, start, most = held(), time.process_time(), peak()
    found = call()
    cpu, above = time.process_time() - start, peak()
    asked = found if isinstance(found, int) else 0
    # the peak before the method may hide its own: then only an upper limit is known
    row = dict(method=name, objects=n, answers=m or asked, seconds=round(cpu, 4))
    print(json.dumps({**row, "gib": round((above - before) / 2**30, 4), "hidden": above == most}))


def sweep(words):
    "Measure, and write the table anew after every run."
    import pandas as pd

    path = RESULTS / "scale.csv"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["method"])
    chosen = [name for name in METHODS if all(word.lower() in name.lower() for word in words)]
    rows = table[~table.method.isin(chosen)].to_dict("records")
    environment = {**paths(), **dict.fromkeys(THREADS, "1")}
    for name in chosen:
        for n, m in METHODS[name][1]:
            words = [sys.executable, __file__, "--measure", name, str(n), str(m)]
            done = subprocess.run(words, capture_output=True, text=True, env=environment)
            if done.returncode:
                print(f"{name}, {n:,} objects, {m:,} answers failed: {one_sentence(done.stderr)}", flush=True)
                continue
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(*rows[-1].values(), flush=True)
            pd.DataFrame(rows).to_csv(path, index=False)


def write_part(path, n, m, seed):
    "A Parquet file of m triplets about n objects."
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    i = rng.integers(n, size=m)
    a, b = rng.integers(1, n, size=m), rng.integers(1, n - 1, size=m)
    b += b >= a
    pd.DataFrame({"i": i, "j": (i + a) % n, "k": (i + b) % n}).astype("int32").to_parquet(path)


def sums_of(path, make):
    "The sums, or counts, of one file, a batch at a time."
    from pyarrow.parquet import ParquetFile

    stream = make()
    for batch in ParquetFile(path, pre_buffer=False).iter_batches(1 << 20):
        stream.partial_fit(batch.to_pandas())
    return stream


def parts(m, n_workers, n=100, each=5_000_000):
    "AddS and counts of m answers in Parquet files on a Dask cluster: time, and memory of the fullest worker."
    import tempfile
    from functools import partial

    import pandas as pd
    from distributed import Client, LocalCluster, as_completed

    from comparison_hc import ComparisonCounts
    from comparison_hc.flat import AddS

    def cluster():
        return Client(LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None))

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{part:05}.parquet" for part in range(-(-m // each))]
        with cluster() as client:
            client.gather(client.map(partial(write_part, n=n, m=each), files, seed=range(len(files))))
        for name, make in (("adds", partial(AddS, n)), ("votes", partial(ComparisonCounts, n))):
            with cluster() as client:
                start = time.perf_counter()
                cpu_before = sum(client.run(time.process_time).values())
                found = make()
                for part in as_completed(client.map(sums_of, files, make=make)):
                    found.merge(part.result())
                row = dict(what=name, objects=n, answers=len(files) * each, files=len(files), workers=n_workers)
                row["seconds"] = round(time.perf_counter() - start, 2)
                row["cpu"] = round(sum(client.run(time.process_time).values()) - cpu_before, 2)
                peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
                row["gib"] = round(max(peaks.values()) / 2**20, 3)
                row["distinct"] = len(found.quadruplets()) if name == "votes" else 0
                rows.append(row)
                print(*row.values(), flush=True)
    pd.DataFrame(rows).to_csv(RESULTS / "scale-parts.csv", index=False)


def main():
    "Read the words."
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--parts", type=int, metavar="M")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    parts(args.parts, args.workers) if args.parts else sweep(args.words)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        main()
