"""The server: models, front ends and addresses put together, from start to an end that loses no request."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import ssl
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.io.local_files import read_bytes
from tideflow.serving import config
from tideflow.serving.access import Access, make_tokens
from tideflow.serving.applications import Applications
from tideflow.serving.cache import CachedServable, PredictionCache
from tideflow.serving.clipper import Clipper
from tideflow.serving.front import Front, Limits
from tideflow.serving.grpc_server import GrpcServer
from tideflow.serving.health import Health
from tideflow.serving.http1 import HttpServer
from tideflow.serving.manager import Manager
from tideflow.serving.messages import MonitoringConfig
from tideflow.serving.metrics import Metrics
from tideflow.serving.page import Page
from tideflow.serving.request_log import RequestLogs
from tideflow.serving.rest import METRICS_PATH, Rest
from tideflow.serving.selection_state import States, check_store
from tideflow.serving.services import make_methods
from tideflow.serving.worker_process import Starter, Workers

ANY_PORT = -1
_BACKLOG = 1024
_DRAIN_STEP = 0.01  # seconds
_LOADING_SECONDS = 10.0  # so often it is said what is being loaded
_UNREAD_SECONDS = 0.25  # in which requests are read that clients sent before they knew of the end

_log = logging.getLogger("tideflow.serving")


class Server:
    """A server on the running event loop. `start` returns when it listens; models load after that.

    Args:
      options: Those of the command line (`config.parse`).
      workers: What starts worker processes; None for one of the server's own.
    """

    def __init__(self, options: Namespace, workers: Starter | None = None):
        self._options = options
        self._loop = asyncio.get_running_loop()
        self.metrics = Metrics()
        self._own_workers = _workers(options) if workers is None else None
        self._workers = workers or self._own_workers
        cache = PredictionCache(options.cache_bytes) if options.cache_bytes else None
        self.manager = Manager(
            options,
            self._workers,
            self.metrics,
            lambda one: one if cache is None else CachedServable(one, cache),
        )
        self._logs = RequestLogs(options.request_log, options.request_log_rate, self.metrics)
        self.manager.on_configured = self._logs.configure
        self._states = States(options.state_url)
        self.applications = Applications(self.manager, self._states, options.app_cache_bytes)
        self.front = Front(
            self.manager,
            self.metrics,
            time.monotonic,
            access=Access(_tokens(options), options.rest_api_enable_cors_support),
            limits=Limits(body=options.max_body_bytes, in_flight=options.max_in_flight),
            timeout=options.rest_api_timeout_in_ms / 1000,
            log=self._logs,
            as_content=options.enable_serialization_as_tensor_content,
            checks_method_names=options.enable_signature_method_name_check,
        )
        clipper = Clipper(self.applications, self.manager, self.metrics, time.monotonic)
        caches = [each for each in (cache, self.applications.cache) if each is not None]
        page = Page(self.front, caches, self.applications)
        rest = Rest(self.front, [page.handle, clipper.handle], _metrics_path(options))
        self._http = HttpServer(self.front, rest.handle)
        self._health = Health(self.front) if options.enable_grpc_healthcheck_service else None
        self._grpc = GrpcServer(
            self.front,
            make_methods(self.front) | (self._health.methods() if self._health else {}),
            self._health.streaming() if self._health else {},
        )
        self._listening: list[asyncio.AbstractServer] = []
        self._timers: list[asyncio.TimerHandle] = []
        self._settled: asyncio.Future[OpError | None] = self._loop.create_future()
        self._is_stopped = False
        self._config_problem = ""  # of the model config file, when it was last read
        self._is_directory = not options.model_config_file and not options.model_base_path
        self._in_directory: set[str] = set()  # the models there, when it was last listed
        self._is_listing = False
        self.rest_address = self.grpc_address = ""

    async def start(self) -> None:
        """Begins to listen, and to load the models."""
        options = self._options
        configs = config.model_configs(options)
        config.batching(options)  # what is wrong with its file is said now, not when a model is loaded
        self.front.access.check_address(options.host)
        await self._loop.run_in_executor(None, check_store, options.state_url)
        self.applications.load()
        if options.rest_api_port:
            self.rest_address = await self._listen(self._http, options.rest_api_port, "http/1.1")
        if options.port:
            self.grpc_address = await self._listen(self._grpc, options.port, "h2")
        if options.grpc_socket_path:
            await self._listen_at_path(self._grpc, options.grpc_socket_path)
        self._in_directory = {one.name for one in configs}
        self.manager.trust(configs)
        self.manager.configure(configs, self._loaded)
        self._every(1.0, self._sweep)
        self._every(_LOADING_SECONDS, self._say_loading)
        if options.file_system_poll_wait_seconds > 0:
            self._every(options.file_system_poll_wait_seconds, self._poll)
        if options.model_config_file and options.model_config_file_poll_wait_seconds > 0:
            self._every(options.model_config_file_poll_wait_seconds, self._reload)

    async def ready(self) -> OpError | None:
        """Waits until every model is loaded or could not be; returns the first error."""
        return await asyncio.shield(self._settled)

    def _loaded(self, error: OpError | None) -> None:
        gc.collect()
        gc.freeze()  # what is here now stays: a collection does not look at it again
        if not self._settled.done():
            self._settled.set_result(error)

    async def _listen(self, factory: Any, port: int, protocol: str) -> str:
        host, tls = self._options.host, self._tls(protocol)
        try:
            server = await self._loop.create_server(
                factory, host, 0 if port == ANY_PORT else port, ssl=tls, backlog=_BACKLOG
            )
        except OSError as error:
            raise errors.unavailable(
                f"Port {port} of {host} cannot be listened at: {_reason(error)}"
            ) from None
        self._listening.append(server)
        found, number = server.sockets[0].getsockname()[:2]
        return f"[{found}]:{number}" if ":" in found else f"{found}:{number}"

    async def _listen_at_path(self, factory: Any, path: str) -> None:
        try:
            server = await self._loop.create_unix_server(factory, path, ssl=self._tls("h2"))
        except OSError as error:
            raise errors.unavailable(f"{path} cannot be listened at: {_reason(error)}") from None
        self._listening.append(server)

    def _tls(self, protocol: str) -> ssl.SSLContext | None:
        context = config.tls(self._options)
        if context is not None:
            context.set_alpn_protocols([protocol])
        return context

    # ---- what is done again and again

    def _every(self, seconds: float, call: Callable[[], None]) -> None:
        index = len(self._timers)

        def again() -> None:
            self._timers[index] = self._loop.call_later(seconds, again)
            call()

        self._timers.append(self._loop.call_later(seconds, again))

    def _sweep(self) -> None:
        now = time.monotonic()
        self._http.sweep(now)
        self._grpc.sweep(now)
        self.metrics.mark(now)
        if self._health is not None:
            self._health.tell()
        if self._options.max_replicas:
            self.manager.scale()

    def _say_loading(self) -> None:
        found = self.manager.loading()
        if found:
            _log.info("being loaded: %s", ", ".join(found))

    def _poll(self) -> None:
        if self._is_directory and not self._is_listing:
            self._is_listing = True
            listing = self._loop.run_in_executor(None, config.model_configs, self._options)
            listing.add_done_callback(self._listed)
        self.manager.poll()

    def _listed(self, listing: asyncio.Future[list[Any]]) -> None:
        """Serves models that were put into the directory since it was listed last. Those that were there, and
        that a client's configuration has left out since, stay out.
        """
        self._is_listing = False
        if listing.cancelled() or listing.exception() is not None:  # it cannot be read just now
            return
        configs = listing.result()
        self.manager.trust(configs)
        self.manager.add([one for one in configs if one.name not in self._in_directory])
        self._in_directory = {one.name for one in configs}

    def _reload(self) -> None:
        try:
            configs = config.model_configs(self._options)
            if configs != self.manager.configs():
                self.manager.trust(configs)
                self.manager.configure(configs)
            self._config_problem = ""
        except OpError as error:
            if error.message != self._config_problem:  # the file is read again and again
                _log.error("the model config stays as it was: %s", error.message)
            self._config_problem = error.message

    # ---- the end

    async def stop(self, seconds: float | None = None) -> None:
        """Answers what is under way, for so long at most, and ends everything."""
        limit = self._loop.time() + (self._options.stop_seconds if seconds is None else seconds)
        for server in self._listening:
            server.close()
        self.front.is_leaving = True
        if not self._is_stopped and seconds is None:
            await asyncio.sleep(_UNREAD_SECONDS)
        self.front.is_draining = True
        if self._health is not None:
            self._health.tell()
        self._http.drain()
        self._grpc.drain()
        while self.front.in_flight and self._loop.time() < limit:
            await asyncio.sleep(_DRAIN_STEP)
        if self._is_stopped:
            return
        self._is_stopped = True
        for timer in self._timers:
            timer.cancel()
        self.manager.close()
        if self._own_workers is not None:
            self._own_workers.close()
        self._logs.close()
        self._states.close()
        await asyncio.sleep(0)  # connections are closed in the loop's next turn


async def serve(options: Namespace, started: Callable[[Server], None]) -> None:
    """Serves until SIGTERM or SIGINT; a second one does not wait for what is under way."""
    loop = asyncio.get_running_loop()
    server = Server(options)
    signals = [loop.create_future(), loop.create_future()]
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, partial(_next, signals))
    try:
        await server.start()
        started(server)
        await signals[0]
        _log.info("stopping: %d requests are under way", server.front.in_flight)
        stopping = asyncio.ensure_future(server.stop())
        await asyncio.wait([stopping, signals[1]], return_when=asyncio.FIRST_COMPLETED)
    finally:
        await server.stop(0.0)


def _next(signals: list[asyncio.Future[None]]) -> None:
    for one in signals:
        if not one.done():
            one.set_result(None)
            return


def _reason(error: OSError) -> str:
    """What the operating system says, without what an event loop puts around it."""
    is_system_error = error.errno is not None and error.errno > 0  # those of name look-ups are negative
    return os.strerror(error.errno) if is_system_error else str(error.strerror)


def _workers(options: Namespace) -> Starter:
    """What starts worker processes: on this machine, or on those of a Ray cluster."""
    threads = options.tensorflow_intra_op_parallelism or options.tensorflow_session_parallelism
    if not options.ray:
        return Workers(threads)
    from tideflow.serving.ray_workers import RayWorkers  # loaded when asked for

    return RayWorkers(options.ray, threads)


def _tokens(options: Namespace) -> frozenset[bytes]:
    if not options.token_file:
        return frozenset()
    tokens = make_tokens(read_bytes(options.token_file).decode(errors="replace").splitlines())
    if not tokens:
        raise errors.invalid_argument(f"There is no token in {options.token_file}.")
    return tokens


def _metrics_path(options: Namespace) -> str:
    if not options.monitoring_config_file:
        return METRICS_PATH
    given = config.read_text_message(options.monitoring_config_file, MonitoringConfig).prometheus_config
    return (given.path or METRICS_PATH) if given.enable else ""
