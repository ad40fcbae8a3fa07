"""Functions of users that become graphs: what converts their control flow is loaded with the first one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_converter = ""  # the module whose `tf_convert` makes graph of a function's control flow


def load_converter_when_asked_for(module: str) -> None:
    """The first function that is traced loads the module that converts such functions."""
    global _converter
    _converter = module


def converted(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function with Python's control flow on tensors as graph; as it is where nothing converts it."""
    if not _converter:
        return function
    made: Callable[..., Any] = importlib.import_module(_converter).tf_convert(function, **options)
    return made
