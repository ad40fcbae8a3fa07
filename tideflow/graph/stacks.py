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
    """A thread's stack of defaults. The item pushed last is the default.

    `blocks` has one object for each item of any thread's stack: if it is empty, so are all stacks.
    """

    def __init__(self, blocks: set[object] | None = None) -> None:
        self.items: tuple[T, ...] = ()
        self.blocks = set() if blocks is None else blocks

    def top(self) -> T | None:
        return self.items[-1] if self.items else None

    @contextlib.contextmanager
    def pushed(self, item: T) -> Iterator[T]:
        block = object()
        self.blocks.add(block)
        outer = self.items
        pushed = self.items = (*outer, item)  # no call between this and `try`: an interrupt comes after calls
        try:
            yield item
        finally:
            if self.items is pushed:
                self.items = outer
            else:
                # Blocks may end out of order (an InteractiveSession closed inside another), so this item need
                # not be the top of the stack.
                self.discard(item)
            self.blocks.discard(block)

    def push(self, item: T) -> None:
        """Makes an item the default until it is discarded."""
        self.blocks.add(object())  # never removed: lookups of this program take a little longer from now on
        self.items = (*self.items, item)

    def discard(self, item: T) -> None:
        """Removes an item, if it is there: the last, if it is there several times."""
        for i in reversed(range(len(self.items))):
            if self.items[i] is item:
                self.items = (*self.items[:i], *self.items[i + 1 :])
                return


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Gives an attribute of an object another value inside a `with` block.

    A block that an interrupt kept from ending is collected later, maybe after the block around it has ended.
    Then it leaves the attribute as it is. No function is called between a change and what belongs to it: an
    interrupt comes after calls.
    """
    held, blocks, own = owner.__dict__, f"blocks of {name}", object()
    before, outer = getattr(owner, name), held.get(blocks, ())
    held[blocks] = (*outer, own)
    held[name] = value
    try:
        yield
    finally:
        if own in held[blocks]:
            held[name] = before
            held[blocks] = outer


# Every eager operation asks whether there is a default graph. A set answers quicker than a thread's stack.
graph_blocks: set[object] = set()
default_graphs: Stack[Graph] = Stack(graph_blocks)
default_sessions: Stack[Any] = Stack()


class _Summaries(threading.local):
    """What this thread builds summaries for: a writer, and the condition under which they are written."""

    writer: Any = None
    condition: Any = None


summaries = _Summaries()
