"Items with pictures, questions, responses, and the settings of a session."

import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path

import numpy as np

from ..comparisons import Triplets
from ..core.validation import InputError, MissingFileError, check_integer, check_names, check_number, require, shown

__all__ = ["Item", "read_items"]

PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif")
MAX_PICTURE_BYTES = 40_000_000  # of a folder
TRIAL_TYPES = {
    "new": "not asked before",
    "other": "the same pivot through other items, after a response of cannot say",
    "again": "repeated: is the person consistent?",
    "settle": "two responses differ: which one counts?",
    "careful": "the Bayesian stage weighs every response",
}
_PICTURES = "dog 🐶 wolf 🐺 cat 🐱 lion 🦁 horse 🐴 cow 🐮 hen 🐔 penguin 🐧 frog 🐸 fish 🐟 bee 🐝 spider 🕷️".split()


@dataclass(frozen=True)
class Item:
    """Something to ask about.

    Parameters
    ----------
    name : str
        Different for every item of a set.
    picture : str, default ""
        An emoji, a data URI of an image, or nothing.

    Examples
    --------
    >>> from comparison_hc.elicitation import Item
    >>> Item("cat", "🐱").is_image
    False
    """

    name: str
    picture: str = ""

    @property
    def is_image(self) -> bool:
        "Whether its picture is an image, not an emoji."
        return self.picture.startswith("data:")


ANIMALS = tuple(Item(name, picture) for name, picture in zip(_PICTURES[::2], _PICTURES[1::2]))


def _digit_items():
    "Two handwritten pictures of every digit."
    from comparison_hc.core.images import data_uri, png_bytes
    from comparison_hc.datasets import load_dataset

    digits, items = load_dataset("digits"), []
    for digit in range(10):
        for which, index in zip("ab", np.flatnonzero(digits.labels == digit)):
            items.append(Item(f"{digit}{which}", data_uri(png_bytes(16 - digits.images[index]))))
    return tuple(items)


ITEM_SETS = {"animals": lambda: ANIMALS, "digits": _digit_items}


def _from_folder(folder):
    "One item per picture, named after its file."
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURE_ENDINGS)
    require(files, "items", f"a folder with pictures ({', '.join(PICTURE_ENDINGS)})", str(folder))
    size = sum(path.stat().st_size for path in files if path.is_file())
    rule = f"a folder with at most {MAX_PICTURE_BYTES:,} bytes of pictures, which all go to the page"
    require(size <= MAX_PICTURE_BYTES, "items", f"{rule} (make them smaller)", size)
    return tuple(Item(path.stem, _picture(path)) for path in files)


def _picture(path):
    from comparison_hc.core.images import data_uri

    try:
        return data_uri(path)
    except InputError:
        rule = f"a folder whose {', '.join(PICTURE_ENDINGS)} are PNG, JPEG or GIF pictures"
        raise InputError(f"items must be {rule}; got {str(path)!r}, which is none") from None


def _from_lines(path):
    "One item per line; empty lines are skipped."
    require(path.is_file(), "items", "a folder or a text file", str(path))
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"items must be a file that can be read; got {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be utf-8 text, one item per line; byte {error.start} is not") from None
    return tuple(Item(line.strip()) for line in lines if line.strip())


def read_items(source: str | os.PathLike | Sequence = "animals") -> tuple:
    """Read the items of a session: at least two, with different names.

    Parameters
    ----------
    source : str, path or sequence of str or Item, default "animals"
        "animals" or "digits", a folder of pictures, a text file with one item per line, or the items themselves.

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        If there are fewer than two items, or names that are empty, repeated or not printable.

    Examples
    --------
    >>> from comparison_hc.elicitation import read_items
    >>> read_items(["cat", "dog"])
    (Item(name='cat', picture=''), Item(name='dog', picture=''))
    """
    items = _named_items(source) if isinstance(source, (str, os.PathLike)) else _given_items(source)
    names = check_names([item.name for item in items], argument="items")
    require(all(isinstance(item.picture, str) for item in items), "items", "with texts as pictures", items)
    require(len(names) >= 2, "items", "at least two", list(names))
    bad = [name for name in names if not name or name != name.strip() or not name.isprintable()]
    require(not bad, "items", "named by printable text without blanks at its ends", bad[:1])
    return tuple(Item(name, item.picture) for name, item in zip(names, items))


