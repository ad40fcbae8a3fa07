"""How Keras puts the results of batches together: the aggregators of `keras.engine.training_utils`."""

from __future__ import annotations

import functools
import multiprocessing.pool
import threading
import time
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest
from tideflow.graph.composite import is_composite
from tideflow.keras.engine.composites import joined

_COPY_THREADS = 4


class Aggregator:
    """Takes the results of one batch after the other.

    Args:
      use_steps: Whether batches are counted, and not samples.
      num_samples: The number of samples.
      steps: The number of batches.
      batch_size: The size of a batch.
    """

    def __init__(
        self,
        use_steps: bool,
        num_samples: int | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
    ):
        self.use_steps = use_steps
        self.num_samples = num_samples
        self.steps = steps
        self.batch_size = batch_size
        self.results: Any = []

    def create(self, batch_outs: Any) -> None:
        """Begins with the results of the first batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def aggregate(
        self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        """Adds the results of a batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def finalize(self) -> None:
        """Makes `results` whole."""
        raise NotImplementedError("Must be implemented in subclasses.")


class MetricsAggregator(Aggregator):
    """The mean of the losses, and the last of the metrics, which are means already.

    Args:
      use_steps: Whether batches are counted, and not samples.
      num_samples: The number of samples.
      steps: The number of batches.
    """

    def __init__(self, use_steps: bool, num_samples: int | None = None, steps: int | None = None):
        super().__init__(use_steps, num_samples, steps)

    def create(self, batch_outs: Any) -> None:
        """Begins with zeros."""
        self.results = [0.0] * len(batch_outs)

    def aggregate(
        self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        """Adds the loss of a batch, weighted by its samples, and takes its metrics."""
        weight = 1 if self.use_steps else (batch_end or 0) - (batch_start or 0)
        self.results[0] += batch_outs[0] * weight
        self.results[1:] = batch_outs[1:]

    def finalize(self) -> None:
        """Divides the sum of losses; ValueError where there was no batch."""
        if not self.results:
            raise ValueError("Empty training data.")
        self.results[0] /= self.num_samples or self.steps


class ConcatAggregator(Aggregator):
    """Results one behind the other, however many they will be.

    Args:
      batch_size: The size of a batch; None for any.
    """

    def __init__(self, batch_size: int | None):
        super().__init__(True, batch_size=batch_size)

    def create(self, batch_element: Any) -> None:
        """Begins with nothing."""

    def aggregate(
        self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        """Keeps the result of a batch; ValueError if it is longer than the batch."""
        if self.batch_size and self.batch_size < _rows(batch_element):
            expected = (self.batch_size, *tuple(batch_element.shape)[1:])
            raise ValueError(
                "Mismatch between expected batch size and model output batch size. Output shape = "
                f"{batch_element.shape}, expected output shape = shape {expected}"
            )
        self.results.append(batch_element)

    def finalize(self) -> None:
        """Joins the results."""
        self.results = joined(self.results)
        if tf.is_tensor(self.results) and hasattr(self.results, "numpy") and not is_composite(self.results):
            self.results = self.results.numpy()


def _rows(element: Any) -> int:
    shape = getattr(element, "dense_shape", None)
    return int(element.shape[0] if shape is None else np.asarray(shape)[0])


@functools.cache
def get_copy_pool() -> multiprocessing.pool.ThreadPool:
    """The threads that copy large results."""
    return multiprocessing.pool.ThreadPool(_COPY_THREADS)


class SliceAggregator(Aggregator):
    """Results in their places in an array, whose size is known. Threads copy the large ones.

    Args:
      num_samples: The number of samples.
      batch_size: The size of a batch.
    """

    _BINARY_SIZE_THRESHOLD = 2**14
    _MAX_COPY_SECONDS = 300

    def __init__(self, num_samples: int, batch_size: int | None):
        super().__init__(False, num_samples, batch_size=batch_size)
        self._pool = get_copy_pool()
        self._async_copies: list[threading.Event] = []
        self._errors: list[Exception] = []

    def create(self, batch_element: Any) -> None:
        """Begins with an array of all samples."""
        dtype = getattr(batch_element.dtype, "as_numpy_dtype", batch_element.dtype)
        self.results = np.empty((self.num_samples, *tuple(batch_element.shape)[1:]), dtype)

    def aggregate(
        self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        """Copies the result of a batch to its place; raises what an earlier copy failed with."""
        if self._errors:
            raise self._errors[0]
        if (batch_end or 0) - (batch_start or 0) == self.num_samples:
            if self.num_samples != batch_element.shape[0]:
                raise ValueError(
                    "Mismatch between expected batch size and model output batch size. Output shape = "
                    f"{batch_element.shape}, expected output shape = shape {self.results.shape}"
                )
            self.results = batch_element
        elif np.prod(batch_element.shape) < self._BINARY_SIZE_THRESHOLD:
            self.results[batch_start:batch_end] = batch_element
        else:
            done = threading.Event()
            self._async_copies.append(done)
            self._pool.apply_async(self._slice_assign, args=(batch_element, batch_start, batch_end, done))

    def _slice_assign(
        self, batch_element: Any, batch_start: int | None, batch_end: int | None, is_finished: threading.Event
    ) -> None:
        try:
            self.results[batch_start:batch_end] = batch_element
        except Exception as error:  # raised by the thread that asks for the results
            self._errors.append(error)
        finally:
            is_finished.set()

    def finalize(self) -> None:
        """Waits for the copies."""
        deadline = time.monotonic() + self._MAX_COPY_SECONDS
        for done in self._async_copies:
            if not done.wait(max(0.0, deadline - time.monotonic())):
                raise ValueError("Timed out waiting for copy to complete.")
        if self._errors:
            raise self._errors[0]


class OutputsAggregator(Aggregator):
    """The outputs of a model, each with an aggregator of its own."""

    _structure: Any = None

    def create(self, batch_outs: Any) -> None:
        """Begins with an aggregator for each output."""
        self._structure = batch_outs
        for element in self._leaves(batch_outs):
            if _is_composite(element) or self.use_steps and _is_dense(element):
                made: Aggregator = ConcatAggregator(self.batch_size)
            elif _is_dense(element):
                made = SliceAggregator(self.num_samples or 0, self.batch_size)
            else:
                raise RuntimeError(f"Attempted to aggregate unsupported object {element}.")
            made.create(element)
            self.results.append(made)

    def aggregate(
        self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        """Hands the outputs of a batch to their aggregators."""
        for element, result in zip(self._leaves(batch_outs), self.results, strict=True):
            result.aggregate(element, batch_start, batch_end)

    def finalize(self) -> None:
        """Makes all outputs whole, in the structure of the first batch."""
        for result in self.results:
            result.finalize()
        whole = iter([result.results for result in self.results])
        self.results = _replaced(self._structure, whole)

    @staticmethod
    def _leaves(structure: Any) -> list[Any]:
        if _is_composite(structure) or not isinstance(structure, (list, tuple, dict)):
            return [structure]
        parts = (
            [structure[key] for key in sorted(structure)] if isinstance(structure, dict) else list(structure)
        )
        return [leaf for part in parts for leaf in OutputsAggregator._leaves(part)]


def _replaced(structure: Any, leaves: Any) -> Any:
    if _is_composite(structure) or not nest.is_nested(structure):
        return next(leaves)
    if isinstance(structure, dict):
        return {key: _replaced(structure[key], leaves) for key in sorted(structure)}
    return type(structure)(_replaced(part, leaves) for part in structure)


def _is_composite(value: Any) -> bool:
    return is_composite(value) or isinstance(value, (tf.SparseTensorValue, tf.ragged.RaggedTensorValue))


def _is_dense(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (tf.is_tensor(value) and hasattr(value, "numpy"))
