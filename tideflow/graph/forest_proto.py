"""The messages of `tf.contrib.tensor_forest` on TensorFlow's wire format: parameters, trees, statistics."""

from __future__ import annotations

from google.protobuf import any_pb2, wrappers_pb2  # noqa: F401

from tideflow.graph.own_protos import make_messages

# A map is a list of messages with a key and a value, on the wire as in TensorFlow.
_VALUES = {
    "Value": {
        "float_value": "oneof value float",
        "double_value": "oneof value double",
        "int32_value": "oneof value int32",
        "int64_value": "oneof value int64",
    },
    "Vector": {"value": "repeated Value"},
    "SparseValueEntry": {"key": "int64", "value": "Value"},
    "SparseVector": {"sparse_value": "repeated SparseValueEntry"},
}
_TREES = {
    **_VALUES,
    "Leaf": {"vector": "oneof leaf Vector", "sparse_vector": "oneof leaf SparseVector"},
    "FeatureId": {"id": "google.protobuf.StringValue"},
    "InequalityTest": {"feature_id": "FeatureId", "type": "InequalityTestType", "threshold": "Value"},
    "MatchingValuesTest": {"feature_id": "FeatureId", "value": "repeated Value", "inverse": "bool"},
    "BinaryNode": {
        "left_child_id": "google.protobuf.Int32Value",
        "right_child_id": "google.protobuf.Int32Value",
        "default_direction": "int32",
        "inequality_left_child_test": "oneof left_child_test InequalityTest",
        "custom_left_child_test": "oneof left_child_test google.protobuf.Any",
    },
    "TreeNode": {
        "node_id": "google.protobuf.Int32Value",
        "depth": "google.protobuf.Int32Value",
        "subtree_size": "google.protobuf.Int32Value",
        "binary_node": "oneof node_type BinaryNode",
        "leaf": "oneof node_type Leaf",
    },
    "DecisionTree": {"nodes": "repeated TreeNode"},
    "Model": {"decision_tree": "DecisionTree"},
    "TreePath": {"nodes_visited": "repeated TreeNode"},
}
_STATISTICS = {
    "ClassStat": {"dense_counts": "oneof counts Vector", "sparse_counts": "oneof counts SparseVector"},
    "RegressionStat": {"mean_output": "Vector", "mean_output_squares": "Vector"},
    "LeafStat": {
        "classification": "1 oneof leaf_stat ClassStat",
        "regression": "2 oneof leaf_stat RegressionStat",
        "weight_sum": "3 float",
    },
    "SplitCandidate": {
        "split": "1 BinaryNode",
        "left_stats": "4 LeafStat",
        "right_stats": "5 LeafStat",
        "unique_id": "6 string",
    },
    "FertileSlot": {
        "candidates": "1 repeated SplitCandidate",
        "leaf_stats": "4 LeafStat",
        "node_id": "5 int32",
        "post_init_leaf_stats": "6 LeafStat",
        "depth": "7 int32",
    },
    "FertileStats": {"node_to_slot": "repeated FertileSlot"},
}
_PARAMETERS = {
    "LinearParam": {"slope": "float", "y_intercept": "float", "min_val": "float", "max_val": "float"},
    "ExponentialParam": {
        "bias": "float",
        "base": "float",
        "multiplier": "float",
        "depth_multiplier": "float",
    },
    "ThresholdParam": {"on_value": "float", "off_value": "float", "threshold": "float"},
    "DepthDependentParam": {
        "constant_value": "oneof ParamType float",
        "linear": "oneof ParamType LinearParam",
        "exponential": "oneof ParamType ExponentialParam",
        "threshold": "oneof ParamType ThresholdParam",
    },
    "SplitPruningConfig": {"prune_every_samples": "DepthDependentParam", "type": "SplitPruningStrategyType"},
    "SplitFinishConfig": {"check_every_steps": "DepthDependentParam", "type": "SplitFinishStrategyType"},
    "TensorForestParams": {
        "leaf_type": "LeafModelType",
        "stats_type": "StatsModelType",
        "collection_type": "SplitCollectionType",
        "pruning_type": "SplitPruningConfig",
        "finish_type": "SplitFinishConfig",
        "num_trees": "int32",
        "max_nodes": "int32",
        "is_regression": "bool",
        "drop_final_class": "bool",
        "collate_examples": "bool",
        "checkpoint_stats": "bool",
        "num_outputs": "int32",
        "num_splits_to_consider": "DepthDependentParam",
        "split_after_samples": "DepthDependentParam",
        "dominate_fraction": "DepthDependentParam",
        "graph_dir": "string",
        "num_select_features": "int32",
        "min_split_samples": "DepthDependentParam",
        "inequality_test_type": "InequalityTestType",
        "use_running_stats_method": "bool",
        "num_features": "int32",
        "initialize_average_splits": "bool",
        "inference_tree_paths": "bool",
        "num_classes_to_track": "int32",
    },
}
ENUMS = {
    "InequalityTestType": {"LESS_OR_EQUAL": 0, "LESS_THAN": 1, "GREATER_OR_EQUAL": 2, "GREATER_THAN": 3},
    "LeafModelType": {
        "MODEL_DENSE_CLASSIFICATION": 0,
        "MODEL_SPARSE_CLASSIFICATION": 1,
        "MODEL_REGRESSION": 2,
        "MODEL_SPARSE_OR_DENSE_CLASSIFICATION": 3,
    },
    "StatsModelType": {
        "STATS_DENSE_GINI": 0,
        "STATS_SPARSE_GINI": 1,
        "STATS_LEAST_SQUARES_REGRESSION": 2,
        "STATS_SPARSE_THEN_DENSE_GINI": 3,
        "STATS_FIXED_SIZE_SPARSE_GINI": 4,
    },
    "SplitCollectionType": {"COLLECTION_BASIC": 0, "GRAPH_RUNNER_COLLECTION": 1},
    "SplitPruningStrategyType": {
        "SPLIT_PRUNE_NONE": 0,
        "SPLIT_PRUNE_HALF": 1,
        "SPLIT_PRUNE_QUARTER": 2,
        "SPLIT_PRUNE_10_PERCENT": 3,
        "SPLIT_PRUNE_HOEFFDING": 4,
    },
    "SplitFinishStrategyType": {
        "SPLIT_FINISH_BASIC": 0,
        "SPLIT_FINISH_DOMINATE_HOEFFDING": 2,
        "SPLIT_FINISH_DOMINATE_BOOTSTRAP": 3,
    },
}

_schema = {**_TREES, **_STATISTICS, **_PARAMETERS}
_classes = make_messages("messages", _schema, ENUMS, package="tideflow.tensor_forest")
FertileStats = _classes["FertileStats"]
MatchingValuesTest = _classes["MatchingValuesTest"]
Model = _classes["Model"]
TensorForestParams = _classes["TensorForestParams"]
TreePath = _classes["TreePath"]
