"""The theory of the four papers: every check holds, every statement has one, every claim of power is exact.

Helpers that a mutant of `mutants.tsv` reaches are tested by it; the others equal their definitions here.
"""

import inspect
import math
import os
import re
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from shared import similarities

from comparison_hc import InputError, hierarchical
from comparison_hc.adaptive import insertion_clustering
from comparison_hc.adaptive.noisy import contracted_tree, mw_stage, simulate_vertex_query
from comparison_hc.adaptive.trees import SHAPES
from comparison_hc.checks import find_checks, passing_probability, proportion_bounds
from comparison_hc.flat import cluster_matrix
from comparison_hc.hierarchical import planted_hierarchy, quadruplet_average_linkage_ranked
from comparison_hc.oracles import Noisy, run
from comparison_hc.reproduce.l20_tasks import bring_pictures
from comparison_hc.theory import a18_noisy, f19_theorem1, f19_theorem4, n20_noise, n20_sdp
from comparison_hc.theory import l20_execution as execution
from comparison_hc.theory import l20_regions as regions
from comparison_hc.theory import l20_samples as samples
from comparison_hc.theory.f19_theorem4 import quadruplet_average_linkage_sampled as sampled

CHECKS = [check for check in find_checks() if check.__module__.startswith("comparison_hc.theory.")]
STATEMENTS = {  # parts of labels
    "F19": "eq. 4; eq. 5; appendix B.1; Proposition 1, lower; Proposition 1, upper; Theorem 1, sufficient; Theorem "
    "1, converse; Theorem 2, number of queries; Theorem 2, eq. 4; Theorem 2, eq. 6; Theorem 2, eq. 7; Theorem "
    "2, eq. 8; Theorem 2, threshold; Theorem 3, mean kernel; Theorem 3, separation; Theorem 3, eq. 10: "
    "simulated; Theorem 3, eq. 10: the proof; Theorem 3, threshold; Theorem 4, mean preference; Theorem 4, "
    "convex; Theorem 4, separation; Theorem 4, eq. 14; Theorem 4, union bound; Theorem 4, threshold; Theorem "
    "4, eq. 13; Theorems 2 and 3, no overlap",
    "N20": "eq. 3; section 4, gap; section 4, mean similarity; section 5, the trace falls; Proposition 1, condition "
    "broken; Remark 1; Remark 2; Remark 3; Remark 4; Remark 5; Remark 6; Theorem 1, the sample; Theorem 1, "
    "the similarities; Theorem 1, the interval; Theorem 1, rows",
    "A18": "Proposition 2.1; Proposition 2.2; Proposition 2.4; Proposition 4.1; number of hierarchies; lower bound; "
    "Lemma 3.1; Lemma 4.2; Lemma 5.2; Lemma 5.3; Lemma 5.4; Lemma 5.5; Lemma 5.6; Lemma B.1; Theorem 2.3, "
    "step; Theorem 2.3, conclusion; Theorem 3.2; Theorem 3.2, runs; Theorem 4.3, sum; Theorem 4.3, every tree "
    "and order; Theorem 4.3, large trees; every small tree; Theorem 5.1, questions; Theorem 5.1, simulated; "
    "Section 6, star; Section 6, degree",
    "L20": "Definition 1; Lemma 1, linear; Lemma 1, quadratic; Lemma 2; Lemma 3; Lemma 4; Lemma 5; Lemma 6; Lemma 7; "
    "Theorem 1; Theorem 2; Theorem 3; pieces; condition broken",
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.paper}-{check.name}")
def test_every_check_holds_and_says_its_seed(check):
    result = check()
    assert result, f"{result!r}\n{result.error or result.table[~result.table.holds].to_string()}"
    seed = inspect.signature(check.function).parameters.get("rng")
    assert seed is None or result.random["seed"] == seed.default


@pytest.mark.parametrize("paper", STATEMENTS)
def test_every_statement_of_a_paper_has_a_check(paper):
    labels = " ".join(check.label for check in CHECKS if check.paper == paper)
    assert [statement for statement in STATEMENTS[paper].split("; ") if statement not in labels] == []


