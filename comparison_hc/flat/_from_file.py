"AddS of a file larger than memory: chunks of rows, and checkpoints from which a run that was killed continues."

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ..comparisons import Triplets
from ..core.io import atomic_write, journal_path, locked
from ..core._columns import find_roles
from ..core._tables import existing_file, frame_table
from ..core.readers import Options
from ..core.validation import InputError, as_list, check_flag, check_integer, check_names, check_progress, require
from .similarity import AddS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["adds_from_file"]

_CONVERTERS = {
    "triplets": lambda rows, n_objects: rows,
    "quadruplets": lambda rows, n_objects: rows,
    "central": Triplets.from_central,
    "odd-one-out": Triplets.from_odd_one_out,
}


def adds_from_file(
    path: str | os.PathLike,
    kind: str = "triplets",
    n_objects: int | None = None,
    objects: Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    checkpoint: str | os.PathLike | None = None,
    every: int = 16,
    chunksize: int = 1_000_000,
    progress: Callable[[int, int], object] | None = None,
    **read_csv: Any,
) -> AddS:
    """AddS of a CSV file larger than memory, one chunk of rows at a time.

    A run that was killed continues from its checkpoint with the same result to the bit; if rows were appended to the
    file since, it adds those.

    Parameters
    ----------
    path : path-like
        Delimited text file with one comparison per row.
    kind : {"triplets", "quadruplets", "central", "odd-one-out"}, default="triplets"
        What a row means, as in `read_comparisons`.
    n_objects : int, optional
        Number of objects n, if objects are the whole numbers 0..n−1.
    objects : sequence of str, optional
        Names of all objects, if they have names; exactly one of the two is required.
    columns : sequence of str or int, optional
        Names or positions of the object columns; may be omitted if their names tell, as for `read_comparisons`, or
        if the file has no other columns.
    header : bool, optional
        Whether the first row names the columns; by default it does if none of its cells is an object.
    checkpoint : path-like, optional
        File to which the state of the run is written, and from which it continues if the file exists.
    every : int, default=16
        Chunks from one checkpoint to the next.
    chunksize : int, default=1000000
        Rows per chunk.
    progress : callable, optional
        Called after every chunk with (bytes read, size of the file).
    **read_csv : Any
        Further options of `pandas.read_csv`, such as `sep` and `encoding`.

    Returns
    -------
    AddS
        Its `similarity()` is AddS-3 or AddS-4.

    Raises
    ------
    InputError
        If a row is not a comparison (the message names the row), or the checkpoint is of another run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from comparison_hc.flat import adds_from_file
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text("anchor,closer,farther\\n0,1,2\\n1,0,2\\n")
    ...     adds_from_file(path, n_objects=3)
    AddS(2 triplets about 3 objects)
    """
    require(isinstance(kind, str) and kind in _CONVERTERS, "kind", f"one of {', '.join(_CONVERTERS)}", kind)
    rule = "given, and not both: the objects have to be known before the file is read"
    require((n_objects is None) != (objects is None), "n_objects or objects", rule, (n_objects, objects))
    names = check_names(objects, argument="objects")
    n_objects = check_integer(n_objects, "n_objects") if names is None else len(names)
    stream = AddS(n_objects, "quadruplets" if kind == "quadruplets" else "triplets")
    stream._allocate(0)
    names = names or tuple(map(str, range(n_objects)))
    every, chunksize = check_integer(every, "every", 1), check_integer(chunksize, "chunksize", 1)
    check_progress(progress)
    read = _reader(path, read_csv)
    positions, start = _object_columns(path, read, names, kind, columns, header)
    run = dict(kind=kind, n_objects=len(names), objects=objects and list(objects), columns=positions)
    lock: Any = nullcontext()
    if checkpoint is not None:
        lock = locked(f"{journal_path(checkpoint, 'checkpoint')}.lock", "checkpoint")
    with lock, open(path, "rb") as file:
        done = max(_load(checkpoint, stream, run, path), start)
        try:
            for number, chunk in enumerate(read(file, skiprows=done, chunksize=chunksize), 1):
                rows = _object_numbers(chunk[positions], names, path, done)
                try:
                    stream.partial_fit(_CONVERTERS[kind](rows, len(names)) if len(rows) else rows)
                except InputError as error:
                    raise InputError(f"{path}, after row {done}: {error}") from None
                done += len(chunk)
                if number % every == 0:
                    _save(checkpoint, stream, run, path, done)
                if progress:
                    progress(file.tell(), os.path.getsize(path))
        finally:
            _save(checkpoint, stream, run, path, done)
    require(stream.n_comparisons, str(path), "a file with at least one answer", "a header and nothing else")
    return stream


