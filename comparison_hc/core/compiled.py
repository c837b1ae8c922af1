"Functions in machine code, by numba where it is installed. Importing this module loads numba, which takes a second."

from .compat import IN_BROWSER

try:
    from numba import njit
except ImportError:
    njit = None


def has_numba():
    "Whether functions can be compiled."
    return njit is not None and not IN_BROWSER


def compiled(function):
    "The function compiled, and kept on disk where that is possible; the function itself without numba."
    if njit is None:
        return function
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)  # no folder to keep it in
