"Methods by name: each is the function behind it, and refuses what it cannot use."

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from comparison_hc.cli import main
from comparison_hc.cli.cluster import method_names
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.estimators import ComparisonHC
from comparison_hc.evaluation.object_tables import read_similarity
from comparison_hc.hierarchical import (
    kernel_average_linkage,
    kernel_passive,
    planted_hierarchy,
    quadruplet_average_linkage,
    triplet_average_linkage,
    triplet_kernel,
    triplet_kernel_active,
)
from comparison_hc.methods import build_from_similarity, build_hierarchy, methods
from comparison_hc.oracles import Counting, SimilarityOracle, run, sample_quadruplets, sample_triplets

MODEL = planted_hierarchy(4, 2, 0.8, 0.3, 0.05, rng=0)
ANSWERS = sample_quadruplets(MODEL.similarity, 0.5, rng=0)
TRIPLETS = sample_triplets(MODEL.similarity, 0.5, rng=0)
SHOWN = {"quadruplets": ANSWERS, "triplets": TRIPLETS, "": MODEL.similarity}
ACTIVE = [name for name, method in methods.items() if method.active]


def scipy_tree(similarity, method):
    "SciPy's tree of the similarities behind the oracle."
    return Dendrogram.from_linkage(
        linkage((similarity.max() - similarity)[np.triu_indices(len(similarity), 1)], method)
    )


def test_every_method_is_passive_or_active():
    assert all(
        (m.passive is None) != (m.active is None)
        and (m.ranked is None) == (m.passive is None)
        and bool(m.takes) == bool(m.passive)
        for m in methods.values()
    )
    assert list(method_names) == list(methods)


def test_passive_methods_are_the_functions_behind_them():
    assert build_hierarchy("4-al", ANSWERS)[0] == quadruplet_average_linkage(ANSWERS)
    for pairs in (False, True, None):
        assert build_hierarchy("4k-al", ANSWERS, self_pairs=pairs)[0] == kernel_average_linkage(
            kernel_passive(ANSWERS, self_pairs=pairs is not False)
        )


def test_triplet_methods_are_the_functions_behind_them():
    assert build_hierarchy("3-al", TRIPLETS)[0] == triplet_average_linkage(TRIPLETS)
    assert build_hierarchy("3-al", TRIPLETS, MODEL.labels)[0] == triplet_average_linkage(TRIPLETS, MODEL.labels)
    for pairs in (False, True, None):
        own = pairs is not False
        assert build_hierarchy("3k-al", TRIPLETS, self_pairs=pairs)[0] == kernel_average_linkage(
            triplet_kernel(TRIPLETS, self_pairs=own)
        )
        tree, asked = build_hierarchy("3k-al-active", MODEL.similarity, self_pairs=pairs, n_comparisons=100, rng=1)
        assert asked == 100 and tree == kernel_average_linkage(
            run(triplet_kernel_active(16, 100, 1, self_pairs=own), SimilarityOracle(MODEL.similarity))
        )


@pytest.mark.parametrize("name", [name for name, m in methods.items() if m.takes == "triplets"])
@pytest.mark.parametrize(
    "X", [ANSWERS, ANSWERS.array, TRIPLETS.to_quadruplets()], ids=["quadruplets", "array", "triplets as quadruplets"]
)
def test_triplet_methods_refuse_quadruplets(name, X):
    with pytest.raises(InputError, match="X must be triplets: .*without a common object"):
        build_hierarchy(name, X)
    with pytest.raises(InputError, match="X must be triplets"):
        ComparisonHC(name).fit(X)


@pytest.mark.parametrize("name", [name for name, m in methods.items() if m.takes == "quadruplets"])
def test_quadruplet_methods_take_triplets(name):
    assert build_hierarchy(name, TRIPLETS)[0] == build_hierarchy(name, TRIPLETS.to_quadruplets())[0]


@pytest.mark.parametrize("name", list(methods))
def test_every_comparison_known_is_every_answer_given(name):
    if name in ACTIVE:
        return
    every = {"quadruplets": sample_quadruplets, "triplets": sample_triplets}[methods[name].takes](
        MODEL.similarity, 1.0, 0
    )
    for initial in (None, MODEL.labels) if methods[name].starts else (None,):
        assert build_from_similarity(name, MODEL.similarity, initial)[0].same_tree(
            build_hierarchy(name, every, initial)[0]
        )


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", list(methods))
def test_very_few_objects(name, n):
    assert build_from_similarity(name, MODEL.similarity[:n, :n])[0].n_leaves == n


