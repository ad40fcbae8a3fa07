"""TensorArrays of a step that leaves its session. What is in one is the value of its flow: a tensor with the
elements along its first axis, which goes through loops as any variable does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tideflow.compile.ir import Node, Value
from tideflow.ops.control_flow import tensor_array_ops as arrays

Lookup = Callable[[Value], Any]


class Empty:
    """An array that nothing was written to: its elements have no shape yet.

    Args:
      size: How many elements it has, a number or a symbol.
      dtype: Their type.

    Attributes:
      size: As given.
      dtype: As given.
    """

    def __init__(self, size: Any, dtype: torch.dtype):
        self.size = size
        self.dtype = dtype

    def like(self, element: torch.Tensor) -> torch.Tensor:
        """The array with zeros of an element's shape."""
        return element.new_zeros([self.size, *element.shape], dtype=self.dtype)


def why_not(node: Node) -> str | None:
    """Why an operation on a TensorArray cannot leave; empty where it can, None for other operations."""
    if node.definition not in _KERNELS:
        return None
    maker = node if node.definition is arrays.tensor_array_op else node.inputs[0].op
    if maker.definition is not arrays.tensor_array_op:
        return "its TensorArray is one of gradients, or a variable of a loop"
    if maker.attrs["dynamic_size"]:
        return "its TensorArray grows: give it a size"
    return "" if maker.attrs["dtype"].torch is not None else "its TensorArray holds strings"


def compute(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    """The outputs of an operation on a TensorArray; None for a handle, a number or symbol for a size.

    Args:
      node: The operation.
      value: Gives an input as a tensor, or as an `Empty` array.
      number: Gives an input as numbers and symbols.
    """
    return _KERNELS[node.definition](node, value, number)


def _make(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    size, dtype, shape = number(node.inputs[0]), node.attrs["dtype"].torch, node.attrs["element_shape"]
    if shape.is_fully_defined():
        return None, torch.zeros([size, *shape.as_list()], dtype=dtype)
    return None, Empty(size, dtype)


def _place(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.reshape([-1]).to(torch.int64)


def _write(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    _, index, element, flow = node.inputs
    now, held = value(element), value(flow)
    held = held.like(now) if isinstance(held, Empty) else held
    return (torch.index_put(held, (_place(value(index)),), now.unsqueeze(0)),)


def _read(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    _, index, flow = node.inputs
    return (torch.index_select(value(flow), 0, _place(value(index))).squeeze(0),)


def _scatter(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    _, indices, elements, flow = node.inputs
    now, held = value(elements), value(flow)
    if isinstance(held, Empty):
        held = now.new_zeros([held.size, *now.shape[1:]])
    return (torch.index_put(held, (_place(value(indices)),), now),)


def _gather(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    _, indices, flow = node.inputs
    return (torch.index_select(value(flow), 0, _place(value(indices))),)


def _size(node: Node, value: Lookup, number: Lookup) -> tuple[Any, ...]:
    held = value(node.inputs[1])
    return (held.size if isinstance(held, Empty) else held.shape[0],)


_KERNELS = {
    arrays.tensor_array_op: _make,
    arrays.write_op: _write,
    arrays.read_op: _read,
    arrays.scatter_op: _scatter,
    arrays.gather_op: _gather,
    arrays.size_op: _size,
}
