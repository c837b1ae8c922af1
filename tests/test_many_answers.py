"""Machine code for millions of answers, on small ones: the same bytes as the slow way; and the benchmark's words."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_hierarchical import random_rows

from comparison_hc import Quadruplets, Triplets
from comparison_hc.core import kernels
from comparison_hc.core.compiled import has_numba
from comparison_hc.hierarchical import _linkage_state, _triplet_wins
from comparison_hc.hierarchical.average import _merge_by_score, quadruplet_average_linkage
from comparison_hc.hierarchical.kernel import kernel_passive
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.hierarchical.triplets import triplet_average_linkage
from comparison_hc.oracles import sample_quadruplets

needs_numba = pytest.mark.skipif(not has_numba(), reason="needs numba")


def some_answers(seed, repeated):
    "Answers about 24 objects, of which some are repeated and contradicted."
    rng = np.random.default_rng(seed)
    answers = sample_quadruplets(planted_hierarchy(3, 3, 0.8, 0.1, 0.1, seed).similarity, 0.3, rng)
    if not repeated:
        return answers
    return answers.take(rng.integers(len(answers), size=2 * len(answers))).flip(0.3, rng)


@given(st.integers(0, 2**32 - 1))
def test_every_form_of_wins_gives_the_same_update_and_the_same_merges(seed):
    rng, n, P = np.random.default_rng(seed), 9, 36
    answers = Quadruplets(random_rows(rng, n, 300, 4), n)
    winner, loser = answers.winners_and_losers()
    net_wins = np.zeros((P, P), dtype=np.int64)
    np.add.at(net_wins, (winner, loser), 1)
    forms = [_linkage_state.DenseWins(net_wins - net_wins.T), _linkage_state.SparseWins(answers)]
    forms.append(_linkage_state.SparseWins(answers, np.full(len(answers), 2.0)))
    change, pairs, weights = rng.normal(size=7), rng.choice(P, 7, replace=False), rng.normal(size=P)
    for wins, scale in zip(forms, (1, 1, 2)):
        for expected, arguments in (
            (-change @ forms[0].net_wins[pairs], (change, pairs)),
            (forms[0].net_wins @ weights, (weights,)),
        ):
            some, values = wins.score_update(*arguments)
            found = np.bincount(np.arange(P)[some], values, P)
            np.testing.assert_allclose(found, scale * expected, atol=1e-10)
        assert _merge_by_score(wins, np.arange(n)).tolist() == quadruplet_average_linkage(answers).children.tolist()


@needs_numba
@pytest.mark.parametrize("repeated", [False, True])
def test_many_answers_give_the_same_tree_and_kernel(monkeypatch, repeated):
    for seed in range(3):
        answers = some_answers(seed, repeated)
        slow = [quadruplet_average_linkage(answers, initial).linkage_matrix for initial in (None, np.arange(24) // 2)]
        exact = [kernel_passive(answers, self_pairs=own) for own in (False, True)]
        with monkeypatch.context() as patch:
            patch.setattr(_linkage_state, "MANY_ANSWERS", 1)
            patch.setattr(kernels, "_bits_are_cheapest", lambda *sizes: True)
            patch.setattr(kernels, "majority_matrix", None)  # must not be called
            patch.setattr(_linkage_state, "comparison_matrices", None)
            fast = [quadruplet_average_linkage(answers, i).linkage_matrix for i in (None, np.arange(24) // 2)]
            bits = [kernel_passive(answers, self_pairs=own) for own in (False, True)]
        for one, other in zip(slow + exact, fast + bits):
            assert one.dtype == other.dtype and one.tobytes() == other.tobytes()


@needs_numba
def test_more_pairs_than_16_bits_count(monkeypatch):
    rng = np.random.default_rng(0)
    answers = Quadruplets(np.array([rng.permutation(370)[:4] for _ in range(400)]), 370)
    sparse = _linkage_state.SparseWins(answers)
    monkeypatch.setattr(_linkage_state, "MANY_ANSWERS", 1)
    compiled = _linkage_state.SparseWins(answers)
    assert compiled.opponents[0].dtype == np.int32 and compiled.compiled and not sparse.compiled
    weight = rng.random(370 * 369 // 2)
    assert compiled.score_update(weight)[1].tobytes() == sparse.score_update(weight)[1].tobytes()


def test_answers_with_weights_are_not_compiled(monkeypatch):
    answers = some_answers(0, False)
    monkeypatch.setattr(_linkage_state, "MANY_ANSWERS", 1)
    assert not _linkage_state.SparseWins(answers, np.ones(len(answers))).compiled


def test_bits_pay_off_for_dense_answers_only():
    assert not kernels._bits_are_cheapest(240, 1_000_000) and not kernels._bits_are_cheapest(1000, 20_000_000)
    assert kernels._bits_are_cheapest(240, 41_000_000) == has_numba()


def script(name, monkeypatch):
    "A script of tests/benchmarks as a module."
    monkeypatch.syspath_prepend(Path(__file__).with_name("benchmarks"))
    return import_module(name)


@pytest.mark.parametrize("name", sorted(path.stem for path in Path(__file__).with_name("benchmarks").glob("*.py")))
def test_benchmarks_find_the_names_that_they_import(name, monkeypatch):
    assert script(name, monkeypatch).__doc__


def test_a_benchmark_that_fails_says_one_sentence(monkeypatch):
    run = script("run", monkeypatch)
    assert run.one_sentence('Traceback\n  File "x"\nx.InputError: data are not here. Set the folder\n\n') == (
        "data are not here."
    )
    assert run.one_sentence("") == "no word of why."
    monkeypatch.setenv("COMPARISON_HC_DATA", "/nowhere")
    line = run.line_of("no such benchmark", "1")
    assert "failed: 'no such benchmark'." in line and len(line.splitlines()) == 1
    assert set(run.GOALS) <= set(run.BENCHMARKS) and all(seconds > 0 for seconds, _ in run.GOALS.values())


def test_the_scale_table_is_of_the_methods_that_are_measured(monkeypatch):
    import pandas as pd

    scale = script("scale", monkeypatch)
    table = pd.read_csv(scale.RESULTS / "scale.csv")
    assert set(table.method) == set(scale.METHODS)
    wanted = [(name, n) for name, (_, sizes) in scale.METHODS.items() for n, _ in sizes]
    assert sorted(zip(table.method, table.objects)) == sorted(wanted)


class EveryLink:
    "What `BestLinks` replaces: all scores before every merge."

    def __init__(self, sums, size, both=False):
        self.sums, self.size, self.both = sums, size, both
        self.mask = np.where(np.triu(np.ones(sums.shape, bool), 1), 0, -np.inf)

    def first(self, scale):
        sums = self.sums + self.sums.T if self.both else self.sums
        score = sums / np.outer(self.size, self.size) + self.mask
        scale = max(scale, score.max())
        return divmod(int(np.argmax(score >= score.max() - 1e-12 * scale)), len(self.size)), scale

    def merged(self, a, b, flat=None):
        self.mask[b] = self.mask[:, b] = -np.inf


@given(st.integers(0, 2**32 - 1), st.integers(5, 90), st.booleans())
def test_rows_that_keep_their_best_link_need_no_second_look(seed, n, weighed):
    "Few answers leave many ties and change few links; many change all. The merges are the same, bit for bit."
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, 30 * n))
    rows = random_rows(rng, n, n_rows, 3)
    answers = Triplets(rows, n, weights=rng.integers(1, 4, len(rows)) if weighed else None)
    initial = None if rng.random() < 0.5 else rng.permutation(n) // 2
    methods = quadruplet_average_linkage, triplet_average_linkage
    fast = [method(answers, initial).linkage_matrix.tobytes() for method in methods]
    with pytest.MonkeyPatch.context() as patch:
        for module in (_linkage_state, _triplet_wins):
            patch.setattr(module, "BestLinks", EveryLink)
        assert fast == [method(answers, initial).linkage_matrix.tobytes() for method in methods]
