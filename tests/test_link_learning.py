"Learning a linkage: averages, journals, and the estimators."

import json
import os
import subprocess
import sys
import time
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from comparison_hc.core.log import header_line
from comparison_hc.core.validation import InputError
from comparison_hc.link.estimators import LinkageLearner, MixedLinkage
from comparison_hc.link.execution import piecewise_loss
from comparison_hc.link.learning import (
    LearnedLinkage,
    average_loss,
    confidence_band,
    learn_linkage,
    split_instances,
    theorem_1_rate,
)
from comparison_hc.link.losses import PiecewiseLoss
from comparison_hc.link.merge import alpha_linkage, beta_linkage, rings_and_disks
from comparison_hc.metrics import pruning_loss
from comparison_hc.oracles import JournalError


def task(seed, n=24):
    points, labels = rings_and_disks(n, seed)
    return np.linalg.norm(points[:, None] - points, axis=2), labels


TASKS = [task(seed, n) for seed, n in enumerate((24, 20, 28, 24))]


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
    "The same average everywhere must come out as one stretch, however many steps lead there."
    points = np.arange(2001) / 2000
    up = np.tile([1 / 3, 2 / 3], 1000)
    assert (
        len(average_loss([PiecewiseLoss(points, up, 1), PiecewiseLoss(points, up[::-1].copy(), 1)]).simplified().values)
        == 1
    )


@pytest.mark.parametrize("merges", [("single", "complete"), ("average", "complete")])
def test_the_curve_is_what_the_algorithm_does(merges):
    learned = learn_linkage(TASKS, merges)
    for x in (0, learned.parameter, 1, *np.random.default_rng(0).random(4)):
        assert (
            abs(learned.curve(x) - np.mean([pruning_loss(alpha_linkage(D, x, merges), labels) for D, labels in TASKS]))
            < 1e-14
        )
    low, high = learned.interval
    assert (
        low <= learned.parameter < high
        and learned.curve(learned.parameter) == learned.loss == learned.curve.values.min()
    )
    assert learned.n_pieces == sum(len(piecewise_loss(D, labels, merges).values) for D, labels in TASKS)


def test_two_metrics():
    pairs = [((D, D**3), labels) for D, labels in TASKS]
    learned = learn_linkage(pairs, "average", loss="majority")
    assert learned.curve.parameter == "β"
    x = learned.parameter
    values = [piecewise_loss((D0, D1), labels, "average", "majority")(x) for (D0, D1), labels in pairs]
    assert abs(learned.loss - np.mean(values)) < 1e-14
    assert beta_linkage(*pairs[0][0], x, "average").same_tree(MixedLinkage(x, "average").fit(pairs[0][0]).dendrogram_)


def same(one, two):
    return np.array_equal(one.curve.breakpoints, two.curve.breakpoints) and np.array_equal(
        one.curve.values, two.curve.values
    )


def test_workers_do_not_change_the_result():
    assert same(learn_linkage(TASKS, n_jobs=2), learn_linkage(TASKS))


def interrupting(after):
    def progress(done, total):
        if done == after:
            raise KeyboardInterrupt

    return progress


def test_interrupt_and_resume(tmp_path):
    part = learn_linkage(TASKS, journal=tmp_path / "j", progress=interrupting(2))
    assert not part.is_complete and len(part.curves) == 2 and "partial" in repr(part)
    seen = []
    assert same(
        learn_linkage(TASKS, journal=tmp_path / "j", progress=lambda done, total: seen.append((done, total))),
        learn_linkage(TASKS),
    )
    assert seen == [(2, 4), (3, 4), (4, 4)]
    with pytest.raises(KeyboardInterrupt):
        learn_linkage(TASKS, progress=interrupting(0))


def test_journal_knows_instance_family_and_loss(tmp_path):
    path = tmp_path / "j"

    def computed(*arguments, **options):
        seen = []
        learn_linkage(*arguments, journal=path, progress=lambda done, total: seen.append(done), **options)
        return len(seen) - 1

    assert [computed(TASKS), computed(TASKS[::-1]), computed(TASKS[1:3])] == [4, 0, 0]
    assert [
        computed(TASKS[:1], merges=("average", "complete")),
        computed(TASKS[:1], loss="majority"),
        computed(TASKS[:1], n_clusters=3),
    ] == [1, 1, 1]
    assert computed([(TASKS[0][0] * 2, TASKS[0][1])]) == 1 and computed([(TASKS[0][0], (TASKS[0][1] > 1))]) == 1
    assert (
        computed([(TASKS[0][0], ["a", "b", "c", "d"][0:1] * 6 + ["b"] * 6 + ["c"] * 6 + ["d"] * 6)]) == 0
    )  # the same classes by other names


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_torn_journals_are_mended(tmp_path, cut):
    path = tmp_path / "j"
    expected = learn_linkage(TASKS, journal=path)
    path.write_bytes(path.read_bytes()[:-cut])
    assert same(learn_linkage(TASKS, journal=path), expected) and same(
        learn_linkage(TASKS, journal=path, progress=lambda done, total: None), expected
    )


