"""Pyodide's files and ours side by side, a JupyterLite site with the pages as notebooks, and what opens them."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.request import urlopen

from .cells import directives, is_assignment, without_answers
from ..core.validation import InputError, require

PYODIDE = "0.27"  # the line that the kernel is made for
LITE = {
    "jupyterlite_core": "jupyterlite-core==0.6.4",
    "jupyterlite_pyodide_kernel": "jupyterlite-pyodide-kernel==0.6.1",
}
NEEDED = ("numpy", "scipy", "pandas", "scikit-learn", "joblib", "threadpoolctl", "pillow")  # of the package
KERNEL = ("ipython", "micropip", "packaging", "sqlite3", "ssl", "jedi", "traitlets")  # of JupyterLite's
PURE = (  # from the package index: wheels of pure Python
    "altair==5.5.0 narwhals==2.29.0 jsonschema==4.17.3 pyrsistent==0.20.0 attrs==25.4.0 jinja2==3.1.6 "
    "typing-extensions==4.15.0 comm==0.2.3 anywidget==0.11.0 ipywidgets==8.1.9 jupyterlab-widgets==3.0.17 "
    "psygnal==0.15.1 fastcore==1.14.5"
).split()
CHART = ("altair", "narwhals", "jsonschema", "pyrsistent", "attrs", "jinja2", "markupsafe", "typing-extensions")


def require_lite():
    "Raise an `InputError` that says how to get what builds JupyterLite's files."
    lacking = []
    for wanted in LITE.values():
        name, version = wanted.split("==")
        try:
            there = distribution(name).version
        except PackageNotFoundError:
            there = None
        if there is None or there.split(".")[:2] != version.split(".")[:2]:
            lacking.append(wanted)
    if lacking:
        raise InputError(f"pages that run in the browser need {', '.join(lacking)}: pip install {' '.join(lacking)}")


MOST_BYTES = 200_000_000  # of a file: ten times the largest
CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


def read_file(source, name):
    "A file of a distribution of Pyodide. Raises `InputError`."
    try:
        if re.match("https?://", str(source)):
            with urlopen(f"{str(source).rstrip('/')}/{name}", timeout=60) as answer:
                data, whole = answer.read(MOST_BYTES + 1), answer.headers["Content-Length"]
            require(len(data) <= MOST_BYTES, "--pyodide", f"files of at most {MOST_BYTES:,} bytes", name)
            if whole is not None and len(data) < int(whole):
                raise ConnectionError(f"{len(data):,} of {int(whole):,} bytes came")
            return data
        return (Path(source) / name).read_bytes()
    except (OSError, HTTPException, ValueError) as error:
        rule = f"a folder or an address with the files of Pyodide {PYODIDE}, {name} among them"
        raise InputError(f"--pyodide must be {rule}; got {source}: {error}") from None


def closure(packages, wanted):
    "What is wanted, and all that it needs. Raises `InputError`."
    found, open_names = set(), list(wanted)
    while open_names:
        name = re.sub("[-_.]+", "-", open_names.pop()).lower()
        require(name in packages, "--pyodide", "a distribution that has all that is needed", f"one without {name}")
        if name not in found:
            found.add(name)
            open_names += packages[name]["depends"]
    return found


def check_pyodide(source):
    "What a distribution holds. To be asked before long work. Raises `InputError`."
    try:
        lock = json.loads(read_file(source, "pyodide-lock.json"))
        version = lock["info"]["version"]
    except (ValueError, KeyError, TypeError):
        version = "a lock file that cannot be read"
    require(version.startswith(f"{PYODIDE}."), "--pyodide", f"Pyodide {PYODIDE}", version)
    return lock


def copy_pyodide(source, folder, wanted=NEEDED + KERNEL):
    "Pyodide with the packages that are wanted, and a lock file that names no others."
    lock = check_pyodide(source)
    lock["packages"] = {name: lock["packages"][name] for name in sorted(closure(lock["packages"], wanted))}
    folder.mkdir(parents=True)
    digests = {entry["file_name"]: entry.get("sha256") for entry in lock["packages"].values()}
    for name in (*CORE, *digests):
        data, wanted = read_file(source, name), digests.get(name)
        found = hashlib.sha256(data).hexdigest()
        require(wanted in (None, found), "--pyodide", f"a distribution whose {name} has the digest {wanted}", found)
        (folder / name).write_bytes(data)
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def write_wheel(folder, name, version, contents):
    "A wheel of pure Python."
    plain = name.replace("-", "_")
    about = f"{plain}-{version}.dist-info"
    tag = "Wheel-Version: 1.0\nGenerator: comparison_hc\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    contents = {**contents, f"{about}/METADATA": metadata.encode(), f"{about}/WHEEL": tag.encode()}
    record = "".join(f"{path},,\n" for path in [*contents, f"{about}/RECORD"])
    path = Path(folder) / f"{plain}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for inside, data in {**contents, f"{about}/RECORD": record.encode()}.items():
            file.writestr(zipfile.ZipInfo(inside, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def own_wheel(folder):
    "This package as a wheel, with its charts compiled, which no browser could do, and the stored results of runs."
    import comparison_hc
    from comparison_hc.dashboards.framework import compile_charts
    from comparison_hc.dashboards.page import COMPILED

    home = Path(comparison_hc.__file__).parent
    paths = [path for path in sorted(home.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    contents = {path.relative_to(home.parent).as_posix(): path.read_bytes() for path in paths}
    results = sorted((home.parent / "nbs").glob("*/results/*.csv"))
    contents |= {path.relative_to(home.parent).as_posix(): path.read_bytes() for path in results}
    contents[f"comparison_hc/dashboards/static/{COMPILED}"] = json.dumps(compile_charts()).encode()
    return write_wheel(folder, "comparison-hc", comparison_hc.__version__, contents)


def packed(name, folder):
    "The Python files of what is installed here."
    found = distribution(name)
    kept = [path for path in found.files if path.suffix in (".py", ".typed") and ".dist-info" not in str(path)]
    kept = [path for path in kept if ".." not in path.parts]
    return write_wheel(folder, name, found.version, {str(path): found.locate_file(path).read_bytes() for path in kept})


def pure_wheels(folder, wanted=PURE):
    "Download wheels of pure Python from the package index. Raises `InputError`."
    words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--platform", "any"]
    words += ["--python-version", "3.12", "--implementation", "py", "--abi", "none", "-d", str(folder), *wanted]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise InputError(f"wheels could not be downloaded: {done.stderr.strip()[-2000:]}")


DEPENDS = {  # what an entry's package needs, by the names of entries
    "comparison-hc": ("numpy", "scipy", "pillow", "jinja2", "threadpoolctl", "tqdm"),  # others where they are imported
    "altair": CHART[1:],
    "jinja2": ("markupsafe",),
    "jsonschema": ("attrs", "pyrsistent"),
    "anywidget": ("ipywidgets", "psygnal", "typing-extensions"),
    "comm": ("traitlets",),
    "ipywidgets": ("comm", "jupyterlab-widgets", "traitlets"),
}


def lock_entry(wheel, depends=()):
    "What a lock file says of a wheel."
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as file:
        tops = {path.split("/")[0] for path in file.namelist() if path.endswith(".py")}
    modules = sorted(top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".data")))
    name = name.replace("_", "-").lower()
    entry = dict(name=name, version=version, file_name=wheel.name, install_dir="site", package_type="package")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return name, entry | dict(sha256=digest, imports=modules, depends=list(depends), unvendored_tests=False)


def enter_wheels(folder, depends=DEPENDS):
    "Put every wheel of the folder that the lock file does not name into it."
    path = folder / "pyodide-lock.json"
    lock = json.loads(path.read_text(encoding="utf-8"))
    named = {entry["file_name"] for entry in lock["packages"].values()}
    new = [lock_entry(wheel) for wheel in sorted(folder.glob("*.whl")) if wheel.name not in named]
    lock["packages"] |= {name: entry | dict(depends=list(depends.get(name, ()))) for name, entry in new}
    for entry in lock["packages"].values():
        entry["sha256"] = hashlib.sha256((folder / entry["file_name"]).read_bytes()).hexdigest()
    closure(lock["packages"], [name for name, _ in new])
    path.write_text(json.dumps(lock), encoding="utf-8")


COMPILE = """
import importlib.util, marshal, pathlib, sys, zipfile
for wheel in sorted(pathlib.Path("/wheels").glob("*.whl")):
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as file:
        for name in file.namelist():
            path = pathlib.PurePosixPath(name)
            if path.suffix != ".py" or {"tests", "conftest.py"} & set(path.parts):
                continue
            source = file.read(name)
            try:
                code = marshal.dumps(compile(source, name, "exec", dont_inherit=True))
            except SyntaxError:  # templates have names that end like a module's
                continue
            unchecked = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
            inside = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
            file.writestr(zipfile.ZipInfo(str(inside), (2020, 1, 1, 0, 0, 0)), unchecked + code, zipfile.ZIP_DEFLATED)
