"""One command, one table: where are results the same to the last bit, and where to nine digits?

`python tests/benchmarks/same_bits.py [--python PATH ...] [--jobs 1 2] [--threads 1 2] [--pyodide FOLDER]` runs the main
path of each paper and of practice in a process for each: numbers of workers, threads of linear algebra, other places
and languages, and each Python given, with whatever it has installed (its own dependencies; the package is this
one). The first column is this Python with one worker and one thread; the others are counted against it.
`=` the same bits, `≈` the same when rounded to nine digits, `x` another result. Exit code 1 if there is an `x`.
"""

import argparse
import hashlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def both(*values):
    "[digest of the bits, digest of what is rounded to nine digits]; integers count as 64 bits."
    import numpy as np

    found = [hashlib.sha256(), hashlib.sha256()]
    for value in values:
        array = np.asarray(value)
        whole = array.dtype.kind in "biu"
        for digest, rounded in zip(found, (False, True)):
            plain = array.astype(np.int64) if whole else array.astype(float) + 0.0
            plain = np.round(plain, 9) + 0.0 if rounded and not whole else plain
            digest.update(f"{plain.dtype.str}{plain.shape}".encode() + np.ascontiguousarray(plain).tobytes())
    return [digest.hexdigest()[:16] for digest in found]


def practice(n_jobs):
    "Refinement, embeddings, support of branches, and a sweep: yields (name, digests)."
    import numpy as np

    from comparison_hc.hierarchical import quadruplet_average_linkage
    from comparison_hc.hierarchical.planted import planted_hierarchy
    from comparison_hc.hierarchical.refinement import refine
    from comparison_hc.methods import build_hierarchy
    from comparison_hc.oracles import sample_triplets
    from comparison_hc.practice.baselines import forte, t_ste
    from comparison_hc.practice.support import bootstrap_support
    from comparison_hc.whatif import whatif

    model = planted_hierarchy(5, 2, 0.8, 0.2, 0.1, rng=3)
    answers = sample_triplets(model.similarity, 1500, rng=4)
    tree = quadruplet_average_linkage(answers)
    yield "refined", both(refine(tree, answers).dendrogram.linkage_matrix)
    yield "t-STE", both(t_ste(answers, rng=5).points)
    yield "FORTE", both(forte(answers, rng=5).points)
    built = lambda some: build_hierarchy("4-al", some)[0]  # noqa: E731
    yield "support", both(np.asarray(bootstrap_support(tree, answers, built, 40, rng=6, n_jobs=n_jobs).values))
    found = whatif("planted", n_pure=4, n_levels=2, p=[0.1, 0.5], method=["4-al", "4k-al"], repeat=3, n_jobs=n_jobs)
    yield "whatif", both(found.table.select_dtypes("number").drop(columns="seconds", errors="ignore"))


def digests(n_jobs):
    "{name: digests} of everything."
    paths = runpy.run_path(str(ROOT / "tests" / "pyodide" / "main_paths.py"))
    paths["digest"] = both
    for paper in ("f19", "n20", "a18", "l20"):
        function = paths[paper]
        function.__globals__["digest"] = both
        yield from ((f"{paper} {name}", found) for name, found in function())
    yield from practice(n_jobs)


def column(python, n_jobs, threads, **environment):
    "What a process of its own finds: {name: digests}, or the last line of its error."
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    env = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONPATH": str(ROOT), **environment}
    with tempfile.TemporaryDirectory() as folder:
        words = [python, __file__, "--only", str(n_jobs)]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=env, cwd=folder)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    "Run the matrix and print it."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="*", default=[], help="other interpreters, with their own dependencies")
    parser.add_argument("--jobs", nargs="*", type=int, default=[2])
    parser.add_argument("--threads", nargs="*", type=int, default=[2])
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only is not None:
        import comparison_hc

        assert Path(comparison_hc.__file__).parent == ROOT / "comparison_hc", comparison_hc.__file__
        found = dict(digests(args.only))
        version = ".".join(map(str, sys.version_info[:3]))
        print(json.dumps({"about": f"Python {version}, " + about(), **found}))
        return 0
    here = sys.executable
    columns = {"here": column(here, 1, 1)}
    columns |= {f"{n} workers": column(here, n, 1) for n in args.jobs}
    columns |= {f"{n} threads": column(here, 1, n) for n in args.threads}
    columns["C locale"] = column(here, 1, 1, LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    columns["hash seed"] = column(here, 1, 1, PYTHONHASHSEED="12345")
    columns |= {f"P{i}": column(python, 1, 1) for i, python in enumerate(args.python, 1)}
    return show(columns)


def about():
    "Versions of what the results rest on."
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))


def show(columns):
    "Print the table; how many results differ."
    first, failures = columns["here"], 0
    assert isinstance(first, dict), first
    print(f"{'':24}" + " ".join(f"{name:>10}" for name in columns))
    for name, (bits, rounded) in ((name, value) for name, value in first.items() if name != "about"):
        line = []
        for found in columns.values():
            other = found.get(name) if isinstance(found, dict) else None
            line.append("x" if other is None or other[1] != rounded else "=" if other[0] == bits else "≈")
        failures += line.count("x")
        print(f"{name:24}" + " ".join(f"{sign:>10}" for sign in line))
    for name, found in columns.items():
        print(f"{name}: {found['about'] if isinstance(found, dict) else found}")
    print(f"{failures} results differ in more than the tenth digit")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
