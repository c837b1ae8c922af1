"""scikit-learn's own checks on every estimator: which apply, which cannot, and what stands in their place."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags

from comparison_hc import ComparisonClustering, ComparisonHC, InputError
from comparison_hc.evaluation.model_selection import held_out_agreement
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.link import LinkageLearner, MixedLinkage
from comparison_hc.oracles import sample_triplets

TABLE = "feeds a table of features; X is {}: every row is refused at the gate"
TWICE = "expects scikit-learn's sentence about tables of features; ours names the argument and the rule"
FEATURES = dict.fromkeys(
    """check_fit_score_takes_y check_estimators_overwrite_params check_dont_overwrite_parameters
    check_estimators_fit_returns_self check_readonly_memmap_input check_n_features_in_after_fitting
    check_positive_only_tag_during_fit check_estimators_dtypes check_dtype_object check_pipeline_consistency
    check_estimators_pickle check_f_contiguous_array_estimator check_clustering check_methods_sample_order_invariance
    check_methods_subset_invariance check_dict_unchanged check_fit_idempotent check_fit_check_is_fitted
    check_n_features_in check_fit2d_predict1d check_estimators_nan_inf check_non_transformer_estimators_n_iter
    """.split(),
    TABLE,
) | dict.fromkeys(
    """check_complex_data check_estimators_empty_data_messages check_fit2d_1sample check_fit2d_1feature
    """.split(),
    TWICE,
)
TAKES = {  # estimator → what its X is, in words
    MixedLinkage: "a matrix of distances",
    ComparisonHC: "comparisons, rows of object numbers",
    ComparisonClustering: "comparisons, rows of object numbers",
    LinkageLearner: "a sequence of tasks",
}
ALWAYS = {  # checks without data: these have to run and to pass
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
}


def all_checks(estimator):
    "scikit-learn's checks, in whatever version there is."
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator)
    return estimator_checks.check_estimator(estimator, generate_only=True)


@pytest.mark.parametrize("kind", TAKES, ids=lambda kind: kind.__name__)
def test_checks_of_scikit_learn_pass_or_are_in_the_table(kind):
    passed, excused = set(), set()
    for estimator, check in all_checks(kind()):
        name = getattr(check, "func", check).__name__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(estimator)
                passed.add(name)
            except pytest.skip.Exception:
                pass
            except Exception as error:
                if type(error).__name__ == "SkipTest":
                    continue
                assert name in FEATURES, f"{name}: {error}"
                cause = error if isinstance(error, InputError) else error.__cause__ or error.__context__
                said = isinstance(cause, InputError) or "doesn't check for NaN and inf" in str(error)
                assert said, f"{name} is excused, but not for an InputError: {error!r}"
                excused.add(name)
    assert ALWAYS <= passed
    assert excused  # features are refused: otherwise the table is not needed any more


RNG = np.random.default_rng(0)
MODEL = planted_hierarchy(3, 2, 0.8, 0.3, 0.05, 3)
TRIPLETS = sample_triplets(MODEL.similarity, 600, 1).array
POINTS = RNG.normal(size=(12, 2))
DISTANCES = np.linalg.norm(POINTS[:, None] - POINTS, axis=2)
TASKS = [(DISTANCES, np.arange(12) % 3), (DISTANCES**2, np.arange(12) % 2)]
CASES = {  # what the excused checks are about, on data that each estimator is for
    "trees": (ComparisonHC(n_clusters=3), TRIPLETS),
    "flat": (ComparisonClustering(n_clusters=3), TRIPLETS),
    "distances": (MixedLinkage(n_clusters=3), DISTANCES),
    "tasks": (LinkageLearner(), TASKS),
}


def learned(model):
    "What a fit found, as numbers."
    return np.asarray(model.labels_ if hasattr(model, "labels_") else [model.alpha_, *model.interval_])


@pytest.mark.parametrize("case", CASES)
def test_fit_changes_nothing_and_gives_the_same_again(case):
    model, X = CASES[case]
    model, before = clone(model), pickle.dumps(X)
    parameters = model.get_params()
    assert model.fit(X) is model and model.get_params() == parameters and pickle.dumps(X) == before
    first = learned(model)
    np.testing.assert_array_equal(learned(model.fit(X)), first)
    np.testing.assert_array_equal(learned(clone(model).fit(X)), first)
    np.testing.assert_array_equal(learned(pickle.loads(pickle.dumps(model))), first)


@pytest.mark.parametrize("case", ["trees", "flat", "distances"])
def test_arrays_in_every_form_are_the_same_data(case):
    model, X = CASES[case]
    first = learned(clone(model).fit(X))
    frozen = X.copy()
    frozen.flags.writeable = False
    forms = [np.asfortranarray(X), frozen, pd.DataFrame(X), X.tolist(), X.astype(object)]
    forms += [X.astype(kind) for kind in ((np.int16, np.int64, float) if case != "distances" else (float,))]
    for form in forms:
        np.testing.assert_array_equal(learned(clone(model).fit(form)), first)
        pipeline = make_pipeline(clone(model))
        np.testing.assert_array_equal(pipeline.fit_predict(form), first)


def test_set_output_is_only_for_transformers():
    for model, _ in CASES.values():
        assert not hasattr(model, "set_output") and not hasattr(model, "transform")


def test_a_matrix_of_distances_is_cut_in_rows_and_columns():
    tags = get_tags(MixedLinkage())
    assert tags.input_tags.pairwise and not get_tags(ComparisonHC()).input_tags.pairwise
    sizes = []

    def scoring(model, X, y=None):
        sizes.append((model.linkage_matrix_.shape[0] + 1, X.shape))
        return 0.0

    cross_val_score(MixedLinkage(), DISTANCES, cv=KFold(3), scoring=scoring)
    assert sizes == [(8, (4, 8))] * 3


def test_a_grid_is_searched_by_held_out_answers():
    search = GridSearchCV(
        ComparisonHC(rng=0),
        {"linkage": ["4-al", "3-al"], "n_clusters": [None, 2]},
        scoring=held_out_agreement,
        cv=KFold(3, shuffle=True, random_state=0),
    )
    for X in (TRIPLETS, pd.DataFrame(TRIPLETS, columns=["i", "j", "k"])):
        search.fit(X)
        folds = [search.cv_results_[f"split{i}_test_score"] for i in range(3)]
        for scores, (train, test) in zip(folds, search.cv.split(TRIPLETS)):
            tree = ComparisonHC("4-al").fit(TRIPLETS[train])
            assert scores[0] == scores[1] == held_out_agreement(tree, TRIPLETS[test])
        assert search.best_score_ > 0.7 and search.best_estimator_.dendrogram_.n_objects == 12
    piped = GridSearchCV(make_pipeline(ComparisonHC()), {"comparisonhc__linkage": ["4-al"]}, scoring=piped_score, cv=3)
    assert 0.5 < piped.fit(TRIPLETS).best_score_ <= 1


def piped_score(pipeline, X, y=None):
    "The same score of a pipeline's last step."
    return held_out_agreement(pipeline[-1], X)


def test_the_score_counts_what_a_tree_cannot_know_as_half():
    tree = ComparisonHC().fit([[0, 1, 2], [1, 0, 2]])
    assert held_out_agreement(tree, [[0, 1, 2], [0, 3, 1], [4, 3, 1]]) == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="estimator must be"):
        held_out_agreement(ComparisonHC(), [[0, 1, 2]])
