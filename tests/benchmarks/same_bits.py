"""One command, one table: where are results the same to the last bit, and where not?

`python tests/benchmarks/same_bits.py [--python PATH ...] [--pyodide FOLDER] [--out FILE]` runs the main path of each
paper and of practice in processes of their own: numbers of workers, threads of linear algebra, kinds of processor,
another place and language, every Python given with whatever it has installed (its own dependencies; the package is
this one), and a browser's Python of 32 bits. The first column is this Python with one worker and one thread; the
others are counted against it. `=` the same bits, a number: the largest difference, `x` another result.
A kind whose instructions this processor lacks is left out, and named.
Exit code 1 if a result is further away than `PROMISED`. `--out` keeps the table as CSV.
"""

import argparse
import hashlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAIN_PATHS = ROOT / "tests" / "pyodide" / "main_paths.py"
PROMISED = {
    "FORTE": 1e-9,
    "t-STE": 1e-6,
    "SDP": 1e-6,
}  # the largest difference; of all that is not named here: the same bits
PROCESSORS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")  # whose kernels OpenBLAS has
LACKING = "this processor lacks its instructions"
DIGITS = 1e-9  # to which `main_paths.py` compares there


START = """
import multiprocessing, runpy, sys
file, method = sys.argv[1:3]
sys.argv[:3] = [file]
if method:
    multiprocessing.set_start_method(method)
runpy.run_path(file, run_name="__main__")
"""


def bits(*values):
    "A digest of the bits, and the numbers themselves where they are few; integers count as 64 bits."
    import numpy as np

    found, numbers = hashlib.sha256(), []
    for value in values:
        array = np.asarray(value)
        plain = array.astype(np.int64) if array.dtype.kind in "biu" else array.astype(float) + 0.0
        found.update(f"{plain.dtype.str}{plain.shape}".encode() + np.ascontiguousarray(plain).tobytes())
        numbers += plain.ravel().tolist()
    return [found.hexdigest()[:16], numbers if len(numbers) < 2000 else None]


def practice(n_jobs):
    "Refinement, embeddings, a solution with all its digits, support of branches, and a sweep: yields (name, `bits`)."
    import numpy as np

    from comparison_hc.evaluation.bootstrap import bootstrap_support
    from comparison_hc.evaluation.embedding import forte, t_ste
    from comparison_hc.flat import adds3, gaussians, planted_partition, sdp_k
    from comparison_hc.hierarchical import quadruplet_average_linkage
    from comparison_hc.hierarchical.planted import planted_hierarchy
    from comparison_hc.hierarchical.refinement import refine
    from comparison_hc.methods import build_hierarchy
    from comparison_hc.oracles import sample_triplets
    from comparison_hc.whatif import whatif

    model = planted_hierarchy(5, 2, 0.8, 0.2, 0.1, rng=3)
    answers = sample_triplets(model.similarity, 1500, rng=4)
    tree = quadruplet_average_linkage(answers)
    yield "refined", bits(refine(tree, answers).dendrogram.linkage_matrix)
    yield "t-STE", bits(t_ste(answers, rng=5).points)
    yield "FORTE", bits(forte(answers, rng=5).points)
    built = lambda some: build_hierarchy("4-al", some)[0]  # noqa: E731
    partition = planted_partition([12, 9, 8], *gaussians(delta=0.5), rng=3)
    S = adds3(sample_triplets(partition.similarity, 3000, rng=4))
    yield "SDP", bits(sdp_k(S, 3).X)
    yield "support", bits(np.asarray(bootstrap_support(tree, answers, built, 40, rng=6, n_jobs=n_jobs).values))
    found = whatif("planted", n_pure=4, n_levels=2, p=[0.1, 0.5], method=["4-al", "4k-al"], repeat=3, n_jobs=n_jobs)
    yield "whatif", bits(found.table.select_dtypes("number").drop(columns="seconds", errors="ignore"))


def results(n_jobs):
    "{name: `bits`} of everything."
    paths = runpy.run_path(str(MAIN_PATHS))
    for paper in ("f19", "n20", "a18", "l20"):
        function = paths[paper]
        function.__globals__["digest"] = bits
        yield from ((f"{paper} {name}", found) for name, found in function())
    yield from practice(n_jobs)


def is_lacking(returncode):
    "Whether a process ended at an instruction that its processor does not know."
    return os.name == "posix" and returncode in (-signal.SIGILL, 128 + signal.SIGILL)


def column(python, n_jobs=1, threads=1, method="", **environment):
    "What a process of its own finds: {name: `bits`}, or the last line of its error, or `LACKING`."
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    env = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONPATH": str(ROOT), **environment}
    with tempfile.TemporaryDirectory() as folder:
        words = [python, "-c", START, str(Path(__file__).resolve()), method, "--only", str(n_jobs)]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=env, cwd=folder)
    if "OPENBLAS_CORETYPE" in environment and is_lacking(done.returncode):
        return LACKING
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(done.stdout.splitlines()[-1])


