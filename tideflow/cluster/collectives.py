"""Collectives between the tasks of a cluster: the chief keeps the store at which the members meet.

What the members tell each other there are ordinary messages between tasks, authenticated like all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch

from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.listener import Reply
from tideflow.cluster.messages import AddInStore, Done, FindInStore, InStore, SetInStore, StoreSum
from tideflow.cluster.transport import Peer
from tideflow.graph import errors
from tideflow.runtime.collectives import Member, Terms
from tideflow.runtime.process_groups import ProcessGroups, Store

_ANSWER_SECONDS = 60.0
_MAX_STORE_BYTES = 64 << 20  # addresses of processes: some hundred bytes for each two of a group


class TaskGroups:
    """The members of a task's groups on other tasks. The task has this rank, meets the others at `store`, and
    listens on `host`.
    """

    def __init__(self, rank: int, store: Store, host: str, insecure: bool):
        self._place = rank, store, host, insecure
        self._process_groups: ProcessGroups | None = None

    def _groups(self) -> ProcessGroups:
        if self._process_groups is None:
            rank, store, host, insecure = self._place
            self._process_groups = ProcessGroups(rank, store, host, insecure=insecure)
        return self._process_groups

    def local_members(self, terms: Terms, member: Member) -> int:
        """How many members of a group are on this task."""
        return self._groups().local_members(terms, member)

    def exchange(self, terms: Terms, value: torch.Tensor | None, member: Member) -> torch.Tensor:
        """Exchanges the value of this task's members with the other tasks; returns the result of the
        collective.
        """
        return self._groups().exchange(terms, value, member)

    def close(self) -> None:
        """Closes the connections, if there are any."""
        if self._process_groups is not None:
            self._process_groups.close()


class StoreKeeper:
    """The store of collectives, in the memory of the chief."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def serve(self, dispatch: Dispatch) -> None:
        """Registers the handlers of the messages that other tasks send."""
        dispatch.on_request(SetInStore, self._handle_set)
        dispatch.on_request(AddInStore, self._handle_add)
        dispatch.on_request(FindInStore, self._handle_find)

    def set(self, key: str, value: bytes) -> None:
        """Puts a value under a key."""
        with self._lock:
            self._put(key, value)

    def add(self, key: str, amount: int) -> int:
        """Adds to the number under a key, which is 0 at first; the sum."""
        with self._lock:
            total = int(self._values.get(key, b"0")) + amount
            self._put(key, str(total).encode())
            return total

    def find(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values under these keys, None where there is none."""
        return [self._values.get(key) for key in keys]

    def _put(self, key: str, value: bytes) -> None:
        grown = len(value) - len(self._values[key]) if key in self._values else len(key) + len(value)
        if self._bytes + grown > _MAX_STORE_BYTES:
            raise errors.resource_exhausted(
                f"The store of collectives holds {_MAX_STORE_BYTES} bytes at most."
            )
        self._values[key] = value
        self._bytes += grown

    def _handle_set(self, message: SetInStore, reply: Reply) -> None:
        self.set(message.key, message.value)
        reply(Done())

    def _handle_add(self, message: AddInStore, reply: Reply) -> None:
        reply(StoreSum(number=self.add(message.key, message.amount)))

    def _handle_find(self, message: FindInStore, reply: Reply) -> None:
        reply(InStore(values=self.find(message.keys)))


class RemoteStore:
    """The store of collectives on the chief, for another task."""

    def __init__(self, chief: Peer):
        self._chief = chief

    def set(self, key: str, value: bytes) -> None:
        """Puts a value under a key."""
        self._chief.call(SetInStore(key=key, value=value), Done, _ANSWER_SECONDS)

    def add(self, key: str, amount: int) -> int:
        """Adds to the number under a key, which is 0 at first; the sum."""
        return self._chief.call(AddInStore(key=key, amount=amount), StoreSum, _ANSWER_SECONDS).number

    def find(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values under these keys, None where there is none."""
        return self._chief.call(FindInStore(keys=list(keys)), InStore, _ANSWER_SECONDS).values
