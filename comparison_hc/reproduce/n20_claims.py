"""What section 5 says about figures 1 and 2, each sentence read in one fixed way."""

from functools import partial

from ..flat.planted import n_comparisons
from .claims import NOT_COMPARABLE, judged
from .n20 import MNIST_METHODS
from .readings import first_from, gap_and_error


def _curve(summary, method, over="a"):
    "Points of a method, by the column to the right."
    return summary[summary["method"] == method].sort_values(over).set_index(over)


ENOUGH = 0.99  # mean ARI that counts as recovered
NEAR = 0.05  # mean ARIs not farther apart are similar
BETTER = "mean ARI higher on average, and nowhere lower by more than 2 standard errors or 0.02"
judged_here = partial(judged, enough=ENOUGH, near=NEAR, better=BETTER)


def recovers_from(summary, method, over="a", enough=ENOUGH):
    "The smallest value from which on the mean ARI is high enough."
    return first_from(_curve(summary, method, over)["ari"], enough)


def _from(start, name="a"):
    "From where on, in words."
    return "never" if start == float("inf") else f"from {name} = {start:g} on"


def _at(summary, method, x, over="a", name="a"):
    "Mean ARI and share of exact runs at one point, because a mean of 0.99 is not every time."
    there = _curve(summary, method, over).loc[x]
    return f"at {name} = {x:g} mean ARI {there['ari']:.3f}, exact in {there['exact']:.0%} of the runs"


def _recovers(summary, name, start):
    "From where on, and what is there."
    return "recovers never" if start == float("inf") else f"recovers {_from(start)} ({_at(summary, name, start)})"


def _better(one, two):
    "(whether one is better, in words) for two frames with the same index, or two with one row."
    gap, error = gap_and_error(one, two, "ari")
    never_behind = (gap >= -(2 * error).clip(lower=0.02)).all()
    words = f"{gap.mean():+.3f} on average, smallest difference {gap.min():+.3f}"
    return bool(gap.mean() > 1e-12 and never_behind), words


def _apart(one, two):
    "How far two curves of mean ARI are apart at each point."
    return (one["ari"] - two["ari"]).abs()


def figure_1a_claims(summary):
    "The sentences of section 5 about figure 1a, with verdicts."
    n = int(summary["n"].iloc[0])
    starts = {name: recovers_from(summary, name) for name in ("AddS-3", "AddS-4", "MulK-3", "MulK-4")}
    measured = {name: _recovers(summary, name, start) for name, start in starts.items()}
    claims = []
    for name in ("AddS-3", "AddS-4"):
        claims.append(judged_here("n20-1a/few", measured[name], starts[name] <= 3, name=name))
    for name, a in (("MulK-3", 4.5), ("MulK-4", 5.5)):
        claims.append(judged_here("n20-1a/needs", measured[name], abs(starts[name] - a) <= 0.5, name=name, a=a))
        needs, exist = n_comparisons(n, a), n**2
        claims.append(judged_here("n20-1a/exceeds", f"{needs:,} against {exist:,} at n = {n}", needs > exist, a=a))
    apart = _apart(_curve(summary, "AddS-3"), _curve(summary, "AddS-4"))
    words = f"mean ARI apart by {apart.mean():.3f} on average, at most {apart.max():.3f} (a = {apart.idxmax():g})"
    better, by_how_much = _better(_curve(summary, "MulK-3"), _curve(summary, "MulK-4"))
    return claims + [
        judged_here("n20-1a/alike", words, apart.max() <= NEAR),
        judged_here("n20-1a/better", by_how_much, better),
    ]


def figure_1b_claims(summary):
    "The sentences about figure 1b, with verdicts; each with what is measured at the ε that it names."
    named = {"AddS-3": (0.25,), "MulK-3": (0.9, 1.0)}  # 1 is the end of "ε > 0.9"
    ours, theirs = (recovers_from(summary, name, "epsilon") for name in named)
    our_words, their_words = (
        "; ".join([*(_at(summary, name, x, "epsilon", "ε") for x in at), f"recovers {_from(start, 'ε')}"])
        for (name, at), start in zip(named.items(), (ours, theirs))
    )
    return [
        judged_here("n20-1b/adds", our_words, ours <= 0.25),
        judged_here("n20-1b/mulk", their_words, 0.9 < theirs < float("inf")),
    ]


def figure_1c_claims(summary):
    "The sentences about figure 1c, with verdicts."
    families = list(dict.fromkeys(summary["family"]))
    of_family = {name: summary[summary["family"] == name] for name in families}
    verdicts = {name: _better(_curve(own, "AddS-3"), _curve(own, "MulK-3")) for name, own in of_family.items()}
    words = "; ".join(f"{name}: {words}" for name, (_, words) in verdicts.items())
    claims = [judged_here("n20-1c/better", words, all(better for better, _ in verdicts.values()))]
    first = _curve(of_family[families[0]], "AddS-3")
    for name, why, aside in (
        (families[1], "both with δ = 0.5", ""),
        (families[-1], "as the published code has them, with a smaller δ", NOT_COMPARABLE),
    ):
        apart = _apart(first, _curve(of_family[name], "AddS-3"))
        words = f"{why}: AddS-3's mean ARI differs by up to {apart.max():.3f} (a = {apart.idxmax():g})"
        claims.append(judged_here("n20-1c/affect", words, apart.max() >= 0.1, aside, first=families[0], name=name))
    return claims


