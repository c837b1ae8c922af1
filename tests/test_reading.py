"Files as people have them: headers, roles of columns, rows to leave out, forms of tools, and who is asked to check."

import gzip
import io
import itertools
import json
import pickle
import unicodedata
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import named

from comparison_hc.cli import main
from comparison_hc.comparisons import (
    Quadruplets,
    Triplets,
    answers_and_places,
    as_quadruplets,
    as_triplets,
    comparison_components,
    majority_rows,
    read_comparisons,
)
from comparison_hc.core import _tables
from comparison_hc.core._columns import as_number
from comparison_hc.core._headers import FEW_ROWS
from comparison_hc.core.readers import Options as ReadingOptions
from comparison_hc.core.readers import parse_condition
from comparison_hc.core.validation import InputError, InputWarning
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.estimators import ComparisonClustering, ComparisonHC

ANIMALS = ["cat", "dog", "trout", "pike", "owl", "bat"]


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    "A reader is silent unless a test says what it is to warn of."
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        yield


def drawn(m, seed=0, width=3):
    "m rows of different animals."
    rng = np.random.default_rng(seed)
    return [tuple(ANIMALS[i] for i in rng.permutation(len(ANIMALS))[:width]) for _ in range(m)]


def written(path, header, rows, separator=","):
    "A delimited file."
    lines = ([header] if header else []) + list(rows)
    path.write_text("".join(separator.join(line) + "\n" for line in lines))
    return path


# ---- headers


USUAL = ["anchor,near,far", "Center,Answer,Other", "stim1,stim2,stim3", "target_center,target_left,target_right"]
USUAL += ["i,j,k", "reference,object1,object2"]


@pytest.mark.parametrize("header", USUAL)
def test_a_header_of_usual_words_is_no_answer(tmp_path, header):
    "Already above two rows, where only words can tell."
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "column .* is read as", InputWarning)
        assert named(read_comparisons(written(tmp_path / "a.csv", header.split(","), drawn(2)))) == drawn(2)


def test_names_that_occur_nowhere_else_are_a_header(tmp_path):
    path = written(tmp_path / "answers.csv", ["uno", "due", "tre"], drawn(FEW_ROWS))
    assert len(read_comparisons(path)) == FEW_ROWS


def test_with_few_rows_it_says_so_and_can_be_overruled(tmp_path):
    path = written(tmp_path / "answers.csv", ["uno", "due", "tre"], drawn(3, seed=2))
    with pytest.warns(InputWarning, match=r"\(uno, due, tre\) is read as a header.*use header=False \(--header no\)"):
        assert len(read_comparisons(path)) == 3
    assert len(read_comparisons(path, header=False)) == 4 and len(read_comparisons(path, header=True)) == 3


@pytest.mark.parametrize("text", ["4,5,6\n5,4,6\n", "car,bus,van\nbus,van,car\n", "first,second,third\n4,5,6\n5,4,6\n"])
def test_names_that_come_again_are_no_header_and_words_above_numbers_are(tmp_path, text):
    (tmp_path / "answers.csv").write_text(text)
    assert len(read_comparisons(tmp_path / "answers.csv")) == 2


def test_lonely_rows_below_make_it_an_answer_and_doubtful(tmp_path):
    path = written(tmp_path / "answers.csv", None, [("cat", "dog", "trout"), ("pike", "owl", "bat")])
    with pytest.warns(InputWarning, match="is read as an answer.*use header=True"):
        assert len(read_comparisons(path)) == 2


def test_the_known_objects_decide(tmp_path):
    path = written(tmp_path / "answers.csv", ["uno", "due", "tre"], drawn(3, seed=2))
    assert len(read_comparisons(path, objects=ANIMALS)) == 3
    path = written(tmp_path / "answers.csv", None, [("cat", "dog", "trout"), ("pike", "owl", "bat")])
    assert len(read_comparisons(path, objects=ANIMALS)) == 2


def test_words_that_are_objects_are_no_header(tmp_path):
    rows = [("left", "right", "center"), ("left", "center", "right"), ("center", "left", "right")]
    assert named(read_comparisons(written(tmp_path / "answers.csv", None, rows))) == rows


