"""Accumulators: gradients are summed until enough of them have arrived; those that arrive late are dropped.

A gradient belongs to a step. One older than the accumulator's step is stale: it is dropped, silently. Taking
the gradients out moves the accumulator to its next step.
"""

from __future__ import annotations

import collections
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.interrupts import Lock
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import ABSENT, PendingValue

_log = logging.getLogger("tideflow")


class Accumulator:
    """The sum or mean of dense gradients."""

    kind = "accumulator"

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: TensorShape,
        reduction_type: str,
        session_closed: Callable[[], bool],
    ):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.reduction_type = reduction_type
        self.count = 0
        self.step = 0
        self._session_closed = session_closed
        self._lock = Lock()
        self._takes: collections.deque[_Take] = collections.deque()  # in line
        self._forget()

    # ------------------------------------------------------------------ the sum, which kinds differ in

    def _forget(self) -> None:
        self._sum: torch.Tensor | None = None
        self._is_own = False  # the first gradient is a step's value; a sum is the accumulator's to write into

    def _add(self, *gradient: Any) -> None:
        (value,) = gradient
        shape = TensorShape(tuple(value.shape))
        expected = self.shape if self._sum is None else TensorShape(tuple(self._sum.shape))
        if not expected.is_compatible_with(shape):
            raise self._mismatch(expected, shape)
        if self._sum is None:
            self._sum = unshared(value)
        elif self._is_own:
            self._sum.add_(value)
        else:
            self._sum, self._is_own = self._sum + value, True

    def _reduced(self) -> Any:
        assert self._sum is not None, "a take is served once there are gradients"
        return self._mean(self._sum, self.count)

    def _mean(self, total: torch.Tensor, counts: int | torch.Tensor) -> torch.Tensor:
        if self.reduction_type == "SUM":
            return total
        if total.dtype.is_floating_point or total.dtype.is_complex:
            return torch.div(total, counts)
        return torch.div(total, counts, rounding_mode="trunc")

    def _mismatch(self, expected: TensorShape, found: TensorShape) -> InvalidArgumentError:
        expected_sizes, sizes = expected.tuple or (), found.tuple or ()
        return errors.invalid_argument(
            f"Shape mismatch: expected {brackets(expected_sizes)}, got {brackets(sizes)} in '{self.name}'"
        )

    # ------------------------------------------------------------------ what steps do

    def apply(self, local_step: int, *gradient: Any) -> None:
        """Adds a gradient of that step, unless it is stale."""
        with self._lock:
            if local_step < self.step:
                return
            self._add(*gradient)
            self.count += 1
            self._wake_first()

    def take(self, required: int) -> PendingValue:
        """Sum or mean of all gradients, once at least `required` have arrived; steps that ask are served in
        order.
        """
        if required < 1:
            raise errors.invalid_argument(f"Argument num_required must be positive, but was {required}")
        take = _Take(self, required)
        with self._lock:
            self._takes.append(take)
        return take

    def _taken(self) -> Any:
        taken = self._reduced()
        self._forget()
        self.count = 0
        self.step += 1
        return taken

    def _wake_first(self) -> None:
        """Wakes the step that is first in line, if there is enough for it."""
        if self._takes and self.count >= self._takes[0].required:
            self._takes[0].wake()

    def set_step(self, step: int) -> None:
        """Gradients of earlier steps are stale from now on."""
        with self._lock:
            if step < self.step:
                _log.warning(
                    "The step of accumulator '%s' goes back from %d to %d", self.name, self.step, step
                )
            self.step = step

    def wake(self) -> None:
        """Has every step in line re-check whether it may wait longer: its session closes, or it was
        cancelled.
        """
        with self._lock:
            for take in self._takes:
                take.wake()

    def report(self) -> dict[str, Any]:
        """How many gradients have arrived, and how many steps wait for more."""
        with self._lock:
            return {
                "name": self.name,
                "kind": self.kind,
                "size": self.count,
                "capacity": None,
                "closed": False,
                "waiting to enqueue": 0,
                "waiting to dequeue": len(self._takes),
            }


class _Take(PendingValue):
    """A step in line for the gradients."""

    operation = "TakeGrad operation"

    def __init__(self, accumulator: Accumulator, required: int):
        self._accumulator, self.required = accumulator, required
        self.what = f"take of {required} gradients from '{accumulator.name}', which has too few"
        self.wake: Callable[[], Any] = lambda: None

    def get(self, wake: Callable[[], Any]) -> Any:
        accumulator = self._accumulator
        with accumulator._lock:
            if accumulator._takes[0] is not self or accumulator.count < self.required:
                self.wake = wake
                return ABSENT
            accumulator._takes.popleft()
            return accumulator._taken()

    def cancel(self) -> Any:
        accumulator = self._accumulator
        with accumulator._lock:
            accumulator._takes.remove(self)
            accumulator._wake_first()
        return ABSENT

    def closed(self) -> bool:
        return self._accumulator._session_closed()


