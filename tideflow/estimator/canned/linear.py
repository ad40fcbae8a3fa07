"""Linear models: a weighted sum of feature columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.heads import CannedRegressionHead, class_head
from tideflow.estimator.canned.logits import check_features, partitioner_of
from tideflow.estimator.canned.optimizers import optimizer_of
from tideflow.estimator.canned.sdca import LinearSDCA, SdcaModel
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import Head
from tideflow.estimator.heads.classes import BinaryClassHead
from tideflow.estimator.heads.regression import RegressionHead
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.losses.reduction import Reduction
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook
from tideflow.variables.global_step import get_global_step

_LEARNING_RATE = 0.2  # at most: less where there are many columns


def fraction_of_zeros(variables: list[Any]) -> Tensor:
    """The fraction of zeros in all variables together."""
    with tf.name_scope("zero_fraction"):
        sizes = [tf.cast(tf.size(variable), tf.float32) for variable in variables]
        zeros = [
            tf.nn.zero_fraction(variable) * size for variable, size in zip(variables, sizes, strict=True)
        ]
        return tf.add_n(zeros) / tf.add_n(sizes)


@export("estimator.experimental.linear_logit_fn_builder")
def linear_logit_fn_builder(
    units: int, feature_columns: Iterable[Any], sparse_combiner: str = "sum"
) -> Callable[[dict[str, Any]], Tensor]:
    """Makes a function from features to the logits of a linear model.

    Args:
      units: The number of logits.
      feature_columns: The feature columns.
      sparse_combiner: How the weights of an example's categories are combined: `"mean"`, `"sqrtn"` or
        `"sum"`.

    Returns:
      The function, of `features`.
    """

    def linear_logit_fn(features: dict[str, Any]) -> Tensor:
        variables: dict[Any, list[Any]] = {}
        logits = tf.feature_column.linear_model(
            features, feature_columns, units, sparse_combiner, cols_to_vars=variables
        )
        bias = variables.pop("bias")
        if units > 1:
            tf.summary.histogram("bias", bias)
        else:
            tf.summary.scalar("bias", bias[0][0])
        weights = [each for of_column in variables.values() for each in of_column]
        tf.summary.scalar("fraction_of_zero_weights", fraction_of_zeros(weights))
        return logits

    return linear_logit_fn


def linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Head,
    feature_columns: tuple,
    optimizer: Any,
    partitioner: Any,
    config: RunConfig,
    sparse_combiner: str = "sum",
) -> EstimatorSpec:
    """The model function of linear models."""
    check_features(features)
    partitioner = partitioner or partitioner_of(config, 64 << 20)
    with tf.variable_scope("linear", values=tuple(features.values()), partitioner=partitioner):
        if isinstance(optimizer, LinearSDCA):
            return sdca_model_fn(features, labels, mode, head, feature_columns, optimizer)
        logits = linear_logit_fn_builder(head.logits_dimension, feature_columns, sparse_combiner)(features)
        if not optimizer:
            optimizer = optimizer_of("Ftrl", min(_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns))))
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=optimizer_of(optimizer, _LEARNING_RATE),
            logits=logits,
        )


class _WeightsOfColumns:
    """The weights of a linear model by feature column, as an optimizer asks for them."""

    def __init__(self, weights: dict[Any, list[Any]]):
        self._weights = weights

    def get_variable(self, column: Any, name: str) -> list[Any]:
        return self._weights[column]


class _TakeOverWeights(SessionRunHook):
    """Has the chief take over the weights that a step of dual ascent has trained."""

    def __init__(self, model: SdcaModel, train_op: Operation):
        self._model, self._train_op = model, train_op

    def begin(self) -> None:
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._update)


def sdca_model_fn(
    features: Any, labels: Any, mode: str, head: Head, feature_columns: tuple, optimizer: LinearSDCA
) -> EstimatorSpec:
    """The model function of linear models that dual ascent trains."""
    if isinstance(head, BinaryClassHead):
        loss_type = "logistic_loss"
    elif isinstance(head, RegressionHead) and head.logits_dimension == 1:
        loss_type = "squared_loss"
    else:
        raise ValueError(f"Unsupported head type: {head}")
    weights: dict[Any, list[Any]] = {}
    logits = tf.feature_column.linear_model(features, feature_columns, cols_to_vars=weights)
    bias = weights.pop("bias")
    tf.summary.scalar("bias", bias[0][0])
    every = [each for of_column in weights.values() for each in of_column]
    tf.summary.scalar("fraction_of_zero_weights", fraction_of_zeros(every))
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(features, mode, logits, labels)
    model, train_op = optimizer.get_train_step(
        _WeightsOfColumns(weights),
        head._weight_column,
        loss_type,
        feature_columns,
        features,
        labels,
        bias,
        get_global_step(),
    )
    spec = head.create_estimator_spec(features, mode, logits, labels, train_op_fn=lambda loss: train_op)
    hook = _TakeOverWeights(model, train_op)
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, hook))


@export("estimator.LinearClassifier")
class LinearClassifier(Estimator):
    """A linear model that classifies.

    Args:
      feature_columns: The feature columns.
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer, its name, or a function that makes it.
      config: A RunConfig.
      partitioner: A partitioner of the variables.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
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
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ):
        if isinstance(optimizer, LinearSDCA) and n_classes > 2:
            raise ValueError("LinearSDCA cannot be used in a multi-class setting.")
        head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = _linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.LinearRegressor")
class LinearRegressor(Estimator):
    """A linear model that predicts numbers.

    Args:
      feature_columns: The feature columns.
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer, its name, or a function that makes it.
      config: A RunConfig.
      partitioner: A partitioner of the variables.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
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
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ):
        head = CannedRegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = _linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.LinearEstimator")
class LinearEstimator(Estimator):
    """A linear model with any head.

    Args:
      head: The head.
      feature_columns: The feature columns.
      model_dir: The directory of the model.
      optimizer: An optimizer, its name, or a function that makes it.
      config: A RunConfig.
      partitioner: A partitioner of the variables.
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
        partitioner: Any = None,
        sparse_combiner: str = "sum",
    ):
        model_fn = _linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model_fn, model_dir, config)


def _linear(
    head: Head, feature_columns: Iterable[Any], optimizer: Any, partitioner: Any, sparse_combiner: str
) -> Callable[..., EstimatorSpec]:
    columns = tuple(feature_columns or ())
    if isinstance(optimizer, LinearSDCA) and sparse_combiner != "sum":
        raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        return linear_model_fn(
            features, labels, mode, head, columns, optimizer, partitioner, config, sparse_combiner
        )

    return model_fn
