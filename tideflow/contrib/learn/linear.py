"""Linear models of tf.contrib.learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn import head as heads
from tideflow.contrib.learn.canned import CannedEstimator, Classifier, Regressor, by_name
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.contrib.learn.towers import LINEAR, linear_logits, partitioner_of
from tideflow.contrib.linear_optimizer import SDCAOptimizer
from tideflow.export import export
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tideflow.variables.global_step import get_global_step

_LEARNING_RATE = 0.2


def learning_rate_of(columns: Sequence[Any]) -> float:
    return min(_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))


def _optimizer_of(given: Any, columns: Sequence[Any]) -> Any:
    if not given:
        return tf.train.FtrlOptimizer(learning_rate_of(columns))
    if isinstance(given, str):
        return tf.contrib.layers.OPTIMIZER_CLS_NAMES[given](learning_rate=_LEARNING_RATE)
    return given() if callable(given) else given


def linear_model_fn(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> ModelFnOps:
    head, columns = params["head"], params["feature_columns"]
    features = by_name(features)
    with tf.variable_scope(
        LINEAR, values=tuple(features.values()), partitioner=partitioner_of(config)
    ) as scope:
        logits = linear_logits(features, columns, head.logits_dimension, params["joint_weights"], scope)

        def train_op_fn(loss: Any) -> Any:
            variables = tf.get_collection(LINEAR)
            gradients = tf.gradients(loss, variables)
            if params["gradient_clip_norm"]:
                gradients, _ = tf.clip_by_global_norm(gradients, params["gradient_clip_norm"])
            optimizer = _optimizer_of(params["optimizer"], columns)
            pairs = list(zip(gradients, variables, strict=True))
            return optimizer.apply_gradients(pairs, global_step=get_global_step())

        return head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)


_LOSSES = {
    heads.BinarySvmHead: "hinge_loss",
    heads.BinaryLogisticHead: "logistic_loss",
    heads.RegressionHead: "squared_loss",
}
_BIAS = "tf_virtual_bias_column"


def sdca_model_fn(features: Any, labels: Any, mode: str, params: dict) -> ModelFnOps:
    """A linear model that an SDCAOptimizer trains; its head may be of three kinds."""
    head, columns, optimizer = params["head"], list(params["feature_columns"]), params["optimizer"]
    loss_type = next((loss for kind, loss in _LOSSES.items() if isinstance(head, kind)), None)
    if loss_type is None:
        raise ValueError(f"Unsupported head type: {head}")
    assert head.logits_dimension == 1, "SDCA only applies for logits_dimension=1."
    layers = tf.contrib.layers
    with tf.variable_scope(
        LINEAR, values=tuple(features.values()), partitioner=optimizer.partitioner
    ) as scope:
        features = {**features, **layers.transform_features(features, columns)}
        logits, variables, bias = layers.weighted_sum_from_feature_columns(
            features, columns, num_outputs=1, scope=scope
        )
        bias_column = layers.real_valued_column(_BIAS)
        variables = {**variables, bias_column: [bias]}
        features[bias_column] = tf.ones([tf.shape(logits)[0], 1])
    chief = _SdcaUpdateWeightsHook()

    def train_op_fn(loss: Any) -> Any:
        model, train_op = optimizer.get_train_step(
            variables, params["weight_column_name"], loss_type, features, labels, get_global_step()
        )
        chief.update_after(model, train_op)
        return train_op

    made = head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)
    return made._replace(training_chief_hooks=[*made.training_chief_hooks, chief])


class _SdcaUpdateWeightsHook(SessionRunHook):
    """Has the chief take over the trained weights in every step."""

    def update_after(self, model: Any, train_op: Any) -> None:
        self._model, self._train_op = model, train_op

    def begin(self) -> None:
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._update)


@export("contrib.learn.LinearEstimator")
class LinearEstimator(CannedEstimator):
    """A linear model with any head.

    Args:
      feature_columns: The feature columns, of `tf.contrib.layers` or of `tf.feature_column`.
      head: The head.
      model_dir: The directory of the model.
      weight_column_name: The key of the weights among the features, for an SDCAOptimizer; for others
        the head knows it.
      optimizer: The optimizer, its name, or a function that returns one; Ftrl if None.
      gradient_clip_norm: The greatest norm of all gradients together.
      _joint_weights: Whether the weights of all columns are one variable.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        head: heads.Head,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
    ):
        assert feature_columns
        self._feature_columns = tuple(feature_columns)
        params = {"head": head, "feature_columns": feature_columns, "optimizer": optimizer}
        if isinstance(optimizer, SDCAOptimizer):
            params |= {"weight_column_name": weight_column_name}
            model_fn: Callable = sdca_model_fn
        else:
            params |= {"gradient_clip_norm": gradient_clip_norm, "joint_weights": _joint_weights}
            model_fn = linear_model_fn
        super().__init__(model_fn, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.LinearClassifier")
class LinearClassifier(Classifier, LinearEstimator):
    """A linear model that predicts classes.

    Args:
      feature_columns: The feature columns, of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column_name: The key of the weights among the features.
      optimizer: The optimizer, its name, or a function that returns one; Ftrl if None.
      gradient_clip_norm: The greatest norm of all gradients together.
      enable_centered_bias: Whether a bias is learned that all examples share.
      _joint_weight: Whether the weights of all columns are one variable.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      label_keys: The names of the classes, if labels are strings and there are more than two classes.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        head = heads.multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            feature_columns,
            head,
            model_dir,
            weight_column_name,
            optimizer,
            gradient_clip_norm,
            _joint_weight,
            config,
            feature_engineering_fn,
        )


@export("contrib.learn.LinearRegressor")
class LinearRegressor(Regressor, LinearEstimator):
    """A linear model that predicts numbers.

    Args:
      feature_columns: The feature columns, of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: The directory of the model.
      weight_column_name: The key of the weights among the features.
      optimizer: The optimizer, its name, or a function that returns one; Ftrl if None.
      gradient_clip_norm: The greatest norm of all gradients together.
      enable_centered_bias: Whether a bias is learned that all examples share.
      label_dimension: The number of labels of an example.
      _joint_weights: Whether the weights of all columns are one variable.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
    ):
        head = heads.regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            feature_columns,
            head,
            model_dir,
            weight_column_name,
            optimizer,
            gradient_clip_norm,
            _joint_weights,
            config,
            feature_engineering_fn,
        )
