"""TPUEstimatorSpec: what the model function of a TPUEstimator returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.estimator.export.outputs import serving_outputs
from tideflow.estimator.spec import (
    EstimatorSpec,
    ModeKeys,
    checked_hooks,
    checked_loss,
    checked_predictions,
    checked_train_op,
)
from tideflow.export import export
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _HostCallHook(SessionRunHook):
    """Runs what a host call has made, in each step."""

    def __init__(self, made: Any):
        self._made = made

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._made)


class _TPUSpecFields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Callable[[], Scaffold] | None
    host_call: Any
    training_hooks: tuple[SessionRunHook, ...]
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


@export("estimator.tpu.TPUEstimatorSpec", "contrib.tpu.TPUEstimatorSpec")
class TPUEstimatorSpec(_TPUSpecFields):
    """What a model function returns that could run on a TPU: metrics are a function and its arguments.

    Args:
      mode: One of `tf.estimator.ModeKeys`.
      predictions: A tensor, or tensors by name.
      loss: The loss, a scalar.
      train_op: The operation of a training step.
      eval_metrics: A pair of a function that makes metrics by name, and its arguments, a list or by name.
      export_outputs: What a SavedModel gives, by the names of its signatures.
      scaffold_fn: A function that makes a `tf.train.Scaffold`.
      host_call: A pair of a function that makes tensors to run in each step, and its arguments.
      training_hooks: Hooks of the training.
      evaluation_hooks: Hooks of the evaluation.
      prediction_hooks: Hooks of the prediction.

    Raises:
      ValueError: If something that the mode needs is missing, or a pair is none.
      TypeError: If an argument has the wrong type.
    """

    def __new__(
        cls,
        mode: str,
        predictions: TensorLike | Mapping[Any, TensorLike] | None = None,
        loss: TensorLike | None = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Callable[[], Scaffold] | None = None,
        host_call: Any = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ):
        _check_call(eval_metrics, "eval_metrics")
        _check_call(host_call, "host_call")
        predictions = checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = serving_outputs(export_outputs, predictions)
        return super().__new__(
            cls,
            mode,
            predictions,
            checked_loss(loss, mode),
            checked_train_op(train_op, mode),
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            checked_hooks(training_hooks),
            checked_hooks(evaluation_hooks),
            checked_hooks(prediction_hooks),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """Makes the EstimatorSpec for CPUs and GPUs, calling the functions at once.

        Returns:
          The EstimatorSpec.
        """
        hooks = (_HostCallHook(_called(self.host_call)),) if self.host_call is not None else ()
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=None if self.eval_metrics is None else _called(self.eval_metrics),
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_call(pair: Any, name: str) -> None:
    if pair is None:
        return
    if not isinstance(pair, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(pair) != 2:
        raise ValueError(f"{name} should have two elements.")
    if not callable(pair[0]):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(pair[1], (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")


def _called(pair: Any) -> Any:
    function, arguments = pair
    return function(**arguments) if isinstance(arguments, dict) else function(*arguments)
