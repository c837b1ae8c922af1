"""Where a file may stand, who may write to it, and how it is replaced: never half, never twice, never lost."""

import csv
import io
import os
import re
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from .compat import IN_BROWSER
from .validation import InputError, require, shown

class JournalError(InputError):
    "A journal that does not fit: another run, another format, another writer, or closed by hand."


def is_file_name(path):
    "Whether a file could be called this: a text or a path, without a zero, of characters that the system can write."
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        return False
    try:
        return b"\0" not in os.fsencode(path) and bool(os.fspath(path))
    except UnicodeEncodeError:
        return False


def journal_path(path, argument="journal", asked=None):
    "The place of a file that exists, or can be made. Raises `InputError`."
    require(is_file_name(path), argument, "the name of a file", path)
    asked = path if asked is None else asked
    has_folder = os.path.isdir(os.path.dirname(os.path.abspath(path)))
    try:
        is_free = stat.S_ISREG(os.stat(path).st_mode)  # asked once: another process may make the file meanwhile
    except OSError:
        is_free = True  # none is there; what the system refuses, it refuses again when the file is opened
    require(has_folder and is_free and str(path), argument, "a file in an existing folder", str(asked))
    return Path(path)

@contextmanager
def _named(path, drafts=True):
    "What the system refuses, it refuses about this file, and not about a draft, or a descriptor, that nobody knows."
    try:
        yield
    except OSError as error:
        if error.errno is None or not drafts and error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def _stat(path):
    "What is there; None for nothing."
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _unusable(argument, path, error):
    "What to raise about a file that the system refuses."
    return JournalError(
        f"{argument} must be a file that can be read and written; got {shown(str(path))}: {error.strerror}"
    )


def _short(name):
    "A name that is long in its short form, as the system bounds how many bytes one may have."
    data = os.fsencode(name)
    return name if len(data) <= 120 else f"{name[:30]}.{crc32(data):08x}"


PATIENCE = 0.5  # seconds; who is killed while it starts a process leaves the lock with that one for a moment


