"""Models of tf.contrib.learn that add a linear model and one of layers: wide and deep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn import head as heads
from tideflow.contrib.learn.canned import (
    CannedEstimator,
    Classifier,
    MeasuringRegressor,
    by_name,
    optimizer_of,
)
from tideflow.contrib.learn.dnn import LEARNING_RATE
from tideflow.contrib.learn.linear import learning_rate_of
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.contrib.learn.towers import (
    DNN,
    LINEAR,
    add_summaries,
    dnn_logits,
    dnn_scope,
    embedding_multipliers,
    linear_logits,
    partitioner_of,
)
from tideflow.export import export
from tideflow.platform.deprecation import deprecated_arg_values
from tideflow.variables.global_step import get_global_step

_BUG = (
    "2017-04-15",
    "Please set fix_global_step_increment_bug=True and update training steps in your pipeline. See pydoc for "
    "details.",
)


def _optimizer(given: Any) -> Any:
    optimizer = optimizer_of(given)
    if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use this "
            "optimizer, please use either DNN or Linear model."
        )
    return optimizer


def _dnn_part(features: Any, mode: str, params: dict, config: Any) -> tuple[Any, str]:
    """The logits of the layers, and the scope of their input."""
    if not params["dnn_hidden_units"]:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
    with dnn_scope(features, config):
        return dnn_logits(
            features,
            params["dnn_feature_columns"],
            params["dnn_hidden_units"],
            params["head"].logits_dimension,
            params["dnn_activation_fn"] or tf.nn.relu,
            params["dnn_dropout"],
            mode,
            params["input_layer_partitioner"] or partitioner_of(config),
            tag_joint="/",
        )


def _linear_part(features: Any, params: dict, config: Any) -> Any:
    """The logits of the linear model."""
    values, partitioner = tuple(features.values()), partitioner_of(config)
    with tf.variable_scope(LINEAR, values=values, partitioner=partitioner) as scope:
        columns, size = params["linear_feature_columns"], params["head"].logits_dimension
        logits = linear_logits(features, columns, size, params["joint_linear_weights"], scope)
        add_summaries(logits, scope.name, "/")
        return logits


def _dnn_linear_combined_model_fn(
    features: Any, labels: Any, mode: str, params: dict, config: Any = None
) -> ModelFnOps:
    head = params["head"]
    linear_columns, dnn_columns = params["linear_feature_columns"], params["dnn_feature_columns"]
    features = by_name(features)
    linear_optimizer = _optimizer(params["linear_optimizer"] or "Ftrl")
    dnn_optimizer = _optimizer(params["dnn_optimizer"] or "Adagrad")
    parts, input_scope = [], ""
    if dnn_columns:
        logits, input_scope = _dnn_part(features, mode, params, config)
        parts.append(logits)
    if linear_columns:
        parts.append(_linear_part(features, params, config))
    logits = parts[0] + parts[1] if len(parts) == 2 else parts[0]

    def train_op_fn(loss: Any) -> Any:
        step, fixed = get_global_step(), params["fix_global_step_increment_bug"]
        shared = dict(
            loss=loss,
            global_step=step,
            clip_gradients=params["gradient_clip_norm"],
            summaries=[],
            increment_global_step=not fixed,
        )
        updates = []
        if dnn_columns:
            updates.append(
                tf.contrib.layers.optimize_loss(
                    learning_rate=LEARNING_RATE,
                    optimizer=dnn_optimizer,
                    gradient_multipliers=embedding_multipliers(
                        params["embedding_lr_multipliers"], input_scope
                    ),
                    variables=tf.get_collection(DNN),
                    name=DNN,
                    **shared,
                )
            )
        if linear_columns:
            updates.append(
                tf.contrib.layers.optimize_loss(
                    learning_rate=learning_rate_of(linear_columns),
                    optimizer=linear_optimizer,
                    variables=tf.get_collection(LINEAR),
                    name=LINEAR,
                    **shared,
                )
            )
        train_op = tf.group(*updates)
        if not fixed:
            return train_op
        with tf.control_dependencies([train_op]), tf.colocate_with(step):
            return tf.assign_add(step, 1).op

    return head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)


@export("contrib.learn.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(CannedEstimator):
    """A linear model and one of layers, added, with any head.

    Args:
      head: The head.
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: Its optimizer, the name of one, or a function that returns one; Ftrl if None.
      _joint_linear_weights: Whether the weights of all its columns are one variable.
      dnn_feature_columns: The feature columns of the layers.
      dnn_optimizer: Their optimizer, the name of one, or a function that returns one; Adagrad if None.
      dnn_hidden_units: The sizes of the layers.
      dnn_activation_fn: The activation of the layers; relu if None.
      dnn_dropout: The probability that a unit is left out in training.
      gradient_clip_norm: The greatest norm of all gradients together.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      embedding_lr_multipliers: By what the gradients of embeddings are multiplied, by their columns.
      fix_global_step_increment_bug: Whether the global step counts each step once; if not, it counts one
        for each of the two optimizers, as it did at first.
      input_layer_partitioner: The partitioner of the embeddings.

    Raises:
      ValueError: If there are no feature columns.
    """

    @deprecated_arg_values(*_BUG, fix_global_step_increment_bug=False)
    def __init__(
        self,
        head: heads.Head,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Callable | None = None,
    ):
        linear_feature_columns = tuple(linear_feature_columns or ())
        dnn_feature_columns = tuple(dnn_feature_columns or ())
        self._feature_columns = linear_feature_columns + dnn_feature_columns
        if not self._feature_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        params = {
            "head": head,
            "linear_feature_columns": linear_feature_columns,
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_feature_columns": dnn_feature_columns,
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": input_layer_partitioner,
        }
        super().__init__(_dnn_linear_combined_model_fn, model_dir, config, params, feature_engineering_fn)


def _input_partitioner(config: Any, min_slice_size: int | None) -> Callable | None:
    return None if min_slice_size is None else partitioner_of(config, min_slice_size)


@export("contrib.learn.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Classifier, DNNLinearCombinedEstimator):
    """A linear model and one of layers, added, that predict classes.

    Args:
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column_name: The key of the weights among the features.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: Its optimizer, the name of one, or a function that returns one; Ftrl if None.
      _joint_linear_weights: Whether the weights of all its columns are one variable.
      dnn_feature_columns: The feature columns of the layers.
      dnn_optimizer: Their optimizer, the name of one, or a function that returns one; Adagrad if None.
      dnn_hidden_units: The sizes of the layers.
      dnn_activation_fn: The activation of the layers; relu if None.
      dnn_dropout: The probability that a unit is left out in training.
      gradient_clip_norm: The greatest norm of all gradients together.
      enable_centered_bias: Whether a bias is learned that all examples share.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      embedding_lr_multipliers: By what the gradients of embeddings are multiplied, by their columns.
      input_layer_min_slice_size: The least size in bytes of a part of an embedding on parameter servers.
      label_keys: The names of the classes, if labels are strings and there are more than two classes.
      fix_global_step_increment_bug: Whether the global step counts each step once; if not, it counts one
        for each of the two optimizers, as it did at first.

    Raises:
      ValueError: If there are no feature columns.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        head = heads.multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
            _input_partitioner(config, input_layer_min_slice_size),
        )


