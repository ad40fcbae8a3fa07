"""Columns of ids as vectors: one-hot, embedded, embedded in a table that columns share, and scattered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.contrib.layers.columns.base import (
    Ids,
    OldColumn,
    check_checkpoint,
    inner_flatten,
    of_rank,
    table,
    vector,
)
from tideflow.contrib.layers.columns.categories import IdColumn, SparseColumn, WeightedSparseColumn
from tideflow.contrib.layers.columns.scattered import check_combiner, scattered_embedding_lookup_sparse
from tideflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from tideflow.export import export
from tideflow.feature_column.base import DenseColumn, Inputs, Weights
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_collection_ref
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.files.feature_specs import VarLenFeature
from tideflow.ops.math import casting, reductions
from tideflow.ops.sparse import construction, parts, with_dense
from tideflow.variables.initializers import TruncatedNormal

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike


class _OfIds(OldColumn, DenseColumn):
    """A vector for each example, made of the ids of a column."""

    sequences = "supported"
    sparse_id_column: IdColumn

    @property
    def config(self) -> dict[str, Any]:
        return self.sparse_id_column.config

    @property
    def parents(self) -> tuple[OldColumn, ...]:
        return (self.sparse_id_column,)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(columns_to_tensors)
        columns_to_tensors[self] = columns_to_tensors[self.sparse_id_column]

    def transform_feature(self, inputs: Any, state: Any = None) -> Any:
        return inputs.get(self.sparse_id_column)

    def get_dense_tensor(self, inputs: Inputs, weights: Weights) -> Tensor:
        return self.input_layer(inputs.get(self), weights)


# ------------------------------------------------------------------------------------------------- one-hot


class _OneHotFields(NamedTuple):
    sparse_id_column: IdColumn


class OneHotColumn(_OfIds, _OneHotFields):
    """How often each id comes in an example, or the sum of its weights."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """The size of a vector."""
        return self.sparse_id_column.length

    @property
    def variable_shape(self) -> TensorShape:
        return vector(self.length)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        ids = inner_flatten(self.sparse_id_column.id_tensor(tensor), rank)
        of_ids = self.sparse_id_column.weight_tensor(tensor)
        if of_ids is None:
            dense = with_dense.sparse_tensor_to_dense(ids, default_value=-1)
            one_hot = creation.one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
            return reductions.reduce_sum(one_hot, axis=[rank - 1])
        merged = construction.sparse_merge(ids, of_ids, self.length)
        # A negative id would be a place outside the matrix.
        merged = parts.sparse_slice(merged, creation.zeros_like(merged.dense_shape), merged.dense_shape)
        dense = with_dense.sparse_tensor_to_dense(merged)
        sizes = joining.concat([shapes.shape(dense)[:-1], [self.length]], axis=0)
        return shapes.reshape(dense, sizes)


@export("contrib.layers.one_hot_column", "contrib.layers.feature_column.one_hot_column")
def one_hot_column(sparse_id_column: IdColumn) -> OneHotColumn:
    """Makes a column of vectors that count ids: one-hot, where an example has one id.

    Args:
      sparse_id_column: The column of ids.

    Returns:
      The column.
    """
    return OneHotColumn(sparse_id_column)


# --------------------------------------------------------------------------------------------- embeddings


class _EmbeddingFields(NamedTuple):
    sparse_id_column: IdColumn
    dimension: int
    combiner: str
    initializer: Callable
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(_OfIds, _EmbeddingFields):
    """The ids of a column as rows of a learned table, combined for each example."""

    _unkeyed = ("initializer",)

    @property
    def name(self) -> str:
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def length(self) -> int:
        """The number of rows of the table."""
        return self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def variable_shape(self) -> TensorShape:
        return vector(self.dimension)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        ids = inner_flatten(self.sparse_id_column.id_tensor(tensor), rank)
        of_ids = self.sparse_id_column.weight_tensor(tensor)
        rows = self._table(Weights(weights.collections, weights.trainable and self.trainable))
        self.restore(rows)
        return safe_embedding_lookup_sparse(
            rows,
            ids,
            sparse_weights=None if of_ids is None else inner_flatten(of_ids, rank),
            combiner=self.combiner,
            name=f"{self.name}weights",
            max_norm=self.max_norm,
        )

    def _table(self, weights: Weights) -> list[Any]:
        """The table, as a list of its parts; a shared one is made by the first column that asks for it."""
        size = [self.length, self.dimension]
        if self.shared_embedding_name is None:
            return table("weights", size, self.initializer, weights)
        shared = get_collection_ref(f"SHARED_EMBEDDING_COLLECTION_{self.shared_embedding_name.upper()}")
        if not shared:
            shared.append(table(self.shared_embedding_name, size, self.initializer, weights))
        (parts_of_table,) = shared
        if [sum(part.shape.as_list()[0] for part in parts_of_table), parts_of_table[0].shape[1]] != size:
            raise ValueError(
                f"The embedding variable with name {self.shared_embedding_name} already exists, but its "
                "shape does not match required embedding shape here. Please make sure to use different "
                "shared_embedding_name for different shared embeddings."
            )
        return parts_of_table

    def ids(self, tensor: Any) -> Ids:
        raise ValueError(f"Column {self} is not supported in linear models. Please use sparse_column.")


def _checked_initializer(initializer: Any, of: str, stddev: float) -> Callable:
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. {of}")
    return initializer or TruncatedNormal(mean=0.0, stddev=stddev)


def _embedding(
    column: IdColumn,
    dimension: int,
    combiner: str,
    initializer: Any,
    checkpoint: tuple[str | None, str | None],
    shared: tuple[str | None, int | None],
    max_norm: float | None,
    trainable: bool,
) -> EmbeddingColumn:
    of = f"Embedding of column_name: {column.name}"
    initializer = _checked_initializer(initializer, of, 1 / math.sqrt(column.length))
    check_checkpoint(*checkpoint)
    return EmbeddingColumn(
        column, dimension, combiner, initializer, *checkpoint, *shared, max_norm, trainable
    )


@export("contrib.layers.embedding_column", "contrib.layers.feature_column.embedding_column")
def embedding_column(
    sparse_id_column: IdColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Makes a column that learns a vector for each id of another.

    Args:
      sparse_id_column: The column of ids.
      dimension: The size of a vector.
      combiner: How the vectors of an example are combined: `"mean"`, `"sqrtn"` or `"sum"`.
      initializer: The initializer of the table; truncated normal if None.
      ckpt_to_load_from: A checkpoint from which the table is initialized.
      tensor_name_in_ckpt: The name of the table in the checkpoint.
      max_norm: If given, each vector is scaled down to this L2 norm.
      trainable: Whether optimizers change the table by default.

    Returns:
      The column.

    Raises:
      ValueError: If an argument is not valid.
    """
    checkpoint = (ckpt_to_load_from, tensor_name_in_ckpt)
    return _embedding(
        sparse_id_column, dimension, combiner, initializer, checkpoint, (None, None), max_norm, trainable
    )


