"""Embeddings: rows of tables, which may be cut into several parts, looked up by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import bfloat16, float16, float32, int32
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops import (
    binary,
    casting,
    clipping,
    constants,
    creation,
    indexing,
    joining,
    reductions,
    segments,
    shapes,
    unary,
)
from tideflow.ops import sparse_segments as sparse
from tideflow.ops.stitching import dynamic_partition, parallel_dynamic_stitch_op
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.resource import ResourceVariable


@export("nn.embedding_lookup")
def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """The rows `ids` of a table, or of one that is cut into a list of parts; clipped to `max_norm` if given.

    Row i of a table of n parts is row i // n of part i % n ("mod"), or the parts are consecutive ("div").
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
    sizes = [table.shape.as_list()[0] for table in tables]
    if None not in sizes:
        return constants.constant(sum(sizes), dtype)
    known = [shapes.shape(table)[0] if size is None else size for size, table in zip(sizes, tables)]
    return reductions.reduce_sum(casting.cast(joining.stack(known), dtype))


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """For each row of sparse ids, the combination of the rows of a table that they name.

    They are added ("sum"), and divided by the sum of weights ("mean") or by the root of their squares' sum
    ("sqrtn").
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    _check_sparse(sp_ids, sp_weights)
    tables = _as_list(params)
    with name_scope(name, "embedding_lookup_sparse", [*tables, sp_ids]) as name:
        rows = casting.cast(sp_ids.indices[:, 0], int32)
        ids, places = indexing.unique(sp_ids.values)
        found = embedding_lookup(tables, ids, partition_strategy, max_norm=max_norm)
        if found.dtype.base_dtype in (float16, bfloat16):
            found = casting.cast(found, float32)
        if sp_weights is not None:
            found = indexing.gather(found, places)
            return _weighted_rows(found, sp_weights.values, rows, combiner, name)
        combine = {"sum": sparse.sparse_segment_sum, "mean": sparse.sparse_segment_mean}
        return combine.get(combiner, sparse.sparse_segment_sqrt_n)(found, places, rows, name=name)


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
    squares = segments.segment_sum(binary.pow(weights, 2), rows)
    return binary.div(total, unary.sqrt(squares), name=name)