def test_words_that_are_objects_and_column_names_are_doubtful(tmp_path):
    path = written(tmp_path / "answers.csv", None, [("left", "right", "center"), ("right", "center", "left")])
    with pytest.raises(InputError, match="columns must be given.*read as a header; its words name columns, but also"):
        read_comparisons(path)
    assert len(read_comparisons(path, header=False)) == 2
    rows = [(*row, "left") for row in drawn(3)]
    path = written(tmp_path / "more.csv", ["anchor", "left", "right", "answer"], rows)
    assert len(read_comparisons(path, answer=3)) == 3


# ---- who was chosen

SHOWN = [("cat", "dog", "trout"), ("pike", "cat", "trout"), ("owl", "bat", "dog"), ("dog", "cat", "bat")]
LEFT = [True, False, True, False]


def test_which_pair_was_chosen(tmp_path):
    rows = drawn(8, width=4)
    path = written(tmp_path / "a.csv", [*"abcd", "pair"], [(*row, "12"[r % 2]) for r, row in enumerate(rows)])
    found = named(read_comparisons(path, "quadruplets", answer="pair"))
    assert found == [row if r % 2 == 0 else row[2:] + row[:2] for r, row in enumerate(rows)]


@pytest.mark.parametrize(
    "said, words",
    [
        ("dog cat up", ["line 4", "'answer'", "name of an object", "'up'"]),
        ("1 1 1", ["answer must be clear", "['1']"]),
        ("left left middle", ["line 4", "left, right", "'middle'"]),
        ("up up up", ["line 2", "one of: the name of an object"]),
        ("left , right", ["line 3", "complete", "'answer'"]),
    ],
)
def test_an_answer_that_is_none_is_refused_with_its_line(tmp_path, said, words):
    said = said.replace(" , ", "  ").split(" ")
    path = written(tmp_path / "a.csv", ["anchor", "x", "y", "answer"], [(*r, s) for r, s in zip(SHOWN, said)])
    with pytest.raises(InputError) as refused:
        read_comparisons(path, answer="answer")
    assert all(word in str(refused.value) for word in words), refused.value


def test_a_coding_by_columns_that_are_called_like_sides(tmp_path):
    rows = [("cat", "dog", "pike", "left"), ("dog", "pike", "cat", "right")]
    path = written(tmp_path / "a.csv", ["anchor", "right", "left", "answer"], rows)
    found = named(read_comparisons(path, columns=["anchor", "right", "left"], answer="answer"))
    assert found == [("cat", "pike", "dog"), ("dog", "pike", "cat")]  # the columns' names win


# ---- counts and weights


def test_counts_are_repeated_answers(tmp_path):
    path = written(
        tmp_path / "a.csv",
        ["i", "j", "k", "times", "worker"],
        [("cat", "dog", "owl", "3", "ann"), ("owl", "dog", "cat", "1.0", "ben")],
    )
    answers = read_comparisons(path, weight="times")
    assert named(answers) == [("cat", "dog", "owl")] * 3 + [("owl", "dog", "cat")] and answers.weights is None
    assert answers.respondents.tolist() == ["ann"] * 3 + ["ben"]


def test_weights_are_carried_and_never_ignored(tmp_path):
    path = written(
        tmp_path / "a.csv", ["i", "j", "k", "sure"], [("cat", "dog", "owl", "0.5"), ("owl", "dog", "cat", "2")]
    )
    answers = read_comparisons(path, weight="sure")
    assert answers.weights.tolist() == [0.5, 2.0]
    for refused in (as_triplets, as_quadruplets, lambda a: ComparisonClustering().fit(a)):
        with pytest.raises(InputError, match=r"without weights, .*\.majority\(\) \(--majority\) settles"):
            refused(answers)
    many = Triplets([(0, 1, 2)] * 3 + [(0, 2, 1)] * 2, names=["cat", "dog", "owl"])
    few = Triplets([(0, 1, 2), (0, 2, 1)], names=many.names, weights=[0.5, 2.0])
    for linkage in ("4-al", "3-al", "4k-al", "3k-al", "auto"):  # the stronger answer decides, not the more frequent one
        assert ComparisonHC(linkage).fit(many).dendrogram_.same_tree(Dendrogram.from_merges([(0, 1), (2, 3)]))
        assert ComparisonHC(linkage).fit(few).dendrogram_.same_tree(Dendrogram.from_merges([(0, 2), (1, 3)]))
    assert as_triplets(answers.without_weights()).weights is None
    assert comparison_components(answers).tolist() == [0, 0, 0]


