"""Logs under kills, full disks and two writers; files that are replaced whole; logs of earlier versions.

`tests/journals` has one log of each earlier kind.
"""

import errno
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from experiment_runs import draws, example_run
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.core.io import JournalError, atomic_write, open_locked
from comparison_hc.core.log import Log, header_line, read_log
from comparison_hc.core.parallel import check_workers
from comparison_hc.core.validation import InputError
from comparison_hc.elicitation.pool import pool_journals
from comparison_hc.elicitation.session import Session, read_journal
from comparison_hc.elicitation.trial_list import Trial, TrialSession
from comparison_hc.link import learn_linkage
from comparison_hc.oracles import Journal, Noisy, SimilarityOracle, run
from comparison_hc.reproduce.experiments import parameter_grid, run_experiment

OLD = Path(__file__).parent / "journals"
WROTE = "one of this test"


def open_log(path, **options):
    "A log of this test."
    return Log(path, "example", {}, WROTE, **options)


@pytest.fixture
def old(tmp_path):
    "`old(name)`: a copy of an old journal."

    def copy(name):
        return Path(shutil.copy(OLD / name, tmp_path / name))

    return copy


# ---- what earlier versions wrote


def records(path):
    "The lines of a journal behind its header, without their checksums."
    lines = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    return [{name: value for name, value in line.items() if name != "crc"} for line in lines]


def untimed(path):
    "Records, without when and how long."
    times = ("time", "ms", "seconds")
    return [{key: value for key, value in each.items() if key not in times} for each in records(path)]


QUESTIONS = [[0, 1, 2], [3, 4, 0], [1, 2, 4]], [[0, 1, 2, 3], [0, 4, 0, 1]]


def similarity():
    w = np.random.default_rng(0).normal(size=(5, 5))
    return w + w.T


def nobody(queries):
    raise AssertionError("the file has this answer")


def test_old_answers(old, tmp_path):
    path = old("oracle.jsonl")
    with Journal(nobody, path) as journal:
        found = [journal(batch).tolist() for batch in QUESTIONS]
    assert found == [[0, 2, 2], [True, False]] and path.read_bytes() == (OLD / "oracle.jsonl").read_bytes()
    with Journal(SimilarityOracle(similarity()), path) as journal:  # and it goes on
        for batch in (*QUESTIONS, [[0, 3, 4]]):
            journal(batch)
    assert path.read_bytes().startswith((OLD / "oracle.jsonl").read_bytes()) and Journal(nobody, path).n_recorded == 6
    with Journal(SimilarityOracle(similarity()), tmp_path / "new") as journal:
        for batch in QUESTIONS:
            journal(batch)
    assert records(tmp_path / "new") == records(OLD / "oracle.jsonl")


def test_old_runs(old, monkeypatch):
    monkeypatch.setattr(example_run, "__module__", "comparison_hc.reproduce.experiments")  # where it was
    path, seen = old("experiment.jsonl"), []
    grid = parameter_grid(ratio=[1.0, 2.0], p=0.5, n_pure=1, repetition=0)
    table = run_experiment(example_run, grid, path, seed=3, progress=lambda *done: seen.append(done))
    assert seen == [(2, 2)] and table.answers.tolist() == [178, 177] and table.seconds.tolist() == [1.382209, 0.024627]
    assert path.read_bytes() == (OLD / "experiment.jsonl").read_bytes()
    grid = parameter_grid(ratio=[1.0, 2.0, 3.0], p=0.5, n_pure=1, repetition=0)
    longer = run_experiment(example_run, grid, path, seed=3)  # and it goes on
    again = run_experiment(example_run, grid, path, seed=3)
    assert longer.equals(again) and longer.seconds.tolist()[:2] == table.seconds.tolist()
    assert path.read_bytes().startswith((OLD / "experiment.jsonl").read_bytes())


def test_old_runs_of_functions_that_moved(tmp_path):
    "A journal names the function by the module in which the first edition had it."
    from comparison_hc.reproduce.experiments import RunJournal

    about = dict(version=1, seed=0, paired=[])
    header = {"format": "comparison_hc experiment", "function": "comparison_hc.reproduce_2020_link.some_run", **about}
    (tmp_path / "j").write_text(json.dumps(header) + "\n")
    RunJournal(tmp_path / "j", {"function": "comparison_hc.reproduce.l20.some_run", **about}).close()
    with pytest.raises(JournalError, match="one of this experiment"):
        RunJournal(tmp_path / "j", {"function": "comparison_hc.reproduce.n20.some_run", **about})
    header["function"] = "comparison_hc.whatif.runs.flat_whatif"  # of sweeps, before they had their models from here
    (tmp_path / "w").write_text(json.dumps(header) + "\n")
    RunJournal(tmp_path / "w", {"function": "comparison_hc.reproduce.simulation.flat_whatif", **about}).close()


