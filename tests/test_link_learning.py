"Learning a linkage: averages, the log of finished instances, and the estimators."

import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import interrupted_after
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from comparison_hc.core.validation import InputError
from comparison_hc.link import (
    LearnedLinkage,
    LinkageLearner,
    MixedLinkage,
    PiecewiseLoss,
    alpha_linkage,
    average_loss,
    beta_linkage,
    confidence_band,
    learn_linkage,
    piecewise_loss,
    rings_and_disks,
    split_instances,
    theorem_1_rate,
)
from comparison_hc.metrics import pruning_loss


def task(seed, n=24):
    points, labels = rings_and_disks(n, seed)
    return np.linalg.norm(points[:, None] - points, axis=2), labels


TASKS = [task(seed, n) for seed, n in enumerate((24, 20, 28, 24))]
D, LABELS = TASKS[0]
CURVE = PiecewiseLoss(np.array([0, 1.0]), np.array([0.5]), 1)


def same(one, two):
    curves = one.curve, two.curve
    return all(np.array_equal(*(getattr(curve, name) for curve in curves)) for name in ("breakpoints", "values"))


# ---- averages


@st.composite
def curves(draw):
    inner = sorted(draw(st.sets(st.sampled_from([i / 16 for i in range(1, 16)]), max_size=6)))
    values = draw(st.lists(st.integers(0, 12), min_size=len(inner) + 1, max_size=len(inner) + 1))
    return PiecewiseLoss(np.array([0.0, *inner, 1.0]), np.array(values) / 12, 1)


@given(st.lists(curves(), min_size=1, max_size=5))
def test_averages_are_the_definition(some):
    average = average_loss(some)
    assert set(average.breakpoints) == {x for curve in some for x in curve.breakpoints}
    for x in [i / 32 for i in range(33)]:
        exact = sum(Fraction(round(float(curve(x)) * 12), 12) for curve in some) / len(some)
        assert abs(float(average(x)) - exact) < 1e-15 * 8
    assert np.array_equal(average.values, average_loss(some[::-1]).values)


def test_long_sums_do_not_drift():
    "The same average everywhere must come out as one interval, however many steps lead there."
    points, up = np.arange(2001) / 2000, np.tile([1 / 3, 2 / 3], 1000)
    average = average_loss([PiecewiseLoss(points, values, 1) for values in (up, up[::-1].copy())])
    assert len(average.simplified().values) == 1


@pytest.mark.parametrize("merges", [("single", "complete"), ("average", "complete")])
def test_the_curve_is_what_the_algorithm_does(merges):
    learned = learn_linkage(TASKS, merges)
    for x in (0, learned.parameter, 1, *np.random.default_rng(0).random(4)):
        direct = np.mean([pruning_loss(alpha_linkage(D, x, merges), labels) for D, labels in TASKS])
        assert abs(learned.curve(x) - direct) < 1e-14
    low, high = learned.interval
    assert low <= learned.parameter < high
    assert learned.curve(learned.parameter) == learned.loss == learned.curve.values.min()
    assert learned.n_pieces == sum(len(piecewise_loss(D, labels, merges).values) for D, labels in TASKS)


def test_two_metrics():
    pairs = [((D, D**3), labels) for D, labels in TASKS]
    learned = learn_linkage(pairs, "average", loss="majority")
    x = learned.parameter
    values = [piecewise_loss((D0, D1), labels, "average", "majority")(x) for (D0, D1), labels in pairs]
    assert learned.curve.parameter == "β" and abs(learned.loss - np.mean(values)) < 1e-14
    assert beta_linkage(*pairs[0][0], x, "average").same_tree(MixedLinkage(x, "average").fit(pairs[0][0]).dendrogram_)


# ---- interrupted runs, and the log


def test_workers_and_interruptions_do_not_change_the_result(tmp_path):
    part = learn_linkage(TASKS, journal=tmp_path / "j", progress=interrupted_after(2))
    assert not part.is_complete and len(part.curves) == 2 and "partial" in repr(part)
    seen, whole = [], learn_linkage(TASKS)
    assert same(learn_linkage(TASKS, journal=tmp_path / "j", progress=lambda *about: seen.append(about)), whole)
    assert seen == [(2, 4), (3, 4), (4, 4)] and same(learn_linkage(TASKS, n_jobs=2), whole)
    with pytest.raises(KeyboardInterrupt):
        learn_linkage(TASKS, progress=interrupted_after(0))