def _clusters_found(curve):
    "Mean k̂ of every point, in words."
    return "mean k̂: " + ", ".join(f"{k:.1f} (a = {a:g})" for a, k in curve["n_clusters"].items())


def figure_2a_claims(summary):
    "The sentences about figure 2a, with verdicts."
    known, found = _curve(summary, "AddS-3, k known"), _curve(summary, "AddS-3, SPUR")
    ours = float(known["ari"].loc[2])
    claims = []
    for name in ("k-means", "t-STE"):
        rival = float(_curve(summary, name)["ari"].loc[2])
        words = f"{ours:.3f} against {rival:.3f}"
        claims.append(judged_here("n20-2a/enough", words, ours >= rival - NEAR, name=name))
    target = _curve(summary, "k-means")["ari"] - NEAR
    reached = first_from(_curve(summary, "MulK-3")["ari"] - target, 0)
    apart = _apart(known, found).max()
    return claims + [
        judged_here("n20-2a/mulk", f"reaches k-means {_from(reached)}", abs(reached - 3) <= 0.5),
        judged_here("n20-2a/alike", f"mean ARI apart by at most {apart:.3f}", apart <= NEAR),
        judged_here("n20-2a/clusters", _clusters_found(found), (found["n_clusters"] == 2).all()),
    ]


def figure_2b_claims(summary):
    "The sentences about figure 2b, with verdicts."
    known, found = _curve(summary, "AddS-3, k known"), _curve(summary, "AddS-3, SPUR")
    early, early_words = _better(known.loc[[2]], found.loc[[2]])
    better, better_words = _better(known, _curve(summary, "MulK-3"))
    apart = _apart(known, _curve(summary, "t-STE"))
    apart_words = f"apart by {apart.mean():.3f} on average, at most {apart.max():.3f}"
    last = {name: float(_curve(summary, name)["ari"].loc[4]) for name in MNIST_METHODS}
    last_words = ", ".join(f"{name} {value:.3f}" for name, value in last.items())
    are_near = all(abs(value - last["k-means"]) <= NEAR for value in last.values())
    k_hat = [round(found["n_clusters"].loc[a]) for a in (2, 4)]
    steps = found["ari"].diff().dropna()
    step_words = ", ".join(f"{value:.3f} (a = {a:g})" for a, value in found["ari"].items())
    return [
        judged_here("n20-2b/early", early_words, early),
        judged_here("n20-2b/better", better_words, better),
        judged_here("n20-2b/close", apart_words, apart.max() <= 0.1),
        judged_here("n20-2b/converge", last_words, are_near),
        judged_here("n20-2b/improves", step_words, steps.sum() > 0.02 and (steps >= -0.02).all()),
        judged_here("n20-2b/clusters", _clusters_found(found), k_hat == [3, 9]),
    ]


def _car_words(own):
    "(k̂ of SPUR, agreements with the classes from the highest on, agreements at k = 2) for one treatment of outliers."
    k = float(own.loc[("AddS-3, SPUR", "classes"), "n_clusters"])
    to_classes = own.xs("classes", level="other")["ari"].drop("classes").sort_values(ascending=False)
    pairs = {
        f"{a} and {b}": own.loc[(f"{a}, k = 2", f"{b}, k = 2"), "ari"]
        for a, b in (("AddS-3", "MulK-3"), ("AddS-3", "t-STE"), ("MulK-3", "t-STE"))
    }
    return k, to_classes, pairs


def figure_2c_claims(summary):
    "The sentences about figure 2c, with verdicts; each must hold for every treatment of the outliers."
    m, treatments = summary["comparisons"].max(), dict.fromkeys(summary["outliers"])
    for name in treatments:
        treatments[name] = _car_words(summary[summary["outliers"] == name].set_index(["one", "other"]))
    k_hats, to_classes, pairs = (dict(zip(treatments, values)) for values in zip(*treatments.values()))

    def listed(values):
        return ", ".join(f"{name} {value:.2f}" for name, value in values.items())

    def told(words):
        return "; ".join(f"{name}: {text}" for name, text in words.items())

    k_words = told({name: f"mean k̂ = {k:g}" for name, k in k_hats.items()})
    class_words = told({name: listed(values.head(2)) for name, values in to_classes.items()})
    pair_words = told({name: listed(values) for name, values in pairs.items()})
    is_most = all(values.index[0] == "MulK-3, k = 3" for values in to_classes.values())
    return [
        judged("n20-2c/comparisons", f"{m:,}", m == 12112),
        judged("n20-2c/clusters", k_words, all(k == 2 for k in k_hats.values())),
        judged("n20-2c/labels", class_words, is_most),
        judged("n20-2c/agree", pair_words, all(min(values.values()) >= 0.6 for values in pairs.values())),
    ]


def food_claims(summary):
    "What section 5 says of Food; the comparison of the methods is in an appendix that shows pictures only."
    m = int(summary.loc[summary["answers"] == "unique", "comparisons"].iloc[0])
    return [judged("n20-food/comparisons", f"{m:,} different ones", m == 190376)]
