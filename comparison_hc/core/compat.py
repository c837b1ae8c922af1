"""What a browser lacks, in one place: integers of 64 bits by default, threads and processes, some libraries."""

import sys
import zipfile
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from io import BytesIO

import numpy as np

from .validation import InputError


def _addresses(numbers):
    "Whole numbers in the type that NumPy wants for places. Raises `OverflowError` for one that has no place."
    numbers = np.asarray(numbers)
    if not numbers.size:
        return numbers.astype(np.intp)
    if numbers.dtype.itemsize > np.dtype(np.intp).itemsize and numbers.max() > np.iinfo(np.intp).max:
        raise OverflowError(f"{numbers.max()} is more than this platform can address")
    return numbers.astype(np.intp, casting="same_kind", copy=False)


def bincount(values, weights=None, minlength=0):
    "`np.bincount` of 64-bit numbers, on every platform."
    found = np.bincount(_addresses(values), weights, minlength)
    return found.astype(np.int64, copy=False) if weights is None else found


def repeat(values, times, axis=None):
    "`np.repeat` with 64-bit numbers of times, on every platform."
    return np.repeat(values, _addresses(times), axis)


IN_BROWSER = sys.platform in ("emscripten", "wasi")  # no threads and no processes; slower by a factor of five or so


def import_optional(module, what):
    "A library that may be missing. Raises `InputError` that says what to do."
    try:
        return import_module(module)
    except ImportError:
        name = {"vl_convert": "vl-convert-python"}.get(module, module.partition(".")[0])
        do = "does not run in a browser: use an installed Python" if IN_BROWSER else f"is missing: pip install {name}"
        raise InputError(f"{what} needs {name}, which {do}") from None


class Fetched:
    "Finds a module of a package that comes with Pyodide and was not loaded yet: the import itself fetches it."

    def __init__(self, packages, fetch, loaded, place):
        self.packages, self.fetch, self.loaded, self.place = packages, fetch, loaded, place
        self.home = {module: name for name, entry in packages.items() for module in entry["imports"]}

    def bring(self, name):
        "A package after what it needs."
        if name in self.loaded:
            return
        self.loaded.add(name)
        for needed_first in self.packages[name]["depends"]:
            self.bring(needed_first)
        with zipfile.ZipFile(BytesIO(self.fetch(self.packages[name]["file_name"]))) as file:
            file.extractall(self.place)

    def find_spec(self, module, path=None, target=None):
        "What `sys.meta_path` asks, after all others."
        name = self.home.get(module)
        if name is None or name in self.loaded:
            return None
        self.bring(name)
        invalidate_caches()
        return find_spec(module)


def fetch_missing():
    "Let imports fetch what is missing, where Python runs in a browser's worker."
    import js
    import pyodide_js

    if hasattr(js, "document") or not hasattr(js, "XMLHttpRequest"):
        return  # a page may not stand still
    inside, there = pyodide_js._api, pyodide_js.loadedPackages

    def fetch(name):
        request = js.XMLHttpRequest.new()
        request.open("GET", f"{inside.config.indexURL}{name}", False)
        request.responseType = "arraybuffer"
        request.send()
        if request.status != 200:
            raise ImportError(f"{name} could not be loaded: {request.status}")
        return request.response.to_bytes()

    class Loaded(set):
        def __contains__(self, name):
            return hasattr(there, name)

        def add(self, name):
            setattr(there, name, "default channel")

    place = next(folder for folder in sys.path if folder.endswith("site-packages"))
    sys.meta_path.append(Fetched(inside.lockfile_packages.to_py(), fetch, Loaded(), place))