@pytest.mark.parametrize("cell", ["0", "-1", "many", "nan", "inf", ""])
def test_a_weight_that_is_none(tmp_path, cell):
    path = written(tmp_path / "a.csv", ["i", "j", "k", "w"], [("cat", "dog", "owl", "1"), ("owl", "dog", "cat", cell)])
    with pytest.raises(InputError, match="line 3"):
        read_comparisons(path, weight="w")
    with pytest.warns(InputWarning, match="1 of 2 rows .* are left out: 1 (has no weight|lacks a value)"):
        assert len(read_comparisons(path, weight="w", drop_invalid=True)) == 1


some_weights = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(weights=some_weights, width=st.sampled_from([3, 4]), seed=st.integers(0, 99))
def test_weights_stay_with_their_answers(tmp_path_factory, weights, width, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(6)[:width] for _ in weights]
    make = Triplets if width == 3 else Quadruplets
    who = [f"p{r % 2}" for r in range(len(rows))]
    answers = make(rows, 6, ANIMALS, who, weights)
    assert answers.weights.tolist() == weights and answers != answers.without_weights()
    turned = answers.flip(1, 0)
    assert turned.weights.tolist() == weights and turned.flip(1, 0) == answers
    index = rng.permutation(len(rows))[: len(rows) // 2 + 1]
    assert answers.take(index).weights.tolist() == [weights[i] for i in index]
    assert answers.sample(len(rows), 0) == answers == pickle.loads(pickle.dumps(answers)) == make(answers)
    assert answers.to_quadruplets().weights.tolist() == weights
    path = tmp_path_factory.getbasetemp() / "weights.csv"
    answers.to_csv(path)
    assert read_comparisons(path, answers.kind, objects=ANIMALS) == answers
    with pytest.raises(ValueError):
        answers.weights[0] = 1


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(st.tuples(st.permutations(range(4)), st.integers(1, 4)), min_size=1, max_size=12))
def test_a_weighted_majority_is_the_majority_of_repeated_answers(rows):
    array = np.array([row[:3] for row, _ in rows])
    times = np.array([count for _, count in rows])
    repeated = Triplets(np.repeat(array, times, axis=0), 4).majority()
    weighted = Triplets(array, 4, weights=times / 3).majority()
    assert sorted(weighted.array.tolist()) == sorted(repeated.array.tolist()) and weighted.weights is None


def test_a_draw_of_weights_is_a_draw():
    winner, loser = np.array([0, 0, 1]), np.array([1, 1, 0])
    assert majority_rows(winner, loser, np.array([0.1, 0.2, 0.3])).tolist() == []


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, np.nan], ["a", "b"], [[1], [2]], [1, -2], [True, False]])
def test_bad_weights(weights):
    with pytest.raises(InputError, match="weights"):
        Triplets([[0, 1, 2], [1, 0, 2]], weights=weights)


def test_statements_carry_weights_and_the_callers_array_is_not_touched():
    weights = np.array([1.5, 2.5])
    answers = Triplets.from_central([[0, 1, 2], [1, 0, 2]], weights=weights)
    assert answers.weights.tolist() == [1.5, 1.5, 2.5, 2.5] and weights.flags.writeable
    old = Triplets([[0, 1, 2]])
    rebuild, (*fields, _) = old.__reduce__()
    assert rebuild(*fields) == old  # what was pickled before there were weights


# ---- rows that count


def test_only_some_rows(tmp_path):
    rows = [(*row, phase, rt) for row, phase, rt in zip(drawn(6), itertools.cycle(["test", "catch"]), "123456")]
    path = written(tmp_path / "a.csv", ["i", "j", "k", "phase", "rt"], rows)
    columns = ["i", "j", "k"]
    assert len(read_comparisons(path, columns=columns, where="phase=test")) == 3
    assert len(read_comparisons(path, columns=columns, where=["phase!=test", "rt!=2"])) == 2
    with pytest.raises(InputError, match="values there: 'test', 'catch'.*got 'phase=tests'"):
        read_comparisons(path, columns=columns, where="phase=tests")
    for wrong in ("phase", "=test", "nobody=1", 3, ["phase=test", 3]):
        with pytest.raises(InputError, match="where"):
            read_comparisons(path, columns=columns, where=wrong)


