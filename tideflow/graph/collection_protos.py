"""The conversion of collections' items to messages of a MetaGraphDef, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


def _own_message(item: Any, export_scope: str | None = None) -> Any:
    return item.to_proto(export_scope=export_scope)


class ProtoFunctions(NamedTuple):
    """`to_proto(item, export_scope=…)` may return None, for an item outside of the scope."""

    proto_type: type
    from_proto: Callable[..., Any]
    to_proto: Callable[..., Any]


proto_functions: dict[str, ProtoFunctions] = {}


def register_proto_function(
    collection_name: str,
    proto_type: type,
    from_proto: Callable[..., Any],
    to_proto: Callable[..., Any] = _own_message,
) -> None:
    """Registers how the items of a collection are converted to messages of a MetaGraphDef, and back.

    Args:
      collection_name: The collection's key.
      proto_type: The class of the messages.
      from_proto: A function from a message to an item.
      to_proto: A function from an item to a message; by default it calls the item's own method `to_proto`.
    """
    proto_functions[collection_name] = ProtoFunctions(proto_type, from_proto, to_proto)
