"""Additive trees by penalised maximum likelihood: statements, path designs, lengths by Newton, interchanges.

An unrooted binary tree over N leaves is an array `parent` of 2N − 2 entries, rooted at leaf 0: node v < N is leaf v,
and edge v − 1 joins node v to parent[v]. Several trees are a list of such arrays; their edges follow each other.
"""

from dataclasses import dataclass

import numpy as np

from .compat import bincount

MIN_CURVATURE = 1e-6  # of a statement in the quadratic model: far from its decision boundary it has almost none
MAX_NEWTON, MAX_SWEEPS = 50, 200
TOLERANCE = 1e-4  # of the objective, between Newton steps


@dataclass(frozen=True)
class Statements:
    """What was said, as margins: a statement holds with probability 1 / (1 + Σ exp(−margin)) over its alternatives.

    A contrast is a pair of pairs; its margin is the distance of the second pair minus that of the first.
    """

    n_objects: int
    pairs: np.ndarray  # (C, 4): contrast c compares pair (0, 1) with pair (2, 3)
    contrast: np.ndarray  # (M, A): the contrast of each alternative of a statement; A is 1 or 2
    sign: np.ndarray  # (M, A): +1 where the first pair of the contrast was called the closer
    count: np.ndarray  # (M,): how often it was said

    def loss(self, margin):
        "(−log-likelihood, minus its gradient (C,), a bound of its curvature (C,)) at these margins of the contrasts."
        n_contrasts = len(self.pairs)
        u = self.sign * margin[self.contrast]
        top = np.maximum(0, (-u).max(axis=1))
        odds = np.exp(-u - top[:, None])
        total = np.exp(-top) + odds.sum(axis=1)
        p = odds / total[:, None]  # of what was not said
        value = float(self.count @ (top + np.log(total)))
        slope = (self.count[:, None] * self.sign * p).ravel()
        bound = (self.count[:, None] * p * (1 - 2 * p + p.sum(axis=1, keepdims=True))).ravel()
        index = self.contrast.ravel()
        curvature = bincount(index, bound, n_contrasts)
        floor = MIN_CURVATURE * bincount(index, np.repeat(self.count, self.sign.shape[1]), n_contrasts)
        return value, bincount(index, slope, n_contrasts), np.maximum(curvature, floor)

    def take(self, rows):
        "Some of the statements; the contrasts stay."
        return Statements(self.n_objects, self.pairs, self.contrast[rows], self.sign[rows], self.count[rows])


