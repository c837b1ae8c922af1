"""What several test files share."""

import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("shared")
# Many processes are started: none should have to compile the package again, or what `light` stands for.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
LIGHT = str(Path(__file__).with_name("light"))
sys.path.insert(0, LIGHT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [LIGHT, os.environ.get("PYTHONPATH")]))
# Workers share the cores: one thread each for linear algebra. Before anything imports numpy.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# As many examples as two cores can pay for; `pytest --hypothesis-profile=thorough` looks ten times as far.
settings.register_profile("same every time", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=500)
settings.load_profile("same every time")

# `pytest -m quick`: of every room the files that hold its main algorithms against their definitions, the gate, and the
# command in this process. About a minute on two cores; no browser, no notebook, no figure of a paper.
QUICK = """bad_input metrics numbering planted additive_drawing hierarchical flat_planted adaptive link embedding
    methods dashboard_step crowd log compare_command trust_command"""


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also what takes minutes: every page of the site in a browser")


def pytest_xdist_auto_num_workers():
    "For `-n auto`, two workers more than there are cores: browsers, killed processes and servers are waited for."
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 2


def pytest_configure(config):
    config.addinivalue_line("markers", "quick: what is fast of every room, about a minute in all")


QUICK_FILES = {f"test_{name}" for name in QUICK.split()}


def pytest_ignore_collect(collection_path, config):
    "Other files need not even be read: that alone takes as long as some of the tests."
    is_other = collection_path.stem.startswith("test_") and collection_path.stem not in QUICK_FILES
    return True if is_other and config.option.markexpr == "quick" else None


def pytest_collection_finish():
    "Thousands of tests and all modules stay until the end: they are not searched for waste again and again."
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in QUICK_FILES:
            item.add_marker("quick")


# A shell's background job ignores Ctrl-C, and so would every process that a test starts there to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def every_reproduction_is_known():
    "Figures are registered when their module is first imported: before any test puts another register in place."
    from comparison_hc.reproduce.claims import find_reproductions

    assert find_reproductions()


@pytest.fixture(scope="session")
def whole_suite(tmp_path_factory):
    "A folder that all workers share."
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "whole_suite"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def dataset_or_skip():
    "`dataset_or_skip(name, **options)`: the data set, or a skipped test with the reason. Nothing is downloaded."
    from comparison_hc.datasets import DatasetNotFoundError, load_dataset

    def load(name, **options):
        try:
            return load_dataset(name, download=False, **options)
        except DatasetNotFoundError as error:
            pytest.skip(str(error))

    return load


CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"


@pytest.fixture(scope="module")
def browser():
    "A headless Chromium."
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()
