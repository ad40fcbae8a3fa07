"""Models of layers on feature columns, of tf.contrib.learn."""

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
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.contrib.learn.towers import (
    DNN,
    activation_of,
    dnn_logits,
    dnn_scope,
    embedding_multipliers,
    partitioner_of,
)
from tideflow.export import export
from tideflow.variables.global_step import get_global_step

LEARNING_RATE = 0.05


def _dnn_model_fn(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> ModelFnOps:
    head = params["head"]
    features = by_name(features)
    least = params["input_layer_min_slice_size"]
    with dnn_scope(features, config):
        logits, input_scope = dnn_logits(
            features,
            params["feature_columns"],
            params["hidden_units"],
            head.logits_dimension,
            activation_of(params["activation_fn"]),
            params["dropout"],
            mode,
            partitioner_of(config, least) if least else partitioner_of(config),
            tag_joint="_",
        )

        def train_op_fn(loss: Any) -> Any:
            return tf.contrib.layers.optimize_loss(
                loss=loss,
                global_step=get_global_step(),
                learning_rate=LEARNING_RATE,
                optimizer=optimizer_of(params["optimizer"] or "Adagrad"),
                gradient_multipliers=embedding_multipliers(params["embedding_lr_multipliers"], input_scope),
                clip_gradients=params["gradient_clip_norm"],
                name=DNN,
                summaries=[],
            )

        return head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)


@export("contrib.learn.DNNEstimator")
class DNNEstimator(CannedEstimator):
    """A model of layers with any head.

    Args:
      head: The head.
      hidden_units: The sizes of the layers.
      feature_columns: The feature columns, of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: The directory of the model.
      optimizer: The optimizer, its name, or a function that returns one; Adagrad if None.
      activation_fn: The activation of the layers, or its name.
      dropout: The probability that a unit is left out in training.
      gradient_clip_norm: The greatest norm of all gradients together.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      embedding_lr_multipliers: By what the gradients of embeddings are multiplied, by their columns.
      input_layer_min_slice_size: The least size in bytes of a part of an embedding on parameter servers.
    """

    def __init__(
        self,
        head: heads.Head,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable | str | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        self._feature_columns = tuple(feature_columns or ())
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": self._feature_columns,
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(_dnn_model_fn, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.DNNClassifier")
class DNNClassifier(Classifier, DNNEstimator):
    """A model of layers that predicts classes.

    Args:
      hidden_units: The sizes of the layers.
      feature_columns: The feature columns, of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column_name: The key of the weights among the features.
      optimizer: The optimizer, its name, or a function that returns one; Adagrad if None.
      activation_fn: The activation of the layers, or its name.
      dropout: The probability that a unit is left out in training.
      gradient_clip_norm: The greatest norm of all gradients together.
      enable_centered_bias: Whether a bias is learned that all examples share.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      embedding_lr_multipliers: By what the gradients of embeddings are multiplied, by their columns.
      input_layer_min_slice_size: The least size in bytes of a part of an embedding on parameter servers.
      label_keys: The names of the classes, if labels are strings and there are more than two classes.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable | str | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        head = heads.multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )


@export("contrib.learn.DNNRegressor")
class DNNRegressor(MeasuringRegressor, DNNEstimator):
    """A model of layers that predicts numbers.

    Args:
      hidden_units: The sizes of the layers.
      feature_columns: The feature columns, of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: The directory of the model.
      weight_column_name: The key of the weights among the features.
      optimizer: The optimizer, its name, or a function that returns one; Adagrad if None.
      activation_fn: The activation of the layers, or its name.
      dropout: The probability that a unit is left out in training.
      gradient_clip_norm: The greatest norm of all gradients together.
      enable_centered_bias: Whether a bias is learned that all examples share.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.
      label_dimension: The number of labels of an example.
      embedding_lr_multipliers: By what the gradients of embeddings are multiplied, by their columns.
      input_layer_min_slice_size: The least size in bytes of a part of an embedding on parameter servers.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable | str | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        head = heads.regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )
