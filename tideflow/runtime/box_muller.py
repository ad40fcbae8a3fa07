"""Normal numbers from uniform ones by the Box-Muller transform, with the same bits as TensorFlow's.

TensorFlow takes single-precision `log`, `sin` and `cos` from the C library. Those of glibc (2.28 and later)
are short polynomials in double precision, rounded once at the end, and not always to the nearest float:
NumPy's differ from them in one value out of five. So this module has the same polynomials. A uniform float
has 23 random bits; for all of them, no bit of the three functions differs from glibc's.

In double precision `by_c_library` has NumPy call the C library: the bits are those of its version here.
"""

import math
from collections.abc import Callable

import numpy as np

SMALLEST = 1.0e-7
"""Smaller uniform numbers are replaced by this one, so that the logarithm stays finite."""


def by_c_library(function: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
    """A function of NumPy, computed by the C library as TensorFlow does: NumPy's own vector code, which has
    other last bits, is only for vectors that ascend in memory.
    """
    return function(*[vector[::-1] for vector in vectors])[::-1]


def _hexadecimal(numbers: str) -> np.ndarray:
    return np.array([float.fromhex(number) for number in numbers.split()])


# log(z 2**k) = k log(2) + log(c) + log(z / c), where c is the nearest to z of sixteen numbers, and the last
# term is a polynomial in z / c - 1. Coefficients of the highest powers come first, here and below.
_INVERSE_C = _hexadecimal("""
    0x1.661ec79f8f3bep+0  0x1.571ed4aaf883dp+0  0x1.49539f0f010bp+0   0x1.3c995b0b80385p+0
    0x1.30d190c8864a5p+0  0x1.25e227b0b8eap+0   0x1.1bb4a4a1a343fp+0  0x1.12358f08ae5bap+0
    0x1.0953f419900a7p+0  0x1p+0                0x1.e608cfd9a47acp-1  0x1.ca4b31f026aap-1
    0x1.b2036576afce6p-1  0x1.9c2d163a1aa2dp-1  0x1.886e6037841edp-1  0x1.767dcf5534862p-1
""")
_LOG_C = -np.log(_INVERSE_C)
_LOG_POLYNOMIAL = _hexadecimal("-0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")
_SMALLEST_Z = np.uint32(0x3F330000)  # the bits of 0.69921875: z lies between that and twice that
_EXPONENT = np.uint32(0xFF800000)

# sin(x) / x and cos(x), as polynomials in x**2 for x within a quarter of pi.
_SIN_POLYNOMIAL = _hexadecimal("-0x1.994eb3774cf24p-13 0x1.1107605230bc4p-7 -0x1.555545995a603p-3 0x1p0")
_COS_POLYNOMIAL = _hexadecimal("""
    0x1.99343027bf8c3p-16 -0x1.6c087e89a359dp-10 0x1.55553e1068f19p-5 -0x1.ffffffd0c621cp-2 0x1p0
""")


def box_muller(uniforms: np.ndarray) -> np.ndarray:
    """Turns pairs of uniform numbers in [0, 1), adjacent in the last axis, into pairs of normal numbers."""
    pairs = uniforms.reshape(-1, 2)
    above_zero = np.maximum(pairs[:, 0], pairs.dtype.type(SMALLEST))
    angle = pairs[:, 1].astype(np.float64)
    angle *= 2 * math.pi
    if pairs.dtype == np.float32:
        radius = _log_single(above_zero)
        sine, cosine = _sin_cos_single(angle)
    else:
        radius = by_c_library(np.log, above_zero)
        sine, cosine = by_c_library(np.sin, angle), by_c_library(np.cos, angle)
    radius *= -2
    np.sqrt(radius, out=radius)
    normals = np.empty_like(pairs)
    np.multiply(sine, radius, out=normals[:, 0])
    np.multiply(cosine, radius, out=normals[:, 1])
    return normals.reshape(uniforms.shape)


def _log_single(x: np.ndarray) -> np.ndarray:
    """glibc's logf, for positive normal floats."""
    above = x.view(np.uint32) - _SMALLEST_Z
    nearest = (above >> 19 & 15).astype(np.intp)
    exponent = above.view(np.int32) >> 23
    z = (x.view(np.uint32) - (above & _EXPONENT)).view(np.float32)
    ratio = _INVERSE_C[nearest]
    ratio *= z
    ratio -= 1
    result = exponent * math.log(2)
    result += _LOG_C[nearest]
    result += ratio
    curve = _polynomial(_LOG_POLYNOMIAL, ratio)
    ratio *= ratio
    curve *= ratio
    result += curve
    return result.astype(np.float32)


def _sin_cos_single(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """glibc's sincosf, for angles from 0 to 2 pi, which are rounded to floats first."""
    x = angle.astype(np.float32).astype(np.float64)
    turns = np.rint(x * (2 / math.pi))
    quadrant = turns.astype(np.int32)
    turns *= math.pi / 2
    x -= turns
    square = np.multiply(x, x, out=turns)
    sine = _polynomial(_SIN_POLYNOMIAL, square)
    sine *= x
    sine = sine.astype(np.float32)
    cosine = _polynomial(_COS_POLYNOMIAL, square).astype(np.float32)
    _rotate(sine.view(np.int32), cosine.view(np.int32), quadrant)
    return sine, cosine


def _polynomial(coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    result: np.ndarray = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        result += coefficient
        result *= x
    result += coefficients[-1]
    return result


def _rotate(sine: np.ndarray, cosine: np.ndarray, quadrant: np.ndarray) -> None:
    """Rotates an angle by `quadrant` right angles: changes its sine and cosine, as the bits of floats."""
    exchanged = sine ^ cosine
    exchanged &= -(quadrant & 1)
    sine ^= exchanged
    cosine ^= exchanged
    sine ^= (quadrant & 2) << 30
    cosine ^= (quadrant + 1 & 2) << 30
