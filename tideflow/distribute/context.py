"""Which strategy is in force, and whether code runs for one replica or for all of them together."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.distribute.replica_context import ReplicaContext
    from tideflow.distribute.strategy import Strategy


class Mode(NamedTuple):
    """A strategy, and the replica that code runs for: None where it runs for all of them."""

    strategy: Strategy
    replica: ReplicaContext | None
    updated: int | None = None  # of `update`: the position of the device whose copy is being changed


class _Thread(threading.local):
    def __init__(self) -> None:
        self.modes: tuple[Mode, ...] = ()


_thread = _Thread()
_default: list[Mode] = []  # the mode outside of any scope: one replica, wherever it is


def set_default(mode: Mode) -> None:
    """Sets the mode of code that no strategy is in force for."""
    _default[:] = [mode]


def current() -> Mode:
    """The mode that this thread is in."""
    return _thread.modes[-1] if _thread.modes else _default[0]


@contextlib.contextmanager
def entered(mode: Mode) -> Iterator[None]:
    """Puts this thread into a mode, inside a `with` block."""
    outer = _thread.modes
    try:
        _thread.modes = (*outer, mode)
        yield
    finally:
        _thread.modes = outer


@export("distribute.get_strategy", "contrib.distribute.get_strategy")
def get_strategy() -> Strategy:
    """Gets the strategy in force.

    Returns:
      The `tf.distribute.Strategy` whose scope the program is in; a default one, of a single replica, if it is
      in none.
    """
    return current().strategy


@export(
    "distribute.has_strategy",
    "contrib.distribute.has_strategy",
    "contrib.distribute.has_distribution_strategy",
)
def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force.

    Returns:
      True inside the scope of a strategy.
    """
    return current().strategy is not _default[0].strategy


@export("distribute.in_cross_replica_context", "contrib.distribute.in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Whether code runs for all replicas together.

    Returns:
      True in the scope of a strategy, but for the functions that it runs on each replica.
    """
    return current().replica is None


@export("distribute.get_replica_context", "contrib.distribute.get_replica_context")
def get_replica_context() -> ReplicaContext | None:
    """Gets the replica that code runs for.

    Returns:
      The `tf.distribute.ReplicaContext`; None where code runs for all replicas together.
    """
    return current().replica


@export("contrib.distribute.get_cross_replica_context")
def get_cross_replica_context() -> Strategy | None:
    """Gets the strategy, where code runs for all its replicas together.

    Returns:
      The strategy; None in a function that runs on one replica.
    """
    return current().strategy if in_cross_replica_context() else None


@export("contrib.distribute.require_replica_context")
def require_replica_context(replica_ctx: ReplicaContext) -> None:
    """Checks that code runs for a replica.

    Args:
      replica_ctx: The context of the replica.

    Raises:
      RuntimeError: If it runs for another one, or for all of them together.
    """
    mode = current()
    if mode.replica is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if mode.replica is not replica_ctx:
        raise RuntimeError("Mismatching ReplicaContext.")
