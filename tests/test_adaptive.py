"Adaptive learners: laws that hold for all, equality of every part with its definition, one table of bad input."

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, log2
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import refusals

from comparison_hc import adaptive
from comparison_hc.adaptive import (
    GrowingTree,
    Hierarchy,
    InconsistentTriplets,
    OrdinalOracle,
    all_hierarchies,
    all_triples_clustering,
    bayesian_insertion_clustering,
    consistent_hierarchy,
    insertion_clustering,
    multifurcating_clustering,
    n_hierarchies,
    quick_clustering,
    random_hierarchy,
    robust_insertion_clustering,
)
from comparison_hc.adaptive import noisy as noise
from comparison_hc.adaptive._validation import check_items
from comparison_hc.adaptive.bayesian import bayesian_sibling, best_split_pivot
from comparison_hc.adaptive.insertion import depth_limit
from comparison_hc.adaptive.multifurcating import all_multifurcating, collapse_edges, questions_per_insertion
from comparison_hc.adaptive.noisy import HERE, LEFT, RIGHT, UP, EulerTour
from comparison_hc.adaptive.trees import SHAPES, tree_chart
from comparison_hc.comparisons import Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.oracles import Counting, HierarchyOracle, Journal, Noisy, SimilarityOracle, run

properties = settings(deadline=None, derandomize=True, max_examples=50)
shapes, seeds = st.sampled_from(sorted(SHAPES)), st.integers(0, 2**32 - 1)
orders, shares = st.sampled_from(["shuffled", "as drawn", "backwards"]), st.sampled_from([0, 0.3, 0.7, 0.95, 1])

# ---- definitions


def clusters(tree):
    "The clusters as a set of frozensets."
    if isinstance(tree, Hierarchy):
        return set(tree.clusters())
    return {frozenset(members.tolist()) for _, members in tree.clusters()}


def odd_one_out(hierarchy, triple):
    "The position of the item that some cluster leaves out; −1 if there is none (A18, section 2.2)."
    for position, odd in enumerate(triple):
        if any(set(triple) - {odd} <= cluster and odd not in cluster for cluster in hierarchy):
            return position
    return -1


def pair_and_odd(row):
    "An answer as the pair that belongs together and the odd one out."
    items = list(row[:3])
    odd = items.pop(row[3])
    return frozenset(items), odd


def agrees(tree, triplets):
    return all(any(i in c and j in c and k not in c for c in clusters(tree)) for i, j, k in triplets)


def is_consistent(triplets, items):
    "BUILD straight from its idea."
    if len(items) == 1:
        return True
    component = {item: {item} for item in items}
    for i, j, _ in triplets:
        if component[i] is not component[j]:
            component[i] |= component[j]
            for item in component[j]:
                component[item] = component[i]
    parts = {id(part): part for part in component.values()}.values()
    return len(parts) > 1 and all(is_consistent([t for t in triplets if set(t) <= part], part) for part in parts)


def assert_minimal(answers):
    "These answers are inconsistent, and all but any one of them are not."
    rows = [(*pair, odd) for pair, odd in map(pair_and_odd, answers.tolist())]
    items = {item for row in rows for item in row}
    assert not is_consistent(rows, items)
    for at in range(len(rows)):
        assert is_consistent(rows[:at] + rows[at + 1 :], items)


def direction(tour, at, to):
    "From one position to another, by the members of subtrees."
    tree, v, target = tour.tree, int(tour.vertex[at]), int(tour.vertex[to])
    if v == target:
        return HERE
    if v >= tree.n_items:
        if target in tree.below(tree.left[v]):
            return LEFT
        if target in tree.below(tree.right[v]):
            return RIGHT
    return UP


def distances(tour):
    "(N, N) edges between positions, by walking up."
    up = [[i] for i in range(len(tour))]
    for path in up:
        while tour.parent[path[-1]] >= 0:
            path.append(int(tour.parent[path[-1]]))
    return np.array([[len(set(a) ^ set(b)) for b in up] for a in up])


def hierarchy_of(tree):
    return tree if isinstance(tree, Hierarchy) else Hierarchy.from_dendrogram(tree)


def reordered(truth, way):
    "The same shape, its items numbered as they were, as drawn, or the other way round."
    return truth if way == "shuffled" else truth.relabel(truth.leaf_order()[:: 1 if way == "as drawn" else -1])


