"""Are worlds of known shape named right? `python tests/benchmarks/shapes.py [--worlds N] [--jobs N] [--out FILE.csv]`.

Worlds of 16 objects (places on a line, in the plane, a hierarchy, one additive tree, two), 3,000 triplets answered
with the probabilities of the logistic model, distances with a standard deviation of 3. One row per world: what
`answer_shape` names, its log loss, and by how much the true shape is worse than the best one. Seeds are the numbers of
the worlds, so that every run gives the same table.
"""

import argparse
import csv
import sys
from time import process_time

import numpy as np

from comparison_hc import Triplets
from comparison_hc.core.additive import leaves_below, path_lengths, random_topology
from comparison_hc.core.parallel import map_in_order
from comparison_hc.dendrogram import random_tree as random_hierarchy
from comparison_hc.evaluation import answer_shape

N, ANSWERS, SCALE, SPLITS = 16, 3000, 3.0, 5
COLUMNS = ["world", "seed", "named", "right", "loss", "worse", "worse_low", "seconds"]


def points(d, rng):
    "(N, N) distances of uniform points."
    x = rng.random((N, d))
    return np.linalg.norm(x[:, None] - x, axis=2)


def hierarchy(rng):
    "(N, N) uniform heights, sorted, of a random binary hierarchy."
    return np.sort(rng.random(N))[random_hierarchy(N, rng).lca_step()] * (1 - np.eye(N))


def additive(rng):
    "(N, N) path lengths of a random tree with exponential branches."
    parent = random_topology(N, rng)
    return path_lengths(leaves_below(parent), rng.exponential(size=len(parent) - 1))


WORLDS = {
    "line": lambda rng: points(1, rng),
    "points-2": lambda rng: points(2, rng),
    "dendrogram": hierarchy,
    "tree": additive,
    "trees": lambda rng: additive(rng) + additive(rng),
}


def answers_from(distances, rng, m=ANSWERS, scale=SCALE):
    "Random triplets, answered with the probabilities of the model."
    n = len(distances)
    D = scale * distances / distances[np.triu_indices(n, 1)].std()
    i, j, k = np.array([rng.permutation(n)[:3] for _ in range(m)]).T
    right = rng.random(m) < 1 / (1 + np.exp(D[i, j] - D[i, k]))
    return Triplets(np.stack([i, np.where(right, j, k), np.where(right, k, j)], axis=1), n)


def named(task):
    "One row of the table."
    world, seed = task
    rng = np.random.default_rng([seed, list(WORLDS).index(world)])
    began = process_time()
    found = answer_shape(answers_from(WORLDS[world](rng), rng), n_splits=SPLITS)
    table = found.table.set_index("shape")
    values = table.loss[found.shape], table.worse[world], table.worse_low[world], process_time() - began
    return [world, seed, found.shape, int(found.shape == world), *(f"{value:.4f}" for value in values)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--worlds", type=int, default=20)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--out")
    chosen = options.parse_args()
    tasks = [(world, seed) for seed in range(chosen.worlds) for world in WORLDS]
    with open(chosen.out, "w", newline="") if chosen.out else sys.stdout as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for row in map_in_order(named, tasks, chosen.jobs, None):
            table.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
