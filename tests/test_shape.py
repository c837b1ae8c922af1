"""What shape answers have: the models' losses and gradients, the noise ceiling, worlds of known shape, the command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import random_tree
from comparison_hc.evaluation import answer_shape, repeat_ceiling, shape

N = 16


def answers_from(distances, m, seed, scale=3.0):
    "Triplets answered with the probabilities of the model, from distances with a standard deviation of `scale`."
    rng = np.random.default_rng(seed)
    D = scale * distances / distances[np.triu_indices(len(distances), 1)].std()
    rows = np.array([rng.permutation(len(D))[:3] for _ in range(m)])
    i, j, k = rows.T
    wrong = rng.random(m) > 1 / (1 + np.exp(D[i, j] - D[i, k]))
    rows[wrong] = rows[wrong][:, [0, 2, 1]]
    return Triplets(rows, len(D))


def of_points(d, seed=0):
    x = np.random.default_rng(seed).random((N, d))
    return np.linalg.norm(x[:, None] - x, axis=2)


def of_groups(seed=0):
    tree = random_tree(N, seed)
    return np.sort(np.random.default_rng(seed).random(N))[tree.lca_step()] * (1 - np.eye(N))


@pytest.mark.parametrize(
    "world, expected", [(of_points(1), "line"), (of_points(2), "points-2"), (of_groups(), "dendrogram")]
)
def test_known_shapes_are_named(world, expected):
    found = answer_shape(answers_from(world, 3000, 1), n_splits=4)
    assert found.shape == expected and found.sentence in repr(found)
    table = found.table.set_index("shape")
    assert table.loss["chance"] == pytest.approx(np.log(2)) and table.agreement["chance"] == 0.5
    assert table.ties["chance"] == 1 and table.ties["line"] == 0 < table.ties["dendrogram"]
    assert table.agreement[expected] > 0.7 and (table.worse >= 0).all() and table.worse.min() == 0


def test_a_simpler_shape_than_the_best_is_called_so():
    "A hierarchy from few answers: the sentence names the best shape, too, and says that the difference may be chance."
    found = answer_shape(answers_from(of_groups(), 150, 1), n_splits=3)
    table = found.table.set_index("shape")
    assert found.shape == table.index[table.worse_low <= 0][0] != table.loss.idxmin()
    assert found.sentence.endswith(f"is that of {table.title[table.loss.idxmin()]}, but the difference may be chance.)")


def test_answers_by_chance_have_no_shape():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(N)[:3] for _ in range(1000)])
    assert answer_shape(Triplets(rows, N), n_splits=3).shape == "chance"


def slow_loss(D, answers):
    return sum(np.log1p(np.exp(D[i, j] - D[i, k])) for i, j, k in answers.array.tolist())


def test_models_minimise_their_penalised_loss():
    answers, rng = answers_from(of_points(2), 200, 2), np.random.default_rng(0)
    D, X, value = shape.point_distances(answers, rng.normal(size=(N, 2)))
    gap = np.linalg.norm(X[:, None] - X, axis=2)
    assert value == pytest.approx(slow_loss(gap, answers) + shape.RIDGE * np.sum(X**2), rel=1e-3)
    for step in 0.05 * rng.normal(size=(20, N, 2)):
        moved = np.linalg.norm((X + step)[:, None] - (X + step), axis=2)
        assert slow_loss(moved, answers) + shape.RIDGE * np.sum((X + step) ** 2) > value - 1e-2
    tree = random_tree(N, 3)
    D, value = shape.dendrogram_distances(answers, tree)
    lca = tree.lca_step()
    heights = np.array([D[lca == step].mean() for step in range(1, N)])
    assert all(np.ptp(D[lca == step]) < 1e-9 for step in range(1, N)) and abs(heights[-1]) < 1e-9
    above = {s: min(t for a in range(N) for t in lca[a][lca[a] > s] if s in lca[a]) for s in range(1, N - 1)}
    lengths = np.array([heights[above[s] - 1] - heights[s - 1] for s in range(1, N - 1)])
    assert lengths.min() > -1e-9  # a merge is not farther than the next one above it
    assert value == pytest.approx(slow_loss(D, answers) + shape.RATE * lengths.sum(), rel=1e-6)
    for s in range(1, N - 1):  # longer or shorter by a little: a part of the tree moves up or down as a whole
        below = [t for t in range(1, N - 1) if t == s or s in _line(t, above)]
        for step in (0.05, -min(0.05, lengths[s - 1])):
            moved = D - step * np.isin(lca, below)
            assert slow_loss(moved, answers) + shape.RATE * (lengths.sum() + step) > value - 1e-3


def _line(step, above):
    "Merges above a merge."
    while step in above:
        step = above[step]
        yield step


def test_ceiling_of_repeated_questions():
    rng, covered, a = np.random.default_rng(0), 0, 0.5
    integral = quad(lambda p: max(p, 1 - p) * beta.pdf(p, a, a), 0, 1, points=[0.5])[0]
    questions = [(i, j, k) for i in range(12) for j in range(12) for k in range(j) if i not in (j, k)][:400]
    for _ in range(40):
        p = rng.beta(a, a, len(questions))
        rows = [q if rng.random() < one else (q[0], q[2], q[1]) for q, one in zip(questions, p) for _ in range(3)]
        found = repeat_ceiling(rows)
        assert found["n_questions"] == 400
        covered += found["low"] <= integral <= found["high"]
    assert 34 <= covered  # of 40 intervals of 95%
    entropy = quad(lambda p: -(p * np.log(p) + (1 - p) * np.log(1 - p)) * beta.pdf(p, a, a), 0, 1)[0]
    assert found["loss"] == pytest.approx(entropy, abs=0.05) and found["agreement"] == pytest.approx(integral, abs=0.05)
    assert repeat_ceiling(questions) is None


def test_bad_input():
    good = answers_from(of_points(1), 300, 0)
    for bad, word in (
        (dict(answers=[[0, 1, 2]]), "answers"),
        (dict(held_out=["trees"]), "held_out"),
        (dict(held_out=[]), "held_out"),
        (dict(n_splits=2), "n_splits"),
        (dict(held_out=["people"]), "people"),
    ):
        with pytest.raises(InputError, match=f"^{word} must"):
            answer_shape(**({"answers": good} | bad))


def test_compare_shows_the_shape_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    answers = answers_from(of_points(1), 1500, 0)
    Triplets(answers, respondents=rng.integers(8, size=1500)).to_csv("a.csv")
    words = ["compare", "a.csv", "--splits", "3", "--shape-out"]
    assert main([*words, "s.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("shape of the answers\n") and out.index("lie on a line") < out.index("3–AL")
    record = json.loads(Path("s.json").read_text())
    assert record["shape"] == "line" and {row["held_out"] for row in record["table"]} == {"people"}
    assert main([*words, "s.csv", "--shape", "full"]) == 0
    assert set(pd.read_csv("s.csv").held_out) == {"people", "questions", "answers"}
    answers.take(slice(0, 50)).to_csv("few.csv")
    assert main(["compare", "few.csv", "--splits", "3"]) == 0 and "not tested" in capsys.readouterr().out
    assert main(["compare", "a.csv", "--shape", "no", "--splits", "3"]) == 0
    assert "shape of the answers" not in capsys.readouterr().out
    assert main([*words, "s.csv", "--shape", "no"]) == 2 and "--shape-out must be" in capsys.readouterr().err
    monkeypatch.setattr("comparison_hc.cli.compare.MANY_FOR_SHAPE", 5)
    assert main(["compare", "a.csv", "--splits", "3"]) == 0
    assert "not tested, which takes long for more than 5 objects (--shape full" in capsys.readouterr().out
    assert main([*words, "s.csv"]) == 2 and "together with --shape full" in capsys.readouterr().err
