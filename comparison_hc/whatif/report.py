"""From a table of runs to means with intervals, the numbers that are enough, sentences, a picture and files."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import product

import numpy as np

from ..core.charts import mean_layers, plain_looks, scales, threshold
from comparison_hc.whatif.needs import (
    LEVEL,
    interval_words,
    mean_and_ends,
    mean_and_half,
    mean_in_words,
    need_words,
    needed,
    rounded,
)
from .parameters import Model


@dataclass(frozen=True, eq=False)
class Sweep:
    "Runs of one model."

    model: Model  # whose runs they are
    values: dict  # {name: values} of all parameters
    table: object  # `pandas.DataFrame`, a row a run: parameters, repetition, run_seed, measured values, seconds
    target: object = None  # what is enough, or None

    @cached_property
    def varied(self):
        "Names of the parameters with several values."
        return [name for name, values in self.values.items() if len(values) > 1]

    @cached_property
    def axis(self):
        "The parameter on the x-axis, or None."
        numbers = [name for name in self.varied if not isinstance(self.values[name][0], str)]
        wanted = [name for name in self.model.axes if name in numbers] or numbers
        return self.model.parameter(wanted[0]) if wanted else None

    @cached_property
    def panels(self):
        "Names of what else varies, but for the method."
        on_axis = self.axis.name if self.axis else None
        return [name for name in self.varied if name not in (on_axis, "method")]

    @property
    def n_repetitions(self):
        "How often every setting was run."
        return int(self.table["repetition"].max()) + 1

    def goal(self, target=None):
        "The target in words."
        return f"{self.model.measure_label} {self.target if target is None else target:g}"


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


def means_of(sweep):
    "The summary of all repetitions."
    import pandas as pd

    model, rest = sweep.model, list(sweep.table.columns)
    keys = [*sweep.panels, *([sweep.axis.name] if sweep.axis else []), "method"]
    rest = [name for name in rest if name not in (*sweep.values, "repetition", "run_seed", model.measure)]
    found = []
    for key, rows in sweep.table.groupby(keys, sort=False):
        mean, low, high = mean_and_ends(rows[model.measure].to_numpy(dtype=float), model.measure)
        row = dict(zip(keys, key)) | {"repetitions": len(rows), model.measure: mean, "low": low}
        found.append(row | {"high": high} | {name: rows[name].mean() for name in rest})
    return pd.DataFrame(found)


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
    model, means = sweep.model, means_of(sweep).drop(columns="seconds").round(3)
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


def needs_frame(sweep):
    "The numbers behind the sentences."
    import pandas as pd

    rows = [where | dict(method=m, needed=n.value, low=n.low, high=n.high) for where, m, _, _, n in needs_of(sweep)]
    return pd.DataFrame(rows, columns=[*sweep.panels, "method", "needed", "low", "high"])


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
        words = need_words(found, x, last, first, unit, sweep.goal(), sweep.axis.label, falls)
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


def sentences_of(sweep):
    "What the sweep says."
    if has_needs(sweep):
        return need_sentences(sweep)
    shared = sweep.axis is not None and sweep.axis.name in sweep.model.free and not sweep.model.most
    return best_sentences(sweep) if shared and sweep.model.measure == "loss" else mean_sentences(sweep)


def chart_of(sweep):
    "The mean of the measure with its 95% interval, a panel for everything that varies besides method and x-axis."
    import altair as alt

    model, frame = sweep.model, means_of(sweep)
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
    colour, shape = scales(plain_looks(sweep.values["method"]))
    colour = alt.Color("method:N", title=None, scale=colour)
    shape = alt.Shape("method:N", title=None, scale=shape)
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


ENDINGS = (".csv", ".parquet", ".svg", ".png", ".pdf", ".html")


def sweep_page(sweep, said, again=""):
    "One self-contained page."
    from comparison_hc.core.plotting import convert_chart
    from comparison_hc.evaluation.report import lines_html, static_text, table_html

    title = f"What if: {sweep.model.title}"
    fixed = [
        (each.label, f"{sweep.values[each.name][0]}")
        for each in sweep.model.parameters
        if len(sweep.values[each.name]) == 1 and sweep.values[each.name][0] is not None
    ]
    lines = [*fixed, ("repetitions", str(sweep.n_repetitions)), *(("by itself", text) for text in said)]
    lines += [("the same again", again)] if again else []
    caption = f"Means over {sweep.n_repetitions} repetitions with {LEVEL:.0%} intervals"
    caption += "; dashed: the target." if has_needs(sweep) else "."
    drawn = convert_chart(chart_of(sweep), "svg")
    sections = [
        "".join(f"<p>{escape(text)}</p>" for text in sentences_of(sweep)),
        f"<figure><div class='scroll'>{drawn}</div><figcaption>{caption}</figcaption></figure>",
        "<h2>Means</h2>",
        table_html(means_in_words(sweep)),
        f"<p>{escape(interval_words(sweep.model.measure, sweep.model.measure_label))}.</p>",
        "<h2>What was run</h2>",
        lines_html(lines),
    ]
    return page_of(title, sections, static_text("page.css"))


def page_of(title, sections, style):
    "A page that needs no server."
    viewport = '<meta name="viewport" content="width=device-width,initial-scale=1">'
    head = f'<meta charset="utf-8">{viewport}<title>{escape(title)}</title>\n<style>\n{style}</style>'
    body = f"<h1>{escape(title)}</h1>\n" + "\n".join(sections)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}\n</body></html>\n'


def save_sweep(sweep, path, said=(), again=""):
    "Write a file. Raises `InputError` for another ending, or where it cannot be written."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.core.plotting import convert_chart

    path = check_sweep_file(path, "path")
    form = path.suffix.lower()
    if form == ".csv":
        content = sweep.table.to_csv(index=False)
    elif form == ".parquet":
        content = sweep.table.to_parquet(index=False)
    elif form == ".html":
        content = sweep_page(sweep, said, again)
    else:
        content = convert_chart(chart_of(sweep), form[1:])
    atomic_write(path, content)
    return path


def check_sweep_file(path, called="--out"):
    "It can be written; to be asked before long work. Raises `InputError`."
    from comparison_hc.core.compat import needed as library
    from comparison_hc.core.io import check_destination

    path = check_destination(path, called, ENDINGS)
    if path.suffix.lower() == ".parquet":
        library("pyarrow", "a .parquet file")
    return path