"""


def compile_wheels(folder):
    "Add Python's compiled form to every wheel, by the Python that will read it, so that no reader's browser has to."
    if shutil.which("node") is None:
        return False
    place = json.dumps(str(folder.resolve()))
    script = f"const python = await (await import({place} + '/pyodide.mjs')).loadPyodide({{ indexURL: {place} }}); "
    script += f"python.mountNodeFS('/wheels', {place}); python.runPython({json.dumps(COMPILE)});"
    words = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise InputError(f"wheels could not be compiled: {done.stderr.strip()[-2000:]}")
    return True


def with_wheels(source, folder, say=lambda sentence: None):
    "Pyodide, this package, and what it needs, in one folder."
    copy_pyodide(source, folder)
    pure_wheels(folder)
    own_wheel(folder)
    for name in ("markupsafe", "tqdm"):
        packed(name, folder)
    if not compile_wheels(folder):
        say("without Node the wheels are not compiled in advance: pages begin some seconds later")
    enter_wheels(folder)


def browser_cell(source):
    "Code that does not ask for what a browser does not have."
    source = re.sub(r'alt\.renderers\.enable\("(?:svg|png)"[^)\n]*\)', 'alt.renderers.enable("mimetype")', source)
    return directives(source)[1]


BEGIN = (
    "**Run this page:** click into a cell and press Shift and Enter, from the top down, or *Run* → *Run All Cells*. "
)
WAIT = (
    "If no star, `[*]`, appears beside the cell, Python was not there yet: press again. "
    "The first time the star stays for a while: Python and its libraries are being loaded. There is no numba in "
    "a browser: what it makes fast elsewhere gives the same results here, later."
)


def live_cells(notebook):
    "What opens the dashboard that a page tells of, before all else: to run this cell alone is enough."
    text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    found = re.search(r"in a notebook,? `(\w+_dashboard)\((\.\.\.)?\)`", text, re.IGNORECASE)
    if found is None:
        return []
    say = "**The page itself, live:** click into the next cell and press Shift and Enter. What is below explains it. "
    say += WAIT
    journal = "journal=False" if found[2] else ""  # JupyterLite's folder does not give back the bytes of a journal
    code = f"import anywidget\nfrom comparison_hc.dashboards import {found[1]}\n\n{found[1]}({journal})"
    words = dict(id="live-words", cell_type="markdown", metadata={}, source=say)
    return [words, dict(id="live", cell_type="code", metadata={}, source=code, outputs=[], execution_count=None)]


def browser_notebook(notebook, data=False):
    "A page of the book as a notebook that a reader runs in a browser."
    given = without_answers(notebook) if is_assignment(notebook) else notebook["cells"]
    cells = live_cells(notebook) or [dict(id="live-words", cell_type="markdown", metadata={}, source=BEGIN + WAIT)]
    for cell in given:
        source = "".join(cell["source"])
        kept = dict(id=cell["id"], cell_type=cell["cell_type"], metadata={}, source=source)
        if cell["cell_type"] == "code":
            words, code = directives(source)
            if not code.strip() or (words & {"data"} and not data):
                continue
            hidden = bool(words & {"hide", "echo: false", "hide_input"})
            kept |= dict(source=browser_cell(source), outputs=[], execution_count=None)
            kept["metadata"] = dict(jupyter=dict(source_hidden=True)) if hidden else {}
        cells.append(kept)
    kernel = dict(name="python", display_name="Python (Pyodide)", language="python")
    first = 2 if live_cells(notebook) else 1
    cells = [*cells[first : first + 1], *cells[:first], *cells[first + 1 :]]  # the title stays first
    return dict(cells=cells, metadata=dict(kernelspec=kernel), nbformat=4, nbformat_minor=5)


def run_address(path):
    "Where a page runs."
    return f"lite/notebooks/index.html?path={path}"


EXTENSIONS = {  # of JupyterLab, that a page needs: name -> package that brings it
    "@jupyterlite/pyodide-kernel-extension": "jupyterlite-pyodide-kernel",
    "@jupyter-widgets/jupyterlab-manager": "ipywidgets",
    "anywidget": "anywidget",
    "jupyterlab_pygments": "jupyterlab_pygments",
}


def labextension(name):
    "Where it was installed. Raises `InputError`."
    from jupyter_core.paths import jupyter_path

    for folder in jupyter_path("labextensions"):
        if (Path(folder) / name / "package.json").is_file():
            return Path(folder) / name
    raise InputError(f"pages that run in the browser need {name}: pip install {EXTENSIONS[name]}")


def build_lite(out, book, say=lambda sentence: None):
    "Add pages that run in the browser to a site. Raises `InputError`."
    say("JupyterLite")
    extensions = [str(labextension(name)) for name in EXTENSIONS]
    build = dict(ignore_sys_prefix=["federated_extensions"], federated_extensions=extensions)
    with tempfile.TemporaryDirectory() as place:
        contents = Path(place) / "contents"
        for page in book.reading_path:
            notebook = json.loads((book.root / page.path).read_text(encoding="utf-8"))
            (contents / page.path).parent.mkdir(parents=True, exist_ok=True)
            (contents / page.path).write_text(json.dumps(browser_notebook(notebook)), encoding="utf-8")
        if (book.root / "figures").is_dir():
            shutil.copytree(book.root / "figures", contents / "figures")
        settings = json.dumps(dict(LiteBuildConfig=build))
        Path(place, "jupyter_lite_config.json").write_text(settings, encoding="utf-8")
        words = [sys.executable, "-m", "jupyterlite_core", "build", "--no-sourcemaps", "--contents", str(contents)]
        words += ["--apps", "notebooks", "--apps", "lab", "--output-dir", str(out / "lite"), "--lite-dir", place]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=place)
    if done.returncode:
        raise InputError(f"JupyterLite was not built: {(done.stderr or done.stdout).strip()[-4000:]}")
    if (book.root / "figures").is_dir():  # a page shows a picture's address as it stands before JupyterLab mends it
        shutil.copytree(book.root / "figures", out / "lite" / "figures", dirs_exist_ok=True)
    settings = out / "lite" / "jupyter-lite.json"
    found = json.loads(settings.read_text(encoding="utf-8"))
    kernel = found["jupyter-config-data"].setdefault("litePluginSettings", {})
    kernel = kernel.setdefault("@jupyterlite/pyodide-kernel-extension:kernel", {})
    kernel |= dict(pyodideUrl="./../pyodide/pyodide.js", disablePyPIFallback=True)
    settings.write_text(json.dumps(found), encoding="utf-8")