def random_multifurcating(shape, n, share, seed):
    return collapse_edges(random_hierarchy(n, shape, seed), share, seed)


def random_tour(n, seed):
    "A tree of n items that grew at random positions."
    rng, tour = np.random.default_rng(seed), EulerTour(GrowingTree(n), seed)
    for x in range(1, n):
        tour.insert(int(rng.integers(len(tour))), x)
    return tour


# ---- laws of all learners


def insertion_bounds(cost, degree):
    totals = np.cumsum(cost)
    assert all(totals[i - 1] <= i * log2(i) for i in range(1, len(cost) + 1))
    assert all(cost[x] <= depth_limit(x) for x in range(1, len(cost)))


def all_triples_bounds(cost, degree):
    assert cost.sum() == comb(len(cost), 3)


def multifurcating_bounds(largest_first):
    def check(cost, degree):
        for m in range(2, len(cost)):
            assert cost[m] <= questions_per_insertion(m, max(2, degree), largest_first)

    return check


def robust_bounds(cost, degree):
    n, delta = len(cost), 0.1 / len(cost)
    k = noise.votes_per_pivot(0.95)
    for m in range(2, n):
        K = noise.mw_rounds(2 * m - 1, 0.95, delta / 2)
        assert cost[m] <= 2 * k * (K + noise.walking_rounds(min(K, 2 * m - 1) - 1, 0.95, delta / 2))


def no_bounds(cost, degree):
    pass


def law(learn, bounds=no_bounds, multifurcating=False, small=5, large=60):
    return SimpleNamespace(learn=learn, bounds=bounds, multifurcating=multifurcating, small=small, large=large)


