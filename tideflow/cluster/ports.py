"""Ports for tasks that will listen later: until then the system gives them to no other process."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterator

from tideflow.graph import errors

LOOPBACK = "127.0.0.1"
_PORTS = range(20000, 32768)  # below those that the system gives to outgoing connections


def reserve(host: str = LOOPBACK) -> socket.socket:
    """Keeps a free port of this host until the socket is closed. A process that knows the number can listen
    there meanwhile, but the system gives the port to no process that asks for any free one.
    """
    for port in random.sample(_PORTS, len(_PORTS)):
        kept = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            kept.bind((host.strip("[]"), port))
        except OSError:
            kept.close()
            continue
        # Servers set this, too: then a port on which no process listens yet can be bound by number a second
        # time. It is set after `bind`, which would otherwise share the port with another that reserves.
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return kept
    raise errors.resource_exhausted(f"No port of {host} from {_PORTS.start} to {_PORTS.stop - 1} is free.")


def number_of(kept: socket.socket) -> int:
    """The port that a socket keeps."""
    port: int = kept.getsockname()[1]
    return port


@contextlib.contextmanager
def reserved(count: int, host: str = LOOPBACK) -> Iterator[list[int]]:
    """So many free ports, which are kept while the block runs."""
    with contextlib.ExitStack() as stack:
        yield [number_of(stack.enter_context(reserve(host))) for _ in range(count)]