def test_conditions_are_split_at_the_first_sign():
    assert parse_condition("a=b=c") == ("a", True, "b=c") and parse_condition("a != b") == ("a", False, "b")
    assert parse_condition("a=!b") == ("a", True, "!b") and parse_condition("a=") == ("a", True, "")


def test_invalid_rows_are_left_out_and_counted(tmp_path):
    rows = [
        ("cat", "dog", "owl"),
        ("owl", "owl", "cat"),
        ("cat", "", "dog"),
        ("dog", "cat"),
        ("dog", "owl", "cat"),
        ("bat", "bat", "bat"),
    ]
    path = written(tmp_path / "a.csv", ["anchor", "near", "far"], rows)
    with pytest.raises(InputError, match="line 5, must be 3 cells"):
        read_comparisons(path)
    with pytest.warns(InputWarning) as said:
        answers = read_comparisons(path, drop_invalid=True)
    assert named(answers) == [rows[0], rows[4]] and "bat" not in answers.names
    (note,) = [str(w.message) for w in said]
    assert "4 of 6 rows" in note and "2 compare a thing with itself (lines 3, 7)" in note
    assert "1 lacks a value (line 4)" in note and "1 of another length (line 5)" in note
    with pytest.warns(InputWarning, match="not in objects"):
        path = written(tmp_path / "b.csv", None, drawn(9))
        assert len(read_comparisons(path, objects=ANIMALS[:5], drop_invalid=True, header=False)) < 9
    with pytest.raises(InputError, match="leaves answers"):
        read_comparisons(written(tmp_path / "c.csv", None, [("bat", "bat", "cat")]), drop_invalid=True)


@pytest.mark.parametrize("kind, width", [("triplets", 3), ("quadruplets", 4), ("central", 3), ("odd-one-out", 3)])
def test_what_is_left_is_what_would_not_be_refused(tmp_path, kind, width):
    rng = np.random.default_rng(width)
    rows = [tuple(rng.choice([*ANIMALS[:4], ""], width)) for _ in range(60)]
    good = []
    for row in rows:
        try:
            read_comparisons(written(tmp_path / "one.csv", None, [row]), kind, header=False)
        except InputError:
            continue
        good.append(row)
    path = written(tmp_path / "all.csv", None, rows)
    with pytest.warns(InputWarning, match=f"{60 - len(good)} of 60 rows"):
        found = read_comparisons(path, kind, header=False, drop_invalid=True)
    assert found == read_comparisons(written(tmp_path / "good.csv", None, good), kind, header=False) and good


def test_missing_values_have_names(tmp_path):
    path = written(tmp_path / "a.csv", ["anchor", "near", "far"], [*drawn(5), ("cat", "NA", "dog")])
    with pytest.warns(InputWarning, match="1 cell contains 'NA', which is read as a name.*--missing NA"):
        assert "NA" in read_comparisons(path).names
    with pytest.raises(InputError, match="line 7, must be complete.*'NA' in column 'near'"):
        read_comparisons(path, missing="NA")
    with pytest.warns(InputWarning, match="1 of 6 rows"):
        assert len(read_comparisons(path, missing="NA", drop_invalid=True)) == 5
    assert len(read_comparisons(path, objects=[*ANIMALS, "NA"])) == 6  # somebody says that it is a name


# ---- packed files, records, tables


def test_packed_files_are_the_files(tmp_path):
    plain = written(tmp_path / "answers.tsv", ["anchor", "near", "far"], drawn(5), "\t")
    expected = read_comparisons(plain)
    (tmp_path / "answers.tsv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    for name in ("answers.zip", "answers.tsv.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.write(plain, "folder/answers.tsv")
            archive.writestr("__MACOSX/._answers.tsv", "x")
    for name in ("answers.tsv.gz", "answers.zip", "answers.tsv.zip"):
        assert read_comparisons(tmp_path / name) == expected
    for name in ("bad.csv.gz", "bad.zip"):
        (tmp_path / name).write_bytes(b"PK nothing")
        with pytest.raises(InputError, match="unpacked"):
            read_comparisons(tmp_path / name)
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(plain.read_bytes())[:-12])
    with pytest.raises(InputError, match="unpacked"):
        read_comparisons(tmp_path / "cut.csv.gz")


