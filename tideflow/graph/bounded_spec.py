"""Specs of tensors whose values are known to lie between bounds, as libraries of reinforcement learning use
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.graph.type_spec import TensorSpec
from tideflow.graph.typing import DTypeLike, ShapeLike


class BoundedTensorSpec(TensorSpec):
    """The spec of a tensor with bounds, which may differ between its elements.

    Args:
      shape: The shape.
      dtype: The type of the elements.
      minimum: The least values: a number or an array that broadcasts to the shape.
      maximum: The greatest values, in the same way.
      name: A name for the tensor, or None.

    Raises:
      ValueError: If a bound is missing or does not broadcast to the shape.
    """

    __slots__ = ("_maximum", "_minimum")
    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike, minimum: Any, maximum: Any, name: str | None = None
    ):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        own, shape = np.shape(value), self.shape.tuple
        if shape is not None and not _broadcasts(own, shape):
            problem = ValueError(f"Incompatible shapes for broadcasting: {own} and {self.shape}")
            raise ValueError(f"{which} is not compatible with shape. Message: {problem!r}.")
        array = np.array(value, dtype=self.dtype.as_numpy_dtype)
        array.setflags(write=False)
        return array

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> BoundedTensorSpec:
        """Copies a spec; one without bounds gets those of its type.

        Args:
          spec: The spec.
          name: The name of the copy; the name of `spec` if None.

        Returns:
          The copy.
        """
        minimum = getattr(spec, "minimum", None)
        maximum = getattr(spec, "maximum", None)
        return cls(
            spec.shape,
            spec.dtype,
            spec.dtype.min if minimum is None else minimum,
            spec.dtype.max if maximum is None else maximum,
            name or spec.name,
        )

    @property
    def minimum(self) -> np.ndarray:
        """The least values, which cannot be written to."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest values, which cannot be written to."""
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._minimum, self._maximum, self._name)

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedTensorSpec, self._serialize()

    def __eq__(self, other: Any) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, BoundedTensorSpec)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

    __str__ = __repr__


def _broadcasts(own: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Whether an array of one shape may stand for one of another, whose sizes may be unknown."""
    pairs = zip(own[::-1], shape[::-1], strict=False)
    return len(own) <= len(shape) and all(a in (1, b) or b in (1, None) for a, b in pairs)
