"""The assignments on L20: the source has all points, the student version none, wrong answers are told what is wrong."""

from bisect import bisect_right

import numpy as np
from assignments import every_assignment, said

from comparison_hc.classroom.assignment_draw_an_execution_tree import random_distances, true_leaves
from comparison_hc.classroom.assignment_neither_end_wins import mean_regrets, random_staircases
from comparison_hc.link import alpha_linkage, learn_linkage, rings_and_disks

NAMES = ["draw-an-execution-tree", "neither-end-wins"]
FIRST, SECOND = NAMES
TestEvery = every_assignment(*NAMES)


BY_HAND = [
    (0, 0.2, ["BE", "BDE", "ABDE", "ABCDE"]),
    (0.2, 0.25, ["BE", "BDE", "AC", "ABCDE"]),
    (0.25, 0.5, ["BE", "AC", "BDE", "ABCDE"]),
    (0.5, 0.67, ["EB", "ca", "ABCE"]),
    (0.67, 1, ["BE", "AC", "ACD"]),
]


def test_a_tree_by_hand():
    assert said(FIRST, "1a", by_hand=BY_HAND) == ""
    assert said(FIRST, "1a", by_hand=tuple((low, high, tuple(made)) for low, high, made in BY_HAND)) == ""
    joined = [BY_HAND[0], (0.2, 0.5, BY_HAND[1][2]), *BY_HAND[3:]]  # the order of two merges forgotten
    assert "merge 2 makes BDE; another pair" in said(FIRST, "1a", by_hand=joined)
    late = [BY_HAND[0], (0.2, 0.3, BY_HAND[1][2]), (0.3, 0.5, BY_HAND[2][2]), *BY_HAND[3:]]
    assert "merge 2 makes BDE" in said(FIRST, "1a", by_hand=late) or "nothing changes" in said(
        FIRST, "1a", by_hand=late
    )
    twice = [(0, 0.1, BY_HAND[0][2]), (0.1, 0.2, BY_HAND[0][2]), *BY_HAND[1:]]
    assert "one leaf, not two" in said(FIRST, "1a", by_hand=twice)
    assert "still `...`" in said(FIRST, "1a", by_hand=...)
    assert "should be a list" in said(FIRST, "1a", by_hand=3)
    assert "'BX' is not a cluster" in said(FIRST, "1a", by_hand=[(0, 1, ["BX", "AC", "ABC"])])
    assert "begins at 0.3, but should begin at 0.2" in said(FIRST, "1a", by_hand=[BY_HAND[0], (0.3, 1, BY_HAND[1][2])])
    assert "last interval ends at 0.67" in said(FIRST, "1a", by_hand=BY_HAND[:-1])


def envelope(f0, f1, low, high):
    "By all crossings: slow, in plain Python, with pieces joined at the end."
    at = lambda i, x: (1 - x) * f0[i] + x * f1[i]  # noqa: E731
    lines, ends = range(len(f0)), {low, high}
    for i in lines:
        for j in range(i):
            d0, d1 = f0[j] - f0[i], f1[j] - f1[i]
            if d0 * d1 < 0 and low < d0 / (d0 - d1) < high:
                ends.add(d0 / (d0 - d1))
    ends, found = sorted(ends), []
    for begin, end in zip(ends, ends[1:]):
        best = min(lines, key=lambda i: at(i, (begin + end) / 2))
        if found and found[-1][0] == best:
            found[-1] = [best, found[-1][1], end]
        else:
            found.append([best, begin, end])
    return found


def test_contests():
    assert said(FIRST, "1b", contest=envelope) == ""
    assert said(FIRST, "1b", contest=lambda *given: tuple(map(tuple, envelope(*given)))) == ""
    ends_only = lambda f0, f1, low, high: [(int(np.argmin(f0)), low, high)]  # noqa: E731
    assert "names line 0 as the lowest at α = " in said(FIRST, "1b", contest=ends_only)
    not_low = lambda f0, f1, low, high: envelope(f0, f1, 0, 1)  # noqa: E731
    assert "begins at 0, but should begin at 0.6" in said(FIRST, "1b", contest=not_low)
    assert "list of (line, low, high)" in said(FIRST, "1b", contest=lambda *given: None)
    assert "one interval, not two" in said(
        FIRST, "1b", contest=lambda f0, f1, a, b: [(0, a, 0.3), *[(0, 0.3, 0.5), (1, 0.5, b)]]
    )


def as_sets(D):
    return [(low, high, [set(cluster) for cluster in made]) for low, high, made in true_leaves(D)]


def no_orders(D):
    "Leaves of one tree joined."
    found = []
    for low, high, made in true_leaves(D):
        if found and set(found[-1][2]) == set(made):
            found[-1] = (found[-1][0], high, found[-1][2])
        else:
            found.append((low, high, made))
    return found


def on_a_grid(D):
    "What eighty runs show."
    found = []
    for x in np.arange(80) / 80:
        tree = alpha_linkage(D, x)
        made = [tuple(objects.tolist()) for _, objects in tree.clusters()][len(D) :]
        if not found or found[-1][2] != made:
            found.append([x, 1, made])
    for one, other in zip(found, found[1:]):
        one[1] = other[0]
    return found


