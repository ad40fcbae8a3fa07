"""`RecordInput` of TensorFlow's data_flow_ops."""

from __future__ import annotations

from typing import Any

from tideflow.graph.scopes import name_scope
from tideflow.io.records import TFRecordOptions
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.files.record_input import record_input_op


class RecordInput:
    """Reads records of many files in random order, without queues."""

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
        compression_type: Any = None,
    ):
        self._batch_size = batch_size * (batches or 1)
        self._batches = batches
        self._file_pattern = file_pattern
        self._buffer_size = buffer_size
        self._parallelism = parallelism
        self._shift_ratio = shift_ratio
        self._seed = seed
        self._name = name
        self._compression_type = TFRecordOptions.get_compression_type_string(compression_type)

    def get_yield_op(self) -> Any:
        """A batch of records; with `batches`, as many lists of single records."""
        records = record_input_op(
            file_pattern=self._file_pattern,
            file_buffer_size=self._buffer_size,
            file_parallelism=self._parallelism,
            file_shuffle_shift_ratio=self._shift_ratio,
            batch_size=self._batch_size,
            file_random_seed=self._seed,
            compression_type=self._compression_type,
            name=self._name,
        )
        if self._batches is None:
            return records
        with name_scope(self._name):
            single = [shapes.reshape(part, []) for part in joining.split(records, self._batch_size, 0)]
            return [single[i :: self._batches] for i in range(self._batches)]
