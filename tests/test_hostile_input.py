"""What the commands and functions get from somebody who means no good: wrong types, NaN, nothing at all, 10³⁰, wrong
encodings, folders, control characters, a closed pipe. A good answer is one clear sentence: `InputError`, exit code 2.
"""

import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shared import Hollow

from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.core.io import check_destination
from comparison_hc.core.parallel import check_workers
from comparison_hc.core.validation import InputError, check_number, visible_text
from comparison_hc.dendrogram import Dendrogram, random_tree
from comparison_hc.elicitation.crowd import crowd_table, crowd_weights
from comparison_hc.elicitation.session import Session
from comparison_hc.estimators import ComparisonClustering, ComparisonHC
from comparison_hc.evaluation.bootstrap import bootstrap_support, majority_consensus, structure_test
from comparison_hc.evaluation.embedding import t_ste
from comparison_hc.evaluation.linkage_learning import learn_model, load_model, save_model
from comparison_hc.evaluation.model_selection import choose_method, compare_methods
from comparison_hc.evaluation.report import save_result
from comparison_hc.hierarchical.linkage import complete_linkage
from comparison_hc.hierarchical.refinement import refine
from comparison_hc.oracles import most_similar_pair
from comparison_hc.reproduce.engine import about_experiment, workers_for

RNG = np.random.default_rng(0)
ROWS = np.array([RNG.permutation(6)[:3] for _ in range(60)])
ANSWERS = Triplets(ROWS, 6, respondents=[f"p{number % 6}" for number in range(60)])
TREE = random_tree(6, 0)
ESCAPES = ["a\x01", "b\x07", "c\x1b[31m"]

# ---- functions


class Strange:
    "A value that is nothing in particular."

    def __repr__(self):
        return "Strange()"


NUMBERS = [True, 0, -1, 1.5, float("nan"), float("inf"), 10**30, -(10**30), 1e300]
TEXTS = ["", "x", "\0", "\x1b[31m", b"x"]
HOLDERS = [[], [[]], (), {}, {1: 2}, set(), iter([1]), range(3)]
ARRAYS = [
    np.array(3),
    np.zeros((0, 3)),
    np.zeros((2, 3, 4)),
    np.full((3, 3), np.nan),
    np.array([[0, 1, 2]], dtype=object),
    np.array([1 + 2j]),
    np.ma.masked_array([[0, 1, 2]], mask=[[1, 0, 0]]),
]
ROWS_OF = [[["a", "b", "c"]], [[0, 0, 0]], [[0, 1, 10**30]]]
TABLES = [pd.DataFrame(), pd.DataFrame({"a": [1]}), pd.Series([1, 2]), pd.NA, pd.NaT]
THINGS = [None, Strange(), lambda *a, **k: None, Dendrogram, TREE, ANSWERS]
ODD = [*NUMBERS, *TEXTS, *HOLDERS, *ARRAYS, *ROWS_OF, *TABLES, *THINGS]

FRAME = pd.DataFrame(ROWS, columns=list("ijk")).astype(str).assign(who="p", w=1.5)
POINTS = [RNG.normal(size=10) for _ in range(2)]
TASKS = [(np.abs(np.subtract.outer(x, x)), np.repeat([0, 1], 5)) for x in POINTS]
MODEL = learn_model(TASKS)
QUICK = dict(methods=["3-al"], n_splits=1)

