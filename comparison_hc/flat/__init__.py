"""Flat clusters from triplets or quadruplets: similarities counted from answers, semidefinite programs, proofs (N20).

All public names raise `InputError` for an argument that is not as described: it states argument, rule and value.
"""
from ..core.deprecated import with_old_names
from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "planted": ["PlantedPartition", "gaussians", "n_comparisons", "planted_delta", "planted_partition",
                "sample_comparisons", "uniform_beta", "uniform_normal"],
    "similarity": ["AddS", "adds3", "adds4", "mulk3", "mulk4"],
    "_from_file": ["adds_from_file"],
    "certificate": ["Certificate", "certify", "cluster_matrix"],
    "candidates": ["improve_partition"],
    "sdp": ["NotConvergedWarning", "SDPSolution", "sdp_k", "sdp_lambda", "sdp_reference"],
    "spur_search": ["SpurResult", "SpurStep", "lambda_range", "round_solution", "spur", "spur_objective"],
})
__getattr__ = with_old_names(__name__, __getattr__, {"spur_prices": "lambda_range"})
