"""The messages to libraries of kernels: attributes, shapes and values.

The headers in `include/tideflow/kernels/` read them. A message is a sequence of integers
and floats of 8 bytes, and of bytes after their number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tideflow.graph.arrays import as_array
from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.op import Op
from tideflow.graph.shapes import TensorShape, as_shape

_UNKNOWN, _VALUE, _PARTIAL_SHAPE = range(3)  # what is known of an input's value


class Message:
    """A message while it is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def bytes(self) -> bytes:
        return b"".join(self._parts)

    def number(self, value: int) -> None:
        self._parts.append(struct.pack("<q", value))

    def real(self, value: float) -> None:
        self._parts.append(struct.pack("<d", value))

    def numbers(self, values: Sequence[int]) -> None:
        self._parts.append(struct.pack(f"<{len(values) + 1}q", len(values), *values))

    def text(self, value: str | bytes) -> None:
        data = value.encode() if isinstance(value, str) else value
        self.number(len(data))
        self._parts.append(data)

    def shape(self, shape: TensorShape) -> None:
        sizes = shape.tuple
        self.number(sizes is not None)
        self.numbers([-1 if size is None else size for size in sizes or ()])

    def array(self, array: np.ndarray, dtype: DType) -> None:
        self.number(dtype.as_datatype_enum)
        self.numbers(array.shape)
        if array.dtype != object:
            self.text(np.ascontiguousarray(array).tobytes())
            return
        for text in array.ravel().tolist():
            self.text(text)

    def attributes(self, op: Op, attrs: dict[str, Any]) -> None:
        """The attributes that the op's schema has."""
        given = [(key, spec.kind, attrs[key]) for key, spec in op.attrs.items() if attrs.get(key) is not None]
        self.number(len(given))
        for key, kind, value in given:
            self.text(key)
            self.text(kind)
            is_list = kind.startswith("list(")
            write = getattr(self, f"_{kind[5:-1] if is_list else kind}")
            self.number(len(value) if is_list else 1)
            for item in value if is_list else [value]:
                write(item)

    _int = _bool = number
    _float = real
    _string = text

    def _type(self, value: DType) -> None:
        self.number(value.as_datatype_enum)

    def _shape(self, value: Any) -> None:
        self.shape(as_shape(value))

    def _tensor(self, value: Any) -> None:
        array = np.asarray(value)
        self.array(array, as_dtype(array.dtype))

    def _func(self, value: Any) -> None:
        self.text(getattr(value, "name", value))

    def input(self, shape: TensorShape, dtype: DType, value: Any) -> None:
        """An input of a shape function; `value` is its partial value."""
        self.shape(shape)
        if value is None:
            self.number(_UNKNOWN)
        elif _is_whole(value):
            self.number(_VALUE)
            self.array(as_array(value, dtype), dtype)
        elif dtype.is_integer and shape.ndims == 1:
            self.number(_PARTIAL_SHAPE)
            self.shape(TensorShape([None if size is None or size < 0 else size for size in value]))
        else:
            self.number(_UNKNOWN)


def _is_whole(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_whole, value))
    return value is not None


def shapes_of(answer: bytes) -> Iterable[TensorShape]:
    """The shapes that a shape function answered, -1 for what is unknown."""
    numbers = struct.unpack(f"<{len(answer) // 8}q", answer)
    at = 0
    while at < len(numbers):
        rank = numbers[at]
        sizes = numbers[at + 1 : at + 1 + max(rank, 0)]
        yield TensorShape(None if rank < 0 else [None if size < 0 else size for size in sizes])
        at += 1 + len(sizes)
