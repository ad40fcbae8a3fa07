"""TFRecord files: byte strings with their lengths and checksums; plain, GZIP or ZLIB.

A record is a little-endian uint64 length, the masked CRC-32C of those eight bytes, the data, and their masked
CRC-32C. The package google-crc32c computes the checksums with the processor's instruction for them: in Python
they would take more time than everything else.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import DataLossError, ResourceExhaustedError
from tideflow.io.checksums import masked_crc32c, masked_crc32cs
from tideflow.io.local_files import PathLike, as_tensorflow_errors, local_path

_HEADER = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
_CHUNK_BYTES = 1 << 18
_LARGEST_READ = 1 << 24  # a wrong length must not allocate all memory at once
_BATCH = 256
_HEADERS_KEPT = 4096
_WINDOW_BITS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_INFLATED = 1032  # bytes that one compressed byte can stand for
LARGEST_INFLATED = 1 << 30
"""The most bytes that a record, a line or a string of compressed data may have.

Others are taken as they are: a file that is not compressed has as many bytes as it takes memory.
"""


def framed(record: bytes) -> bytes:
    """The bytes of a record in a file."""
    length = _LENGTH.pack(len(record))
    return b"".join(
        (length, _CHECKSUM.pack(masked_crc32c(length)), record, _CHECKSUM.pack(masked_crc32c(record)))
    )


# -------------------------------------------------------------------------------------------------- options


@export("io.TFRecordCompressionType", "python_io.TFRecordCompressionType")
class TFRecordCompressionType:
    """The compressions of TFRecord files.

    Attributes:
      NONE: No compression.
      ZLIB: zlib's own format.
      GZIP: The format of gzip.
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


