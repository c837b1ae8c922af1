"""Append-only logs: JSON lines, a header and then one record per line, each on the disk before the call returns.

A last line that was torn by a kill is dropped with a word; any other damage is refused. The logs of earlier versions,
whose lines end with checksums, are read and continued; their checksums are no longer compared.
"""

import json
import os
import re
from typing import NamedTuple

from .io import LOCK_TIMEOUT, JournalError, open_locked
from .validation import shown

_FORMAT = "comparison_hc journal"
_FIRST_FORMATS = {"comparison_hc asking 1": "session", "comparison_hc experiment": "experiment"}


class Contents(NamedTuple):
    "What a log holds."

    about: dict  # what the records belong to, as the header says
    records: list  # dicts
    size: int  # bytes of the header and the records
    lacks_end: bool  # whether the last record lacks only its line end
    report: str  # what was dropped, in words; empty if nothing was


def _any(record, about):
    "Accept every record."
    return True


def _line(record):
    "A record as its line."
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def header_line(kind, about):
    "The first line of a log."
    return _line({"format": _FORMAT, "version": 3, "kind": kind, "about": about})


def _parse_line(line):
    "The record of a line of any version, without its checksum; None if there is none."
    try:
        record = json.loads(re.sub(rb"\} [0-9a-f]{8}$", b"}", line))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    record.pop("crc", None)
    return record


def _parse_header(line):
    "(kind, about) of a first line, or None."
    record = _parse_line(line) or {}
    form = record.pop("format", None)
    if form == _FORMAT and record.pop("version", None) in (1, 2, 3) and isinstance(record.get("about", {}), dict):
        return record.get("kind"), record.get("about", {})
    return (_FIRST_FORMATS[form], record) if form in _FIRST_FORMATS else None


def log_kind(path):
    "What kind of log a file is; None for another file."
    try:
        with open(path, "rb") as file:
            return (_parse_header(file.readline(10**6).rstrip(b"\n")) or (None,))[0]
    except OSError:
        return None


def parse(data, kind, wrote, path, argument="journal", accepts=_any):
    "`Contents` of a log's bytes. Raises `JournalError` if they are another kind's, or damaged before the last line."
    refused = f"{argument} must be a new file or {wrote}; got {path}, "
    first, *lines = data.split(b"\n")
    header, start, size = _parse_header(first), 2, len(first) + 1
    if header is None and kind == "curves" and "digest" in (_parse_line(first) or ()):
        header, lines, start, size = ("curves", {}), [first, *lines], 1, 0  # the first version had no header
    if header is None or header[0] != kind:
        raise JournalError(f"{refused}which begins with {data[:60]!r}; nothing was changed")
    about, records, report = header[1], [], ""
    for number, line in enumerate(lines, start):
        record, is_last = _parse_line(line), number == start + len(lines) - 1
        intact = f"the {len(records)} records before it are intact"
        if is_last and not line:
            break
        if record is not None and accepts(record, about):
            records.append(record)
            size += len(line) + 1
        elif is_last:
            report = f"its last line is torn ({len(line)} bytes) and is left out; {intact}"
        else:
            raise JournalError(f"{refused}whose line {number} is damaged: {shown(line)}; {intact}; nothing was changed")
    return Contents(about, records, min(size, len(data)), size > len(data), report)


def read_log(path, kind, wrote, accepts=_any):
    "`Contents` of a log, which is left as it is. Raises `JournalError`."
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError(f"journal must be readable; got {shown(str(path))}: {error.strerror}") from None
    return parse(data, kind, wrote, path, accepts=accepts)


class Log:
    """A log that only this object writes while it is open; a context. With the path None, nothing is kept.

    `about`, `records` and `report` are what the file holds and what was left out; nothing is changed before `add`.
    Raises `InputError`, and `JournalError` for another's file, a damaged one, or one that is being written.
    """

    def __init__(self, path, kind, about, wrote, argument="journal", accepts=_any, fsync=True, timeout=LOCK_TIMEOUT):
        self.path, self.argument, self.fsync, self._fd = path, argument, fsync, None
        self._contents = Contents(about, [], 0, False, "")
        if path is None:
            return
        self._fd = open_locked(path, argument, timeout)
        try:
            first = header_line(kind, about)
            with open(self._fd, "rb", closefd=False) as file:
                data = file.read()
            if b"\n" not in data and first.startswith(data):  # new, or killed while the header was written
                os.ftruncate(self._fd, 0)
                self._append(first)
                data = first
            self._contents = parse(data, kind, wrote, path, argument, accepts)
        except BaseException:
            self.close()
            raise

    about = property(lambda self: self._contents.about)
    records = property(lambda self: self._contents.records)
    report = property(lambda self: self._contents.report)

    def _append(self, line):
        "Add bytes at the end, all or none. Raises `OSError`."
        size = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
            if self.fsync and written == len(line):
                os.fsync(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, size)
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        if written != len(line):
            os.ftruncate(self._fd, size)
            raise OSError(f"{self.path} could not be written: is the disk full?")

    def add(self, record, after=None):
        "Write a record down; it is in the file when this returns. `after`: how many records must be there before it."
        line, contents = _line(record), self._contents
        if after is not None and len(self.records) != after:
            where = f"{self.argument} must not be written by two at once; got {self.path}"
            raise JournalError(f"{where}; nothing was recorded, answer again")
        if self.path is not None:
            if contents.report:
                os.ftruncate(self._fd, contents.size)
            self._append(b"\n" * contents.lacks_end + line)
        self.records.append(_parse_line(line))
        self._contents = contents._replace(lacks_end=False, report="")

    def close(self):
        "Let others write the file."
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
