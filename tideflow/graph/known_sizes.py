"""What TensorFlow knows of a vector of sizes before the step, which is less than follows from the graph.

Functions that build different graphs by what they know of a shape must know neither less nor more than
TensorFlow does, or graphs and names would differ.
"""

from __future__ import annotations

from typing import Any

from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value


def known_sizes(tensor: Tensor) -> list[int | None] | None:
    """The elements of a vector of sizes, None for each that is not known; None where their number is not.

    An op type may have a rule of its own for this (`Op.sizes`).
    """
    rule = tensor.op.definition.sizes_rule
    if rule is not None and (found := rule(tensor.op)) is not NotImplemented:
        return found
    found = known_value(tensor)
    length = tensor.shape.tuple[0] if tensor.shape.ndims == 1 else None
    return [None] * length if found is None and length is not None else found


def known_value(tensor: Tensor) -> Any:
    """The partial value of a tensor, if TensorFlow's constant_value has rules for all that it depends on."""
    return partial_value(tensor) if has_static_value(tensor) else None


def has_static_value(tensor: Tensor) -> bool:
    """Whether TensorFlow's constant_value has a rule for every op between this value and constants."""
    op = tensor.op
    if op.definition.role in ("constant", "metadata"):
        return True
    return op.definition.has_static_value and all(map(has_static_value, op.inputs))
