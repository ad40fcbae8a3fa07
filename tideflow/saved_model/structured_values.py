"""StructuredValue messages: the arguments and results of a saved function, with a spec for each tensor."""

from __future__ import annotations

import collections
import keyword
from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.struct_pb2 import StructuredValue, TypeSpecProto

from tideflow.data.dataset import DatasetSpec
from tideflow.data.optional import OptionalSpec
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import IndexedSlicesSpec, SparseTensorSpec, TensorSpec
from tideflow.ops.control_flow.tensor_array_spec import TensorArraySpec
from tideflow.ragged.spec import RaggedTensorSpec

_CLASSES = {
    TypeSpecProto.SPARSE_TENSOR_SPEC: SparseTensorSpec,
    TypeSpecProto.INDEXED_SLICES_SPEC: IndexedSlicesSpec,
    TypeSpecProto.RAGGED_TENSOR_SPEC: RaggedTensorSpec,
    TypeSpecProto.TENSOR_ARRAY_SPEC: TensorArraySpec,
    TypeSpecProto.DATA_DATASET_SPEC: DatasetSpec,
    TypeSpecProto.OPTIONAL_SPEC: OptionalSpec,
}
_NUMBERS = {spec: number for number, spec in _CLASSES.items()}


class NotEncodableError(Exception):
    """A value that no file of functions can hold."""


# ------------------------------------------------------------------------------------------------ out


def encoded(value: Any) -> StructuredValue:
    """The message of a structure of plain Python values, specs, types and shapes."""
    message = StructuredValue()
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int):
        message.int64_value = value
    elif isinstance(value, float):
        message.float64_value = value
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, TensorShape):
        message.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, DType):
        message.tensor_dtype_value = value.as_datatype_enum
    elif type(value) is TensorSpec:
        spec = message.tensor_spec_value
        spec.name, spec.dtype = value.name or "", value.dtype.as_datatype_enum
        spec.shape.CopyFrom(value.shape.as_proto())
    elif type(value) in _NUMBERS:
        spec = message.type_spec_value
        spec.type_spec_class, spec.type_spec_class_name = _NUMBERS[type(value)], type(value).__name__
        spec.type_state.CopyFrom(encoded(value._serialize()))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        message.named_tuple_value.name = type(value).__name__
        for name, item in zip(value._fields, value, strict=True):
            message.named_tuple_value.values.add(key=name).value.CopyFrom(encoded(item))
    elif isinstance(value, (tuple, list)):
        group = message.tuple_value if isinstance(value, tuple) else message.list_value
        group.SetInParent()
        group.values.extend(encoded(item) for item in value)
    elif isinstance(value, Mapping):
        message.dict_value.SetInParent()
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotEncodableError(f"The key {key!r} of a dictionary is not a string: {value}")
            message.dict_value.fields[key].CopyFrom(encoded(item))
    else:
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")
    return message


# ------------------------------------------------------------------------------------------------ back


def decoded(message: StructuredValue) -> Any:
    """The structure of a message.

    Raises:
      ValueError: If it holds what no program can have written, or only a newer one.
    """
    kind = message.WhichOneof("kind")
    if kind in ("bool_value", "int64_value", "float64_value", "string_value"):
        return getattr(message, kind)
    if kind in ("list_value", "tuple_value"):
        items = [decoded(item) for item in getattr(message, kind).values]
        return items if kind == "list_value" else tuple(items)
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise ValueError(f"A structure of the SavedModel has a value of kind {kind}, which is unknown here")
    try:
        return decoder(getattr(message, kind))
    except (TypeError, AttributeError, IndexError, errors.OpError) as error:
        raise ValueError(f"A structure of the SavedModel has a {kind} that is damaged: {error}") from error


def _named_tuple(message: Any) -> Any:
    names = [pair.key for pair in message.values]
    if not message.name.isidentifier() or keyword.iskeyword(message.name):
        raise ValueError(f"A structure of the SavedModel has a named tuple called {message.name!r}")
    made = collections.namedtuple(message.name, names)
    return made(*[decoded(pair.value) for pair in message.values])


def _tensor_spec(message: Any) -> TensorSpec:
    return TensorSpec(TensorShape(message.shape), dtypes.as_dtype(message.dtype), message.name or None)


def _type_spec(message: Any) -> Any:
    spec = _CLASSES.get(message.type_spec_class)
    if spec is None:
        raise ValueError(
            f"The type '{message.type_spec_class_name}' is not supported by this version of TensorFlow. (The "
            "object you are loading must have been created with a newer version of TensorFlow.)"
        )
    state = decoded(message.type_state)
    if spec is RaggedTensorSpec:  # a newer TensorFlow tells the type of the row splits last, and then more
        state = state[:4]
    return spec(*state)


_DECODERS: dict[str, Any] = {
    "none_value": lambda message: None,
    "tensor_shape_value": TensorShape,
    "tensor_dtype_value": dtypes.as_dtype,
    "tensor_spec_value": _tensor_spec,
    "type_spec_value": _type_spec,
    "named_tuple_value": _named_tuple,
    "dict_value": lambda message: {key: decoded(item) for key, item in message.fields.items()},
}
