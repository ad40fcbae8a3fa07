"""What feature columns are: descriptions of how a raw feature becomes a tensor that a model takes.

A dense column gives a tensor of a known shape for each example; a categorical column gives sparse ids below a
number of buckets, and weights if it has any; a sequence column gives a tensor for each step of an example.
Columns are tuples of their settings: equal ones are the same column.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from inspect import getattr_static
from typing import Any, NamedTuple

from tideflow.feature_column import serialization
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape, dimension_value
from tideflow.ops.arrays import creation, indexing, joining, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, checks, segments, unary
from tideflow.ops.sparse import construction


class IdWeightPair(NamedTuple):
    """The ids of a categorical column, and their weights where it has any."""

    id_tensor: SparseTensor
    weight_tensor: SparseTensor | None


class TensorSequenceLengthPair(NamedTuple):
    """The steps of a sequence column, and how many each example has."""

    dense_tensor: Tensor
    sequence_length: Tensor


class Weights(NamedTuple):
    """How the variables of columns are made."""

    collections: list[Any] | None
    trainable: bool | None

    @classmethod
    def of_model(cls, collections: Sequence[Any] | None, trainable: bool) -> Weights:
        """Variables of a model, which are in two collections at least."""
        standard = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES)
        given = list(collections or ())
        return cls([*given, *(key for key in standard if key not in given)], trainable)


class FeatureColumn(abc.ABC):
    """A description of how a feature, or another column, becomes a tensor.

    TensorFlow has two protocols of columns. In the second one a column is asked with a `StateManager`, or
    None, which has its variables. In the first one, whose names begin with an underscore, it is asked with
    the collections of its variables and makes them itself. Each method answers for its counterpart, so that
    a class has one of the two, and columns of both kinds stand beside each other.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("tideflow.feature_column."):
            serialization.CLASSES[cls.__name__] = cls

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of what the column gives."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` must be asked for, so that the column finds its features."""
        _check_defined(self, FeatureColumn, "_parse_example_spec")
        return self._parse_example_spec

    def transform_feature(self, inputs: Inputs, state: Any = None) -> Any:
        """The tensor of the column, from other columns and features of `inputs`."""
        _check_defined(self, FeatureColumn, "_transform_feature")
        return self._transform_feature(inputs)

    def create_state(self, state: Any) -> None:  # noqa: B027  # most columns have none
        """Makes the column's variables, where it has any, in a `StateManager`."""

    @property
    def parents(self) -> list[Any]:
        """The features, by name, and the columns that the column is made of."""
        found: list[Any] = []
        for field in getattr(self, "_fields", ()):
            if field in _PARENTS:
                value = getattr(self, field)
                found += value if isinstance(value, tuple) and field == "keys" else [value]
        return found

    @property
    def variable_scope_name(self) -> str:
        """The scope of the column's variables."""
        return self.name

    @property
    def _is_v2_column(self) -> bool:
        """Whether the column, and those that it is made of, have the second protocol."""
        own = type(self).transform_feature is not FeatureColumn.transform_feature
        return own and all(isinstance(parent, str) or parent._is_v2_column for parent in self.parents)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Inputs) -> Any:
        return self.transform_feature(inputs, None)

    @property
    def _var_scope_name(self) -> str:
        return self.variable_scope_name

    def _get_config(self) -> dict[str, Any]:
        return serialization.config_of(self)

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        return serialization.made_of(cls, config, custom_objects, columns_by_name)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(self, tuple):
            return self is other
        return type(self) is type(other) and tuple.__eq__(self, other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self) if isinstance(self, tuple) else object.__hash__(self)

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)


class DenseColumn(FeatureColumn):
    """A column that gives a tensor of one shape for every example."""

    @property
    def variable_shape(self) -> TensorShape:
        """The shape for one example."""
        _check_defined(self, DenseColumn, "_variable_shape")
        return TensorShape(self._variable_shape)

    def get_dense_tensor(self, inputs: Inputs, weights: Any) -> Tensor:
        """The tensor of all examples."""
        _check_defined(self, DenseColumn, "_get_dense_tensor")
        return self._get_dense_tensor(inputs, **_arguments(weights))

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(
        self, inputs: Inputs, weight_collections: Any = None, trainable: bool | None = None
    ) -> Tensor:
        return self.get_dense_tensor(inputs, Weights(weight_collections, trainable))


