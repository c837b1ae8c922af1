"Ordinal queries and insertion: every small tree and shape, bounds for every prefix, remembered decisions, bad input."

from collections import Counter
from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.adaptive import GrowingTree, all_hierarchies, insertion_clustering, n_hierarchies, random_hierarchy
from comparison_hc.adaptive.answers import Contradiction, check_items
from comparison_hc.adaptive.decisions import DecisionTree, allowance
from comparison_hc.adaptive.trees import SHAPES, tree_chart
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.oracles import Counting, HierarchyOracle, Noisy, SimilarityOracle, run

properties = settings(deadline=None, derandomize=True, max_examples=60)
shapes, seeds, orders = (
    st.sampled_from(sorted(SHAPES)),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["shuffled", "as drawn", "backwards"]),
)


def clusters(dendrogram):
    return {frozenset(members.tolist()) for _, members in dendrogram.clusters()}


def left_out(hierarchy, triple):
    "The position of the one that some cluster leaves out; straight from the definition."
    return next(p for p in range(3) if any(set(triple) - {triple[p]} <= c and triple[p] not in c for c in hierarchy))


def in_order(truth, way):
    "The same shape, its items numbered as they were, as drawn, or the other way round."
    return truth if way == "shuffled" else truth.relabel(truth.leaf_order()[:: 1 if way == "as drawn" else -1])


def learn(truth):
    "The learned tree, and how many questions each item cost."
    oracle, cost = HierarchyOracle(truth), np.zeros(truth.n_leaves, dtype=int)

    def listening(questions):
        cost[questions[0, 2]] += 1
        return oracle(questions)

    return run(insertion_clustering(truth.n_leaves), listening), cost


def within(cost):
    "At most i log₂ i questions for the first i items, for every i, and the allowance for each."
    total = np.cumsum(cost)
    return all(total[i - 1] <= i * log2(i) for i in range(1, len(cost) + 1)) and all(
        cost[x] <= allowance(x) for x in range(1, len(cost))
    )


# ---- the trees


def test_all_hierarchies_are_all_and_different():
    for n in range(1, 7):
        trees = [clusters(tree.dendrogram()) for tree in all_hierarchies(n)]
        assert len({frozenset(tree) for tree in trees}) == len(trees) == n_hierarchies(n)
        assert all(len(tree) == 2 * n - 1 for tree in trees)
    assert [n_hierarchies(n) for n in (2, 3, 4, 5, 6)] == [1, 3, 15, 105, 945]


@properties
@given(shapes, st.integers(2, 60), seeds)
def test_random_hierarchies(shape, n, seed):
    tree = random_hierarchy(n, shape, seed)
    sizes = Counter(len(c) for c in clusters(tree))
    assert (
        tree == random_hierarchy(n, shape, seed)
        and tree.n_leaves == n
        and sum(sizes.values()) == 2 * n - 1
        and tree.height_kind == "level"
    )
    if shape == "caterpillar":
        assert all(sizes[size] == 1 for size in range(2, n + 1))
    if shape == "balanced":
        assert tree.heights[-1] == (n - 1).bit_length()


def test_uniform_is_uniform_and_split_splits_evenly():
    drawn = Counter(random_hierarchy(4, "uniform", seed) for seed in range(3000))
    assert (
        len(drawn) == 15 and sum((count - 200) ** 2 / 200 for count in drawn.values()) < 36.1
    )  # chi², 14 degrees of freedom: 99.9 %
    first = Counter()
    for seed in range(1500):
        tree = random_hierarchy(6, "split", seed)
        first[min(int(tree.sizes[child]) for child in tree.children[-1])] += 1 / 1500
    for smaller, chance in ((1, 0.4), (2, 0.4), (3, 0.2)):
        assert abs(first[smaller] - chance) < 4 * (chance * (1 - chance) / 1500) ** 0.5


