"""Input functions of time series: the whole of one, or random windows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tideflow as tf
from tideflow.contrib.timeseries.keys import TIMES
from tideflow.contrib.timeseries.readers import TimeSeriesReader
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor


@export("contrib.timeseries.WholeDatasetInputFn")
class WholeDatasetInputFn:
    """An input function whose every batch is the whole series. It is called without arguments.

    Args:
      time_series_reader: The reader of the series.
    """

    def __init__(self, time_series_reader: TimeSeriesReader):
        self._reader = time_series_reader

    def create_batch(self) -> tuple[dict[str, Tensor], None]:
        """The features by name, [1, length, ...], and None for labels."""
        return {name: value[None] for name, value in self._reader.read_full().items()}, None

    def __call__(self) -> tuple[dict[str, Tensor], None]:
        return self.create_batch()


@export("contrib.timeseries.RandomWindowInputFn")
class RandomWindowInputFn:
    """An input function whose batches are random windows of a series. It is called without arguments.

    Args:
      time_series_reader: The reader of the series.
      window_size: The length of a window.
      batch_size: The number of windows in a batch.
      queue_capacity_multiplier: The capacity of the queue of windows, in batches.
      shuffle_min_after_dequeue_multiplier: How many batches stay in that queue, to be shuffled.
      discard_out_of_order: Whether windows that go over the end of the series to its start are dropped; their
        times are sorted otherwise.
      discard_consecutive_batches_limit: After how many batches without a window in order it is an error.
      jitter: Whether windows start anywhere, not only at multiples of the window's length.
      num_threads: How many threads fill the queues; as many as a batch has windows if None.
      shuffle_seed: The seed of the queue of windows.

    Raises:
      ValueError: If the series is shorter than a window.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ):
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader = time_series_reader
        self._window_size, self._batch_size = window_size, batch_size
        self._capacity = queue_capacity_multiplier * batch_size
        self._kept = shuffle_min_after_dequeue_multiplier * batch_size
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def __call__(self) -> tuple[dict[str, Tensor], None]:
        return self.create_batch()

    def create_batch(self) -> tuple[dict[str, Tensor], None]:
        """The features by name, [batch, window, ...], and None for labels."""
        windows = self._windows()
        in_order: Tensor | bool = True
        if self._discard_out_of_order:
            in_order = self._in_order(windows[TIMES])
        else:
            windows = _sorted_by_time(windows)
        batches = tf.train.maybe_shuffle_batch(
            windows,
            batch_size=self._batch_size,
            capacity=self._capacity,
            min_after_dequeue=self._kept,
            keep_input=in_order,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            enqueue_many=True,
        )
        return batches, None

    def _windows(self) -> dict[str, Tensor]:
        """As many windows as a batch has, one after the other in the series."""
        shift = tf.random_uniform([], maxval=2, dtype=tf.int32) if self._jitter else 0
        records = tf.train.batch(
            self._reader.read(),
            batch_size=self._window_size * self._batch_size + shift,
            enqueue_many=True,
            capacity=self._capacity * self._window_size,
            num_threads=self._num_threads,
        )
        windows = {}
        for name, value in records.items():
            shifted = value[shift:] if self._jitter else value
            outer = [self._batch_size, self._window_size]
            windows[name] = tf.reshape(shifted, tf.concat([outer, tf.shape(shifted)[1:]], axis=0))
            windows[name].set_shape(tf.TensorShape(outer).concatenate(value.shape[1:]))
        return windows

    def _in_order(self, times: Tensor) -> Tensor:
        """Which windows are in order; an error after too many batches in which none is."""
        in_order = tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        discarded = tf.Variable(
            tf.constant(0, tf.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=["local_variables"],
        )

        def counted() -> Tensor:
            return tf.cond(
                tf.reduce_any(in_order),
                lambda: tf.assign(discarded, 0),
                lambda: discarded.count_up_to(self._discard_limit),
            )

        count = tf.cond(tf.is_variable_initialized(discarded), counted, lambda: tf.constant(0, tf.int64))
        with tf.control_dependencies([count]):
            return tf.identity(in_order)


def _sorted_by_time(windows: dict[str, Tensor]) -> dict[str, Tensor]:
    order = tf.argsort(windows[TIMES], axis=-1, stable=True)
    return {name: tf.batch_gather(value, order) for name, value in windows.items()}
