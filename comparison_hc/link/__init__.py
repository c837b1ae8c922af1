"""Learning from solved tasks which merge function or metric to cluster with, exactly at every parameter (L20).

All public names raise `InputError` for an argument that is not as described: it states argument, rule and value.
"""

from ..core.deprecated import with_old_names
from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "merge": ["MergeFunction", "alpha_linkage", "beta_linkage", "mixed_linkage", "rings_and_disks"],
    "execution": ["ExecutionTree", "Leaf", "execution_tree", "piecewise_loss"],
    "losses": ["PiecewiseLoss", "widest_interval"],
    "learning": [
        "LearnedLinkage", "average_loss", "confidence_band", "learn_linkage", "split_instances", "theorem_1_rate",
    ],
    "estimators": ["LinkageLearner", "MixedLinkage"],
    "grid": ["TwoParameterGrid", "two_parameter_grid"],
})
# the exact partition for a dozen points has become the certified grid
_OLD_NAMES = {"two_parameter_partition": "two_parameter_grid", "TwoParameterPartition": "TwoParameterGrid"}
__getattr__ = with_old_names(__name__, __getattr__, _OLD_NAMES)