@properties
@given(st.integers(2, 30), seeds)
def test_equal_trees_give_equal_dendrograms_and_members_stay_below(n, seed):
    rng, tree = np.random.default_rng(seed), GrowingTree(n)
    for x in range(1, n):
        kept = {v: tree.member[v] for v in tree.below()}
        tree.splice(int(rng.choice(tree.below())), x)
        assert all(tree.member[v] == item and item in tree.below(v) for v, item in kept.items())
    turned = GrowingTree(n)  # the same clusters, joined from the bottom up, children swapped
    top, children = list(range(n)), tree.dendrogram().children.tolist()
    for a, b in children:
        top.append(turned.splice(top[b], top[a]))
    assert turned.dendrogram() == tree.dendrogram() and turned.dendrogram().same_tree(tree.dendrogram())


def test_the_question_of_a_pivot_asks_both_sides():
    for tree in all_hierarchies(5):
        for v in tree.below():
            if v < 5 or len(tree.below(v)) == 9:
                continue
            x = next(item for item in range(5) if item not in tree.below(v))
            left, right, new = tree.question(v, x)
            assert left in tree.below(tree.left[v]) and right in tree.below(tree.right[v]) and new == x


def test_a_tree_can_be_drawn():
    import altair

    tree = SHAPES["uniform"](9, np.random.default_rng(0))
    drawn = tree_chart(
        tree, {0: "a", 12: "b"}, {"a": "#000000", "b": "#0072B2"}, names=list("ABCDEFGHI"), title="t"
    ).to_dict()
    assert (
        isinstance(tree_chart(tree), altair.LayerChart)
        and "ABCDEFGHI"[3] in str(drawn)
        and str(drawn).count("'what': ") == 17
    )
    rows = [row for data in drawn["datasets"].values() for row in data]
    points = {row["name"]: row for row in rows if "ink" in row}
    assert points["12"]["ink"] == "white" and points["13"]["ink"] == "black"  # blue; grey, which is pale
    with pytest.raises(InputError, match="^colours must be colours such as #0072b2; got 'blue'"):
        tree_chart(tree, {12: "b"}, {"b": "blue"})


# ---- insertion


@pytest.mark.parametrize("n", range(2, 8))
def test_every_small_tree(n):
    """All trees of up to six items, every fourth of the 10,395 with seven.

    The check `every_small_tree_is_learned` does all of them in full.
    """
    for at, tree in enumerate(all_hierarchies(n)):
        if n == 7 and at % 4:
            continue
        truth = tree.dendrogram()
        learned, cost = learn(truth)
        assert learned == truth and within(cost)


@properties
@given(shapes, st.integers(2, 200), seeds, orders)
def test_every_shape_in_every_order(shape, n, seed, way):
    truth = in_order(random_hierarchy(n, shape, seed), way)
    learned, cost = learn(truth)
    assert learned.same_tree(truth) and within(cost)


def test_the_hardest_orders_at_some_size():
    for way in ("as drawn", "backwards"):
        truth = in_order(random_hierarchy(4000, "caterpillar", 0), way)
        learned, cost = learn(truth)
        assert learned.same_tree(truth) and within(cost)


def test_the_allowance_fits_a_fresh_build_and_sums_to_the_bound():
    assert all((m - 1).bit_length() <= allowance(m) for m in range(1, 3000))
    assert all(sum(map(allowance, range(1, n))) <= n * log2(n) for n in range(2, 300))


@properties
@given(shapes, st.integers(2, 40), seeds, orders)
def test_decisions_are_sound_after_every_insertion(shape, n, seed, way):
    truth = in_order(random_hierarchy(n, shape, seed), way)
    oracle, decisions = HierarchyOracle(truth), DecisionTree(GrowingTree(n))
    for x in range(1, n):
        place, path, steps = decisions.start, [], []
        while place >= 0:
            path.append(place)
            steps.append(oracle(np.array([decisions.tree.question(place, x)])).item())
            place = decisions.go[steps[-1]][place]
        decisions.insert(path, steps, x)
        stack, found = [(decisions.start, 0)], []
        while stack:
            place, depth = stack.pop()
            assert place >= 0 or depth <= allowance(x + 1)
            if place < 0:
                found.append(~place)
                continue
            tree, S = decisions.tree, set(decisions.candidates(place))
            left, right = (S & set(tree.below(side[place])) for side in (tree.left, tree.right))
            assert [set(decisions.candidates(go[place])) for go in decisions.go] == [
                right,
                left,
                S - left - right,
            ] and len(S) == 2 * decisions.size[place] - 1
            stack += [(go[place], depth + 1) for go in decisions.go]
        assert sorted(found) == sorted(decisions.tree.below())


