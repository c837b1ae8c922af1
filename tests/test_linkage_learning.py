"Linkages learned from tasks: the held-out gain and the coverage of its interval, the model and its file, the metric."

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from shared import as_task, task_table

from comparison_hc.core.stats import proportion_interval
from comparison_hc.core.validation import InputError
from comparison_hc.evaluation import FeatureMetric, learn_model, load_model, save_model
from comparison_hc.evaluation.linkage_learning import (
    LeaveOneTaskOut,
    LinkageModel,
    _model_text,
    best_parameter,
    held_out_losses,
)
from comparison_hc.link.learning import learn_linkage
from comparison_hc.link.losses import PiecewiseLoss
from comparison_hc.link.merge import alpha_linkage, beta_linkage
from comparison_hc.metrics import majority_loss, pruning_loss

NAMES = ("single", "complete", "average")


# ---- the held-out gain


@st.composite
def curves(draw, n_tasks=4):
    found = []
    for _ in range(n_tasks):
        inner = sorted(draw(st.sets(st.sampled_from([i / 16 for i in range(1, 16)]), max_size=4)))
        values = draw(st.lists(st.integers(0, 8), min_size=len(inner) + 1, max_size=len(inner) + 1))
        found.append(PiecewiseLoss(np.array([0.0, *inner, 1.0]), np.array(values) / 8, 1))
    return found


@given(curves())
def test_held_out_losses_are_the_definition(some):
    "On the grid's cells, average the others by hand, take the widest stretch of least average, look up its middle."
    cells = (np.arange(16) + 0.5) / 16
    for t, loss in enumerate(held_out_losses([some])):
        others = np.array([curve(cells) for i, curve in enumerate(some) if i != t]).sum(axis=0)
        best, stretches = others == others.min(), []
        for cell in np.flatnonzero(best):
            if stretches and stretches[-1][1] == cell:
                stretches[-1][1] = cell + 1
            else:
                stretches.append([cell, cell + 1])
        low, high = max(stretches, key=lambda one: one[1] - one[0])
        assert loss == some[t]((low + high) / 32)


@given(curves(), curves())
def test_of_several_lists_the_first_with_the_least_average(one, other):
    step, (low, high) = best_parameter([one, other])
    least = [min(np.mean([float(c((i + 0.5) / 16)) for c in row]) for i in range(16)) for row in (one, other)]
    assert step == int(least[1] < least[0] - 1e-12) and 0 <= low < high <= 1


def test_held_out_is_learning_again():
    tasks = [as_task(task_table(seed)) for seed in range(4)]
    model = learn_model(tasks)
    for t, (D, labels) in enumerate(tasks):
        alpha = learn_linkage(tasks[:t] + tasks[t + 1 :]).parameter
        assert model.held_out.learned[t] == pruning_loss(alpha_linkage(D, alpha), labels)
        for name, merges, x in (("single", ("single", "complete"), 0), ("complete", ("single", "complete"), 1)):
            assert model.held_out.fixed[name][t] == pruning_loss(alpha_linkage(D, x, merges), labels)
        average = alpha_linkage(D, 0, ("average", "complete"))
        assert model.held_out.fixed["average"][t] == pruning_loss(average, labels)
    assert model.alpha == learn_linkage(tasks).parameter and model.beta is None
    assert abs(model.average_loss - learn_linkage(tasks).loss) < 1e-15


@given(
    st.sampled_from([2, 3, 4, 11, 14]).flatmap(
        lambda T: st.lists(st.lists(st.integers(0, 6), min_size=T, max_size=T), min_size=4, max_size=4)
    )
)
def test_rivals_and_gains_by_definition(losses):
    learned, *fixed = (np.array(row) / 6 for row in losses)
    T = len(learned)
    found = LeaveOneTaskOut(tuple(map(str, range(T))), tuple(learned), dict(zip(NAMES, map(tuple, fixed))))
    for t in range(T):
        others = [sum(losses[1 + i][s] for s in range(T) if s != t) for i in range(3)]
        rival = others.index(min(others))
        assert found.baselines[t] == NAMES[rival] and found.gains[t] == fixed[rival][t] - learned[t]
    low, high = found.interval()
    given_ = sum(gain != 0 for gain in found.gains.round(9)) >= 10 and len(set(found.gains.round(9))) > 1
    assert np.isnan(low) == np.isnan(high) == (not given_)
    assert not given_ or -1 <= low <= found.gain <= high <= 1
    assert (found.verdict == "better") == (low > 0) and (found.verdict == "worse") == (high < 0)
    said = " ".join(found.sentences())
    assert ("95% interval" in said) == given_ == ("without an interval" not in said)
    assert ("An interval is given only if at least 10 gains differ from 0" in said) == (not given_)
    assert f"{T} tasks" in found.sentences()[0] and len(found.table()) == 5


