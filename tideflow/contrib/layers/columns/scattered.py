"""Embeddings without a table of their own for each value: their numbers lie scattered over one vector."""

from __future__ import annotations

from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import creation, distinct, indexing, joining, shapes, tiling
from tideflow.ops.arrays.constants import constant
from tideflow.ops.control_flow.debugging import Assert
from tideflow.ops.math import binary, casting, reductions, segments
from tideflow.ops.sparse import feature_crosses, parts, sparse_segments, with_dense
from tideflow.variables.partitioned import PartitionedVariable

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
    params: Any, values: Any, dimension: int, hash_key: int | None = None, name: str | None = None
) -> Tensor:
    """A vector for each value: its elements stand in `params` at hashes of the value and their number."""
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return _sampled_scattered_embedding_lookup(params, values, dimension, None, hash_key, name)


def _sampled_scattered_embedding_lookup(
    params: Any,
    values: Any,
    dimension: int | None = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    name: str | None = None,
) -> Tensor:
    """All elements of the vector of each value, or those with the numbers `sampled_candidates`."""
    params = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    with name_scope(name, "scattered_embedding_lookup", [*params, values]):
        sizes = [part.shape.as_list()[0] for part in params]
        total = sum(sizes)
        for i, size in enumerate(sizes):
            expected = (total - i - 1) // len(sizes) + 1
            if size != expected:
                raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
        given = shapes.shape(values)
        flat = shapes.reshape(values, [-1, 1])
        numbers, dimension = _numbers(given, flat, dimension, sampled_candidates)
        places = feature_crosses.sparse_feature_cross(
            [numbers, flat], hashed_output=True, num_buckets=total, hash_key=hash_key
        )
        found = embedding_lookup(params, with_dense.sparse_tensor_to_dense(places), partition_strategy="div")
        return shapes.reshape(found, joining.concat([given, [dimension]], 0))


def _numbers(given: Tensor, flat: Tensor, dimension: int | None, candidates: Any) -> tuple[Tensor, Any]:
    """The numbers of the elements that are looked up, a row for each value, and how many these are."""
    if candidates is None:
        if dimension is None:
            raise ValueError("You must specify either dimension or sampled_candidates.")
        if dimension <= 0:
            raise ValueError(f"Dimension must be >0. Given is {dimension}")
        each = shapes.expand_dims(creation.range(0, dimension), 0)
        return tiling.tile(each, shapes.shape(flat)), dimension
    found = shapes.shape(candidates)
    count = found[-1]
    fits = reductions.reduce_all(binary.equal(found, joining.concat([given, [count]], 0)))
    words = ["The shape of sampled_candidates: ", found, " does not match the shape of values: ", given]
    with control_dependencies([Assert(fits, words)]):
        return shapes.reshape(candidates, [-1, count]), count


def _sampled_scattered_embedding_lookup_sparse(
    params: Any,
    sp_values: SparseTensor,
    dimension: int | None = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    with_sign_hash: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sums of the vectors of each row's values, or of those elements that `sampled_candidates` names."""
    if not isinstance(sp_values, SparseTensor):
        raise TypeError("sp_values must be SparseTensor")
    with name_scope(name, "sampled_scattered_embedding_lookup_sparse", [sp_values]) as scope:
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            sampled_candidates = indexing.gather(sampled_candidates, rows)
        asked = (sp_values.values, dimension, sampled_candidates, hash_key)
        vectors = _sampled_scattered_embedding_lookup(params, *asked, name="values_lookup")
        if with_sign_hash:
            signs = _sampled_scattered_embedding_lookup(constant([-1.0, 1.0]), *asked, name="signs_lookup")
            vectors = binary.multiply(signs, vectors, name="signs_hash")
        return segments.segment_sum(vectors, casting.cast(rows, dtypes.int32), name=scope)


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