def test_old_curves(old, tmp_path):
    D, seen, path = np.abs(np.subtract.outer(*[np.array([0.0, 1, 3, 7, 12])] * 2)), [], old("learning.jsonl")
    tasks = [(D, [0, 0, 0, 1, 1]), (D[:4, :4], [0, 1, 1, 1])]
    learned = learn_linkage(tasks, journal=path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 2)] and learned.loss == 0.25 and learned.curves[0].values.tolist() == [0.2, 0]
    learn_linkage(tasks, journal=tmp_path / "new")
    assert path.read_bytes() == (OLD / "learning.jsonl").read_bytes()
    assert read_log(path, "curves", WROTE).records == read_log(tmp_path / "new", "curves", WROTE).records
    learn_linkage([*tasks, (D[1:4, 1:4], [0, 1, 1])], journal=path, progress=lambda *now: seen.append(now))
    assert seen[1:] == [(2, 3), (3, 3)] and len(read_log(path, "curves", WROTE).records) == 3  # and it goes on


def test_old_sessions(old, tmp_path):
    session = Session(["ä", "bee", "cat", "dog"], old("asking.jsonl"))
    assert session.state.settings.person == "Zoë"
    assert [answer.answer for answer in session.state.answers] == [3, 0]
    assert session.state.careful == 0.8
    assert session.report == ""
    before = session.path.read_bytes()
    assert before == (OLD / "asking.jsonl").read_bytes()
    new = Session(["ä", "bee", "cat", "dog"], tmp_path / "new", "Zoë")
    new.answer(3)
    new.answer(1)
    new.undo()
    new.answer(0)
    new.be_careful(0.8)
    assert untimed(tmp_path / "new") == records(OLD / "asking.jsonl")  # logs of old have no times
    assert new.state == session.state
    session.undo()  # and it goes on
    assert session.path.read_bytes().startswith(before)
    assert Session(["ä", "bee", "cat", "dog"], session.path).state.careful is None


# ---- a log


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.sampled_from(["q", "a", "why", "ü"]), JSON, min_size=1)


class LogMachine(RuleBasedStateMachine):
    "Whatever happens between records, the log holds those that were confirmed, in order."

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "log"
        self.log, self.confirmed = open_log(self.path, fsync=False), []

    @rule(record=RECORDS)
    def add(self, record):
        self.log.add(record)
        self.confirmed.append(record)

    @rule()
    def reopen(self):
        self.log.close()
        self.log = open_log(self.path, fsync=False)

    @rule(record=RECORDS, data=st.data())
    def torn_by_a_kill(self, record, data):
        self.log.close()
        line = json.dumps(record).encode()
        with open(self.path, "ab") as file:
            file.write(line[: data.draw(st.integers(1, len(line) - 1))])
        self.log = open_log(self.path, fsync=False)
        assert "torn" in self.log.report

    @rule(record=RECORDS, written=st.integers(0, 3))
    def full_disk(self, record, written):
        write = os.write
        with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="log"):
            patch.setattr(os, "write", lambda fd, data: write(fd, data[:written]))
            self.log.add(record)

    @rule(record=RECORDS)
    def disk_that_fails(self, record):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="Input/output error.*log"):
            patch.setattr(os, "fsync", fail)
            self.log.fsync = True
            self.log.add(record)
        self.log.fsync = False

    @rule()
    def second_writer(self):
        if sys.platform != "win32":
            with pytest.raises(JournalError, match="no other process is writing"):
                open_log(self.path, timeout=0)

    @invariant()
    def holds_what_was_confirmed(self):
        assert self.log.records == self.confirmed == read_log(self.path, "example", WROTE).records

    def teardown(self):
        self.log.close()
        self.folder.cleanup()


def fail(*_):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


# ---- every log: each call goes on where the file ends, and returns what there is at the end and what was reported


ITEMS = [f"item {at}" for at in range(12)]
TRIALS = [Trial("central", shown, "new") for shown in combinations(ITEMS[:4], 3)]
TASKS = [(np.abs(np.subtract.outer(*[np.array(x)] * 2)), [0, 0, 1]) for x in ([0.0, 1, 4], [0, 2, 7], [0.0, 4, 5])]


