"The command that compares results everywhere: its main paths in a strange place, and that it can turn red."

import subprocess
import sys

import numpy as np
import pytest
from benchmarks import same_bits

from comparison_hc.adaptive import InconsistentTriplets, consistent_hierarchy
from comparison_hc.comparisons import linked_groups
from comparison_hc.flat.sdp import labels_from_solution


@pytest.fixture(scope="module")
def here():
    return {"about": "here", **dict(same_bits.results(1))}


def test_other_processes_another_language_and_another_order_of_sets_give_the_same_bits(here):
    "New processes begin anew (as on Windows and macOS), text has seven bits unless it is said, sets are shuffled."
    names = dict(LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONHASHSEED="7")
    there = same_bits.column(sys.executable, 2, method="spawn", **names)
    assert isinstance(there, dict), there
    rows, broken = same_bits.show({"here": here, "there": there})
    assert len(rows) >= 28 and broken == []


@pytest.mark.parametrize(
    "name, change, is_red",
    [
        ("f19 4-al", 1e-15, True),  # of a tree every bit counts
        ("t-STE", 1e-8, False),
        ("t-STE", 1e-5, True),
        ("SDP", 1e-12, False),
        ("SDP", 1e-5, True),
        ("whatif", None, True),  # it is missing
    ],
)
def test_a_result_that_is_further_away_than_promised_is_named(here, name, change, is_red, capsys):
    there = dict(here)
    digest, numbers = there.pop(name)
    if change is not None:
        there[name] = ["another", [numbers[0] + change, *numbers[1:]]]
    rows, broken = same_bits.show({"here": here, "there": there})
    assert broken == [f"{name}, there"] * is_red
    assert ("broken promises: none" in capsys.readouterr().out) is not is_red


def test_a_kind_of_processor_that_is_not_this_one_is_left_out_and_named(here, monkeypatch, capsys):
    "An instruction that a processor lacks ends the process by SIGILL; every other end is a broken promise."
    illegal = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGILL)"]
    ended = subprocess.run(illegal, capture_output=True, text=True)
    monkeypatch.setattr(same_bits.subprocess, "run", lambda *words, **how: ended)
    missing, failed = same_bits.column("python", OPENBLAS_CORETYPE="SkylakeX"), same_bits.column("python")
    rows, broken = same_bits.show({"here": here, "SkylakeX": missing, "2 workers": failed})
    assert broken == [f"{name}, 2 workers" for name, _ in rows]
    said = capsys.readouterr().out
    assert "SkylakeX: left out, this processor lacks its instructions" in said
    assert f"{len(rows)} results, 1 places" in said


@pytest.mark.parametrize("name", ["connected_components", "minimum_spanning_tree"])
def test_graphs_have_vertices_of_32_bits(name, monkeypatch):
    "SciPy 1.11 answers wider ones with rubbish and no exception, SciPy on a platform of 32 bits refuses them."
    import scipy.sparse.csgraph as graphs

    usual, widths = getattr(graphs, name), []

    def narrow(graph, *words, **how):
        widths.append({indices.dtype.itemsize for indices in graph.tocoo().coords})
        return usual(graph, *words, **how)

    monkeypatch.setattr(graphs, name, narrow)
    assert linked_groups(4, np.array([(0, 1), (2, 1)], dtype=np.int64)).tolist() == [0, 0, 0, 1]
    with pytest.raises(InconsistentTriplets):
        consistent_hierarchy([(0, 1, 2), (5, 4, 0), (1, 2, 3), (2, 3, 1), (0, 1, 4)])
    assert labels_from_solution(np.kron(np.eye(2), np.ones((2, 2)) / 2)).tolist() == [0, 0, 1, 1]
    assert widths and all(width == {4} for width in widths)
