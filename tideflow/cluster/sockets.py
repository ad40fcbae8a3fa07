"""Addresses, and the settings that every socket between tasks has."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Sequence
from typing import Any

import torch
import zmq

from tideflow.cluster import shared_memory
from tideflow.cluster.keys import Key
from tideflow.graph import errors

SILENCE_SECONDS = 5  # a network that acknowledges nothing for so long is taken for dead
HANDSHAKE_MS = 10_000
LINGER_MS = 2000
_WORTH_KEEPING_BYTES = 1 << 20
POSTED_BYTES, POSTED_MESSAGES = 64 << 20, 64  # under way to one peer
QUEUED_MESSAGES = 4 * POSTED_MESSAGES  # that ZeroMQ holds for a connection; an honest peer never has so many


def default_max_message_bytes() -> int:
    """The largest tensor a task takes: half of the machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


# ------------------------------------------------------------------------------------------------- addresses


def split_address(address: str) -> tuple[str, int]:
    """Host and port of "host:port"; no host is loopback, "*" is every interface."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise errors.invalid_argument(f"An address is host:port; found '{address}'.")
    return {"*": "0.0.0.0", "": "127.0.0.1"}.get(host, host.strip("[]")), int(port)


def resolve(address: str, key: Key | None, insecure: bool) -> tuple[str, int]:
    """The numeric host and the port of an address; off loopback only with a key, unless told otherwise."""
    host, port = split_address(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise errors.unavailable(f"The host of '{address}' is not known: {error}.") from None
    number = min(found, key=lambda entry: entry[0] != socket.AF_INET)[4][0]
    if key is None and not insecure and not ipaddress.ip_address(number.partition("%")[0]).is_loopback:
        raise errors.failed_precondition(
            f"'{address}' is not on this machine's loopback: tasks there authenticate and encrypt with a "
            "cluster key. Make one with `tideflow keygen`, give every task the file, and name it in "
            "TIDEFLOW_CLUSTER_KEY; or say that the network is trusted, by `tideflow run --insecure` or "
            "TIDEFLOW_INSECURE=1.",
        )
    return number, port


def joined(host: str, port: int) -> str:
    """A numeric host and a port as an address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# --------------------------------------------------------------------------------------------------- sockets

# Plain numbers: arithmetic on the library's enumerations costs more than the calls they are for.
POLLIN, AT_ONCE, AND_MORE = int(zmq.POLLIN), int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE)


def prepare(sock: zmq.Socket, max_message_bytes: int) -> None:
    """Settings of both ends. A silent network is noticed by the kernel's probes: ZeroMQ's own heartbeats wait
    behind the frame that is being sent, so a large tensor on a slow line would look like a dead peer.
    """
    sock.linger, sock.ipv6, sock.rcvhwm = LINGER_MS, True, QUEUED_MESSAGES
    sock.handshake_ivl, sock.maxmsgsize = HANDSHAKE_MS, max_message_bytes
    sock.tcp_keepalive, sock.tcp_keepalive_idle, sock.tcp_keepalive_intvl = 1, 1, 1
    sock.tcp_keepalive_cnt, sock.tcp_maxrt = SILENCE_SECONDS, 1000 * SILENCE_SECONDS


def poll(polled: list[tuple[Any, int]], milliseconds: int) -> list[Any]:
    """Those of the sockets on which a message is there, waiting so long for the first."""
    return [sock for sock, _ in zmq.zmq_poll(polled, milliseconds)]


def receive(sock: zmq.Socket) -> list[zmq.Frame]:
    """The frames of a message that is there; zmq.Again where none is."""
    frames = [sock.recv(AT_ONCE, False)]
    while frames[-1].more:
        frames.append(sock.recv(AT_ONCE, False))
    return frames


def send(sock: zmq.Socket, frames: Sequence[Any]) -> None:
    """Hands frames to ZeroMQ at once or not at all; large tensors are not copied."""
    *front, last = frames
    for frame in front:
        sock.send(frame, AND_MORE, _is_small(frame))
    sock.send(last, AT_ONCE, _is_small(last))


def _is_small(frame: Any) -> bool:
    """Whether copying a frame costs less than having pyzmq's own thread look after its memory."""
    return type(frame) is bytes or frame.nbytes < _WORTH_KEEPING_BYTES


def lend(data: torch.Tensor, borrower: int) -> list | None:
    """Puts a tensor's bytes into shared memory where that is quicker than a socket."""
    if data.numel() < shared_memory.WORTH_BYTES:
        return None
    return shared_memory.arena().lend(data, borrower)