LEARNERS = {
    "insertion": law(lambda items, seed: insertion_clustering(items), insertion_bounds, small=6, large=200),
    "quick, search": law(lambda items, seed: quick_clustering(items, seed), small=6, large=200),
    "quick, walk": law(lambda items, seed: quick_clustering(items, seed, "walk"), small=6, large=200),
    "all triples": law(lambda items, seed: all_triples_clustering(items, 7), all_triples_bounds, large=25),
    "multifurcating": law(lambda items, seed: multifurcating_clustering(items), multifurcating_bounds(True), True),
    "multifurcating, in order": law(
        lambda items, seed: multifurcating_clustering(items, False), multifurcating_bounds(False), True
    ),
    "robust": law(lambda items, seed: robust_insertion_clustering(items, 0.95, 0.1, seed), robust_bounds, False, 4, 8),
    "Bayesian": law(lambda items, seed: bayesian_insertion_clustering(items, 0.9, 0.1, seed), small=4, large=40),
    "Bayesian, random errors": law(
        lambda items, seed: bayesian_insertion_clustering(items, 0.9, 0.1, seed, adversary=False), small=4, large=40
    ),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def assert_learns(name, truth, n, seed=0):
    "The right tree within the bounds, and no question about items that are not there or are equal."
    learner, cost = LEARNERS[name], np.zeros(n, dtype=int)
    oracle = OrdinalOracle(truth) if learner.multifurcating else HierarchyOracle(truth)

    def listening(questions):
        assert all(len({*row}) == 3 and 0 <= min(row) and max(row) < n for row in questions.tolist())
        np.add.at(cost, questions[:, 2] if name != "all triples" else questions.max(axis=1), 1)
        return oracle(questions)

    learned = run(learner.learn(n, seed), listening)
    assert learned.same_tree(truth) if isinstance(learned, Dendrogram) else learned == hierarchy_of(truth)
    learner.bounds(cost, truth.degree if isinstance(truth, Hierarchy) else 2)


@every_learner
def test_every_small_tree_is_learned(name):
    "By enumeration; the check `every_small_tree_is_learned` does larger ones in full."
    for n in range(2, LEARNERS[name].small + 1):
        for seed, tree in enumerate(all_hierarchies(n)):
            assert_learns(name, tree.dendrogram(), n, seed)
        for tree in all_multifurcating(n) if LEARNERS[name].multifurcating else ():
            assert_learns(name, tree, n)


@every_learner
def test_random_trees_are_learned_in_every_order(name):
    "Numbering the items in another order renames the learned tree."

    @properties
    @given(shapes, st.integers(2, LEARNERS[name].large), seeds, orders, shares)
    def holds(shape, n, seed, order, share):
        truth = reordered(random_hierarchy(n, shape, seed), order)
        assert_learns(name, collapse_edges(truth, share, seed) if LEARNERS[name].multifurcating else truth, n, seed)

    holds()


@every_learner
def test_a_journal_replays_an_interrupted_run(name, tmp_path):
    truth, path = random_hierarchy(7, "split", 1), tmp_path / "answers.jsonl"
    oracle, left = Noisy(HierarchyOracle(truth), 0.95, 4), [6]
    names = "ant bee cat dog eel fox gnu".split()

    class Tired(Exception):
        pass

    def tired(questions):
        left[0] -= 1
        if left[0] < 0:
            raise Tired
        return oracle(questions)

    def learned(oracle):
        try:
            return run(LEARNERS[name].learn(names, 3), oracle)
        except InconsistentTriplets as error:
            return str(error)

    expected = learned(Noisy(HierarchyOracle(truth), 0.95, 4))
    if name not in ("quick, search", "quick, walk", "all triples"):  # these are done after fewer batches
        with pytest.raises(Tired):
            learned(Journal(tired, path))
    left[0] = 10**9
    assert learned(Journal(tired, path)) == expected == learned(Journal(lambda questions: 1 / 0, path))
    assert isinstance(expected, str) or expected.names == tuple(names)


@every_learner
def test_bad_answers_are_refused(name):
    bad = [(3, "position"), (None, "position"), ("0", "position"), (0.5, "position"), (True, "position")]
    for answer, words in bad + [(-1, "binary")] * (not LEARNERS[name].multifurcating):
        with pytest.raises(InputError, match="question.*" + words):
            run(LEARNERS[name].learn(4, 0), lambda questions, answer=answer: [answer] * len(questions))
    driven = LEARNERS[name].learn(4, 0)
    with pytest.raises(InputError, match="question"):
        driven.send(np.full(len(next(driven)), 7))
    with pytest.raises(ZeroDivisionError):  # what the oracle raises arrives as it is
        run(LEARNERS[name].learn(4, 0), lambda questions: 1 / 0)


def test_numbers_of_numpy_are_numbers_and_names_become_text():
    assert check_items(np.int32(3)) == (3, None) and check_items(np.array([4, 5])) == (2, ("4", "5"))
    assert check_items(x for x in "ab") == (2, ("a", "b"))
    with pytest.raises(InputError, match="answers must be free of masked"):
        run(insertion_clustering(3), lambda questions: np.ma.array([0], mask=[True]))


@pytest.mark.parametrize("name", ["insertion", "robust_insertion", "bayesian_insertion"])
def test_a_tree_that_is_passed_in_grows(name):
    learn, options = getattr(adaptive, f"{name}_clustering"), [] if name == "insertion" else [0.9, 0.1]
    oracle = SimilarityOracle(np.array([[0, 9, 1, 2], [9, 0, 1, 2], [1, 1, 0, 8], [2, 2, 8, 0.0]]))
    tree, used = GrowingTree(4), GrowingTree(4)
    learned = run(learn(list("abcd"), *options, tree=tree), oracle)
    assert clusters(learned) >= {frozenset({0, 1}), frozenset({2, 3})} and tree.dendrogram(list("abcd")) == learned
    used.add_sibling(0, 1)
    for bad in (used, GrowingTree(5), 3):
        with pytest.raises(InputError, match=r"a new GrowingTree\(4\)"):
            learn(4, *options, tree=bad)


def test_old_names_warn():
    for old, new in (("Contradiction", "InconsistentTriplets"), ("any_degree_clustering", "multifurcating_clustering")):
        with pytest.warns(DeprecationWarning, match=new):
            assert getattr(adaptive, old) is getattr(adaptive, new)
    with pytest.warns(DeprecationWarning, match="add_sibling"):
        assert GrowingTree(2).splice(0, 1) == 2


# ---- trees


def test_all_hierarchies_are_all_and_different():
    for n in range(1, 7):
        trees = [clusters(tree.dendrogram()) for tree in all_hierarchies(n)]
        assert len({frozenset(tree) for tree in trees}) == len(trees) == n_hierarchies(n)
        assert all(len(tree) == 2 * n - 1 for tree in trees)
    assert [n_hierarchies(n) for n in (2, 3, 4, 5, 6)] == [1, 3, 15, 105, 945]
    for n, count in enumerate((1, 1, 4, 26, 236, 2752), start=1):
        trees = list(all_multifurcating(n))
        assert len(set(trees)) == len(trees) == count


@properties
@given(shapes, st.integers(2, 60), seeds)
def test_random_hierarchies(shape, n, seed):
    tree = random_hierarchy(n, shape, seed)
    sizes = Counter(map(len, clusters(tree)))
    assert tree == random_hierarchy(n, shape, seed) and tree.height_kind == "level"
    assert tree.n_leaves == n and sum(sizes.values()) == 2 * n - 1
    if shape == "caterpillar":
        assert all(sizes[size] == 1 for size in range(2, n + 1))
    if shape == "balanced":
        assert tree.heights[-1] == (n - 1).bit_length()


@properties
@given(st.integers(2, 30), seeds)
def test_equal_trees_give_equal_dendrograms_and_leaves_stay_below(n, seed):
    rng, tree = np.random.default_rng(seed), GrowingTree(n)
    for x in range(1, n):
        kept = {v: tree.leaf_below[v] for v in tree.below()}
        tree.add_sibling(int(rng.choice(tree.below())), x)
        assert all(tree.leaf_below[v] == item and item in tree.below(v) for v, item in kept.items())
    turned = GrowingTree(n)  # the same clusters, joined from the bottom up, children swapped
    root, children = list(range(n)), tree.dendrogram().children.tolist()
    for a, b in children:
        root.append(turned.add_sibling(root[b], root[a]))
    assert turned.dendrogram() == tree.dendrogram() and turned.dendrogram().same_tree(tree.dendrogram())


def test_a_tree_can_be_drawn():
    tree = SHAPES["uniform"](9, np.random.default_rng(0))
    colours = {"a": "#000000", "b": "#0072B2"}
    drawn = tree_chart(tree, {0: "a", 12: "b"}, colours, names=list("ABCDEFGHI"), title="t").to_dict()
    points = {row["name"]: row for rows in drawn["datasets"].values() for row in rows if "ink" in row}
    assert len(points) == 17 and "D" in points
    assert points["12"]["ink"] == "white" and points["13"]["ink"] == "black"  # blue; grey, which is pale
    assert len(tree_chart(tree).to_dict()["layer"]) == 4


@properties
@given(shapes, st.integers(2, 40), st.floats(0, 1), seeds)
def test_every_form_of_a_hierarchy_leads_back(shape, n, share, seed):
    tree, binary = random_multifurcating(shape, n, share, seed), random_hierarchy(n, shape, seed)
    assert Hierarchy.from_dendrogram(tree.to_dendrogram()) == tree == Hierarchy.from_newick(tree.to_newick())
    assert tree == Hierarchy(tree.children) and tree.n_items == n and tree.degree >= 2
    assert len(clusters(tree)) == n + len(tree.children) and frozenset(range(n)) in clusters(tree) <= clusters(binary)
    assert collapse_edges(binary, 0, 0).to_dendrogram() == binary
    assert collapse_edges(binary, 1, 0) == Hierarchy((tuple(range(n)),))


def test_names_newick_initial_clusters_and_a_single_item():
    tree = Hierarchy.from_newick("(('it''s','b c'),d,(e,f,g));")
    assert tree.names == ("it's", "b c", "d", "e", "f", "g")
    again = Hierarchy.from_newick(tree.to_newick(), tree.names)
    assert again == tree and hash(again) == hash(tree) and repr(tree) == "Hierarchy(6 items, 3 clusters, degree 3)"
    grouped = Hierarchy.from_dendrogram(Dendrogram.from_merges([[0, 1]], [[0, 2, 3], [1]]))
    assert clusters(grouped) >= {frozenset({0, 2, 3}), frozenset(range(4))}
    assert Hierarchy(()).n_items == 1 and Hierarchy(()).degree == 0
    assert Hierarchy.from_newick("((a:1,b:1):1,(c:2,d:2):0);").degree == 3  # a branch of length 0 is no branch


# ---- oracles


@properties
@given(shapes, st.integers(3, 12), st.floats(0, 1), seeds)
def test_oracles_answer_by_definition(shape, n, share, seed):
    tree, rng = random_multifurcating(shape, n, share, seed), np.random.default_rng(seed)
    triples = np.array([rng.permutation(t) for t in combinations(range(n), 3)])
    binary = random_hierarchy(n, shape, seed)
    for oracle, truth in ((OrdinalOracle(tree), tree), (HierarchyOracle(binary), binary)):
        answers = oracle(triples)
        assert answers.tolist() == [odd_one_out(clusters(truth), t) for t in triples.tolist()]
        assert answers.tolist() == [oracle(t[None]).item() for t in triples] and answers.dtype == np.int8


def test_adversaries():
    truth, decoy = (random_hierarchy(12, shape, 0) for shape in ("balanced", "caterpillar"))
    triples = np.array([np.random.default_rng(i).permutation(t) for i, t in enumerate(combinations(range(12), 3))])
    right, other = HierarchyOracle(truth)(triples), HierarchyOracle(decoy)(triples)
    odd = lambda answers: triples[np.arange(len(triples)), answers]
    same = Noisy(HierarchyOracle(truth), 0, 0, wrong="same")(triples)
    assert all(odd(same)[t] == min(set(triples[t]) - {odd(right)[t]}) for t in range(len(triples)))
    follow = Noisy(HierarchyOracle(truth), 0, 0, wrong=HierarchyOracle(decoy))(triples)
    assert (follow == np.where(other != right, other, same)).all() and (other != right).sum() > 50
    for wrong in ("random", "same", HierarchyOracle(decoy)):
        assert (Noisy(HierarchyOracle(truth), 1, 0, wrong=wrong)(triples) == right).all()


# ---- insertion


@properties
@given(st.integers(2, 30), seeds)
def test_the_tree_agrees_with_whatever_was_answered(n, seed):
    rng, given_answers = np.random.default_rng(seed), []

    def whatever(questions):
        given_answers.append((*questions[0].tolist(), int(rng.integers(3))))
        return [given_answers[-1][3]]

    hierarchy = clusters(run(insertion_clustering(n), whatever))
    assert all(odd_one_out(hierarchy, row[:3]) == row[3] for row in given_answers)
    assert len({frozenset(row[:3]) for row in given_answers}) == len(given_answers)


# ---- quick, multifurcating


def test_quick_needs_few_batches_for_deep_trees():
    oracle = Counting(HierarchyOracle(random_hierarchy(2000, "caterpillar", 0)))
    run(quick_clustering(2000, 0), oracle)
    assert oracle.n_batches < 200 and oracle.n_queries < 2 * 2000 * log2(2000)


def test_quick_sees_inconsistent_answers():
    "The first draw is rejected, then answers are random: either a minimal inconsistent subset, or a tree."
    seen = 0
    for seed in range(30):
        rng, batches = np.random.default_rng(seed), []

        def careless(questions, rng=rng, batches=batches):
            answers = rng.integers(3, size=len(questions)) if batches else np.full(len(questions), 2)
            batches.append(np.column_stack([questions, answers]))
            return answers

        try:
            tree = run(quick_clustering(40, seed), careless)
        except InconsistentTriplets as error:
            seen += 1
            answered = np.concatenate(batches).tolist()
            assert set(map(pair_and_odd, error.answers.tolist())) <= set(map(pair_and_odd, answered))
            assert_minimal(error.answers)
        else:
            assert tree.n_leaves == 40
    assert seen > 5


def test_multifurcating_insertion_notices_two_inconsistent_answers():
    for answer in (2, 0, 1):  # the third question is about item 2, and item 0 once more
        answers = iter([-1, -1, answer])
        if answer == 1:
            assert run(multifurcating_clustering(4), lambda questions, a=answers: [next(a)]).degree == 3
            continue
        with pytest.raises(InconsistentTriplets) as caught:
            run(multifurcating_clustering(4), lambda questions, a=answers: [next(a)])
        assert caught.value.answers.tolist() == [[0, 1, 3, -1], [2, 0, 3, answer]]
    answers = iter([-1, -1, 2])
    with pytest.raises(InconsistentTriplets, match="ant bee dog equally close; cat ant | dog"):
        run(multifurcating_clustering(["ant", "bee", "cat", "dog"]), lambda questions: [next(answers)])


# ---- the parts of noisy insertion


@properties
@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.floats(1.01, 99), seeds)
def test_weights_are_powers_and_ties_are_ties(counts, factor, seed):
    "By exact fractions; and equal bits wherever as many answers allow, which an exponential need not give."
    n_allowed, known = np.array(counts, dtype=float), np.array(counts)
    marked = np.random.default_rng(seed).random(len(counts)) < 0.3
    marked[known.argmax()] = False
    n_allowed[marked] = -np.inf
    weight, ratio = noise.mw_weights(n_allowed, factor), 1 / Fraction(factor)
    exact = [0.0 if gone else float(ratio ** int(known.max() - c)) for c, gone in zip(counts, marked)]
    assert np.allclose(weight, exact, rtol=1e-13, atol=1e-300) and weight.max() == 1
    products = [1.0]
    while len(products) <= known.max():
        products.append(products[-1] * (1 / factor))  # Python's own multiplication: the same bits
    assert [products[int(known.max() - c)] for c in known[~marked]] == weight[~marked].tolist()


