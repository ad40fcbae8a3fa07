"""Decision trees of random forests as ops: made, kept in files, gone down, asked for predictions."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph.schema import attr
from tideflow.ops.forests.helpers import INPUTS, PARAMS, created, examples_of, forest_op, handle_op
from tideflow.runtime.forest_data import Targets
from tideflow.runtime.forest_trees import DecisionTree, parse_params
from tideflow.runtime.values import to_numpy

tree_handle_op = handle_op("DecisionTreeResourceHandleOp", "decision tree", DecisionTree)


tree_is_initialized_op = forest_op("TreeIsInitializedOp", "tree_handle: resource -> is_initialized: bool")
tree_is_initialized_op.shape(lambda tree_handle: [])


@tree_is_initialized_op.kernel
def _tree_is_initialized_kernel(tree_handle):
    return torch.tensor(tree_handle.initialized)


create_tree_op = forest_op("CreateTreeVariable", "tree_handle: resource, tree_config: string", **PARAMS)
create_tree_op.shape(lambda tree_handle, tree_config: [])


@create_tree_op.kernel
def _create_tree_kernel(tree_handle, tree_config, *, params):
    with tree_handle.lock:
        if not tree_handle.initialized:
            tree_handle.load(tree_config.item(), parse_params(params))


deserialize_tree_op = forest_op("TreeDeserialize", "tree_handle: resource, tree_config: string", **PARAMS)
deserialize_tree_op.shape(lambda tree_handle, tree_config: [])


@deserialize_tree_op.kernel
def _deserialize_tree_kernel(tree_handle, tree_config, *, params):
    with tree_handle.lock:
        created(tree_handle).load(tree_config.item(), parse_params(params))


serialize_tree_op = forest_op("TreeSerialize", "tree_handle: resource -> tree_config: string")
serialize_tree_op.shape(lambda tree_handle: [])


@serialize_tree_op.kernel
def _serialize_tree_kernel(tree_handle):
    with tree_handle.lock:
        return np.array(created(tree_handle).serialized(), object)


tree_size_op = forest_op("TreeSize", "tree_handle: resource -> tree_size: int32")
tree_size_op.shape(lambda tree_handle: [])


@tree_size_op.kernel
def _tree_size_kernel(tree_handle):
    return torch.tensor(created(tree_handle).size, dtype=torch.int32)


feature_usage_counts_op = forest_op(
    "FeatureUsageCounts", "tree_handle: resource -> feature_counts: int32", **PARAMS
)

feature_usage_counts_op.shape(lambda tree_handle: [None])


@feature_usage_counts_op.kernel
def _feature_usage_counts_kernel(tree_handle, *, params):
    counts = created(tree_handle).feature_counts(parse_params(params).num_features)
    return torch.from_numpy(counts)


traverse_tree_op = forest_op(
    "TraverseTreeV4",
    f"tree_handle: resource, {INPUTS} -> leaf_ids: int32",
    input_spec=attr("string"),
    **PARAMS,
)


@traverse_tree_op.shape
def _traverse_tree_shape(tree_handle, input_data, indices, values, shape):
    return [None if input_data.ndims != 2 else input_data[0]]


@traverse_tree_op.kernel
def _traverse_tree_kernel(tree_handle, input_data, indices, values, shape, *, input_spec):
    examples = examples_of(input_data, indices, values, shape, input_spec)
    with tree_handle.lock:
        leaves = created(tree_handle).leaves_of(examples)
    return torch.from_numpy(leaves.astype(np.int32))


tree_predictions_op = forest_op(
    "TreePredictionsV4",
    f"tree_handle: resource, {INPUTS} -> predictions: float, tree_paths: string",
    input_spec=attr("string"),
    **PARAMS,
)


@tree_predictions_op.shape
def _tree_predictions_shape(tree_handle, input_data, indices, values, shape):
    return [[None if input_data.ndims != 2 else input_data[0], None], [None]]


@tree_predictions_op.kernel
def _tree_predictions_kernel(tree_handle, input_data, indices, values, shape, *, input_spec, params):
    examples, asked = examples_of(input_data, indices, values, shape, input_spec), parse_params(params)
    with tree_handle.lock:
        tree = created(tree_handle)
        predictions = tree.predictions(examples, asked.is_regression)
        paths = tree.paths(examples) if asked.inference_tree_paths else []
    return torch.from_numpy(predictions.astype(np.float32)), np.array(paths, object)


update_model_op = forest_op(
    "UpdateModelV4",
    "tree_handle: resource, leaf_ids: int32, input_labels: float, input_weights: float",
    **PARAMS,
)
update_model_op.shape(lambda tree_handle, leaf_ids, input_labels, input_weights: [])


@update_model_op.kernel
def _update_model_kernel(tree_handle, leaf_ids, input_labels, input_weights, *, params):
    if parse_params(params).is_regression:
        return  # leaves of regressions have the means that they started with
    leaves = to_numpy(leaf_ids)
    targets = Targets.of(to_numpy(input_labels), to_numpy(input_weights), len(leaves))
    with tree_handle.lock:
        created(tree_handle).count_labels(leaves, targets)
