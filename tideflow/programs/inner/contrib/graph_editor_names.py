"""`tensorflow.contrib.graph_editor.util`: lists, scopes, and the same element of another graph."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib.graph_editor.util import scope_finalize, transform_tree


def concatenate_unique(la: list[Any], lb: list[Any]) -> list[Any]:
    """The first list, to which those items of the second are added that it lacks."""
    la.extend(item for item in dict.fromkeys(lb) if item not in set(la))
    return la


def scope_dirname(scope: str) -> str:
    """A scope up to its last slash."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """What stands after the last slash of a scope."""
    return scope[scope.rfind("/") + 1 :]


def get_predefined_collection_names() -> list[Any]:
    """The names of the collections that TensorFlow uses itself."""
    return [getattr(tf.GraphKeys, key) for key in dir(tf.GraphKeys) if not key.startswith("__")]


def find_corresponding_elem(
    target: Any, dst_graph: tf.Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """The tensor or operation of another graph with the name of this one, its scope exchanged.

    Raises:
      ValueError: If the name does not begin with the scope that is to be exchanged.
      TypeError: If it is neither a tensor nor an operation.
    """
    name, old = target.name, scope_finalize(src_scope)
    if not name.startswith(old):
        raise ValueError(f"{name} does not start with {old}")
    name = scope_finalize(dst_scope) + name.removeprefix(old)
    if isinstance(target, tf.Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, tf.Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


def find_corresponding(targets: Any, dst_graph: tf.Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """The same for all elements of a tree."""
    return transform_tree(
        targets, lambda each: find_corresponding_elem(each, dst_graph, dst_scope, src_scope)
    )
