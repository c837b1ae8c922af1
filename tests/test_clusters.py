"""A Dask cluster of four processes gives what one process gives, also when a worker is killed in the middle."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from comparison_hc import InputError, Triplets
from comparison_hc.core.clusters import memory_of_workers, on_cluster, peak_memory, spread
from comparison_hc.evaluation.parts import adds_from_parts, votes_from_parts
from comparison_hc.evaluation.support import bootstrap_support
from comparison_hc.flat.similarity import adds3, adds4
from comparison_hc.hierarchical.average import quadruplet_average_linkage
from comparison_hc.hierarchical.kernel import kernel_average_linkage, kernel_passive
from comparison_hc.oracles import sample_quadruplets
from comparison_hc.reproduce.experiments import example_run, parameter_grid, run_experiment
from comparison_hc.whatif import whatif


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    settings = {"distributed.worker.daemon": True, "distributed.admin.large-graph-warning-threshold": "100MB"}
    import dask

    with dask.config.set(settings):
        options = dict(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None)
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client


def killer(client, at):
    "A progress function that kills a worker once, after so many pieces."
    workers = client.run(os.getpid)

    def progress(done, total):
        if done == at and workers:
            process = workers.popitem()[1]
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    killed = []
    progress.killed = killed
    return progress


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    return Triplets([rng.permutation(8)[:3] for _ in range(900)], 8)


def test_bootstrap_with_a_worker_killed_in_the_middle(client, answers):
    tree = quadruplet_average_linkage(answers)
    alone = bootstrap_support(tree, answers, "4-al", 40, rng=3)
    watch = killer(client, 5)
    with on_cluster(client):
        shared = bootstrap_support(tree, answers, "4-al", 40, rng=3, progress=watch)
    assert len(watch.killed) == 1
    np.testing.assert_array_equal(shared.values, alone.values)
    assert shared.trees == alone.trees


def test_experiments_and_whatif(client, tmp_path):
    grid = parameter_grid(ratio=[1.0, 2.0], p=0.2, n_pure=2, repetition=range(4))
    alone = run_experiment(example_run, grid)
    watch = killer(client, 2)
    with on_cluster(client):
        shared = run_experiment(example_run, grid, tmp_path / "runs.jsonl", progress=watch)
        again = run_experiment(example_run, grid, tmp_path / "runs.jsonl")
        swept = whatif("planted", n_pure=2, n_levels=2, p=[0.2, 0.5], repeat=2)
    assert len(watch.killed) == 1
    pd.testing.assert_frame_equal(shared.drop(columns="seconds"), alone.drop(columns="seconds"), check_exact=True)
    pd.testing.assert_frame_equal(again, shared)
    here = whatif("planted", n_pure=2, n_levels=2, p=[0.2, 0.5], repeat=2)
    pd.testing.assert_frame_equal(swept.table.drop(columns="seconds"), here.table.drop(columns="seconds"))


def test_sums_and_votes_of_parquet_parts(client, tmp_path):
    rng = np.random.default_rng(1)
    w = rng.random((9, 9))
    quadruplets = sample_quadruplets(w + w.T, 1.0, 2)
    quadruplets = quadruplets.take(rng.integers(len(quadruplets), size=2000)).flip(0.4, 3)  # repeated and contradicted
    for part in range(5):
        rows = quadruplets.array[part::5].astype(np.int64)
        pd.DataFrame(rows, columns=list("ijkl")).to_parquet(tmp_path / f"{part}.parquet")
    told = []
    with on_cluster(client.cluster.scheduler_address):
        sums = adds_from_parts(tmp_path, "quadruplets", 9, progress=lambda *at: told.append(at))
        votes = votes_from_parts(tmp_path, "quadruplets", 9, progress=(watch := killer(client, 2)))
    assert len(watch.killed) == 1
    assert told == [(done, 5) for done in range(1, 6)]
    here = votes_from_parts(tmp_path, "quadruplets", 9)
    np.testing.assert_array_equal(votes.question, here.question)
    np.testing.assert_array_equal(votes.balance, here.balance)
    np.testing.assert_array_equal(sums.similarity(), adds4(quadruplets))
    merged = votes.quadruplets()
    assert votes.n_answers == 2000 and (votes.balance == 0).any() and merged.weights.max() > 1
    assert quadruplet_average_linkage(merged) == quadruplet_average_linkage(quadruplets)
    for self_pairs in (False, True):
        kernels = [kernel_passive(given, self_pairs=self_pairs) for given in (merged, quadruplets)]
        np.testing.assert_array_equal(*kernels)
        assert kernel_average_linkage(kernels[0]) == kernel_average_linkage(kernels[1])
    assert all(size > 2**24 for size in memory_of_workers(client).values())


def test_what_a_piece_raises_is_raised_and_nothing_stays(client):
    def refuse(piece):
        if piece == 3:
            raise InputError("piece must be another one; got 3")
        return piece

    with pytest.raises(InputError, match="another one"):
        list(spread(refuse, range(8), client, window=2))
    some = spread(abs, range(1000), client, window=3)
    assert next(some) == 0
    some.close()
    assert list(spread(abs, [], client)) == []


def test_parts_one_after_the_other(answers, tmp_path):
    files = [tmp_path / f"{part}.csv" for part in range(3)]
    for part, file in enumerate(files):
        answers.take(range(part, 900, 3)).to_csv(file)
    np.testing.assert_array_equal(adds_from_parts(files, n_objects=8).similarity(), adds3(answers))
    votes = votes_from_parts(files, n_objects=8)
    assert quadruplet_average_linkage(votes.quadruplets()) == quadruplet_average_linkage(answers)
    for parts in (tmp_path, tmp_path / "none", [], 5, None):
        with pytest.raises(InputError, match="parts must be"):
            adds_from_parts(parts, n_objects=8)
    assert peak_memory() > 2**24


def test_without_dask_one_sentence():
    code = """
import sys
import comparison_hc.cli, comparison_hc.whatif, comparison_hc.core.clusters as c, comparison_hc.evaluation.parts
assert not {"dask", "distributed", "cloudpickle"} & set(sys.modules)
sys.modules["distributed"] = None
try:
    c.on_cluster("tcp://127.0.0.1:1").__enter__()
except c.InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "a cluster needs Dask, which is missing: pip install 'comparison_hc[scale]'\n", done.stderr


def test_what_is_no_cluster_is_refused():
    pytest.importorskip("distributed")
    for wrong in (5, None, "nowhere"):
        with pytest.raises(InputError, match="cluster must be"):
            on_cluster(wrong).__enter__()
