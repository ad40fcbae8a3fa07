"""Messages that the tensorboard package lacks, on TensorFlow's wire format.

They are in package `tideflow`, so that TensorFlow's own can be loaded in the same process. Each is described
by a dictionary and made at import, without generated code or a compiler.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import EnumDescriptor

_PACKAGE = "tideflow"
_KNOWN = ("google.protobuf.", "tensorboard.", "tideflow.")  # prefixes of the types of other files
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
}

Schema = Mapping[str, Mapping[str, str]]


def make_messages(
    file_name: str,
    schema: Schema,
    enums: Mapping[str, Mapping[str, int]] | None = None,
    *,
    package: str = _PACKAGE,
    syntax: Literal["proto2", "proto3"] = "proto3",
) -> dict[str, Any]:
    """Makes the classes of the messages of a schema.

    Args:
      file_name: The name of the .proto file that the messages would be in.
      schema: By message and field, the field's type. Fields are numbered from 1 in their order, unless a
        number precedes the type. A type is a scalar, a message or an enum of the schema, or a message or an
        enum of another file with its package (`tensorboard.VersionDef`). A message that stands in another
        follows it, under both names (`Message.Inner`).
      enums: The numbers of the values of each enum. The first is 0. An enum stands in a message
        (`Message.Enum`) where its values are not to be known outside of it.
      package: The package of the messages.
      syntax: Messages of proto2 know which of their scalars are set, may give them other defaults than zero
        (`double default=1`), and pack repeated numbers only where the type says `packed` for `repeated`.

    Returns:
      The classes by name.
    """
    enums = enums or {}
    pool = descriptor_pool.Default()
    words = {word for fields in schema.values() for text in fields.values() for word in text.split()}
    others = {word: _find_type(pool, word) for word in sorted(words) if word.startswith(_KNOWN)}
    enum_types = {*enums, *(word for word, found in others.items() if isinstance(found, EnumDescriptor))}
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package.replace('.', '/')}/{file_name}.proto", package=package, syntax=syntax
    )
    file.dependency.extend(sorted({found.file.name for found in others.values()}))
    descriptions: dict[str, Any] = {}
    for name, fields in schema.items():
        within, _, own_name = name.rpartition(".")
        siblings = descriptions[within].nested_type if within else file.message_type
        descriptions[name] = message = siblings.add(name=own_name)
        for position, (field_name, text) in enumerate(fields.items(), 1):
            first, *rest = text.split()
            number, type_words = (int(first), rest) if first.isdecimal() else (position, [first, *rest])
            scope = _Scope(f"{package}.{name}", package, enum_types, syntax)
            _add_field(message, field_name, number, type_words, scope)
    for name, values in enums.items():
        within, _, own_name = name.rpartition(".")
        enum = (descriptions[within] if within else file).enum_type.add(name=own_name)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in schema
    }


class _Scope(NamedTuple):
    """Where a field stands: the full name of its message, its package, the enums it may name, its syntax."""

    message: str
    package: str
    enums: Container[str]
    syntax: str


def _find_type(pool: Any, name: str) -> Any:
    try:
        return pool.FindMessageTypeByName(name)
    except KeyError:
        return pool.FindEnumTypeByName(name)


def _add_field(message: Any, name: str, number: int, words: Sequence[str], scope: _Scope) -> None:
    """Adds a field to a message's description.

    The last word is the type, unless it gives the default. `repeated` or `packed`, `oneof` and the oneof's
    name, or `map` and the type of the keys (strings if there is none) may precede it.
    """
    words, default = (words[:-1], words[-1][len("default=") :]) if "default=" in words[-1] else (words, None)
    *rule, kind = words
    field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if default is not None:
        field.default_value = default
    if rule[:1] == ["map"]:
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, rule[1:] or ["string"], scope)
        _add_field(entry, "value", 2, [kind], scope)
        kind = f"{scope.message.removeprefix(scope.package + '.')}.{entry.name}"
    elif rule[:1] == ["oneof"]:
        oneofs = [oneof.name for oneof in message.oneof_decl]
        if rule[1] not in oneofs:
            message.oneof_decl.add(name=rule[1])
        field.oneof_index = oneofs.index(rule[1]) if rule[1] in oneofs else len(oneofs)
    if rule[:1] in (["map"], ["packed"], ["repeated"]):
        field.label = _Field.LABEL_REPEATED
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        if rule[:1] == ["packed"] or (scope.syntax == "proto3" and kind not in ("bytes", "string")):
            field.options.packed = True
    else:
        field.type = _Field.TYPE_ENUM if kind in scope.enums else _Field.TYPE_MESSAGE
        field.type_name = f".{kind}" if kind.startswith(_KNOWN) else f".{scope.package}.{kind}"
