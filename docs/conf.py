"""The documentation site. Build it with `make -C docs html` (needs the extra `docs`); the pages are in `_docs`."""

import shutil
import sys
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT)]
NOTEBOOKS = [p for p in (ROOT / "nbs").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts and p.stem != "index"]
for path in set(HERE.rglob("*.ipynb")) - {HERE / path.relative_to(ROOT / "nbs") for path in NOTEBOOKS}:
    path.unlink()  # of a notebook that was renamed
for path in [*NOTEBOOKS, *(ROOT / "nbs/figures").iterdir()]:
    copy = HERE / path.relative_to(ROOT / "nbs")
    if not copy.is_file() or copy.read_bytes() != path.read_bytes():
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, copy)

settings = ConfigParser(delimiters=["="])
settings.read(ROOT / "settings.ini", encoding="utf-8")
project, release = settings["DEFAULT"]["title"], settings["DEFAULT"]["version"]
copyright = settings["DEFAULT"]["copyright"]

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton", "sphinxarg.ext", "numpydoc"]
extensions += [f"sphinx.ext.{name}" for name in ("autodoc", "autosummary", "viewcode", "mathjax")]
extensions += ["nbdev_cells", "theory_index", "browser_pages"]
exclude_patterns = ["_build", "_contents", "**/mathjax/[!e]*", "**/es5/[!iot]*", "**/es5/tex-[!c]*", "**/output/svg*"]
templates_path = ["_templates"]
smartquotes_action = "qe"  # two dashes begin an option
highlight_language = "none"

nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}  # from another host
nb_render_markdown_format = "myst"
nb_code_prompt_show, nb_code_prompt_hide = "Show a worked solution", "Hide"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "attrs_inline"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
myst_ref_domains = ["std", "py"]

autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_default_options = dict(members=True)
autodoc_typehints = "none"  # the docstrings have them
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = project
html_static_path = ["_static", str(Path(find_spec("mathjax").origin).parent / "static")]
html_css_files = ["site.css"]
html_js_files = [("explorable.mjs", {"type": "module"})]
html_favicon = "_static/icon.svg"
html_theme_options = dict(navigation_with_keys=True, top_of_page_buttons=[])
html_copy_source = False
html_show_sourcelink = False
mathjax_path = "mathjax/es5/tex-chtml.js"


def data_text():
    "One row per data set."
    from theory_index import plain

    from comparison_hc.evaluation._dataset_files import CATALOGUE, can_be_fetched

    rows = ["| data set | contents | where it is | source and terms |", "| --- | --- | --- | --- |"]
    for name, known in CATALOGUE.items():
        originals = known.get("originals", [])
        fetched = "downloaded on request" if all(map(can_be_fetched, originals)) else "to be put in place by hand"
        counts = ", ".join(f"{count:,} {what}" for what, count in known["counts"].items() if count)
        terms = f"{plain(known['source'])}. Terms: {plain(known['terms'])}"
        rows.append(f"| `{name}` | {counts} | {fetched if originals else 'in the package'} | {terms} |")
    return "\n".join(rows)


def setup(app):
    def fill(app, docname, source):
        if docname == "data":
            source[0] = source[0].replace("{{ datasets }}", data_text())

    def skip(app, what, name, found, skipped, options):
        return skipped or name == "get_metadata_routing" or name.startswith("set_") and name.endswith("_request")

    app.connect("source-read", fill)
    app.connect("autodoc-skip-member", skip)  # methods that scikit-learn adds
