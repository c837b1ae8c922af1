"Sweeps: the definition, parsing, refusals before the first run, resumption, and how much is enough."

import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import refused

from comparison_hc.cli import main
from comparison_hc.core.validation import InputError
from comparison_hc.whatif import whatif
from comparison_hc.whatif.models import MODELS, chosen_values, range_values, values_of
from comparison_hc.whatif.needs import crossing, monotone, needed, rounded
from comparison_hc.whatif.sweep import fitting_repetitions

properties = settings(deadline=None, derandomize=True, max_examples=40)
SMALL = dict(n_pure=2, n_levels=2)


def streams(run_seed, number):
    "The generators of one run, by its definition."
    return np.random.default_rng(int(run_seed)).spawn(number)


# the definition


@pytest.mark.parametrize("accuracy", [1.0, 0.8])
def test_planted_is_a_loop_over_the_packages_functions(accuracy):
    from comparison_hc.hierarchical.planted import planted_hierarchy
    from comparison_hc.methods import build_hierarchy
    from comparison_hc.metrics import average_ari
    from comparison_hc.oracles import Noisy, SimilarityOracle, sample_quadruplets, sample_triplets

    methods = ["4-al", "3k-al", "single", "4k-al-active"]
    found = whatif("planted", delta_over_sigma=2.0, answers=60, accuracy=accuracy, method=methods, repeat=3, **SMALL)
    assert len(found.table) == 12
    for row in found.table.itertuples():
        for_model, for_sample, for_noise, for_method = streams(row.run_seed, 4)
        planted = planted_hierarchy(2, 2, 0.8, 0.2, 0.1, for_model)
        if row.method in ("4-al", "3k-al"):
            sample = sample_triplets if row.method == "3k-al" else sample_quadruplets
            X, budget = sample(planted.similarity, 60, for_sample).flip(1 - accuracy, for_noise), None
        else:
            X, budget = SimilarityOracle(planted.similarity), 60 if row.method == "4k-al-active" else None
            X = X if accuracy == 1 else Noisy(X, accuracy, for_noise)
        tree, asked = build_hierarchy(row.method, X, n_comparisons=budget, rng=for_method)
        assert row.aari == average_ari(planted.levels, tree)
        assert row.n_answers == (len(X) if asked is None else asked)


@pytest.mark.parametrize("n_clusters", ["spur", 2])
def test_flat_is_a_loop_over_the_packages_functions(n_clusters):
    from comparison_hc.flat.planted import gaussians, planted_partition, sample_comparisons
    from comparison_hc.flat.sdp import sdp_k
    from comparison_hc.flat.similarity import adds3, mulk4
    from comparison_hc.flat.spur_search import round_solution, spur
    from comparison_hc.metrics import adjusted_rand_index

    found = whatif("flat", n=16, k=2, answers=300, n_clusters=n_clusters, method="adds-3,mulk-4", repeat=1)
    for row in found.table.itertuples():
        for_model, for_sample, for_method = streams(row.run_seed, 3)
        planted = planted_partition([8, 8], *gaussians(0.7), for_model)
        kind, similarity = ("triplets", adds3) if row.method == "adds-3" else ("quadruplets", mulk4)
        S = similarity(sample_comparisons(planted, kind, 300, 0.75, for_sample), 16)
        if n_clusters == "spur":
            labels = spur(S, 300, normalised=kind == "quadruplets", tol=1e-2, max_iter=300, rng=for_method).labels
        else:
            solution = sdp_k(S, 2, 1e-2, 300, for_method)
            labels = solution.labels
            labels = round_solution(solution.X, 2, rng=for_method) if labels is None else labels
        assert row.ari == adjusted_rand_index(planted.labels, labels)
        assert row.k_found == len(set(labels.tolist()))


def test_adaptive_is_a_loop_over_the_packages_functions():
    from comparison_hc.adaptive import insertion_clustering, quick_clustering, random_hierarchy
    from comparison_hc.oracles import Counting, HierarchyOracle, run

    found = whatif("adaptive", n=[6, 12], shape="split", repeat=3)
    assert found.table["right"].all() and (found.table["clusters_found"] == 1).all()
    for row in found.table.itertuples():
        for_model, _, for_method = streams(row.run_seed, 3)
        oracle = Counting(HierarchyOracle(random_hierarchy(row.n, "split", for_model)))
        run(insertion_clustering(row.n) if row.method == "insertion" else quick_clustering(row.n, for_method), oracle)
        assert row.questions == oracle.n_queries


