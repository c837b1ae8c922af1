"""Figures 2 and S.1 of F19: what a run does, how sentences become verdicts, and the command that redoes them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shared import assert_every_sentence_can_come_out_either_way, names_of_notebook, refused

from comparison_hc.cli import main
from comparison_hc.comparisons import n_quadruplet_questions
from comparison_hc.hierarchical.average import quadruplet_average_linkage
from comparison_hc.hierarchical.kernel import kernel_average_linkage, kernel_passive
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.metrics import average_ari
from comparison_hc.oracles import sample_quadruplets
from comparison_hc.reproduce import claims, f19_figures, readings
from comparison_hc.reproduce import f19 as r19
from comparison_hc.reproduce.claims import ResultsNotFoundError, find_reproductions, reproduce, save_results
from comparison_hc.reproduce.experiments import run_experiment

ROOT = Path(__file__).parents[1]
NAMES = ("f19-fig2", "f19-figS1")

# ---- a run


@pytest.mark.parametrize("size", [1, 3, 5, 30])
def test_groups_are_pure_and_of_the_given_size(size):
    labels = np.random.default_rng(0).permutation(np.repeat(range(8), 30))
    groups = r19.pure_groups(labels, size, 1)
    assert sorted(sum(groups, [])) == list(range(240))
    assert {len(g) for g in groups} == {size}
    assert all(len(set(labels[g])) == 1 for g in groups)


def test_groups_are_uniform_and_remainders_are_one_group_a_cluster():
    assert sorted(map(len, r19.pure_groups([0] * 8 + [1] * 8, 3, 0))) == [2, 2, 3, 3, 3, 3]
    together = np.mean([any({0, 1} <= set(g) for g in r19.pure_groups([0] * 6, 3, seed)) for seed in range(2000)])
    assert abs(together - 0.4) < 0.05  # two of the other five are with 0


@pytest.mark.parametrize("p", [0.03, 1.0])
def test_a_run_has_one_row_a_method_and_equal_budgets(p):
    rows = r19.planted_run(0.1, p, 5, 0, np.random.default_rng(3))
    assert tuple(row["method"] for row in rows) == r19.planted_methods and all(-1 <= row["aari"] <= 1 for row in rows)
    asked = {row["method"]: row["comparisons"] for row in rows}
    assert len({asked[name] for name in r19.planted_methods[2:]}) == 1
    assert abs(asked["4–AL"] / n_quadruplet_questions(40) - p) < 0.1 * p
    assert asked["SL"] <= 2 * 40**2
    assert asked["CL"] <= 3 * 40**2
    assert rows == r19.planted_run(0.1, p, 5, 0, np.random.default_rng(3))


def test_passive_methods_share_one_sample_and_p_one_is_all_answers():
    w = np.random.default_rng(0).normal(size=(16, 16))
    w = w + w.T
    groups = {3: r19.pure_groups(np.repeat([0, 1], 8), 3, 0)}
    trees, n = r19._passive_trees(w, 0.3, groups, np.random.default_rng(5))
    answers = sample_quadruplets(w, 0.3, np.random.default_rng(5))
    assert n == len(answers)
    assert trees["4–AL"].same_tree(quadruplet_average_linkage(answers))
    assert trees["4–AL–I3"].same_tree(quadruplet_average_linkage(answers, initial=groups[3]))
    for name, own in (("4K–AL", False), ("4K–AL, self-pairs", True)):
        assert trees[name].same_tree(kernel_average_linkage(kernel_passive(answers, self_pairs=own)))
    every, _ = r19._passive_trees(w, 1.0, groups, np.random.default_rng(5))
    all_answers = sample_quadruplets(w, 1.0, 0)
    assert every["4–AL"].same_tree(quadruplet_average_linkage(all_answers))
    assert every["4K–AL"].same_tree(kernel_average_linkage(kernel_passive(all_answers)))


def test_without_noise_every_method_that_sees_enough_is_right():
    planted = planted_hierarchy(4, 3, 0.8, 0.1, 0.001, 0)
    groups, rng = {3: r19.pure_groups(planted.labels, 3, 0)}, np.random.default_rng(0)
    trees, _ = r19._passive_trees(planted.similarity, 1.0, groups, rng)
    trees |= {name: r19.active_tree(name, planted.similarity, 100_000, 0)[0] for name in r19.ACTIVE}
    assert all(average_ari(planted.levels, trees[name]) == 1 for name in ("SL", "CL", "4–AL", "4–AL–I3"))


# ---- grids and summaries


def test_figure_2_is_a_part_of_s1():
    known = find_reproductions()
    for kind in ("quick_grid", "full_grid"):
        assert all(run in getattr(known["f19-figS1"], kind) for run in getattr(known["f19-fig2"], kind))
    assert len({(r.function, r.seed, r.paired, r.version) for r in (known[name] for name in NAMES)}) == 1


def test_panels_show_the_same_instances():
    table = run_experiment(
        r19.planted_run,
        [dict(delta=0.1, p=p, n_pure=3, repetition=k) for p in (0.1, 1.0) for k in range(2)],
        paired=("p",),
    )
    linkage = table[table["method"].isin(["SL", "CL"])]
    assert (linkage.groupby(["method", "repetition"])[["aari", "comparisons"]].nunique() == 1).all().all()


def summary_of(curves, panels=(0.01, 1.0), sd=0.01, **changed):
    "A summary made by hand: {method: AARI by δ/σ}; the same in all panels unless (method, p) has its own."
    rows = [
        dict(p=p, delta=0.02 * step, method=name, aari=aari, exact=float(aari >= 0.999), snr=round(0.2 * step, 6))
        for p in panels
        for name in r19.planted_methods
        for step, aari in enumerate(curves.get((name, p), curves[name]), 1)
    ]
    return pd.DataFrame(rows).assign(**{"n_pure": 30, "sd": sd, "comparisons": 100, "repetitions": 10, **changed})


AS_THE_PAPER_SAYS = {
    "SL": [0, 0, 0.1, 0.2, 0.5],
    "CL": [0.1, 0.3, 0.5, 0.9, 0.99],
    **{name: [0.2, 0.6, 0.9, 1, 1] for name in ("4K–AL", "4K–AL, self-pairs", "4K–AL–act", "4–AL")},
    "4–AL–I3": [0.9, 1, 1, 1, 1],
    "4–AL–I5": [0.95, 1, 1, 1, 1],
}


def verdicts(claims):
    return {claim.sentence: claim.holds for claim in claims}


@pytest.mark.parametrize(
    "curves, words",
    [
        ({"SL": [0, 0, 0.1, 1, 1]}, "SL can hardly"),
        ({"CL": [0, 0, 0, 0, 0.4]}, "CL performs better"),
        ({"CL": [0.1, 0.3, 0.99, 1, 1]}, "4–AL is able"),
        ({"4K–AL": [0.2, 0.6, 0.9, 0.9, 1]}, "4K–AL is able"),
        ({("4–AL", 0.01): [0, 0.3, 0.6, 1, 1]}, "performance of 4–AL does not degrade"),
        ({"4–AL–I5": [0.9, 0.9, 0.9, 1, 1]}, "4–AL–I5 recovers"),
        ({"4–AL–I5": [0.1, 0.5, 0.8, 1, 1]}, "4–AL–I5 is"),
        ({("SL", 0.01): [0, 0, 0, 0, 0.1]}, "not impacted by p"),
        ({"4K–AL–act": [0.2, 0.6, 0.9, 0.9, 0.9]}, "4K–AL–act is able"),
    ],
)
def test_each_claim_can_fail(curves, words):
    held = verdicts(f19_figures.figure_2_claims(summary_of({**AS_THE_PAPER_SAYS, **curves})))
    assert [holds for sentence, holds in held.items() if words in sentence] == [False]


UNLIKE_THE_PAPER = {
    "SL": [0, 0, 0.1, 1, 1],
    ("SL", 0.01): [0, 0, 0.1, 0.9, 1],
    "CL": [0, 0, 0, 0, 0.4],
    **{name: [0.2, 0.6, 0.9, 0.95, 0.98] for name in ("4K–AL", "4K–AL, self-pairs", "4K–AL–act", "4–AL")},
    **{(name, 0.01): [0, 0.3, 0.6, 0.7, 0.8] for name in ("4K–AL", "4K–AL, self-pairs", "4K–AL–act", "4–AL")},
    **{name: [0.1, 0.5, 0.8, 0.99, 0.99] for name in ("4–AL–I3", "4–AL–I5")},
}


@pytest.mark.parametrize("claims", [f19_figures.figure_2_claims, f19_figures.figure_s1_claims])
def test_every_sentence_can_come_out_either_way(claims):
    tables = [summary_of(curves) for curves in (AS_THE_PAPER_SAYS, UNLIKE_THE_PAPER)]
    assert_every_sentence_can_come_out_either_way(claims, tables)


# ---- where 4K–AL stops


def runs_of(plain, light, heavy):
    "Trees made by hand: for each weight of direct votes, (AARI, strays) by δ/σ."
    rows = []
    for weight, found in ((0, plain), (1, light), (10, heavy)):
        rows += [(30, 0.6 + 0.2 * k, 0, weight, 1.0, strays, aari) for k, (aari, strays) in enumerate(found)]
    return pd.DataFrame(rows, columns=["n_pure", "snr", "seed", "weight", "spread", "strays", "aari"])


PLATEAU = names_of_notebook("reproduce/91a_plateau.ipynb", "stray_runs", "plateau_claims")
STOPS = PLATEAU.plateau_height(30)
ON_TOP = {("4K–AL", p): [0.2, STOPS, STOPS, 0.95, 1] for p in (0.1, 1.0)}
SELF_PAIRS = ([0.3, STOPS, STOPS, 0.99, 1], [0.4, 0.9, 0.95, 1, 1])
AS_WE_SAY = (
    {**ON_TOP, ("4K–AL, self-pairs", 1.0): SELF_PAIRS[0], ("4K–AL, self-pairs", 0.1): SELF_PAIRS[1]},
    ([(STOPS, 20), (STOPS, 8), (0.99, 0)], [(STOPS, 15), (STOPS, 8), (1.0, 0)], [(0.9, 3), (0.95, 0), (1.0, 0)]),
)
UNLIKE_WHAT_WE_SAY = (
    {**ON_TOP, ("4K–AL, self-pairs", 1.0): SELF_PAIRS[1], ("4K–AL, self-pairs", 0.1): SELF_PAIRS[0]},
    ([(STOPS, 0), (0.9, 8), (0.99, 0)], [(0.9, 15), (0.95, 8), (1.0, 0)], [(STOPS, 3), (0.95, 0), (1.0, 0)]),
)


def test_every_sentence_about_the_plateau_can_come_out_either_way():
    tables = [
        (summary_of({**AS_THE_PAPER_SAYS, **curves}, panels=(0.1, 1.0)), runs_of(*runs))
        for curves, runs in (AS_WE_SAY, UNLIKE_WHAT_WE_SAY)
    ]
    assert_every_sentence_can_come_out_either_way(lambda table: PLATEAU.plateau_claims(*table), tables)
    assert all(claim.holds for claim in PLATEAU.plateau_claims(*tables[0]))


def test_without_a_plateau_no_sentence_about_it_holds():
    found = PLATEAU.plateau_claims(summary_of(AS_THE_PAPER_SAYS, panels=(0.1, 1.0)), runs_of(*[[(0.95, 1)] * 3] * 3))
    assert not any(claim.holds for claim in found)


def test_a_tree_whose_cut_spends_four_leaves_on_strays_is_on_the_plateau():
    planted = planted_hierarchy(30, 3, 0.8, 0.1, 0.1, 0)
    couple = planted.labels // 2
    w = 10.0 * (couple[:, None] == couple) + 5.0 * (couple[:, None] // 2 == couple // 2)
    w += np.triu(np.random.default_rng(0).random((240, 240)), 1)
    strays = [int(np.flatnonzero(couple == c)[0]) for c in range(4)]
    w[strays] -= 2
    w[:, strays] -= 2  # one object of each couple comes last, but in its couple
    aari = average_ari(planted.levels, kernel_average_linkage(np.triu(w, 1) + np.triu(w, 1).T))
    assert abs(aari - PLATEAU.plateau_height(30)) <= PLATEAU.ON_PLATEAU


def test_strays_are_counted_by_the_definition():
    pure = np.repeat(range(4), 3)
    K = np.where(pure[:, None] == pure, 5.0, np.where(pure[:, None] // 2 == pure // 2, 4.0, 0.0))
    np.fill_diagonal(K, 0)
    assert PLATEAU.spread_and_strays(K, pure) == (0, 0)
    K[0, 1:3] = K[1:3, 0] = 3.5  # less than the 4 between the clusters; objects 1 and 2 have (3.5 + 5)/2
    spread, strays = PLATEAU.spread_and_strays(K, pure)
    assert strays == 1 and spread == pytest.approx(np.std([3.5, 4.25, 4.25] + [5] * 9))


def test_direct_votes_are_what_self_pairs_add():
    runs = PLATEAU.stray_runs([1.0], [3], weights=(0, 1, 2), n_pure=4)
    w = planted_hierarchy(4, 3, 0.8, 0.1, 0.1, 3)
    answers = sample_quadruplets(w.similarity, 1.0, 0)
    for row, own in zip(runs.itertuples(), (False, True)):
        K = kernel_passive(answers, self_pairs=own)
        assert row.aari == average_ari(w.levels, kernel_average_linkage(K))
        assert row.strays == PLATEAU.spread_and_strays(K, w.labels)[1]


def test_what_the_design_makes_true_is_not_counted():
    claims = f19_figures.figure_2_claims(summary_of(AS_THE_PAPER_SAYS))
    assert [c.sentence for c in claims if c.word == "by construction"] == [claims[0].sentence]
    assert "not impacted by p" in claims[0].sentence


@pytest.mark.parametrize(
    "curve, start",
    [([0, 0.5, 0.99, 1, 1], 0.6), ([0, 1, 0.9, 1, 1], 0.8), ([1, 1, 1, 1, 1], 0.2), ([1, 1, 1, 1, 0.98], float("inf"))],
)
def test_recovers_from(curve, start):
    assert f19_figures.recovers_from(summary_of({**AS_THE_PAPER_SAYS, "SL": curve}), "SL", 1.0) == pytest.approx(start)


def test_summary_is_mean_and_deviation_in_the_order_of_the_grid():
    values = dict(repetition=[0, 1] * 2, method=["CL"] * 2 + ["SL"] * 2, aari=[1, 0.5, 0, 0])
    table = pd.DataFrame(values).assign(n_pure=2, p=0.1, delta=0.2, comparisons=7, seconds=1.0)
    got = r19.planted_summary(table)
    assert got["method"].tolist() == ["SL", "CL"]
    assert got["aari"].tolist() == [0, 0.75]
    assert got["sd"].tolist() == [0, 0.25]
    assert got["exact"].tolist() == [0, 0.5]
    assert got["snr"].tolist() == [2, 2]


# ---- kept results


def test_full_results_are_preferred_and_their_absence_is_said(tmp_path):
    with pytest.raises(ResultsNotFoundError, match="f19-fig2"):
        readings.kept_results("f19-fig2", tmp_path)
    quick = summary_of(AS_THE_PAPER_SAYS, n_pure=8)
    save_results("f19-fig2-quick", quick, tmp_path)
    kept, kind = readings.kept_results("f19-fig2", tmp_path)
    assert kind == "quick"
    assert f19_figures.describe_setting(kept, kind).startswith("Quick setting, not the paper's: N₀ = 8")
    save_results("f19-fig2", summary_of(AS_THE_PAPER_SAYS), tmp_path)
    kept, kind = readings.kept_results("f19-fig2", tmp_path)
    assert kind == "full"
    assert f19_figures.describe_setting(kept, kind).startswith("The paper's setting: N₀ = 30 (N = 240), 5 values")


# ---- the picture


def test_every_method_has_its_own_colour_and_shape():
    import vl_convert

    assert len(set(f19_figures._COLOURS)) == len(set(r19.SHAPES)) == len(r19.planted_methods)
    text = vl_convert.vegalite_to_svg(f19_figures.planted_chart(summary_of(AS_THE_PAPER_SAYS)).to_json()).lower()
    assert "p = 0.01" in text
    assert "p = 1" in text
    assert "δ/σ" in text
    assert all(name.lower() in text for name in r19.planted_methods)
    assert all(text.count(colour.lower()) >= 2 for colour in f19_figures._COLOURS)


# ---- the command


@pytest.fixture
def small():
    "Both figures with a grid of four runs."
    from dataclasses import replace

    known = [find_reproductions()[name] for name in NAMES]
    grid = [dict(p=p, delta=delta, n_pure=2, repetition=0) for p in (0.1, 1.0) for delta in (0.1, 0.2)]
    for r in known:
        claims._reproductions[r.name] = replace(r, quick_grid=grid, full_grid=grid)
    yield
    for r in known:
        claims._reproductions[r.name] = r


def test_command_lists_the_figures(capsys):
    assert main(["reproduce"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in NAMES) and "Figure S.1" in out and "1100 full" in out


def test_command_writes_the_quick_result(small, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "f19-fig2", "--quick", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    folder = tmp_path / "reproductions"
    assert {path.name for path in folder.iterdir()} == {"f19-fig2.jsonl", "f19-fig2-quick.csv", "f19-fig2-quick.svg"}
    assert err == ""
    assert "claims hold" in out and "SL can hardly recover" in out and out.count("wrote ") == 2
    pd.testing.assert_frame_equal(
        pd.read_csv(folder / "f19-fig2-quick.csv"), reproduce("f19-fig2").summary, rtol=1e-5, check_dtype=False
    )
    journal = (folder / "f19-fig2.jsonl").read_bytes()
    assert main(["reproduce", "f19-fig2", "--quick", "--jobs", "1"]) == 0
    assert (folder / "f19-fig2.jsonl").read_bytes() == journal  # nothing ran again


def test_full_results_also_go_into_the_checkout(small, capsys, tmp_path, monkeypatch):
    from comparison_hc.reproduce import claims

    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(claims, "results_folder", lambda: kept)
    assert main(["reproduce", "f19-figS1", "--jobs", "1", "--folder", str(tmp_path / "here")]) == 0
    assert (kept / "f19-figS1.csv").read_bytes() == (tmp_path / "here/f19-figS1.csv").read_bytes()
    assert (kept / "times.csv").read_text().startswith("name,runs,hours\nf19-figS1,4,")
    assert not (tmp_path / "here/times.csv").exists()
    capsys.readouterr()
    assert main(["reproduce"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if "of one core)" in line] == ["f19-figS1"]


@pytest.mark.parametrize(
    "words, said",
    [
        (["f99-fig1"], "name"),
        (["f19-fig2", "--jobs", "0"], "--jobs"),
        (["f19-fig2", "--jobs", "many"], "--jobs"),
        (["../f19-fig2"], "name"),
    ],
)
def test_command_refuses_in_one_line(small, capsys, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, "reproduce", *words) and not list(tmp_path.iterdir())


def test_command_refuses_another_journal(small, capsys, tmp_path):
    (tmp_path / "f19-fig2.jsonl").write_text("my diary\n")
    assert "journal" in refused(capsys, "reproduce", "f19-fig2", "--quick", "--folder", tmp_path)
    assert (tmp_path / "f19-fig2.jsonl").read_text() == "my diary\n"


def test_failed_runs_are_reported(small, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(r19, "average_ari", lambda truth, tree: 1 / 0)
    assert main(["reproduce", "f19-fig2", "--quick", "--jobs", "1", "--folder", str(tmp_path)]) == 1
    assert "4 of 4 runs failed" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to send")
def test_interrupted_it_says_how_to_continue_and_does(tmp_path):
    code = "import sys; from comparison_hc.cli import main; sys.exit(main())"
    call = [sys.executable, "-c", code, *"reproduce f19-fig2 --quick --jobs 1".split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment)
    journal, end = tmp_path / "reproductions/f19-fig2.jsonl", time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 2) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    done = journal.read_bytes()
    assert process.returncode == 130 and err.count("\n") == 1, err
    assert "the same command continues" in err and "f19-fig2.jsonl" in err
    assert 2 < done.count(b"\n") < 76
    r = find_reproductions()["f19-fig2"]
    run_experiment(r.function, r.quick_grid[:4], journal, paired=r.paired)  # the journal is taken up
    assert journal.read_bytes().startswith(done)
