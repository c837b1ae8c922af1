"Quick clustering, trees of any degree, consistency: every small tree, bounds, clashes that can be checked, bad input."

from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.adaptive import (
    Contradiction,
    Hierarchy,
    OrdinalOracle,
    all_hierarchies,
    all_triples_clustering,
    any_degree_clustering,
    consistent_hierarchy,
    quick_clustering,
    random_hierarchy,
)
from comparison_hc.adaptive.degree import questions_per_insertion
from comparison_hc.adaptive.hierarchies import all_hierarchies_of_any_degree, contracted
from comparison_hc.adaptive.trees import SHAPES
from comparison_hc.comparisons import Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.oracles import Counting, HierarchyOracle, SimilarityOracle, run

properties = settings(deadline=None, derandomize=True, max_examples=60)
shapes, seeds = st.sampled_from(sorted(SHAPES)), st.integers(0, 2**32 - 1)
merges = pytest.mark.parametrize("merge", ["search", "walk"])

# ---- quick


@merges
@pytest.mark.parametrize("n", range(2, 8))
def test_quick_learns_every_small_tree(n, merge):
    """All trees of up to six items; of the 10,395 with seven every twenty-fifth, others for each way to merge.

    The check `every_small_tree_is_learned` does all of them in full.
    """
    for seed, tree in enumerate(all_hierarchies(n)):
        if n == 7 and (seed + (merge == "walk")) % 25:
            continue
        truth = tree.dendrogram()
        assert run(quick_clustering(n, seed, merge), HierarchyOracle(truth)) == truth


@properties
@given(shapes, st.integers(2, 300), seeds, st.sampled_from(["search", "walk"]))
def test_quick_learns_every_shape(shape, n, seed, merge):
    truth = random_hierarchy(n, shape, seed)
    one, two = Counting(HierarchyOracle(truth)), Counting(HierarchyOracle(truth))
    assert (
        run(quick_clustering(n, seed, merge), one)
        == run(quick_clustering(n, np.random.default_rng(seed), merge), two)
        == truth
    )
    assert (one.n_queries, one.n_batches) == (two.n_queries, two.n_batches)


def test_quick_needs_few_batches_for_deep_trees():
    oracle = Counting(HierarchyOracle(random_hierarchy(2000, "caterpillar", 0)))
    run(quick_clustering(2000, 0), oracle)
    assert oracle.n_batches < 200 and oracle.n_queries < 2 * 2000 * log2(2000)


class Careless:
    "A first draw in vain, then random answers."

    def __init__(self, seed):
        self.rng, self.said = np.random.default_rng(seed), []

    def __call__(self, questions):
        answers = self.rng.integers(3, size=len(questions)) if self.said else np.full(len(questions), 2)
        self.said.append(np.column_stack([questions, answers]))
        return answers


class Said:
    "The same answers whatever is asked, or one answer a question."

    def __init__(self, answers):
        self.answers = answers

    def __call__(self, questions):
        return [next(self.answers)] if hasattr(self.answers, "__next__") else self.answers


def test_quick_sees_answers_that_clash():
    "Where it is noticed, the named answers clash and none can be spared; where not, the tree is returned."
    seen = 0
    for seed in range(30):
        careless = Careless(seed)
        try:
            tree = run(quick_clustering(40, seed), careless)
        except Contradiction as error:
            seen += 1
            said = np.concatenate(careless.said).tolist()
            assert set(map(statement, error.answers.tolist())) <= set(map(statement, said))
            assert_irreducible(error.answers)
        else:
            assert tree.n_leaves == 40
    assert seen > 5


@pytest.mark.parametrize("items", [1, ["a", "a"], "ab", None])
def test_quick_refuses_items(items):
    with pytest.raises(InputError, match="items must be"):
        quick_clustering(items, 0)


def test_quick_refuses_other_arguments_and_answers():
    with pytest.raises(InputError, match="rng"):
        quick_clustering(5, "x")
    for merge in ("jump", None, 1):
        with pytest.raises(InputError, match="merge must be"):
            quick_clustering(5, 0, merge)
    with pytest.raises(InputError, match="binary"):
        run(quick_clustering(5, 0), lambda questions: [-1] * len(questions))
    with pytest.raises(InputError, match="binary"):
        run(quick_clustering(5, 0), SimilarityOracle(np.ones((5, 5))))
    assert run(quick_clustering(["x", "y", "z"], 0), lambda questions: [0] * len(questions)).names == ("x", "y", "z")


# ---- hierarchies of any degree


