"""Transformations of `tensorflow.python.data.experimental.ops` that are not public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.data.dataset import Dataset
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.shapes import as_shape
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


COMPRESSION_NONE, COMPRESSION_GZIP = None, "GZIP"


def snapshot(
    path: Any,
    compression: str | None = None,
    reader_path_prefix: str | None = None,
    writer_path_prefix: str | None = None,
    shard_size_bytes: int | None = None,
    pending_snapshot_expiry_seconds: int | None = None,
    num_reader_threads: int | None = None,
    reader_buffer_size: int | None = None,
    num_writer_threads: int | None = None,
    writer_buffer_size: int | None = None,
) -> Callable[[Dataset], Dataset]:
    """Writes the elements to files in the first pass, and reads them from there in later ones.

    Args:
      path: The folder of the files.
      compression: `"GZIP"`, or None.
      reader_path_prefix: What precedes the path when files are read.
      writer_path_prefix: What precedes the path when files are written.
      shard_size_bytes: The size at which another file is begun.
      pending_snapshot_expiry_seconds: After how long a pass that has not come to its end is given up.
      num_reader_threads: How many threads read.
      reader_buffer_size: How many elements are read ahead.
      num_writer_threads: How many threads write.
      writer_buffer_size: How many elements wait to be written.

    Returns:
      A function for `Dataset.apply`.
    """
    given = {
        "shard_size_bytes": shard_size_bytes,
        "pending_snapshot_expiry_seconds": pending_snapshot_expiry_seconds,
        "num_reader_threads": num_reader_threads,
        "reader_buffer_size": reader_buffer_size,
        "num_writer_threads": num_writer_threads,
        "writer_buffer_size": writer_buffer_size,
    }
    numbers = {name: -1 if value is None else value for name, value in given.items()}
    op = generated_function("snapshot_dataset")
    return lambda dataset: dataset._same(
        op,
        convert_to_tensor(path, dtypes.string, name="path"),
        compression=compression or "",
        reader_path_prefix=reader_path_prefix or "",
        writer_path_prefix=writer_path_prefix or "",
        **numbers,
    )


def map_defun(
    fn: Any,
    elems: list[Any],
    output_dtypes: list[Any],
    output_shapes: list[Any],
    max_intra_op_parallelism: int = 1,
) -> list[Any]:
    """Calls a function on each row of tensors, and stacks what it returns.

    Args:
      fn: A function of `tf.function` with an input signature.
      elems: The tensors.
      output_dtypes: The types of what it returns.
      output_shapes: The shapes of what it returns.
      max_intra_op_parallelism: How many threads an operation of it may take.

    Returns:
      A list of tensors.

    Raises:
      ValueError: If one of the arguments that are lists is none.
    """
    for given, name, kind in (
        (elems, "elems", "tensors"),
        (output_dtypes, "output_dtypes", "`tf.DType` objects"),
        (output_shapes, "output_shapes", "`tf.TensorShape` objects"),
    ):
        if not isinstance(given, list):
            raise ValueError(f"`{name}` must be a list of {kind}.")
    concrete = fn.get_concrete_function()
    return generated_function("map_defun")(
        [convert_to_tensor(each) for each in elems],
        concrete.captured_inputs,
        output_types=output_dtypes,
        output_shapes=[as_shape(shape) for shape in output_shapes],
        f=concrete,
        max_intra_op_parallelism=max_intra_op_parallelism,
    )


def _VariantDataset(dataset_variant: Any, structure: Any) -> Dataset:
    """The dataset that a variant has, whose elements are of this structure."""
    return Dataset(dataset_variant, structure)
