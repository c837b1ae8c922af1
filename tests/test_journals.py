"""The file under every journal, and journals that earlier versions wrote, which are read and continued.

`tests/journals` has one of each kind.
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
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.core import io as core_io
from comparison_hc.core import log
from comparison_hc.core.io import JournalError, LockedFile, alone, atomic_write, copy_aside, journal_path
from comparison_hc.core.log import JournalFile, header_line, read_records, sealed_line, unsealed_line
from comparison_hc.core.parallel import check_workers
from comparison_hc.core.validation import InputError
from comparison_hc.elicitation.session import Session
from comparison_hc.link import learn_linkage
from comparison_hc.oracles import Journal, SimilarityOracle
from comparison_hc.reproduce.experiments import example_run, parameter_grid, run_experiment

OLD = Path(__file__).parent / "journals"


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


def test_old_runs(old):
    path, seen = old("experiment.jsonl"), []
    table = run_experiment(
        example_run,
        parameter_grid(ratio=[1.0, 2.0], p=0.5, n_pure=1, repetition=0),
        path,
        seed=3,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(2, 2)] and table.answers.tolist() == [178, 177] and table.seconds.tolist() == [1.382209, 0.024627]
    assert path.read_bytes() == (OLD / "experiment.jsonl").read_bytes()
    grid = parameter_grid(ratio=[1.0, 2.0, 3.0], p=0.5, n_pure=1, repetition=0)
    longer = run_experiment(example_run, grid, path, seed=3)  # and it goes on
    again = run_experiment(example_run, grid, path, seed=3)
    assert longer.equals(again) and longer.seconds.tolist()[:2] == table.seconds.tolist()
    assert path.read_bytes().startswith((OLD / "experiment.jsonl").read_bytes())


def test_old_runs_of_functions_that_moved(tmp_path):
    "A journal names the function by the module in which the first edition had it."
    from comparison_hc.reproduce.engine import RunJournal

    about = dict(version=1, seed=0, paired=[])
    header = {"format": "comparison_hc experiment", "function": "comparison_hc.reproduce_2020_link.some_run", **about}
    (tmp_path / "j").write_text(json.dumps(header) + "\n")
    RunJournal(tmp_path / "j", {"function": "comparison_hc.reproduce.l20.some_run", **about}).close()
    with pytest.raises(JournalError, match="one of this experiment"):
        RunJournal(tmp_path / "j", {"function": "comparison_hc.reproduce.n20.some_run", **about})


def test_old_curves_are_read_by_the_common_reader():
    "Lines without a header, whose checksum stands behind them; a line of today's form may follow."
    data = (OLD / "learning.jsonl").read_bytes()
    found = log.read_records(data, "curves", independent=True)
    assert (
        [record["n_trees"] for record in found.records] == [2, 1] and found.damage == "" and found.n_bytes == len(data)
    )
    more = data + log.sealed_line({"digest": "x"}, found.seal)[0]
    assert len(log.read_records(more, "curves", independent=True).records) == 3
    assert log.read_records(data.replace(b"0.2", b"0.3"), "curves", independent=True) is None  # its first line


def test_old_curves(old, tmp_path):
    D, seen, path = np.abs(np.subtract.outer(*[np.array([0.0, 1, 3, 7, 12])] * 2)), [], old("learning.jsonl")
    tasks = [(D, [0, 0, 0, 1, 1]), (D[:4, :4], [0, 1, 1, 1])]
    learned = learn_linkage(tasks, journal=path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 2)] and learned.loss == 0.25 and learned.curves[0].values.tolist() == [0.2, 0]
    learn_linkage(tasks, journal=tmp_path / "new")
    old_bytes = (OLD / "learning.jsonl").read_bytes()
    assert path.read_bytes() == old_bytes
    old_found = read_records(old_bytes, "curves", independent=True).records
    new_found = read_records((tmp_path / "new").read_bytes(), "curves", independent=True).records
    assert len(old_found) == 2 and old_found == new_found
    learn_linkage([*tasks, (D[1:4, 1:4], [0, 1, 1])], journal=path, progress=lambda *now: seen.append(now))
    assert seen[1:] == [(2, 3), (3, 3)] and path.read_bytes().startswith(old_bytes)  # and it goes on
    assert len(read_records(path.read_bytes(), "curves", independent=True).records) == 3


def test_old_sessions(old, tmp_path):
    session = Session(["ä", "bee", "cat", "dog"], old("asking.jsonl"))
    assert (
        session.state.settings.person == "Zoë"
        and [answer.answer for answer in session.state.answers] == [3, 0]
        and session.state.careful == 0.8
        and session.report == ""
    )
    before = session.path.read_bytes()
    assert before == (OLD / "asking.jsonl").read_bytes()
    new = Session(["ä", "bee", "cat", "dog"], tmp_path / "new", "Zoë")
    new.answer(3)
    new.answer(1)
    new.undo()
    new.answer(0)
    new.be_careful(0.8)
    assert records(tmp_path / "new") == records(OLD / "asking.jsonl") and new.state == session.state
    session.undo()  # and it goes on
    assert session.path.read_bytes().startswith(before)
    assert Session(["ä", "bee", "cat", "dog"], session.path).state.careful is None


# ---- lines

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["q", "a", "why", "ü"]), PLAIN, min_size=1), min_size=1, max_size=4),
    st.data(),
)
def test_a_chain_is_read_back_and_a_change_is_noticed_from_there_on(records, data):
    lines, crc = [], 0
    for record in records:
        line, crc = sealed_line(record, crc)
        lines.append(line[:-1])
        assert line.endswith(b"}\n") and line.count(b"\n") == 1
    assert crc == zlib.crc32(
        b"".join(line[:-10] for line in lines)
    )  # of everything but the eight digits, quote and brace
    crc = 0
    for line, record in zip(lines, records):
        found, crc = unsealed_line(line, crc)
        assert found == record
    damaged = data.draw(st.integers(0, len(lines) - 1))
    at, bit = data.draw(st.integers(0, len(lines[damaged]) - 1)), data.draw(st.integers(0, 7))
    lines[damaged] = lines[damaged][:at] + bytes([lines[damaged][at] ^ 1 << bit]) + lines[damaged][at + 1 :]
    crc, n_good = 0, 0
    for line in lines:
        if (found := unsealed_line(line, crc)) is None:
            break
        n_good, crc = n_good + 1, found[1]
    assert n_good == damaged


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[1]",
        b"3",
        b"null",
        b"{}",
        b'{"crc":"00000000"}',
        b'{"a":1}',
        b"\xff",
        b'{"\\ud800":1,"crc":"00000000"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_line(line):
    assert unsealed_line(line, 0) is None


# ---- the file


def test_one_writer(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "j"
    with LockedFile(path) as file:
        with pytest.raises(JournalError, match="^place must be a file that nobody else is writing; got .*j, which"):
            LockedFile(path, "place")
        code = "from comparison_hc.core.log import JournalError, LockedFile\n"
        code += f"try: LockedFile({str(path)!r})\nexcept JournalError: raise SystemExit(7)"
        assert subprocess.run([sys.executable, "-c", code]).returncode == 7
        file.append(b"still mine\n")
    held = LockedFile(path)
    assert held.read() == b"still mine\n"
    del held  # nobody holds it any more
    LockedFile(path).close()


def test_a_lock_that_a_killed_process_left_with_its_child_is_waited_for(tmp_path):
    "The child has it until it becomes another program, which a killed parent cannot say it will."
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "j"
    code = "import fcntl, sys, time; fcntl.flock(0, fcntl.LOCK_EX); print(flush=True); time.sleep(0.2)"
    with open(path, "wb") as file:
        child = subprocess.Popen([sys.executable, "-c", code], stdin=file, stdout=subprocess.PIPE)
    child.stdout.readline()
    with pytest.raises(BlockingIOError), open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with JournalFile(path, "test", {}, "a test"):
        assert child.wait(10) == 0


def test_patience(tmp_path):
    pytest.importorskip("fcntl")
    first = LockedFile(tmp_path / "j")
    threading.Timer(0.1, first.close).start()
    with LockedFile(tmp_path / "j", patience=30) as file:
        assert file.size == 0
    with LockedFile(tmp_path / "j"):
        start = time.monotonic()
        with pytest.raises(JournalError):
            LockedFile(tmp_path / "j", patience=0.1)
        assert time.monotonic() - start >= 0.1


def test_append_cut_and_read(tmp_path):
    with LockedFile(tmp_path / "j") as file:
        for line in (b"one\n", b"two\n"):
            file.append(line, fsync=False)
        assert file.read() == b"one\ntwo\n" == file.read() and file.size == 8
        file.cut(3)
        file.append(b"\nthree\n")
        assert (tmp_path / "j").read_bytes() == b"one\nthree\n"


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    write = os.write
    with LockedFile(tmp_path / "j") as file:
        file.append(b"whole\n")
        monkeypatch.setattr(core_io.os, "write", lambda fd, data: write(fd, data[:3]))
        with pytest.raises(OSError, match=r"j could not be written: is the disk full\?"):
            file.append(b"half of this\n")
        monkeypatch.setattr(core_io.os, "write", lambda fd, data: FullDisk(fd, "wb", closefd=False).write(data))
        with pytest.raises(OSError, match="No space left on device: '.*j'$"):
            file.append(b"")
        assert file.read() == b"whole\n"


def test_a_line_that_did_not_reach_the_disk_is_taken_back(tmp_path, monkeypatch):
    def broken(fd):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with LockedFile(tmp_path / "j") as file:
        file.append(b"whole\n")
        monkeypatch.setattr(core_io.os, "fsync", broken)
        with pytest.raises(OSError, match="Input/output error: '.*j'$"):
            file.append(b"lost\n")
        assert file.read() == b"whole\n"
        with pytest.raises(OSError, match="Input/output error: '.*j'$"):
            file.cut(0)
        with pytest.raises(OSError, match="Input/output error: '.*j.damaged'$"):
            copy_aside(tmp_path / "j", b"x")
    assert os.listdir(tmp_path) == ["j"]


def test_what_a_writer_cannot_read_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        atomic_write(tmp_path / "out.csv", lambda file: file.write((tmp_path / "in.csv").read_bytes()))
    assert error.value.filename == str(tmp_path / "in.csv") and os.listdir(tmp_path) == []


def held(path, name="checkpoint"):
    "What somebody is told who asks for a file that is held."
    with pytest.raises(JournalError, match=f"^{name} must be a file that nobody else is writing") as error:
        alone(path, name).__enter__()
    return str(error.value)


def test_two_names_of_one_file_have_one_lock_which_says_the_name_that_was_asked_for(tmp_path):
    pytest.importorskip("fcntl")
    file, link, far = tmp_path / "sums.npz", tmp_path / "link.npz", tmp_path / "folder" / "far.npz"
    far.parent.mkdir()
    link.symlink_to(file)
    far.symlink_to(link)
    for first in (file, link, far):
        with alone(first, "checkpoint"):
            for second in (file, link, far):
                assert f"got {second}, which is open" in held(second)
            with alone(tmp_path / "other.npz", "checkpoint"):
                pass
    assert sorted(os.listdir(tmp_path)) == ["folder", "link.npz"]


@pytest.mark.parametrize("name", ["a" * 255, "ä" * 127, "\U0001f333" * 63], ids=len)
def test_every_name_that_a_file_can_have_can_be_held_and_copied(tmp_path, name):
    pytest.importorskip("fcntl")
    with alone(tmp_path / name, "checkpoint"), alone(tmp_path / (name[:-1] + "b"), "checkpoint"):
        assert name in held(tmp_path / name)
        atomic_write(tmp_path / name, "new", locked=True)
    copies = [copy_aside(tmp_path / name, b"1"), copy_aside(tmp_path / name, b"2")]
    assert copies[0] != copies[1] and all(len(os.fsencode(copy.name)) < 143 for copy in copies)
    assert len(os.listdir(tmp_path)) == 3 and (tmp_path / name).read_text() == "new"


def test_a_draft_that_a_kill_left_behind_is_replaced_by_who_holds_the_lock(tmp_path):
    code = """
