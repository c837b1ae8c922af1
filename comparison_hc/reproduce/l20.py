"""One task with the exact loss of every mix, the average over tasks, and what was learned on held-out ones."""

import numpy as np

from ..core.compiled import compiled
from ..core.validation import check_labels, require
from ..dendrogram import Dendrogram
from ..link.execution import piecewise_loss
from ..link.learning import average_loss
from ..link.losses import PiecewiseLoss, widest_interval
from ..metrics import pruning_loss
from .l20_tasks import linkage_task
from .simulation import MIXES


@compiled
def _merge_by_chain(near, far, x, is_average, merges, heights):
    "Fill merges (n − 1, 2) with slots, the second stays, and their heights; near and far, both (n, n), are used up."
    n, length = len(near), 0
    sizes, chain, slots = np.ones(n), np.empty(n, dtype=np.int64), np.arange(n)
    for t in range(n - 1):
        m = n - t
        if length == 0:
            chain[0], length = slots[0], 1
        while True:
            i = chain[length - 1]
            j = chain[length - 2] if length > 1 else -1
            least = (1 - x) * near[i, j] + x * far[i, j] if length > 1 else np.inf
            for k in slots[:m]:
                d = (1 - x) * near[i, k] + x * far[i, k]
                if d < least and k != i:
                    j, least = k, d
            if length > 1 and j == chain[length - 2]:
                break
            chain[length] = j
            length += 1
        length -= 2
        merges[t, 0], merges[t, 1], heights[t] = i, j, least
        for p in range(m):
            if slots[p] == i:
                slots[p], slots[m - 1] = slots[m - 1], i
                break
        for k in slots[: m - 1]:
            if k != j:
                far[j, k] = far[k, j] = max(far[i, k], far[j, k])
                if is_average:
                    near[j, k] = (sizes[i] * near[i, k] + sizes[j] * near[j, k]) / (sizes[i] + sizes[j])
                else:
                    near[j, k] = min(near[i, k], near[j, k])
                near[k, j] = near[j, k]
        sizes[j] += sizes[i]


def chain_linkage(D, alpha, first="single"):
    "The tree of `alpha_linkage`, where no two distances are alike, by a chain of nearest neighbours. O(n²)."
    D = np.asarray(D, dtype=float)
    merges, heights = np.empty((len(D) - 1, 2), dtype=np.int64), np.empty(len(D) - 1)
    _merge_by_chain(D.copy(), D.copy(), alpha, first == "average", merges, heights)
    node, joined = np.arange(len(D)), []
    for i, j in merges[np.argsort(heights, kind="stable")].tolist():
        joined.append(sorted((node[i], node[j])))
        node[j] = len(D) - 1 + len(joined)
    return Dendrogram.from_merges(np.array(joined))


N_VALUES = 51  # of α at which the loss of a large task is taken


def sampled_loss(D, labels, first="single"):
    "The loss between this and complete linkage at 0, 0.02, …, 1."
    values = np.arange(N_VALUES) / (N_VALUES - 1)
    losses = [pruning_loss(chain_linkage(D, x, first), labels) for x in values.tolist()]
    ends = [0, *((values[1:] + values[:-1]) / 2).tolist(), 1]
    return PiecewiseLoss(np.array(ends), np.array(losses), N_VALUES)


def _row(curve, labels):
    "The exact loss curve of a task as plain values."
    simple = curve.simplified()
    return dict(
        n=len(labels),
        k=len(np.unique(labels)),
        pieces=len(curve.values),
        begins=tuple(simple.breakpoints[:-1].tolist()),
        losses=tuple(simple.values.tolist()),
    )


MOST_EXACT = 500  # points; of larger tasks the loss is sampled


def merge_family_run(dataset, per_class, instance, rng):
    "One task of L20's figure 2: the loss of every mix, or of 51 mixes of a task of more than 500 points."
    distances, labels = linkage_task(dataset, per_class, rng)
    rows = []
    for metric, D in distances.items():
        for family, merges in MIXES.items():
            is_exact = len(labels) <= MOST_EXACT
            curve = piecewise_loss(D, labels, merges) if is_exact else sampled_loss(D, labels, merges[0])
            rows.append(dict(metric=metric, family=family, **_row(curve, labels)))
    return rows