def answers(path):
    def asks():
        found = []
        for seed in range(4):
            found += (yield np.random.default_rng(seed).permutation(5)[None, : 3 + seed % 2]).tolist()
        return found

    return run(asks(), Journal(Noisy(SimilarityOracle(similarity()), 0.7, rng=4), path)), ""


def session(path):
    found = Session(ITEMS, path, "Zoë", 3)
    for answer in (1, 2, 0, 3)[len(found.state.answers) :]:
        found.answer(answer)
    return found.state, found.report


def trial_list(path):
    found = TrialSession(TRIALS, path, "Zoë")
    for place in (1, 2, 0, 3)[len(found.answers) :]:
        found.answer(place)
    return found.answers, found.report


def experiment(path):
    return run_experiment(draws, parameter_grid(x=range(4)), path).drop(columns="seconds").to_dict("list"), ""


def curves(path):
    learned = learn_linkage(TASKS, journal=path)
    return [(curve.breakpoints.tolist(), curve.values.tolist()) for curve in learned.curves], ""


LOGS = [answers, session, trial_list, experiment, curves]
DAMAGE = [b"", b"\xff\xfe", b"\0" * 40, b"[" * 100_000, b'{"a":' + b"9" * 6000 + b"}"]
DAMAGE += rb"""
{ [1] 3 null {"a":"\ud800","crc":"00000000"} {"digest":"12"} {"careful":2.0} {"x":1} {"q":[1,2],"a":0} {"q":[0,1,2]}
{"q":[0,1,99],"a":1,"why":"new"} {"q":[0,1,2],"a":5,"why":"new"} {"q":[0,true,2],"a":1,"why":"new"}
{"q":[0,1,2],"a":true,"why":"new"} {"q":[0,1,2],"a":1,"why":["new"]}
""".split()
FOREIGN = [b"hello", b"hello\n", b"\n", b"[1]\n", b"\0" * 100, b"[" * 100_000 + b"\n", "a\nb\n".encode("utf-16")]
FOREIGN += [bytes(range(256)), b'{"a": 1}\n', b'{"digest": "12', b'{"format":"comparison_hc asking 2"}\n']
ABOUT = dict(items=ITEMS, person="Ada", seed=1, repeat_every=6)
WRONG = [{}, *(ABOUT | {key: value} for key, value in [("items", 5), ("items", None), ("person", ""), ("seed", "x")])]
WRONG += [ABOUT | {"items": ["a", "a"]}]


def reads_of(log):
    "All that reads such a log."
    return [log, read_journal, lambda path: pool_journals([path])] if log is session else [log]