def answer_by_definition(hierarchy, triple):
    for position, odd in enumerate(triple):
        if any(set(triple) - {odd} <= cluster and odd not in cluster for cluster in hierarchy.clusters()):
            return position
    return -1


def random_of_any_degree(shape, n, share, seed):
    return contracted(random_hierarchy(n, shape, seed), share, seed)


@properties
@given(shapes, st.integers(2, 40), st.floats(0, 1), seeds)
def test_every_form_of_a_hierarchy_leads_back(shape, n, share, seed):
    tree = random_of_any_degree(shape, n, share, seed)
    assert (
        Hierarchy.from_dendrogram(tree.to_dendrogram())
        == tree
        == Hierarchy.from_newick(tree.to_newick())
        == Hierarchy(tree.children)
    )
    assert (
        tree.n_items == n
        and tree.degree >= 2
        and len(set(tree.clusters())) == n + len(tree.children)
        and frozenset(range(n)) in tree.clusters()
    )
    binary = random_hierarchy(n, shape, seed)
    assert set(tree.clusters()) <= {frozenset(members.tolist()) for _, members in binary.clusters()}
    assert contracted(binary, 0, 0).to_dendrogram() == binary and contracted(binary, 1, 0) == Hierarchy(
        (tuple(range(n)),)
    )


def test_names_newick_initial_clusters_and_a_single_item():
    tree = Hierarchy.from_newick("((it's,b c),d,(e,f,g));".replace("it's", "'it''s'").replace("b c", "'b c'"))
    assert (
        tree.names == ("it's", "b c", "d", "e", "f", "g")
        and Hierarchy.from_newick(tree.to_newick(), tree.names) == tree
    )
    assert set(Hierarchy.from_dendrogram(Dendrogram.from_merges([[0, 1]], [[0, 2, 3], [1]])).clusters()) >= {
        frozenset({0, 2, 3}),
        frozenset(range(4)),
    }
    assert (
        Hierarchy(()).n_items == 1
        and Hierarchy(()).degree == 0
        and repr(tree) == "Hierarchy(6 items, 3 clusters, degree 3)"
    )
    assert hash(tree) == hash(Hierarchy.from_newick(tree.to_newick(), tree.names))
    assert Hierarchy.from_newick("((a:1,b:1):1,(c:2,d:2):0);").degree == 3  # a branch of length 0 is no branch


@pytest.mark.parametrize(
    "children",
    [
        5,
        None,
        "ab",
        [[0]],
        [[0, 1], [0, 2]],
        [[0, 3], [1, 2]],
        [[0, 1.5]],
        [[0, "a"]],
        [[-1, 0]],
        [[0, 1, 1]],
        [[0, 1], [2, 5]],
        [[0, True]],
    ],
)
def test_children_that_are_refused(children):
    with pytest.raises(InputError, match="children must be"):
        Hierarchy(children)


def test_other_things_that_are_refused_about_hierarchies():
    with pytest.raises(InputError, match="names"):
        Hierarchy(((0, 1, 2),), ["a", "b"])
    with pytest.raises(InputError, match="dendrogram"):
        Hierarchy.from_dendrogram(5)
    with pytest.raises(InputError, match="hierarchy"):
        OrdinalOracle(np.eye(3))
    with pytest.raises(InputError, match="three items"):
        OrdinalOracle(Hierarchy(((0, 1, 2, 3),)))([[0, 1, 2, 3]])
    for share in (-0.1, 1.1, "x"):
        with pytest.raises(InputError, match="share"):
            contracted(random_hierarchy(4, "split", 0), share, 0)


@properties
@given(shapes, st.integers(3, 12), st.floats(0, 1), seeds)
def test_the_oracle_of_any_degree(shape, n, share, seed):
    tree = random_of_any_degree(shape, n, share, seed)
    triples, oracle = np.array(list(combinations(range(n), 3))), OrdinalOracle(tree)
    assert (
        oracle(triples).tolist()
        == [answer_by_definition(tree, t) for t in triples.tolist()]
        == [oracle(t[None]).item() for t in triples]
    )
    if tree.degree == 2:
        assert (oracle(triples) == HierarchyOracle(tree.to_dendrogram())(triples)).all()


def learn(truth, largest_first):
    "The learned tree, and the questions of every item."
    oracle, cost = OrdinalOracle(truth), np.zeros(truth.n_items, dtype=int)

    def listening(questions):
        cost[questions[0, 2]] += 1
        return oracle(questions)

    return run(any_degree_clustering(truth.n_items, largest_first), listening), cost


