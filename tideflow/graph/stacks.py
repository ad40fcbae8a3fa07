"""The default graph and the default session: one stack of each per thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph

T = TypeVar("T")


class Stack(threading.local, Generic[T]):
    """A thread's stack of defaults. The item pushed last is the default."""

    def __init__(self) -> None:
        self.items: list[T] = []

    def top(self) -> T | None:
        return self.items[-1] if self.items else None

    @contextlib.contextmanager
    def pushed(self, item: T) -> Iterator[T]:
        self.items.append(item)
        try:
            yield item
        finally:
            # Blocks may end out of order (an InteractiveSession closed inside another), so this item need not
            # be the top of the stack.
            for i in reversed(range(len(self.items))):
                if self.items[i] is item:
                    del self.items[i]
                    break


default_graphs: Stack[Graph] = Stack()
default_sessions: Stack[Any] = Stack()
