"""What is known of a tensor's value before anything runs: sizes that follow from shapes, constants, packs of
both.

A partial value is a Python number, a (nested) list with None where an element is unknown, or None where
nothing is.
"""

import threading
from typing import Any

import numpy as np

from tideflow.export import export

_LARGEST = 1024  # elements; longer tensors are data, not sizes


class _Answers(threading.local):
    """What one outermost question has found out so far: chains of sizes ask for the same tensors again and
    again.
    """

    found: dict[Any, Any] | None = None


_answers = _Answers()


def partial_value(tensor: Any) -> Any:
    """The value of a tensor as far as it follows from the graph alone; of graph tensors and planned values
    alike.
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


def _unknown(dims: tuple | None) -> Any:
    if not dims or dims[0] is None or len(dims) > 2 or dims[0] > _LARGEST:
        return None
    return [_unknown(dims[1:]) for _ in range(dims[0])]


def fully_known(value: Any) -> bool:
    """Whether no element of a partial value is unknown."""
    if isinstance(value, list):
        return all(fully_known(item) for item in value)
    return value is not None


@export("get_static_value", "contrib.util.constant_value")
def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array where it follows from the graph alone, else None."""
    if tensor.op.definition.value_rule is None:
        return None
    if tensor.op.definition.role == "constant":
        return tensor.op.attrs["value"]
    value = partial_value(tensor)
    known = fully_known(value) and not (isinstance(value, list) and not value and tensor.shape.tuple != (0,))
    return np.array(value, tensor.dtype.numpy) if known else None
