"""Move anything in the four models, repeat, and read how many answers are enough, with an interval."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import product
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.charts import channels, mean_layers, plain_looks, threshold
from ..core.parallel import check_workers
from ..core.validation import MOST_SEED, check_flag, check_integer, check_number, check_progress, require
from .models import Model, Parameter, check_model, chosen_values, sweep_settings
from .needs import LEVEL, interval_words, mean_and_ends, mean_and_half, mean_in_words, need_words, needed, rounded

if TYPE_CHECKING:
    import altair
    from pandas import DataFrame

QUICK_SECONDS = 60  # that a sweep may take, by default
FEWEST = 3  # repetitions
ENDINGS = (".csv", ".parquet", ".svg", ".png", ".pdf", ".html")


@dataclass(frozen=True, eq=False)
class WhatIf:
    """Runs of one model at all combinations of values, with conclusions.

    Attributes
    ----------
    model : Model
        Model of the runs.
    values : dict
        Values of all parameters, by name.
    table : pandas.DataFrame
        One row per run: parameters, repetition, run_seed, measured values, seconds.
    target : float, optional
        Target for the mean of the measure.
    said : tuple of str
        Sentences on the values that were chosen automatically.
    again : str
        The command that makes the same runs.

    Examples
    --------
    >>> from comparison_hc.whatif import whatif
    >>> found = whatif("flat", n=20, k=2, answers=[50, 400], method="adds-3", repeat=3)
    >>> found.axis.name, found.varied, len(found.table)
    ('answers', ['answers'], 6)
    """

    model: Model
    values: dict
    table: DataFrame
    target: float | None = None
    said: tuple = ()
    again: str = ""

    @cached_property
    def varied(self) -> list[str]:
        "Names of the parameters with several values."
        return [name for name, values in self.values.items() if len(values) > 1]

    @cached_property
    def axis(self) -> Parameter | None:
        "The parameter on the x-axis, or None."
        numbers = [name for name in self.varied if not isinstance(self.values[name][0], str)]
        wanted = [name for name in self.model.axes if name in numbers] or numbers
        return self.model.parameter(wanted[0]) if wanted else None

    @cached_property
    def panels(self) -> list[str]:
        "Names of what else varies, but for the method."
        on_axis = self.axis.name if self.axis else None
        return [name for name in self.varied if name not in (on_axis, "method")]

    @property
    def n_repetitions(self) -> int:
        "How often every setting was run."
        return int(self.table["repetition"].max()) + 1

    def sentences(self) -> list[str]:
        """Answer in words.

        Returns
        -------
        list of str
            What each curve needs for the target, where it is best, or its mean.
        """
        if has_needs(self):
            return need_sentences(self)
        shared = self.axis is not None and self.axis.name in self.model.free and not self.model.most
        return best_sentences(self) if shared and self.model.measure == "loss" else mean_sentences(self)

    def summary(self) -> DataFrame:
        """Means over all repetitions.

        Returns
        -------
        pandas.DataFrame
            A row a setting: the mean of the measure with its interval, and means of what else was measured.
        """
        import pandas as pd

        measure, rest = self.model.measure, list(self.table.columns)
        keys = [*self.panels, *([self.axis.name] if self.axis else []), "method"]
        rest = [name for name in rest if name not in (*self.values, "repetition", "run_seed", measure)]
        found = []
        for key, rows in self.table.groupby(keys, sort=False):
            mean, low, high = mean_and_ends(rows[measure].to_numpy(dtype=float), measure)
            row = dict(zip(keys, key)) | {"repetitions": len(rows), measure: mean, "low": low}
            found.append(row | {"high": high} | {name: rows[name].mean() for name in rest})
        return pd.DataFrame(found)

    def needs(self) -> DataFrame:
        """Where each curve reaches the target: the numbers behind the sentences.

        Returns
        -------
        pandas.DataFrame
            A row a curve: needed, low and high; −∞: at the first x already, ∞: not up to the last.
        """
        import pandas as pd

        rows = [where | dict(method=m, needed=n.value, low=n.low, high=n.high) for where, m, _, _, n in needs_of(self)]
        return pd.DataFrame(rows, columns=[*self.panels, "method", "needed", "low", "high"])

    def chart(self) -> altair.Chart:
        """Means with their intervals, a panel for all that varies besides method and x-axis.

        Returns
        -------
        altair.Chart
            With the target, where there is one.
        """
        return sweep_chart(self)

    def save(self, path: str | Path) -> Path:
        """Write the table, the picture, or everything as a page.

        Parameters
        ----------
        path : str or Path
            Ends in .csv, .parquet, .svg, .png, .pdf or .html.

        Returns
        -------
        Path
            Path of the file.

        Raises
        ------
        InputError
            For another ending, and where it cannot be written.
        """
        from comparison_hc.core.io import atomic_write
        from comparison_hc.core.plotting import convert_chart

        path = check_sweep_file(path, "path")
        form = path.suffix.lower()
        if form == ".csv":
            content = self.table.to_csv(index=False)
        elif form == ".parquet":
            content = self.table.to_parquet(index=False)
        else:
            content = sweep_page(self) if form == ".html" else convert_chart(self.chart(), form[1:])
        atomic_write(path, content)
        return path

    def __repr__(self):
        return f"WhatIf({self.model.name}, {len(self.table):,} runs)\n" + "\n".join(self.sentences())


def whatif(
    model: str,
    repeat: int | None = None,
    exact: bool = False,
    target: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    journal: str | Path | None = None,
    progress: Callable[[int, int], Any] | None = None,
    **parameters: Any,
) -> WhatIf:
    """Sweep over any parameters of a model.

    Parameters
    ----------
    model : {"planted", "flat", "adaptive", "link"}
        Model of the paper by Ghoshdastidar et al. (2019), Perrot et al. (2020), Emamjomeh-Zadeh and Kempe (2018), or
        Balcan et al. (2020).
    repeat : int, optional
        Repetitions; by default as many as fit into a minute, or the paper's if `exact`.
    exact : bool, default False
        Whether parameters that are not given have the values of the paper, however long it takes.
    target : float, optional
        Target for the mean of the measure; by default 0.9 for AARI and ARI.
    seed : int, default 0
        Seed of all random choices.
    n_jobs : int, default 1
        Number of workers, −1 for one per core; does not change the results.
    journal : str or Path, optional
        File that keeps finished runs, and from which the same call continues.
    progress : callable, optional
        Called with (runs done, runs in all); the second number may change once.
    **parameters : object
        Parameters of the model: a value, several, or a text such as "0.5:2:0.25".

    Returns
    -------
    WhatIf
        Runs, sentences, chart.

    Raises
    ------
    InputError
        Before anything runs, for values that make no sense.

    Examples
    --------
    >>> from comparison_hc.whatif import whatif
    >>> found = whatif("planted", n_pure=3, n_levels=1, delta_over_sigma=9, p="0.3,0.9", method="4-al", repeat=3)
    >>> found.sentences()
    ['4-al reaches AARI 0.9 even with 30 answers, the fewest tried (AARI 1).']
    """
    from joblib import effective_n_jobs

    from comparison_hc.reproduce.experiments import run_experiment

    model, exact = check_model(model), check_flag(exact, "exact")
    values, named = chosen_values(model, parameters, exact)
    settings = sweep_settings(model, values)
    if repeat is not None:
        repeat = check_integer(repeat, "repeat", 1, 10_000)
    if target is not None:
        rule = f"left out for {model.name}: there is no number that is enough"
        require(model.target is not None, "target", rule, target)
        target = check_number(target, "target", 0, 1, open_low=True)
    check_integer(seed, "seed", 0, MOST_SEED), check_progress(progress)
    report, n_workers = progress or (lambda done, total: None), effective_n_jobs(check_workers(n_jobs))
    said = [] if exact else chosen_sentences(model, values, named)

    def runs(numbers, before=0):
        grid = [{**one, "repetition": r} for one in settings for r in numbers]
        ahead = len(settings) * (len(numbers) + (1 if before else 0))

        def counted(done, _):
            report(before + done, ahead)

        return run_experiment(model.run(), grid, journal, n_jobs, seed, counted, paired=model.free)

    if repeat is None and exact:
        repeat = model.exact_repeat
    if repeat is not None:
        table = runs(range(repeat))
    else:
        table = runs(range(1))
        repeat = fitting_repetitions(table["seconds"].sum(), n_workers, model.repeat)
        table = _joined([table, runs(range(1, repeat), len(settings))], len(settings))
        if repeat < model.repeat:
            workers = f"{n_workers} worker{'s' * (n_workers != 1)}"
            said.append(f"{repeat} repetitions, which fit into a minute on {workers}, instead of {model.repeat}")
    target = model.target if target is None else target
    return WhatIf(model, values, table, target, tuple(said), command_for(model, values, repeat, seed, target))


def fitting_repetitions(seconds, n_workers, most):
    "How many fit into a minute."
    return int(min(most, max(FEWEST, floor(QUICK_SECONDS * n_workers / max(seconds, 1e-9)))))


def chosen_sentences(model, values, named):
    "Which sizes are not the paper's."
    said = []
    for each in model.parameters:
        differs = each.exact is not None and not each.budget and not isinstance(each.exact, (tuple, str))
        if each.name not in named and differs and values[each.name] != (each.exact,):
            here = values[each.name]
            small = f"{here[0]:g}" if len(here) == 1 else f"{min(here):g} to {max(here):g}"
            said.append(f"{each.label}: {small} instead of the paper's {each.exact:g}")
    return said


def _joined(tables, n_settings):
    "Tables of the first and of all other repetitions, setting by setting."
    import pandas as pd

    places = [table.index // (len(table) // n_settings) for table in tables]
    whole = pd.concat([table.set_axis(place) for table, place in zip(tables, places)])
    return whole.sort_index(kind="stable").reset_index(drop=True)


def command_for(model, values, repeat, seed, target):
    "The words that make these runs, whatever a machine's speed."
    words = ["comparison-hc", "whatif", model.name]
    for name, chosen in values.items():
        if chosen != (None,):
            words += [f"--{name.replace('_', '-')}", ",".join(map(str, chosen))]
    words += ["--repeat", str(repeat), "--seed", str(seed)]
    words += ["--target", f"{target:g}"] if target is not None else []
    return shlex.join(words)


# ---- curves, sentences, picture, page


def groups_of(sweep):
    "One curve after the other."
    for chosen in product(*(sweep.values[name] for name in sweep.panels)):
        where = dict(zip(sweep.panels, chosen))
        rows = sweep.table
        for name, value in where.items():
            rows = rows[rows[name] == value]
        for method in sweep.values["method"]:
            yield where, method, rows[rows["method"] == method]


def curve_of(sweep, rows):
    "One curve as arrays; x is the mean number of answers where a budget varies."
    name = sweep.axis.name
    values = np.array(sorted(sweep.values[name]))
    by_x = [rows[rows[name] == value].sort_values("repetition") for value in values]
    x = np.array([each[sweep.model.count].mean() for each in by_x]) if sweep.axis.budget else values.astype(float)
    return x, np.array([each[sweep.model.measure].to_numpy(dtype=float) for each in by_x])


MEANS_WORDS = dict(
    n="objects",
    n_answers="answers given",
    low="from",
    high="to",
    right="share right",
    k_found="clusters found",
    clusters_found="clusters found",
    converged="share converged",
)


def means_in_words(sweep):
    "The summary as a reader sees it: rounded, with words as heads, and without the seconds."
    model, means = sweep.model, sweep.summary().drop(columns="seconds").round(3)
    for name in {"n", model.count} & set(means.columns):
        means[name] = means[name].map("{:,.0f}".format)
    labels = {each.name: each.label for each in model.parameters} | {model.measure: model.measure_label}
    return means.rename(columns=MEANS_WORDS | labels)


def has_needs(sweep):
    "Whether a curve can be asked where it reaches the target."
    return sweep.axis is not None and bool(sweep.axis.effect) and sweep.target is not None and sweep.model.most


def needs_of(sweep):
    "Where each curve reaches the target. Methods are resampled alike."
    found = []
    for where, method, rows in groups_of(sweep) if has_needs(sweep) else ():
        x, values = curve_of(sweep, rows)
        falls, budget = sweep.axis.effect < 0, sweep.axis.budget
        found.append((where, method, x, values, needed(x, values, sweep.target, budget, falls, rng=0)))
    return found


def where_words(sweep, where):
    "A panel, in words."
    return "".join(
        f", {sweep.model.parameter(name).label} {'' if isinstance(value, str) else '= '}{value}"
        for name, value in where.items()
    ).removeprefix(", ")


def _at(sweep, where):
    "The beginning of a sentence about a panel."
    words = where_words(sweep, where)
    return f"At {words}, " if words else ""


def mean_words(sweep, values):
    "A mean of the measure."
    return f"{sweep.model.measure_label} {mean_in_words(values, sweep.model.measure)}"


def need_sentences(sweep):
    "What each curve needs, and the ratios."
    unit = "answers" if sweep.axis.budget else ""
    said, firsts = [], {}
    for where, method, x, values, found in needs_of(sweep):
        falls = sweep.axis.effect < 0
        first, last = (mean_words(sweep, values[at]) for at in ((-1, 0) if falls else (0, -1)))
        goal = f"{sweep.model.measure_label} {sweep.target:g}"
        words = need_words(found, x, last, first, unit, goal, sweep.axis.label, falls)
        at = _at(sweep, where)
        said.append(f"{at}{method} {words}.")
        key = tuple(where.values())
        if key not in firsts:
            firsts[key] = method, found
        elif unit and np.isfinite([found.value, firsts[key][1].value]).all():
            said.append(ratio_sentence(*firsts[key], method, found, at))
    return said


def ratio_sentence(first, one, method, other, at):
    "How many times as many answers the other method needs."
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = other.resamples / one.resamples
    if not np.isfinite(ratios).all():
        return f"{at}{method} needs about {other.value / one.value:.2g} times as many as {first}."
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    times = f"{other.value / one.value:.2g} times as many as {first} ({low:.2g} to {high:.2g}, same data)"
    return f"{at}{method} needs {times}."


def best_sentences(sweep):
    "Where the mean loss is least."
    said = []
    for where, method, rows in groups_of(sweep):
        x, values = curve_of(sweep, rows)
        at = int(values.mean(axis=1).argmin())
        drawn = np.random.default_rng(0).integers(values.shape[1], size=(1000, values.shape[1]))
        again = x[values[:, drawn].mean(axis=2).argmin(axis=0)]
        low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
        letter = sweep.axis.label
        sure = f"{letter} from {low:g} to {high:g} in {LEVEL:.0%} of the resamples"
        end = min((0, -1), key=lambda side: values[side].mean())
        gain = rounded(*mean_and_half(values[end] - values[at]))
        better = f", {gain} less than at {letter} = {x[end]:g}" if at not in (0, len(x) - 1) else ""
        least = f"{mean_words(sweep, values[at])} is the least, at {letter} = {x[at]:g}{better} ({sure})"
        said.append(f"{_at(sweep, where)}{method}: {least}.")
    return said


def mean_sentences(sweep):
    "The mean at the last x of every curve."
    said = []
    for where, method, rows in groups_of(sweep):
        if sweep.axis is not None:
            last = max(sweep.values[sweep.axis.name])
            rows, where = rows[rows[sweep.axis.name] == last], where | {sweep.axis.name: last}
        words = mean_words(sweep, rows[sweep.model.measure].to_numpy(dtype=float))
        if sweep.model.name == "adaptive":
            words += f", {rows['right'].mean():.0%} of the trees exactly right"
        elif sweep.model.count:
            words += f" from {rows[sweep.model.count].mean():,.0f} answers"
        said.append(f"{_at(sweep, where)}{method}: {words}.")
    return said


def sweep_chart(sweep):
    "The mean of the measure with its 95% interval."
    import altair as alt

    model, frame = sweep.model, sweep.summary()
    on_axis = "method" if sweep.axis is None else model.count if sweep.axis.budget else sweep.axis.name
    title = "answers" if on_axis == model.count else "method" if sweep.axis is None else sweep.axis.label
    rows = []
    for row in frame.to_dict("records"):
        panel = where_words(sweep, {name: row[name] for name in sweep.panels})
        ends = [model.measure, "low", "high"]
        mean, low, high = (None if np.isnan(row[end]) else float(row[end]) for end in ends)
        low, high = (mean if low is None else low), (mean if high is None else high)
        target = {} if not has_needs(sweep) else dict(target=sweep.target)
        rows.append(dict(panel=panel, method=row["method"], x=row[on_axis], mean=mean, low=low, high=high, **target))
    scale = dict(zero=False, nice=False, padding=8)
    ratio = sweep.axis is not None and (on_axis == model.count or _is_geometric(sweep.values[sweep.axis.name]))
    x = alt.X("x:N" if sweep.axis is None else "x:Q", title=title)
    if sweep.axis is not None:
        x = x.scale(**scale, **({"type": "log"} if ratio else {})).axis(
            format="~s" if on_axis == model.count else "~g", labelOverlap=True
        )
    words = f"{model.measure_label}, mean and {LEVEL:.0%} interval"
    y = alt.Y("mean:Q", title=words).scale(zero=False)
    colour, shape = channels("method", plain_looks(sweep.values["method"]))
    looks = dict(spread=dict(strokeWidth=1.4), line=dict(strokeWidth=1.2), point=dict(size=45))
    layers = mean_layers(None, x, y, colour, shape, **looks)
    if sweep.axis is None:  # no line joins methods
        del layers[1]
    if has_needs(sweep):
        layers.append(threshold(alt.Undefined, y=alt.Y("target:Q", title=words)))
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    alone = len(panels) == 1
    size = dict(width=420, height=240) if alone else dict(width=200, height=170)
    chart = alt.layer(*layers, data=alt.InlineData(values=rows)).properties(**size)
    if alone:
        return chart.properties(title=panels[0]) if panels[0] else chart
    return chart.facet(alt.Facet("panel:N", sort=panels, title=None), columns=3)


def _is_geometric(values):
    "Whether values are spread over more than a factor of eight, upwards from above 0."
    return min(values) > 0 and max(values) > 8 * min(values)


def sweep_page(sweep):
    "One self-contained page."
    from comparison_hc.evaluation.report import lines_html, table_html

    title = f"What if: {sweep.model.title}"
    fixed = [
        (each.label, f"{sweep.values[each.name][0]}")
        for each in sweep.model.parameters
        if len(sweep.values[each.name]) == 1 and sweep.values[each.name][0] is not None
    ]
    lines = [*fixed, ("repetitions", str(sweep.n_repetitions)), *(("by itself", text) for text in sweep.said)]
    lines.append(("the same again", sweep.again))
    caption = f"Means over {sweep.n_repetitions} repetitions with {LEVEL:.0%} intervals"
    caption += "; dashed: the target." if has_needs(sweep) else "."
    sections = [
        "".join(f"<p>{escape(text)}</p>" for text in sweep.sentences()),
        figure_html(sweep.chart(), caption),
        "<h2>Means</h2>",
        table_html(means_in_words(sweep)),
        f"<p>{escape(interval_words(sweep.model.measure, sweep.model.measure_label))}.</p>",
        "<h2>What was run</h2>",
        lines_html(lines),
    ]
    return page_of(title, sections)


def figure_html(chart, caption):
    "A chart as it stands on a page."
    from comparison_hc.core.plotting import convert_chart

    drawn = convert_chart(chart, "svg")
    return f"<figure><div class='scroll'>{drawn}</div><figcaption>{caption}</figcaption></figure>"


def page_of(title, sections):
    "A page that needs no server."
    from comparison_hc.evaluation.report import static_text

    viewport = '<meta name="viewport" content="width=device-width,initial-scale=1">'
    style = f"<style>\n{static_text('page.css')}</style>"
    head = f'<meta charset="utf-8">{viewport}<title>{escape(title)}</title>\n{style}'
    body = f"<h1>{escape(title)}</h1>\n" + "\n".join(sections)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}\n</body></html>\n'


def check_sweep_file(path, called="--out"):
    "It can be written; to be asked before long work. Raises `InputError`."
    from comparison_hc.core.compat import import_optional
    from comparison_hc.core.io import check_destination

    path = check_destination(path, called, ENDINGS)
    if path.suffix.lower() == ".parquet":
        import_optional("pyarrow", "a .parquet file")
    return path
