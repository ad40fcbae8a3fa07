"""Callbacks that write: checkpoints of the model, tables of its metrics, messages to a server."""

from __future__ import annotations

import csv
import json
import os
import urllib.parse
import urllib.request
from collections.abc import Iterable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.callbacks.base import Callback, Logs, Monitor
from tideflow.platform import logging


@export("keras.callbacks.ModelCheckpoint")
class ModelCheckpoint(Monitor):
    """Saves the model, or its weights, after epochs.

    Args:
      filepath: The path. It may have fields, such as `{epoch:02d}` and `{val_loss:.2f}`.
      monitor: The name of the metric that says which epoch is best.
      verbose: Whether a message is printed.
      save_best_only: Whether only epochs are saved that are better than all before.
      save_weights_only: Whether only weights are saved.
      mode: `"min"`, `"max"`, or `"auto"` for what the name says.
      save_freq: `"epoch"`, or the number of samples between two checkpoints.
      **kwargs: `period`, the number of epochs between two checkpoints.
    """

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        **kwargs: Any,
    ):
        super().__init__()
        self._watch(monitor, mode, 0, "ModelCheckpoint")
        self.verbose = verbose
        self.filepath = os.fspath(filepath)
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.best = self._worst
        self.period = kwargs.get("period", 1)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.epochs_since_last_save = 0
        self._samples = 0
        self._epoch = 0

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        if isinstance(self.save_freq, int):
            self._samples += (logs or {}).get("size", 1)
            if self._samples >= self.save_freq:
                self._save(self._epoch, logs)
                self._samples = 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self.epochs_since_last_save = 0
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Logs | None) -> None:
        logs = logs or {}
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                logging.warning("Can save best model only with %s available, skipping.", self.monitor)
                return
            if not self.monitor_op(current, self.best):
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1:05d}: {self.monitor} did not improve from {self.best:0.5f}")
                return
            if self.verbose > 0:
                print(
                    f"\nEpoch {epoch + 1:05d}: {self.monitor} improved from {self.best:0.5f} to "
                    f"{current:0.5f}, saving model to {path}"
                )
            self.best = current
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)


@export("keras.callbacks.CSVLogger")
class CSVLogger(Callback):
    """Writes the loss and the metrics of epochs to a CSV file.

    Args:
      filename: The path.
      separator: What stands between values.
      append: Whether lines are added to a file that is there.
    """

    def __init__(self, filename: str, separator: str = ",", append: bool = False):
        super().__init__()
        self.filename = os.fspath(filename)
        self.sep = separator
        self.append = append
        self.writer: Any = None
        self.keys: Any = None
        self.append_header = True

    def on_train_begin(self, logs: Logs | None = None) -> None:
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as file:
                self.append_header = not bool(len(file.readline()))
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="\n")  # noqa: SIM115

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:  # a metric may be missing in the last epoch
            logs = {key: logs.get(key, "NA") for key in self.keys}
        if self.writer is None:
            self.writer = csv.DictWriter(
                self.csv_file, fieldnames=["epoch", *self.keys], delimiter=self.sep, lineterminator="\n"
            )
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch, **{key: _plain(logs[key]) for key in self.keys}})
        self.csv_file.flush()

    def on_train_end(self, logs: Logs | None = None) -> None:
        self.csv_file.close()
        self.writer = None


def _plain(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value
    if isinstance(value, Iterable):
        return f'"[{", ".join(map(str, value))}]"'
    return value


@export("keras.callbacks.RemoteMonitor")
class RemoteMonitor(Callback):
    """Sends the loss and the metrics of epochs to a server.

    Args:
      root: The address of the server.
      path: The path under it.
      field: The name of the field of a form.
      headers: Headers of the request.
      send_as_json: Whether JSON is sent, not a form.
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ):
        super().__init__()
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        sent = {
            "epoch": epoch,
            **{key: getattr(value, "item", lambda v=value: v)() for key, value in (logs or {}).items()},
        }
        headers = dict(self.headers or {})
        if self.send_as_json:
            body = json.dumps(sent).encode()
            headers.setdefault("Content-Type", "application/json")
        else:
            body = urllib.parse.urlencode({self.field: json.dumps(sent)}).encode()
        try:
            request = urllib.request.Request(self.root + self.path, data=body, headers=headers)
            urllib.request.urlopen(request, timeout=10).close()
        except OSError:
            logging.warning("Warning: could not reach RemoteMonitor root server at %s", self.root)