def within(cost, degree, largest_first):
    return all(cost[m] <= questions_per_insertion(m, max(2, degree), largest_first) for m in range(2, len(cost)))


def test_the_numbers_of_trees_of_any_degree():
    for n, count in enumerate((1, 1, 4, 26, 236, 2752), start=1):
        trees = list(all_hierarchies_of_any_degree(n))
        assert len(set(trees)) == len(trees) == count


def test_every_small_tree_of_any_degree():
    "All trees of up to six items in both orders. The check `degree_bounds_hold` does the 39,208 with seven as well."
    for n in range(2, 7):
        for truth in all_hierarchies_of_any_degree(n):
            for largest_first in (True, False):
                learned, cost = learn(truth, largest_first)
                assert learned == truth and within(cost, truth.degree, largest_first)


@properties
@given(shapes, st.integers(2, 60), st.sampled_from([0, 0.3, 0.7, 0.95, 1]), seeds, st.booleans())
def test_larger_trees_of_any_degree(shape, n, share, seed, largest_first):
    truth = random_of_any_degree(shape, n, share, seed)
    learned, cost = learn(truth, largest_first)
    assert learned == truth and within(cost, truth.degree, largest_first)


def test_insertion_of_any_degree_notices_two_clashing_answers():
    for answer in (2, 0, 1):  # the third question is about item 2, and item 0 once more
        said = Said(iter([-1, -1, answer]))
        if answer == 1:
            assert run(any_degree_clustering(4), said).degree == 3
            continue
        with pytest.raises(Contradiction) as caught:
            run(any_degree_clustering(4), said)
        assert caught.value.answers.tolist() == [[0, 1, 3, -1], [2, 0, 3, answer]]
    with pytest.raises(Contradiction, match="ant bee dog equally close; cat ant | dog"):
        run(any_degree_clustering(["ant", "bee", "cat", "dog"]), Said(iter([-1, -1, 2])))


def test_insertion_of_any_degree_refuses():
    for items in (1, ["a", "a"], "ab"):
        with pytest.raises(InputError, match="items must be"):
            any_degree_clustering(items)
    for flag in (1, None, "yes"):
        with pytest.raises(InputError, match="largest_first"):
            any_degree_clustering(4, flag)
    for m, degree, words in (
        (1, 2, "m must be"),
        (5, 1, "degree must be"),
        (5, float("nan"), "degree"),
        ("x", 2, "m must be"),
    ):
        with pytest.raises(InputError, match=words):
            questions_per_insertion(m, degree)
    algorithm = any_degree_clustering(3)
    next(algorithm)
    with pytest.raises(InputError, match="the answer to question"):
        algorithm.send(np.array([5]))
    assert run(any_degree_clustering(["a", "b"]), lambda questions: 1 / 0).names == ("a", "b")


# ---- consistency


def statement(row):
    "An answer as the pair that belongs together and the one left out."
    items = list(row[:3])
    odd = items.pop(row[3])
    return frozenset(items), odd


def agrees(hierarchy, triplets):
    clusters = hierarchy.clusters()
    return all(any(i in c and j in c and k not in c for c in clusters) for i, j, k in triplets)


def consistent(triplets, items):
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
    return len(parts) > 1 and all(consistent([t for t in triplets if set(t) <= part], part) for part in parts)


def assert_irreducible(answers):
    "These answers clash, and all but any one of them do not."
    rows = [(*pair, odd) for pair, odd in map(statement, answers.tolist())]
    items = {item for row in rows for item in row}
    assert not consistent(rows, items)
    for at in range(len(rows)):
        assert consistent(rows[:at] + rows[at + 1 :], items)


TREES = {n: list(all_hierarchies_of_any_degree(n)) for n in (3, 4, 5)}


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    st.integers(3, 5).flatmap(
        lambda n: st.lists(st.permutations(range(n)).map(lambda p: tuple(p[:3])), min_size=1, max_size=8).map(
            lambda rows: (n, rows)
        )
    )
)
def test_build_against_all_trees(case):
    n, rows = case
    possible = [tree for tree in TREES[n] if agrees(tree, rows)]
    try:
        tree = consistent_hierarchy(Triplets(rows, n))
    except Contradiction as error:
        assert not possible and set(map(statement, error.answers.tolist())) <= {
            (frozenset(row[:2]), row[2]) for row in rows
        }
        assert_irreducible(error.answers)
    else:
        assert tree in possible and len(tree.children) >= 1


