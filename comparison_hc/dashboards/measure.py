"""The chart of a measure along one slider: stored means with bands, thresholds of theorems, draws of this visit."""

from dataclasses import dataclass
from functools import cache
from math import log10

from .page import static_rows
from .pictures import chart_spec, look_channels


@dataclass(frozen=True)
class Axis:
    "One of the sliders that a measure can be drawn over."

    setting: str  # its name
    place: object  # function of a value that gives its place
    expression: str  # the same in Vega, of `datum.NAME`
    ticks: tuple  # values with a text; the first and the last are the ends
    title: str  # in the heading, behind "along"
    words: str  # under the axis
    text: object = "{:g}".format  # function of a value that gives its text

    def signals(self, settings):
        "What the chart needs to know for this axis at these settings."
        places = [self.place(value) for value in self.ticks]
        texts = [self.text(value) for value in self.ticks]
        here = self.place(getattr(settings, self.setting))
        return dict(against=self.setting, at=settings.columns(), places=places, texts=texts, now=here)


def measure_chart(axes, others, value, title, series, height=175):
    "A measure along one of the axes; rows of `lines`, `bounds` and `visits` come later, and so does the axis."
    import altair as alt

    names, colours, shapes = ([each[part] for each in series] for part in ("name", "colour", "shape"))
    dashes = [[5, 3] if each.get("dashed") else [1, 0] for each in series]
    looks = dict(Color=colours, Shape=shapes, StrokeDash=dashes)
    colour, shape, dash = look_channels("series", names, **looks)
    first = dict(against=next(iter(axes)).setting, at={}, places=[0, 1], texts=["", ""], now=0, solid=1)
    params = [alt.param(name=name, value=what) for name, what in first.items()]
    ends = dict(domainMin=alt.ExprRef("places[0]"), domainMax=alt.ExprRef("places[length(places) - 1]"))
    label = "texts[indexof(places, datum.value)]"
    axis = alt.Axis(values=alt.ExprRef("places"), labelExpr=label, grid=False, title=None, labelOverlap=True)
    x = alt.X("x:Q", axis=axis).scale(**ends, zero=False, nice=False, padding=0)
    y = alt.Y("value:Q", title=title).axis(values=[0, 0.5, 1], format="~g").scale(domain=[-0.08, 1.02], nice=False)

    lines = alt.Chart(alt.NamedData("lines"))
    band = lines.mark_area(opacity=alt.ExprRef("0.13 * solid"), clip=True)
    band = band.encode(x, alt.Y("low:Q", title=title), alt.Y2("high:Q"), colour)
    mean = lines.mark_line(strokeWidth=1.6, clip=True, opacity=alt.ExprRef("solid"))
    mean = mean.encode(x, y, colour, strokeDash=dash)
    bounds = alt.Chart(alt.NamedData("bounds"))
    rule = bounds.mark_rule(color="#A23B00", strokeDash=[6, 3], strokeWidth=1.4).encode(x)
    words = []
    for align, dx in (("left", 4), ("right", -4)):
        near = bounds.transform_filter(alt.datum.side == align)
        near = near.transform_calculate(row=f"{height - 24} - 13 * datum.row")  # from below: lines end above
        text = near.mark_text(align=align, dx=dx, fontSize=11, color="#A23B00")
        words.append(text.encode(x, y=alt.Y("row:Q").scale(None), text="text:N"))
    place = " : ".join([f"against == '{each.setting}' ? {each.expression}" for each in axes] + ["0"])
    same = [f"(against == '{each.setting}' || datum.{each.setting} == at.{each.setting})" for each in axes]
    same += [f"datum.{name} == at.{name}" for name in others]
    visits = alt.Chart(alt.NamedData("visits")).transform_filter(" && ".join(same))
    visits = visits.transform_calculate(x=place, value=f"datum.{value}", series="datum.method")
    marks = visits.mark_point(filled=True, size=60, opacity=1, clip=True).encode(x, y, colour, shape)
    here = alt.Chart(alt.NamedData("here")).mark_rule(color="#444", strokeDash=[2, 3]).encode(x)
    layers = alt.layer(band, mean, rule, *words, here, marks).add_params(*params)
    return chart_spec(layers.properties(width="container", height=height))


