"""Accumulators: gradients add up here until enough are there, and those that come too late are dropped.

A gradient belongs to a step. One older than the accumulator's step is stale: it is dropped, silently. Taking
the gradients out moves the accumulator to its next step.
"""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import ABSENT, PendingValue, wait_for

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
        self._lock = threading.Lock()
        self._line: collections.deque[_Taking] = collections.deque()
        self._forget()

    # ------------------------------------------------------------------ the sum, which kinds differ in

    def _forget(self) -> None:
        self._sum: torch.Tensor | None = None
        self._is_own = False  # the first gradient is somebody's; what we added up is ours to write into

    def _add(self, gradient: torch.Tensor) -> None:
        shape = TensorShape(tuple(gradient.shape))
        expected = self.shape if self._sum is None else TensorShape(tuple(self._sum.shape))
        if not expected.is_compatible_with(shape):
            raise self._mismatch(expected, shape)
        if self._sum is None:
            self._sum = unshared(gradient)
        elif self._is_own:
            self._sum.add_(gradient)
        else:
            self._sum, self._is_own = self._sum + gradient, True

    def _reduced(self) -> Any:
        return self._mean(self._sum, self.count)

    def _mean(self, total: torch.Tensor, counts: Any) -> torch.Tensor:
        if self.reduction_type == "SUM":
            return total
        if total.dtype.is_floating_point or total.dtype.is_complex:
            return total / counts
        return torch.div(total, counts, rounding_mode="trunc")

    def _mismatch(self, expected: TensorShape, found: TensorShape) -> InvalidArgumentError:
        return errors.invalid_argument(f"Shape mismatch in '{self.name}': expected {expected}, got {found}")

    # ------------------------------------------------------------------ what steps do

    def apply(self, local_step: int, *gradient: Any) -> None:
        """Adds a gradient of that step, unless it is stale."""
        with self._lock:
            if local_step < self.step:
                return
            self._add(*gradient)
            self.count += 1
            self._call_the_first()

    def take(self, required: int, suspendable: bool = False) -> Any:
        """Sum or mean of all that came, once at least `required` are there; who asked first gets them. A pending value
        for it, where the step can be left.
        """
        if required < 1:
            raise errors.invalid_argument(f"Argument num_required must be >= 1, but is {required}")
        pending = _Taking(self, required)
        with self._lock:
            self._line.append(pending)
        return pending if suspendable else wait_for(pending)

    def _taken(self) -> Any:
        taken = self._reduced()
        self._forget()
        self.count = 0
        self.step += 1
        return taken

    def _call_the_first(self) -> None:
        """Tells who is first in line if there is enough for him."""
        if self._line and self.count >= self._line[0].required:
            self._line[0].call()

    def set_step(self, step: int) -> None:
        """Gradients of earlier steps are stale from now on."""
        with self._lock:
            if step < self.step:
                _log.warning(
                    "The step of accumulator '%s' goes back from %d to %d", self.name, self.step, step
                )
            self.step = step

    def wake(self) -> None:
        """Has everyone in line look around: the session closes."""
        with self._lock:
            for pending in self._line:
                pending.call()

    def report(self) -> dict[str, Any]:
        """How much has come, and who waits for more."""
        with self._lock:
            return {
                "name": self.name,
                "kind": self.kind,
                "size": self.count,
                "capacity": None,
                "closed": False,
                "waiting to enqueue": 0,
                "waiting to dequeue": len(self._line),
            }


class _Taking(PendingValue):
    """The pending value of someone in line for the gradients."""

    def __init__(self, accumulator: Accumulator, required: int):
        self._accumulator, self.required = accumulator, required
        self.what = f"take of {required} gradients from '{accumulator.name}', which has too few"
        self.call: Callable[[], Any] = lambda: None

    def get(self, call: Callable[[], Any]) -> Any:
        accumulator = self._accumulator
        with accumulator._lock:
            if accumulator._line[0] is not self or accumulator.count < self.required:
                self.call = call
                return ABSENT
            accumulator._line.popleft()
            return accumulator._taken()

    def cancel(self) -> Any:
        accumulator = self._accumulator
        with accumulator._lock:
            accumulator._line.remove(self)
            accumulator._call_the_first()
        return ABSENT

    def closed(self) -> bool:
        return self._accumulator._session_closed()


