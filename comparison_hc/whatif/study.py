"""The simulated studies behind a plan, and the curves, sentences, assumptions and picture made of them."""

from dataclasses import dataclass
from math import ceil, floor, isfinite

import numpy as np

from ..core.charts import mean_layers, plain_looks, scales, threshold
from .designs import DESIGNS, QUESTIONS, WORDS, study_run
from .lists import question_counts, study_lists
from comparison_hc.whatif.needs import (
    LEVEL,
    crossing,
    mean_and_ends,
    mean_in_words,
    monotone,
    needed,
    resampled_means,
    rounded,
)
from .pilot import ROWS_A_QUESTION, Slips, most_levels

METHODS = ("3k-al", "3-al")
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # times the people
NOISES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
PAIRED = ("delta_over_sigma", "n_levels", "noise", "design", "questions", "per_person", "method")


def default_levels(n_objects):
    "Levels of a tree whose groups at the bottom have about eight objects."
    return max(1, min(most_levels(n_objects), round(np.log2(n_objects / 8))))


def _simulated(settings, repeat, seed, n_jobs, journal, report, before):
    "Simulated studies as a table."
    from comparison_hc.reproduce.experiments import run_experiment

    grid = [{**one, "repetition": r} for one in settings for r in range(repeat)]
    grid = [run for at, run in enumerate(grid) if run not in grid[:at]]
    return run_experiment(study_run, grid, journal, n_jobs, seed, lambda done, _: report(before + done), paired=PAIRED)


@dataclass(frozen=True, eq=False)
class StudyPlan:
    "What to ask, whom, and what will come of it."

    names: tuple  # of the objects
    people: int  # how many
    minutes: float  # of each person
    seconds_per_answer: float  # that an answer takes a person
    target: float  # the AARI that is enough
    slips: Slips  # how often people slip
    fit: object  # `PilotFit`, or None
    worlds: tuple  # of `World`: the one in which the plan was made, one with less clear groups, one with clearer ones
    runs: object  # `pandas.DataFrame` of all simulated studies
    design: str  # recommended
    method: str  # recommended
    seed: int  # int ≥ 0
    forecast: object = None  # `StudyForecast` of agreement and stability, or None

    @property
    def per_person(self):
        "Questions that a person has time for."
        return floor(60 * self.minutes / self.seconds_per_answer)

    @property
    def new_per_person(self):
        "Questions of a person that are not asked again to check them."
        return question_counts(self.per_person)[0]

    @property
    def n_repetitions(self):
        "How often every study was simulated."
        return int(self.runs["repetition"].max()) + 1

    def questions_of(self, people):
        """New questions of so many people, at least one.

        Parameters
        ----------
        people
            How many.
        """
        return max(1, round(people * self.new_per_person))

    @property
    def sizes(self):
        "Numbers of questions at which the curves are played."
        return sorted({self.questions_of(self.people * factor) for factor in FACTORS})

    def n_runs(self, designs, repeat):
        """How many simulated studies `play_study` makes at most.

        Parameters
        ----------
        designs
            To compare.
        repeat
            Simulated studies of each setting.
        """
        return repeat * (len(designs) * (len(METHODS) + len(self.sizes) - 1) + len(NOISES) + 2)


def play_study(draft, designs, repeat, n_jobs, journal, report):
    "All simulated studies, and what is best."
    from dataclasses import replace

    import pandas as pd

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
        before = sum(map(len, tables))
        tables.append(_simulated(settings, repeat, draft.seed, n_jobs, journal, report, before))
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
    report(draft.n_runs(designs, repeat))
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
    "What one more person buys: the slope of the monotone curve at the budget."
    x, values = plan_curve(plan)
    here, there = np.log([plan.questions_of(plan.people), plan.questions_of(plan.people + 1)])

    def gain(means):
        smooth = monotone(means)
        return np.array([np.subtract(*np.interp([there, here], np.log(x), row)) for row in np.atleast_2d(smooth)])

    again = gain(resampled_means(values, 500, 0, joint=True))
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(gain(values.mean(axis=1))[0]), float(low), float(high)


def plan_sentences(plan):
    """The advice.

    Parameters
    ----------
    plan
        `StudyPlan`.

    Returns
    -------
    result
        List of texts.
    """
    people, budget = plan.people, plan.questions_of(plan.people)
    x, values = plan_curve(plan)
    at = int(np.flatnonzero(x == budget)[0])
    reached = mean_in_words(values[at])
    enough = int((values[at] >= plan.target).sum())
    said = [] if plan.forecast is None else plan.forecast.sentences()
    said += [
        f"Ask {WORDS[plan.design]} Build the tree with {plan.method}.",
        f"{people} people answer {budget:,} new questions, {plan.new_per_person} each of {plan.per_person} in "
        f"{plan.minutes:g} minutes{_rows_words(plan, budget)}.",
        f"What follows holds only if the objects form {_world_words(plan)}: then the tree can be compared with the "
        "true one. AARI is the average adjusted Rand index over the levels of the true tree; 1 is the true tree, 0 is "
        "chance.",
        f"There the study reaches AARI {reached}{_range_over_worlds(plan, budget)}; {enough} of {values.shape[1]} "
        f"simulated studies reach{'es' * (enough == 1)} {plan.target:g}.",
    ]
    found = needed(x, values, plan.target, log=True, joint=True)
    said += [_enough_words(plan, found, x)] + [_most_words(plan, x)] * (found.value < np.inf)
    gain, low, high = one_more_person(plan)
    said.append(f"One more person buys {gain:+.3f} AARI ({low:+.3f} to {high:+.3f}).")
    noises, by_noise = noise_curve(plan)
    most = needed(noises, by_noise, plan.target, falls=True, joint=True)
    if most.value == -np.inf:
        said.append(f"Even a crowd that never slips does not reach AARI {plan.target:g} with these answers.")
    elif most.value == np.inf:
        said.append(f"The crowd may slip in {noises[-1]:.0%} of the answers and more.")
    else:
        sure = f" ± {most.half:.0%}" if isfinite(most.half) else ""
        said.append(f"The crowd may slip in up to {most.value:.0%}{sure} of the answers.")
    return said + _world_sentences(plan, budget)


