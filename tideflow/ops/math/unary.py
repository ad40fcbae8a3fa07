"""Element-wise functions of one tensor. `complex_numbers` has the parts of complex ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, definition, not_differentiable
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.helpers import cpu_functions
from tideflow.ops.helpers.axes import merged
from tideflow.ops.helpers.elementwise import of_values, same_shape, unary, unary_samples
from tideflow.ops.helpers.flops import per_input_element, per_output_element
from tideflow.ops.helpers.references import slope
from tideflow.ops.helpers.samples import boolean, c64, f32, i32
from tideflow.ops.helpers.types import COMPLEX, FLOATS, FLOATS_COMPLEX, SIGNED, SIGNED_NUMBERS, UNSIGNED
from tideflow.ops.math import binary, complex_numbers

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorOrRagged

# -------------------------------------------------------------------------------- laws of gradients


def times(derivative: Callable[[Tensor], Tensor]) -> Callable:
    """The chain rule: gradient * derivative(x)."""

    def _gradient(op: Operation, grad: Any) -> Tensor:
        with control_dependencies([grad]):
            return grad * derivative(conj(op.inputs[0]))

    return _gradient


def over(derivative: Callable[[Tensor], Tensor]) -> Callable:
    """The chain rule for an inverse function: gradient / derivative(y)."""

    def _gradient(op: Operation, grad: Any) -> Tensor:
        with control_dependencies([grad]):
            return grad / derivative(conj(op.outputs[0]))

    return _gradient


def by_op(op_type: str, conjugate: bool = False) -> Callable:
    """The gradient is an op of its own, of the output and its gradient."""

    def _gradient(op: Operation, grad: Any) -> Tensor:
        with control_dependencies([grad] if conjugate else []):
            y = conj(op.outputs[0]) if conjugate else op.outputs[0]
            return definition(op_type)(y, grad)

    return _gradient


def flat(op: Operation, grad: Any) -> None:
    """The gradient of a step function: none passes."""
    return None


# -------------------------------------------------------------------------------- sign and size

abs_op = Op("Abs", "x: T -> y: T", T=FLOATS + SIGNED)
abs_op.shape(same_shape)
abs_op.kernel(torch.abs)
abs_op.gradient(lambda op, grad: grad * sign(op.inputs[0]))
abs_op.samples(*unary_samples(FLOATS, (-1.0, 1.0)), i32(3), against=np.abs)


@export("abs", "math.abs", ragged="values")
def abs(x: TensorOrRagged | SparseTensor, name: str | None = None) -> Any:
    """The absolute value; of complex numbers, their real modulus.

    Args:
      x: A tensor or SparseTensor of signed numbers.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape of `x`. It has the type of `x`, or where that is complex, the real
      type of its parts.
    """
    if isinstance(x, SparseTensor):
        return of_values(abs, "Abs", x, name)
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return complex_numbers.complex_abs_op(x, Tout=x.dtype.real_dtype, name=scope)
        return abs_op(x, name=scope)


negative = unary(
    "Neg",
    "math.negative negative",
    "The negative of each element, -x.",
    torch.neg,
    lambda op, grad: -grad,
    types=SIGNED_NUMBERS,
    sparse=True,
    sized=True,
    against=np.negative,
    flops=per_input_element(),
    ragged="values",
)
sign = unary(
    "Sign",
    "math.sign sign",
    "-1, 0 or 1 as x is below, at or above 0; of a complex number, x / abs(x).",
    torch.sgn,
    lambda op, grad: creation.zeros(shapes.shape(op.inputs[0]), dtype=op.inputs[0].dtype.base_dtype),
    types=SIGNED_NUMBERS,
    sparse=True,
    against=np.sign,
    ragged="values",
)

conj_op = Op("Conj", "input: T -> output: T", T=attr("type", "complex64", allowed=(*COMPLEX, "variant")))
conj_op.shape(same_shape)
conj_op.kernel(torch.conj_physical)
conj_op.gradient(lambda op, grad: conj(grad))
conj_op.samples(c64(2, 3), c64(), c64(0, 2), against=np.conj)


@export("conj", "math.conj", ragged="values")
def conj(x: TensorOrRagged, name: str | None = None) -> Tensor:
    """The complex conjugate of each element; real numbers are their own.

    Args:
      x: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`; `x` itself where it is real.

    Raises:
      TypeError: If `x` holds no numbers.
    """
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        if x.dtype.is_complex or x.dtype.name == "variant":
            return conj_op(x, name=scope)
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


# -------------------------------------------------------------------------------- powers and roots


def reciprocal_of(x: torch.Tensor) -> torch.Tensor:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return torch.reciprocal(x)
    return torch.div(torch.ones_like(x), x, rounding_mode="trunc")


reciprocal = unary(
    "Reciprocal",
    "math.reciprocal reciprocal",
    "The reciprocal of each element, 1 / x; of integers, rounded toward zero.",
    reciprocal_of,
    by_op("ReciprocalGrad"),
    types=SIGNED_NUMBERS,
    domain=(0.5, 2.0),
    against=np.reciprocal,
    flops=per_input_element(),
    ragged="values",
)

inv_op = Op("Inv", "x: T -> y: T", T=SIGNED_NUMBERS)
inv_op.shape(same_shape)
inv_op.kernel(reciprocal_of)
inv_op.gradient(by_op("ReciprocalGrad"))
inv_op.samples(f32(2, 3, low=0.5, high=2.0), against=np.reciprocal)


def _square_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        x = conj(op.inputs[0])
        two = constants.constant(2.0, dtype=x.dtype.base_dtype)
        return binary.multiply(grad, binary.multiply(x, two))


square = unary(
    "Square",
    "math.square square",
    "The square of each element, x * x.",
    torch.square,
    _square_gradient,
    types=FLOATS + SIGNED + UNSIGNED + COMPLEX,
    sparse=True,
    sized=True,
    against=np.square,
    flops=per_input_element(),
    ragged="values",
)
sqrt = unary(
    "Sqrt",
    "math.sqrt sqrt",
    "The square root of each element.",
    torch.sqrt,
    by_op("SqrtGrad"),
    domain=(0.1, 3.0),
    sparse=True,
    against=np.sqrt,
    ragged="values",
)
definition("Sqrt").specialize(cpu_functions.by_numpy(cpu_functions.sqrt))
rsqrt = unary(
    "Rsqrt",
    "math.rsqrt rsqrt",
    "The reciprocal of the square root, 1 / sqrt(x).",
    torch.rsqrt,
    by_op("RsqrtGrad"),
    domain=(0.1, 3.0),
    against=lambda x: 1 / np.sqrt(x),
    flops=per_input_element(2),
    ragged="values",
)

# -------------------------------------------------------------------------------- exponentials and logarithms


def _exp_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        return grad * conj(op.outputs[0])


exp = unary(
    "Exp", "math.exp exp", "e to the power x.", torch.exp, _exp_gradient, against=np.exp, ragged="values"
)
definition("Exp").specialize(cpu_functions.by_numpy(cpu_functions.exp))

expm1 = unary(
    "Expm1",
    "math.expm1 expm1",
    "exp(x) - 1, exact near 0.",
    torch.expm1,
    times(lambda x: exp(x)),
    against=np.expm1,
    ragged="values",
)
log = unary(
    "Log",
    "math.log log",
    "The natural logarithm.",
    torch.log,
    times(lambda x: reciprocal(x)),
    domain=(0.1, 3.0),
    against=np.log,
    flops=per_input_element(),
    ragged="values",
)
definition("Log").specialize(cpu_functions.by_numpy(cpu_functions.log))
log1p = unary(
    "Log1p",
    "math.log1p log1p",
    "log(1 + x), exact near 0.",
    torch.log1p,
    times(lambda x: reciprocal(1 + x)),
    domain=(-0.5, 3.0),
    against=np.log1p,
    ragged="values",
)
sigmoid = unary(
    "Sigmoid",
    "math.sigmoid sigmoid nn.sigmoid",
    "The logistic function, 1 / (1 + exp(-x)).",
    torch.sigmoid,
    by_op("SigmoidGrad", conjugate=True),
    against=lambda x: 1 / (1 + np.exp(-x)),
)


@export("log_sigmoid", "math.log_sigmoid", ragged="values")
def log_sigmoid(x: TensorOrRagged, name: str | None = None) -> Tensor:
    """The logarithm of the logistic function, exact where that vanishes.

    Args:
      x: A tensor of floating-point numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return negative(tf.nn.softplus(-x), name=scope)


# -------------------------------------------------------------------------------- circular and hyperbolic

sin = unary(
    "Sin", "math.sin sin", "The sine.", torch.sin, times(lambda x: cos(x)), against=np.sin, ragged="values"
)


def _cos_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        return -grad * sin(conj(op.inputs[0]))


cos = unary("Cos", "math.cos cos", "The cosine.", torch.cos, _cos_gradient, against=np.cos, ragged="values")


def _tan_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        return square(reciprocal(cos(conj(op.inputs[0])))) * grad


tan = unary("Tan", "math.tan tan", "The tangent.", torch.tan, _tan_gradient, against=np.tan, ragged="values")


def _with_one(combine: Callable, x: Tensor) -> Tensor:
    """1 - x² or 1 + x²."""
    squared = square(x)
    return combine(constants.constant(1, dtype=x.dtype.base_dtype), squared)


asin = unary(
    "Asin",
    "math.asin asin",
    "The angle whose sine is x.",
    torch.asin,
    times(lambda x: reciprocal(sqrt(_with_one(binary.subtract, x)))),
    domain=(-0.9, 0.9),
    against=np.arcsin,
    ragged="values",
)


def _acos_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        slope = reciprocal(sqrt(_with_one(binary.subtract, conj(op.inputs[0]))))
        return -grad * slope


acos = unary(
    "Acos",
    "math.acos acos",
    "The angle whose cosine is x.",
    torch.acos,
    _acos_gradient,
    domain=(-0.9, 0.9),
    against=np.arccos,
    ragged="values",
)
atan = unary(
    "Atan",
    "math.atan atan",
    "The angle whose tangent is x.",
    torch.atan,
    times(lambda x: reciprocal(_with_one(binary.add, x))),
    against=np.arctan,
    ragged="values",
)
sinh = unary(
    "Sinh",
    "math.sinh sinh",
    "The hyperbolic sine.",
    torch.sinh,
    times(lambda x: cosh(x)),
    against=np.sinh,
    ragged="values",
)
cosh = unary(
    "Cosh",
    "math.cosh cosh",
    "The hyperbolic cosine.",
    torch.cosh,
    times(lambda x: sinh(x)),
    against=np.cosh,
    ragged="values",
)
tanh = unary(
    "Tanh",
    "math.tanh tanh nn.tanh",
    "The hyperbolic tangent.",
    torch.tanh,
    by_op("TanhGrad", conjugate=True),
    sparse=True,
    against=np.tanh,
)
definition("Tanh").specialize(cpu_functions.by_numpy(cpu_functions.tanh))


asinh = unary(
    "Asinh",
    "math.asinh asinh",
    "The inverse hyperbolic sine.",
    torch.asinh,
    over(lambda y: cosh(y)),
    against=np.arcsinh,
    ragged="values",
)
acosh = unary(
    "Acosh",
    "math.acosh acosh",
    "The inverse hyperbolic cosine.",
    torch.acosh,
    over(lambda y: sinh(y)),
    domain=(1.5, 3.0),
    against=np.arccosh,
    ragged="values",
)
atanh = unary(
    "Atanh",
    "math.atanh atanh",
    "The inverse hyperbolic tangent.",
    torch.atanh,
    times(lambda x: reciprocal(_with_one(binary.subtract, x))),
    domain=(-0.9, 0.9),
    against=np.arctanh,
    ragged="values",
)

# -------------------------------------------------------------------------------- error and gamma functions


def _erf_gradient(scale: float) -> Callable:
    def _gradient(op: Operation, grad: Any) -> Tensor:
        factor = constants.constant(scale, dtype=grad.dtype.base_dtype)
        with control_dependencies([grad]):
            return grad * factor * exp(-square(conj(op.inputs[0])))

    return _gradient


erf = unary(
    "Erf",
    "math.erf erf",
    "The error function.",
    torch.erf,
    _erf_gradient(2 / math.sqrt(math.pi)),
    types=FLOATS,
    sparse=True,
    against=np.vectorize(math.erf, otypes=[float]),
    ragged="values",
)
erfc = unary(
    "Erfc",
    "math.erfc erfc",
    "The complementary error function, 1 - erf(x).",
    torch.erfc,
    _erf_gradient(-2 / math.sqrt(math.pi)),
    types=FLOATS,
    against=np.vectorize(math.erfc, otypes=[float]),
    ragged="values",
)
lgamma = unary(
    "Lgamma",
    "math.lgamma lgamma",
    "The logarithm of the absolute value of the gamma function.",
    torch.lgamma,
    times(lambda x: digamma(x)),
    types=FLOATS,
    domain=(0.1, 3.0),
    against=np.vectorize(math.lgamma, otypes=[float]),
    ragged="values",
)


def digamma_values(x: torch.Tensor) -> torch.Tensor:
    """The digamma function of torch, with infinity at every pole, as TensorFlow has it."""
    poles = (x <= 0) & (x == x.floor())
    return torch.digamma(x).masked_fill(poles, math.inf)


digamma = unary(
    "Digamma",
    "math.digamma digamma",
    "The derivative of lgamma, the logarithm of the gamma function.",
    digamma_values,
    times(lambda x: tf.polygamma(constants.constant(1, dtype=x.dtype.base_dtype), x)),
    types=FLOATS,
    domain=(0.5, 3.0),
    against=lambda x: slope(np.vectorize(math.lgamma, otypes=[float]), x, step=1e-5),
    ragged="values",
)


# -------------------------------------------------------------------------------- rounding and classes

floor = unary(
    "Floor",
    "math.floor floor",
    "The largest integer that is not above x.",
    torch.floor,
    flat,
    types=FLOATS,
    sized=True,
    against=np.floor,
    ragged="values",
)
ceil = unary(
    "Ceil",
    "math.ceil ceil",
    "The smallest integer that is not below x.",
    torch.ceil,
    flat,
    types=FLOATS,
    sized=True,
    against=np.ceil,
    ragged="values",
)
rint = unary(
    "Rint",
    "math.rint rint",
    "The nearest integer; halves go to the even one.",
    torch.round,
    flat,
    types=FLOATS,
    against=np.rint,
    ragged="values",
)

round_op = Op("Round", "x: T -> y: T", T=SIGNED_NUMBERS)
round_op.shape(same_shape)


@round_op.kernel
def _round_kernel(x):
    return torch.view_as_complex(torch.view_as_real(x).round()) if x.is_complex() else torch.round(x)


round_op.gradient(flat)
round_op.samples(
    *unary_samples(FLOATS, (-3.0, 3.0)), ([-1.5, 0.5, 2.5], {"T": dtypes.float32}), i32(2), against=np.round
)


@export("round", "math.round", ragged="values")
def round(x: TensorOrRagged, name: str | None = None) -> Tensor:
    """The nearest integer; halves go to the even one.

    Args:
      x: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`; `x` itself where it holds integers.
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else round_op(x, name=name)


is_nan = unary(
    "IsNan",
    "math.is_nan is_nan debugging.is_nan",
    "Tells which elements are not a number (NaN).",
    torch.isnan,
    not_differentiable,
    types=FLOATS,
    gives="bool",
    against=np.isnan,
    ragged="values",
)
definition("IsNan").specialize(cpu_functions.by_numpy(cpu_functions.TESTS[torch.isnan], cpu_functions.TESTED))
is_inf = unary(
    "IsInf",
    "math.is_inf is_inf debugging.is_inf",
    "Tells which elements are infinite.",
    torch.isinf,
    not_differentiable,
    types=FLOATS,
    gives="bool",
    against=np.isinf,
    ragged="values",
)
definition("IsInf").specialize(cpu_functions.by_numpy(cpu_functions.TESTS[torch.isinf], cpu_functions.TESTED))
is_finite = unary(
    "IsFinite",
    "math.is_finite is_finite debugging.is_finite",
    "Tells which elements are finite numbers.",
    torch.isfinite,
    not_differentiable,
    types=FLOATS,
    gives="bool",
    against=np.isfinite,
    ragged="values",
)
definition("IsFinite").specialize(
    cpu_functions.by_numpy(cpu_functions.TESTS[torch.isfinite], cpu_functions.TESTED)
)

