"A whole weight is so many copies of an answer, and only ratios of weights matter: for every method that takes answers."

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core._rows import WEIGHT_RULES, check_weights
from comparison_hc.core.validation import InputError
from comparison_hc.core.weights import each_weight
from comparison_hc.dendrogram import random_tree
from comparison_hc.elicitation.crowd import crowd_table, crowd_weights, make_crowd
from comparison_hc.evaluation.bootstrap import null_flip, null_redraw, structure_test
from comparison_hc.evaluation.embedding import _compared_pairs, _forte_loss, _t_ste_loss
from comparison_hc.evaluation.model_selection import choose_method, compare_methods, signed_correctness
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.methods import build_hierarchy, methods
from comparison_hc.oracles import sample_triplets

PASSIVE = [name for name, method in methods.items() if method.passive]
SCALES = st.sampled_from([0.1, 1 / 3, 1.0, 7.0, 1e-9, 1e9])


@st.composite
def weighted_answers(draw, width=None):
    "Answers that contradict each other, with whole weights times a scale, and the same answers so often."
    width = draw(st.sampled_from([3, 4])) if width is None else width
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = int(rng.integers(4, 8))
    rows = np.array([rng.permutation(n)[:width] for _ in range(rng.integers(1, 60))])
    times = rng.integers(1, 4, len(rows))
    make = Triplets if width == 3 else Quadruplets
    return make(rows, n, weights=times * draw(SCALES)), make(np.repeat(rows, times, axis=0), n)


@pytest.mark.parametrize("method", PASSIVE)
@given(answers=weighted_answers(3))
@settings(max_examples=15)
def test_every_method_weighs_as_copies_count(method, answers):
    weighted, repeated = answers
    exact = Triplets(weighted, weights=np.round(weighted.weights / weighted.weights.min()))
    assert build_hierarchy(method, exact)[0] == build_hierarchy(method, repeated)[0]
    again = Triplets(exact, weights=exact.weights / 8)
    assert build_hierarchy(method, again)[0] == build_hierarchy(method, repeated)[0]


# ---- held out


def planted(n_answers=400, seed=0):
    return sample_triplets(planted_hierarchy(3, 2, 0.8, 0.2, 0.05, 0).similarity, n_answers, seed)


def among_coins(n_true, n_coins):
    "Right answers, and many by chance that count a thousandth."
    true = planted(n_true)
    coins = true.take(np.arange(n_coins) % n_true).flip(0.5, 2)
    rows, weights = np.concatenate([true.array, coins.array]), np.repeat([1, 1e-3], [n_true, n_coins])
    return Triplets(rows, 12, weights=weights)


def test_held_out_agreement_is_weighted():
    answers, tree = planted(), random_tree(12, 3)
    weights = np.random.default_rng(0).random(len(answers)) + 0.01
    weighted = Triplets(answers, weights=weights)
    found = compare_methods(weighted, {"a tree": lambda some: tree}, n_splits=3)
    shares = []
    for split in found.plan.splits:
        said, w = signed_correctness(tree, answers)[split.test], weights[split.test]
        shares.append((w[said > 0].sum() + w[said == 0].sum() / 2) / w.sum())
    np.testing.assert_allclose(found.runs.agreement, shares)
    plain = compare_methods(answers, {"a tree": lambda some: tree}, n_splits=3)
    assert (found.runs.agreement != plain.runs.agreement).any()


def test_auto_weighs():
    both = among_coins(300, 1500)
    choice = choose_method(both)
    assert choice.compared is not None and choice.compared.table.agreement[choice.name] > 0.7
    blind = choose_method(both.without_weights())
    assert blind.compared.table.agreement[blind.name] < 0.65


@given(weighted_answers(3), st.integers(0, 99))
@settings(max_examples=20)
def test_losses_of_embeddings_weigh(answers, seed):
    weighted, repeated = answers
    points = np.random.default_rng(seed).normal(size=(weighted.n_objects, 2))
    for loss in (lambda pairs: _t_ste_loss(points, pairs, 1.0), lambda pairs: _forte_loss(points @ points.T, pairs)):
        for one, two in zip(loss(_compared_pairs(weighted)), loss(_compared_pairs(repeated))):
            np.testing.assert_allclose(one, two, atol=1e-12)


# ---- people and chance


def test_people_are_judged_by_weight():
    said = make_crowd(planted_hierarchy(3, 2, 0.8, 0.2, 0.05, 0).similarity, 60, [0.9, 0.8, 0.7, 0.5], 0)
    times = np.random.default_rng(1).integers(1, 4, len(said))
    repeated = crowd_table(said.take(np.repeat(np.arange(len(said)), times)), "3-al").set_index("person")
    found = crowd_table(Triplets(said, weights=times / 4), "3-al").set_index("person").loc[repeated.index]
    np.testing.assert_allclose(found.agreement, repeated.agreement)
    assert (found.answers == 60).all() and (found.decided < 60).all()  # answers are counted, not weighed
    weights = [crowd_weights(one, "3-al").weights for one in (Triplets(said, weights=times), said)]
    assert (weights[0] != weights[1]).any()


def test_the_structure_test_weighs():
    both = among_coins(200, 1000)
    found = structure_test(both, "3-al", 19)
    assert found.p_value == 0.05 and found.agreement > 0.9
    said, w = signed_correctness(build_hierarchy("3-al", both)[0], both), both.weights
    assert found.agreement == pytest.approx(w[said > 0].sum() / w[said != 0].sum())
    assert (null_flip(both, np.random.default_rng(0)).weights == both.weights).all()
    statements = Triplets.from_central([[0, 1, 2], [1, 2, 3]], weights=[0.5, 2])
    assert null_redraw(statements, np.random.default_rng(0)).weights.tolist() == [0.5, 0.5, 2, 2]


# ---- the gate


@pytest.mark.parametrize("rule", WEIGHT_RULES)
@pytest.mark.parametrize(
    "bad", [[1], [[1, 0]], [1, -1], [1, np.nan], [1, np.inf], [1e308, 1e308], ["a", "b"], [True, False], 3, None]
)
def test_weights_that_are_none(rule, bad):
    with pytest.raises(InputError, match=f"^share must be one finite number for each of 2, {rule}; got"):
        check_weights(bad, 2, rule, "share")


def test_rules_for_weights():
    allowed = {rule: [w for w in ([0, 0], [0, 1], [2, 1]) if _passes(w, rule)] for rule in WEIGHT_RULES}
    assert list(allowed.values()) == [[[2, 1]], [[0, 0], [0, 1], [2, 1]], [[0, 1], [2, 1]], [[0, 1]]]
    given_ = np.array([1, 2])
    found = check_weights(given_, 2)
    found[0] = 9
    assert given_.tolist() == [1, 2] and found.dtype == np.int64
    answers = Triplets([[0, 1, 2]], weights=[3])
    assert each_weight(answers).tolist() == [3] and each_weight(answers, [0]).tolist() == [0]
    assert each_weight(answers.without_weights()).tolist() == [1] and not answers.weights.flags.writeable


def _passes(weights, rule):
    try:
        check_weights(weights, 2, rule)
    except InputError:
        return False
    return True


@pytest.mark.parametrize(
    "bad, got", [([1.0, np.nan], "nan"), ([2, -1], "-1"), ([0, 0], "[0, 0]"), ([1e308, 1e308], "[1e+308, 1e+308]")]
)
def test_the_wrong_weight_is_named_or_all_where_only_their_sum_is_wrong(bad, got):
    with pytest.raises(InputError, match=re.escape(f"not all of them 0; got {got}") + "$"):
        check_weights(bad, 2, "of at least 0, not all of them 0")
