"""The scopes in which a thread builds a graph: names, devices, control inputs, colocation, attributes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tideflow.graph.operation import Operation
    from tideflow.graph.typing import ControlFlowContext, DeviceFunction


class Scopes:
    """The scopes a thread is in while it builds a graph.

    A block that ends restores all that was there before it. An interrupt may keep a block from ending until
    it is garbage-collected. If a block around it has ended by then, `depth` is smaller, and nothing changes.
    """

    def __init__(self) -> None:
        self.depth = 0  # the number of blocks that the thread is in
        self.name_stack = ""
        self.devices: tuple[DeviceFunction | None, ...] = ()  # outermost first; None cancels those outside it
        self.controls: tuple[Controls, ...] = ()
        self.colocations: tuple[Operation, ...] = ()
        self.attrs: dict[str, Any] = {}  # attributes that every new operation gets
        self.context: ControlFlowContext | None = None  # the branch or loop that is being built

    @contextlib.contextmanager
    def block(self, **changes: Any) -> Iterator[None]:
        """These scopes in place of those that are there, inside a `with` block. Each change is one call, so
        that no interrupt divides it.
        """
        outer, depth = self.__dict__.copy(), self.depth + 1
        try:
            self.__dict__.update(changes, depth=depth)
            yield
        finally:
            if self.depth >= depth:
                self.__dict__.update(outer)

    def inherited(self) -> Scopes:
        """The scopes with which another thread begins to build while this one is in these: all but the name
        scope and the branch or loop, which belong to this thread alone.
        """
        scopes = Scopes()
        scopes.devices, scopes.controls = self.devices, self.controls
        scopes.colocations, scopes.attrs = self.colocations, self.attrs
        return scopes


class ThreadScopes(threading.local):
    """The scopes of each thread. A new thread begins with those that the graph's first thread is in."""

    def __init__(self, first: Scopes, thread: int) -> None:
        self.now = first if threading.get_ident() == thread else first.inherited()


class Controls:
    """One `with control_dependencies(...)` block: its ops, and the ops made inside it."""

    __slots__ = ("inputs", "seen")

    def __init__(self, inputs: list[Operation]) -> None:
        self.inputs = inputs
        self.seen: set[Operation] = set()