def _named_items(source):
    "The items of a set that comes with the package, of a folder or of a file."
    if os.path.exists(source):
        path = Path(source)
        return _from_folder(path) if path.is_dir() else _from_lines(path)
    if source in ITEM_SETS:
        return ITEM_SETS[source]()
    kinds = f"{', '.join(ITEM_SETS)}, an existing folder of pictures or an existing text file"
    raise MissingFileError(f"items must be {kinds}; got {shown(str(source))}")


def _given_items(source):
    is_sequence = np.iterable(source) and not isinstance(source, (bytes, dict, set))
    require(is_sequence and getattr(source, "ndim", 1) == 1, "items", "a sequence of names", source)
    return tuple(item if isinstance(item, Item) else Item(item) for item in source)


@dataclass(frozen=True)
class Question:
    "What to ask next."

    shown: tuple  # three items, in their order on the screen
    trial_type: str  # one of `TRIAL_TYPES`


@dataclass(frozen=True)
class Response:
    "One response of a person."

    shown: tuple  # as asked
    answer: int  # 1, 2 or 3: the position of the one left out; 0: cannot say
    trial_type: str  # as asked
    time: str = field(default="", compare=False, repr=False)  # when it was given (ISO 8601, UTC); logs of old have none
    ms: float | None = field(default=None, compare=False, repr=False)  # from the question's appearance, where measured

    @property
    def items(self):
        "The three items, without their order."
        return frozenset(self.shown)

    @property
    def left_out(self):
        "The item left out; None for cannot say."
        return self.shown[self.answer - 1] if self.answer else None

    @property
    def row(self):
        "(i, j, k): i and j belong together, k is left out. Undefined for cannot say."
        return (*sorted(self.items - {self.left_out}), self.left_out)


@dataclass(frozen=True)
class Settings:
    "What a session is about: fixed when it begins."

    names: tuple  # of the items
    person: str  # who answers
    seed: int  # decides the order of the items, of the three on the screen, and which questions are repeated
    repeat_every: int = 6  # an old question is repeated after so many new responses; 0: never

    def __post_init__(self):
        object.__setattr__(self, "names", check_names(self.names, argument="items"))
        is_name = isinstance(self.person, str) and self.person.strip() and self.person.isprintable()
        require(is_name, "person", "a name of printable characters", self.person)
        for name, high in dict(seed=2**32 - 1, repeat_every=None).items():
            object.__setattr__(self, name, check_integer(getattr(self, name), name, 0, high))

    @property
    def n(self):
        "Number of items."
        return len(self.names)

    @cached_property
    def order(self):
        "In which items are inserted."
        return np.random.default_rng(self.seed).permutation(self.n).tolist()


def default_log(source, person, folder="."):
    "Where responses are logged by default: one file for every set of items and person."
    stem = Path(source).stem if isinstance(source, (str, os.PathLike)) else "items"
    return Path(folder) / (re.sub(r"[^\w-]+", "_", f"{stem}-{person}") + ".jsonl")


def seed_of(person):
    "By default people get different questions: together they then cover more."
    return zlib.crc32(person.encode(errors="replace"))


def now():
    "The time as logs write it."
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def timed(record, ms):
    "A record of a response with its time, and how long it took where that was measured. Raises `InputError`."
    if ms is not None:
        ms = round(check_number(ms, "ms", 0), 1)
    return record | {"time": now()} | ({} if ms is None else {"ms": ms})


def is_timed(record, keys):
    "Whether a record has these keys, and, if more, the time and how long it took."
    more = record.keys() - keys
    time, ms = record.get("time", ""), record.get("ms", 0)
    return keys <= record.keys() and more <= {"time", "ms"} and isinstance(time, str) and isinstance(ms, (int, float))


def as_triplets(names, responses, people):
    "Responses of one or several people as comparisons that every method takes; None if there are no answers."
    rows = [(index, response) for index, given in enumerate(responses) for response in given if response.answer]
    if not rows:
        return None
    odd = [(response.row[2], response.row[0], response.row[1]) for _, response in rows]
    respondents = None if people is None else [people[index] for index, _ in rows]
    return Triplets.from_odd_one_out(odd, names=names, respondents=respondents)


def simulated_answer(oracle, question):
    "The answer of a person who thinks as this oracle."
    return int(oracle(np.array([question.shown])).item()) + 1