@export("contrib.layers.shared_embedding_columns", "contrib.layers.feature_column.shared_embedding_columns")
def shared_embedding_columns(
    sparse_id_columns: Sequence[IdColumn],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: InitializerLike | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Sequence[EmbeddingColumn]:
    """Makes columns that learn one table of vectors for the ids of several columns.

    Args:
      sparse_id_columns: The columns of ids, with one vocabulary.
      dimension: The size of a vector.
      combiner: How the vectors of an example are combined: `"mean"`, `"sqrtn"` or `"sum"`.
      shared_embedding_name: The name of the table; made of those of the columns if None.
      initializer: The initializer of the table; truncated normal if None.
      ckpt_to_load_from: A checkpoint from which the table is initialized.
      tensor_name_in_ckpt: The name of the table in the checkpoint.
      max_norm: If given, each vector is scaled down to this L2 norm.
      trainable: Whether optimizers change the table by default.

    Returns:
      A column for each of `sparse_id_columns`.

    Raises:
      TypeError: If `sparse_id_columns` is not a sequence of columns of ids.
      ValueError: If it is empty, or the columns do not fit each other.
    """
    columns = sparse_id_columns
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(columns)}."
        )
    if len(columns) < 1:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in columns:
        if not isinstance(column, (SparseColumn, WeightedSparseColumn)):
            raise TypeError(
                f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {column} "
                "is not."
            )
    size = None
    if len(columns) > 1:
        if not all(_compatible(columns[0], column) for column in columns[1:]):
            raise ValueError("The input sparse id columns are not compatible.")
        shared_embedding_name = shared_embedding_name or _shared_name(columns)
        size = columns[0].length
    checkpoint, shared = (ckpt_to_load_from, tensor_name_in_ckpt), (shared_embedding_name, size)
    made = [
        _embedding(column, dimension, combiner, initializer, checkpoint, shared, max_norm, trainable)
        for column in columns
    ]
    return made if len(made) == 1 else tuple(made)


