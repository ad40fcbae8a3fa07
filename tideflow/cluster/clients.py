"""The clients of a listener: who is at which connection, who has left, and what ZeroMQ holds of them.

ZeroMQ hands a message over when its last part is there. What a client sends of a message that never ends
stays in ZeroMQ's own memory until then: no limit of ZeroMQ's counts it, and no call shows it. But the system
counts what has come on a connection. Where much has come since the last message of its client, the connection
is closed, and ZeroMQ lets go what it held.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
from dataclasses import dataclass, field

from tideflow.cluster.protocol import Sender

REVIEW_SECONDS = 1.0  # between two looks at what has come on each connection
_BYTES_RECEIVED = struct.Struct("=Q")  # a field of Linux's tcp_info, at this offset
_BYTES_RECEIVED_AT = 128

_log = logging.getLogger("tideflow.cluster")


@dataclass
class _Connection:
    """An open connection. Messages of a client that has left may still come when its descriptor is in use
    again; so there may be two clients.
    """

    clients: list[bytes] = field(default_factory=list)
    bytes_at_last_message: int = 0
    bytes_since: int = 0


class Clients:
    """The clients at a listener, by the names that its ZeroMQ socket gives them. Of messages that do not end,
    ZeroMQ may hold about `limit` bytes for one connection, and `limit_in_all` for all of them.
    """

    def __init__(self, limit: int, limit_in_all: int):
        self._limit, self._limit_in_all = limit, limit_in_all
        self._senders: dict[bytes, Sender] = {}
        self._connections: dict[int, _Connection] = {}  # by descriptor
        self._left: list[bytes] = []

    # ---- who is there

    def connected(self, descriptor: int) -> None:
        """A connection was accepted."""
        self.disconnected(descriptor)
        self._connections[descriptor] = _Connection()

    def disconnected(self, descriptor: int) -> None:
        """A connection was closed: its clients have left, but messages of theirs may wait to be received."""
        connection = self._connections.pop(descriptor, None)
        if connection is not None:
            self._left += connection.clients

    def get(self, client: bytes) -> Sender | None:
        """A client that has sent something, and has not left."""
        return self._senders.get(client)

    def add(self, client: bytes, descriptor: int) -> Sender:
        """A client has sent its first message, on the connection with this descriptor."""
        connection = self._connections.get(descriptor)
        (self._left if connection is None else connection.clients).append(client)
        sender = self._senders[client] = Sender()
        return sender

    def has_left(self) -> bool:
        """Whether clients have left that `take_left` has not returned yet."""
        return bool(self._left)

    def take_left(self) -> list[tuple[bytes, Sender]]:
        """Forgets the clients that have left, and returns them."""
        left, self._left = self._left, []
        return [(client, self._senders.pop(client)) for client in left if client in self._senders]

    # ---- messages without an end

    def close_endless(self, port: int) -> None:
        """Closes connections at this port on which too much has come since their client's last message."""
        for descriptor, connection in self._connections.items():
            self._count(descriptor, connection, port)
        in_all = sum(connection.bytes_since for connection in self._connections.values())
        largest = sorted(self._connections.items(), key=lambda item: -item[1].bytes_since)
        for descriptor, connection in largest:
            if connection.bytes_since <= self._limit and in_all <= self._limit_in_all:
                return
            in_all -= connection.bytes_since
            _log.warning(
                "A connection is closed: %d bytes of a message have come on it, which does not end",
                connection.bytes_since,
            )
            with contextlib.suppress(OSError), socket_of(descriptor, port) as sock:
                sock.shutdown(socket.SHUT_RDWR)

    def _count(self, descriptor: int, connection: _Connection, port: int) -> None:
        senders = [self._senders[client] for client in connection.clients if client in self._senders]
        try:
            with socket_of(descriptor, port) as sock:
                received = _bytes_received(sock)
        except (OSError, struct.error):  # it has just been closed; or a system that does not count
            return
        if any(sender.has_sent for sender in senders):
            connection.bytes_at_last_message = received
        connection.bytes_since = received - connection.bytes_at_last_message
        for sender in senders:
            sender.has_sent = False


def socket_of(descriptor: int, port: int) -> socket.socket:
    """The socket of a connection at a port; OSError if the descriptor is another thing's by now."""
    copy = os.dup(descriptor)
    try:
        found = socket.socket(fileno=copy)
    except OSError:  # it is no socket
        os.close(copy)
        raise
    name = found.getsockname()  # a pair or more on the network, text elsewhere
    if not isinstance(name, tuple) or name[1] != port:
        found.close()
        raise OSError(f"{descriptor} is no connection at port {port}")
    return found


def _bytes_received(sock: socket.socket) -> int:
    """How many bytes have come on a connection since it was opened."""
    end = _BYTES_RECEIVED_AT + _BYTES_RECEIVED.size
    facts = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, end)
    number: int = _BYTES_RECEIVED.unpack_from(facts, _BYTES_RECEIVED_AT)[0]
    return number
