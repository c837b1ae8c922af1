"""What shape answers have: chance, a line, points, a dendrogram, or additive trees, by log loss of held-out answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..additive_tree import AdditiveTree
from ..comparisons import Quadruplets, Triplets, as_comparisons
from ..core._rows import four_columns
from ..core.compat import bincount
from ..core.parallel import on_one_thread
from ..core.sampling import unique_questions
from ..core.stats import corrected_resampled_interval
from ..core.validation import as_list, as_rng, check_integer, check_progress, require
from ._candidates import candidate, fit
from ._splits import Split, plan_splits
from .embedding import t_ste
from ..core.weights import each_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

__all__ = ["AnswerShape", "answer_shape", "repeat_ceiling"]

SHAPES = {  # the simplest first: what the table calls it, and what the sentence says
    "chance": ("chance", "these answers hold no structure that a model finds: none predicts better than a coin"),
    "line": ("a line", "these objects lie on a line: nested groups say little"),
    "dendrogram": ("a dendrogram", "these objects form nested groups: a dendrogram says what the answers say"),
    "tree": ("one additive tree", "these objects form one additive tree, with branches of different lengths"),
    "points-2": ("points in the plane", "these objects lie in a plane: a map says more than a tree"),
    "points-3": ("points in 3 dimensions", "these objects lie in a space of 3 dimensions: points say more than a tree"),
    "trees": ("two additive trees", "these objects follow two additive trees, summed: one hierarchy does not suffice"),
    "points-5": ("points in 5 dimensions", "these objects lie in a space of 5 dimensions: points say more than a tree"),
}
HELD_OUT = ("questions", "answers", "people")
FEWEST_OBJECTS, FEWEST_QUESTIONS = 7, 100
RIDGE, RATE = 0.05, 3.0  # priors of the coordinates, and of the branch lengths


# ---- the models: all are distances, and P(first pair is closer) = 1 / (1 + exp(d_first − d_second))


def logistic_fit(comparisons, distances_of, start, bounds=None, penalty=None):
    "Parameters that minimise the logistic loss; `distances_of(x)` gives (distances, function of a gradient by pair)."
    from scipy.optimize import minimize

    n, weights = comparisons.n_objects, each_weight(comparisons).astype(float)
    i, j, k, l = (column.astype(np.intp, copy=False) for column in four_columns(comparisons.array))
    first, second = i * n + j, k * n + l

    def loss(x):
        D, back = distances_of(x)
        flat = D.ravel()
        margin = flat[second] - flat[first]
        push = weights / (1 + np.exp(np.clip(margin, -500, 500)))
        slope = (bincount(first, push, n * n) - bincount(second, push, n * n)).reshape(n, n)
        value, gradient = weights @ np.logaddexp(0, -margin), back(slope + slope.T)
        extra, more = penalty(x)
        return value + extra, gradient + more

    options = dict(maxiter=300, ftol=1e-8)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x, found.fun


def point_distances(comparisons, start):
    "((N, N) distances of points that start there, the points, objective)."
    n, d = start.shape

    def distances_of(x):
        X = x.reshape(n, d)
        difference = X[:, None] - X
        D = np.sqrt((difference**2).sum(axis=2) + 1e-6)
        return D, lambda slope: np.einsum("ab,abd->ad", slope / D, difference).ravel()

    def penalty(x):
        return RIDGE * (x @ x), 2 * RIDGE * x

    x, objective = logistic_fit(comparisons, distances_of, start.ravel(), penalty=penalty)
    return distances_of(x)[0], x.reshape(n, d), objective


def dendrogram_distances(comparisons, tree):
    "((N, N) distances of a dendrogram whose heights explain the comparisons best, objective)."
    lca, n = tree.lca_step(), tree.n_objects
    n_steps = n  # 0: no merge, an object and itself; the last one is the root
    parent = np.full(n_steps, n_steps - 1)
    for step, children in enumerate(tree.linkage_matrix[:, :2].astype(np.int64), 1):
        parent[children[children >= n] - n + 1] = step

    def distances_of(x):
        depth = np.append(x, 0.0)
        for step in range(n_steps - 2, -1, -1):
            depth[step] += depth[parent[step]]
        D = -depth[lca]
        np.fill_diagonal(D, 0)

        def back(slope):
            slope = slope.copy()
            np.fill_diagonal(slope, 0)
            g = -bincount(lca.ravel().astype(np.intp), slope.ravel() / 2, n_steps)
            for step in range(n_steps - 1):
                g[parent[step]] += g[step]
            return g[:-1]

        return D, back

    def penalty(x):
        return RATE * x.sum(), np.full(len(x), RATE)

    start, bounds = np.full(n_steps - 1, 0.3), [(0, None)] * (n_steps - 1)
    x, objective = logistic_fit(comparisons, distances_of, start, bounds, penalty)
    return distances_of(x)[0], objective


def spectral_points(comparisons, d):
    "(N, d) points of a penalised t-STE, scaled to distances of about 1; a line is the longest axis of a plane."
    wide = max(d, min(2, comparisons.n_objects - 1))
    X = t_ste(comparisons, wide, ridge=0.1, start="spectral").points
    X = X @ np.linalg.svd(X, full_matrices=False)[2].T  # the longest axis first
    return X[:, :d] / max(X.std(), 1e-9)


def predictions(comparisons, shapes, seed):
    "{shape: (N, N) distances} of models fitted to the comparisons, for the objects that they are about."
    found = {}
    for name in shapes:
        if name == "chance":
            found[name] = np.zeros((comparisons.n_objects,) * 2)
        elif name == "line" or name.startswith("points"):
            d = 1 if name == "line" else int(name[-1])
            found[name] = point_distances(comparisons, spectral_points(comparisons, d))[0]
        elif name == "dendrogram":
            fitted = {}
            trees = [fit(candidate(each), comparisons, seed, fitted)[0] for each in ("points-al", "4k-al refined")]
            trees.append(AdditiveTree(1, rate=RATE, lapse=0.0, rng=seed).fit(comparisons).dendrogram_)
            tried = [dendrogram_distances(comparisons, tree) for tree in trees]
            found[name] = min(tried, key=lambda each: each[1])[0]
        else:
            found[name] = (
                AdditiveTree(1 if name == "tree" else 2, rate=RATE, lapse=0.0, rng=seed).fit(comparisons).distances_
            )
    return found


def scores(distances, comparisons):
    "(agreement with ties as half, log loss, share of ties) of held-out comparisons, by weight."
    weights = each_weight(comparisons).astype(float)
    i, j, k, l = four_columns(comparisons.array)
    margin = np.round(distances[k, l] - distances[i, j], 9)
    right = (margin > 0) + 0.5 * (margin == 0)
    values = right, np.logaddexp(0, -margin), margin == 0
    return tuple(float(weights @ value / weights.sum()) for value in values)


# ---- the noise ceiling


def repeat_ceiling(answers: Triplets | Quadruplets | ArrayLike) -> dict[str, float] | None:
    """Estimate from repeated questions how well any model can predict a single answer.

    The share of people who answer a question in one way is taken to be drawn from a symmetric beta distribution,
    whose parameter is estimated by maximum likelihood (a beta-binomial model).

    Parameters
    ----------
    answers : Triplets, Quadruplets, or array_like of int of shape (m, 3) or (m, 4)
        Comparisons.

    Returns
    -------
    dict or None
        `agreement`, `low` and `high` (95% interval, by the likelihood ratio), `loss` (the lowest log loss) and
        `n_questions` (asked at least twice); None if no question was.

    Raises
    ------
    InputError
        For comparisons that break a rule.

    Examples
    --------
    >>> from comparison_hc.evaluation import repeat_ceiling
    >>> repeat_ceiling([[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 0, 2]])["n_questions"]
    1
    """
    from scipy.optimize import brentq, minimize_scalar
    from scipy.special import betaln, digamma

    comparisons = as_comparisons(answers, weighted=True, argument="answers")
    _, question, low_won = unique_questions(*comparisons.winners_and_losers())
    n = bincount(question)
    k = bincount(question[low_won], minlength=len(n))
    k, n = k[n >= 2], n[n >= 2]
    if not len(n):
        return None

    def log_likelihood(t):
        a = np.exp(t)
        return float(np.sum(betaln(k + a, n - k + a) - betaln(a, a)))

    def ceiling(t):  # 1/2 + the mean deviation of a symmetric beta distribution from 1/2
        a = np.exp(t)
        return float(0.5 + np.exp(-2 * a * np.log(2) - np.log(a) - betaln(a, a)))

    ends = -9.0, 9.0
    best = float(minimize_scalar(lambda t: -log_likelihood(t), bounds=ends, method="bounded").x)
    most = log_likelihood(best)

    def below(t):
        return most - log_likelihood(t) - 1.9207  # half of the 95% quantile of chi-squared with one degree

    low = brentq(below, best, ends[1]) if below(ends[1]) > 0 else ends[1]
    high = brentq(below, ends[0], best) if below(ends[0]) > 0 else ends[0]
    a = np.exp(best)
    loss = float(digamma(2 * a + 1) - digamma(a + 1))
    found = dict(agreement=ceiling(best), low=ceiling(low), high=ceiling(high), loss=loss, n_questions=len(n))
    return found


# ---- the table


@dataclass(frozen=True, eq=False, repr=False)
class AnswerShape:
    """What shape answers have.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per shape and kind of split: `shape`, `title`, `held_out`, `agreement` (ties as half), `loss` (log
        loss), `ties`, and `worse`, `worse_low`, `worse_high`: how much more log loss than the best shape, with the
        90% interval over the splits.
    shape : str
        The simplest shape that is not surely worse than the best (its interval has 0 in it), by the first kind of
        split.
    sentence : str
        What that means, and which shape is the best if it is another one.
    ceiling : dict or None
        As `repeat_ceiling` gives it.
    n_answers, n_objects : int
        Numbers of comparisons and objects.

    Examples
    --------
    >>> from comparison_hc import load_dataset
    >>> from comparison_hc.evaluation import answer_shape
    >>> found = answer_shape(load_dataset("animals").triplets, n_splits=3)
    >>> bool(found.table.agreement.max() > 0.9)
    True
    """

    table: DataFrame
    shape: str
    sentence: str
    ceiling: dict[str, float] | None
    n_answers: int
    n_objects: int

    def shown(self) -> DataFrame:
        """Return the table in plain words.

        Returns
        -------
        pandas.DataFrame
        """
        table = self.table
        columns = {"shape": table.title, "held out": table.held_out, "agreement": table.agreement.map("{:.3f}".format)}
        columns["log loss"] = table.loss.map("{:.3f}".format)
        columns["more than the best"] = table.worse.map("{:.3f}".format)
        columns["90% interval"] = [f"{a:.3f} to {b:.3f}" for a, b in zip(table.worse_low, table.worse_high)]
        columns["ties"] = table.ties.map("{:.1%}".format)
        return type(table)(columns).reset_index(drop=True)

    def ceiling_sentence(self) -> str:
        """Return what repeated questions say about the noise.

        Returns
        -------
        str
        """
        if self.ceiling is None:
            return "No question was asked twice, so the noise ceiling is not known."
        c = self.ceiling
        text = f"Noise ceiling from {c['n_questions']:,} repeated questions: agreement {c['agreement']:.3f} "
        return text + f"(95% interval {c['low']:.3f} to {c['high']:.3f}), log loss {c['loss']:.3f}."

    def __repr__(self):
        return "\n".join([self.shown().to_string(index=False), "", self.ceiling_sentence(), self.sentence])


@on_one_thread
def answer_shape(
    answers: Triplets | Quadruplets | ArrayLike,
    held_out: Sequence[str] = ("questions",),
    n_splits: int = 5,
    rng: int | np.random.Generator = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> AnswerShape:
    """Tell what shape answers have: a line, nested groups, an additive tree, points, two additive trees, or none.

    Every shape gives distances, and predicts that the first pair is closer with probability
    1 / (1 + exp(d_first − d_second)). The shapes are compared by the log loss of held-out answers.

    Parameters
    ----------
    answers : Triplets, Quadruplets, or array_like of int of shape (m, 3) or (m, 4)
        Comparisons of at least 7 objects, about at least 100 different questions.
    held_out : list of {"questions", "answers", "people"}, default ("questions",)
        What is held out together: all answers about the same objects, single answers, or all answers of a person.
        The first one decides.
    n_splits : int, default 5
        Number of splits, at least 3; a fifth is held out in each.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    progress : callable, optional
        Called with (splits done, splits in all).

    Returns
    -------
    AnswerShape

    Raises
    ------
    InputError
        For comparisons or options that break a rule.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003 (the intervals).

    Examples
    --------
    >>> from comparison_hc.evaluation import answer_shape
    >>> place = np.random.default_rng(0).permutation(12)
    >>> rows = [(i, j, k) for i in range(12) for j in range(12) for k in range(12)
    ...         if len({i, j, k}) == 3 and abs(place[i] - place[j]) < abs(place[i] - place[k])]
    >>> answer_shape(rows, n_splits=3).shape
    'line'
    """
    import pandas as pd

    comparisons = as_comparisons(answers, weighted=True, argument="answers")
    enough = comparisons.n_objects >= FEWEST_OBJECTS and n_questions(comparisons) >= FEWEST_QUESTIONS
    rule = f"about at least {FEWEST_OBJECTS} objects and {FEWEST_QUESTIONS} different questions"
    require(enough, "answers", rule, comparisons)
    kinds = as_list(held_out, "held_out", f"a list of {', '.join(HELD_OUT)}")
    known = len(kinds) > 0 and all(isinstance(kind, str) and kind in HELD_OUT for kind in kinds)
    require(known, "held_out", f"a list of {', '.join(HELD_OUT)}", held_out)
    n_splits, progress, rng = check_integer(n_splits, "n_splits", 3), check_progress(progress), as_rng(rng)
    tables, done = [], 0
    for kind in kinds:
        rows = []
        for split in _splits(comparisons, kind, n_splits, rng):
            train, test = comparisons.take(split.train), comparisons.take(split.test)
            models = predictions(train, list(SHAPES), int(rng.integers(2**63)))
            rows.append({name: scores(D, test) for name, D in models.items()})
            done += 1
            if progress:
                progress(done, n_splits * len(kinds))
        tables.append(_summary(rows, kind))
    table = pd.concat(tables, ignore_index=True)
    shape = _simplest(tables[0])
    about = repeat_ceiling(comparisons), len(comparisons), comparisons.n_objects
    return AnswerShape(table, shape, _sentence(tables[0], shape), *about)


def n_questions(comparisons):
    "Number of different questions."
    return len(unique_questions(*comparisons.winners_and_losers())[0])


def known_kinds(comparisons, people=None):
    "The kinds of splits that are possible, first the one that `compare_methods` would take."
    possible = plan_splits(comparisons, 1, people=people).by == "people"
    return ["people", "questions", "answers"] if possible else ["questions", "answers"]


def _splits(comparisons, kind, n_splits, rng):
    "The splits of one kind."
    if kind != "answers":
        return plan_splits(comparisons, n_splits, 0.2, kind == "people", rng).splits
    m, splits = len(comparisons), []
    for own in rng.spawn(n_splits):
        order = own.permutation(m)
        splits.append(Split(np.sort(order[m // 5 :]), np.sort(order[: m // 5])))
    return splits


def _summary(rows, kind):
    "One row per shape: means, and how much more log loss than the best."
    import pandas as pd

    values = np.array([[row[name] for name in SHAPES] for row in rows])  # (splits, shapes, scores)
    mean = values.mean(axis=0)
    table = pd.DataFrame(mean, columns=["agreement", "loss", "ties"])
    table.insert(0, "held_out", kind)
    table.insert(0, "title", [title for title, _ in SHAPES.values()])
    table.insert(0, "shape", list(SHAPES))
    loss = values[:, :, 1]
    worse = loss - loss[:, [int(mean[:, 1].argmin())]]
    table["worse"] = worse.mean(axis=0)
    table["worse_low"], table["worse_high"] = corrected_resampled_interval(worse, 0.25, error=0.1)
    return table


def _simplest(table):
    "The first shape whose log loss is not surely higher than that of the best."
    return table["shape"][table.worse_low <= 0].iloc[0]


def _sentence(table, shape):
    "What the shape means, and how sure that is."
    best = table.loc[table.loss.idxmin()]
    said = f"{SHAPES[shape][1]}.".capitalize()
    if best["shape"] == shape:
        return said
    return f"{said} (The lowest log loss is that of {best.title}, but the difference may be chance.)"