class _Rows(NamedTuple):
    """Summed rows of gradients: their indices, and from how many gradients each row is the sum."""

    indices: torch.Tensor
    values: torch.Tensor
    counts: torch.Tensor


class SparseAccumulator(Accumulator):
    """The sum or mean of gradients of few rows. The mean of a row is over the gradients that have it."""

    kind = "sparse accumulator"

    def _forget(self) -> None:
        self._rows: _Rows | None = None

    def _add(self, *gradient: Any) -> None:
        indices, values, shape = gradient
        self._check(indices, values, shape)
        if self._rows is None:
            self._rows = _Rows(unshared(indices), unshared(values), torch.ones_like(indices))
            return
        total = self._rows
        if self.count == 1:
            total = _of_one_gradient(total.indices, total.values)
        self._rows = _summed(
            _Rows(*[torch.cat(pair) for pair in zip(total, _of_one_gradient(indices, values), strict=True)])
        )

    def _reduced(self) -> Any:
        assert self._rows is not None, "a take is served once there are gradients"
        indices, values, counts = self._rows
        counts = counts.reshape(-1, *[1] * (values.ndim - 1)).to(values.dtype)
        first = self.shape.tuple[0] if self.shape.tuple else None
        shape = [-1 if first is None else first, *values.shape[1:]]
        return indices, self._mean(values, counts), torch.tensor(shape, dtype=torch.int64)

    def _check_shape(self, given: TensorShape, what: str) -> None:
        """Refuses a gradient whose shape does not begin with what is known of the accumulator's."""
        if self.shape.tuple is None or given.tuple is None:
            return
        if len(given.tuple) < len(self.shape.tuple):
            raise errors.invalid_argument(
                f"Shape mismatch: expected {what} rank at least {len(self.shape.tuple)}, got "
                f"{len(given.tuple)}"
            )
        for i, (known, size) in enumerate(zip(self.shape.tuple, given.tuple)):
            if known is not None and size is not None and known != size:
                raise errors.invalid_argument(
                    f"Shape mismatch: expected {what} dim {i} to be {known}, got {size}"
                )

    def _check(self, indices: torch.Tensor, values: torch.Tensor, shape: list[int] | None) -> None:
        if indices.ndim != 1:
            raise errors.invalid_argument(
                f"Input indices should be vector but received shape: {brackets(indices.shape)}"
            )
        if not values.ndim:
            raise errors.invalid_argument("Values cannot be 0-dimensional.")
        if len(indices) != len(values):
            raise errors.invalid_argument(
                f"Expected {len(indices)} non-empty input values, got {len(values)}",
            )
        row = TensorShape([None, *values.shape[1:]])
        if shape is not None:
            given = TensorShape(shape)
            if given.ndims and not given.is_compatible_with(row):  # [] is the shape of rows of scalars too
                raise errors.invalid_argument(
                    f"Values have rows of shape {row[1:]}, but the gradient's shape is {given}"
                )
            self._check_shape(given, "shape")
        self._check_shape(row, "values")
        if self._rows is not None:
            _check_like(self._rows.values, values)
        limit = self.shape.tuple[0] if self.shape.tuple else None
        if limit is not None and len(indices) and not (indices.min() >= 0 and indices.max() < limit):
            place, index = next((i, at) for i, at in enumerate(indices.tolist()) if not 0 <= at < limit)
            raise errors.invalid_argument(
                f"Shape mismatch: index of slice {place} exceeded limits of shape; index is {index} exceeded "
                f"{limit}"
            )


def _check_like(held: torch.Tensor, values: torch.Tensor) -> None:
    """Refuses rows that cannot be added to those that are held."""
    if held.ndim != values.ndim:
        raise errors.invalid_argument(f"Shape mismatch: expected values rank {held.ndim}, got {values.ndim}")
    for i, (known, size) in enumerate(zip(held.shape[1:], values.shape[1:]), 1):
        if known != size:
            raise errors.invalid_argument(
                f"Shape mismatch: expected values dim {i} to be {known}, got {size}"
            )


def _of_one_gradient(indices: torch.Tensor, values: torch.Tensor) -> _Rows:
    """The rows of one gradient, each index once; a row that the gradient has twice is counted once."""
    rows = _summed(_Rows(indices, values, torch.ones_like(indices)))
    return rows._replace(counts=rows.counts.clamp_(max=1))


def _summed(rows: _Rows) -> _Rows:
    """Each index once, in order, with the sum of its rows and of its counts."""
    distinct, places = torch.unique(rows.indices, return_inverse=True)
    summed = rows.values.new_zeros((len(distinct), *rows.values.shape[1:]))
    summed.index_add_(0, places, rows.values)
    return _Rows(distinct, summed, torch.zeros_like(distinct).index_add_(0, places, rows.counts))
