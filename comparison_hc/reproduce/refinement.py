"""Before and after refinement, against δ/σ and the share of answers that is known: a run, the sentences, the chart."""

from copy import deepcopy

import numpy as np

from ..comparisons import n_triplet_questions
from ..core.charts import mean_layers
from ..core.validation import as_rng
from ..dendrogram import Dendrogram
from ..hierarchical.average import quadruplet_average_linkage
from ..hierarchical.planted import planted_hierarchy
from ..hierarchical.refinement import refine
from ..hierarchical.spr import SPRTree, TripletSPR
from ..hierarchical.triplets import triplet_average_linkage
from ..metrics import agreement, average_ari
from ..oracles import sample_quadruplets, sample_triplets
from .claims import judged


def refinement_run(ratio, p, n_pure, repetition, rng):
    "Refinement of both starts on one planted hierarchy (μ = 0.8, σ = 0.1, L = 3)."
    for_model, for_triplets, for_quadruplets = as_rng(rng).spawn(3)
    planted = planted_hierarchy(n_pure, 3, 0.8, 0.1 * ratio, 0.1, for_model)
    w, n = planted.similarity, len(planted.labels)
    m = max(1, round(p * n_triplet_questions(n)))
    triplets, quadruplets = sample_triplets(w, m, for_triplets), sample_quadruplets(w, m, for_quadruplets)
    rows = []
    for name, build, answers in (
        ("3–AL", triplet_average_linkage, triplets),
        ("4–AL", quadruplet_average_linkage, quadruplets),
    ):
        start = build(answers)
        found = refine(start, answers)
        before, after = (average_ari(planted.levels, tree) for tree in (start, found.dendrogram))
        rows.append(dict(start=name, before=before, after=after, moves=found.moves))
    return rows


def _differences(kept):
    "By δ/σ, p and start: mean of after − before, and its standard error."
    by = kept.assign(difference=kept["after"] - kept["before"]).groupby(["ratio", "p", "start"])["difference"]
    return by.agg(mean="mean", error=lambda d: d.std() / np.sqrt(len(d))).reset_index()


def _words(row):
    "One cell of the grid in words."
    return f"{row['start']} at δ/σ = {row['ratio']:g}, p = {row['p']:g}: {row['mean']:+.2f} ({row['error']:.2f})"


def refinement_claims(kept):
    "What we say about refinement."
    cells = _differences(kept)
    units = cells["mean"] / cells["error"].clip(lower=1e-3)
    worst = cells.loc[units.idxmin()]
    clear = cells[cells["ratio"] >= 1]
    least = clear.loc[units[clear.index].idxmin()]
    largest = cells.loc[cells["mean"].idxmax()]
    faint = cells[(cells["ratio"] == cells["ratio"].min()) & (cells["p"] == cells["p"].min())]
    faint_words = "; ".join(_words(row) for _, row in faint.iterrows())
    starts = kept.pivot_table(["before", "after"], ["ratio", "p"], "start")
    apart = {when: (starts[when]["3–AL"] - starts[when]["4–AL"]).abs() for when in ("before", "after")}
    closer = apart["before"] - apart["after"]
    distances = f"mean distance {apart['before'].mean():.3f} before, {apart['after'].mean():.3f} after"
    are_closer = closer.mean() > 2 * closer.std() / np.sqrt(len(closer))
    by_p = cells.groupby("p")["mean"].mean()
    gains = ", ".join(f"{mean:+.2f} at p = {p:g}" for p, mean in by_p.items())
    return [
        judged("refinement/never-worse", _words(worst), (units >= -2).all()),
        judged("refinement/gains", _words(least), (units[clear.index] > 2).all()),
        judged("refinement/large-gain", _words(largest), largest["mean"] - 2 * largest["error"] > 0.2),
        judged("refinement/faint", faint_words, (faint["mean"] <= 2 * faint["error"]).all()),
        judged("refinement/starts", distances, are_closer),
        judged("refinement/middle", gains, by_p.idxmax() not in (by_p.index[0], by_p.index[-1])),
    ]


def _means(tall, keys, value):
    "Mean of a column, one row per combination of the keys, with two standard errors to both sides."
    by = tall.groupby(keys)[value]
    means = by.agg(mean="mean", error=lambda v: 2 * v.std() / np.sqrt(len(v))).reset_index()
    return means.assign(low=means["mean"] - means["error"], high=means["mean"] + means["error"])


