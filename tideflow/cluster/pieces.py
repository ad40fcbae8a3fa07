"""Frames in pieces: what ZeroMQ carries at a time is small, whatever the size of a tensor.

ZeroMQ takes memory for what a connection announces before it knows who is at the other end. So the largest
thing that may be announced is one piece: a small one where the other end has to authenticate, and one that
can be sent without a copy where it need not. A frame ends with its first piece that is shorter than a whole
one; a message ends with the last of the frames that its envelope counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tideflow.cluster import wire
from tideflow.cluster.keys import Key
from tideflow.cluster.wire import Buffer
from tideflow.graph import errors

COPY_BYTES = 1 << 20  # copying less costs less than having pyzmq's own thread release the memory later
_PIECE_BYTES = 256  # that a piece counts for beside its content


def whole_piece(key: Key | None) -> int:
    """How many bytes a whole piece has, where both ends have this key."""
    return COPY_BYTES if key is None else 64 << 10


def cut(frames: Sequence[Buffer], whole: int) -> Iterator[Buffer]:
    """The pieces of a message's frames, where a whole piece has so many bytes."""
    for frame in frames:
        view = memoryview(frame)
        if view.nbytes < whole:
            yield frame
        else:
            for start in range(0, view.nbytes + 1, whole):
                yield view[start : start + whole]


def joined(pieces: list[Buffer], whole: int) -> list[Buffer]:
    """The frames of a message all of whose pieces are there, where a whole piece has so many bytes."""
    if len(pieces) == 1:
        return pieces
    message = Assembly(wire.open_envelope(pieces[0]).frames, whole)
    for piece in pieces:
        if message.is_whole():
            raise errors.data_loss("A message has more pieces than its envelope counts.")
        message.add(piece)
    if not message.is_whole():
        raise errors.data_loss("A message ends before the last piece that its envelope counts.")
    return message.frames


class Assembly:
    """A message whose pieces arrive one after the other: its first frame, and `more` behind it. Memory is
    taken for what has arrived, never for what is announced.
    """

    def __init__(self, more: int, whole: int):
        self.frames: list[Buffer] = []
        self.held_bytes = 0
        self.is_dropped = False
        self._whole = whole
        self._frames_to_come = more + 1
        self._pieces: list[Buffer] = []  # the pieces of the frame that has not ended

    def add(self, piece: Buffer) -> None:
        """Adds the next piece."""
        size = len(piece)
        if size < self._whole:
            self._frames_to_come -= 1
        if self.is_dropped:
            return
        self._pieces.append(piece)
        self.held_bytes += size + _PIECE_BYTES
        if size < self._whole:
            self.frames.append(_in_one(self._pieces))
            self._pieces = []

    def drop(self) -> None:
        """Lets go what has arrived; the pieces that still come are not kept."""
        self.is_dropped, self.frames, self._pieces, self.held_bytes = True, [], [], 0

    def is_whole(self) -> bool:
        """Whether the last piece has arrived."""
        return self._frames_to_come == 0


def _in_one(pieces: list[Buffer]) -> Buffer:
    """The frame that is made of these pieces. Each is freed when it is copied."""
    if len(pieces) == 1:
        return pieces[0]
    frame, start = np.empty(sum(map(len, pieces)), np.uint8), 0
    for i, piece in enumerate(pieces):
        end = start + len(piece)
        frame[start:end] = np.frombuffer(piece, np.uint8)
        pieces[i], start = None, end
    return frame


class Assemblies:
    """The messages of which some pieces have arrived at a listener, one for a client. All of them together
    hold `limit` bytes at most. A whole piece has `whole` bytes.
    """

    def __init__(self, limit: int, whole: int):
        self._limit, self.whole = limit, whole
        self._open: dict[bytes, tuple[wire.Envelope, Assembly]] = {}

    def held_bytes(self) -> int:
        """How many bytes of unfinished messages are held."""
        return sum(message.held_bytes for _, message in self._open.values())

    def begin(self, client: bytes, envelope: wire.Envelope) -> None:
        """The first piece of a client's message has arrived."""
        self._open[client] = envelope, Assembly(envelope.frames, self.whole)

    def has(self, client: bytes) -> bool:
        """Whether a message of the client is unfinished."""
        return client in self._open

    def add(self, client: bytes, piece: Buffer) -> list[Buffer] | None:
        """Adds a piece of a client's message; its frames, once it is whole.

        Raises:
          ResourceExhaustedError: Where the limit is passed. What the client has sent of the message is
            dropped, and so is the rest of it.
        """
        _, message = self._open[client]
        message.add(piece)
        if message.is_whole():
            del self._open[client]
            return None if message.is_dropped else message.frames
        if not message.is_dropped and (held := self.held_bytes()) > self._limit:
            message.drop()
            raise errors.resource_exhausted(
                f"A message is refused: unfinished messages hold {held} bytes, at most {self._limit} "
                "are kept."
            )
        return None

    def envelope(self, client: bytes) -> wire.Envelope:
        """The envelope of a client's unfinished message."""
        return self._open[client][0]

    def forget(self, client: bytes) -> None:
        """A client has left: what has come of its message is dropped."""
        self._open.pop(client, None)
