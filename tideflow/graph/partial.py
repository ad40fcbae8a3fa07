"""What is known of a tensor's value before anything runs: sizes that follow from shapes, constants, packs of
both.

A partial value is a Python number, a (nested) list with None where an element is unknown, or None where
nothing is.
"""

from typing import Any

import numpy as np

from tideflow.export import export

_LARGEST = 1024  # elements; longer tensors are data, not sizes


def partial_value(tensor: Any) -> Any:
    """The value of a tensor as far as it follows from the graph alone. Works on graph tensors and on planned
    values.
    """
    rule = tensor.op.definition.value_rule
    value = None
    if rule is not None and (tensor.shape.num_elements() or 0) <= _LARGEST:
        value = rule(tensor.op) if len(tensor.op.outputs) == 1 else rule(tensor.op)[tensor.value_index]
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
    if tensor.op.definition.name == "Const":
        return tensor.op.attrs["value"]
    value = partial_value(tensor)
    known = fully_known(value) and not (isinstance(value, list) and not value and tensor.shape.tuple != (0,))
    return np.array(value, tensor.dtype.as_numpy_dtype) if known else None
