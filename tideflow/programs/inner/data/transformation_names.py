"""Transformations of `tensorflow.python.data.experimental.ops` that are not public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.data.dataset import Dataset
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.type_spec import TensorSpec
from tideflow.programs.modules import generated_function


def sleep(sleep_microseconds: Any) -> Callable[[Dataset], Dataset]:
    """Waits before each element.

    Args:
      sleep_microseconds: How long.

    Returns:
      A function for `Dataset.apply`.
    """
    op = generated_function("sleep_dataset")
    wait = lambda: convert_to_tensor(sleep_microseconds, dtypes.int64)
    return lambda dataset: dataset._same(op, wait())


class PrivateThreadPool:
    """A pool of threads for datasets.

    Args:
      num_threads: How many threads.
      display_name: A name for people.
      max_intra_op_parallelism: How many threads an operation may take.
    """

    def __init__(self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1):
        make = generated_function("thread_pool_handle")
        self._resource = make(
            num_threads=num_threads,
            max_intra_op_parallelism=max_intra_op_parallelism,
            display_name=display_name or "",
        )


def override_threadpool(dataset: Dataset, thread_pool: PrivateThreadPool) -> Dataset:
    """A dataset whose functions run in a pool of their own.

    Args:
      dataset: The dataset.
      thread_pool: The pool.

    Returns:
      A dataset of the same elements.
    """
    return dataset._same(generated_function("thread_pool_dataset"), thread_pool._resource)


def MatchingFilesDataset(patterns: Any) -> Dataset:
    """A dataset of the names of files that match patterns, in their order.

    Args:
      patterns: A pattern, or several.

    Returns:
      The dataset.
    """
    given = convert_to_tensor(patterns, dtypes.string, name="patterns")
    variant = generated_function("matching_files_dataset")(given)
    return Dataset(variant, TensorSpec([], dtypes.string), [])
