"""Costs against p, the paper's sentences on a ruler, the cars at the leaves, and five figures by name."""

import numpy as np

from ..core.charts import mean_layers, scales
from ..core.validation import require
from ..datasets import load_dataset
from .claims import judged
from .f19_data import EMBEDDED, OURS, REFERENCES, car_trees
from .readings import in_panels, which_setting

_LOOKS = {
    "4K–AL": ("#0072B2", "circle"),
    "4K–AL, self-pairs": ("#56B4E9", "triangle-left"),
    "4–AL": ("#E69F00", "triangle-up"),
    "t-STE–AL": ("#CC79A7", "square"),
    "FORTE–AL": ("#009E73", "diamond"),
    "AL, similarities known": ("#000000", "M-1,-.2H-.2V.2H-1ZM.2,-.2H1V.2H.2Z"),  # two dashes, as the line has
}


def _panels(summary):
    "The rows of every panel: a data set and a dimension, the methods without one in each."
    from pandas import concat

    dimensions = sorted(set(summary["dimension"]) - {0})
    panels = []
    for dataset in summary["dataset"].unique():
        own = summary[summary["dataset"] == dataset]
        for d in dimensions:
            rows = concat([own[own["dimension"] == 0], own[own["dimension"] == d]])
            panels.append(rows.assign(panel=f"{dataset}, d = {d}"))
    data = concat(panels, ignore_index=True)
    return data[data["method"] != "random tree"].assign(low=data["cost"] - data["sd"], high=data["cost"] + data["sd"])


def data_chart(summary):
    "F19, figures 3 and S.2 to S.4: mean cost against p with a band of one standard deviation."
    import altair as alt

    data, proportions = _panels(summary), sorted(summary["p"].unique().tolist())

    # below the panels, so that they fill a page; that of the band would fade it
    legend = alt.Legend(title="method", symbolOpacity=1, orient="bottom", columns=3)
    values = proportions if len(proportions) < 5 else proportions[1::2]
    x = alt.X("p:Q", title="p, share of all comparisons", axis=alt.Axis(format="~g", values=values))
    y = alt.Y("cost:Q", title="Dasgupta's cost, mean ± sd", scale=alt.Scale(zero=False), axis=alt.Axis(format="~s"))
    colour, shape = scales(_LOOKS)
    known = alt.datum.method == REFERENCES[0]
    layers = mean_layers(
        None,
        x,
        y,
        alt.Color("method:N", scale=colour, legend=legend),
        alt.Shape("method:N", scale=shape, legend=legend),
        dict(opacity=0.15, aria=False),
        dict(strokeWidth=1.3, aria=False),
        dict(aria=False),
        band=True,
        line__strokeDash=alt.condition(known, alt.value([4, 3]), alt.value([1, 0])),
        point__size=alt.condition(known, alt.value(0), alt.value(36)),
    )
    free = "independent" if summary["dataset"].nunique() > 1 else "shared"
    return in_panels(layers, data, 3, width=175, height=200).resolve_scale(y=free)


def describe_data_setting(summary, kind):
    "Which setting results come from, in one sentence."
    datasets = ", ".join(summary["dataset"].unique())
    dimensions = ", ".join(map(str, sorted(set(summary["dimension"].tolist()) - {0})))
    points = f"{summary['p'].nunique()} values of p up to {summary['p'].max():g}"
    repetitions = int(summary["repetitions"].min())
    lost = int((summary["converged"] < 1).sum())
    return (
        f"{which_setting(kind)}: {datasets}; {points}, {repetitions} repetitions, d = {dimensions}; "
        f"points where an embedding did not converge: {lost}"
    )


def _curve(summary, dataset, method, dimension=0, value="excess"):
    "Means by p."
    of_method = (summary["method"] == method) & (summary["dimension"] == dimension)
    return summary[(summary["dataset"] == dataset) & of_method].sort_values("p").set_index("p")[value]


