"""Pages, rooms, routes and reference are written as sources, built with warnings as errors, and ask no other host."""

import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from .cells import site_links, site_notebook
from .docments import parameter_tables
from .legends import add_narrow
from .lite import build_lite, check_pyodide, require_lite, run_address, with_wheels
from .live import live_page, loads_text, moving_picture, write_twins
from .map import room_map
from .pages import ROOMS, ROUTES, direct, lazy_homes, length_text, needs, read_book, route_pages
from .reference import api_pages, cite_page, commands_page, data_page, plain
from .statements import theory_pages
from ..core.validation import InputError, require

EXTRA = {"sphinx": "sphinx", "myst_nb": "myst-nb", "furo": "furo", "mathjax": "django-static-mathjax"}


def require_extra():
    "Raise an `InputError` that says how to get what the book needs, if something is not installed."
    lacking = [package for module, package in EXTRA.items() if find_spec(module) is None]
    if lacking:
        raise InputError(f"the book needs {', '.join(lacking)}: pip install 'comparison_hc[book]'")


def copy_mathjax(folder):
    "The script that sets mathematics, what it loads when it meets a word such as boldsymbol, and its fonts."
    home = Path(import_module("mathjax").__file__).parent / "static/mathjax/es5"
    folder.mkdir(parents=True)
    shutil.copy(home / "tex-chtml.js", folder)
    for part in ("input/tex/extensions", "output/chtml/fonts"):
        shutil.copytree(home / part, folder / part)


def configuration(version):
    "Sphinx's settings."
    settings = dict(
        project="comparison_hc",
        copyright="the contributors",
        release=version,
        extensions=["myst_nb", "sphinx.ext.mathjax", "comparison_hc.book.navigation"],
        nb_execution_mode="off",
        nb_ipywidgets_js={},
        nb_render_markdown_format="myst",
        nb_merge_streams=True,
        nb_code_prompt_show="Show a worked solution",
        nb_code_prompt_hide="Hide the solution",
        myst_enable_extensions=["dollarmath", "amsmath", "colon_fence", "fieldlist"],
        myst_dmath_double_inline=True,
        myst_heading_anchors=3,
        mathjax_path="mathjax/tex-chtml.js",
        highlight_language="none",
        smartquotes_action="qe",  # two dashes begin an option
        add_module_names=False,
        html_theme="furo",
        html_title="comparison_hc",
        templates_path=[str(files("comparison_hc.book") / "static")],
        html_static_path=["_static"],
        html_css_files=["book.css"],
        html_favicon="_static/book.svg",
        html_theme_options=dict(navigation_with_keys=True, top_of_page_buttons=[]),
        html_copy_source=False,
        html_show_sourcelink=False,
        html_domain_indices=False,
    )
    return "\n".join(f"{name} = {value!r}" for name, value in settings.items()) + "\n"


def toctree(documents, caption=""):
    "An order of pages, which is shown in the sidebar only."
    return "\n".join(["```{toctree}", ":hidden:", *[f":caption: {caption}"] * bool(caption), "", *documents, "```"])


def pages_table(pages):
    "Pages with what they are about and their minutes, which are added up."
    length = length_text(sum(page.minutes for page in pages))
    lines = ["| page | what it is about | minutes |", "| --- | --- | --- |"]
    for page in pages:
        lines.append(
            f"| {page.number if page.room else ''} [{page.title}](/{page.path}) | {page.subtitle} | {page.minutes} |"
        )
    return "\n".join([*lines, "", f"{len(pages)} page{'s' * (len(pages) != 1)}, {length}."])


def document(path):
    "A path without its ending."
    return "/" + path.removesuffix(".ipynb")


def room_page(book, room, about, needed):
    "The page of a room: its pages with minutes, and the map."
    pages = book.of_room(room)
    parts = [f"# {ROOMS[room]}", about]
    if pages:
        drawn = room_map(book, needed, room, lambda path: f"../{path.removesuffix('.ipynb')}.html")
        parts += [pages_table(pages), "## Which page needs which"]
        parts += ["Arrows lead from a page to those below that use what it defines.", drawn]
    return "\n\n".join([*parts, toctree([document(page.path) for page in pages])]) + "\n"


def routes_page(book):
    "All routes."
    parts = ["# Routes", "Ways through the book for one purpose each, in the order in which to read."]
    for route in ROUTES:
        parts += [f"({route.name})=\n## {route.title}", route.about, pages_table(route_pages(route, book))]
    return "\n\n".join(parts) + "\n"