def test_records(tmp_path):
    rows = drawn(6)
    records = [dict(zip("ijk", row)) for row in rows]
    path = tmp_path / "answers.json"
    for value, where in (
        (records, None),
        ([list(row) for row in rows], None),
        ({"study": "x", "responses": records}, "responses.*"),
        ({"people": {"ann": records[:4], "ben": records[4:]}}, "people.*.*"),
    ):
        path.write_text(json.dumps(value))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert named(read_comparisons(path, records=where)) == rows
    nested = [{"subject": "ann", "data": {"anchor": i, "pair": [j, k]}, "response": 0} for i, j, k in rows]
    path.write_text(json.dumps([{"instructions": "…"}, *nested]))
    columns = ["data.anchor", "data.pair.0", "data.pair.1"]
    with pytest.raises(InputError, match="record 1, must be complete"):
        read_comparisons(path, columns=columns)
    with pytest.warns(InputWarning, match="1 of 7 rows"):
        assert named(read_comparisons(path, columns=columns, answer="response", drop_invalid=True)) == rows


def test_what_stands_above_the_records_can_be_asked_for(tmp_path):
    rows, path = drawn(6), tmp_path / "answers.json"
    records = [dict(zip("ijk", row)) for row in rows]
    path.write_text(json.dumps({"people": [{"id": "ann", "r": records[:4]}, {"id": "ben", "r": records[4:]}]}))
    for name in ("id", "people.id"):
        found = read_comparisons(path, records="people.*.r.*", respondent=name)
        assert named(found) == rows and list(found.respondents) == ["ann"] * 4 + ["ben"] * 2
    only = dict(columns=["i", "j", "k"], where=["id=ben"])
    assert named(read_comparisons(path, records="people.*.r.*", **only)) == rows[4:]
    path.write_text(json.dumps({"people": {"ann": records[:4], "ben": records[4:]}}))
    for name in ("key", "people.key"):
        found = read_comparisons(path, records="people.*.*", respondent=name)
        assert named(found) == rows and list(found.respondents) == ["ann"] * 4 + ["ben"] * 2
    for inside in records:  # of two columns of one name the record's own counts
        inside["key"] = "of the record"
    path.write_text(json.dumps({"people": {"ann": records}}))
    assert set(read_comparisons(path, records="people.*.*", respondent="key").respondents) == {"of the record"}


def test_a_path_in_a_value():
    with pytest.raises(InputError, match="records must be left out"):
        read_comparisons(__file__, records="a.*")


def test_a_table_with_names():
    frame = pd.DataFrame(
        {"near": ["dog", "cat"], "me": ["cat", "dog"], "far": [7.0, 7.0], "Participant": ["ann", None], "n": [2, 1]}
    )
    before = frame.copy()
    with pytest.raises(InputError, match="the table, row 2, must be complete.*'Participant'"):
        Triplets.from_frame(frame, columns=["me", "near", "far"], weight="n")
    answers = Triplets.from_frame(frame, columns=["me", "near", "far"], weight="n", respondent=False)
    assert named(answers) == [("cat", "dog", "7")] * 2 + [("dog", "cat", "7")] and answers.respondents is None
    frame["Participant"] = before["Participant"] = ["ann", "ben"]
    answers = Triplets.from_frame(frame, columns=["me", "near", "far"], weight="n")
    assert answers.respondents.tolist() == ["ann", "ann", "ben"]
    assert answers == read_comparisons(frame, columns=["me", "near", "far"], weight="n") and frame.equals(before)
    with pytest.raises(InputError, match="the table, row 2, must be complete.*'me'"):
        Triplets.from_frame(frame.assign(me=["cat", None]), columns=["me", "near", "far"])
    with pytest.raises(InputError, match="6 columns: near, me, n2, p, n, x"):
        Triplets.from_frame(frame.rename(columns={"Participant": "p", "far": "n2"}).assign(x=1))
    with pytest.raises(InputError, match="different names"):
        Triplets.from_frame(pd.DataFrame([["a", "b", "c"]], columns=["i", "i", "k"]))
    some = Quadruplets([[0, 1, 2, 3], [3, 1, 0, 2]], names=ANIMALS[:4], respondents=["ann", "ben"])
    assert Quadruplets.from_frame(some.to_frame(), objects=some.names) == some


