"""What the leaves of growing trees know, as ops: made, kept in files, brought up to date, grown by."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.schema import attr
from tideflow.ops.forests.helpers import INPUTS, PARAMS, created, examples_of, forest_op, handle_op
from tideflow.runtime.forest_data import RandomIntegers, Targets
from tideflow.runtime.forest_stats import LeafStatistics
from tideflow.runtime.forest_trees import parse_params
from tideflow.runtime.values import to_numpy

stats_handle_op = handle_op("FertileStatsResourceHandleOp", "statistics of leaves", LeafStatistics)


stats_are_initialized_op = forest_op(
    "FertileStatsIsInitializedOp", "stats_handle: resource -> is_initialized: bool"
)
stats_are_initialized_op.shape(lambda stats_handle: [])


@stats_are_initialized_op.kernel
def _stats_are_initialized_kernel(stats_handle):
    return torch.tensor(stats_handle.initialized)


create_stats_op = forest_op(
    "CreateFertileStatsVariable", "stats_handle: resource, stats_config: string", **PARAMS
)
create_stats_op.shape(lambda stats_handle, stats_config: [])


@create_stats_op.kernel
def _create_stats_kernel(stats_handle, stats_config, *, params):
    with stats_handle.lock:
        if not stats_handle.initialized:
            stats_handle.load(stats_config.item(), parse_params(params))


deserialize_stats_op = forest_op(
    "FertileStatsDeserialize", "stats_handle: resource, stats_config: string", **PARAMS
)
deserialize_stats_op.shape(lambda stats_handle, stats_config: [])


@deserialize_stats_op.kernel
def _deserialize_stats_kernel(stats_handle, stats_config, *, params):
    with stats_handle.lock:
        created(stats_handle).load(stats_config.item(), parse_params(params))


serialize_stats_op = forest_op(
    "FertileStatsSerialize", "stats_handle: resource -> stats_config: string", **PARAMS
)
serialize_stats_op.shape(lambda stats_handle: [])


@serialize_stats_op.kernel
def _serialize_stats_kernel(stats_handle, *, params):
    with stats_handle.lock:
        return np.array(created(stats_handle).serialized(parse_params(params)), object)


process_input_op = forest_op(
    "ProcessInputV4",
    f"tree_handle: resource, stats_handle: resource, {INPUTS}, input_labels: float, input_weights: float, "
    "leaf_ids: int32 -> finished_nodes: int32",
    random_seed=attr("int"),
    input_spec=attr("string"),
    **PARAMS,
)


@process_input_op.shape
def _process_input_shape(tree, stats, input_data, indices, values, shape, labels, weights, leaf_ids):
    return [None]


@process_input_op.kernel
def _process_input_kernel(
    tree_handle,
    stats_handle,
    input_data,
    indices,
    values,
    shape,
    input_labels,
    input_weights,
    leaf_ids,
    *,
    random_seed,
    input_spec,
):
    examples, leaves = examples_of(input_data, indices, values, shape, input_spec), to_numpy(leaf_ids)
    targets = Targets.of(to_numpy(input_labels), to_numpy(input_weights), len(leaves))
    with stats_handle.lock, tree_handle.lock:
        created(tree_handle)
        finished = created(stats_handle).add(leaves, examples, targets, RandomIntegers(random_seed))
    return torch.tensor(finished, dtype=torch.int32)


grow_tree_op = forest_op(
    "GrowTreeV4", "tree_handle: resource, stats_handle: resource, finished_nodes: int32", **PARAMS
)
grow_tree_op.shape(lambda tree_handle, stats_handle, finished_nodes: [])


@grow_tree_op.kernel
def _grow_tree_kernel(tree_handle, stats_handle, finished_nodes, *, params):
    with stats_handle.lock, tree_handle.lock:
        tree = created(tree_handle)
        created(stats_handle).grow(tree, finished_nodes.tolist(), parse_params(params))


finalize_tree_op = forest_op("FinalizeTree", "tree_handle: resource, stats_handle: resource", **PARAMS)
finalize_tree_op.shape(lambda tree_handle, stats_handle: [])


@finalize_tree_op.kernel
def _finalize_tree_kernel(tree_handle, stats_handle):
    # TensorFlow 1.15 ends the process with these words.
    raise errors.unimplemented("FinalizeTreeOp is disabled for now.")
