"""What TensorFlow tells of a shape tensor before the step, which is less than follows from the graph.

Functions that build different graphs by what they know of a shape must know neither less nor more than
TensorFlow does, or graphs and names would differ.
"""

from __future__ import annotations

from typing import Any

from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value

_OF_NO_INPUT = frozenset("Const Shape Size Rank".split())  # what they say does not come from other values
_OF_INPUTS = frozenset("Cast Concat ConcatV2 Fill Pack Range".split())


def known_sizes(tensor: Tensor) -> list[int | None] | None:
    """The elements of a vector of sizes, None for those that are not told; None where their number is not."""
    op_type, inputs = tensor.op.type, tensor.op.inputs
    if op_type == "Pack" and tensor.shape.ndims == 1:
        return [_told(item) for item in inputs]
    if op_type == "ConcatV2":
        parts = [known_sizes(part) for part in inputs[:-1]]
        return None if None in parts else [size for part in parts for size in part]
    if op_type == "StridedSlice" and _is_told(inputs[0]):
        return partial_value(tensor)
    found = _told(tensor)
    length = tensor.shape.tuple[0] if tensor.shape.ndims == 1 else None
    return [None] * length if found is None and length is not None else found


def _told(tensor: Tensor) -> Any:
    return partial_value(tensor) if _is_told(tensor) else None


def _is_told(tensor: Tensor) -> bool:
    """Whether TensorFlow's constant_value has a rule for every op between this value and constants."""
    op = tensor.op
    if op.type in _OF_NO_INPUT:
        return True
    return op.type in _OF_INPUTS and all(map(_is_told, op.inputs))
