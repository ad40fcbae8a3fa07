"""tf.data.experimental.Optional: an element that may be there, or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.data import structure
from tideflow.data.iterator import Iterator
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.type_spec import TensorSpec, TypeSpec
from tideflow.ops.control_flow import optionals
from tideflow.ops.datasets import iterators

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("data.experimental.Optional", "contrib.data.Optional")
class Optional:
    """A value that may be missing.

    Args:
      variant: The variant tensor.
      spec: The specs of the value, in its structure.
    """

    def __init__(self, variant: Tensor, spec: Any):
        self._variant_tensor, self._spec = variant, spec

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value.

        Args:
          name: The name of the operation.

        Returns:
          A scalar bool tensor.
        """
        return optionals.has_value_op(self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """Gets the value.

        Args:
          name: The name of the operation.

        Returns:
          The value: a structure of tensors. A step raises an InvalidArgumentError if there is none.
        """
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            attributes = structure.flat_attributes(self._spec)
            flat = optionals.get_value_op(self._variant_tensor, name=scope, **attributes)
            return structure.from_tensors(self._spec, flat)

    @property
    def value_structure(self) -> Any:
        """The specs of the value, in its structure."""
        return self._spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._spec)

    @staticmethod
    def from_value(value: TensorLike) -> Optional:
        """Makes an optional with a value.

        Args:
          value: The value: a structure of tensors.

        Returns:
          The optional.
        """
        with name_scope("optional") as scope, name_scope("value"):
            spec = structure.spec_of(value)
            flat = structure.to_tensors(spec, value)
        return Optional(optionals.from_value_op(flat, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """Makes an optional without a value.

        Args:
          value_structure: The specs of the value that it could have.

        Returns:
          The optional.
        """
        return Optional(optionals.none_op(), value_structure)


@export("OptionalSpec", "data.experimental.OptionalStructure")
class OptionalSpec(TypeSpec):
    """The spec of an optional: the specs of its value.

    Args:
      value_structure: The specs of the value, in its structure.
    """

    __slots__ = ("_value_structure",)

    def __init__(self, value_structure: Any):
        self._value_structure = value_structure

    value_type = property(lambda self: Optional)
    _component_specs = property(lambda self: TensorSpec([], dtypes.variant))

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """Makes the spec of an optional.

        Args:
          value: The optional.

        Returns:
          The spec.
        """
        return OptionalSpec(value.value_structure)

    def _serialize(self) -> tuple:
        return (self._value_structure,)

    def _to_components(self, value: Optional) -> Tensor:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Optional:
        return Optional(components, self._value_structure)

    def _from_compatible_tensor_list(self, tensor_list: Any) -> Optional:
        return self._from_components(tensor_list[0])

    def _to_legacy_output_types(self) -> Any:
        return self

    def _to_legacy_output_shapes(self) -> Any:
        return self

    def _to_legacy_output_classes(self) -> Any:
        return self


@export("data.experimental.get_next_as_optional", "contrib.data.get_next_as_optional")
def get_next_as_optional(iterator: Iterator) -> Optional:
    """Takes the next element of an iterator, or none at its end.

    Args:
      iterator: The iterator.

    Returns:
      An Optional.
    """
    spec = iterator.element_spec
    variant = iterators.get_next_as_optional_op(
        iterator._iterator_resource, **structure.flat_attributes(spec)
    )
    return Optional(variant, spec)
