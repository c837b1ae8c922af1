"The execution tree as boxes, a loss as a step line, and the grid of two parameters as a map: Altair charts."

import altair as alt
import numpy as np
from pandas import DataFrame

from ..core.validation import require

UNIT_INTERVAL = alt.Scale(domain=[0, 1])
COLOURS = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00"]  # low loss to high; white lines show on all


def node_boxes(leaves, names):
    "(merge, low, high, clusters) of every node of the execution tree; a node that leaves share is made wider."
    rows, current = [], []  # current: the last row of every step
    for leaf in leaves:
        members = list(names)
        for step, (a, b) in enumerate(leaf.merges.tolist()):
            members.append(members[a] + members[b])
            if step < leaf.first_changed:
                current[step][2] = leaf.high
                continue
            row = [step + 1, leaf.low, leaf.high, f"{members[a]}+{members[b]}"]
            rows.append(row)
            current[step : step + 1] = [row]
    return rows


def execution_tree_chart(tree):
    "The execution tree as rows of intervals (L20, figure 1). For at most 40 leaves."
    leaves = tree.leaves(41)
    require(len(leaves) <= 40, "the execution tree", "one of at most 40 leaves for a picture", "more than 40")
    names = tree.names or tuple(str(i) for i in range(len(tree.family.D0)))
    table = DataFrame(node_boxes(leaves, names), columns=["merge", "low", "high", "clusters"])
    table["middle"] = (table.low + table.high) / 2
    title, y = tree.family.parameter, alt.Y("merge:O", title="merge")
    boxes = (
        alt.Chart(table)
        .mark_rect(color="#BFDFF2", stroke="#0072B2", strokeWidth=0.8)
        .encode(x=alt.X("low:Q", title=title, scale=UNIT_INTERVAL), x2="high:Q", y=y)
    )
    text = (
        alt.Chart(table[table.high - table.low > 0.016 * table.clusters.str.len()])
        .mark_text(color="black")
        .encode(x=alt.X("middle:Q", title=title), y=y, text="clusters:N")
    )
    return (boxes + text).properties(width=560, height=alt.Step(34))


def loss_chart(loss):
    "The loss over the parameter."
    simple = loss.simplified()
    table = DataFrame(dict(x=simple.breakpoints, loss=np.append(simple.values, simple.values[-1:])))
    return (
        alt.Chart(table)
        .mark_line(interpolate="step-after", color="#0072B2")
        .encode(x=alt.X("x:Q", title=loss.parameter, scale=UNIT_INTERVAL), y=alt.Y("loss:Q", title="loss"))
        .properties(width=420, height=200)
    )


def grid_chart(grid, losses):
    "The square, coloured by loss; paler where the tree is not certain. At most twelve losses are all in the legend."
    table = DataFrame(grid.cells, columns=["from", "to", "low", "high"])
    table["loss"] = losses[grid.tree_of]
    table["certain"] = np.where(grid.certified, 1.0, 0.35)
    occurring = sorted({round(float(value), 5) for value in losses})
    low, high = occurring[0], occurring[-1]
    gradient = alt.Scale(domain=[low, high if high > low else low + 1], range=COLOURS, interpolate="rgb")
    legend = alt.Legend(values=occurring, format=".3~f") if len(occurring) <= 12 else alt.Legend()
    return (
        alt.Chart(table)
        .mark_rect(stroke="white", strokeWidth=0.3, aria=False)
        .encode(
            x=alt.X("from:Q", title="α", scale=UNIT_INTERVAL),
            x2="to:Q",
            y=alt.Y("low:Q", title="β", scale=UNIT_INTERVAL),
            y2="high:Q",
            color=alt.Color("loss:Q", title="loss", scale=gradient, legend=legend),
            opacity=alt.Opacity("certain:Q", scale=None, legend=None),
        )
        .properties(width=320, height=320)
    )
