"""Loading a version: in a worker process, and from there into the server's own, if the model is tiny."""

from __future__ import annotations

import asyncio
import logging
import os
from argparse import Namespace
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from tideflow.graph.errors import OpError
from tideflow.serving import config
from tideflow.serving.calls import Arrays
from tideflow.serving.metrics import Metrics
from tideflow.serving.model_kinds import load_model
from tideflow.serving.models import Model, compile_ahead
from tideflow.serving.replicas import WorkerServable
from tideflow.serving.servables import LocalServable
from tideflow.serving.warmup import FILE
from tideflow.serving.worker_messages import LoadModel, ModelLoaded
from tideflow.serving.worker_process import Starter

# A model within all of these is tiny. It costs the loop less than handing it to a thread or a process would.
TINY_LOAD_SECONDS = 0.25
TINY_BATCH_SECONDS = 0.002
TINY_BYTES = 32 << 20

_log = logging.getLogger("tideflow.serving")

Loaded: TypeAlias = "Callable[[LocalServable | WorkerServable | OpError, int], None]"
RecentCalls: TypeAlias = "Iterable[tuple[str, Arrays, tuple[str, ...]]]"


def is_tiny(costs: ModelLoaded) -> bool:
    """Whether a model may run in the server's own process, by what it was measured to cost."""
    return (
        costs.is_steady
        and costs.load_seconds <= TINY_LOAD_SECONDS
        and costs.batch_seconds is not None
        and costs.batch_seconds <= TINY_BATCH_SECONDS
        and costs.memory <= TINY_BYTES
    )


class Loading:
    """A version that is being loaded. `loaded` is called once, with the servable and its bytes of memory, or
    with an error; after `cancel` it is not called.

    Args:
      options: Those of the command line.
      recent: Calls of the version before, which the new one computes before it answers clients.
    """

    def __init__(
        self,
        workers: Starter,
        options: Namespace,
        metrics: Metrics,
        message: LoadModel,
        recent: RecentCalls,
        loaded: Loaded,
    ):
        self._options, self._message, self._recent = options, message, tuple(recent)
        self._metrics, self._loaded = metrics, loaded
        self._is_over = False
        self._batching = config.batching(options, message.path)
        self._measured = partial(metrics.record_batch, message.name)
        self._servable = WorkerServable(
            workers, message, self._batching, self._measured, self._loaded_in_worker, options.replicas
        )

    def cancel(self) -> None:
        """Stops loading."""
        self._is_over = True
        self._servable.close()

    def _loaded_in_worker(self, costs: ModelLoaded | OpError) -> None:
        if self._is_over:
            return
        if isinstance(costs, OpError):
            self._finish(costs, 0)
            return
        if costs.warmed_up:
            path = self._message.path
            self._metrics.warmup_records_read.of(path, "OK").value += costs.warmed_up
            self._metrics.warmup_latency.of(path, "OK").add(costs.warm_up_seconds * 1e6)
        if self._options.tiny_models_in_process and self._options.replicas == 1 and is_tiny(costs):
            loading = asyncio.get_running_loop().run_in_executor(None, _load_here, self._message)
            loading.add_done_callback(partial(self._loaded_here, costs.memory))
        else:
            memory = costs.memory * len(self._servable.workers)
            self._servable.warm_up(self._recent, lambda: self._finish(self._servable, memory))

    def _loaded_here(self, memory: int, loading: asyncio.Future[Model]) -> None:
        if self._is_over:
            return
        error = loading.exception()
        if error is not None:  # it could be loaded in a process of its own, and stays there
            _log.warning("%s is served by a worker: %s", self._message.name, error)
            self._finish(self._servable, memory)
            return
        self._servable.close()
        message = self._message
        servable = LocalServable(
            message.name, message.version, loading.result(), self._batching, self._measured
        )
        servable.warm_up(self._recent)
        self._finish(servable, memory)

    def _finish(self, outcome: LocalServable | WorkerServable | OpError, memory: int) -> None:
        if not self._is_over:
            self._is_over = True
            self._loaded(outcome, memory)


def load_message(
    options: Namespace,
    name: str,
    version: int,
    path: str,
    platform: str,
    trusted: bool,
    in_background: bool,
) -> LoadModel:
    """The request to load a version, as the options have it."""
    warm_up = os.path.join(path, FILE)
    return LoadModel(
        name=name,
        version=version,
        path=path,
        platform=platform,
        tags=[tag for tag in options.saved_model_tags.split(",") if tag],
        trusted=trusted,
        warm_up=warm_up if options.enable_model_warmup and os.path.exists(warm_up) else "",
        warm_up_iterations=max(1, options.num_request_iterations_for_warmup),
        checks_method_names=options.enable_signature_method_name_check,
        in_background=in_background,
    )


def _load_here(message: LoadModel) -> Model:
    model = load_model(message.path, message.platform, tags=message.tags, trusted=message.trusted)
    compile_ahead(model)
    return model
