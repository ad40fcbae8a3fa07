"""Comparison of two tensors within a tolerance."""

from __future__ import annotations

import torch

from tideflow.graph.op import Op, ShapeError
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import brackets, merged
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import NUMERIC
from tideflow.ops.math.binary import is_integer

approximate_equal_op = Op(
    "ApproximateEqual",
    "x: T, y: T -> z: bool",
    T=NUMERIC,
    tolerance=1e-5,
    commutative=True,
    differentiable=False,
)
approximate_equal_op.shape(merged)


@approximate_equal_op.kernel
def _approximate_equal_kernel(x, y, *, tolerance):
    if x.shape != y.shape:
        shapes = f"x shape: {brackets(x.shape)}. y shape: {brackets(y.shape)}"
        raise ShapeError(f"x and y must be of the same shape. {shapes}")
    bound = tolerance
    if is_integer(x):  # TensorFlow takes the tolerance in the type of x
        limits = torch.iinfo(x.dtype)
        bound = int(min(max(tolerance, limits.min), limits.max)) if tolerance == tolerance else 0
    return unsigned.widened(lambda x, y: (x - y).abs() < bound)(x, y)


approximate_equal_op.samples(
    (f32(2, 3), f32(2, 3), {"tolerance": 0.5}),
    (i32(4), i32(4), {"tolerance": 2.5}),
    against=lambda x, y, tolerance: abs(x - y) < x.dtype.type(tolerance),
)
approximate_equal_op.refuses((f32(2), f32(3)), "Dimension 0 in both shapes must be equal, but are 2 and 3")
