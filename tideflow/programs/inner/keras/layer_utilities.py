"""What layers of programs take from `tensorflow.python.layers.utils` and Keras's `tf_utils`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tideflow.contrib.layers.utilities import constant_value  # noqa: F401 - looked up
from tideflow.graph import nest
from tideflow.graph.shapes import TensorShape
from tideflow.programs.inner.keras import convolution_names
from tideflow.programs.inner.keras.convolution_names import (  # noqa: F401 - looked up
    conv_input_length,
    conv_output_length,
    convert_data_format,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length that a transposed convolution gives."""
    return convolution_names.deconv_output_length(input_length, filter_size, padding, stride=stride)


def shape_type_conversion(fn: Callable) -> Callable:
    """Decorator: a method of shapes that is given tuples of sizes, and whose result becomes TensorShapes."""

    @functools.wraps(fn)
    def wrapper(instance: Any, input_shape: Any) -> Any:
        given = None if input_shape is None else convert_shapes(input_shape, to_tuples=True)
        found = fn(instance, given)
        return None if found is None else convert_shapes(found, to_tuples=False)

    return wrapper


def convert_shapes(input_shape: Any, to_tuples: bool = True) -> Any:
    """Shapes in any structure as tuples of sizes, or as TensorShapes."""
    if _is_shape(input_shape):
        shape = TensorShape(input_shape)
        return shape if not to_tuples else None if shape.ndims is None else tuple(shape.as_list())
    if isinstance(input_shape, dict):
        return {key: convert_shapes(each, to_tuples) for key, each in input_shape.items()}
    return type(input_shape)(convert_shapes(each, to_tuples) for each in input_shape)


def _is_shape(value: Any) -> bool:
    if value is None or isinstance(value, TensorShape):
        return True
    return not isinstance(value, dict) and not any(
        nest.is_nested(each) or isinstance(each, TensorShape) for each in value
    )
