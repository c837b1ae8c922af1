"""The chart of averaged losses, and each sentence of section 4 as a function."""

import numpy as np

from .claims import NOT_COMPARABLE, judged
from .l20 import N_VALUES
from .readings import in_panels

PAPER_ALPHA = {"MNIST": 0.874, "CIFAR-10": 0.98, "rings and disks": 0.179, "Omniglot": 0.931}  # single–complete
COLOURS = {"single–complete": "#0072B2", "average–complete": "#D55E00", "strokes–network": "#009E73"}


def _with_panel(summary):
    "The rows with the name of their panel."
    if "dataset" not in summary:
        return summary.assign(panel=[f"Omniglot, {n} drawings per letter" for n in summary["per_class"]])
    many = summary.groupby("dataset")["metric"].transform("nunique") > 1
    kind = summary["dataset"].where(~many, summary["dataset"] + ", " + summary["metric"])
    return summary.assign(panel=kind + ", " + summary["per_class"].astype(str) + " per class")


def _tasks_of(summary):
    "Number of tasks of each row, and number of values at which their loss was computed."
    where = ["" if pieces != N_VALUES else f" at {N_VALUES} values" for pieces in summary["pieces"]]
    return [f"{tasks:,} tasks{at}" for tasks, at in zip(summary["instances"], where)]


def describe_losses(summary):
    "The header of a figure: number and mean size of the tasks of each kind."
    each = _with_panel(summary).drop_duplicates("panel")
    rows = zip(each["panel"], _tasks_of(each), each["n"])
    return [f"{panel}: {tasks}, n = {n:,.0f} on average" for panel, tasks, n in rows]


def setting_2020_link(summary, kind):
    "The setting of the results, followed by the header of the figure."
    full = "Full setting: the paper's sizes of tasks; the number of tasks is stated for each kind"
    quick = "Quick setting: smaller and fewer tasks than the paper's"
    return "\n".join([full if kind == "full" else quick, *describe_losses(summary)])


