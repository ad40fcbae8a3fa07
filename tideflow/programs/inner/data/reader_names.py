"""Names of `tensorflow.python.data`'s readers that are not public."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.data.dataset import Dataset
from tideflow.data.features import _shuffled_epochs
from tideflow.data.readers import _STRING, _buffer, _compression
from tideflow.graph.convert import convert_to_tensor
from tideflow.ops.datasets import file_datasets


def _TFRecordDataset(filenames: Any, compression_type: str | None = None, buffer_size: Any = None) -> Dataset:
    """The records of files, one after the other, as one operation reads them."""
    return _of_files(file_datasets.tf_record_dataset_op, filenames, compression_type, buffer_size)


def _TextLineDataset(filenames: Any, compression_type: str | None = None, buffer_size: Any = None) -> Dataset:
    """The lines of files, one file after the other, as one operation reads them."""
    return _of_files(file_datasets.text_line_dataset_op, filenames, compression_type, buffer_size)


def _of_files(op: Any, filenames: Any, compression_type: str | None, buffer_size: Any) -> Dataset:
    names = convert_to_tensor(filenames, tf.string, name="filenames")
    return Dataset(op(names, _compression(compression_type), _buffer(buffer_size)), _STRING)


def make_tf_record_dataset(
    file_pattern: str | Sequence[str],
    batch_size: int,
    parser_fn: Callable[[Any], Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int | None = None,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    num_parallel_parser_calls: int | None = None,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the records of files.

    Args:
      file_pattern: A file name pattern, or a list of them.
      batch_size: The number of records in a batch.
      parser_fn: A function of a record; None for the records themselves.
      num_epochs: How often the records are repeated; infinitely often if None.
      shuffle: Whether files and records are shuffled.
      shuffle_buffer_size: The size of the buffer for that; 10000 if None.
      shuffle_seed: The seed of the order.
      prefetch_buffer_size: The number of batches to read ahead; a suitable one if None.
      num_parallel_reads: The number of files to read at the same time; 24 if None.
      num_parallel_parser_calls: The number of records to parse at the same time; a batch if None.
      drop_final_batch: Whether a last batch of fewer records is dropped.

    Returns:
      The dataset.
    """
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    records = tf.data.TFRecordDataset(files, num_parallel_reads=num_parallel_reads or 24)
    buffer_size = 10000 if shuffle_buffer_size is None else shuffle_buffer_size
    records = _shuffled_epochs(records, num_epochs, shuffle, buffer_size, shuffle_seed)
    if parser_fn is not None:
        records = records.map(parser_fn, num_parallel_calls=num_parallel_parser_calls or batch_size)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    ahead = tf.data.experimental.AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return batches.prefetch(ahead) if ahead else batches
