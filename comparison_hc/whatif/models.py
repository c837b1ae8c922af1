"""What each of the four papers lets a sweep vary, with gates, quick defaults and the papers' own."""

from math import log

from ..comparisons import n_quadruplet_questions, n_triplet_questions
from ..core.validation import check_integer, integer_from, number_from, one_of, require
from ..methods import methods
from .parameters import Model, Parameter


MOST_LISTED = 50_000_000  # answers that are kept as a list: the 10% of F19, figure 2, are 41 million


class _Count(int):
    "A number that a message shows with commas."

    def __repr__(self):
        return f"{int(self):,}"


def _questions(method, n):
    "How many questions a passive method could be told the answers of."
    return (n_triplet_questions if methods[method].takes == "triplets" else n_quadruplet_questions)(n)


def check_planted(run):
    "What the values of one setting must fulfil together. Raises `InputError`."
    method, n = run["method"], run["n_pure"] << run["n_levels"]
    require(3 <= n <= 1024, "n_pure · 2^n_levels", "from 3 to 1,024 objects", n)
    exist = _questions(method, n)
    wanted = run["answers"] if run["p"] is None else run["p"] * exist
    if run["answers"] is not None:
        rule = f"at most {exist:,}, the questions that there are about {n} objects for {method}"
        require(wanted <= exist, "answers", rule, _Count(wanted))
    else:
        rule = f"so large that at least 30 of the {exist:,} questions about {n} objects are expected"
        require(wanted >= min(30, exist), "p", rule, run["p"])
    listed = methods[method].passive and not (run["p"] == 1 and run["accuracy"] == 1)
    rule = f"so small that at most {MOST_LISTED:,} answers are listed (only p = 1 with accuracy 1 needs no list)"
    require(not listed or wanted <= MOST_LISTED, "p · questions", rule, _Count(round(wanted)))


PLANTED = Model(
    "planted",
    "a hierarchy planted in noise, and comparisons of it (F19)",
    "comparison_hc.reproduce.simulation",
    "planted_whatif",
    (
        Parameter(
            "delta_over_sigma",
            "δ/σ",
            "what a level loses in similarity, in units of the noise",
            number_from(0, 1e6),
            1.0,
            effect=1,
        ),
        Parameter("n_pure", "objects a pure cluster", "objects in each pure cluster", integer_from(1), 6, 30),
        Parameter("n_levels", "levels", "levels of the tree: 2 to this power pure clusters", integer_from(1, 10), 3),
        Parameter(
            "accuracy",
            "accuracy of answers",
            "probability that an answer is right",
            number_from(0.5, 1, open_low=True),
            1.0,
            effect=1,
        ),
        Parameter(
            "p",
            "p",
            "share of all questions that is answered",
            number_from(0, 1, open_low=True),
            (0.003, 0.01, 0.03, 0.1),
            (0.01, 0.02, 0.05, 0.1, 1.0),
            1,
            True,
        ),
        Parameter(
            "answers", "answers", "how many answers there are, instead of p", integer_from(1), effect=1, budget=True
        ),
        Parameter(
            "method",
            "method",
            "how the tree is made",
            one_of(methods),
            ("4-al", "4k-al"),
            ("4-al", "4k-al", "single", "complete"),
        ),
    ),
    ("method",),
    "aari",
    "AARI",
    target=0.9,
    count="n_answers",
    axes=("p", "answers", "delta_over_sigma", "accuracy"),
    check_together=check_planted,
)


def spur_or_number(value, name):
    "The gate of the number of clusters that is looked for."
    if value == "spur":
        return value
    rule = 'a number of clusters of at least 2, or "spur" for as many as SPUR finds'
    require(isinstance(value, int) and not isinstance(value, bool) and value >= 2, name, rule, value)
    return value


def check_flat(run):
    "What the values of one setting must fulfil together. Raises `InputError`."
    n, kind = run["n"], run["method"][-1]
    check_integer(run["k"], "k", 1, n)
    exist = (n_triplet_questions if kind == "3" else n_quadruplet_questions)(n)
    m = run["answers"] if run["a"] is None else max(1, round(n * log(n) ** run["a"]))
    what = "answers" if run["a"] is None else "n(ln n)ᵃ"
    most = min(exist, MOST_LISTED)
    rule = f"at most {most:,}: there are {exist:,} questions about {n} objects for {run['method']}"
    require(m <= most, what, rule, _Count(m))
    clusters = run["n_clusters"]
    require(clusters == "spur" or clusters <= n, "n_clusters", f"at most n = {n}", clusters)


def _clusters_to_find(said):
    "--k, if that is one number above 1, else spur"
    return said["k"][0] if len(said["k"]) == 1 and said["k"][0] > 1 else "spur"


