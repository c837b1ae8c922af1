"""The kinetic sweep: one run of a linkage, kept with certificates of its steps while the parameter x moves from 0 to 1.

A certificate is an inequality between two lines (linear functions of x), so the x at which it fails is known in
advance. The earliest failure is the next breakpoint: two steps change places (`swap_steps`), or merging is redone from
the first step that fails until the clusters are those of the run before (`rerun`). nbs/link/42_kinetic.ipynb has the
proof and pictures. Without numba the same functions run as plain Python, with the same results.
"""

from typing import NamedTuple

import numpy as np

from ..core.compiled import compiled

SINGLE, COMPLETE, AVERAGE = range(3)  # kinds of merge functions
NEVER = 1 << 40
LOCAL, ORDER, EXPIRY = range(3)  # kinds of certificates: rows of `failure_time`


def _record(names):
    return np.dtype([(name, np.int64) for name in names.split()])


# Clusters are nodes: objects are 0 to n − 1, and 3n nodes are enough for the old run and the new one. A node has
# n_objects objects, the highest number among them, and exists at steps birth to death (old_birth to old_death in the
# run that is repaired). Its objects are places start to last of one order, and a linked list from head to tail.
NODE = _record("n_objects highest birth death old_birth old_death start last head tail")
# A step merges left and right into node; old_node is what it made in the run that is repaired.
STEP = _record("left right node old_node")
# Several lists side by side, because handing over one array is cheaper than six. Slots are the clusters of one step:
# cluster, is_open (not merged yet) and nearest (of the slots behind it, -1 for none). free is a stack of unused nodes,
# leaf an order of the objects in which every cluster is an interval, following the next object in a linked list.
LISTS = _record("cluster is_open nearest free leaf following")


class SweepState(NamedTuple):
    "A run with its certificates."

    lines: np.ndarray  # (2, 3n, 3n) lines of pairs of nodes, by their values at 0 and 1
    sums: np.ndarray  # (2, 3n, 3n) sums of distances, for averages
    nodes: np.recarray  # (3n,) of NODE
    steps: np.recarray  # (n-1,) of STEP: the run
    lists: np.recarray  # (3n,) of LISTS
    failure_time: np.ndarray  # (3, n-1) the x at which the certificates of every step fail
    n_free: np.ndarray  # (1,) length of the stack of free nodes
    kinds: tuple  # kinds of merge functions at 0 and at 1
    is_metric: bool  # two metrics and SINGLE or COMPLETE: the line of two clusters is that of two points


def new_state(D0, D1, kinds, is_metric):
    "A state of single objects, with no step yet."
    n = len(D0)
    lines = np.zeros((2, 3 * n, 3 * n))
    lines[0, :n, :n] = D0
    lines[1, :n, :n] = D1
    sums = lines.copy() if AVERAGE in kinds and not is_metric else np.zeros((2, 1, 1))
    nodes, lists = np.zeros(3 * n, dtype=NODE), np.zeros(3 * n, dtype=LISTS)
    nodes["n_objects"][:n] = 1
    nodes["highest"][:n] = nodes["start"][:n] = nodes["last"][:n] = lists["leaf"][:n] = np.arange(n)
    nodes["birth"][n:] = NEVER
    nodes["death"][:n] = NEVER
    nodes["death"][n:] = -1
    lists["free"][: 2 * n] = np.arange(3 * n - 1, n - 1, -1)
    steps = np.full(n - 1, np.array((-1, -1, -1, -1), dtype=STEP))
    records = (array.view(np.recarray) for array in (nodes, steps, lists))
    return SweepState(
        lines, sums, *records, np.full((3, n - 1), np.inf), np.array([2 * n]), tuple(kinds), bool(is_metric)
    )


# ---- lines


