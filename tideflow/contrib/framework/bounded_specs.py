"""Specs of tensors with the least and the greatest value that an element may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.shapes import broadcast_static_shape
from tideflow.graph.type_spec import TensorSpec

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


@export("contrib.framework.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """The spec of a tensor with bounds of its values, both inclusive.

    Args:
      shape: The shape.
      dtype: The type of the elements.
      minimum: The least value: a number, or numbers that are broadcast to the shape.
      maximum: The greatest value, in the same form.
      name: A name, or None.

    Raises:
      ValueError: If a bound is None, or cannot be broadcast to the shape.
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        try:
            broadcast_static_shape(np.shape(value), self.shape)
        except ValueError as error:
            raise ValueError(f"{which} is not compatible with shape. Message: {error!r}.") from None
        bound = np.array(value, dtype=self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """Makes a spec with bounds from one that may have none: then those of its type.

        Args:
          spec: The spec.
          name: The name of the new one; the name of `spec` if None.

        Returns:
          The spec with bounds.
        """
        dtype = dtypes.as_dtype(spec.dtype)
        minimum, maximum = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The least value, a NumPy array."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest value, a NumPy array."""
        return self._maximum

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and (self.dtype, self.name) == (other.dtype, other.name)
            and str(self.shape) == str(other.shape)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((str(self.shape), self.dtype, self.name))

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(self.shape, self.dtype)._batch(batch_size)

    def _unbatch(self) -> TensorSpec:
        return TensorSpec(self.shape, self.dtype)._unbatch()

    def __reduce__(self) -> Any:
        return BoundedTensorSpec, (self.shape, self.dtype, self._minimum, self._maximum, self.name)

    def _serialize(self) -> Any:
        return self.shape, self.dtype, self._minimum, self._maximum, self.name
