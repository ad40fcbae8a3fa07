"""Strings joined to longer ones: element by element, along axes, by segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import brackets, merged
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.types import INDICES
from tideflow.ops.math import reductions, segments
from tideflow.ops.strings.strings import each
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

string_join_op = Op(
    "StringJoin",
    "inputs: N * string -> output: string",
    N=attr("int", minimum=0),
    separator="",
    on_host=True,
    differentiable=False,
)


@string_join_op.shape
def _string_join_shape(inputs):
    """Scalars join with every element; all others have one shape."""
    result = TensorShape([])
    for shape in inputs:
        if shape.ndims is None:
            result = TensorShape(None) if result.ndims == 0 else result
        elif shape.ndims:
            result = merged(result, shape) if result.ndims else shape
    return result


@string_join_op.kernel
def _string_join_kernel(inputs, *, separator):
    sizes = {array.shape for array in inputs if array.ndim}
    if len(sizes) > 1:
        raise ShapeError(f"Input shapes do not match: {' vs. '.join(map(brackets, sorted(sizes)))}")
    glue = separator.encode()
    return each(lambda *parts: glue.join(parts), *inputs) if inputs else np.array(b"", object)


string_join_op.samples(
    ([text("a", "b"), text("c", "d")],),
    ([text("a", shape=()), text("c", "d", shape=(1, 2)), text("e", shape=())], {"separator": "-"}),
    ([text(), text()],),
    ([text("a", "b")],),
    against=lambda inputs, separator: reduce(lambda left, right: left + separator.encode() + right, inputs),
)
string_join_op.refuses(([text("a"), text("b", "c")],), "Dimension 0 in both shapes must be equal")


@export("strings.join", "string_join", ragged="values")
def string_join(inputs: Sequence[TensorLike], separator: str = "", name: str | None = None) -> Tensor:
    """Joins the strings at the same place of several tensors.

    Args:
      inputs: A list of string tensors of one shape, or scalars, which are joined with every element.
      separator: What stands between two strings.
      name: A name for the operation.

    Returns:
      A string tensor of that shape.

    Raises:
      ValueError: Where the list is empty, or shapes differ.
    """
    if isinstance(inputs, (list, tuple)) and not inputs:
        raise ValueError(
            "List argument 'inputs' to 'StringJoin' Op with length 0 shorter than minimum length 1."
        )
    return string_join_op(inputs, separator=separator, name=name)


def _along_last_axis(strings: np.ndarray, separator: str) -> np.ndarray:
    *sizes, length = strings.shape
    joined = np.empty(math.prod(sizes), dtype=object)
    joined[:] = [separator.encode().join(row) for row in strings.reshape(len(joined), length).tolist()]
    return joined.reshape(sizes)


_LETTERS = text(*"abcdef", shape=(2, 3))

reduce_join_op = Op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    keep_dims=False,
    separator="",
    host="reduction_indices",
    on_host=True,
    differentiable=False,
)

reduce_join_op.shape(reductions.sum_op.shape_rule)


@reduce_join_op.kernel
def _reduce_join_kernel(inputs, reduction_indices, *, keep_dims, separator):
    given = reduction_indices if isinstance(reduction_indices, list) else [reduction_indices]
    try:
        reduced = reductions.normal_axes(given, inputs.ndim)
    except ShapeError as error:
        raise errors.out_of_range(
            str(error).replace(f"{inputs.ndim} dimensions", f"{inputs.ndim} dimension(s)")
        ) from None
    if len(reduced) < len(given):
        axes = [axis % inputs.ndim for axis in given]
        twice = next(axis for i, axis in enumerate(given) if axes[i] in axes[:i])
        raise errors.invalid_argument(f"Duplicate reduction dimension {twice}")
    kept = [axis for axis in range(inputs.ndim) if axis not in reduced]
    order = [axis % inputs.ndim for axis in reversed(given)]  # the first axis given is joined first
    length = math.prod(inputs.shape[axis] for axis in reduced)
    rows = inputs.transpose(kept + order).reshape(*[inputs.shape[axis] for axis in kept], length)
    joined = _along_last_axis(rows, separator)
    sizes = [1 if axis in reduced else size for axis, size in enumerate(inputs.shape)]
    return joined.reshape(sizes) if keep_dims else joined


def _reduce_join_reference(inputs, axes, keep_dims, separator):
    """Along one axis after the other."""
    joined = inputs
    for axis in np.ravel(axes):
        parts = [np.expand_dims(part, axis) for part in np.moveaxis(joined, axis, 0)]
        nothing = np.expand_dims(np.full(np.delete(joined.shape, axis), b"", object), axis)
        joined = reduce(lambda left, right: left + separator.encode() + right, parts or [nothing])
    return joined if keep_dims else joined.squeeze(tuple(np.ravel(axes)))


reduce_join_op.samples(
    (_LETTERS, np.int32(0)),
    (_LETTERS, np.int32([-1]), {"separator": "-", "keep_dims": True}),
    (_LETTERS, np.int32([0, 1])),
    (_LETTERS, np.int32([1, 0])),
    (_LETTERS, np.zeros(0, np.int32)),
    (_LETTERS[:0], np.int32(0)),
    (_LETTERS[:, :0], np.int32([1])),
    against=_reduce_join_reference,
)
reduce_join_op.refuses((_LETTERS, np.int32(2)), "Invalid reduction dimension 2 for input with 2 dimensions.")
reduce_join_op.refuses((_LETTERS, np.int32([0, -2])), "Duplicate reduction dimension", InvalidArgumentError)


def _last_axis_first(strings: Tensor) -> Tensor:
    if strings.shape.ndims is None:
        return creation.range(shapes.rank(strings) - 1, -1, -1)
    return constants.constant(np.arange(strings.shape.ndims - 1, -1, -1), dtypes.int32)


@export("strings.reduce_join", "reduce_join", ragged="reduce_join")
def reduce_join(
    inputs: TensorOrRagged,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Joins strings along axes.

    Args:
      inputs: A string tensor.
      axis: The axis, or a list of them, which are joined along one after the other. By default all, the last
        first.
      keep_dims: A deprecated name of `keepdims`.
      separator: What stands between two strings.
      name: A name for the operation.
      reduction_indices: A deprecated name of `axis`.
      keepdims: Whether the axes stay, with size 1.

    Returns:
      A string tensor without these axes.

    Raises:
      ValueError: Where there is no such axis.
      InvalidArgumentError: In a step, where an axis is given twice.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        strings = convert_to_tensor(inputs)
        return reduce_join_op(
            strings,
            _last_axis_first(strings) if axis is None else axis,
            keep_dims=keepdims,
            separator=separator,
            name=name,
        )


unsorted_segment_join_op = Op(
    "UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    separator="",
    Tindices=INDICES,
    Tnumsegments=attr("type", dtypes.int32, allowed=INDICES),
    host="num_segments",
    on_host=True,
    differentiable=False,
)

unsorted_segment_join_op.shape(segments.unsorted_segment_sum_op.shape_rule)


@unsorted_segment_join_op.kernel
def _unsorted_segment_join_kernel(inputs, segment_ids, num_segments, *, separator):
    ids = to_numpy(segment_ids)
    if not ids.ndim:
        raise ShapeError("Segment_id cannot have rank 0")
    if inputs.shape[: ids.ndim] != ids.shape:
        axis = next((i for i in range(ids.ndim) if ids.shape[i : i + 1] != inputs.shape[i : i + 1]), 0)
        raise ShapeError(
            f"Segment dimension is {ids.shape[axis]} while input dimension is "
            f"{inputs.shape[axis : axis + 1]} in rank {axis}"
        )
    if ids.size and not 0 <= ids.min() <= ids.max() < num_segments:
        raise errors.invalid_argument(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
    order = np.argsort(ids.reshape(-1), kind="stable")
    rest = inputs.shape[ids.ndim :]
    rows = inputs.reshape(ids.size, math.prod(rest))[order]
    starts = np.searchsorted(ids.reshape(-1)[order], np.arange(1, num_segments))
    parts = np.split(rows, starts) if num_segments else []
    joined = [_along_last_axis(part.T, separator) for part in parts]
    return np.array(joined, dtype=object).reshape(num_segments, *rest)


def _unsorted_segment_join_reference(inputs, segment_ids, num_segments, separator):
    found = np.empty([num_segments, *inputs.shape[segment_ids.ndim :]], object)
    for place in np.ndindex(found.shape):
        parts = inputs[(..., *place[1:])] if place[1:] else inputs
        found[place] = separator.encode().join(parts[segment_ids == place[0]])
    return found


unsorted_segment_join_op.samples(
    (_LETTERS, np.int32([1, 1]), 3, {"separator": "-"}),
    (_LETTERS, np.int64([[0, 1, 0], [1, 1, 0]]), 2),
    (text("a", "b", "c"), np.int32([2, 0, 2]), 4),
    (text(), np.zeros(0, np.int32), 2),
    against=_unsorted_segment_join_reference,
)
unsorted_segment_join_op.refuses((_LETTERS, np.int32([0]), 1), "Dimensions must be equal, but are 2 and 1")
unsorted_segment_join_op.refuses((_LETTERS, np.int32([0, 1]), -1), "must be non-negative but is -1")
unsorted_segment_join_op.refuses(
    (_LETTERS, np.int32([0, 2]), 2), "segment_ids are not allowed to exceed", InvalidArgumentError
)


@export("strings.unsorted_segment_join")
def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Joins the strings of each segment, in the order in which they stand.

    Args:
      inputs: A string tensor.
      segment_ids: An int32 or int64 tensor whose shape begins that of `inputs`: to which segment each
        belongs.
      num_segments: How many segments there are, a scalar.
      separator: What stands between two strings.
      name: A name for the operation.

    Returns:
      A string tensor [num_segments, *the other axes of `inputs`]; "" for a segment without strings.

    Raises:
      ValueError: Where the shape of `segment_ids` does not begin that of `inputs`.
      InvalidArgumentError: In a step in which an id is not below `num_segments`.
    """
    return unsorted_segment_join_op(inputs, segment_ids, num_segments, separator=separator, name=name)
