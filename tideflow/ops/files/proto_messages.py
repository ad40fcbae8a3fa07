"""Fields of any protobuf message as tensors, and tensors as messages, by the message's descriptor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.versions_pb2 import VersionDef

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.types import types
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ------------------------------------------------------------------------------------------------ descriptors

# The element types that the values of each type of field can have.
_SIGNED, _UNSIGNED = types("int32 int64"), types("uint32 uint64")

_FITTING = {
    FieldDescriptor.TYPE_DOUBLE: types("double"),
    FieldDescriptor.TYPE_FLOAT: types("float double"),
    FieldDescriptor.TYPE_INT64: types("int64"),
    FieldDescriptor.TYPE_SINT64: types("int64"),
    FieldDescriptor.TYPE_SFIXED64: types("int64"),
    FieldDescriptor.TYPE_UINT64: types("uint64"),
    FieldDescriptor.TYPE_FIXED64: types("uint64"),
    FieldDescriptor.TYPE_INT32: _SIGNED,
    FieldDescriptor.TYPE_SINT32: _SIGNED,
    FieldDescriptor.TYPE_SFIXED32: _SIGNED,
    FieldDescriptor.TYPE_UINT32: _UNSIGNED,
    FieldDescriptor.TYPE_FIXED32: _UNSIGNED,
    FieldDescriptor.TYPE_ENUM: types("int32"),
    FieldDescriptor.TYPE_BOOL: types("bool"),
}

_TEXTS = types("string")  # strings, bytes, and messages in messages

# Where messages that TensorFlow has in its package are found here.
_STAND_INS = ("tideflow.", "tensorboard.")


@functools.lru_cache
def _message_class(message_type: str, source: str | bytes) -> Any:
    pool = _pool(source)
    names = [message_type]
    if message_type.startswith("tensorflow."):
        names += [package + message_type.removeprefix("tensorflow.") for package in _STAND_INS]
    for name in names:
        try:
            return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
        except KeyError:
            continue
    raise errors.invalid_argument(f"No descriptor found for message type {message_type}")


def _pool(source: str | bytes) -> descriptor_pool.DescriptorPool:
    """The descriptors of a source: this program's own, those in the bytes of the source, those in a file."""
    if source in ("", "local://"):
        return descriptor_pool.Default()
    data = source.encode() if isinstance(source, str) else source
    if data.startswith(b"bytes://"):
        data = data.removeprefix(b"bytes://")
    else:
        data = _contents(data)
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(data)
    except DecodeError:
        raise errors.invalid_argument(
            "Source does not represent serialized file descriptor set proto."
        ) from None
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def _contents(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise errors.invalid_argument(
            f"Source does not represent serialized file descriptor set proto. ({error})"
        ) from None


def _fields(message_class: Any, names: Sequence[str], message_type: str) -> list[FieldDescriptor]:
    known = message_class.DESCRIPTOR.fields_by_name
    for name in names:
        if name not in known:
            raise errors.invalid_argument(f"Unknown field: {name} in message type {message_type}")
    return [known[name] for name in names]


def _is_message(field: FieldDescriptor) -> bool:
    return field.message_type is not None


def _is_map(field: FieldDescriptor) -> bool:
    return _is_message(field) and field.message_type.GetOptions().map_entry


_VERSION_FIELDS = {"message_type": "tensorflow.VersionDef", "field_names": ["producer", "bad_consumers"]}
_VERSIONS = b"\x08\x03\x18\x04\x18\x05", b"\x10\x07"


def _version_fields(message: VersionDef) -> dict[str, list[int]]:
    """What the samples ask for of a message: its one `producer`, if any, and all `bad_consumers`."""
    return {
        "producer": [message.producer] if message.producer else [],
        "bad_consumers": list(message.bad_consumers),
    }


# --------------------------------------------------------------------------------------------------- decoding


def _parser(message_class: Any, message_format: str) -> Callable[[bytes], Any]:
    if message_format not in ("binary", "text"):
        raise errors.invalid_argument("format must be one of binary or text")

    def parse(data: bytes) -> Any:
        try:
            if message_format == "binary":
                return message_class.FromString(data)
            return text_format.Parse(data.decode(errors="replace"), message_class())
        except (DecodeError, text_format.ParseError) as error:
            raise errors.data_loss(f"Unable to parse {message_format} protobuf: {error}") from None

    return parse


def _values_of(message: Any, field: FieldDescriptor) -> list[Any]:
    """A field's values: none where the message does not have it."""
    value = getattr(message, field.name)
    if field.is_repeated:
        items = _entries_of(value, field) if _is_map(field) else value
    elif field.has_presence:
        items = [value] if message.HasField(field.name) else []
    else:
        items = [value] if value != field.default_value else []
    if _is_message(field):
        return [item.SerializeToString() for item in items]
    return [item.encode() if isinstance(item, str) else item for item in items]


def _entries_of(value: Any, field: FieldDescriptor) -> list[Any]:
    """A map as the repeated messages that it is on the wire."""
    entry_class = message_factory.GetMessageClass(field.message_type)
    return [entry_class(key=key, value=item) for key, item in value.items()]


def _table(found: list[list[Any]], field: FieldDescriptor, dtype: DType) -> np.ndarray:
    """The values of every message, filled up with the field's default to the most that one has, or to one."""
    width = max(1, *map(len, found)) if found else 0
    table = np.empty((len(found), width), dtype.as_numpy_dtype)
    table[:] = _blank(field, dtype)
    for row, items in zip(table, found, strict=True):
        row[: len(items)] = items
    return table


def _blank(field: FieldDescriptor, dtype: DType) -> Any:
    if _is_message(field) or field.is_repeated:
        return b"" if dtype is dtypes.string else 0
    default = field.default_value
    return default.encode() if isinstance(default, str) else default


decode_proto_op = Op(
    "DecodeProtoV2",
    "bytes: string -> sizes: int32, values: output_types",
    message_type=attr("string"),
    field_names=attr("list(string)"),
    output_types=attr("list(type)", minimum=0),
    descriptor_source="local://",
    message_format="binary",
    sanitize=False,
    on_host=True,
    differentiable=False,
    touches="files",  # where the descriptors are in one
)


@decode_proto_op.shape
def _decode_proto_shape(bytes, *, field_names, output_types):
    if bytes.ndims is None:
        return [None] * (1 + len(output_types))
    return [[*bytes.tuple, len(field_names)], *([*bytes.tuple, None] for _ in output_types)]


@decode_proto_op.kernel
def _decode_proto_kernel(
    bytes, *, message_type, field_names, output_types, descriptor_source, message_format
):
    if len(field_names) != len(output_types):
        raise errors.invalid_argument("field_names and output_types attributes must have the same length")
    message_class = _message_class(message_type, descriptor_source)
    fields = _fields(message_class, field_names, message_type)
    for field, dtype in zip(fields, output_types, strict=True):
        if dtype not in _FITTING.get(field.type, _TEXTS):
            raise errors.invalid_argument(
                f"Unexpected output type for {message_type}.{field.name}: {dtype.name}"
            )
    parse = _parser(message_class, message_format)
    messages = [parse(data) for data in bytes.ravel().tolist()]
    sizes = np.zeros((len(messages), len(fields)), np.int32)
    values = []
    for i, (field, dtype) in enumerate(zip(fields, output_types, strict=True)):
        found = [_values_of(message, field) for message in messages]
        sizes[:, i] = [len(items) for items in found]
        values.append(_table(found, field, dtype).reshape(*bytes.shape, -1 if found else 0))
    return [to_torch(array) for array in (sizes.reshape(*bytes.shape, len(fields)), *values)]


def _decoded_versions(bytes, field_names, message_format):
    if message_format == "text":
        messages = [text_format.Parse(data, VersionDef()) for data in bytes.flat]
    else:
        messages = [VersionDef.FromString(data) for data in bytes.flat]
    columns = [[_version_fields(message)[name] for message in messages] for name in field_names]
    sizes = np.array([[len(items) for items in column] for column in columns]).T
    tables = []
    for column in columns:
        width = max([1, *map(len, column)]) if column else 0
        rows = [items + [0] * (width - len(items)) for items in column]
        tables.append(np.array(rows).reshape(*bytes.shape, width))
    return [sizes.reshape(*bytes.shape, len(field_names)), *tables]


decode_proto_op.samples(
    (text(*_VERSIONS), {**_VERSION_FIELDS, "output_types": [dtypes.int32, dtypes.int64]}),
    (text(_VERSIONS[0], shape=()), {**_VERSION_FIELDS, "output_types": [dtypes.int64, dtypes.int32]}),
    (text(shape=(0,)), {**_VERSION_FIELDS, "output_types": [dtypes.int32, dtypes.int32]}),
    (
        text("producer: 3"),
        {
            "message_type": "tensorflow.VersionDef",
            "field_names": ["producer"],
            "output_types": [dtypes.int32],
            "message_format": "text",
        },
    ),
    against=_decoded_versions,
)
decode_proto_op.refuses(
    (text(*_VERSIONS), {**_VERSION_FIELDS, "output_types": [dtypes.int32, dtypes.float32]}),
    "Unexpected output type for tensorflow.VersionDef.bad_consumers",
    InvalidArgumentError,
)


@export("io.decode_proto")
def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """Fields of serialized protobuf messages of any type as tensors.

    Args:
      bytes: A tensor of strings, each a serialized message.
      message_type: The full name of the messages' type.
      field_names: The fields to read.
      output_types: The type of each field's tensor; it must be able to hold the field's values. Messages in
        messages are strings.
      descriptor_source: Where the type is described: "local://" for the messages that this process knows,
        the path of a file with a FileDescriptorSet, or "bytes://" followed by one.
      message_format: "binary" or "text".
      sanitize: Kept for TensorFlow's programs; it has no effect.
      name: A name for the operation.

    Returns:
      `sizes`, an int32 tensor of shape `bytes.shape + [len(field_names)]` that says how many values each
      message has of each field, and `values`, a list of tensors of shape `bytes.shape + [most values]`,
      filled up with the field's default.

    Raises:
      InvalidArgumentError: When the step runs and the type or a field is not known, or of another type.
      DataLossError: When the step runs and a string is not such a message.
    """
    return decode_proto_op(
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=output_types,
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


# --------------------------------------------------------------------------------------------------- encoding


def _set(message: Any, field: FieldDescriptor, items: list[Any]) -> None:
    """Puts values into a field; one that is not repeated keeps the last."""
    try:
        if field.type == FieldDescriptor.TYPE_STRING:
            items = [item.decode() for item in items]
        if _is_message(field):
            for item in items:
                _add_message(message, field, item)
        elif field.is_repeated:
            getattr(message, field.name).extend(items)
        elif items:
            setattr(message, field.name, items[-1])
    except (DecodeError, ValueError, TypeError) as error:
        raise errors.invalid_argument(f"Cannot write field {field.name}: {error}") from None


def _add_message(message: Any, field: FieldDescriptor, data: bytes) -> None:
    if _is_map(field):
        entry = message_factory.GetMessageClass(field.message_type).FromString(data)
        container = getattr(message, field.name)
        if field.message_type.fields_by_name["value"].message_type is None:
            container[entry.key] = entry.value
        else:
            container[entry.key].CopyFrom(entry.value)
        return
    target = getattr(message, field.name)
    (target.add() if field.is_repeated else target).MergeFromString(data)


encode_proto_op = Op(
    "EncodeProto",
    "sizes: int32, values: Tinput_types -> bytes: string",
    field_names=attr("list(string)"),
    message_type=attr("string"),
    descriptor_source="local://",
    Tinput_types=attr("list(type)", minimum=1),
    on_host=True,
    differentiable=False,
    touches="files",  # where the descriptors are in one
)


@encode_proto_op.shape
def _encode_proto_shape(sizes, values):
    batch = axes.of_rank_at_least(sizes, 2)
    batch = batch[:-1] if batch.ndims is not None else batch
    for shape in values:
        axes.of_rank_at_least(shape, 2)
        batch = axes.merged(shape[:-1] if shape.ndims is not None else shape, batch)
    return batch


@encode_proto_op.kernel
def _encode_proto_kernel(sizes, values, *, field_names, message_type, descriptor_source, Tinput_types):
    message_class = _message_class(message_type, descriptor_source)
    fields = _fields(message_class, field_names, message_type)
    for field, dtype in zip(fields, Tinput_types, strict=True):
        if dtype not in _FITTING.get(field.type, _TEXTS):
            raise errors.invalid_argument(
                f"Incompatible type for field {field.name}.  Saw dtype: {dtype.name}"
            )
    batch = tuple(values[0].shape[:-1])
    if tuple(sizes.shape) != (*batch, len(fields)):
        raise errors.invalid_argument(
            f"sizes should be batch_size + [len(field_names)].  Saw: {axes.brackets(sizes.shape)} but "
            f"expected: {axes.brackets((*batch, len(fields)))}"
        )
    counts = to_numpy(sizes).reshape(-1, len(fields)).tolist()
    tables = [to_numpy(value).reshape(len(counts), -1) for value in values]
    encoded = np.empty(len(counts), object)
    for number, count in enumerate(counts):
        message = message_class()
        for place, (field, size, table) in enumerate(zip(fields, count, tables, strict=True)):
            if size > table.shape[1]:
                raise errors.invalid_argument(
                    "Size to write must not be larger than value tensor; but saw: "
                    f"{size} > {table.shape[1]} at message {number} field {place}"
                )
            _set(message, field, table[number, : max(size, 0)].tolist())
        encoded[number] = message.SerializeToString()
    return encoded.reshape(batch)


def _is_parsed_back(sizes, values, encoded, field_names):
    messages = [_version_fields(VersionDef.FromString(data)) for data in encoded]
    return [
        message[name] == table[row, :size].tolist()
        for row, message in enumerate(messages)
        for name, table, size in zip(field_names, values, sizes[row], strict=True)
    ]


_SIZES = np.array([[1, 2], [0, 1]], np.int32)

encode_proto_op.samples(
    (_SIZES, [np.array([[3], [9]], np.int32), np.array([[4, 5], [6, 0]], np.int32)], _VERSION_FIELDS),
    law=_is_parsed_back,
)
encode_proto_op.refuses(
    (_SIZES, [np.array([[3], [9]], np.int32), np.array([[4], [6]], np.int32)], _VERSION_FIELDS),
    "Size to write must not be larger than value tensor; but saw: 2 > 1 at message 0 field 1",
    InvalidArgumentError,
)


@export("io.encode_proto")
def encode_proto(
    sizes: TensorLike,
    values: Sequence[Any],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Tensors as serialized protobuf messages of any type: the inverse of `tf.io.decode_proto`.

    Args:
      sizes: An int32 tensor of shape `batch + [len(field_names)]`: how many values each message has of each
        field.
      values: For each field a tensor of shape `batch + [at least the largest size]`.
      field_names: The fields to write.
      message_type: The full name of the messages' type.
      descriptor_source: Where the type is described; see `tf.io.decode_proto`.
      name: A name for the operation.

    Returns:
      A tensor of strings of shape `batch`.

    Raises:
      InvalidArgumentError: When the step runs and the type or a field is not known, or the values do not fit.
    """
    return encode_proto_op(
        sizes,
        values,
        field_names=field_names,
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )
