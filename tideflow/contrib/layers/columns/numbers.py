"""Columns of numbers, and of the buckets that numbers fall into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.contrib.layers.columns.base import Ids, OldColumn, of_rank, vector
from tideflow.export import export
from tideflow.feature_column.base import CategoricalColumn, DenseColumn, IdWeightPair, Inputs, Weights
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, joining, shapes, tiling
from tideflow.ops.files.feature_specs import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tideflow.ops.math import casting
from tideflow.ops.math.histograms import bucketize_op

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


class _RealValuedFields(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple | None
    dtype: DType
    normalizer: Callable | None


class RealValuedColumn(OldColumn, DenseColumn, _RealValuedFields):
    """A feature of numbers."""

    _unkeyed = ("normalizer",)
    sequences = "supported"

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def normalizer_fn(self) -> Callable | None:
        """What changes the numbers."""
        return self.normalizer

    @property
    def variable_shape(self) -> TensorShape:
        return vector(self.dimension)

    def transform_feature(self, inputs: Any, state: Any = None) -> Tensor:
        feature = inputs.get(self.column_name)
        normal = feature if self.normalizer is None else self.normalizer(feature)
        return casting.cast(normal, dtypes.float32)

    def get_dense_tensor(self, inputs: Inputs, weights: Weights) -> Tensor:
        return inputs.get(self)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        return of_rank(tensor, rank, self.name)

    def dense(self, tensor: Any) -> Tensor:
        return tensor


@export("contrib.layers.real_valued_column", "contrib.layers.feature_column.real_valued_column")
def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: float | Sequence[float] | None = None,
    dtype: DTypeLike = dtypes.float32,
    normalizer: Callable | None = None,
) -> RealValuedColumn:
    """Makes a column of numbers.

    Args:
      column_name: The name of the feature.
      dimension: How many numbers an example has.
      default_value: The numbers, or the one, of an example that lacks the feature; None if that is an error.
      dtype: The type of the feature, a number.
      normalizer: A function of the feature's tensor, whose result is taken instead.

    Returns:
      The column.

    Raises:
      TypeError: If `dimension` is not an integer, or the default not of the type.
      ValueError: If another argument is not valid.
    """
    of = f"column_name: {column_name}"
    if dimension is None or not isinstance(dimension, int):
        raise TypeError(
            "dimension must be an integer. Use the _real_valued_var_len_column for variable length "
            f"features.dimension: {dimension}, {of}"
        )
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, {of}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, {of}")
    default = None
    if default_value is not None:
        default = _defaults(default_value, dimension, dtype, of)
    return RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _defaults(given: Any, dimension: int, dtype: DType, of: str) -> tuple:
    values = given if isinstance(given, list) else [given] * dimension
    if len(values) != dimension:
        raise ValueError(
            "The length of default_value must be equal to dimension. "
            f"default_value: {given}, dimension: {dimension}, {of}"
        )
    kinds = int if dtype.is_integer else (int, float)
    if not all(isinstance(value, kinds) for value in values):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {given}, dtype: {dtype}, {of}"
        )
    return tuple(values if dtype.is_integer else map(float, values))


class _RealValuedVarLenFields(NamedTuple):
    column_name: str
    default_value: float | None
    dtype: DType
    normalizer: Callable | None
    is_sparse: bool


class RealValuedVarLenColumn(OldColumn, _RealValuedVarLenFields):
    """A feature of as many numbers as an example has."""

    _unkeyed = ("normalizer",)
    sequences = "supported"

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        if self.is_sparse:
            return {self.column_name: VarLenFeature(self.dtype)}
        return {self.column_name: FixedLenSequenceFeature([], self.dtype, True, self.default_value)}

    @property
    def normalizer_fn(self) -> Callable | None:
        """What changes the numbers."""
        return self.normalizer

    def transform_feature(self, inputs: Any, state: Any = None) -> Any:
        feature = inputs.get(self.column_name)
        if self.normalizer is not None and self.is_sparse:
            feature = SparseTensor(feature.indices, self.normalizer(feature.values), feature.dense_shape)
        elif self.normalizer is not None:
            feature = self.normalizer(feature)
        return casting.cast(feature, dtypes.float32)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        return of_rank(self.dense(tensor), rank, self.name)

    def dense(self, tensor: Any) -> Tensor:
        if self.is_sparse:
            raise ValueError(
                f"Set is_sparse to False if you want a dense Tensor for column_name: {self.name}"
            )
        return tensor


def _real_valued_var_len_column(
    column_name: str,
    default_value: float | None = None,
    dtype: DType = dtypes.float32,
    normalizer: Callable | None = None,
    is_sparse: bool = False,
) -> RealValuedVarLenColumn:
    """Makes a column of as many numbers as an example has: a sparse tensor, or one that is filled up."""
    of = f"column_name: {column_name}"
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, {of}")
    if default_value is None and not is_sparse:
        raise ValueError(
            f"default_value must be provided when is_sparse=False to parse a padded Tensor. {of}"
        )
    if isinstance(default_value, list):
        raise ValueError(f"Only scalar default value. default_value: {default_value}, {of}")
    default = default_value
    if default is not None:
        default = int(default) if dtype.is_integer else float(default)
    return RealValuedVarLenColumn(column_name, default, dtype, normalizer, is_sparse)


# ------------------------------------------------------------------------------------------------- buckets


class _BucketizedFields(NamedTuple):
    source_column: RealValuedColumn
    boundaries: tuple


class BucketizedColumn(OldColumn, CategoricalColumn, DenseColumn, _BucketizedFields):
    """The buckets that the numbers of a column fall into: one-hot vectors, or ids."""

    sequences = "forbidden"

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """The number of buckets of one number."""
        return len(self.boundaries) + 1

    @property
    def num_buckets(self) -> int:
        return self.length * self.source_column.dimension

    @property
    def variable_shape(self) -> TensorShape:
        return vector(self.num_buckets)

    @property
    def config(self) -> dict[str, Any]:
        return self.source_column.config

    @property
    def parents(self) -> tuple[OldColumn, ...]:
        return (self.source_column,)

    def transform_feature(self, inputs: Any, state: Any = None) -> Tensor:
        numbers = inputs.get(self.source_column)
        return bucketize_op(numbers, boundaries=list(self.boundaries), name="bucketize")

    def get_sparse_tensors(self, inputs: Inputs, state: Any = None) -> IdWeightPair:
        return IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    def get_dense_tensor(self, inputs: Inputs, weights: Weights) -> Tensor:
        return self.input_layer(inputs.get(self), weights)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        if rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        one_hot = creation.one_hot(casting.cast(tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot")
        return shapes.reshape(one_hot, [-1, self.num_buckets], name="reshape")

    def to_sparse_tensor(self, input_tensor: Tensor) -> SparseTensor:
        """The buckets as ids, of which each number of an example has its own."""
        dimension = self.source_column.dimension
        batch = shapes.shape(input_tensor, name="shape")[0]
        rows = shapes.reshape(tiling.tile(shapes.expand_dims(creation.range(batch), 1), [1, dimension]), [-1])
        columns = tiling.tile(creation.range(dimension), [batch])
        ids = shapes.reshape(input_tensor, [-1], name="reshape")
        if dimension > 1:
            ids += self.length * columns
        indices = casting.cast(shapes.transpose(joining.stack((rows, columns))), dtypes.int64)
        return SparseTensor(indices, ids, casting.cast(joining.stack([batch, dimension]), dtypes.int64))

    def ids(self, tensor: Any) -> Ids:
        return Ids(self.to_sparse_tensor(tensor), None, self.num_buckets, "sum")


@export("contrib.layers.bucketized_column", "contrib.layers.feature_column.bucketized_column")
def bucketized_column(source_column: RealValuedColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Makes a column of the buckets that numbers fall into.

    Args:
      source_column: The column of numbers.
      boundaries: Where buckets end and the next begin, in ascending order.

    Returns:
      The column.

    Raises:
      TypeError: If `source_column` is not a column of numbers.
      ValueError: If the boundaries are not sorted, or missing.
    """
    if not isinstance(source_column, RealValuedColumn):
        raise TypeError(
            f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}"
        )
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))
