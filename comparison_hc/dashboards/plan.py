"""Move people, minutes, noise or the clarity of the groups, and see which questions are enough."""

from dataclasses import dataclass
from math import ceil, floor, isfinite

import numpy as np

from ..core.validation import integer_from, number_from, one_of, require
from ..whatif.designs import QUESTIONS, study_run
from ..whatif.lists import question_counts
from ..whatif.needs import mean_and_half, monotone, needed
from ..whatif.pilot import most_levels
from ..whatif.study import METHODS, NOISES
from .framework import Settings, as_settings, no_step, setting

SIZES = tuple(60 * 2**k for k in range(8))  # questions at which studies are simulated: 60 to 7,680
REPETITIONS = 5
STUDIED = ("n", "n_levels", "delta_over_sigma", "noise", "method", "seed")  # the settings that simulate


@dataclass(frozen=True)
class PlanSettings(Settings):
    """The controls of the page `plan`.

    Examples
    --------
    >>> from comparison_hc.dashboards import PlanSettings
    >>> PlanSettings(minutes=10, seconds=6).per_person
    100
    """

    n: int = setting(40, integer_from(6, 200), "objects", "how many objects", [12, 16, 20, 30, 40, 60, 80, 100])
    people: int = setting(
        20, integer_from(1, 1000), "people", "how many people are asked", [2, 3, 5, 8, 10, 15, 20, 30, 40, 60, 100]
    )
    minutes: float = setting(
        15, number_from(1, 600), "minutes", "time of each person", [5, 10, 15, 20, 30, 45, 60], unit="per person"
    )
    seconds: float = setting(
        6, number_from(0.5, 600), "seconds per question", "seconds that an answer takes", [3, 4, 5, 6, 8, 10, 15, 20]
    )
    noise: float = setting(
        0.15, number_from(0, 0.49), "noise", "probability that an answer is wrong", NOISES, unit="share of errors"
    )
    delta_over_sigma: float = setting(
        2.0, number_from(0.1, 50), "δ/σ", "how clear the groups are", [0.5, 0.7, 1, 1.4, 2, 2.8, 4, 8], unit="clearness"
    )
    n_levels: int = setting(2, integer_from(1, 4), "levels", "levels L of the tree with 2ᴸ groups", [1, 2, 3, 4])
    target: float = setting(
        0.8, number_from(0.05, 0.99), "AARI that is enough", "target of the study", [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    )
    method: str = setting("3k-al", one_of(METHODS), "method", "method that builds the tree", METHODS)
    seed: int = setting(0, integer_from(0), "seed", "number of the random draw", range(10))

    def _check_together(self):
        "As many levels as the objects allow, and at least ten questions per person."
        most = most_levels(self.n)
        require(self.n_levels <= most, "levels", f"at most {most} for {self.n} objects", self.n_levels)
        rule = "so long that a person answers at least 10 questions"
        require(self.per_person >= 10, "minutes", rule, self.minutes)

    @property
    def per_person(self) -> int:
        "Questions that a person has time for."
        return floor(60 * self.minutes / self.seconds)

    @property
    def new_per_person(self) -> int:
        "Questions of a person that are not repetitions."
        return question_counts(self.per_person)[0]

    @property
    def budget(self) -> int:
        "New questions of all people."
        return self.people * self.new_per_person

    @property
    def studied(self) -> tuple:
        "What the simulated studies depend on."
        return tuple(getattr(self, name) for name in STUDIED)


def one_repetition(settings, r, step=no_step):
    "One simulated study for every design and number of questions."
    values = np.empty((len(QUESTIONS), len(SIZES)))
    s = settings
    for row, design in enumerate(QUESTIONS):
        for at, questions in enumerate(SIZES):
            words = f"study {r + 1} of {REPETITIONS}: {design}, {questions:,} questions"
            step(words, r * values.size + row * len(SIZES) + at, REPETITIONS * values.size)
            rng = np.random.default_rng([s.seed, r])
            clear, noise = float(s.delta_over_sigma), float(s.noise)
            found = study_run(s.n, s.n_levels, clear, noise, design, questions, questions, s.method, r, rng)
            values[row, at] = found["aari"]
    return values


def design_curves(repetitions):
    "The values of all repetitions by design."
    return dict(zip(QUESTIONS, np.stack(repetitions, axis=-1)))


def read_off(settings, values):
    "AARI at the budget, required people and gain of one more person, read off a curve."
    s = settings
    mean, half = mean_and_half(values)
    place = np.log(SIZES)

    def at(questions, curve):
        return float(np.interp(np.log(questions), place, curve))

    found = needed(SIZES, values, s.target, log=True, n_resamples=300, joint=True)
    smooth = monotone(mean)
    each = s.new_per_person
    return dict(
        reached=at(s.budget, mean),
        half=at(s.budget, half),
        needed=found,
        people=ceil(found.value / each) if isfinite(found.value) else found.value,
        gain=at(s.budget + each, smooth) - at(s.budget, smooth),
    )


def plan_data(settings: PlanSettings) -> dict:
    """What the page shows at one setting, for Python.

    Parameters
    ----------
    settings : PlanSettings
        The values of the controls.

    Returns
    -------
    dict
        For each design, the AARI by number of questions and repetition, and the result of `read_off`.

    Examples
    --------
    >>> from comparison_hc.dashboards import PlanSettings, plan_data
    >>> list(plan_data(PlanSettings(n=12, n_levels=1)))
    ['triplets', 'odd-one-out', 'central']
    """
    as_settings(settings, PlanSettings)
    curves = design_curves([one_repetition(settings, r) for r in range(REPETITIONS)])
    return {design: (values, read_off(settings, values)) for design, values in curves.items()}