def test_adaptive_counts_wrong_trees():
    found = whatif("adaptive", n=12, accuracy=0.7, method="insertion,bayesian", repeat=6).table
    share = found.groupby("method")["clusters_found"].mean()
    assert share["insertion"] < 0.8 < share["bayesian"] and (found["clusters_found"] == 1).equals(found["right"] == 1)


def test_link_lies_on_the_exact_curve():
    from comparison_hc.link.execution import piecewise_loss
    from comparison_hc.reproduce.l20_tasks import linkage_task

    found = whatif("link", per_class=4, alpha="0:1:0.25", method="average-complete", repeat=2)
    assert found.table["run_seed"].nunique() == 2  # the same tasks at every α
    for seed, rows in found.table.groupby("run_seed"):
        distances, labels = linkage_task("rings and disks", 4, int(seed))
        curve = piecewise_loss(distances["Euclidean"], labels, ("average", "complete"))
        assert np.allclose(curve(rows["alpha"].to_numpy()), rows["loss"])
    (sentence,) = found.sentences()
    assert "is the least, at α =" in sentence


def test_methods_share_their_data_and_nothing_else_does():
    table = whatif("planted", p=[0.1, 0.2], method="4-al,4k-al", repeat=3, **SMALL).table
    seeds = table.groupby(["p", "repetition"])["run_seed"]
    assert (seeds.nunique() == 1).all() and table["run_seed"].nunique() == 6
    assert (table.groupby(["p", "repetition"])["n_answers"].nunique() == 1).all()


def test_first_repetitions_and_the_rest_are_one_table(monkeypatch):
    whole = whatif("planted", p=[0.1, 0.3], repeat=5, **SMALL)
    monkeypatch.setattr("comparison_hc.whatif.sweep.fitting_repetitions", lambda *_: 5)
    seen = []
    parts = whatif("planted", p=[0.1, 0.3], progress=lambda *done: seen.append(done), **SMALL)
    pd.testing.assert_frame_equal(whole.table.drop(columns="seconds"), parts.table.drop(columns="seconds"))
    assert whole.again == parts.again
    assert seen[-1] == (20, 20)
    assert sorted(done for done, _ in seen) == [done for done, _ in seen]
    assert any("5 repetitions" in text for text in parts.said) and not any("repetitions" in t for t in whole.said)


def test_how_many_repetitions_fit():
    assert fitting_repetitions(1.0, 2, 20) == 20  # two minutes of work would be 120
    assert fitting_repetitions(10.0, 2, 20) == 12
    assert fitting_repetitions(10.0, 1, 20) == 6
    assert fitting_repetitions(1000.0, 2, 20) == 3


def test_exact_takes_the_papers_sizes():
    quick, _ = chosen_values(MODELS["planted"], {})
    exact, _ = chosen_values(MODELS["planted"], {}, exact=True)
    assert quick["n_pure"] == (6,) and exact["n_pure"] == (30,) and 1.0 in exact["p"]
    assert chosen_values(MODELS["planted"], {"n_pure": 4}, exact=True)[0]["n_pure"] == (4,)
    assert chosen_values(MODELS["flat"], {}, exact=True)[0]["n"] == (1000,)
    assert any("instead of the paper's 30" in text for text in whatif("planted", p=0.1, n_levels=1, repeat=1).said)


# a journal, workers, seeds


