"""`tensorflow.python.ops.boosted_trees_ops`: the state of boosted trees, and short names of op types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from tideflow.estimator.canned.trees.state import QuantileAccumulator, TreeEnsemble
from tideflow.programs.modules import generated_function

__all__ = ["PruningMode", "QuantileAccumulator", "TreeEnsemble"]

_LONG_NAMES = {
    "calculate_best_feature_split": "boosted_trees_calculate_best_feature_split",
    "calculate_best_gains_per_feature": "boosted_trees_calculate_best_gains_per_feature",
    "center_bias": "boosted_trees_center_bias",
    "create_quantile_stream_resource": "boosted_trees_create_quantile_stream_resource",
    "example_debug_outputs": "boosted_trees_example_debug_outputs",
    "get_bucket_boundaries": "boosted_trees_quantile_stream_resource_get_bucket_boundaries",
    "is_quantile_resource_initialized": "is_boosted_trees_quantile_stream_resource_initialized",
    "make_quantile_summaries": "boosted_trees_make_quantile_summaries",
    "make_stats_summary": "boosted_trees_make_stats_summary",
    "predict": "boosted_trees_predict",
    "quantile_add_summaries": "boosted_trees_quantile_stream_resource_add_summaries",
    "quantile_flush": "boosted_trees_quantile_stream_resource_flush",
    "quantile_resource_deserialize": "boosted_trees_quantile_stream_resource_deserialize",
    "quantile_resource_handle_op": "boosted_trees_quantile_stream_resource_handle_op",
    "sparse_calculate_best_feature_split": "boosted_trees_sparse_calculate_best_feature_split",
    "training_predict": "boosted_trees_training_predict",
    "update_ensemble": "boosted_trees_update_ensemble",
    "update_ensemble_v2": "boosted_trees_update_ensemble_v2",
}


def __getattr__(name: str) -> Callable:
    if name not in _LONG_NAMES:
        raise AttributeError(name)
    return generated_function(_LONG_NAMES[name])


class PruningMode:
    """When branches that gain nothing are cut: never, before a layer is added, or after a tree is whole."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
    _NUMBERS: ClassVar[dict[str, int]] = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The number of a mode by its name."""
        if mode not in cls._NUMBERS:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(cls._NUMBERS))}")
        return cls._NUMBERS[mode]