def _rows_words(plan, budget):
    "How many comparisons the questions give, where that is not one each."
    each = ROWS_A_QUESTION[plan.design]
    return f"; each gives {each} comparisons, {each * budget:,} in all" if each > 1 else ""


def _levels(world):
    return f"{world.n_levels} level{'s' * (world.n_levels != 1)}"


def _world_words(plan):
    "The world of the curves, in words."
    main = plan.worlds[0]
    source = "an assumption" if plan.fit is None else "the world most like the pilot"
    return f"a tree of {2**main.n_levels} groups in {_levels(main)} with δ/σ = {main.delta_over_sigma:g} ({source})"


def _range_over_worlds(plan, budget):
    "The means in all worlds that were simulated, if there are several."
    means = []
    for world in dict.fromkeys(plan.worlds):
        x, values = plan_curve(plan, world=world)
        means.append(values[np.flatnonzero(x == budget)[0]].mean())
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
    "How many are enough to be nearly sure."
    most, questions = enough_for_most(plan)
    who = f"{most} of {plan.n_repetitions} simulated studies"
    if isfinite(questions):
        return f"To be nearly sure: {who} reach it with {ceil(questions / plan.new_per_person)} people."
    if questions > 0:
        return f"Fewer than {who} reach it with {ceil(x[-1] / plan.new_per_person)} people, the most tried."
    return (
        f"{who[0].upper()}{who[1:]} reach it with {ceil(x[0] / plan.new_per_person)} people already, the fewest tried."
    )


def _world_sentences(plan, budget):
    "How it would be elsewhere, and with other designs."
    said, main = [], plan.worlds[0]
    for world in dict.fromkeys(plan.worlds[1:]):
        if world != main:
            x, values = plan_curve(plan, world=world)
            mean = mean_in_words(values[np.flatnonzero(x == budget)[0]])
            same = "" if world.n_levels == main.n_levels else f" and {_levels(world)}"
            clear = "less clear" if world.delta_over_sigma < main.delta_over_sigma else "as clear"
            clear = "clearer" if world.delta_over_sigma > main.delta_over_sigma else clear
            where = f"δ/σ = {world.delta_over_sigma:g}{same}"
            said.append(f"If the groups are {clear} ({where}), the same study reaches {mean}.")
    others = design_table(plan)
    others = others[others["design"] != plan.design]
    words = [f"{row.design} {row.aari:.2f}" for row in others.drop_duplicates("design").itertuples()]
    return said + ([f"Other designs with as many questions: {', '.join(words)}."] if words else [])


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
        "all people see the same similarities, and slip independently",
        f"{plan.n_repetitions} simulated studies of each kind",
    ]
    if fit is not None:
        few = f"{len(fit.worlds)} world{'s look' if len(fit.worlds) != 1 else ' looks'} like the pilot"
        rough = ", and even the nearest does not look much like it: take the numbers as a rough guess"
        near = "" if fit.is_near else rough
        said.insert(1, few + near)
    return said


def plan_chart(plan):
    """AARI by the number of people, for every design; the target, and the people that there are.

    Parameters
    ----------
    plan
        `StudyPlan`.

    Returns
    -------
    result
        Altair chart.
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
    colour, shape = scales(plain_looks(designs))
    colour = alt.Color("design:N", title=None, scale=colour)
    shape = alt.Shape("design:N", title=None, scale=shape)
    looks = dict(spread=dict(strokeWidth=1.3), line=dict(strokeWidth=1.3), point=dict(size=45))
    layers = mean_layers(alt.InlineData(values=rows), x, y, colour, shape, **looks)
    lines = alt.InlineData(values=[dict(target=plan.target, people=plan.people)])
    layers += [threshold(lines, y="target:Q"), threshold(lines, x="people:Q")]
    return alt.layer(*layers).properties(width=440, height=250)


def plan_lists(plan, people=None):
    """The question lists of the study.

    Parameters
    ----------
    plan
        `StudyPlan`.
    people
        How many; None: all.

    Returns
    -------
    result
        {person: `pandas.DataFrame`}.
    """
    return study_lists(listed_design(plan), plan.names, people or plan.people, plan.per_person, plan.seed)


def listed_design(plan):
    "The best design whose questions can be written down."
    ranked = [design for design in design_table(plan)["design"] if design in QUESTIONS]
    return ranked[0] if ranked else "odd-one-out"
