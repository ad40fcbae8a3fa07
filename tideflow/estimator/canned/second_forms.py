"""The canned estimators of `tf.compat.v2.estimator`: their heads take the mean of losses, and optimizers of
Keras train them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.keras_parts import Combined, baseline_model_fn, dnn_model_fn, linear_model_fn
from tideflow.estimator.canned.sdca import LinearSDCA
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import SUM_OVER_BATCH_SIZE, Head
from tideflow.estimator.heads.classes import BinaryClassHead, MultiClassHead
from tideflow.estimator.heads.regression import RegressionHead
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec

_ONE_LABEL = "LinearSDCA can only be used with one-dimensional label."


def _class_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> Head:
    if n_classes == 2:
        return BinaryClassHead(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def _check_sdca(optimizer: Any, sparse_combiner: str, refused: bool = False, why: str = "") -> None:
    if isinstance(optimizer, LinearSDCA):
        if sparse_combiner != "sum":
            raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
        if refused:
            raise ValueError(why)


def _listed(columns: Iterable[Any] | None) -> Sequence[Any]:
    return tuple(columns or ())


def _deep(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    activation_fn: Callable | None,
    dropout: float | None,
    batch_norm: bool,
) -> Callable[..., EstimatorSpec]:
    columns = _listed(feature_columns)

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
            config,
            batch_norm=batch_norm,
        )

    return model_fn


class LinearClassifierV2(Estimator):
    """A linear model that classifies.

    Args:
      feature_columns: The feature columns.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
      sparse_combiner: How the weights of an example's categories are combined: `"mean"`, `"sqrtn"` or
        `"sum"`.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        sparse_combiner: str = "sum",
    ):
        _check_sdca(
            optimizer, sparse_combiner, n_classes > 2, "LinearSDCA cannot be used in a multi-class setting."
        )
        head = _class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = linear_model_fn(head, _listed(feature_columns), optimizer, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearRegressorV2(Estimator):
    """A linear model that predicts numbers.

    Args:
      feature_columns: The feature columns.
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
      sparse_combiner: How the weights of an example's categories are combined: `"mean"`, `"sqrtn"` or
        `"sum"`.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        sparse_combiner: str = "sum",
    ):
        _check_sdca(optimizer, sparse_combiner, label_dimension > 1, _ONE_LABEL)
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = linear_model_fn(head, _listed(feature_columns), optimizer, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearEstimatorV2(Estimator):
    """A linear model with any head.

    Args:
      head: The head.
      feature_columns: The feature columns.
      model_dir: The directory of the model.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      config: A RunConfig.
      sparse_combiner: How the weights of an example's categories are combined: `"mean"`, `"sqrtn"` or
        `"sum"`.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        sparse_combiner: str = "sum",
    ):
        _check_sdca(optimizer, sparse_combiner)
        model_fn = linear_model_fn(head, _listed(feature_columns), optimizer, sparse_combiner)
        super().__init__(model_fn, model_dir, config)


class DNNClassifierV2(Estimator):
    """A deep model that classifies.

    Args:
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
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
        activation_fn: Callable | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
    ):
        head = _class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = _deep(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNRegressorV2(Estimator):
    """A deep model that predicts numbers.

    Args:
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
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
        activation_fn: Callable | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
    ):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = _deep(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNEstimatorV2(Estimator):
    """A deep model with any head.

    Args:
      head: The head.
      hidden_units: The sizes of the hidden layers.
      feature_columns: The feature columns, which must be dense.
      model_dir: The directory of the model.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      activation_fn: The activation of the hidden layers.
      dropout: The probability that a value is dropped in training; none is if None.
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
        activation_fn: Callable | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ):
        model_fn = _deep(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifierV2(Estimator):
    """A wide and deep model that classifies.

    Args:
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: The optimizer of the linear model: one of Keras, its name, or a function.
      dnn_feature_columns: The feature columns of the deep model, which must be dense.
      dnn_optimizer: The optimizer of the deep model: one of Keras, its name, or a function.
      dnn_hidden_units: The sizes of the hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The probability that a value is dropped in training; none is if None.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
      batch_norm: Whether each hidden layer is normalized over the batch.
      linear_sparse_combiner: How the weights of an example's categories are combined: `"mean"`,
        `"sqrtn"` or `"sum"`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        head = _class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = Combined(
            head,
            _listed(linear_feature_columns),
            linear_optimizer,
            _listed(dnn_feature_columns),
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            linear_sparse_combiner,
            loss_reduction,
        ).model_fn
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedRegressorV2(Estimator):
    """A wide and deep model that predicts numbers.

    Args:
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: The optimizer of the linear model: one of Keras, its name, or a function.
      dnn_feature_columns: The feature columns of the deep model, which must be dense.
      dnn_optimizer: The optimizer of the deep model: one of Keras, its name, or a function.
      dnn_hidden_units: The sizes of the hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The probability that a value is dropped in training; none is if None.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      config: A RunConfig.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
      batch_norm: Whether each hidden layer is normalized over the batch.
      linear_sparse_combiner: How the weights of an example's categories are combined: `"mean"`,
        `"sqrtn"` or `"sum"`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = Combined(
            head,
            _listed(linear_feature_columns),
            linear_optimizer,
            _listed(dnn_feature_columns),
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            linear_sparse_combiner,
            loss_reduction,
        ).model_fn
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedEstimatorV2(Estimator):
    """A wide and deep model with any head.

    Args:
      head: The head.
      model_dir: The directory of the model.
      linear_feature_columns: The feature columns of the linear model.
      linear_optimizer: The optimizer of the linear model: one of Keras, its name, or a function.
      dnn_feature_columns: The feature columns of the deep model, which must be dense.
      dnn_optimizer: The optimizer of the deep model: one of Keras, its name, or a function.
      dnn_hidden_units: The sizes of the hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The probability that a value is dropped in training; none is if None.
      config: A RunConfig.
      linear_sparse_combiner: How the weights of an example's categories are combined: `"mean"`,
        `"sqrtn"` or `"sum"`.
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
        dnn_activation_fn: Callable | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        config: RunConfig | None = None,
        linear_sparse_combiner: str = "sum",
    ):
        model_fn = Combined(
            head,
            _listed(linear_feature_columns),
            linear_optimizer,
            _listed(dnn_feature_columns),
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            False,
            linear_sparse_combiner,
        ).model_fn
        super().__init__(model_fn, model_dir, config)


class BaselineClassifierV2(Estimator):
    """A classifier that predicts the frequencies of the classes.

    Args:
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      config: A RunConfig.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
    ):
        head = _class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = baseline_model_fn(head, optimizer, weight_column, loss_reduction)
        super().__init__(model_fn, model_dir, config)


class BaselineRegressorV2(Estimator):
    """A regressor that predicts the mean of the labels.

    Args:
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      config: A RunConfig.
      loss_reduction: How the losses of a batch become one, of `tf.keras.losses.Reduction`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
    ):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = baseline_model_fn(head, optimizer, None, loss_reduction)
        super().__init__(model_fn, model_dir, config)


class BaselineEstimatorV2(Estimator):
    """A baseline with any head.

    Args:
      head: The head.
      model_dir: The directory of the model.
      optimizer: An optimizer of Keras, its name, or a function that makes it.
      config: A RunConfig.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ):
        model_fn = baseline_model_fn(head, optimizer)
        super().__init__(model_fn, model_dir, config)