def test_foreign_or_damaged_journals_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "j"
    for content in (b"not a journal\n", b'{"a": 1}\n', b"\x00\xff\n"):
        path.write_bytes(content)
        with pytest.raises(JournalError):
            learn_linkage(TASKS[:1], journal=path)
        assert path.read_bytes() == content
    path.unlink()
    learn_linkage(TASKS, journal=path)
    data = bytearray(path.read_bytes())
    data[60] ^= 128
    path.write_bytes(data)
    with pytest.raises(JournalError):
        learn_linkage(TASKS, journal=path)
    assert path.read_bytes() == data


def test_killed_and_resumed(tmp_path):
    path = tmp_path / "j"
    code = (
        "import sys, time\nfrom comparison_hc.link import learn_linkage\nsys.path.insert(0, 'tests')\n"
        "from test_link_learning import TASKS\n"
        f"learn_linkage(TASKS, journal={str(path)!r}, progress=lambda done, total: done == 2 and time.sleep(60))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    )
    until = time.monotonic() + 120
    while time.monotonic() < until and not (
        path.exists() and path.read_bytes().count(b"\n") == 3
    ):  # header, two curves
        time.sleep(0.05)
    process.kill()
    process.wait()
    seen = []
    assert (
        same(learn_linkage(TASKS, journal=path, progress=lambda done, total: seen.append(done)), learn_linkage(TASKS))
        and seen[0] == 2
    )


def test_band_and_rate():
    learned = learn_linkage(TASKS)
    T, N = len(learned.curve.values), 4
    assert confidence_band(learned, 0.1) == pytest.approx(np.sqrt(2 * np.log(T) / N) + 3 * np.sqrt(np.log(40) / 8))
    assert confidence_band(learned, 0.01) > confidence_band(learned, 0.1)
    assert theorem_1_rate(400, 100) == pytest.approx(theorem_1_rate(100, 100) / 2) and theorem_1_rate(
        100, 100, n_metrics=2
    ) > theorem_1_rate(100, 100)


def test_split():
    train, test = split_instances(list(range(20)), 0.25, 3)
    assert (
        len(test) == 5 and sorted(train + test) == list(range(20)) and train == sorted(train) and test == sorted(test)
    )
    assert (train, test) == split_instances(tuple(range(20)), 0.25, np.random.default_rng(3))
    assert (
        [len(part) for part in split_instances([1, 2], 0.01, 0)]
        == [1, 1]
        == [len(part) for part in split_instances([1, 2], 0.99, 0)]
    )


def test_learner():
    learner = LinkageLearner(("average", "complete")).fit(TASKS)
    learned = learn_linkage(TASKS, ("average", "complete"))
    assert (learner.alpha_, learner.interval_, learner.loss_) == (
        learned.parameter,
        learned.interval,
        learned.loss,
    ) and same(learner.learned_, learned)
    found = learner.clusterer(4).fit_predict(TASKS[0][0])
    assert np.array_equal(found, alpha_linkage(TASKS[0][0], learner.alpha_, ("average", "complete")).cut(4))
    apart = clone(learner).fit([D for D, _ in TASKS], [labels for _, labels in TASKS])
    assert same(apart.learned_, learned)
    apart.set_params(merges=None).fit([((D, D), labels) for D, labels in TASKS])
    assert not hasattr(apart, "alpha_") and apart.beta_ == 0.5


def test_clusterer():
    clusterer = MixedLinkage(0.3, n_clusters=5).fit(TASKS[0][0])
    tree = alpha_linkage(TASKS[0][0], 0.3)
    assert (
        np.array_equal(clusterer.labels_, tree.cut(5))
        and np.array_equal(clusterer.linkage_matrix_, tree.linkage_matrix)
        and np.array_equal(clusterer.children_, tree.children)
    )
    assert not hasattr(clusterer.set_params(n_clusters=None).fit(TASKS[0][0]), "labels_")


D, LABELS = TASKS[0]
CURVE = PiecewiseLoss(np.array([0, 1.0]), np.array([0.5]), 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: learn_linkage([]),
        lambda: learn_linkage(3),
        lambda: learn_linkage([D]),
        lambda: learn_linkage([(D,)]),
        lambda: learn_linkage([(D, LABELS[1:])]),
        lambda: learn_linkage([(-D, LABELS)]),
        lambda: learn_linkage([(D, LABELS), (D, None)]),
        lambda: learn_linkage([(D, LABELS), ((D, D), LABELS)], ("single", "complete")),
        lambda: learn_linkage([(D, LABELS)], "complete"),
        lambda: learn_linkage([(D, LABELS)], loss="x"),
        lambda: learn_linkage([(D, LABELS)], n_clusters=25),
        lambda: learn_linkage([(D, LABELS)], n_clusters=0),
        lambda: learn_linkage([(D, LABELS)], n_jobs=0),
        lambda: learn_linkage([(D, LABELS)], n_jobs=1.5),
        lambda: learn_linkage([(D, LABELS)], journal="no/such/folder/file"),
        lambda: learn_linkage([(D, LABELS), ((D, D), LABELS)]),
        lambda: average_loss([]),
        lambda: average_loss([3]),
        lambda: average_loss([piecewise_loss(D, LABELS, limit=2)]),
        lambda: average_loss([CURVE, piecewise_loss((D, D), LABELS)]),
        lambda: confidence_band(3),
        lambda: confidence_band(LearnedLinkage(CURVE, [CURVE], 1, False)),
        lambda: confidence_band(LearnedLinkage(CURVE, [CURVE], 1, True), 1),
        lambda: confidence_band(
            LearnedLinkage(CURVE, [PiecewiseLoss(np.array([0, 1.0]), np.array([2.0]), 1)], 1, True)
        ),
        lambda: theorem_1_rate(0, 5),
        lambda: theorem_1_rate(5, 1),
        lambda: theorem_1_rate(5, 5, 0),
        lambda: split_instances([1], 0.5, 0),
        lambda: split_instances([1, 2], 0, 0),
        lambda: split_instances([1, 2], 0.5, "x"),
        lambda: LinkageLearner().fit(D),
        lambda: LinkageLearner().fit([D], []),
        lambda: LinkageLearner().clusterer(),
        lambda: MixedLinkage(-1).fit(D),
        lambda: MixedLinkage(n_clusters=99).fit(D),
        lambda: MixedLinkage().fit_predict(D),
        lambda: MixedLinkage().fit(-D),
    ],
)
def test_bad_input(call):
    with pytest.raises(InputError):
        call()