@pytest.mark.parametrize("name", ["single", "complete"])
def test_active_methods_give_scipys_tree_and_count_their_questions(name):
    oracle = Counting(SimilarityOracle(MODEL.similarity))
    tree, asked = build_hierarchy(name, oracle)
    assert tree.same_tree(scipy_tree(MODEL.similarity, name)) and asked == oracle.n_queries > 0


@pytest.mark.parametrize("name", list(methods))
def test_known_similarity(name):
    tree, asked = build_from_similarity(name, MODEL.similarity)
    assert tree.n_leaves == 16 and (asked is None) == (name not in ACTIVE)
    again, _ = build_from_similarity(name, np.exp(2 * MODEL.similarity))
    assert tree.same_tree(again)  # only the order counts


@pytest.mark.parametrize(
    "options, word",
    [
        (dict(method="ward", X=ANSWERS), "ward"),
        (dict(method="single", X=ANSWERS), "oracle"),
        (dict(method="4-al", X=ANSWERS, self_pairs=True), "self_pairs"),
        (dict(method="4k-al", X=ANSWERS, self_pairs="yes"), "self_pairs"),
        (dict(method="4k-al", X=ANSWERS, initial=MODEL.labels), "initial"),
        (dict(method="complete", X=MODEL.similarity, n_comparisons=5), "n_comparisons"),
        (dict(method="4k-al-active", X=MODEL.similarity, n_comparisons=0), "n_comparisons"),
        (dict(method="single", X=[[0, 1], [2, 0]]), "symmetric"),
    ],
)
def test_what_does_not_fit_is_refused(options, word):
    with pytest.raises(InputError, match=word):
        build_hierarchy(**options)


@pytest.mark.parametrize("name", list(methods))
def test_estimator_offers_every_method(name):
    model = ComparisonHC(linkage=name, n_clusters=4).fit(SHOWN[methods[name].takes])
    assert len(set(model.labels_)) == 4 and (model.n_questions_ is None) == (name not in ACTIVE)


@pytest.mark.parametrize(
    "text, names",
    [
        ("0,1,2\n1,0,3\n2,3,0\n", ["0", "1", "2"]),
        ("a,b,c\n0,1,2\n1,0,3\n2,3,0\n", ["a", "b", "c"]),
        (",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", ["a", "b", "c"]),
        ("a,0,1,2\nb,1,0,3\nc,2,3,0\n", ["a", "b", "c"]),
        ("nan,1,2\n1,nan,3\n2,3,nan\n", ["0", "1", "2"]),
        ("7,8,9\n0,1,2\n1,0,3\n2,3,0\n", ["7", "8", "9"]),
    ],
)
def test_reading_a_similarity(tmp_path, text, names):
    path = tmp_path / "w.csv"
    path.write_text(text)
    w, found = read_similarity(path)
    assert found == names and w[0, 1] == 1 and w[0, 2] == 2 and w[2, 1] == 3


@pytest.mark.parametrize("text", ["", "0,1\n1,0,2\n", "0,1,2\n1,0,3\n", "0,x\nx,0\n", "0,1\n2,0\n", "0,nan\nnan,0\n"])
def test_a_bad_similarity_is_one_line_and_code_2(tmp_path, capsys, text):
    path = tmp_path / "w.csv"
    path.write_text(text)
    assert main(["cluster", str(path), "--kind", "similarity", "--method", "single"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", list(methods))
def test_the_command_offers_every_method(tmp_path, capsys, name):
    path, page = tmp_path / "w.csv", tmp_path / "tree.html"
    np.savetxt(path, MODEL.similarity, delimiter=",")
    words = f"--kind similarity --method {name} --clusters 4 --out {page}"
    assert main(["cluster", str(path), *words.split()]) == 0
    said = capsys.readouterr().out
    assert ("questions" in said) == (name in ACTIVE) and "4 clusters" in page.read_text()


@pytest.mark.parametrize(
    "words, word",
    [
        (["--method", "single"], "--method"),
        (["--questions", "5"], "n_comparisons"),
        (["--method", "4-al", "--self-pairs"], "self_pairs"),
        (["--method", "3-al", "--self-pairs"], "self_pairs"),
        (["--method", "3k-al-active"], "--method"),
        (["--method", "3-al", "--kind", "quadruplets", "--columns", "0,1,0,2"], "--method"),
        (["--method", "3k-al", "--initial", "answers.csv"], "--initial"),
    ],
)
def test_options_that_do_not_fit_the_method(tmp_path, capsys, words, word):
    path = tmp_path / "answers.csv"
    path.write_text("1,2,3\n2,1,3\n")
    assert main(["cluster", str(path), *words]) == 2 and word in capsys.readouterr().err
