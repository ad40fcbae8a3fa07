"""Columns of ids: of integers, hashes and vocabularies, weighted, and crossed."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.contrib.layers.columns.base import Ids, OldColumn, check_checkpoint, of_rank
from tideflow.contrib.layers.columns.numbers import BucketizedColumn
from tideflow.contrib.lookup import index_table_from_tensor
from tideflow.export import export
from tideflow.feature_column.base import CategoricalColumn, IdWeightPair, Inputs, Weights, to_sparse
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.lookup.vocabulary import index_table_from_file
from tideflow.ops.files.feature_specs import VarLenFeature
from tideflow.ops.math import binary, casting
from tideflow.ops.sparse import feature_crosses, parts
from tideflow.ops.strings import hashing, numbers
from tideflow.platform import logging

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


class IdColumn(OldColumn, CategoricalColumn):
    """A column that gives sparse ids, maybe with weights."""

    _kind: str
    _instead = "embedding_column or one_hot_column"

    @property
    @abc.abstractmethod
    def length(self) -> int:
        """What the ids are below."""

    @property
    def num_buckets(self) -> int:
        return self.length

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        """The ids in what the column gives."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> SparseTensor | None:
        """The weights in what the column gives, if any."""
        return None

    def get_sparse_tensors(self, inputs: Inputs, state: Any = None) -> IdWeightPair:
        tensor = inputs.get(self)
        return IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        raise ValueError(f"{self._kind} is not supported in DNN. Please use {self._instead}. column: {self}")

    def ids(self, tensor: Any) -> Ids:
        return Ids(self.id_tensor(tensor), self.weight_tensor(tensor), self.length, self.combiner)


# ------------------------------------------------------------------------------------ one feature's values


class _SparseIdLookupConfig(NamedTuple):
    """A vocabulary: a file's lines, or keys."""

    vocabulary_file: str | None = None
    keys: tuple | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _SparseFields(NamedTuple):
    column_name: str
    is_integerized: bool
    bucket_size: int | None
    lookup_config: _SparseIdLookupConfig | None
    combiner: str
    dtype: DType


class SparseColumn(IdColumn, _SparseFields):
    """The ids of a feature's values."""

    _kind = "SparseColumn"

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def length(self) -> int:
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(self.dtype)}

    def transform_feature(self, inputs: Any, state: Any = None) -> SparseTensor:
        return self._ids_of(self.as_sparse(inputs.get(self.column_name)))

    def as_sparse(self, feature: Any) -> SparseTensor:
        """The feature, a dense one without the values that stand for nothing: "" and -1."""
        if isinstance(feature, SparseTensor):
            return feature
        return to_sparse(of_rank(feature, 2, self.name), "" if feature.dtype == dtypes.string else -1)

    @abc.abstractmethod
    def _ids_of(self, feature: SparseTensor) -> SparseTensor:
        """The ids of a feature's values."""

    def is_compatible(self, other_column: SparseColumn) -> bool:
        """Whether two columns may share a table of embeddings."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        both_integers = self.dtype.is_integer and other_column.dtype.is_integer
        same = self.length == other_column.length and (self.dtype == other_column.dtype or both_integers)
        if same:
            logging.warning(
                "Column %s and %s may not have the same vocabulary.", self.name, other_column.name
            )
        return same


def _with_values(feature: SparseTensor, values: Tensor) -> SparseTensor:
    return SparseTensor(feature.indices, values, feature.dense_shape)


def _texts(column: SparseColumn, feature: SparseTensor) -> Tensor:
    return numbers.as_string(feature.values) if column.dtype.is_integer else feature.values


class SparseColumnIntegerized(SparseColumn):
    """A feature of integers, modulo the number of ids."""

    def _ids_of(self, feature: SparseTensor) -> SparseTensor:
        return _with_values(feature, binary.floormod(feature.values, self.bucket_size, name="mod"))


class SparseColumnHashed(SparseColumn):
    """The hash buckets of a feature's values; one for each pair of keys, where there are keys."""

    hash_keys: list[list[int]] | None = None

    def _ids_of(self, feature: SparseTensor) -> SparseTensor:
        texts = _texts(self, feature)
        if not self.hash_keys:
            ids = hashing.string_to_hash_bucket_fast(texts, self.bucket_size, name="lookup")
            return _with_values(feature, ids)
        each = [hashing.string_to_hash_bucket_strong(texts, self.bucket_size, key) for key in self.hash_keys]
        return parts.sparse_concat(
            axis=1, sp_inputs=[_with_values(feature, ids) for ids in each], name="lookup"
        )