def _curves(summary, dataset, value="excess"):
    "{(method, dimension): means by p} on one data set."
    dimensions = sorted(set(summary.loc[summary["dataset"] == dataset, "dimension"]) - {0})
    keys = [(name, 0) for name in OURS] + [(name, d) for name in EMBEDDED for d in dimensions]
    return {key: _curve(summary, dataset, *key, value) for key in keys}


def _named(key):
    "A curve in words."
    return key[0] if key[1] == 0 else f"{key[0]} (d = {key[1]})"


def _is_stable(summary, dataset):
    "(words, whether no curve moves much with p on either ruler)."
    ranges = {key: float(np.ptp(curve)) for key, curve in _curves(summary, dataset).items()}
    shares = {key: float(np.ptp(c) / np.abs(c).mean()) for key, c in _curves(summary, dataset, "cost").items()}
    worst, dearest = max(ranges, key=ranges.get), max(shares, key=shares.get)
    words = (
        f"most for {_named(worst)}, by {ranges[worst]:.3f} in excess, "
        f"and for {_named(dearest)}, by {shares[dearest]:.1%} of its cost"
    )
    return words, ranges[worst] <= 0.1 and shares[dearest] <= 0.1


def _more(share):
    "A share more or less, with its sign if it is not nothing."
    return f"{share:+.1%}" if abs(share) >= 0.0005 else "0.0%"


def _is_comparable(summary, dataset, name):
    "(words, whether a direct method is not much behind any of the others on either ruler)."
    excess, cost = ({k: v.mean() for k, v in _curves(summary, dataset, what).items()} for what in ("excess", "cost"))
    others = [key for key in excess if key[1]]
    rival, cheapest = min(others, key=excess.get), min(others, key=cost.get)
    more = cost[name, 0] / cost[cheapest] - 1
    words = (
        f"excess {excess[name, 0]:.3f}, {_named(rival)} {excess[rival]:.3f}; cost {_more(more)} over {_named(cheapest)}"
    )
    return words, bool(excess[name, 0] - excess[rival] <= 0.05 and more <= 0.05)


def _claims_for_all(summary, source):
    "The two sentences about all data sets of a figure."
    claims = []
    for dataset in summary["dataset"].unique():
        about = dict(dataset=dataset, source=source)
        claims.append(judged("f19-data/stable", *_is_stable(summary, dataset), **about))
        for name in OURS:
            claims.append(judged("f19-data/comparable", *_is_comparable(summary, dataset, name), name=name, **about))
    return claims


def _by_dimension(summary, dataset, method):
    "(mean excess by dimension, their standard errors, mean cost by dimension)."
    known, random = (summary.loc[summary["method"] == name, "cost"].mean() for name in REFERENCES)
    means, errors, costs = [], [], []
    for d in sorted(set(summary["dimension"]) - {0}):
        runs = _curve(summary, dataset, method, d, "repetitions").sum()
        spread = np.sqrt((_curve(summary, dataset, method, d, "sd") ** 2).mean() / runs)
        means.append(float(_curve(summary, dataset, method, d).mean()))
        costs.append(float(_curve(summary, dataset, method, d, "cost").mean()))
        errors.append(float(spread / abs(random - known)))
    return np.array(means), np.array(errors), np.array(costs)


def _steps(means, errors):
    "(changes from each dimension to the next, the largest change from first to last) in standard errors."
    steps = np.diff(means) / np.hypot(errors[1:], errors[:-1])
    return steps, (means[-1] - means[0]) / np.hypot(errors[0], errors[-1])


def figure_3_claims(summary):
    "The sentences of section 4.2 about figure 3, with verdicts."
    return _claims_for_all(summary, "section 4.2")


