"""Records read by several readers into one queue, and queues that are filled ahead."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection, name_scope
from tideflow.graph.stacks import replaced
from tideflow.ops.math import adding, casting
from tideflow.platform import gfile
from tideflow.queues.base import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from tideflow.queues.readers import ReaderBase
from tideflow.summary import functions as summary
from tideflow.train.coordinator import Coordinator
from tideflow.train.input_producers import string_input_producer
from tideflow.train.queue_runner import QueueRunner, add_queue_runner


@export("contrib.slim.parallel_reader.ParallelReader")
class ParallelReader(ReaderBase):
    """Several readers that fill one queue, each from a thread of its own.

    Args:
      reader_class: The class of the readers.
      common_queue: The queue, of two strings: key and value.
      num_readers: How many readers there are.
      reader_kwargs: The arguments of a reader.

    Raises:
      TypeError: If the queue is not of two strings.
    """

    def __init__(
        self,
        reader_class: Any,
        common_queue: Any,
        num_readers: int = 4,
        reader_kwargs: dict[str, Any] | None = None,
    ):
        if [dtype.base_dtype for dtype in common_queue.dtypes] != [dtypes.string] * 2:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        """The queue that the readers fill."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record: its key and its value.

        Args:
          queue: The queue of file names.
          name: A name for the operation.

        Returns:
          Two scalar strings.
        """
        self._start_readers(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The next records, at most so many.

        Args:
          queue: The queue of file names.
          num_records: How many at most.
          name: A name for the operation.

        Returns:
          Two vectors of strings.
        """
        self._start_readers(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _start_readers(self, queue: Any) -> None:
        enqueues = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records all readers have read."""
        return adding.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files all readers have read to the end."""
        return adding.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


@export("contrib.slim.parallel_reader.parallel_read")
def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """Reads records of many files by several readers.

    Args:
      data_sources: Files, or patterns of their names.
      reader_class: The class of the readers.
      num_epochs: How many times all files are read; without end if None.
      num_readers: How many readers there are.
      reader_kwargs: The arguments of a reader.
      shuffle: Whether files and records are shuffled.
      dtypes: The types of key and value; strings if None.
      capacity: How many records wait at most.
      min_after_dequeue: How many records wait at least, to be shuffled.
      seed: The seed of the shuffling.
      scope: A name for the scope of the new operations.

    Returns:
      The key and the value of a record.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        types = dtypes or [_STRING, _STRING]
        if shuffle:
            queue = RandomShuffleQueue(
                capacity=capacity,
                min_after_dequeue=min_after_dequeue,
                dtypes=types,
                seed=seed,
                name="common_queue",
            )
        else:
            queue = FIFOQueue(capacity=capacity, dtypes=types, name="common_queue")
        _summarize_fill(queue, capacity)
        reader = ParallelReader(reader_class, queue, num_readers=num_readers, reader_kwargs=reader_kwargs)
        return reader.read(names)


_STRING = dtypes.string


def _summarize_fill(queue: Any, capacity: int) -> None:
    share = casting.cast(queue.size(), dtypes.float32) * (1.0 / capacity)
    summary.scalar(f"fraction_of_{capacity}_full", share)


@export("contrib.slim.parallel_reader.single_pass_read")
def single_pass_read(
    data_sources: Any,
    reader_class: Any,
    reader_kwargs: dict[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Reads all records once, in order, by one reader.

    Args:
      data_sources: Files, or patterns of their names.
      reader_class: The class of the reader.
      reader_kwargs: Its arguments.
      scope: A name for the scope of the new operations.

    Returns:
      The key and the value of a record.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


@export("contrib.slim.parallel_reader.get_data_files")
def get_data_files(data_sources: Any) -> list[str]:
    """The files that names and patterns stand for.

    Args:
      data_sources: A name, a pattern with "*", "?" or "[", or a list of these.

    Returns:
      A list of names.

    Raises:
      ValueError: If there are none.
    """
    if isinstance(data_sources, (list, tuple)):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        files = gfile.glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files


@export("contrib.slim.prefetch_queue.prefetch_queue")
def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """A queue that threads fill with batches ahead of their use.

    Args:
      tensors: A list of tensors, or a dictionary of them.
      capacity: How many batches wait at most.
      num_threads: How many threads fill the queue.
      dynamic_pad: Whether sizes may be unknown, and elements are padded to one size.
      shared_name: The name under which several sessions share the queue.
      name: A name for the scope of the new operations.

    Returns:
      The queue.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    values = tensors if names is None else [tensors[each] for each in names]
    with name_scope(name, "prefetch_queue", values):
        queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(
            capacity=capacity,
            dtypes=[value.dtype for value in values],
            shapes=[value.shape for value in values],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(tensors)
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        _summarize_fill(queue, capacity)
        return queue


class _Running:
    """Whether a context of `QueueRunners` is entered."""

    is_entered = False


_running = _Running()


@export("contrib.slim.queues.NestedQueueRunnerError")
class NestedQueueRunnerError(Exception):
    """Queue runners were started while others ran."""


@export("contrib.slim.queues.QueueRunners")
@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Within this context the graph's queue runners run in a session.

    Args:
      session: The session.

    Raises:
      NestedQueueRunnerError: If such a context is entered already.
    """
    if _running.is_entered:
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    coordinator = Coordinator()
    threads = []
    with replaced(_running, "is_entered", True):
        try:
            for runner in get_collection(GraphKeys.QUEUE_RUNNERS):
                threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=120)
            except RuntimeError:
                session.close()  # a thread that waits in a step ends with the session
