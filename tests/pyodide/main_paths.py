"""The main path of each paper on a small instance, as digests of what comes out: the same on every platform.

Run natively by `test_pyodide.py`, and by Pyodide as a program that prints JSON.
"""

import hashlib
import json

import numpy as np


def digest(*values):
    "A digest of arrays: integers as 64 bits, floats rounded to nine digits after the point."
    found = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        array = array.astype(np.int64) if array.dtype.kind in "biu" else np.round(array.astype(float), 9) + 0.0
        found.update(f"{array.dtype.str}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def f19():
    "Planted hierarchy, answers, six trees."
    from comparison_hc import hierarchical as h
    from comparison_hc.metrics import average_ari
    from comparison_hc.oracles import SimilarityOracle, run, sample_quadruplets

    model = h.planted_hierarchy(6, 2, 0.8, 0.1, 0.1, rng=3)
    n = len(model.similarity)
    answers = sample_quadruplets(model.similarity, 0.2, rng=4)
    yield "planted", digest(model.similarity, model.labels)
    yield "answers", digest(answers.array)
    trees = {
        "4-al": h.quadruplet_average_linkage(answers),
        "4k-al": h.kernel_average_linkage(h.kernel_passive(answers)),
        "single": run(h.single_linkage(n), SimilarityOracle(model.similarity)),
        "complete": run(h.complete_linkage(n), SimilarityOracle(model.similarity)),
    }
    kernel = run(h.kernel_active(n, n_comparisons=n * n, rng=5), SimilarityOracle(model.similarity))
    trees["4k-al-act"] = h.kernel_average_linkage(kernel)
    for name, tree in trees.items():
        yield name, digest(tree.linkage_matrix, average_ari(model.dendrogram, tree))


def n20():
    "Planted partition, similarities, SDP, SPUR."
    from comparison_hc import ComparisonClustering, flat
    from comparison_hc.oracles import sample_quadruplets, sample_triplets

    model = flat.planted_partition([12, 9, 8], *flat.gaussians(delta=0.5), rng=3)
    triplets = sample_triplets(model.similarity, 3000, rng=4)
    quadruplets = sample_quadruplets(model.similarity, 3000, rng=5)
    for name, answers in (("adds3", triplets), ("mulk3", triplets), ("adds4", quadruplets), ("mulk4", quadruplets)):
        S = getattr(flat, name)(answers)
        yield name, digest(S)
        yield f"sdp of {name}", digest(flat.sdp_k(S, 3).X.round(4))
    yield "spur", digest(ComparisonClustering().fit(triplets).labels_)


def a18():
    "Trees by ordinal queries, right and wrong answers."
    from comparison_hc import adaptive
    from comparison_hc.dendrogram import random_tree
    from comparison_hc.oracles import Counting, HierarchyOracle, Noisy, run

    truth = random_tree(24, 3)
    oracle = HierarchyOracle(truth)
    for name, algorithm, asked in (
        ("quick", adaptive.quick_clustering(24, rng=4), oracle),
        ("insertion", adaptive.insertion_clustering(24), oracle),
        ("robust", adaptive.robust_insertion_clustering(24, 0.9, 0.1, rng=6), Noisy(oracle, 0.9, rng=5)),
        ("robust, ties", adaptive.robust_insertion_clustering(24, 0.8, 0.1, rng=6), Noisy(oracle, 0.8, rng=5)),
        ("posterior", adaptive.bayesian_insertion_clustering(24, 0.8, 0.1, rng=6), Noisy(oracle, 0.8, rng=5)),
    ):
        counted = Counting(asked)
        tree = run(algorithm, counted)
        yield name, digest(tree.linkage_matrix, counted.n_queries)
    try:
        adaptive.consistent_hierarchy([(0, 1, 2), (5, 4, 0), (1, 2, 3), (2, 3, 1), (0, 1, 4)])
    except adaptive.InconsistentTriplets as error:
        yield "contradiction", digest(error.answers)


def l20():
    "A linkage between two, its pieces, and learning."
    from comparison_hc import link

    rng = np.random.default_rng(3)
    tasks = []
    for _ in range(3):
        points, labels = rng.normal(size=(24, 2)), np.repeat(np.arange(3), 8)
        points[:, 0] += 2.5 * labels
        tasks.append((np.linalg.norm(points[:, None] - points, axis=2), labels))
    D, labels = tasks[0]
    loss = link.piecewise_loss(D, labels)
    yield "tree", digest(link.alpha_linkage(D, 0.3).linkage_matrix)
    yield "pieces", digest(loss.breakpoints, loss.values)
    learned = link.learn_linkage(tasks)
    yield "learned", digest(learned.parameter, learned.loss)


def lab():
    "What somebody's own answers lead to: the support of clusters, and how well methods predict."
    from comparison_hc import compare_methods, load_dataset
    from comparison_hc.evaluation import bootstrap_support
    from comparison_hc.methods import build_hierarchy

    answers = load_dataset("animals").triplets
    tree, _ = build_hierarchy("3-al", answers)
    yield "support", digest(bootstrap_support(tree, answers, "3-al", n_resamples=20).values)
    found = compare_methods(answers, methods=["3-al", "adds-al"], rng=0)
    yield "agreement", digest(found.table["agreement"])


def classroom():
    "What is said of a right answer, where a solver may be missing, and of a wrong one: three hints, one after another."
    from comparison_hc.classroom.checking import Checker, Wrong, find_assignment

    def blind_spot(n):
        inside = np.kron(np.eye(2), np.ones((n, n))) / n
        across = n * np.kron([[0, 1], [1, 0]], np.eye(n))
        return np.eye(2 * n) - across - (np.eye(2 * n) - inside) / 2, np.repeat([0, 1], n), 1.0

    check = Checker(find_assignment("forge-a-certificate"), dict(blind_spot=blind_spot))
    yield "a right answer", str(check("3a"))
    names = dict(single_linkage_labels=lambda W, k: [0] * len(W))
    check = Checker(find_assignment("break-single-linkage"), names)
    for step in (1, 2, 3):
        try:
            check("1a")
        except Wrong as wrong:
            yield f"a wrong answer, {step}", str(wrong)


def digests():
    "{paper or room, and step: digest or sentence}."
    return {f"{room.__name__} {step}": value for room in (f19, n20, a18, l20, lab, classroom) for step, value in room()}


if __name__ == "__main__":
    print(json.dumps(digests()))
