"""Messages of our own, on TensorFlow's wire format: those that the tensorboard package lacks.

They stand in package `tideflow`, so that TensorFlow's can be loaded in the same process. They are described
in Python: nothing is generated and no compiler is needed.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tideflow"
_KNOWN = ("tensorboard.", f"{_PACKAGE}.")  # how the types of other files begin
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
    """The classes of the messages of a schema: by message, its fields in order of their numbers, from 1, or
    with a number of its own before the type.

    A field's type is a scalar, a message of the schema, or with its package (`tensorboard.VersionDef`) one
    that is known already.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}/{file_name}.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in schema.items():
        message = file.message_type.add(name=name)
        for number, (field_name, words) in enumerate(fields.items(), 1):
            first, *rest = words.split()
            given = (int(first), *rest) if first.isdecimal() else (number, first, *rest)
            _add_field(message, field_name, *given)
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
    """A field of a message: its type, behind `repeated`, `map` (from strings, or the type that follows) or
    `oneof` and its name.
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
