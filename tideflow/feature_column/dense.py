"""Dense columns of categorical ones: learned embeddings, of a column's own or shared, and counts."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.export import export, symbols
from tideflow.feature_column.base import (
    CategoricalColumn,
    DenseColumn,
    IdWeightPair,
    Inputs,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    Weights,
    sequence_lengths,
)
from tideflow.feature_column.categorical import WeightedCategoricalColumn
from tideflow.feature_column.sequence import SequenceCategoricalColumn
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import add_to_collection, executing_eagerly, get_collection, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.nn import embeddings
from tideflow.ops.arrays import creation, scatter
from tideflow.ops.math import reductions
from tideflow.ops.sparse import construction, parts, with_dense
from tideflow.variables.initializers import TruncatedNormal
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike


class OfCategories(DenseColumn, SequenceDenseColumn):
    """A dense column of a categorical one; one of sequences where the categorical one is."""

    __slots__ = ()
    categorical_column: CategoricalColumn
    _kind: str

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    def transform_feature(self, inputs: Inputs, state: Any = None) -> Any:
        return inputs.get(self.categorical_column, state)

    def get_dense_tensor(self, inputs: Inputs, weights: Any) -> Tensor:
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            words = _words_of_protocol(weights)
            raise ValueError(
                f"In {self._kind}: {self.name}. categorical_column must not be of type "
                f"{words.column}. Suggested fix A: If you wish to use {words.layer}, use a "
                "non-sequence categorical_column_with_*. Suggested fix B: If you wish to create sequence "
                f"input, use {words.sequence_layer} instead of {words.layer}. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )
        return self._tensor_and_ids(inputs, weights)[0]

    def get_sequence_dense_tensor(self, inputs: Inputs, weights: Any) -> TensorSequenceLengthPair:
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            words = _words_of_protocol(weights)
            raise ValueError(
                f"In {self._kind}: {self.name}. categorical_column must be of type {words.column} to use "
                f"{words.sequence_layer}. Suggested fix: Use one of sequence_categorical_column_with_*. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )
        tensor, ids = self._tensor_and_ids(inputs, weights)
        if ids is None:
            ids = self.categorical_column.get_sparse_tensors(inputs, weights).id_tensor
        return TensorSequenceLengthPair(tensor, sequence_lengths(ids))

    @abc.abstractmethod
    def _tensor_and_ids(self, inputs: Inputs, weights: Any) -> tuple[Tensor, SparseTensor | None]:
        """The column's tensor, and the ids that it was made from where they can be had again from it."""


class _Words(NamedTuple):
    column: str
    layer: str
    sequence_layer: str


def _words_of_protocol(weights: Any) -> _Words:
    """What TensorFlow calls things in the protocol by which a column is asked."""
    if isinstance(weights, Weights):
        return _Words("_SequenceCategoricalColumn", "input_layer", "sequence_input_layer")
    return _Words("SequenceCategoricalColumn", "DenseFeatures", "SequenceFeatures")


def restore(checkpoint: str | None, tensor_name: str | None, table: Any) -> None:
    """Lets a table of embeddings begin with what a checkpoint has."""
    if checkpoint is None:
        return
    initialize = symbols.get("train.init_from_checkpoint")  # of a room below this one
    if initialize is None:
        raise ValueError("ckpt_to_load_from needs tf.train.init_from_checkpoint, which is not there.")
    initialize(checkpoint, {tensor_name: list(table) if isinstance(table, PartitionedVariable) else table})


def check_embedding(
    dimension: int | None, checkpoint: str | None, tensor_name: str | None, initializer: Any, of: str
) -> Callable:
    """The initializer of a table, after all settings are checked."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{of}")
    return initializer or TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))


# --------------------------------------------------------------------------------------------- embeddings


class _EmbeddingFields(NamedTuple):
    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Callable
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(OfCategories, _EmbeddingFields):
    """A categorical column's ids as rows of a learned table, combined for each example."""

    __slots__ = ()
    _kind = "embedding_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _tensor_and_ids(self, inputs: Inputs, weights: Any) -> tuple[Tensor, SparseTensor | None]:
        ids = self.categorical_column.get_sparse_tensors(inputs, weights)
        table = self.table(weights)
        restore(self.ckpt_to_load_from, self.tensor_name_in_ckpt, table)
        return embedded(self, ids, table), ids.id_tensor

    @property
    def _table_shape(self) -> tuple[int, int]:
        return self.categorical_column.num_buckets, self.dimension

    def create_state(self, state: Any) -> None:
        """Makes the table of the column."""
        state.create_variable(
            self,
            name="embedding_weights",
            shape=self._table_shape,
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def table(self, weights: Any) -> Any:
        """The variable of the column: the layer's own, or one made or found in the current scope."""
        if not isinstance(weights, Weights):
            return weights.get_variable(self, name="embedding_weights")
        return get_variable(
            "embedding_weights",
            shape=self._table_shape,
            dtype=dtypes.float32,
            initializer=self.initializer,
            trainable=self.trainable and weights.trainable,
            collections=weights.collections,
        )


def embedded(column: Any, ids: IdWeightPair, table: Any) -> Tensor:
    """The rows of a table by a column's ids, combined for each example."""
    return embeddings.safe_embedding_lookup_sparse(
        table,
        ids.id_tensor,
        sparse_weights=ids.weight_tensor,
        combiner=column.combiner,
        name=f"{column.name}_weights",
        max_norm=column.max_norm,
    )


@export("feature_column.embedding_column")
def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Makes a dense column that learns a vector for each id of a categorical column.

    Args:
      categorical_column: The categorical column.
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
    of = f" Embedding of column_name: {getattr(categorical_column, 'name', categorical_column)}"
    initializer = check_embedding(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, of)
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )


