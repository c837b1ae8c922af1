"""Charts for curves, for pairs of distributions and for agreements; the headers of figures."""

from ..core.charts import mean_layers, scales
from .n20 import food_partition
from .readings import in_panels, which_setting
from .simulation import MAX_ITER, TOL


def describe_ari(summary):
    "The header of a figure: setting, cuts, and what did not converge."
    pairs = "one" in summary
    points = summary.drop_duplicates(["one", summary.columns[0]]) if pairs else summary
    size = "people's answers" if pairs else f"n = {', '.join(map(str, sorted(set(summary['n']))))}"
    lost = points[points["converged"] < 1]
    runs = round(float((lost["repetitions"] * (1 - lost["converged"])).sum()))
    names = sorted(set(lost["one" if pairs else "method"]))
    times = int(summary["repetitions"].min())
    repeated = f"{times} repetition{'s' if times != 1 else ''}"
    whose = f" ({', '.join(names)})" if names else ""
    lines = [
        f"{size}; {repeated}; SDPs to a relative gap of {TOL:g} or {MAX_ITER} iterations",
        f"not converged: {runs} of {int(points['repetitions'].sum())} results{whose}",
    ]
    if not pairs and summary["exhausted"].any():
        cut = ", ".join(f"{a:g}" for a in sorted(set(summary.loc[summary["exhausted"], "a"])))
        lines.append(f"all comparisons that exist are fewer than n(ln n)^a at a = {cut}; all were used there")
    return lines


def setting_2020(summary, kind):
    "Which setting results come from, in a line before the header of the figure."
    return "; ".join([which_setting(kind), *describe_ari(summary)])


def _title(summary):
    "The header as Altair wants it."
    import altair as alt

    return alt.TitleParams(describe_ari(summary), anchor="start", fontSize=11, fontWeight="normal")


_LOOKS = {
    "AddS-3": ("#0072B2", "circle"),
    "AddS-4": ("#56B4E9", "diamond"),
    "MulK-3": ("#D55E00", "square"),
    "MulK-4": ("#E69F00", "triangle-up"),
    "AddS-3, SPUR": ("#0072B2", "circle"),
    "AddS-3, k known": ("#56B4E9", "diamond"),
    "t-STE": ("#009E73", "triangle-down"),
    "k-means": ("#000000", "cross"),
    "AddS-3, rounded by k-means": ("#0072B2", "circle"),
    "AddS-3, rounded by spectral": ("#56B4E9", "diamond"),
    "MulK-3, rounded by k-means": ("#D55E00", "square"),
    "MulK-3, rounded by spectral": ("#E69F00", "triangle-up"),
}


def ari_chart(summary, over="a", title="a, where the number of comparisons is n(ln n)ᵃ"):
    "Mean ARI with a band of one standard deviation, one line per method."
    import altair as alt

    data = summary.assign(
        low=(summary["ari"] - summary["sd"]).clip(lower=-0.1), high=(summary["ari"] + summary["sd"]).clip(upper=1)
    )
    colour, shape = scales(_LOOKS, data["method"])
    legend = alt.Legend(title="method", symbolOpacity=1)
    axis = alt.Axis(format="~f", values=sorted(set(data[over].tolist())), labelOverlap=True)
    x = alt.X(f"{over}:Q", title=title, scale=alt.Scale(zero=False, nice=False, padding=8), axis=axis)
    y = alt.Y("ari:Q", title="ARI, mean ± sd", scale=alt.Scale(domain=[-0.1, 1.03], nice=False))
    colour = alt.Color("method:N", scale=colour, legend=legend)
    shape = alt.Shape("method:N", scale=shape, legend=legend)
    looks = dict(spread=dict(opacity=0.12), line=dict(strokeWidth=1.4), point=dict(size=45), band=True)
    chart = alt.layer(*mean_layers(data, x, y, colour, shape, **looks))
    return chart.properties(width=420, height=250, title=_title(summary))


