"""A small part of what `python tests/attack.py` does: every public name is met, and the same values every time."""

import io
import os
import re
import sys
import warnings
from pathlib import Path

import attack
import attack_commands
import pytest

from comparison_hc.core.io import JournalError, locked
from comparison_hc.flat import adds_from_file


@pytest.fixture
def inside(tmp_path, monkeypatch):
    "A folder that may be attacked: what is written into the two above it is written into `tmp_path`."
    folder = tmp_path / attack_commands.DEEP
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_every_public_name_is_attacked_or_left_out_for_a_reason():
    lacking = [
        name
        for name, function in attack.targets().items()
        if name not in attack.NOT_ATTACKED and attack.good_call(name, function) is None
    ]
    assert lacking == [] and all(len(reason) > 8 for reason in attack.NOT_ATTACKED.values())


def test_a_part_of_the_bad_values_is_refused_in_a_sentence(inside):
    covered, lacking, n_calls, failures = attack.attack_names(share=40)
    assert failures == [] and lacking == [] and covered > 100 and n_calls > 500


def test_every_option_of_every_command_is_in_the_table():
    known = dict(attack_commands.parsers())
    assert set(known) == set(attack_commands.GOOD_WORDS) and len(known) > 20
    options = {f"{command} {each.dest}" for command, parser in known.items() for each in parser._actions}
    assert len({what.partition(" = ")[0] for what, _ in attack_commands.calls()}) > 0.8 * len(options) > 150


def test_a_part_of_the_bad_words_is_refused_in_a_sentence(inside):
    failures, quick = [], attack_commands.one_in(48)
    tried = attack_commands.attack_words(
        attack_commands.calls(), failures, lambda what: quick(what) and " = " in what and what.split()[0] in QUICK
    )
    assert failures == [] and tried > 60


def test_names_of_files_that_a_terminal_obeys_reach_it_harmless(inside):
    "Every command, every place where it says what it wrote; the book, which takes a minute, in `test_book.py`."
    failures, places = ([], re.compile(r"(FOLDER|--folder|--out|--[a-z]+-out|--journal|--static) = escape$"))
    tried = attack_commands.attack_words(
        attack_commands.calls(), failures, lambda what: places.search(what) and not what.startswith("book build")
    )
    assert failures == [] and tried >= 15


QUICK = "cluster compare people learn ask pool data serve dashboard classroom book".split()


@pytest.mark.parametrize(
    "does, said",
    [
        (lambda: 2, "without a word"),
        (lambda: 3, "exit code 3"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: print("\x1b[31m") or 0, "terminal"),
        (lambda: print("comparison-hc: a", "comparison-hc: b", sep="\n", file=sys.stderr) or 2, "2 lines"),
        (lambda: print("comparison-hc: x must be 1", file=sys.stderr) or 2, None),
        (lambda: Path("table.csv").write_text("lost") and 0, "table.csv was changed"),
    ],
)
def test_the_attack_on_commands_notices(does, said, inside, monkeypatch):
    monkeypatch.setattr(attack_commands, "main", lambda words: does())
    failures = []
    attack_commands.attack_words([("here", ["data"])], failures)
    assert failures == [] if said is None else said in failures[0]


@pytest.mark.skipif(os.name != "posix", reason="groups of processes are POSIX's")
def test_a_command_that_never_ends_is_ended_and_counted(monkeypatch):
    monkeypatch.setattr(attack, "LONGEST", 0.2)
    process = attack.started([sys.executable, "-c", "import time; time.sleep(60)"])
    assert attack.said_by(process) is None and process.returncode == -9
    monkeypatch.setattr(attack, "LONGEST", 60)
    assert attack.said_by(attack.started([sys.executable, "-c", "import sys; sys.exit('no')"])).strip() == b"no"


def test_changed_files_and_journals(inside):
    assert attack.attack_readers(60) + attack.attack_journals(12) == []


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: None, None),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=2), "RuntimeWarning"),
        (lambda: (_ for _ in ()).throw(attack.InputError("one line\nand another")), "message"),
    ],
)
def test_the_attack_notices(call, said):
    found = attack.outcome(call)
    assert found is None if said is None else said in found


HELD = {  # a command, and the journal that somebody else is writing
    "ask items.txt --journal held.jsonl": "held.jsonl",
    "learn table.csv table.csv --out out.json --journal held.jsonl": "held.jsonl",
    "plan --objects 6 --people 2 --minutes 1 --repeat 2 --jobs 1 --design triplets --journal held.jsonl": "held.jsonl",
    "whatif planted --p 0.5 --n-pure 3 --repeat 1 --jobs 1 --journal held.jsonl": "held.jsonl",
    "reproduce f19-fig2 --quick --jobs 1 --folder folder": "folder/f19-fig2.jsonl",
    "classroom grade class --assignment break-single-linkage": "class/break-single-linkage.grades.jsonl",
}


@pytest.mark.skipif(sys.platform == "win32", reason="files are locked on POSIX only")
@pytest.mark.parametrize("words, journal", HELD.items())
def test_the_second_on_one_journal_is_refused_in_a_sentence(words, journal, inside, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    monkeypatch.setattr("comparison_hc.elicitation.session._PATIENCE", 0.1)
    attack_commands.lay_out(inside)
    with locked(journal):
        assert attack_commands.main(words.split()) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("comparison-hc: ") and "nobody else is writing" in said and journal in said
    assert Path(journal).read_bytes() == b""


def test_the_second_on_one_checkpoint_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "answers.csv").write_text("i,j,k\n0,1,2\n1,0,3\n2,3,0\n")
    with locked(tmp_path / "kept.npz.lock"), pytest.raises(JournalError, match="nobody else is writing"):
        adds_from_file(tmp_path / "answers.csv", n_objects=4, checkpoint=tmp_path / "kept.npz")
    assert not (tmp_path / "kept.npz").exists()


def test_a_folder_that_others_use_is_not_attacked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="of their own"):
        attack_commands.attack_words([], [])
    assert list(tmp_path.iterdir()) == []