FLAT = Model(
    "flat",
    "a partition planted in noise, and comparisons of it (N20)",
    "comparison_hc.reproduce.simulation",
    "flat_whatif",
    (
        Parameter("n", "objects", "how many objects", integer_from(3, 1000), 60, 1000),
        Parameter("k", "planted clusters", "how many clusters are planted", integer_from(1), 3, 4, -1),
        Parameter(
            "delta",
            "δ",
            "a pair inside is the more similar with probability (1 + δ)/2",
            number_from(0, 1, True, True),
            0.7,
            0.5,
            1,
        ),
        Parameter(
            "epsilon", "ε", "an answer is right with probability (1 + ε)/2", number_from(0, 1, True), 0.75, effect=1
        ),
        Parameter(
            "family",
            "distributions",
            "of the similarities",
            one_of(("normal", "uniform + beta", "uniform + normal")),
            "normal",
        ),
        Parameter(
            "a",
            "a",
            "n(ln n)ᵃ comparisons",
            number_from(0, 20),
            (1.5, 2.0, 2.5, 3.0, 3.5),
            (2.0, 3.0, 4.0, 5.0),
            1,
            True,
        ),
        Parameter("answers", "answers", "how many comparisons, instead of a", integer_from(1), effect=1, budget=True),
        Parameter(
            "n_clusters",
            "clusters looked for",
            "a number, or spur: as many as SPUR finds",
            spur_or_number,
            _clusters_to_find,
            "spur",
        ),
        Parameter(
            "method",
            "similarity",
            "how comparisons become a matrix",
            one_of(("adds-3", "adds-4", "mulk-3", "mulk-4")),
            ("adds-3", "mulk-3"),
        ),
    ),
    ("method", "n_clusters"),
    "ari",
    "ARI",
    target=0.9,
    count="n_answers",
    axes=("a", "answers", "delta", "epsilon", "k"),
    check_together=check_flat,
)


def check_adaptive(run):
    "What the values of one setting must fulfil together. Raises `InputError`."
    method, accuracy = run["method"], run["accuracy"]
    rule = "1 for quick: it stops at the first answers that clash"
    require(method != "quick" or accuracy == 1, "accuracy", rule, accuracy)
    rule = f"from 0.501 to 0.999 for {method}, which asks until it is nearly sure"
    require(method not in ("bayesian", "robust") or 0.501 <= accuracy <= 0.999, "accuracy", rule, accuracy)


def _fitting_algorithms(said):
    "insertion,quick with --accuracy 1, else bayesian"
    return ("insertion", "quick") if said["accuracy"] == (1.0,) else ("bayesian",)


ADAPTIVE = Model(
    "adaptive",
    "a hidden tree, and questions chosen one after the other (A18)",
    "comparison_hc.reproduce.simulation",
    "adaptive_whatif",
    (
        Parameter("n", "items", "how many items", integer_from(3, 2000), (8, 16, 32, 64), (16, 64, 256, 1024)),
        Parameter(
            "shape",
            "shape of the tree",
            "of the hidden tree",
            one_of(("balanced", "caterpillar", "uniform", "split")),
            "uniform",
        ),
        Parameter(
            "accuracy",
            "accuracy of answers",
            "probability that an answer is right",
            number_from(1 / 3, 1, open_low=True),
            1.0,
        ),
        Parameter(
            "failure",
            "δ",
            "bayesian and robust may be wrong with this probability",
            number_from(0, 1, True, True),
            0.05,
        ),
        Parameter(
            "method",
            "method",
            "how questions are chosen",
            one_of(("insertion", "quick", "bayesian", "robust")),
            _fitting_algorithms,
        ),
    ),
    ("method", "failure"),
    "questions",
    "questions",
    most=False,
    axes=("n", "accuracy", "failure"),
    check_together=check_adaptive,
)


def check_link(run):
    "What the values of one setting must fulfil together. Raises `InputError`, also where the data is not available."
    most = {"MNIST": 892, "CIFAR-10": 200, "Omniglot": 20}.get(run["dataset"], 500)
    check_integer(run["per_class"], f"per_class of {run['dataset']}", 2, most)


LINK = Model(
    "link",
    "random tasks with known classes, and a mix of two linkages (L20)",
    "comparison_hc.reproduce.simulation",
    "link_whatif",
    (
        Parameter(
            "dataset",
            "data",
            "what tasks are drawn from",
            one_of(("rings and disks", "MNIST", "CIFAR-10", "Omniglot")),
            "rings and disks",
        ),
        Parameter("per_class", "points a class", "points in each class of a task", integer_from(2), 20, 100),
        Parameter(
            "alpha",
            "α",
            "0 is the first linkage, 1 the second",
            number_from(0, 1),
            tuple(round(0.1 * x, 1) for x in range(11)),
            tuple(round(0.05 * x, 2) for x in range(21)),
        ),
        Parameter(
            "method",
            "mixed linkages",
            "the two ends of α",
            one_of(("single-complete", "average-complete")),
            ("single-complete", "average-complete"),
        ),
    ),
    ("alpha", "method"),
    "loss",
    "pruning loss",
    most=False,
    axes=("alpha", "per_class"),
    check_together=check_link,
    exact_repeat=1000,
)

MODELS = {model.name: model for model in (PLANTED, FLAT, ADAPTIVE, LINK)}


def check_model(name, called="model"):
    "The model with this name. Raises `InputError` that lists the names."
    require(isinstance(name, str) and name in MODELS, called, f"one of {', '.join(MODELS)}", name)
    return MODELS[name]