# -------------------------------------------------------------------------------- truth

logical_not_op = Op("LogicalNot", "x: bool -> y: bool", differentiable=False, as_number="not {}")
logical_not_op.shape(same_shape)
logical_not_op.kernel(torch.logical_not)
logical_not_op.samples(boolean(2, 3), boolean(), against=np.logical_not)


@export("logical_not", "math.logical_not", ragged="values")
def logical_not(x: TensorOrRagged, name: str | None = None) -> Tensor:
    """Tells where x is False.

    Args:
      x: A tensor of type bool.
      name: A name for the operation.

    Returns:
      A tensor of type bool and the shape of `x`.
    """
    return logical_not_op(x, name=name)


# -------------------------------------------------------------------------------- gradients that are ops


def of_output(
    op_type: str,
    kernel: Callable,
    gradient: Callable,
    *,
    function: Callable,
    inverse: Callable,
    aten: Callable | None = None,
) -> Op:
    """An op of a function's output `y` and the gradient `dy` by it: the gradient by the function's input.

    `function` and `inverse` say, in NumPy, which function that is. `aten` is one kernel for the same, with
    the arguments the other way round; of complex numbers it conjugates where TensorFlow does not.
    """
    op = Op(op_type, "y: T, dy: T -> z: T", T=FLOATS_COMPLEX)
    op.shape(merged)
    op.kernel(kernel)
    if aten is not None:
        op.specialize(lambda node: None if node.inputs[0].dtype.is_complex else (aten, node.inputs[::-1]))
    op.gradient(gradient)
    op.samples(
        (f32(2, 3, low=0.2, high=0.9), f32(2, 3)),
        (f32(low=0.2), f32()),
        against=lambda y, dy: dy * slope(function, inverse(np.float64(y))),
    )
    return op


