"""Collectives between processes, through torch.distributed: Gloo on CPUs, NCCL on GPUs.

The tasks find each other through a key-value store that one of them keeps. Every member of a group announces
itself there; when all have, each process knows which processes take part. Each instance has a
process group of its own, so that processes may run their instances in different orders. Once a member is lost
or a step has stopped waiting, that process group cannot be used again: later rounds of the instance fail.
"""

from __future__ import annotations

import datetime
import functools
import ipaddress
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch

from tideflow.graph import errors
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.runtime.collectives import Member, Terms

_SHORTEST_SLEEP, _LONGEST_SLEEP = 20e-6, 2e-3  # seconds between two checks whether an exchange is done


_REDUCE_OPS = {"Add": "SUM", "Mul": "PRODUCT", "Min": "MIN", "Max": "MAX"}  # torch's names
A = TypeVar("A")
_Exchange = Callable[[Terms, "Group", Any, Member], torch.Tensor]


@dataclass(frozen=True)
class Group:
    """A group of devices: the tasks they are on, by rank, and how many are on each."""

    members: dict[int, int]

    @property
    def ranks(self) -> list[int]:
        return sorted(self.members)


class Store(Protocol):
    """The key-value store at which the tasks meet; UnavailableError where it cannot be reached."""

    def set(self, key: str, value: bytes) -> None:
        """Puts a value under a key."""

    def add(self, key: str, amount: int) -> int:
        """Adds to the number under a key, which is 0 at first; the sum."""

    def find(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values under these keys, None where there is none."""


class ProcessGroups:
    """This task's connections to the tasks it does collectives with.

    `store` is where they meet; `host` is where others reach this task. The connections are neither
    authenticated nor encrypted: off the loopback, `insecure` must be True.
    """

    def __init__(
        self,
        rank: int,
        store: Store,
        host: str = "127.0.0.1",
        timeout_seconds: float = 600.0,
        insecure: bool = False,
    ):
        if not insecure and not _is_loopback(host):
            raise ValueError(
                f"Collectives with '{host}' would be neither authenticated nor encrypted: they stay on "
                "the loopback unless insecure=True is said."
            )
        self.rank = rank
        self._store, self._is_store_reached = store, False
        self._host = host
        self._timeout = datetime.timedelta(seconds=timeout_seconds)
        self._lock = threading.Lock()
        self._announced: set[tuple[int, str]] = set()
        self._groups: dict[int, Group] = {}
        self._process_groups: dict[tuple[int, Any, str], Any] = {}
        self._torch_stores: list[Any] = []
        self._broken: dict[tuple[int, Any], str] = {}

    # -------------------------------------------------------------------------------- members

    def local_members(self, terms: Terms, member: Member) -> int:
        """How many members of the group are here, once all have announced themselves."""
        return self._group(terms, member).members[self.rank]

    def _group(self, terms: Terms, member: Member) -> Group:
        key, device = terms.group_key, member.device
        if key in self._groups and (key, device) in self._announced:
            return self._groups[key]
        with self._lock:
            is_new = (key, device) not in self._announced
            self._announced.add((key, device))
        prefix = f"group/{key}"
        if is_new:
            number = self._asked(lambda store: store.add(f"{prefix}/count", 1), member)
            if number > terms.group_size:
                raise errors.invalid_argument(
                    f"Device '{device}' of task {self.rank} is one more than the {terms.group_size} members "
                    f"of group {key}: the group is complete, or the task has been restarted alone.",
                )
            announced = f"{self.rank} {terms.group_size}".encode()
            self._asked(lambda store: store.set(f"{prefix}/{number}", announced), member)
        found = self._awaited(
            [f"{prefix}/{number}" for number in range(1, terms.group_size + 1)],
            f"all {terms.group_size} members of group {key}",
            member,
        )
        members: dict[int, int] = {}
        for rank, size in (text.split() for text in found):
            if int(size) != terms.group_size:
                raise errors.invalid_argument(
                    f"The members of group {key} disagree: its size is {size} to task {rank}, and "
                    f"{terms.group_size} to task {self.rank}.",
                )
            members[int(rank)] = members.get(int(rank), 0) + 1
        return self._groups.setdefault(key, Group(members))

    # -------------------------------------------------------------------------------- the exchange

    def exchange(self, terms: Terms, value: torch.Tensor | None, member: Member) -> torch.Tensor:
        """What was made of this task's value and those of the group's other tasks."""
        group = self._groups[terms.group_key]
        key = terms.group_key, terms.instance_key
        if key in self._broken:
            raise errors.unavailable(f"No more of {terms.what}: it has failed before ({self._broken[key]})")
        exchanges: dict[str, _Exchange] = {
            "reduce": self._reduce,
            "gather": self._gather,
            "broadcast": self._broadcast,
        }
        try:
            return exchanges[terms.kind](terms, group, value, member)
        except OpError as error:
            self._give_up(key, error, error.message)
            raise
        except RuntimeError as error:  # torch.distributed's kind of error
            reason = _reason(error)
            self._give_up(key, error, reason)
            if "imed out" in reason:
                raise errors.deadline_exceeded(
                    f"{terms.what.capitalize()} took longer than {self._timeout.total_seconds():g} s.",
                ) from error
            raise errors.unavailable(
                f"A member was lost in {terms.what}, between tasks {group.ranks}: {reason}"
            ) from error

    def _reduce(self, terms: Terms, group: Group, value: torch.Tensor, member: Member) -> torch.Tensor:
        distributed = _distributed()
        options = distributed.AllreduceOptions()
        options.reduceOp = getattr(distributed.ReduceOp, _REDUCE_OPS[terms.merge_op])
        total = value.clone(memory_format=torch.contiguous_format)
        processes = self._process_group(terms, group, total.device, member)
        self._finished(processes.allreduce([total], options), terms, member)
        return total

    def _gather(self, terms: Terms, group: Group, value: torch.Tensor, member: Member) -> torch.Tensor:
        counts = [group.members[rank] for rank in group.ranks]
        rows = terms.shape[0]
        padded = value.new_zeros((max(counts) * rows, *terms.shape[1:]))  # all send as much as the largest
        padded[: len(value)] = value
        parts = [torch.empty_like(padded) for _ in counts]
        processes = self._process_group(terms, group, value.device, member)
        self._finished(processes.allgather([parts], [padded]), terms, member)
        return torch.cat([part[: count * rows] for part, count in zip(parts, counts)])

    def _broadcast(
        self, terms: Terms, group: Group, value: torch.Tensor | None, member: Member
    ) -> torch.Tensor:
        key = f"sender/{terms.group_key}/{terms.instance_key}"
        if value is not None:
            self._asked(lambda store: store.set(key, str(self.rank).encode()), member)
        (sender,) = self._awaited([key], f"the sender in {terms.what}", member)
        if value is not None and int(sender) != self.rank:
            raise errors.invalid_argument(f"Tasks {self.rank} and {sender} both send in {terms.what}")
        options = _distributed().BroadcastOptions()
        options.rootRank = group.ranks.index(int(sender))
        data = torch.empty(terms.shape, dtype=terms.dtype) if value is None else value.contiguous()
        processes = self._process_group(terms, group, data.device, member)
        self._finished(processes.broadcast([data], options), terms, member)
        return data

    def _finished(self, work: Any, terms: Terms, member: Member) -> None:
        """Waits for an exchange; the step may be cancelled or run out of time first."""
        pauses = _pauses()
        while not work.is_completed():
            member.time_left(f"{terms.what}, between tasks")
            time.sleep(next(pauses))
        work.wait()

    def _process_group(self, terms: Terms, group: Group, device: torch.device, member: Member) -> Any:
        key = terms.group_key, terms.instance_key, device.type
        if key not in self._process_groups:
            name = "/".join(map(str, ("instance", *key)))
            # Its constructor blocks until all tasks call it, and cannot be cancelled: wait for them first.
            self._asked(lambda store: store.set(f"{name}/{self.rank}", b"here"), member)
            there = [f"{name}/{rank}" for rank in group.ranks]
            self._awaited(there, f"tasks {group.ranks} to begin {terms.what}", member)
            store = _torch_store()(self._store, name, self._timeout)
            made = self._made_process_group(store, group.ranks.index(self.rank), len(group.ranks), device)
            self._process_groups[key] = made
            self._torch_stores.append(store)  # torch itself keeps only the half of it that is not Python
        return self._process_groups[key]

    def _made_process_group(self, store: Any, rank: int, size: int, device: torch.device) -> Any:
        distributed = _distributed()
        if device.type == "cuda":
            options = distributed.ProcessGroupNCCL.Options()
            options._timeout = self._timeout
            return distributed.ProcessGroupNCCL(store, rank, size, options)
        gloo = distributed.ProcessGroupGloo
        options = gloo._Options()
        options._devices = [gloo.create_device(hostname=self._host)]
        options._timeout = self._timeout
        return gloo(store, rank, size, options)

    def _give_up(self, key: tuple[int, Any], error: Exception, reason: str) -> None:
        """Abandons the instance's exchanges. The other tasks notice when the connections close, which happens
        when nothing refers to the process groups any more: not the frames of the error, hence `clear_frames`,
        and not an exchange that still runs, for whose end a thread waits.
        """
        traceback.clear_frames(error.__traceback__)
        self._broken[key] = reason
        left = [self._process_groups.pop(made) for made in list(self._process_groups) if made[:2] == key]
        threading.Thread(target=_close, args=(left,), name="tideflow-collectives", daemon=True).start()

    # -------------------------------------------------------------------------------- the store

    def _asked(self, question: Callable[[Store], A], member: Member) -> A:
        """What the store answers. The task that keeps it may start later than this one."""
        for pause in _pauses():
            try:
                answer = question(self._store)
            except UnavailableError as error:
                if self._is_store_reached:
                    raise errors.unavailable(f"The store of collectives is lost: {error.message}") from None
                member.time_left(f"Task {self.rank} waits for the store of collectives")
                time.sleep(pause)
            else:
                self._is_store_reached = True
                return answer
        raise AssertionError("there is always another pause")

    def _awaited(self, keys: list[str], what: str, member: Member) -> list[str]:
        """The values of these keys, once the store has all of them."""
        for pause in _pauses():
            found = self._asked(lambda store: store.find(keys), member)
            values = [value.decode() for value in found if value is not None]
            if len(values) == len(keys):
                return values
            member.time_left(f"Task {self.rank} waits for {what}")
            time.sleep(pause)
        raise AssertionError("there is always another pause")

    def close(self) -> None:
        """Closes all connections; exchanges that still run fail."""
        for made in list(self._process_groups):
            self._process_groups.pop(made).abort()


@functools.lru_cache(maxsize=1)
def _torch_store() -> Any:
    """The class of torch's stores that ask a `Store`, with a prefix before every key."""

    class TorchStore(_distributed().Store):  # type: ignore[misc]
        def __init__(self, store: Store, prefix: str, timeout: datetime.timedelta):
            super().__init__()
            self._store, self._prefix, self._seconds = store, prefix, timeout.total_seconds()

        def set(self, key: str, value: bytes | str) -> None:
            content = value.encode() if isinstance(value, str) else bytes(value)
            self._store.set(f"{self._prefix}/{key}", content)

        def add(self, key: str, amount: int) -> int:
            return self._store.add(f"{self._prefix}/{key}", amount)

        def check(self, keys: Sequence[str]) -> bool:
            return None not in self._found(keys)

        def get(self, key: str) -> bytes:
            self.wait([key])
            (value,) = self._found([key])
            assert value is not None, "a key is never removed"
            return value

        def wait(self, keys: Sequence[str], timeout: datetime.timedelta | None = None) -> None:
            seconds = self._seconds if timeout is None else timeout.total_seconds()
            deadline = time.monotonic() + seconds
            for pause in _pauses():
                if self.check(keys):
                    return
                if time.monotonic() > deadline:
                    raise RuntimeError(f"wait timed out after {seconds:g} s, for {list(keys)}")
                time.sleep(pause)

        def _found(self, keys: Sequence[str]) -> list[bytes | None]:
            return self._store.find([f"{self._prefix}/{key}" for key in keys])

    return TorchStore


def _distributed() -> Any:
    """`torch.distributed`, which takes its time to load."""
    from torch import distributed  # loaded when asked for

    return distributed


def _close(process_groups: list[Any]) -> None:
    for one in process_groups:
        one.abort()
    process_groups.clear()  # the last references: their connections close now


def _pauses() -> Iterator[float]:
    """How long to sleep between two checks, growing from the shortest to the longest."""
    pause = _SHORTEST_SLEEP
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_SLEEP)


def _reason(error: RuntimeError) -> str:
    """What Gloo says, without its own source lines and advice."""
    return re.sub(r"^\[[^]]*\] ", "", str(error)).partition(" This is typically")[0]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
