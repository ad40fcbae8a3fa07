# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from tideflow.graph.operation import Tensor as _Tensor
from tideflow.graph.typing import TensorOrRagged as _TensorOrRagged
from tideflow import acos as acos
from tideflow import acosh as acosh
from tideflow import add as add
from tideflow import asin as asin
from tideflow import asinh as asinh
from tideflow import atan as atan
from tideflow import atanh as atanh
from tideflow import ceil as ceil
from tideflow import cos as cos
from tideflow import cosh as cosh
from tideflow import digamma as digamma
from tideflow import erf as erf
from tideflow import erfc as erfc
from tideflow import exp as exp
from tideflow import expm1 as expm1
from tideflow import floor as floor
from tideflow import floormod as _mod
from tideflow import floormod as floormod
from tideflow import greater as greater
from tideflow import greater_equal as greater_equal
from tideflow import is_finite as is_finite
from tideflow import is_inf as is_inf
from tideflow import is_nan as is_nan
from tideflow import less as less
from tideflow import less_equal as less_equal
from tideflow import lgamma as lgamma
from tideflow import log as log
from tideflow import log1p as log1p
from tideflow import logical_and as logical_and
from tideflow import logical_or as logical_or
from tideflow import maximum as maximum
from tideflow import minimum as minimum
from tideflow import multiply as multiply
from tideflow import negative as negative
from tideflow import reciprocal as reciprocal
from tideflow import reduce_all as reduce_all
from tideflow import reduce_any as reduce_any
from tideflow import reduce_max as reduce_max
from tideflow import reduce_mean as reduce_mean
from tideflow import reduce_min as reduce_min
from tideflow import reduce_prod as reduce_prod
from tideflow import reduce_sum as reduce_sum
from tideflow import rint as rint
from tideflow import rsqrt as rsqrt
from tideflow import segment_max as segment_max
from tideflow import segment_mean as segment_mean
from tideflow import segment_min as segment_min
from tideflow import segment_prod as segment_prod
from tideflow import segment_sum as segment_sum
from tideflow import sigmoid as sigmoid
from tideflow import sign as sign
from tideflow import sin as sin
from tideflow import sinh as sinh
from tideflow import sqrt as sqrt
from tideflow import square as square
from tideflow import squared_difference as squared_difference
from tideflow import subtract as subtract
from tideflow import tan as tan
from tideflow import tanh as tanh
from tideflow import unsorted_segment_max as unsorted_segment_max
from tideflow import unsorted_segment_min as unsorted_segment_min
from tideflow import unsorted_segment_prod as unsorted_segment_prod
from tideflow import unsorted_segment_sum as unsorted_segment_sum
from tideflow.nn.functions import l2_normalize as l2_normalize
from tideflow.nn.functions import zero_fraction as zero_fraction
from tideflow.ops.arrays.ranking import in_top_k as in_top_k
from tideflow.ops.arrays.ranking import top_k as top_k
from tideflow.ops.arrays.shapes import invert_permutation as invert_permutation
from tideflow.ops.math.adding import accumulate_n as accumulate_n
from tideflow.ops.math.adding import add_n as add_n
from tideflow.ops.math.binary import div_no_nan as _divide_no_nan
from tideflow.ops.math.binary import divide as divide
from tideflow.ops.math.binary import equal as equal
from tideflow.ops.math.binary import floordiv as floordiv
from tideflow.ops.math.binary import logical_xor as logical_xor
from tideflow.ops.math.binary import multiply_no_nan as multiply_no_nan
from tideflow.ops.math.binary import not_equal as not_equal
from tideflow.ops.math.binary import reciprocal_no_nan as reciprocal_no_nan
from tideflow.ops.math.binary import scalar_mul as scalar_mul
from tideflow.ops.math.binary import truediv as truediv
from tideflow.ops.math.checks import is_non_decreasing as is_non_decreasing
from tideflow.ops.math.checks import is_strictly_increasing as is_strictly_increasing
from tideflow.ops.math.complex_numbers import angle as angle
from tideflow.ops.math.complex_numbers import imag as imag
from tideflow.ops.math.complex_numbers import real as real
from tideflow.ops.math.confusion import confusion_matrix as confusion_matrix
from tideflow.ops.math.counting import bincount as bincount
from tideflow.ops.math.cumulative import cumprod as cumprod
from tideflow.ops.math.cumulative import cumsum as cumsum
from tideflow.ops.math.cumulative import cumulative_logsumexp as cumulative_logsumexp
from tideflow.ops.math.positions import argmax as argmax
from tideflow.ops.math.positions import argmin as argmin
from tideflow.ops.math.powers import atan2 as atan2
from tideflow.ops.math.powers import nextafter as nextafter
from tideflow.ops.math.powers import polyval as polyval
from tideflow.ops.math.powers import pow as pow
from tideflow.ops.math.reductions import count_nonzero as count_nonzero
from tideflow.ops.math.reductions import reduce_euclidean_norm as reduce_euclidean_norm
from tideflow.ops.math.reductions import reduce_logsumexp as reduce_logsumexp
from tideflow.ops.math.reductions import reduce_std as reduce_std
from tideflow.ops.math.reductions import reduce_variance as reduce_variance
from tideflow.ops.math.segments import unsorted_segment_mean as unsorted_segment_mean
from tideflow.ops.math.segments import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from tideflow.ops.math.special import bessel_i0 as bessel_i0
from tideflow.ops.math.special import bessel_i1 as bessel_i1
from tideflow.ops.math.special import betainc as betainc
from tideflow.ops.math.special import igamma as igamma
from tideflow.ops.math.special import igammac as igammac
from tideflow.ops.math.special import lbeta as lbeta
from tideflow.ops.math.special import polygamma as polygamma
from tideflow.ops.math.special import zeta as zeta
from tideflow.ops.math.unary import abs as abs
from tideflow.ops.math.unary import conj as conj
from tideflow.ops.math.unary import log_sigmoid as log_sigmoid
from tideflow.ops.math.unary import logical_not as logical_not
from tideflow.ops.math.unary import round as round
from tideflow.ops.nn.activations import softplus as softplus
from tideflow.ops.nn.activations import softsign as softsign
from tideflow.ops.nn.softmax import log_softmax as log_softmax
from tideflow.ops.nn.softmax import softmax as softmax

def bessel_i0e(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The modified Bessel function of order 0, times exp(-abs(x)).

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def bessel_i1e(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The modified Bessel function of order 1, times exp(-abs(x)).

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

divide_no_nan = _divide_no_nan
mod = _mod
def xdivy(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The quotient x / y, 0 where x is 0, even if y is 0 too.

    Args:
      x: A tensor of type float16, bfloat16, float32, float64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def xlogy(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The product x * log(y), 0 where x is 0, even if y is 0 too.

    Args:
      x: A tensor of type float16, bfloat16, float32, float64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""
