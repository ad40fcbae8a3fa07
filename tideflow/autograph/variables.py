"""The variables that a statement of converted code changes, read and written through their cells."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CellType
from typing import Any

_NOT_THERE = (NameError, AttributeError, LookupError, TypeError)


class Undefined:
    """Stands for the value of a variable that has none.

    Args:
      symbol_name: The variable.
    """

    def __init__(self, symbol_name: str):
        self.symbol_name = symbol_name

    def __repr__(self) -> str:
        return f"Undefined({self.symbol_name!r})"


class UndefinedReturnValue:
    """Stands for what a function returns before it has come to a `return`."""


def retval(value: Any) -> Any:
    """What a function returns: None if it came to no `return`."""
    return None if isinstance(value, UndefinedReturnValue) else value


@dataclass(frozen=True)
class Member:
    """An attribute or an item that a statement assigns to."""

    text: str
    get: Callable[[], Any]
    set: Callable[[Any], None]
    delete: Callable[[], None]

    def read(self) -> Any:
        try:
            return self.get()
        except _NOT_THERE:
            return Undefined(self.text)

    def write(self, value: Any) -> None:
        if not isinstance(value, Undefined):
            self.set(value)
        elif not isinstance(self.read(), Undefined):
            with contextlib.suppress(*_NOT_THERE):  # a list keeps its items
                self.delete()


def attribute(text: str, owner: Callable[[], Any], name: str) -> Member:
    """`owner.name`, which is `text` in the program."""
    return Member(
        text,
        lambda: getattr(owner(), name),
        lambda value: setattr(owner(), name, value),
        lambda: delattr(owner(), name),
    )


def item(text: str, owner: Callable[[], Any], index: Callable[[], Any]) -> Member:
    """`owner[index]`, which is `text` in the program."""
    return Member(
        text,
        lambda: owner()[index()],
        lambda value: owner().__setitem__(index(), value),
        lambda: owner().__delitem__(index()),
    )


class Variables:
    """What a statement changes: the variables that `scope` names, of which `live` matter later, and members.

    `scope` is a function that would return the variables. It is not called: its cells are what is used.
    """

    def __init__(self, scope: Callable[[], Any], live: Sequence[str], members: Sequence[Member] = ()):
        self._cells: dict[str, CellType] = dict(zip(scope.__code__.co_freevars, scope.__closure__ or ()))
        self._globals = scope.__globals__
        self._of_module = [name for name in scope.__code__.co_names if name not in self._cells]
        self._live = live
        self._members = members

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values that `get` gives."""
        return (*self._live, *(member.text for member in self._members))

    def get(self) -> tuple[Any, ...]:
        """The values that matter later."""
        return (*map(self._read, self._live), *(member.read() for member in self._members))

    def set(self, values: Sequence[Any]) -> None:
        """Makes these the values that matter later."""
        for name, value in zip(self._live, values):
            self._write(name, value)
        for member, value in zip(self._members, values[len(self._live) :]):
            member.write(value)

    def all(self) -> tuple[Any, ...]:
        """The values of everything that the statement may change."""
        return (*map(self._read, self._every()), *(member.read() for member in self._members))

    def restore(self, values: Sequence[Any]) -> None:
        """Undoes what was changed since `all` gave these values."""
        every = self._every()
        for name, value in zip(every, values):
            self._write(name, value)
        for member, value in zip(self._members, values[len(every) :]):
            member.write(value)

    def _every(self) -> list[str]:
        return [*self._cells, *self._of_module]

    def _read(self, name: str) -> Any:
        cell = self._cells.get(name)
        try:
            return self._globals[name] if cell is None else cell.cell_contents
        except (KeyError, ValueError):
            return Undefined(name)

    def _write(self, name: str, value: Any) -> None:
        cell = self._cells.get(name)
        if isinstance(value, Undefined):
            if cell is None:
                self._globals.pop(name, None)
            elif not isinstance(self._read(name), Undefined):
                del cell.cell_contents
        elif cell is None:
            self._globals[name] = value
        else:
            cell.cell_contents = value