letters = st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0\ufeff")  # the last begins files
texts = st.text(letters, min_size=1, max_size=6)
texts = texts.map(lambda text: unicodedata.normalize("NFC", text)).filter(lambda t: t == t.strip())
good_names = st.lists(texts, min_size=4, max_size=6, unique=True)


@settings(max_examples=100, deadline=None)
@given(names=good_names, seed=st.integers(0, 99), who=st.booleans())
def test_any_names_survive_a_file(tmp_path_factory, names, seed, who):
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(len(names))[:3] for _ in range(5)]
    some = Triplets(rows, names=names, respondents=[f"p{r % 2}" for r in range(5)] if who else None)
    path = tmp_path_factory.getbasetemp() / "names.csv"
    some.to_csv(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # "NA" may be drawn
        assert read_comparisons(path, objects=names) == some
        assert named(read_comparisons(path)) == named(some)


# ---- forms of tools

PICKED = [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)]  # head, winner, loser


def next_records():
    "Responses of NEXT as it keeps them, the last without an answer; the winner is left in every second."
    people = {"ann": [], "ben": []}
    for number, (head, winner, loser) in enumerate([*PICKED, (0, 1, 2)]):
        left, right = (winner, loser) if number % 2 else (loser, winner)
        targets = [
            {"label": label, "target_id": i, "index": i, "primary_description": ANIMALS[i], "primary_type": "text"}
            for label, i in (("left", left), ("center", head), ("right", right))
        ]
        person = "ann" if number % 2 else "ben"
        response = {"participant_uid": person, "target_indices": targets, "alg_label": "Random"}
        people[person].append(response | ({"target_winner": winner} if number < 4 else {}))
    return {"participant_responses": people}


def test_next(tmp_path):
    expected = sorted(tuple(ANIMALS[i] for i in row) for row in PICKED)
    path = tmp_path / "participants.json"
    path.write_text(json.dumps(next_records()))
    with zipfile.ZipFile(tmp_path / "participants.json.zip", "w") as archive:
        archive.write(path, "participants.json")
    flat = sum(next_records()["participant_responses"].values(), [])
    (tmp_path / "list.json").write_text(json.dumps(flat))
    renamed = [{"index_winner" if k == "target_winner" else k: v for k, v in record.items()} for record in flat]
    (tmp_path / "old.json").write_text(json.dumps(renamed))
    for name in ("participants.json", "participants.json.zip", "list.json", "old.json"):
        with pytest.warns(InputWarning, match="1 of 5 rows are left out: without an answer"):
            answers = read_comparisons(tmp_path / name, format="next")
        assert sorted(named(answers)) == expected and set(answers.respondents.tolist()) == {"ann", "ben"}


@pytest.mark.parametrize(
    "header, words",
    [
        ("odd,a,b", dict(kind="odd-one-out")),
        ("anchor,left,right", dict(kind="central")),
        ("anchor,near,far", {}),
        ("anchor,left,right,choice", dict(columns=["anchor", "left", "right"], answer="choice")),
    ],
)
def test_names_of_columns_that_are_right_are_not_pointed_out(tmp_path, header, words):
    rows = [(*(ANIMALS[at] for at in row), *["left"] * (header.count(",") - 2)) for row in PICKED]
    assert len(read_comparisons(written(tmp_path / "clear.csv", header.split(","), rows), header=True, **words)) > 0