def _compatible(first: Any, other: Any) -> bool:
    if isinstance(first, WeightedSparseColumn):
        return first.is_compatible(other)
    return other.is_compatible(first)


def _shared_name(columns: Sequence[IdColumn]) -> str:
    """The names of the first three columns, those without weights before the others."""
    in_order = sorted(columns, key=lambda column: (isinstance(column, WeightedSparseColumn), column.name))
    name = "_".join(column.name for column in in_order[:3])
    rest = f"_plus_{len(columns) - 3}_others" if len(columns) > 3 else ""
    return f"{name}{rest}_shared_embedding"


# ----------------------------------------------------------------------------------------------- scattered


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Callable


class ScatteredEmbeddingColumn(OldColumn, DenseColumn, _ScatteredFields):
    """A feature's values as vectors whose elements are hashed into one vector of variables."""

    _unkeyed = ("initializer",)
    sequences = "forbidden"

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(dtypes.string)}

    @property
    def variable_shape(self) -> TensorShape:
        return vector(self.dimension)

    def transform_feature(self, inputs: Any, state: Any = None) -> Any:
        return inputs.get(self.column_name)

    def get_dense_tensor(self, inputs: Inputs, weights: Weights) -> Tensor:
        return self.input_layer(inputs.get(self), weights)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        values = inner_flatten(tensor, rank)
        params = table("weights", [self.size], self.initializer, weights)
        return scattered_embedding_lookup_sparse(
            params, values, self.dimension, self.combiner, "lookup", self.hash_key
        )


@export(
    "contrib.layers.scattered_embedding_column", "contrib.layers.feature_column.scattered_embedding_column"
)
def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int | None,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
) -> ScatteredEmbeddingColumn:
    """Makes a column of embeddings that share their numbers: each is looked up at a hash of value and place.

    Args:
      column_name: The name of the feature.
      size: The number of numbers that are learned.
      dimension: The size of a vector.
      hash_key: The key of the hash.
      combiner: How the vectors of an example are combined: `"mean"`, `"sqrtn"` or `"sum"`.
      initializer: The initializer of the numbers; truncated normal if None.

    Returns:
      The column.

    Raises:
      ValueError: If an argument is not valid.
    """
    of = f"column_name: {column_name}"
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, {of}"
        )
    check_combiner(combiner, f" combiner: {combiner}, {of}")
    initializer = _checked_initializer(initializer, of, 0.1)
    return ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)


# ------------------------------------------------------------------------------------------- data frames


class _DataFrameFields(NamedTuple):
    column_name: str
    series: Any


@export("contrib.layers.feature_column.DataFrameColumn")
@export("contrib.slim.DataFrameColumn")
class DataFrameColumn(OldColumn, _DataFrameFields):
    """A column that a series of a data frame makes.

    Args:
      column_name: The name of the column.
      series: An object with `required_base_features()`, a dictionary of what must be parsed, and
        `build(tensors)`, which makes the column's tensor.
    """

    def __repr__(self) -> str:
        return super().__repr__().removeprefix("_")

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        return self.series.required_base_features()

    @property
    def key(self) -> str:
        return self.name

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def transform_feature(self, inputs: Any, state: Any = None) -> Any:
        return self.series.build(inputs)

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        return of_rank(casting.cast(tensor, dtypes.float32), rank, self.name)

    def dense(self, tensor: Any) -> Tensor:
        return of_rank(casting.cast(tensor, dtypes.float32), 2, self.name)
