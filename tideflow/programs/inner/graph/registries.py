"""Registries by name, and stacks that remember who pushed, as tests and libraries take them from
`tensorflow.python.framework`.
"""

from __future__ import annotations

import traceback
from typing import Any, Generic, TypeVar

from tideflow.graph.operation import Tensor

Item = TypeVar("Item")

_TensorLike = Tensor  # tensors, and nothing else, are like tensors here


class Registry:
    """Objects by name, each registered once."""

    def __init__(self, name: str):
        self._name = name
        self._registry: dict[str, tuple[Any, Any]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Registers an object.

        Args:
          candidate: The object.
          name: Its name; None for its own `__name__`.

        Raises:
          KeyError: If something is registered under that name.
        """
        name = name or candidate.__name__
        where = traceback.extract_stack(limit=2)[0]
        if name in self._registry:
            known = self._registry[name][1]
            raise KeyError(
                f"Registering two {self._name} with name '{name}'! (Previous registration was in "
                f"{known.name} {known.filename}:{known.lineno})"
            )
        self._registry[name] = candidate, where

    def list(self) -> Any:
        """The names."""
        return self._registry.keys()

    def lookup(self, name: str) -> Any:
        """The object of a name.

        Args:
          name: The name.

        Raises:
          LookupError: If nothing is registered under that name.
        """
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name][0]


class TraceableObject(Generic[Item]):
    """An object with the line of the program that it is from."""

    SUCCESS, HEURISTIC_USED, FAILURE = range(3)

    def __init__(self, obj: Item, filename: str | None = None, lineno: int | None = None):
        self.obj, self.filename, self.lineno = obj, filename, lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Takes the line of a caller.

        Args:
          offset: How many calls it is away from the one that calls this.

        Returns:
          SUCCESS, or HEURISTIC_USED where there are fewer calls.
        """
        frames = traceback.extract_stack()[:-1]
        known = offset < len(frames)
        frame = frames[-1 - offset] if known else frames[0]
        self.filename, self.lineno = frame.filename, frame.lineno
        return self.SUCCESS if known else self.HEURISTIC_USED

    def copy_metadata(self) -> TraceableObject[None]:
        """The line, without the object."""
        return TraceableObject(None, self.filename, self.lineno)


class TraceableStack(Generic[Item]):
    """A stack that remembers for each object the line that pushed it."""

    def __init__(self, existing_stack: list[TraceableObject[Item]] | None = None):
        self._stack = list(existing_stack or ())

    def push_obj(self, obj: Item, offset: int = 0) -> int:
        """Pushes an object.

        Args:
          obj: The object.
          offset: How many calls the remembered line is away from the one that calls this.

        Returns:
          Whether that line was found: SUCCESS or HEURISTIC_USED.
        """
        made = TraceableObject(obj)
        self._stack.append(made)
        return made.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Item:
        """Takes the object that was pushed last."""
        return self._stack.pop().obj

    def peek_top_obj(self) -> Item:
        """The object that was pushed last."""
        return self._stack[-1].obj

    def peek_objs(self) -> list[Item]:
        """The objects, the last one first."""
        return [each.obj for each in reversed(self._stack)]

    def peek_traceable_objs(self) -> list[TraceableObject[Item]]:
        """The objects with their lines, the last one first."""
        return list(reversed(self._stack))

    def copy(self) -> TraceableStack[Item]:
        """Another stack of the same objects."""
        return TraceableStack(self._stack)

    def __len__(self) -> int:
        return len(self._stack)
