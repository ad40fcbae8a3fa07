"""Layers of feature columns: dictionaries of features in, one dense tensor out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.feature_column import layers as column_layers
from tideflow.feature_column.base import (
    DenseColumn,
    FeatureColumn,
    Inputs,
    SequenceDenseColumn,
    Weights,
    check_batch_sizes,
    dense_tensor,
)
from tideflow.graph.dtypes import DType
from tideflow.layers.argument_docs import described
from tideflow.layers.base import Layer
from tideflow.variables import keras_initializers
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

_WORDS = {"feature_columns": "The columns."}


def _serialized(value: Any) -> Any:
    """A column, or what one is made of, as plain values."""
    if isinstance(value, FeatureColumn):
        config = {name: _serialized(field) for name, field in value._asdict().items()}
        return {"class_name": type(value).__name__, "config": config}
    if isinstance(value, DType):
        return value.name
    if hasattr(value, "get_config") or callable(value):
        return serialize_keras_object(value)
    return value


def _classes(base: type) -> dict[str, type]:
    """The classes of `tf.feature_column` by name: those of contrib have the same names."""
    found = {base.__name__: base} if base.__module__.startswith("tideflow.feature_column.") else {}
    for inner in base.__subclasses__():
        found.update(_classes(inner))
    return found


def _deserialized(config: Any, custom_objects: Mapping[str, Any] | None, known: dict[Any, Any]) -> Any:
    """The column of plain values; equal columns are one."""
    if isinstance(config, str):
        return config
    classes = {**_classes(FeatureColumn), **(custom_objects or {})}
    if config["class_name"] not in classes:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}")

    def field(name: str, value: Any) -> Any:
        if isinstance(value, dict) and value.get("class_name") in classes:
            return _deserialized(value, custom_objects, known)
        if name == "dtype":
            return tf.as_dtype(value)
        if name == "initializer":
            return keras_initializers.get(value)
        if name == "normalizer_fn" and value is not None:
            return deserialize_keras_object(value, {}, custom_objects, "function")
        if isinstance(value, (list, tuple)):
            return tuple(field("", item) for item in value)
        return value

    made = classes[config["class_name"]](**{name: field(name, v) for name, v in config["config"].items()})
    return known.setdefault(made, made)


class _Features(Layer):
    _kind: type

    def __init__(
        self, feature_columns: Iterable[Any], trainable: bool = True, name: str | None = None, **kwargs: Any
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = tuple(column_layers.by_name(feature_columns))
        for column in self._feature_columns:
            if not isinstance(column, self._kind):
                raise ValueError(
                    f"Items of feature_columns must be a {self._kind}. You can wrap a categorical column "
                    f"with an embedding_column or indicator_column. Given: {column}"
                )

    def build(self, input_shape: Any) -> None:
        tables = {}
        weights = Weights.of_model(None, self.trainable)
        for column in self._feature_columns:
            if hasattr(column, "table"):
                with (
                    tf.variable_scope(self.name, use_resource=True, auxiliary_name_scope=False),
                    tf.variable_scope(column.name, auxiliary_name_scope=False),
                ):
                    tables[column] = column.table(weights)
                self._track(tables[column])
                self._weights_by_name["embedding_weights"] = tables[column]
        self.__dict__["_weights_of_columns"] = weights._replace(tables=tables)
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
        elements = sum(column.variable_shape.num_elements() for column in self._feature_columns)
        shape = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([*shape[: self._outer_axes], elements])

    _outer_axes = 1

    def _inputs(self, features: Any) -> Inputs:
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        return Inputs(features)

    def _flat(self, column: Any, tensor: Any) -> Any:
        sizes = tf.shape(tensor)
        outer = [sizes[axis] for axis in range(self._outer_axes)]
        return tf.reshape(tensor, [*outer, column.variable_shape.num_elements()])

    def _joined(self, tensors: list[Any]) -> Any:
        check_batch_sizes(tensors, self._feature_columns)
        return tf.concat(tensors, -1)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        config = Layer.get_config(self)
        return {**config, "feature_columns": [_serialized(column) for column in self._feature_columns]}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        known: dict[Any, Any] = {}
        columns = [_deserialized(each, custom_objects, known) for each in config["feature_columns"]]
        return cls(**{**config, "feature_columns": columns})


@export("keras.layers.DenseFeatures")
@described("A layer that makes one dense tensor of the features that its columns describe.", **_WORDS)
class DenseFeatures(_Features):
    _kind = DenseColumn

    def call(self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None) -> Any:
        inputs, tensors = self._inputs(features), []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                made = dense_tensor(column, inputs, self._weights_of_columns)
                tensors.append(self._flat(column, made))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        return self._joined(tensors)


class NamedDenseFeatures(DenseFeatures):
    """The layer as TensorFlow 2 has it: each one makes variables of its own, in name scopes alone."""

    def build(self, input_shape: Any) -> None:
        weights, tables = Weights.of_model(None, self.trainable), {}
        for column in self._feature_columns:
            if hasattr(column, "table"):
                with tf.name_scope(column.name):
                    tables[column] = self.add_weight(
                        "embedding_weights",
                        (column.categorical_column.num_buckets, column.dimension),
                        tf.float32,
                        column.initializer,
                        trainable=self.trainable and column.trainable,
                    )
        self.__dict__["_weights_of_columns"] = weights._replace(tables=tables)
        self.built = True


NamedDenseFeatures.__name__ = NamedDenseFeatures.__qualname__ = "DenseFeatures"


@export("keras.experimental.SequenceFeatures")
@described(
    "A layer that makes one dense tensor, and the lengths, of sequences that its columns describe.", **_WORDS
)
class SequenceFeatures(_Features):
    _kind = SequenceDenseColumn
    _outer_axes = 2

    def call(self, features: Any) -> Any:
        inputs, tensors, lengths = self._inputs(features), [], []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                made, length = column.get_sequence_dense_tensor(inputs, self._weights_of_columns)
                tensors.append(self._flat(column, made))
                lengths.append(length)
        check_batch_sizes(lengths, self._feature_columns)
        return self._joined(tensors), column_layers.all_equal(lengths)
