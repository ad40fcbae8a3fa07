"""Collectives: every member of a group brings a value, and every member gets what was made of all of them.

A group is a number of devices, known by its key. What its members do together is an instance, known by a key
of its own: they meet for it once a step, in rounds. Members of one process meet in memory. In a cluster, the
last member of a process to arrive exchanges values with the other processes on behalf of all of them
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
from tideflow.runtime.conditions import Condition
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext

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
    """A member that takes part: its device, the operation that runs for it, its value (None of a receiver),
    and the step on behalf of which it waits.
    """

    device: str
    operation: str
    value: torch.Tensor | None
    context: StepContext
    closed: Callable[[], bool]  # whether its session has ended

    def wait(self, condition: Condition, ready: Callable[[], bool], what: str) -> None:
        """Blocks, holding the condition's lock, until `ready`."""
        self.context.wait(condition, ready, self.closed, what)

    def time_left(self, what: str) -> float:
        """How many seconds its step may sleep; raises where it may wait no longer."""
        return self.context.time_left(self.closed, what)


class Others(Protocol):
    """The members in other processes."""

    def local_members(self, terms: Terms, member: Member) -> int:
        """How many members of the group are in this process, once all of them are known."""

    def exchange(self, terms: Terms, value: torch.Tensor | None, member: Member) -> torch.Tensor:
        """What was made of this process' value and the others'; `member` waits for it."""


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
        """Takes a member in; InvalidArgumentError for one whose terms are not the others'."""
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
        self._changed = Condition()
        self._round = _Round()

    def meet(
        self, member: Member, terms: Terms, need: int, conclude: Callable[[list[Member]], torch.Tensor]
    ) -> torch.Tensor:
        """Waits for `need` members; the last to arrive calls `conclude`, which makes the result for all."""
        with self._changed:
            self._wait_for_turn(member, terms)
            joined = self._round
            joined.admit(member, terms)
            is_last = len(joined.members) == need
            if is_last:
                joined.is_full = True
                self._round = _Round()
                self._changed.notify_all()
            else:
                self._wait_for_result(joined, member, terms, need)
        if is_last:
            with self._finishing(joined):
                joined.result = conclude([joined.members[device] for device in sorted(joined.members)])
        if joined.error is not None:
            raise joined.error
        assert joined.result is not None, "a round that is over has a result or an error"
        return joined.result

    def _wait_for_turn(self, member: Member, terms: Terms) -> None:
        """Waits while the device is in this round for another step: the member takes part in the next one."""
        there = self._round.members.get(member.device)
        if there is not None and there.operation != member.operation:
            raise errors.invalid_argument(
                f"'{member.operation}' and '{there.operation}' both take part in {terms.what} on device "
                f"'{member.device}': each member must be on a device of its own",
            )
        member.wait(
            self._changed,
            lambda: member.device not in self._round.members,
            f"'{member.operation}' for the end of the last round of {terms.what}",
        )

    def _wait_for_result(self, joined: _Round, member: Member, terms: Terms, need: int) -> None:
        try:
            member.wait(
                self._changed,
                lambda: joined.is_over,
                f"'{member.operation}' in {terms.what}, where {len(joined.members)} of {need} members are",
            )
        except BaseException:
            if not joined.is_full:  # a member that has left must not be counted
                joined.members.pop(member.device, None)
                if not joined.members:
                    joined.terms = None
                self._changed.notify_all()
            raise

    @contextmanager
    def _finishing(self, joined: _Round) -> Iterator[None]:
        """Wakes the members that wait for the result, with an error if the one that makes it fails."""
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

    def meet(self, member: Member, terms: Terms) -> torch.Tensor:
        """Brings a member's value to its instance; returns the result when all members have arrived."""
        with self._lock:
            instance = self._instances.setdefault((terms.group_key, terms.instance_key), _Instance())
        others = self.others
        need = terms.group_size if others is None else others.local_members(terms, member)
        between_tasks = others if need < terms.group_size else None
        result = instance.meet(
            member, terms, need, lambda members: _concluded(members, terms, between_tasks, member)
        )
        return result if member.value is None else result.to(member.value.device)


def _concluded(members: list[Member], terms: Terms, others: Others | None, last: Member) -> torch.Tensor:
    """What all members get."""
    values = [member.value for member in members if member.value is not None]
    made = _made_here(values, terms)
    if others is not None:
        made = others.exchange(terms, made, last)
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
    found: Collectives = resources.get_or_create("", "collectives", "", Collectives)
    return found


def in_one_process(resources: ResourceManager) -> Collectives:
    """The collectives whose members are all in this process, whatever cluster it is in."""
    found: Collectives = resources.get_or_create("", "collectives of one process", "", Collectives)
    return found


def configure(resources: ResourceManager, others: Others | None) -> None:
    """The members of a task's groups may be in other processes from now on."""
    of(resources).others = others