def browser_column(folder):
    "Digests of `main_paths.py`, rounded to nine digits, by Pyodide under Node and here: {name: both}."
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    from browser_pages import make_pyodide

    with tempfile.TemporaryDirectory() as place:
        there = Path(place) / "pyodide"
        os.environ["COMPARISON_HC_PYODIDE"] = str(folder)
        make_pyodide(there)
        words = ["node", str(MAIN_PATHS.with_name("run.mjs")), str(there), "comparison-hc", str(MAIN_PATHS)]
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()[-200:]
    found, here = json.loads(done.stdout.strip().splitlines()[-1]), runpy.run_path(str(MAIN_PATHS))["digests"]()
    return {name: DIGITS if found[name] == here[name] else None for name in here}


def versions():
    "Versions of what the results rest on."
    from importlib.metadata import version

    python = ".".join(map(str, sys.version_info[:3]))
    rest = (f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "scikit-learn"))
    return ", ".join([f"Python {python}", *rest])


def distance(name, first, other):
    "0 for the same bits, else the largest difference; None for another result, or none at all."
    if not isinstance(other, dict) or name not in other:
        return None
    if not isinstance(other[name], list):
        return other[name]  # a browser's
    (bits_here, here), (bits_there, there) = first[name], other[name]
    if bits_here == bits_there:
        return 0.0
    if here is None or there is None or len(here) != len(there):
        return None
    return max(abs(a - b) for a, b in zip(here, there))


def is_kept(name, far, promised=PROMISED):
    "Whether a result is as near as it should be."
    return far is not None and far <= promised.get(name, 0.0)


def compared(columns):
    "Rows of the table: (name, {column: distance})."
    first = columns["here"]
    assert isinstance(first, dict), first
    names = [name for name in first if name != "about"]
    return [(name, {place: distance(name, first, found) for place, found in columns.items()}) for name in names]


def show(columns, browser=None):
    "Print the table; the broken promises."
    lacking = [place for place, found in columns.items() if found == LACKING]
    columns = {place: found for place, found in columns.items() if place not in lacking}
    rows, broken = compared(columns), []
    print(f"{'':18}" + " ".join(f"{name:>11}" for name in columns))
    for name, found in rows:
        signs = ("x" if far is None else "=" if far == 0 else f"{far:.0e}" for far in found.values())
        print(f"{name:18}" + " ".join(f"{sign:>11}" for sign in signs))
        broken += [f"{name}, {place}" for place, far in found.items() if not is_kept(name, far)]
    for place, found in columns.items():
        print(f"{place}: {found['about'] if isinstance(found, dict) else found}")
    if browser is not None:
        odd = [name for name, far in browser.items() if far is None] if isinstance(browser, dict) else [browser]
        print(f"in a browser: {len(browser) - len(odd)} results the same to nine digits; others: {odd}")
        broken += [f"{name}, browser" for name in odd]
    for place in lacking:
        print(f"{place}: left out, {LACKING}")
    print(f"{len(rows)} results, {len(columns) - 1} places; broken promises: {broken or 'none'}")
    return rows, broken


def places(pythons):
    "{name of a column: what `column` finds there}."
    here = sys.executable
    found = {"here": column(here), "2 workers": column(here, 2), "2 threads": column(here, threads=2)}
    found["C locale"] = column(here, LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    found["spawn"] = column(here, 2, method="spawn")
    found["hash seed"] = column(here, PYTHONHASHSEED="12345")
    found |= {kind: column(here, OPENBLAS_CORETYPE=kind) for kind in PROCESSORS}
    return found | {f"Python {i}": column(python) for i, python in enumerate(pythons, 1)}


def main():
    "Run the matrix and print it."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="*", default=[], help="other interpreters, with their own dependencies")
    parser.add_argument("--pyodide", metavar="FOLDER", help="a distribution, to be run under Node")
    parser.add_argument("--out", metavar="FILE", help="keep the table as CSV")
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only is not None:
        import comparison_hc

        assert Path(comparison_hc.__file__).parent == ROOT / "comparison_hc", comparison_hc.__file__
        print(json.dumps({"about": versions(), **dict(results(args.only))}))
        return 0
    columns = places(args.python)
    browser = browser_column(args.pyodide) if args.pyodide else None
    rows, broken = show(columns, browser)
    if args.out:
        import pandas as pd

        abouts = {place: found["about"] if isinstance(found, dict) else found for place, found in columns.items()}
        flat = [
            dict(result=name, place=place, versions=abouts[place], far=far)
            for name, row in rows
            for place, far in row.items()
        ]
        if browser is not None:
            flat += [dict(result=name, place="browser", versions="Pyodide", far=far) for name, far in browser.items()]
        pd.DataFrame(flat).to_csv(args.out, index=False)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