def test_a_killed_run_continues(tmp_path):
    path, seen = tmp_path / "j", []
    code = f"""
import sys, time
sys.path.insert(0, "tests")
from test_link_learning import TASKS, learn_linkage
learn_linkage(TASKS, journal={str(path)!r}, progress=lambda done, total: done == 2 and time.sleep(60))"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[1])
    until = time.monotonic() + 120
    while time.monotonic() < until and not (path.exists() and path.read_bytes().count(b"\n") == 3):
        time.sleep(0.05)  # a header and two curves
    process.kill()
    process.wait()
    again = learn_linkage(TASKS, journal=path, progress=lambda done, total: seen.append(done))
    assert same(again, learn_linkage(TASKS)) and seen[0] == 2


def test_the_log_knows_instance_family_and_loss(tmp_path):
    def computed(instances, **options):
        seen = []
        learn_linkage(instances, journal=tmp_path / "j", progress=lambda done, total: seen.append(done), **options)
        return len(seen) - 1

    assert [computed(TASKS), computed(TASKS[::-1]), computed(TASKS[1:3])] == [4, 0, 0]
    others = dict(merges=("average", "complete")), dict(loss="majority"), dict(n_clusters=3)
    assert [computed(TASKS[:1], **options) for options in others] == [1, 1, 1]
    assert computed([(D * 2, LABELS)]) == computed([(D, LABELS > 1)]) == 1
    assert computed([(D, np.array(list("dbca"))[LABELS])]) == 0  # the same classes by other names


# ---- bands, parts, estimators


def test_band_and_rate():
    learned = learn_linkage(TASKS)
    T, N = len(learned.curve.values), 4
    assert confidence_band(learned, 0.1) == pytest.approx(np.sqrt(2 * np.log(T) / N) + 3 * np.sqrt(np.log(40) / 8))
    assert confidence_band(learned, 0.01) > confidence_band(learned, 0.1)
    assert theorem_1_rate(400, 100) == pytest.approx(theorem_1_rate(100, 100) / 2)
    assert theorem_1_rate(100, 100, n_metrics=2) > theorem_1_rate(100, 100)


def test_split():
    train, test = split_instances(list(range(20)), 0.25, 3)
    assert len(test) == 5 and sorted(train + test) == list(range(20))
    assert train == sorted(train) and test == sorted(test)
    assert (train, test) == split_instances(tuple(range(20)), 0.25, np.random.default_rng(3))
    assert all([len(part) for part in split_instances([1, 2], share, 0)] == [1, 1] for share in (0.01, 0.99))


def test_learner():
    merges = ("average", "complete")
    learner, learned = LinkageLearner(merges).fit(TASKS), learn_linkage(TASKS, merges)
    expected = learned.parameter, learned.interval, learned.loss
    assert (learner.alpha_, learner.interval_, learner.loss_) == expected and same(learner.learned_, learned)
    assert np.array_equal(learner.clusterer(4).fit_predict(D), alpha_linkage(D, learner.alpha_, merges).cut(4))
    apart = clone(learner).fit([D for D, _ in TASKS], [labels for _, labels in TASKS])
    assert same(apart.learned_, learned)
    apart.set_params(merges=None).fit([((D, D), labels) for D, labels in TASKS])
    assert not hasattr(apart, "alpha_") and apart.beta_ == 0.5


def test_clusterer():
    clusterer, tree = MixedLinkage(0.3, n_clusters=5).fit(D), alpha_linkage(D, 0.3)
    assert np.array_equal(clusterer.labels_, tree.cut(5)) and np.array_equal(clusterer.children_, tree.children)
    assert np.array_equal(clusterer.linkage_matrix_, tree.linkage_matrix)
    assert not hasattr(clusterer.set_params(n_clusters=None).fit(D), "labels_")
    part = _safe_split(MixedLinkage(), D, None, [0, 2, 5])[0]  # cross-validation takes rows and columns
    assert np.array_equal(part, D[np.ix_([0, 2, 5], [0, 2, 5])])


# ---- bad input

PARTIAL, HIGH = LearnedLinkage(CURVE, [CURVE], 1, False), PiecewiseLoss(np.array([0, 1.0]), np.array([2.0]), 1)
BAD_INPUT = [
    *(("instances", lambda some=some: learn_linkage(some)) for some in ([], 3, [D], [(D,)], [(D, LABELS), (D, None)])),
    ("instances, entry 0: labels", lambda: learn_linkage([(D, LABELS[1:])])),
    ("instances, entry 2: D must be symmetric", lambda: learn_linkage([*TASKS[:2], (np.triu(D), LABELS)])),
    ("instances, entry 0: n_clusters", lambda: learn_linkage(TASKS, n_clusters=25)),
    ("instances, entry 0: n_clusters", lambda: learn_linkage(TASKS, n_clusters=0)),
    ("instances, entry 1: merges", lambda: learn_linkage([*TASKS[:1], ((D, D), LABELS)], ("single", "complete"))),
    ("instances must be all of one kind", lambda: learn_linkage([*TASKS[:1], ((D, D), LABELS)])),
    *(("n_jobs", lambda n=n: learn_linkage(TASKS, n_jobs=n)) for n in (0, 1.5)),
    *(("curves must be a sequence", lambda some=some: average_loss(some)) for some in ([], [3], None, 3, "ab", CURVE)),
    ("curves must be complete", lambda: average_loss([piecewise_loss(D, LABELS, limit=2)])),
    ("curves must be all over the same parameter", lambda: average_loss([CURVE, piecewise_loss((D, D), LABELS)])),
    *(("learned", lambda some=some: confidence_band(some)) for some in (3, PARTIAL)),
    ("learned", lambda: confidence_band(LearnedLinkage(CURVE, [HIGH], 1, True))),
    ("n_points", lambda: theorem_1_rate(5, 1)),
    ("instances", lambda: split_instances([1], 0.5, 0)),
    ("test_share", lambda: split_instances([1, 2], 0, 0)),
    ("X", lambda: LinkageLearner().fit(D)),
    ("y", lambda: LinkageLearner().fit([D], [])),
    ("the LinkageLearner", lambda: LinkageLearner().clusterer()),
    ("parameter", lambda: MixedLinkage(-1).fit(D)),
    ("n_clusters", lambda: MixedLinkage(n_clusters=99).fit(D)),
    ("n_clusters", lambda: MixedLinkage().fit_predict(D)),
    ("D", lambda: MixedLinkage().fit(-D)),
]


@pytest.mark.parametrize("argument, call", BAD_INPUT)
def test_bad_input_is_named(argument, call):
    with pytest.raises(InputError, match=f"^{argument}"):
        call()
