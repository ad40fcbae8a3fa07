"""TensorProto messages, which hold constants in files and in TensorFlow."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import refuse_tensors, typed_array
from tideflow.graph.dtypes import DType
from tideflow.graph.memory import check_memory
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.varints import decode_varint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike

_FIELDS = {  # dtype -> the repeated field that holds single elements
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int32: "int_val",
    dtypes.int16: "int_val",
    dtypes.int8: "int_val",
    dtypes.uint8: "int_val",
    dtypes.uint16: "int_val",
    dtypes.qint8: "int_val",
    dtypes.quint8: "int_val",
    dtypes.qint16: "int_val",
    dtypes.quint16: "int_val",
    dtypes.qint32: "int_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool: "bool_val",
    dtypes.half: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
}

# Bytes that are filled with the last of several values of a TensorProto. A single value takes no memory.
LARGEST_REPETITION = 64 << 20
_MOST_DIMENSIONS = 64  # NumPy's

# The types whose elements TensorFlow writes as bytes; those of others have a field entry each.
_AS_BYTES = {
    dtypes.float32,
    dtypes.float64,
    dtypes.int8,
    dtypes.int16,
    dtypes.int32,
    dtypes.int64,
    dtypes.uint8,
    dtypes.uint32,
    dtypes.uint64,
    dtypes.qint8,
    dtypes.quint8,
    dtypes.qint16,
    dtypes.quint16,
    dtypes.qint32,
}


@export("make_tensor_proto")
def make_tensor_proto(
    values: TensorProto | TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """Makes a TensorProto.

    Args:
      values: An array, a number, a string, nested lists of those, or a TensorProto, which is returned as it
        is.
      dtype: The type of the elements; it follows from the values if None.
      shape: The shape of the tensor. If it has more elements than `values`, the last value stands for the
        others.
      verify_shape: Whether the values must have `shape` exactly.
      allow_broadcast: Has no effect: a single value may always stand for all elements.

    Returns:
      The message.

    Raises:
      TypeError: If `verify_shape` is set and the shapes differ, or a value cannot have the type.
      ValueError: If there are more values than the shape has elements.
    """
    if isinstance(values, TensorProto):
        return values
    refuse_tensors(values)
    array, found = typed_array(values, dtype)
    if shape is not None:
        wanted = tuple(int(size) for size in as_shape(shape).as_list())  # type: ignore[arg-type]
        if verify_shape and array.shape != wanted:
            raise TypeError(f"Expected Tensor's shape: {wanted}, got {array.shape}.")
        count = math.prod(wanted)
        if array.size > count:
            raise ValueError(
                f"Too many elements provided. Needed at most {count}, but received {array.size}: the shape "
                f"is {wanted}."
            )
        if array.size < count:
            proto = values_proto(array.reshape(-1), found.base_dtype)
            proto.tensor_shape.CopyFrom(TensorShape(wanted).as_proto())
            return proto
        array = array.reshape(wanted)
    return tensor_proto(array, found.base_dtype)


def tensor_proto(array: np.ndarray, dtype: DType) -> TensorProto:
    """The message of an array whose elements have the type `dtype`."""
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if array.size == 1 or is_repeated(array):
        array = np.array(array.reshape(-1)[:1])  # a reader repeats the last value
        if dtype is not dtypes.string:
            _fill_field(proto, array, dtype)
            return proto
    if dtype is dtypes.string:
        proto.string_val.extend(array.reshape(-1).tolist())
    elif array.size and dtype not in _AS_BYTES:
        _fill_field(proto, np.ascontiguousarray(array).reshape(-1), dtype)
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def _fill_field(proto: TensorProto, flat: np.ndarray, dtype: DType) -> None:
    if dtype in (dtypes.half, dtypes.bfloat16):
        flat = flat.view(np.uint16)
    elif dtype.is_complex:
        flat = flat.view(flat.real.dtype)
    getattr(proto, _FIELDS[dtype]).extend(flat.tolist())


def values_proto(array: np.ndarray, dtype: DType) -> TensorProto:
    """The message of an array with a field entry for each element: the form of TensorFlow's oldest files."""
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if dtype is dtypes.string:
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        _fill_field(proto, np.ascontiguousarray(array).reshape(-1), dtype)
    return proto


def value_count(proto: TensorProto) -> int:
    """The number of elements that have a field entry of their own in the message."""
    dtype = dtypes.as_dtype(proto.dtype).base_dtype
    field = "string_val" if dtype is dtypes.string else _FIELDS.get(dtype)
    return len(getattr(proto, field)) // (2 if dtype.is_complex else 1) if field else 0


@export("make_ndarray")
def make_ndarray(tensor: TensorProto) -> np.ndarray:
    """Converts a TensorProto to a NumPy array.

    Args:
      tensor: The message. If it lists fewer elements than its shape has, the last one is repeated.

    Returns:
      The array; strings as an object array of bytes.

    Raises:
      ValueError: If the shape is not fully known, or the message has too many values.
      TypeError: If its type has no array, such as a resource.
      ResourceExhaustedError: If the tensor is larger than the machine's memory.
    """
    array = proto_array(tensor)
    if is_repeated(array):
        check_memory(array.shape, dtypes.as_dtype(tensor.dtype).base_dtype)
        return np.array(array)
    return array