@properties
@given(st.integers(2, 25), seeds, st.integers(1, 12))
def test_the_contracted_tree(n, seed, size):
    tour, rng = random_tour(n, seed), np.random.default_rng(seed)
    marked = set(rng.choice(len(tour), min(size, len(tour)), replace=False).tolist())
    near, D = noise.contracted_tree(tour, marked), distances(tour)
    full = {i: {j for j in range(len(tour)) if D[i, j] == 1} for i in range(len(tour))}
    while few := [v for v in full if v not in marked and len(full[v]) < 3]:  # cut leaves, contract paths
        ends = full.pop(few[0])
        for u in ends:
            full[u] = (full[u] - {few[0]}) | (ends - {u})
    assert {v: set(to) - {v} for v, to in near.items()} == full and all(to[HERE] == v for v, to in near.items())
    for v, to in near.items():  # every step leads where it says
        assert all(D[to[direction(tour, v, target)], target] < D[v, target] for target in near if target != v)
    steps = {v: {v: 0} for v in near}
    for v, seen in steps.items():
        for u in (queue := [v]):
            for w in full[u] - seen.keys():
                seen[w] = seen[u] + 1
                queue.append(w)
    assert noise.diameter(near) == max(max(seen.values()) for seen in steps.values()) <= len(marked) - 1


