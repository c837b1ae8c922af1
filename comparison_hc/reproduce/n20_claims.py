"""What section 5 says about figures 1 and 2, each sentence read in one fixed way."""

from ..flat.planted import n_comparisons
from .claims import BY_CONSTRUCTION, NOT_COMPARABLE, Claim
from .n20 import MNIST_METHODS
from .readings import first_from, gap_and_error


def _curve(summary, method, over="a"):
    "Points of a method, by the column to the right."
    return summary[summary["method"] == method].sort_values(over).set_index(over)


ENOUGH = 0.99  # mean ARI that counts as recovered
NEAR = 0.05  # mean ARIs not farther apart are similar
BETTER = "mean ARI higher on average, and nowhere lower by more than 2 standard errors or 0.02"


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


def _recovers(summary, method, start, over="a", name="a"):
    "From where on, and what is there."
    if start == float("inf"):
        return "recovers never"
    return f"recovers {_from(start, name)} ({_at(summary, method, start, over, name)})"


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
    source, n = "section 5, figure 1a", int(summary["n"].iloc[0])
    starts = {name: recovers_from(summary, name) for name in ("AddS-3", "AddS-4", "MulK-3", "MulK-4")}
    measured = {name: _recovers(summary, name, start) for name, start in starts.items()}
    claims = []
    for name in ("AddS-3", "AddS-4"):
        sentence = f"{name} is able to exactly recover the planted clusters using as few as n(ln n)^3 comparisons."
        rule = f"mean ARI ≥ {ENOUGH} from some a ≤ 3 on"
        claims.append(Claim(sentence, measured[name], starts[name] <= 3, source, rule=rule))
    for name, a in (("MulK-3", 4.5), ("MulK-4", 5.5)):
        needs, exist = n_comparisons(n, a), n**2
        rule = f"mean ARI ≥ {ENOUGH} first from some a on with |a − {a}| ≤ 0.5"
        is_near = abs(starts[name] - a) <= 0.5
        claims.append(Claim(f"{name} needs n(ln n)^{a} comparisons.", measured[name], is_near, source, rule=rule))
        counted = f"{needs:,} against {exist:,} at n = {n}"
        sentence, arithmetic = f"n(ln n)^{a} exceeds n².", BY_CONSTRUCTION
        claims.append(Claim(sentence, counted, needs > exist, source, rule="arithmetic", aside=arithmetic))
    apart = _apart(_curve(summary, "AddS-3"), _curve(summary, "AddS-4"))
    words = f"mean ARI apart by {apart.mean():.3f} on average, at most {apart.max():.3f} (a = {apart.idxmax():g})"
    better, by_how_much = _better(_curve(summary, "MulK-3"), _curve(summary, "MulK-4"))
    return claims + [
        Claim(
            "AddS-3 and AddS-4 have comparable performance",
            words,
            apart.max() <= NEAR,
            source,
            rule=f"mean ARI at most {NEAR} apart at every a",
            quoted=True,
        ),
        Claim("MulK-3 is significantly better than MulK-4", by_how_much, better, source, rule=BETTER, quoted=True),
    ]


def figure_1b_claims(summary):
    "The sentences about figure 1b, with verdicts; each with what is measured at the ε that it names."
    source, enough = "section 5, figure 1b", f"mean ARI ≥ {ENOUGH}"
    ours, theirs = (recovers_from(summary, name, "epsilon") for name in ("AddS-3", "MulK-3"))
    shown = {name: [_at(summary, name, x, "epsilon", "ε") for x in at] for name, at in _NAMED.items()}
    return [
        Claim(
            "AddS-3 exactly recovers the planted clusters for ϵ as small as 0.25",
            "; ".join([*shown["AddS-3"], f"recovers {_from(ours, 'ε')}"]),
            ours <= 0.25,
            source,
            rule=f"{enough} at every ε ≥ 0.25",
            quoted=True,
        ),
        Claim(
            "MulK-3 only recovers the planted clusters for ϵ > 0.9",
            "; ".join([*shown["MulK-3"], f"recovers {_from(theirs, 'ε')}"]),
            0.9 < theirs < float("inf"),
            source,
            rule=f"{enough} from some ε > 0.9 on, and not at 0.9",
            quoted=True,
        ),
    ]


