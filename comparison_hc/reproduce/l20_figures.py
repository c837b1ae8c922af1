"""The chart of averaged losses, each sentence of section 4 as a function, and the three experiments by name."""

import numpy as np

from comparison_hc.reproduce.l20 import N_VALUES, figure_2_grid, figure_3_grid, flat_cut_grid

from .claims import NOT_COMPARABLE, Claim

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


_FULL = "Full setting: the paper's sizes of tasks; the number of tasks is stated for each kind"


def setting_2020_link(summary, kind):
    "The setting of the results, followed by the header of the figure."
    first = _FULL if kind == "full" else "Quick setting: smaller and fewer tasks than the paper's"
    return "\n".join([first, *describe_losses(summary)])


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
    panels = list(dict.fromkeys(data["title"]))
    chart = alt.layer(*layers, data=data).properties(width=270, height=170)
    chart = chart.facet(alt.Facet("title:N", sort=panels, title=None), columns=min(2, len(panels)))
    return chart.resolve_scale(y="independent").resolve_axis(x="independent")  # no axis under no panel


PAPER_SIZE = {"MNIST": 200, "CIFAR-10": 50, "rings and disks": 100, "Omniglot": 20}  # points per class
SAME_DATA = ("MNIST", "rings and disks")  # whose points and distances are the paper's
_SOURCE = "section 4, figure 2"


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
        own = f"{alpha:.3f}, loss {best['loss']:.3f} on {best['instances']:,} tasks"
        claims.append(
            Claim(
                f"{panel}: the optimal parameter between single and complete linkage is {paper}.",
                f"{own}; at {paper} it is {at_paper:.3f} ± {2 * error:.3f}",
                abs(alpha - paper) <= 0.05,
                _SOURCE,
                rule="the middle of the widest best interval is within 0.05",
                aside=_aside(frame),
            )
        )
    return claims


_VARY = "the optimal parameters vary across different clustering instances"
_WORSE = (
    "using the parameter that is optimal for one distribution on another would lead to significantly worse clustering "
    "performance"
)


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
    dearest = max(costs, key=lambda pair: costs[pair][0])
    cost, (name, other) = costs[dearest][0], dearest
    low, high = min(alphas.values()), max(alphas.values())
    measured = f"{worse} of {len(costs)} pairs; dearest: +{cost:.3f} on {name} with the α of {other}"
    half = "for at least half of all ordered pairs: worse by more than two standard errors of both losses"
    return [
        Claim(
            _VARY,
            f"α from {low:.3f} to {high:.3f} over {', '.join(frames)}",
            high - low > 0.1,
            _SOURCE,
            rule="the largest best α is more than 0.1 above the least",
            quoted=True,
        ),
        Claim(_WORSE, measured, 2 * worse >= len(costs), _SOURCE, rule=half, quoted=True),
    ]


def _improvement(panel, both):
    "Whether some mix beats single, average and complete linkage."
    ends = {}
    for name, frame in both.groupby("family", sort=False):
        for i in (0, 1):
            ends[name.split("–")[i]] = _curve_at(frame, i)[0]
    base = min(ends, key=ends.get)
    mixed = _part(both, "held out").sort_values("loss").iloc[0]
    by_mix = f"{mixed['loss']:.3f} by {mixed['family']} on held-out tasks"
    return Claim(
        f"{panel}: a mix does better than single, complete and average linkage.",
        f"{ends[base]:.3f} by {base} linkage, {by_mix}: {mixed['gain']:+.3f} ± {2 * mixed['gain_se']:.3f}",
        mixed["gain"] > 2 * mixed["gain_se"],
        _SOURCE,
        rule="the gain of the better family on held-out tasks is above two of its standard errors",
        aside=_aside(both),
    )


def _rings_claim(both):
    "The sentence about rings and disks alone."
    frame = both[both["family"] == "single–complete"]
    best, held = (_part(frame, point).iloc[0] for point in ("best", "held out"))
    return Claim(
        "on the Rings and Disks distribution we see an improvement of almost 0.2 error",
        f"{best['gain']:.3f} over the best of single, average and complete ({held['gain']:.3f} held out)",
        0.15 <= best["gain"] <= 0.25,
        _SOURCE,
        rule="the gain at the best α is from 0.15 to 0.25",
        quoted=True,
    )