def _reader(path, options):
    "A function that reads chunks of rows as text."
    import pandas as pd

    with open(existing_file(path), "rb") as file:
        line = file.readline()
    fixed = dict(header=None, dtype=object, na_filter=False, skipinitialspace=True, skip_blank_lines=False)
    options = dict(sep=max(",;\t", key=line.decode("latin-1").count), encoding="utf-8-sig") | options | fixed

    def read(file, **how):
        try:
            with pd.read_csv(file, **options, **how) as reader:
                yield from reader
        except pd.errors.EmptyDataError:
            return
        except (ValueError, LookupError) as error:  # of the parser, and of the encoding
            raise InputError(f"{path}: {str(error).strip()}") from None

    return read


def _object_columns(path, read, names, kind, columns, header):
    "(Positions of the object columns, number of rows before the first comparison). Names of columns decide."
    from pandas import DataFrame

    first = next(read(path, chunksize=1), None)
    require(first is not None, str(path), "a file with at least one answer", "an empty file")
    header = None if header is None else check_flag(header, "header")
    first, width = first.iloc[0].tolist(), 4 if kind == "quadruplets" else 3
    if columns is None and (header or header is None and not {*first} & {*names}):
        roles = find_roles(frame_table(DataFrame([first], columns=first), str(path)), Options(kind))
        answers = f"left to read_comparisons, as column {first[roles.answer or 0]!r} says who was chosen"
        require(roles.answer is None, str(path), answers, first)
        columns = roles.objects
    asked = as_list(range(len(first)) if columns is None else columns, "columns", "names or positions")
    positions = [first.index(c) if c in first else c for c in asked]
    found = len({*positions} & {*range(len(first))})
    rule = f"{width} of the {len(first)} columns of the file ({', '.join(first)})"
    require(found == len(asked) == width, "columns", rule, columns)
    has_header = not {first[c] for c in positions} & {*names}
    return positions, int(has_header if header is None else header)


def _object_numbers(texts, names, path, done):
    "Integer rows; blank rows are left out."
    import pandas as pd

    index, columns = pd.Index(names), []
    for c in texts:
        codes, words = pd.factorize(texts[c])
        columns.append(index.get_indexer(words)[codes])
    rows = np.stack(columns, axis=1)
    if rows.min() >= 0:
        return rows
    blank = (texts == "").all(axis=1).to_numpy()
    bad = np.flatnonzero((rows < 0).any(axis=1) & ~blank)
    where = f"{path}, row {done + bad[0] + 1}," if len(bad) else ""
    require(not len(bad), where, "made of names or numbers of objects", texts.iloc[bad[:1]].to_numpy().tolist())
    return rows[~blank]


def _save(checkpoint, stream, run, path, done):
    "Replace the checkpoint in one step."
    if checkpoint is not None:
        stream._allocate(0)
        size = min(os.path.getsize(path), 1 << 16)
        about = json.dumps(dict(run, done=done, n_comparisons=stream.n_comparisons, beginning=_beginning(path, size)))
        arrays = dict(sums=stream._sums, roots=stream._roots, about=np.array(about))
        atomic_write(checkpoint, lambda file: np.savez(file, **arrays), fsync=True)


def _load(checkpoint, stream, run, path):
    "Number of rows read before a checkpoint, whose sums go into the stream."
    if checkpoint is None or not os.path.exists(checkpoint):
        return 0
    try:
        with np.load(checkpoint, allow_pickle=False) as saved:
            sums, roots, about = saved["sums"], saved["roots"], json.loads(str(saved["about"]))
        done, n_comparisons, (size, _) = about.pop("done"), about.pop("n_comparisons"), about["beginning"]
    except Exception:
        rule = "checkpoint must be a file that adds_from_file has written, or not exist"
        raise InputError(f"{rule}; got {str(checkpoint)!r}") from None
    run = dict(run, beginning=_beginning(path, size))
    changed = {key: about.get(key) for key in run if about.get(key) != run[key]}
    require(not changed, "checkpoint", f"of a run with the same {', '.join(changed)}", changed)
    stream._sums, stream._roots, stream.n_comparisons = sums, roots, n_comparisons
    return done


def _beginning(path, size):
    "[size, CRC-32] of the first bytes of a file."
    with open(path, "rb") as file:
        return [size, crc32(file.read(size))]