def _sigmoid_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, dy = conj(op.inputs[0]), conj(op.inputs[1])
        product = grad * dy
        return [product - 2.0 * product * y, sigmoid_grad_op(y, grad)]


sigmoid_grad_op = of_output(
    "SigmoidGrad",
    lambda y, dy: dy * y * (1 - y),
    _sigmoid_grad_gradient,
    function=lambda x: 1 / (1 + np.exp(-x)),
    inverse=lambda y: np.log(y / (1 - y)),
    aten=torch.ops.aten.sigmoid_backward.default,
)


def _tanh_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, dy = conj(op.inputs[0]), conj(op.inputs[1])
        return [grad * -2.0 * dy * y, tanh_grad_op(y, grad)]


tanh_grad_op = of_output(
    "TanhGrad",
    lambda y, dy: dy * (1 - y * y),
    _tanh_grad_gradient,
    function=np.tanh,
    inverse=np.arctanh,
    aten=torch.ops.aten.tanh_backward.default,
)


def _sqrt_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        ratio = grad / op.inputs[0]
        return [-conj(ratio) * op.outputs[0], 0.5 * ratio]


sqrt_grad_op = of_output(
    "SqrtGrad",
    lambda y, dy: 0.5 * dy / y.conj(),
    _sqrt_grad_gradient,
    function=np.sqrt,
    inverse=np.square,
)


