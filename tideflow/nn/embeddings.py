"""Embeddings: rows of tables, which may be cut into several parts, looked up by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import bfloat16, float16, float32, int32
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.graph.shapes import TensorShape, dimension_value, unknown_shape
from tideflow.ops.arrays import constants, creation, distinct, indexing, joining, shapes, slicing, tiling
from tideflow.ops.arrays.stitching import dynamic_partition, parallel_dynamic_stitch_op
from tideflow.ops.math import binary, casting, clipping, powers, reductions, segments, unary
from tideflow.ops.sparse import construction, sparse_segments
from tideflow.ops.sparse import parts as sparse_parts
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.resource import ResourceVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("nn.embedding_lookup")
def embedding_lookup(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """Looks up rows of an embedding table.

    Args:
      params: The table: a tensor or a variable, or a list of its parts.
      ids: The indices of the rows.
      partition_strategy: How rows are distributed over n parts: `"mod"` puts row i into part `i % n`, `"div"`
        puts consecutive rows into one part.
      name: The name of the operation.
      validate_indices: Has no effect.
      max_norm: If given, each row is scaled down to this L2 norm.

    Returns:
      A tensor of shape `shape(ids) + shape(params)[1:]`.

    Raises:
      ValueError: If `params` is empty.
    """
    tables = _as_list(params)
    with name_scope(name, "embedding_lookup", [*tables, ids]) as name:
        if not any(isinstance(table, ResourceVariable) for table in tables):
            tables = [convert_to_tensor(table, name=f"params_{i}") for i, table in enumerate(tables)]
        ids = convert_to_tensor(ids, name="ids")
        if len(tables) == 1:
            with colocate_with(tables[0]):
                rows = _clipped(indexing.gather(tables[0], ids, name=name), ids, max_norm)
            return constants.identity(rows)
        return _from_parts(tables, ids, partition_strategy, max_norm, name)


def _as_list(params: Any) -> list[Any]:
    if params is None:
        raise ValueError("params must be specified")
    tables = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    if not tables:
        raise ValueError("Need at least one param")
    return tables


def _clipped(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    """Rows with a larger norm than `max_norm`, scaled down to it."""
    if max_norm is None:
        return rows
    first, end = ids.shape.ndims, rows.shape.ndims
    axes = (
        creation.range(shapes.rank(ids), shapes.rank(rows)) if None in (first, end) else [*range(first, end)]
    )
    return clipping.clip_by_norm(rows, max_norm, axes=axes)


def _from_parts(tables: list[Any], ids: Tensor, strategy: str, max_norm: float | None, name: str) -> Tensor:
    flat = shapes.reshape(ids, [-1])
    places = creation.range(shapes.size(flat))
    part, row = _part_and_row(tables, flat, strategy)
    part = casting.cast(part, int32)
    rows = dynamic_partition(row, part, len(tables))
    places = dynamic_partition(places, part, len(tables))
    found = []
    for table, wanted in zip(tables, rows):
        with colocate_with(table):
            found.append(indexing.gather(table, wanted))
    result = parallel_dynamic_stitch_op(places, found, name=name)
    inner = _row_shape(tables)
    sizes = inner.as_list() if inner.is_fully_defined() else shapes.shape(tables[0])[1:]
    result = shapes.reshape(result, joining.concat([shapes.shape(ids), sizes], 0))
    result.set_shape(ids.shape.concatenate(inner))
    return _clipped(result, ids, max_norm)


def _row_shape(tables: Sequence[Any]) -> TensorShape:
    shape = TensorShape(None)
    for table in tables:
        shape = shape.merge_with(table.shape[1:])
    return shape


def _part_and_row(tables: list[Any], ids: Tensor, strategy: str) -> tuple[Tensor, Tensor]:
    """Which part has each id, and in which row."""
    count = len(tables)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError(f"Unrecognized partition strategy: {strategy}")
    total = _total_rows(tables, ids.dtype.base_dtype)
    each, longer = total // count, total % count  # the first `longer` parts have a row more
    part = binary.maximum(ids // (each + 1), (ids - longer) // each)
    row = indexing.where(part < longer, ids % (each + 1), (ids - longer) % each)
    return part, row


def _total_rows(tables: list[Any], dtype: Any) -> Tensor:
    sizes = [dimension_value(table.shape[0]) if table.shape.ndims else None for table in tables]
    if None not in sizes:
        return constants.constant(sum(sizes), dtype)
    for i, table in enumerate(tables):
        if sizes[i] is None:
            with colocate_with(table):
                sizes[i] = shapes.shape(table)[0]
    return reductions.reduce_sum(casting.cast(joining.stack(sizes), dtype))


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """Looks up rows of an embedding table by sparse ids, and combines those of each row.

    Args:
      params: The table: a tensor or a variable, or a list of its parts.
      sp_ids: A sparse matrix of ids.
      sp_weights: A sparse matrix of weights with the same indices; all weights are 1 if None.
      partition_strategy: How rows are distributed over parts, `"mod"` or `"div"`.
      name: The name of the operation.
      combiner: `"sum"`, `"mean"` (the weighted sum divided by the sum of weights) or `"sqrtn"` (divided by
        the root of the sum of squared weights).
      max_norm: If given, each row is scaled down to this L2 norm before they are combined.

    Returns:
      A dense tensor with a row for each row of `sp_ids`.

    Raises:
      TypeError: If ids or weights are not sparse tensors.
      ValueError: If `combiner` is not valid.
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    _check_sparse(sp_ids, sp_weights)
    tables = _as_list(params)
    with name_scope(name, "embedding_lookup_sparse", [*tables, sp_ids]) as name:
        rows = casting.cast(sp_ids.indices[:, 0], int32)
        ids, places = distinct.unique(sp_ids.values)
        found = embedding_lookup(tables, ids, partition_strategy, max_norm=max_norm)
        if found.dtype.base_dtype in (float16, bfloat16):
            found = casting.cast(found, float32)
        if sp_weights is not None:
            found = indexing.gather(found, places)
            return _weighted_rows(found, sp_weights.values, rows, combiner, name)
        combine = {
            "sum": sparse_segments.sparse_segment_sum,
            "mean": sparse_segments.sparse_segment_mean,
            "sqrtn": sparse_segments.sparse_segment_sqrt_n,
        }
        return combine[combiner](found, places, rows, name=name)


