"What several test files do in the same way."

import asyncio
import base64
import io
import json
import os
import re
import shutil
import subprocess
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from string import Template
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, random_tree
from comparison_hc.link.merge import rings_and_disks

NO_DATA = "COMPARISON_HC_DATA names no folder with the data"
needs_data = pytest.mark.skipif(not os.environ.get("COMPARISON_HC_DATA"), reason=NO_DATA)

# ---- bad input


def refusals(*rows):
    "A test of rows (words, call, value, …): the call of each value raises `InputError` with the words (a regex)."

    @pytest.mark.parametrize("row", rows, ids=[f"{row[0]}-{at}" for at, row in enumerate(rows)])
    def test(row):
        words, call, *values = row
        for value in values:
            with pytest.raises(InputError, match=words):
                call(value)

    return test


def by_name(call, name, *arguments, **options):
    "The call as a function of one parameter."
    return lambda value: call(*arguments, **options, **{name: value})


# ---- answers, trees and similarities


def named(answers):
    "Answers as tuples of names."
    called = answers.object_names
    return [tuple(called[i] for i in row) for row in answers.array.tolist()]


def task_table(seed, n=24):
    "Rings and disks, a task to learn a linkage from, as a table."
    points, labels = rings_and_disks(n, seed)
    return pd.DataFrame(points, columns=["x", "y"]).assign(kind=[f"k{label}" for label in labels])


def as_task(frame):
    return cdist(frame[["x", "y"]], frame[["x", "y"]]), frame["kind"].tolist()


@st.composite
def trees(draw, most=7, groups=True, least=1):
    "Any merge order over up to `most` leaves; leaves may hold several objects."
    n = draw(st.integers(least, most))
    alive, merges = list(range(n)), []
    for new in range(n, 2 * n - 1):
        merges.append(tuple(alive.pop(draw(st.integers(0, len(alive) - 1))) for _ in range(2)))
        alive.append(new)
    extra = draw(st.lists(st.integers(0, n - 1), max_size=4)) if groups else []
    leaf = draw(st.permutations(list(range(n)) + extra))
    return Dendrogram.from_merges(merges, [[i for i, x in enumerate(leaf) if x == g] for g in range(n)])


@st.composite
def named_trees(draw, grouped=None, named=None, least=1):
    "A random dendrogram: initial clusters or none, names or none, merge order or random heights with ties."
    n_leaves, rng = draw(st.integers(least, 14)), np.random.default_rng(draw(st.integers(0, 2**32)))
    merges, clusters, names = random_tree(n_leaves, rng).children, None, None
    if draw(st.booleans()) if grouped is None else grouped:
        labels = rng.permutation(np.r_[np.arange(n_leaves), rng.integers(n_leaves, size=int(rng.integers(1, 8)))])
        clusters = [np.flatnonzero(labels == c).tolist() for c in range(n_leaves)]
    n = sum(map(len, clusters)) if clusters else n_leaves
    if draw(st.booleans()) if named is None else named:
        names = draw(st.lists(st.text(max_size=8), min_size=n, max_size=n, unique=True))
    tree = Dendrogram.from_merges(merges, clusters, names)
    if draw(st.booleans()):
        return tree
    Z = tree.linkage_matrix.copy()
    Z[:, 2] = np.sort(rng.integers(0, 5, len(Z)) if draw(st.booleans()) else rng.exponential(size=len(Z)))
    return Dendrogram.from_linkage(Z, clusters, names, "distance")


def chain(n_leaves):
    "The deepest tree: every merge adds one leaf."
    first = np.r_[0, np.arange(n_leaves, 2 * n_leaves - 2)]
    return Dendrogram.from_merges(np.column_stack([first, np.arange(1, n_leaves)]))


def symmetric(w):
    "What is above the diagonal, on both sides; nothing on it."
    return np.triu(w, 1) + np.triu(w, 1).T


