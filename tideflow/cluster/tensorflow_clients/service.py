"""`tensorflow.MasterService` over gRPC: the port at which TensorFlow's clients reach a server."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata

from tideflow.cluster.clients import socket_of
from tideflow.cluster.master import Master
from tideflow.cluster.messages import Failure
from tideflow.cluster.sockets import is_loopback, joined, numeric
from tideflow.cluster.tensorflow_clients import messages, tensors
from tideflow.cluster.tensorflow_clients.sessions import ClientSession, TensorFlowSessions
from tideflow.cluster.wire import failure_of
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.runtime.devices import Device

_TENSORS = 1  # the field of answers with the fetched tensors
_STEP_FEEDS, _CALLABLE_FEEDS = 2, 3  # the fields of requests with the fed ones
_LONGEST_STATUS = 3000  # bytes of an error beside the answer; gRPC takes 8 KB there in all
_STATUS_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DESCRIPTORS = "/proc/self/fd"

Handler = Callable[[bytes, grpc.ServicerContext], bytes]


class TensorFlowClients:
    """Answers TensorFlow's clients at an address, on `threads` threads at most. Such clients cannot
    authenticate: off the loopback the port needs `tls`, a certificate chain and its private key, or that
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
        tls: tuple[bytes, bytes] | None = None,
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
        self._threads = ThreadPoolExecutor(threads, "tideflow-tensorflow-client")
        options = [
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(self._threads, [self._handlers()], options=options)
        self._port = self._bind(joined(host, port), tls)
        self.address = f"{address.rpartition(':')[0] or host}:{self._port}"
        self._server.start()

    def _bind(self, address: str, tls: tuple[bytes, bytes] | None) -> int:
        try:
            if tls is None:
                return int(self._server.add_insecure_port(address))
            certificate, key = tls
            credentials = grpc.ssl_server_credentials([(key, certificate)])
            return int(self._server.add_secure_port(address, credentials))
        except RuntimeError as error:
            raise errors.unavailable(
                f"TensorFlow's clients cannot be answered at {address}: {error}"
            ) from None

    def _handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, Handler] = {
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
        return grpc.method_handlers_generic_handler(
            messages.SERVICE,
            {
                name: grpc.unary_unary_rpc_method_handler(_answering(method))
                for name, method in methods.items()
            },
        )

    def next_round(self) -> None:
        """A round of heartbeats has passed: collects the sessions of clients that have left."""
        if len(self._sessions):
            self._sessions.next_round(connected_ports(self._port))

    def close(self) -> None:
        """Stops listening. Steps that run are cancelled by the end of their sessions."""
        self._server.stop(0).wait()
        self._threads.shutdown()

    # ------------------------------------------------------------------ sessions

    def _session(self, handle: str, context: grpc.ServicerContext) -> ClientSession:
        return self._sessions.get(handle, _peer_port(context))

    def _create_session(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = messages.CreateSessionRequest.FromString(data)
        config = request.config if request.HasField("config") else None
        session = self._sessions.create(request.graph_def, config, _peer_port(context))
        return _bytes(
            messages.CreateSessionResponse(
                session_handle=session.master.handle, graph_version=session.version
            )
        )

    def _extend_session(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = messages.ExtendSessionRequest.FromString(data)
        session = self._session(request.session_handle, context)
        version = session.extend(request.graph_def, request.current_graph_version)
        return _bytes(messages.ExtendSessionResponse(new_graph_version=version))

    def _close_session(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        self._sessions.close(messages.CloseSessionRequest.FromString(data).session_handle)
        return b""

    def _reset_containers(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        self._reset(list(messages.ResetRequest.FromString(data).container))
        self._sessions.forget()
        return b""

    def _list_devices(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        handle = messages.ListDevicesRequest.FromString(data).session_handle
        devices = self._session(handle, context).master.devices() if handle else self._devices()
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
        return _bytes(answer)

    # ------------------------------------------------------------------ steps

    def _run_step(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        rest, feeds = tensors.split(memoryview(data), _STEP_FEEDS)
        message = messages.RunStepRequest.FromString(rest)
        try:
            return self._step(message, feeds, context)
        except Exception as error:
            if not message.store_errors_in_response_body:
                raise
            failure = failure_of(error)
            return _bytes(
                messages.RunStepResponse(status_code=failure.code, status_error_message=_words(failure))
            )

    def _step(self, message: Any, feeds: list[memoryview], context: grpc.ServicerContext) -> bytes:
        session = self._session(message.session_handle, context)
        named = [tensors.read_named(feed) for feed in feeds]
        names = tuple([name for name, _ in named])
        handle = message.partial_run_handle
        request = session.request(names, tuple(message.fetch), tuple(message.target), handle)
        fed = [tensors.read_feed(value, tensor) for tensor, (_, value) in zip(request.feeds, named)]
        metadata: RunMetadata | None = None
        if handle:
            values = session.run_piece(handle, request, fed, message.options, _ended_by(context))
        else:
            values, metadata = session.run(request, fed, message.options, _ended_by(context))
        found = [
            tensors.named_pieces(name, value, tensor.dtype.base_dtype)
            for name, tensor, value in zip(message.fetch, request.fetches, values)
        ]
        return tensors.answer(_TENSORS, found, _bytes(messages.RunStepResponse(metadata=metadata)))

    def _partial_run_setup(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = messages.PartialRunSetupRequest.FromString(data)
        session = self._session(request.session_handle, context)
        handle = session.begin_partial_run(tuple(request.feed), tuple(request.fetch), tuple(request.target))
        return _bytes(messages.PartialRunSetupResponse(partial_run_handle=handle))

    # ------------------------------------------------------------------ callables

    def _make_callable(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = messages.MakeCallableRequest.FromString(data)
        handle = self._session(request.session_handle, context).make_callable(request.options)
        return _bytes(messages.MakeCallableResponse(handle=handle))

    def _run_callable(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        rest, feeds = tensors.split(memoryview(data), _CALLABLE_FEEDS)
        message = messages.RunCallableRequest.FromString(rest)
        session = self._session(message.session_handle, context)
        prepared = session.callable(message.handle)
        wanted: Sequence[Tensor] = prepared.request.feeds
        if len(feeds) != len(wanted):
            raise errors.invalid_argument(f"Expected {len(wanted)} feed tensors, but got {len(feeds)}.")
        fed = [tensors.read_feed(value, tensor) for tensor, value in zip(wanted, feeds)]
        values, metadata = session.run(prepared.request, fed, prepared.options, _ended_by(context))
        found = [
            tensors.tensor_pieces(value, tensor.dtype.base_dtype)
            for tensor, value in zip(prepared.request.fetches, values)
        ]
        return tensors.answer(_TENSORS, found, _bytes(messages.RunCallableResponse(metadata=metadata)))

    def _release_callable(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = messages.ReleaseCallableRequest.FromString(data)
        self._session(request.session_handle, context).release_callable(request.handle)
        return b""


def _bytes(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


# ---------------------------------------------------------------------------------------------------- errors


def _answering(handler: Handler) -> Handler:
    """The handler, with its errors as statuses of gRPC."""

    def answer(data: bytes, context: grpc.ServicerContext) -> bytes:
        try:
            return handler(data, context)
        except DecodeError as error:
            failure = Failure(code=errors.INTERNAL, message=f"The request cannot be parsed: {error}")
        except Exception as error:
            failure = failure_of(error)
        text = _words(failure).encode()[:_LONGEST_STATUS].decode(errors="ignore")
        context.abort(_STATUS_CODES[failure.code], text)
        raise AssertionError("gRPC's abort raises")

    return answer


def _words(failure: Failure) -> str:
    """The text of an error, with the operation where TensorFlow's clients look for it."""
    return (
        failure.message if failure.node is None else f"{failure.message}\n\t [[{{{{node {failure.node}}}}}]]"
    )


# --------------------------------------------------------------------------------------------- the connection


def _ended_by(context: grpc.ServicerContext) -> Callable[[Callable[[], None]], Any]:
    """Makes the block in which a step runs: it is cancelled if its client cancels, or leaves."""

    @contextlib.contextmanager
    def cancellable(cancel: Callable[[], None]) -> Iterator[None]:
        is_running = True

        def ended() -> None:
            if is_running:
                cancel()

        if not context.add_callback(ended):
            raise errors.cancelled("The client has given this step up.")
        try:
            yield
        finally:
            is_running = False

    return cancellable


def _peer_port(context: grpc.ServicerContext) -> str:
    """The port of the client's end of the connection."""
    return str(context.peer()).rpartition(":")[2]


def connected_ports(port: int) -> set[str]:
    """The ports of the other ends of the open connections at a port of this process. gRPC does not tell."""
    found = set()
    for descriptor in map(int, os.listdir(_DESCRIPTORS)):
        with contextlib.suppress(OSError), socket_of(descriptor, port) as connection:
            found.add(str(connection.getpeername()[1]))
    return found
