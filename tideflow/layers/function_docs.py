"""The docstrings of functions that make a layer and apply it once."""

from __future__ import annotations

import inspect
import re


def function_doc(layer: type, further: str = "") -> str:
    """A layer's docstring with its input, `further` arguments and its output. What goes to the base of all
    layers is left out.
    """
    summary, _, arguments = (inspect.getdoc(layer) or "").partition("Args:\n")
    arguments = re.sub(r"  kwargs: .*\n?", "", arguments)
    return (
        f"{summary}Args:\n  inputs: The input tensor.\n{arguments.rstrip()}\n{further}\n"
        "Returns:\n  The output tensor."
    )
