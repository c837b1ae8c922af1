"Flat clusters from triplets or quadruplets: similarities counted from answers, semidefinite programs, proofs (N20)."
from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "planted": ["PlantedPartition", "gaussians", "n_comparisons", "planted_delta", "planted_partition",
                "sample_comparisons", "uniform_beta", "uniform_normal"],
    "similarity": ["AddS", "adds3", "adds4", "mulk3", "mulk4"],
    "_from_file": ["adds_from_file"],
    "certificate": ["certify", "Certificate", "cluster_matrix"],
    "candidates": ["improve_partition"],
    "solver": ["SDPSolution"],
    "sdp": ["sdp_k", "sdp_lambda", "sdp_reference", "NotConvergedWarning"],
    "search": ["spur_objective", "round_solution", "SpurResult", "SpurStep"],
    "spur": ["spur", "spur_prices"],
})
