"""Batches that are made while the model is trained: sequences, generators, and the queues before them."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import queue
import random
import shutil
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np

from tideflow.export import export


@export("keras.utils.Sequence")
class Sequence:
    """The base of datasets of batches that are asked for by number.

    A subclass has `__getitem__(index)`, which gives a batch, and `__len__()`, the number of batches.
    """

    def __getitem__(self, index: int) -> Any:
        """Gives a batch.

        Args:
          index: The number of the batch.

        Returns:
          The inputs and the true values.
        """
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of batches."""
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Called after each epoch."""

    def __iter__(self) -> Iterator[Any]:
        """The batches in order, without an end."""
        return (self[number] for number in range(len(self)))


_shared: dict[int, Any] = {}  # what worker processes got when they were forked
_pools: weakref.WeakSet[ProcessPoolExecutor] = weakref.WeakSet()


def _item_of(uid: int, index: int) -> Any:
    return _shared[uid][index]


@export("keras.utils.SequenceEnqueuer")
class SequenceEnqueuer:
    """The base of queues that make batches ahead of training.

    Args:
      sequence: What makes the batches.
      use_multiprocessing: Whether processes make them, not threads.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.queue: Any = None
        self.stop_signal = threading.Event()
        self._thread: threading.Thread | None = None

    def is_running(self) -> bool:
        """Whether batches are being made."""
        return self._thread is not None and not self.stop_signal.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begins to make batches.

        Args:
          workers: How many threads or processes do so.
          max_queue_size: How many batches wait at most.
        """
        self.queue = queue.Queue(max_queue_size)
        self.workers = workers
        self.stop_signal.clear()
        self._thread = threading.Thread(target=self._run_safely, daemon=True)
        self._thread.start()

    def _run_safely(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self._put(("error", error))
        self._put(("end", None))

    def _put(self, item: Any) -> bool:
        while not self.stop_signal.is_set():
            with contextlib.suppress(queue.Full):
                self.queue.put(item, timeout=0.1)
                return True
        return False

    def _run(self) -> None:
        raise NotImplementedError

    def stop(self, timeout: float | None = None) -> None:
        """Ends the threads or processes.

        Args:
          timeout: How long to wait for them, in seconds.
        """
        self.stop_signal.set()
        if self._thread is not None:
            self._thread.join(timeout)
            self._thread = None

    def get(self) -> Iterator[Any]:
        """The batches, in the order of the queue."""
        while True:
            kind, value = self.queue.get()
            self.queue.task_done()
            if kind == "error":
                self.stop_signal.set()
                raise value
            if kind == "end":
                return
            if value is not None:
                yield value


@export("keras.utils.OrderedEnqueuer")
class OrderedEnqueuer(SequenceEnqueuer):
    """Makes the batches of a `Sequence` ahead of training, in order.

    Args:
      sequence: The `Sequence`.
      use_multiprocessing: Whether processes make the batches, not threads.
      shuffle: Whether the batches of each epoch are shuffled.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _executor(self) -> Executor:
        if not self.use_multiprocessing:
            return ThreadPoolExecutor(self.workers)
        made = ProcessPoolExecutor(self.workers, mp_context=multiprocessing.get_context("fork"))
        _pools.add(made)
        return made

    def _run(self) -> None:
        order = list(range(len(self.sequence)))
        while not self.stop_signal.is_set():
            if self.shuffle:
                random.shuffle(order)
            _shared[id(self)] = self.sequence
            try:
                with self._executor() as executor:
                    self._run_epoch(executor, order)
            finally:
                del _shared[id(self)]
            if self._all_taken():
                self.sequence.on_epoch_end()

    def _all_taken(self) -> bool:
        """Waits until the last batch of the epoch has been taken; False if the queue is stopped before."""
        while not self.stop_signal.is_set():
            with self.queue.all_tasks_done:
                if not self.queue.unfinished_tasks:
                    return True
                self.queue.all_tasks_done.wait(0.1)  # the signal to stop does not wake it
        return False

    def _run_epoch(self, executor: Executor, order: list[int]) -> None:
        ahead: list[Any] = []
        numbers = iter(order)
        for number in numbers:
            ahead.append(executor.submit(_item_of, id(self), number))
            if len(ahead) > self.workers + self.queue.maxsize and not self._put(
                ("item", ahead.pop(0).result())
            ):
                break
        for future in ahead:
            if self.stop_signal.is_set() or not self._put(("item", future.result())):
                future.cancel()


