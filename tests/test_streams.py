"Files read by the batch: the same answers as all at once, from any place, and refusals with their line."

import numpy as np
import pytest

from comparison_hc.comparisons import read_comparisons
from comparison_hc.ground.streams import AnswerFile, Place
from comparison_hc.ground.validation import InputError


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
