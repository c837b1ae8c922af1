"Evaluation: model selection by held-out comparisons, bootstrap support, learned linkage, baselines, and reports."

from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bootstrap": [
            "Consensus",
            "StructureTest",
            "Support",
            "bootstrap_support",
            "majority_consensus",
            "null_flip",
            "null_redraw",
            "structure_test",
        ],
        "embedding": ["Embedding", "cosine_similarity", "embedding_average_linkage", "forte", "t_ste", "triplet_error"],
        "_task_tables": ["FeatureMetric", "Task"],
        "linkage_learning": ["LeaveOneTaskOut", "LinkageModel", "learn_model", "load_model", "save_model"],
        "report": ["FlatResult", "Result", "save_result"],
        "model_selection": [
            "Choice",
            "MethodComparison",
            "choose_method",
            "compare_methods",
            "held_out_agreement",
            "learning_curve",
        ],
        "ordinal": ["OrdinalLinkage", "as_distances", "ordinal_linkage", "possible_merges", "scale_invariant_clusters"],
    },
)