READING = "header columns respondent objects encoding answer weight where missing drop_invalid format records".split()
TARGETS = {
    "read_comparisons": read_comparisons,
    "Triplets": Triplets,
    "from_frame": Triplets.from_frame,
    **{f"from_frame {name}": lambda v, name=name: Triplets.from_frame(FRAME, **{name: v}) for name in READING},
    **{
        f"Triplets {name}": lambda v, name=name: Triplets(ROWS, **{name: v})
        for name in ("n_objects", "names", "respondents", "weights")
    },
    "compare_methods": lambda v: compare_methods(v, **QUICK),
    **{
        f"compare_methods {name}": lambda v, name=name: compare_methods(ANSWERS, **(QUICK | {name: v}))
        for name in ("methods", "n_splits", "test_share", "people", "rng")
    },
    "compare_methods, a function that gives": lambda v: compare_methods(ANSWERS, {"own": lambda some: v}, n_splits=1),
    "choose_method": choose_method,
    "refine a tree": lambda v: refine(v, ANSWERS),
    "refine": lambda v: refine(TREE, v),
    "refine weights": lambda v: refine(TREE, ANSWERS, weights=v),
    "refine max_moves": lambda v: refine(TREE, ANSWERS, max_moves=v),
    "support of a tree": lambda v: bootstrap_support(v, ANSWERS, "3-al", 1),
    "support": lambda v: bootstrap_support(TREE, v, "3-al", 1),
    "support build": lambda v: bootstrap_support(TREE, ANSWERS, v, 1),
    "support, a function that gives": lambda v: bootstrap_support(TREE, ANSWERS, lambda some: v, 1),
    "support n_resamples": lambda v: bootstrap_support(TREE, ANSWERS, "3-al", v),
    "support by": lambda v: bootstrap_support(TREE, ANSWERS, "3-al", 1, v),
    "structure": lambda v: structure_test(v, "3-al", 1),
    "structure, a function that gives": lambda v: structure_test(ANSWERS, lambda some: v, 1),
    "structure n_draws": lambda v: structure_test(ANSWERS, "3-al", v),
    "structure chance": lambda v: structure_test(ANSWERS, "3-al", 1, chance=v),
    "structure, chance that gives": lambda v: structure_test(ANSWERS, "3-al", 1, chance=lambda some, rng: v),
    "consensus": majority_consensus,
    "consensus of a tree and": lambda v: majority_consensus([TREE, v]),
    "consensus threshold": lambda v: majority_consensus([TREE], v),
    "workers": lambda v: check_workers(v),
    "crowd_table": lambda v: crowd_table(v, "3-al"),
    "crowd_table build": lambda v: crowd_table(ANSWERS, v),
    "crowd_table places": lambda v: crowd_table(ANSWERS, "3-al", v),
    "crowd_weights": lambda v: crowd_weights(v, "3-al"),
    **{
        f"crowd_weights {name}": lambda v, name=name: crowd_weights(ANSWERS, **({"method": "3-al"} | {name: v}))
        for name in ("method", "n_folds", "max_rounds", "tol", "rng")
    },
    "learn": learn_model,
    "learn a task": lambda v: learn_model([TASKS[0], v]),
    "learn distances": lambda v: learn_model([TASKS[0], (v, TASKS[0][1])]),
    "learn labels": lambda v: learn_model([TASKS[0], (TASKS[0][0], v)]),
    **{
        f"learn {name}": lambda v, name=name: learn_model(TASKS, **{name: v})
        for name in ("merges", "loss", "n_clusters", "how")
    },
    "load_model": load_model,
    "save_model": lambda v: save_model(v, "model.json"),
    "save_model path": lambda v: save_model(MODEL, v),
    "model.hierarchy": MODEL.hierarchy,
    "model.hierarchy names": lambda v: MODEL.hierarchy(TASKS[0][0], v),
    "ComparisonHC": lambda v: ComparisonHC().fit(v),
    **{
        f"ComparisonHC {name}": lambda v, name=name: ComparisonHC(**{name: v}).fit(ANSWERS)
        for name in ("linkage", "n_clusters", "initial", "self_pairs", "n_comparisons", "rng")
    },
    **{
        f"ComparisonClustering {name}": lambda v, name=name: ComparisonClustering(**{name: v}).fit(ANSWERS)
        for name in ("similarity", "n_clusters", "rounding", "tol", "rng")
    },
    "to_csv": lambda v: ANSWERS.to_csv(v),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS)
def test_odd_values_are_refused_in_a_sentence_or_taken(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in ODD:
        try:
            TARGETS[target](value)
        except (InputError, OSError) as error:
            assert "\n" not in str(error) and 5 < len(str(error)) < 600, value


MISSING = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT]


