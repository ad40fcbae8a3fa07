"""What the ops on lists of tensors share: what the graph knows of a list, and lists as variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.op import ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import as_sizes, merged
from tideflow.ops.helpers.types import INDICES
from tideflow.runtime.tensor_lists import as_variant

ELEMENTS = {"element_dtype": attr("type")}
SIZES = {"shape_type": attr("type", allowed=INDICES)}
LIST = "input_handle: variant"


class ListShape(TensorShape):
    """The (scalar) shape of a list's handle, which also knows what the list's elements are."""

    __slots__ = ("dtype", "element_shape")

    def __init__(self, dtype: dtypes.DType, element_shape: TensorShape):
        super().__init__(())
        self.dtype = dtype
        self.element_shape = element_shape

    def merge_with(self, other: Any) -> TensorShape:
        super().merge_with(other)
        return self


UNKNOWN = TensorShape(None)


def element_shape_from(element_shape: Any) -> TensorShape:
    """The shape that an `element_shape` input says: -1 stands for a shape of which nothing is known."""
    if element_shape is None or element_shape == -1:
        return UNKNOWN
    if not isinstance(element_shape, list):
        raise ShapeError(
            f"The only valid scalar shape tensor is the fully unknown shape specified as -1: {element_shape}"
        )
    return TensorShape(as_sizes(element_shape))


def elements_shape(handle: TensorShape, dtype: dtypes.DType, wanted: TensorShape, action: str) -> TensorShape:
    """What is known of the shape of a list's elements; ShapeError where they have another type."""
    if not isinstance(handle, ListShape):
        return wanted
    if handle.dtype is not dtype:
        raise ShapeError(
            f"Trying to {action} list with wrong element dtype. List has type {handle.dtype.name} but the "
            f"op's elements have type {dtype.name}"
        )
    return merged(wanted, handle.element_shape)


def as_cell(part: Any) -> np.ndarray:
    return part if isinstance(part, np.ndarray) else as_variant(part)


def unbound(value: Any) -> Sequence[Any]:
    """The elements along the first axis."""
    return value.unbind(0) if isinstance(value, torch.Tensor) else [as_cell(part) for part in value]