@pytest.mark.parametrize("separator", [",", " ", "\t"])
def test_cblearn(tmp_path, separator):
    rows = np.array(PICKED)
    np.savetxt(tmp_path / "list.txt", rows, delimiter=separator)  # 0.000000000000000000e+00
    assert read_comparisons(tmp_path / "list.txt", format="cblearn-list").array.tolist() == rows.tolist()
    turned = rows.copy()
    turned[1::2] = turned[1::2][:, [0, 2, 1]]
    for said, times in (([1, 0, 1, 0], 1), ([1, -1, 1, -1], 1), ([3, -2, 1, -1], [3, 2, 1, 1])):
        np.savetxt(tmp_path / "bool.txt", np.c_[turned, said], delimiter=separator, fmt="%d")
        answers = read_comparisons(tmp_path / "bool.txt", format="cblearn-bool")
        assert answers.array.tolist() == np.repeat(rows, times, axis=0).tolist() and answers.weights is None
    pd.DataFrame(turned).assign(r=[True, False] * 2).to_csv(tmp_path / "b.csv", index=False, sep=separator)
    assert read_comparisons(tmp_path / "b.csv", format="cblearn-bool").array.tolist() == rows.tolist()
    np.savetxt(tmp_path / "bool.txt", np.c_[turned, [1, -1, 0, 1]], delimiter=separator, fmt="%d")
    with pytest.raises(InputError, match="line 3, must be decided.*'0'"):
        read_comparisons(tmp_path / "bool.txt", format="cblearn-bool")
    with pytest.raises(InputError, match="4 columns, as cblearn"):
        read_comparisons(tmp_path / "list.txt", format="cblearn-bool")


# ---- the command


def run(capsys, *words):
    "(exit code, lines of both streams) of the command."
    code = main(["cluster", *map(str, words)])
    return code, *capsys.readouterr()


def test_the_command_says_what_it_took(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "a.csv", ["uno", "due", "tre"], drawn(3, seed=2))
    code, out, err = run(capsys, "a.csv")
    assert code == 0 and "warning: the first line of a.csv" in err and out.count("uno") == 1
    written(tmp_path / "b.csv", ["head", "winner", "loser"], [("a1", "b1", "c1"), ("x", "y", "z")])
    code, out, err = run(capsys, "b.csv")
    assert code == 0 and "leave 2 groups" in err and out.count("head") == 1


def test_rows_left_out_are_counted_among_those_that_count(tmp_path):
    rows = [("cat", "dog", "owl", "a"), ("cat", "cat", "owl", "a"), ("owl", "owl", "cat", "a"), ("x", "x", "y", "b")]
    path = written(tmp_path / "a.csv", ["i", "j", "k", "day"], rows)
    kept = dict(columns=["i", "j", "k"], drop_invalid=True)
    said = r"2 of 3 rows of .*a.csv that meet the condition are left out: 2 compare .* itself \(lines 3, 4\)$"
    with pytest.warns(InputWarning, match=said):
        read_comparisons(path, where="day=a", **kept)
    with pytest.warns(InputWarning, match=r"2 of 3 rows of .* that meet the conditions are left out"):
        read_comparisons(path, where=["day=a", "day!=b"], **kept)
    with pytest.warns(InputWarning, match=r"3 of 4 rows of .*a.csv are left out: 3 compare .*\(lines 3, 4, 5\)$"):
        read_comparisons(path, **kept)
    (tmp_path / "b.csv").write_text("i,j,k,day\ncat,dog,owl,a\nowl,dog,b\n")  # a short row that does not count
    assert len(read_comparisons(tmp_path / "b.csv", where="day=a", columns=["i", "j", "k"])) == 1


@pytest.mark.parametrize("kind", ["triplets", "quadruplets", "central", "odd-one-out"])
def test_places_of_what_was_chosen(tmp_path, kind):
    width, n_shown = (4, 2) if kind == "quadruplets" else (3, 2 if kind == "triplets" else 3)
    words = [str(number % n_shown) for number in range(7)]
    rows = [(*"abcd"[:width], word) for word in words]
    path = written(tmp_path / "a.csv", [*"ijkl"[:width], "chosen"], rows)
    answers, places = answers_and_places(path, ReadingOptions(kind, columns=tuple("ijkl"[:width]), answer="chosen"))
    assert answers == read_comparisons(path, kind, columns=list("ijkl"[:width]), answer="chosen")
    chosen = places[places >= 0]
    assert chosen.tolist() == [int(word) for word in words] and len(places) == len(answers)
    plain = written(tmp_path / "b.csv", list("ijkl"[:width]), [row[:width] for row in rows])
    assert answers_and_places(plain, ReadingOptions(kind))[1] is None


