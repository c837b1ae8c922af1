"""An assignment on Balcan et al. (2020): all algorithms between single and complete linkage."""

from numbers import Real

import numpy as np

from ..core.validation import shown
from .checking import expect, packaged

assignment, part = packaged("draw-an-execution-tree")

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}
FIVE = np.array(
    [[0, 16, 13, 17, 12], [16, 0, 18, 19, 10], [13, 18, 0, 14, 15], [17, 19, 14, 0, 11], [12, 10, 15, 11, 0.0]]
)
THIN = 1e-9  # pieces that are thinner are rounding


def random_distances(n, seed):
    "A metric in which no two distances are equal."
    upper = np.triu(np.random.default_rng(seed).permutation(n * n).reshape(n, n) + n * n, 1).astype(float)
    return upper + upper.T


def true_leaves(D):
    "[(low, high, clusters in the order in which they are made)], by the package."
    import comparison_hc.link as room

    found = []
    for leaf in room.execution_tree(D, method="traversal"):
        members = [frozenset([i]) for i in range(len(D))]
        for a, b in leaf.merges.tolist():
            members.append(members[a] | members[b])
        found.append((leaf.low, leaf.high, members[len(D) :]))
    return found


def in_letters(cluster, as_letters):
    "A cluster for a sentence."
    return "".join(LETTERS[i] for i in sorted(cluster)) if as_letters else str(set(sorted(cluster)))


def read_cluster(value, n):
    "A cluster as a set of numbers; None if it is none."
    try:
        named = value.strip().upper() if isinstance(value, str) else value
        members = [_NUMBERS[i] if isinstance(i, str) else int(i) for i in named]
    except (KeyError, TypeError, ValueError):
        return None
    good = 2 <= len(members) == len(set(members)) and min(members) >= 0 and max(members) < n
    return frozenset(members) if good else None


def read_pieces(got, call, form):
    "Pieces of three, as tuples, whatever they hold; `read_ends` reads their numbers."
    expect(hasattr(got, "__iter__") and not isinstance(got, (str, dict)), f"{call} should be {form}.")
    pieces = []
    for piece in got:
        good = isinstance(piece, (list, tuple, np.ndarray)) and len(piece) == 3
        expect(good, f"{call} should be {form}; it holds {shown(piece)}.")
        pieces.append(tuple(piece))
    expect(pieces, f"{call} should be {form}; it is empty.")
    return pieces


def read_ends(pieces, low, high, call, tol):
    "(low, high, rest) with numbers as ends that abut, from low to high."
    kinds = (Real, np.number)
    at, found = low, []
    for begin, end, rest in pieces:
        is_number = isinstance(begin, kinds) and isinstance(end, kinds)
        expect(is_number, f"{call}: an interval from {begin!r} to {end!r}; both ends should be numbers.")
        begin, end = float(begin), float(end)
        text = f"{call}: an interval begins at {begin:.4g}, but should begin at {at:.4g}, where the one before it ends."
        expect(abs(begin - at) <= tol, text)
        expect(end >= begin, f"{call}: an interval from {begin:.4g} to {end:.4g} runs backwards.")
        if end - begin > THIN:
            found.append((float(begin), float(end), rest))
        at = end
    expect(abs(at - high) <= tol, f"{call}: the last interval ends at {at:.4g}, but should end at {high:.4g}.")
    return found


def read_leaves(got, n, call, tol, as_letters):
    "A student's leaves as `true_leaves` has them."
    pieces = read_pieces(got, call, "a list of (low, high, clusters made)")
    found = []
    for low, high, made in read_ends(pieces, 0.0, 1.0, call, tol):
        is_list = isinstance(made, (list, tuple, np.ndarray))
        expect(is_list, f"{call}: in [{low:.4g}, {high:.4g}) the clusters are {made!r}, but should be a list of them.")
        clusters = [read_cluster(value, n) for value in made]
        for value, cluster in zip(made, clusters):
            example = "'AB'" if as_letters else "(0, 1)"
            expect(cluster is not None, f"{call}: {value!r} is not a cluster; write it like {example}.")
        if len(clusters) == n - 2:
            clusters.append(frozenset(range(n)))  # the last merge says nothing
        text = f"{call}: {len(clusters)} clusters are made in [{low:.4g}, {high:.4g}); {n} objects need {n - 1} merges."
        expect(len(clusters) == n - 1, text)
        found.append((low, high, clusters))
    return found


def check_leaves(got, D, call, tol=1e-6, as_letters=False):
    "The leaves of an execution tree: right runs, on the right intervals, each once."
    theirs, true = read_leaves(got, len(D), call, tol, as_letters), true_leaves(D)
    middles = sorted((low + high) / 2 for low, high, _ in [*true, *theirs])
    for x in middles:
        if min(abs(x - low) for low, _, _ in true[1:] or [(2, 0, 0)]) <= tol:
            continue  # a sliver beside a breakpoint that is right within the tolerance
        made, want = ([c for low, high, c in leaves if low <= x < high][0] for leaves in (theirs, true))
        for step, (one, other) in enumerate(zip(made, want), 1):
            text = f"{call}: at α = {x:.4g} merge {step} makes {in_letters(one, as_letters)}"
            expect(one == other, f"{text}; another pair of clusters is closer there.")
    for (low, _, one), (_, high, other) in zip(theirs, theirs[1:]):
        text = f"{call}: the same run is made everywhere in [{low:.4g}, {high:.4g}): this is one leaf, not two."
        expect(one != other, text)
    for low, _, _ in theirs[1:]:
        near = min(abs(low - begin) for begin, _, _ in true)
        expect(near <= tol, f"{call}: a leaf ends at {low:.6g}; but nothing changes at this α.")


