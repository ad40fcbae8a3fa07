"""Tree ensembles as ops: made, kept in files, grown by the best splits, asked for logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.memory import check_memory
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.boosted_trees.splits import weights_and_gains
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.session_objects import NAMED, found
from tideflow.runtime.tree_ensembles import (
    SPLIT_TYPES,
    Ensemble,
    Features,
    Split,
    features_of,
)
from tideflow.runtime.values import to_numpy, to_torch

_TESTS = "tests/ops/boosted_trees/test_ensembles.py"
_EQUAL_GAINS = 1e-15  # gains that differ by less are equal

ensemble_handle_op = Op(
    "BoostedTreesEnsembleResourceHandleOp",
    " -> resource: resource",
    stateful=True,
    handle=True,
    differentiable=False,
    is_model_state=True,
    **NAMED,
)
ensemble_handle_op.shape(lambda: [])


@ensemble_handle_op.kernel
def _ensemble_handle_kernel(*, resources, node):
    return found("tree ensemble", Ensemble, resources, node)


ensemble_handle_op.samples(covered_by=_TESTS)


def _on_ensemble(name: str, signature: str, **options: Any) -> Op:
    """An op that does something with a tree ensemble."""
    op = Op(
        name,
        f"tree_ensemble_handle: resource{signature}",
        stateful=True,
        on_host=True,
        differentiable=False,
        **options,
    )
    op.samples(covered_by=_TESTS)
    return op


def _created(ensemble: Ensemble) -> Ensemble:
    if not ensemble.initialized:
        raise errors.not_found(
            f"Resource localhost/{ensemble.name}/N10tensorflow28BoostedTreesEnsembleResourceE does not exist."
        )
    return ensemble


is_ensemble_initialized_op = _on_ensemble("IsBoostedTreesEnsembleInitialized", " -> is_initialized: bool")
is_ensemble_initialized_op.shape(lambda tree_ensemble_handle: [])


@is_ensemble_initialized_op.kernel
def _is_ensemble_initialized_kernel(tree_ensemble_handle):
    return torch.tensor(tree_ensemble_handle.initialized)


def _serialized_shape(tree_ensemble_handle, stamp_token, tree_ensemble_serialized):
    of_rank(stamp_token, 0)
    of_rank(tree_ensemble_serialized, 0)
    return []


create_ensemble_op = _on_ensemble(
    "BoostedTreesCreateEnsemble", ", stamp_token: int64, tree_ensemble_serialized: string"
)
create_ensemble_op.shape(_serialized_shape)


@create_ensemble_op.kernel
def _create_ensemble_kernel(tree_ensemble_handle, stamp_token, tree_ensemble_serialized):
    tree_ensemble_handle.create(stamp_token.item(), tree_ensemble_serialized.item())


deserialize_ensemble_op = _on_ensemble(
    "BoostedTreesDeserializeEnsemble", ", stamp_token: int64, tree_ensemble_serialized: string"
)
deserialize_ensemble_op.shape(_serialized_shape)


@deserialize_ensemble_op.kernel
def _deserialize_ensemble_kernel(tree_ensemble_handle, stamp_token, tree_ensemble_serialized):
    _created(tree_ensemble_handle).load(stamp_token.item(), tree_ensemble_serialized.item())


serialize_ensemble_op = _on_ensemble(
    "BoostedTreesSerializeEnsemble", " -> stamp_token: int64, tree_ensemble_serialized: string"
)
serialize_ensemble_op.shape(lambda tree_ensemble_handle: [[], []])


@serialize_ensemble_op.kernel
def _serialize_ensemble_kernel(tree_ensemble_handle):
    stamp, serialized = _created(tree_ensemble_handle).serialized()
    return torch.tensor(stamp, dtype=torch.int64), np.array(serialized, object)


ensemble_states_op = _on_ensemble(
    "BoostedTreesGetEnsembleStates",
    " -> stamp_token: int64, num_trees: int32, num_finalized_trees: int32, num_attempted_layers: int32, "
    "last_layer_nodes_range: int32",
)
ensemble_states_op.shape(lambda tree_ensemble_handle: [[], [], [], [], [2]])


@ensemble_states_op.kernel
def _ensemble_states_kernel(tree_ensemble_handle):
    stamp, *states = _created(tree_ensemble_handle).states()
    return torch.tensor(stamp, dtype=torch.int64), *(torch.tensor(s, dtype=torch.int32) for s in states)


# ------------------------------------------------------------------------------------------------- growing


def _best_splits(candidates: Any) -> dict[int, Split]:
    """The best split of each node. Of two with equal gains, the one by the first feature counts."""
    best: dict[int, Split] = {}
    for node, split in candidates:
        known = best.get(node)
        more = np.inf if known is None else split.gain - known.gain
        if more >= _EQUAL_GAINS or (abs(more) < _EQUAL_GAINS and split.feature < known.feature):
            best[node] = split
    return best


def _check_candidates(count: int, contributions: tuple[np.ndarray, ...], *vectors: np.ndarray) -> None:
    if any(vector.shape != (count,) for vector in vectors):
        raise errors.invalid_argument(
            f"Each node_id in node_ids_list must come with one gain, one threshold and so on, but of {count} "
            f"nodes there are {[list(vector.shape) for vector in vectors]}"
        )
    if any(matrix.ndim != 2 or len(matrix) != count or matrix.shape[1] < 1 for matrix in contributions):
        raise errors.invalid_argument(
            f"left_node_contribs and right_node_contribs must have a row for each of {count} nodes, but have "
            f"{[list(matrix.shape) for matrix in contributions]}"
        )


update_ensemble_op = _on_ensemble(
    "BoostedTreesUpdateEnsemble",
    ", feature_ids: int32, node_ids: num_features * int32, gains: num_features * float, thresholds: "
    "num_features * int32, left_node_contribs: num_features * float, right_node_contribs: num_features * "
    "float, max_depth: int32, learning_rate: float",
    pruning_mode=attr("int", minimum=0),
    num_features=attr("int", minimum=0),
)


def _check_ranks(vectors, matrices, scalars):
    for shapes, rank in ((vectors, 1), (matrices, 2), (scalars, 0)):
        for shape in shapes:
            of_rank(shape, rank)
    return []


@update_ensemble_op.shape
def _update_ensemble_shape(
    tree_ensemble_handle,
    feature_ids,
    node_ids,
    gains,
    thresholds,
    left_node_contribs,
    right_node_contribs,
    max_depth,
    learning_rate,
):
    vectors = [feature_ids, *node_ids, *gains, *thresholds]
    return _check_ranks(vectors, [*left_node_contribs, *right_node_contribs], [max_depth, learning_rate])


@update_ensemble_op.kernel
def _update_ensemble_kernel(
    tree_ensemble_handle,
    feature_ids,
    node_ids,
    gains,
    thresholds,
    left_node_contribs,
    right_node_contribs,
    max_depth,
    learning_rate,
    *,
    pruning_mode,
):
    ensemble = _created(tree_ensemble_handle)
    features = to_numpy(feature_ids).tolist()
    if len(features) != len(node_ids):
        raise errors.invalid_argument(f"There are {len(features)} feature_ids of {len(node_ids)} features")
    rate = np.float32(learning_rate.item())
    candidates = []
    for i, feature in enumerate(features):
        nodes, gained, buckets = map(to_numpy, (node_ids[i], gains[i], thresholds[i]))
        left, right = to_numpy(left_node_contribs[i]), to_numpy(right_node_contribs[i])
        _check_candidates(nodes.size, (left, right), nodes, gained, buckets)
        splits = zip(gained.tolist(), buckets.tolist(), rate * left[:, :1], rate * right[:, :1], strict=True)
        candidates += [
            (node, Split(gain, feature, 0, bucket, at_left, at_right))
            for node, (gain, bucket, at_left, at_right) in zip(nodes.tolist(), splits, strict=True)
        ]
    ensemble.grow(_best_splits(candidates), 1, max_depth.item(), pruning_mode)


update_ensemble_v2_op = _on_ensemble(
    "BoostedTreesUpdateEnsembleV2",
    ", feature_ids: num_groups * int32, dimension_ids: num_features * int32, node_ids: num_features * int32, "
    "gains: num_features * float, thresholds: num_features * int32, left_node_contribs: num_features * "
    "float, right_node_contribs: num_features * float, split_types: num_features * string, max_depth: int32, "
    "learning_rate: float, pruning_mode: int32",
    num_features=attr("int", minimum=0),
    logits_dimension=1,
    num_groups=attr("int", 1, minimum=1),
)


@update_ensemble_v2_op.shape
def _update_ensemble_v2_shape(
    tree_ensemble_handle,
    feature_ids,
    dimension_ids,
    node_ids,
    gains,
    thresholds,
    left_node_contribs,
    right_node_contribs,
    split_types,
    max_depth,
    learning_rate,
    pruning_mode,
):
    vectors = [*feature_ids, *dimension_ids, *node_ids, *gains, *thresholds, *split_types]
    matrices = [*left_node_contribs, *right_node_contribs]
    return _check_ranks(vectors, matrices, [max_depth, learning_rate, pruning_mode])


def _feature_of_each(feature_ids: list[torch.Tensor], list_number: int, lists: int, count: int) -> np.ndarray:
    """The features of the candidates in a list.

    There is one for each candidate, where features are grouped. TensorFlow 1.15 has one for each list.
    """
    features = to_numpy(feature_ids[list_number if len(feature_ids) == lists else 0])
    if len(feature_ids) == 1 and features.shape == (lists,):
        features = features[list_number].repeat(count)
    return features


@update_ensemble_v2_op.kernel
def _update_ensemble_v2_kernel(
    tree_ensemble_handle,
    feature_ids,
    dimension_ids,
    node_ids,
    gains,
    thresholds,
    left_node_contribs,
    right_node_contribs,
    split_types,
    max_depth,
    learning_rate,
    pruning_mode,
    *,
    logits_dimension,
):
    ensemble = _created(tree_ensemble_handle)
    rate = np.float32(learning_rate.item())
    candidates = []
    for i, ids in enumerate(node_ids):
        columns = [dimension_ids[i], ids, gains[i], thresholds[i], split_types[i]]
        dimensions, nodes, gained, buckets, kinds = map(to_numpy, columns)
        features = _feature_of_each(feature_ids, i, len(node_ids), nodes.size)
        left, right = to_numpy(left_node_contribs[i]), to_numpy(right_node_contribs[i])
        _check_candidates(nodes.size, (left, right), features, dimensions, nodes, gained, buckets, kinds)
        if not 1 <= logits_dimension <= min(left.shape[1], right.shape[1]):
            raise errors.invalid_argument(
                f"There must be {logits_dimension} contributions for each node, but there are "
                f"{left.shape[1]} and {right.shape[1]}"
            )
        unknown = set(kinds.tolist()) - set(SPLIT_TYPES)
        if unknown:
            raise errors.invalid_argument(f"split_types must be of {SPLIT_TYPES}, but contain {unknown}")
        changes = (rate * side[:, :logits_dimension] for side in (left, right))
        rows = (gained, features, dimensions, buckets)
        splits = map(Split, *(column.tolist() for column in rows), *changes, kinds.tolist())
        candidates += zip(nodes.tolist(), splits, strict=True)
    ensemble.grow(_best_splits(candidates), logits_dimension, max_depth.item(), pruning_mode.item())


center_bias_op = _on_ensemble(
    "BoostedTreesCenterBias",
    ", mean_gradients: float, mean_hessians: float, l1: float, l2: float -> continue_centering: bool",
)


@center_bias_op.shape
def _center_bias_shape(tree_ensemble_handle, mean_gradients, mean_hessians, l1, l2):
    return _check_ranks([], [mean_gradients, mean_hessians], [l1, l2])


@center_bias_op.kernel
def _center_bias_kernel(tree_ensemble_handle, mean_gradients, mean_hessians, l1, l2):
    if not mean_gradients.numel() or not mean_hessians.numel():
        raise errors.invalid_argument("mean_gradients and mean_hessians must not be empty")
    means = (to_numpy(mean).reshape(-1)[:1] for mean in (mean_gradients, mean_hessians))
    logits, _ = weights_and_gains(*means, np.float32(l1.item()), np.float32(l2.item()))
    return torch.tensor(_created(tree_ensemble_handle).center_bias(logits[0]))


# ---------------------------------------------------------------------------------------------- predicting

_FEATURES = "bucketized_features: num_bucketized_features * int32"
_PREDICTING = {"num_bucketized_features": attr("int", minimum=1), "logits_dimension": attr("int")}


def _batch_of(features):
    for shape in features:
        of_rank(shape, 1)


def _features(columns: list[torch.Tensor], logits_dimension: int) -> Features:
    if any(column.ndim not in (1, 2) for column in columns):
        raise errors.invalid_argument("bucketized_features must be vectors or matrices")
    if logits_dimension < 1:
        raise errors.invalid_argument(f"logits_dimension must be positive, but it is {logits_dimension}")
    check_memory([len(columns[0]), logits_dimension], dtypes.float32)
    return features_of([to_numpy(column) for column in columns])


predict_op = _on_ensemble("BoostedTreesPredict", f", {_FEATURES} -> logits: float", **_PREDICTING)


@predict_op.shape
def _predict_shape(tree_ensemble_handle, bucketized_features, *, logits_dimension):
    _batch_of(bucketized_features)
    return [None, logits_dimension]


@predict_op.kernel
def _predict_kernel(tree_ensemble_handle, bucketized_features, *, logits_dimension):
    features = _features(bucketized_features, logits_dimension)
    return to_torch(_created(tree_ensemble_handle).predict(features, logits_dimension))


training_predict_op = _on_ensemble(
    "BoostedTreesTrainingPredict",
    f", cached_tree_ids: int32, cached_node_ids: int32, {_FEATURES} -> partial_logits: float, "
    "tree_ids: int32, node_ids: int32",
    **_PREDICTING,
)


@training_predict_op.shape
def _training_predict_shape(
    tree_ensemble_handle, cached_tree_ids, cached_node_ids, bucketized_features, *, logits_dimension
):
    _batch_of([cached_tree_ids, cached_node_ids, *bucketized_features])
    return [None, logits_dimension], [None], [None]


@training_predict_op.kernel
def _training_predict_kernel(
    tree_ensemble_handle, cached_tree_ids, cached_node_ids, bucketized_features, *, logits_dimension
):
    features = _features(bucketized_features, logits_dimension)
    trees, nodes = to_numpy(cached_tree_ids), to_numpy(cached_node_ids)
    if trees.shape != (features.batch,) or nodes.shape != (features.batch,):
        raise errors.invalid_argument(
            f"cached_tree_ids and cached_node_ids must have an element for each of {features.batch} "
            f"examples, but have shapes {list(trees.shape)} and {list(nodes.shape)}"
        )
    ensemble = _created(tree_ensemble_handle)
    logits, trees, nodes = ensemble.training_predict(trees, nodes, features, logits_dimension)
    return to_torch(logits), to_torch(trees), to_torch(nodes.astype(np.int32))


example_debug_outputs_op = _on_ensemble(
    "BoostedTreesExampleDebugOutputs",
    f", {_FEATURES} -> examples_debug_outputs_serialized: string",
    **_PREDICTING,
)


@example_debug_outputs_op.shape
def _example_debug_outputs_shape(tree_ensemble_handle, bucketized_features):
    _batch_of(bucketized_features)
    return [None]


@example_debug_outputs_op.kernel
def _example_debug_outputs_kernel(tree_ensemble_handle, bucketized_features, *, logits_dimension):
    if logits_dimension != 1:
        raise errors.invalid_argument("Currently only one dimensional outputs are supported.")
    outputs = _created(tree_ensemble_handle).debug_outputs(_features(bucketized_features, logits_dimension))
    return np.array([*outputs, None], object)[:-1]  # also of bytes, and of none, a vector of objects