def map_page(book, needed):
    "The maps of all rooms, one below the other."
    parts = [
        "# Which page needs which",
        "Read from the code: arrows lead from a page to those that use what it defines.",
    ]
    for room, title in ROOMS.items():
        if book.of_room(room):
            drawn = room_map(book, needed, room, lambda path: f"{path.removesuffix('.ipynb')}.html")
            parts += [f"## {title}", drawn]
    return "\n\n".join(parts) + "\n"


def front_text(root):
    "The words of the front page."
    cells = json.loads((root / "index.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


NOTHING = (
    "[Drop a file of answers, see the tree](drop.md), or open a page, such as [a planted hierarchy with "
    "sliders](dashboards/61_planted.ipynb), and press “Run this page in your browser”: Python runs in the page "
    "itself, and what you give it stays on your machine."
)


def home_page(front, picture, documents, lite=False):
    "What this is, a picture that moves, two commands, routes."
    opening = re.search(r"^\w.*$", front.split("to run.*", 1)[-1], re.MULTILINE)
    commands = re.findall(r"^python3 -m venv .*$", front, re.MULTILINE)
    require(opening and len(commands) >= 2, "the front page", "one with an opening and two commands", front[:80])
    parts = ["# comparison_hc", opening[0], picture, "## Two commands"]
    parts += ["In a checkout of the repository, with Python 3.10 or newer. The first builds a hierarchy and draws it:"]
    parts += [f"```sh\n{commands[0]}\n```", "The second runs all tests:", f"```sh\n{commands[1]}\n```"]
    if lite:
        parts += ["## Nothing to install", NOTHING]
    parts += ["## Where to go"]
    parts.append("\n".join(f"- [{route.title}](routes.md#{route.name}): {route.about}" for route in ROUTES))
    parts.append("Or read from the beginning, [room by room](core/index.md); every page says how long it takes.")
    parts.append("Or move the sliders of [pages that compute while you do](live.md).")
    return "\n\n".join([*parts, *(toctree(names, caption) for caption, names in documents.items())]) + "\n"


def moving_chart():
    "AARI of F19's methods against δ/σ, with a slider for p."
    import altair as alt

    from comparison_hc.reproduce.f19_figures import method_scales
    from comparison_hc.reproduce.readings import kept_results

    table, _ = kept_results("f19-figS1")
    table = table.assign(low=table.aari - table.sd, high=table.aari + table.sd)[
        ["method", "p", "snr", "aari", "low", "high"]
    ].round(3)
    shares = sorted(table.p.unique().tolist())
    place = alt.param(
        "place", value=1, bind=alt.binding_range(min=0, max=len(shares) - 1, step=1, name="fewer or more answers ")
    )
    x = alt.X("snr:Q", title="δ/σ: how far the clusters stand out of the noise")
    legend = alt.Legend(orient="bottom", columns=3, symbolOpacity=1, title=None)
    colours, shapes, dashes = method_scales(table)
    color = alt.Color("method:N", scale=colours, legend=legend)
    shape = alt.Shape("method:N", scale=shapes, legend=legend)
    dash = alt.StrokeDash("method:N", scale=dashes, legend=None)
    shown = alt.Chart(table).transform_filter(f"datum.p == {shares}[place]")
    y = alt.Y("aari:Q", title="AARI: 1 is the planted tree", scale=alt.Scale(domain=[-0.1, 1.05]))
    lines = shown.mark_line().encode(x, y, color, dash)
    points = shown.mark_point(filled=True, opacity=1).encode(x, y, color, shape, tooltip=["method", "p", "snr", "aari"])
    bands = shown.mark_area(opacity=0.12).encode(x, alt.Y("low:Q", title=""), alt.Y2("high"), color)
    said = alt.expr(f"'share of all comparisons that is known: p = ' + {shares}[place]")
    size = dict(width="container", height=300, title=alt.TitleParams(said, anchor="start"))
    return alt.layer(bands, lines, points).add_params(place).properties(**size)


def write_moving(path):
    "The chart as one file that asks nobody."
    text = moving_chart().to_html(inline=True, embed_options=dict(actions=False))
    head = f"<head><link rel='icon' href='data:,'><style>{static_text('figure.css')}</style>"
    text = text.replace("<html>", '<html lang="en">', 1).replace("<head>", head, 1)
    path.write_text(text, encoding="utf-8")


def static_text(name):
    "A style sheet, or the sign of the site."
    return files("comparison_hc.book").joinpath("static", name).read_text(encoding="utf-8")


def needs_line(page, needed, book):
    "What to read before a page."
    order = {one.path: place for place, one in enumerate(book.reading_path)}
    before = [book.by_path[path] for path in sorted(needed.get(page.path, ()), key=order.get)]
    return (
        "Before this: " + ", ".join(f"[{one.number} {one.title}](/{one.path})" for one in before) + "."
        if before
        else ""
    )


def run_button(page):
    "A link that opens a page as a notebook in the reader's browser."
    address = posixpath.relpath(run_address(page.path), page.room or ".")
    about = "nothing is installed, and nothing leaves your machine; Python is loaded first, once"
    return f'<a class="run" href="{address}" target="_blank" title="{about}">▶ Run this page in your browser</a>'


def drop_page():
    "The page that clusters a reader's own file."
    return f"{DROP}\n\n{static_text('drop.html')}"


DROP = """# Drop a file, see the tree

A file of answers, one a row, becomes a hierarchy here: CSV, TSV or JSON with three names in a row, which say that the
first is closer to the second than to the third. Python runs in this page, in your browser. **Nothing of your file
leaves your machine**: there is no server behind this page that could receive it. What the settings mean, and all
others, is told by [the command](/reference/commands.md) that this page runs: `comparison-hc cluster`."""


LIVE_LINK = re.compile(r"(\*\*|)\[([^\[\]]+)\]\((http://127\.0\.0\.1:\d+/#[^()\s]+)\)\1")


def stored_links(text, room, live):
    "A link to a dashboard on the reader's machine leads to its stored page, or says what must run there first."

    def there(link):
        from ..classroom.lecture_kit import read_address

        mark, words, address = link.groups()
        name, settings, _ = read_address(address)
        values, (place, _, said) = type(settings).values("stored"), address.partition("#")
        if f"live/{name}.html" in live and all(getattr(settings, each) in known for each, known in values.items()):
            stored = posixpath.relpath(f"live/{name}.html", room or ".")
            return f"{mark}<a href='{stored}#{said.replace('&', '&amp;')}'>{words}</a>{mark}"
        port = place.rstrip("/").rpartition(":")[2]
        return f"{link[0]} (once `comparison-hc dashboard {name} --port {port}` runs on your machine)"

    return LIVE_LINK.sub(there, text)


def write_notebooks(book, folder, needed, reference=True, lite=False, live=""):
    "All notebooks, translated; and the pictures that they show from files."
    for page in book.pages:
        room = page.module.rpartition(".")[0] or "root"
        api = posixpath.relpath(f"api/{room}.html", page.room or ".")

        def address(name, api=api, module=page.module):
            return f"{api}#comparison_hc.{module}.{name}"

        notebook = json.loads((book.root / page.path).read_text(encoding="utf-8"))
        is_private = page.module.rpartition(".")[2].startswith("_")  # the reference has public modules only
        place = address if reference and not is_private else None
        below = (lambda source, place=place: parameter_tables(source, place)) if page.module else None
        before = [needs_line(page, needed, book), run_button(page) if lite and page in book.reading_path else ""]
        shown = site_notebook(notebook, "\n\n".join(filter(None, before)), below)
        path = folder / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = stored_links(json.dumps(shown, ensure_ascii=False), page.room, live)
        path.write_text(text, encoding="utf-8")
    if (book.root / "figures").is_dir():
        shutil.copytree(book.root / "figures", folder / "figures", ignore=shutil.ignore_patterns("*.svg"))


ABOUT = {  # folders without a subpackage of their name
    "tutorials": "Practical questions, answered one page each.",
    "additive": "Trees with branch lengths, fitted to comparisons by likelihood.",
}


def generated_pages(book, needed, commands, live, reference=True, lite=False):
    "Every page that is no notebook."
    package = book.root.parent / "comparison_hc"
    lazy = lazy_homes(package)
    homes = {page.module: page for page in book.pages if page.module}
    front = front_text(book.root)
    rooms = [room for room in ROOMS if book.of_room(room)]
    alone = [page.path.removesuffix(".ipynb") for page in book.pages if not page.room and page.stem != "contents"]
    contents = [page.path.removesuffix(".ipynb") for page in book.pages if page.path == "contents.ipynb"]
    documents = {
        "Begin": ["routes", *contents, "map", "live", *["drop"] * lite],
        "Read": [f"{room}/index" for room in rooms],
        "Look up": [*["statements/index", "api/index"] * reference, *alone],
        "More": ["reference/commands", "reference/data", "reference/cite"],
    }
    twins = re.findall(r'href="live/(\w+)\.html"', live)
    pages = {"index.md": home_page(front, moving_picture(twins), documents, lite)}
    pages |= {"drop.md": drop_page()} if lite else {}
    pages |= {"routes.md": routes_page(book), "map.md": map_page(book, needed), "live.md": live}
    for room in rooms:
        is_package = (package / room / "__init__.py").is_file()
        about = (import_module(f"comparison_hc.{room}").__doc__ or "").strip() if is_package else ABOUT[room]
        pages[f"{room}/index.md"] = room_page(book, room, plain(" ".join(about.split())), needed)
    if reference:
        pages |= {f"api/{name}.md": text for name, text in api_pages(package, homes, lazy).items()}
        pages |= {f"statements/{name}.md": text for name, text in theory_pages(book).items()}
    pages |= {"reference/data.md": data_page(), "reference/commands.md": commands_page(commands)}
    pages["reference/cite.md"] = cite_page(book.root.parent, front)
    return pages


def without_dead_links(text, there):
    "Links to notebooks and pages that are left out."
    return re.sub(
        r"\[([^\[\]]+)\]\(((?!https?:|#)[^()\s]+?\.(?:ipynb|md))(#[^()\s]*)?\)",
        lambda link: link[0] if there(link[2]) else link[1],
        text,
    )


def write_sources(folder, book, commands, live, reference=True, lite=False):
    "Everything that Sphinx reads."
    import comparison_hc

    needed = direct(needs(book, lazy_homes(book.root.parent / "comparison_hc")))
    write_notebooks(book, folder, needed, reference, lite, live)
    for path, text in generated_pages(book, needed, commands, live, reference, lite).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(site_links(text), encoding="utf-8")
    (folder / "conf.py").write_text(configuration(comparison_hc.__version__), encoding="utf-8")
    copy_mathjax(folder / "_static" / "mathjax")
    for name in ("book.css", "book.svg"):
        (folder / "_static" / name).write_text(static_text(name), encoding="utf-8")
    if len(book.pages) < len(read_book(book.root).pages):
        for path in [path for path in folder.rglob("*") if path.suffix in (".md", ".ipynb")]:

            def there(target, path=path):
                return ((folder if target[0] == "/" else path.parent) / target.lstrip("/")).exists()

            text = without_dead_links(path.read_text(encoding="utf-8"), there)
            path.write_text(text, encoding="utf-8")


def check_site_folder(folder):
    "A folder that is new, empty, or a site already. Raises `InputError`."
    folder = Path(folder)
    is_free = not folder.exists() or (
        folder.is_dir() and (not any(folder.iterdir()) or (folder / "searchindex.js").is_file())
    )
    require(is_free, "--out", "a folder that is new, empty, or an earlier site", str(folder))
    return folder


def run_sphinx(sources, out):
    "Build the pages. Raises `InputError` with what Sphinx said."
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    words += ["-d", str(out.parent / "doctrees"), str(sources), str(out)]
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(words, capture_output=True, text=True, env=quiet, stdin=subprocess.DEVNULL)
    if done.returncode:
        said = done.stderr.replace(f"{sources}/", "").strip()
        raise InputError(f"the site was not built: {said[-20_000:] or 'Sphinx said nothing'}")


def build_site(out, commands, book=None, twins=(), reference=True, progress=None, pyodide=None):
    "Make the site. Needs the extra `book`. Raises `InputError`."
    require_extra()
    if pyodide is not None:
        require_lite()
        check_pyodide(pyodide)
    out, start, say = check_site_folder(out), perf_counter(), progress or (lambda sentence: None)
    book = read_book() if book is None else book
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".book-", dir=out.parent) as folder:
        sources, made, live = (Path(folder) / name for name in ("sources", "made", "live"))
        stored, loads = write_twins(live, twins, say), ""
        write_moving(live / "figure.html")
        if pyodide is not None:
            say("Pyodide and wheels")
            with_wheels(pyodide, Path(folder) / "pyodide", say)
            loads = loads_text(Path(folder) / "pyodide")
        say(f"sources of {len(book.pages)} notebooks")
        write_sources(sources, book, commands, live_page(stored, loads), reference, pyodide is not None)
        say("pages (Sphinx)")
        run_sphinx(sources, made)
        add_narrow(made)
        shutil.move(live, made / "live")
        if pyodide is not None:
            shutil.move(Path(folder) / "pyodide", made / "pyodide")
            build_lite(made, book, say)
        shutil.rmtree(made / ".doctrees", ignore_errors=True)
        if out.exists():
            shutil.rmtree(out)
        shutil.move(made, out)
    sizes = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
    own = [path for path in out.rglob("*.html") if path.relative_to(out).parts[0] != "lite"]
    return dict(pages=len(own), bytes=sum(sizes), seconds=perf_counter() - start)
