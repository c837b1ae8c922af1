"The dashboards of `comparison-hc dashboard`: each with its settings, computation and page, and the server of all."

from ..core.lazy import lazy_names

PAGES = {
    f"{name}{suffix}": [f"{name}_dashboard"] if suffix else [f"{name.capitalize()}Settings", f"{name}_data"]
    for name in ("planted", "flat", "step", "link", "plan", "additive")
    for suffix in ("", "_page")
}
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "framework": ["find_dashboard", "register_dashboard", "write_static"],
        "server": ["run_dashboard", "serve_dashboard"],
        "ask_page": ["ask_dashboard"],
        **PAGES,
    },
)
