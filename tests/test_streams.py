"Files read by the batch: the same answers as all at once, from any place, and refusals with their line."

import os
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from comparison_hc.comparisons import read_comparisons
from comparison_hc.core.streams import AnswerFile, Place
from comparison_hc.core.validation import InputError
from comparison_hc.flat.similarity import adds3
from comparison_hc.flat.streams import adds_from_file


def sizes(path, place=None, **options):
    "How many answers each batch holds."
    return [len(answers) for answers, _ in AnswerFile(path, **options).batches(place)]


@pytest.fixture
def files(tmp_path):
    "Three small files, each with something wrong in it."
    (tmp_path / "numbers.csv").write_text("0,1,2\n" * 5 + "0,1,1\n")
    (tmp_path / "word.csv").write_text("0,1,2\n" * 3 + "0,one,2\n")
    (tmp_path / "short.csv").write_text("0,1,2\n0,1\n0,1,2\n")
    (tmp_path / "lines.jsonl").write_text("[0, 1, 2]\n")
    return tmp_path


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("numbers.csv", dict(n_objects=3), "line 6, must be a comparison of two different pairs"),
        ("numbers.csv", dict(n_objects=2), "line 1, must be made of whole numbers from 0 to 1"),
        (
            "word.csv",
            dict(n_objects=3),
            "line 4, must be made of whole numbers from 0 to 2, as n_objects says; got 'one'",
        ),
        ("short.csv", dict(n_objects=3), "line 2, must be 3 cells"),
        ("numbers.csv", dict(objects=["0", "1"]), "line 1, must be made of names given in objects; got '2'"),
        ("numbers.csv", dict(), "n_objects or objects must be given"),
        ("numbers.csv", dict(n_objects=3, objects=["0", "1", "2"]), "n_objects or objects must be given"),
        ("numbers.csv", dict(n_objects=3, kind="quadruplets"), "line 1, must be 4 columns"),
        ("numbers.csv", dict(n_objects=3, kind="pairs"), "kind must be"),
        ("numbers.csv", dict(n_objects=3, batch=1), "batch must be"),
        ("numbers.csv", dict(n_objects=3, columns=[0, 1]), "columns must be a list of 3"),
        ("lines.jsonl", dict(n_objects=3), "path must be a delimited text file"),
        ("nowhere.csv", dict(n_objects=3), "path must be an existing file"),
        ("word.csv", dict(n_objects=3, encoding="utf-16"), "encoding must be one in which a line end is one byte"),
        ("word.csv", dict(n_objects=3, encoding="utf-9"), "encoding must be the name of a text encoding"),
    ],
)
def test_refusals_say_where_and_why(files, name, options, words):
    with pytest.raises(InputError) as refused:
        sizes(files / name, **options)
    assert words in str(refused.value)


def test_a_file_that_was_changed_is_not_continued(files):
    place = next(AnswerFile(files / "word.csv", n_objects=3, batch=16).batches())[1]
    with pytest.raises(InputError, match="the file that was read before"):
        sizes(files / "short.csv", place, n_objects=3)
    first, after = next(AnswerFile(files / "numbers.csv", n_objects=3, batch=16).batches(Place()))
    assert (len(first), after.offset, after.line) == (2, 12, 3)


@pytest.mark.parametrize("size", [16, 48, 1 << 20])
@pytest.mark.parametrize("kind, width", [("triplets", 3), ("quadruplets", 4), ("central", 3), ("odd-one-out", 3)])
def test_a_table_by_the_batch_is_the_table(tmp_path, kind, width, size):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(width)
    rows = np.array([rng.permutation(6)[:width] for _ in range(30)])
    path = tmp_path / "answers.parquet"
    pd.DataFrame(rows, columns=list("ijkl")[:width]).to_parquet(path, row_group_size=7)
    everything = read_comparisons(path, kind, objects=range(6)).array
    for who in (dict(n_objects=6), dict(objects=list(map(str, range(6))))):
        file = AnswerFile(path, kind, batch=size, **who)
        read = list(file.batches())
        assert np.concatenate([answers.array for answers, _ in read]).tolist() == everything.tolist()
        assert file.n_rows == read[-1][1].offset == 30
        for done, (_, place) in enumerate(read):
            assert sum(map(len, (a for a, _ in file.batches(place)))) == sum(len(a) for a, _ in read[done + 1 :])


def test_a_wrong_cell_of_a_table_is_named_with_its_row(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame(dict(i=["0", "1"], j=["1", "x"], k=["2", "0"])).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="row 2, must be made of whole numbers from 0 to 2"):
        sizes(tmp_path / "t.parquet", n_objects=3)


# ---- the two readers say the same about every file

