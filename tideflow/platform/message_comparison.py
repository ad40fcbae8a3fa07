"""Comparing protocol buffers in tests: `tensorflow.python.util.protobuf.compare`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor, text_format
from google.protobuf.message import Message

_WHOLE_NUMBERS = (
    descriptor.FieldDescriptor.TYPE_INT64,
    descriptor.FieldDescriptor.TYPE_UINT64,
    descriptor.FieldDescriptor.TYPE_SINT64,
)
_PLACES = {  # behind the point, as far as numbers are compared
    descriptor.FieldDescriptor.TYPE_FLOAT: 6,
    descriptor.FieldDescriptor.TYPE_DOUBLE: 7,
}


def assertProtoEqual(
    self: Any,
    a: Message | str,
    b: Message,
    check_initialized: bool = True,
    normalize_numbers: bool = False,
    msg: str | None = None,
) -> None:
    """Fails a test unless two messages are equal, and shows both as texts.

    Args:
      self: The test case.
      a: A message, or its text.
      b: Another message.
      check_initialized: Whether all required fields must be set.
      normalize_numbers: Whether numbers are compared by their first places behind the point.
      msg: What to say instead of the difference.
    """
    if isinstance(a, str):
        a = text_format.Merge(a, type(b)())
    for message in (a, b):
        missing = message.FindInitializationErrors()
        if check_initialized and missing:
            self.fail(f"Initialization errors: {missing}\n{message}")
    first, second = type(a)(), type(b)()
    first.CopyFrom(a)
    second.CopyFrom(b)
    if normalize_numbers:
        NormalizeNumberFields(first)
        NormalizeNumberFields(second)
    self.assertMultiLineEqual(
        text_format.MessageToString(first, descriptor_pool=None),
        text_format.MessageToString(second, descriptor_pool=None),
        msg=msg,
    )


def NormalizeNumberFields(pb: Message) -> Message:
    """Rounds the numbers of a message, so that equal ones have one text.

    Args:
      pb: The message, which is changed.

    Returns:
      The message.
    """
    for field, value in pb.ListFields():
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            if kind.fields_by_name["value"].message_type is not None:
                for each in value.values():
                    NormalizeNumberFields(each)
        elif kind is not None:
            repeated = isinstance(getattr(pb, field.name), Message) is False
            for each in value if repeated else [value]:
                NormalizeNumberFields(each)
        elif field.type in _WHOLE_NUMBERS:
            _change(pb, field.name, value, int)
        elif field.type in _PLACES:
            _change(pb, field.name, value, functools.partial(round, ndigits=_PLACES[field.type]))
    return pb


def _change(pb: Message, name: str, value: Any, change: Callable[[Any], Any]) -> None:
    """Changes the number of a field, or each of several."""
    if isinstance(value, (int, float)):
        setattr(pb, name, change(value))
    else:
        value[:] = [change(each) for each in value]


def ProtoEq(a: Any, b: Any) -> bool:
    """Whether two messages, or two values of fields, are equal.

    Args:
      a: A message or a value.
      b: Another.

    Returns:
      Whether they are equal.
    """
    return bool(a == b)


class ProtoAssertions:
    """What a test case inherits to compare messages."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:
        """Fails unless two messages are equal."""
        assertProtoEqual(self, *args, **kwargs)
