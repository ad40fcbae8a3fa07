"""The ops of random forests, as functions under TensorFlow's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.forests import arrays, statistics, trees

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


@export("contrib.tensor_forest.model_ops.tree_size")
def tree_size(tree_handle: Tensor, name: str | None = None) -> Tensor:
    """Counts the nodes of a tree.

    Args:
      tree_handle: A tensor, the tree's handle.
      name: A name for the operation.

    Returns:
      A scalar of type int32.
    """
    return trees.tree_size_op(tree_handle, name=name)


@export("contrib.tensor_forest.model_ops.feature_usage_counts")
def feature_usage_counts(tree_handle: Tensor, params: bytes, name: str | None = None) -> Tensor:
    """Counts the splits by each feature.

    Args:
      tree_handle: A tensor, the tree's handle.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      A vector of type int32, with a count for each feature.
    """
    return trees.feature_usage_counts_op(tree_handle, params=params, name=name)


@export("contrib.tensor_forest.model_ops.traverse_tree_v4")
def traverse_tree_v4(
    tree_handle: Tensor,
    input_data: TensorLike,
    sparse_input_indices: TensorLike,
    sparse_input_values: TensorLike,
    sparse_input_shape: TensorLike,
    input_spec: str | bytes,
    params: bytes,
    name: str | None = None,
) -> Tensor:
    """Finds the leaf that each example comes to.

    Args:
      tree_handle: A tensor, the tree's handle.
      input_data: Dense features, a tensor [examples, features]; [] if there are none.
      sparse_input_indices: Where sparse features are, [values, 2]; [] if there are none.
      sparse_input_values: The sparse features; [] if there are none.
      sparse_input_shape: The number of examples and sparse features; [] if there are none.
      input_spec: What the columns are, a serialized TensorForestDataSpec.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      The numbers of the leaves, a vector of type int32.
    """
    inputs = input_data, sparse_input_indices, sparse_input_values, sparse_input_shape
    return trees.traverse_tree_op(tree_handle, *inputs, input_spec=input_spec, params=params, name=name)


@export("contrib.tensor_forest.model_ops.tree_predictions_v4")
def tree_predictions_v4(
    tree_handle: Tensor,
    input_data: TensorLike,
    sparse_input_indices: TensorLike,
    sparse_input_values: TensorLike,
    sparse_input_shape: TensorLike,
    input_spec: str | bytes,
    params: bytes,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Asks a tree for predictions.

    Args:
      tree_handle: A tensor, the tree's handle.
      input_data: Dense features, a tensor [examples, features]; [] if there are none.
      sparse_input_indices: Where sparse features are, [values, 2]; [] if there are none.
      sparse_input_values: The sparse features; [] if there are none.
      sparse_input_shape: The number of examples and sparse features; [] if there are none.
      input_spec: What the columns are, a serialized TensorForestDataSpec.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      `predictions`, shares of classes or means, [examples, outputs]; and `tree_paths`, serialized messages of
      the nodes gone through, where the parameters ask for them.
    """
    inputs = input_data, sparse_input_indices, sparse_input_values, sparse_input_shape
    return trees.tree_predictions_op(tree_handle, *inputs, input_spec=input_spec, params=params, name=name)


@export("contrib.tensor_forest.model_ops.update_model_v4")
def update_model_v4(
    tree_handle: Tensor,
    leaf_ids: TensorLike,
    input_labels: TensorLike,
    input_weights: TensorLike,
    params: bytes,
    name: str | None = None,
) -> Operation:
    """Adds examples to the counts of the leaves that they came to.

    Args:
      tree_handle: A tensor, the tree's handle.
      leaf_ids: The leaves of the examples, a vector of type int32.
      input_labels: Their labels, a tensor of type float32.
      input_weights: Their weights, a vector; [] if each counts once.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return trees.update_model_op(tree_handle, leaf_ids, input_labels, input_weights, params=params, name=name)


@export("contrib.tensor_forest.stats_ops.process_input_v4")
def process_input_v4(
    tree_handle: Tensor,
    stats_handle: Tensor,
    input_data: TensorLike,
    sparse_input_indices: TensorLike,
    sparse_input_values: TensorLike,
    sparse_input_shape: TensorLike,
    input_labels: TensorLike,
    input_weights: TensorLike,
    leaf_ids: TensorLike,
    random_seed: int,
    input_spec: str | bytes,
    params: bytes,
    name: str | None = None,
) -> Tensor:
    """Brings what leaves know up to date with examples: splits are found, and counted by.

    Args:
      tree_handle: A tensor, the tree's handle.
      stats_handle: A tensor, the handle of its statistics.
      input_data: Dense features, a tensor [examples, features]; [] if there are none.
      sparse_input_indices: Where sparse features are, [values, 2]; [] if there are none.
      sparse_input_values: The sparse features; [] if there are none.
      sparse_input_shape: The number of examples and sparse features; [] if there are none.
      input_labels: Labels, a tensor of type float32.
      input_weights: Weights, a vector; [] if each example counts once.
      leaf_ids: The leaves of the examples, a vector of type int32.
      random_seed: The seed of features that are chosen; 0 for none.
      input_spec: What the columns are, a serialized TensorForestDataSpec.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      The numbers of the leaves that can be split, a vector of type int32.
    """
    inputs = input_data, sparse_input_indices, sparse_input_values, sparse_input_shape
    seen = input_labels, input_weights, leaf_ids
    return statistics.process_input_op(
        tree_handle,
        stats_handle,
        *inputs,
        *seen,
        random_seed=random_seed,
        input_spec=input_spec,
        params=params,
        name=name,
    )


@export("contrib.tensor_forest.stats_ops.grow_tree_v4")
def grow_tree_v4(
    tree_handle: Tensor,
    stats_handle: Tensor,
    finished_nodes: TensorLike,
    params: bytes,
    name: str | None = None,
) -> Operation:
    """Splits leaves by their best splits.

    Args:
      tree_handle: A tensor, the tree's handle.
      stats_handle: A tensor, the handle of its statistics.
      finished_nodes: The numbers of the leaves, a vector of type int32.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return statistics.grow_tree_op(tree_handle, stats_handle, finished_nodes, params=params, name=name)