def refinement_chart(kept):
    "AARI before and after against p, a panel for every δ/σ."
    import altair as alt

    tall = kept.melt(["ratio", "p", "start", "repetition"], ["before", "after"], "refinement", "aari")
    means = _means(tall, ["ratio", "p", "start", "refinement"], "aari")
    means = means.assign(panel="δ/σ = " + means["ratio"].map("{:g}".format))
    scale, axis = alt.Scale(type="log", nice=False), alt.Axis(values=sorted(set(means["p"])))
    x = alt.X("p:Q", title="p, share of triplets", scale=scale, axis=axis)
    color = alt.Color("start:N", title="start", scale=alt.Scale(range=["#D55E00", "#0072B2"]))
    looks = alt.Scale(domain=["before", "after"], range=[[4, 3], [1, 0]])
    title = f"AARI, mean of {kept['repetition'].nunique()}"
    y = alt.Y("mean:Q", title=title, scale=alt.Scale(domain=[0, 1]))
    dash = alt.StrokeDash("refinement:N", title="refinement", scale=looks, sort=["before", "after"])
    marks = dict(spread=dict(opacity=0.6), line=dict(strokeWidth=1.5))
    spread, line = mean_layers(means, x, y, color, **marks, line__strokeDash=dash)
    point = alt.Chart(means).mark_point(filled=True, opacity=1).encode(x=x, y=y, color=color, detail="refinement:N")
    layers = line + point + spread.encode(detail="refinement:N")
    return layers.properties(width=150, height=200).facet(alt.Column("panel:N", title=None))


def climbed(moves):
    "Make the best move until none helps."
    total = 0.0
    while gained := moves.improve():
        total += gained
    return total


def longer_run(answers, n_pure, repetition, rng, rounds=(0, 3, 10, 30, 100)):
    "Search on after the first local optimum (μ = 0.8, δ = σ = 0.1, L = 3), from 3–AL."
    for_model, draw, flip, shake = as_rng(rng).spawn(4)
    planted = planted_hierarchy(n_pure, 3, 0.8, 0.1, 0.1, for_model)
    known = sample_triplets(planted.similarity, answers, draw).flip(0.2, flip)
    new = sample_triplets(planted.similarity, 1.0, draw)
    start = SPRTree(triplet_average_linkage(known).children)
    best = TripletSPR(start, known.array, np.ones(len(known)))
    climbed(best)
    rows = []
    for done in range(rounds[-1] + 1):
        if done in rounds:
            tree = Dendrogram.from_merges(best.tree.merges())
            known_share, new_share = (agreement(tree, asked).fraction for asked in (known, new))
            rows.append(dict(rounds=done, known=known_share, new=new_share))
        other, gained = deepcopy(best), 0.0
        for _ in range(3):
            gains = other.gains()
            legal = np.argwhere(np.isfinite(gains))
            s, v = legal[shake.integers(len(legal))].tolist()
            gained += gains[s, v]
            other.regraft(s, v)
        if gained + climbed(other) >= 0:
            best = other
    return rows


def longer_changes(kept):
    "What became of the agreement since the first local optimum."
    tall = kept.melt(["answers", "repetition", "rounds"], ["known", "new"], "what", "share")
    first = tall[tall["rounds"] == 0].set_index(["answers", "repetition", "what"])["share"]
    since = first.loc[list(tall[["answers", "repetition", "what"]].itertuples(index=False, name=None))].to_numpy()
    return tall.assign(change=100 * (tall["share"] - since)).drop(columns="share")


def longer_claims(kept):
    "What we say about going on."
    changes = longer_changes(kept)
    last = changes[changes["rounds"] == changes["rounds"].max()]
    by = last.groupby(["answers", "what"])["change"].agg(mean="mean", error=lambda d: d.std() / np.sqrt(len(d)))
    few, many = min(kept["answers"]), max(kept["answers"])
    cells = [tuple(by.loc[cell]) for cell in ((few, "known"), (few, "new"), (many, "new"))]
    words = [f"{mean:+.1f} ({error:.1f}) points" for mean, error in cells]
    (known, known_error), (new, new_error), (late, late_error) = cells
    return [
        judged("longer/few-known", words[0], known > 2 * known_error),
        judged("longer/few-new", words[1], new < -2 * new_error),
        judged("longer/many-new", words[2], abs(late) + 2 * late_error < 1),
    ]


def longer_chart(kept):
    "Change of agreement against rounds, a panel for every number of answers."
    import altair as alt

    means = _means(longer_changes(kept), ["answers", "rounds", "what"], "change")
    means["what"] = means["what"].map({"known": "known answers", "new": "new answers"})
    means["panel"] = means["answers"].map("{:,} answers".format)
    colours = alt.Scale(domain=["known answers", "new answers"], range=["#0072B2", "#D55E00"])
    look = alt.Scale(type="symlog", constant=3, nice=False)
    x = alt.X("rounds:Q", title="rounds", scale=look, axis=alt.Axis(values=sorted(set(kept["rounds"]))))
    y = alt.Y("mean:Q", title="change of agreement, points")
    color = alt.Color("what:N", title="agreement with", scale=colours)
    spread, line = mean_layers(means, x, y, color, spread=dict(opacity=0.6), line=dict(point=True))
    order = [f"{m:,} answers" for m in sorted(set(kept["answers"]))]
    return (line + spread).properties(width=190, height=200).facet(alt.Column("panel:N", title=None, sort=order))
