"""Special functions: incomplete gamma and beta, zeta, polygamma, Bessel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import brackets
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.helpers import unbroadcast
from tideflow.ops.helpers.axes import merged
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.elementwise import unary as define_unary
from tideflow.ops.helpers.references import slope
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS, REAL_PARTS
from tideflow.ops.math import reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# -------------------------------------------------------------------------------- Bessel functions


def _bessel_i0e_gradient(op: Operation, grad: Any) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        return grad * (bessel_i1e(x) - unary.sign(x) * y)


bessel_i0e = define_unary(
    "BesselI0e",
    "math.bessel_i0e",
    "The modified Bessel function of order 0, times exp(-abs(x)).",
    torch.special.i0e,
    _bessel_i0e_gradient,
    types=FLOATS,
    against=lambda x: np.i0(x) * np.exp(-np.abs(x)),
)


def _bessel_i1e_gradient(op: Operation, grad: Any) -> Tensor:
    """The slope is i0e(x) - i1e(x) * (sign(x) + 1 / x); at 0, where 1 / x does not exist, it is 1/2."""
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        zeros = creation.zeros_like(x)
        smallest = float(np.finfo(x.dtype.as_numpy_dtype).eps)
        divides = unary.abs(x) > smallest
        safe_x = definition("Select")(divides, x, smallest + zeros)
        derivative = bessel_i0e(safe_x) - y * (unary.sign(safe_x) + unary.reciprocal(safe_x))
        return grad * definition("Select")(divides, derivative, 0.5 + zeros)


bessel_i1e = define_unary(
    "BesselI1e",
    "math.bessel_i1e",
    "The modified Bessel function of order 1, times exp(-abs(x)).",
    torch.special.i1e,
    _bessel_i1e_gradient,
    types=FLOATS,
    against=lambda x: slope(np.i0, x, step=1e-5) * np.exp(-np.abs(x)),
)


@export("math.bessel_i0")
def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0.

    Args:
      x: A tensor of floating-point numbers.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the shape and type of `x`.
    """
    with name_scope(name, "bessel_i0", [x]):
        return unary.exp(unary.abs(x)) * bessel_i0e(x)


@export("math.bessel_i1")
def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1.

    Args:
      x: A tensor of floating-point numbers.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the shape and type of `x`.
    """
    with name_scope(name, "bessel_i1", [x]):
        return unary.exp(unary.abs(x)) * bessel_i1e(x)


# -------------------------------------------------------------------------------- incomplete gamma

POSITIVE = {"low": 0.5, "high": 3.0}


def _nan_where(condition: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.where(condition, torch.nan, value)


SAMPLES = (
    (f32(2, 3, **POSITIVE), f32(2, 3, **POSITIVE)),
    (f32(2, 1, **POSITIVE), f32(3, **POSITIVE)),
    (f32(0, 3, **POSITIVE), f32(3, **POSITIVE)),
)


def _partial_gradients(op: Operation, grad: Any) -> tuple[Tensor, Tensor]:
    """The gradients of igamma by a and by x."""
    a, x = op.inputs
    to_a, to_x = unbroadcast.ways_back(shapes.shape(a), shapes.shape(x))
    with control_dependencies([grad]):
        by_a = igamma_grad_a_op(a, x)
        by_x = unary.exp(-x + (a - 1) * unary.log(x) - unary.lgamma(a))
        grad_a = to_a(by_a * grad)
        return grad_a, to_x(by_x * grad)


igamma_op = Op("Igamma", "a: T, x: T -> z: T", T=FLOATS)
igamma_op.shape(broadcast_shapes)


@igamma_op.kernel
def _igamma_kernel(a, x):
    return _nan_where((a <= 0) | (x < 0), torch.special.gammainc(a, x))


@igamma_op.gradient
def _igamma_gradient(op, grad):
    return list(_partial_gradients(op, grad))


def _lower_gamma(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    from scipy.special import gammainc

    return gammainc(np.float64(a), np.float64(x))


igamma_op.samples(*SAMPLES, against=_lower_gamma)


@export("igamma", "math.igamma")
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function: the share of the gamma integral of `a` that lies below
    `x`.

    Args:
      a: A tensor of positive floating-point numbers.
      x: A tensor of the type of `a` with no negative elements, of a shape that broadcasts with that of `a`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a` and of the broadcast shape; NaN outside of the domain.
    """
    return igamma_op(a, x, name=name)


igammac_op = Op("Igammac", "a: T, x: T -> z: T", T=FLOATS)
igammac_op.shape(broadcast_shapes)


@igammac_op.kernel
def _igammac_kernel(a, x):
    return _nan_where((a <= 0) | (x < 0), torch.special.gammaincc(a, x))


@igammac_op.gradient
def _igammac_gradient(op, grad):
    grad_a, grad_x = _partial_gradients(op, grad)
    return [-grad_a, -grad_x]


