"""Names in graphs that are to be like no other: random ones, except where a run is to be repeated exactly."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import uuid
from collections.abc import Iterator
from contextvars import ContextVar

_repeated: ContextVar[Iterator[uuid.UUID] | None] = ContextVar("repeated_names", default=None)


def fresh_id() -> uuid.UUID:
    """What makes a name new: random, or within `repeatable_ids` the next of its ids."""
    ids = _repeated.get()
    return uuid.uuid4() if ids is None else next(ids)


@contextlib.contextmanager
def repeatable_ids(seed: str) -> Iterator[None]:
    """A block in which this thread's ids follow from a seed, so that equal programs make equal graphs.

    They differ from each other and from those of other seeds, but not from those of another run with this
    seed, which must not share files or a cluster's resources with this one.

    Args:
      seed: The seed.
    """
    digests = (hashlib.sha256(f"{seed}/{number}".encode()).digest() for number in itertools.count())
    token = _repeated.set(uuid.UUID(bytes=digest[:16], version=4) for digest in digests)
    try:
        yield
    finally:
        _repeated.reset(token)