class _SharedEmbeddingFields(NamedTuple):
    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Callable
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class SharedEmbeddingColumn(OfCategories, _SharedEmbeddingFields):
    """An embedding whose table several columns use: they find it in a collection of the graph."""

    __slots__ = ()
    _kind = "embedding_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _tensor_and_ids(self, inputs: Inputs, weights: Any) -> tuple[Tensor, SparseTensor | None]:
        with name_scope(None, self.name):
            ids = self.categorical_column.get_sparse_tensors(inputs, weights)
            table = self._table(weights)
            restore(self.ckpt_to_load_from, self.tensor_name_in_ckpt, table)
            return embedded(self, ids, table), None

    def _table(self, weights: Weights) -> Any:
        shape = (self.categorical_column.num_buckets, self.dimension)
        collection = get_collection(self.shared_embedding_collection_name)
        if not collection:
            table = get_variable(
                "embedding_weights",
                shape=shape,
                dtype=dtypes.float32,
                initializer=self.initializer,
                trainable=self.trainable and weights.trainable,
                collections=weights.collections,
            )
            add_to_collection(self.shared_embedding_collection_name, table)
            return table
        fixes = (
            "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any "
            "variables to this collection. The feature_column library already adds a variable under the hood."
        )
        if len(collection) > 1:
            raise ValueError(f"Collection {collection} can only contain one variable. {fixes}")
        (table,) = collection
        if table.shape != TensorShape(shape):
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains variable "
                f"{table.name} of unexpected shape {table.shape}. Expected shape is {shape}. {fixes}"
            )
        return table


@export("feature_column.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Makes embedding columns of several categorical columns that share one table.

    Args:
      categorical_columns: The categorical columns, of one kind and size.
      dimension: The size of a vector.
      combiner: How the vectors of an example are combined: `"mean"`, `"sqrtn"` or `"sum"`.
      initializer: The initializer of the table; truncated normal if None.
      shared_embedding_collection_name: The name of the collection with the table.
      ckpt_to_load_from: A checkpoint from which the table is initialized.
      tensor_name_in_ckpt: The name of the table in the checkpoint.
      max_norm: If given, each vector is scaled down to this L2 norm.
      trainable: Whether optimizers change the table by default.

    Returns:
      A list of columns.

    Raises:
      ValueError: If the columns do not fit together, or an argument is not valid.
      RuntimeError: In eager mode.
    """
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = check_embedding(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, "")
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    check_alike(ordered)
    name = shared_embedding_collection_name or shared_name(ordered)
    return [
        SharedEmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            name,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
        )
        for column in categorical_columns
    ]


def shared_name(ordered: Sequence[CategoricalColumn]) -> str:
    """What a table of several columns is called by default."""
    return "_".join(column.name for column in ordered) + "_shared_embedding"


def check_alike(columns: Sequence[CategoricalColumn]) -> None:
    """Columns that share a table have ids of one kind."""
    first, buckets = columns[0], getattr(columns[0], "num_buckets", None)
    if not isinstance(first, CategoricalColumn):
        raise ValueError(
            "All categorical_columns must be subclasses of _CategoricalColumn. "
            f"Given: {first}, of type: {type(first)}"
        )
    first = _unweighted(first)
    for column in map(_unweighted, columns[1:]):
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column of the same type. Given column: {first} of type: {type(first)} "
                f"does not match given column: {column} of type: {type(column)}"
            )
        if buckets != column.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of "
                f"buckets. Given column: {first} with buckets: {buckets} does  not match column: {column} "
                f"with buckets: {column.num_buckets}"
            )


def _unweighted(column: Any) -> Any:
    return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column


# ------------------------------------------------------------------------------------------------- counts


class _IndicatorFields(NamedTuple):
    categorical_column: CategoricalColumn


class IndicatorColumn(OfCategories, _IndicatorFields):
    """How often each id comes in each example, or the sum of its weights."""

    __slots__ = ()
    _kind = "indicator_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, inputs: Inputs, state: Any = None) -> Tensor:
        ids, weights = self.categorical_column.get_sparse_tensors(inputs, state)
        depth = self.categorical_column.num_buckets
        if weights is not None:
            weighted = construction.sparse_merge(ids, weights, vocab_size=depth)
            weighted = parts.sparse_slice(weighted, [0, 0], weighted.dense_shape)
            return scatter.scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)
        dense_ids = with_dense.sparse_tensor_to_dense(ids, default_value=-1)
        counted = creation.one_hot(dense_ids, depth=depth, on_value=1.0, off_value=0.0)
        return reductions.reduce_sum(counted, axis=[-2])

    def _tensor_and_ids(self, inputs: Inputs, weights: Any) -> tuple[Tensor, SparseTensor | None]:
        return inputs.get(self, weights), None


@export("feature_column.indicator_column")
def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """Makes a dense column that counts the ids of a categorical column.

    Args:
      categorical_column: The categorical column.

    Returns:
      The column, with an element for each id: its count, or the sum of its weights.
    """
    return IndicatorColumn(categorical_column)