igammac_op.samples(*SAMPLES, against=lambda a, x: 1 - _lower_gamma(a, x))


@export("igammac", "math.igammac")
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function: the share of the gamma integral of `a` that lies above
    `x`.

    Args:
      a: A tensor of positive floating-point numbers.
      x: A tensor of the type of `a` with no negative elements, of a shape that broadcasts with that of `a`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a` and of the broadcast shape; NaN outside of the domain.
    """
    return igammac_op(a, x, name=name)


def igamma_series(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The series S in igamma = F·S, and its derivative by a: S is the sum of x**n / (a (a+1) … (a+n)), and
    F = x**a exp(-x) / gamma(a).

    Both are summed in double precision until no term changes anything.
    """
    term = a.reciprocal()
    slope_of_term = -term / a
    series, slope_of_series = term, slope_of_term
    n = 0
    while bool((slope_of_term.abs() > 1e-17 * slope_of_series.abs()).any()):
        n += 1
        ratio = x / (a + n)
        term = term * ratio
        slope_of_term = slope_of_term * ratio - term / (a + n)
        series, slope_of_series = series + term, slope_of_series + slope_of_term
    return series, slope_of_series


igamma_grad_a_op = Op("IgammaGradA", "a: T, x: T -> z: T", T=REAL_PARTS, differentiable=None)
igamma_grad_a_op.shape(broadcast_shapes)


@igamma_grad_a_op.kernel
def _igamma_grad_a_kernel(a, x):
    dtype = a.dtype
    a, x = torch.broadcast_tensors(a.double(), x.double())
    series, slope_of_series = igamma_series(a, x)
    front = torch.exp(a * torch.log(x) - x - torch.lgamma(a))
    grad = front * (series * (torch.log(x) - torch.digamma(a)) + slope_of_series)
    grad = torch.where(x == 0, 0.0, torch.where(torch.isinf(x), 0.0, grad))
    return _nan_where((a <= 0) | (x < 0), grad).to(dtype)


igamma_grad_a_op.samples(
    *SAMPLES, against=lambda a, x: slope(lambda moved: _lower_gamma(moved, x), a, step=1e-5)
)


# -------------------------------------------------------------------------------- zeta and polygamma

OF_FLOATS = {"T": dtypes.float32}  # with Python numbers among the inputs, the type must be said

zeta_op = Op("Zeta", "x: T, q: T -> z: T", T=REAL_PARTS)
zeta_op.shape(broadcast_shapes)
zeta_op.kernel(torch.special.zeta)


@zeta_op.gradient
def _zeta_gradient(op, grad):
    x, q = op.inputs
    _, to_q = unbroadcast.ways_back(shapes.shape(x), shapes.shape(q))
    with control_dependencies([grad]):
        return [None, to_q(-x * zeta(x + 1, q) * grad)]


def _sum_of_powers(x: Any, q: np.ndarray) -> np.ndarray:
    """The first terms of the series, and for the rest its integral and the first corrections to that."""
    x, q, count = np.float64(x), np.float64(q), 1000
    terms = sum((q + n) ** -x for n in range(count))
    end = q + count
    return terms + end ** (1 - x) / (x - 1) + end**-x / 2 + x * end ** (-x - 1) / 12


zeta_op.samples(
    ([1.5, 2.0, 4.0], f32(3, **POSITIVE), OF_FLOATS),
    ([[3.0], [2.0]], f32(3, **POSITIVE), OF_FLOATS),
    against=_sum_of_powers,
)


@export("zeta", "math.zeta")
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + n) ** -x over n = 0, 1, 2 and so on.

    Args:
      x: A tensor of type float32 or float64, above 1.
      q: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape.
    """
    return zeta_op(x, q, name=name)


polygamma_op = Op("Polygamma", "a: T, x: T -> z: T", T=REAL_PARTS)
polygamma_op.shape(broadcast_shapes)


@polygamma_op.kernel
def _polygamma_kernel(a, x):
    """Derivatives of digamma are zetas; order 0 is digamma itself. A negative or broken order gives NaN."""
    order = a + 1
    sign = 1 - 2 * torch.remainder(order, 2)
    derivative = sign * torch.exp(torch.lgamma(order)) * torch.special.zeta(order, x)
    return _nan_where((a < 0) | (a != a.floor()), torch.where(a == 0, unary.digamma_values(x), derivative))


@polygamma_op.gradient
def _polygamma_gradient(op, grad):
    a, x = op.inputs
    _, to_x = unbroadcast.ways_back(shapes.shape(a), shapes.shape(x))
    with control_dependencies([grad]):
        return [None, to_x(polygamma(a + 1, x) * grad)]


def _polygamma_by_scipy(a: Any, x: np.ndarray) -> np.ndarray:
    from scipy.special import polygamma

    return polygamma(np.int64(a), np.float64(x))


polygamma_op.samples(
    ([0.0, 1.0, 2.0], f32(3, **POSITIVE), OF_FLOATS),
    (3.0, f32(2, 3, **POSITIVE), OF_FLOATS),
    against=_polygamma_by_scipy,
)


@export("polygamma", "math.polygamma")
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` of the digamma function.

    Args:
      a: The orders, a tensor of type float32 or float64 that holds whole numbers, none negative.
      x: A tensor of the type of `a`, of a shape that broadcasts with that of `a`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a` and of the broadcast shape; NaN where `a` is no order.
    """
    return polygamma_op(a, x, name=name)


# -------------------------------------------------------------------------------- incomplete beta

betainc_op = Op("Betainc", "a: T, b: T, x: T -> z: T", T=REAL_PARTS)


@betainc_op.shape
def _betainc_shape(a, b, x):
    whole = [(name, shape) for name, shape in (("a", a), ("b", b), ("x", x)) if shape.ndims != 0]
    if not whole:
        return []
    first, shape = whole[0]
    for name, other in whole[1:]:
        shown = f"{brackets(shape.tuple or ())} vs. {brackets(other.tuple or ())}"
        shape = merged(shape, other, f"Shapes of {first} and {name} are inconsistent: {shown}")
    return shape


def _away_from_zero(x: torch.Tensor, tiny: float) -> torch.Tensor:
    return torch.where(x.abs() < tiny, tiny, x)


def _beta_fraction(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The continued fraction 1 + d1 / (1 + d2 / (1 + ...)) of the incomplete beta, by Lentz's method."""
    tiny = 1e-300
    upper = torch.ones_like(x)
    lower = torch.zeros_like(x)
    value = torch.ones_like(x)
    for m in range(10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) if m else None
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for factor in (odd,) if even is None else (even, odd):
            lower = _away_from_zero(1 + factor * lower, tiny).reciprocal()
            upper = _away_from_zero(1 + factor / upper, tiny)
            change = upper * lower
            value = value * change
        if not bool(((change - 1).abs() > 1e-16).any()):
            break
    return value


@betainc_op.kernel
def _betainc_kernel(a, b, x):
    dtype = x.dtype
    a, b, x = torch.broadcast_tensors(a.double(), b.double(), x.double())
    # The fraction converges fast on one side of the mean; the other is its complement.
    swap = x > (a + 1) / (a + b + 2)
    p, q, t = torch.where(swap, b, a), torch.where(swap, a, b), torch.where(swap, 1 - x, x)
    beta = torch.lgamma(p) + torch.lgamma(q) - torch.lgamma(p + q)
    part = torch.exp(p * torch.log(t) + q * torch.log1p(-t) - beta) / (p * _beta_fraction(p, q, t))
    value = torch.where(swap, 1 - part, part)
    value = torch.where(x == 0, 0.0, torch.where(x == 1, 1.0, value))
    return _nan_where((a <= 0) | (b <= 0) | (x < 0) | (x > 1), value).to(dtype)


@betainc_op.gradient
def _betainc_gradient(op, grad):
    a, b, x = op.inputs
    _, to_x = unbroadcast.ways_back(shapes.shape(a), shapes.shape(x))
    log_beta = unary.lgamma(a) + unary.lgamma(b) - unary.lgamma(a + b)
    by_x = unary.exp((b - 1) * unary.log(1 - x) + (a - 1) * unary.log(x) - log_beta)
    return [None, None, to_x(by_x * grad)]


def _betainc_by_scipy(a: Any, b: Any, x: np.ndarray) -> np.ndarray:
    from scipy.special import betainc

    return betainc(np.float64(a), np.float64(b), np.float64(x))


betainc_op.samples(
    (2.0, 3.0, f32(2, 3, low=0.1, high=0.9), OF_FLOATS),
    ([0.5, 1.0, 4.0], [2.0, 0.7, 1.5], f32(3, low=0.1, high=0.9), OF_FLOATS),
    against=_betainc_by_scipy,
)
betainc_op.refuses((f32(2, 3), f32(2, 3), f32(3)), "Shapes must be equal rank, but are 2 and 1")


@export("betainc", "math.betainc")
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularized incomplete beta integral: the share of the beta integral of `a` and `b` that lies below
    `x`.

    Args:
      a: A tensor of positive numbers of type float32 or float64.
      b: A tensor of positive numbers of the type of `a`.
      x: A tensor of numbers from 0 to 1, of the type of `a`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a`; all of its arguments that are not scalars have its shape.
    """
    return betainc_op(a, b, x, name=name)


@export("lbeta", "math.lbeta")
def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function of the numbers along the last axis.

    Args:
      x: A tensor of floating-point numbers, of rank 1 or more.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `x`, without its last axis.
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        of_each = reductions.reduce_sum(unary.lgamma(x), axis=[-1])
        return of_each - unary.lgamma(reductions.reduce_sum(x, axis=[-1]))