@properties
@given(st.integers(3, 15), seeds, st.floats(0.51, 0.95))
def test_posterior_and_pivot_are_those_of_the_definition(n, seed, p):
    tour, rng, seen = random_tour(n - 1, seed), np.random.default_rng(seed), []
    search = bayesian_sibling(tour, n - 1, p / (1 - p), 1e-9, seen.append)
    expected = np.ones(len(tour))
    next(search)
    to = {at: np.array([direction(tour, at, v) for v in range(len(tour))]) for at in tour.pivots.tolist()}
    parts = {at: (toward == RIGHT, toward == LEFT, toward >= UP) for at, toward in to.items()}
    for _ in range(15):
        at = best_split_pivot(tour, seen[-1], int(seen[-1].argmax()))
        heaviest = {v: max(seen[-1][part].sum() for part in three) for v, three in parts.items()}
        assert np.isclose(heaviest[at], min(heaviest.values()))
        answer = int(rng.integers(3))
        expected *= np.where(parts[at][answer], p, 1 - p)
        try:
            search.send(np.array([answer]))
        except StopIteration:
            return
        assert np.allclose(seen[-1], expected / expected.max())


def test_the_last_doubts_are_not_lost_to_rounding():
    tour = random_tour(30, 0)
    for top in range(len(tour)):
        weight = np.full(len(tour), 1e-25)
        weight[top] = 1
        at = best_split_pivot(tour, weight, top)
        beside = {}
        for pivot in tour.pivots.tolist():
            part = [min(direction(tour, pivot, v), UP) for v in range(len(tour))]
            beside[pivot] = part.count(part[top])
        assert beside[at] == min(beside.values()) < len(tour)


