"Subtree prune and regraft: trees that change, and the gain of every move from triplets or from quadruplets."

import numpy as np

from ..comparisons import Triplets, pair_index
from ..core.compat import bincount
from ._queries import topological_merge_order


class SPRTree:
    """A binary tree over K leaves whose subtrees can be moved; `children` and `parent` by node, −1 above the root.

    Computed after every move: `order` (nodes from the root down), `size` and `start` (the leaves below a node are an
    interval), `side` and `lca`, (K, K): the child of the meeting point on the side of the first leaf, and that point.
    """

    def __init__(self, children):
        K = len(children) + 1
        self.n_leaves, self.n_nodes, self.root = K, 2 * K - 1, 2 * K - 2
        self.children = [None] * K + np.asarray(children).tolist()
        self.parent = [-1] * self.n_nodes
        for node in range(K, self.n_nodes):
            for child in self.children[node]:
                self.parent[child] = node
        self.merge_rank = [0] * K + list(range(1, K))  # 0 for leaves
        self.read()

    def sibling(self, node):
        one, two = self.children[self.parent[node]]
        return two if one == node else one

    def read(self):
        "Compute what changes with a move. O(K²)."
        K, todo, order = self.n_leaves, [self.root], []
        while todo:
            node = todo.pop()
            order.append(node)
            if node >= K:
                todo += self.children[node]
        merges = [node for node in order if node >= K]
        size, start = [1] * self.n_nodes, [0] * self.n_nodes
        for node in reversed(merges):
            size[node] = sum(size[child] for child in self.children[node])
        side = np.zeros((K, K), dtype=np.int32)
        for node in merges:
            one, two = self.children[node]
            start[one] = first = start[node]
            start[two] = middle = first + size[one]
            last = first + size[node]
            side[first:middle, middle:last] = one
            side[middle:last, first:middle] = two
        self.order, self.size, self.start = order, np.array(size), np.array(start)
        position = self.start[:K]
        self.side = side[position[:, None], position]
        self.lca = np.array(self.parent, dtype=np.int32)[self.side]

    def is_below(self):
        "(nodes, nodes): is the column's node in the row's subtree?"
        end = self.start + self.size
        return (self.start[:, None] <= self.start) & (end <= end[:, None])

    def siblings(self):
        children, siblings = np.array(self.children[self.n_leaves :]), np.full(self.n_nodes, self.root)
        siblings[children] = children[:, ::-1]
        return siblings

    def regraft(self, s, v):
        "Move subtree s beside v; its merge comes as early as possible, and an earlier merge above it waits."
        p, q = self.parent[s], self.sibling(s)
        self._replace(p, q)
        self._replace(v, p)
        self.children[p] = [v, s]
        self.parent[v] = self.parent[s] = p
        self.merge_rank[p] = max(self.merge_rank[v], self.merge_rank[s])
        self.read()

    def _replace(self, old, new):
        "`new` becomes the child of the parent of `old`."
        above = self.parent[new] = self.parent[old]
        if above == -1:
            self.root = new
        else:
            self.children[above][self.children[above].index(old)] = new

    def merges(self):
        "Merges by rank, children before parents."
        upwards = [node for node in reversed(self.order) if node >= self.n_leaves]
        number = {node: node for node in range(self.n_leaves)}
        number.update({node: self.n_leaves + t for t, node in enumerate(upwards)})
        couples = [[number[child] for child in self.children[node]] for node in upwards]
        return topological_merge_order(couples, [self.merge_rank[node] for node in upwards], self.n_leaves)


