"Clusters from triplets and quadruplets, near the fewest that can do (N20)."
from ..ground.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "closed_forms": ["planted_delta", "gaussians", "uniform_beta", "uniform_normal"],
    "planted": ["planted_partition", "PlantedPartition", "n_comparisons", "sample_comparisons"],
    "similarity": ["adds3", "adds4", "mulk3", "mulk4"],
    "streams": ["AddS", "adds_from_file"],
    "sdp": ["sdp_k", "sdp_lambda", "sdp_reference", "certify", "Certificate", "SDPSolution", "cluster_matrix", "NotConvergedWarning"],
    "spur": ["spur", "spur_objective", "spur_prices", "round_solution", "SpurResult", "SpurStep"],
})
