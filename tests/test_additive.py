"Additive trees: the likelihood, lengths and search against definitions, and laws of the estimator."

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from comparison_hc import AdditiveTree, InputError, Triplets
from comparison_hc.core import additive as engine

seeds = st.integers(0, 10**6)


def random_parent(n, rng):
    "A random unrooted binary tree: leaf after leaf on a random edge."
    edges = [(0, n), (1, n), (2, n)]
    for leaf in range(3, n):
        (a, b), new = edges.pop(int(rng.integers(len(edges)))), n + leaf - 2
        edges += [(a, new), (b, new), (leaf, new)]
    return engine.root_at_first(edges, 2 * n - 2)


def paths_by_walking(parent, lengths):
    "Path lengths by their definition: the edges that only one of the two ways to leaf 0 uses."
    n = len(parent) // 2 + 1
    way = [set() for _ in range(n)]
    for leaf in range(n):
        node = leaf
        while parent[node] >= 0:
            way[leaf].add(node)
            node = parent[node]
    return np.array([[sum(lengths[v - 1] for v in way[i] ^ way[j]) for j in range(n)] for i in range(n)])


def answers(n, m, rng, distances=None):
    "m triplets, answered by these distances with the model's probabilities, or at random."
    rows = np.argsort(rng.random((m, n)), axis=1)[:, :3]
    i, j, k = rows.T
    p = 0.5 if distances is None else 1 / (1 + np.exp(distances[i, j] - distances[i, k]))
    turned = rng.random(m) > p
    rows[turned] = rows[turned][:, [0, 2, 1]]
    return rows


def statements(rows, n, count=None):
    return engine.statements_of(rows[:, :2], rows[:, None, [0, 2]], n, count)[0]


def design(parents, made):
    "(edges, contrasts): what a unit of each edge adds to each margin, by its definition."
    sides = np.concatenate([engine.leaves_below(parent) for parent in parents])
    on = (sides[:, made.pairs[:, 0]] != sides[:, made.pairs[:, 1]]).astype(float)
    return on[:, made.contrasts[:, 1]] - on[:, made.contrasts[:, 0]]


def negative_log_likelihood(rows, distances):
    "By the definition of the model, answer by answer."
    return sum(np.log1p(np.exp(distances[i, j] - distances[i, k])) for i, j, k in rows.tolist())


@given(seeds, st.integers(4, 8))
def test_paths_and_loss_are_their_definitions(seed, n):
    rng = np.random.default_rng(seed)
    parent, lengths = random_parent(n, rng), rng.exponential(1, 2 * n - 3)
    distances = paths_by_walking(parent, lengths)
    splits = engine.leaves_below(parent)
    np.testing.assert_allclose(engine.path_lengths(splits, lengths), distances, atol=1e-9)
    rows = answers(n, 30, rng)
    made = statements(rows, n)
    margin = lengths @ design([parent], made)
    value, slope, _ = made.loss(margin)
    assert value == pytest.approx(negative_log_likelihood(rows, distances), rel=1e-5)
    for c in range(len(margin)):  # the gradient, by differences
        ends = [made.loss(margin + h * (np.arange(len(margin)) == c))[0] for h in (1e-5, -1e-5)]
        assert -slope[c] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-5)


@given(seeds)
def test_odd_one_out_and_central_are_one_answer_about_three_pairs(seed):
    rng = np.random.default_rng(seed)
    n, rows = 6, np.argsort(np.random.default_rng(seed).random((20, 6)), axis=1)[:, :3]
    distances = paths_by_walking(random_parent(n, rng), rng.exponential(1, 2 * n - 3))
    for kind, sign in (("odd-one-out", -1), ("central", 1)):
        made, _, _ = engine_statements(rows, kind)
        value = made.loss(made.margins(distances[tuple(made.pairs.T)]))[0]
        by_definition = 0.0
        for first, a, b in rows.tolist():
            weights = np.exp(sign * np.array([distances[a, b], distances[first, a], distances[first, b]]))
            by_definition -= np.log(weights[0] / weights.sum())
        assert value == pytest.approx(by_definition, rel=1e-9)


def engine_statements(rows, kind):
    from comparison_hc.additive_tree import _statements

    return _statements(Triplets(rows, 6), kind)