@properties
@given(st.integers(2, 30), seeds)
def test_the_tree_agrees_with_whatever_was_answered(n, seed):
    rng, said = np.random.default_rng(seed), []

    def whatever(questions):
        said.append((*questions[0].tolist(), int(rng.integers(3))))
        return [said[-1][3]]

    tree = run(insertion_clustering(n), whatever)
    hierarchy = clusters(tree)
    assert all(left_out(hierarchy, row[:3]) == row[3] for row in said) and len(
        {frozenset(row[:3]) for row in said}
    ) == len(said)


def test_names_watching_and_two_items():
    tree = GrowingTree(4)
    oracle = SimilarityOracle(np.array([[0, 9, 1, 2], [9, 0, 1, 2], [1, 1, 0, 8], [2, 2, 8, 0.0]]))
    learned = run(insertion_clustering(["a", "b", "c", "d"], tree), oracle)
    assert (
        learned.names == ("a", "b", "c", "d")
        and clusters(learned) >= {frozenset({0, 1}), frozenset({2, 3})}
        and tree.dendrogram(learned.names) == learned
    )
    counting = Counting(oracle)
    assert run(insertion_clustering(2), counting).n_leaves == 2 and counting.n_queries == 0


@pytest.mark.parametrize(
    "items",
    [
        0,
        1,
        -1,
        True,
        2.0,
        None,
        "abc",
        b"ab",
        [],
        ["a"],
        ["a", "a"],
        [1, "1"],
        ["a", None],
        ["a", float("nan")],
        {"a", "b"},
        {"a": 1, "b": 2},
        object(),
        10**30,
        np.array([["a", "b"], ["c", "d"]]),
    ],
)
def test_items_that_are_refused(items):
    for call in (check_items, insertion_clustering):
        with pytest.raises(InputError, match="items must be"):
            call(items)


def test_numbers_of_numpy_are_numbers_and_names_become_text():
    assert (
        check_items(np.int32(3)) == (3, None)
        and check_items(np.array([4, 5])) == (2, ("4", "5"))
        and check_items(x for x in "ab") == (2, ("a", "b"))
    )


@pytest.mark.parametrize(
    "answer, words",
    [(-1, "binary"), (3, "position"), (None, "position"), ("0", "position"), (0.5, "position"), (True, "position")],
)
def test_answers_that_are_refused(answer, words):
    with pytest.raises(InputError, match=r"\(0, 1, 2\).*" + words):
        run(insertion_clustering(3), lambda questions: [answer])


def test_masked_answers_are_none():
    with pytest.raises(InputError, match="answers must be free of masked"):
        run(insertion_clustering(3), lambda questions: np.ma.array([0], mask=[True]))


def test_what_the_oracle_raises_arrives_as_it_is():
    class Tired(Exception):
        pass

    def tired(questions):
        raise Tired

    with pytest.raises(Tired):
        run(insertion_clustering(3), tired)


@pytest.mark.parametrize("v, w", [(0, 0), (9, 1), (0, 9), (-1, 1), ("0", 1), (0, 1.5), (None, 1), (True, 2), (2, 1)])
def test_splices_that_are_refused(v, w):
    tree = GrowingTree(4)
    tree.splice(0, 1)
    with pytest.raises(InputError, match="^[vw] must be"):
        tree.splice(v, w)
    assert tree.n_vertices == 5 and tree.root() == 4


