"""The models of canned estimators as TensorFlow 2 has them: Keras models, which Keras's optimizers train."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.baseline import _LEARNING_RATE as BASELINE_LEARNING_RATE
from tideflow.estimator.canned.baseline import batch_size_of
from tideflow.estimator.canned.combined import _DNN_LEARNING_RATE, _LINEAR_LEARNING_RATE, check_no_replicas
from tideflow.estimator.canned.linear import _LEARNING_RATE as LINEAR_LEARNING_RATE
from tideflow.estimator.canned.linear import fraction_of_zeros, sdca_model_fn
from tideflow.estimator.canned.logits import check_features, summarize_layer
from tideflow.estimator.canned.optimizers import keras_optimizer_of
from tideflow.estimator.canned.sdca import LinearSDCA
from tideflow.estimator.heads.base import SUM_OVER_BATCH_SIZE, Head, scaled_for_replicas
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.feature_column.base import FeatureColumn
from tideflow.graph.operation import Operation, Tensor
from tideflow.keras.column_models import LinearModel
from tideflow.keras.layers.feature_layers import NamedDenseFeatures

ModelFn = Callable[..., EstimatorSpec]


def _check_columns(feature_columns: Sequence[Any]) -> None:
    if not all(isinstance(column, FeatureColumn) for column in feature_columns):
        raise ValueError(
            "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. Please use "
            "the columns that the functions of tf.feature_column make."
        )


def _counting_steps(optimizer: Any) -> Any:
    """The optimizer, which counts its updates as the global step."""
    optimizer.iterations = tf.train.get_or_create_global_step()
    return optimizer


# --------------------------------------------------------------------------------------------------- linear


def linear_part(
    units: int, feature_columns: Sequence[Any], sparse_combiner: str, features: dict[str, Any]
) -> tuple[Tensor, list[Any]]:
    """The logits of a linear model, and its variables."""
    _check_columns(feature_columns)
    model = LinearModel(feature_columns, units, sparse_combiner, name="linear/linear_model")
    logits = model(features)
    if units > 1:
        tf.summary.histogram("bias", model.bias)
    else:
        tf.summary.scalar("bias", model.bias[0])
    weights = [variable for variable in model.variables if variable is not model.bias]
    tf.summary.scalar("fraction_of_zero_weights", fraction_of_zeros(weights))
    return logits, model.variables


def linear_model_fn(
    head: Head, feature_columns: Sequence[Any], optimizer: Any, sparse_combiner: str
) -> ModelFn:
    """The model function of linear models."""
    columns = tuple(feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        check_features(features)
        if isinstance(optimizer, LinearSDCA):
            with tf.variable_scope("linear", values=tuple(features.values())):
                return sdca_model_fn(features, labels, mode, head, columns, optimizer)
        logits, variables = linear_part(head.logits_dimension, columns, sparse_combiner, features)
        trains: dict[str, Any] = {}
        if mode == ModeKeys.TRAIN:
            rate = min(LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))
            chosen = optimizer or tf.keras.optimizers.Ftrl(learning_rate=rate)
            trains["optimizer"] = _counting_steps(keras_optimizer_of(chosen, LINEAR_LEARNING_RATE))
        return head.create_estimator_spec(
            features, mode, logits, labels, trainable_variables=variables, **trains
        )

    return model_fn


# ----------------------------------------------------------------------------------------------------- deep


class DeepModel(tf.keras.Model):
    """Dense layers on top of feature columns."""

    def __init__(
        self,
        units: int,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        activation_fn: Callable | None,
        dropout: float | None,
        batch_norm: bool,
        name: str | None = None,
    ):
        super().__init__(name=name)
        _check_columns(feature_columns)
        with tf.name_scope("input_from_feature_columns") as scope:
            self._input_layer = NamedDenseFeatures(feature_columns, name=f"{scope}input_layer")
        self._hidden_layers = []
        self._dropout_layers = []
        self._batch_norm_layers = []
        for number, size in enumerate(hidden_units):
            with tf.name_scope(f"hiddenlayer_{number}") as scope:
                layer_name = scope.rstrip("/")
            self._hidden_layers.append(_dense(size, activation_fn, layer_name))
            if dropout is not None:
                self._dropout_layers.append(tf.keras.layers.Dropout(rate=dropout))
            if batch_norm:
                self._batch_norm_layers.append(
                    tf.keras.layers.BatchNormalization(
                        momentum=0.999, trainable=True, name=f"{layer_name}/batchnorm_{number}"
                    )
                )
        with tf.name_scope("logits") as scope:
            self._logits_layer = _dense(units, None, scope.rstrip("/"))

    def call(self, features: Any, mode: str) -> Tensor:
        """The logits of a batch of features."""
        is_training = mode == ModeKeys.TRAIN
        net = self._input_layer(features)
        for number, layer in enumerate(self._hidden_layers):
            net = layer(net)
            if self._dropout_layers and is_training:
                net = self._dropout_layers[number](net, training=True)
            if self._batch_norm_layers:
                net = self._batch_norm_layers[number](net, training=is_training)
            summarize_layer(net, layer.name)
        logits = self._logits_layer(net)
        summarize_layer(logits, self._logits_layer.name)
        return logits


def _dense(units: int, activation: Callable | None, name: str) -> Any:
    initializer = tf.glorot_uniform_initializer()
    return tf.keras.layers.Dense(units, activation, kernel_initializer=initializer, name=name)


def deep_part(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Callable | None,
    dropout: float | None,
    batch_norm: bool,
    features: dict[str, Any],
    mode: str,
) -> tuple[Tensor, list[Any], list[Any]]:
    """The logits of a deep model, its variables, and the operations that a step runs besides."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    model = DeepModel(units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn")
    logits = model(features, mode)
    return logits, model.trainable_variables, model.updates


def dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    optimizer: Any = "Adagrad",
    activation_fn: Callable | None = tf.nn.relu,
    dropout: float | None = None,
    config: RunConfig | None = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> EstimatorSpec:
    """The model function of deep models."""
    check_features(features)
    logits, variables, updates = deep_part(
        head.logits_dimension,
        hidden_units,
        feature_columns,
        activation_fn,
        dropout,
        batch_norm,
        features,
        mode,
    )
    trains: dict[str, Any] = {}
    if mode == ModeKeys.TRAIN:
        trains["optimizer"] = _counting_steps(keras_optimizer_of(optimizer))
    return head.create_estimator_spec(
        features, mode, logits, labels, trainable_variables=variables, update_ops=updates, **trains
    )


# ------------------------------------------------------------------------------------------------- combined


class Combined:
    """A model function of both models; each has columns and an optimizer of its own."""

    def __init__(
        self,
        head: Head,
        linear_feature_columns: Sequence[Any] | None,
        linear_optimizer: Any,
        dnn_feature_columns: Sequence[Any] | None,
        dnn_optimizer: Any,
        dnn_hidden_units: Sequence[int] | None,
        dnn_activation_fn: Callable | None,
        dnn_dropout: float | None,
        batch_norm: bool,
        linear_sparse_combiner: str,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
    ):
        self._head, self._loss_reduction = head, loss_reduction
        self._linear_columns = tuple(linear_feature_columns or ())
        self._dnn_columns = tuple(dnn_feature_columns or ())
        if not self._linear_columns and not self._dnn_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        self._linear_optimizer, self._dnn_optimizer = linear_optimizer, dnn_optimizer
        self._hidden_units, self._activation_fn = dnn_hidden_units, dnn_activation_fn
        self._dropout, self._batch_norm = dnn_dropout, batch_norm
        self._sparse_combiner = linear_sparse_combiner

    def model_fn(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        check_features(features)
        parts: list[tuple[Tensor, Any, list[Any], list[Any]]] = []  # logits, optimizer, variables, updates
        if self._dnn_columns:
            parts.append(self._deep(features, mode))
        if self._linear_columns:
            parts.append(self._linear(features, mode))
        if mode == ModeKeys.TRAIN:
            _counting_steps(parts[0][1])

        def train_op_fn(loss: Tensor) -> Operation:
            scaled = scaled_for_replicas(loss, self._loss_reduction)
            steps: list[Any] = []
            for _, optimizer, variables, updates in parts:
                steps += [*optimizer.get_updates(scaled, variables), *updates]
            return tf.group(*steps)

        logits = [part[0] for part in parts]
        return self._head.create_estimator_spec(
            features,
            mode,
            logits[0] + logits[1] if len(logits) == 2 else logits[0],
            labels,
            train_op_fn=train_op_fn,
        )

    def _deep(self, features: Any, mode: str) -> tuple[Tensor, Any, list[Any], list[Any]]:
        optimizer = self._chosen(self._dnn_optimizer, _DNN_LEARNING_RATE, mode)
        if not self._hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        logits, variables, updates = deep_part(
            self._head.logits_dimension,
            self._hidden_units,
            self._dnn_columns,
            self._activation_fn,
            self._dropout,
            self._batch_norm,
            features,
            mode,
        )
        return logits, optimizer, variables, updates

    def _linear(self, features: Any, mode: str) -> tuple[Tensor, Any, list[Any], list[Any]]:
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(self._linear_columns)))
        optimizer = self._chosen(self._linear_optimizer, rate, mode)
        units = self._head.logits_dimension
        logits, variables = linear_part(units, self._linear_columns, self._sparse_combiner, features)
        summarize_layer(logits, "linear")
        return logits, optimizer, variables, []

    def _chosen(self, given: Any, learning_rate: float, mode: str) -> Any:
        if mode != ModeKeys.TRAIN:
            return None
        check_no_replicas(given)
        return keras_optimizer_of(given, learning_rate)


# ------------------------------------------------------------------------------------------------- baseline


def baseline_model_fn(
    head: Head, optimizer: Any, weight_column: Any = None, loss_reduction: str = SUM_OVER_BATCH_SIZE
) -> ModelFn:
    """The model function of baselines."""

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        checks, size = batch_size_of(features, weight_column)
        units = head.logits_dimension
        with tf.control_dependencies(checks), tf.name_scope("baseline"):
            bias = tf.Variable(tf.zeros([units]), name="bias", use_resource=True)
            logits = tf.multiply(bias, tf.ones([size, units]))
        if mode == ModeKeys.TRAIN:
            chosen = _counting_steps(keras_optimizer_of(optimizer, BASELINE_LEARNING_RATE))

        def train_op_fn(loss: Tensor) -> Operation | Tensor:
            return chosen.get_updates(scaled_for_replicas(loss, loss_reduction), [bias])[0]

        return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)

    return model_fn
