"""Elements in order: sort, argsort, and places in a sorted sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, ranking, scatter, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDEX

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

# ---------------------------------------------------------------------------------- places


def _bound(name: str) -> Op:
    return Op(
        name,
        "sorted_inputs: T, values: T -> output: out_type",
        out_type=INDEX,
        differentiable=False,
    )


def shape_of_values(sorted_inputs, values):
    """The shape rule of both."""
    of_rank(sorted_inputs, 2)
    return of_rank(values, 2)


def _places(sorted_inputs: torch.Tensor, values: torch.Tensor, side: str, dtype: Any) -> torch.Tensor:
    if len(sorted_inputs) != len(values):
        raise errors.invalid_argument(
            f"Leading dim_size of both tensors must match, but are {len(sorted_inputs)} and {len(values)}.",
        )
    rows, wanted = unsigned.comparable(sorted_inputs).contiguous(), unsigned.comparable(values).contiguous()
    return torch.searchsorted(rows, wanted, side=side).to(dtype.torch)


def _row_by_row(side: str) -> Any:
    """NumPy's places, one row after the other."""

    def reference(rows, values, out_type):
        found = [np.searchsorted(row, wanted, side) for row, wanted in zip(rows, values, strict=True)]
        return np.array(found, out_type.as_numpy_dtype).reshape(values.shape)

    return reference


_ROWS = np.array([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]], np.float32)
_VALUES = np.array([[2, 4, 9], [0, 2, 6]], np.float32)
SAMPLES = (
    (_ROWS, _VALUES),
    (_ROWS.astype(np.uint16), _VALUES.astype(np.uint16), {"out_type": dtypes.int64}),
    (f32(2, 0), f32(2, 3)),
    (f32(2, 3), f32(2, 0)),
)


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2), f32(2, 3)), "Shape must be rank 2 but is rank 1")
    op.refuses((f32(2, 3), f32(1, 3)), "Leading dim_size of both tensors must match", InvalidArgumentError)


lower_bound_op = _bound("LowerBound")
lower_bound_op.shape(shape_of_values)


@lower_bound_op.kernel
def _lower_bound_kernel(sorted_inputs, values, *, out_type):
    return _places(sorted_inputs, values, "left", out_type)


lower_bound_op.samples(*SAMPLES, against=_row_by_row("left"))
_add_refusals(lower_bound_op)

upper_bound_op = _bound("UpperBound")
upper_bound_op.shape(shape_of_values)


@upper_bound_op.kernel
def _upper_bound_kernel(sorted_inputs, values, *, out_type):
    return _places(sorted_inputs, values, "right", out_type)


upper_bound_op.samples(*SAMPLES, against=_row_by_row("right"))
_add_refusals(upper_bound_op)


@export("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Finds where values belong in sorted rows.

    Args:
      sorted_sequence: A tensor whose rows, along its last axis, are sorted.
      values: The values to find a place for, a tensor of the same type with as many rows.
      side: "left": before elements that are equal; "right": after them.
      out_type: The type of the places, int32 or int64.
      name: A name for the operation.

    Returns:
      A tensor of type `out_type` and the shape of `values`.

    Raises:
      ValueError: If `side` is another word.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    sequence_size, values_size = shapes.shape(sorted_sequence)[-1], shapes.shape(values)[-1]
    rows = shapes.reshape(sorted_sequence, [-1, sequence_size])
    wanted = shapes.reshape(values, [-1, values_size])
    bound = lower_bound_op if side == "left" else upper_bound_op
    return shapes.reshape(bound(rows, wanted, out_type=out_type, name=name), shapes.shape(values))


# ---------------------------------------------------------------------------------- sort


@export("sort")
def sort(values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sorts the elements along an axis.

    Args:
      values: A tensor of real numbers, of rank 1 or more.
      axis: The axis to sort along, a constant; by default the last one.
      direction: "ASCENDING" or "DESCENDING".
      name: A name for the scope of the operations.

    Returns:
      A tensor of the shape and type of `values`.

    Raises:
      ValueError: If the axis is not constant, or `direction` another word.
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, want_places=False)


def _swap_with_last(values: Tensor, axis: Any, rank: Tensor) -> Tensor:
    """The permutation, its own inverse, that exchanges an axis with the last."""
    count = values.shape.ndims
    if count is None:
        axis = axis if axis >= 0 else axis + rank
        # TensorFlow joins ranges here, which fails where the axis turns out to be the last.
        return scatter.tensor_scatter_update(creation.range(rank), [[axis], [rank - 1]], [rank - 1, axis])
    axes = np.arange(count)
    axes[[axis, -1]] = axes[[-1, axis]]
    return constants.constant(axes, name="transposition")


def _descending(values: Tensor, axis: int, want_places: bool) -> Tensor:
    size, rank = shapes.shape(values)[axis], shapes.rank(values)
    last = axis == -1 or axis + 1 == values.shape.ndims
    swap = None if last else _swap_with_last(values, axis, rank)
    largest, places = ranking.top_k(values if last else shapes.transpose(values, swap), size)
    found = places if want_places else largest
    return found if last else shapes.transpose(found, swap)


def _sorted(values: Any, axis: Any, direction: str, want_places: bool) -> Tensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = convert_to_tensor(axis, name="axis")
    known = constant_value(axis)
    if known is None or axis.shape.ndims != 0:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(known), want_places)
    # The largest of the negated are the smallest.
    found = _descending(-values, int(known), want_places)
    return found if want_places else -found


@export("argsort")
def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """Finds the places of the elements along an axis in sorted order.

    Args:
      values: A tensor of real numbers, of rank 1 or more.
      axis: The axis to sort along, a constant; by default the last one.
      direction: "ASCENDING" or "DESCENDING".
      stable: Not needed here: the order of equal elements is always kept.
      name: A name for the scope of the operations.

    Returns:
      A tensor of type int32 and the shape of `values`.

    Raises:
      ValueError: If the axis is not constant, or `direction` another word.
    """
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, want_places=True)
