"""Deep models: dense layers on top of feature columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.heads import CannedRegressionHead, class_head
from tideflow.estimator.canned.logits import check_features, partitioner_of, summarize_layer
from tideflow.estimator.canned.optimizers import optimizer_of
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import Head
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.feature_column.layers import dense_features
from tideflow.graph.operation import Tensor
from tideflow.losses.reduction import Reduction
from tideflow.ops.nn.activations import relu

_LEARNING_RATE = 0.05


@export("estimator.experimental.dnn_logit_fn_builder")
def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    activation_fn: Callable | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Tensor]:
    """Makes a function from features to the logits of a deep model.

    Args:
      units: The number of logits.
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      batch_norm: Whether each hidden layer is normalized over the batch.

    Returns:
      The function, of `features` and `mode`.

    Raises:
      ValueError: If `units` is not a number.
    """
    return _logit_fn(
        units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
    )


def _logit_fn(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    activation_fn: Callable | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
    input_layer: Callable[..., Tensor] = dense_features,
) -> Callable[..., Tensor]:
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: dict[str, Any], mode: str) -> Tensor:
        is_training = mode == ModeKeys.TRAIN
        with tf.variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
            net = input_layer(features, feature_columns)
        for number, size in enumerate(hidden_units):
            with tf.variable_scope(f"hiddenlayer_{number}", use_resource=True) as scope:
                net = _dense(net, size, activation_fn, scope)
                if dropout is not None and is_training:
                    net = tf.layers.dropout(net, rate=dropout, training=True)
                if batch_norm:
                    name = f"batchnorm_{number}"
                    net = tf.layers.batch_normalization(net, momentum=0.999, training=is_training, name=name)
            summarize_layer(net, scope.name)
        with tf.variable_scope("logits", use_resource=True) as scope:
            logits = _dense(net, units, None, scope)
        summarize_layer(logits, scope.name)
        return logits

    return dnn_logit_fn


def _dense(net: Tensor, units: int, activation: Callable | None, scope: Any) -> Tensor:
    initializer = tf.glorot_uniform_initializer()
    return tf.layers.dense(net, units, activation, kernel_initializer=initializer, name=scope)


def dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: tuple,
    optimizer: Any = "Adagrad",
    activation_fn: Callable | None = relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
    batch_norm: bool = False,
    input_layer: Callable[..., Tensor] = dense_features,
) -> EstimatorSpec:
    """The model function of deep models."""
    optimizer = optimizer_of(optimizer, _LEARNING_RATE)
    check_features(features)
    with tf.variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner_of(config)):
        logit_fn = _logit_fn(
            head.logits_dimension,
            hidden_units,
            feature_columns,
            activation_fn,
            dropout,
            input_layer_partitioner or partitioner_of(config, 64 << 20),
            batch_norm,
            input_layer,
        )
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=optimizer,
            logits=logit_fn(features, mode),
        )


@export("estimator.DNNClassifier")
class DNNClassifier(Estimator):
    """A deep model that classifies.

    Args:
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      batch_norm: Whether each hidden layer is normalized over the batch.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ):
        model_fn = _deep(
            class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            batch_norm,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNRegressor")
class DNNRegressor(Estimator):
    """A deep model that predicts numbers.

    Args:
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      batch_norm: Whether each hidden layer is normalized over the batch.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ):
        model_fn = _deep(
            CannedRegressionHead(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            batch_norm,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNEstimator")
class DNNEstimator(Estimator):
    """A deep model with any head.

    Args:
      head: The head.
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      optimizer: An optimizer, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      batch_norm: Whether each hidden layer is normalized over the batch.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ):
        model_fn = _deep(
            head,
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            batch_norm,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _deep(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    activation_fn: Callable | None,
    dropout: float | None,
    partitioner: Any,
    batch_norm: bool,
) -> Callable[..., EstimatorSpec]:
    columns = tuple(feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        return dnn_model_fn(
            features,
            labels,
            mode,
            head,
            hidden_units,
            columns,
            optimizer,
            activation_fn,
            dropout,
            partitioner,
            config,
            batch_norm,
        )

    return model_fn
