"""Functions as values of attributes."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.graph.scopes import get_default_graph


def named_function(value: Any) -> Any:
    """A function, or a list of them, by name, as a graph refers to it.

    One that is an object (a `Defun`, a concrete function) is put into the library of the default graph;
    anything else is a name already.
    """
    if isinstance(value, (list, tuple)):
        return [named_function(item) for item in value]
    if not hasattr(value, "add_to_graph"):
        return value
    value.add_to_graph(get_default_graph())
    return NameAttrList(name=value.name)
