"""Baselines: models that see no feature, and predict the same for every example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.estimator.canned.heads import CannedRegressionHead, class_head
from tideflow.estimator.canned.optimizers import optimizer_of
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.heads.base import Head
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec
from tideflow.export import export
from tideflow.feature_column.numeric import NumericColumn
from tideflow.graph.operation import Operation, Tensor
from tideflow.losses.reduction import Reduction
from tideflow.variables.global_step import get_global_step

_LEARNING_RATE = 0.3


def batch_size_of(features: dict[str, Any], weight_column: Any) -> tuple[list[Operation], Tensor]:
    """How many examples a batch has, and the checks that all features agree on that."""
    weights = weight_column.key if isinstance(weight_column, NumericColumn) else weight_column
    sizes = [tf.shape(feature)[0] for key, feature in features.items() if key != weights]
    return [tf.assert_equal(sizes[0], size) for size in sizes[1:]], sizes[0]


def _logits(features: dict[str, Any], units: int, weight_column: Any) -> Tensor:
    """The bias, for each example of a batch."""
    checks, size = batch_size_of(features, weight_column)
    with tf.control_dependencies(checks), tf.variable_scope("baseline"):
        bias = tf.get_variable("bias", shape=[units], initializer=tf.zeros_initializer())
        return tf.multiply(bias, tf.ones([size, units]))


def _baseline(head: Head, optimizer: Any, weight_column: Any = None) -> Callable[..., EstimatorSpec]:
    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        def train_op_fn(loss: Tensor) -> Operation | Tensor:
            return optimizer_of(optimizer, _LEARNING_RATE).minimize(loss, get_global_step())

        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            logits=_logits(features, head.logits_dimension, weight_column),
            train_op_fn=train_op_fn,
        )

    return model_fn


@export("estimator.BaselineClassifier")
class BaselineClassifier(Estimator):
    """A classifier that predicts the frequencies of the classes.

    Args:
      model_dir: The directory of the model.
      n_classes: The number of classes.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      optimizer: An optimizer, its name, or a function that makes it.
      config: A RunConfig.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ):
        head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_baseline(head, optimizer, weight_column), model_dir, config)


@export("estimator.BaselineRegressor")
class BaselineRegressor(Estimator):
    """A regressor that predicts the mean of the labels.

    Args:
      model_dir: The directory of the model.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      optimizer: An optimizer, its name, or a function that makes it.
      config: A RunConfig.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ):
        head = CannedRegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(_baseline(head, optimizer), model_dir, config)


@export("estimator.BaselineEstimator")
class BaselineEstimator(Estimator):
    """A baseline with any head.

    Args:
      head: The head.
      model_dir: The directory of the model.
      optimizer: An optimizer, its name, or a function that makes it.
      config: A RunConfig.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ):
        super().__init__(_baseline(head, optimizer), model_dir, config)
