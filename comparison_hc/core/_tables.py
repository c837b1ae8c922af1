"Tables of text cells from files of any usual form: delimited text, JSON, Parquet, NumPy arrays, packed or in folders."

import csv
import io
import json
import os
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np

from .compat import bincount
from .validation import InputError, MissingFileError, require, shown

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "blank": " "}
JSON_LINES, PARQUET = (".jsonl", ".ndjson"), (".parquet", ".pq")
ENDINGS = (*".csv .tsv .tab .txt .dat .iqdat .json .npy .npz".split(), *JSON_LINES, *PARQUET)  # of data in a folder
RESPONSES = ("y", "response", "responses", "answer", "answers")  # arrays as cblearn has them, beside X
SHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "lzma"}  # first bytes: the module that unpacks the rest
KNOWN_BYTES = {  # what else files begin with
    "an old spreadsheet (save it as CSV)": (b"\xd0\xcf\x11\xe0",),
    "an HDF5 file": (b"\x89HDF",),
    "an SQLite database": (b"SQLite format 3",),
    "a PDF": (b"%PDF",),
    "a picture": (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"),
    "a Python pickle": (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "a Feather file": (b"ARROW1", b"FEA1"),
    "an R data file": (b"RDX", b"X\n\0\0"),
    "a MATLAB file": (b"MATLAB 5",),
    "an archive (unpack it)": (b"7z\xbc\xaf", b"Rar!"),
}
TAGS = r"\[(\w+?)_start\w*---(.*?)---\1_end\w*\]"  # as some studies put them around what JATOS keeps
NO_ANSWERS = r"(readme|license|metadata|dataset_description)\b.*"  # files beside those with answers
NUMBERING = r"|.*\b(trial|index|id|no|nr|number|row|unnamed: 0)\b.*"  # what a column of numbers may be called
END_OF_FILE = r"\W*(END OF FILE|EOF)\W*"


@dataclass
class Table:
    "Cells as text, with the line on which each row stands."

    frame: object  # DataFrame of text with columns 0, 1, … and "" where nothing stands; its index counts rows
    names: list | None  # of the columns, if the file has them
    lines: object  # line (or row, or record) of every row, counted from 1
    source: object  # name of the file; of a table of several files, that of every row
    unit: str = "line"  # what `lines` counts
    ragged: dict = field(default_factory=dict)  # {row: cells} of rows that are longer or shorter than the others
    separator: str | None = None  # between the cells of a text
    notes: list = field(default_factory=list)  # what was recognised and left out
    label: object = None  # of several files, which one; of a table of several, the file of every row
    inside: bool = False  # whether the file was found in a folder or an archive, and not named
    error: InputError | None = None  # why a file of a folder cannot be read

    @property
    def title(self):
        "The file or files, for a message about the whole table."
        files = [self.source] if isinstance(self.source, str) else list(dict.fromkeys(self.source))
        if len(files) == 1:
            return files[0]
        root = os.path.commonpath(files) if len({os.path.isabs(file) for file in files}) == 1 else ""
        return f"{root} ({len(files)} files)" if root else f"{files[0]} ({len(files)} files with the others)"

    def where(self, r):
        "Where row r stands, in words, for a message."
        n = self.frame.index[r]
        return f"{self.source if isinstance(self.source, str) else self.source[n]}, {self.unit} {self.lines[n]},"

    def keep(self, mask):
        "The same table with some of its rows."
        return replace(self, frame=self.frame[mask])

    def some_lines(self, rows):
        "The lines of some rows, of many the first three; with what tells the files apart, if there are several."
        if isinstance(self.source, str) or self.label is None:
            return some_lines(self.lines, rows, self.unit)
        examples = ", ".join(f"{self.label[r]} {self.unit} {self.lines[r]}" for r in rows[:3])
        return examples + (", …" if len(rows) > 3 else "")


def existing_file(path, argument="path"):
    "The path, if there is a file. Raises `MissingFileError`."
    require(isinstance(path, (str, os.PathLike)), argument, "the name of a file", path)
    try:
        is_there = os.path.exists(path) and not os.path.isdir(path)
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        is_there = False
    if not is_there:
        raise MissingFileError(f"{argument} must be an existing file; got {shown(str(path), 200)}")
    return Path(path)


def cell_text(value):
    "A value as text. A whole number has no point, though a column with missing cells gives it one."
    if isinstance(value, (float, np.floating)) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _clean(cell):
    cell = cell.strip()
    return cell if cell.isascii() else unicodedata.normalize("NFC", cell)


def _value_text(value):
    return "" if value is None or value != value else _clean(cell_text(value))


def _cleaned(column, as_text=_clean):
    "A column as text, each different cell looked at once; what is missing is empty."
    import pandas as pd

    values = np.array(column, dtype=object) if isinstance(column, tuple) else column
    codes, different = pd.factorize(values)
    return np.array([*map(as_text, different), ""], dtype=object)[codes]


def _frame(columns):
    import pandas as pd

    return pd.DataFrame(dict(enumerate(columns)), dtype=object)


def some_lines(lines, rows, unit):
    "The lines of some rows, of many the first three."
    examples = ", ".join(str(lines[r]) for r in rows[:3]) + (", …" if len(rows) > 3 else "")
    return f"{unit}{'s' * (len(rows) > 1)} {examples}"


# ---- bytes


def _is_hidden(name):
    "Whether a file of a folder is kept by a program, or says something about the others."
    parts = Path(name).parts
    return any(part.startswith((".", "__MACOSX")) for part in parts) or re.match(NO_ANSWERS, parts[-1], re.I)


def _unpacked(name, data, path):
    "(name, bytes) of every file in a file; packed ones are known by their first bytes. Raises `InputError`."
    from importlib import import_module
    from zipfile import BadZipFile, ZipFile
    from zlib import error as zlib_error

    suffix = Path(name).suffix.lower()
    module = next((module for start, module in PACKED.items() if data.startswith(start)), None)
    rule = "text, JSON or Parquet: save the sheet with the answers as CSV (UTF-8)"
    require(suffix not in SHEETS, path, rule, f"a spreadsheet, {suffix}")
    try:
        if module is not None:
            plain = name[: -len(suffix)] if suffix in (".gz", ".bz2", ".xz") else name
            return _unpacked(plain, import_module(module).decompress(data), path)
        if data.startswith(b"PK\x03\x04") or suffix == ".zip":
            with ZipFile(io.BytesIO(data)) as archive:
                inside = sorted(n for n in archive.namelist() if not n.endswith("/") and not _is_hidden(n))
                require(not {"[Content_Types].xml", "mimetype"} & set(inside), path, rule, "a spreadsheet")
                if inside and all(n.endswith(".npy") for n in inside):
                    return [(str(Path(name).with_suffix(".npz")), data)]
                return [pair for n in inside for pair in _unpacked(n, archive.read(n), path)]
        require(suffix not in (".gz", ".bz2", ".xz"), path, f"a {suffix} file that can be unpacked", "other bytes")
    except InputError:
        raise
    except (BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zlib_error) as error:
        raise InputError(f"{path} must be a {suffix} file that can be unpacked; {error}") from None
    return [(name, data)]


def _files(path):
    "(name, bytes) of every file with data in a file, an archive or a folder."
    if not str(path) or not os.path.isdir(path):
        return _unpacked(str(path), existing_file(path).read_bytes(), str(path))
    inside = sorted(p for p in Path(path).rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path)))
    files = [p for p in inside if p.suffix.lower() in (*ENDINGS, ".gz", ".zip", ".bz2", ".xz")]
    if not files:
        rule = f"an existing file, or a folder with files of answers ({', '.join(ENDINGS)})"
        raise MissingFileError(f"path must be {rule}; got {shown(str(path), 200)}")
    return [pair for p in files for pair in _unpacked(str(p), p.read_bytes(), str(p))]