@export("contrib.tensor_forest.stats_ops.finalize_tree")
def finalize_tree(
    tree_handle: Tensor, stats_handle: Tensor, params: bytes, name: str | None = None
) -> Operation:
    """An operation that TensorFlow 1.15 has disabled: running it is an error.

    Args:
      tree_handle: A tensor, the tree's handle.
      stats_handle: A tensor, the handle of its statistics.
      params: The forest's serialized TensorForestParams.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return statistics.finalize_tree_op(tree_handle, stats_handle, params=params, name=name)


@export("contrib.tensor_forest.tensor_forest_ops.reinterpret_string_to_float")
def reinterpret_string_to_float(input_data: TensorLike, name: str | None = None) -> Tensor:
    """Makes a number of each string, its hash, so that equal strings are equal numbers.

    Args:
      input_data: A tensor of strings.
      name: A name for the operation.

    Returns:
      A tensor of type float32.
    """
    return arrays.strings_as_numbers_op(input_data, name=name)


@export("contrib.tensor_forest.tensor_forest_ops.scatter_add_ndim")
def scatter_add_ndim(
    input: VariableLike, indices: TensorLike, deltas: TensorLike, name: str | None = None
) -> Operation:
    """Adds to elements or slices of a variable.

    Args:
      input: A reference variable of type float32.
      indices: Where to add, a matrix of type int32 with a row for each place.
      deltas: What to add, a tensor with an element or slice for each place.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return arrays.scatter_add_ndim_op(input, indices, deltas, name=name)


@export("contrib.tensor_forest.tensor_forest_ops.ReinterpretStringToFloat")
def ReinterpretStringToFloat(*, input_data: TensorLike, name: str | None = None) -> Tensor:
    """`reinterpret_string_to_float` with arguments by name, as functions of raw ops have them.

    Args:
      input_data: A tensor of strings.
      name: A name for the operation.

    Returns:
      A tensor of type float32.
    """
    return reinterpret_string_to_float(input_data, name)


@export("contrib.tensor_forest.tensor_forest_ops.ScatterAddNdim")
def ScatterAddNdim(
    *, input: VariableLike, indices: TensorLike, deltas: TensorLike, name: str | None = None
) -> Operation:
    """`scatter_add_ndim` with arguments by name, as functions of raw ops have them.

    Args:
      input: A reference variable of type float32.
      indices: Where to add, a matrix of type int32 with a row for each place.
      deltas: What to add, a tensor with an element or slice for each place.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return scatter_add_ndim(input, indices, deltas, name)


@export("contrib.tensor_forest.tensor_forest_ops.reinterpret_string_to_float_eager_fallback")
def reinterpret_string_to_float_eager_fallback(
    input_data: TensorLike, name: str | None = None, ctx: object = None
) -> Tensor:
    """`reinterpret_string_to_float`, as TensorFlow's generated code calls it in eager mode.

    Args:
      input_data: A tensor of strings.
      name: A name for the operation.
      ctx: Not used.

    Returns:
      A tensor of type float32.
    """
    return reinterpret_string_to_float(input_data, name)


@export("contrib.tensor_forest.tensor_forest_ops.scatter_add_ndim_eager_fallback")
def scatter_add_ndim_eager_fallback(
    input: VariableLike,
    indices: TensorLike,
    deltas: TensorLike,
    name: str | None = None,
    ctx: object = None,
) -> Operation:
    """Refuses: the op changes a reference, which eager mode has none of.

    Args:
      input: A reference variable of type float32.
      indices: Where to add.
      deltas: What to add.
      name: A name for the operation.
      ctx: Not used.

    Raises:
      RuntimeError: Always, as in TensorFlow.
    """
    raise RuntimeError("scatter_add_ndim op does not support eager execution. Arg 'input' is a ref.")
