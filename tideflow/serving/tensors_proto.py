"""Tensors in TensorFlow Serving's messages. Answers are written as bytes, without a message object.

Users read `float_val` and its like, which TensorFlow Serving answers in unless it is told otherwise; packed
floats are an array's memory, so they are put into the answer as they are.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.tensor_proto import array_of_client, tensor_head, values_proto
from tideflow.graph.varints import encode_varint
from tideflow.serving.calls import Array, Arrays, TensorSpec
from tideflow.serving.messages import ModelSpec

_CONTENT = 4  # the field of an array's memory
_PACKED = {  # the fields whose packed form is the memory of an array of that type
    dtypes.float32: 5,
    dtypes.float64: 6,
    dtypes.complex64: 9,
    dtypes.bool: 11,
    dtypes.complex128: 12,
}
_CONTENT_TYPES = {
    dtype.as_datatype_enum: np.dtype(dtype.numpy)
    for dtype in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint8)
}
_OUTPUTS, _MODEL_SPEC = 1, 2  # fields of a PredictResponse
_KEY, _VALUE = 1, 2  # fields of an entry of a map


def read_tensor(proto: TensorProto, name: str) -> Array:
    """The array of a tensor that a client sent. One value may stand for many, but not for any number."""
    content = proto.tensor_content
    try:
        if content:  # the usual case, and the quick one
            numpy_type = _CONTENT_TYPES.get(proto.dtype)
            shape = [dim.size for dim in proto.tensor_shape.dim]
            if (
                numpy_type is not None
                and len(content) == math.prod(shape) * numpy_type.itemsize
                and min(shape, default=0) >= 0
            ):
                return np.frombuffer(content, numpy_type).reshape(shape).copy()
        return array_of_client(proto, name)
    except errors.ResourceExhaustedError:
        raise
    except (ValueError, TypeError, errors.OpError):
        raise errors.invalid_argument(f"tensor parsing error: {name}") from None


def write_tensor(array: Array, dtype: DType, as_content: bool = False) -> bytes:
    """A TensorProto's bytes, with its elements in the field of their type, or in `tensor_content`."""
    if array.dtype == object:
        return values_proto(array, dtype).SerializeToString()
    field = _CONTENT if as_content else _PACKED.get(dtype)
    if field is None:
        return values_proto(array, dtype).SerializeToString()
    head = tensor_head(dtype.as_datatype_enum, array.shape)
    return head + _bytes_field(field, array.tobytes())


def predict_response(
    outputs: Arrays, specs: Mapping[str, TensorSpec], spec: bytes, as_content: bool
) -> bytes:
    """A PredictResponse's bytes. `spec` is the serialised ModelSpec of the version that answered."""
    parts = [
        _bytes_field(
            _OUTPUTS,
            _key(name) + _bytes_field(_VALUE, write_tensor(array, specs[name].dtype, as_content)),
        )
        for name, array in outputs.items()
    ]
    parts.append(_bytes_field(_MODEL_SPEC, spec))
    return b"".join(parts)


@lru_cache(maxsize=1024)
def _key(name: str) -> bytes:
    return _bytes_field(_KEY, name.encode())


@lru_cache(maxsize=1024)
def model_spec(name: str, version: int, signature: str | None) -> bytes:
    """The serialised ModelSpec of an answer."""
    spec = ModelSpec(name=name, signature_name=signature or "")
    spec.version.value = version
    return spec.SerializeToString()


def _bytes_field(number: int, data: bytes) -> bytes:
    """A length-delimited field: its tag (fields here have numbers below 16), its length, its bytes."""
    size = len(data)
    if size < 0x80:
        return struct.pack("BB", number << 3 | 2, size) + data
    return bytes((number << 3 | 2,)) + encode_varint(size) + data
