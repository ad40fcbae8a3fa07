"""Sums of gradients: dense gradients by AddN, IndexedSlices by concatenation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.ops.arrays import joining
from tideflow.ops.math import adding, casting, segments

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, Gradient


@export("AggregationMethod")
class AggregationMethod:
    """Ways to sum the gradients of a tensor that several operations use.

    Attributes:
      ADD_N: One AddN operation of all gradients.
      DEFAULT: The same as `ADD_N`.
      EXPERIMENTAL_TREE: AddN operations of two gradients each, which need less memory at a time.
      EXPERIMENTAL_ACCUMULATE_N: `tf.accumulate_n` where the static shape is fully known, AddN elsewhere.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def checked_method(method: int | None) -> int:
    """The way in which gradients are summed; ValueError for one that is not there."""
    method = AggregationMethod.DEFAULT if method is None else method
    if method not in (
        AggregationMethod.ADD_N,
        AggregationMethod.EXPERIMENTAL_TREE,
        AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    ):
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    return method


def summed(grads: Sequence[Gradient], method: int | None, tensor: Tensor) -> Gradient:
    """The sum of at least two gradients of `tensor`."""
    slices = [grad for grad in grads if isinstance(grad, IndexedSlices)]
    if slices:
        return _summed_slices(slices) if len(slices) == len(grads) else _add_n(grads)
    if method == AggregationMethod.EXPERIMENTAL_TREE:
        with name_scope(f"{tensor.op.name}_gradient_sum"):
            return functools.reduce(lambda total, grad: _add_n([total, grad]), grads)
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and tensor.shape.is_fully_defined():
        total: Tensor = adding.accumulate_n(grads)
        return total
    if tensor.is_eager:
        return _add_n(grads)
    by_device: dict[str, list[Gradient]] = {}
    for grad in grads:
        by_device.setdefault(grad.device, []).append(grad)
    sums = [_add_beside_the_first(by_device[name]) for name in sorted(by_device)]
    return sums[0] if len(sums) == 1 else _add_n(sums)


def _add_beside_the_first(grads: Sequence[Gradient]) -> Tensor:
    with colocate_with(grads[0].op, ignore_existing=True):
        return _add_n(grads)


def _add_n(grads: Sequence[Gradient]) -> Tensor:
    total: Tensor = adding.add_n(grads)
    return total


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
    value: IndexedSlices, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for IndexedSlices with dtype "
            f"{value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    rows: Tensor = segments.unsorted_segment_sum(value.values, value.indices, value.dense_shape[0], name=name)
    return rows


register_tensor_conversion_function(IndexedSlices, _slices_to_tensor)
