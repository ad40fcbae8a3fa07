"""Columns of sequences: an id, or numbers, for every step of an example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.export import export
from tideflow.feature_column import categorical
from tideflow.feature_column.base import (
    CategoricalColumn,
    IdWeightPair,
    Inputs,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    check_normalizer,
    check_number,
    checked_shape,
    sequence_lengths,
)
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.files.feature_specs import VarLenFeature
from tideflow.ops.math import reductions
from tideflow.ops.sparse import construction, with_dense

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


class _SequenceCategoricalFields(NamedTuple):
    categorical_column: CategoricalColumn


class SequenceCategoricalColumn(CategoricalColumn, _SequenceCategoricalFields):
    """A categorical column whose values are steps of a sequence."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    def transform_feature(self, inputs: Inputs, state: Any = None) -> Any:
        return self.categorical_column.transform_feature(inputs, state)

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def get_sparse_tensors(self, inputs: Inputs, state: Any = None) -> IdWeightPair:
        """The ids by example, step, and place in the step."""
        ids, weights = self.categorical_column.get_sparse_tensors(inputs, state)
        sizes = shapes.shape(ids)
        sizes = [sizes[0], sizes[1], reductions.reduce_prod(sizes[2:])]
        ids = construction.sparse_reshape(ids, sizes)
        if weights is not None:
            weights = construction.sparse_reshape(weights, sizes)
        return IdWeightPair(ids, weights)


@export(
    "feature_column.sequence_categorical_column_with_identity",
    "contrib.feature_column.sequence_categorical_column_with_identity",
)
def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Makes a categorical column of sequences whose values are the ids.

    Args:
      key: The name of the feature.
      num_buckets: The number of ids.
      default_value: The id of other values; a step fails if it is None.

    Returns:
      The column.
    """
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_identity(key, num_buckets, default_value)
    )


@export(
    "feature_column.sequence_categorical_column_with_hash_bucket",
    "contrib.feature_column.sequence_categorical_column_with_hash_bucket",
)
def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = dtypes.string
) -> SequenceCategoricalColumn:
    """Makes a categorical column of sequences whose ids are hashes of the values.

    Args:
      key: The name of the feature.
      hash_bucket_size: The number of ids, above 1.
      dtype: The type of the values: string or integer.

    Returns:
      The column.
    """
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


@export(
    "feature_column.sequence_categorical_column_with_vocabulary_file",
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_file",
)
def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = dtypes.string,
) -> SequenceCategoricalColumn:
    """Makes a categorical column of sequences whose ids are the line numbers of the values in a file.

    Args:
      key: The name of the feature.
      vocabulary_file: The file, with a value in each line.
      vocabulary_size: The number of lines to use; all if None.
      num_oov_buckets: The number of hash buckets for other values, whose ids follow the vocabulary.
      default_value: The id of other values, if there are no buckets.
      dtype: The type of the values: string or integer.

    Returns:
      The column.
    """
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


@export(
    "feature_column.sequence_categorical_column_with_vocabulary_list",
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_list",
)
def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Makes a categorical column of sequences whose ids are the positions of the values in a list.

    Args:
      key: The name of the feature.
      vocabulary_list: The values.
      dtype: The type of the values; that of the list if None.
      default_value: The id of other values, if there are no buckets.
      num_oov_buckets: The number of hash buckets for other values, whose ids follow the vocabulary.

    Returns:
      The column.
    """
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )


class _SequenceNumericFields(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Callable | None


class SequenceNumericColumn(SequenceDenseColumn, _SequenceNumericFields):
    """A feature that is numbers for every step."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, inputs: Inputs, state: Any = None) -> SparseTensor:
        feature = inputs.get(self.key, state)
        return feature if self.normalizer_fn is None else self.normalizer_fn(feature)

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def get_sequence_dense_tensor(self, inputs: Inputs, weights: Any) -> TensorSequenceLengthPair:
        numbers = inputs.get(self, weights)
        dense = with_dense.sparse_tensor_to_dense(numbers, default_value=self.default_value)
        sizes = joining.concat([shapes.shape(dense)[:1], [-1], self.variable_shape], 0)
        dense = shapes.reshape(dense, sizes)
        elements = self.variable_shape.num_elements() if numbers.shape.ndims == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_lengths(numbers, elements))


@export("feature_column.sequence_numeric_column", "contrib.feature_column.sequence_numeric_column")
def sequence_numeric_column(
    key: str,
    shape: ShapeLike = (1,),
    default_value: float = 0.0,
    dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable | None = None,
) -> SequenceNumericColumn:
    """Makes a dense column of sequences of numbers.

    Args:
      key: The name of the feature.
      shape: The shape of a step.
      default_value: The value of steps that an example does not have.
      dtype: The type.
      normalizer_fn: A function that is applied to the feature.

    Returns:
      The column.

    Raises:
      ValueError: If the shape or the type is not valid.
    """
    shape = checked_shape(shape, key)
    check_number(dtype, key)
    check_normalizer(normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)
