"""What TensorFlow knows of a shape tensor while it builds a graph, which is less than follows from the graph.

Some functions build different graphs for known and unknown shapes. They must know exactly as much as
TensorFlow does, or the graphs and the names in them would differ.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value

_OF_NO_INPUT = frozenset("Const Shape Size Rank".split())  # their values do not depend on other values
_OF_INPUTS = frozenset("Cast Concat ConcatV2 Fill Pack Range".split())

_Sizes: TypeAlias = "list[int | None] | None"


def known_sizes(tensor: Tensor) -> _Sizes:
    """The elements of a vector of sizes, None for each unknown one; None where their number is unknown."""
    op_type, inputs = tensor.op.type, tensor.op.inputs
    if op_type == "Pack" and tensor.shape.ndims == 1:
        return [_value_if_known(item) for item in inputs]
    if op_type == "ConcatV2":
        parts = [known_sizes(part) for part in inputs[:-1]]
        known = [part for part in parts if part is not None]
        return None if len(known) < len(parts) else [size for part in known for size in part]
    if op_type == "StridedSlice" and _is_known(inputs[0]):
        return cast(_Sizes, partial_value(tensor))
    found = cast(_Sizes, _value_if_known(tensor))
    sizes = tensor.shape.tuple
    length = sizes[0] if sizes is not None and len(sizes) == 1 else None
    return [None] * length if found is None and length is not None else found


def _value_if_known(tensor: Tensor) -> Any:
    return partial_value(tensor) if _is_known(tensor) else None


def _is_known(tensor: Tensor) -> bool:
    """Whether TensorFlow's constant_value has a rule for every op between this value and constants."""
    op = tensor.op
    if op.type in _OF_NO_INPUT:
        return True
    return op.type in _OF_INPUTS and all(map(_is_known, op.inputs))
