"""Simulated answers about distances of a known shape, and three models of them: dendrogram, additive tree, points."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..additive_tree import AdditiveTree
from ..comparisons import Triplets
from ..core import additive as engine
from ..core.validation import integer_from, number_from, one_of
from ..dendrogram import Dendrogram, random_tree
from ..evaluation import embedding_average_linkage, t_ste
from ..evaluation.shape import dendrogram_distances, point_distances, scores, spectral_points
from .framework import Settings, as_settings, no_step, setting

N_NEW = 4000  # answers by which the models are judged
NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _points(d, n, rng):
    x = rng.random((n, d))
    return np.linalg.norm(x[:, None] - x, axis=2)


def _groups(n, rng):
    return np.sort(rng.random(n))[random_tree(n, rng).lca_step()] * (1 - np.eye(n))


def _tree(n, rng):
    parent = engine.random_topology(n, rng)
    return engine.path_lengths(engine.leaves_below(parent), rng.exponential(size=len(parent) - 1))


WORLDS = {
    "a line": partial(_points, 1),
    "the plane": partial(_points, 2),
    "nested groups": _groups,
    "an additive tree": _tree,
    "two additive trees": lambda n, rng: _tree(n, rng) + _tree(n, rng),
}


@dataclass(frozen=True)
class AdditiveSettings(Settings):
    """The controls of the page `additive`.

    Examples
    --------
    >>> from comparison_hc.dashboards import AdditiveSettings
    >>> AdditiveSettings(n=8).columns("seed")
    {'world': 'an additive tree', 'n': 8, 'answers': 800, 'noise': 0.33}
    """

    world: str = setting(
        "an additive tree", one_of(WORLDS), "true shape", "shape of the true distances", list(WORLDS), name="world"
    )
    n: int = setting(12, integer_from(7, 26), "objects", "how many objects", [8, 10, 12, 16, 20, 26])
    answers: int = setting(
        800,
        integer_from(50, 20_000),
        "answers",
        "random triplets, answered once each",
        [50, 100, 200, 400, 800, 1600, 3200],
    )
    noise: float = setting(
        0.33,
        number_from(0.05, 3),
        "noise",
        "ratio of one unit of log-odds to the standard deviation of the true distances",
        [0.1, 0.2, 0.33, 0.5, 1.0, 2.0],
    )
    seed: int = setting(0, integer_from(0), "seed", "number of the random draw", range(10))


def draw_answers(distances, m, rng):
    "Random triplets, each answered with the probability of the logistic model at these distances."
    n = len(distances)
    i, j, k = rng.permuted(np.tile(np.arange(n), (m, 1)), axis=1)[:, :3].T
    right = rng.random(m) < 1 / (1 + np.exp(distances[i, j] - distances[i, k]))
    return Triplets(np.stack([i, np.where(right, j, k), np.where(right, k, j)], axis=1), n, names=list(NAMES[:n]))


def draw_world(settings):
    """((n, n) true distances in units of log-odds, given answers, new answers).

    With fewer answers, the given ones are the first of those with more.
    """
    as_settings(settings, AdditiveSettings)
    world, given, new = np.random.default_rng(settings.seed).spawn(3)
    D = WORLDS[settings.world](settings.n, world)
    D = D / D[np.triu_indices(settings.n, 1)].std() / settings.noise
    most = draw_answers(D, max(settings.answers, 3200), given)
    return D, most.take(slice(0, settings.answers)), draw_answers(D, N_NEW, new)


def fitted_models(given, step=no_step):
    "Dendrogram, additive tree and points of the answers, with (n, n) distances of each."
    step("points", 0, 3)
    near, x, _ = point_distances(given, spectral_points(given, 2))
    step("dendrogram", 1, 3)
    groups = embedding_average_linkage(t_ste(given, ridge=0.1, start="spectral"), "euclidean")
    step("additive tree", 2, 3)
    tree = AdditiveTree(n_trees=1, rate=1.0, lapse=0.0).fit(given)
    by_tree = dendrogram_distances(given, groups)[0], dendrogram_distances(given, tree.dendrogram_)[0]
    losses = [scores(each, given)[1] for each in by_tree]
    at = int(losses[1] < losses[0])
    groups = Dendrogram((groups, tree.dendrogram_)[at].linkage_matrix, names=given.names)
    return {"dendrogram": (groups, by_tree[at]), "additive tree": (tree, tree.distances_), "points": (x, near)}


def judged(models, D, new):
    "{name: (agreement, log loss)} of models, and of the true distances, by new answers."
    distances = {name: each for name, (_, each) in models.items()} | {"ceiling": D}
    return {name: scores(each, new)[:2] for name, each in distances.items()}


def additive_data(settings: AdditiveSettings) -> dict:
    """Compute the agreement and the log loss that the dashboard `additive` shows at one setting.

    Parameters
    ----------
    settings : AdditiveSettings
        The values of the controls.

    Returns
    -------
    dict
        For "dendrogram", "additive tree", "points" and the "ceiling" (the true distances): agreement with new answers,
        where a tie counts half, and log loss.

    Examples
    --------
    >>> from comparison_hc.dashboards import AdditiveSettings, additive_data
    >>> list(additive_data(AdditiveSettings(n=8, answers=100)))
    ['dendrogram', 'additive tree', 'points', 'ceiling']
    """
    D, given, new = draw_world(settings)
    return judged(fitted_models(given), D, new)
