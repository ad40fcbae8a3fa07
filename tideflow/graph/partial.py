"""What is known of a tensor's value before anything runs: sizes that follow from shapes, constants, packs of
both.

A partial value is a Python number, a (nested) list with None where an element is unknown, or None where
nothing is.
"""

from typing import Any

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