def similarities(n, seed, levels=None):
    "A random symmetric matrix; with `levels` it has ties."
    rng = np.random.default_rng(seed)
    return symmetric(rng.normal(size=(n, n)) if levels is None else rng.integers(levels, size=(n, n)).astype(float))


def as_sets(run):
    "A run of node numbers as pairs of sets of objects."
    members, made = {i: (i,) for i in range(len(run) + 1)}, []
    for a, b in np.asarray(run).tolist():
        made.append({members[a], members[b]})
        members[len(members)] = tuple(sorted(members[a] + members[b]))
    return made


def assert_every_sentence_can_come_out_either_way(claims, tables):
    "Under the first of these made-up results a sentence holds, under another it does not; its rule is the same."
    seen, rules = {}, {}
    for table in tables:
        for claim in claims(table):
            assert claim.rule and claim.rule == rules.setdefault(claim.sentence, claim.rule), claim
            seen.setdefault((claim.sentence, claim.source), set()).add(claim.holds)
    assert all(claim.holds for claim in claims(tables[0]))
    assert seen and {sentence for sentence, found in seen.items() if found != {True, False}} == set()


def zip_of(file, members):
    "The path or file, with an archive of these in it."
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file


def interrupted_after(n):
    "Progress that is interrupted when so many parts are done."

    def progress(done, total):
        if done >= n:
            raise KeyboardInterrupt

    return progress


# ---- pages


def open_offline(browser, path, width=1280, script=True):
    "(page, complaints): a file in a context without a network, and everything that it said or asked for."
    context = browser.new_context(offline=True, java_script_enabled=script, viewport=dict(width=width, height=900))
    context.set_default_timeout(120_000)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    known = (path.as_uri(), "data:image/")  # the page itself, and the pictures inside it
    page.on("request", lambda request: None if request.url.startswith(known) else complaints.append(request.url))
    page.goto(path.as_uri())
    return page, complaints


def asks_nobody(text):
    "Whether a page, but for the library in it, fetches nothing."
    from comparison_hc.dashboards.page import vega_library

    own = text.replace(vega_library(), "").replace("http://www.w3.org/2000/svg", "")
    return not re.search(r"""(src|href)\s*=\s*["'](?!data:)|url\(|import\s|fetch\(|XMLHttp|https?://""", own)


def read_static_page(text):
    "The inverse of `static_page`: what it was made of."
    found = [re.search(rf'id="{name}">(.*?)</script>', text).group(1) for name in ("spec", "data")]
    return tuple(json.loads(zlib.decompress(base64.b64decode(each))) for each in found)


def read_static_twin(make, values, n_settings):
    "(spec, data) of a static twin: the same every time, whole, asking nobody, with a control for all that differs."
    seen = []
    text = make(lambda done, total: seen.append((done, total)), values)
    assert text == make(values=values) and seen == [(done, n_settings) for done in range(1, n_settings + 1)]
    assert asks_nobody(text)
    spec, data = read_static_page(text)
    assert len(data["answers"]) == n_settings and f"{n_settings} stored settings" in spec["html"]
    assert re.findall(r'data-setting="(\w+)" data-values', spec["html"]) == data["names"]
    return spec, data


ANSWERED = """
const connect = heard => {
    let latest = null;
    const listen = async () => {
        for (const event of await window.events()) {
            heard(event);
            if (event.kind === "done" && event.number === latest) latest = null;
        }
        if (latest) setTimeout(listen, 20);
    };
    return request => {
        if (!latest) setTimeout(listen, 20);
        latest = request.number;
        window.ask(request);
    };
};
begin.start(document.querySelector("main"), connect, SPEC);
"""