@cache
def stored_table(name):
    "What was computed before, from `static/NAME.csv`."
    rows = []
    for row in static_rows(f"{name}.csv"):
        series, mean, deviation = row.pop("series"), int(row.pop("mean")), int(row.pop("deviation"))
        numbers = {key: float(value) for key, value in row.items()}
        rows.append(dict(numbers, series=series, mean=mean / 1000, deviation=deviation / 1000))
    return rows


@cache
def _groups(name, along):
    "Names of all settings of a table but one, and {their values: rows}."
    table = stored_table(name)
    fixed = [each for each in table[0] if each not in ("series", "mean", "deviation", along)]
    groups = {}
    for row in table:
        groups.setdefault(tuple(row[each] for each in fixed), []).append(row)
    return fixed, groups


def _size(value):
    "The position of a setting's value on a scale on which equal factors are equal distances."
    return log10(min(max(float(value), 1e-6), 20.0)) if value < 20 else float(value) / 20


def nearest_stored(name, along, settings):
    "({setting: value}, rows) of the stored line whose other settings are nearest to the present ones."
    fixed, groups = _groups(name, along)
    here = [getattr(settings, each) for each in fixed]
    values = min(groups, key=lambda each: sum(abs(_size(one) - _size(other)) for one, other in zip(each, here)))
    return dict(zip(fixed, values)), groups[values]


def line_rows(rows, axis, series):
    "The stored line of every series, with its band."
    found = []
    for row in rows:
        if row["series"] in series:
            spread = dict(low=row["mean"] - row["deviation"], high=min(1.0, row["mean"] + row["deviation"]))
            found.append(dict(spread, series=row["series"], x=axis.place(row[axis.setting]), value=row["mean"]))
    return sorted(found, key=lambda row: row["x"])


def other_settings(stored, settings, labels):
    "The stored settings that are not the present ones, in words; empty if all are the same."
    if all(value == getattr(settings, name) for name, value in stored.items()):
        return ""
    return ", ".join(f"{labels[name]} = {value:g}".replace("inf", "∞") for name, value in stored.items())


def bound_rows(found, axis):
    "Thresholds that lie on the axis, with their words on the side where there is room."
    low, high = (axis.place(axis.ticks[end]) for end in (0, -1))
    there = {text: axis.place(value) for text, value in found.items() if value is not None}
    there = {text: x for text, x in there.items() if low <= x <= high}
    rows = []
    for text, x in sorted(there.items(), key=lambda each: each[1]):
        side = "left" if x < (low + high) / 2 else "right"
        rows.append(dict(x=x, text=text, side=side, row=len(rows)))
    return rows


def curve_event(name, settings, axis, series, bounds, labels, more):
    "The chart but for the rows of the visit, with the stored line, or a pale one that is near; `more` ends its words."
    stored, found = nearest_stored(name, axis.setting, settings)
    lines, other = line_rows(found, axis, series), other_settings(stored, settings, labels)
    signals = dict(axis.signals(settings), solid=0.35 if other else 1)
    rows = dict(lines=lines, bounds=bound_rows(bounds, axis), here=[dict(x=signals["now"])])
    words = f"Pale: means of the nearest stored settings, {other}. " if other else ""
    words += "Lines and bands: mean and standard deviation of five draws. " if lines else "No means are stored here. "
    show = {"measure": dict(rows=rows, signals=signals, label=f"along {axis.title}"), "measure-axis": axis.title}
    return dict(kind="measure", show=show | {"measure-across": axis.words, "measure-words": words + more})
