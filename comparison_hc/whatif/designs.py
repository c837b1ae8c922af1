"""Value of a question of each kind, and one simulated study: hidden groups, response errors, answers, a tree."""

import numpy as np

from ..adaptive.insertion import insertion_clustering
from ..comparisons import Triplets
from ..core.queries import Wrapper
from ..core.validation import as_rng
from ..evaluation.model_selection import signed_correctness
from ..hierarchical.planted import planted_hierarchy
from ..methods import build_hierarchy
from ..metrics import average_ari
from ..oracles import Budget, BudgetExhausted, Noisy, SimilarityOracle, run
from ..reproduce.simulation import MU, SIGMA


def hidden_groups(n_objects, n_levels, delta_over_sigma, rng):
    "Similarities in a planted hierarchy of any number of objects."
    planted = planted_hierarchy(
        -(-n_objects // 2**n_levels), n_levels, MU, delta_over_sigma * SIGMA, SIGMA, as_rng(rng)
    )
    place = np.concatenate([np.flatnonzero(planted.labels == group) for group in range(2**n_levels)])
    order = place.reshape(2**n_levels, -1).T.ravel()[:n_objects]  # first one of every group, then the second of every
    kept = np.sort(order)
    return planted.similarity[np.ix_(kept, kept)], planted.levels[:, kept]


QUESTIONS = ("triplets", "odd-one-out", "central")  # whose questions can be written down before the study
DESIGNS = (*QUESTIONS, "adaptive")
WORDS = {
    "triplets": "random triplets: is the first more like the second or like the third?",
    "odd-one-out": "odd one out: which of three does not belong?",
    "central": "most central: which of three is the most typical?",
    "adaptive": "adaptively: which of three does not belong, chosen by the answers before?",
}


def random_questions(n_objects, n_questions, rng):
    "Three objects at random, in random order."
    return np.argsort(rng.random((n_questions, n_objects)), axis=1)[:, :3]


def chosen_places(design, similarity, questions, noise, rng):
    "What people say."
    i, j, k = questions.T
    beside = np.stack([similarity[j, k], similarity[i, k], similarity[i, j]], axis=1)  # how alike the other two are
    slip, shift = rng.random(len(questions)) < noise, rng.integers(1, 3, len(questions))
    if design == "triplets":
        right = np.where(beside[:, 2] > beside[:, 1], 1, 2)
        return np.where(slip, 3 - right, right)
    right = beside.argmax(axis=1) if design == "odd-one-out" else beside.argmin(axis=1)
    return np.where(slip, (right + shift) % 3, right)


def rows_said(design, questions, chosen):
    "What answers mean, as rows (i, j, k): i is closer to j than to k."
    row = np.arange(len(questions))
    if design == "triplets":
        return np.stack([questions[:, 0], questions[row, chosen], questions[row, 3 - chosen]], axis=1)
    c, a, b = (questions[row, (chosen + step) % 3] for step in range(3))
    if design == "odd-one-out":
        return np.concatenate([np.stack([a, b, c], axis=1), np.stack([b, a, c], axis=1)])
    return np.concatenate([np.stack([a, c, b], axis=1), np.stack([b, c, a], axis=1)])


class _Kept(Wrapper):
    "An oracle that keeps what was asked and said."

    def __init__(self, oracle):
        super().__init__(oracle)
        self.rows = []

    def __call__(self, queries):
        answers = self._ask(queries)
        self.rows += [(*query, answer) for query, answer in zip(np.asarray(queries).tolist(), answers.tolist())]
        return answers


def adaptive_rows(similarity, n_questions, per_person, noise, rng):
    "What people say whose questions follow from their answers."
    rows, left = [], n_questions
    while left > 0:
        order = rng.permutation(len(similarity))
        kept = _Kept(Noisy(SimilarityOracle(similarity[np.ix_(order, order)]), 1 - noise, rng))
        try:
            run(insertion_clustering(len(similarity)), Budget(kept, min(left, per_person)))
        except BudgetExhausted:
            pass
        said = np.array(kept.rows).reshape(-1, 4)
        rows.append(rows_said("odd-one-out", order[said[:, :3]], said[:, 3]))
        left -= per_person
    return np.concatenate(rows)


NEAR, SHOWN = 4, 12  # of a grid, at most


def grid_rows(similarity, n_rows, noise, rng):
    "Comparisons of grids in which the nearest third is picked, drawn at random from many of them."
    n = len(similarity)
    shown = min(SHOWN, n - 1)
    near = max(1, round(shown * NEAR / SHOWN))
    order = np.argsort(rng.random((n_rows, n)), axis=1)[:, : shown + 1]
    row, probe, others = np.arange(n_rows), order[:, 0], order[:, 1:]
    ranked = np.take_along_axis(others, np.argsort(-similarity[probe[:, None], others], axis=1), axis=1)
    first, second = ranked[row, rng.integers(near, size=n_rows)], ranked[row, rng.integers(near, shown, n_rows)]
    slip = rng.random(n_rows) < noise
    return np.stack([probe, np.where(slip, second, first), np.where(slip, first, second)], axis=1)


TEST_QUESTIONS = 1500


def study_rows(design, similarity, n_questions, per_person, noise, rng):
    "The answers of one study."
    if design == "adaptive":
        return adaptive_rows(similarity, n_questions, per_person, noise, rng)
    if design == "grid":
        return grid_rows(similarity, n_questions, noise, rng)
    questions = random_questions(len(similarity), n_questions, rng)
    return rows_said(design, questions, chosen_places(design, similarity, questions, noise, rng))


def study_run(n_objects, n_levels, delta_over_sigma, noise, design, questions, per_person, method, repetition, rng):
    "One simulated study."
    for_truth, for_answers, for_test = as_rng(rng).spawn(3)
    similarity, levels = hidden_groups(n_objects, n_levels, delta_over_sigma, for_truth)
    rows = study_rows(design, similarity, questions, per_person, noise, for_answers)
    tree = build_hierarchy(method, Triplets(rows, n_objects))[0]
    asked = "odd-one-out" if design == "adaptive" else design
    new = Triplets(study_rows(asked, similarity, TEST_QUESTIONS, per_person, noise, for_test), n_objects)
    return {"aari": average_ari(levels, tree), "agreement": float((1 + signed_correctness(tree, new).mean()) / 2)}
