"""Type specifications: the dtype, the static shape and the structure of values that a step will compute.

The spec of a composite value (a SparseTensor, IndexedSlices) converts it to a list of tensors and back.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import composite, dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import definition
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape, as_shape, unknown_shape

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


@export("TypeSpec", "data.experimental.Structure")
class TypeSpec(metaclass=abc.ABCMeta):
    """The type of a value that a step computes: its Python type, and what is known of its tensors.

    The elements of datasets and the variables of loops have specs. `tf.TensorSpec` is the spec of tensors.
    """

    __slots__ = ()

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The Python type of the values."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The tensors (or nested composites) that a value is made of."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value made of these components."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """The specs of the components."""

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The arguments from which an equal spec is made."""

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether values can have both specs.

        Args:
          spec_or_value: Another spec, or a value, which stands for its spec.

        Returns:
          True if the specs have the same type, and their shapes and dtypes are compatible.
        """
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _are_compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """Generalizes two specs.

        Args:
          other: A spec of the same type.

        Returns:
          The most specific spec that is compatible with the values of both.

        Raises:
          ValueError: If there is none.
        """
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_most_specific(self._serialize(), other._serialize()))

    # ------------------------------------------------------------------ flat lists of tensors

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return nest.flatten(self._to_components(value))

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        expected = self._flat_tensor_specs
        found = [type_spec_from_value(tensor) for tensor in tensor_list]
        if len(found) != len(expected):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (have, want) in enumerate(zip(found, expected, strict=True)):
            if not have.is_compatible_with(want):
                raise ValueError(
                    f"Incompatible input: tensor {i} ({tensor_list[i]}) is incompatible with {want}"
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return self._from_components(nest.pack_sequence_as(self._component_specs, list(tensor_list)))

    @property
    def _flat_tensor_specs(self) -> Sequence[TypeSpec]:
        return nest.flatten(self._component_specs)

    # ------------------------------------------------------------------ comparison

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and _key(self._serialize()) == _key(other._serialize())

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), _key(self._serialize())))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    # ------------------------------------------------------------------ an older interface of data pipelines

    def _to_legacy_output_classes(self) -> type:
        return self.value_type


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be stacked along a new first axis, and split along it."""

    __slots__ = ()

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of a stack of `batch_size` values."""

    @abc.abstractmethod
    def _unbatch(self) -> TypeSpec:
        """The spec of one value of a stack."""

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        tensors = self._to_tensor_list(value)
        if any(tensor.shape.ndims == 0 for tensor in tensors):
            raise ValueError(f"Value {value} has insufficient rank for batching.")
        return tensors


# -------------------------------------------------------------------------------- serializations


def _key(value: Any) -> Any:
    """A hashable key that is equal for equal serializations. Shapes themselves are neither where unknown."""
    if isinstance(value, TensorShape):
        return TensorShape, value.tuple
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, tuple(value.reshape(-1).tolist())
    if isinstance(value, dict):
        return tuple((key, _key(value[key])) for key in sorted(value))
    return tuple(map(_key, value)) if isinstance(value, tuple) else value


def _are_compatible(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_are_compatible, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_are_compatible(a[key], b[key]) for key in a)
    if isinstance(a, (TypeSpec, TensorShape, dtypes.DType)):
        return a.is_compatible_with(b)
    return bool(a == b)


def _most_specific(a: Any, b: Any) -> Any:
    alike = type(a) is type(b)
    if alike and isinstance(a, tuple) and len(a) == len(b):
        return tuple(map(_most_specific, a, b))
    if alike and isinstance(a, dict) and a.keys() == b.keys():
        return {key: _most_specific(a[key], b[key]) for key in sorted(a)}
    if alike and isinstance(a, TensorShape):
        return a.most_specific_compatible_shape(b)
    if alike and isinstance(a, TypeSpec):
        return a.most_specific_compatible_type(b)
    if not alike or a != b:
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    return a


# -------------------------------------------------------------------------------- tensors


class _ShapedSpec(BatchableTypeSpec):
    """A spec that is made of a shape and a dtype."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: ShapeLike | None, dtype: DTypeLike) -> None:
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape of the values."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self._dtype

    def _batch(self, batch_size: int | None) -> TypeSpec:
        return type(self)(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TypeSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return type(self)(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape


@export("TensorSpec")
class TensorSpec(_ShapedSpec):
    """The spec of a tensor: its static shape, its dtype and a name.

    Args:
      shape: The shape; None where it is unknown.
      dtype: The type of the elements.
      name: A name for the tensor, or None.
    """

    __slots__ = ("_name",)

    def __init__(
        self, shape: ShapeLike | None, dtype: DTypeLike = dtypes.float32, name: str | None = None
    ) -> None:
        super().__init__(TensorShape(shape), dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """Copies a spec.

        Args:
          spec: The spec.
          name: The name of the copy; the name of `spec` if None.

        Returns:
          The copy.
        """
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """Makes the spec of a tensor.

        Args:
          tensor: The tensor.
          name: The name of the spec; the name of the tensor's operation if None.

        Returns:
          The spec.

        Raises:
          ValueError: If `tensor` is not a tensor.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """`tf.Tensor`."""
        return Tensor

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether tensors can have both specs.

        Args:
          spec_or_tensor: Another spec, or a tensor.

        Returns:
          True if the dtypes and shapes are compatible; names do not matter.
        """
        return (
            isinstance(spec_or_tensor, (TensorSpec, Tensor))
            and self._dtype.is_compatible_with(spec_or_tensor.dtype)
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorSpec:
        """Generalizes two specs.

        Args:
          other: Another TensorSpec.

        Returns:
          The spec with the sizes that both have in common, and with their name if it is the same.

        Raises:
          ValueError: If the dtypes differ, or `other` is not a TensorSpec.
        """
        if type(self) is not type(other) or self._dtype != other.dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other.shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other.name else None)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __hash__(self) -> int:
        return hash((self._shape.tuple, self._dtype))

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def _to_components(self, value: Any) -> Tensor:
        wanted = f"a tensor with dtype {self._dtype} and shape {self._shape}"
        complaint = f"Value {value!r} is not convertible to {wanted}."
        try:
            tensor = convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            raise ValueError(complaint) from None
        if not tensor.shape.is_compatible_with(self._shape):
            raise ValueError(complaint)
        return tensor

    def _from_components(self, components: Tensor) -> Tensor:
        return components

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Tensor]) -> Tensor:
        (tensor,) = tensor_list
        tensor.set_shape(self._shape)
        return tensor


# -------------------------------------------------------------------------------- sparse tensors


@export("SparseTensorSpec")
class SparseTensorSpec(_ShapedSpec):
    """The spec of a sparse tensor: its dense shape and its dtype.

    Args:
      shape: The dense shape; None where it is unknown.
      dtype: The type of the elements.
    """

    # In a list of tensors, a sparse tensor is one variant that holds its three parts.

    __slots__ = ()

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(shape, dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """Makes the spec of a sparse tensor.

        Args:
          value: A SparseTensor or a SparseTensorValue.

        Returns:
          The spec.

        Raises:
          TypeError: If the argument is neither.
        """
        if isinstance(value, composite.SparseTensorValue):
            if isinstance(value.values, np.ndarray):
                return cls(value.dense_shape, value.values.dtype)
            value = composite.SparseTensor.from_value(value)
        if not isinstance(value, composite.SparseTensor):
            raise TypeError("Expected SparseTensor or SparseTensorValue")
        return cls(value.shape, value.dtype)

    @property
    def value_type(self) -> type:
        """`tf.SparseTensor`."""
        return composite.SparseTensor

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def _to_components(self, value: Any) -> list[Tensor]:
        if isinstance(value, composite.SparseTensorValue):
            value = composite.SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Sequence[Any]) -> Any:
        as_arrays = all(isinstance(part, np.ndarray) for part in components)
        return (composite.SparseTensorValue if as_arrays else composite.SparseTensor)(*components)

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [self._serialized("SerializeSparse", composite.SparseTensor.from_value(value))]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        if self._shape.merge_with(value.shape).ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [self._serialized("SerializeManySparse", value)]

    @staticmethod
    def _serialized(op_type: str, value: composite.SparseTensor) -> Tensor:
        op = definition(op_type)
        serialized: Tensor = op(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)
        return serialized

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        parts = definition("DeserializeSparse")(tensor_list[0], dtype=self._dtype)
        result = composite.SparseTensor(*parts)
        result.indices.set_shape([None, self._shape.ndims])
        result.dense_shape.set_shape([self._shape.ndims])
        return result


# -------------------------------------------------------------------------------- indexed slices


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """The spec of IndexedSlices: the dense shape and the dtypes of the parts.

    Args:
      shape: The dense shape; None where it is unknown.
      dtype: The type of the values.
      indices_dtype: The type of the indices.
      dense_shape_dtype: The type of the tensor `dense_shape`; None if the slices have none.
      indices_shape: The shape of the indices, which says how many rows there are.
    """

    __slots__ = ("_dense_shape_dtype", "_indices_dtype", "_indices_shape", "_shape", "_values_dtype")

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        indices_dtype: DTypeLike = dtypes.int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike | None = None,
    ) -> None:
        self._shape = as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """`tf.IndexedSlices`."""
        return composite.IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        values = self._indices_shape.concatenate(self._shape[1:])
        specs = (
            TensorSpec(values, self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is None:
            return specs
        return (*specs, TensorSpec([self._shape.ndims], self._dense_shape_dtype))

    def _to_components(self, value: Any) -> tuple[Tensor, ...]:
        return tuple(composite.components(value))

    def _from_components(self, components: Sequence[Any]) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return composite.IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return composite.IndexedSlices(*components)


# -------------------------------------------------------------------------------- the specs of values

_converters: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Registers the function that makes the specs of values of a type.

    The latest registration is tried first.
    """
    _converters.insert(0, (type_object, converter_fn, allow_subclass))


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a value, or of the tensor that the value can be converted to."""
    spec = _spec_of(value)
    if spec is None:
        try:
            spec = _spec_of(convert_to_tensor(value))
        except (TypeError, ValueError):
            spec = None
    if spec is None:
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
    return spec


def _spec_of(value: Any) -> TypeSpec | None:
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    known: TypeSpec | None = getattr(value, "_type_spec", None)
    if known is not None:
        return known
    if isinstance(value, list) and value:
        stacked = _stacked([_spec_of(item) for item in value])
        if stacked is not None:
            return stacked
    for kind, convert, allow_subclass in _converters:
        if type(value) is kind or allow_subclass and isinstance(value, kind):
            return convert(value)
    return None


def _stacked(specs: list[TypeSpec | None]) -> TypeSpec | None:
    """The spec of a stack of values of these specs; None where they cannot be stacked."""
    spec = specs[0]
    if not isinstance(spec, BatchableTypeSpec):
        return None
    try:
        for other in specs[1:]:
            if other is None:
                return None
            spec = spec.most_specific_compatible_type(other)
    except (TypeError, ValueError, AttributeError):
        return None
    return spec._batch(len(specs)) if isinstance(spec, BatchableTypeSpec) else None


# SparseTensor and IndexedSlices have a `_type_spec`. This module sets it, because it imports theirs.


def _sparse_invariant(value: composite.SparseTensor, shape: TensorShape) -> SparseTensorSpec:
    """The spec of a sparse loop variable. The invariant is the shape of its shape, so it says the rank."""
    if shape.ndims not in (None, 1):
        raise ValueError("Expected a shape with 1 dimension")
    return SparseTensorSpec(unknown_shape(None if shape.tuple is None else shape.tuple[0]), value.dtype)


def _slices_spec(value: composite.IndexedSlices) -> IndexedSlicesSpec:
    indices_shape = value.indices.shape.merge_with(value.values.shape[:1])
    shape = TensorShape([None]).concatenate(value.values.shape[1:])
    if value.dense_shape is not None:
        shape = shape.merge_with(value.shape)
    return _slices_invariant(value, indices_shape.concatenate(shape[1:]), shape)


def _slices_invariant(
    value: composite.IndexedSlices, values_shape: TensorShape, shape: TensorShape | None = None
) -> IndexedSlicesSpec:
    """The spec of slices whose values have this shape.

    It determines the dense shape except for the first size.
    """
    if shape is None:
        shape = TensorShape([None]).concatenate(values_shape[1:])
    sizes_dtype = None if value.dense_shape is None else value.dense_shape.dtype
    return IndexedSlicesSpec(shape, value.dtype, value.indices.dtype, sizes_dtype, values_shape[:1])


def _sparse_spec(value: composite.SparseTensor) -> SparseTensorSpec:
    return SparseTensorSpec(value.shape, value.dtype)


composite.SparseTensor._type_spec = property(_sparse_spec)  # type: ignore[attr-defined]
composite.SparseTensor._shape_invariant_to_type_spec = _sparse_invariant  # type: ignore[attr-defined]
composite.IndexedSlices._type_spec = property(_slices_spec)  # type: ignore[attr-defined]
composite.IndexedSlices._shape_invariant_to_type_spec = _slices_invariant  # type: ignore[attr-defined]
register_type_spec_from_value_converter(composite.SparseTensorValue, SparseTensorSpec.from_value)
register_type_spec_from_value_converter(np.ndarray, lambda array: TensorSpec(array.shape, array.dtype))
