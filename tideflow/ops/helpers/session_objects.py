"""A session's objects behind a handle (a reader, a barrier): made on first use, shared by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.graph import errors

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
        if has[what] != value:
            raise errors.invalid_argument(
                f"Shared {kind} '{name}' has {what} {has[what]} but requested {what} was {value}",
            )
    return there


def held(handle: Any) -> Any:
    """The object that a handle stands for."""
    return handle.item() if isinstance(handle, np.ndarray) else handle
