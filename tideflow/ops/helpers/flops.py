"""How many floating-point operations an op takes, by its shapes: rules for `Op.flops`, as TensorFlow counts.

Every rule is a function of the operation. It raises ValueError where a shape that it needs is not known.
"""

from __future__ import annotations

import math
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


def pooling(op: Operation) -> int:
    """One operation for each element of the window, for each output."""
    check_format(op)
    return math.prod(op.attrs["ksize"]) * size(op.outputs[0])


def convolution(op: Operation) -> int:
    """Of a convolution: a product and a sum for each element of the filter's window, for each output."""
    *spatial, channels, _ = full_shape(op.inputs[1]).as_list()
    return 2 * size(op.outputs[0]) * channels * math.prod(spatial)


def per_window_element(op: Operation) -> int:
    """Two operations for each element of a window that slides over each channel by itself."""
    height, width = full_shape(op.inputs[1]).as_list()[:2]
    return 2 * size(op.outputs[0]) * height * width


def convolution_gradient(op: Operation, image: Tensor, kernel: Tensor) -> float:
    """Of the gradient of a convolution of `image` by `kernel`."""
    check_format(op)
    strides = op.attrs["strides"]
    shrunk = full_shape(image).as_list()[-1] * strides[1] * strides[2]
    return 2 * size(image) * size(kernel) / shrunk