def _not_read(path):
    "A note on the files of a folder or an archive that are not read: with another ending, or about the others."
    from zipfile import ZipFile, is_zipfile

    if os.path.isdir(path):
        known = (*ENDINGS, ".gz", ".zip", ".bz2", ".xz")
        files = [p.relative_to(path) for p in sorted(Path(path).rglob("*")) if p.is_file()]
        names = [str(p) for p in files if p.suffix.lower() not in known or re.match(NO_ANSWERS, p.name, re.I)]
    elif is_zipfile(path):
        with ZipFile(path) as archive:
            names = [n for n in sorted(archive.namelist()) if re.match(NO_ANSWERS, Path(n).name, re.I)]
    else:
        names = []
    names = [n for n in names if not any(part.startswith((".", "__MACOSX")) for part in Path(n).parts)]
    shown_names = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return [f"{len(names):,} file{'s' * (len(names) > 1)} not read: {shown_names}"] if names else []


def _decoded(data, encoding, path):
    "A file's bytes as text, without byte order marks. Raises `InputError`."
    kind = next((kind for kind, starts in KNOWN_BYTES.items() if data.startswith(starts)), None)
    require(kind is None, path, "text, JSON, Parquet or NumPy's .npy", kind)
    require(isinstance(encoding, str), "encoding", "the name of a text encoding", encoding)
    if encoding == "utf-8-sig" and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    try:
        text = io.TextIOWrapper(io.BytesIO(data), encoding, newline="").read()
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8-sig" else encoding
        byte = f"byte {error.start} is {error.object[error.start]:#04x}"
        other = "use encoding=… (--encoding …), such as cp1252, mac_roman or utf-16, if the file has another one"
        raise InputError(f"{path} must be {name} text; {byte}: {other}") from None
    except (LookupError, TypeError, ValueError) as error:
        rule = f"the name of a text encoding that fits {path}"
        raise InputError(f"encoding must be {rule}; got {shown(encoding)}: {str(error)[:200]}") from None
    text = text.lstrip("\ufeff").replace("\n\ufeff", "\n")  # of files that were put behind one another
    line = text.count("\n", 0, text.find("\0")) + 1
    rule = "text without zero bytes: use encoding='utf-16-le' (or utf-16-be, utf-32) if that is what it is"
    require("\0" not in text, path, rule, f"one in line {line}")
    return text


