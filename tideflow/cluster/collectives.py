"""Collectives between the tasks of a cluster: the chief keeps the store at which the members meet."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tideflow.runtime.collectives import Terms
from tideflow.runtime.process_groups import ProcessGroups


class TaskGroups:
    """The members of a task's groups on other tasks. Where the store is, the chief is asked at first need:
    `find_store` gives host:port.
    """

    def __init__(self, rank: int, size: int, host: str, find_store: Callable[[], str], insecure: bool):
        self._place = rank, size, host, insecure
        self._find_store = find_store

    @functools.cached_property
    def _groups(self) -> ProcessGroups:
        rank, size, host, insecure = self._place
        return ProcessGroups(rank, size, self._find_store(), host, insecure=insecure)

    def local_members(self, terms: Terms, device: str, closed: Callable[[], bool]) -> int:
        return self._groups.local_members(terms, device, closed)

    def exchange(self, terms: Terms, value: torch.Tensor | None, closed: Callable[[], bool]) -> Any:
        return self._groups.exchange(terms, value, closed)

    def close(self) -> None:
        """Lets go of the connections, if there are any."""
        if "_groups" in self.__dict__:
            self._groups.close()