class SparseColumnKeys(SparseColumn):
    """The places of a feature's values in a list of keys."""

    def _ids_of(self, feature: SparseTensor) -> SparseTensor:
        keys = index_table_from_tensor(
            self.lookup_config.keys,
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        return keys.lookup(feature)


class SparseColumnVocabulary(SparseColumn):
    """The lines of a file that a feature's values stand in."""

    def _ids_of(self, feature: SparseTensor) -> SparseTensor:
        lines = index_table_from_file(
            self.lookup_config.vocabulary_file,
            num_oov_buckets=self.lookup_config.num_oov_buckets,
            vocab_size=self.lookup_config.vocab_size,
            default_value=self.lookup_config.default_value,
            name=f"{self.name}_lookup",
        )
        return lines.lookup(_with_values(feature, _texts(self, feature)))


def _check_sparse(name: str, dtype: DType, bucket_size: int | None = 1) -> None:
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {name}")
    if bucket_size is None:
        raise ValueError(f"one of bucket_size or lookup_config must be set. column_name: {name}")
    if bucket_size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {name}")


@export(
    "contrib.layers.sparse_column_with_integerized_feature",
    "contrib.layers.feature_column.sparse_column_with_integerized_feature",
)
def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.int64
) -> SparseColumn:
    """Makes a column whose ids are the feature's integers, modulo their number.

    Args:
      column_name: The name of the feature.
      bucket_size: The number of ids.
      combiner: How weights of an example's ids are combined: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The type of the feature, an integer.

    Returns:
      The column.

    Raises:
      ValueError: If the number or the type is not valid.
    """
    if bucket_size is None:
        raise ValueError(f"bucket_size must be set if is_integerized is True. column_name: {column_name}")
    if not dtype.is_integer:
        raise ValueError(
            f"dtype must be an integer if is_integerized is True. dtype: {dtype}, column_name: {column_name}."
        )
    _check_sparse(column_name, dtype, bucket_size)
    return SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype)


@export(
    "contrib.layers.sparse_column_with_hash_bucket",
    "contrib.layers.feature_column.sparse_column_with_hash_bucket",
)
def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
    hash_keys: list[list[int]] | None = None,
) -> SparseColumn:
    """Makes a column whose ids are hashes of the feature's values.

    Args:
      column_name: The name of the feature.
      hash_bucket_size: The number of ids.
      combiner: How weights of an example's ids are combined: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The type of the feature: string or an integer.
      hash_keys: Pairs of integers: every value has an id by a hash with each of these keys.

    Returns:
      The column.

    Raises:
      ValueError: If an argument is not valid.
    """
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        for pair in hash_keys:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(k, int) for k in pair):
                raise ValueError("Each element of hash_keys must be a pair of integers.")
    _check_sparse(column_name, dtype, hash_bucket_size)
    column = SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, dtype)
    column.hash_keys = hash_keys
    return column