CLEARED = {  # check that must clear a target: (rate, runs, target) of its rows, all of which must pass
    "linkage_recovers": [(0.99, 200, 0.9)] * 6,
    "single_linkage_fails": [(0.8, 150, 0.5)] * 8,
    "active_constant": [(0.75, 150, 0.5), (0.3, 150, 0.1)],
    "passive_constant": [(0.9, 40, 0.5)] * 3,
    "small_constant_suffices": [(0.98, 80, 0.8)] * 3,
}


@pytest.mark.parametrize("name", CLEARED)
def test_the_stated_power_is_the_exact_one_of_the_runs_that_are_made(name):
    "In how many of so many runs all rows pass, rounded down."
    [check] = [check for check in CHECKS if check.name == name]
    share, of = (int(word.replace(",", "")) for word in re.search(r"in (\d+) of ([\d,]+) runs", check.power).groups())
    rows = CLEARED[name]
    power = math.prod(passing_probability(rate, runs, target, check.false_passes) for rate, runs, target in rows)
    assert share <= power * of < share + 1
    result = check.last or check()
    if name == "passive_constant":
        assert result.table.runs.tolist() == [40] * 3
    else:
        assert f"{rows[0][1]} " in result.random["what"] + " "


def test_the_power_of_the_bounds_of_n20():
    "A bound that must clear a target promises nothing to true statements; its power is computed from its trials."
    for n in (12, 16, 20, 24):
        assert passing_probability(1 - 1 / (50 * n), 10 * n, 1 - 1 / n, 0.001) > 0.95
        assert passing_probability(0.995, 10 * n, 0.9, 0.001) > 0.95
        assert passing_probability(1 - 1 / n, 10 * n, 1 - 1 / n, 0.001) <= 0.001
    assert passing_probability(1 - 1 / (40 * 40), 7 * 40, 1 - 1 / 40, 0.001) > 0.8
    assert passing_probability(0.97, 150, 0.85, 0.001) > 0.97


# ---- F19


@cache
def orders(a, b, u):
    "Orders of a and b values in which the first win u comparisons, by recursion over the largest."
    if min(u, a, b) < 0:
        return 0
    return int(u == 0) if a == 0 or b == 0 else orders(a - 1, b, u - b) + orders(a, b - 1, u)


@given(st.integers(1, 6), st.floats(0.01, 0.99))
@example(40, 0.9)  # a probability below 1e-12
def test_the_tail_of_equal_levels_is_that_of_whole_numbers(n, threshold):
    assume(n > 6 or all(abs(abs(2 * u - n * n) - threshold * n * n) > 1e-9 for u in range(n * n + 1)))
    most = math.ceil(n * n * (1 - threshold) / 2)  # U < n²(1 − threshold)/2, and as often at the other end
    exact = 2 * sum(orders(n, n, u) for u in range(most)) / math.comb(2 * n, n)
    assert math.isclose(f19_theorem4.equal_level_tail(n, threshold), exact, rel_tol=1e-9, abs_tol=1e-15)


def test_orders_up_to_renaming_stand_for_all():
    "Every order of the other pairs of four objects can be renamed, {0, 1} staying, to one that is listed."
    pairs = list(combinations(range(4), 2))
    listed = set(f19_theorem1.orders_of_the_others(4))
    names = [p + q for p in permutations((0, 1)) for q in permutations((2, 3))]
    for order in permutations(range(1, 6)):
        renamed = (
            tuple(pairs.index(tuple(sorted((name[pairs[x][0]], name[pairs[x][1]])))) for x in order) for name in names
        )
        assert listed.intersection(renamed)
    assert len(listed) == 48 < math.factorial(5)


def test_pairs_that_were_never_asked_are_counted():
    def lazy(n, rng):
        yield np.array([[0, 1, 2, 3]])

    assert f19_theorem1.never_asked(lazy, similarities(6, 0), 0) == (13, 1)


def test_stages_lead_from_parts_to_the_root():
    stages = [stage.tolist() for stage in f19_theorem4.planned_stages(1, 2)]
    assert stages == [[0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1, 1], [0, 1]]