def test_a_killed_sweep_continues(tmp_path, monkeypatch):
    journal = tmp_path / "runs.jsonl"
    options = dict(p=[0.1, 0.3], repeat=3, journal=journal, **SMALL)

    def stop(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whatif("planted", progress=stop, **options)
    seen = []
    found = whatif("planted", progress=lambda *done: seen.append(done), **options)
    assert seen[0] == (5, 12) and len(seen) == 8  # five were there
    plain = whatif("planted", p=[0.1, 0.3], repeat=3, **SMALL)
    pd.testing.assert_frame_equal(plain.table.drop(columns="seconds"), found.table.drop(columns="seconds"))


def test_the_command_that_is_printed_makes_the_same_runs(tmp_path, capsys):
    words = "whatif planted --n-pure 2 --n-levels 2 --p 0.1,0.4 --repeat 2 --seed 3 --jobs 1 --out".split()
    assert main([*words, str(tmp_path / "one.csv")]) == 0
    again = capsys.readouterr().out.split("the same runs again: comparison-hc ")[1].splitlines()[0]
    assert main([*again.split(), "--jobs", "1", "--out", str(tmp_path / "two.csv")]) == 0
    one, two = (pd.read_csv(tmp_path / name).drop(columns="seconds") for name in ("one.csv", "two.csv"))
    pd.testing.assert_frame_equal(one, two)
    other = whatif("planted", p=[0.1, 0.4], repeat=2, seed=4, **SMALL).table
    assert not np.array_equal(one["run_seed"], other["run_seed"])


# what is refused, before anything runs


@pytest.mark.parametrize(
    "line, words",
    [
        ("whatif plantd", "invalid choice: 'plantd'"),
        ("whatif planted --delta 1:2:0.5:3", "range"),
        ("whatif planted --mu 1", "unrecognized arguments: --mu 1"),
        ("whatif planted --p 0.1:0.01:0.1", "--p must be a range"),
        ("whatif planted --p 0", "--p must be a number in (0, 1]; got 0"),
        ("whatif planted --p ,", "--p must be at least one value"),
        ("whatif planted --p 1e-9", "p must be so large that at least 30"),
        ("whatif planted --answers 99999999", "answers must be at most"),
        ("whatif planted --n-pure 30 --p 0.5", "p · questions must be so small"),
        ("whatif planted --method 9-al", "--method must be one of 4-al"),
        ("whatif planted --method 4-al,4-al", "--method must be made of different values"),
        ("whatif planted --target 1.5", "--target must be a number in (0, 1]"),
        ("whatif planted --jobs 0", "--jobs must be a number of workers"),
        ("whatif planted --out x.docx", "--out must be a file that ends in .csv"),
        ("whatif planted --out x.csv --journal x.csv", "--out must be another file than --journal"),
        ("whatif flat --k 70", "k must be an integer from 1 to 60"),
        ("whatif flat --a 3 --answers 100", "given by only one of --a, --answers"),
        ("whatif flat --n-clusters many", "--n-clusters must be a number of clusters"),
        ("whatif adaptive --accuracy 0.9 --method quick", "accuracy must be 1 for quick"),
        ("whatif adaptive --target 0.9", "unrecognized arguments"),
        ("whatif link --per-class 9999", "per_class of rings and disks must be"),
        ("whatif planted --seed -1", "--seed must be an integer of at least 0"),
    ],
)
def test_one_sentence_before_anything_runs(line, words, capsys, monkeypatch):
    def runs(*_, **__):
        raise AssertionError("it ran")

    monkeypatch.setattr("comparison_hc.reproduce.experiments.run_experiment", runs)
    assert words in refused(capsys, *line.split())


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(sigma=1), "one of delta_over_sigma"),
        (dict(repeat=0), "repeat must be"),
        (dict(seed=-1), "seed must be"),
        (dict(p=[]), "p must be at least one value"),
        (dict(p=0.1, answers=10), "only one of p, answers"),
        (dict(delta_over_sigma=list(range(999)), p=list(np.linspace(0.1, 1, 999))), "at most 20,000 settings"),
        (dict(progress=3), "progress must be"),
    ],
)
def test_bad_calls(options, words):
    with pytest.raises(InputError, match=words):
        whatif("planted", **options)
    with pytest.raises(InputError, match="model must be one of planted, flat, adaptive, link"):
        whatif("f19")
    with pytest.raises(InputError, match="target must be left out for adaptive"):
        whatif("adaptive", target=0.5)


def test_interrupted_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("comparison_hc.whatif.sweep.whatif", stop)
    assert main(["whatif", "planted"]) == 130
    assert "nothing was kept: with --journal FILE" in capsys.readouterr().err
    assert main(["whatif", "planted", "--journal", str(tmp_path / "x")]) == 130
    assert "the same command continues" in capsys.readouterr().err


# files


