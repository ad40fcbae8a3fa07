"""What holds synchronous replicas together, as tables without clocks or messages.

They are the accumulator and the token queue of `tf.train.SyncReplicasOptimizer`: a replica puts a gradient,
with the step that it was computed for, into an accumulator on every server, then waits for a token, which
is the number of its next step. Once an accumulator has what a step needs, the chief takes it; when it has
taken all, it puts out a token for every replica. What was computed for an earlier step is dropped.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Gradient:
    """A replica's gradient arrives at an accumulator."""

    worker: int
    step: int


@dataclass(frozen=True)
class Take:
    """The chief asks for the mean."""


@dataclass(frozen=True)
class Taken:
    """The chief has the mean of a step."""

    step: int


@dataclass(frozen=True)
class Dropped:
    """A gradient came too late."""

    worker: int
    step: int


class Accumulator:
    """The first `need` gradients of a step are taken together; those of earlier steps are dropped."""

    def __init__(self, need: int):
        self.need, self.step = need, 0
        self.count = 0
        self._wanted = False

    def handle(self, event: Gradient | Take) -> list[Taken | Dropped]:
        """What follows from a gradient, or from the chief's asking."""
        if isinstance(event, Take):
            self._wanted = True
        elif event.step < self.step:
            return [Dropped(event.worker, event.step)]
        else:
            self.count += 1
        if not self._wanted or self.count < self.need:
            return []
        done = Taken(self.step)
        self.step, self.count, self._wanted = self.step + 1, 0, False
        return [done]


@dataclass(frozen=True)
class Waits:
    """A replica has handed its gradients in, and waits for a token."""

    worker: int


@dataclass(frozen=True)
class PutOut:
    """The chief puts out so many tokens for a step."""

    step: int
    count: int


@dataclass(frozen=True)
class Token:
    """A replica goes on, with the number of its next step."""

    worker: int
    step: int


class Tokens:
    """First come, first served: a slow replica gets the token that was put out for it, though it is old."""

    def __init__(self) -> None:
        self._tokens: deque[int] = deque()
        self._waiting: deque[int] = deque()

    def handle(self, event: Waits | PutOut) -> list[Token]:
        """Who goes on, in order."""
        if isinstance(event, Waits):
            self._waiting.append(event.worker)
        else:
            self._tokens.extend([event.step] * event.count)
        given = min(len(self._tokens), len(self._waiting))
        return [Token(self._waiting.popleft(), self._tokens.popleft()) for _ in range(given)]
