"The file under every journal, and journals that earlier versions wrote: they are read, and continued, as ever. `tests/journals` has one of each kind."

import errno
import os
import shutil
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

from comparison_hc.ground import journals
from comparison_hc.ground.journals import JournalError, LockedFile, copy_aside, journal_path, sealed_line, unsealed_line
from comparison_hc.ground.validation import InputError
from comparison_hc.ground.workers import check_workers
from comparison_hc.link import learn_linkage
from comparison_hc.oracles import Journal, SimilarityOracle
from comparison_hc.people.asking import Session
from comparison_hc.reproduce.experiments import example_run, parameter_grid, run_experiment

OLD = Path(__file__).parent / "journals"


@pytest.fixture
def old(tmp_path):
    "`old(name)`: a copy of an old journal."

    def copy(name):
        return Path(shutil.copy(OLD / name, tmp_path / name))

    return copy


# ---- what earlier versions wrote

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
    with Journal(SimilarityOracle(similarity()), tmp_path / "new") as journal:
        for batch in QUESTIONS:
            journal(batch)
    assert (tmp_path / "new").read_bytes() == path.read_bytes()


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


def test_old_curves(old, tmp_path):
    D, seen, path = np.abs(np.subtract.outer(*[np.array([0.0, 1, 3, 7, 12])] * 2)), [], old("learning.jsonl")
    tasks = [(D, [0, 0, 0, 1, 1]), (D[:4, :4], [0, 1, 1, 1])]
    learned = learn_linkage(tasks, journal=path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 2)] and learned.loss == 0.25 and learned.curves[0].values.tolist() == [0.2, 0]
    learn_linkage(tasks, journal=tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == path.read_bytes() == (OLD / "learning.jsonl").read_bytes()


def test_old_sessions(old, tmp_path):
    session = Session(["ä", "bee", "cat", "dog"], old("asking.jsonl"))
    assert (
        session.state.settings.person == "Zoë"
        and [vote.answer for vote in session.state.votes] == [3, 0]
        and session.state.careful == 0.8
        and session.report == ""
    )
    new = Session(["ä", "bee", "cat", "dog"], tmp_path / "new", "Zoë")
    new.answer(3)
    new.answer(1)
    new.undo()
    new.answer(0)
    new.be_careful(0.8)
    assert (tmp_path / "new").read_bytes() == session.path.read_bytes() == (OLD / "asking.jsonl").read_bytes()


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
        with pytest.raises(JournalError, match="^place must be a journal that nobody else is writing; got .*j, which"):
            LockedFile(path, "place")
        code = f"from comparison_hc.ground.journals import *\ntry: LockedFile({str(path)!r})\nexcept JournalError: raise SystemExit(7)"
        assert subprocess.run([sys.executable, "-c", code]).returncode == 7
        file.append(b"still mine\n")
    held = LockedFile(path)
    assert held.read() == b"still mine\n"
    del held  # nobody holds it any more
    LockedFile(path).close()


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
        monkeypatch.setattr(journals.os, "write", lambda fd, data: write(fd, data[:3]))
        with pytest.raises(OSError, match="disk full"):
            file.append(b"half of this\n")
        assert file.read() == b"whole\n"


@pytest.mark.parametrize("path", [3, None, b"name", ["name"], "a\0b", "", ".", "nowhere/j", os.devnull])
def test_what_is_no_place(path):
    for call in (journal_path, LockedFile):
        with pytest.raises(InputError, match="^journal must be"):
            call(path)


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(journals.os, "open", refused)
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
