"Rows of object numbers: the checks that every comparison passes once, and small helpers on numbers of objects."

import numpy as np

from .validation import as_array, is_real, require

MOST_NUMBERED = 2**31  # objects that can have numbers, so that numbers of pairs fit into 64 bits


def as_integer_rows(data, width, argument="data"):
    "The caller's rows as an (m, width) array of integers; nothing is rounded. Raises `InputError`."
    rule = f"an integer array of shape (m, {width}) with m ≥ 1"
    array = as_array(data, argument, rule)
    right_shape = array.ndim == 2 and array.shape[1] == width and len(array) > 0
    require(right_shape, argument, rule, array if array.ndim else data)
    if array.dtype.kind == "O":  # a DataFrame of mixed integer types, or something else
        strange = [x for x in array.flat if not is_real(x, (int, np.integer)) or abs(int(x)) >= 2**63]
        require(not strange, argument, "made of integers below 2³¹", strange[0] if strange else None)
        array = array.astype(np.int64)
    if array.dtype.kind == "f":
        array = array.astype(float)
        whole = np.isfinite(array) & (array == np.floor(array))
        require(whole.all(), argument, "made of integers", None if whole.all() else float(array[~whole][0]))
    require(array.dtype.kind in "iuf", argument, "made of integers", array)
    return array


def four_columns(array):
    "The two pairs {i, j} and {k, l} of every row of (m, 3) or (m, 4), as columns (i, j, k, l)."
    i, j, k, l = array.T if array.shape[1] == 4 else (*array.T[:2], array.T[0], array.T[2])
    return i, j, k, l


def first_broken_row(array, n_objects):
    "(row, rule) of the first row that is not a comparison of N objects (None: any number), or None."
    i, j, k, l = four_columns(array)
    limit, text = (MOST_NUMBERED, "2³¹") if n_objects is None else (n_objects, f"n_objects = {n_objects}")
    rules = [
        ("made of indices of at least 0", array.min(axis=1) < 0),
        (f"made of indices below {text}", array.max(axis=1) >= limit),
        ("a pair of two different objects on each side", (i == j) | (k == l)),
        ("a comparison of two different pairs", ((i == k) & (j == l)) | ((i == l) & (j == k))),
    ]
    return min([(int(np.argmax(bad)), rule) for rule, bad in rules if bad.any()], default=None)


def index_type(n_objects):
    "The integer type of indices: 32 bits while i·N + j fits, so that arithmetic on the columns cannot overflow."
    return np.int32 if n_objects <= 46_340 else np.int64


def is_name(cell):
    "Whether a text can name an object: not empty, and made of whole characters (JSON can spell halves of them)."
    return bool(cell) and not any("\ud800" <= c <= "\udfff" for c in cell)


def relabel_by_size(labels):
    "The same clusters as integers 0..k−1, the largest first; of equal ones the one with the smallest object."
    _, first, codes, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(first))
    return rank[codes.reshape(-1)]


WEIGHT_RULES = {
    "above zero": lambda weights: weights > 0,
    "of at least 0": lambda weights: weights >= 0,
    "of at least 0, not all of them 0": lambda weights: (weights >= 0) & weights.any(),
    "of at least 0, of sum 1": lambda weights: (weights >= 0) & (abs(weights.sum() - 1) < 1e-9),
}


def check_weights(weights, size, rule="above zero", argument="weights"):
    "Finite numbers that meet one of `WEIGHT_RULES`, as a copy: int64 where whole numbers came. Raises `InputError`."
    text = f"one finite number for each of {size}, {rule}"
    array = as_array(weights, argument, text)
    shaped = array.shape == (size,) and array.dtype.kind in "iuf"
    require(shaped, argument, text, array if array.ndim else weights)
    array = array.astype(np.int64 if array.dtype.kind in "iu" else float)
    with np.errstate(over="ignore", invalid="ignore"):
        good = np.isfinite(array) & np.isfinite(array.sum()) & WEIGHT_RULES[rule](array)
    if not good.all():
        alone = np.isfinite(array) & ((array > 0) if rule == "above zero" else (array >= 0))
        require(False, argument, text, array.tolist() if alone.all() else array[~alone][0].item())
    return array
