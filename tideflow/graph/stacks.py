"""The default graph and the default session: one stack of each per thread."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class Stack(threading.local):
    """A thread's stack of defaults; the innermost one counts."""

    def __init__(self):
        self.items: list[Any] = []

    def top(self) -> Any:
        return self.items[-1] if self.items else None

    @contextlib.contextmanager
    def pushed(self, item: Any) -> Iterator[Any]:
        self.items.append(item)
        try:
            yield item
        finally:
            # Defaults may be left out of order (an InteractiveSession closed inside another): remove this
            # one.
            for i in reversed(range(len(self.items))):
                if self.items[i] is item:
                    del self.items[i]
                    break


default_graphs = Stack()
default_sessions = Stack()
