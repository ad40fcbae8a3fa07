"""Dropout: elements set to 0 at random, the others scaled so that the sum stays the same on average."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import casting
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("nn.dropout")
def dropout(
    x: TensorLike,
    keep_prob: TensorLike | None = None,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike | None = None,
) -> Tensor:
    """Sets random elements of a tensor to zero, and scales the others up.

    The expected sum of the elements stays the same.

    Args:
      x: A floating-point tensor.
      keep_prob: The probability that an element is kept; an older form of `1 - rate`.
      noise_shape: The shape of the random decisions, which is broadcast to that of `x`; that of `x` if None.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      name: The name of the operation.
      rate: The probability that an element is dropped.

    Returns:
      A tensor of the shape of `x`.

    Raises:
      ValueError: If the probability is not in [0, 1), or `x` is not a floating-point tensor.
    """
    try:
        dropped = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = renamed("rate", rate, "keep_prob", dropped)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. "
                f"Got a {x.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real):
            _check_rate(rate)
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.shape.assert_has_rank(0)
        if partial_value(rate) == 0:
            return x
        noise = distributions.random_uniform(
            _noise_shape(x, noise_shape), seed=seed, dtype=x.dtype.base_dtype
        )
        scale = 1 / (1 - rate)
        kept = noise >= rate
        result = x * scale * casting.cast(kept, x.dtype.base_dtype)
        result.set_shape(x.shape)
        return result


def _check_rate(rate: float) -> None:
    if not 0 <= rate < 1:
        raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")


def _noise_shape(x: Tensor, given: Any) -> Any:
    """The shape of the noise; sizes left open are those of x."""
    if given is None:
        return shapes.shape(x)
    try:
        shape = as_shape(given)
    except (TypeError, ValueError):
        return given
    if x.shape.ndims is None or shape.ndims != x.shape.ndims:
        return given
    return TensorShape([own if size is None else size for size, own in zip(shape.tuple, x.shape.tuple)])
