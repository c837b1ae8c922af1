"""The dashboard `link`: one event contains all trees and numbers of a task, and the page moves among them."""

from dataclasses import replace
from html import escape

import numpy as np

from ..core.compat import repeat
from ..core.plotting import tree_layout
from ..link.learning import LearnedLinkage, average_loss, confidence_band
from .framework import Page, no_step, page_texts
from .link import FAMILIES, METRICS, SHOWN, LinkSettings, all_trees, draw_task, one_curve
from .pictures import chart_spec, in_order, look_channels, mark_html, strip_picture, tree_picture

GRID = np.arange(1001) / 1000  # the values of the slider


def piece_at(breaks, x):
    "The piece that contains a parameter; the last piece also contains its right end."
    return np.minimum(np.searchsorted(breaks, x, side="right") - 1, len(breaks) - 2)


def best_place(curve, breaks, letter):
    "The widest interval on which a curve is smallest: its middle, the piece there, and a text."
    loss, intervals = curve.best()
    low, high = max(intervals, key=lambda each: (each[1] - each[0], -each[0]))
    middle = (low + high) / 2
    return [middle, int(piece_at(breaks, middle))], f"{loss:.3f}, {letter} from {low:.3f} to {high:.3f}"


def curve_rows(curve):
    "A step function as its corners."
    simple = curve.simplified()
    ends = [*simple.values.tolist(), float(simple.values[-1])]
    return [dict(x=x, loss=loss) for x, loss in zip(simple.breakpoints.tolist(), ends)]


LOOKS = list(
    zip(
        ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#4c4c4c"),
        ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "triangle-left", "triangle-right"),
    )
)
ABOVE = "#9aa1a8"  # branches above the best pruning


def tree_show(task, trees, t):
    "One tree, its strip, and its distance scale."
    n = len(task.labels)
    rows = in_order(trees.merges[t].tolist(), range(n), lambda a, b, *_: min(a, b))
    at = tree_layout(rows)
    guess = trees.guesses[t].tolist()
    for a, b in rows:
        guess.append(guess[a] if guess[a] == guess[b] else len(LOOKS))
    top = float(trees.heights[t].max()) or 1.0
    x = np.r_[np.ones(n), 1 - trees.heights[t] / top]
    y = (at.y + 0.5) / n
    colours = [colour for colour, _ in LOOKS]
    looks = [[colour, 1 if n > 120 else 1.4] for colour in (*colours, ABOVE)]
    strip = strip_picture(task.labels[at.leaves], colours=colours)
    label = f"Tree {t + 1} of {len(trees.losses)}, of {n} points"
    tree = tree_picture(x, y, at.parents, guess, looks) | {"aria-label": label}
    return {"tree": tree, "strip": dict(src=strip), "tree-top": f"{float(f'{top:.2g}'):g}"}


def tree_records(task, trees, step=no_step):
    "Every tree with its texts."
    begins = trees.breaks[trees.firsts]
    ends = np.append(begins[1:], 1.0)
    n = len(task.labels)
    found = []
    for t, (begin, end, loss) in enumerate(zip(begins.tolist(), ends.tolist(), trees.losses.tolist())):
        step("drawing trees", t, len(begins))
        misses = trees.guesses[t] != task.labels
        wrong = int(misses.sum())
        words = {"loss": f"{loss:.3f}: {wrong} of {n} wrong"}
        words["which-tree"] = f"{t + 1} of {len(begins)}, from {begin:.3f} to {end:.3f}"
        middle = int(piece_at(trees.breaks, (begin + end) / 2))
        record = dict(begin=begin, end=end, loss=loss, middle=middle)
        record.update(guesses=trees.guesses[t].tolist(), wrong=misses.astype(np.int64).tolist())
        found.append(record | dict(show=words | tree_show(task, trees, t)))
    for t, record in enumerate(found):  # where the buttons lead
        record["back"] = found[max(t - 1, 0)]["middle"]
        record["on"] = found[min(t + 1, len(found) - 1)]["middle"]
    return found


def key_html(names):
    "The legend: marks and names of the classes."
    marks = [mark_html(shape, colour) for colour, shape in LOOKS]
    return "".join(f"<span>{mark}{escape(name)}</span>" for mark, name in zip(marks, names))


def loss_rows(settings, curve):
    "The intervals of equal loss, as rows that can be saved."
    simple = curve.simplified()
    ends = simple.breakpoints.tolist()
    values = zip(ends[:-1], ends[1:], simple.values.tolist())
    return [dict(settings.columns("tasks"), low=low, high=high, loss=loss) for low, high, loss in values]