def test_only_the_fixed_linkage_that_the_others_prefer_is_a_rival():
    "Best in hindsight is average; without the first task it is single, which is what the first task must be held to."
    found = LeaveOneTaskOut(("a", "b", "c"), (0.1, 0.1, 0.1), {"single": (0.9, 0.0, 0.0), "average": (0.0, 0.2, 0.2)})
    assert found.baselines == ("single", "average", "average")
    np.testing.assert_allclose(found.gains, [0.8, 0.1, 0.1])


def valley(rng):
    "A planted curve with a valley, and the losses of three fixed linkages."
    left, width = rng.normal(0.35, 0.1), rng.uniform(0.05, 0.25)
    ends = np.clip([left, left + width], 0.01, 0.99)
    plain, depth = rng.uniform(0.2, 0.4), rng.uniform(0, 0.2)
    values = np.array([plain + rng.uniform(0, 0.1), plain - depth, plain])
    return PiecewiseLoss(np.array([0.0, *ends, 1.0]), values, 3), (values[0], values[2], rng.uniform(0.1, 0.4))


def held_out_of_valleys(n_tasks, rng):
    curves, fixed = zip(*[valley(rng) for _ in range(n_tasks)])
    fixed = dict(zip(NAMES, np.transpose(fixed).tolist()))
    return LeaveOneTaskOut(tuple(map(str, range(n_tasks))), tuple(held_out_losses([list(curves)])), fixed)


@pytest.mark.parametrize("n_tasks", [11])
def test_the_interval_covers_on_planted_tasks(n_tasks):
    "At least 95% of intervals hold the expected gain, unless the count excludes it with 99.9% confidence."
    rng = np.random.default_rng(n_tasks)
    truth = np.mean([held_out_of_valleys(n_tasks, rng).gain for _ in range(200)])
    found = np.array([held_out_of_valleys(n_tasks, rng).interval() for _ in range(150)])
    found = found[np.isfinite(found[:, 0])]
    assert len(found) > 60
    covered = int(np.sum((found[:, 0] <= truth) & (truth <= found[:, 1])))
    assert proportion_interval(covered, len(found), 0.999)[1] >= 0.95
    assert np.ptp(found, axis=1).mean() < 0.6  # and it does not hold it by being as wide as all that is possible


@pytest.mark.parametrize("n_tasks, share", [(6, 0.3), (12, 0.3), (40, 0.3), (40, 0.6)])
def test_the_interval_is_honest_where_gains_are_rare_and_skewed(n_tasks, share):
    "Student's interval from any such gains would hold too seldom; ours is not given there."
    rng = np.random.default_rng(n_tasks)
    held, always, n_given = 0, 0, 0
    for _ in range(400):
        gains = np.where(rng.random(n_tasks) < share, np.minimum(rng.exponential(0.1, n_tasks), 0.5), 0)
        found = LeaveOneTaskOut(tuple(map(str, range(n_tasks))), tuple(0.5 - gains), {"fixed": (0.5,) * n_tasks})
        np.testing.assert_allclose(found.gains, gains)
        low, high = found.interval()
        truth = share * 0.1 * (1 - np.exp(-5))
        held, n_given = held + (low <= truth <= high), n_given + np.isfinite(low)
        half = stdtrit(n_tasks - 1, 0.975) * gains.std(ddof=1) * np.sqrt(1 / n_tasks + 1 / (n_tasks - 1))
        always += abs(gains.mean() - truth) <= half
    assert n_given == 0 or proportion_interval(int(held), int(n_given), 0.999)[1] >= 0.95
    if n_tasks < 40:
        assert n_given < 20 and proportion_interval(int(always), 400, 0.999)[1] < 0.95
    else:
        assert n_given > 200


