"""Support of clusters against its definition, consensus trees, and a test whose level is what it says."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import interrupted_after, named_trees, refusals

from comparison_hc.cli import main
from comparison_hc.cli.cluster import structure_sentence
from comparison_hc.comparisons import Quadruplets, Triplets, read_comparisons
from comparison_hc.core.partitions import cluster_nearness
from comparison_hc.core.stats import proportion_interval
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, random_tree
from comparison_hc.evaluation import Result, save_result
from comparison_hc.evaluation.bootstrap import (
    bootstrap_support,
    chance_support,
    clusters_as_bits,
    majority_consensus,
    null_flip,
    null_redraw,
    structure_test,
)
from comparison_hc.hierarchical.average import quadruplet_average_linkage
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.hierarchical.triplets import triplet_average_linkage
from comparison_hc.methods import build_hierarchy
from comparison_hc.oracles import sample_triplets


def clusters_of(tree):
    "The object sets of all merges."
    return [frozenset(members.tolist()) for _, members in tree.clusters()][tree.n_leaves :]


def some_triplets(seed, n=12, m=150, people=None):
    "Triplets of a planted hierarchy, some wrong; perhaps with people."
    answers = sample_triplets(planted_hierarchy(n // 4, 2, 0.8, 0.2, 0.1, seed).similarity, m, seed).flip(0.1, seed)
    who = None if people is None else np.arange(m) % people
    return Triplets(answers, respondents=who)


def build(answers):
    return build_hierarchy("3-al", answers)[0]


# ---- weights


@pytest.mark.parametrize("method, width", [(triplet_average_linkage, 3), (quadruplet_average_linkage, 4)])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_weights_are_repetitions(method, width, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    rows = np.array([rng.permutation(n)[:width] for _ in range(rng.integers(1, 40))])
    answers = (Triplets if width == 3 else Quadruplets)(rows, n)
    times = rng.integers(0, 4, len(rows))
    times[-1] = 2
    before = times.copy()
    repeated = method(answers.take(np.repeat(np.arange(len(rows)), times)))
    assert method(answers, weights=times) == repeated == method(answers, weights=times / 16)
    assert (times == before).all()


# ---- clusters as bits


@given(st.integers(1, 20), st.integers(0, 10**6))
def test_keys_are_equal_where_the_sets_are(n, seed):
    one, two = random_tree(n, seed), random_tree(n, seed + 1)
    sets, keys = clusters_of(one) + clusters_of(two), clusters_as_bits(one) + clusters_as_bits(two)
    for a in range(len(sets)):
        assert [key == keys[a] for key in keys] == [cluster == sets[a] for cluster in sets]


# ---- consensus


@st.composite
def many_trees(draw):
    "Trees near one another: one tree with a few objects changed places."
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    base = random_tree(draw(st.integers(1, 9)), rng)
    trees = []
    for _ in range(draw(st.integers(1, 9))):
        order = np.arange(base.n_objects)
        for _ in range(rng.integers(0, 3)):
            a, b = rng.integers(base.n_objects, size=2)
            order[[a, b]] = order[[b, a]]
        trees.append(base.relabel(order))
    return trees


@given(many_trees(), st.sampled_from([0.5, 0.6, 0.9]))
@settings(max_examples=150)
def test_consensus_has_all_that_the_majority_has(trees, threshold):
    tree, values, kept = majority_consensus(trees, threshold)
    sets = [set(clusters_of(one)) for one in trees]
    counts = {c: sum(c in one for one in sets) for one in sets for c in one}
    assert tree.n_leaves == trees[0].n_leaves
    np.testing.assert_array_equal(values, [counts.get(c, 0) / len(trees) for c in clusters_of(tree)])
    above = {c for c, count in counts.items() if count / len(trees) > threshold}
    assert {c for c, is_kept in zip(clusters_of(tree), kept) if is_kept} == above
    again = majority_consensus(trees[::-1], threshold).dendrogram
    assert again.same_tree(tree)  # the order of the trees is no information


def test_consensus_keeps_initial_clusters_and_names():
    trees = [Dendrogram.from_merges(m, [[0, 3], [1], [2]], list("abcd")) for m in ([(0, 1), (3, 2)], [(0, 2), (3, 1)])]
    found = majority_consensus(trees[:1] + trees)
    assert found.dendrogram.names == tuple("abcd")
    assert clusters_of(found.dendrogram)[0] == {0, 1, 3} and found.values.tolist() == pytest.approx([2 / 3, 1])


test_consensus_refuses = refusals(
    ("trees must be", majority_consensus, [], [1], [random_tree(3, 0), random_tree(4, 0)]),
    ("threshold must be", lambda threshold: majority_consensus([random_tree(3, 0)], threshold), 0.4, 1),
)


# ---- support


@pytest.mark.parametrize("by", [None, "answers", "people", "labels"])
def test_support_is_its_definition(by):
    answers = some_triplets(3, people=7)
    labels = np.arange(len(answers)) // 2
    tree = build(answers)
    found = bootstrap_support(tree, answers, build, 30, labels if by == "labels" else by, rng=5)
    unit = {"answers": np.arange(len(answers)), "labels": labels}.get(by, answers.respondents)
    counts = np.zeros(tree.n_leaves - 1)
    for child in np.random.default_rng(5).spawn(30):
        names = sorted(set(unit.tolist()), key=str)
        if by == "answers":
            names = list(range(len(answers)))
        drawn = child.integers(len(names), size=len(names))
        rows = [row for which in drawn for row in range(len(answers)) if unit[row] == names[which]]
        sets = clusters_of(build(Triplets(answers.array[rows], answers.n_objects)))
        counts += [cluster in sets for cluster in clusters_of(tree)]
    np.testing.assert_array_equal(found.values, counts / 30)
    assert found.values[-1] == 1 and len(found.trees) == 30
    assert found.to_frame().support.tolist() == found.values.tolist()


def test_support_does_not_depend_on_workers():
    answers, told = some_triplets(1), []
    tree = build(answers)
    alone = bootstrap_support(tree, answers, "3-al", 12, rng=2, progress=lambda *step: told.append(step))
    shared = bootstrap_support(tree, answers, "3-al", 12, rng=2, n_jobs=2)
    np.testing.assert_array_equal(alone.values, shared.values)
    assert alone.trees == shared.trees and told == [(done, 12) for done in range(1, 13)]


@pytest.mark.parametrize(
    "word, name, bad",
    [
        ("by", "by", ("people", "somebody", [1, 2])),
        ("method", "build", ("5-al",)),
        ("build", "build", (3, lambda answers: random_tree(3, 0))),
        ("answers", "answers", (Triplets([[0, 1, 2]]),)),
        ("n_jobs", "n_jobs", (0,)),
    ],
)
def test_support_refuses(word, name, bad):
    answers = some_triplets(1)
    given_ = dict(dendrogram=build(answers), answers=answers, build="3-al", n_resamples=2)
    for value in bad:
        with pytest.raises(InputError, match=f"{word} must be"):
            bootstrap_support(**given_ | {name: value})


# ---- is there anything at all


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_trees_so_far(n_jobs):
    answers = some_triplets(0)
    tree = build(answers)
    few = bootstrap_support(tree, answers, "3-al", 9, rng=2, n_jobs=n_jobs, progress=interrupted_after(4))
    same = bootstrap_support(tree, answers, "3-al", 4, rng=2)
    assert few.trees == same.trees and (few.values == same.values).all()
    assert few.interrupted and not same.interrupted and "4 trees (interrupted) of" in repr(few)
    assert "interrupted" not in repr(same)


def test_ctrl_c_before_the_first_tree_is_ctrl_c():
    def interrupted(answers):
        raise KeyboardInterrupt

    answers = some_triplets(0)
    with pytest.raises(KeyboardInterrupt):
        bootstrap_support(build(answers), answers, interrupted, 9)
    with pytest.raises(KeyboardInterrupt):  # the real answers' own tree is no draw
        structure_test(answers, "3-al", 9, progress=interrupted_after(1))


def test_ctrl_c_keeps_the_draws_so_far():
    answers = some_triplets(0)
    few = structure_test(answers, "3-al", 19, rng=1, progress=interrupted_after(8))
    same = structure_test(answers, "3-al", 7, rng=1)
    assert few.interrupted and (few.null == same.null).all() and few.p_value == same.p_value
    assert "7 permutations; interrupted, 19 were asked for" in structure_sentence(few, 19)
    assert "7 permutations;" in structure_sentence(same, 7) and "interrupted" not in structure_sentence(same, 7)


def test_the_sentence_of_the_structure_test():
    right = sample_triplets(planted_hierarchy(3, 2, 0.8, 0.2, 0.05, 0).similarity, 300, 0)
    found = structure_test(right, "3-al", 19)
    start = "the answers hold more structure than chance explains: p = 0.05, 19 permutations; the tree gets "
    assert structure_sentence(found, 19).startswith(start + f"{found.agreement:.1%} of the answers")
    nothing = structure_test(right, "3-al", 19, chance=lambda answers, rng: answers)
    assert nothing.p_value == 1
    assert structure_sentence(nothing, 19).startswith("the answers may hold no structure: p = 1,")


def test_level_of_the_structure_test():
    "On answers by coins, p ≤ 0.05 in at most one of twenty; 19 draws make that exact."
    runs = 90
    asked = Triplets([np.random.default_rng(s).permutation(7)[:3] for s in range(60)], 7)
    wrong = sum(structure_test(asked.flip(0.5, s), "3-al", 19, rng=s).p_value <= 0.05 for s in range(runs))
    low, high = proportion_interval(wrong, runs, 0.999)
    assert low <= 0.05 <= high  # with 19 draws the level is 1/20 but for ties


def test_power_of_the_structure_test():
    planted = planted_hierarchy(4, 2, 0.8, 0.2, 0.1, 0)
    found = structure_test(sample_triplets(planted.similarity, 600, 0).flip(0.1, 1), "3-al", 39)
    assert found.p_value == 1 / 40 and found.agreement > found.null.max()


def test_p_value_counts_ties_against_the_structure():
    def always(answers):
        return random_tree(answers.n_objects, 0)

    found = structure_test(some_triplets(0), always, 9, chance=lambda answers, rng: answers)
    assert (found.null == found.agreement).all() and found.p_value == 1


def test_workers_do_not_change_the_test():
    one, two = (structure_test(some_triplets(0), "3-al", 9, rng=3, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.null, two.null)


@pytest.mark.parametrize("make", [Triplets.from_central, Triplets.from_odd_one_out])
def test_statements_are_drawn_anew_as_statements(make):
    rng = np.random.default_rng(0)
    said = np.array([rng.permutation(9)[:3] for _ in range(300)])
    answers = make(said, 9, respondents=np.arange(300) % 4)
    drawn = null_redraw(answers, rng)
    possible = {
        tuple(map(tuple, make([[row[t], row[t - 1], row[t - 2]]], 9).array.tolist())) for row in said for t in range(3)
    }
    possible |= {pair[::-1] for pair in possible}
    pairs = [tuple(map(tuple, pair)) for pair in drawn.array.reshape(-1, 2, 3).tolist()]
    assert set(pairs) <= possible
    np.testing.assert_array_equal(np.sort(drawn.array, axis=1), np.sort(answers.array, axis=1))
    np.testing.assert_array_equal(drawn.respondents, answers.respondents)
    same = (drawn.array.reshape(-1, 6) == answers.array.reshape(-1, 6)).all(axis=1).mean()
    assert 0.2 < same < 0.47


def test_what_is_no_statement_is_refused():
    for rows in ([[0, 1, 2]], [[0, 1, 2], [0, 1, 3]]):
        with pytest.raises(InputError, match="answers must be"):
            null_redraw(Triplets(rows), np.random.default_rng(0))


def test_coins_keep_the_questions():
    answers = some_triplets(0)
    turned = null_flip(answers, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(turned.array[:, 1:]), np.sort(answers.array[:, 1:]))
    assert 0.3 < (turned.array == answers.array).all(axis=1).mean() < 0.7


# ---- clusters that nearly come back


def nearness_by_definition(tree, other):
    "(is it there, transfer similarity, Jaccard similarity) of every cluster of a tree in another one."
    nodes = [set(members.tolist()) for _, members in other.clusters()]
    trivial = [*map(set, other.initial_clusters), set(range(tree.n_objects))]
    for cluster in map(set, clusters_of(tree)):
        away, worst = (min(len(cluster ^ each) for each in sets) for sets in (nodes, trivial))
        overlap = max(len(cluster & node) / len(cluster | node) for node in nodes)
        yield away == 0, 1 - away / worst if worst else 1.0, overlap


@given(named_trees(grouped=True, least=2), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_three_kinds_of_support_are_those_of_the_definition(tree, seed):
    "Of trees whose leaves are groups of objects, and in another order."
    other = random_tree(tree.n_leaves, seed)
    order = np.random.default_rng(seed).permutation(tree.n_leaves)
    other = Dendrogram(other.linkage_matrix, [tree.initial_clusters[leaf] for leaf in order])
    expected = np.array(list(nearness_by_definition(tree, other)), dtype=float).T
    np.testing.assert_allclose(cluster_nearness(tree, other), expected)


def test_transfer_support_sees_clusters_from_which_one_object_moves():
    "Exact support is zero, transfer support is nearly one; both are one where nothing moves."
    tree = Dendrogram.from_merges([(0, 1), (8, 2), (9, 3), (4, 5), (11, 6), (12, 7), (10, 13)])
    moved = tree.relabel([0, 1, 2, 7, 4, 5, 6, 3])
    exact, transfer, jaccard = cluster_nearness(tree, moved)
    assert clusters_of(tree)[2] == {0, 1, 2, 3} and exact[2] == 0
    assert transfer[2] == pytest.approx(1 - 1 / 3) and jaccard[2] == pytest.approx(3 / 4)
    assert (cluster_nearness(tree, tree) == 1).all()


def test_answers_by_coin_have_little_support_and_people_much():
    answers = some_triplets(5, n=24, m=4000)
    people, coin = bootstrap_support(build(answers), answers, build, 20), chance_support(answers, build, 20)
    assert (people.values <= people.transfer + 1e-12).all() and (people.values <= people.jaccard + 1e-12).all()
    large = people.dendrogram.sizes[24:-1] > 3
    assert people.transfer[:-1][large].mean() > coin.transfer[:-1].max()
    assert coin.dendrogram != people.dendrogram and len(coin.trees) == 20
    again = chance_support(answers, build, 20)
    np.testing.assert_array_equal(again.transfer, coin.transfer)


def test_a_report_shows_transfer_support_and_says_so(tmp_path):
    answers = some_triplets(6, n=12, m=600)
    found, coin = bootstrap_support(build(answers), answers, build, 15), chance_support(answers, build, 15)
    tree = found.dendrogram
    for kind, values in (("transfer", found.transfer), ("exact", found.values), ("jaccard", found.jaccard)):
        result = Result(tree, answers, resampled=found, support_kind=None if kind == "transfer" else kind, chance=coin)
        save_result(result, tmp_path / "a.json"), save_result(result, tmp_path / "a.html")
        saved, page = json.loads((tmp_path / "a.json").read_text()), (tmp_path / "a.html").read_text()
        assert saved["support_kind"] == kind and saved["support"] == pytest.approx(values.tolist())
        assert saved["supports"]["exact"] == found.values.tolist() and saved["supports_by_coin"]["transfer"]
        said = {"transfer": "Lemoine", "exact": "were found in at least", "jaccard": "Hennig"}[kind]
        assert said in page and "majority-rule consensus" in page and "by coin" in page
    with pytest.raises(InputError, match="support_kind"):
        Result(tree, answers, resampled=found, support_kind="half")


def test_the_command_writes_the_consensus_and_all_kinds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    answers = some_triplets(7, n=12, m=600)
    answers.to_csv("a.csv")
    assert main("cluster a.csv --method 3-al --support 9 --consensus c.nwk --out a.json".split()) == 0
    out, saved = capsys.readouterr().out, json.loads((tmp_path / "a.json").read_text())
    tree, _ = build_hierarchy("3-al", read_comparisons("a.csv"))
    found = bootstrap_support(tree, read_comparisons("a.csv"), "3-al", 9)
    assert saved["support"] == pytest.approx(found.transfer.tolist()) and "support by coin" in out
    written = Dendrogram.from_newick((tmp_path / "c.nwk").read_text(), tree.names)
    assert written.same_tree(found.consensus().dendrogram)
    for words in (["--support-kind", "exact"], ["--consensus", "c.nwk"]):
        assert main(["cluster", "a.csv", *words]) == 2 and "together with --support" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["points-al", "4-al-refined"])
def test_methods_that_auto_may_choose_are_resampled_by_name(name):
    "As the command does, and as `ComparisonHC` calls them."
    from comparison_hc import ComparisonHC, load_dataset

    answers = load_dataset("animals").triplets
    tree = ComparisonHC(name).fit(answers).dendrogram_
    by_name = bootstrap_support(tree, answers, name, 3)
    by_function = bootstrap_support(tree, answers, lambda drawn: ComparisonHC(name).fit(drawn).dendrogram_, 3)
    assert by_name.values.tolist() == by_function.values.tolist() and by_name.values.max() > 0
