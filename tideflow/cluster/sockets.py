"""Addresses, and the settings that every socket between tasks has."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import Any

import torch
import zmq

from tideflow.cluster import keys, shared_memory
from tideflow.cluster.keys import Key
from tideflow.cluster.messages import SegmentName
from tideflow.cluster.pieces import COPY_BYTES, whole_piece
from tideflow.graph import errors
from tideflow.graph.memory import physical_memory

SILENCE_SECONDS = 5  # a connection whose packets are not acknowledged for so long counts as broken
HANDSHAKE_MS = 10_000
LINGER_MS = 2000
_PROBE_SECONDS = 2.0
_ZMTP_SIGNATURE = b"\xff"  # the first byte that a ZeroMQ socket sends
_CURVE_BYTES = 1024  # more than an encrypted piece has around it
POSTED_BYTES, POSTED_MESSAGES = 64 << 20, 64  # posted to one peer and not handled there yet
QUEUED_MESSAGES = 4 * POSTED_MESSAGES  # that ZeroMQ holds for a connection; peers that count have fewer


def default_max_message_bytes() -> int:
    """What the messages that have not all arrived may hold at a task: half of the machine's memory."""
    return physical_memory() // 2


# ------------------------------------------------------------------------------------------------- addresses


def split_address(address: str) -> tuple[str, int]:
    """Host and port of "host:port"; no host is loopback, "*" is every interface."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise errors.invalid_argument(f"An address is host:port; found '{address}'.")
    return {"*": "0.0.0.0", "": "127.0.0.1"}.get(host, host.strip("[]")), int(port)


def numeric(address: str) -> tuple[str, int]:
    """The numeric host and the port of an address."""
    host, port = split_address(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise errors.unavailable(f"The host of '{address}' is not known: {error}.") from None
    return str(min(found, key=lambda entry: entry[0] != socket.AF_INET)[4][0]), port


def is_loopback(number: str) -> bool:
    """Whether a numeric host is this machine's own."""
    return ipaddress.ip_address(number.partition("%")[0]).is_loopback


def resolve(address: str, key: Key | None, insecure: bool) -> tuple[str, int, Key | None]:
    """The numeric host and the port of an address, and the key with which tasks there authenticate: the one
    that is given; otherwise none where `insecure` says so, and on the loopback the user's own. Off the
    loopback an address is refused without either.
    """
    number, port = numeric(address)
    if key is not None or insecure:
        return number, port, key
    if is_loopback(number):
        return number, port, keys.of_user()
    raise errors.failed_precondition(
        f"'{address}' is not on this machine's loopback: tasks there authenticate and encrypt with a "
        "cluster key. Make one with `tideflow keygen`, give every task the file, and name it in "
        "TIDEFLOW_CLUSTER_KEY; or say that the network is trusted, by `tideflow run --insecure` or "
        "TIDEFLOW_INSECURE=1.",
    )


def joined(host: str, port: int) -> str:
    """A numeric host and a port as an address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# --------------------------------------------------------------------------------------------------- sockets

# Plain numbers: arithmetic on pyzmq's enumerations takes longer than the calls that they are for.
POLLIN, AT_ONCE, AND_MORE = int(zmq.POLLIN), int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE)


def prepare(sock: zmq.Socket[bytes], key: Key | None) -> None:
    """Makes the settings that both ends have, with this key. The largest thing that may be announced is a
    piece, because ZeroMQ takes memory for it before it knows who is at the other end. The kernel's keepalive
    probes notice a broken network. ZeroMQ's own heartbeats would not do: they wait behind what is being sent,
    so that a large tensor on a slow line would look like a broken connection.
    """
    sock.linger, sock.ipv6, sock.rcvhwm = LINGER_MS, True, QUEUED_MESSAGES
    sock.handshake_ivl, sock.maxmsgsize = HANDSHAKE_MS, whole_piece(key) + _CURVE_BYTES
    sock.tcp_keepalive, sock.tcp_keepalive_idle, sock.tcp_keepalive_intvl = 1, 1, 1
    sock.tcp_keepalive_cnt, sock.tcp_maxrt = SILENCE_SECONDS, 1000 * SILENCE_SECONDS


def is_greeted_at(address: tuple[str, int]) -> bool:
    """Whether a ZeroMQ socket listens at an address: it sends a greeting before it asks for a key."""
    try:
        with socket.create_connection(address, _PROBE_SECONDS) as probe:
            return probe.recv(1) == _ZMTP_SIGNATURE
    except OSError:
        return False


def poll(polled: list[tuple[Any, int]], milliseconds: int) -> list[Any]:
    """Those of the sockets that have a message, waiting so many milliseconds for the first."""
    return [sock for sock, _ in zmq.zmq_poll(polled, milliseconds)]


def receive(sock: zmq.Socket[bytes]) -> list[zmq.Frame]:
    """The parts of a message that has arrived; zmq.Again if there is none."""
    parts = [sock.recv(AT_ONCE, False)]
    while parts[-1].more:
        parts.append(sock.recv(AT_ONCE, False))
    return parts


def send(sock: zmq.Socket[bytes], parts: Iterable[Any]) -> None:
    """Gives the parts of one message to ZeroMQ without waiting, all or none."""
    *front, last = parts
    for part in front:
        sock.send(part, AND_MORE, _is_small(part))
    sock.send(last, AT_ONCE, _is_small(last))


def _is_small(part: Any) -> bool:
    """Whether ZeroMQ gets a copy; a larger part must not change until it is sent."""
    return type(part) is bytes or part.nbytes < COPY_BYTES


def lend(data: torch.Tensor, borrower: int) -> SegmentName | None:
    """Copies a tensor's bytes into shared memory for the process `borrower`, if that is quicker than a
    socket.
    """
    if data.numel() < shared_memory.WORTH_BYTES:
        return None
    return shared_memory.arena().lend(data, borrower)