_NAMED = {"AddS-3": (0.25,), "MulK-3": (0.9, 1.0)}  # the ε that the sentences name; 1 is the end of "ε > 0.9"


def figure_1c_claims(summary):
    "The sentences about figure 1c, with verdicts."
    source = "section 5, figure 1c"
    families = list(dict.fromkeys(summary["family"]))
    of_family = {name: summary[summary["family"] == name] for name in families}
    verdicts = {name: _better(_curve(own, "AddS-3"), _curve(own, "MulK-3")) for name, own in of_family.items()}
    claims = [
        Claim(
            "AddS-3 outperforms MulK-3 even when different distributions for Fin and Fout are considered",
            "; ".join(f"{name}: {words}" for name, (_, words) in verdicts.items()),
            all(better for better, _ in verdicts.values()),
            source,
            rule=f"for every pair: {BETTER}",
            quoted=True,
        )
    ]
    first = _curve(of_family[families[0]], "AddS-3")
    for name, why, aside in (
        (families[1], "both with δ = 0.5", ""),
        (families[-1], "as the published code has them, with a smaller δ", NOT_COMPARABLE),
    ):
        apart = _apart(first, _curve(of_family[name], "AddS-3"))
        sentence = f"{families[0]} against {name}: the distributions affect the performances."
        words = f"{why}: AddS-3's mean ARI differs by up to {apart.max():.3f} (a = {apart.idxmax():g})"
        rule = "one δ, and mean ARI at least 0.1 apart at some a"
        claims.append(Claim(sentence, words, apart.max() >= 0.1, source, rule=rule, aside=aside))
    return claims


def _clusters_found(curve):
    "Mean k̂ of every point, in words."
    return "mean k̂: " + ", ".join(f"{k:.1f} (a = {a:g})" for a, k in curve["n_clusters"].items())


def figure_2a_claims(summary):
    "The sentences about figure 2a, with verdicts."
    source = "section 5, figure 2a"
    known, found = _curve(summary, "AddS-3, k known"), _curve(summary, "AddS-3, SPUR")
    ours = float(known["ari"].loc[2])
    claims = []
    for name in ("k-means", "t-STE"):
        rival = float(_curve(summary, name)["ari"].loc[2])
        sentence = f"n(ln n)^2 triplets are sufficient for AddS-3 to reach the performance of {name}."
        rule = f"at a = 2 mean ARI at most {NEAR} below"
        claims.append(Claim(sentence, f"{ours:.3f} against {rival:.3f}", ours >= rival - NEAR, source, rule=rule))
    target = _curve(summary, "k-means")["ari"] - NEAR
    reached = first_from(_curve(summary, "MulK-3")["ari"] - target, 0)
    apart = _apart(known, found)
    return claims + [
        Claim(
            "MulK-3 requires n(ln n)^3 triplets to reach it.",
            f"reaches k-means {_from(reached)}",
            abs(reached - 3) <= 0.5,
            source,
            rule=f"mean ARI at most {NEAR} below k-means first from some a on with |a − 3| ≤ 0.5",
        ),
        Claim(
            "AddS-3 with known number of clusters performs similarly to AddS-3 using SPUR",
            f"mean ARI apart by at most {apart.max():.3f}",
            apart.max() <= NEAR,
            source,
            rule=f"mean ARI at most {NEAR} apart at every a",
            quoted=True,
        ),
        Claim(
            "SPUR estimates the number of clusters correctly",
            _clusters_found(found),
            bool((found["n_clusters"] == 2).all()),
            source,
            rule="k̂ = 2 in every run",
            quoted=True,
        ),
    ]


