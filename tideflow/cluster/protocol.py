"""What the two ends of a connection agree on, without sockets: greetings, and how much may be under way."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tideflow.cluster.messages import Hello, HostMemory, Welcome
from tideflow.graph import errors

# Flags of an envelope.
POSTED = 1  # the sender does not wait for an answer
ACKNOWLEDGE = 2  # the sender wants to know when this message, and all before it, are handled
SHARES_MEMORY = 4  # the tensors of the answer may be in shared memory


def new_incarnation() -> int:
    """A number that no other start of a task has; never 0, which stands for "not known yet"."""
    return secrets.randbits(63) + 1


@dataclass(frozen=True)
class Identity:
    """What a process says of itself: its task ("" for a client that is none), the addresses of the tasks that
    it knows, and a number that changes whenever it is started.
    """

    task: str = ""
    cluster: Mapping[str, str] = field(default_factory=dict, hash=False)
    incarnation: int = field(default_factory=new_incarnation)


class Sender:
    """Who is at the other end of a connection to this task."""

    __slots__ = ("has_sent", "task")

    def __init__(self, task: str = "") -> None:
        self.task = task  # as it said in its greeting, if it is one
        self.has_sent = False  # something, since the listener last looked


# ------------------------------------------------------------------------------------------------- greetings


def hello(sender: Identity, to: str, memory: HostMemory | None) -> Hello:
    """The first message on a connection. `to` is the task that must answer, "" for any; `memory` says where
    the sender shares memory, if it does.
    """
    return Hello(task=sender.task, cluster=dict(sender.cluster), to=to, memory=memory)


def welcome(
    receiver: Identity, greeting: Hello, pid: int, reaches: Callable[[HostMemory | None], bool]
) -> Welcome:
    """The receiver's answer to a hello; an error if the sender means another task, or knows another cluster.

    `reaches` tells whether the receiver can map the memory of the sender.
    """
    if greeting.to and receiver.task and greeting.to != receiver.task:
        raise errors.invalid_argument(f"This is {receiver.task}; the greeting is for {greeting.to:.200}.")
    for task, address in greeting.cluster.items():
        if task in receiver.cluster and not _may_be_same(address, receiver.cluster[task]):
            raise errors.failed_precondition(
                f"The clusters differ: for {receiver.task or 'the server'}, {task} is at "
                f"{receiver.cluster[task]}, for {greeting.task or 'the client'} at {address:.200}. Start "
                "every task with one cluster.",
            )
    return Welcome(
        task=receiver.task,
        incarnation=receiver.incarnation,
        pid=pid,
        shares_memory=reaches(greeting.memory),
    )


_THIS_HOST = ("localhost", "127.0.0.1", "0.0.0.0", "::1", "[::1]", "")


def _may_be_same(one: str, other: str) -> bool:
    """Whether two addresses may be the same: a host may have one name for itself and another for others."""
    (host, _, port), (other_host, _, other_port) = one.rpartition(":"), other.rpartition(":")
    local = host in _THIS_HOST or other_host in _THIS_HOST
    return port == other_port and (host == other_host or local)


# ------------------------------------------------------------------------------------------ what is under way


class Window:
    """The posted messages that the other side has not handled yet, bounded in number and in bytes.

    The last message may pass the limit in bytes, so that a message of any size can be sent.
    """

    def __init__(self, max_bytes: int, max_messages: int):
        self._max_bytes, self._max_messages = max_bytes, max_messages
        self._sent: deque[tuple[int, int]] = deque()  # requests and their bytes
        self._bytes = 0
        self._unasked_bytes = self._unasked = 0  # since the last message that asked for an acknowledgement

    def is_open(self) -> bool:
        """Whether one more message may be sent."""
        return self._bytes < self._max_bytes and len(self._sent) < self._max_messages

    def is_used(self) -> bool:
        """Whether a posted message is not handled yet, as far as is known."""
        return bool(self._sent)

    def should_ask(self, size: int) -> bool:
        """Whether the next message, of this many bytes, should ask for an acknowledgement: a quarter of the
        window went out since the last one that did. So a full window always waits for one that was asked for.
        """
        is_much = self._unasked_bytes + size >= self._max_bytes / 4
        return is_much or self._unasked + 1 >= self._max_messages / 4

    def sent(self, request: int, size: int) -> None:
        """The message with this request number was sent."""
        asked = self.should_ask(size)
        self._unasked_bytes = 0 if asked else self._unasked_bytes + size
        self._unasked = 0 if asked else self._unasked + 1
        self._sent.append((request, size))
        self._bytes += size

    def acknowledged(self, request: int) -> None:
        """The other side has handled this message and all before it."""
        while self._sent and self._sent[0][0] <= request:
            self._bytes -= self._sent.popleft()[1]


class Load:
    """The requests without an answer yet, bounded for each client and for all together."""

    def __init__(self, per_client: int, in_all: int):
        self._per_client, self._in_all = per_client, in_all
        self._open: dict[bytes, int] = {}
        self._total = 0

    def admit(self, client: bytes) -> None:
        """Counts one more request of this client; an error if that is too many."""
        waiting = self._open.get(client, 0)
        if waiting >= self._per_client or self._total >= self._in_all:
            raise errors.resource_exhausted(
                "Too many requests wait for an answer: "
                f"{waiting} of this client (at most {self._per_client}), "
                f"{self._total} in all (at most {self._in_all}).",
            )
        self._open[client] = waiting + 1
        self._total += 1

    def answered(self, client: bytes) -> None:
        """Counts one request of this client less."""
        self._total -= 1
        if self._open[client] == 1:
            del self._open[client]
        else:
            self._open[client] -= 1