# ---- delimited text


def _csv_rows(text, separator):
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)


def _is_note(cells):
    "Whether a line is a comment, or says that the file ends here."
    filled = [cell for cell in cells if cell]
    return filled[0].startswith("#") or len(filled) == 1 and re.fullmatch(END_OF_FILE, filled[0], re.I)


def _find_separator(text, suffix, width, path):
    "What stands between cells: judged by the first 200 rows, outside quotes. Raises `InputError` where two can."
    n_cells, first, even = {}, {}, set()
    for separator in SEPARATORS.values():
        try:
            rows = [[cell.strip() for cell in row] for row in islice(_csv_rows(text[: 1 << 20], separator), 200)]
        except csv.Error:
            continue
        rows = [cells[:-1] if separator == " " and not cells[-1] else cells for cells in rows if any(cells)]
        counts = [len(cells) for cells in rows if not _is_note(cells)]
        n, times = max(Counter(counts).items(), key=lambda pair: (pair[1], pair[0]), default=(1, 0))
        if n > 1:
            n_cells[separator], first[separator] = n, rows[0]
            if times + (counts[0] == n - 1) == len(counts):  # R's header has no name above the names of rows
                even.add(separator)
    if "\t" in n_cells and suffix in (".tsv", ".tab", ".iqdat"):
        return "\t"
    wide = {s for s, n in n_cells.items() if n >= width}
    good = even & wide or wide or even or set(n_cells)
    head = re.sub(r'"[^"]*"', "", text[: 1 << 16])
    if "," in n_cells and not re.search(r"(?<!\d),|,(?!\d)", head) and good - {","}:
        good = good - {","}  # all commas are decimal ones
    elif " " in good:
        good = good - {" "} or even - {" "} or good  # blanks inside of names
    good = good - {s for s in good if not re.search(rf"{re.escape(s)}(?! )", head)} or good  # a mark, and then a blank
    if "\t" in good:
        return "\t"
    if len(good) > 1 and not good <= even:
        return max(good, key=lambda s: (n_cells[s], s == ","))
    examples = " and ".join(f"{s!r} makes {first[s]}" for s in sorted(good))
    require(len(good) < 2, "separator", f"given (--separator …): {examples} of the first line", path)
    return good.pop() if good else ","


