"""What compiling a step may take: the step's own time, and no more nodes than a limit from calls."""

from __future__ import annotations

from collections.abc import Callable

from tideflow.graph import errors

MOST_INLINED = 100_000
"""Nodes that the calls of one step may write out. A function that calls another twice doubles it."""

_CHECKED_AFTER = 256  # nodes


class Progress:
    """Of one compilation. `check` raises where the step may take no longer."""

    def __init__(self, check: Callable[[], object] = lambda: None):
        self._check = check
        self._nodes = 0
        self._inlined = 0

    def node(self) -> None:
        """To be called for each node that is compiled, in every phase."""
        self._nodes += 1
        if self._nodes % _CHECKED_AFTER == 0:
            self._check()

    def inlined(self, nodes: int, name: str) -> None:
        """To be called for each function that is written out where it is called."""
        self._inlined += nodes
        if self._inlined > MOST_INLINED:
            raise errors.resource_exhausted(
                f"Functions are written out where they are called, and at {name} they make more than "
                f"{MOST_INLINED} nodes (MOST_INLINED); functions that call others twice, many levels deep, "
                "grow without bound: use a loop"
            )
