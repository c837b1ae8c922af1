"""The chart with a panel for each p, the paper's sentences as functions, and both figures by name."""

from itertools import groupby

from ..core.charts import mean_layers, scales
from .claims import judged
from .f19 import DASHED, SHAPES, planted_methods
from .readings import first_from, gap_and_error, in_panels, which_setting

_COLOURS = ("#000000", "#999999", "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#D55E00")
_LOOKS = {
    name: (colour, shape, [4, 2] if name in DASHED else [1, 0])
    for name, colour, shape in zip(planted_methods, _COLOURS, SHAPES)
}


def _method_channels(data, **legend):
    "Colour, shape and dash of the methods that are there: the same in every picture of these methods."
    import altair as alt

    colour, shape, dash = scales(_LOOKS, data["method"])
    legend = alt.Legend(title="method", symbolOpacity=1, **legend)
    # a dash would fray the edges of the symbols in the legend
    return dict(
        color=alt.Color("method:N", scale=colour, legend=legend),
        shape=alt.Shape("method:N", scale=shape, legend=legend),
        line__strokeDash=alt.StrokeDash("method:N", scale=dash, legend=None),
    )


BENEATH = "4K–AL"  # at p = 1 the curve of 4K–AL–act too, and nearly that at p = 0.1


def planted_chart(summary, columns=3):
    "F19, figures 2 and S.1: mean AARI against δ/σ with a band of one standard deviation, a panel a value of p."
    import altair as alt

    summary = summary.sort_values("p", kind="stable")
    data = summary.assign(
        low=(summary["aari"] - summary["sd"]).clip(lower=-0.05),
        high=(summary["aari"] + summary["sd"]).clip(upper=1),
        panel=summary["p"].map("p = {:g}".format),
    )
    axis = alt.Axis(values=[0.4, 0.8, 1.2, 1.6, 2])
    x = alt.X("snr:Q", title="δ/σ", scale=alt.Scale(zero=False, nice=False, padding=8), axis=axis)
    y = alt.Y("aari:Q", title="AARI, mean ± sd", scale=alt.Scale(domain=[-0.05, 1.02], nice=False))
    beneath = alt.datum.method == BENEATH  # wide, so that what lies on it hides it no longer
    layers = mean_layers(
        None,
        x,
        y,
        **_method_channels(data, symbolSize=60),
        spread=dict(opacity=0.12),
        band=True,
        line__strokeWidth=alt.condition(beneath, alt.value(3.5), alt.value(1.3)),
        point__size=alt.condition(beneath, alt.value(80), alt.value(38)),
    )
    n_panels = data["panel"].nunique()
    size = 210 if n_panels <= 3 else 180
    chart = in_panels(layers, data, columns, width=size, height=size)
    return chart if n_panels % columns == 0 else chart.resolve_axis(x="independent")  # no axis under no panel


def means_chart(summary):
    "AARI averaged over all δ/σ against p, one line per method, with two standard errors of that average."
    import altair as alt

    by = summary.assign(variance=summary["sd"] ** 2 / summary["repetitions"]).groupby(["p", "method"], as_index=False)
    data = by.agg(aari=("aari", "mean"), variance=("variance", "mean"), points=("aari", "size"))
    error = 2 * (data["variance"] / data["points"]) ** 0.5
    data = data.assign(low=data["aari"] - error, high=data["aari"] + error)
    axis = alt.Axis(values=[0.01, 0.02, 0.05, 0.1, 1], format="~g")
    scale = alt.Scale(type="log", nice=False, padding=8)
    x = alt.X("p:Q", title="p, share of all answers", scale=scale, axis=axis)
    y = alt.Y("aari:Q", title="AARI, mean over δ/σ", scale=alt.Scale(zero=False))
    looks = dict(spread=dict(opacity=0.6), line=dict(strokeWidth=1.3), point=dict(size=38))
    return alt.layer(*mean_layers(data, x, y, **_method_channels(data), **looks)).properties(width=340, height=260)


def describe_setting(summary, kind):
    "Which setting results come from, in one sentence."
    n = int(summary["n_pure"].iloc[0])
    points = f"{summary['snr'].nunique()} values of δ/σ, {summary['p'].nunique()} of p"
    repetitions = int(summary["repetitions"].iloc[0])
    return f"{which_setting(kind)}: N₀ = {n} (N = {8 * n}), {points}, {repetitions} repetitions"


def _curve(summary, method, p):
    "The points of one curve, by δ/σ."
    return summary[(summary["method"] == method) & (summary["p"] == p)].sort_values("snr").set_index("snr")


def recovers_from(summary, method, p, enough=0.99):
    "The smallest δ/σ of the figure from which on the mean AARI is high enough."
    return first_from(_curve(summary, method, p)["aari"], enough)


