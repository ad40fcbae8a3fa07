"""RecordInput: batches of records of many files, in random order."""

from __future__ import annotations

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.files.record_input import record_input_op

_KINDS = tf.python_io.TFRecordCompressionType
_COMPRESSIONS = {None: "", _KINDS.NONE: "", _KINDS.ZLIB: "ZLIB", _KINDS.GZIP: "GZIP"}


@export("contrib.framework.RecordInput")
class RecordInput:
    """Reads the records of TFRecord files, in random order, without end.

    Args:
      file_pattern: A pattern of paths.
      batch_size: The number of records in a batch.
      buffer_size: How many records are kept to choose from.
      parallelism: How many threads read.
      shift_ratio: By which part of them the files are shifted at the start of an epoch.
      seed: The seed of the order.
      name: A name for the operations.
      batches: How many batches are yielded at once, as a list; one batch as a tensor if None.
      compression_type: One of `tf.python_io.TFRecordCompressionType`.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: int | None = None,
    ):
        self._batches = batches
        self._name = name
        self._arguments = dict(
            file_pattern=file_pattern,
            batch_size=batch_size if batches is None else batch_size * batches,
            file_buffer_size=buffer_size,
            file_parallelism=parallelism,
            file_shuffle_shift_ratio=float(shift_ratio),
            file_random_seed=seed,
            compression_type=_COMPRESSIONS[compression_type],
        )
        self._batch_size = batch_size

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """Makes the operation that yields records.

        Returns:
          The records, a vector; with `batches`, a list of so many lists of records.
        """
        records = record_input_op(name=self._name, **self._arguments)
        if self._batches is None:
            return records
        with tf.name_scope(self._name):
            # Neighbours go to different batches, so that these are alike.
            split: list[list[Tensor]] = [[] for _ in range(self._batches)]
            for number, record in enumerate(tf.split(records, self._batch_size * self._batches, 0)):
                split[number % self._batches].append(tf.reshape(record, []))
            return split
