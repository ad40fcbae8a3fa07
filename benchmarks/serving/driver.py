"""Loads a model into workers as the server does, and keeps calls under way, without a front end between."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import uvloop
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from tideflow.graph.errors import OpError
from tideflow.serving.batch_sizes import BatchSizes
from tideflow.serving.batching import BatchingOptions
from tideflow.serving.calls import DEFAULT_SIGNATURE, Call, Servable
from tideflow.serving.metrics import BatchRecord, Metrics
from tideflow.serving.replicas import WorkerServable
from tideflow.serving.servables import Batching
from tideflow.serving.worker_messages import LoadModel
from tideflow.serving.worker_process import Workers

Result = TypeVar("Result")


@dataclass
class Measured:
    """What came of keeping so many calls under way."""

    outstanding: int
    seconds: float
    latencies: np.ndarray  # seconds of each call
    batches: list[BatchRecord] = field(default_factory=list)

    @property
    def throughput(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def p99(self) -> float:
        return float(np.quantile(self.latencies, 0.99)) if len(self.latencies) else float("inf")

    @property
    def rows(self) -> float:
        """The mean rows of a batch."""
        return float(np.mean([batch.rows for batch in self.batches])) if self.batches else 0.0


@contextlib.asynccontextmanager
async def loaded(
    workers: Workers,
    path: Path,
    sizes: Callable[[], BatchSizes],
    options: BatchingOptions = BatchingOptions(),
    replicas: int = 1,
    name: str = "model",
) -> AsyncIterator[tuple[WorkerServable, Metrics]]:
    """A model in worker processes, and what is counted of it."""
    metrics = Metrics()
    ready = asyncio.get_running_loop().create_future()
    servable = WorkerServable(
        workers,
        LoadModel(name=name, version=1, path=str(path), trusted=True),
        Batching(sizes, options),
        lambda batch, seconds: metrics.record_batch(name, batch, seconds),
        ready.set_result,
        replicas,
    )
    try:
        outcome = await ready
        if isinstance(outcome, OpError):
            raise outcome
        yield servable, metrics
    finally:
        servable.close()


async def kept_under_way(
    servable: Servable,
    inputs: list[np.ndarray],
    outstanding: int,
    seconds: float,
    metrics: Metrics | None = None,
) -> Measured:
    """Submits calls so that always so many are under way, each after the answer to another one."""
    loop = asyncio.get_running_loop()
    signature = servable.signatures[DEFAULT_SIGNATURE]
    (key,), output = signature.inputs, next(iter(signature.outputs))
    rows = [np.asarray(row, signature.inputs[key].dtype.numpy)[None] for row in inputs]
    latencies: list[float] = []
    over: asyncio.Future[None] = loop.create_future()
    begin = loop.time()
    end = begin + seconds
    under_way = sent = 0
    failure: list[OpError] = []

    def submit() -> None:
        nonlocal under_way, sent
        under_way += 1
        sent += 1
        began = time.perf_counter()

        def done(outcome: object) -> None:
            nonlocal under_way
            under_way -= 1
            if isinstance(outcome, OpError):
                failure.append(outcome)
            else:
                latencies.append(time.perf_counter() - began)
            if loop.time() < end and not failure:
                submit()
            elif not under_way and not over.done():
                over.set_result(None)

        servable.submit(
            Call(DEFAULT_SIGNATURE, {key: rows[sent % len(rows)]}, (output,), 1, end + 60.0, done)
        )

    for _ in range(outstanding):
        submit()
    await over
    if failure:
        raise failure[0]
    batches = list(metrics.batches.get(servable.name, ())) if metrics else []
    recent = [batch for batch in batches if batch.time >= begin]
    return Measured(outstanding, loop.time() - begin, np.array(latencies), recent)


def run(experiment: Callable[..., Awaitable[Result]], *arguments: object) -> Result:
    """Runs a function of workers on an event loop of its own, uvloop's as the server's is."""

    async def with_workers() -> Result:
        workers = Workers(threads=1)
        try:
            return await experiment(workers, *arguments)
        finally:
            workers.close()

    loop = uvloop.new_event_loop()
    try:
        return loop.run_until_complete(with_workers())
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def plain_numbers(axes: Axes) -> None:
    """A logarithmic scale whose ticks say 1,000 and not a power."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
