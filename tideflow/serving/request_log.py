"""The log of requests: PredictionLogs in TFRecord files, of as many requests as are asked for.

`tideflow replay` sends them again, and a file of them warms up the versions to come (`warmup.py`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import time
from collections.abc import Callable
from typing import Any

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OpError
from tideflow.io.local_files import local_path
from tideflow.io.records import TFRecordWriter
from tideflow.serving.calls import CLASSIFY, REGRESS, Arrays, Call, Servable
from tideflow.serving.inference import NO_SIGNATURE
from tideflow.serving.messages import PredictionLog
from tideflow.serving.metrics import Metrics
from tideflow.serving.tensors_proto import write_tensor

LARGEST_FILE = 256 << 20  # bytes after which another file is begun
FLUSH_SECONDS = 1.0
PAUSE_SECONDS = 10.0  # after a file that could not be written

_log = logging.getLogger("tideflow.serving")


class RequestLog:
    """Writes the calls that were answered, and their answers, to `PREFIX-<time>-<number>.tfrecord`.

    Args:
      prefix: The path that all files begin with.
      rate: The share of calls that is written.
      metrics: Where they are counted.
      chance: Random numbers from 0 to 1.
    """

    def __init__(
        self, prefix: str, rate: float, metrics: Metrics, chance: Callable[[], float] = random.random
    ):
        self._prefix, self._rate, self._metrics, self._chance = prefix, rate, metrics, chance
        self._writer: TFRecordWriter | None = None
        self._bytes = self._files = 0
        self._last_flush = 0.0
        self._is_failing, self._resumes_at = False, 0.0

    def __call__(self, servable: Servable, call: Call, outputs: Arrays) -> None:
        """Writes a call, or not."""
        if self._chance() >= self._rate:
            return
        status = "OK"
        if time.monotonic() < self._resumes_at:
            status = "UNAVAILABLE"
        else:
            try:
                self._write(log_of(servable, call, outputs, self._rate).SerializeToString())
                self._is_failing = False
            except OpError as error:
                self._failed(error)
                status = "UNAVAILABLE"
        self._metrics.request_log_count.of(servable.name, status).value += 1

    def _failed(self, error: OpError) -> None:
        """Says so once. What follows half a record cannot be read: later another file is begun."""
        if not self._is_failing:
            _log.error("requests cannot be logged: %s", error.message)
        self._is_failing, self._resumes_at = True, time.monotonic() + PAUSE_SECONDS
        with contextlib.suppress(OpError):
            self.close()

    def _write(self, record: bytes) -> None:
        if self._writer is None or self._bytes > LARGEST_FILE:
            self.close()
            self._files += 1
            began = time.strftime("%Y%m%d-%H%M%S")
            self._writer = TFRecordWriter(f"{self._prefix}-{began}-{self._files:05d}.tfrecord")
            self._bytes = 0
        self._writer.write(record)
        self._bytes += len(record)
        now = time.monotonic()
        if now - self._last_flush > FLUSH_SECONDS:
            self._last_flush = now
            self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


class RequestLogs:
    """The logs of a server: one of all models, if the options name it, and those of models' `logging_config`.

    Args:
      prefix: The path that the files of all models' log begin with; "" for none.
      rate: The share of calls in that log.
      metrics: Where logged calls are counted.
    """

    def __init__(self, prefix: str, rate: float, metrics: Metrics):
        folder = os.path.dirname(local_path(prefix)) or os.curdir
        if prefix and not os.path.isdir(folder):
            raise errors.not_found(f"Requests cannot be logged: there is no directory {folder}")
        self._metrics = metrics
        self._all = RequestLog(prefix, rate, metrics) if prefix else None
        self._of_models: dict[str, tuple[Any, RequestLog]] = {}  # with the config of each

    def configure(self, configs: list[Any]) -> None:
        """Logs the models whose ModelConfig says so."""
        wanted = {
            one.name: one.logging_config
            for one in configs
            if one.logging_config.log_collector_config.filename_prefix
        }
        for name in [name for name, (given, _) in self._of_models.items() if wanted.get(name) != given]:
            self._of_models.pop(name)[1].close()
        for name, given in wanted.items():
            if name not in self._of_models:
                prefix, rate = given.log_collector_config.filename_prefix, given.sampling_config.sampling_rate
                self._of_models[name] = given, RequestLog(prefix, rate, self._metrics)

    def __call__(self, servable: Servable, call: Call, outputs: Arrays) -> None:
        """Writes a call to the logs that take it."""
        if self._all is not None:
            self._all(servable, call, outputs)
        if servable.name in self._of_models:
            self._of_models[servable.name][1](servable, call, outputs)

    def close(self) -> None:
        """Closes the files."""
        for log in (self._all, *(log for _, log in self._of_models.values())):
            if log is not None:
                log.close()


def log_of(servable: Servable, call: Call, outputs: Arrays, rate: float) -> Any:
    """The PredictionLog of a call. What classifies and regresses Examples is logged without its answer."""
    log = PredictionLog()
    log.log_metadata.timestamp_secs = int(time.time())
    log.log_metadata.sampling_config.sampling_rate = rate
    signature = servable.signatures.get(call.signature)
    method = signature.method_name if signature is not None else ""
    if call.signature == NO_SIGNATURE:
        request = log.session_run_log.request
        for name, array in call.inputs.items():
            _write_tensor(request.feed.add(name=name).tensor, array)
        request.fetch.extend(call.outputs)
    elif method in (CLASSIFY, REGRESS):
        request = (log.classify_log if method == CLASSIFY else log.regress_log).request
        request.input.example_list.examples.extend(call.inputs["inputs"].tolist())
    else:
        request, response = log.predict_log.request, log.predict_log.response
        for name, array in call.inputs.items():
            _write_tensor(request.inputs[name], array)
        for name, array in outputs.items():
            _write_tensor(response.outputs[name], array)
        request.output_filter.extend(call.outputs)
    for spec in (request.model_spec, log.log_metadata.model_spec):
        spec.name, spec.signature_name, spec.version.value = servable.name, call.signature, servable.version
    return log


def _write_tensor(message: Any, array: Any) -> None:
    message.MergeFromString(write_tensor(array, dtypes.as_dtype(array.dtype), as_content=True))