def figure_2_claims(summary):
    "The sentences of section 4 about figure 2, with verdicts."
    panels = _panels(summary)
    claims = optimum_claims(summary) + transfer_claims(summary)
    claims += [_improvement(panel, both) for panel, both in panels.items()]
    rings = [both for both in panels.values() if both["dataset"].iloc[0] == "rings and disks"]
    return claims + [_rings_claim(both) for both in rings if _is_size_of_paper(both)]


def figure_3_claims(summary):
    "The sentences of section 4 about figure 3, with verdicts."
    source, beta = "section 4, figure 3", _middle(summary)
    best, held = (_part(summary, point).iloc[0] for point in ("best", "held out"))
    (strokes, strokes_se), (network, network_se) = (_curve_at(summary, x) for x in (0, 1))
    at_paper = _curve_at(summary, 0.514)[0]
    gained = f"{held['gain']:+.3f} ± {2 * held['gain_se']:.3f} on held-out tasks"
    number = dict(source=source, aside=NOT_COMPARABLE)
    return [
        Claim(
            "The best “base” metric is the neural network feature embedding",
            f"network {network:.3f}, strokes {strokes:.3f}",
            strokes - network > 2 * np.hypot(strokes_se, network_se),
            source,
            rule="strokes are worse by more than two standard errors of both losses",
            quoted=True,
        ),
        Claim(
            "Complete linkage does better with a mix of the two metrics than with either.",
            f"{gained}; learned β from {held['low']:.3f} to {held['high']:.3f}",
            held["gain"] > 2 * held["gain_se"],
            source,
            rule="the gain over the better metric on held-out tasks is above two of its standard errors",
        ),
        Claim(
            "which results in an average loss of 0.421",
            f"{network:.3f}",
            abs(network - 0.421) <= 0.03,
            rule="within 0.03",
            quoted=True,
            **number,
        ),
        Claim(
            "The optimal parameter is β = 0.514.",
            f"{beta:.3f}; at 0.514 the loss is {at_paper:.3f}",
            abs(beta - 0.514) <= 0.05,
            rule="within 0.05",
            **number,
        ),
        Claim(
            "with an average loss of 0.330",
            f"{best['loss']:.3f} ({held['loss']:.3f} held out)",
            abs(best["loss"] - 0.330) <= 0.03,
            rule="within 0.03",
            quoted=True,
            **number,
        ),
        Claim(
            "giving an improvement of 0.091",
            f"{best['gain']:.3f} ({held['gain']:.3f} held out)",
            abs(best["gain"] - 0.091) <= 0.03,
            rule="within 0.03",
            quoted=True,
            **number,
        ),
    ]


def flat_cut_claims(summary):
    "What is left of the gain when the tree is cut flat."
    held = _part(summary, "held out").set_index("metric")
    pruned, flat = held.loc["best pruning"], held.loc["flat cut"]
    before = float(flat["loss"] + flat["gain"])
    apart = 2 * np.hypot(pruned["gain_se"], flat["gain_se"])
    return [
        Claim(
            "By the flat cut, a mix does better than either metric.",
            f"{before:.3f} by the better one, {flat['loss']:.3f} learned: "
            f"{flat['gain']:+.3f} ± {2 * flat['gain_se']:.3f}",
            flat["gain"] > 2 * flat["gain_se"],
            "ours",
            rule="the gain of the flat cut on held-out tasks is above two of its standard errors",
        ),
        Claim(
            "A flat cut gains less by learning than the best pruning.",
            f"{flat['gain']:+.3f}; best pruning {pruned['gain']:+.3f}",
            pruned["gain"] - flat["gain"] > apart,
            "ours",
            rule="the gains on held-out tasks differ by more than two standard errors of both",
        ),
    ]


GRIDS = {  # (quick, full)
    "l20-fig2": (figure_2_grid(), figure_2_grid(False)),
    "l20-fig3": (figure_3_grid(), figure_3_grid(False)),
    "l20-flat": (flat_cut_grid(), flat_cut_grid(False)),
}
