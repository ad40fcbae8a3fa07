"""Activations by name: functions of a tensor that layers apply to what they computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants, indexing
from tideflow.ops.math import binary, casting, clipping, reductions, unary
from tideflow.ops.nn import activations
from tideflow.ops.nn import softmax as softmax_ops
from tideflow.variables.custom_objects import deserialize_keras_object

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("keras.activations.softmax")
def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Computes the softmax along an axis.

    Args:
      x: The tensor, of rank two at least.
      axis: The axis.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: If the rank is one.
    """
    rank = x.shape.ndims
    if rank == 2:
        return softmax_ops.softmax(x)
    if rank is not None and rank > 2:
        e = unary.exp(x - reductions.reduce_max(x, axis=axis, keepdims=True))
        return e / reductions.reduce_sum(e, axis=axis, keepdims=True)
    raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")


@export("keras.activations.elu", "keras.backend.elu")
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Computes `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere.

    Args:
      x: The tensor.
      alpha: The slope towards negative infinity.

    Returns:
      A tensor of the same shape.
    """
    res = activations.elu(x)
    return res if alpha == 1 else indexing.where(x > 0, res, alpha * res)


@export("keras.activations.selu")
def selu(x: TensorLike) -> Tensor:
    """Computes the scaled exponential linear unit.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@export("keras.activations.softplus", "keras.backend.softplus")
def softplus(x: TensorLike) -> Tensor:
    """Computes `log(exp(x) + 1)`.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    return activations.softplus(x)


@export("keras.activations.softsign", "keras.backend.softsign")
def softsign(x: TensorLike) -> Tensor:
    """Computes `x / (abs(x) + 1)`.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    return activations.softsign(x)


@export("keras.activations.relu", "keras.backend.relu")
def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0) -> Tensor:
    """Computes the rectified linear unit, `max(x, 0)` by default.

    Args:
      x: The tensor.
      alpha: The slope below the threshold.
      max_value: The largest output; none if None.
      threshold: The value below which the slope is `alpha`.

    Returns:
      A tensor of the same shape.
    """
    x = convert_to_tensor(x)
    negative: Any = None
    clips = max_value is not None
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return activations.leaky_relu(x, alpha=alpha)
        negative = activations.relu(-x + threshold) if threshold != 0 else activations.relu(-x)
    if threshold != 0:
        x = x * casting.cast(binary.greater(x, threshold), x.dtype)
    elif max_value == 6:
        x, clips = activations.relu6(x), False
    else:
        x = activations.relu(x)
    if clips:
        x = clipping.clip_by_value(x, _like(0.0, x), _like(max_value, x))
    if alpha != 0.0:
        x -= _like(alpha, x) * negative
    return x


def _like(value: Any, x: Tensor) -> Tensor:
    return constants.constant(value, dtype=x.dtype.base_dtype)


@export("keras.activations.tanh", "keras.backend.tanh")
def tanh(x: TensorLike) -> Tensor:
    """Computes the hyperbolic tangent.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    return unary.tanh(x)


@export("keras.activations.sigmoid", "keras.backend.sigmoid")
def sigmoid(x: TensorLike) -> Tensor:
    """Computes `1 / (1 + exp(-x))`.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    return unary.sigmoid(x)


@export("keras.activations.exponential")
def exponential(x: TensorLike) -> Tensor:
    """Computes the exponential.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    return unary.exp(x)


@export("keras.activations.hard_sigmoid", "keras.backend.hard_sigmoid")
def hard_sigmoid(x: TensorLike) -> Tensor:
    """Computes `0.2 * x + 0.5`, between 0 and 1.

    Args:
      x: The tensor.

    Returns:
      A tensor of the same shape.
    """
    x = convert_to_tensor(x, preferred_dtype=dtypes.float32)
    slope, middle = _like(0.2, x), _like(0.5, x)
    return clipping.clip_by_value(binary.add(binary.multiply(x, slope), middle), 0.0, 1.0)


@export("keras.activations.linear")
def linear(x: TensorLike) -> TensorLike:
    """Returns its argument.

    Args:
      x: The tensor.

    Returns:
      The same.
    """
    return x


_ALL = (softmax, elu, selu, softplus, softsign, relu, tanh, sigmoid, exponential, hard_sigmoid, linear)
_BY_NAME: dict[str, Callable] = {function.__name__: function for function in _ALL}


@export("keras.activations.serialize")
def serialize(activation: Callable) -> str:
    """The name of an activation, as configs have it.

    Args:
      activation: The function.

    Returns:
      The name.
    """
    if getattr(activation, "__name__", "") == "softmax_v2":
        return "softmax"
    return activation.__name__


@export("keras.activations.deserialize")
def deserialize(name: str, custom_objects: dict[str, Any] | None = None) -> Callable:
    """Gets an activation by its name.

    Args:
      name: The name.
      custom_objects: The program's own activations, by name.

    Returns:
      The function.

    Raises:
      ValueError: If the name is unknown.
    """
    return deserialize_keras_object(name, _BY_NAME, custom_objects, "activation function")


@export("keras.activations.get")
def get(identifier: str | Callable | dict | None) -> Callable:
    """Gets an activation.

    Args:
      identifier: A name, a function, or None.

    Returns:
      The function; `linear` for None.

    Raises:
      TypeError: If the argument is none of these.
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier, printable_module_name="activation")
    raise TypeError(
        f"Could not interpret activation function identifier: {identifier!r} (expected a function, or one of "
        f"{', '.join(sorted(_BY_NAME))})"
    )