@export("contrib.learn.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(MeasuringRegressor, DNNLinearCombinedEstimator):
    """A linear model and one of layers, added, that predict numbers.

    Args:
      model_dir: The directory of the model.
      weight_column_name: The key of the weights among the features.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: Its optimizer, the name of one, or a function that returns one; Ftrl if None.
      _joint_linear_weights: Whether the weights of all its columns are one variable.
      dnn_feature_columns: The feature columns of the layers.
      dnn_optimizer: Their optimizer, the name of one, or a function that returns one; Adagrad if None.
      dnn_hidden_units: The sizes of the layers.
      dnn_activation_fn: The activation of the layers; relu if None.
      dnn_dropout: The probability that a unit is left out in training.
      gradient_clip_norm: The greatest norm of all gradients together.
      enable_centered_bias: Whether a bias is learned that all examples share.
      label_dimension: The number of labels of an example.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      embedding_lr_multipliers: By what the gradients of embeddings are multiplied, by their columns.
      input_layer_min_slice_size: The least size in bytes of a part of an embedding on parameter servers.
      fix_global_step_increment_bug: Whether the global step counts each step once; if not, it counts one
        for each of the two optimizers, as it did at first.

    Raises:
      ValueError: If there are no feature columns.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        head = heads.regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
            _input_partitioner(config, input_layer_min_slice_size),
        )
