"""What a study will reach: agreement and stability between its halves, in worlds that look like the pilot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparisons import Triplets
from ..core.partitions import cluster_nearness
from ..core.validation import as_rng, check_choice, check_integer, check_number, check_progress, require
from ..evaluation._splits import object_groups
from ..evaluation.model_selection import signed_correctness
from ..methods import build_hierarchy
from .designs import hidden_groups, study_rows
from .pilot import ROWS_PER_QUESTION, checked_pilot, most_levels

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["StudyForecast", "forecast_study", "halves_of_study"]

N_WORLDS, NEAREST = 240, 0.3  # simulated worlds, and the share of them that the forecast with a pilot is made from
RANGE = 0.8  # probability of the stated range
WIDER = 2.0  # times the range in simulated worlds, on the scale of log-odds: people live in none of them
MEASURES = ("agreement", "stability")
DEFINED = {
    "agreement": "the share of the answers of one half of the study that the tree of the other half predicts; "
    "an undecided answer counts as one half, and 0.5 is chance",
    "stability": "how closely the tree of one half reproduces the branches of the tree of the other half: "
    "mean transfer similarity, 1 if all branches recur exactly, 0 if none is even partly recovered",
}
PRIOR = (
    "half of the worlds are trees of 1 to {levels} levels with δ/σ from 0.4 to 8, half are points in 1 to 8 dimensions "
    "with up to 8 clusters; errors in {noise} of the answers"
)


def stability(first, second):
    "Mean transfer similarity of the branches of two trees, in both directions; NaN without branches below the root."
    both = [cluster_nearness(*pair)[1][:-1] for pair in ((first, second), (second, first))]
    return float(np.mean(both)) if both[0].size else np.nan


def halves_of_study(
    answers: Triplets, method: str = "3k-al", n_splits: int = 2, rng: int | np.random.Generator = 0
) -> dict[str, float]:
    """Measure a study by its own halves, as `forecast_study` foretells it.

    Parameters
    ----------
    answers : Triplets
        All answers; those about the same three objects are in one half.
    method : str, default "3k-al"
        A passive method.
    n_splits : int, default 2
        Random splits into halves, over which the mean is taken.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    dict
        "agreement": mean share of a half's answers that the tree of the other half predicts, undecided ones as half.
        "stability": mean transfer similarity of the branches of the two trees.

    Raises
    ------
    InputError
        If the answers are about fewer than two sets of objects.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.whatif import halves_of_study
    >>> found = halves_of_study(load_dataset("animals").triplets)
    >>> {name: round(value, 1) for name, value in found.items()}
    {'agreement': 0.9, 'stability': 0.4}
    """
    generator = as_rng(rng)
    found = [_one_split(answers, method, generator)[0] for _ in range(check_integer(n_splits, "n_splits"))]
    return dict(zip(MEASURES, np.mean(found, axis=0).tolist()))


def _one_split(answers, method, rng, parts=False):
    "((agreement, stability) of one split, agreement of trees from half of each half if asked)."
    groups = object_groups(answers)
    n_groups = int(groups.max()) + 1
    require(n_groups >= 2, "answers", "about at least two different sets of objects", answers)
    side = (rng.permutation(n_groups) < (n_groups + 1) // 2)[groups]
    halves = answers.take(np.flatnonzero(side)), answers.take(np.flatnonzero(~side))
    trees = [build_hierarchy(method, half)[0] for half in halves]

    def reached(tree, half):
        return (1 + signed_correctness(tree, half).mean()) / 2

    agreement = np.mean([reached(trees[0], halves[1]), reached(trees[1], halves[0])])
    smaller = None
    if parts:
        quarter = halves[0].take(np.sort(rng.permutation(len(halves[0]))[: max(1, len(halves[0]) // 2)]))
        smaller = reached(build_hierarchy(method, quarter)[0], halves[1])
    return (float(agreement), stability(*trees)), smaller


def pilot_signs(pilot, method, rng, n_splits=2):
    "(3,) what a pilot looks like: agreement and stability of its halves, and agreement with half as many answers."
    found = [_one_split(pilot, method, rng, parts=True) for _ in range(n_splits)]
    return np.mean([[*halves, smaller] for halves, smaller in found], axis=0)


def draw_similarity(n_objects, rng):
    "A world of the prior: a planted hierarchy, or points in clusters."
    if rng.random() < 0.5:
        levels = int(rng.integers(1, most_levels(n_objects) + 1))
        clearness = float(np.exp(rng.uniform(np.log(0.4), np.log(8))))
        return hidden_groups(n_objects, levels, clearness, rng)[0]
    dimension, n_clusters = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    centres = rng.normal(size=(n_clusters, dimension)) * rng.uniform(0, 4)
    points = centres[rng.integers(n_clusters, size=n_objects)] + rng.normal(size=(n_objects, dimension))
    return -np.linalg.norm(points[:, None] - points, axis=2)


def simulated_study(n_objects, pilot, n_rows, design, noise, method, rng):
    "(signs of a pilot or None, halves of the study) in one world; `pilot` is (rows, objects, design) or None."
    similarity = draw_similarity(n_objects, rng)
    slips = rng.uniform(0, 0.4) if noise is None else noise

    def study(rows, n, kind):
        n_questions = max(2, round(rows / ROWS_PER_QUESTION[kind]))
        asked, known = "odd-one-out" if kind == "adaptive" else kind, similarity[:n, :n]
        return Triplets(study_rows(asked, known, n_questions, n_questions, slips, rng), n)

    signs = None if pilot is None else pilot_signs(study(*pilot), method, rng)
    return signs, _one_split(study(n_rows, n_objects, design), method, rng)[0]


@dataclass(frozen=True, eq=False)
class StudyForecast:
    """Forecast of the agreement and the stability between the halves of a study.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per measure: measure, forecast (median), low and high (the range that holds it with probability 0.8).
    assumption : str
        Assumption on the worlds in which studies were simulated.
    n_rows, n_objects, n_worlds : int
        Rows of the study, objects, and worlds that the forecast was made from.
    is_near : bool
        Whether some of these worlds look like the pilot; True without one.

    Examples
    --------
    >>> from comparison_hc.whatif import forecast_study
    >>> forecast_study(400, n_objects=12, n_worlds=40).n_worlds
    40
    """

    table: DataFrame
    assumption: str
    n_rows: int
    n_objects: int
    n_worlds: int
    is_near: bool

    def sentences(self) -> list[str]:
        """Describe the forecast: the assumption, the ranges, and the definitions of the measures.

        Returns
        -------
        list of str
            One sentence each.
        """
        ranges = []
        for row in self.table.itertuples():
            ranges.append(f"{row.measure} {row.low:.2f} to {row.high:.2f} (middle {row.forecast:.2f})")
        said = [f"Assumed: {self.assumption}."]
        if not self.is_near:
            said.append("Beware: none of the simulated worlds looks like the pilot, so the ranges are a rough guess.")
        said.append(
            f"With {self.n_rows:,} comparisons about {self.n_objects} objects, two halves of the study will have with "
            f"probability {RANGE:.0%}: {'; '.join(ranges)}."
        )
        return said + [f"{name.capitalize()}: {DEFINED[name]}." for name in MEASURES]


def forecast_study(
    n_rows: int,
    pilot: Triplets | None = None,
    n_objects: int | None = None,
    design: str = "triplets",
    pilot_design: str | None = None,
    noise: float | None = None,
    method: str = "3k-al",
    n_worlds: int = N_WORLDS,
    rng: int | np.random.Generator = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> StudyForecast:
    """Foretell agreement and stability between the halves of a study, with a range, averaged over many worlds.

    Worlds are drawn from a prior: planted hierarchies and points in clusters. In each, a pilot as large as the given
    one and the study are simulated. With a pilot, the worlds whose pilots look most like it are kept, and a weighted
    regression corrects for the differences that are left; without one, all worlds count. Ranges are twice as wide as in
    these worlds, since people live in none of them.

    Parameters
    ----------
    n_rows : int
        Rows (triplets) of the study; an odd-one-out or most-central answer makes two.
    pilot : Triplets, optional
        Answers that exist already, at least 60.
    n_objects : int, optional
        Number of objects, from 6; by default that of the pilot.
    design : {"triplets", "odd-one-out", "central", "adaptive", "grid"}, default "triplets"
        What people are asked in the study.
    pilot_design : str, optional
        What they were asked in the pilot; by default the same.
    noise : float, optional
        Probability of a response error, below 0.5; by default any from 0 to 0.4.
    method : str, default "3k-al"
        Method that builds the trees.
    n_worlds : int, default 240
        Number of simulated worlds, at least 40.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    progress : callable, optional
        Called with (worlds done, worlds in all).

    Returns
    -------
    StudyForecast
        The forecast of each measure, and the assumption behind it.

    Raises
    ------
    InputError
        If an argument breaks a rule.

    References
    ----------
    Beaumont, Zhang and Balding, Approximate Bayesian computation in population genetics, Genetics 162, 2002.

    Examples
    --------
    >>> from comparison_hc.whatif import forecast_study
    >>> found = forecast_study(400, n_objects=12, n_worlds=40)
    >>> found.table.measure.tolist()
    ['agreement', 'stability']
    """
    import pandas as pd

    n_rows, progress = check_integer(n_rows, "n_rows", 40), check_progress(progress)
    check_choice(design, "design", tuple(ROWS_PER_QUESTION))
    noise = None if noise is None else check_number(noise, "noise", 0, 0.5, open_high=True)
    n_worlds, generator = check_integer(n_worlds, "n_worlds", 40, 100_000), as_rng(rng)
    if pilot is not None:
        pilot = checked_pilot(pilot, pilot_design or design)
        n_objects = pilot.n_objects if n_objects is None else n_objects
    n_objects = check_integer(n_objects, "n_objects", 6, 1000)
    asked = None if pilot is None else (len(pilot), min(pilot.n_objects, n_objects), pilot_design or design)
    signs, reached = [], []
    for done, child in enumerate(generator.spawn(n_worlds), 1):
        sign, halves = simulated_study(n_objects, asked, n_rows, design, noise, method, child)
        signs.append(sign)
        reached.append(halves)
        if progress:
            progress(done, n_worlds)
    said = PRIOR.format(levels=most_levels(n_objects), noise="0 to 40%" if noise is None else f"{noise:.0%}")
    values, weights, is_near = _logit(np.array(reached)), np.ones(n_worlds), True
    if pilot is None:
        said = f"no pilot, so any of {n_worlds} simulated worlds ({said})"
    else:
        seen = _logit(pilot_signs(pilot, method, generator, n_splits=4))
        values, weights, is_near = _looking_like(seen, _logit(np.array(signs)), values)
        said = f"the {len(values)} of {n_worlds} simulated worlds whose pilots look most like yours ({said})"
    rows = []
    for name, column in zip(MEASURES, values.T):
        low, middle, high = _quantiles(column, weights, [(1 - RANGE) / 2, 0.5, (1 + RANGE) / 2])
        low, high = middle - WIDER * (middle - low), middle + WIDER * (high - middle)
        rows.append((name, *(1 / (1 + np.exp(-x)) for x in (middle, low, high))))
    table = pd.DataFrame(rows, columns=["measure", "forecast", "low", "high"])
    return StudyForecast(table, said, n_rows, n_objects, len(values), is_near)


def _logit(share):
    "Log-odds of shares, which no range of a forecast leaves; 0 and 1 count as 0.005 and 0.995."
    share = np.clip(share, 0.005, 0.995)
    return np.log(share / (1 - share))


def _looking_like(seen, signs, values):
    "(what the nearest worlds reach, corrected by local linear regression; their weights; whether any is near)."
    scale = np.maximum(signs.std(axis=0), 1e-6)
    away = np.sqrt((((signs - seen) / scale) ** 2).sum(axis=1))
    nearest = np.argsort(away, kind="stable")[: max(30, round(NEAREST * len(signs)))]
    widest = max(away[nearest].max(), 1e-9)
    weights = np.maximum(1 - (away[nearest] / widest) ** 2, 1e-3)
    X = np.column_stack([np.ones(len(nearest)), (signs[nearest] - seen) / scale])
    root = np.sqrt(weights)[:, None]
    penalty = np.diag([0.0] + [0.5] * len(seen))  # ridge: the signs nearly repeat each other
    slope = np.linalg.solve((X * root).T @ (X * root) + penalty, (X * root).T @ (values[nearest] * root))
    return values[nearest] - X[:, 1:] @ slope[1:], weights, bool(away.min() < 1)


def _quantiles(values, weights, levels):
    "Weighted quantiles."
    order = np.argsort(values, kind="stable")
    reached = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return np.interp(levels, reached, values[order])
