"""Two objects are alike if they vote alike: tables of votes, and all inner products of their rows, exactly and fast."""

import numpy as np

from ..comparisons import as_quadruplets, as_triplets, pair_from_index, pair_index
from .compat import bincount, repeat
from .parallel import map_on_threads
from .parallel import limited_threads
from .validation import as_array, check_flag, check_pairwise, check_progress, require

def vote_lists(quadruplets, weights=None):
    "Who beat whom. Repeated answers are repeated entries: summed in 8 bits they could overflow."
    from scipy.sparse import coo_array

    n_pairs = quadruplets.n_objects * (quadruplets.n_objects - 1) // 2
    counts = np.ones(len(quadruplets), dtype=np.int8) if weights is None else weights

    def listed(row_and_column):
        entries = coo_array((counts, row_and_column), shape=(n_pairs, n_pairs))
        entries.has_canonical_format = True  # so that SciPy does not sum them
        return entries.tocsr()

    winners, losers = quadruplets.winners_and_losers()
    both = [(winners, losers), (losers, winners)]
    if len(quadruplets) < 10_000:
        return tuple(map(listed, both))  # not worth starting threads
    return tuple(map_on_threads(listed, both, 2))


def summed_lists(lists):
    "Repeated answers counted; lists without any are only put in order, or returned as they are."
    beat, lost = lists
    if not (beat.has_sorted_indices and lost.has_sorted_indices):
        beat, lost = lost.T.tocsr(), beat.T.tocsr()  # what was transposed is sorted
    if beat.has_canonical_format:
        return beat, lost
    beat = beat.astype(np.int32)
    beat.sum_duplicates()
    return beat, beat.T.tocsr()


def vote_table(lists, rows=None):
    "Entry (x, y): the majority's vote for pair x against pair y."
    beat, lost = lists if rows is None else (entries[rows] for entries in lists)
    table = beat - lost
    np.sign(table.data, out=table.data)
    return table.astype(np.int8, copy=False)

def judge_table(triplets, self_pairs=False):
    "The majority's answers: +1 where the judge is closer to the object with the smaller number."
    from scipy.sparse import coo_array

    i, j, k = triplets.array.T
    if self_pairs:
        own, other = np.nonzero(~np.eye(triplets.n_objects, dtype=bool))
        i, j, k = np.concatenate([i, own]), np.concatenate([j, own]), np.concatenate([k, other])
    pairs, column = np.unique(pair_index(j, k), return_inverse=True)
    votes = np.where(j < k, 1, -1).astype(np.int32)
    A = coo_array((votes, (i, column)), shape=(triplets.n_objects, len(pairs))).tocsr()
    np.sign(A.data, out=A.data)
    A.eliminate_zeros()
    return A.astype(np.int8)

def sparse_gram(A):
    "A Aᵀ by the entries of A."
    A = A.astype(np.int32)
    return (A @ A.T).toarray()


