"""Rewrites of what programs write out in small operations and ATen has as one kernel: softmax with its
gradient, layer normalization, and GELU.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Node, Value
from tideflow.compile.rewrite import Sweep, rule
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.samples import f32


def _is_over_last_axis(node: Node, op_type: str, keep_dims: bool) -> bool:
    """Whether the node is this kind of reduction, over the last axis."""
    if node.type != op_type or node.attrs["keep_dims"] != keep_dims:
        return False
    axes, rank = node.inputs[1].constant, node.inputs[0].shape.rank
    return axes is not None and rank is not None and axes.ravel().tolist() in ([-1], [rank - 1])


def _scalar(value: Value) -> float | None:
    """The number that a value is, if it is a constant real scalar."""
    constant = value.constant
    if constant is None or constant.ndim or value.dtype.is_complex:
        return None
    return float(constant)


def _factors(value: Value, depth: int = 4) -> tuple[float, list[Value]]:
    """The value as a number times other values; products of products are looked into so deep."""
    node, number = value.op, _scalar(value)
    if number is not None:
        return number, []
    if node.type == "Mul" and depth:
        (one, values), (other, more) = (_factors(each, depth - 1) for each in node.inputs)
        return one * other, values + more
    if node.type == "RealDiv" and depth and (divisor := _scalar(node.inputs[1])):
        number, values = _factors(node.inputs[0], depth - 1)
        return number / divisor, values
    return 1.0, [value]


def _number_and_rest(node: Node) -> tuple[float, Value] | None:
    """Of a sum of a number and something else, both."""
    if node.type not in ("Add", "AddV2"):
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        if (number := _scalar(one)) is not None:
            return number, other
    return None


# ---------------------------------------------------------------------------- softmax


@rule("RealDiv", phase="simplify")
def softmax_of_exponentials(node: Node, sweep: Sweep) -> Any:
    """e = Exp(Sub(x, Max(x, -1))); RealDiv(e, Sum(e, -1)) -> Softmax(x)"""
    exponentials, total = node.inputs
    x = _softened(exponentials, total)
    # Those of the gradient are for rules below; whoever else takes the exponentials has them computed anyway.
    if x is None or (sweep.uses.get(exponentials), sweep.uses.get(total)) not in ((2, 1), (4, 4)):
        return None
    return sweep.make("Softmax", [x], {"T": node.attrs["T"]}, node)


def _softened(exponentials: Value, total: Value) -> Value | None:
    """What has the softmax exponentials / total."""
    if exponentials.op.type != "Exp" or exponentials.op.inputs[0].op.type != "Sub":
        return None
    if not _is_over_last_axis(total.op, "Sum", keep_dims=True) or total.op.inputs[0] is not exponentials:
        return None
    x, greatest = exponentials.op.inputs[0].op.inputs
    is_greatest = _is_over_last_axis(greatest.op, "Max", keep_dims=True) and greatest.op.inputs[0] is x
    return x if is_greatest else None


@rule("Mul", phase="simplify")
def gradient_of_softmax(node: Node, sweep: Sweep) -> Any:
    """w = Softmax(x), e and s as it was written out;
    Mul(AddN([g / s, Tile(Reshape(Sum(-e / s / s * g, -1)))]), e) -> (g - Sum(g * w, -1)) * w
    """
    for summed, exponentials in (node.inputs, node.inputs[::-1]):
        found = _gradient_and_total(summed.op, exponentials)
        if found is None:
            continue
        grad, total = found
        weights = _softmax_of(_softened(exponentials, total), sweep)
        if weights is None:
            return None
        attrs = {"T": node.attrs["T"]}
        (product,) = sweep.make("Mul", [grad, weights], attrs, node)
        axis = sweep.constant(np.array(-1, np.int32), node)
        (projection,) = sweep.make("Sum", [product, axis], {**attrs, "keep_dims": True}, node)
        (rest,) = sweep.make("Sub", [grad, projection], attrs, node)
        return sweep.make("Mul", [rest, weights], attrs, node)
    return None


def _softmax_of(x: Value | None, sweep: Sweep) -> Value | None:
    """The softmax that the sweep has made of this value."""
    made = (node for node in reversed(sweep.nodes) if node.type == "Softmax" and node.inputs[0] is x)
    softmax = next(made, None)
    return None if softmax is None else softmax.outputs[0]


def _gradient_and_total(summed: Node, exponentials: Value) -> tuple[Value, Value] | None:
    """g and s, where the node is g / s + Tile(Reshape(Sum(-e / s / s * g, -1)))."""
    if summed.type != "AddN" or len(summed.inputs) != 2:
        return None
    for divided, tiled in (summed.inputs, summed.inputs[::-1]):
        if divided.op.type != "RealDiv" or tiled.op.type != "Tile":
            continue
        grad, total = divided.op.inputs
        column = tiled.op.inputs[0].op
        if column.type != "Reshape" or not _is_over_last_axis(column.inputs[0].op, "Sum", keep_dims=False):
            continue
        weighted = column.inputs[0].op.inputs[0].op
        if weighted.type == "Mul" and grad in weighted.inputs:
            other = weighted.inputs[weighted.inputs[0] is grad]
            if _is_negative_over_squares(other, exponentials, total):
                return grad, total
    return None


def _is_negative_over_squares(value: Value, exponentials: Value, total: Value) -> bool:
    """Whether the value is -e / s / s."""
    for _ in range(2):
        if value.op.type != "RealDiv" or value.op.inputs[1] is not total:
            return False
        value = value.op.inputs[0]
    return value.op.type == "Neg" and value.op.inputs[0] is exponentials


@rule("AddN", phase="simplify")
def gradient_by_subtracted_maximum(node: Node, sweep: Sweep) -> Any:
    """d = (g - Sum(g * w, -1)) * w for w = Softmax(x); AddN([d, i * Reshape(Sum(-d, -1))]) -> d: its rows sum
    to zero
    """
    if len(node.inputs) != 2:
        return None
    for grad, rest in (node.inputs, node.inputs[::-1]):
        if rest.op.type != "Mul" or not _is_gradient_of_softmax(grad):
            continue
        for column in rest.op.inputs:
            if column.op.type != "Reshape":
                continue
            total = column.op.inputs[0].op
            if _is_over_last_axis(total, "Sum", keep_dims=False) and total.inputs[0].op.type == "Neg":
                return grad if total.inputs[0].op.inputs[0] is grad else None
    return None


def _is_gradient_of_softmax(value: Value) -> bool:
    """Whether the value is (g - Sum(g * w, -1)) * w for w = Softmax(x)."""
    if value.op.type != "Mul" or value.op.inputs[0].op.type != "Sub":
        return False
    rest, weights = value.op.inputs
    grad, projection = rest.op.inputs
    return (
        weights.op.type == "Softmax"
        and _is_over_last_axis(projection.op, "Sum", keep_dims=True)
        and projection.op.inputs[0].op.type == "Mul"
        and set(projection.op.inputs[0].op.inputs) == {grad, weights}
    )


# ---------------------------------------------------------------------------- layer normalization

layer_norm_op = Op("_LayerNorm", "x: T, gamma: T, beta: T -> y: T", epsilon=1e-5, differentiable=False)
layer_norm_op.shape(lambda x, gamma, beta, *, epsilon: x)


@layer_norm_op.kernel
def _layer_norm_kernel(
    x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, *, epsilon: float
) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, epsilon)


def _layer_norm_reference(x: Any, gamma: Any, beta: Any, epsilon: float) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * gamma + beta


layer_norm_op.samples((f32(2, 3, 5), f32(5), f32(5), {"epsilon": 0.1}), against=_layer_norm_reference)


@rule("Add", "AddV2", phase="recognize")
def layer_norm(node: Node, sweep: Sweep) -> Any:
    """m = Mean(x, -1), v = Mean(Square(x - m), -1) + epsilon; (x - m) * Rsqrt(v) * gamma + beta, or
    (x - m) / Sqrt(v) * gamma + beta -> _LayerNorm(x, gamma, beta)
    """
    for product, beta in (node.inputs, node.inputs[::-1]):
        for normalized, gamma in _both_ways(product.op, "Mul"):
            for centered, deviation in _deviations(normalized.op):
                if centered.op.type != "Sub" or not sweep.only_use(normalized):
                    continue
                x, mean = centered.op.inputs
                if (epsilon := _epsilon(x, mean, deviation, sweep)) is not None:
                    return _layer_norm(x, gamma, beta, epsilon, node, sweep)
    return None


@rule("Add", "AddV2", phase="recognize")
def layer_norm_as_batch_norm(node: Node, sweep: Sweep) -> Any:
    """m = Mean(x, -1), i = Rsqrt(Mean(SquaredDifference(x, m), -1) + epsilon) * gamma; x * i + (beta - m * i)
    -> _LayerNorm(x, gamma, beta)
    """
    for product, rest in (node.inputs, node.inputs[::-1]):
        if product.op.type != "Mul" or rest.op.type != "Sub" or rest.op.inputs[1].op.type != "Mul":
            continue
        (x, inverse), (mean, other) = product.op.inputs, rest.op.inputs[1].op.inputs
        if inverse.op.type != "Mul" or other is not inverse or sweep.uses.get(inverse) != 2:
            continue
        deviation, gamma = inverse.op.inputs
        if deviation.op.type == "Rsqrt" and (epsilon := _epsilon(x, mean, deviation, sweep)) is not None:
            return _layer_norm(x, gamma, rest.op.inputs[0], epsilon, node, sweep)
    return None


def _layer_norm(
    x: Value, gamma: Value, beta: Value, epsilon: float, node: Node, sweep: Sweep
) -> list[Value] | None:
    if not gamma.shape.tuple == beta.shape.tuple == x.sizes[-1:]:
        return None
    return sweep.make(layer_norm_op, [x, gamma, beta], {"T": node.attrs["T"], "epsilon": epsilon}, node)


def _both_ways(node: Node, op_type: str) -> list[list[Value]]:
    """The inputs of such a node in both orders."""
    return [node.inputs, node.inputs[::-1]] if node.type == op_type else []


def _deviations(node: Node) -> list[list[Value]]:
    """What the node may scale, and the root by which it does: x * Rsqrt(v), or x / Sqrt(v)."""
    if node.type == "RealDiv":
        root = node.inputs[1].op
        is_root = root.type == "Sqrt" or root.type == "Pow" and _scalar(root.inputs[1]) == 0.5
        return [node.inputs] if is_root else []
    return [inputs for inputs in _both_ways(node, "Mul") if inputs[1].op.type == "Rsqrt"]


def _epsilon(x: Value, mean: Value, deviation: Value, sweep: Sweep) -> float | None:
    """The number that is added to the variance of x, where `deviation` is a root of the sum; None where it is
    not, or where the gradient takes what is inside.
    """
    found = _number_and_rest(deviation.op.inputs[0].op)
    if found is None or not sweep.only_use(deviation) or not x.shape.is_fully_defined() or 0 in x.sizes:
        return None
    epsilon, variance = found
    if not _is_over_last_axis(variance.op, "Mean", True) or not _is_over_last_axis(mean.op, "Mean", True):
        return None
    squares = variance.op.inputs[0].op
    if squares.type == "Square":
        squares = squares.inputs[0].op
    elif squares.type != "SquaredDifference":
        return None
    is_around_mean = squares.type in ("Sub", "SquaredDifference") and squares.inputs == [x, mean]
    return epsilon if is_around_mean and mean.op.inputs[0] is x and sweep.only_use(variance) else None


# ---------------------------------------------------------------------------- GELU

gelu_op = Op(
    "_Gelu",
    "x: T -> y: T",
    approximate=attr("string", "none", allowed=("none", "tanh")),
    differentiable=False,
)
gelu_op.shape(lambda x, *, approximate: x)


@gelu_op.kernel
def _gelu_kernel(x: torch.Tensor, *, approximate: str) -> torch.Tensor:
    return torch.nn.functional.gelu(x, approximate=approximate)


def _gelu_reference(x: Any, approximate: str) -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


gelu_op.samples(
    (f32(2, 5, low=-4, high=4), {"approximate": "tanh"}), f32(2, 5, low=-4, high=4), against=_gelu_reference
)


@rule("Mul", phase="recognize")
def gelu(node: Node, sweep: Sweep) -> Any:
    """0.5 * x * (1 + Erf(x / sqrt(2))), or on GPUs 0.5 * x * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x³)))
    -> _Gelu(x)
    """
    number, values = _factors(node.outputs[0])
    if not math.isclose(number, 0.5, rel_tol=1e-6) or len(values) != 2:
        return None
    for x, gate in (values, values[::-1]):
        found = _number_and_rest(gate.op)
        if found is None or found[0] != 1 or not sweep.only_use(gate) or not sweep.only_use(found[1]):
            continue  # the gradient takes what is inside
        approximate = _approximation(found[1].op, x)
        is_quicker = approximate == "none" or node.device.type == "cuda"  # a CPU's tanh is ours
        if approximate and is_quicker and x.shape == node.outputs[0].shape:
            attrs = {"T": node.attrs["T"], "approximate": approximate}
            return sweep.make(gelu_op, [x], attrs, node)
    return None


def _approximation(function: Node, x: Value) -> str:
    """How a GELU of x is computed whose Tanh or Erf this is; empty where it is none."""
    if function.type not in ("Tanh", "Erf"):
        return ""
    scale, arguments = _factors(function.inputs[0])
    if function.type == "Erf":
        is_gelu = arguments == [x] and math.isclose(scale, math.sqrt(0.5), rel_tol=1e-6)
        return "none" if is_gelu else ""
    if not math.isclose(scale, math.sqrt(2 / math.pi), rel_tol=1e-6) or len(arguments) != 1:
        return ""
    inner = arguments[0].op
    if inner.type not in ("Add", "AddV2") or x not in inner.inputs:
        return ""
    weight, cube = _factors(inner.inputs[inner.inputs[0] is x])
    is_cube = cube == [x, x, x] or len(cube) == 1 and _is_cube(cube[0].op, x)
    return "tanh" if is_cube and math.isclose(weight, 0.044715, rel_tol=1e-6) else ""


def _is_cube(node: Node, x: Value) -> bool:
    return node.type == "Pow" and node.inputs[0] is x and _scalar(node.inputs[1]) == 3
