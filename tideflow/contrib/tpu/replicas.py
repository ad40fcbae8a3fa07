"""How many replicas the computation that is being built has."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _Building(threading.local):
    """The number of replicas of the innermost computation of a thread; None outside of any."""

    count: int | None = None


_building = _Building()


def number_of_shards() -> int | None:
    """The number of replicas of the computation that is being built; None outside of any."""
    return _building.count


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Says that what is built inside is one of several replicas.

    Args:
      number_of_shards: How many there are.

    Yields:
      None.

    Raises:
      NotImplementedError: Inside of another one.
    """
    if _building.count is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _building.count = number_of_shards
    try:
        yield
    finally:
        _building.count = None