# ---- noisy insertion


@pytest.mark.parametrize("wrong", ["random", "same", "decoy"])
def test_wrong_trees_of_bayesian_insertion_are_rare(wrong):
    "For robust insertion this is the check `trees_are_right`."
    right = 0
    for seed in range(40):
        truth = random_hierarchy(10, sorted(SHAPES)[seed % 4], seed)
        story = HierarchyOracle(random_hierarchy(10, "uniform", 999 + seed)) if wrong == "decoy" else wrong
        noisy = Noisy(HierarchyOracle(truth), 0.8, seed, wrong=story)
        right += run(bayesian_insertion_clustering(10, 0.8, 0.02, seed), noisy).same_tree(truth)
    assert right >= 37  # four or more wrong at 2 %: less than 1 % even if the bound were attained


def test_the_exact_posterior_keeps_its_guarantee_on_average():
    delta, runs, wrong = 0.3, 150, 0
    for seed in range(runs):
        truth = random_hierarchy(8, "uniform", seed)
        algorithm = bayesian_insertion_clustering(8, 0.75, delta, seed, adversary=False)
        wrong += not run(algorithm, Noisy(HierarchyOracle(truth), 0.75, seed)).same_tree(truth)
    assert 0 < wrong < delta * runs  # it is spent, but not overspent


