"""Simulations of a study before it takes place: which questions, which method and how many people; and what to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparisons import Triplets
from ..core.charts import channels, mean_layers, plain_looks, threshold
from ..core.validation import MOST_SEED, check_integer, check_names, check_number, check_progress, require
from .designs import DESIGNS, QUESTIONS, WORDS, study_run
from .forecast import N_WORLDS, StudyForecast, forecast_study
from .lists import question_counts, study_lists
from .needs import LEVEL, crossing, mean_and_ends, mean_in_words, monotone, needed, resampled_means, rounded
from .pilot import PAIRED, ROWS_PER_QUESTION, PilotFit, Slips, World, fit_pilot, most_levels, n_fit_runs

if TYPE_CHECKING:
    import altair
    from pandas import DataFrame

METHODS = ("3k-al", "3-al")
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # times the people
NOISES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)


def default_levels(n_objects):
    "Levels of a tree whose groups at the bottom have about eight objects."
    return max(1, min(most_levels(n_objects), round(np.log2(n_objects / 8))))


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """Plan of a study: questions, people and the simulated results.

    Attributes
    ----------
    names : tuple of str
        Names of the objects.
    people : int
        Number of people.
    minutes, seconds_per_answer : float
        Time of each person in minutes, and time per answer in seconds.
    target : float
        Target for the mean AARI.
    slips : Slips
        The probability of a response error, with its interval.
    fit : PilotFit, optional
        Result of `fit_pilot`, if there is a pilot.
    worlds : tuple of World
        The one in which the plan was made, one with less clear groups, one with clearer ones.
    runs : pandas.DataFrame
        All simulated studies.
    design, method : str
        Recommended design of the questions, and method for the tree.
    seed : int
        Seed of the simulation and of the lists.
    forecast : StudyForecast, optional
        Forecast of agreement and stability.

    Examples
    --------
    >>> from comparison_hc.whatif import plan_study
    >>> plan = plan_study(8, people=4, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> plan.per_person, plan.new_per_person, plan.sizes
    (20, 17, [17, 34, 68, 136, 272])
    """

    names: tuple
    people: int
    minutes: float
    seconds_per_answer: float
    target: float
    slips: Slips
    fit: PilotFit | None
    worlds: tuple
    runs: DataFrame
    design: str
    method: str
    seed: int
    forecast: StudyForecast | None = None

    @property
    def per_person(self) -> int:
        "Number of questions that a person has time for."
        return floor(60 * self.minutes / self.seconds_per_answer)

    @property
    def new_per_person(self) -> int:
        "Number of questions of a person without the repeated ones."
        return question_counts(self.per_person)[0]

    @property
    def n_repetitions(self) -> int:
        "How often every study was simulated."
        return int(self.runs["repetition"].max()) + 1

    def questions_of(self, people: float) -> int:
        """Number of new questions that a number of people answer, at least one.

        Parameters
        ----------
        people : float
            Number of people.

        Returns
        -------
        int
            Number of questions.
        """
        return max(1, round(people * self.new_per_person))

    @property
    def sizes(self) -> list[int]:
        "Numbers of questions at which studies are simulated."
        return sorted({self.questions_of(self.people * factor) for factor in FACTORS})


def n_study_runs(draft, designs, repeat):
    "How many simulated studies `play_study` makes at most."
    return repeat * (len(designs) * (len(METHODS) + len(draft.sizes) - 1) + len(NOISES) + 2)


def plan_study(
    objects: int | Sequence[str] | None = None,
    people: int = 20,
    minutes: float = 15.0,
    noise: float | None = None,
    seconds_per_answer: float = 6.0,
    pilot: Triplets | None = None,
    pilot_design: str = "triplets",
    target: float = 0.8,
    designs: str | Sequence[str] = DESIGNS,
    delta_over_sigma: float = 2.0,
    n_levels: int | None = None,
    repeat: int = 8,
    seed: int = 0,
    n_jobs: int = 1,
    journal: str | Path | None = None,
    progress: Callable[[int, int], Any] | None = None,
    n_worlds: int = N_WORLDS,
) -> StudyPlan:
    """Plan a study by simulation: which questions, how many people, and the expected result.

    Parameters
    ----------
    objects : int or sequence of str, optional
        Number of objects (at least 6) or their names; by default those of the pilot.
    people : int, default 20
        Number of people.
    minutes : float, default 15
        Time of each person in minutes.
    noise : float, optional
        Probability of a response error, below 0.5; by default from the pilot's repeated questions, else 0.15.
    seconds_per_answer : float, default 6
        Time per answer in seconds.
    pilot : Triplets, optional
        Answers of a pilot study.
    pilot_design : {"triplets", "odd-one-out", "central", "adaptive", "grid"}, default "triplets"
        Design of the pilot's questions.
    target : float, default 0.8
        Target for the mean AARI.
    designs : str or sequence of str
        Designs to compare; by default "triplets", "odd-one-out", "central" and "adaptive".
    delta_over_sigma : float, default 2
        Separation of the groups if there is no pilot.
    n_levels : int, optional
        Number of levels of the hidden tree if there is no pilot; by default the lowest groups have about eight objects.
    repeat : int, default 8
        Number of simulated studies of each setting.
    seed : int, default 0
        Seed of all random choices.
    n_jobs : int, default 1
        Number of workers, −1 for one per core.
    journal : str or Path, optional
        File that keeps finished runs, and from which the same call continues.
    progress : callable, optional
        Called with (runs done, runs in all), including those of the pilot and of the forecast.
    n_worlds : int, default 240
        Number of simulated worlds for the forecast of agreement and stability, at least 40.

    Returns
    -------
    StudyPlan
        The plan, which `plan_sentences`, `plan_chart`, `plan_lists` and `write_plan` take.

    Raises
    ------
    InputError
        If an argument breaks a rule.

    Examples
    --------
    >>> from comparison_hc.whatif import plan_study
    >>> plan = plan_study(8, people=4, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> plan.design, plan.questions_of(4), plan.n_repetitions
    ('triplets', 68, 2)
    """
    people, minutes = check_integer(people, "people", 1, 10_000), check_number(minutes, "minutes", 0, 600, True)
    seconds = check_number(seconds_per_answer, "seconds_per_answer", 0, 600, True)
    rule = "so long that a person answers at least 10 questions (minutes · 60 / seconds_per_answer)"
    require(60 * minutes / seconds >= 10, "minutes", rule, minutes)
    target = check_number(target, "target", 0, 1, True, True)
    noise = None if noise is None else check_number(noise, "noise", 0, 0.5, open_high=True)
    designs = (designs,) if isinstance(designs, str) else tuple(designs)
    rule = f"one or several of {', '.join(DESIGNS)}"
    require(designs and set(designs) <= set(DESIGNS), "designs", rule, designs)
    repeat, seed = check_integer(repeat, "repeat", 2, 1000), check_integer(seed, "seed", 0, MOST_SEED)
    check_progress(progress)
    names = _names(objects, pilot)
    clear = check_number(delta_over_sigma, "delta_over_sigma", 0, 100, True)
    most = most_levels(len(names))
    levels = default_levels(len(names)) if n_levels is None else check_integer(n_levels, "n_levels", 1, most)
    draft = StudyPlan(names, people, minutes, seconds, target, None, None, None, None, "", "", seed)
    before = n_fit_runs(pilot, pilot_design) if pilot is not None else 0
    check_integer(n_worlds, "n_worlds", 40, 100_000)
    simulated = before + n_study_runs(draft, designs, repeat)
    total = simulated + n_worlds

    def report(done):
        if progress is not None:
            progress(done, total)

    fit = None
    if pilot is not None:
        fit = fit_pilot(pilot, pilot_design, noise, 4, seed, n_jobs, lambda done, _: report(done), journal)
        noise = round(min(fit.slips.noise, 0.49), 3)
        slips = Slips(noise, fit.slips.low, fit.slips.high, fit.slips.n_repeated)
        worlds = _three_worlds(fit, len(names))
    else:
        slips = Slips(0.15, 0.15, 0.15, 0) if noise is None else Slips(noise, noise, noise, 0)
        worlds = World(levels, clear), World(levels, clear / 2), World(levels, clear * 2)
    draft = replace(draft, slips=slips, fit=fit, worlds=worlds)
    plan = play_study(draft, designs, repeat, n_jobs, journal, lambda done: report(before + done))
    known = dict(noise=noise if slips.n_repeated or fit is None and noise is not None else None)
    known |= dict(pilot=pilot, pilot_design=pilot_design if pilot is not None else plan.design)
    known |= dict(method=plan.method, n_worlds=n_worlds, rng=seed, progress=lambda done, _: report(simulated + done))
    n_rows = max(40, plan.questions_of(people) * ROWS_PER_QUESTION[plan.design])
    return replace(plan, forecast=forecast_study(n_rows, n_objects=len(names), design=plan.design, **known))


def _names(objects, pilot):
    "Names of all objects."
    if objects is None:
        require(pilot is not None, "objects", "a number or names where there is no pilot", None)
        objects = getattr(pilot, "names", None) or pilot.n_objects
    if isinstance(objects, Integral) and not isinstance(objects, bool):
        check_integer(objects, "objects", 6, 1000)
        digits = len(str(objects))
        return tuple(f"object {at:0{digits}d}" for at in range(1, objects + 1))
    names = check_names(objects, argument="objects")
    require(names is not None and 6 <= len(names) <= 1000, "objects", "from 6 to 1,000", objects)
    return tuple(names)


def _three_worlds(fit, n_objects):
    "The nearest world, and the least and the most clear of those that look like the pilot."
    levels = [World(min(w.n_levels, most_levels(n_objects)), w.delta_over_sigma, w.distance) for w in fit.worlds]
    by_clearness = sorted(levels, key=lambda world: world.delta_over_sigma)
    return levels[0], by_clearness[0], by_clearness[-1]


def play_study(draft, designs, repeat, n_jobs, journal, report):
    "All simulated studies, and what is best."
    import pandas as pd

    from comparison_hc.reproduce.experiments import run_experiment

    def setting(world, design, method, questions, noise=draft.slips.noise):
        return dict(
            n_objects=len(draft.names),
            n_levels=world.n_levels,
            delta_over_sigma=world.delta_over_sigma,
            noise=noise,
            design=design,
            questions=questions,
            per_person=draft.new_per_person,
            method=method,
        )

    world, budget = draft.worlds[0], draft.questions_of(draft.people)
    tables = []

    def play(settings):
        grid = [{**one, "repetition": r} for one in settings for r in range(repeat)]
        grid = [run for at, run in enumerate(grid) if run not in grid[:at]]
        before = sum(map(len, tables))
        progress = lambda done, _: report(before + done)  # noqa: E731
        tables.append(run_experiment(study_run, grid, journal, n_jobs, draft.seed, progress, paired=PAIRED))
        return tables[-1]

    first = play([setting(world, d, m, budget) for d in designs for m in METHODS])
    means = first.groupby(["design", "method"])["aari"].mean()
    best = {d: max(METHODS, key=lambda m: means[d, m]) for d in designs}
    play([setting(world, d, best[d], m) for d in designs for m in draft.sizes if m != budget])
    asked = draft.fit.design if draft.fit else None  # designs that reach as much: as in the pilot, else odd one out
    reach = {d: (round(means[d, best[d]], 2), d == asked, d == "odd-one-out") for d in designs}
    design = max(designs, key=reach.get)
    others = [setting(w, design, best[design], budget) for w in dict.fromkeys(draft.worlds[1:]) if w != world]
    noises = sorted({*NOISES} - {draft.slips.noise})
    play(others + [setting(world, design, best[design], budget, x) for x in noises])
    runs = pd.concat(tables, ignore_index=True).drop_duplicates(
        subset=[*setting(world, "", "", 0), "repetition"], ignore_index=True
    )
    report(n_study_runs(draft, designs, repeat))
    return replace(draft, runs=runs, design=design, method=best[design])


def _runs_in(plan, world, **wanted):
    "The simulated studies in a world that have these values."
    wanted |= dict(n_levels=world.n_levels, delta_over_sigma=world.delta_over_sigma)
    return plan.runs[np.logical_and.reduce([plan.runs[name] == value for name, value in wanted.items()])]


def _curve(rows, over):
    "(values of a column, AARI of every repetition there)."
    table = rows.pivot_table(index=over, columns="repetition", values="aari").sort_index()
    return table.index.to_numpy(dtype=float), table.to_numpy()


def plan_curve(plan, design=None, method=None, world=None):
    "AARI by the number of new questions."
    wanted = dict(design=design or plan.design, method=method or plan.method, noise=plan.slips.noise)
    return _curve(_runs_in(plan, world or plan.worlds[0], **wanted), "questions")


def noise_curve(plan):
    "AARI of the recommended study by the noise of the crowd."
    wanted = dict(design=plan.design, method=plan.method, questions=plan.questions_of(plan.people))
    return _curve(_runs_in(plan, plan.worlds[0], **wanted), "noise")


SURE = 0.9  # share of the simulated studies that is called most


def enough_for_most(plan):
    "With how many questions most of the simulated studies reach the target, each read off its own curve."
    x, values = plan_curve(plan)
    each = np.sort(crossing(x, monotone(values.T), plan.target, log=True))
    most = ceil(SURE * len(each))
    return most, float(each[most - 1])


def one_more_person(plan):
    "Change of AARI with one more person: the slope of the monotone curve at the budget, with its interval."
    x, values = plan_curve(plan)
    here, there = np.log([plan.questions_of(plan.people), plan.questions_of(plan.people + 1)])

    def gain(means):
        smooth = monotone(means)
        return np.array([np.subtract(*np.interp([there, here], np.log(x), row)) for row in np.atleast_2d(smooth)])

    again = gain(resampled_means(values, 500, 0, joint=True))
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(gain(values.mean(axis=1))[0]), float(low), float(high)


def plan_sentences(plan: StudyPlan) -> list[str]:
    """Describe the plan and its simulated results in sentences.

    Parameters
    ----------
    plan : StudyPlan
        Result of `plan_study`.

    Returns
    -------
    list of str
        One sentence each.

    Examples
    --------
    >>> from comparison_hc.whatif import plan_sentences, plan_study
    >>> plan = plan_study(8, people=4, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> [text for text in plan_sentences(plan) if text.startswith("4 people")]
    ['4 people answer 68 new questions: 17 of the 20 that each answers in 2 minutes.']
    """
    people, budget = plan.people, plan.questions_of(plan.people)
    x, values = plan_curve(plan)
    here = _at_budget(plan)
    reached, enough = mean_in_words(here), int((here >= plan.target).sum())
    said = [] if plan.forecast is None else plan.forecast.sentences()
    said += [
        f"Ask {WORDS[plan.design]} Build the tree with {plan.method}.",
        f"{people} people answer {budget:,} new questions: {plan.new_per_person} of the {plan.per_person} that each "
        f"answers in {plan.minutes:g} minutes{_rows_words(plan, budget)}.",
        f"The following results hold only if the objects form {_world_words(plan)}: then the tree can be compared with "
        "the true one. AARI is the average adjusted Rand index over the levels of the true tree; 1 is the true tree, 0 "
        "is chance.",
        f"There the study reaches AARI {reached}{_range_over_worlds(plan)}; {enough} of {len(here)} "
        f"simulated studies reach{'es' * (enough == 1)} {plan.target:g}.",
    ]
    found = needed(x, values, plan.target, log=True, joint=True)
    said += [_enough_words(plan, found, x)] + [_most_words(plan, x)] * (found.value < np.inf)
    gain, low, high = one_more_person(plan)
    said.append(f"One more person changes AARI by {gain:+.3f} ({low:+.3f} to {high:+.3f}).")
    noises, by_noise = noise_curve(plan)
    most = needed(noises, by_noise, plan.target, falls=True, joint=True)
    if most.value == -np.inf:
        said.append(f"Even without response errors, the study does not reach AARI {plan.target:g} with these answers.")
    elif most.value == np.inf:
        said.append(f"The target is still reached if {noises[-1]:.0%} of the answers are errors.")
    else:
        sure = f" ± {most.half:.0%}" if isfinite(most.half) else ""
        said.append(f"Up to {most.value:.0%}{sure} of the answers may be errors.")
    return said + _world_sentences(plan)


def _rows_words(plan, budget):
    "The number of comparisons that the questions give, if it is not one each."
    each = ROWS_PER_QUESTION[plan.design]
    return f". Each question gives {each} comparisons, which makes {each * budget:,}" if each > 1 else ""


def _levels(world):
    return f"{world.n_levels} level{'s' * (world.n_levels != 1)}"


def _world_words(plan):
    "The world of the curves, in words."
    main = plan.worlds[0]
    source = "an assumption" if plan.fit is None else "the world most like the pilot"
    return f"a tree of {2**main.n_levels} groups in {_levels(main)} with δ/σ = {main.delta_over_sigma:g} ({source})"


def _at_budget(plan, world=None):
    "AARI of every repetition with the questions that there is time for."
    x, values = plan_curve(plan, world=world)
    return values[np.flatnonzero(x == plan.questions_of(plan.people))[0]]


def _range_over_worlds(plan):
    "The means in all worlds that were simulated, if there are several."
    means = [_at_budget(plan, world).mean() for world in dict.fromkeys(plan.worlds)]
    if len(means) < 2:
        return ""
    return f", and from {min(means):.2f} to {max(means):.2f} in the {len(means)} planted trees that were simulated"


def _enough_words(plan, found, x):
    "How many are enough."
    goal, each = f"AARI {plan.target:g}", plan.new_per_person
    if found.value == np.inf:
        most = f"{x[-1]:,.0f} questions either, which {ceil(x[-1] / each)} people could answer"
        return f"{goal} is not reached with {most}."
    if found.value == -np.inf:
        return f"For {goal}, {x[0]:,.0f} questions are enough already: {ceil(x[0] / each)} people."
    low, high = (ceil(end / each) if isfinite(end) else None for end in (found.low, found.high))
    fewest = ceil(x[0] / each)
    low = low or (f"{fewest} or fewer" if fewest > 1 else fewest)
    between = f"{low} to {high or f'more than {ceil(x[-1] / each)}'}"
    words = rounded(ceil(found.value), found.half) if isfinite(found.half) else f"about {ceil(found.value):,}"
    return f"For {goal}, {words} questions are enough on average: {ceil(found.value / each)} people ({between})."


def _most_words(plan, x):
    "A sentence on the number of people with which nearly all simulated studies reach the target."
    most, questions = enough_for_most(plan)
    who = f"{most} of {plan.n_repetitions} simulated studies"
    if isfinite(questions):
        return f"With {ceil(questions / plan.new_per_person)} people, {who} reach it."
    if questions > 0:
        return f"Fewer than {who} reach it with {ceil(x[-1] / plan.new_per_person)} people, the most tried."
    return (
        f"{who[0].upper()}{who[1:]} reach it with {ceil(x[0] / plan.new_per_person)} people already, the fewest tried."
    )


def _world_sentences(plan):
    "Sentences on other worlds and other designs."
    said, main = [], plan.worlds[0]
    for world in dict.fromkeys(plan.worlds[1:]):
        if world != main:
            mean = mean_in_words(_at_budget(plan, world))
            same = "" if world.n_levels == main.n_levels else f" and {_levels(world)}"
            clear = "less clear" if world.delta_over_sigma < main.delta_over_sigma else "as clear"
            clear = "clearer" if world.delta_over_sigma > main.delta_over_sigma else clear
            where = f"δ/σ = {world.delta_over_sigma:g}{same}"
            said.append(f"If the groups are {clear} ({where}), the same study reaches {mean}.")
    others = design_table(plan)
    others = others[others["design"] != plan.design]
    words = [f"{row.design} {row.aari:.2f}" for row in others.drop_duplicates("design").itertuples()]
    return said + ([f"AARI of other designs with as many questions: {', '.join(words)}."] if words else [])


def design_table(plan):
    "All designs and methods at the budget."
    import pandas as pd

    rows = _runs_in(plan, plan.worlds[0], questions=plan.questions_of(plan.people), noise=plan.slips.noise)
    found = []
    for (design, method), each in rows.groupby(["design", "method"], sort=False):
        mean, low, high = mean_and_ends(each["aari"].to_numpy())
        sure = float((each["aari"] >= plan.target).mean())
        ends = dict(low=float(low), high=float(high))
        found.append(dict(design=design, method=method, aari=float(mean), **ends, reached=sure))
    table = pd.DataFrame(found).assign(
        shown=lambda rows: rows.aari.round(2), first=lambda rows: rows.design == plan.design
    )
    table = table.sort_values(["shown", "first", "aari"], ascending=False, kind="stable", ignore_index=True)
    return table.drop(columns=["shown", "first"])


def assumptions(plan):
    "What was assumed, and what came from the pilot."
    main, fit = plan.worlds[0], plan.fit
    groups = f"{2**main.n_levels} groups in {_levels(main)}, δ/σ = {main.delta_over_sigma:g}"
    said = [
        f"a planted tree with {groups}" + (" is assumed" if fit is None else ", the world most like the pilot"),
        str(plan.slips) if plan.slips.n_repeated else f"noise {plan.slips.noise:g} is assumed",
        f"{plan.seconds_per_answer:g} seconds a question, whatever is asked; people do not tire",
        "all people see the same similarities and make errors independently",
        f"{plan.n_repetitions} simulated studies of each kind",
    ]
    if fit is not None:
        few = f"{len(fit.worlds)} world{'s look' if len(fit.worlds) != 1 else ' looks'} like the pilot"
        rough = ", and even the nearest does not look much like it: take the numbers as a rough guess"
        near = "" if fit.is_near else rough
        said.insert(1, few + near)
    return said


def plan_chart(plan: StudyPlan) -> altair.LayerChart:
    """Draw AARI by the number of people, for every design, with the target and the people that there are.

    Parameters
    ----------
    plan : StudyPlan
        Result of `plan_study`.

    Returns
    -------
    altair.LayerChart
        Means with 95% intervals.

    Examples
    --------
    >>> from comparison_hc.whatif import plan_chart, plan_study
    >>> plan = plan_study(8, people=4, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> len(plan_chart(plan).layer)
    5
    """
    import altair as alt

    designs = [d for d in DESIGNS if (plan.runs["design"] == d).any()]
    rows = []
    for design in designs:
        table = plan.runs[(plan.runs["design"] == design)]
        method = table["method"].value_counts().idxmax()
        x, values = plan_curve(plan, design, method)
        for questions, mean, low, high in zip(x, *mean_and_ends(values)):
            row = dict(people=questions / plan.new_per_person, design=design, mean=mean, low=low)
            rows.append(row | dict(high=high, questions=questions))
    y = alt.Y("mean:Q", title=f"AARI, mean and {LEVEL:.0%} interval").scale(zero=False)
    x = alt.X("people:Q", title=f"people, {plan.new_per_person} new questions each")
    x = x.scale(type="log", nice=False, padding=8).axis(format="~g", labelOverlap=True)
    colour, shape = channels("design", plain_looks(designs))
    looks = dict(spread=dict(strokeWidth=1.3), line=dict(strokeWidth=1.3), point=dict(size=45))
    layers = mean_layers(alt.InlineData(values=rows), x, y, colour, shape, **looks)
    lines = alt.InlineData(values=[dict(target=plan.target, people=plan.people)])
    layers += [threshold(lines, y="target:Q"), threshold(lines, x="people:Q")]
    return alt.layer(*layers).properties(width=440, height=250)


def plan_lists(plan: StudyPlan, people: int | None = None) -> dict[str, DataFrame]:
    """Return the lists of questions of the study.

    Parameters
    ----------
    plan : StudyPlan
        Result of `plan_study`.
    people : int, optional
        Number of people; by default all.

    Returns
    -------
    dict of str to pandas.DataFrame
        {person: list with one row per question}.

    Examples
    --------
    >>> from comparison_hc.whatif import plan_lists, plan_study
    >>> plan = plan_study(8, people=4, minutes=2, designs="triplets", repeat=2, n_worlds=40)
    >>> {person: len(rows) for person, rows in plan_lists(plan, 2).items()}
    {'p1': 20, 'p2': 20}
    """
    return study_lists(listed_design(plan), plan.names, people or plan.people, plan.per_person, plan.seed)


def listed_design(plan):
    "The best design whose questions can be written down."
    ranked = [design for design in design_table(plan)["design"] if design in QUESTIONS]
    return ranked[0] if ranked else "odd-one-out"