@given(seeds, st.sampled_from([0.3, 1.0, 4.0]))
def test_lengths_are_optimal(seed, rate):
    "Against SciPy on the same convex problem, and by the conditions of an optimum."
    rng = np.random.default_rng(seed)
    n, rows = 6, answers(6, 60, np.random.default_rng(seed))
    parents = [random_parent(n, rng) for _ in range(1 + seed % 2)]
    made = statements(rows, n)
    found = engine.fit_lengths(made, parents, rate)
    X = design(parents, made)

    def objective(lengths):
        value, slope, _ = made.loss(lengths @ X)
        return value + rate * lengths.sum(), rate - X @ slope

    best = minimize(objective, np.full(len(X), 0.5), jac=True, bounds=[(0, None)] * len(X))
    assert found.objective == pytest.approx(best.fun, abs=2e-3)
    slope = objective(found.lengths)[1]
    assert (slope > -0.05).all() and (np.abs(slope[found.lengths > 1e-3]) < 0.05).all()


@given(seeds)
def test_an_interchange_makes_the_tree_that_it_says(seed):
    rng = np.random.default_rng(seed)
    n, rows = 7, answers(7, 80, np.random.default_rng(seed))
    made = statements(rows, n)
    before = engine.fit_lengths(made, [random_parent(n, rng)], 1.0)
    for one in engine.interchanges(made, before, 1.0)[:3]:
        after = engine.apply(made, before, [one], 1.0)
        np.testing.assert_array_equal(after.splits[0], engine.leaves_below(after.parents[0]))
        np.testing.assert_allclose(after.margin, after.lengths @ design(after.parents, made), atol=1e-9)
        changed = (after.splits[0] != before.splits[0]).any(axis=1)
        assert changed.sum() == 1 and changed[one.node - 1]


def test_the_search_ends_where_no_neighbour_is_better():
    rng = np.random.default_rng(3)
    truth = paths_by_walking(random_parent(8, rng), rng.exponential(1.5, 13))
    made = statements(answers(8, 400, rng, truth), 8)
    found = engine.fit_lengths(made, [random_parent(8, rng)], 1.0)
    start = found.objective
    for better in engine.improve(made, found, 1.0):
        assert better.objective < found.objective
        found = better
    assert found.objective < start
    for one in engine.interchanges(made, found, 1.0):
        assert engine.apply(made, found, [one], 1.0).objective > found.objective - 0.05


def splits_of(parent):
    "The inner splits as sets of leaves without leaf 0."
    below = engine.leaves_below(parent)
    return {frozenset(np.flatnonzero(row).tolist()) for row in below if 1 < row.sum()}


@given(seeds, st.integers(4, 12))
def test_neighbour_joining_finds_the_tree_of_exact_path_lengths(seed, n):
    rng = np.random.default_rng(seed)
    parent = random_parent(n, rng)
    truth = paths_by_walking(parent, rng.uniform(0.5, 2, 2 * n - 3))
    assert splits_of(engine.neighbour_joining(truth)) == splits_of(parent)


@pytest.mark.parametrize("seed", range(4))
def test_planted_trees_are_recovered(seed):
    "Ten leaves, branches from 0.8 to 2, 6,000 answers: the tree, and its path lengths within a fifth."
    rng = np.random.default_rng(seed)
    parent = random_parent(10, rng)
    truth = paths_by_walking(parent, rng.uniform(0.8, 2, 17))
    model = AdditiveTree(rng=seed).fit(answers(10, 6000, rng, truth))
    assert splits_of(model.trees_[0].parent) == splits_of(parent) and model.n_trees_ == 1
    upper = np.triu_indices(10, 1)
    centred = [d[upper] - d[upper].mean() for d in (model.distances_, truth)]
    assert np.corrcoef(*centred)[0, 1] > 0.98