def test_extreme_but_legal():
    truth = random_hierarchy(3, "split", 0)
    for way in (robust_insertion_clustering, bayesian_insertion_clustering):
        for p, delta in ((1 - 1e-12, 1e-90), (0.999999, 1 - 1e-12)):
            assert run(way(3, p, delta), HierarchyOracle(truth)).same_tree(truth)


# ---- BUILD and inconsistent answers

TREES = {n: list(all_multifurcating(n)) for n in (3, 4, 5)}


def few_rows(n):
    rows = st.lists(st.permutations(range(n)).map(lambda p: tuple(p[:3])), min_size=1, max_size=8)
    return rows.map(lambda rows: (n, rows))


@settings(properties, max_examples=150)
@given(st.integers(3, 5).flatmap(few_rows))
def test_build_against_all_trees(case):
    n, rows = case
    possible = [tree for tree in TREES[n] if agrees(tree, rows)]
    try:
        assert consistent_hierarchy(Triplets(rows, n)) in possible
    except InconsistentTriplets as error:
        named = set(map(pair_and_odd, error.answers.tolist()))
        assert not possible and named <= {(frozenset(row[:2]), row[2]) for row in rows}
        assert_minimal(error.answers)


@properties
@given(shapes, st.integers(3, 25), st.floats(0, 1), seeds)
def test_build_finds_a_tree_from_its_answers(shape, n, share, seed):
    truth, rng = random_hierarchy(n, shape, seed), np.random.default_rng(seed)
    triples = np.array(list(combinations(range(n), 3)))
    answers = HierarchyOracle(truth)(triples)
    rows = [(*np.delete(t, a), t[a]) for t, a in zip(triples.tolist(), answers.tolist())]
    assert consistent_hierarchy(rows, n).to_dendrogram() == truth
    some = [rows[at] for at in np.flatnonzero(rng.random(len(rows)) < share)] or rows[:1]
    assert agrees(consistent_hierarchy(some, n), some)


def test_build_takes_names():
    tree = consistent_hierarchy(Triplets([(0, 1, 2)], 4, names=["a", "b", "c", "d"]))
    assert tree.names == ("a", "b", "c", "d") and frozenset({0, 1}) in clusters(tree)
    with pytest.raises(InconsistentTriplets, match=r"a b \| c"):
        consistent_hierarchy(Triplets([(0, 1, 2), (1, 2, 0)], 3, names=["a", "b", "c"]))


def test_a_large_inconsistent_set_is_made_small_quickly():
    truth, rng = random_hierarchy(300, "uniform", 0), np.random.default_rng(0)
    triples = np.array([rng.permutation(300)[:3] for _ in range(20_000)])
    answers = HierarchyOracle(truth)(triples)
    answers[777] = (answers[777] + 1) % 3
    rows = [(*np.delete(t, a), t[a]) for t, a in zip(triples.tolist(), answers.tolist())]
    with pytest.raises(InconsistentTriplets) as caught:
        consistent_hierarchy(rows, 300)
    named = caught.value.answers
    assert len(named) < 40 and any(set(row[:3]) == set(triples[777]) for row in named.tolist())
    assert_minimal(named)


