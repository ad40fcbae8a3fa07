"""Messages as dictionaries, so that those of two packages can be compared."""

from google.protobuf.message import Message


def fields(message):
    """The set fields of a message by name; maps by key, enums by name."""
    return {field.name: _value(field, value) for field, value in message.ListFields()}


def _value(field, value):
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        entry = kind.fields_by_name["value"]
        return {key: _single(entry, value[key]) for key in value}
    if isinstance(value, Message | str | bytes | bool | int | float):
        return _single(field, value)
    return [_single(field, element) for element in value]


def _single(field, value):
    if isinstance(value, Message):
        return fields(value)
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    return value
