"""`tf.TFRecordReader` and its relatives: Python's side of the reader ops."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.io.records import TFRecordOptions
from tideflow.ops.files.readers import OPS
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
        return self._op("ReaderRead")(self._reader_ref, self._ref(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The next records of a unit of work, at most `num_records`, as vectors of keys and values."""
        return self._op("ReaderReadUpTo")(self._reader_ref, self._ref(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records were read."""
        return self._op("ReaderNumRecordsProduced")(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many units of work were read to their end."""
        return self._op("ReaderNumWorkUnitsCompleted")(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """The reader's state as a string, where the kind has one."""
        return self._op("ReaderSerializeState")(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Back to a state that `serialize_state` gave."""
        return self._op("ReaderRestoreState")(self._reader_ref, state, name=name)

    def reset(self, name: str | None = None) -> Operation:
        """Back to the beginning: counts are 0, and the unit in progress is forgotten."""
        return self._op("ReaderReset")(self._reader_ref, name=name)

    def _op(self, name: str) -> Any:
        return OPS[f"{name}V2" if self._reader_ref.dtype is dtypes.resource else name]

    def _ref(self, queue: Any) -> Tensor:
        """The queue's handle, of the reader's generation."""
        ref = queue if isinstance(queue, Tensor) else queue.queue_ref
        is_newer = ref.dtype is dtypes.resource and self._reader_ref.dtype is not dtypes.resource
        return fake_queue_op(ref) if is_newer else ref


@export("WholeFileReader")
class WholeFileReader(ReaderBase):
    """A record is a file: its name and its contents."""

    def __init__(self, name: str | None = None):
        super().__init__(OPS["WholeFileReaderV2"](name=name), supports_serialize=True)


@export("TextLineReader")
class TextLineReader(ReaderBase):
    """A record is a line of a file, without its end."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(OPS["TextLineReaderV2"](skip_header_lines=skip_header_lines, name=name))


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
        handle = OPS["FixedLengthRecordReaderV2"](
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
        super().__init__(OPS["TFRecordReaderV2"](compression_type=compression, name=name))


@export("LMDBReader")
class LMDBReader(ReaderBase):
    """A record is a key and its value in an LMDB database; it needs the package lmdb."""

    def __init__(self, name: str | None = None, options: Any = None):
        super().__init__(OPS["LMDBReader"](name=name))


@export("IdentityReader")
class IdentityReader(ReaderBase):
    """A record is the work itself."""

    def __init__(self, name: str | None = None):
        super().__init__(OPS["IdentityReaderV2"](name=name), supports_serialize=True)