@pytest.mark.parametrize("log", LOGS)
def test_a_log_cut_anywhere_goes_on_and_ends_alike(tmp_path, log):
    path = tmp_path / "log"
    expected, _ = log(path)
    whole, kept = path.read_bytes(), untimed(path)
    ends = np.cumsum([len(line) for line in whole.splitlines(keepends=True)])
    for cut in {0, 1, 20, 60, *ends, *(ends - 1), *(ends - 2), *(ends[:-1] + 1), *((ends[:-1] + ends[1:]) // 2)}:
        path.write_bytes(whole[:cut])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, report = log(path)
        assert found == expected and untimed(path) == kept
        assert path.read_bytes().startswith(whole[: whole[:cut].rfind(b"\n") + 1])
        torn = cut > ends[0] and cut not in {*ends, *(ends - 1)}
        said = report + "".join(str(each.message) for each in caught)
        assert ("is torn" in said) == (torn and log is not curves)  # a curve is computed again, and nobody waits


@pytest.mark.parametrize("log", LOGS)
def test_a_damaged_line_is_named_and_the_file_left_alone(tmp_path, log):
    path = tmp_path / "log"
    log(path)
    lines = path.read_bytes().split(b"\n")
    for at, line in [*((2, line) for line in DAMAGE), *((at, b"x" + lines[at]) for at in range(1, len(lines) - 2))]:
        broken = b"\n".join([*lines[:at], line, *lines[at + 1 :]])
        path.write_bytes(broken)
        says = f"line {at + 1} is damaged.*the {at - 1} records before it are intact; nothing was changed$"
        for read in reads_of(log):
            with pytest.raises(JournalError, match=says):
                read(path)
        assert path.read_bytes() == broken


@pytest.mark.parametrize("log", LOGS)
def test_another_kind_of_file_is_refused(tmp_path, log):
    path = tmp_path / "log"
    log(path)
    own = path.read_bytes().splitlines(keepends=True)[0]
    foreign = [*FOREIGN, header_line("other", {}), own.replace(b'"version":3', b'"version":9')]
    foreign += [header_line("session", about) for about in WRONG] if log is session else [header_line("session", ABOUT)]
    for content in foreign:
        path.write_bytes(content)
        for read in reads_of(log):
            with pytest.raises(JournalError, match="^(journal|path) must be.*nothing was changed$"):
                read(path)
        assert path.read_bytes() == content and os.listdir(tmp_path) == ["log"]


@pytest.mark.parametrize("log", LOGS)
def test_one_writer_of_every_log(tmp_path, log):
    pytest.importorskip("fcntl")
    with (
        open_log(tmp_path / "log"),
        pytest.raises(JournalError, match="must be a file that no other process is writing"),
    ):
        log(tmp_path / "log")


@pytest.mark.parametrize("path", [3, True, b"name", ["name"], "a\0b", "", ".", "nowhere/j", os.devnull, "a" * 400])
@pytest.mark.parametrize("log", LOGS)
def test_what_is_no_place_for_a_log(tmp_path, monkeypatch, log, path):
    monkeypatch.chdir(tmp_path)
    for read in [log, read_journal] if log is session else [log]:
        with pytest.raises(InputError, match="^(journal|path) must be"):
            read(path)
    assert os.listdir() == []


def test_records_are_counted_before_one_is_added(tmp_path):
    with open_log(tmp_path / "log") as log:
        log.add({"a": 1}, after=0)
        with pytest.raises(JournalError, match="not be written by two at once"):
            log.add({"a": 2}, after=0)
    with open_log(None) as nowhere:
        nowhere.add({"a": (1, 2)})
        assert nowhere.records == [{"a": [1, 2]}] and log.records == [{"a": 1}]


def test_one_writer(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "log"
    log = open_log(path)
    with pytest.raises(JournalError, match="^place must be a file that no other process is writing; got .*log, which"):
        open_log(path, argument="place")
    code = "from comparison_hc.core.io import JournalError, open_locked\n"
    code += f"try: open_locked({str(path)!r})\nexcept JournalError: raise SystemExit(7)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 7
    threading.Timer(0.1, log.close).start()
    os.close(open_locked(path, timeout=30))  # it waits
    open_log(path).close()


def test_a_lock_that_a_killed_process_left_with_its_child_is_waited_for(tmp_path):
    "The child has it until it becomes another program, which a killed parent cannot say it will."
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "log"
    code = "import fcntl, sys, time; fcntl.flock(0, fcntl.LOCK_EX); print(flush=True); time.sleep(0.2)"
    with open(path, "wb") as file:
        child = subprocess.Popen([sys.executable, "-c", code], stdin=file, stdout=subprocess.PIPE)
    child.stdout.readline()
    with pytest.raises(BlockingIOError), open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with open_log(path):
        assert child.wait(10) == 0


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(JournalError, match="^path must be a file that can be read and written; got .*: Permission de"):
        open_log(tmp_path / "log", argument="path")


@pytest.mark.parametrize("n_jobs", [0, -2, 1.0, True, None, "2"])
def test_numbers_of_workers(n_jobs):
    with pytest.raises(InputError, match="^n_jobs must be a number of workers"):
        check_workers(n_jobs)
    assert check_workers(-1) == -1 and check_workers(3) == 3


# ---- files that are replaced whole


def test_what_a_writer_cannot_read_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        atomic_write(tmp_path / "out.csv", lambda file: file.write((tmp_path / "in.csv").read_bytes()))
    assert error.value.filename == str(tmp_path / "in.csv") and os.listdir(tmp_path) == []


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    atomic_write(path, "ä,b\n", fsync=True)
    assert path.read_bytes() == "ä,b\n".encode()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        atomic_write(path, b"new")
    assert os.listdir(tmp_path) == ["table.csv"] and path.read_bytes() == "ä,b\n".encode()


def test_a_link_stays_one_and_rights_stay_as_they_were(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to("target")
    atomic_write(link, "new")
    assert link.is_symlink() and target.read_text() == "new" and target.stat().st_mode & 0o777 == 0o600
    (tmp_path / "dangling").symlink_to("later")
    atomic_write(tmp_path / "dangling", "new")
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "later").read_text() == "new"


def test_what_is_no_ordinary_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "folder", "link", "/dev/null"):
        with pytest.raises(InputError, match="path must be an ordinary file, or a new one"):
            atomic_write(tmp_path / name, "new")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode) and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "pipe"]


