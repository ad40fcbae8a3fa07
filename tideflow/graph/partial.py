"""What is known of a tensor's value before a step runs: constants, sizes from static shapes, packs of both.

A partial value is a Python number, a (nested) list with None for each unknown element, or None where nothing
is known.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.shapes import TensorShape, unknown_shape

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

    `tensor` is a tensor of a graph or a value of a plan: both have `op`, `shape` and `value_index`. A tensor
    of eager mode has its value.
    """
    if tensor.is_eager:
        return tensor._known_value(_LARGEST)
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
    if not _has_symbols(tensor.shape.tuple) and (tensor.shape.num_elements() or 0) <= _LARGEST:
        value = tensor.op.definition.value_rule(tensor.op)
        value = value[tensor.value_index] if len(tensor.op.outputs) > 1 and value is not None else value
    return value if value is not None else _unknown(tensor.shape.tuple)


def _unknown(dims: Sizes | None) -> Any:
    if not dims or dims[0] is None or len(dims) > 2 or _has_symbols(dims) or dims[0] > _LARGEST:
        return None
    return [_unknown(dims[1:]) for _ in range(dims[0])]


def _has_symbols(dims: Sizes | None) -> bool:
    """Whether a size is a symbol, as it is while a step is traced: what has that size is data."""
    return dims is not None and any(size.__class__ is not int and size is not None for size in dims)


def fully_known(value: Any) -> bool:
    """Whether no element of a partial value is unknown."""
    if isinstance(value, list):
        return all(fully_known(item) for item in value)
    return value is not None


@export("get_static_value", "contrib.util.constant_value")
def constant_value(tensor: Tensor, partial: bool = False) -> Any:
    """Computes the value of a tensor from the graph alone, without a session.

    Args:
      tensor: The tensor. What is none has its value already.
      partial: Whether a value counts of which only some elements are known: an array with None for the
        others.

    Returns:
      The value as an array, or None where it depends on what a step computes.
    """
    if getattr(tensor, "is_eager", False):
        return tensor.numpy()  # type: ignore[attr-defined]
    if not hasattr(tensor, "op"):
        return tensor
    if tensor.op.definition.value_rule is None:
        return None
    if tensor.op.definition.role == "constant":
        return tensor.op.attrs["value"]
    if tensor.shape.num_elements() == 0:  # lists that are empty do not tell the sizes of what is in them
        return np.zeros(tensor.shape.as_list(), tensor.dtype.numpy)
    value = partial_value(tensor)
    if fully_known(value):
        return None if value == [] else np.array(value, tensor.dtype.numpy)
    return np.array(value, dtype=object) if partial and value is not None else None


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """A vector of sizes as a shape, of which as much is known as follows from the graph alone.

    A scalar stands for an unknown shape and must be known to be -1.
    """
    if tensor.shape.ndims == 0:
        value = constant_value(tensor)
        if value != -1:
            found = "a scalar with unknown value" if value is None else f"a scalar value '{value}'"
            raise ValueError(
                f"Received {found} as shape; require a statically known scalar with value '-1' to describe "
                "an unknown shape."
            )
        return unknown_shape()
    length = tensor.shape.with_rank(1).tuple[0]
    sizes = partial_value(tensor)
    if sizes is None:
        return unknown_shape(length)
    return TensorShape([None if size is None or size < 0 else int(size) for size in sizes])
