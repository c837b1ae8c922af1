"""α and β at once: the partition and the certified grid against the definition."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import as_sets

from comparison_hc.core.validation import InputError
from comparison_hc.link.merge import mixed_linkage
from comparison_hc.link.execution import execution_tree
from comparison_hc.link.grid import two_parameter_grid
from comparison_hc.link.merge import COMPLETE, SINGLE
from comparison_hc.link.merge import alpha_linkage
from comparison_hc.link.slabs import envelope, nearest_roots
from comparison_hc.link.two_parameters import run_at, two_parameter_partition
from comparison_hc.metrics import majority_loss, pruning_loss

MIXES = [("single", "complete"), ("average", "complete"), ("single", "average"), ("complete", "single")]


def metrics(n, seed, top):
    "Two matrices of distances: real numbers, or whole numbers up to `top` with ties."
    rng = np.random.default_rng(seed)
    made = [
        np.triu(rng.random((n, n)) if top is None else rng.integers(0, top + 1, (n, n)), 1).astype(float)
        for _ in range(2)
    ]
    return [D + D.T for D in made]


instances = st.tuples(
    st.integers(2, 5), st.integers(0, 10**6), st.sampled_from([None, 2, 7, 1000]), st.sampled_from(MIXES)
)


def exact_run(Ds, merges, alpha, beta):
    "The definition in fractions, for whole numbers and single or complete linkage; equal functions by highest objects."
    D0, D1 = ([[Fraction(x) for x in row] for row in D] for D in Ds)
    of = dict(single=min, complete=max)

    def distance(pair):
        block = [(1 - beta) * D0[a][b] + beta * D1[a][b] for a in pair[0] for b in pair[1]]
        return (1 - alpha) * of[merges[0]](block) + alpha * of[merges[1]](block)

    clusters, made = [(i,) for i in range(len(D0))], []
    while len(clusters) > 1:
        A, B = min(combinations(clusters, 2), key=lambda pair: (distance(pair), *sorted(map(max, pair))[::-1]))
        clusters = [C for C in clusters if C not in (A, B)] + [tuple(sorted(A + B))]
        made.append({A, B})
    return made


def inside(partition):
    "Points in every cell that is not narrower than 10⁻⁶: its middle, and close to its corners."
    for slab in partition.slabs:
        if slab.high - slab.low < 1e-6:
            continue
        for share in (0.01, 0.5, 0.99):
            beta = slab.low + share * (slab.high - slab.low)
            ends = slab.ends(beta)
            for run, a, b in zip(slab.runs, ends, ends[1:]):
                if b - a > 1e-6:
                    yield from ((run, a + t * (b - a), beta) for t in ((0.5,) if share == 0.5 else (0.02, 0.98)))


# The partition


@settings(max_examples=25)
@given(instances)
def test_every_cell_is_the_definition(instance):
    n, seed, top, merges = instance
    D0, D1 = metrics(n, seed, top)
    made = two_parameter_partition(D0, D1, merges)
    assert made.is_complete and abs(made.areas.sum() - 1) < 1e-9 and made.slabs[0].low == 0 and made.slabs[-1].high == 1
    for run, alpha, beta in inside(made):
        assert [{A, B} for A, B in run_at(D0, D1, alpha, beta, merges)] == as_sets(made.runs[run]) and made.at(
            alpha, beta
        ) == run


@settings(max_examples=15)
@given(
    st.integers(3, 5),
    st.integers(0, 10**6),
    st.sampled_from([3, 1000]),
    st.sampled_from([("single", "complete"), ("complete", "single")]),
)
def test_every_cell_is_the_definition_in_fractions(n, seed, top, merges):
    D0, D1 = metrics(n, seed, top)
    made = two_parameter_partition(D0, D1, merges)
    for run, alpha, beta in inside(made):
        assert exact_run((D0, D1), merges, Fraction(alpha), Fraction(beta)) == as_sets(made.runs[run])


@pytest.mark.parametrize(
    "n, seed, top, merges", [(6, 1156, 5, ("single", "complete")), (7, 1049, 3, ("complete", "single"))]
)
def test_three_lines_through_one_point_for_every_beta(n, seed, top, merges):
    D0, D1 = metrics(n, seed, top)
    made = two_parameter_partition(D0, D1, merges)
    assert made.is_complete
    for run, alpha, beta in list(inside(made))[::11]:
        assert [{A, B} for A, B in run_at(D0, D1, alpha, beta, merges)] == as_sets(made.runs[run])


@pytest.mark.parametrize("merges", MIXES[:3])
def test_cells_tile_every_slab(merges):
    made = two_parameter_partition(*metrics(6, 3, None), merges)
    for one, two in zip(made.slabs, made.slabs[1:]):
        assert 0 <= two.low - one.high < 1e-9
    for slab in made.slabs:
        assert all(a != b for a, b in zip(slab.runs, slab.runs[1:]))
        for beta in np.linspace(slab.low, slab.high, 4)[1:-1]:
            ends = slab.ends(beta)
            assert ends[0] == 0 and ends[-1] == 1 and (np.diff(ends) >= 0).all()


@pytest.mark.parametrize("merges", MIXES)
def test_lines_through_the_square_are_execution_trees(merges):
    D0, D1 = metrics(6, 8, None)
    made = two_parameter_partition(D0, D1, merges)
    for beta in (0.0, 0.3, 0.77, 1.0):
        leaves = execution_tree((1 - beta) * D0 + beta * D1, merges).leaves()
        slab = next(slab for slab in made.slabs if slab.low <= beta <= slab.high)
        assert np.allclose(slab.ends(beta), leaves.breakpoints) and all(
            np.array_equal(made.runs[run], leaf.merges) for run, leaf in zip(slab.runs, leaves)
        )


def test_vertical_lines_are_execution_trees_of_two_metrics():
    D0, D1 = metrics(6, 5, None)
    made, leaves = two_parameter_partition(D0, D1), execution_tree((D0, D1), "complete").leaves()
    for leaf in leaves:
        assert np.array_equal(made.runs[made.at(1.0, (leaf.low + leaf.high) / 2)], leaf.merges)


def test_general_linkage_gives_the_same_tree():
    D0, D1 = metrics(7, 2, None)
    made = two_parameter_partition(D0, D1)
    for alpha, beta in np.random.default_rng(0).random((20, 2)):
        assert np.array_equal(
            mixed_linkage([D0, D1], [1 - beta, beta], ["single", "complete"], [1 - alpha, alpha]).children,
            made.runs[made.at(alpha, beta)],
        )


def test_equal_metrics_need_no_beta():
    D, _ = metrics(6, 1, None)
    made = two_parameter_partition(D, D)
    assert len(made.slabs) == 1 and len(made.runs) == len(execution_tree(D).leaves()) == made.n_regions


def test_areas_are_shares_of_random_points():
    D0, D1 = metrics(5, 4, None)
    made = two_parameter_partition(D0, D1)
    points = np.random.default_rng(0).random((4000, 2))
    seen = np.bincount([made.at(a, b) for a, b in points], minlength=len(made.runs)) / len(points)
    assert np.abs(seen - made.areas).max() < 4 * 0.5 / np.sqrt(len(points))


def test_losses_are_those_of_the_trees():
    D0, D1 = metrics(6, 7, None)
    made, labels = two_parameter_partition(D0, D1), [0, 1, 0, 1, 2, 2]
    for alpha, beta in np.random.default_rng(1).random((15, 2)):
        tree, run = alpha_linkage((1 - beta) * D0 + beta * D1, alpha), made.at(alpha, beta)
        assert made.losses(labels)[run] == pruning_loss(tree, labels) and made.losses(labels, majority_loss)[
            run
        ] == majority_loss(tree, labels)
    assert len(set(made.tree_numbers)) <= len(made.runs) <= made.n_regions


def test_regions_by_a_flood():
    made = two_parameter_partition(*metrics(4, 0, None))
    grid = np.array([[made.at(a, b) for a in np.linspace(0.001, 0.999, 150)] for b in np.linspace(0.001, 0.999, 150)])
    from scipy.ndimage import label

    assert made.n_regions == sum(label(grid == run)[1] for run in np.unique(grid)) and len(made.runs) == len(
        np.unique(grid)
    )


def test_ctrl_c_keeps_what_was_found():
    D0, D1 = metrics(6, 0, None)

    def stop(done):
        if done > 0.3:
            raise KeyboardInterrupt

    part, whole = two_parameter_partition(D0, D1, progress=stop), two_parameter_partition(D0, D1)
    assert not part.is_complete and 0 < part.uncertified < 0.7 and "partial" in repr(part)
    slab = part.slabs[0]
    for alpha in (0.1, 0.6):
        assert np.array_equal(
            part.runs[part.at(alpha, (slab.low + slab.high) / 2)],
            whole.runs[whole.at(alpha, (slab.low + slab.high) / 2)],
        )
    hole = (
        next(
            b for a, b in zip([0.0] + [s.high for s in part.slabs], [s.low for s in part.slabs] + [1.0]) if b - a > 1e-6
        )
        - 1e-7
    )
    with pytest.raises(InputError, match="^beta"):
        part.at(0.5, hole)


# Its parts


@given(st.integers(1, 8), st.integers(0, 10**6), st.sampled_from([None, 3]))
def test_envelopes_are_extremes(k, seed, top):
    rng = np.random.default_rng(seed)
    lines = rng.random((k, 2)) if top is None else rng.integers(0, top + 1, (k, 2)).astype(float)
    for merge, of in ((SINGLE, np.min), (COMPLETE, np.max)):
        begins, pieces = envelope(lines, merge)
        for x in [*begins, *rng.random(10)]:
            i = min(np.searchsorted(begins, x, side="right") - 1, len(pieces) - 1)
            assert abs(pieces[i] @ (1 - x, x) - of(lines @ (1 - x, x))) < 1e-12


@given(st.tuples(*[st.integers(-5, 5)] * 3), st.floats(0, 1))
def test_no_root_before_the_nearest(polynomial, beta):
    if np.polynomial.polynomial.polyval(beta, polynomial) <= 1e-9:
        return
    low, high = nearest_roots(np.array([polynomial], dtype=float), beta)
    xs = np.linspace(max(low, beta - 3), min(high, beta + 3), 50)[1:-1]
    assert (np.polynomial.polynomial.polyval(xs, polynomial) > -1e-9).all()
    for root in (low, high):
        if np.isfinite(root):
            assert abs(np.polynomial.polynomial.polyval(root, polynomial)) < 1e-6 * max(1, root**2)


# The grid


@settings(max_examples=15)
@given(
    st.integers(2, 6), st.integers(0, 10**6), st.sampled_from([None, 2, 7]), st.sampled_from(MIXES), st.integers(0, 3)
)
def test_certified_cells_have_one_tree(n, seed, top, merges, depth):
    D0, D1 = metrics(n, seed, top)
    grid, rng = two_parameter_grid(D0, D1, merges, depth), np.random.default_rng(seed)
    assert abs(grid.areas.sum() - 1) < 1e-12 and grid.certified_area <= 1 + 1e-12
    for (a0, a1, b0, b1), tree, sure in zip(grid.cells, grid.tree_of, grid.certified):
        clusters = {tuple(sorted(objects.tolist())) for _, objects in grid.trees[tree].clusters() if len(objects) > 1}
        for x, y in [(0.5, 0.5), *rng.random((2, 2)), (0.001, 0.999)] if sure else [(0.5, 0.5)][: top is None]:
            made = run_at(D0, D1, a0 + x * (a1 - a0), b0 + y * (b1 - b0), merges)
            assert {tuple(sorted(A + B)) for A, B in made} == clusters


def test_the_grid_agrees_with_the_partition_and_gets_finer():
    D0, D1 = metrics(7, 6, None)
    made, grids = two_parameter_partition(D0, D1), [two_parameter_grid(D0, D1, depth=depth) for depth in (1, 3, 5)]
    shares = [grid.certified_area for grid in grids]
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.6
    for alpha, beta in np.random.default_rng(0).random((100, 2)):
        tree, sure = grids[2].at(alpha, beta)
        if sure:
            assert {frozenset(map(int, c)) for _, c in grids[2].trees[tree].clusters() if len(c) > 1} == {
                frozenset(A + B) for A, B in map(tuple, as_sets(made.runs[made.at(alpha, beta)]))
            }


def test_a_border_is_never_certified():
    D0, D1 = metrics(6, 2, None)
    made, grid = two_parameter_partition(D0, D1), two_parameter_grid(D0, D1, depth=4)
    trees = np.array(made.tree_numbers)
    for (a0, a1, b0, b1), sure in zip(grid.cells, grid.certified):
        inner = {trees[made.at(a, b)] for a in np.linspace(a0, a1, 7)[1:-1] for b in np.linspace(b0, b1, 7)[1:-1]}
        assert not (sure and len(inner) > 1)


def test_charts_are_made():
    D0, D1 = metrics(5, 0, None)
    for value in (two_parameter_partition(D0, D1), two_parameter_grid(D0, D1, depth=2)):
        assert value.chart([0, 0, 1, 1, 1]).to_dict()


# Bad input

GOOD, OTHER = metrics(4, 0, None)


@pytest.mark.parametrize(
    "argument, call",
    [
        ("D0", lambda: two_parameter_partition(GOOD[:3], OTHER)),
        ("D1", lambda: two_parameter_partition(GOOD, metrics(5, 0, None)[0])),
        ("D0", lambda: two_parameter_partition(-GOOD, OTHER)),
        ("D1", lambda: two_parameter_partition(GOOD, OTHER * np.nan)),
        ("D1", lambda: two_parameter_grid(GOOD, OTHER + np.eye(4))),
        ("D0", lambda: two_parameter_grid([[0.0]], [[0.0]])),
        ("D0", lambda: two_parameter_grid(np.triu(GOOD), OTHER)),
        ("merges", lambda: two_parameter_partition(GOOD, OTHER, ("single", np.median))),
        ("merges", lambda: two_parameter_grid(GOOD, OTHER, "single")),
        ("depth", lambda: two_parameter_grid(GOOD, OTHER, depth=13)),
        ("depth", lambda: two_parameter_grid(GOOD, OTHER, depth=True)),
        ("alpha", lambda: run_at(GOOD, OTHER, 1.5, 0)),
        ("beta", lambda: run_at(GOOD, OTHER, 1, -1)),
        ("alpha", lambda: two_parameter_partition(GOOD, OTHER).at(2, 0)),
        ("beta", lambda: two_parameter_grid(GOOD, OTHER, depth=1).at(0, float("nan"))),
        ("labels", lambda: two_parameter_partition(GOOD, OTHER).losses([0, 1])),
        ("n_clusters", lambda: two_parameter_grid(GOOD, OTHER, depth=1).losses([0, 0, 1, 1], n_clusters=5)),
        ("loss", lambda: two_parameter_partition(GOOD, OTHER).losses([0, 0, 1, 1], loss="accuracy")),
    ],
)
def test_bad_input_is_named(argument, call):
    with pytest.raises(InputError, match=f"^{argument}"):
        call()


def test_arguments_are_left_alone():
    D0, D1 = metrics(5, 0, 5)
    before = D0.copy(), D1.copy()
    two_parameter_partition(D0, D1, ("average", "complete"))
    two_parameter_grid(D0, D1, depth=2)
    assert np.array_equal(D0, before[0]) and np.array_equal(D1, before[1])


@pytest.mark.parametrize("value", ["low", None, np.zeros(2), 1j, 10**400, np.nan, True])
def test_the_value_of_a_loss_is_a_number(value):
    for made in (two_parameter_partition(GOOD, OTHER), two_parameter_grid(GOOD, OTHER, depth=1)):
        with pytest.raises(InputError, match="^the value of loss must be a finite number; got"):
            made.losses([0, 0, 1, 1], lambda tree, labels: value)


def test_progress_is_a_function():
    for make in (two_parameter_partition, two_parameter_grid):
        with pytest.raises(InputError, match="^progress must be a function of a share"):
            make(GOOD, OTHER, progress=3)


@pytest.mark.parametrize("power", [-900, -300, 300, 900])
def test_the_unit_of_distances_does_not_matter(power):
    for merges in MIXES[:2]:
        expected, made = (
            two_parameter_partition(GOOD, OTHER, merges),
            two_parameter_partition(GOOD * 2.0**power, OTHER * 2.0**power, merges),
        )
        assert [slab.runs for slab in made.slabs] == [slab.runs for slab in expected.slabs] and np.array_equal(
            made.areas, expected.areas
        )
        one, two = (
            two_parameter_grid(GOOD, OTHER, merges, 3),
            two_parameter_grid(GOOD * 2.0**power, OTHER * 2.0**power, merges, 3),
        )
        assert np.array_equal(one.tree_of, two.tree_of) and np.array_equal(one.certified, two.certified)
