"""Functions of two tensors beyond arithmetic: powers, logarithms times factors, angles, next numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.helpers import elementwise, unbroadcast
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.flops import per_output_element
from tideflow.ops.helpers.looking import can_look
from tideflow.ops.helpers.types import COMPLEX, FLOATS, FLOATS_HALF_FIRST, types
from tideflow.ops.math import binary, casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged


def _power(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if binary.is_integer(x) and can_look() and bool((y < 0).any()):
        raise errors.invalid_argument("Integers to negative integer powers are not allowed")
    return torch.pow(x, y)


def _power_gradient(op: Operation, grad: Any) -> list[Tensor]:
    x, y = op.inputs
    to_x, to_y = unbroadcast.short_ways_back(x, y, grad)
    x, y = unary.conj(x), unary.conj(y)
    grad_x = to_x(grad * y * pow(x, y - 1))
    z = unary.conj(op.outputs[0])
    has_log = binary.not_equal(x, 0) if x.dtype.is_complex else x > 0
    safe_x = definition("Select")(has_log, x, creation.ones_like(x))
    log_x = definition("Select")(has_log, unary.log(safe_x), creation.zeros_like(x))
    return [grad_x, to_y(grad * z * log_x)]


def _power_specialized(node: Any) -> Any:
    x, y = node.inputs
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return None
    if y.constant is not None and not y.constant.ndim and x.dtype.is_floating:
        return torch.pow, [x, float(y.constant)]  # ATen squares where the exponent is seen to be 2
    return torch.pow, node.inputs


raw_pow = elementwise.binary(
    "Pow",
    "",
    "x to the power y.",
    _power,
    _power_gradient,
    types=types("bfloat16 float half double int8 int16 int32 int64 complex64 complex128"),
    specialize=_power_specialized,
    domain=(0.5, 2.0),
    against=np.power,
    flops=per_output_element(),
)


@export("pow", "math.pow", ragged="broadcast_values")
def pow(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
    """x to the power y, element by element.

    Args:
      x: A tensor of numbers.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`. No exponent of an integer
        may be negative.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape.
    """
    return raw_pow(x, y, name=name)


@export("math.polyval")
def polyval(coeffs: list, x: TensorLike, name: str | None = None) -> Tensor:
    """The value of a polynomial at x, by Horner's scheme.

    Args:
      coeffs: The coefficients, a list of tensors or numbers: that of the highest power first.
      x: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `x`, broadcast with the coefficients; zeros where there are none.
    """
    with name_scope(name, "polyval", [*_flat_list(coeffs), x]) as scope:
        x = convert_to_tensor(x, name="x")
        if not len(coeffs):
            return creation.zeros_like(x, name=scope)
        terms = [convert_to_tensor(term, name=f"coeff_{i}") for i, term in enumerate(coeffs)]
        value = terms[0]
        for term in terms[1:]:
            value = term + value * x
        return value


def _flat_list(coeffs: Any) -> list:
    return [] if isinstance(coeffs, Tensor) else list(coeffs)


def _by_partials(partials: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Callable:
    """The gradient of a function whose two partial derivatives are given."""

    def _gradient(op: Operation, grad: Any) -> list[Tensor]:
        x, y = op.inputs
        to_x, to_y = unbroadcast.ways_back(shapes.shape(x), shapes.shape(y))
        with control_dependencies([grad]):
            by_x, by_y = partials(x, y)
            grad_x = to_x(by_x * grad)
            return [grad_x, to_y(by_y * grad)]

    return _gradient


def _where_not_zero(x: Tensor) -> Tensor:
    """1 where x is not 0, else 0."""
    dtype = x.dtype.base_dtype
    return casting.cast(binary.not_equal(x, casting.cast(0.0, dtype)), dtype)


xlogy = elementwise.binary(
    "Xlogy",
    "math.xlogy",
    "The product x * log(y), 0 where x is 0, even if y is 0 too.",
    lambda x, y: binary.zero_where(x == 0, x * torch.log(y)),
    _by_partials(lambda x, y: (xlogy(_where_not_zero(x), y), xdivy(x, y))),
    types=FLOATS_HALF_FIRST + COMPLEX,
    domain=(0.5, 2.0),
    against=lambda x, y: x * np.log(y),
)


xdivy = elementwise.binary(
    "Xdivy",
    "math.xdivy",
    "The quotient x / y, 0 where x is 0, even if y is 0 too.",
    lambda x, y: binary.zero_where(x == 0, x / y),
    _by_partials(lambda x, y: (xdivy(_where_not_zero(x), y), xdivy(unary.negative(x), y**2))),
    types=FLOATS_HALF_FIRST + COMPLEX,
    domain=(0.5, 2.0),
    against=np.divide,
)

atan2_op = Op("Atan2", "y: T, x: T -> z: T", T=FLOATS)
atan2_op.shape(broadcast_shapes)
atan2_op.kernel(torch.atan2)


@atan2_op.gradient
def _atan2_gradient(op, grad):
    y, x = op.inputs
    if unbroadcast.known_and_equal(x, y):
        to_y = to_x = lambda grad: grad
    else:
        to_y, to_x = unbroadcast.short_ways_back(y, x, grad)
    with control_dependencies([grad]):
        scaled = grad / (unary.square(x) + unary.square(y))
        grad_y = to_y(x * scaled)
        return [grad_y, to_x(-y * scaled)]


elementwise.add_binary_samples(atan2_op, (0.5, 2.0), np.arctan2)


@export("atan2", "math.atan2", ragged="broadcast_values")
def atan2(y: TensorOrRagged, x: TensorOrRagged, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), between -pi and pi.

    Args:
      y: A tensor of floating-point numbers.
      x: A tensor of the type of `y`, of a shape that broadcasts with that of `y`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `y` and of the broadcast shape.
    """
    return atan2_op(y, x, name=name)


next_after_op = Op(
    "NextAfter", "x1: T, x2: T -> output: T", T=attr("type", "float", allowed=types("double float"))
)
next_after_op.shape(broadcast_shapes)
next_after_op.kernel(torch.nextafter)


@next_after_op.gradient
def _next_after_gradient(op, grad):
    x1, x2 = op.inputs
    to_x1, to_x2 = unbroadcast.ways_back(shapes.shape(x1), shapes.shape(x2))
    with control_dependencies([grad]):
        ones = creation.ones(shapes.shape(x1), dtype=x1.dtype.base_dtype)
        zeros = creation.zeros(shapes.shape(x2), dtype=x2.dtype.base_dtype)
        grad_x1 = to_x1(ones * grad)
        return [grad_x1, to_x2(zeros * grad)]


elementwise.add_binary_samples(next_after_op, (0.5, 2.0), np.nextafter)


@export("math.nextafter")
def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The next number that the type has after x1 on the way to x2.

    Args:
      x1: A tensor of type float32 or float64.
      x2: A tensor of the type of `x1`, of a shape that broadcasts with that of `x1`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x1` and of the broadcast shape.
    """
    return next_after_op(x1, x2, name=name)
