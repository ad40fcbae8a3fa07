"""Which nodes of a pipeline run next: how nodes ended goes in, the next node or a skip comes out."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Start:
    """Everything that the node depends on is there."""

    node: str


@dataclasses.dataclass(frozen=True)
class Skip:
    """Something that the node depends on failed, refused, or was skipped itself."""

    node: str
    reasons: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Wait:
    """Nothing can be started before a node that runs has ended."""


class Schedule:
    """Nodes in an order in which each comes after those that it depends on; several run at once.

    A node that fails or refuses stops what depends on it, and nothing else.
    """

    def __init__(
        self, dependencies: Mapping[str, Sequence[str]], at_once: int = 1, alone: Collection[str] = ()
    ) -> None:
        """Orders the nodes.

        Args:
            dependencies: by node, the nodes that it depends on.
            at_once: how many nodes may run at the same time.
            alone: nodes beside which no other may run.

        Raises:
            ValueError: If nodes depend on each other in a circle, or on one that is not there.
        """
        self._dependencies = {node: tuple(dict.fromkeys(others)) for node, others in dependencies.items()}
        self._at_once, self._alone = at_once, frozenset(alone)
        self._waiting = _ordered(self._dependencies)
        self._running: set[str] = set()
        self._stopped: dict[str, tuple[str, ...]] = {}  # nodes that ended otherwise than well, with reasons

    def next(self) -> Start | Skip | Wait | None:
        """What is to be done now; None when all nodes have ended."""
        unfinished = self._running.union(self._waiting)
        for node in self._waiting:
            if unfinished.intersection(self._dependencies[node]):
                continue
            stopped = [other for other in self._dependencies[node] if other in self._stopped]
            if stopped:
                self._waiting.remove(node)
                reasons = tuple(dict.fromkeys(reason for other in stopped for reason in self._stopped[other]))
                self._stopped[node] = reasons
                return Skip(node, reasons)
            if self._has_room_for(node):
                self._waiting.remove(node)
                self._running.add(node)
                return Start(node)
        return Wait() if self._running else None

    def _has_room_for(self, node: str) -> bool:
        if not self._running:
            return True
        is_apart = node in self._alone or self._alone.intersection(self._running)
        return len(self._running) < self._at_once and not is_apart

    def end(self, node: str) -> None:
        """Notes that a node that was started has ended well.

        Args:
            node: the node.
        """
        self._running.remove(node)

    def stop(self, node: str, reasons: Sequence[str]) -> None:
        """Notes that a node that was started failed or refused.

        Args:
            node: the node.
            reasons: why, for people.
        """
        self._running.remove(node)
        self._stopped[node] = tuple(f"{node}: {reason}" for reason in reasons)


def _ordered(dependencies: Mapping[str, Sequence[str]]) -> list[str]:
    order: list[str] = []
    visiting: list[str] = []

    def visit(node: str, by: str) -> None:
        if node in order:
            return
        if node not in dependencies:
            raise ValueError(f"{by} depends on {node}, which is not among the pipeline's components")
        if node in visiting:
            circle = [*visiting[visiting.index(node) :], node]
            raise ValueError(f"components depend on each other in a circle: {' -> '.join(circle)}")
        visiting.append(node)
        for other in dependencies[node]:
            visit(other, node)
        visiting.pop()
        order.append(node)

    for node in dependencies:
        visit(node, node)
    return order
