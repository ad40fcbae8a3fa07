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


UNKNOWN = TensorShape(None)


class ListShape(TensorShape):
    """The (scalar) shape of a list's handle, which also knows what the list's elements are: by declaration,
    and of a list that was empty, by what has been pushed since.
    """

    __slots__ = ("dtype", "element_shape", "is_empty", "pushed")

    def __init__(
        self,
        dtype: dtypes.DType,
        element_shape: TensorShape,
        pushed: TensorShape = UNKNOWN,
        *,
        is_empty: bool = False,
    ):
        super().__init__(())
        self.dtype = dtype
        self.element_shape = element_shape
        self.pushed = pushed
        self.is_empty = is_empty

    def merge_with(self, other: Any) -> TensorShape:
        super().merge_with(other)
        return self

    def with_one_more(self, element: TensorShape) -> ListShape:
        """The list after a push of an element of this shape."""
        pushed = element if self.is_empty else self.pushed.most_specific_compatible_shape(element)
        return ListShape(self.dtype, self.element_shape, pushed)

    def common(self, other: TensorShape) -> TensorShape:
        """What holds for two lists alike."""
        if not isinstance(other, ListShape) or other.dtype is not self.dtype:
            return TensorShape(self.tuple) if other.ndims == 0 else UNKNOWN
        declared = self.element_shape.most_specific_compatible_shape(other.element_shape)
        if self.is_empty or other.is_empty:
            pushed = other.pushed if self.is_empty else self.pushed
            return ListShape(self.dtype, declared, pushed, is_empty=self.is_empty and other.is_empty)
        return ListShape(self.dtype, declared, self.pushed.most_specific_compatible_shape(other.pushed))

    def facts(self) -> tuple[Any, ...]:
        """All that is known, to be compared with what another list is known to be."""
        return self.dtype, self.element_shape.tuple, self.pushed.tuple, self.is_empty


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
    known = merged(wanted, handle.element_shape)
    return known.merge_with(handle.pushed) if known.is_compatible_with(handle.pushed) else known


def as_cell(part: Any) -> np.ndarray:
    return part if isinstance(part, np.ndarray) else as_variant(part)


def unbound(value: Any) -> Sequence[Any]:
    """The elements along the first axis."""
    return value.unbind(0) if isinstance(value, torch.Tensor) else [as_cell(part) for part in value]
