"""Waiting for what other threads and processes do."""

import time
from collections.abc import Callable

PATIENCE = 60.0  # seconds: the machine may be busy
NEVER = "it never came to be"


def eventually(
    condition: Callable[[], object], seconds: float = PATIENCE, why: str | Callable[[], str] = NEVER
) -> None:
    """Waits until a condition holds; fails, and says `why`, if that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, why() if callable(why) else why
        time.sleep(0.01)
