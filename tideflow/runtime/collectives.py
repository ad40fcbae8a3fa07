"""Collectives: the members of a group meet, each with a value, and each leaves with what was made of all.

A group is a number of devices, known by its key; what its members do together is an instance, known by a key
of its own, which they meet for again and again, step after step. Members in one process meet in memory. In a
cluster, the last of a process' members to come speaks for all of them to the other processes
(`runtime/process_groups.py`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from tideflow.graph import errors
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import wait

MERGE: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "Add": torch.add,
    "Mul": torch.mul,
    "Min": torch.minimum,
    "Max": torch.maximum,
}


@dataclass(frozen=True)
class Terms:
    """What the members of an instance must agree on."""

    kind: str  # "reduce", "gather" or "broadcast"
    group_key: int
    instance_key: Any
    group_size: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    merge_op: str = ""
    final_op: str = ""

    @property
    def what(self) -> str:
        """The instance, as an error names it."""
        return f"the {self.kind} of group {self.group_key}, instance {self.instance_key}"


@dataclass
class Member:
    """Who comes: its device, the operation that speaks for it, and what it brings (a receiver: nothing)."""

    device: str
    operation: str
    value: torch.Tensor | None


class Others(Protocol):
    """The members in other processes."""

    def local_members(self, terms: Terms, device: str, closed: Callable[[], bool]) -> int:
        """How many members of the group are in this process, once all of them are known."""

    def exchange(self, terms: Terms, value: torch.Tensor | None, closed: Callable[[], bool]) -> torch.Tensor:
        """What was made of this process' value and the others'."""


@dataclass
class _Round:
    """One meeting of an instance."""

    members: dict[str, Member] = field(default_factory=dict)
    terms: Terms | None = None
    is_full: bool = False
    result: torch.Tensor | None = None
    error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return self.result is not None or self.error is not None

    def admit(self, member: Member, terms: Terms) -> None:
        """Takes a member in; InvalidArgumentError for one who has come for something else."""
        if self.terms is None:
            self.terms = terms
        elif self.terms != terms:
            raise errors.invalid_argument(
                f"The members of {terms.what} disagree: '{member.operation}' has come for {terms}, the "
                f"others for {self.terms}",
            )
        self.members[member.device] = member


class _Instance:
    """The rounds of one instance in one process, one after the other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._round = _Round()

    def meet(
        self,
        member: Member,
        terms: Terms,
        need: int,
        conclude: Callable[[list[Member]], torch.Tensor],
        closed: Callable[[], bool],
    ) -> torch.Tensor:
        """Waits for `need` members; the last one has `conclude` make the result for all of them."""
        with self._changed:
            self._wait_for_turn(member, terms, closed)
            joined = self._round
            joined.admit(member, terms)
            is_last = len(joined.members) == need
            if is_last:
                joined.is_full = True
                self._round = _Round()
                self._changed.notify_all()
            else:
                self._wait_for_result(joined, member, terms, need, closed)
        if is_last:
            with self._finishing(joined):
                joined.result = conclude([joined.members[device] for device in sorted(joined.members)])
        if joined.error is not None:
            raise joined.error
        return joined.result

    def _wait_for_turn(self, member: Member, terms: Terms, closed: Callable[[], bool]) -> None:
        """A device that is in this round already comes for the next one: it is another step's."""
        there = self._round.members.get(member.device)
        if there is not None and there.operation != member.operation:
            raise errors.invalid_argument(
                f"'{member.operation}' and '{there.operation}' both take part in {terms.what} on device "
                f"'{member.device}': each member must be on a device of its own",
            )
        wait(
            self._changed,
            lambda: member.device not in self._round.members,
            closed,
            f"'{member.operation}' for the end of the last round of {terms.what}",
        )

    def _wait_for_result(
        self, joined: _Round, member: Member, terms: Terms, need: int, closed: Callable[[], bool]
    ) -> None:
        try:
            wait(
                self._changed,
                lambda: joined.is_over,
                closed,
                f"'{member.operation}' in {terms.what}, where {len(joined.members)} of {need} members are",
            )
        except BaseException:
            if not joined.is_full:  # nobody may count on who has left
                joined.members.pop(member.device, None)
                if not joined.members:
                    joined.terms = None
                self._changed.notify_all()
            raise

    @contextmanager
    def _finishing(self, joined: _Round) -> Iterator[None]:
        """Whatever becomes of the last member, the others hear of it."""
        try:
            yield
        except Exception as error:
            joined.error = error
        except BaseException:
            joined.error = errors.unavailable("The last member of a collective was interrupted.")
            raise
        finally:
            with self._changed:
                self._changed.notify_all()


class Collectives:
    """The groups and instances of one task, or of a session without a cluster."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._instances: dict[tuple[int, Any], _Instance] = {}
        self.others: Others | None = None

    def meet(self, member: Member, terms: Terms, closed: Callable[[], bool]) -> torch.Tensor:
        """Brings a member's value to its instance and returns the result, when all are there."""
        with self._lock:
            instance = self._instances.setdefault((terms.group_key, terms.instance_key), _Instance())
        others = self.others
        need = terms.group_size
        if others is not None:
            need = others.local_members(terms, member.device, closed)
        between_tasks = others if need < terms.group_size else None
        result = instance.meet(
            member, terms, need, lambda members: _concluded(members, terms, between_tasks, closed), closed
        )
        return result if member.value is None else result.to(member.value.device)


def _concluded(
    members: list[Member], terms: Terms, others: Others | None, closed: Callable[[], bool]
) -> torch.Tensor:
    """What all members leave with."""
    values = [member.value for member in members if member.value is not None]
    made = _made_here(values, terms)
    if others is not None:
        made = others.exchange(terms, made, closed)
    elif made is None:
        raise errors.invalid_argument(f"Nobody sends in {terms.what}: there must be one sender")
    if terms.final_op != "Div":
        return made
    if made.dtype.is_floating_point:
        return made / terms.group_size
    return torch.div(made, terms.group_size, rounding_mode="trunc")


def _made_here(values: list[torch.Tensor], terms: Terms) -> torch.Tensor | None:
    """What the members of this process bring together: None where all of them only receive."""
    here = [value.to(values[0].device) for value in values]
    if terms.kind == "reduce":
        return functools.reduce(MERGE[terms.merge_op], here)
    if terms.kind == "gather":
        return torch.cat(here)
    if len(here) > 1:
        raise errors.invalid_argument(f"{len(here)} members send in {terms.what}: there must be one sender")
    return here[0].clone() if here else None


def of(resources: ResourceManager) -> Collectives:
    """The collectives of a task or a session."""
    return resources.get_or_create("", "collectives", "", Collectives)


def in_one_process(resources: ResourceManager) -> Collectives:
    """The collectives that never leave the process, whatever cluster it is in."""
    return resources.get_or_create("", "collectives of one process", "", Collectives)


def configure(resources: ResourceManager, others: Others | None) -> None:
    """The members of a task's groups may be in other processes from now on."""
    of(resources).others = others
