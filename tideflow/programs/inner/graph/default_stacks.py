"""The stacks of default graphs and sessions, as tests of TensorFlow 1 reach for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph.scopes import get_default_graph
from tideflow.graph.stacks import Stack, default_graphs, default_sessions


class DefaultStack:
    """A stack of defaults of this thread under the names that TensorFlow has for what it does."""

    def __init__(self, stack: Stack[Any], get_default: Callable[[], Any]):
        self._stack = stack
        self.get_default = get_default

    @property
    def stack(self) -> list[Any]:
        """What `with` blocks have made the default, the innermost last."""
        return list(self._stack.items)

    def is_cleared(self) -> bool:
        """Whether no `with` block has made anything the default."""
        return not self._stack.items

    def reset(self) -> None:
        """Forgets all blocks of this thread."""
        self._stack.items = ()

    def get_controller(self, default: Any) -> Any:
        """A `with` block in which an object is the default.

        Args:
          default: The object.

        Returns:
          The block.
        """
        return self._stack.pushed(default)


_default_graph_stack = DefaultStack(default_graphs, get_default_graph)
_default_session_stack = DefaultStack(default_sessions, default_sessions.top)
