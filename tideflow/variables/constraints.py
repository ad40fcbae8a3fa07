"""Constraints: functions that optimizers apply to a variable after each update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import tiling
from tideflow.ops.math import binary, casting, clipping, reductions, unary
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_EPSILON = 1e-7


@export("keras.constraints.Constraint")
class Constraint:
    """The base of constraints: functions from a value of a variable to an allowed one."""

    def __call__(self, w: TensorLike) -> Any:
        """Computes the allowed value.

        Args:
          w: The value of the variable.

        Returns:
          The allowed value.
        """
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {}


def _length(w: Any, axis: Any) -> Tensor:
    return unary.sqrt(reductions.reduce_sum(unary.square(w), axis=axis, keepdims=True))


@export("keras.constraints.MaxNorm", "keras.constraints.max_norm")
class MaxNorm(Constraint):
    """Scales vectors of a weight down to a length.

    Args:
      max_value: The largest length.
      axis: The axis, or axes, along which the length is taken.
    """

    def __init__(self, max_value: float = 2, axis: int | Sequence[int] = 0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        norms = _length(w, self.axis)
        desired = clipping.clip_by_value(norms, 0, self.max_value)
        return w * (desired / (_EPSILON + norms))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


@export("keras.constraints.NonNeg", "keras.constraints.non_neg")
class NonNeg(Constraint):
    """Sets the negative elements of a weight to zero."""

    def __call__(self, w: TensorLike) -> Tensor:
        return w * casting.cast(binary.greater_equal(w, 0.0), "float32")


@export("keras.constraints.UnitNorm", "keras.constraints.unit_norm")
class UnitNorm(Constraint):
    """Scales vectors of a weight to length one.

    Args:
      axis: The axis, or axes, along which the length is taken.
    """

    def __init__(self, axis: int | Sequence[int] = 0):
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        return w / (_EPSILON + _length(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


@export("keras.constraints.MinMaxNorm", "keras.constraints.min_max_norm")
class MinMaxNorm(Constraint):
    """Scales vectors of a weight so that their lengths come between two bounds.

    Args:
      min_value: The least length.
      max_value: The largest length.
      rate: How far a vector moves towards its bound: 1 for all the way.
      axis: The axis, or axes, along which the length is taken.
    """

    def __init__(
        self,
        min_value: float = 0.0,
        max_value: float = 1.0,
        rate: float = 1.0,
        axis: int | Sequence[int] = 0,
    ):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        norms = _length(w, self.axis)
        bounded = clipping.clip_by_value(norms, self.min_value, self.max_value)
        desired = self.rate * bounded + (1 - self.rate) * norms
        return w * (desired / (_EPSILON + norms))

    def get_config(self) -> dict[str, Any]:
        names = ("min_value", "max_value", "rate", "axis")
        return {name: getattr(self, name) for name in names}


@export("keras.constraints.RadialConstraint", "keras.constraints.radial_constraint")
class RadialConstraint(Constraint):
    """Makes the filters of a convolution equal at equal distances from their middle.

    The kernel's shape is [size, size, inputs, outputs].
    """

    def __call__(self, w: TensorLike) -> Tensor:
        if w.shape.ndims != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        size = w.shape.as_list()[0]
        middle = size // 2

        def diagonal(index: int) -> Tensor:
            return w[index : index + 1, index : index + 1]

        # Each ring around the innermost part takes a value of the diagonal.
        made = tiling.tile(diagonal(middle - 1), [1, 1, 1, 1] if size % 2 else [2, 2, 1, 1])
        for ring in range(0 if size % 2 else 1, middle):
            value = diagonal(middle + ring)
            made = tiling.pad(made - value, [[1, 1], [1, 1], [0, 0], [0, 0]]) + value
        return made


_BY_NAME = {
    **{cls.__name__: cls for cls in (Constraint, MaxNorm, NonNeg, UnitNorm, MinMaxNorm, RadialConstraint)},
    "max_norm": MaxNorm,
    "maxnorm": MaxNorm,
    "min_max_norm": MinMaxNorm,
    "non_neg": NonNeg,
    "nonneg": NonNeg,
    "radial_constraint": RadialConstraint,
    "unit_norm": UnitNorm,
    "unitnorm": UnitNorm,
}


@export("keras.constraints.serialize")
def serialize(constraint: Constraint) -> Any:
    """Converts a constraint to a dictionary.

    Args:
      constraint: The constraint.

    Returns:
      A dictionary of the class name and the arguments.
    """
    return serialize_keras_object(constraint)


@export("keras.constraints.deserialize")
def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a constraint from a dictionary that `serialize` has returned.

    Args:
      config: The dictionary.
      custom_objects: The program's own constraints, by class name.

    Returns:
      The constraint.
    """
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "constraint")


@export("keras.constraints.get")
def get(identifier: Any) -> Any:
    """Gets a constraint.

    Args:
      identifier: A name, a dictionary that `serialize` has returned, a constraint, or None.

    Returns:
      The constraint, or None for None.

    Raises:
      ValueError: If the argument stands for no constraint.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")