def noise_chart(summary):
    "N20, figure 1b: mean ARI against ε."
    return ari_chart(summary, "epsilon", "ε: an answer is right with probability (1 + ε)/2")


_RAISED = str.maketrans("0123456789.", "⁰¹²³⁴⁵⁶⁷⁸⁹·")


def family_chart(summary):
    "N20, figure 1c: mean ARI and one standard deviation for each pair of distributions, a panel a number of triplets."
    import altair as alt

    data = summary.assign(
        low=summary["ari"] - summary["sd"],
        high=(summary["ari"] + summary["sd"]).clip(upper=1),
        panel=[f"n(ln n){f'{a:g}'.translate(_RAISED)} triplets" for a in summary["a"]],
        pair=[f"{f} (δ = {d:.2f})" for f, d in zip(summary["family"], summary["true_delta"])],
    )
    colour, shape = scales(_LOOKS, data["method"])
    base = alt.Chart().encode(
        y=alt.Y(
            "pair:N",
            sort=list(dict.fromkeys(data["pair"])),
            title="similarities inside and across clusters",
            axis=alt.Axis(labelLimit=300),
        ),
        yOffset=alt.YOffset("method:N", sort=colour.domain),
        color=alt.Color("method:N", scale=colour, legend=alt.Legend(title="method")),
    )
    bar = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title="ARI, mean ± sd", scale=alt.Scale(domain=[-0.1, 1.03], nice=False)), x2="high:Q"
    )
    point = base.mark_point(size=60, filled=True, opacity=1).encode(
        x="ari:Q", shape=alt.Shape("method:N", scale=shape, legend=alt.Legend(title="method"))
    )
    return in_panels([bar, point], data, 2, width=260, height=150).properties(title=_title(summary))


def agreement_chart(summary):
    "N20, figure 2c: mean ARI of every pair of partitions, darker for more."
    import altair as alt

    variant, order = summary.columns[0], list(dict.fromkeys(summary["one"]))
    name = "outliers {}, |T| = {:,}" if variant == "outliers" else "{} answers, |T| = {:,}"
    data = summary.assign(panel=[name.format(*pair) for pair in zip(summary[variant], summary["comparisons"])])
    base = alt.Chart().encode(
        x=alt.X("other:N", sort=order, title="partition", axis=alt.Axis(labelAngle=-45, labelLimit=200)),
        y=alt.Y("one:N", sort=order, title="partition", axis=alt.Axis(labelLimit=200)),
    )
    cell = base.mark_rect().encode(
        color=alt.Color("ari:Q", title="ARI", scale=alt.Scale(scheme="blues", domain=[0, 1], clamp=True))
    )
    text = base.mark_text(fontSize=9).encode(
        text=alt.Text("ari:Q", format=".2f"),
        color=alt.condition("datum.ari > 0.6", alt.value("white"), alt.value("black")),
    )
    size = max(26 * len(order), 140)  # not narrower than the words above it: they would push the axis away
    return in_panels([cell, text], data, 3, width=size, height=size).properties(title=_title(summary))


def food_figure(summary):
    "The agreement of the methods, and under it the dishes in their clusters. Raises `DatasetNotFoundError`."
    import altair as alt

    dishes = food_partition()
    dishes = dishes.assign(row=dishes.groupby("cluster").cumcount(), panel=dishes["cluster"].map("cluster {}".format))
    rows, clusters = int(dishes["row"].max()) + 1, int(dishes["cluster"].max())
    text = (
        alt.Chart(dishes)
        .mark_text(align="left", fontSize=9)
        .encode(x=alt.value(0), y=alt.Y("row:O", axis=None), text="dish:N")
        .properties(width=470, height=12 * rows)
    )
    return alt.vconcat(
        agreement_chart(summary), text.facet(alt.Facet("panel:N", title=None), columns=min(clusters, 3))
    ).resolve_scale(color="independent")