@pytest.mark.parametrize("m", [0, -1, float("nan"), "x", 2.5])
def test_allowances_that_are_refused(m):
    with pytest.raises(InputError, match="m must be"):
        allowance(m)


def test_a_generator_driven_by_hand_refuses_too():
    algorithm = insertion_clustering(3)
    next(algorithm)
    with pytest.raises(InputError, match="question"):
        algorithm.send(np.array([7]))


def test_other_arguments_that_are_refused():
    for n, shape in ((1, "split"), (2.5, "split"), (5, "bushy"), (5, None), (5, ["split"])):
        with pytest.raises(InputError):
            random_hierarchy(n, shape, 0)
    with pytest.raises(InputError, match="rng"):
        random_hierarchy(5, "split", "x")
    used = GrowingTree(3)
    used.splice(0, 1)
    for tree in (used, GrowingTree(4), 3):
        with pytest.raises(InputError, match=r"a new GrowingTree\(3\)"):
            insertion_clustering(3, tree)
    for n in (0, 1.5, "3"):
        with pytest.raises(InputError):
            next(all_hierarchies(n))
        with pytest.raises(InputError):
            n_hierarchies(n)


def test_a_contradiction_says_its_answers():
    import pickle

    error = Contradiction([(0, 1, 2, 0), (2, 0, 1, -1)], ("ant", "bee", "cat"))
    assert (
        "bee cat | ant" in str(error)
        and "cat ant bee equally close" in str(error)
        and error.answers.tolist() == [[0, 1, 2, 0], [2, 0, 1, -1]]
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error) and isinstance(error, InputError)
    assert "12 more" in str(Contradiction([(0, 1, 2, 0)] * 20))


# ---- the ground: one question at a time, and adversaries


@properties
@given(shapes, st.integers(3, 40), seeds)
def test_one_question_at_a_time_is_answered_as_in_a_batch(shape, n, seed):
    truth = random_hierarchy(n, shape, seed)
    oracle, rng = HierarchyOracle(truth), np.random.default_rng(seed)
    questions = np.array([rng.permutation(n)[:3] for _ in range(30)])
    answers = oracle(questions)
    assert (
        answers.tolist()
        == [oracle(q[None]).item() for q in questions]
        == [left_out(clusters(truth), q.tolist()) for q in questions]
    )
    assert oracle(questions[:1]).dtype == np.int8 == answers.dtype


def test_one_question_inside_initial_clusters():
    oracle = HierarchyOracle(Dendrogram.from_merges([[0, 1]], initial_clusters=[[0, 1, 2], [3, 4]]))
    questions = np.array([[0, 1, 2], [0, 3, 1], [3, 0, 4], [1, 4, 0]])
    assert oracle(questions).tolist() == [oracle(q[None]).item() for q in questions] == [-1, 1, 1, 1]


@pytest.mark.parametrize("question", [[[0, 1, 1]], [[0, 1, -1]], [[0, 1, 4]]])
def test_one_bad_question_is_refused_as_before(question):
    oracle = HierarchyOracle(random_hierarchy(4, "split", 0))
    for form in (question, np.array(question), np.array(question, dtype=np.int32)):
        with pytest.raises(InputError, match="question 0"):
            oracle(form)


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
        many = np.tile(triples, (100, 1))
        share = (Noisy(HierarchyOracle(truth), 0.7, 1, wrong=wrong)(many) == np.tile(right, 100)).mean()
        assert abs(share - 0.7) < 4 * (0.21 / len(many)) ** 0.5
        one, two = (Noisy(HierarchyOracle(truth), 0.6, 5, wrong=wrong) for _ in range(2))
        one.skip(triples[:50])
        two(triples[:50])
        assert (one(triples) == two(triples)).all()
    for wrong in ("worst", None, 1, ["same"]):
        with pytest.raises(InputError, match="wrong must be"):
            Noisy(HierarchyOracle(truth), 0.7, 0, wrong=wrong)
