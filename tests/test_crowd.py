"""People against the others' tree, their consistency, whom to look at, and weights, on planted crowds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import by_name, refusals

from comparison_hc.cli.people import biased_people
from comparison_hc.comparisons import Triplets
from comparison_hc.elicitation.crowd import (
    crowd_table,
    crowd_weights,
    flag_outliers,
    held_out_correctness,
    intra_rater_agreement,
    log_odds,
    make_crowd,
)
from comparison_hc.hierarchical.planted import planted_hierarchy
from comparison_hc.hierarchical.triplets import triplet_average_linkage
from comparison_hc.methods import build_hierarchy
from comparison_hc.metrics import agreement
from comparison_hc.oracles import sample_triplets

SEEN = planted_hierarchy(3, 2, 0.8, 0.2, 0.05, 0).similarity


def crowd(right, n_answers=80, seed=0):
    return make_crowd(SEEN, n_answers, right, seed)


def test_planted_people_are_as_often_right_as_planted():
    said = crowd([1.0, 0.0, 0.7], 200)
    i, j, k = said.array.T
    is_right = SEEN[i, j] > SEEN[i, k]
    shares = [is_right[said.respondents == who].mean() for who in ("p00", "p01", "p02")]
    assert shares[:2] == [1, 0] and abs(shares[2] - 0.7) < 0.12


def test_against_the_others_is_its_definition():
    said = crowd([0.9, 0.8, 0.5, 0.2])
    for n_jobs in (1, 2):
        verdict = held_out_correctness(said, "3-al", n_jobs)
        for who in ("p00", "p01", "p02", "p03"):
            tree, _ = build_hierarchy("3-al", said.without_people(who))
            found = agreement(tree, said.take(said.respondents == who))
            own = verdict[said.respondents == who]
            assert (np.sum(own > 0), np.sum(own < 0)) == (found.agree, found.disagree)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=30))
def test_consistency_is_counted_pair_by_pair(said):
    asked = [(0, 1, 2), (1, 0, 2), (3, 1, 2)]
    rows, who = [[0, 1, 2]] * 2, ["x", "y"]
    for person, question, turned in said:
        i, j, k = asked[question]
        rows.append([i, k, j] if turned else [i, j, k])
        who.append(f"{person}")
    found = intra_rater_agreement(Triplets(rows, 4, respondents=who))
    for number, name in enumerate(sorted(set(who))):
        own = [tuple(row) for row, w in zip(rows, who) if w == name]
        pairs = [(a, b) for x, a in enumerate(own) for b in own[:x] if a[0] == b[0] and set(a) == set(b)]
        assert found[number].tolist() == [sum(a == b for a, b in pairs), len(pairs)]


@pytest.mark.parametrize("kind", ["odd-one-out", "central"])
def test_consistency_counts_responses_that_are_two_rows(kind):
    "Two different responses about three objects share one question only: rows would look more consistent."
    make = dict(zip(("odd-one-out", "central"), (Triplets.from_odd_one_out, Triplets.from_central)))[kind]
    three = [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    chosen = [0, 1, 0, 2, 0]  # of one person; the pairs (0, 2), (0, 4), (2, 4) are equal
    both = make([three[at] for at in chosen] + [[0, 2, 1]], 3, respondents=["x"] * 5 + ["y"])
    assert intra_rater_agreement(both).tolist() == [[3, 10], [0, 0]]
    rows = both.take(np.arange(1, len(both)))  # a row is missing: nothing says that two rows are one response
    assert intra_rater_agreement(rows)[0].tolist() != [3, 10]


def test_the_table_finds_spammers_and_adversaries():
    right = [0.95] * 8 + [0.5, 0.05]
    said = crowd(right, 120)
    before = said.array.copy(), said.respondents.copy()
    table = crowd_table(said, "3-al").set_index("person")
    assert table.look[["p08", "p09"]].any() and not table.look[[f"p{p:02d}" for p in range(8)]].any()
    assert table.agreement.idxmin() == "p09" and (table.share == 0.1).all() and table.answers.sum() == 1200
    assert "first place" not in table
    np.testing.assert_array_equal(said.array, before[0])
    np.testing.assert_array_equal(said.respondents, before[1])


def test_position_bias():
    said = crowd([0.9, 0.9, 0.9], 50)
    places = np.where(said.respondents == "p01", 0, np.arange(150) % 2)
    table = crowd_table(said, "3-al", places=places).set_index("person")
    assert table["first place"]["p01"] == 1 and abs(table["first place"]["p00"] - 0.5) < 0.1
    assert biased_people(said, places, 2) == ["p01"]
    unknown = np.where(said.respondents == "p00", -1, places)
    table = crowd_table(said, "3-al", places=unknown).set_index("person")
    assert np.isnan(table["first place"]["p00"]) and table["first place"]["p01"] == 1
    assert biased_people(said, unknown, 2) == ["p01"]


def test_whom_to_look_at():
    share, decided = np.array([0.8, 0.82, 0.78, 0.81, 0.6, 0.5, 0.1, np.nan]), np.array([50] * 6 + [19, 0])
    assert flag_outliers(share, decided).tolist() == [False] * 4 + [True, True, False, False]
    assert not flag_outliers(share, decided, 51).any()
    assert not flag_outliers(np.array([0.7, 0.7, 0.9]), np.array([30] * 3)).any()


def test_log_odds():
    np.testing.assert_allclose(log_odds(np.array([0.5, 0.9, 0.1])), [0, np.log(9), 0], atol=1e-12)
    assert log_odds(np.array([0.2, 0.5])).tolist() == [1, 1]


@pytest.mark.parametrize("method", ["3-al", "4-al"])
def test_weights_tell_people_apart(method):
    right = np.array([0.95] * 6 + [0.75] * 4 + [0.5] * 3 + [0.05] * 2)
    found = crowd_weights(crowd(right, 150), method)
    assert found.people == tuple(f"p{p:02d}" for p in range(15))
    assert found.weights[right < 0.3].max() == 0
    assert found.weights[right == 0.95].min() > found.weights[right == 0.5].max()
    assert np.corrcoef(found.reliability, right)[0, 1] > 0.9
    np.testing.assert_array_equal(found.answer_weights.reshape(15, 150), found.weights[:, None] * np.ones(150))


def test_weights_help_where_half_are_adversaries_or_spammers():
    new, gains = sample_triplets(SEEN, 1.0, 0), []
    for seed in range(4):
        said = crowd([0.95] * 8 + [0.5] * 4 + [0.1] * 3, 40, seed)
        shares = []
        for tree in (triplet_average_linkage(said), crowd_weights(said, "3-al").dendrogram):
            seen = agreement(tree, new)
            shares.append(seen.agree / (seen.agree + seen.disagree))
        gains.append(shares[1] - shares[0])
    assert np.mean(gains) > 0.02


def test_the_same_seed_gives_the_same_weights():
    said, told = crowd([0.9, 0.8, 0.5, 0.3]), []
    one, two = (crowd_weights(said, "3-al", rng=4, progress=lambda *step: told.append(step)) for _ in range(2))
    np.testing.assert_array_equal(one.reliability, two.reliability)
    assert one.dendrogram == two.dendrogram and told[0] == (1, 10)


def test_nobody_better_than_a_coin_still_gives_a_tree():
    found = crowd_weights(crowd([0.0, 1.0], 60), "3-al")
    assert found.dendrogram.n_leaves == 12


TWO = crowd([0.9, 0.9])
test_errors_name_the_argument = refusals(
    ("answers must be", crowd_table, Triplets([[0, 1, 2]]), Triplets([[0, 1, 2]], respondents=["a"])),
    ("places must be", by_name(crowd_table, "places", TWO), [1], np.full(160, -2)),
    ("min_decided must be", by_name(crowd_table, "min_decided", TWO), 0),
    ("method must be", lambda method: crowd_weights(TWO, method), "4k-al"),
    ("n_folds must be", by_name(crowd_weights, "n_folds", TWO), 1),
    ("max_rounds must be", by_name(crowd_weights, "max_rounds", TWO), 0),
    ("tol must be", by_name(crowd_weights, "tol", TWO), -1),
    ("people must be", lambda people: TWO.without_people(people), ["Nobody"], ["p00", "p01"]),
    ("people must be", Triplets([[0, 1, 2]]).without_people, ["p00"]),
)


def test_people_with_numbers_for_names():
    said = Triplets([[0, 1, 2], [1, 0, 2]], respondents=[1, 2])
    assert said.without_people(["1"]) == said.take([1]) == said.without_people([1])


def test_on_the_survey_of_cars(dataset_or_skip):
    survey = dataset_or_skip("car", collection="survey").triplets
    table = crowd_table(survey, "3k-al")
    assert len(table) == 146 and table.answers.sum() == len(survey) == 14194
    assert 0.6 < np.average(table.agreement, weights=table.decided) < 0.9
