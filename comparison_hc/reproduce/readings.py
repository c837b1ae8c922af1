"""The kept results of a figure, where a curve is high enough, how far two curves are apart; panels side by side."""

import numpy as np


def kept_results(name, folder=None):
    "The kept results of the full run, or, if there are none, of the quick one. Raises `ResultsNotFoundError`."
    from comparison_hc.reproduce.claims import ResultsNotFoundError, load_results

    try:
        return load_results(name, folder), "full"
    except ResultsNotFoundError as error:
        try:
            return load_results(f"{name}-quick", folder), "quick"
        except ResultsNotFoundError:
            raise error from None


def which_setting(kind):
    "Whose setting results of this kind come from."
    return "The paper's setting" if kind == "full" else "Quick setting, not the paper's"


def mean_table(table, keys, value, means=(), **more):
    "Mean and standard deviation (division by the number of runs) of a value, and means of other columns, by keys."
    named = {value: (value, "mean"), "sd": (value, lambda values: values.std(ddof=0))}
    named |= {name: (name, "mean") for name in means} | more | {"repetitions": (value, "size")}
    return table.groupby(keys, sort=False, as_index=False, observed=True).agg(**named)


def first_from(values, enough=0.99):
    "The smallest value of the index from which on all means are high enough."
    found = float("inf")
    for x, mean in values[::-1].items():
        if mean < enough:
            break
        found = float(x)
    return found


def gap_and_error(one, other, measure):
    "How far two curves are apart at each point, and how sure that is."
    variance = one["sd"] ** 2 / one["repetitions"] + other["sd"] ** 2 / other["repetitions"]
    return one[measure] - other[measure], np.sqrt(variance)


def in_panels(layers, data, columns, field="panel", **size):
    "The layers once for each value of a field, in the order of the data."
    import altair as alt

    panels = list(dict.fromkeys(data[field]))
    chart = alt.layer(*layers, data=data).properties(**size)
    return chart.facet(alt.Facet(f"{field}:N", sort=panels, title=None), columns=columns)
