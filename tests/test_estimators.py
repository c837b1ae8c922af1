"""scikit-learn's manners, and names that load when they are used."""

import json
import re
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, is_clusterer

import comparison_hc
from comparison_hc import ComparisonClustering, ComparisonHC, Dendrogram, InputError, Triplets
from comparison_hc.core.validation import NotConvergedWarning
from comparison_hc.hierarchical.average import quadruplet_average_linkage
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.oracles import sample_quadruplets


@pytest.fixture(scope="module")
def planted():
    return planted_hierarchy(5, 2, 0.8, 0.3, 0.05, 3)


@pytest.fixture(scope="module")
def answers(planted):
    return sample_quadruplets(planted.similarity, 0.5, 3)


def test_fit_returns_the_estimator_with_all_it_promises(planted, answers):
    model = ComparisonHC("4-al", n_clusters=4)
    assert model.fit(answers) is model
    assert isinstance(model, BaseEstimator)
    assert isinstance(model, ClusterMixin)
    assert is_clusterer(model)
    tree = quadruplet_average_linkage(answers)
    assert model.dendrogram_ == tree and isinstance(model.dendrogram_, Dendrogram)
    np.testing.assert_array_equal(model.linkage_matrix_, tree.linkage_matrix)
    np.testing.assert_array_equal(model.children_, tree.children)
    np.testing.assert_array_equal(model.labels_, tree.cut(4))
    assert (model.n_leaves_, model.n_objects_) == (20, 20)
    pairs = {(planted.labels[i], model.labels_[i]) for i in range(20)}
    assert len(pairs) == 4  # the planted clusters, up to their numbers


@pytest.mark.parametrize("k", [1, 2, 7, 20])
def test_exactly_that_many_clusters(answers, k):
    labels = ComparisonHC(n_clusters=k).fit_predict(answers)
    assert sorted(set(labels.tolist())) == list(range(k)) and len(labels) == 20


def test_parameters_are_stored_untouched_and_checked_in_fit_only():
    strange = object()
    model = ComparisonHC(linkage=strange, n_clusters="many", initial={1: 2})
    given = dict(linkage=strange, n_clusters="many", initial=model.initial)
    left = dict(self_pairs=None, n_comparisons=None, rng=0, kind="similarity")
    assert model.linkage is strange and model.get_params() == given | left
    with pytest.raises(InputError, match="linkage"):
        model.fit([[0, 1, 2]])
    assert not [name for name in vars(model) if name.endswith("_")]


def test_fitting_again_forgets_the_first_fit(answers):
    model = ComparisonHC(n_clusters=2).fit(answers)
    model.set_params(n_clusters=None).fit(Triplets([[0, 1, 2]]))
    assert not hasattr(model, "labels_") and model.n_objects_ == 3 and len(model.children_) == 2
    model.set_params(n_clusters=3).fit(answers)
    assert model.labels_.max() == 2 and len(model.labels_) == 20


def test_initial_clusters_are_kept_together(answers):
    initial = np.arange(20) // 2
    model = ComparisonHC(initial=initial, n_clusters=5).fit(answers)
    assert model.n_leaves_ == 10 and model.n_objects_ == 20 and len(model.children_) == 9
    assert (model.labels_[0::2] == model.labels_[1::2]).all() and (initial == np.arange(20) // 2).all()


# ---- names that load when they are used


def loaded_by(statement):
    "Names of the modules that a fresh Python has after a statement."
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


CHARTS = set("sklearn altair pandas pooch tqdm vl_convert cvxpy ipywidgets nbdev IPython".split())
HEAVY = CHARTS | {"numpy", "scipy", "pyarrow", "matplotlib"}


@pytest.mark.parametrize(
    "statement",
    [
        "import comparison_hc",
        "import comparison_hc.hierarchical",
        "import comparison_hc; dir(comparison_hc)",
        "from comparison_hc.cli import make_parser; make_parser()",
    ],
)
def test_importing_loads_nothing_heavy(statement):
    loaded = loaded_by(statement) & HEAVY
    assert loaded <= ({"numpy"} if "cli" in statement else set())


def test_reading_and_clustering_need_neither_charts_nor_scikit_learn():
    loaded = loaded_by(
        "from comparison_hc import Triplets\n"
        "from comparison_hc.hierarchical import quadruplet_average_linkage\n"
        "quadruplet_average_linkage(Triplets([[0, 1, 2]])).to_newick()"
    )
    assert not loaded & CHARTS


@pytest.mark.parametrize("package", ["comparison_hc", "comparison_hc.hierarchical", "comparison_hc.flat"])
def test_every_promised_name_is_there(package):
    from importlib import import_module

    module = import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None and name in dir(module)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name
    with pytest.raises(ImportError):
        exec(f"from {package} import no_such_name")


def test_names_that_others_rely_on():
    assert {"Triplets", "Quadruplets", "Dendrogram", "ComparisonHC", "ComparisonClustering", "read_comparisons"} <= set(
        comparison_hc.__all__
    )
    namespace = {}
    exec("from comparison_hc import *", namespace)
    assert set(comparison_hc.__all__) <= set(namespace) and comparison_hc.__version__.count(".") == 2


# ---- clusters without a hierarchy


@pytest.fixture(scope="module")
def triplets():
    from comparison_hc.flat import gaussians, planted_partition, sample_comparisons

    model = planted_partition([8, 8, 8], *gaussians(0.97), rng=0)
    return sample_comparisons(model, "triplets", 2500, 0.75, rng=0), model.labels


def test_flat_fit_gives_all_it_promises(triplets):
    from comparison_hc.flat import Certificate, SpurResult, adds3, spur
    from comparison_hc.metrics import adjusted_rand_index

    answers, planted = triplets
    model = ComparisonClustering()
    assert model.fit(answers) is model and isinstance(model, ClusterMixin) and is_clusterer(model)
    found = spur(adds3(answers), len(answers))
    np.testing.assert_array_equal(model.labels_, found.labels)
    np.testing.assert_array_equal(model.similarity_, adds3(answers))
    assert (model.n_clusters_, model.n_objects_, model.components_.tolist()) == (3, 24, [0] * 24)
    assert adjusted_rand_index(planted, model.labels_) == 1
    assert isinstance(model.result_, SpurResult) and isinstance(model.certificate_, Certificate)


@pytest.mark.parametrize("similarity", ["adds", "mulk"])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 24])
def test_flat_exactly_that_many_clusters(triplets, similarity, k):
    model = ComparisonClustering(similarity, n_clusters=k).fit(triplets[0])
    assert sorted(set(model.labels_.tolist())) == list(range(k))
    assert model.n_clusters_ == k
    assert model.certificate_ is None or model.certificate_.n_clusters == k