@pytest.mark.parametrize("missing", MISSING, ids=lambda value: type(value).__name__)
def test_nothing_is_no_name(missing):
    names = ["a", "b", "c", "d", "e", missing]
    for call in (
        lambda: Triplets(ROWS, names=names),
        lambda: Triplets.from_frame(FRAME, objects=[*map(str, range(6)), missing]),
        lambda: MODEL.hierarchy(TASKS[0][0], [*"abcdefghi", missing]),
        lambda: Dendrogram.from_merges([(0, 1)], names=["a", missing]),
    ):
        with pytest.raises(InputError, match="free of missing values"):
            call()
    holes = pd.DataFrame({"i": ["a", "b"], "j": ["b", missing], "k": ["c", "c"]}, dtype=object)
    with pytest.raises(InputError, match="row 2, must be complete"):
        Triplets.from_frame(holes)


@pytest.mark.parametrize("half", ["\ud800", "b\udfff"])
def test_half_a_character_is_no_name(half):
    with pytest.raises(InputError, match="names must be made of whole characters"):
        Triplets(ROWS[:3], 6, names=["a", half, *"cdef"])
    with pytest.raises(InputError, match="names must be made of whole characters"):
        Dendrogram.from_merges([(0, 1)], names=["a", half])


@pytest.mark.parametrize("name", ["\ud800.html", "a\udfff.csv", "a\0b.svg"])
def test_a_place_whose_name_no_system_can_write_is_refused_before_the_work(name):
    with pytest.raises(InputError, match="--out must be the name of a file"):
        check_destination(name, "--out", (".html", ".csv", ".svg"))


NESTED = []
for _ in range(3000):
    NESTED = [NESTED]
ENDLESS = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Triplets([(0, 1, 2)], names=np.ma.array(["a", "b", "c"], mask=[0, 1, 0])), "names must be free of"),
        (lambda: Triplets([(0, 1, 2)], names=["a", "b", np.ma.masked]), "names must be free of missing"),
        (lambda: Triplets([(0, 1, 2)], names=NESTED), "names must be"),
        (lambda: Triplets([(0, 1, 2)], names=range(10**12)), "names must be at most 2,147,483,648 names"),
        (lambda: Triplets([(0, 1, 2)], names=Hollow()), r"names must be a sequence of names; got Hollow\(\)"),
        (
            lambda: Dendrogram([[1e300, 1, 1, 2], [2, 3, 2, 2], [4, 5, 3, 4]]),
            "nodes that exist: row 0 may use nodes 0 to 3",
        ),
        (lambda: Dendrogram([[0, 1, 1, 2], [2, 2.0**63, 2, 3]]), "exist: row 1 may use nodes 0 to 3; got .2, 9223"),
        (lambda: next(most_similar_pair(1000, 999_999)), "votes must be so few that the 249,750 questions"),
        (lambda: majority_consensus(range(10**12)), "trees must be at least one Dendrogram, and no more than"),
        (lambda: majority_consensus(Hollow()), "trees must be at least one Dendrogram; got Hollow"),
        (lambda: Dendrogram.from_merges(np.ma.array([[0, 1]], mask=[[0, 1]])), "merges must be .* none of them masked"),
        (lambda: next(most_similar_pair(3, np.uint64(2**64 - 1))), "votes must be so few that the 1 questions"),
        (lambda: complete_linkage(ENDLESS), "n must be a number of objects"),
        (lambda: Session(["a", "b", "c"], person=10**5000), "person must be a name"),
        (lambda: about_experiment(sorted, set(), 10**5000, (), 1), "seed must be an integer from 0 to"),
        (lambda: workers_for(sorted, 1, "a" * 5000), "backend must be"),
        (lambda: t_ste(Triplets(ROWS, 6), alpha=5e-324), "alpha must be"),
        (lambda: save_result(None, "z.html"), "result must be"),
        (lambda: Triplets([(0, 1, 2)], names=["a\0", "b", "c"]).to_csv("zero.csv"), "names must be free of zero"),
        (lambda: save_result(Triplets(ROWS, 6), "z.svg"), "result must be"),
    ],
)
def test_what_a_second_attack_found_is_named(call, said):
    with warnings.catch_warnings(), pytest.raises(InputError, match=said) as error:
        warnings.simplefilter("error")
        call()
    assert len(str(error.value)) < 500


