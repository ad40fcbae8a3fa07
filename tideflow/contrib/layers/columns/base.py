"""What the columns of `tf.contrib.layers` have in common.

They are older than those of `tf.feature_column`, and are such columns too: `tf.feature_column.input_layer`
and its kin take them. A model takes them in the order of their keys, which name a column's kind and settings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tideflow.contrib.framework.model_variables import model_variable
from tideflow.feature_column.base import FeatureColumn, Weights
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import joining, shapes, slicing
from tideflow.ops.math import checks, reductions
from tideflow.ops.sparse import construction
from tideflow.platform import logging
from tideflow.train.checkpoint_utils import init_from_checkpoint
from tideflow.variables.initializers import Zeros
from tideflow.variables.partitioned import PartitionedVariable


class Ids(NamedTuple):
    """What a linear model looks up: a row of a table for each id of an example."""

    ids: SparseTensor
    weights: SparseTensor | None
    count: int
    combiner: str


class LinearEmbeddingLookupArguments(NamedTuple):
    """The same in the form of TensorFlow's."""

    input_tensor: SparseTensor | None
    weight_tensor: SparseTensor | None
    vocab_size: int
    initializer: Any
    combiner: str


class Tensors:
    """A dictionary of features that gets what columns make of them, as columns ask for it."""

    def __init__(self, tensors: dict[Any, Any]):
        self._tensors = tensors

    def get(self, key: Any, state: Any = None) -> Any:
        """The tensor of a feature (by name) or of a column; KeyError for a feature that is missing."""
        if key not in self._tensors and isinstance(key, OldColumn):
            logging.debug("Transforming feature_column %s", key)
            key.insert_transformed_feature(self._tensors)
        return self._tensors[key]


class OldColumn(FeatureColumn):
    """A column of `tf.contrib.layers`: a tuple of its settings."""

    _unkeyed: tuple[str, ...] = ()  # settings that do not tell columns apart
    sequences: str = "unsupported"  # whether sequences can have such a column: also "forbidden", "supported"

    def __repr__(self) -> str:
        return f"_{super().__repr__()}"  # the name of the kind in keys, which decide the order

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.io.parse_example` must be asked for, so that the column finds its features."""
        raise TypeError(f"Not supported _FeatureColumn type. Given column is {self}")

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.config

    @property
    def key(self) -> str:
        """What tells columns apart, and what they are sorted by."""
        if not self._unkeyed:
            return str(self)
        fields = [f"{name}={getattr(self, name)}" for name in self._fields if name not in self._unkeyed]
        return f"_{type(self).__name__}({', '.join(fields)})"

    @property
    def parents(self) -> tuple[OldColumn, ...]:
        """The columns that this one is made of."""
        return ()

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's tensor to a dictionary of features and tensors of other columns."""
        columns_to_tensors[self] = self.transform_feature(Tensors(columns_to_tensors))

    def input_layer(self, tensor: Any, weights: Weights, rank: int = 2) -> Tensor:
        """The column's tensor as a neural network takes it, with so many axes."""
        raise NotImplementedError(f"No input layer for column {self}.")

    def ids(self, tensor: Any) -> Ids | None:
        """What a linear model looks up; None where it multiplies a dense tensor."""
        return None

    def dense(self, tensor: Any) -> Tensor:
        """What a linear model multiplies with weights."""
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    # Programs that look up what columns are made of call the steps above by these names of TensorFlow's.

    def _to_dnn_input_layer(
        self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2
    ) -> Tensor:
        return self.input_layer(input_tensor, Weights.of_model(weight_collections, trainable), output_rank)

    def _to_dense_tensor(self, input_tensor: Any) -> Tensor:
        return self.dense(input_tensor)

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> LinearEmbeddingLookupArguments:
        found = self.ids(input_tensor)
        if found is None:
            raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")
        return LinearEmbeddingLookupArguments(found.ids, found.weights, found.count, Zeros(), found.combiner)

    def restore(self, table: list[Any]) -> None:
        """Lets the column's weights begin with what a checkpoint has, where the column names one."""
        path = getattr(self, "ckpt_to_load_from", None)
        if path is not None:
            init_from_checkpoint(path, {self.tensor_name_in_ckpt: table[0] if len(table) == 1 else table})


def check_checkpoint(path: str | None, tensor_name: str | None) -> None:
    """A checkpoint and the name of a tensor in it come together."""
    if (path is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")


def table(name: str, shape: list[int], initializer: Any, weights: Weights) -> list[Any]:
    """A variable of a column, as a list of its parts."""
    made = model_variable(
        name,
        shape=shape,
        dtype=dtypes.float32,
        initializer=initializer,
        trainable=weights.trainable,
        collections=weights.collections,
    )
    return list(made) if isinstance(made, PartitionedVariable) else [made]


def inner_flatten(inputs: Any, rank: int) -> Any:
    """One axis of all from the one before the given rank on, of a tensor or a sparse tensor."""
    with name_scope(None, "InnerFlatten", [inputs]):
        if isinstance(inputs, SparseTensor):
            return _sparse_inner_flatten(inputs, rank)
        enough = checks.assert_rank_at_least(inputs, rank, message="inputs has rank less than new_rank")
        with control_dependencies([enough]):
            outer = slicing.strided_slice(shapes.shape(inputs), [0], [rank - 1])
            flat = shapes.reshape(inputs, joining.concat([outer, [-1]], 0))
        if inputs.shape.ndims is not None:
            flat.set_shape([*inputs.shape[: rank - 1], inputs.shape[rank - 1 :].num_elements()])
        return flat


def _sparse_inner_flatten(inputs: SparseTensor, rank: int) -> SparseTensor:
    known = inputs.dense_shape.shape.as_list()[0]
    if known < rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {rank}. Received rank "
            f"{known}, shape {inputs.shape}"
        )
    sizes = inputs.dense_shape
    inner = [reductions.reduce_prod(sizes[rank - 1 :])]
    return construction.sparse_reshape(inputs, joining.concat([sizes[: rank - 1], inner], 0))


def of_rank(tensor: Any, rank: int, name: str) -> Any:
    """A feature with so many axes: one more at its end, or the last ones as one."""
    known = tensor.shape.ndims
    if known is None and isinstance(tensor, SparseTensor):
        known = tensor.dense_shape.shape.as_list()[0]
    if known is None or rank < known:
        return inner_flatten(tensor, rank)
    if rank > known + 1:
        raise ValueError(
            f"Error while processing column {name}. Rank of input Tensor ({known}) should be the same as "
            f"output_rank ({rank}). For example, sequence data should typically be 3 dimensional (rank 3) "
            "while non-sequence data is typically 2 dimensional (rank 2)."
        )
    if rank == known:
        return tensor
    if isinstance(tensor, SparseTensor):
        return construction.sparse_reshape(tensor, joining.concat([tensor.dense_shape, [1]], 0))
    return shapes.expand_dims(tensor, -1, name="expand_dims")


def vector(size: int) -> TensorShape:
    """The shape of what a dense column gives for an example."""
    return TensorShape([size])