def test_equal_gains_say_so():
    found = LeaveOneTaskOut(tuple("abcdefghijkl"), (0.25,) * 12, {"single": (0.5,) * 12})
    assert np.isnan(found.interval()).all() and any("not all gains are equal" in said for said in found.sentences())


# ---- the model and its file


@pytest.fixture(scope="module")
def model():
    return learn_model([as_task(task_table(seed)) for seed in range(4)], how={"version": "1", "files": {"a": "0"}})


def test_round_trip_keeps_every_bit(model, tmp_path):
    path = tmp_path / "model.json"
    measured = learn_model(
        [as_task(task_table(seed)) for seed in range(2)], ("average", "complete"), measure=FeatureMetric((("x", "y"),))
    )
    for one in (model, measured):
        save_model(one, path)
        again = load_model(path)
        assert again == one and _model_text(again) == path.read_text()
        assert np.float64(again.alpha).tobytes() == np.float64(one.alpha).tobytes()
        D, _ = as_task(task_table(9))
        assert np.array_equal(again.hierarchy(D).linkage_matrix, one.hierarchy(D).linkage_matrix)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_any_parameter_survives(a, b, c):
    import tempfile

    low, middle, high = sorted((a, b, c))
    one = LinkageModel(("single", "average"), middle, None, (low, high), "pruning", a, None, 1)
    with tempfile.TemporaryDirectory() as folder:
        save_model(one, Path(folder) / "m.json")
        assert load_model(Path(folder) / "m.json") == one


def test_one_parameter_is_the_estimator(model):
    D, _ = as_task(task_table(7))
    assert model.clusterer(4).fit(D).dendrogram_.same_tree(model.hierarchy(D))
    assert model.hierarchy(D).same_tree(alpha_linkage(D, model.alpha, model.merges))


def test_two_metrics():
    tasks = [((D, D**2), labels) for D, labels in (as_task(task_table(seed)) for seed in range(3))]
    one = learn_model(tasks, "average")
    D = tasks[0][0]
    assert one.alpha is None and one.hierarchy(D).same_tree(beta_linkage(*D, one.beta, "average"))
    assert one.clusterer().fit(D).dendrogram_.same_tree(one.hierarchy(D))
    two = learn_model(tasks, both=True, n_steps=2)
    mixed = (1 - two.beta) * D[0] + two.beta * D[1]
    assert two.hierarchy(D).same_tree(alpha_linkage(mixed, two.alpha)) and two.beta in (0, 0.5, 1)
    least = min(learn_linkage([((1 - b) * P + b * Q, y) for (P, Q), y in tasks]).loss for b in (0, 0.5, 1))
    assert abs(two.average_loss - least) < 1e-15
    with pytest.raises(InputError, match="one parameter"):
        two.clusterer()
    for call in (lambda: two.hierarchy(D[0]), lambda: learn_model([as_task(task_table(0))], both=True)):
        with pytest.raises(InputError):
            call()


def test_a_task_of_two_objects_is_not_taken_for_two_metrics():
    assert learn_model([([[0, 1], [1, 0]], ["a", "b"])] * 2).beta is None


def test_majority_and_workers_and_progress():
    tasks, seen = [as_task(task_table(seed)) for seed in range(3)], []
    one = learn_model(tasks, loss="majority", progress=lambda *args: seen.append(args))
    assert seen[-1] == (3, 3) and one == learn_model(tasks, loss="majority", n_jobs=2)
    D, labels = tasks[0]
    assert one.held_out.fixed["single"][0] == majority_loss(alpha_linkage(D, 0), labels)