def test_what_counts_its_own_kind_only_is_listed_all_the_same():
    "Such as a bar of progress around a generator."

    class Bar:
        def __init__(self, items):
            self.items = items

        def __len__(self):
            return self.items.__length_hint__  # a TypeError: a method is no length

        def __iter__(self):
            return iter(self.items)

    trees = [random_tree(4, rng=1)] * 3
    assert majority_consensus(Bar(iter(trees))).values.tolist() == [1, 1, 1]
    assert Triplets([(0, 1, 2)], names=Bar(iter("abc"))).names == ("a", "b", "c")


def test_numbers_of_every_kind_are_the_same_number():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_number(np.float16(2), "x", 0, 1e300) == 2
        assert math.copysign(1, check_number(-0.0, "x", 0)) == 1
    with pytest.raises(InputError, match="x must be"):
        check_number(np.float16(2), "x", 0, 1.5)


# ---- commands

GOOD = "i,j,k,who,n,ans\n" + "".join(f"o{i},o{j},o{k},p{number % 6},1,left\n" for number, (i, j, k) in enumerate(ROWS))
TABLE = "x,y,kind\n" + "".join(f"{i % 2 + i / 50},{i % 3},{'ab'[i % 2]}\n" for i in range(16))
FILES = {
    "good.csv": GOOD,
    "plain.csv": "i,j,k\n" + "".join(f"o{i},o{j},o{k}\n" for i, j, k in ROWS),
    "table.csv": TABLE,
    "empty.csv": "",
    "blank.csv": "\n\n\n",
    "header.csv": "i,j,k\n",
    "one.csv": "i,j,k\na,b,c\n",
    "same.csv": "i,j,k\na,a,a\na,a,a\n",
    "two.csv": "i,j,k\na,b,a\n",
    "short.csv": "i,j,k\na,b,c\na,b\n",
    "quote.csv": 'i,j,k\n"a,b,c\n',
    "binary.csv": bytes(range(256)) * 20,
    "utf16.csv": GOOD.encode("utf-16"),
    "latin.csv": "i,j,k\né,b,c\n".encode("latin-1"),
    "broken.csv.gz": b"\x1f\x8b\x08broken",
    "broken.csv.zip": b"PK\x03\x04broken",
    "half.json": "{",
    "empty.json": "[]",
    "numbers.json": "[1, 2, 3]",
    "deep.json": "[" * 100_000,
    "surrogate.json": '[["\\ud800", "b", "c"]]',
    "lines.jsonl": '{"i": 1}\nnope\n',
    "no.parquet": b"PAR1",
    "huge.csv": "x,y,kind\n" + f"{10**30},1,a\n2,inf,b\n",
    "nan.csv": "x,y,kind\n1,nan,a\n2,3,b\n",
    "weights.csv": "i,j,k,w\na,b,c,1e400\n",
    "weights0.csv": "i,j,k,w\na,b,c,0\n",
    "counts.csv": "i,j,k,w\na,b,c,100000000000\n",
    "sums.csv": "i,j,k,w\na,b,c,1e308\nb,a,c,1e308\nc,a,b,0.5\n",
    "matrix.csv": "0,1\n2,0\n",
    "rounded.csv": "0,9007199254740993,1\n9007199254740993,0,2\n1,2,0\n",
    "infinite.csv": "0,inf\ninf,0\n",
}
NO_FILE = ["folder", "nowhere.csv", "a\0b.csv", "x" * 5000, " ", "-"]
BAD_ANSWERS = """
    empty.csv blank.csv header.csv same.csv two.csv short.csv quote.csv binary.csv utf16.csv latin.csv broken.csv.gz
    broken.csv.zip half.json empty.json numbers.json deep.json surrogate.json lines.jsonl no.parquet
""".split()
BAD_TASKS = "good.csv empty.csv header.csv binary.csv nan.csv huge.csv one.csv".split()
BAD_LISTS = ("folder", "binary.csv", "empty.csv", "short.csv", "a\0b", "x" * 5000)
READ = "good.csv --columns i,j,k --respondent who"
READ_BADLY = """
    --columns i,j | --columns i,j,zzz | --columns 0,1,99 | --columns ,, | --columns i,i,i | --respondent zzz
    | --respondent 99 | --answer zzz | --answer who | --weight who | --weight zzz | --where zzz=1 | --where who
    | --where =1 | --where who=nobody | --encoding klingon | --encoding rot13 | --encoding base64 | --format salmon
    | --records a.b | --kind quadruplets | --kind nonsense | --header maybe | --out folder | --out nofolder/o.csv
    | --out good.csv | --out o.exe | --method zzz"""
