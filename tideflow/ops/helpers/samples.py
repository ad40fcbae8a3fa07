"""Sample inputs, in a word each: `f32(2, 3)` stands for a reproducible float32 array of that shape.

They are specifications, not arrays: importing the vocabulary makes no data. Tests call `.array()`.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.arrays import as_array


@dataclass(frozen=True)
class SampleArray:
    """A reproducible array: dtype, shape, and the range its elements are drawn from."""

    dtype: dtypes.DType
    shape: tuple[int, ...]
    low: float
    high: float

    def array(self, salt: int = 0) -> np.ndarray:
        rng = np.random.default_rng(
            zlib.crc32(repr((self.dtype.name, self.shape, self.low, self.high, salt)).encode())
        )
        if self.dtype.is_bool:
            return rng.random(self.shape) < 0.5
        if self.dtype.is_quantized:
            whole = rng.integers(int(self.low), int(self.high), self.shape).astype(self.dtype.numpy)
            return np.asarray(whole).view(self.dtype.as_numpy_dtype)
        if self.dtype.is_integer:
            return rng.integers(int(self.low), int(self.high), self.shape).astype(self.dtype.as_numpy_dtype)
        numbers = rng.uniform(self.low, self.high, self.shape)
        if self.dtype.is_complex:
            numbers = numbers + 1j * rng.uniform(self.low, self.high, self.shape)
        return numbers.astype(self.dtype.as_numpy_dtype)


@dataclass(frozen=True)
class SampleRef:
    """An initialized variable of this value, for inputs that are references (`kind` "ref") or handles
    ("resource").
    """

    value: Any
    kind: str


def f32(*shape: int, low: float = -1.0, high: float = 1.0) -> SampleArray:
    return SampleArray(dtypes.float32, shape, low, high)


def f64(*shape: int, low: float = -1.0, high: float = 1.0) -> SampleArray:
    return SampleArray(dtypes.float64, shape, low, high)


def i32(*shape: int, low: int = -5, high: int = 6) -> SampleArray:
    return SampleArray(dtypes.int32, shape, low, high)


def i64(*shape: int, low: int = -5, high: int = 6) -> SampleArray:
    return SampleArray(dtypes.int64, shape, low, high)


def boolean(*shape: int) -> SampleArray:
    return SampleArray(dtypes.bool, shape, 0, 1)


def c64(*shape: int, low: float = -1.0, high: float = 1.0) -> SampleArray:
    return SampleArray(dtypes.complex64, shape, low, high)


def int32s(*values: Any) -> tuple[np.ndarray, ...]:
    """These very numbers, an array for each argument."""
    return tuple(np.array(value, np.int32) for value in values)


def text(*strings: str | bytes, shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    """An array of byte strings: a vector, unless a shape is given."""
    return as_array(list(strings), dtypes.string).reshape(shape)


def quantized(dtype: dtypes.DType, *shape: int) -> SampleArray:
    """Any of the integers of a quantized type."""
    bounds = np.iinfo(dtype.numpy)
    return SampleArray(dtype, shape, bounds.min, bounds.max)


def ref(value: Any) -> SampleRef:
    """A reference variable holding `value` (a SampleArray, array or number)."""
    return SampleRef(value, "ref")


def resource(value: Any) -> SampleRef:
    """A resource variable holding `value`."""
    return SampleRef(value, "resource")


def scratch(name: str) -> str:
    """The path of a file that samples of an op may write; no other process uses it."""
    return os.path.join(tempfile.gettempdir(), f"tideflow-sample-{os.getpid()}-{name}")
