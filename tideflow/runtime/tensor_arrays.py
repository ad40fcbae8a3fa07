"""The storage of a TensorArray: each value is written once and, by default, read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import Sizes, TensorShape, brackets

_UNWRITTEN = object()
_CLEARED = object()


def _shown(sizes: Sizes | None) -> str:
    return "<unknown>" if sizes is None else brackets(sizes)


class TensorArrayStorage:
    """Values of one dtype, by position. It exists for one step."""

    def __init__(
        self,
        dtype: DType,
        size: int,
        element_shape: TensorShape,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_shapes: bool = False,
        name: str = "TensorArray",
    ) -> None:
        if size < 0:
            raise errors.invalid_argument(f"Size should be >= 0, but is {size}")
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self.dynamic_size = dynamic_size
        self.clear_after_read = clear_after_read
        self.identical_shapes = identical_shapes
        self.values: list[Any] = [_UNWRITTEN] * size
        self.shapes: list[Any] = []  # in a gradient array: the shapes of the forward array's values
        self.gradients: dict[str, TensorArrayStorage] = {}
        self.sums_writes = False
        self.closed = False
        self._device: torch.device | None = None  # where the values are that were written

    # ------------------------------------------------------------------ one element

    def read(self, index: int) -> Any:
        """The element. If the array clears after reading, the element is released."""
        if not 0 <= index < len(self.values):
            self._check_open()
            raise errors.invalid_argument(
                f"Tried to read from index {index} but array size is: {len(self.values)}"
            )
        value = self.values[index]
        if value is _UNWRITTEN:
            value = self._zeros(index)
        elif value is _CLEARED:
            raise self._refusal(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps "
                "try setting clear_after_read = false?)."
            )
        if self.clear_after_read:
            self.values[index] = _CLEARED
        return value

    def write(self, index: int, value: Any) -> None:
        """Sets the element. A gradient array adds to it."""
        if not 0 <= index < len(self.values):
            self._grow(index)
        if self.closed:
            self._check_open()
        if self._device is None and isinstance(value, torch.Tensor):
            self._device = value.device
        shape = tuple(value.shape)
        known = self.element_shape.tuple
        if known != shape:
            self._check_shape(index, shape, known)
        old = self.values[index]
        if old is _UNWRITTEN:
            self.values[index] = value
        elif self.sums_writes and old is not _CLEARED:
            if tuple(old.shape) != shape:
                raise self._refusal(
                    f"Could not aggregate to TensorArray index {index} because the existing shape is "
                    f"{brackets(old.shape)} but the new input shape is {brackets(shape)}."
                )
            self.values[index] = old + value
        else:
            what = "has already been read" if old is _CLEARED else "has already been written to"
            raise self._refusal(f"Could not write to TensorArray index {index} because it {what}.")

    def _refusal(self, what: str) -> errors.InvalidArgumentError:
        return errors.invalid_argument(f"TensorArray {self.name}: {what}")

    def _grow(self, index: int) -> None:
        if index < 0 or not self.dynamic_size:
            raise self._refusal(
                f"Tried to write to index {index} but array is not resizeable and size is: {len(self.values)}"
            )
        self.values += [_UNWRITTEN] * (index + 1 - len(self.values))

    def _check_shape(self, index: int, shape: tuple[int, ...], known: Sizes | None) -> None:
        if not self.element_shape.is_compatible_with(TensorShape(shape)):
            raise self._refusal(
                f"Could not write to TensorArray index {index} because the value shape is {brackets(shape)} "
                f"which is incompatible with the TensorArray's inferred element shape: {_shown(known)} "
                "(consider setting infer_shape=False)."
            )
        if self.identical_shapes and (known is None or None in known):
            self.element_shape = TensorShape(shape)

    def _zeros(self, index: int) -> Any:
        shape = self.shapes[index] if index < len(self.shapes) else None
        if shape is None and self.element_shape.is_fully_defined():
            shape = self.element_shape.tuple
        if shape is None:
            raise self._refusal(
                f"Could not read from TensorArray index {index}, which was never written to.  Furthermore, "
                f"the element shape is not fully defined: {_shown(self.element_shape.tuple)}.  It is "
                "possible you are working with a resizeable TensorArray and stop_gradients is not allowing "
                "the gradients to be written.  If you set the full element_shape property on the forward "
                "TensorArray, the proper all-zeros tensor will be returned instead of incurring this error."
            )
        if self.dtype.torch is None:
            return np.full(shape, b"", object)
        return torch.zeros(shape, dtype=self.dtype.torch, device=self._device)

    # ------------------------------------------------------------------ many elements

    def read_many(self, indices: list[int]) -> list[Any]:
        """The elements at these positions."""
        values = [self.read(index) for index in indices]
        for index, value in zip(indices, values, strict=True):
            if value.shape != values[0].shape:
                raise errors.invalid_argument(
                    f"TensorArray has inconsistent shapes.  Index {indices[0]} has shape: "
                    f"{list(values[0].shape)} but index {index} has shape: {list(value.shape)}",
                )
        return values

    # ------------------------------------------------------------------ the array

    def gradient(self, source: str, prepended: tuple[int, ...] = ()) -> TensorArrayStorage:
        """The array of gradients for the `tf.gradients` call with the name `source`; each has its own."""
        self._check_open()
        if source not in self.gradients:
            shape = self.element_shape
            made = TensorArrayStorage(
                self.dtype,
                len(self.values),
                TensorShape([*prepended, *shape.tuple]) if shape.tuple is not None else shape,
                clear_after_read=False,
                identical_shapes=self.identical_shapes and not prepended,
                name=f"{self.name}@{source}",
            )
            made.sums_writes = True
            made.shapes = [(*prepended, *v.shape) if hasattr(v, "shape") else None for v in self.values]
            self.dynamic_size = False
            self.gradients[source] = made
        return self.gradients[source]

    def close(self) -> None:
        """Releases all values."""
        self.values = []
        self.closed = True

    def _check_open(self) -> None:
        if self.closed:
            raise errors.invalid_argument(f"TensorArray {self.name} has already been closed.")
