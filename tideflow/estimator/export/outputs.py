"""ExportOutputs: what of a model a SavedModel gives, and the signature that this makes with given inputs."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.saved_model import constants
from tideflow.saved_model.signatures import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
    supervised_signature_def,
)

SUPERVISED_TRAIN_METHOD_NAME = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME = "tensorflow/supervised/eval"


@export("estimator.export.ExportOutput")
class ExportOutput(abc.ABC):
    """The base of what an EstimatorSpec has in `export_outputs`."""

    __metaclass__ = abc.ABCMeta  # Python 2's way to say it, which is a public name

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """Makes the signature from given inputs to these outputs.

        Args:
          receiver_tensors: The inputs by name.

        Returns:
          The SignatureDef.
        """


def _named(outputs: Any, default_name: str, label: str) -> dict[str, Tensor]:
    """Outputs by name; a tensor alone has a default one, a tuple is a path."""
    given = outputs if isinstance(outputs, dict) else {default_name: outputs}
    named = {}
    for key, value in given.items():
        key = _checked_key(key, label)
        if not isinstance(value, Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
        named[key] = value
    return named


def _checked_key(key: Any, label: str) -> str:
    if isinstance(key, tuple):
        key = "/".join(key)
    if not isinstance(key, str):
        raise ValueError(f"{label} output key must be a string; got {key}.")
    return key


def _examples(receiver_tensors: Mapping[str, Tensor], label: str) -> Tensor:
    """The only input, which holds serialized Example messages."""
    if len(receiver_tensors) == 1:
        (examples,) = receiver_tensors.values()
        if tf.as_dtype(examples.dtype) == tf.string:
            return examples
    raise ValueError(f"{label} input must be a single string Tensor; got {receiver_tensors}")


@export("estimator.export.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """The output of a classification.

    Args:
      scores: A float tensor of a score for each class, or None.
      classes: A string tensor of the classes, or None.

    Raises:
      ValueError: If both are missing, or have the wrong type.
    """

    def __init__(self, scores: Tensor | None = None, classes: Tensor | None = None):
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype == tf.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Tensor | None:
        """The scores."""
        return self._scores

    @property
    def classes(self) -> Tensor | None:
        """The classes."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """Makes the signature of the method Classify.

        Args:
          receiver_tensors: One string tensor of Example messages, by name.

        Returns:
          The SignatureDef.
        """
        examples = _examples(receiver_tensors, "Classification")
        return classification_signature_def(examples, self.classes, self.scores)


@export("estimator.export.RegressionOutput")
class RegressionOutput(ExportOutput):
    """The output of a regression.

    Args:
      value: A float tensor.

    Raises:
      ValueError: If it is not a float tensor.
    """

    def __init__(self, value: Tensor):
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Tensor:
        """The value."""
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """Makes the signature of the method Regress.

        Args:
          receiver_tensors: One string tensor of Example messages, by name.

        Returns:
          The SignatureDef.
        """
        return regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


@export("estimator.export.PredictOutput")
class PredictOutput(ExportOutput):
    """Any outputs.

    Args:
      outputs: A tensor, or tensors by name.

    Raises:
      ValueError: If a name is not a string or an output not a tensor.
    """

    def __init__(self, outputs: Tensor | Mapping[str, Tensor]):
        self._outputs = _named(outputs, "output", "Prediction")

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The outputs by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """Makes the signature of the method Predict.

        Args:
          receiver_tensors: The inputs by name.

        Returns:
          The SignatureDef.
        """
        return predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """The outputs of a model with labels: its loss, its predictions and its metrics, each under a prefix."""

    _method_name = ""

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self.loss = None if loss is None else _prefixed(loss, "loss")
        self.predictions = None if predictions is None else _prefixed(predictions, "predictions")
        self.metrics = None if metrics is None else _metric_outputs(metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        return supervised_signature_def(
            self._method_name, receiver_tensors, self.loss, self.predictions, self.metrics
        )


class TrainOutput(_SupervisedOutput):
    """The outputs of a model that trains."""

    _method_name = SUPERVISED_TRAIN_METHOD_NAME


class EvalOutput(_SupervisedOutput):
    """The outputs of a model that is evaluated."""

    _method_name = SUPERVISED_EVAL_METHOD_NAME


def _prefixed(outputs: Any, prefix: str) -> dict[str, Tensor]:
    named = _named(outputs, prefix, prefix)
    return {_with_prefix(key, prefix): value for key, value in named.items()}


def _with_prefix(key: str, prefix: str) -> str:
    return key if key.startswith(prefix) else f"{prefix}/{key}"


def _metric_outputs(metrics: Any) -> dict[str, Tensor]:
    """Each metric as two outputs: its value, and its update as a tensor."""
    outputs = {}
    for key, (value, update) in (metrics if isinstance(metrics, dict) else {"metrics": metrics}).items():
        key = _with_prefix(_checked_key(key, "metrics"), "metrics")
        if not isinstance(value, Tensor):
            raise ValueError(f"{key} output value must be a Tensor; got {value}.")
        if not isinstance(update, (Tensor, Operation)):
            raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
        if isinstance(update, Operation):
            with tf.control_dependencies([update]):
                update = tf.constant([], name="metric_op_wrapper")
        outputs[f"{key}/value"], outputs[f"{key}/update_op"] = value, update
    return outputs


def serving_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs to serve: those given, or the predictions; one of them is the default."""
    default = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if export_outputs is None:
        export_outputs = {default: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}")
    if len(export_outputs) == 1:
        export_outputs.setdefault(default, next(iter(export_outputs.values())))
    elif export_outputs and default not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this "
            "by naming one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return export_outputs
