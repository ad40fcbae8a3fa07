"""How many replicas the computation that is being built has."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class TpuContext(threading.local):
    """The number of replicas of the innermost computation of a thread; None outside of any."""

    number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Says how many replicas there are."""
        self.number_of_shards = number_of_shards


_building = TpuContext()


def get_tpu_context() -> TpuContext:
    """What is known of the computation that this thread builds."""
    return _building


def number_of_shards() -> int | None:
    """The number of replicas of the computation that is being built; None outside of any."""
    return _building.number_of_shards


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
    if _building.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _building.number_of_shards = number_of_shards
    try:
        yield
    finally:
        _building.number_of_shards = None