class CategoricalColumn(FeatureColumn):
    """A column that gives sparse ids."""

    IdWeightPair = IdWeightPair

    @property
    def num_buckets(self) -> int:
        """What the ids are below."""
        _check_defined(self, CategoricalColumn, "_num_buckets")
        return self._num_buckets

    def get_sparse_tensors(self, inputs: Inputs, state: Any = None) -> IdWeightPair:
        """The ids of all examples, and their weights where there are any."""
        if type(self)._get_sparse_tensors is not CategoricalColumn._get_sparse_tensors:
            return self._get_sparse_tensors(inputs, **_arguments(state))
        return IdWeightPair(inputs.get(self, state), None)

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(
        self, inputs: Inputs, weight_collections: Any = None, trainable: bool | None = None
    ) -> IdWeightPair:
        return self.get_sparse_tensors(inputs, None)


class SequenceDenseColumn(FeatureColumn):
    """A column that gives a tensor of one shape for every step of every example."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape for one step."""

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, inputs: Inputs, weights: Any) -> TensorSequenceLengthPair:
        """The tensor of all steps, and how many each example has."""

    def _get_sequence_dense_tensor(
        self, inputs: Inputs, weight_collections: Any = None, trainable: bool | None = None
    ) -> TensorSequenceLengthPair:
        return self.get_sequence_dense_tensor(inputs, Weights(weight_collections, trainable))


_PARENTS = ("key", "keys", "source_column", "categorical_column", "weight_feature_key")


def _check_defined(column: FeatureColumn, base: type, name: str) -> None:
    """A class of columns has each method in one of the two protocols at least."""
    if getattr_static(type(column), name) is getattr_static(base, name):
        raise TypeError(
            f"{type(column).__name__} has neither {name} nor {name[1:]}, which a column must have."
        )


def _arguments(weights: Any) -> dict[str, Any]:
    """How a column's weights are made, as the first protocol says it."""
    of_first = isinstance(weights, Weights)
    return {
        "weight_collections": weights.collections if of_first else None,
        "trainable": weights.trainable if of_first else None,
    }


def dense_tensor(column: Any, inputs: Inputs, weights: Weights) -> Tensor:
    """The tensor of all examples, of any dense column, as the first protocol gives it."""
    return column._get_dense_tensor(inputs, **_arguments(weights))


class Inputs:
    """The features of a batch, and what columns have made of them: each is made once."""

    _column_kind = "FeatureColumn"

    def __init__(self, features: Mapping[Any, Any]):
        self._features = dict(features)
        self._tensors: dict[Any, Any] = {}

    def get(self, key: Any, state: Any = None) -> Any:
        """The tensor of a feature (by name) or of a column."""
        if key not in self._tensors:
            self._tensors[key] = self._made(key, state)
        return self._tensors[key]

    def _made(self, key: Any, state: Any) -> Any:
        if key in self._features:
            return self._as_rows(key, convert_to_tensor_or_sparse_tensor(self._features[key]))
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        if not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "{self._column_kind}". Provided: {key}')
        tensor = self._transformed(key, state)
        if tensor is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return tensor

    def _transformed(self, column: FeatureColumn, state: Any) -> Any:
        return column.transform_feature(self, state)

    @staticmethod
    def _as_rows(key: Any, feature: Any) -> Any:
        """The feature with an axis of values behind the axis of examples."""
        message = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
        rank = feature.shape.ndims
        if rank == 0:
            raise ValueError(message)
        if rank is not None:
            return feature if rank > 1 else _expanded(feature)
        with control_dependencies([checks.assert_positive(shapes.rank(feature), message=message)]):
            return conditionals.cond(
                binary.equal(1, shapes.rank(feature)), lambda: _expanded(feature), lambda: feature
            )