@pytest.fixture(scope="module")
def unclear():
    "Triplets of which no partition is proved to be best."
    from comparison_hc.flat import gaussians, planted_partition, sample_comparisons

    return sample_comparisons(planted_partition([8, 8, 8], *gaussians(0.5), rng=0), "triplets", 300, 0.75, rng=0)


@pytest.mark.parametrize(
    "parameters",
    [dict(), dict(n_clusters=4), dict(similarity="mulk", n_clusters=3), dict(similarity="mulk", rounding="spectral")],
    ids=str,
)
def test_flat_warns_where_an_sdp_does_not_converge(unclear, parameters):
    "Labels come all the same, no proof does; with iterations enough, nothing is said."
    with pytest.warns(NotConvergedWarning, match="stopped after 1 iterations"):
        model = ComparisonClustering(max_iter=1, **parameters).fit(unclear)
    assert model.certificate_ is None
    assert len(set(model.labels_)) == model.n_clusters_ == parameters.get("n_clusters", model.n_clusters_)
    assert not getattr(model.result_, "solution", model.result_).converged
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConvergedWarning)
        ComparisonClustering(**parameters).fit(unclear)


@pytest.mark.parametrize("words", [[], ["--clusters", "4"]], ids=["SPUR", "four"])
def test_flat_command_says_on_the_error_stream_what_did_not_converge(unclear, words, tmp_path, monkeypatch, capsys):
    "The command has no option for iterations: the estimator behind it gets one iteration here."
    from comparison_hc.cli import main

    np.savetxt(tmp_path / "unclear.csv", unclear.array, fmt="%d", delimiter=",")

    def call():
        code = main(["cluster", str(tmp_path / "unclear.csv"), "--header", "no", "--method", "adds", *words])
        return (code, *capsys.readouterr())

    code, out, err = call()
    assert code == 0 and err == "" and "not proved" in out
    monkeypatch.setattr("comparison_hc.estimators.ComparisonClustering", partial(ComparisonClustering, max_iter=1))
    code, out, err = call()
    lines = err.splitlines()
    assert code == 0 and lines and all(line.startswith("comparison-hc: warning: SDP-") for line in lines)
    assert all("stopped after 1 iterations" in line for line in lines)
    assert "cluster 1" in out
    assert "cluster 0" in out


def test_answers_that_fall_apart_are_reported_unless_initial_clusters_hold_the_objects_together():
    from comparison_hc.comparisons import DisconnectedWarning

    apart = np.array([[0, 1, 0, 2], [3, 4, 3, 5]])
    for linkage in ("4-al", "4k-al"):
        with pytest.warns(DisconnectedWarning, match="2 groups of 3, 3 objects"):
            ComparisonHC(linkage).fit(apart)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ComparisonHC("4-al", initial=[[0, 3], [1], [2], [4], [5]]).fit(apart)
        ComparisonHC("4-al").fit(np.array([[0, 1, 0, 2], [2, 3, 1, 3]]))


@pytest.mark.parametrize("k", [None, 3])
def test_flat_progress_never_falls_ends_at_all_and_may_end_the_work(k):
    rng = np.random.default_rng(0)
    noise = np.array([rng.permutation(20)[:3] for _ in range(600)])
    told = []
    model = ComparisonClustering(n_clusters=k, progress=lambda done, total: told.append((done, total))).fit(noise)
    assert model.certificate_ is None and len(told) > 20 and told == sorted(told) and told[-1] == (100, 100)
    assert {total for _, total in told} == {100} and told[0][0] < 20
    np.testing.assert_array_equal(model.labels_, ComparisonClustering(n_clusters=k).fit_predict(noise))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ComparisonClustering(n_clusters=k, progress=stop).fit(noise)
    with pytest.raises(InputError, match="progress must be a function of .hundredths done"):
        ComparisonClustering(n_clusters=k, progress=100).fit(noise)


@pytest.mark.parametrize("name", ["ComparisonHC", "ComparisonClustering", "AdditiveTree", "link.MixedLinkage"])
def test_the_help_of_every_estimator_leads_on(name):
    "To what saves, draws and compares; and each of these is found from the top."
    from comparison_hc.link import MixedLinkage

    text = (MixedLinkage if "." in name else getattr(comparison_hc, name)).__doc__
    leads = re.findall(r"comparison_hc\.(\w+) : ", text.split("See Also")[1])
    assert "save_result" in leads and {*leads} - {"methods"} <= set(comparison_hc.__all__)
    for found in ("save_result", "plot_dendrogram", "bootstrap_support", "compare_methods"):
        assert found in comparison_hc.__all__ and found in dir(comparison_hc)
    assert name != "ComparisonHC" or {"plot_dendrogram", "bootstrap_support", "compare_methods"} <= set(leads)