def task_event(settings, task, trees, step=no_step):
    "The task with all its trees."
    n_pieces, n_trees = len(trees.breaks) - 1, len(trees.losses)
    (_, best), best_words = best_place(trees.curve, trees.breaks, settings.parameter)
    labels = task.labels.tolist()
    points = [dict(x=x, y=y, label=c, guess=c, wrong=False) for (x, y), c in zip(task.points.tolist(), labels)]
    low, high = task.points.min(axis=0), task.points.max(axis=0)
    (cx, cy), (wide, tall) = ((low + high) / 2).tolist(), (high - low).tolist()
    frame = dict(cx=cx, cy=cy, wide=wide or 1.0, tall=tall or 1.0)
    if settings.family == "two metrics":
        ends = METRICS[settings.kind]
    else:
        ends = [f"{name} linkage" for name in FAMILIES[settings.family]]
    ticks = [dict(x=x, tree=True) for x in sorted(set(trees.breaks[trees.firsts].round(3).tolist()))]
    ticks += [dict(x=x, tree=False) for x in sorted(set(trees.breaks.round(3).tolist()))]
    pieces = f"{n_pieces:,} piece{'s' * (n_pieces != 1)}"
    n_of_trees = f"{n_trees:,} tree{'s' * (n_trees != 1)}"
    words = f"{pieces} with {n_of_trees}. Upper ticks: another tree. Lower ticks: at least another order of merges."
    show = {
        "parameter": settings.parameter,
        "end-0": f"0: {ends[0]}",
        "end-1": f"1: {ends[1]}",
        "key": key_html(task.names),
        "axes": f"{task.axes} Thick edge: in a wrong cluster.",
        "curve-words": f"{words} Click to jump to a piece.",
        "best": best_words,
        "best-mean": "being computed",
        "theorem": "being computed",
        "halves": "being computed",
        "target": dict(rows=dict(points=points), signals=frame, label=f"{len(points)} points in their classes"),
        "pruned": dict(signals=frame, label="the same points, coloured by cluster"),
        "curve": dict(rows=dict(own=curve_rows(trees.curve), ticks=ticks), label=f"the loss: best {best_words}"),
    }
    tree_of = repeat(np.arange(n_trees), np.diff(np.append(trees.firsts, n_pieces)))
    return dict(
        kind="task",
        show=show,
        drawn=True,
        points=points,
        best=best,
        at=piece_at(trees.breaks, GRID).tolist(),
        middles=((trees.breaks[:-1] + trees.breaks[1:]) / 2).tolist(),
        tree_of=tree_of.tolist(),
        trees=tree_records(task, trees, step),
        rows=loss_rows(settings, trees.curve),
    )


def theorem_words(curves, average):
    "The band of Theorem 1 around the average loss, and the difference of the averages over two halves of the tasks."
    band = float(confidence_band(LearnedLinkage(average, curves, average.n_trees, True)))
    steps = f"{len(average.values):,} step{'s' * (len(average.values) != 1)} of the average"
    use = "which is vacuous, because a loss is at most 1" if band >= 1 else "for all parameters at once"
    promised = f"± {band:.2f} with probability 0.95, {use} ({steps})"
    if len(curves) < 2:
        return promised, "needs two tasks"
    one, other = (average_loss(curves[start::2]) for start in (0, 1))
    ends = np.union1d(one.breakpoints[:-1], other.breakpoints[:-1])
    apart = float(np.abs(one(ends) - other(ends)).max())
    return promised, f"the averages of the even and of the odd tasks differ by at most {apart:.3f}"


def average_event(settings, curves, breaks):
    "The average over the first tasks."
    curve = average_loss(curves).simplified()
    best, words = best_place(curve, breaks, settings.parameter)
    count = f"{len(curves):,} task{'s' * (len(curves) != 1)}"
    theorem, halves = theorem_words(curves, average_loss(curves))
    if len(curves) < settings.tasks:
        count += f" of {settings.tasks}"
    return dict(
        kind="average",
        tasks=len(curves),
        words=count,
        best=best,
        least=float(curve.values.min()),
        mean_at=curve(GRID).tolist(),
        mean_middles=curve((breaks[:-1] + breaks[1:]) / 2).tolist(),
        show={
            "best-mean": words,
            "theorem": theorem,
            "halves": halves,
            "curve": dict(rows=dict(mean=curve_rows(curve))),
        },
    )


