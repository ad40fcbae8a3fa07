"""Sums of gradients: dense ones by AddN, sparse rows by concatenation."""

from __future__ import annotations

import functools
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.ops.arrays import joining
from tideflow.ops.math import casting, reductions, segments


@export("AggregationMethod")
class AggregationMethod:
    """Ways to sum the gradients that meet at one tensor."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def summed(grads: list[Any], method: int | None, tensor: Tensor) -> Any:
    """The sum of at least two gradients of one tensor."""
    method = AggregationMethod.DEFAULT if method is None else method
    if method not in (
        AggregationMethod.ADD_N,
        AggregationMethod.EXPERIMENTAL_TREE,
        AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    ):
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    if any(isinstance(grad, IndexedSlices) for grad in grads):
        return reductions.add_n(grads) if any(isinstance(g, Tensor) for g in grads) else _summed_slices(grads)
    if method == AggregationMethod.EXPERIMENTAL_TREE:
        return _summed_in_pairs(grads, f"{tensor.op.name}_gradient_sum")
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and tensor.shape.is_fully_defined():
        return reductions.accumulate_n(grads)
    with colocate_with(grads[0].op, ignore_existing=True):
        return reductions.add_n(grads)


def _summed_in_pairs(grads: list[Any], name: str) -> Tensor:
    with name_scope(name):
        return functools.reduce(lambda total, grad: reductions.add_n([total, grad]), grads)


def _summed_slices(slices: list[IndexedSlices]) -> IndexedSlices:
    if len({s.indices.dtype for s in slices}) > 1:
        slices = [
            IndexedSlices(s.values, casting.cast(s.indices, dtypes.int64), s.dense_shape) for s in slices
        ]
    return IndexedSlices(
        joining.concat([s.values for s in slices], 0),
        joining.concat([s.indices for s in slices], 0),
        slices[0].dense_shape,
    )


def _slices_to_tensor(
    value: IndexedSlices, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for IndexedSlices with dtype "
            f"{value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    return segments.unsorted_segment_sum(value.values, value.indices, value.dense_shape[0], name=name)


register_tensor_conversion_function(IndexedSlices, _slices_to_tensor)
