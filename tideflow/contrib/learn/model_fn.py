"""ModelFnOps: what a model function of tf.contrib.learn returns, checked for its mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.contrib.learn.modes import MetricKey, ModeKeys, PredictionKey, ProblemType
from tideflow.estimator.export.outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from tideflow.estimator.spec import EstimatorSpec
from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.shapes import TensorShape
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Fields(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    output_alternatives: Mapping[str | None, tuple[int, dict[str, Any]]] | None
    training_chief_hooks: list[SessionRunHook]
    training_hooks: list[SessionRunHook]
    scaffold: Scaffold | None
    mode: str


@export("contrib.learn.ModelFnOps")
class ModelFnOps(_Fields):
    """What a model function returns: the operations of a model.

    Args:
      mode: One of `tf.contrib.learn.ModeKeys`.
      predictions: A tensor, or tensors by name; needed to evaluate and to infer.
      loss: The loss, a scalar; needed to train and to evaluate.
      train_op: The operation of a training step; needed to train.
      eval_metric_ops: The metrics by name: pairs of a value and an update, or values.
      output_alternatives: Pairs of a `ProblemType` and of tensors by name, by the names of what a SavedModel
        is to give.
      training_chief_hooks: Hooks of the training, for the chief alone.
      training_hooks: Hooks of the training, for all workers.
      scaffold: A `tf.train.Scaffold` with operations around the model.

    Raises:
      ValueError: If something that the mode needs is missing, or the loss is no scalar.
      TypeError: If a hook is none.
    """

    @deprecated(
        None,
        "When switching to tf.estimator.Estimator, use tf.estimator.EstimatorSpec. You can use the "
        "`estimator_spec` method to create an equivalent one.",
    )
    def __new__(
        cls,
        mode: str,
        predictions: TensorLike | Mapping[str, TensorLike] | None = None,
        loss: TensorLike | None = None,
        train_op: TensorLike | Operation | None = None,
        eval_metric_ops: dict[str, Any] | None = None,
        output_alternatives: Mapping[str | None, tuple[int, dict[str, Any]]] | None = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        return super().__new__(
            cls,
            train_op=_checked_train_op(train_op, mode),
            loss=_checked_loss(loss, mode),
            predictions=_checked_predictions(predictions, mode),
            eval_metric_ops={} if eval_metric_ops is None else eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: str | None = None) -> EstimatorSpec:
        """Makes what a model function of `tf.estimator` would have returned.

        Args:
          default_serving_output_alternative_key: Which of several outputs is the default of a SavedModel.

        Returns:
          The EstimatorSpec.
        """
        outputs = None
        if self.output_alternatives:
            alternatives = dict(self.output_alternatives)
            if len(alternatives) > 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in alternatives:
                default = alternatives[default_serving_output_alternative_key]
                alternatives[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = default
            outputs = {key: _export_output(*value) for key, value in alternatives.items()}
        metrics = {key: value for key, value in self.eval_metric_ops.items() if key != MetricKey.LOSS}
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=outputs,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _checked_train_op(train_op: Any, mode: str) -> Operation | None:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    return train_op if isinstance(train_op, Operation) else tf.convert_to_tensor(train_op).op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode != ModeKeys.INFER:
            raise ValueError("Missing loss.")
        return None
    loss = tf.convert_to_tensor(loss)
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if shape.is_compatible_with(TensorShape([])) else tf.reshape(loss, [])


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode != ModeKeys.TRAIN:
            raise ValueError("Missing predictions.")
        return None
    convert = tf.contrib.framework.convert_to_tensor_or_sparse_tensor
    if isinstance(predictions, dict):
        return {key: convert(value) for key, value in predictions.items()}
    return convert(predictions)


def _checked_hooks(hooks: Iterable[SessionRunHook] | None) -> list[SessionRunHook]:
    checked = list(hooks or ())
    for hook in checked:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(
                "All hooks returned from model_fn must be SessionRunHook instances, got instance of "
                f"{type(hook)}: {hook}"
            )
    return checked


def scores_of(outputs: Mapping[str, Any]) -> Any:
    """The scores among the outputs of a classifier."""
    return outputs.get(PredictionKey.SCORES, outputs.get(PredictionKey.PROBABILITIES))


def classes_of(outputs: Mapping[str, Any]) -> Any:
    """The classes among the outputs of a classifier, if they are strings as servers want them."""
    classes = outputs.get(PredictionKey.CLASSES)
    return classes if classes is not None and classes.dtype == tf.string else None


def _export_output(problem_type: int, outputs: dict[str, Any]) -> ExportOutput:
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(scores_of(outputs))
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = classes_of(outputs)
        if classes is None:
            logging.warning("classes is not string, Servo inference will not have class ids.")
        return ClassificationOutput(scores=scores_of(outputs), classes=classes)
    if problem_type == ProblemType.UNSPECIFIED:
        return PredictOutput(outputs)
    raise ValueError(f"Unknown problem_type={problem_type}")
