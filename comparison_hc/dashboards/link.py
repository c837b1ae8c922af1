"""Go through all algorithms between two linkages or metrics, and see which of them is best for a kind of task."""

from dataclasses import dataclass

import numpy as np

from ..core.validation import as_rng, integer_from, one_of
from ..link.execution import PiecewiseLoss, execution_tree, piecewise_loss
from ..link.learning import average_loss
from ..link.merge import rings_and_disks
from ..metrics import best_pruning
from ..reproduce.l20_tasks import cosine_distances, edge_histograms
from ..reproduce.simulation import MIXES
from .framework import Settings, as_settings, no_step, setting


@dataclass(frozen=True)
class LinkTask:
    "One clustering task, and where to draw its points."

    metrics: tuple  # three (n, n) distance matrices: for mixes of linkages, at β = 0, at β = 1
    labels: np.ndarray  # (n,) classes 0..k−1
    names: tuple  # of the classes
    points: np.ndarray  # (n, 2) in the plane
    axes: str  # a sentence: what the plane is


def _scaled(*metrics):
    return tuple(D / D.mean() for D in metrics)


def _choose(labels, classes, per_class, rng):
    "(objects, their classes as 0..k−1)."
    chosen = np.concatenate([rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in classes])
    return chosen, np.repeat(np.arange(len(classes)), per_class)


def _principal(rows):
    "(n, 2) the plane in which the rows vary most."
    rows = rows - rows.mean(axis=0)
    u, s, vt = np.linalg.svd(rows, full_matrices=False)
    return u[:, :2] * s[:2] * np.sign(vt[:2, np.abs(vt[:2]).argmax(axis=1)].diagonal())


def rings_task(per_class, rng):
    "L20's synthetic distribution."
    from scipy.spatial.distance import cdist

    points, labels = rings_and_disks(4 * per_class, rng)
    radius = np.linalg.norm(points, axis=1)[:, None]
    flat = cdist(points, points)
    names = ("inner ring", "outer ring", "upper disk", "lower disk")
    return LinkTask(_scaled(flat, flat, cdist(radius, radius)), labels, names, points, "The plane itself.")


def digits_task(per_class, rng):
    "Five of ten digits."
    from scipy.spatial.distance import cdist
    from sklearn.datasets import load_digits

    digits = load_digits()
    classes = np.sort(rng.choice(10, 5, replace=False))
    chosen, labels = _choose(digits.target, classes, per_class, rng)
    pixels = digits.data[chosen]
    edges = edge_histograms(digits.images[chosen], cells=4)
    flat = cdist(pixels, pixels)
    names = tuple(f"digit {c}" for c in classes)
    axes = "The first two principal components of the pixels."
    return LinkTask(_scaled(flat, flat, cosine_distances(edges)), labels, names, _principal(pixels), axes)


def iris_task(per_class, rng):
    "Flowers of three species."
    from scipy.spatial.distance import cdist
    from sklearn.datasets import load_iris

    iris = load_iris()
    chosen, labels = _choose(iris.target, range(3), per_class, rng)
    rows = iris.data[chosen]
    metrics = _scaled(*(cdist(part, part) for part in (rows, rows[:, :2], rows[:, 2:])))
    names = tuple(map(str, iris.target_names))
    return LinkTask(metrics, labels, names, rows[:, [0, 2]], "Across: sepal length; up: petal length.")


TASKS = {"rings and disks": rings_task, "digits": digits_task, "iris": iris_task}
METRICS = {
    "rings and disks": ("Euclidean", "distance from the origin"),
    "digits": ("pixels", "edges"),
    "iris": ("sepals", "petals"),
}  # what the two metrics are

MOST_POINTS = 50  # a class
SIZES = [2, 3, 5, 10, 15, 20, 30, 40, 50]
MOST_TASKS = 1000  # in the average
FAMILIES = MIXES | {"two metrics": "complete"}
SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # tasks after which the average is shown
TASK_HELP = "number of the task that is shown"
TASKS_HELP = "number of tasks in the average, from task 0 on"


