"""Collectives between processes, through torch.distributed: Gloo on CPUs, NCCL on GPUs.

The tasks meet at a store that the first of them keeps. Every member of a group announces itself there; when
all have, each process knows which processes take part. Each instance has a process group of its own, so that
the order in which a process comes to its instances does not matter. Once a member is lost or a wait has been
given up, that process group is no good any more: whoever comes to it again is told so.
"""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import re
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.collectives import Terms
from tideflow.runtime.waiting import limits, time_left

_SHORTEST_SLEEP, _LONGEST_SLEEP = 20e-6, 2e-3  # seconds between looks at what is under way


@dataclass(frozen=True)
class Group:
    """A group of devices: the tasks they are on, by rank, and how many are on each."""

    members: dict[int, int]

    @property
    def ranks(self) -> list[int]:
        return sorted(self.members)


class ProcessGroups:
    """This task's connections to the tasks it does collectives with.

    `address` (host:port) is where the task of rank 0 keeps the store; `host` is where others reach this task.
    `incarnation` sets apart what an earlier life of the cluster left at the same address. Nothing of this is
    authenticated or encrypted: off the loopback, `insecure` has to be said.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        address: str,
        host: str = "127.0.0.1",
        incarnation: str = "",
        timeout_seconds: float = 600.0,
        insecure: bool = False,
    ):
        store_host, _, port = address.rpartition(":")
        for name in (store_host, host):
            if not insecure and not _is_loopback(name):
                raise ValueError(
                    f"Collectives with '{name}' would be neither authenticated nor encrypted: they stay on "
                    "the loopback unless insecure=True is said."
                )
        self.rank, self.size = rank, size
        self._store_at = store_host, int(port)
        self._host = host
        self._prefix = f"tideflow/{incarnation}"
        self._timeout = datetime.timedelta(seconds=timeout_seconds)
        self._lock = threading.Lock()
        self._made_store: Any = None
        self._announced: set[tuple[int, str]] = set()
        self._groups: dict[int, Group] = {}
        self._process_groups: dict[tuple[int, Any, str], Any] = {}
        self._broken: dict[tuple[int, Any], str] = {}

    # -------------------------------------------------------------------------------- who takes part

    def local_members(self, terms: Terms, device: str, closed: Callable[[], bool]) -> int:
        """How many members of the group are here, once all have announced themselves."""
        return self._group(terms, device, closed).members[self.rank]

    def _group(self, terms: Terms, device: str, closed: Callable[[], bool]) -> Group:
        key = terms.group_key
        if key in self._groups and (key, device) in self._announced:
            return self._groups[key]
        with self._lock:
            is_new = (key, device) not in self._announced
            self._announced.add((key, device))
        prefix = f"{self._prefix}/group/{key}"
        if is_new:
            number = self._asked(lambda store: store.add(f"{prefix}/count", 1), closed)
            if number > terms.group_size:
                raise errors.invalid_argument(
                    f"Device '{device}' of task {self.rank} is one more than the {terms.group_size} members "
                    f"of group {key}: the group is complete, or the task has been restarted alone.",
                )
            told = f"{self.rank} {terms.group_size}"
            self._asked(lambda store: store.set(f"{prefix}/{number}", told), closed)
        found = self._awaited(
            [f"{prefix}/{number}" for number in range(1, terms.group_size + 1)],
            f"all {terms.group_size} members of group {key}",
            closed,
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

    def exchange(self, terms: Terms, value: torch.Tensor | None, closed: Callable[[], bool]) -> torch.Tensor:
        """What was made of this task's value and those of the group's other tasks."""
        group = self._groups[terms.group_key]
        key = terms.group_key, terms.instance_key
        if key in self._broken:
            raise errors.unavailable(f"No more of {terms.what}: it has failed before ({self._broken[key]})")
        try:
            return getattr(self, f"_{terms.kind}")(terms, group, value, closed)
        except OpError as error:
            self._give_up(key, error, error.message)
            raise
        except RuntimeError as error:  # of torch.distributed
            reason = _reason(error)
            self._give_up(key, error, reason)
            if "imed out" in reason:
                raise errors.deadline_exceeded(
                    f"{terms.what.capitalize()} took longer than {self._timeout.total_seconds():g} s.",
                ) from error
            raise errors.unavailable(
                f"A member was lost in {terms.what}, between tasks {group.ranks}: {reason}"
            ) from error

    def _reduce(
        self, terms: Terms, group: Group, value: torch.Tensor, closed: Callable[[], bool]
    ) -> torch.Tensor:
        from torch.distributed import AllreduceOptions, ReduceOp

        operations = {"Add": ReduceOp.SUM, "Mul": ReduceOp.PRODUCT, "Min": ReduceOp.MIN, "Max": ReduceOp.MAX}
        options = AllreduceOptions()
        options.reduceOp = operations[terms.merge_op]
        total = value.clone(memory_format=torch.contiguous_format)
        processes = self._process_group(terms, group, total.device, closed)
        self._finished(processes.allreduce([total], options), terms, closed)
        return total

    def _gather(
        self, terms: Terms, group: Group, value: torch.Tensor, closed: Callable[[], bool]
    ) -> torch.Tensor:
        counts = [group.members[rank] for rank in group.ranks]
        rows = terms.shape[0]
        padded = value.new_zeros((max(counts) * rows, *terms.shape[1:]))  # all send as much as the largest
        padded[: len(value)] = value
        parts = [torch.empty_like(padded) for _ in counts]
        processes = self._process_group(terms, group, value.device, closed)
        self._finished(processes.allgather([parts], [padded]), terms, closed)
        return torch.cat([part[: count * rows] for part, count in zip(parts, counts)])

    def _broadcast(
        self, terms: Terms, group: Group, value: torch.Tensor | None, closed: Callable[[], bool]
    ) -> torch.Tensor:
        from torch.distributed import BroadcastOptions

        key = f"{self._prefix}/sender/{terms.group_key}/{terms.instance_key}"
        if value is not None:
            self._asked(lambda store: store.set(key, str(self.rank)), closed)
        (sender,) = self._awaited([key], f"the sender in {terms.what}", closed)
        if value is not None and int(sender) != self.rank:
            raise errors.invalid_argument(f"Tasks {self.rank} and {sender} both send in {terms.what}")
        options = BroadcastOptions()
        options.rootRank = group.ranks.index(int(sender))
        data = torch.empty(terms.shape, dtype=terms.dtype) if value is None else value.contiguous()
        processes = self._process_group(terms, group, data.device, closed)
        self._finished(processes.broadcast([data], options), terms, closed)
        return data

    def _finished(self, work: Any, terms: Terms, closed: Callable[[], bool]) -> None:
        """Waits for what is under way; the step may end first."""
        step, pauses = limits(), _pauses()
        while not work.is_completed():
            time_left(step, closed, f"{terms.what}, between tasks")
            time.sleep(next(pauses))
        work.wait()

    def _process_group(
        self, terms: Terms, group: Group, device: torch.device, closed: Callable[[], bool]
    ) -> Any:
        key = terms.group_key, terms.instance_key, device.type
        if key not in self._process_groups:
            from torch.distributed import PrefixStore

            name = "/".join(map(str, (self._prefix, "instance", *key)))
            # Making one waits for the others inside of torch: first see that they are all on their way.
            self._asked(lambda store: store.set(f"{name}/{self.rank}", "here"), closed)
            there = [f"{name}/{rank}" for rank in group.ranks]
            self._awaited(there, f"tasks {group.ranks} to begin {terms.what}", closed)
            store = PrefixStore(name, self._store(closed))
            made = self._made_process_group(store, group.ranks.index(self.rank), len(group.ranks), device)
            self._process_groups[key] = made
        return self._process_groups[key]

    def _made_process_group(self, store: Any, rank: int, size: int, device: torch.device) -> Any:
        from torch import distributed

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
        """What is under way is left; who waits for this task hears of it as its connections close. They stay
        open for as long as anything holds them, as the calls do in which the error came up, and close when
        nothing is under way any more: a thread of its own waits for that.
        """
        traceback.clear_frames(error.__traceback__)
        self._broken[key] = reason
        left = [self._process_groups.pop(made) for made in list(self._process_groups) if made[:2] == key]
        threading.Thread(target=_close, args=(left,), name="tideflow-collectives", daemon=True).start()

    # -------------------------------------------------------------------------------- the store

    def _store(self, closed: Callable[[], bool]) -> Any:
        with self._lock:
            if self._made_store is None:
                from torch.distributed import TCPStore

                host, port = self._store_at
                if self.rank != 0:
                    self._wait_for_first_task(closed)
                self._made_store = TCPStore(
                    host,
                    port,
                    self.size,
                    is_master=self.rank == 0,
                    timeout=self._timeout,
                    wait_for_workers=False,
                )
            return self._made_store

    def _wait_for_first_task(self, closed: Callable[[], bool]) -> None:
        """Waits until the store can be reached: torch's own wait cannot be left."""
        step = limits()
        host, port = self._store_at
        for pause in _pauses():
            time_left(step, closed, f"Task {self.rank} waits for task 0 at {host}:{port}")
            with contextlib.suppress(OSError), socket.create_connection(self._store_at, timeout=1):
                return
            time.sleep(pause)

    def _asked(self, question: Callable[[Any], Any], closed: Callable[[], bool]) -> Any:
        try:
            return question(self._store(closed))
        except RuntimeError as error:
            host, port = self._store_at
            raise errors.unavailable(
                f"The store of collectives at {host}:{port}, of task 0, is lost: {error}"
            ) from error

    def _awaited(self, keys: list[str], what: str, closed: Callable[[], bool]) -> list[str]:
        """The values of keys of the store, when all of them are there."""
        step, pauses = limits(), _pauses()
        while not self._asked(lambda store: store.check(keys), closed):
            time_left(step, closed, f"Task {self.rank} waits for {what}")
            time.sleep(next(pauses))
        return [self._asked(lambda store, key=key: store.get(key), closed).decode() for key in keys]

    def close(self) -> None:
        """Ends all connections; what is under way fails."""
        for made in list(self._process_groups):
            self._process_groups.pop(made).abort()
        self._made_store = None


def _close(process_groups: list[Any]) -> None:
    for one in process_groups:
        one.abort()
    process_groups.clear()  # the last to hold them: they close their connections as they end


def _pauses() -> Iterator[float]:
    """How long to sleep between looks: at first hardly."""
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
