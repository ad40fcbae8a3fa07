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
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """The bytes, text in `encoding`."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The text, bytes being in `encoding`."""
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_str_any")
def as_str_any(value: Any) -> str:
    """`str(value)`, and the text of bytes."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """The text of a path object; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


_horizon = datetime.date(2019, 8, 21)  # 1.15's


@export("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a graph may use what was added on that day."""
    return _horizon > datetime.date(year, month, day)


@export("compat.forward_compatibility_horizon")
@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """`forward_compatible` answers as if this were the day up to which additions count."""
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before
