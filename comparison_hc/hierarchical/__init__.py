"Trees from answers about pairs: the planted model, four ways to merge, and theorems on when they work (F19)."
from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "planted": ["planted_hierarchy", "PlantedHierarchy"],
    "linkage": ["single_linkage", "complete_linkage"],
    "kernel": ["kernel_active", "kernel_passive", "kernel_passive_ranked", "kernel_average_linkage"],
    "average": ["quadruplet_average_linkage", "quadruplet_average_linkage_ranked"],
    "sampled": ["quadruplet_average_linkage_sampled"],
    "triplets": [
        "triplet_kernel",
        "triplet_kernel_active",
        "triplet_kernel_ranked",
        "triplet_average_linkage",
        "triplet_average_linkage_ranked",
    ],
    "refinement": ["refine", "Refinement"],
})
