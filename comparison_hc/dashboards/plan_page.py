"""The dashboard `plan`: curves with intervals, a table of designs and a recommendation, as events for the page."""

from html import escape
from math import isfinite

import numpy as np

from comparison_hc.dashboards.plan import (
    REPETITIONS,
    SIZES,
    STUDIED,
    PlanSettings,
    design_curves,
    one_repetition,
    read_off,
)

from ..core.charts import mean_layers, scales
from ..whatif.needs import mean_and_ends, with_interval
from .framework import Page, no_step, page_texts
from .pictures import chart_spec

LOOKS = {"triplets": ("#0072B2", "circle"), "odd-one-out": ("#D55E00", "square"), "central": ("#009E73", "diamond")}


def curve_rows(curves):
    "One row per design and number of questions."
    rows = []
    for design, values in curves.items():
        mean, *ends = mean_and_ends(values)
        low, high = (np.where(np.isnan(end), mean, end) for end in ends)  # one study has no interval
        for each in zip(SIZES, mean.tolist(), low.tolist(), high.tolist()):
            rows.append(dict(zip(("questions", "mean", "low", "high"), each), design=design))
    return rows


def plan_chart():
    "AARI over questions."
    import altair as alt

    across = dict(
        title="new questions of all people (log scale)",
        axis=alt.Axis(values=[60, 120, 240, 480, 1000, 2000, 4000, 8000], format="~s", labelOverlap=True, grid=False),
        scale=alt.Scale(type="log", nice=False, padding=10),
    )
    up = dict(title="AARI, mean and 95% interval", axis=alt.Axis(format="~g", tickCount=6))
    x = alt.X("questions:Q", **across)
    y = alt.Y("mean:Q", **up).scale(domain=[-0.1, 1.05])
    colour, shape = scales(LOOKS)
    colour = alt.Color("design:N", title=None, legend=alt.Legend(orient="top"), scale=colour)
    shape = alt.Shape("design:N", title=None, scale=shape)
    looks = dict(spread=dict(strokeWidth=1.3, clip=True), line=dict(strokeWidth=1.3), point=dict(size=55))
    marks = alt.Chart(alt.NamedData("marks"))
    layers = [
        *mean_layers(alt.NamedData("means"), x, y, colour, shape, **looks),
        marks.mark_rule(strokeDash=[5, 3], color="#444").encode(y=alt.Y("target:Q", **up)),
        marks.mark_rule(strokeDash=[2, 3], color="#444").encode(x=alt.X("questions:Q", **across)),
    ]
    return chart_spec(alt.layer(*layers).properties(width="container", height=300))


def people_words(read):
    "The number of people that the target requires, in words."
    people = read["people"]
    if isfinite(people):
        return f"{people:,}"
    return f"more than {SIZES[-1]:,} questions" if people > 0 else f"at most {SIZES[0]} questions"


def plan_table(settings, reads):
    "One row per design."
    head = ("design", "AARI now", f"people for {settings.target:g}", "one more person adds")
    rows = ["".join(f'<th scope="col">{escape(name)}</th>' for name in head)]
    for design, read in reads.items():
        cells = with_interval(read["reached"], read["half"]), people_words(read), f"{read['gain']:+.3f}"
        rows.append(f'<th scope="row">{design}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in cells))
    return "<table><tbody>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</tbody></table>"


def advice(settings, reads, n_studies):
    "The best of the designs, in words."
    s = settings
    best = max(reads, key=lambda design: reads[design]["reached"])
    read = reads[best]
    enough = "which is enough" if read["reached"] >= s.target else f"which is less than {s.target:g}"
    return (
        f"{s.people} people answer {s.budget:,} new questions, {s.new_per_person} each. The best design is {best} with "
        f"an AARI of {with_interval(read['reached'], read['half'])}, {enough}. People required for {s.target:g}: "
        f"{people_words(read)}. Means over {n_studies} simulated {'study' if n_studies == 1 else 'studies'}."
    )


def plan_event(settings, repetitions):
    "All that the page shows."
    s, curves = settings, design_curves(repetitions)
    reads = {design: read_off(s, values) for design, values in curves.items()}
    marks = [dict(questions=min(max(s.budget, SIZES[0]), SIZES[-1]), target=s.target)]
    words = advice(s, reads, len(repetitions))
    chart = dict(rows=dict(means=curve_rows(curves), marks=marks), label=words)
    notes = []
    if not SIZES[0] <= s.budget <= SIZES[-1]:
        notes.append(f"{s.budget:,} questions are outside the simulated range from {SIZES[0]} to {SIZES[-1]:,}.")
    shown = {"curve": chart, "table": plan_table(s, reads), "advice": escape(words)}
    rows = [dict(s.columns(), studies=len(repetitions), **row) for row in curve_rows(curves)]
    return dict(kind="plan", show=shown, drawn=True, notes=notes, rows=rows if len(repetitions) == REPETITIONS else [])


def plan_events(settings, step=no_step, memory=None):
    "A picture after every repetition; those of the setting before stay if no new simulation is needed."
    memory = {} if memory is None else memory
    if memory.get("studied") != settings.studied:
        memory.clear()
        memory.update(studied=settings.studied, repetitions=[])
    kept = memory["repetitions"]
    if kept:
        yield plan_event(settings, kept)
    for r in range(len(kept), REPETITIONS):
        kept.append(one_repetition(settings, r, step))
        yield plan_event(settings, kept)


PAGE = Page(
    settings=PlanSettings,
    work=plan_events,
    charts=lambda: dict(curve=plan_chart()),
    slow=STUDIED,
    small=dict(n=20),
    **page_texts("plan"),
)
plan_dashboard = PAGE.widget