def _starts(summary, method):
    "(δ/σ from which on the method recovers in each panel, the same in words)."
    proportions = sorted(summary["p"].unique())
    starts, words = [recovers_from(summary, method, p) for p in proportions], []
    for start, group in groupby(zip(starts, proportions), key=lambda pair: pair[0]):
        p = [f"{p:g}" for _, p in group]
        since = "never" if start == float("inf") else f"from {start:g}"
        where = f"(p = {p[0]})" if len(p) == 1 else f"(p = {p[0]} to {p[-1]})"
        words.append((since, where))
    if len(words) == 1:
        return starts, words[0][0]
    return starts, ", ".join(f"{since} {where}" for since, where in words)


def _compared(summary, better, worse):
    "(mean difference, whether it is positive and nowhere negative by two standard errors, where it is worst in words)."
    keys = ["p", "snr"]
    one, two = (summary[summary["method"] == name].set_index(keys).sort_index() for name in (better, worse))
    gap, error = gap_and_error(one, two, "aari")
    is_better = bool(gap.mean() > 0 and (gap >= -2 * error - 1e-12).all())
    p, snr = gap.idxmin()
    return gap.mean(), is_better, f"smallest difference {gap.min():+.3f} (p = {p:g}, δ/σ = {snr:g})"


def _loss(summary, method):
    "(mean loss of AARI from the largest to the smallest p, the largest loss in words)."
    few, all_ = (_curve(summary, method, p)["aari"] for p in (summary["p"].min(), summary["p"].max()))
    loss = all_ - few
    return loss.mean(), f"{loss.mean():+.3f} on average, at most {loss.max():+.3f} (δ/σ = {loss.idxmax():g})"


_PLAIN = ("4K–AL", "4K–AL, self-pairs", "4K–AL–act", "4–AL")


def _claims_about_linkage(summary, source):
    "What the paper says of SL and CL."
    asking = summary[summary["method"].isin(["SL", "CL"])]
    same = asking.groupby(["method", "snr"])[["aari", "comparisons"]].nunique().max().max() == 1
    same_words = "the same AARI and number of questions in all panels" if same else "differs between panels"
    sl = summary[summary["method"] == "SL"]
    exact, last = sl["exact"].max(), sl.sort_values("snr")["aari"].iloc[-1]
    hardly = f"exact in at most {exact:.0%} of the runs of a point; AARI {last:.3f} at δ/σ = {sl['snr'].max():g}"
    mean, better, worst = _compared(summary, "CL", "SL")
    return [
        judged("f19/one-for-all-p", same_words, same),
        judged("f19/sl-fails", hardly, exact <= 0.5, source=source),
        judged("f19/cl-beats-sl", f"{mean:+.3f} on average; {worst}", better, source=source),
    ]


def _claims_about_average(summary, source):
    "What the paper says of the methods without initial clusters."
    (sl, sl_words), (cl, cl_words) = (_starts(summary, name) for name in ("SL", "CL"))
    claims = []
    for name in _PLAIN:
        starts, words = _starts(summary, name)
        words = f"δ/σ at which it recovers: {words}; CL: {cl_words}; SL: {sl_words}"
        is_sooner = all(a < min(b, c) for a, b, c in zip(starts, sl, cl))
        claims.append(judged("f19/recovers-sooner", words, is_sooner, name=name, source=source))
    for name in _PLAIN:
        mean, words = _loss(summary, name)
        claims.append(judged("f19/few-answers", f"loss {words}", mean <= 0.1, name=name, source=source))
    return claims


def _claims_about_initial(summary, source, best):
    "What the paper says of the methods with initial clusters; `best` are those that it calls best."
    rank = "the best method" if len(best) == 1 else "among the best methods"
    rivals = [other for other in planted_methods if other not in best]
    claims = []
    for name in best:
        compared = {other: _compared(summary, name, other) for other in rivals}
        closest = min(rivals, key=lambda other: compared[other][0])
        mean, _, worst = compared[closest]
        words = f"closest rival {closest}: {mean:+.3f} on average, {worst}"
        is_best = all(better for _, better, _ in compared.values())
        claims.append(judged("f19/best", words, is_best, name=name, rank=rank, source=source))
        starts, words = _starts(summary, name)
        words = f"δ/σ at which it recovers: {words}"
        claims.append(judged("f19/early", words, max(starts) <= 0.6, name=name, source=source))
    return claims


def figure_2_claims(summary, source="section 4.1", best=("4–AL–I5",)):
    "The sentences of section 4.1 about figure 2, with verdicts; `best` are the methods that the paper calls best."
    return [
        *_claims_about_linkage(summary, source),
        *_claims_about_average(summary, source),
        *_claims_about_initial(summary, source, best),
    ]


def figure_s1_claims(summary):
    "The sentences of appendix B.1 about figure S.1, with verdicts."
    return figure_2_claims(summary, "appendix B.1", ("4–AL–I3", "4–AL–I5"))
