"""Files: which names they may have, one writer at a time, and contents that are replaced whole."""

import csv
import io
import os
import re
import secrets
import shutil
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from .validation import InputError, require, shown

LOCK_TIMEOUT = 0.5  # seconds: a process that is killed while it starts another leaves its lock there for a moment


class JournalError(InputError):
    "A log that does not fit: of another run or format, damaged, or open in another process."


def is_file_name(path):
    "Whether a file could be called this: a text or a path without a zero byte, of characters the system can write."
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        return False
    try:
        return b"\0" not in os.fsencode(path) and bool(os.fspath(path))
    except UnicodeEncodeError:
        return False


def journal_path(path, argument="journal"):
    "The path of an ordinary file that exists or can be made. Raises `InputError`."
    require(is_file_name(path), argument, "the name of a file", path)
    has_folder = os.path.isdir(os.path.dirname(os.path.abspath(path)))
    try:
        is_free = stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        is_free = True  # what the system refuses, it refuses again when the file is opened
    require(has_folder and is_free, argument, "a file in an existing folder", str(path))
    return Path(path)


def open_locked(path, argument="journal", timeout=LOCK_TIMEOUT):
    "The descriptor of a file opened for appending that no other process may write. Raises `JournalError`."
    path = journal_path(path, argument)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        rule = "a file that can be read and written"
        raise JournalError(f"{argument} must be {rule}; got {shown(str(path))}: {error.strerror}") from None
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return fd  # a browser has no second process
    until = time.monotonic() + timeout
    while True:
        try:
            flock(fd, LOCK_EX | LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() >= until:
                os.close(fd)
                raise JournalError(
                    f"{argument} must be a file that nobody else is writing; got {path}, "
                    "which is open in this or another process (close() frees it)"
                ) from None
        time.sleep(0.02)


def atomic_write(path, content, fsync=False):
    """Write a file as a whole: a reader sees the old content or the new, never a part.

    `content` is text, bytes, or a function of an open file. A link stays a link: the file it leads to is written, and
    keeps its mode. Raises `InputError` for a folder, pipe or device, `OSError` with this file's name where nothing can
    be written.
    """
    target = Path(os.path.realpath(path))
    require(not os.path.islink(target), "path", "a file, or a link that leads to one", str(path))
    ordinary = target.is_file() or not target.exists()
    require(ordinary, "path", "an ordinary file, or a new one, as what is there is replaced", str(target))
    draft = target.with_name(f".{target.name[:30]}.{secrets.token_hex(4)}")
    try:
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(draft, how, 0o666), "wb") as file:  # by number: gzip would keep the draft's name
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            if fsync:
                file.flush()
                os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(draft), draft):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def csv_text(rows):
    "A table as CSV with line feeds; a cell that holds a line end of any kind is quoted."
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return re.sub(r'("[^"]*")|\r\n', lambda found: found[1] or "\n", text.getvalue())


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




class LockedFile:
    "A file that only this object writes, as long as it is open; a context. Made if it is not there."

    def __init__(self, path, argument="journal", patience=LOCK_TIMEOUT, serves=None):
        "Raises `InputError`; `JournalError` if it cannot be opened, or somebody else has it after `patience` seconds."
        self._fd = None
        self.path = journal_path(path, argument)
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

