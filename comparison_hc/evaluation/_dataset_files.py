"""Files of the data sets: the folders they are looked for in, the download, and the check of the digests."""

import gzip
import json
import os
from hashlib import new, sha256
from io import BytesIO
from pathlib import Path

import numpy as np

from ..core.io import atomic_write
from ..core.compat import IN_BROWSER, import_optional
from ..core.validation import InputError, MissingFileError, require

# What is known about each set before it is loaded. The digests of originals are those that published loaders check
# against, or were computed from the original bytes; the others were computed from the converted files.
CATALOGUE = json.loads(Path(__file__).with_name("datasets.json").read_text(encoding="utf-8"))


class DatasetNotFoundError(MissingFileError):
    """A data set that is not on this machine and cannot be fetched.

    The message names the files, the folders to put them into, and the address of the original.
    """


def cache_folder():
    "The folder for downloaded and converted files; in a browser, one that is lost with the page."
    if folder := os.environ.get("COMPARISON_HC_CACHE") or IN_BROWSER and "~/.cache/comparison_hc":
        return Path(folder).expanduser()
    import pooch

    return Path(pooch.os_cache("comparison_hc")).expanduser()


def data_folders():
    "Where files are looked for, in this order: {what the folder is: its path}."
    data = os.environ.get("COMPARISON_HC_DATA")
    return ({"data folder": Path(data).expanduser()} if data else {}) | {"cache": cache_folder()}


def find_files(alternatives):
    "(folder, paths) of the first list of files that one folder holds completely; None without one."
    for where, folder in data_folders().items():
        for files in alternatives:
            paths = [folder / file for file in files]
            if all(path.is_file() for path in paths):
                return where, paths


def converted_files(name, stem=None):
    "The alternative lists of files that the reader of a set takes."
    return [[file.format(stem=stem) for file in files] for files in CATALOGUE[name].get("files", [])]


def can_be_fetched(original):
    "Whether a download could be verified; an MD5 only serves for a file that was put into a folder by hand."
    return original["digest"].startswith("sha256:")


def fetch(name, convert, stem=None, download=True, progress=False):
    "The files that the reader of a set takes; where they are missing, they are made from the original."
    if found := find_files(converted_files(name, stem)):
        return found[1]
    originals = _fetch_originals(name, stem, download, progress)
    made = read_or_refuse(name, convert, *originals)
    try:
        for file, data in made:
            path = cache_folder() / file
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, data)
    except OSError as error:
        raise _not_found(name, stem, f"The cache cannot be written ({type(error).__name__}: {error})") from error
    return find_files(converted_files(name, stem))[1]


def _fetch_originals(name, stem, download, progress):
    "Paths of the verified originals; those that are missing are downloaded, if that is allowed."
    originals = CATALOGUE[name]["originals"]
    missing = [original for original in originals if not find_files([[original["path"]]])]
    by_hand = [Path(original["path"]).name for original in missing if not can_be_fetched(original)]
    if by_hand:
        why = f"There is no SHA-256 for {' and '.join(by_hand)}, so it is not downloaded; put it there by hand"
        raise _not_found(name, stem, why)
    if missing and not download:
        raise _not_found(name, stem, "Nothing was downloaded, because download=False")
    try:
        for original in missing:
            _download(original, progress)
    except (OSError, ValueError) as error:
        why = f"The download failed ({type(error).__name__}: {' '.join(str(error).split())[:240]})"
        raise _not_found(name, stem, why) from error
    paths = [find_files([[original["path"]]])[1][0] for original in originals]
    for path, original in zip(paths, originals):
        algorithm, digest = original["digest"].split(":")
        found = new(algorithm, path.read_bytes()).hexdigest()
        rule = f"the original from {original['url']}, whose {algorithm.upper()} is {digest}"
        require(found == digest, str(path), rule, found)
    return paths


def _download(original, progress):
    "Fetch an original into the cache: Pooch verifies a temporary file and then renames it."
    pooch = import_optional("pooch", "a download")
    path, log = cache_folder() / original["path"], pooch.get_logger()
    level = log.level
    log.setLevel("ERROR")
    try:
        downloader = pooch.HTTPDownloader(progressbar=progress, timeout=30)
        pooch.retrieve(original["url"], original["digest"], path.name, path.parent, downloader=downloader)
    finally:
        log.setLevel(level)


def _not_found(name, stem, why):
    "The error for a missing set: its files, the folders, the address of the original, and why it was not fetched."
    files = " or ".join(" and ".join(files) for files in converted_files(name, stem))
    folders = " and ".join(f"{folder} (the {where})" for where, folder in data_folders().items())
    originals = " and ".join(f"{original['path']} from {original['url']}" for original in CATALOGUE[name]["originals"])
    unset = ""
    if not os.environ.get("COMPARISON_HC_DATA"):
        unset = " COMPARISON_HC_DATA, which can name another folder, is not set."
    found = f"dataset {name!r} is not here: {files} not found in {folders}.{unset}"
    return DatasetNotFoundError(f"{found} Put that, or the original {originals}, into one of these folders. {why}.")


def check_digest(path, dataset):
    "Raise `InputError` if the catalogue has a digest of this converted file, and the content has another."
    wanted = CATALOGUE[dataset].get("digests", {}).get("/".join(path.parts[-2:]))
    if wanted is not None:
        found = content_digest(path.read_bytes(), path.suffix)
        rule = f"as it was converted: the SHA-256 of its content is {wanted} (delete it, and it is converted again)"
        require(found == wanted, str(path), rule, found)


def content_digest(data, suffix):
    "The SHA-256 of a text whatever its line ends, or of arrays, whatever their compression."
    if suffix == ".gz":
        data = gzip.decompress(data)
    if suffix != ".npz":
        return sha256(data.replace(b"\r\n", b"\n").strip()).hexdigest()
    whole = sha256()
    with np.load(BytesIO(data)) as arrays:
        for name in sorted(arrays.files):
            array = arrays[name]
            whole.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return whole.hexdigest()


def read_or_refuse(name, read, *paths, **options):
    "What a reader gives; whatever it raises becomes an `InputError` that names the files."
    try:
        return read(*paths, **options)
    except InputError:
        raise
    except Exception as error:  # a damaged archive makes its decoder raise nearly anything
        files, reason = ", ".join(map(str, paths)), " ".join(str(error).split())[:160]
        message = f"{files} must be readable as the data set {name!r}; got {type(error).__name__}: {reason}"
        raise InputError(message) from error