def _rsqrt_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, conj_grad = conj(op.inputs[0]), conj(grad)
        return [-1.5 * conj_grad * op.inputs[1] * square(y), rsqrt_grad_op(y, grad)]


rsqrt_grad_op = of_output(
    "RsqrtGrad",
    lambda y, dy: -0.5 * dy * y.conj() ** 3,
    _rsqrt_grad_gradient,
    function=lambda x: x**-0.5,
    inverse=lambda y: y**-2,
)
rsqrt_grad_op.flops(per_output_element(4))


def reciprocal_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """The kernel of ReciprocalGrad and of InvGrad, its older name."""
    return -dy * y.conj().square()


def reciprocal_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    """The gradient of these two."""
    with control_dependencies([grad]):
        y, conj_grad = conj(op.inputs[0]), conj(grad)
        return [conj_grad * -2.0 * op.inputs[1] * y, reciprocal_grad_op(y, grad)]


reciprocal_grad_op = of_output(
    "ReciprocalGrad",
    reciprocal_backward,
    reciprocal_grad_gradient,
    function=np.reciprocal,
    inverse=np.reciprocal,
)
inv_grad_op = of_output(
    "InvGrad",
    reciprocal_backward,
    reciprocal_grad_gradient,
    function=np.reciprocal,
    inverse=np.reciprocal,
)
