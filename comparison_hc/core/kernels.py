"""Kernels of comparisons: how often two objects agree, seen by every third object, over all majority votes.

Every sum is exact. Products are sparse, or by blocks of 32-bit floats where a block's sums stay below 2²⁴.
"""

import numpy as np

from ..comparisons import as_quadruplets, as_triplets, pair_from_index, pair_index
from .compat import repeat
from .parallel import limited_threads, map_on_threads
from .validation import check_flag, check_pairwise, check_progress

MANY_ANSWERS = 2_000_000  # from here on it pays to load numba, which takes a second
FEW_VOTES = 600_000  # up to here one product for all landmarks takes less than one for each
MOST_COLUMNS = 10_000_000  # of that product: a column costs memory, even an empty one
DENSE = 0.02  # from this share of entries on, a product of dense blocks is cheaper
BLOCK = 1 << 23  # entries of a block


# ---- comparisons as matrices


def comparison_matrices(quadruplets, weights=None):
    """(wins, losses): (P, P) CSR matrices, entry (x, y) where pair x beat pair y, and where it lost to y.

    Repeated answers are repeated entries: summed in 8 bits they could overflow.
    """
    from scipy.sparse import coo_array

    n_pairs = quadruplets.n_objects * (quadruplets.n_objects - 1) // 2
    counts = np.ones(len(quadruplets), dtype=np.int8) if weights is None else weights

    def matrix(row_and_column):
        entries = coo_array((counts, row_and_column), shape=(n_pairs, n_pairs))
        entries.has_canonical_format = True  # so that SciPy does not sum them
        return entries.tocsr()

    winners, losers = quadruplets.winners_and_losers()
    both = [(winners, losers), (losers, winners)]
    if len(quadruplets) < 10_000:
        return tuple(map(matrix, both))  # not worth starting threads
    return tuple(map_on_threads(matrix, both, 2))


def majority_matrix(quadruplets):
    "(P, P) CSR of 8 bits: +1 where the majority says that pair x is closer than pair y, −1 where it says the opposite."
    from scipy.sparse import coo_array

    n_pairs = quadruplets.n_objects * (quadruplets.n_objects - 1) // 2
    counts = np.ones(len(quadruplets), dtype=np.int32)
    wins = coo_array((counts, quadruplets.winners_and_losers()), shape=(n_pairs, n_pairs)).tocsr()
    return _signs(wins - wins.T.tocsr())


def _signs(counts):
    "The signs of a sparse matrix, in 8 bits."
    counts.data = np.sign(counts.data).astype(np.int8)
    counts.eliminate_zeros()
    return counts


def rater_matrix(triplets, self_pairs=False):
    "(N, pairs) CSR of 8 bits: +1 where the majority says that i is closer to the smaller-numbered object of a pair."
    from scipy.sparse import coo_array

    i, j, k = triplets.array.T
    if self_pairs:
        own, other = np.nonzero(~np.eye(triplets.n_objects, dtype=bool))
        i, j, k = np.concatenate([i, own]), np.concatenate([j, own]), np.concatenate([k, other])
    pairs, column = np.unique(pair_index(j, k), return_inverse=True)
    votes = np.where(j < k, 1, -1).astype(np.int32)
    return _signs(coo_array((votes, (i, column)), shape=(triplets.n_objects, len(pairs))).tocsr())


# ---- Gram matrices


