# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from typing import Any as _Any
from tideflow.contrib.labeled_tensor import nn as nn
from tideflow.contrib.labeled_tensor.axes import Axes as Axes
from tideflow.contrib.labeled_tensor.axes import Axis as Axis
from tideflow.contrib.labeled_tensor.axes import as_axis as as_axis
from tideflow.contrib.labeled_tensor.batches import batch as batch
from tideflow.contrib.labeled_tensor.batches import shuffle_batch as shuffle_batch
from tideflow.contrib.labeled_tensor.coder import ReshapeCoder as ReshapeCoder
from tideflow.contrib.labeled_tensor.elementwise import define_binary_op as define_binary_op
from tideflow.contrib.labeled_tensor.elementwise import define_unary_op as define_unary_op
from tideflow.contrib.labeled_tensor.examples import FixedLenFeature as FixedLenFeature
from tideflow.contrib.labeled_tensor.examples import parse_example as parse_example
from tideflow.contrib.labeled_tensor.examples import parse_single_example as parse_single_example
from tideflow.contrib.labeled_tensor.functional import foldl as foldl
from tideflow.contrib.labeled_tensor.functional import map_fn as map_fn
from tideflow.contrib.labeled_tensor.layout import AxisOrderError as AxisOrderError
from tideflow.contrib.labeled_tensor.layout import align as align
from tideflow.contrib.labeled_tensor.layout import axis_order_scope as axis_order_scope
from tideflow.contrib.labeled_tensor.layout import check_axis_order as check_axis_order
from tideflow.contrib.labeled_tensor.layout import expand_dims as expand_dims
from tideflow.contrib.labeled_tensor.layout import impose_axis_order as impose_axis_order
from tideflow.contrib.labeled_tensor.rearranged import concat as concat
from tideflow.contrib.labeled_tensor.rearranged import pack as pack
from tideflow.contrib.labeled_tensor.rearranged import pad as pad
from tideflow.contrib.labeled_tensor.rearranged import rename_axis as rename_axis
from tideflow.contrib.labeled_tensor.rearranged import reshape as reshape
from tideflow.contrib.labeled_tensor.rearranged import squeeze as squeeze
from tideflow.contrib.labeled_tensor.rearranged import tile as tile
from tideflow.contrib.labeled_tensor.rearranged import unpack as unpack
from tideflow.contrib.labeled_tensor.reductions import define_reduce_op as define_reduce_op
from tideflow.contrib.labeled_tensor.reductions import matmul as matmul
from tideflow.contrib.labeled_tensor.selections import boolean_mask as boolean_mask
from tideflow.contrib.labeled_tensor.selections import random_crop as random_crop
from tideflow.contrib.labeled_tensor.selections import select as select
from tideflow.contrib.labeled_tensor.selections import where as where
from tideflow.contrib.labeled_tensor.tensors import LabeledTensor as LabeledTensor
from tideflow.contrib.labeled_tensor.tensors import convert_to_labeled_tensor as convert_to_labeled_tensor
from tideflow.contrib.labeled_tensor.tensors import identity as identity
from tideflow.contrib.labeled_tensor.tensors import slice_function as _slice
from tideflow.contrib.labeled_tensor.tensors import transpose as transpose
from tideflow.contrib.labeled_tensor.values import cast as cast
from tideflow.contrib.labeled_tensor.values import constant as constant
from tideflow.contrib.labeled_tensor.values import ones_like as ones_like
from tideflow.contrib.labeled_tensor.values import placeholder as placeholder
from tideflow.contrib.labeled_tensor.values import verify_tensor_all_finite as verify_tensor_all_finite
from tideflow.contrib.labeled_tensor.values import zeros_like as zeros_like

def abs(labeled_tensor, name: _str | None = None):
    """Computes `abs` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def acos(labeled_tensor, name: _str | None = None):
    """Computes `acos` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def add(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `add` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def asin(labeled_tensor, name: _str | None = None):
    """Computes `asin` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def atan(labeled_tensor, name: _str | None = None):
    """Computes `atan` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def ceil(labeled_tensor, name: _str | None = None):
    """Computes `ceil` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def cos(labeled_tensor, name: _str | None = None):
    """Computes `cos` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def digamma(labeled_tensor, name: _str | None = None):
    """Computes `digamma` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def div(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `div` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def equal(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `equal` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def erf(labeled_tensor, name: _str | None = None):
    """Computes `erf` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def erfc(labeled_tensor, name: _str | None = None):
    """Computes `erfc` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def exp(labeled_tensor, name: _str | None = None):
    """Computes `exp` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def floor(labeled_tensor, name: _str | None = None):
    """Computes `floor` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def greater(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `greater` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def greater_equal(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `greater_equal` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def igamma(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `igamma` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def igammac(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `igammac` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def less(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `less` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def less_equal(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `less_equal` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def lgamma(labeled_tensor, name: _str | None = None):
    """Computes `lgamma` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def log(labeled_tensor, name: _str | None = None):
    """Computes `log` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def logical_and(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `logical_and` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def logical_not(labeled_tensor, name: _str | None = None):
    """Computes `logical_not` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def logical_or(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `logical_or` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def logical_xor(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `logical_xor` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def maximum(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `maximum` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def minimum(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `minimum` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def mod(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `mod` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def mul(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `mul` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def neg(labeled_tensor, name: _str | None = None):
    """Computes `neg` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def not_equal(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `not_equal` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def polygamma(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `polygamma` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def pow(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `pow` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def reciprocal(labeled_tensor, name: _str | None = None):
    """Computes `reciprocal` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def reduce_all(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_all` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_any(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_any` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_logsumexp(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_logsumexp` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_max(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_max` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_mean(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_mean` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_min(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_min` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_prod(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_prod` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def reduce_sum(labeled_tensor, axes: _Any = None, name: _str | None = None):
    """Computes `reduce_sum` along axes.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The name of an axis, or of several; all if None. A tuple of a name and a label keeps the axis,
        with one position of that label.
      name: A name for the operations.

    Returns:
      The results."""

def round(labeled_tensor, name: _str | None = None):
    """Computes `round` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def rsqrt(labeled_tensor, name: _str | None = None):
    """Computes `rsqrt` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def sigmoid(labeled_tensor, name: _str | None = None):
    """Computes `sigmoid` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def sign(labeled_tensor, name: _str | None = None):
    """Computes `sign` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def sin(labeled_tensor, name: _str | None = None):
    """Computes `sin` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

slice = _slice
def sqrt(labeled_tensor, name: _str | None = None):
    """Computes `sqrt` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def square(labeled_tensor, name: _str | None = None):
    """Computes `square` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def squared_difference(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `squared_difference` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def sub(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `sub` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""

def tan(labeled_tensor, name: _str | None = None):
    """Computes `tan` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def tanh(labeled_tensor, name: _str | None = None):
    """Computes `tanh` of each element.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      The results, with the same axes."""

def zeta(labeled_tensor_0, labeled_tensor_1, name: _str | None = None):
    """Computes `zeta` of each two elements, after aligning the axes.

    Args:
      labeled_tensor_0: The first labeled tensor, or a number.
      labeled_tensor_1: The second.
      name: A name for the operation.

    Returns:
      The results, with the axes of both."""
