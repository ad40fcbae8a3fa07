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
from tideflow.ops.helpers.axes import as_sizes, brackets
from tideflow.ops.helpers.samples import boolean, f32, i32
from tideflow.ops.helpers.unsigned import modular
from tideflow.runtime.values import empty_like_type

# ---------------------------------------------------------------------------------- new memory

empty_op = Op(
    "Empty",
    "shape: int32 -> output: dtype",
    init=False,
    host="shape",
    stateful=True,
    differentiable=False,
)


@empty_op.shape
def _(shape):
    return as_sizes(shape)


@empty_op.kernel
def _(shape, *, dtype, init, device):
    if dtype.torch is None or init:
        value = empty_like_type(dtype, tuple(shape))
        return value if dtype.torch is None else value.to(device)
    return torch.empty(shape, dtype=dtype.torch, device=device)


empty_op.samples(
    ([2, 3], {"dtype": "float32", "init": True}), ([2], {"dtype": "string"}), ([0, 2], {"dtype": "int32"})
)

# ---------------------------------------------------------------------------------- copies

deep_copy_op = Op("DeepCopy", "x: T -> y: T", stateful=True)
snapshot_op = Op("Snapshot", "input: T -> output: T")


@deep_copy_op.shape
@snapshot_op.shape
def _(value):
    return value


@deep_copy_op.kernel
@deep_copy_op.kernel("string")
@snapshot_op.kernel
@snapshot_op.kernel("string")
def _(value):
    return value.copy() if isinstance(value, np.ndarray) else value.clone()


@deep_copy_op.gradient
@snapshot_op.gradient
def _(op, grad):
    return grad


deep_copy_op.samples(f32(2, 3), f32(), f32(0, 2), against=lambda x: x)
snapshot_op.samples(f32(2, 3), f32(), f32(0, 2), against=lambda x: x)


def deep_copy(x: Any, name: str | None = None) -> Any:
    """The same value in memory of its own, computed anew wherever it is asked for."""
    return deep_copy_op(x, name=name)


# ---------------------------------------------------------------------------------- rows replaced


def _with_rows(name: str, change: Callable) -> Op:
    """x with `change(rows, v)` made to the rows i of a copy; indices count around the end."""
    op = Op(name, "x: T, i: int32, v: T -> y: T")

    @op.shape
    def _(x, i, v):
        return x

    def kernel(x, i, v):
        _check(x, i, v)
        return change(x.clone(), i.long() % max(len(x), 1), v)

    op.kernel(modular(kernel))
    return op


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


def _updated(x: torch.Tensor, rows: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """One after the other, so that the last of those with one index stays."""
    for row, value in zip(rows.tolist(), v.unbind(0), strict=True):
        x[row] = value
    return x


inplace_update_op = _with_rows("InplaceUpdate", _updated)
inplace_add_op = _with_rows("InplaceAdd", lambda x, rows, v: x.index_add_(0, rows, v))
inplace_sub_op = _with_rows("InplaceSub", lambda x, rows, v: x.index_add_(0, rows, -v))


for _op in (inplace_update_op, inplace_add_op, inplace_sub_op):
    _op.gradient(undefined_gradient)
    _op.samples(
        (f32(4, 3), np.array([0, 2, 2], np.int32), f32(3, 3)),
        (i32(4), np.array([-1, 5], np.int32), i32(2)),
        (f32(4, 3), np.zeros(0, np.int32), f32(0, 3)),
    )
    _op.refuses(
        (f32(4, 3), np.array([0, 1], np.int32), f32(3, 3)),
        "i and x shape doesn't match",
        InvalidArgumentError,
    )
    _op.refuses(
        (f32(4, 3), np.array([0], np.int32), f32(1, 2)), "x and v shape doesn't match", InvalidArgumentError
    )
    _op.refuses((f32(4, 3), np.array(0, np.int32), f32(1, 3)), "i must be a vector", InvalidArgumentError)
inplace_update_op.samples((boolean(3, 2), np.array([1], np.int32), boolean(1, 2)))