def test_files(tmp_path, monkeypatch):
    found = whatif("planted", p=[0.1, 0.4], repeat=2, **SMALL)
    pd.testing.assert_frame_equal(
        pd.read_csv(found.save(tmp_path / "a.csv")).dropna(axis=1), found.table.dropna(axis=1), check_dtype=False
    )
    page = found.save(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert found.again.replace("'", "&#x27;") in page
    assert "http" not in page.replace("www.w3.org", "").replace("http:///", "")
    assert found.save(tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    paper = found.save(tmp_path / "a.pdf").read_bytes()
    assert paper[:5] == b"%PDF-" and len(re.findall(rb"/Type */Page\b", paper)) == 1 and len(paper) > 2000
    with pytest.raises(InputError, match="path must be a file that ends in .csv"):
        found.save(tmp_path / "a.txt")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="pip install pyarrow"):
        found.save(tmp_path / "a.parquet")


# values in words


@properties
@given(begin=st.integers(-50, 50), steps=st.integers(0, 30), step=st.integers(1, 400))
def test_a_range_has_both_ends(begin, steps, step):
    begin, step = begin / 8, step / 100
    end = begin + steps * step
    found = range_values(f"{begin}:{end}:{step}", "x")
    assert len(found) == steps + 1 and np.allclose(found, begin + step * np.arange(steps + 1), atol=1e-9)


@properties
@given(begin=st.integers(1, 50), steps=st.integers(0, 12), factor=st.integers(2, 5))
def test_a_range_that_multiplies(begin, steps, factor):
    assert range_values(f"{begin}:{begin * factor**steps}:x{factor}", "x") == [
        begin * factor**k for k in range(steps + 1)
    ]


@properties
@given(st.lists(st.integers(1, 999), min_size=1, max_size=9, unique=True))
def test_words_are_what_a_list_is(values):
    answers = MODELS["planted"].parameter("answers")
    assert values_of(answers, ",".join(map(str, values))) == values_of(answers, values) == tuple(values)


# how much is enough


@properties
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8))
def test_monotone_is_the_nearest(values):
    from sklearn.isotonic import isotonic_regression

    y = np.array(values)
    found = monotone(y)
    assert (np.diff(found) >= -1e-9).all() and np.allclose(found, isotonic_regression(y), atol=1e-8)


@properties
@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0.05, 0.95), st.booleans())
def test_the_curve_has_the_target_at_the_crossing(values, target, log):
    x, y = np.geomspace(10, 1000, len(values)), np.sort(values)
    at = float(crossing(x, y, target, log))
    if at == np.inf:
        assert y[-1] < target
    elif at == -np.inf:
        assert y[0] >= target
    else:
        assert np.isclose(np.interp(*map(np.log, (at, x)), y) if log else np.interp(at, x, y), target)


def test_a_curve_that_falls_is_a_mirror():
    rng = np.random.default_rng(0)
    x, values = np.arange(6.0), np.linspace(0.2, 1, 6)[:, None] + rng.normal(0, 0.02, (6, 7))
    up, down = needed(x, values, 0.7), needed(x, values[::-1], 0.7, falls=True)
    assert np.isclose(up.value, 5 - down.value) and down.low <= down.value <= down.high
    assert needed(x, values[::-1], 2.0, falls=True).value == -np.inf  # never
    assert needed(x, values[::-1], 0.0, falls=True).value == np.inf  # everywhere


def test_more_repetitions_make_narrower_intervals():
    rng, x = np.random.default_rng(0), np.geomspace(10, 1000, 6)
    truth = np.linspace(0.2, 1, 6)[:, None]
    wide, narrow = (needed(x, truth + rng.normal(0, 0.05, (6, R)), 0.7, log=True).half for R in (5, 80))
    assert narrow < wide / 2


@pytest.mark.parametrize(
    "value, half, words",
    [
        (3141.0, 212.0, "3,100 ± 200"),
        (0.87654, 0.0021, "0.877 ± 0.002"),
        (12.3, np.inf, "12.3"),
        (50.2, 1.44, "50.2 ± 1.4"),
    ],
)
def test_rounding(value, half, words):
    assert rounded(value, half) == words


def test_sentences_say_whether_the_target_was_reached():
    table = whatif(
        "planted", p=[0.3, 1.0], delta_over_sigma=[0.0, 100.0], method="4-al", repeat=3, n_pure=3, n_levels=2
    )
    lost, won = table.sentences()
    assert lost.startswith("At δ/σ = 0.0, 4-al does not reach AARI 0.9 with") and "the most tried" in lost
    assert won.startswith("At δ/σ = 100.0, 4-al reaches AARI 0.9 even with") and "the fewest tried" in won
    frame = table.needs()
    assert np.isposinf(frame["needed"][0]) and np.isneginf(frame["needed"][1])