class SparseAccumulator(Accumulator):
    """The sum or mean of gradients of few rows. The mean of a row is over the gradients that have it."""

    kind = "sparse accumulator"

    def _forget(self) -> None:
        self._indices: torch.Tensor | None = None
        self._values: torch.Tensor | None = None
        self._counts: torch.Tensor | None = None

    def _add(self, indices: torch.Tensor, values: torch.Tensor, shape: list[int] | None) -> None:
        self._check(indices, values, shape)
        if self._indices is None:
            self._indices, self._values = unshared(indices), unshared(values)
            self._counts = torch.ones_like(indices)
            return
        if self.count == 1:
            self._indices, self._values, self._counts = _of_one_gradient(self._indices, self._values)
        parts = zip((self._indices, self._values, self._counts), _of_one_gradient(indices, values))
        self._indices, self._values, self._counts = _rows_summed(*[torch.cat(pair) for pair in parts])

    def _reduced(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        counts = self._counts.reshape(-1, *[1] * (self._values.ndim - 1)).to(self._values.dtype)
        first = self.shape.tuple[0] if self.shape.ndims else None
        shape = [-1 if first is None else first, *self._values.shape[1:]]
        return self._indices, self._mean(self._values, counts), torch.tensor(shape, dtype=torch.int64)

    def _check(self, indices: torch.Tensor, values: torch.Tensor, shape: list[int] | None) -> None:
        if indices.ndim != 1:
            raise errors.invalid_argument(
                f"Input indices should be vector but received shape: {list(indices.shape)}"
            )
        if not values.ndim:
            raise errors.invalid_argument("Values cannot be 0-dimensional.")
        if len(indices) != len(values):
            raise errors.invalid_argument(
                f"Expected as many indices as rows of values, but there are {len(indices)} and {len(values)}",
            )
        row = TensorShape([None, *values.shape[1:]])
        if shape is not None:
            given = TensorShape(shape)
            if not given.is_compatible_with(row):
                raise errors.invalid_argument(
                    f"Values have rows of shape {row[1:]}, but the gradient's shape is {given}"
                )
            if not _begins_with(given, self.shape):
                raise self._mismatch(self.shape, given)
        if not _begins_with(row, self.shape):
            raise self._mismatch(self.shape, row)
        if self._values is not None and self._values.shape[1:] != values.shape[1:]:
            raise self._mismatch(TensorShape([None, *self._values.shape[1:]]), row)
        limit = self.shape.tuple[0] if self.shape.ndims else None
        if limit is not None and len(indices) and not (indices.min() >= 0 and indices.max() < limit):
            raise errors.invalid_argument(f"Indices must be in [0, {limit}), but are {indices.tolist()[:10]}")


def _begins_with(shape: TensorShape, prefix: TensorShape) -> bool:
    """Whether a shape may be of those that begin so: an accumulator need not know how its rows look."""
    if prefix.ndims is None:
        return True
    return shape.ndims >= prefix.ndims and shape[: prefix.ndims].is_compatible_with(prefix)


def _of_one_gradient(
    indices: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A gradient with each index once; a row that it has twice counts as one gradient's."""
    distinct, summed, counts = _rows_summed(indices, values, torch.ones_like(indices))
    return distinct, summed, counts.clamp_(max=1)


def _rows_summed(
    indices: torch.Tensor, values: torch.Tensor, counts: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each index once, in order, with the sum of its rows and of its counts."""
    distinct, places = torch.unique(indices, return_inverse=True)
    summed = values.new_zeros((len(distinct), *values.shape[1:])).index_add_(0, places, values)
    return distinct, summed, torch.zeros_like(distinct).index_add_(0, places, counts)