def proto_array(tensor: TensorProto) -> np.ndarray:
    """The array of a TensorProto. One value that stands for all elements takes the memory of one element.

    Such an array (`is_repeated`) is read-only. A message of a few bytes can describe a tensor of any size, so
    whoever needs the elements in memory checks first (`check_memory`).
    """
    dtype = dtypes.as_dtype(tensor.dtype).base_dtype
    shape = _known_shape(tensor, dtype)
    count = math.prod(shape)
    if dtype is dtypes.string:
        if tensor.tensor_content:
            return _packed_strings(tensor.tensor_content, count).reshape(shape)
        return _filled(np.array(list(tensor.string_val), dtype=object), shape, b"")
    if dtype not in _FIELDS:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    numpy_dtype = np.dtype(dtype.numpy)
    if tensor.tensor_content:
        if len(tensor.tensor_content) != count * numpy_dtype.itemsize:
            raise ValueError(
                f"tensor_content has {len(tensor.tensor_content)} bytes, shape {shape} of {dtype.name} "
                f"needs {count * numpy_dtype.itemsize}"
            )
        return np.array(np.frombuffer(tensor.tensor_content, dtype=numpy_dtype).reshape(shape))
    values = getattr(tensor, _FIELDS[dtype])
    if dtype in (dtypes.half, dtypes.bfloat16):
        flat = (
            np.array(values)
            .astype(np.uint16)
            .view(np.float16 if dtype is dtypes.half else ml_dtypes.bfloat16)
        )
    elif dtype.is_complex:
        if len(values) % 2:
            raise ValueError(f"a TensorProto of type {dtype.name} holds a real part without an imaginary one")
        flat = np.array(values, dtype=numpy_dtype.type(0).real.dtype).view(numpy_dtype)
    else:
        flat = np.array(values).astype(numpy_dtype) if len(values) else np.zeros(0, numpy_dtype)
    return _filled(flat, shape, 0)


def _packed_strings(content: bytes, count: int) -> np.ndarray:
    """Strings as TensorFlow's runtime writes many of them: the lengths of all, then the bytes of all."""
    if count > len(content):
        raise ValueError(f"tensor_content has {len(content)} bytes, which are no {count} strings")
    lengths, at = [], 0
    for _ in range(count):
        length, at = decode_varint(content, at)
        lengths.append(length)
    if at + sum(lengths) != len(content):
        raise ValueError(
            f"tensor_content announces strings of {sum(lengths)} bytes, and has {len(content) - at} of them"
        )
    made = np.empty(count, object)
    for i, length in enumerate(lengths):
        made[i] = content[at : at + length]
        at += length
    return made


def array_of_client(tensor: TensorProto, name: str) -> np.ndarray:
    """The array of a TensorProto that a client sent. One value may stand for many, but not for any number.

    Raises:
      ResourceExhaustedError: If one value stands for more than `LARGEST_REPETITION` bytes.
    """
    array = proto_array(tensor)
    if not is_repeated(array):
        return array
    if array.nbytes > LARGEST_REPETITION:
        raise errors.resource_exhausted(
            f"input '{name}' repeats one value in {array.nbytes} bytes, which is more than "
            f"{LARGEST_REPETITION}"
        )
    return np.array(array)


@lru_cache(maxsize=1024)
def tensor_head(dtype: int, shape: tuple[int, ...]) -> bytes:
    """The bytes of a TensorProto with the type of this number and a shape, and without its elements."""
    proto = TensorProto(dtype=dtype)
    proto.tensor_shape.SetInParent()
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    data: bytes = proto.SerializeToString()
    return data


def is_repeated(array: np.ndarray) -> bool:
    """Whether all elements of an array are one value in memory."""
    return array.size > 1 and not any(array.strides)


def repeated(value: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """A read-only array of this shape whose elements are all the one element of `value`."""
    return np.broadcast_to(value.reshape(()), tuple(shape))


def _known_shape(tensor: TensorProto, dtype: DType) -> list[int]:
    """The shape of a TensorProto, which must be one that an array can have."""
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    if tensor.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise ValueError("A TensorProto needs a fully known shape.")
    if len(shape) > _MOST_DIMENSIONS:
        raise ValueError(f"A tensor has at most {_MOST_DIMENSIONS} dimensions, the TensorProto {len(shape)}.")
    if math.prod(size for size in shape if size) * max(dtype.size, 8) >= 2**63:
        raise ValueError(f"Shape {shape} is too large (more than 2**63 - 1 bytes)")
    return shape


def _filled(flat: np.ndarray, shape: list[int], blank: Any) -> np.ndarray:
    """The listed values in a shape; the last one stands for all that are missing."""
    count = math.prod(shape)
    if not count:
        return flat[:0].reshape(shape)  # TensorFlow writes a value even for an empty tensor
    if len(flat) > count:
        raise ValueError(f"a TensorProto of {count} elements holds {len(flat)} values")
    if len(flat) == count:
        return flat.reshape(shape)
    last = flat[-1:] if len(flat) else np.array([blank], flat.dtype)
    if len(flat) <= 1:
        return repeated(last, shape)
    missing = (count - len(flat)) * flat.dtype.itemsize
    if missing > LARGEST_REPETITION:
        raise errors.resource_exhausted(
            f"A TensorProto of shape {shape} lists {len(flat)} values and leaves {missing} bytes to be "
            f"filled with the last of them; up to {LARGEST_REPETITION} are (LARGEST_REPETITION)"
        )
    return np.concatenate([flat, np.repeat(last, count - len(flat))]).reshape(shape)
