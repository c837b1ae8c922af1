"""What the default and every method conclude where classes are known: `python tests/benchmarks/conclusions.py`.

For each data set with classes that the package can load, and for three planted worlds, prints for the default and for
every direct method, plain and refined: agreement with held-out answers, adjusted Rand index at the true number of
clusters, sizes, support of three kinds (mean over the branches, and that of answers by coin), and seconds. Data sets
without answers get simulated ones: odd one out of three by their standardised features, with 15% slips, about 60
objects drawn at random. With `--seeds 20`: which method the default chooses with each of twenty seeds instead, for
these and for the sets of people's answers without classes, and how much the chosen methods differ.
"""

import argparse
import os
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from planner import feature_similarity

from comparison_hc import Triplets, load_dataset, read_comparisons
from comparison_hc.evaluation import bootstrap_support, chance_support, choose_clusters, choose_method
from comparison_hc.evaluation._candidates import RANDOM, candidate, candidate_names, fit
from comparison_hc.evaluation._splits import plan_splits
from comparison_hc.evaluation.model_selection import signed_correctness
from comparison_hc.metrics import adjusted_rand_index
from comparison_hc.whatif.designs import study_rows

ANSWERED, WITH_FEATURES = ("animals", "car"), ("zoo", "glass", "iris", "wine", "digits")
MOST_OBJECTS, QUESTIONS, SLIPS = 60, 4000, 0.15


def simulated_answers(similarity, rng):
    "Odd-one-out answers about a world."
    return Triplets(study_rows("odd-one-out", similarity, QUESTIONS, QUESTIONS, SLIPS, rng), len(similarity))


def planted_world(sizes, n_outliers, rng):
    "(similarity, classes): unequal groups of points, and points far from all of them, each a class of its own."
    labels = np.repeat(np.arange(len(sizes)), sizes)
    points = 4 * np.eye(len(sizes))[labels] + rng.normal(0, 0.8, (len(labels), len(sizes)))
    away = rng.normal(size=(n_outliers, len(sizes)))
    points = np.vstack([points, 8 * away / np.linalg.norm(away, axis=1, keepdims=True)])
    labels = np.append(labels, np.full(n_outliers, -1))
    return -np.linalg.norm(points[:, None] - points, axis=2), labels


def cases(rng):
    "(name, answers, classes; −1 for objects that belong to none)."
    for name in ANSWERED:
        data = load_dataset(name)
        yield name, data.triplets, data.labels
    for name in WITH_FEATURES:
        data = load_dataset(name)
        some = np.sort(rng.permutation(len(data))[:MOST_OBJECTS])
        features = np.asarray(data.features, dtype=float)
        varied = features[some].std(axis=0) > 0
        similarity = feature_similarity(features[some][:, varied], rng)
        yield f"{name} (simulated answers)", simulated_answers(similarity, rng), data.labels[some]
    worlds = {"equal groups": ([12] * 4, 0), "unequal groups": ([26, 12, 7, 5], 0)}
    for name, (sizes, n_outliers) in (worlds | {"unequal groups, outliers": ([24, 11, 7, 5], 5)}).items():
        similarity, labels = planted_world(sizes, n_outliers, rng)
        yield name, simulated_answers(similarity, rng), labels


def tree_of(name, seed, answers):
    "The tree of a method."
    return fit(candidate(name), answers, seed, {})[0]


def conclude(answers, classes, n_resamples=20, seed=0):
    "One row for the default and for every method."
    placed, rows = classes >= 0, []
    k = len(set(classes[placed].tolist()))
    (split,) = plan_splits(answers, 1, 1 / 3, None, seed).splits
    train, test = answers.take(split.train), answers.take(split.test)
    names = [name for name in candidate_names(answers.kind) if name != RANDOM]
    for name in ("default", *names):
        start = perf_counter()
        if name == "default":
            choice = choose_method(answers, rng=seed)
            tree, used = choice.dendrogram, choice.name
        else:
            tree, used = tree_of(name, seed, answers), name
        build = partial(tree_of, used, seed)
        chosen = choose_clusters(answers, k, tree, None if name == "default" else build, rng=seed)
        seconds = perf_counter() - start
        held_out = (1 + signed_correctness(build(train), test).mean()) / 2
        found, coin = bootstrap_support(tree, answers, build, n_resamples), chance_support(answers, build, n_resamples)
        kinds = dict(exact="values", transfer="transfer", jaccard="jaccard")
        support = {kind: float(getattr(found, field)[:-1].mean()) for kind, field in kinds.items()}
        support |= {f"{kind} by coin": float(getattr(coin, field)[:-1].mean()) for kind, field in kinds.items()}
        ari = adjusted_rand_index(classes[placed], chosen.labels[placed])
        merged = adjusted_rand_index(classes[placed], tree.cut(k)[placed])
        sizes = "/".join(map(str, chosen.sizes))
        about = dict(method=name, agreement=held_out, k=k, ari=ari, ari_by_merge_order=merged, sizes=sizes)
        rows.append(about | dict(unplaced=len(chosen.unplaced)) | support | dict(seconds=seconds))
    return pd.DataFrame(rows)


def unlabelled():
    "(name, answers) of people about objects without classes, where they are at hand."
    yield "food", load_dataset("food").triplets
    for name in ("eggs30", "material"):
        path = Path(os.environ.get("COMPARISON_HC_DATA", ".")) / name / "answers.csv.gz"
        if path.exists():
            yield name, read_comparisons(path)


def choices(answers, n_seeds):
    "One row a seed: the method that the default takes, those that tie with it, and its agreement."
    rows = []
    for seed in range(n_seeds):
        choice = choose_method(answers, rng=seed)
        agreement = choice.compared.table.agreement
        about = dict(seed=seed, method=choice.name, ties=len(choice.ties), agreement=agreement[choice.name])
        rows.append(about | dict(spread=agreement[choice.ties].max() - agreement[choice.ties].min()))
    return pd.DataFrame(rows)


def print_choices(n_seeds, only):
    "For each set: how often which method is taken."
    sets = [(name, answers) for name, answers, _ in cases(np.random.default_rng(0))]
    for name, answers in [*sets, *unlabelled()]:
        if only is None or name in only:
            start = perf_counter()
            table = choices(answers, n_seeds)
            taken = ", ".join(f"{method} {count}" for method, count in table.method.value_counts().items())
            ties, spread = table.ties.mean(), table.spread.mean()
            print(
                f"{name}: {taken} of {n_seeds} seeds; {ties:.1f} methods tie, their agreement differs by {spread:.3f}; "
                f"{(perf_counter() - start) / n_seeds:.1f} s a seed",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="names of cases; default: all")
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--out", help="write all rows into this CSV file")
    parser.add_argument("--seeds", type=int, help="print the choices of the default with so many seeds instead")
    args = parser.parse_args()
    if args.seeds:
        return print_choices(args.seeds, args.only)
    tables = []
    for name, answers, classes in cases(np.random.default_rng(0)):
        if args.only is None or name in args.only:
            table = conclude(answers, classes, args.resamples)
            print(f"\n{name}: {len(classes)} objects, {len(answers):,} answers")
            print(table.round(2).to_string(index=False), flush=True)
            tables.append(table.assign(case=name))
    if args.out:
        pd.concat(tables).to_csv(args.out, index=False)


if __name__ == "__main__":
    main()