@pytest.mark.parametrize("seed", range(12))
def test_4al_on_a_sample_that_is_never_listed_is_4al_at_p_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    w = similarities(n, seed, 6 if seed % 2 else None)  # odd seeds: many ties
    labels = rng.integers(0, int(rng.integers(2, n + 1)), n)
    assert sampled(w, 1.0, seed, labels) == quadruplet_average_linkage_ranked(w, labels)


def test_drawn_net_wins_are_reproducible_and_the_old_name_warns():
    model, groups = planted_hierarchy(6, 3, 0.8, 0.3, 0.05, rng=1), np.arange(48) // 3
    trees = [sampled(model.similarity, 0.05, seed, groups) for seed in (3, 3, 4)]
    assert trees[0] == trees[1] and all(np.array_equal(tree.cut(8), model.labels) for tree in trees)
    with pytest.warns(DeprecationWarning, match="f19_theorem4"):
        assert hierarchical.quadruplet_average_linkage_sampled is sampled
    for wrong, word in ((dict(p=0), "p must"), (dict(initial=[[0, 1]]), "initial"), (dict(rng="x"), "rng")):
        with pytest.raises(InputError, match=word):
            sampled(**{**dict(similarity=np.eye(6), p=0.5, rng=0, initial=[[0, 1], [2, 3], [4, 5]]), **wrong})


# ---- N20


def test_bound_sides_count_what_is_above_and_what_is_near():
    ratios = [np.array([0.1] * 3 + [0.5] * 96 + [1.1]), np.full(100, 0.2)]
    table = n20_noise.bound_sides(ratios, [10, 20], 0.3, 0.01, {"seed": 0, "what": "nothing"}, kind="ab").judge()
    assert table["counted"].tolist() == [1, 0, 97, 0] and table["kind"].tolist() == ["a", "b", "a", "b"]
    low, high = proportion_bounds([1, 97], 100, 0.01)
    assert table["left"][0] == high[0] and table["left"][2] == low[1]
    assert table["holds"].tolist() == [True, True, True, False]


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(0, 10**6), st.floats(0, 1))
def test_no_partition_beats_a_proved_one(sizes, seed, noise):
    S, labels, _ = n20_sdp.noisy_blocks(sizes, noise, seed)
    low, high = n20_sdp.rank_one_interval(S, labels)
    if not low < high:
        return
    X, rng = cluster_matrix(labels), np.random.default_rng(seed)
    for lam in (low, (low + high) / 2, high):
        assert n20_sdp.rank_one_slack(S, labels, lam) >= -1e-9
        for _ in range(20):
            moved = np.where(rng.random(len(labels)) < 0.3, rng.integers(0, len(sizes) + 1, len(labels)), labels)
            other = cluster_matrix(np.unique(moved, return_inverse=True)[1])
            assert n20_sdp.sdp_objective(S, lam, other) <= n20_sdp.sdp_objective(S, lam, X) + 1e-8


# ---- A18


def test_chances_are_sums():
    for k, p in ((1, 0.3), (7, 0.8), (20, 0.55)):
        for c in range(-1, k + 1):
            more = sum(math.comb(k, s) * p**s * (1 - p) ** (k - s) for s in range(c + 1, k + 1))
            assert np.isclose(a18_noisy.chance_of_more(c, k, p), more)
        assert a18_noisy.chance_of_more(2.5, k, p) == a18_noisy.chance_of_more(2, k, p)


def test_the_sibling_is_found_where_the_tree_has_it():
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        tour, oracle, sibling = a18_noisy.partial_tree(12, shape, rng)
        tour.insert(sibling, 11)
        assert tour.tree.dendrogram().same_tree(run(insertion_clustering(12), oracle))


def test_every_vertex_query_gets_the_response_that_is_chosen():
    tour, _, sibling = a18_noisy.partial_tree(9, "uniform", np.random.default_rng(2))
    for at in range(len(tour)):
        possible = a18_noisy.possible_responses(tour, at)
        assert a18_noisy.right_response(tour, at, sibling) in possible
        for response in possible:
            answers = a18_noisy.VertexAnswers(tour, {at: response}.get, at)
            assert run(simulate_vertex_query(tour, at, 8, 3), answers) == response