def test_an_error_names_its_answers():
    import pickle

    error = InconsistentTriplets([(0, 1, 2, 0), (2, 0, 1, -1)], ("ant", "bee", "cat"))
    assert "bee cat | ant" in str(error) and "cat ant bee equally close" in str(error)
    assert error.answers.tolist() == [[0, 1, 2, 0], [2, 0, 1, -1]] and isinstance(error, InputError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "12 more" in str(InconsistentTriplets([(0, 1, 2, 0)] * 20))


# ---- bad input

NAN = float("nan")


def grown():
    "Items 0 and 1 joined, 2 and 3 to come."
    tree = GrowingTree(4)
    tree.add_sibling(0, 1)
    return tree


def tree_of(n=4):
    return random_hierarchy(n, "split", 0)


def noisy(words, name, *values):
    "Both noisy learners with one argument replaced."
    legal = dict(items=5, p_correct=0.8, delta=0.1)
    ways = robust_insertion_clustering, bayesian_insertion_clustering
    return [(words, lambda value, way=way: way(**{**legal, name: value}), *values) for way in ways]


test_bad_arguments_are_refused = refusals(
    ("^v must be", lambda v: grown().add_sibling(v, 1), 9, -1, "0", None, True),
    ("^w must be", lambda w: grown().add_sibling(2, w), 1, 2, 9, 1.5),
    ("root must be", lambda root: grown().dendrogram(root=root), 2),
    ("m must be", depth_limit, 0, -1, NAN, "x", 2.5),
    ("n must be", lambda n: random_hierarchy(n, "split", 0), 1, 2.5),
    ("n must be", lambda n: next(all_hierarchies(n)), 0, 1.5),
    ("n must be", n_hierarchies, 0, 1.5),
    ("^colours must be colours such as #0072b2; got 'blue'", lambda c: tree_chart(grown(), {4: "b"}, {"b": c}), "blue"),
    ("children must be", Hierarchy, 5, None, "ab", [[0]], [[0, 1], [0, 2]], [[0, 3], [1, 2]], [[0, 1.5]]),
    ("children must be", Hierarchy, [[0, "a"]], [[-1, 0]], [[0, 1, 1]], [[0, 1], [2, 5]], [[0, True]]),
    ("names", lambda names: Hierarchy(((0, 1, 2),), names), ["a", "b"]),
    ("dendrogram", Hierarchy.from_dendrogram, 5),
    ("hierarchy", OrdinalOracle, np.eye(3)),
    ("three items", OrdinalOracle(Hierarchy(((0, 1, 2, 3),))), [[0, 1, 2, 3]]),
    ("share", lambda share: collapse_edges(tree_of(), share, 0), -0.1, 1.1, "x"),
    ("binary", lambda oracle: run(quick_clustering(5, 0), oracle), SimilarityOracle(np.ones((5, 5)))),
    ("m must be", lambda m: questions_per_insertion(m, 2), 1, "x"),
    ("degree", lambda degree: questions_per_insertion(5, degree), 1, NAN),
    *noisy("p_correct must be", "p_correct", 0.5, 0.4, 0, 1, 0.5005),
    *noisy("delta must be", "delta", 0, 1, 1.5, 1e-200),
    ("p_correct must be", noise.votes_per_pivot, 0.5, 0.4, 1, 0, NAN, "x", None, True),
    ("p_correct must be", lambda p: noise.mw_rounds(9, p, 0.1), 0.5, 1, NAN, None),
    ("p_correct must be", lambda p: noise.walking_rounds(3, p, 0.1), 0.5, 1, NAN, None),
    ("n_vertices", lambda n: noise.mw_rounds(n, 0.8, 0.1), 2),
    ("delta", lambda delta: noise.mw_rounds(9, 0.8, delta), 0),
    ("D must be", lambda D: noise.walking_rounds(D, 0.8, 0.1), -1),
    ("delta", lambda delta: noise.walking_rounds(1, 0.8, delta), 1),
    ("wrong must be", lambda w: Noisy(HierarchyOracle(tree_of()), 0.7, 0, wrong=w), "worst", None, 1, ["same"]),
)


def test_a_refused_insertion_changes_nothing():
    tree = grown()
    for v, w in ((0, 0), (9, 1), (2, 1)):
        with pytest.raises(InputError):
            tree.add_sibling(v, w)
    assert tree.n_vertices == 5 and tree.root() == 4
