"""Small functions between ops and layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.autodiff.custom import custom_gradient
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import float32, int32, int64
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.nn import activations

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("nn.swish")
@custom_gradient
def swish(features: TensorLike) -> Any:
    """Computes `x * sigmoid(x)`.

    The gradient computes the sigmoid again, so that only `x` is kept in memory.

    Args:
      features: The input tensor.

    Returns:
      A tensor of the same shape.
    """
    features = convert_to_tensor(features, name="features")

    def gradient(grad: Tensor) -> Tensor:
        with control_dependencies([grad]):
            gate = unary.sigmoid(features)
        return grad * (gate * (1.0 + features * (1.0 - gate)))

    return features * unary.sigmoid(features), gradient


def _dense(x: Any, weights: Any, biases: Any) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x, name="x")
    weights = convert_to_tensor(weights, name="weights")
    biases = convert_to_tensor(biases, name="biases")
    return matmul.matmul(x, weights), biases


@export("nn.xw_plus_b")
def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Computes `x @ weights + biases`.

    Args:
      x: A matrix.
      weights: A matrix.
      biases: A vector.
      name: The name of the operation.

    Returns:
      A matrix.
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        return activations.bias_add(*_dense(x, weights, biases), name=name)


@export("nn.relu_layer")
def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Computes `relu(x @ weights + biases)`.

    Args:
      x: A matrix.
      weights: A matrix.
      biases: A vector.
      name: The name of the operation.

    Returns:
      A matrix.
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        return activations.relu(activations.bias_add(*_dense(x, weights, biases)), name=name)


@export("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
def l2_normalize(
    x: TensorLike,
    axis: TensorLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """Divides a tensor by its L2 norm along axes.

    Args:
      x: The tensor.
      axis: The axis or axes; all if None.
      epsilon: The least square of the norm: a smaller one is replaced by it.
      name: The name of the operation.
      dim: Another name for `axis`.

    Returns:
      A tensor of the same shape.
    """
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        squares = reductions.reduce_sum(unary.square(x), axis, keepdims=True)
        return binary.multiply(x, unary.rsqrt(binary.maximum(squares, epsilon)), name=name)


@export("nn.zero_fraction", "math.zero_fraction")
def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Computes the part of a tensor's elements that are zero.

    Args:
      value: A numeric tensor.
      name: The name of the operation.

    Returns:
      The part as a scalar; NaN for a tensor without elements.
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = shapes.size(value, out_type=int64)
        nonzero = conditionals.cond(
            size <= int32.max,
            true_fn=lambda: casting.cast(_count_nonzero(value, int32), int64),
            false_fn=lambda: _count_nonzero(value, int64),
        )
        with name_scope("counts_to_fraction"):
            fraction = casting.cast(size - nonzero, float32) / casting.cast(size, float32)
        return constants.identity(fraction, "fraction")


def _count_nonzero(value: Tensor, dtype: Any) -> Tensor:
    with name_scope("count_nonzero", values=[value]):
        zero = creation.zeros([], dtype=value.dtype.base_dtype)
        nonzero = casting.cast(binary.not_equal(value, zero), dtype)
        return reductions.reduce_sum(nonzero, name="nonzero_count")
