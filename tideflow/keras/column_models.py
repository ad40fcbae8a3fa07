"""The linear model of feature columns as a Keras model, as the canned estimators of TensorFlow 2 have it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tideflow as tf
from tideflow.feature_column.base import CategoricalColumn, DenseColumn, Inputs, check_batch_sizes
from tideflow.feature_column.layers import by_name, sum_of_dense, sum_of_ids
from tideflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from tideflow.feature_column.state import LayerState
from tideflow.keras.engine.training import Model
from tideflow.layers.base import Layer


class _LinearModelLayer(Layer):
    """The weighted sum of columns and a bias."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = tuple(by_name(feature_columns, "FeatureColumn"))
        for column in self._feature_columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError(
                    "Items of feature_columns must be either a DenseColumn or CategoricalColumn. "
                    f"Given: {column}"
                )
        self._units, self._sparse_combiner = units, sparse_combiner
        self._state_manager = LayerState(self, self.trainable)
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        with tf.variable_scope(self.name, auxiliary_name_scope=False):
            for column in self._feature_columns:
                with tf.variable_scope(column.name, auxiliary_name_scope=False):
                    column.create_state(self._state_manager)
                    self._make_variable(column, "weights", (_size(column), self._units))
            self.bias = self._make_variable(self, "bias_weights", [self._units])
        self.built = True

    def _make_variable(self, owner: Any, name: str, shape: Any) -> Any:
        return self._state_manager.create_variable(
            owner,
            name=name,
            shape=shape,
            dtype=tf.float32,
            initializer=tf.zeros_initializer(),
            trainable=self.trainable,
        )

    def call(self, features: Any) -> Any:
        if not isinstance(features, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        with tf.name_scope(self.name):
            inputs, sums = Inputs(features), []
            for column in self._feature_columns:
                with tf.name_scope(column.name):
                    sums.append(self._weighted_sum(column, inputs))
            check_batch_sizes(sums, self._feature_columns)
            total = tf.add_n(sums, name="weighted_sum_no_bias")
            return tf.nn.bias_add(total, self.bias, name="weighted_sum")

    def _weighted_sum(self, column: Any, inputs: Inputs) -> Any:
        state = self._state_manager
        table = state.get_variable(column, "weights")
        if isinstance(column, CategoricalColumn):
            return sum_of_ids(column.get_sparse_tensors(inputs, state), table, self._sparse_combiner)
        return sum_of_dense(column, column.get_dense_tensor(inputs, state), table)

    def get_config(self) -> dict[str, Any]:
        own = {
            "feature_columns": serialize_feature_columns(self._feature_columns),
            "units": self._units,
            "sparse_combiner": self._sparse_combiner,
        }
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})


def _size(column: Any) -> int:
    """How many weights a column has for each unit."""
    categorical = isinstance(column, CategoricalColumn)
    return column.num_buckets if categorical else column.variable_shape.num_elements()


class LinearModel(Model):
    """A weighted sum of columns and a bias, as a model of one layer."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.layer = _LinearModelLayer(
            feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs
        )

    def call(self, features: Any) -> Any:
        """The sums of a batch of features."""
        return self.layer(features)

    @property
    def bias(self) -> Any:
        """The variable that is added to the sums."""
        return self.layer.bias