def loss_chart(summary):
    """L20, figures 2 and 3: average loss with a band of two standard errors, a dot where the average is smallest, and a
    ring for the mix that was learned on other tasks. Figure 2 has a dashed line at the paper's best mix of single and
    complete linkage.
    """
    import altair as alt

    data = _with_panel(summary)
    data = data.assign(
        lower=data["loss"] - 2 * data["se"],
        upper=data["loss"] + 2 * data["se"],
        x=(data["low"] + data["high"]) / 2,
        paper=data.get("dataset", data["family"]).map(PAPER_ALPHA),
        title=[f"{panel} ({tasks})" for panel, tasks in zip(data["panel"], _tasks_of(data))],
    )
    families = list(dict.fromkeys(data["family"]))
    letter = "α: 1 is complete linkage" if len(families) > 1 else "β: 0 is strokes, 1 is the network"
    color = alt.Color(
        "family:N",
        title="family",
        scale=alt.Scale(domain=families, range=[COLOURS[f] for f in families]),
        legend=alt.Legend(orient="top", symbolOpacity=1) if len(families) > 1 else None,
    )
    x = alt.X("x:Q", title=letter, scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("loss:Q", title="average loss", scale=alt.Scale(zero=False))
    base = alt.Chart().encode(color=color)
    curve = base.transform_filter("datum.point == 'curve'")
    best = base.transform_filter("datum.point == 'best'")
    held_out = base.transform_filter("datum.point == 'held out'")
    layers = [
        best.transform_filter("datum.family == 'single–complete'")
        .mark_rule(strokeDash=[4, 3], opacity=0.8)
        .encode(x=alt.X("paper:Q", title=letter)),
        curve.mark_area(opacity=0.15).encode(x=x, y=alt.Y("lower:Q", title="average loss"), y2="upper:Q"),
        curve.mark_line(strokeWidth=1.4).encode(x=x, y=y),
        best.mark_point(filled=True, opacity=1, size=55).encode(x=x, y=y),
        held_out.mark_point(size=70, strokeWidth=1.6, opacity=1).encode(x=x, y=y),
    ]
    chart = in_panels(layers, data, min(2, data["title"].nunique()), "title", width=270, height=170)
    return chart.resolve_scale(y="independent").resolve_axis(x="independent")  # no axis under no panel


PAPER_SIZE = {"MNIST": 200, "CIFAR-10": 50, "rings and disks": 100, "Omniglot": 20}  # points per class
SAME_DATA = ("MNIST", "rings and disks")  # whose points and distances are the paper's


def _part(summary, point):
    "The rows of one kind: of the curve, of the best interval, of what was held out."
    return summary[summary["point"] == point]


def _panels(summary):
    "{panel: frame} of the kinds of tasks with at least five of them."
    return dict(tuple(_with_panel(summary[summary["instances"] >= 5]).groupby("panel", sort=False)))


def _is_size_of_paper(frame):
    first = frame.iloc[0]
    return first["per_class"] == PAPER_SIZE[first["dataset"]]


def _aside(frame):
    "Why a number about these tasks is not the paper's to judge; empty if it is."
    return "" if _is_size_of_paper(frame) and frame["dataset"].iloc[0] in SAME_DATA else NOT_COMPARABLE


def _one_each(panels):
    "{dataset: frame}: the kind of the paper's size; of two metrics the network."
    kept = [frame for frame in panels.values() if _is_size_of_paper(frame) and frame["metric"].iloc[0] != "strokes"]
    return {frame["dataset"].iloc[0]: frame for frame in kept}


def _curve_at(frame, x):
    "(loss, its standard error) at the nearest hundredth."
    row = _part(frame, "curve").iloc[round(100 * x)]
    return float(row["loss"]), float(row["se"])


def _middle(frame):
    "Of the best interval."
    return float((_part(frame, "best")[["low", "high"]].sum(axis=1) / 2).iloc[0])


def optimum_claims(summary):
    "Where figure 2's single–complete curves are lowest."
    claims = []
    for panel, both in _panels(summary).items():
        frame = both[both["family"] == "single–complete"]
        alpha, paper = _middle(frame), PAPER_ALPHA[frame["dataset"].iloc[0]]
        best, (at_paper, error) = _part(frame, "best").iloc[0], _curve_at(frame, paper)
        words = f"{alpha:.3f}, loss {best['loss']:.3f} on {best['instances']:,} tasks"
        words += f"; at {paper} it is {at_paper:.3f} ± {2 * error:.3f}"
        is_near = abs(alpha - paper) <= 0.05
        claims.append(judged("l20/optimum", words, is_near, _aside(frame), panel=panel, paper=paper))
    return claims


def transfer_claims(summary):
    "Whether one parameter does for all distributions; none for fewer than two."
    frames = {name: both[both["family"] == "single–complete"] for name, both in _one_each(_panels(summary)).items()}
    if len(frames) < 2:
        return []
    alphas = {name: _middle(frame) for name, frame in frames.items()}
    costs = {}
    for name, frame in frames.items():
        best = _part(frame, "best").iloc[0]
        for other, alpha in alphas.items():
            if other != name:
                loss, se = _curve_at(frame, alpha)
                costs[name, other] = loss - best["loss"], np.hypot(se, best["se"])
    worse = sum(gap > 2 * error for gap, error in costs.values())
    largest = max(costs, key=lambda pair: costs[pair][0])
    cost, (name, other) = costs[largest][0], largest
    low, high = min(alphas.values()), max(alphas.values())
    measured = f"{worse} of {len(costs)} pairs; largest loss: +{cost:.3f} on {name} with the α of {other}"
    return [
        judged("l20/vary", f"α from {low:.3f} to {high:.3f} over {', '.join(frames)}", high - low > 0.1),
        judged("l20/transfer", measured, 2 * worse >= len(costs)),
    ]


def _improvement(panel, both):
    "Whether some mix beats single, average and complete linkage."
    ends = {}
    for name, frame in both.groupby("family", sort=False):
        for i in (0, 1):
            ends[name.split("–")[i]] = _curve_at(frame, i)[0]
    base = min(ends, key=ends.get)
    mixed = _part(both, "held out").sort_values("loss").iloc[0]
    words = f"{ends[base]:.3f} by {base} linkage, {mixed['loss']:.3f} by {mixed['family']} on held-out tasks: "
    words += f"{mixed['gain']:+.3f} ± {2 * mixed['gain_se']:.3f}"
    return judged("l20/mix", words, mixed["gain"] > 2 * mixed["gain_se"], _aside(both), panel=panel)


def _rings_claim(both):
    "The sentence about rings and disks alone."
    frame = both[both["family"] == "single–complete"]
    gain, held = (_part(frame, point).iloc[0]["gain"] for point in ("best", "held out"))
    words = f"{gain:.3f} over the best of single, average and complete ({held:.3f} held out)"
    return judged("l20/rings", words, 0.15 <= gain <= 0.25)


def figure_2_claims(summary):
    "The sentences of section 4 about figure 2, with verdicts."
    panels = _panels(summary)
    claims = optimum_claims(summary) + transfer_claims(summary)
    claims += [_improvement(panel, both) for panel, both in panels.items()]
    rings = [both for both in panels.values() if both["dataset"].iloc[0] == "rings and disks"]
    return claims + [_rings_claim(both) for both in rings if _is_size_of_paper(both)]


def figure_3_claims(summary):
    "The sentences of section 4 about figure 3, with verdicts."
    beta = _middle(summary)
    best, held = (_part(summary, point).iloc[0] for point in ("best", "held out"))
    (strokes, strokes_se), (network, network_se) = (_curve_at(summary, x) for x in (0, 1))
    is_network = strokes - network > 2 * np.hypot(strokes_se, network_se)
    gained = f"{held['gain']:+.3f} ± {2 * held['gain_se']:.3f} on held-out tasks"
    gained += f"; learned β from {held['low']:.3f} to {held['high']:.3f}"
    at_paper = f"{beta:.3f}; at 0.514 the loss is {_curve_at(summary, 0.514)[0]:.3f}"
    loss, gain = (f"{best[value]:.3f} ({held[value]:.3f} held out)" for value in ("loss", "gain"))
    return [
        judged("l20/base", f"network {network:.3f}, strokes {strokes:.3f}", is_network),
        judged("l20/mixed-metrics", gained, held["gain"] > 2 * held["gain_se"]),
        judged("l20/base-loss", f"{network:.3f}", abs(network - 0.421) <= 0.03),
        judged("l20/beta", at_paper, abs(beta - 0.514) <= 0.05),
        judged("l20/loss", loss, abs(best["loss"] - 0.330) <= 0.03),
        judged("l20/improvement", gain, abs(best["gain"] - 0.091) <= 0.03),
    ]


def flat_cut_claims(summary):
    "What is left of the gain when the tree is cut flat."
    held = _part(summary, "held out").set_index("metric")
    pruned, flat = held.loc["best pruning"], held.loc["flat cut"]
    before = float(flat["loss"] + flat["gain"])
    words = f"{before:.3f} by the better metric, {flat['loss']:.3f} by the learned mix: "
    words += f"{flat['gain']:+.3f} ± {2 * flat['gain_se']:.3f}"
    both = f"{flat['gain']:+.3f}; best pruning {pruned['gain']:+.3f}"
    apart = 2 * np.hypot(pruned["gain_se"], flat["gain_se"])
    return [
        judged("l20/flat-mix", words, flat["gain"] > 2 * flat["gain_se"]),
        judged("l20/flat-less", both, pruned["gain"] - flat["gain"] > apart),
    ]