def test_the_command_understands_roles(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(*row, "left" if left else "right", "test", "2") for row, left in zip(SHOWN, LEFT)]
    rows += [("owl", "owl", "bat", "left", "test", "1"), ("pike", "owl", "bat", "left", "practice", "1")]
    written(tmp_path / "a.csv", ["anchor", "l", "r", "answer", "phase", "n"], rows)
    roles = "--columns anchor,l,r --answer answer --weight n --where phase=test --drop-invalid"
    code, out, err = run(capsys, "a.csv", *roles.split())
    assert code == 0
    assert "1 of 5 rows of a.csv that meet the condition are left out: 1 compares a thing with itself (line 6)" in err
    (line,) = [line for line in out.splitlines() if line.startswith("answers")]
    assert line.split()[-1] == "8"
    written(tmp_path / "responses.csv", ["head", "winner", "loser"], drawn(3))
    assert run(capsys, "responses.csv", "--format", "salmon")[0] == 0
    (tmp_path / "n.json").write_text(json.dumps({"r": [list(row) for row in drawn(9)]}))
    assert run(capsys, "n.json", "--records", "r.*", "--header", "no")[0] == 0
    code, _, err = run(capsys, "a.csv", *roles.split()[:4], "--weight", "phase")
    assert code == 2 and "line 2" in err and "weight above zero" in err


@pytest.mark.parametrize("words", [["--weight", "n"], ["--where", "a=b"], ["--drop-invalid"], ["--format", "salmon"]])
def test_a_matrix_has_no_roles(capsys, tmp_path, words):
    (tmp_path / "w.csv").write_text("0,1,2\n1,0,3\n2,3,0\n")
    code, _, err = run(capsys, tmp_path / "w.csv", "--kind", "similarity", *words)
    assert code == 2 and f"{words[0]} must be left out with --kind similarity" in err


@pytest.mark.parametrize("name", ["car", "food"])
def test_real_answers_behind_any_header(dataset_or_skip, tmp_path, name):
    "The command's commonest case: real answers with a header that nobody knows."
    answers = dataset_or_skip(name).triplets
    frame = answers.take(slice(0, 2000)).to_frame()[["i", "j", "k"]].astype(str)
    expected = read_comparisons(frame)
    for header in (["head", "winner", "loser"], ["uno", "due", "tre"]):
        for m in (20, len(frame)):
            buffer = io.StringIO()
            frame.head(m).to_csv(buffer, header=header, index=False)
            (tmp_path / "answers.csv").write_text(buffer.getvalue())
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", InputWarning)
                found = read_comparisons(tmp_path / "answers.csv")
            assert len(found) == m or (said and "read as an answer" in str(said[0].message))
    assert found.names == expected.names


def test_a_number_is_what_other_programs_call_one(tmp_path):
    assert [as_number(cell) for cell in ("1", "-2.5", "1e3", " 7 ", "1_0", "1_0.5", "x", "")] == [
        *(1, -2.5, 1000, 7),
        *[None] * 4,
    ]
    (tmp_path / "a.csv").write_text("i,j,k,w\na,b,c,1\nb,a,c,1_0\n")
    with pytest.raises(InputError, match="line 3, must be a row with a weight above zero; got '1_0'"):
        read_comparisons(tmp_path / "a.csv", weight="w")
    (tmp_path / "list.txt").write_text("1_0,2,3\n2,3,1\n")
    answers = read_comparisons(tmp_path / "list.txt", format="cblearn-list")
    assert [tuple(answers.names[o] for o in row) for row in answers.array] == [
        ("1_0", "2", "3"),
        ("2", "3", "1"),
    ]  # a first line that is no header


def test_large_texts_are_read_in_pieces_of_letters_not_of_bytes():
    "Letters of one to four bytes at every border of a piece; the cells are those of the plain definition."
    names = ["é", "日本語", "a b", "😀x", "plain"]
    cells = np.random.default_rng(0).choice(names, (90_000, 3))
    text = "\n".join(",".join(row) for row in cells.tolist())
    assert len(text) > 3 * 262_144
    np.testing.assert_array_equal(np.stack(_tables._even_columns(text, ","), axis=1), cells)


def test_triplets_by_position_in_sorted_order_are_doubted():
    rows = [tuple(map(str, row)) for row in itertools.permutations(range(8, 13), 3) if row[1] < row[2]]
    with pytest.warns(InputWarning, match=f"in sorted order in all {len(rows)} rows.*--kind"):
        read_comparisons(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_comparisons(rows, kind="central")
        read_comparisons(rows[:19])
        read_comparisons([*rows, ("9", "12", "8")])
        read_comparisons([("anchor", "near", "far"), *rows])
