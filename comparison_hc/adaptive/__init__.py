"""Trees from questions chosen one after the other, which two of three belong together (A18).

All public names raise `InputError` for an argument that is not as described: it states argument, rule and value.
"""

from ..core.deprecated import with_old_names
from ..core.lazy import lazy_names

_offer, __dir__, __all__ = lazy_names(
    __name__,
    {
        "trees": ["GrowingTree", "random_hierarchy", "all_hierarchies", "n_hierarchies"],
        "insertion": ["insertion_clustering"],
        "quick": ["quick_clustering"],
        "noisy": ["robust_insertion_clustering"],
        "bayesian": ["bayesian_insertion_clustering"],
        "multifurcating": ["Hierarchy", "OrdinalOracle", "multifurcating_clustering"],
        "build": ["consistent_hierarchy", "all_triples_clustering"],
        "_validation": ["InconsistentTriplets"],
    },
)
_OLD = {"Contradiction": "InconsistentTriplets", "any_degree_clustering": "multifurcating_clustering"}
__getattr__ = with_old_names(__name__, _offer, _OLD)
