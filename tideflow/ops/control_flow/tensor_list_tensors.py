"""Tensors of the elements of lists, and lists of the parts of tensors: stacked, gathered, scattered, joined,
split.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, shapes, slicing
from tideflow.ops.control_flow.tensor_lists import element_shape_op, length_op, reserve_op
from tideflow.ops.helpers.axes import merged, of_rank_at_least
from tideflow.ops.helpers.tensor_lists import (
    ELEMENTS,
    LIST,
    SIZES,
    UNKNOWN,
    ListShape,
    element_shape_from,
    elements_shape,
    unbound,
)
from tideflow.runtime.tensor_lists import TensorList, as_variant, list_in, refusal, shown
from tideflow.runtime.tensor_lists import merged as merged_shapes

_TESTS = "tests/ops/control_flow/test_tensor_lists.py"


def _stacked(elements: TensorShape, count: int | None) -> list[int | None] | None:
    return None if elements.tuple is None else [count, *elements.tuple]


def _joined(values: Sequence[Any], stacked: bool) -> Any:
    if isinstance(values[0], torch.Tensor):
        return torch.stack(list(values)) if stacked else torch.cat(list(values))
    return np.stack(values) if stacked else np.concatenate(values)


def _none_yet(dtype: dtypes.DType, sizes: Sequence[int]) -> Any:
    return (
        np.empty(tuple(sizes), object)
        if dtype.torch is None
        else torch.zeros(tuple(sizes), dtype=dtype.torch)
    )


def _row_shape(tensor: Tensor) -> Tensor:
    """The shape of the elements along the first axis."""
    return slicing.slice(shapes.shape(tensor), [1], [-1])


def _rest(shape: TensorShape) -> TensorShape:
    return of_rank_at_least(shape, 1)[1:]


def _has_rows(tensor: Any) -> None:
    if not tensor.ndim:
        raise refusal("Tensor must be at least a vector, but saw shape: []")


def _fitting(wanted: TensorShape, sizes: Sequence[int]) -> TensorShape:
    if not wanted.is_compatible_with(TensorShape(tuple(sizes))):
        raise refusal(
            f"Specified a list with shape {shown(wanted)} from a tensor whose elements have shape "
            f"{shown(sizes)}"
        )
    return wanted


stack_op = Op(
    "TensorListStack",
    f"{LIST}, element_shape: int32 -> tensor: element_dtype",
    num_elements=-1,
    host="element_shape",
    **ELEMENTS,
)


@stack_op.shape
def _stack_shape(handle, element_shape, *, element_dtype, num_elements):
    known = elements_shape(handle, element_dtype, element_shape_from(element_shape), "read from")
    return _stacked(known, None if num_elements < 0 else num_elements)


@stack_op.kernel
def _stack_kernel(handle, element_shape, *, element_dtype, num_elements):
    found = list_in(handle, element_dtype)
    count = len(found.values)
    if num_elements >= 0 and num_elements != count:
        raise refusal(
            f"Operation expected a list with {num_elements} elements but got a list with {count} elements."
        )
    shape = found.common_shape(element_shape_from(element_shape))
    if not shape.is_fully_defined():
        what = (
            "elements of an empty list with"
            if not count
            else "list which only contains uninitialized tensors and has a"
        )
        raise refusal(f"Tried to stack {what} non-fully-defined element_shape: {shown(shape)}")
    if not count:
        return _none_yet(element_dtype, (0, *shape.tuple))
    return _joined([found.zeros(shape.tuple) if v is None else v for v in found.values], stacked=True)


@stack_op.gradient
def _stack_gradient(op, grad):
    return from_tensor_op(grad, _row_shape(grad)), None


stack_op.samples(covered_by=_TESTS)

from_tensor_op = Op(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
    host="element_shape",
    **ELEMENTS,
    **SIZES,
)


@from_tensor_op.shape
def _from_tensor_shape(tensor, element_shape, *, element_dtype):
    wanted = element_shape_from(element_shape)
    if tensor.ndims != 0:  # a scalar is the kernel's to refuse, as in TensorFlow
        merged(_rest(tensor), wanted)
    return ListShape(element_dtype, wanted)


@from_tensor_op.kernel
def _from_tensor_kernel(tensor, element_shape, *, element_dtype):
    _has_rows(tensor)
    shape = _fitting(element_shape_from(element_shape), tensor.shape[1:])
    return as_variant(TensorList(element_dtype, shape, tuple(unbound(tensor))))


@from_tensor_op.gradient
def _from_tensor_gradient(op, grad):
    tensor = op.inputs[0]
    rows = tensor.shape.tuple[0] if tensor.shape.tuple else None
    return (
        stack_op(
            grad, _row_shape(tensor), element_dtype=tensor.dtype, num_elements=-1 if rows is None else rows
        ),
        None,
    )


from_tensor_op.samples(covered_by=_TESTS)

gather_op = Op(
    "TensorListGather",
    f"{LIST}, indices: int32, element_shape: int32 -> values: element_dtype",
    host="indices, element_shape",
    **ELEMENTS,
)


@gather_op.shape
def _gather_shape(handle, indices, element_shape, *, element_dtype):
    known = elements_shape(handle, element_dtype, element_shape_from(element_shape), "read from")
    return _stacked(known, None if indices is None else len(indices))


@gather_op.kernel
def _gather_kernel(handle, indices, element_shape, *, element_dtype):
    found = list_in(handle, element_dtype)
    for index in indices:
        if not 0 <= index < len(found.values):
            raise refusal(f"Index {index} out of range; list only has {len(found.values)} elements.")
    chosen = found.with_values([found.values[index] for index in indices])
    shape = element_shape_from(element_shape)
    shape = chosen.common_shape(shape) if None not in chosen.values else found.common_shape(shape)
    if not shape.is_fully_defined():
        what = "0-elements" if not indices else "uninitialized tensors"
        raise refusal(f"Tried to gather {what} from a list with non-fully-defined shape: {shown(shape)}")
    if not indices:
        return _none_yet(element_dtype, (0, *shape.tuple))
    return _joined([found.zeros(shape.tuple) if v is None else v for v in chosen.values], stacked=True)


@gather_op.gradient
def _gather_gradient(op, grad):
    """Of an element gathered more than once only the last gradient counts, as in TensorFlow."""
    blank = reserve_op(_row_shape(grad), length_op(op.inputs[0]), element_dtype=grad.dtype)
    return scatter_into_op(blank, grad, op.inputs[1]), None, None


gather_op.samples(covered_by=_TESTS)


def _scattered_shape(tensor, indices, element_shape, num_elements=None, *, element_dtype):
    wanted = element_shape_from(element_shape)
    merged(_rest(tensor), wanted)
    return ListShape(element_dtype, wanted)


def _scattered(values: list[Any], tensor: Any, indices: list[int]) -> list[Any]:
    """The values with rows of the tensor at these positions; there must be as many positions as rows."""
    _has_rows(tensor)
    if len(indices) != tensor.shape[0]:
        raise refusal(
            f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: {tensor.shape[0]}"
        )
    for index, part in zip(indices, unbound(tensor), strict=True):
        if index < 0:
            raise refusal(f"Indices in TensorListScatter must all be non-negative, but one is {index}.")
        values[index] = part
    return values


def _scatter(
    tensor: Any, indices: list[int], wanted: TensorShape, dtype: dtypes.DType, count: int
) -> np.ndarray:
    shape = _fitting(wanted, tensor.shape[1:])
    highest = max(indices, default=-1)
    if count < -1:
        raise refusal(f"TensorListScatter expects num_elements >= -1, found: {count}")
    if count == -1:
        count = highest + 1
    elif highest >= count:
        raise refusal(f"TensorListScatter: Trying to scatter at index {highest} in list with size {count}")
    return as_variant(TensorList(dtype, shape, tuple(_scattered([None] * count, tensor, indices))))


def _scattered_gradient(op, grad):
    tensor, indices = op.inputs[:2]
    back = gather_op(grad, indices, _row_shape(tensor), element_dtype=tensor.dtype)
    return [back] + [None] * (len(op.inputs) - 1)


scatter_op = Op(
    "TensorListScatter",
    "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
    host="indices, element_shape",
    **ELEMENTS,
    **SIZES,
)
scatter_op.shape(_scattered_shape)


@scatter_op.kernel
def _scatter_kernel(tensor, indices, element_shape, *, element_dtype):
    return _scatter(tensor, indices, element_shape_from(element_shape), element_dtype, -1)


scatter_op.gradient(_scattered_gradient)
scatter_op.samples(covered_by=_TESTS)

scatter_v2_op = Op(
    "TensorListScatterV2",
    "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> "
    "output_handle: variant",
    host="indices, element_shape, num_elements",
    **ELEMENTS,
    **SIZES,
)
scatter_v2_op.shape(_scattered_shape)


@scatter_v2_op.kernel
def _scatter_v2_kernel(tensor, indices, element_shape, num_elements, *, element_dtype):
    return _scatter(tensor, indices, element_shape_from(element_shape), element_dtype, num_elements)


scatter_v2_op.gradient(_scattered_gradient)
scatter_v2_op.samples(covered_by=_TESTS)

scatter_into_op = Op(
    "TensorListScatterIntoExistingList",
    f"{LIST}, tensor: element_dtype, indices: int32 -> output_handle: variant",
    host="indices",
    **ELEMENTS,
)


@scatter_into_op.shape
def _scatter_into_shape(handle, tensor, indices, *, element_dtype):
    known = elements_shape(handle, element_dtype, UNKNOWN, "scatter into")
    merged(_rest(tensor), known)
    return ListShape(element_dtype, known)


@scatter_into_op.kernel
def _scatter_into_kernel(handle, tensor, indices, *, element_dtype):
    found = list_in(handle, element_dtype)
    _has_rows(tensor)
    _fitting(found.element_shape, tensor.shape[1:])
    values = list(found.values)
    values += [None] * (max(indices, default=-1) + 1 - len(values))
    return as_variant(found.with_values(_scattered(values, tensor, indices)))


@scatter_into_op.gradient
def _scatter_into_gradient(op, grad):
    _, tensor, indices = op.inputs
    grad_list = scatter_into_op(grad, creation.zeros_like(tensor), indices)
    return grad_list, gather_op(grad, indices, _row_shape(tensor), element_dtype=tensor.dtype), None


scatter_into_op.samples(covered_by=_TESTS)


def _concatenated(handle: TensorShape, dtype: dtypes.DType, wanted: TensorShape) -> list[int | None] | None:
    """The shape of all elements joined; lists declared of scalars are refused, lists with one in the step."""
    known = elements_shape(handle, dtype, wanted, "read from")
    only_pushed = isinstance(handle, ListShape) and handle.element_shape.ndims is None
    if known.tuple is None or (known.ndims == 0 and only_pushed):
        return None
    return [None, *of_rank_at_least(known, 1).tuple[1:]]


def _leading(index: int, declared: int | None, leading_dims: Sequence[int]) -> int:
    if declared is not None:
        return declared
    if index >= len(leading_dims):
        raise refusal(
            f"List contains uninitialized tensor at index {index} but leading_dims has only "
            f"{len(leading_dims)} elements."
        )
    return leading_dims[index]


def _concat(found: TensorList, wanted: TensorShape, leading_dims: Sequence[int]) -> tuple[Any, torch.Tensor]:
    """All elements along the first axis; those never set have the sizes that `leading_dims` says."""
    wanted = merged_shapes(wanted, found.element_shape)
    if wanted.ndims == 0:
        raise refusal("Concat requires elements to be at least vectors, found scalars instead.")
    for i, value in enumerate(found.values):
        if value is not None and not value.ndim:
            raise refusal(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
    rest = UNKNOWN if wanted.tuple is None else TensorShape(wanted.tuple[1:])
    for value in found.values:
        if value is not None:
            rest = merged_shapes(rest, TensorShape(value.shape[1:]))
    if not rest.is_fully_defined():
        kind = "an empty tensor list" if not found.values else "a list that only holds uninitialized tensors"
        raise refusal(
            f"All except the first dimension must be fully defined when concating {kind}. "
            f"element_shape: {shown(wanted)}"
        )
    if not found.values:
        return _none_yet(found.dtype, (0, *rest.tuple)), torch.zeros(0, dtype=torch.int64)
    first = wanted.tuple[0] if wanted.tuple is not None else None
    parts = [
        found.zeros((_leading(i, first, leading_dims), *rest.tuple)) if value is None else value
        for i, value in enumerate(found.values)
    ]
    lengths = torch.tensor([part.shape[0] for part in parts], dtype=torch.int64)
    return _joined(parts, stacked=False), lengths


def _concatenated_gradient(op, grad, grad_lengths):
    shape = element_shape_op(op.inputs[0], shape_type=dtypes.int32)
    back = split_op(grad, shape, op.outputs[1])
    return back if len(op.inputs) == 1 else [back, None, None]


concat_op = Op(
    "TensorListConcat",
    f"{LIST} -> tensor: element_dtype, lengths: int64",
    element_shape=attr("shape", None),
    **ELEMENTS,
)


@concat_op.shape
def _concat_shape(handle, *, element_dtype, element_shape):
    return [_concatenated(handle, element_dtype, element_shape), [None]]


@concat_op.kernel
def _concat_kernel(handle, *, element_dtype, element_shape):
    return _concat(list_in(handle, element_dtype), element_shape, ())


concat_op.gradient(_concatenated_gradient)
concat_op.samples(covered_by=_TESTS)

concat_v2_op = Op(
    "TensorListConcatV2",
    f"{LIST}, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, lengths: int64",
    host="element_shape, leading_dims",
    **ELEMENTS,
    **SIZES,
)


@concat_v2_op.shape
def _concat_v2_shape(handle, element_shape, leading_dims, *, element_dtype):
    return [_concatenated(handle, element_dtype, element_shape_from(element_shape)), [None]]


@concat_v2_op.kernel
def _concat_v2_kernel(handle, element_shape, leading_dims, *, element_dtype):
    return _concat(list_in(handle, element_dtype), element_shape_from(element_shape), leading_dims)


concat_v2_op.gradient(_concatenated_gradient)
concat_v2_op.samples(covered_by=_TESTS)

split_op = Op(
    "TensorListSplit",
    "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    host="element_shape, lengths",
    **ELEMENTS,
    **SIZES,
)


@split_op.shape
def _split_shape(tensor, element_shape, lengths, *, element_dtype):
    wanted = element_shape_from(element_shape)
    rest = _rest(tensor).tuple
    merged(UNKNOWN if rest is None else TensorShape([None, *rest]), wanted)
    return ListShape(element_dtype, wanted)


@split_op.kernel
def _split_kernel(tensor, element_shape, lengths, *, element_dtype):
    _has_rows(tensor)
    shape = _fitting(element_shape_from(element_shape), (None, *tensor.shape[1:]))
    parts, begin, rows = [], 0, tensor.shape[0]
    for length in lengths:
        if length < 0:
            raise refusal(f"Invalid value in lengths: {length}")
        if begin + length > rows:
            raise refusal(f"Attempting to slice [{begin}, {begin + length}] from tensor with length {rows}")
        parts.append(tensor[begin : begin + length])
        begin += length
    if begin < rows:
        raise refusal(f"Unused values in tensor. Length of tensor: {rows} Values used: {begin}")
    return as_variant(TensorList(element_dtype, shape, tuple(parts)))


@split_op.gradient
def _split_gradient(op, grad):
    tensor, element_shape, lengths = op.inputs
    back = concat_v2_op(grad, element_shape, lengths, element_dtype=tensor.dtype)
    return back.tensor, None, None


split_op.samples(covered_by=_TESTS)
