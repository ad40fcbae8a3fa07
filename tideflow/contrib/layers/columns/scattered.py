"""Embeddings without a table of their own for each value: their numbers lie scattered over one vector."""

from __future__ import annotations

from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import creation, distinct, joining, shapes, tiling
from tideflow.ops.math import casting
from tideflow.ops.sparse import feature_crosses, parts, sparse_segments, with_dense

_COMBINERS = {
    "sum": sparse_segments.sparse_segment_sum,
    "mean": sparse_segments.sparse_segment_mean,
    "sqrtn": sparse_segments.sparse_segment_sqrt_n,
}
_TEXT_OF_NO_VALUE = "6ZxWzWOHxZ"
_NUMBER_OF_NO_VALUE = 1288896567


def check_combiner(combiner: str, of: str = "") -> None:
    """The vectors of an example are added, or divided by their number or its root as well."""
    if combiner not in _COMBINERS:
        raise ValueError(f"Combiner must be one of 'mean', 'sqrtn' or 'sum'.{of}")


def scattered_embedding_lookup(
    params: list[Any], values: Any, dimension: int, hash_key: int | None = None, name: str | None = None
) -> Tensor:
    """A vector for each value: its elements stand in `params` at hashes of the value and their number."""
    with name_scope(name, "scattered_embedding_lookup", [*params, values]):
        sizes = [part.shape.as_list()[0] for part in params]
        total = sum(sizes)
        for i, size in enumerate(sizes):
            expected = (total - i - 1) // len(sizes) + 1
            if size != expected:
                raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
        given = shapes.shape(values)
        flat = shapes.reshape(values, [-1, 1])
        numbers = tiling.tile(shapes.expand_dims(creation.range(dimension), 0), shapes.shape(flat))
        places = feature_crosses.sparse_feature_cross(
            [numbers, flat], hashed_output=True, num_buckets=total, hash_key=hash_key
        )
        found = embedding_lookup(params, with_dense.sparse_tensor_to_dense(places), partition_strategy="div")
        return shapes.reshape(found, joining.concat([given, [dimension]], 0))


def scattered_embedding_lookup_sparse(
    params: list[Any],
    values: SparseTensor,
    dimension: int,
    combiner: str,
    name: str | None,
    hash_key: int | None,
    default_value: Any = None,
) -> Tensor:
    """The vectors of a sparse tensor's values, combined for each row; a row without values has one too."""
    check_combiner(combiner)
    with name_scope(name, "scattered_embedding_lookup_sparse", [*params, values]) as scope:
        nothing = _TEXT_OF_NO_VALUE if values.dtype == dtypes.string else _NUMBER_OF_NO_VALUE
        values, _ = parts.sparse_fill_empty_rows(values, nothing if default_value is None else default_value)
        rows = casting.cast(values.indices[:, 0], dtypes.int32)
        unique, places = distinct.unique(values.values)
        vectors = scattered_embedding_lookup(params, unique, dimension, hash_key)
        return _COMBINERS[combiner](vectors, places, rows, name=scope)
