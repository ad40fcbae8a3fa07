"""`tf.TFRecordReader` and its relatives: Python's side of the reader ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import refuse_eagerly
from tideflow.io.records import TFRecordOptions
from tideflow.ops.files import readers
from tideflow.ops.queues.queues import fake_queue_op

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.queues.base import QueueBase


@export("ReaderBase")
class ReaderBase:
    """The base of readers: they take units of work, usually file names, from a queue and return records.

    Args:
      reader_ref: The handle of the reader.
      supports_serialize: Whether the reader can save its state.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        refuse_eagerly(
            "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get "
            "data into your model."
        )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader can save its state."""
        return self._supports_serialize

    def read(self, queue: QueueBase, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Reads the next record. A step takes work from the queue if it needs any.

        Args:
          queue: The queue of units of work.
          name: The name of the operation.

        Returns:
          The key and the value of the record, scalar strings.
        """
        return self._op(readers.read_op, readers.read_v2_op)(self._reader_ref, self._ref(queue), name=name)

    def read_up_to(
        self, queue: QueueBase, num_records: TensorLike, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """Reads the next records of one unit of work.

        Args:
          queue: The queue of units of work.
          num_records: The largest number of records.
          name: The name of the operation.

        Returns:
          Vectors of the keys and the values.
        """
        return self._op(readers.read_up_to_op, readers.read_up_to_v2_op)(
            self._reader_ref, self._ref(queue), num_records, name=name
        )

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """The number of records that were read.

        Args:
          name: The name of the operation.

        Returns:
          A scalar int64 tensor.
        """
        return self._op(readers.num_records_produced_op, readers.num_records_produced_v2_op)(
            self._reader_ref, name=name
        )

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """The number of units of work that were read to their end.

        Args:
          name: The name of the operation.

        Returns:
          A scalar int64 tensor.
        """
        return self._op(readers.num_work_units_completed_op, readers.num_work_units_completed_v2_op)(
            self._reader_ref, name=name
        )

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Saves the reader's state, if it supports that.

        Args:
          name: The name of the operation.

        Returns:
          The state, a scalar string tensor.
        """
        return self._op(readers.serialize_state_op, readers.serialize_state_v2_op)(
            self._reader_ref, name=name
        )

    def restore_state(self, state: TensorLike, name: str | None = None) -> Operation:
        """Restores a state that `serialize_state` has returned.

        Args:
          state: The state.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self._op(readers.restore_state_op, readers.restore_state_v2_op)(
            self._reader_ref, state, name=name
        )

    def reset(self, name: str | None = None) -> Operation:
        """Resets the reader: the counts are 0, and the unit in progress is dropped.

        Args:
          name: The name of the operation.

        Returns:
          The operation.
        """
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
    """A reader whose records are files: the key is the name, the value the contents.

    Args:
      name: The name of the reader.
    """

    def __init__(self, name: str | None = None):
        super().__init__(readers.whole_file_reader_v2_op(name=name), supports_serialize=True)


@export("TextLineReader")
class TextLineReader(ReaderBase):
    """A reader whose records are the lines of text files, without their line ends.

    Args:
      skip_header_lines: The number of lines to skip at the start of each file.
      name: The name of the reader.
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(readers.text_line_reader_v2_op(skip_header_lines=skip_header_lines, name=name))


@export("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """A reader of files with records of a fixed size.

    Args:
      record_bytes: The size of a record in bytes.
      header_bytes: The number of bytes before the first record.
      footer_bytes: The number of bytes after the last record.
      hop_bytes: The number of bytes from the start of one record to the next; `record_bytes` if None or 0.
      name: The name of the reader.
      encoding: The compression of the files: `"GZIP"`, `"ZLIB"` or none.
    """

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
    """A reader of TFRecord files.

    Args:
      name: The name of the reader.
      options: The compression, as TFRecordOptions.
    """

    def __init__(self, name: str | None = None, options: TFRecordOptions | None = None):
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(readers.tf_record_reader_v2_op(compression_type=compression, name=name))


@export("LMDBReader")
class LMDBReader(ReaderBase):
    """A reader of LMDB databases. It needs the package `lmdb`.

    Args:
      name: The name of the reader.
      options: Has no effect.
    """

    def __init__(self, name: str | None = None, options: Any = None):
        super().__init__(readers.lmdb_reader_op(name=name))


@export("IdentityReader")
class IdentityReader(ReaderBase):
    """A reader whose records are the units of work themselves.

    Args:
      name: The name of the reader.
    """

    def __init__(self, name: str | None = None):
        super().__init__(readers.identity_reader_v2_op(name=name), supports_serialize=True)
