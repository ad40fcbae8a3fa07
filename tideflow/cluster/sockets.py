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
from tideflow.cluster.messages import SegmentName
from tideflow.graph import errors

SILENCE_SECONDS = 5  # a connection whose packets are not acknowledged for so long counts as broken
HANDSHAKE_MS = 10_000
LINGER_MS = 2000
_COPY_BYTES = 1 << 20
POSTED_BYTES, POSTED_MESSAGES = 64 << 20, 64  # posted to one peer and not handled there yet
QUEUED_MESSAGES = 4 * POSTED_MESSAGES  # that ZeroMQ holds for a connection; peers that count have fewer


def default_max_message_bytes() -> int:
    """The largest tensor that a task receives: half of the machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


# ------------------------------------------------------------------------------------------------- addresses


def split_address(address: str) -> tuple[str, int]:
    """Host and port of "host:port"; no host is loopback, "*" is every interface."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise errors.invalid_argument(f"An address is host:port; found '{address}'.")
    return {"*": "0.0.0.0", "": "127.0.0.1"}.get(host, host.strip("[]")), int(port)


def resolve(address: str, key: Key | None, insecure: bool) -> tuple[str, int]:
    """The numeric host and the port of an address. An address off loopback is refused without a `key`, unless
    the network is trusted (`insecure`).
    """
    host, port = split_address(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise errors.unavailable(f"The host of '{address}' is not known: {error}.") from None
    number = str(min(found, key=lambda entry: entry[0] != socket.AF_INET)[4][0])
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

# Plain numbers: arithmetic on pyzmq's enumerations takes longer than the calls that they are for.
POLLIN, AT_ONCE, AND_MORE = int(zmq.POLLIN), int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE)


def prepare(sock: zmq.Socket[bytes], max_message_bytes: int) -> None:
    """Makes the settings that both ends have. The kernel's keepalive probes notice a broken network. ZeroMQ's
    own heartbeats would not do: they wait behind the frame that is being sent, so that a large tensor on a
    slow line would look like a broken connection.
    """
    sock.linger, sock.ipv6, sock.rcvhwm = LINGER_MS, True, QUEUED_MESSAGES
    sock.handshake_ivl, sock.maxmsgsize = HANDSHAKE_MS, max_message_bytes
    sock.tcp_keepalive, sock.tcp_keepalive_idle, sock.tcp_keepalive_intvl = 1, 1, 1
    sock.tcp_keepalive_cnt, sock.tcp_maxrt = SILENCE_SECONDS, 1000 * SILENCE_SECONDS


def poll(polled: list[tuple[Any, int]], milliseconds: int) -> list[Any]:
    """Those of the sockets that have a message, waiting so many milliseconds for the first."""
    return [sock for sock, _ in zmq.zmq_poll(polled, milliseconds)]


def receive(sock: zmq.Socket[bytes]) -> list[zmq.Frame]:
    """The frames of a message that has arrived; zmq.Again if there is none."""
    frames = [sock.recv(AT_ONCE, False)]
    while frames[-1].more:
        frames.append(sock.recv(AT_ONCE, False))
    return frames


def send(sock: zmq.Socket[bytes], frames: Sequence[Any]) -> None:
    """Gives frames to ZeroMQ without waiting, all or none; large tensors are not copied."""
    *front, last = frames
    for frame in front:
        sock.send(frame, AND_MORE, _is_small(frame))
    sock.send(last, AT_ONCE, _is_small(last))


def _is_small(frame: Any) -> bool:
    """Whether copying a frame costs less than having pyzmq's own thread release its memory later."""
    return type(frame) is bytes or frame.nbytes < _COPY_BYTES


def lend(data: torch.Tensor, borrower: int) -> SegmentName | None:
    """Copies a tensor's bytes into shared memory for the process `borrower`, if that is quicker than a
    socket.
    """
    if data.numel() < shared_memory.WORTH_BYTES:
        return None
    return shared_memory.arena().lend(data, borrower)
