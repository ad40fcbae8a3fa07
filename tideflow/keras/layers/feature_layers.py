"""Layers of feature columns: dictionaries of features in, one dense tensor out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.feature_column import layers as column_layers
from tideflow.feature_column.base import (
    DenseColumn,
    Inputs,
    SequenceDenseColumn,
    check_batch_sizes,
)
from tideflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from tideflow.feature_column.state import LayerState, NamedLayerState
from tideflow.layers.argument_docs import described
from tideflow.layers.base import Layer

_WORDS = {"feature_columns": "The columns."}


class _Features(Layer):
    _kind: type

    def __init__(
        self, feature_columns: Iterable[Any], trainable: bool = True, name: str | None = None, **kwargs: Any
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = tuple(column_layers.by_name(feature_columns, "FeatureColumn"))
        for column in self._feature_columns:
            if not isinstance(column, self._kind):
                raise ValueError(
                    f"Items of feature_columns must be a {self._kind}. You can wrap a categorical column "
                    f"with an embedding_column or indicator_column. Given: {column}"
                )

    def build(self, input_shape: Any) -> None:
        self._state_manager = LayerState(self, self.trainable)
        for column in self._feature_columns:
            with (
                tf.variable_scope(self.name, use_resource=True, auxiliary_name_scope=False),
                tf.variable_scope(column.name, auxiliary_name_scope=False),
            ):
                column.create_state(self._state_manager)
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
        return {**config, "feature_columns": serialize_feature_columns(self._feature_columns)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})


@export("keras.layers.DenseFeatures")
@described("A layer that makes one dense tensor of the features that its columns describe.", **_WORDS)
class DenseFeatures(_Features):
    _kind = DenseColumn

    def call(self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None) -> Any:
        inputs, tensors = self._inputs(features), []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                made = column.get_dense_tensor(inputs, self._state_manager)
                tensors.append(self._flat(column, made))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        return self._joined(tensors)


class NamedDenseFeatures(DenseFeatures):
    """The layer as TensorFlow 2 has it: each one makes variables of its own, in name scopes alone."""

    def build(self, input_shape: Any) -> None:
        self._state_manager = NamedLayerState(self, self.trainable)
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                column.create_state(self._state_manager)
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
                made, length = column.get_sequence_dense_tensor(inputs, self._state_manager)
                tensors.append(self._flat(column, made))
                lengths.append(length)
        check_batch_sizes(lengths, self._feature_columns)
        return self._joined(tensors), column_layers.all_equal(lengths)
