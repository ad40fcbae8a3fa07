"""Collectives between the tasks of a cluster: the chief keeps the store at which the members meet."""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable

import torch

from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.listener import Reply
from tideflow.cluster.messages import FindStore, StorePort
from tideflow.cluster.ports import number_of, reserve
from tideflow.runtime.collectives import Member, Terms
from tideflow.runtime.process_groups import ProcessGroups
from tideflow.runtime.waiting import StepContext


class TaskGroups:
    """The members of a task's groups on other tasks. The task has this rank among so many, and listens on
    `host`.

    `find_store` asks the chief for host:port of the store; it is called when a group is first used.
    """

    def __init__(
        self, rank: int, size: int, host: str, find_store: Callable[[StepContext], str], insecure: bool
    ):
        self._place = rank, size, host, insecure
        self._find_store = find_store
        self._process_groups: ProcessGroups | None = None

    def _groups(self, member: Member) -> ProcessGroups:
        if self._process_groups is None:
            rank, size, host, insecure = self._place
            address = self._find_store(member.context)
            self._process_groups = ProcessGroups(rank, size, address, host, insecure=insecure)
        return self._process_groups

    def local_members(self, terms: Terms, member: Member) -> int:
        """How many members of a group are on this task."""
        return self._groups(member).local_members(terms, member)

    def exchange(self, terms: Terms, value: torch.Tensor | None, member: Member) -> torch.Tensor:
        """Exchanges the value of this task's members with the other tasks; returns the result of the
        collective.
        """
        return self._groups(member).exchange(terms, value, member)

    def close(self) -> None:
        """Closes the connections, if there are any."""
        if self._process_groups is not None:
            self._process_groups.close()


class StoreKeeper:
    """Reserves a port of this task for the store of collectives: the chief's process group listens there once
    it is needed. `host` is the one at which other tasks reach this one.
    """

    def __init__(self, host: str):
        self._host = host

    def serve(self, dispatch: Dispatch) -> None:
        """Registers the handler of the question where the store is."""
        dispatch.on_request(FindStore, self._tell_port)

    @functools.cached_property
    def _reserved(self) -> socket.socket:
        return reserve(self._host)

    def address(self) -> str:
        """Host and port of the store on this task."""
        return f"{self._host}:{number_of(self._reserved)}"

    def _tell_port(self, message: FindStore, reply: Reply) -> None:
        reply(StorePort(port=number_of(self._reserved)))

    def close(self) -> None:
        """Gives the port back."""
        if "_reserved" in self.__dict__:
            self._reserved.close()
