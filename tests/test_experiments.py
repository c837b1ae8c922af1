"Experiments: the definition, kills, workers, failures, damaged journals, bad input, claims, reproductions."

import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiment_runs import algebra, draws, fragile, run_by_definition, several, threads
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comparison_hc.core.parallel import ProgressBar
from comparison_hc.core.validation import InputError
from comparison_hc.reproduce import claims
from comparison_hc.reproduce.claims import (
    Claim,
    ResultsNotFoundError,
    claims_table,
    find_reproductions,
    load_results,
    register_reproduction,
    reproduce,
    save_results,
    save_time,
)
from comparison_hc.reproduce.experiments import ExperimentError, canonical, parameter_grid, run_experiment, run_seed

properties = settings(
    deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def bits(table):
    return table.drop(columns="seconds")


def same(one, other):
    pd.testing.assert_frame_equal(bits(one), bits(other), check_exact=True)


# The definition

values = st.one_of(st.integers(-(10**6), 10**6), st.floats(-10, 10), st.text(max_size=3), st.booleans(), st.none())


@properties
@given(
    st.lists(values, min_size=1, max_size=6, unique_by=lambda v: canonical({"v": v})),
    st.integers(0, 2**70),
    st.randoms(),
)
def test_order_additions_and_workers_change_nothing(xs, seed, chance):
    grid = parameter_grid(x=xs, y=[0, 1])
    whole = run_by_definition(draws, grid, seed).assign(key=[canonical(g) for g in grid]).set_index("key")
    part = chance.sample(grid, chance.randrange(1, len(grid) + 1))  # another order, and the rest are additions
    for options in ({}, {"n_jobs": 2, "backend": "threading"}):
        table = bits(run_experiment(draws, part, seed=seed, **options))
        keys = [canonical(g) for g in part]
        assert table.run_seed.tolist() == whole.run_seed[keys].tolist()
        for name in ("first", "count", "word"):
            assert table[name].tolist() == whole[name][keys].tolist()
        assert [canonical({"x": g["x"], "y": g["y"]}) for g in part] == keys


def test_same_bits_with_processes():
    grid = parameter_grid(n=[3, 150], repetition=range(4))
    one, two = run_experiment(algebra, grid), run_experiment(algebra, grid, n_jobs=2)
    same(one, two)
    assert bits(one).equals(run_by_definition(algebra, grid)) or np.allclose(
        one.norm, run_by_definition(algebra, grid).norm
    )  # the loop has as many threads as it likes
    same(one, run_experiment(algebra, grid[::-1], n_jobs=2)[::-1].reset_index(drop=True))


@pytest.mark.parametrize(
    "options", [{}, {"n_jobs": 2}, {"n_jobs": 2, "backend": "threading"}], ids=["here", "processes", "threads"]
)
def test_every_run_has_one_thread(options):
    run_experiment(threads, parameter_grid(x=[0]))  # libraries that it imports set variables of their own, once
    before = dict(os.environ)
    table = run_experiment(threads, parameter_grid(x=range(6)), **options)
    assert table.most.tolist() == [1] * 6 and dict(os.environ) == before
    assert (os.getpid() in table.process.tolist()) == (options.get("n_jobs", 1) == 1 or "backend" in options)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nothing watches a parent")
def test_a_worker_whose_parent_went_before_its_first_piece_goes_too(monkeypatch):
    from comparison_hc.core import parallel

    gone = []
    monkeypatch.setattr(parallel, "die_with_parent", gone.append)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    for began, home in ((77, 77), (76, 77), (None, 77)):
        monkeypatch.setattr(multiprocessing.current_process(), "_parent_pid", began)
        assert parallel._in_worker(home, int, "5") == 5
    assert gone == [77]


@pytest.mark.skipif(os.name != "posix", reason="asks for a process with signal 0")
def test_no_process_outlives_its_experiment(monkeypatch):
    "And so each experiment sees the environment of its own start."

    def look(x, rng):
        return {"seen": os.environ.get("SEEN"), "process": os.getpid()}

    for value in ("first", "second"):
        monkeypatch.setenv("SEEN", value)
        table = run_experiment(look, parameter_grid(x=range(4)), n_jobs=2)
        assert set(table.seen) == {value} and os.getpid() not in set(table.process)
        for process in set(table.process):
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)


