"Weights of answers: the caller's, those the answers carry, or ones."

import numpy as np

from ._rows import check_weights


def sample_weight(answers, weights=None, rule="of at least 0, not all of them 0"):
    "Weights of the answers: the caller's, else those they carry, else None."
    return answers.weights if weights is None else check_weights(weights, len(answers), rule)


def each_weight(answers, weights=None):
    "As `sample_weight`, with ones instead of None."
    found = sample_weight(answers, weights, "of at least 0")
    return np.ones(len(answers), dtype=np.int64) if found is None else found
