"""Columns of numbers, as they are or in buckets between boundaries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.export import export
from tideflow.feature_column.base import (
    CategoricalColumn,
    DenseColumn,
    IdWeightPair,
    Inputs,
    check_key,
    check_normalizer,
    check_number,
    checked_shape,
)
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.dtypes import DType
from tideflow.graph.nest import flatten, is_nested
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, joining, shapes, tiling
from tideflow.ops.files.feature_specs import FixedLenFeature
from tideflow.ops.math import casting, histograms

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


class _NumericFields(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable | None


class NumericColumn(DenseColumn, _NumericFields):
    """A feature that is a tensor of numbers."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, inputs: Inputs, state: Any = None) -> Tensor:
        feature = inputs.get(self.key, state)
        if isinstance(feature, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                f"supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            feature = self.normalizer_fn(feature)
        return casting.cast(feature, dtypes.float32)

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def get_dense_tensor(self, inputs: Inputs, weights: Any) -> Tensor:
        return inputs.get(self, weights)


@export("feature_column.numeric_column")
def numeric_column(
    key: str,
    shape: ShapeLike = (1,),
    default_value: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable | None = None,
) -> NumericColumn:
    """Makes a dense column of numbers.

    Args:
      key: The name of the feature.
      shape: The shape of the feature in an example.
      default_value: The value of a missing feature; a missing one is an error if None.
      dtype: The type.
      normalizer_fn: A function that is applied to the feature.

    Returns:
      The column.

    Raises:
      TypeError: If the default value does not fit.
      ValueError: If the shape or the type is not valid.
    """
    shape = checked_shape(shape, key)
    check_number(dtype, key)
    default_value = checked_default(shape, default_value, dtype, key)
    check_normalizer(normalizer_fn)
    check_key(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


def checked_default(shape: tuple[int, ...], value: Any, dtype: DType, key: str) -> Any:
    """The default of a column, as nested tuples of its shape: one number stands for all."""
    if value is None:
        return None
    if isinstance(value, int) or isinstance(value, float) and dtype.is_floating:
        return _filled(shape, value)
    if callable(getattr(value, "tolist", None)):
        value = value.tolist()
    if is_nested(value):
        if not _has_shape(value, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {value}, shape: {shape}, key: {key}"
            )
        numbers = flatten(value)
        if all(isinstance(number, int) for number in numbers):
            return _as_tuples(value)
        if dtype.is_floating and any(isinstance(number, float) for number in numbers):
            return _as_tuples(value)
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: {key}"
    )


def _filled(shape: tuple[int, ...], value: Any) -> Any:
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    if is_nested(value) != bool(shape):
        return False
    return not shape or len(value) == shape[0] and all(_has_shape(item, shape[1:]) for item in value)


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if is_nested(value) else value


# ------------------------------------------------------------------------------------------------- buckets


class _BucketizedFields(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(DenseColumn, CategoricalColumn, _BucketizedFields):
    """A numeric column by the buckets that its numbers fall into."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    def transform_feature(self, inputs: Inputs, state: Any = None) -> Tensor:
        return histograms.bucketize_op(
            inputs.get(self.source_column, state), boundaries=list(self.boundaries)
        )

    @property
    def _buckets_of_one(self) -> int:
        return len(self.boundaries) + 1

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((*self.source_column.shape, self._buckets_of_one))

    def get_dense_tensor(self, inputs: Inputs, weights: Any) -> Tensor:
        buckets = casting.cast(inputs.get(self, weights), dtypes.int64)
        return creation.one_hot(buckets, depth=self._buckets_of_one, on_value=1.0, off_value=0.0)

    @property
    def num_buckets(self) -> int:
        return self._buckets_of_one * self.source_column.shape[0]

    def get_sparse_tensors(self, inputs: Inputs, state: Any = None) -> IdWeightPair:
        """Every number's bucket, those of each element of the feature after those of the one before."""
        buckets = inputs.get(self, state)
        batch, width = shapes.shape(buckets)[0], self.source_column.shape[0]
        rows = shapes.expand_dims(creation.range(0, batch), 1)
        rows = shapes.reshape(tiling.tile(rows, [1, width]), (-1,))
        columns = tiling.tile(creation.range(0, width), [batch])
        ids = shapes.reshape(buckets, (-1,)) + self._buckets_of_one * columns
        indices = casting.cast(shapes.transpose(joining.stack((rows, columns))), dtypes.int64)
        size = casting.cast(joining.stack([batch, width]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, ids, size), None)


@export("feature_column.bucketized_column")
def bucketized_column(source_column: NumericColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Makes a column of the buckets into which numbers fall.

    Args:
      source_column: A numeric column of rank 1.
      boundaries: The bounds of the buckets, ascending. A bound belongs to the bucket above it.

    Returns:
      The column, which is dense and categorical.

    Raises:
      ValueError: If an argument is not valid.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            f"source_column must be a column generated with numeric_column(). Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in itertools.pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
