"""Charts, half points and constants, and the sentences with their verdicts."""

import numpy as np

from .claims import judged
from .n20_theory import FAMILIES

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")


def _lines(data, x, y, color, dash):
    "Lines and points, in two layers: where one mark draws both, the legend of the dashes stays empty."
    import altair as alt

    base, looks = alt.Chart(data).encode(x, y, color), color.to_dict()
    shape = alt.Shape(f"{looks['field']}:N", title=looks["title"], sort=looks["sort"])
    shape.scale = alt.Scale(domain=looks["scale"]["domain"])
    detail = alt.Detail(dash.to_dict()["field"] + ":N")
    return base.mark_line().encode(dash) + base.mark_point(filled=True, opacity=1, size=36).encode(shape, detail)


def _log_axis(column, title):
    "To the right, in the logarithm."
    import altair as alt

    scale, axis = alt.Scale(type="log", nice=False), alt.Axis(labelOverlap=True, labelSeparation=6)
    return alt.X(f"{column}:Q", title=title, scale=scale, axis=axis)


def _dashes(column, title, **more):
    "A legend of dashes that can be told apart."
    import altair as alt

    legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeColor="#444444")
    return alt.StrokeDash(f"{column}:N", title=title, legend=legend, **more)


def _half(points, column):
    "Where a curve first reaches one half, interpolated in the logarithm; NaN if nowhere between two points."
    x, y = np.log(points[column].to_numpy(float)), points["recovered"].to_numpy(float)
    rises = np.flatnonzero((y[:-1] < 0.5) & (y[1:] >= 0.5))
    if not len(rises):
        return np.nan
    i = rises[0]
    return float(np.exp(x[i] + (0.5 - y[i]) / (y[i + 1] - y[i]) * (x[i + 1] - x[i])))


def _rises(curve, column):
    "Where a curve leaves 0, reaches one half, and stays at 1; its first and last point where it does not."
    x, y = curve[column], curve["recovered"]
    begins, ends = x[y.cummax() == 0].max(), x[y[::-1].cummin() == 1].min()
    return {"begins": max(x.min(), begins), "half": _half(curve, column), "ends": min(x.max(), ends)}


def theorem_chart(summary):
    "Where the share recovered rises from 0 to 1, one row per setting and n, in |T|/(n(ln n)²) and the theorem's unit."
    import altair as alt
    from pandas import DataFrame

    data = summary.assign(plain=summary["triplets"] / (summary["n"] * np.log(summary["n"]) ** 2))
    items = [str(n) for n in sorted(set(data["n"]))]
    units = {"plain": "|T| / (n (ln n)²)", "multiple": "|T| / threshold of the theorem"}
    title, panels, legend = "where the share proved to be recovered rises", [], alt.Legend(symbolOpacity=1)
    for column, unit in units.items():
        rows = [
            {"setting": f"k = {k}, ε = {epsilon:g}, δ = {delta:g}", "n": str(n)}
            | _rises(curve.sort_values("triplets"), column)
            for (k, epsilon, delta, n), curve in data.groupby(["k", "epsilon", "delta", "n"])
        ]
        labels = alt.Axis(labelLimit=200) if not panels else None
        base = alt.Chart(DataFrame(rows)).encode(
            y=alt.Y("setting:N", title=None, axis=labels),
            yOffset=alt.YOffset("n:N", sort=items),
            color=alt.Color("n:N", legend=legend, scale=alt.Scale(domain=items, range=_COLOURS[: len(items)])),
        )
        span = base.mark_rule(strokeWidth=2, opacity=0.6).encode(_log_axis("begins", unit), x2="ends:Q")
        dot = base.mark_point(filled=True, size=60, opacity=1).encode(
            x=alt.X("half:Q", title=unit), shape=alt.Shape("n:N", legend=legend, scale=alt.Scale(domain=items))
        )
        panels.append((span + dot).properties(width=280, height=200))
    return alt.hconcat(*panels, title=alt.TitleParams(title, fontSize=11, fontWeight="normal", anchor="middle"))


def clusters_chart(summary):
    "Remark 3: share recovered against k and against k/√(n/ln n)."
    import altair as alt

    data = summary.assign(items=summary["n"].astype(str), panel=summary["delta"].map("δ = {:g}".format))
    items = [str(n) for n in sorted(set(summary["n"]))]
    color = alt.Color("items:N", sort=items, title="n", scale=alt.Scale(domain=items, range=_COLOURS[: len(items)]))
    dash = _dashes("panel", "", scale=alt.Scale(range=[[4, 3], [1, 0]]))
    y = alt.Y("recovered:Q", title="share proved to be recovered")
    units = {"k": "k", "scaled": "k / √(n/ln n)"}
    panels = [_lines(data, _log_axis(column, title), y, color, dash) for column, title in units.items()]
    return alt.hconcat(*(panel.properties(width=290, height=210) for panel in panels))


