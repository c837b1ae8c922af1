"""Files of JavaScript and style sheets become a widget, or one file that asks nobody."""

import base64
import json
import re
import zlib
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from string import Template

import numpy as np

from ..core.compat import needed
from ..core.validation import InputError
from .worker import LatestOnly


def pack(array, kind="<u2"):
    "An array as text for an event."
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def unpack(text, kind="<u2"):
    "The inverse of `pack`, flat."
    return np.frombuffer(base64.b64decode(text), dtype=kind)


MODULES = ("tools.mjs", "controls.mjs", "trees.mjs", "save.mjs", "page.mjs")


def static_text(name):
    "A file of the page."
    return files("comparison_hc.dashboards").joinpath("static", name).read_text(encoding="utf-8")


def bundle(names):
    "Modules as one: imports of one another (one a line) are left out, and so is the word `export`."
    text = "\n".join(static_text(name) for name in names)
    text = re.sub(r'^import \{.*\} from "\./.*";\n', "", text, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", text, flags=re.MULTILINE)


def kept_text(name, make):
    "A text of the cache, if it is there and whole; else it is made, and kept where that is possible."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.evaluation._dataset_files import cache_folder

    place = cache_folder() / name
    with suppress(OSError):
        digest, _, content = place.read_bytes().partition(b"\n")
        if digest == sha256(content).hexdigest().encode():
            return content.decode()
    content = make().encode()
    with suppress(OSError, InputError):
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(place, sha256(content).hexdigest().encode() + b"\n" + content)
    return content.decode()


COMPILED = "compiled.json"  # in `static`, only where the package goes to a place without vl-convert


@lru_cache(maxsize=1)
def compiled():
    "What was compiled before the package was packed for browsers."
    try:
        return json.loads(static_text(COMPILED))
    except FileNotFoundError:
        return {}


@lru_cache(maxsize=1)
def vega_library():
    "Vega, once a page. It comes with vl-convert, which Altair uses for pictures. Raises `InputError` without it."
    if "library" in compiled():
        return compiled()["library"]
    vl_convert = needed("vl_convert", "a page with charts")
    wanted = "globalThis.comparisonCharts = vegaEmbed;"
    name = f"vega-{vl_convert.__version__}-{sha256(wanted.encode()).hexdigest()[:8]}.js"
    text = kept_text(name, lambda: vl_convert.javascript_bundle(wanted))
    return f"if (!globalThis.comparisonCharts) {{ {text} }}"


def import_extra(name):
    "A module of the extra `dashboard`, or an `InputError` that says how to get it."
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"dashboards need more than the package itself ({error}): pip install 'comparison_hc[dashboard]'"
        ) from None


def page_parts(name, spec):
    "What a page without a kernel is made of."
    return dict(style=style_of(name), spec=_embedded(spec), script=bundle([*modules_of(name), "begin.mjs"]))


def page_widget(name, spec, heard):
    "The page in a notebook. Needs the extra `dashboard`."
    anywidget = import_extra("anywidget")
    traitlets = import_module("traitlets")
    library = vega_library() if spec["charts"] else ""

    class DashboardWidget(anywidget.AnyWidget):
        _esm = static_text("later.mjs")  # small: what is not read within two seconds is given up for good
        _css = style_of(name)
        spec = traitlets.Dict().tag(sync=True)
        page = traitlets.Unicode().tag(sync=True)

    text = f"{library}\n{bundle([*modules_of(name), 'begin.mjs'])}"
    address = f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
    widget = DashboardWidget(spec=spec, page=address)
    widget.on_msg(lambda _, message, __: heard(widget, message))
    return widget


def modules_of(name):
    "The modules that a dashboard runs, in order."
    own = f"{name}.mjs"
    return [*MODULES, *[own] * files("comparison_hc.dashboards").joinpath("static", own).is_file()]


def style_of(name):
    "The shared style sheet and its own."
    return static_text("page.css") + static_text(f"{name}.css")


def dashboard_widget(name, spec, work):
    "The widget that asks `work` and shows its events; it answers the latest message only."
    import asyncio

    loops = []  # that of the latest message, if it came in one

    def heard(widget, request):
        try:
            loops[:] = [asyncio.get_running_loop()]
        except RuntimeError:
            loops.clear()
        widget.worker.submit(request["number"], request["settings"])

    widget = page_widget(name, spec, heard)

    def publish(event):
        if loops:
            loops[-1].call_soon_threadsafe(widget.send, event)
        else:
            widget.send(event)

    widget.worker = LatestOnly(work, publish)
    return widget


def stored_answers(names, answers):
    "All answers, with every different event once."
    places = {}
    keyed = {}
    for key, events in answers.items():
        texts = [json.dumps(event, ensure_ascii=False, sort_keys=True, separators=(",", ":")) for event in events]
        keyed["|".join(map(str, key))] = [places.setdefault(text, len(places)) for text in texts]
    return dict(names=list(names), events=[json.loads(text) for text in places], answers=keyed)


def _embedded(value):
    return base64.b64encode(zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 9)).decode("ascii")


def static_page(title, name, spec, data):
    "One file that answers without a kernel and asks nobody."
    parts = dict(page_parts(name, spec), library=vega_library() if spec["charts"] else "", data=_embedded(data))
    return Template(static_text("file.html")).substitute(parts, title=title)


def read_static_page(text):
    "The inverse of `static_page`: what it was made of."
    found = [re.search(rf'id="{name}">(.*?)</script>', text).group(1) for name in ("spec", "data")]
    return tuple(json.loads(zlib.decompress(base64.b64decode(each))) for each in found)