@export("contrib.layers.sparse_column_with_keys", "contrib.layers.feature_column.sparse_column_with_keys")
def sparse_column_with_keys(
    column_name: str,
    keys: Iterable[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
) -> SparseColumn:
    """Makes a column whose ids are the places of the feature's values in a list.

    Args:
      column_name: The name of the feature.
      keys: The values.
      default_value: The id of other values.
      combiner: How weights of an example's ids are combined: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The type of the feature: string or an integer.

    Returns:
      The column.

    Raises:
      ValueError: If the type is not valid.
    """
    _check_sparse(column_name, dtype)
    keys = tuple(keys)
    vocabulary = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return SparseColumnKeys(column_name, False, None, vocabulary, combiner, dtype)


@export(
    "contrib.layers.sparse_column_with_vocabulary_file",
    "contrib.layers.feature_column.sparse_column_with_vocabulary_file",
)
def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
) -> SparseColumn:
    """Makes a column whose ids are the lines of a file that the feature's values stand in.

    Args:
      column_name: The name of the feature.
      vocabulary_file: The file, a value on each line.
      num_oov_buckets: The number of ids, by hashes, for other values.
      vocab_size: The number of lines that count.
      default_value: The id of other values, where `num_oov_buckets` is 0.
      combiner: How weights of an example's ids are combined: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The type of the feature: string or an integer.

    Returns:
      The column.

    Raises:
      ValueError: If `vocab_size` is missing, or the type is not valid.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    _check_sparse(column_name, dtype)
    vocabulary = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return SparseColumnVocabulary(column_name, False, None, vocabulary, combiner, dtype)


# ------------------------------------------------------------------------------------------------ weighted


class _WeightedFields(NamedTuple):
    sparse_id_column: SparseColumn
    weight_column_name: str
    dtype: DType


class WeightedSparseColumn(IdColumn, _WeightedFields):
    """The ids of a column, with the values of another feature as weights."""

    _kind = "WeightedSparseColumn"

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    @property
    def combiner(self) -> str:
        """How weights of an example's ids are combined."""
        return self.sparse_id_column.combiner

    @property
    def lookup_config(self) -> _SparseIdLookupConfig | None:
        """The vocabulary of the ids."""
        return self.sparse_id_column.lookup_config

    @property
    def config(self) -> dict[str, Any]:
        return {**self.sparse_id_column.config, self.weight_column_name: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> tuple[OldColumn, ...]:
        return (self.sparse_id_column,)

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> SparseTensor:
        return input_tensor[1]

    def transform_feature(self, inputs: Any, state: Any = None) -> tuple[SparseTensor, SparseTensor]:
        ids, weights = inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            weights = to_sparse(weights, 0)
        return ids, weights if self.dtype.is_floating else casting.cast(weights, dtypes.float32)

    def is_compatible(self, other_column: Any) -> bool:
        """Whether two columns may share a table of embeddings."""
        other = (
            other_column.sparse_id_column if isinstance(other_column, WeightedSparseColumn) else other_column
        )
        return self.sparse_id_column.is_compatible(other)


@export("contrib.layers.weighted_sparse_column", "contrib.layers.feature_column.weighted_sparse_column")
def weighted_sparse_column(
    sparse_id_column: SparseColumn, weight_column_name: str, dtype: DTypeLike = dtypes.float32
) -> WeightedSparseColumn:
    """Makes a column of the ids of another, each with a weight.

    Args:
      sparse_id_column: The column of ids.
      weight_column_name: The name of the feature with the weights.
      dtype: The type of the weights, a number.

    Returns:
      The column.

    Raises:
      ValueError: If the weights are not numbers.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


# ------------------------------------------------------------------------------------------------- crossed


class _CrossedFields(NamedTuple):
    columns: tuple[OldColumn, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


class CrossedColumn(IdColumn, _CrossedFields):
    """The hashes of every combination of the ids that an example has in several columns."""

    _kind = "CrossedColumn"
    _instead = "embedding_column"
    sequences = "forbidden"

    @property
    def name(self) -> str:
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:
        return self.hash_bucket_size

    @property
    def config(self) -> dict[str, Any]:
        return {key: spec for column in self.columns for key, spec in column.config.items()}

    @property
    def parents(self) -> tuple[OldColumn, ...]:
        return self.columns

    def leaves(self) -> list[OldColumn]:
        """The columns of the cross, and of crosses in it."""
        nested = (c.leaves() if isinstance(c, CrossedColumn) else [c] for c in self.columns)
        return [leaf for leaves in nested for leaf in leaves]

    def transform_feature(self, inputs: Any, state: Any = None) -> SparseTensor:
        features = [self._feature(leaf, inputs) for leaf in self.leaves()]
        return feature_crosses.sparse_feature_cross(
            features,
            hashed_output=True,
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
            name="cross",
        )

    @staticmethod
    def _feature(leaf: Any, inputs: Any) -> Any:
        """The values of a sparse column's feature, crossed as they are; the ids of another column."""
        if not isinstance(leaf, SparseColumn):
            return leaf.ids(inputs.get(leaf)).ids
        try:
            return inputs.get(leaf.name)
        except KeyError:
            raise ValueError(f"features dictionary doesn't contain key ({leaf.name})") from None


@export("contrib.layers.crossed_column", "contrib.layers.feature_column.crossed_column")
def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> CrossedColumn:
    """Makes a column of every combination of the values that an example has in several columns.

    Args:
      columns: The columns: sparse, bucketized or crossed ones.
      hash_bucket_size: The number of ids.
      combiner: How weights of an example's ids are combined: `"sum"`, `"mean"` or `"sqrtn"`.
      ckpt_to_load_from: A checkpoint from which the weights are initialized.
      tensor_name_in_ckpt: The name of the weights in the checkpoint.
      hash_key: The key of the hash, such as `tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY`; an
        older, weaker hash if None.

    Returns:
      The column.

    Raises:
      TypeError: If a column cannot be crossed.
      ValueError: If another argument is not valid.
    """
    for column in columns:
        if not isinstance(column, (SparseColumn, CrossedColumn, BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                f"(column {column} is a _{type(column).__name__})"
            )
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
    check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    in_order = tuple(sorted(columns, key=lambda column: column.name))
    return CrossedColumn(
        in_order, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
    )
