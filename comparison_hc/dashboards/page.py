"""The front end of a dashboard: one script, one style sheet and the library of charts, as a widget or in one file."""

import base64
import csv
import json
import zlib
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from string import Template

from ..core.compat import import_optional
from ..core.validation import InputError
from .worker import LatestOnly

COMPILED = "compiled.json"  # in `static`, only where the package goes to a place without vl-convert


def static_text(name):
    "A file of the front end."
    return files("comparison_hc.dashboards").joinpath("static", name).read_text(encoding="utf-8")


def static_rows(name):
    "The rows of a table of the front end, as dicts of texts."
    return list(csv.DictReader(static_text(name).splitlines()))


@lru_cache(maxsize=1)
def compiled():
    "What was made before the package was packed for browsers."
    try:
        return json.loads(static_text(COMPILED))
    except FileNotFoundError:
        return {}


@lru_cache(maxsize=1)
def vega_library():
    "Vega, which comes with vl-convert; made once, in about a second. Raises `InputError` without it."
    if "library" in compiled():
        return compiled()["library"]
    bundle = import_optional("vl_convert", "a page with charts").javascript_bundle(
        "globalThis.comparisonCharts = vegaEmbed;"
    )
    return f"if (!globalThis.comparisonCharts) {{ {bundle} }}"


def import_extra(name):
    "A module of the extra `dashboard`, or an `InputError` that says how to get it."
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"dashboards need more than the package itself ({error}): pip install 'comparison_hc[dashboard]'"
        ) from None


@lru_cache(maxsize=1)
def widget_class():
    "The one widget of all dashboards: two on a page share its style sheet, whose rules are scoped."
    anywidget = import_extra("anywidget")
    traitlets = import_module("traitlets")

    class DashboardWidget(anywidget.AnyWidget):
        "Specification and events travel as JSON texts: Pyodide would leave out what is None, such as `scale: null`."

        _esm = static_text("dashboard.mjs")
        _css = static_text("dashboard.css")
        spec = traitlets.Dict().tag(sync=True, to_json=lambda value, _: json.dumps(value))
        library = traitlets.Unicode().tag(sync=True)

        def show(self, event):
            self.send(dict(text=json.dumps(event)))

    return DashboardWidget


def page_widget(spec, heard):
    "The page in a notebook. Needs the extra `dashboard`."
    widget = widget_class()(spec=spec, library=vega_library() if spec["charts"] else "")
    widget.on_msg(lambda _, message, __: heard(widget, message))
    return widget


def dashboard_widget(spec, work):
    "The widget that asks `work` and shows its events; it answers the latest message only."
    import asyncio

    loops = []  # that of the latest message, if it came in one

    def heard(widget, request):
        try:
            loops[:] = [asyncio.get_running_loop()]
        except RuntimeError:
            loops.clear()
        widget.worker.submit(request["number"], request["settings"])

    widget = page_widget(spec, heard)

    def publish(event):
        if loops:
            loops[-1].call_soon_threadsafe(widget.show, event)
        else:
            widget.show(event)

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


def page_parts(spec):
    "What a page without a kernel is made of."
    return dict(style=static_text("dashboard.css"), script=static_text("dashboard.mjs"), spec=_embedded(spec))


def static_page(title, spec, data):
    "One file that answers without a kernel and needs no server."
    parts = dict(page_parts(spec), library=vega_library() if spec["charts"] else "", data=_embedded(data))
    return Template(static_text("file.html")).substitute(parts, title=title)
