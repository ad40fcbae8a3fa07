"""Columns of categories: ids from hashes, from vocabularies, as they are, weighted, and crossed."""

from __future__ import annotations

import abc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tideflow.export import export
from tideflow.feature_column.base import (
    CategoricalColumn,
    IdWeightPair,
    Inputs,
    check_key,
    check_string_or_integer,
    to_sparse,
)
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.lookup import vocabulary
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.files.feature_specs import VarLenFeature
from tideflow.ops.math import binary, casting, checks
from tideflow.ops.sparse import crosses
from tideflow.ops.strings import hashing, numbers

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


def _check_kind(key: str, expected: DType, found: DType) -> None:
    if expected.is_integer != found.is_integer:
        raise ValueError(
            f"Column dtype and SparseTensors dtype must be compatible. key: {key}, column dtype: {expected}, "
            f"tensor dtype: {found}"
        )


class _OfOneFeature(CategoricalColumn):
    """A column of a feature of one key and type."""

    __slots__ = ()
    key: str
    dtype: DType

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}


# ------------------------------------------------------------------------------------------------- hashes


class _HashedFields(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


class HashedCategoricalColumn(_OfOneFeature, _HashedFields):
    """The hash buckets of a feature's values."""

    __slots__ = ()

    def transform_feature(self, inputs: Inputs, state: Any = None) -> SparseTensor:
        feature = to_sparse(inputs.get(self.key, state))
        check_string_or_integer(feature.dtype, f"column_name: {self.key} input_tensor")
        _check_kind(self.key, self.dtype, feature.dtype)
        values = feature.values
        if self.dtype != dtypes.string:
            values = numbers.as_string(values)
        ids = hashing.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")
        return SparseTensor(feature.indices, ids, feature.dense_shape)

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size


@export("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = dtypes.string
) -> HashedCategoricalColumn:
    """Makes a categorical column whose ids are hashes of the values.

    Args:
      key: The name of the feature.
      hash_bucket_size: The number of ids, above 1.
      dtype: The type of the values: string or integer.

    Returns:
      The column.

    Raises:
      ValueError: If the number or the type is not valid.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    check_string_or_integer(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


# ------------------------------------------------------------------------------------------- vocabularies


class _OfVocabulary(_OfOneFeature):
    """The places of a feature's values in a vocabulary."""

    __slots__ = ()

    def transform_feature(self, inputs: Inputs, state: Any = None) -> SparseTensor:
        feature = to_sparse(inputs.get(self.key, state))
        _check_kind(self.key, self.dtype, feature.dtype)
        check_string_or_integer(feature.dtype, f"column_name: {self.key} input_tensor")
        key_dtype = self.dtype
        if feature.dtype.is_integer:
            key_dtype, feature = dtypes.int64, casting.cast(feature, dtypes.int64)
        return self._table(key_dtype, f"{self.key}_lookup").lookup(feature)

    @abc.abstractmethod
    def _table(self, key_dtype: DType, name: str) -> Any:
        """The table from values to their places."""


class _VocabularyFileFields(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int


class VocabularyFileCategoricalColumn(_OfVocabulary, _VocabularyFileFields):
    """A feature's values by the lines of a file."""

    __slots__ = ()

    def _table(self, key_dtype: DType, name: str) -> Any:
        return vocabulary.index_table_from_file(
            self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets


@export("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """Makes a categorical column whose ids are the line numbers of the values in a file.

    Args:
      key: The name of the feature.
      vocabulary_file: The file, with a value in each line.
      vocabulary_size: The number of lines to use; all if None.
      num_oov_buckets: The number of hash buckets for other values, whose ids follow the vocabulary.
      default_value: The id of other values, if there are no buckets; they are dropped if None.
      dtype: The type of the values: string or integer.

    Returns:
      The column.

    Raises:
      ValueError: If an argument is not valid.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not os.path.exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with open(vocabulary_file, "rb") as file:
            vocabulary_size = sum(1 for _ in file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_oov(num_oov_buckets, default_value is not None, key)
    check_string_or_integer(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(
        key,
        vocabulary_file,
        vocabulary_size,
        num_oov_buckets or 0,
        dtype,
        -1 if default_value is None else default_value,
    )


def _check_oov(num_oov_buckets: int, has_default: bool, key: str) -> None:
    """Values that no vocabulary has go to buckets or to the default, not to both."""
    if num_oov_buckets:
        if has_default:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


class _VocabularyListFields(NamedTuple):
    key: str
    vocabulary_list: tuple
    dtype: DType
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_OfVocabulary, _VocabularyListFields):
    """A feature's values by their places in a list."""

    __slots__ = ()

    def _table(self, key_dtype: DType, name: str) -> Any:
        return vocabulary.index_table_from_tensor(
            tuple(self.vocabulary_list),
            num_oov_buckets=self.num_oov_buckets,
            default_value=self.default_value,
            dtype=key_dtype,
            name=name,
        )

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets


@export("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Makes a categorical column whose ids are the positions of the values in a list.

    Args:
      key: The name of the feature.
      vocabulary_list: The values.
      dtype: The type of the values; that of the list if None.
      default_value: The id of other values, if there are no buckets; they are dropped if -1.
      num_oov_buckets: The number of hash buckets for other values, whose ids follow the vocabulary.

    Returns:
      The column.

    Raises:
      ValueError: If an argument is not valid.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    found = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_oov(num_oov_buckets, default_value != -1, key)
    check_string_or_integer(found, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = found
    elif dtype.is_integer != found.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {found} do not match, column_name: {key}")
    check_string_or_integer(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets)


# ----------------------------------------------------------------------------------------------- identity


class _IdentityFields(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(CategoricalColumn, _IdentityFields):
    """A feature that is ids already."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(dtypes.int64)}

    def transform_feature(self, inputs: Inputs, state: Any = None) -> SparseTensor:
        feature = to_sparse(inputs.get(self.key, state))
        if not feature.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {feature.dtype}")
        ids = casting.cast(feature.values, dtypes.int64, name="values")
        end = casting.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = casting.cast(0, dtypes.int64, name="zero")
        ids = self._checked(ids, zero, end) if self.default_value is None else self._within(ids, zero, end)
        return SparseTensor(feature.indices, ids, feature.dense_shape)

    def _checked(self, ids: Tensor, zero: Tensor, end: Tensor) -> Tensor:
        """The ids, of which none may be out of range."""
        small_enough = checks.assert_less(
            ids,
            end,
            data=(ids, end),
            message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets',
            name="assert_less_than_num_buckets",
        )
        large_enough = checks.assert_greater_equal(
            ids,
            zero,
            data=(ids,),
            message=f'Negative bucket index for categorical column "{self.name}"',
            name="assert_greater_or_equal_0",
        )
        with control_dependencies((small_enough, large_enough)):
            return constants.identity(ids)

    def _within(self, ids: Tensor, zero: Tensor, end: Tensor) -> Tensor:
        """The ids, the default in place of those out of range."""
        return indexing.where_v2(
            binary.logical_or(ids < zero, ids >= end, name="out_of_range"),
            creation.fill(
                shapes.shape(ids), casting.cast(self.default_value, dtypes.int64), name="default_values"
            ),
            ids,
        )

    @property
    def num_buckets(self) -> int:
        return self.number_buckets


@export("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Makes a categorical column whose values are the ids.

    Args:
      key: The name of the feature.
      num_buckets: The number of ids. Values are from 0 up to, but not including, it.
      default_value: The id of other values; a step fails if it is None.

    Returns:
      The column.

    Raises:
      ValueError: If an argument is not valid.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


# ----------------------------------------------------------------------------------------------- weighted


class _WeightedFields(NamedTuple):
    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType


class WeightedCategoricalColumn(CategoricalColumn, _WeightedFields):
    """A categorical column with a weight for every id, which another feature has."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transform_feature(self, inputs: Inputs, state: Any = None) -> tuple[SparseTensor, SparseTensor]:
        weights = convert_to_tensor_or_sparse_tensor(inputs.get(self.weight_feature_key, state))
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = to_sparse(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = casting.cast(weights, dtypes.float32)
        return inputs.get(self.categorical_column, state), weights

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def get_sparse_tensors(self, inputs: Inputs, state: Any = None) -> IdWeightPair:
        return IdWeightPair(*inputs.get(self, state))


@export("feature_column.weighted_categorical_column")
def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: DTypeLike = dtypes.float32
) -> WeightedCategoricalColumn:
    """Adds weights from another feature to the ids of a categorical column.

    Args:
      categorical_column: The column.
      weight_feature_key: The name of the feature with the weights.
      dtype: The type of the weights.

    Returns:
      The column.

    Raises:
      ValueError: If the type is not a number type.
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


# ------------------------------------------------------------------------------------------------ crossed


class _CrossedFields(NamedTuple):
    keys: tuple
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(CategoricalColumn, _CrossedFields):
    """The hash buckets of all combinations of several features' values."""

    __slots__ = ()

    @property
    def _leaves(self) -> list[Any]:
        """What is crossed, crosses of crosses taken apart."""
        leaves: list[Any] = []
        for key in self.keys:
            leaves += key._leaves if isinstance(key, CrossedColumn) else [key]
        return leaves

    @property
    def name(self) -> str:
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec.update(
                {key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec
            )
        return spec

    def transform_feature(self, inputs: Inputs, state: Any = None) -> SparseTensor:
        return crosses.sparse_cross_hashed(
            [self._tensor_of(key, inputs, state) for key in self._leaves],
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
        )

    @staticmethod
    def _tensor_of(key: Any, inputs: Inputs, state: Any) -> Any:
        if isinstance(key, str):
            return inputs.get(key, state)
        ids, weights = key.get_sparse_tensors(inputs, state)
        if weights is not None:
            raise ValueError(
                "crossed_column does not support weight_tensor, but the given column populates "
                f"weight_tensor. Given column: {key.name}"
            )
        return ids

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size


@export("feature_column.crossed_column")
def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Makes a categorical column whose ids are hashes of combinations of values.

    Args:
      keys: The names of features, or categorical columns.
      hash_bucket_size: The number of ids, above 1.
      hash_key: A key of the hash function.

    Returns:
      The column.

    Raises:
      ValueError: If there are fewer than two keys, or one is not valid.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing "
                "will increase probability of collision. Instead, use the feature name as a string. "
                f"Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