@part("1a")
def part_1a(answers):
    got = answers.value("by_hand")
    check_leaves(got, FIVE, "`by_hand`", tol=0.01, as_letters=True)


def check_contest(function, f0, f1, low, high, call):
    "Who is lowest where."
    f0, f1 = np.asarray(f0, float), np.asarray(f1, float)
    got = function(f0.tolist(), f1.tolist(), low, high)
    pieces = [(begin, end, i) for i, begin, end in read_pieces(got, call, "a list of (line, low, high)")]
    scale = max(1.0, float(np.abs([f0, f1]).max()))
    pieces = read_ends(pieces, low, high, call, 1e-6)
    for begin, end, i in pieces:
        good = isinstance(i, (Real, np.number)) and i in range(len(f0))
        expect(good, f"{call} names the line {shown(i)}, but should name one of 0 to {len(f0) - 1}.")
        i = int(i)
        for x in (begin + share * (end - begin) for share in (0.01, 0.5, 0.99)):
            values = (1 - x) * f0 + x * f1
            best = int(values.argmin())
            text = f"{call} names line {i} as the lowest at α = {x:.4g}; it is {values[i]:.6g} there, and line {best}"
            expect(values[i] <= values[best] + 1e-7 * scale, f"{text} is {values[best]:.6g}.")
    for (begin, _, i), (_, end, j) in zip(pieces, pieces[1:]):
        expect(
            i != j, f"{call}: line {int(i)} is lowest everywhere in [{begin:.4g}, {end:.4g}): one interval, not two."
        )


def random_lines(m, seed):
    "Ends of lines, all different."
    rng = np.random.default_rng(seed)
    return rng.permutation(50 * m)[:m] / 10 + 1, rng.permutation(50 * m)[:m] / 10 + 1


@part("1b")
def part_1b(answers):
    contest = answers.function("contest")
    check_contest(contest, [11, 13, 16], [15, 13, 17], 0.0, 1.0, "contest([11, 13, 16], [15, 13, 17], 0, 1)")
    check_contest(contest, [11, 13, 16], [15, 13, 17], 0.6, 0.8, "contest([11, 13, 16], [15, 13, 17], 0.6, 0.8)")
    for seed in range(4):
        check_contest(contest, *random_lines(6, seed), 0.0, 1.0, "contest of 6 random lines on [0, 1]")


@part("2a")
def part_2a(answers):
    leaves = answers.function("leaves")
    check_leaves(leaves(FIVE.copy()), FIVE, "leaves(FIVE)")
    for n, seed in ((3, 0), (6, 1), (7, 2)):
        D = random_distances(n, seed)
        check_leaves(leaves(D.copy()), D, f"leaves(D) for random distances of {n} objects")


def read_metric(D, call, most, exactly=None):
    "A metric on a few objects."
    try:
        D = np.asarray(D, float)
    except (TypeError, ValueError):
        D = np.empty(0)
    expect(D.ndim == 2 and D.shape[0] == D.shape[1], f"{call}: D has the shape {D.shape}, but should be square.")
    n = len(D)
    expect(exactly is None or n == exactly, f"{call}: D is about {n} objects, but should be about {exactly}.")
    expect(3 <= n <= most, f"{call}: D is about {n} objects, but should be about 3 to {most}.")
    off = ~np.eye(n, dtype=bool)
    good = np.isfinite(D).all() and (D[off] > 0).all() and (D.diagonal() == 0).all()
    expect(good, f"{call}: distances should be finite, above 0, and 0 on the diagonal.")
    expect(np.array_equal(D, D.T), f"{call}: D should be symmetric.")
    detour = (D[:, :, None] + D[None, :, :]).min(axis=1)  # i to j to k
    i, k = np.unravel_index((D - detour).argmax(), D.shape)
    text = f"{call}: D[{i}, {k}] is {D[i, k]:.4g}, but a way round is only {detour[i, k]:.4g}, so D is not a metric."
    expect(D[i, k] <= detour[i, k] * (1 + 1e-9), text)
    return D


def losses_of_leaves(D, labels):
    "[(low, high, pruning loss)]."
    import comparison_hc.link as room
    import comparison_hc.metrics as metrics

    leaves = room.execution_tree(D, method="traversal")
    return [(leaf.low, leaf.high, metrics.pruning_loss(leaf.dendrogram, labels)) for leaf in leaves]


def check_needle(got, m, call):
    "No α of the grid is right, and one between is."
    expect(hasattr(got, "__len__") and len(got) == 2, f"{call} should give two things: D and labels.")
    D = read_metric(got[0], call, 12)
    labels = np.asarray(got[1]).ravel().tolist()
    expect(len(labels) == len(D), f"{call}: {len(labels)} labels for {len(D)} objects.")
    expect(len(set(labels)) >= 2, f"{call}: there should be at least two classes.")
    pieces = losses_of_leaves(D, labels)
    least = min(loss for _, _, loss in pieces)
    text = f"{call}: no α has a tree without loss; the smallest loss of all {len(pieces)} leaves is {least:.3g}."
    expect(least == 0, text)
    for i in range(m + 1):
        loss = next(loss for low, high, loss in pieces if i / m < high or high == 1)
        expect(loss > 0, f"{call}: α = {i}/{m} is on the grid and has no loss, so the grid finds it.")


@part("2b")
def part_2b(answers):
    for m in (4, 10):
        check_needle(answers.function("needle")(m), m, f"needle({m})")


def check_crowded(got, least):
    "Eight objects, many leaves."
    number = len(true_leaves(read_metric(got, "`crowded`", 8, 8)))
    text = f"`crowded` has {number} leaves, but should have at least {least}. (Random distances have about 7.)"
    expect(number >= least, text)


@part("3a")
def part_3a(answers):
    check_crowded(answers.value("crowded"), 15)
