"""Our own claims as functions that return verdicts, the charts, and the two experiments by name."""

from ..core.charts import mean_layers, scales
from .beyond import OWN, differences, measured
from .claims import judged


def _ahead(kept, one, other, where, measure="aari"):
    "(words, whether `one` is ahead of `other` at all these budgets or ε)."
    d = differences(kept, one, other, measure).loc[list(where)]
    words = [f"{mean:+.2f} ({error:.2f}) at {x:g}" for x, mean, error in d[["mean", "error"]].itertuples()]
    return ", ".join(words), bool((d["mean"] > 2 * d["error"]).all())


def _alike(kept, one, other):
    "(words, whether they never differ)."
    d = differences(kept, one, other)
    error = d["error"].clip(lower=1e-3)
    worst = (d["mean"].abs() / error).idxmax()
    largest = f"{d.loc[worst, 'mean']:+.3f} ({d.loc[worst, 'error']:.3f}) at {worst:g}"
    return f"largest difference in standard errors: {largest}", bool((d["mean"].abs() <= 2 * error).all())


def _means_by_method(kept):
    "Mean AARI, one row per budget or ε, one column per method."
    return measured(kept, "aari").groupby(level=0).mean()


def _best(kept, where):
    "The method with the highest mean AARI there, and the runner-up, in words."
    mean = _means_by_method(kept).loc[where].sort_values(ascending=False)
    return mean.index[0], f"{mean.index[0]} {mean.iloc[0]:.2f}, then {mean.index[1]} {mean.iloc[1]:.2f}"


def equal_budget_claims(kept):
    "Our claims about the first experiment."
    T, Q, A = " (triplets)", " (quadruplets)", " (asked)"
    few, most = sorted(set(kept["factor"]) & {1, 2}), int(kept["factor"].max())
    best = {x: _best(kept, x) for x in [*few, most]}
    words, are_best = "; ".join(best[x][1] for x in few), all(best[x][0] == "3K–AL–act" + OWN + A for x in few)
    return [
        judged("beyond/few", words, are_best),
        judged("beyond/most", best[most][1], best[most][0] == "3–AL" + T),
        judged("beyond/kernels", *_alike(kept, "3K–AL" + T, "4K–AL" + T)),
        judged("beyond/quadruplets", *_ahead(kept, "3K–AL" + T, "4K–AL" + Q, [1, 2, 4])),
        judged("beyond/self-pairs", *_ahead(kept, "3K–AL" + OWN + T, "3–AL" + T, few)),
        judged("beyond/adds", *_ahead(kept, "AddS-3–AL" + T, "3–AL" + T, [1])),
        judged("beyond/lowest", *_ahead(kept, "3–AL" + T, "3K–AL" + T, [most], "lowest")),
    ]


def wrong_answers_claims(kept):
    "Our claims about the second experiment."
    mean = _means_by_method(kept)
    loss = mean.loc[0.0] - mean.loc[0.1]
    losses = ", ".join(f"{name} {value:.2f}" for name, value in loss.sort_values(ascending=False).iloc[:3].items())
    best = [_best(kept, x) for x in (0.1, 0.2)]
    words, are_best = "; ".join(words for _, words in best), all(name == "3K–AL–act" + OWN for name, _ in best)
    last = mean.loc[0.4].sort_values(ascending=False)
    four = ", ".join(f"{name} {value:.2f}" for name, value in last.iloc[:4].items())
    aari, cost = (differences(kept, "SL", "4K–AL", measure).loc[0.0] for measure in ("aari", "excess"))
    both = f"AARI {aari['mean']:+.2f} ({aari['error']:.2f}), excess {cost['mean']:+.2f} ({cost['error']:.2f})"
    is_cheap = aari["mean"] < -2 * aari["error"] and cost["mean"] <= 2 * cost["error"]
    return [
        judged("beyond/loss", losses, set(loss.nlargest(2).index) == {"SL", "CL"}),
        judged("beyond/little-noise", words, are_best),
        judged("beyond/much-noise", four, set(last.index[:3]) == {"3–AL", "4–AL", "4K–AL" + OWN}),
        judged("beyond/alike", *_alike(kept, "3–AL", "4–AL")),
        judged("beyond/cost", f"SL − 4K–AL: {both}", is_cheap),
    ]


