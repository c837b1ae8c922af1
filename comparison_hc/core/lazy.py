"Names that a package offers, each imported from its module on first use (PEP 562)."

from importlib import import_module


def lazy_names(
    package,  # the package's `__name__`
    modules,  # {submodule: [names it provides]}
):  # (`__getattr__`, `__dir__`, `__all__`) for the package's `__init__`
    "Let `package` offer names, and its submodules, without importing them before they are used."
    home = {name: module for module, names in modules.items() for name in names}

    def __getattr__(name):
        if name in home:
            return getattr(import_module(f"{package}.{home[name]}"), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__():
        return sorted([*home, *modules])

    return __getattr__, __dir__, sorted(home)