NAMES = ["0", "1", "2", "a", "b c", 'in"ch', "é"]
NUMBERS = ["0", "1", "2", "3", "4", "5", "6"]
STRANGE = [
    '"',
    '""',
    '"a"',
    ' "a"',
    'a"',
    '"a""b"',
    '"b\nc"',
    '"a',
    " a ",
    "+1",
    "01",
    "1.0",
    "1e0",
    "٣",
    "",
    "\0",
    "x",
]
WORDS = ["i", "j", "k", 'i"1', "anchor", "respondent", "weight", 'positive "near"']
CELLS = st.sampled_from(NAMES) | st.sampled_from(NAMES + STRANGE + WORDS)
LINES = st.lists(CELLS, min_size=1, max_size=5) | st.lists(CELLS, min_size=3, max_size=3)
DRAWN = st.lists(st.permutations(NAMES).map(lambda names: [f'"{n}"'.replace('in"ch', 'in""ch') for n in names[:3]]))
PLAIN = st.lists(st.permutations(NUMBERS).map(lambda names: list(names[:3])), max_size=5)


MARK = b"\xef\xbb\xbf"


@st.composite
def small_files(draw):
    "Bytes that look like a file of answers, more or less."
    header = draw(st.none() | LINES | st.permutations(WORDS).map(lambda words: list(words[:3])))
    rows = draw(DRAWN) + draw(PLAIN) + draw(st.lists(LINES, max_size=2))
    rows = draw(st.permutations(rows))
    separator = draw(st.sampled_from(",,,;\t"))
    ends = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = ends.join(map(separator.join, ([] if header is None else [header]) + rows))
    data = (text + draw(st.sampled_from(["", ends, ends + " ", "\n\n"]))).encode(
        draw(st.sampled_from(["utf-8", "latin-1"])), "replace"
    )
    if draw(st.integers(0, 9)) == 0:
        data = data[: draw(st.integers(0, len(data)))]
    return draw(st.sampled_from([b"", b"", MARK, 2 * MARK])) + data


def said(read):
    "The rows that were read, or that the file was refused."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read()
        except InputError as error:
            assert "\n" not in str(error)
            return "refused"


def both(path, objects, header, batch, encoding="utf-8-sig"):
    "What `read_comparisons` says, and what the batches do."
    by_number = objects == NUMBERS
    how = dict(n_objects=len(objects)) if by_number else dict(objects=objects)
    alike = dict(header=header, encoding=encoding)

    def streamed():
        batches = [answers.array for answers, _ in AnswerFile(path, batch=batch, **alike, **how).batches()]
        return np.concatenate(batches).tolist() if batches else "refused"  # `adds_from_file` refuses an empty one

    return said(lambda: read_comparisons(path, objects=objects, **alike).array.tolist()), said(streamed)


@given(small_files(), st.sampled_from([NAMES, NUMBERS]), st.sampled_from([None, True, False]), st.integers(16, 80))
@example(b'i"1,j,k\n' + b"0,1,2\n" * 5, NUMBERS, None, 16)
@example(b'i"1,j,k\n' + b"0,1,2\n" * 5, NUMBERS, True, 100)
@example(b'in"ch,"a","b c"\n' + b'0,1,2\n"in""ch",0,1\n', NAMES, False, 30)
@example(b'0,1,2\n"b\nc",1,2\n', NAMES, None, 16)
@example("i,j,k\n0,1,2\n".encode("utf-16-le"), NAMES, None, 100)
@example(b"0,1,2\r" * 400 + b"2,1,0", NUMBERS, None, 16)
@example(b"0,1,2\n" * 9 + b"\t", NUMBERS, None, 100)
@example(2 * MARK + b"b,j,k\n0,1,2\n0,2,1", [*NUMBERS, *"bjk"], None, 100)
@example(b"a,near,c\nc,a,d", [*"abcd"], None, 100)
@example(b'a,near,"c"\nc,b,a\na,"c",d', [*"abcd"], None, 100)
@example(b"\n0,1,2", NUMBERS, None, 100)
@example(b"\n" * (1 << 17) + b"i,j,k\n0,1,2\n", NUMBERS, None, 100)
@example(b",,\n" * 30000 + b"i,j,k\n0,1,2\n", NUMBERS, None, 100)
@example(b"\xc2\xa0\n" * 30000 + b"i,j,k\n0,1,2\n", NUMBERS, None, 100)
@example(b"\n" * 65525 + b"a,near,c\nc,a,b\n", [*"abc"], None, 100)
def test_both_readers_say_the_same(tmp_path_factory, data, objects, header, batch):
    path = tmp_path_factory.getbasetemp() / "differential.csv"
    path.write_bytes(data)
    whole, streamed = both(path, objects, header, batch)
    assert whole == streamed


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8", "UTF8", "cp65001"])
@pytest.mark.parametrize("start", [MARK, 2 * MARK])
@pytest.mark.parametrize("header", [b"", b"i,j,k\n", b'"i",j,k\n'])
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path, encoding, start, header):
    path = tmp_path / "marked.csv"
    path.write_bytes(start + header + b'"d",c,b\nd,c,a\n')
    whole, streamed = both(path, [*"abcd"], None, 100, encoding)
    assert whole == streamed == [[3, 2, 1], [3, 2, 0]]
    assert read_comparisons(path, encoding=encoding).names == tuple("abcd")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_the_line_is_right_wherever_blocks_are_cut(tmp_path, end):
    path = tmp_path / "lines.csv"
    path.write_bytes((b"0,1,2" + end) * 40 + b"0,1,x" + end)
    for batch in range(16, 40):
        with pytest.raises(InputError, match="line 41, must be"):
            list(AnswerFile(path, n_objects=3, header=False, batch=batch).batches())