@compiled
def compare_lines(f0, f1, g0, g1, x):
    "`merge.compare_at`, with a short cut away from the crossing: 1 if f is lower just right of x, -1 if g is, or 0."
    d0, d1 = g0 - f0, g1 - f1
    if d0 >= 0 and d1 >= 0:
        return 1 if d0 > 0 or d1 > 0 else 0
    if d0 <= 0 and d1 <= 0:
        return -1
    gap = d0 - x * (d0 - d1)
    if abs(gap) > 1e-12 * abs(d0 - d1):
        return 1 if gap > 0 else -1
    c = d0 / (d0 - d1)
    return 1 if (x < c) == (d0 > 0) else -1


@compiled
def crossing(f0, f1, g0, g1):
    "Where line g, above f at 0, falls below it; infinite for never."
    d0, d1 = g0 - f0, g1 - f1
    if d0 > 0 and d1 < 0:
        return d0 / (d0 - d1)
    return np.inf


@compiled
def pair_before(S, a, b, u, v, x):
    "Whether the pair {a, b} comes before {u, v} just right of x; equal lines go by the highest object numbers."
    sign = compare_lines(S.lines[0, a, b], S.lines[1, a, b], S.lines[0, u, v], S.lines[1, u, v], x)
    if sign != 0:
        return sign > 0
    high_a, high_b, high_u, high_v = S.nodes[a].highest, S.nodes[b].highest, S.nodes[u].highest, S.nodes[v].highest
    f, g = max(high_a, high_b), max(high_u, high_v)
    return f < g or (f == g and min(high_a, high_b) < min(high_u, high_v))


@compiled
def pair_crossing(S, a, b, u, v):
    "Where the line of {u, v}, above that of {a, b}, falls below it."
    return crossing(S.lines[0, a, b], S.lines[1, a, b], S.lines[0, u, v], S.lines[1, u, v])


@compiled
def set_line(S, u, v, f0, f1):
    "Store the line of {u, v}."
    S.lines[0, u, v] = f0
    S.lines[0, v, u] = f0
    S.lines[1, u, v] = f1
    S.lines[1, v, u] = f1


@compiled
def lance_williams(S, u, v, w, y, x):
    "Store the line of w = u + v and y, from those of u and v."
    if S.is_metric:
        first = compare_lines(S.lines[0, u, y], S.lines[1, u, y], S.lines[0, v, y], S.lines[1, v, y], x) >= 0
        z = u if first == (S.kinds[0] == SINGLE) else v
        set_line(S, w, y, S.lines[0, z, y], S.lines[1, z, y])
        return
    for p in range(2):
        f, g, kind = S.lines[p, u, y], S.lines[p, v, y], S.kinds[p]
        if kind == SINGLE:
            d = min(f, g)
        elif kind == COMPLETE:
            d = max(f, g)
        else:
            total = S.sums[p, u, y] + S.sums[p, v, y]
            S.sums[p, w, y] = total
            S.sums[p, y, w] = total
            d = total / ((S.nodes[u].n_objects + S.nodes[v].n_objects) * S.nodes[y].n_objects)
        S.lines[p, w, y] = d
        S.lines[p, y, w] = d


# ---- certificates


@compiled
def fill_slots(S, s):
    "Put the clusters of step s into the slots, and return their number."
    m = 0
    birth, death, cluster = S.nodes.birth, S.nodes.death, S.lists.cluster
    for u in range(len(birth)):
        if birth[u] <= s and s <= death[u]:
            cluster[m] = u
            m += 1
    return m


@compiled
def local_failure(S, a, b, m, x):
    "When {a, b} stops being nearest for a or b among the first m slots; -1 if it is not now."
    c = np.inf
    f0, f1 = S.lines[0, a, b], S.lines[1, a, b]
    for i in range(m):
        y = S.lists[i].cluster
        if y == a or y == b:
            continue
        for u in (a, b):
            g0, g1 = S.lines[0, u, y], S.lines[1, u, y]
            if g0 > f0 and g1 >= f1:
                continue
            if not pair_before(S, a, b, u, y, x):
                return -1.0
            c = min(c, crossing(f0, f1, g0, g1))
    return c


