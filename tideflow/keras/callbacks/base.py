"""What is called while a model is trained, evaluated, or predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.utils.progbar import Progbar
from tideflow.platform import logging

Logs = dict[str, Any]


@export("keras.callbacks.Callback")
class Callback:
    """The base of callbacks. `model` is the model, `params` what the loop knows of itself.

    A subclass overrides the methods of the moments that it is for.
    """

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Takes what the loop knows of itself.

        Args:
          params: Numbers of epochs, steps and samples, names of metrics.
        """
        self.params = params

    def set_model(self, model: Any) -> None:
        """Takes the model.

        Args:
          model: The model.
        """
        self.model = model

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Called before a training batch.

        Args:
          batch: The number of the batch in its epoch.
          logs: `batch` and `size`.
        """

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Called after a training batch.

        Args:
          batch: The number of the batch in its epoch.
          logs: The loss and the metrics by name.
        """

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Called before an epoch.

        Args:
          epoch: The number of the epoch.
          logs: Nothing yet.
        """

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Called after an epoch.

        Args:
          epoch: The number of the epoch.
          logs: The loss and the metrics by name, those of validation after `val_`.
        """

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Called before a training batch.

        Args:
          batch: The number of the batch in its epoch.
          logs: `batch` and `size`.
        """
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Called after a training batch.

        Args:
          batch: The number of the batch in its epoch.
          logs: The loss and the metrics by name.
        """
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Called before a batch of an evaluation.

        Args:
          batch: The number of the batch.
          logs: `batch` and `size`.
        """

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Called after a batch of an evaluation.

        Args:
          batch: The number of the batch.
          logs: The loss and the metrics by name.
        """

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Called before a batch of predictions.

        Args:
          batch: The number of the batch.
          logs: `batch` and `size`.
        """

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Called after a batch of predictions.

        Args:
          batch: The number of the batch.
          logs: `outputs`.
        """

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Called before training.

        Args:
          logs: Nothing yet.
        """

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Called after training.

        Args:
          logs: Nothing.
        """

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Called before an evaluation.

        Args:
          logs: Nothing yet.
        """

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Called after an evaluation.

        Args:
          logs: Nothing.
        """

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Called before predictions.

        Args:
          logs: Nothing yet.
        """

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """Called after predictions.

        Args:
          logs: Nothing.
        """


class CallbackList:
    """Callbacks that are called together."""

    def __init__(self, callbacks: Sequence[Callback], model: Any, params: dict[str, Any]):
        self.callbacks = list(callbacks)
        self.params = params
        self.model = model
        for callback in self.callbacks:
            callback.set_params(params)
            callback.set_model(model)

    def call(self, moment: str, *args: Any) -> None:
        """Calls a method of all callbacks."""
        for callback in self.callbacks:
            getattr(callback, moment)(*args)

    def begin(self, mode: str) -> None:
        """Calls what comes before everything."""
        self.call(f"on_{mode}_begin", None)

    def end(self, mode: str) -> None:
        """Calls what comes after everything."""
        self.call(f"on_{mode}_end", None)

    def batch(self, mode: str, moment: str, number: int, logs: Logs) -> None:
        """Calls what comes before or after a batch."""
        self.call(f"on_{mode}_batch_{moment}", number, logs)


@export("keras.callbacks.BaseLogger")
class BaseLogger(Callback):
    """Averages the metrics of batches over an epoch, for the callbacks after it.

    Args:
      stateful_metrics: The names of metrics that are taken as they are, not averaged.
    """

    def __init__(self, stateful_metrics: Sequence[str] | None = None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + np.float64(value) * size

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if logs is None:
            return
        for name in self.params["metrics"]:
            if name in self.totals:
                total = self.totals[name]
                logs[name] = total if name in self.stateful_metrics else total / self.seen


@export("keras.callbacks.History")
class History(Callback):
    """Keeps the loss and the metrics of all epochs, in `history` by name."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


@export("keras.callbacks.ProgbarLogger")
class ProgbarLogger(Callback):
    """Shows a progress bar with the loss and the metrics.

    Args:
      count_mode: What is counted: `"samples"` or `"steps"`.
      stateful_metrics: The names of metrics that are shown as they are, not averaged.

    Raises:
      ValueError: If something else is to be counted.
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics: Sequence[str] | None = None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.verbose = self.params["verbose"]
        self.epochs = self.params["epochs"]

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.seen = 0
        self.target = self.params["steps" if self.use_steps else "samples"]
        if self.verbose and self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self.progbar = Progbar(
            target=self.target,
            verbose=self.verbose,
            stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        self.log_values: list[tuple[str, Any]] = []

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        steps = logs.get("num_steps", 1)
        self.seen += steps if self.use_steps else logs.get("size", 0) * steps
        self.log_values = [(name, logs[name]) for name in self.params["metrics"] if name in logs]
        if self.verbose and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, self.log_values)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        # With those of the last batch, which the bar does not have yet: the mean is that of the epoch then.
        values = [(name, logs[name]) for name in self.params["metrics"] if name in logs]
        if self.verbose:
            self.progbar.update(self.seen, [*self.log_values, *values])


@export("keras.callbacks.TerminateOnNaN")
class TerminateOnNaN(Callback):
    """Ends training when the loss is no number."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and (np.isnan(loss) or np.isinf(loss)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


@export("keras.callbacks.LambdaCallback")
class LambdaCallback(Callback):
    """A callback of functions.

    Args:
      on_epoch_begin: A function of `epoch` and `logs`.
      on_epoch_end: A function of `epoch` and `logs`.
      on_batch_begin: A function of `batch` and `logs`.
      on_batch_end: A function of `batch` and `logs`.
      on_train_begin: A function of `logs`.
      on_train_end: A function of `logs`.
      **kwargs: Further methods by name.
    """

    def __init__(
        self,
        on_epoch_begin: Callable | None = None,
        on_epoch_end: Callable | None = None,
        on_batch_begin: Callable | None = None,
        on_batch_end: Callable | None = None,
        on_train_begin: Callable | None = None,
        on_train_end: Callable | None = None,
        **kwargs: Any,
    ):
        super().__init__()
        self.__dict__.update(kwargs)
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        self.__dict__.update({name: function for name, function in given.items() if function is not None})


class Monitor(Callback):
    """What follows a metric needs to know: whether smaller is better, and by how much."""

    def _watch(self, monitor: str, mode: str, min_delta: float, who: str) -> None:
        if mode not in ("auto", "min", "max"):
            logging.warning("%s mode %s is unknown, fallback to auto mode.", who, mode)
            mode = "auto"
        self.monitor = monitor
        larger = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.monitor_op = np.greater if larger else np.less
        self.min_delta = abs(min_delta) if larger else -abs(min_delta)
        self._worst = -np.inf if larger else np.inf

    def _better(self, current: Any, best: Any) -> bool:
        return self.monitor_op(current - self.min_delta, best)

    def _monitored(self, logs: Logs | None, effect: str) -> Any:
        value = (logs or {}).get(self.monitor)
        if value is None:
            logging.warning(
                "%s conditioned on metric `%s` which is not available. Available metrics are: %s",
                effect,
                self.monitor,
                ",".join((logs or {}).keys()),
            )
        return value
