"""Calls of one function by several steps, gathered in batches: the first caller waits for the others."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.runtime.conditions import Condition
from tideflow.runtime.waiting import StepContext

_numbers = itertools.count(1)  # of calls, unique in the process


class _Batch:
    """Calls that run together."""

    def __init__(self) -> None:
        self.tasks: list[Sequence[Any]] = []
        self.numbers: list[int] = []
        self.size = 0
        self.open = True
        self.results: list[Sequence[Any]] | None = None
        self.error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.results is not None or self.error is not None


class Batcher:
    """Gathers calls until there are `most` rows, or the first one has waited for some seconds."""

    def __init__(self, most: int, seconds: float, allowed: Sequence[int], most_batches: int) -> None:
        if allowed and (list(allowed) != sorted(set(allowed)) or allowed[-1] != most):
            raise errors.invalid_argument(
                "allowed_batch_sizes entries must be monotonically increasing, and the final entry must "
                f"equal max_batch_size: {list(allowed)} and {most} were given."
            )
        self._most, self._seconds, self._allowed = most, seconds, list(allowed)
        self._most_batches = most_batches
        self._changed = Condition()
        self._batches: list[_Batch] = []  # those that are not done

    def call(
        self, function: Callable[..., Any], values: Sequence[Any], context: StepContext, closed: Any
    ) -> Sequence[Any]:
        """What a function gives for these rows; it may be called with those of other callers, too."""
        size = _rows(values)
        if size > self._most:
            raise errors.invalid_argument(f"Task size {size} is larger than maximum batch size {self._most}")
        with self._changed:
            batch, place = self._joined(values, size)
            if place:
                context.wait(self._changed, lambda: batch.done, closed, "a batch of calls")
            else:
                self._gather(batch, context, closed)
        if not place:
            self._run(batch, function, context)
        if batch.error is not None:
            raise batch.error
        assert batch.results is not None
        return batch.results[place]

    def gather(
        self, values: Sequence[Any], context: StepContext, closed: Any
    ) -> tuple[list[Any], np.ndarray, int]:
        """Waits for a batch, of which the first caller gets all rows and the others get none.

        Returns:
          The rows; the number of each call with the start and the end of its rows; the caller's own number.
        """
        size = _rows(values)
        with self._changed:
            batch, place = self._joined(values, size)
            if place:
                context.wait(self._changed, lambda: not batch.open, closed, "a batch of calls")
                return [value[:0] for value in values], np.zeros([0, 3], np.int64), batch.numbers[place]
            self._gather(batch, context, closed)
            self._batches.remove(batch)
            self._changed.notify_all()
        ends = np.cumsum([len(task[0]) for task in batch.tasks])
        starts = np.array([0, *ends[:-1]])
        return self._padded(batch), np.stack([batch.numbers, starts, ends], 1), batch.numbers[0]

    def _joined(self, values: Sequence[Any], size: int) -> tuple[_Batch, int]:
        batch = next((b for b in self._batches if b.open and b.size + size <= self._most), None)
        if batch is None:
            if len(self._batches) >= self._most_batches:
                raise errors.unavailable(
                    "The batch scheduling queue to which this task was submitted is full: there are "
                    f"{self._most_batches} batches already."
                )
            batch = _Batch()
            self._batches.append(batch)
        batch.tasks.append(values)
        batch.numbers.append(next(_numbers))
        batch.size += size
        self._changed.notify_all()
        return batch, len(batch.tasks) - 1

    def _gather(self, batch: _Batch, context: StepContext, closed: Any) -> None:
        """Waits for further calls, and closes the batch."""
        end = time.monotonic() + self._seconds
        while batch.size < self._most and (left := end - time.monotonic()) > 0:
            self._changed.wait(min(left, context.time_left(closed, "a batch of calls")))
        batch.open = False

    def _run(self, batch: _Batch, function: Callable[..., Any], context: StepContext) -> None:
        results, error = None, None
        try:
            results = self._shared(batch, function(context, *self._padded(batch)))
        except BaseException as raised:
            error = raised
        with self._changed:
            batch.results, batch.error = results, error
            self._batches.remove(batch)
            self._changed.notify_all()

    def _padded(self, batch: _Batch) -> list[Any]:
        """The rows of all calls, with the first one repeated until their number is an allowed one."""
        wanted = next((n for n in self._allowed if n >= batch.size), batch.size)
        joined = [concatenated(parts) for parts in zip(*batch.tasks, strict=True)]
        more = wanted - batch.size
        return [concatenated([x, *[x[:1]] * more]) if more and batch.size else x for x in joined]

    def _shared(self, batch: _Batch, outputs: Sequence[Any]) -> list[Sequence[Any]]:
        wanted = next((n for n in self._allowed if n >= batch.size), batch.size)
        for value in outputs:
            if not value.ndim or len(value) != wanted:
                raise errors.invalid_argument(
                    "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes "
                    f"of the input tensors: an output of shape {list(value.shape)} for {wanted} rows."
                )
        starts = np.cumsum([0, *(len(values[0]) for values in batch.tasks)]).tolist()
        return [[value[a:b] for value in outputs] for a, b in itertools.pairwise(starts)]


class Parts:
    """Values that steps leave for each other, by the numbers of their calls."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._values: dict[int, Any] = {}

    def leave(self, values: dict[int, Any]) -> None:
        """Keeps values until they are taken."""
        with self._changed:
            self._values.update(values)
            self._changed.notify_all()

    def take(
        self, numbers: Sequence[int], context: StepContext, closed: Any, seconds: float | None
    ) -> list[Any]:
        """The values of some calls, when all are there; DeadlineExceededError after some seconds."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        with self._changed:
            while not all(number in self._values for number in numbers):
                left = end - time.monotonic()
                if left <= 0:
                    raise errors.deadline_exceeded("Batched data did not arrive within timeout window.")
                self._changed.wait(min(left, context.time_left(closed, "rows of a batch")))
            return [self._values.pop(number) for number in numbers]


def _rows(values: Sequence[Any]) -> int:
    if any(not value.ndim for value in values):
        raise errors.invalid_argument("Batching input tensors must have at least one dimension")
    if len({len(value) for value in values}) > 1:
        raise errors.invalid_argument(
            "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size"
        )
    return len(values[0])


def concatenated(parts: Sequence[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    return torch.cat(tuple(parts)) if isinstance(parts[0], torch.Tensor) else np.concatenate(parts)