CLUSTER_BADLY = f"""
    --clusters 0 | --clusters 7 | --clusters x | --clusters {10**30} | --seed -1 | --seed x | --questions 0
    | --support 0 | --support {10**30} | --structure x | --structure {10**30} | --labels-out o.csv | --width 0
    | --out o.html --out o.html | --width {10**30} --out o.svg | --height 1 --out o.svg | --images nofolder
    | --without zzz | --method single | --tree --method adds | --method mulk --clusters 7 | --initial nowhere
    | --without p0 --without p1 --without p2 --without p3 --without p4 --without p5"""
COMPARE_BADLY = f"--splits 0 | --splits x | --splits {10**30} | --by x | --seed -3"
LEARN_BADLY = f"""
    --label zzz | --features zzz | --features , | --metrics x zzz | --both | --merges a,b | --merges single
    | --clusters 0 | --clusters {10**30} | --journal folder | --journal nofolder/j | --journal table.csv | --jobs 0
    | --jobs -2 | --jobs {10**30} | --out m.txt | --out nofolder/m.json | --encoding klingon"""


def calls():
    "Every call as a list of words."
    for command in ("cluster", "compare", "people"):
        yield from ([command, name] for name in BAD_ANSWERS)
        yield from ([command, *READ.split(), *words.split()] for words in READ_BADLY.split("|"))
    for command in ("cluster", "compare", "people", "learn", "data"):
        yield from ([command, name] for name in NO_FILE)
    for kind in ("good.csv", "matrix.csv", "infinite.csv", "empty.csv", "rounded.csv"):
        yield ["cluster", kind, "--kind", "similarity"]
    for name in ("weights.csv", "weights0.csv", "counts.csv", "sums.csv"):
        yield ["cluster", name, "--weight", "w"]
    for option in ("--truth", "--initial", "--objects", "--linkage"):
        yield from (["cluster", "plain.csv", option, name] for name in BAD_LISTS)
    yield from (["cluster", *READ.split(), *words.split()] for words in CLUSTER_BADLY.split("|"))
    yield from (["cluster", *READ.split(), "--out", name] for name in ("o\0.html", "x" * 300 + ".html", ""))
    yield from (["compare", *READ.split(), *words.split()] for words in COMPARE_BADLY.split("|"))
    yield from (["compare", "plain.csv", "--by", "people"], ["compare", "one.csv"], ["people", "plain.csv"])
    yield from (["learn", name] for name in BAD_TASKS)
    yield from (["learn", "table.csv", "--labels", name] for name in ("good.csv", "table.csv", "folder"))
    yield from (["learn", "table.csv", "table.csv", *words.split()] for words in LEARN_BADLY.split("|"))
    yield from (["data", name] for name in ("zzz", "../../etc/passwd", ""))
    yield from (["check", name] for name in ("zzz", "[(", "a\0b", "x" * 500))
    yield from (["cluster", "plain.csv", option, "x" * 5000] for option in ("--method", "--seed", "--clusters"))
    yield from (["learn", "table.csv", "table.csv", "--features", "x" * 5000], ["serve", "plan", "--host", "../../x"])
    yield from (["classroom", "new", "my-own", "--folder", "x" * 5000], ["serve", "plan", "--host", "a..b"])
    yield from ([], ["zzz"], ["--zzz"], ["cluster"], ["learn"], ["compare"], ["people"])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    "A folder of bad files."
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder").mkdir()
    return folder