def _split(text, path, suffix, separator, width):
    """(rows of cells, or columns as a tuple; line of each row, separator, notes) of a delimited text.

    Raises `InputError` with the line.
    """
    stated, start, notes = re.match(r'"?sep=(.)"?[ \t]*(\r\n|\r|\n)', text), 1, []
    if stated:
        text, start, separator, notes = text[stated.end() :], 2, separator or stated[1], ["line 1 names the separator"]
    separator = SEPARATORS.get(separator, separator) or _find_separator(text, suffix, width, path)
    require(len(separator) == 1, "separator", f"one character, or {', '.join(SEPARATORS)}", separator)
    even = _even_columns(text, separator)
    if even is not None:
        return even, range(start, start + len(even[0])), separator, notes
    rows, lines, before = [], [], start - 1
    try:
        reader = _csv_rows(text, separator)
        for row in reader:
            if row:
                rows.append(tuple(row))  # the garbage collector looks at a million lists again and again
                lines.append(start)
            start = before + reader.line_num + 1  # a quoted name may go over several lines
    except csv.Error as error:
        raise InputError(f"{path}, line {start}, must be delimited text; {error}") from None
    return rows, lines, separator, notes


class _Pieces:
    "A text as an open file for pandas, piece by piece: `StringIO` takes four times its memory."

    def __init__(self, text):
        self.text, self.at = text, 0

    def read(self, size=-1):
        start, self.at = self.at, len(self.text) if size < 0 else self.at + size
        return self.text[start : self.at]

    def __iter__(self):
        return iter(self.text.splitlines(keepends=True))


def _even_columns(text, separator):
    "Columns of a text without quotes and blank lines whose lines have equally many cells; None for any other text."
    import pandas as pd

    lines = text.count("\n") + (not text.endswith("\n"))
    first, _, _ = text.partition("\n")
    n_cells = first.count(separator) + 1
    is_even = text.count(separator) == (n_cells - 1) * lines and n_cells > 1 and not separator.isspace()
    if not is_even or '"' in text or text.count("\r") != text.count("\r\n") or re.search(r"\n[ \t\r]*\n", text):
        return None
    how = dict(header=None, dtype=object, na_filter=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False)
    try:
        frame = pd.read_csv(_Pieces(text), sep=separator, names=range(n_cells), index_col=False, **how)
    except pd.errors.ParserError:  # a line with more cells, and so another with fewer
        return None
    return tuple(frame[c].to_numpy() for c in frame) if len(frame) == lines else None


def read_rows(path, encoding="utf-8-sig", width=2):
    "(rows of cells, line of each, separator) of a delimited text file, whatever its rows mean. Raises `InputError`."
    ((name, data), *_) = _unpacked(str(path), Path(path).read_bytes(), str(path))
    text = _decoded(data, encoding, str(path))
    rows, lines, separator, _ = _split(text, str(path), Path(name).suffix.lower(), None, width)
    rows = zip(*rows) if isinstance(rows, tuple) else rows
    found = [(tuple(map(_clean, row)), line) for row, line in zip(rows, lines)]
    return [row for row, _ in found if any(row)], [line for row, line in found if any(row)], separator


