"""Embeddings of several columns in one table, as TensorFlow 2 makes them: the columns share an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from tideflow.feature_column.base import CategoricalColumn, Inputs
from tideflow.feature_column.dense import (
    OfCategories,
    check_alike,
    check_embedding,
    embedded,
    restore,
    shared_name,
)
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike


class SharedEmbeddingColumnCreator:
    """Who makes the columns of one table, and the table in each graph that they are used in."""

    def __init__(
        self,
        dimension: int,
        initializer: Callable,
        ckpt_to_load_from: str | None,
        tensor_name_in_ckpt: str | None,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ):
        self.dimension = dimension
        self._initializer, self._trainable, self._name = initializer, trainable, name
        self._checkpoint, self._tensor_name = ckpt_to_load_from, tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._tables: WeakKeyDictionary[Graph, Any] = WeakKeyDictionary()

    def __call__(
        self, categorical_column: CategoricalColumn, combiner: str, max_norm: float | None
    ) -> SharedTableColumn:
        return SharedTableColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self) -> Any:
        """The table, in the current graph."""
        graph = get_default_graph()
        if graph not in self._tables:
            table = get_variable(
                name=self._name,
                shape=(self._num_buckets, self.dimension),
                dtype=dtypes.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            restore(self._checkpoint, self._tensor_name, table)
            self._tables[graph] = table
        return self._tables[graph]


class _SharedTableFields(NamedTuple):
    categorical_column: CategoricalColumn
    shared_embedding_column_creator: SharedEmbeddingColumnCreator
    combiner: str
    max_norm: float | None


class SharedTableColumn(OfCategories, _SharedTableFields):
    """A categorical column's ids as rows of a table that other columns use too."""

    __slots__ = ()
    _kind = "embedding_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _tensor_and_ids(self, inputs: Inputs, weights: Any) -> tuple[Tensor, SparseTensor | None]:
        with name_scope(None, self.name):
            ids = self.categorical_column.get_sparse_tensors(inputs, weights)
            return embedded(self, ids, self.shared_embedding_column_creator.embedding_weights), None

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        """`input_layer` and `linear_model` take other columns."""
        raise ValueError(
            "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. "
            "Please use `DenseFeatures` or `LinearModel` instead."
        )

    _parse_example_spec = property(_refused)  # type: ignore[assignment]
    _variable_shape = property(_refused)  # type: ignore[assignment]
    _transform_feature = _refused
    _get_dense_tensor = _refused
    _get_sequence_dense_tensor = _refused


def shared_embeddings(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedTableColumn]:
    """Makes embedding columns of several categorical columns that share one table.

    Args:
      categorical_columns: The categorical columns, of one kind and size.
      dimension: The size of a vector.
      combiner: How the vectors of an example are combined: `"mean"`, `"sqrtn"` or `"sum"`.
      initializer: The initializer of the table; truncated normal if None.
      shared_embedding_collection_name: The name of the table.
      ckpt_to_load_from: A checkpoint from which the table is initialized.
      tensor_name_in_ckpt: The name of the table in the checkpoint.
      max_norm: If given, each vector is scaled down to this L2 norm.
      trainable: Whether optimizers change the table by default.

    Returns:
      A list of columns, for `DenseFeatures` and the like.

    Raises:
      ValueError: If the columns do not fit together, or an argument is not valid.
      RuntimeError: In eager mode.
    """
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = check_embedding(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, "")
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    check_alike(ordered)
    creator = SharedEmbeddingColumnCreator(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        ordered[0].num_buckets,
        trainable,
        shared_embedding_collection_name or shared_name(ordered),
    )
    return [creator(column, combiner, max_norm) for column in categorical_columns]
