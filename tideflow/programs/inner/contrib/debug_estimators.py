"""`tensorflow.contrib.learn.python.learn.estimators.debug`: estimators of a bias alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn import head as heads
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.modes import PredictionKey


def debug_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    """A model whose logits are zero, so that only the bias of its head learns."""
    del config
    named = features if isinstance(features, dict) else {"": features}
    if not named:
        raise ValueError("Features cannot be empty.")
    head = params["head"]
    batch_size, *others = [tf.shape(feature)[0] for feature in named.values()]
    with tf.control_dependencies([tf.assert_equal(batch_size, other) for other in others]):
        logits = tf.zeros([batch_size, head.logits_dimension])

    def train_op_fn(loss: tf.Tensor) -> Any:
        return tf.contrib.layers.optimize_loss(loss, None, learning_rate=0.3, optimizer="Adagrad")

    return head.create_model_fn_ops(
        features=named, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits
    )


class _DebugEstimator(Estimator):
    def _predicted(self, key: str, input_fn: Callable | None, batch_size: int | None) -> Iterator[Any]:
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=[key])
        return (each[key] for each in found)


class DebugClassifier(_DebugEstimator):
    """Predicts how often each class is, whatever the features are."""

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        config: Any = None,
        feature_engineering_fn: Callable | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        head = heads.multi_class_head(
            n_classes, weight_column_name=weight_column_name, enable_centered_bias=True, label_keys=label_keys
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_classes(
        self, input_fn: Callable | None = None, batch_size: int | None = None
    ) -> Iterator[Any]:
        """The most frequent class, for each example."""
        return self._predicted(PredictionKey.CLASSES, input_fn, batch_size)

    def predict_proba(self, input_fn: Callable | None = None, batch_size: int | None = None) -> Iterator[Any]:
        """The probabilities of the classes, for each example."""
        return self._predicted(PredictionKey.PROBABILITIES, input_fn, batch_size)


class DebugRegressor(_DebugEstimator):
    """Predicts the mean of the labels, whatever the features are."""

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column_name: str | None = None,
        config: Any = None,
        feature_engineering_fn: Callable | None = None,
    ):
        head = heads.regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension, enable_centered_bias=True
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_scores(
        self, input_fn: Callable | None = None, batch_size: int | None = None
    ) -> Iterator[Any]:
        """The mean, for each example."""
        return self._predicted(PredictionKey.SCORES, input_fn, batch_size)
