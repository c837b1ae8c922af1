"""Charts of means with their spread, in colours and shapes that can be told apart without seeing colours."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#999999")
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-left", "triangle-right")


def plain_looks(names):
    "{name: (colour, shape)}."
    return dict(zip(names, zip(COLOURS, SHAPES)))


def scales(looks, shown=None):
    "An Altair scale for each part of the looks, {name: (colour, shape, …)}, of the names that are shown."
    import altair as alt

    names = list(looks) if shown is None else [name for name in looks if name in set(shown)]
    return [alt.Scale(domain=names, range=list(part)) for part in zip(*(looks[name] for name in names))]


def channels(field, looks):
    "Colour and shape of a field, by its values' looks."
    import altair as alt

    colour, shape = scales(looks)
    return alt.Color(f"{field}:N", title=None, scale=colour), alt.Shape(f"{field}:N", title=None, scale=shape)


def mean_layers(data, x, y, color, shape=None, spread=(), line=(), point=(), band=False, **encoded):
    """Layers: spread from `low` to `high` as bars or a band, a line, and points where there is a shape.

    `spread`, `line` and `point` have options of the marks; `encoded` holds more channels, those of one mark as
    line__strokeDash. With several layers, `data` may be left to what they are put into (None).
    """
    import altair as alt

    own = {mark: {} for mark in ("all", "line", "point")}
    for name, channel in encoded.items():
        mark, _, only = name.partition("__")
        own[mark if only else "all"][only or name] = channel
    base = alt.Chart(alt.Undefined if data is None else data).encode(x=x, color=color, **own["all"])
    ends = dict(y=alt.Y("low:Q", title=y.to_dict()["title"]), y2="high:Q")
    marks = [(base.mark_area if band else base.mark_rule)(**dict(spread)).encode(**ends)]
    marks.append(base.mark_line(**dict(line)).encode(y=y, **own["line"]))
    if shape is not None:
        points = base.mark_point(**{"filled": True, "opacity": 1} | dict(point))
        marks.append(points.encode(y=y, shape=shape, **own["point"]))
    return marks


def threshold(data, **place):
    "A dashed line at a target (y), or a dotted one at what there is now (x)."
    import altair as alt

    dash = [4, 3] if "y" in place else [1, 3]
    return alt.Chart(data).mark_rule(strokeDash=dash, color="#555555").encode(**place)
