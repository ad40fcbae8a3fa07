"""State machines of a task, and the record of their moves.

A machine has a table of legal moves and no threads, sockets or clocks: `StepTable` (`steps.py`) and
`Membership` (`membership.py`) are made of one. The objects around them (`Worker`, `Heartbeats`) call it under
a lock, and perform what it decides. Every move is noted in a record, which prints the story of a step or a
task, and can be replayed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from tideflow.graph import errors

RECORDED_MOVES = 4096  # the last ones, of each machine

S = TypeVar("S", bound=str)


class Move(NamedTuple):
    """One move: when it was made, whose state it changed, by which event and to which state; and what else is
    known of the event.
    """

    seconds: float
    subject: str
    event: str
    state: str
    detail: Any


class Record:
    """The last moves of a machine, in order. `clock` gives the time of each.

    Every step of a task adds to it: that is one append of a tuple, and all else is done when a story is told.
    """

    def __init__(self, length: int = RECORDED_MOVES, clock: Callable[[], float] = time.monotonic):
        self._moves: deque[tuple[float, str, str, str, Any]] = deque(maxlen=length)
        self.append, self.clock = self._moves.append, clock

    def moves(self, subject: str = "") -> list[Move]:
        """The moves that are still recorded, of one step or task or of all."""
        return [move for move in map(Move._make, list(self._moves)) if subject in ("", move.subject)]


def story(moves: Iterable[Move]) -> str:
    """Moves as lines, each with the milliseconds since the first."""
    moves = sorted(moves, key=lambda move: move.seconds)
    return "\n".join(
        f"{1000 * (move.seconds - moves[0].seconds):10.3f} ms  {move.subject}: {move.event} -> {move.state}"
        + (f"  ({_text(move.detail)})" if move.detail else "")
        for move in moves
    )


def _text(detail: Any) -> str:
    return ", ".join(map(str, detail)) if isinstance(detail, (list, tuple)) else str(detail)


class Machine(Generic[S]):
    """The states of all subjects of one kind: steps, or tasks.

    `moves` has for each state the events that are legal in it, and the states to which they lead. A subject
    without a move is in the state `first`.
    """

    def __init__(self, what: str, first: S, moves: Mapping[S, Mapping[str, S]], record: Record):
        self._what, self._first, self._moves, self.record = what, first, moves, record
        self._append, self._clock = record.append, record.clock
        self._states: dict[str, S] = {}

    def state(self, subject: str) -> S:
        """The state of a subject."""
        return self._states.get(subject, self._first)

    def move(self, subject: str, event: str, detail: Any = None) -> S:
        """Makes a move and returns the new state; an illegal one is an error with the subject's story."""
        state = self._states.get(subject, self._first)
        new = self._moves[state].get(event)
        if new is None:
            raise errors.internal(
                f"{self._what} {subject} is {state}, where '{event}' is not a legal move. Its story:\n"
                + story(self.record.moves(subject))
            )
        self._states[subject] = new
        self._append((self._clock(), subject, event, new, detail))
        return new

    def forget(self, subject: str) -> None:
        """Forgets a subject: it is in the first state again."""
        self._states.pop(subject, None)

    def replay(self, moves: Iterable[Move]) -> list[str]:
        """Makes recorded moves again, and returns the states to which they lead now."""
        return [self.move(move.subject, move.event, move.detail) for move in moves]
