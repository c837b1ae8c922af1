"Both parameters at once: certified cells against the definition."

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import by_name, refusals, symmetric

import comparison_hc.link
from comparison_hc.core.validation import InputError
from comparison_hc.link import TwoParameterGrid, alpha_linkage, execution_tree, two_parameter_grid
from comparison_hc.link.grid import Bounds, as_alpha_beta_family
from comparison_hc.link.merge import alpha_line, merges_by_definition
from comparison_hc.metrics import majority_loss, pruning_loss

MIXES = [("single", "complete"), ("average", "complete"), ("single", "average"), ("complete", "single")]


def metrics(n, seed, top):
    "Two matrices of distances: real numbers, or whole numbers up to `top` with ties."
    rng = np.random.default_rng(seed)
    made = [rng.random((n, n)) if top is None else rng.integers(0, top + 1, (n, n)) for _ in range(2)]
    return [symmetric(D.astype(float)) for D in made]


def clusters_at(D0, D1, alpha, beta, merges):
    "Clusters of more than one object at one pair of parameters, by the definition."
    family = as_alpha_beta_family(D0, D1, merges)
    line = alpha_line((1 - beta) * family.D0 + beta * family.D1, family.merges)
    return {tuple(sorted(A + B)) for A, B, _ in merges_by_definition(line, len(D0), alpha)}


def clusters_of(tree):
    return {tuple(sorted(objects.tolist())) for _, objects in tree.clusters() if len(objects) > 1}


@settings(max_examples=60)
@given(
    st.integers(2, 6), st.integers(0, 10**6), st.sampled_from([None, 2, 7]), st.sampled_from(MIXES), st.integers(0, 4)
)
def test_certified_cells_have_one_tree(n, seed, top, merges, depth):
    "Exactly along lines of one β through every certified cell; in the middle of the others."
    D0, D1 = metrics(n, seed, top)
    grid, runs = two_parameter_grid(D0, D1, merges, depth), {}
    assert abs(grid.areas.sum() - 1) < 1e-12 and grid.certified_area <= 1 + 1e-12
    for (a0, a1, b0, b1), tree, sure in zip(grid.cells, grid.tree_of, grid.certified):
        alpha, expected = (a0 + a1) / 2, clusters_of(grid.trees[tree])
        if sure or top is None:
            assert clusters_at(D0, D1, alpha, (b0 + b1) / 2, merges) == expected
        for beta in (b0 + (b1 - b0) * share for share in ((0.01, 0.5, 0.99) if sure else ())):
            if beta not in runs:
                runs[beta] = execution_tree((1 - beta) * D0 + beta * D1, merges).leaves()
            inside = [leaf for leaf in runs[beta] if leaf.low < a1 - 1e-9 and leaf.high > a0 + 1e-9]
            assert all(clusters_of(leaf.dendrogram) == expected for leaf in inside)
            assert grid.at(alpha, beta) == (tree, True)


@given(st.integers(0, 10**6), st.sampled_from(MIXES))
def test_bounds_enclose_the_distances_of_clusters(seed, merges):
    "After some merges, for every β of a rectangle: below and above the distance by definition, and tight for averages."
    rng = np.random.default_rng(seed)
    family, order = as_alpha_beta_family(*metrics(7, seed, None), merges), rng.permutation(7)
    low, high = np.sort(rng.random(2))
    bounds, A, B = Bounds(family, low, high), order[:3], order[3:]
    for cluster in (A, B):
        for k in range(1, len(cluster)):  # the rest of both clusters is there
            others = np.array([x for x in order if x not in cluster[: k + 1] and (cluster is A or x not in A[:2])])
            bounds.merge(cluster[k - 1], cluster[k], others)
    for share in (0, 0.3, 0.8, 1):
        beta = (1 - share) * low + share * high
        block = ((1 - beta) * family.D0 + beta * family.D1)[np.ix_(A, B)]
        for k, name in enumerate(merges):
            below, above = (
                np.dot((1 - share, share), side(k)[:, A[-1], B[-1]]) for side in (bounds.lower, bounds.upper)
            )
            value = dict(single=np.min, complete=np.max, average=np.mean)[name](block)
            assert below - 1e-12 <= value <= above + 1e-12


def test_deeper_grids_certify_more():
    D0, D1 = metrics(7, 6, None)
    shares = [two_parameter_grid(D0, D1, depth=depth).certified_area for depth in (1, 3, 5)]
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.6


def test_losses_are_those_of_the_trees():
    D0, D1 = metrics(6, 7, None)
    grid, labels = two_parameter_grid(D0, D1, depth=4), [0, 1, 0, 1, 2, 2]
    losses, majority = grid.losses(labels), grid.losses(labels, majority_loss)
    for alpha, beta in np.random.default_rng(1).random((30, 2)):
        tree, sure = grid.at(alpha, beta)
        if sure:
            made = alpha_linkage((1 - beta) * D0 + beta * D1, alpha)
            assert losses[tree] == pruning_loss(made, labels) and majority[tree] == majority_loss(made, labels)
    assert grid.chart(labels).to_dict()


@pytest.mark.parametrize("power", [-900, -300, 300, 900])
def test_the_unit_of_distances_does_not_matter(power):
    D0, D1 = metrics(4, 0, None)
    before = D0.copy(), D1.copy()
    for merges in MIXES[:2]:
        one = two_parameter_grid(D0, D1, merges, 3)
        two = two_parameter_grid(D0 * 2.0**power, D1 * 2.0**power, merges, 3)
        assert np.array_equal(one.tree_of, two.tree_of) and np.array_equal(one.certified, two.certified)
    assert np.array_equal(D0, before[0]) and np.array_equal(D1, before[1])  # arguments are left alone


def test_the_old_names_warn():
    for name, new in (("two_parameter_partition", two_parameter_grid), ("TwoParameterPartition", TwoParameterGrid)):
        with pytest.warns(DeprecationWarning, match=f"comparison_hc.link.{name} is now comparison_hc.link"):
            assert getattr(comparison_hc.link, name) is new


GOOD, OTHER = metrics(4, 0, None)


SMALL_GRID = two_parameter_grid(GOOD, OTHER, depth=1)
test_bad_input_is_named = refusals(
    ("^D1", lambda D1: two_parameter_grid(GOOD, D1), OTHER + np.eye(4)),
    ("^D0", lambda D0: two_parameter_grid(D0, D0), [[0.0]]),
    ("^merges", lambda merges: two_parameter_grid(GOOD, OTHER, merges), ("single", np.median)),
    ("^depth", by_name(two_parameter_grid, "depth", GOOD, OTHER), 13, True),
    ("^alpha", lambda alpha: SMALL_GRID.at(alpha, 0), 2),
    ("^beta", lambda beta: SMALL_GRID.at(0, beta), float("nan")),
    ("^labels", SMALL_GRID.losses, [0, 1]),
    ("^n_clusters", by_name(SMALL_GRID.losses, "n_clusters", [0, 0, 1, 1]), 5),
)


@pytest.mark.parametrize("value", ["low", None, np.zeros(2), 1j, 10**400, np.nan, True])
def test_the_value_of_a_loss_is_a_number(value):
    with pytest.raises(InputError, match="^the value of loss must be a finite number; got"):
        two_parameter_grid(GOOD, OTHER, depth=1).losses([0, 0, 1, 1], lambda tree, labels: value)