def test_vertex_queries_are_counted():
    "As often as the first stage asks, according to its callback."
    rng, asked = np.random.default_rng(3), []
    tour, oracle, _ = a18_noisy.partial_tree(10, "split", rng)
    counting = a18_noisy.CountingVertexQueries(Noisy(oracle, 0.8, rng, wrong="same"))
    run(mw_stage(tour, 9, 0.8, 3, 30, lambda q, response, weight: asked.append(response is not None)), counting)
    assert counting.n_vertex == sum(asked) > 10 and counting.largest == 3


def test_the_worst_adversary_raises_the_potential_and_right_answers_lower_it():
    tour, _, sibling = a18_noisy.partial_tree(12, "uniform", rng := np.random.default_rng(4))
    near = contracted_tree(tour, {*range(0, len(tour), 2), sibling})
    adversary = a18_noisy.worst_adversary(tour, sibling, near, rng)
    for p, step in ((0, 1), (1, -1)):
        respond = a18_noisy.right_or(tour, sibling, p, rng, adversary)
        end, seen = a18_noisy.watched_walk(tour, respond, sibling, 11, near, 25)
        assert all(right == p and after == before + step for right, before, after, _ in seen)
    assert end == sibling and seen[-1][2] < 0


# ---- L20 (that `exact_run` is the linkage is tested in test_link)

functions = st.integers(1, 3).flatmap(
    lambda p: st.lists(st.tuples(*[st.integers(-6, 6)] * (p + 1)), min_size=1, max_size=4 if p < 3 else 3)
)


@given(functions, st.integers(0, 10**6))
@settings(max_examples=60)
def test_no_region_is_missed(functions, seed):
    p, rng = len(functions[0]) - 1, np.random.default_rng(seed)
    found = {regions.signs_at(functions, point) for point in regions.points_of_regions(functions)}
    drawn = [tuple(Fraction(int(x), 6) for x in point) for point in rng.integers(-60, 61, (150, p))]
    assert {regions.signs_at(functions, point) for point in drawn} <= found


def test_steps_stay_in_the_region():
    rng, widest = np.random.default_rng(0), 0
    H = regions.distance_functions(regions.small_metrics(4, 3, rng))
    for point in regions.points_in_simplex(H, rng, 5)[::40]:
        found = regions.within_region(H, point, rng, 4)
        assert found[0] == point and len({regions.signs_at(H, x) for x in found}) == 1
        widest = max(widest, len(set(found)))
    assert widest > 1


def test_samples_are_all_samples():
    counted = {}
    for sample in product(range(3), repeat=4):
        key = tuple(sample.count(i) for i in range(3))
        counted[key] = counted.get(key, 0) + 1 / 81
    assert {tuple(counts.tolist()): p for counts, p in samples.samples_with_counts(3, 4)} == pytest.approx(counted)


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    here = {name: execution.DISTRIBUTIONS[name] for name in ("rings and disks", "digits")}
    monkeypatch.setattr(execution, "DISTRIBUTIONS", here)
    monkeypatch.setenv("COMPARISON_HC_DATA", str(tmp_path))
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path))
    for bring in (lambda: None, bring_pictures):
        bring()
        result = execution.pieces_are_few()
        assert result and set(result.table.distribution) == {"rings and disks", "digits", "whole numbers"}
        left_out = "left out, as the data are not here (or `bring_pictures` was not called): MNIST, CIFAR-10, Omniglot"
        assert left_out in result.random["what"]


@pytest.mark.skipif(not os.environ.get("COMPARISON_HC_DATA"), reason="COMPARISON_HC_DATA names no folder with the data")
def test_pictures_are_brought():
    bring_pictures()
    for name in execution.BROUGHT:
        D, labels = execution.DISTRIBUTIONS[name][0](10, np.random.default_rng(0))
        for one in D if name == "Omniglot" else (D,):
            assert one.shape == (10, 10) and (one == one.T).all() and (one.diagonal() == 0).all() and one.sum() > 0
        assert np.unique(labels, return_counts=True)[1].tolist() == [2] * 5
