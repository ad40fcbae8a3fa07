"""What a node of an ONNX graph has, and the table of the operators that make operations of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

import tideflow as tf
from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.partial import constant_value

ML = "ai.onnx.ml"

Subgraph = Callable[..., list[Any]]


@dataclass(frozen=True)
class Given:
    """What a node has.

    Attributes:
      inputs: Tensors, lists of tensors (ONNX's sequences), or None where an input is left out.
      arrays: The inputs that are constants.
      attributes: The attributes, graphs left out.
      opset: The version of the operators.
      outputs: The number of outputs.
      subgraphs: The attributes that are graphs, as functions that add them to the current graph.
    """

    inputs: Sequence[Any]
    arrays: Sequence[np.ndarray | None]
    attributes: Mapping[str, Any]
    opset: int
    outputs: int
    subgraphs: Mapping[str, Subgraph] = field(default_factory=dict)

    def input(self, index: int) -> Any:
        """An input; None where it is left out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def array(self, index: int) -> np.ndarray | None:
        """An input's value, where it is known before a step runs."""
        if index < len(self.arrays) and self.arrays[index] is not None:
            return self.arrays[index]
        tensor = self.input(index)
        return constant_value(tensor) if isinstance(tensor, tf.Tensor) else None

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is 0 or 1."""
        return bool(self.attributes.get(name, default))

    def texts(self, name: str) -> list[str]:
        """An attribute that is a list of strings."""
        return [each.decode() for each in self.attributes.get(name, ())]

    def dtype(self, name: str, default: Any = None) -> DType | None:
        """An attribute that is a type of elements."""
        code = self.attributes.get(name)
        return default if code is None else dtype_of(code)

    def numbers(self, name: str, index: int) -> list[Any] | None:
        """Numbers that are an attribute in old versions and an input in new ones, where they are known."""
        if name in self.attributes:
            value = self.attributes[name]
            return list(value) if isinstance(value, Sequence) else [value]
        if self.input(index) is None:
            return None
        array = self.array(index)
        if array is None:
            raise ValueError(f"'{name}' must be a constant")
        return np.ravel(array).tolist()

    def rank(self, index: int = 0) -> int:
        """The number of axes of an input."""
        return rank_of(self.inputs[index])


Operator = Callable[[Given], Any]
OPERATORS: dict[tuple[str, str], Operator] = {}


def operator(*names: str, domain: str = "") -> Callable[[Operator], Operator]:
    """Registers a function as operators of these names."""

    def register(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys([(domain, name) for name in names], function))
        return function

    return register


def register_all(functions: Mapping[str, Operator]) -> None:
    """Registers functions by the names of their operators."""
    OPERATORS.update({("", name): function for name, function in functions.items()})


def of_one(function: Callable[..., Any]) -> Operator:
    """An operator that is a function of its first input."""
    return lambda given: function(given.inputs[0])


def rank_of(tensor: Any) -> int:
    """The number of axes of a tensor.

    Raises:
      ValueError: If it is not known.
    """
    rank = tensor.shape.ndims
    if rank is None:
        raise ValueError("the number of axes of an input is not known before the model runs")
    return rank


def sizes_of(tensor: Any) -> list[Any]:
    """The sizes of the axes: numbers where they are known, else scalars of int32."""
    rank_of(tensor)
    known = tensor.shape.as_list()
    if None not in known:
        return known
    found = tf.shape(tensor)
    return [found[i] if size is None else size for i, size in enumerate(known)]


def dtype_of(code: int) -> DType:
    """The type of elements that ONNX counts so."""
    return as_dtype(onnx.helper.tensor_dtype_to_np_dtype(code))


def as_int32_scalar(value: Any) -> Any:
    """A tensor of one number as a scalar of int32."""
    return tf.reshape(tf.cast(value, tf.int32), [])
