"""The port at which a listener is reached, and how many unauthenticated connections it may have.

ZeroMQ accepts every connection, and tries again without a pause where it cannot. So its listener watches what
ZeroMQ reports: while too many connections have not authenticated, the system ignores new ones (TCP asks
again after a second); where no file descriptor is left, those that wait to be accepted are turned away.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import logging
import os
import socket
import struct
import time
from collections import OrderedDict

import zmq

from tideflow.cluster import sockets
from tideflow.cluster.clients import Clients

MAX_UNAUTHENTICATED = 256  # connections that have not authenticated
_BACKLOG = 128  # connections that the system keeps until ZeroMQ accepts them
_LOG_SECONDS = 10.0

_ACCEPTED, _ACCEPT_FAILED = int(zmq.EVENT_ACCEPTED), int(zmq.EVENT_ACCEPT_FAILED)
_ADMITTED, _DISCONNECTED = int(zmq.EVENT_HANDSHAKE_SUCCEEDED), int(zmq.EVENT_DISCONNECTED)
_EVENT = struct.Struct("=HI")
_ATTACH_FILTER, _DETACH_FILTER = 26, 27  # of Linux; Python has no names for them

_log = logging.getLogger("tideflow.cluster")


class Unauthenticated:
    """Counts the connections that were accepted and have not authenticated. Each does so, or is closed,
    within `seconds`. ZeroMQ does not say which one has authenticated: it counts as the oldest.
    """

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._since: OrderedDict[int, float] = OrderedDict()  # by descriptor

    def accepted(self, connection: int, now: float) -> None:
        """A connection with this descriptor was accepted."""
        self._since.pop(connection, None)
        self._since[connection] = now

    def admitted(self) -> None:
        """A connection has authenticated."""
        if self._since:
            self._since.popitem(last=False)

    def left(self, connection: int) -> None:
        """A connection was closed."""
        self._since.pop(connection, None)

    def count(self, now: float) -> int:
        """How many there are."""
        while self._since and next(iter(self._since.values())) < now - self._seconds:
            self._since.popitem(last=False)
        return len(self._since)


class ListeningSocket:
    """A port at which a ZeroMQ socket accepts. `clients` is told which connections are open."""

    def __init__(self, host: str, port: int, clients: Clients):
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._clients = clients
        self._unauthenticated = Unauthenticated(sockets.HANDSHAKE_MS / 1000)
        self._is_open, self._last_log = True, -_LOG_SECONDS
        self._unreachable: socket.socket | None = None  # its descriptor is given up where no other is left
        self._accepting = -1  # the descriptor from which ZeroMQ accepts
        self._monitor: zmq.Socket[bytes] | None = None
        try:
            self._socket.setblocking(False)  # ZeroMQ and `_turn_away` both accept
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            self._socket.listen(_BACKLOG)
            self._unreachable = _unreachable_socket()
        except BaseException:
            self.close()
            raise
        self.address = sockets.joined(host, self._socket.getsockname()[1])

    @property
    def port(self) -> int:
        """The number of the port."""
        number: int = self._socket.getsockname()[1]
        return number

    def attach(self, router: zmq.Socket[bytes]) -> zmq.Socket[bytes]:
        """Has a ZeroMQ socket accept here; returns the socket that is readable when `watch` has work."""
        events = _ACCEPTED | _ACCEPT_FAILED | _ADMITTED | _DISCONNECTED
        self._monitor = router.get_monitor_socket(events)
        self._monitor.linger = 0
        self._accepting = os.dup(self._socket.fileno())
        router.setsockopt(zmq.USE_FD, self._accepting)
        router.bind(f"tcp://{self.address}")
        return self._monitor

    def watch(self) -> None:
        """Takes in what ZeroMQ has reported."""
        now = time.monotonic()
        assert self._monitor is not None
        with contextlib.suppress(zmq.Again):
            while True:
                event, value = _EVENT.unpack(self._monitor.recv_multipart(sockets.AT_ONCE)[0])
                if event == _ACCEPTED:
                    self._unauthenticated.accepted(value, now)
                    self._clients.connected(value)
                elif event == _ADMITTED:
                    self._unauthenticated.admitted()
                elif event == _DISCONNECTED:
                    self._unauthenticated.left(value)
                    self._clients.disconnected(value)
                elif value in (errno.EMFILE, errno.ENFILE):
                    self._turn_away(now)
        self.review(now)

    def review(self, now: float) -> None:
        """Ignores new connections while too many have not authenticated."""
        if self._unreachable is None:
            with contextlib.suppress(OSError):
                self._unreachable = _unreachable_socket()
        is_open = self._unauthenticated.count(now) < MAX_UNAUTHENTICATED
        if is_open != self._is_open:
            self._is_open = is_open
            _ignore_new(self._socket, not is_open)
            if not is_open:
                limit = MAX_UNAUTHENTICATED
                self._tell(now, f"{limit} connections have not authenticated; others have to wait")

    def _turn_away(self, now: float) -> None:
        """Closes the connections that wait, with a descriptor that is kept for this: ZeroMQ has none left. It
        tries without a pause, and would take that descriptor too; so meanwhile it accepts from a socket to
        which nobody comes.
        """
        self._tell(now, "no file descriptor is left (ulimit -n): new connections are turned away")
        if self._unreachable is None:
            return
        os.dup2(self._unreachable.fileno(), self._accepting, inheritable=False)
        self._unreachable.close()
        self._unreachable = None
        with contextlib.suppress(OSError):
            while True:
                self._socket.accept()[0].close()
        with contextlib.suppress(OSError):  # another thread may have taken the descriptor
            self._unreachable = socket.socket(fileno=os.dup(self._accepting))
        os.dup2(self._socket.fileno(), self._accepting, inheritable=False)

    def _tell(self, now: float, what: str) -> None:
        if now - self._last_log >= _LOG_SECONDS:
            self._last_log = now
            _log.warning("%s: %s", self.address, what)

    def close(self) -> None:
        """Gives the port back, once ZeroMQ's own socket is closed."""
        self._socket.close()
        if self._monitor is not None:
            self._monitor.close()
        if self._unreachable is not None:
            self._unreachable.close()
            self._unreachable = None


def _unreachable_socket() -> socket.socket:
    """A socket that listens, and to which the system lets nobody come."""
    unreachable = socket.socket()
    try:
        unreachable.setblocking(False)
        unreachable.bind(("127.0.0.1", 0))
        _ignore_new(unreachable, True)
        unreachable.listen(0)
    except BaseException:
        unreachable.close()
        raise
    return unreachable


# --------------------------------------------------------------------------------------- the system's filter


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction))]


_RETURN_NOTHING = _Instruction(0x06, 0, 0, 0)  # keeps no byte of any packet: drops it


def _ignore_new(listening: socket.socket, is_ignored: bool) -> None:
    """Has the system drop, or take again, the packets that open a connection. Those of connections that are
    open already are not touched.
    """
    program = _Program(1, ctypes.pointer(_RETURN_NOTHING))
    with contextlib.suppress(OSError):  # a system without filters: then the limit does not hold
        if is_ignored:
            listening.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, bytes(program))
        else:
            listening.setsockopt(socket.SOL_SOCKET, _DETACH_FILTER, 0)