@compiled
def certify_order(S, first, stop):
    "Set until when steps first to stop - 1 each come before the next step."
    n_steps = len(S.steps)
    for s in range(max(first, 0), stop):
        if s >= n_steps - 1:
            S.failure_time[ORDER, s] = np.inf
        else:
            step, after = S.steps[s], S.steps[s + 1]
            S.failure_time[ORDER, s] = pair_crossing(S, step.left, step.right, after.left, after.right)


# ---- the order of the objects, and their linked lists


@compiled
def order_leaves(S):
    "An order of the objects in which every cluster of the run is an interval."
    n_steps = len(S.steps)
    S.nodes[S.steps[n_steps - 1].node].start = 0
    for s in range(n_steps - 1, -1, -1):
        u, v, w = S.steps[s].left, S.steps[s].right, S.steps[s].node
        S.nodes[u].start = S.nodes[w].start
        S.nodes[v].start = S.nodes[w].start + S.nodes[u].n_objects
    for s in range(n_steps):
        for u in (S.steps[s].left, S.steps[s].right, S.steps[s].node):
            S.nodes[u].last = S.nodes[u].start + S.nodes[u].n_objects - 1
    for p in range(n_steps + 1):
        S.lists[S.nodes[p].start].leaf = p


@compiled
def link_members(S, m):
    "Linked lists of the members of the clusters in the first m slots, from the order of the objects."
    leaf, following = S.lists.leaf, S.lists.following
    for i in range(m):
        u = S.lists[i].cluster
        start, last = S.nodes[u].start, S.nodes[u].last
        S.nodes[u].head = leaf[start]
        S.nodes[u].tail = leaf[last]
        for p in range(start, last):
            following[leaf[p]] = leaf[p + 1]


# ---- two metrics: a stored line of two clusters is a witness, and exact where it is merged


@compiled
def extreme_line(at_0, at_1, leaf, start_u, last_u, start_v, last_v, kind, x):
    "The line of the farthest (nearest) two points of two clusters just right of x, by its values at 0 and 1."
    f0 = f1 = -1.0
    for i in range(start_u, last_u + 1):
        for j in range(start_v, last_v + 1):
            g0, g1 = at_0[leaf[i], leaf[j]], at_1[leaf[i], leaf[j]]
            if f0 < 0:
                f0, f1 = g0, g1
                continue
            sign = compare_lines(f0, f1, g0, g1, x)
            if (sign > 0) if kind == COMPLETE else (sign < 0):
                f0, f1 = g0, g1
    return f0, f1


@compiled
def refresh(S, u, v, x):
    "Set the line of u and v to that of their farthest (nearest) two points just right of x."
    start, last = S.nodes.start, S.nodes.last
    f0, f1 = extreme_line(S.lines[0], S.lines[1], S.lists.leaf, start[u], last[u], start[v], last[v], S.kinds[0], x)
    set_line(S, u, v, f0, f1)


@compiled
def refresh_all(S, m, x):
    "`refresh` for every pair of the first m slots; faster, because the whole state is not handed over for each."
    cluster, leaf, start, last = S.lists.cluster, S.lists.leaf, S.nodes.start, S.nodes.last
    at_0, at_1, kind = S.lines[0], S.lines[1], S.kinds[0]
    for i in range(m):
        u = cluster[i]
        for j in range(i):
            v = cluster[j]
            f0, f1 = extreme_line(at_0, at_1, leaf, start[u], last[u], start[v], last[v], kind, x)
            at_0[u, v] = f0
            at_0[v, u] = f0
            at_1[u, v] = f1
            at_1[v, u] = f1


@compiled
def expiry(S, u, v):
    "Until when the line of u and v is that of the same two points; members by linked list."
    following = S.lists.following
    head_v, tail_u, tail_v = S.nodes[v].head, S.nodes[u].tail, S.nodes[v].tail
    is_farthest = S.kinds[0] == COMPLETE
    f0, f1, c = S.lines[0, u, v], S.lines[1, u, v], np.inf
    a = S.nodes[u].head
    while True:
        b = head_v
        while True:
            g0, g1 = S.lines[0, a, b], S.lines[1, a, b]
            c = min(c, crossing(g0, g1, f0, f1) if is_farthest else crossing(f0, f1, g0, g1))
            if b == tail_v:
                break
            b = following[b]
        if a == tail_u:
            break
        a = following[a]
    return c