_LOOKS = {
    "3K–AL": ("#0072B2", "circle"),
    "3–AL": ("#D55E00", "square"),
    "AddS-3–AL": ("#009E73", "triangle-up"),
    "4–AL": ("#CC79A7", "diamond"),
    "4K–AL": ("#E69F00", "cross"),
    "3K–AL–act": ("#56B4E9", "triangle-down"),
    "4K–AL–act": ("#8A6D00", "triangle-left"),
    "SL": ("#000000", "triangle-right"),
    "CL": ("#999999", "M-1,-0.35L1,-0.35L1,0.35L-1,0.35Z"),
}


def _lines(means, x, y, shown):
    "A panel of means with two standard errors; `shown`: the methods of all panels, which share one legend."
    import altair as alt

    frame = means.assign(own=means["method"].str.endswith(OWN), method=means["method"].str.replace(OWN, ""))
    plain = {name.replace(OWN, "") for name in shown}
    looks = {name: look for name, look in _LOOKS.items() if name in plain}
    title = ["method", "(dashed: with self-pairs)"]
    colour, shape = scales(looks)
    legend = alt.Legend(symbolOpacity=1)  # the opacity of the spread would fade it
    dash = alt.StrokeDash("own:N", scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 3]]), legend=None)
    color = alt.Color("method:N", scale=colour, title=title, legend=legend)
    shape = alt.Shape("method:N", scale=shape, title=title, legend=legend)
    looks = dict(spread=dict(opacity=0.45), line=dict(strokeWidth=1.5), point=dict(size=45))
    return alt.layer(
        *mean_layers(frame, x, y, color, shape, **looks, detail=alt.Detail("own:N"), line__strokeDash=dash)
    )


def _means(kept, measure):
    "Mean of a measure by budget or ε and method, one row each, with two standard errors to both sides."
    runs = measured(kept, measure).rename_axis(columns="method").stack().groupby(level=[0, 2])
    means, error = runs.mean(), 2 * runs.sem()
    return means.to_frame("value").assign(low=means - error, high=means + error).reset_index()


def equal_budget_chart(kept):
    "Mean AARI against the budget: panels for kernels and direct averages of triplets, quadruplets and questions."
    import altair as alt

    means = _means(kept, "aari")
    parts = means["method"].str.extract(r"^(?P<method>.*) \((?P<known>\w+)\)$")
    means = means.assign(method=parts["method"], known=parts["known"])
    budgets = alt.Axis(values=sorted(set(kept["factor"])))
    x = alt.X("factor:Q", title="comparisons / N²", scale=alt.Scale(type="log", base=2), axis=budgets)
    y = alt.Y("value:Q", title=f"AARI, mean of {kept['repetition'].nunique()}", scale=alt.Scale(domain=[0, 1]))
    given, kernel = means["known"] == "triplets", means["method"].str.contains("K–AL")
    parts = {
        "given triplets, kernels": given & kernel,
        "given triplets, direct averages": given & ~kernel,
        "given quadruplets": means["known"] == "quadruplets",
        "chosen questions": means["known"] == "asked",
    }
    shown = set(means["method"])
    panels = [
        _lines(means[rows], x, y, shown).properties(width=230, height=190, title=title) for title, rows in parts.items()
    ]
    return alt.concat(*panels, columns=2)


def wrong_answers_chart(kept):
    "Mean AARI (above) and mean excess of Dasgupta's cost against ε: panels for kernels, direct averages and questions."
    import altair as alt

    x = alt.X("epsilon:Q", title="probability ε of a wrong answer", axis=alt.Axis(values=sorted(set(kept["epsilon"]))))
    n = kept["repetition"].nunique()
    aari, excess = _means(kept, "aari"), _means(kept, "excess")
    ends = alt.Scale(domain=[float(excess["low"].min()), float(excess["high"].max())])
    high_is_good = alt.Y("value:Q", title=f"AARI, mean of {n} (high is good)", scale=alt.Scale(domain=[0, 1]))
    low_is_good = alt.Y("value:Q", title=f"excess cost, mean of {n} (low is good)", scale=ends)
    shown, panels = set(aari["method"]), []
    for means, y in ((aari, high_is_good), (excess, low_is_good)):
        asked = means["method"].str.contains("act") | means["method"].isin(["SL", "CL"])
        kernel = means["method"].str.contains("K–AL") & ~asked
        given = {"given answers, kernels": kernel, "given answers, averages": ~kernel & ~asked}
        parts = given | {"chosen questions": asked}
        panels += [
            _lines(means[rows], x, y, shown).properties(width=145, height=190, title=title)
            for title, rows in parts.items()
        ]
    return alt.concat(*panels, columns=3)