def _check_sparse(ids: Any, weights: Any) -> None:
    if not isinstance(ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if weights is None:
        return
    if not isinstance(weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    for part in ("values", "indices", "dense_shape"):
        getattr(ids, part).shape.assert_is_compatible_with(getattr(weights, part).shape)


def _weighted_rows(found: Tensor, weights: Tensor, rows: Tensor, combiner: str, name: str) -> Tensor:
    weights = casting.cast(weights, found.dtype.base_dtype)
    ones = creation.fill(shapes.expand_dims(shapes.rank(found) - 1, 0), 1)
    known = weights.shape
    weights = shapes.reshape(weights, joining.concat([shapes.shape(weights), ones], 0))
    if found.shape.ndims is not None:
        weights.set_shape(known.concatenate([1] * (found.shape.ndims - 1)))
    found *= weights
    if combiner == "sum":
        return segments.segment_sum(found, rows, name=name)
    total = segments.segment_sum(found, rows)
    if combiner == "mean":
        return binary.div(total, segments.segment_sum(weights, rows), name=name)
    squares = segments.segment_sum(powers.pow(weights, 2), rows)
    return binary.div(total, unary.sqrt(squares), name=name)


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = "mean",
    default_id: TensorLike | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """Looks up rows of an embedding table by sparse ids that may be invalid or missing.

    Ids below 0 are removed, and so are ids with a weight of 0 or less, unless they are summed.

    Args:
      embedding_weights: The table: a tensor or a variable, or a list of its parts.
      sparse_ids: A sparse tensor of ids, of any rank. The ids along its last axis are combined.
      sparse_weights: A sparse tensor of weights with the same indices.
      combiner: `"sum"`, `"mean"` or `"sqrtn"`.
      default_id: The id whose row is used if there are no ids; zeros if None.
      name: The name of the operation.
      partition_strategy: How rows are distributed over parts, `"mod"` or `"div"`.
      max_norm: If given, each row is scaled down to this L2 norm before they are combined.

    Returns:
      A dense tensor.

    Raises:
      ValueError: If the table is empty, or the types differ.
    """
    tables = safe_tables(embedding_weights, sparse_weights)
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids.values]) as scope:
        sizes = sparse_ids.dense_shape
        known_rank = dimension_value(sizes.shape[0])
        last = (shapes.size(sizes) if known_rank is None else known_rank) - 1
        rows = reductions.reduce_prod(slicing.slice(sizes, [0], [last]))
        sparse_ids = construction.sparse_reshape(sparse_ids, [rows, indexing.gather(sizes, last)])
        if sparse_weights is not None:
            sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _that_count(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = sparse_parts.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_parts.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            tables,
            sparse_ids,
            sparse_weights,
            partition_strategy,
            None if default_id is None else scope,
            combiner,
            max_norm,
        )
        if default_id is None:
            result = _zeros_where(is_empty, result, scope)
        leading = slicing.slice(casting.cast(sizes, int32), [0], [last])
        inner = slicing.slice(shapes.shape(result), [1], [-1])
        final = shapes.reshape(result, joining.concat([leading, inner], 0))
        outer = unknown_shape(None if known_rank is None else known_rank - 1)
        final.set_shape(outer.concatenate(result.shape[1:]))
        return final


def safe_tables(tables: Any, weights: SparseTensor | None) -> list[Any]:
    """The parts of the table, of the weights' type."""
    parts = list(tables) if isinstance(tables, (list, PartitionedVariable)) else [tables]
    if tables is None or not parts:
        raise ValueError(f"Missing embedding_weights {tables}.")
    dtype = None if weights is None else weights.dtype
    return [
        part
        if isinstance(part, ResourceVariable) and dtype in (None, part.dtype)
        else convert_to_tensor(part, dtype=dtype)
        for part in parts
    ]


def _that_count(
    ids: SparseTensor, weights: SparseTensor | None, combiner: str | None
) -> tuple[SparseTensor, SparseTensor | None]:
    """Without ids below 0, and, where weights are divided by, without those that are not above 0."""
    valid = binary.greater_equal(ids.values, 0)
    if weights is None:
        return construction.sparse_retain(ids, valid), None
    valid = binary.logical_and(valid, creation.ones_like(weights.values, dtype=dtypes.bool))
    ids, weights = construction.sparse_retain(ids, valid), construction.sparse_retain(weights, valid)
    if combiner == "sum":
        return ids, weights
    valid = binary.greater(weights.values, 0)
    return construction.sparse_retain(ids, valid), construction.sparse_retain(weights, valid)


def _zeros_where(is_empty: Tensor, rows: Tensor, name: str) -> Tensor:
    wide = tiling.tile(shapes.reshape(is_empty, [-1, 1]), joining.stack([1, shapes.shape(rows)[1]]))
    return indexing.where(wide, creation.zeros_like(rows), rows, name=name)