@compiled
def update_witness(S, row, s, x):
    "Refresh the lines of step s at x, and all certificates that use them. False if the run must be repaired."
    a, b = S.steps[s].left, S.steps[s].right
    m = fill_slots(S, s)
    refresh(S, a, b, x)
    for i in range(m):
        y = S.lists[i].cluster
        if y == a or y == b:
            continue
        for u in (a, b):
            if pair_crossing(S, a, b, u, y) <= x or not pair_before(S, a, b, u, y, x):
                refresh(S, u, y, x)
    S.failure_time[LOCAL, s] = max(local_failure(S, a, b, m, x), x)
    if row == LOCAL and S.failure_time[LOCAL, s] == x:
        return False
    link_members(S, m)
    S.failure_time[EXPIRY, s] = expiry(S, a, b)
    certify_order(S, s - 1, s + 1)
    return True


# ---- the closest pair


@compiled
def find_nearest(S, i, m, x):
    "Find the nearest of slot i among slots i + 1 to m - 1."
    cluster, is_open = S.lists.cluster, S.lists.is_open
    u, best, f0, f1 = cluster[i], -1, np.inf, np.inf
    for j in range(i + 1, m):
        if not is_open[j]:
            continue
        g0, g1 = S.lines[0, u, cluster[j]], S.lines[1, u, cluster[j]]
        if g0 > f0 and g1 > f1:
            continue
        if best < 0 or pair_before(S, u, cluster[j], u, cluster[best], x):
            best, f0, f1 = j, g0, g1
    S.lists[i].nearest = best


@compiled
def closest_slot(S, m, x):
    "The slot that is merged with its nearest."
    cluster, is_open, nearest = S.lists.cluster, S.lists.is_open, S.lists.nearest
    b, f0, f1 = -1, np.inf, np.inf
    for i in range(m):
        if not is_open[i] or nearest[i] < 0:
            continue
        u, v = cluster[i], cluster[nearest[i]]
        g0, g1 = S.lines[0, u, v], S.lines[1, u, v]
        if g0 > f0 and g1 > f1:
            continue
        if b < 0 or pair_before(S, u, v, cluster[b], cluster[nearest[b]], x):
            b, f0, f1 = i, g0, g1
    return b


@compiled
def update_nearest(S, pu, pv, m, x):
    "After pu was merged into pv: search again where one of them was the nearest, else compare with the new cluster."
    cluster, is_open, nearest = S.lists.cluster, S.lists.is_open, S.lists.nearest
    find_nearest(S, pv, m, x)
    for i in range(pv):
        if not is_open[i]:
            continue
        k = nearest[i]
        if k == pu or k == pv:
            find_nearest(S, i, m, x)
        elif k < 0 or pair_before(S, cluster[i], cluster[pv], cluster[i], cluster[k], x):
            nearest[i] = pv


# ---- repair


@compiled
def make_node(S, u, v, t):
    "A node for u + v: that of the old run, if it had this cluster at or after step t (an interval of the same size)."
    left, right = S.nodes[u], S.nodes[v]
    low, high, size = min(left.start, right.start), max(left.last, right.last), left.n_objects + right.n_objects
    w = -1
    if high - low + 1 == size:
        for s in range(t, len(S.steps)):
            z = S.steps[s].old_node
            if z >= 0 and S.nodes[z].n_objects == size and S.nodes[z].start == low:
                w = z
                S.steps[s].old_node = -1
                break
    if w < 0:
        S.n_free[0] -= 1
        w = S.lists[S.n_free[0]].free
        S.nodes[w].start = low
        S.nodes[w].last = high
        S.nodes[w].old_birth = NEVER
        S.nodes[w].old_death = -1
        S.nodes[w].death = NEVER
    S.nodes[w].n_objects = size
    S.nodes[w].highest = max(left.highest, right.highest)
    S.nodes[w].head = left.head
    S.nodes[w].tail = right.tail
    S.lists[left.tail].following = right.head
    return w


