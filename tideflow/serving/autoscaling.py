"""How many replicas a version needs, by the length of their queues. Loads in, a number out: no clocks."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Autoscaling:
    """Adds a replica when queues have been long for a while, takes one away when they were short for long.

    A queue is long if more than `long` batches wait in it; short, if fewer than `short` would after a replica
    has gone. Growing is quick, because clients wait; shrinking is slow, because a replica takes time to load.
    """

    least: int = 1
    most: int = 1
    long: float = 2.0
    short: float = 0.5
    grows_after: float = 3.0  # seconds
    shrinks_after: float = 60.0
    _long_since: float = math.inf
    _short_since: float = math.inf

    def wanted(self, replicas: int, waiting_rows: int, batch_rows: int, now: float) -> int:
        """The number of replicas to have, where so many rows wait for those there are."""
        batches = waiting_rows / max(1, batch_rows)
        self._long_since = min(self._long_since, now) if batches > self.long * replicas else math.inf
        is_short = replicas > 1 and batches < self.short * (replicas - 1)
        self._short_since = min(self._short_since, now) if is_short else math.inf
        if replicas < self.least:
            return self.least
        if replicas < self.most and now - self._long_since >= self.grows_after:
            self._long_since = math.inf
            return replicas + 1
        if replicas > max(self.least, 1) and now - self._short_since >= self.shrinks_after:
            self._short_since = math.inf
            return replicas - 1
        return replicas
