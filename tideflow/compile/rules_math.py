"""Rewrites of arithmetic: operations without effect are removed, ATen's fused forms are put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Node, Value
from tideflow.compile.kernels import ADD_PRODUCT, Kernel
from tideflow.compile.rewrite import Sweep, rule
from tideflow.graph.op import Op
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers import cpu_products
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.samples import f32

_REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any")


@rule(*_REDUCTIONS, phase="simplify")
def reduction_over_no_axes(node: Node, sweep: Sweep) -> Any:
    """Sum(x, axes=[]) -> x"""
    axes = node.inputs[1].constant
    return node.inputs[0] if axes is not None and axes.ndim == 1 and not axes.size else None


@rule("Mul", phase="simplify")
def times_one(node: Node, sweep: Sweep) -> Any:
    """Mul(x, 1) -> x; Mul(1, x) -> x"""
    return _neutral(node, 1, (0, 1))


@rule("Add", "AddV2", phase="simplify")
def plus_zero(node: Node, sweep: Sweep) -> Any:
    """Add(x, 0) -> x; Add(0, x) -> x"""
    return _neutral(node, 0, (0, 1))


@rule("Sub", phase="simplify")
def minus_zero(node: Node, sweep: Sweep) -> Any:
    """Sub(x, 0) -> x"""
    return _neutral(node, 0, (1,))


@rule("RealDiv", "Div", phase="simplify")
def over_one(node: Node, sweep: Sweep) -> Any:
    """RealDiv(x, 1) -> x"""
    return _neutral(node, 1, (1,))


def _neutral(node: Node, element: int, positions: tuple[int, ...]) -> Value | None:
    """The other operand, where one is a constant that changes nothing, its shape included."""
    for i in positions:
        constant, other = node.inputs[i].constant, node.inputs[1 - i]
        if constant is None or not constant.size or constant.dtype == object:
            continue
        keeps_shape = other.shape.is_fully_defined() and other.shape.tuple == node.outputs[0].shape.tuple
        if keeps_shape and (constant == element).all():
            return other
    return None


@rule("AddN", phase="simplify")
def sum_of_one(node: Node, sweep: Sweep) -> Any:
    """AddN([x]) -> x"""
    return node.inputs[0] if len(node.inputs) == 1 else None


@rule("AddN", phase="fuse")
def sum_of_two(node: Node, sweep: Sweep) -> Any:
    """AddN([x, y]) -> AddV2(x, y)"""
    if len(node.inputs) != 2 or node.outputs[0].dtype.torch is None:
        return None
    if (
        node.inputs[0].shape.tuple != node.inputs[1].shape.tuple
        or not node.outputs[0].shape.is_fully_defined()
    ):
        return None
    return sweep.make("AddV2", node.inputs, {"T": node.attrs["T"]}, node)


# ------------------------------------------------------------------------------------------------ fused forms

add_matmul_op = Op(
    "_AddMatMul",
    "bias: T, a: T, b: T -> sum: T",
    sums_inputs=1,
    transpose_a=False,
    transpose_b=False,
    differentiable=False,
)


@add_matmul_op.shape
def _add_matmul_shape(
    bias: TensorShape, a: TensorShape, b: TensorShape, *, transpose_a: bool, transpose_b: bool
) -> list[Any]:
    return [a[1 if transpose_a else 0], b[0 if transpose_b else 1]]


@add_matmul_op.kernel
def _add_matmul_kernel(
    bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, transpose_a: bool, transpose_b: bool
) -> Any:
    return ADD_PRODUCT[transpose_a, transpose_b](bias, a, b)


@add_matmul_op.specialize
def _add_matmul_specialized(node: Node) -> tuple[Kernel, list[Value]]:
    products = cpu_products.products_for(node)
    added = products.added if products else ADD_PRODUCT
    return added[node.attrs["transpose_a"], node.attrs["transpose_b"]], node.inputs


add_matmul_op.samples(
    (f32(4), f32(2, 3), f32(3, 4)), (f32(4), f32(3, 2), f32(4, 3), {"transpose_a": True, "transpose_b": True})
)


@rule("BiasAdd", "Add", "AddV2", phase="fuse")
def matmul_with_bias(node: Node, sweep: Sweep) -> Any:
    """BiasAdd(MatMul(a, b), c) -> AddMatMul(c, a, b)"""
    for product, bias in (node.inputs, node.inputs[::-1]):
        made_by = product.op
        if (
            made_by.type == "MatMul"
            and product.dtype.is_floating
            and sweep.only_use(product)
            and made_by.guards == node.guards
            and node.attrs.get("data_format", "NHWC") == "NHWC"
            and _fits(bias.shape, product.shape)
        ):
            attrs = {key: made_by.attrs[key] for key in ("T", "transpose_a", "transpose_b")}
            return sweep.make(add_matmul_op, [bias, *made_by.inputs], attrs, node)
        if node.type == "BiasAdd":
            break
    return None


@rule("Slice", phase="fuse")
def columns_of_product(node: Node, sweep: Sweep) -> Any:
    """Slice(MatMul(a, b), [0, i], [rows, n]) -> MatMul(a, Slice(b, [0, i], [inner, n]))"""
    product, begin, size = node.inputs
    made_by, start, count = product.op, begin.constant, size.constant
    if made_by.type != "MatMul" or not sweep.only_use(product) or made_by.guards != node.guards:
        return None
    if start is None or count is None or not product.shape.is_fully_defined() or product.dtype.is_complex:
        return None
    if start[0] or count[0] not in (-1, product.shape.as_list()[0]):
        return None
    a, b = made_by.inputs
    turned = made_by.attrs["transpose_b"]
    ends = [np.array([0, start[1]], start.dtype), np.array([-1, count[1]], start.dtype)]
    places = [sweep.constant(end[::-1].copy() if turned else end, node) for end in ends]
    part = sweep.make("Slice", [b, *places], {"T": b.dtype, "Index": begin.dtype}, node)[0]
    return sweep.make("MatMul", [a, part], dict(made_by.attrs), node)


def _fits(bias: TensorShape, product: TensorShape) -> bool:
    """Whether the sum has the product's shape: a row, or a matrix as large."""
    if bias.ndims == 1:
        return bias.as_list()[0] == product.as_list()[1]
    return product.is_fully_defined() and bias.tuple == product.tuple


