"""What models take of columns: their vectors side by side, or a weighted sum of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.layers.columns.base import Ids, OldColumn, Tensors, of_rank, table
from tideflow.contrib.layers.columns.parsing import in_order
from tideflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from tideflow.export import export
from tideflow.feature_column.base import Weights
from tideflow.graph.composite import SparseTensor
from tideflow.graph.nest import map_structure
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.math.adding import add_n
from tideflow.ops.nn.activations import bias_add
from tideflow.ops.sparse.parts import sparse_concat
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.layers.input_from_feature_columns")
def input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    cols_to_outs: dict | None = None,
) -> Tensor:
    """Concatenates the vectors of columns to a matrix, in the order of their keys.

    Args:
      columns_to_tensors: The tensors of features by name, and of columns that were transformed already.
      feature_columns: The columns.
      weight_collections: The collections that variables are added to.
      trainable: Whether optimizers change the variables by default.
      scope: The variable scope; named after the function if None.
      cols_to_outs: A dictionary that gets the tensor of each column.

    Returns:
      A tensor [batch, elements].

    Raises:
      ValueError: If a column has no vectors.
    """
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    weights = Weights(weight_collections, trainable)
    return _side_by_side(
        columns_to_tensors, feature_columns, weights, scope, "input_from_feature_columns", 2, cols_to_outs
    )


@export("contrib.layers.sequence_input_from_feature_columns")
def sequence_input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Concatenates the vectors of columns for every step of sequences.

    Args:
      columns_to_tensors: The tensors of features by name, and of columns that were transformed already.
      feature_columns: The columns: one-hot, embedding or real-valued ones.
      weight_collections: The collections that variables are added to.
      trainable: Whether optimizers change the variables by default.
      scope: The variable scope; named after the function if None.

    Returns:
      A tensor [batch, steps, elements].

    Raises:
      ValueError: If a column cannot stand for steps.
    """
    check_sequence_columns(feature_columns)
    weights = Weights(weight_collections, trainable)
    return _side_by_side(
        columns_to_tensors, feature_columns, weights, scope, "sequence_input_from_feature_columns", 3, None
    )


def check_sequence_columns(columns: Iterable[OldColumn]) -> None:
    """ValueError for a column that cannot stand for the steps of sequences."""
    for column in columns:
        if column.sequences != "supported":
            raise ValueError(
                f"FeatureColumn type _{type(column).__name__} is not currently supported for sequence data."
            )
    left = list(columns)
    while left:
        column = left.pop()
        if column.sequences == "forbidden":
            raise ValueError(
                f"Column {column.name} is of type _{type(column).__name__}, which is not currently supported "
                "for sequences."
            )
        left.extend(column.parents)


def _side_by_side(
    features: dict[Any, Any],
    feature_columns: Iterable[Any],
    weights: Weights,
    scope: Any,
    default_name: str,
    rank: int,
    outputs: dict | None,
) -> Tensor:
    columns, tensors = in_order(feature_columns), dict(features)
    with variable_scope(scope, default_name, values=list(tensors.values())):
        made = []
        for column in columns:
            with variable_scope(None, column.name, values=list(tensors.values())):
                tensor = Tensors(tensors).get(column)
                if rank == 3:
                    tensor = map_structure(lambda part, c=column: _of_known_rank(part, 3, c.name), tensor)
                made.append(_input_layer(column, tensor, weights, rank))
                if outputs is not None:
                    outputs[column] = made[-1]
        return joining.concat(made, rank - 1)


def _input_layer(column: OldColumn, tensor: Any, weights: Weights, rank: int) -> Tensor:
    try:
        return column.input_layer(tensor, weights, rank)
    except ValueError as error:
        raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from error


def _of_known_rank(tensor: Any, rank: int, name: str) -> Any:
    if not isinstance(tensor, SparseTensor) and tensor.shape.ndims is None:
        raise ValueError(f"Error while processing column {name}. Rank of input Tensor can not be None.")
    return of_rank(tensor, rank, name)


# ------------------------------------------------------------------------------------------- linear models


