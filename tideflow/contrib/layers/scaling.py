"""Initializers that keep the scale of what flows through a layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


@export("contrib.layers.variance_scaling_initializer")
def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DTypeLike = dtypes.float32,
) -> Callable:
    """Makes an initializer of random numbers whose variance is `factor / n`.

    Args:
      factor: The factor.
      mode: What n is: `"FAN_IN"` (the number of inputs), `"FAN_OUT"` (of outputs) or `"FAN_AVG"` (their
        mean).
      uniform: Whether the distribution is uniform; if not, it is a truncated normal one.
      seed: The seed of the random numbers.
      dtype: The type of the numbers, of floating point.

    Returns:
      An initializer.

    Raises:
      TypeError: If the type or the mode is not valid.
    """
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Sequence[int], dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        if not dtypes.as_dtype(dtype).is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        count = _fan([float(size) for size in shape], mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return distributions.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # What a truncated normal distribution loses of its variance is made up for.
        return distributions.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / count), dtype, seed=seed)

    return initializer


def _fan(sizes: list[float], mode: str) -> float:
    outputs = sizes[-1] if sizes else 1.0
    inputs = sizes[-2] if len(sizes) > 1 else outputs
    field = math.prod(sizes[:-2])
    return {
        "FAN_IN": inputs * field,
        "FAN_OUT": outputs * field,
        "FAN_AVG": (inputs + outputs) * field / 2.0,
    }[mode]


@export("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DTypeLike = dtypes.float32
) -> Callable:
    """Makes an initializer of random numbers whose variance is one over the mean of inputs and outputs
    (Glorot, Bengio 2010).

    Args:
      uniform: Whether the distribution is uniform; if not, it is a truncated normal one.
      seed: The seed of the random numbers.
      dtype: The type of the numbers, of floating point.

    Returns:
      An initializer.
    """
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)
