"""Messages that the tensorboard package lacks, on TensorFlow's wire format.

They are in package `tideflow`, so that TensorFlow's own can be loaded in the same process. Each is described
by a dictionary and made at import, without generated code or a compiler.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tideflow"
_KNOWN = ("tensorboard.", f"{_PACKAGE}.")  # prefixes of the types of other files
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "fixed32": _Field.TYPE_FIXED32,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
}

Schema = dict[str, dict[str, str]]


def make_messages(file_name: str, schema: Schema) -> dict[str, Any]:
    """Makes the classes of the messages of a schema.

    Args:
      file_name: The name of the .proto file that the messages would be in.
      schema: By message and field, the field's type. Fields are numbered from 1 in their order, unless a
        number precedes the type. A type is a scalar, a message of the schema, or a message of another file
        with its package (`tensorboard.VersionDef`).

    Returns:
      The classes by name.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}/{file_name}.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in schema.items():
        message = file.message_type.add(name=name)
        for number, (field_name, words) in enumerate(fields.items(), 1):
            first, *rest = words.split()
            if first.isdecimal():
                _add_field(message, field_name, int(first), *rest)
            else:
                _add_field(message, field_name, number, first, *rest)
    pool = descriptor_pool.Default()
    known = {word for fields in schema.values() for words in fields.values() for word in words.split()}
    file.dependency.extend(
        sorted({pool.FindMessageTypeByName(word).file.name for word in known if word.startswith(_KNOWN)})
    )
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in schema
    }


def _add_field(message: Any, name: str, number: int, *words: str) -> None:
    """Adds a field to a message's description.

    The last word is the type. `repeated`, `oneof` and the oneof's name, or `map` and the type of the keys
    (strings if there is none) may precede it.
    """
    *rule, kind = words
    field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if rule[:1] == ["map"]:
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, *(rule[1:] or ["string"]))
        _add_field(entry, "value", 2, kind)
        kind = f"{message.name}.{entry.name}"
    elif rule[:1] == ["oneof"]:
        field.oneof_index = 0
        if not message.oneof_decl:
            message.oneof_decl.add(name=rule[1])
    if rule[:1] in (["map"], ["repeated"]):
        field.label = _Field.LABEL_REPEATED
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        if kind not in ("bytes", "string"):
            field.options.packed = True
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{kind}" if kind.startswith(_KNOWN) else f".{_PACKAGE}.{kind}"
