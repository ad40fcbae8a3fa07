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
def _empty_shape(shape):
    return as_sizes(shape)


@empty_op.kernel
def _empty_kernel(shape, *, dtype, init, device):
    if dtype.torch is None or init:
        value = empty_like_type(dtype, tuple(shape))
        return value if dtype.torch is None else value.to(device)
    return torch.empty(shape, dtype=dtype.torch, device=device)


empty_op.samples(
    ([2, 3], {"dtype": "float32", "init": True}), ([2], {"dtype": "string"}), ([0, 2], {"dtype": "int32"})
)


def _deep_copy_family_shape(value):
    return value


def _deep_copy_family_kernel(value):
    return value.copy() if isinstance(value, np.ndarray) else value.clone()


def _deep_copy_family_gradient(op, grad):
    return grad


# ---------------------------------------------------------------------------------- copies

deep_copy_op = Op("DeepCopy", "x: T -> y: T", stateful=True)
deep_copy_op.shape(_deep_copy_family_shape)
deep_copy_op.kernel("string")(_deep_copy_family_kernel)
deep_copy_op.kernel(_deep_copy_family_kernel)
deep_copy_op.gradient(_deep_copy_family_gradient)
deep_copy_op.samples(f32(2, 3), f32(), f32(0, 2), against=lambda x: x)


def deep_copy(x: Any, name: str | None = None) -> Any:
    """The same value in memory of its own, computed anew wherever it is asked for."""
    return deep_copy_op(x, name=name)


snapshot_op = Op("Snapshot", "input: T -> output: T")
snapshot_op.shape(_deep_copy_family_shape)
snapshot_op.kernel("string")(_deep_copy_family_kernel)
snapshot_op.kernel(_deep_copy_family_kernel)
snapshot_op.gradient(_deep_copy_family_gradient)
snapshot_op.samples(f32(2, 3), f32(), f32(0, 2), against=lambda x: x)


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


# ---------------------------------------------------------------------------------- rows replaced


def _with_rows(name: str, change: Callable) -> Op:
    """x with `change(rows, v)` made to the rows i of a copy; indices count around the end."""
    op = Op(name, "x: T, i: int32, v: T -> y: T")

    @op.shape
    def _shape(x, i, v):
        return x

    def kernel(x, i, v):
        _check(x, i, v)
        return change(x.clone(), i.long() % max(len(x), 1), v)

    op.kernel(modular(kernel))
    return op


def _add_gradient_and_samples_and_refuses_of_inplace_update_family(op: Op) -> None:
    op.gradient(undefined_gradient)
    op.samples(
        (f32(4, 3), np.array([0, 2, 2], np.int32), f32(3, 3)),
        (i32(4), np.array([-1, 5], np.int32), i32(2)),
        (f32(4, 3), np.zeros(0, np.int32), f32(0, 3)),
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


def _updated(x: torch.Tensor, rows: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """One after the other, so that the last of those with one index stays."""
    for row, value in zip(rows.tolist(), v.unbind(0), strict=True):
        x[row] = value
    return x


inplace_update_op = _with_rows("InplaceUpdate", _updated)
_add_gradient_and_samples_and_refuses_of_inplace_update_family(inplace_update_op)
inplace_update_op.samples((boolean(3, 2), np.array([1], np.int32), boolean(1, 2)))

inplace_add_op = _with_rows("InplaceAdd", lambda x, rows, v: x.index_add_(0, rows, v))
_add_gradient_and_samples_and_refuses_of_inplace_update_family(inplace_add_op)

inplace_sub_op = _with_rows("InplaceSub", lambda x, rows, v: x.index_add_(0, rows, -v))
_add_gradient_and_samples_and_refuses_of_inplace_update_family(inplace_sub_op)