def metric_family_run(per_class, instance, rng):
    "One task of L20's figure 3: complete linkage between strokes (β = 0) and the network's features (β = 1)."
    distances, labels = linkage_task("Omniglot", per_class, rng)
    curve = piecewise_loss((distances["strokes"], distances["network"]), labels)
    return dict(family="strokes–network", **_row(curve, labels))


def flat_cut_loss(dendrogram, labels):
    "What `pruning_loss` is for the flat cut into as many clusters as classes: the share of objects in a wrong cluster."
    from scipy.optimize import linear_sum_assignment

    codes = check_labels(labels, len(labels))
    k = int(codes.max()) + 1
    together = np.zeros((k, k), dtype=np.int64)
    np.add.at(together, (dendrogram.cut(k), codes), 1)
    return 1 - together[linear_sum_assignment(-together)].sum() / len(codes)


def flat_cut_run(per_class, instance, rng):
    "A task of figure 3, judged by the best pruning (as in the paper) and by the flat cut."
    distances, labels = linkage_task("Omniglot", per_class, rng)
    both, rows = (distances["strokes"], distances["network"]), []
    for name, loss in {"best pruning": "pruning", "flat cut": flat_cut_loss}.items():
        row = _row(piecewise_loss(both, labels, loss=loss), labels)
        rows.append(dict(dataset="Omniglot", metric=name, family="strokes–network", **row))
    return rows


def held_out(curves):
    "Learn on every other task, judge on the rest, and the other way round."
    losses, learned = np.empty(len(curves)), []
    for part in (0, 1):
        learned.append(sum(widest_interval(average_loss(curves[1 - part :: 2]).best()[1])) / 2)
        losses[part::2] = [float(curve(learned[-1])) for curve in curves[part::2]]
    return (min(learned), max(learned)), losses


_GRID = np.arange(101) / 100


def _curves(group):
    "The exact loss curves of the runs of a family."
    stretches = zip(group["begins"], group["losses"])
    return [PiecewiseLoss(np.append(begins, 1.0), np.array(losses, dtype=float), 1) for begins, losses in stretches]


def _best_end(families):
    "(N,) losses of the end, of any family, with the least average."
    ends = [np.array([float(curve(x)) for curve in curves]) for curves in families for x in (0, 1)]
    return min(ends, key=np.mean)


def _standard_error(values):
    "Of their mean."
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _summary_rows(curves, base):
    "Rows (point, low, high, loss, se, gain, gain_se) of one family; base as from `_best_end`."
    interval = widest_interval(average_loss(curves).best()[1])
    learned, losses = held_out(curves)
    on_grid = np.array([curve(_GRID) for curve in curves])
    best = np.array([float(curve(sum(interval) / 2)) for curve in curves])
    points = [("curve", x, x, on_grid[:, i]) for i, x in enumerate(_GRID)]
    points += [("best", *interval, best), ("held out", *learned, losses)]
    return [
        dict(
            point=point,
            low=low,
            high=high,
            loss=values.mean(),
            se=_standard_error(values),
            gain=(base - values).mean(),
            gain_se=_standard_error(base - values),
        )
        for point, low, high, values in points
    ]


def loss_summary(table):
    "The average loss curve, its best interval, and what was learned on held-out tasks."
    from pandas import DataFrame

    names = [name for name in ("dataset", "per_class", "metric") if name in table]
    rows = []
    for key, kind in table.groupby(names, sort=False):
        what = dict(zip(names, key))
        require(kind["instance"].nunique() >= 2, "table", "about at least two tasks of each kind", what)
        groups = dict(tuple(kind.groupby("family", sort=False)))
        curves = {family: _curves(group) for family, group in groups.items()}
        base = _best_end(curves.values())
        for family, group in groups.items():
            sizes = dict(instances=len(group), n=group["n"].mean(), pieces=group["pieces"].mean())
            rows += [{**what, "family": family, **sizes, **row} for row in _summary_rows(curves[family], base)]
    return DataFrame(rows)
