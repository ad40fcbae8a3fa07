"""How a public object is called: its parameters with types and defaults, as text that fits on a page."""

from __future__ import annotations

import inspect
import re
from typing import Any

import tideflow as tf

_WIDTH = 88  # columns of a signature on one line


def parameters(obj: Any) -> list[inspect.Parameter]:
    """The parameters that a caller gives; none for what cannot be called or does not tell."""
    try:
        found = list(inspect.signature(obj).parameters.values())
    except (TypeError, ValueError):
        return []
    is_method = "." in getattr(obj, "__qualname__", "")
    return found[1:] if is_method and found and found[0].name in ("self", "cls") else found


def returned(obj: Any) -> str:
    """The declared type of what a function returns, or nothing."""
    try:
        annotation = inspect.signature(obj).return_annotation
    except (TypeError, ValueError):
        return ""
    return "" if annotation is inspect.Signature.empty else type_text(annotation)


def text(name: str, obj: Any) -> str:
    """`tf.matmul(a, b, …)`, on one line if it fits, else a parameter a line."""
    shown = _marked(parameters(obj))
    line = f"{name}({', '.join(shown)})"
    if len(line) <= _WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + ")"


def type_text(annotation: Any) -> str:
    """An annotation as it was written; what says nothing is left out."""
    if annotation in (inspect.Parameter.empty, Any, "Any"):
        return ""
    if isinstance(annotation, str):
        return annotation.strip("'\"")
    return getattr(annotation, "__name__", str(annotation))


def default_text(value: Any) -> str:
    """A default as a person would write it."""
    if isinstance(value, tf.DType):
        return f"tf.{value.name}"
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__name__
    shown = repr(value)
    return re.sub(r"<([\w.]+)[^<>]*>", "…", shown) if "<" in shown else shown


def _marked(found: list[inspect.Parameter]) -> list[str]:
    """The parameters with the `*` and `/` that stand between their kinds."""
    shown: list[str] = []
    starred = False
    for number, parameter in enumerate(found):
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        if number and found[number - 1].kind is parameter.POSITIONAL_ONLY is not parameter.kind:
            shown.append("/")
        shown.append(_one(parameter))
    return shown


def _one(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is parameter.empty:
        return stars + parameter.name
    return f"{parameter.name}={default_text(parameter.default)}"
