"""Ports for tasks that will listen later: until then the system gives them to no other process."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

LOOPBACK = "127.0.0.1"


def reserve(host: str = LOOPBACK) -> socket.socket:
    """Keeps a free port of this host until the socket is closed. A process that knows the number can listen
    there meanwhile, but the system gives the port to no process that asks for any free one.
    """
    kept = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Servers set this, too: then a port on which no process listens yet can be bound by number a second time.
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind((host.strip("[]"), 0))
    return kept


def number_of(kept: socket.socket) -> int:
    """The port that a socket keeps."""
    port: int = kept.getsockname()[1]
    return port


@contextlib.contextmanager
def reserved(count: int, host: str = LOOPBACK) -> Iterator[list[int]]:
    """So many free ports, which are kept while the block runs."""
    with contextlib.ExitStack() as stack:
        yield [number_of(stack.enter_context(reserve(host))) for _ in range(count)]
