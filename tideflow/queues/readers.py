"""`tf.TFRecordReader` and its relatives: Python's side of the reader ops."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.io.records import TFRecordOptions
from tideflow.ops.files import readers
from tideflow.ops.queues.queues import fake_queue_op


@export("ReaderBase")
class ReaderBase:
    """Takes units of work (mostly names of files) from a queue and gives out records, each with a key."""

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The next record, as key and value; takes work from the queue where it has none."""
        return self._op(readers.read_op, readers.read_v2_op)(self._reader_ref, self._ref(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The next records of a unit of work, at most `num_records`, as vectors of keys and values."""
        return self._op(readers.read_up_to_op, readers.read_up_to_v2_op)(
            self._reader_ref, self._ref(queue), num_records, name=name
        )

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records were read."""
        return self._op(readers.num_records_produced_op, readers.num_records_produced_v2_op)(
            self._reader_ref, name=name
        )

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many units of work were read to their end."""
        return self._op(readers.num_work_units_completed_op, readers.num_work_units_completed_v2_op)(
            self._reader_ref, name=name
        )

    def serialize_state(self, name: str | None = None) -> Tensor:
        """The reader's state as a string, where the kind has one."""
        return self._op(readers.serialize_state_op, readers.serialize_state_v2_op)(
            self._reader_ref, name=name
        )

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Back to a state that `serialize_state` gave."""
        return self._op(readers.restore_state_op, readers.restore_state_v2_op)(
            self._reader_ref, state, name=name
        )

    def reset(self, name: str | None = None) -> Operation:
        """Back to the beginning: counts are 0, and the unit in progress is forgotten."""
        return self._op(readers.reset_op, readers.reset_v2_op)(self._reader_ref, name=name)

    def _op(self, first: Op, second: Op) -> Op:
        """The op of the reader's generation."""
        return second if self._reader_ref.dtype is dtypes.resource else first

    def _ref(self, queue: Any) -> Tensor:
        """The queue's handle, of the reader's generation."""
        ref = queue if isinstance(queue, Tensor) else queue.queue_ref
        is_newer = ref.dtype is dtypes.resource and self._reader_ref.dtype is not dtypes.resource
        return fake_queue_op(ref) if is_newer else ref


@export("WholeFileReader")
class WholeFileReader(ReaderBase):
    """A record is a file: its name and its contents."""

    def __init__(self, name: str | None = None):
        super().__init__(readers.whole_file_reader_v2_op(name=name), supports_serialize=True)


@export("TextLineReader")
class TextLineReader(ReaderBase):
    """A record is a line of a file, without its end."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(readers.text_line_reader_v2_op(skip_header_lines=skip_header_lines, name=name))


@export("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """A record is so many bytes of a file."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ):
        handle = readers.fixed_length_record_reader_v2_op(
            record_bytes=record_bytes,
            header_bytes=header_bytes,
            footer_bytes=footer_bytes,
            hop_bytes=hop_bytes,
            encoding=encoding,
            name=name,
        )
        super().__init__(handle)


@export("TFRecordReader")
class TFRecordReader(ReaderBase):
    """A record is a record of a TFRecord file."""

    def __init__(self, name: str | None = None, options: Any = None):
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(readers.tf_record_reader_v2_op(compression_type=compression, name=name))


@export("LMDBReader")
class LMDBReader(ReaderBase):
    """A record is a key and its value in an LMDB database; it needs the package lmdb."""

    def __init__(self, name: str | None = None, options: Any = None):
        super().__init__(readers.lmdb_reader_op(name=name))


@export("IdentityReader")
class IdentityReader(ReaderBase):
    """A record is the work itself."""

    def __init__(self, name: str | None = None):
        super().__init__(readers.identity_reader_v2_op(name=name), supports_serialize=True)