@compiled
def release_nodes(S, first, stop):
    "Free the clusters of the old run that steps first to stop - 1 no longer make, and return their number."
    n_gone = 0
    for s in range(first, stop):
        z = S.steps[s].old_node
        if z >= 0:
            S.nodes[z].birth = NEVER
            S.nodes[z].death = -1
            S.lists[S.n_free[0]].free = z
            S.n_free[0] += 1
            n_gone += 1
    return n_gone


@compiled
def merge_slots(S, q, pu, pv, m, t, x):
    "Step q of a repair from step t: merge slots pu < pv of m; the new cluster takes pv."
    u, v = S.lists[pu].cluster, S.lists[pv].cluster
    if S.is_metric:
        S.failure_time[EXPIRY, q] = expiry(S, u, v)
    w = make_node(S, u, v, t)
    c = np.inf
    for i in range(m):
        if not S.lists[i].is_open or i == pu or i == pv:
            continue
        y = S.lists[i].cluster
        for z in (u, v):
            found = pair_crossing(S, u, v, z, y)
            if found > x:
                c = min(c, found)
        lance_williams(S, u, v, w, y, x)
    S.failure_time[LOCAL, q] = c
    S.steps[q].left = u
    S.steps[q].right = v
    S.steps[q].node = w
    S.nodes[u].death = q
    S.nodes[v].death = q
    S.nodes[w].birth = q + 1
    S.lists[pu].is_open = 0
    S.lists[pv].cluster = w


@compiled
def start_rerun(S, t, x):
    "(the first step that changes, at or before t; number of slots there; the slot that is merged with its nearest)"
    while True:
        m = fill_slots(S, t)
        if S.is_metric:
            refresh_all(S, m, x)
        for i in range(m):
            S.lists[i].is_open = 1
        for i in range(m):
            find_nearest(S, i, m, x)
        b = closest_slot(S, m, x)
        if t == 0:
            return t, m, b
        u, v = S.lists[b].cluster, S.lists[S.lists[b].nearest].cluster
        if S.nodes[u].birth == t or S.nodes[v].birth == t:
            return t, m, b
        if not pair_before(S, u, v, S.steps[t - 1].left, S.steps[t - 1].right, x):
            return t, m, b
        t -= 1  # several lines meet in one point


@compiled
def converged(S, q, m):
    "Whether the clusters in the slots are those that the old run had at step q."
    for i in range(m):
        u = S.lists[i].cluster
        if S.lists[i].is_open and (S.nodes[u].old_birth > q or S.nodes[u].old_death < q):
            return False
    return True


@compiled
def rerun(S, t, x):
    "Merge by the definition from step t until the clusters are the old run's again; how many of its clusters are gone."
    n_steps = len(S.steps)
    t, m, b = start_rerun(S, t, x)
    for u in range(len(S.nodes)):
        S.nodes[u].old_birth = S.nodes[u].birth
        S.nodes[u].old_death = S.nodes[u].death
    for s in range(n_steps):
        S.steps[s].old_node = S.steps[s].node
    if S.is_metric:
        link_members(S, m)
    q = t
    while True:
        pu, pv = b, S.lists[b].nearest
        merge_slots(S, q, pu, pv, m, t, x)
        q += 1
        if q == n_steps or converged(S, q, m):
            break
        update_nearest(S, pu, pv, m, x)
        b = closest_slot(S, m, x)
    if q < n_steps:
        for i in range(m):
            if S.lists[i].is_open:
                u = S.lists[i].cluster
                S.nodes[u].death = S.nodes[u].old_death
    n_gone = release_nodes(S, t, q)
    certify_order(S, t - 1, q)
    order_leaves(S)
    return n_gone