multiply_add_op = Op("_MultiplyAdd", "addend: T, x: T, y: T -> sum: T", sums_inputs=1, differentiable=False)
multiply_add_op.shape(lambda addend, x, y: broadcast_shapes(addend, broadcast_shapes(x, y)))
multiply_add_op.kernel(torch.addcmul)
multiply_add_op.samples((f32(2, 3), f32(2, 3), f32(3)), (f32(), f32(2), f32()))


def _is_seeded(node: Node) -> bool:
    """Whether an op draws the numbers of a seed. Initial weights, which are such numbers scaled and shifted,
    have TensorFlow's bits: the product is rounded before the sum.
    """
    return bool(node.attrs.get("seed") or node.attrs.get("seed2") or "Tseed" in node.attrs)


def _cancels(product: Node, addend: Value) -> bool:
    """Whether `y * z` is taken from `x * z`, as normalizations do: where `x` is `y`, zero must come out.

    A fused sum would leave the rounding error of one product, which a large `z` makes visible.
    """
    terms = addend.op.inputs if addend.op.type in ("Neg", "Sub") else [addend]
    others = [factor for term in terms if term.op.type == "Mul" for factor in term.op.inputs]
    return any(factor is other for factor in product.inputs for other in others)


@rule("Add", "AddV2", phase="fuse")
def multiply_and_add(node: Node, sweep: Sweep) -> Any:
    """Add(Mul(x, y), z) -> MultiplyAdd(z, x, y)"""
    if not node.outputs[0].dtype.is_floating:
        return None
    for product, addend in (node.inputs, node.inputs[::-1]):
        if (
            product.op.type == "Mul"
            and sweep.only_use(product)
            and product.op.guards == node.guards
            and not any(_is_seeded(value.op) for value in product.op.inputs)
            and not _cancels(product.op, addend)
        ):
            return sweep.make(multiply_add_op, [addend, *product.op.inputs], {"T": node.attrs["T"]}, node)
    return None


all_finite_op = Op("_AllFinite", "values: N * T -> finite: bool", differentiable=False)
all_finite_op.shape(lambda values: [])


@all_finite_op.kernel
def _all_finite_kernel(values: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack(torch._foreach_norm(values, torch.inf)).isfinite().all()


all_finite_op.samples(
    ([f32(2, 3), f32(4)],), ([np.array([1.0, np.nan], np.float32), f32()],), ([f32(2), np.float32(-np.inf)],)
)


@rule("All", phase="fuse")
def all_values_are_finite(node: Node, sweep: Sweep) -> Any:
    """All(Pack([All(IsFinite(x)), All(IsFinite(y))])) -> AllFinite([x, y])"""
    packed = node.inputs[0]
    if packed.op.type != "Pack" or node.outputs[0].shape.tuple != () or not sweep.only_use(packed):
        return None
    values = []
    for part in packed.op.inputs:
        checked = part.op.inputs[0] if part.op.type == "All" else part  # of a single number
        if checked.op.type != "IsFinite" or part.shape.tuple != () or part.op.guards != node.guards:
            return None
        values.append(checked.op.inputs[0])
    if len({value.dtype for value in values}) != 1 or len({value.device for value in values}) != 1:
        return None
    if not all(value.shape.is_fully_defined() and value.shape.num_elements() for value in values):
        return None
    return sweep.make(all_finite_op, values, {"T": values[0].dtype, "N": len(values)}, node)
