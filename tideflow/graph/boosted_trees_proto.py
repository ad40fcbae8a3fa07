"""The messages that keep ensembles of decision trees, on TensorFlow's wire format."""

from __future__ import annotations

from tideflow.graph.own_protos import make_messages

# By message, its fields in the order of their numbers. A direction is an enumeration in TensorFlow;
# on the wire it is a number.
_SCHEMA = {
    "Vector": {"value": "repeated float"},
    "SparseVector": {"index": "repeated int32", "value": "repeated float"},
    "Leaf": {"vector": "oneof leaf Vector", "sparse_vector": "oneof leaf SparseVector", "scalar": "float"},
    "NodeMetadata": {"gain": "float", "original_leaf": "Leaf"},
    "BucketizedSplit": {
        "feature_id": "int32",
        "threshold": "int32",
        "left_id": "int32",
        "right_id": "int32",
        "dimension_id": "int32",
        "default_direction": "int32",
    },
    "CategoricalSplit": {
        "feature_id": "int32",
        "value": "int32",
        "left_id": "int32",
        "right_id": "int32",
        "dimension_id": "int32",
    },
    "DenseSplit": {"feature_id": "int32", "threshold": "float", "left_id": "int32", "right_id": "int32"},
    "Node": {
        "leaf": "oneof node Leaf",
        "bucketized_split": "oneof node BucketizedSplit",
        "categorical_split": "oneof node CategoricalSplit",
        "dense_split": "oneof node DenseSplit",
        "metadata": "777 NodeMetadata",
    },
    "Tree": {"nodes": "repeated Node"},
    "PostPruneNodeUpdate": {"new_node_id": "int32", "logit_change": "repeated float"},
    "TreeMetadata": {
        "num_layers_grown": "2 int32",
        "is_finalized": "3 bool",
        "post_pruned_nodes_meta": "4 repeated PostPruneNodeUpdate",
    },
    "GrowingMetadata": {
        "num_trees_attempted": "int64",
        "num_layers_attempted": "int64",
        "last_layer_node_start": "int32",
        "last_layer_node_end": "int32",
    },
    "TreeEnsemble": {
        "trees": "repeated Tree",
        "tree_weights": "repeated float",
        "tree_metadata": "repeated TreeMetadata",
        "growing_metadata": "GrowingMetadata",
    },
    "DebugOutput": {"feature_ids": "repeated int32", "logits_path": "repeated float"},
}

_classes = make_messages("boosted_trees", _SCHEMA)
TreeEnsemble = _classes["TreeEnsemble"]
DebugOutput = _classes["DebugOutput"]