class LockedFile:
    "A file that only this object writes, as long as it is open; a context. Made if it is not there."

    def __init__(self, path, argument="journal", patience=PATIENCE, serves=None):
        "Raises `InputError`; `JournalError` if it cannot be opened, or somebody else has it after `patience` seconds."
        self._fd = None
        self.path = journal_path(path, argument, serves)
        self.argument, self._shown = argument, self.path if serves is None else serves
        how = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        how |= getattr(os, "O_NOFOLLOW", 0) if serves is not None else 0  # a lock that is a link is none of ours
        try:
            self._fd = os.open(self.path, how, 0o666)
        except OSError as error:
            raise _unusable(argument, self._shown, error) from None
        try:
            self._wait_for_lock(time.monotonic() + patience)
        except BaseException:
            self.close()
            raise

    def _wait_for_lock(self, until):
        "Be the only writer, or raise `JournalError` when the time is over."
        while not self._lock():
            if time.monotonic() >= until:
                raise JournalError(
                    f"{self.argument} must be a file that nobody else is writing; got {self._shown}, "
                    "which is open in this or another process (close() frees it)"
                )
            time.sleep(0.02)

    @property
    def is_in_place(self):
        "Whether the name still leads to this file, and not to none or another."
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _lock(self):
        "Whether this is the only writer now."
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock  # a browser's has no `flock`, and no second process
        except ImportError:
            return True
        try:
            flock(self._fd, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @property
    def size(self):
        "Bytes in the file now."
        return os.fstat(self._fd).st_size

    def read(self):
        "All that the file holds."
        with open(self._fd, "rb", closefd=False) as file:
            file.seek(0)
            return file.read()

    def append(self, line, fsync=True):
        "Add bytes at the end, all or none. Raises `OSError`."
        size = self.size
        try:
            with _named(self._shown):
                written = os.write(self._fd, line)
                if fsync and written == len(line):
                    os.fsync(self._fd)
            if written != len(line):
                raise OSError(f"{self._shown} could not be written: is the disk full?")
        except OSError:
            self.cut(size, fsync=False)
            raise

    def cut(self, size, fsync=True):
        "Drop the end."
        with _named(self._shown):
            os.ftruncate(self._fd, size)
            if fsync:
                os.fsync(self._fd)

    def close(self):
        "Let go of the file."
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_fd", None) is not None:
            self.close()

@contextmanager
def alone(path, argument):
    "Nobody else replaces this file meanwhile, if they ask. Raises `JournalError` if somebody has asked before."
    if path is None:
        yield
        return
    file = Path(os.path.realpath(journal_path(path, argument)))  # two names of one file have one lock
    try:
        _stat(file)
    except OSError as error:
        raise _unusable(argument, path, error) from None
    beside = file.with_name(f".{_short(file.name)}.lock")
    lock = None
    while lock is None or not lock.is_in_place:  # the one before us may take the lock file away as we open it
        lock = LockedFile(beside, argument, serves=path)
    with lock:
        try:
            yield
        finally:
            if os.name == "posix":  # elsewhere an open file cannot go
                beside.unlink(missing_ok=True)

def copy_aside(path, data):
    "A new file beside `path` with these bytes, safely on the disk."
    number = 1
    while True:
        copy = path.with_name(f"{_short(path.name)}.damaged" + ("" if number == 1 else f"-{number}"))
        try:
            file = open(copy, "xb")
        except FileExistsError:
            number += 1
        else:
            break
    try:
        with _named(copy), file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    return copy

def atomic_write(path, content, fsync=False, locked=False):
    """Write a file all at once: whoever looks sees the old one or the new one, never half of it.

    A link stays one: the file that it leads to is written. Who may read an old file may read the new one. Raises
    `InputError` for what is no ordinary file (a folder, a pipe, a device, a link that leads back to itself), `OSError`
    where nothing can be written.
    """
    asked, path = path, Path(os.path.realpath(path))
    require(not os.path.islink(path), "path", "a file, or a link that leads to one", str(asked))
    with _named(asked):
        before = _stat(path)
    ordinary = before is None or stat.S_ISREG(before.st_mode)
    require(ordinary, "path", "an ordinary file, or a new one, as what is there is replaced", str(path))
    with _named(asked):
        handle, draft = _draft(path, locked)
    try:
        with _named(asked, drafts=False), os.fdopen(handle, "wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            if fsync:
                file.flush()
                os.fsync(file.fileno())
        with _named(asked):
            _give_rights(draft, before)
            os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _draft(path, locked):
    "A new file beside this one, open for writing: (descriptor, its place)."
    if not locked:  # 30 characters of its name: a whole one can be as long as the system lets it be
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:30]}.")
    draft = path.with_name(f".{_short(path.name)}.draft")
    draft.unlink(missing_ok=True)
    return os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), draft


def _give_rights(draft, before):
    "The rights and the owner of the old file, where there was one and the system lets us."
    if before is None:
        return os.chmod(draft, 0o666 & ~_umask())
    if hasattr(os, "geteuid") and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.chown(draft, before.st_uid, before.st_gid)
    os.chmod(draft, stat.S_IMODE(before.st_mode))


def _umask():
    "The process's file mode mask, which can only be read by setting it."
    mask = os.umask(0)
    os.umask(mask)
    return 0o022 if IN_BROWSER else mask  # a browser's, 0o777, would lock everybody out

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def spreadsheet_cell(value):
    """What a program for tables shows as it is: a text that it would compute has an apostrophe before it.

    So has a text that would look like one of those; different texts stay different, and `plain_cell` is the way back.
    """
    text = str(value)
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def plain_cell(cell):
    "The text that `spreadsheet_cell` made this of."
    return cell[1:] if cell.startswith("'") and _is_formula(cell.lstrip("'")) else cell


def _is_formula(text):
    "Whether a program for tables would compute it."
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def csv_text(rows):
    "A table for people: a line a row; a cell with a line end of any kind stands in quotation marks."
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([spreadsheet_cell(value) for value in row] for row in rows)
    return re.sub(r'("[^"]*")|\r\n', lambda found: found[1] or "\n", text.getvalue())
