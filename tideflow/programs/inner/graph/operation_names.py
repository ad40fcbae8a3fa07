"""Names that programs take from inside TensorFlow's modules of operations."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.shapes import shape_of
from tideflow.ops.arrays.slicing import slice_helper
from tideflow.rnn.cells import joined_sizes, known_sizes

shape_internal = shape_of


def gather_v2(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """`tf.gather` with its name last."""
    return tf.gather(params, indices, validate_indices, name, axis, batch_dims)


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Tensor | list[int | None] | None:
    """Sizes behind sizes, each a number, a shape or a tensor: as a tensor, or, if `static`, what is known."""
    if not static:
        return joined_sizes(prefix, suffix)
    known = known_sizes(prefix, suffix)
    return None if known.ndims is None else known.as_list()


def _SliceHelperVar(var: Any, slice_spec: Any) -> Tensor:
    """A slice of a variable, which can be assigned to."""
    return slice_helper(var.value(), slice_spec, var)


def _tensor_shape_tensor_conversion_function(
    s: TensorShape, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """The sizes of a shape, which must be known, as a tensor."""
    return convert_to_tensor(s, dtype, "shape_as_tensor" if name is None else name)
