"""Time and memory of the main paths, each in a process of its own: `python tests/benchmarks/run.py [WORDS]`.

Prints one line a benchmark as it is measured: seconds after import (best, and CPU seconds of that process and of the
commands that it started), behind each its ratio to the goal where there is one, and peak memory of the whole process.
WORDS select benchmarks by name. `--threads 1` runs every benchmark with one thread of linear algebra, `default` with
as many as the library takes, `both` one after the other. `--goals` leaves out what has no goal and is no peer.
Nothing here is asserted: machines differ, and on a busy one only CPU seconds mean anything.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

BENCHMARKS = {}  # name → (function that prepares and returns a function to time, repetitions)
GOALS = {}  # name → (seconds, GiB or None)
PEER = "peer: "  # begins the names of other packages' benchmarks, on the data of the one before
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def benchmark(name, repetitions=5, goal=None, memory=None):
    "Register a function that prepares its data and returns the call to time; its goal in seconds and GiB."

    def register(prepare):
        BENCHMARKS[name] = prepare, repetitions
        if goal is not None:
            GOALS[name] = goal, memory
        return prepare

    return register


def planted(n_pure=30, n_levels=3):
    "The planted hierarchy of F19's experiments: N = 240 unless told otherwise."
    from comparison_hc.hierarchical import planted_hierarchy

    return planted_hierarchy(n_pure, n_levels, 0.8, 0.1, 0.1, rng=0).similarity


def four_al(p, n_pure=30):
    "Sampling at rate p and 4–AL, together."

    def prepare():
        from comparison_hc.hierarchical import quadruplet_average_linkage
        from comparison_hc.oracles import sample_quadruplets

        similarity = planted(n_pure)

        def call():
            answers = sample_quadruplets(similarity, p, rng=1)
            return f"{len(answers):,} answers, {quadruplet_average_linkage(answers).n_leaves} leaves"

        return call

    return prepare


def four_al_given():
    "4–AL of answers that are there: 41 million of them; the first of the calls also loads what is compiled."
    from comparison_hc.hierarchical import quadruplet_average_linkage
    from comparison_hc.oracles import sample_quadruplets

    answers = sample_quadruplets(planted(), 0.1, rng=1)  # nothing else before the first call: its scraps would count
    return lambda: f"{len(answers):,} answers, {quadruplet_average_linkage(answers).n_leaves} leaves"


for p in (0.001, 0.01, 0.1):
    benchmark(f"4-AL, N = 240, p = {p:g}, sampling included", 3)(four_al(p))
benchmark("4-AL, N = 240, p = 0.1, answers given", 4, 2, 1)(four_al_given)
for n_pure, p in ((60, 0.001), (125, 0.0001)):
    benchmark(f"4-AL, N = {8 * n_pure}, p = {p:g}, sampling included", 3)(four_al(p, n_pure))


@benchmark("4-AL, N = 240, p = 1 by ranks")
def ranked():
    from comparison_hc.hierarchical import quadruplet_average_linkage_ranked

    similarity = planted()
    return lambda: f"{quadruplet_average_linkage_ranked(similarity).n_leaves} leaves"


def four_k_al_passive(p, sampled=True):
    "The passive kernel with self-pairs, and its tree; with or without sampling the answers."

    def prepare():
        from comparison_hc.hierarchical import kernel_average_linkage, kernel_passive
        from comparison_hc.oracles import sample_quadruplets

        similarity = planted()
        given = None if sampled else sample_quadruplets(similarity, p, rng=1)

        def call():
            answers = given or sample_quadruplets(similarity, p, rng=1)
            tree = kernel_average_linkage(kernel_passive(answers, self_pairs=True))
            return f"{len(answers):,} answers, {tree.n_leaves} leaves"

        return call

    return prepare


for p in (0.001, 0.01):
    benchmark(f"4K-AL passive, N = 240, p = {p:g}, sampling included", 3)(four_k_al_passive(p))
benchmark("4K-AL passive, N = 240, p = 0.1, sampling included", 2)(four_k_al_passive(0.1))
benchmark("4K-AL passive, N = 240, p = 0.1, answers given", 2, 4)(four_k_al_passive(0.1, sampled=False))


@benchmark("4K-AL passive, N = 240, p = 1 by ranks")
def four_k_al_ranked():
    from comparison_hc.hierarchical import kernel_average_linkage, kernel_passive_ranked

    similarity = planted()
    return lambda: f"{kernel_average_linkage(kernel_passive_ranked(similarity)).n_leaves} leaves"


@benchmark("4K-AL active, N = 240, budget of p = 0.01")
def four_k_al_active():
    from comparison_hc.comparisons import n_quadruplet_questions
    from comparison_hc.hierarchical import kernel_active, kernel_average_linkage
    from comparison_hc.oracles import Counting, SimilarityOracle, run

    similarity, budget = planted(), round(0.01 * n_quadruplet_questions(240))

    def call():
        oracle = Counting(SimilarityOracle(similarity))
        tree = kernel_average_linkage(run(kernel_active(240, rng=1, n_comparisons=budget), oracle))
        return f"{oracle.n_queries:,} questions, {tree.n_leaves} leaves"

    return call


def by_questions(linkage):
    "Single or complete linkage, the oracle included."

    def prepare():
        from comparison_hc import hierarchical
        from comparison_hc.oracles import Counting, SimilarityOracle, run

        similarity = planted()

        def call():
            oracle = Counting(SimilarityOracle(similarity))
            return f"{run(getattr(hierarchical, linkage)(240), oracle).n_leaves} leaves, {oracle.n_queries:,} questions"

        return call

    return prepare


for linkage in ("single_linkage", "complete_linkage"):
    benchmark(f"{linkage.replace('_', ' ')} by questions, N = 240")(by_questions(linkage))


def hidden_tree(n, shape):
    """The tree of a shape; the caterpillar also with its items in the order of their leaves, from the root down or from
    the bottom up.
    """
    from comparison_hc.adaptive import random_hierarchy

    tree = random_hierarchy(n, shape.split(",")[0], 0)
    return tree.relabel(tree.leaf_order()[:: 1 if shape.endswith("down") else -1]) if "," in shape else tree


def adaptive(name, n, shape):
    "An adaptive learner with the simulated oracle; the number of questions against n log₂ n."

    def prepare():
        from math import log2

        from comparison_hc import adaptive
        from comparison_hc.oracles import Counting, HierarchyOracle, run

        truth = hidden_tree(n, shape)
        inner = HierarchyOracle(truth)

        def call():
            oracle = Counting(inner)
            learned = run(
                adaptive.insertion_clustering(n) if name == "insertion" else adaptive.quick_clustering(n, 0), oracle
            )
            assert learned.same_tree(truth) and (name == "quick" or oracle.n_queries <= n * log2(n))
            rate = oracle.n_queries / (n * log2(n))
            return f"{oracle.n_queries:,} questions in {oracle.n_batches:,} batches, {rate:.3f} n log2 n"

        return call

    return prepare


for n in (10_000, 100_000):
    for shape in ("balanced", "split", "uniform", "caterpillar", "caterpillar, down", "caterpillar, up"):
        benchmark(f"insertion, n = {n:,}, {shape}", 1)(adaptive("insertion", n, shape))
        if "," not in shape:
            benchmark(f"quick clustering, n = {n:,}, {shape}", 1)(adaptive("quick", n, shape))


def noisy_insertion(name, shape, n=1000, p=0.8, delta=0.05, **options):
    """Insertion with wrong answers, always the same ones to the same three items; questions against n log₂ n + n
    log₂(1/δ).
    """

    def prepare():
        from math import log2

        from comparison_hc import adaptive
        from comparison_hc.oracles import Counting, HierarchyOracle, Noisy, run

        truth = hidden_tree(n, shape)

        def call():
            oracle = Counting(Noisy(HierarchyOracle(truth), p, 1, wrong="same"))
            learned = run(getattr(adaptive, f"{name}_insertion_clustering")(n, p, delta, 0, **options), oracle)
            rate = oracle.n_queries / (n * log2(n) + n * log2(1 / delta))
            verdict = "right" if learned.same_tree(truth) else "WRONG"
            return f"{oracle.n_queries:,} questions, {rate:.1f} (n log2 n + n log2 1/δ), {verdict} tree"

        return call

    return prepare


for shape in ("balanced", "uniform", "caterpillar"):
    for name in ("robust", "bayesian"):
        benchmark(f"noisy insertion, {name}, n = 1,000, {shape}", 1)(noisy_insertion(name, shape))


@benchmark("4-AL on the Car triplets", 20)
def car():
    from comparison_hc.datasets import load_dataset
    from comparison_hc.hierarchical import quadruplet_average_linkage

    triplets = load_dataset("car").triplets
    return lambda: f"{len(triplets):,} triplets, {quadruplet_average_linkage(triplets).n_leaves} leaves"


@benchmark("sample 20 million quadruplets, N = 1000", 3)
def sample_quadruplets_20_million():
    from comparison_hc.oracles import sample_quadruplets

    similarity = planted(125)
    return lambda: f"{len(sample_quadruplets(similarity, 20_000_000, rng=0)):,} answers"


@benchmark("sample 20 million triplets, N = 1000", 3)
def sample_triplets_20_million():
    from comparison_hc.oracles import sample_triplets

    similarity = planted(125)
    return lambda: f"{len(sample_triplets(similarity, 20_000_000, rng=0)):,} answers"


def pieces(n, merges, data="digits"):
    "All pieces of a family with their exact losses (L20), after a first call that compiles."

    def prepare():
        import numpy as np
        from scipy.spatial.distance import pdist, squareform

        from comparison_hc.link import piecewise_loss, rings_and_disks

        if data == "digits":
            from comparison_hc.datasets import load_dataset

            digits, rng = load_dataset("mnist"), np.random.default_rng(0)
            classes = rng.choice(10, 5, replace=False)
            rows = np.concatenate(
                [rng.choice(np.flatnonzero(digits.labels == c), n // 5, replace=False) for c in classes]
            )
            points, labels = (
                np.asarray(digits.features)[rows].reshape(n, -1).astype(float),
                np.asarray(digits.labels)[rows],
            )
        else:
            points, labels = rings_and_disks(n, 0)
        D = squareform(pdist(points))
        if isinstance(merges, str):  # two metrics: the data, and one that knows nothing of them
            other = squareform(pdist(np.random.default_rng(1).random((n, 5))))
            D = D, other * (D.max() / other.max())
        piecewise_loss(
            np.ones((4, 4)) - np.eye(4) if not isinstance(merges, str) else (np.ones((4, 4)) - np.eye(4),) * 2,
            [0, 0, 1, 1],
            merges,
        )
        return lambda: str(piecewise_loss(D, labels, merges)).removeprefix("PiecewiseLoss")

    return prepare


for linkages in (("single", "complete"), ("average", "complete")):
    benchmark(f"pieces, {'-'.join(linkages)}, rings and disks, n = 400", 3)(pieces(400, linkages, "rings"))
    for n in (100, 250, 500):
        benchmark(f"pieces, {'-'.join(linkages)}, digits, n = {n}", 3)(pieces(n, linkages))
for n in (100, 200):
    benchmark(f"pieces, two metrics, complete, n = {n}", 3)(pieces(n, "complete"))


def random_triplets(m, n_objects):
    "Valid triplets about objects chosen uniformly, 32 bits an index; made in place."
    import numpy as np

    rng, rows = np.random.default_rng(0), np.empty((m, 3), dtype=np.int32)
    for start in range(0, m, 1 << 22):
        part = rows[start : start + (1 << 22)]
        i, a, b = (
            rng.integers(n_objects, size=len(part)),
            rng.integers(1, n_objects, size=len(part)),
            rng.integers(1, n_objects - 1, size=len(part)),
        )
        b += b >= a
        for column, objects in enumerate((i, (i + a) % n_objects, (i + b) % n_objects)):
            part[:, column] = objects
    return rows


@benchmark("AddS-3 of 100 million triplets, N = 10,000, input 1.12 GiB", 3)
def adds3_100_million():
    from comparison_hc.flat import adds3

    rows = random_triplets(100_000_000, 10_000)

    def call():
        before = time.process_time()
        adds3(rows, 10_000)
        rate = len(rows) / (time.process_time() - before) / 1e6
        return f"{rate:.1f} million a second of processor time, checks included"

    return call


@benchmark("AddS-3 of a CSV file of 5 million triplets, N = 1000", 2)
def adds_from_csv():
    import tempfile

    import pandas as pd

    from comparison_hc.flat import adds_from_file

    path = Path(tempfile.mkdtemp()) / "answers.csv"
    pd.DataFrame(random_triplets(5_000_000, 1000)).to_csv(path, index=False, header=False)
    return lambda: (
        f"{adds_from_file(path, n_objects=1000).n_comparisons:,} answers, {path.stat().st_size / 2**20:.0f} MiB"
    )


for similarity in ("adds3", "mulk3"):

    @benchmark(f"{similarity} on N20's default, n = 1000, 2,276,920 triplets", 3)
    def default_instance(similarity=similarity):
        from comparison_hc import flat

        answers = flat.sample_comparisons(
            flat.planted_partition([250] * 4, *flat.gaussians(0.5), rng=0),
            "triplets",
            flat.n_comparisons(1000, 4),
            0.75,
            rng=1,
        )
        return lambda: f"{getattr(flat, similarity)(answers).dtype}"


def planted_adds3(n, a, k=4, delta=0.5):
    "AddS-3 of n(ln n)^a triplets about k planted clusters, N20's defaults otherwise, and how many triplets that is."
    from comparison_hc.flat import adds3, gaussians, n_comparisons, planted_partition, sample_comparisons

    model = planted_partition([n // k] * k, *gaussians(delta), rng=0)
    answers = sample_comparisons(model, "triplets", n_comparisons(n, a), 0.75, rng=0)
    return adds3(answers, n), len(answers)


def sdp_by_iteration(tol):
    "ADMM without a candidate."
    from comparison_hc.flat import sdp_k

    S, _ = planted_adds3(200, 3)

    def call():
        solution = sdp_k(S, 4, tol=tol, certificate=False)
        return f"gap {solution.gap:.1e}, {solution.n_iter} iterations, {solution.how}"

    return call


benchmark("SDP-k by iteration, n = 200, gap 1e-4", 3)(partial(sdp_by_iteration, 1e-4))
benchmark("SDP-k by iteration, n = 200, gap 1e-6", 3, 1)(partial(sdp_by_iteration, 1e-6))


@benchmark(PEER + "cvxpy's SCS on SDP-k, n = 200", 1)
def sdp_by_scs():
    from comparison_hc.flat import sdp_reference

    S, _ = planted_adds3(200, 3)
    return lambda: f"objective {sdp_reference(S, 4, first_order=True)[1]:.4f}"


def certified(n):
    "Spectral candidate and certificate."
    from comparison_hc.flat import sdp_k

    S, _ = planted_adds3(n, 4)

    def call():
        solution = sdp_k(S, 4)
        return f"{solution.how}, {solution.certificate}"

    return call


for n in (1000, 4000, 10_000):
    benchmark(f"certified recovery, n = {n}", 1)(partial(certified, n))


def by_spur(a):
    "The number of clusters and the clusters."
    from comparison_hc.flat import spur

    S, n_answers = planted_adds3(1000, a)

    def call():
        found = spur(S, n_answers)
        how = "proved" if found.certificate else "not proved"
        return f"k = {found.n_clusters}, {how}, objective {found.objective:.4f}"

    return call


for a in (4, 3.25, 3):
    benchmark(f"SPUR, n = 1000, n(ln n)^{a:g} triplets", 1)(partial(by_spur, a))


def people_like(n, m, k=1, dimensions=5, closeness=0.8):
    "AddS-3 of m triplets about n points, in k clouds that overlap, answered by a logistic law: nothing is proved."
    import numpy as np

    from comparison_hc.flat import adds3

    rng, rows = np.random.default_rng(0), random_triplets(m, n)
    points = rng.normal(size=(n, dimensions)) + rng.normal(size=(k, dimensions))[np.arange(n) % k] * closeness * (k > 1)
    near, far = (np.linalg.norm(points[rows[:, 0]] - points[rows[:, j]], axis=1) for j in (1, 2))
    wrong = rng.random(m) > 1 / (1 + np.exp(near - far))
    return adds3(np.where(wrong[:, None], rows[:, [0, 2, 1]], rows), n)


def flat_without_proof(n, m, **shape):
    "SPUR as `adds` calls it; what was imported before does not count."

    def prepare():
        from comparison_hc.flat import spur

        S, iterations = people_like(n, m, **shape), []
        spur(people_like(20, 300), 300)

        def call():
            iterations.clear()
            before = time.process_time()
            found = spur(S, m, progress=lambda *at: iterations.append(1))
            how = f"{len(found.steps)} k, {len(iterations)} iterations, gap {found.solution.gap:.1e}"
            assert found.certificate is None and found.solution.gap <= 1e-3
            used = time.process_time() - before
            return f"{used:.1f} s of processor time; k = {found.n_clusters}, objective {found.objective:.4f}, {how}"

        return call

    return prepare


for n, m, shape, goal in (
    (250, 42_000, dict(k=6), 5),
    (250, 250_000, dict(k=6), 5),
    (300, 56_000, dict(), 5),
    (300, 300_000, dict(dimensions=2), 5),
    (1000, 330_000, dict(k=6), 60),
    (1000, 1_000_000, dict(dimensions=10), 60),
):
    benchmark(f"adds without proof, n = {n:,}, {m:,} triplets", 2, goal)(flat_without_proof(n, m, **shape))


def tree_answers(n_objects, n_answers):
    "Triplets about a planted hierarchy, a fifth of them wrong."
    from comparison_hc.hierarchical import planted_hierarchy
    from comparison_hc.oracles import sample_triplets

    model = planted_hierarchy(-(-n_objects // 8), 3, 0.8, 0.1, 0.1, rng=0)
    similarity = model.similarity[:n_objects, :n_objects]
    return sample_triplets(similarity, n_answers, rng=1).flip(0.2, 2)


def refinement(n_objects, n_answers):
    "Moves of subtrees until none gains, from the tree of 4–AL."
    from comparison_hc.hierarchical import quadruplet_average_linkage
    from comparison_hc.hierarchical.refinement import refine

    answers = tree_answers(n_objects, n_answers)
    start, small = quadruplet_average_linkage(answers), tree_answers(16, 300)
    refine(quadruplet_average_linkage(small), small)
    return lambda: str(refine(start, answers))


for n, m, goal in ((60, 12_112, 0.5), (120, 100_000, 5), (300, 300_000, 60)):
    benchmark(f"refinement, {n} objects, {m:,} answers", 1 if n == 300 else 3, goal)(partial(refinement, n, m))


@benchmark("bootstrap, 60 objects, 12,112 answers, 200 times", 1, 20)
def bootstrap():
    from comparison_hc.evaluation.bootstrap import bootstrap_support
    from comparison_hc.hierarchical import quadruplet_average_linkage

    answers = tree_answers(60, 12_112)
    tree = quadruplet_average_linkage(answers)
    return lambda: str(bootstrap_support(tree, answers, "4-al", 200))


def command(*words, file=None):
    "A command in a cold process, in an empty folder; or nothing but Python and NumPy, to compare."

    def prepare():
        import tempfile

        folder = tempfile.mkdtemp()
        if file is not None:
            tree_answers(*file).to_csv(f"{folder}/answers.csv")
        start = ["-c", "import numpy"] if not words else ["-m", "comparison_hc", *words]

        def call():
            done = subprocess.run([sys.executable, *start], capture_output=True, text=True, cwd=folder, env=paths())
            if done.returncode:
                raise RuntimeError(one_sentence(done.stderr))
            return (done.stdout.strip().splitlines() or ["nothing said"])[-1][:60]

        return call

    return prepare


benchmark("Python and NumPy, cold process", 5)(command())
words = ("cluster", "answers.csv", "--method", "4-al", "--out", "page.html")
benchmark("command: cluster, 60 objects, 12,112 answers, page, cold process", 3, 1.5)(
    command(*words, file=(60, 12_112))
)
benchmark("command: demo, cold process", 3, 2)(command("demo"))


@benchmark("page of 60 leaves after the tree", 3, 1)
def page_of_60():
    from comparison_hc.evaluation.report import Result, html_page
    from comparison_hc.hierarchical import quadruplet_average_linkage

    answers = tree_answers(60, 12_112)
    result = Result(quadruplet_average_linkage(answers), answers, "Sixty objects", "4–AL", n_clusters=8)
    return lambda: f"{len(html_page(result)):,} characters"


def embedded(name):
    "Points from 12,112 answers about 60 objects, by a candidate of the comparison of methods."

    def prepare():
        import numpy as np

        from comparison_hc.evaluation._candidates import candidate

        answers, chosen = tree_answers(60, 12_112), candidate(name)
        chosen.build(tree_answers(16, 300), np.random.default_rng(0))
        return lambda: f"{len(chosen.build(answers, np.random.default_rng(0)))} points"

    return prepare


benchmark("4-AL, 60 objects, 12,112 answers", 5)(
    lambda: partial(four_al_of, tree_answers(60, 12_112))  # beside the embeddings on the same answers
)


def four_al_of(answers):
    "4–AL of these answers."
    from comparison_hc.hierarchical import quadruplet_average_linkage

    return f"{quadruplet_average_linkage(answers).n_leaves} leaves"


for name, title in (("t-ste", "t-STE of ours"), ("forte", "FORTE of ours"), ("soe", "SOE of ours")):
    benchmark(PEER + f"{title}, 60 objects, 12,112 answers", 1)(embedded(name))


@benchmark(PEER + "SciPy's average linkage of 240 objects whose distances are known")
def scipy_linkage():
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    similarity = planted()
    distances = squareform(similarity.max() - similarity, checks=False)
    return lambda: f"{len(linkage(distances, 'average')) + 1} leaves"


@benchmark(PEER + "scikit-learn's average linkage of 240 objects whose distances are known")
def sklearn_linkage():
    from sklearn.cluster import AgglomerativeClustering

    similarity = planted()
    method = AgglomerativeClustering(compute_full_tree=True, metric="precomputed", linkage="average")
    return lambda: f"{method.fit(similarity.max() - similarity).n_leaves_} leaves"


def paths():
    "The environment with this tree first."
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])}


def used():
    "CPU seconds of this process and of those that it started and that ended."
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def measure(name):
    "Run one benchmark here and print its measurements as JSON."
    prepare, repetitions = BENCHMARKS[name]
    call, found, said = prepare(), [], ""
    for _ in range(repetitions):
        start, before = time.perf_counter(), used()
        said = call()
        found.append((time.perf_counter() - start, used() - before))
    whole = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    peak = whole * (1 if sys.platform == "darwin" else 1024)
    best, cpu = (min(values) for values in zip(*found))
    print(json.dumps(dict(best=best, cpu=cpu, peak=peak / 2**30, said=said)))


def one_sentence(error):
    "What a traceback says at its end, without the name of the error's class."
    last = next((line for line in reversed(error.strip().splitlines()) if line.strip()), "no word of why")
    last = last.partition(": ")[2] or last
    return last.split("; got")[0].split(". ")[0][:200].strip().rstrip(".") + "."


def line_of(name, threads):
    "What is printed of a benchmark, measured in a process of its own."
    environment = paths()
    for variable in THREADS:
        environment.pop(variable, None)
    if threads == "1":
        environment |= dict.fromkeys(THREADS, "1")
    words = [sys.executable, __file__, "--measure", name]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    label = f"{name:66}{threads:>8}"
    if done.returncode:
        return f"{label}  failed: {one_sentence(done.stderr)}"
    m = json.loads(done.stdout.splitlines()[-1])
    seconds, memory = GOALS.get(name, (None, None))
    goal, ratio = ("", "") if seconds is None else (f"{seconds:g}", f"{m['best'] / seconds:.2f}")
    said = m["said"] + (f"; memory goal {memory:g} GiB" if memory else "")
    by_cpu = "" if seconds is None else f"{m['cpu'] / seconds:.2f}"
    return f"{label}{goal:>7}{m['best']:9.3f}{ratio:>7}{m['cpu']:9.3f}{by_cpu:>7}{m['peak']:7.2f}  {said}"


def main(words):
    "Measure every benchmark whose name contains all words, each in a fresh process."
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="all of them have to be in a benchmark's name")
    parser.add_argument("--threads", choices=("1", "default", "both"), default="default")
    parser.add_argument("--goals", action="store_true", help="only what has a goal, and the peers")
    args = parser.parse_args(words)
    chosen = [name for name in BENCHMARKS if all(word.lower() in name.lower() for word in args.words)]
    if args.goals:
        chosen = [name for name in chosen if name in GOALS or name.startswith(PEER)]
    if not chosen:
        sys.exit(f"no benchmark's name contains {' and '.join(args.words)}")
    head = f"{'threads':>8}{'goal s':>7}{'best s':>9}{'ratio':>7}{'CPU s':>9}{'ratio':>7}{'GiB':>7}  result"
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores\n{'':66}{head}")
    for name in chosen:
        for threads in ("1", "default") if args.threads == "both" else (args.threads,):
            print(line_of(name, threads), flush=True)


if __name__ == "__main__":
    measure(sys.argv[2]) if sys.argv[1:2] == ["--measure"] else main(sys.argv[1:])
