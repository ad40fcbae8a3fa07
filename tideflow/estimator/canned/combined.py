"""Wide and deep models: a linear model and a deep one, whose logits are added."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.dnn import dnn_logit_fn_builder
from tideflow.estimator.canned.heads import CannedRegressionHead, class_head
from tideflow.estimator.canned.linear import linear_logit_fn_builder
from tideflow.estimator.canned.logits import check_features, partitioner_of, summarize_layer
from tideflow.estimator.canned.optimizers import optimizer_of
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import Head
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.losses.reduction import Reduction
from tideflow.ops.nn.activations import relu
from tideflow.train.sync_replicas_optimizer import SyncReplicasOptimizer
from tideflow.variables.global_step import get_global_step

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005  # at most: less where there are very many columns


def _checked_optimizer(given: Any, learning_rate: float) -> Any:
    optimizer = optimizer_of(given, learning_rate)
    check_no_replicas(optimizer)
    return optimizer


def check_no_replicas(optimizer: Any) -> None:
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not supported in "
            "DNNLinearCombined model. If you want to use this optimizer, please use either DNN or Linear "
            "model."
        )


class _Combined:
    """A model function of both models; each has columns and an optimizer of its own."""

    def __init__(
        self,
        head: Head,
        linear_feature_columns: Iterable[Any] | None,
        linear_optimizer: Any,
        dnn_feature_columns: Iterable[Any] | None,
        dnn_optimizer: Any,
        dnn_hidden_units: Sequence[int] | None,
        dnn_activation_fn: Callable | None,
        dnn_dropout: float | None,
        input_layer_partitioner: Any,
        batch_norm: bool,
        linear_sparse_combiner: str,
    ):
        self._head, self._partitioner = head, input_layer_partitioner
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
        partitioner = self._partitioner or partitioner_of(config, 64 << 20)
        parts: list[tuple[Tensor, Any, str]] = []  # logits, optimizer, scope
        if self._dnn_columns:
            parts.append(self._deep_part(features, mode, config, partitioner))
        if self._linear_columns:
            parts.append(self._linear_part(features, partitioner))

        def train_op_fn(loss: Tensor) -> Operation:
            steps = [
                optimizer.minimize(loss, var_list=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope))
                for _, optimizer, scope in parts
            ]
            with tf.control_dependencies([tf.group(*steps)]):
                return tf.assign_add(get_global_step(), 1).op

        logits = [logits for logits, _, _ in parts]
        return self._head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_fn,
            logits=logits[0] + logits[1] if len(logits) == 2 else logits[0],
        )

    def _deep_part(
        self, features: Any, mode: str, config: RunConfig, partitioner: Any
    ) -> tuple[Tensor, Any, str]:
        optimizer = _checked_optimizer(self._dnn_optimizer, _DNN_LEARNING_RATE)
        if not self._hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        values = tuple(features.values())
        with tf.variable_scope("dnn", values=values, partitioner=partitioner_of(config)) as scope:
            logit_fn = dnn_logit_fn_builder(
                self._head.logits_dimension,
                self._hidden_units,
                self._dnn_columns,
                self._activation_fn,
                self._dropout,
                partitioner,
                self._batch_norm,
            )
            return logit_fn(features, mode), optimizer, scope.name

    def _linear_part(self, features: Any, partitioner: Any) -> tuple[Tensor, Any, str]:
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(self._linear_columns)))
        optimizer = _checked_optimizer(self._linear_optimizer, rate)
        with tf.variable_scope("linear", values=tuple(features.values()), partitioner=partitioner) as scope:
            logit_fn = linear_logit_fn_builder(
                self._head.logits_dimension, self._linear_columns, self._sparse_combiner
            )
            logits = logit_fn(features)
            summarize_layer(logits, scope.name)
            return logits, optimizer, scope.name


@export("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Estimator):
    """A wide and deep model that classifies.

    Args:
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: The optimizer of the linear model: an optimizer, its name, or a function.
      dnn_feature_columns: The feature columns of the deep model, which must be dense.
      dnn_optimizer: The optimizer of the deep model: an optimizer, its name, or a function.
      dnn_hidden_units: The sizes of the hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The probability that a value is dropped in training; none is if None.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      batch_norm: Whether each hidden layer is normalized over the batch.
      linear_sparse_combiner: How the weights of an example's categories are combined.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        combined = _Combined(
            class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            batch_norm,
            linear_sparse_combiner,
        )
        super().__init__(combined.model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(Estimator):
    """A wide and deep model that predicts numbers.

    Args:
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: The optimizer of the linear model: an optimizer, its name, or a function.
      dnn_feature_columns: The feature columns of the deep model, which must be dense.
      dnn_optimizer: The optimizer of the deep model: an optimizer, its name, or a function.
      dnn_hidden_units: The sizes of the hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The probability that a value is dropped in training; none is if None.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      batch_norm: Whether each hidden layer is normalized over the batch.
      linear_sparse_combiner: How the weights of an example's categories are combined.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        combined = _Combined(
            CannedRegressionHead(label_dimension, weight_column, loss_reduction),
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            batch_norm,
            linear_sparse_combiner,
        )
        super().__init__(combined.model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A wide and deep model with any head.

    Args:
      head: The head.
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: The optimizer of the linear model: an optimizer, its name, or a function.
      dnn_feature_columns: The feature columns of the deep model, which must be dense.
      dnn_optimizer: The optimizer of the deep model: an optimizer, its name, or a function.
      dnn_hidden_units: The sizes of the hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The probability that a value is dropped in training; none is if None.
      input_layer_partitioner: A partitioner of the variables of the feature columns.
      config: A RunConfig.
      linear_sparse_combiner: How the weights of an example's categories are combined.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        linear_sparse_combiner: str = "sum",
    ):
        combined = _Combined(
            head,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            False,
            linear_sparse_combiner,
        )
        super().__init__(combined.model_fn, model_dir, config)