import os, signal, sys
from comparison_hc.core.io import atomic_write
def killed(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
atomic_write(sys.argv[1], killed, locked=True)
"""
    if not hasattr(signal, "SIGKILL"):
        pytest.skip("this system has no SIGKILL")
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "sums.npz")]).returncode < 0
    assert os.listdir(tmp_path) == [".sums.npz.draft"]
    atomic_write(tmp_path / "sums.npz", "whole", locked=True)
    assert os.listdir(tmp_path) == ["sums.npz"] and (tmp_path / "sums.npz").read_text() == "whole"


def test_a_draft_is_no_way_into_another_file(tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / ".sums.npz.draft").symlink_to(tmp_path / "theirs")
    atomic_write(tmp_path / "sums.npz", "ours", locked=True)
    assert (tmp_path / "theirs").read_text() == "theirs" and not (tmp_path / "sums.npz").is_symlink()


@pytest.mark.parametrize("path", [3, None, b"name", ["name"], "a\0b", "", ".", "nowhere/j", os.devnull])
def test_what_is_no_place(path):
    for call in (journal_path, LockedFile):
        with pytest.raises(InputError, match="^journal must be"):
            call(path)


def test_a_file_that_appears_between_two_questions_is_a_place(tmp_path, monkeypatch):
    "Another process makes the lock file, as soon as the system has said that there is none."
    path, ask = tmp_path / "j", os.stat

    def and_then_it_is_there(name, *words, **options):
        try:
            return ask(name, *words, **options)
        finally:
            if name == path:
                path.touch()

    monkeypatch.setattr(core_io.os, "stat", and_then_it_is_there)
    assert journal_path(path) == path and path.exists()


@pytest.mark.parametrize("name", ["a" * 300, "loop", "file/j"])
def test_a_place_that_the_system_refuses(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="^journal must be a file"):
        LockedFile(tmp_path / name)


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(core_io.os, "open", refused)
    with pytest.raises(
        JournalError, match="^path must be a file that can be read and written; got .*: Permission denied"
    ):
        LockedFile(tmp_path / "j", "path")


def test_copies_have_names_of_their_own(tmp_path):
    copies = [copy_aside(tmp_path / "j", bytes([n])) for n in range(3)]
    assert [copy.name for copy in copies] == ["j.damaged", "j.damaged-2", "j.damaged-3"] and [
        copy.read_bytes() for copy in copies
    ] == [b"\0", b"\1", b"\2"]


@pytest.mark.parametrize("n_jobs", [0, -2, 1.0, True, None, "2"])
def test_numbers_of_workers(n_jobs):
    with pytest.raises(InputError, match="^n_jobs must be a number of workers"):
        check_workers(n_jobs)
    assert check_workers(-1) == -1 and check_workers(3) == 3


# ---- damage, and replacing a file


def chain(n):
    "A journal with records 1 to n."
    data = header_line("example", {})
    seal = int(data[-11:-3], 16)
    for number in range(1, n + 1):
        line, seal = sealed_line({"n": number}, seal)
        data += line
    return data


@given(st.integers(1, 6), st.data())
def test_damage_stops_one_reading_and_costs_the_other_few_lines(n, data):
    "Whatever byte is changed, nothing is taken for a record that was not written; independent records behind it count."
    whole = chain(n)
    start = whole.index(b"\n") + 1
    at, byte = data.draw(st.integers(start, len(whole) - 2)), data.draw(st.integers(0, 255))
    broken = whole[:at] + bytes([byte]) + whole[at + 1 :]
    line = whole[:at].count(b"\n")  # the record that is hit, from 1
    before = [{"n": number} for number in range(1, line)]
    found, apart = (read_records(broken, "example", independent=independent) for independent in (False, True))
    if broken == whole:
        assert len(found.records) == len(apart.records) == n and not found.damage and not apart.damage
        return
    assert list(found.records) == before and found.damage and found.damaged[:1] == (line + 1,)
    kept = [record["n"] for record in apart.records]
    assert kept[: line - 1] == list(range(1, line)) and set(range(line + 2, n + 1)) <= set(kept) and line not in kept


def test_a_damaged_journal_is_continued_behind_the_damage(tmp_path):
    "Independent records: the damaged line stays, new lines chain to what stands there."
    path, options = tmp_path / "j", dict(kind="example", about={}, wrote="one of this test", independent=True)
    path.write_bytes(chain(3).replace(b'"n":2', b'"n":5') + b'{"n":4,"c')
    with JournalFile(path, **options) as journal:
        assert [record["n"] for record in journal.load().records] == [1, 3]
        assert "line 3" in journal.mend() and journal.copy is None
        journal.add({"n": 4})
    found = read_records(path.read_bytes(), "example", independent=True)
    assert [record["n"] for record in found.records] == [1, 3, 4] and found.damaged == (3,)


def test_half_a_character_in_a_record_is_written_and_read():
    line, seal = sealed_line({"error": "\ud800"}, 0)
    assert line.isascii() and unsealed_line(line[:-1], 0) == ({"error": "\ud800"}, seal)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    atomic_write(path, "ä,b\n", fsync=True)
    assert path.read_bytes() == "ä,b\n".encode()
    monkeypatch.setattr(core_io.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
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
def test_every_name_that_a_file_can_have_can_be_written(tmp_path, monkeypatch, name):
    replace, drafts = os.replace, []
    monkeypatch.setattr(core_io.os, "replace", lambda draft, path: (drafts.append(draft), replace(draft, path)))
    atomic_write(tmp_path / name, "old")
    atomic_write(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name] and (tmp_path / name).read_text() == "new"
    for draft in map(Path, drafts):
        assert (
            draft.parent == tmp_path and draft.name.startswith(f".{name[:30]}.") and len(os.fsencode(draft.name)) < 143
        )


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

    monkeypatch.setattr(core_io.os, "replace", refused)
    with pytest.raises(PermissionError, match=r"\] Permission denied: 'x.csv'$"):
        atomic_write("x.csv", "new")
    assert os.listdir() == ["file"]


def test_a_folder_that_goes_away_during_the_work_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text("a,b,c\nb,a,c\nc,d,a\nd,c,b\n")
    monkeypatch.setattr("comparison_hc.evaluation.page.check_destination", lambda path, *_, **__: Path(path))
    assert main(["cluster", "answers.csv", "--clusters", "2", "--labels-out", "gone/labels.csv"]) == 2
    said = capsys.readouterr().err
    assert said == "comparison-hc: [Errno 2] No such file or directory: 'gone/labels.csv'\n"


def test_answers_are_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    answers, path = Triplets([[0, 1, 2], [1, 2, 0]]), tmp_path / "answers.csv"
    answers.to_csv(path)
    before = path.read_bytes()
    monkeypatch.setattr(core_io.os, "fdopen", lambda handle, mode: FullDisk(handle, mode))
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
    assert read_comparisons(path).array.tolist() == answers.array.tolist() and (
        path.read_bytes() == first or "zip" in ending
    )


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
