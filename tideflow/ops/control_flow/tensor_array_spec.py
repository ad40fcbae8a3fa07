"""`tf.TensorArraySpec`: what is known of a TensorArray that functions of datasets take or return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.type_spec import (
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import tensor_list_tensors
from tideflow.ops.control_flow.tensor_array import TensorArray

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


@export("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The spec of a TensorArray.

    A TensorArray lives in one step. Outside of it, as an element of a dataset, its values are a tensor list.

    Args:
      element_shape: What is known of the shape of the elements.
      dtype: The type of the elements.
      dynamic_size: Whether writing behind the end makes the array longer.
      infer_shape: Whether all elements have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    def __init__(
        self,
        element_shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ):
        self._element_shape = as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    value_type = property(lambda self: TensorArray)
    _component_specs = property(lambda self: [TensorSpec([], dtypes.variant)])

    @staticmethod
    def from_value(value: TensorArray) -> TensorArraySpec:
        """Makes the spec of a TensorArray.

        Args:
          value: The TensorArray.

        Returns:
          The spec.

        Raises:
          TypeError: If the value is something else.
        """
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether TensorArrays can have both specs.

        Args:
          other: Another spec, or a value, which stands for its spec.

        Returns:
          True if types, shapes of elements and `dynamic_size` agree; `infer_shape` does not matter.
        """
        spec = other if isinstance(other, TypeSpec) else type_spec_from_value(other)
        return (
            isinstance(spec, TensorArraySpec)
            and self._dtype.is_compatible_with(spec._dtype)
            and self._element_shape.is_compatible_with(spec._element_shape)
            and self._dynamic_size == spec._dynamic_size
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorArraySpec:
        """Generalizes two specs.

        Args:
          other: Another spec.

        Returns:
          The most specific spec that is compatible with the values of both.

        Raises:
          ValueError: If there is none.
        """
        if not isinstance(other, TensorArraySpec) or not self.is_compatible_with(other):
            raise ValueError(f"Types are not compatible: {self} and {other}")
        shape = self._element_shape.most_specific_compatible_shape(other._element_shape)
        infer_shape = self._infer_shape and other._infer_shape
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, infer_shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def _to_components(self, value: TensorArray) -> list[Tensor]:
        with name_scope("convert_tensor_array"):
            return [tensor_list_tensors.from_tensor_op(value.stack(), _sizes(value.element_shape))]

    def _from_components(self, components: list[Tensor]) -> TensorArray:
        with name_scope("convert_tensor_list"):
            values = tensor_list_tensors.stack_op(
                components[0], _sizes(self._element_shape), element_dtype=self._dtype
            )
            array = TensorArray(
                self._dtype,
                shapes.shape(values)[0],
                dynamic_size=self._dynamic_size,
                clear_after_read=False,
                infer_shape=self._infer_shape,
                element_shape=self._element_shape,
            )
            return array.unstack(values)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)


def _sizes(shape: TensorShape) -> Tensor:
    """A shape as the operations on lists take it: -1 stands for what is unknown."""
    sizes = -1 if shape.ndims is None else [-1 if size is None else size for size in shape.as_list()]
    return constants.constant(sizes, dtypes.int32)


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value, allow_subclass=True)


@export("data.experimental.TensorArrayStructure")
def tensor_array_structure(
    dtype: DTypeLike, element_shape: ShapeLike | None, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """Makes the spec of a TensorArray.

    Args:
      dtype: The type of the elements.
      element_shape: What is known of their shape.
      dynamic_size: Whether writing behind the end makes the array longer.
      infer_shape: Whether all elements have one shape.

    Returns:
      The TensorArraySpec.
    """
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
