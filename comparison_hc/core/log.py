"""A header that says what it belongs to, one record a line, every line chained to the one before it."""

import json
import re
import zlib
from dataclasses import dataclass

from .io import PATIENCE
from .io import JournalError as JournalError
from .io import LockedFile as LockedFile
from .io import copy_aside as copy_aside
from .io import journal_path as journal_path
from .validation import shown

_all_ = ["JournalError", "LockedFile", "copy_aside", "journal_path"]

def sealed_line(record, seal):
    "A record as it stands in a journal."
    start = json.dumps(record, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"crc":"'
    try:
        data = start.encode()
    except UnicodeEncodeError:
        data = json.dumps(record, separators=(",", ":")).encode()[:-1] + b',"crc":"'
    seal = zlib.crc32(data, seal)
    return data + f'{seal:08x}"}}\n'.encode(), seal


def unsealed_line(line, seal):
    "What a line says, or None if this is not the line that was written after `seal`."
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "crc" not in record:
        return None
    del record["crc"]
    again, seal = sealed_line(record, seal)
    return (record, seal) if again == line + b"\n" else None

def stated_seal(line):
    "The seal with which a line ends; of a line without one, the checksum of its bytes."
    found = re.search(rb'"crc":"([0-9a-f]{8})"\}$', line) or re.search(rb"\} ([0-9a-f]{8})$", line)
    return int(found[1], 16) if found else zlib.crc32(line)


def _line_sealed_alone(line):
    "The record of a line of the first edition whose checksum covers that line and no other, or None."
    body, seal = line[:-9], line[-8:]
    if line[-18:-10] == b',"crc":"':
        body, seal = line[:-18] + b"}", line[-10:-2]
    if seal != b"%08x" % zlib.crc32(body):
        return None
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None

_FORMAT = "comparison_hc journal"
_FIRST_EDITION = {"comparison_hc asking 1": "session", "comparison_hc experiment": "experiment"}


def header_line(kind, about):
    "The first line of a journal."
    return sealed_line({"format": _FORMAT, "version": 2, "kind": kind, "about": about}, 0)[0]


def _read_header(line):
    "(kind, about) of a first line of any edition, or None."
    found = unsealed_line(line, 0)
    if found is not None:
        record = found[0]
        if record.keys() == {"format", "version", "kind", "about"}:
            is_ours = (record["format"], record["version"]) == (_FORMAT, 2) and isinstance(record["about"], dict)
            return (record["kind"], record["about"]) if is_ours else None
    else:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(record, dict) or json.dumps(record).encode() != line:
            return None
        if record == {"format": _FORMAT, "version": 1, "kind": record.get("kind")}:
            return record["kind"], {}
    kind = _FIRST_EDITION.get(str(record.pop("format", None)))
    return None if kind is None else (kind, record)

@dataclass(frozen=True)
class Records:
    "What the bytes of a journal say."

    about: dict  # what the records belong to, as the header says
    records: tuple  # dicts, those that count
    seal: int  # which the next line continues
    n_bytes: int  # that stay
    rest: bytes = b""  # what follows them, and must go before a line can be added
    damaged: tuple = ()  # numbers of the damaged lines, counted from 1; a torn last line is none
    lacks_end: bool = False  # whether the last line lacks only its line end

    @property
    def is_torn(self):
        "Whether the rest is the beginning of one line."
        return b"\n" not in self.rest and self.rest.startswith(b"{")

    @property
    def damage(self):
        "What is wrong, in words; empty if nothing is."
        intact = f"the {len(self.records)} records before it are intact"
        if self.rest and not self.is_torn:
            return f"line {self.damaged[0]} is damaged; {intact}"
        said = [f"damaged and left out: line {', '.join(map(str, self.damaged))}"] if self.damaged else []
        if self.is_torn:
            said.append(f"its last line is torn ({len(self.rest)} bytes); {intact}")
        return "; ".join(said)

def read_records(data, kind, accepts=lambda record, about: True, independent=False):
    "The records of a journal of any edition."
    first, *lines = data.split(b"\n")
    header = _read_header(first)
    if header is None and kind == "curves" and _line_sealed_alone(first) is not None:
        lines.insert(0, first)  # the first edition's had no header
        header, seal, end, number = ("curves", {}), 0, 0, 0
    else:
        seal, end, number = stated_seal(first), len(first) + 1, 1
    if header is None or header[0] != kind:
        return None
    about, records, damaged = header[1], [], []
    while lines and lines != [b""]:
        line, number = lines.pop(0), number + 1
        found = unsealed_line(line, seal)
        record = found[0] if found is not None else _line_sealed_alone(line) if independent else None
        if record is not None and accepts(record, about):
            records.append(record)
        else:
            damaged.append(number)
            if not independent or not lines and line.startswith(b"{"):
                break
        seal, end = stated_seal(line), end + len(line) + 1
    end = min(end, len(data))
    found = Records(about, tuple(records), seal, end, data[end:], tuple(damaged), not data[:end].endswith(b"\n"))
    return Records(**{**vars(found), "damaged": found.damaged[:-1]}) if found.is_torn else found

def _refuse(argument, wrote, path, data):
    "Say that a file is no journal of this kind."
    raise JournalError(
        f"{argument} must be a new file or {wrote}; got {path}, which begins with {data[:60]!r}; nothing was changed"
    )


class JournalFile(LockedFile):
    "A journal that only this object writes, as long as it is open; a context."

    def __init__(
        self,
        path,
        kind,
        about,
        wrote,
        argument="journal",
        patience=PATIENCE,
        fsync=True,
        accepts=lambda record, about: True,
        independent=False,
    ):
        "Opens and locks the file. Raises `InputError`, `JournalError`."
        super().__init__(path, argument, patience)
        self.kind = kind
        self.about = about
        self.wrote = wrote
        self.fsync = fsync
        self.accepts = accepts
        self.independent = independent
        self.seal = 0  # which the next line continues
        self.found = None  # `Records`: what the file held when it was loaded
        self.copy = None  # `Path` of the copy, if a damaged file was copied aside

    def load(self):
        "Read the file, or begin it. Raises `JournalError` if it is no journal of this kind."
        data, first = self.read(), header_line(self.kind, self.about)
        if b"\n" not in data and first.startswith(data):  # new, or killed while the header was written
            self.cut(0, self.fsync)
            self.append(first, self.fsync)
            data = first
        self.found = read_records(data, self.kind, self.accepts, self.independent)
        if self.found is None:
            _refuse(self.argument, self.wrote, self.path, data)
        self.seal = self.found.seal
        return self.found

    def mend(self):
        "Cut the file after what counts; whatever is more than a torn last line is first copied aside."
        found, said = self.found, self.found.damage
        if found.rest:
            if found.is_torn:
                said += "; the torn line was dropped"
            else:
                self.copy = copy_aside(self.path, self.read())
                said += f"; the whole file was copied to {self.copy}"
            self.cut(found.n_bytes, self.fsync)
        if found.lacks_end:
            self.append(b"\n", self.fsync)
        return said

    def resume(self, n_bytes, seal):
        "Go on where somebody stood who had loaded this file. Raises `JournalError` if it has changed since."
        if self.size != n_bytes:
            where = f"{self.argument} must not be written by two at once; got {self.path}"
            raise JournalError(f"{where}; nothing was recorded, answer again")
        self.seal = seal

    def add(self, record):
        "Write a record down. It is in the file when this returns."
        line, seal = sealed_line(record, self.seal)
        self.append(line, self.fsync)
        self.seal = seal

class KeptRecords:
    """Records of independent pieces of work, in a `JournalFile` unless the path is None; a context.

    A subclass says in `take` what becomes of a file's records."""

    def __init__(self, path, kind, about, wrote, accepts):
        "Opens and locks the file, and takes in what it holds. Raises `InputError`, `JournalError`."
        self.file = None
        if path is None:
            return
        self.file = JournalFile(path, kind, about, wrote, accepts=accepts, independent=True)
        try:
            self.take(self.file.load())
        except BaseException:
            self.close()
            raise

    def take(self, found):
        "Take in the records and mend the file, or refuse it."
        raise NotImplementedError

    def keep(self, record):
        "Write a record down, if there is a file."
        if self.file is not None:
            self.file.add(record)

    def close(self):
        "Let others write the file."
        if self.file is not None:
            self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

def read_journal_file(path, kind, wrote, accepts=lambda record, about: True, independent=False):
    "Read a journal and leave it as it is. Raises `JournalError`."
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError(f"journal must be readable; got {shown(str(path))}: {error.strerror}") from None
    found = read_records(data, kind, accepts, independent)
    if found is None:
        _refuse("journal", wrote, path, data)
    return found
