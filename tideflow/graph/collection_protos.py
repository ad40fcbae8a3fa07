"""Collections whose items are messages in a MetaGraphDef: how an item becomes one, and one an item again."""

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
    """The items of a collection are messages of this type in a MetaGraphDef: they have a method `to_proto`,
    or the function `to_proto` makes the message.
    """
    proto_functions[collection_name] = ProtoFunctions(proto_type, from_proto, to_proto)
