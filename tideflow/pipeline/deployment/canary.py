"""The canary: a model's first requests, in a worker process of its own, before any client meets it.

The process is one of those that serve (`serving/worker_process.py`). It loads the model and answers requests
that a server logged, or rows of data. A model that crashes, hangs, takes too much memory or ever more of it,
takes too long, or answers NaN, fails here.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.cluster.messages import Message, expect
from tideflow.graph import errors
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source
from tideflow.pipeline.evaluation.models import inputs_of
from tideflow.runtime.values import to_torch
from tideflow.serving.calls import DEFAULT_SIGNATURE, Arrays
from tideflow.serving.warmup import calls_of, read_logs
from tideflow.serving.worker_messages import (
    BatchDone,
    LoadModel,
    ModelLoaded,
    RunBatch,
    arrays,
    from_wire,
)
from tideflow.serving.worker_process import Starter, WorkerProcess, Workers

PathLike = str | os.PathLike[str]
_LOOK_SECONDS = 0.05  # how often the process's memory is looked at
_NOW, _MOST = "VmRSS:", "VmHWM:"  # lines of a process's status: the memory that it has, and has had
_MOST_FAILURES = 20  # after so many the model is known to be bad


@dataclass(frozen=True)
class Limits:
    """What a model must keep.

    Args:
      load_seconds: How long it may take to load.
      request_seconds: How long a single request may take.
      p99_seconds: How long 99 of 100 requests may take; None for any time.
      memory_bytes: How much memory the process may have; None for any.
      leak_bytes: How much the process may grow when the same requests are sent once more; None for any. They
        are only where it has grown by more than that the first time, which filled its caches.
      most_requests: How many logged requests are replayed at most.
    """

    load_seconds: float = 120.0
    request_seconds: float = 30.0
    p99_seconds: float | None = None
    memory_bytes: int | None = None
    leak_bytes: int | None = 64 << 20
    most_requests: int = 1000


@dataclass
class CanaryResult:
    """What was seen.

    Args:
      ok: Whether the model may be served.
      failures: Why not, a sentence for each reason.
      answered: How many requests were answered.
      load_seconds: How long the model took to load.
      memory_bytes: The most memory that its process had.
      latency_ms: The median, the 99th percentile and the maximum of the time that a request took.
    """

    ok: bool = False
    failures: list[str] = field(default_factory=list)
    answered: int = 0
    load_seconds: float = 0.0
    memory_bytes: int = 0
    latency_ms: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return asdict(self)


def canary(
    model_dir: PathLike,
    *,
    request_log: PathLike | Sequence[PathLike] | None = None,
    requests: pa.RecordBatch | None = None,
    signature_name: str = "",
    limits: Limits = Limits(),
    threads: int = 0,
) -> CanaryResult:
    """Tries a model in a process of its own.

    Args:
      model_dir: The model's folder.
      request_log: Files of PredictionLogs that a server wrote (`tideflow serve --request_log`), or patterns.
      requests: Rows that are sent too, one by one and all at once (`requests_of`).
      signature_name: The signature that rows are sent to; by default the one for serving.
      limits: What the model must keep.
      threads: Kernel threads of the process; 0 for all cores.

    Returns:
      What was seen. It is not ok if there was no request to try: nothing would be known.
    """
    trial = Trial(model_dir, _files(request_log), requests, signature_name, limits)

    async def run() -> CanaryResult:
        workers = Workers(threads)
        try:
            return await trial.run(workers)
        finally:
            workers.close()

    return asyncio.run(run())


def requests_of(sources: Sequence[Source], count: int = 100) -> pa.RecordBatch | None:
    """The first rows of data, as the canary sends them.

    Args:
      sources: The data.
      count: How many rows.

    Returns:
      The rows, or None where there are none.
    """
    found: list[pa.RecordBatch] = []
    left = count
    for source in sources:
        for block in source.blocks(Faults()):
            if block.num_rows and (not found or block.schema.equals(found[0].schema)):
                found.append(block.slice(0, left))
                left -= found[-1].num_rows
            if left <= 0:
                break
        if left <= 0:
            break
    if not found:
        return None
    return pa.Table.from_batches(found).combine_chunks().to_batches()[0]


def _files(request_log: PathLike | Sequence[PathLike] | None) -> list[str]:
    if request_log is None:
        return []
    given = [request_log] if isinstance(request_log, (str, os.PathLike)) else request_log
    named = [os.fspath(each) for each in given]
    found = [path for each in named for path in (sorted(glob.glob(each)) or [each])]
    for path in found:
        if not os.path.exists(path):
            raise errors.not_found(f"there is no request log {path}")
    return found


class Trial:
    """One model's trial, by the arguments of `canary`."""

    def __init__(
        self,
        model_dir: PathLike,
        logs: Sequence[str],
        rows: pa.RecordBatch | None,
        signature_name: str,
        limits: Limits,
    ) -> None:
        self._path, self._logs, self._rows, self._limits = os.path.abspath(model_dir), logs, rows, limits
        self._signature_name = signature_name
        self._exit: asyncio.Future[int] | None = None
        self.result = CanaryResult()

    async def run(self, workers: Starter) -> CanaryResult:
        """Starts the process, sends the requests, and ends the process."""
        result = self.result
        self._exit = asyncio.get_running_loop().create_future()
        process = workers.start("canary", self._ended)
        watch = asyncio.create_task(self._watch_memory(process))
        seconds: list[float] = []
        try:
            loaded = await self._load(process)
            grown = await self._growth(process, loaded, seconds)
            self._check(seconds)
            await self._check_growth(process, loaded, grown)
        except _Failed:
            pass
        except OpError as error:
            result.failures.append(f"a logged request is none of this model: {error.message}")
        finally:
            watch.cancel()
            result.memory_bytes = max(result.memory_bytes, _memory_bytes(process.pid, _MOST))
            process.stop()
        limit = self._limits.memory_bytes
        if (
            limit is not None
            and result.memory_bytes > limit
            and not any("bytes" in each for each in result.failures)
        ):
            result.failures.append(f"the process took {result.memory_bytes} bytes; {limit} are allowed")
        result.ok = not result.failures
        return result

    async def _growth(self, process: WorkerProcess, signatures: dict[str, Any], seconds: list[float]) -> int:
        """Sends the requests; by how many bytes the process has grown since the first was answered."""
        first = 0
        for number, request in enumerate(self._requests(signatures), 1):
            seconds.append(await self._ask(process, number, *request))
            self.result.answered += 1
            first = first or _memory_bytes(process.pid, _NOW)
            if len(self.result.failures) >= _MOST_FAILURES:
                break
        return _memory_bytes(process.pid, _NOW) - first

    async def _check_growth(self, process: WorkerProcess, signatures: dict[str, Any], grown: int) -> None:
        """Tells memory that is kept for reuse from memory that leaks: only the latter grows again."""
        limit = self._limits.leak_bytes
        if limit is None or self.result.failures or grown <= limit:
            return
        before = _memory_bytes(process.pid, _NOW)
        answered = self.result.answered
        await self._growth(process, signatures, [])
        grown = _memory_bytes(process.pid, _NOW) - before
        if grown > limit:
            self.result.failures.append(
                f"the process grew by {grown} bytes when the same {answered} requests were sent once more; "
                f"{limit} are allowed"
            )

    async def _load(self, process: WorkerProcess) -> dict[str, Any]:
        message = LoadModel(name="canary", version=1, path=self._path)
        answer = await self._answer(process, message, self._limits.load_seconds, "loading the model")
        loaded = expect(answer, ModelLoaded)
        self.result.load_seconds = loaded.load_seconds
        return from_wire(loaded.signatures)

    def _requests(self, signatures: dict[str, Any]) -> Iterator[tuple[str, Arrays, tuple[str, ...]]]:
        model = SimpleNamespace(name="canary", version=1, signatures=signatures)
        left = self._limits.most_requests
        for path in self._logs:
            for log in read_logs(path):
                if left <= 0:
                    return
                left -= 1
                for call in calls_of(model, log):
                    yield call.signature, call.inputs, call.outputs
        if self._rows is not None and self._rows.num_rows:
            yield from self._row_requests(signatures, left)

    def _row_requests(
        self, signatures: dict[str, Any], left: int
    ) -> Iterator[tuple[str, Arrays, tuple[str, ...]]]:
        rows = self._rows
        assert rows is not None
        name = self._signature_name or DEFAULT_SIGNATURE
        if name not in signatures:
            self.result.failures.append(f"the model has no signature {name!r}; it has {sorted(signatures)}")
            return
        signature = signatures[name]
        for index in range(min(rows.num_rows, max(left - 1, 0))):
            yield name, inputs_of(rows.slice(index, 1), signature), tuple(signature.outputs)
        if signature.is_batchable:
            yield name, inputs_of(rows, signature), tuple(signature.outputs)

    async def _ask(
        self, process: WorkerProcess, number: int, signature: str, inputs: Arrays, outputs: Iterable[str]
    ) -> float:
        tensors = [to_torch(array) for array in inputs.values()]
        wanted = list(outputs)
        message = RunBatch(signature=signature, inputs=list(inputs), outputs=wanted, tensors=tensors)
        begin = time.perf_counter()
        answer = await self._answer(process, message, self._limits.request_seconds, f"request {number}")
        seconds = time.perf_counter() - begin
        if isinstance(answer, BatchDone):
            for name, value in arrays(wanted, answer.tensors).items():
                if value.dtype.kind in "fc" and np.isnan(value).any():
                    count = int(np.isnan(value).sum())
                    self.result.failures.append(
                        f"request {number}: {name} has {count} NaN in {value.size} values"
                    )
        return seconds

    async def _answer(self, process: WorkerProcess, message: Message, limit: float, what: str) -> Any:
        """The answer to a message; a process that ends, or does not answer in time, ends the trial."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Message | OpError] = loop.create_future()

        def arrived(outcome: Message | OpError) -> None:
            if not answered.done():
                answered.set_result(outcome)

        process.request(message, arrived)
        assert self._exit is not None
        either: set[asyncio.Future[Any]] = {answered, self._exit}
        await asyncio.wait(either, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if self._exit.done():
            self._fail(f"the process ended {_how(self._exit.result())} while {_doing(what)}")
        if not answered.done():
            process.stop()
            self._fail(f"{what} took more than {limit:g} seconds")
        outcome = answered.result()
        if isinstance(outcome, UnavailableError):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._exit), 5.0)
            code = self._exit.result() if self._exit.done() else 0
            self._fail(f"the process ended {_how(code)} while {_doing(what)}")
        if isinstance(outcome, OpError):
            self.result.failures.append(f"{what}: {outcome.message}")
            if isinstance(message, LoadModel):
                raise _Failed
        return outcome

    def _fail(self, text: str) -> None:
        limit = self._limits.memory_bytes
        if limit is not None and self.result.memory_bytes > limit:
            text = f"the process took {self.result.memory_bytes} bytes; {limit} are allowed"
        self.result.failures.append(text)
        raise _Failed

    def _ended(self, code: int) -> None:
        if self._exit is not None and not self._exit.done():
            self._exit.set_result(code)

    async def _watch_memory(self, process: WorkerProcess) -> None:
        """Ends the process once it has more memory than it may, before the machine has none left."""
        limit = self._limits.memory_bytes
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.result.memory_bytes = max(self.result.memory_bytes, _memory_bytes(process.pid, _MOST))
            if limit is not None and self.result.memory_bytes > limit:
                process.stop()
                return

    def _check(self, seconds: Sequence[float]) -> None:
        """What is known once all requests were sent."""
        result = self.result
        if not seconds:
            result.failures.append("there was no request to try: give a request log or rows")
            return
        p50, p99, most = (float(each) * 1000 for each in np.percentile(seconds, [50, 99, 100]))
        result.latency_ms = {"p50": p50, "p99": p99, "max": most}
        limit = self._limits.p99_seconds
        if limit is not None and p99 > limit * 1000:
            result.failures.append(
                f"99 of 100 requests took up to {p99:.1f} ms; {limit * 1000:g} ms are allowed"
            )


class _Failed(Exception):
    """The trial is over; the result says why."""


def _doing(what: str) -> str:
    return what if what.startswith("loading") else f"answering {what}"


def _how(code: int) -> str:
    if code <= 128:
        return f"with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"by {signal.Signals(code - 128).name}"
    return f"by signal {code - 128}"


def _memory_bytes(pid: int, which: str) -> int:
    """The memory that a process has, or the most that it has had, as far as the system tells."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith(which):
                    return int(line.split()[1]) << 10
    return 0
