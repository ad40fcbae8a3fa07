"""Datasets of files, as programs for TPUs make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import tideflow as tf

if TYPE_CHECKING:
    from tideflow.data.dataset import Dataset

_BUFFER_SIZE = 8 << 20


def _records(path: tf.Tensor) -> Dataset:
    return tf.data.TFRecordDataset(path, buffer_size=_BUFFER_SIZE)


def _lines(path: tf.Tensor) -> Dataset:
    return tf.data.TextLineDataset(path, buffer_size=_BUFFER_SIZE)


_READERS: dict[str, Callable[..., Dataset]] = {"tfrecord": _records, "textline": _lines, "text": _lines}


def StreamingFilesDataset(
    files: str | Dataset,
    filetype: str | Callable[..., Dataset] | None = None,
    file_reader_job: str | None = None,
    worker_job: str | None = None,
    num_epochs: int | None = None,
    filename_shuffle_buffer_size: int | bool | None = None,
    num_parallel_reads: int | None = None,
    batch_transfer_size: int | bool | None = None,
    sloppy: bool | None = None,
) -> Dataset:
    """Reads the elements of many files, several at a time.

    TPUs cannot reach the files of the machine that drives them, so TensorFlow reads these in one job and
    sends the elements to another. Tideflow's workers read files themselves: the elements are the same.

    Args:
      files: A pattern of file names, or a dataset of them.
      filetype: `"tfrecord"` (if None), `"textline"`, or a function from a file name to a dataset.
      file_reader_job: The job that reads in TensorFlow.
      worker_job: The job that the elements are sent to in TensorFlow.
      num_epochs: How often the files are read; without an end if None.
      filename_shuffle_buffer_size: The size of the buffer that shuffles file names, 4096 if None; 0 or False
        to keep their order.
      num_parallel_reads: How many files are read at a time, 8 if None.
      batch_transfer_size: How many elements are sent at a time in TensorFlow.
      sloppy: Whether elements may come in another order, so that none waits for a slow file; True if None.

    Returns:
      The dataset.

    Raises:
      ValueError: If `files` or `filetype` is something else.
    """
    if filetype is None:
        filetype = "tfrecord"
    if isinstance(filetype, str) and filetype not in _READERS:
        raise ValueError(f"Unexpected filetype: {filetype}")
    if not isinstance(filetype, str) and not callable(filetype):
        raise ValueError("filetype should be a string or a callable")
    if isinstance(files, str):
        files = tf.data.Dataset.list_files(files)
    elif not isinstance(files, tf.data.Dataset):
        raise ValueError(f"files was not a string or a dataset: {files}")
    buffer_size = 4096 if filename_shuffle_buffer_size is None else filename_shuffle_buffer_size
    if buffer_size:
        files = files.shuffle(buffer_size=buffer_size)
    reader = _READERS[filetype] if isinstance(filetype, str) else filetype
    read = tf.data.experimental.parallel_interleave(
        reader, cycle_length=num_parallel_reads or 8, sloppy=True if sloppy is None else sloppy
    )
    return files.apply(read).repeat(num_epochs).prefetch(1)
