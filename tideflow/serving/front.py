"""What the front ends of a server share: the models, what is recorded of requests, who may ask, limits."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.serving.access import Access
from tideflow.serving.calls import Arrays, Call, Servable
from tideflow.serving.inference import Models
from tideflow.serving.messages import CODE_NAMES
from tideflow.serving.metrics import Metrics

Log: TypeAlias = "Callable[[Servable, Call, Arrays], None]"


_logger = logging.getLogger("tideflow.serving")


def unexpected(error: Exception) -> OpError:
    """The answer to a request that ran into a fault of the server, which is logged."""
    _logger.error("a request failed by a fault of the server", exc_info=error)
    return errors.internal(f"The server failed: {type(error).__name__}: {error}")


WRITE_BUFFER = 1 << 20  # bytes of answers that a client may leave unread before it is read from no more
OVERDUE = 1.0  # seconds after which a request is answered here, if its model has not answered in time


@dataclass(frozen=True)
class Limits:
    """What a client may take of the server. Times are seconds, sizes are bytes."""

    body: int = 256 << 20
    head: int = 64 << 10
    unread: int = 2 << 30  # of requests that are not there whole, of all clients together
    connections: int = 10_000
    in_flight: int = 10_000  # requests that are being answered, of all clients together
    pipelined: int = 64  # requests of one HTTP/1 connection that wait for their answers
    streams: int = 1024  # requests of one HTTP/2 connection that wait for their answers
    request_time: float = 30.0  # from the first byte of a request to its last
    idle_time: float = 600.0
    write_time: float = 60.0  # how long a client may leave an answer in the server's buffer


@dataclass
class Front:
    """What front ends ask the rest of the server for. `clock` is the clock of the event loop, without the
    loop's rounding: uvloop's time is one of whole milliseconds.
    """

    models: Models
    metrics: Metrics
    clock: Callable[[], float]
    access: Access = field(default_factory=Access)
    limits: Limits = field(default_factory=Limits)
    timeout: float = 30.0  # of a request that names no deadline
    log: Log | None = None  # is given each call that succeeded, with its outputs
    as_content: bool = False  # whether gRPC answers in `tensor_content`
    checks_method_names: bool = False  # whether signatures must name the method that they are asked for
    in_flight: int = 0
    unread: int = 0  # bytes of requests that are not there whole
    is_leaving: bool = False  # answers tell their clients to come by other connections
    is_draining: bool = False  # and no further requests are taken

    def submit(self, servable: Servable, call: Call, api: str, entrypoint: str) -> None:
        """Hands a call to a model, and records how it ends."""
        begin, done = self.clock(), call.done

        def ended(outcome: Arrays | OpError) -> None:
            status = "OK"
            if isinstance(outcome, OpError):
                status = CODE_NAMES.get(outcome.error_code, "UNKNOWN")
            elif self.log is not None:
                self.log(servable, call, outcome)
            seconds = self.clock() - begin
            self.metrics.record_request(servable.name, api, entrypoint, status, seconds, call.rows)
            try:
                done(outcome)
            except Exception as error:  # a fault here must not reach the other calls of the batch
                done(unexpected(error))

        call.done = ended
        servable.submit(call)

    def refused(self, model: str, api: str, entrypoint: str, error: OpError) -> None:
        """Records a request that became no call. Names of models that are not served are not recorded."""
        if model in self.models.names():
            status = CODE_NAMES.get(error.error_code, "UNKNOWN")
            self.metrics.record_request(model, api, entrypoint, status, 0.0, 0)

    def check_load(self) -> None:
        """Raises an error if a request, counted already, is one too many, or the server is stopping."""
        if self.is_draining:
            raise errors.unavailable("The server is stopping")
        if self.in_flight > self.limits.in_flight:
            raise errors.resource_exhausted(
                f"The server is answering {self.limits.in_flight} requests, which is as many as it may"
            )


class Connections:
    """The connections of one protocol. A connection adds and removes itself."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self.connections: set[Any] = set()

    def sweep(self, now: float) -> None:
        """Ends connections that are late, and answers requests whose deadline has passed."""
        for connection in list(self.connections):
            connection.sweep(now)

    def drain(self) -> None:
        """Closes connections as soon as they have no request under way. `front.is_draining` is set."""
        for connection in list(self.connections):
            connection.drain()