@export("keras.utils.GeneratorEnqueuer")
class GeneratorEnqueuer(SequenceEnqueuer):
    """Asks a generator for batches ahead of training.

    Args:
      sequence: The generator.
      use_multiprocessing: Accepted for TensorFlow's sake: one thread asks, so that batches come in order.
      random_seed: The seed of NumPy's random numbers in the thread that asks.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, random_seed: int | None = None):
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _run(self) -> None:
        if self.random_seed is not None:
            np.random.seed(self.random_seed)
        for item in self.sequence:
            if not self._put(("item", item)):
                return


@export("keras.experimental.terminate_keras_multiprocessing_pools")
def terminate_keras_multiprocessing_pools(grace_period: float = 0.1, use_sigkill: bool = False) -> list[str]:
    """Ends the processes that make batches, whatever they do.

    Args:
      grace_period: How long a process that was asked to end has for it, in seconds.
      use_sigkill: Whether one that has not ended is killed.

    Returns:
      A sentence for each process that is still there.
    """
    workers = [worker for pool in list(_pools) for worker in list((pool._processes or {}).values())]
    for end in ("terminate", *(["kill"] if use_sigkill else [])):
        for worker in workers:
            if worker.is_alive():
                getattr(worker, end)()
        for worker in workers:
            worker.join(grace_period)
    return [f"worker {worker.pid} is still alive" for worker in workers if worker.is_alive()]


@export("keras.utils.get_file")
def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str = "auto",
    cache_dir: str | None = None,
) -> str:
    """Finds a file in the cache of Keras. Nothing is downloaded.

    Args:
      fname: The name of the file, or its absolute path.
      origin: Where the file can be had, for the message.
      untar: Whether it is an archive, whose folder is wanted.
      md5_hash: The MD5 hash of the file.
      file_hash: The hash of the file.
      cache_subdir: The folder in the cache.
      hash_algorithm: `"md5"`, `"sha256"`, or `"auto"` for what the length of the hash says.
      extract: Whether an archive is unpacked beside the file.
      archive_format: The format of the archive, or `"auto"`.
      cache_dir: The cache; `~/.keras` if None.

    Returns:
      The path of the file.

    Raises:
      OSError: If the file is not there, or is not the right one.
    """
    folder = os.path.join(cache_dir or os.path.join(os.path.expanduser("~"), ".keras"), cache_subdir)
    path = fname if os.path.isabs(fname) else os.path.join(folder, fname)
    packed = f"{path}.tar.gz" if untar else path
    if not os.path.exists(packed) and not (untar and os.path.exists(path)):
        raise OSError(
            f"{packed} is not there, and nothing is downloaded: fetch {origin} and put it there yourself."
        )
    expected = file_hash or md5_hash
    if expected is not None and os.path.exists(packed):
        kind = "sha256" if hash_algorithm == "sha256" or len(expected) == 64 else "md5"
        found = hashlib.new(kind, usedforsecurity=False)
        with open(packed, "rb") as file:
            for chunk in iter(lambda: file.read(1 << 20), b""):
                found.update(chunk)
        if found.hexdigest() != expected:
            raise OSError(f"{packed} has the {kind} hash {found.hexdigest()}, {expected} was expected.")
    if untar and not os.path.exists(path):
        shutil.unpack_archive(packed, folder)
    elif extract:
        shutil.unpack_archive(packed, folder, None if archive_format == "auto" else archive_format)
    return path
