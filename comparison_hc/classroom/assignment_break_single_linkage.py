"""An assignment on Ghoshdastidar et al. (2019): a chain that fools one method, and noise that makes chains."""

import numpy as np

from .checking import expect, expect_equal, packaged

assignment, part = packaged("break-single-linkage")


def linked(similarity, method):
    "The tree of single or complete linkage of a similarity matrix."
    import comparison_hc.hierarchical as room
    import comparison_hc.oracles as oracles

    algorithm = {"single": room.single_linkage, "complete": room.complete_linkage}[method]
    return oracles.run(algorithm(len(similarity)), oracles.SimilarityOracle(similarity))


def same_partition(a, b):
    "Whether two lists of labels group in the same way."
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def random_similarity(n, seed):
    "A symmetric matrix in which no two pairs are equal."
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.permutation(n * n).reshape(n, n), 1).astype(float)
    return upper + upper.T


def check_labels(labels, similarity, k, call):
    "The partition into k clusters is single linkage's."
    n = len(similarity)
    try:
        labels = np.asarray(labels).ravel().tolist()
    except ValueError:
        expect(False, f"{call} should give one label for each of the {n} objects, not lists of objects.")
    expect(len(labels) == n, f"{call} gives {len(labels)} labels, but should give one for each of the {n} objects.")
    expect(len(set(labels)) == k, f"{call} makes {len(set(labels))} clusters, but should make {k}.")
    want = linked(similarity, "single").cut(k).tolist()
    text = f"{call} groups the objects as {labels}, and single linkage as {want} (whatever the clusters' numbers)."
    expect(same_partition(labels, want), text)


@part("1a")
def part_1a(answers):
    labels = answers.function("single_linkage_labels")
    example = np.array([[0, 5, 1, 2.0], [5, 0, 4, 3], [1, 4, 0, 6], [2, 3, 6, 0]])
    check_labels(labels(example, 2), example, 2, "single_linkage_labels(example, 2)")
    for seed in range(3):
        similarity = random_similarity(7, seed)
        for k in (1, 3, 7):
            call = f"single_linkage_labels(W, {k}) for a random W with 7 objects"
            check_labels(labels(similarity.copy(), k), similarity, k, call)


def check_trap(similarity, labels, n_each, call):
    "Two clear groups that complete linkage finds and single linkage does not."
    try:
        w, labels = np.asarray(similarity, float), np.asarray(labels).ravel()
    except (ValueError, TypeError):
        expect(False, f"{call} should give a matrix of numbers and a list of labels.")
    expect(w.ndim == 2 and w.shape[0] == w.shape[1], f"{call}: the matrix has shape {w.shape}, but should be square.")
    expect(len(labels) == len(w), f"{call}: {len(labels)} labels for {len(w)} objects.")
    expect(np.isfinite(w).all(), f"{call}: all similarities should be finite numbers.")
    expect(np.array_equal(w, w.T), f"{call}: the matrix should be symmetric.")
    sizes = np.unique(labels, return_counts=True)[1].tolist()
    expect(len(sizes) == 2, f"{call}: the labels name {len(sizes)} groups, but should name 2.")
    expect(min(sizes) >= n_each, f"{call}: the groups have {sizes} objects, but should have at least {n_each}.")
    pairs = np.triu_indices(len(w), 1)
    same = labels[pairs[0]] == labels[pairs[1]]
    inside, across = w[pairs][same].mean(), w[pairs][~same].mean()
    text = (
        f"{call}: mean similarity {inside:.3g} inside the groups and {across:.3g} across; it should be higher inside."
    )
    expect(inside > across, text)
    expect(len(np.unique(w[pairs])) == len(w[pairs]), f"{call}: no two pairs should be equally similar.")
    cuts = {name: linked(w, name).cut(2).tolist() for name in ("single", "complete")}
    text = f"{call}: complete linkage should find the two groups, and finds {cuts['complete']}."
    expect(same_partition(cuts["complete"], labels.tolist()), text)
    smaller = min(np.bincount(cuts["single"]))
    expect(smaller == 1, f"{call}: single linkage cuts off {smaller} objects, but should cut off a single one.")


@part("1b")
def part_1b(answers):
    for n in (4, 6):
        given = answers.function("trap")(n)
        expect(hasattr(given, "__len__") and len(given) == 2, f"trap({n}) should give two things: a matrix and labels.")
        check_trap(*given, n, f"trap({n})")


def is_number(value):
    "Whether this is one number; an array without axes is one, too."
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in "biuf"


def recovery_rate(snr, n_pure, runs, seed):
    "How often single linkage finds all planted clusters of two groups."
    import comparison_hc.hierarchical as room
    import comparison_hc.metrics as metrics

    hits = 0
    for number in range(runs):
        model = room.planted_hierarchy(n_pure, 1, 0.0, snr, 1.0, seed + number)
        hits += metrics.average_ari(model.dendrogram, linked(model.similarity, "single")) == 1
    return hits / runs


@part("2a")
def part_2a(answers):
    rate = answers.function("recovery")
    for snr, low, high in ((0.0, 0.0, 0.2), (8.0, 0.95, 1.0)):
        got = rate(snr, 4, 12)
        expect(is_number(got), f"recovery({snr}, 4, 12) gives {got!r}, but should give a number.")
        text = f"recovery({snr}, 4, 12) gives {got}, but should be between {low} and {high} at this δ/σ."
        expect(low <= got <= high, text)


@part("2b")
def part_2b(answers):
    for n_pure in (4, 16):
        got = answers.function("enough_separation")(n_pure)
        expect(is_number(got), f"enough_separation({n_pure}) should give a number.")
        check_enough(float(got), n_pure, 25, 1000)


def check_enough(snr, n_pure, runs, seed):
    "Single linkage recovers at this separation, and not at two thirds of it."
    at, below = (recovery_rate(value, n_pure, runs, seed) for value in (snr, 2 * snr / 3))
    call = f"enough_separation({n_pure}) gives {snr:.3g}"
    text = f"{call}; there single linkage recovers in {at:.0%} of {runs} draws, but should in 90% (75% is enough)."
    expect(at >= 0.75, text)
    text = f"{call}; but it recovers in {below:.0%} of {runs} draws at two thirds of that already: look for less."
    expect(below <= 0.8, text)


@part("3a")
def part_3a(answers):
    promised = answers.function("guaranteed_separation")
    for n_pure in (4, 16, 1000):
        want = 4 * np.sqrt(np.log(2 * n_pure / 0.1))
        expect_equal(promised(n_pure), want, f"guaranteed_separation({n_pure})", tol=1e-6)
    got = answers.value("times_too_safe", (int, float, np.number), "a number")
    text = f"`times_too_safe` is {got:.3g}; Theorem 1's separation, divided by the measured one, is between 2.5 and 6."
    expect(2.5 < got < 6, text)