def figure_2b_claims(summary):
    "The sentences about figure 2b, with verdicts."
    source = "section 5, figure 2b"
    known, found = _curve(summary, "AddS-3, k known"), _curve(summary, "AddS-3, SPUR")
    early, early_words = _better(known.loc[[2]], found.loc[[2]])
    better, better_words = _better(known, _curve(summary, "MulK-3"))
    apart = _apart(known, _curve(summary, "t-STE"))
    last = {name: float(_curve(summary, name)["ari"].loc[4]) for name in MNIST_METHODS}
    k_hat = [round(found["n_clusters"].loc[a]) for a in (2, 4)]
    steps = found["ari"].diff().dropna()
    return [
        Claim(
            "AddS-3 with known k outperforms AddS-3 using SPUR",
            early_words,
            early,
            source,
            rule=f"at a = 2, {BETTER}",
            quoted=True,
        ),
        Claim("AddS-3 with known k outperforms MulK-3", better_words, better, source, rule=BETTER, quoted=True),
        Claim(
            "AddS-3 with known k is close to the performance of t-STE.",
            f"apart by {apart.mean():.3f} on average, at most {apart.max():.3f}",
            apart.max() <= 0.1,
            source,
            rule="mean ARI at most 0.1 apart at every a",
        ),
        Claim(
            "all ordinal methods converge to the baseline of k-means with access to original data",
            ", ".join(f"{name} {value:.3f}" for name, value in last.items()),
            all(abs(value - last["k-means"]) <= NEAR for value in last.values()),
            source,
            rule=f"at a = 4 mean ARI at most {NEAR} from that of k-means",
            quoted=True,
        ),
        Claim(
            "The ARI of AddS-3 SPUR improves when the number of comparisons increases",
            ", ".join(f"{value:.3f} (a = {a:g})" for a, value in found["ari"].items()),
            bool(steps.sum() > 0.02 and (steps >= -0.02).all()),
            source,
            rule="mean ARI higher by more than 0.02 at the last a than at the first, no step down by more",
            quoted=True,
        ),
        Claim(
            "SPUR's k increases from 3 at n(ln n)^2 up to 9 at n(ln n)^4.",
            _clusters_found(found),
            k_hat == [3, 9],
            source,
            rule="mean k̂, rounded, 3 at a = 2 and 9 at a = 4",
        ),
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
    source, m = "section 5, figure 2c", summary["comparisons"].max()
    treatments = {
        name: _car_words(summary[summary["outliers"] == name].set_index(["one", "other"]))
        for name in dict.fromkeys(summary["outliers"])
    }

    def told(words):
        return "; ".join(f"{name}: {words(*found)}" for name, found in treatments.items())

    def listed(values):
        return ", ".join(f"{name} {value:.2f}" for name, value in values.items())

    every = ", for every treatment of the outliers"
    return [
        Claim(
            "exhibits 12112 triplet comparisons",
            f"{m:,}",
            m == 12112,
            "section 5",
            rule="the rows of the file",
            quoted=True,
            aside=BY_CONSTRUCTION,
        ),
        Claim(
            "AddS-3 SPUR estimates k = 2 instead of the correct 3 clusters",
            told(lambda k, classes, pairs: f"mean k̂ = {k:g}"),
            all(k == 2 for k, _, _ in treatments.values()),
            source,
            rule=f"k̂ = 2 in every run{every}",
            quoted=True,
        ),
        Claim(
            "MulK-3 with k = 3 agrees the most with the true labels",
            told(lambda k, classes, pairs: listed(classes.head(2))),
            all(classes.index[0] == "MulK-3, k = 3" for _, classes, _ in treatments.values()),
            source,
            rule=f"highest mean ARI with the classes{every}",
            quoted=True,
        ),
        Claim(
            "all the clustering methods agree well for k = 2",
            told(lambda k, classes, pairs: listed(pairs)),
            all(min(pairs.values()) >= 0.6 for _, _, pairs in treatments.values()),
            source,
            rule=f"mean ARI of any two methods at least 0.6{every}",
            quoted=True,
        ),
    ]


def food_claims(summary):
    "What section 5 says of Food; the comparison of the methods is in an appendix that shows pictures only."
    m = int(summary.loc[summary["answers"] == "unique", "comparisons"].iloc[0])
    sentence = "contains 100 examples and 190376 triplet comparisons"
    words, rule = f"{m:,} different ones", "the file without its repeated rows"
    return [Claim(sentence, words, m == 190376, "section 5", rule=rule, quoted=True, aside=BY_CONSTRUCTION)]