def dimension_claims(summary):
    "The sentences of appendix B.2 about figures S.2, S.3 and S.4, with verdicts; `summary` is about one data set."
    dataset = summary["dataset"].iloc[0]
    claims, dimensions = _claims_for_all(summary, "appendix B.2"), sorted(set(summary["dimension"]) - {0})
    words, steps = {}, {}
    for name in EMBEDDED:
        means, errors, costs = _by_dimension(summary, dataset, name)
        words[name] = "excess " + ", ".join(f"{mean:.3f} (d = {d})" for d, mean in zip(dimensions, means))
        steps[name], more = _steps(means, errors), costs.max() / costs.min() - 1
        both = f"{words[name]}; cost {more:+.0%} from the best to the worst"
        is_worse = np.ptp(means) >= 0.1 or more >= 0.1
        claims.append(judged("f19-data/dimension", both, is_worse, dataset=dataset, name=name))
    if dataset == "zoo":
        each, whole = steps["t-STE–AL"]
        claims.append(judged("f19-data/zoo", words["t-STE–AL"], whole > 2 and (each >= -2).all()))
    if dataset == "glass":
        claims.append(judged("f19-data/glass", words["FORTE–AL"], steps["FORTE–AL"][1] < -2))
    return claims


def car_claims(summary):
    "The one sentence of appendix B.3 that can be checked."
    found = sorted(set(summary["comparisons"]))
    words = f"{', '.join(map(str, found))} triplets for every method"
    return [judged("f19-car/comparisons", words, found == [12112])]


def car_chart(summary):
    "The three measures, one dot a method and dimension."
    import altair as alt

    methods = zip(summary["method"], summary["dimension"])
    shown = summary.assign(tree=[name if d == 0 else f"{name}, d = {d}" for name, d in methods])
    measures = ["purity", "ARI", "agreement"]
    data = shown.rename(columns={"ari": "ARI"}).melt(["tree", "method"], measures, var_name="measure")
    colour = alt.Color(
        "method:N",
        scale=alt.Scale(
            domain=[*OURS, *EMBEDDED, "random tree"],
            range=[_LOOKS[name][0] for name in (*OURS, *EMBEDDED)] + ["#888888"],
        ),
        legend=None,
    )
    return (
        alt.Chart(data)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=alt.X("value:Q", title="share, or adjusted Rand index", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("tree:N", sort=list(shown["tree"]), title=None),
            color=colour,
        )
        .properties(width=190)
        .facet(alt.Facet("measure:N", sort=measures, title=None), columns=3)
    )


def _bare(chart):
    "A chart without its configuration, which only the outermost chart may have."
    import altair as alt

    chart = chart.copy(deep=False)
    chart.config = alt.Undefined
    return chart


def car_picture(trees, pictures=True, height=1200):
    "Trees of the cars side by side, coloured by the collectors' classes. The pictures travel inside the chart."
    import altair as alt

    car = load_dataset("car")
    at_hand = not pictures or car.images is not None
    require(at_hand, "pictures", "False where the folder car/images is not complete", pictures)
    classes = [car.label_names[label] for label in car.labels]
    charts = [
        tree.chart(
            classes,
            names=car.objects,
            width=230,
            height=height,
            label_title=title,
            images=car.images if pictures else None,
        )
        for title, tree in trees.items()
    ]
    trees = alt.hconcat(*map(_bare, charts), config=charts[0].config)
    return trees.resolve_scale(color="independent", shape="independent")


def car_figure(summary):
    """The measures, and below them the four trees of appendix B.3 with the cars, embeddings in 2 dimensions. Raises
    `DatasetNotFoundError`.
    """
    import altair as alt

    trees = car_trees(0, 0)[0] | car_trees(2, 0)[0]
    four = {f"{name}{', d = 2' if name in EMBEDDED else ''}": trees[name] for name in ("4K–AL", "4–AL", *EMBEDDED)}
    trees = car_picture(four, pictures=load_dataset("car").images is not None)
    both = alt.vconcat(car_chart(summary), _bare(trees), config=trees.config)
    return both.resolve_scale(color="independent", shape="independent")
