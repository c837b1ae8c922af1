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

from .validation import InputError, require, shown

LOCK_TIMEOUT = 0.5  # seconds: a process that is killed while it starts another leaves its lock there for a moment


class JournalError(InputError):
    """A log that does not fit: of another run or format, damaged, or open in another process.

    Examples
    --------
    >>> import os, tempfile
    >>> from comparison_hc.oracles import Journal, JournalError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "answers.jsonl")
    ...     with Journal(lambda questions: [0], path):
    ...         try:
    ...             Journal(lambda questions: [0], path)
    ...         except JournalError as error:
    ...             print("no other process is writing" in str(error))
    True
    """


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
                    f"{argument} must be a file that no other process is writing; got {path}, "
                    "which is open in this or another process (close() frees it)"
                ) from None
        time.sleep(0.02)


def check_destination(path, argument, endings):
    "A path with a known ending in an existing folder that may be written. Raises `InputError`, before long work."
    require(is_file_name(path), argument, "the name of a file", path)
    path = Path(path)
    require(path.suffix.lower() in endings, argument, f"a file that ends in {', '.join(endings)}", str(path))
    real = Path(os.path.realpath(path))  # where a link leads; a link still, if it leads back to itself
    require(real.parent.is_dir(), argument, "in an existing folder", str(path))
    ordinary = real.is_file() or not (real.exists() or real.is_symlink())
    writable = ordinary and os.access(real if real.exists() else real.parent, os.W_OK)
    require(writable, argument, "a file that may be written", str(path))
    return path


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
def locked(path, argument="journal"):
    "No other process may write this file inside the block. Raises `JournalError`."
    fd = open_locked(path, argument)
    try:
        yield fd
    finally:
        os.close(fd)