def test_a_file_of_somebody_else_is_left_alone(tmp_path):
    path, TASK = tmp_path / "j", TASKS[:1]

    def line(record):
        body = json.dumps(record).encode()
        return body + b" %08x\n" % zlib.crc32(body)

    for content in (
        b"hello",
        b'{"digest":1',
        b'{"digest": "12',  # a file of the first edition, cut off in its very first line
        b'{"other": 1}',
        line([1]),
        line(3),
        line({"a": 1}),
        line({"digest": "x"}),
    ):
        path.write_bytes(content)
        with pytest.raises(JournalError, match="^journal must be a new file or one that learn_linkage wrote"):
            learn_linkage(TASK, journal=path)
        assert path.read_bytes() == content
    header = header_line("curves", {})
    for content in (b"", b"{", header[:40], header):  # a first line that was cut off, or the whole of it
        path.write_bytes(content)
        assert same(learn_linkage(TASK, journal=path), learn_linkage(TASK)) and path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("journal", [3, True, b"name", ["name"], "a\0b", os.devnull, "", "."])
def test_a_journal_is_the_name_of_a_file(journal):
    with pytest.raises(InputError, match="^journal must be"):
        learn_linkage(TASKS[:1], journal=journal)


@pytest.mark.parametrize("curves", [None, 3, "ab", CURVE])
def test_averages_are_of_curves(curves):
    with pytest.raises(InputError, match="^curves must be a sequence"):
        average_loss(curves)


def test_progress_is_a_function():
    for call in (lambda: learn_linkage(TASKS, progress=3), lambda: LinkageLearner(progress="bar").fit(TASKS)):
        with pytest.raises(InputError, match="^progress must be a function"):
            call()


def test_a_bad_instance_is_named():
    with pytest.raises(InputError, match="instances, entry 2: D must be symmetric"):
        learn_linkage([*TASKS[:2], (np.triu(D), LABELS)])


def test_cross_validation_takes_rows_and_columns_of_distances():
    from sklearn.utils.metaestimators import _safe_split

    X = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    part = _safe_split(MixedLinkage(), X, None, [0, 2, 5])[0]
    assert part.tolist() == X[np.ix_([0, 2, 5], [0, 2, 5])].tolist()
