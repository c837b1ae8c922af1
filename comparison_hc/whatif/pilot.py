"""Estimates from a pilot: response errors from repeated questions, clarity of the groups from held-out answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparisons import Triplets, as_triplets
from ..core.compat import bincount
from ..core.sampling import unique_questions
from ..core.stats import clopper_pearson
from ..core.validation import as_rng, check_integer, check_number, check_progress, require
from ..elicitation.replay import right_answer_probability
from ..evaluation._splits import plan_splits
from ..evaluation.model_selection import signed_correctness
from ..methods import build_hierarchy
from .designs import study_run

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS_PER_QUESTION = {"triplets": 1, "grid": 1, "odd-one-out": 2, "central": 2, "adaptive": 2}
FEWEST_REPEATS = 20  # repeated questions below which they say too little


@dataclass(frozen=True)
class Slips:
    "The probability of a response error, as estimated from repeated questions."

    noise: float  # estimated or assumed probability of a response error
    low: float  # of a 95% interval
    high: float  # its upper end
    n_repeated: int  # repeated questions behind it; 0: assumed

    def __str__(self):
        if not self.n_repeated:
            return f"noise {self.noise:g} is assumed: fewer than {FEWEST_REPEATS} questions were asked twice"
        return f"noise {self.noise:.2f} ({self.low:.2f} to {self.high:.2f}) from {self.n_repeated:,} repeated questions"


def slip_of(same, design):
    "The probability of a response error that corresponds to the agreement of two answers."
    if ROWS_PER_QUESTION[design] == 1:
        return (1 - sqrt(max(2 * same - 1, 0))) / 2
    return 1 - right_answer_probability(same)


def slips_from_repeats(pilot, design, assumed=0.15):
    "The estimate of noise, with Clopper and Pearson's interval."
    _, question, low_won = unique_questions(*pilot.winners_and_losers())
    n = bincount(question)
    yes = bincount(question, weights=low_won)
    equal, pairs = yes * (yes - 1) + (n - yes) * (n - yes - 1), n * (n - 1)
    share = equal[n > 1] / pairs[n > 1]  # each question once: one that everybody was asked is one
    same, other = share.sum() / ROWS_PER_QUESTION[design], (1 - share).sum()
    repeated = same + other
    if repeated < FEWEST_REPEATS:
        return Slips(assumed, assumed, assumed, 0)
    low, high = clopper_pearson(same, other, 0.05)
    noise, most, least = (min(slip_of(x, design), 0.5) for x in (same / repeated, low, high))
    return Slips(noise, least, most, round(repeated))


@dataclass(frozen=True)
class PilotCurve:
    "Held-out agreement of trees built from parts of a pilot."

    sizes: tuple  # rows that trees were built from
    agreement: tuple  # mean over the splits
    error: tuple  # its standard error
    method: str  # by which the trees were built


def pilot_curve(pilot, sizes=None, method="3k-al", n_splits=6, rng=0):
    "The learning curve of a pilot. Answers about the same three objects stay on one side."
    rng = as_rng(rng)
    splits = plan_splits(pilot, n_splits, people=False, rng=rng).splits
    if sizes is None:
        least = min(len(split.train) for split in splits)
        sizes = tuple(max(1, round(least * part)) for part in (0.25, 0.5, 1))
    reached = []
    for split in splits:
        train, test = rng.permutation(split.train), pilot.take(split.test)
        trees = [build_hierarchy(method, pilot.take(np.sort(train[:size])))[0] for size in sizes]
        reached.append([(1 + signed_correctness(tree, test).mean()) / 2 for tree in trees])
    reached = np.array(reached)
    ratio = np.mean([len(split.test) / max(1, len(split.train)) for split in splits])
    error = reached.std(axis=0, ddof=1) * np.sqrt(1 / n_splits + ratio)
    return PilotCurve(tuple(sizes), tuple(reached.mean(axis=0).tolist()), tuple(error.tolist()), method)


CLEARNESS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0)  # δ/σ
PAIRED = ("delta_over_sigma", "n_levels", "design", "questions", "noise", "method", "per_person")  # share their seeds


@dataclass(frozen=True)
class World:
    "A place where studies are simulated."

    n_levels: int  # L of the hidden tree
    delta_over_sigma: float  # δ/σ
    distance: float = 0.0  # from the pilot; 0 without one


@dataclass(frozen=True)
class PilotFit:
    "What a pilot says."

    slips: Slips  # the probability of a response error
    curve: PilotCurve  # held-out agreement
    worlds: tuple  # of `World`, the nearest first: all that are near enough
    design: str  # what people were asked
    n_objects: int  # N

    @property
    def is_near(self):
        "Whether the nearest world looks like the pilot at all: within two standard errors on average."
        return self.worlds[0].distance <= 4


def most_levels(n_objects):
    "Levels of a tree whose smallest groups have at least three objects, four at most."
    return max(1, min(4, int(log2(n_objects / 3))))


def simulated_curves(
    worlds, n_objects, noise, design, sizes, method, repeat, seed=0, n_jobs=1, progress=None, journal=None
):
    "Agreement in several worlds, with the same seeds."
    from comparison_hc.reproduce.experiments import run_experiment

    asked = [max(1, round(size / ROWS_PER_QUESTION[design])) for size in sizes]
    common = dict(n_objects=n_objects, noise=noise, design=design, per_person=10**6, method=method)
    grid = [
        {**common, "n_levels": w.n_levels, "delta_over_sigma": w.delta_over_sigma, "questions": m, "repetition": r}
        for w in worlds
        for m in dict.fromkeys(asked)
        for r in range(repeat)
    ]
    table = run_experiment(study_run, grid, journal, n_jobs, seed, progress, paired=PAIRED)
    found = table.set_index(["n_levels", "delta_over_sigma", "questions"]).sort_index()["agreement"]
    return {w: np.array([found.loc[(w.n_levels, w.delta_over_sigma, m)].to_numpy() for m in asked]) for w in worlds}


def tried_worlds(n_objects):
    "Those that a pilot is compared with."
    return [World(L, x) for L in range(1, most_levels(n_objects) + 1) for x in CLEARNESS]


def checked_pilot(pilot, design):
    "A pilot that can say something. Raises `InputError`."
    pilot = as_triplets(pilot)
    require(design in ROWS_PER_QUESTION, "the pilot's design", f"one of {', '.join(ROWS_PER_QUESTION)}", design)
    rule = "at least 60 answers, to have some held out"
    require(len(pilot) >= 60, "pilot", rule, len(pilot))
    require(pilot.n_objects >= 6, "pilot", "about at least 6 objects", pilot.n_objects)
    return pilot


def n_fit_runs(pilot, design, repeat=4):
    "How many simulated studies a fit makes at most."
    return 3 * repeat * len(tried_worlds(checked_pilot(pilot, design).n_objects))


def fit_pilot(
    pilot: Triplets,
    design: str = "triplets",
    noise: float | None = None,
    repeat: int = 4,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], Any] | None = None,
    journal: str | Path | None = None,
    method: str = "3k-al",
) -> PilotFit:
    """Estimate from a pilot the probability of a response error, and find simulated worlds with similar pilots.

    Parameters
    ----------
    pilot : Triplets
        At least 60 answers about at least 6 objects.
    design : {"triplets", "odd-one-out", "central", "adaptive", "grid"}, default "triplets"
        Design of the questions of the pilot.
    noise : float, optional
        Probability of a response error; by default from repeated questions, or 0.15.
    repeat : int, default 4
        Number of simulated studies of each world and size.
    seed : int, default 0
        Of splits and simulations.
    n_jobs : int, default 1
        Number of workers, −1 for one per core.
    progress : callable, optional
        Called with (runs done, runs in all).
    journal : str or Path, optional
        File that keeps finished runs, and from which the same call continues.
    method : str, default "3k-al"
        Method that builds the trees of the pilot.

    Returns
    -------
    PilotFit
        Response errors, held-out agreement, and the worlds that are near enough.

    Raises
    ------
    InputError
        For a pilot that can say nothing.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.whatif import fit_pilot
    >>> fit = fit_pilot(load_dataset("animals").triplets, "odd-one-out", repeat=2)
    >>> fit.n_objects, fit.is_near, fit.curve.sizes
    (24, False, (240, 480, 960))
    """
    pilot = checked_pilot(pilot, design)
    check_integer(repeat, "repeat"), check_progress(progress)
    if noise is None:
        slips = slips_from_repeats(pilot, design)
    else:
        noise = check_number(noise, "noise", 0, 0.5, open_high=True)
        slips = Slips(noise, noise, noise, 0)
    curve = pilot_curve(pilot, method=method, rng=seed)
    worlds = tried_worlds(pilot.n_objects)
    asked = "odd-one-out" if design == "adaptive" else design
    about = pilot.n_objects, min(slips.noise, 0.49), asked, curve.sizes, curve.method
    simulated = simulated_curves(worlds, *about, repeat, seed, n_jobs, progress, journal)
    far = [World(w.n_levels, w.delta_over_sigma, _distance(curve, simulated[w])) for w in worlds]
    far.sort(key=lambda world: world.distance)
    near = tuple(world for world in far if world.distance <= far[0].distance + 1)
    return PilotFit(slips, curve, near, design, pilot.n_objects)


def _distance(curve, simulated):
    "Mean square over the sizes, in standard errors."
    error = np.sqrt(np.square(curve.error) + simulated.var(axis=1, ddof=1) / simulated.shape[1] + 1e-4)
    return float(np.mean(np.square((simulated.mean(axis=1) - curve.agreement) / error)))


def some_worlds(worlds, most):
    "A few worlds that stand for many."
    rest = sorted(worlds[1:], key=lambda world: (world.delta_over_sigma, world.n_levels))
    places = np.linspace(0, len(rest) - 1, min(most - 1, len(rest))).round().astype(np.int64)
    return [worlds[0], *(rest[place] for place in places)]


def predicted_agreement(
    fit: PilotFit,
    sizes: Sequence[int],
    repeat: int = 4,
    most_worlds: int = 6,
    seed: int = 1,
    n_jobs: int = 1,
    progress: Callable[[int, int], Any] | None = None,
) -> DataFrame:
    """Predict the held-out agreement that a larger study will reach.

    Parameters
    ----------
    fit : PilotFit
        Result of `fit_pilot`.
    sizes : sequence of int
        Numbers of rows from which a tree is built.
    repeat : int, default 4
        Number of simulated studies of each world and size.
    most_worlds : int, default 6
        Largest number of worlds that represent those that are near enough.
    seed : int, default 1
        Seed of the simulations.
    n_jobs : int, default 1
        Number of workers, −1 for one per core.
    progress : callable, optional
        Called with (runs done, runs in all).

    Returns
    -------
    pandas.DataFrame
        size, predicted, and the range of the worlds, in each of two standard deviations of one new study: low, high.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.whatif import fit_pilot, predicted_agreement
    >>> fit = fit_pilot(load_dataset("animals").triplets, "odd-one-out", repeat=2)
    >>> predicted_agreement(fit, [1000, 4000], repeat=2, most_worlds=1)["size"].tolist()
    [1000, 4000]
    """
    import pandas as pd

    worlds = some_worlds(fit.worlds, most_worlds)
    noise, design = min(fit.slips.noise, 0.49), "odd-one-out" if fit.design == "adaptive" else fit.design
    options = (fit.n_objects, noise, design, sizes, fit.curve.method, repeat, seed, n_jobs, progress)
    found = simulated_curves(worlds, *options)
    weight = np.exp(-0.5 * np.array([w.distance - worlds[0].distance for w in worlds]))
    means = np.array([found[w].mean(axis=1) for w in worlds])
    error = 2 * np.array([found[w].std(axis=1, ddof=1) for w in worlds]) * np.sqrt(1 + 1 / repeat)
    predicted = weight @ means / weight.sum()
    return pd.DataFrame(
        {"size": sizes, "predicted": predicted, "low": (means - error).min(0), "high": (means + error).max(0)}
    )