def test_a_quote_in_the_header_hides_no_answer(tmp_path):
    (tmp_path / "a.csv").write_text('item 5",near,far\n' + "0,1,2\n" * 5)
    assert (
        adds_from_file(tmp_path / "a.csv", n_objects=3).n_comparisons == 5 == len(read_comparisons(tmp_path / "a.csv"))
    )


def test_names_that_no_cell_can_say_are_in_no_answer(tmp_path):
    (tmp_path / "a.csv").write_text("0 ,1,2\n")
    for read in (read_comparisons, lambda path, objects: list(AnswerFile(path, objects=objects).batches())):
        with pytest.raises(InputError, match="made of names given in objects; got '0'"):
            read(tmp_path / "a.csv", objects=["0 ", "1", "2"])


@pytest.mark.parametrize("encoding", ["utf-7", "hz", "iso2022_jp", "raw_unicode_escape", "cp037"])
def test_encodings_that_hide_quotes_are_refused(files, encoding):
    with pytest.raises(InputError, match="encoding must be one in which a line end is one byte"):
        sizes(files / "word.csv", n_objects=3, encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_sixteen_bits_without_a_mark_are_no_names(tmp_path, encoding, end):
    path = tmp_path / "wide.csv"
    path.write_bytes(("i,j,k\na,b,c\nb,a,c" + end).encode(encoding))
    with pytest.raises(InputError, match="text without zero bytes.*utf-16"):
        read_comparisons(path)
    with pytest.raises(InputError):
        sizes(path, objects=list("abc"), header=True)
    assert read_comparisons(path, encoding=encoding).names == ("a", "b", "c")


# ---- checkpoints


def test_two_at_once_on_one_checkpoint_are_refused(tmp_path):
    path, checkpoint = tmp_path / "a.csv", tmp_path / "sums.npz"
    path.write_text("0,1,2\n" * 40)
    refused = []

    def meanwhile(done, total):
        def again():
            with pytest.raises(InputError, match="checkpoint must be a file that nobody else is writing") as error:
                adds_from_file(path, n_objects=3, checkpoint=checkpoint)
            refused.append(error)

        thread = threading.Thread(target=again)
        thread.start()
        thread.join()

    stream = adds_from_file(path, n_objects=3, checkpoint=checkpoint, batch=120, every=1, progress=meanwhile)
    assert len(refused) == 2 and sorted(os.listdir(tmp_path)) == ["a.csv", "sums.npz"]
    assert (stream.similarity() == adds3(np.tile([0, 1, 2], (40, 1)))).all()


def test_a_checkpoint_that_was_tampered_with_is_refused(tmp_path):
    path, checkpoint = tmp_path / "a.csv", tmp_path / "sums.npz"
    path.write_text("0,1,2\n" * 40)
    adds_from_file(path, n_objects=3, checkpoint=checkpoint)
    with np.load(checkpoint) as saved:
        good = dict(saved)
    state = str(good["state"])
    broken = [
        dict(sums=np.zeros(4, np.int32)),
        dict(sums=good["sums"].astype(float)),
        dict(groups=np.zeros(2, int)),
        dict(state=np.array(state.replace('"offset": 240', '"offset": "x"'))),
        dict(state=np.array(state.replace('"n_comparisons": 40', '"n_comparisons": -1'))),
        dict(state=np.array(state[:9])),
    ]
    for change in broken:
        np.savez(checkpoint, **{**good, **change})
        with pytest.raises(InputError, match="checkpoint must be a file that adds_from_file has written"):
            adds_from_file(path, n_objects=3, checkpoint=checkpoint)
    for place in ("x", 5, (0, 1, 0)):
        with pytest.raises(InputError, match="place must be a Place"):
            sizes(path, place, n_objects=3)
    with pytest.raises(InputError, match="offset must be"):
        Place(-1)


@pytest.mark.parametrize("line", [1, 2, 900])
def test_a_zero_byte_is_refused_by_both_readers_with_its_line(tmp_path, line):
    rows = ["i,j,k", *["a,b,c"] * 1000]
    rows[line - 1] += "\0\x1d"
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows))
    for read in (read_comparisons, partial(adds_from_file, batch=64)):
        with pytest.raises(InputError, match=rf"without zero bytes.*one in line {line}\b"):
            read(path, objects=list("abc"), header=True)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_a_header_ends_where_its_line_does(tmp_path, end):
    path = tmp_path / "answers.csv"
    path.write_bytes(end.join(["i,j,k", "a,b,c", "b,a,c"]).encode() + b"\n")
    assert adds_from_file(path, objects=list("abc"), header=True).n_comparisons == 2
    path.write_bytes(b"i,j,\r,c\nb,a,c")
    for read in (read_comparisons, adds_from_file):
        with pytest.raises(InputError, match="line 2, must be 3 cells"):
            read(path, objects=list("abc"), header=True)
