"Old names of a package's functions and classes, which work for one release with a `DeprecationWarning`."

from warnings import warn


def with_old_names(package, find, old_names):
    "A module's `__getattr__`: `find`, and before it the names in `old_names`, {old name: new name}."

    def __getattr__(name):
        if name in old_names:
            warn(f"{package}.{name} is now {package}.{old_names[name]}", DeprecationWarning, stacklevel=2)
        return find(old_names.get(name, name))

    return __getattr__
