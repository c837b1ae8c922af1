"Evaluation: model selection by held-out comparisons, bootstrap support, learned linkage, baselines, and reports."

from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bootstrap": ["bootstrap_support", "chance_support", "majority_consensus", "null_redraw", "structure_test"],
        "cluster_choice": [
            "ClusterChoice",
            "choose_clusters",
            "evidence_cut",
            "partition_evidence",
            "unplaced_objects",
        ],
        "embedding": ["embedding_average_linkage", "forte", "t_ste", "triplet_error"],
        "_task_tables": ["FeatureMetric"],
        "linkage_learning": ["learn_model", "load_model", "save_model"],
        "report": ["FlatResult", "Result", "save_result"],
        "model_selection": ["choose_method", "compare_methods", "held_out_agreement", "learning_curve"],
        "shape": ["AnswerShape", "answer_shape", "repeat_ceiling"],
        "ordinal": ["as_distances", "ordinal_linkage", "scale_invariant_clusters"],
    },
)