@pytest.mark.parametrize("name", ["a" * 251 + ".csv", "ä" * 127, "\U0001f333" * 63, "a" * 246], ids=len)
def test_every_name_that_a_file_can_have_can_be_written(tmp_path, name):
    atomic_write(tmp_path / name, "old")
    atomic_write(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name] and (tmp_path / name).read_text() == "new"


def test_a_link_that_leads_to_itself_is_refused(tmp_path):
    for name, to in (("loop.csv", "loop.csv"), ("a.csv", "b.csv"), ("b.csv", "a.csv")):
        (tmp_path / name).symlink_to(to)
    for name in ("loop.csv", "a.csv", "b.csv"):
        with pytest.raises(InputError, match=f"path must be a file, or a link that leads to one; got .*{name}"):
            atomic_write(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv", "loop.csv"]


def test_an_error_names_the_file_that_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    for path, kind in (("nowhere/x.csv", FileNotFoundError), ("file/x.csv", NotADirectoryError)):
        for write in (lambda path: atomic_write(path, "new"), Triplets([[0, 1, 2]]).to_csv):
            with pytest.raises(kind) as error:
                write(path)
            assert error.value.filename == path and str(error.value).endswith(f": '{path}'")

    def refused(draft, path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), draft, None, path)

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(PermissionError, match=r"\] Permission denied: 'x.csv'$"):
        atomic_write("x.csv", "new")
    assert os.listdir() == ["file"]


def test_a_folder_that_goes_away_during_the_work_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text("a,b,c\nb,a,c\nc,d,a\nd,c,b\n")
    monkeypatch.setattr("comparison_hc.evaluation.outputs.check_destination", lambda path, *_, **__: Path(path))
    assert main(["cluster", "answers.csv", "--clusters", "2", "--labels-out", "gone/labels.csv"]) == 2
    said = capsys.readouterr().err
    assert said == "comparison-hc: [Errno 2] No such file or directory: 'gone/labels.csv'\n"


def test_answers_are_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    answers, path = Triplets([[0, 1, 2], [1, 2, 0]]), tmp_path / "answers.csv"
    answers.to_csv(path)
    before = path.read_bytes()
    monkeypatch.setattr("comparison_hc.core.io.open", FullDisk, raising=False)
    with pytest.raises(OSError, match="No space left on device: '.*answers.csv'$"):
        answers.to_csv(path)
    assert os.listdir(tmp_path) == ["answers.csv"] and path.read_bytes() == before


class FullDisk(io.FileIO):
    def write(self, data):
        super().write(data[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zip"])
def test_packed_answers_are_read_again_and_the_same_bits(tmp_path, ending):
    answers, path = Triplets([[0, 1, 2], [1, 2, 0]]), tmp_path / f"answers.{ending}"
    answers.to_csv(path)
    first = path.read_bytes()
    answers.to_csv(path)
    assert read_comparisons(path).array.tolist() == answers.array.tolist()
    assert path.read_bytes() == first or "zip" in ending


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
@pytest.mark.parametrize("how", ["pieces", "runs"])
def test_workers_go_when_the_process_that_they_work_for_is_killed(tmp_path, how):
    code = f"""
import os, time
from pathlib import Path
from comparison_hc.core.parallel import map_in_order
from comparison_hc.reproduce.experiments import run_experiment

def work(number, rng=None):
    Path({str(tmp_path)!r}, str(os.getpid())).touch()
    time.sleep(100)

if {how!r} == "pieces":
    list(map_in_order(work, range(4), 2))
else:
    run_experiment(work, [dict(number=n) for n in range(4)], n_jobs=2)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    late = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < late:
        time.sleep(0.1)
    workers = [int(path.name) for path in tmp_path.iterdir()]
    process.kill()
    process.wait()
    assert len(workers) == 2
    late = time.monotonic() + 20
    while any(map(_is_alive, workers)) and time.monotonic() < late:
        time.sleep(0.1)
    left = [worker for worker in workers if _is_alive(worker)]
    for worker in left:
        os.kill(worker, signal.SIGKILL)
    assert left == []


def _is_alive(process):
    "Whether it is there, and not merely waiting to be counted as gone."
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
