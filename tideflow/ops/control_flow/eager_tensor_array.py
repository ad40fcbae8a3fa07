"""TensorArray in eager mode: a Python list of tensors, so that tapes see what is written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants, creation, joining
from tideflow.ops.control_flow.tensor_array import TensorArray, check_arguments

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


class EagerTensorArray(TensorArray):
    """The TensorArray that `tf.TensorArray(...)` makes in eager mode. Writing changes the array itself."""

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        check_arguments(handle, tensor_array_name, size, dynamic_size, element_shape, infer_shape)
        self._keep_settings(dtype, dynamic_size, infer_shape, element_shape)
        self._clear_after_read = clear_after_read is None or clear_after_read
        self._tensors: list[Tensor | None] = [None] * int(size or 0)
        self._read: set[int] = set()
        self._flow = constants.constant(0, dtype=dtypes.int32)

    @property
    def handle(self) -> None:
        """None: the elements are here."""
        return None

    def identity(self) -> TensorArray:
        return self

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        raise NotImplementedError("TensorArray.grad is not supported when executing eagerly; use a tape.")

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        i = int(index)
        if i < 0:
            raise errors.out_of_range(f"Reading from negative indices (index {i}) is not allowed.")
        if i >= len(self._tensors):
            raise errors.out_of_range(f"Tried to read from index {i} but array size is: {len(self._tensors)}")
        value = self._tensors[i]
        if value is None:
            if i in self._read:
                raise errors.invalid_argument(
                    f"Could not read index {i} twice because it was cleared after a previous read (perhaps "
                    "try setting clear_after_read = false?)"
                )
            value = self._tensors[i] = self._zeros()
        if self._clear_after_read:
            self._tensors[i] = None
            self._read.add(i)
        return value

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        i, size = int(index), len(self._tensors)
        if i < 0:
            raise errors.out_of_range(f"Writing to negative indices (index {i}) is not allowed.")
        if i >= size:
            if not self._dynamic_size:
                raise errors.out_of_range(
                    f"Tried to write to index {i} but array is not resizeable and size is: {size}"
                )
            self._tensors += [None] * (i + 1 - size)
        tensor = self._converted(value)
        self._check_element(tensor)
        self._tensors[i] = tensor
        return self

    def stack(self, name: str | None = None) -> Tensor:
        if not self._tensors:
            return self._nothing()
        return joining.stack([self._zeros() if x is None else x for x in self._tensors], name=name)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        return joining.stack([self.read(i) for i in _integers(indices)], name=name)

    def concat(self, name: str | None = None) -> Tensor:
        parts = [self._zeros() if x is None else x for x in self._tensors]
        for i, part in enumerate(parts):
            if part.shape.ndims == 0:
                raise errors.invalid_argument(
                    f"Concat saw a scalar shape at index {i} but requires at least vectors."
                )
        return joining.concat(parts, 0, name=name) if parts else self._nothing()

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        return self._fill(list(joining.unstack(self._converted(value))))

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        rows = joining.unstack(self._converted(value))
        for i, row in zip(_integers(indices), rows, strict=True):
            self.write(i, row)
        return self

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        value, lengths = self._converted(value), np.asarray(lengths)
        if lengths.ndim != 1:
            raise errors.invalid_argument(
                f"Expected lengths to be a vector, received shape: {list(lengths.shape)}"
            )
        if value.shape.ndims == 0:
            raise errors.invalid_argument("Expected value to be at least a vector, but received shape: []")
        sizes = value.shape.as_list()
        if lengths.sum() != sizes[0]:
            raise errors.invalid_argument(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{lengths.sum()} and value's shape is: {sizes} "
            )
        parts = joining.split(value, lengths.tolist())
        if len(parts) != len(self._tensors) and not self._dynamic_size:
            raise errors.invalid_argument(
                f"TensorArray's size is not equal to the size of lengths ({len(self._tensors)} vs. "
                f"{len(parts)}), and the TensorArray is not marked as dynamically resizeable"
            )
        self._tensors = list(parts)
        return self

    def size(self, name: str | None = None) -> Tensor:
        return constants.constant(len(self._tensors), dtype=dtypes.int32)

    def close(self, name: str | None = None) -> None:  # type: ignore[override]
        self._tensors = []

    def _fill(self, rows: list[Tensor]) -> TensorArray:
        if len(rows) > len(self._tensors) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {len(self._tensors)}"
            )
        for row in rows:
            self._learn_shape(row.shape)
        self._tensors = rows
        return self

    def _check_element(self, tensor: Tensor) -> None:
        if tensor.dtype is not self._dtype:
            raise errors.invalid_argument(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {tensor.dtype.name}"
            )
        if not self.element_shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Incompatible shape for value ({tensor.shape}), expected ({self.element_shape})"
            )
        self._learn_shape(tensor.shape)

    def _zeros(self) -> Tensor:
        return creation.zeros(self.element_shape, self._dtype)

    def _nothing(self) -> Tensor:
        return creation.zeros(
            [0, *(self.element_shape.as_list() if self.element_shape.ndims else [])], self._dtype
        )


TensorArray._eager_class = EagerTensorArray


def _integers(values: Any) -> list[int]:
    return [int(value) for value in (values.numpy() if isinstance(values, Tensor) else values)]
