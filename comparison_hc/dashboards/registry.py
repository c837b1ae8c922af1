"""The dashboards that can be found by name, and their static export."""

from dataclasses import dataclass
from importlib import import_module

from ..core.validation import require

MODULES = {
    name: f"comparison_hc.dashboards.{name}_page" for name in ("planted", "flat", "step", "ask", "link", "plan")
}


@dataclass(frozen=True)
class Dashboard:
    "A dashboard that can be found by name."

    name: str  # for the command line
    title: str  # in words
    module: str  # where the function below is
    widget: str  # name of a function that makes the widget; it needs no arguments
    summary: str = ""  # a sentence for the list of all
    static: object = None  # function of (progress, pages=None) that returns the HTML of the static export; None if none


_registry = {}


def register_dashboard(dashboard):
    """Let the command find a dashboard.

    Parameters
    ----------
    dashboard
        `Dashboard`.

    Returns
    -------
    result
        The same.
    """
    require(isinstance(dashboard, Dashboard), "dashboard", "made by Dashboard", dashboard)
    known = _registry.get(dashboard.name, dashboard)
    require(known.module == dashboard.module, "name", "that of one dashboard only", dashboard.name)
    _registry[dashboard.name] = dashboard
    return dashboard


def find_dashboard(name=None):
    """The dashboard with this name, or all.

    Parameters
    ----------
    name
        Name of a dashboard, or None.

    Returns
    -------
    result
        `Dashboard`; for None, {name: `Dashboard`}.
    """
    for module in MODULES.values():
        import_module(module)
    if name is None:
        return dict(_registry)
    require(isinstance(name, str) and name in _registry, "NAME", f"one of {', '.join(_registry)}", name)
    return _registry[name]


def live_page(dashboard):
    "Its page, if it has controls."
    return getattr(import_module(dashboard.module), "PAGE", None)


def write_static(name, path, progress=None, pages=None):
    """Write the static export of a dashboard.

    Parameters
    ----------
    name
        Name of a dashboard.
    path
        HTML file to write.
    progress
        Called with (settings done, settings in all).
    pages
        As for `sources_html`.
    """
    from comparison_hc.core.io import atomic_write, check_destination

    require(name is not None, "NAME", "the name of a dashboard", name)
    dashboard = find_dashboard(name)
    having = ", ".join(each.name for each in find_dashboard().values() if each.static)
    require(dashboard.static is not None, "NAME", f"a dashboard with a static export ({having})", name)
    atomic_write(check_destination(path, "--static", (".html",)), dashboard.static(progress, pages=pages))
