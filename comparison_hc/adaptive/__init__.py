"Trees from questions chosen one after the other, which two of three belong together (A18)."
from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "queries": ["GrowingTree"],
    "answers": ["Contradiction"],
    "trees": ["random_hierarchy", "all_hierarchies", "n_hierarchies"],
    "insertion": ["insertion_clustering"],
    "quick": ["quick_clustering"],
    "noisy": ["robust_insertion_clustering"],
    "posterior": ["bayesian_insertion_clustering"],
    "degree": ["any_degree_clustering"],
    "hierarchies": ["Hierarchy", "OrdinalOracle"],
    "consistency": ["consistent_hierarchy", "all_triples_clustering"],
})
