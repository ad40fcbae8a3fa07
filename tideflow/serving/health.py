"""gRPC's own health service, which load balancers and probes ask: whether the server answers predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.graph import errors
from tideflow.serving import messages
from tideflow.serving.calls import Call
from tideflow.serving.front import Front
from tideflow.serving.grpc_server import Method, Respond, StreamingMethod
from tideflow.serving.services import parsing

_SERVICES = ("PredictionService", "ModelService", "SessionService")
# The whole server; its services as TensorFlow Serving names them, and by their full names.
_NAMES = frozenset(("", *_SERVICES, *(f"tensorflow.serving.{name}" for name in _SERVICES)))


class Health:
    """The health of the server, and the clients that watch it. All services have the same health."""

    def __init__(self, front: Front) -> None:
        self._front = front
        # For each watcher, by the function that tells it: what it was told last.
        self._watchers: dict[Callable[[bytes], None], str] = {}

    def methods(self) -> dict[bytes, Method]:
        """The method that answers once, by its path."""
        return {b"/grpc.health.v1.Health/Check": parsing(messages.HealthCheckRequest, self.check)}

    def streaming(self) -> dict[bytes, StreamingMethod]:
        """The method whose answer is a stream, by its path."""
        return {b"/grpc.health.v1.Health/Watch": parsing(messages.HealthCheckRequest, self.watch)}

    def check(self, request: Any, deadline: float, respond: Respond) -> Sequence[Call]:
        """Health.Check: the state of now."""
        if request.service not in _NAMES:
            raise errors.not_found(f"unknown service: {request.service}")
        respond(_response(self._status()))
        return ()

    def watch(self, request: Any, send: Callable[[bytes], None]) -> Callable[[], None]:
        """Health.Watch: the state of now, and each later one. Returns what ends it."""
        if request.service not in _NAMES:
            send(_response("SERVICE_UNKNOWN"))
            return lambda: None
        status = self._watchers[send] = self._status()
        send(_response(status))

        def end() -> None:
            del self._watchers[send]

        return end

    def tell(self) -> None:
        """Tells the watchers what has changed. Called once a second, and when the server stops."""
        status = self._status()
        for send, known in list(self._watchers.items()):
            if known != status:
                self._watchers[send] = status
                send(_response(status))

    def _status(self) -> str:
        is_ready = self._front.models.is_ready() and not self._front.is_draining
        return "SERVING" if is_ready else "NOT_SERVING"


def _response(status: str) -> bytes:
    return messages.HealthCheckResponse(status=status).SerializeToString()
