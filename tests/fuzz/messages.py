"""Broken messages to a task of a cluster, from strangers and from members: the next good client is served."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import socket
import struct
from pathlib import Path
from typing import NamedTuple

import torch
import zmq

import tideflow as tf
from tideflow.cluster import keys, messages, protocol, wire
from tideflow.cluster.messages import Failure, Message
from tideflow.cluster.packing import as_tensor
from tideflow.cluster.pieces import cut, whole_piece
from tideflow.cluster.transport import Identity, Peer
from tideflow.cluster.wire import Envelope
from tideflow.graph.errors import OpError

NAME = "messages"

_SOON = 60.0  # seconds, on a busy machine
_MOST_BYTES = 1 << 30  # by which the process, its server among it, may grow
_NUMBERS = [0, 1, 2, 0x7F, 0xFF, 0x7FFF, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1]
_MECHANISMS = [b"NULL", b"CURVE", b"PLAIN", b"", b"\xff" * 20]


class Case(NamedTuple):
    """What is sent on one connection: bytes of a stranger, or what a member of the cluster sends, a list of
    parts for each message of ZeroMQ.
    """

    is_member: bool
    sent: list[list[bytes]]


class _Target:
    """A server of this process, with the key of the user, as servers on the loopback have; a good client of
    it; and how large the process was before the first case.
    """

    def __init__(self) -> None:
        self.server = tf.train.Server.create_local_server()
        self.address = self.server.target.removeprefix("grpc://")
        self.key = keys.of_user()
        self.peer = Peer(self.address)
        self.peer.connect(_SOON)
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.resident_bytes = _resident_bytes()


@functools.lru_cache(maxsize=1)
def _target() -> _Target:
    return _Target()


def stop() -> None:
    """Stops the server; a later case starts another one."""
    target = _target()
    target.peer.close()
    target.server.stop()
    target.context.term()
    _target.cache_clear()


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# --------------------------------------------------------------------------------------------------- one case


def one(random: random.Random, corpus: Path) -> None:
    """Sends one broken sequence of messages; a server that suffers from it is an AssertionError, and the
    bytes are kept under the folder.
    """
    case = _case(random, corpus)
    try:
        _send(case)
        _check()
    except BaseException:
        corpus.mkdir(parents=True, exist_ok=True)
        text = json.dumps([case.is_member, [[part.hex() for part in parts] for parts in case.sent]])
        (corpus / f"{NAME}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json").write_text(text)
        raise


def _case(random: random.Random, corpus: Path) -> Case:
    known = sorted(corpus.glob(f"{NAME}-*.json"))
    if known and random.random() < 0.2:
        is_member, sent = json.loads(random.choice(known).read_text())
        return Case(is_member, [[bytes.fromhex(part) for part in parts] for parts in sent])
    if random.random() < 0.3:
        return Case(False, [[_damaged(_handshake(random), random)] for _ in range(random.randint(1, 3))])
    sent = [_broken(_message(random), random) for _ in range(random.randint(1, 4))]
    return Case(True, sent)


def _send(case: Case) -> None:
    target = _target()
    if not case.is_member:
        host, _, port = target.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=_SOON) as stranger:
            try:
                for parts in case.sent:
                    stranger.sendall(b"".join(parts))
            except OSError:
                pass  # it was cut off
        return
    with target.context.socket(zmq.DEALER) as member:
        member.linger, member.sndtimeo = 1000, int(1000 * _SOON)
        member.curve_serverkey = target.key.server()[0]
        member.curve_publickey, member.curve_secretkey = target.key.client()
        member.connect(f"tcp://{target.address}")
        for parts in case.sent:
            member.send_multipart(parts)


def _check() -> None:
    target = _target()
    try:
        target.peer.call(messages.GetDevices(), messages.Devices, _SOON)
    except OpError as error:
        raise AssertionError(f"a good client is not served: {error}") from error
    grown = _resident_bytes() - target.resident_bytes
    assert grown < _MOST_BYTES, f"the process has grown by {grown} bytes"


# -------------------------------------------------------------------------------------------- what is damaged


def _handshake(random: random.Random) -> bytes:
    """The beginning of a connection of ZeroMQ."""
    mechanism = random.choice(_MECHANISMS).ljust(20, b"\0")
    greeting = b"\xff" + bytes(8) + b"\x7f\x03" + random.choice([b"\0", b"\1"]) + mechanism + bytes(32)
    hello = b"\x05HELLO" + bytes([1, 0]) + random.randbytes(random.choice([0, 72, 192]))
    size = random.choice([len(hello), *_NUMBERS]) & (1 << 64) - 1
    short = b"\x04" + bytes([min(len(hello), 255)]) + hello
    return greeting + random.choice([short, b"\x06" + struct.pack(">Q", size) + hello, b"\x02" + hello])


def _message(random: random.Random) -> list[bytes]:
    """A message that a task takes, in pieces; for this life of the server or for another one."""
    kind, flags = (
        _some_message(random),
        random.choice([0, 0, protocol.POSTED, protocol.POSTED | 2, 4, 0xFFFF]),
    )
    own = _target().peer.incarnation
    incarnation = random.choice([own, own, own, own, 0, 12345])
    envelope = Envelope(flags, random.randrange(1 << 32), incarnation, os.getpid())
    frames = wire.encode(kind, envelope)
    return [bytes(piece) for piece in cut(frames, whole_piece(_target().key))]


def _some_message(random: random.Random) -> Message:
    name = random.choice(["x", "", "step 1", "a" * 1000])
    tensors = [_tensor(random) for _ in range(random.randint(0, 3))]
    failure = Failure(code=random.choice([0, 3, 17, -1, 1 << 40]), message=name)
    graph = as_tensor(_graph())
    return random.choice(
        [
            protocol.hello(Identity("/job:x", {"/job:local/replica:0/task:0": "a:1"}), name, None),
            messages.GetDevices(),
            messages.SendTensors(step=name, keys=[f"{i}" for i in range(len(tensors))], tensors=tensors),
            messages.AbortStep(step=name, error=failure),
            messages.StopStep(step=name, error=failure),
            messages.CloseSession(session=name),
            messages.Reset(containers=[name]),
            messages.RunPart(session=name, part=name, step=name, home=name, seconds=0.1, traced=False),
            messages.Heartbeat(task=name, sessions=[name]),
            messages.LeaveJob(task=name, finished=random.random() < 0.5),
            messages.SetInStore(key=name, value=b"value"),
            messages.AddInStore(key=name, amount=random.choice([1, -1, 1 << 62])),
            messages.FindInStore(keys=[name]),
            messages.CreateSession(tensors=[as_tensor(b""), graph]),
            messages.ExtendSession(session=name, tensors=[graph]),
            messages.ClientHeartbeat(session=name),
            messages.EndSession(session=name),
            messages.ListDevices(session=name),
        ]
    )


def _tensor(random: random.Random) -> torch.Tensor:
    return torch.zeros(random.choice([0, 1, 1000, 20_000, 100_000]), dtype=torch.float32)


@functools.lru_cache(maxsize=1)
def _graph() -> bytes:
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0, 2.0]), tf.placeholder(tf.float32, [2]), name="sum")
        return graph.as_graph_def().SerializeToString()


# ------------------------------------------------------------------------------------------------- the damage


def _broken(pieces: list[bytes], random: random.Random) -> list[bytes]:
    """The pieces of a message, some damaged, left out, doubled or exchanged; perhaps as parts of one."""
    kind = random.randrange(5)
    at = random.randrange(len(pieces))
    if kind == 0:
        pieces[at] = _damaged(pieces[at], random)
    elif kind == 1:
        pieces.insert(at, random.choice([b"", pieces[at], random.randbytes(100), bytes(64 << 10)]))
    elif kind == 2 and len(pieces) > 1:
        del pieces[at]
    elif kind == 3:
        random.shuffle(pieces)
    return pieces


def _damaged(data: bytes, random: random.Random) -> bytes:
    """Bytes with a few of them changed, doubled or left out, or with another number put in."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at, kind = random.randrange(len(changed) + 1), random.randrange(5)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            size = random.choice([1, 2, 4, 8])
            number = random.choice(_NUMBERS) & (1 << 8 * size) - 1
            changed[at : at + size] = number.to_bytes(size, random.choice(["little", "big"]))
        elif kind == 2:
            del changed[at : at + random.randint(1, 40)]
        elif kind == 3:
            changed[at:at] = changed[at : at + random.randint(1, 40)]
        else:
            changed[at:at] = random.randbytes(random.randint(1, 40))
    return bytes(changed)
