"""`tideflow replay`: sends the requests of a log to a server again, and compares the answers."""

from __future__ import annotations

import argparse
import glob
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tideflow.graph.errors import OpError
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.io.local_files import read_bytes
from tideflow.serving.calls import DEFAULT_SIGNATURE, Arrays
from tideflow.serving.client import Client, Model
from tideflow.serving.inference import examples_of
from tideflow.serving.messages import CODE_NAMES
from tideflow.serving.warmup import read_logs


def main(arguments: Sequence[str]) -> int:
    """Runs the command. The exit status is 1 where a request failed, or was answered otherwise."""
    parser = argparse.ArgumentParser(
        "tideflow replay", description="Sends the requests of a log to a server again, and compares answers."
    )
    parser.add_argument(
        "url", metavar="URL", help="http://HOST:PORT or grpc://HOST:PORT (https, grpcs: by TLS)"
    )
    parser.add_argument("logs", metavar="FILE", nargs="+", help="TFRecords of PredictionLogs (--request_log)")
    parser.add_argument("--model", default="", help="ask this model instead of the one in the log")
    parser.add_argument(
        "--same_version", action="store_true", help="ask the version that answered then, not the latest one"
    )
    parser.add_argument("--clients", type=int, default=1, metavar="N", help="how many ask at the same time")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="how often the log is sent")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="how far answers may be apart")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="of a request")
    parser.add_argument("--token_file", metavar="FILE", help="the token that the server asks for")
    parser.add_argument(
        "--certificate", metavar="FILE", help="the PEM file that the server's certificate is in"
    )
    options = parser.parse_args(arguments)
    outcome = replay(options)
    print(outcome.text())
    return int(outcome.answers["OK"] != outcome.sent or outcome.differing > 0)


@dataclass
class Outcome:
    """What became of the requests."""

    seconds: list[float] = field(default_factory=list)  # of those that were answered
    answers: Counter[str] = field(default_factory=Counter)  # by status
    reasons: dict[str, str] = field(default_factory=dict)  # the first error of each status
    left_out: int = 0  # logs of other kinds: runs of a graph's tensors
    differing: int = 0
    compared: int = 0
    elapsed: float = 0.0

    @property
    def sent(self) -> int:
        """How many requests were sent."""
        return sum(self.answers.values())

    def text(self) -> str:
        """A summary for people."""
        lines = [f"{self.sent} requests in {self.elapsed:.2f} s: {dict(self.answers)}"]
        lines += [f"{status}: {reason}" for status, reason in self.reasons.items()]
        if self.left_out:
            lines.append(f"left out: {self.left_out} that ran tensors of a graph by name")
        if self.seconds:
            p50, p99 = np.percentile(self.seconds, (50, 99)) * 1000
            lines.append(f"latency: p50 {p50:.2f} ms, p99 {p99:.2f} ms")
        if self.compared:
            lines.append(
                f"answers: {self.compared - self.differing} as in the log, {self.differing} otherwise"
            )
        return "\n".join(lines)


def replay(options: argparse.Namespace) -> Outcome:
    """Sends everything, by as many threads as there are clients."""
    token = read_bytes(options.token_file).decode().split()[0] if options.token_file else None
    files = [path for pattern in options.logs for path in sorted(glob.glob(pattern)) or [pattern]]
    logs = itertools.chain.from_iterable(read_logs(path) for _ in range(options.repeat) for path in files)
    outcome, lock = Outcome(), threading.Lock()
    begin = time.perf_counter()

    def client() -> None:
        with Client(options.url, token, options.timeout, options.certificate) as server:
            while (log := _next(logs, lock)) is not None:
                _send(server, log, options, outcome, lock)

    with ThreadPoolExecutor(options.clients) as threads:
        for done in [threads.submit(client) for _ in range(options.clients)]:
            done.result()
    outcome.elapsed = time.perf_counter() - begin
    return outcome


def _next(logs: Iterator[Any], lock: threading.Lock) -> Any:
    with lock:
        return next(logs, None)


def _send(
    server: Client, log: Any, options: argparse.Namespace, outcome: Outcome, lock: threading.Lock
) -> None:
    if log.WhichOneof("log_type") not in _KINDS:
        with lock:
            outcome.left_out += 1
        return
    model, signature, inputs, expected = _request_of(log)
    asked = Model(options.model or model.name, model.version if options.same_version else None)
    begin, found, status, reason = time.perf_counter(), None, "OK", ""
    try:
        found = server.predict(asked, inputs, signature)
    except OpError as error:
        status, reason = CODE_NAMES.get(error.error_code, "UNKNOWN"), error.message
    with lock:
        outcome.answers[status] += 1
        if reason:
            outcome.reasons.setdefault(status, reason)
        outcome.seconds.append(time.perf_counter() - begin)
        if found is not None and expected:
            outcome.compared += 1
            outcome.differing += not _is_equal(found, expected, options.tolerance)


_KINDS = ("predict_log", "classify_log", "regress_log")


def _request_of(log: Any) -> tuple[Model, str, Arrays, Arrays]:
    """A logged request: model with the version that answered, signature, inputs; and the outputs that it had,
    if they are in the log.
    """
    kind = log.WhichOneof("log_type")
    request = getattr(log, kind).request
    spec = request.model_spec
    model = Model(spec.name, spec.version.value if spec.HasField("version") else None)
    if kind != "predict_log":
        inputs = {"inputs": np.array(examples_of(request.input), object)}
        return model, spec.signature_name or DEFAULT_SIGNATURE, inputs, {}
    inputs, outputs = (
        {name: make_ndarray(tensor) for name, tensor in tensors.items()}
        for tensors in (request.inputs, log.predict_log.response.outputs)
    )
    return model, spec.signature_name or DEFAULT_SIGNATURE, inputs, outputs


def _is_equal(found: Arrays, expected: Arrays, tolerance: float) -> bool:
    for name, before in expected.items():
        now = found.get(name)
        if now is None or now.shape != before.shape:
            return False
        if before.dtype.kind in "fc":
            if not np.allclose(now, before, tolerance, tolerance, equal_nan=True):
                return False
        elif not np.array_equal(now, before):
            return False
    return True
