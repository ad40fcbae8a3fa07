"""Backend functions: arithmetic, reductions and products."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.layers.argument_docs import explained
from tideflow.layers.keras_state import floatx

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_WORDS = {
    "axis": "The axis, or a list of axes; all if None.",
    "keepdims": "Whether reduced axes stay, with size one.",
    "a": "The exponent.",
    "min_value": "The least value.",
    "max_value": "The largest value.",
    "axes": "The axis of each, or one for both, along which products are summed.",
}


def _axis(axis: Any) -> Any:
    return list(axis) if isinstance(axis, (list, tuple)) else axis


def _number(x: Any) -> Any:
    return tf.cast(x, floatx()) if x.dtype.base_dtype == tf.bool else x


@export("keras.backend.abs")
@explained("Computes the absolute value.", **_WORDS)
def abs(x: TensorLike) -> Tensor:
    return tf.abs(x)


@export("keras.backend.sqrt")
@explained("Computes the square root; negative values count as zero.", **_WORDS)
def sqrt(x: TensorLike) -> Tensor:
    return tf.sqrt(
        tf.clip_by_value(
            x, tf.constant(0.0, x.dtype.base_dtype), tf.constant(float("inf"), x.dtype.base_dtype)
        )
    )


@export("keras.backend.exp")
@explained("Computes the exponential.", **_WORDS)
def exp(x: TensorLike) -> Tensor:
    return tf.exp(x)


@export("keras.backend.log")
@explained("Computes the logarithm.", **_WORDS)
def log(x: TensorLike) -> Tensor:
    return tf.log(x)


@export("keras.backend.square")
@explained("Computes the square.", **_WORDS)
def square(x: TensorLike) -> Tensor:
    return tf.square(x)


@export("keras.backend.sign")
@explained("Computes the sign.", **_WORDS)
def sign(x: TensorLike) -> Tensor:
    return tf.sign(x)


@export("keras.backend.sin")
@explained("Computes the sine.", **_WORDS)
def sin(x: TensorLike) -> Tensor:
    return tf.sin(x)


@export("keras.backend.cos")
@explained("Computes the cosine.", **_WORDS)
def cos(x: TensorLike) -> Tensor:
    return tf.cos(x)


@export("keras.backend.round")
@explained("Rounds to the nearest integer, halves to the even one.", **_WORDS)
def round(x: TensorLike) -> Tensor:
    return tf.round(x)


@export("keras.backend.transpose")
@explained("Reverses the axes.", **_WORDS)
def transpose(x: TensorLike) -> Tensor:
    return tf.transpose(x)


@export("keras.backend.pow")
@explained("Computes a power.", **_WORDS)
def pow(x: TensorLike, a: TensorLike) -> Tensor:
    return tf.pow(x, a)


@export("keras.backend.equal")
@explained("Computes where x is equal to y.", **_WORDS)
def equal(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.equal(x, y)


@export("keras.backend.not_equal")
@explained("Computes where x is not equal to y.", **_WORDS)
def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.not_equal(x, y)


@export("keras.backend.greater")
@explained("Computes where x is greater than y.", **_WORDS)
def greater(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.greater(x, y)


@export("keras.backend.greater_equal")
@explained("Computes where x is greater than or equal to y.", **_WORDS)
def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.greater_equal(x, y)


@export("keras.backend.less")
@explained("Computes where x is less than y.", **_WORDS)
def less(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.less(x, y)


@export("keras.backend.less_equal")
@explained("Computes where x is less than or equal to y.", **_WORDS)
def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.less_equal(x, y)


@export("keras.backend.maximum")
@explained("Computes the larger of two values.", **_WORDS)
def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.maximum(x, y)


@export("keras.backend.minimum")
@explained("Computes the smaller of two values.", **_WORDS)
def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    return tf.minimum(x, y)


@export("keras.backend.clip")
@explained("Limits values.", **_WORDS)
def clip(x: TensorLike, min_value: Any, max_value: Any) -> Tensor:
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    if min_value is None and max_value is None:
        return x
    x = tf.convert_to_tensor(x)
    low = -float("inf") if min_value is None else min_value
    high = float("inf") if max_value is None else max_value
    return tf.clip_by_value(x, *(_in_type_of(x, bound) for bound in (low, high)))


def _in_type_of(x: Tensor, bound: Any) -> Any:
    """A bound as a tensor."""
    return bound if isinstance(bound, (tf.Tensor, tf.Variable)) else tf.constant(bound, x.dtype.base_dtype)


@export("keras.backend.max")
@explained("Computes the largest value.", **_WORDS)
def max(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_max(x, axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.min")
@explained("Computes the least value.", **_WORDS)
def min(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_min(x, axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.sum")
@explained("Computes the sum.", **_WORDS)
def sum(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_sum(x, axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.prod")
@explained("Computes the product.", **_WORDS)
def prod(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_prod(x, axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.mean")
@explained("Computes the mean.", **_WORDS)
def mean(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_mean(_number(x), axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.var")
@explained("Computes the variance.", **_WORDS)
def var(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    x = _number(x)
    middle = tf.reduce_mean(x, axis=_axis(axis), keepdims=True)
    return tf.reduce_mean(tf.square(x - middle), axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.std")
@explained("Computes the standard deviation.", **_WORDS)
def std(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.sqrt(var(x, axis=axis, keepdims=keepdims))


@export("keras.backend.any")
@explained("Computes whether any value is true.", **_WORDS)
def any(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_any(tf.cast(x, tf.bool), axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.all")
@explained("Computes whether all value is true.", **_WORDS)
def all(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.reduce_all(tf.cast(x, tf.bool), axis=_axis(axis), keepdims=keepdims)


@export("keras.backend.cumsum")
@explained("Computes the sums of all values so far along an axis.", **_WORDS)
def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    return tf.cumsum(x, axis=axis)


@export("keras.backend.cumprod")
@explained("Computes the products of all values so far along an axis.", **_WORDS)
def cumprod(x: TensorLike, axis: int = 0) -> Tensor:
    return tf.cumprod(x, axis=axis)


@export("keras.backend.argmax")
@explained("Computes the position of the largest value.", **_WORDS)
def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    return tf.argmax(x, axis)


@export("keras.backend.argmin")
@explained("Computes the position of the least value.", **_WORDS)
def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    return tf.argmin(x, axis)


@export("keras.backend.dot")
@explained("Computes the product of a tensor's last axis and another's last axis but one.", **_WORDS)
def dot(x: TensorLike, y: TensorLike) -> Tensor:
    if isinstance(x, tf.SparseTensor):
        return tf.sparse.sparse_dense_matmul(x, y)
    first, second = x.shape.ndims, y.shape.ndims
    if first is not None and (first > 2 or second > 2):
        return tf.tensordot(x, y, [[first - 1], [second - 2 if second > 1 else 0]])
    return tf.matmul(x, y)


@export("keras.backend.batch_dot")
@explained("Computes the products of samples of two batches.", **_WORDS)
def batch_dot(x: TensorLike, y: TensorLike, axes: Any = None) -> Tensor:
    first, second = x.shape.ndims, y.shape.ndims
    if axes is None:
        axes = [first - 1, second - 2]
    elif isinstance(axes, int):
        axes = [axes, axes]
    if first == second == 2:
        if axes[0] != axes[1]:
            x = tf.transpose(x, [1, 0])
        return tf.expand_dims(tf.reduce_sum(tf.multiply(x, y), axes[1]), 1)
    rank = builtins.max(first, second)
    product = tf.matmul(
        _of_rank(x, rank),
        _of_rank(y, rank),
        adjoint_a=axes[0] != rank - 1,
        adjoint_b=axes[1] == rank - 1,
    )
    if first != second:
        start = first + second - 3 if first > second else first - 1
        product = tf.squeeze(product, list(range(start, start + rank - builtins.min(first, second))))
    return product if product.shape.ndims != 1 else tf.expand_dims(product, 1)


def _of_rank(x: TensorLike, rank: int) -> TensorLike:
    """The tensor with axes of size one at its end, as many as it lacks."""
    lacking = rank - x.shape.ndims
    return tf.reshape(x, tf.concat([tf.shape(x), [1] * lacking], axis=0)) if lacking else x