def test_leaves():
    assert said(FIRST, "2a", leaves=as_sets) == ""
    lists = lambda D: [(a, b, [sorted(c) for c in made[:-1]]) for a, b, made in as_sets(D)]
    assert said(FIRST, "2a", leaves=lists) == ""
    assert "another pair of clusters is closer there" in said(FIRST, "2a", leaves=no_orders)
    assert "leaves(FIVE): " in said(FIRST, "2a", leaves=lambda D: [(0, 1, true_leaves(D)[0][2])])
    assert "not written yet" in said(FIRST, "2a", leaves=lambda D: raises(NotImplementedError))
    few = lambda D: [(a, b, made[:1]) for a, b, made in as_sets(D)]  # noqa: E731
    assert "1 clusters are made" in said(FIRST, "2a", leaves=few)


def test_a_grid_does_not_give_the_ends_of_leaves():
    D = random_distances(6, 1)
    made = {3: on_a_grid(random_distances(3, 0)), 6: on_a_grid(D)}
    told = said(FIRST, "2a", leaves=lambda D: as_sets(D) if len(D) not in made else made[len(D)])
    assert "nothing changes at this α" in told or "another pair" in told


def raises(error):
    raise error


def needle(m, at=None, width=0.5, shift=30):
    "The middle line of three is lowest on an interval around `at`."
    a, d = (m // 2 + 0.5) / m if at is None else at, width / m
    D = np.zeros((5, 5))
    D[0, 1] = 1
    for other, height, slope in ((3, 10, 4), (2, 10 - d, 2), (4, 10, 0)):
        D[0, other], D[1, other] = height - slope * a, height + slope * (1 - a)
    D[3, 4], D[2, 3], D[2, 4] = 11, 20, 20
    D += D.T
    D[~np.eye(5, dtype=bool)] += shift
    return D, [0, 0, 0, 1, 1]


def test_needles():
    assert said(FIRST, "2b", needle=needle) == ""
    assert said(FIRST, "2b", needle=lambda m: (needle(m, (m // 2 - 0.5) / m)[0].tolist(), list("aaabb"))) == ""
    assert "α = 5/10 is on the grid" in said(FIRST, "2b", needle=lambda m: needle(m, 0.5 if m == 10 else None))
    assert "is on the grid and has no loss" in said(FIRST, "2b", needle=lambda m: needle(m, width=3))
    assert "not a metric" in said(FIRST, "2b", needle=lambda m: needle(m, shift=0))
    assert "no α has a tree without loss" in said(FIRST, "2b", needle=lambda m: (needle(m)[0], [0, 1, 0, 1, 1]))
    assert "at least two classes" in said(FIRST, "2b", needle=lambda m: (needle(m)[0], [0] * 5))
    assert "symmetric" in said(
        FIRST, "2b", needle=lambda m: (np.triu(needle(m)[0]) + np.tril(needle(m)[0]) * 1.1, [0] * 5)
    )


CROWDED = [190, 109, 107, 150, 187, 110, 163, 120, 177, 184, 160, 134, 179, 172]  # 19 leaves
CROWDED += [125, 136, 173, 188, 159, 194, 128, 105, 153, 111, 130, 148, 106, 151]


def test_crowds():
    found = np.zeros((8, 8))
    found[np.triu_indices(8, 1)] = CROWDED
    found += found.T
    assert said(FIRST, "3a", crowded=found) == ""
    assert said(FIRST, "3a", crowded=(found + 7 - 7 * np.eye(8)).tolist()) == ""  # other distances, the same runs
    assert "but should have at least 15" in said(FIRST, "3a", crowded=1 - np.eye(8))
    assert "about 9 objects, but should be about 8" in said(FIRST, "3a", crowded=1 - np.eye(9))


def average(curves):
    "In plain Python."
    points = sorted({x for breakpoints, _ in curves for x in breakpoints})
    step = lambda curve, x: curve[1][bisect_right(curve[0], x) - 1]  # noqa: E731
    return points, [sum(step(curve, x) for curve in curves) / len(curves) for x in points[:-1]]


def test_averages():
    assert said(SECOND, "1a", average=average) == ""

    def doubled(curves):
        "Every breakpoint twice: pieces of no width between."
        points, values = average(curves)
        return np.repeat(points, 2)[1:-1], np.repeat(values, 2)[:-1]

    def by_step(curves):
        "The means of first, second and further values, whatever their places."
        most = min(len(values) for _, values in curves)
        return np.linspace(0, 1, most + 1), np.mean([values[:most] for _, values in curves], axis=0)

    assert said(SECOND, "1a", average=doubled) == ""
    assert "but should be" in said(SECOND, "1a", average=by_step)
    grid = lambda curves: (np.linspace(0, 1, 12), [average(curves)[1][0]] * 11)  # noqa: E731
    assert "average of the two staircases of the picture is" in said(SECOND, "1a", average=grid)
    assert "there should be one value less" in said(SECOND, "1a", average=lambda curves: ([0, 1], [1, 1]))
    assert "rise from 0 to 1" in said(SECOND, "1a", average=lambda curves: ([0, 0.5], [1]))


def test_learning():

    def by_the_package(tasks):
        learned = learn_linkage(tasks)
        return learned.parameter, learned.loss

    def left_end(tasks):
        learned = learn_linkage(tasks)
        return [learned.intervals[-1][0], np.float64(learned.loss)]

    assert said(SECOND, "1b", learn=by_the_package) == ""
    assert said(SECOND, "1b", learn=left_end) == ""
    assert "elsewhere it is" in said(SECOND, "1b", learn=lambda tasks: (0.0, 0.5))
    assert "gives the loss" in said(SECOND, "1b", learn=lambda tasks: (by_the_package(tasks)[0], 0.9))
    assert "(α, loss)" in said(SECOND, "1b", learn=lambda tasks: 0.3)


def morning(seed, gap=0.7, noise=0.02):
    "Bars and bridged blocks, as the last hint has them."
    rng = np.random.default_rng(seed)
    along = np.linspace(0, 1.6, 10)
    block = np.stack(np.meshgrid(np.arange(3), np.arange(3)), -1).reshape(-1, 2) * 0.3 + [0, 3]
    bars = [np.column_stack([along, np.full(10, height)]) for height in (0, gap)]
    bridge = np.column_stack([[0.8, 1.0, 1.2], np.full(3, 3.3)])
    points = np.concatenate([*bars, block, block + [1.4, 0], bridge])
    return points + rng.normal(0, noise, points.shape), np.repeat([0, 1, 2, 3, 2, 3], [10, 10, 9, 9, 1, 2])


def test_kinds_of_data():
    assert said(SECOND, "2a", task=morning) == ""
    assert said(SECOND, "2a", task=lambda s: (morning(s, 0.6)[0].tolist(), [f"c{x}" for x in morning(s)[1]])) == ""
    assert "it should be better by 0.08" in said(SECOND, "2a", task=lambda seed: rings_and_disks(40, seed))
    halves = lambda seed: [one[:20] if seed % 2 else one[20:] for one in morning(seed)]  # noqa: E731
    assert said(SECOND, "2a", task=halves) == ""  # two kinds, and an α between that suits both

    def incompatible(seed):
        "Long bars close to each other, for α near 0 only, or bridged blocks, for larger ones."
        points, labels = morning(seed, 0.25)
        return (points[:20], labels[:20]) if seed % 2 else (points[20:], labels[20:])

    assert "it should be better by 0.08" in said(SECOND, "2a", task=incompatible)
    assert "the same points for two seeds" in said(SECOND, "2a", task=lambda seed: morning(0))
    unseeded = np.random.default_rng(0)
    assert "when it is called again" in said(SECOND, "2a", task=lambda seed: morning(unseeded.integers(1 << 30)))
    assert "has 400 points" in said(SECOND, "2a", task=lambda seed: rings_and_disks(400, seed))


def test_regrets():

    def right(training, others, last=False):
        points, values = average(training)
        i = len(values) - 1 - int(np.argmin(values[::-1])) if last else int(np.argmin(values))
        points, others = (points[i] + points[i + 1]) / 2, average(others)
        return others[1][bisect_right(others[0], points) - 1] - min(others[1])

    assert said(SECOND, "2b", regret=right) == ""
    assert said(SECOND, "2b", regret=lambda *given: np.float64(right(*given, last=True))) == ""
    assert "but should give" in said(SECOND, "2b", regret=lambda training, others: 0.0)
    assert "cannot be below 0" in said(SECOND, "2b", regret=lambda *given: -1.0)


def test_few_tasks_that_mislead():

    def rare(seed, share=0.25):
        points, labels = morning(seed)
        if np.random.default_rng((seed, 1)).random() < share:
            return points[20:], labels[20:]
        return np.concatenate([points[:20:2], np.full((46, 2), 9.0)]), np.repeat([0, 1, 2], [5, 5, 46])

    assert "should have at least 0.02" in said(SECOND, "3a", misleading=morning)
    assert "should have at least 0.02" in said(SECOND, "3a", misleading=lambda seed: rare(seed, 0.0))
    calls = {"found": 0}

    def days(seed):
        "Exactly every fourth is rare."
        calls["found"] += 1
        along = np.linspace(0, 1.6, 5)
        bars = np.concatenate([np.column_stack([along, np.full(5, h)]) for h in (0, 0.42)] + [np.full((46, 2), 5.0)])
        noise = np.random.default_rng(seed).normal(0, 0.02, bars.shape)
        return rare(seed, 1) if seed % 4 == 0 else ((bars + noise).tolist(), [0] * 5 + [1] * 5 + [2] * 46)

    halves = lambda seed: [one[:20] if seed % 2 else one[20:] for one in morning(seed)]
    assert "but should have a twelfth" in said(SECOND, "3a", misleading=halves)  # 2a's kind is not enough
    assert said(SECOND, "3a", misleading=days) == "" and calls["found"] == 61
    curves = random_staircases(20, 3)
    few, all_of_them = mean_regrets(curves, (2, 20), 0)
    assert few > all_of_them and abs(all_of_them) < 1e-12
