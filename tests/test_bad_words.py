"Bad words in the place of every option of every command, and screens, pipes and streams that fail."

import argparse
import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import warnings
import zlib
from itertools import permutations
from pathlib import Path

import pytest
from test_bad_input import limited

from comparison_hc import Dendrogram
from comparison_hc.cli import main
from comparison_hc.cli._main import make_parser
from comparison_hc.core.validation import visible_text

ROWS = [(f"o{a}", f"o{b}", f"o{c}", f"p{a % 3}") for a, b, c in permutations(range(6), 3)]
FILES = {
    "answers.csv": "i,j,k,who\n" + "".join(",".join(row) + "\n" for row in ROWS),
    "table.csv": "x,y,kind\n" + "".join(f"{i % 2 + i / 50},{i % 3},{'ab'[i % 2]}\n" for i in range(12)),
    "items.txt": "ant\nbee\ncat\ndog\n",
    "empty.csv": "",
    "header.csv": "i,j,k\n",
    "same.csv": "i,j,k\na,a,a\n",
    "short.csv": "i,j,k\na,b,c\na,b\n",
    "quote.csv": 'i,j,k\n"a,b,c\n',
    "deep.json": "[" * 100_000,
    "half.json": "{",
    "weights.csv": "i,j,k,w\na,b,c,1e400\n",
    "matrix.csv": "0,1\n2,0\n",
    "binary.csv": bytes(range(256)) * 20,
    "utf16.csv": "i,j\na,b\n".encode("utf-16"),
    "broken.csv.gz": b"\x1f\x8b\x08broken",
    "no.parquet": b"PAR1",
    "journal.jsonl": (Path(__file__).parent / "journals" / "asking.jsonl").read_bytes(),
}
BAD_WORDS = [
    "", " ", "0", "-1", "1.5", "nan", "1e999", str(10**30), "x", "٣", "1_0", ",,", "1:0:0", "0.1:", "\x1b[31m",
    "\u202ea\u200f", "a\nb", "a\0b", "\udcff", "\ud800", "x" * 5000, "=1+1", "[(*", "folder", "nowhere/x.csv",
    ".", "/dev/null", *FILES,
]  # fmt: skip
GOOD_WORDS = {  # words of a call that works
    "cluster": "answers.csv --columns i,j,k --method 3-al",
    "compare": "answers.csv --columns i,j,k --splits 1",
    "learn": "table.csv table.csv --out out.json",
    "ask": "items.txt --journal said.jsonl",
    "people": "answers.csv --columns i,j,k --respondent who --method 3-al",
    "pool": "journal.jsonl",
    "demo": "--out out.html",
    "data": "animals",
    "whatif planted": "--p 0.5 --n-pure 3 --repeat 1 --jobs 1",
    "plan": "--objects 6 --people 2 --minutes 1 --repeat 2 --jobs 1 --design triplets",
    "check": "T1 --errata",
}
OTHER_ERRORS = ["", *"zzz --zzz cluster learn compare people".split(), "check zzz", "data zzz", "cluster nowhere.csv"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    "A folder with good and bad files, two below the one that a path may lead up to."
    inside = tmp_path / "deep" / "down"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    Path("folder").mkdir()
    return inside


def parsers(parser=None, words=()):
    "(words of a command, its parser) of every command."
    parser = parser or make_parser()
    inner = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    for action in inner:
        for name, each in action.choices.items():
            yield from parsers(each, (*words, name))
    if not inner:
        yield " ".join(words), parser


def calls(command, parser):
    "The good call of a command with a bad word in the place of each argument."
    words = GOOD_WORDS[command].split()
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction) or action.nargs == 0:
            continue
        for word in BAD_WORDS:
            if action.option_strings:
                option = action.option_strings[-1]
                at = words.index(option) if option in words else len(words)
                changed = [*words[:at], f"{option}={word}", *words[at + 2 :]]
            else:
                changed = [word, *words[words[:1] != [] and not words[0].startswith("-") :]]
            yield [*command.split(), *changed]


def fault(words):
    "What is wrong with what a command did and said; None if nothing is."
    out, err = io.StringIO(), io.StringIO()
    before = {name: Path(name).read_bytes() for name in FILES}
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), limited(30), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = main(words)
    except BaseException as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
    changed = [name for name, data in before.items() if not Path(name).exists() or Path(name).read_bytes() != data]
    for name in changed:
        Path(name).write_bytes(before[name])
    said = err.getvalue() + out.getvalue()
    lines = [line for line in err.getvalue().splitlines() if line.startswith("comparison-hc: ")]
    errors = [line for line in lines if not line.startswith(("comparison-hc: warning: ", "comparison-hc: making"))]
    checks = {
        f"exit code {code}": code not in (0, 1, 2, 130),
        "a traceback": "Traceback" in said,
        f"{len(errors)} errors: {err.getvalue()[:200]!r}": code == 2 and (len(errors) != 1 or len(errors[0]) > 800),
        "characters that a terminal obeys": visible_text(said) != said,
        f"a message for programmers: {errors[:1]}": re.search(
            r"object at 0x|<class '|Errno -?\d+\] None", "".join(errors)
        ),
        f"{changed} changed": changed and not any("--journal" in word or "out" in word for word in words),
    }
    return next((what for what, is_wrong in checks.items() if is_wrong), None)


