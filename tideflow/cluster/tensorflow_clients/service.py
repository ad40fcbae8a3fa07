"""`tensorflow.MasterService` over gRPC: the port at which TensorFlow's clients reach a server."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata

from tideflow.cluster.http2.threaded_server import Call, Method, Pieces, ThreadedServer
from tideflow.cluster.master import Master
from tideflow.cluster.messages import Failure
from tideflow.cluster.sockets import is_loopback, joined, numeric
from tideflow.cluster.tensorflow_clients import messages, tensors
from tideflow.cluster.tensorflow_clients.sessions import ClientSession, TensorFlowSessions
from tideflow.cluster.tensorflow_clients.tensors import Feed
from tideflow.cluster.wire import failure_of
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.runtime.devices import Device

_TENSORS = 1  # the field of answers with the fetched tensors
_LONGEST_STATUS = 3000  # bytes of an error beside the answer; gRPC takes 8 KB there in all

Handler = Callable[["memoryview | bytes", Call], Pieces]


class TensorFlowClients:
    """Answers TensorFlow's clients at an address, on `threads` threads at most. Such clients cannot
    authenticate: off the loopback the port needs `tls`, or that
    everybody who can reach it is trusted (`insecure`).

    `connect(graph, config)` makes the master of a session. `devices` lists those of the cluster,
    `reset(containers)` clears state of it; `task` is the name of this one.
    """

    def __init__(
        self,
        address: str,
        connect: Callable[[Graph, ConfigProto | None], Master],
        *,
        task: str,
        devices: Callable[[], Sequence[Device]],
        reset: Callable[[Sequence[str]], None],
        threads: int,
        tls: ssl.SSLContext | None = None,
        insecure: bool = False,
    ):
        self._sessions = TensorFlowSessions(connect)
        self._task, self._devices, self._reset = task, devices, reset
        host, port = numeric(address)
        if tls is None and not insecure and not is_loopback(host):
            raise errors.failed_precondition(
                f"'{address}' is not on this machine's loopback, and TensorFlow's clients cannot "
                "authenticate: whoever reaches it can run any graph here. Give a certificate and its key for "
                "TLS, or say that the network is trusted (insecure)."
            )
        methods = self._methods()
        try:
            self._server = ThreadedServer(host, port, methods, threads=threads, tls=tls)
        except OSError as error:
            raise errors.unavailable(
                f"TensorFlow's clients cannot be answered at {joined(host, port)}: {error}"
            ) from None
        self.address = f"{address.rpartition(':')[0] or host}:{self._server.port}"

    def _methods(self) -> dict[bytes, Method]:
        handlers: dict[str, Handler] = {
            "CreateSession": self._create_session,
            "ExtendSession": self._extend_session,
            "PartialRunSetup": self._partial_run_setup,
            "RunStep": self._run_step,
            "CloseSession": self._close_session,
            "ListDevices": self._list_devices,
            "Reset": self._reset_containers,
            "MakeCallable": self._make_callable,
            "RunCallable": self._run_callable,
            "ReleaseCallable": self._release_callable,
        }
        return {
            f"/{messages.SERVICE}/{name}".encode(): _answering(handler) for name, handler in handlers.items()
        }

    def next_round(self) -> None:
        """A round of heartbeats has passed: collects the sessions of clients that have left."""
        if len(self._sessions):
            self._sessions.next_round(self._server.ports())

    def close(self) -> None:
        """Stops listening. Steps that run are cancelled by the end of their sessions."""
        self._server.close()

    # ------------------------------------------------------------------ sessions

    def _session(self, handle: str, call: Call) -> ClientSession:
        return self._sessions.get(handle, call.peer)

    def _create_session(self, data: memoryview | bytes, call: Call) -> Pieces:
        request = messages.CreateSessionRequest.FromString(bytes(data))
        config = request.config if request.HasField("config") else None
        session = self._sessions.create(request.graph_def, config, call.peer)
        return _message(
            messages.CreateSessionResponse(
                session_handle=session.master.handle, graph_version=session.version
            )
        )

    def _extend_session(self, data: memoryview | bytes, call: Call) -> Pieces:
        request = messages.ExtendSessionRequest.FromString(bytes(data))
        session = self._session(request.session_handle, call)
        version = session.extend(request.graph_def, request.current_graph_version)
        return _message(messages.ExtendSessionResponse(new_graph_version=version))

    def _close_session(self, data: memoryview | bytes, call: Call) -> Pieces:
        self._sessions.close(messages.CloseSessionRequest.FromString(bytes(data)).session_handle)
        return ()

    def _reset_containers(self, data: memoryview | bytes, call: Call) -> Pieces:
        self._reset(list(messages.ResetRequest.FromString(bytes(data)).container))
        self._sessions.forget()
        return ()

    def _list_devices(self, data: memoryview | bytes, call: Call) -> Pieces:
        handle = messages.ListDevicesRequest.FromString(bytes(data)).session_handle
        devices = self._session(handle, call).master.devices() if handle else self._devices()
        answer = messages.ListDevicesResponse()
        for device in devices:
            found = answer.local_device if device.task == self._task else answer.remote_device
            found.add(
                name=device.name,
                device_type=device.device_type,
                memory_limit=device.memory_limit_bytes,
                incarnation=device.incarnation,
                physical_device_desc=device.description,
            )
        return _message(answer)

    # ------------------------------------------------------------------ steps

    def _run_step(self, data: memoryview | bytes, call: Call) -> Pieces:
        message, feeds = tensors.read_feeds(data, messages.RunStepRequest)
        try:
            return self._step(message, feeds, call)
        except Exception as error:
            if not message.store_errors_in_response_body:
                raise
            failure = failure_of(error)
            return _message(
                messages.RunStepResponse(status_code=failure.code, status_error_message=_words(failure))
            )

    def _step(self, message: Any, feeds: Sequence[Feed], call: Call) -> Pieces:
        session = self._session(message.session_handle, call)
        names, fetches = tuple([feed.name for feed in feeds]), tuple(message.fetch)
        handle = message.partial_run_handle
        request = session.request(names, fetches, tuple(message.target), handle)
        fed = [feed.read(tensor) for tensor, feed in zip(request.feeds, feeds)]
        metadata: RunMetadata | None = None
        if handle:
            values = session.run_piece(handle, request, fed, message.options, call)
        else:
            values, metadata = session.run(request, fed, message.options, call)
        found = [
            tensors.named_pieces(name, value, tensor.dtype.base_dtype)
            for name, tensor, value in zip(fetches, request.fetches, values)
        ]
        return tensors.answer(_TENSORS, found, _rest(messages.RunStepResponse, metadata))

    def _partial_run_setup(self, data: memoryview | bytes, call: Call) -> Pieces:
        request = messages.PartialRunSetupRequest.FromString(bytes(data))
        session = self._session(request.session_handle, call)
        handle = session.begin_partial_run(tuple(request.feed), tuple(request.fetch), tuple(request.target))
        return _message(messages.PartialRunSetupResponse(partial_run_handle=handle))

    # ------------------------------------------------------------------ callables

    def _make_callable(self, data: memoryview | bytes, call: Call) -> Pieces:
        request = messages.MakeCallableRequest.FromString(bytes(data))
        handle = self._session(request.session_handle, call).make_callable(request.options)
        return _message(messages.MakeCallableResponse(handle=handle))

    def _run_callable(self, data: memoryview | bytes, call: Call) -> Pieces:
        message, feeds = tensors.read_feeds(data, messages.RunCallableRequest)
        session = self._session(message.session_handle, call)
        prepared = session.callable(message.handle)
        wanted: Sequence[Tensor] = prepared.request.feeds
        if len(feeds) != len(wanted):
            raise errors.invalid_argument(f"Expected {len(wanted)} feed tensors, but got {len(feeds)}.")
        fed = [feed.read(tensor) for tensor, feed in zip(wanted, feeds)]
        values, metadata = session.run(prepared.request, fed, prepared.options, call)
        found = [
            tensors.tensor_pieces(value, tensor.dtype.base_dtype)
            for tensor, value in zip(prepared.request.fetches, values)
        ]
        return tensors.answer(_TENSORS, found, _rest(messages.RunCallableResponse, metadata))

    def _release_callable(self, data: memoryview | bytes, call: Call) -> Pieces:
        request = messages.ReleaseCallableRequest.FromString(bytes(data))
        self._session(request.session_handle, call).release_callable(request.handle)
        return ()


def _message(message: Any) -> Pieces:
    return (message.SerializeToString(),)


def _rest(answer: Any, metadata: RunMetadata | None) -> bytes:
    """An answer but for its tensors."""
    if metadata is None:
        return b""
    data: bytes = answer(metadata=metadata).SerializeToString()
    return data


# ---------------------------------------------------------------------------------------------------- errors


def _answering(handler: Handler) -> Method:
    """The handler, with its errors as those of gRPC."""

    def answer(data: memoryview | bytes, call: Call) -> Pieces:
        try:
            return handler(data, call)
        except DecodeError as error:
            raise errors.internal(f"The request cannot be parsed: {error}") from None
        except Exception as error:
            failure = failure_of(error)
        text = _words(failure).encode()[:_LONGEST_STATUS].decode(errors="ignore")
        raise errors.make_error(None, None, text, failure.code)

    return answer


def _words(failure: Failure) -> str:
    """The text of an error, with the operation where TensorFlow's clients look for it."""
    return (
        failure.message if failure.node is None else f"{failure.message}\n\t [[{{{{node {failure.node}}}}}]]"
    )
