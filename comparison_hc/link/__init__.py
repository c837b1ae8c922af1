"Learning from solved tasks which merge function or metric to cluster with, exactly at every parameter (L20)."
from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "inputs": ["MergeFunction", "rings_and_disks"],
    "merge": ["alpha_linkage", "beta_linkage"],
    "agglomerate": ["mixed_linkage"],
    "runs": ["ExecutionTree", "Leaf"],
    "losses": ["PiecewiseLoss", "widest_interval"],
    "execution": ["execution_tree", "piecewise_loss"],
    "learning": ["learn_linkage", "average_loss"],
    "curves": ["LearnedLinkage", "split_instances"],
    "band": ["confidence_band", "theorem_1_rate"],
    "estimators": ["LinkageLearner"],
    "clusterer": ["MixedLinkage"],
    "two_parameters": ["two_parameter_partition"],
    "grid": ["two_parameter_grid"],
    "square": ["TwoParameterPartition", "TwoParameterGrid"],
})
