"""The standard normal distribution function, its logarithm and its inverse, exact in both tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.math import binary, powers, unary

# Beyond these the logarithm is taken of a series (below) or is nearly linear (above).
_SERIES_BELOW = {np.float32: -10.0, np.float64: -20.0}
_LINEAR_ABOVE = {np.float32: 5.0, np.float64: 8.0}
_MOST_TERMS = 30


def _floating(x: Any, name: str) -> Tensor:
    x = convert_to_tensor(x, name=name)
    if x.dtype.as_numpy_dtype not in _SERIES_BELOW:
        raise TypeError(f"{name}.dtype={x.dtype} is not handled: only float32 and float64 are.")
    return x


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """The probability of a standard normal number up to x."""
    with name_scope(name, values=[x]):
        return _ndtr(_floating(x, "x"))


def _ndtr(x: Tensor) -> Tensor:
    half_sqrt_2 = constants.constant(0.5 * math.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = unary.abs(w)
    in_a_tail = where_v2(w > 0.0, 2.0 - unary.erfc(z), unary.erfc(z))
    return 0.5 * where_v2(z < half_sqrt_2, 1.0 + unary.erf(w), in_a_tail)


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """The logarithm of `ndtr`.

    Args:
      x: A float32 or float64 tensor.
      series_order: How many terms the series has that is used far below zero, at most 30.
      name: A name for the scope of the new operations.

    Returns:
      The logarithms.

    Raises:
      TypeError: If `series_order` is no integer, or `x` of another type.
      ValueError: If `series_order` is negative or too large.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > _MOST_TERMS:
        raise ValueError(f"series_order must be <= {_MOST_TERMS}.")
    with name_scope(name, values=[x]):
        x = _floating(x, "x")
        kind = x.dtype.as_numpy_dtype
        below, above = kind(_SERIES_BELOW[kind]), kind(_LINEAR_ABOVE[kind])
        # What is not chosen is computed too: it must be finite, or its gradient would be NaN.
        middle = unary.log(_ndtr(binary.maximum(x, below)))
        lower = where_v2(x > below, middle, _log_series(binary.minimum(x, below), series_order))
        return where_v2(x > above, -_ndtr(-x), lower)


def _log_series(x: Tensor, order: int) -> Tensor:
    """log ndtr(x) for x far below zero."""
    square = unary.square(x)
    scale = -0.5 * square - unary.log(-x) - 0.5 * math.log(2.0 * math.pi)
    total, power, factor = creation.ones_like(x), creation.ones_like(x), 1.0
    for n in range(1, order + 1):
        power, factor = power * square, -factor * (2 * n - 1)
        total = total + factor / power
    return scale + unary.log(total)


# Rational approximations, from Moshier's Cephes library: highest powers first.
_CENTRAL = (
    (-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1,
     1.39312609387279679503e1, -1.23916583867381258016e0),
    (1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1,
     -2.25462687854119370527e2, 2.00260212380060660359e2, -8.20372256168333339912e1,
     1.59056225126211695515e1, -1.18331621121330003142e0),
)  # fmt: skip
_TAIL = (
    (4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1,
     4.40805073893200834700e1, 1.46849561928858024014e1, 2.18663306850790267539e0,
     -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4),
    (1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1,
     1.50425385692907503408e1, 2.50464946208309415979e0, -1.42182922854787788574e-1,
     -3.80806407691578277194e-2, -9.33259480895457427372e-4),
)  # fmt: skip
_FAR_TAIL = (
    (3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0,
     1.33303460815807542389e0, 2.01485389549179081538e-1, 1.23716634817820021358e-2,
     3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0,
     2.16236993594496635890e-1, 1.34204006088543189037e-2, 3.28014464682127739104e-4,
     2.89247864745380683936e-6, 6.79019408009981274425e-9),
)  # fmt: skip


def _ratio(x: Tensor, polynomials: tuple[Sequence[float], Sequence[float]]) -> Tensor:
    above, below = (powers.polyval([np.array(c, x.dtype.as_numpy_dtype) for c in p], x) for p in polynomials)
    return above / below


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The number up to which a standard normal number is with probability p: the inverse of `ndtr`."""
    with name_scope(name, values=[p]):
        p = _floating(p, "p")
        tail_begins = math.exp(-2.0)
        in_upper_tail = p > 1.0 - tail_begins
        mass = where_v2(in_upper_tail, 1.0 - p, p)
        half = creation.fill(shapes.shape(p), np.array(0.5, p.dtype.as_numpy_dtype))
        mass = where_v2(mass <= 0.0, half, mass)

        w = mass - 0.5
        central = (w + w * unary.square(w) * _ratio(unary.square(w), _CENTRAL)) * -math.sqrt(2.0 * math.pi)
        z = unary.sqrt(-2.0 * unary.log(mass))
        start = z - unary.log(z) / z
        tail = where_v2(z >= 8.0, start - _ratio(1.0 / z, _FAR_TAIL) / z, start - _ratio(1.0 / z, _TAIL) / z)
        x = where_v2(mass > tail_begins, central, tail)
        x = where_v2(in_upper_tail, x, -x)
        infinity = creation.fill(shapes.shape(p), np.array(np.inf, p.dtype.as_numpy_dtype))
        return where_v2(p <= 0.0, -infinity, where_v2(p >= 1.0, infinity, x))
