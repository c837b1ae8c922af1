"Learning which linkage or metric suits a kind of clustering task (L20)."
from ..ground.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "merge": ["alpha_linkage", "beta_linkage", "mixed_linkage", "MergeFunction", "rings_and_disks"],
    "execution": ["execution_tree", "ExecutionTree", "Leaf", "piecewise_loss", "PiecewiseLoss"],
    "learning": ["learn_linkage", "LearnedLinkage", "average_loss", "confidence_band", "theorem_1_rate", "split_instances"],
    "estimators": ["LinkageLearner", "MixedLinkage"],
    "two_parameters": ["two_parameter_partition", "TwoParameterPartition", "two_parameter_grid", "TwoParameterGrid"],
})