@pytest.mark.parametrize("command", GOOD_WORDS)
def test_bad_words_are_refused_in_one_line(command, request, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert fault([*command.split(), *GOOD_WORDS[command].split()]) is None
    wrong, parser = [], dict(parsers())[command]
    for words in calls(command, parser):
        if request.config.option.full or zlib.crc32(" ".join(words).encode("utf-8", "surrogatepass")) % 12 == 0:
            found = fault(words)
            if found:
                wrong.append(f"{' '.join(words)[:120]!r}: {found}")
    assert not wrong, visible_text("\n".join(["", *wrong]))


@pytest.mark.parametrize("words", OTHER_ERRORS)
def test_a_call_that_says_too_little_is_refused(words, capsys):
    assert main(words.split()) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("comparison-hc: ")


def test_what_is_noticed(monkeypatch):
    for does, said in (
        (lambda words: 3, "exit code 3"),
        (lambda words: 2, "0 errors"),
        (lambda words: print("\x1b[31m") or 0, "terminal"),
        (lambda words: Path("table.csv").write_text("lost") and 0, "table.csv"),
        (lambda words: 1 / 0, "ZeroDivisionError"),
    ):
        monkeypatch.setattr(sys.modules[__name__], "main", does)
        assert said in fault(["data"])


# ---- names that a terminal or a picture would obey


def test_a_screen_and_a_page_get_no_control_characters(capsys):
    names = ["a\x00", "b\x1b[31m", "c\uffff", "d\u200fe"]
    rows = [dict(zip("ijk", (names[a], names[b], names[c]))) for a, b, c in permutations(range(4), 3)]
    Path("escapes.json").write_text(json.dumps(rows))
    words = ["cluster", "escapes.json", "--clusters", "2", "--title", "t\x1b[0m", "--tree", "--out", "t.html"]
    assert main(words) == 0
    out, page = capsys.readouterr().out, Path("t.html").read_text(encoding="utf-8")
    assert "b\ufffd[31m" in out and visible_text(out) == out and visible_text(page) == page
    assert main(["cluster", "escapes.json", "--columns", "i,j,\x1b[31m"]) == 2
    err = capsys.readouterr().err
    assert visible_text(err) == err


def test_a_control_character_in_a_chart_does_not_end_the_process():
    "The converter of charts aborts on one: no exception, no message."
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)], names=["a\x00", "b\x1b[31m", "c\uffff", "d"])
    text = json.dumps(tree.chart(labels=["a\x01", "a\x01", "a\x02", "a\ufffd"], title="\x02").to_dict())
    assert not re.search(r"\\u00[01]", text) and "a\\ufffd (2)" in text  # and classes that look alike stay two


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_a_file_whose_name_is_no_text_is_read():
    name = os.fsdecode(b"n\xff.csv")
    Path(name).write_text(FILES["answers.csv"])
    assert main(["cluster", name, "--columns", "i,j,k", "--clusters", "2", "--out", "n.json"]) == 0
    assert json.loads(Path("n.json").read_text(encoding="utf-8"))["title"].isprintable()


# ---- streams that are closed, a screen that knows only ASCII, no memory, Ctrl-C before anything has begun


def test_files_are_written_before_a_screen_whose_reader_has_gone(monkeypatch):
    "As in `… | head -1` after the first line."
    for words, name in (
        ("cluster answers.csv --columns i,j,k --method 3-al --clusters 2 --tree --out x.csv", "x.csv"),
        ("compare answers.csv --columns i,j,k --splits 1 --out y.csv", "y.csv"),
        ("people answers.csv --columns i,j,k --respondent who --method 3-al --out z.csv", "z.csv"),
    ):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w", buffering=1) as gone, monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(sys, "stdout", gone)
            assert main(words.split()) == 0 and Path(name).stat().st_size > 10


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_costs_no_result(closed, monkeypatch):
    monkeypatch.setattr(sys, closed, None)
    assert main("cluster answers.csv --columns i,j,k --method 3-al --out few.nwk".split()) == 0
    assert main("cluster nowhere.csv".split()) == 2 and Path("few.nwk").exists()


def test_a_screen_of_ascii_shows_a_question_mark(monkeypatch):
    Path("few.csv").write_text("i,j,k\né,b,c\nb,é,c\n", encoding="utf-8")
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, "ascii", errors="surrogateescape"))  # the C locale's
    assert main("cluster few.csv --method 3-al --clusters 3".split()) == 0 and b"?" in screen.getvalue()


@pytest.mark.parametrize("error", [MemoryError(), ImportError("libx.so: failed to map segment from shared object")])
def test_too_little_memory_is_a_sentence(error, monkeypatch, capsys):
    def full(*_):
        raise error

    monkeypatch.setattr("comparison_hc.datasets.list_datasets", full)
    assert main(["data"]) == 2 and "memory" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_while_modules_are_read_ends_without_a_word():
    code = """
import sys, time

class Slow:
    def find_spec(self, name, *_):
        if name == "comparison_hc.cli":
            print("reading", flush=True)
            for _ in range(600):
                time.sleep(0.1)

sys.meta_path.insert(0, Slow())
from comparison_hc.__main__ import main
sys.exit(main())"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"reading\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1] == b"" and process.returncode == -signal.SIGINT