def triple_scores(rows, weights, n_leaves):
    "(T, 3) triples of leaves that answers name, and (T, 3) the net weight of each leaf as the odd one out."
    rows = rows.astype(np.int64)
    triple = np.sort(rows, axis=1)
    key = (triple[:, 0] * n_leaves + triple[:, 1]) * n_leaves + triple[:, 2]
    found, number = np.unique(key, return_inverse=True)
    scores = np.zeros(3 * len(found))
    for odd, sign in ((rows[:, 2], 1), (rows[:, 1], -1)):
        column = (odd[:, None] > triple).sum(axis=1)
        scores += bincount(number.ravel() * 3 + column, sign * weights, len(scores))
    triples = np.stack([found // n_leaves**2, found // n_leaves % n_leaves, found % n_leaves], axis=1)
    return triples, scores.reshape(-1, 3)


class TripletSPR:
    "Gains of all moves from the scores of triples, in a table that moves keep up to date."

    def __init__(self, tree, rows, weights):
        self.tree, K = tree, tree.n_leaves
        self.triples, self.scores = triple_scores(rows, weights, K)
        self.pairs = [self.triples[:, a] * K + self.triples[:, b] for a, b in ((0, 1), (0, 2), (1, 2))]
        self.tol = 1e-11 * np.abs(self.scores).sum()  # below this a gain may be rounding
        self.upper_bound = float(self.scores.max(axis=1).sum())  # of any tree
        self.restart()

    def restart(self):
        "The table from scratch. O(m + K²)."
        self.table = self._part(slice(None), 1)
        self.is_fresh = True

    def _part(self, which, sign):
        "Contribution of some triples to the table."
        tree, K, M = self.tree, self.tree.n_leaves, self.tree.n_nodes
        side, lca = tree.side.ravel(), tree.lca.ravel()
        corners, scores = self.triples[which].T, sign * self.scores[which].T
        cells, values = [], []
        for X, Y, Z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            x, y, z = corners[X], corners[Y], corners[Z]
            one, two = lca[x * K + y], lca[x * K + z]
            first = np.where(tree.size[one] < tree.size[two], one, two)  # where x meets one of them
            for column, odd in ((side[y * K + z], Z), (side[z * K + y], Y)):
                more = scores[odd] - scores[X]
                cells += [x * M + column, first.astype(np.int64) * M + column]
                values += [more, -more]
        return bincount(np.concatenate(cells), np.concatenate(values), M * M).astype(float)

    def gains(self):
        "(nodes, nodes) gain of moving the row's subtree beside the column's; −inf where that is no move. O(K²)."
        tree, M = self.tree, self.tree.n_nodes
        upwards = self.table.reshape(M, M).copy()
        for node in reversed(tree.order):
            if node >= tree.n_leaves:
                for child in tree.children[node]:
                    upwards[node] += upwards[child]
        downwards = upwards.T.copy()
        for node in tree.order[1:]:
            downwards[node] += downwards[tree.parent[node]]
        nodes, siblings, gains = np.arange(M), tree.siblings(), downwards.T
        gains = gains - gains[nodes, siblings][:, None]
        gains[tree.is_below()] = -np.inf
        gains[nodes, siblings] = gains[nodes, tree.parent] = -np.inf  # where it is
        gains[tree.root] = -np.inf
        return gains

    def regraft(self, s, v):
        "Move, and recompute the contribution of the triples whose meeting points changed."
        tree = self.tree
        old = side, lca, _ = tree.side, tree.lca, tree.size
        tree.regraft(s, v)
        new = tree.side, tree.lca, tree.size
        changed = (tree.side != side) | (tree.lca != lca)
        changed = (changed | changed.T).ravel()
        rows = np.flatnonzero(changed[self.pairs[0]] | changed[self.pairs[1]] | changed[self.pairs[2]])
        for state, sign in ((old, -1), (new, 1)):
            tree.side, tree.lca, tree.size = state
            self.table += self._part(rows, sign)
        self.is_fresh = False

    def improve(self):
        "Make the best move and return its gain, or 0.0."
        gains = self.gains()
        s, v = divmod(int(gains.argmax()), len(gains))
        if gains[s, v] > self.tol:
            self.regraft(s, v)
            return float(gains[s, v])
        if self.is_fresh:
            return 0.0
        self.restart()  # rounding must not hide a move
        return self.improve()


class RankedTree(SPRTree):
    """An `SPRTree` with `rank` (nodes,), the order of its merges and 0 for leaves.

    Computed after every move: `cluster` (K, K), the node of a leaf (row) right before the merge of a rank (column).
    """

    def __init__(self, children):
        K = len(children) + 1
        self.rank = np.append(np.zeros(K, dtype=np.int64), np.arange(1, K))
        super().__init__(children)

    def read(self):
        super().read()
        K = self.n_leaves
        position = self.start[:K]
        now, table = np.argsort(position), np.zeros((K, K), dtype=np.int64)
        for rank, node in enumerate((np.argsort(self.rank[K:]) + K).tolist(), 1):
            table[:, rank] = now
            now[self.start[node] : self.start[node] + self.size[node]] = node
        self.cluster = table[position]
        self.merge_rank = self.rank.tolist()

    def regraft(self, s, v, t):
        "Move subtree s beside v, with its merge right after rank t."
        K, p = self.n_leaves, self.parent[s]
        moment = self.rank.astype(float)
        moment[p] = t + 0.5
        self.rank[K:] = np.argsort(np.argsort(moment[K:])) + 1
        super().regraft(s, v)


def net_wins_by_query(rows, weights, n_leaves):
    "Every query once, with the weight of the answers for its first pair minus those against."
    i, j, k, l = rows.astype(np.int64).T
    one, two = pair_index(i, j), pair_index(k, l)
    key = np.minimum(one, two) * n_leaves**2 + np.maximum(one, two)
    _, first, query = np.unique(key, return_index=True, return_inverse=True)
    same = (one < two) == (one < two)[first][query.ravel()]
    net = bincount(query.ravel(), np.where(same, weights, -weights), len(first))
    keep = (net != 0) & (one != two)[first]
    return rows[first[keep]].astype(np.int64), net[keep]


class RankedSPR:
    "Gains of all places and merge ranks of one subtree, from quadruplets, and the search through all subtrees."

    def __init__(self, tree, rows, weights):
        self.tree = tree
        self.queries, self.net = net_wins_by_query(rows, weights, tree.n_leaves)
        self.upper_bound = float(np.abs(self.net).sum())  # of any tree
        self.tol = 1e-11 * self.upper_bound  # below this a gain may be rounding
        self.turn = 0  # the next subtree

    def gains(self, s):
        "(nodes, K) gain of moving subtree s beside a node with a rank; −inf where that is no move. O(m + K²)."
        tree, K, M = self.tree, self.tree.n_leaves, self.tree.n_nodes
        p, q = tree.parent[s], tree.sibling(s)
        inside = tree.is_below()[s, :K]
        within = inside[self.queries]
        crosses = within[:, 0] != within[:, 1], within[:, 2] != within[:, 3]
        at_all_ranks, from_rank = np.zeros(M), np.zeros(M * K)
        at_all_ranks += self._both_cross(np.flatnonzero(crosses[0] & crosses[1]), inside)
        for this, other, sign in ((0, 1, 1), (1, 0, -1)):
            found = np.flatnonzero(crosses[this] & ~crosses[other])
            net = sign * self.net[found]
            a = self._outside(found, this, inside)
            k, l = self.queries[found, 2 * other], self.queries[found, 2 * other + 1]
            f = tree.lca[k, l]
            g = tree.cluster[a, tree.rank[f]]
            at_all_ranks += bincount(g, 2 * net, M)
            at_f = np.flatnonzero(np.array(tree.parent)[g] == f)
            at_all_ranks += bincount(tree.siblings()[g[at_f]], net[at_f], M)
            g[g == p] = q
            from_rank += bincount(g * K + tree.rank[f], -2 * net, M * K)
        for node in tree.order[1:]:
            at_all_ranks[node] += at_all_ranks[tree.parent[node]]
        gains = at_all_ranks[:, None] + np.cumsum(from_rank.reshape(M, K), axis=1)
        return np.where(self._possible(s), gains - gains[q, tree.rank[p]], -np.inf)

    def _outside(self, found, this, inside):
        "The object outside the subtree of a pair that crosses its border."
        one, two = self.queries[found, 2 * this], self.queries[found, 2 * this + 1]
        return np.where(inside[one], two, one)

    def _both_cross(self, found, inside):
        "Contribution of queries both of whose pairs cross the border."
        a, b = (self._outside(found, this, inside) for this in (0, 1))
        differ = a != b
        a, b, net = a[differ], b[differ], self.net[found[differ]]
        side, M = self.tree.side, self.tree.n_nodes
        return bincount(side[a, b], net, M) - bincount(side[b, a], net, M)

    def _possible(self, s):
        tree, K = self.tree, self.tree.n_leaves
        p, q = tree.parent[s], tree.sibling(s)
        above = np.array(tree.parent)
        above[q] = above[p]
        before = np.where(above < 0, K, tree.rank[above])
        t, after = np.arange(K), np.maximum(tree.rank, tree.rank[s])
        possible = (after[:, None] <= t) & (t < before[:, None])
        possible[tree.is_below()[s]] = False
        possible[p] = False
        return possible

    def improve(self):
        "Make the best move of the next subtree that has one and return its gain, or 0.0."
        M = self.tree.n_nodes
        for s in (node % M for node in range(self.turn, self.turn + M)):
            if s == self.tree.root:
                continue
            gains = self.gains(s)
            v, t = divmod(int(gains.argmax()), gains.shape[1])
            if gains[v, t] > self.tol:
                self.tree.regraft(s, v, t)
                self.turn = s + 1
                return float(gains[v, t])
        return 0.0


def spr_search(dendrogram, answers, weights):
    "The search for better trees, and which answers are about different leaves."
    leaf = np.zeros(dendrogram.n_objects, dtype=np.int64)
    for number, members in enumerate(dendrogram.initial_clusters):
        leaf[list(members)] = number
    rows = leaf[answers.array]
    if isinstance(answers, Triplets):
        i, j, k = rows.T
        counts = (i != j) & (i != k) & (j != k)
        return TripletSPR(SPRTree(dendrogram.children), rows[counts], weights[counts]), counts
    i, j, k, l = rows.T
    counts = (i != j) & (k != l)
    return RankedSPR(RankedTree(dendrogram.children), rows[counts], weights[counts]), counts
