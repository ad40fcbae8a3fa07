"""Users' functions that become graphs. The first one loads AutoGraph, which converts their control flow."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_converter = ""  # the module whose `tf_convert` turns a function's control flow into operations


def load_converter_when_asked_for(module: str) -> None:
    """The first function that is traced loads the module that converts such functions."""
    global _converter
    _converter = module


def converted(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function, its control flow on tensors converted to operations if a converter is registered."""
    if not _converter:
        return function
    made: Callable[..., Any] = importlib.import_module(_converter).tf_convert(function, **options)
    return made
