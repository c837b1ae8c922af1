"Clusters and hierarchies from comparisons. Names load on first use, so importing the package costs next to nothing."

__version__ = "0.2.0"

import sys

from .core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "comparisons": ["Triplets", "Quadruplets", "read_comparisons"],
        "dendrogram": ["Dendrogram", "plot_dendrogram"],
        "estimators": ["ComparisonClustering", "ComparisonHC"],
        "additive_tree": ["AdditiveTree"],
        "datasets": ["load_dataset"],
        "evaluation": ["bootstrap_support", "compare_methods", "save_result"],
        "core.comparison_counts": ["ComparisonCounts"],
        "core.validation": ["InputError"],
    },
)

if sys.platform == "emscripten":
    from .core.compat import fetch_missing

    fetch_missing()
