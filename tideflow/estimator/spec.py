"""EstimatorSpec: what a model function returns, checked for the mode in which it was called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.estimator.export.outputs import ExportOutput, serving_outputs
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection, get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.platform import logging
from tideflow.platform.function_arguments import fn_args
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

LOSS_METRIC_KEY = "loss"
_MODEL_FN_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}


@export("estimator.ModeKeys")
class ModeKeys:
    """For what a model function is called.

    TRAIN, EVAL and PREDICT are the values of its argument `mode`.
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _SpecFields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    export_outputs: dict[str, ExportOutput] | None
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Scaffold
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


@export("estimator.EstimatorSpec")
class EstimatorSpec(_SpecFields):
    """What a model function returns: the operations of a model, and what goes with them.

    Args:
      mode: One of `tf.estimator.ModeKeys`.
      predictions: A tensor, or tensors by name; needed to predict.
      loss: The loss, a scalar; needed to train and to evaluate.
      train_op: The operation of a training step; needed to train.
      eval_metric_ops: The metrics by name, each a pair of a value and an update as `tf.metrics` makes them,
        or an object with `result()` and `updates`.
      export_outputs: What a SavedModel gives, by the names of its signatures; the predictions if None.
      training_chief_hooks: Hooks of the training, for the chief alone.
      training_hooks: Hooks of the training, for all workers.
      scaffold: A `tf.train.Scaffold` with operations around the model.
      evaluation_hooks: Hooks of the evaluation.
      prediction_hooks: Hooks of the prediction.

    Raises:
      ValueError: If something that the mode needs is missing, or is of another graph.
      TypeError: If an argument has the wrong type.
    """

    def __new__(
        cls,
        mode: str,
        predictions: TensorLike | Mapping[Any, TensorLike] | None = None,
        loss: TensorLike | None = None,
        train_op: Any = None,
        eval_metric_ops: dict[str, Any] | None = None,
        export_outputs: dict[str, ExportOutput] | None = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ):
        train_op = checked_train_op(train_op, mode)
        loss = checked_loss(loss, mode)
        predictions = checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = serving_outputs(export_outputs, predictions)
        if scaffold is not None and not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        training_hooks, evaluation_hooks, prediction_hooks, training_chief_hooks = map(
            checked_hooks, (training_hooks, evaluation_hooks, prediction_hooks, training_chief_hooks)
        )
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks,
            scaffold=scaffold or Scaffold(),
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """A copy with some fields changed, checked again."""
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwds})


def _check_graph(item: Any, what: str, name: str) -> None:
    if item.graph is not get_default_graph():
        raise ValueError(
            f'{what} with "{name}" must be from the default graph. Possible causes of this error include: '
            f"\n\n1) {what} was created outside the context of the default graph.\n\n2) The object passed "
            'through to EstimatorSpec was not created in the most recent call to "model_fn".'
        )


def _checked_tensor(item: Any, name: str) -> Any:
    if not isinstance(item, (Tensor, Variable)):
        raise TypeError(f"{name} must be Tensor, given: {item}")
    return item


def checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, (Operation, Tensor, Variable)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    train_op = train_op.op if isinstance(train_op, Variable) else train_op
    _check_graph(train_op, "train_op", train_op.name)
    return train_op


def checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    shape = _checked_tensor(loss, "loss").get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(TensorShape([])):
        loss = tf.reshape(loss, [])
    _check_graph(loss, "loss", loss.name)
    return loss


def checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _check_graph(_checked_tensor(predictions, "predictions"), "prediction values", predictions.name)
        return predictions
    for key, value in predictions.items():
        _checked_tensor(value, f"predictions[{key}]")
    for key, value in predictions.items():
        _check_graph(value, "prediction values", f"{key}: {value.name}")
    return dict(predictions)


def checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    checked = tuple(hooks or ())
    for hook in checked:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return checked


def _is_metric_object(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("result", "updates", "variables"))


def _checked_metrics(given: dict[str, Any] | None) -> dict[str, Any]:
    """Metrics as pairs of a value and an update. The variables of objects are noted as those of metrics."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {given}")
    metrics, variables = {}, []
    for key, value in given.items():
        if _is_metric_object(value):
            if not value.updates:
                raise ValueError(f'Please call update_state(...) on the "{value.name}" metric')
            variables.extend(value.variables)
            value = (value.result(), value.updates[0])
        elif not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{value} for key: {key}"
            )
        for part in tf.nest.flatten(value):
            _check_graph(part, "eval_metric_ops", f"{key}: {part.name}")
        metrics[key] = value
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        there = get_collection(collection)
        for variable in variables:
            if not any(variable is other for other in there):
                add_to_collection(collection, variable)
    return metrics


def check_model_fn_arguments(model_fn: Callable, params: Any) -> None:
    """A model function takes features, `params` where there are some, and nothing that nobody knows."""
    names = set(fn_args(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to "
            "Estimator."
        )
    if params is None and "params" in names:
        logging.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.",
            model_fn,
        )
    unknown = sorted(names - _MODEL_FN_ARGUMENTS)
    if unknown:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")