def statements_of(closer, farther, n_objects, count=None):
    """Statements that pair `closer` (M, 2) is closer than each of `farther` (M, A, 2); equal ones are added up.

    Returns the statements and, for each of the M rows, the number of its statement.
    """
    n, size = n_objects, n_objects * n_objects
    closer = np.sort(np.asarray(closer, dtype=np.int64), axis=-1)
    farther = np.sort(np.asarray(farther, dtype=np.int64), axis=-1)
    one, other = closer @ [n, 1], farther @ [n, 1]
    low, high = np.minimum(one[:, None], other), np.maximum(one[:, None], other)
    keys, contrast = np.unique(low * size + high, return_inverse=True)
    contrast, sign = contrast.reshape(other.shape), np.where(one[:, None] < other, 1, -1)
    order = np.argsort(contrast * 2 + (sign > 0), axis=1)
    coded = np.take_along_axis(contrast * 2 + (sign > 0), order, axis=1)
    distinct, number = np.unique(coded, axis=0, return_inverse=True)
    number = number.ravel()
    count = bincount(number, count, len(distinct)) if count is not None else bincount(number, minlength=len(distinct))
    first, second = np.divmod(keys, size)
    pairs = np.stack([*np.divmod(first, n), *np.divmod(second, n)], axis=1)
    signs = np.where(distinct % 2, 1.0, -1.0)
    return Statements(n, pairs, distinct // 2, signs, count.astype(float)), number


# ---- trees


def children_of(parent):
    "(2N − 2) lists of the children of each node."
    children = [[] for _ in parent]
    for node, above in enumerate(parent[1:], 1):
        children[above].append(node)
    return children


def leaves_below(parent):
    "(2N − 3, N) bool: the leaves on the far side of every edge, seen from leaf 0."
    n = len(parent) // 2 + 1
    children, order = children_of(parent), [0]
    for node in order:
        order += children[node]
    below = np.zeros((len(parent), n), dtype=bool)
    below[np.arange(n), np.arange(n)] = True
    for node in reversed(order[1:]):
        below[parent[node]] |= below[node]
    return below[1:]


def path_lengths(splits, lengths):
    "(N, N) lengths of the paths between leaves."
    sides = splits.astype(float)
    weighted = sides * lengths[:, None]
    far = weighted.sum(axis=0)
    return np.maximum(far[:, None] + far - 2 * sides.T @ weighted, 0)


def design_of(splits, pairs):
    "(E, C) float32: what a unit of each edge adds to the margin of each contrast."
    sides = splits.astype(np.int8)
    i, j, k, l = pairs.T
    return ((sides[:, k] ^ sides[:, l]) - (sides[:, i] ^ sides[:, j])).astype(np.float32)


def neighbour_joining(distances):
    "The tree of Saitou and Nei (1987) as `parent`, rooted at leaf 0."
    n = len(distances)
    D = np.zeros((2 * n - 2, 2 * n - 2))
    D[:n, :n] = distances
    active, joined = np.arange(n), []
    for new in range(n, 2 * n - 3):
        inside = D[np.ix_(active, active)]
        total = inside.sum(axis=1)
        score = (len(active) - 2) * inside - total[:, None] - total
        np.fill_diagonal(score, np.inf)
        a, b = active[list(np.unravel_index(score.argmin(), score.shape))]
        D[new, active] = D[active, new] = (D[a, active] + D[b, active] - D[a, b]) / 2
        joined += [(a, new), (b, new)]
        active = np.append(active[(active != a) & (active != b)], new)
    joined += [(node, 2 * n - 3) for node in active]
    return root_at_first(joined, 2 * n - 2)


def root_at_first(edges, n_nodes):
    "`parent` of the tree with these edges."
    beside = [[] for _ in range(n_nodes)]
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    parent, waiting = np.full(n_nodes, -1), [0]
    for node in waiting:
        for other in beside[node]:
            if other != parent[node]:
                parent[other] = node
                waiting.append(other)
    return parent


# ---- lengths of fixed trees


def descend(H, slope, start):
    "Coordinate descent on slope·d − d·H·d/2 over d ≥ −start: the step d."
    step, gradient = np.zeros(len(start)), slope.copy()
    curvature = H.diagonal() + 1e-9
    for _ in range(MAX_SWEEPS):
        largest = 0.0
        for e in range(len(start)):
            move = max(gradient[e] / curvature[e], -start[e] - step[e])
            if move:
                step[e] += move
                gradient -= H[e] * move
                largest = max(largest, move * move * curvature[e])
        if largest < 1e-8:
            break
    return step


@dataclass(frozen=True)
class Fit:
    "Trees with their best lengths."

    parents: list  # of T trees
    splits: list  # of T arrays (E, N)
    design: np.ndarray  # (T·E, C)
    lengths: np.ndarray  # (T·E,)
    objective: float  # −log-likelihood + rate · Σ lengths
    slope: np.ndarray  # (C,) minus the gradient of the loss
    curvature: np.ndarray  # (C,)
    H: np.ndarray  # (T·E, T·E) curvature of the lengths

    def distances(self):
        "(T, N, N) path lengths of each tree."
        lengths = self.lengths.reshape(len(self.parents), -1)
        return np.stack([path_lengths(*each) for each in zip(self.splits, lengths)])


def fit_lengths(statements, parents, rate, lengths=None, splits=None, design=None, max_newton=MAX_NEWTON):
    "The best lengths of these trees under an exponential prior with this rate: a convex problem, by Newton steps."
    splits = [leaves_below(parent) for parent in parents] if splits is None else splits
    if design is None:
        design = np.concatenate([design_of(each, statements.pairs) for each in splits])
    lengths = np.full(len(design), 0.3) if lengths is None else lengths
    margin = lengths.astype(np.float32) @ design
    loss, slope, curvature = statements.loss(margin)
    objective, H = loss + rate * lengths.sum(), None
    for _ in range(max_newton):
        H = (design * curvature.astype(np.float32)) @ design.T
        step = descend(H.astype(float), design @ slope - rate, lengths)
        change, size, better = step.astype(np.float32) @ design, 1.0, False
        while size > 1e-4 and not better:
            trial = np.maximum(lengths + size * step, 0)
            loss, s, c = statements.loss(margin + size * change)
            better = loss + rate * trial.sum() <= objective
            size /= 2
        if not better:
            break
        gain = objective - (loss + rate * trial.sum())
        lengths, margin, slope, curvature = trial, trial.astype(np.float32) @ design, s, c
        objective -= gain
        if gain < TOLERANCE:
            break
    return Fit(list(parents), splits, design, lengths, objective, slope, curvature, H)


# ---- nearest-neighbour interchanges


@dataclass(frozen=True)
class Interchange:
    "At inner edge `node`, its child `down` and its sibling `up` change places."

    gain: float  # of the objective, by the quadratic model of five edges
    tree: int
    node: int
    down: int
    up: int
    split: np.ndarray  # (N,) the new split of the edge
    lengths: np.ndarray  # of the edges `touched`, by the model
    touched: tuple  # nodes above whose edges the model may change; the last one is `node`


def interchanges(statements, fit, rate):
    "Every interchange that the quadratic model calls a gain, the best first."
    n_edges, moves, columns = len(fit.splits[0]), [], []
    for tree, parent in enumerate(fit.parents):
        children, below, n = children_of(parent), fit.splits[tree], statements.n_objects
        for node in range(n, 2 * n - 2):
            above = parent[node]
            if above == 0:
                continue
            (up,) = (other for other in children[above] if other != node)
            for down, stays in (children[node], children[node][::-1]):
                moves.append((tree, node, down, up, (down, stays, up, above, node)))
                columns.append(below[up - 1] | below[stays - 1])
    if not moves:
        return []
    columns = np.array(columns)
    new = design_of(columns, statements.pairs)
    weighted = new * fit.curvature.astype(np.float32)
    cross, own = weighted @ fit.design.T, np.einsum("mc,mc->m", weighted, new)
    slopes, slope = new @ fit.slope - rate, fit.design @ fit.slope - rate
    edges = np.array([[m[0] * n_edges + v - 1 for v in m[4]] for m in moves])  # (M, 5): four neighbours, then the edge
    H = np.empty((len(moves), 6, 6))
    H[:, :5, :5] = fit.H[edges[:, :, None], edges[:, None, :]]
    H[:, 5, :5] = H[:, :5, 5] = np.take_along_axis(cross, edges, axis=1)
    H[:, 5, 5] = own
    g = np.concatenate([slope[edges], slopes[:, None]], axis=1)
    start = np.concatenate([fit.lengths[edges], np.zeros((len(moves), 1))], axis=1)
    stay, go = (_small_steps(H, g, start, fixed) for fixed in (5, 4))
    gain = _model_gain(H, g, go) - _model_gain(H, g, stay)
    found = []
    for at in np.argsort(-gain):
        if gain[at] < 1e-3:
            break
        tree, node, down, up, touched = moves[at]
        lengths = (start[at] + go[at])[[0, 1, 2, 3, 5]]
        found.append(Interchange(gain[at], tree, node, down, up, columns[at], lengths, touched))
    return found


def _model_gain(H, g, d):
    return (g * d).sum(axis=1) - 0.5 * np.einsum("me,mef,mf->m", d, H, d)


def _small_steps(H, g, start, fixed):
    "Coordinate descent on many problems of six edges at once; edge `fixed` goes to length 0 and stays there."
    d = np.zeros_like(g)
    d[:, fixed] = -start[:, fixed]
    for _ in range(25):
        for e in range(6):
            if e != fixed:
                move = (g[:, e] - (H[:, e] * d).sum(axis=1)) / (H[:, e, e] + 1e-9)
                d[:, e] = np.maximum(d[:, e] + move, -start[:, e])
    return d


def apply(statements, fit, chosen, rate, max_newton=MAX_NEWTON):
    "The trees after these interchanges, which touch different edges, with their best lengths."
    n_edges = len(fit.splits[0])
    parents, splits = [parent.copy() for parent in fit.parents], [each.copy() for each in fit.splits]
    lengths = fit.lengths.copy()
    design = fit.design.copy()
    for one in chosen:
        parent = parents[one.tree]
        parent[one.down], parent[one.up] = parent[one.node], one.node
        splits[one.tree][one.node - 1] = one.split
        edges = one.tree * n_edges + np.array(one.touched) - 1
        lengths[edges] = one.lengths
        design[edges[-1]] = design_of(one.split[None], statements.pairs)[0]
    return fit_lengths(statements, parents, rate, lengths, splits, design, max_newton)


def improve(statements, fit, rate, max_rounds=100, progress=None):
    "Interchanges, many at once where they do not touch, until none of them is a gain: yields each better fit."
    for _ in range(max_rounds):
        chosen, used = [], set()
        for one in interchanges(statements, fit, rate):
            keys = {(one.tree, node) for node in (*one.touched, fit.parents[one.tree][one.touched[3]])}
            if not keys & used:
                chosen.append(one)
                used |= keys
        better = None
        while chosen and better is None:
            found = apply(statements, fit, chosen, rate)
            if found.objective < fit.objective - 1e-2:
                better = found
            chosen = chosen[: len(chosen) // 2]
        if better is None:
            return
        fit = better
        yield fit


# ---- a first tree


def distances_of_points(statements, n_dims, rng, offset=None, ridge=0.05, max_iter=150):
    "Distances of points that explain the statements, which neighbour joining makes a tree of."
    from scipy.optimize import minimize

    n, (i, j, k, l) = statements.n_objects, statements.pairs.T
    offset = 0.0 if offset is None else offset

    def value_and_gradient(flat):
        x = flat.reshape(n, n_dims)
        first, second = x[i] - x[j], x[k] - x[l]
        d1, d2 = (np.sqrt((each * each).sum(axis=1) + 1e-6) for each in (first, second))
        loss, slope, _ = statements.loss(d2 - d1 + offset)
        pull, push = (slope / d1)[:, None] * first, (-slope / d2)[:, None] * second
        gradient = np.stack(
            [
                bincount(i, a, n) - bincount(j, a, n) + bincount(k, b, n) - bincount(l, b, n)
                for a, b in zip(pull.T, push.T)
            ],
            axis=1,
        )
        return loss + ridge * (x * x).sum(), (gradient + 2 * ridge * x).ravel()

    start = rng.normal(0, 0.5, n * n_dims)
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=dict(maxiter=max_iter))
    x = found.x.reshape(n, n_dims)
    return np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