COMMANDS = ("cluster", "compare", "people", "learn", "data", "check")


@pytest.mark.parametrize("command", [*COMMANDS, "other"])
def test_bad_words_are_refused_in_one_sentence(command, hostile, capsys, monkeypatch):
    monkeypatch.chdir(hostile)
    before = {path.name: path.read_bytes() for path in hostile.iterdir() if path.is_file()}
    for words in calls():
        if (words[0] if words and words[0] in COMMANDS else "other") != command:
            continue
        if command == "learn" and "--out" not in words:
            words = [*words, "--out", "model.json"]
        code = main(words)
        out, err = capsys.readouterr()
        notes = ("comparison-hc: warning: ", "comparison-hc: making the pages")
        said = [line for line in err.splitlines() if not line.startswith(notes)]
        assert code == 2, (words, out, err)
        assert len(said) == 1 and 20 < len(said[0]) < 600 and visible_text(said[0]) == said[0], (words, err)
    assert {path.name: path.read_bytes() for path in hostile.iterdir() if path.is_file()} == before


# ---- names that a terminal or a picture would obey


@pytest.fixture
def escapes(tmp_path, monkeypatch):
    "Answers about things whose names hold control characters."
    monkeypatch.chdir(tmp_path)
    rows = [{"i": a, "j": b, "k": c} for a, b, c in (ESCAPES, ESCAPES[::-1], [ESCAPES[0], ESCAPES[2], ESCAPES[1]])]
    (tmp_path / "escapes.json").write_text(json.dumps(rows))


def test_a_screen_gets_no_control_characters(escapes, capsys):
    assert main(["cluster", "escapes.json", "--clusters", "2", "--title", "t\x1b[0m", "--tree", "--out", "t.html"]) == 0
    out, err = capsys.readouterr()
    assert "c\ufffd[31m" in out and visible_text(out) == out and err == ""
    assert main(["cluster", "escapes.json", "--columns", "i,j,\x1b[31m"]) == 2
    err = capsys.readouterr().err
    assert visible_text(err) == err
    page = open("t.html", encoding="utf-8").read()
    assert visible_text(page) == page