def test_two_trees_are_told_from_one():
    "Two trees whose inner branches contradict each other: the second is found, and predicts better than one alone."
    rng = np.random.default_rng(0)
    n = 12
    first, second = (np.abs(np.subtract.outer(c, c)) > 0 for c in (np.arange(n) % 3, np.arange(n) // 4))
    truth = 2.0 * first + 2.0 * second
    np.fill_diagonal(truth, 0)
    given, new = answers(n, 4000, rng, truth), answers(n, 4000, rng, truth)
    model, alone = AdditiveTree().fit(given), AdditiveTree(n_trees=1).fit(given)
    assert model.n_trees_ >= 2 and model.score(new) > alone.score(new)


def test_weights_are_repetitions_and_the_order_of_rows_is_no_information():
    rng = np.random.default_rng(1)
    truth = paths_by_walking(random_parent(7, rng), rng.exponential(1, 11))
    rows, times = answers(7, 60, rng, truth), rng.integers(1, 4, 60)
    one = AdditiveTree(n_trees=1, rate=1.0).fit(Triplets(rows, 7, weights=times.astype(float)))
    other = AdditiveTree(n_trees=1, rate=1.0).fit(Triplets(rows.repeat(times, axis=0)[::-1], 7))
    np.testing.assert_allclose(one.distances_, other.distances_, atol=1e-9)


def newick_paths(text):
    "Path lengths between the leaves of a Newick text, by a stack."
    text = text.rstrip(";")
    token = re.compile(r"\(|\)|,|'[^']*'|[^(),:]+|:[^(),]+")
    edges, names, stack, last, new = [], {}, [], None, 1000
    for word in token.findall(text):
        if word == "(":
            stack.append(new)
            new += 1
        elif word == ")":
            last = stack.pop()
        elif word.startswith(":"):
            edges.append((last, stack[-1], float(word[1:])))
        elif word != ",":
            last = names[word] = len(names)
    nodes = sorted({v for a, b, _ in edges for v in (a, b)})
    far = np.full((len(nodes), len(nodes)), np.inf)
    np.fill_diagonal(far, 0)
    at = {v: i for i, v in enumerate(nodes)}
    for a, b, length in edges:
        far[at[a], at[b]] = far[at[b], at[a]] = length
    for k in range(len(nodes)):
        far = np.minimum(far, far[:, [k]] + far[[k]])
    return {(a, b): far[at[names[a]], at[names[b]]] for a, b in combinations(names, 2)}


def test_newick_and_dendrogram_have_the_path_lengths():
    rng = np.random.default_rng(5)
    names = [f"o{i}" for i in range(8)]
    rows = answers(8, 300, rng, paths_by_walking(random_parent(8, rng), rng.exponential(1, 13)))
    model = AdditiveTree(n_trees=1).fit(Triplets(rows, names=names))
    found = newick_paths(model.to_newick())
    assert len(found) == 28
    for (a, b), length in found.items():
        assert length == pytest.approx(model.distances_[names.index(a), names.index(b)], abs=1e-6)
    assert model.dendrogram_.n_leaves == 8 and list(model.dendrogram_.names) == names
    assert model.chart().to_dict()


def test_probabilities_are_the_models_and_the_score_counts_them():
    rng = np.random.default_rng(6)
    truth = paths_by_walking(random_parent(9, rng), rng.exponential(1.5, 15))
    model = AdditiveTree().fit(answers(9, 2000, rng, truth))
    new = answers(9, 500, rng, truth)
    p = model.predict_proba(new)
    i, j, k = new.T
    d = model.distances_
    np.testing.assert_allclose(p[:, 0], 1 / (1 + np.exp(d[i, j] - d[i, k])), atol=1e-8)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert model.score(new) == pytest.approx((p[:, 0] > 0.5).mean() + 0.5 * (p[:, 0] == 0.5).mean())
    swapped = new[:, [0, 2, 1]]
    assert model.score(new) + model.score(swapped) == pytest.approx(1)
    likely = np.log(p[:, 0]).mean()
    true = -np.log1p(np.exp(truth[i, j] - truth[i, k])).mean()
    assert likely > true - 0.05  # nearly as good as the truth


def test_the_same_seed_gives_the_same_bits():
    rng = np.random.default_rng(7)
    rows = answers(10, 400, rng)
    first, second = (AdditiveTree(rng=3).fit(rows).distances_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "options, rows, says",
    [
        (dict(n_trees=0), [[0, 1, 2], [1, 2, 3]], "n_trees must be an integer from 1 to 3; got 0"),
        (dict(n_trees="two"), [[0, 1, 2], [1, 2, 3]], "n_trees must be"),
        (dict(rate=0), [[0, 1, 2], [1, 2, 3]], "rate must be"),
        (dict(), [[0, 1, 2]], "X must be about at least four objects; got '3 objects'"),
    ],
)
def test_bad_input_is_named(options, rows, says):
    with pytest.raises(InputError, match=re.escape(says)):
        AdditiveTree(**options).fit(rows)


def test_bad_kinds_and_unfitted_models_are_named():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(InputError, match="kind must be one of"):
        AdditiveTree().fit([[0, 1, 2], [1, 2, 3]], kind="triplets")
    with pytest.raises(InputError, match="rows of three objects"):
        AdditiveTree().fit([[0, 1, 2, 3], [1, 2, 0, 3]], kind="central")
    with pytest.raises(NotFittedError):
        AdditiveTree().score([[0, 1, 2]])