BROKEN = {  # change of a good file: what the message must say
    "schema": (lambda d: d.update(schema=2), "key 'schema', must be 1"),
    "schema as truth": (lambda d: d.update(schema=True), "key 'schema', must be 1"),
    "another file": (lambda d: d.update(what="tree"), "key 'what'"),
    "no alpha": (lambda d: d.pop("alpha"), "missing 1 required .* 'alpha'"),
    "another key": (lambda d: d.update(gamma=1), "unexpected keyword argument 'gamma'"),
    "alpha too large for a float": (lambda d: d.update(alpha=10**400), r"key alpha must be a number in \[0, 1\]"),
    "alpha as text": (lambda d: d.update(alpha="0.5"), "key alpha must be"),
    "nothing learned": (lambda d: d.update(alpha=None, merges=["single"]), "alpha or beta"),
    "interval elsewhere": (lambda d: d.update(interval=[0, 0]), "key interval must be around"),
    "interval of three": (lambda d: d.update(interval=[0, 0.5, 1]), "interval must be two numbers"),
    "merges of lists": (lambda d: d.update(merges=[["single"], {}]), "key merges must be 2 of"),
    "loss": (lambda d: d.update(loss=["pruning"]), "key loss must be one of"),
    "average loss": (lambda d: d.update(average_loss=-0.1), "key average_loss must be"),
    "tasks": (lambda d: d.update(n_tasks=0), "key n_tasks must be an integer of at least 1"),
    "measure": (lambda d: d.update(measure=[]), "must be a file that `save_model` wrote"),
    "a measure of two": (
        lambda d: d.update(measure=dict(groups=[["a"], ["b"]], distance="cosine", scale="none")),
        "key measure must be",
    ),
    "a distance": (
        lambda d: d.update(measure=dict(groups=[["a"]], distance="magic", scale="none")),
        "key distance must be one of 'euclidean'",
    ),
    "held out": (lambda d: d["held_out"].update(learned=[0.5]), "key the losses must be one number"),
    "no baseline": (lambda d: d["held_out"].update(fixed={}), "key fixed must be"),
    "another count": (lambda d: d.update(n_tasks=3), "key held_out must be about 3 tasks"),
    "how": (lambda d: d.update(how=[]), "key how must be a dict"),
}


@pytest.mark.parametrize("change", BROKEN)
def test_a_broken_file_is_refused(model, tmp_path, change):
    data, path = json.loads(_model_text(model)), tmp_path / "model.json"
    BROKEN[change][0](data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=BROKEN[change][1]) as refusal:
        load_model(path)
    assert str(path) in str(refusal.value)


NO_MODELS = [b"", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"what": NaN}', b"\x80\x04\x95"]
NO_MODELS += [b'{"what": "comparison_hc linkage model", "schema": ' + b"9" * 6000 + b"}"]


@pytest.mark.parametrize("content", NO_MODELS)
def test_what_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="model.json"):
        load_model(path)


def test_what_cannot_be_learned_is_refused():
    D, labels = as_task(task_table(0))
    bad = [
        lambda: learn_model([]),
        lambda: learn_model([(D,)]),
        lambda: learn_model([(D, labels), ((D, D), labels)]),
        lambda: learn_model([(D, labels)], ("single", "ward")),
        lambda: learn_model([(D, labels)], ("single",)),
        lambda: learn_model([(D, labels)], loss="ari"),
        lambda: learn_model([(D, labels[1:])]),
        lambda: learn_model([(D, labels)], n_clusters=0),
        lambda: save_model("model", "model.json"),
    ]
    for call in bad:
        with pytest.raises(InputError):
            call()


# ---- what the measure does


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=6))
def test_measures_are_their_definitions(rows):
    X = np.array(rows)
    features = {"a": X[:, 0], "b": X[:, 1]}
    D = FeatureMetric((("a", "b"),)).distances(features)
    np.testing.assert_allclose(D, np.linalg.norm(X[:, None] - X, axis=2), atol=1e-12)
    one, two = FeatureMetric((("a",), ("b",)), "cityblock").distances(features)
    for metric, column in ((one, X[:, 0]), (two, X[:, 1])):
        plain = np.abs(column[:, None] - column)
        mean = plain[np.triu_indices(len(X), 1)].mean()
        np.testing.assert_allclose(metric * (mean or 1), plain, atol=1e-9)


def test_scaled_columns_do_not_depend_on_the_unit():
    X = np.random.default_rng(0).random((8, 2))
    measure = FeatureMetric((("a", "b"),), scale="column")
    metres = measure.distances({"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_allclose(metres, measure.distances({"a": 1000 * X[:, 0], "b": X[:, 1]}))
    with pytest.raises(InputError, match="cosine"):
        FeatureMetric((("a",),), "cosine").distances({"a": [0.0, 1.0]})
