"""`tf.RaggedTensorSpec`: what is known of a ragged tensor, and how it passes through datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.type_spec import BatchableTypeSpec, TensorSpec
from tideflow.ops.sparse import ragged_variants
from tideflow.ragged.tensor import RaggedTensor
from tideflow.ragged.value import RaggedTensorValue

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


@export("RaggedTensorSpec")
class RaggedTensorSpec(BatchableTypeSpec):
    """The spec of a ragged tensor.

    Args:
      shape: The shape, in which ragged dimensions are unknown.
      dtype: The type of the elements.
      ragged_rank: The number of ragged dimensions; all but the first of `shape` if None.
      row_splits_dtype: The type of the row splits.
    """

    __slots__ = ("_dtype", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = dtypes.int64,
    ):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: RaggedTensor | RaggedTensorValue) -> RaggedTensorSpec:
        """Makes the spec of a ragged tensor.

        Args:
          value: A RaggedTensor or a RaggedTensorValue.

        Returns:
          The spec.
        """
        return cls(value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype)

    value_type = property(lambda self: RaggedTensor if self._ragged_rank > 0 else Tensor)

    def _serialize(self) -> tuple:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        known = self._shape.ndims is not None
        outer = self._shape.tuple[0] if known else None
        inner = self._shape[self._ragged_rank + 1 :] if known else TensorShape(None)
        splits = [None if outer is None else outer + 1]
        return [
            TensorSpec(TensorShape([None]).concatenate(inner), self._dtype),
            TensorSpec(splits, self._row_splits_dtype),
            *[TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1),
        ]

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        values, *splits = components
        if not all(isinstance(part, np.ndarray) for part in components):
            return RaggedTensor.from_nested_row_splits(values, splits, validate=False) if splits else values
        for each in reversed(splits):
            values = RaggedTensorValue(values, each)
        return values

    # ------------------------------------------------------------------ as one variant

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        self._check_rank(value)
        return [self._as_variant(value, batched=False)]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        self._check_rank(value)
        return [self._as_variant(value, batched=True)]

    def _check_rank(self, value: Any) -> None:
        rank = value.ragged_rank if isinstance(value, RaggedTensor) else 0
        if rank != self._ragged_rank:
            raise ValueError(
                f"Ragged rank of value {rank} does not match ragged rank of type {self._ragged_rank}"
            )

    def _as_variant(self, value: Any, batched: bool) -> Tensor:
        with name_scope("RaggedToVariant"):
            if not isinstance(value, RaggedTensor):
                splits, values = [], convert_to_tensor(value, self._dtype)
            else:
                splits, values = list(value.nested_row_splits), value.flat_values
            return ragged_variants.ragged_tensor_to_variant_op(
                splits, values, batched_input=batched, Tsplits=self._row_splits_dtype
            )

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        if self._ragged_rank < 0:
            raise ValueError(f"ragged_rank must be non-negative; got {self._ragged_rank}.")
        with name_scope("RaggedFromVariant"):
            splits, values = ragged_variants.ragged_tensor_from_variant_op(
                tensor_list[0],
                input_ragged_rank=-1,
                output_ragged_rank=self._ragged_rank,
                Tvalues=self._dtype,
                Tsplits=self._row_splits_dtype,
            )
        if self._shape.ndims is not None:
            for tensor, spec in zip([values, *splits], self._component_specs, strict=True):
                tensor.set_shape(spec.shape)
        return self._from_components([values, *splits])

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        # A negative ragged_rank is allowed: the dataset could be batched again.
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def _to_legacy_output_classes(self) -> RaggedTensorSpec:
        return self


@export("data.experimental.RaggedTensorStructure")
def ragged_tensor_structure(dtype: DTypeLike, shape: ShapeLike | None, ragged_rank: int) -> RaggedTensorSpec:
    """Makes the spec of a ragged tensor.

    Args:
      dtype: The type of the elements.
      shape: The shape.
      ragged_rank: The number of ragged dimensions.

    Returns:
      The RaggedTensorSpec.
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)