def _rows_table(rows, lines, path, separator=None, notes=(), unit="line"):
    """A table of rows of text, which may be of different lengths, or of columns of one length, as a tuple.

    Comments and marks of the file's end are left out.
    """
    if not len(lines):
        return Table(_frame([]), None, lines, path, unit, {}, separator, list(notes))
    if isinstance(rows, tuple):
        lengths, columns = np.full(len(lines), len(rows), np.intp), rows
    else:
        lengths = np.fromiter(map(len, rows), np.intp, len(rows))
        columns = zip_longest(*rows, fillvalue="")
    frame = _frame(map(_cleaned, columns))
    filled = (frame.to_numpy() != "").reshape(len(lines), -1)
    keep, notes, ragged = filled.any(axis=1), list(notes), {}
    first = int(keep.argmax())
    counts = bincount(lengths[keep], minlength=lengths[first] + 1)
    n = int(lengths[first] if counts[lengths[first]] == counts.max() else counts.argmax())  # cells of a usual row
    if frame.iat[first, 0] == "#" and lengths[first] == n + 1:  # numpy.savetxt puts it before a header
        frame.iloc[first] = [*frame.iloc[first, 1:], ""]
        filled[first], lengths[first] = frame.iloc[first] != "", n
    comments = []
    for r in np.flatnonzero(keep & ((lengths != n) | (filled.sum(axis=1) == 1))):
        cell = frame.iat[r, filled[r].argmax()]
        if cell.startswith("#") and lengths[r] != n:
            comments.append(r)
        elif filled[r].sum() == 1 and re.fullmatch(END_OF_FILE, cell, re.I):
            keep[r] = False
            notes.append(f"{unit} {lines[r]} contains {cell!r}")
    keep[comments] = False
    if comments:
        notes.append(f"{len(comments):,} comment{'s' * (len(comments) > 1)} ({some_lines(lines, comments, unit)})")
    regular = filled[keep & (lengths <= n)]
    while n > 1 and not regular[:, n - 1].any():
        n -= 1  # every line ends with a separator
    ends, first = filled.shape[1] - filled[:, ::-1].argmax(axis=1), int(keep.argmax())
    if lengths[first] == n - 1 and _are_row_names(
        frame[0][keep][1:].tolist(), frame.iat[first, 0]
    ):  # R names the rows, and not their column
        frame.iloc[first, 1:n] = frame.iloc[first, : n - 1].to_numpy()
        frame.iat[first, 0], lengths[first] = "", n
    for r in np.flatnonzero(keep & ((lengths < n) | (ends > n))):
        ragged[r] = tuple(frame.iloc[r, : lengths[r] if lengths[r] < n else ends[r]])
    return Table(frame.loc[keep, : n - 1], None, lines, path, unit, ragged, separator, notes)


def _are_row_names(cells, name):
    "Whether a first column without a name of its own holds the numbers of rows, in order; `name` is of the second."
    if not len(cells) or not all(map(str.isdecimal, cells)) or re.fullmatch(NUMBERING, name, re.I):
        return False
    return all(a < b for a, b in zip(map(int, cells), map(int, cells[1:])))


# ---- JSON


def _json_values(text, path):
    "(value, line) of all JSON values that stand one behind the other. Raises `InputError` with the line."
    decoder, blank, at, line, before, text = json.JSONDecoder(), re.compile(r"\s*"), 0, 1, 0, text.rstrip()
    while (at := blank.match(text, at).end()) < len(text):
        line, before = line + text.count("\n", before, at), at
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            where = f"{path}, line {error.lineno},"
            raise InputError(f"{where} must be JSON; {error.msg} at column {error.colno}") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {line}, must be JSON; {error}") from None
        yield value, line


def _records_of_object(value):
    "The records in what NEXT writes, and pandas' `to_json`; None for anything else."
    if not isinstance(value, dict) or not value:
        return None
    if "participant_responses" in value:  # NEXT
        return [record for record, _ in _follow(value, "participant_responses.*.*", "the file")]
    rows, columns = value.get("data"), list(value.values())
    if isinstance(rows, list) and isinstance(value.get("columns"), list):
        return [dict(zip(map(str, value["columns"]), row)) for row in rows]
    if isinstance(rows, list) and isinstance(value.get("schema"), dict):
        return rows
    if not all(isinstance(column, dict) and list(column) == list(columns[0]) for column in columns):
        return None
    if len(value) > 1 and columns[0] and all(map(str.isdecimal, columns[0])):
        return [{name: column[row] for name, column in value.items()} for row in columns[0]]
    return columns if all(map(str.isdecimal, value)) else None


def _json_table(text, path, suffix, records, wanted):
    "The records of a JSON file: a list, one record per line, one list per line, or the forms of pandas."
    values, pairs = list(_json_values(text, path)), []
    whole = len(values) == 1 and suffix not in JSON_LINES
    for value, line in values:
        at, found = path if whole else f"{path}, line {line},", None
        if whole and records in (None, "*"):
            found = _records_of_object(value)
        if found is not None:
            found = [(record, {}) for record in found]
        elif records is not None:
            found = _follow(value, records, at)
        elif isinstance(value, list) and (whole or any(isinstance(x, (list, dict)) for x in value)):
            found = [(record, {}) for record in value]
        else:
            keys = f"an object with the keys {list(value)}" if isinstance(value, dict) else value
            rule = "a list of records (or give their place, such as records='responses.*' (--records …))"
            is_row = not whole and isinstance(value, (list, dict))
            require(is_row, at, rule if whole else "a JSON array or object", keys)
            found = [(value, {})] if value else []
        pairs += [(*pair, len(pairs) + n if whole else line) for n, pair in enumerate(found, 1)]
    return _records_table(pairs, path, "record" if whole else "line", wanted)