def test_a_control_character_does_not_end_the_process():
    "The converter of charts aborts on one: no exception, no message."
    code = f"""
from comparison_hc.core.plotting import convert_chart

class Chart:  # as altair's, without waiting for altair
    def to_dict(self):
        text = {{"text": {{"field": "name"}}, "y": {{"field": "name"}}}}
        return {{"data": {{"values": [{{"name": name}} for name in {ESCAPES!r}]}}, "mark": "text", "encoding": text}}

pdf, png, svg = (convert_chart(Chart(), form) for form in ("pdf", "png", "svg"))
print(pdf[:5] == b"%PDF-", len(png) > 100, "c\\ufffd[31m" in svg)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=100)
    assert (done.returncode, done.stdout.split()) == (0, ["True"] * 3)


def test_a_chart_that_is_handed_out_holds_no_control_character():
    "Who saves it by Altair's own `save` meets the same converter."
    bad = ["a\x00", "b\x1b[31m", "c\uffff", "d"]
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)], names=bad)
    for chart in (tree.chart(), tree.chart(labels=bad, label_title="\x01", title="\x02")):
        text = json.dumps(chart.to_dict(), ensure_ascii=False)
        assert visible_text(json.dumps(json.loads(text), ensure_ascii=False)) == text and "\\u00" not in text


def test_classes_that_look_alike_stay_two():
    tree = Dendrogram.from_merges([(0, 1), (2, 3), (4, 5)])
    chart = tree.chart(labels=["a\x01", "a\x01", "a\x02", "a\ufffd"]).to_dict()
    dicts = [x for x in _values(chart) if isinstance(x, dict)]
    domains = {tuple(x["domain"]) for x in dicts if isinstance(x.get("domain"), list) and "a\ufffd" in x["domain"]}
    assert domains == {("a\ufffd", "a\ufffd (2)", "a\ufffd (3)")}
    assert {x["c"] for x in dicts if "name" in x and "c" in x} == set(*domains)


def _values(value):
    "All that is in nested lists and dicts."
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _values(inner)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_names_of_files_that_are_no_text_are_in_no_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"n\xff.csv")
    Path(name).write_text(GOOD, encoding="utf-8")
    outs = ["--out", "n.json", "--out", "n.html", "--labels-out", "n.csv"]
    assert main(["cluster", name, "--columns", "i,j,k", "--clusters", "2", *outs]) == 0
    assert json.loads(Path("n.json").read_text(encoding="utf-8"))["title"].isprintable()
    assert Path("n.html").is_file() and Path("n.csv").is_file()


@pytest.mark.skipif(os.name != "posix", reason="makes pipes and links")
def test_a_place_that_is_no_file_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    os.symlink("loop.csv", "loop.csv")
    os.symlink("nowhere/x.csv", "lost.csv")
    for place in ("pipe.csv", "loop.csv", "lost.csv"):
        with pytest.raises(InputError, match="--out must be (a file that may be written|in an existing folder)"):
            check_destination(place, "--out", (".csv",))
    os.symlink("new.csv", "link.csv")
    assert check_destination("link.csv", "--out", (".csv",)) == Path("link.csv")


# ---- a reader that goes away


@pytest.fixture
def closed_pipe(monkeypatch):
    "An output whose reader has gone, as in `… | head -1` after the first line."
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", buffering=1) as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        yield


@pytest.mark.parametrize(
    "words, files",
    [
        ("cluster plain.csv --method 3-al --out x.csv --tree", ["x.csv"]),
        ("cluster plain.csv --method 3-al --clusters 2 --out y.nwk --labels-out z.csv", ["y.nwk", "z.csv"]),
        ("cluster plain.csv --method adds --clusters 2 --out flat.csv", ["flat.csv"]),
        ("compare plain.csv --splits 1 --out table_.csv", ["table_.csv"]),
        (f"people {READ} --method 3-al --out people.csv", ["people.csv"]),
    ],
)
def test_files_are_written_before_the_screen(words, files, hostile, tmp_path, monkeypatch, closed_pipe):
    monkeypatch.chdir(tmp_path)
    for name in ("plain.csv", "good.csv"):
        (tmp_path / name).write_bytes((hostile / name).read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(words.split()) == 0
    assert all((tmp_path / name).stat().st_size > 10 for name in files)


# ---- streams that are closed, a screen that knows only ASCII, no memory, Ctrl-C before anything has begun

FEW = "i,j,k\né,b,c\nb,é,c\n"


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_costs_no_result(closed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text(FEW, encoding="utf-8")
    monkeypatch.setattr(sys, closed, None)
    assert main("cluster few.csv --method 3-al --out few.nwk".split()) == 0
    assert main("cluster nowhere.csv".split()) == 2
    assert main("ask few.csv --journal j.jsonl".split()) == 0 if closed == "stdin" else True
    assert "é" in (tmp_path / "few.nwk").read_text(encoding="utf-8")


def test_a_screen_of_ascii_shows_a_question_mark(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text(FEW, encoding="utf-8")
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, "ascii", errors="surrogateescape"))  # the C locale's
    assert main("cluster few.csv --method 3-al --clusters 3".split()) == 0
    assert b"?" in screen.getvalue()


def test_too_little_memory_is_a_sentence(monkeypatch, capsys):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("comparison_hc.datasets.list_datasets", full)
    assert main(["data"]) == 2 and "memory" in capsys.readouterr().err


@pytest.mark.parametrize(
    "said, memory",
    [
        ("libx.so: failed to map segment from shared object", True),
        ("libx.so: cannot allocate memory in static TLS block", True),
        ("No module named 'x'", False),
    ],
)
def test_a_library_that_a_limit_of_memory_keeps_out_is_a_sentence(said, memory, monkeypatch, capsys):
    def kept_out(*_):
        raise ImportError(said)

    monkeypatch.setattr("comparison_hc.datasets.list_datasets", kept_out)
    if memory:
        assert main(["data"]) == 2 and "not enough memory" in capsys.readouterr().err
    else:
        with pytest.raises(ImportError):
            main(["data"])


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
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1] == "" and process.returncode == -signal.SIGINT


# ---- names that a table program would compute, or that make a line of their own

SLY = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1 and more",
    "-x",
    "a\nwrote /etc/passwd",
    "b\rc",
    "d\u200fe",
    "-3",
    'q"r',
    "+",
]


def test_no_name_is_a_formula_or_a_line_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [[SLY[(a + shift) % 10] for shift in (0, 1, 5)] for a in range(10)]
    (tmp_path / "sly.json").write_text(json.dumps([dict(zip("ijk", row)) for row in rows]))
    words = ["cluster", "sly.json", "--method", "3-al", "--clusters", "2", "--tree"]
    assert main([*words, "--labels-out", "l.csv"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err.count("\n") == 1 and "cannot be seen" in err
    assert lines[-1] == "wrote l.csv" and not any(line.startswith("wrote /etc") for line in lines)
    assert "\r" not in out and "\u200f" not in out
    with open("l.csv", encoding="utf-8", newline="") as file:
        text = file.read()
    cells = [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]
    assert sorted(cell.removeprefix("'") for cell in cells) == sorted(SLY) and text.count('"b\rc"') == 1
    assert [cell for cell in cells if cell[0] in "=+-@"] == ["-3"]
    assert main([*words, "--truth", "l.csv"]) == 0  # and this package reads its own table


def test_a_persons_name_is_no_formula_either(hostile, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crowd.csv").write_text((hostile / "good.csv").read_text().replace("p0", "=p0").replace("p1", "p\x1b1"))
    assert main(f"people {READ} --method 3-al --out people.csv".replace("good", "crowd").split()) == 0
    text, out = (tmp_path / "people.csv").read_text(encoding="utf-8"), capsys.readouterr().out
    assert "\n'=p0," in text and "\x1b" not in text and "\x1b" not in out


@pytest.mark.parametrize("folder", ["a\0b", "\ud800"])
@pytest.mark.parametrize(
    "words", ["plan --objects 6 --people 2 --minutes 1 --out", "reproduce f19-fig2 --quick --folder"]
)
def test_a_folder_that_no_system_can_have_is_refused_in_one_line(words, folder, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*words.split(), folder]) == 2
    said = capsys.readouterr().err.strip()
    assert re.search(r"--(out|folder) must be the name of a folder", said) and "\n" not in said


NAMED = {  # a command, and the name of the file or folder that it writes
    "reproduce f19-fig2 --quick --jobs 1 --folder": "a\x1b[31m",
    "whatif planted --p 0.5 --n-pure 3 --repeat 1 --jobs 1 --out": "a\x1b[31m.csv",
    "dashboard planted --static": "a\u202e.html",
}


@pytest.mark.skipif(sys.platform == "win32", reason="names that only POSIX has")
@pytest.mark.parametrize("words, name", NAMED.items())
def test_what_was_written_is_said_without_what_a_terminal_obeys(words, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("comparison_hc.dashboards.server.write_static", lambda _, path, *__: Path(path).touch())
    assert main([*words.split(), name]) == 0
    said = capsys.readouterr().out
    assert "wrote a\ufffd" in said and visible_text(said) == said and Path(name).exists()