def saturation_chart(summary):
    "Remark 5: share recovered, and noise per signal, against |T|ε²/n²."
    import altair as alt

    data = summary.assign(
        noise_level=summary["epsilon"].map("{:g}".format), panel=summary["delta"].map("δ = {:g}".format)
    )
    panels = [f"δ = {delta:g}" for delta in sorted(set(summary["delta"]))]
    levels = [f"{epsilon:g}" for epsilon in sorted(set(summary["epsilon"]))]
    colours = alt.Scale(domain=panels, range=_COLOURS[: len(panels)])
    color = alt.Color("panel:N", title="", sort=panels, scale=colours)
    patterns = alt.Scale(domain=levels, range=[[1, 2], [5, 3], [1, 0]])
    dash = _dashes("noise_level", "ε", sort=levels, scale=patterns)

    def panel(column, name, scale):
        y = alt.Y(f"{column}:Q", title=name, scale=scale)
        return _lines(data, _log_axis("load", "|T| ε² / n²"), y, color, dash).properties(width=290, height=210)

    return alt.hconcat(
        panel("recovered", "share proved to be recovered", alt.Scale(domain=[0, 1])),
        panel("noise", "noise norm / (smallest cluster × gap / 2)", alt.Scale(type="log")),
    )


def family_chart(summary):
    "Remark 6: share recovered from triplets against a; from the similarities themselves as bars."
    import altair as alt

    shown = {"normal, σ_out = 4σ_in": "normal, σ across = 4 σ inside"}
    names, summary = [shown.get(name, name) for name in FAMILIES], summary.replace({"family": shown})
    scale = alt.Scale(domain=names, range=_COLOURS)
    title = "similarities inside over across"
    base = alt.Chart(summary[summary["method"] == "AddS-3"]).encode(
        alt.X("exponent:Q", title="a, where n(ln n)ᵃ triplets are asked", scale=alt.Scale(zero=False)),
        alt.Y("recovered:Q", title="share proved, AddS-3"),
        alt.Color("family:N", sort=names, scale=scale, title=title, legend=alt.Legend(labelLimit=220)),
    )
    shape = alt.Shape("family:N", sort=names, title=title, scale=alt.Scale(domain=names))
    lines = base.mark_line() + base.mark_point(filled=True, opacity=1, size=45).encode(shape)
    own = summary[summary["method"] == "similarities"].groupby("family", as_index=False)["recovered"].mean()
    bars = (
        alt.Chart(own)
        .mark_bar()
        .encode(
            alt.X("recovered:Q", title="share proved, the similarities themselves", scale=alt.Scale(domain=[0, 1])),
            alt.Y("family:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)),
            alt.Color("family:N", sort=names, scale=scale),
        )
    )
    return alt.hconcat(lines.properties(width=290, height=220), bars.properties(width=220, height=220))


def _spread(values):
    "The largest over the smallest."
    return float(np.nanmax(values) / np.nanmin(values))


def theorem_constants(summary, enough=0.95):
    "c₂, c₃ and c₄ with which Theorem 1 holds on all points measured; c₁ is in `clusters_limits`."
    summary = summary.assign(plain=summary["triplets"] / (summary["n"] * np.log(summary["n"]) ** 2))
    curves = [curve.sort_values("multiple") for _, curve in summary.groupby(["n", "k", "epsilon", "delta"])]
    starts = [c["multiple"][(c["recovered"] >= enough)[::-1].cummin()].min() for c in curves]
    c2 = np.inf if np.isnan(starts).any() else max(starts)
    return dict(
        c2=float(c2),
        c3=float(summary["norm"].max()),
        c4=float(summary[summary["recovered"] >= enough]["top"].min()),
        spread=_spread([_half(curve, "multiple") for curve in curves]),
        spread_plain=_spread([_half(curve, "plain") for curve in curves]),
    )


def theorem_exponents(summary):
    "How the |T| of half points grows with n, and how the theorem's threshold does."
    from pandas import DataFrame

    rows = []
    for (k, epsilon, delta), part in summary.groupby(["k", "epsilon", "delta"]):
        halves = {n: _half(curve.sort_values("triplets"), "triplets") for n, curve in part.groupby("n")}
        few, many = min(halves), max(halves)
        last = part.groupby("n")[["triplets", "multiple"]].last()
        threshold = last["triplets"] / last["multiple"]
        grows = [np.log(x[many] / x[few]) / np.log(many / few) for x in (halves, threshold)]
        rows.append(dict(k=k, epsilon=epsilon, delta=delta, half_points=grows[0], threshold=grows[1]))
    return DataFrame(rows)


def theorem_claims(summary):
    "The sentences about Theorem 1, with verdicts."
    c, exponents = theorem_constants(summary), theorem_exponents(summary)
    last = summary.groupby(["n", "k", "epsilon", "delta"])["recovered"].last().min()
    shares = f"share proved at the largest |T| of every curve: at least {last:.2f}"
    if not np.isinf(c["c2"]):
        shares += f"; c₂ = {c['c2']:g} is enough everywhere"
    needed, threshold = exponents["half_points"], exponents["threshold"]
    words = f"exponents of n: {needed.min():.2f} to {needed.max():.2f} for half points, {threshold.min():.2f} for this"
    return [
        judged("n20-theorem1/sufficient", shares, last >= 0.95),
        judged("n20-theorem1/grows", words, (needed <= threshold).all()),
    ]


def clusters_limits(summary):
    "The k at which half of the instances are proved, plain and per √(n/ln n), and the c₁ of Theorem 1 there."
    from pandas import DataFrame

    rows = []
    for (delta, n), curve in summary.groupby(["delta", "n"]):
        falling = curve.sort_values("k", ascending=False)
        scaled = _half(falling, "scaled")
        rows.append(dict(delta=delta, n=n, half_k=_half(falling, "k"), half_scaled=scaled, c1=delta / scaled))
    return DataFrame(rows)


def clusters_claims(summary):
    "The sentence of Remark 3, with its verdict."
    limits = clusters_limits(summary)
    limits = limits[limits["delta"] == limits["delta"].max()]
    plain, scaled = (limits[column].max() / limits[column].min() for column in ("half_k", "half_scaled"))
    low, high = limits["half_scaled"].min(), limits["half_scaled"].max()
    half = f"half of the instances proved at k = {low:.2f} to {high:.2f} √(n/ln n)"
    factors = f"a factor {scaled:.2f}, while k itself grows by a factor {plain:.2f}"
    return [judged("n20-remark3/clusters", f"δ = {limits['delta'].iloc[0]:g}: {half}, {factors}", scaled <= 1.25)]


def saturation_claims(summary):
    "The sentence of Remark 5, with its verdict."
    both = saturation_pairs(summary)
    change, quieter = both["rise"], both["quieter"].max()
    epsilon, delta = change.idxmax()
    measured = (
        f"from |T| = 4 n²/ε² to all triplets: share recovered rises by at most {change.max():.2f} "
        f"(ε = {epsilon:g}, δ = {delta:g}), noise falls by a factor of at most {quieter:.2f}"
    )
    return [judged("n20-remark5/saturates", measured, change.max() <= 0.2 and quieter <= 1.5)]


def saturation_pairs(summary, load=4):
    "From this load to all triplets, where all are at least twice as many: no point is compared with itself."
    points = summary.sort_values("load").groupby(["epsilon", "delta"])
    both = summary[summary["load"] >= load].sort_values("load").groupby(["epsilon", "delta"]).first()
    both = both.join(points.last().add_suffix("_last"), how="inner")
    both = both[both["load_last"] >= 2 * both["load"]]
    both["rise"] = both["recovered_last"] - both["recovered"]
    both["quieter"] = both["noise"] / both["noise_last"]
    return both[["load", "load_last", "rise", "quieter"]]


def family_claims(summary):
    "The sentences of Remark 6 and of section 5, with verdicts."
    adds = summary[summary["method"] == "AddS-3"]
    largest = adds["exponent"].max()
    least = adds[adds["exponent"] == largest]["recovered"].min()
    own = summary[summary["method"] == "similarities"].groupby("family")["recovered"].mean()
    ranges = adds.groupby("exponent")["recovered"].agg(lambda shares: shares.max() - shares.min())
    proved = f"at |T| = n (ln n)^{largest:g} proved in at least {least:.2f} of the instances of every family"
    proved += f"; on the similarities themselves {own.min():.2f} ({own.idxmin()})"
    difference = f"largest difference between families at one |T|: {ranges.max():.2f} (a = {ranges.idxmax():g})"
    return [
        judged("n20-remark6/any", proved, least >= 0.9),
        judged("n20-remark6/affect", difference, ranges.max() >= 0.3),
    ]
