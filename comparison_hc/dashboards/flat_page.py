"""The dashboard `flat`: from results to heat maps, prices, SPUR's objective and controls."""

from math import inf, isfinite, log, sqrt

import numpy as np

from ..core.compat import repeat
from ..flat.sdp import cluster_matrix
from ..theory.n20_noise import theorem_conditions, theorem_interval
from ..theory.n20_remarks import CONSTANTS
from .flat import FlatInstance, FlatSettings, searched, why_not
from .framework import Page, no_step, page_texts
from .measure import Axis, curve_event, measure_chart
from .pictures import chart_spec, heat_figure, heat_map, shades, strip_picture


def short(value):
    "A number of a price or a similarity."
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}'):g}"


def planted_strip(settings, across=False):
    "The planted clusters."
    return strip_picture(repeat(np.arange(settings.k), settings.sizes), across=across)


def similarity_event(instance):
    "S, and the size of everything."
    s, S = instance.settings, instance.S
    off = S[np.triu_indices(len(S), 1)]
    low, high = float(off.min()), float(off.max())
    label = f"Heat map of the similarity of {s.n} objects"
    codes = shades(S, low, high, diagonal=False)
    strips = planted_strip(s, across=True), planted_strip(s)
    heat = heat_map("data", codes, (short(low), short(high)), label, *strips)
    share = f"{float(f'{100 * len(instance.answers) / s.n_questions:.2g}'):g}"
    answers = f"{len(instance.answers):,} of {s.n_questions:,} possible ({share}%)"
    return dict(kind="similarity", show=dict(heat, answers=answers), early=True)  # in a class, others come then


PRICE_ROWS = ("SPUR's range", "found, proved", "planted, proved", "Theorem 1")


def theorem_prices(settings):
    "Theorem 1's interval of λ, with the constants with which the theorem was checked."
    s = settings
    low, high = theorem_interval(s.n, s.n_answers, s.epsilon, s.delta, min(s.sizes))
    low, high = CONSTANTS[2] * low, CONSTANTS[3] * high
    return (low, high) if low < high else None


def price_rows(data):
    "The bars, the limit, and the edges of the axis."
    result = data["result"]
    searched = sorted((result.lam_min, result.lam_max))
    intervals = [searched, data["certified"], data["planted"], theorem_prices(data["instance"].settings)]
    ends = [end for each in intervals if each for end in each] + [data["limit"]]
    known = [end for end in ends if 0 < end < inf]
    edges = min(known) / 1.5, max(known) * 1.5
    bars = []
    for name, interval in zip(PRICE_ROWS, intervals):
        low, high = np.clip(interval or edges[:1] * 2, *edges).tolist()
        words = f"{short(interval[0])} to {short(interval[1])}" if interval else "none"
        if interval is searched and result.lam_min > result.lam_max:
            words = f"{short(result.lam_max)} (its highest), below {short(result.lam_min)} (its lowest)"
        bars.append(dict(row=name, low=low, high=high, words=words))
    limit = [dict(row=PRICE_ROWS[2], low=data["limit"])] if 0 < data["limit"] < inf else []
    return dict(prices=bars, limit=limit, edges=[dict(low=edge, row=PRICE_ROWS[0]) for edge in edges])


def price_chart():
    "Bars of prices."
    import altair as alt

    domain = list(PRICE_ROWS)
    y = alt.Y("row:N", title=None, sort=domain).scale(domain=domain).axis(grid=False, labelLimit=200)
    axis = alt.Axis(format=".2~r", labelOverlap=True, ticks=True, domain=True)
    x = alt.X("low:Q", title="price λ of the trace", axis=axis).scale(type="log", nice=False)
    colours = alt.Color("row:N", legend=None).scale(domain=domain, range=["#b4bac0", "#0072B2", "#009E73", "#A23B00"])
    bars = alt.Chart(alt.NamedData("prices"))
    layers = [
        alt.Chart(alt.NamedData("edges")).mark_point(opacity=0).encode(x, y),
        bars.mark_bar(height=10).encode(x, y, colours, x2="high"),
        alt.Chart(alt.NamedData("limit")).mark_tick(color="#D55E00", thickness=2, size=18).encode(x, y),
    ]
    return chart_spec(alt.layer(*layers).properties(width="container", height=92))


def objective_rows(data):
    "One row for every k in SPUR's range."
    k = data["instance"].settings.k
    rows = []
    for each in data["result"].steps:
        value = None if each.objective is None or not isfinite(each.objective) else each.objective
        looks = dict(proved=each.how == "certificate", best=each.k == data["k_hat"], planted=each.k == k)
        rows.append(dict(k=each.k, objective=value, **looks))
    return rows


def objective_chart():
    "The objective by k."
    import altair as alt

    base = alt.Chart(alt.NamedData("objective"))
    x = alt.X("k:O", title="number of clusters k").axis(labelAngle=0, labelOverlap=True, grid=False)
    y = alt.Y("objective:Q", title="objective").scale(domain=[0, 1]).axis(values=[0, 0.5, 1], format="~g")
    fill = alt.condition("datum.proved", alt.value("#0072B2"), alt.value("#fff"))
    unknown = base.transform_filter("!isValid(datum.objective)").mark_rule(color="#8b9299", strokeDash=[1, 3]).encode(x)
    planted = base.transform_filter("datum.planted").mark_rule(color="#009E73", strokeDash=[5, 3]).encode(x)
    known = base.transform_filter("isValid(datum.objective)")
    line = known.mark_line(color="#0072B2", strokeWidth=1).encode(x, y)
    points = known.mark_circle(size=50, stroke="#0072B2", strokeWidth=1.5, opacity=1).encode(x, y, fill=fill)
    ring = known.transform_filter("datum.best").mark_point(size=220, color="#D55E00", strokeWidth=2).encode(x, y)
    layers = alt.layer(unknown, planted, line, points, ring)
    return chart_spec(layers.properties(width="container", height=150))


