"""A queue that a thread fills with rows of arrays, epoch after epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph.errors import OutOfRangeError
from tideflow.platform import logging
from tideflow.queues.base import QueueBase
from tideflow.train.feeding import FeedingQueueRunner
from tideflow.train.queue_runner import add_queue_runner

Rows = Callable[[np.ndarray], Sequence[Any]]  # from the numbers of rows to the columns' values in them


class _Batches:
    """The feeds of one batch after the other, from any row on; an error at the end of the last epoch."""

    def __init__(
        self,
        placeholders: Sequence[Any],
        rows: Rows,
        length: int,
        batch_size: int,
        starts_anywhere: bool,
        num_epochs: int | None,
    ):
        self._placeholders, self._rows = placeholders, rows
        self._length, self._batch_size = length, batch_size
        self._next = random.randrange(length) if starts_anywhere else 0
        self._left = None if num_epochs is None else num_epochs * length
        self._num_epochs = num_epochs

    def __call__(self) -> dict[Any, Any]:
        size = self._batch_size if self._left is None else min(self._batch_size, self._left)
        if not size:
            raise OutOfRangeError(None, None, f"Already emitted {self._num_epochs} epochs.")
        numbers = np.arange(self._next, self._next + size) % self._length
        self._next = int(numbers[-1] + 1) % self._length
        if self._left is not None:
            self._left -= size
        return dict(zip(self._placeholders, self._rows(numbers), strict=True))


def enqueue_rows(
    rows: Rows,
    length: int,
    types: Sequence[Any],
    shapes: Sequence[Sequence[int]],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    batch_size: int,
    num_epochs: int | None,
    min_after_dequeue: float | None = None,
) -> QueueBase:
    """A queue of rows, which threads of the session fill; with a summary of how full it is."""
    _warn_of_threads(num_threads, shuffle, num_epochs)

    def feed_fn_of(placeholders: Sequence[Any]) -> Callable[[], dict[Any, Any]]:
        return _Batches(placeholders, rows, length, batch_size, shuffle, num_epochs)

    return filled_queue(feed_fn_of, types, shapes, capacity, shuffle, num_threads, min_after_dequeue)


def filled_queue(
    feed_fn_of: Callable[[Sequence[Any]], Callable[[], dict[Any, Any]]],
    types: Sequence[Any],
    shapes: Sequence[Sequence[int | None]],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    min_after_dequeue: float | None = None,
) -> QueueBase:
    """A queue that each thread fills with what its function of the thread's placeholders feeds.

    Where sizes are open, what is dequeued together is filled up with zeros, and never shuffled.
    """
    with tf.name_scope("enqueue_input"):
        queue: QueueBase
        if any(None in shape for shape in shapes):
            least = 0
            queue = tf.PaddingFIFOQueue(capacity, dtypes=types, shapes=shapes)
        elif shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = tf.RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes)
        else:
            least = 0
            queue = tf.FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops, feed_fns = [], []
        for _ in range(num_threads):
            placeholders = [tf.placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            feed_fns.append(feed_fn_of(placeholders))
        add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, feed_fns=feed_fns))
        room = capacity - least
        fullness = tf.cast(tf.maximum(0, queue.size() - least), tf.float32) * (1.0 / room)
        tf.summary.scalar(f"queue/{queue.name}fraction_over_{least}_of_{room}_full", fullness)
        return queue


def dequeue_batch(queue: QueueBase, batch_size: int, num_epochs: int | None) -> list[Any]:
    """The columns of a batch, which at the end of the last epoch may be smaller."""
    return queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)


def check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
            f"training); got {shuffle}"
        )


def _warn_of_threads(num_threads: int, shuffle: bool, num_epochs: int | None) -> None:
    if num_threads == 1:
        return
    if num_epochs is not None:
        logging.warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, "
            "so this will produce more epochs than you probably intend. If you want to limit epochs, use one "
            "thread."
        )
    if not shuffle:
        logging.warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple "
            "threads, all reading the array/dataframe in order. If you want examples read in order, use one "
            "thread; if you want multiple threads, enable shuffling."
        )