@export("io.TFRecordOptions", "python_io.TFRecordOptions")
class TFRecordOptions:
    """The compression of a TFRecord file, with zlib's settings.

    Args:
      compression_type: One of `tf.io.TFRecordCompressionType`, `"GZIP"`, `"ZLIB"`, or "" or None for no
        compression.
      flush_mode: zlib's flush mode after each buffer; none if None.
      input_buffer_size: The number of bytes to collect before they are compressed.
      output_buffer_size: The size of the file's buffer in bytes.
      window_bits: zlib's window size and format; it follows from `compression_type` if None.
      compression_level: From 0 (none) to 9 (best); zlib's default if None.
      compression_method: zlib's method; deflate if None.
      mem_level: From 1 to 9: how much memory zlib uses; 9 if None.
      compression_strategy: zlib's strategy; the default one if None.

    Raises:
      ValueError: If `compression_type` is not valid.
    """

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: int | str | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)  # raises ValueError if it is invalid
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Gets the name of a compression.

        Args:
          options: TFRecordOptions, one of TFRecordCompressionType, or a name.

        Returns:
          "GZIP", "ZLIB" or "".

        Raises:
          ValueError: If `options` is none of these.
        """
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        if not options:
            return ""
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return str(options)
        raise ValueError(f'Not a valid compression_type: "{options}"')


# ------------------------------------------------------------------------------------------------- reading


class _Inflated(io.RawIOBase):
    """The decompressed contents of a file. A GZIP file may have several members, which are concatenated.

    A file that is cut off is read to its end without a word, as TensorFlow does; `damage` says so then. Other
    damage raises a DataLossError, or ends the contents too if `ends_at_damage`.
    """

    def __init__(self, file: BinaryIO, path: str, compression: str, ends_at_damage: bool = False) -> None:
        self._file, self._path, self._compression = file, path, compression
        self._ends_at_damage = ends_at_damage
        self.damage: DataLossError | None = None
        self._inflate = zlib.decompressobj(_WINDOW_BITS[compression])
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inflated(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _inflated(self, count: int) -> bytes:
        while self.damage is None:
            if self._inflate.eof and not self._begin_next_member():
                return b""
            given = self._inflate.unconsumed_tail or self._rest or self._file.read(_CHUNK_BYTES)
            self._rest = b""
            try:
                data = self._inflate.decompress(given, count)
            except zlib.error as error:
                position = self._file.tell() - len(given)
                damage = errors.data_loss(
                    f"{self._path}: {self._compression} data are damaged behind byte {position}: {error}",
                )
                if not self._ends_at_damage:
                    raise damage from error
                self.damage = damage
                return b""
            if data:
                return data
            if not given:
                end = f"at byte {self._file.tell()}, where the file ends"
                self.damage = errors.data_loss(f"{self._path}: {self._compression} data are cut off {end}")
        return b""

    def _begin_next_member(self) -> bool:
        rest = self._inflate.unused_data
        if len(rest) < len(_GZIP_MAGIC):
            rest += self._file.read(_CHUNK_BYTES)
        if not rest.startswith(_GZIP_MAGIC):
            return False
        self._inflate = zlib.decompressobj(_WINDOW_BITS[self._compression])
        self._rest = rest
        return True

    def close(self) -> None:
        self._file.close()
        super().close()


def open_for_reading(path: PathLike, compression: str = "", ends_at_damage: bool = False) -> BinaryIO:
    """Opens a file to read its bytes, decompressed if it has a compression.

    Args:
      path: The file.
      compression: "GZIP", "ZLIB" or "".
      ends_at_damage: Whether compressed contents end where they are damaged, which `damage_of` then tells,
        and do not raise a DataLossError.
    """
    path = local_path(path)
    with as_tensorflow_errors(path):
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
        if not compression:
            return file
        return io.BufferedReader(_Inflated(file, path, compression, ends_at_damage), _CHUNK_BYTES)


def damage_of(file: BinaryIO) -> DataLossError | None:
    """Why the compressed contents of a file that was read to its end are not whole; None if they are."""
    raw = getattr(file, "raw", None)
    return raw.damage if isinstance(raw, _Inflated) else None


def read_up_to(file: BinaryIO, count: int) -> bytes:
    """The next bytes of a file, fewer at its end. A count far beyond the file takes no memory."""
    pieces = []
    while count > 0 and (piece := file.read(min(count, _LARGEST_READ))):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def lines_of(file: BinaryIO, path: PathLike, compression: str) -> Iterator[bytes]:
    """The lines of an open file, with their line ends."""
    if not compression:
        return iter(file)
    return _inflated_lines(file, path)


def _inflated_lines(file: BinaryIO, path: PathLike) -> Iterator[bytes]:
    while line := file.readline(LARGEST_INFLATED + 1):
        if len(line) > LARGEST_INFLATED:
            raise too_large(f"A line of {os.fsdecode(path)}")
        yield line


def too_large(what: str) -> ResourceExhaustedError:
    """The error for compressed data that unfold beyond the limit."""
    return errors.resource_exhausted(
        f"{what} has more than {LARGEST_INFLATED} bytes, the most that is decompressed (LARGEST_INFLATED)"
    )


class RecordFile:
    """Reads the records of a file in batches and checks them.

    Offsets count bytes of the decompressed file.
    """

    def __init__(self, path: PathLike, compression: str = "") -> None:
        self.path = local_path(path)
        self._file = open_for_reading(path, compression)
        self._largest = None if not compression else os.path.getsize(self.path) * _MOST_INFLATED
        self._buffer = b""
        self._at = 0  # the position of the next record in the buffer
        self._before = 0  # the position of the buffer in the file
        self._lengths: dict[bytes, int] = {}
        self.damage: DataLossError | None = None

    @property
    def cut_off(self) -> DataLossError | None:
        """Why a compressed file that was read to its end is not whole, though its last record is."""
        return damage_of(self._file)

    def take(self, count: int) -> tuple[list[int], list[bytes]]:
        """The offsets of the next records and the records, at most `count`; none at the end of the file.

        The records before a damaged one are returned. The next call, and every one after it, raises a
        DataLossError with the file and the offset.
        """
        if self.damage is not None:
            raise self.damage
        offsets: list[int] = []
        records: list[bytes] = []
        try:
            while len(records) < count:
                if self._take_known(count - len(records), offsets, records):
                    continue
                record = self._next()
                if record is None:
                    break
                offsets.append(self._before + self._at - len(record) - 16)
                records.append(record)
        except DataLossError as damage:
            self.damage = damage
            if not records:
                raise
        return offsets, records

    def _take_known(self, count: int, offsets: list[int], records: list[bytes]) -> bool:
        """Adds the complete records of the buffer with known headers; returns whether there were any.

        It stops before a record whose checksum is wrong.
        """
        buffer, at, known, size = self._buffer, self._at, self._lengths, len(self._buffer)
        found: list[bytes] = []
        starts: list[int] = []
        ends: list[int] = []
        for _ in range(count):
            start = at + 12
            length = known.get(buffer[at:start])
            if length is None or start + length + 4 > size:
                break
            end = start + length
            found.append(buffer[start:end])
            starts.append(at)
            ends.append(end)
            at = end + 4
        if not found:
            return False
        stored = np.ndarray(size - 3, "<u4", buffer, strides=(1,))[ends]
        wrong = np.flatnonzero(masked_crc32cs(found) != stored)
        if wrong.size:
            good = int(wrong[0])
            at = starts[good]
            del found[good:], starts[good:]
        self._at = at
        records += found
        offsets += [self._before + start for start in starts]
        return bool(found)

    def _next(self) -> bytes | None:
        start = self._at + 12
        header = self._buffer[self._at : start]
        length = self._lengths.get(header)
        if length is None:
            if len(header) < 12:
                if self._fill(12):
                    return self._next()
                if self._at == len(self._buffer):
                    return None
                raise self._damaged("truncated record", "the file ends within its header")
            length = self._checked_length(header)
        end = start + length
        if end + 4 > len(self._buffer):
            if self._fill(16 + length):
                return self._next()
            there = len(self._buffer) - self._at - 12
            raise self._damaged(
                "truncated record", f"the file ends behind {there} bytes of {length} and a checksum"
            )
        record = self._buffer[start:end]
        if masked_crc32c(record) != _CHECKSUM.unpack_from(self._buffer, end)[0]:
            raise self._damaged("corrupted record", f"the checksum of its {length} bytes is wrong")
        self._at = end + 4
        return record

    def _checked_length(self, header: bytes) -> int:
        """The length in a header. Valid headers are kept: most files have few different ones."""
        length: int
        length, checksum = _HEADER.unpack(header)
        if masked_crc32c(header[:8]) != checksum:
            raise self._damaged("corrupted record", "the checksum of its length is wrong")
        if self._largest is not None and length > self._largest:
            raise self._damaged("truncated record", f"the file cannot hold its {length} bytes")
        if self._largest is not None and length > LARGEST_INFLATED:
            raise too_large(f"The record at {self._before + self._at} of {self.path}")
        if len(self._lengths) >= _HEADERS_KEPT:
            self._lengths.clear()
        self._lengths[header] = length
        return length

    def _fill(self, needed: int) -> bool:
        """Reads until the buffer has `needed` bytes from the next record on; returns whether it has them."""
        pieces = [self._buffer[self._at :]]
        have = len(pieces[0])
        self._before += self._at
        self._at = 0
        try:
            while have < needed:
                with as_tensorflow_errors(self.path):
                    piece = self._file.read(min(max(needed - have, _CHUNK_BYTES), _LARGEST_READ))
                if not piece:
                    break
                pieces.append(piece)
                have += len(piece)
        finally:
            self._buffer = b"".join(pieces)
        return have >= needed

    def _damaged(self, what: str, why: str) -> DataLossError:
        return errors.data_loss(f"{what} at {self._before + self._at} of {self.path}: {why}")

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Every record with its offset."""
        while True:
            offsets, records = self.take(_BATCH)
            if not records:
                return
            yield from zip(offsets, records)


