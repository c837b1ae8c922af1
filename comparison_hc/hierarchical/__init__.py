"""Hierarchies from comparisons: planted model, single, complete and average linkage, kernels, refinement (F19).

All public names raise `InputError` for an argument that is not as described: it states argument, rule and value.
"""

from importlib import import_module
from warnings import warn

from ..core.lazy import lazy_names

_find, __dir__, __all__ = lazy_names(__name__, {
    "planted": ["planted_hierarchy", "PlantedHierarchy"],
    "linkage": ["single_linkage", "complete_linkage"],
    "kernel": ["kernel_active", "kernel_passive", "kernel_passive_ranked", "kernel_average_linkage"],
    "average": ["quadruplet_average_linkage", "quadruplet_average_linkage_ranked"],
    "triplets": [
        "triplet_kernel",
        "triplet_kernel_active",
        "triplet_kernel_ranked",
        "triplet_average_linkage",
        "triplet_average_linkage_ranked",
    ],
    "refinement": ["refine", "Refinement"],
})


def __getattr__(name):
    if name == "quadruplet_average_linkage_sampled":  # for one release
        home = "comparison_hc.theory.f19_theorem4"
        warn(f"{__name__}.{name} is now {home}.{name}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(home), name)
    return _find(name)
