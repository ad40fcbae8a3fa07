"""How many floating-point operations an op takes, by its shapes: rules for `Op.flops`, counted as TensorFlow does.

Every rule is a function of the operation. It raises ValueError where a shape that it needs is not known.
"""

from __future__ import annotations

from collections.abc import Callable

from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape

Rule = Callable[[Operation], float]


def full_shape(tensor: Tensor) -> TensorShape:
    """The shape of a tensor; ValueError where it is not fully known."""
    tensor.shape.assert_is_fully_defined()
    return tensor.shape


def size(tensor: Tensor) -> int:
    """The number of elements of a tensor; ValueError where it is not known."""
    return full_shape(tensor).num_elements()


def per_input_element(times: int = 1) -> Rule:
    """So many operations for each element of the first input."""
    return lambda op: times * size(op.inputs[0])


def per_output_element(times: int = 1) -> Rule:
    """So many operations for each element of the output."""
    return lambda op: times * size(op.outputs[0])


def per_reduced_element(op: Operation) -> int:
    """One operation for each element that a reduction takes away."""
    return size(op.inputs[0]) - size(op.outputs[0])


def check_format(op: Operation) -> None:
    """ValueError but for NHWC images, whose counts alone are known."""
    if op.attrs["data_format"] != "NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")