@compiled
def swap_steps(S, t, x):
    "Exchange steps t and t + 1, if that is all that happens at x; whether it was done."
    step, after = S.steps[t], S.steps[t + 1]
    a, b, v = step.left, step.right, step.node
    c, e, w = after.left, after.right, after.node
    if c == v or e == v or not pair_before(S, c, e, a, b, x):
        return False
    if t > 0 and not pair_before(S, S.steps[t - 1].left, S.steps[t - 1].right, c, e, x):
        return False
    if t + 2 < len(S.steps) and not pair_before(S, a, b, S.steps[t + 2].left, S.steps[t + 2].right, x):
        return False
    m = fill_slots(S, t)
    first = local_failure(S, c, e, m, x)
    if first < 0:
        return False
    lance_williams(S, c, e, w, a, x)
    lance_williams(S, c, e, w, b, x)
    cluster = S.lists.cluster
    k = 0
    for i in range(m):
        u = cluster[i]
        if u != c and u != e:
            cluster[k] = u
            k += 1
    cluster[k] = w
    second = local_failure(S, a, b, k + 1, x)
    if second < 0:
        return False
    step.left, step.right, step.node = c, e, w
    after.left, after.right, after.node = a, b, v
    for early, late, made, s in ((c, e, w, t), (a, b, v, t + 1)):
        S.nodes[early].death = s
        S.nodes[late].death = s
        S.nodes[made].birth = s + 1
    failure_time = S.failure_time
    failure_time[LOCAL, t] = first
    failure_time[LOCAL, t + 1] = second
    failure_time[EXPIRY, t], failure_time[EXPIRY, t + 1] = failure_time[EXPIRY, t + 1], failure_time[EXPIRY, t]
    certify_order(S, t - 1, t + 2)
    return True


# ---- the sweep


def start(D0, D1, kinds, is_metric=False, x=0.0):
    "The run at x with all its certificates."
    S = new_state(D0, D1, kinds, is_metric)
    rerun(S, 0, x)
    return S


def process_event(S, c):
    'Repair what fails next, at c; what has changed: "tree", "order" of merges, or only a "witness".'
    times = S.failure_time.ravel()
    at = int(times.argmin())
    row, t = divmod(at, S.failure_time.shape[1])
    if S.is_metric and row != ORDER and update_witness(S, row, t, c):
        return "witness"
    is_alone = np.count_nonzero(times == times[at]) == 1
    if row == ORDER and is_alone and swap_steps(S, t, c):
        return "order"
    first = int(np.flatnonzero((S.failure_time == times[at]).any(axis=0))[0])
    return "tree" if rerun(S, first, c) else "order"


def sweep(S, x=0.0):
    """Move through all runs of the family from left to right; yields where a run begins, and what has changed.

    The state holds from there to the next value, and must be read before that is requested."""
    what, at, stuck, limit = "start", x, 0, 8 * S.failure_time.shape[1]
    while True:
        c = max(float(S.failure_time.min()), at)
        if what and c > x:
            yield x, what
            what = None  # all that happens at x has happened
        if not c < 1.0:
            return
        stuck = stuck + 1 if c == at else 0
        if stuck > limit:
            S.failure_time[S.failure_time <= c] = np.inf  # lines that meet within rounding contradict each other
            continue
        at, event = c, process_event(S, c)
        if event == "tree" or event == "order" and not what:
            what = event
        if event != "witness":
            x = c


def start_family(family):
    "The state at 0 of an `execution.Family` that is known to be reducible."
    return start(family.D0, family.D1, family.kinds, family.is_metric and family.kinds[0] == COMPLETE)


def kinetic_runs(family):
    "All runs from left to right: (where it begins, merges by SciPy's numbers, heights, whether the tree is the same)."
    n = len(family.D0)
    S, number = start_family(family), np.arange(3 * n)
    for low, what in sweep(S):
        left, right = S.steps.left, S.steps.right
        number[S.steps.node] = np.arange(n, 2 * n - 1)
        heights = (1 - low) * S.lines[0, left, right] + low * S.lines[1, left, right]
        yield low, np.sort(np.column_stack([number[left], number[right]]), axis=1), heights, what == "order"


# ---- losses by dynamic programming: a pruning is a chain of intervals from the left end of the order to the right end


