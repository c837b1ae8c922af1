"Queries of the active kernel: its design of references and landmarks, the redundant queries, and its budget."

from math import log

import numpy as np

from ..comparisons import n_quadruplet_questions, pair_from_index
from ..core.compat import bincount
from ..core.kernels import gram_of_rows
from ..core.query_budget import active_budget, min_references
from ..core.validation import as_array, check_flag, check_integer, check_number, require
from ..oracles import BudgetExhausted
from ._queries import check_references, query_batch


def check_landmarks(landmarks, n_objects):
    "(N,) whether each object is a landmark."
    array = as_array(landmarks, "landmarks", "a sequence of object numbers")
    numbers = array.ndim == 1 and (array.size == 0 or array.dtype.kind in "iu")
    require(numbers, "landmarks", "a sequence of object numbers", landmarks)
    inside = array.size == 0 or (array.min() >= 0 and array.max() < n_objects)
    require(inside, "landmarks", f"object numbers from 0 to {n_objects - 1}", landmarks)
    require(len(np.unique(array)) == len(array), "landmarks", "different objects", landmarks)
    return np.isin(np.arange(n_objects), array)


def draw_design(n, q, n_references, rng, references, landmarks, n_comparisons, shared_landmarks):
    "(2, R) references, (R, N) landmarks of each, and the number of queries, from the arguments of `kernel_active`."
    n_pairs = n * (n - 1) // 2
    shared = check_flag(shared_landmarks, "shared_landmarks") or landmarks is not None
    count = min(check_integer(n_references, "n_references"), n_pairs)
    limit = n_comparisons
    if limit is not None:
        limit = check_integer(limit, "n_comparisons", 1, max(1, n_quadruplet_questions(n)))
        if q is None and n > 2:
            q = active_budget(n, limit, shared)[0]
    q = log(n) / n if q is None else check_number(q, "q", 0, 1)
    if limit is not None and n > 2:
        count = n_pairs
        if not shared:
            count = min(n_pairs, int(1.1 * min_references(n, q, limit, shared)) + 50)  # more, as the draw varies
    if references is None:
        y = np.stack(pair_from_index(rng.permutation(n_pairs)[:count]))
    else:
        y = check_references(references, n)
    if landmarks is None:
        landmark = rng.random((1 if shared else y.shape[1], n)) < q
    else:
        landmark = check_landmarks(landmarks, n)[None]
    if limit is not None and shared:
        y = y[:, : max_references(y, landmark[0], limit)]
    return y, np.broadcast_to(landmark, (y.shape[1], n)), limit


def max_references(y, landmark, limit):
    "Number of references with these landmarks that `limit` queries reach, the last one perhaps in part."
    n, s = len(landmark), int(landmark.sum())
    touched = landmark[y[0]] | landmark[y[1]]
    known = touched * np.cumsum(touched)  # the reference itself, and what earlier references have asked
    new = s * (n - s) + s * (s - 1) // 2 - known
    return int(np.searchsorted(np.cumsum(new), limit, "right")) + 1


def nonzero(mask):
    "As `np.nonzero` of a table, and faster."
    return np.divmod(np.flatnonzero(mask), mask.shape[1])


def unanswered(t, k, y, number, landmark):
    "Cells (row, i) to be asked, for rows of reference t and landmark k; and cells that an earlier reference answers."
    i, u = np.arange(landmark.shape[1], dtype=np.int32), number[k]
    t, k = t[:, None].astype(np.int32), k[:, None].astype(np.int32)
    ask = (u != t) & (i != k) & (~landmark[t[:, 0]] | (i > k))  # of two landmarks the smaller is asked
    rows, columns = nonzero((u >= 0) & (u < t))
    u = u[rows, columns]
    met = landmark[u, y[0, t[rows, 0]]] | landmark[u, y[1, t[rows, 0]]]
    ask[rows[met], columns[met]] = False
    return ask, (rows[met], columns[met], u[met])


def truncate_to_budget(ask, reference, n_references, left, rng):
    "Keep `left` cells: all of the first references and a random part of one; the number of references that remain."
    upto = np.cumsum(bincount(reference, ask.sum(axis=1), n_references)).astype(np.int64)
    full = int(np.searchsorted(upto, left, "right"))
    if full == n_references:
        return full
    ask[reference > full] = False
    rows, columns = nonzero(ask & (reference == full)[:, None])
    out = rng.choice(len(rows), upto[full] - left, replace=False)
    ask[rows[out], columns[out]] = False
    return full + (len(out) < len(rows))


def fill_antisymmetric(V, t, k, y, landmark, repeated):
    "Copy answers to the cells that ask the same again."
    if not len(V):
        return
    row_of = np.full(landmark.shape, -1, dtype=np.int32)
    row_of[t, k] = np.arange(len(t))
    for batch in repeated:  # {i, k} is reference u, which has met reference t at one of its ends
        kept = batch[0] < len(V)
        rows, columns, u = (column[kept] for column in batch)
        a, b = np.sort(y[:, t[rows]], axis=0)
        low = landmark[u, a]
        V[rows, columns] = -V[row_of[u, np.where(low, a, b)], np.where(low, b, a)]
    for start in range(0, len(V), 4096):
        ts, ks = t[start : start + 4096], k[start : start + 4096]
        rows, columns = nonzero(landmark[ts] & (np.arange(V.shape[1]) < ks[:, None]))
        V[rows + start, columns] = V[row_of[ts[rows], columns], ks[rows]]


def query_kernel(y, landmark, limit=None, rng=None, batch=1 << 17):
    "Ask each query of a design once; the kernel of the references that were done before a budget ended."
    n_references, n = landmark.shape
    t, k = np.nonzero(landmark)
    upto = np.searchsorted(t, np.arange(n_references + 1))  # rows before each reference
    number = np.full((n, n), -1, dtype=np.int32)
    number[y[0], y[1]] = number[y[1], y[0]] = np.arange(n_references)
    V, repeated = np.zeros((len(t), n), dtype=np.int8), []
    asked = start = 0
    while start < n_references:
        fits = int(np.searchsorted(upto, upto[start] + batch // n, "right")) - 1
        stop = max(start + 1, fits)
        here = slice(upto[start], upto[stop])
        ask, known = unanswered(t[here], k[here], y, number, landmark)
        if limit is not None:
            kept = truncate_to_budget(ask, t[here] - start, stop - start, limit - asked, rng)
            if start + kept < stop:
                n_references = stop = start + kept  # the limit is reached
        i, times = nonzero(ask)[1], np.count_nonzero(ask, axis=1)
        if len(i):
            columns = np.repeat(np.stack([k[here], *y[:, t[here]]]), times, axis=1)
            try:
                answers = yield query_batch(n, i, *columns)
            except BudgetExhausted:
                if asked == 0:
                    raise
                break
            V[here][ask] = np.where(answers, np.int8(1), np.int8(-1))
        repeated.append((known[0] + upto[start], *known[1:]))
        asked += len(i)
        start = stop
    done = slice(0, upto[start])
    fill_antisymmetric(V[done], t[done], k[done], y, landmark, repeated)
    return gram_of_rows(V[done])
