"""Ports for those who listen later: until then nobody else is given them."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

LOOPBACK = "127.0.0.1"


def reserve(host: str = LOOPBACK) -> socket.socket:
    """Keeps a free port of this host until the socket is closed: whoever is told its number can listen there
    meanwhile, but the system gives it to nobody.
    """
    kept = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    # As servers have it: a port at which nobody listens yet can be shared by those who ask for it by number.
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind((host.strip("[]"), 0))
    return kept


def number_of(kept: socket.socket) -> int:
    """The port that a socket keeps."""
    return kept.getsockname()[1]


@contextlib.contextmanager
def reserved(count: int, host: str = LOOPBACK) -> Iterator[list[int]]:
    """So many free ports, kept for the block."""
    with contextlib.ExitStack() as stack:
        yield [number_of(stack.enter_context(reserve(host))) for _ in range(count)]
