"""Additive trees by penalised maximum likelihood: outcomes, paths, lengths, interchanges, and subtrees that move.

An unrooted binary tree over N leaves is an array `parent` of 2N − 2 entries, rooted at leaf 0: node v < N is leaf v,
and edge v − 1 joins node v to parent[v]. Several trees are a list of such arrays; their edges follow each other.
"""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from .compat import bincount

MIN_CURVATURE = 1e-6  # of an outcome in the quadratic model: far from its decision boundary it has almost none
MAX_NEWTON, MAX_PIVOTS = 50, 100
LEAST_GAIN = 1e-3  # by the quadratic model, of a move that is tried
MAX_ROUNDS = 300  # of the search
REACH = 10  # edges from where a subtree is cut off to where it may move
N_TRIES = 5  # of moves of subtrees, before the search ends
TOLERANCE = 1e-4  # of the objective, between Newton steps
FIRST_RATE = 3.0  # of the prior, before held-out outcomes choose
N_STARTS, ROUGH = 3, 6000  # fits of several trees from random trees, to so many distinct outcomes at most


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of comparisons; one has probability 1 / (1 + Σ exp(−margin)), the sum over its alternatives.

    A contrast is a pair of pairs; its margin is the distance of the second pair minus that of the first. A share of
    the answers, the lapses, has nothing to do with the question: all alternatives are then equally probable.
    """

    n_objects: int
    pairs: np.ndarray  # (P, 2) objects
    contrasts: np.ndarray  # (C, 2) numbers of two pairs
    alternatives: np.ndarray  # (M, A): the contrast of each alternative of an outcome; A is 1 or 2
    sign: np.ndarray  # (M, A): +1 where the first pair of the contrast was called the closer
    count: np.ndarray  # (M,): how often it was observed
    question: np.ndarray  # (M,): equal where the same pairs were compared, whatever the outcome
    lapse: float = 0.0  # share of lapses

    def margins(self, distances):
        "(C,) from the distances of the pairs (P,)."
        return distances[self.contrasts[:, 1]] - distances[self.contrasts[:, 0]]

    def losses(self, margin):
        "(M,) −log-likelihood of each outcome at these margins of the contrasts."
        u = self.sign * margin[self.alternatives]
        return self._with_lapses(np.logaddexp(0, np.logaddexp.reduce(-u, axis=1)))[0]

    def _with_lapses(self, losses):
        "(−log-likelihoods (M,), probabilities that they are no lapses), from the −log-likelihoods without lapses."
        if not self.lapse:
            return losses, 1.0
        meant = (1 - self.lapse) * np.exp(-losses)
        total = meant + self.lapse / (1 + self.sign.shape[1])
        return -np.log(total), meant / total

    def loss(self, margin):
        "(−log-likelihood, minus its gradient (C,), a bound of its curvature (C,)) at these margins of the contrasts."
        n_contrasts = len(self.contrasts)
        u = self.sign * margin[self.alternatives]
        top = np.maximum(0, (-u).max(axis=1))
        odds = np.exp(-u - top[:, None])
        total = np.exp(-top) + odds.sum(axis=1)
        p = odds / total[:, None]  # of the alternatives
        losses, meant = self._with_lapses(top + np.log(total))
        value, weight = float(self.count @ losses), (self.count * meant)[:, None]
        slope = (weight * self.sign * p).ravel()
        bound = weight * np.maximum(p * (1 - 2 * p + p.sum(axis=1, keepdims=True)), MIN_CURVATURE)
        index = self.alternatives.ravel()
        return value, bincount(index, slope, n_contrasts), bincount(index, bound.ravel(), n_contrasts)

    def by_pair(self, slope):
        "(P,) what contrasts (C,) add up to at their pairs."
        first, second = self.contrasts.T
        return bincount(second, slope, len(self.pairs)) - bincount(first, slope, len(self.pairs))

    def take(self, rows, count=None):
        "Some of the outcomes, with these counts; the contrasts stay."
        fields = {name: getattr(self, name)[rows] for name in ("alternatives", "sign", "count", "question")}
        return replace(self, **(fields if count is None else fields | {"count": count}))

    def compact(self):
        "The same outcomes without the contrasts and pairs that none of them has."
        used, alternatives = np.unique(self.alternatives, return_inverse=True)
        kept, contrasts = np.unique(self.contrasts[used], return_inverse=True)
        alternatives = alternatives.reshape(self.alternatives.shape)
        return replace(self, pairs=self.pairs[kept], contrasts=contrasts.reshape(-1, 2), alternatives=alternatives)


def outcomes_of(closer, farther, n_objects, count=None):
    """Outcomes that pair `closer` (M, 2) is closer than each of `farther` (M, A, 2); equal ones are added up.

    Returns the outcomes and, for each of the M rows, the number of its outcome.
    """
    closer = np.sort(np.asarray(closer, dtype=np.int64), axis=-1)
    farther = np.sort(np.asarray(farther, dtype=np.int64), axis=-1)
    coded = np.concatenate([closer[:, None], farther], axis=1) @ [n_objects, 1]
    keys, pair = np.unique(coded, return_inverse=True)
    pair = pair.reshape(coded.shape)
    question = np.unique(np.sort(pair, axis=1), axis=0, return_inverse=True)[1].ravel()
    one, other, size = pair[:, :1], pair[:, 1:], len(keys)
    contrast_keys, contrast = np.unique(np.minimum(one, other) * size + np.maximum(one, other), return_inverse=True)
    coded = np.sort(contrast.reshape(other.shape) * 2 + (one < other), axis=1)
    distinct, row, number = np.unique(coded, axis=0, return_index=True, return_inverse=True)
    number = number.ravel()
    count = bincount(number, count, len(distinct)) if count is not None else bincount(number, minlength=len(distinct))
    pairs = np.stack(np.divmod(keys, n_objects), axis=1)
    contrasts = np.stack(np.divmod(contrast_keys, size), axis=1)
    signs = np.where(distinct % 2, 1.0, -1.0)
    made = Outcomes(n_objects, pairs, contrasts, distinct // 2, signs, count.astype(float), question[row])
    return made, number


# ---- trees


def children_of(parent):
    "(2N − 2) lists of the children of each node."
    children = [[] for _ in parent]
    for node, above in enumerate(parent[1:], 1):
        children[above].append(node)
    return children


def from_the_root(children):
    "All nodes, each after its parent."
    order = [0]
    for node in order:
        order += children[node]
    return order


def leaves_below(parent):
    "(2N − 3, N) bool: the leaves on the far side of every edge, seen from leaf 0."
    n = len(parent) // 2 + 1
    below = np.zeros((len(parent), n), dtype=bool)
    below[np.arange(n), np.arange(n)] = True
    for node in reversed(from_the_root(children_of(parent))[1:]):
        below[parent[node]] |= below[node]
    return below[1:]


def path_lengths(splits, lengths):
    "(N, N) lengths of the paths between leaves."
    sides = splits.astype(float)
    weighted = sides * lengths[:, None]
    far = weighted.sum(axis=0)
    return np.maximum(far[:, None] + far - 2 * sides.T @ weighted, 0)


def edges_above(parent):
    "(2N − 2, 2N − 3) bool: the edges between each node and the root."
    above = np.zeros((len(parent), len(parent) - 1), dtype=bool)
    for node in from_the_root(children_of(parent))[1:]:
        above[node] = above[parent[node]]
        above[node, node - 1] = True
    return above


def common_ancestors(parent, splits):
    "(N, N) the last common node on the ways from leaf 0 to two leaves."
    n, found = splits.shape[1], np.zeros((splits.shape[1],) * 2, dtype=np.intp)
    for node, children in enumerate(children_of(parent)):
        if node >= n:
            one, other = (np.flatnonzero(splits[child - 1]) for child in children)
            found[one[:, None], other] = node
            found[other[:, None], one] = node
    found[np.arange(n), np.arange(n)] = np.arange(n)
    return found


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


class Paths:
    """The paths between the pairs of outcomes: a pair's distance is depth(i) + depth(j) − 2 depth(their ancestor).

    Sums over paths are therefore sums over three nodes, carried to the edges above each node: no matrix of answers
    times edges is needed.
    """

    def __init__(self, parents, splits, pairs):
        i, j = pairs.T
        self.nodes = [[i, j, common_ancestors(*tree)[i, j]] for tree in zip(parents, splits)]  # T times 3 of (P,)
        self.above = [edges_above(parent).astype(float) for parent in parents]
        self.n_edges = len(parents[0]) - 1

    SHARE = 1.0, 1.0, -2.0  # of the three nodes in a distance

    def distances(self, lengths):
        "(P,) at these lengths of the edges of all trees."
        total = 0
        for nodes, above, own in zip(self.nodes, self.above, lengths.reshape(-1, self.n_edges)):
            depth = above @ own
            total = total + sum(share * depth[at] for share, at in zip(self.SHARE, nodes))
        return total

    def to_edges(self, values):
        "(T·E,): for each edge, the sum of the values (P,) of the pairs whose path it is on."
        found = []
        for nodes, above in zip(self.nodes, self.above):
            found.append(sum(share * bincount(at, values, len(above)) for share, at in zip(self.SHARE, nodes)) @ above)
        return np.concatenate(found)

    def curvature(self, contrasts, weights):
        "(T·E, T·E): Σ weights · x xᵀ over contrasts, x what a unit of each edge adds to the margin."
        first, second = contrasts.T
        n_pairs, n_nodes, n_trees = len(self.nodes[0][0]), self.n_edges + 1, len(self.nodes)
        own = bincount(first, weights, n_pairs) + bincount(second, weights, n_pairs)
        H = np.empty((n_trees, self.n_edges, n_trees, self.n_edges))
        for a in range(n_trees):
            for b in range(a + 1):
                between = np.zeros(n_nodes * n_nodes)
                for (share, one), (other_share, other) in product(
                    zip(self.SHARE, self.nodes[a]), zip(self.SHARE, self.nodes[b])
                ):
                    scale, row = share * other_share, one * n_nodes
                    between += bincount(row + other, scale * own, len(between))
                    between -= bincount(row[first] + other[second], scale * weights, len(between))
                    between -= bincount(row[second] + other[first], scale * weights, len(between))
                H[a, :, b] = self.above[a].T @ between.reshape(n_nodes, n_nodes) @ self.above[b]
                H[b, :, a] = H[a, :, b].T
        return H.reshape(n_trees * self.n_edges, -1)


def best_step(H, slope, start):
    """The d ≥ −start that maximises slope·d − d·H·d/2, by block principal pivoting (Júdice and Pires 1994).

    Edges are free or end at length 0. All that are on the wrong side change sides at once; where that does not lower
    their number in three attempts, only the last of them does, which cannot cycle.
    """
    from scipy.linalg import cho_factor, cho_solve

    H = H + np.diag(np.full(len(H), 1e-9 * max(H.diagonal().max(), 1)))
    free, fewest, attempts = (start > 0) | (slope > 0), len(start) + 1, 3
    for _ in range(MAX_PIVOTS):
        d = -start
        inside = np.flatnonzero(free)
        fixed = slope - H[:, ~free] @ d[~free]
        if len(inside):
            d[inside] = cho_solve(cho_factor(H[np.ix_(inside, inside)]), fixed[inside])
        uphill = fixed - H[:, inside] @ d[inside]
        wrong = np.flatnonzero(np.where(free, start + d < -1e-12, uphill > 1e-9))
        if not len(wrong):
            break
        if len(wrong) < fewest:
            fewest, attempts = len(wrong), 3
        else:
            attempts -= 1
        free[wrong if attempts > 0 else wrong[-1:]] ^= True
    return np.maximum(d, -start)


@dataclass(frozen=True)
class Fit:
    "Trees with their best lengths."

    parents: list  # of T trees
    splits: list  # of T arrays (E, N)
    lengths: np.ndarray  # (T·E,)
    objective: float  # −log-likelihood + rate · Σ lengths
    margin: np.ndarray  # (C,) of the contrasts
    slope: np.ndarray  # (C,) minus the gradient of the loss
    curvature: np.ndarray  # (C,)

    def distances(self):
        "(T, N, N) path lengths of each tree."
        lengths = self.lengths.reshape(len(self.parents), -1)
        return np.stack([path_lengths(*each) for each in zip(self.splits, lengths)])


def fit_lengths(outcomes, parents, rate, lengths=None, splits=None, precision=None, max_newton=MAX_NEWTON):
    """The best lengths of these trees under an exponential prior with this rate, by Newton steps.

    Without lapses this is a convex problem; with lapses the lengths may be a local optimum.

    With a precision (T·E, T·E), the prior is instead normal around the lengths that the search starts from.
    """
    splits = [leaves_below(parent) for parent in parents] if splits is None else splits
    paths = Paths(parents, splits, outcomes.pairs)
    lengths = np.full(len(parents) * paths.n_edges, 0.3) if lengths is None else lengths
    margin = outcomes.margins(paths.distances(lengths))
    pull = np.zeros((len(lengths),) * 2) if precision is None else precision
    start = lengths

    def penalty(lengths):
        away = lengths - start
        return rate * lengths.sum() + away @ pull @ away / 2

    loss, slope, curvature = outcomes.loss(margin)
    objective = loss + penalty(lengths)
    for _ in range(max_newton):
        H = paths.curvature(outcomes.contrasts, curvature) + pull
        step = best_step(H, paths.to_edges(outcomes.by_pair(slope)) - rate - pull @ (lengths - start), lengths)
        change, size, better = outcomes.margins(paths.distances(step)), 2.0, False
        while size > 1e-4 and not better:
            size /= 2
            trial = np.maximum(lengths + size * step, 0)
            loss, s, c = outcomes.loss(margin + size * change)
            better = loss + penalty(trial) <= objective
        if not better:
            break
        gain = objective - (loss + penalty(trial))
        lengths, margin, slope, curvature = trial, margin + size * change, s, c
        objective -= gain
        if gain < TOLERANCE:
            break
    return Fit(list(parents), splits, lengths, objective, margin, slope, curvature)


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


def _quartet_margins():
    "(256, 7): what a unit of the branches A, B, C, D, AB|CD, AC|BD, AD|BC adds to a margin; see `quartet_sums`."
    sides = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    i, j, k, l = np.unravel_index(np.arange(256), (4, 4, 4, 4))
    return ((sides[:, k] != sides[:, l]).astype(float) - (sides[:, i] != sides[:, j])).T


def quartet_sums(outcomes, groups, slope, curvature):
    """(slopes (7,), curvature (7, 7)) of the seven branches that can join four groups of leaves.

    A margin depends on those branches only through the groups (N,) of its four objects: 256 sums say everything.
    """
    pair = groups[outcomes.pairs[:, 0]] * 4 + groups[outcomes.pairs[:, 1]]
    code = (pair[outcomes.contrasts[:, 0]] * 16 + pair[outcomes.contrasts[:, 1]]).astype(np.intp)
    weighted = QUARTET * bincount(code, curvature, 256)[:, None]
    return QUARTET.T @ bincount(code, slope, 256), QUARTET.T @ weighted


QUARTET = _quartet_margins()


def inner_edges(parent):
    "(node, its children, its sibling, its parent) of every inner edge."
    children, n = children_of(parent), len(parent) // 2 + 1
    for node in range(n, len(parent)):
        above = parent[node]
        if above:
            (up,) = (other for other in children[above] if other != node)
            yield node, children[node], up, above


def groups_of(below, node, down, up):
    "(N,) uint8: leaves below one child of the node, below the other, below its sibling, and the rest."
    groups = np.full(below.shape[1], 3, dtype=np.uint8)
    groups[below[node - 1]] = 1
    groups[below[down - 1]] = 0
    groups[below[up - 1]] = 2
    return groups


def ends_of_swap(parent, one):
    "The nodes above whose edges this interchange changes something, and the one above them."
    return (*one.touched, parent[one.touched[3]])


def interchanges(outcomes, fit, rate):
    "Every interchange that the quadratic model calls a gain, the best first."
    moves, slopes, curvatures = [], [], []
    for tree, parent in enumerate(fit.parents):
        below = fit.splits[tree]
        for node, (a, b), up, above in inner_edges(parent):
            g, H = quartet_sums(outcomes, groups_of(below, node, a, up), fit.slope, fit.curvature)
            for down, stays, new in ((b, a, 5), (a, b, 6)):  # AC|BD or AD|BC
                at = [0, 1, 2, 3, 4, new] if down == b else [1, 0, 2, 3, 4, new]
                moves.append((tree, node, down, up, (stays, down, up, above, node)))
                slopes.append(g[at] - rate)
                curvatures.append(H[np.ix_(at, at)])
    if not moves:
        return []
    n_edges = len(fit.splits[0])
    edges = np.array([[m[0] * n_edges + v - 1 for v in m[4]] for m in moves])  # (M, 5): four neighbours, then the edge
    g, H = np.array(slopes), np.array(curvatures)
    start = np.concatenate([fit.lengths[edges], np.zeros((len(moves), 1))], axis=1)
    stay, go = (_small_steps(H, g, start, fixed) for fixed in (5, 4))
    gain = _model_gain(H, g, go) - _model_gain(H, g, stay)
    found = []
    for at in np.argsort(-gain, kind="stable"):
        if gain[at] < LEAST_GAIN:
            break
        tree, node, down, up, touched = moves[at]
        below = fit.splits[tree]
        lengths = (start[at] + go[at])[[0, 1, 2, 3, 5]]
        split = below[up - 1] | below[touched[0] - 1]
        found.append(Interchange(gain[at], tree, node, down, up, split, lengths, touched))
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


def apply_interchanges(outcomes, fit, chosen, rate):
    "The trees after these interchanges, which touch different edges, with their best lengths."
    n_edges = len(fit.splits[0])
    parents, splits = [parent.copy() for parent in fit.parents], [each.copy() for each in fit.splits]
    lengths = fit.lengths.copy()
    for one in chosen:
        parent = parents[one.tree]
        parent[one.down], parent[one.up] = parent[one.node], one.node
        splits[one.tree][one.node - 1] = one.split
        lengths[one.tree * n_edges + np.array(one.touched) - 1] = one.lengths
    return fit_lengths(outcomes, parents, rate, lengths, splits)


# ---- subtrees that move


@dataclass(frozen=True)
class Regraft:
    "What is on one side of an edge moves, with the edge, to another edge."

    gain: float  # of the objective, by the quadratic model of two numbers: `at` and `change`
    tree: int
    edge: int
    top: int  # the end of the edge at which it is cut off
    target: int
    at: float  # where on the target, as a share of its length from its upper end
    change: float  # of the length of the edge


def node_distances(parent, lengths):
    "(2N − 2, 2N − 2) lengths of the paths between nodes."
    above = edges_above(parent).astype(float)
    depth = above @ lengths
    return depth[:, None] + depth - 2 * (above * lengths) @ above.T


def crossing_sums(outcomes, fit, inside):
    """(slopes (R,), curvature (R, R)) of the distances from what is inside (N,) to each of the R leaves outside.

    Where what is inside moves as a whole, a margin depends on the new place only through the leaves outside that its
    two pairs have, if they cross: sums by such leaves say everything.
    """
    n, (i, j) = len(inside), outcomes.pairs.T
    out = np.where(inside[i] == inside[j], n, np.where(inside[i], j, i))  # n where the pair does not cross
    first, second = out[outcomes.contrasts[:, 0]], out[outcomes.contrasts[:, 1]]
    g = bincount(out, outcomes.by_pair(fit.slope), n + 1)
    between = bincount(first * (n + 1) + second, fit.curvature, (n + 1) ** 2).reshape(n + 1, n + 1)
    H = np.diag(between.sum(axis=0) + between.sum(axis=1)) - between - between.T
    rest = np.flatnonzero(~inside)
    return g[rest], H[np.ix_(rest, rest)]


def regrafts(outcomes, fit, rate):
    "For each end of each edge the best place by the quadratic model, if that is a gain; the best first."
    found = []
    n_edges = len(fit.splits[0])
    for tree, (parent, below) in enumerate(zip(fit.parents, fit.splits)):
        lengths = fit.lengths[tree * n_edges : (tree + 1) * n_edges]
        apart, beneath = node_distances(parent, lengths), edges_above(parent)[1:].T  # (edge, edges beneath it, and it)
        near = node_distances(parent, np.ones(n_edges)) <= REACH
        upper, lower = parent[1:], np.arange(1, len(parent))
        for edge, far in product(range(n_edges), (True, False)):
            top = upper[edge] if far else lower[edge]
            stays = (beneath[edge] != far) & (upper != top) & (lower != top) & near[top, upper]
            stays[edge] = False
            targets = np.flatnonzero(stays)
            if top < outcomes.n_objects or not len(targets):
                continue
            inside = below[edge] == far
            g, H = crossing_sums(outcomes, fit, inside)
            far_side, size, to_leaves = below[targets][:, ~inside], lengths[targets, None], apart[:, : len(inside)]
            ends = to_leaves[lower[targets]] + size, to_leaves[upper[targets]]
            change = np.where(far_side, *(each[:, ~inside] for each in ends)) - to_leaves[top, ~inside]
            gain, at, longer = _best_places(g, H, change, np.where(far_side, -size, size), lengths[edge], rate)
            best = gain.argmax()
            if gain[best] > LEAST_GAIN:
                found.append(Regraft(gain[best], tree, edge, top, targets[best], at[best], longer[best]))
    return sorted(found, key=lambda one: -one.gain)


def _best_places(g, H, change, along, length, rate):
    "(gain, share of the target, change of the length ≥ −length) where distances grow by change + share · along."
    Hc, Ha, H1 = change @ H, along @ H, H.sum(axis=1)
    cc, ca, aa = ((each * other).sum(axis=1) for each, other in ((Hc, change), (Hc, along), (Ha, along)))
    c1, a1, one = change @ H1, along @ H1, H1.sum()
    g_a, g_1 = along @ g, g.sum() - rate
    share, longer = np.full(len(change), 0.5), np.zeros(len(change))
    for _ in range(6):
        share = np.clip((g_a - ca - longer * a1) / (aa + 1e-9), 0, 1)
        longer = np.maximum((g_1 - c1 - share * a1) / (one + 1e-9), -length)
    bend = cc + share**2 * aa + longer**2 * one + 2 * (share * ca + longer * c1 + share * longer * a1)
    gain = change @ g + share * g_a + longer * g_1 - bend / 2
    return gain, share, longer


def ends_of(parent, one):
    "The ends of the edges that this move changes, and of those beside them."
    lower = np.array([one.edge, one.target]) + 1
    return (one.top, *np.flatnonzero(parent == one.top), parent[one.top], *lower, *parent[lower])


def transplanted(fit, chosen):
    "(trees, lengths) after these moves, which touch different edges; None if a cycle comes of them."
    n_edges = len(fit.splits[0])
    edges = [np.stack([np.arange(1, n_edges + 1), parent[1:]], axis=1) for parent in fit.parents]
    lengths = fit.lengths.copy().reshape(len(edges), n_edges)
    for one in chosen:
        ends, size = edges[one.tree], lengths[one.tree]
        first, second = (each for each in np.flatnonzero((ends == one.top).any(axis=1)) if each != one.edge)
        ends[first] = ends[[first, second]].sum(axis=1) - one.top  # the two edges at the cut become one
        size[first] += size[second]
        low, high = ends[one.target]
        ends[one.target], ends[second] = (one.top, high), (low, one.top)
        size[second] = (1 - one.at) * size[one.target]
        size[one.target] *= one.at
        size[one.edge] += one.change
    parents = [root_at_first(each, n_edges + 1) for each in edges]
    if any((parent[1:] < 0).any() for parent in parents):
        return None
    for parent, ends, size in zip(parents, edges, lengths):
        below = np.where(parent[ends[:, 0]] == ends[:, 1], *ends.T)
        size[below - 1] = size.copy()
    return parents, np.maximum(lengths.ravel(), 0)


def apply_regrafts(outcomes, fit, chosen, rate):
    "The trees after these moves with their best lengths, or None."
    moved = transplanted(fit, chosen)
    return None if moved is None else fit_lengths(outcomes, moved[0], rate, moved[1])


# ---- the search


def compatible(fit, moves, ends_of):
    "Of these moves, the best first, those that touch no edge of a better one."
    chosen, used = [], set()
    for one in moves:
        keys = {(one.tree, node) for node in ends_of(fit.parents[one.tree], one)}
        if not keys & used:
            chosen.append(one)
            used |= keys
    return chosen


def better_fit(outcomes, fit, moves, ends_of, moved, rate, n_tries):
    "The fit after as many moves as lower the objective together, or one of the best `n_tries`; None if none does."
    for at in range(min(n_tries, len(moves))):
        chosen = compatible(fit, moves[at:], ends_of)
        while chosen:
            found = moved(outcomes, fit, chosen, rate)
            if found is not None and found.objective < fit.objective - 1e-2:
                return found
            chosen = chosen[: len(chosen) // 2]
    return None


def improve(outcomes, fit, rate, regraft=True):
    "Interchanges, and where none is a gain subtrees that move, many at once: yields each better fit."
    for _ in range(MAX_ROUNDS):
        swaps = interchanges(outcomes, fit, rate)
        better = better_fit(outcomes, fit, swaps, ends_of_swap, apply_interchanges, rate, 1)
        if better is None and regraft:
            moves = regrafts(outcomes, fit, rate)
            better = better_fit(outcomes, fit, moves, ends_of, apply_regrafts, rate, N_TRIES)
        if better is None:
            return
        fit = better
        yield fit


# ---- a first tree


def distances_of_points(outcomes, n_dims, rng, offset=0.0, ridge=0.05, max_iter=150):
    "Distances of points that explain the outcomes, which neighbour joining makes a tree of."
    from scipy.optimize import minimize

    n, (i, j) = outcomes.n_objects, outcomes.pairs.T

    def value_and_gradient(flat):
        x = flat.reshape(n, n_dims)
        apart = x[i] - x[j]
        d = np.sqrt((apart * apart).sum(axis=1) + 1e-6)
        loss, slope, _ = outcomes.loss(outcomes.margins(d) + offset)
        pull = (-outcomes.by_pair(slope) / d)[:, None] * apart
        gradient = np.stack([bincount(i, a, n) - bincount(j, a, n) for a in pull.T], axis=1)
        return loss + ridge * (x * x).sum(), (gradient + 2 * ridge * x).ravel()

    start = rng.normal(0, 0.5, n * n_dims)
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=dict(maxiter=max_iter))
    x = found.x.reshape(n, n_dims)
    return np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))


# ---- trees from scratch


def improved(outcomes, fit, rate, progress=None, regraft=True):
    "The fit after the search; `progress` is called after every round."
    for better in improve(outcomes, fit, rate, regraft):
        fit = better
        if progress:
            progress(fit)
    return fit


def with_new_tree(outcomes, others, rate, rng, progress=None, regraft=True):
    "The trees of `others` (a Fit or None) and one more, which starts from what they leave unexplained."
    n_dims, offset = (3, 0.0) if others is None else (2, others.margin)
    new = neighbour_joining(distances_of_points(outcomes, n_dims, rng, offset))
    if others is None:
        start = fit_lengths(outcomes, [new], rate)
    else:
        lengths = np.concatenate([others.lengths, np.full(len(new) - 1, 0.1)])
        start = fit_lengths(outcomes, [*others.parents, new], rate, lengths)
    return improved(outcomes, start, rate, progress, regraft)


def random_topology(n_leaves, rng):
    "A tree as `parent`: each leaf in turn on a random edge."
    edges = [(0, n_leaves), (1, n_leaves), (2, n_leaves)]
    for leaf in range(3, n_leaves):
        (a, b), new = edges.pop(int(rng.integers(len(edges)))), n_leaves + leaf - 2
        edges += [(a, new), (b, new), (leaf, new)]
    return root_at_first(edges, 2 * n_leaves - 2)


def from_random_trees(outcomes, found, rate, rng, progress=None, regraft=True):
    """The fit `found` of several trees, or a better one from random trees.

    Several trees have local optima that a start from one tree after the other often ends in. The random starts are
    fitted to some of the outcomes, and the best of them to all if it is better than `found` on these.
    """
    few = outcomes
    if len(outcomes.count) > ROUGH:
        few = outcomes.take(np.sort(rng.permutation(len(outcomes.count))[:ROUGH])).compact()
    tried = []
    for _ in range(N_STARTS):
        start = fit_lengths(few, [random_topology(outcomes.n_objects, rng) for _ in found.parents], rate)
        tried.append(improved(few, start, rate, progress, regraft=False))
    best = min(tried, key=lambda each: each.objective)
    if best.objective >= fit_lengths(few, found.parents, rate, found.lengths).objective:
        return found
    other = fit_lengths(outcomes, best.parents, rate, best.lengths)
    return min(found, improved(outcomes, other, rate, progress, regraft), key=lambda each: each.objective)


def grow(outcomes, n_trees, rate, rng, fit=None, progress=None, regraft=True):
    "Add trees until there are so many."
    while fit is None or len(fit.parents) < n_trees:
        fit = with_new_tree(outcomes, fit, rate, rng, progress, regraft)
        if len(fit.parents) > 1:
            fit = from_random_trees(outcomes, fit, rate, rng, progress, regraft)
    return fit


# ---- averages over fits


def averages(outcomes, n_trees, rate, rngs, progress=None):
    """(T, N, N) for one tree, two, … `n_trees`: path lengths, averaged over fits from different first points.

    Subtrees do not move: fits have to differ, and none of them has to be the best.
    """
    total = 0
    for rng in rngs:
        fit, found = None, []
        for _ in range(n_trees):
            fit = with_new_tree(outcomes, fit, rate, rng, progress, regraft=False)
            found.append(fit.distances().sum(axis=0))
        total = total + np.array(found)
    return total / len(rngs)


def losses_of_distances(outcomes, distances):
    "(M,) −log-likelihood of each outcome at these distances (N, N)."
    return outcomes.losses(outcomes.margins(distances[tuple(outcomes.pairs.T)]))


# ---- branch lengths of people


@dataclass(frozen=True)
class Spread:
    """How much people differ: standard deviations of a person's lengths from the common ones.

    Every branch differs by `branch` times the root of its common length, a whole tree by `tree` times its lengths.
    """

    branch: float
    tree: float

    def precision(self, lengths, n_trees):
        "(T·E, T·E) inverse of the covariance of a person's lengths."
        covariance = np.diag(self.branch**2 * (lengths + LEAST_LENGTH))
        size = len(lengths) // n_trees
        for at in range(0, len(lengths), size):
            own = lengths[at : at + size]
            covariance[at : at + size, at : at + size] += self.tree**2 * np.outer(own, own)
        return np.linalg.inv(covariance)


LEAST_LENGTH = 0.02  # that a branch counts with where the common length is 0
FIRST_SPREAD = Spread(0.6, 0.6)
BRANCH_SPREADS, TREE_SPREADS = (0.1, 0.3, 0.6, 1.0), (0.0, 0.3, 0.6, 1.0)


def split_by_person(outcomes, number, person, count, n_people):
    "The outcomes of each person, from the outcome and the person of every answer, and its weight."
    size = len(outcomes.count)
    keys, at = np.unique(person * size + number, return_inverse=True)
    counts, who, what = bincount(at, count, len(keys)), keys // size, keys % size
    ends = np.searchsorted(who, np.arange(n_people + 1))
    return [outcomes.take(what[a:b], counts[a:b]).compact() for a, b in zip(ends, ends[1:])]


def person_lengths(fit, people, spread):
    "(people, T·E): the most likely lengths of each person, shrunk to the common ones; those where spread is None."
    if spread is None:
        return np.tile(fit.lengths, (len(people), 1))
    precision = spread.precision(fit.lengths, len(fit.parents))
    found = []
    for own in people:
        fitted = fit_lengths(own, fit.parents, 0.0, fit.lengths, fit.splits, precision) if len(own.count) else fit
        found.append(fitted.lengths)
    return np.array(found)


# ---- choices by held-out questions


@dataclass(frozen=True)
class ModelChoice:
    "What held-out questions chose."

    rate: float
    lapse: float
    n_trees: int
    spread: Spread | None
    regraft: bool  # whether trees whose subtrees have moved predict at least as well
    loss: float  # mean log loss of the held-out answers
    fit: Fit  # to the other answers
    n_averaged: int  # trees of each fit that is averaged; 0 where the trees alone predict as well


def tuned(train, test, fit, rate, rates, lapses):
    """(rate, share of lapses, fit to `train` with both) of those that predict `test` best.

    The share is chosen with the rate of the fit, then the rate with this share.
    """

    def fitted(rate, lapse):
        found = fit_lengths(replace(train, lapse=lapse), fit.parents, rate, fit.lengths, fit.splits)
        return test.count @ replace(test, lapse=lapse).losses(found.margin), rate, lapse, found

    best = min((fitted(rate, lapse) for lapse in lapses), key=lambda each: each[0])
    others = [fitted(each, best[2]) for each in rates if each != rate]
    return min([best, *others], key=lambda each: each[0])[1:]


def choose(outcomes, people, rates, lapses, n_trees, rng, max_trees, share, progress=None, rngs=()):
    """What held-out questions choose of rates, shares of lapses, numbers of trees and spreads of people.

    `n_trees` may be "auto"; `people` is a list of their outcomes or None. With `rngs`, fits are averaged, if this
    lowers the log loss.
    """
    names, question = np.unique(outcomes.question, return_inverse=True)
    held = np.zeros(len(names), dtype=bool)
    held[rng.permutation(len(names))[: max(1, int(share * len(names)))]] = True
    outcomes = replace(outcomes, lapse=lapses[0])
    train, test = outcomes.take(~held[question]), outcomes.take(held[question])
    rate = FIRST_RATE if FIRST_RATE in rates else rates[0]
    fit = grow(train, 1, rate, rng, progress=progress, regraft=False)
    rate, lapse, fit = tuned(train, test, fit, rate, rates, lapses)
    train, test = replace(train, lapse=lapse), replace(test, lapse=lapse)
    if people is not None:
        is_held = [held[np.searchsorted(names, own.question)] for own in people]
        people = [replace(own, lapse=lapse) for own in people]
        trains = [own.take(~each).compact() for own, each in zip(people, is_held)]
        tests = [own.take(each).compact() for own, each in zip(people, is_held)]
        weights = np.concatenate([own.count for own in tests])

    def losses(fit, spread):
        if people is None:
            return test.losses(fit.margin)
        found = []
        for own, lengths in zip(tests, person_lengths(fit, trains, spread)):
            distances = Paths(fit.parents, fit.splits, own.pairs).distances(lengths)
            found.append(own.losses(own.margins(distances)))
        return np.concatenate(found)

    count = test.count if people is None else weights

    def is_better(other, best):
        gain = count * (best - other)
        return gain.sum() > np.sqrt(len(gain)) * gain.std()

    spread = None if people is None else FIRST_SPREAD
    other = improved(train, fit, rate, progress)
    regraft = bool(test.count @ (test.losses(other.margin) - test.losses(fit.margin)) <= 0)
    fit = other if regraft else fit
    best = losses(fit, spread)
    while len(fit.parents) < (max_trees if n_trees == "auto" else n_trees):
        more = with_new_tree(train, fit, rate, rng, progress, regraft)
        if n_trees == "auto" and not count @ losses(more, spread) < count @ best:
            break
        more = from_random_trees(train, more, rate, rng, progress, regraft)
        found = losses(more, spread)
        if n_trees == "auto" and not is_better(found, best):
            break
        fit, best = more, found
    if people is not None:
        tried = {spread: best}
        for each in BRANCH_SPREADS:
            tried.setdefault(Spread(each, spread.tree), None)
        tried = {each: losses(fit, each) if found is None else found for each, found in tried.items()}
        spread = min(tried, key=lambda each: count @ tried[each])
        for each in TREE_SPREADS:
            if Spread(spread.branch, each) not in tried:
                tried[Spread(spread.branch, each)] = losses(fit, Spread(spread.branch, each))
        spread = min(tried, key=lambda each: count @ tried[each])
        common, best = losses(fit, None), tried[spread]
        if not is_better(best, common):
            spread, best = None, common
    n_averaged = 0
    if rngs:
        most, fewest = (max_trees, 1) if n_trees == "auto" else (n_trees, n_trees)
        tried = [losses_of_distances(test, each) for each in averages(train, most, rate, rngs, progress)]
        tried = {number: tried[number - 1] for number in range(fewest, most + 1)}
        n_averaged, best = min([(0, best), *tried.items()], key=lambda each: count @ each[1])
    loss = float(count @ best / count.sum())
    return ModelChoice(rate, lapse, len(fit.parents), spread, regraft, loss, fit, n_averaged)


def private_branches(splits):
    "For each tree a (E,) bool: whether no other tree has the split."
    kinds = [{row.tobytes() for row in np.packbits(each, axis=1)} for each in splits]
    return [
        np.array([not any(row.tobytes() in other for b, other in enumerate(kinds) if b != a) for row in packed])
        for a, packed in enumerate(np.packbits(each, axis=1) for each in splits)
    ]


def table_of_people(fit, lengths, labels, answers):
    "One row per person: answers, scale, share of each tree in the distances through the branches of one tree alone."
    from pandas import DataFrame, Index

    n = fit.splits[0].shape[1]
    sizes = np.array([each.sum(axis=1) for each in fit.splits])
    crossing = sizes * (n - sizes) / (n * (n - 1) / 2)  # (T, E): share of pairs whose path the branch is on
    common = (fit.lengths.reshape(sizes.shape) * crossing).sum()
    table = {"answers": answers, "scale": (lengths * crossing).sum(axis=(1, 2)) / common}
    own = (lengths * crossing * np.array(private_branches(fit.splits))).sum(axis=2)  # (people, T)
    total = own.sum(axis=1)
    for tree in range(len(sizes)):
        table[f"tree {tree + 1}"] = np.divide(own[:, tree], total, out=np.full(len(own), np.nan), where=total > 0)
    return DataFrame(table, index=Index(labels, name="person"))


# ---- shares of samples that have a split


def splits_as_bits(splits):
    "The splits of all trees as a set of bytes."
    return {row.tobytes() for each in splits for row in np.packbits(each, axis=1)}


def shares_of_splits(splits, samples):
    "For each tree the share of the samples (sets of bytes) that have the split of each branch."
    seen = Counter()
    for sample in samples:
        seen.update(sample)
        seen[None] += 1
    bits = ([row.tobytes() for row in np.packbits(each, axis=1)] for each in splits)
    return tuple(np.array([seen[row] for row in each]) / seen[None] for each in bits)


def splits_of_sample(outcomes, number, units, weights, n_trees, rate, rng):
    "The splits of trees from scratch, after drawing as many units with replacement as there are."
    n_units = units.max() + 1
    times = bincount(rng.integers(n_units, size=n_units), minlength=n_units)[units]
    count = bincount(number, weights * times, len(outcomes.count))
    drawn = np.flatnonzero(count)
    return splits_as_bits(grow(outcomes.take(drawn, count[drawn]).compact(), n_trees, rate, rng).splits)