def _follow(value, records, where):
    """(value, cells above it) of everything at the end of a path; `*` stands for all there is, and of an object's `*`
    the key is a cell, too. Of two cells of one name the nearest counts. Raises `InputError`."""
    found, name = [(value, {})], ""
    for step in records.split("."):
        before, found = found, []
        for value, above in before:
            if step == "*":
                rule = f"a list or an object at each * of records={records!r}"
                require(isinstance(value, (list, dict)), where, rule, value)
                keyed = isinstance(value, dict)
                inside = value.items() if keyed else enumerate(value)
                found += [(v, {**above, "key": k, f"{name}key": k} if keyed else above) for k, v in inside]
                continue
            rule, is_object = f"an object with the key {step!r} of records={records!r}", isinstance(value, dict)
            require(is_object and step in value, where, rule, list(value) if is_object else value)
            cells = {k: _value_text(v) for k, v in value.items() if not isinstance(v, (dict, list))}
            found.append((value[step], {**above, **cells, **{f"{name}{k}": cell for k, cell in cells.items()}}))
        name += "" if step == "*" else f"{step}."
    return found


def _flat(record, above=""):
    "The cells of a record, those inside of it with names with points."
    cells = {}
    for key, value in record.items() if isinstance(record, dict) else enumerate(record):
        if isinstance(value, (dict, list)):
            cells |= _flat(value, f"{above}{key}.")
        elif value is not None and value == value:
            cells[f"{above}{key}"] = _value_text(value)
    return cells


def _records_table(pairs, path, unit, wanted):
    "A table of (record, cells above it, line), one per row. Raises `InputError` with the record."
    named, lines = bool(pairs) and isinstance(pairs[0][0], dict), [line for *_, line in pairs]
    for record, _, line in pairs:
        where = f"{path}, {unit} {line},"
        rule = "a record of the form of the first: an object with names, or a list (array) of cells"
        require(isinstance(record, dict) if named else isinstance(record, list), where, rule, record)
        rule = "a record instead of a list of records (append .* to records=… to enter the list)"
        require(named or not any(isinstance(cell, dict) for cell in record), where, rule, record)
    if not named:
        deep = [any(isinstance(cell, list) for cell in record) for record, *_ in pairs]
        rows = [list(_flat(r).values() if d else map(_value_text, r)) for (r, *_), d in zip(pairs, deep)]
        return _rows_table(rows, lines, path, unit=unit)
    cells = [_flat(record) for record, *_ in pairs]
    names = dict.fromkeys(name for record in cells for name in record)
    names |= dict.fromkeys(name for name in wanted if any(name in above for _, above, _ in pairs))
    values = ([c.get(name, above.get(name, "")) for c, (_, above, _) in zip(cells, pairs)] for name in names)
    return Table(_frame(map(np.array, values, [object] * len(names))), list(names), lines, path, unit)


# ---- tables, arrays, files


def frame_table(frame, path="the table"):
    "The cells of a DataFrame. Raises `InputError` for two columns of one name."
    names = [_clean(str(name)) for name in frame.columns]
    twice = [name for c, name in enumerate(names) if name in names[:c]]
    require(not twice, path, "one whose columns have different names", twice[0] if twice else None)
    columns = (_cleaned(frame.iloc[:, c], _value_text) for c in range(len(names)))
    return Table(_frame(columns), names, range(1, len(frame) + 1), path, "row")


def _array_table(rows, path="the list"):
    "The cells of an array, or of a list of rows."
    import pandas as pd

    try:
        frame = pd.DataFrame(rows)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} must be a list of rows; {error}") from None
    table = frame_table(frame, path)
    return replace(table, names=None if isinstance(frame.columns, pd.RangeIndex) else table.names)


