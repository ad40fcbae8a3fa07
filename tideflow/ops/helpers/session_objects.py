"""A session's objects behind a handle (a reader, a barrier): made on first use, shared by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.op_errors import type_word
from tideflow.graph.shapes import TensorShape, brackets

REFERENCE, RESOURCE = "Ref(string)", "resource"
NAMED = {"container": "", "shared_name": ""}


def found(
    kind: str,
    make: Callable[[str], Any],
    resources: Any,
    node: Any,
    alike: Callable[[Any], dict[str, Any]] = lambda made: {},
) -> Any:
    """The session's object under the node's name, made on first use.

    Where the object exists already, its `alike` facts must equal those of the one asked for.
    """
    name = node.attrs["shared_name"] or node.name
    there = resources.get_or_create(node.attrs["container"], kind, name, lambda: make(name))
    has, asked = alike(there), alike(make(name))
    for what, value in asked.items():
        if has.get(what) != value:
            verb = "were" if what.endswith("s") else "was"
            raise errors.invalid_argument(
                f"Shared {kind} '{name}' has {what} {has.get(what)} but requested {what} {verb} {value}",
            )
    return there


def component_facts(types: Sequence[DType], shapes: Sequence[TensorShape]) -> dict[str, str]:
    """What objects of one name have in common that keep tuples of tensors, as TensorFlow writes it."""
    written = ", ".join("?" if shape.tuple is None else brackets(shape.tuple) for shape in shapes)
    return {
        "component types": ", ".join(type_word(dtype) for dtype in types),
        "component shapes": f"[{written}]",
    }


def held(handle: Any) -> Any:
    """The object that a handle stands for."""
    return handle.item() if isinstance(handle, np.ndarray) else handle
