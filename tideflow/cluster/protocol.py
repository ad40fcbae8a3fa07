"""What two ends of a connection agree on, as pure state: who greets whom, how much may be under way."""

from __future__ import annotations

import reprlib
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tideflow.cluster.wire import Message
from tideflow.graph import errors

HELLO, WELCOME, ACKNOWLEDGED = "hello", "welcome", "acknowledged"
AHEAD = "ahead"  # comes before the answer to a request

# Flags of an envelope.
POSTED = 1  # nobody waits for an answer
ACKNOWLEDGE = 2  # tell when this and all before it is handled
SHARES_MEMORY = 4  # an answer may stand in shared memory


def new_incarnation() -> int:
    """A number that no other life of a task has; never 0, which stands for 'not known yet'."""
    return secrets.randbits(63) + 1


@dataclass(frozen=True)
class Identity:
    """Who a process is: its task ("" for a client that is none), the addresses of the tasks that it knows,
    and this life of it.
    """

    task: str = ""
    cluster: Mapping[str, str] = field(default_factory=dict, hash=False)
    incarnation: int = field(default_factory=new_incarnation)


@dataclass(frozen=True)
class Remote:
    """What a greeting told of the other side."""

    task: str
    incarnation: int
    pid: int = 0
    shares_memory: bool = False


# ------------------------------------------------------------------------------------------------- greetings


def hello(me: Identity, to: str, host: dict[str, Any]) -> Message:
    """The first message on a connection. `to` is the task meant, "" for whoever is there."""
    return Message(HELLO, {"task": me.task, "cluster": dict(me.cluster), "to": to, "host": host})


def welcome(me: Identity, greeting: Message, pid: int, shares: Callable[[Any], bool]) -> Message:
    """The answer to a hello; an error, for the other side, where it means another task or cluster."""
    wanted = _text(greeting, "to")
    if wanted and me.task and wanted != me.task:
        raise errors.invalid_argument(f"This is {me.task}; the greeting is for {wanted:.200}.")
    for task, address in _addresses(greeting).items():
        if task in me.cluster and not _may_be_same(address, me.cluster[task]):
            raise errors.failed_precondition(
                f"The clusters differ: for {me.task or 'the server'}, {task} is at {me.cluster[task]}, for "
                f"{_text(greeting, 'task') or 'the client'} at {address:.200}. Start every task with one "
                "cluster.",
            )
    fields = {"task": me.task, "incarnation": me.incarnation, "pid": pid}
    return Message(WELCOME, {**fields, "shares_memory": shares(greeting.fields.get("host"))})


def remote(answer: Message) -> Remote:
    """Who answered a hello."""
    match answer.fields:
        case {
            "task": str(task),
            "incarnation": int(incarnation),
            "pid": int(pid),
            "shares_memory": bool(shares),
        }:
            return Remote(task, incarnation, pid, shares)
    raise errors.invalid_argument(f"Not the answer to a hello: {reprlib.repr(answer.fields)}.")


_THIS_HOST = ("localhost", "127.0.0.1", "0.0.0.0", "::1", "[::1]", "")


def _may_be_same(one: str, other: str) -> bool:
    """Whether two addresses may be one place: a host is called another name by itself than by others."""
    (host, _, port), (other_host, _, other_port) = one.rpartition(":"), other.rpartition(":")
    local = host in _THIS_HOST or other_host in _THIS_HOST
    return port == other_port and (host == other_host or local)


def _addresses(message: Message) -> dict[str, str]:
    found = message.fields.get("cluster", {})
    if not isinstance(found, dict) or not all(isinstance(address, str) for address in found.values()):
        raise errors.invalid_argument(
            f"A hello's 'cluster' has an address for each task; found {reprlib.repr(found)}."
        )
    return found


def _text(message: Message, name: str) -> str:
    value = message.fields.get(name, "")
    if not isinstance(value, str):
        raise errors.invalid_argument(f"A hello's '{name}' is text; found {reprlib.repr(value)}.")
    return value


# ------------------------------------------------------------------------------------------ what is under way


class Window:
    """Messages posted and not yet handled by the other side: as many, and as many bytes, as it may hold.

    The last one may pass the limit in bytes, so that a message of any size can be sent.
    """

    def __init__(self, max_bytes: int, max_messages: int):
        self._max_bytes, self._max_messages = max_bytes, max_messages
        self._sent: deque[tuple[int, int]] = deque()
        self._bytes = 0
        self._unasked_bytes = self._unasked = 0

    def is_open(self) -> bool:
        """Whether one more message may be sent."""
        return self._bytes < self._max_bytes and len(self._sent) < self._max_messages

    def is_used(self) -> bool:
        """Whether anything is under way."""
        return bool(self._sent)

    def asks(self, size: int) -> bool:
        """Whether one of this size should ask to be acknowledged: a quarter went out since the last that did.

        So a window that is full always waits for an acknowledgement that was asked for.
        """
        is_much = self._unasked_bytes + size >= self._max_bytes / 4
        return is_much or self._unasked + 1 >= self._max_messages / 4

    def sent(self, request: int, size: int) -> None:
        """A message went out."""
        asked = self.asks(size)
        self._unasked_bytes = 0 if asked else self._unasked_bytes + size
        self._unasked = 0 if asked else self._unasked + 1
        self._sent.append((request, size))
        self._bytes += size

    def acknowledged(self, request: int) -> None:
        """This message and all before it are handled."""
        while self._sent and self._sent[0][0] <= request:
            self._bytes -= self._sent.popleft()[1]


class Load:
    """Requests that wait for their answers, by client: bounded for each and in all."""

    def __init__(self, per_client: int, in_all: int):
        self._per_client, self._in_all = per_client, in_all
        self._waiting: dict[bytes, int] = {}
        self._total = 0

    def admit(self, client: bytes) -> None:
        """One more request of this client; an error where that is too many."""
        waiting = self._waiting.get(client, 0)
        if waiting >= self._per_client or self._total >= self._in_all:
            raise errors.resource_exhausted(
                "Too many requests wait for an answer: "
                f"{waiting} of this client (at most {self._per_client}), "
                f"{self._total} in all (at most {self._in_all}).",
            )
        self._waiting[client] = waiting + 1
        self._total += 1

    def answered(self, client: bytes) -> None:
        """One request of this client has its answer."""
        self._total -= 1
        if self._waiting[client] == 1:
            del self._waiting[client]
        else:
            self._waiting[client] -= 1