@dataclass(frozen=True)
class LinkSettings(Settings):
    """The controls of the page `link`, but for α.

    Examples
    --------
    >>> from comparison_hc.dashboards import LinkSettings
    >>> LinkSettings(family="two metrics").parameter
    'β'
    """

    kind: str = setting(
        "rings and disks", one_of(TASKS), "kind of task", "distribution of the tasks", TASKS, name="kind"
    )
    family: str = setting("single–complete", one_of(FAMILIES), "family", "linkages or metrics that are mixed", FAMILIES)
    per_class: int = setting(
        50, integer_from(2, MOST_POINTS), "points per class", "size of a task", SIZES, name="per_class"
    )
    task: int = setting(1, integer_from(0), "task", TASK_HELP, range(50), unit="draw number")
    tasks: int = setting(20, integer_from(1, MOST_TASKS), "tasks in the average", TASKS_HELP, SHOWN, name="tasks")

    @property
    def parameter(self) -> str:
        "The letter of what is swept."
        return "β" if self.family == "two metrics" else "α"


def draw_task(settings, number=None):
    "The task with this number."
    return TASKS[settings.kind](settings.per_class, as_rng(settings.task if number is None else number))


def family_of(settings, task):
    "What a family mixes on a task."
    distances = task.metrics[1:] if settings.family == "two metrics" else task.metrics[0]
    return distances, FAMILIES[settings.family]


def guessed_classes(dendrogram, labels):
    "The best pruning, in the names of the classes. A cluster that is matched to none gets one that is left."
    best = best_pruning(dendrogram, labels)
    left = iter(sorted(set(labels.tolist()) - set(best.assignment)))
    stands_for = np.array([next(left) if c is None else c for c in best.assignment])
    return stands_for[best.partition], best.loss


@dataclass(frozen=True, eq=False)
class AllTrees:
    "All that a family does on one task. Tree t holds on [breaks[firsts[t]], breaks[firsts[t+1]]), the last one to 1."

    breaks: np.ndarray  # (M+1,) where pieces begin, and 1
    firsts: np.ndarray  # (T,) number of the first piece of every tree
    merges: np.ndarray  # (T, n−1, 2) node numbers as in SciPy
    heights: np.ndarray  # (T, n−1) distances of merged clusters where the tree begins
    guesses: np.ndarray  # (T, n) the class that every object's cluster in the best pruning stands for
    losses: np.ndarray  # (T,)

    @property
    def curve(self):
        "Loss against the parameter, as a step function."
        return PiecewiseLoss(np.append(self.breaks[self.firsts], 1.0), self.losses, len(self.losses))


def all_trees(settings, task, step=no_step):
    "Every piece of the family on this task, with the best pruning of every tree."

    def watched(x):
        step(f"pieces up to {settings.parameter} = {x:.2f}", 100 * x, 100)

    leaves = execution_tree(*family_of(settings, task)).leaves(progress=watched)
    firsts = [i for i, leaf in enumerate(leaves) if i == 0 or not leaf.same_topology]
    found = []
    for done, i in enumerate(firsts):
        step("best prunings", done, len(firsts))
        found.append(guessed_classes(leaves[i].dendrogram, task.labels))
    guesses, losses = zip(*found)
    trees = [leaves[i] for i in firsts]
    merges = np.array([leaf.merges for leaf in trees])
    heights = np.array([leaf.heights for leaf in trees])
    return AllTrees(leaves.breakpoints, np.array(firsts), merges, heights, np.array(guesses), np.array(losses))


def one_curve(settings, number, step=no_step):
    "The exact loss of one task of the average."

    def watched(x):
        step(f"task {number + 1} for the average", number, settings.tasks)

    task = draw_task(settings, number)
    D, merges = family_of(settings, task)
    return piecewise_loss(D, task.labels, merges, progress=watched).simplified()


def link_data(settings: LinkSettings) -> dict:
    """What the page shows at one setting, for Python.

    Parameters
    ----------
    settings : LinkSettings
        The values of the controls.

    Returns
    -------
    dict
        task, trees, curve and average (each a `PiecewiseLoss`).

    Examples
    --------
    >>> from comparison_hc.dashboards import LinkSettings, link_data
    >>> sorted(link_data(LinkSettings(per_class=5, tasks=2)))
    ['average', 'curve', 'task', 'trees']
    """
    as_settings(settings, LinkSettings)
    task = draw_task(settings)
    trees = all_trees(settings, task)
    average = average_loss([one_curve(settings, number) for number in range(settings.tasks)])
    return dict(task=task, trees=trees, curve=trees.curve, average=average)