def test_workers_keep_their_memory_and_this_process_is_left_alone(monkeypatch):
    monkeypatch.delenv("MALLOC_MMAP_MAX_", raising=False)

    def look(x, rng):
        return {"kept": os.environ.get("MALLOC_MMAP_MAX_")}

    assert run_experiment(look, parameter_grid(x=range(4)), n_jobs=2).kept.tolist() == ["0"] * 4
    assert "MALLOC_MMAP_MAX_" not in os.environ


def test_one_thread_also_when_another_run_ends_meanwhile():
    def overlapping(pause, rng):
        before = threads(0, rng)["most"]
        time.sleep(pause)
        return {"before": before, "after": threads(0, rng)["most"]}

    table = run_experiment(overlapping, parameter_grid(pause=[0.1, 0.3]), n_jobs=2, backend="threading")
    assert table.before.tolist() == table.after.tolist() == [1, 1]


def test_a_surrounding_parallel_config_is_followed():
    from joblib import parallel_config

    with parallel_config(backend="threading"):
        table = run_experiment(threads, parameter_grid(x=range(4)), n_jobs=2)
    assert set(table.process) == {os.getpid()}


def test_kinds_of_values_survive_the_journal(tmp_path):
    def kinds(t, rng):
        found = {"a": np.float32(0.1), "b": np.int8(3), "c": np.bool_(True), "d": (1, 2.5), "e": None}
        return found | {"f": float("nan"), "g": float("inf"), "h": -0.0, "i": 'ä\n"', "j": 2**70}

    grid = parameter_grid(t=[(1, "x"), 1, 1.0, True, None, np.int64(7)])
    fresh, journalled = run_experiment(kinds, grid), run_experiment(kinds, grid, tmp_path / "j")
    same(fresh, journalled)
    same(fresh, run_experiment(kinds, grid, tmp_path / "j"))
    assert fresh.d[0] == (1, 2.5)
    assert fresh.t[0] == (1, "x")
    assert fresh.c.dtype == bool
    assert fresh.a[0] == float(np.float32(0.1))
    assert fresh.j[0] == 2**70
    assert np.signbit(fresh.h[0]) and np.isnan(fresh.f[0]) and len(set(fresh.run_seed)) == 6


def test_seeds_are_for_ever():
    assert run_seed({"delta": 0.1, "repetition": 3}) == 194818242941898
    assert run_seed({"repetition": 3, "delta": 0.1}) == 194818242941898
    assert run_seed({}, 5) == int.from_bytes(
        __import__("hashlib").sha256(b'{"parameters":{},"seed":5}').digest()[:6], "big"
    )


def test_paired_runs_share_their_randomness():
    table = run_experiment(draws, parameter_grid(x=[1, 2], y=[1, 2, 3]), paired=("y",))
    assert (table.groupby("x")["first"].nunique() == 1).all() and table["first"].nunique() == 2


def test_nothing_of_the_callers_is_changed():
    grid, state = parameter_grid(x=[1, 2]), np.random.get_state()[1].copy()
    copy = [dict(g) for g in grid]

    def greedy(x, rng):
        assert np.random.rand
        rng.random()
        return {"a": x}

    run_experiment(greedy, grid)
    assert grid == copy and np.array_equal(state, np.random.get_state()[1])