class LazyBuilder(Inputs):
    """As `input_layer` and `linear_model` ask columns: a class with both protocols by its first one."""

    _column_kind = "_FeatureColumn"

    def _transformed(self, column: FeatureColumn, state: Any) -> Any:
        return column._transform_feature(self)


def _expanded(feature: Any) -> Any:
    if isinstance(feature, SparseTensor):
        return construction.sparse_reshape(feature, [shapes.shape(feature)[0], 1])
    return shapes.expand_dims(feature, -1)


def to_sparse(feature: Any, ignore_value: Any = None) -> SparseTensor:
    """A dense feature as a sparse one, without the values that stand for nothing: "", -1, or as given."""
    feature = convert_to_tensor_or_sparse_tensor(feature)
    if isinstance(feature, SparseTensor):
        return feature
    with name_scope(None, "to_sparse_input", (feature, ignore_value)):
        if ignore_value is None:
            ignore_value = _nothing_of(feature.dtype)
        ignore_value = casting.cast(ignore_value, feature.dtype, name="ignore_value")
        indices = indexing.where_v2(binary.not_equal(feature, ignore_value), name="indices")
        return SparseTensor(
            indices,
            indexing.gather_nd(feature, indices, name="values"),
            shapes.shape(feature, out_type=dtypes.int64, name="dense_shape"),
        )


def _nothing_of(dtype: DType) -> Any:
    if dtype == dtypes.string:
        return ""
    return -1 if dtype.is_integer else dtype.as_numpy_dtype(0)


def sequence_lengths(ids: SparseTensor, num_elements: int = 1) -> Tensor:
    """How many steps every example has: the last that has a value, in steps of so many elements."""
    with name_scope(None, "sequence_length") as scope:
        rows, columns = ids.indices[:, 0], ids.indices[:, 1]
        columns += creation.ones_like(columns)
        lengths = segments.segment_max(columns, segment_ids=rows)
        lengths = casting.cast(unary.ceil(lengths / num_elements), dtypes.int64)
        missing = shapes.shape(ids)[:1] - shapes.shape(lengths)[:1]  # examples without steps, at the end
        return joining.concat([lengths, creation.zeros(missing, dtype=lengths.dtype)], 0, name=scope)


# -------------------------------------------------------------------------------------------------- checks


def check_key(key: Any) -> None:
    """The name of a feature is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def check_string_or_integer(dtype: DType, what: str) -> None:
    """Categories are strings or integers."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{what} dtype must be string or integer. dtype: {dtype}.")


def check_number(dtype: DType, key: str) -> None:
    """Numbers are integers or floats."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")


def check_normalizer(normalizer_fn: Any) -> None:
    """What changes the numbers of a column is a function."""
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def checked_shape(shape: Any, key: str) -> tuple[int, ...]:
    """The shape of a numeric column: sizes above 0."""
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def checked_columns(columns: Any, kind: str = "_FeatureColumn") -> list[FeatureColumn]:
    """The columns of a layer: at least one, and no two of one name. `kind` is what TensorFlow calls them."""
    if isinstance(columns, FeatureColumn):
        columns = [columns]
    if isinstance(columns, Iterator):
        columns = list(columns)
    if isinstance(columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"Items of feature_columns must be a {kind}. Given (type {type(column)}): {column}."
            )
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, FeatureColumn] = {}
    for column in columns:
        if column.name in by_name:
            other = by_name[column.name]
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {other}. This usually means "
                "that these columns refer to same base feature. Either one must be discarded or a duplicated "
                "but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    return list(columns)


def check_batch_sizes(tensors: Sequence[Tensor], columns: Sequence[FeatureColumn]) -> None:
    """All columns give as many examples, as far as the graph tells."""
    known = [
        (column.name, dimension_value(tensor.shape[0]))
        for column, tensor in zip(columns, tensors, strict=True)
        if dimension_value(tensor.shape[0]) is not None
    ]
    for name, size in known[1:]:
        first, expected = known[0]
        if size != expected:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({first}, {name}): ({expected}, {size})"
            )
