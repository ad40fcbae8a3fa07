"""Callbacks that change how training goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.callbacks.base import Callback, Logs, Monitor
from tideflow.layers.keras_session import get_value, set_value
from tideflow.platform import logging


@export("keras.callbacks.EarlyStopping")
class EarlyStopping(Monitor):
    """Ends training when a metric has not become better for some epochs.

    Args:
      monitor: The name of the metric.
      min_delta: The least change that counts.
      patience: The number of epochs without a change.
      verbose: Whether a message is printed.
      mode: `"min"`, `"max"`, or `"auto"` for what the name says.
      baseline: A value that the metric must beat.
      restore_best_weights: Whether the model gets the weights of its best epoch.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ):
        super().__init__()
        self._watch(monitor, mode, min_delta, "EarlyStopping")
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.best_weights: Any = None
        self.wait = self.stopped_epoch = 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.wait = self.stopped_epoch = 0
        self.best = self._worst if self.baseline is None else self.baseline

    def get_monitor_value(self, logs: Logs | None) -> Any:
        """The metric that is watched; None, and a warning, if it is not there.

        Args:
          logs: The metrics of the epoch, by name.

        Returns:
          The value.
        """
        return self._monitored(logs, "Early stopping")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self._better(current, self.best):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")


@export("keras.callbacks.LearningRateScheduler")
class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch.

    Args:
      schedule: A function of the number of the epoch, and of the last rate if it takes two arguments.
      verbose: Whether a message is printed.
    """

    def __init__(self, schedule: Callable, verbose: int = 0):
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(get_value(self.model.optimizer.lr)))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError('The output of the "schedule" function should be float.')
        set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if logs is not None:
            logs["lr"] = get_value(self.model.optimizer.lr)


@export("keras.callbacks.ReduceLROnPlateau")
class ReduceLROnPlateau(Monitor):
    """Lowers the learning rate when a metric has not become better for some epochs.

    Args:
      monitor: The name of the metric.
      factor: What the rate is multiplied by, below 1.
      patience: The number of epochs without a change.
      verbose: Whether a message is printed.
      mode: `"min"`, `"max"`, or `"auto"` for what the name says.
      min_delta: The least change that counts.
      cooldown: The number of epochs after a change that do not count.
      min_lr: The least rate.
      **kwargs: `epsilon`, an old name of `min_delta`.

    Raises:
      ValueError: If the factor is not below 1.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ):
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            logging.warning("`epsilon` argument is deprecated and will be removed, use `min_delta` instead.")
        self._watch(monitor, mode, min_delta, "Learning Rate Plateau Reducing")
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self._reset()

    def _reset(self) -> None:
        self.best = self._worst
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._reset()

    def in_cooldown(self) -> bool:
        """Whether epochs do not count, because the rate has just changed."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = {} if logs is None else logs
        logs["lr"] = get_value(self.model.optimizer.lr)
        current = self._monitored(logs, "Reduce LR on plateau")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(current, self.best):
            self.best = current
            self.wait = 0
            return
        if self.in_cooldown():
            return
        self.wait += 1
        old = float(get_value(self.model.optimizer.lr))
        if self.wait >= self.patience and old > self.min_lr:
            new = max(old * self.factor, self.min_lr)
            set_value(self.model.optimizer.lr, new)
            if self.verbose > 0:
                print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
            self.cooldown_counter = self.cooldown
            self.wait = 0