@export("contrib.layers.weighted_sum_from_feature_columns")
def weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, dict[Any, list[Any]], Any]:
    """Computes a weighted sum of columns and a bias: a linear model.

    Args:
      columns_to_tensors: The tensors of features by name, and of columns that were transformed already.
      feature_columns: The columns.
      num_outputs: The number of outputs.
      weight_collections: The collections that variables are added to.
      trainable: Whether optimizers change the variables by default.
      scope: The variable scope; named after the function if None.

    Returns:
      The sums, a tensor [batch, num_outputs]; a dictionary with a list of variables for each column; and the
      bias.

    Raises:
      ValueError: If a column has no place in a linear model.
    """
    columns, tensors = in_order(feature_columns), dict(columns_to_tensors)
    weights = Weights(weight_collections, trainable)
    with variable_scope(scope, "weighted_sum_from_feature_columns", values=list(tensors.values())):
        sums, variables = [], {}
        for column in columns:
            tensor = Tensors(tensors).get(column)
            try:
                ids = column.ids(tensor)
            except ValueError as error:
                raise ValueError(
                    f"Error creating weighted sum for column: {column.name}.\n{error}"
                ) from error
            with variable_scope(None, column.name, values=list(tensors.values())):
                if ids is None:
                    variables[column], product = _multiplied(column, tensor, num_outputs, weights)
                else:
                    variables[column], product = _looked_up(
                        ids, num_outputs, weights, f"{column.name}_weights"
                    )
            sums.append(shapes.reshape(product, (-1, num_outputs)))
            column.restore(variables[column])
        predictions, bias = _biased(add_n(sums), num_outputs, weights)
        return predictions, variables, bias


def _looked_up(ids: Ids, num_outputs: int, weights: Weights, name: str) -> tuple[list[Any], Tensor]:
    rows = table("weights", [ids.count, num_outputs], Zeros(), weights)
    sums = safe_embedding_lookup_sparse(
        rows, ids.ids, sparse_weights=ids.weights, combiner=ids.combiner, name=name
    )
    return rows, sums


def _multiplied(
    column: OldColumn, tensor: Any, num_outputs: int, weights: Weights
) -> tuple[list[Any], Tensor]:
    dense = _of_known_rank(column.dense(tensor), 2, column.name)
    weight = table("weight", [dense.shape[1], num_outputs], Zeros(), weights)
    return weight, matmul(dense, weight[0], name="matmul")


def _biased(sums: Tensor, num_outputs: int, weights: Weights) -> tuple[Tensor, Any]:
    (bias,) = table("bias_weight", [num_outputs], Zeros(), weights)
    return bias_add(sums, bias), bias


@export("contrib.layers.joint_weighted_sum_from_feature_columns")
def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, list[Any], Any]:
    """Computes a weighted sum of columns and a bias, with one variable for the weights of all columns.

    Args:
      columns_to_tensors: The tensors of features by name, and of columns that were transformed already.
      feature_columns: The columns, whose ids have no weights and are added.
      num_outputs: The number of outputs.
      weight_collections: The collections that variables are added to.
      trainable: Whether optimizers change the variables by default.
      scope: The variable scope; named after the function if None.

    Returns:
      The sums, a tensor [batch, num_outputs]; a list of the variable's parts; and the bias.

    Raises:
      NotImplementedError: If a column has no ids.
    """
    columns, tensors = in_order(feature_columns), dict(columns_to_tensors)
    weights = Weights(weight_collections, trainable)
    name = "joint_weighted_sum_from_feature_columns"
    with variable_scope(scope, name, values=list(tensors.values())):
        joined = _joined([column.ids(Tensors(tensors).get(column)) for column in columns])
        with variable_scope(None, "linear_weights", values=list(tensors.values())):
            variables, sums = _looked_up(joined, num_outputs, weights, "_weights")
        predictions, bias = _biased(sums, num_outputs, weights)
        return predictions, variables, bias


def _joined(each: list[Ids | None]) -> Ids:
    """The ids of all columns, those of a column behind those of the columns before it."""
    if not each:
        raise AssertionError("At least one column must be in the model.")
    moved, count = [], 0
    for part in each:
        if part is None:
            raise NotImplementedError(
                "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or "
                "bucketize these columns."
            )
        if part.weights is not None:
            raise AssertionError(
                "Joint sums for weighted sparse columns are not supported. Please use "
                "weighted_sum_from_feature_columns instead."
            )
        if part.combiner != "sum":
            raise AssertionError(
                "Combiners other than sum are not supported for joint sums. Please use "
                "weighted_sum_from_feature_columns instead."
            )
        moved.append(SparseTensor(part.ids.indices, part.ids.values + count, part.ids.dense_shape))
        count += part.count
    return Ids(sparse_concat(1, moved), None, count, "sum")
