"""Variant values on their way to another task: lists of tensors, optionals and tensors, as the messages that
TensorFlow has for them. What stands for something that is kept here, such as a dataset, has no such form.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto, VariantTensorDataProto

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_ndarray, tensor_proto
from tideflow.ops.control_flow.optionals import Optional
from tideflow.runtime.tensor_lists import TensorList, as_variant
from tideflow.runtime.values import to_numpy, to_torch

_LIST, _OPTIONAL, _TENSOR = "tensorflow::TensorList", "tensorflow::OptionalVariant", "tensorflow::Tensor"


def _message(value: Any) -> TensorProto:
    """A tensor of numbers, strings or variants. Where there are no cells, it does not matter of which."""
    array = to_numpy(value)
    if array.dtype != object:
        return tensor_proto(array, dtypes.as_dtype(array.dtype))
    cells = array.ravel().tolist()
    if all(isinstance(cell, bytes) for cell in cells):
        return tensor_proto(array, dtypes.string)
    proto = TensorProto(
        dtype=dtypes.variant.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto()
    )
    proto.variant_val.extend(map(_cell_message, cells))
    return proto


def _cell_message(cell: Any) -> VariantTensorDataProto:
    if isinstance(cell, TensorList):
        about = {
            "dtype": cell.dtype.as_datatype_enum,
            "shape": cell.element_shape.tuple,
            "limit": cell.limit,
            "unset": [i for i, value in enumerate(cell.values) if value is None],
        }
        return _data(_LIST, about, [value for value in cell.values if value is not None])
    if isinstance(cell, Optional):
        return _data(_OPTIONAL, {"empty": cell.components is None}, cell.components or [])
    if isinstance(cell, (torch.Tensor, np.ndarray)):
        return _data(_TENSOR, {}, [cell])
    raise errors.invalid_argument(
        f"A {type(cell).__name__} means something on its own task only: it cannot go to another."
    )


def _data(kind: str, about: dict[str, Any], values: list[Any]) -> VariantTensorDataProto:
    return VariantTensorDataProto(
        type_name=kind, metadata=json.dumps(about).encode(), tensors=map(_message, values)
    )


pack_op = Op("_PackVariant", "value: variant -> packed: string", differentiable=False, on_host=True)
pack_op.shape(lambda value: [])


@pack_op.kernel
def pack(value: np.ndarray) -> np.ndarray:
    """Variants as one string."""
    return as_variant(_message(value).SerializeToString())


pack_op.samples(covered_by="tests/cluster/test_clients.py")


def _value(proto: TensorProto) -> Any:
    if proto.dtype != dtypes.variant.as_datatype_enum:
        return to_torch(make_ndarray(proto))
    cells = np.empty(len(proto.variant_val), dtype=object)
    for i, data in enumerate(proto.variant_val):
        cells[i] = _cell(data)
    return cells.reshape([dim.size for dim in proto.tensor_shape.dim])


def _cell(data: VariantTensorDataProto) -> Any:
    about, values = json.loads(data.metadata), [_value(proto) for proto in data.tensors]
    if data.type_name == _LIST:
        for position in about["unset"]:
            values.insert(position, None)
        return TensorList(
            dtypes.as_dtype(about["dtype"]), TensorShape(about["shape"]), tuple(values), about["limit"]
        )
    if data.type_name == _OPTIONAL:
        return Optional(None if about["empty"] else values)
    (value,) = values
    return value


unpack_op = Op("_UnpackVariant", "packed: string -> value: variant", differentiable=False, on_host=True)
unpack_op.shape(lambda packed: None)


@unpack_op.kernel
def unpack(packed: np.ndarray) -> np.ndarray:
    """The variants that a string holds; DataLossError if it holds none."""
    try:
        return _value(TensorProto.FromString(packed[()]))
    except (DecodeError, ValueError, TypeError, KeyError) as error:
        raise errors.data_loss(f"What has come is no variant: {error!s:.100}") from None


unpack_op.samples(covered_by="tests/cluster/test_clients.py")

PACK, UNPACK = pack_op.name, unpack_op.name
