"Where results may go: not over an input, another result, or a place that cannot be written."

import os

from ..core.io import check_destination
from ..core.validation import require


def _place(path):
    "Where a path leads; what is no path stays as it is, for others to refuse."
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def check_overwriting(read, written):
    "No result may take the place of what is read, or of another result. Raises `InputError`."
    taken = {_place(path): option for option, path in read if path is not None}
    for option, path in written:
        if path is None:
            continue
        place = _place(path)
        require(place not in taken, option, f"another file than {taken.get(place)}", str(path))
        taken[place] = option


def check_files(args, read=(), endings=None):
    """What is to be written can be, and takes the place of nothing. To be asked before long work, not after.

    Raises `InputError`.
    """
    from .report import WRITERS

    tables = [(f"--{name}-out", getattr(args, f"{name}_out", None)) for name in ("labels", "answers")]
    results = [("--out", path) for path in ([args.out] if isinstance(args.out, str) else args.out or [])]
    consensus = getattr(args, "consensus", None)
    results += [] if consensus is None else [("--consensus", consensus)]
    for option, path in results:
        check_destination(path, option, tuple(endings or WRITERS))
    for option, path in tables:
        if path is not None:
            check_destination(path, option, (".csv",))
    check_overwriting(read, [*results, *tables])