@contextmanager
def answered_page(kind, browser, name, folder, **start):
    "The live page, which asks this process: no server, no kernel; in the end it must have asked nobody else."
    from comparison_hc.dashboards.framework import find_dashboard
    from comparison_hc.dashboards.page import static_text, vega_library
    from comparison_hc.dashboards.worker import LatestOnly

    page_of = find_dashboard(name)
    spec = page_of.spec(page_of.settings.values("live"), page_of.settings(**start), page_of.about)
    script = static_text("dashboard.mjs") + ANSWERED.replace("SPEC", json.dumps(spec))
    parts = dict(
        title=page_of.title, style=static_text("dashboard.css"), library=vega_library(), spec="", data="", script=script
    )
    path, file = folder / f"{name}.html", Template(static_text("file.html")).substitute(parts, spec="", data="")
    path.write_text(file.replace(' id="comparison-hc"', ""), encoding="utf-8")
    events, memory = SimpleQueue(), {}
    worker = LatestOnly(lambda sent, step: page_of.work(page_of.settings.from_message(sent), step, memory), events.put)
    window = browser.new_page(viewport=dict(width=1280, height=900))
    window.expose_function("ask", lambda request: worker.submit(request["number"], request["settings"]))
    window.expose_function("events", lambda: [events.get() for _ in range(events.qsize())])
    page = kind(window, path.as_uri())
    yield page
    worker.close()
    page.is_clean(path.as_uri())
    window.close()


def live_page(kind, name, **start):
    "A fixture: the live page, shared by the tests of a file; each leaves it in a state of its own."

    @pytest.fixture(scope="module")
    def live(browser, tmp_path_factory):
        with answered_page(kind, browser, name, tmp_path_factory.mktemp("page"), **start) as page:
            yield page

    return live


def assert_javascript(text, folder):
    "By Node, if it is installed."
    node = shutil.which("node") or pytest.skip("node is not installed")
    (folder / "checked.mjs").write_text(text, encoding="utf-8")
    done = subprocess.run([node, "--check", folder / "checked.mjs"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def linear_light(colours, is_dark=False):
    "Colours as light. Dark: `invert(.92) hue-rotate(180deg)`, by the matrix of the standard on filters."
    parts = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in colours])
    if is_dark:
        turned = 0.92 + (1 - 2 * 0.92) * parts
        parts = (2 * turned @ [[0.213], [0.715], [0.072]] - turned).clip(0, 1)
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrasts(colours, is_dark=False):
    "How much colours stand out from the page, by the rule of the web's guidelines."
    light = linear_light(["#ffffff", *colours], is_dark) @ [0.2126, 0.7152, 0.0722] + 0.05
    return np.maximum(light[0] / light[1:], light[1:] / light[0])


def least_difference(colours, is_dark=False):
    "Machado, Oliveira and Fernandes (2009), deuteranopia; differences in CIELAB, where 2.3 is just seen."
    seen = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    f = (linear_light(colours, is_dark) @ seen.T).clip(0, 1) @ xyz.T / xyz.sum(axis=1)
    f = np.where(f > 0.008856, np.cbrt(f), 7.787 * f + 16 / 116)
    lab = np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])
    return (np.linalg.norm(lab[:, None] - lab[None], axis=2) + 1e9 * np.eye(len(lab))).min()


def awaited(work):
    "The result of a coroutine, from a loop in a thread of its own: the browser's loop may run in this one."
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def names_of_notebook(path, *names):
    "What a notebook of nbs defines: its first code cell is run, and those that define these names."
    cells = json.loads((Path(__file__).parents[1] / "nbs" / path).read_text(encoding="utf-8"))["cells"]
    first, *sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    home = {}
    for source in [first, *(each for each in sources if any(f"def {name}(" in each for name in names))]:
        exec(source, home)
    return SimpleNamespace(**home)


# ---- the command


def run(capsys, *words):
    "(exit code, output, errors) of a call of the command in this process."
    from comparison_hc.cli import main

    code = main([str(word) for word in words])
    return (code, *capsys.readouterr())


def refused(capsys, *words):
    "The one line of a call that is refused, which writes nothing else."
    code, out, err = run(capsys, *words)
    assert code == 2 and out == "" and err.count("\n") == 1 and err.startswith("comparison-hc: "), err
    return err


def picture_codes(uri):
    "The codes of a picture of a dashboard: one per pixel."
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))
