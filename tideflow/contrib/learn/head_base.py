"""Heads: what is done with the logits of a model, from labels to losses, predictions and metrics."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import tideflow as tf
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import MetricKey, ModeKeys, PredictionKey
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args

SWITCH = (None, "Please switch to tf.contrib.estimator.*_head.")


@export("contrib.learn.Head", "contrib.learn.head.Head")
class Head(abc.ABC):
    """Makes a model's operations of its logits."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The number of logits of an example."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Mapping[str, Tensor],
        mode: str,
        labels: Any = None,
        train_op_fn: Callable | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Makes the operations.

        Args:
          features: The features by name.
          mode: One of `tf.contrib.learn.ModeKeys`.
          labels: The labels: a tensor, or tensors by name.
          train_op_fn: A function from the loss to the operation of a training step; needed to train.
          logits: The logits.
          logits_input: What the logits are made of by one more layer, instead of `logits`.
          scope: The variable scope.

        Returns:
          The operations.
        """


def check_mode(mode: str) -> None:
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError(f"mode={mode} unrecognized.")


def check_train_op_fn(train_op_fn: Callable | None) -> None:
    if train_op_fn is None:
        raise ValueError("train_op_fn can not be None in TRAIN mode")


def key_of(head_name: str | None, key: str) -> str:
    return f"{key}/{head_name}" if head_name else key


def write_loss(head_name: str | None, loss: Any) -> None:
    with tf.name_scope(""):
        tf.summary.scalar(key_of(head_name, MetricKey.LOSS), tf.identity(loss))


def loss_of_user(loss_fn: Callable | None) -> Callable | None:
    """A loss function of the user's as a function that returns what is minimized and what is reported."""
    if loss_fn is None:
        return None
    names = fn_args(loss_fn)
    for name in ("labels", "logits", "weights"):
        if name not in names:
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def wrapped(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        loss = loss_fn(labels, logits) if weights is None else loss_fn(labels, logits, weights)
        return loss, loss

    return wrapped


class SingleHead(Head):
    """A head with one loss. Subclasses say how labels are read, and what is predicted and measured."""

    default_scope: str

    def __init__(
        self,
        problem_type: int,
        logits_dimension: int,
        loss_fn: Callable,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._problem_type = problem_type
        self._logits_dimension = logits_dimension
        self._loss_fn = loss_fn
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self._head_name = head_name

    @property
    def logits_dimension(self) -> int:
        """The number of logits of an example."""
        return self._logits_dimension

    @property
    def label_name(self) -> str | None:
        """The key of the labels."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The key of the weights among the features."""
        return self._weight_column_name

    @property
    def head_name(self) -> str | None:
        """The name of the head."""
        return self._head_name

    def _read_labels(self, labels: Any) -> Any:
        labels = labels[self._label_name] if isinstance(labels, dict) else labels
        labels = tf.contrib.framework.convert_to_tensor_or_sparse_tensor(labels)
        return self._transformed(labels)

    def _transformed(self, labels: Any) -> Any:
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        return self._loss_fn(labels, logits, weights)

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> dict[str, Any]:
        """What is predicted, by name."""

    @abc.abstractmethod
    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        """What is measured beside the loss, by key."""

    def _alternatives(self, predictions: dict[str, Any]) -> dict[str | None, tuple[int, dict[str, Any]]]:
        return {self._head_name: (self._problem_type, predictions)}

    def create_model_fn_ops(
        self,
        features: Mapping[str, Tensor],
        mode: str,
        labels: Any = None,
        train_op_fn: Callable | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Makes the operations.

        Args:
          features: The features by name.
          mode: One of `tf.contrib.learn.ModeKeys`.
          labels: The labels: a tensor, or tensors by name.
          train_op_fn: A function from the loss to the operation of a training step; needed to train.
          logits: The logits.
          logits_input: What the logits are made of by one more layer, instead of `logits`.
          scope: The variable scope.

        Returns:
          The operations.

        Raises:
          ValueError: If the mode is unknown, or not exactly one of logits and their input is given.
        """
        around = [*features.values(), labels, logits, logits_input]
        values = [each for each in around if each is not None and not isinstance(each, dict)]
        with tf.variable_scope(scope, default_name=self._head_name or self.default_scope, values=values):
            has_loss = mode != ModeKeys.INFER and labels is not None
            if has_loss:
                labels = self._read_labels(labels)
            logits = _logits(logits_input, logits, self._logits_dimension)
            check_mode(mode)
            bias = (
                _centered_bias(self._logits_dimension, self._head_name)
                if self._enable_centered_bias
                else None
            )
            if bias is not None:
                logits = tf.nn.bias_add(logits, bias)
            with tf.name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = metrics = None
            if has_loss:
                weights = _weights(features, self._weight_column_name)
                loss, average = self._loss(labels, logits, weights)
                write_loss(self._head_name, average)
                if mode == ModeKeys.TRAIN:
                    check_train_op_fn(train_op_fn)
                    train_op = self._train_op(loss, labels, logits, weights, bias, train_op_fn)
                with tf.name_scope("metrics"):
                    measured = {MetricKey.LOSS: tf.metrics.mean(average)}
                    measured.update(self._metrics(predictions, labels, weights))
                metrics = {key_of(self._head_name, key): value for key, value in measured.items()}
            return ModelFnOps(
                mode=mode,
                predictions=predictions,
                loss=loss,
                train_op=train_op,
                eval_metric_ops=metrics,
                output_alternatives=self._alternatives(predictions),
            )

    def _train_op(
        self, loss: Any, labels: Any, logits: Any, weights: Any, bias: Any, train_op_fn: Callable
    ) -> Any:
        step = None
        size = tf.shape(logits)[0]
        if bias is not None:
            with tf.name_scope(None, "centered_bias_step") as name:
                alone = tf.reshape(tf.tile(bias, (size,)), (size, tf.shape(bias)[0]))
                with tf.name_scope(None, "centered_bias"):
                    bias_loss = tf.reduce_mean(self._loss(labels, alone, weights), name="training_loss")
            step = tf.train.AdagradOptimizer(0.1).minimize(bias_loss, var_list=(bias,), name=name)
        with tf.name_scope(None, "train_op"):
            train_op = train_op_fn(loss)
            return train_op if step is None else tf.group(train_op, step)


def _logits(logits_input: Any, logits: Any, size: int) -> Any:
    if logits is None:
        if logits_input is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        return tf.contrib.layers.linear(logits_input, size, scope="logits")
    if logits_input is not None:
        raise ValueError("Both logits and logits_input supplied.")
    logits = tf.convert_to_tensor(logits, name="logits")
    if logits.get_shape().ndims is not None:
        logits.get_shape().dims[-1].assert_is_compatible_with(size)
    return logits


def _weights(features: Mapping[str, Any], name: str | None) -> Any:
    """The weights of the examples, as a column."""
    if not name:
        return None
    if name not in features:
        raise ValueError(f"Weights {name} missing from features.")
    with tf.name_scope(None, "weight_tensor"):
        weights = tf.cast(features[name], tf.float32)
        shape = weights.get_shape()
        if shape.ndims != 1:
            return weights
        logging.warning("Weights %s has shape %s, expanding to make it 2d.", name, shape)
        return tf.reshape(weights, (-1, 1))


def _centered_bias(size: int, head_name: str | None) -> Any:
    bias = tf.Variable(tf.zeros((size,)), name="centered_bias_weight", trainable=True)
    for number in range(size):
        name = f"centered_bias/bias_{number}" + (f"/{head_name}" if head_name else "")
        tf.summary.scalar(name, bias[number])
    return bias


def classes_as_strings(probabilities: Any, label_keys: Any = None) -> Any:
    """The names of the classes for each example, as servers want them."""
    size = tf.shape(probabilities)[0]
    if label_keys:
        return tf.tile(tf.expand_dims(label_keys, 0), [size, 1], name="classes_tensor")
    numbers = tf.range(tf.shape(probabilities)[1])
    return tf.as_string(tf.tile(tf.expand_dims(numbers, 0), [size, 1]), name="classes_tensor")


class LossOnlyHead(Head):
    """A head that makes a loss of its own, and predicts nothing."""

    def __init__(self, loss_fn: Callable, head_name: str | None = None):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """The number of logits of an example: none."""
        return 0

    def create_model_fn_ops(
        self,
        features: Mapping[str, Tensor],
        mode: str,
        labels: Any = None,
        train_op_fn: Callable | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Makes the operations.

        Args:
          features: The features by name.
          mode: One of `tf.contrib.learn.ModeKeys`.
          labels: The labels: a tensor, or tensors by name.
          train_op_fn: A function from the loss to the operation of a training step; needed to train.
          logits: The logits.
          logits_input: What the logits are made of by one more layer, instead of `logits`.
          scope: The variable scope.

        Returns:
          The operations.
        """
        check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with tf.variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                loss = tf.add_n(loss) if isinstance(loss, list) else loss
                write_loss(self.head_name, loss)
                if mode == ModeKeys.TRAIN:
                    check_train_op_fn(train_op_fn)
                    with tf.name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, predictions={}, eval_metric_ops={})


@export("contrib.learn.no_op_train_fn", "contrib.learn.head.no_op_train_fn")
@deprecated(None, "Use 'lambda _: tf.no_op()'.")
def no_op_train_fn(loss: Any) -> Any:
    """Makes an operation that does nothing, where a head wants one that trains.

    Args:
      loss: The loss, which is not used.

    Returns:
      The operation.
    """
    return tf.no_op()


class MultiHead(Head):
    """Several heads on one model."""

    def __init__(self, heads: list[Any], loss_weights: list[float] | None):
        for head in heads:
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        self._heads = heads
        self._loss_weights = loss_weights

    @property
    def logits_dimension(self) -> int:
        """The number of logits of an example, of all heads together."""
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Mapping[str, Tensor],
        mode: str,
        labels: Any = None,
        train_op_fn: Callable | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Makes the operations.

        Args:
          features: The features by name.
          mode: One of `tf.contrib.learn.ModeKeys`.
          labels: The labels by name.
          train_op_fn: A function from the loss to the operation of a training step; needed to train.
          logits: The logits of all heads side by side, or logits by the heads' names.
          logits_input: What the logits are made of by one more layer for each head, instead of `logits`.
          scope: The variable scope.

        Returns:
          The operations.
        """
        check_mode(mode)
        models = []
        for head, own in zip(self._heads, self._split(logits), strict=True):
            given = {"logits_input": logits_input} if logits is None else {"logits": own}
            models.append(
                head.create_model_fn_ops(features, mode, labels, no_op_train_fn, scope=scope, **given)
            )
        if mode == ModeKeys.INFER:
            speaking = [
                (head, model)
                for head, model in zip(self._heads, models, strict=True)
                if not isinstance(head, LossOnlyHead)
            ]
            outputs = {head.head_name: model.output_alternatives[head.head_name] for head, model in speaking}
            return ModelFnOps(mode=mode, predictions=_named(speaking), output_alternatives=outputs)
        loss = self._merged([model.loss for model in models])
        metrics = {key: value for model in models for key, value in model.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            predictions = _named(zip(self._heads, models, strict=True))
            return ModelFnOps(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        check_train_op_fn(train_op_fn)
        train_op = tf.group(train_op_fn(loss), *(model.train_op for model in models))
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _split(self, logits: Any) -> list[Any]:
        if isinstance(logits, dict):
            return [
                None if isinstance(head, LossOnlyHead) else logits[head.head_name] for head in self._heads
            ]
        begin, parts = 0, []
        for head in self._heads:
            parts.append(
                None if logits is None else tf.slice(logits, [0, begin], [-1, head.logits_dimension])
            )
            begin += head.logits_dimension
        return parts

    def _merged(self, losses: list[Any]) -> Any:
        if self._loss_weights:
            losses = [
                tf.multiply(loss, weight) for loss, weight in zip(losses, self._loss_weights, strict=True)
            ]
        return tf.add_n(losses)


def _named(heads_and_models: Any) -> dict[tuple[str, str], Any]:
    return {
        (head.head_name, key): value
        for head, model in heads_and_models
        for key, value in model.predictions.items()
    }


def exported_classes(predictions: dict[str, Any], label_keys: Any = None) -> dict[str, Any]:
    """What a classifier exports: probabilities, and the names of their classes."""
    probabilities = predictions[PredictionKey.PROBABILITIES]
    with tf.name_scope(None, "_classification_output_alternatives", (probabilities,)):
        classes = classes_as_strings(probabilities, label_keys)
    return {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}