def test_progress(tmp_path, capsys):
    calls = []
    run_experiment(draws, parameter_grid(x=range(3)), tmp_path / "j", progress=lambda *a: calls.append(a))
    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]
    calls.clear()
    more = dict(n_jobs=2, backend="threading", progress=lambda *a: calls.append(a))
    run_experiment(draws, parameter_grid(x=range(5)), tmp_path / "j", **more)
    assert calls == [(3, 5), (4, 5), (5, 5)]
    run_experiment(draws, parameter_grid(x=range(5)), tmp_path / "j", progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "5/5" in err and "draws" in err


# Killed

WORK = """
import os, time
LOG = os.environ["RUN_LOG"]
def work(x, pause, rng):
    with open(LOG, "a") as file: file.write(f"{x}\\n")
    time.sleep(pause)
    return [{"method": m, "value": rng.normal()} for m in "ab"]
GRID = [{"x": x, "pause": float(os.environ["RUN_PAUSE"])} for x in range(100)]
"""
MAIN = """
import sys
from comparison_hc.reproduce.experiments import run_experiment
from work_of_test import work, GRID
print("ready", flush=True)
run_experiment(work, GRID, sys.argv[1], n_jobs=int(sys.argv[2]))
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    "Start the experiment of `MAIN` in another process; everything that it started ends with the test."
    (tmp_path / "work_of_test.py").write_text(WORK)
    log = tmp_path / "log"
    log.touch()
    paths = os.pathsep.join([str(tmp_path), str(Path(claims.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("RUN_LOG", str(log))
    monkeypatch.setenv("RUN_PAUSE", ".004")
    monkeypatch.delitem(sys.modules, "work_of_test", raising=False)
    started = []

    def start(journal, n_jobs):
        command = [sys.executable, "-c", MAIN, str(journal), str(n_jobs)]
        streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        environment = {**os.environ, "PYTHONPATH": paths}
        started.append(subprocess.Popen(command, start_new_session=True, env=environment, **streams))
        assert started[-1].stdout.readline() == b"ready\n"
        return started[-1]

    def end(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(30)
        process.stdout.close()
        process.stderr.close()

    start.end, start.log = end, log
    yield start
    for process in started:
        end(process)


def journalled(path):
    "Runs that the file holds, with their order."
    return [json.loads(line)["run"]["x"] for line in path.read_bytes().split(b"\n")[1:-1]] if path.exists() else []


def wait_for(path, lines, process):
    late = time.monotonic() + 30
    while (
        (not path.exists() or path.read_bytes().count(b"\n") < lines)
        and process.poll() is None
        and time.monotonic() < late
    ):
        time.sleep(0.0005)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("n_jobs, kills", [(1, 6), (2, 2)])
def test_killed_at_random_moments(tmp_path, script, n_jobs, kills):
    "A run whose line is in the file is never started again, and the table is that of an experiment without a break."
    journal, chance, done = tmp_path / "journal", random.Random(n_jobs), []
    for _ in range(kills):
        before = len(script.log.read_text().splitlines())
        process = script(journal, n_jobs)
        wait_for(journal, len(done) + chance.randrange(12), process)
        time.sleep(chance.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        script.end(process)  # its workers, too
        assert not set(done) & set(map(int, script.log.read_text().splitlines()[before:]))
        done = journalled(journal)
    assert done and len(set(done)) == len(done)
    before = len(script.log.read_text().splitlines())
    from work_of_test import GRID, work

    with warnings.catch_warnings(record=True):
        resumed = run_experiment(work, GRID, journal)
    assert sorted(map(int, script.log.read_text().splitlines()[before:])) == sorted(set(range(100)) - set(done))
    same(resumed, run_experiment(work, GRID))
    assert sorted(journalled(journal)) == list(range(100))


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT")
@pytest.mark.parametrize("whom", ["the process", "everybody"])
def test_ctrl_c(tmp_path, script, monkeypatch, whom):
    "Ctrl-C in a terminal reaches the workers too; an IDE sends it to the process only. Either way nobody stays behind."
    monkeypatch.setenv("RUN_PAUSE", ".05")
    process = script(tmp_path / "journal", 2)
    wait_for(tmp_path / "journal", 6, process)
    (os.kill if whom == "the process" else os.killpg)(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode != 0 and "\nKeyboardInterrupt" in err.decode()  # the trackers of processes may speak last
    data = (tmp_path / "journal").read_bytes()
    assert data.endswith(b"\n") and 5 <= data.count(b"\n") - 1 < 100
    late = time.monotonic() + 20
    while time.monotonic() < late:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.02)
    else:
        pytest.fail("a worker stayed behind")


# Damaged and strange journals


@pytest.fixture
def written(tmp_path):
    "(grid, path, its bytes, the table)"
    grid, path = parameter_grid(x=range(4)), tmp_path / "journal"
    table = run_experiment(draws, grid, path)
    return grid, path, path.read_bytes(), table


@pytest.mark.parametrize(
    "change, word",
    [
        ({"seed": 1}, "seed 0 instead of 1"),
        ({"version": 2}, "version 1 instead of 2"),
        ({"paired": ("x",)}, "paired"),
        ({"function": several}, "draws"),
    ],
)
def test_the_journal_of_another_experiment(written, change, word):
    grid, path, whole, _ = written
    with pytest.raises(InputError, match="^journal must be one of this experiment") as error:
        run_experiment(**{"function": draws, "grid": grid, "journal": path, **change})
    assert word in str(error.value) and path.read_bytes() == whole


def test_a_smaller_grid_leaves_the_rest_in_the_file(written):
    grid, path, whole, table = written
    same(run_experiment(draws, grid[2:0:-1], path), table.iloc[2:0:-1].reset_index(drop=True))
    assert path.read_bytes() == whole


# Failures


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}], ids=["here", "processes"])
def test_failures_are_reported_at_the_end_and_tried_again(tmp_path, options):
    broken, path = tmp_path / "broken", tmp_path / "journal"
    grid = parameter_grid(x=range(5), broken=str(broken))
    broken.touch()
    for lines in (6, 8):  # the second start tries the two again, and nothing else
        with pytest.raises(
            ExperimentError, match='2 of 5 runs failed(.|\n)*"x":1}: ValueError: x = 1 is odd'
        ) as caught:
            run_experiment(fragile, grid, path, **options)
        assert path.read_bytes().count(b"\n") == lines
    error = caught.value
    assert error.table.x.tolist() == [0, 2, 4]
    assert [f["run"]["x"] for f in error.failures] == [1, 3]
    assert "in fragile" in error.failures[0]["trace"]
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.table.equals(error.table)
    broken.unlink()
    table = run_experiment(fragile, grid, path, **options)
    same(table, run_experiment(fragile, grid))
    assert path.read_bytes().count(b"\n") == 10
    broken.touch()
    same(run_experiment(fragile, grid, path), table)  # what is done is done


def test_many_failures_make_a_short_message():
    def never(x, rng):
        raise RuntimeError("no")

    with pytest.raises(ExperimentError) as caught:
        run_experiment(never, parameter_grid(x=range(30)))
    assert len(caught.value.failures) == 30
    assert "… and 10 more" in str(caught.value)
    assert caught.value.table.columns.tolist() == ["x", "run_seed", "seconds"]


@pytest.mark.parametrize("result", [None, [1], *({"v": value} for value in (np.ones(2), {}, [[1]], 1j))])
def test_results_of_the_wrong_kind_are_failures(result):
    def strange(x, rng):
        return result

    with pytest.raises(ExperimentError, match="1 of 1 runs failed"):
        run_experiment(strange, [{"x": 1}])


def test_a_parameter_that_the_journal_has_as_measured(tmp_path):
    def both(x, rng, value=0):
        return {"value": x} if x == 1 else {"other": x}

    run_experiment(both, [{"x": 1}], tmp_path / "j")
    with pytest.raises(InputError, match="^grid must be free of names"):
        run_experiment(both, [{"x": 1}, {"x": 2, "value": 3}], tmp_path / "j")


# Bad input


@pytest.mark.parametrize(
    "says, name, bad",
    [
        ("grid, entry 1,", "grid", ([{"x": 1}, {"x": 1}],)),
        ("grid, entry 0, x", "grid", [[{"x": x}] for x in (np.ones(2), {}, ((1,),))]),
        ("n_jobs", "n_jobs", (0, -2, 1.5, True, None)),
        ("seed", "seed", (-1, "a", 1.0)),
    ],
)
def test_bad_input(says, name, bad):
    for value in bad:
        with pytest.raises(InputError, match=f"^{says} must"):
            run_experiment(**{"function": draws, "grid": [{"x": 1}], name: value})


@pytest.mark.parametrize("values", [[], [1, object()], {}, [[[1]]], np.ones((2, 2, 2))])
def test_bad_grids(values):
    with pytest.raises(InputError, match="^x must"):
        parameter_grid(x=values)


def test_parameter_grid():
    assert parameter_grid() == [{}] and parameter_grid(a="xy", b=(1, 2), c=np.array([0.5])) == [
        {"a": "xy", "b": 1, "c": 0.5},
        {"a": "xy", "b": 2, "c": 0.5},
    ]
    assert [type(g["a"]) for g in parameter_grid(a=np.arange(2))] == [int, int] and parameter_grid(sizes=[(1, 2), [3]])[
        1
    ] == {"sizes": (3,)}


# Claims


def test_claims():
    yes, no = (
        Claim("Water | is wet.", np.float64(0.123456), np.bool_(True), "Fig. 1"),
        Claim("Fire is cold.", "1000 °C", False),
    )
    assert yes
    assert not no
    assert type(yes.holds) is bool
    assert type(yes.measured) is float
    assert hash(yes) == hash(Claim("Water | is wet.", 0.123456, True, "Fig. 1"))
    table = claims_table([yes, no])
    assert len(table) == 2
    assert table.n_hold == 1
    assert list(table) == [yes, no]
    assert table.frame.holds.tolist() == [True, False]
    assert repr(table).splitlines() == [
        "✓ holds: Water | is wet. — 0.1235 (Fig. 1)",
        "✗ does not hold: Fire is cold. — 1000 °C",
        "1 of 2 claims hold",
    ]
    assert "Water \\| is wet. | Fig. 1 | 0.1235 | ✓ holds" in table._repr_markdown_()
    assert "where" not in claims_table([no])._repr_markdown_()
    with pytest.raises(AttributeError):
        yes.holds = False
    aside = Claim("Ice is cold.", 1, True, aside=claims.BY_CONSTRUCTION)
    assert claims_table([aside]).summary == f"1 {claims.BY_CONSTRUCTION}" and claims_table([]).summary == "no claims"
    assert [claims_table([one]).summary for one in (yes, no)] == ["the one claim holds", "the one claim does not hold"]


# Reproductions


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(claims, "_reproductions", {})


def toy(**change):
    grids = dict(quick_grid=parameter_grid(x=[1]), full_grid=parameter_grid(x=[1, 2, 3]))
    return dict(name="toy-fig1", title="toys", function=draws, paper="F19", figure="Figure 0") | grids | change


def test_reproduce(tmp_path, registry):
    made = register_reproduction(
        **toy(
            summarise=lambda t: t.groupby("x", as_index=False)["count"].sum(),
            chart=lambda s: f"chart of {len(s)}",
            claims=lambda s: [Claim("Counts are counts.", int(s["count"].sum()), True)],
            seed=4,
        )
    )
    assert find_reproductions()["toy-fig1"] is made and "1 runs quick, 3 full" in repr(made)
    quick = reproduce("toy-fig1", journal_folder=tmp_path / "new")
    full = reproduce("toy-fig1", quick=False, journal_folder=str(tmp_path / "new"), n_jobs=2, backend="threading")
    assert (tmp_path / "new" / "toy-fig1.jsonl").read_bytes().count(b"\n") == 4  # what quick did was not done again
    assert full.chart() == "chart of 3" and full.claims().n_hold == 1 and len(quick.table) == 1 and "full" in repr(full)
    same(full.table, run_experiment(draws, parameter_grid(x=[1, 2, 3]), seed=4))
    assert reproduce("toy-fig1", quick=False).summary.equals(full.summary)


def test_without_the_extras(registry):
    register_reproduction(**toy())
    done = reproduce("toy-fig1")
    assert "seconds" not in done.summary and done.chart() is None and len(done.claims()) == 0


def test_names_of_reproductions(registry):
    with pytest.raises(InputError, match="^name must be a known reproduction"):
        reproduce("nothing")
    register_reproduction(**toy())
    register_reproduction(**toy())
    with pytest.raises(InputError, match="^name must be a known reproduction: .*toy-fig1"):
        reproduce("toy-fig2")
    with pytest.raises(InputError, match="^name must be registered by one module only"):
        register_reproduction(**toy(function=claims.claims_table))


# Results

kinds_of_columns = {
    "i": st.integers(-(2**60), 2**60),
    "f": st.floats(allow_nan=True, allow_infinity=True),
    "b": st.booleans(),
    "w": st.sampled_from(["4-AL", "None", "NA", 'ä, "b"', "x y"]),
}


@properties
@given(st.lists(st.fixed_dictionaries(kinds_of_columns), min_size=1, max_size=5))
def test_results_come_back(tmp_path, rows):
    table = pd.DataFrame(rows, columns=list(kinds_of_columns)).assign(seconds=1.5)
    path = save_results("name", table, tmp_path)
    back = load_results("name", tmp_path)
    assert back.columns.tolist() == list(kinds_of_columns)
    assert back.i.tolist() == table.i.tolist()
    assert back.b.tolist() == table.b.tolist()
    assert back.w.tolist() == table.w.tolist()
    np.testing.assert_allclose(back.f.astype(float), table.f, rtol=1e-5)
    before = path.read_bytes()
    assert save_results("name", back, tmp_path).read_bytes() == before or not np.array_equal(
        back.f, table.f
    )  # written, read and written: the same bytes
    assert back.equals(load_results("name", tmp_path))


def test_the_form_of_the_file(tmp_path):
    table = pd.DataFrame({"p": [0.01, 1.0], "aari": [1 / 3, np.nan], "n": [12345678, 2]})
    assert save_results("form", table, tmp_path).read_bytes() == b"p,aari,n\n0.01,0.333333,12345678\n1,,2\n"


def test_results_that_are_not_there(tmp_path, monkeypatch):
    with pytest.raises(ResultsNotFoundError, match="comparison-hc reproduce f99-fig1;") as error:
        load_results("f99-fig1")
    assert isinstance(error.value, FileNotFoundError) and "reproduce" in str(error.value)
    monkeypatch.setattr(claims, "results_folder", lambda: tmp_path / "nbs" / "reproduce" / "results")
    with pytest.raises(ResultsNotFoundError, match="does not run from a checkout"):
        load_results("f99-fig1")
    with pytest.raises(InputError, match="^folder must be given"):
        save_results("f99-fig1", pd.DataFrame({"a": [1]}))
    for name in ("../x", "", None, "a/b"):
        with pytest.raises(InputError, match="^name must"):
            load_results(name)
        with pytest.raises(InputError, match="^name must"):
            save_results(name, pd.DataFrame(), tmp_path)


@properties
@given(st.lists(st.tuples(st.integers(1, 3), st.floats(0, 1e5)), min_size=1, max_size=6, unique_by=lambda run: run[0]))
def test_hours_count_every_run_once(runs):
    grid = [{"x": x} for x, _ in runs]
    about = [dict(x=x, run_seed=run_seed({"x": x}), seconds=seconds) for x, seconds in runs]
    table = pd.DataFrame([{**each, "method": method} for each in about for method in "abc"[: each["x"]]])
    done = claims.Reproduced(claims.Reproduction(**toy(function=several, full_grid=grid)), False, table, table)
    assert done.hours == pytest.approx(sum(seconds for _, seconds in runs) / 3600, rel=1e-12)


def test_times_are_kept_by_name(tmp_path, registry):
    register_reproduction(**toy(function=several, full_grid=parameter_grid(x=[1, 2, 3])))
    register_reproduction(**toy(name="a-fig0", full_grid=parameter_grid(x=range(5))))
    for name in ("toy-fig1", "a-fig0", "toy-fig1"):
        path = save_time(reproduce(name, quick=False), tmp_path)
    times = load_results("times", tmp_path)
    assert path == tmp_path / "times.csv"
    assert times["name"].tolist() == ["a-fig0", "toy-fig1"]
    assert times["runs"].tolist() == [5, 3]
    assert (times["hours"] > 0).all()
    before = path.read_bytes()
    for wrong in (reproduce("toy-fig1"), None):
        with pytest.raises(InputError, match="^done must be"):
            save_time(wrong, tmp_path)
    assert path.read_bytes() == before


def test_progress_bar_does_not_count_what_was_done(capsys):
    bar = ProgressBar("runs")
    bar(90, 100)
    assert bar.bar.initial == 90
    bar(100, 100)
    bar.close()
    ProgressBar().close()
    assert "100/100" in capsys.readouterr().err


def test_a_table_of_claims_keeps_quotations_apart_from_paraphrases():
    quoted, ours = Claim("It wins.", 1, True, quoted=True), Claim("It loses.", 0, False)
    head, _, first, second = claims_table([quoted, ours])._repr_markdown_().splitlines()[:4]
    assert head.startswith("| the paper, word for word | the claim in our words | measured here")
    assert first.startswith("| “It wins.” |  | 1") and second.startswith("|  | It loses. | 0")
    assert "in our words" not in claims_table([quoted])._repr_markdown_()


def test_a_table_of_claims_has_minus_signs_and_no_zero_below_zero():
    measured = "-0.005 (d = 5), -0.000, -0.0001 of t-STE, 2-3 runs, +0.2, gap 1e-09 (-1.5, -0)"
    shown = claims_table([Claim("s", measured, True, "w")])._repr_markdown_()
    assert "−0.005 (d = 5), 0.000, −0.0001 of t-STE, 2-3 runs, +0.2, gap 1e-09 (−1.5, 0)" in shown


@pytest.mark.parametrize("allowed, given, used", [(1, 2, 1), (2, 2, 2), (16, 2, 2), (2, 1, 1)])
def test_large_work_uses_as_many_threads_as_cores_are_allowed_and_never_more_than_before(
    monkeypatch, allowed, given, used
):
    "A container may use fewer cores than the machine has, which libraries do not see."
    import joblib
    from threadpoolctl import ThreadpoolController, threadpool_limits

    from comparison_hc.core.parallel import one_thread

    monkeypatch.setattr(joblib, "cpu_count", lambda: allowed)
    with threadpool_limits(given):
        blas = ThreadpoolController().select(user_api="blas").lib_controllers
        pools = [pool for pool in blas if pool.num_threads == given]  # a solver's own library may have one thread only
        assert pools
        with one_thread(5000):
            assert {pool.num_threads for pool in pools} == {used}
        assert {pool.num_threads for pool in pools} == {given}
        with one_thread(2000):
            assert {pool.num_threads for pool in pools} == {1}


def test_conclusions_hold_libraries_to_one_thread():
    "Many small products: with more threads they took twenty times the processor time on a busy machine."
    from threadpoolctl import ThreadpoolController, threadpool_limits

    from comparison_hc import evaluation
    from comparison_hc.core.parallel import on_one_thread

    with threadpool_limits(2):
        blas = ThreadpoolController().select(user_api="blas").lib_controllers
        pools = [pool for pool in blas if pool.num_threads == 2]
        assert pools and on_one_thread(lambda: {pool.num_threads for pool in pools})() == {1}
        assert {pool.num_threads for pool in pools} == {2}
    limited = on_one_thread(lambda: None).__code__
    names = "choose_clusters compare_methods choose_method bootstrap_support answer_shape t_ste forte"
    for name in names.split():
        assert getattr(evaluation, name).__code__ is limited, name