@compiled
def class_counts(S, codes, before):
    "Objects of each class before every place of the order, into before (n + 1, k)."
    leaf = S.lists.leaf
    for p in range(len(codes)):
        for c in range(before.shape[1]):
            before[p + 1, c] = before[p, c]
        before[p + 1, codes[leaf[p]]] += 1


@compiled
def nodes_to_depth(S, k, top, depth, stack):
    "Nodes fewer than k steps below the root, by their start, into top; their number. depth and stack are work space."
    n_objects, n_waiting, m = len(S.steps) + 1, 1, 0
    stack[0] = S.steps[n_objects - 2].node
    depth[0] = 0
    while n_waiting:
        n_waiting -= 1
        u, d = stack[n_waiting], depth[n_waiting]
        top[m] = u
        m += 1
        if u < n_objects or d == k - 1:
            continue
        s = S.nodes[u].birth - 1
        a, b = S.steps[s].left, S.steps[s].right
        if S.nodes[a].start > S.nodes[b].start:
            a, b = b, a
        stack[n_waiting], stack[n_waiting + 1] = b, a
        depth[n_waiting], depth[n_waiting + 1] = d + 1, d + 1
        n_waiting += 2
    return m


@compiled
def reset_dp(S, top, m, right):
    "Clear the rows of `right` where a cluster may end: only the empty beginning is reached, with no object right."
    for i in range(m):
        right[S.nodes[top[i]].last + 1] = -1
    right[0] = -1
    right[0, 0] = 0


@compiled
def best_matching_dp(S, k, before, top, m, right):
    """Most objects that a pruning into k clusters gets right if each stands for a class of its own.

    right (n + 1, 2^k): the most objects before a place, by the set of classes that are used."""
    reset_dp(S, top, m, right)
    for i in range(m):
        start, end = S.nodes[top[i]].start, S.nodes[top[i]].last + 1
        for used in range(right.shape[1]):
            if right[start, used] < 0:
                continue
            for c in range(k):
                if used >> c & 1:
                    continue
                found = right[start, used] + before[end, c] - before[start, c]
                if found > right[end, used | 1 << c]:
                    right[end, used | 1 << c] = found
    return right[len(right) - 1, right.shape[1] - 1]


@compiled
def best_majority_dp(S, k, before, top, m, right):
    """Most objects that are in the commonest class of their cluster, in a pruning into k clusters.

    right (n + 1, k + 1): the most objects before a place, by the number of clusters."""
    reset_dp(S, top, m, right)
    for i in range(m):
        start, end = S.nodes[top[i]].start, S.nodes[top[i]].last + 1
        most = 0
        for c in range(before.shape[1]):
            most = max(most, before[end, c] - before[start, c])
        for j in range(k):
            if right[start, j] >= 0 and right[start, j] + most > right[end, j + 1]:
                right[end, j + 1] = right[start, j] + most
    return right[len(right) - 1, k]


class KineticLoss:
    "`pruning_loss` or `majority_loss` of the tree in a sweep's state."

    def __init__(self, name, codes, k):
        n, n_classes = len(codes), int(codes.max()) + 1
        self.codes, self.k, self.dp = codes, k, best_majority_dp if name == "majority" else best_matching_dp
        self.before = np.zeros((n + 1, n_classes), dtype=np.int32)
        self.top, self.depth, self.stack = np.zeros((3, 2 * n), dtype=np.int64)
        self.right = np.zeros((n + 1, k + 1 if name == "majority" else 2**n_classes), dtype=np.int32)

    def __call__(self, S):
        class_counts(S, self.codes, self.before)
        m = nodes_to_depth(S, self.k, self.top, self.depth, self.stack)
        return (len(self.codes) - self.dp(S, self.k, self.before, self.top, m, self.right)) / len(self.codes)


def kinetic_losses(family, loss, codes, k):
    "(where a run begins, its loss, whether the tree has changed), from left to right."
    S, loss_of, value = start_family(family), KineticLoss(loss, codes, k), None
    for low, what in sweep(S):
        if what != "order":
            value = loss_of(S)
        yield low, value, what != "order"