@properties
@given(shapes, st.integers(3, 25), st.floats(0, 1), seeds)
def test_build_finds_a_tree_from_its_answers(shape, n, share, seed):
    truth, rng = random_hierarchy(n, shape, seed), np.random.default_rng(seed)
    triples = np.array(list(combinations(range(n), 3)))
    said = HierarchyOracle(truth)(triples)
    rows = [(*np.delete(t, a), t[a]) for t, a in zip(triples.tolist(), said.tolist())]
    assert consistent_hierarchy(rows, n).to_dendrogram() == truth
    some = [rows[at] for at in np.flatnonzero(rng.random(len(rows)) < share)] or rows[:1]
    assert agrees(consistent_hierarchy(some, n), some)


def test_build_takes_names_and_refuses_bad_rows():
    triplets = Triplets([(0, 1, 2)], 4, names=["a", "b", "c", "d"])
    assert (
        consistent_hierarchy(triplets).names == ("a", "b", "c", "d")
        and frozenset({0, 1}) in consistent_hierarchy(triplets).clusters()
    )
    with pytest.raises(Contradiction, match=r"a b \| c"):
        consistent_hierarchy(Triplets([(0, 1, 2), (1, 2, 0)], 3, names=["a", "b", "c"]))
    for bad in ([[0, 0, 1]], [[0, 1]], "abc", None, [[0, 1, -2]], []):
        with pytest.raises(InputError):
            consistent_hierarchy(bad)


def test_a_large_clash_is_made_small_quickly():
    truth, rng = random_hierarchy(300, "uniform", 0), np.random.default_rng(0)
    triples = np.array([rng.permutation(300)[:3] for _ in range(20_000)])
    answers = HierarchyOracle(truth)(triples)
    answers[777] = (answers[777] + 1) % 3
    rows = [(*np.delete(t, a), t[a]) for t, a in zip(triples.tolist(), answers.tolist())]
    with pytest.raises(Contradiction) as caught:
        consistent_hierarchy(rows, 300)
    assert len(caught.value.answers) < 40 and any(
        set(row[:3]) == set(triples[777]) for row in caught.value.answers.tolist()
    )
    assert_irreducible(caught.value.answers)


# ---- all triples


@pytest.mark.parametrize("n", range(2, 7))
def test_all_triples_learns_every_small_tree(n):
    for tree in all_hierarchies(n):
        truth = tree.dendrogram()
        assert run(all_triples_clustering(n), HierarchyOracle(truth)) == truth


def test_all_triples_learns_trees_of_seven_items():
    "Every fortieth; the check `every_small_tree_is_learned` does all of them in full."
    for at, tree in enumerate(all_hierarchies(7)):
        if at % 40:
            continue
        truth = tree.dendrogram()
        assert run(all_triples_clustering(7), HierarchyOracle(truth)) == truth


@properties
@given(shapes, st.integers(3, 30), seeds, st.sampled_from([7, 100, 1 << 18]))
def test_all_triples_asks_each_question_once(shape, n, seed, batch):
    truth, seen = random_hierarchy(n, shape, seed), []
    oracle = HierarchyOracle(truth)

    def listening(questions):
        seen.extend(map(frozenset, questions.tolist()))
        assert len(questions) <= batch
        return oracle(questions)

    assert run(all_triples_clustering(n, batch), listening) == truth
    assert len(set(seen)) == len(seen) == n * (n - 1) * (n - 2) // 6


def test_all_triples_names_one_wrong_answer():
    for seed in range(40):
        rng, truth = np.random.default_rng(seed), random_hierarchy(9, sorted(SHAPES)[seed % 4], seed)
        triples = np.array(list(combinations(range(9), 3)))
        answers = HierarchyOracle(truth)(triples)
        lie = rng.integers(len(triples))
        answers[lie] = (answers[lie] + rng.integers(1, 3)) % 3
        with pytest.raises(Contradiction) as caught:
            run(all_triples_clustering(9), Said(answers))
        assert any(set(row[:3]) == set(triples[lie]) for row in caught.value.answers.tolist())
        assert_irreducible(caught.value.answers)


def test_all_triples_refuses():
    for items in (1, ["a", "a"], "ab"):
        with pytest.raises(InputError, match="items must be"):
            all_triples_clustering(items)
    for batch in (0, 1.5, None):
        with pytest.raises(InputError, match="batch"):
            all_triples_clustering(5, batch)
    with pytest.raises(InputError, match="binary"):
        run(all_triples_clustering(4), lambda questions: [-1] * 4)
    assert run(all_triples_clustering(["a", "b"]), lambda questions: 1 / 0).names == ("a", "b")
