"""`tf.compat`: strings of either kind, and `tf.compat.v1`, which is this namespace itself."""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tideflow.export import export, expose

expose((bytes, str), "compat.bytes_or_text_types")
expose((numbers.Complex, np.number), "compat.complex_types")
expose((numbers.Integral, np.integer), "compat.integral_types")
expose((numbers.Real, np.integer, np.floating), "compat.real_types")

# Both `tf.compat.v1` and `import tideflow.compat.v1 as tf` are the package.
_root = sys.modules["tideflow"]
expose(_root, "compat.v1")
sys.modules["tideflow.compat.v1"] = _root


@export("compat.as_bytes")
def as_bytes(bytes_or_text: str | bytes, encoding: str = "utf-8") -> bytes:
    """Converts text to bytes.

    Args:
      bytes_or_text: Bytes or a string.
      encoding: The encoding.

    Returns:
      The bytes.

    Raises:
      TypeError: If the argument is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """Converts bytes to text.

    Args:
      bytes_or_text: Bytes or a string.
      encoding: The encoding.

    Returns:
      The string.

    Raises:
      TypeError: If the argument is neither.
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_str_any")
def as_str_any(value: Any) -> str:
    """Converts a value to a string: bytes are decoded, other values are passed to `str`.

    Args:
      value: Any value.

    Returns:
      The string.
    """
    return as_text(value) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """Converts a path object to a string.

    Args:
      path: A path object, or any other value, which is returned unchanged.

    Returns:
      The string.
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


_horizon = datetime.date(2019, 8, 21)  # 1.15's


@export("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a graph may use operations that were added to TensorFlow on a day.

    Args:
      year: The year.
      month: The month.
      day: The day.

    Returns:
      True if the day is not later than the compatibility horizon.
    """
    return _horizon > datetime.date(year, month, day)


@export("compat.forward_compatibility_horizon")
@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A context manager that moves the compatibility horizon of `tf.compat.forward_compatible`.

    Args:
      year: The year.
      month: The month.
      day: The day.

    Yields:
      None.
    """
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before
