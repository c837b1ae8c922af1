"The forecast of a study: what halves measure, worlds like the pilot, and whether the ranges hold what is reached."

from pathlib import Path

import numpy as np
import pytest
from benchmarks.planner import forecast_coverage
from shared import by_name, refusals

from comparison_hc import Triplets, load_dataset
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.evaluation.model_selection import held_out_agreement
from comparison_hc.reproduce.claims import load_results
from comparison_hc.whatif import forecast as module
from comparison_hc.whatif import forecast_study, halves_of_study
from comparison_hc.whatif.designs import study_rows


def a_study(similarity, rows, noise, seed):
    rng = np.random.default_rng(seed)
    return Triplets(study_rows("triplets", similarity, rows, rows, noise, rng), len(similarity))


def test_halves_measure_what_they_say(monkeypatch):
    "Every half is judged by the tree of the other one, and no set of three objects is in both."
    answers, built = a_study(module.draw_similarity(12, np.random.default_rng(3)), 300, 0.1, 3), []
    build = module.build_hierarchy

    def kept(method, half):
        built.append((half, build(method, half)[0]))
        return built[-1][1], None

    monkeypatch.setattr(module, "build_hierarchy", kept)
    found = halves_of_study(answers, n_splits=1)
    (first, one), (second, other) = built
    sets = [{tuple(sorted(row)) for row in half.array.tolist()} for half in (first, second)]
    assert not sets[0] & sets[1] and len(first) + len(second) == len(answers)

    class Model:
        def __init__(self, tree):
            self.dendrogram_ = tree

    judged = held_out_agreement(Model(one), second), held_out_agreement(Model(other), first)
    assert found["agreement"] == pytest.approx(np.mean(judged))
    assert found["stability"] == module.stability(one, other) == module.stability(other, one)


def test_stability_is_one_for_equal_trees_and_counts_objects_that_move():
    tree = Dendrogram.from_merges([(0, 1), (4, 2), (5, 3)])
    assert module.stability(tree, tree) == 1
    moved = Dendrogram.from_merges([(0, 1), (4, 3), (5, 2)])
    assert module.stability(tree, moved) == pytest.approx(0.5)  # {0, 1} stays, {0, 1, 2} is not nearer than all four


def test_local_regression_is_exact_where_the_relation_is_linear():
    "Worlds in which the study is a linear function of the pilot: the corrected values are those of the pilot seen."
    rng = np.random.default_rng(0)
    signs = rng.normal(size=(4000, 3))
    values = signs @ rng.normal(size=(3, 2)) + [1.0, -2.0]
    coefficient = np.linalg.lstsq(np.column_stack([np.ones(4000), signs]), values, rcond=None)[0]
    seen = np.array([0.3, -0.2, 0.1])
    corrected, weights, is_near = module._looking_like(seen, signs, values)
    expected = np.r_[1, seen] @ coefficient
    assert is_near and (weights > 0).all() and np.abs(corrected - expected).max() < 0.02
    assert not module._looking_like(np.array([9.0, 9, 9]), signs, values)[2]


def test_weighted_quantiles_are_those_of_repeated_values():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=300), rng.integers(1, 5, 300)
    repeated = np.repeat(values, weights)
    found = module._quantiles(values, weights.astype(float), [0.1, 0.5, 0.9])
    np.testing.assert_allclose(found, np.quantile(repeated, [0.1, 0.5, 0.9]), atol=0.06)


def test_a_clear_pilot_promises_more_than_a_noisy_one_and_no_pilot_promises_little():
    similarity = module.draw_similarity(16, np.random.default_rng(4))
    clear, noisy = (a_study(similarity, 500, noise, 5) for noise in (0.02, 0.4))
    found = {
        name: forecast_study(3000, pilot, 16, n_worlds=60).table.set_index("measure")
        for name, pilot in (("clear", clear), ("noisy", noisy), ("none", None))
    }
    for measure in module.MEASURES:
        rows = {name: table.loc[measure] for name, table in found.items()}
        assert rows["noisy"].forecast < rows["clear"].forecast
        assert all(0 <= row.low < row.forecast < row.high <= 1 for row in rows.values())
        assert rows["none"].high - rows["none"].low > rows["clear"].high - rows["clear"].low
    again = forecast_study(3000, clear, 16, n_worlds=60).table.set_index("measure")
    assert again.equals(found["clear"])


def test_ranges_hold_what_worlds_of_the_prior_reach():
    "Pilots and studies of the prior itself: the stated 80% range, made wider, holds at least three quarters."
    inside = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        similarity, noise = module.draw_similarity(12, rng), rng.uniform(0, 0.4)
        reached = halves_of_study(a_study(similarity, 1500, noise, seed + 100), rng=seed)
        table = forecast_study(1500, a_study(similarity, 300, noise, seed), n_worlds=50, rng=seed).table
        inside += [row.low <= reached[row.measure] <= row.high for row in table.itertuples()]
    assert np.mean(inside) >= 0.75


def test_ranges_hold_what_people_reach():
    "Answers about animals, of which half is held back; and the kept run for every data set."
    answers = load_dataset("animals").triplets
    cases = {"animals": (Triplets(answers.array, answers.n_objects), "odd-one-out")}
    found = forecast_coverage(cases, (300,), 2, 4000, 60, 1)
    assert found.measure.value_counts().to_dict() == dict.fromkeys(module.MEASURES, 2) and found.inside.mean() >= 0.75
    kept = load_results("forecast-coverage", Path(__file__).parents[1] / "nbs/whatif/results")
    inside = (kept.low <= kept.reached) & (kept.reached <= kept.high)
    assert (inside == kept.inside).all() and (inside.groupby(kept.case).mean() >= 0.75).all()


def test_the_assumption_comes_first_and_every_measure_is_defined():
    first, ranges, *defined = forecast_study(500, n_objects=12, n_worlds=40).sentences()
    assert first.startswith("Assumed: no pilot") and "80%" in ranges and "agreement" in ranges and "stability" in ranges
    assert [text.split(":")[0].lower() for text in defined] == list(module.MEASURES)


test_bad_forecasts = refusals(
    ("n_objects must be an integer from 6", by_name(forecast_study, "n_objects", 500), 5),
    ("n_worlds must be an integer from 40", by_name(forecast_study, "n_worlds", 500, n_objects=12), 5),
    ("design must be one of", by_name(forecast_study, "design", 500, n_objects=12), "pairs"),
    ("noise must be", by_name(forecast_study, "noise", 500, n_objects=12), 0.5),
    ("pilot must be at least 60 answers", by_name(forecast_study, "pilot", 500), Triplets([[0, 1, 2]], 8)),
)