def link_events(settings, step=no_step, memory=None):
    "Everything that the page shows at one setting, in the order in which it is computed."
    memory = {} if memory is None else memory
    about_tasks = tuple(settings.columns("task", "tasks").values())
    shown = (*about_tasks, settings.task)
    if memory.get("shown") != shown:
        task = draw_task(settings)
        trees = all_trees(settings, task, step)
        memory.update(event=task_event(settings, task, trees, step), breaks=trees.breaks, shown=shown)
        memory["own"] = replace(trees.curve.simplified(), parameter=settings.parameter)
    yield memory["event"]
    curves = memory.setdefault(about_tasks, [])
    if curves:
        yield average_event(settings, curves[: settings.tasks], memory["breaks"])
    while len(curves) < settings.tasks:
        is_shown = len(curves) == settings.task  # then its curve is known
        curves.append(memory["own"] if is_shown else one_curve(settings, len(curves), step))
        if len(curves) in SHOWN or len(curves) == settings.tasks:
            yield average_event(settings, curves, memory["breaks"])


def cloud_chart():
    "Points: the shape is the class, the colour is the class that the cluster represents."
    import altair as alt

    params = [alt.param(name=name, value=1) for name in ("cx", "cy", "wide", "tall")]
    unit = "max(wide / (width - 20), tall / (height - 20))"

    def axis(centre, length):
        ends = [alt.ExprRef(f"{centre} {sign} {unit} * {length} / 2") for sign in "-+"]
        return alt.Scale(domainMin=ends[0], domainMax=ends[1], nice=False, zero=False)

    x = alt.X("x:Q", axis=None, scale=axis("cx", "width"))
    y = alt.Y("y:Q", axis=None, scale=axis("cy", "height"))
    (colour,) = look_channels("guess", range(len(LOOKS)), Fill=[colour for colour, _ in LOOKS])
    (shape,) = look_channels("label", range(len(LOOKS)), Shape=[shape for _, shape in LOOKS])
    stroke = alt.condition("datum.wrong", alt.value("#000"), alt.value("#fff"))
    width = alt.condition("datum.wrong", alt.value(1.8), alt.value(0.5))
    points = alt.Chart(alt.NamedData("points")).mark_point(size=60, opacity=1)
    points = points.encode(x, y, colour, shape, stroke=stroke, strokeWidth=width)
    return chart_spec(points.add_params(*params).properties(width="container", height=195))


def curve_chart():
    "The loss of this task and the average, with marks at the present parameter."
    import altair as alt

    height = 165
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~g", grid=False, offset=30)
    x = alt.X("x:Q", title=None, axis=axis).scale(domain=[0, 1])
    y = alt.Y("loss:Q", title="loss").scale(domainMin=0, nice=False).axis(tickCount=4, format="~g")
    ticks = alt.Chart(alt.NamedData("ticks"))
    here = alt.Chart(alt.NamedData("here"))
    now = alt.X("value:Q")
    layers = [
        here.mark_rect(color="#0072B2", opacity=0.13, y=0, y2=height).encode(alt.X("begin:Q"), alt.X2("end:Q")),
        ticks.transform_filter("datum.tree").mark_rule(color="#444", y=height + 6, y2=height + 14).encode(x),
        ticks.transform_filter("!datum.tree").mark_rule(color="#9aa1a8", y=height + 17, y2=height + 23).encode(x),
    ]
    for name, colour in (("mean", "#D55E00"), ("own", "#0072B2")):
        line = alt.Chart(alt.NamedData(name)).mark_line(interpolate="step-after", strokeWidth=1.6, color=colour)
        layers.append(line.encode(x, y))
    layers.append(here.mark_rule(color="#444", strokeDash=[2, 3], y=0, y2=height + 25).encode(now))
    for name, colour in (("mean", "#D55E00"), ("loss", "#0072B2")):
        dot = here.transform_filter(f"isValid(datum.{name})")
        dot = dot.mark_circle(size=80, stroke="#fff", color=colour, opacity=1)
        layers.append(dot.encode(now, alt.Y(f"{name}:Q")))
    return chart_spec(alt.layer(*layers).properties(width="container", height=height))


PAGE = Page(
    settings=LinkSettings,
    work=link_events,
    charts=lambda: dict(curve=curve_chart(), target=cloud_chart(), pruned=cloud_chart()),
    small=dict(per_class=5, tasks=5),
    **page_texts("link"),
)
link_dashboard = PAGE.widget
