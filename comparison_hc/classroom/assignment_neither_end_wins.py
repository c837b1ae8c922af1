"""An assignment on Balcan et al. (2020): data for which a mix of two linkages is best, and data that mislead."""

from numbers import Real

import numpy as np

from ..core.validation import shown
from .checking import expect, packaged

assignment, part = packaged("neither-end-wins")


def distances(points):
    "Between all pairs of points."
    points = np.asarray(points, float)
    return np.linalg.norm(points[:, None] - points, axis=2)


def staircase(task):
    "(breakpoints, values) of the loss over α, of one task (D, labels)."
    import comparison_hc.link as room

    curve = room.piecewise_loss(*task).simplified()
    return curve.breakpoints.tolist(), curve.values.tolist()


def some_tasks(n_tasks, n, seed):
    "Rings and disks as (D, labels)."
    import comparison_hc.link as room

    made = [room.rings_and_disks(n, np.random.default_rng((seed, i))) for i in range(n_tasks)]
    return [(distances(points), labels) for points, labels in made]


def random_staircases(number, seed):
    "Staircases with values in eighths; some share breakpoints."
    rng, found = np.random.default_rng(seed), []
    for _ in range(number):
        inner = np.sort(rng.choice(np.arange(1, 16), rng.integers(0, 6), replace=False)) / 16
        found.append(([0.0, *inner.tolist(), 1.0], (rng.integers(0, 9, len(inner) + 1) / 8).tolist()))
    return found


def at(curve, x):
    "The values of a staircase."
    breakpoints, values = (np.asarray(one, float) for one in curve)
    return values[np.minimum(np.searchsorted(breakpoints, x, side="right") - 1, len(values) - 1)]


def mean_at(curves, x):
    "The average of staircases, by evaluation."
    return np.mean([at(curve, x) for curve in curves], axis=0)


def middles(curves):
    "A point in every piece on which all staircases are constant."
    ends = np.unique(np.concatenate([np.asarray(breakpoints, float) for breakpoints, _ in curves]))
    return (ends[1:] + ends[:-1]) / 2


def read_staircase(got, call):
    "A staircase from 0 to 1."
    form = "two lists: breakpoints from 0 to 1, and one value less than breakpoints"
    expect(hasattr(got, "__len__") and len(got) == 2, f"{call} should give {form}.")
    try:
        breakpoints, values = (np.asarray(one, float).ravel() for one in got)
    except (TypeError, ValueError):
        expect(False, f"{call} should give {form}, all of them numbers.")
    text = f"{call} gives {len(breakpoints)} breakpoints and {len(values)} values; there should be one value less."
    expect(len(values) == len(breakpoints) - 1 > 0, text)
    ends = breakpoints[0] == 0 and breakpoints[-1] == 1 and (np.diff(breakpoints) >= 0).all()
    expect(ends, f"{call}: breakpoints should rise from 0 to 1.")
    return breakpoints, values


def check_average(function, curves, call):
    "The average of staircases."
    got = read_staircase(function(curves), call)
    x = np.unique(np.concatenate([middles([*curves, got]), got[0][:-1]]))
    have, want = at(got, x), mean_at(curves, x)
    place = int(np.abs(have - want).argmax())
    text = f"{call} is {have[place]:.6g} at α = {x[place]:.6g}, but should be {want[place]:.6g} there."
    expect(abs(have[place] - want[place]) <= 1e-9, text)


@part("1a")
def part_1a(answers):
    average = answers.function("average")
    two = [([0.0, 0.5, 1.0], [0.2, 0.0]), ([0.0, 0.25, 1.0], [0.4, 0.6])]
    check_average(average, two, "average of the two staircases of the picture")
    for seed in range(3):
        check_average(average, random_staircases(4, seed), "average of 4 random staircases")


def check_learned(got, curves, call):
    "A best α with its loss; any of them."
    good = hasattr(got, "__len__") and len(got) == 2
    good = good and not isinstance(got, dict) and all(isinstance(one, (Real, np.number)) for one in got)
    expect(good, f"{call} should give (α, loss), two numbers; it gives {shown(got)}.")
    alpha, loss = map(float, got)
    expect(0 <= alpha <= 1, f"{call} gives α = {alpha:.4g}, but should give one in [0, 1].")
    least, have = mean_at(curves, middles(curves)).min(), mean_at(curves, alpha)
    text = f"{call} gives α = {alpha:.6g}, where the average loss is {have:.6g}; elsewhere it is {least:.6g}."
    expect(have <= least + 1e-9, text)
    expect(abs(loss - have) <= 1e-9, f"{call} gives the loss {loss:.6g}, and at its α the average is {have:.6g}.")


@part("1b")
def part_1b(answers):
    learn = answers.function("learn")
    for n_tasks, n, seed in ((1, 12, 0), (5, 12, 1)):
        tasks = some_tasks(n_tasks, n, seed)
        check_learned(
            learn(tasks),
            [staircase(task) for task in tasks],
            f"learn({n_tasks} task{'s' * (n_tasks > 1)} of {n} points)",
        )


