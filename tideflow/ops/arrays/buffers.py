"""Ops about the memory of values: new memory, copies, and rows replaced in a copy.

TensorFlow's in-place ops change the memory of their input. Values never change here: each gives a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.ops.helpers.axes import as_sizes, brackets, checked_sizes
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.references import unchanged
from tideflow.ops.helpers.samples import boolean, f32, i32
from tideflow.ops.helpers.unsigned import modular
from tideflow.runtime.values import empty_like_type

# ---------------------------------------------------------------------------------- new memory

_VECTOR = "shape must be a vector of int32, got shape "

empty_op = Op(
    "Empty",
    "shape: int32 -> output: dtype",
    init=False,
    host="shape",
    stateful=True,
    differentiable=False,
)


@empty_op.shape
def _empty_shape(shape):
    return as_sizes(shape, _VECTOR)


@empty_op.kernel
def _empty_kernel(shape, *, dtype, init, device):
    checked_sizes(shape, _VECTOR)
    if dtype.torch is None or init:
        value = empty_like_type(dtype, tuple(shape))
        return value if dtype.torch is None else value.to(device)
    return torch.empty(shape, dtype=dtype.torch, device=device)


empty_op.samples(
    ([2, 3], {"dtype": "float32", "init": True}),
    ([2], {"dtype": "string"}),
    ([0, 2], {"dtype": "int32"}),
    law=lambda shape, output, init: [output.shape == tuple(shape), not (init and output.any())],
)


# ---------------------------------------------------------------------------------- copies


def copied(value: Any) -> Any:
    """The kernel of both ops that copy."""
    return value.copy() if isinstance(value, np.ndarray) else value.clone()


deep_copy_op = Op("DeepCopy", "x: T -> y: T", stateful=True)
deep_copy_op.shape(same_shape)
deep_copy_op.kernel(copied)
deep_copy_op.kernel("string")(copied)
deep_copy_op.gradient(lambda op, grad: grad)
deep_copy_op.samples(f32(2, 3), f32(), f32(0, 2), against=unchanged)


def deep_copy(x: Any, name: str | None = None) -> Any:
    """The same value in memory of its own, computed anew wherever it is asked for."""
    return deep_copy_op(x, name=name)


snapshot_op = Op("Snapshot", "input: T -> output: T")
snapshot_op.shape(same_shape)
snapshot_op.kernel(copied)
snapshot_op.kernel("string")(copied)
snapshot_op.gradient(lambda op, grad: grad)
snapshot_op.samples(f32(2, 3), f32(), f32(0, 2), against=unchanged)


# ---------------------------------------------------------------------------------- rows replaced


# ---------------------------------------------------------------------------------- rows replaced


def _check(x: Any, i: Any, v: Any) -> None:
    if i.dim() != 1:
        raise ShapeError(f"i must be a vector. {brackets(i.shape)}")
    if x.dim() != v.dim():
        raise ShapeError(
            f"x and v shape doesn't match (ranks differ): {brackets(x.shape)} vs. {brackets(v.shape)}"
        )
    for axis in range(1, x.dim()):
        if x.shape[axis] != v.shape[axis]:
            raise ShapeError(
                f"x and v shape doesn't match at index {axis} : {brackets(x.shape)} vs. {brackets(v.shape)}"
            )
    if len(i) and not len(x):
        raise ShapeError("x has no rows")
    if len(i) != len(v):
        raise ShapeError(
            f"i and x shape doesn't match at index 0: {brackets(i.shape)} vs. {brackets(v.shape)}"
        )


def _with_rows(name: str, change: Callable, one_row: Callable) -> Op:
    """Defines an op that gives x with `change(copy, rows, v)` made to a copy of it; indices count around the
    end. `one_row(row, value)` says what becomes of one row.
    """
    op = Op(name, "x: T, i: int32, v: T -> y: T")
    op.shape(lambda x, i, v: x)

    @op.kernel
    @modular
    def _kernel(x, i, v):
        _check(x, i, v)
        return change(x.clone(), i.long() % max(len(x), 1), v)

    def row_by_row(x, i, v):
        result = x.copy()
        for row, value in zip(i % len(x), v, strict=True):
            result[row] = one_row(result[row], value)
        return result

    op.gradient(undefined_gradient)
    op.samples(
        (f32(4, 3), np.array([0, 2, 2], np.int32), f32(3, 3)),
        (i32(4), np.array([-1, 5], np.int32), i32(2)),
        (f32(4, 3), np.zeros(0, np.int32), f32(0, 3)),
        against=row_by_row,
    )
    op.refuses(
        (f32(4, 3), np.array([0, 1], np.int32), f32(3, 3)),
        "i and x shape doesn't match",
        InvalidArgumentError,
    )
    op.refuses(
        (f32(4, 3), np.array([0], np.int32), f32(1, 2)), "x and v shape doesn't match", InvalidArgumentError
    )
    op.refuses((f32(4, 3), np.array(0, np.int32), f32(1, 3)), "i must be a vector", InvalidArgumentError)
    return op


def _updated(x: torch.Tensor, rows: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """One after the other, so that the last of those with one index stays."""
    for row, value in zip(rows.tolist(), v.unbind(0), strict=True):
        x[row] = value
    return x


inplace_update_op = _with_rows("InplaceUpdate", _updated, lambda row, value: value)
inplace_update_op.samples((boolean(3, 2), np.array([1], np.int32), boolean(1, 2)))

inplace_add_op = _with_rows("InplaceAdd", lambda x, rows, v: x.index_add_(0, rows, v), np.add)

inplace_sub_op = _with_rows("InplaceSub", lambda x, rows, v: x.index_add_(0, rows, -v), np.subtract)