@export("io.tf_record_iterator", "python_io.tf_record_iterator")
def tf_record_iterator(path: PathLike, options: TFRecordOptions | int | str | None = None) -> Iterator[bytes]:
    """Reads the records of a TFRecord file.

    Args:
      path: The file.
      options: The compression: TFRecordOptions, one of TFRecordCompressionType, or its name.

    Yields:
      The records as bytes, in their order.

    Raises:
      NotFoundError: If there is no such file.
      DataLossError: If the file is damaged.
    """
    compression = TFRecordOptions.get_compression_type_string(options)
    with RecordFile(path, compression) as file:
        for _, record in file:
            yield record


# ------------------------------------------------------------------------------------------------- writing


class _Deflated:
    """Compresses what is written to a file, a buffer at a time."""

    def __init__(self, file: BinaryIO, compression: str, options: TFRecordOptions) -> None:
        def chosen(value: int | None, otherwise: int) -> int:
            return otherwise if value is None else value

        self._file = file
        self._pending = bytearray()
        self._buffer_size = chosen(options.input_buffer_size, _CHUNK_BYTES)
        self._flush_mode = chosen(options.flush_mode, zlib.Z_NO_FLUSH)
        self._deflate = zlib.compressobj(
            chosen(options.compression_level, zlib.Z_DEFAULT_COMPRESSION),
            chosen(options.compression_method, zlib.DEFLATED),
            chosen(options.window_bits, _WINDOW_BITS[compression]),
            chosen(options.mem_level, 9),
            chosen(options.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
        )

    def write(self, data: bytes) -> None:
        self._pending += data
        if len(self._pending) >= self._buffer_size:
            self._compress(self._flush_mode)

    def _compress(self, flush_mode: int) -> None:
        self._file.write(self._deflate.compress(self._pending))
        self._pending.clear()
        if flush_mode != zlib.Z_NO_FLUSH:
            self._file.write(self._deflate.flush(flush_mode))

    def flush(self) -> None:
        self._compress(zlib.Z_PARTIAL_FLUSH)
        self._file.flush()

    def close(self) -> None:
        self._compress(zlib.Z_FINISH)
        self._file.close()


@export("io.TFRecordWriter", "python_io.TFRecordWriter")
class TFRecordWriter:
    """Writes a TFRecord file. A `with` block closes the file at its end.

    Args:
      path: The file, which is overwritten if it exists.
      options: The compression: TFRecordOptions, one of TFRecordCompressionType, or its name.

    Raises:
      ValueError: If the compression is not valid.
      NotFoundError: If the directory does not exist.
    """

    def __init__(self, path: PathLike, options: TFRecordOptions | int | str | None = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        compression = TFRecordOptions.get_compression_type_string(options)
        self._path = local_path(path)
        self._file: Any = None
        buffering = max(2, options.output_buffer_size or _CHUNK_BYTES)
        with as_tensorflow_errors(self._path):
            file = open(self._path, "wb", buffering=buffering)  # noqa: SIM115 - `close` closes it
        self._file = _Deflated(file, compression, options) if compression else file

    def write(self, record: bytes) -> None:
        """Appends a record.

        Args:
          record: The record as bytes.

        Raises:
          TypeError: If the record is not bytes.
          FailedPreconditionError: If the writer is closed.
        """
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        try:
            self._opened().write(framed(record))
        except OSError:
            with as_tensorflow_errors(self._path):
                raise

    def flush(self) -> None:
        """Writes all records so far to the file."""
        with as_tensorflow_errors(self._path):
            self._opened().flush()

    def _sync(self) -> None:
        """Writes all records so far to the disk."""
        self.flush()
        with as_tensorflow_errors(self._path):
            os.fsync(self._opened().fileno())

    def close(self) -> None:
        """Closes the file. Further calls have no effect."""
        file, self._file = self._file, None
        if file is not None:
            with as_tensorflow_errors(self._path):
                file.close()

    def _opened(self) -> Any:
        if self._file is None:
            raise errors.failed_precondition("Writer not initialized or previously closed")
        return self._file

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()