def _numpy_table(data, path, key, width):
    "The rows of a NumPy file; of several arrays, the one that has the right shape."
    try:
        file = np.load(io.BytesIO(data))
        arrays = {"": file} if isinstance(file, np.ndarray) else dict(file)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} must be a NumPy file of numbers or text; {error}") from None
    require(key is None or key in arrays, "records", f"one of the arrays {list(arrays)}", key)
    fitting = [n for n, a in arrays.items() if a.ndim == 2 and a.shape[1] >= width and key in (None, n)]
    rule = "a file with one array that has one comparison per row (records=… (--records …) selects it)"
    require(len(fitting) == 1, path, rule, {name: array.shape for name, array in arrays.items()})
    table, others = _array_table(arrays.pop(fitting[0]), path), list(arrays)
    answers = [n for n in arrays if key is None and n in RESPONSES and arrays[n].shape == (len(table.frame),)]
    for name in answers[:1]:
        values = arrays[name]
        rule = f"responses of 1 and -1, or True and False (records={fitting[0]!r} leaves them out)"
        require(values.dtype == bool or set(values.tolist()) <= {1, -1}, f"{path}, {name},", rule, values)
        frame = table.frame.assign(response=np.where(values > 0, "left", "right").astype(object))
        names = [*map(str, table.frame), "response"]
        table = replace(table, frame=frame.set_axis(range(len(names)), axis=1), names=names)
        others.remove(name)
    return replace(table, notes=[f"arrays not read: {', '.join(others)}"] if others else [])


def _parquet_table(data, path):
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(data))
    except ImportError:
        rule = "reading those needs pyarrow: pip install 'comparison_hc[parquet]'"
        raise InputError(f"{path} is a Parquet file, and {rule}") from None
    except Exception as error:
        if type(error).__module__.startswith("pyarrow") or isinstance(error, OSError):
            raise InputError(f"{path} must be a Parquet file; {str(error).splitlines()[0]}") from None
        raise
    return frame_table(frame, path)


def _one_table(name, data, path, options, wanted, width):
    "The table in the bytes of one file."
    suffix, no_json = Path(name).suffix.lower(), None
    if data.startswith(b"PAR1") or suffix in PARQUET:
        return _parquet_table(data, path)
    if data.startswith(b"\x93NUMPY") or suffix in (".npy", ".npz"):
        return _numpy_table(data, path, options.records, width)
    text, is_json = _decoded(data, options.encoding, path), suffix in (".json", *JSON_LINES)
    if is_json or re.match(r"\s*[\[{]", text):  # JATOS and others write JSON as .txt
        try:
            plain, n_tags = re.subn(TAGS, r" \2 ", text, flags=re.S) if re.match(r"\s*\[\w+---", text) else (text, 0)
            table = _json_table(plain, path, suffix, options.records, wanted)
            return replace(table, notes=[*table.notes, *[f"{n_tags} tags around JSON"] * bool(n_tags)])
        except InputError as error:
            if is_json or options.records is not None:
                raise
            no_json = error
    require(options.records is None, "records", "left out, as only a .json file has records", options.records)
    try:
        rows, lines, separator, notes = _split(text, path, suffix, options.separator, width)
    except InputError as error:
        raise InputError(f"{error} (nor can it be read as JSON: {no_json})" if no_json else str(error)) from None
    return _rows_table(rows, lines, path, separator, notes)


def read_tables(source, options, width, wanted=()):
    "The cells of a file, of each of several, of a folder or an archive, of a DataFrame, or of a list of rows."
    if hasattr(source, "iloc"):
        require(hasattr(source, "columns"), "path", "the name of a file, or a DataFrame", source)
        return [frame_table(source)]
    several = isinstance(source, (list, tuple)) and len(source) > 0 and isinstance(source[0], (str, os.PathLike))
    if not several and (isinstance(source, (list, tuple)) and len(source) or isinstance(source, np.ndarray)):
        return [_array_table(source)]
    rule = "the name of a file, a list of such, a table, or a list of rows"
    require(several or isinstance(source, (str, os.PathLike)), "path", rule, source)
    paths = list(source) if several else [source]
    require(len(set(map(str, paths))) == len(paths), "path", "a list of different files", list(map(str, paths)))
    files = [(name, data, str(path)) for path in paths for name, data in _files(path)]
    aside = [note for path in paths for note in _not_read(path)]
    if len(files) == 1:
        table = _one_table(*files[0], options, wanted, width)
        return [replace(table, notes=[*table.notes, *aside])]
    titles = [name if name.startswith(path) else f"{path}/{name}" for name, _, path in files]
    tables = []
    for (name, data, _), title, label in zip(files, titles, _file_labels(titles)):
        inside, error = title not in map(str, paths), None  # of a folder or an archive
        try:
            table = _one_table(name, data, title, options, wanted, width)
        except InputError as refused:
            if not inside:
                raise
            table, error = Table(_frame([]), None, [], title), refused
        tables.append(replace(table, label=label, inside=inside, error=error))
    tables[0] = replace(tables[0], notes=[*tables[0].notes, *aside])
    return tables