def result_event(data):
    "What SPUR found, and how good it is."
    result, s = data["result"], data["instance"].settings
    solution = result.solution
    is_partition = solution.labels is not None
    X = cluster_matrix(result.labels) if is_partition else result.X
    label = f"Heat map of X, {data['k_hat']} clusters"
    strips = planted_strip(s, across=True), strip_picture(result.labels)
    heat = heat_map("solution", shades(X, 0.0, float(X.max())), ("0", short(float(X.max()))), label, *strips)
    iterations = f"{solution.n_iter:,} iteration{'s' * (solution.n_iter != 1)}"
    if solution.how == "certificate":
        proof = f"certificate, {f'after {iterations}' if solution.n_iter else 'no iteration needed'}"
    else:
        shape = "a partition" if is_partition else "not a partition and was rounded"
        proof = f"none; SDP-k with {iterations}, X is {shape}"
    facts = {
        "k-hat": f"{data['k_hat']} found, {s.k} planted",
        "ari": f"{data['ari']:.3f}{': all clusters' if data['ari'] == 1 else ''}",
        "proof": proof,
    }
    ks = [each.k for each in result.steps]
    where = "Dashed: the planted k." if s.k in ks else f"The planted k = {s.k} is outside the range."
    words = f"Ring: SPUR's {data['k_hat']}. {where} Filled: proved; hollow: solved; dotted: not computed, at most 1."
    objective = f"SPUR's objective for k from {min(ks)} to {max(ks)}, largest at {data['k_hat']}"
    proved = data["certified"]
    prices = f"λ from {short(result.lam_min)} to {short(result.lam_max)}; " + (
        f"proved from {short(proved[0])} to {short(proved[1])}" if proved else "nothing proved"
    )
    charts = dict(
        prices=dict(rows=price_rows(data), label=prices),
        objective=dict(rows=dict(objective=objective_rows(data)), label=objective),
    )
    found = dict(method="SPUR", ari=round(data["ari"], 6), clusters=data["k_hat"], proved=bool(proved))
    bars = "; ".join(f"{bar['row']}: {bar['words']}" for bar in charts["prices"]["rows"]["prices"])
    show = dict(heat, **facts, **charts) | {"objective-words": words, "price-words": f"{bars}."}
    return dict(kind="result", show=show, rows=[dict(s.columns("against", "every_k"), **found)], drawn=True)


AXES = {
    "ε": Axis(
        "epsilon",
        float,
        "datum.epsilon",
        (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
        "ε",
        "ε: an answer is right with probability (1 + ε)/2",
    ),
    "a": Axis("a", float, "datum.a", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), "a", "a: n(ln n)ᵃ answers are asked"),
}
OTHERS = ("n", "k", "delta", "family", "similarity")
LOOK = dict(name="SPUR", colour="#0072B2", shape="circle")


def measure_event(settings):
    "The stored curve, and where Theorem 1 begins."
    s = settings
    axis = AXES[s.against]
    delta, m = theorem_conditions(s.n, s.epsilon, s.delta, min(s.sizes))
    delta, m = CONSTANTS[0] * delta, CONSTANTS[1] * m
    if axis.setting == "a":
        begins = log(m / s.n) / log(log(s.n))
    else:
        begins = s.epsilon * sqrt(m / max(1, s.n_answers))
    is_stored = s.family == "normal" and s.similarity == "AddS-3"
    bounds = {"Theorem 1: enough answers": begins}
    asks = "impossible" if delta >= 1 else "satisfied" if s.delta > delta else f"here {s.delta:g}"
    asked = "satisfied" if s.n_answers >= m else f"here {s.n_answers:,}"
    words = f"Theorem 1 guarantees all clusters for at least {m:,.0f} answers ({asked}) if δ > {delta:.2f} ({asks})."
    words = f"Marks: this visit. Dotted: the present setting. {words}"
    return curve_event("flat", s, axis, ("SPUR",) if is_stored else (), bounds, LABELS, words)


LABELS = dict(n="n", k="k", delta="δ", a="a", epsilon="ε")


def flat_events(settings, step=no_step, memory=None):
    "All events of one setting, in the order of computation; results of the previous draw are used again if they hold."
    reason = why_not(settings)
    if reason:
        yield dict(kind="sentence", text=reason)
        return
    memory = {} if memory is None else memory
    instance = memory["draw"] = FlatInstance(settings, memory.get("draw"))
    for name in ("model", "sample", "answers", "S"):
        step(f"{settings.n_answers:,} {settings.kind} are asked")
        getattr(instance, name)
    yield similarity_event(instance)
    yield measure_event(settings)
    yield dict(kind="notes", notes=instance.notes())
    step("SPUR looks for a partition with a proof")
    data = searched(instance, step)
    yield dict(kind="notes", notes=data["notes"])
    yield result_event(data)


def flat_parts(start):
    "The first content of the page."
    about_S = "Objects in planted order. Strips: planted clusters."
    about_X = "If X is a partition: 1/|C| inside a cluster C. Left strip: found clusters."
    return dict(
        data=heat_figure("data", "S, from the answers", about_S), solution=heat_figure("solution", "X, from S", about_X)
    )


PAGE = Page(
    settings=FlatSettings,
    work=flat_events,
    parts=flat_parts,
    charts=lambda: dict(
        prices=price_chart(),
        objective=objective_chart(),
        measure=measure_chart(AXES.values(), OTHERS, "ari", "ARI", [LOOK], 150),
    ),
    small=dict(n=60),
    **page_texts("flat"),
)
flat_dashboard = PAGE.widget
