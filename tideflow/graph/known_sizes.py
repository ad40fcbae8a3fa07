"""What TensorFlow knows of a shape tensor while it builds a graph, which is less than follows from the graph.

Some functions build different graphs for known and unknown shapes. They must know exactly as much as
TensorFlow does, or the graphs and the names in them would differ.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value

_Sizes: TypeAlias = "list[int | None] | None"


def known_sizes(tensor: Tensor) -> _Sizes:
    """The elements of a vector of sizes, None for each unknown one; None where their number is unknown.

    An op type may have a rule of its own for this (`Op.sizes`).
    """
    if tensor.is_eager:
        return cast(_Sizes, partial_value(tensor))
    rule = tensor.op.definition.sizes_rule
    if rule is not None and (sizes := rule(tensor.op)) is not NotImplemented:
        return cast(_Sizes, sizes)
    found = cast(_Sizes, known_value(tensor))
    dims = tensor.shape.tuple
    length = dims[0] if dims is not None and len(dims) == 1 else None
    return [None] * length if found is None and length is not None else found


def known_value(tensor: Tensor) -> Any:
    """The partial value of a tensor, if TensorFlow's constant_value has rules for all that it depends on."""
    return partial_value(tensor) if has_static_value(tensor) else None


def has_static_value(tensor: Tensor) -> bool:
    """Whether TensorFlow's constant_value has a rule for every op between this value and constants."""
    if tensor.is_eager:
        return True
    op = tensor.op
    if op.definition.role in ("constant", "metadata"):
        return True
    return op.definition.has_static_value and all(map(has_static_value, op.inputs))