def _file_labels(paths):
    "What tells files apart: their names without ending, or the folders that they are in."
    parts = [(*Path(path).parts[:-1], Path(path).name.split(".")[0]) for path in paths]
    parts = [part for part in zip(*(p[::-1] for p in parts)) if len(set(part)) > 1]  # from the file's name upwards
    found = parts[0] if parts else paths
    for folders in parts[1:]:
        if len(set(found)) < len(paths):
            found = [f"{folder}/{name}" for folder, name in zip(folders, found)]
    return list(found)


def joined(tables):
    "One table of several, column by column of one name, or by position where they have no names."
    import pandas as pd

    if len(tables) == 1:
        return tables[0]
    named = tables[0].names is not None
    names = list(dict.fromkeys(name for table in tables for name in table.names or ())) if named else None
    width = tables[0].frame.shape[1]
    for table in tables:
        rule = "a file with names of columns, as the first has" if named else f"{width} columns, as the first file has"
        alike = (table.names is not None) == named and (named or table.frame.shape[1] == width)
        require(alike, table.title, rule, table.frame.iloc[0].tolist() if len(table.frame) else "nothing")
        twice = [name for name, times in Counter(table.names or ()).items() if times > 1]
        require(not twice, table.title, "a file whose columns have different names", twice[:1])
    frames = [t.frame.set_axis([names.index(name) for name in t.names], axis=1) if named else t.frame for t in tables]
    frame = pd.concat(frames, ignore_index=True).reindex(columns=range(len(names) if named else width)).fillna("")
    starts = np.cumsum([0, *map(len, frames)])
    ragged = {start + t.frame.index.get_loc(r): x for t, start in zip(tables, starts) for r, x in t.ragged.items()}
    known = [(np.asarray(t.lines)[t.frame.index], t.title, t.label) for t in tables]
    lines, files, labels = (
        np.concatenate([np.broadcast_to(np.asarray(x, dtype=object), len(t.frame)) for x, t in zip(values, tables)])
        for values in zip(*known)
    )
    notes = [f"{table.title}: {note}" for table in tables for note in table.notes]
    return Table(frame, names, lines, files, tables[0].unit, ragged, tables[0].separator, notes, labels)


def named_by_star(table, stars):
    "The table with one answer per row, from a table with several: left_* means left_1, left_2, …, and so on."
    require(table.names is not None, "columns", "positions, as the file has no header", stars)
    found = {}
    for star in stars:
        pattern = re.escape(star).replace(r"\*", "(.+)")
        found[star] = {m[1]: c for c, name in enumerate(table.names) if (m := re.fullmatch(pattern, name))}
    keys = [key for key in found[stars[0]] if all(key in columns for columns in found.values())]
    require(keys, "columns", f"names of which * makes columns of the file ({', '.join(table.names)})", stars)
    others = [c for c in range(len(table.names)) if not any(c in columns.values() for columns in found.values())]
    names, parts = [*found, *(table.names[c] for c in others)], []
    for key in keys:
        frame = table.frame[[*(columns[key] for columns in found.values()), *others]].set_axis(
            range(len(names)), axis=1
        )
        label = None if table.label is None else table.label[table.frame.index]
        parts.append(replace(table, frame=frame, names=names, notes=[], label=label))
    whole = replace(joined(parts), notes=table.notes, label=parts[0].label and np.concatenate([p.label for p in parts]))
    return whole.keep((whole.frame[range(len(found))] != "").any(axis=1).to_numpy())