def gram(A):
    "A Aᵀ of a sparse matrix with entries ±1."
    if A.nnz < DENSE * A.shape[0] * A.shape[1]:
        A = A.astype(np.int32)
        return (A @ A.T).toarray()
    total, step = np.zeros((A.shape[0],) * 2), max(1, BLOCK // A.shape[0])
    for start in range(0, A.shape[1], step):
        block = A[:, start : start + step].astype(np.float32).toarray()
        total += block @ block.T
    return total


def gram_of_rows(V):
    "VᵀV of a dense (votes, N) array with entries −1, 0, 1."
    step = max(1, (1 << 20) // V.shape[1])

    def part(block):
        A = V[block * step : (block + 1) * step].astype(np.float32)
        return A.T @ A

    return _sum_on_all_cores(part, -(-len(V) // step), V.shape[1])


def _sum_on_all_cores(part, n_parts, n_objects, progress=None):
    """The sum of the parts, with a zero diagonal.

    Each core takes whole parts: BLAS's own threads wait for each other, and very long on a busy machine.
    """
    total = np.zeros((n_objects, n_objects), dtype=np.int64)
    with limited_threads(user_api="blas"):
        parts = (map if n_objects <= 24 else map_on_threads)(part, range(n_parts))
        for done, value in enumerate(parts, 1):
            np.add(total, value, out=total, casting="unsafe")
            if progress:
                progress(done, n_parts)
    np.fill_diagonal(total, 0)
    return total


# ---- kernels


def _majority(answers):
    "The answers, or of answers with weights the majority's to every question."
    return answers if answers.weights is None else answers.majority()


def quadruplet_kernel(quadruplets, self_pairs=False, progress=None):
    """How often i and j agree, seen from all landmarks against all references (F19, eq. 3; appendix, eq. 9).

    The majority counts, by weight where answers have weights. Memory about 20 bytes an answer beside the answers; from
    millions of dense ones on, 4.
    """
    quadruplets = _majority(as_quadruplets(quadruplets, weighted=True))
    n = check_pairwise(quadruplets.n_objects)
    check_flag(self_pairs, "self_pairs")
    check_progress(progress)
    if _bits_are_cheapest(n, len(quadruplets)):
        return _kernel_by_bits(quadruplets, self_pairs, progress)
    votes = majority_matrix(quadruplets)
    n_pairs = votes.shape[0]
    if votes.nnz <= min(FEW_VOTES, 2 * n * n_pairs) and n * n_pairs <= MOST_COLUMNS:
        K = _kernel_at_once(votes, n)
        if progress:
            progress(n, n)
    else:

        def from_landmark(landmark):
            others, K = np.delete(np.arange(n), landmark), np.zeros((n, n), dtype=np.int64)
            K[np.ix_(others, others)] = gram(votes[pair_index(others, landmark)])
            return K

        K = _sum_on_all_cores(from_landmark, n, n, progress)
    if self_pairs:
        low, high = pair_from_index(np.arange(n_pairs))
        net = 2 * votes.sum(axis=1, dtype=np.int64)
        K[low, high] += net
        K[high, low] += net
    return K


def _kernel_at_once(votes, n):
    "One product, with a column for every landmark and reference."
    from scipy.sparse import coo_array

    n_pairs = votes.shape[0]
    low, high = pair_from_index(np.arange(n_pairs))
    pair, reference = repeat(np.arange(n_pairs), np.diff(votes.indptr)), votes.indices.astype(np.int64)
    i, j = low[pair], high[pair]  # {i, j} is seen by j as a vote of i, and by i as one of j
    columns = np.concatenate([j * n_pairs + reference, i * n_pairs + reference])
    entries = (np.tile(votes.data, 2).astype(np.int32), (np.concatenate([i, j]), columns))
    A = coo_array(entries, shape=(n, n * n_pairs)).tocsr()
    K = (A @ A.T).toarray().astype(np.int64)
    np.fill_diagonal(K, 0)
    return K


def _bits_are_cheapest(n_objects, n_answers):
    "Whether rows of bits beat the other products of a landmark, if answers are spread evenly; constants were timed."
    if n_answers < MANY_ANSWERS:
        return False
    from .compiled import has_numba

    rows, columns = float(n_objects), n_objects * (n_objects - 1) / 2
    votes = (rows - 1) * 2 * n_answers / columns
    by_bits = 2 * votes + 0.006 * rows**2 * columns
    return has_numba() and by_bits < (20 + 0.09 * rows) * votes + 0.1 * rows * columns


def _kernel_by_bits(quadruplets, self_pairs, progress):
    "`quadruplet_kernel` of many answers of equal weight, from rows of bits."
    from ._compiled_counts import ComparisonLists, gram_of_pairs

    n, net = quadruplets.n_objects, np.zeros((quadruplets.n_objects,) * 2, dtype=np.int64)
    lists = ComparisonLists(quadruplets.array, n)

    def from_landmark(landmark):
        others, K = np.delete(np.arange(n), landmark), np.zeros((n, n), dtype=np.int64)
        K[np.ix_(others, others)], sums = gram_of_pairs(lists, pair_index(others, landmark))
        if self_pairs:
            net[landmark, others] = sums
        return K

    return _sum_on_all_cores(from_landmark, n, n, progress) + 2 * net


def triplet_kernel(triplets, normalise=True, self_pairs=False):
    """How often i and j agree as raters of other objects (Kleindessner and von Luxburg, 2017).

    The majority counts, by weight where answers have weights. Memory O(m + N²).
    """
    triplets = _majority(as_triplets(triplets, weighted=True))
    check_pairwise(triplets.n_objects)
    check_flag(normalise, "normalise")
    A = rater_matrix(triplets, check_flag(self_pairs, "self_pairs"))
    K = gram(A).astype(np.int64)
    np.fill_diagonal(K, 0)
    if not normalise:
        return K
    root = np.sqrt(np.maximum(np.diff(A.indptr), 1))
    return K / np.outer(root, root)
