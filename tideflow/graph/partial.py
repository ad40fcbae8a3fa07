"""What is known of a tensor's value before a step runs: constants, sizes from static shapes, packs of both.

A partial value is a Python number, a (nested) list with None for each unknown element, or None where nothing
is known.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.shapes import Sizes

_LARGEST = 1024  # elements; longer tensors are data, not sizes


class _Answers(threading.local):
    """The values found during one outermost call: chains of sizes ask for the same tensors many times."""

    found: dict[Any, Any] | None = None


_answers = _Answers()


def partial_value(tensor: Any) -> Any:
    """The value of a tensor as far as it follows from the graph alone.

    `tensor` is a tensor of a graph or a value of a plan: both have `op`, `shape` and `value_index`.
    """
    if tensor.op.definition.value_rule is None:
        return _unknown(tensor.shape.tuple)
    if _answers.found is None:
        _answers.found = {}
        try:
            return _by_rule(tensor)
        finally:
            _answers.found = None
    if tensor not in _answers.found:
        _answers.found[tensor] = _by_rule(tensor)
    return _answers.found[tensor]


def _by_rule(tensor: Any) -> Any:
    value = None
    if (tensor.shape.num_elements() or 0) <= _LARGEST:
        value = tensor.op.definition.value_rule(tensor.op)
        value = value[tensor.value_index] if len(tensor.op.outputs) > 1 and value is not None else value
    return value if value is not None else _unknown(tensor.shape.tuple)


def _unknown(dims: Sizes | None) -> Any:
    if not dims or dims[0] is None or len(dims) > 2 or dims[0] > _LARGEST:
        return None
    return [_unknown(dims[1:]) for _ in range(dims[0])]


def fully_known(value: Any) -> bool:
    """Whether no element of a partial value is unknown."""
    if isinstance(value, list):
        return all(fully_known(item) for item in value)
    return value is not None


@export("get_static_value", "contrib.util.constant_value")
def constant_value(tensor: Tensor, partial: bool = False) -> Any:
    """Computes the value of a tensor from the graph alone, without a session.

    Args:
      tensor: The tensor.
      partial: Has no effect: a value of which only a part is known counts as unknown.

    Returns:
      The value as an array, or None where it depends on what a step computes.
    """
    if tensor.op.definition.value_rule is None:
        return None
    if tensor.op.definition.role == "constant":
        return tensor.op.attrs["value"]
    value = partial_value(tensor)
    known = fully_known(value) and not (isinstance(value, list) and not value and tensor.shape.tuple != (0,))
    return np.array(value, tensor.dtype.numpy) if known else None