def mixed_gram(A, cells=1 << 22):
    "A Aᵀ with one factor written out, by blocks of columns; exact, because a block has fewer than 2¹⁵ of them."
    from scipy.sparse import csr_array

    n_rows = A.shape[0]
    M = A.astype(np.int16).T.tocsr()
    total = np.zeros((n_rows, n_rows), dtype=np.int64)
    step = min(max(1, cells // n_rows), 2**15 - 1)
    for start in range(0, len(M.indptr) - 1, step):
        ends = M.indptr[start : start + step + 1]
        here = slice(ends[0], ends[-1])
        block = csr_array((M.data[here], M.indices[here], ends - ends[0]), shape=(len(ends) - 1, n_rows))
        total += block.T @ block.toarray()
    return total


def dense_gram(A, cells=1 << 23):
    "A Aᵀ by dense blocks of columns; exact, because a block has fewer than 2²⁴ of them."
    total = np.zeros((A.shape[0], A.shape[0]))
    step = max(1, cells // A.shape[0])
    for start in range(0, A.shape[1], step):
        block = (A if step >= A.shape[1] else A[:, start : start + step]).astype(np.float32).toarray()
        total += block @ block.T
    return total


def gram_costs(A):
    """About what each way of computing A Aᵀ takes.

    The constants come from timing one landmark of 4K–AL at N = 64 and N = 240; only their ratios matter.
    """
    rows, columns = map(float, A.shape)
    votes = float(A.nnz)
    products = float((bincount(A.indices).astype(float) ** 2).sum())  # pairs of votes on the same reference
    costs = {
        sparse_gram: 4.5 * products + 25 * votes,
        mixed_gram: (15 + 0.09 * rows) * votes + 0.1 * rows * columns,
        dense_gram: 3 * votes + 0.02 * rows**2 * columns,
    }
    return dict(sorted(costs.items(), key=lambda item: item[1]))


def gram(A):
    "A Aᵀ, whichever way is cheapest."
    return next(iter(gram_costs(A)))(A)

def sum_on_all_cores(part, n_parts, n_objects, progress=None):
    """The sum of the parts, with a zero diagonal.

    Each core takes whole parts: BLAS's own threads wait for each other, and very long on a busy machine.
    """
    total = np.zeros((n_objects, n_objects), dtype=np.int64)

    def add_up(values):
        for done, value in enumerate(values, 1):
            np.add(total, value, out=total, casting="unsafe")
            if progress:
                progress(done, n_parts)

    if n_objects <= 24:
        add_up(map(part, range(n_parts)))  # not worth starting threads
    else:
        with limited_threads(user_api="blas"):
            add_up(map_on_threads(part, range(n_parts)))
    np.fill_diagonal(total, 0)
    return total


def gram_of_votes(V):
    "VᵀV for small integers, exactly: 32-bit floats are exact up to 2²⁴, far above the votes in a block."
    V = as_array(V, "V", "(votes, N) small integers")
    small = V.dtype.kind in "iub" and V.dtype.itemsize == 1
    require(V.ndim == 2 and V.shape[1] and small, "V", "(votes, N) integers of 8 bits, N ≥ 1", V)
    step = max(1, (1 << 20) // V.shape[1])

    def part(block):
        A = V[block * step : (block + 1) * step].astype(np.float32)
        return A.T @ A

    return sum_on_all_cores(part, -(-len(V) // step), V.shape[1])

MANY_ANSWERS = 2_000_000  # from here on it pays to load numba, which takes a second


def bits_are_cheapest(n_objects, n_answers):
    "Whether rows of bits beat the other products of a landmark, if answers are spread evenly; constants were timed."
    if n_answers < MANY_ANSWERS:
        return False
    from comparison_hc.core.machine_votes import works

    rows, columns = float(n_objects), n_objects * (n_objects - 1) / 2
    votes = (rows - 1) * 2 * n_answers / columns
    by_bits = 2 * votes + 0.006 * rows**2 * columns
    return works() and by_bits < (20 + 0.09 * rows) * votes + 0.1 * rows * columns


FEW_ANSWERS = 100_000  # up to here one product for all landmarks takes less than one for each
MOST_COLUMNS = 10_000_000  # of that product: a column costs memory, even an empty one


def _kernel_at_once(lists, n, self_pairs):
    "`landmark_kernel` of few answers: a column for every landmark and reference, and one product."
    from scipy.sparse import coo_array

    table = vote_table(lists)
    n_pairs, K = table.shape[0], np.zeros((n, n), dtype=np.int64)
    low, high = pair_from_index(np.arange(n_pairs, dtype=np.int64))
    pair = repeat(np.arange(n_pairs, dtype=np.int64), np.diff(table.indptr))
    i, j, reference = low[pair], high[pair], table.indices.astype(np.int64)
    if table.nnz:  # {i, j} is seen by j as a vote of i, and by i as one of j
        columns = np.concatenate([j * n_pairs + reference, i * n_pairs + reference])
        votes = np.concatenate([table.data, table.data])
        A = coo_array((votes, (np.concatenate([i, j]), columns)), shape=(n, n * n_pairs))
        K += gram(A.tocsr()).astype(np.int64)
        np.fill_diagonal(K, 0)
    if self_pairs:
        adds = 2 * table.astype(np.int64).sum(axis=1)
        K[low, high] += adds
        K[high, low] += adds
    return K


def _kernel_by_bits(quadruplets, self_pairs, progress):
    "`landmark_kernel` of many answers of equal weight, from rows of bits."
    from comparison_hc.core.machine_votes import OpponentLists, votes_from

    n, adds = quadruplets.n_objects, np.zeros((quadruplets.n_objects,) * 2, dtype=np.int64)
    lists = OpponentLists(quadruplets.array, n)

    def from_landmark(r):
        others, K = np.delete(np.arange(n), r), np.zeros((n, n), dtype=np.int64)
        K[np.ix_(others, others)], sums = votes_from(lists, pair_index(others, r))
        if self_pairs:
            adds[r, others] = sums
        return K

    return sum_on_all_cores(from_landmark, n, n, progress) + 2 * adds


_GRAM = gram  # the choice between products, as long as nobody else made it


def _settled(answers):
    "The answers, or of answers with weights the majority's to every question."
    return answers if answers.weights is None else answers.majority()


def landmark_kernel(quadruplets, self_pairs=False, progress=None, gram=gram, lists=None):
    """How much i and j agree, seen from all third objects against all references (F19, eq. 3; appendix, eq. 9).

    The majority counts, by weight where answers have weights. Memory about 20 bytes an answer beside the answers; from
    millions of dense ones on, 4.
    """
    quadruplets = _settled(as_quadruplets(quadruplets, weighted=lists is None))
    n = check_pairwise(quadruplets.n_objects)
    check_flag(self_pairs, "self_pairs")
    check_progress(progress)
    if lists is None and gram is _GRAM and bits_are_cheapest(n, len(quadruplets)):
        return _kernel_by_bits(quadruplets, self_pairs, progress)
    lists = summed_lists(vote_lists(quadruplets) if lists is None else lists)
    if gram is _GRAM and lists[0].nnz <= FEW_ANSWERS and n * lists[0].shape[0] <= MOST_COLUMNS:
        K = _kernel_at_once(lists, n, self_pairs)
        if progress:
            progress(n, n)
        return K
    adds = np.zeros((n, n), dtype=np.int64)

    def from_landmark(r):
        others = np.delete(np.arange(n), r)
        A = vote_table(lists, pair_index(others, r))
        K = np.zeros((n, n), dtype=np.int64)
        if self_pairs:
            adds[r, others] = A.astype(np.int64).sum(axis=1)
        if A.nnz:
            K[np.ix_(others, others)] = gram(A)
        return K

    return sum_on_all_cores(from_landmark, n, n, progress) + 2 * adds

def judge_kernel(triplets, normalise=True, self_pairs=False):
    """How much i and j agree as judges of other objects (Kleindessner and von Luxburg, 2017).

    The majority counts, by weight where answers have weights. Memory O(m + N²).
    """
    triplets = _settled(as_triplets(triplets, weighted=True))
    check_pairwise(triplets.n_objects)
    check_flag(normalise, "normalise")
    A = judge_table(triplets, check_flag(self_pairs, "self_pairs"))
    K = gram(A).astype(np.int64)
    np.fill_diagonal(K, 0)
    if not normalise:
        return K
    root = np.sqrt(np.maximum(np.diff(A.indptr), 1))
    return K / np.outer(root, root)
