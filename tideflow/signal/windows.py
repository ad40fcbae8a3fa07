"""Windows: what a frame is multiplied by, so that it fades in and out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("signal.hann_window", "contrib.signal.hann_window")
def hann_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Makes a Hann window: a raised cosine that begins at 0.

    Args:
      window_length: The number of samples.
      periodic: Whether the window is periodic, for spectra; else symmetric, for filters.
      dtype: The type, a floating-point type.
      name: The name of the operation.

    Returns:
      A vector.

    Raises:
      ValueError: If the type is not a floating-point type.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@export("signal.hamming_window", "contrib.signal.hamming_window")
def hamming_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Makes a Hamming window: a raised cosine that begins at 0.08.

    Args:
      window_length: The number of samples.
      periodic: Whether the window is periodic, for spectra; else symmetric, for filters.
      dtype: The type, a floating-point type.
      name: The name of the operation.

    Returns:
      A vector.

    Raises:
      ValueError: If the type is not a floating-point type.
    """
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(
    name: str | None,
    default_name: str,
    window_length: Any,
    periodic: Any,
    dtype: Any,
    mean: float,
    swing: float,
) -> Tensor:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    with name_scope(name, default_name, [window_length, periodic]):
        length = convert_to_tensor(window_length, dtype=dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = constant_value(length)
        if known == 1:
            return creation.ones([1], dtype=dtype)
        periodic = casting.cast(convert_to_tensor(periodic, dtypes.bool, name="periodic"), dtypes.int32)
        periodic.shape.assert_has_rank(0)
        is_even = 1 - binary.mod(length, 2)  # an odd window is symmetric even if periodic
        steps = casting.cast(length + periodic * is_even - 1, dtype)
        count = casting.cast(creation.range(length), dtype)
        angle = constants.constant(2 * math.pi, dtype) * count / steps

        def window() -> Tensor:
            return casting.cast(mean - swing * unary.cos(angle), dtype)

        if known is not None:
            return window()
        return conditionals.cond(binary.equal(length, 1), lambda: creation.ones([1], dtype=dtype), window)