def read_task(got, call, least=20, most=60):
    "Points of the plane with classes."
    expect(hasattr(got, "__len__") and len(got) == 2, f"{call} should give two things: points and labels.")
    try:
        points, labels = np.asarray(got[0], float), np.asarray(got[1]).ravel()
    except (TypeError, ValueError):
        points, labels = np.empty(0), np.empty(0)
    n = len(points)
    good = points.ndim == 2 and points.shape[1] == 2
    expect(good, f"{call}: points have the shape {points.shape}, but should be numbers of shape (n, 2).")
    expect(np.isfinite(points).all(), f"{call}: some coordinates are infinite or not a number.")
    expect(least <= n <= most, f"{call} has {n} points, but should have {least} to {most}.")
    expect(len(labels) == n, f"{call} has {len(labels)} labels for {n} points.")
    names, sizes = np.unique(labels, return_counts=True)
    text = f"{call} has classes of {sizes.tolist()} points; there should be 2 to 6 classes, each of 3 points or more."
    expect(2 <= len(names) <= 6 and sizes.min() >= 3, text)
    return points, labels


def drawn_tasks(task, seeds, call, least=20):
    "The staircases of a student's tasks."
    made = [read_task(task(seed), f"{call}({seed})", least) for seed in seeds]
    first = made[0][0]
    differ = [points.shape != first.shape or not np.array_equal(points, first) for points, _ in made[1:]]
    expect(all(differ), f"{call} gives the same points for two seeds; different seeds should give different points.")
    again = np.asarray(task(seeds[0])[0], float)
    expect(np.array_equal(again, first), f"{call}({seeds[0]}) gives other points when it is called again.")
    return [staircase((distances(points), labels)) for points, labels in made]


def check_neither(task, seeds, margin, call="task"):
    "Both ends lose by a margin against the best α between."
    curves = drawn_tasks(task, list(seeds), call)
    x = middles(curves)
    values = mean_at(curves, x)
    least, ends = values.min(), mean_at(curves, np.array([0.0, 1.0]))
    for name, end in zip(("single linkage, α = 0,", "complete linkage, α = 1,"), ends):
        text = f"On {len(curves)} draws of {call}, {name} has an average loss of {end:.3f}, and the best α"
        best = f"({x[values.argmin()]:.3g}) has {least:.3f}"
        expect(end >= least + margin, f"{text} {best}: it should be better by {margin}.")


@part("2a")
def part_2a(answers):
    check_neither(answers.function("task"), range(12), 0.08)


def check_regret(function, training, others, call):
    "What the learned α costs on others: that of any best α on the training staircases."
    got = function(training, others)
    expect(isinstance(got, (Real, np.number)), f"{call} gives {shown(got)}, but should give a number.")
    x = middles([*training, *others])
    learned, there = mean_at(training, x), mean_at(others, x)
    right = there[learned <= learned.min() + 1e-9] - there.min()
    expect(got >= -1e-9, f"{call} gives {float(got):.6g}, but cannot be below 0, because no α is better than the best.")
    close = np.abs(right - float(got)).min() <= 1e-9
    values = " or ".join(f"{value:.6g}" for value in np.unique(right.round(12))[:4])
    expect(close, f"{call} gives {float(got):.6g}, but should give {values}, according to which best α is taken.")


@part("2b")
def part_2b(answers):
    for seed in range(3):
        training, others = random_staircases(3, seed), random_staircases(4, seed + 50)
        check_regret(answers.function("regret"), training, others, "regret(3 random staircases, 4 others)")


def mean_regrets(curves, numbers, seed, draws=60):
    "Mean regret of what is learned from so many of the tasks, on all of them."
    rng, x = np.random.default_rng(seed), middles(curves)
    widths = np.diff(np.unique(np.concatenate([breakpoints for breakpoints, _ in curves])))
    table = np.array([at(curve, x) for curve in curves])
    whole = table.mean(axis=0)
    found = []
    for number in numbers:
        losses = []
        for _ in range(draws):
            average = table[rng.choice(len(curves), number, replace=False)].mean(axis=0)
            best = average <= average.min() + 1e-9
            losses.append(np.average(whole[best], weights=widths[best]))  # any best α, at random
        found.append(float(np.mean(losses) - whole.min()))
    return found


def check_misleading(task, seeds, few, call="misleading"):
    "Few tasks mislead, many do not."
    curves = drawn_tasks(task, list(seeds), call, least=8)
    small, large = mean_regrets(curves, (few, len(curves) // 2), 0)
    text = f"α learned from {few} tasks of {call} has a mean regret of {small:.4f}"
    expect(small >= 0.02, f"{text}, but should have at least 0.02. What do so few tasks not show?")
    text = f"α learned from {len(curves) // 2} tasks of {call} still has a mean regret of {large:.4f}"
    expect(large <= 0.01, f"{text}, but should have at most 0.01, because many tasks should be enough.")
    text = f"{call}: {few} tasks have a mean regret of {small:.4f}, and {len(curves) // 2} of {large:.4f}"
    expect(small >= 12 * large, f"{text}, but should have a twelfth. Make the rare task rarer and its loss larger.")


@part("3a")
def part_3a(answers):
    check_misleading(answers.function("misleading"), range(60), 3)
